//! One watch from its start to the report.

use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use std::{thread, vec};

use terminal_size::{Width, terminal_size_of};

use super::super::output::{self, Lines};
use super::super::predict::Signals as PredictedSignals;
use super::super::{remedy, report};
use super::WatchArgs;
use super::line::LiveLine;
use super::outputs::{PredictionLines, SampleFile};
use super::program::{self, Signals};
use super::sampler::{Event, Plan, Sampler, Target};
use crate::analysis::{self, Analysis, ModeChoice, Selection};
use crate::formats::samples::{self, Ending, Header, SAMPLES_SCHEMA, Samples};
use crate::formats::tail::{Faults, Message};
use crate::online::follow::{Automaton, Follower, NOTICE, Next, Plan as FollowPlan, Sink, Source};
use crate::online::source::ProcTree;
use crate::online::{Every, Options, Prediction};
use crate::record::{Clock, Interval, Trace};
use crate::render::figure::{self, Look, View};
use crate::render::{json, text};
use crate::{Error, ErrorKind, Result};

/// Where the kernel shows processes.
const PROC: &str = "/proc";
/// Events that wait for the analysis; beyond it the readings wait.
const WAITING: usize = 4096;

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
    let outputs = Outputs::create(a)?;
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
    let (sender, receiver) = sync_channel(WAITING);
    let mut counters = Counters::new(header, outputs.file, receiver);
    let mut shown =
        Shown { line: LiveLine::new(a.verbosity.quiet == 0), predictions: outputs.predictions, start: plan.start };
    let sampler = Sampler::new(plan, tree, target, signals);
    let thread = thread::Builder::new().name("samples".into()).spawn(move || sampler.run(&sender))?;
    let followed = Follower::new(follow_plan(a)).run(&mut counters, &mut shown, &AtomicBool::new(false));
    shown.line.clear();
    followed?;
    if thread.join().is_err() {
        return Err(Error::new(ErrorKind::Io, "the reading of the counters failed"));
    }
    finish(a, counters, shown, outputs.json)
}

/// The program is one job; it is predicted as from a file of samples.
fn follow_plan(a: &WatchArgs) -> FollowPlan {
    FollowPlan {
        options: Options::default().modes(a.mode.modes()).min_period_s(a.periods.shortest_s()),
        every: Some(Every::Burst),
        most_jobs: 1,
        idle_exit: None,
        keeps_state: false,
    }
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

/// The counters of the program: samples as they come, which are kept for the report and for the file.
struct Counters {
    events: Receiver<Event>,
    /// Samples that have come and not been taken.
    rows: vec::IntoIter<Interval>,
    header: Header,
    samples: Samples,
    file: SampleFile,
    /// How the program ended, and its exit code.
    ended: Option<(Ending, Option<u8>)>,
}

impl Counters {
    fn new(header: Header, mut file: SampleFile, events: Receiver<Event>) -> Counters {
        file.put(|| samples::header_line(&header));
        file.flush(true);
        let (rows, samples) = (Vec::new().into_iter(), Samples::new(header.clone()));
        Counters { events, rows, header, samples, file, ended: None }
    }
}

impl Source for Counters {
    /// Samples come one by one, as they are read from a file.
    fn next(&mut self) -> Result<Next> {
        loop {
            if let Some(x) = self.rows.next() {
                self.file.put(|| samples::sample_line(&x));
                self.samples.push(x);
                return Ok(Next::Message(Message { transfers: vec![x], ..Message::default() }));
            }
            self.file.flush(false);
            match self.events.recv_timeout(NOTICE) {
                Ok(Event::Samples(rows, named)) => {
                    for (rank, pid, name) in named {
                        self.file.put(|| samples::process_line(rank, pid, &name));
                    }
                    self.rows = rows.into_iter();
                }
                Ok(Event::Ended(ending, code)) => {
                    self.file.put(|| samples::ending_line(&ending));
                    self.ended = Some((ending, code));
                    return Ok(Next::End);
                }
                Err(RecvTimeoutError::Timeout) => return Ok(Next::Nothing),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::new(ErrorKind::Io, "the reading of the counters ended early"));
                }
            }
        }
    }

    fn clock(&self) -> Clock {
        self.header.clock()
    }

    /// The report says it.
    fn nothing_came(&self, _: &Faults) -> Option<Error> {
        None
    }
}

/// The output while the program runs.
struct Shown {
    line: LiveLine,
    predictions: PredictionLines,
    start: Instant,
}

impl Sink for Shown {
    fn feed(&mut self, _: &str, transfers: &[Interval]) {
        transfers.iter().for_each(|x| self.line.feed(x));
    }

    fn take(&mut self, mut p: Prediction, _: &Automaton) -> Result<()> {
        self.line.note(&p);
        if self.predictions.are_wanted() {
            remedy::name_options(&mut p.warnings);
            self.predictions.put(json::line(&p)?);
        }
        Ok(())
    }

    fn turn(&mut self) {
        self.line.draw(|| self.start.elapsed().as_secs_f64());
    }

    fn dropped(&self) -> u64 {
        self.predictions.dropped()
    }
}

/// Makes the report; gives the exit code. A command's is kept, unless it is 0 and an output fails.
fn finish(a: &WatchArgs, counters: Counters, shown: Shown, json: Option<Lines>) -> Result<u8> {
    let Counters { samples, file, ended, .. } = counters;
    let (ending, code) = ended.unwrap_or_default();
    let mut worst = code.unwrap_or(0);
    let mut note = |done: Result<()>| {
        if let Err(e) = done {
            output::error(&remedy::of_error(&e));
            worst = if worst == 0 { e.exit_code() } else { worst };
        }
    };
    let dropped = shown.predictions.finish();
    if let Ok(n @ 1..) = dropped {
        shown.line.message(&format!("{n} predictions were dropped because their reader is slow"));
    }
    note(dropped.map(|_| ()));
    note(file.finish());
    let mut trace = samples.into_trace(Some(&ending));
    trace.path = path(a);
    match analyse(a, &trace) {
        Ok(analysis) => note(show(a, &trace, analysis, json)),
        Err(e) if e.kind() == ErrorKind::Empty && code.is_some() => {
            if a.verbosity.quiet < 2 {
                output::message(&format!("{}: {}", trace.path, nothing(&ending)));
            }
        }
        Err(e) => note(Err(e)),
    }
    Ok(worst)
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
