//! What jobs do: synthetic mixes, and traces replayed.

use std::ops::Range;
use std::path::Path;

use clap::ValueEnum;
use iophase::internals::workload::Random;
use iophase::record::{Data, Interval};

use crate::sim::{BANDWIDTH, Job};

/// A computation and the I/O after it.
#[derive(Debug, Clone, Copy)]
pub struct Phase {
    pub compute_s: f64,
    pub bytes: f64,
    /// The truth: mean time between starts of the bursts of the job at this time, alone, seconds.
    pub characteristic_s: f64,
}

impl Phase {
    /// Of a job that is alone.
    fn io_s(&self) -> f64 {
        self.bytes / BANDWIDTH
    }
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Workload {
    /// One job of a short period among fifteen of a long one.
    OneAmongFifteen,
    /// Five jobs around each of 10, 100 and 1000 s.
    Decades,
    /// The same; a third of the jobs takes three times as long from two thirds of its work on.
    Changes,
    /// The same; two fifths of the jobs are aperiodic.
    Aperiodic,
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
    ("Load", &[0.3, 0.5, 0.7, 0.9], |s, x| s.load = x),
    ("Jitter", &[0.0, 0.05, 0.1, 0.2, 0.4], |s, x| s.jitter = x),
    ("Share of aperiodic jobs", &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0], |s, x| s.aperiodic = x),
];

impl Workload {
    /// The setting of the tables.
    pub fn setting(self) -> Setting {
        let load = if self == Workload::OneAmongFifteen { 1.0 } else { 0.7 };
        let aperiodic = if self == Workload::Aperiodic { 0.4 } else { 0.0 };
        Setting { workload: self, load, jitter: 0.05, aperiodic }
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
        let mut random = Random::new(seed, 0);
        if self.workload == Workload::Replayed {
            return Ok(replayed(self.load)?.into_iter().map(|phases| Job::new(phases, random.unit())).collect());
        }
        // period, and share of the load
        let jobs: Vec<(f64, f64)> = match self.workload {
            Workload::OneAmongFifteen => [19.2].into_iter().chain([384.0; 15]).map(|p| (p, 1.0)).collect(),
            _ => {
                (0..15).map(|i| (10f64.powi(1 + i / 5) * (1.0 + 0.1 * random.normal()), 0.2 + random.unit())).collect()
            }
        };
        let load: f64 = jobs.iter().map(|j| j.1).sum();
        let job = |(i, (period_s, share)): (usize, &(f64, f64))| {
            let mut random = Random::new(seed, 1 + i as u64);
            Job::new(self.phases(i, *period_s, period_s * share * self.load / load, &mut random), random.unit())
        };
        Ok(jobs.iter().enumerate().map(job).collect())
    }

    /// What job `i` does in at least the simulated time, with so much I/O in a period.
    fn phases(&self, i: usize, period_s: f64, io_s: f64, random: &mut Random) -> Vec<Phase> {
        let changes = self.workload == Workload::Changes && i.is_multiple_of(3);
        // spread over the classes
        let aperiodic = ((i * 4 % 15) as f64) < 15.0 * self.aperiodic;
        let around_one = |random: &mut Random| match aperiodic {
            true => -(1.0 - random.unit()).ln(),
            false => (1.0 + self.jitter * random.normal()).max(0.1),
        };
        let (mut phases, mut at_s) = (Vec::new(), 0.0);
        while at_s < self.end_s() {
            let longer = if changes && at_s > self.end_s() * 2.0 / 3.0 { 3.0 } else { 1.0 };
            let compute_s = longer * (period_s - io_s) * around_one(random);
            let bytes = longer * io_s * BANDWIDTH * around_one(random);
            phases.push(Phase { compute_s, bytes, characteristic_s: longer * period_s });
            at_s += compute_s + bytes / BANDWIDTH;
        }
        phases
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

/// The phases of each trace at each speed. The I/O of all is made shorter in proportion, down to the load.
fn replayed(load: f64) -> iophase::Result<Vec<Vec<Phase>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let read = |(name, periods)| phases(&folder.join(name).with_extension("darshan"), periods);
    let traces = SAMPLES.into_iter().map(read).collect::<iophase::Result<Vec<Vec<Phase>>>>()?;
    let share = |trace: &Vec<Phase>| {
        let io: f64 = trace.iter().map(Phase::io_s).sum();
        io / (io + trace.iter().map(|p| p.compute_s).sum::<f64>())
    };
    let speeds = [1.0, 10.0, 100.0];
    let less = load / (speeds.len() as f64 * traces.iter().map(share).sum::<f64>());
    let scaled = |slower: f64, p: &Phase| Phase {
        compute_s: slower * (p.compute_s + (1.0 - less) * p.io_s()).max(0.0),
        bytes: slower * less * p.bytes,
        characteristic_s: slower * p.characteristic_s,
    };
    let all = speeds.iter().flat_map(|s| traces.iter().map(move |t| t.iter().map(|p| scaled(*s, p)).collect()));
    Ok(all.collect())
}

/// The I/O phases of a trace. Each takes as long alone as it did in the trace.
fn phases(path: &Path, periods: &[(f64, f64)]) -> iophase::Result<Vec<Phase>> {
    let mut rows: Vec<Interval> = match &iophase::read(path)?.data {
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
        Phase { compute_s, bytes: (end_s - start_s) * BANDWIDTH, characteristic_s }
    };
    Ok(spans.iter().map(phase).collect())
}
