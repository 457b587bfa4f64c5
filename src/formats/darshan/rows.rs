//! Module data to the rows of a trace.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::columns;
use super::counters::{self, Schema};
use super::dxt::{self, DxtHeader, Segments, Visitor};
use super::header::{Module, Slot};
use super::heatmap;
use super::layer_summary::{self, add_segments};
use super::log::{Log, dxt_module};
use super::selection::LayerData;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::limits::Limits;
use crate::record::{
    BATCH_ROWS, Batch, CallId, Calls, Column, Data, FileId, Files, Interval, Intervals, Layer, LayerSummary, Op,
    Quality, Requests, RowSink, Timing, UNKNOWN_OFFSET, Warning, is_time,
};

/// Where a log stands in a trace that is made of one or several.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Placement {
    /// Rank of all rows, in place of the ranks of the log.
    pub rank: Option<u32>,
    /// Seconds to add to all times.
    pub shift_s: f64,
}

/// Rows with what was learned on the way.
#[derive(Debug, Default)]
pub(super) struct SelectedRows {
    pub data: Data,
    pub bin_s: Option<f64>,
    /// Totals of the rows as a layer, for DXT.
    pub summary: Option<LayerSummary>,
    pub quality: Quality,
    /// Records of totals over all ranks.
    pub shared: u64,
    /// Records with a rank that cannot be.
    pub bad_ranks: u64,
    /// Records that move bytes at no time.
    pub untimed: u64,
    /// Widths of the bins, as bits.
    pub widths: HashSet<u64>,
    /// Ranks met.
    pub ranks: HashSet<u32>,
    /// Hosts of ranks, for DXT.
    pub hosts: BTreeMap<u32, Arc<str>>,
    /// Data that is missing because its region is damaged.
    pub damage: Vec<Warning>,
}

impl SelectedRows {
    /// Appends the rows of another log, whose files are of the same table.
    pub fn absorb(&mut self, other: SelectedRows) {
        self.data.append(other.data);
        self.bin_s = match (self.bin_s, other.bin_s) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        other.summary.into_iter().for_each(|s| s.add_to(&mut self.summary));
        let (q, o) = (&mut self.quality, other.quality);
        q.records_read += o.records_read;
        q.records_dropped += o.records_dropped;
        q.records_left_out += o.records_left_out;
        q.clamped += o.clamped;
        q.clock_backwards += o.clock_backwards;
        self.shared += other.shared;
        self.bad_ranks += other.bad_ranks;
        self.untimed += other.untimed;
        self.widths.extend(other.widths);
        self.ranks.extend(other.ranks);
        self.hosts.extend(other.hosts);
        self.damage.extend(other.damage);
    }
}

/// Reads the rows of a selected; none if the log has no such data.
pub(super) fn take(log: &Log, selected: LayerData, files: &mut Files, placement: Placement) -> Result<SelectedRows> {
    match selected.timing {
        Timing::Request => match dxt_module(selected.layer).and_then(|m| log.readable(m)) {
            Some(slot) => segments(log, selected.layer, slot, files, placement),
            None => Ok(SelectedRows::default()),
        },
        Timing::Heatmap => bins(log, selected.layer, placement),
        _ => totals(log, selected.layer, files, placement),
    }
}

fn segments(log: &Log, layer: Layer, slot: &Slot, files: &mut Files, placement: Placement) -> Result<SelectedRows> {
    let fresh = || SegmentRows::new(log, layer, placement);
    if let Some(parts) = dxt::walk_parts(log, slot, fresh) {
        let mut rows = fresh();
        parts.into_iter().for_each(|p| rows.append(p));
        check_rows(rows.requests.len(), log.limits())?;
        return Ok(rows.finish(files));
    }
    let mut rows = fresh();
    let mut region = log.region(slot);
    let Err(e) = dxt::walk(&mut region, slot, log.order(), &mut rows) else {
        return Ok(rows.finish(files));
    };
    if e.kind() != ErrorKind::Malformed {
        return Err(e);
    }
    // Some of these rows may come from a stream whose checksum is wrong: read again up to the last sound one.
    let verified = region.verified();
    let mut rows = fresh();
    let again = dxt::walk(&mut log.region(slot).stop_after(verified), slot, log.order(), &mut rows);
    if rows.requests.is_empty() || again.is_err_and(|e| e.kind() != ErrorKind::Malformed) {
        return Err(e);
    }
    rows.damage.push(
        Warning::new("damaged-tail", format!("only the first {} segments could be read: {e}", rows.requests.len()))
            .remedy("copy the log again if it was damaged on the way"),
    );
    Ok(rows.finish(files))
}

/// Gives the segments of a layer to a sink as they are read. Returns what [`take`] returns, without the rows.
///
/// # Errors
/// As [`take`], but also where only a part of the data is damaged; those of the sink.
pub(super) fn give_segments(log: &Log, layer: Layer, sink: &dyn RowSink) -> Result<(SelectedRows, Files)> {
    let mut files = Files::default();
    let Some(slot) = dxt_module(layer).and_then(|m| log.readable(m)) else {
        return Ok((SelectedRows::default(), files));
    };
    let mut rows = SegmentRows { sink: Some(sink), ..SegmentRows::new(log, layer, Placement::default()) };
    dxt::walk(&mut log.region(slot), slot, log.order(), &mut rows)?;
    rows.give()?;
    let taken = rows.finish(&mut files);
    Ok((taken, files))
}

/// Turns segments into requests.
struct SegmentRows<'a> {
    log: &'a Log,
    /// Takes the rows, if they are not kept.
    sink: Option<&'a dyn RowSink>,
    files: Files,
    placement: Placement,
    requests: Requests,
    summary: LayerSummary,
    quality: Quality,
    ranks: HashSet<u32>,
    hosts: BTreeMap<u32, Arc<str>>,
    host: Arc<str>,
    bad_ranks: u64,
    damage: Vec<Warning>,
    ids: HashMap<u64, FileId>,
    threads: HashMap<u64, u32>,
    file: FileId,
    rank: u32,
    /// Kind and end of the last segment of the record.
    last: (Op, f64),
}

impl<'a> SegmentRows<'a> {
    fn new(log: &'a Log, layer: Layer, placement: Placement) -> Self {
        SegmentRows {
            log,
            sink: None,
            files: Files::default(),
            placement,
            requests: Requests::default(),
            summary: layer_summary::DxtTotals::new(layer).summary,
            quality: Quality::default(),
            ranks: HashSet::new(),
            hosts: BTreeMap::new(),
            host: "".into(),
            bad_ranks: 0,
            damage: Vec::new(),
            ids: HashMap::new(),
            threads: HashMap::new(),
            file: FileId::NONE,
            rank: 0,
            last: (Op::Other, f64::NEG_INFINITY),
        }
    }

    /// Appends the rows of the part that follows.
    fn append(&mut self, mut next: SegmentRows<'a>) {
        if self.requests.is_empty() && self.summary.records == 0 {
            *self = next;
            return;
        }
        adopt(&mut next.requests, &next.files, &mut self.files);
        let mut handles: Vec<(u32, u64)> = next.threads.iter().map(|(&handle, &n)| (n, handle)).collect();
        handles.sort_unstable();
        let numbers: Vec<u32> =
            handles.into_iter().map(|(_, handle)| thread_number(&mut self.threads, handle)).collect();
        if !numbers.is_empty() {
            next.requests.task.map_in_place(|n| match n.checked_sub(1) {
                Some(i) => numbers.get(i as usize).copied().unwrap_or(n),
                None => 0,
            });
        }
        self.requests.append(next.requests);
        self.summary.add(&next.summary);
        self.quality.records_dropped += next.quality.records_dropped;
        self.quality.clamped += next.quality.clamped;
        self.quality.clock_backwards += next.quality.clock_backwards;
        self.bad_ranks += next.bad_ranks;
        self.ranks.extend(next.ranks);
        self.hosts.extend(next.hosts);
    }

    /// Gives the rows so far to the sink, if there is one.
    fn give(&mut self) -> Result<()> {
        let Some(sink) = self.sink else { return Ok(()) };
        let rows = Cow::Owned(Data::Requests(std::mem::take(&mut self.requests)));
        sink.take(Batch::of(rows, 0, (&self.files, &Calls::default())))
    }

    /// The rows, with their files numbered as in `files`.
    fn finish(mut self, files: &mut Files) -> SelectedRows {
        if files.is_empty() {
            *files = self.files;
        } else {
            adopt(&mut self.requests, &self.files, files);
        }
        self.quality.records_read = self.summary.records;
        SelectedRows {
            data: Data::Requests(self.requests),
            summary: Some(self.summary),
            quality: self.quality,
            bad_ranks: self.bad_ranks,
            ranks: self.ranks,
            hosts: self.hosts,
            damage: self.damage,
            ..SelectedRows::default()
        }
    }
}

impl Visitor for SegmentRows<'_> {
    fn record(&mut self, header: &DxtHeader) -> Result<()> {
        let (log, files) = (self.log, &mut self.files);
        self.file = *self.ids.entry(header.id).or_insert_with(|| file_id(log, header.id, files));
        self.rank = match self.placement.rank {
            Some(r) => r,
            None => u32::try_from(header.rank).unwrap_or_else(|_| {
                self.bad_ranks += 1;
                0
            }),
        };
        if self.ranks.insert(self.rank) {
            let host = header.host();
            if host != *self.host {
                self.host = host.into();
            }
            if !self.host.is_empty() {
                self.hosts.insert(self.rank, self.host.clone());
            }
        }
        self.last = (Op::Other, f64::NEG_INFINITY);
        Ok(())
    }

    fn segments(&mut self, op: Op, segments: Segments<'_>) -> Result<()> {
        let rows = self.requests.len() + segments.len();
        check_rows(rows, self.log.limits())?;
        let before = self.requests.len();
        let shift = self.placement.shift_s;
        let (mut dropped, mut clamped, mut backwards) = (0u64, 0u64, 0u64);
        let (mut sum, mut first, mut last) = (0u64, f64::INFINITY, f64::NEG_INFINITY);
        let mut last_end = if self.last.0 == op { self.last.1 } else { f64::NEG_INFINITY };
        let (r, threads) = (&mut self.requests, &mut self.threads);
        segments.for_each(|s| {
            if !(is_time(s.start) && is_time(s.end)) {
                dropped += 1;
                return;
            }
            let offset = s.known_offset();
            // −1 is "not traced"; any other place that cannot be is a mistake.
            let misplaced = offset == UNKNOWN_OFFSET && s.offset != -1;
            clamped += u64::from(s.end < s.start || s.length < 0 || misplaced);
            let size = s.length.max(0).unsigned_abs();
            let (start, end) = (s.start + shift, s.end.max(s.start) + shift);
            // Segments of a record are in the order in which they ended.
            backwards += u64::from(end < last_end);
            last_end = end;
            sum = sum.saturating_add(size);
            (first, last) = (first.min(start), last.max(end));
            r.offset.push(offset);
            r.size.push(size);
            r.start.push(start);
            r.end.push(end);
            if s.thread != 0 {
                r.task.push(thread_number(threads, s.thread));
            } else {
                r.task.push(0);
            }
        });
        let kept = r.start.len() - before;
        r.op.append(Column::constant(op, kept));
        r.call.append(Column::constant(CallId::NONE, kept));
        r.rank.append(Column::constant(self.rank, kept));
        r.file.append(Column::constant(self.file, kept));
        self.last = (op, last_end);
        self.quality.records_dropped += dropped;
        self.quality.clamped += clamped;
        self.quality.clock_backwards += backwards;
        add_segments(&mut self.summary, op, segments.len() as u64, sum);
        if first <= last {
            self.summary.widen(first, last);
        }
        if self.requests.len() < BATCH_ROWS { Ok(()) } else { self.give() }
    }
}

/// Numbers the files of rows as in the table `to`, which gets their names.
fn adopt(rows: &mut Requests, from: &Files, to: &mut Files) {
    let mut number = |(id, name): (FileId, &str)| {
        let new = to.intern(name);
        from.stripe(id).into_iter().for_each(|unit| to.set_stripe(new, unit));
        new
    };
    let numbers: Vec<FileId> = from.iter().map(&mut number).collect();
    rows.file.map_in_place(|f| numbers.get(f.0 as usize).copied().unwrap_or(FileId::NONE));
}

/// Threads are numbered from 1 in the order in which they are met.
fn thread_number(threads: &mut HashMap<u64, u32>, handle: u64) -> u32 {
    let next = threads.len() as u32 + 1;
    *threads.entry(handle).or_insert(next)
}

fn bins(log: &Log, layer: Layer, placement: Placement) -> Result<SelectedRows> {
    let mut taken = SelectedRows::default();
    let Some(slot) = log.readable(Module::Heatmap) else {
        return Ok(taken);
    };
    let mut rows = Intervals::default();
    heatmap::walk(&mut log.region(slot), log.order(), |r| {
        if log.heatmap_layer(r) != Some(layer) {
            return Ok(());
        }
        let rank = placement.rank.unwrap_or_else(|| u32::try_from(r.rank).unwrap_or(0));
        taken.ranks.insert(rank);
        taken.widths.insert(r.bin_s.to_bits());
        taken.bin_s = Some(taken.bin_s.map_or(r.bin_s, |w| w.max(r.bin_s)));
        for (op, series) in [(Op::Write, &r.written), (Op::Read, &r.read)] {
            for (k, &bytes) in series.iter().enumerate().filter(|&(_, &b)| b != 0) {
                taken.quality.records_read += 1;
                if bytes < 0 {
                    taken.quality.records_dropped += 1;
                    continue;
                }
                rows.push(Interval {
                    op,
                    asynchronous: false,
                    rank,
                    file: FileId::NONE,
                    bytes: bytes as f64,
                    start: k as f64 * r.bin_s + placement.shift_s,
                    end: (k + 1) as f64 * r.bin_s + placement.shift_s,
                });
            }
        }
        check_rows(rows.len(), log.limits())
    })?;
    taken.data = Data::Intervals(rows);
    Ok(taken)
}

fn totals(log: &Log, layer: Layer, files: &mut Files, placement: Placement) -> Result<SelectedRows> {
    let mut taken = SelectedRows::default();
    let schema = Schema::of(layer);
    let Some(slot) = log.readable(schema.module()) else {
        return Ok(taken);
    };
    let mut rows = Intervals::default();
    let run_time = log.job().run_time_s().max(0.0);
    let walked = counters::walk(&mut log.region(slot), schema, slot, log.order(), |r| {
        taken.quality.records_read += 1;
        taken.shared += u64::from(r.rank < 0);
        let rank = placement.rank.unwrap_or_else(|| u32::try_from(r.rank).unwrap_or(0));
        let bytes = r.bytes(schema);
        if bytes != [0, 0] {
            taken.ranks.insert(rank);
        }
        for (direction, op) in [Op::Read, Op::Write].into_iter().enumerate() {
            let moved = bytes[direction];
            if moved == 0 {
                continue;
            }
            let (start, end) = r.span(schema, direction).unwrap_or_else(|| {
                taken.untimed += 1;
                (0.0, run_time)
            });
            taken.quality.clamped += u64::from(end < start);
            rows.push(Interval {
                op,
                asynchronous: false,
                rank,
                file: file_id(log, r.id, files),
                bytes: moved as f64,
                start: start + placement.shift_s,
                end: end.max(start) + placement.shift_s,
            });
        }
        check_rows(rows.len(), log.limits())
    })?;
    taken.quality.records_read += walked.left_out;
    taken.quality.records_left_out = walked.left_out;
    taken.quality.clamped += taken.untimed;
    taken.data = Data::Intervals(rows);
    Ok(taken)
}

pub(super) fn check_rows(rows: usize, limits: &Limits) -> Result<()> {
    if rows > limits.records {
        return Err(Error::too_many_rows(limits.records));
    }
    Ok(())
}

/// The file of a record id, with its stripes.
fn file_id(log: &Log, id: u64, files: &mut Files) -> FileId {
    let file = columns::file_id(log.names(), id, files);
    if let Some(&unit) = log.stripe_units().get(&id) {
        files.set_stripe(file, unit);
    }
    file
}
