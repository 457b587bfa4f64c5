//! Requests by the storage target (OST) that holds their bytes.

use std::collections::{BTreeMap, HashMap};

use super::bursts::mann_whitney;
use super::requests::median;
use crate::record::{Counters, FileId, Request, Requests, Striping, Trace, UNKNOWN_OFFSET};

/// Rates kept of a target.
const KEPT: usize = 1 << 14;
/// Requests of each target from which rates are compared.
const ENOUGH: usize = 30;

/// What a target moved.
#[derive(Debug, Default)]
pub(super) struct Target {
    pub bytes: u64,
    pub count: u64,
    pub time_s: f64,
    /// Seconds per byte of requests to this target alone, and the durations.
    costs: Vec<f64>,
    durations: Vec<f64>,
}

/// The targets of a job.
#[derive(Debug, Default)]
pub(super) struct Targets {
    pub all: BTreeMap<u64, Target>,
}

/// A target that takes more than twice the time of the others for a byte.
pub(super) struct Slow {
    pub target: u64,
    /// Its time for a byte / that of the others, medians.
    pub factor: f64,
    pub time_s: f64,
    /// Time beyond that of as many median requests of the others.
    pub lost_s: f64,
}

impl Targets {
    /// Of the requests whose files have a layout; `None` if none has.
    pub fn of(trace: &Trace, rows: &Requests, counters: &Counters) -> Option<Targets> {
        let layouts: HashMap<&str, &Striping> = counters
            .layouts
            .iter()
            .filter(|l| l.stripe_bytes > 0 && !l.targets.is_empty())
            .map(|l| (counters.files.name(l.file), l))
            .collect();
        let of_file: HashMap<FileId, &Striping> =
            trace.files.iter().filter_map(|(id, name)| Some((id, *layouts.get(name)?))).collect();
        if of_file.is_empty() {
            return None;
        }
        let mut targets = Targets::default();
        for r in rows.iter().filter(|r| r.op.moves_bytes() && r.size > 0 && r.offset != UNKNOWN_OFFSET) {
            if let Some(layout) = of_file.get(&r.file) {
                targets.add(&r, layout);
            }
        }
        Some(targets)
    }

    fn add(&mut self, r: &Request, layout: &Striping) {
        let n = layout.targets.len() as u64;
        let time_s = r.end - r.start;
        for (target, bytes, stripes) in layout.spread(r.offset, r.size) {
            let target = self.all.entry(target).or_default();
            (target.bytes, target.count) = (target.bytes.saturating_add(bytes), target.count + 1);
            target.time_s += time_s / stripes.min(n) as f64;
            if stripes == 1 && target.costs.len() < KEPT {
                target.costs.push(time_s / r.size as f64);
                target.durations.push(time_s);
            }
        }
    }

    /// Most bytes of a target / mean.
    pub fn imbalance(&self) -> f64 {
        let most = self.all.values().map(|t| t.bytes).max().unwrap_or(0) as f64;
        let sum: f64 = self.all.values().map(|t| t.bytes as f64).sum();
        if sum > 0.0 { most * self.all.len() as f64 / sum } else { 0.0 }
    }

    /// The slowest target, if it is slower than the others by `factor` and not by chance (`p`).
    pub fn slow(&self, factor: f64, p: f64) -> Option<Slow> {
        let one = |(&target, t): (&u64, &Target)| {
            let others = || self.all.iter().filter(|o| *o.0 != target).map(|o| o.1);
            let mut theirs: Vec<f64> = others().flat_map(|o| o.costs.iter().copied()).collect();
            if t.costs.len() < ENOUGH || theirs.len() < ENOUGH {
                return None;
            }
            let ratio = median(&mut t.costs.clone())? / median(&mut theirs)?;
            if ratio.is_nan() || ratio <= factor || mann_whitney(&t.costs, &theirs) >= p {
                return None;
            }
            let usual = median(&mut others().flat_map(|o| o.durations.iter().copied()).collect::<Vec<f64>>())?;
            let time_s = t.durations.iter().sum();
            let lost_s = t.durations.iter().map(|d| d - usual).sum::<f64>().max(0.0);
            Some(Slow { target, factor: ratio, time_s, lost_s })
        };
        self.all.iter().filter_map(one).max_by(|a, b| a.factor.total_cmp(&b.factor))
    }
}
