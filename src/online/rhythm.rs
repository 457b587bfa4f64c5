//! The bursts of a followed signal one after the other: their distances and sizes, and when these change.

use serde::{Deserialize, Serialize};

use super::change::{ChangeDetector, ChangeMethod};
use crate::period::chains::Burst;

/// Onsets remembered: a change may reach so many bursts back.
const MEMORY: usize = 300;

/// See the module.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Rhythm {
    gaps: ChangeDetector,
    sizes: ChangeDetector,
    /// Starts of the bursts whose distances were taken, the latest last.
    onsets: Vec<f64>,
    /// End of the latest of them. The start of a burst may still move with the threshold, inside the burst.
    seen: Option<f64>,
    /// End of the latest burst whose size was taken.
    sized: Option<f64>,
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Change {
    /// The bursts from this start on have another distance.
    Distance(f64),
    /// The bursts from this start on have another size.
    Size(f64),
}

impl Rhythm {
    pub(super) fn new(method: ChangeMethod) -> Self {
        Rhythm { gaps: ChangeDetector::new(method), sizes: ChangeDetector::new(method), onsets: Vec::new(), seen: None, sized: None }
    }

    /// Begins anew with the bursts of the window, cut in another way than before: what differs from before is no change.
    pub(super) fn rebuild(&mut self, bursts: &[Burst], now_s: f64) {
        *self = Rhythm::new(self.gaps.method());
        self.observe(bursts, now_s);
    }

    /// Takes the bursts of the window, in the order of time, of which those not seen before are looked at. `now_s`: end of the
    /// data; a burst that lasts until then may go on. A change of distance goes before one of size.
    pub(super) fn observe(&mut self, bursts: &[Burst], now_s: f64) -> Option<Change> {
        let mut change = None;
        for b in bursts {
            let seen = self.seen.is_some_and(|until| b.start_s <= until);
            self.seen = Some(self.seen.map_or(b.end_s, |until| until.max(b.end_s)));
            if seen {
                continue;
            }
            match self.onsets.last() {
                Some(&last) => {
                    self.onsets.push(b.start_s);
                    if let Some(n) = self.gaps.observe(b.start_s - last) {
                        // n distances lie between n + 1 bursts
                        let first = self.onsets.len().saturating_sub(n + 1);
                        change = Some(Change::Distance(self.onsets[first]));
                        self.onsets.drain(..first);
                    }
                }
                None => self.onsets.push(b.start_s),
            }
            if self.onsets.len() > MEMORY {
                self.onsets.drain(..self.onsets.len() - MEMORY);
            }
        }
        for (i, b) in bursts.iter().enumerate() {
            if b.end_s >= now_s || self.sized.is_some_and(|until| b.start_s <= until) {
                continue;
            }
            self.sized = Some(b.end_s);
            if let Some(n) = self.sizes.observe(b.bytes) {
                let first = &bursts[(i + 1).saturating_sub(n)];
                change = change.or(Some(Change::Size(first.start_s)));
            }
        }
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts(starts: &[f64], bytes: f64) -> Vec<Burst> {
        starts.iter().map(|&t| Burst { start_s: t, end_s: t + 0.5, bytes }).collect()
    }

    #[test]
    fn a_new_distance_is_dated_to_its_first_burst() {
        let mut r = Rhythm::new(ChangeMethod::Bayesian);
        let mut starts: Vec<f64> = (0..10).map(|i| 5.0 * f64::from(i)).collect();
        assert_eq!(r.observe(&bursts(&starts, 1e6), 46.0), None);
        starts.extend([53.0, 61.0]);
        // the burst at 45 is the first that the new distance follows
        assert_eq!(r.observe(&bursts(&starts, 1e6), 62.0), Some(Change::Distance(45.0)));
        // seen bursts count once
        assert_eq!(r.observe(&bursts(&starts, 1e6), 63.0), None);
    }

    #[test]
    fn a_missing_burst_is_no_change_and_a_new_size_is_one() {
        let mut r = Rhythm::new(ChangeMethod::Bayesian);
        let starts: Vec<f64> = (0..14).filter(|i| *i != 8).map(|i| 5.0 * f64::from(i)).collect();
        let mut all = bursts(&starts, 1e6);
        assert_eq!(r.observe(&all, 70.0), None);
        all.extend(bursts(&[70.0, 75.0, 80.0], 4e6));
        assert_eq!(r.observe(&all, 81.0), Some(Change::Size(70.0)));
    }
}
