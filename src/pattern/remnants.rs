//! Short runs among what is left of a rank when the trace ends, that are no accident.
//!
//! An access that begins where another one ended, or at a stride that a pattern of the same operation, file and size has shown
//! before, is where it was to be expected: its place is no free choice. A run of such accesses counts, even of two, if so long a
//! one is not to be expected by chance among as many accesses at random places of the same grid and extent.

use std::collections::{BTreeMap, HashMap};

use super::left::{Left, one_loop, pattern_of};
use super::pattern::{Body, Pattern};
use super::sizes::Sizes;
use crate::record::FileId;

/// Runs of which more are to be expected by chance than this do not count.
pub(super) const CHANCE: f64 = 0.01;

/// Strides of a stream that are tried: those of the patterns with most records.
const STRIDES: usize = 8;

/// Operation as a number, file.
type Stream = (u8, FileId);

/// Patterns among the records left of a rank; what they take is marked. `patterns` are those that the rank has.
pub(super) fn find(left: &mut [Left], patterns: &[Pattern]) -> Vec<Pattern> {
    let mut streams: BTreeMap<Stream, Vec<usize>> = BTreeMap::new();
    for (i, l) in left.iter().enumerate().filter(|(_, l)| l.is_free()) {
        streams.entry((l.access.op as u8, l.access.file)).or_default().push(i);
    }
    streams.retain(|_, members| members.len() > 1);
    let strides = known_strides(patterns, &streams);
    let mut found = Vec::new();
    for (stream, members) in streams {
        back_to_back(left, &members, &mut found);
        let mut sizes: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for i in members.into_iter().filter(|&i| !left[i].taken) {
            sizes.entry(left[i].access.size).or_default().push(i);
        }
        for (size, members) in sizes {
            let known = strides.get(&(stream, size)).map_or(&[][..], Vec::as_slice);
            for &stride in std::iter::once(&0).chain(known) {
                at_stride(left, &members, stride, known.len() + 1, &mut found);
            }
        }
    }
    found
}

/// Innermost strides of the patterns of each stream and size.
fn known_strides(patterns: &[Pattern], streams: &BTreeMap<Stream, Vec<usize>>) -> HashMap<(Stream, u64), Vec<i64>> {
    let mut records: HashMap<(Stream, u64), BTreeMap<i64, u64>> = HashMap::new();
    for p in patterns {
        let stream = (p.op as u8, p.file);
        if let (Some(size), Some(l)) = (p.access_size(), p.levels().first())
            && streams.contains_key(&stream)
        {
            *records.entry((stream, size)).or_default().entry(l.stride).or_default() += p.records;
        }
    }
    let best = |strides: BTreeMap<i64, u64>| {
        let mut all: Vec<(i64, u64)> = strides.into_iter().filter(|s| s.0 != 0).collect();
        all.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
        all.into_iter().take(STRIDES).map(|(s, _)| s).collect()
    };
    records.into_iter().map(|(key, strides)| (key, best(strides))).collect()
}

/// Runs in which each record begins where the one before ended.
fn back_to_back(left: &mut [Left], members: &[usize], found: &mut Vec<Pattern>) {
    let end = |l: &Left| l.access.offset + l.access.size;
    let after = |l: &Left| (l.access.size > 0).then(|| end(l));
    let places = members.iter().flat_map(|&i| [left[i].access.offset, end(&left[i])]);
    let grid = grid(places);
    for run in runs(left, members, after) {
        if expected(members.len(), run.len(), grid) > CHANCE {
            continue;
        }
        let records: Vec<&Left> = run.iter().map(|&i| &left[i]).collect();
        let size = records[0].access.size;
        let body = if records.iter().all(|l| l.access.size == size) {
            one_loop(size, records.len(), size as i64)
        } else {
            let mut sizes = Sizes::new(true);
            records.iter().for_each(|l| sizes.add(l.access.size));
            Body::Sequential { sizes }
        };
        found.extend(pattern_of(&records, body, None));
        run.into_iter().for_each(|i| left[i].taken = true);
    }
}

/// Runs of records of one size at a stride, which is one of several that are tried.
fn at_stride(left: &mut [Left], members: &[usize], stride: i64, tried: usize, found: &mut Vec<Pattern>) {
    let free: Vec<usize> = members.iter().copied().filter(|&i| !left[i].taken).collect();
    if free.len() < 2 {
        return;
    }
    let grid = grid(free.iter().map(|&i| left[i].access.offset));
    for run in runs(left, &free, |l| l.access.offset.checked_add_signed(stride)) {
        if tried as f64 * expected(free.len(), run.len(), grid) > CHANCE {
            continue;
        }
        let records: Vec<&Left> = run.iter().map(|&i| &left[i]).collect();
        let size = records[0].access.size;
        found.extend(pattern_of(&records, one_loop(size, records.len(), stride), None));
        run.into_iter().for_each(|i| left[i].taken = true);
    }
}

/// Runs of at least two records, each linked to the first later one at the place after it; a record is in one of them at most.
fn runs(left: &[Left], members: &[usize], after: impl Fn(&Left) -> Option<u64>) -> Vec<Vec<usize>> {
    // From the back: what is found for a place is its first record after the one that asks.
    let mut at: HashMap<u64, usize> = HashMap::with_capacity(members.len());
    let mut next = vec![None; members.len()];
    for (n, &i) in members.iter().enumerate().rev() {
        next[n] = after(&left[i]).and_then(|place| at.get(&place).copied());
        at.insert(left[i].access.offset, n);
    }
    let mut used = vec![false; members.len()];
    let mut out = Vec::new();
    for first in 0..members.len() {
        let mut run = Vec::new();
        let mut here = Some(first).filter(|&n| next[n].is_some());
        while let Some(n) = here.filter(|&n| !used[n]) {
            used[n] = true;
            run.push(members[n]);
            here = next[n];
        }
        if run.len() > 1 {
            out.push(run);
        }
    }
    out
}

/// Places of the finest grid that all of these are on, within their extent.
pub(super) fn grid(places: impl Iterator<Item = u64>) -> f64 {
    let mut places = places;
    let Some(first) = places.next() else { return 1.0 };
    let (mut low, mut high, mut unit) = (first, first, 0);
    for p in places {
        (low, high) = (low.min(p), high.max(p));
        unit = gcd(unit, p.abs_diff(first));
    }
    if unit == 0 { 1.0 } else { ((high - low) / unit) as f64 + 1.0 }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Runs of this length to be expected among so many records at random places of the grid, in random order: the ways to choose
/// them in their order, times the chance that all but the first are where they have to be.
fn expected(records: usize, length: usize, grid: f64) -> f64 {
    let ways: f64 = (0..length).map(|i| ((records - i) as f64 / (i + 1) as f64).ln()).sum();
    (ways - (length - 1) as f64 * grid.ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::super::access::Access;
    use super::*;
    use crate::record::Op;

    fn left(places: &[(u64, u64)]) -> Vec<Left> {
        let access = |(i, &(offset, size)): (usize, &(u64, u64))| {
            let (op, file, start) = (Op::Write, FileId(0), i as f64);
            Left::new(Access { op, rank: 0, file, offset, size, start, end: start + 0.5 }, i as u64)
        };
        places.iter().enumerate().map(access).collect()
    }

    #[test]
    fn pairs_count_where_chance_does_not_make_them() {
        // Object headers of different sizes, two of them back to back, in a file of megabytes.
        let mut sparse = left(&[(1_048_576, 40), (96, 328), (424, 120), (7_345_120, 272), (3_000_008, 544)]);
        let found = find(&mut sparse, &[]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].expand().unwrap().collect::<Vec<_>>(), [(96, 328), (424, 120)]);
        assert_eq!(sparse.iter().map(|l| l.taken).collect::<Vec<_>>(), [false, true, true, false, false]);
        // The slots of a grid in random order.
        let mut dense = left(&[5, 1, 2, 7, 3, 0, 6, 4].map(|i| (i * 64, 64)));
        assert!(find(&mut dense, &[]).is_empty());
    }

    #[test]
    fn chance_falls_with_the_length_and_the_grid() {
        assert!((expected(10, 2, 1000.0) - 45.0 / 1000.0).abs() < 1e-12);
        assert!(expected(10, 3, 1000.0) < expected(10, 2, 1000.0));
        assert_eq!(grid([8, 24, 104].into_iter()), 7.0);
    }
}
