//! The loop in which jobs are followed: a [`Source`] gives messages, a [`Follower`] feeds them to the sessions of their jobs and decides when
//! to predict, what to warn about and when to store the state, and a [`Sink`] takes the predictions. The commands and the server are sources
//! and sinks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

pub use super::automaton::Automaton;
use super::checkpoint::{Checkpoint, Reading};
use super::jobs::Jobs;
use super::prediction::Prediction;
use super::session::{Options, Session};
use super::trigger::Every;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::tail::{Faults, Form, Message};
use crate::record::{Clock, Interval, Warning};
use crate::remedy::Remedy;

/// Longest wait before a request to stop is noticed.
pub const NOTICE: Duration = Duration::from_millis(200);
/// Time between two stored states.
const STORE: Duration = Duration::from_secs(1);

/// What a source gives next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// A message.
    Message(Message),
    /// Nothing for now.
    Nothing,
    /// From here on it is read from its start: it was cut or replaced.
    Anew,
    /// Nothing will come any more.
    End,
}

/// What is done where a file or a folder has no more, for now.
#[derive(Debug, Clone, Copy)]
pub struct AtEnd {
    /// The source has ended.
    pub once: bool,
    /// Else it is looked at again after so long.
    pub poll: Duration,
}

/// Where messages come from.
pub trait Source {
    /// What comes next.
    ///
    /// # Errors
    /// Of the input.
    fn next(&mut self) -> Result<Next>;

    /// Waits until more may have come: at most `longest` where there is an event to wait for.
    fn wait(&mut self, _longest: Duration, _stop: &AtomicBool) {}

    /// Nothing more is waited for: what has come and lacks its end counts as whole.
    fn end(&mut self) {}

    /// Messages taken before predictions are made. More than one where many jobs send at once, of which the latest data count.
    fn round(&self) -> usize {
        1
    }

    /// What could not be read.
    fn faults(&self) -> Faults {
        Faults::default()
    }

    /// What the times count from.
    fn clock(&self) -> Clock {
        Clock::default()
    }

    /// Its form, once that is known.
    fn form(&self) -> Option<&Form> {
        None
    }

    /// Bytes have come that show no form yet.
    fn is_undecided(&self) -> bool {
        false
    }

    /// True if the state may be stored at this place.
    fn may_stop(&self) -> bool {
        true
    }

    /// Where another source can go on; `None` for those that cannot be read again.
    ///
    /// # Errors
    /// Of the input.
    fn reading(&mut self) -> Result<Option<Reading>> {
        Ok(None)
    }

    /// What everybody should know of the source, and has not been warned about yet.
    fn warning(&mut self) -> Option<Warning> {
        None
    }

    /// Why it is an error that no message has come; `None` if it is none.
    fn nothing_came(&self, faults: &Faults) -> Option<Error> {
        Some(nothing_came(faults))
    }
}

/// The error that no message has come.
pub(crate) fn nothing_came(faults: &Faults) -> Error {
    let first = faults.first.as_ref().map_or(String::new(), |f| format!("; the first fault: {f}"));
    Error::new(ErrorKind::Empty, format!("no reads or writes received{first}")).remedy(Remedy::Inspect)
}

/// Where predictions go.
pub trait Sink {
    /// Takes the transfers of a job.
    fn feed(&mut self, _job: &str, _transfers: &[Interval]) {}

    /// Takes a prediction, and the regimes of its job.
    ///
    /// # Errors
    /// Of the output.
    fn take(&mut self, prediction: Prediction, automaton: &Automaton) -> Result<()>;

    /// Jobs were given up; these are left.
    fn keep_only(&mut self, _jobs: &[&str]) {}

    /// Stores a state, once the predictions before it are written.
    fn store(&mut self, _state: Vec<u8>) {}

    /// A message for a person.
    fn say(&mut self, _text: &str) {}

    /// Called again and again, for what depends on the time of day.
    fn turn(&mut self) {}

    /// Predictions that were dropped.
    fn dropped(&self) -> u64 {
        0
    }

    /// Nobody takes predictions any more.
    fn is_closed(&self) -> bool {
        false
    }
}

/// How jobs are followed.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How each of them is; [`Options::every`] is that of `every`.
    pub options: Options,
    /// When to predict; `None`: at each burst of single records and calls, else with every message.
    pub every: Option<Every>,
    /// Jobs at one time.
    pub most_jobs: usize,
    /// The source has ended once nothing has come for so long.
    pub idle_exit: Option<Duration>,
    /// States are stored.
    pub keeps_state: bool,
}

/// See the module.
#[derive(Debug)]
pub struct Follower {
    plan: Plan,
    jobs: Option<Jobs>,
    /// Faults of the sources before this one.
    before: Faults,
    /// Faults, jobs given up, and predictions dropped that a warning has named.
    reported: [u64; 3],
    /// It was said why nothing is predicted.
    said_waiting: bool,
    stored: Option<Instant>,
}

impl Follower {
    /// Follows no job yet.
    pub fn new(plan: Plan) -> Follower {
        Follower { plan, jobs: None, before: Faults::default(), reported: [0; 3], said_waiting: false, stored: None }
    }

    /// Follows the one job of a server.
    #[cfg(feature = "serve")]
    pub(crate) fn of_job(name: &str, options: &Options) -> Follower {
        let plan = Plan {
            options: options.clone(),
            every: Some(options.every),
            most_jobs: 1,
            idle_exit: None,
            keeps_state: false,
        };
        Follower { jobs: Some(Jobs::of_one(name, options.clone())), ..Follower::new(plan) }
    }

    /// Goes on from a stored state; gives the place up to which the source was read.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if it was made with other options.
    pub fn resume(&mut self, state: Checkpoint) -> Result<Option<Reading>> {
        if *state.jobs.options() != self.options_for(state.reading.as_ref().map(|r| &r.form)) {
            return Err(Error::new(ErrorKind::Usage, "the stored state was made with other options"));
        }
        self.reported = [state.faults.malformed, state.jobs.evicted(), 0];
        (self.before, self.jobs) = (state.faults, Some(state.jobs));
        Ok(state.reading)
    }

    /// The options for a source of this form.
    fn options_for(&self, form: Option<&Form>) -> Options {
        let default = if form.is_some_and(|f| f.of_lines) { Every::Burst } else { Every::Message };
        self.plan.options.clone().every(self.plan.every.unwrap_or(default))
    }

    /// Follows the jobs of a source to its end, or until `stop` is set or nobody takes predictions any more.
    ///
    /// # Errors
    /// Of the source and the sink; [`ErrorKind::Empty`] if nothing has come.
    pub fn run(&mut self, source: &mut dyn Source, sink: &mut dyn Sink, stop: &AtomicBool) -> Result<()> {
        let mut idle = None;
        let mut taken = 0;
        loop {
            if stop.load(Ordering::Relaxed) {
                return self.store(source, sink, true);
            }
            sink.turn();
            let mut pauses = false;
            match source.next()? {
                Next::Message(message) => {
                    idle = None;
                    taken += 1;
                    let due = self.take(&message, source, sink);
                    if if source.round() == 1 { !due } else { taken < source.round() } {
                        continue;
                    }
                }
                Next::Anew => self.jobs.iter_mut().for_each(Jobs::begin_anew),
                Next::Nothing => {
                    let since = *idle.get_or_insert_with(Instant::now);
                    pauses = self.plan.idle_exit.is_none_or(|most| since.elapsed() < most);
                    if !pauses {
                        source.end();
                    }
                }
                Next::End => {
                    self.predict(Session::is_updated, source, sink)?;
                    self.store(source, sink, true)?;
                    let nothing = if self.jobs.is_none() { source.nothing_came(&self.faults(source)) } else { None };
                    return nothing.map_or(Ok(()), Err);
                }
            }
            taken = 0;
            self.predict(Session::due, source, sink)?;
            self.store(source, sink, false)?;
            if sink.is_closed() {
                return Ok(());
            }
            if pauses {
                self.say_waiting(source, sink);
                source.wait(self.plan.idle_exit.map_or(NOTICE, |most| most.min(NOTICE)), stop);
            }
        }
    }

    /// Follows what has come at once and holds many bursts, for at most `turn`: true once all of it is taken and predicted. Changes of the
    /// period within it are followed as far as its transfers pay for the analyses.
    ///
    /// # Errors
    /// Of the source and the sink.
    #[cfg(feature = "serve")]
    pub(crate) fn take_piece(&mut self, source: &mut dyn Source, sink: &mut dyn Sink, turn: Duration) -> Result<bool> {
        let begun = Instant::now();
        self.warn(source, sink);
        while let Next::Message(message) = source.next()? {
            self.jobs.iter_mut().for_each(Jobs::catch_up);
            self.take(&message, source, sink);
            if begun.elapsed() >= turn {
                return Ok(false);
            }
        }
        self.predict(|_| true, source, sink)?;
        self.before = self.faults(source);
        Ok(true)
    }

    /// Takes a message; true if a prediction is due although more may be at hand.
    fn take(&mut self, message: &Message, source: &dyn Source, sink: &mut dyn Sink) -> bool {
        if self.jobs.is_none() {
            self.jobs = Some(Jobs::new(self.options_for(source.form()), self.plan.most_jobs));
        }
        let Some(jobs) = &mut self.jobs else { return false };
        let evicted = jobs.evicted();
        let session = jobs.feed(message);
        sink.feed(session.job().unwrap_or(""), &message.transfers);
        let due = session.due_in_passing();
        if jobs.evicted() != evicted {
            sink.keep_only(&jobs.sessions().map(|s| s.job().unwrap_or("")).collect::<Vec<_>>());
        }
        due
    }

    /// Those of all sources so far.
    fn faults(&self, source: &dyn Source) -> Faults {
        let of_source = source.faults();
        Faults {
            malformed: self.before.malformed + of_source.malformed,
            first: self.before.first.clone().or(of_source.first),
        }
    }

    /// Lets the next prediction of every job warn of what has been lost since the last one.
    fn warn(&mut self, source: &mut dyn Source, sink: &mut dyn Sink) {
        let faults = self.faults(source);
        let Some(jobs) = &mut self.jobs else { return };
        if let Some(warning) = source.warning() {
            sink.say(&warning.message);
            jobs.warn(&warning);
        }
        let lost = [faults.malformed, jobs.evicted(), sink.dropped()];
        let [malformed, evicted, dropped] = std::array::from_fn(|i| lost[i] > self.reported[i]);
        self.reported = lost;
        if malformed {
            let first = faults.first.unwrap_or_default();
            let text = format!("{} messages could not be read and were left out; the first: {first}", lost[0]);
            jobs.warn(&Warning::new("malformed-messages", text));
        }
        if evicted {
            let text = format!("{} jobs were given up for newer ones", lost[1]);
            jobs.warn(&Warning::new("jobs-given-up", text).remedy(Remedy::AllowJobs));
        }
        if dropped {
            let text = format!("{} predictions were dropped because their reader is slow", lost[2]);
            jobs.warn(&Warning::new("predictions-dropped", text).remedy(Remedy::ReadFaster));
        }
    }

    /// Predicts for the jobs that are `wanted`.
    fn predict(
        &mut self,
        wanted: impl Fn(&Session) -> bool,
        source: &mut dyn Source,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        self.warn(source, sink);
        for session in self.jobs.iter_mut().flat_map(Jobs::sessions_mut).filter(|s| wanted(s)) {
            let prediction = session.predict().stamped(source.clock(), SystemTime::now());
            sink.take(prediction, session.automaton())?;
        }
        Ok(())
    }

    /// Says once why nothing is predicted from what has come.
    fn say_waiting(&mut self, source: &dyn Source, sink: &mut dyn Sink) {
        let why = match self.faults(source).first {
            _ if source.is_undecided() => "what has come shows no form that can be followed".to_owned(),
            Some(fault) if self.jobs.is_none() => format!("no reads or writes received; the first fault: {fault}"),
            _ => return,
        };
        if !std::mem::replace(&mut self.said_waiting, true) {
            sink.say(&format!("{why}; waiting for more"));
        }
    }

    /// Stores the state, from time to time and at the end.
    fn store(&mut self, source: &mut dyn Source, sink: &mut dyn Sink, end: bool) -> Result<()> {
        let recent = self.stored.is_some_and(|t| t.elapsed() < STORE);
        if !self.plan.keeps_state || (recent && !end) || !source.may_stop() {
            return Ok(());
        }
        let Some(jobs) = &self.jobs else { return Ok(()) };
        let state = Checkpoint::new(source.reading()?, self.faults(source), jobs.clone());
        sink.store(state.to_bytes()?);
        self.stored = Some(Instant::now());
        Ok(())
    }
}

/// Waits for `pause`, or until `stop` is set. For files there is no event to wait for instead: network file systems do not report what
/// another node writes.
pub fn pause(pause: Duration, stop: &AtomicBool) {
    let until = Instant::now() + pause;
    while let Some(left) = until.checked_duration_since(Instant::now())
        && !stop.load(Ordering::Relaxed)
    {
        thread::sleep(left.min(NOTICE));
    }
}
