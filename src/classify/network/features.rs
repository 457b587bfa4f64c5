//! Input of the network: features of a few accesses of one rank to one file: shares and ratios, so that neither the size of the
//! requests nor the place in the file nor the number of ranks matters.

use super::super::access::{Access, MOST_VOTED as MOST};

/// A feature's name and value.
pub(super) type Feature = (&'static str, f64);

/// The features of one access or more; all are between -1 and 1.
pub(crate) fn features(accesses: &[Access], stripe: u64) -> [Feature; 36] {
    let accesses = &accesses[accesses.len().saturating_sub(MOST)..];
    let n = accesses.len();
    let (mut buffer, mut follow) = ([0i64; MOST], [false; MOST]);
    for (i, w) in accesses.windows(2).enumerate() {
        buffer[i] = w[1].offset.wrapping_sub(w[0].offset) as i64;
        follow[i] = w[0].past() == w[1].offset;
    }
    let m = n.saturating_sub(1).max(1);
    let (steps, follow) = (&buffer[..m], &follow[..m]);
    let of = |count: usize, all: usize| if all == 0 { 0.0 } else { count as f64 / all as f64 };
    let flag = |b: bool| if b { 1.0 } else { 0.0 };
    let count = |f: &dyn Fn(usize) -> bool| (0..m).filter(|&i| f(i)).count();
    let lag = |l: usize| of(count(&|i| i >= l && steps[i] == steps[i - l]), m.saturating_sub(l));
    let (usual, usual_count) = mode(steps);
    let (pieces, cut) = two_pieces(steps, follow);
    let sizes: Vec<u64> = accesses.iter().map(|a| a.size).collect();
    let (usual_size, usual_sizes) = mode(&sizes);
    let (size_pieces, size_cut) = two_values(&sizes);
    let switches = accesses.windows(2).filter(|w| w[0].write != w[1].write).count();
    let writes = |part: &[Access]| of(part.iter().filter(|a| a.write).count(), part.len());
    let jumps: Vec<usize> = (0..m).filter(|&i| steps[i] != usual).collect();
    let even = jumps.len() >= 2 && jumps.windows(3).all(|w| w[2] - w[1] == w[1] - w[0]);
    let equal = jumps.len() >= 2 && jumps.iter().all(|&j| steps[j] == steps[jumps[0]]);
    [
        ("steps", of(m, MOST)),
        ("follow", of(count(&|i| follow[i]), m)),
        ("step_repeated", lag(1)),
        ("usual_step", of(usual_count, m)),
        ("distinct_steps", of(distinct(steps), m)),
        ("forwards", of(count(&|i| steps[i] > 0), m)),
        ("on_the_spot", of(count(&|i| steps[i] == 0), m)),
        ("backwards", of(count(&|i| steps[i] < 0), m)),
        ("lag_2", lag(2)),
        ("lag_3", lag(3)),
        ("lag_4", lag(4)),
        ("lag_5", lag(5)),
        ("best_lag", (1..=m / 2).map(lag).fold(0.0, f64::max)),
        ("two_pieces", of(pieces, m.saturating_sub(1).max(1)).min(1.0)),
        ("cut", of(cut, n)),
        ("one_piece", of(explained(steps, follow), m)),
        ("first_steps_agree", flag(m >= 2 && steps[0] == steps[1])),
        ("last_steps_agree", flag(m >= 2 && steps[m - 1] == steps[m - 2])),
        ("first_run", of(steps.iter().take_while(|s| **s == steps[0]).count(), m)),
        ("breaks", of(count(&|i| i > 0 && follow[i] != follow[i - 1]), m)),
        ("monotone_run", of(monotone_run(steps), m)),
        ("size_as_first", of(sizes.iter().filter(|s| **s == sizes[0]).count(), n)),
        ("usual_size", of(usual_sizes, n)),
        ("smaller_last", flag(n > 1 && sizes[n - 1] < usual_size)),
        ("other_first", flag(sizes[0] != usual_size)),
        ("distinct_sizes", of(distinct(&sizes), n)),
        ("below_stripe", of(sizes.iter().filter(|s| **s < stripe).count(), n)),
        ("writes", writes(accesses)),
        ("switches", of(switches, m)),
        ("writes_early", writes(&accesses[..n / 2]) - writes(&accesses[n / 2..])),
        ("two_sizes", of(size_pieces, n)),
        ("size_cut", of(size_cut, n)),
        ("one_switch", flag(switches == 1)),
        ("longest_step", longest(steps)),
        ("even_jumps", flag(even)),
        ("equal_jumps", flag(equal)),
    ]
}

/// The most frequent value, the first of equals, and how often it occurs.
fn mode<T: Copy + Eq + Default>(all: &[T]) -> (T, usize) {
    let mut best = (T::default(), 0);
    for (i, x) in all.iter().enumerate() {
        let count = all[i..].iter().filter(|y| *y == x).count();
        if count > best.1 {
            best = (*x, count);
        }
    }
    best
}

fn distinct<T: Eq>(all: &[T]) -> usize {
    all.iter().enumerate().filter(|(i, x)| !all[..*i].contains(x)).count()
}

/// Steps that one rule explains: back to back, or one step.
fn explained(steps: &[i64], follow: &[bool]) -> usize {
    mode(steps).1.max(follow.iter().filter(|f| **f).count())
}

/// The most steps that two rules explain, one before and one after a step that is not counted; and that step's number.
fn two_pieces(steps: &[i64], follow: &[bool]) -> (usize, usize) {
    let at = |k: usize| explained(&steps[..k], &follow[..k]) + explained(&steps[k + 1..], &follow[k + 1..]);
    (0..steps.len()).map(|k| (at(k), k + 1)).fold((0, 0), |best, x| if x.0 > best.0 { x } else { best })
}

/// The most accesses whose sizes are one value before a cut and one after it; and the cut.
fn two_values(sizes: &[u64]) -> (usize, usize) {
    let at = |k: usize| mode(&sizes[..k]).1 + mode(&sizes[k..]).1;
    (0..sizes.len()).map(|k| (at(k), k)).fold((0, 0), |best, x| if x.0 > best.0 { x } else { best })
}

/// The most steps in one direction without a break.
fn monotone_run(steps: &[i64]) -> usize {
    let (mut best, mut run, mut sign) = (0, 0, 0);
    for s in steps {
        run = if s.signum() == sign { run + 1 } else { 1 };
        sign = s.signum();
        best = best.max(if sign == 0 { 0 } else { run });
    }
    best
}

/// How far the longest step is from the middle one, in doublings, a sixteenth each.
fn longest(steps: &[i64]) -> f64 {
    let mut all: Vec<u64> = steps.iter().map(|s| s.unsigned_abs()).collect();
    all.sort_unstable();
    let (median, most) = (all[all.len() / 2], all[all.len() - 1]);
    ((1.0 + most as f64 / (1.0 + median as f64)).log2() / 16.0).min(1.0)
}
