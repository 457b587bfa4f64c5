//! Whether accesses of varying sizes that begin where the one right before ended do so by chance.
//!
//! Samples of many sizes that lie back to back and are read in random order follow each other now and then. Such an order shows
//! in what does not: over all ranks and files, of the accesses that could be followed where they end, at least half are not, right
//! away, nor are many more than random orders of the same accesses make, and of two places back to back the second is the first to
//! be visited at least a fourth of the times (half, on average). Of 32 such pairs or more, that will do: where ranks have but two or
//! three samples of a file each, more than half may follow right away. Then a sequential pattern must be longer than is to be
//! expected of as many accesses in random order; and where sizes are many, accesses of one of them are one nest, or visits of their
//! places.

use std::collections::BTreeSet;

use super::detector::RankDetector;
use super::doubt::{Key, RARE};
use super::log::{Item, Log};
use super::order::Pool;
use super::pattern::Pattern;
use super::remnants::expected;
use super::table::{Keys, Table};
use crate::record::{FileId, Op};

/// How many of what random orders of all accesses make, and standard deviations of it, are no more: where all of a file comes in a
/// random order over and over, there are some more of them.
const SHARE: f64 = 1.5;
const SIGMAS: f64 = 3.0;

/// Pairs of places that show well enough in which order they are visited.
const PAIRS: u64 = 32;

/// Those that show it though hardly any access is to be expected to follow by chance, if sizes are many: of one list, in one pass.
const SOME: u64 = 16;

/// Sizes that are many: nests of accesses of one of them are by chance, too.
const MANY: usize = 16;

/// What of the accesses of one operation could have been followed.
#[derive(Debug, Clone, Default)]
struct Followed {
    /// Accesses that end where one of the same rank and file begins which has another size.
    could: u64,
    /// Those of them after which such a one comes right away.
    were: u64,
    /// As many as are to be expected in random order.
    expected: f64,
    /// Places that end where another one begins, and those of them that are visited later.
    pairs: u64,
    back: u64,
    records: u64,
    /// Sizes, until they are many.
    sizes: BTreeSet<u64>,
}

impl Followed {
    fn see(&mut self, size: u64) {
        if self.sizes.len() < MANY {
            self.sizes.insert(size);
        }
    }

    fn add(&mut self, other: &Followed) {
        self.could += other.could;
        self.were += other.were;
        self.expected += other.expected;
        self.pairs += other.pairs;
        self.back += other.back;
        self.records += other.records;
        other.sizes.iter().for_each(|size| self.see(*size));
    }

    fn is_chance(&self) -> bool {
        let most = SHARE * self.expected + SIGMAS * self.expected.sqrt();
        (self.expected >= 1.0 || self.pairs >= SOME && self.sizes.len() >= MANY)
            && self.were as f64 <= most
            && self.back > 0
            && 4 * self.back >= self.pairs
            && (2 * self.were <= self.could || self.pairs >= PAIRS)
    }

    /// Of a rank in a file.
    fn of(walk: &[Item]) -> Followed {
        // The first access that begins at a place, its size, if that is always the same, and how many there are.
        let mut at: Table<u64, (usize, Option<u64>, u64)> = Table::default();
        for (n, i) in walk.iter().enumerate() {
            let (_, size, all) = at.entry(i.offset).or_insert((n, Some(i.size), 0));
            *size = size.filter(|s| *s == i.size);
            *all += 1;
        }
        let end = |i: &Item| i.offset.wrapping_add(i.size);
        let next = |i: &Item| at.get(&end(i)).filter(|(_, size, _)| i.size > 0 && *size != Some(i.size));
        let mut out = Followed { records: walk.len() as u64, ..Followed::default() };
        for (n, i) in walk.iter().enumerate() {
            out.see(i.size);
            let Some(&(first, _, all)) = next(i) else { continue };
            out.could += 1;
            out.expected += all as f64 / walk.len() as f64;
            out.were += u64::from(walk.get(n + 1).is_some_and(|j| j.offset == end(i) && j.size != i.size));
            if at.get(&i.offset).is_some_and(|a| a.0 == n) {
                out.pairs += 1;
                out.back += u64::from(first < n);
            }
        }
        out
    }
}

/// Operations, as numbers, of which accesses of varying sizes follow each other by chance, how many accesses they have, and if their
/// sizes are many.
#[derive(Debug, Default)]
pub(super) struct Jumbled(Table<u8, (u64, bool)>);

impl Jumbled {
    /// Looks at what all ranks did, as far as that is known.
    pub fn of(ranks: &[Followers]) -> Jumbled {
        let mut all: Table<u8, Followed> = Table::default();
        ranks.iter().flat_map(|r| &r.0).for_each(|(op, f)| all.entry(*op).or_default().add(f));
        let by_chance = all.into_iter().filter(|(_, f)| f.is_chance());
        Jumbled(by_chance.map(|(op, f)| (op, (f.records, f.sizes.len() >= MANY))).collect())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those that have an order or have none together with these: where samples of many sizes come in random order, those of a size
    /// are few, and another file has nothing to do with them.
    pub fn pool(&self, &(op, file, size): &Key) -> Pool {
        (op, size, self.has(op).then_some(file))
    }

    pub fn has(&self, op: u8) -> bool {
        self.0.contains_key(&op)
    }

    /// The same, of many sizes.
    pub fn has_many(&self, op: u8) -> bool {
        self.0.get(&op).is_some_and(|f| f.1)
    }
}

/// What of the accesses of a rank could have been followed, by operation.
#[derive(Debug, Default)]
pub(super) struct Followers(Table<u8, Followed>);

impl RankDetector {
    /// Counts which of its accesses were followed.
    pub(super) fn followers(&self) -> Followers {
        let mut out = Followers::default();
        for (&(op, _), log) in self.streams.iter().zip(&self.logs) {
            let Some(walk) = log.as_ref().filter(|log| log.sizes().0.len() > 1).and_then(|log| log.known()) else {
                continue;
            };
            out.0.entry(op as u8).or_default().add(&Followed::of(&walk));
        }
        out
    }

    /// Takes sequential patterns that chance may have made out of the closed ones, and scatters them.
    pub(super) fn scatter_jumbled(&mut self, jumbled: &Jumbled, closed: &mut Vec<Pattern>) {
        if jumbled.is_empty() {
            return;
        }
        let logs: Table<(Op, FileId), &Log> =
            self.streams.iter().zip(&self.logs).filter_map(|(s, log)| Some((*s, log.as_deref()?))).collect();
        let mut walks: Table<(Op, FileId), Option<Walked>> = Table::default();
        let mut is_chance = |p: &Pattern| {
            let Some(&(all, _)) = jumbled.0.get(&(p.op as u8)).filter(|_| p.access_size().is_none()) else {
                return false;
            };
            let key = (p.op, p.file);
            let walk = walks.entry(key).or_insert_with(|| Some(Walked::of(&logs.get(&key)?.known()?)));
            walk.as_ref().is_some_and(|walk| walk.makes(p, all))
        };
        let by_chance: Vec<Pattern> = closed.extract_if(.., |p| is_chance(p)).collect();
        by_chance.iter().for_each(|p| self.scatter(p));
    }
}

/// The accesses of a rank to a file.
struct Walked {
    /// Their numbers among the records of the rank.
    numbers: Vec<u64>,
    /// Places that they begin at.
    places: usize,
}

impl Walked {
    fn of(walk: &[Item]) -> Walked {
        let places = walk.iter().map(|i| i.offset).collect::<Keys<u64>>().len();
        Walked { numbers: walk.iter().map(|i| i.span.0).collect(), places }
    }

    /// True if such a pattern is to be expected where all ranks have so many accesses in random order.
    fn makes(&self, p: &Pattern, all: u64) -> bool {
        let (length, records, places) = (p.records as usize, self.numbers.len(), self.places as f64);
        if length > records {
            return false;
        }
        // Anywhere among the records, or any one of them and the others as soon after it as they are.
        let before = |seq: u64| self.numbers.partition_point(|n| *n < seq);
        let after = before(p.span.1 + 1).saturating_sub(before(p.span.0)).max(length);
        let soon = records as f64 * expected(after, length, places) * length as f64 / after as f64;
        expected(records, length, places).min(soon) * all as f64 / records as f64 > RARE
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Access, Kind, Options, RankDetector};
    use crate::record::{FileId, Op};

    /// Lengths of the sequential patterns of reads (file, number of the sample), whose sizes vary, and how many are in no pattern.
    fn sequential(reads: impl IntoIterator<Item = (u32, u64)>) -> (Vec<u64>, u64) {
        let size = |file: u32, i: u64| 1000 + (i * 7919 + u64::from(file) * 104_729) % 997;
        let mut d = RankDetector::new(0, Options::default());
        for (n, (file, i)) in reads.into_iter().enumerate() {
            let offset = (0..i).map(|j| size(file, j)).sum();
            let (op, file, size, start) = (Op::Read, FileId(file), size(file, i), n as f64);
            d.push(&Access { op, rank: 0, file, offset, size, start, end: start + 0.5 });
        }
        let found = d.finish();
        let lengths = found.patterns.iter().filter(|p| p.kind() == Kind::Sequential).map(|p| p.records);
        (lengths.collect(), found.unmatched_records)
    }

    /// So many samples of each of so many files, in random order.
    fn shuffled(files: u32, samples: u64) -> Vec<(u32, u64)> {
        let mut all: Vec<(u32, u64)> = (0..files).flat_map(|f| (0..samples).map(move |i| (f, i))).collect();
        let mut x = 1u64;
        for n in (1..all.len()).rev() {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            all.swap(n, (x >> 33) as usize % (n + 1));
        }
        all
    }

    #[test]
    fn random_orders_follow_by_chance() {
        let mut random = shuffled(40, 4);
        let chance = random.clone();
        assert!((0..40).any(|f| {
            let of: Vec<u64> = chance.iter().filter(|r| r.0 == f).map(|r| r.1).collect();
            of.windows(3).any(|w| w[1] == w[0] + 1 && w[2] == w[1] + 1)
        }));
        assert_eq!(sequential(random.clone()), (vec![], 160));
        // A long run is none of chance.
        random.extend((0..16).map(|i| (40, i)));
        assert_eq!(sequential(random), (vec![16], 160));
    }

    #[test]
    fn one_pass_over_many_sizes_may_show_it() {
        assert_eq!(sequential(shuffled(1, 40)), (vec![], 40));
        // The same in order, and in two halves in turns.
        assert_eq!(sequential((0..40).map(|i| (0, i))), (vec![40], 0));
        assert_eq!(sequential((0..40).map(|i| (0, i / 2 + i % 2 * 20))), (vec![20, 20], 0));
    }

    #[test]
    fn few_are_what_they_look_like() {
        assert_eq!(sequential([(0, 0), (0, 1), (0, 2)]), (vec![3], 0));
        // It goes on where it has ended.
        assert_eq!(sequential([(0, 5), (0, 0), (0, 1), (0, 2), (0, 4), (0, 3)]), (vec![4], 2));
        // Files that are read in order, whatever the order of the files.
        let files = (0..40u32).flat_map(|f| (0..4).map(move |i| (f * 7 % 40, i)));
        assert_eq!(sequential(files), (vec![4; 40], 0));
    }
}
