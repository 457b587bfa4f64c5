//! The automaton of a nest whose outermost loop may still go on.

use super::{Loop, canonical, records};

/// Bounds the loops that hostile input can make.
const MOST_LOOPS: usize = 24;

/// A nest that grows one access at a time: the counts of all loops but the outermost are known.
///
/// It expects one offset. Any other offset may begin a loop around the nest where a pass of the outermost loop is complete
/// ([`Growing::begin_loop`]); [`Growing::learn`] does so greedily.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Growing {
    start: u64,
    /// Loops inside the outermost one, innermost first.
    inner: Vec<Loop>,
    /// Accesses of one pass of the outermost loop: product of the inner counts.
    unit: u64,
    /// Stride of the outermost loop.
    stride: i64,
    records: u64,
    expected: u64,
    /// Accesses until the innermost loop ends; without end for a single loop.
    left: u64,
    /// Stride of the innermost loop.
    step: u64,
}

impl Growing {
    /// One access.
    pub fn new(start: u64) -> Growing {
        Growing { start, inner: Vec::new(), unit: 1, stride: 0, records: 1, expected: start, left: u64::MAX, step: 0 }
    }

    /// Complete loops, of which the outermost may go on.
    pub fn of(start: u64, loops: &[Loop]) -> Growing {
        match loops {
            [] => Growing::new(start),
            [inner @ .., outermost] => Growing::part_of(
                start,
                inner.to_vec(),
                outermost.stride,
                records(inner).saturating_mul(outermost.count),
            ),
        }
    }

    fn part_of(start: u64, inner: Vec<Loop>, stride: i64, taken: u64) -> Growing {
        let unit = records(&inner);
        let step = inner.first().map_or(stride, |l| l.stride) as u64;
        let mut nest = Growing { start, inner, unit, stride, records: taken, expected: 0, left: 0, step };
        nest.aim();
        nest
    }

    /// Offset of the first access.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Accesses taken.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Loops inside the outermost one, innermost first.
    pub fn inner(&self) -> &[Loop] {
        &self.inner
    }

    /// Stride of the outermost loop.
    pub fn stride(&self) -> i64 {
        self.stride
    }

    /// Accesses of one pass of the outermost loop.
    pub fn unit(&self) -> u64 {
        self.unit
    }

    /// Complete passes of the outermost loop.
    pub fn passes(&self) -> u64 {
        self.records / self.unit
    }

    /// Accesses of a pass of the outermost loop that has begun.
    pub fn partial(&self) -> u64 {
        if self.inner.is_empty() { 0 } else { self.records % self.unit }
    }

    /// Offset at which the current pass of the outermost loop began.
    pub fn pass_start(&self) -> u64 {
        let passes = (self.records - 1) / self.unit;
        self.start.wrapping_add(passes.wrapping_mul(self.stride as u64))
    }

    /// The offset that comes next if the loops go on; a single access expects its own.
    #[inline]
    pub fn expected(&self) -> u64 {
        self.expected
    }

    /// True if the access that comes next begins a new pass of the innermost of several loops.
    #[inline]
    pub fn begins_row(&self) -> bool {
        self.inner.first().is_some_and(|l| l.count == self.left)
    }

    /// Takes the access that was expected.
    #[inline]
    pub fn advance(&mut self) {
        self.records += 1;
        self.left -= 1;
        if self.left > 0 {
            self.expected = self.expected.wrapping_add(self.step);
        } else {
            self.aim();
        }
    }

    fn aim(&mut self) {
        self.expected = self.offset(self.records);
        self.left = self.inner.first().map_or(u64::MAX, |l| l.count - self.records % l.count);
    }

    /// Offset of access `i`.
    pub fn offset(&self, mut i: u64) -> u64 {
        let mut at = self.start;
        for l in &self.inner {
            at = at.wrapping_add((i % l.count).wrapping_mul(l.stride as u64));
            i /= l.count;
        }
        at.wrapping_add(i.wrapping_mul(self.stride as u64))
    }

    /// Takes an access that begins a loop around all others. False inside a pass, or if there are too many loops.
    pub fn begin_loop(&mut self, offset: u64) -> bool {
        if self.partial() > 0 || self.inner.len() + 1 >= MOST_LOOPS {
            return false;
        }
        let stride = offset.wrapping_sub(self.start) as i64;
        if self.records > 1 {
            self.inner.push(Loop { count: self.passes(), stride: self.stride });
            self.unit = self.records;
        } else {
            self.step = stride as u64;
        }
        self.stride = stride;
        self.records += 1;
        self.aim();
        true
    }

    /// Takes an access that is expected or begins a loop; false if it does neither. Finds the canonical form of every nest,
    /// because no loop of that form continues where the next one begins.
    pub fn learn(&mut self, offset: u64) -> bool {
        if self.records > 1 && offset == self.expected {
            self.advance();
            return true;
        }
        self.begin_loop(offset)
    }

    /// True while the outermost loop has not completed its second pass: nothing but that pass speaks for it.
    pub fn is_young(&self) -> bool {
        !self.inner.is_empty() && self.records <= 2 * self.unit
    }

    /// The first pass of the outermost loop and all after it, each as a nest. Only for a [young](Growing::is_young) nest.
    pub fn split_young(mut self) -> (Growing, Growing) {
        let (unit, second) = (self.unit, self.start.wrapping_add(self.stride as u64));
        let rest = self.records - unit;
        let mut stride = self.inner.pop().map_or(0, |l| l.stride);
        let first = Growing::part_of(self.start, self.inner.clone(), stride, unit);
        // Loops of the second pass that have not come to a second pass of their own are not known.
        while records(&self.inner) >= rest && !self.inner.is_empty() {
            stride = self.inner.pop().map_or(0, |l| l.stride);
        }
        let second = if rest > 1 { Growing::part_of(second, self.inner, stride, rest) } else { Growing::new(second) };
        (first, second)
    }

    /// Inner loops that the current pass of the outermost loop has completed and nothing beyond them; none for a single loop.
    fn completed(&self) -> &[Loop] {
        let mut left = self.partial();
        if left == 0 {
            return &self.inner;
        }
        let whole = self.inner.iter().take_while(|l| {
            let fits = left.is_multiple_of(l.count);
            left /= if fits { l.count } else { 1 };
            fits && left > 0
        });
        let n = whole.count();
        if records(&self.inner[..n]) == self.partial() { &self.inner[..n] } else { &[] }
    }

    /// Where the current pass of the outermost loop would go on, if a loop of it were longer than in the passes before.
    pub fn longer_pass(&self) -> Option<u64> {
        let last = self.completed().last()?;
        Some(self.pass_start().wrapping_add(last.count.wrapping_mul(last.stride as u64)))
    }

    /// The passes before the current one, and the current one. Only where [`Growing::longer_pass`] gives an offset.
    pub fn split_last(self) -> (Growing, Growing) {
        let last = Growing::of(self.pass_start(), self.completed());
        let passes = (self.records - last.records) / self.unit;
        let mut loops = self.inner;
        if passes > 1 {
            loops.push(Loop { count: passes, stride: self.stride });
        }
        (Growing::of(self.start, &loops), last)
    }

    /// Gives a nest of one loop another stride, counted back from its last access. False for other nests.
    pub fn restride(&mut self, stride: i64) -> bool {
        if !self.inner.is_empty() || self.records < 2 {
            return false;
        }
        let last = self.offset(self.records - 1);
        self.start = last.wrapping_sub((self.records - 1).wrapping_mul(stride as u64));
        (self.stride, self.step) = (stride, stride as u64);
        self.aim();
        true
    }

    /// Loops of the complete passes, in canonical form.
    pub fn loops(&self) -> Vec<Loop> {
        let mut all = self.inner.clone();
        all.push(Loop { count: self.passes(), stride: self.stride });
        canonical(&all)
    }

    /// The accesses of the pass that has begun, as complete nests in order: start and loops.
    pub fn partial_nests(&self) -> Vec<(u64, Vec<Loop>)> {
        let mut partial = self.partial();
        let mut at = self.start.wrapping_add(self.passes().wrapping_mul(self.stride as u64));
        let mut unit = self.unit;
        let mut nests = Vec::new();
        for (i, l) in self.inner.iter().enumerate().rev() {
            unit /= l.count;
            let n = partial / unit;
            if n > 0 {
                let mut loops = self.inner[..i].to_vec();
                loops.push(Loop { count: n, stride: l.stride });
                nests.push((at, canonical(&loops)));
                at = at.wrapping_add(n.wrapping_mul(l.stride as u64));
                partial -= n * unit;
            }
        }
        nests
    }
}

#[cfg(test)]
mod tests {
    use super::super::offsets;
    use super::*;
    use proptest::prelude::*;

    /// Nests in row-major order: every stride is at least the extent of what is inside.
    fn nests() -> impl Strategy<Value = (u64, Vec<Loop>)> {
        let loops = prop::collection::vec((2u64..6, 0i64..5, any::<bool>()), 1..5);
        (1u64 << 40..1 << 41, 1i64..1000, loops, any::<bool>()).prop_map(|(start, size, loops, down)| {
            let mut extent = size;
            let mut all = Vec::new();
            for (count, gap, close) in loops {
                let stride = if close { extent } else { extent + gap * size };
                all.push(Loop { count, stride: if down { -stride } else { stride } });
                extent = stride * count as i64;
            }
            (start, all)
        })
    }

    fn learned(places: &[u64]) -> Growing {
        let mut nest = Growing::new(places[0]);
        for (i, p) in places[1..].iter().enumerate() {
            assert!(nest.learn(*p), "access {i}");
        }
        nest
    }

    proptest! {
        #[test]
        fn learning_finds_the_canonical_form((start, loops) in nests()) {
            let places: Vec<u64> = offsets(start, &loops).collect();
            let nest = learned(&places);
            prop_assert_eq!(nest.partial(), 0);
            prop_assert_eq!(nest.loops(), canonical(&loops));
            prop_assert_eq!(nest.pass_start(), nest.offset((nest.passes() - 1) * nest.unit()));
        }

        #[test]
        fn a_nest_cut_anywhere_keeps_every_offset((start, loops) in nests(), cut in 1usize..600) {
            let places: Vec<u64> = offsets(start, &loops).take(cut).collect();
            let nest = learned(&places);
            prop_assert_eq!(nest.records(), places.len() as u64);
            let mut all: Vec<u64> = (0..nest.passes() * nest.unit()).map(|i| nest.offset(i)).collect();
            all.extend(nest.partial_nests().iter().flat_map(|(start, loops)| offsets(*start, loops)));
            prop_assert_eq!(&all, &places);
            if nest.is_young() {
                let (first, second) = nest.split_young();
                let halves = [first, second];
                let both = halves.iter().flat_map(|n| (0..n.records()).map(|i| n.offset(i)));
                prop_assert!(both.eq(places));
            }
        }
    }

    #[test]
    fn a_longer_pass_is_split_off() {
        // two rows of three, then a row of four
        let nest = learned(&[0, 1, 2, 10, 11, 12, 20, 21, 22]);
        assert_eq!(nest.longer_pass(), Some(23));
        let (rows, last) = nest.split_last();
        assert_eq!(
            (rows.loops(), rows.records()),
            (vec![Loop { count: 3, stride: 1 }, Loop { count: 2, stride: 10 }], 6)
        );
        assert_eq!((last.start(), last.records(), last.expected()), (20, 3, 23));
        // two planes of two rows, then the first row of a third plane goes on
        let nest = learned(&[0, 1, 10, 11, 100, 101, 110, 111, 200, 201]);
        assert_eq!((nest.partial(), nest.longer_pass()), (2, Some(202)));
        let (planes, row) = nest.split_last();
        assert_eq!((planes.records(), row.start(), row.records()), (8, 200, 2));
    }

    #[test]
    fn a_known_nest_goes_on_where_its_loops_end() {
        let mut nest = Growing::of(100, &[Loop { count: 2, stride: 8 }, Loop { count: 3, stride: -50 }]);
        assert_eq!((nest.records(), nest.expected()), (6, u64::MAX.wrapping_add(1).wrapping_sub(50)));
        nest.advance();
        assert_eq!((nest.partial(), nest.expected()), (1, 0u64.wrapping_sub(42)));
        assert!(!nest.begin_loop(7), "inside a pass");
    }

    #[test]
    fn a_new_stride_is_counted_back_from_the_last_access() {
        let mut nest = learned(&[0, 10, 20]);
        assert!(nest.restride(12));
        assert_eq!((nest.start(), nest.expected()), (u64::MAX - 3, 32));
    }
}
