//! Why a trace has no period.

use super::bursts::{Levels, stretches};
use super::stats::{deviation, mean};
use crate::period::Verdict;
use crate::signal::profile::Profile;

/// Bursts are what exceeds this share of the burst level here.
const LEVEL: f64 = 0.1;
/// Gaps shorter than this share of the run do not part two bursts.
const SHORT_GAP: f64 = 0.01;
/// Bursts with less than this share of the bytes are headers and summaries.
const SMALL: f64 = 0.03;
/// Bins to judge whether the rate is about the same.
const FLAT_BINS: usize = 64;
/// Largest coefficient of variation of a constant rate.
const FLAT: f64 = 0.35;
/// One stretch of I/O is a steady stream, not a burst, if its writers finish this many requests one after the other.
const REQUESTS_IN_A_ROW: f64 = 8.0;

/// The verdict on a profile in which no period was found.
pub(crate) fn without_period(profile: &Profile) -> Verdict {
    let Some(levels) = Levels::of(profile) else {
        return Verdict::Empty;
    };
    let shortest = SHORT_GAP * profile.duration();
    let mut bursts: Vec<(f64, f64, f64)> = Vec::new();
    for s in stretches(profile, LEVEL * levels.burst) {
        match bursts.last_mut() {
            Some(last) if s.start - last.1 <= shortest => {
                last.1 = s.end;
                last.2 += s.after - s.before;
            }
            _ => bursts.push((s.start, s.end, s.after - s.before)),
        }
    }
    bursts.retain(|b| b.2 >= SMALL * profile.bytes());
    match bursts.len() {
        2 => Verdict::TooFewCycles,
        0 | 1 => {
            let bins = profile.binned(FLAT_BINS);
            let inner = &bins[1..FLAT_BINS - 1];
            let steady = deviation(inner) < FLAT * mean(inner);
            let streaming = profile.requests_in_a_row() >= REQUESTS_IN_A_ROW;
            match (steady, streaming) {
                (true, true) => Verdict::Constant,
                (false, true) => Verdict::Irregular,
                _ => Verdict::SingleBurst,
            }
        }
        _ => Verdict::Irregular,
    }
}
