//! Tells the period of a job from the rhythm of the requests inside its bursts.
//!
//! Both look the same while the first burst lasts; only the time scale differs. Therefore:
//!
//! - a period below a second is reported only after it has held for ten seconds: applications read and write in phases of
//!   seconds and more, and requests follow each other faster than that.
//! - a pause longer than all of the rhythm before it may show that the rhythm was one burst. The analysis does not find the same
//!   rhythm after it until that outlasts the pause. A regime takes it up again ([`super::regime`]), because a pause of the job looks
//!   the same, unless a pause like it has come before.
//!
//! From the third burst on, the analysis needs periods that hold for two idle times ([`super::forecast`]). A period below
//! `--min-period` is never reported; the first rule does not apply then.

use serde::{Deserialize, Serialize};

use super::burst_threshold::active;
use crate::online::thresholds::LIMITS;
use crate::period::chains::{self, BurstPeriod};
use crate::signal::profile::Profile;

/// A rhythm found in a window: its period, and the first and the last of its bursts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Rhythm {
    period_s: f64,
    since_s: f64,
    until_s: f64,
}

impl Rhythm {
    pub(super) fn of(f: &BurstPeriod) -> Option<Rhythm> {
        let window = f.windows.last()?;
        let last = f.bursts.last()?;
        Some(Rhythm { period_s: f.period_s, since_s: window.0, until_s: last.start_s })
    }
}

/// Which periods may be those of the job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct BurstInterior {
    /// Shorter periods are left out; `None`: those of requests are.
    pub(super) min_period_s: Option<f64>,
    /// Period inside a burst, end of the pause that showed it, and length of that pause.
    inside: Option<(f64, f64, f64)>,
}

impl BurstInterior {
    pub(super) fn new(min_period_s: Option<f64>) -> Self {
        BurstInterior { min_period_s, inside: None }
    }

    /// Whether a period may be that of the job.
    pub(super) fn admits(&self, f: &BurstPeriod) -> bool {
        let held = f.windows.last().map_or(0.0, |w| w.1 - w.0);
        let long_enough = self.min_period_s.is_some() || chains::outlasts_requests(f.period_s, held);
        let inside = self.inside.is_some_and(|(period_s, resumed_s, pause_s)| {
            let since_s = f.windows.last().map_or(resumed_s, |w| w.0.max(resumed_s));
            let until_s = f.windows.last().map_or(resumed_s, |w| w.1);
            (f.period_s / period_s - 1.0).abs() <= LIMITS.in_phase && until_s - since_s <= pause_s
        });
        long_enough && !inside
    }

    /// Whether bursts at this mean distance, kept up for `held_s`, may be those of the job and not requests within one burst.
    pub(super) fn admits_distance(&self, mean_s: f64, held_s: f64) -> bool {
        self.min_period_s.map_or_else(|| chains::outlasts_requests(mean_s, held_s), |least_s| mean_s >= least_s)
    }

    /// Learns from the first pause after `rhythm`, if that is longer than the rhythm had held.
    pub(super) fn learn(&mut self, rhythm: Rhythm, profile: &Profile) {
        let pauses = active(profile).windows(2).map(|w| (w[0].end_s, w[1].start_s)).collect::<Vec<_>>();
        let is_pause = |p: &&(f64, f64)| {
            let length = p.1 - p.0;
            p.0 >= rhythm.until_s && length >= LIMITS.pause * rhythm.period_s && length > p.0 - rhythm.since_s
        };
        if let Some((end_s, resumed_s)) = pauses.iter().find(is_pause) {
            self.inside = Some((rhythm.period_s, *resumed_s, resumed_s - end_s));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::online::{Options, Prediction, Session};
    use crate::record::{Interval, Op};

    /// Predictions at the start of each request; bursts of `n` requests, `gap_s` apart, at each of these times.
    fn predictions(options: Options, starts: &[f64], n: u32, gap_s: f64) -> Vec<Prediction> {
        let mut session = Session::new(None, options);
        let requests = starts.iter().flat_map(|t| (0..n).map(move |i| t + gap_s * f64::from(i)));
        let feed = |start: f64| {
            let end = start + 0.1 * gap_s;
            session.feed(&[Interval { op: Op::Write, start, end, bytes: 1e6, ..Interval::default() }]);
            session.predict()
        };
        requests.map(feed).collect()
    }

    const STARTS: [f64; 5] = [10.0, 310.0, 610.0, 910.0, 1210.0];

    #[test]
    fn a_rhythm_that_resumes_after_longer_pauses_is_inside_bursts() {
        let all = predictions(Options::default(), &STARTS, 15, 2.0);
        // nothing tells the first burst from a job with a period of 2 s
        let first = all.iter().filter(|p| p.now_s < 300.0 && p.periodic);
        assert!(first.clone().count() > 5 && first.clone().all(|p| (p.period_s.unwrap() - 2.0).abs() < 0.1));
        // nor does a single pause
        let later: Vec<_> = all.iter().filter(|p| p.now_s > 600.0 && p.periodic).map(|p| p.period_s.unwrap()).collect();
        assert!(later.len() > 15 && later.iter().all(|t| (t - 300.0).abs() < 15.0), "{later:?}");
    }

    #[test]
    fn periods_below_a_second_have_to_hold_unless_they_are_wanted() {
        let periods = |options: Options, n: u32| {
            let all = predictions(options, &[5.0], n, 0.1);
            all.iter().filter_map(|p| p.period_s.map(|t| (p.now_s, t))).collect::<Vec<_>>()
        };
        let held = periods(Options::default(), 140);
        assert!(held.len() > 10 && held[0].0 > 15.0, "{held:?}");
        assert!(held.iter().all(|p| (p.1 - 0.1).abs() < 0.005), "{held:?}");
        let wanted = |least| Options { min_period_s: Some(least), ..Options::default() };
        assert!(periods(wanted(0.05), 20).len() > 5);
        assert_eq!(periods(wanted(0.2), 60), []);
    }
}
