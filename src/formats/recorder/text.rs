//! Text that `recorder2text` writes: a line for each call, `start end name depth type ( arguments )`, a file for each rank.

use std::collections::HashMap;
use std::marker::PhantomData;

use super::call::Names;
use super::metadata::{Metadata, TraceLayout};
use super::rows::{Facts, RankRows, Wanted};
use super::{layer_of, trace_of};
use crate::error::{Error, Place, Result};
use crate::formats::format::Sniff;
use crate::formats::lines::{Bad, LineDecoder, LineReader, Taken, Tally, lines};
use crate::formats::number::parse_f64;
use crate::formats::options::ReadOptions;
use crate::formats::source::Source;
use crate::record::{Clock, RowSink, Trace, is_time};

/// The form of a line.
const FORM: &str = "`start end name depth type ( arguments )`";
/// Type of functions of the program.
const USER: &[u8] = b"4";

/// A line.
struct TextLine<'l> {
    start: f64,
    end: f64,
    name: &'l str,
    user: bool,
    args: Vec<&'l [u8]>,
}

impl<'l> TextLine<'l> {
    fn parse(line: &'l [u8]) -> Option<TextLine<'l>> {
        let mut words = line.split(|b| *b == b' ');
        let start = parse_f64(words.next()?)?;
        let end = parse_f64(words.next()?)?;
        let name = std::str::from_utf8(words.next()?).ok().filter(|n| !n.is_empty())?;
        let (depth, kind) = (words.next()?, words.next()?);
        let number = |w: &[u8]| !w.is_empty() && w.iter().all(u8::is_ascii_digit);
        if !number(depth) || !number(kind) || words.next()? != b"(" || !is_time(start) || !is_time(end) {
            return None;
        }
        let mut args: Vec<&[u8]> = words.collect();
        if args.pop()? != b")" {
            return None;
        }
        Some(TextLine { start, end: end.max(start), name, user: kind == USER, args })
    }
}

/// Judges the first bytes of an input.
pub(super) fn sniff(head: &[u8]) -> Sniff {
    match lines(head).next().and_then(TextLine::parse) {
        Some(_) => Sniff::Yes,
        None => Sniff::No("neither `RECORDER` nor lines of the form `start end name depth type ( arguments )`"),
    }
}

/// The rank of a file, by its name.
fn rank_of(source: &Source) -> Option<u32> {
    let name = source.file_name();
    name.strip_suffix(".txt").unwrap_or(name).parse().ok()
}

/// Hands calls to `E`, until it wants no more.
struct Calls<E>(PhantomData<fn(E)>);

struct Visit<E> {
    each: E,
    /// Whether more is wanted.
    outcome: Result<bool>,
}

impl<E: FnMut(TextLine<'_>) -> Result<bool> + Send> LineDecoder for Calls<E> {
    type Rows = Visit<E>;

    fn line(&self, line: &[u8], _: u64, visit: &mut Visit<E>) -> Result<Taken, Bad> {
        if matches!(visit.outcome, Ok(true)) {
            let call = TextLine::parse(line).ok_or_else(|| Bad::new("a line", line, FORM))?;
            visit.outcome = (visit.each)(call);
        }
        Ok(Taken::Record)
    }

    fn is_remark(&self, line: &[u8]) -> bool {
        line.trim_ascii().is_empty()
    }
}

/// Gives the lines of a file to `each`, as long as it wants more.
fn each_line<E>(source: &Source, options: &ReadOptions, each: E) -> Result<Tally>
where
    E: FnMut(TextLine<'_>) -> Result<bool> + Send,
{
    let mut lines = LineReader::open(source, options)?;
    let mut visit = Visit { each, outcome: Ok(true) };
    while matches!(visit.outcome, Ok(true)) && lines.next(&Calls(PhantomData), &mut visit)? {}
    visit.outcome?;
    Ok(lines.finish())
}

/// Reads the files of the ranks, one after the other.
///
/// # Errors
/// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) if a file holds no line of the form.
pub(super) fn read(sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
    let mut ranks: Vec<(u32, &Source)> = sources
        .iter()
        .enumerate()
        .map(|(i, s)| (rank_of(s).unwrap_or(u32::try_from(i).unwrap_or(u32::MAX)), s))
        .collect();
    ranks.sort_by_key(|r| r.0);
    let has_transfers = |wanted: &(dyn Fn(super::level::Level) -> bool + Sync)| {
        let (mut names, mut found) = (Names::default(), false);
        for (_, source) in &ranks {
            let _ = each_line(source, options, |l| {
                let s = names.signature(l.name, &l.args, 0);
                found |= !l.user && s.op.moves_bytes() && wanted(s.level);
                Ok(!found)
            });
        }
        found
    };
    let layer = if options.layer.is_some() { options.layer } else { layer_of(None, has_transfers) };
    let wanted = Wanted::new(sink, layer, options);
    let (mut names, mut facts, mut all, mut warnings) = (Names::default(), Facts::default(), Vec::new(), Vec::new());
    let (mut bad, mut kept) = (0, 0);
    for &(rank, source) in &ranks {
        let mut rows = RankRows::new(wanted, rank, HashMap::new(), false);
        let tally = each_line(source, options, |l| {
            let s = if l.user { names.user_function(l.name, 0) } else { names.signature(l.name, &l.args, 0) };
            rows.call(&s, (l.start, l.end), &names).map(|()| true)
        });
        let tally = tally.map_err(|e| e.in_file(source.name()))?;
        let (of_rank, rows) = rows.finish(&names)?;
        if let (Some((line, _)), 0) = (&tally.first_bad, of_rank.calls()) {
            return Err(Error::malformed(Place::Line(*line), "no line of the file is a call")
                .expected(FORM)
                .in_file(source.name()));
        }
        facts.add(&of_rank);
        kept += rows.len();
        all.push(rows);
        bad += tally.bad;
        warnings.extend(tally.warnings("calls", Some(source.file_name())));
        if kept > options.limits.records {
            return Err(Error::too_many_rows(options.limits.records));
        }
    }
    let meta = Metadata::of_text(ranks.len());
    let mut trace = trace_of(&meta, layer, facts, all, (names, sink))?;
    trace.clock = Clock::default();
    trace.quality.records_read += bad;
    trace.quality.records_dropped += bad;
    trace.warnings.extend(warnings);
    Ok(trace)
}

impl Metadata {
    /// Metadata of a text: the number of its ranks.
    fn of_text(ranks: usize) -> Metadata {
        Metadata {
            layout: TraceLayout::Records,
            version: String::new(),
            newer: false,
            ranks: u32::try_from(ranks).unwrap_or(u32::MAX),
            start_s: 0.0,
            resolution: 1e-7,
            packed_times: false,
            merged: false,
            differences: false,
            call_sites: false,
            functions: Vec::new(),
        }
    }
}
