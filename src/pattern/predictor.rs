//! The online part: automata that each expect one access, found by hash, and accesses that wait for one.
//!
//! Takes the accesses of one rank in the order of time. An access that an automaton expects costs one comparison or one
//! look-up, however many patterns are interleaved. Others wait. Three that wait evenly spaced, next to each other or with the
//! same number of others between them, open an automaton; so do two that repeat the beginning of the last nest of their size.
//! A copy of that nest that is complete makes a loop around it. When a list is long, interleaved progressions are sought in it.

use super::access::Access;
use super::automata::{Automata, Automaton, CHAIN, Course, NONE};
use super::cost::{Pool, even_run_pays};
use super::fold::fold;
use super::found::Unlisted;
use super::limits::Limits;
use super::options::{Age, Options};
use super::piece::{Body, Piece, Single, Source};
use super::progressions::{Point, interleaved};
use super::sizes::Sizes;
use super::table::Table;
use super::thresholds::LIMITS;
use super::tiles::Tiles;
use crate::nest::{Growing, Loop};
use crate::record::{FileId, Op};

/// Accesses of one size that wait at most.
const MOST_WAITING: usize = 4096;

/// Time steps of a closed piece where there are as many pieces as there may be.
const STEPS_OF_MANY: usize = 2;

/// True if an access has waited for longer than it may when another one comes.
fn is_old(s: &Single, now: &Single, age: Age) -> bool {
    now.in_stream - s.in_stream > age.records || now.start - s.start > age.seconds
}

/// The accesses of the rank to one file with one operation.
#[derive(Debug)]
pub(super) struct Stream {
    pub op: Op,
    pub file: FileId,
    /// Accesses so far.
    pub seen: u64,
    /// The automaton that took the last expected access; it is not in the index.
    hot: u32,
    /// Open chains.
    chains: u32,
    /// End of the last access.
    end: u64,
    /// Waiting accesses back to back, the last ones: lane and number in it.
    tail: Vec<(u32, u64)>,
    /// How often the size changes among them, and equal sizes at the end.
    changes: u32,
    equal: u64,
    size: u64,
    /// Number of the last of them in the stream.
    tail_end: u64,
    /// The last lane used.
    lane: u32,
    pub closed_chains: Vec<Piece>,
    pub tiles: Tiles,
    /// Places of accesses of sizes that were forgotten.
    pub forgotten: Pool,
}

/// Accesses of one size of a stream.
#[derive(Debug)]
pub(super) struct Lane {
    /// The stream, or [`NONE`] if it is not in use.
    pub stream: u32,
    pub size: u64,
    seen: u64,
    pub waiting: Vec<Single>,
    /// Waiting accesses at which interleaved patterns are sought next, and how often that is left out after it was in vain.
    look_at: usize,
    skip: u32,
    in_vain: u32,
    /// Open automata.
    open: u32,
    /// The last automaton that took an access, and its serial number.
    last: (u32, u64),
    /// The last access that waits, and what comes next if it begins a copy of that nest.
    copy: Option<(u64, u64)>,
    /// Offset of the last access that waited.
    before: u64,
    pub pool: Pool,
    pub pieces: Vec<Piece>,
    /// Accesses of automata that predicted none.
    pub returned: Vec<Single>,
}

impl Default for Lane {
    fn default() -> Lane {
        Lane {
            stream: NONE,
            size: 0,
            seen: 0,
            waiting: Vec::new(),
            look_at: 0,
            skip: 0,
            in_vain: 0,
            open: 0,
            last: (NONE, 0),
            copy: None,
            before: 0,
            pool: Pool::default(),
            pieces: Vec::new(),
            returned: Vec::new(),
        }
    }
}

impl Lane {
    /// Takes interleaved progressions out of the accesses that wait.
    fn take_interleaved(&mut self) -> Vec<Vec<Single>> {
        let point = |s: &Single| Point { at: s.at, first: s.in_size, last: s.in_size };
        let points: Vec<Point> = self.waiting.iter().map(point).collect();
        let mut taken = vec![false; points.len()];
        let mut runs = Vec::new();
        for run in interleaved(&points, &self.pool, self.seen) {
            run.iter().for_each(|&i| taken[i] = true);
            runs.push(run.iter().map(|&i| self.waiting[i]).collect());
        }
        let mut taken = taken.into_iter();
        self.waiting.retain(|_| taken.next() != Some(true));
        runs
    }
}

/// The automata and waiting accesses of one rank.
#[derive(Debug)]
pub(super) struct Predictor {
    pub rank: u32,
    pub options: Options,
    limits: Limits,
    pub streams: Vec<Stream>,
    stream_of: Table<(FileId, Op), u32>,
    last_stream: u32,
    pub lanes: Vec<Lane>,
    lane_of: Table<(u32, u64), u32>,
    free_lanes: Vec<u32>,
    most_lanes: usize,
    due: Table<(u32, u64), u32>,
    automata: Automata,
    waiting: usize,
    pub records: u64,
    pub bytes: u64,
    pub predicted: u64,
    pub residual: u64,
    /// Pieces of all lanes, and those that are counted and not listed.
    pieces: usize,
    pub unlisted: Unlisted,
    pub kept: Vec<Access>,
}

impl Predictor {
    pub fn new(rank: u32, options: Options, limits: Limits) -> Predictor {
        Predictor {
            rank,
            options,
            limits,
            streams: Vec::new(),
            stream_of: Table::default(),
            last_stream: NONE,
            lanes: Vec::new(),
            lane_of: Table::default(),
            free_lanes: Vec::new(),
            most_lanes: limits.lanes,
            due: Table::default(),
            automata: Automata::default(),
            waiting: 0,
            records: 0,
            bytes: 0,
            predicted: 0,
            residual: 0,
            pieces: 0,
            unlisted: Unlisted::default(),
            kept: Vec::new(),
        }
    }

    /// Changes what it may keep.
    pub fn limit(&mut self, limits: Limits) {
        self.limits = limits;
        self.most_lanes = limits.lanes;
    }

    /// Open automata.
    pub fn open(&self) -> usize {
        self.automata.len()
    }

    /// Takes the next access.
    #[inline]
    pub fn push(&mut self, a: &Access) {
        self.records += 1;
        self.bytes = self.bytes.saturating_add(a.size);
        if !a.sane() {
            self.leave(a);
            return;
        }
        let w = self.stream(a);
        let stream = &mut self.streams[w as usize];
        stream.seen += 1;
        let follows = stream.end == a.offset && a.size > 0 && stream.seen > 1;
        stream.end = a.offset + a.size;
        let hot = stream.hot;
        if hot != NONE && self.automata[hot].expects(a) {
            self.take(w, hot, a);
        } else {
            self.seek(w, a, follows);
        }
    }

    #[inline]
    fn stream(&mut self, a: &Access) -> u32 {
        if let Some(s) = self.streams.get(self.last_stream as usize)
            && s.file == a.file
            && s.op == a.op
        {
            return self.last_stream;
        }
        let streams = &mut self.streams;
        self.last_stream = *self.stream_of.entry((a.file, a.op)).or_insert_with(|| {
            streams.push(Stream {
                op: a.op,
                file: a.file,
                seen: 0,
                hot: NONE,
                chains: 0,
                end: 0,
                tail: Vec::new(),
                changes: 0,
                equal: 0,
                size: 0,
                tail_end: 0,
                lane: NONE,
                closed_chains: Vec::new(),
                tiles: Tiles::default(),
                forgotten: Pool::default(),
            });
            streams.len() as u32 - 1
        });
        self.last_stream
    }

    /// An access for which there will be no pattern.
    fn leave(&mut self, a: &Access) {
        self.residual += 1;
        if self.options.keep_unmatched {
            self.kept.push(*a);
        }
    }

    /// Gives an automaton the access that it expects.
    #[inline]
    fn take(&mut self, w: u32, id: u32, a: &Access) {
        self.predicted += 1;
        let in_stream = self.streams[w as usize].seen;
        let automaton = &mut self.automata[id];
        if automaton.key & CHAIN == 0 {
            let lane = &mut self.lanes[automaton.key as usize];
            lane.seen += 1;
            automaton.advance(a, lane.seen, in_stream, self.limits.steps);
            if automaton.copy_is_complete() {
                self.close_loop(id);
            }
        } else {
            automaton.advance(a, 0, in_stream, self.limits.steps);
            self.watch_chain(w, id, a.size);
        }
    }

    /// An access that the last automaton did not expect.
    fn seek(&mut self, w: u32, a: &Access, follows: bool) {
        let l = self.lane(w, a.size);
        let known = self.due.remove(&(l, a.offset)).or_else(|| {
            let chained = self.streams[w as usize].chains > 0 && a.size > 0;
            chained.then(|| self.due.remove(&(w | CHAIN, a.offset)))?
        });
        if let Some(id) = known {
            self.heat(w, id);
            self.take(w, id, a);
            self.automata.touch(id);
            return;
        }
        if self.lengthen_pass(w, l, a) {
            return;
        }
        let lane = &mut self.lanes[l as usize];
        lane.seen += 1;
        let single = Single {
            at: a.offset,
            in_size: lane.seen,
            in_stream: self.streams[w as usize].seen,
            start: a.start,
            end: a.end,
        };
        let begun = lane.copy.take().zip(lane.waiting.last());
        let goes_on = begun.is_some_and(|((number, offset), last)| number == last.in_size && offset == a.offset);
        if goes_on && self.begin_copy(w, l, &single) {
            self.predicted += 1;
            return;
        }
        let varied = self.follow(w, l, a, &single, follows);
        if self.streams[w as usize].changes >= 2 && self.open_chain(w, l, &single) {
            return;
        }
        if !self.open_near(w, l, single, varied) && !self.open_pairs(w, l, single) {
            self.wait(w, l, single);
        }
        while self.automata.len() > self.limits.open.min(self.options.max_open) {
            self.close(self.automata.oldest());
        }
    }

    fn lane(&mut self, w: u32, size: u64) -> u32 {
        let cached = self.streams[w as usize].lane;
        if cached != NONE && self.lanes[cached as usize].size == size {
            return cached;
        }
        let (lanes, free) = (&mut self.lanes, &mut self.free_lanes);
        let l = *self.lane_of.entry((w, size)).or_insert_with(|| {
            let new = Lane { stream: w, size, ..Lane::default() };
            match free.pop() {
                Some(l) => {
                    lanes[l as usize] = new;
                    l
                }
                None => {
                    lanes.push(new);
                    lanes.len() as u32 - 1
                }
            }
        });
        self.streams[w as usize].lane = l;
        l
    }

    /// Makes an automaton the one that is asked first.
    fn heat(&mut self, w: u32, id: u32) {
        let automaton = &self.automata[id];
        let key = (automaton.key, automaton.expected());
        if self.due.get(&key) == Some(&id) {
            self.due.remove(&key);
        }
        if automaton.key & CHAIN == 0 {
            self.lanes[automaton.key as usize].last = (id, automaton.serial);
        }
        let stream = &mut self.streams[w as usize];
        stream.tail.clear();
        (stream.changes, stream.equal) = (0, 0);
        let before = std::mem::replace(&mut stream.hot, id);
        if before != NONE && before != id {
            self.expect(before);
        }
    }

    /// Puts into the index what an automaton expects. Of two that expect the same, the one that has taken less is over.
    fn expect(&mut self, id: u32) {
        let automaton = &self.automata[id];
        let key = (automaton.key, automaton.expected());
        let Some(other) = self.due.insert(key, id).filter(|other| *other != id) else { return };
        if self.automata[id].records() < self.automata[other].records() {
            self.due.insert(key, other);
            self.close(id);
        } else {
            self.close(other);
        }
    }

    /// Opens an automaton that took its last access just now.
    fn open_automaton(&mut self, w: u32, mut automaton: Automaton) -> u32 {
        automaton.stream = w;
        if automaton.key & CHAIN == 0 {
            self.lanes[automaton.key as usize].open += 1;
        }
        let id = self.automata.insert(automaton);
        self.heat(w, id);
        id
    }

    /// An access where the copy of the last nest goes on, whose first access waits: opens the copy.
    fn begin_copy(&mut self, w: u32, l: u32, second: &Single) -> bool {
        let lane = &mut self.lanes[l as usize];
        let (original, serial) = lane.last;
        let Some(first) = lane.waiting.pop() else { return false };
        self.waiting -= 1;
        let whole = (self.automata.serial(original) == Some(serial)).then(|| self.whole_passes(original)).flatten();
        let stride = second.at.wrapping_sub(first.at) as i64;
        let mut nest = Growing::of(first.at, &[Loop { count: 2, stride }]);
        let mut skip = 0;
        if let Some(mut around) = whole
            && around.begin_loop(first.at)
            && around.expected() == second.at
        {
            skip = around.records() - 1;
            around.advance();
            nest = around;
        }
        let parent = if skip > 0 { (original, serial) } else { (NONE, 0) };
        let size = self.lanes[l as usize].size;
        let mut automaton = Automaton::of_nest(l, nest, &[first, *second], size, self.limits.steps);
        (automaton.skip, automaton.parent) = (skip, parent);
        let id = self.open_automaton(w, automaton);
        if self.automata[id].copy_is_complete() {
            self.close_loop(id);
        }
        true
    }

    /// An access where the last pass of the last nest goes on: that pass is longer than those before it, a nest of its own.
    fn lengthen_pass(&mut self, w: u32, l: u32, a: &Access) -> bool {
        let (id, serial) = self.lanes[l as usize].last;
        let goes_on = self.automata.serial(id) == Some(serial) && self.automata[id].longer_pass() == Some(a.offset);
        if !goes_on {
            return false;
        }
        let before = (self.automata[id].key, self.automata[id].expected());
        if self.due.get(&before) == Some(&id) {
            self.due.remove(&before);
        }
        let passes = self.automata[id].split_last();
        self.automata.renew(id);
        self.settle(passes);
        self.heat(w, id);
        self.take(w, id, a);
        self.automata.touch(id);
        true
    }

    /// The nest of an automaton without a pass begun, to make a loop around it.
    fn whole_passes(&mut self, id: u32) -> Option<Growing> {
        if self.automata[id].skip > 0 {
            let key = self.automata[id].key;
            let indexed = self.due.get(&(key, self.automata[id].expected())) == Some(&id);
            if indexed {
                self.due.remove(&(key, self.automata[id].expected()));
            }
            self.automata[id].detach();
            if indexed {
                self.due.entry((key, self.automata[id].expected())).or_insert(id);
            }
        }
        let Course::Nest(nest) = &self.automata[id].course else { return None };
        (nest.partial() == 0 && nest.records() > 1).then(|| nest.clone())
    }

    /// The copy of a nest is complete: both are two passes of one loop, if the first has not gone on meanwhile.
    #[cold]
    fn close_loop(&mut self, id: u32) {
        let (parent, serial) = self.automata[id].parent;
        let unchanged = self.automata.serial(parent) == Some(serial)
            && self.automata[parent].skip == 0
            && matches!(&self.automata[parent].course, Course::Nest(n) if n.records() == self.automata[id].skip);
        if !unchanged {
            self.automata[id].detach();
            return;
        }
        let first = self.remove(parent);
        self.automata[id].absorb(first);
    }

    /// Takes an automaton out, wherever it is known.
    fn remove(&mut self, id: u32) -> Automaton {
        let automaton = self.automata.remove(id);
        let key = (automaton.key, automaton.expected());
        if self.due.get(&key) == Some(&id) {
            self.due.remove(&key);
        }
        let stream = &mut self.streams[automaton.stream as usize];
        if stream.hot == id {
            stream.hot = NONE;
        }
        if automaton.key & CHAIN != 0 {
            stream.chains -= 1;
        } else {
            self.lanes[automaton.key as usize].open -= 1;
        }
        automaton
    }

    /// Counts how often the size changes among waiting accesses back to back. True if it did, but not for long.
    fn follow(&mut self, w: u32, l: u32, a: &Access, single: &Single, follows: bool) -> bool {
        let stream = &mut self.streams[w as usize];
        if !follows || stream.tail_end + 1 != single.in_stream || stream.tail.len() > LIMITS.tail {
            (stream.changes, stream.equal) = (0, 0);
            stream.tail.clear();
        } else if !stream.tail.is_empty() {
            let same = a.size == stream.size;
            stream.changes += u32::from(!same);
            stream.equal = if same { stream.equal + 1 } else { 0 };
        }
        stream.tail.push((l, single.in_size));
        (stream.size, stream.tail_end) = (a.size, single.in_stream);
        stream.changes > 0 && stream.equal + 1 < LIMITS.row
    }

    /// Opens a chain of the waiting accesses back to back and this one. False if some wait no longer.
    fn open_chain(&mut self, w: u32, l: u32, last: &Single) -> bool {
        let stream = &mut self.streams[w as usize];
        let tail = std::mem::take(&mut stream.tail);
        stream.changes = 0;
        let before = &tail[..tail.len() - 1];
        let place =
            |lanes: &[Lane], (l, n): (u32, u64)| lanes[l as usize].waiting.binary_search_by_key(&n, |s| s.in_size);
        if before.is_empty() || before.iter().any(|m| place(&self.lanes, *m).is_err()) {
            stream.tail = vec![(l, last.in_size)];
            return false;
        }
        let mut sizes = Sizes::new(self.options.keep_sizes);
        let mut members = Vec::with_capacity(tail.len());
        for m in before {
            if let Ok(i) = place(&self.lanes, *m) {
                let lane = &mut self.lanes[m.0 as usize];
                members.push(lane.waiting.remove(i));
                sizes.add(lane.size);
            }
        }
        self.waiting -= members.len();
        members.push(*last);
        sizes.add(self.lanes[l as usize].size);
        let start = members[0].at;
        self.streams[w as usize].chains += 1;
        let automaton = Automaton::of_chain(w, start, sizes, &members, self.limits.steps);
        self.open_automaton(w, automaton);
        true
    }

    /// Many equal sizes in a chain are a pattern of their own.
    fn watch_chain(&mut self, w: u32, id: u32, size: u64) {
        let Course::Chain { sizes, .. } = &self.automata[id].course else { return };
        let (equal, rows) = (u64::from(sizes.last_row()), sizes.rows().map_or(0, <[_]>::len) as u64);
        let mean = (sizes.records() - equal) / rows.saturating_sub(1).max(1);
        if equal < LIMITS.row || equal < LIMITS.row * mean {
            return;
        }
        let l = self.lane(w, size);
        self.lanes[l as usize].seen += equal;
        let in_size = self.lanes[l as usize].seen;
        let row = self.automata[id].split_row(l, size, equal, in_size);
        self.close(id);
        self.open_automaton(w, row);
    }

    /// Opens a run if an access and two that wait are evenly spaced, the last ones or with as many others between them.
    fn open_near(&mut self, w: u32, l: u32, single: Single, varied: bool) -> bool {
        let lane = &mut self.lanes[l as usize];
        let n = lane.waiting.len();
        for apart in 1..=LIMITS.near.min(n / 2) {
            let (a, b) = (lane.waiting[n - 2 * apart], lane.waiting[n - apart]);
            if is_old(&a, &single, self.options.max_age) {
                break;
            }
            let stride = b.at.wrapping_sub(a.at);
            let even = single.in_size - b.in_size == b.in_size - a.in_size;
            if single.at.wrapping_sub(b.at) != stride || apart > 1 && !even || varied && stride == lane.size {
                continue;
            }
            let mut from = n - 2 * apart;
            while from >= apart
                && !is_old(&lane.waiting[from - apart], &single, self.options.max_age)
                && lane.waiting[from - apart].at.wrapping_add(stride) == lane.waiting[from].at
            {
                from -= apart;
            }
            let count = ((n - from) / apart) as u64 + 1;
            if !even_run_pays(&lane.pool, lane.seen, stride, lane.size, count, apart as u64) {
                continue;
            }
            let mut members: Vec<Single> = Vec::new();
            for i in (from..n).step_by(apart).rev() {
                members.push(lane.waiting.remove(i));
            }
            members.reverse();
            self.waiting -= members.len();
            members.push(single);
            self.open_run(w, l, &members);
            return true;
        }
        false
    }

    /// Opens a nest if the last four accesses are two pairs at one stride.
    fn open_pairs(&mut self, w: u32, l: u32, single: Single) -> bool {
        let lane = &mut self.lanes[l as usize];
        let [.., a, b, c] = lane.waiting[..] else { return false };
        if is_old(&a, &single, self.options.max_age) {
            return false;
        }
        let (inner, outer) = (b.at.wrapping_sub(a.at) as i64, c.at.wrapping_sub(a.at) as i64);
        let pays = even_run_pays(&lane.pool, lane.seen, outer.unsigned_abs(), 0, 3, 1);
        if single.at.wrapping_sub(c.at) as i64 != inner || !pays {
            return false;
        }
        lane.waiting.truncate(lane.waiting.len() - 3);
        self.waiting -= 3;
        lane.pool.distance(inner.unsigned_abs());
        lane.pool.distance(outer.unsigned_abs());
        let loops = [Loop { count: 2, stride: inner }, Loop { count: 2, stride: outer }];
        let nest = Growing::of(a.at, &loops);
        let automaton = Automaton::of_nest(l, nest, &[a, b, c, single], lane.size, self.limits.steps);
        self.open_automaton(w, automaton);
        true
    }

    fn open_run(&mut self, w: u32, l: u32, members: &[Single]) {
        let lane = &mut self.lanes[l as usize];
        let stride = members[1].at.wrapping_sub(members[0].at) as i64;
        lane.pool.distance(stride.unsigned_abs());
        let nest = Growing::of(members[0].at, &[Loop { count: members.len() as u64, stride }]);
        let automaton = Automaton::of_nest(l, nest, members, lane.size, self.limits.steps);
        self.open_automaton(w, automaton);
    }

    fn wait(&mut self, w: u32, l: u32, single: Single) {
        let window = self.options.window.max(4);
        let lane = &mut self.lanes[l as usize];
        let (original, serial) = lane.last;
        let open = self.automata.serial(original) == Some(serial);
        let expects = open.then(|| self.automata[original].copy_expects(single.at)).flatten();
        lane.copy = expects.map(|offset| (single.in_size, offset));
        lane.waiting.push(single);
        lane.pool.add(single.at);
        self.streams[w as usize].tiles.add(single.at, lane.size);
        let step = single.at.abs_diff(lane.before);
        if step != 0 && step != lane.size {
            lane.pool.step(step);
        }
        lane.before = single.at;
        self.waiting += 1;
        lane.look_at = lane.look_at.max(window);
        if lane.waiting.len() >= lane.look_at {
            self.look(w, l);
        }
        if self.waiting > self.limits.waiting || self.lane_of.len() > self.most_lanes {
            self.relieve();
        }
    }

    /// Seeks interleaved progressions among the accesses of a lane that wait.
    #[cold]
    fn look(&mut self, w: u32, l: u32) {
        let lane = &mut self.lanes[l as usize];
        let runs = if lane.skip > 0 { Vec::new() } else { lane.take_interleaved() };
        if lane.skip > 0 {
            lane.skip -= 1;
        } else if runs.is_empty() {
            lane.in_vain = (2 * lane.in_vain + 1).min(LIMITS.most_skipped);
            lane.skip = if lane.waiting.len() >= MOST_WAITING { lane.in_vain } else { 0 };
        } else {
            lane.in_vain = 0;
        }
        lane.look_at = if runs.is_empty() { 2 * lane.waiting.len() } else { lane.waiting.len() + self.options.window };
        for run in runs {
            self.waiting -= run.len();
            self.open_run(w, l, &run);
        }
        self.age(l);
        let n = self.lanes[l as usize].waiting.len();
        if n >= MOST_WAITING {
            self.release(l, n - MOST_WAITING / 4);
        }
        let lane = &mut self.lanes[l as usize];
        lane.look_at = lane.look_at.clamp(lane.waiting.len() + 1, MOST_WAITING);
    }

    /// Lets accesses go that waited for longer than they may.
    fn age(&mut self, l: u32) {
        let waiting = &self.lanes[l as usize].waiting;
        let Some(now) = waiting.last() else { return };
        let n = waiting.iter().take_while(|s| is_old(s, now, self.options.max_age)).count();
        self.release(l, n);
    }

    /// The first accesses of a lane wait no longer.
    fn release(&mut self, l: u32, n: usize) {
        if n > 0 {
            let gone = self.lanes[l as usize].waiting.drain(..n).collect();
            self.waiting -= n;
            self.give_up(l, gone);
        }
    }

    /// Accesses of a lane for which there will be no pattern.
    fn give_up(&mut self, l: u32, gone: Vec<Single>) {
        let lane = &mut self.lanes[l as usize];
        let stream = &self.streams[lane.stream as usize];
        self.residual += gone.len() as u64;
        lane.pool.accesses += gone.len() as u64;
        let (op, file, size, rank) = (stream.op, stream.file, lane.size, self.rank);
        let access = |s: Single| Access { op, rank, file, offset: s.at, size, start: s.start, end: s.end };
        if self.options.keep_unmatched {
            self.kept.extend(gone.into_iter().map(access));
        }
    }

    /// Too many accesses wait, or there are too many sizes: the older half waits no longer, and sizes not in use are forgotten.
    #[cold]
    fn relieve(&mut self) {
        let crowded = self.lane_of.len() > self.most_lanes;
        for l in 0..self.lanes.len() as u32 {
            let lane = &self.lanes[l as usize];
            let in_use = lane.open > 0 || !lane.pieces.is_empty() || !lane.returned.is_empty();
            let n = lane.waiting.len();
            self.release(l, if crowded && !in_use { n } else { n.div_ceil(2) });
            if crowded && !in_use && self.lanes[l as usize].stream != NONE {
                self.forget(l);
            }
        }
        if crowded {
            self.most_lanes = (2 * self.lane_of.len()).max(self.limits.lanes);
        }
    }

    /// Forgets a size of a stream.
    fn forget(&mut self, l: u32) {
        let lane = std::mem::take(&mut self.lanes[l as usize]);
        let stream = &mut self.streams[lane.stream as usize];
        stream.forgotten.join(&lane.pool);
        stream.lane = NONE;
        stream.tail.clear();
        self.lane_of.remove(&(lane.stream, lane.size));
        self.free_lanes.push(l);
    }

    /// An automaton is over: what it took becomes pieces.
    fn close(&mut self, id: u32) {
        let mut automaton = self.remove(id);
        automaton.detach();
        self.settle(automaton);
        if self.pieces > self.limits.pieces && !self.options.keep_unmatched {
            self.crowd_out();
        }
    }

    /// Too many pieces: folds them, and of those that remain counts the half with the fewest bytes and forgets them.
    #[cold]
    fn crowd_out(&mut self) {
        for lane in &mut self.lanes {
            lane.pieces = fold(std::mem::take(&mut lane.pieces), &lane.pool, lane.seen);
        }
        let of_lanes = self.lanes.iter().flat_map(|l| &l.pieces);
        let mut bytes: Vec<u64> =
            of_lanes.chain(self.streams.iter().flat_map(|s| &s.closed_chains)).map(Piece::bytes).collect();
        self.pieces = bytes.len();
        if self.pieces <= self.limits.pieces / 2 {
            return;
        }
        let middle = bytes.len() / 2;
        let least = *bytes.select_nth_unstable(middle).1;
        for lane in &mut self.lanes {
            self.residual += self.unlisted.take_small(&mut lane.pieces, least, &lane.pool);
        }
        for stream in &mut self.streams {
            self.residual += self.unlisted.take_small(&mut stream.closed_chains, least, &stream.forgotten);
        }
        self.pieces = self.lanes.iter().map(|l| l.pieces.len()).sum::<usize>()
            + self.streams.iter().map(|s| s.closed_chains.len()).sum::<usize>();
    }

    /// Turns the accesses that an automaton took into pieces.
    fn settle(&mut self, automaton: Automaton) {
        let stream = &mut self.streams[automaton.stream as usize];
        let source = Source { op: stream.op, rank: self.rank, file: stream.file };
        let times = (automaton.start, automaton.end);
        match &automaton.course {
            Course::Chain { start, sizes, .. } => {
                stream.tiles.add_chain(*start, sizes);
                let o = automaton.in_stream.order();
                let new = Piece::new(source, Body::Chain(Box::new(sizes.clone())), *start, o, o, times);
                stream.closed_chains.push(Piece { steps: automaton.steps, ..new });
                self.pieces += 1;
            }
            Course::Nest(_) if !automaton.members.is_empty() => {
                let lane = &mut self.lanes[automaton.key as usize];
                lane.returned.extend(automaton.members);
                if lane.returned.len() > MOST_WAITING {
                    let gone = std::mem::take(&mut lane.returned);
                    self.give_up(automaton.key, gone);
                }
            }
            Course::Nest(nest) => {
                let lane = &mut self.lanes[automaton.key as usize];
                stream.tiles.add_nest(nest, lane.size);
                lane.pool.add_nest(nest);
                let mut parts = automaton.into_pieces(source, lane.size);
                self.pieces += parts.len();
                let most = (STEPS_OF_MANY * self.limits.pieces / self.pieces).min(self.limits.steps);
                parts.iter_mut().for_each(|p| p.steps.thin(most));
                lane.pieces.extend(parts);
            }
        }
    }

    /// Closes all automata.
    pub fn finish(&mut self) {
        while self.automata.len() > 0 {
            self.close(self.automata.oldest());
        }
        for l in 0..self.lanes.len() as u32 {
            self.age(l);
            let lane = &mut self.lanes[l as usize];
            lane.waiting.append(&mut lane.returned);
            lane.waiting.sort_by_key(|s| s.in_size);
            lane.pool.accesses += lane.waiting.len() as u64;
        }
    }
}
