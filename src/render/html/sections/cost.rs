//! Time and calls, by layer.

use crate::render::html::page::Page;
use crate::render::html::table::{self, Cell, Column};

pub fn section(p: &mut Page<'_>) {
    let info = &p.run.info;
    let counters = info.counters.as_ref();
    if counters.is_none_or(|c| c.cost.is_empty() && c.operations.is_empty()) && info.calls.is_empty() {
        p.absent.push(("Cost", "record counters with Darshan, or calls with strace -f -ttt -T -y"));
        return;
    }
    let lead = "Seconds in I/O: the mean of all ranks, and the slowest ranks as a share of the run time.";
    p.section("cost", "Cost and calls", lead, |p| {
        if let Some(c) = counters.filter(|c| !c.cost.is_empty()) {
            let columns = [
                Column::text("Layer", "layer"),
                Column::number("Reading", "read"),
                Column::number("Writing", "write"),
                Column::number("Metadata", "metadata"),
                Column::number("Slowest", "slowest"),
                Column::number("Rank", "rank"),
                Column::number("Share of the run", "share"),
            ];
            let rows = c.cost.iter().map(|l| {
                vec![
                    Cell::text(&l.layer),
                    Cell::seconds(Some(l.read_s)),
                    Cell::seconds(Some(l.write_s)),
                    Cell::seconds(Some(l.metadata_s)),
                    Cell::seconds(Some(l.slowest_s)),
                    l.slowest_rank.map_or_else(|| Cell::text("all"), |r| Cell::count(Some(r.into()))),
                    Cell::share(l.share),
                ]
            });
            let id = p.id("cost-table");
            table::table(&mut p.h, &id, "Time in I/O; a layer contains those below it", &columns, rows);
        }
        let by_layer = counters.iter().flat_map(|c| &c.operations);
        let mut rows: Vec<Vec<Cell>> = by_layer
            .flat_map(|(layer, calls)| calls.iter().map(move |(name, n)| (layer.as_str(), name, *n)))
            .map(|(layer, name, n)| vec![Cell::text(layer), Cell::text(name.replace('_', " ")), Cell::count(Some(n))])
            .collect();
        if rows.is_empty() {
            let mut calls: Vec<_> = info.calls.iter().collect();
            calls.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
            p.cut(calls.len().min(60), calls.len(), "Calls");
            rows.extend(
                calls
                    .iter()
                    .take(60)
                    .map(|(name, n)| vec![Cell::text("trace"), Cell::text(*name), Cell::count(Some(**n))]),
            );
        }
        let columns = [Column::text("Layer", "layer"), Column::text("Call", "call"), Column::number("Number", "count")];
        let id = p.id("calls");
        table::table(&mut p.h, &id, "Calls", &columns, rows);
    });
}
