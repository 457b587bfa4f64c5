//! The cut of a window into regular segments that costs least.
//!
//! A regular segment has a cost, and so has each access without order. Accesses without order are only allowed at the front,
//! where they continue an irregular segment: elsewhere any two of them would make a stride.

use super::super::access::{Access, no_step_recurs};
use super::super::thresholds::LIMITS;
use super::open::Open;

/// A way to cut accesses.
pub(super) struct Cuts {
    /// Accesses at the front that continue an irregular segment.
    pub before: usize,
    /// The ends of the regular segments that follow.
    pub ends: Vec<usize>,
}

/// Cost of a regular segment: one for its start, more for each further loop, for a guess, for mixing, for sizes that
/// differ, for jitter and for a stride that is seen only once.
fn cost(open: &Open) -> f64 {
    let if_so = |applies: bool, cost: f64| if applies { cost } else { 0.0 };
    let strides = open.strides().filter(|_| !open.is_back_to_back());
    let loops = strides.map_or(0, |s| s.depth().saturating_sub(1));
    1.0 + LIMITS.extra_loop * loops as f64
        + if_so(open.guessed().is_some(), LIMITS.guess)
        + if_so(open.is_mixed(), LIMITS.mixed)
        + if_so(open.run.odd_sizes > 0, LIMITS.sizes)
        + if_so(open.strides().is_some_and(|s| s.jitters > 0), LIMITS.jitter)
        + if_so(strides.is_some() && open.run.tally.accesses <= LIMITS.short, LIMITS.once)
}

/// The regular segments that cost least, after at most `goes_on` accesses without order; `None` if they cost too much.
pub(super) fn cheapest(waiting: &[Access], goes_on: usize) -> Option<Cuts> {
    let n = waiting.len();
    if n > LIMITS.short as usize && no_step_recurs(waiting) {
        return None;
    }
    let most = if n > 2 { 1.0f64.max(LIMITS.disorder * n as f64) } else { f64::INFINITY };
    // from here on reads and writes do not alternate
    let alike = n - waiting.iter().rev().take_while(|a| Some(a.write) == waiting.last().map(|l| l.write)).count();
    // the cost of the accesses so far, and where the last segment of them begins
    let mut best = vec![(f64::INFINITY, None); n + 1];
    best[0].0 = 0.0;
    (1..n.min(goes_on + 1)).for_each(|i| best[i].0 = LIMITS.disorder * i as f64);
    for from in 0..n {
        let begun = best[from].0;
        // a segment costs at least one
        if begun + 1.0 > most {
            continue;
        }
        for mixed in if from < alike { &[false, true][..] } else { &[false] } {
            let mut open = Open::new(waiting[from], 0);
            for to in from + 1..=n {
                let total = begun + cost(&open);
                if total < best[to].0 {
                    best[to] = (total, Some(from));
                }
                if to == n || !open.accept(&waiting[to], *mixed) {
                    break;
                }
            }
        }
    }
    if best[n].0 > most {
        return None;
    }
    let mut ends = vec![n];
    let mut before = best[n].1?;
    while let Some(from) = best[before].1 {
        ends.push(before);
        before = from;
    }
    ends.reverse();
    Some(Cuts { before, ends })
}
