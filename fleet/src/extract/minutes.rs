//! Bytes by minute.

use std::collections::{BTreeMap, HashMap};

use super::periods::rounded;
use crate::tables::{MinuteRow, Time};
use iophase::internals::facts::{Count, Counted, Measure};
use iophase::record::{CounterModule, Counters, Data, FileId, Layer, Op, Timing, Trace};

/// Minutes of a log, at most: ten weeks.
const MINUTES: f64 = 100_000.0;

/// Counters that hold all bytes together: what MPI-IO moves is in those of POSIX.
const MODULES: [CounterModule; 2] = [CounterModule::Posix, CounterModule::Stdio];

/// Row key: mode and mount.
type Place = (&'static str, Option<String>);

/// Amounts of one mode and mount.
#[derive(Default)]
struct Amounts {
    /// Bytes or calls by minute since 1970.
    by_minute: BTreeMap<i64, f64>,
    /// Spans of time with I/O.
    spans: Vec<(f64, f64)>,
}

impl Amounts {
    /// Spreads an amount evenly over a span, in seconds since 1970.
    fn add(&mut self, amount: f64, (start, end): (f64, f64)) {
        let (first, last) = ((start / 60.0).floor() as i64, (end / 60.0).floor() as i64);
        if first == last || end <= start {
            *self.by_minute.entry(first).or_default() += amount;
        } else {
            for minute in first..=last {
                let (a, b) = (minute as f64 * 60.0, (minute + 1) as f64 * 60.0);
                let part = (end.min(b) - start.max(a)).max(0.0) / (end - start);
                *self.by_minute.entry(minute).or_default() += amount * part;
            }
        }
        self.spans.push((start, end));
    }

    /// Seconds of each minute that some span covers.
    fn busy(&mut self) -> BTreeMap<i64, f64> {
        self.spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut busy: BTreeMap<i64, f64> = BTreeMap::new();
        let mut done = f64::NEG_INFINITY;
        for &(start, end) in &self.spans {
            let start = start.max(done);
            if end <= start {
                continue;
            }
            for minute in (start / 60.0).floor() as i64..=(end / 60.0).floor() as i64 {
                let (a, b) = (minute as f64 * 60.0, (minute + 1) as f64 * 60.0);
                *busy.entry(minute).or_default() += (end.min(b) - start.max(a)).max(0.0);
            }
            done = end;
        }
        busy
    }
}

/// All amounts of a log.
struct Minutes<'a> {
    /// Seconds since 1970 of the trace's zero.
    zero: f64,
    /// Span of time within which everything has to lie.
    range: (f64, f64),
    counters: Option<&'a Counters>,
    amounts: BTreeMap<(Place, bool), Amounts>,
}

impl Minutes<'_> {
    fn add(&mut self, mode: &'static str, mount: Option<String>, spread: bool, amount: f64, span: (f64, f64)) {
        let start = (span.0 + self.zero).clamp(self.range.0, self.range.1);
        let end = (span.1 + self.zero).clamp(start, self.range.1);
        if amount > 0.0 && amount.is_finite() && start.is_finite() && end.is_finite() {
            self.amounts.entry(((mode, mount), spread)).or_default().add(amount, (start, end));
        }
    }

    fn mount(&self, file: &str) -> Option<String> {
        self.counters.and_then(|c| c.mount(file)).map(|m| m.path.clone())
    }

    /// Exact rows.
    fn rows(&mut self, trace: &Trace) {
        let origin = trace.origin_s as f64;
        let mut mounts: HashMap<FileId, Option<String>> = HashMap::new();
        let rows: Box<dyn Iterator<Item = (Op, FileId, f64, f64, f64)>> = match &trace.data {
            Data::Requests(r) => Box::new(r.iter().map(|x| (x.op, x.file, x.size as f64, x.start, x.end))),
            Data::Intervals(r) => Box::new(r.iter().map(|x| (x.op, x.file, x.bytes, x.start, x.end))),
        };
        for (op, file, bytes, start, end) in rows {
            let mode = match op {
                Op::Read => "read",
                Op::Write => "write",
                _ => continue,
            };
            let mount = mounts.entry(file).or_insert_with(|| self.mount(trace.files.name(file))).clone();
            self.add(mode, mount, false, bytes, (origin + start, origin + end));
        }
    }

    /// Totals of files between their first and their last access: bytes of these layers, and the calls of all.
    fn totals(&mut self, bytes: &[CounterModule]) {
        let Some(c) = self.counters else { return };
        let mut mounts: HashMap<FileId, Option<String>> = HashMap::new();
        let amounts = [
            ("read", Count::BytesRead, Measure::ReadStart, Measure::ReadEnd),
            ("write", Count::BytesWritten, Measure::WriteStart, Measure::WriteEnd),
        ];
        let calls = [Count::Opens, Count::Seeks, Count::Stats, Count::Syncs, Count::Flushes];
        for module in MODULES {
            let Some(t) = Counted::by(c, module) else { continue };
            for row in t.rows() {
                let mount = mounts.entry(row.file).or_insert_with(|| self.mount(c.files.name(row.file))).clone();
                let span = |start, end| (row.measure(start), row.measure(end));
                for (mode, moved, start, end) in amounts.iter().filter(|_| bytes.contains(&module)) {
                    self.add(mode, mount.clone(), true, row.count(*moved) as f64, span(*start, *end));
                }
                let calls = calls.iter().map(|count| row.count(*count)).fold(0, u64::saturating_add);
                self.add("metadata", mount, true, calls as f64, span(Measure::OpenStart, Measure::CloseEnd));
            }
        }
    }

    fn finish(self, to: &mut Vec<MinuteRow>) {
        for (((mode, mount), spread), mut amounts) in self.amounts {
            let busy = amounts.busy();
            let metadata = mode == "metadata";
            for (minute, amount) in rounded(&amounts.by_minute) {
                let row = MinuteRow {
                    minute: Time(minute.checked_mul(60_000_000)),
                    mode: Some(mode.to_owned()),
                    mount: mount.clone(),
                    bytes: (!metadata).then_some(amount),
                    busy_s: (!metadata).then(|| busy.get(&minute).copied().unwrap_or(0.0)),
                    metadata_calls: metadata.then_some(amount),
                    spread: Some(spread),
                };
                if amount > 0 {
                    to.push(row);
                }
            }
        }
    }
}

/// The minutes of a log: of its rows, and of the counters of what has no rows with times. Gives the code of a warning if its times are
/// so far apart that they are left out.
pub fn rows(trace: &Trace, to: &mut Vec<MinuteRow>) -> Option<&'static str> {
    let zero = trace.clock.unix_s(0.0)?;
    let job = trace.job.as_ref();
    let seen = match &trace.data {
        Data::Requests(r) => (&r.start, &r.end),
        Data::Intervals(r) => (&r.start, &r.end),
    };
    let origin = zero + trace.origin_s as f64;
    let first = seen.0.iter().copied().fold(f64::INFINITY, f64::min) + origin;
    let last = seen.1.iter().copied().fold(f64::NEG_INFINITY, f64::max) + origin;
    let start = job.and_then(|j| j.start_unix_s).unwrap_or(first).min(first);
    let end = job.and_then(|j| j.end_unix_s).unwrap_or(last).max(last);
    if !(start.is_finite() && end.is_finite() && start <= end) {
        return None;
    }
    if (end - start) / 60.0 > MINUTES {
        return Some("minutes-left-out");
    }
    let counters = trace.counters.as_deref();
    // logs of old formats have ends in whole seconds
    let mut minutes = Minutes { zero, range: (start, end + 1.0), counters, amounts: BTreeMap::new() };
    let exact = !trace.data.is_empty() && trace.timing != Timing::Counter;
    if exact {
        minutes.rows(trace);
    }
    // rows are of one layer, and neither POSIX nor STDIO holds what went through the other
    minutes.totals(match (exact, trace.layer) {
        (true, Some(Layer::Stdio)) => &[CounterModule::Posix],
        (true, _) => &[CounterModule::Stdio],
        (false, _) => &MODULES,
    });
    minutes.finish(to);
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_spread_over_minutes_and_busy_time_is_counted_once() {
        let mut a = Amounts::default();
        a.add(120.0, (30.0, 150.0));
        a.add(5.0, (90.0, 90.0));
        a.add(60.0, (60.0, 120.0));
        assert_eq!(a.by_minute, [(0, 30.0), (1, 125.0), (2, 30.0)].into());
        assert_eq!(a.busy(), [(0, 30.0), (1, 60.0), (2, 30.0)].into());
    }
}
