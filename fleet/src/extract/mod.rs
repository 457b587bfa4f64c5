//! One log to its rows.

mod apps;
mod counters;
mod minutes;
mod names;
mod patterns;
mod periods;

pub use apps::Apps;
pub use names::Hide;

use std::fs::{self, File};
use std::io::{self, Read};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::list::LogRef;
use crate::tables::{Common, FindingRow, LogRow, LogRows, Status, Time};
use iophase::analysis::{self, Analysis};
use iophase::findings::{self, Finding, Findings};
use iophase::formats::{self, Detail, Limits, ReadOptions, Source};
use iophase::record::{Job, Layer, Timing, Trace};
use iophase::{Error, ErrorKind, Place, Result};

/// How much is done with a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// Header, counters, and the findings that they give
    Counters,
    /// Also heat map or segments: period, bursts, prediction
    #[default]
    Period,
    /// Also access patterns and classes, and the findings of single requests
    Full,
}

/// Settings that decide the rows of a log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How much is done.
    pub depth: Depth,
    /// One row for each file instead of each family.
    pub each_file: bool,
    /// Whole command lines.
    pub commands: bool,
    /// Rules for names and versions of applications, in TOML.
    pub apps: Option<String>,
    /// Key by which users and names are replaced by codes.
    pub hide: Option<Vec<u8>>,
}

/// Bounds of one log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Seconds that it may take.
    pub time_s: f64,
    /// Bytes of memory that it may need.
    pub memory: u64,
    /// Bytes of the largest file that is read.
    pub max_size: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { time_s: 60.0, memory: 1 << 30, max_size: 2 << 30 }
    }
}

/// Turns logs into rows.
pub struct Extractor {
    settings: Settings,
    bounds: Bounds,
    apps: Apps,
    hide: Option<Hide>,
}

/// Why a log has no rows but its own.
struct Bad {
    status: Status,
    reason: String,
    place: Option<Place>,
}

impl Extractor {
    /// With these settings.
    ///
    /// # Errors
    /// Of the rules for applications.
    pub fn new(settings: Settings, bounds: Bounds) -> Result<Extractor> {
        let apps = Apps::new(settings.apps.as_deref().unwrap_or_default())?;
        let hide = settings.hide.as_deref().map(Hide::new);
        Ok(Extractor { settings, bounds, apps, hide })
    }

    /// The content of a log, if it is a file that is not too large.
    ///
    /// # Errors
    /// Those of reading; [`io::ErrorKind::Unsupported`] and [`io::ErrorKind::FileTooLarge`] for what is not read.
    pub fn fetch(log: &LogRef, max_size: u64) -> io::Result<Vec<u8>> {
        let too_large = |size: u64| {
            let text = format!("{size} bytes or more; expected at most {max_size} bytes (--max-size)");
            io::Error::new(io::ErrorKind::FileTooLarge, text)
        };
        #[cfg(feature = "s3")]
        if crate::remote::is_url(&log.path) {
            return crate::remote::fetch(&log.path.to_string_lossy(), max_size, too_large);
        }
        let meta = fs::metadata(&log.path)?;
        if !meta.is_file() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "neither a regular file nor a folder"));
        }
        if meta.len() > max_size {
            return Err(too_large(meta.len()));
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(meta.len()).unwrap_or(0)).map_err(|_| io::ErrorKind::OutOfMemory)?;
        File::open(&log.path)?.take(max_size.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_size { Err(too_large(bytes.len() as u64)) } else { Ok(bytes) }
    }

    /// The rows of a log with this content. Whatever the log, there is a row for it.
    pub fn rows(&self, log: &LogRef, content: io::Result<Vec<u8>>) -> LogRows {
        let begin = Instant::now();
        let deadline = begin + Duration::from_secs_f64(self.bounds.time_s.clamp(0.0, 1e9));
        let limits = Limits::default().memory_bytes(self.bounds.memory).deadline(Some(deadline));
        let name = log.path.display().to_string();
        let source = content.map(|bytes| Source::from_bytes(&name, bytes));
        let made = match &source {
            // what a log of strangers makes the code do must not end those of the others
            Ok(source) => panic::catch_unwind(AssertUnwindSafe(|| self.of_source(source, &limits)))
                .unwrap_or_else(|what| Err(Bad::of_panic(&*what))),
            Err(e) => Err(Bad::of_io(e)),
        };
        let mut rows = made.unwrap_or_else(|mut bad| {
            if bad.status != Status::Crashed && Instant::now() >= deadline {
                bad.status = Status::Timeout;
            }
            self.bad_rows(source.as_ref().ok(), bad)
        });
        self.complete(&mut rows, log);
        rows.log.analysed_s = Some(begin.elapsed().as_secs_f64());
        rows
    }

    /// The row of a log that was given up, without reading it.
    pub fn given_up(&self, log: &LogRef, status: Status, reason: String) -> LogRows {
        let mut rows = self.bad_rows(None, Bad { status, reason, place: None });
        self.complete(&mut rows, log);
        rows
    }

    fn of_source(&self, source: &Source, limits: &Limits) -> Result<LogRows, Bad> {
        let depth = self.settings.depth;
        let detail = if depth == Depth::Counters { Detail::Totals } else { Detail::Transfers };
        let options = ReadOptions::default().detail(detail).counters(true).limits(limits.clone());
        let trace = formats::read(source, None, &options).map_err(|e| Bad::of_error(&e))?;
        let analysis = match depth {
            Depth::Counters => None,
            _ => self.analyze(&trace).map_err(|e| Bad::of_error(&e))?,
        };
        limits.in_time().map_err(|e| Bad::of_error(&e))?;
        let report = analysis.as_ref().map(|a| &a.report).filter(|_| trace.timing != Timing::Counter);
        let wanted = findings::Options::default().requests(depth == Depth::Full);
        let found = findings::find(&trace, report, &wanted).map_err(|e| Bad::of_error(&e))?;
        limits.in_time().map_err(|e| Bad::of_error(&e))?;
        Ok(self.rows_of(&trace, analysis.as_ref(), &found))
    }

    /// The signals; `None` if nothing moves.
    fn analyze(&self, trace: &Trace) -> Result<Option<Analysis>> {
        let wanted = analysis::Options::default().patterns(self.settings.depth == Depth::Full).spectrum(false);
        match analysis::analyze(trace, &wanted) {
            Ok(a) => Ok(Some(a)),
            Err(e) if e.kind() == ErrorKind::Empty => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn rows_of(&self, trace: &Trace, analysis: Option<&Analysis>, found: &Findings) -> LogRows {
        let mut rows = LogRows {
            common: self.common(trace.job.as_ref(), Some(trace.ranks)),
            log: self.log_row(trace, found),
            ..LogRows::default()
        };
        match analysis {
            Some(a) => periods::rows(trace, a, &found.io, &mut rows),
            None => periods::totals(trace, &found.io, &mut rows),
        }
        if let Some(warning) = minutes::rows(trace, &mut rows.minutes) {
            rows.log.warnings.push(warning.to_owned());
        }
        if let Some(c) = trace.counters.as_deref() {
            counters::layers(c, &mut rows.layers);
            if counters::files(c, self.settings.each_file, &mut rows.files) {
                rows.log.warnings.push("files-left-out".to_owned());
            }
        }
        if self.settings.depth == Depth::Full {
            counters::classes(trace, &mut rows.files);
            let found = analysis.and_then(|a| a.report.patterns.as_ref());
            if found.is_some_and(|f| patterns::rows(trace, &f.patterns, &mut rows.patterns)) {
                rows.log.warnings.push("patterns-left-out".to_owned());
            }
        }
        let run_s = found.io.run_s;
        rows.findings = found.findings.iter().map(|f| finding_row(f, run_s)).collect();
        rows
    }

    fn common(&self, job: Option<&Job>, ranks: Option<u64>) -> Common {
        let command = job.and_then(|j| j.executable.as_deref());
        Common {
            start_time: job.and_then(|j| j.start_unix_s).map_or(Time(None), Time::of_seconds),
            app: command.and_then(|c| self.apps.of(c).0),
            user_id: job.and_then(|j| j.uid).map(|uid| uid.to_string()),
            ranks: ranks.map(int).or_else(|| job.and_then(|j| j.ranks).map(int)),
            ..Common::default()
        }
    }

    fn log_row(&self, trace: &Trace, found: &Findings) -> LogRow {
        let [bytes_read, bytes_written] = counters::bytes(trace);
        let warnings = found.warnings.iter().map(|w| w.code.clone()).collect::<Vec<_>>();
        let damage = found.warnings.iter().find(|w| w.code.starts_with("damaged-") || w.code == "partial-module");
        let status = match damage {
            Some(_) => Status::Partial,
            None if !trace.quality.partial.is_empty() => Status::Partial,
            None if bytes_read == 0 && bytes_written == 0 => Status::Empty,
            None => Status::Ok,
        };
        let hosts: std::collections::HashSet<&str> = trace.hosts.values().map(|h| &**h).collect();
        let counters = trace.counters.as_deref();
        LogRow {
            status: Some(status.name().to_owned()),
            reason: damage.map(|w| w.message.clone()),
            lib_version: counters.and_then(|c| c.release.clone()),
            nodes: (!hosts.is_empty()).then(|| int(hosts.len() as u64)),
            modules: modules(trace),
            incomplete: trace.quality.partial.clone(),
            timing: Some(timing(trace.timing).to_owned()),
            io_s: found.io.io_s,
            io_share: found.io.share,
            bytes_read: Some(int(bytes_read)),
            bytes_written: Some(int(bytes_written)),
            files: Some(int(
                counters.filter(|c| !c.files.is_empty()).map_or(trace.files.len(), |c| c.files.len()) as u64
            )),
            warnings,
            ..self.header_row(trace.format, &trace.header, trace.job.as_ref())
        }
    }

    /// The row of a log from its header and job.
    fn header_row(&self, format: &str, header: &iophase::record::Header, job: Option<&Job>) -> LogRow {
        let command = job.and_then(|j| j.executable.as_deref());
        let shown = |c: &str| match self.settings.commands {
            true => c.to_owned(),
            false => c.split_whitespace().next().unwrap_or_default().to_owned(),
        };
        LogRow {
            format: Some(format.to_owned()),
            format_version: header.version.clone(),
            job_id: job.and_then(|j| j.id),
            command: command.map(shown),
            app_version: command.and_then(|c| self.apps.of(c).1),
            end_time: job.and_then(|j| j.end_unix_s).map_or(Time(None), Time::of_seconds),
            run_time_s: job.and_then(|j| j.run_time_s),
            ..LogRow::default()
        }
    }

    fn bad_rows(&self, source: Option<&Source>, bad: Bad) -> LogRows {
        let outline = source.and_then(formats::outline);
        let job = outline.as_ref().and_then(|o| o.2.as_ref());
        let row = outline.as_ref().map(|(format, header, job)| self.header_row(format, header, job.as_ref()));
        let place = match bad.place {
            Some(Place::Byte(b)) => Some(int(b)),
            _ => None,
        };
        let status = Some(bad.status.name().to_owned());
        LogRows {
            common: self.common(job, None),
            log: LogRow { status, reason: Some(bad.reason), place, ..row.unwrap_or_default() },
            ..LogRows::default()
        }
    }

    /// Adds what the list knows of a log, and hides what is to be hidden.
    fn complete(&self, rows: &mut LogRows, log: &LogRef) {
        let uri = log.path.display().to_string();
        rows.common.log_key = log.key;
        rows.log.size_bytes = Some(int(log.size));
        rows.log.modified = log.modified;
        rows.log.iophase_version = Some(env!("CARGO_PKG_VERSION").to_owned());
        if let Some(reason) = &mut rows.log.reason {
            // the column uri says which log it is
            *reason = reason.strip_prefix(&format!("{uri}: ")).unwrap_or(reason).to_owned();
        }
        rows.log.uri = Some(uri);
        if let Some(hide) = &self.hide {
            hide.rows(rows);
        }
    }
}

impl Bad {
    fn of_error(e: &Error) -> Bad {
        let status = match e.kind() {
            ErrorKind::Unsupported => Status::Unsupported,
            ErrorKind::Limit => Status::TooLarge,
            ErrorKind::Empty => Status::Empty,
            _ => Status::Unreadable,
        };
        Bad { status, reason: one_line(&e.to_string()), place: e.place() }
    }

    fn of_io(e: &io::Error) -> Bad {
        let status = match e.kind() {
            io::ErrorKind::NotFound => Status::Vanished,
            io::ErrorKind::Unsupported => Status::Unsupported,
            io::ErrorKind::FileTooLarge => Status::TooLarge,
            io::ErrorKind::OutOfMemory => Status::Memory,
            _ => Status::Unreadable,
        };
        Bad { status, reason: one_line(&e.to_string()), place: None }
    }

    fn of_panic(what: &(dyn std::any::Any + Send)) -> Bad {
        let text = what.downcast_ref::<String>().cloned();
        let text = text.or_else(|| what.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default();
        Bad { status: Status::Crashed, reason: one_line(&format!("an error in iophase: {text}")), place: None }
    }
}

/// The content of a log, and its rows.
pub fn extract(extractor: &Extractor, log: &LogRef) -> LogRows {
    extractor.rows(log, Extractor::fetch(log, extractor.bounds.max_size))
}

fn finding_row(f: &Finding, run_s: f64) -> FindingRow {
    let cost = f.lost_s.or(f.time_s);
    let top = f.files.first();
    FindingRow {
        code: Some(f.code.clone()),
        name: Some(f.name.clone()),
        severity: Some(f.severity.name().to_owned()),
        certainty: Some(
            match f.certainty {
                findings::Certainty::Exact => "exact",
                findings::Certainty::Bound => "bound",
                _ => "modelled",
            }
            .to_owned(),
        ),
        time_s: f.time_s,
        lost_s: f.lost_s,
        share: cost.filter(|_| run_s > 0.0).map(|c| c / run_s),
        top_file: top.map(|t| t.file.clone()),
        ranks_count: top.and_then(|t| t.ranks).map(int),
        measured: f.measured.clone(),
    }
}

/// Names of the parts of a log that hold data.
fn modules(trace: &Trace) -> Vec<String> {
    let layers = trace.layers.iter().map(|l| l.layer.clone());
    let tables = trace.counters.iter().flat_map(|c| &c.tables).filter(|t| !t.is_empty());
    let mut all: Vec<String> = layers.chain(tables.map(|t| t.module.prefix().to_lowercase())).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn timing(t: Timing) -> &'static str {
    match t {
        Timing::Phase => "phase",
        Timing::Heatmap => "heatmap",
        Timing::Counter => "counter",
        _ => "request",
    }
}

/// Name of the totals that stand for the rows of a trace.
fn layer_name(layer: Option<Layer>) -> &'static str {
    layer.map_or("posix", Layer::name)
}

/// A count as the tables have it; what is too large is the largest.
fn int(x: u64) -> i64 {
    i64::try_from(x).unwrap_or(i64::MAX)
}

fn one_line(text: &str) -> String {
    text.chars().take(1000).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Reads a file of rules or keys that belongs to the settings.
///
/// # Errors
/// [`ErrorKind::Io`] with its name.
pub fn read_setting(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|e| crate::error::input(path, e))
}
