//! The text that darshan-parser and darshan-dxt-parser print, put together again as the log that it was printed from.

use std::collections::BTreeMap;

use super::columns::LibraryLayout;
use super::counters::{self, CounterRecord, MISSING, Schema};
use super::header::{self, Header, Module, RegionCompression, Slot};
use super::job::JobRecord;
use super::layer_summary::LAYERS;
use super::log::Log;
use super::names::Names;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::formats::bytes::ByteOrder;
use crate::formats::lines::{Bad, LineDecoder, LineReader, Taken, Tally, lines};
use crate::formats::options::ReadOptions;
use crate::formats::source::Source;
use crate::record::{Layer, Warning};
use crate::remedy::Remedy;

const VERSION: &str = "# darshan log version: ";
/// Counters of a record: those of a heat map have one for each bin.
const MOST_COUNTERS: usize = 1 << 20;
/// Mounts, pairs of metadata, and modules that are not read.
const MOST_FACTS: usize = 4096;
/// Lines of a head among which the version is; warnings may come before it.
const HEAD_LINES: usize = 50;

/// True for the text of a log.
pub(super) fn is_text(head: &[u8]) -> bool {
    lines(head).take(HEAD_LINES).any(|line| line.starts_with(VERSION.as_bytes()))
}

/// The log that a text was printed from, with times and real counters rounded as they were printed.
pub(super) fn log_of(source: &Source, options: &ReadOptions) -> Result<Log> {
    let mut text = Text::default();
    let mut lines = LineReader::open(source, options)?;
    while lines.next(&ParserLines, &mut text)? {
        if text.bytes() as u64 > options.limits.memory_bytes {
            let most = format!("{} bytes", options.limits.memory_bytes);
            return Err(Error::limit("the log of this text has to fit in memory and is larger", most)
                .remedy(Remedy::AllowMemory));
        }
    }
    text.finish(&lines.finish(), options)
}

struct ParserLines;

impl LineDecoder for ParserLines {
    type Rows = Text;

    fn line(&self, line: &[u8], _: u64, text: &mut Text) -> std::result::Result<Taken, Bad> {
        let text_of_line = String::from_utf8_lossy(line);
        let read = match text_of_line.strip_prefix('#') {
            Some(remark) => {
                text.remark(&text_of_line, remark.trim_start());
                return Ok(Taken::Nothing);
            }
            None if text_of_line.starts_with("total_") => {
                text.totals = true;
                return Ok(Taken::Nothing);
            }
            None if text_of_line.trim_start().starts_with("X_") => text.segment(&text_of_line),
            None => text.counter(&text_of_line),
        };
        let expected = "a counter of darshan-parser, or a segment of darshan-dxt-parser";
        read.map(|()| Taken::Record).ok_or_else(|| Bad::new("the line", line, expected))
    }

    fn is_remark(&self, line: &[u8]) -> bool {
        line.trim_ascii().is_empty()
    }
}

/// The record whose lines are read.
#[derive(Default)]
struct Record {
    key: Option<(Module, i64, u64)>,
    counters: Counters,
    /// Lines so far.
    lines: usize,
}

/// Values of a record by the names of their counters.
#[derive(Default)]
struct Counters {
    ints: BTreeMap<String, i64>,
    reals: BTreeMap<String, f64>,
}

impl Counters {
    fn int(&self, name: &str) -> i64 {
        self.ints.get(name).copied().unwrap_or(MISSING)
    }

    fn real(&self, name: &str) -> f64 {
        self.reals.get(name).copied().unwrap_or(MISSING as f64)
    }
}

/// Segments of one file and process.
#[derive(Default)]
struct Segments {
    id: u64,
    rank: i64,
    host: String,
    /// Writes, then reads: how many there should be, and what there is.
    stated: [u64; 2],
    data: [Vec<u8>; 2],
    module: Option<Module>,
}

/// The content of a text.
#[derive(Default)]
struct Text {
    version: Option<String>,
    job: JobRecord,
    run_time_s: Option<f64>,
    names: Names,
    versions: BTreeMap<Module, u32>,
    partial: Vec<Module>,
    /// Modules of which a record lacks its times.
    untimed: Vec<Layer>,
    record: Record,
    /// Most lines that a record of a module has.
    longest: BTreeMap<Module, usize>,
    segments: Option<Segments>,
    /// The module whose data comes.
    section: Option<Module>,
    /// The module whose header was read last has offsets in its segments.
    offsets: bool,
    data: BTreeMap<Module, Vec<u8>>,
    /// Lines of modules that are not read.
    others: BTreeMap<String, u64>,
    totals: bool,
    missing: u64,
    warnings: Vec<Warning>,
}

impl Text {
    fn bytes(&self) -> usize {
        let waiting = self.segments.iter().flat_map(|s| &s.data);
        self.data.values().chain(waiting).map(Vec::len).sum::<usize>() + self.names.text_bytes()
    }

    /// A line that begins with `#`: facts of the job, or the head of segments.
    fn remark(&mut self, line: &str, text: &str) {
        let incomplete = || text.strip_prefix("*WARNING*: The ")?.split_once(" module contains incomplete");
        if let Some(version) = line.strip_prefix(VERSION) {
            self.version = Some(version.trim().to_owned());
        } else if let Some(facts) = text.strip_prefix("DXT, ") {
            self.head_of_segments(facts);
        } else if let Some(module) = text.strip_suffix(" module data") {
            self.section = Module::named(module);
        } else if text.starts_with("Module ") {
            self.offsets = text.contains("Offset");
        } else if let Some(mount) = text.strip_prefix("mount entry:\t") {
            let mount = mount.split_once('\t').map(|(path, kind)| (kind.to_owned(), path.to_owned()));
            self.job.mounts.extend(mount.filter(|_| self.job.mounts.len() < MOST_FACTS));
        } else if let Some((module, _)) = incomplete() {
            self.partial.extend(Module::named(module).filter(|m| !self.partial.contains(m)));
        } else if let Some((key, value)) = text.split_once(": ") {
            self.fact(key, value);
        }
    }

    /// A fact of the job or of a module.
    fn fact(&mut self, key: &str, value: &str) {
        let (value, job) = (value.trim_end(), &mut self.job);
        let number = || value.parse::<i64>().unwrap_or(0);
        match key {
            "exe" => job.executable = value.to_owned(),
            "uid" => job.uid = number(),
            "jobid" => job.id = number(),
            "start_time" => job.start.0 = number(),
            "end_time" => job.end.0 = number(),
            "nprocs" => job.processes = number(),
            "run time" => self.run_time_s = value.parse().ok().filter(|t: &f64| t.is_finite() && *t > 0.0),
            "metadata" if job.metadata.len() < MOST_FACTS => {
                job.metadata.extend(value.split_once(" = ").map(|(k, v)| (k.to_owned(), v.to_owned())));
            }
            _ => {
                let module = key.strip_suffix(" module").and_then(Module::named);
                let version = value.rsplit_once("ver=").and_then(|(_, v)| v.parse().ok());
                self.versions.extend(module.zip(version));
            }
        }
    }

    /// `POSIX  RANK  ID  COUNTER  VALUE  FILE  MOUNT  TYPE`, between tabs.
    fn counter(&mut self, line: &str) -> Option<()> {
        let mut columns = line.splitn(6, '\t');
        let (module, rank, id) = (columns.next()?, columns.next()?.parse().ok()?, columns.next()?.parse().ok()?);
        let (name, value) = (columns.next()?, columns.next()?);
        // a path may hold tabs
        let file = columns.next()?.rsplitn(3, '\t').last()?;
        let known = Module::named(module).filter(|m| is_read(*m));
        let Some(module) = known else {
            if self.others.len() < MOST_FACTS || self.others.contains_key(module) {
                *self.others.entry(module.to_owned()).or_default() += 1;
            }
            return Some(());
        };
        let again = self.record.counters.ints.contains_key(name) || self.record.counters.reals.contains_key(name);
        if self.record.key != Some((module, rank, id)) || again || self.record.lines >= MOST_COUNTERS {
            self.end_record();
            self.record.key = Some((module, rank, id));
            self.names.add(id, file, false);
        }
        let counters = &mut self.record.counters;
        match value.parse() {
            Ok(n) if !name.contains("_F_") => _ = counters.ints.insert(name.to_owned(), n),
            _ => _ = counters.reals.insert(name.to_owned(), value.parse().ok()?),
        }
        self.record.lines += 1;
        Some(())
    }

    fn version_of(&self, module: Module) -> u32 {
        self.versions.get(&module).copied().unwrap_or(u32::MAX).clamp(1, module.newest_version())
    }

    /// Writes the record that was read.
    fn end_record(&mut self) {
        let Record { key, counters, lines } = std::mem::take(&mut self.record);
        let Some((module, rank, id)) = key else { return };
        let version = self.version_of(module);
        let longest = self.longest.entry(module).or_default();
        *longest = lines.max(*longest);
        let out = self.data.entry(module).or_default();
        if let Some(&layer) = LAYERS.iter().find(|l| Schema::of(**l).module() == module) {
            let schema = Schema::of(layer);
            let untimed = schema
                .floats
                .iter()
                .any(|n| n.ends_with("_TIME") && !n.contains("RANK") && !counters.reals.contains_key(*n));
            if untimed && !self.untimed.contains(&layer) {
                self.untimed.push(layer);
            }
            let ints = schema.ints.iter().map(|name| counters.int(name)).collect();
            let floats = schema.floats.iter().map(|name| counters.real(name)).collect();
            counters::write(schema, version, &CounterRecord { id, rank, ints, floats }, out);
            return;
        }
        let (head, more) = (out.len(), |out: &mut Vec<u8>, n: i64| out.extend_from_slice(&n.to_le_bytes()));
        more(out, id.cast_signed());
        more(out, rank);
        match (module, LibraryLayout::of_module(module, version)) {
            (Module::Heatmap, _) if counters.real("HEATMAP_F_BIN_WIDTH_SECONDS") <= 0.0 => out.truncate(head),
            (Module::Heatmap, _) => {
                out.extend_from_slice(&counters.real("HEATMAP_F_BIN_WIDTH_SECONDS").to_le_bytes());
                let bins = (0..).take_while(|i| counters.ints.contains_key(&format!("HEATMAP_WRITE_BIN_{i}"))).count();
                [bins as i64, 0, 0].into_iter().for_each(|n| more(out, n));
                for direction in ["WRITE", "READ"] {
                    (0..bins).for_each(|i| more(out, counters.int(&format!("HEATMAP_{direction}_BIN_{i}")).max(0)));
                }
            }
            (Module::Lustre, _) => {
                ["OSTS", "MDTS", "STRIPE_OFFSET", "STRIPE_SIZE"]
                    .iter()
                    .for_each(|n| more(out, counters.int(&format!("LUSTRE_{n}"))));
                let targets: Vec<i64> =
                    (0..).map_while(|i| counters.ints.get(&format!("LUSTRE_OST_ID_{i}")).copied()).collect();
                more(out, targets.len() as i64);
                targets.into_iter().for_each(|n| more(out, n));
            }
            (_, Some(layout)) => {
                out.resize(head + layout.around().0, 0);
                layout.ints.iter().for_each(|name| more(out, counters.int(name)));
                layout.reals.iter().for_each(|name| out.extend_from_slice(&counters.real(name).to_le_bytes()));
                out.resize(head + layout.record_bytes(), 0);
            }
            (_, None) => out.truncate(head),
        }
    }

    /// `file_id: 77, file_name: /x`, `rank: 0, hostname: n1`, `write_count: 3, read_count: 0` and others.
    fn head_of_segments(&mut self, facts: &str) {
        if let Some((id, name)) = facts.strip_prefix("file_id: ").and_then(|f| f.split_once(", file_name: ")) {
            self.end_segments();
            let id = id.parse().unwrap_or(0);
            self.names.add(id, name, false);
            self.segments = Some(Segments { id, ..Segments::default() });
        }
        let Some(s) = &mut self.segments else { return };
        if let Some((rank, host)) = facts.strip_prefix("rank: ").and_then(|f| f.split_once(", hostname: ")) {
            (s.rank, s.host) = (rank.parse().unwrap_or(0), host.to_owned());
        }
        if let Some((writes, reads)) = facts.strip_prefix("write_count: ").and_then(|f| f.split_once(", read_count: "))
        {
            s.stated = [writes, reads].map(|n| n.trim().parse().unwrap_or(0));
        }
    }

    /// `X_POSIX  RANK  write  NUMBER  [OFFSET]  LENGTH  START  END`.
    fn segment(&mut self, line: &str) -> Option<()> {
        let mut words = line.split_ascii_whitespace();
        let module = match words.next()? {
            "X_POSIX" => Module::DxtPosix,
            "X_MPIIO" => Module::DxtMpiio,
            _ => return None,
        };
        let (_, direction, _) = (words.next()?, words.next()?, words.next()?);
        let place = match direction {
            "write" => 0,
            "read" => 1,
            _ => return None,
        };
        let offset = if self.offsets { words.next()?.parse().unwrap_or(-1) } else { -1_i64 };
        let length: i64 = words.next()?.parse().ok()?;
        let (start, end): (f64, f64) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let s = self.segments.as_mut()?;
        s.module = Some(module);
        let out = &mut s.data[place];
        [offset, length].iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
        [start, end].iter().for_each(|t| out.extend_from_slice(&t.to_le_bytes()));
        Some(())
    }

    /// Writes the segments of the file and process that were read.
    fn end_segments(&mut self) {
        let Some(s) = self.segments.take() else { return };
        let there = s.data.each_ref().map(|d| (d.len() / 32) as u64);
        self.missing += s.stated.iter().zip(there).map(|(stated, there)| stated.saturating_sub(there)).sum::<u64>();
        let section = self.section.filter(|m| matches!(m, Module::DxtPosix | Module::DxtMpiio));
        let Some(module) = s.module.or(section) else { return };
        let out = self.data.entry(module).or_default();
        out.extend_from_slice(&s.id.to_le_bytes());
        out.extend_from_slice(&s.rank.to_le_bytes());
        out.extend_from_slice(&[0; 8]);
        let mut host = [0; 64];
        let name = &s.host.as_bytes()[..s.host.len().min(63)];
        host[..name.len()].copy_from_slice(name);
        out.extend_from_slice(&host);
        there.iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
        s.data.iter().for_each(|d| out.extend_from_slice(d));
    }

    fn finish(mut self, tally: &Tally, options: &ReadOptions) -> Result<Log> {
        let cut = self.record.key.filter(|key| self.longest.get(&key.0).is_some_and(|most| *most > self.record.lines));
        self.end_record();
        self.end_segments();
        let Some(version) = self.version.take() else {
            return Err(Error::malformed(Place::Line(1), "no version of the log"));
        };
        let version_number = header::number_of_text(&version)?;
        if self.data.is_empty() && self.totals {
            return Err(Error::new(ErrorKind::Empty, "the text holds totals of the whole job only")
                .remedy("give the log itself, or print it with darshan-parser without --total"));
        }
        self.warn(tally, cut.is_some());
        self.set_end(version_number >= 341);
        let (mut file, mut slots) = (Vec::new(), Vec::new());
        for (&module, data) in &self.data {
            let version = match module {
                Module::DxtPosix | Module::Lustre | Module::Heatmap => 1,
                Module::DxtMpiio => 2,
                module => self.version_of(module),
            };
            let (offset, length, partial) = (file.len() as u64, data.len() as u64, self.partial.contains(&module));
            slots.push(Slot { module, file_index: module.number(), version, offset, length, partial });
            file.extend_from_slice(data);
        }
        let header = Header {
            version,
            version_number,
            order: ByteOrder::Little,
            compression: RegionCompression::None,
            length: 0,
            partial_bits: 0,
            job: (0, 0),
            names: (0, 0),
            slots,
            cut: Vec::new(),
            whole_bytes: file.len() as u64,
        };
        Ok(Log::of_parts(file, header, self.job, self.names, &options.limits).of_text(self.warnings, self.untimed))
    }

    fn warn(&mut self, tally: &Tally, cut: bool) {
        self.warnings = tally.warnings("counters or segments", None);
        let mut warn = |code: &str, message: String| self.warnings.push(Warning::new(code, message));
        if self.missing > 0 {
            warn("missing-segments", format!("{} segments that the text announces are not in it", self.missing));
        }
        if cut && !tally.the_end_is_cut() {
            warn("damaged-tail", format!("the text ends within a record, in line {}", tally.lines));
        }
        for (module, n) in &self.others {
            warn("unknown-module", format!("{n} lines of {module} are not read and were left out"));
        }
    }

    /// Formats before 3.41 know whole seconds, and their run time is one more than its end says.
    fn set_end(&mut self, fine: bool) {
        self.job.fine = fine;
        let Some(run) = self.run_time_s else { return };
        match (fine, self.job.end.0) {
            (true, _) => {
                self.job.end = (self.job.start.0.saturating_add(run as i64), (run.fract() * 1e9).round() as i64);
            }
            (false, 0) => self.job.end.0 = self.job.start.0.saturating_add(run as i64 - 1),
            (false, _) => {}
        }
    }
}

/// True for modules whose records are put together again.
fn is_read(module: Module) -> bool {
    let is_layer = LAYERS.iter().any(|l| Schema::of(*l).module() == module);
    is_layer
        || matches!(module, Module::Heatmap | Module::Lustre)
        || LibraryLayout::of_module(module, module.newest_version()).is_some()
}
