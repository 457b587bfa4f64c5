//! Samples of both sides, their tests, and the verdict.

use super::Match;
use super::files::Pair;
use super::report::{Basis, IoTimeChange, Outcome, Row, View};
use super::run::{Cycle, KindTimes, Run};
use super::stats::{self, Shift};
use super::thresholds::Thresholds;
use crate::facts::{KINDS, RankTime};

/// Runs on each side from which runs are the samples.
const RUNS: usize = 3;
/// Ranks in a picture.
const RANKS: usize = 1 << 16;

/// The runs that are compared.
pub(super) struct Sides<'a> {
    pub before: &'a [Run],
    pub after: &'a [Run],
    pub limits: Thresholds,
}

/// A property of bursts.
#[derive(Debug, Clone)]
pub(super) struct BurstRow {
    /// 0 reading, 1 writing.
    pub direction: usize,
    pub property: Property,
    pub row: Row,
    /// The change is large, be it by chance.
    pub large: bool,
    /// The change is large and significant.
    pub differs: bool,
}

/// Properties of a burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Bytes,
    Length,
    Rate,
    Imbalance,
    RankRate,
}

impl Property {
    const ALL: [Property; 5] =
        [Property::Bytes, Property::Length, Property::Rate, Property::Imbalance, Property::RankRate];

    /// Name after `read bursts` or `write bursts`, and unit.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Property::Bytes => ("bytes", "bytes"),
            Property::Length => ("length", "s"),
            Property::Rate => ("rate", "bytes/s"),
            Property::Imbalance => ("slowest rank / mean rank", "ratio"),
            Property::RankRate => ("rate of a rank", "bytes/s"),
        }
    }

    fn of(self, c: &Cycle, ranks: u64) -> f64 {
        match self {
            Property::Bytes => c.bytes,
            Property::Length => c.wall_s,
            Property::Rate => c.bytes / c.wall_s,
            Property::Imbalance => c.slowest_s * ranks as f64 / c.total_s,
            Property::RankRate => c.bytes / c.total_s,
        }
    }
}

/// Natural logarithm of after / before; infinite if one of them is 0, 0 if both are.
pub(super) fn log_ratio(before: f64, after: f64) -> f64 {
    if before == after { 0.0 } else { (after / before).ln() }
}

impl Sides<'_> {
    /// True if runs are the samples.
    pub fn by_runs(&self) -> bool {
        self.before.len() >= RUNS && self.after.len() >= RUNS
    }

    /// A value of each side: the mean of its runs; `None` if a run has none.
    pub fn values(&self, value: impl Fn(&Run) -> Option<f64>) -> Option<[f64; 2]> {
        let mean = |runs: &[Run]| -> Option<f64> {
            let all: Option<Vec<f64>> = runs.iter().map(&value).collect();
            all.map(|v| v.iter().sum::<f64>() / v.len() as f64)
        };
        Some([mean(self.before)?, mean(self.after)?])
    }

    /// True if all runs were recorded in the same depth.
    pub fn same_depth(&self) -> bool {
        self.before.iter().chain(self.after).all(|r| r.timing == self.before[0].timing)
    }

    /// Values of bursts, or of each run the median of its bursts.
    fn samples(&self, runs: &[Run], direction: usize, property: Property) -> Vec<f64> {
        let of_run = |r: &Run| -> Vec<f64> {
            let values = r.flows[direction].cycles.iter().map(|c| property.of(c, r.trace.ranks));
            values.filter(|x| x.is_finite()).collect()
        };
        if self.by_runs() {
            return runs.iter().filter_map(|r| stats::median(&of_run(r))).collect();
        }
        runs.iter().flat_map(of_run).collect()
    }

    /// Both sides' samples.
    fn pair(&self, direction: usize, property: Property) -> [Vec<f64>; 2] {
        [self.before, self.after].map(|runs| self.samples(runs, direction, property))
    }

    /// Properties of bursts, tested together.
    pub fn bursts(&self) -> Vec<BurstRow> {
        let mut rows = Vec::new();
        for direction in 0..2 {
            for property in Property::ALL {
                let [before, after] = self.pair(direction, property);
                rows.extend(burst_row(direction, property, &before, &after));
            }
        }
        let p: Vec<f64> = rows.iter().map(|r| r.row.p.unwrap_or(1.0)).collect();
        for (r, p) in rows.iter_mut().zip(stats::holm(&p)) {
            let change = log_ratio(r.row.before.unwrap_or(0.0), r.row.after.unwrap_or(0.0)).abs();
            r.large = change > self.limits.time.ln_1p();
            r.row.p = r.row.p.map(|_| p);
            r.differs = r.large && r.row.p.is_some_and(|p| p < self.limits.p);
        }
        rows
    }

    /// Time in I/O, mean of the runs of each side.
    pub fn io(&self) -> Option<[KindTimes; 2]> {
        let end = |i: usize| self.values(|r| r.io.map(|io| io.slowest_s[i]));
        let (low, high) = (end(0)?, end(1)?);
        let mean = |k: usize| self.values(|r| r.io.map(|io| io.mean_s[k])).unwrap_or_default();
        let kinds = [0, 1, 2, 3].map(mean);
        let side = |i: usize| KindTimes { slowest_s: [low[i], high[i]], mean_s: kinds.map(|k| k[i]) };
        Some([side(0), side(1)])
    }

    /// The change of the time in I/O with its interval.
    pub fn io_time(&self) -> IoTimeChange {
        let layers: Vec<_> = self.before.iter().chain(self.after).map(|r| &r.findings.io.layer).collect();
        let mut time = IoTimeChange {
            before_s: None,
            after_s: None,
            high_s: None,
            layer: layers[0].clone().filter(|_| layers.iter().all(|l| *l == layers[0])),
            run_s: self.values(|r| Some(r.run_s)).unwrap_or_default(),
            change: None,
            low: None,
            high: None,
            basis: Basis::Single,
        };
        let Some([a, b]) = self.io() else { return time };
        let change = b.slowest_s[0] - a.slowest_s[0];
        (time.before_s, time.after_s, time.change) = (Some(a.slowest_s[0]), Some(b.slowest_s[0]), Some(change));
        time.high_s = Some([a.slowest_s[1], b.slowest_s[1]]);
        let interval = match self.by_runs() {
            true => self.noise_of_runs().map(|s| (s, Basis::Runs)),
            // the noise of bursts, around the change of the whole time
            false => self
                .noise_of_bursts()
                .map(|half| (Shift { change, low: change - half, high: change + half }, Basis::Bursts)),
        };
        if let Some((shift, basis)) = interval {
            (time.low, time.high, time.basis) = (Some(shift.low), Some(shift.high), basis);
        }
        time
    }

    fn noise_of_runs(&self) -> Option<Shift> {
        let [before, after] = [self.before, self.after]
            .map(|runs| runs.iter().filter_map(|r| r.io).map(|io| io.slowest_s[0]).collect::<Vec<_>>());
        stats::hodges_lehmann(&before, &after)
    }

    /// Half the interval of the sum of the bursts' lengths of a run.
    fn noise_of_bursts(&self) -> Option<f64> {
        let lengths = [0, 1].map(|d| self.pair(d, Property::Length));
        let usable: Vec<(&[f64], &[f64])> = lengths
            .iter()
            .filter(|[a, b]| a.len() > 1 && b.len() > 1)
            .map(|[a, b]| (a.as_slice(), b.as_slice()))
            .collect();
        let sum = stats::sums(&usable)?;
        // the interval is that of sums over all runs of a side
        Some(0.5 * (sum.high - sum.low) / self.before.len().min(self.after.len()) as f64)
    }

    /// Change of the bytes of a side that make the work another one.
    fn different_work(&self, pairs: &[Pair<'_>]) -> bool {
        let differ = |d: usize| {
            let Some([a, b]) = self.values(|r| Some(r.bytes(d) as f64)) else { return false };
            let [all_a, all_b] = self.values(|r| Some((r.bytes(0) + r.bytes(1)) as f64)).unwrap_or_default();
            (b - a).abs() > self.limits.work * all_a.min(all_b).max(1.0)
        };
        let alone = pairs.iter().filter(|p| p.0.is_none() || p.1.is_none()).count();
        differ(0) || differ(1) || alone as f64 > self.limits.families * pairs.len() as f64
    }

    /// The answer.
    pub fn verdict(&self, io: &IoTimeChange, bursts: &[BurstRow], pairs: &[Pair<'_>]) -> Outcome {
        if self.different_work(pairs) {
            return Outcome::DifferentWork;
        }
        let (Some(before), Some(after), Some(change)) = (io.before_s, io.after_s, io.change) else {
            return Outcome::CannotTell;
        };
        // bounds that overlap do not say which side takes longer
        let [most_before, most_after] = io.high_s.unwrap_or([before, after]);
        let bounded = most_before > 1.01 * before || most_after > 1.01 * after;
        let [run_a, run_b] = io.run_s;
        let small = self.limits.run * run_a.min(run_b);
        if bounded && most_before.min(most_after) >= before.max(after) {
            let largest = (most_after - before).max(most_before - after);
            return if largest <= small { Outcome::Same } else { Outcome::CannotTell };
        }
        let ratio = log_ratio(before, after).abs();
        let large = ratio > self.limits.time.ln_1p();
        let excluded = io.low.zip(io.high).is_some_and(|(low, high)| low > 0.0 || high < 0.0);
        let significant = match io.basis {
            Basis::Runs => excluded,
            Basis::Bursts => excluded && bursts.iter().any(|b| b.property == Property::Length && b.differs),
            Basis::Single if ratio > self.limits.single.ln_1p() => change.abs() > small,
            Basis::Single if large && change.abs() > small => return Outcome::CannotTell,
            Basis::Single => false,
        };
        match (large && significant, change > 0.0) {
            (false, _) => Outcome::Same,
            (true, true) => Outcome::Slower,
            (true, false) => Outcome::Faster,
        }
    }

    /// Data of pictures, of the first run of each side.
    pub fn view(&self, matching: Match) -> View {
        let (a, b) = (&self.before[0], &self.after[0]);
        let direction = usize::from(a.bytes(1) + b.bytes(1) >= a.bytes(0) + b.bytes(0));
        let cost = self.io().map_or_else(Vec::new, |[x, y]| {
            let of = |k: usize| (KINDS[k], [x.mean_s[k] * x.imbalance(), y.mean_s[k] * y.imbalance()]);
            (0..4).map(of).filter(|(_, c)| c[0] + c[1] > 0.0).collect()
        });
        View {
            mode: KINDS[direction],
            curves: [a, b].map(|r| r.flows[direction].curve.clone()),
            ranks: matched(&a.findings.io.ranks, &b.findings.io.ranks, matching),
            cost,
        }
    }
}

fn burst_row(direction: usize, property: Property, before: &[f64], after: &[f64]) -> Option<BurstRow> {
    let shift = stats::hodges_lehmann(before, after)?;
    let (name, unit) = property.names();
    let tested = before.len() > 1 && after.len() > 1;
    let row = Row {
        what: format!("{} bursts: {name}", KINDS[direction]),
        before: stats::median(before),
        after: stats::median(after),
        unit: unit.into(),
        change: Some(shift.change),
        low: tested.then_some(shift.low),
        high: tested.then_some(shift.high),
        p: tested.then(|| stats::mann_whitney(before, after)),
    };
    Some(BurstRow { direction, property, row, large: false, differs: false })
}

/// Ranks of both runs that belong together.
fn matched(before: &[RankTime], after: &[RankTime], matching: Match) -> Vec<[RankTime; 2]> {
    let ordered = |ranks: &[RankTime]| {
        let mut all = ranks.to_vec();
        match matching {
            Match::Rank => {}
            Match::Size => all.sort_by_key(|r| (r.bytes, r.rank)),
            Match::Time => all.sort_by(|x, y| x.io_s.total_cmp(&y.io_s)),
        }
        all
    };
    let (a, b) = (ordered(before), ordered(after));
    if matching == Match::Rank {
        let partner = |x: &RankTime| b.binary_search_by_key(&x.rank, |y| y.rank).ok().map(|i| [*x, b[i]]);
        return a.iter().filter_map(partner).take(RANKS).collect();
    }
    a.into_iter().zip(b).map(|(x, y)| [x, y]).take(RANKS).collect()
}
