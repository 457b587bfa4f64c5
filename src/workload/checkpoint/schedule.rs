//! Start times of checkpoints.

use std::ops::Range;

use super::super::clock::nanos;
use super::super::parameter::Values;
use super::super::random::Random;

/// Starts of the checkpoints that are not missed.
pub(super) struct Schedule {
    pub(super) starts_ns: Vec<u64>,
    /// One, or two if the period changes.
    pub(super) regimes: Vec<Regime>,
}

/// Checkpoints of one period.
pub(super) struct Regime {
    /// Indices of its starts.
    pub(super) bursts: Range<usize>,
    /// Period in seconds if the starts lie around an exact grid; else it is their mean distance.
    pub(super) period_s: Option<f64>,
}

impl Schedule {
    /// The starts of `n` checkpoints whose bursts last `busy` seconds, without those that are missed.
    pub(super) fn new(v: &Values, n: u64, busy: f64, random: &mut Random) -> Schedule {
        let (start, first_period, drift) = (v.real("start"), v.real("period"), v.real("drift"));
        let (jitter, missed) = (v.real("jitter"), v.real("missed"));
        let grid = v.word("jitter-kind") == "grid";
        let change = match v.whole("change-after") {
            0 => n,
            k => k.min(n),
        };
        // The interval that ends at the first checkpoint after the change already has the new period.
        let begin_of_second = start + change.saturating_sub(1) as f64 * first_period;
        let mut starts_ns = Vec::with_capacity(n as usize);
        let mut before = 0;
        let (mut late, mut last) = (0.0, f64::NEG_INFINITY);
        for k in 0..n {
            let first = k < change;
            let period = if first { first_period } else { v.real("change-period") };
            let (base, since) = if first { (start, k) } else { (begin_of_second, k - change + 1) };
            // A product, because the rounding errors of a sum would accumulate.
            let since = since as f64;
            let even = base + period * (since + drift * since * (since - 1.0) / 2.0);
            let noise = if jitter > 0.0 { random.normal().clamp(-2.5, 2.5) * jitter * period } else { 0.0 };
            late = match k {
                _ if grid => noise,
                0 => 0.0,
                _ => late + noise,
            };
            // Bursts never overlap.
            let at = (even + late).max(last + 1.02 * busy).max(0.0);
            if !grid {
                late = at - even;
            }
            last = at;
            let missed = missed > 0.0 && random.unit() < missed && k > 0 && k + 1 < n;
            if !missed {
                starts_ns.push(nanos(at));
                before += usize::from(first);
            }
        }
        let exact = jitter == 0.0 || grid;
        let regime = |bursts: Range<usize>, period: f64| Regime { bursts, period_s: exact.then_some(period) };
        let mut regimes = vec![regime(0..before, first_period)];
        if before < starts_ns.len() {
            // The last burst before the change ends one regime and begins the other.
            regimes.push(regime(before.saturating_sub(1)..starts_ns.len(), v.real("change-period")));
        }
        Schedule { starts_ns, regimes }
    }

    /// The period of all checkpoints, if there is one.
    pub(super) fn only_period_s(&self) -> Option<f64> {
        let mean = || {
            let (first, last) = (self.starts_ns.first()?, self.starts_ns.last()?);
            let n = self.starts_ns.len().checked_sub(1).filter(|n| *n > 0)?;
            Some((last - first) as f64 / 1e9 / n as f64)
        };
        match &self.regimes[..] {
            [one] if self.starts_ns.len() > 1 => one.period_s.or_else(mean),
            _ => None,
        }
    }
}
