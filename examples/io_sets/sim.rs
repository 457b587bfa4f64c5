//! Jobs that compute and do I/O in turn and share one file system, in discrete events.

use iophase::internals::workload::Random;
use iophase::record::{Interval, Op};

use crate::jobs::{Phase, Plan};
use crate::knowledge::{Knowledge, Prophecy};
use crate::policy::{Grant, Policy, Request};

/// Of the file system, bytes per second. A job that is alone in I/O has all of it.
pub const BANDWIDTH: f64 = 10e9;

/// Seconds, and share of a call: below, time and bytes are rounding.
const ROUNDING: f64 = 1e-9;

/// What is simulated, and from when on it is measured, seconds.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    pub warm_s: f64,
    pub end_s: f64,
}

/// A job, where it is in its plan, and what has been measured.
pub struct Job {
    /// Jobs of one class are reported together.
    pub class: String,
    plan: Plan,
    random: Random,
    phase: Phase,
    state: State,
    computed_s: f64,
    io_s: f64,
    moved: f64,
}

enum State {
    Computing { until_s: f64 },
    Io(Transfer),
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
    pub fn new(class: String, mut plan: Plan, mut random: Random) -> Job {
        let phase = plan.next(0.0, &mut random);
        let state = State::Computing { until_s: phase.compute_s * random.unit() };
        Job { class, plan, random, phase, state, computed_s: 0.0, io_s: 0.0, moved: 0.0 }
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
    /// Time with a job in I/O, seconds, and bytes moved in it.
    busy_s: f64,
    moved: f64,
    /// The largest sum of shares that was ever granted.
    most_granted: f64,
}

impl Outcome {
    /// True if the whole bandwidth was in use while any job was in I/O, and never more.
    pub fn conserves_work(&self) -> bool {
        self.most_granted <= 1.0 + ROUNDING && (self.moved - self.busy_s * BANDWIDTH).abs() <= 1e-6 * self.moved
    }
}

struct Simulation<'a> {
    now_s: f64,
    span: Span,
    jobs: Vec<Job>,
    knowledge: &'a mut dyn Knowledge,
    busy_s: f64,
    most_granted: f64,
}

/// Runs the jobs to the end of the span.
pub fn run(jobs: Vec<Job>, policy: Policy, knowledge: &mut dyn Knowledge, span: Span) -> Outcome {
    let mut s = Simulation { now_s: 0.0, span, jobs, knowledge, busy_s: 0.0, most_granted: 0.0 };
    while s.now_s < span.end_s {
        let requests = s.requests();
        let grant = policy.grant(&requests);
        let step_s = s.next_event(&requests, &grant);
        s.advance(&requests, &grant, step_s);
        s.settle();
    }
    s.outcome()
}

impl Simulation<'_> {
    /// Who is in I/O, in the order of asking.
    fn requests(&self) -> Vec<Request> {
        let of = |(job, j): (usize, &Job)| match &j.state {
            State::Io(t) => Some(Request { job, asked_s: t.asked_s, moved: t.moved, told: t.told }),
            State::Computing { .. } => None,
        };
        let mut requests: Vec<Request> = self.jobs.iter().enumerate().filter_map(of).collect();
        requests.sort_by(|a, b| a.asked_s.total_cmp(&b.asked_s).then(a.job.cmp(&b.job)));
        requests
    }

    /// Seconds to the next change of anything.
    fn next_event(&self, requests: &[Request], grant: &Grant) -> f64 {
        let mut step_s = self.span.end_s - self.now_s;
        if self.now_s < self.span.warm_s {
            step_s = step_s.min(self.span.warm_s - self.now_s);
        }
        for j in &self.jobs {
            if let State::Computing { until_s } = j.state {
                step_s = step_s.min(until_s - self.now_s);
            }
        }
        for (r, share) in requests.iter().zip(&grant.shares).filter(|(_, share)| **share > 0.0) {
            if let State::Io(t) = &self.jobs[r.job].state {
                step_s = step_s.min(t.left / (share * BANDWIDTH));
            }
        }
        step_s.min(grant.review_s).max(0.0)
    }

    fn advance(&mut self, requests: &[Request], grant: &Grant, step_s: f64) {
        let measured_s = if self.now_s < self.span.warm_s { 0.0 } else { step_s };
        self.now_s += step_s;
        self.most_granted = self.most_granted.max(grant.shares.iter().sum());
        self.busy_s += if requests.is_empty() { 0.0 } else { measured_s };
        for j in &mut self.jobs {
            match j.state {
                State::Computing { .. } => j.computed_s += measured_s,
                State::Io(_) => j.io_s += measured_s,
            }
        }
        for (r, share) in requests.iter().zip(&grant.shares) {
            let j = &mut self.jobs[r.job];
            if let State::Io(t) = &mut j.state {
                t.left -= share * BANDWIDTH * step_s;
                t.moved += share * BANDWIDTH * step_s;
                j.moved += share * BANDWIDTH * measured_s;
            }
        }
    }

    /// Ends calls, phases and computations that are over.
    fn settle(&mut self) {
        let now_s = self.now_s;
        for (number, j) in self.jobs.iter_mut().enumerate() {
            match &mut j.state {
                State::Computing { until_s } if *until_s <= now_s + ROUNDING => {
                    let told = self.knowledge.ask(number, now_s, &j.phase);
                    let left = j.phase.calls[0];
                    j.state =
                        State::Io(Transfer { asked_s: now_s, call: 0, call_start_s: now_s, left, moved: 0.0, told });
                }
                State::Io(t) if t.left <= ROUNDING * j.phase.calls[t.call] => {
                    let bytes = j.phase.calls[t.call];
                    let row =
                        Interval { op: Op::Write, start: t.call_start_s, end: now_s, bytes, ..Interval::default() };
                    self.knowledge.row(number, &row);
                    t.call += 1;
                    t.call_start_s = now_s;
                    if let Some(bytes) = j.phase.calls.get(t.call) {
                        t.left = *bytes;
                    } else {
                        j.phase = j.plan.next(now_s, &mut j.random);
                        j.state = State::Computing { until_s: now_s + j.phase.compute_s };
                    }
                }
                State::Computing { .. } | State::Io(_) => {}
            }
        }
    }

    fn outcome(self) -> Outcome {
        let measured_s = self.span.end_s - self.span.warm_s;
        let alone_s = |j: &Job| j.moved / BANDWIDTH;
        Outcome {
            utilisation: self.jobs.iter().map(|j| j.computed_s).sum::<f64>() / (measured_s * self.jobs.len() as f64),
            stretch: self.jobs.iter().map(|j| measured_s / (j.computed_s + alone_s(j))).collect(),
            slowdown: self.jobs.iter().map(|j| j.io_s / alone_s(j)).collect(),
            busy_s: self.busy_s,
            moved: self.jobs.iter().map(|j| j.moved).sum(),
            most_granted: self.most_granted,
        }
    }
}
