//! Events of a stretch of lines: calls as rows, totals of intervals, and the texts behind hashes.

use std::collections::{HashMap, VecDeque};

use foldhash::fast::FixedState;

use super::line::{self, Args, Line};
use crate::formats::lines::{Bad, LineDecoder, Stretch, Taken, Transfers, transfers_of};
use crate::formats::number::{parse_f64, parse_u64};
use crate::formats::op_name::op_of;
use crate::formats::ticks::{MICROS, Ticks};
use crate::record::{
    CallId, Calls, Clock, FileId, Files, Interval, Layer, Op, Request, Requests, UNKNOWN_OFFSET, is_system_path,
};

/// Before a hash whose text is not known yet.
pub(super) const HASH: &str = "fhash:";

/// Totals of the calls of an interval, or of a device since the sample before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Total {
    pub op: Op,
    pub bytes: f64,
    /// Nanoseconds since 1970: the start of the interval, or the time of the sample.
    pub at_ns: i64,
    /// Process or device, as numbered in [`Part::processes`].
    pub rank: u32,
    /// A sample of a device rather than an interval of calls.
    pub device: bool,
}

/// Rows and names of a stretch of lines.
#[derive(Default)]
pub(super) struct Part {
    pub requests: Requests,
    pub files: Files,
    pub calls: Calls,
    pub totals: Vec<Total>,
    /// Host and pid of each process, in the order of its number.
    pub processes: Vec<(String, u64)>,
    process_index: HashMap<(String, u64), u32>,
    /// Texts by hash: of files, and of hosts.
    pub file_texts: HashMap<Box<[u8]>, Box<str>>,
    pub host_texts: HashMap<Box<[u8]>, Box<str>>,
    /// Host, pid and rank of each process of which the trace says it; lines of metadata can lack the host.
    pub ranks: Vec<(String, u64, u32)>,
    /// Calls by name; every call with its count.
    names: Vec<(Box<[u8]>, CallKind, CallId, u64)>,
    /// Their places.
    places: HashMap<Box<[u8]>, usize, FixedState>,
    /// Interval of aggregated records in milliseconds.
    pub interval_ms: Option<u64>,
    /// Nanoseconds of a tick, once a line says so.
    pub unit_ns: Option<u64>,
    pub failed: u64,
    /// Transfers of other layers than the chosen one.
    pub other_layer: u64,
    /// Transfers without a number of bytes.
    pub unsized_calls: u64,
    recent: (Vec<u8>, FileId, Vec<u8>, u64, u32),
}

/// Reads lines as events.
pub(super) struct Events {
    /// `None`: as the lines before say.
    pub ticks: Option<Ticks>,
    pub layer: Option<Layer>,
    /// Calls that move no bytes are kept, too.
    pub all: bool,
}

impl LineDecoder for Events {
    type Rows = Part;

    #[inline]
    fn line(&self, line: &[u8], _: u64, part: &mut Part) -> Result<Taken, Bad> {
        const EXPECTED: &str = "an event, a JSON object with name, cat, pid, ph and ts";
        let event =
            line::parse(line).map_err(|at| Bad { found: format!("no JSON at byte {at} of it"), expected: EXPECTED })?;
        let ticks = self.ticks.unwrap_or(Ticks { unit_ns: part.unit_ns.unwrap_or(MICROS), origin_s: 0 });
        match part.add(&event, ticks, self.layer, self.all) {
            true => Ok(Taken::Record),
            false => Err(Bad::new("the numbers of", line, EXPECTED)),
        }
    }

    #[inline]
    fn is_remark(&self, line: &[u8]) -> bool {
        is_frame(line)
    }
}

impl Transfers for Events {
    fn take(&mut self, part: &mut Part, transfers: &mut VecDeque<Interval>) -> Result<(), String> {
        // totals have no end yet, and are not followed
        part.totals.clear();
        transfers.extend(transfers_of(part.requests.iter(), |file| part.is_system(file)));
        part.requests.clear();
        Ok(())
    }

    fn clock(&self, _: &Part) -> Clock {
        Clock::of_stamps(true, false)
    }
}

/// Operation and layer by the name of a call.
#[derive(Debug, Clone, Copy)]
struct CallKind {
    op: Op,
    layer: Option<Layer>,
    /// `fread`, `fwrite`: the result counts elements.
    elements: bool,
}

fn kind_of(category: &[u8], name: &[u8]) -> Option<CallKind> {
    let layer = match category {
        b"POSIX" => Layer::Posix,
        b"STDIO" => Layer::Stdio,
        b"MPIIO" | b"MPI-IO" => Layer::Mpiio,
        _ => return None,
    };
    let elements = layer == Layer::Stdio && matches!(name, b"fread" | b"fwrite");
    // C functions have lower-case names; an application can give any name to its own events.
    let foreign = layer != Layer::Mpiio && name.iter().any(u8::is_ascii_uppercase);
    let op = if foreign { Op::Other } else { op_of(name) };
    Some(CallKind { op, layer: Some(layer), elements })
}

impl Part {
    /// How often each call occurs.
    pub(super) fn call_counts(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.names.iter().map(|n| (&*n.0, n.3))
    }

    /// The text of a hash that stands for a file, if a line of this stretch explains it.
    pub(super) fn text_of(&self, hash: &str) -> Option<&str> {
        self.file_texts.get(hash.as_bytes()).map(|text| &**text)
    }

    fn is_system(&self, file: FileId) -> bool {
        let name = self.files.name(file);
        let text = name.strip_prefix(HASH).and_then(|hash| self.text_of(hash));
        is_system_path(text.unwrap_or(name))
    }

    /// Adds a line; `all`: calls that move no bytes are kept, too.
    pub(super) fn add(&mut self, line: &Line<'_>, ticks: Ticks, layer: Option<Layer>, all: bool) -> bool {
        match line.phase {
            b"M" | b"4" => self.learn(line),
            b"X" | b"1" | b"" => return self.event(line, ticks, layer, all),
            b"C" | b"2" | b"3" => return self.total(line, ticks),
            _ => {}
        }
        true
    }

    /// A line of metadata.
    fn learn(&mut self, line: &Line<'_>) {
        let Args { name, value, .. } = line.args;
        let text = || String::from_utf8_lossy(name).into_owned().into_boxed_str();
        match line.name {
            // Short hashes collide: the first text stays, whatever comes later.
            b"FH" => {
                self.file_texts.entry(value.into()).or_insert_with(text);
            }
            b"HH" => {
                self.host_texts.entry(value.into()).or_insert_with(text);
            }
            b"CM" if name == b"time_metric" => self.unit_ns = Some(unit_named(value)),
            b"PR" if name == b"rank" => self.rank_is(line, value),
            b"process_name" => {
                if let Some(rank) = name.strip_prefix(b"Rank ").or_else(|| value.strip_prefix(b"Rank ")) {
                    self.rank_is(line, rank);
                }
            }
            _ => {}
        }
    }

    fn rank_is(&mut self, line: &Line<'_>, rank: &[u8]) {
        if let Some(rank) = parse_u64(rank).and_then(|r| u32::try_from(r).ok()) {
            let host = String::from_utf8_lossy(line.args.host).into_owned();
            self.ranks.push((host, parse_u64(line.pid).unwrap_or(0), rank));
        }
    }

    /// The number of the process of a line.
    fn process(&mut self, line: &Line<'_>) -> u32 {
        let (host, pid) = (line.args.host, parse_u64(line.pid).unwrap_or(0));
        let (_, _, last_host, last_pid, last) = &self.recent;
        if *last_pid == pid && last_host == host && !self.processes.is_empty() {
            return *last;
        }
        let key = (String::from_utf8_lossy(host).into_owned(), pid);
        let processes = &mut self.processes;
        let number = *self.process_index.entry(key).or_insert_with_key(|key| {
            processes.push(key.clone());
            processes.len() as u32 - 1
        });
        (self.recent.2, self.recent.3, self.recent.4) = (host.to_vec(), pid, number);
        number
    }

    fn file(&mut self, args: &Args<'_>) -> FileId {
        let (hashed, text) = if args.file_hash.is_empty() { (false, args.file_name) } else { (true, args.file_hash) };
        if text.is_empty() {
            return FileId::NONE;
        }
        if self.recent.0 != text {
            let name = String::from_utf8_lossy(text);
            self.recent.1 = if hashed { self.files.intern(&format!("{HASH}{name}")) } else { self.files.intern(&name) };
            self.recent.0.clear();
            self.recent.0.extend_from_slice(text);
        }
        self.recent.1
    }

    /// The place of a call in `names`; `None` if the line is no call.
    fn name(&mut self, line: &Line<'_>) -> Option<usize> {
        let known = self.places.get(line.name).copied();
        known.or_else(|| kind_of(line.category, line.name).map(|kind| self.add_name(line.name, kind)))
    }

    fn add_name(&mut self, name: &[u8], kind: CallKind) -> usize {
        let (call, place) = (self.calls.intern(&String::from_utf8_lossy(name)), self.names.len());
        self.names.push((name.into(), kind, call, 0));
        self.places.insert(name.into(), place);
        place
    }

    /// A call; false if its numbers cannot be read.
    fn event(&mut self, line: &Line<'_>, ticks: Ticks, layer: Option<Layer>, all: bool) -> bool {
        if line.category == b"dftracer" && line.name == b"end" {
            self.interval_ms = self.interval_ms.or_else(|| number_after(line.args.settings, b"\"trace_interval_ms\":"));
        }
        if !matches!(line.category, b"POSIX" | b"STDIO" | b"MPIIO" | b"MPI-IO") {
            return true;
        }
        let Some(place) = self.name(line) else { return true };
        let (_, kind, call, count) = &mut self.names[place];
        let (kind, call) = (*kind, *call);
        let (Some(start), Some(length)) = (ticks.ns(line.ts), ticks.ns(or_zero(line.dur))) else { return false };
        *count += 1;
        let rank = self.process(line);
        let moves = kind.op.moves_bytes();
        let taken = layer.map_or(kind.layer != Some(Layer::Mpiio), |l| kind.layer == Some(l));
        if !taken {
            self.other_layer += u64::from(moves);
            return true;
        }
        let failed = line.args.ret.starts_with(b"-");
        self.failed += u64::from(failed && moves);
        if !all && (failed || !moves) {
            return true;
        }
        // A transfer that failed moves nothing: it is a call like any other.
        let moves = moves && !failed;
        let op = if failed && kind.op.moves_bytes() { Op::Other } else { kind.op };
        let size = if moves { bytes(kind, &line.args) } else { Some(0) };
        self.unsized_calls += u64::from(size.is_none());
        let positioned = line.name.starts_with(b"p") || kind.layer == Some(Layer::Mpiio);
        let offset = parse_u64(line.args.offset).filter(|_| moves && positioned).unwrap_or(UNKNOWN_OFFSET);
        let file = self.file(&line.args);
        let task = parse_u64(line.tid).map_or(0, |t| t as u32);
        let (start, end) = (ticks.seconds(start), ticks.seconds(start.saturating_add(length)));
        self.requests.push(Request { op, call, rank, task, file, offset, size: size.unwrap_or(0), start, end });
        true
    }

    /// An aggregated record, or a sample of a device.
    fn total(&mut self, line: &Line<'_>, ticks: Ticks) -> bool {
        let Some(at_ns) = ticks.ns(line.ts) else { return false };
        if let Some(kind) = kind_of(line.category, line.name).filter(|k| k.op.moves_bytes()) {
            if parse_u64(line.args.calls).is_some() {
                let (bytes, rank) = (bytes(kind, &line.args).unwrap_or(0) as f64, self.process(line));
                self.totals.push(Total { op: kind.op, bytes, at_ns, rank, device: false });
            }
        } else if line.category == b"io" {
            let rank = self.process(&Line { pid: b"0", args: Args { host: line.name, ..line.args }, ..*line });
            for (op, bytes) in [(Op::Read, line.args.bytes_read), (Op::Write, line.args.bytes_written)] {
                if let Some(bytes) = parse_f64(bytes).filter(|b| *b >= 0.0) {
                    self.totals.push(Total { op, bytes, at_ns, rank, device: true });
                }
            }
        }
        true
    }
}

impl Stretch for Part {
    fn append(&mut self, mut other: Part) {
        let files: Vec<FileId> = other.files.iter().map(|(_, name)| self.files.intern(name)).collect();
        let mut calls = vec![CallId::NONE; other.calls.len()];
        for (name, kind, call, count) in &other.names {
            let known = self.places.get(name).copied();
            let place = known.unwrap_or_else(|| self.add_name(name, *kind));
            self.names[place].3 += count;
            if let Some(c) = calls.get_mut(usize::from(call.0)) {
                *c = self.names[place].2;
            }
        }
        other.requests.renumber(&files, &calls);
        let processes = &mut self.processes;
        let index = &mut self.process_index;
        let mut number = |key: (String, u64)| {
            *index.entry(key).or_insert_with_key(|key| {
                processes.push(key.clone());
                processes.len() as u32 - 1
            })
        };
        let numbers: Vec<u32> = other.processes.into_iter().map(&mut number).collect();
        let renumbered = |p: u32| numbers.get(p as usize).copied().unwrap_or(p);
        other.requests.rank.map_in_place(renumbered);
        self.requests.append(other.requests);
        self.totals.extend(other.totals.into_iter().map(|t| Total { rank: renumbered(t.rank), ..t }));
        self.ranks.extend(other.ranks);
        let first = |mine: &mut HashMap<_, _>, theirs: HashMap<_, _>| {
            for (hash, text) in theirs {
                mine.entry(hash).or_insert(text);
            }
        };
        first(&mut self.file_texts, other.file_texts);
        first(&mut self.host_texts, other.host_texts);
        self.interval_ms = self.interval_ms.or(other.interval_ms);
        self.unit_ns = other.unit_ns.or(self.unit_ns);
        self.failed += other.failed;
        self.other_layer += other.other_layer;
        self.unsized_calls += other.unsized_calls;
    }
}

/// Bytes that a call moved; `None` if the line does not say.
fn bytes(kind: CallKind, args: &Args<'_>) -> Option<u64> {
    let amount = parse_u64(args.ret).or_else(|| parse_u64(args.count))?;
    if !kind.elements {
        return Some(amount);
    }
    parse_u64(args.size).and_then(|size| amount.checked_mul(size))
}

fn or_zero(text: &[u8]) -> &[u8] {
    if text.is_empty() { b"0" } else { text }
}

/// The brackets around a file, and blank lines.
pub(super) fn is_frame(line: &[u8]) -> bool {
    matches!(line.first(), None | Some(b'[' | b']' | b',' | b' ' | b'\t' | b'\r'))
        && matches!(line.trim_ascii(), b"" | b"[" | b"]" | b",")
}

/// Nanoseconds of a tick, by the name of the unit.
fn unit_named(name: &[u8]) -> u64 {
    match name {
        b"NS" => 1,
        b"MS" => 1_000_000,
        b"SEC" => 1_000_000_000,
        _ => MICROS,
    }
}

/// The whole number after `key`.
pub(super) fn number_after(text: &[u8], key: &[u8]) -> Option<u64> {
    let at = memchr::memmem::find(text, key)? + key.len();
    let rest = text[at..].trim_ascii_start();
    let digits = rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
    parse_u64(&rest[..digits])
}
