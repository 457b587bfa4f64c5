//! Seeking accesses of varying sizes that follow each other back to back.

use std::cell::LazyCell;
use std::collections::HashMap;

use hashbrown::HashTable;

use super::detector::RankDetector;
use super::due::{ANY_SIZE, mix};
use super::nest::Nest;
use super::open::{Course, Open};
use super::sizes::Sizes;
use super::waiting::{Entry, NONE};

/// Accesses of a new sequential pattern if nothing comes between them, and if something does.
const LENGTH: (usize, usize) = (3, 5);

/// A link over so many times more records than the others of a chain is none.
const LONG: usize = 8;

/// A contiguous pattern of fewer accesses that goes on in other sizes was the start of a sequential one.
const SHORT: u64 = 8;

/// An unmatched record with its size.
#[derive(Clone, Copy)]
struct Piece {
    entry: Entry,
    stream: u32,
    size: u64,
}

impl RankDetector {
    /// Seeks sequential patterns among the latest unmatched records.
    pub(super) fn seek_sequential(&mut self) {
        let latest = self.waiting.latest(self.options.window.saturating_mul(2).max(2 * LENGTH.1));
        let mut pieces: Vec<Piece> = latest
            .into_iter()
            .map(|entry| {
                let g = &self.waiting.groups[self.waiting.record(entry.slot).group as usize];
                Piece { entry, stream: g.stream, size: g.size }
            })
            .collect();
        pieces.sort_by_key(|p| (p.stream, p.entry.seq));
        let mut from = 0;
        while from < pieces.len() {
            let stream = pieces[from].stream;
            let n = pieces[from..].partition_point(|p| p.stream == stream);
            if n >= LENGTH.0 && pieces[from..from + n].iter().any(|p| p.size != pieces[from].size) {
                self.seek_chains(&pieces[from..from + n]);
            }
            from += n;
        }
    }

    /// Links each record to the first later one that begins where it ends.
    fn seek_chains(&mut self, pieces: &[Piece]) {
        if !may_link(pieces) {
            return;
        }
        let hash = |offset: u64| mix(offset, 0x5851_f42d_4c95_7f2d);
        let place = |i: &usize| pieces[*i].entry.offset;
        let nests = LazyCell::new(|| nests(pieces));
        // Filled from the back: what is found for a place is its first record after the one that asks.
        let mut index: HashTable<usize> = HashTable::with_capacity(pieces.len());
        let mut next = vec![usize::MAX; pieces.len()];
        for (i, p) in pieces.iter().enumerate().rev() {
            let end = p.entry.offset + p.size;
            if p.size > 0 {
                let after = index.find(hash(end), |j| place(j) == end).copied();
                // What a nest of its own size leads to goes on with others only if it does so at once.
                let after = after.filter(|&j| j == i + 1 || nests[i].or(nests[j]).is_none());
                next[i] = after.unwrap_or(usize::MAX);
            }
            match index.find_mut(hash(p.entry.offset), |j| place(j) == p.entry.offset) {
                Some(j) => *j = i,
                None => {
                    index.insert_unique(hash(p.entry.offset), i, |j| hash(place(j)));
                }
            }
        }
        if next.iter().all(|&n| n == usize::MAX) {
            return;
        }
        // What begins where the one right before it ended goes on with that one only.
        for i in 0..pieces.len() {
            let (direct, j) = (i + 1, next[i]);
            if j != usize::MAX && j != direct && next[j - 1] == j {
                next[i] = usize::MAX;
            }
        }
        let mut used = vec![false; pieces.len()];
        for first in 0..pieces.len() {
            let mut chain = Vec::new();
            let mut at = first;
            while at != usize::MAX && !used[at] {
                chain.push(at);
                at = next[at];
            }
            cut_at_long_link(&mut chain);
            // What goes on elsewhere as a nest belongs to that.
            let goes_on = |chain: &[usize]| {
                let next = chain.last().filter(|_| chain.len() > 1).and_then(|&i| nests[i].filter(|&next| next > i));
                next.is_some_and(|next| chain.iter().all(|i| place(i) != place(&next)))
            };
            while goes_on(&chain) {
                chain.pop();
            }
            let adjacent = chain.windows(2).all(|w| w[1] == w[0] + 1);
            let enough = if adjacent { LENGTH.0 } else { LENGTH.1 };
            if chain.len() >= enough && varies(chain.iter().map(|&i| pieces[i].size)) {
                chain.iter().for_each(|&i| used[i] = true);
                let records: Vec<Piece> = chain.iter().map(|&i| pieces[i]).collect();
                self.open_sequential(&records);
            }
        }
    }

    fn open_sequential(&mut self, pieces: &[Piece]) {
        let Some(first) = pieces.first() else { return };
        let start = first.entry.offset;
        let mut open = self.short_start(first).unwrap_or_else(|| {
            let (op, file) = self.stream_of(first.stream);
            let sizes = Sizes::new(self.options.keep_sizes);
            let course = Course::Sequential { end: start, sizes, records: 0 };
            Open::new(course, op, file, first.stream, ANY_SIZE, NONE, start)
        });
        for p in pieces {
            open.advance(p.size);
            self.count_in(&mut open, &[p.entry]);
        }
        self.open(open);
    }

    /// A short contiguous pattern that ends where a sequential one begins, as the start of that.
    fn short_start(&mut self, first: &Piece) -> Option<Open> {
        let before = (0u32..).zip(&self.opens).filter_map(|(id, o)| o.as_ref().map(|o| (id, o)));
        let (id, _) = before
            .filter(|(_, o)| o.stream == first.stream && o.last_seq < first.entry.seq && o.records() < SHORT)
            .find(|(_, o)| {
                o.due().offset == first.entry.offset
                    && o.nest().is_some_and(|n| n.inner().is_empty() && n.top() as u64 == o.size && o.size > 0)
            })?;
        let mut open = self.take(id)?;
        let mut sizes = Sizes::new(self.options.keep_sizes);
        let records = open.records();
        (0..records).for_each(|_| sizes.add(open.size));
        open.course = Course::Sequential { end: first.entry.offset, sizes, records };
        open.size = ANY_SIZE;
        open.group = NONE;
        open.turns.clear();
        Some(open)
    }
}

/// False if no record begins where another ends; of random ones, nearly always, and without a table.
fn may_link(pieces: &[Piece]) -> bool {
    const FEW: usize = 8;
    let bit = |offset: u64| (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize;
    let end = |p: &Piece| p.entry.offset + p.size;
    let mut ends = [0u64; 64];
    for p in pieces.iter().filter(|p| p.size > 0) {
        ends[bit(end(p)) / 64] |= 1 << (bit(end(p)) % 64);
    }
    let offsets = pieces.iter().map(|p| p.entry.offset).filter(|&o| ends[bit(o) / 64] >> (bit(o) % 64) & 1 == 1);
    let few: Vec<u64> = offsets.take(FEW + 1).collect();
    few.len() > FEW || few.iter().any(|&o| pieces.iter().any(|p| p.size > 0 && end(p) == o))
}

/// Ends a chain before a link over many times more records than its links are over: what begins there is another one.
fn cut_at_long_link(chain: &mut Vec<usize>) {
    let over: Vec<usize> = chain.windows(2).map(|w| w[1] - w[0]).collect();
    let mut sorted = over.clone();
    sorted.sort_unstable();
    let Some(&median) = sorted.get(sorted.len() / 2) else { return };
    if let Some(long) = over.iter().position(|&n| n > LONG * median) {
        chain.truncate(long + 1);
    }
}

/// For each piece in a nest of its size the next one of that, itself if it is the last one; `None` if it is in none but runs.
fn nests(pieces: &[Piece]) -> Vec<Option<usize>> {
    let mut of_size: HashMap<u64, Vec<usize>> = HashMap::new();
    pieces.iter().enumerate().for_each(|(i, p)| of_size.entry(p.size).or_default().push(i));
    let mut out = vec![None; pieces.len()];
    for (size, members) in of_size {
        let places: Vec<u64> = members.iter().map(|&i| pieces[i].entry.offset).collect();
        let mut i = 0;
        while i < places.len() {
            let mut taken = nest_of(&places[i..], size);
            // The last one may be the start of a longer one.
            if taken > 1 && nest_of(&places[i + taken - 1..], size) > taken {
                taken = if taken > 3 { taken - 1 } else { 0 };
            }
            if taken == 0 {
                i += 1;
                continue;
            }
            let of_nest = &members[i..i + taken];
            of_nest.iter().enumerate().for_each(|(n, &j)| out[j] = Some(*of_nest.get(n + 1).unwrap_or(&j)));
            i += taken;
        }
    }
    out
}

/// How many of the first places are a nest that is no run, and has foretold one.
fn nest_of(places: &[u64], size: u64) -> usize {
    let Some((&first, others)) = places.split_first() else { return 0 };
    let (mut nest, mut taken) = (Nest::new(first), 0);
    for (n, &place) in (2..).zip(others) {
        if nest.moves() && place == nest.next() {
            nest.advance();
        } else if nest.partial() > 0 || !nest.wrap(place) {
            break;
        }
        let is_run = nest.inner().is_empty() && nest.top() as u64 == size;
        if nest.partial() == 0 && nest.evidence(size) > 0 && !is_run {
            taken = n;
        }
    }
    taken
}

/// True if sizes change at least twice, and on average before four are equal: else it is contiguous runs.
fn varies(sizes: impl Iterator<Item = u64> + Clone) -> bool {
    let changes = sizes.clone().zip(sizes.clone().skip(1)).filter(|(a, b)| a != b).count();
    changes >= 2 && sizes.count() < 4 * (changes + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn links_are_seen(places in prop::collection::vec((0u64..400, 0u64..9), 1..60), unit in 1u64..5000) {
            let entry = |offset| Entry { slot: 0, offset, seq: 0 };
            let piece = |&(o, n): &(u64, u64)| Piece { entry: entry(o * unit), stream: 0, size: n * unit };
            let pieces: Vec<Piece> = places.iter().map(piece).collect();
            let linked = |p: &Piece| p.size > 0 && pieces.iter().any(|q| q.entry.offset == p.entry.offset + p.size);
            let links = pieces.iter().any(linked);
            prop_assert!(may_link(&pieces) || !links);
            prop_assert!(!may_link(&pieces) || links || pieces.len() > 8);
        }
    }
}
