//! What streams of few accesses did is read again when the trace ends, and takes the place of what was found record by record if
//! it tells more, or the same in less.

use super::access::Access;
use super::chain::{self, Chain};
use super::detector::RankDetector;
use super::follow::Jumbled;
use super::left::{Folded, Left};
use super::log::{Item, Log};
use super::options::Age;
use super::pattern::{Body, Pattern};
use super::reading::{self, OfSize, Piece};
use super::reread;
use super::steps::Steps;
use super::table::{Keys, Table};
use super::weigh::Known;
use crate::record::{FileId, Op};

/// Places at which a sequential pattern may be, and accesses of a stream in which that is looked at.
const AGAIN: usize = 8;
const SMALL: usize = 1024;

/// Operation, file, size.
pub(super) type Key = (Op, FileId, u64);

/// Streams that have been read in another way, and what of them belongs to no pattern.
#[derive(Default)]
pub(super) struct Reread {
    pub streams: Keys<Key>,
    left: Vec<Left>,
    /// Accesses of these streams that were in no pattern before, and patterns that were only counted.
    pub alone: u64,
    pub folded: Folded,
}

impl RankDetector {
    /// Reads again what streams of few accesses did; gives the patterns that are left of those given, and the new ones.
    pub(super) fn read_again(&mut self, closed: Vec<Pattern>, jumbled: &Jumbled) -> Vec<Pattern> {
        let all_left = self.left.len() as u64 == self.unmatched_count;
        let mut alone: Table<Key, u64> = Table::default();
        let key = |l: &Left| (l.access.op, l.access.file, l.access.size);
        self.left.iter().for_each(|l| *alone.entry(key(l)).or_default() += 1);
        let mut streams: Table<(Op, FileId), Vec<Pattern>> = Table::default();
        closed.into_iter().for_each(|p| streams.entry((p.op, p.file)).or_default().push(p));
        let (mut out, mut again) = (Vec::new(), Reread::default());
        for (&(op, file), log) in self.streams.iter().zip(&self.logs) {
            let Some(log) = log else { continue };
            let mut patterns = streams.remove(&(op, file)).unwrap_or_default();
            // A sequential pattern has accesses of many sizes: all of them or none are read again.
            let mixed = patterns.iter().any(|p| p.access_size().is_none());
            let (sizes, all) = log.sizes();
            let folded = self.folded_of.get(&(op, file)).copied().unwrap_or_default();
            if all && log.passes().is_some_and(|p| p.are_near(self.options.max_age)) {
                out.extend(again.list((op, self.rank, file), log, &sizes, patterns, folded));
                continue;
            }
            // All of a stream must be known.
            if mixed && !all || folded.patterns > 0 || log.passes().is_some() {
                out.append(&mut patterns);
                continue;
            }
            let age = self.options.max_age;
            // Where what is left is not all kept, the log tells how much it was.
            let alone = |log: &Log, sizes: &[u64], old: &[Pattern]| -> u64 {
                let all = sizes.iter().map(|&s| log.count(s)).sum::<u64>();
                match all_left {
                    true => sizes.iter().filter_map(|&size| alone.get(&(op, file, size))).sum(),
                    false => all.saturating_sub(old.iter().map(|p| p.records).sum()),
                }
            };
            let is_sequential = |p: &Pattern| p.access_size().is_none();
            let mut rest = None;
            if mixed {
                let alone = alone(log, &sizes, &patterns);
                patterns = again.better((op, self.rank, file), (log, age), &sizes, patterns, alone);
                if patterns.iter().any(is_sequential) {
                    rest = without(log, &mut patterns, age);
                }
            }
            if let Some(log) = if mixed { rest.as_ref() } else { Some(&**log) } {
                for sizes in log.sizes().0.chunks(1) {
                    let of_size = |p: &mut Pattern| p.access_size() == Some(sizes[0]);
                    let old: Vec<Pattern> = patterns.extract_if(.., of_size).collect();
                    let alone = alone(log, sizes, &old);
                    out.extend(match jumbled.has_many(op as u8) {
                        true => again.by_chance((op, self.rank, file), log, sizes[0], old, alone),
                        false => again.better((op, self.rank, file), (log, age), sizes, old, alone),
                    });
                }
            }
            out.append(&mut patterns);
        }
        out.extend(streams.into_values().flatten());
        out.sort_by_key(|p| (p.span, p.start_offset));
        self.left.retain(|l| !l.access.sane() || !again.streams.contains(&key(l)));
        self.unmatched_count = (self.unmatched_count + again.left.len() as u64).saturating_sub(again.alone);
        self.left.append(&mut again.left);
        self.folded.remove(again.folded);
        out
    }
}

impl Reread {
    /// What accesses of these sizes are: the patterns known, which leave so many alone, or those of a new reading, if that tells
    /// more, or the same with less.
    fn better(
        &mut self,
        stream: (Op, u32, FileId),
        (log, age): (&Log, Age),
        sizes: &[u64],
        old: Vec<Pattern>,
        alone: u64,
    ) -> Vec<Pattern> {
        let known = Known::of(&old, alone);
        if known.is_one() {
            return old;
        }
        let new: Vec<OfSize> = sizes.iter().map(|&size| read(log, size, age)).collect();
        let all: u64 = new.iter().flat_map(|g| &g.items).map(|i| i.count).sum();
        // Accesses at no possible place are in no log.
        if all != alone + old.iter().map(|p| p.records).sum::<u64>() || !known.gives_way_to(&new) {
            return old;
        }
        self.alone += alone;
        new.iter().flat_map(|of_size| self.take(stream, of_size)).collect()
    }

    /// What accesses of a size are that come in random order, as sizes do; the patterns known, which leave so many alone, if these
    /// accesses are not all known.
    fn by_chance(
        &mut self,
        stream: (Op, u32, FileId),
        log: &Log,
        size: u64,
        old: Vec<Pattern>,
        alone: u64,
    ) -> Vec<Pattern> {
        let items = if log.chain(size).is_some() { Vec::new() } else { log.of_size(size) };
        if items.len() < 2 || items.len() as u64 != alone + old.iter().map(|p| p.records).sum::<u64>() {
            return old;
        }
        let Some(reading) = reread::by_chance(&items, size) else { return old };
        self.alone += alone;
        self.take(stream, &OfSize { size, items, reading })
    }

    /// The patterns of a new reading; what they leave is kept.
    fn take(&mut self, (op, rank, file): (Op, u32, FileId), OfSize { size, items, reading }: &OfSize) -> Vec<Pattern> {
        let of = |i: &Item| {
            let (offset, size) = (i.offset, *size);
            Left::new(Access { op, rank, file, offset, size, start: i.start, end: i.end }, i.span.0)
        };
        self.streams.insert((op, file, *size));
        self.left.extend(reading::singles(items, &reading.rest, of));
        reading.pieces.iter().map(|piece| told_by(piece, items, (op, rank, file), *size)).collect()
    }
}

/// What a log has beside the accesses of the sequential patterns; `None` if they are not all in it, or it is not kept one by
/// one. Where the accesses of one come several times, it is moved to those without which the others are told best.
fn without(log: &Log, patterns: &mut [Pattern], age: Age) -> Option<Log> {
    let all = log.all()?;
    let sequential: Vec<usize> = (0..patterns.len()).filter(|&i| patterns[i].access_size().is_none()).collect();
    if let [one] = sequential[..] {
        let p = &mut patterns[one];
        let places: Vec<(u64, u64)> = p.expand()?.collect();
        let is_it = |run: &[Item]| run.iter().map(|i| (i.offset, i.size)).eq(places.iter().copied());
        let runs: Vec<usize> = (0..all.len()).filter(|&i| all.get(i..i + places.len()).is_some_and(is_it)).collect();
        if runs.len() > 1 && runs.len() <= AGAIN && all.len() <= SMALL {
            let rest = |&at: &usize| -> Vec<Item> { [&all[..at], &all[at + places.len()..]].concat() };
            let told = |at: &usize| {
                let log = log_of(&rest(at), age)?;
                let sizes = log.sizes().0;
                let told = sizes.iter().map(|&size| read(&log, size, age).told());
                Some(told.fold((0, 0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2, a.3 + b.3)))
            };
            let best = *runs.iter().min_by_key(|at| told(at).unwrap_or((u64::MAX, 0, 0, 0)))?;
            let run = &all[best..best + places.len()];
            let mut steps = Steps::default();
            run.iter().for_each(|i| steps.add_many(i.start, i.end, i.size, 1));
            (p.steps, p.span) = (steps, (run[0].span.0, run[run.len() - 1].span.1));
            p.start = run[0].start;
            p.end = run.iter().map(|i| i.end).fold(f64::NEG_INFINITY, f64::max);
            return log_of(&rest(&best), age);
        }
    }
    let mut of_pattern = vec![false; all.len()];
    for p in sequential.iter().map(|&i| &patterns[i]) {
        let mut from = all.partition_point(|i| i.span.0 < p.span.0);
        for (offset, size) in p.expand()? {
            let is_next = |i: &usize| !of_pattern[*i] && (all[*i].offset, all[*i].size) == (offset, size);
            let next = (from..all.len()).find(is_next)?;
            (of_pattern[next], from) = (true, next + 1);
        }
    }
    let mut of_pattern = of_pattern.into_iter();
    log_of(&all.iter().filter(|_| of_pattern.next() == Some(false)).copied().collect::<Vec<_>>(), age)
}

/// A log of single accesses, if it can be kept.
fn log_of(items: &[Item], age: Age) -> Option<Log> {
    let mut log = Log::new(age);
    items.iter().all(|i| log.push(i.offset, i.size, (i.start, i.end), i.span.0)).then_some(log)
}

/// The best reading of the accesses of a size in a log.
fn read(log: &Log, size: u64, age: Age) -> OfSize {
    let nests = |chain: Chain, items: Vec<Item>| {
        let (items, reading) = chain::reading(&chain.finish(items), size);
        OfSize { size, items, reading }
    };
    if let Some(chain) = log.chain(size) {
        return nests(chain.clone(), log.runs(size));
    }
    let items = log.of_size(size);
    match reread::read(&items, size, age) {
        Some(reading) => OfSize { size, items, reading },
        // It takes too long.
        None => nests(Chain::new(size, age), items),
    }
}

/// The pattern of a nest of items.
pub(super) fn told_by(piece: &Piece, items: &[Item], (op, rank, file): (Op, u32, FileId), size: u64) -> Pattern {
    let members = || piece.items.iter().map(|&i| &items[i]);
    let mut steps = Steps::default();
    members().for_each(|i| steps.add_many(i.start, i.end, i.count.saturating_mul(size), i.count));
    let records: u64 = members().map(|i| i.count).sum();
    Pattern {
        op,
        rank,
        file,
        start_offset: piece.base,
        records,
        bytes: records.saturating_mul(size),
        start: members().map(|i| i.start).fold(f64::INFINITY, f64::min),
        end: members().map(|i| i.end).fold(f64::NEG_INFINITY, f64::max),
        steps,
        body: Body::Strided { size, levels: piece.levels.clone() },
        span: (members().map(|i| i.span.0).min().unwrap_or(0), members().map(|i| i.span.1).max().unwrap_or(0)),
        cursor: None,
        ranks: None,
        then: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::nest::{Level, offsets};
    use super::super::options::Options;
    use super::*;

    /// Start and loops.
    type Told = (u64, Vec<(u64, i64)>);

    /// What accesses at these places and of these sizes are, and how many are in no pattern.
    fn found(accesses: impl IntoIterator<Item = (u64, u64)>) -> (Vec<Told>, u64) {
        let mut d = RankDetector::new(0, Options::default());
        for (i, (offset, size)) in accesses.into_iter().enumerate() {
            let (op, file, start) = (Op::Read, FileId(0), i as f64);
            d.push(&Access { op, rank: 0, file, offset, size, start, end: start + 0.5 });
        }
        let found = d.finish();
        let levels = |p: &Pattern| p.levels().iter().map(|l| (l.count, l.stride)).collect();
        (found.patterns.iter().map(|p| (p.start_offset, levels(p))).collect(), found.unmatched_records)
    }

    #[test]
    fn what_begins_within_a_nest_is_one_of_its_own() {
        // The second one begins at the second row of the first one.
        let rows = |n: u64| [(2, 128), (2, 2048), (n, 32_768)].map(|(count, stride)| Level { count, stride });
        let places = offsets(34_057, &rows(2)).chain(offsets(66_825, &rows(4))).map(|o| (o, 64)).collect::<Vec<_>>();
        let nest = |n: u64| rows(n).map(|l| (l.count, l.stride)).to_vec();
        assert_eq!(found(places), (vec![(34_057, nest(2)), (66_825, nest(4))], 0));
        // What has ended goes on where it did.
        let row = |from: u64, n: u64| (from..from + n).map(|k| (k * 192, 64));
        let places = row(10, 6).chain(row(500, 5)).chain(row(16, 6)).collect::<Vec<_>>();
        assert_eq!(found(places), (vec![(1920, vec![(12, 192)]), (96_000, vec![(5, 192)])], 0));
    }

    #[test]
    fn the_start_of_a_nest_is_in_no_run_of_other_sizes() {
        // A header, three attributes and one element back to back; then the same with four and with sixteen elements at a distance.
        let head = || [(0, 96), (96, 40), (136, 40), (176, 40)];
        let pass = |n: u64| head().into_iter().chain((0..n).map(|k| (216 + 40 * k, 8)));
        let (patterns, _) = found([1, 4].into_iter().flat_map(pass));
        assert!(patterns.contains(&(216, vec![(4, 40)])), "{patterns:?}");
        let (patterns, left) = found([1, 4, 16].into_iter().flat_map(pass));
        let rows = [(216, vec![(4, 40)]), (216, vec![(16, 40)])];
        assert!(left == 0 && rows.iter().all(|row| patterns.contains(row)), "{patterns:?}");
        // One that may be in the first pass or in the second one is where the elements beside it are told best.
        let (patterns, left) = found([2, 4, 8].into_iter().flat_map(pass));
        let rows = [(216, vec![(4, 40)]), (216, vec![(8, 40)])];
        assert!(left == 1 && rows.iter().all(|row| patterns.contains(row)), "{patterns:?}");
    }

    #[test]
    fn rows_are_not_torn() {
        let row = |n: u64| (0..n).map(|k| (2200 + 16 * k, 8));
        assert_eq!(
            found([1, 2, 4, 8].into_iter().flat_map(row)),
            (vec![(2200, vec![(4, 16)]), (2200, vec![(8, 16)])], 3)
        );
    }

    #[test]
    fn what_has_foretold_little_beside_others_is_none() {
        let places = [97u64, 105, 145, 97, 105, 145, 185, 225];
        assert_eq!(found(places.map(|o| (o, 8))), (vec![(97, vec![(2, 8), (2, 0)])], 4));
    }

    #[test]
    fn a_row_may_be_enough_over_and_over() {
        let places = [2104u64, 2120, 2136, 2200, 2104, 2120];
        assert_eq!(found(places.map(|o| (o, 16))), (vec![(2104, vec![(2, 16), (2, 0)])], 2));
        assert_eq!(found([0u64, 4096, 0, 0].map(|o| (o, 96))), (vec![(0, vec![(3, 0)])], 1));
    }
}
