//! What the analysis of one window says of the next burst.

use serde::{Deserialize, Serialize};

use crate::analysis::search_options;
use crate::period::Spread;
use crate::period::chains::{self, Clock, Evidence, Found};
use crate::signal::profile::Profile;

/// Bursts that bytes and widths of the next one are taken from.
const RECENT: usize = 32;
/// A burst that begins within this share of the period of where it was expected is the expected one.
const EXPECTED: f64 = 0.25;
/// Bursts that may fail to come before the period is over.
const MISSED: u32 = 2;

/// A period that holds where the data end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Outlook {
    pub(super) period_s: f64,
    pub(super) period_std_s: Option<f64>,
    pub(super) confidence: f64,
    pub(super) cycles: u64,
    pub(super) next_start_s: f64,
    pub(super) next_start_std_s: Option<f64>,
    pub(super) width_s: f64,
    pub(super) bytes: f64,
    pub(super) bytes_p95: f64,
}

/// The answer for one window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Answer {
    /// The period that holds now.
    pub(super) outlook: Option<Outlook>,
    /// Period and probability of the best hypothesis that was turned down, if nothing was found.
    pub(super) rejected: Option<(f64, f64)>,
    /// How the window falls into bursts, if a period was found.
    pub(super) cut: Option<Cut>,
    /// Bytes of the window.
    pub(super) volume: f64,
}

/// What counts as a burst.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Cut {
    /// Bytes per second.
    pub(super) threshold: f64,
    /// Pieces closer than this many seconds are one burst.
    pub(super) merge_s: f64,
    /// Median bytes of a burst.
    pub(super) bytes: f64,
}

impl Cut {
    /// Share of the median below which a burst is noise.
    const SMALLEST: f64 = 0.2;

    /// The bursts of a profile.
    pub(super) fn bursts(&self, profile: &Profile) -> Vec<chains::Burst> {
        let mut bursts = chains::cut(profile, self.threshold, self.merge_s);
        bursts.retain(|b| b.bytes >= Self::SMALLEST * self.bytes);
        bursts
    }
}

fn known(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

impl Answer {
    /// Analyses a window whose data end at `now_s`.
    pub(super) fn of(profile: &Profile, now_s: f64) -> Answer {
        if profile.is_empty() {
            return Answer::default();
        }
        let found = chains::detect(profile, search_options(profile.duration()));
        let rejected = found.rejected.as_ref().map(|r| (r.period_s, r.confidence)).filter(|r| r.0 > 0.0);
        let holds = |f: &&Found| f.windows.last().is_some_and(|w| now_s - w.1 <= 1.5 * f.period_s);
        let Some(f) = found.periods.iter().find(holds) else {
            // A period that has ended still says what a burst is.
            return Answer { outlook: None, rejected, volume: profile.bytes(), cut: found.periods.first().and_then(cut_of) };
        };
        let cut = cut_of(f);
        let began = cut.and_then(|c| c.bursts(profile).last().map(|b| b.start_s));
        let outlook = Outlook::of(f, began, now_s);
        Answer { outlook, rejected, cut, volume: profile.bytes() }
    }
}

fn cut_of(f: &Found) -> Option<Cut> {
    let bytes = Spread::of(f.bursts.iter().map(|b| b.bytes))?.median;
    let Evidence { threshold, merge_distance_s, .. } = f.evidence;
    Some(Cut { threshold, merge_s: merge_distance_s, bytes })
}

impl Outlook {
    /// `began`: start of the last burst of the window, which need not be on the chain yet.
    fn of(f: &Found, began: Option<f64>, now_s: f64) -> Option<Outlook> {
        let period = f.period_s;
        let last = f.bursts.last()?;
        // The last burst may still be going on.
        let whole = match f.bursts.len() {
            n if n > 3 && last.end_s >= now_s => &f.bursts[..n - 1],
            _ => &f.bursts[..],
        };
        let recent = &whole[whole.len().saturating_sub(RECENT)..];
        let mut bytes: Vec<f64> = recent.iter().map(|b| b.bytes).collect();
        bytes.sort_by(f64::total_cmp);
        let p95 = *bytes.get(((0.95 * bytes.len() as f64).ceil() as usize).saturating_sub(1))?;
        let width_s = Spread::of(recent.iter().map(|b| b.end_s - b.start_s))?.median;
        let mut next = f.next.start_s;
        let mut variance = f.next.std_s * f.next.std_s;
        if let Some(start) = began.filter(|s| (s - next).abs() <= EXPECTED * period) {
            next = if f.clock == Clock::Walk { start } else { next } + period;
        }
        let mut missed = 0;
        while next <= now_s {
            missed += 1;
            if missed > MISSED {
                return None;
            }
            next += period;
            variance += f.next.std_s * f.next.std_s;
        }
        Some(Outlook {
            period_s: period,
            period_std_s: known(f.period_std_s),
            confidence: f.confidence,
            cycles: f.cycles as u64,
            next_start_s: next,
            next_start_std_s: known(variance.sqrt()),
            width_s,
            bytes: Spread::of(bytes.iter().copied())?.median,
            bytes_p95: p95,
        })
    }
}
