//! Where accesses that do not go on as before are cut: the cheapest way to describe them.
//!
//! A regular stretch has a price, and so has each access without order. Accesses without order are only looked for at the
//! front, where such a stretch may go on: any two of them are a stride, and would come between it and the order that follows.

use super::{Access, Form, NEAR, Open, SHORT};

/// A way to cut accesses.
pub(super) struct Cuts {
    /// As many at the front go on without order.
    pub before: usize,
    /// The ends of the regular stretches that follow.
    pub ends: Vec<usize>,
}

/// The open stretch of these accesses if they are regular.
pub(super) fn regular(part: &[Access]) -> Option<Open> {
    let (first, rest) = part.split_first()?;
    [false, true].into_iter().find_map(|mixed| {
        let mut open = Open::new(*first);
        rest.iter().all(|a| open.accept(a, mixed)).then_some(open)
    })
}

/// What a regular stretch costs: one for its start, more for each further level, for a guess, for mixing, for sizes that
/// differ and for a stride that is seen only once.
fn cost(open: &Open) -> f64 {
    let price = |applies: bool, price: f64| if applies { price } else { 0.0 };
    let slipped = matches!(&open.form, Form::Regular { slips, .. } if slips.count > 0);
    let (levels, strided) = match &open.form {
        Form::Regular { back_to_back: false, nest: Some(nest), .. } => (nest.levels.len().saturating_sub(1), true),
        _ => (0, false),
    };
    1.0 + 0.6 * levels as f64
        + price(open.guessed().is_some(), 0.3)
        + price(open.mixed(), 0.5)
        + price(open.totals.odd > 0, 0.1)
        + price(slipped, 0.1)
        + price(strided && open.totals.accesses <= SHORT, 0.2)
}

/// What an access without order costs; regular stretches that are dearer are none.
const DISORDER: f64 = 0.31;

/// True if no access follows another back to back and no two steps are equal, or nearly so: then each two or three accesses
/// have a step of their own, and all of them together no order.
pub(in super::super) fn no_step_recurs(accesses: &[Access]) -> bool {
    let step = |w: &[Access]| w[1].offset.wrapping_sub(w[0].offset) as i64;
    let near = accesses.iter().map(|a| a.size).max().unwrap_or(0) / NEAR;
    let recurs = |(i, w): (usize, &[Access])| {
        let here = step(w);
        w[0].past() == w[1].offset
            || accesses[i + 1..].windows(2).any(|v| step(v).wrapping_sub(here).unsigned_abs() <= near)
    };
    !accesses.windows(2).enumerate().any(recurs)
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
            let mut open = Open::new(waiting[from]);
            let mut to = from + 1;
            loop {
                let total = begun + cost(&open);
                if total < best[to].0 {
                    best[to] = (total, Some(from));
                }
                if to == n {
                    break;
                }
                let next = &waiting[to];
                if !open.accept(next, *mixed) {
                    break;
                }
                to += 1;
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
