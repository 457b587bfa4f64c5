//! Where accesses that do not go on as before are cut: the cheapest way to describe them.
//!
//! A regular stretch has a price, and so has each access without order. Accesses without order are only looked for at the
//! front, where such a stretch may go on: any two of them are a stride, and would come between it and the order that follows.

use super::super::access::{Access, no_step_recurs};
use super::super::thresholds::{DISORDER, GUESS, JITTER, LOOP, MIXED, ONCE, SHORT, SIZES};
use super::open::Open;

/// A way to cut accesses.
pub(super) struct Cuts {
    /// This many at the front go on without order.
    pub before: usize,
    /// The ends of the regular stretches that follow.
    pub ends: Vec<usize>,
}

/// Cost of a regular stretch: one for its start, more for each further loop, for a guess, for mixing, for sizes that
/// differ, for jitter and for a stride that is seen only once.
fn cost(open: &Open) -> f64 {
    let price = |applies: bool, price: f64| if applies { price } else { 0.0 };
    let strides = open.strides().filter(|_| !open.is_back_to_back());
    let loops = strides.map_or(0, |s| s.depth().saturating_sub(1));
    1.0 + LOOP * loops as f64
        + price(open.guessed().is_some(), GUESS)
        + price(open.is_mixed(), MIXED)
        + price(open.run.odd_sizes > 0, SIZES)
        + price(open.strides().is_some_and(|s| s.jitters > 0), JITTER)
        + price(strides.is_some() && open.run.tally.accesses <= SHORT, ONCE)
}

/// The cheapest regular stretches, after at most `goes_on` accesses without order; `None` if they would be too many.
pub(super) fn cheapest(waiting: &[Access], goes_on: usize) -> Option<Cuts> {
    let n = waiting.len();
    if n > SHORT as usize && no_step_recurs(waiting) {
        return None;
    }
    let most = if n > 2 { 1.0f64.max(DISORDER * n as f64) } else { f64::INFINITY };
    // from here on reads and writes do not alternate
    let alike = n - waiting.iter().rev().take_while(|a| Some(a.write) == waiting.last().map(|l| l.write)).count();
    // the cost of the accesses so far, and where the last stretch of them begins
    let mut best = vec![(f64::INFINITY, None); n + 1];
    best[0].0 = 0.0;
    (1..n.min(goes_on + 1)).for_each(|i| best[i].0 = DISORDER * i as f64);
    for from in 0..n {
        let begun = best[from].0;
        // a stretch costs one at least
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
