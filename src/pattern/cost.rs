//! The length of a description in bits: the one criterion of what is a pattern.
//!
//! A description is a list of patterns and of residual accesses. Its length is that of a message from which the accesses can be
//! decoded, in the order of time; [`Pool`] prices places, [`nest_bits`] and [`steps_bits`] the rest. A set of patterns that
//! saves n bits at random places has a probability below 2^-n, however it was found, because a code cannot shorten more than
//! that share of all messages (Kraft's inequality). `LIMITS.margin` is therefore also the bound on false patterns.
//!
//! A pattern saves what its accesses would take one by one, less
//! - its first access: a size and a place,
//! - its start: that an access which no open pattern expects begins a pattern and is not residual,
//! - its loops: counts and strides, or which of the loops of other patterns they are,
//! - its order: which accesses of the stream it takes.
//!
//! The code is a model with shortcuts: loops are shared after the fact, and the search picks among candidates. The rates of false
//! patterns are therefore measured too (`tests/unit/patterns_random.rs`).

use super::piece::{Body, Order, Piece, Turn};
use super::thresholds::LIMITS;
use crate::nest::Growing;

/// Where the accesses of one operation, file and size are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pool {
    pub accesses: u64,
    low: u64,
    high: u64,
    /// Greatest common divisor of all distances.
    grid: u64,
    /// Sum of the logarithms of the distances from one waiting access to the next, and their number. Distances of zero and of
    /// one access size do not count: these may be patterns.
    log_steps: f64,
    steps: u64,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool { accesses: 0, low: u64::MAX, high: 0, grid: 0, log_steps: 0.0, steps: 0 }
    }
}

/// Mean of log2 of the distance between two uniform choices among w slots, below log2 w.
const UNIFORM: f64 = 2.16;
/// log2 to 1/32, in a few instructions.
#[inline]
fn log2(n: u64) -> f64 {
    let whole = 63 - n.leading_zeros();
    let rest = (n << (63 - whole)) as f64 / (1u64 << 63) as f64;
    f64::from(whole) + (rest - 1.0) * (1.35 - 0.35 * (rest - 1.0))
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Pool {
    /// Notes a place.
    #[inline]
    pub fn add(&mut self, at: u64) {
        if self.low > self.high {
            (self.low, self.high) = (at, at);
            return;
        }
        self.distance(at.abs_diff(self.low));
        self.low = self.low.min(at);
        self.high = self.high.max(at);
    }

    /// Notes a distance between places.
    #[inline]
    pub fn distance(&mut self, d: u64) {
        if self.grid != 1 && (self.grid == 0 || !d.is_multiple_of(self.grid)) {
            self.grid = gcd(self.grid, d);
        }
    }

    /// Notes the distance of a residual access from the one before it.
    #[inline]
    pub fn step(&mut self, d: u64) {
        self.steps += 1;
        self.log_steps += log2(d);
    }

    /// Slots of the stretch of the file in which a rank is at a time: for a uniform choice among w slots, the mean of the
    /// logarithm of a step is log2 w - 2.16.
    fn local(&self) -> f64 {
        let mean = self.log_steps / self.steps as f64 - (self.grid.max(1) as f64).log2();
        if self.steps < LIMITS.few_steps { f64::INFINITY } else { mean + UNIFORM }
    }

    /// Notes the accesses of a nest.
    pub fn add_nest(&mut self, nest: &Growing) {
        self.accesses += nest.records();
        self.add(nest.start());
        self.add(nest.offset(nest.records() - 1));
        self.distance(nest.stride().unsigned_abs());
        nest.inner().iter().for_each(|l| self.distance(l.stride.unsigned_abs()));
    }

    /// Takes in the places of another one.
    pub fn join(&mut self, other: &Pool) {
        self.accesses += other.accesses;
        self.log_steps += other.log_steps;
        self.steps += other.steps;
        if other.low <= other.high {
            self.add(other.low);
            self.add(other.high);
            self.distance(other.grid);
        }
    }

    /// Bits of one place anywhere in the file.
    pub fn byte(&self) -> f64 {
        ((self.high.saturating_sub(self.low) + 2) as f64).log2().max(LIMITS.anywhere)
    }

    /// Bits of one place: any in the file, or one of a grid that is stated once.
    pub fn place(&self) -> f64 {
        if self.low > self.high {
            return LIMITS.certain;
        }
        let range = self.high - self.low;
        let byte = self.byte();
        let slots = ((range / self.grid.max(1) + 1) as f64).log2().min(self.local());
        byte.min(slots + 2.0 * byte / self.accesses.max(1) as f64).max(LIMITS.certain)
    }
}

/// Bits of the counts and strides of loops; a stride costs nothing but its presence if it is 0 or continues back to back.
pub(super) fn nest_bits(turns: &[Turn], body: &Body, place: f64) -> f64 {
    let size = body.size();
    let bits = |(i, t): (usize, &Turn)| {
        let implied = t.stride == 0 || i == 0 && size.is_some_and(|s| s as i64 == t.stride);
        count_bits(t.count) + if implied { 1.0 } else { 2.0 + place }
    };
    turns.iter().enumerate().map(bits).sum::<f64>()
}

/// Bits of a number from 2 on.
pub(super) fn count_bits(n: u64) -> f64 {
    2.0 * (n.max(2) as f64).log2() - 1.0
}

/// Bits of the irregular steps of a pattern of `n` accesses.
pub(super) fn breaks_bits(o: &Order, n: u64) -> f64 {
    if o.breaks == 0 {
        return 0.0;
    }
    let breaks = o.breaks.min(n);
    breaks as f64 * ((o.last - o.first + 1) as f64).log2() + choose(n, breaks)
}

/// Bits of the steps of its loops: a loop that turns right after the loop inside it has none.
pub(super) fn steps_bits(o: &Order, n: u64, turns: &[Turn], step: impl Fn(&Turn) -> u64) -> f64 {
    let gap = ((o.last - o.first + 1) as f64).log2();
    if turns.is_empty() && o.last - o.first >= n {
        return gap;
    }
    let mut natural = 1;
    let mut bits = 0.0;
    for t in turns {
        if step(t) != natural {
            bits += gap;
        }
        natural = step(t).saturating_mul(t.count);
    }
    bits
}

/// Bits that tell any `n` accesses of a sequence from the first to the last.
pub(super) fn any_order_bits(o: &Order, n: u64) -> f64 {
    let span = o.last - o.first + 1;
    if span <= n {
        return 0.0;
    }
    choose(span, n) + 2.0 * ((span - n + 1) as f64).log2()
}

/// About log2 of the number of ways to choose n of m.
fn choose(m: u64, n: u64) -> f64 {
    if m <= n || n == 0 {
        return 0.0;
    }
    let (m, n) = (m as f64, n as f64);
    n * (m / n).log2() + (m - n) * (m / (m - n)).log2()
}

/// True if a run of `n` accesses, each as many after the one before as the second after the first, is shorter than they are.
/// `apart` is how many candidates for that distance were tried.
pub(super) fn even_run_pays(pool: &Pool, seen: u64, stride: u64, size: u64, n: u64, apart: u64) -> bool {
    let mut pool = *pool;
    pool.accesses = pool.accesses.max(seen);
    let place = pool.place();
    let implied = stride == 0 || stride == size;
    let pattern = count_bits(n) + (apart as f64).log2() + if implied { 1.0 } else { 2.0 + place };
    (n - 1) as f64 * place > pattern
}

/// Bits that an interleaved progression saves, before anything is known of others.
pub(super) fn saved_by_run(pool: &Pool, seen: u64, o: &Order, n: u64) -> f64 {
    let place = pool.place();
    (n - 1) as f64 * place - (place + 2.0) - count_bits(n) - any_order_bits(o, n) - (seen.max(1) as f64).log2()
}

/// Bits that a piece saves by itself, before anything is known of others.
pub(super) fn saved_alone(pool: &Pool, p: &Piece) -> f64 {
    let n = p.records();
    let place = if p.body.size().is_some() { pool.place() } else { pool.byte() };
    let order = any_order_bits(&p.in_size, n)
        .min(steps_bits(&p.in_size, n, &p.turns, |t| t.steps.in_size) + breaks_bits(&p.in_size, n));
    let start = (pool.accesses.max(1) as f64).log2();
    (n - 1) as f64 * place - nest_bits(&p.turns, &p.body, place) - LIMITS.order - order - start
}
