//! `iophase fleet LOGS... -o FLEET`: reads the logs that the fleet does not have.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chrono::{DateTime, NaiveDate, Utc};
use clap::{Args, ValueHint};

use super::output;
use iophase::{Error, ErrorKind, Result};
use iophase_fleet::batch::{self, Options, Plan, Progress, Retry};
use iophase_fleet::extract::{Bounds, Depth, Settings, read_setting};
use iophase_fleet::list::{self, Listing};
use iophase_fleet::pool::Program;
use iophase_fleet::query::write_signals;

/// Time between two lines of progress that go to a file.
const LINE: Duration = Duration::from_secs(60);

/// Arguments of a run.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Logs, folders with logs, and globs in quotes
    #[arg(value_name = "LOGS", value_hint = ValueHint::AnyPath)]
    pub logs: Vec<PathBuf>,
    /// Folder of the fleet, or a file NAME.parquet for the signals alone
    #[arg(short, long, value_hint = ValueHint::AnyPath)]
    pub output: Option<PathBuf>,
    /// File with one path a line; `-` is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub manifest: Vec<PathBuf>,
    /// Names of files that are taken from folders, instead of *.darshan (also .gz, .bz2, .xz and .zst)
    #[arg(long, value_name = "GLOB")]
    pub name: Vec<String>,
    /// How much is done with a log
    #[arg(long, value_enum, default_value = "period")]
    pub depth: Depth,
    /// One row for each file instead of each family of files
    #[arg(long, value_name = "WHAT", value_parser = ["families", "each"], default_value = "families")]
    pub files: String,
    /// Keep whole command lines, not their first word only
    #[arg(long)]
    pub commands: bool,
    /// Rules for names and versions of applications (TOML: [[app]] with pattern, name, version)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub apps: Option<PathBuf>,
    /// Replace users, paths and file names by codes, made with the key in this file
    #[arg(long, value_name = "KEYFILE", value_hint = ValueHint::FilePath)]
    pub anonymise: Option<PathBuf>,
    /// A log is known by its bytes instead of path, size and time of modification
    #[arg(long)]
    pub by_content: bool,
    /// Read known logs with this outcome again
    #[arg(long, value_enum, default_value = "none")]
    pub retry: Retry,
    /// Read all logs again
    #[arg(long)]
    pub rebuild: bool,
    /// Delete the rows of logs that are gone from the folders LOGS
    #[arg(long, conflicts_with_all = ["anonymise", "rebuild"])]
    pub delete: bool,
    /// Part i of n of the logs, for a job array
    #[arg(long, value_name = "I/N", default_value = "1/1", value_parser = batch::shard)]
    pub shard: (usize, usize),
    /// Read the logs on the cluster of this scheduler, df://HOST:PORT, instead of on this machine
    #[cfg(feature = "cluster")]
    #[arg(long, value_name = "URL")]
    pub scheduler: Option<String>,
    /// Number of worker processes; one a core if it is not given
    #[arg(long, value_name = "N")]
    pub workers: Option<usize>,
    /// Time that a log may take; a process that hangs is ended after twice as long
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub time_limit: f64,
    /// Memory that a log may need
    #[arg(long, value_name = "BYTES", default_value = "1GiB", value_parser = bytes)]
    pub memory: u64,
    /// Size of the largest log that is read
    #[arg(long, value_name = "BYTES", default_value = "2GiB", value_parser = bytes)]
    pub max_size: u64,
    /// Exit with 0 also if logs could not be read
    #[arg(long)]
    pub bad_ok: bool,
    /// Show how far the run on this fleet is, and do nothing
    #[arg(long, value_name = "FLEET", value_hint = ValueHint::DirPath, exclusive = true)]
    pub status: Option<PathBuf>,
    /// No progress; twice: no summary either
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub quiet: u8,
}

/// Reads the logs; gives the exit code.
///
/// # Errors
/// As [`batch::run`]; [`ErrorKind::Empty`] if no log is found.
pub fn run(a: &RunArgs) -> Result<u8> {
    if let Some(fleet) = &a.status {
        let text = batch::status(fleet)?.map_or("no run yet".to_owned(), |p| status(&p));
        return output::print(&format!("{text}\n")).map(|()| 0);
    }
    let Some(to) = &a.output else {
        return Err(Error::new(ErrorKind::Usage, "no output").expected("-o FOLDER or -o NAME.parquet"));
    };
    let options = options(a)?;
    let is_file = to.extension().is_some_and(|e| e == "parquet") && !to.is_dir();
    let (done, found) = if is_file { one_file(a, to, &options)? } else { folder(a, to, &options)? };
    if a.quiet < 2 {
        output::message(&summary(&done));
    }
    Ok(if (done.bad > 0 && !a.bad_ok) || !found.problems.is_empty() { 3 } else { 0 })
}

/// The logs of the inputs, as far as they can be listed.
fn list(a: &RunArgs, plan: &mut Plan<'_>) -> Result<Listing> {
    let inputs = list::Options { names: a.name.clone(), manifests: a.manifest.clone(), by_content: a.by_content };
    let mut none = true;
    let found = list::find(&a.logs, &inputs, &mut |logs| {
        none = false;
        plan.take(logs)
    })?;
    found.problems.iter().for_each(output::error);
    if found.left_out > 0 && a.quiet < 2 {
        output::message(&format!("{} files of other names left out (--name takes them)", found.left_out));
    }
    if none {
        let kind = if found.problems.is_empty() { ErrorKind::Empty } else { ErrorKind::Io };
        return Err(Error::new(kind, "no log found").remedy("name files, folders, globs in quotes, or --manifest FILE"));
    }
    Ok(found)
}

fn options(a: &RunArgs) -> Result<Options> {
    let apps = a.apps.as_deref().map(read_setting).transpose()?;
    let apps = apps.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let settings = Settings {
        depth: a.depth,
        each_file: a.files == "each",
        commands: a.commands,
        apps,
        hide: a.anonymise.as_deref().map(read_setting).transpose()?,
    };
    if settings.hide.as_ref().is_some_and(|key| key.len() < 16) {
        return Err(Error::new(ErrorKind::Usage, "the key of --anonymise is short").expected("16 random bytes or more"));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Options {
        settings,
        bounds: Bounds { time_s: a.time_limit, memory: a.memory, max_size: a.max_size },
        by_content: a.by_content,
        workers: a.workers.unwrap_or(cores),
        retry: a.retry,
        rebuild: a.rebuild,
        delete: a
            .logs
            .iter()
            .filter(|p| a.delete && p.is_dir())
            .map(std::path::absolute)
            .collect::<Result<_, _>>()
            .map_err(|e| Error::new(ErrorKind::Io, e.to_string()))?,
        shard: a.shard,
        program: Program::this()?,
    })
}

fn folder(a: &RunArgs, to: &Path, options: &Options) -> Result<(Progress, Listing)> {
    // executors may run elsewhere
    let to = std::path::absolute(to).map_err(|e| Error::new(ErrorKind::Output, e.to_string()))?;
    let mut plan = Plan::new(&to, options);
    let found = list(a, &mut plan)?;
    let terminal = std::io::stderr().is_terminal();
    let mut shown = Instant::now();
    let mut show = |p: &Progress| {
        if a.quiet > 0 || p.done {
            return;
        }
        if terminal {
            eprint_over(&status(p));
        } else if shown.elapsed() >= LINE {
            shown = Instant::now();
            output::message(&status(p));
        }
    };
    #[cfg(feature = "cluster")]
    if let Some(scheduler) = &a.scheduler {
        return iophase_fleet::cluster::run(plan, scheduler, &mut show).map(|done| (done, found));
    }
    batch::run(plan, &mut show).map(|done| (done, found))
}

/// The signals alone: a fleet in a folder beside the file, that is deleted again.
fn one_file(a: &RunArgs, to: &Path, options: &Options) -> Result<(Progress, Listing)> {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.work", std::process::id()));
    let work = to.with_file_name(name);
    let done = folder(a, &work, options).and_then(|done| write_signals(&work, to).map(|_| done));
    // what is left of it is no part of the answer
    let _ = std::fs::remove_dir_all(&work);
    done
}

/// A line of progress that the next one overwrites.
fn eprint_over(text: &str) {
    use std::io::Write;
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "\r\x1b[K{text}");
    let _ = err.flush();
}

fn status(p: &Progress) -> String {
    let rate = p.read as f64 / p.seconds.max(1e-9);
    let left = p.todo.saturating_sub(p.read);
    let eta = if rate > 0.0 && !p.done { format!(", {:.0} s left", left as f64 / rate) } else { String::new() };
    let state = if p.done { "done: " } else { "" };
    format!("{state}{} of {} logs, {rate:.0} logs/s, {} bad{eta}", p.read, p.todo, p.bad)
}

fn summary(p: &Progress) -> String {
    let rate = p.read as f64 / p.seconds.max(1e-9);
    let bad = if p.bad > 0 {
        format!(", {} could not be read: `iophase fleet ask quality FLEET` says why", p.bad)
    } else {
        String::new()
    };
    let clear = if std::io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    format!(
        "{clear}{} logs: {} known, {} read in {:.1} s ({rate:.0} logs/s){bad}",
        p.listed, p.known, p.read, p.seconds
    )
}

/// Bytes with a prefix: 64MiB, 2GB, 4096.
fn bytes(text: &str) -> Result<u64, String> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let factor = match unit.trim() {
        "" | "B" => 1.0,
        "k" | "kB" => 1e3,
        "M" | "MB" => 1e6,
        "G" | "GB" => 1e9,
        "K" | "KiB" => 1024.0,
        "Mi" | "MiB" => 1_048_576.0,
        "Gi" | "GiB" => 1_073_741_824.0,
        "Ti" | "TiB" => 1_099_511_627_776.0,
        _ => return Err(format!("{unit} is no unit of bytes; expected KiB, MiB, GiB, kB, MB or GB")),
    };
    number.parse::<f64>().map(|x| (x * factor) as u64).map_err(|_| format!("{text} is no number of bytes"))
}

/// A time in UTC: 2026-01-31, or with the time of the day as in RFC 3339.
pub fn time(text: &str) -> Result<DateTime<Utc>, String> {
    let day = || Some(text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0)?.and_utc());
    let time = DateTime::parse_from_rfc3339(text).ok().map(|t| t.to_utc()).or_else(day);
    time.ok_or_else(|| format!("{text} is no time; expected 2026-01-31 or 2026-01-31T12:00:00Z"))
}

/// Seconds with a unit: 90, 60s, 5m, 6h, 2d.
fn duration(text: &str) -> Result<f64, String> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let factor = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(format!("{unit} is no unit of time; expected ms, s, m, h or d")),
    };
    number.parse::<f64>().map(|x| x * factor).map_err(|_| format!("{text} is no time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_times_have_units() {
        assert_eq!((bytes("1GiB"), bytes("2MB"), bytes("17")), (Ok(1 << 30), Ok(2_000_000), Ok(17)));
        assert_eq!((duration("90"), duration("1.5h"), duration("250ms")), (Ok(90.0), Ok(5400.0), Ok(0.25)));
        assert_eq!(time("2026-01-31"), time("2026-01-31T01:00:00+01:00"));
        assert!(time("31.1.2026").is_err() && time("2026-02-30").is_err());
        assert!(bytes("1 parsec").is_err() && duration("soon").is_err() && bytes("").is_err());
    }
}
