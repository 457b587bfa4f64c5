//! Short patterns among accesses without order: among many of these some follow each other by chance.

use std::collections::{BTreeMap, HashMap};

use super::left::Left;
use super::pattern::Pattern;
use super::remnants::{CHANCE, expected, grid};
use crate::record::FileId;

/// Accesses of a size have no order if a share of one in so many of them is in no pattern.
const SHARE: u64 = 3;

/// Patterns of which more are to be expected by chance than this do not count: many ranks and files may be alike.
const RARE: f64 = CHANCE / 100.0;

/// Patterns of more accesses are no accident.
const SHORT: u64 = 64;

/// Operation as a number, file, size.
type Key = (u8, FileId, u64);

/// Accesses of an operation and size by all ranks in all files, and those of them in no pattern.
#[derive(Debug, Default)]
pub(super) struct Pools(HashMap<(u8, u64), (u64, u64)>);

impl Pools {
    /// Counts what a rank has.
    pub fn add(&mut self, left: &[Left], patterns: &[Pattern]) {
        for l in left.iter().filter(|l| l.access.sane()) {
            let pool = self.0.entry((l.access.op as u8, l.access.size)).or_default();
            *pool = (pool.0 + 1, pool.1 + u64::from(!l.is_held()));
        }
        for p in patterns {
            if let Some(size) = p.access_size() {
                self.0.entry((p.op as u8, size)).or_default().0 += p.records;
            }
        }
    }

    fn no_order(&self, op: u8, size: u64) -> bool {
        self.0.get(&(op, size)).is_some_and(|&(all, none)| none > 0 && none >= all / SHARE)
    }
}

/// For each pattern of a rank whether chance makes such ones among what the rank has left: where accesses of an operation and size have no
/// order, patterns must be longer than is to be expected at random places of the same grid.
pub(super) fn accidents(pools: &Pools, left: &[Left], patterns: &[Pattern]) -> Vec<bool> {
    let mut groups: BTreeMap<Key, Vec<u64>> = BTreeMap::new();
    for a in left.iter().map(|l| &l.access).filter(|a| a.sane() && pools.no_order(a.op as u8, a.size)) {
        groups.entry((a.op as u8, a.file, a.size)).or_default().push(a.offset);
    }
    // Of each group the patterns, its records and the places of its grid.
    let mut known: HashMap<Key, Vec<usize>> = HashMap::new();
    for (i, p) in patterns.iter().enumerate() {
        if let Some(size) = p.access_size().filter(|&size| pools.no_order(p.op as u8, size)) {
            known.entry((p.op as u8, p.file, size)).or_default().push(i);
        }
    }
    let mut out = vec![false; patterns.len()];
    let looks = groups.len().max(known.len()) as f64;
    for (key, members) in known {
        let of_group = || members.iter().map(|&i| &patterns[i]);
        let places = groups.get(&key).map_or(&[][..], Vec::as_slice);
        let records = places.len() + of_group().map(|p| p.records as usize).sum::<usize>();
        let on_grid = places.iter().copied().chain(of_group().map(|p| p.start_offset));
        let reach = of_group().flat_map(|p| <[u64; 2]>::from(p.extent()));
        let strides = of_group().flat_map(|p| p.levels()).map(|l| l.stride.unsigned_abs());
        let grid = finest(grid(on_grid, reach.clone()), strides, reach);
        // Where there is but one place, accesses are there and nowhere else.
        let anywhere = grid > 1.0;
        for &i in members.iter().filter(|&&i| patterns[i].records <= SHORT) {
            let foretold = (patterns[i].records as usize + 1).saturating_sub(patterns[i].levels().len()).max(1);
            out[i] = anywhere && looks * expected(records, foretold, grid) > RARE;
        }
    }
    out
}

/// Places of a grid that holds the strides of patterns, too, if it is finer.
fn finest(grid: f64, strides: impl Iterator<Item = u64>, reach: impl Iterator<Item = u64>) -> f64 {
    let (low, high) = reach.fold((u64::MAX, 0), |(low, high), x| (low.min(x), high.max(x)));
    let least = strides.filter(|&s| s > 0).min();
    grid.max(least.map_or(1.0, |s| (high.saturating_sub(low) / s) as f64 + 1.0))
}

#[cfg(test)]
mod tests {
    use super::super::{Access, Options, RankDetector};
    use crate::record::{FileId, Op};

    fn found(places: &[(u32, u64)]) -> (usize, u64) {
        let mut d = RankDetector::new(0, Options::default());
        for (i, &(file, place)) in places.iter().enumerate() {
            let (op, file, offset, start) = (Op::Read, FileId(file), place * 4096, i as f64);
            d.push(&Access { op, rank: 0, file, offset, size: 4096, start, end: start + 0.5 });
        }
        let found = d.finish();
        (found.patterns.len(), found.unmatched_records)
    }

    #[test]
    fn chance_makes_no_patterns() {
        // The samples of some files in no order: some follow each other.
        let mut x = 1u64;
        let mut below = |n: u64| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) % n
        };
        let random: Vec<(u32, u64)> = (0..2000).map(|_| (below(20) as u32, below(16))).collect();
        assert_eq!(found(&random), (0, 2000));
        // A long run among them is none of chance.
        let mut with_run = random.clone();
        with_run.splice(500..500, (0..16).map(|k| (3, k)));
        assert_eq!(found(&with_run), (1, 2000));
    }
}
