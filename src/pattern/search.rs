//! Seeking new patterns in the list of unmatched records, in the order of time.
//!
//! Records of one stream and size are read as nests, greedily, from each record that does not fit the nest before. A nest counts
//! once it has foretold two of its records. Where the records follow a known pattern directly, they may also be its next
//! pass: that is how a pattern gets a further level.

use super::detector::RankDetector;
use super::nest::{Nest, Stop, learn};
use super::open::{Course, Open};
use super::waiting::{Entry, NONE};

/// Records that a new pattern must have foretold.
const EVIDENCE: u64 = 2;

/// Unmatched records of a group that are looked at again with the fresh ones.
const CARRY: usize = 32;

/// A group with this many unmatched records may hold interleaved patterns.
const SCATTERED: u32 = 8;

/// Passes of a paused pattern after which records wait no longer for its decision.
const UNITS: u64 = 4;

/// What the records after a paused pattern tell.
enum Decision {
    /// Not yet anything.
    Later,
    /// So many of them belong to the nest that its last pass has become.
    Taken(usize),
    /// No larger nest.
    Nothing,
}

impl RankDetector {
    /// Seeks new patterns in what has come since the last search.
    pub(super) fn search(&mut self) {
        self.expire();
        self.waiting.fresh = 0;
        self.seek_sequential();
        let dirty = std::mem::take(&mut self.waiting.dirty);
        for &g in &dirty {
            let fresh = std::mem::take(&mut self.waiting.groups[g as usize].fresh) as usize;
            self.seek_nests(g, fresh);
            if self.waiting.groups[g as usize].len >= SCATTERED
                && !self.is_paused(self.waiting.groups[g as usize].recent)
            {
                self.seek_scattered(g);
            }
            self.waiting.release(g);
        }
        // A pattern stays paused while nothing has come that could tell.
        for id in std::mem::take(&mut self.paused) {
            let group = self.opens.get(id as usize).and_then(Option::as_ref).filter(|o| o.paused).map(|o| o.group);
            match group {
                Some(g) if !self.ending && (self.undecided.contains(&id) || !dirty.contains(&g)) => {
                    self.paused.push(id)
                }
                _ => self.unpause(id),
            }
        }
        self.undecided.clear();
        let mut dirty = dirty;
        dirty.clear();
        // Records may have come back to the list meanwhile.
        dirty.append(&mut self.waiting.dirty);
        self.waiting.dirty = dirty;
    }

    /// Reads the last records of a group as nests.
    fn seek_nests(&mut self, g: u32, fresh: usize) {
        let group = &self.waiting.groups[g as usize];
        // Two alone foretell nothing.
        if group.len < 2 || group.len == 2 && group.recent == NONE {
            return;
        }
        let mut entries = Vec::new();
        // a paused pattern may be followed by all that waits
        let most = if self.is_paused(self.waiting.groups[g as usize].recent) { usize::MAX } else { fresh + CARRY };
        let mut left_behind = self.waiting.tail(g, most, &mut entries);
        let places: Vec<u64> = entries.iter().map(|e| e.offset).collect();
        let (stream, size) = (self.waiting.groups[g as usize].stream, self.waiting.groups[g as usize].size);
        let mut opened = false;
        let mut i = 0;
        while i < entries.len() {
            let e = entries[i];
            if opened && let Some(id) = self.known(stream, size, e.offset) {
                self.give(id, e.slot);
                i += 1;
                continue;
            }
            let recent = self.waiting.groups[g as usize].recent;
            let follows = recent != NONE
                && self
                    .opens
                    .get(recent as usize)
                    .and_then(Option::as_ref)
                    .is_some_and(|o| o.last_seq < e.seq && left_behind.is_none_or(|seq| seq < o.last_seq));
            if follows && self.is_paused(recent) {
                match self.decide(recent, &entries[i..], &places[i..]) {
                    Decision::Later => {
                        self.undecided.push(recent);
                        return;
                    }
                    Decision::Taken(n) => {
                        i += n;
                        self.pause_grown(g, places.get(i));
                        continue;
                    }
                    Decision::Nothing => self.unpause(recent),
                }
            }
            let taken = if follows { self.resume(recent, &entries[i..], &places[i..]) } else { 0 };
            let (taken, turns) = match taken {
                0 => self.begin(g, &entries[i..], &places[i..], EVIDENCE),
                n => (n, false),
            };
            opened |= turns;
            if taken > 0 && i > 0 {
                self.reach_back(g, &entries[..i]);
            }
            if taken == 0 {
                left_behind = Some(e.seq);
            }
            i += taken.max(1);
            if taken > 0 {
                self.pause_grown(g, places.get(i));
            }
        }
    }

    /// The pattern that took the last record pauses if its last pass may go on with the next one, as the first one of a larger
    /// nest.
    fn pause_grown(&mut self, g: u32, next: Option<&u64>) {
        let recent = self.waiting.groups[g as usize].recent;
        let open = self.opens.get(recent as usize).and_then(Option::as_ref);
        if next.is_some() && open.and_then(Open::nest).and_then(Nest::grown) == next.copied() {
            self.pause(recent);
        }
    }

    fn is_paused(&self, id: u32) -> bool {
        self.opens.get(id as usize).and_then(Option::as_ref).is_some_and(|o| o.paused)
    }

    /// Records that follow a paused pattern: does its last pass go on, as the first one of a larger nest?
    fn decide(&mut self, id: u32, entries: &[Entry], places: &[u64]) -> Decision {
        let nest =
            self.opens[id as usize].as_ref().and_then(Open::nest).filter(|n| n.grown() == places.first().copied());
        let Some((old, (whole, last))) = nest.and_then(|n| Some((n.clone(), n.clone().without_last()?))) else {
            return Decision::Nothing;
        };
        let known = last.records();
        let [around, within, apart] = continuations(&old, last.clone(), places);
        let enough = places.len() as u64 > UNITS * known + self.options.window as u64;
        if within == places.len() && within == around.max(apart) && !enough && !self.ending {
            return Decision::Later;
        }
        if around >= within || apart > within {
            return Decision::Nothing;
        }
        let mut longer = last.clone();
        let n = match learn(&mut longer, places).1 {
            Stop::End => places.len(),
            _ => longer.settle().0.records().saturating_sub(known) as usize,
        };
        if n == 0 {
            return Decision::Nothing;
        }
        let Some(open) = self.take(id) else { return Decision::Nothing };
        let mut longer = last.clone();
        learn(&mut longer, &places[..n]);
        let mut parts = open.cut(vec![whole, last]).into_iter();
        parts.next().into_iter().for_each(|whole| self.retire(whole));
        if let Some(part) = parts.next() {
            self.reopen(part, longer, &entries[..n]);
        }
        Decision::Taken(n)
    }

    /// Takes records as a further pass of a pattern that they follow directly. Gives how many.
    fn resume(&mut self, id: u32, entries: &[Entry], places: &[u64]) -> usize {
        let Some(open) = self.opens[id as usize].as_ref() else { return 0 };
        let Some(old) = open.nest() else { return 0 };
        if old.partial() > 0 {
            return self.resume_broken(id, entries, places);
        }
        let mut nest = old.clone();
        let (n, stop) = learn(&mut nest, places);
        match stop {
            // Two records foretold, or a whole pass.
            Stop::End if n >= 3 || nest.partial() == 0 => {
                self.extend(id, nest, &entries[..n]);
                n
            }
            Stop::End | Stop::Rounds => 0,
            Stop::Streams if nest.partial() == 0 && nest.records() == 2 * old.records() => {
                // The second pass goes on by itself: it is a stream of its own.
                let open_second = nest.part().1;
                self.found(id, open_second, &entries[..n]);
                n
            }
            Stop::Mismatch | Stop::Streams => {
                let known = old.records();
                let kept = (nest.settle().0.records()).saturating_sub(known) as usize;
                if kept == 0 {
                    return 0;
                }
                let mut nest = old.clone();
                learn(&mut nest, &places[..kept]);
                self.extend(id, nest, &entries[..kept]);
                kept
            }
        }
    }

    /// The pass that the pattern had begun was none: what follows it directly may be a nest together with it.
    fn resume_broken(&mut self, id: u32, entries: &[Entry], places: &[u64]) -> usize {
        let Some(nest) = self.opens[id as usize].as_ref().and_then(Open::nest) else { return 0 };
        let (whole, mut pieces) = nest.clone().settle();
        let Some(last) = pieces.pop() else { return 0 };
        let known = last.records();
        let mut longer = last;
        let (mut n, stop) = learn(&mut longer, places);
        if stop != Stop::End {
            n = longer.settle().0.records().saturating_sub(known) as usize;
            longer = pieces_again(nest);
            learn(&mut longer, &places[..n]);
        }
        let Some(open) = self.opens[id as usize].as_ref() else { return 0 };
        if n < 2 || longer.evidence(open.size) < EVIDENCE {
            return 0;
        }
        let Some(open) = self.take(id) else { return 0 };
        let Some(last) = open.nest().map(pieces_again) else { return 0 };
        let nests: Vec<Nest> = std::iter::once(whole).chain(pieces).chain([last]).collect();
        let mut tail = NONE;
        for part in open.cut(nests) {
            tail = self.open(part);
        }
        self.extend(tail, longer, &entries[..n]);
        n
    }

    /// Begins a nest with the first of the records. Gives how many it took, and whether the rest of the records may already be
    /// due in it.
    fn begin(&mut self, g: u32, entries: &[Entry], places: &[u64], evidence: u64) -> (usize, bool) {
        let Some((&first, rest)) = places.split_first() else { return (0, false) };
        if evidence >= EVIDENCE && hopeless(places) {
            return (0, false);
        }
        let size = self.waiting.groups[g as usize].size;
        if rest.contains(&first)
            && let Some((nest, grows)) = growing(places)
            && (grows || !self.ending)
        {
            let n = nest.records() as usize;
            let id = self.start(g, nest, &entries[..n]);
            if grows {
                self.close(id)
            } else {
                self.pause(id)
            }
            return (n, false);
        }
        let mut nest = Nest::new(first);
        let (_, stop) = learn(&mut nest, rest);
        let nest = match stop {
            Stop::End => nest,
            Stop::Mismatch => nest.settle().0,
            // The place that shows the turns is one more that was foretold.
            Stop::Streams if nest.evidence(size) + 1 >= evidence => {
                let first = nest.part().0;
                let n = first.records() as usize;
                if !first.moves() {
                    return (0, false);
                }
                self.start(g, first, &entries[..n]);
                return (n, true);
            }
            Stop::Rounds if nest.evidence(size) + 1 >= evidence => {
                let n = nest.records() as usize;
                self.start(g, nest, &entries[..n]);
                return (n, true);
            }
            Stop::Streams | Stop::Rounds => return (0, false),
        };
        if nest.evidence(size) < evidence {
            return (0, false);
        }
        let n = nest.records() as usize;
        self.start(g, nest, &entries[..n]);
        (n, false)
    }

    /// Gives the pattern that was found last, if it is a single loop, the earlier records that lead to it.
    fn reach_back(&mut self, g: u32, earlier: &[Entry]) {
        let id = self.waiting.groups[g as usize].recent;
        for e in earlier.iter().rev() {
            // Some have left the list.
            if self.waiting.record(e.slot).seq != e.seq {
                continue;
            }
            let before = self
                .opens
                .get(id as usize)
                .and_then(Option::as_ref)
                .and_then(|o| o.nest().and_then(Nest::before).filter(|&b| b == e.offset && e.seq < o.first_seq));
            if let Some(before) = before
                && let Some(open) = self.take(id)
            {
                let Some(nest) = open.nest().cloned() else { continue };
                let longer = Open { start_offset: before, ..open };
                self.reopen(longer, nest.with_before(), &[*e]);
            }
        }
    }

    /// Opens a pattern of all of the records; gives its number.
    pub(super) fn start(&mut self, g: u32, nest: Nest, entries: &[Entry]) -> u32 {
        let group = self.waiting.groups[g as usize];
        let (op, file) = self.stream_of(group.stream);
        let base = nest.base();
        let mut open = Open::new(Course::Nest(nest), op, file, group.stream, group.size, g, base);
        self.count_in(&mut open, entries);
        self.open(open)
    }

    /// Opens a pattern beside `id`, of the same stream and size.
    fn found(&mut self, id: u32, nest: Nest, entries: &[Entry]) {
        if let Some(open) = &self.opens[id as usize] {
            let g = open.group;
            self.start(g, nest, entries);
        }
    }

    /// Gives records to a pattern whose course `nest` is once it has them.
    fn extend(&mut self, id: u32, nest: Nest, entries: &[Entry]) {
        if let Some(open) = self.take(id) {
            self.reopen(open, nest, entries);
        }
    }

    fn reopen(&mut self, mut open: Open, nest: Nest, entries: &[Entry]) {
        open.course = Course::Nest(nest);
        self.count_in(&mut open, entries);
        self.open(open);
    }

    /// Takes records from the list and counts them to a pattern.
    pub(super) fn count_in(&mut self, open: &mut Open, entries: &[Entry]) {
        let steps = self.steps();
        for e in entries {
            let r = self.waiting.remove(e.slot);
            let size = self.waiting.groups[r.group as usize].size;
            open.count(size, r.start, r.end(), r.seq, steps);
        }
    }

    /// Gives a record of the list to the pattern in which it is due.
    pub(super) fn give(&mut self, id: u32, slot: u32) {
        let r = self.waiting.remove(slot);
        let size = self.waiting.groups[r.group as usize].size;
        self.accept(id, size, r.start, r.end(), r.seq);
    }

    /// The last search: a group may also be small patterns alone, if they leave nothing over.
    pub(super) fn search_last(&mut self) {
        self.ending = true;
        self.search();
        let groups: Vec<u32> = (0..self.waiting.groups.len() as u32).collect();
        for g in groups {
            let mut entries = Vec::new();
            if self.waiting.groups[g as usize].len < 2 {
                continue;
            }
            self.waiting.tail(g, usize::MAX, &mut entries);
            let places: Vec<u64> = entries.iter().map(|e| e.offset).collect();
            let size = self.waiting.groups[g as usize].size;
            if let Some(nests) = small_nests(&places, size) {
                let mut from = 0;
                for nest in nests {
                    let n = nest.records() as usize;
                    self.start(g, nest, &entries[from..from + n]);
                    from += n;
                }
            }
        }
    }
}

/// True if a nest would end after its first two places: the third neither goes on nor begins a second pass that the fourth goes
/// on with, nor does the fourth go on where the first two would. Most records without order are told by this alone.
fn hopeless(places: &[u64]) -> bool {
    let [a, b, c, d, ..] = *places else { return false };
    let step = b.wrapping_sub(a);
    let on = b.wrapping_add(step);
    c != on && d != on && d != c.wrapping_add(step)
}

/// Where the last of some passes over the same places may be the first one of a larger nest: if it is, the nest of the passes
/// before, and true; if it cannot be told yet, the nest with that pass, and false.
fn growing(places: &[u64]) -> Option<(Nest, bool)> {
    let mut nest = Nest::new(*places.first()?);
    for (i, &place) in places.iter().enumerate().skip(1) {
        if nest.grown() == Some(place) {
            let (whole, last) = nest.clone().without_last()?;
            let after = &places[i..];
            let [around, within, apart] = continuations(&nest, last, after);
            // Another reading explains as much so far: what comes next tells.
            if within == after.len() && within == around.max(apart) {
                return Some((nest, false));
            }
            if within > around && within >= apart {
                return Some((whole, true));
            }
        }
        if learn(&mut nest, &[place]) != (1, Stop::End) {
            return None;
        }
    }
    None
}

/// How many places a nest explains if a loop around it begins with them, if its last pass goes on with them, and if they are a nest
/// of their own.
fn continuations(nest: &Nest, mut last: Nest, after: &[u64]) -> [usize; 3] {
    let apart = after.split_first().map_or(0, |(&first, rest)| 1 + learn(&mut Nest::new(first), rest).0);
    [learn(&mut nest.clone(), after).0, learn(&mut last, after).0, apart]
}

/// The last piece of the pass that a nest has begun.
fn pieces_again(nest: &Nest) -> Nest {
    nest.clone().settle().1.pop().unwrap_or_else(|| Nest::new(nest.base()))
}

/// Nests that have each foretold one of their records and cover all places.
pub(super) fn small_nests(places: &[u64], size: u64) -> Option<Vec<Nest>> {
    let mut out = Vec::new();
    let mut rest = places;
    while let Some((&first, others)) = rest.split_first() {
        let mut nest = Nest::new(first);
        let (_, stop) = learn(&mut nest, others);
        let nest = if stop == Stop::End && nest.partial() == 0 { nest } else { nest.settle().0 };
        if nest.evidence(size) == 0 {
            return None;
        }
        rest = &rest[nest.records() as usize..];
        out.push(nest);
    }
    Some(out)
}
