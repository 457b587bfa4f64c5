//! One watch from its start to the report.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use terminal_size::{Width, terminal_size_of};

use super::super::output::{self, Lines};
use super::super::predict::Signals as PredictedSignals;
use super::super::{remedy, report};
use super::WatchArgs;
use super::line::LiveLine;
use super::outputs::{PredictionLines, SampleFile};
use super::program::{self, Signals};
use super::sampler::{Event, Plan, Sampler, Target};
use iophase::analysis::{self, Analysis, ModeChoice, Selection};
use iophase::internals::formats::samples::{self, Ending, Header, SAMPLES_SCHEMA, Samples};
use iophase::internals::online::source::ProcTree;
use iophase::internals::render::figure::{self, Look, View};
use iophase::internals::render::{json, text};
use iophase::online::{Every, Options, Session};
use iophase::record::{Interval, Trace};
use iophase::{Error, ErrorKind, Result};

/// Where the kernel shows processes.
const PROC: &str = "/proc";
/// Events that wait for the analysis; beyond it the readings wait.
const WAITING: usize = 4096;
/// Longest time without a look at the clock.
const LOOK: Duration = Duration::from_millis(250);

/// Runs the command or watches the process; gives the exit code.
///
/// # Errors
/// Of what happens before the command runs; of the process; of the outputs.
pub(super) fn run(a: &WatchArgs) -> Result<u8> {
    let proc = Path::new(PROC);
    let tree = match a.pid {
        Some(pid) => ProcTree::of_process(proc, pid)?,
        None => ProcTree::of_descendants(proc, std::process::id())?,
    };
    let mut outputs = Outputs::create(a)?;
    let signals = Signals::catch(a.pid.is_none())?;
    let started = SystemTime::now();
    let plan =
        Plan { start: Instant::now(), rate_hz: f64::from(a.rate), count: a.count.into(), by_process: a.by_process };
    let target = match a.pid {
        Some(pid) => Target::Process(pid),
        None => match program::start(a) {
            Ok(child) => Target::Command(child),
            Err(code) => return Ok(code),
        },
    };
    let pid = match &target {
        Target::Command(child) => child.id(),
        Target::Process(pid) => *pid,
    };
    let header = header(a, pid, &plan, started);
    outputs.file.put(|| samples::header_line(&header));
    outputs.file.flush(true);
    let (sender, receiver) = sync_channel(WAITING);
    let sampler = Sampler::new(plan, tree, target, signals);
    let thread = thread::Builder::new().name("samples".into()).spawn(move || sampler.run(&sender))?;
    let mut watch = Watch::new(a, header, plan.start, outputs);
    let (ending, code) = watch.follow(&receiver)?;
    if thread.join().is_err() {
        return Err(Error::new(ErrorKind::Io, "the reading of the counters failed"));
    }
    watch.finish(a, &ending, code)
}

fn header(a: &WatchArgs, pid: u32, plan: &Plan, started: SystemTime) -> Header {
    let words = || a.command.iter().map(|w| w.to_string_lossy().into_owned()).collect();
    Header {
        schema: SAMPLES_SCHEMA.into(),
        command: a.pid.is_none().then(words),
        pid: Some(pid),
        count: plan.count,
        rate_hz: plan.rate_hz,
        start_unix_s: started.duration_since(UNIX_EPOCH).ok().map(|t| t.as_secs_f64()),
    }
}

/// The outputs that are written while the program runs, and the one that has to be known to be possible.
struct Outputs {
    file: SampleFile,
    predictions: PredictionLines,
    json: Option<Lines>,
}

impl Outputs {
    fn create(a: &WatchArgs) -> Result<Outputs> {
        let stdout = |path: &Option<std::path::PathBuf>| path.as_deref().is_some_and(|p| p.as_os_str() == "-");
        if [stdout(&a.json), stdout(&a.predictions), stdout(&a.html)].into_iter().filter(|x| *x).count() > 1 {
            let what = "several of --json -, --predictions - and --html - write to standard output";
            return Err(Error::new(ErrorKind::Usage, what));
        }
        Ok(Outputs {
            file: SampleFile::create(a.output.as_deref())?,
            predictions: PredictionLines::create(a.predictions.as_deref())?,
            json: a.json.as_deref().map(Lines::create).transpose()?,
        })
    }
}

/// State between the samples and the report.
struct Watch {
    header: Header,
    samples: Samples,
    session: Session,
    line: LiveLine,
    outputs: Outputs,
    start: Instant,
    /// Samples have come since the last prediction.
    updated: bool,
}

impl Watch {
    fn new(a: &WatchArgs, header: Header, start: Instant, outputs: Outputs) -> Watch {
        let options = Options::default().modes(a.mode.modes()).every(Every::Burst).min_period_s(a.periods.shortest_s());
        Watch {
            samples: Samples::new(header.clone()),
            session: Session::new(None, options),
            line: LiveLine::new(a.verbosity.quiet == 0),
            outputs,
            start,
            header,
            updated: false,
        }
    }

    /// Takes the samples until the program has ended; gives its exit code.
    fn follow(&mut self, events: &Receiver<Event>) -> Result<(Ending, Option<u8>)> {
        loop {
            match events.recv_timeout(LOOK) {
                Ok(Event::Samples(rows, named)) => {
                    for (rank, pid, name) in named {
                        self.outputs.file.put(|| samples::process_line(rank, pid, &name));
                    }
                    // one by one, as they are read from a file
                    for x in &rows {
                        self.take(x)?;
                    }
                }
                Ok(Event::Ended(ending, code)) => {
                    self.outputs.file.put(|| samples::ending_line(&ending));
                    self.predict(true)?;
                    self.line.clear();
                    return Ok((ending, code));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.line.clear();
                    return Err(Error::new(ErrorKind::Io, "the reading of the counters ended early"));
                }
            }
            self.outputs.file.flush(false);
            self.line.draw(self.start.elapsed().as_secs_f64());
        }
    }

    fn take(&mut self, x: &Interval) -> Result<()> {
        self.outputs.file.put(|| samples::sample_line(x));
        self.samples.push(*x);
        self.line.feed(x);
        self.session.feed(std::slice::from_ref(x));
        self.updated = true;
        self.predict(false)
    }

    /// Predicts if that is due, or at the end.
    fn predict(&mut self, end: bool) -> Result<()> {
        if !(self.session.due() || end && self.updated) {
            return Ok(());
        }
        let p = self.session.predict();
        self.updated = false;
        self.line.note(&p);
        if self.outputs.predictions.are_wanted() {
            let mut p = p.stamped(self.header.clock(), SystemTime::now());
            remedy::name_options(&mut p.warnings);
            self.outputs.predictions.put(json::line(&p)?);
        }
        Ok(())
    }

    /// Makes the report. A command's exit code is kept, unless it is 0 and an output fails.
    fn finish(self, a: &WatchArgs, ending: &Ending, code: Option<u8>) -> Result<u8> {
        let Watch { samples, line, outputs: Outputs { file, predictions, json }, .. } = self;
        let mut worst = code.unwrap_or(0);
        let mut note = |done: Result<()>| {
            if let Err(e) = done {
                output::error(&remedy::of_error(&e));
                worst = if worst == 0 { e.exit_code() } else { worst };
            }
        };
        let dropped = predictions.finish();
        if let Ok(n @ 1..) = dropped {
            line.message(&format!("{n} predictions were dropped because their reader is slow"));
        }
        note(dropped.map(|_| ()));
        note(file.finish());
        let mut trace = samples.into_trace(Some(ending));
        trace.path = path(a);
        match analyse(a, &trace) {
            Ok(analysis) => note(show(a, &trace, analysis, json)),
            Err(e) if e.kind() == ErrorKind::Empty && code.is_some() => {
                if a.verbosity.quiet < 2 {
                    output::message(&format!("{}: {}", trace.path, nothing(ending)));
                }
            }
            Err(e) => note(Err(e)),
        }
        Ok(worst)
    }
}

/// The trace as the report names it: the file that has it, else what was watched.
fn path(a: &WatchArgs) -> String {
    match (&a.output, a.pid, a.command.first()) {
        (Some(file), ..) => file.display().to_string(),
        (None, Some(pid), _) => format!("process {pid}"),
        (None, None, program) => program.map_or_else(String::new, |p| p.to_string_lossy().into_owned()),
    }
}

fn nothing(e: &Ending) -> String {
    let all = "no bytes were counted";
    if e.unreadable > 0 {
        format!("{all}: the counters of {} processes could not be read", e.unreadable)
    } else {
        all.into()
    }
}

/// Which signals the report is on.
fn mode(signals: PredictedSignals) -> ModeChoice {
    match signals.modes()[..] {
        [one] => ModeChoice::One(one),
        _ => ModeChoice::Auto,
    }
}

fn analyse(a: &WatchArgs, trace: &Trace) -> Result<Analysis> {
    let options = analysis::Options::default().mode(mode(a.mode)).min_period_s(a.periods.shortest_s()).patterns(false);
    let mut analysis = analysis::analyze(trace, &options)?;
    remedy::name_options(&mut analysis.report.warnings);
    Ok(analysis)
}

/// Writes the report to wherever it is wanted: as text to standard error after a command, whose standard output is its own.
fn show(a: &WatchArgs, trace: &Trace, analysis: Analysis, json: Option<Lines>) -> Result<()> {
    if let Some(mut lines) = json {
        lines.write(&json::line(&analysis.report)?)?;
        lines.finish()?;
    }
    if let Some(folder) = &a.svg {
        let stem = Path::new(&trace.path).file_name().map_or("watch".into(), |n| n.to_string_lossy().into_owned());
        let evidence = analysis.evidence.clone();
        for (signal, evidence) in analysis.report.signals.iter().zip(evidence) {
            let view = View::new(trace, signal.mode, &Selection::default(), evidence);
            for (kind, picture) in figure::pictures(signal, &view, &Look::default(), &[]) {
                output::write_into(folder, &format!("{stem}.{}.{kind}.svg", signal.mode.name()), &picture)?;
            }
        }
    }
    text_of(a, &analysis)?;
    match &a.html {
        Some(path) => output::whole(path, &report::page_of(trace, analysis)?),
        None => Ok(()),
    }
}

fn text_of(a: &WatchArgs, analysis: &Analysis) -> Result<()> {
    let taken = |path: &Option<std::path::PathBuf>| path.as_deref().is_some_and(|p| p.as_os_str() == "-");
    if a.verbosity.quiet > 0 {
        return Ok(());
    }
    let style = |color| text::Style { color, verbose: a.verbosity.verbose > 0, several: false };
    if a.pid.is_some() {
        if taken(&a.json) || taken(&a.html) || taken(&a.predictions) {
            return Ok(());
        }
        return output::print_text(&text::report(&analysis.report, style(output::wants_color(&io::stdout()))));
    }
    if let Some((Width(columns), _)) = terminal_size_of(io::stderr()) {
        text::wrap_at(usize::from(columns));
    }
    let report = text::report(&analysis.report, style(output::wants_color(&io::stderr())));
    output::message(report.trim_end_matches('\n'));
    Ok(())
}
