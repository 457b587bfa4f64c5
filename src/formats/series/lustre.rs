//! Snapshots of Lustre counters, one after the other: `stats` of clients and servers, and `job_stats` of servers.

use std::collections::HashSet;

use memchr::memmem;

use super::sheet::Sheet;
use super::snapshots::{Growing, Snapshots};
use super::stamp::is_unix;
use super::table::Row;
use crate::error::Result;
use crate::formats::lines::{Bad, Taken, lines};
use crate::formats::number::{parse_f64, parse_f64_minus, scan_f64};
use crate::formats::options::ReadOptions;
use crate::formats::rates::{ValueKind, median_step};

/// True if the head is of `stats`.
pub(super) fn is_stats(head: &[u8]) -> bool {
    let mut first = lines(head).map(<[u8]>::trim_ascii).filter(|l| !l.is_empty()).take(4);
    first.any(|l| l.starts_with(b"snapshot_time") && !l.starts_with(b"snapshot_time:"))
}

/// True if the head is of `job_stats`.
pub(super) fn is_job_stats(head: &[u8]) -> bool {
    lines(head).map(<[u8]>::trim_ascii).filter(|l| !l.is_empty()).take(8).any(|l| l == b"job_stats:")
}

const COUNTER: &str = "`write_bytes N samples [bytes] min max sum`, or `write_bytes: { samples: N, …, sum: N }`";

/// A stamp in seconds since the origin, which the first sets.
fn seconds(sheet: &mut Sheet, text: &[u8]) -> Option<f64> {
    sheet.begin_at(parse_f64(text)?);
    parse_f64_minus(text, sheet.origin)
}

/// Adds a reading to the group at `at`; the later one of the same moment counts.
fn push(sheet: &mut Sheet, at: usize, time: f64, values: [f64; 2]) {
    sheet.values += 2;
    sheet.quality.records_read += 1;
    let group = &mut sheet.groups[at];
    if group.times.last() == Some(&time) {
        group.times.pop();
        group.columns.iter_mut().for_each(|c| _ = c.pop());
    }
    group.push(time, &values);
}

/// Snapshots of `stats` as they come: one begins with its time; a counter that is not there is 0.
pub(super) struct Stats {
    sheet: Sheet,
    target: String,
    /// Time and values of the snapshot that is read.
    open: Option<(f64, [f64; 2])>,
}

impl Stats {
    pub(super) fn new() -> Stats {
        Stats { sheet: Sheet::of_devices("Lustre", ValueKind::Cumulative), target: String::new(), open: None }
    }
}

impl Snapshots for Stats {
    fn line(&mut self, line: &[u8], _: u64) -> std::result::Result<Taken, Bad> {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        let name = words.next().unwrap_or_default();
        match name {
            b"snapshot_time" | b"snapshot_time:" => {
                self.close();
                let time = words.next().and_then(|t| seconds(&mut self.sheet, t));
                let time = time.ok_or_else(|| Bad::new("the time in", line, "`snapshot_time SECONDS`"))?;
                self.open = Some((time, [0.0; 2]));
            }
            b"read_bytes" | b"write_bytes" => {
                let count = words.next().and_then(parse_f64);
                // `samples [bytes] min max sum`; without a sample there is no more than the count
                let sum = words.nth(4).map_or(count.filter(|n| *n == 0.0), parse_f64);
                match (sum, &mut self.open) {
                    (Some(sum), Some((_, values))) => values[usize::from(name == b"write_bytes")] = sum,
                    _ => return Err(Bad::new("the counter", line, COUNTER)),
                }
            }
            name => {
                if name.ends_with(b".stats=") {
                    self.close();
                    self.target = target_of(name, b".stats=");
                }
                return Ok(Taken::Nothing);
            }
        }
        Ok(Taken::Record)
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn close(&mut self) {
        if let Some((time, values)) = self.open.take() {
            let at = self.sheet.device("", &self.target);
            push(&mut self.sheet, at, time, values);
        }
    }

    fn finish(self) -> Result<Sheet> {
        Ok(self.sheet)
    }
}

impl Growing for Stats {
    fn take(&mut self, ends: bool) -> Result<Vec<(usize, Row)>> {
        // a later reading of its moment replaces the last
        let mut rows = Vec::new();
        for (at, group) in self.sheet.groups.iter_mut().enumerate() {
            let n = group.times.len().saturating_sub(usize::from(!ends));
            let values: Vec<Vec<f64>> = group.columns.iter_mut().map(|c| c.drain(..n).collect()).collect();
            let row = |(i, time)| (at, Row { time, length: None, values: values.iter().map(|c| c[i]).collect() });
            rows.extend(group.times.drain(..n).enumerate().map(row));
        }
        Ok(rows)
    }
}

/// The target of a line such as `obdfilter.lfs-OST0000.job_stats=`.
fn target_of(line: &[u8], ending: &[u8]) -> String {
    let name = line.strip_suffix(ending).unwrap_or(line);
    let name = name.iter().position(|&b| b == b'.').map_or(name, |n| &name[n + 1..]);
    String::from_utf8_lossy(name).into_owned()
}

/// A job on a target as one reading has it.
struct Entry {
    reading: usize,
    /// Time of its last change.
    changed: Option<f64>,
    sums: [f64; 2],
}

/// Readings of `job_stats` as they come.
///
/// The time in an entry is that of its last change, not of the reading. A line with a number of Unix time, in a comment or alone, gives the
/// time of the reading after it, or before it if the file does not begin with one. Without such lines readings are as far apart as the
/// changes show.
#[derive(Default)]
pub(super) struct Readings {
    sheet: Sheet,
    /// The step that the user names.
    step_s: Option<f64>,
    /// Entries of each group.
    entries: Vec<Vec<Entry>>,
    /// Time of each reading, where the file has it.
    times: Vec<Option<f64>>,
    /// Times stand before the readings they belong to, as the first shows; and such a time.
    ahead: Option<bool>,
    announced: Option<f64>,
    /// A reading is open, and the targets it has named.
    open: bool,
    targets: HashSet<String>,
    target: String,
    job: Option<String>,
    changed: Option<f64>,
}

impl Snapshots for Readings {
    fn line(&mut self, line: &[u8], _: u64) -> std::result::Result<Taken, Bad> {
        let after = |key: &[u8]| line.strip_prefix(key).map(<[u8]>::trim_ascii);
        if line == b"---" {
            self.open = false;
        } else if let Some(stamp) = stamp(line) {
            self.stamp(stamp);
        } else if line.ends_with(b".job_stats=") {
            let target = target_of(line, b".job_stats=");
            if self.targets.contains(&target) {
                self.open = false;
            }
            self.begin();
            self.targets.insert(target.clone());
            (self.target, self.job) = (target, None);
        } else if line == b"job_stats:" {
            if self.targets.is_empty() {
                self.open = false;
            }
            self.begin();
            self.job = None;
        } else if let Some(job) = after(b"- job_id:") {
            self.begin();
            let name = job.strip_prefix(b"\"").and_then(|j| j.strip_suffix(b"\"")).unwrap_or(job);
            (self.job, self.changed) = (Some(String::from_utf8_lossy(name).into_owned()), None);
        } else if let Some(time) = after(b"snapshot_time:") {
            self.changed = time.split(u8::is_ascii_whitespace).next().and_then(|t| seconds(&mut self.sheet, t));
        } else if let Some((text, column)) =
            after(b"read_bytes:").map(|t| (t, 0)).or(after(b"write_bytes:").map(|t| (t, 1)))
        {
            return self.counter(text, column);
        }
        Ok(Taken::Nothing)
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn finish(mut self) -> Result<Sheet> {
        let (times, step) = self.times_of_readings();
        for (at, entries) in std::mem::take(&mut self.entries).into_iter().enumerate() {
            let mut last: Option<&Entry> = None;
            for e in &entries {
                let Some(&time) = times.get(e.reading) else { continue };
                // what a reading does not list has not changed; what none listed before has begun at 0 since
                let before = e.reading.checked_sub(1).and_then(|b| times.get(b).copied().map(|t| (b, t)));
                let known = last.map_or([0.0; 2], |l| l.sums);
                if let Some((b, t)) = before
                    && last.is_none_or(|l| l.reading < b)
                {
                    push(&mut self.sheet, at, t, known);
                }
                push(&mut self.sheet, at, time, e.sums);
                last = Some(e);
            }
            self.sheet.groups[at].step_s = Some(step);
        }
        Ok(self.sheet)
    }
}

impl Readings {
    pub(super) fn new(options: &ReadOptions) -> Readings {
        Readings {
            sheet: Sheet::of_devices("Lustre", ValueKind::Cumulative),
            step_s: options.series.step(),
            ..Readings::default()
        }
    }

    /// Begins a reading, unless one is open.
    fn begin(&mut self) {
        if !std::mem::replace(&mut self.open, true) {
            self.times.push(self.announced.take());
            self.targets.clear();
        }
    }

    /// The time of a reading.
    fn stamp(&mut self, text: &[u8]) {
        let Some(time) = seconds(&mut self.sheet, text) else { return };
        let ahead = *self.ahead.get_or_insert(self.times.is_empty());
        match self.times.last_mut() {
            Some(last) if !ahead => *last = last.or(Some(time)),
            _ => self.announced = Some(time),
        }
        self.open = false;
    }

    fn counter(&mut self, text: &[u8], column: usize) -> std::result::Result<Taken, Bad> {
        let sum = memmem::find(text, b"sum:").and_then(|n| scan_f64(text[n + 4..].trim_ascii_start())).map(|(x, _)| x);
        let none =
            || memmem::find(text, b"samples:").and_then(|n| scan_f64(text[n + 8..].trim_ascii_start())).map(|(x, _)| x);
        let (Some(sum), Some(job)) = (sum.or_else(|| none().filter(|n| *n == 0.0)), &self.job) else {
            return Err(Bad::new("the counter", text, COUNTER));
        };
        let at = self.sheet.device(&self.target, job);
        if self.entries.len() <= at {
            self.entries.resize_with(at + 1, Vec::new);
        }
        let reading = self.times.len().saturating_sub(1);
        match self.entries[at].last_mut() {
            Some(e) if e.reading == reading => {
                e.sums[column] = sum;
                e.changed = self.changed.or(e.changed);
            }
            _ => {
                let mut sums = [0.0; 2];
                sums[column] = sum;
                self.entries[at].push(Entry { reading, changed: self.changed, sums });
            }
        }
        Ok(Taken::Record)
    }

    /// The time of every reading, and their step: as stated, or as the changes show, which happen before the reading that has them first.
    fn times_of_readings(&self) -> (Vec<f64>, f64) {
        let stated: Vec<(f64, f64)> =
            self.times.iter().enumerate().filter_map(|(i, t)| Some((i as f64, (*t)?))).collect();
        let changes = self.entries.iter().flatten().filter_map(|e| Some((e.reading as f64, e.changed?)));
        let mut points: Vec<(f64, f64)> = if stated.is_empty() { changes.collect() } else { stated };
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let slope = match (points.first(), points.last()) {
            (Some(a), Some(b)) if b.0 > a.0 && b.1 > a.1 => (b.1 - a.1) / (b.0 - a.0),
            _ => 1.0,
        };
        let step = self.step_s.unwrap_or(slope);
        let first = points.iter().map(|(i, t)| t - step * i).fold(f64::NEG_INFINITY, f64::max);
        let first = if first.is_finite() { first } else { 0.0 };
        let mut times: Vec<f64> =
            self.times.iter().enumerate().map(|(i, t)| t.unwrap_or(first + step * i as f64)).collect();
        // a clock that steps back does not bring readings back
        for i in 1..times.len() {
            times[i] = times[i].max(times[i - 1]);
        }
        let usual = median_step(&times).unwrap_or(step);
        (times, usual)
    }
}

/// The Unix time in a line that is a number or ends a comment.
fn stamp(line: &[u8]) -> Option<&[u8]> {
    let text = match line.strip_prefix(b"#") {
        Some(comment) => comment.trim_ascii().rsplit(u8::is_ascii_whitespace).next()?,
        None => line,
    };
    parse_f64(text).filter(|t| is_unix(*t)).map(|_| text)
}
