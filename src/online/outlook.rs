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
/// Bursts of the period that are remembered.
const CHAIN: usize = 64;
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
    /// Typical idle time between bursts.
    pub(super) idle_s: f64,
    /// Start and bytes of the bursts that follow the period, the latest first.
    on_chain: Vec<(f64, f64)>,
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

/// Seconds of idle time that lie in idle times this long or longer: half of all. Between bursts it is long, inside them short,
/// and one pause does not count for more than it lasts.
fn typical_idle(profile: &Profile) -> f64 {
    /// Share of the mean rate that is as good as idle.
    const IDLE: f64 = 1e-3;
    let mean = profile.bytes() / profile.duration();
    let active = chains::cut(profile, IDLE * mean, 0.0);
    let mut idle: Vec<f64> = active.windows(2).map(|w| w[1].start_s - w[0].end_s).collect();
    idle.sort_by(f64::total_cmp);
    let half = 0.5 * idle.iter().sum::<f64>();
    let mut sum = 0.0;
    idle.into_iter().find(|t| {
        sum += t;
        sum >= half
    })
    .unwrap_or(0.0)
}

impl Answer {
    /// Analyses a window whose data end at `now_s`. A period has to hold over `share` of the window.
    pub(super) fn of(profile: &Profile, now_s: f64, share: f64) -> Answer {
        if profile.is_empty() {
            return Answer::default();
        }
        let idle_s = typical_idle(profile);
        let search = |share: f64| chains::Options {
            most_periods: 1,
            // Three bursts span two idle times; what holds for less is the rhythm inside a burst.
            shortest_window_s: (2.0 * idle_s).max(share * profile.duration()),
            ..search_options(profile.duration())
        };
        let holds = |f: &&Found| f.windows.last().is_some_and(|w| now_s - w.1 <= 1.5 * f.period_s);
        let first = chains::detect(profile, search(share));
        let rejected = first.rejected.as_ref().map(|r| (r.period_s, r.confidence)).filter(|r| r.0 > 0.0);
        let mut answer = Answer { rejected, idle_s, volume: profile.bytes(), ..Answer::default() };
        let mut found = first.periods.iter().find(holds).cloned();
        if let (None, Some(over)) = (&found, first.periods.first()) {
            // A period that has ended still says what a burst is; another may have begun since.
            answer.cut = cut_of(over);
            let end = over.windows.last().map_or(0.0, |w| w.1) - profile.origin();
            let rest = profile.without(&[(0.0, end)]);
            found = chains::detect(&rest, search(0.0)).periods.iter().find(holds).cloned();
        }
        if let Some(f) = &found {
            answer.cut = cut_of(f).or(answer.cut);
            let began = answer.cut.and_then(|c| c.bursts(profile).last().map(|b| b.start_s));
            answer.outlook = Outlook::of(f, began, now_s);
            answer.on_chain = f.bursts.iter().rev().take(CHAIN).map(|b| (b.start_s, b.bytes)).collect();
        }
        answer
    }

    /// Share of the bytes of these bursts that the period at hand explains.
    pub(super) fn explained(&self, bursts: &[chains::Burst]) -> f64 {
        let from = bursts.first().map_or(f64::INFINITY, |b| b.start_s);
        let all: f64 = bursts.iter().map(|b| b.bytes).sum();
        let chain: f64 = self.on_chain.iter().filter(|b| b.0 >= from).map(|b| b.1).sum();
        if all > 0.0 { chain / all } else { 1.0 }
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
