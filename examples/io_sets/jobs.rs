//! What jobs do: synthetic mixes, and traces replayed.

use std::path::Path;

use iophase::formats;
use iophase::internals::workload::Random;
use iophase::record::{Data, Interval};

use crate::sim::{BANDWIDTH, Job, Span};

/// A computation and the I/O after it.
#[derive(Debug, Clone)]
pub struct Phase {
    pub compute_s: f64,
    /// Bytes of each call.
    pub calls: Vec<f64>,
    /// The truth: mean time between starts of the bursts of the job at this time, alone, seconds.
    pub characteristic_s: f64,
}

/// What a job does next.
#[derive(Debug, Clone)]
pub enum Plan {
    Cycle(Cycle),
    Replay(Vec<Phase>, usize),
}

/// The same again and again.
#[derive(Debug, Clone)]
pub struct Cycle {
    /// Alone, seconds.
    pub period_s: f64,
    pub io_s: f64,
    /// Standard deviation of computations and of bytes, as a share.
    pub jitter: f64,
    /// Computations and bytes are exponentially distributed.
    pub aperiodic: bool,
    /// From a time on everything takes this much longer.
    pub change: Option<(f64, f64)>,
    /// Small writes between bursts, and how many are done.
    pub logs: u32,
    pub logged: u32,
}

/// Calls of a burst.
const CALLS: usize = 8;
/// Share of a burst that a small write between bursts has.
const LOG: f64 = 1e-3;

impl Cycle {
    fn next(&mut self, now_s: f64, random: &mut Random) -> Phase {
        let longer = self.change.filter(|(at_s, _)| now_s >= *at_s).map_or(1.0, |(_, factor)| factor);
        let around_one = |random: &mut Random| match self.aperiodic {
            true => -(1.0 - random.unit()).ln(),
            false => (1.0 + self.jitter * random.normal()).max(0.1),
        };
        let compute_s = longer * (self.period_s - self.io_s) / f64::from(self.logs + 1) * around_one(random);
        let bytes = longer * self.io_s * BANDWIDTH;
        let calls = if self.logged < self.logs {
            self.logged += 1;
            vec![LOG * bytes]
        } else {
            self.logged = 0;
            vec![bytes * around_one(random) / CALLS as f64; CALLS]
        };
        Phase { compute_s, calls, characteristic_s: longer * self.period_s }
    }
}

impl Plan {
    pub fn next(&mut self, now_s: f64, random: &mut Random) -> Phase {
        match self {
            Plan::Cycle(c) => c.next(now_s, random),
            Plan::Replay(phases, at) => {
                let phase = phases[*at % phases.len()].clone();
                *at += 1;
                phase
            }
        }
    }
}

/// How jobs are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Workload {
    /// One job of a short period among fifteen of a long one.
    OneAmongFifteen,
    /// Five jobs around each of 10, 100 and 1000 s.
    Decades,
    /// As `Decades`; a third of the jobs takes three times as long from the middle on.
    Changes,
    /// As `Decades`, with six small writes between bursts.
    Logs,
    /// The sample traces, as they are and ten and a hundred times as slow.
    Replayed,
}

/// What is varied.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    pub workload: Workload,
    /// I/O of all jobs, alone, as a share of the time.
    pub load: f64,
    pub jitter: f64,
    /// Share of the jobs that is aperiodic.
    pub aperiodic: f64,
    /// Of the standard time.
    pub length: f64,
}

impl Workload {
    pub const ALL: [Workload; 5] =
        [Workload::OneAmongFifteen, Workload::Decades, Workload::Changes, Workload::Logs, Workload::Replayed];

    pub fn name(self) -> &'static str {
        match self {
            Workload::OneAmongFifteen => "one-among-fifteen",
            Workload::Decades => "decades",
            Workload::Changes => "changes",
            Workload::Logs => "logs",
            Workload::Replayed => "replayed",
        }
    }

    /// The setting of the tables.
    pub fn setting(self) -> Setting {
        let load = if self == Workload::OneAmongFifteen { 1.0 } else { 0.7 };
        Setting { workload: self, load, jitter: 0.05, aperiodic: 0.0, length: 1.0 }
    }
}

impl Setting {
    /// Twelve of the longest cycles, the first four of them unmeasured.
    pub fn span(&self) -> Span {
        let longest_s = if self.workload == Workload::OneAmongFifteen { 384.0 } else { 1000.0 };
        Span { warm_s: 4.0 * longest_s * self.length, end_s: 12.0 * longest_s * self.length }
    }

    /// # Errors
    ///
    /// A sample trace cannot be read.
    pub fn jobs(&self, seed: u64) -> iophase::Result<Vec<Job>> {
        if self.workload == Workload::Replayed {
            return replayed(self.load, seed);
        }
        let mut random = Random::new(seed, 0);
        let cycles = match self.workload {
            Workload::OneAmongFifteen => [19.2].into_iter().chain([384.0; 15]).map(|p| (p, p / 16.0)).collect(),
            _ => decades(&mut random),
        };
        let load: f64 = cycles.iter().map(|(period_s, io_s)| io_s / period_s).sum();
        let middle_s = 0.5 * (self.span().warm_s + self.span().end_s);
        let cycle = |(number, (period_s, io_s)): (usize, &(f64, f64))| Cycle {
            period_s: *period_s,
            io_s: io_s * self.load / load,
            jitter: self.jitter,
            // spread over the classes, which have five jobs each
            aperiodic: ((number * 4 % 15) as f64) < 15.0 * self.aperiodic,
            change: (self.workload == Workload::Changes && number % 3 == 0).then_some((middle_s, 3.0)),
            logs: if self.workload == Workload::Logs { 6 } else { 0 },
            logged: 0,
        };
        let job = |(number, cycle): (usize, Cycle)| {
            let class = match self.workload {
                Workload::OneAmongFifteen => format!("{} s", cycle.period_s),
                _ => format!("{} s", 10u32.pow(1 + number as u32 / 5)),
            };
            Job::new(class, Plan::Cycle(cycle), Random::new(seed, 1 + number as u64))
        };
        Ok(cycles.iter().enumerate().map(cycle).enumerate().map(job).collect())
    }
}

/// Period and time in I/O of fifteen jobs, five of each order of magnitude. What share of the load each has is drawn.
fn decades(random: &mut Random) -> Vec<(f64, f64)> {
    let periods = [10.0, 100.0, 1000.0].into_iter().flat_map(|p| [p; 5]);
    let mut of = |p: f64| {
        let period_s = p * (1.0 + 0.1 * random.normal()).max(0.5);
        (period_s, period_s * (0.2 + random.unit()))
    };
    periods.map(&mut of).collect()
}

/// The sample traces with their true periods in seconds, each until a time of the trace.
const SAMPLES: [(&str, &[(f64, f64)]); 4] = [
    ("stable", &[(f64::INFINITY, 2.0)]),
    ("change", &[(18.5, 2.0), (f64::INFINITY, 3.5)]),
    ("two-periods", &[(f64::INFINITY, 3.0)]),
    ("aperiodic", &[(f64::INFINITY, 2.5)]),
];

/// Rows closer than this many seconds belong to one I/O phase of the trace.
const TOGETHER_S: f64 = 0.1;

fn replayed(load: f64, seed: u64) -> iophase::Result<Vec<Job>> {
    let mut traces = Vec::new();
    for (name, periods) in SAMPLES {
        let path = format!("{}/data/{name}.darshan", env!("CARGO_MANIFEST_DIR"));
        traces.push((name, phases(Path::new(&path), periods)?));
    }
    let io_s = |p: &Phase| p.calls.iter().sum::<f64>() / BANDWIDTH;
    let share = |phases: &[Phase]| {
        let io: f64 = phases.iter().map(io_s).sum();
        io / phases.iter().map(|p| p.compute_s + io_s(p)).sum::<f64>()
    };
    let scales = [1.0, 10.0, 100.0];
    let less = load / (scales.len() as f64 * traces.iter().map(|(_, phases)| share(phases)).sum::<f64>());
    let mut jobs = Vec::new();
    for scale in scales {
        for (name, phases) in &traces {
            let scaled = |p: &Phase| Phase {
                compute_s: scale * (p.compute_s + (1.0 - less) * io_s(p)).max(0.0),
                calls: p.calls.iter().map(|bytes| scale * less * bytes).collect(),
                characteristic_s: scale * p.characteristic_s,
            };
            let plan = Plan::Replay(phases.iter().map(scaled).collect(), 0);
            jobs.push(Job::new(format!("{name} x{scale}"), plan, Random::new(seed, jobs.len() as u64)));
        }
    }
    Ok(jobs)
}

/// The I/O phases of a trace. Each takes as long alone as it did in the trace; its bytes are those of its rows in proportion.
fn phases(path: &Path, periods: &[(f64, f64)]) -> iophase::Result<Vec<Phase>> {
    let read = formats::ReadOptions::default();
    let trace = formats::read(&formats::Source::open(path, &read.limits)?, None, &read)?;
    let mut rows: Vec<Interval> = match &trace.data {
        Data::Requests(rows) => rows.iter().map(Interval::from).collect(),
        Data::Intervals(rows) => rows.iter().collect(),
    };
    rows.retain(|r| r.op.moves_bytes() && r.bytes > 0.0);
    rows.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut spans: Vec<(f64, f64)> = Vec::new();
    for r in &rows {
        match spans.last_mut() {
            Some(last) if r.start <= last.1 + TOGETHER_S => last.1 = last.1.max(r.end),
            _ => spans.push((r.start, r.end)),
        }
    }
    let mut before_s = 0.0;
    let phase = |(start_s, end_s): &(f64, f64)| {
        let compute_s = start_s - before_s;
        before_s = *end_s;
        let characteristic_s = periods.iter().find(|(until_s, _)| start_s < until_s).map_or(f64::NAN, |(_, p)| *p);
        Phase { compute_s, calls: vec![(end_s - start_s) * BANDWIDTH / CALLS as f64; CALLS], characteristic_s }
    };
    Ok(spans.iter().map(phase).collect())
}
