//! Traces of version 2.3 and later: signatures, grammars, and times.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::call::{Names, Offset, Signature};
use super::grammar::Grammar;
use super::level::Level;
use super::metadata::{Metadata, TraceLayout};
use super::parts::{Part, Parts, Piece};
use super::rows::{Facts, RankRows, Wanted};
use super::signatures;
use super::times::{Clock, Times};
use crate::error::{Error, Result};
use crate::formats::bytes::Cursor;
use crate::formats::options::ReadOptions;
use crate::record::{CallId, Requests};

/// Ticks after which a difference of times begins at 0 again.
const WRAP: i64 = 1 << 32;

/// The calls of a trace, not yet expanded.
pub(super) struct Calls<'s> {
    pub names: Names,
    tables: Vec<Vec<Signature>>,
    /// Each with the table of its signatures.
    grammars: Vec<(usize, Grammar)>,
    ranks: Vec<Rank<'s>>,
    /// Ranks without times or grammar.
    pub missing: u64,
    clock: Clock,
    packed_times: bool,
    differences: bool,
}

/// A rank that has calls.
struct Rank<'s> {
    rank: u32,
    grammar: usize,
    times: Piece<'s>,
    /// Its place among the ranks that `a*r+b` counts, by the call.
    places: HashMap<CallId, u32>,
}

/// Facts and rows of the ranks.
#[derive(Default)]
pub(super) struct Read {
    pub facts: Facts,
    pub rows: Vec<Requests>,
    /// Ranks whose times end before their calls: calls that are missing.
    pub cut: Vec<(u32, u64)>,
    /// A rank that ends so much earlier than another that a long pause may be missing.
    pub early: Option<u32>,
}

impl<'s> Calls<'s> {
    /// Reads signatures and grammars.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) with the part and place.
    pub(super) fn open(parts: &Parts<'s>, meta: &Metadata, options: &ReadOptions) -> Result<Calls<'s>> {
        let mut calls = Calls {
            names: Names::default(),
            tables: Vec::new(),
            grammars: Vec::new(),
            ranks: Vec::new(),
            missing: 0,
            clock: Clock::new(meta.resolution),
            packed_times: meta.packed_times,
            differences: meta.differences,
        };
        let times = times_of_ranks(parts, meta, options)?;
        let grammar_of = if meta.merged {
            calls.open_merged(parts, meta, options)?
        } else {
            calls.open_own(parts, meta, times.keys(), options)?
        };
        for (rank, times) in times {
            match grammar_of(rank) {
                Some(grammar) => calls.ranks.push(Rank { rank, grammar, times, places: HashMap::new() }),
                None => calls.missing += 1,
            }
        }
        calls.missing = u64::from(meta.ranks).saturating_sub(calls.ranks.len() as u64);
        if calls.ranks.is_empty() {
            return Err(Error::malformed(crate::error::Place::Record(0), "no rank has both calls and times")
                .remedy("copy the whole folder; a run that was killed leaves an incomplete one"));
        }
        calls.find_places();
        Ok(calls)
    }

    fn add_table(&mut self, piece: Piece<'s>, meta: &Metadata, options: &ReadOptions) -> Result<usize> {
        let bytes = if meta.layout >= TraceLayout::Packed { piece.unpack(options)?.0 } else { piece.bytes(options)? };
        let table = signatures::parse(&bytes, meta, &mut self.names).map_err(|e| e.in_file(piece.source.name()))?;
        self.tables.push(table);
        Ok(self.tables.len() - 1)
    }

    fn add_grammar(&mut self, bytes: &[u8], table: usize, piece: Piece<'s>) -> Result<()> {
        let grammar = Grammar::parse(bytes, self.tables[table].len()).map_err(|e| e.in_file(piece.source.name()))?;
        self.grammars.push((table, grammar));
        Ok(())
    }

    /// Signatures and grammars that the ranks share. Gives the grammar of each rank.
    fn open_merged(&mut self, parts: &Parts<'s>, meta: &Metadata, options: &ReadOptions) -> Result<GrammarOf> {
        let signatures = if meta.layout >= TraceLayout::Packed { Part::Signatures } else { Part::SignaturesOf(0) };
        let table = self.add_table(parts.get(signatures)?, meta, options)?;
        let piece = parts.get(Part::GrammarOfRank)?;
        let bytes = piece.bytes(options)?;
        let numbers: Vec<i32> = bytes.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let of_rank = numbers.get(..meta.ranks as usize).unwrap_or_default().to_vec();
        let count = numbers.get(meta.ranks as usize).copied().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
        let Some(count) = count.filter(|n| of_rank.iter().all(|g| u32::try_from(*g).is_ok_and(|g| g < *n))) else {
            let found = format!("{} bytes that do not name a grammar for each of {} ranks", bytes.len(), meta.ranks);
            return Err(piece.error(found));
        };
        if meta.layout >= TraceLayout::Packed {
            let mut rest = parts.get(Part::Grammars)?;
            for _ in 0..count {
                let (bytes, used) = rest.unpack(options)?;
                self.add_grammar(&bytes, table, rest)?;
                rest = rest.part(used, rest.len - used);
            }
        } else {
            for n in 0..count {
                let piece = parts.get(Part::GrammarOf(n))?;
                self.add_grammar(&piece.bytes(options)?, table, piece)?;
            }
        }
        Ok(Box::new(move |rank| of_rank.get(rank as usize).and_then(|g| usize::try_from(*g).ok())))
    }

    /// Signatures and grammar of each rank. Gives the grammar of each rank.
    fn open_own<'r>(
        &mut self,
        parts: &Parts<'s>,
        meta: &Metadata,
        ranks: impl Iterator<Item = &'r u32>,
        options: &ReadOptions,
    ) -> Result<GrammarOf> {
        let mut of_rank = HashMap::new();
        for &rank in ranks {
            let part = |part: Part| parts.all.get(&part).copied();
            let Some((signatures, grammar)) = part(Part::SignaturesOf(rank)).zip(part(Part::GrammarOf(rank))) else {
                continue;
            };
            let table = self.add_table(signatures, meta, options)?;
            let packed = meta.layout >= TraceLayout::Packed;
            let bytes = if packed { grammar.unpack(options)?.0 } else { grammar.bytes(options)? };
            self.add_grammar(&bytes, table, grammar)?;
            of_rank.insert(rank, self.grammars.len() - 1);
        }
        Ok(Box::new(move |rank| of_rank.get(&rank).copied()))
    }

    /// Offsets written as `a*r+b` count the ranks that have as many different calls of the function, in their order.
    fn find_places(&mut self) {
        let pattern = |s: &&Signature| matches!(s.offset, Offset::PerRank(..));
        let mut functions: Vec<CallId> = self.tables.iter().flatten().filter(pattern).map(|s| s.call).collect();
        functions.sort_unstable_by_key(|c| c.0);
        functions.dedup();
        if functions.is_empty() {
            return;
        }
        let used: Vec<HashMap<CallId, u32>> = self
            .grammars
            .iter()
            .map(|(table, grammar)| {
                let table = &self.tables[*table];
                let mut counts = HashMap::new();
                for call in grammar.used(table.len()) {
                    *counts.entry(table[call as usize].call).or_insert(0) += 1;
                }
                counts
            })
            .collect();
        let mut next: HashMap<(CallId, u32), u32> = HashMap::new();
        for rank in &mut self.ranks {
            for &function in &functions {
                let count = used[rank.grammar].get(&function).copied().unwrap_or(0);
                let next = next.entry((function, count)).or_insert(0);
                rank.places.insert(function, *next);
                *next += 1;
            }
        }
    }

    /// True if a call of the level moves bytes.
    pub(super) fn has_transfers(&self, wanted: impl Fn(Level) -> bool) -> bool {
        self.tables.iter().flatten().any(|s| s.op.moves_bytes() && wanted(s.level))
    }

    /// Calls of all ranks.
    pub(super) fn len(&self) -> u64 {
        self.ranks.iter().map(|r| self.grammars[r.grammar].1.len).fold(0, u64::saturating_add)
    }

    /// Expands the calls of all ranks.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if times and calls differ in number; those of the sink.
    pub(super) fn read(&self, wanted: Wanted<'_>, options: &ReadOptions) -> Result<Read> {
        let one = |rank: &Rank<'s>| self.read_rank(rank, wanted, options);
        let parts: Vec<Result<(Facts, Requests, u64)>> = self.ranks.par_iter().map(one).collect();
        let mut read = Read::default();
        let mut ends = Vec::new();
        for (rank, part) in self.ranks.iter().zip(parts) {
            let (facts, rows, cut) = part?;
            if cut > 0 {
                read.cut.push((rank.rank, cut));
            }
            ends.push((facts.end_s, rank.rank));
            read.facts.add(&facts);
            read.rows.push(rows);
        }
        let first = ends.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let early = |end: &(f64, u32)| read.facts.end_s - end.0 > self.clock.seconds(WRAP);
        read.early = first.filter(early).map(|e| e.1);
        Ok(read)
    }

    /// Expands the calls of a rank. Gives the number of calls without times as well.
    fn read_rank(&self, rank: &Rank<'s>, wanted: Wanted<'_>, options: &ReadOptions) -> Result<(Facts, Requests, u64)> {
        let (table, grammar) = &self.grammars[rank.grammar];
        let table = &self.tables[*table];
        let mut times = Times::open(rank.times, self.packed_times, options)?;
        if times.calls > grammar.len || times.calls < grammar.len && !times.is_cut() {
            return Err(
                times.error(format!("times of {} calls for the {} of rank {}", times.calls, grammar.len, rank.rank))
            );
        }
        let mut rows = RankRows::new(wanted, rank.rank, rank.places.clone(), self.differences);
        let mut missing = grammar.len;
        'calls: for (call, n) in grammar.calls() {
            let signature = &table[call as usize];
            for _ in 0..n {
                let Some((start, end)) = times.next()? else { break 'calls };
                rows.call(signature, (self.clock.seconds(start), self.clock.seconds(end)), &self.names)?;
                missing -= 1;
            }
        }
        if missing > 0 && !times.is_cut() {
            return Err(times.error(format!("the times end {missing} calls before rank {} does", rank.rank)));
        }
        times.finish()?;
        let (facts, rows) = rows.finish(&self.names)?;
        Ok((facts, rows, missing))
    }
}

/// The grammar of a rank.
type GrammarOf = Box<dyn Fn(u32) -> Option<usize>>;

/// The times of each rank that has some.
fn times_of_ranks<'s>(parts: &Parts<'s>, meta: &Metadata, options: &ReadOptions) -> Result<BTreeMap<u32, Piece<'s>>> {
    if meta.layout < TraceLayout::Packed {
        let own = parts.all.iter().filter_map(|(part, piece)| match part {
            // Nothing says how long such a file should be: one that is too short was cut.
            Part::TimesOf(rank) if *rank < meta.ranks => Some((*rank, Piece { cut: true, ..*piece })),
            _ => None,
        });
        return Ok(own.collect());
    }
    let all = parts.get(Part::Times)?;
    let table = u64::from(meta.ranks) * 8;
    if table > all.len {
        return Err(all.error(format!("{} bytes for the times of {} ranks", all.len, meta.ranks)));
    }
    let lengths = all.part(0, table).bytes(options)?;
    let mut lengths = Cursor::new(&lengths, "lengths of the times");
    let mut at = table;
    let mut pieces = BTreeMap::new();
    for rank in 0..meta.ranks {
        let length = lengths.u64()?;
        let after = at.checked_add(length).filter(|_| length <= 1 << 62);
        let Some(after) = after else { return Err(all.error(format!("times of {length} bytes for rank {rank}"))) };
        if at < all.len || length == 0 {
            pieces.insert(rank, all.part(at, length));
        }
        at = after;
    }
    Ok(pieces)
}
