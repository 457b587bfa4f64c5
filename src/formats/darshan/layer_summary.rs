//! Totals of the counters, heatmaps and segments of a log, by layer.

use std::collections::{BTreeMap, HashSet};

use super::counters::{self, Schema};
use super::dxt::{self, DxtHeader, Segments, Visitor};
use super::header::Module;
use super::heatmap;
use super::log::Log;
use crate::error::{Error, Result};
use crate::record::{Layer, LayerSummary, Op};

/// The layers, in the order of their numbers as `usize`.
pub(super) const LAYERS: [Layer; 3] = [Layer::Posix, Layer::Mpiio, Layer::Stdio];

/// Totals of counters and heatmaps.
#[derive(Debug, Default)]
pub(super) struct Overview {
    /// Totals of the counters, by layer.
    pub counters: [Option<LayerSummary>; 3],
    /// Totals of the heatmaps, by layer.
    pub heatmaps: [Option<LayerSummary>; 3],
    /// Heatmap bytes of layers that are none of ours (DFS, DAOS).
    pub foreign_bytes: u64,
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
    /// Reads counters and heatmaps of a log.
    pub fn new(log: &Log) -> Result<Overview> {
        let mut o = Overview::default();
        let mut posix_files = HashSet::new();
        let mpiio = log.readable(Module::MpiIo).is_some();
        for layer in LAYERS {
            o.add_counters(log, layer, mpiio, &mut posix_files)?;
        }
        o.add_heatmaps(log)?;
        Ok(o)
    }

    fn add_counters(&mut self, log: &Log, layer: Layer, mpiio: bool, posix_files: &mut HashSet<u64>) -> Result<()> {
        let schema = Schema::of(layer);
        let Some(slot) = log.readable(schema.module()) else {
            return Ok(());
        };
        let mut s = empty(layer.name());
        let mut calls = vec![0u64; schema.calls.len()];
        let (mut reads, mut writes) = (0u64, 0u64);
        let walked = counters::walk(&mut log.region(slot), schema, slot, log.order(), |r| {
            s.records += 1;
            reads = reads.saturating_add(r.sum(schema.reads));
            writes = writes.saturating_add(r.sum(schema.writes));
            let [read, written] = r.bytes(schema);
            s.bytes_read = s.bytes_read.saturating_add(read);
            s.bytes_written = s.bytes_written.saturating_add(written);
            for (start, end) in (0..2).filter_map(|d| r.span(schema, d)) {
                s.widen(start, end);
            }
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
        if walked.trailing_bytes > 0 {
            *self.trailing.entry(slot.module).or_default() += walked.trailing_bytes;
        }
        (s.reads, s.writes) = (Some(reads), Some(writes));
        add(&mut self.counters[layer as usize], s);
        Ok(())
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
                    add(&mut self.heatmaps[layer as usize], s);
                }
                None => self.foreign_bytes = self.foreign_bytes.saturating_add(bytes(&s)),
            }
            Ok(())
        })?;
        if trailing > 0 {
            *self.trailing.entry(slot.module).or_default() += trailing;
        }
        Ok(())
    }

    /// Adds the totals of another log of the same job.
    pub fn absorb(&mut self, other: Overview) {
        for (mine, theirs) in
            self.counters.iter_mut().chain(&mut self.heatmaps).zip(other.counters.into_iter().chain(other.heatmaps))
        {
            if let Some(s) = theirs {
                add(mine, s);
            }
        }
        self.foreign_bytes = self.foreign_bytes.saturating_add(other.foreign_bytes);
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
        for s in self.counters.iter_mut().chain(&mut self.heatmaps).flatten() {
            s.first_s = s.first_s.map(|t| t + by);
            s.last_s = s.last_s.map(|t| t + by);
        }
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
            parts.into_iter().for_each(|p| add(&mut total, p.summary));
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

/// Adds `more`, of the same layer, to `total`.
pub(super) fn add(total: &mut Option<LayerSummary>, more: LayerSummary) {
    match total {
        Some(t) => t.add(&more),
        None => *total = Some(more),
    }
}

/// Walks over the modules that give no data, to see whether they are sound.
pub(super) fn check_others(log: &Log, thorough: bool) -> Vec<(Module, Error)> {
    let read = [Module::Posix, Module::MpiIo, Module::Stdio, Module::Heatmap, Module::DxtPosix, Module::DxtMpiio];
    let slots = log.header().slots.iter().filter(|s| s.length > 0 && !read.contains(&s.module));
    slots
        .filter(|s| thorough || s.module == Module::Lustre)
        .filter(|s| s.version <= s.module.newest_version() && !matches!(s.module, Module::Unknown(_)))
        .filter_map(|s| log.count(s.module).err().map(|e| (s.module, e)))
        .collect()
}
