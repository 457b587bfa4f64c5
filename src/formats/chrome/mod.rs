//! Chrome trace JSON, which Perfetto, the profiler of PyTorch and many other tools write: events with a name, a time and arguments.
//!
//! Both outer forms: an array of events, whose end may be missing, or an object with the array `traceEvents`; also one event a line.
//! Events are read one after the other and dropped. Of those named read or write (or named by the user), the ones that say how many
//! bytes they moved are the rows; if none does, counters of bytes are, or else the times of these events. `X` events, pairs of `B`
//! and `E`, and asynchronous pairs are the same to a reader. Events inside one another on a thread count once (`nested`).
//!
//! A file may hold several documents, one after the other. The files of a folder that name their ranks, as those of PyTorch do, are one
//! job.

mod args;
mod counters;
mod nested;
mod open;
mod rows;

use self::args::Event;
use self::rows::{Content, Plan, Rows};
use super::clock::origin_of;
use super::dftracer::DfTracer;
use super::format::{Format, Sniff};
use super::json::{Json, Scan, member_names};
use super::number::{parse_scaled, parse_u64};
use super::options::ReadOptions;
use super::source::Source;
use super::thresholds::LIMITS;
use super::ticks::{MICROS, Ticks};
use super::window::Window;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::{Clock, ClockKind, Data, LayerSummary, Quality, Restart, RowSink, Timing, Trace, Warning, stem};
use crate::remedy::Remedy;

/// The format.
pub struct Chrome;

/// Members of the head that are looked at.
const MEMBERS: usize = 4096;

impl Format for Chrome {
    fn name(&self) -> &'static str {
        "chrome"
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        let first = match text.first() {
            Some(b'[') => text[1..].trim_ascii_start(),
            _ => text,
        };
        let event = Event::beginning(first);
        if is_event(&event) {
            // DFTracer writes such events, too, and says less about them
            let known = !event.is_of_tau() && event.step.is_empty() && DfTracer.sniff(head) == Sniff::Yes;
            return if known { Sniff::No("events of DFTracer") } else { Sniff::Yes };
        }
        if text.first() == Some(&b'{') && top_member(text, b"traceEvents") {
            return Sniff::Yes;
        }
        // The head of the profiler of PyTorch can be longer than what is looked at.
        if top_member(text, b"schemaVersion") && top_member(text, b"deviceProperties") {
            return Sniff::Maybe;
        }
        Sniff::No("neither an array of events with ph and ts, nor an object with traceEvents")
    }

    /// Files that name the rank of their process are one job, if nothing else tells their names apart.
    fn job_of(&self, source: &Source) -> Option<String> {
        rank_of(source).map(|(_, job)| job)
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let read = |sink, plan| {
            let mut reading = Reading::new(sources, options, sink, plan);
            reading.run().map(|()| reading)
        };
        let mut reading = read(Some(sink).filter(|sink| !sink.keeps_rows()), Plan::default())?;
        if sink.keeps_rows() {
            reading.rows.give_kept(sink)?;
        } else if let Some(plan) = reading.rows.again() {
            sink.restart(Restart::Trace);
            let kept = plan.nested;
            reading = read(Some(sink).filter(|_| !kept), plan)?;
            if kept {
                reading.rows.give_kept(sink)?;
            }
        }
        reading.trace(sink)
    }
}

/// The rank of the process that a file is of, and what all files of its job share: by the name (`trace_rank3.json`), or as the
/// profiler of PyTorch says it in the head.
fn rank_of(source: &Source) -> Option<(u32, String)> {
    let name = source.file_name().to_ascii_lowercase();
    let at = memchr::memmem::find(name.as_bytes(), b"rank");
    let word = at.filter(|&at| !name[..at].ends_with(|c: char| c.is_ascii_alphabetic()));
    let digits = word.map(|at| name[at + 4..].trim_start_matches(['-', '_', '.', '=']));
    let parts = digits.map(|d| d.split_at(d.find(|c: char| !c.is_ascii_digit()).unwrap_or(d.len())));
    if let (Some(at), Some((number, after))) = (word, parts)
        && let Ok(rank) = number.parse()
    {
        // what follows can hold the time of the file, what comes before tells jobs apart
        return Some((rank, format!("{}{}", &name[..at], stem(after))));
    }
    const INFO: &[u8] = b"\"distributedInfo\"";
    let at = memchr::memmem::find(source.head(), INFO)?;
    let value = source.head()[at + INFO.len()..].trim_ascii_start().strip_prefix(b":")?;
    let (mut rank, mut size) = (None, None);
    Scan::new(value)
        .members(|scan, key| {
            let number = parse_u64(scan.value()?).and_then(|n| u32::try_from(n).ok());
            match key {
                b"rank" => rank = number,
                b"world_size" => size = number,
                _ => {}
            }
            Ok(())
        })
        .ok()?;
    Some((rank?, format!("of {} ranks", size?)))
}

/// True for an event.
fn is_event(event: &Event<'_>) -> bool {
    let phase = event.phase.len() == 1 && event.phase[0].is_ascii_alphabetic();
    phase && (!event.ts.is_empty() || event.phase == b"M" && !event.name.is_empty())
}

fn top_member(text: &[u8], name: &[u8]) -> bool {
    member_names(text, MEMBERS).iter().any(|(depth, n)| *depth == 1 && *n == name)
}

/// The first stamp in the head that is of a clock with another zero than the start of the trace.
fn origin_s(head: &[u8]) -> i64 {
    let stamps = memchr::memmem::find_iter(head, b"\"ts\"").filter_map(|at| {
        let mut after = Scan::new(head[at + 4..].trim_ascii_start().strip_prefix(b":")?);
        parse_scaled(after.value().ok()?, MICROS)
    });
    stamps.map(|ns| origin_of(ns as f64 / 1e9)).find(|origin| *origin != 0).unwrap_or(0)
}

/// A trace that is being read.
struct Reading<'s> {
    sources: &'s [Source],
    options: &'s ReadOptions,
    rows: Rows<'s>,
    origin_s: i64,
    /// Nanoseconds since 1970 that the stamps count from.
    base_ns: Option<f64>,
    damage: Option<Error>,
    /// Byte of the first event that cannot be read.
    first_bad: Option<u64>,
    /// The last event is cut.
    cut: bool,
}

/// The part after a stretch of events.
enum Next {
    Events,
    /// The end of the array.
    Closed,
}

impl<'s> Reading<'s> {
    fn new(sources: &'s [Source], options: &'s ReadOptions, sink: Option<&'s dyn RowSink>, plan: Plan) -> Self {
        let origins = sources.iter().map(|s| origin_s(s.head())).filter(|origin| *origin != 0);
        let origin_s = origins.min().unwrap_or(0);
        let rows = Rows::new(options, Ticks { unit_ns: MICROS, origin_s }, sink, plan);
        Reading { sources, options, rows, origin_s, base_ns: None, damage: None, first_bad: None, cut: false }
    }

    /// Reads all events.
    fn run(&mut self) -> Result<()> {
        for (number, source) in self.sources.iter().enumerate() {
            let rank = rank_of(source).map_or(number as u32, |(rank, _)| rank);
            self.rows.begin_file(number, (self.sources.len() > 1).then_some(rank));
            let mut json = Json::new(Window::open(source, self.options)?, self.options.limits.depth);
            let read = self.documents(&mut json);
            let damage = match (json.damage(), read) {
                (Some(why), _) => Error::malformed(Place::Byte(json.offset()), why),
                (None, Err(e)) if e.kind() == ErrorKind::Malformed => e,
                (None, read) => {
                    read?;
                    continue;
                }
            };
            let damage = if self.sources.len() > 1 { damage.in_file(source.name()) } else { damage };
            self.damage.get_or_insert(damage);
        }
        match (&self.damage, self.rows.events - self.rows.bad) {
            (Some(e), 0) => Err(e.clone().remedy("write the trace again; no event before the damage can be read")),
            (None, 0) if self.rows.bad > 0 => {
                let place = Place::Byte(self.first_bad.unwrap_or(0));
                Err(Error::malformed(place, "no event of the trace can be read").expected("objects with ph and ts"))
            }
            _ => Ok(()),
        }
    }

    /// Reads the documents of a file.
    fn documents(&mut self, json: &mut Json<'s>) -> Result<()> {
        loop {
            let read = self.outer(json);
            self.rows.end_document();
            read?;
            if json.peek()?.is_none() {
                return Ok(());
            }
        }
    }

    /// Reads what is around the events, and the events.
    fn outer(&mut self, json: &mut Json<'s>) -> Result<()> {
        match json.peek()? {
            Some(b'{') if !is_event(&Event::beginning(json.window().data())) => {}
            Some(b'[') => {
                json.window().consume(1);
                // The end of the array may be missing.
                return self.events(json.window()).map(drop);
            }
            _ => return self.events(json.window()).map(drop),
        }
        json.members(|json, name| match (name, json.peek()?) {
            (b"traceEvents", Some(b'[')) => {
                json.window().consume(1);
                if self.events(json.window())? {
                    return Ok(());
                }
                let end = Place::Byte(json.offset());
                Err(Error::malformed(end, "the input ends").expected("`]` after the events"))
            }
            (b"baseTimeNanoseconds", _) => json.number().map(|ns| self.base_ns = ns),
            _ => json.skip(),
        })
    }

    /// Reads events up to the end of their array; false if that is missing.
    fn events(&mut self, window: &mut Window<'_>) -> Result<bool> {
        loop {
            let (begin, longest) = (window.offset(), self.options.limits.line_bytes);
            let (had, ended) = (window.data().len(), window.at_end());
            let next = window.consume_some(|data, ended| self.stretch(data, ended, begin, longest))?;
            self.rows.give()?;
            match next {
                Next::Closed => return Ok(true),
                Next::Events if ended => return Ok(false),
                Next::Events => {}
            }
            debug_assert!(window.offset() > begin || window.data().len() > had || window.at_end());
        }
    }

    /// Reads the events of a text that begins at byte `begin` of the input; gives the bytes used.
    fn stretch(&mut self, data: &[u8], ended: bool, begin: u64, longest: usize) -> (usize, Next) {
        let mut at = 0;
        loop {
            match data.get(at) {
                Some(b' ' | b'\t' | b'\n' | b'\r' | b',') => at += 1,
                Some(b']') => return (at + 1, Next::Closed),
                None => return (at, Next::Events),
                Some(_) => {
                    let text = &data[at..];
                    match Event::parse(text) {
                        Ok((event, n)) => {
                            if !self.rows.add(&event) {
                                self.bad_at(begin + at as u64);
                            }
                            at += n;
                            self.cut = false;
                        }
                        Err(n) if n == text.len() && !ended && n <= longest => return (at, Next::Events),
                        Err(n) => {
                            self.rows.events += 1;
                            self.bad_at(begin + (at + n) as u64);
                            self.cut = n == text.len() && ended;
                            at += next_event(text).unwrap_or(text.len());
                        }
                    }
                }
            }
        }
    }

    fn bad_at(&mut self, place: u64) {
        self.rows.bad += 1;
        self.first_bad.get_or_insert(place);
    }

    /// The trace, with what the sink does not have.
    fn trace(self, sink: &dyn RowSink) -> Result<Trace> {
        let Reading { mut rows, origin_s, base_ns, .. } = self;
        let content = rows.content();
        let (files, calls, lost) = rows.finish();
        let ranked = rows.is_ranked();
        let mut trace = Trace {
            format: Chrome.name(),
            origin_s,
            clock: clock(origin_s, base_ns),
            ranks: rows.ranks() as u64,
            files,
            calls,
            timing: if content == Content::Times { Timing::Phase } else { Timing::Request },
            quality: Quality {
                records_read: rows.events,
                records_dropped: rows.bad + lost + rows.counters.bad,
                records_left_out: rows.failed + rows.inside,
                clamped: rows.clamped,
                ..Quality::default()
            },
            warnings: warnings(&rows, content, lost),
            ..Trace::default()
        };
        trace.call_counts = std::mem::take(&mut rows.call_counts);
        trace.warnings.extend(damage(self.damage, self.cut, self.first_bad, &rows));
        if !ranked && trace.ranks > 1 {
            let message = "the trace has no MPI ranks: processes are numbered as they come";
            trace.warnings.push(Warning::new("no-ranks", message));
        }
        if content == Content::Counters {
            let (series, step_s) = rows.counters.into_rows(Ticks { unit_ns: MICROS, origin_s });
            (trace.timing, trace.bin_s) = (Timing::Counter, step_s);
            trace.data = Data::Intervals(series);
            trace.layers = vec![trace.summarise("intervals")];
            return trace.give_rows(sink);
        }
        trace.layers = vec![rows.summary.unwrap_or_else(|| LayerSummary::of("requests", &Data::default(), origin_s))];
        Ok(trace)
    }
}

/// The start of the next event after one that cannot be read: a brace after a comma, or at the start of a line.
fn next_event(text: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'{', text).skip_while(|n| *n == 0).find(|&n| {
        let before = &text[..n];
        let blank = before.iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
        before[..n - blank].ends_with(b"\n") || before.trim_ascii_end().ends_with(b",")
    })
}

/// The clock of stamps that count from `origin_s`, or from a time that the trace gives.
fn clock(origin_s: i64, base_ns: Option<f64>) -> Clock {
    let since_1970 = u64::try_from(origin_s).is_ok_and(|s| (LIMITS.epoch_least_s..LIMITS.epoch_most_s).contains(&s));
    match base_ns.filter(|ns| ns.is_finite() && *ns > 0.0) {
        Some(ns) if !since_1970 => Clock { kind: ClockKind::Trace, zero_unix_s: Some(ns / 1e9) },
        _ => Clock::of_stamps(since_1970, false),
    }
}

/// Warnings about the choice of events.
fn warnings(rows: &Rows<'_>, content: Content, lost: u64) -> Vec<Warning> {
    let mut list = Vec::new();
    let mut add = |w: Warning| list.push(w);
    match content {
        Content::Nothing => {
            let frequent = rows.frequent_names();
            let names = if frequent.is_empty() { String::new() } else { format!(": {}", frequent.join(", ")) };
            let message = format!("no event is named read or write and says its bytes; the most frequent{names}");
            add(Warning::new("no-io-events", message).remedy(Remedy::ChooseEvents));
        }
        Content::Times => add(Warning::new(
            "sizes-unknown",
            format!(
                "{} events do not say how many bytes they moved: the signal is their number at a time, 1 MB/s for each",
                rows.timed
            ),
        )
        .remedy(Remedy::ChooseEvents)),
        Content::Transfers if rows.timed > 0 => add(Warning::new(
            "sizes-unknown",
            format!("{} events do not say how many bytes they moved and were left out", rows.timed),
        )
        .remedy(Remedy::ChooseEvents)),
        _ => {}
    }
    let left_out = match content {
        Content::Transfers => rows.counters.samples as u64,
        Content::Counters => rows.timed,
        _ => 0,
    };
    if left_out > 0 {
        let what = if content == Content::Transfers {
            "samples of counters beside the transfers"
        } else {
            "events beside the counters"
        };
        add(Warning::new("totals-left-out", format!("{left_out} {what} were left out")));
    }
    if rows.undirected > 0 {
        let message = format!("{} events do not say whether they read or write: taken as reads", rows.undirected);
        add(Warning::new("direction-unknown", message).remedy(Remedy::ChooseEvents));
    }
    if rows.inside > 0 {
        let message =
            format!("{} events are inside others of their thread, or around them: their bytes count once", rows.inside);
        add(Warning::new("nested-events", message));
    }
    if lost > 0 {
        let message = format!("{lost} begins or ends of events have no partner and were left out");
        add(Warning::new("unmatched-events", message));
    }
    list
}

/// Damage, and events that cannot be read.
fn damage(damage: Option<Error>, cut: bool, first_bad: Option<u64>, rows: &Rows<'_>) -> Option<Warning> {
    match (damage, first_bad) {
        (Some(e), _) => Some(Warning::new("damaged-tail", format!("{e}; the records before it were kept"))),
        (None, Some(at)) if cut && rows.bad == 1 => Some(Warning::new(
            "damaged-tail",
            format!("the last event is cut at byte {at}; the records before it were kept"),
        )),
        (None, Some(at)) => {
            let counts = format!("{} of {} events cannot be read", rows.bad, rows.events);
            Some(Warning::new("unreadable-records", format!("{counts} and were left out, the first at byte {at}")))
        }
        (None, None) => None,
    }
}
