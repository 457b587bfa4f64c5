//! The detector of one rank: known patterns accept records, the others wait, and when enough of them do, new patterns are
//! sought.

use std::collections::HashMap;

use hashbrown::HashTable;

use super::access::Access;
use super::due::{ANY_SIZE, Due, Place, mix};
use super::left::{Folded, Left, counts};
use super::log::Log;
use super::merge::merge;
use super::nest::Nest;
use super::open::{Course, Open, Turn};
use super::options::Options;
use super::pattern::Pattern;
use super::steps::Steps;
use super::waiting::{NONE, Old, Waiting};
use crate::record::{FileId, Op};

/// Steps that all open patterns of a rank may keep together, and the least and most that one of them does.
const ALL_STEPS: usize = 1 << 16;
const STEPS: (usize, usize) = (64, 1024);

/// Unmatched records after which those that have waited for too long leave the list, if there is no search before.
const LOT: usize = 64;

/// Probes that looking for interleaved patterns may cost a rank at the start, and at most; and those at the start of all ranks
/// together, where they are many.
const CREDIT: (i64, i64) = (1_000_000, 16_000_000);
const ALL_CREDIT: i64 = 4_000_000;

/// What the detector has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accesses seen.
    pub records: u64,
    /// Accesses that a known pattern was waiting for: predicted before they happened.
    pub predicted: u64,
    /// Bytes that the accesses seen move.
    pub bytes: u64,
}

/// The detector of one rank.
#[derive(Debug)]
pub struct RankDetector {
    pub(super) rank: u32,
    pub(super) options: Options,
    pub(super) counts: Counts,
    pub(super) streams: Vec<(Op, FileId)>,
    /// What each stream did, where that is little, and the items of all.
    pub(super) logs: Vec<Option<Box<Log>>>,
    logged: usize,
    stream_index: HashTable<u32>,
    last_stream: u32,
    pub(super) opens: Vec<Option<Open>>,
    free: Vec<u32>,
    pub(super) open_count: usize,
    /// The pattern that took the last record. It is in no table while it is hot.
    hot: u32,
    due: Due<u32>,
    turns: Due<(u32, Turn)>,
    /// Patterns that may be paused.
    pub(super) paused: Vec<u32>,
    /// Those of them that wait for another search.
    pub(super) undecided: Vec<u32>,
    /// There is no later search.
    pub(super) ending: bool,
    sequential: usize,
    pub(super) waiting: Waiting,
    /// Number and start of the last access that came to the list.
    now: (u64, f64),
    pub(super) closed: Vec<Pattern>,
    /// What belongs to no pattern, as far as it is kept, and how much there was.
    pub(super) left: Vec<Left>,
    pub(super) unmatched_count: u64,
    /// Closed patterns that are not kept any more, and those of each stream.
    pub(super) folded: Folded,
    pub(super) folded_of: HashMap<(Op, FileId), Folded>,
    closed_bytes: usize,
    /// Probes that looking for interleaved patterns may still cost.
    pub(super) credit: i64,
    steps: usize,
    /// What may be kept.
    pub(super) most: Most,
}

/// What a rank may keep.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    /// Records that wait for a pattern.
    pub waiting: usize,
    /// Records without a pattern that are looked at once more when the trace ends.
    pub left: usize,
    /// Bytes of closed patterns.
    pub closed: usize,
    /// Items of the logs of its streams.
    pub logged: usize,
    /// Open patterns.
    pub open: usize,
}

/// What all ranks together may keep, and what any rank may.
const ALL: Most = Most { waiting: 1 << 20, left: 1 << 17, closed: 24 << 20, logged: 1 << 19, open: 1 << 16 };
const LEAST: Most = Most { waiting: 1 << 12, left: 1 << 10, closed: 1 << 18, logged: 1 << 12, open: 1 << 10 };

/// Steps that closed patterns keep where they are many.
const FEW_STEPS: usize = 4;

impl Most {
    /// Of each of so many ranks.
    pub(super) fn of(ranks: usize) -> Most {
        let ranks = ranks.max(1);
        Most {
            waiting: (ALL.waiting / ranks).max(LEAST.waiting),
            left: (ALL.left / ranks).max(LEAST.left),
            closed: (ALL.closed / ranks).max(LEAST.closed),
            logged: (ALL.logged / ranks).max(LEAST.logged),
            open: (ALL.open / ranks).max(LEAST.open),
        }
    }
}

/// Probes that the last of so many ranks may cost at the start.
pub(super) fn first_credit(ranks: usize) -> i64 {
    (ALL_CREDIT / ranks.max(1) as i64).min(CREDIT.0)
}

impl RankDetector {
    /// A detector without any known pattern.
    pub fn new(rank: u32, options: Options) -> RankDetector {
        RankDetector {
            rank,
            options: Options { window: options.window.max(1), max_open: options.max_open.max(1), ..options },
            counts: Counts::default(),
            streams: Vec::new(),
            logs: Vec::new(),
            logged: 0,
            stream_index: HashTable::new(),
            last_stream: NONE,
            opens: Vec::new(),
            free: Vec::new(),
            open_count: 0,
            hot: NONE,
            due: Due::new(),
            turns: Due::new(),
            paused: Vec::new(),
            undecided: Vec::new(),
            ending: false,
            sequential: 0,
            waiting: Waiting::default(),
            now: (0, f64::NEG_INFINITY),
            closed: Vec::new(),
            left: Vec::new(),
            unmatched_count: 0,
            folded: Folded::default(),
            folded_of: HashMap::new(),
            closed_bytes: 0,
            credit: CREDIT.0,
            steps: STEPS.1,
            most: Most::of(1),
        }
    }

    /// What was counted.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Patterns that are open.
    pub fn open_patterns(&self) -> usize {
        self.open_count
    }

    /// Takes the next access of the rank, in the order of time.
    #[inline]
    pub fn push(&mut self, a: &Access) {
        self.counts.records += 1;
        self.counts.bytes = self.counts.bytes.saturating_add(a.size);
        if let Some(Some(hot)) = self.opens.get_mut(self.hot as usize)
            && hot.expects(a)
        {
            hot.advance(a.size);
            hot.count(a.size, a.start, a.end, self.counts.records, self.steps);
            self.counts.predicted += 1;
            let (stream, turn) = (hot.stream, hot.at_turn());
            self.note(stream, a);
            if turn {
                self.watch(self.hot);
            }
            return;
        }
        self.push_cold(a);
    }

    fn push_cold(&mut self, a: &Access) {
        if !a.sane() {
            self.leave(Left::new(*a, self.counts.records));
            return;
        }
        let stream = self.stream(a.op, a.file);
        self.note(stream, a);
        if let Some(id) = self.known(stream, a.size, a.offset) {
            self.counts.predicted += 1;
            self.accept(id, a.size, a.start, a.end, self.counts.records);
            return;
        }
        self.waiting.hold((stream, a.size), a.offset, self.counts.records, a.start, a.end);
        self.credit = (self.credit + 2).min(CREDIT.1);
        if self.waiting.fresh >= self.options.window {
            self.search();
        } else if self.waiting.fresh.is_multiple_of(LOT) {
            self.expire();
        }
        self.now = (self.counts.records, a.start);
    }

    /// Writes the access in the log of its stream.
    #[inline]
    fn note(&mut self, stream: u32, a: &Access) {
        if let Some(Some(log)) = self.logs.get_mut(stream as usize)
            && !log.extend(a.offset, a.size, a.end, self.counts.records)
        {
            self.note_more(stream, a);
        }
    }

    fn note_more(&mut self, stream: u32, a: &Access) {
        let Some(slot) = self.logs.get_mut(stream as usize) else { return };
        let Some(log) = slot else { return };
        self.logged -= log.len();
        let room = self.most.logged.saturating_sub(self.logged);
        let mut fits = log.push(a.offset, a.size, (a.start, a.end), self.counts.records);
        if fits && log.len() > room {
            fits = log.shrink() && log.len() <= room;
        }
        if fits {
            self.logged += log.len();
        } else {
            *slot = None;
        }
    }

    fn stream(&mut self, op: Op, file: FileId) -> u32 {
        if self.streams.get(self.last_stream as usize) == Some(&(op, file)) {
            return self.last_stream;
        }
        let hash = |s: &(Op, FileId)| mix(u64::from(s.1.0), s.0 as u64 ^ 0x94d0_49bb_1331_11eb);
        let key = (op, file);
        let streams = &self.streams;
        self.last_stream = match self.stream_index.find(hash(&key), |&i| streams[i as usize] == key) {
            Some(&i) => i,
            None => {
                let i = self.streams.len() as u32;
                self.streams.push(key);
                self.logs.push(Some(Box::new(Log::new(self.options.max_age))));
                let streams = &self.streams;
                self.stream_index.insert_unique(hash(&key), i, |&i| hash(&streams[i as usize]));
                i
            }
        };
        self.last_stream
    }

    /// Operation and file of a stream.
    pub(super) fn stream_of(&self, stream: u32) -> (Op, FileId) {
        self.streams[stream as usize]
    }

    /// The pattern in which an access is due, after what it tells about patterns in turns.
    pub(super) fn known(&mut self, stream: u32, size: u64, offset: u64) -> Option<u32> {
        let place = Place { stream, size, offset };
        if let Some(Some(hot)) = self.opens.get(self.hot as usize) {
            let due = hot.due();
            if due.stream == stream && due.offset == offset && (due.size == size || due.size == ANY_SIZE) {
                return Some(self.hot);
            }
        }
        if let Some(id) = self.due.find(place) {
            return Some(id);
        }
        if self.sequential > 0
            && let Some(id) = self.due.find(Place { size: ANY_SIZE, ..place })
        {
            return Some(id);
        }
        if self.turns.is_empty() {
            return None;
        }
        let (id, turn) = self.turns.find(place)?;
        self.waiting.settle();
        if turn == Turn::Grown {
            if self.is_latest(id) {
                self.pause(id);
            }
            return None;
        }
        if turn == Turn::Resumed && self.is_latest(id) {
            return None;
        }
        self.turn(id, turn, offset)
    }

    /// What comes waits until the next search tells which nest it belongs to.
    pub(super) fn pause(&mut self, id: u32) {
        let Some(Some(open)) = self.opens.get_mut(id as usize) else { return };
        if open.paused {
            return;
        }
        open.paused = true;
        let due = open.due();
        if self.hot == id {
            self.hot = NONE;
        } else {
            self.due.remove(due, id);
        }
        self.paused.push(id);
    }

    /// The pattern takes records again.
    pub(super) fn unpause(&mut self, id: u32) {
        if let Some(Some(open)) = self.opens.get_mut(id as usize)
            && open.paused
        {
            open.paused = false;
            self.due.insert(open.due(), id);
        }
    }

    /// Ends a pattern that is in no table any more.
    pub(super) fn retire(&mut self, open: Open) {
        for mut p in open.close(self.rank) {
            p.steps.fit();
            self.closed_bytes += p.memory();
            self.closed.push(p);
        }
        if self.closed_bytes > self.most.closed && !self.options.keep_unmatched {
            self.fold();
        }
    }

    /// Makes room among the closed patterns: those that are parts of one are joined, then when they were active is told less
    /// exactly; if that is not enough, those that move the fewest bytes are only counted from now on.
    #[cold]
    fn fold(&mut self) {
        let room = self.most.closed / 2;
        let mut kept = Vec::new();
        for p in merge(std::mem::take(&mut self.closed)) {
            if counts(&p) { kept.push(p) } else { self.scatter(&p) }
        }
        let bytes = |kept: &[Pattern]| kept.iter().map(Pattern::memory).sum::<usize>();
        if bytes(&kept) > room {
            for p in &mut kept {
                p.steps.thin(FEW_STEPS);
                p.steps.fit();
            }
        }
        if bytes(&kept) > room {
            kept.sort_by_key(|p| (std::cmp::Reverse(p.bytes), p.span));
            let mut sum = 0;
            let fits = kept.iter().take_while(|p| {
                sum += p.memory();
                sum <= room
            });
            let n = fits.count();
            for p in kept.drain(n..) {
                self.folded.add(&p);
                self.folded_of.entry((p.op, p.file)).or_default().add(&p);
            }
        }
        kept.shrink_to_fit();
        self.closed_bytes = bytes(&kept);
        self.closed = kept;
    }

    /// Gives back what only the search needs.
    pub(super) fn forget(&mut self) {
        (self.opens, self.free, self.waiting) = (Vec::new(), Vec::new(), Waiting::default());
        (self.due, self.turns, self.stream_index) = (Due::new(), Due::new(), HashTable::new());
    }

    /// A record that belongs to no pattern.
    pub(super) fn leave(&mut self, left: Left) {
        self.unmatched_count += 1;
        if self.options.keep_unmatched || self.left.len() < self.most.left {
            self.left.push(left);
        }
    }

    /// What was taken for a pattern is none.
    pub(super) fn scatter(&mut self, p: &Pattern) {
        match Left::of_pattern(p) {
            Some(all) => all.into_iter().for_each(|left| self.leave(left)),
            None => self.unmatched_count += p.records,
        }
    }

    /// True if no other record of its stream and size has come since the last one of a pattern.
    fn is_latest(&self, id: u32) -> bool {
        let Some(Some(open)) = self.opens.get(id as usize) else { return false };
        let Some(group) = self.waiting.groups.get(open.group as usize) else { return false };
        group.recent == id && self.waiting.newest(open.group).is_none_or(|seq| seq < open.last_seq)
    }

    /// Gives an access to the pattern in which it is due.
    pub(super) fn accept(&mut self, id: u32, size: u64, start: f64, end: f64, seq: u64) {
        self.heat(id);
        let Some(open) = &mut self.opens[id as usize] else { return };
        open.advance(size);
        open.count(size, start, end, seq, self.steps);
        if let Some(g) = self.waiting.groups.get_mut(open.group as usize) {
            g.recent = id;
        }
        if open.at_turn() {
            self.watch(id);
        }
    }

    fn heat(&mut self, id: u32) {
        if self.hot == id {
            return;
        }
        if let Some(Some(old)) = self.opens.get(self.hot as usize) {
            self.due.insert(old.due(), self.hot);
        }
        if let Some(open) = &self.opens[id as usize] {
            self.due.remove(open.due(), id);
        }
        self.hot = id;
    }

    /// Notes the places that would tell that a young pattern is something else.
    fn watch(&mut self, id: u32) {
        let Some(open) = &mut self.opens[id as usize] else { return };
        let old = std::mem::take(&mut open.turns);
        open.watched = open.is_young();
        open.turns = open.find_turns();
        for &(place, turn) in &old {
            self.turns.remove(place, (id, turn));
        }
        for &(place, turn) in &open.turns {
            self.turns.insert(place, (id, turn));
        }
    }

    /// Reads a young nest as the streams that it is; gives the one in which `offset` is due.
    fn turn(&mut self, id: u32, turn: Turn, offset: u64) -> Option<u32> {
        let open = self.take(id)?;
        let Course::Nest(nest) = &open.course else { return None };
        let parts: Vec<Open> = match turn {
            Turn::First | Turn::Resumed | Turn::Second => {
                let (first, second) = nest.clone().part();
                open.cut(vec![first, second])
            }
            Turn::Round => Self::divide(&open, nest.rounds()),
            Turn::Grown => return None,
            Turn::Longer => {
                let (whole, pass) = nest.clone().settle();
                open.cut(std::iter::once(whole).chain(pass).collect())
            }
        };
        let mut found = None;
        let mut parts = parts.into_iter();
        if turn == Turn::Longer {
            // A larger nest has taken its place; a further pass of it would begin with the first one of that.
            parts.next().into_iter().for_each(|whole| self.retire(whole));
        }
        for part in parts {
            let lone = part.nest().is_some_and(|n| !n.moves());
            if lone {
                // A single record is no pattern yet: back on the list.
                self.waiting.push(part.group, part.start_offset, part.first_seq, part.start, part.end);
                continue;
            }
            let due = part.due().offset == offset;
            let new = self.open(part);
            if due && (found.is_none() || matches!(turn, Turn::Second | Turn::Round)) {
                found = Some(new);
            }
        }
        // Opening one may have closed another.
        found.filter(|&id| self.opens[id as usize].as_ref().is_some_and(|o| o.due().offset == offset))
    }

    /// The streams of a round, each with its share of every step.
    fn divide(open: &Open, rounds: Vec<Nest>) -> Vec<Open> {
        let n = rounds.len() as u64;
        let share = |i: u64| {
            let mut steps = Steps::default();
            let mut before = open.steps.forgotten();
            for s in open.steps.list() {
                let upto = |records: u64| (records + n - 1 - i) / n;
                let mine = upto(before + s.records) - upto(before);
                before += s.records;
                (0..mine).for_each(|_| steps.add(s.start, s.end, open.size, usize::MAX));
            }
            steps
        };
        let parts = (0u64..).zip(rounds).map(|(i, nest)| {
            let mut part = open.portion(nest, 0, &mut Steps::default());
            part.steps = share(i);
            (part.first_seq, part.last_seq) = (open.first_seq, open.last_seq);
            (part.start, part.end) = (open.start, open.end);
            part
        });
        parts.collect()
    }

    /// Opens a pattern.
    pub(super) fn open(&mut self, mut open: Open) -> u32 {
        open.paused = false;
        // First of all: a group with a pattern is not forgotten while others are closed.
        if let Some(g) = self.waiting.groups.get_mut(open.group as usize) {
            g.patterns += 1;
        }
        if self.open_count >= self.options.max_open.min(self.most.open) {
            self.close_idle();
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.opens.push(None);
            (self.opens.len() - 1) as u32
        });
        self.open_count += 1;
        self.steps = (ALL_STEPS / self.open_count).clamp(STEPS.0, STEPS.1);
        self.sequential += usize::from(open.size == ANY_SIZE);
        if let Some(g) = self.waiting.groups.get_mut(open.group as usize) {
            let newest =
                self.opens.get(g.recent as usize).and_then(Option::as_ref).is_none_or(|r| r.last_seq <= open.last_seq);
            if newest {
                g.recent = id;
            }
        }
        self.due.insert(open.due(), id);
        self.opens[id as usize] = Some(open);
        self.watch(id);
        id
    }

    /// Takes a pattern out of all tables.
    pub(super) fn take(&mut self, id: u32) -> Option<Open> {
        let open = self.opens.get_mut(id as usize)?.take()?;
        if self.hot == id {
            self.hot = NONE;
        } else {
            self.due.remove(open.due(), id);
        }
        for &(place, turn) in &open.turns {
            self.turns.remove(place, (id, turn));
        }
        self.free.push(id);
        self.open_count -= 1;
        self.sequential -= usize::from(open.size == ANY_SIZE);
        if let Some(g) = self.waiting.groups.get_mut(open.group as usize) {
            g.patterns -= 1;
            if g.recent == id {
                g.recent = NONE;
            }
        }
        Some(open)
    }

    pub(super) fn close(&mut self, id: u32) {
        if let Some(open) = self.take(id) {
            let group = open.group;
            self.retire(open);
            if (group as usize) < self.waiting.groups.len() {
                self.waiting.release(group);
            }
        }
    }

    /// Closes the half of the open patterns that has been idle for longest.
    #[cold]
    fn close_idle(&mut self) {
        let mut all: Vec<(u64, u32)> = (0u32..)
            .zip(&self.opens)
            .filter_map(|(id, o)| o.as_ref().filter(|_| id != self.hot).map(|o| (o.last_seq, id)))
            .collect();
        all.sort_unstable();
        all.truncate((all.len() / 2).max(1));
        all.into_iter().for_each(|(_, id)| self.close(id));
    }

    /// Lets records that have waited for too long leave the list.
    pub(super) fn expire(&mut self) {
        self.waiting.settle();
        let ((seq, now), age) = (self.now, self.options.max_age);
        let mut over = self.waiting.len().saturating_sub(self.most.waiting);
        let old = self.waiting.all_expired(|r| {
            let is = over > 0 || seq.saturating_sub(r.seq) > age.records || now - r.start > age.seconds;
            over = over.saturating_sub(usize::from(is));
            is
        });
        self.give_up(&old);
        self.waiting.tidy();
    }

    /// Takes records from the list that no pattern will take.
    pub(super) fn give_up(&mut self, old: &[Old]) {
        for o in old {
            let r = self.waiting.remove(o.slot);
            let (op, file) = self.stream_of(o.stream);
            let (offset, size) = (r.offset, o.size);
            let access = Access { op, rank: self.rank, file, offset, size, start: r.start, end: r.end() };
            self.leave(Left::new(access, r.seq));
        }
        old.iter().for_each(|o| self.waiting.release(o.group));
    }

    /// Bounds the steps a pattern keeps, for patterns made while searching.
    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    /// Rewards a search that found something.
    pub(super) fn reward(&mut self, credit: i64) {
        self.credit = (self.credit + credit).min(CREDIT.1);
    }
}
