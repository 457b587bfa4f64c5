//! Jobs that compute and do I/O in turn and share one file system, in discrete events.

use iophase::internals::workload::Random;
use iophase::record::{Interval, Op};

use crate::jobs::{Phase, Plan};
use crate::knowledge::{Knowledge, Prophecy};
use crate::policy::{Policy, Request};

/// Of the file system, bytes per second. A job that is alone in I/O has all of it.
pub const BANDWIDTH: f64 = 10e9;

/// Seconds, and share of a call: below, time and bytes are rounding.
const ROUNDING: f64 = 1e-9;

/// Share of the time that passes before it is measured.
const WARM: f64 = 1.0 / 3.0;

/// A job, where it is in its plan, and what has been measured.
pub struct Job {
    plan: Plan,
    random: Random,
    phase: Phase,
    /// When the computation ends.
    until_s: f64,
    transfer: Option<Transfer>,
    computed_s: f64,
    io_s: f64,
    moved: f64,
}

/// An I/O phase in progress: the call it is in, and bytes.
struct Transfer {
    asked_s: f64,
    call: usize,
    call_start_s: f64,
    left: f64,
    moved: f64,
    told: Option<Prophecy>,
}

impl Job {
    /// A job that is somewhere in its first computation at time 0. Its randomness depends on nothing else.
    pub fn new(mut plan: Plan, mut random: Random) -> Job {
        let phase = plan.next(0.0, &mut random);
        let until_s = phase.compute_s * random.unit();
        Job { plan, random, phase, until_s, transfer: None, computed_s: 0.0, io_s: 0.0, moved: 0.0 }
    }

    /// Ends the computation, the call or the phase if it is over.
    fn settle(&mut self, number: usize, now_s: f64, knowledge: &mut dyn Knowledge) {
        let Some(t) = &mut self.transfer else {
            if self.until_s <= now_s + ROUNDING {
                let told = knowledge.ask(number, now_s, &self.phase);
                let left = self.phase.calls[0];
                self.transfer = Some(Transfer { asked_s: now_s, call: 0, call_start_s: now_s, left, moved: 0.0, told });
            }
            return;
        };
        let bytes = self.phase.calls[t.call];
        if t.left > ROUNDING * bytes {
            return;
        }
        let row = Interval { op: Op::Write, start: t.call_start_s, end: now_s, bytes, ..Interval::default() };
        knowledge.row(number, &row);
        (t.call, t.call_start_s) = (t.call + 1, now_s);
        if let Some(bytes) = self.phase.calls.get(t.call) {
            t.left = *bytes;
        } else {
            self.phase = self.plan.next(now_s, &mut self.random);
            (self.transfer, self.until_s) = (None, now_s + self.phase.compute_s);
        }
    }
}

/// What came out of one run.
pub struct Outcome {
    /// Share of the time of all jobs that was spent computing.
    pub utilisation: f64,
    /// Of each job: measured time over the time that the work done in it takes alone.
    pub stretch: Vec<f64>,
    /// Of each job: time in I/O, waiting included, over the time that the bytes moved take alone.
    pub slowdown: Vec<f64>,
    /// Time with a job in I/O, seconds; bytes moved in it; the largest sum of shares that was ever granted.
    busy_s: f64,
    moved: f64,
    most_granted: f64,
}

impl Outcome {
    /// True if the whole bandwidth was in use while any job was in I/O, and never more.
    pub fn conserves_work(&self) -> bool {
        self.most_granted <= 1.0 + ROUNDING && (self.moved - self.busy_s * BANDWIDTH).abs() <= 1e-6 * self.moved
    }
}

/// Runs the jobs for some seconds.
pub fn run(mut jobs: Vec<Job>, policy: Policy, knowledge: &mut dyn Knowledge, end_s: f64) -> Outcome {
    let warm_s = WARM * end_s;
    let (mut now_s, mut busy_s, mut most_granted) = (0.0, 0.0, 0.0);
    while now_s < end_s {
        let requests = requests(&jobs);
        let shares = policy.shares(&requests);
        let limit_s = if now_s < warm_s { warm_s } else { end_s } - now_s;
        let step_s = next_event(&jobs, now_s, &requests, &shares).clamp(0.0, limit_s);
        let measured_s = if now_s < warm_s { 0.0 } else { step_s };
        now_s += step_s;
        busy_s += if requests.is_empty() { 0.0 } else { measured_s };
        most_granted = f64::max(most_granted, shares.iter().sum());
        for j in &mut jobs {
            *if j.transfer.is_some() { &mut j.io_s } else { &mut j.computed_s } += measured_s;
        }
        for (r, share) in requests.iter().zip(&shares) {
            let j = &mut jobs[r.job];
            j.moved += share * BANDWIDTH * measured_s;
            if let Some(t) = &mut j.transfer {
                t.left -= share * BANDWIDTH * step_s;
                t.moved += share * BANDWIDTH * step_s;
            }
        }
        jobs.iter_mut().enumerate().for_each(|(number, j)| j.settle(number, now_s, knowledge));
    }
    let measured_s = end_s - warm_s;
    let alone_s = |j: &Job| j.moved / BANDWIDTH;
    Outcome {
        utilisation: jobs.iter().map(|j| j.computed_s).sum::<f64>() / (measured_s * jobs.len() as f64),
        stretch: jobs.iter().map(|j| measured_s / (j.computed_s + alone_s(j))).collect(),
        slowdown: jobs.iter().map(|j| j.io_s / alone_s(j)).collect(),
        moved: jobs.iter().map(|j| j.moved).sum(),
        busy_s,
        most_granted,
    }
}

/// Who is in I/O, in the order of asking.
fn requests(jobs: &[Job]) -> Vec<Request> {
    let of = |(job, j): (usize, &Job)| {
        let t = j.transfer.as_ref()?;
        Some(Request { job, asked_s: t.asked_s, moved: t.moved, told: t.told })
    };
    let mut requests: Vec<Request> = jobs.iter().enumerate().filter_map(of).collect();
    requests.sort_by(|a, b| a.asked_s.total_cmp(&b.asked_s));
    requests
}

/// Seconds to the next change of anything.
fn next_event(jobs: &[Job], now_s: f64, requests: &[Request], shares: &[f64]) -> f64 {
    let computing = jobs.iter().filter(|j| j.transfer.is_none()).map(|j| j.until_s - now_s);
    let served = requests.iter().zip(shares).filter(|(_, share)| **share > 0.0);
    let left = |r: &Request| jobs[r.job].transfer.as_ref().map_or(0.0, |t| t.left);
    let calls = served.map(|(r, share)| left(r) / (share * BANDWIDTH));
    computing.chain(calls).fold(f64::INFINITY, f64::min)
}
