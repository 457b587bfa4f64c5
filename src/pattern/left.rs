//! What no pattern of its rank has taken, and what becomes of it when the trace ends: all ranks are looked at together
//! ([`across`](super::across)), then each for what is short ([`remnants`](super::remnants)).

use super::access::Access;
use super::across;
use super::detect::Found;
use super::detector::{Counts, RankDetector};
use super::doubt::{self, Choice, Pools, accidents};
use super::follow::{Followers, Jumbled};
use super::log::{Item, Log};
use super::merge::merge;
use super::nest::Level;
use super::options::Options;
use super::order::{self, Without};
use super::over::told_over;
use super::pattern::{Body, Pattern, Ranks};
use super::reading::Piece;
use super::remnants::{self, CHANCE};
use super::steps::Steps;
use super::table::Table;
use super::walk::Walk;
use crate::record::{FileId, Op};
use rayon::prelude::*;

/// A sequential pattern of fewer accesses gives way to a level over ranks that explains all of them.
const SHORT: u64 = 8;

/// Rounds in which short patterns may give way.
const ROUNDS: usize = 3;

/// Stands for no pattern.
const FREE: u32 = u32::MAX;

/// Patterns that were found but are not kept, because there were too many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Folded {
    /// Their number.
    pub patterns: u64,
    /// Their accesses.
    pub records: u64,
    /// Bytes that these move.
    pub bytes: u64,
}

impl Folded {
    pub(super) fn add(&mut self, p: &Pattern) {
        self.append(Folded { patterns: 1, records: p.records, bytes: p.bytes });
    }

    /// Those that are known after all are no more of them.
    pub(super) fn remove(&mut self, other: Folded) {
        self.patterns = self.patterns.saturating_sub(other.patterns);
        self.records = self.records.saturating_sub(other.records);
        self.bytes = self.bytes.saturating_sub(other.bytes);
    }

    pub(super) fn append(&mut self, other: Folded) {
        self.patterns += other.patterns;
        self.records += other.records;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// A record without a pattern, or with one that may give way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left {
    pub access: Access,
    /// Its number among the records of its rank.
    pub seq: u64,
    /// The short pattern that holds it.
    held: u32,
    /// A pattern has it now.
    pub taken: bool,
    /// Its short pattern does not give way, or it makes none with others of its size.
    kept: bool,
    /// It may go on with accesses of other sizes even then.
    mixed: bool,
}

impl Left {
    pub fn new(access: Access, seq: u64) -> Left {
        Left { access, seq, held: FREE, taken: false, kept: false, mixed: false }
    }

    /// The records of a pattern, their times as far as they are known.
    pub fn of_pattern(p: &Pattern) -> Option<Vec<Left>> {
        let (first, last) = p.span;
        let seq = |i: u64| first + (last - first) * i / (p.records - 1).max(1);
        let mut times = p.steps.list().iter().flat_map(|s| (0..s.records).map(move |i| (i, s))).map(|(i, s)| {
            let each = (s.end - s.start) / s.records as f64;
            (s.start + i as f64 * each, s.start + (i + 1) as f64 * each)
        });
        let known = p.steps.forgotten() == 0;
        let lefts = (0u64..).zip(p.expand()?).map(|(i, (offset, size))| {
            let (start, end) = times.next().filter(|_| known).unwrap_or((p.start, p.end));
            Left::new(Access { op: p.op, rank: p.rank, file: p.file, offset, size, start, end }, seq(i))
        });
        Some(lefts.collect())
    }

    /// Operation as a number, file, size.
    pub fn key(&self) -> doubt::Key {
        (self.access.op as u8, self.access.file, self.access.size)
    }

    /// True if a pattern has it, be it one that may give way.
    pub fn is_held(&self) -> bool {
        self.held != FREE
    }

    /// True if it may become part of a pattern.
    pub fn is_free(&self) -> bool {
        !self.taken && !self.kept && self.access.sane()
    }

    /// True if it may become part of a pattern of several sizes.
    pub fn is_free_with_others(&self) -> bool {
        self.is_free() || self.mixed && !self.taken
    }
}

/// True for what is a pattern: at least one access was foretold. Any two accesses have a stride.
pub(super) fn counts(p: &Pattern) -> bool {
    match (p.records, p.levels(), p.access_size()) {
        (0 | 1, ..) => false,
        (2, [l], Some(size)) => l.stride == 0 || size > 0 && l.stride as u64 == size,
        _ => true,
    }
}

/// A pattern of these records, which are in its order.
pub(super) fn pattern_of(members: &[&Left], body: Body, ranks: Option<Ranks>) -> Option<Pattern> {
    let first = members.first()?;
    let mut by_time: Vec<&Access> = members.iter().map(|l| &l.access).collect();
    by_time.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut steps = Steps::default();
    by_time.iter().for_each(|a| steps.add(a.start, a.end, a.size, usize::MAX));
    Some(Pattern {
        op: first.access.op,
        rank: first.access.rank,
        file: first.access.file,
        start_offset: first.access.offset,
        records: members.len() as u64,
        bytes: members.iter().fold(0, |sum, l| sum.saturating_add(l.access.size)),
        start: by_time.first().map_or(0.0, |a| a.start),
        end: by_time.iter().map(|a| a.end).fold(f64::NEG_INFINITY, f64::max),
        steps,
        body,
        span: (members.iter().map(|l| l.seq).min()?, members.iter().map(|l| l.seq).max()?),
        cursor: None,
        ranks,
        then: None,
    })
}

/// One loop of so many passes.
pub(super) fn one_loop(size: u64, count: usize, stride: i64) -> Body {
    Body::Strided { size, levels: vec![Level { count: count as u64, stride }] }
}

/// A rank whose records have ended.
#[derive(Debug)]
pub(super) struct Ended {
    detector: RankDetector,
    followers: Followers,
}

/// What ranks have when their records have ended.
pub(super) fn end(ranks: Vec<Ended>) -> (Vec<Part>, Jumbled) {
    let (ranks, followers): (Vec<RankDetector>, Vec<Followers>) =
        ranks.into_iter().map(|r| (r.detector, r.followers)).unzip();
    let jumbled = Jumbled::of(&followers);
    (ranks.into_par_iter().map(|r| r.part(&jumbled)).collect(), jumbled)
}

/// What a rank has when its records have ended.
#[derive(Debug)]
pub(super) struct Part {
    pub rank: u32,
    pub patterns: Vec<Pattern>,
    /// In the order of time.
    pub left: Vec<Left>,
    /// Short patterns, whose records are among those left.
    held: Vec<Pattern>,
    /// Records left that nobody looks at any more.
    late: Vec<Left>,
    counts: Counts,
    folded: Folded,
    unmatched: u64,
    options: Options,
    /// What its streams did, as far as that is known.
    logs: Table<(Op, FileId), Box<Log>>,
    /// It is known of all of them.
    logged: bool,
}

impl RankDetector {
    /// Seeks patterns in what is left, closes all, and gives everything that was found.
    pub fn finish(self) -> Found {
        settle(end(vec![self.ended()]))
    }

    /// Closes all patterns.
    pub(super) fn ended(mut self) -> Ended {
        self.search_last();
        (0..self.opens.len() as u32).for_each(|id| self.close(id));
        let everything = self.waiting.all_expired(|_| true);
        self.give_up(&everything);
        self.forget();
        Ended { followers: self.followers(), detector: self }
    }

    /// What it has, once it is known which accesses of all ranks follow each other by chance.
    fn part(mut self, jumbled: &Jumbled) -> Part {
        let (mut patterns, mut held) = (Vec::new(), Vec::new());
        let mut closed = merge(std::mem::take(&mut self.closed));
        self.scatter_jumbled(jumbled, &mut closed);
        for p in self.read_again(closed, jumbled) {
            if !counts(&p) {
                self.scatter(&p);
                continue;
            }
            let short = p.access_size().is_none() && p.records < SHORT;
            let room = self.left.len() + p.records as usize <= self.most.left;
            match (short && room).then(|| Left::of_pattern(&p)).flatten() {
                Some(records) => {
                    let number = held.len() as u32;
                    self.left.extend(records.into_iter().map(|l| Left { held: number, ..l }));
                    held.push(p);
                }
                None => patterns.push(p),
            }
        }
        let mut left = self.left;
        let late = left.split_off(left.len().min(self.most.left));
        left.sort_by_key(|l| l.seq);
        let mixed = patterns.iter().any(|p| p.access_size().is_none()) || !held.is_empty();
        Part {
            logged: !mixed && self.logs.iter().all(Option::is_some),
            rank: self.rank,
            patterns,
            left,
            held,
            late,
            counts: self.counts,
            folded: self.folded,
            unmatched: self.unmatched_count,
            options: self.options,
            logs: self.streams.into_iter().zip(self.logs).filter_map(|(s, log)| Some((s, log?))).collect(),
        }
    }
}

impl Part {
    /// True if it is known what the rank did.
    pub fn is_complete(&self) -> bool {
        let all_known =
            || self.logged && self.logs.values().all(|l| l.sizes().1) && self.walks().all(|w| w.1.is_some());
        self.folded.patterns == 0 && (self.keeps_left() || all_known())
    }

    /// True if everything is kept that its own patterns have left.
    pub fn keeps_left(&self) -> bool {
        (self.left.len() + self.late.len()) as u64 >= self.unmatched
    }

    /// The accesses of its streams one by one, as far as they are known.
    pub fn walks(&self) -> impl Iterator<Item = (doubt::Key, Option<Walk>)> + '_ {
        let streams = self.logs.iter().flat_map(|(&(op, file), log)| {
            let keys = log.sizes().0.into_iter().map(move |size| (op as u8, file, size));
            keys.collect::<Vec<doubt::Key>>()
        });
        streams.map(|key| (key, self.walk(&key)))
    }

    /// Everything that its own patterns have left.
    pub fn all_left(&self) -> impl Iterator<Item = &Left> {
        self.left.iter().chain(&self.late)
    }

    /// The accesses of a stream one by one, if they are known and few.
    pub fn walk(&self, &(op, file, size): &doubt::Key) -> Option<Walk> {
        let log =
            [Op::Read, Op::Write].into_iter().find(|o| *o as u8 == op).and_then(|op| self.logs.get(&(op, file)))?;
        log.walk(size)
    }

    /// What has no order makes no patterns with other ranks, or by what it is. If all ranks do it over and over, each place is a
    /// pattern.
    fn scatter(&mut self, pools: &Pools, without: &Without, streams: &Table<doubt::Key, Choice>) {
        if without.pools.is_empty() {
            return;
        }
        let pool = |l: &&mut Left| l.held == FREE && without.pools.contains_key(&pools.pool(&l.key()));
        let mut alone: Table<doubt::Key, f64> = Table::default();
        for l in self.left.iter_mut().filter(pool) {
            l.taken = false;
            *alone.entry(l.key()).or_default() += 1.0;
        }
        // At places far apart, chance makes no pairs.
        let dense =
            |key: &doubt::Key| alone[key] * alone[key] / 2.0 > CHANCE * streams.get(key).map_or(1.0, |c| c.places);
        for l in self.left.iter_mut().filter(pool) {
            l.kept = dense(&l.key());
            l.mixed = l.kept && l.access.sane();
        }
        let again = streams.keys().filter(|key| without.pools.get(&pools.pool(key)) == Some(&true)).copied();
        again.collect::<Vec<_>>().into_iter().for_each(|key| self.visits(key));
    }

    /// Makes a pattern of each place of a list that is gone through over and over, if it is no nest.
    fn visits(&mut self, key: doubt::Key) {
        let (_, file, size) = key;
        let of_stream = |p: &Pattern| (p.op as u8, p.file, p.access_size()) == (key.0, file, Some(size));
        let alone = |l: &Left| l.held == FREE && (l.access.op as u8, l.access.file, l.access.size) == key;
        let told: Vec<u64> = self.patterns.iter().filter(|p| of_stream(p)).map(|p| p.records).collect();
        let known = told.iter().sum();
        let is_nest = |walk: &Walk| told.len() == 1 && known == walk.records();
        let Some(walk) = self.walk(&key).filter(|walk| !is_nest(walk) && walk.records() > 1) else { return };
        let Some(op) = [Op::Read, Op::Write].into_iter().find(|o| *o as u8 == key.0) else { return };
        let held = |l: &Left| l.held != FREE && (l.access.op as u8, l.access.file, l.access.size) == key;
        if self.left.iter().any(held) {
            return;
        }
        self.unmatched = self.unmatched.saturating_sub(walk.records().saturating_sub(known));
        self.left.retain(|l| !alone(l));
        self.late.retain(|l| !alone(l));
        self.patterns.retain(|p| !of_stream(p));
        let levels = vec![Level { count: walk.passes, stride: 0 }];
        let piece = |(i, item): (usize, &Item)| Piece {
            base: item.offset,
            levels: levels.clone(),
            items: vec![i],
            rounds: true,
            list: 0,
        };
        let pieces = walk.list().iter().enumerate().map(piece);
        let rank = self.rank;
        self.patterns.extend(pieces.map(|piece| told_over(&piece, &walk, (op, rank, file), size)));
    }

    /// Takes apart what chance may have made.
    fn doubt(&mut self, pools: &Pools, choices: &Table<doubt::Key, Choice>) {
        let chance = accidents(pools, &self.left, &self.patterns, choices);
        if !chance.contains(&true) {
            return;
        }
        let mut chance = chance.into_iter();
        for p in self.patterns.extract_if(.., |_| chance.next() == Some(true)) {
            let records = Left::of_pattern(&p).unwrap_or_default();
            self.unmatched += records.len() as u64;
            // Nor do they make others by what they are.
            self.left.extend(records.into_iter().map(|l| Left { kept: true, ..l }));
        }
        self.left.sort_by_key(|l| l.seq);
    }

    /// Keeps short patterns of which a part of the records was taken; true if there are none.
    fn whole(&mut self) -> bool {
        let mut taken = vec![0; self.held.len()];
        let held = |l: &&mut Left| l.held != FREE;
        self.left.iter_mut().filter(held).for_each(|l| taken[l.held as usize] += u64::from(l.taken));
        let partly: Vec<bool> = taken.iter().zip(&self.held).map(|(&n, p)| n > 0 && n < p.records).collect();
        self.left.iter_mut().filter(held).for_each(|l| l.kept |= partly[l.held as usize]);
        !partly.contains(&true)
    }

    /// Seeks what is short, and counts.
    fn complete(mut self, jumbled: &Jumbled) -> Found {
        let mut gone = vec![false; self.held.len()];
        for l in &mut self.left {
            if l.held != FREE {
                gone[l.held as usize] = l.taken;
                l.kept = true;
            }
        }
        self.patterns.extend(self.held.into_iter().zip(gone).filter(|(_, gone)| !gone).map(|(p, _)| p));
        let more = remnants::find(&mut self.left, &self.patterns, self.options.max_age, jumbled);
        self.patterns.extend(more);
        let unmatched = self.left.iter().filter(|l| l.held == FREE && !l.taken).chain(&self.late);
        let taken = self.left.iter().filter(|l| l.held == FREE && l.taken).count() as u64;
        Found {
            unmatched: if self.options.keep_unmatched { unmatched.map(|l| l.access).collect() } else { Vec::new() },
            patterns: self.patterns,
            counts: self.counts,
            folded: self.folded,
            unmatched_records: self.unmatched - taken,
        }
    }
}

/// The last look at all ranks.
pub(super) fn settle((mut parts, jumbled): (Vec<Part>, Jumbled)) -> Found {
    parts.sort_by_key(|p| p.rank);
    let age = parts.first().map_or(Options::default().max_age, |p| p.options.max_age);
    let mut joint = across::join(&mut parts, age);
    for round in 1..=ROUNDS {
        // Each of them decides, also if one is not whole.
        let whole: Vec<bool> = parts.iter_mut().map(Part::whole).collect();
        if !whole.contains(&false) {
            break;
        }
        for l in parts.iter_mut().flat_map(|p| &mut p.left) {
            l.taken = false;
            l.kept |= round == ROUNDS && l.held != FREE;
        }
        joint = across::join(&mut parts, age);
    }
    let mut pools = Pools::new(jumbled, &parts);
    pools.ask(order::asked(&parts, &pools));
    parts.iter().for_each(|p| pools.look(p));
    let without = order::without(pools.asked(), &pools, &parts, &joint);
    pools.answer(&without);
    joint.retain(|p| !without.pools.contains_key(&pools.pool(&(p.op as u8, p.file, p.access_size().unwrap_or(0)))));
    let none = Table::default();
    parts.par_iter_mut().enumerate().for_each(|(n, p)| {
        let choices = without.choices.get(n).unwrap_or(&none);
        p.scatter(&pools, &without, choices);
        p.doubt(&pools, choices);
    });
    let mut all = Found { patterns: joint, ..Found::default() };
    let found: Vec<Found> = parts.into_par_iter().map(|p| p.complete(pools.jumbled())).collect();
    found.into_iter().for_each(|f| all.append(f));
    let key = |p: &Pattern| (p.rank, p.span, p.file, p.op as u8, p.start_offset);
    all.patterns.sort_by(|a, b| a.start.total_cmp(&b.start).then_with(|| key(a).cmp(&key(b))));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Options;

    #[test]
    fn closed_patterns_leave_memory_and_are_counted() {
        let mut d = RankDetector::new(0, Options { max_open: 16, ..Options::default() });
        d.most.closed = 200 * 300;
        let (runs, mut x) = (5000, 1u64);
        for run in 0..runs {
            // Ten records at a stride, somewhere else each time; later runs are longer and move more bytes.
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            for i in 0..10 + run / 1000 {
                let offset = ((x >> 33) << 20) + i * 8192;
                let start = (run * 20 + i) as f64;
                let (op, rank, file, size) = (Op::Write, 0, FileId(0), 4096);
                d.push(&Access { op, rank, file, offset, size, start, end: start + 0.5 });
                let bytes: usize = d.closed.iter().map(Pattern::memory).sum();
                assert!(bytes <= d.most.closed && d.open_patterns() <= 16);
            }
        }
        let found = d.finish();
        assert!(found.patterns.len() <= 300, "{}", found.patterns.len());
        assert!(found.folded.patterns > 10 * found.patterns.len() as u64);
        assert_eq!(found.patterns.iter().map(|p| p.records).sum::<u64>() + found.folded.records, found.counts.records);
        assert_eq!((found.unmatched_records, found.matched()), (0, found.counts.records));
        assert_eq!(found.matched_bytes(), found.counts.bytes);
        assert!(found.patterns.iter().all(|p| p.records.is_multiple_of(14)), "the largest are kept");
    }
}
