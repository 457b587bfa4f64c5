//! Events of one part of a trace to its cases.

use std::collections::HashMap;

use super::case::{By, Case, CaseId, Origin};
use super::mapping::Mapping;
use super::sequence::{Activity, Sequence};
use super::tally::Tally;
use crate::record::{CallId, Event, EventSink, FileId};

/// An event that is not in the graph.
const UNMAPPED: Activity = Activity::MAX;

/// What becomes of events.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Calls to activities.
    pub mapping: Mapping,
    /// What makes a case.
    pub by: By,
    /// Only events that start at or after this time, in nanoseconds of the trace's clock.
    pub from_ns: Option<i64>,
    /// Only events that start before this time.
    pub until_ns: Option<i64>,
}

/// Events that are not in the graph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// By the mapping or the time window.
    pub unmapped: u64,
    /// Interrupted calls that are made again (section III).
    pub interrupted: u64,
}

/// One case on its way.
#[derive(Debug, Default)]
struct Open {
    pid: Option<u32>,
    events: u64,
    sequence: Sequence,
    tallies: Vec<Tally>,
}

/// An event that waits to be put in order.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    start_ns: i64,
    order: u64,
    task: u32,
    activity: Activity,
    duration_ns: Option<u64>,
    transfer: Option<u64>,
}

/// Takes the events of one part of a trace.
#[derive(Debug)]
pub struct Collector<'p> {
    plan: &'p Plan,
    id: CaseId,
    origin: Origin,
    names: Vec<String>,
    numbers: HashMap<String, Activity>,
    /// Activities of calls on files.
    known: HashMap<(CallId, FileId), Activity>,
    /// The file of each call last seen, and its activity.
    recent: Vec<(FileId, Activity)>,
    cases: Vec<Open>,
    by_pid: HashMap<u32, usize>,
    /// Calls that have begun: their case and hole.
    holes: HashMap<u64, (usize, usize)>,
    waiting: Option<Vec<Waiting>>,
    skipped: Skipped,
}

impl<'p> Collector<'p> {
    /// For the part with this name.
    pub fn new(plan: &'p Plan, id: CaseId, origin: Origin) -> Self {
        Collector {
            plan,
            id,
            origin,
            names: Vec::new(),
            numbers: HashMap::new(),
            known: HashMap::new(),
            recent: Vec::new(),
            cases: Vec::new(),
            by_pid: HashMap::new(),
            holes: HashMap::new(),
            waiting: None,
            skipped: Skipped::default(),
        }
    }

    /// The cases, by process, and what is not in them.
    pub fn finish(mut self) -> (Vec<Case>, Skipped) {
        if let Some(mut waiting) = self.waiting.take() {
            waiting.sort_unstable_by_key(|w| (w.start_ns, w.order));
            for w in waiting {
                let case = self.case(w.task);
                self.cases[case].sequence.push(w.activity);
                self.tally(case, &w);
            }
        }
        let activities: std::sync::Arc<[String]> = self.names.into();
        let mut cases: Vec<Case> = self
            .cases
            .into_iter()
            .map(|open| Case {
                id: CaseId { pid: open.pid, ..self.id.clone() },
                origin: self.origin.clone(),
                events: open.events,
                activities: activities.clone(),
                tallies: open.tallies,
                edges: open.sequence.finish(),
            })
            .collect();
        if cases.is_empty() {
            let empty = (Vec::new(), super::sequence::EdgeCounts::new());
            cases.push(Case {
                id: self.id,
                origin: self.origin,
                events: 0,
                activities,
                tallies: empty.0,
                edges: empty.1,
            });
        }
        cases.sort_by_key(|c| c.id.pid);
        (cases, self.skipped)
    }

    /// The case of a process.
    fn case(&mut self, task: u32) -> usize {
        match self.plan.by {
            By::File => {
                if self.cases.is_empty() {
                    self.cases.push(Open::default());
                }
                0
            }
            By::Pid => {
                let next = self.cases.len();
                let i = *self.by_pid.entry(task).or_insert(next);
                if i == next {
                    self.cases.push(Open { pid: Some(task), ..Open::default() });
                }
                i
            }
        }
    }

    fn tally(&mut self, case: usize, w: &Waiting) {
        let open = &mut self.cases[case];
        open.events += 1;
        let i = w.activity as usize;
        if i >= open.tallies.len() {
            open.tallies.resize_with(i + 1, Tally::default);
        }
        open.tallies[i].add(w.start_ns, w.duration_ns, w.transfer);
    }

    fn activity(&mut self, e: &Event<'_>) -> Activity {
        let i = usize::from(e.call.0);
        if let Some(&(file, activity)) = self.recent.get(i)
            && file == e.file
        {
            return activity;
        }
        let activity = match self.known.get(&(e.call, e.file)) {
            Some(&a) => a,
            None => {
                let a = match self.plan.mapping.activity(&self.id, e.calls.name(e.call), e.files.name(e.file)) {
                    Some(name) => self.number(name),
                    None => UNMAPPED,
                };
                self.known.insert((e.call, e.file), a);
                a
            }
        };
        if i >= self.recent.len() {
            // No file has this number: names end before.
            self.recent.resize(i + 1, (FileId(u32::MAX - 1), UNMAPPED));
        }
        self.recent[i] = (e.file, activity);
        activity
    }

    fn number(&mut self, name: String) -> Activity {
        if let Some(&n) = self.numbers.get(&name) {
            return n;
        }
        let n = self.names.len() as Activity;
        self.names.push(name.clone());
        self.numbers.insert(name, n);
        n
    }

    fn inside(&self, start_ns: i64) -> bool {
        self.plan.from_ns.is_none_or(|t| start_ns >= t) && self.plan.until_ns.is_none_or(|t| start_ns < t)
    }
}

impl EventSink for Collector<'_> {
    fn begun(&mut self, order: u64, task: u32) {
        if self.waiting.is_none() {
            let case = self.case(task);
            let hole = self.cases[case].sequence.open();
            self.holes.insert(order, (case, hole));
        }
    }

    fn given_up(&mut self, order: u64) {
        if let Some((case, hole)) = self.holes.remove(&order) {
            self.cases[case].sequence.settle(hole, None);
        }
    }

    fn event(&mut self, e: &Event<'_>) {
        let hole = if self.holes.is_empty() { None } else { self.holes.remove(&e.order) };
        let activity = if e.interrupted {
            self.skipped.interrupted += 1;
            UNMAPPED
        } else {
            let a = if self.inside(e.start_ns) { self.activity(e) } else { UNMAPPED };
            self.skipped.unmapped += u64::from(a == UNMAPPED);
            a
        };
        if activity == UNMAPPED {
            if let Some((case, hole)) = hole {
                self.cases[case].sequence.settle(hole, None);
            }
            return;
        }
        let transfer = e.op.moves_bytes().then_some(e.size);
        let w = Waiting {
            start_ns: e.start_ns,
            order: e.order,
            task: e.task,
            activity,
            duration_ns: e.duration_ns,
            transfer,
        };
        if let Some(waiting) = &mut self.waiting {
            return waiting.push(w);
        }
        let case = self.case(e.task);
        match hole {
            Some((c, hole)) if c == case => self.cases[c].sequence.settle(hole, Some(activity)),
            // The process turned out to be another one.
            Some((c, hole)) => {
                self.cases[c].sequence.settle(hole, None);
                self.cases[case].sequence.push(activity);
            }
            None => self.cases[case].sequence.push(activity),
        }
        self.tally(case, &w);
    }

    fn unordered(&mut self) {
        *self = Collector::new(self.plan, std::mem::take(&mut self.id), std::mem::take(&mut self.origin));
        self.waiting = Some(Vec::new());
    }
}
