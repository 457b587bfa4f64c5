//! Nests that follow each other: how a stream goes on that is too long for its [log](super::log), in little memory.
//!
//! A nest takes in every access as long as it stays one. Where one does not fit, the nest ends with its last complete pass, and
//! the next nest begins after that: what begins like another pass and goes on in another way is read from its start.

use super::log::Item;
use super::nest::{Level, Nest};
use super::options::Age;
use super::reading::{self, EVIDENCE, LITTLE, Piece, Reading};
use super::steps::Steps;

/// Steps that a nest keeps.
const STEPS: usize = 256;

/// A nest.
#[derive(Debug, Clone)]
pub(super) struct Link {
    nest: Nest,
    steps: Steps,
    /// Start of the first access and end of the last, seconds.
    times: (f64, f64),
    /// Numbers of the first and the last among the records of the rank.
    span: (u64, u64),
}

/// An item, and how many of its accesses lie before the place meant.
type At = (usize, u64);

/// Nests that follow each other.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    size: u64,
    /// Items further apart have nothing to do with each other.
    age: Age,
    links: Vec<Link>,
    /// The nest that may go on.
    last: Option<Link>,
    /// The last item of it.
    seen: Option<Item>,
}

impl Chain {
    pub fn new(size: u64, age: Age) -> Chain {
        Chain { size, age, links: Vec::new(), last: None, seen: None }
    }

    pub fn size(&self) -> u64 {
        self.size
    }

    /// About how many items take as much memory.
    pub fn weight(&self) -> usize {
        self.links.iter().chain(&self.last).map(|l| 3 + l.steps.list().len() / 2).sum()
    }

    pub fn records(&self) -> u64 {
        self.links.iter().chain(&self.last).map(|l| l.nest.records()).sum()
    }

    /// All nests, the last items being these.
    pub fn finish(mut self, items: Vec<Item>) -> Vec<Link> {
        let rest = self.take(items);
        self.end_with(rest);
        self.links.extend(self.last);
        self.links
    }

    /// Takes the next items, in order, but for those of a pass that is not complete: these are given back.
    pub fn take(&mut self, items: Vec<Item>) -> Vec<Item> {
        let (age, mut rest) = (self.age, Vec::new());
        for near in items.chunk_by(|a, b| a.is_near(b, age)) {
            self.end_with(std::mem::take(&mut rest));
            if self.seen.zip(near.first()).is_some_and(|(a, b)| !a.is_near(b, age)) {
                self.links.extend(self.last.take());
            }
            rest = self.go_through(near);
        }
        rest
    }

    /// Ends all nests with these items.
    fn end_with(&mut self, mut items: Vec<Item>) {
        while !items.is_empty() {
            self.links.extend(self.last.take());
            items = self.go_through(&items);
        }
    }

    fn go_through(&mut self, items: &[Item]) -> Vec<Item> {
        let mut at = (0, 0);
        loop {
            let (nest, to, ended) = learn(self.last.as_ref().map(|l| l.nest.clone()), items, at);
            let Some(nest) = nest else { return Vec::new() };
            let (nest, to) = self.end(nest, items, (at, to), ended);
            self.go_on(nest, between(items, at, to));
            at = to;
            if !ended {
                return between(items, at, (items.len(), 0)).collect();
            }
            self.links.extend(self.last.take());
        }
    }

    /// Where a nest ends that some of the items go on with: it, and the place after it.
    fn end(&self, nest: Nest, items: &[Item], (from, to): (At, At), ended: bool) -> (Nest, At) {
        if ended && self.last.is_none() && nest.records() == 2 && nest.evidence(self.size) == 0 {
            // Any two are a loop: the second may belong to what follows.
            return (Nest::new(nest.base()), forward(items, from, 1));
        }
        // The last pass, or the end of a run that is as long as the row after it, may be the start of what follows.
        let (passes, records) = (nest.passes(), nest.records());
        if !ended || passes < 2 {
            return (nest, to);
        }
        let single = nest.inner().is_empty();
        let row = items.get(to.0).filter(|i| i.stride == nest.top()).map_or(1, |i| i.count - to.1);
        let (_, other, other_ended) = learn(None, items, to);
        let mut best = (nest.clone(), to, other, other_ended);
        let of_row = if single { row.min(records - 1) } else { records / passes };
        for last in [records / passes, of_row] {
            let Some(back) = backward(items, (from, to), last) else { continue };
            let (next, larger, larger_ended) = learn(None, items, back);
            // A run that is longer than the rows after it, whose first one it ends with.
            let of_rows = |n: &Nest| n.inner().first().is_some_and(|l| (l.count, l.stride) == (row, nest.top()));
            let has_row = single && last == row && last < records && next.as_ref().is_some_and(of_rows);
            // The one that nothing stops, or that goes further; two passes are more to tell than one.
            let further = larger > best.2 || larger == best.2 && (passes == 2 || has_row) && best.1 == to;
            let goes_on = if best.3 == larger_ended { further } else { best.3 };
            if goes_on {
                let less = match nest.inner() {
                    [] => Some(Nest::of_run(nest.base(), nest.top(), records - last)),
                    _ => nest.clone().without_last().map(|n| n.0),
                };
                best = (less.unwrap_or_else(|| nest.clone()), back, larger, larger_ended);
            }
        }
        (best.0, best.1)
    }

    fn go_on(&mut self, nest: Nest, items: impl Iterator<Item = Item>) {
        let size = self.size;
        for i in items {
            self.seen = Some(i);
            let last = self.last.get_or_insert_with(|| Link {
                nest: Nest::new(i.offset),
                steps: Steps::default(),
                times: (i.start, i.end),
                span: i.span,
            });
            last.steps.add_many(i.start, i.end, i.count.saturating_mul(size), i.count);
            last.steps.bound(STEPS);
            (last.times.1, last.span.1) = (last.times.1.max(i.end), i.span.1);
        }
        self.last.iter_mut().for_each(|l| l.nest = nest.clone());
    }
}

/// Lets a nest go on, or begins one; gives the nest without a pass that is not complete, where that would begin, and whether
/// something came that does not fit.
fn learn(known: Option<Nest>, items: &[Item], from: At) -> (Option<Nest>, At, bool) {
    let mut nest = known;
    let (mut here, mut whole, mut ended) = (from, from, false);
    while let Some(item) = items.get(here.0) {
        let (place, rest) = (item.place(here.1), item.count - here.1);
        let taken = match &mut nest {
            None => {
                nest = Some(Nest::new(place));
                1
            }
            Some(nest) => nest.take_some(place, item.stride, rest),
        };
        if taken == 0 {
            ended = true;
            break;
        }
        here = forward(items, here, taken);
        if nest.as_ref().is_some_and(|n| n.partial() == 0) {
            whole = here;
        }
    }
    (nest.map(|n| n.settle().0), whole, ended)
}

/// The place so many accesses, no more than there are, after another.
fn forward(items: &[Item], (mut i, mut k): At, n: u64) -> At {
    k += n;
    while let Some(item) = items.get(i).filter(|item| k >= item.count) {
        (i, k) = (i + 1, k - item.count);
    }
    (i, k)
}

/// The place so many accesses before the end of a range; `None` if it is not in it.
fn backward(items: &[Item], (from, (mut i, mut k)): (At, At), mut n: u64) -> Option<At> {
    while k < n {
        n -= k;
        i = i.checked_sub(1)?;
        k = items[i].count;
    }
    Some((i, k - n)).filter(|at| *at >= from)
}

/// The items of a range.
fn between(items: &[Item], from: At, to: At) -> impl Iterator<Item = Item> + '_ {
    (from.0..items.len().min(to.0 + 1)).filter_map(move |i| {
        let first = if i == from.0 { from.1 } else { 0 };
        let end = if i == to.0 { to.1 } else { items[i].count };
        items[i].range(first, end)
    })
}

/// What such nests are, those together that go on or do the same again: the reading, and its items.
pub(super) fn reading(links: &[Link], size: u64) -> (Vec<Item>, Reading) {
    let piece = |(i, link): (usize, &Link)| {
        let levels: Vec<Level> = if link.nest.moves() { link.nest.levels() } else { Vec::new() };
        Piece { base: link.nest.base(), levels, items: vec![i], rounds: false, list: i }
    };
    let mut told = Reading { pieces: links.iter().enumerate().map(piece).collect(), rest: Vec::new() };
    reading::join(&mut told, &[]);
    // Where something is left over, a nest must have foretold more.
    let over = told.pieces.iter().any(|p| p.evidence(size) < LITTLE);
    let least = if over { EVIDENCE } else { LITTLE };
    let (mut items, mut out) = (Vec::new(), Reading::default());
    for piece in told.pieces {
        let counts = piece.evidence(size) >= least;
        let from = items.len();
        for link in piece.items.iter().map(|&i| &links[i]) {
            if counts { items.extend(link.by_steps(size)) } else { items.extend(link.one_by_one(size)) }
        }
        let members = from..items.len();
        if counts { out.pieces.push(Piece { items: members.collect(), ..piece }) } else { out.rest.extend(members) }
    }
    (items, out)
}

impl Link {
    /// An item for each of its steps, whose places tell nothing.
    fn by_steps(&self, size: u64) -> Vec<Item> {
        let mut unknown = self.steps.forgotten();
        let item = |s: &super::steps::Step| {
            let (count, start) = match std::mem::take(&mut unknown) {
                0 => (s.records, s.start),
                before => (before + s.records, self.times.0),
            };
            Item { offset: self.nest.base(), stride: 0, size, count, start, end: s.end, span: self.span }
        };
        self.steps.list().iter().map(item).collect()
    }

    fn one_by_one(&self, size: u64) -> Vec<Item> {
        let n = self.nest.records();
        let (start, end) = self.times;
        let at = |i: u64| start + (end - start) * i as f64 / n as f64;
        let seq = |i: u64| self.span.0 + (self.span.1 - self.span.0) * i / (n - 1).max(1);
        let item = |i: u64| {
            let span = (seq(i), seq(i));
            Item { offset: self.nest.place(i), stride: 0, size, count: 1, start: at(i), end: at(i + 1), span }
        };
        (0..n).map(item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::nest::offsets;
    use super::*;

    fn level(count: u64, stride: i64) -> Level {
        Level { count, stride }
    }

    /// The places as runs that are greedy in pairs, as a log keeps them.
    fn items(places: &[u64]) -> Vec<Item> {
        let mut out: Vec<Item> = Vec::new();
        for (i, &offset) in places.iter().enumerate() {
            let (start, seq) = (i as f64, i as u64);
            match out.last_mut() {
                Some(last) if last.extended_by(offset, 8) => last.extend(offset, start + 1.0, seq),
                _ => out.push(Item { offset, stride: 0, size: 8, count: 1, start, end: start + 1.0, span: (seq, seq) }),
            }
        }
        out
    }

    /// The nests of places that come in portions, which together are these places.
    fn told(places: &[u64], portion: usize) -> Vec<(u64, Vec<Level>)> {
        let mut chain = Chain::new(8, Age { records: 1, seconds: 0.5 });
        let mut rest = Vec::new();
        for some in items(places).chunks(portion) {
            rest.extend_from_slice(some);
            rest = chain.take(rest);
        }
        let links = chain.finish(rest);
        let nests: Vec<(u64, Vec<Level>)> = links.iter().map(|l| (l.nest.base(), l.nest.levels())).collect();
        let of = |l: &Link| if l.nest.moves() { l.nest.levels() } else { Vec::new() };
        let back: Vec<u64> = links.iter().flat_map(|l| offsets(l.nest.base(), &of(l)).collect::<Vec<_>>()).collect();
        assert_eq!(back, places);
        let (items, reading) = reading(&links, 8);
        let records: u64 =
            reading.pieces.iter().flat_map(|p| &p.items).chain(&reading.rest).map(|&i| items[i].count).sum();
        assert_eq!(records as usize, places.len());
        nests
    }

    #[test]
    fn nests_that_grow_over_the_same_places_are_told_apart() {
        let a = vec![level(2, 24), level(2, 96), level(4, 288), level(2, 1728), level(10, 0)];
        let b = vec![level(4, 24), level(2, 192), level(8, 576), level(4, 6912), level(10, 0)];
        let c = vec![level(6, 8), level(18, 96)];
        let nests = [a, b, c];
        let places: Vec<u64> = nests.iter().flat_map(|n| offsets(777, n).collect::<Vec<_>>()).collect();
        for portion in [7, 64, 1000, 100_000] {
            assert_eq!(told(&places, portion), nests.clone().map(|n| (777, n)), "{portion}");
        }
    }

    #[test]
    fn the_last_of_several_passes_may_be_the_start_of_a_larger_nest() {
        // one place three times, then two places three times
        let places = [0, 0, 0, 24, 0, 24, 0, 24];
        // two that go on as the first row of a nest, and rows that go on as that of a larger one
        let pair = vec![level(2, 8)];
        let nest = vec![level(2, 8), level(4, 24), level(4, 144)];
        let both: Vec<u64> = offsets(4096, &pair).chain(offsets(4112, &nest)).collect();
        assert_eq!(told(&both, 1000), [(4096, pair), (4112, nest)]);
        let few = vec![level(2, 64), level(4, 960)];
        let many = vec![level(2, 64), level(3, 320), level(12, 2880)];
        let both: Vec<u64> = offsets(768, &few).chain(offsets(4608, &many)).collect();
        assert_eq!(told(&both, 1000), [(768, few), (4608, many)]);
        // the first row of a larger nest is what was done before
        let row = vec![level(4, 8), level(3, 0)];
        let rows = vec![level(4, 8), level(5, 100), level(3, 0)];
        let both: Vec<u64> = offsets(0, &row).chain(offsets(0, &rows)).collect();
        assert_eq!(told(&both, 1000), [(0, row), (0, rows)]);
        assert_eq!(told(&places, 1000)[1], (0, vec![level(2, 24), level(3, 0)]));
    }

    #[test]
    fn a_nest_ends_where_nothing_is_known_any_more() {
        let mut some = items(&[0, 8, 16, 24]);
        let mut more = items(&[32, 40, 48]);
        more.iter_mut().for_each(|i| (i.start, i.end) = (i.start + 100.0, i.end + 100.0));
        some.append(&mut more);
        let lengths = |age| {
            let links = Chain::new(8, age).finish(some.clone());
            links.iter().map(|l| l.nest.records()).collect::<Vec<_>>()
        };
        assert_eq!(lengths(Age { records: 10, seconds: 100.0 }), [7]);
        assert_eq!(lengths(Age { records: 10, seconds: 90.0 }), [4, 3]);
    }

    #[test]
    fn a_row_gives_back_the_first_row_of_a_nest() {
        // A header right before rows, several times, and then with longer rows.
        let rows = |n: u64, rows: u64| vec![level(n, 16), level(rows, 32 * n as i64)];
        let lists = [rows(2, 16), rows(6, 144)];
        let list = |nest: &Vec<Level>| std::iter::once(96).chain(offsets(112, nest)).collect::<Vec<u64>>();
        let places: Vec<u64> = lists.iter().flat_map(|nest| list(nest).repeat(3)).collect();
        let nests = told(&places, 1000);
        assert_eq!(nests.iter().filter(|(base, nest)| *base == 112 && lists.contains(nest)).count(), 6, "{nests:?}");
        assert_eq!(nests.iter().filter(|(base, _)| *base == 96).count(), 6, "{nests:?}");
    }

    #[test]
    fn any_places_come_back() {
        let mut x = 1u64;
        let mut random = |n: u64| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) % n
        };
        for most in [2, 3, 8, 1000] {
            let places: Vec<u64> = (0..2000).map(|_| random(most) * 8).collect();
            for portion in [5, 300] {
                told(&places, portion);
            }
        }
    }
}
