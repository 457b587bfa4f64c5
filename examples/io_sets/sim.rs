//! Jobs that compute and do I/O in turn and share one file system, in discrete events.

use iophase::record::{Interval, Op};

use crate::jobs::Phase;
use crate::knowledge::{Knowledge, set};
use crate::policy::{Policy, Request};

/// Of the file system, bytes per second. A job that is alone in I/O has all of it.
pub const BANDWIDTH: f64 = 10e9;

/// Seconds, and share of a call: below, time and bytes are rounding.
const ROUNDING: f64 = 1e-9;

/// Share of the time that passes before it is measured.
const WARM: f64 = 1.0 / 3.0;

/// Calls of a burst, all of a size.
const CALLS: usize = 8;

/// A job, where it is in its phases, and what has been measured.
pub struct Job {
    phases: Vec<Phase>,
    /// Phases done.
    done: usize,
    /// When the computation ends.
    until_s: f64,
    transfer: Option<Transfer>,
    computed_s: f64,
    io_s: f64,
    moved: f64,
    /// Requests for access: all, those of which the set was known, and those of which it was right.
    asked: [f64; 3],
}

/// An I/O phase in progress: calls left, and bytes left of the one it is in.
struct Transfer {
    request: Request,
    calls: usize,
    call_start_s: f64,
    left: f64,
}

impl Job {
    /// A job that does its phases again and again, with this share of the first computation left at time 0.
    pub fn new(phases: Vec<Phase>, left: f64) -> Job {
        let until_s = left * phases[0].compute_s;
        Job { phases, done: 0, until_s, transfer: None, computed_s: 0.0, io_s: 0.0, moved: 0.0, asked: [0.0; 3] }
    }

    fn phase(&self) -> &Phase {
        &self.phases[self.done % self.phases.len()]
    }

    /// Ends the computation, the call or the phase if it is over.
    fn settle(&mut self, job: usize, now_s: f64, knowledge: &mut dyn Knowledge) {
        let phase = *self.phase();
        let bytes = phase.bytes / CALLS as f64;
        let Some(t) = &mut self.transfer else {
            if self.until_s <= now_s + ROUNDING {
                let known = knowledge.ask(job, now_s, true, &phase);
                let right = known.is_some_and(|k| set(k.characteristic_s) == set(phase.characteristic_s));
                let is = [true, known.is_some(), right];
                self.asked.iter_mut().zip(is).for_each(|(n, is)| *n += f64::from(u8::from(is)));
                let request = Request { job, asked_s: now_s, moved: 0.0, known };
                self.transfer = Some(Transfer { request, calls: CALLS, call_start_s: now_s, left: bytes });
            }
            return;
        };
        if t.left > ROUNDING * bytes {
            return;
        }
        let row = Interval { op: Op::Write, start: t.call_start_s, end: now_s, bytes, ..Interval::default() };
        knowledge.row(job, &row);
        t.request.known = t.request.known.or_else(|| knowledge.ask(job, now_s, false, &phase));
        (t.calls, t.call_start_s, t.left) = (t.calls - 1, now_s, bytes);
        if t.calls == 0 {
            self.done += 1;
            (self.transfer, self.until_s) = (None, now_s + self.phase().compute_s);
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
    /// Share of the requests for access of which the set was known, and share of these of which it was right.
    pub known: f64,
    pub right: f64,
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
    knowledge.forget();
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
                t.request.moved += share * BANDWIDTH * step_s;
            }
        }
        jobs.iter_mut().enumerate().for_each(|(job, j)| j.settle(job, now_s, knowledge));
    }
    let measured_s = end_s - warm_s;
    let alone_s = |j: &Job| j.moved / BANDWIDTH;
    let asked = |i: usize| jobs.iter().map(|j| j.asked[i]).sum::<f64>();
    Outcome {
        utilisation: jobs.iter().map(|j| j.computed_s).sum::<f64>() / (measured_s * jobs.len() as f64),
        stretch: jobs.iter().map(|j| measured_s / (j.computed_s + alone_s(j))).collect(),
        slowdown: jobs.iter().map(|j| j.io_s / alone_s(j)).collect(),
        known: asked(1) / asked(0),
        right: asked(2) / asked(1),
        moved: jobs.iter().map(|j| j.moved).sum(),
        busy_s,
        most_granted,
    }
}

/// Who is in I/O, in the order of asking.
fn requests(jobs: &[Job]) -> Vec<Request> {
    let mut requests: Vec<Request> = jobs.iter().flat_map(|j| &j.transfer).map(|t| t.request).collect();
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
