//! Which nests begin at each item of a stream, worked out once for all ways to cut it.

use super::log::Item;
use super::nest::{Level, Nest};
use super::reading::LITTLE;

/// Nests that begin at an item and differ in the count of their outermost loop only.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Growing {
    /// The first of them.
    pub levels: Vec<Level>,
    /// Records that it has foretold.
    pub foretold: u64,
    /// The item after it.
    pub end: usize,
    /// Items, passes and records from each to the next.
    pub items: usize,
    passes: u64,
    pub records: u64,
    /// How many there are.
    pub times: usize,
}

impl Growing {
    /// The loops of one of them.
    pub fn levels(&self, n: usize) -> Vec<Level> {
        let mut levels = self.levels.clone();
        if let Some(top) = levels.last_mut() {
            top.count += n as u64 * self.passes;
        }
        levels
    }

    /// The item after one of them.
    pub fn end(&self, n: usize) -> usize {
        self.end + n * self.items
    }

    /// Those of them that end no later than at an item.
    pub fn until(&self, end: usize) -> usize {
        match end.checked_sub(self.end) {
            None => 0,
            Some(_) if self.times == 1 => 1,
            Some(more) => self.times.min(more / self.items + 1),
        }
    }
}

/// Those of all items.
#[derive(Debug)]
pub(super) struct Growth(Vec<Vec<Growing>>);

/// Steps, of those that readings may take, that it takes to try an item.
const TRY: usize = 4;

impl Growth {
    /// Of accesses of one size; `None` if that takes more than `most` steps.
    pub fn of(items: &[Item], size: u64, steps: &mut usize, most: usize) -> Option<Growth> {
        let mut all = Vec::with_capacity(items.len());
        for (i, first) in items.iter().enumerate() {
            let mut nest = Nest::of_run(first.offset, first.stride, first.count);
            let mut of_item: Vec<Growing> = Vec::new();
            let mut before = (0, i);
            for (j, item) in items.iter().enumerate().skip(i) {
                *steps += TRY;
                if *steps > most {
                    return None;
                }
                if j > i && !nest.take_run(item.offset, item.stride, item.count) {
                    break;
                }
                if nest.partial() > 0 || nest.evidence(size) < LITTLE {
                    continue;
                }
                // Of the same loops; else the last one is no matter.
                let (passes, records) = (nest.passes().wrapping_sub(before.0), nest.records());
                let grown = of_item.last_mut().filter(|g| g.levels.len() == nest.inner().len() + 1);
                match grown.filter(|g| g.times == 1 || (g.items, g.passes) == (j + 1 - before.1, passes)) {
                    Some(g) => {
                        let unit = records / nest.passes();
                        (g.items, g.passes, g.records) = (j + 1 - before.1, passes, passes * unit);
                        g.times += 1;
                    }
                    None => {
                        let (levels, foretold) = (nest.levels(), nest.evidence(size));
                        let end = j + 1;
                        of_item.push(Growing { levels, foretold, end, items: 0, passes: 0, records: 0, times: 1 });
                    }
                }
                before = (nest.passes(), j + 1);
            }
            all.push(of_item);
        }
        Some(Growth(all))
    }

    /// Nests that begin at an item, the shortest first.
    pub fn from(&self, item: usize) -> &[Growing] {
        &self.0[item]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All nests that begin at each item, one by one.
    fn plain(items: &[Item], size: u64) -> Vec<Vec<(usize, Vec<Level>, u64)>> {
        let from = |i: usize| {
            let mut nest = Nest::of_run(items[i].offset, items[i].stride, items[i].count);
            let mut out = Vec::new();
            for (j, item) in items.iter().enumerate().skip(i) {
                if j > i && !nest.take_run(item.offset, item.stride, item.count) {
                    break;
                }
                if nest.partial() == 0 && nest.evidence(size) >= LITTLE {
                    out.push((j + 1, nest.levels(), nest.evidence(size)));
                }
            }
            out
        };
        (0..items.len()).map(from).collect()
    }

    proptest! {
        #[test]
        fn all_nests_are_there(
            lists in prop::collection::vec((0u64..4, 1u64..4, 1u64..4, 1u64..3), 1..6),
            single in any::<bool>(),
        ) {
            let mut items: Vec<Item> = Vec::new();
            for (base, n, rows, passes) in lists {
                for place in (0..passes).flat_map(|_| (0..rows).flat_map(move |r| (0..n).map(move |i| base + 8 * r + i))) {
                    let (offset, seq) = (100 * place, items.len() as u64 + 1);
                    match items.last_mut() {
                        Some(last) if !single && last.extended_by(offset, 100) => last.extend(offset, 0.0, seq),
                        _ => items.push(
                            Item { offset, stride: 0, size: 100, count: 1, start: 0.0, end: 0.0, span: (seq, seq) }
                        ),
                    }
                }
            }
            let growth = Growth::of(&items, 100, &mut 0, usize::MAX).unwrap();
            for (i, all) in plain(&items, 100).into_iter().enumerate() {
                let each = |g: &Growing| -> Vec<(usize, Vec<Level>, u64)> {
                    (0..g.times).map(|n| (g.end(n), g.levels(n), g.foretold + n as u64 * g.records)).collect()
                };
                let found: Vec<_> = growth.from(i).iter().flat_map(each).collect();
                prop_assert_eq!(&found, &all);
                for g in growth.from(i) {
                    for end in 0..=items.len() {
                        prop_assert_eq!(g.until(end), (0..g.times).filter(|n| g.end(*n) <= end).count());
                    }
                }
            }
            prop_assert!(Growth::of(&items, 100, &mut 0, 3).is_none());
        }
    }
}
