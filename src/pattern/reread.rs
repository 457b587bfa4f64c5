//! A stream that is little is read again as a whole when the trace ends.
//!
//! Reading record by record has to decide before it knows what comes. Here all of it is known: the stream is cut into nests
//! that follow each other, and into rounds of nests (the same list over and over, each time a distance further), so that the
//! fewest numbers tell all of it, then with the fewest loops and accesses left over, then with the fewest patterns. If that
//! tells the same in less than what was found record by record, it takes the place of it.

use std::cmp::Reverse;

use super::growth::{Growing, Growth};
use super::log::Item;
use super::nest::{Level, Nest, canonical};
use super::options::Age;
use super::reading::{
    EVIDENCE, LITTLE, Piece, Reading, Told, evidence_of, gather, is_given, join, numbers, share, visits, without_passes,
};
use super::remnants::{CHANCE, expected, grid};

/// Steps that a reading may take, and looking for rounds.
const STEPS: usize = 1 << 27;
const ROUNDS: usize = 1 << 23;

/// Items that may be visits of a few places in no order: many have one, or it shows that they have none.
const VISITS: usize = 64;

/// How the stream goes on from an item.
#[derive(Debug, Clone)]
enum Way<'a> {
    /// The item is in no pattern.
    Over,
    /// A nest up to another item: one of those that grow so.
    Nest(usize, &'a Growing, usize),
    /// Rounds: of one round and its items, and how many at which distance.
    Rounds(Reading, usize, Level),
}

/// The best reading of accesses of one size, of which those further apart than `age` are read by themselves; `None` if it takes
/// too long.
pub(super) fn read(items: &[Item], size: u64, age: Age) -> Option<Reading> {
    let mut steps = 0;
    let mut all = Reading::default();
    let (mut from, mut parts) = (0, 0);
    for near in items.chunk_by(|a, b| a.is_near(b, age)) {
        let one = read_near(near, size, &mut steps)?;
        let later = |i: usize| from + i;
        all.rest.extend(one.rest.into_iter().map(later));
        all.pieces.extend(one.pieces.into_iter().map(|p| Piece {
            items: p.items.iter().map(|&i| later(i)).collect(),
            list: later(p.list),
            ..p
        }));
        (from, parts) = (from + near.len(), parts + 1);
    }
    if parts > 1 {
        join(&mut all, items);
    }
    Some(all)
}

/// The reading of accesses that come in random order, as their sizes do: one nest of them all, or visits of each place, so many
/// that chance need not have made them; `None` for runs.
pub(super) fn by_chance(items: &[Item], size: u64) -> Option<Reading> {
    let (first, others) = items.split_first()?;
    if items.iter().any(|i| i.count > 1) {
        return None;
    }
    let mut nest = Nest::of_run(first.offset, first.stride, first.count);
    let all: Vec<usize> = (0..items.len()).collect();
    if others.iter().all(|i| nest.take_run(i.offset, i.stride, i.count)) && nest.partial() == 0 {
        let whole = Piece { base: first.offset, levels: nest.levels(), items: all.clone(), rounds: false, list: 0 };
        let pair = items.len() == 2 && first.offset != others[0].offset;
        if whole.evidence(size) >= LITTLE && !pair {
            return Some(Reading { pieces: vec![whole], rest: Vec::new() });
        }
    }
    let mut places = Reading { rest: all, ..Reading::default() };
    gather(&mut places, items, LITTLE, true);
    if !places.rest.is_empty() {
        gather(&mut places, items, EVIDENCE, false);
    }
    Some(places)
}

fn read_near(items: &[Item], size: u64, steps: &mut usize) -> Option<Reading> {
    // Looking for rounds has as many steps of its own.
    let found = all_rounds(items, &mut 0);
    let growth = Growth::of(items, size, steps, STEPS)?;
    let stream = Stream { items, size, growth: &growth, from: 0 };
    let mut tried: Vec<Start> = Vec::new();
    let mut whole = |evidence| {
        let mut best: Option<Reading> = None;
        let keep = |best: &mut Option<Reading>, reading: Reading| {
            // Of equal ones that whose first loops go on for longest.
            let first = |r: &Reading| Reverse(r.pieces.iter().map(Piece::of_pass).collect::<Vec<_>>());
            let weak = |r: &Reading| r.pieces.iter().any(|p| p.evidence(size) < EVIDENCE);
            let cost = |r: &Reading| (r.told(items, size), weak(r), r.pairs(size), first(r));
            if best.as_ref().is_none_or(|b| cost(&reading) < cost(b)) {
                *best = Some(reading);
            }
        };
        // A loop goes on for as long as it can, unless others go on for longer then, or nests that are done over and over tell more
        // than rounds do.
        for (longest, found) in [(true, &found[..]), (false, &found), (true, &[])] {
            let mut one = |shared: &[Start]| {
                let taste = Taste { evidence, longest, shared };
                let mut reading = cut(stream, taste, Some(found), steps)?;
                let (starts, again) = (starts(&reading), again(&reading));
                let places: Vec<u64> = shared.iter().filter(|s| s.1.is_empty()).map(|s| s.0).collect();
                visits(&mut reading, items, &places);
                join(&mut reading, items);
                gather(&mut reading, items, evidence, true);
                share(&mut reading, items);
                if evidence > LITTLE {
                    reading.take_apart(size, evidence);
                }
                Some((reading, starts, again))
            };
            // Where all of it takes too long, the best of what was read.
            let Some((reading, mut starts, again)) = one(&[]) else { break };
            keep(&mut best, reading);
            // What is little alone may be enough over and over.
            starts
                .extend(tried.iter().filter(|s| evidence > LITTLE && !starts.contains(s)).cloned().collect::<Vec<_>>());
            let known = starts.chunks(1).chain((!again.is_empty()).then_some(&again[..]));
            known.filter_map(&mut one).for_each(|r| keep(&mut best, r.0));
            tried = starts;
        }
        // Places over and over, if it often is another one than before; nests that follow each other are not torn for that.
        let strong = |p: &Piece| {
            // Each time that it goes on.
            let mut goes = p.items.chunk_by(|a, b| a + 1 == *b);
            goes.all(|go| evidence_of(go.iter().map(|&i| items[i].count).sum(), &p.levels, size) >= EVIDENCE)
        };
        let in_turn = |r: &Reading| r.rest.is_empty() && r.pieces.iter().all(strong);
        let runs = items.chunk_by(|a, b| a.offset == b.offset).count();
        if items.len() <= VISITS && 3 * runs > items.len() && !best.as_ref().is_some_and(in_turn) {
            // All of them, or those that have foretold enough.
            for (evidence, all) in [(evidence, true), (EVIDENCE, false)] {
                let mut places = Reading { rest: (0..items.len()).collect(), ..Reading::default() };
                gather(&mut places, items, evidence, all);
                keep(&mut best, places);
            }
        }
        best
    };
    let reading = whole(LITTLE)?;
    let weak = |p: &Piece| p.evidence(size) < EVIDENCE;
    if !reading.pieces.iter().any(weak) {
        return Some(reading);
    }
    // Where something is left over, or stronger ones tell it as well, a nest must have foretold more.
    let strong = whole(EVIDENCE)?;
    let stands = reading.rest.is_empty() || reading.foretold(size).iter().all(|n| *n >= EVIDENCE);
    // What is all done again leaves nothing over for the sake of fewer numbers.
    let again = reading.rest.is_empty() && !strong.rest.is_empty() && reading.pieces.iter().all(Piece::repeats);
    let less = || again || reading.told(items, size) < strong.told(items, size);
    let little = stands && reading.surplus(size) >= 0 && less();
    Some(if little { reading } else { strong })
}

/// What it takes to tell a nest of the list of a round, where an access in none takes [`ACCESS`]: that there is one, its place,
/// and a stride for each loop, but 0 and that of accesses back to back, which take a little; a little more for each further loop.
fn telling(levels: &[Level], size: u64) -> u64 {
    let given = u64::from(is_given(levels, size));
    ACCESS + GIVEN * given + NUMBER * (levels.len() as u64 - given) + LOOP * (levels.len() as u64 - 1)
}

/// Three accesses take more than two pairs at two strides, and these more than one access and three at a stride.
const ACCESS: u64 = 11;
const NUMBER: u64 = 8;
const LOOP: u64 = 4;
/// Two runs back to back take more than one over which a loop goes.
const GIVEN: u64 = 2;

/// Accesses of one size that follow each other in a longer list, and the nests that begin at each item of that.
#[derive(Debug, Clone, Copy)]
struct Stream<'a> {
    items: &'a [Item],
    size: u64,
    growth: &'a Growth,
    from: usize,
}

impl<'a> Stream<'a> {
    fn part(self, from: usize, to: usize) -> Stream<'a> {
        Stream { items: &self.items[from..to], from: self.from + from, ..self }
    }

    /// The nests that begin at an item.
    fn nests(&self, item: usize) -> &'a [Growing] {
        self.growth.from(self.from + item)
    }
}

/// What is wanted of a reading.
#[derive(Debug, Clone, Copy)]
struct Taste<'a> {
    /// Records that a nest must have foretold.
    evidence: u64,
    /// Of readings that cost the same, the one whose first nest is longest; else shortest.
    longest: bool,
    /// Lists begin with these where they can, and they take nothing.
    shared: &'a [Start],
}

/// A nest with which a list begins.
type Start = (u64, Vec<Level>);

/// Items of a list that are this nest, if it begins so.
fn begins(items: &[Item], start: &Start) -> Option<usize> {
    let first = items.first().filter(|i| i.offset == start.0)?;
    let mut nest = Nest::of_run(first.offset, first.stride, first.count);
    let is_it = |nest: &Nest| nest.partial() == 0 && nest.levels() == start.1;
    if first.count == 1 && start.1.is_empty() || first.count > 1 && is_it(&nest) {
        return Some(1);
    }
    let mut goes_on = |i: &Item| nest.take_run(i.offset, i.stride, i.count).then(|| is_it(&nest));
    items[1..].iter().map_while(&mut goes_on).position(|is_it| is_it).map(|n| n + 2)
}

/// Ways to begin the lists that are tried.
const STARTS: usize = 8;

/// Nests with which lists begin, or nests that begin at the same place, and runs there less the row that the next nest begins
/// with; the longest first.
fn starts(reading: &Reading) -> Vec<Start> {
    let once = |p: &Piece| without_passes(&p.levels).to_vec();
    let mut starts: Vec<Start> = Vec::new();
    for (i, p) in reading.pieces.iter().enumerate().filter(|(_, p)| p.items.first() == Some(&p.list)) {
        let same_place = |o: &&Piece| o.base == p.base && o.items.first() == Some(&o.list);
        let levels = once(p);
        // A single access is the start of a list, but not of a nest, which would be torn.
        if !p.rounds && (levels.is_empty() || reading.pieces.iter().filter(same_place).count() < 2) {
            continue;
        }
        let row = reading.pieces.get(i + 1).and_then(|q| q.levels.first());
        if let (&[run], Some(row)) = (&levels[..], row)
            && run.stride == row.stride
            && row.count + 1 < run.count
        {
            starts.push((p.base, vec![Level { count: run.count - row.count, ..run }]));
        }
        starts.push((p.base, levels));
    }
    starts.sort_by_key(|(base, levels)| (*base, Reverse(levels.iter().map(|l| l.count).product::<u64>())));
    starts.dedup();
    starts.truncate(STARTS);
    starts
}

/// Nests that are done over and over, but for single accesses with which others begin: these would be torn.
fn again(reading: &Reading) -> Vec<Start> {
    let begins = |p: &Piece| reading.pieces.iter().any(|o| o.base == p.base && o.of_pass() > 2);
    let again = reading.pieces.iter().filter(|p| p.repeats() && !(p.of_pass() == 1 && begins(p)));
    again.map(|p| (p.base, without_passes(&p.levels).to_vec())).take(STARTS).collect()
}

/// Where rounds begin, the length of the list, and how many items they go on for.
type Found = (usize, usize, usize);

/// Cuts the stream into nests, and into some of the rounds that were found. Without these, the list of one is cut: it is told with
/// as little as possible.
fn cut(stream: Stream<'_>, taste: Taste<'_>, found: Option<&[Found]>, steps: &mut usize) -> Option<Reading> {
    let (Taste { evidence, longest, .. }, Stream { items, size, from, .. }) = (taste, stream);
    let rounds = found.is_some();
    let m = items.len();
    let mut found = found.unwrap_or_default().iter().rev().peekable();
    // From the back.
    let mut best: Vec<(Told, Way<'_>)> = vec![((u64::MAX, 0, 0, 0), Way::Over); m + 1];
    best[m].0 = (0, 0, 0, 0);
    for i in (0..m).rev() {
        let once = |s: &Start| s.1.is_empty() && s.0 == items[i].offset && items[i].count == 1;
        let over = if rounds && taste.shared.iter().any(once) {
            (0, 0, 0, 0)
        } else if rounds {
            (items[i].count, items[i].count, 0, items[i].count)
        } else {
            (ACCESS * items[i].count, 0, 1, 0)
        };
        let mut here = (plus(best[i + 1].0, over), Way::Over);
        // Where the longest nest ends.
        let mut whole = i;
        let told = taste.shared.iter().any(|s| rounds && s.0 == items[i].offset);
        for nests in stream.nests(i) {
            let until = nests.until(from + m);
            *steps += 1 + until;
            if *steps > STEPS {
                return None;
            }
            let price = if rounds { numbers(&nests.levels, size) } else { telling(&nests.levels, size) };
            let price = (price, nests.levels.len() as u64, 1, 0);
            for n in 0..until {
                let end = nests.end(n) - from;
                // What is told already takes nothing.
                let levels = told.then(|| nests.levels(n));
                let same = |s: &Start| s.0 == items[i].offset && levels.as_deref().map(without_passes) == Some(&s.1);
                let again = told && taste.shared.iter().any(same);
                if nests.foretold + n as u64 * nests.records < evidence && !again {
                    continue;
                }
                whole = end;
                let cost = plus(best[end].0, if again { (0, 0, 0, 0) } else { price });
                if cost < here.0 || longest && cost == here.0 {
                    here = (cost, Way::Nest(end, nests, n));
                }
            }
        }
        while let Some(&(_, p, extent)) = found.next_if(|f| f.0 == i) {
            let stride = items[i + p].offset.wrapping_sub(items[i].offset) as i64;
            let most = extent / p;
            if i + most * p <= whole && !taste.shared.iter().any(|s| s.0 == items[i].offset) {
                continue;
            }
            // The last one may be the start of a longer list.
            for rounds in (most.max(3) - 1..=most).rev() {
                let level = Level { count: rounds as u64, stride };
                let taste = Taste { evidence: LITTLE, ..taste };
                let list = list(stream.part(i, i + p), level, taste, steps)?;
                let (mut numbers, mut loops, mut patterns, rest) = list.told(&items[i..], size);
                let told = |p: &&Piece| taste.shared.iter().any(|s| s.0 == p.base && s.1 == without_passes(&p.levels));
                for again in list.pieces.iter().filter(told).filter(|_| stride == 0) {
                    numbers -= self::numbers(&again.levels, size);
                    (loops, patterns) = (loops - again.levels.len() as u64, patterns - 1);
                }
                let (all, numbers, loops) = (rest * level.count, numbers - rest, loops - rest);
                let cost = plus(best[i + rounds * p].0, (all + numbers, all + loops, patterns, all));
                if cost < here.0 {
                    here = (cost, Way::Rounds(list, p, level));
                }
            }
        }
        best[i] = here;
    }
    let mut reading = Reading::default();
    let mut at = 0;
    while at < m {
        match std::mem::replace(&mut best[at].1, Way::Over) {
            Way::Over => {
                reading.rest.push(at);
                at += 1;
            }
            Way::Nest(to, nests, n) => {
                let (base, levels) = (items[at].offset, nests.levels(n));
                reading.pieces.push(Piece { base, levels, items: (at..to).collect(), rounds: false, list: at });
                at = to;
            }
            Way::Rounds(list, p, level) => {
                let all = |list: &[usize]| -> Vec<usize> {
                    (0..level.count as usize).flat_map(|k| list.iter().map(move |i| at + k * p + i)).collect()
                };
                reading.rest.extend(all(&list.rest));
                let pieces = list.pieces.iter();
                reading.pieces.extend(pieces.map(|piece| Piece {
                    items: all(&piece.items),
                    rounds: true,
                    list: at,
                    ..piece.clone()
                }));
                at += level.count as usize * p;
            }
        }
    }
    Some(reading)
}

fn plus(a: Told, b: Told) -> Told {
    (a.0 + b.0, a.1 + b.1, a.2 + b.2, a.3 + b.3)
}

/// All rounds in the stream.
fn all_rounds(items: &[Item], steps: &mut usize) -> Vec<Found> {
    let mut out = Vec::new();
    let mut before: Vec<(usize, usize)> = Vec::new();
    let begin = BEGIN.max(ROUNDS / 4 / items.len().max(1));
    for i in 0..items.len() {
        let found = periods(&items[i..], if i == 0 { items.len() } else { begin }, steps);
        // Not the same rounds, one item later.
        out.extend(found.iter().filter(|f| !before.contains(&(f.0, f.1 + 1))).map(|f| (i, f.0, f.1)));
        before = found;
        if *steps > ROUNDS {
            break;
        }
    }
    out
}

/// Lengths of lists of two items or more that the stream begins with over and over, and how many items that goes on for; lists
/// must begin again within so many items.
fn periods(items: &[Item], begin: usize, steps: &mut usize) -> Vec<(usize, usize)> {
    let shape = |i: usize| (items[i].count, items[i].stride);
    let same = |a: usize, b: usize| {
        let gap = |i: usize| items[i].offset.wrapping_sub(items[i - 1].offset);
        gap(a) == gap(b) && shape(a) == shape(b)
    };
    // Borders of what follows the first item (Knuth, Morris, Pratt): `border[k]` of items 1 to k.
    let mut border = vec![0usize; items.len()];
    let mut out: Vec<(usize, usize)> = Vec::new();
    let mut k = 0;
    for i in 2..items.len() {
        while k > 0 && !same(i, k + 1) {
            k = border[k];
        }
        k += usize::from(same(i, k + 1));
        border[i] = k;
        *steps += 1;
        let (p, extent) = (i - k, i + 1);
        if i > begin && p > begin {
            break;
        }
        if p < 2 || extent < 2 * p || shape(0) != shape(p) {
            if k == 0 && i > begin {
                break;
            }
            continue;
        }
        match out.last_mut() {
            Some(last) if last.0 == p => last.1 = extent,
            _ => out.push((p, extent)),
        }
    }
    out
}

/// Items after which rounds that begin in the middle of a stream must have begun again, at least: more where there are few.
const BEGIN: usize = 512;

/// Nests of the list of a round that may be expected by chance; pairs, and nests that are half of it or more.
const RARE: f64 = CHANCE / 100.0;
const PAIRS: f64 = 0.1;

/// Accesses of a list in which pairs back to back are seen without a longer nest: at all places, and where chance makes few.
const FEWEST: u64 = 4;
const SHORT: u64 = 8;

/// The reading of a list that is gone through so often, at the same places; `None` if it takes too long.
pub(super) fn over_and_over(items: &[Item], size: u64, passes: u64) -> Option<Reading> {
    let taste = Taste { evidence: LITTLE, longest: true, shared: &[] };
    let mut steps = 0;
    let growth = Growth::of(items, size, &mut steps, STEPS)?;
    let stream = Stream { items, size, growth: &growth, from: 0 };
    list(stream, Level { count: passes, stride: 0 }, taste, &mut steps)
}

/// The nests of a list that is gone through so often. Those that the list alone does not show are single accesses, but for pairs
/// at a stride that is shown.
fn list(stream: Stream<'_>, rounds: Level, taste: Taste<'_>, steps: &mut usize) -> Option<Reading> {
    let Stream { items, size, .. } = stream;
    let shared = taste.shared.iter().find_map(|s| Some((s, begins(items, s)?)));
    let begin = shared.map_or(0, |s| s.1);
    let mut reading = cut(stream.part(begin, items.len()), taste, None, steps)?;
    join(&mut reading, &items[begin..]);
    let of_list = reading.pieces.iter_mut().flat_map(|p| &mut p.items).chain(&mut reading.rest);
    of_list.for_each(|i| *i += begin);
    let mut records: u64 = items[begin..].iter().map(|i| i.count).sum();
    let grid = grid(items.iter().map(|i| i.offset), std::iter::empty());
    // No random order goes upwards.
    let climbs = items.windows(2).all(|w| w[0].offset < w[1].offset);
    let shown = |p: &Piece, records: u64| {
        if climbs {
            return p.evidence(size) >= LITTLE;
        }
        let foretold = p.records() as usize - p.levels.len();
        let in_a_row = p.items.windows(2).all(|w| w[1] == w[0] + 1);
        let chance = match in_a_row {
            true => records as f64 / grid.powi(foretold as i32),
            false => expected(records as usize, foretold + 1, grid),
        };
        // Any stride would do.
        let chance = if is_given(&p.levels, size) { chance } else { chance * grid };
        let most = 2 * p.records() >= records;
        chance <= if most { PAIRS } else { RARE } || p.records() == records
    };
    // What is shown leaves less to chance.
    let (mut pieces, mut weak) = (Vec::new(), reading.pieces);
    loop {
        let more: Vec<Piece> = weak.extract_if(.., |p| shown(p, records)).collect();
        if more.is_empty() {
            break;
        }
        records -= more.iter().map(Piece::records).sum::<u64>();
        pieces.extend(more);
    }
    let mut single: Vec<usize> = weak.into_iter().flat_map(|p| p.items).chain(reading.rest).collect();
    single.sort_unstable();
    if single.iter().any(|&i| items[i].count > 1) {
        // Runs that are no nest are none of this.
        return Some(Reading { pieces: Vec::new(), rest: (0..items.len()).collect() });
    }
    pieces.extend(shared.map(|((base, levels), n)| Piece {
        base: *base,
        levels: levels.clone(),
        items: (0..n).collect(),
        rounds: true,
        list: 0,
    }));
    let mut strides: Vec<i64> = pieces.iter().flat_map(|p| &p.levels).map(|l| l.stride).collect();
    if records <= FEWEST || records <= SHORT && records as f64 / grid <= PAIRS {
        strides.push(size as i64);
    }
    let mut rest = &single[..];
    let mut pairs: Vec<Vec<usize>> = Vec::new();
    while let Some((&a, others)) = rest.split_first() {
        let stride = |b: usize| items[b].offset.wrapping_sub(items[a].offset) as i64;
        let pair = others.first().copied().filter(|&b| b == a + 1 && strides.contains(&stride(b)));
        pairs.push(std::iter::once(a).chain(pair).collect());
        rest = &rest[1 + usize::from(pair.is_some())..];
    }
    // Any two are a loop, if they are all and done over and over: two pairs at a distance are no more than four places.
    let alone: Vec<usize> = (0..pairs.len()).filter(|&i| pairs[i].len() == 1).collect();
    let begins_alone = shared.is_some_and(|((_, levels), _)| levels.is_empty());
    if let [i, j] = alone[..]
        && pairs[j][0] == pairs[i][0] + 1
        && !begins_alone
        && (rounds.stride == 0 || rounds.count > 2)
    {
        let second = pairs.remove(j);
        pairs[i].extend(second);
    }
    pieces.extend(pairs.into_iter().map(|members| {
        let base = items[members[0]].offset;
        let stride = |&b: &usize| items[b].offset.wrapping_sub(base) as i64;
        let levels = members[1..].iter().map(|b| Level { count: 2, stride: stride(b) }).collect();
        Piece { base, levels, items: members, rounds: true, list: 0 }
    }));
    pieces.sort_by_key(|p| p.items[0]);
    let mut out = Reading::default();
    for mut p in pieces {
        p.levels.push(rounds);
        p.levels = canonical(&p.levels);
        if p.evidence(size) >= LITTLE { out.pieces.push(p) } else { out.rest.extend(p.items) }
    }
    out.rest.sort_unstable();
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::super::nest::offsets;
    use super::*;

    fn items(places: &[u64]) -> Vec<Item> {
        let item = |(i, &offset): (usize, &u64)| {
            let (start, seq) = (i as f64, i as u64);
            Item { offset, stride: 0, size: 8, count: 1, start, end: start, span: (seq, seq) }
        };
        places.iter().enumerate().map(item).collect()
    }

    fn told(places: &[u64]) -> Vec<(u64, Vec<(u64, i64)>)> {
        told_of(8, places)
    }

    fn told_of(size: u64, places: &[u64]) -> Vec<(u64, Vec<(u64, i64)>)> {
        let all = items(places);
        let reading = read(&all, size, Age { records: 1, seconds: 1.0 }).unwrap();
        for p in &reading.pieces {
            let want: Vec<u64> = p.items.iter().map(|&i| all[i].offset).collect();
            assert_eq!(offsets(p.base, &p.levels).collect::<Vec<_>>(), want);
        }
        assert_eq!(reading.rest.len() + reading.pieces.iter().map(|p| p.items.len()).sum::<usize>(), all.len());
        reading.pieces.iter().map(|p| (p.base, p.levels.iter().map(|l| (l.count, l.stride)).collect())).collect()
    }

    #[test]
    fn what_comes_by_chance_is_one_nest_or_visits() {
        let told = |places: &[u64]| -> Vec<(u64, Vec<(u64, i64)>)> {
            let reading = by_chance(&items(places), 8).unwrap();
            assert_eq!(
                reading.rest.len() as u64 + reading.pieces.iter().map(Piece::records).sum::<u64>(),
                places.len() as u64
            );
            reading.pieces.iter().map(|p| (p.base, p.levels.iter().map(|l| (l.count, l.stride)).collect())).collect()
        };
        let twice = |place: u64| (place, vec![(2, 0)]);
        // Two of them in turns, by chance.
        assert_eq!(told(&[50, 10, 90, 10, 90, 50]), [50, 10, 90].map(twice));
        assert_eq!(told(&[10, 90, 10, 90]), [(10, vec![(2, 80), (2, 0)])]);
        // Where one is alone, two visits are too few.
        assert_eq!(told(&[50, 10, 10, 90, 90]), []);
        assert_eq!(told(&[50, 10, 10, 90, 10]), [(10, vec![(3, 0)])]);
        // Two back to back.
        assert_eq!(told(&[8, 16]), []);
        assert_eq!(told(&[8, 16, 24]), [(8, vec![(3, 8)])]);
    }

    #[test]
    fn passes_that_grow_are_nests_of_their_own() {
        // two, four and eight places, twice each
        let pass = |n: u64| (0..n).map(|i| i * 24);
        let places: Vec<u64> = [2, 2, 4, 4, 8, 8].into_iter().flat_map(pass).collect();
        let twice = |n| (0, vec![(n, 24), (2, 0)]);
        assert_eq!(told(&places), [2, 4, 8].map(twice));
        // each begins where the one before ended
        let on = |from: u64, n: u64| (from..from + n).map(|i| i * 24);
        let places: Vec<u64> =
            [(0, 2), (2, 4), (6, 8)].into_iter().flat_map(|(a, n)| on(a, n).chain(on(a, n))).collect();
        assert_eq!(told(&places), [(0, 2), (2, 4), (6, 8)].map(|(a, n)| (a * 24, vec![(n, 24), (2, 0)])));
        // a pass by itself, another nest, and what goes on from that pass
        let pass = |from: u64, n: u64| (0..n).flat_map(move |k| [from + 960 * k, from + 960 * k + 320]);
        let places: Vec<u64> = pass(2224, 1).chain(pass(2464, 3)).chain(pass(3184, 9)).collect();
        let nests: Vec<_> = told(&places).into_iter().map(|(base, levels)| (base, levels[1].0)).collect();
        assert_eq!(nests, [(2224, 10), (2464, 3)]);
        // one place and two: fewer loops if the first is one with what it is in the others
        let places = [0, 0, 0, 24, 0, 24, 0, 24, 48, 72, 0, 24, 48, 72];
        assert_eq!(told(&places), [(0, vec![(4, 0)]), (24, vec![(2, 0)]), (0, vec![(4, 24), (2, 0)])]);
        // each goes on where the one before ended
        let places: Vec<u64> = [8..16u64, 8..16, 16..32, 16..32].into_iter().flatten().map(|k| k * 8).collect();
        assert_eq!(told(&places), [(64, vec![(8, 8), (2, 0)]), (128, vec![(16, 8), (2, 0)])]);
    }

    #[test]
    fn rounds_of_a_list_are_a_level_around_its_nests() {
        let list = [0u64, 1, 2, 6, 7, 3, 4, 5];
        for rounds in 2..6u64 {
            let places: Vec<u64> = (0..rounds).flat_map(|k| list.map(|x| (x + 8 * k) * 100)).collect();
            let want = [(0, vec![(6, 100), (rounds, 800)]), (600, vec![(2, 100), (rounds, 800)])];
            assert_eq!(told(&places), want, "{rounds}");
        }
        // in no order, over and over: a loop each
        let list = [680u64, 808, 1384, 1832, 40];
        let places: Vec<u64> = (0..4).flat_map(|_| list).collect();
        assert_eq!(told(&places), list.map(|o| (o, vec![(4, 0)])));
    }

    #[test]
    fn what_goes_on_in_some_rounds_only_is_one_with_what_it_is_in_others() {
        let a = [0u64, 1000, 1096, 1192];
        let rounds = |n: usize, d: &[u64]| {
            (0..n).flat_map(|_| a.iter().chain(d).copied().collect::<Vec<_>>()).collect::<Vec<_>>()
        };
        let places = [rounds(4, &[]), rounds(4, &[1288]), rounds(4, &[])].concat();
        let want = [(0, vec![(12, 0)]), (1000, vec![(3, 96), (12, 0)]), (1288, vec![(4, 0)])];
        assert_eq!((told_of(8, &places), told_of(96, &places)), (want.to_vec(), want.to_vec()));
    }

    #[test]
    fn the_fewest_numbers_tell_a_stream() {
        let row = |from: u64, n: u64| (from..from + n).map(|i| i * 24);
        // one place, and a nest that goes on from there: no run of nine
        let places: Vec<u64> = row(0, 1).chain((0..4).flat_map(|k| row(1 + 100 * k, 8))).collect();
        assert_eq!(told(&places), [(24, vec![(8, 24), (4, 2400)])]);
        // each is the start of the next one: not passes of the first, and the rest of the others
        let places: Vec<u64> = row(0, 1).chain(row(0, 4)).chain(row(0, 9)).collect();
        assert_eq!(told(&places), [(0, vec![(4, 24)]), (0, vec![(9, 24)])]);
        let places: Vec<u64> = row(0, 3).chain(row(0, 9)).chain(row(0, 27)).map(|p| p / 3).collect();
        assert_eq!(told(&places), [3, 9, 27].map(|n| (0, vec![(n, 8)])));
        // two at a distance, and the start of more elsewhere, are no nest
        let places: Vec<u64> = row(0, 2).chain(row(6, 8)).collect();
        assert_eq!(told(&places), [(144, vec![(8, 24)])]);
        // over and over, and that may break off
        assert_eq!(told_of(96, &[0, 0, 0, 4096, 0, 4096, 0, 0]), [(0, vec![(6, 0)]), (4096, vec![(2, 0)])]);
    }

    #[test]
    fn what_is_told_already_takes_nothing() {
        let run = |from: u64, n: u64| (from..from + n * 96).step_by(96);
        // Five over and over, and once one more: not once six, and five twice.
        let places: Vec<u64> = [6, 5, 5].into_iter().flat_map(|n| std::iter::once(0).chain(run(97, n))).collect();
        assert_eq!(told_of(96, &places), [(0, vec![(3, 0)]), (97, vec![(5, 96), (3, 0)])]);
        // Two nests at first, then one of them alone.
        let both = [777u64, 841, 969, 1033];
        let places = [both.repeat(3), both[..2].repeat(6)].concat();
        assert_eq!(told_of(64, &places), [(777, vec![(2, 64), (9, 0)]), (969, vec![(2, 64), (3, 0)])]);
    }

    #[test]
    fn a_pair_in_a_list_is_two_accesses() {
        let twice = |list: &[u64]| told_of(64, &list.repeat(10));
        let each = |o: u64| (o, vec![(10, 0)]);
        assert_eq!(twice(&[3059, 6073, 9997]), [3059, 6073, 9997].map(each));
        // If no others are alone, they are a pair, and what goes upwards need foretell but one.
        assert_eq!(twice(&[0, 64, 128, 500, 900]), [(0, vec![(3, 64), (10, 0)]), (500, vec![(2, 400), (10, 0)])]);
        assert_eq!(twice(&[0, 500, 900, 1300]), [each(0), (500, vec![(3, 400), (10, 0)])]);
    }

    #[test]
    fn one_nest_is_one_nest() {
        let levels = [Level { count: 3, stride: 16 }, Level { count: 4, stride: 100 }, Level { count: 2, stride: 0 }];
        let places: Vec<u64> = offsets(0, &levels).collect();
        assert_eq!(told(&places), [(0, vec![(3, 16), (4, 100), (2, 0)])]);
    }
}
