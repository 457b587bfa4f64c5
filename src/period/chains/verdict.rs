//! Why a trace has no period.

use super::bursts::{Levels, stretches};
use super::stats::{deviation, mean};
use crate::period::Verdict;
use crate::period::chains::thresholds::LIMITS;
use crate::signal::profile::Profile;

/// Bins that show whether the rate is constant.
const FLAT_BINS: usize = 64;

/// The verdict on a profile in which no period was found.
pub(crate) fn without_period(profile: &Profile) -> Verdict {
    let Some(levels) = Levels::of(profile) else {
        return Verdict::Empty;
    };
    let shortest = LIMITS.verdict_gap * profile.duration();
    let mut bursts: Vec<(f64, f64, f64)> = Vec::new();
    let mut active_s = 0.0;
    for s in stretches(profile, LIMITS.verdict_level * levels.burst) {
        active_s += s.end - s.start;
        match bursts.last_mut() {
            Some(last) if s.start - last.1 <= shortest => {
                last.1 = s.end;
                last.2 += s.after - s.before;
            }
            _ => bursts.push((s.start, s.end, s.after - s.before)),
        }
    }
    bursts.retain(|b| b.2 >= LIMITS.verdict_small * profile.bytes());
    match bursts.len() {
        2 => Verdict::TooFewCycles,
        0 | 1 => {
            let bins = profile.binned(FLAT_BINS);
            let inner = &bins[1..FLAT_BINS - 1];
            let busy = active_s >= LIMITS.busy * profile.duration();
            let steady = busy && deviation(inner) < LIMITS.flat * mean(inner);
            let streaming = profile.requests_in_a_row() >= LIMITS.streaming;
            match (steady, streaming) {
                (true, true) => Verdict::Constant,
                (false, true) => Verdict::Irregular,
                _ => Verdict::SingleBurst,
            }
        }
        _ => Verdict::Irregular,
    }
}
