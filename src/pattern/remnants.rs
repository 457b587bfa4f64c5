//! Short runs among what is left of a rank when the trace ends, that are no accident.
//!
//! An access that begins where another one ended, or at a stride that a pattern of the same operation, file and size has shown
//! before, is where it was to be expected: its place is no free choice. A run of such accesses counts, even of two, if so long a
//! one is not to be expected by chance among as many accesses at random places of the same grid and extent. So do pairs at a
//! distance that shows more than once. A read and the write of the same bytes right after it, more than once in a file, are a
//! read-modify-write: what a library does that may write whole blocks only.

use std::collections::BTreeMap;

use super::follow::Jumbled;
use super::left::{Left, one_loop, pattern_of};
use super::options::Age;
use super::pattern::{Body, Pattern};
use super::search::small_nests;
use super::sizes::Sizes;
use super::table::{Keys, Table};
use crate::record::{FileId, Op};

/// Runs of which more are to be expected by chance than this do not count.
pub(super) const CHANCE: f64 = 0.01;

/// Accesses of a run of which it is told exactly how many are to be expected.
const EXACT: usize = 16;

/// Strides of a stream that are tried: those of the patterns with most records.
const STRIDES: usize = 8;

/// Records after a record among which a distance shows, and records of a size among which it is looked for.
const NEAR: usize = 8;
const FEW: std::ops::RangeInclusive<usize> = 4..=1024;

/// Operation as a number, file.
type Stream = (u8, FileId);

/// What a pattern tells about places: first byte, one past the last, start.
pub(super) type Extent = (u64, u64, u64);

/// Stream and size.
type Key = (Stream, u64);

/// Patterns among the records left of a rank; what they take is marked. `patterns` are those that the rank has; records further
/// apart than `age` have nothing to do with each other.
pub(super) fn find(left: &mut [Left], patterns: &[Pattern], age: Age, jumbled: &Jumbled) -> Vec<Pattern> {
    let mut streams: BTreeMap<Stream, Vec<usize>> = BTreeMap::new();
    let looked_at = |l: &Left| l.is_free() || l.is_free_with_others() && !jumbled.has(l.access.op as u8);
    for (i, l) in left.iter().enumerate().filter(|(_, l)| looked_at(l)) {
        streams.entry((l.access.op as u8, l.access.file)).or_default().push(i);
    }
    let one_size = |m: &[usize]| m.iter().all(|&i| left[i].access.size == left[m[0]].access.size);
    streams
        .retain(|_, members| members.len() > 1 && (members.iter().any(|&i| left[i].is_free()) || !one_size(members)));
    // Of which other ranks have some.
    let shared: Keys<Key> =
        left.iter().filter(|l| l.taken).map(|l| ((l.access.op as u8, l.access.file), l.access.size)).collect();
    let strides = known_strides(patterns, &streams);
    let mut extents: Table<Stream, Vec<Extent>> = Table::default();
    let mut of_size: Table<Key, Vec<Extent>> = Table::default();
    for p in patterns.iter().filter(|p| streams.contains_key(&(p.op as u8, p.file))) {
        let (low, high) = p.extent();
        let (stream, extent) = ((p.op as u8, p.file), (low, high, p.start_offset));
        extents.entry(stream).or_default().push(extent);
        if let Some(size) = p.access_size() {
            of_size.entry((stream, size)).or_default().push(extent);
        }
    }
    // The more streams are looked at, the more chance makes.
    let looks = streams.len();
    let mut found = rewrites(left, age);
    for (stream, mut members) in streams {
        let known = extents.get(&stream).map_or(&[][..], Vec::as_slice);
        if !jumbled.has(stream.0) {
            back_to_back(left, &members, looks, known, age, &mut found);
        }
        members.retain(|&i| left[i].is_free());
        // Stable: those of one size stay in the order of time.
        members.sort_by_key(|&i| left[i].access.size);
        let sizes: Vec<Vec<usize>> =
            members.chunk_by(|&i, &j| left[i].access.size == left[j].access.size).map(<[usize]>::to_vec).collect();
        for members in sizes.into_iter().filter(|m| m.len() > 1) {
            let key = (stream, left[members[0]].access.size);
            if shared.contains(&key) && !jumbled.has(stream.0) && nothing_over(left, &members, age, &mut found) {
                continue;
            }
            let strides = strides.get(&key).map_or(&[][..], Vec::as_slice);
            let known = of_size.get(&key).map_or(&[][..], Vec::as_slice);
            // What follows by chance does so whatever its size.
            let by_chance = |stride: &i64| jumbled.has(stream.0) && *stride as u64 == key.1;
            for &stride in std::iter::once(&0).chain(strides).filter(|s| !by_chance(s)) {
                at_stride(left, &members, (stride, Some(looks * (strides.len() + 1))), known, age, &mut found);
            }
            for stride in repeated(left, &members, looks, known) {
                at_stride(left, &members, (stride, None), known, age, &mut found);
            }
        }
    }
    found
}

/// Takes small nests that leave nothing over of an operation, file and size; false if these are none.
fn nothing_over(left: &mut [Left], members: &[usize], age: Age, found: &mut Vec<Pattern>) -> bool {
    if members.iter().any(|&i| !left[i].is_free()) || members.windows(2).any(|w| !near(&left[w[0]], &left[w[1]], age)) {
        return false;
    }
    let places: Vec<u64> = members.iter().map(|&i| left[i].access.offset).collect();
    let size = left[members[0]].access.size;
    let Some(nests) = small_nests(&places, size) else { return false };
    let mut from = 0;
    for nest in nests {
        let members = &members[from..from + nest.records() as usize];
        from += members.len();
        let records: Vec<&Left> = members.iter().map(|&i| &left[i]).collect();
        found.extend(pattern_of(&records, Body::Strided { size, levels: nest.levels() }, None));
        members.iter().for_each(|&i| left[i].taken = true);
    }
    true
}

/// Strides of the patterns of each stream and size.
fn known_strides(patterns: &[Pattern], streams: &BTreeMap<Stream, Vec<usize>>) -> Table<Key, Vec<i64>> {
    let mut records: Table<Key, BTreeMap<i64, u64>> = Table::default();
    for p in patterns {
        let stream = (p.op as u8, p.file);
        if let Some(size) = p.access_size().filter(|_| streams.contains_key(&stream)) {
            let seen = records.entry((stream, size)).or_default();
            p.levels().iter().for_each(|l| *seen.entry(l.stride).or_default() += p.records);
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
fn back_to_back(
    left: &mut [Left],
    members: &[usize],
    looks: usize,
    known: &[Extent],
    age: Age,
    found: &mut Vec<Pattern>,
) {
    let free: Vec<usize> = members.iter().copied().filter(|&i| !left[i].taken).collect();
    let end = |l: &Left| l.access.offset + l.access.size;
    let after = |l: &Left| (l.access.size > 0).then(|| end(l));
    let places = free.iter().flat_map(|&i| [left[i].access.offset, end(&left[i])]);
    let grid = grid(places, known.iter().flat_map(|k| [k.0, k.1]));
    for run in runs(left, &free, age, after) {
        if looks as f64 * expected(free.len(), run.len(), grid) > CHANCE {
            continue;
        }
        let records: Vec<&Left> = run.iter().map(|&i| &left[i]).collect();
        let size = records[0].access.size;
        let body = if records.iter().all(|l| l.access.size == size) {
            if !records.iter().all(|l| l.is_free()) {
                continue;
            }
            one_loop(size, records.len(), size as i64)
        } else {
            let mut sizes = Sizes::new(true);
            records.iter().for_each(|l| sizes.add(l.access.size));
            Body::Sequential { sizes: Box::new(sizes) }
        };
        found.extend(pattern_of(&records, body, None));
        run.into_iter().for_each(|i| left[i].taken = true);
    }
}

/// Runs of records of one size at a stride, which is one of several that are tried, or known to be none of chance.
fn at_stride(
    left: &mut [Left],
    members: &[usize],
    (stride, tried): (i64, Option<usize>),
    known: &[Extent],
    age: Age,
    found: &mut Vec<Pattern>,
) {
    let free: Vec<usize> = members.iter().copied().filter(|&i| !left[i].taken).collect();
    if free.len() < 2 {
        return;
    }
    let grid = if stride == 0 { visited_grid(left, &free, known) } else { stream_grid(left, &free, known) };
    for run in runs(left, &free, age, |l| l.access.offset.checked_add_signed(stride)) {
        if tried.is_some_and(|tried| tried as f64 * expected(free.len(), run.len(), grid) > CHANCE) {
            continue;
        }
        let records: Vec<&Left> = run.iter().map(|&i| &left[i]).collect();
        let size = records[0].access.size;
        found.extend(pattern_of(&records, one_loop(size, records.len(), stride), None));
        run.into_iter().for_each(|i| left[i].taken = true);
    }
}

/// Distances that show more than once, if that is no accident.
fn repeated(left: &[Left], members: &[usize], looks: usize, known: &[Extent]) -> Vec<i64> {
    let free: Vec<usize> = members.iter().copied().filter(|&i| !left[i].taken).collect();
    let pairs = (free.len() * NEAR.min(free.len())) as f64;
    if !FEW.contains(&free.len()) || looks as f64 * pairs * pairs / 2.0 / stream_grid(left, &free, known) > CHANCE {
        return Vec::new();
    }
    let mut seen: BTreeMap<i64, u64> = BTreeMap::new();
    for (n, &i) in free.iter().enumerate() {
        for &j in free[n + 1..].iter().take(NEAR) {
            let between = left[j].access.offset.wrapping_sub(left[i].access.offset) as i64;
            *seen.entry(between).or_default() += 1;
        }
    }
    seen.into_iter().filter(|&(stride, n)| stride != 0 && n > 1).map(|(stride, _)| stride).collect()
}

/// Reads and the writes of the same bytes right after them, where there are several in a file.
fn rewrites(left: &mut [Left], age: Age) -> Vec<Pattern> {
    let mut pairs: BTreeMap<FileId, Vec<usize>> = BTreeMap::new();
    for (i, two) in left.windows(2).enumerate() {
        let (a, b) = (&two[0].access, &two[1].access);
        let same = (a.file, a.offset, a.size) == (b.file, b.offset, b.size) && a.size > 0;
        let in_turn = (a.op, b.op) == (Op::Read, Op::Write) && two[1].seq == two[0].seq + 1;
        if same && in_turn && near(&two[0], &two[1], age) && two.iter().all(Left::is_free) {
            pairs.entry(a.file).or_default().push(i);
        }
    }
    let mut found = Vec::new();
    for i in pairs.into_values().filter(|pairs| pairs.len() > 1).flatten() {
        let body = one_loop(left[i].access.size, 2, 0);
        found.extend(pattern_of(&[&left[i], &left[i + 1]], body, None).map(|p| Pattern { then: Some(Op::Write), ..p }));
        (left[i].taken, left[i + 1].taken) = (true, true);
    }
    found
}

/// True if the first record would still have waited when the second came.
pub(super) fn near(a: &Left, b: &Left, age: Age) -> bool {
    b.seq.saturating_sub(a.seq) <= age.records && b.access.start - a.access.start <= age.seconds
}

/// The grid of the records of one size, those of patterns too.
fn stream_grid(left: &[Left], free: &[usize], known: &[Extent]) -> f64 {
    let places = free.iter().map(|&i| left[i].access.offset).chain(known.iter().map(|k| k.2));
    grid(places, known.iter().flat_map(|k| [k.0, k.1]))
}

/// The same for visits of one place: between the places of few records there may be others, each as far from the next as an
/// access is long.
fn visited_grid(left: &[Left], free: &[usize], known: &[Extent]) -> f64 {
    let places = free.iter().map(|&i| left[i].access.offset).chain(known.iter().map(|k| k.2));
    let next = free.first().map(|&i| left[i].access.offset.saturating_add(left[i].access.size));
    grid(places.chain(next), known.iter().flat_map(|k| [k.0, k.1]))
}

/// Runs of at least two records, each linked to the first later one at the place after it; a record is in one of them at most.
fn runs(left: &[Left], members: &[usize], age: Age, after: impl Fn(&Left) -> Option<u64>) -> Vec<Vec<usize>> {
    // From the back: what is found for a place is its first record after the one that asks.
    let mut at: Table<u64, usize> = Table::with_capacity_and_hasher(members.len(), Default::default());
    let mut next = vec![None; members.len()];
    for (n, &i) in members.iter().enumerate().rev() {
        let later = after(&left[i]).and_then(|place| at.get(&place).copied());
        next[n] = later.filter(|&m| near(&left[i], &left[members[m]], age));
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

/// Places of the grid that all of these are on, as far as they and some others reach.
pub(super) fn grid(places: impl Iterator<Item = u64>, reach: impl Iterator<Item = u64>) -> f64 {
    let mut places = places;
    let Some(first) = places.next() else { return 1.0 };
    let (mut low, mut high, mut unit) = (first, first, 0);
    for p in places {
        (low, high) = (low.min(p), high.max(p));
        unit = gcd(unit, p.abs_diff(first));
    }
    for p in reach {
        (low, high) = (low.min(p), high.max(p));
    }
    (high - low).checked_div(unit).map_or(1.0, |n| n as f64 + 1.0)
}

pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Runs of this length to be expected among so many records at random places of the grid, in random order: the ways to choose
/// them in their order, times the chance that all but the first are where they have to be.
pub(super) fn expected(records: usize, length: usize, grid: f64) -> f64 {
    let factors = (0..length).map(|i| (records - i) as f64 / (i + 1) as f64);
    // Exact where few are asked about: what is expected may be just at a bound.
    if length <= EXACT {
        return factors.product::<f64>() / grid.powi(length as i32 - 1);
    }
    let ways: f64 = factors.map(f64::ln).sum();
    (ways - (length - 1) as f64 * grid.ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::super::access::Access;
    use super::*;

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
        let age = Age { records: 100, seconds: f64::INFINITY };
        let found = find(&mut sparse, &[], age, &Jumbled::default());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].expand().unwrap().collect::<Vec<_>>(), [(96, 328), (424, 120)]);
        assert_eq!(sparse.iter().map(|l| l.taken).collect::<Vec<_>>(), [false, true, true, false, false]);
        // The slots of a grid in random order.
        let mut dense = left(&[5, 1, 2, 7, 3, 0, 6, 4].map(|i| (i * 64, 64)));
        assert!(find(&mut dense, &[], age, &Jumbled::default()).is_empty());
        // What came too long ago is forgotten.
        let mut old = left(&[(1_048_576, 40), (96, 328), (3_000_008, 544), (424, 120), (7_345_120, 272)]);
        assert!(find(&mut old, &[], Age { records: 1, ..age }, &Jumbled::default()).is_empty());
        assert_eq!(find(&mut old, &[], Age { records: 2, ..age }, &Jumbled::default()).len(), 1);
    }

    #[test]
    fn visits_of_a_place_count_on_the_grid_of_the_accesses() {
        let age = Age { records: 100, seconds: f64::INFINITY };
        let at = |places: &[u64]| places.iter().map(|p| (p * 96, 96)).collect::<Vec<_>>();
        let found = find(&mut left(&at(&[0, 22, 0, 0])), &[], age, &Jumbled::default());
        assert_eq!(found.iter().map(|p| (p.start_offset, p.records)).collect::<Vec<_>>(), [(0, 3)]);
        assert!(find(&mut left(&at(&[0, 3, 0, 0])), &[], age, &Jumbled::default()).is_empty());
    }

    #[test]
    fn chance_falls_with_the_length_and_the_grid() {
        assert!((expected(10, 2, 1000.0) - 45.0 / 1000.0).abs() < 1e-12);
        assert!(expected(10, 3, 1000.0) < expected(10, 2, 1000.0));
        assert_eq!(grid([8, 24, 104].into_iter(), [200].into_iter()), 13.0);
    }
}
