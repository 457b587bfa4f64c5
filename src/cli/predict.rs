//! `iophase predict`: a job followed while it runs.

use std::io::{self, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum, ValueHint};

use super::shared::{MinPeriodArgs, PatternArgs, SeriesArgs, Verbosity, change_methods, refuse_unused, seconds};
use super::{output, remedy};
use crate::analysis::Mode;
use crate::formats::tail;
use crate::formats::{Limits, ReadOptions};
use crate::online::ChangeMethod;
use crate::online::checkpoint::{self, Checkpoint, Reading};
use crate::online::follow::{AtEnd, Automaton, Follower, Plan, Sink, Source, pause};
use crate::online::output_queue::{Item, OutputQueue, WhenFull};
use crate::online::source::{GrowingFolder, PullOptions, Push, Socket, Stream, endpoint};
use crate::online::{Every, Options, Prediction, Window};
use crate::render::json;
use crate::{Error, ErrorKind, Remedy, Result};

/// Arguments of `predict`.
#[derive(Debug, Args)]
#[command(after_long_help = NOTES)]
pub struct PredictArgs {
    /// A growing file, a folder with the files of one job (strace or DFTracer, one per process), `-` for standard input, or
    /// `zmq://127.0.0.1:5555` (opens a PULL socket)
    #[arg(value_name = "SOURCE", value_hint = ValueHint::AnyPath)]
    source: String,
    /// Format of a file or of standard input
    #[arg(long, value_name = "NAME", default_value = "auto", hide_default_value = true, help = format_help())]
    format: String,
    /// How text of any kind is read
    #[command(flatten)]
    patterns: PatternArgs,
    /// How tables of values over time are read
    #[command(flatten)]
    series: SeriesArgs,
    /// Transfers to predict; auto: writes or reads, those with more bytes if both are periodic
    #[arg(short, long, value_enum, default_value_t = Signals::Auto)]
    mode: Signals,
    /// Data to use: change (since the last change), none (no window: all data), last-K (periods), fixed:60s, fixed:4GiB
    #[arg(short, long, value_name = "WINDOW", default_value_t = Window::Change)]
    window: Window,
    /// Detector of changes of the period
    #[arg(long, value_name = "METHOD", default_value_t = ChangeMethod::Bayesian, value_parser = change_methods())]
    change: ChangeMethod,
    /// Periods
    #[command(flatten)]
    periods: MinPeriodArgs,
    /// Predict at each `message` or `burst`, or every N seconds of the trace's clock, e.g. 5s
    ///
    /// Default: burst if the source has a line for each record or call, else message (flushes, sockets).
    #[arg(long, value_name = "WHEN")]
    every: Option<Every>,
    /// Stop at the end of the file
    #[arg(long, conflicts_with = "follow")]
    once: bool,
    /// Wait for more data at the end of the file (the default)
    #[arg(long)]
    follow: bool,
    /// Wait for a file or folder that does not exist yet
    #[arg(long)]
    wait: bool,
    /// Stop when no data has arrived for this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    idle_exit: Option<f64>,
    /// Check the file for new data at this interval, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "0.2", value_parser = seconds)]
    poll: f64,
    /// Push frequency and confidence to this PULL socket
    ///
    /// The message has the form that TMIO's prefetcher expects.
    #[arg(long, value_name = "ADDRESS")]
    reply: Option<String>,
    /// Store the state in this file, and resume from it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    state: Option<PathBuf>,
    /// Allow sockets on other machines
    #[arg(long)]
    allow_remote: bool,
    /// Largest number of jobs; beyond it a new job replaces the one that has been silent longest
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    max_jobs: u32,
    /// Longest message of a socket, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = MESSAGE_BYTES, value_parser = clap::value_parser!(u64).range(1..))]
    max_message: u64,
    /// Largest rate of a sender, in messages per second; a faster one has to wait
    #[arg(long, value_name = "N", default_value_t = MESSAGE_RATE, value_parser = seconds)]
    max_rate: f64,
    /// Largest number of predictions waiting for a slow reader; beyond it the oldest are dropped, unless --once is given
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(2..))]
    queue: u32,
    /// Show the job in the terminal
    ///
    /// Signal, dominant cosine, next burst, changes, regimes. Tab and the arrow keys select one of several jobs.
    #[cfg(feature = "tui")]
    #[arg(long, conflicts_with_all = ["reply", "state"])]
    tui: bool,
    /// Messages
    #[command(flatten)]
    verbosity: Verbosity,
}

const NOTES: &str = "Prints one JSON object per line (iophase schema prediction). SOURCE has a format that --format lists, or is any text \
that --pattern reads. In a folder, predict follows the files of one job, also those that appear later: all files of strace or of DFTracer, or all \
that --pattern or --columns reads; otherwise it follows one file. It reports the files that it leaves out. A file that is truncated or replaced \
is read again from its start. A socket takes TMIO chunks, GekkoFS client metrics, and maps with the arrays b, ts, te and optionally ranks, job, \
op, as MessagePack or JSON; predict keeps jobs apart. With --state, a predictor that was killed resumes: it repeats the predictions since the \
last stored state, with the same sequence numbers. --state cannot resume a folder. SIGTERM and SIGINT store the state and end predict with exit \
code 0. Exit codes: 2 wrong usage, 3 the source cannot be read, 4 no transfer in it, 5 output or state cannot be written.";

fn format_help() -> String {
    format!("Format of a file or of standard input: {} [default: by content]", tail::formats())
}

/// Which signals are predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Signals {
    Auto,
    Write,
    Read,
    All,
}

impl Signals {
    /// The modes that are followed.
    pub(super) fn modes(self) -> Vec<Mode> {
        match self {
            Signals::Auto => vec![Mode::Write, Mode::Read],
            Signals::Write => vec![Mode::Write],
            Signals::Read => vec![Mode::Read],
            Signals::All => vec![Mode::All],
        }
    }
}

/// Longest message of a socket in bytes, unless `--max-message` says otherwise.
const MESSAGE_BYTES: u64 = 64 << 20;
/// Messages per second of one sender, unless `--max-rate` says otherwise.
const MESSAGE_RATE: f64 = 100_000.0;

/// Exit code after a panic, that of the Rust runtime.
const PANICKED: i32 = 101;

/// Runs the command.
///
/// # Errors
/// Of the source, the state and the output.
pub(super) fn run(a: &PredictArgs) -> Result<()> {
    let stop = stop_on_signals()?;
    #[cfg(feature = "tui")]
    if a.tui {
        return super::tui::run(a, &stop);
    }
    end_on_panic();
    let when_full = if a.once { WhenFull::Wait } else { WhenFull::DropOldest };
    let outbox = OutputQueue::new(a.queue as usize, when_full);
    let failure: Mutex<Option<Error>> = Mutex::new(None);
    thread::scope(|scope| {
        scope.spawn(|| {
            if let Err(e) = write_out(&outbox, a.state.as_deref())
                && let Ok(mut slot) = failure.lock()
            {
                *slot = Some(e);
            }
            // Tells the sender that nobody reads.
            outbox.close();
        });
        let outcome = Output::new(a, &outbox).and_then(|mut output| follow(a, &mut output, &stop));
        outbox.close();
        outcome
    })?;
    match failure.into_inner() {
        Ok(Some(e)) => Err(e),
        _ => Ok(()),
    }
}

/// Follows the source that the arguments name.
///
/// # Errors
/// Of the arguments, the source, the state and the sink.
pub(super) fn follow(a: &PredictArgs, sink: &mut dyn Sink, stop: &AtomicBool) -> Result<()> {
    const SOCKET: &str = "only a socket has such an option: zmq://ADDRESS:PORT";
    let is_socket = a.source.contains("://");
    refuse_unused(&[
        ("--max-message", a.max_message != MESSAGE_BYTES && !is_socket, SOCKET),
        ("--max-rate", a.max_rate != MESSAGE_RATE && !is_socket, SOCKET),
        ("--allow-remote", a.allow_remote && !is_socket && a.reply.is_none(), SOCKET),
        ("--wait", a.wait && is_socket, "a socket waits anyway"),
    ])?;
    let mut follower = Follower::new(plan(a));
    let state = a.state.as_deref().map(|path| resume(&mut follower, path)).transpose()?.flatten();
    if is_socket {
        let bounds = PullOptions { message_bytes: a.max_message, rate: a.max_rate, ..PullOptions::default() };
        let mut socket = Socket::bind(&endpoint(&a.source, a.allow_remote)?, &bounds)?;
        sink.say(&format!("listening on zmq://{}", socket.address()));
        return follower.run(&mut socket, sink, stop);
    }
    let run = || match is_there(a, sink, stop)? {
        true => follower.run(&mut *open(a, state)?, sink, stop),
        false => Ok(()),
    };
    run().map_err(|e: Error| e.in_file(a.source.clone()))
}

/// Goes on from the stored state, if there is one; gives the place in the source.
fn resume(follower: &mut Follower, path: &Path) -> Result<Option<Reading>> {
    let Some(state) = Checkpoint::load(path)? else { return Ok(None) };
    follower.resume(state).map_err(|e| {
        e.remedy("give the same --mode, --window, --change, --every and --min-period, or another --state")
            .in_file(path.display().to_string())
    })
}

/// Opens a file, a folder or standard input.
fn open(a: &PredictArgs, before: Option<Reading>) -> Result<Box<dyn Source>> {
    /// Devices that are standard output and standard error of the program itself, whatever they are redirected to.
    const OWN_STREAMS: [&str; 2] = ["/dev/stdout", "/dev/stderr"];
    let (path, reading) = (Path::new(&a.source), reading(a)?);
    let format = Some(a.format.as_str()).filter(|f| *f != "auto");
    let at_end = AtEnd { once: a.once, poll: Duration::from_secs_f64(a.poll) };
    if a.source == "-" {
        return Ok(Box::new(Stream::of(io::stdin(), format, &reading)?));
    }
    if !path.is_dir() {
        return Ok(Box::new(Stream::file(path, format, &reading, before, at_end)?));
    }
    if a.state.is_some() {
        return Err(Error::new(ErrorKind::Usage, "--state cannot be used with a folder")
            .expected(
                "a single file: the files of a folder are merged by time, and a restart would merge them differently",
            )
            .remedy("leave --state out; the folder is then read again from its start"));
    }
    Ok(Box::new(GrowingFolder::new(path, format, &reading, &OWN_STREAMS.map(Path::new), at_end)?))
}

/// Waits for the source, if that is wanted; false if a signal asked for the end first.
fn is_there(a: &PredictArgs, sink: &mut dyn Sink, stop: &AtomicBool) -> Result<bool> {
    let missing = |what: &str, remedy: &'static str| Err(Error::new(ErrorKind::Io, what.to_owned()).remedy(remedy));
    let begun = Instant::now();
    let mut said = false;
    while a.source != "-" && std::fs::metadata(&a.source).is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
        if !a.wait {
            return missing("no such file or folder", "check the path, or wait for it with --wait");
        }
        if !std::mem::replace(&mut said, true) {
            sink.say(&format!("waiting for {}", a.source));
        }
        if a.idle_exit.is_some_and(|s| begun.elapsed().as_secs_f64() >= s) {
            return missing("no such file or folder has come", "start the recorder, or wait longer with --idle-exit");
        }
        pause(Duration::from_secs_f64(a.poll), stop);
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Ends the process at a panic in any thread: a predictor without its writer or its socket must not look alive.
fn end_on_panic() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        report(info);
        process::exit(PANICKED);
    }));
}

/// A flag that SIGTERM and SIGINT set. The second signal ends the process at once.
fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, stop.clone())?;
        signal_hook::flag::register(signal, stop.clone())?;
    }
    Ok(stop)
}

/// Options of reading, from the arguments.
fn reading(a: &PredictArgs) -> Result<ReadOptions> {
    let limits = Limits::default().memory_bytes(1 << 30);
    let patterns = a.patterns.patterns()?;
    if a.format == "regex" && patterns.is_none() {
        return Err(Error::new(ErrorKind::Usage, "format regex without a pattern").remedy(Remedy::GivePatterns));
    }
    Ok(ReadOptions::default().limits(limits).series(a.series.options()).patterns(patterns))
}

/// The plan by which jobs are followed, from the arguments.
fn plan(a: &PredictArgs) -> Plan {
    let options = Options::default().modes(a.mode.modes()).window(a.window).change(a.change);
    Plan {
        options: options.min_period_s(a.periods.shortest_s()),
        every: a.every,
        most_jobs: a.max_jobs as usize,
        idle_exit: a.idle_exit.map(Duration::from_secs_f64),
        keeps_state: a.state.is_some(),
    }
}

/// Writes lines and states as they come. A reader that has gone away ends this and is no error.
fn write_out(outbox: &OutputQueue, state: Option<&Path>) -> Result<()> {
    let mut out = io::stdout().lock();
    while let Some(item) = outbox.take() {
        match (item, state) {
            (Item::Line(line), _) => match writeln!(out, "{line}").and_then(|()| out.flush()) {
                Ok(()) => {}
                Err(e) if e.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                Err(e) => return Err(Error::new(ErrorKind::Output, e.to_string()).in_file("standard output")),
            },
            (Item::State(bytes), Some(path)) => checkpoint::store(path, &bytes)?,
            (Item::State(_), None) => {}
        }
    }
    Ok(())
}

/// The lines, the replies and the states of predictions.
struct Output<'a> {
    outbox: &'a OutputQueue,
    reply: Option<Push>,
    quiet: bool,
}

impl<'a> Output<'a> {
    fn new(a: &PredictArgs, outbox: &'a OutputQueue) -> Result<Output<'a>> {
        let reply = a.reply.as_deref().map(|r| Push::connect(endpoint(r, a.allow_remote)?)).transpose()?;
        Ok(Output { outbox, reply, quiet: a.verbosity.quiet > 0 })
    }
}

impl Sink for Output<'_> {
    fn take(&mut self, mut p: Prediction, _: &Automaton) -> Result<()> {
        if let Some(reply) = &self.reply {
            let frequency = p.period_s.filter(|_| p.periodic).map(|t| 1.0 / t);
            reply.answer(frequency, p.confidence.filter(|_| p.periodic).unwrap_or(0.0));
        }
        remedy::name_options(&mut p.warnings);
        self.outbox.put(Item::Line(json::line(&p)?));
        Ok(())
    }

    fn store(&mut self, state: Vec<u8>) {
        self.outbox.put(Item::State(state));
    }

    fn say(&mut self, text: &str) {
        if !self.quiet {
            output::message(text);
        }
    }

    fn dropped(&self) -> u64 {
        self.outbox.dropped()
    }

    fn is_closed(&self) -> bool {
        self.outbox.is_closed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env;
    use std::process::Command;

    const CHILD: &str = "IOPHASE_TEST_PANICS";

    /// The test starts itself a second time: the child would wait for ever for the thread that panicked.
    #[test]
    fn a_panic_in_any_thread_ends_the_process() {
        if env::var_os(CHILD).is_some() {
            end_on_panic();
            thread::spawn(|| panic!("in a thread"));
            loop {
                thread::park();
            }
        }
        let this = "cli::predict::tests::a_panic_in_any_thread_ends_the_process";
        let child = Command::new(env::current_exe().unwrap()).args(["--exact", this]).env(CHILD, "1").output().unwrap();
        assert_eq!(child.status.code(), Some(PANICKED));
        // the code of a test that fails is the same one, so the child must not have come to a result
        assert!(!String::from_utf8_lossy(&child.stdout).contains("test result"), "{child:?}");
    }
}
