//! The thread that reads the counters at regular times.

use std::collections::HashMap;
use std::process::Child;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::program::{self, Signals};
use crate::formats::samples::{Count, Ending};
use crate::online::source::{Moved, ProcTree};
use crate::record::{Interval, Op};

/// Largest number of ranks; further processes share the last.
const RANKS: usize = 1 << 16;
/// How often it is looked whether a process that is no child has ended.
const LOOK: Duration = Duration::from_millis(100);

/// How long samples wait for others. Waking the thread that takes them costs as much as a reading.
const HOLD: Duration = Duration::from_millis(20);

/// A message of the sampler.
pub(super) enum Event {
    /// Samples with bytes, and processes that are new among them: rank, number, name.
    Samples(Vec<Interval>, Vec<(u32, u32, String)>),
    /// The command or the process has ended, or a signal came. The exit code of the command.
    Ended(Ending, Option<u8>),
}

/// The program that is watched.
pub(super) enum Target {
    /// A command, which is a child.
    Command(Child),
    /// A process that ran before.
    Process(u32),
}

/// How it is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Zero of all times.
    pub(super) start: Instant,
    pub(super) rate_hz: f64,
    pub(super) count: Count,
    pub(super) by_process: bool,
}

/// Wakes the sampler before the next reading is due.
#[derive(Default)]
struct Alarm {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Alarm {
    fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits until `due`; true if it has rung.
    fn wait_until(&self, due: Instant) -> bool {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        while !*rung {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            rung = self.changed.wait_timeout(rung, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

/// See the module.
pub(super) struct Sampler {
    plan: Plan,
    tree: ProcTree,
    target: Target,
    signals: Signals,
    moved: Vec<Moved>,
    ranks: HashMap<u32, u32>,
    ending: Ending,
    looked: Instant,
    /// Samples and names that wait, and the time in seconds of the first.
    held: (Vec<Interval>, Vec<(u32, u32, String)>),
    held_since_s: f64,
}

impl Sampler {
    pub(super) fn new(plan: Plan, tree: ProcTree, target: Target, signals: Signals) -> Sampler {
        Sampler {
            plan,
            tree,
            target,
            signals,
            moved: Vec::new(),
            ranks: HashMap::new(),
            ending: Ending { ranks: 1, ..Ending::default() },
            looked: plan.start,
            held: Default::default(),
            held_since_s: 0.0,
        }
    }

    /// Reads until the command or process has ended. Readings are due at whole multiples of the step, whatever each takes; those that are
    /// late by a step or more are left out, and counted.
    pub(super) fn run(mut self, events: &SyncSender<Event>) {
        let wake = self.wake_at_end();
        let step_s = 1.0 / self.plan.rate_hz;
        let mut turn = 0u64;
        loop {
            turn += 1;
            let due = self.plan.start + Duration::from_secs_f64(step_s * turn as f64);
            let ended = match &wake {
                Some(wake) => wake.wait_until(due),
                None => {
                    // The pause is the sampling step. The counters of a process that is no child end with it: waking up at its end
                    // would read nothing more.
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    self.process_is_over()
                }
            };
            if let Target::Command(child) = &self.target {
                self.signals.pass_on(child.id());
            }
            if !self.take(events) || ended {
                return self.end(events);
            }
            let passed = (self.plan.start.elapsed().as_secs_f64() / step_s) as u64;
            self.ending.missed += passed.saturating_sub(turn);
            turn = turn.max(passed);
        }
    }

    /// An alarm that rings at the end of the command at once.
    fn wake_at_end(&self) -> Option<Arc<Alarm>> {
        let Target::Command(child) = &self.target else { return None };
        let alarm = Arc::new(Alarm::default());
        let (rings, pid) = (alarm.clone(), child.id());
        let wait = move || {
            program::has_ended(pid, true);
            rings.ring();
        };
        if thread::Builder::new().name("wait".into()).spawn(wait).is_err() {
            // the end of the command is waited for all the same, without samples
            alarm.ring();
        }
        Some(alarm)
    }

    fn process_is_over(&mut self) -> bool {
        let Target::Process(pid) = self.target else { return false };
        if self.signals.any() {
            return true;
        }
        if self.looked.elapsed() < LOOK {
            return false;
        }
        self.looked = Instant::now();
        self.tree.has_ended(pid)
    }

    /// Makes a reading; false if nobody listens any more.
    fn take(&mut self, events: &SyncSender<Event>) -> bool {
        let command = match &self.target {
            Target::Command(child) => Some(child.id()),
            Target::Process(_) => None,
        };
        // Orphans that have ended are read once more before they are waited for.
        let ended = |pid: &u32| command.is_some() && Some(*pid) != command && program::has_ended(*pid, false);
        let orphans: Vec<u32> = self.tree.children().filter(ended).collect();
        let start = self.plan.start;
        let mut moved = std::mem::take(&mut self.moved);
        // whole nanoseconds are written and read exactly
        let clock = || start.elapsed().as_nanos() as f64 / 1e9;
        let now_s = self.tree.read(clock, &mut moved);
        for pid in orphans {
            program::bury(pid);
            self.tree.forget(pid);
        }
        self.ending.readings += 1;
        self.ending.end_s = now_s;
        let mut named = std::mem::take(&mut self.held.1);
        let rows = self.rows(&moved, now_s, &mut named);
        self.moved = moved;
        if self.held.0.is_empty() {
            self.held_since_s = now_s;
        }
        self.held.0.extend(rows);
        self.held.1 = named;
        let waits = now_s - self.held_since_s + 1.0 / self.plan.rate_hz < HOLD.as_secs_f64();
        waits || self.hand_over(events)
    }

    /// Sends what waits; false if nobody listens any more.
    fn hand_over(&mut self, events: &SyncSender<Event>) -> bool {
        let (rows, named) = std::mem::take(&mut self.held);
        rows.is_empty() || events.send(Event::Samples(rows, named)).is_ok()
    }

    /// One sample for each direction, rank and time span.
    fn rows(&mut self, moved: &[Moved], now_s: f64, named: &mut Vec<(u32, u32, String)>) -> Vec<Interval> {
        let mut rows: Vec<Interval> = Vec::new();
        for m in moved {
            let (read, written) = match self.plan.count {
                Count::Calls => m.by.calls(),
                Count::Storage => m.by.storage(),
            };
            for (op, bytes) in [(Op::Read, read), (Op::Write, written)].into_iter().filter(|x| x.1 > 0) {
                let rank = self.rank(m.pid, named);
                let start = m.since_s.min(now_s);
                match rows.iter_mut().find(|x| (x.op, x.rank, x.start) == (op, rank, start)) {
                    Some(x) => x.bytes += bytes as f64,
                    None => {
                        rows.push(Interval { op, rank, bytes: bytes as f64, start, end: now_s, ..Interval::default() })
                    }
                }
            }
        }
        rows
    }

    /// The rank of a process. A number that is used again within one watch has the rank of its first process.
    fn rank(&mut self, pid: u32, named: &mut Vec<(u32, u32, String)>) -> u32 {
        if !self.plan.by_process {
            return 0;
        }
        if let Some(rank) = self.ranks.get(&pid) {
            return *rank;
        }
        let rank = self.ranks.len().min(RANKS - 1) as u32;
        if self.ranks.len() < RANKS {
            self.ranks.insert(pid, rank);
            named.push((rank, pid, self.tree.name(pid)));
        }
        self.ending.ranks = u64::from(rank) + 1;
        rank
    }

    fn end(mut self, events: &SyncSender<Event>) {
        self.hand_over(events);
        let (seen, unreadable) = self.tree.seen();
        (self.ending.processes, self.ending.unreadable) = (seen, unreadable);
        let mut code = None;
        if let Target::Command(child) = &mut self.target {
            let pid = child.id();
            code = child.wait().ok().map(program::exit_code);
            self.tree.forget(pid);
            self.ending.left_running = self.tree.pids().count() as u64;
        }
        self.ending.exit_code = code.map(i32::from);
        // from here on a signal ends this program
        self.signals.release();
        let _ = events.send(Event::Ended(self.ending, code));
    }
}
