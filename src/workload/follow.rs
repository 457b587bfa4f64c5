//! Accesses of varying sizes in random order that begin where the one right before ended.
//!
//! By definition that is chance if, over all ranks and files, (1) at least half of the accesses that end where another one of the
//! same rank and file begins, of another size, are not followed by such a one right away, (2) at least one is to be expected to be
//! if all of them come in random order, or there are 16 such pairs of places and sizes are many, and no more than half as many
//! again are, and three standard deviations, and (3) at least a fourth of such pairs of places are visited in reverse, for the
//! first time; of 32 such pairs or more, (1) need not hold. Of few accesses it may not show, and then three and more that follow
//! each other are sequential. Of many sizes, nests are by chance, too.

use std::collections::{BTreeMap, BTreeSet};

/// Accesses of one rank to one file: offset and size.
pub(super) type Walk = [(u64, u64)];

/// Fewest accesses of a sequential pattern, and changes of the size in it.
const LENGTH: usize = 3;
const CHANGES: usize = 2;

/// Pairs of places that show well enough in which order they are visited.
const PAIRS: u64 = 32;

/// Those that do so for many sizes though hardly any access is to be expected to follow.
const SOME: u64 = 16;

/// Sizes that are many.
const MANY: usize = 16;

/// What of many walks could have been followed.
#[derive(Debug, Default)]
pub(super) struct Followed {
    could: u64,
    were: u64,
    expected: f64,
    pairs: u64,
    reverse: u64,
    sizes: BTreeSet<u64>,
}

impl Followed {
    pub(super) fn add(&mut self, walk: &Walk) {
        if walk.iter().all(|a| a.1 == walk[0].1) {
            return;
        }
        self.sizes.extend(walk.iter().map(|a| a.1));
        let mut sizes: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut first: BTreeMap<u64, usize> = BTreeMap::new();
        for (i, &(offset, size)) in walk.iter().enumerate() {
            sizes.entry(offset).or_default().push(size);
            first.entry(offset).or_insert(i);
        }
        let follows = |a: &(u64, u64), b: &(u64, u64)| a.0 + a.1 == b.0 && a.1 != b.1;
        let could = |a: &(u64, u64)| sizes.get(&(a.0 + a.1)).is_some_and(|s| s.iter().any(|s| *s != a.1));
        let begin_at = |at: u64| sizes.get(&at).map_or(0, Vec::len) as f64;
        let followers = walk.iter().filter(|a| could(a)).map(|a| begin_at(a.0 + a.1));
        self.expected += followers.sum::<f64>() / walk.len() as f64;
        self.could += walk.iter().filter(|a| could(a)).count() as u64;
        for &i in first.values().filter(|&&i| could(&walk[i])) {
            self.pairs += 1;
            self.reverse += u64::from(first.get(&(walk[i].0 + walk[i].1)).is_some_and(|&next| next < i));
        }
        self.were += walk.windows(2).filter(|w| follows(&w[0], &w[1])).count() as u64;
    }

    /// True if accesses follow each other by chance.
    pub(super) fn is_chance(&self) -> bool {
        let most = 1.5 * self.expected + 3.0 * self.expected.sqrt();
        (self.expected >= 1.0 || self.pairs >= SOME && self.sizes.len() >= MANY)
            && self.were as f64 <= most
            && self.reverse > 0
            && 4 * self.reverse >= self.pairs
            && (2 * self.were <= self.could || self.pairs >= PAIRS)
    }

    /// True if the sizes are many.
    pub(super) fn has_many_sizes(&self) -> bool {
        self.sizes.len() >= MANY
    }
}

/// The runs that are sequential, each with what goes on where it has ended, as numbers of accesses.
pub(super) fn runs(walk: &Walk) -> Vec<Vec<usize>> {
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut from = 0;
    for run in walk.chunk_by(|a, b| a.0 + a.1 == b.0) {
        let mut all = from..from + run.len();
        from = all.end;
        // What it goes on with is no start of another one.
        while let Some(i) = all.clone().next() {
            let ends_here = |r: &&mut Vec<usize>| r.last().is_some_and(|&l| walk[l].0 + walk[l].1 == walk[i].0);
            let Some(before) = runs.iter_mut().find(ends_here) else { break };
            before.push(i);
            all.next();
        }
        let run = &walk[all.clone()];
        let changes = run.windows(2).filter(|w| w[0].1 != w[1].1).count();
        if run.len() >= LENGTH && changes >= CHANGES && run.len() < 4 * (changes + 1) {
            runs.push(all.collect());
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_chance(walks: &[&[u64]]) -> bool {
        let mut followed = Followed::default();
        // Places 0, 10, 30, 60, ... of 10, 20, 30, ... bytes.
        let access = |&i: &u64| (10 * (i * (i + 1) / 2), 10 * (i + 1));
        walks.iter().for_each(|w| followed.add(&w.iter().map(access).collect::<Vec<_>>()));
        followed.is_chance()
    }

    #[test]
    fn chance_shows_in_many_walks() {
        // All orders of three: one of six is sequential.
        let all: [&[u64]; 6] = [&[0, 1, 2], &[0, 2, 1], &[1, 0, 2], &[1, 2, 0], &[2, 0, 1], &[2, 1, 0]];
        assert!(is_chance(&all));
        // Of two, half follow in any case.
        let two: [&[u64]; 2] = [&[0, 1], &[1, 0]];
        assert!(is_chance(&[two[0], two[1]].repeat(20)));
        assert!(is_chance(&[&[two[0]; 6][..], &[two[1]; 4]].concat().repeat(4)), "more than half");
        assert!(!is_chance(&[&[two[0]; 8][..], &[two[1]; 2]].concat().repeat(4)), "mostly in order");
        assert!(!is_chance(&all[..1]), "few");
        assert!(!is_chance(&[all[0]; 6]), "in order");
        assert!(!is_chance(&[all[0], all[0], all[0], all[0], all[5]]), "mostly in order");
        assert!(!is_chance(&[&[0, 2, 4], &[1, 3, 5]]), "nothing could follow");
    }

    #[test]
    fn runs_change_their_size_twice() {
        assert_eq!(runs(&[(0, 5), (5, 6), (11, 7), (0, 5), (5, 6), (18, 8)]), [[0, 1, 2, 5]]);
        assert!(runs(&[(0, 5), (5, 5), (10, 5), (15, 6)]).is_empty());
    }
}
