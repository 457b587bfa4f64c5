//! Layers and files of a log, from its counters.

use std::collections::{BTreeMap, HashMap};

use super::int;
use crate::tables::{FileRow, LayerRow};
use iophase::analysis;
use iophase::classify;
use iophase::internals::facts::{self, FileFamily};
use iophase::record::{Column, CounterTable, Counters, FileId, Op, Trace, stem};

/// Families of files, or files, of a log that have a row.
const FAMILIES: usize = 100_000;
/// Sizes of accesses in Darshan, in the order of the columns of `layers`.
const SIZES: [&str; 10] =
    ["0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS"];
/// What the names of calls begin with, on layers that count several kinds of them.
const KINDS: [&str; 5] = ["", "INDEP_", "COLL_", "SPLIT_", "NB_"];

/// Integer counters of a table that are added up. A row that does not know one adds nothing.
struct Sum<'a>(Vec<&'a Column<i64>>);

impl<'a> Sum<'a> {
    fn named(t: &'a CounterTable, names: &[String]) -> Sum<'a> {
        Sum(names.iter().filter_map(|name| t.int(name)).collect())
    }

    /// Calls of all kinds.
    fn calls(t: &'a CounterTable, what: &[&str]) -> Sum<'a> {
        let names: Vec<String> = what.iter().flat_map(|w| KINDS.iter().map(move |k| format!("{k}{w}"))).collect();
        Sum::named(t, &names)
    }

    fn add(&self, row: usize, to: &mut Option<i64>) {
        for value in self.0.iter().map(|c| c.get(row)).filter(|v| *v >= 0) {
            *to = Some(to.unwrap_or(0).saturating_add(value));
        }
    }
}

fn add_time(column: Option<&Column<f64>>, row: usize, to: &mut Option<f64>) {
    if let Some(t) = column.map(|c| c.get(row)).filter(|t| t.is_finite() && *t >= 0.0) {
        *to = Some(to.unwrap_or(0.0) + t);
    }
}

/// Bytes read and written: of POSIX and STDIO where the log counts them, else of MPI-IO, else of the rows.
pub fn bytes(trace: &Trace) -> [u64; 2] {
    let summed = |names: &[&str]| {
        let of = trace.layers.iter().filter(|l| names.contains(&l.layer.as_str()));
        of.map(|l| [l.bytes_read, l.bytes_written])
            .reduce(|a, b| [a[0].saturating_add(b[0]), a[1].saturating_add(b[1])])
            .filter(|b| b[0] > 0 || b[1] > 0)
    };
    summed(&["posix", "stdio"]).or_else(|| summed(&["mpiio"])).unwrap_or_else(|| {
        let rows = |op: Op| match &trace.data {
            iophase::record::Data::Requests(r) => {
                r.iter().filter(|x| x.op == op).fold(0u64, |sum, x| sum.saturating_add(x.size))
            }
            iophase::record::Data::Intervals(r) => r.iter().filter(|x| x.op == op).map(|x| x.bytes).sum::<f64>() as u64,
        };
        [rows(Op::Read), rows(Op::Write)]
    })
}

/// One row for each layer and mount.
pub fn layers(c: &Counters, to: &mut Vec<LayerRow>) {
    for t in c.tables.iter().filter(|t| !t.is_empty()) {
        let mut mounts: BTreeMap<Option<&str>, (LayerRow, HashMap<FileId, bool>)> = BTreeMap::new();
        let sums = LayerSums::of(t);
        for i in 0..t.len() {
            let file = t.file.get(i);
            let mount = c.mount(c.files.name(file)).map(|m| m.path.as_str());
            let (row, files) = mounts.entry(mount).or_default();
            sums.add(i, row);
            *files.entry(file).or_default() |= t.rank.get(i).is_none();
        }
        let layer = t.module.prefix().to_lowercase();
        to.extend(mounts.into_iter().map(|(mount, (row, files))| {
            let shared = files.values().filter(|s| **s).count() as u64;
            LayerRow {
                layer: Some(layer.clone()),
                mount: mount.map(str::to_owned),
                files: Some(int(files.len() as u64)),
                shared_files: Some(int(shared)),
                unique_files: Some(int(files.len() as u64 - shared)),
                ..row
            }
        }));
    }
}

/// A column of the table `layers`.
type Target = fn(&mut LayerRow) -> &mut Option<i64>;

/// The counters behind the columns of a layer.
struct LayerSums<'a> {
    calls: Vec<(Sum<'a>, Target)>,
    sizes: Vec<Sum<'a>>,
    times: [Option<&'a Column<f64>>; 3],
}

impl<'a> LayerSums<'a> {
    fn of(t: &'a CounterTable) -> LayerSums<'a> {
        let targets: [(&[&str], Target); 14] = [
            (&["OPENS"], |r| &mut r.opens),
            (&["READS"], |r| &mut r.reads),
            (&["WRITES"], |r| &mut r.writes),
            (&["SEEKS"], |r| &mut r.seeks),
            (&["STATS"], |r| &mut r.stats),
            (&["FSYNCS", "FDSYNCS", "SYNCS", "FLUSHES"], |r| &mut r.fsyncs),
            (&["BYTES_READ"], |r| &mut r.bytes_read),
            (&["BYTES_WRITTEN"], |r| &mut r.bytes_written),
            (&["CONSEC_READS"], |r| &mut r.consec_reads),
            (&["CONSEC_WRITES"], |r| &mut r.consec_writes),
            (&["SEQ_READS"], |r| &mut r.seq_reads),
            (&["SEQ_WRITES"], |r| &mut r.seq_writes),
            (&["FILE_NOT_ALIGNED"], |r| &mut r.file_not_aligned),
            (&["MEM_NOT_ALIGNED"], |r| &mut r.mem_not_aligned),
        ];
        let sizes = ["READ", "WRITE"].iter().flat_map(|d| SIZES.iter().map(move |s| (d, s)));
        LayerSums {
            calls: targets.into_iter().map(|(names, target)| (Sum::calls(t, names), target)).collect(),
            sizes: sizes.map(|(d, s)| Sum::named(t, &[format!("SIZE_{d}_{s}"), format!("SIZE_{d}_AGG_{s}")])).collect(),
            times: ["F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"].map(|name| t.real(name)),
        }
    }

    fn add(&self, i: usize, row: &mut LayerRow) {
        self.calls.iter().for_each(|(sum, target)| sum.add(i, target(row)));
        self.sizes.iter().zip(row.sizes()).for_each(|(sum, to)| sum.add(i, to));
        add_time(self.times[0], i, &mut row.read_s);
        add_time(self.times[1], i, &mut row.write_s);
        add_time(self.times[2], i, &mut row.meta_s);
    }
}

/// One row for each family of files, or each file. True if some had to be left out.
pub fn files(c: &Counters, each: bool, to: &mut Vec<FileRow>) -> bool {
    let layouts: HashMap<FileId, u64> = c.layouts.iter().map(|l| (l.file, l.stripe_bytes)).collect();
    let key = |name: &str| if each { name.to_owned() } else { stem(name) };
    let families = facts::families(facts::files_of_counters(c), &c.files, key);
    let mut all: Vec<FileRow> = families.into_iter().map(|f| file_row(c, f, &layouts)).collect();
    let cost = |r: &FileRow| [r.read_s, r.write_s, r.meta_s].into_iter().flatten().sum::<f64>();
    let left_out = all.len() > FAMILIES;
    if left_out {
        all.sort_by(|a, b| cost(b).total_cmp(&cost(a)).then_with(|| a.family.cmp(&b.family)));
        all.truncate(FAMILIES);
    }
    to.append(&mut all);
    left_out
}

fn file_row(c: &Counters, f: FileFamily, layouts: &HashMap<FileId, u64>) -> FileRow {
    let mount = c.mount(c.files.name(f.sum.file));
    let [reads, writes, opens] = f.sum.calls.map(|n| n.map(int));
    let [bytes_read, bytes_written] = f.sum.bytes.map(|n| Some(int(n)));
    let [read_s, write_s, meta_s] = [0, 1, 2].map(|i| f.sum.time_s.map(|parts| parts[i]));
    FileRow {
        mount: mount.map(|m| m.path.clone()),
        fs_type: mount.map(|m| m.kind.clone()),
        layer: f.sum.layer.map(|l| l.prefix().to_lowercase()),
        files: Some(int(f.files.len() as u64)),
        ranks_count: f.sum.ranks.map(|ranks| int(ranks.len() as u64)),
        stripe_bytes: f.files.iter().find_map(|f| layouts.get(&f.file)).map(|s| int(*s)),
        family: Some(f.name),
        reads,
        writes,
        opens,
        bytes_read,
        bytes_written,
        read_s,
        write_s,
        meta_s,
        ..FileRow::default()
    }
}

/// Adds the access class of the first file of each family.
pub fn classes(trace: &Trace, to: &mut [FileRow]) {
    let Ok((found, _)) = analysis::classes(trace, &Default::default(), classify::Options::default(), false) else {
        return;
    };
    let mut of: HashMap<String, String> = HashMap::new();
    for f in &found.files {
        let class = f.global.first().and_then(|g| serde_json::to_value(g).ok());
        let word = |key: &str| class.as_ref().and_then(|c| c[key].as_str().map(str::to_owned));
        if let (Some(name), Some(class)) = (&f.file, ["mix", "sequentiality", "size"].map(word).into_iter().collect()) {
            let class: Vec<String> = class;
            let text = class.join(" ");
            of.entry(name.clone()).or_insert_with(|| text.clone());
            of.entry(stem(name)).or_insert(text);
        }
    }
    for row in to {
        row.class = row.family.as_ref().and_then(|name| of.get(name)).cloned();
    }
}
