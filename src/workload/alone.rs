//! Accesses that stand alone: what no progression of their rank holds. Several ranks may make a pattern of them together, and
//! some may lie back to back.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::across::across;
use super::shape::{Odometer, Shape};
use super::stretch::{Places, Script, Stretch, seconds};
use super::truth::{Level, PatternKind, Place, TruePattern};
use crate::record::{FileId, Files, Op};

/// Runs of which more are to be expected by chance than this do not count.
pub(super) const CHANCE: f64 = 0.01;

/// An access.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Alone {
    pub(super) rank: u32,
    pub(super) offset: u64,
    pub(super) size: u64,
    /// Start and end.
    pub(super) span_ns: (u64, u64),
    /// The short sequential pattern that has it, by number.
    held: Option<usize>,
}

/// A sequential pattern of fewer accesses is short: it gives way to patterns of several ranks that explain all of it.
const SHORT: u64 = 8;

/// Strides of patterns that are tried on what is alone.
const STRIDES: usize = 8;

/// Rounds in which short patterns may give way.
const ROUNDS: usize = 3;

/// The accesses of each operation and file, by rank and time.
type Streams = BTreeMap<(u8, FileId), (Op, Vec<Alone>)>;

/// Short patterns of an operation, file and rank by number, and their accesses.
type Short = HashMap<(Op, FileId, u32), Vec<(usize, Vec<Alone>)>>;

/// Patterns of an operation and file.
type Known<'p> = HashMap<(u8, FileId), Vec<&'p TruePattern>>;

/// Operation, file, rank, size, offset.
type Key = (Op, FileId, u32, u64, u64);

/// From when to when, in seconds, and the accesses then.
type Times = ((f64, f64), Vec<(u64, u64)>);

/// The patterns, given also those that are none: a single access, or two at any distance. These are replaced by the patterns that
/// they make with each other.
pub(super) fn gather(all: Vec<TruePattern>, files: &Files, script: &dyn Script) -> Vec<TruePattern> {
    let over: BTreeSet<(u8, u32, String, Option<u64>)> = all.iter().filter(|p| is_none(p)).map(stream).collect();
    let by_chance = |p: &TruePattern| script.is_of_many_sizes(p.op);
    let (single, mut patterns): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|p| is_none(p) || is_pair(p) && (by_chance(p) || over.contains(&stream(p))));
    let is_short = |p: &TruePattern| p.kind == PatternKind::Sequential && p.records < SHORT;
    if single.is_empty() && !patterns.iter().any(is_short) {
        return patterns;
    }
    let numbers: HashMap<&str, FileId> = files.iter().map(|(id, name)| (name, id)).collect();
    let mut wanted: HashMap<Key, Times> = HashMap::new();
    for p in &single {
        for k in 0..p.records {
            let offset = p.start_offset.wrapping_add_signed(p.stride.unwrap_or(0) * k as i64);
            let key = (p.op, numbers[p.file.as_str()], p.rank, p.access_size.unwrap_or(0), offset);
            let (when, _) = wanted.entry(key).or_insert(((p.start_s, p.end_s), Vec::new()));
            *when = (when.0.min(p.start_s), when.1.max(p.end_s));
        }
    }
    let mut short = Short::new();
    for (i, p) in patterns.iter().enumerate().filter(|(_, p)| is_short(p)) {
        short.entry((p.op, numbers[p.file.as_str()], p.rank)).or_default().push((i, Vec::new()));
    }
    let ranks = times(&mut wanted, &mut short, &patterns, script);
    let mut streams = Streams::new();
    for ((op, file, rank, size, offset), (_, spans)) in wanted {
        let of_file = streams.entry((op as u8, file)).or_insert((op, Vec::new()));
        of_file.1.extend(spans.into_iter().map(|span_ns| Alone { rank, offset, size, span_ns, held: None }));
    }
    for ((op, file, _), all) in short {
        let whole = all.into_iter().filter(|(i, pieces)| pieces.len() as u64 == patterns[*i].records);
        streams.entry((op as u8, file)).or_insert((op, Vec::new())).1.extend(whole.flat_map(|(_, pieces)| pieces));
    }
    streams.values_mut().for_each(|s| s.1.sort_by_key(|a| (a.rank, a.span_ns, a.offset)));
    let before = streams.clone();
    let known = of_files(&patterns, &numbers);
    let (mut together, mut streams, gone) = of_ranks(streams, &known, files, ranks);
    streams.values_mut().for_each(|s| s.1.retain(|a| a.held.is_none()));
    let in_order = |s: &(&(u8, FileId), &mut (Op, Vec<Alone>))| !script.follows_by_chance(s.1.0);
    let both = streams.iter_mut().zip(before.values());
    for ((key, (op, alone)), (_, all)) in both.filter(|(s, _)| in_order(s)) {
        let file = files.name(key.1);
        let place = |rank, span_ns| Place { op: *op, rank, file, span_ns, period_s: None };
        together.extend(nests(alone, all, place));
    }
    let mut number = 0..;
    patterns.retain(|_| number.next().is_none_or(|i| !gone.contains(&i)));
    // The more files of a rank are looked at, the more chance makes.
    let mut looks: BTreeMap<u32, usize> = BTreeMap::new();
    for of_rank in streams.values().flat_map(|s| s.1.chunk_by(|a, b| a.rank == b.rank)).filter(|a| a.len() > 1) {
        *looks.entry(of_rank[0].rank).or_default() += 1;
    }
    let known = of_files(&patterns, &numbers);
    for ((key, (op, mut alone)), (_, all)) in streams.into_iter().zip(before.values()) {
        let file = files.name(key.1);
        let place = |rank, span_ns| Place { op, rank, file, span_ns, period_s: None };
        let known = known.get(&key).map_or(&[][..], |of_file| of_file);
        let by_chance = script.follows_by_chance(op);
        together.extend(visits(&mut alone, &looks, known, by_chance, place));
        if !by_chance {
            together.extend(back_to_back((&alone, all), &looks, known, place));
        }
    }
    patterns.extend(together);
    patterns
}

/// Patterns of each operation and file.
fn of_files<'p>(patterns: &'p [TruePattern], numbers: &HashMap<&str, FileId>) -> Known<'p> {
    let mut known = Known::new();
    for p in patterns {
        known.entry((p.op as u8, numbers[p.file.as_str()])).or_default().push(p);
    }
    known
}

/// The patterns of several ranks, what they leave alone, and the short patterns that give way to them.
fn of_ranks(
    mut streams: Streams,
    known: &Known,
    files: &Files,
    ranks: usize,
) -> (Vec<TruePattern>, Streams, BTreeSet<usize>) {
    let number = |streams: &Streams| {
        let mut of_pattern: BTreeMap<usize, usize> = BTreeMap::new();
        let held = streams.values().flat_map(|s| &s.1).filter_map(|a| a.held);
        held.for_each(|i| *of_pattern.entry(i).or_default() += 1);
        of_pattern
    };
    for round in 1.. {
        let (mut rest, mut together) = (streams.clone(), Vec::new());
        for (key, (op, alone)) in &mut rest {
            let file = files.name(key.1);
            let place = |rank, span_ns| Place { op: *op, rank, file, span_ns, period_s: None };
            let mut of_size: BTreeMap<u64, (Vec<usize>, Vec<&TruePattern>)> = BTreeMap::new();
            alone.iter().enumerate().for_each(|(i, a)| of_size.entry(a.size).or_default().0.push(i));
            for p in known.get(key).into_iter().flatten() {
                if let Some((_, known)) = p.access_size.and_then(|size| of_size.get_mut(&size)) {
                    known.push(p);
                }
            }
            let mut free = vec![true; alone.len()];
            for (size, (here, known)) in of_size {
                let all: Vec<Alone> = here.iter().map(|&i| alone[i]).collect();
                let (found, left) = across(&all, size, ranks, &known, place);
                together.extend(found);
                here.into_iter().zip(left).for_each(|(i, left)| free[i] = left);
            }
            let mut free = free.into_iter();
            alone.retain(|_| free.next().unwrap_or(true));
        }
        let (before, after) = (number(&streams), number(&rest));
        // Those of which a part is taken stay, and all do in the end.
        let partly: BTreeSet<usize> = after.iter().filter(|(i, n)| before[i] != **n).map(|(i, _)| *i).collect();
        if partly.is_empty() {
            let gone = before.into_keys().filter(|i| !after.contains_key(i)).collect();
            return (together, rest, gone);
        }
        let stays = |i: usize| round >= ROUNDS || partly.contains(&i);
        streams.values_mut().for_each(|s| s.1.retain(|a| !a.held.is_some_and(stays)));
    }
    (Vec::new(), streams, BTreeSet::new())
}

/// True for what has no second place that the first ones would tell.
fn is_none(p: &TruePattern) -> bool {
    match (p.records, &p.levels[..], p.access_size) {
        (1, ..) => true,
        (2, [l], Some(size)) => l.stride != 0 && l.stride != size as i64,
        _ => false,
    }
}

/// True for two accesses back to back, which have foretold one: too little where something is left over.
fn is_pair(p: &TruePattern) -> bool {
    matches!((&p.levels[..], p.access_size), (&[Level { count: 2, stride }], Some(size)) if stride == size as i64)
}

/// Operation, rank, file and size.
fn stream(p: &TruePattern) -> (u8, u32, String, Option<u64>) {
    (p.op as u8, p.rank, p.file.clone(), p.access_size)
}

/// Fills in when the accesses are; gives the number of ranks that do anything.
fn times(wanted: &mut HashMap<Key, Times>, short: &mut Short, patterns: &[TruePattern], script: &dyn Script) -> usize {
    let mut ranks = BTreeSet::new();
    for s in script.lanes().into_iter().flatten() {
        let n = s.places.count();
        if n == 0 {
            continue;
        }
        ranks.insert(s.rank);
        let Some(places) = places(&s) else { continue };
        let time = |i: usize| s.start_ns + (u128::from(s.length_ns) * i as u128 / u128::from(n)) as u64;
        let mut of_rank = short.get_mut(&(s.op, s.file, s.rank));
        for (i, (offset, size)) in places.into_iter().enumerate() {
            let span_ns = (time(i), time(i + 1));
            let (start, end) = (seconds(span_ns.0), seconds(span_ns.1));
            if let Some((when, known)) = wanted.get_mut(&(s.op, s.file, s.rank, size, offset))
                && (when.0..=when.1).contains(&start)
            {
                known.push(span_ns);
            }
            let next = |(p, pieces): &&mut (usize, Vec<Alone>)| {
                let p = &patterns[*p];
                let at = pieces.last().map_or(p.start_offset, |a| a.offset + a.size);
                at == offset && offset + size <= p.end_offset && p.start_s <= start && end <= p.end_s
            };
            if let Some((held, pieces)) = of_rank.as_mut().and_then(|all| all.iter_mut().find(next)) {
                pieces.push(Alone { rank: s.rank, offset, size, span_ns, held: Some(*held) });
            }
        }
    }
    ranks.len()
}

/// Places of a nest that may be none: that have foretold but one.
const FEW: u64 = 8;

/// The places of a stretch, if some of them may be alone.
fn places(s: &Stretch) -> Option<Vec<(u64, u64)>> {
    match &s.places {
        Places::Nested(offset, shape) => (shape.count() <= FEW).then(|| {
            let mut odometer = Odometer::new(*offset, shape);
            let place = |_| {
                let place = (odometer.offset(), shape.size);
                odometer.advance(shape);
                place
            };
            (0..shape.count()).map(place).collect()
        }),
        Places::Listed(list) => Some(list.clone()),
        Places::Shuffled { order, first, step, count, size } => {
            (*count <= 2).then(|| (0..*count).map(|i| (order.at(first + i * step) * size, *size)).collect())
        }
    }
}

/// Accesses that are a nest, where the others of that rank and size are in patterns of several ranks.
fn nests<'f>(
    alone: &mut Vec<Alone>,
    before: &[Alone],
    place: impl Fn(u32, (u64, u64)) -> Place<'f>,
) -> Vec<TruePattern> {
    let mut groups: BTreeMap<(u32, u64), (Vec<Alone>, usize)> = BTreeMap::new();
    alone.iter().for_each(|a| groups.entry((a.rank, a.size)).or_default().0.push(*a));
    for a in before.iter().filter(|a| a.held.is_none()) {
        groups.entry((a.rank, a.size)).or_default().1 += 1;
    }
    let (mut out, mut gone) = (Vec::new(), HashSet::new());
    for ((rank, size), (same, all)) in groups {
        let places: Vec<u64> = same.iter().map(|a| a.offset).collect();
        let nest = Shape::walked(size, &places).filter(|s| s.foretold() > 0);
        if let Some(shape) = nest.filter(|_| all > same.len()) {
            let span = (same[0].span_ns.0, same[same.len() - 1].span_ns.1);
            out.extend(TruePattern::nested(place(rank, span), places[0], &shape));
            gone.insert((rank, size));
        }
    }
    alone.retain(|a| !gone.contains(&(a.rank, a.size)));
    out
}

/// Accesses of a rank at one place, and nowhere back to back unless that is by chance, if there are others of that size and chance
/// does not make them.
fn visits<'f>(
    alone: &mut Vec<Alone>,
    looks: &BTreeMap<u32, usize>,
    patterns: &[&TruePattern],
    by_chance: bool,
    place: impl Fn(u32, (u64, u64)) -> Place<'f>,
) -> Vec<TruePattern> {
    let mut groups: BTreeMap<(u32, u64), Vec<Alone>> = BTreeMap::new();
    alone.iter().for_each(|a| groups.entry((a.rank, a.size)).or_default().push(*a));
    let mut of_size: HashMap<(u32, Option<u64>), Vec<&TruePattern>> = HashMap::new();
    patterns.iter().for_each(|p| of_size.entry((p.rank, p.access_size)).or_default().push(p));
    let (mut out, mut gone) = (Vec::new(), HashSet::new());
    for ((rank, size), all) in groups {
        let known = || of_size.get(&(rank, Some(size))).into_iter().flatten();
        let strides: BTreeSet<i64> = known().flat_map(|p| &p.levels).map(|l| l.stride).filter(|s| *s != 0).collect();
        let tried = looks.get(&rank).copied().unwrap_or(1) * (strides.len().min(STRIDES) + 1);
        let starts = all.iter().map(|a| a.offset).chain(known().map(|p| p.start_offset));
        let unit = starts.clone().fold(size, |unit, s| gcd(unit, s.abs_diff(all[0].offset)));
        let reach = starts.chain([all[0].offset + size]).chain(known().flat_map(|p| [p.lowest(), p.end_offset]));
        let (low, high) = reach.fold((u64::MAX, 0), |(low, high), place| (low.min(place), high.max(place)));
        let grid = (high - low).checked_div(unit).map_or(1.0, |n| n as f64 + 1.0);
        let mut by_place: BTreeMap<u64, Vec<Alone>> = BTreeMap::new();
        all.iter().for_each(|a| by_place.entry(a.offset).or_default().push(*a));
        for (offset, here) in by_place {
            let (first, last) = (here[0], here[here.len() - 1]);
            let next = |a: &Alone| {
                a.rank == rank
                    && (a.offset + a.size == offset || a.offset == offset + size)
                    && !gone.contains(&(a.rank, a.size, a.offset))
            };
            let ways: f64 = (0..here.len()).map(|k| (all.len() - k) as f64 / (k + 1) as f64).product();
            let chance = tried as f64 * ways / grid.powi(here.len() as i32 - 1);
            if here.len() < 2 || chance > CHANCE || !by_chance && alone.iter().any(next) {
                continue;
            }
            let shape = Shape::of(size).times(here.len() as u64, 0);
            out.extend(TruePattern::nested(place(rank, (first.span_ns.0, last.span_ns.1)), offset, &shape));
            gone.insert((rank, size, offset));
        }
    }
    alone.retain(|a| !gone.contains(&(a.rank, a.size, a.offset)));
    out
}

/// What of a rank lies back to back, each access the first one after the end of the one before, if that is no accident.
fn back_to_back<'f>(
    (alone, all): (&[Alone], &[Alone]),
    looks: &BTreeMap<u32, usize>,
    patterns: &[&TruePattern],
    place: impl Fn(u32, (u64, u64)) -> Place<'f>,
) -> Vec<TruePattern> {
    let mut out = Vec::new();
    for of_rank in alone.chunk_by(|a, b| a.rank == b.rank) {
        let rank = of_rank[0].rank;
        let known = patterns.iter().filter(|p| p.rank == rank);
        let reach: Vec<u64> = known.flat_map(|p| [p.start_offset, p.end_offset]).collect();
        let grid = grid(of_rank, &reach);
        let mut at: HashMap<u64, Vec<usize>> = HashMap::new();
        (0..of_rank.len()).for_each(|k| at.entry(of_rank[k].offset).or_default().push(k));
        let first_after = |j: usize| {
            let here = at.get(&(of_rank[j].offset + of_rank[j].size))?;
            here.get(here.partition_point(|&k| k <= j)).copied()
        };
        let mut used = vec![false; of_rank.len()];
        for i in 0..of_rank.len() {
            let mut run: Vec<usize> = Vec::new();
            let mut next = Some(i).filter(|&i| !used[i]);
            while let Some(j) = next {
                run.push(j);
                next = first_after(j).filter(|&k| !used[k]);
            }
            if run.len() < 2 {
                continue;
            }
            run.iter().for_each(|&j| used[j] = true);
            let ways: f64 = (0..run.len()).map(|k| (of_rank.len() - k) as f64 / (k + 1) as f64).product();
            let looks = looks.get(&rank).copied().unwrap_or(1) as f64;
            if follows(&run, of_rank, all) || looks * ways / grid.powi(run.len() as i32 - 1) <= CHANCE {
                let span = (of_rank[i].span_ns.0, of_rank[run[run.len() - 1]].span_ns.1);
                let sizes: Vec<u64> = run.iter().map(|&j| of_rank[j].size).collect();
                out.extend(TruePattern::back_to_back(place(rank, span), of_rank[i].offset, &sizes));
            }
        }
    }
    out
}

/// True for a run that is sequential whatever its places: three in a row, or five, whose sizes vary.
fn follows(run: &[usize], alone: &[Alone], all: &[Alone]) -> bool {
    let order = |a: &Alone| (a.rank, a.span_ns, a.offset);
    let at = |i: usize| {
        let from = all.partition_point(|a| order(a) < order(&alone[i]));
        all[from..].iter().position(|a| *a == alone[i]).map(|k| from + k)
    };
    let in_a_row = run.windows(2).all(|w| at(w[0]).map(|i| i + 1) == at(w[1]));
    let changes = run.windows(2).filter(|w| alone[w[0]].size != alone[w[1]].size).count();
    run.len() >= if in_a_row { 3 } else { 5 } && changes >= 2 && run.len() < 4 * (changes + 1)
}

/// Places of the finest grid on which all begin and end, as far as they and the patterns reach.
fn grid(alone: &[Alone], reach: &[u64]) -> f64 {
    let ends: Vec<u64> = alone.iter().flat_map(|a| [a.offset, a.offset + a.size]).collect();
    let unit = ends.iter().fold(0, |unit, e| gcd(unit, e.abs_diff(ends[0])));
    let all = || ends.iter().chain(reach);
    let extent = all().max().unwrap_or(&0) - all().min().unwrap_or(&0);
    extent.checked_div(unit).map_or(1.0, |n| n as f64 + 1.0)
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
