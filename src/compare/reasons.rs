//! Probable reasons of a difference, and how much of it each explains.

use super::decompose::{Factors, Shares, shares};
use super::differences::Differences;
use super::report::{Reason, Row};
use super::run::Run;
use super::samples::{BurstRow, Property, Sides, log_ratio};
use super::stats;
use crate::facts::KINDS;

/// Codes of findings that belong to a reason, by the beginnings of codes.
const CODES: &[(&str, &[&str])] = &[
    ("request size", &["IOP-POSIX-001", "IOP-POSIX-002", "IOP-POSIX-003", "IOP-POSIX-012"]),
    ("in order", &["IOP-POSIX-005", "IOP-POSIX-006", "IOP-POSIX-008", "IOP-POSIX-009", "IOP-POSIX-010"]),
    ("sync calls", &["IOP-META-004", "IOP-MPIIO-009"]),
    ("metadata", &["IOP-META-", "IOP-POSIX-013"]),
    ("slowest rank", &["IOP-RANK-"]),
    ("files", &["IOP-FILE-", "IOP-LIB-"]),
];

/// A value of both sides that was counted, not estimated.
pub(super) fn counted(what: impl Into<String>, unit: &str, [before, after]: [f64; 2]) -> Row {
    Row {
        what: what.into(),
        before: Some(before),
        after: Some(after),
        unit: unit.into(),
        change: Some(after - before),
        low: None,
        high: None,
        p: None,
    }
}

/// The candidates, from the cause to the effect.
struct Reasons<'a, 'b> {
    s: &'a Sides<'b>,
    bursts: &'a [BurstRow],
    different: &'a Differences,
    shares: Option<Shares>,
    run_s: f64,
    found: Vec<Reason>,
}

/// The reasons, and the times in I/O that differ.
pub(super) fn reasons(s: &Sides<'_>, bursts: &[BurstRow], different: &Differences) -> (Vec<Reason>, Vec<Row>) {
    let io = s.io();
    let side = |i: usize| -> Option<Factors> {
        let one = |value: &dyn Fn(&Run) -> f64| s.values(|r| Some(value(r))).map_or(0.0, |v| v[i]);
        let bytes = [one(&|r| r.bytes(0) as f64), one(&|r| r.bytes(1) as f64)];
        Some(Factors { io: io?[i], ranks: one(&|r| r.trace.ranks.max(1) as f64), bytes })
    };
    let shares = side(0).zip(side(1)).map(|(a, b)| shares(&a, &b));
    let run_s = s.values(|r| Some(r.run_s)).map_or(0.0, |v| v[0].min(v[1]));
    let mut all = Reasons { s, bursts, different, shares, run_s, found: Vec::new() };
    all.ranks();
    all.periods();
    (0..2).for_each(|d| all.bytes(d));
    (0..2).for_each(|d| all.access(d));
    all.calls("sync calls", 2, |s| s.sync);
    all.calls("metadata calls", 3, |s| s.metadata);
    all.files();
    all.imbalance();
    (0..2).for_each(|d| all.rate(d));
    let time = all.times();
    (by_cost(all.found), time)
}

/// The costliest first. Reasons whose costs differ by less than a factor of two stay in the order from the cause to the effect.
fn by_cost(mut rest: Vec<Reason>) -> Vec<Reason> {
    let cost = |r: &Reason| r.lost_s.map_or(0.0, f64::abs);
    let mut out = Vec::new();
    while let Some(most) = rest.iter().map(cost).max_by(f64::total_cmp) {
        let (next, later) = rest.into_iter().partition(|r| 2.0 * cost(r) >= most);
        out.extend::<Vec<Reason>>(next);
        rest = later;
    }
    out
}

impl Reasons<'_, '_> {
    fn push(&mut self, row: Row, lost_s: Option<f64>, files: Vec<String>) {
        let of = CODES.iter().find(|(what, _)| row.what.contains(what)).map_or(&[][..], |c| c.1);
        let codes = self.different.codes().filter(|code| of.iter().any(|start| code.starts_with(start)));
        let codes = codes.map(str::to_owned).collect();
        self.found.push(Reason { row, lost_s: lost_s.filter(|s| s.is_finite()), codes, files });
    }

    /// True if more of what costs time is to have saved it, or less of it to have cost, by more than noise.
    fn contradicts(&self, more: f64, lost_s: Option<f64>) -> bool {
        lost_s.is_some_and(|s| s * more < 0.0 && s.abs() > self.s.limits.run * self.run_s)
    }

    fn ranks(&mut self) {
        let Some([a, b]) = self.s.values(|r| Some(r.trace.ranks as f64)).filter(|[a, b]| a != b) else { return };
        let lost_s = self
            .shares
            .map(|s| if self.same_bytes_of_a_rank() { s.ranks + s.bytes.iter().sum::<f64>() } else { s.ranks });
        self.push(counted("ranks", "count", [a, b]), lost_s, Vec::new());
    }

    /// More ranks move more bytes, in proportion.
    fn same_bytes_of_a_rank(&self) -> bool {
        (0..2).all(|d| {
            let of_rank = self.s.values(|r| Some(r.bytes(d) as f64 / r.trace.ranks.max(1) as f64)).unwrap_or_default();
            log_ratio(of_rank[0], of_rank[1]).abs() <= self.s.limits.volume.ln_1p()
        })
    }

    fn periods(&mut self) {
        for row in self.different.periods.clone() {
            self.push(row, None, Vec::new());
        }
    }

    fn bytes(&mut self, d: usize) {
        let bytes = self.s.values(|r| Some(r.bytes(d) as f64)).unwrap_or_default();
        let ranks_differ = self.s.values(|r| Some(r.trace.ranks as f64)).is_some_and(|[a, b]| a != b);
        if log_ratio(bytes[0], bytes[1]).abs() <= self.s.limits.volume.ln_1p()
            || (ranks_differ && self.same_bytes_of_a_rank())
            || self.is_negligible(d)
        {
            return;
        }
        let files = self.different.grown[d].clone();
        let lost_s = self.shares.map(|s| s.bytes[d]);
        self.push(counted(format!("{} bytes", KINDS[d]), "bytes", bytes), lost_s, files);
    }

    /// Less than this share of the bytes is moved in this direction.
    fn is_negligible(&self, d: usize) -> bool {
        let of = |r: &Run| r.bytes(d) as f64 / (r.bytes(0).saturating_add(r.bytes(1)).max(1)) as f64;
        self.s.values(|r| Some(of(r))).is_some_and(|[a, b]| a.max(b) < self.s.limits.volume)
    }

    /// Sizes and order of requests: they explain the change of the time per byte.
    fn access(&mut self, d: usize) {
        if self.is_negligible(d) {
            return;
        }
        let lost_s = self.shares.map(|s| s.rate[d]);
        let t = self.s.limits;
        if self.different.size_distance[d].is_some_and(|x| x >= t.sizes) {
            let mean = self.s.values(|r| {
                let flow = &r.flows[d];
                (flow.calls > 0).then(|| flow.bytes as f64 / flow.calls as f64)
            });
            if let Some(mean) = mean.filter(|m| !self.contradicts(m[0] - m[1], lost_s)) {
                self.push(counted(format!("{} request size", KINDS[d]), "bytes", mean), lost_s, Vec::new());
            }
        }
        let order = |what: &str, share: &dyn Fn(&super::run::Flow) -> u64| self.proportion(d, what, share);
        let consecutive = order("in order", &|f| f.consecutive);
        let backward = order("that go back, not in order", &|f| f.backward);
        let size = |r: &Option<Row>| r.as_ref().and_then(|r| r.change).map_or(0.0, f64::abs);
        let larger = if size(&backward) > size(&consecutive) { backward } else { consecutive };
        if let Some(row) = larger {
            self.push(row, lost_s, Vec::new());
        }
    }

    /// The share of requests that have a property, if it differs.
    fn proportion(&self, d: usize, what: &str, count: &dyn Fn(&super::run::Flow) -> u64) -> Option<Row> {
        let sum = |runs: &[Run], f: &dyn Fn(&super::run::Flow) -> u64| runs.iter().map(|r| f(&r.flows[d])).sum::<u64>();
        let [a, b] = [self.s.before, self.s.after].map(|runs| (sum(runs, count), sum(runs, &|f| f.follow)));
        let p = stats::two_proportions(a, b);
        let share = [a, b].map(|(k, n)| k as f64 / n as f64);
        let change = share[1] - share[0];
        if p >= self.s.limits.p || change.is_nan() || change.abs() < self.s.limits.order {
            return None;
        }
        let variance = |share: f64, n: u64| share * (1.0 - share) / n as f64;
        let half = 1.96 * (variance(share[0], a.1) + variance(share[1], b.1)).sqrt();
        let row = counted(format!("{} requests {what}", KINDS[d]), "ratio", share);
        Some(Row { low: Some(change - half), high: Some(change + half), p: Some(p), ..row })
    }

    fn calls(&mut self, what: &str, kind: usize, share: impl Fn(&Shares) -> f64) {
        let counts = self.s.values(|r| (!r.findings.io.ranks.is_empty()).then_some(r.counts[kind] as f64));
        let word = if kind == 2 { "sync" } else { "open" };
        let named = |r: &Run| {
            let all = r.calls.iter().filter(|(name, _)| name.contains(word)).map(|(_, n)| *n as f64);
            (!r.calls.is_empty()).then(|| all.sum())
        };
        let Some([a, b]) = counts.filter(|[a, b]| a + b > 0.0).or_else(|| self.s.values(named)) else { return };
        let ranks = self.s.values(|r| Some(r.trace.ranks.max(1) as f64)).unwrap_or([1.0; 2]);
        let of_rank = [a / ranks[0], b / ranks[1]];
        let changed = log_ratio(of_rank[0], of_rank[1]).abs() > self.s.limits.volume.ln_1p();
        let lost_s = self.shares.as_ref().map(share);
        // few calls that cost nothing explain nothing
        let matters = kind == 2 || lost_s.is_some_and(|x| x.abs() > self.s.limits.run * self.run_s);
        if changed && matters && !self.contradicts(of_rank[1] - of_rank[0], lost_s) {
            self.push(counted(what, "count", [a, b]), lost_s, Vec::new());
        } else if matters {
            let times = self.s.io().map(|io| [0, 1].map(|i| io[i].mean_s[kind] / of_rank[i]));
            if let Some(times) = times.filter(|t| t.iter().all(|s| s.is_finite() && *s > 0.0)) {
                self.push(counted(format!("mean time of {what}"), "s", times), lost_s, Vec::new());
            }
        }
    }

    fn files(&mut self) {
        let names: Vec<String> = self
            .different
            .files
            .iter()
            .filter(|f| matches!(f.what.as_str(), "appeared" | "vanished" | "stripes" | "mount" | "count"))
            .map(|f| f.file.clone())
            .collect();
        if names.is_empty() {
            return;
        }
        let counts = self.s.values(|r| Some(r.families.iter().map(|f| f.files).sum::<u64>() as f64));
        let row = counted("files", "count", counts.unwrap_or_default());
        // stripes and file systems have no number
        let row = if self
            .different
            .files
            .iter()
            .all(|f| matches!(f.what.as_str(), "stripes" | "mount" | "class" | "bytes"))
        {
            Row { what: "layout of files".into(), before: None, after: None, change: None, ..row }
        } else {
            row
        };
        self.push(row, None, names);
    }

    /// A property of bursts that differs.
    fn burst(&self, d: usize, property: Property) -> Option<Row> {
        self.bursts.iter().find(|b| b.direction == d && b.property == property && b.differs).map(|b| b.row.clone())
    }

    /// True if the cost of a reason is worth a line without a test.
    fn is_costly(&self, share: impl Fn(&Shares) -> f64) -> bool {
        self.bursts.is_empty() && self.shares.is_some_and(|s| share(&s).abs() > self.s.limits.run * self.run_s)
    }

    fn imbalance(&mut self) {
        let lost_s = self.shares.map(|s| s.imbalance);
        let tested = (0..2).filter_map(|d| self.burst(d, Property::Imbalance)).collect::<Vec<_>>();
        if tested.is_empty() && self.is_costly(|s| s.imbalance) {
            let values = self.s.io().map(|io| io.map(|x| x.imbalance())).unwrap_or_default();
            self.push(counted("slowest rank / mean rank", "ratio", values), lost_s, Vec::new());
        }
        for row in tested {
            self.push(row, lost_s, Vec::new());
        }
    }

    /// The time per byte, if nothing above explains it.
    fn rate(&mut self, d: usize) {
        let explained = |r: &Reason| {
            let what = &r.row.what;
            (what.starts_with(KINDS[d]) && (what.contains("request"))) || (d == 1 && what == "sync calls")
        };
        if self.found.iter().any(explained) {
            return;
        }
        let lost_s = self.shares.map(|s| s.rate[d]);
        let row = self.burst(d, Property::RankRate).or_else(|| {
            let io = self.s.io().filter(|_| self.is_costly(|s| s.rate[d]))?;
            let bytes = self.s.values(|r| Some(r.bytes(d) as f64 / r.trace.ranks.max(1) as f64))?;
            let rates = [0, 1].map(|i| bytes[i] / io[i].mean_s[d]);
            rates
                .iter()
                .all(|x| x.is_finite())
                .then(|| counted(format!("{}: rate of a rank", KINDS[d]), "bytes/s", rates))
        });
        if let Some(row) = row {
            self.push(row, lost_s, Vec::new());
        }
    }

    /// Times in I/O by kind, share of the run and imbalance, where they differ by more than noise of one run may.
    fn times(&self) -> Vec<Row> {
        let Some([a, b]) = self.s.io() else { return Vec::new() };
        let run = self.s.values(|r| Some(r.run_s)).unwrap_or_default();
        let t = self.s.limits;
        let mut rows: Vec<Row> = (0..4)
            .map(|k| {
                counted(
                    format!("{} time of the slowest rank", KINDS[k]),
                    "s",
                    [a.mean_s[k] * a.imbalance(), b.mean_s[k] * b.imbalance()],
                )
            })
            .filter(|r| r.change.is_some_and(|c| c.abs() > t.run * run[0].min(run[1])))
            .collect();
        if !rows.is_empty() {
            rows.push(counted("share of the run in I/O", "ratio", [a.slowest_s[0] / run[0], b.slowest_s[0] / run[1]]));
        }
        rows.retain(|r| log_ratio(r.before.unwrap_or(0.0), r.after.unwrap_or(0.0)).abs() > t.time.ln_1p());
        rows
    }
}
