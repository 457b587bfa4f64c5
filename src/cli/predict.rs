//! `iophase predict`: a job followed while it runs.

use std::io::{self, Read, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use clap::{Args, ValueEnum, ValueHint};

use super::shared::{MinPeriodArgs, PatternArgs, SeriesArgs, Verbosity, seconds};
use super::{output, remedy};
use iophase::analysis::Mode;
use iophase::formats::{Limits, ReadOptions};
use iophase::internals::formats::tail::{self, ClientClocks, Faults, Form, Message, Tail};
use iophase::internals::online::checkpoint::{self, Checkpoint, Reading};
use iophase::internals::online::jobs::Jobs;
use iophase::internals::online::output_queue::{Item, OutputQueue, WhenFull};
use iophase::internals::online::source::{
    GrowingFile, GrowingFolder, Grown, Parcel, Pull, PullOptions, Push, endpoint,
};
use iophase::internals::render::json;
use iophase::online::ChangeMethod;
use iophase::online::{Every, Options, Prediction, Window};
use iophase::record::{Clock, Warning};
use iophase::{Error, ErrorKind, Remedy, Result};

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
    /// Transfers to predict; auto: writes or reads, whichever move more bytes
    #[arg(short, long, value_enum, default_value_t = Signals::Auto)]
    mode: Signals,
    /// Part of the past that counts: change (since the last one), none (all), last-K (periods), fixed:SECONDSs, fixed:BYTES
    #[arg(short, long, value_name = "WINDOW", default_value_t = Window::Change)]
    window: Window,
    /// Change detector: none, adwin, cusum, page-hinkley, k-sigma, bayesian
    #[arg(long, value_name = "METHOD", default_value_t = ChangeMethod::Bayesian)]
    change: ChangeMethod,
    /// Periods
    #[command(flatten)]
    periods: MinPeriodArgs,
    /// When to predict: message, burst, or seconds of the trace's clock
    ///
    /// Default: message for flushes and sockets, burst for single records and calls.
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
    /// In the form that TMIO's prefetcher expects.
    #[arg(long, value_name = "ADDRESS")]
    reply: Option<String>,
    /// Store the state in this file, and resume from it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    state: Option<PathBuf>,
    /// Allow sockets on other machines
    #[arg(long)]
    allow_remote: bool,
    /// Largest number of jobs; a further job replaces the one that has been silent longest
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    max_jobs: u32,
    /// Longest message of a socket in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20, value_parser = clap::value_parser!(u64).range(1..))]
    max_message: u64,
    /// Largest rate of one sender in messages per second; a faster sender has to wait
    #[arg(long, value_name = "N", default_value = "100000", value_parser = seconds)]
    max_rate: f64,
    /// Largest number of predictions waiting for a slow reader; beyond it the oldest are dropped, unless --once is given
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(2..))]
    queue: u32,
    /// Show the job in the terminal instead
    ///
    /// Signal, dominant cosine, next burst, changes, regimes. Tab and the arrow keys select one of several jobs.
    #[cfg(feature = "tui")]
    #[arg(long, conflicts_with_all = ["reply", "state"])]
    tui: bool,
    /// Messages
    #[command(flatten)]
    verbosity: Verbosity,
}

const NOTES: &str = "Prints one JSON object per line (iophase schema prediction). It follows the formats \
that --format lists, and any text by --pattern. Of a folder, the files of one job are followed, also those that appear later: all of strace, \
of DFTracer, or of what --pattern or --columns reads, else one file. What is left out is said; --state cannot resume a folder. A file \
that is truncated or replaced is read again from its start. A socket takes chunks of TMIO and maps with \
the arrays b, ts, te and, if wanted, ranks, job, op, as MessagePack or JSON, and the metrics that GekkoFS clients send; jobs are kept apart. With --state a predictor that was \
killed resumes; predictions after the last stored state are printed again, with the same sequence numbers. SIGTERM and SIGINT store \
the state and end it with exit code 0. Exit codes: 2 wrong \
usage, 3 the source cannot be read, 4 no transfer in it, 5 output or state cannot be written.";

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

/// Time between two stored states.
const STORE: Duration = Duration::from_secs(1);
/// Longest wait before a signal is noticed.
const NOTICE: Duration = Duration::from_millis(200);
/// Exit code after a panic, that of the Rust runtime.
const PANICKED: i32 = 101;
/// Bytes read at once.
const BLOCK: usize = 256 << 10;
/// Messages taken from a socket before predictions are made.
const ROUND: usize = 4096;

/// Runs the command.
///
/// # Errors
/// Of the source, the state and the output.
pub(super) fn run(a: &PredictArgs) -> Result<()> {
    #[cfg(feature = "tui")]
    if a.tui {
        return super::tui::run(super::tui::Watch {
            reading: reading(a)?,
            source: a.source.clone(),
            format: Some(a.format.clone()).filter(|f| f != "auto"),
            options: options(a).every(a.every.unwrap_or_default()),
            most_jobs: a.max_jobs as usize,
            allow_remote: a.allow_remote,
            once: a.once,
            poll: Duration::from_secs_f64(a.poll),
            wait: a.wait,
        });
    }
    end_on_panic();
    let stop = stop_on_signals()?;
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
        let outcome = Intake::new(a, &outbox, stop).and_then(|intake| intake.run(a));
        outbox.close();
        outcome
    })?;
    match failure.into_inner() {
        Ok(Some(e)) => Err(e),
        _ => Ok(()),
    }
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

/// True if nothing has this name yet.
pub(super) fn is_missing(path: &Path) -> bool {
    std::fs::metadata(path).is_err_and(|e| e.kind() == io::ErrorKind::NotFound)
}

/// What standard output and standard error may be redirected to.
const OWN_STREAMS: [&str; 2] = ["/dev/stdout", "/dev/stderr"];

/// Blocks of standard input, read by a thread of their own, so that a signal is noticed while none comes.
fn standard_input() -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::sync_channel(2);
    thread::spawn(move || {
        let mut block = vec![0; BLOCK];
        loop {
            let read = match io::stdin().lock().read(&mut block) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                read => read,
            };
            let ends = !matches!(read, Ok(n) if n > 0);
            if sender.send(read.map(|n| block[..n].to_vec())).is_err() || ends {
                return;
            }
        }
    });
    receiver
}

/// What the arguments say of how the source is read.
fn reading(a: &PredictArgs) -> Result<ReadOptions> {
    let limits = Limits::default().memory_bytes(1 << 30);
    let patterns = a.patterns.patterns()?;
    if a.format == "regex" && patterns.is_none() {
        return Err(Error::new(ErrorKind::Usage, "format regex without a pattern").remedy(Remedy::GivePatterns));
    }
    Ok(ReadOptions::default().limits(limits).series(a.series.options()).patterns(patterns))
}

/// What the arguments say of how jobs are followed.
fn options(a: &PredictArgs) -> Options {
    Options::default()
        .modes(a.mode.modes())
        .window(a.window)
        .change(a.change)
        .every(Every::Message)
        .min_period_s(a.periods.shortest_s())
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

/// State between the source and the outbox.
struct Intake<'a> {
    outbox: &'a OutputQueue,
    options: Options,
    every: Option<Every>,
    most_jobs: usize,
    jobs: Option<Jobs>,
    /// Faults of the tail, added to those of the run before.
    faults: Faults,
    /// Faults that a prediction has reported.
    reported: u64,
    reported_evicted: u64,
    reported_dropped: u64,
    /// Files of a folder that a message has named.
    reported_left_out: usize,
    reading: Option<Reading>,
    clock: Clock,
    reply: Option<Push>,
    keeps_state: bool,
    stored: Option<Instant>,
    /// A signal asked for the end.
    stop: Arc<AtomicBool>,
}

impl<'a> Intake<'a> {
    fn new(a: &PredictArgs, outbox: &'a OutputQueue, stop: Arc<AtomicBool>) -> Result<Self> {
        let options = options(a);
        let reply = a.reply.as_deref().map(|r| Push::connect(endpoint(r, a.allow_remote)?)).transpose()?;
        let mut intake = Intake {
            outbox,
            options,
            every: a.every,
            most_jobs: a.max_jobs as usize,
            jobs: None,
            faults: Faults::default(),
            reported: 0,
            reported_evicted: 0,
            reported_dropped: 0,
            reported_left_out: 0,
            reading: None,
            clock: Clock::default(),
            reply,
            keeps_state: a.state.is_some(),
            stored: None,
            stop,
        };
        if let Some(path) = &a.state
            && let Some(state) = Checkpoint::load(path)?
        {
            let wanted = intake.options_for(state.reading.as_ref().map(|r| &r.form));
            if *state.jobs.options() != wanted {
                return Err(Error::new(ErrorKind::Usage, "the stored state was made with other options")
                    .remedy("give the same --mode, --window, --change, --every and --min-period, or another --state")
                    .in_file(path.display().to_string()));
            }
            intake.reported = state.faults.malformed;
            intake.reported_evicted = state.jobs.evicted();
            (intake.faults, intake.reading, intake.jobs) = (state.faults, state.reading, Some(state.jobs));
        }
        Ok(intake)
    }

    /// The options for a source of this form.
    fn options_for(&self, form: Option<&Form>) -> Options {
        let default = if form.is_some_and(|f| f.of_lines) { Every::Burst } else { Every::Message };
        self.options.clone().every(self.every.unwrap_or(default))
    }

    fn run(mut self, a: &PredictArgs) -> Result<()> {
        let named = |e: Error| e.in_file(a.source.clone());
        match a.source.as_str() {
            s if s.contains("://") => self.socket(a),
            s if s != "-" && !self.is_there(a).map_err(named)? => Ok(()),
            s if Path::new(s).is_dir() => self.folder(a).map_err(named),
            _ => self.bytes(a).map_err(named),
        }
    }

    /// Waits for the source, if that is wanted; false if a signal asked for the end first.
    fn is_there(&self, a: &PredictArgs) -> Result<bool> {
        let begun = Instant::now();
        let mut told = a.verbosity.quiet > 0;
        while is_missing(Path::new(&a.source)) {
            if !a.wait {
                return Err(Error::new(ErrorKind::Io, "no such file or folder")
                    .remedy("check the path, or wait for it with --wait"));
            }
            if !std::mem::replace(&mut told, true) {
                output::message(&format!("waiting for {}", a.source));
            }
            if a.idle_exit.is_some_and(|s| begun.elapsed().as_secs_f64() >= s) {
                return Err(Error::new(ErrorKind::Io, "no such file or folder has come")
                    .remedy("start the recorder, or wait longer with --idle-exit"));
            }
            self.pause(a.poll);
            if self.stops() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Follows a folder with one file per rank.
    fn folder(&mut self, a: &PredictArgs) -> Result<()> {
        if a.state.is_some() {
            return Err(Error::new(ErrorKind::Usage, "--state cannot be used with a folder")
                .expected("a single file: the files of a folder are merged by time, and a restart would merge them differently")
                .remedy("leave --state out; the folder is then read again from its start"));
        }
        let format = Some(a.format.as_str()).filter(|f| *f != "auto");
        let mut folder = GrowingFolder::new(Path::new(&a.source), format, &reading(a)?, &OWN_STREAMS.map(Path::new))?;
        let mut last = Instant::now();
        while !self.stops() {
            let grew = self.take_all(&mut folder, a, a.once)?;
            if grew {
                last = Instant::now();
            }
            let idle = !grew && a.idle_exit.is_some_and(|s| last.elapsed().as_secs_f64() >= s);
            if idle {
                self.take_all(&mut folder, a, true)?;
            }
            if a.once || idle || self.outbox.is_closed() {
                self.predict(true)?;
                if self.jobs.is_none() && !folder.left_out().is_empty() {
                    return Err(Error::new(
                        ErrorKind::Unsupported,
                        format!("no file of this folder can be followed: {}", left_out(&folder)),
                    )
                    .expected(format!("plain text of {}", tail::formats()))
                    .remedy(Remedy::AnalyzeFinished));
                }
                return self.check_taken();
            }
            if !grew {
                self.pause(a.poll);
            }
        }
        Ok(())
    }

    /// Takes what the files of a folder have; false if that is nothing.
    fn take_all(&mut self, folder: &mut GrowingFolder, a: &PredictArgs, end: bool) -> Result<bool> {
        folder.poll()?;
        let mut grew = false;
        while let Some(message) = folder.next_message(end)? {
            grew = true;
            if self.take(&message, folder.form()) {
                (self.faults, self.clock) = (folder.faults(), folder.clock());
                self.tell_left_out(folder, a.verbosity.quiet > 0);
                self.predict(false)?;
            }
            if self.stops() || self.outbox.is_closed() {
                break;
            }
        }
        (self.faults, self.clock) = (folder.faults(), folder.clock());
        self.tell_left_out(folder, a.verbosity.quiet > 0);
        self.predict(false)?;
        Ok(grew)
    }

    /// Says which files of a folder are not followed, whenever there are more of them.
    fn tell_left_out(&mut self, folder: &GrowingFolder, quiet: bool) {
        let all = folder.left_out().len();
        if all > self.reported_left_out
            && let Some(jobs) = &mut self.jobs
        {
            self.reported_left_out = all;
            let text = format!("files of the folder are left out: {}", left_out(folder));
            if !quiet {
                output::message(&text);
            }
            jobs.warn(&Warning::new("other-files", text));
        }
    }

    /// Takes a message of a source of this form; true if a prediction is due although more may be at hand.
    fn take(&mut self, message: &Message, form: Option<&Form>) -> bool {
        let options = self.jobs.is_none().then(|| self.options_for(form));
        if let Some(options) = options {
            self.jobs = Some(Jobs::new(options, self.most_jobs));
        }
        self.jobs.as_mut().is_some_and(|jobs| jobs.feed(message).due_in_passing())
    }

    /// That something was taken.
    fn check_taken(&self) -> Result<()> {
        if self.jobs.is_some() {
            return Ok(());
        }
        let faults = self.faults.first.as_ref().map_or(String::new(), |f| format!("; the first fault: {f}"));
        Err(Error::new(ErrorKind::Empty, format!("no transfer has come{faults}"))
            .remedy("see what the trace holds with `iophase info`"))
    }

    /// Follows a file or standard input.
    fn bytes(&mut self, a: &PredictArgs) -> Result<()> {
        let reading = reading(a)?;
        let limits = &reading.limits;
        let format = Some(a.format.as_str()).filter(|f| *f != "auto");
        let mut tail = Tail::new(format, limits)?.with(&reading);
        let before = self.faults.clone();
        let mut file = if a.source == "-" { None } else { Some(GrowingFile::open(Path::new(&a.source))?) };
        // Bytes that were taken before and are read again for what they tell about the rest.
        let mut again = 0;
        if let (Some(file), Some(Reading { mark: Some(mark), form })) = (&mut file, self.reading.take()) {
            if file.go_to(&mark)? {
                tail = Tail::resume(form, mark.position, limits)?;
                if tail.rereads() {
                    again = mark.position;
                    *file = GrowingFile::open(Path::new(&a.source))?;
                }
            } else if let Some(jobs) = &mut self.jobs {
                jobs.begin_anew();
                jobs.warn(&Warning::new(
                    "another-file",
                    "the file is not the one that the stored state is of; it is read from its start",
                ));
            }
        }
        let input = file.is_none().then(standard_input);
        let mut block = vec![0; BLOCK];
        let mut last = Instant::now();
        let mut told = a.verbosity.quiet > 0;
        loop {
            if self.stops() {
                return self.store(&mut file, &tail, true);
            }
            let grown = match (&mut file, &input) {
                (Some(file), _) => file.read(&mut block)?,
                (None, Some(input)) => match input.recv_timeout(NOTICE) {
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        self.tell_waiting(&tail, &mut told);
                        self.predict(false)?;
                        continue;
                    }
                    Err(mpsc::RecvTimeoutError::Disconnected) => Grown::Nothing,
                    Ok(read) => {
                        block = read?;
                        if block.is_empty() { Grown::Nothing } else { Grown::Bytes(block.len()) }
                    }
                },
                (None, None) => Grown::Nothing,
            };
            let ends = match grown {
                Grown::Bytes(n) => {
                    tail.push(&block[..n]);
                    last = Instant::now();
                    false
                }
                Grown::Nothing => {
                    let ends =
                        a.once || file.is_none() || a.idle_exit.is_some_and(|s| last.elapsed().as_secs_f64() >= s);
                    if ends {
                        tail.end();
                    } else {
                        self.tell_waiting(&tail, &mut told);
                        self.predict(false)?;
                        self.store(&mut file, &tail, false)?;
                        self.pause(a.poll);
                    }
                    ends
                }
                Grown::Anew => {
                    tail.restart();
                    again = 0;
                    if let Some(jobs) = &mut self.jobs {
                        jobs.begin_anew();
                    }
                    false
                }
            };
            while let Some(message) = tail.next_message()? {
                if tail.position() <= again {
                    continue;
                }
                self.faults = sum(&before, tail.faults());
                self.clock = tail.clock();
                if self.take(&message, tail.form()) {
                    self.predict(false)?;
                    self.store(&mut file, &tail, false)?;
                }
            }
            self.faults = sum(&before, tail.faults());
            if ends || self.outbox.is_closed() {
                break;
            }
        }
        self.predict(true)?;
        self.store(&mut file, &tail, true)?;
        self.check_taken()
    }

    /// Says once why nothing is predicted from what has come.
    fn tell_waiting(&self, tail: &Tail, told: &mut bool) {
        let why = match &self.faults.first {
            _ if tail.is_undecided() => "what has come shows no form that can be followed".to_owned(),
            Some(fault) if self.jobs.is_none() => format!("no transfer has come; the first fault: {fault}"),
            _ => return,
        };
        if !std::mem::replace(told, true) {
            output::message(&format!("{why}; waiting for more"));
        }
    }

    /// Whether a signal has asked for the end.
    fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Waits for `seconds`, or until a signal asks for the end. There is no event to wait for instead: network file systems do not
    /// report what another node writes.
    fn pause(&self, seconds: f64) {
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        while let Some(left) = until.checked_duration_since(Instant::now())
            && !self.stops()
        {
            thread::sleep(left.min(NOTICE));
        }
    }

    /// Serves a socket.
    fn socket(&mut self, a: &PredictArgs) -> Result<()> {
        let bounds = PullOptions { message_bytes: a.max_message, rate: a.max_rate, ..PullOptions::default() };
        let pull = Pull::bind(&endpoint(&a.source, a.allow_remote)?, &bounds)?;
        if a.verbosity.quiet == 0 {
            output::message(&format!("listening on zmq://{}", pull.address()));
        }
        let options = self.options_for(None);
        let most = self.most_jobs;
        self.jobs.get_or_insert_with(|| Jobs::new(options, most));
        let mut clients = ClientClocks::default();
        let mut last = Instant::now();
        let patience = Duration::from_secs_f64(a.idle_exit.unwrap_or(1.0).min(NOTICE.as_secs_f64()));
        loop {
            let mut parcel = pull.receive(patience);
            let idle = parcel.is_none();
            let mut taken = 0;
            while let Some(p) = parcel {
                match p {
                    Parcel::Message(job, body) => match tail::decode(&body, &mut clients) {
                        Ok(message) => {
                            let message = Message { job: job.or(message.job), ..message };
                            if let Some(jobs) = &mut self.jobs {
                                jobs.feed(&message);
                            }
                        }
                        Err(e) => self.faults.add(|| e.to_string()),
                    },
                    Parcel::Fault(what) => self.faults.add(|| what),
                }
                last = Instant::now();
                taken += 1;
                parcel = if taken < ROUND { pull.take() } else { None };
            }
            let idle_exit = idle && a.idle_exit.is_some_and(|s| last.elapsed().as_secs_f64() >= s);
            let over = idle_exit || self.stops();
            self.predict(idle_exit)?;
            self.store(&mut None, &Tail::new(None, &Limits::default())?, over)?;
            if over || self.outbox.is_closed() {
                return Ok(());
            }
        }
    }

    /// Predicts for the jobs for which it is due, at the end for all that have news.
    fn predict(&mut self, end: bool) -> Result<()> {
        let Some(jobs) = &mut self.jobs else { return Ok(()) };
        if self.faults.malformed > self.reported {
            self.reported = self.faults.malformed;
            let first = self.faults.first.as_deref().unwrap_or_default();
            let text = format!("{} messages could not be read and were left out; the first: {first}", self.reported);
            jobs.warn(&Warning::new("malformed-messages", text));
        }
        if jobs.evicted() > self.reported_evicted {
            self.reported_evicted = jobs.evicted();
            let text = format!("{} jobs were given up for newer ones", self.reported_evicted);
            jobs.warn(&Warning::new("jobs-given-up", text).remedy("raise --max-jobs"));
        }
        let dropped = self.outbox.dropped();
        if dropped > self.reported_dropped {
            self.reported_dropped = dropped;
            let text = format!("{dropped} predictions were dropped because their reader is slow");
            jobs.warn(&Warning::new("predictions-dropped", text).remedy("read faster, or raise --every"));
        }
        let predictions = if end { jobs.predict_news() } else { jobs.predict_due() };
        for p in predictions {
            self.emit(p)?;
        }
        Ok(())
    }

    fn emit(&self, p: Prediction) -> Result<()> {
        if let Some(reply) = &self.reply {
            let frequency = p.period_s.filter(|_| p.periodic).map(|t| 1.0 / t);
            reply.answer(frequency, p.confidence.filter(|_| p.periodic).unwrap_or(0.0));
        }
        let mut p = p.stamped(self.clock, SystemTime::now());
        remedy::name_options(&mut p.warnings);
        self.outbox.put(Item::Line(json::line(&p)?));
        Ok(())
    }

    /// Stores the state after what was said, from time to time, and at the end.
    fn store(&mut self, file: &mut Option<GrowingFile>, tail: &Tail, end: bool) -> Result<()> {
        let recent = self.stored.is_some_and(|t| t.elapsed() < STORE);
        if !self.keeps_state || (recent && !end) || !tail.may_stop() {
            return Ok(());
        }
        let Some(jobs) = &self.jobs else { return Ok(()) };
        let mark = file.as_mut().map(|f| f.mark(tail.position())).transpose()?;
        let reading = tail.form().map(|form| Reading { mark, form: form.clone() });
        let state = Checkpoint::new(reading, self.faults.clone(), jobs.clone());
        self.outbox.put(Item::State(state.to_bytes()?));
        self.stored = Some(Instant::now());
        Ok(())
    }
}

/// The files of a folder that are not followed, each with the reason.
fn left_out(folder: &GrowingFolder) -> String {
    const NAMED: usize = 8;
    let all = folder.left_out();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let named = all.iter().take(NAMED).map(|(path, why)| format!("{} ({})", name(path), why.why()));
    let more = all.len().saturating_sub(NAMED);
    named.chain((more > 0).then(|| format!("{more} more"))).collect::<Vec<_>>().join(", ")
}

/// The faults of two runs together.
fn sum(a: &Faults, b: &Faults) -> Faults {
    Faults { malformed: a.malformed + b.malformed, first: a.first.clone().or_else(|| b.first.clone()) }
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
