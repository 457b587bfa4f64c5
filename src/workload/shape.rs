//! The shape of a progression of accesses: a size and nested levels.

use super::truth::Level;

/// Accesses of one size at places that nested loops give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Bytes of an access.
    pub(crate) size: u64,
    /// Loops, innermost first.
    pub(crate) levels: Vec<Level>,
}

impl Shape {
    /// One access.
    pub(crate) fn of(size: u64) -> Shape {
        Shape { size, levels: Vec::new() }
    }

    /// All of this `count` times, `stride` bytes apart.
    pub(crate) fn times(mut self, count: u64, stride: u64) -> Shape {
        self.levels.push(Level { count, stride: stride as i64 });
        self
    }

    /// The shape of accesses at these places, in this order, if that is one: loops that foretell at least one of them.
    pub(crate) fn of_places(size: u64, places: &[u64]) -> Option<Shape> {
        let mut shape = Shape::of(size);
        let mut starts = places.to_vec();
        while starts.len() > 1 {
            let stride = starts[1].wrapping_sub(starts[0]);
            let n = 1 + starts.windows(2).take_while(|w| w[1].wrapping_sub(w[0]) == stride).count();
            let even = |pass: &[u64]| pass.windows(2).all(|w| w[1].wrapping_sub(w[0]) == stride);
            if !starts.len().is_multiple_of(n) || !starts.chunks(n).all(even) {
                return None;
            }
            starts = starts.into_iter().step_by(n).collect();
            shape = shape.times(n as u64, stride);
        }
        (shape.foretold() > 0).then_some(shape)
    }

    /// The same, whatever the loops foretell of one or two places.
    pub(crate) fn walked(size: u64, places: &[u64]) -> Option<Shape> {
        match *places {
            [] | [_] => Some(Shape::of(size)),
            [a, b] => Some(Shape::of(size).times(2, b.wrapping_sub(a))),
            _ => Shape::of_places(size, places),
        }
    }

    /// Accesses that the loops foretell: all but the first and one for each loop. That accesses lie back to back or at one place is
    /// no free choice.
    pub(crate) fn foretold(&self) -> usize {
        let given = self.levels.first().is_some_and(|l| l.stride == self.size as i64 || l.stride == 0);
        (self.count() as usize + usize::from(given)).saturating_sub(1 + self.levels.len())
    }

    /// Numbers that tell it, beside counts: its place, and the strides that are a free choice.
    pub(crate) fn numbers(&self) -> u64 {
        let free = self.levels.iter().filter(|l| l.stride != 0).count() as u64;
        1 + free - u64::from(self.levels.first().is_some_and(|l| l.stride != 0 && l.stride == self.size as i64))
    }

    /// The same accesses so often, in place of as often as the outermost loop says.
    pub(crate) fn passes(mut self, passes: u64) -> Shape {
        self.levels.iter_mut().last().into_iter().for_each(|l| l.count = passes);
        self
    }

    /// Number of accesses.
    pub(crate) fn count(&self) -> u64 {
        self.levels.iter().map(|l| l.count).product()
    }

    /// The same accesses in the fewest levels: none of count 1, and none that goes on where the one inside it ends.
    pub(crate) fn canonical(&self) -> Shape {
        let mut levels: Vec<Level> = Vec::with_capacity(self.levels.len());
        for l in self.levels.iter().filter(|l| l.count != 1) {
            match levels.last_mut() {
                Some(inner) if l.stride == inner.count as i64 * inner.stride => inner.count *= l.count,
                _ => levels.push(*l),
            }
        }
        Shape { size: self.size, levels }
    }

    /// The same bytes with accesses that lie back to back in one: what a library asks for that sees them all at once.
    pub(crate) fn coalesced(&self) -> Shape {
        let mut shape = Shape::of(self.size);
        for l in self.levels.iter().filter(|l| l.count != 1) {
            if shape.levels.is_empty() && l.stride == shape.size as i64 {
                shape.size *= l.count;
            } else {
                shape.levels.push(*l);
            }
        }
        shape.canonical()
    }

    /// Every access cut into pieces of at most `piece` bytes, which must divide its size or be larger.
    pub(crate) fn cut(&self, piece: u64) -> Shape {
        let piece = piece.min(self.size);
        let mut shape = Shape::of(piece).times(self.size / piece, piece);
        shape.levels.extend(&self.levels);
        shape
    }

    /// One past the highest byte, from the place of the first access; lowest and highest places may lie on either side of it.
    pub(crate) fn end(&self) -> u64 {
        let reach: i64 = self.levels.iter().map(|l| (l.count as i64 - 1) * l.stride.max(0)).sum();
        reach as u64 + self.size
    }
}

/// Goes through the places of a shape.
#[derive(Debug, Clone)]
pub(crate) struct Odometer {
    offset: u64,
    turns: Vec<u64>,
}

impl Odometer {
    pub(crate) fn new(offset: u64, shape: &Shape) -> Odometer {
        Odometer { offset, turns: vec![0; shape.levels.len()] }
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// To the next place; after the last back to the first.
    #[inline]
    pub(crate) fn advance(&mut self, shape: &Shape) {
        for (turn, l) in self.turns.iter_mut().zip(&shape.levels) {
            *turn += 1;
            if *turn < l.count {
                self.offset = self.offset.wrapping_add_signed(l.stride);
                return;
            }
            *turn = 0;
            self.offset = self.offset.wrapping_add_signed(-(l.stride * (l.count as i64 - 1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn places(shape: &Shape) -> Vec<(u64, u64)> {
        let mut o = Odometer::new(1 << 30, shape);
        (0..shape.count())
            .map(|_| {
                let at = (o.offset(), shape.size);
                o.advance(shape);
                at
            })
            .collect()
    }

    fn bytes(shape: &Shape) -> Vec<u64> {
        places(shape).iter().flat_map(|(o, s)| *o..o + s).collect()
    }

    proptest! {
        #[test]
        fn canonical_forms_are_the_same_accesses(size in 1u64..9, raw in prop::collection::vec((1u64..4, -20i64..20), 0..5)) {
            let shape = Shape { size, levels: raw.into_iter().map(|(count, stride)| Level { count, stride }).collect() };
            let canonical = shape.canonical();
            prop_assert_eq!(places(&canonical), places(&shape));
            prop_assert_eq!(canonical.canonical(), canonical.clone());
            prop_assert!(canonical.levels.len() <= shape.levels.len());
            prop_assert_eq!(bytes(&shape.coalesced()), bytes(&shape));
            prop_assert_eq!(bytes(&shape.cut(1)), bytes(&shape));
            let offsets: Vec<u64> = places(&shape).iter().map(|p| p.0).collect();
            if let Some(same) = Shape::of_places(size, &offsets) {
                prop_assert_eq!(&places(&same), &places(&shape));
            }
            let top = places(&shape).iter().map(|(o, s)| o + s).max();
            prop_assert_eq!(Some((1 << 30) + shape.end()), top);
        }
    }

    #[test]
    fn joined_levels() {
        let shape = Shape::of(4).times(8, 4).times(1, 99).times(3, 32).times(2, 0);
        assert_eq!(shape.canonical(), Shape::of(4).times(24, 4).times(2, 0));
        assert_eq!(shape.coalesced(), Shape::of(96).times(2, 0));
    }
}
