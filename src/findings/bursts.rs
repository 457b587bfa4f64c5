//! The bursts of a period, measured again from the rows: when each begins and ends, for the job and for each rank.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::analysis::{Mode, Report, SignalReport};
use crate::record::{Data, FileId, Numbered, Op, Timing, Trace};

/// Share of the idle time by which a row may come before its burst.
const EARLY: f64 = 0.25;

/// Bins of a heat map that a burst has at least, if they show its length.
const BINS: f64 = 10.0;

/// First start and last end of ranks, by rank.
type Spans = Vec<(u32, (f64, f64))>;

/// A burst; times in seconds since the origin of the trace.
#[derive(Debug, Clone)]
pub(super) struct Burst {
    pub start_s: f64,
    pub end_s: f64,
    pub bytes: f64,
    /// First start and last end of each rank, by rank; empty where a row is no single request.
    pub ranks: Spans,
}

impl Burst {
    pub fn length_s(&self) -> f64 {
        self.end_s - self.start_s
    }

    /// The ranks' ends, in order.
    pub fn ends(&self) -> Vec<(f64, u32)> {
        let mut ends: Vec<(f64, u32)> = self.ranks.iter().map(|&(rank, span)| (span.1, rank)).collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        ends
    }
}

/// First start and last end of each rank in each burst. Those of the last burst of a rank are kept apart: the next row is mostly of
/// the same.
struct RankSpans {
    latest: Numbered<Option<(usize, (f64, f64))>>,
    of_bursts: Vec<HashMap<u32, (f64, f64), FixedState>>,
}

impl RankSpans {
    fn new(bursts: usize) -> RankSpans {
        RankSpans { latest: Numbered::default(), of_bursts: vec![HashMap::default(); bursts] }
    }

    #[inline]
    fn add(&mut self, burst: usize, rank: u32, span: (f64, f64)) {
        let latest = self.latest.get_or(rank, None);
        match latest {
            Some((b, all)) if *b == burst => *all = joined(*all, span),
            _ => {
                if let Some(left) = latest.replace((burst, span)) {
                    self.keep(rank, left);
                }
            }
        }
    }

    fn keep(&mut self, rank: u32, (burst, span): (usize, (f64, f64))) {
        let all = self.of_bursts[burst].entry(rank).or_insert(span);
        *all = joined(*all, span);
    }

    /// Those of each burst, by rank.
    fn finish(mut self) -> impl Iterator<Item = Spans> {
        for (rank, latest) in std::mem::take(&mut self.latest) {
            latest.into_iter().for_each(|left| self.keep(rank, left));
        }
        self.of_bursts.into_iter().map(|ranks| {
            let mut ranks: Spans = ranks.into_iter().collect();
            ranks.sort_unstable_by_key(|r| r.0);
            ranks
        })
    }
}

fn joined(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The bursts of the dominant period of a signal.
#[derive(Debug, Clone)]
pub(super) struct Bursts {
    pub period_s: f64,
    pub confidence: f64,
    /// Share of the period that a burst lasts.
    pub duty: f64,
    /// The lengths of bursts are known: rows have durations of their own, or far shorter bins than bursts.
    pub timed: bool,
    pub all: Vec<Burst>,
}

impl Bursts {
    /// Those of the writes, then those of the reads.
    pub fn of(trace: &Trace, report: &Report) -> [Option<Bursts>; 2] {
        let signal = |modes: &[Mode]| report.signals.iter().find(|s| modes.contains(&s.mode));
        let writes = signal(&[Mode::Write, Mode::WriteSync]);
        let reads = signal(&[Mode::Read, Mode::ReadSync]);
        [(writes, Op::Write), (reads, Op::Read)].map(|(s, op)| s.and_then(|s| Bursts::of_signal(trace, s, op)))
    }

    fn of_signal(trace: &Trace, signal: &SignalReport, op: Op) -> Option<Bursts> {
        let (d, found) = (signal.period.dominant.as_ref()?, signal.bursts.as_ref()?);
        let early = EARLY * (d.period_s - found.width_s.median).max(0.0);
        let origin = trace.origin_s as f64;
        let starts: Vec<f64> = found.starts_s.iter().map(|t| t - origin).collect();
        let mut all: Vec<Option<Burst>> = vec![None; starts.len()];
        let mut ranks = RankSpans::new(starts.len());
        let by_rank = trace.timing == Timing::Request && matches!(trace.data, Data::Requests(_));
        let begins = |i: usize| starts[i] - early;
        // bursts that begin before the row: mostly as many as before the last one
        let mut at = 0;
        let mut add = |file: FileId, rank: u32, (start, end): (f64, f64), bytes: f64| {
            let same = (at == 0 || begins(at - 1) <= start) && (at == starts.len() || start < begins(at));
            if !same {
                at = starts.partition_point(|s| s - early <= start);
            }
            // a row that is more than a period late is of no burst
            if at == 0 || start - starts[at - 1] > d.period_s - early || trace.files.is_system(file) {
                return;
            }
            let none = || Burst { start_s: start, end_s: end, bytes: 0.0, ranks: Vec::new() };
            let b = all[at - 1].get_or_insert_with(none);
            (b.start_s, b.end_s, b.bytes) = (b.start_s.min(start), b.end_s.max(end), b.bytes + bytes);
            if by_rank {
                ranks.add(at - 1, rank, (start, end));
            }
        };
        match &trace.data {
            Data::Requests(r) => (0..r.len())
                .filter(|&i| r.op.get(i) == op)
                .for_each(|i| add(r.file.get(i), r.rank.get(i), (r.start[i], r.end[i]), r.size.get(i) as f64)),
            Data::Intervals(v) => {
                v.iter().filter(|x| x.op == op).for_each(|x| add(x.file, x.rank, (x.start, x.end), x.bytes));
            }
        }
        let in_order = |(burst, ranks): (Option<Burst>, Spans)| Some(Burst { ranks, ..burst? });
        let all = all.into_iter().zip(ranks.finish()).filter_map(in_order).collect();
        let timed = match trace.timing {
            Timing::Request | Timing::Phase => true,
            Timing::Heatmap => trace.bin_s.is_some_and(|bin_s| found.width_s.median >= BINS * bin_s),
            Timing::Counter | Timing::Order => false,
        };
        Some(Bursts { period_s: d.period_s, confidence: d.confidence, duty: found.duty_cycle, timed, all })
    }

    /// Lengths in seconds.
    pub fn lengths(&self) -> Vec<f64> {
        self.all.iter().map(Burst::length_s).collect()
    }
}

/// The value below which a share of the sorted values lie.
pub(super) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut v = values.to_vec();
    v.sort_by(f64::total_cmp);
    let last = v.len().saturating_sub(1);
    v.get((share * last as f64).round() as usize).copied().unwrap_or(0.0)
}

/// Slope of Theil and Sen per step, and the two-sided p of Mann and Kendall that there is no trend.
pub(super) fn trend(values: &[f64]) -> (f64, f64) {
    let n = values.len();
    let (mut slopes, mut s) = (Vec::new(), 0i64);
    for i in 0..n {
        for j in i + 1..n {
            slopes.push((values[j] - values[i]) / (j - i) as f64);
            s += values[j].total_cmp(&values[i]) as i64;
        }
    }
    if slopes.is_empty() {
        return (0.0, 1.0);
    }
    // equal values lower the variance
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let term = |k: f64| k * (k - 1.0) * (2.0 * k + 5.0);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|g| term(g.len() as f64)).sum();
    let variance = (term(n as f64) - ties) / 18.0;
    let z = if variance > 0.0 { (s.abs() - 1).max(0) as f64 / variance.sqrt() } else { 0.0 };
    (quantile(&slopes, 0.5), two_sided(z))
}

/// Probability of a normal value at least `z` standard deviations from the mean.
pub(super) fn two_sided(z: f64) -> f64 {
    statrs::function::erf::erfc(z / std::f64::consts::SQRT_2)
}

/// Probability of at least `k` of `n` events of probability `p` each.
pub(super) fn at_least(k: u64, n: u64, p: f64) -> f64 {
    use statrs::distribution::{Binomial, DiscreteCDF};
    if k == 0 {
        return 1.0;
    }
    Binomial::new(p, n).map_or(1.0, |b| b.sf(k - 1))
}

/// Two-sided p of Mann and Whitney that the values of `a` and `b` are of one distribution.
pub(super) fn mann_whitney(a: &[f64], b: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> = a.iter().map(|x| (*x, true)).chain(b.iter().map(|x| (*x, false))).collect();
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let (mut ranks, mut before) = (0.0, 0usize);
    for group in all.chunk_by(|x, y| x.0 == y.0) {
        let mean = before as f64 + (group.len() + 1) as f64 / 2.0;
        ranks += mean * group.iter().filter(|x| x.1).count() as f64;
        before += group.len();
    }
    let (n, m) = (a.len() as f64, b.len() as f64);
    let u = ranks - n * (n + 1.0) / 2.0;
    let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
    if deviation > 0.0 { two_sided((u - n * m / 2.0).abs() / deviation) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_known_samples() {
        let (slope, p) = trend(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
        // S = 45, variance 125, z = 44 / 11.18
        assert!((slope - 1.0).abs() < 1e-12 && (p - 8.3e-5).abs() < 1e-6, "{slope} {p}");
        assert!(trend(&[2.0; 9]).1 > 0.99 && trend(&[]).1 == 1.0);
        // 8 of 8 with one chance in two
        assert!((at_least(8, 8, 0.5) - 1.0 / 256.0).abs() < 1e-12);
        assert!((at_least(1, 2, 0.5) - 0.75).abs() < 1e-12);
        let low: Vec<f64> = (0..30).map(f64::from).collect();
        let high: Vec<f64> = low.iter().map(|x| x + 100.0).collect();
        assert!(mann_whitney(&low, &high) < 1e-9 && mann_whitney(&low, &low) > 0.9);
        assert_eq!(quantile(&low, 0.1), 3.0);
    }
}
