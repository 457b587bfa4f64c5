//! Requests, or files of one target, by the storage target (OST) that holds their bytes.

use std::collections::{BTreeMap, HashMap};

use super::bursts::mann_whitney;
use super::outcome::Part;
use crate::facts::Counted;
use crate::record::{Counters, FileId, Request, Requests, Striping, Trace, UNKNOWN_OFFSET};
use crate::transform::upper_median;

/// Rates kept of a target and class of size.
const KEPT: usize = 1 << 14;

/// Transfers to one target alone, of sizes within a factor of two.
#[derive(Debug, Default)]
struct Class {
    /// Seconds per byte.
    costs: Vec<f64>,
    /// Seconds and bytes of each rank.
    of_ranks: BTreeMap<u32, (f64, u64)>,
}

/// Transfers to and from a target.
#[derive(Debug, Default)]
pub(super) struct Target {
    pub bytes: u64,
    pub count: u64,
    pub time_s: f64,
    classes: BTreeMap<u32, Class>,
    parts: Vec<Part>,
}

impl Target {
    fn alone(&mut self, rank: u32, time_s: f64, bytes: u64) {
        let class = self.classes.entry(bytes.ilog2()).or_default();
        if class.costs.len() < KEPT {
            class.costs.push(time_s / bytes as f64);
        }
        let of_rank = class.of_ranks.entry(rank).or_default();
        *of_rank = (of_rank.0 + time_s, of_rank.1.saturating_add(bytes));
    }
}

/// The targets of a job.
#[derive(Debug, Default)]
pub(super) struct Targets {
    pub all: BTreeMap<u64, Target>,
    /// From single requests: every byte has its target.
    pub exact: bool,
}

/// A target that takes more time than the others for a byte.
pub(super) struct Slow {
    pub target: u64,
    /// Its time for a byte / that of the others, medians.
    pub factor: f64,
    /// Time of the rank that spends most on it.
    pub time_s: f64,
    /// The same beyond the usual time for as many bytes.
    pub lost_s: f64,
    pub parts: Vec<Part>,
}

impl Targets {
    /// Of the requests whose files have a layout; `None` if none has.
    pub fn of(trace: &Trace, rows: &Requests, counters: &Counters) -> Option<Targets> {
        let layouts: HashMap<&str, &Striping> = known(counters).map(|l| (counters.files.name(l.file), l)).collect();
        let of_file: HashMap<FileId, &Striping> =
            trace.files.iter().filter_map(|(id, name)| Some((id, *layouts.get(name)?))).collect();
        if of_file.is_empty() {
            return None;
        }
        let mut targets = Targets { exact: true, ..Targets::default() };
        for r in rows.iter().filter(|r| r.op.moves_bytes() && r.size > 0 && r.offset != UNKNOWN_OFFSET) {
            if let Some(layout) = of_file.get(&r.file) {
                targets.add(&r, layout);
            }
        }
        Some(targets)
    }

    /// Of the files of single ranks on one target each, by their counters: a file of several ranks says more of itself than of its target.
    pub fn of_files(posix: &Counted<'_>, counters: &Counters) -> Option<Targets> {
        let on_one: HashMap<FileId, u64> =
            known(counters).filter(|l| l.targets.len() == 1).map(|l| (l.file, l.targets[0])).collect();
        let mut records: HashMap<FileId, u32> = HashMap::new();
        posix.rows().for_each(|row| *records.entry(row.file).or_default() += 1);
        let mut targets = Targets::default();
        for row in posix.rows().filter(|row| row.moved() > 0 && records[&row.file] == 1) {
            let (Some(rank), Some(&target)) = (row.rank, on_one.get(&row.file)) else { continue };
            let (bytes, time_s) = (row.moved(), row.transfer_s());
            let target = targets.all.entry(target).or_default();
            (target.bytes, target.count) = (target.bytes.saturating_add(bytes), target.count + 1);
            target.time_s += time_s;
            target.alone(rank, time_s, bytes);
            target.parts.push(Part::of(&row, row.calls(), time_s));
        }
        (targets.all.len() > 1).then_some(targets)
    }

    fn add(&mut self, r: &Request, layout: &Striping) {
        let n = layout.targets.len() as u64;
        let time_s = r.end - r.start;
        for (target, bytes, stripes) in layout.spread(r.offset, r.size) {
            let target = self.all.entry(target).or_default();
            (target.bytes, target.count) = (target.bytes.saturating_add(bytes), target.count + 1);
            target.time_s += time_s / stripes.min(n) as f64;
            if stripes == 1 {
                target.alone(r.rank, time_s, r.size);
            }
        }
    }

    /// Most bytes of a target / mean.
    pub fn imbalance(&self) -> f64 {
        let most = self.all.values().map(|t| t.bytes).max().unwrap_or(0) as f64;
        let sum: f64 = self.all.values().map(|t| t.bytes as f64).sum();
        if sum > 0.0 { most * self.all.len() as f64 / sum } else { 0.0 }
    }

    /// The target that costs most by being slower than the others for requests or files of the same size: by `factor`, and not by chance
    /// (`p` for all comparisons together, after Bonferroni).
    pub fn slow(&self, factor: f64, p: f64) -> Option<Slow> {
        let classes: Vec<(u64, u32, &Class)> =
            self.all.iter().flat_map(|(t, of)| of.classes.iter().map(move |(k, class)| (*t, *k, class))).collect();
        let p = p / classes.len().max(1) as f64;
        let one = |&(target, size, class): &(u64, u32, &Class)| {
            let others = classes.iter().filter(|(t, k, _)| *t != target && *k == size);
            let mut theirs: Vec<f64> = others.flat_map(|o| o.2.costs.iter().copied()).collect();
            if theirs.is_empty() {
                return None;
            }
            let usual = upper_median(&mut theirs)?;
            let ratio = upper_median(&mut class.costs.clone())? / usual;
            if ratio.is_nan() || ratio <= factor || mann_whitney(&class.costs, &theirs) >= p {
                return None;
            }
            let most = |of: &dyn Fn(&(f64, u64)) -> f64| class.of_ranks.values().map(of).fold(0.0, f64::max);
            let (time_s, lost_s) = (most(&|x| x.0), most(&|x| x.0 - x.1 as f64 * usual));
            let parts = self.all.get(&target).map_or(Vec::new(), |t| t.parts.clone());
            Some(Slow { target, factor: ratio, time_s, lost_s, parts })
        };
        classes.iter().filter_map(one).max_by(|a, b| a.lost_s.total_cmp(&b.lost_s))
    }
}

/// The layouts whose targets are known.
fn known(counters: &Counters) -> impl Iterator<Item = &Striping> {
    counters.layouts.iter().filter(|l| l.stripe_bytes > 0 && !l.targets.is_empty())
}
