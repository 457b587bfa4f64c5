//! Readings of a stream: its nests, and what is in none of them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::left::Left;
use super::log::Item;
use super::nest::{Level, Nest, offsets};
use super::table::Keys;

/// What a reading costs: records in no pattern, patterns, loops.
pub(super) type Cost = (u64, usize, usize);

/// What it takes to tell a reading: numbers (one for each place and for each stride but 0 and that of accesses back to back),
/// loops and records in no pattern, patterns, these records alone.
pub(super) type Told = (u64, u64, u64, u64);

/// Records that a nest must have foretold where something is left over, and where nothing is.
pub(super) const EVIDENCE: u64 = 2;
pub(super) const LITTLE: u64 = 1;

/// A nest, and the items that are its records, in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub base: u64,
    pub levels: Vec<Level>,
    pub items: Vec<usize>,
    /// It is part of a list that is gone through several times.
    pub rounds: bool,
    /// The item with which it, or the first pass of that list, begins.
    pub list: usize,
}

impl Piece {
    /// True if it is done over and over: in rounds, or at the same places again.
    pub fn repeats(&self) -> bool {
        self.rounds || self.levels.iter().any(|l| l.stride == 0)
    }

    /// True if nothing comes between its accesses.
    pub fn is_in_one_go(&self) -> bool {
        self.items.windows(2).all(|w| w[1] == w[0] + 1)
    }

    pub fn records(&self) -> u64 {
        self.levels.iter().map(|l| l.count).product()
    }

    /// Records of one pass, if all are at the same places.
    pub fn of_pass(&self) -> u64 {
        without_passes(&self.levels).iter().map(|l| l.count).product()
    }

    pub fn evidence(&self, size: u64) -> u64 {
        evidence(&self.levels, size)
    }
}

/// The loops of one pass, if all are at the same places.
pub(super) fn without_passes(levels: &[Level]) -> &[Level] {
    match levels.split_last() {
        Some((Level { stride: 0, .. }, one)) => one,
        _ => levels,
    }
}

/// Records that a nest has foretold: all but the first and one for each loop; distance 0 and back to back are no free choice.
pub(super) fn evidence(levels: &[Level], size: u64) -> u64 {
    evidence_of(levels.iter().map(|l| l.count).product(), levels, size)
}

/// The same of so many records at these loops.
pub(super) fn evidence_of(records: u64, levels: &[Level], size: u64) -> u64 {
    (records + u64::from(is_given(levels, size))).saturating_sub(1 + levels.len() as u64)
}

/// Numbers that tell a nest, beside counts: a place, and strides that are a free choice.
pub(super) fn numbers(levels: &[Level], size: u64) -> u64 {
    let free = levels.iter().filter(|l| l.stride != 0).count() as u64;
    let back_to_back = levels.first().is_some_and(|l| size > 0 && l.stride as u64 == size);
    1 + free - u64::from(back_to_back)
}

/// A reading: its nests, and the items in none.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reading {
    pub pieces: Vec<Piece>,
    pub rest: Vec<usize>,
}

impl Reading {
    pub fn cost(&self, items: &[Item]) -> Cost {
        let rest = self.rest.iter().map(|&i| items[i].count).sum();
        (rest, self.pieces.len(), self.pieces.iter().map(|p| p.levels.len()).sum())
    }

    pub fn told(&self, items: &[Item], size: u64) -> Told {
        let (rest, patterns, loops) = self.cost(items);
        let numbers: u64 = self.pieces.iter().map(|p| numbers(&p.levels, size)).sum();
        (rest + numbers, loops as u64 + rest, patterns as u64, rest)
    }

    /// Records that each of its nests has foretold: a stride that a nest shows which has foretold enough is no free choice.
    pub fn foretold(&self, size: u64) -> Vec<u64> {
        let strong = self.pieces.iter().filter(|p| p.evidence(size) >= EVIDENCE);
        let strides: Keys<i64> = strong.flat_map(|p| &p.levels).map(|l| l.stride).collect();
        let shown = |l: &&Level| l.stride != 0 && l.stride as u64 != size && strides.contains(&l.stride);
        let of_piece = |p: &Piece| match p.evidence(size) {
            evidence if evidence >= EVIDENCE => evidence,
            evidence => evidence + p.levels.iter().filter(shown).count() as u64,
        };
        self.pieces.iter().map(of_piece).collect()
    }

    /// Leaves over what has foretold too little.
    pub fn take_apart(&mut self, size: u64, evidence: u64) {
        let mut foretold = self.foretold(size).into_iter();
        let weak = self.pieces.extract_if(.., |_| foretold.next().is_some_and(|n| n < evidence));
        self.rest.extend(weak.flat_map(|p| p.items).collect::<Vec<_>>());
        self.rest.sort_unstable();
    }

    /// Records foretold, twice, less those that the nests which are seen but once must have foretold on average, or any few
    /// accesses are nests: three for two of them.
    pub fn surplus(&self, size: u64) -> i64 {
        let needed = |p: &Piece| if p.repeats() { 0 } else { 3 };
        self.pieces.iter().map(|p| 2 * p.evidence(size) as i64 - needed(p)).sum()
    }

    /// Pairs at a free stride, which foretell nothing.
    pub fn pairs(&self, size: u64) -> usize {
        self.pieces.iter().filter(|p| is_pair(&p.levels, size)).count()
    }
}

/// How the accesses of a size are read, all of them together.
pub(super) struct OfSize {
    pub size: u64,
    pub items: Vec<Item>,
    pub reading: Reading,
}

impl OfSize {
    pub fn told(&self) -> Told {
        self.reading.told(&self.items, self.size)
    }
}

/// True for two accesses at a free stride, be it over and over.
pub(super) fn is_pair(levels: &[Level], size: u64) -> bool {
    matches!(*without_passes(levels), [l @ Level { count: 2, .. }] if l.stride != 0 && l.stride as u64 != size)
}

pub(super) fn is_given(levels: &[Level], size: u64) -> bool {
    levels.first().is_some_and(|l| l.stride == 0 || size > 0 && l.stride as u64 == size)
}

/// The loops of two nests, if the second goes on where the first one ended, or over the same places again.
fn both(d: &Piece, p: &Piece) -> Option<Vec<Level>> {
    // One access over and over.
    if p.levels.is_empty() && d.base == p.base {
        return match d.levels[..] {
            [] => Some(vec![Level { count: 2, stride: 0 }]),
            [Level { count, stride: 0 }] => Some(vec![Level { count: count + 1, stride: 0 }]),
            _ => None,
        };
    }
    let ((top, inner), (other, rest)) = (d.levels.split_last()?, p.levels.split_last()?);
    let with = |levels: &[Level], count, stride| Some([levels, &[Level { count, stride }]].concat());
    if inner == rest && top.stride == other.stride && Nest::from_levels(d.base, &d.levels).next() == p.base {
        return with(inner, top.count + other.count, top.stride);
    }
    if d.base != p.base {
        return None;
    }
    match (top.stride, other.stride) {
        _ if d.levels == p.levels => with(&d.levels, 2, 0),
        (0, _) if inner == p.levels => with(inner, top.count + 1, 0),
        (_, 0) if rest == d.levels => with(rest, other.count + 1, 0),
        _ => None,
    }
}

/// Joins nests that go on where another one ended, or do the same again, whatever came between.
pub(super) fn join(reading: &mut Reading, items: &[Item]) {
    let mut done: Vec<Piece> = Vec::new();
    for p in std::mem::take(&mut reading.pieces) {
        let together = |d: &Piece| (d.items.last() < p.items.first()).then(|| both(d, &p)).flatten();
        match done.iter().position(|d| together(d).is_some()) {
            Some(i) => {
                done[i].levels = together(&done[i]).unwrap_or_default();
                done[i].items.extend(p.items);
            }
            None => done.push(p),
        }
    }
    reading.rest.retain(|&i| {
        let next = |d: &&mut Piece| match d.levels[..] {
            [Level { stride: 0, .. }] => items[i].count == 1 && d.base == items[i].offset,
            [_] => {
                let next = Nest::from_levels(d.base, &d.levels).next();
                items[i].count == 1 && d.items.last() < Some(&i) && next == items[i].offset
            }
            _ => false,
        };
        let Some(d) = done.iter_mut().find(next) else { return true };
        d.levels[0].count += 1;
        let at = d.items.partition_point(|&j| j < i);
        d.items.insert(at, i);
        false
    });
    done.iter_mut().for_each(|d| begin_before(d, &mut reading.rest, items));
    done.sort_by_key(|d| d.items.first().copied());
    reading.pieces = done;
}

/// Accesses of a pass that is looked for before a nest: any one access may be before it.
const PASS: RangeInclusive<u64> = 2..=64;

/// A pass that was left over is the first one of a nest which goes on from there, whatever came between.
fn begin_before(d: &mut Piece, rest: &mut Vec<usize>, items: &[Item]) {
    let Some((top, inner)) = d.levels.split_last().filter(|l| l.0.stride != 0) else { return };
    let base = d.base.wrapping_sub(top.stride as u64);
    let records: u64 = inner.iter().map(|l| l.count).product();
    if !PASS.contains(&records) || rest.len() < records as usize {
        return;
    }
    let first = d.items.first().copied();
    let mut from = 0;
    let mut pass: Vec<usize> = Vec::new();
    for place in offsets(base, inner) {
        let next = |i: &usize| items[*i].count == 1 && items[*i].offset == place && Some(*i) < first;
        let Some(at) = rest[from..].iter().position(next) else { return };
        pass.push(rest[from + at]);
        from += at + 1;
    }
    // It is no part of something larger that was left over.
    let (start, end) = (pass[0], pass[pass.len() - 1]);
    if rest.contains(&(end + 1)) || start.checked_sub(1).is_some_and(|before| rest.contains(&before)) {
        return;
    }
    rest.retain(|i| !pass.contains(i));
    pass.append(&mut d.items);
    (d.base, d.items) = (base, pass);
    if let Some(top) = d.levels.last_mut() {
        top.count += 1;
    }
}

/// Makes loops of accesses in no nest that are at these places, several at each.
pub(super) fn visits(reading: &mut Reading, items: &[Item], places: &[u64]) {
    for &base in places {
        let here = |i: &usize| items[*i].count == 1 && items[*i].offset == base;
        if reading.rest.iter().filter(|i| here(i)).count() > 1 {
            let visits = reading.rest.extract_if(.., |i| here(i)).collect();
            reading.pieces.push(over_one_place(base, visits));
        }
    }
    reading.pieces.sort_by_key(|p| p.items.first().copied());
}

fn over_one_place(base: u64, visits: Vec<usize>) -> Piece {
    let levels = vec![Level { count: visits.len() as u64, stride: 0 }];
    Piece { base, levels, list: visits[0], items: visits, rounds: false }
}

/// Makes loops of accesses in no nest that are over and over at one place, whatever came between; if asked for, only if that leaves
/// nothing over: of places in no order, chance visits some several times.
pub(super) fn gather(reading: &mut Reading, items: &[Item], evidence: u64, all: bool) {
    let mut at: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for &i in &reading.rest {
        at.entry(items[i].offset).or_default().push(i);
    }
    let single = reading.rest.iter().all(|&i| items[i].count == 1);
    let few = |visits: &Vec<usize>| visits.len() as u64 <= evidence;
    if !single || all && at.values().any(few) {
        return;
    }
    reading.rest = at.values().filter(|v| few(v)).flatten().copied().collect();
    reading.rest.sort_unstable();
    at.retain(|_, visits| !few(visits));
    reading.pieces.extend(at.into_iter().map(|(base, visits)| over_one_place(base, visits)));
    reading.pieces.sort_by_key(|p| p.items.first().copied());
}

/// Where a nest over the same places again and again is, but for one access in each pass, what another one is, its passes are
/// passes of that one.
pub(super) fn share(reading: &mut Reading, items: &[Item]) {
    let pieces = &mut reading.pieces;
    let mut i = 0;
    while i < pieces.len() {
        let p = &pieces[i];
        i += 1;
        let &[one @ Level { count, .. }, again @ Level { count: passes, stride: 0 }] = &p.levels[..] else { continue };
        let each = p.items.len() / passes as usize;
        let whole = each > 1 && p.items.len().is_multiple_of(each);
        if !whole || p.items.chunks(each).any(|pass| items[pass[each - 1]].count > 1) {
            continue;
        }
        let inner: &[Level] = if count > 2 { &[Level { count: count - 1, ..one }] } else { &[] };
        let shared =
            |q: &Piece| q.base == p.base && q.levels.split_last().is_some_and(|(t, l)| t.stride == 0 && l == inner);
        let Some(with) = pieces.iter().position(shared) else {
            // Of a pair, the second may be what another one is.
            let second = items[p.items[1]].offset;
            let alone = |q: &Piece| q.base == second && matches!(q.levels[..], [Level { stride: 0, .. }]);
            if let Some(with) = pieces.iter().position(alone).filter(|_| each == 2) {
                let p = &mut pieces[i - 1];
                let (first, last) = p.items.chunks(2).map(|pass| (pass[0], pass[1])).unzip::<_, _, Vec<_>, Vec<_>>();
                (p.levels, p.items) = (vec![again], first);
                let q = &mut pieces[with];
                q.items.extend(last);
                q.items.sort_unstable();
                q.levels[0].count += passes;
            }
            continue;
        };
        let p = &mut pieces[i - 1];
        let last: Vec<usize> = p.items.chunks(each).filter_map(|pass| pass.last().copied()).collect();
        let rest: Vec<usize> = p.items.chunks(each).flat_map(|pass| &pass[..each - 1]).copied().collect();
        (p.base, p.levels, p.items) = (items[last[0]].offset, vec![again], last);
        let q = &mut pieces[with];
        q.items.extend(rest);
        q.items.sort_unstable();
        q.levels.iter_mut().last().into_iter().for_each(|l| l.count += passes);
    }
}

/// The single accesses of items, as what is left.
pub(super) fn singles(items: &[Item], numbers: &[usize], of: impl Fn(&Item) -> Left) -> Vec<Left> {
    numbers.iter().flat_map(|&i| (0..items[i].count).map(move |k| (i, k))).map(|(i, k)| of(&items[i].part(k))).collect()
}
