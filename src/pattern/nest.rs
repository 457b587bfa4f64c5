//! Loop nests: the places that nested loops with constant strides visit, one after the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One loop of a nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// Passes of the loop.
    pub count: u64,
    /// Bytes from one pass to the next; may be negative or zero.
    pub stride: i64,
}

/// The canonical form of loops given innermost first: loops of one pass are dropped, and a loop that goes on where the loop
/// inside it ends (`stride = count_inside * stride_inside`) is one with it.
pub fn canonical(levels: &[Level]) -> Vec<Level> {
    let mut out: Vec<Level> = Vec::with_capacity(levels.len());
    for l in levels.iter().filter(|l| l.count != 1) {
        match out.last_mut() {
            Some(inside) if joins(*inside, l.stride) => inside.count = inside.count.saturating_mul(l.count),
            _ => out.push(*l),
        }
    }
    out
}

/// True if a loop of this stride goes on where `inside` ends.
fn joins(inside: Level, stride: i64) -> bool {
    i128::from(inside.count) * i128::from(inside.stride) == i128::from(stride)
}

/// The offsets that a nest visits, in order.
///
/// Offsets wrap around as `u64`; those of sound accesses never do.
pub fn offsets(base: u64, levels: &[Level]) -> impl Iterator<Item = u64> + '_ {
    let total = levels.iter().fold(1u64, |n, l| n.saturating_mul(l.count));
    let mut digits = vec![0u64; levels.len()];
    let mut at = base;
    (0..total).map(move |_| {
        let here = at;
        for (d, l) in digits.iter_mut().zip(levels) {
            *d += 1;
            at = at.wrapping_add(l.stride as u64);
            if *d < l.count {
                break;
            }
            at = at.wrapping_sub(l.count.wrapping_mul(l.stride as u64));
            *d = 0;
        }
        here
    })
}

/// A nest that is being learned: all loops but the outermost have a known count.
///
/// It knows the one place that comes next if its loops go on. Where its outermost loop has completed a pass, any other place
/// may begin a loop around it: learning greedily finds the canonical form of every nest, because in that form no loop can
/// go on where the next one begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Nest {
    base: u64,
    /// Inner loops, innermost first.
    inner: Vec<Level>,
    /// Records of one pass of the outermost loop: product of the inner counts.
    unit: u64,
    /// Stride of the outermost loop.
    top: i64,
    records: u64,
    next: u64,
    /// Records until the innermost loop ends; never for a single loop.
    left: u64,
    /// Stride of the innermost loop.
    step: u64,
}

/// Longest pass that may be found to be the first one of a larger nest: a few of them have to wait until that is known.
const MOST_GROWN: u64 = 512;

/// Bounds the levels that hostile input can make.
const MOST_LEVELS: usize = 24;

impl Nest {
    /// A first record.
    pub fn new(base: u64) -> Nest {
        Nest { base, inner: Vec::new(), unit: 1, top: 0, records: 1, next: base, left: u64::MAX, step: 0 }
    }

    /// A nest of known loops.
    fn of(base: u64, inner: Vec<Level>, top: i64, records: u64) -> Nest {
        let unit = inner.iter().map(|l| l.count).product();
        let step = inner.first().map_or(top, |l| l.stride) as u64;
        let mut nest = Nest { base, inner, unit, top, records, next: 0, left: 0, step };
        nest.aim();
        nest
    }

    pub fn base(&self) -> u64 {
        self.base
    }

    pub fn records(&self) -> u64 {
        self.records
    }

    /// Passes of the outermost loop that are complete.
    pub fn passes(&self) -> u64 {
        self.records / self.unit
    }

    /// Records of a pass of the outermost loop that has begun.
    pub fn partial(&self) -> u64 {
        if self.inner.is_empty() { 0 } else { self.records % self.unit }
    }

    pub fn inner(&self) -> &[Level] {
        &self.inner
    }

    pub fn top(&self) -> i64 {
        self.top
    }

    /// The place that comes next.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// True if it can tell what comes next: a single record cannot.
    pub fn moves(&self) -> bool {
        self.records > 1
    }

    /// The place of record `i`.
    pub fn place(&self, mut i: u64) -> u64 {
        let mut at = self.base;
        for l in &self.inner {
            at = at.wrapping_add((i % l.count).wrapping_mul(l.stride as u64));
            i /= l.count;
        }
        at.wrapping_add(i.wrapping_mul(self.top as u64))
    }

    /// Takes the record that was due.
    #[inline]
    pub fn advance(&mut self) {
        self.records += 1;
        self.left -= 1;
        if self.left > 0 {
            self.next = self.next.wrapping_add(self.step);
        } else {
            self.aim();
        }
    }

    /// A first run of records at a stride.
    pub fn of_run(base: u64, stride: i64, count: u64) -> Nest {
        if count > 1 { Nest::of(base, Vec::new(), stride, count) } else { Nest::new(base) }
    }

    /// Takes a run of records at a stride; false if not all of them belong to the nest, which is of no use then.
    pub fn take_run(&mut self, place: u64, stride: i64, count: u64) -> bool {
        self.take_some(place, stride, count) == count
    }

    /// Takes the first records of a run at a stride, up to the end of the innermost loop; gives how many.
    pub fn take_some(&mut self, place: u64, stride: i64, count: u64) -> u64 {
        if self.moves() && place == self.next {
            self.advance();
        } else if self.partial() > 0 || !self.wrap(place) {
            return 0;
        }
        let goes_on = stride as u64 == self.step && place.wrapping_add(self.step) == self.next;
        let rest = if goes_on { (count - 1).min(self.left) } else { 0 };
        self.records += rest;
        if rest == self.left {
            self.aim();
        } else {
            self.left -= rest;
            self.next = self.next.wrapping_add(rest.wrapping_mul(self.step));
        }
        1 + rest
    }

    fn aim(&mut self) {
        self.next = self.place(self.records);
        self.left = self.inner.first().map_or(u64::MAX, |l| l.count - self.records % l.count);
    }

    /// Takes a record that begins a new loop around all others. Only for a nest without a pass begun.
    pub fn wrap(&mut self, place: u64) -> bool {
        if self.inner.len() + 1 >= MOST_LEVELS {
            return false;
        }
        let stride = place.wrapping_sub(self.base) as i64;
        if self.records > 1 {
            self.inner.push(Level { count: self.passes(), stride: self.top });
            self.unit = self.records;
        } else {
            self.step = stride as u64;
        }
        self.top = stride;
        self.records += 1;
        self.aim();
        true
    }

    /// For a single loop: the place before its first one.
    pub fn before(&self) -> Option<u64> {
        (self.inner.is_empty() && self.moves()).then(|| self.base.wrapping_sub(self.top as u64))
    }

    /// The loop with that place, too.
    pub fn with_before(self) -> Nest {
        Nest::of(self.base.wrapping_sub(self.top as u64), self.inner, self.top, self.records + 1)
    }

    /// Records that were predicted before they came: all but the first and one for each stride. The stride of accesses back to
    /// back or at the same place is no free choice.
    pub fn evidence(&self, size: u64) -> u64 {
        let free = 1 + self.inner.len() as u64 + u64::from(self.records > 1);
        let given = u64::from(self.records > 1 && (size > 0 && self.step == size || self.step == 0));
        (self.records + given).saturating_sub(free)
    }

    /// True while the outermost loop is young: a second pass of which nobody knows yet whether it is one, or another stream.
    pub fn young(&self) -> bool {
        !self.inner.is_empty() && self.records <= 2 * self.unit
    }

    /// If the nest is young: where the first pass would go on if it were a stream of its own, once the second has begun;
    /// and where the second would, once that is complete.
    pub fn streams(&self) -> [Option<u64>; 2] {
        match self.inner.last() {
            // The same places again are no other stream.
            Some(old) if self.top != 0 && self.young() && self.records > self.unit => {
                let on = self.base.wrapping_add(old.count.wrapping_mul(old.stride as u64));
                if self.records == 2 * self.unit {
                    [None, Some(on.wrapping_add(self.top as u64))]
                } else {
                    [Some(on), None]
                }
            }
            _ => [None, None],
        }
    }

    /// If the nest has completed just two passes: where the first would go on if it were a stream of its own. A loop around both
    /// may begin there as well.
    pub fn resumed(&self) -> Option<u64> {
        let old = self.inner.last().filter(|_| self.top != 0 && self.records == 2 * self.unit)?;
        Some(self.base.wrapping_add(old.count.wrapping_mul(old.stride as u64)))
    }

    /// Where a loop of the pass that has begun would go on, if that is not a further pass but the first one of a larger nest: the
    /// loop has ended here in every pass so far, and the pass has nothing else yet.
    #[inline]
    pub fn longer(&self) -> Option<u64> {
        let first = self.inner.first()?;
        if self.left != first.count || self.records <= 2 * self.unit {
            return None;
        }
        let partial = self.partial();
        let mut unit = 1;
        for l in &self.inner {
            unit *= l.count;
            if unit == partial {
                let pass = self.base.wrapping_add(self.passes().wrapping_mul(self.top as u64));
                let on = pass.wrapping_add(l.count.wrapping_mul(l.stride as u64));
                return (on != self.next).then_some(on);
            }
        }
        None
    }

    /// Where the last of several passes over the same places would go on, if it was the first pass of a larger nest.
    #[inline]
    pub fn grown(&self) -> Option<u64> {
        if self.top != 0 || self.unit > MOST_GROWN {
            return None;
        }
        let (first, last) = (self.inner.first()?, self.inner.last()?);
        let again = self.left == first.count && self.partial() == 0 && self.passes() > 2;
        again.then(|| self.base.wrapping_add(last.count.wrapping_mul(last.stride as u64))).filter(|on| *on != self.next)
    }

    /// The nest without its last pass, and that pass. Only for a nest without a pass begun.
    pub fn without_last(mut self) -> Option<(Nest, Nest)> {
        if self.passes() < 2 {
            return None;
        }
        let mut inner = self.inner.clone();
        let top = inner.pop()?;
        let place = self.base.wrapping_add((self.passes() - 1).wrapping_mul(self.top as u64));
        let last = Nest::of(place, inner, top.stride, self.unit);
        self.records -= self.unit;
        Some((self.settled(), last))
    }

    /// The two streams of a young nest: its first pass and its second.
    pub fn part(mut self) -> (Nest, Nest) {
        let (unit, second) = (self.unit, self.base.wrapping_add(self.top as u64));
        let rest = self.records - unit;
        let mut top = self.inner.pop().map_or(0, |l| l.stride);
        let first = Nest::of(self.base, self.inner.clone(), top, unit);
        // Of the second, loops that have not completed a pass are not known yet.
        while self.inner.iter().map(|l| l.count).product::<u64>() > rest {
            top = self.inner.pop().map_or(0, |l| l.stride);
        }
        let second = if rest > 1 { Nest::of(second, self.inner, top, rest) } else { Nest::new(second) };
        (first, second)
    }

    /// Rounds after which alternating streams are taken for one nest for good.
    const ROUNDS: u64 = 8;

    /// If the nest may be streams in turns, one record each: the place that comes after the next one, in the middle of a round.
    pub fn skipping(&self) -> Option<u64> {
        let [Level { count: 2..=8, .. }] = self.inner[..] else { return None };
        let rounds = self.passes();
        ((2..Self::ROUNDS).contains(&rounds) && self.partial() > 0).then(|| self.place(self.records + 1))
    }

    /// The streams of a nest whose inner loop was a round of streams: base and number of records of each; all have the
    /// stride of the outer loop.
    pub fn rounds(&self) -> Vec<Nest> {
        let streams = self.inner.first().map_or(1, |l| l.count);
        (0..streams)
            .map(|i| {
                let records = self.passes() + u64::from(i < self.partial());
                Nest::of(self.place(i), Vec::new(), self.top, records)
            })
            .collect()
    }

    /// The nest without the pass that has begun, and that pass as nests, in order.
    pub fn settle(mut self) -> (Nest, Vec<Nest>) {
        let mut partial = self.partial();
        let mut pieces = Vec::new();
        if partial == 0 {
            return (self, pieces);
        }
        let mut at = self.base.wrapping_add(self.passes().wrapping_mul(self.top as u64));
        self.records -= partial;
        let mut unit = self.unit;
        let mut levels = self.inner.clone();
        while let Some(l) = levels.pop() {
            unit /= l.count;
            let n = partial / unit;
            if n > 0 {
                pieces.push(Nest::of(at, levels.clone(), l.stride, n * unit).settled());
                at = at.wrapping_add(n.wrapping_mul(l.stride as u64));
                partial -= n * unit;
            }
        }
        (self.settled(), pieces)
    }

    /// Drops an outermost loop of one pass.
    fn settled(mut self) -> Nest {
        while self.records > 1 && self.records == self.unit {
            let top = self.inner.pop().map_or(0, |l| l.stride);
            self = Nest::of(self.base, self.inner, top, self.records);
        }
        if self.records == 1 {
            Nest::new(self.base)
        } else {
            self.aim();
            self
        }
    }

    /// All loops, innermost first, of a nest without a pass begun.
    pub fn levels(&self) -> Vec<Level> {
        let mut all = self.inner.clone();
        all.push(Level { count: self.passes(), stride: self.top });
        canonical(&all)
    }

    /// The nest of known loops.
    pub fn from_levels(base: u64, levels: &[Level]) -> Nest {
        match levels {
            [] => Nest::new(base),
            [inner @ .., top] => {
                let unit: u64 = inner.iter().map(|l| l.count).product();
                Nest::of(base, inner.to_vec(), top.stride, unit * top.count)
            }
        }
    }

    /// Lowest offset and highest end of accesses of `size` bytes.
    pub fn extent(base: u64, size: u64, levels: &[Level]) -> (u64, u64) {
        let (mut low, mut high) = (i128::from(base), i128::from(base) + i128::from(size));
        for l in levels {
            let reach = i128::from(l.count.saturating_sub(1)) * i128::from(l.stride);
            if reach < 0 { low += reach } else { high += reach }
        }
        let clamp = |x: i128| u64::try_from(x.max(0)).unwrap_or(u64::MAX);
        (clamp(low), clamp(high))
    }
}

/// Why learning stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// There were no more places.
    End,
    /// A place that does not fit.
    Mismatch,
    /// A place where one of the last two passes goes on: they are two streams in turns.
    Streams,
    /// A place that skips a record: the inner loop is streams in turns.
    Rounds,
}

/// Feeds places to a nest until one does not fit; gives how many it took and why it stopped.
pub(super) fn learn(nest: &mut Nest, places: &[u64]) -> (usize, Stop) {
    for (i, &x) in places.iter().enumerate() {
        if nest.moves() && x == nest.next() {
            nest.advance();
        } else if nest.streams().contains(&Some(x)) {
            return (i, Stop::Streams);
        } else if nest.partial() == 0 {
            if !nest.wrap(x) {
                return (i, Stop::Mismatch);
            }
        } else if nest.skipping() == Some(x) {
            return (i, Stop::Rounds);
        } else {
            return (i, Stop::Mismatch);
        }
    }
    (places.len(), Stop::End)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn level(count: u64, stride: i64) -> Level {
        Level { count, stride }
    }

    /// Nests in row-major order: every stride is at least the extent of what is inside.
    fn nests() -> impl Strategy<Value = (u64, Vec<Level>)> {
        let loops = prop::collection::vec((2u64..6, 0i64..5, any::<bool>()), 1..5);
        (1u64 << 40..1 << 41, 1i64..1000, loops, any::<bool>()).prop_map(|(base, size, loops, down)| {
            let mut extent = size;
            let mut levels = Vec::new();
            for (count, gap, close) in loops {
                let stride = if close { extent } else { extent + gap * size };
                levels.push(level(count, if down { -stride } else { stride }));
                extent = stride * count as i64;
            }
            (base, levels)
        })
    }

    proptest! {
        #[test]
        fn learning_finds_the_canonical_form((base, levels) in nests()) {
            let places: Vec<u64> = offsets(base, &levels).collect();
            let mut nest = Nest::new(places[0]);
            let (taken, stop) = learn(&mut nest, &places[1..]);
            prop_assert_eq!((taken, stop), (places.len() - 1, Stop::End));
            let (whole, rest) = nest.settle();
            prop_assert!(rest.is_empty());
            prop_assert_eq!(whole.levels(), canonical(&levels));
            prop_assert_eq!(offsets(base, &whole.levels()).collect::<Vec<_>>(), places);
        }

        #[test]
        fn settling_keeps_every_place((base, levels) in nests(), cut in 1usize..600) {
            let places: Vec<u64> = offsets(base, &levels).take(cut).collect();
            let mut nest = Nest::new(places[0]);
            learn(&mut nest, &places[1..]);
            prop_assert_eq!(nest.records(), places.len() as u64);
            let (whole, rest) = nest.settle();
            let all: Vec<u64> = std::iter::once(&whole).chain(&rest).flat_map(|n| offsets(n.base(), &n.levels()).collect::<Vec<_>>()).collect();
            prop_assert_eq!(all, places);
        }
    }

    #[test]
    fn a_pass_may_be_the_first_of_a_larger_nest() {
        // three passes of 2 x 2 places, then the first row of a fourth
        let mut nest = Nest::new(0);
        learn(&mut nest, &[1, 10, 11, 0, 1, 10, 11, 0, 1, 10, 11, 0]);
        assert_eq!(nest.longer(), None);
        nest.advance();
        assert_eq!((nest.next(), nest.longer()), (10, Some(2)));
        nest.advance();
        assert_eq!(nest.longer(), None);
    }

    #[test]
    fn seamless_loops_are_one() {
        assert_eq!(
            canonical(&[level(32, 8), level(1, 99), level(4, 256), level(3, 2000)]),
            [level(128, 8), level(3, 2000)]
        );
        assert_eq!(canonical(&[level(3, 0), level(4, 0)]), [level(12, 0)]);
        assert!(canonical(&[level(1, 5)]).is_empty());
    }

    #[test]
    fn two_streams_in_irregular_turns_are_told_apart() {
        // 0, 1, 2 | 100, 101 | 3
        let mut nest = Nest::new(0);
        assert_eq!(learn(&mut nest, &[1, 2, 100, 101, 3]), (4, Stop::Streams));
        let (a, b) = nest.part();
        assert_eq!((a.next(), b.next()), (3, 102));
        // in regular turns they are one nest
        let mut nest = Nest::new(0);
        let turns = [1, 2, 100, 101, 102, 3, 4, 5, 103, 104, 105];
        assert_eq!(learn(&mut nest, &turns), (11, Stop::End));
        assert_eq!(nest.settle().0.levels(), [level(3, 1), level(2, 100), level(2, 3)]);
    }
}
