//! How many answers change if a threshold is halved or doubled, for every threshold of every table.
//!
//! `cargo run --release --features sensitivity --example sensitivity -- [--table NAME] [--row NAME]... [--online-every N] FOLDER...`
//!
//! Reads every trace below the folders that `iophase analyze` can read, at most 3 MB each. Prints a JSON object: for each table
//! its traces and, for each threshold, the numbers of traces with another answer at half and at double the value. For `formats` that is
//! another row, time or warning; for
//! `period::chains` that is another verdict, number of periods, period or next burst (1 % of the period); for `pattern`
//! patterns that hold more than 5 % of the accesses in another way; for `classify` the classes or the advice of any file, with
//! and without a model of the same trace; for `online` any prediction or change point that differs while one trace in N is
//! replayed. `scripts/sensitivity.py` writes the numbers into the tables.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output")]

use iophase::analysis::{Mode, Selection};
use iophase::classify::{self, Classes, Model};
use iophase::formats::{self, Detail, ReadOptions, Source};
use iophase::internals::period::chains;
use iophase::internals::signal::Activity;
use iophase::internals::signal::profile::Profile;
use iophase::online::{Options, Session};
use iophase::pattern;
use iophase::record::{Data, Interval, Trace};
use iophase::thresholds::{FACTORS, tables};
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Larger files are left out.
const LARGEST: u64 = 3_000_000;
/// Transfers of a trace that are replayed.
const REPLAYED: usize = 20_000;
/// Relative difference of a time that makes another answer.
const SAME: f64 = 0.01;
/// Share of the accesses in other patterns that makes another answer.
const MOVED: f64 = 0.05;

/// One trace, ready for every room.
struct Job {
    path: PathBuf,
    trace: Trace,
    profiles: Vec<Profile>,
    run_s: f64,
    events: Vec<Interval>,
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
        let mut events: Vec<Interval> = match &trace.data {
            Data::Requests(rows) => rows.iter().map(Interval::from).collect(),
            Data::Intervals(rows) => rows.iter().collect(),
        };
        events.retain(|e| e.op.moves_bytes() && !trace.files.is_system(e.file));
        events.sort_by(|a, b| a.end.total_cmp(&b.end));
        events.truncate(REPLAYED);
        (!profiles.is_empty()).then_some(Job { path: path.to_owned(), trace, profiles, run_s, events })
    }

    /// Origin, rows and warnings of the trace, read again.
    fn rows(&self) -> Answer {
        let read = ReadOptions::default().detail(Detail::Calls);
        let trace = Source::open(&self.path, &read.limits).and_then(|source| formats::read(&source, None, &read));
        let words = trace.map(|t| vec![format!("{} {:?} {:?}", t.origin_s, t.data, t.warnings)]);
        Answer { words: words.unwrap_or_default(), ..Answer::default() }
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

    /// The accesses of each pattern, and of none.
    fn patterns(&self) -> Answer {
        let mut answer = Answer::default();
        if let Data::Requests(requests) = &self.trace.data {
            let found = pattern::detect(requests, |_| true, pattern::Options::default());
            let word = |p: &pattern::Pattern| {
                format!("{:?} {} {:?} {} {:?} {:?}", p.op, p.rank, p.file, p.start_offset, p.access_size(), p.levels())
            };
            for pattern in &found.patterns {
                *answer.accesses.entry(word(pattern)).or_default() += pattern.records;
            }
            answer.accesses.insert("none".into(), found.unmatched_records);
        }
        answer
    }

    /// The classes of every file and what a model of this trace expects.
    fn classes(&self) -> Answer {
        let (selection, options) = (Selection::default(), classify::Options::default());
        let mut model = Model::default();
        let learned = classify::train(&self.trace, &selection, options, &mut model);
        let expected = learned.and_then(|_| classify::classify(&self.trace, &selection, options.model(Some(&model))));
        let found = [classify::classify(&self.trace, &selection, options), expected];
        Answer { words: found.into_iter().flatten().flat_map(words).collect(), ..Answer::default() }
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

/// One word for each file: its global classes, its metadata accesses, and what is expected.
fn words(classes: Classes) -> Vec<String> {
    let file = |f: iophase::classify::FileClasses| {
        let class = |g: &iophase::classify::GlobalClass| {
            format!("{:?}", (&g.ranks, g.mix, g.sequentiality, g.size, g.staggered, g.classifier, &g.advice))
        };
        let global: Vec<String> = f.global.iter().map(class).collect();
        format!("{global:?} {:?} {:?}", f.aside.map(|a| a.accesses), f.expected.map(|e| e.global))
    };
    classes.files.into_iter().map(file).collect()
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
    accesses: BTreeMap<String, u64>,
}

impl Answer {
    fn same(&self, other: &Answer) -> bool {
        let near = |(a, b): (&(f64, f64), &(f64, f64))| (a.0 - b.0).abs().max((a.1 - b.1).abs()) <= SAME * a.0.abs();
        let alike = |(word, n): (&String, &u64)| *n.min(other.accesses.get(word).unwrap_or(&0));
        let alike: u64 = self.accesses.iter().map(alike).sum();
        self.words == other.words
            && alike as f64 >= (1.0 - MOVED) * self.accesses.values().sum::<u64>() as f64
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
    let (mut table, mut only, mut every, mut paths) = (None, Vec::new(), 8, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--table" => table = arguments.next(),
            "--row" => only.extend(arguments.next()),
            "--online-every" => every = arguments.next().ok_or("--online-every needs a number")?.parse()?,
            folder => files(Path::new(folder), &mut paths)?,
        }
    }
    std::panic::set_hook(Box::new(|_| {}));
    let jobs: Vec<Job> = paths.par_iter().filter_map(|p| Job::read(p)).collect();
    let some: Vec<&Job> = jobs.iter().step_by(every).collect();
    let all: Vec<&Job> = jobs.iter().collect();
    let with_offsets: Vec<&Job> = jobs.iter().filter(|j| j.patterns().accesses.len() > 1).collect();
    let mut out = Map::new();
    for room in tables() {
        if table.as_ref().is_some_and(|t| t != room.name()) {
            continue;
        }
        let (jobs, answer): (&[&Job], fn(&Job) -> Answer) = match room.name() {
            "formats" => (&all, Job::rows),
            "online" => (&some, Job::predictions),
            "pattern" => (&with_offsets, Job::patterns),
            "classify" => (&with_offsets, Job::classes),
            _ => (&all, Job::periods),
        };
        let set: Vec<Answer> = jobs.par_iter().map(|j| answer(j)).collect();
        let mut rows = Map::new();
        let asked = |field: &str| only.is_empty() || only.iter().any(|o| o == field);
        for (f, field) in room.fields().iter().enumerate().filter(|(_, field)| asked(field)) {
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
