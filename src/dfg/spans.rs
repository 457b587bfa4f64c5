//! When the events of an activity ran, packed, and how many of them at once.
//!
//! A start is kept as the difference to the one before, a duration as it is, both in whole microseconds where they are such:
//! 2 to 5 bytes an event in place of 16.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Starts and durations in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Spans {
    bytes: Vec<u8>,
    last: i64,
    unsorted: bool,
}

impl Spans {
    /// Adds an event.
    pub(super) fn push(&mut self, start: i64, duration: u64) {
        let step = start.wrapping_sub(self.last);
        self.unsorted |= step < 0 && !self.bytes.is_empty();
        self.last = start;
        put(&mut self.bytes, ((step << 1) ^ (step >> 63)).cast_unsigned());
        put(&mut self.bytes, duration);
    }

    /// The events, as they were added.
    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        let (mut rest, mut last) = (&self.bytes[..], 0i64);
        std::iter::from_fn(move || {
            let z = take(&mut rest)?;
            last = last.wrapping_add((z >> 1).cast_signed() ^ -(z & 1).cast_signed());
            Some((last, take(&mut rest)?))
        })
    }

    /// The events in the order of their starts.
    fn sorted(&self) -> Box<dyn Iterator<Item = (i64, u64)> + '_> {
        if !self.unsorted {
            return Box::new(self.iter());
        }
        let mut all: Vec<_> = self.iter().collect();
        all.sort_unstable();
        Box::new(all.into_iter())
    }
}

/// Writes a number in groups of seven bits, lowest first, of which the first has a flag: the number was divided by 1000.
fn put(out: &mut Vec<u8>, x: u64) {
    let (scaled, mut x) = if x.is_multiple_of(1000) { (1, x / 1000) } else { (0, x) };
    let first = scaled | (((x & 0x3f) as u8) << 1);
    x >>= 6;
    out.push(first | u8::from(x > 0) << 7);
    while x > 0 {
        let low = (x & 0x7f) as u8;
        x >>= 7;
        out.push(low | u8::from(x > 0) << 7);
    }
}

/// Reads what [`put`] wrote.
fn take(rest: &mut &[u8]) -> Option<u64> {
    let (&first, mut tail) = rest.split_first()?;
    let (mut x, mut shift, mut more) = (u64::from(first >> 1 & 0x3f), 6, first & 0x80 != 0);
    while more {
        let (&b, next) = tail.split_first()?;
        x |= u64::from(b & 0x7f) << shift;
        (shift, more, tail) = (shift + 7, b & 0x80 != 0, next);
    }
    *rest = tail;
    Some(if first & 1 == 1 { x.wrapping_mul(1000) } else { x })
}

/// The largest number of events that ran at the same moment (eq. 14 to 16): events are half-open, so that one which ends when
/// another starts is not beside it, and one without length is beside none, not even itself.
pub(super) fn max_concurrency<'a>(parts: impl Iterator<Item = &'a Spans>) -> u64 {
    let mut parts: Vec<_> = parts.map(Spans::sorted).collect();
    let mut next: BinaryHeap<Reverse<(i64, u64, usize)>> = BinaryHeap::new();
    for (i, part) in parts.iter_mut().enumerate() {
        next.extend(part.next().map(|(start, duration)| Reverse((start, duration, i))));
    }
    let mut ends: BinaryHeap<Reverse<i64>> = BinaryHeap::new();
    let mut most = 0;
    while let Some(mut top) = next.peek_mut() {
        let Reverse((start, duration, i)) = *top;
        if duration > 0 {
            while ends.peek().is_some_and(|&Reverse(end)| end <= start) {
                ends.pop();
            }
            ends.push(Reverse(start.saturating_add_unsigned(duration)));
            most = most.max(ends.len());
        }
        match parts[i].next() {
            Some((start, duration)) => *top = Reverse((start, duration, i)),
            None => drop(std::collections::binary_heap::PeekMut::pop(top)),
        }
    }
    most as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By the definition: all starts and ends in order, ends before starts at equal times.
    fn by_definition(events: &[(i64, u64)]) -> u64 {
        let mut steps: Vec<(i64, i64)> =
            events.iter().flat_map(|&(s, d)| [(s, 1), (s.saturating_add_unsigned(d), -1)]).collect();
        steps.sort_unstable();
        let (mut now, mut most) = (0, 0);
        for (_, step) in steps {
            now += step;
            most = most.max(now);
        }
        most as u64
    }

    proptest! {
        #[test]
        fn nothing_is_lost(events in prop::collection::vec((any::<i64>(), any::<u64>()), 0..50), scale in prop::sample::select(vec![1i64, 1000])) {
            let mut s = Spans::default();
            let events: Vec<_> = events.into_iter().map(|(a, b)| (a / scale * scale, b)).collect();
            events.iter().for_each(|&(a, b)| s.push(a, b));
            prop_assert_eq!(s.iter().collect::<Vec<_>>(), events);
        }

        #[test]
        fn concurrency_is_that_of_the_definition(
            parts in prop::collection::vec(prop::collection::vec((0i64..60, 0u64..20), 0..20), 0..5),
        ) {
            let spans: Vec<Spans> = parts.iter().map(|p| {
                let mut s = Spans::default();
                p.iter().for_each(|&(a, b)| s.push(a, b));
                s
            }).collect();
            let all: Vec<_> = parts.concat();
            prop_assert_eq!(max_concurrency(spans.iter()), by_definition(&all));
        }
    }

    #[test]
    fn an_event_takes_few_bytes() {
        let mut s = Spans::default();
        (0..1000).for_each(|i| s.push(43_200_000_000_000 + i * 250_000, 23_000));
        assert!(s.bytes.len() < 4 * 1000, "{}", s.bytes.len());
    }
}
