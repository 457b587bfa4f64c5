//! How many answers change if a threshold is halved or doubled, for every threshold of every table.
//!
//! `cargo run --release --features sensitivity --example sensitivity -- [--table NAME] [--online-every N] FOLDER...`
//!
//! Reads every trace below the folders that `iophase analyze` can read, at most 3 MB each. Prints a JSON object: for each table
//! its traces and, for each threshold, the numbers of traces with another answer at half and at double the value. For
//! `period::chains` that is another verdict, number of periods, period or next burst (1 % of the period); for `online` any
//! prediction or change point that differs while one trace in N is replayed. `scripts/sensitivity.py` writes the numbers into
//! the tables.

use iophase::formats::{self, ReadOptions, Source};
use iophase::online::{Event, Options, Session};
use iophase::period::chains;
use iophase::record::{Op, Trace};
use iophase::signal::profile::Profile;
use iophase::signal::{Activity, Mode, Selection};
use iophase::thresholds::{FACTORS, tables};
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Larger files are left out.
const LARGEST: u64 = 3_000_000;
/// Transfers of a trace that are replayed.
const REPLAYED: usize = 20_000;
/// Relative difference of a time that makes another answer.
const SAME: f64 = 0.01;

/// One trace, ready for both pipelines.
struct Job {
    profiles: Vec<Profile>,
    run_s: f64,
    events: Vec<Event>,
}

impl Job {
    fn read(path: &Path) -> Option<Job> {
        let read = ReadOptions::default();
        let source = Source::open(path, &read.limits).ok()?;
        let trace = formats::read(&source, None, &read).ok()?;
        let profiles: Vec<Profile> =
            [Mode::Write, Mode::Read].map(|m| profile(&trace, m)).into_iter().flatten().collect();
        let seen = profiles.iter().map(Profile::duration).fold(0.0, f64::max);
        let run_s = trace.job.as_ref().and_then(|j| j.run_time_s).unwrap_or(0.0).max(seen);
        let mut events: Vec<Event> = [(Mode::Write, Op::Write), (Mode::Read, Op::Read)]
            .into_iter()
            .flat_map(|(mode, op)| {
                let selection = Selection::default();
                let activity = Activity::new(&trace, mode, &selection);
                let event = |s: iophase::signal::Span| Event { op, start_s: s.start, end_s: s.end, bytes: s.bytes };
                activity.spans().map(event).collect::<Vec<_>>()
            })
            .collect();
        events.sort_by(|a, b| a.end_s.total_cmp(&b.end_s));
        events.truncate(REPLAYED);
        (!profiles.is_empty()).then_some(Job { profiles, run_s, events })
    }

    /// Verdicts, and (period, next burst) of every period found.
    fn periods(&self) -> Answer {
        let mut answer = Answer::default();
        for profile in &self.profiles {
            let found = chains::detect(profile, chains::Options::for_run(self.run_s));
            answer.words.push(format!("{:?}", found.verdict));
            answer.times.extend(found.periods.iter().map(|p| (p.period_s, p.next.start_s)));
        }
        answer
    }

    /// (period, next burst) of every prediction of a replay; words say which were changes.
    fn predictions(&self) -> Answer {
        let mut answer = Answer::default();
        let mut session = Session::new(None, Options::default());
        for event in &self.events {
            session.feed(std::slice::from_ref(event));
            if session.due() {
                let p = session.predict();
                answer.words.push(format!("{} {}", p.change_point, p.periodic));
                answer.times.extend(p.period_s.zip(p.next_start_s));
            }
        }
        answer
    }
}

fn profile(trace: &Trace, mode: Mode) -> Option<Profile> {
    let selection = Selection::default();
    let activity = Activity::new(trace, mode, &selection);
    let profile = Profile::from_counted(activity.spans(), activity.rows());
    (!profile.is_empty()).then_some(profile)
}

#[derive(Default)]
struct Answer {
    words: Vec<String>,
    times: Vec<(f64, f64)>,
}

impl Answer {
    fn same(&self, other: &Answer) -> bool {
        let near = |(a, b): (&(f64, f64), &(f64, f64))| (a.0 - b.0).abs().max((a.1 - b.1).abs()) <= SAME * a.0.abs();
        self.words == other.words
            && self.times.len() == other.times.len()
            && self.times.iter().zip(&other.times).all(near)
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)?.filter_map(|e| Some(e.ok()?.path())).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found)?;
        } else if path.metadata()?.len() <= LARGEST && !path.ends_with("truth.json") && !path.ends_with("suite.json") {
            found.push(path);
        }
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let (mut table, mut every, mut paths) = (None, 8, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--table" => table = arguments.next(),
            "--online-every" => every = arguments.next().ok_or("--online-every needs a number")?.parse()?,
            folder => files(Path::new(folder), &mut paths)?,
        }
    }
    std::panic::set_hook(Box::new(|_| {}));
    let jobs: Vec<Job> = paths.par_iter().filter_map(|p| Job::read(p)).collect();
    let some: Vec<&Job> = jobs.iter().step_by(every).collect();
    let all: Vec<&Job> = jobs.iter().collect();
    let mut out = Map::new();
    for room in tables() {
        if table.as_ref().is_some_and(|t| t != room.name()) {
            continue;
        }
        let (jobs, answer): (&[&Job], fn(&Job) -> Answer) =
            if room.name() == "online" { (&some, Job::predictions) } else { (&all, Job::periods) };
        let set: Vec<Answer> = jobs.par_iter().map(|j| answer(j)).collect();
        let mut rows = Map::new();
        for (f, field) in room.fields().iter().enumerate() {
            let changed = |k: usize| {
                room.vary(Some((f, k)));
                // a value far from the one set may break an assumption, which is another answer as well
                let answer = |job: &Job| std::panic::catch_unwind(AssertUnwindSafe(|| answer(job))).ok();
                let other = |(job, set): (&&Job, &Answer)| !answer(job).is_some_and(|a| a.same(set));
                jobs.par_iter().zip(&set).filter(|x| other(*x)).count()
            };
            let counts: Vec<usize> = (0..FACTORS.len()).map(changed).collect();
            eprintln!("{} {field} {counts:?}", room.name());
            rows.insert((*field).into(), json!(counts));
        }
        room.vary(None);
        out.insert(room.name().into(), json!({ "traces": jobs.len(), "rows": rows }));
    }
    println!("{}", Value::Object(out));
    Ok(())
}
