//! Samples to a trace, in bounded memory.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Header;
use crate::record::{Data, Interval, Intervals, Job, Op, Quality, Timing, Trace, Warning};

/// Samples that are kept before neighbours are merged: about 40 MB, three hours of a program that writes all the time, at 100 a
/// second.
const MOST: usize = 1 << 20;

/// The last line of a file: what the samples do not say.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// When the watch ended, in seconds since the start.
    pub end_s: f64,
    /// Readings of the counters.
    #[serde(default)]
    pub readings: u64,
    /// Readings that were due and not made, since the one before took too long or the machine was busy.
    #[serde(default)]
    pub missed: u64,
    /// Processes that were seen.
    #[serde(default)]
    pub processes: u64,
    /// Ranks of the samples: 1, or one for each process that moved bytes.
    #[serde(default)]
    pub ranks: u64,
    /// Processes whose counters could not be read.
    #[serde(default)]
    pub unreadable: u64,
    /// Processes of the command that went on when it ended.
    #[serde(default)]
    pub left_running: u64,
    /// Exit code of the command; `None` if a running process was watched.
    #[serde(default)]
    pub exit_code: Option<i32>,
}

/// Collects samples. Beyond a bound neighbours in time are merged, in the same way wherever the samples come from.
#[derive(Debug, Clone)]
pub struct Samples {
    header: Header,
    rows: Intervals,
    /// Highest rank that was named.
    highest: u32,
    /// Samples so far.
    taken: u64,
    /// Width to which they were merged, in seconds.
    merged_s: Option<f64>,
    most: usize,
}

impl Samples {
    /// None yet.
    pub fn new(header: Header) -> Samples {
        Samples { header, rows: Intervals::default(), highest: 0, taken: 0, merged_s: None, most: MOST }
    }

    /// Adds a sample, whose time is finite and ends after it starts.
    pub fn push(&mut self, sample: Interval) {
        self.rows.push(sample);
        self.taken += 1;
        if self.rows.len() >= self.most {
            self.merge();
        }
    }

    /// Notes that a rank exists.
    pub fn note_rank(&mut self, rank: u32) {
        self.highest = self.highest.max(rank);
    }

    /// Merges samples of one operation and rank that lie in the same bin, twice as wide each time, until half of the room is free.
    fn merge(&mut self) {
        let first = self.rows.start.iter().copied().fold(f64::INFINITY, f64::min);
        let last = self.rows.end.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut width = self.merged_s.unwrap_or(2.0 / self.header.rate_hz);
        loop {
            self.rows = merged(&self.rows, first, width);
            self.merged_s = Some(width);
            if self.rows.len() <= self.most / 2 || width > 2.0 * (last - first) {
                break;
            }
            width *= 2.0;
        }
        // Samples of very many ranks: a bin reaches over the whole run, and there is nothing more to merge.
        self.most = self.most.max(2 * self.rows.len());
    }

    /// The trace. Without an ending the file was cut, or is still being written.
    pub fn into_trace(self, ending: Option<&Ending>) -> Trace {
        let last_s = self.rows.end.iter().copied().reduce(f64::max);
        let run_time_s = ending.map(|e| e.end_s).or(last_s);
        let bin_s = self.merged_s.unwrap_or(1.0 / self.header.rate_hz);
        let Header { command, start_unix_s, .. } = &self.header;
        let job = Job {
            executable: command.as_ref().map(|c| c.join(" ")),
            start_unix_s: *start_unix_s,
            end_unix_s: start_unix_s.zip(run_time_s).map(|(a, b)| a + b),
            run_time_s,
            ..Job::default()
        };
        let highest = self.rows.rank.iter().max().unwrap_or(0).max(self.highest);
        let mut trace = Trace {
            format: "samples",
            ranks: ending.map_or(0, |e| e.ranks).max(u64::from(highest) + 1),
            clock: self.header.clock(),
            timing: Timing::Counter,
            bin_s: Some(bin_s),
            job: Some(job),
            quality: Quality { records_read: self.taken, ..Quality::default() },
            warnings: ending.map_or_else(Vec::new, warnings),
            ..Trace::default()
        };
        if self.merged_s.is_some() {
            let (taken, kept) = (self.taken, self.rows.len());
            trace.quality.partial.push(format!("samples merged to {bin_s} s"));
            let message = format!("{taken} samples were merged to {kept}, of up to {bin_s} s, to bound the memory");
            trace.warnings.push(Warning::new("samples-merged", message).remedy("watch at a lower rate"));
        }
        trace.data = Data::Intervals(self.rows);
        trace.layers = vec![trace.summarise("samples")];
        trace
    }
}

/// Samples of one operation and rank whose middles lie in the same bin as one, which keeps their bytes, first start and last end.
fn merged(rows: &Intervals, first: f64, width: f64) -> Intervals {
    let bin = |x: &Interval| ((0.5 * (x.start + x.end) - first) / width).floor();
    let mut latest: HashMap<(Op, u32), usize> = HashMap::new();
    let mut merged: Vec<Interval> = Vec::new();
    for x in rows.iter() {
        let before = latest.get(&(x.op, x.rank)).and_then(|&i| merged.get_mut(i));
        if let Some(before) = before.filter(|b| bin(b) == bin(&x)) {
            before.start = before.start.min(x.start);
            before.end = before.end.max(x.end);
            before.bytes += x.bytes;
        } else {
            latest.insert((x.op, x.rank), merged.len());
            merged.push(x);
        }
    }
    merged.into_iter().collect()
}

/// Warnings about the samples.
fn warnings(e: &Ending) -> Vec<Warning> {
    let mut all = Vec::new();
    if e.missed > 0 && e.missed as f64 > 0.05 * (e.readings + e.missed) as f64 {
        let message = format!("{} of {} readings were missed", e.missed, e.readings.saturating_add(e.missed));
        all.push(
            Warning::new("samples-missed", format!("{message}; their bytes are in longer samples"))
                .remedy("watch at a lower rate, or on a machine with a free core"),
        );
    }
    if e.unreadable > 0 {
        let message = format!(
            "the counters of {} of {} processes could not be read; their bytes count when they end, if their parent waits for them",
            e.unreadable, e.processes
        );
        all.push(Warning::new("processes-unreadable", message).remedy("watch as the user who runs them"));
    }
    if e.left_running > 0 {
        let message = format!("{} processes of the command went on when it ended", e.left_running);
        all.push(Warning::new("processes-left", format!("{message}; their later transfers are not counted")));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::samples::{Count, SAMPLES_SCHEMA};

    #[test]
    fn memory_is_bounded_and_bytes_and_bounds_are_kept() {
        let header = Header {
            schema: SAMPLES_SCHEMA.into(),
            command: None,
            pid: Some(1),
            count: Count::Calls,
            rate_hz: 10.0,
            start_unix_s: None,
        };
        let mut s = Samples { most: 64, ..Samples::new(header) };
        for i in 0..1000 {
            let start = 0.1 * f64::from(i);
            let op = if i % 2 == 0 { Op::Read } else { Op::Write };
            s.push(Interval { op, bytes: 3.0, start, end: start + 0.1, ..Interval::default() });
            assert!(s.rows.len() < 64);
        }
        let trace = s.into_trace(None);
        let Data::Intervals(rows) = &trace.data else { panic!("no intervals") };
        assert_eq!(rows.bytes.iter().sum::<f64>(), 3000.0);
        let (first, last) = (rows.start[0], rows.end.iter().copied().fold(0.0, f64::max));
        assert!(first == 0.0 && (last - 100.0).abs() < 1e-9);
        let width = trace.bin_s.unwrap();
        assert!(width > 0.1 && rows.iter().all(|x| x.end - x.start <= width + 0.2), "{width}");
        assert!(trace.quality.partial[0].contains("merged") && trace.warnings[0].code == "samples-merged");
    }

    #[test]
    fn what_was_lost_is_said() {
        let codes = |e: &Ending| warnings(e).into_iter().map(|w| w.code).collect::<Vec<_>>();
        assert!(codes(&Ending { readings: 1000, missed: 20, processes: 4, ..Ending::default() }).is_empty());
        let e = Ending { readings: 100, missed: 20, unreadable: 1, left_running: 2, ..Ending::default() };
        assert_eq!(codes(&e), ["samples-missed", "processes-unreadable", "processes-left"]);
    }
}
