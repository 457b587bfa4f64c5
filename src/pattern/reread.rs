//! A stream that is little is read again as a whole when the trace ends.
//!
//! Reading record by record has to decide before it knows what comes. Here all of it is known: the stream is cut into nests
//! that follow each other, and into rounds of nests (the same list over and over, each time a distance further), so that as
//! little as possible is left over, then with the fewest patterns, then with the fewest loops. If that tells the same in less
//! than what was found record by record, it takes the place of it.

use super::left::Left;
use super::log::Item;
use super::nest::{Level, Nest, canonical};
use super::remnants::{CHANCE, expected, grid};

/// What a reading costs: records in no pattern, patterns, loops.
pub(super) type Cost = (u64, usize, usize);

/// Records that a nest must have foretold where something is left over, and where nothing is.
pub(super) const EVIDENCE: u64 = 2;
const LITTLE: u64 = 1;

/// Fewest records of a nest of a round: any two have a stride.
const THREE: u64 = 3;

/// Steps that a reading may take.
const STEPS: usize = 1 << 22;

/// A nest, and the items that are its records, in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub base: u64,
    pub levels: Vec<Level>,
    pub items: Vec<usize>,
    /// It is part of a list that is gone through several times.
    pub rounds: bool,
}

impl Piece {
    /// True if it is done over and over: in rounds, or at the same places again.
    pub fn repeats(&self) -> bool {
        self.rounds || self.levels.iter().any(|l| l.stride == 0)
    }

    fn records(&self) -> u64 {
        self.levels.iter().map(|l| l.count).product()
    }

    /// Records foretold: all but the first and one for each loop; distance 0 and back to back are no free choice.
    pub fn evidence(&self, size: u64) -> u64 {
        (self.records() + u64::from(is_given(&self.levels, size))).saturating_sub(1 + self.levels.len() as u64)
    }
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
}

/// What leads to a place of the stream.
#[derive(Debug, Clone)]
enum Way {
    /// The item before is in no pattern.
    Over,
    /// A nest that begins there.
    Nest(usize, Vec<Level>),
    /// Rounds that begin there: of one round, and how many at which distance.
    Rounds(usize, Reading, usize, Level),
}

/// The best reading of accesses of one size; `None` if it takes too long.
pub(super) fn read(items: &[Item], size: u64) -> Option<Reading> {
    let mut steps = 0;
    let mut whole = |evidence| {
        let mut reading = cut(items, size, evidence, true, &mut steps)?;
        join(&mut reading, items);
        Some(reading)
    };
    let reading = whole(LITTLE)?;
    let weak = |p: &Piece| p.evidence(size) < EVIDENCE;
    // Where something is left over, a nest must have foretold more.
    if reading.rest.is_empty() || !reading.pieces.iter().any(weak) {
        return Some(reading);
    }
    whole(EVIDENCE)
}

/// What it takes to tell a nest of the list of a round, where an access in none takes [`ACCESS`]: its place, and a stride for
/// each loop, but 0 and that of accesses back to back; a little more for each further loop.
fn telling(levels: &[Level], size: u64) -> u64 {
    let free = 1 + levels.len() - usize::from(is_given(levels, size));
    ACCESS * free as u64 + levels.len() as u64 - 1
}

const ACCESS: u64 = 2;

fn is_given(levels: &[Level], size: u64) -> bool {
    levels.first().is_some_and(|l| l.stride == 0 || size > 0 && l.stride as u64 == size)
}

/// Cuts the stream into nests of this evidence, and into rounds. Without rounds, the list of one is cut: it is told with as
/// little as possible.
fn cut(items: &[Item], size: u64, evidence: u64, rounds: bool, steps: &mut usize) -> Option<Reading> {
    let m = items.len();
    let mut best: Vec<(Cost, Way)> = vec![((u64::MAX, 0, 0), Way::Over); m + 1];
    best[0].0 = (0, 0, 0);
    let mut before: Vec<(usize, usize)> = Vec::new();
    for i in 0..m {
        let here = best[i].0;
        let mut offer = |at: usize, cost: Cost, way: &dyn Fn() -> Way| {
            let total = (here.0 + cost.0, here.1 + cost.1, here.2 + cost.2);
            if total < best[at].0 {
                best[at] = (total, way());
            }
        };
        let over = if rounds { (items[i].count, 0, 0) } else { (ACCESS * items[i].count, 1, 0) };
        offer(i + 1, over, &|| Way::Over);
        let mut nest = Nest::of_run(items[i].offset, items[i].stride, items[i].count);
        for (j, item) in items.iter().enumerate().skip(i) {
            *steps += 1;
            if *steps > STEPS {
                return None;
            }
            if j > i && !nest.take_run(item.offset, item.stride, item.count) {
                break;
            }
            let enough = nest.evidence(size) >= evidence && (rounds || nest.records() >= THREE);
            if nest.partial() == 0 && enough {
                let levels = nest.levels();
                let telling = if rounds { 0 } else { telling(&levels, size) };
                offer(j + 1, (telling, 1, levels.len()), &|| Way::Nest(i, levels.clone()));
            }
        }
        if !rounds {
            continue;
        }
        let found = periods(&items[i..], if i == 0 { m } else { BEGIN }, steps);
        for &(p, extent) in &found {
            // The same rounds, one item later.
            if before.contains(&(p, extent + 1)) {
                continue;
            }
            let rounds = extent / p;
            let stride = items[i + p].offset.wrapping_sub(items[i].offset) as i64;
            let level = Level { count: rounds as u64, stride };
            let list = list(&items[i..i + p], size, level, steps)?;
            let (rest, patterns, levels) = list.cost(&items[i..]);
            offer(i + rounds * p, (rest * level.count, patterns, levels), &|| Way::Rounds(i, list.clone(), p, level));
        }
        before = found;
    }
    let mut reading = Reading::default();
    let mut at = m;
    while at > 0 {
        match std::mem::replace(&mut best[at].1, Way::Over) {
            Way::Over => {
                reading.rest.push(at - 1);
                at -= 1;
            }
            Way::Nest(from, levels) => {
                reading.pieces.push(Piece {
                    base: items[from].offset,
                    levels,
                    items: (from..at).collect(),
                    rounds: false,
                });
                at = from;
            }
            Way::Rounds(from, list, p, level) => {
                let all = |list: &[usize]| -> Vec<usize> {
                    (0..level.count as usize).flat_map(|k| list.iter().map(move |i| from + k * p + i)).collect()
                };
                reading.rest.extend(all(&list.rest).into_iter().rev());
                let pieces = list.pieces.iter().rev();
                reading.pieces.extend(pieces.map(|piece| Piece {
                    items: all(&piece.items),
                    rounds: true,
                    ..piece.clone()
                }));
                at = from;
            }
        }
    }
    reading.rest.reverse();
    reading.pieces.reverse();
    Some(reading)
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

/// Items after which rounds that begin in the middle of a stream must have begun again.
const BEGIN: usize = 128;

/// Nests of the list of a round that may be expected by chance; pairs, and nests that are most of it.
const RARE: f64 = CHANCE / 100.0;
const PAIRS: f64 = 0.1;

/// Accesses of a list in which pairs back to back are seen without a longer nest.
const SHORT: u64 = 8;

/// The nests of a list that is gone through so often. Those that the list alone does not show are single accesses, but for pairs
/// at a stride that is shown.
fn list(items: &[Item], size: u64, rounds: Level, steps: &mut usize) -> Option<Reading> {
    let mut reading = cut(items, size, LITTLE, false, steps)?;
    join(&mut reading, items);
    let records: u64 = items.iter().map(|i| i.count).sum();
    let grid = grid(items.iter().map(|i| i.offset), std::iter::empty());
    let shown = |p: &Piece| {
        let foretold = p.records() as usize - p.levels.len();
        let in_a_row = p.items.windows(2).all(|w| w[1] == w[0] + 1);
        let chance = match in_a_row {
            true => records as f64 / grid.powi(foretold as i32),
            false => expected(records as usize, foretold + 1, grid),
        };
        // Any stride would do.
        let chance = if is_given(&p.levels, size) { chance } else { chance * grid };
        let most = 2 * p.records() > records;
        chance <= if most { PAIRS } else { RARE } || p.records() == records
    };
    let (mut pieces, weak): (Vec<Piece>, Vec<Piece>) = reading.pieces.into_iter().partition(shown);
    let mut single: Vec<usize> = weak.into_iter().flat_map(|p| p.items).chain(reading.rest).collect();
    single.sort_unstable();
    if single.iter().any(|&i| items[i].count > 1) {
        // Runs that are no nest are none of this.
        return Some(Reading { pieces: Vec::new(), rest: (0..items.len()).collect() });
    }
    let mut strides: Vec<i64> = pieces.iter().flat_map(|p| &p.levels).map(|l| l.stride).collect();
    if records <= SHORT && records as f64 / grid <= PAIRS {
        strides.push(size as i64);
    }
    let mut rest = &single[..];
    while let Some((&a, others)) = rest.split_first() {
        let stride = |b: usize| items[b].offset.wrapping_sub(items[a].offset) as i64;
        let pair = others.first().copied().filter(|&b| b == a + 1 && strides.contains(&stride(b)));
        let levels = pair.map(|b| Level { count: 2, stride: stride(b) });
        let members: Vec<usize> = std::iter::once(a).chain(pair).collect();
        rest = &rest[members.len()..];
        pieces.push(Piece {
            base: items[a].offset,
            levels: levels.into_iter().collect(),
            items: members,
            rounds: true,
        });
    }
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

/// Joins nests that go on where another one ended, whatever came between.
fn join(reading: &mut Reading, items: &[Item]) {
    let mut done: Vec<Piece> = Vec::new();
    for p in std::mem::take(&mut reading.pieces) {
        let goes_on = |d: &&mut Piece| match (d.levels.split_last(), p.levels.split_last()) {
            (Some((top, inner)), Some((other, rest))) => {
                inner == rest
                    && top.stride == other.stride
                    && Nest::from_levels(d.base, &d.levels).next() == p.base
                    && d.items.last() < p.items.first()
            }
            _ => false,
        };
        match done.iter_mut().find(goes_on) {
            Some(d) => {
                let more = p.levels.last().map_or(0, |l| l.count);
                d.levels.iter_mut().last().into_iter().for_each(|l| l.count += more);
                d.items.extend(p.items);
            }
            None => done.push(p),
        }
    }
    reading.rest.retain(|&i| {
        let next = |d: &&mut Piece| {
            d.levels.len() == 1
                && items[i].count == 1
                && d.items.last() < Some(&i)
                && Nest::from_levels(d.base, &d.levels).next() == items[i].offset
        };
        let Some(d) = done.iter_mut().find(next) else { return true };
        d.levels[0].count += 1;
        d.items.push(i);
        false
    });
    reading.pieces = done;
}

/// The single accesses of items, as what is left.
pub(super) fn singles(items: &[Item], numbers: &[usize], of: impl Fn(&Item) -> Left) -> Vec<Left> {
    numbers.iter().flat_map(|&i| (0..items[i].count).map(move |k| (i, k))).map(|(i, k)| of(&items[i].part(k))).collect()
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
        let all = items(places);
        let reading = read(&all, 8).unwrap();
        for p in &reading.pieces {
            let want: Vec<u64> = p.items.iter().map(|&i| all[i].offset).collect();
            assert_eq!(offsets(p.base, &p.levels).collect::<Vec<_>>(), want);
        }
        assert_eq!(reading.rest.len() + reading.pieces.iter().map(|p| p.items.len()).sum::<usize>(), all.len());
        reading.pieces.iter().map(|p| (p.base, p.levels.iter().map(|l| (l.count, l.stride)).collect())).collect()
    }

    #[test]
    fn passes_that_grow_are_nests_of_their_own() {
        // one, two and four places, twice each
        let places = [0, 0, 0, 24, 0, 24, 0, 24, 48, 72, 0, 24, 48, 72];
        assert_eq!(told(&places), [(0, vec![(2, 0)]), (0, vec![(2, 24), (2, 0)]), (0, vec![(4, 24), (2, 0)])]);
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
    fn one_nest_is_one_nest() {
        let levels = [Level { count: 3, stride: 16 }, Level { count: 4, stride: 100 }, Level { count: 2, stride: 0 }];
        let places: Vec<u64> = offsets(0, &levels).collect();
        assert_eq!(told(&places), [(0, vec![(3, 16), (4, 100), (2, 0)])]);
    }
}
