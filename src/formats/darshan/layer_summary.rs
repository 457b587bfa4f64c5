//! Totals of the counters, heatmaps and segments of a log, by layer.

use std::collections::{BTreeMap, HashSet};

use super::columns::{LibraryLayout, layouts};
use super::counters::{self, Schema};
use super::dxt::{self, DxtHeader, Segments, Visitor};
use super::header::{Module, Slot};
use super::heatmap;
use super::log::{Log, dxt_module};
use super::tally::Tally;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Impossible, Layer, LayerSummary, Op, Untimed};

/// The layers, in the order of their numbers as `usize`.
pub(super) const LAYERS: [Layer; 3] = [Layer::Posix, Layer::Mpiio, Layer::Stdio];

/// True for modules of storage that is reached beside the layers.
fn is_storage(module: Module) -> bool {
    matches!(module, Module::Dfs | Module::Daos)
}

/// Totals of counters and heatmaps.
#[derive(Debug, Default)]
pub(super) struct Overview {
    /// Totals of the counters, by layer.
    pub counters: [Option<LayerSummary>; 3],
    /// Totals of the heatmaps, by layer.
    pub heatmaps: [Option<LayerSummary>; 3],
    /// Totals of modules that give no rows: libraries, DFS, DAOS, and heatmaps that are of none of the layers.
    pub others: Vec<LayerSummary>,
    /// Counters with values that they cannot have.
    pub impossible: Vec<Impossible>,
    /// Modules without rows that cannot be read.
    pub damaged: Vec<(Module, Error)>,
    /// Bytes that MPI-IO moved on files on which POSIX moved none: its driver does not go through POSIX.
    pub mpiio_only_bytes: u64,
    /// Calls by the lower-case names of their counters.
    pub calls: BTreeMap<String, u64>,
    /// Records left out because they mix POSIX and stdio.
    pub mixed_records: u64,
    /// Modules that end with a cut record, and the bytes of it.
    pub trailing: BTreeMap<Module, u64>,
}

impl Overview {
    /// Reads counters and heatmaps of a log, the counters of libraries if they are wanted.
    pub fn new(log: &Log, libraries: bool) -> Result<Overview> {
        let mut o = Overview::default();
        let mut posix_files = HashSet::new();
        let mpiio = log.readable(Module::MpiIo).is_some();
        for layer in LAYERS {
            o.add_counters(log, layer, mpiio, &mut posix_files)?;
        }
        // Bytes that go through DAOS pass no other layer.
        for layout in layouts().iter().filter(|l| libraries || is_storage(l.darshan)) {
            match o.add_library(log, layout) {
                Err(e) if e.kind() == ErrorKind::Malformed => o.damaged.push((layout.darshan, e)),
                done => done?,
            }
        }
        o.add_heatmaps(log)?;
        Ok(o)
    }

    fn add_counters(&mut self, log: &Log, layer: Layer, mpiio: bool, posix_files: &mut HashSet<u64>) -> Result<()> {
        let schema = Schema::of(layer);
        let Some(slot) = log.readable(schema.module()) else {
            return Ok(());
        };
        let mut tally =
            Tally::new(layer.name(), schema.ints, schema.floats, [schema.reads, schema.writes], log.job().processes);
        let mut calls = vec![0u64; schema.calls.len()];
        let walked = counters::walk(&mut log.region(slot), schema, slot, log.order(), |r| {
            let [read, written] = tally.see(r.rank, |i| r.ints[i], |i| r.floats[i]);
            for (sum, &place) in calls.iter_mut().zip(schema.calls) {
                *sum = sum.saturating_add(r.sum(&[place]));
            }
            let moved = read.saturating_add(written);
            match layer {
                Layer::Posix if mpiio && moved > 0 => {
                    posix_files.insert(r.id);
                }
                Layer::Mpiio if !posix_files.contains(&r.id) => {
                    self.mpiio_only_bytes = self.mpiio_only_bytes.saturating_add(moved);
                }
                _ => {}
            }
            Ok(())
        })?;
        for (&place, n) in schema.calls.iter().zip(calls).filter(|&(_, n)| n > 0) {
            if let Some(name) = schema.ints.get(place) {
                *self.calls.entry(name.to_lowercase()).or_default() += n;
            }
        }
        self.mixed_records += walked.left_out;
        self.trailing(slot.module, walked.trailing_bytes);
        let (summary, impossible) = tally.finish(&slot.module.name());
        self.impossible.extend(impossible);
        summary.add_to(&mut self.counters[layer as usize]);
        Ok(())
    }

    fn add_library(&mut self, log: &Log, layout: &LibraryLayout) -> Result<()> {
        let Some(slot) = layout.slot(log) else { return Ok(()) };
        let name = layout.module.prefix().to_lowercase();
        let calls = layout.calls.each_ref().map(Vec::as_slice);
        let mut tally = Tally::new(&name, &layout.ints, &layout.reals, calls, log.job().processes);
        let trailing = layout.walk(log, slot, |r| {
            tally.see(r.rank(), |i| r.int(i), |i| r.real(i));
            Ok(())
        })?;
        self.trailing(slot.module, trailing);
        let (summary, impossible) = tally.finish(&slot.module.name());
        self.impossible.extend(impossible);
        self.others.push(summary);
        Ok(())
    }

    fn trailing(&mut self, module: Module, bytes: u64) {
        if bytes > 0 {
            *self.trailing.entry(module).or_default() += bytes;
        }
    }

    fn add_heatmaps(&mut self, log: &Log) -> Result<()> {
        let Some(slot) = log.readable(Module::Heatmap) else {
            return Ok(());
        };
        let trailing = heatmap::walk(&mut log.region(slot), log.order(), |r| {
            let mut s = empty("");
            s.records = 1;
            for (k, (&w, &rd)) in r.written.iter().zip(&r.read).enumerate() {
                let [w, rd] = [w, rd].map(|x| u64::try_from(x).unwrap_or(0));
                s.bytes_written = s.bytes_written.saturating_add(w);
                s.bytes_read = s.bytes_read.saturating_add(rd);
                if w > 0 || rd > 0 {
                    s.widen(k as f64 * r.bin_s, (k + 1) as f64 * r.bin_s);
                }
            }
            match log.heatmap_layer(r) {
                Some(layer) => {
                    s.layer = format!("heatmap-{}", layer.name());
                    s.add_to(&mut self.heatmaps[layer as usize]);
                }
                None => {
                    let name = log.names().get(r.id).and_then(|n| n.strip_prefix("heatmap:")).unwrap_or("unknown");
                    s.layer = format!("heatmap-{}", name.to_lowercase());
                    add_to(&mut self.others, s);
                }
            }
            Ok(())
        })?;
        self.trailing(slot.module, trailing);
        Ok(())
    }

    /// Adds the totals of another log of the same job.
    pub fn absorb(&mut self, other: Overview) {
        for (mine, theirs) in
            self.counters.iter_mut().chain(&mut self.heatmaps).zip(other.counters.into_iter().chain(other.heatmaps))
        {
            if let Some(s) = theirs {
                s.add_to(mine);
            }
        }
        other.others.into_iter().for_each(|s| add_to(&mut self.others, s));
        for more in other.impossible {
            match self.impossible.iter_mut().find(|x| (x.counter, x.value) == (more.counter, more.value)) {
                Some(x) => x.records += more.records,
                None => self.impossible.push(more),
            }
        }
        self.damaged.extend(other.damaged);
        self.mpiio_only_bytes = self.mpiio_only_bytes.saturating_add(other.mpiio_only_bytes);
        self.mixed_records += other.mixed_records;
        for (module, n) in other.trailing {
            *self.trailing.entry(module).or_default() += n;
        }
        for (name, n) in other.calls {
            *self.calls.entry(name).or_default() += n;
        }
    }

    /// Moves all times by `by` seconds.
    pub fn shift(&mut self, by: f64) {
        for s in self.counters.iter_mut().chain(&mut self.heatmaps).flatten().chain(&mut self.others) {
            s.first_s = s.first_s.map(|t| t + by);
            s.last_s = s.last_s.map(|t| t + by);
        }
    }

    /// The storage of no layer that moved most, and its bytes.
    pub fn storage(&self) -> Option<(String, u64)> {
        let named = |s: &LayerSummary| {
            let counted = || ["dfs", "daos"].contains(&&*s.layer).then_some(&*s.layer);
            let name = s.layer.strip_prefix("heatmap-").or_else(counted)?;
            Some((name.to_uppercase(), bytes(s)))
        };
        self.others.iter().filter_map(named).max_by_key(|&(_, bytes)| bytes)
    }

    /// Modules that moved bytes, or can have, and whose times cannot be read.
    pub fn untimed(&self, log: &Log) -> Vec<Untimed> {
        let timed = |name: &str| {
            let layer = LAYERS.into_iter().find(|l| l.name() == name);
            let segments = layer.and_then(dxt_module).is_some_and(|m| log.readable(m).is_some());
            segments || self.counters.iter().flatten().chain(&self.others).any(|s| s.layer == name)
        };
        let of_heatmap = |s: &LayerSummary| {
            let name = s.layer.strip_prefix("heatmap-").filter(|name| bytes(s) > 0 && !timed(name))?;
            let layer = LAYERS.into_iter().find(|l| l.name() == name);
            let module = layer.map_or(name.to_uppercase(), |l| Schema::of(l).module().name().into_owned());
            Some(Untimed { module, bytes: Some(bytes(s)) })
        };
        let mut all: Vec<Untimed> = self.heatmaps.iter().flatten().chain(&self.others).filter_map(of_heatmap).collect();
        for &layer in log.untimed() {
            let module = Schema::of(layer).module().name().into_owned();
            all.push(Untimed { module, bytes: Some(self.bytes(layer)) });
        }
        let moves = |m: Module| LAYERS.iter().any(|&l| Schema::of(l).module() == m) || is_storage(m);
        let newer = |s: &&Slot| s.length > 0 && s.version > s.module.newest_version() && moves(s.module);
        let unread = log.header().slots.iter().filter(|s| newer(s) || matches!(s.module, Module::Unknown(_)));
        let damaged = self.damaged.iter().map(|d| d.0).filter(|&m| is_storage(m));
        for name in unread.map(|s| s.module).chain(damaged).map(Module::name) {
            if !all.iter().any(|u| u.module == name) {
                all.push(Untimed { module: name.into_owned(), bytes: None });
            }
        }
        all
    }

    /// Bytes of a layer: what its counters say, else its heatmap.
    pub fn bytes(&self, layer: Layer) -> u64 {
        let i = layer as usize;
        let of = |s: &Option<LayerSummary>| s.as_ref().map_or(0, bytes);
        of(&self.counters[i]).max(of(&self.heatmaps[i]))
    }
}

/// Totals of the segments of a layer, without keeping them.
pub(super) fn dxt_totals(log: &Log, layer: Layer, module: Module, shift_s: f64) -> Result<Option<LayerSummary>> {
    let Some(slot) = log.readable(module) else {
        return Ok(None);
    };
    let mut t = DxtTotals::new(layer);
    match dxt::walk_parts(log, slot, || DxtTotals::new(layer)) {
        Some(parts) => {
            let mut total = None;
            parts.into_iter().for_each(|p| p.summary.add_to(&mut total));
            t.summary = total.unwrap_or(t.summary);
        }
        None => dxt::walk(&mut log.region(slot), slot, log.order(), &mut t)?,
    }
    let (first, last) = (t.summary.first_s, t.summary.last_s);
    (t.summary.first_s, t.summary.last_s) = (first.map(|t| t + shift_s), last.map(|t| t + shift_s));
    Ok(Some(t.summary))
}

/// Adds up segments.
pub(super) struct DxtTotals {
    pub summary: LayerSummary,
}

impl DxtTotals {
    pub fn new(layer: Layer) -> DxtTotals {
        let mut summary = empty(&format!("dxt-{}", layer.name()));
        (summary.reads, summary.writes) = (Some(0), Some(0));
        DxtTotals { summary }
    }
}

impl Visitor for DxtTotals {
    fn record(&mut self, _: &DxtHeader) -> Result<()> {
        Ok(())
    }

    fn segments(&mut self, op: Op, segments: Segments<'_>) -> Result<()> {
        let (mut sum, mut first, mut last) = (0u64, f64::INFINITY, f64::NEG_INFINITY);
        segments.for_each(|s| {
            sum = sum.saturating_add(u64::try_from(s.length).unwrap_or(0));
            if s.start.is_finite() && s.end.is_finite() {
                (first, last) = (first.min(s.start), last.max(s.end.max(s.start)));
            }
        });
        add_segments(&mut self.summary, op, segments.len() as u64, sum);
        if first <= last {
            self.summary.widen(first, last);
        }
        Ok(())
    }
}

/// Adds `n` segments of `bytes` bytes in all.
pub(super) fn add_segments(s: &mut LayerSummary, op: Op, n: u64, bytes: u64) {
    let (count, total) = match op {
        Op::Read => (&mut s.reads, &mut s.bytes_read),
        _ => (&mut s.writes, &mut s.bytes_written),
    };
    s.records += n;
    *count = Some(count.unwrap_or(0) + n);
    *total = total.saturating_add(bytes);
}

pub(super) fn bytes(s: &LayerSummary) -> u64 {
    s.bytes_read.saturating_add(s.bytes_written)
}

pub(super) fn empty(layer: &str) -> LayerSummary {
    LayerSummary { layer: layer.into(), ..LayerSummary::default() }
}

/// Adds a summary to that of the same layer.
pub(super) fn add_to(all: &mut Vec<LayerSummary>, more: LayerSummary) {
    match all.iter_mut().find(|s| s.layer == more.layer) {
        Some(s) => s.add(&more),
        None => all.push(more),
    }
}

/// Counts the records of the modules that are not read otherwise: their number, `None` if their layout is not known.
pub(super) fn count_others(log: &Log, thorough: bool) -> Vec<(Module, Result<Option<u64>>)> {
    let read = [Module::Posix, Module::MpiIo, Module::Stdio, Module::Heatmap, Module::DxtPosix, Module::DxtMpiio];
    let slots = log.header().slots.iter().filter(|s| s.length > 0 && !read.contains(&s.module));
    slots
        .filter(|s| thorough || s.module == Module::Lustre)
        .filter(|s| s.version <= s.module.newest_version() && !matches!(s.module, Module::Unknown(_)))
        .filter(|s| LibraryLayout::of(s).is_none())
        .map(|s| (s.module, log.count(s.module)))
        .collect()
}
