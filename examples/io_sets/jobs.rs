//! What jobs do: synthetic mixes, and traces replayed.

use std::ops::Range;
use std::path::Path;

use clap::ValueEnum;
use iophase::formats;
use iophase::internals::workload::Random;
use iophase::record::{Data, Interval};

use crate::sim::{BANDWIDTH, Job};

/// A computation and the I/O after it.
#[derive(Debug, Clone)]
pub struct Phase {
    pub compute_s: f64,
    /// Bytes of each call.
    pub calls: Vec<f64>,
    /// The truth: mean time between starts of the bursts of the job at this time, alone, seconds.
    pub characteristic_s: f64,
}

/// What a job does again and again.
pub enum Plan {
    /// Period and time in I/O alone, seconds, and their jitter; if it is aperiodic; from when on all takes how much longer.
    Cycle { period_s: f64, io_s: f64, jitter: f64, aperiodic: bool, change: Option<(f64, f64)> },
    /// Phases, and the next one.
    Replay(Vec<Phase>, usize),
}

/// Calls of a burst.
const CALLS: usize = 8;

impl Plan {
    pub fn next(&mut self, now_s: f64, random: &mut Random) -> Phase {
        let (period_s, io_s, jitter, aperiodic, change) = match self {
            Plan::Cycle { period_s, io_s, jitter, aperiodic, change } => {
                (*period_s, *io_s, *jitter, *aperiodic, change)
            }
            Plan::Replay(phases, at) => {
                *at += 1;
                return phases[(*at - 1) % phases.len()].clone();
            }
        };
        let longer = change.filter(|(at_s, _)| now_s >= *at_s).map_or(1.0, |(_, factor)| factor);
        let around_one = |random: &mut Random| match aperiodic {
            true => -(1.0 - random.unit()).ln(),
            false => (1.0 + jitter * random.normal()).max(0.1),
        };
        let compute_s = longer * (period_s - io_s) * around_one(random);
        let calls = vec![longer * io_s * BANDWIDTH * around_one(random) / CALLS as f64; CALLS];
        Phase { compute_s, calls, characteristic_s: longer * period_s }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Workload {
    /// One job of a short period among fifteen of a long one.
    OneAmongFifteen,
    /// Five jobs around each of 10, 100 and 1000 s.
    Decades,
    /// The same; a third of the jobs takes three times as long from the middle of the measured time on.
    Changes,
    /// The sample traces, as they are and ten and a hundred times as slow.
    Replayed,
}

/// A workload, and what can be varied.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    workload: Workload,
    /// I/O of all jobs, alone, as a share of the time.
    pub load: f64,
    pub jitter: f64,
    /// Share of the jobs that is aperiodic.
    pub aperiodic: f64,
}

type Axis = (&'static str, &'static [f64], fn(&mut Setting, f64));
/// What a sweep varies.
pub const AXES: [Axis; 3] = [
    ("load", &[0.3, 0.5, 0.7, 0.9], |s, x| s.load = x),
    ("jitter", &[0.0, 0.05, 0.1, 0.2, 0.4], |s, x| s.jitter = x),
    ("share of aperiodic jobs", &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0], |s, x| s.aperiodic = x),
];

impl Workload {
    /// The setting of the tables.
    pub fn setting(self) -> Setting {
        let load = if self == Workload::OneAmongFifteen { 1.0 } else { 0.7 };
        Setting { workload: self, load, jitter: 0.05, aperiodic: 0.0 }
    }
}

impl Setting {
    /// Simulated time, twelve of the longest cycles, seconds.
    pub fn end_s(&self) -> f64 {
        12.0 * if self.workload == Workload::OneAmongFifteen { 384.0 } else { 1000.0 }
    }

    /// Jobs that are alike.
    pub fn classes(&self) -> Vec<Range<usize>> {
        match self.workload {
            Workload::OneAmongFifteen => vec![0..1, 1..16],
            Workload::Replayed => vec![0..4, 4..8, 8..12],
            _ => vec![0..5, 5..10, 10..15],
        }
    }

    /// Fails if a sample trace cannot be read.
    pub fn jobs(&self, seed: u64) -> iophase::Result<Vec<Job>> {
        if self.workload == Workload::Replayed {
            return replayed(self.load, seed);
        }
        let mut random = Random::new(seed, 0);
        // period, and share of the load
        let jobs: Vec<(f64, f64)> = match self.workload {
            Workload::OneAmongFifteen => [19.2].into_iter().chain([384.0; 15]).map(|p| (p, 1.0)).collect(),
            _ => {
                (0..15).map(|i| (10f64.powi(1 + i / 5) * (1.0 + 0.1 * random.normal()), 0.2 + random.unit())).collect()
            }
        };
        let load: f64 = jobs.iter().map(|j| j.1).sum();
        let job = |(i, (period_s, share)): (usize, &(f64, f64))| {
            let plan = Plan::Cycle {
                period_s: *period_s,
                io_s: period_s * share * self.load / load,
                jitter: self.jitter,
                // spread over the classes
                aperiodic: ((i * 4 % 15) as f64) < 15.0 * self.aperiodic,
                change: (self.workload == Workload::Changes && i % 3 == 0).then_some((self.end_s() * 2.0 / 3.0, 3.0)),
            };
            Job::new(plan, Random::new(seed, 1 + i as u64))
        };
        Ok(jobs.iter().enumerate().map(job).collect())
    }
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

/// The I/O of all is made shorter in proportion, down to the load.
fn replayed(load: f64, seed: u64) -> iophase::Result<Vec<Job>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let read = |(name, periods)| phases(&folder.join(name).with_extension("darshan"), periods);
    let traces = SAMPLES.into_iter().map(read).collect::<iophase::Result<Vec<Vec<Phase>>>>()?;
    let io_s = |p: &Phase| p.calls.iter().sum::<f64>() / BANDWIDTH;
    let share = |trace: &Vec<Phase>| {
        let io: f64 = trace.iter().map(io_s).sum();
        io / (io + trace.iter().map(|p| p.compute_s).sum::<f64>())
    };
    let scales = [1.0, 10.0, 100.0];
    let less = load / (scales.len() as f64 * traces.iter().map(share).sum::<f64>());
    let mut jobs = Vec::new();
    for scale in scales {
        for trace in &traces {
            let scaled = |p: &Phase| Phase {
                compute_s: scale * (p.compute_s + (1.0 - less) * io_s(p)).max(0.0),
                calls: p.calls.iter().map(|bytes| scale * less * bytes).collect(),
                characteristic_s: scale * p.characteristic_s,
            };
            let plan = Plan::Replay(trace.iter().map(scaled).collect(), 0);
            jobs.push(Job::new(plan, Random::new(seed, jobs.len() as u64)));
        }
    }
    Ok(jobs)
}

/// The I/O phases of a trace. Each takes as long alone as it did in the trace.
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
        let compute_s = start_s - std::mem::replace(&mut before_s, *end_s);
        let characteristic_s = periods.iter().find(|(until_s, _)| start_s < until_s).map_or(f64::NAN, |(_, p)| *p);
        Phase { compute_s, calls: vec![(end_s - start_s) * BANDWIDTH / CALLS as f64; CALLS], characteristic_s }
    };
    Ok(spans.iter().map(phase).collect())
}
