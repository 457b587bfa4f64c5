//! Many jobs, a session each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::prediction::Prediction;
use super::session::{Options, Session};
use crate::formats::tail::Message;
use crate::record::Warning;

/// Longest name of a job in characters; the rest is cut.
const NAME: usize = 256;

/// A session and when it was last fed.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    session: Session,
    fed: u64,
    /// The source has begun anew since.
    anew: bool,
}

/// The sessions of all jobs of a source. Serializes whole.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Jobs {
    options: Options,
    most: usize,
    /// By the name of the job; empty for the one without a name.
    sessions: BTreeMap<String, Entry>,
    /// Messages taken.
    fed: u64,
    /// Sessions evicted for newer ones.
    evicted: u64,
}

impl Jobs {
    /// No job yet; at most `most` at one time, at least one.
    pub fn new(options: Options, most: usize) -> Self {
        Jobs { options, most: most.max(1), sessions: BTreeMap::new(), fed: 0, evicted: 0 }
    }

    /// The one job of this name, for messages that name none.
    #[cfg(feature = "serve")]
    pub(crate) fn of_one(name: &str, options: Options) -> Self {
        let session = Session::new(Some(name.to_owned()), options.clone());
        let mut jobs = Jobs::new(options, 1);
        jobs.sessions.insert(String::new(), Entry { session, fed: 0, anew: false });
        jobs
    }

    /// How sessions are made.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Messages taken so far.
    pub fn messages(&self) -> u64 {
        self.fed
    }

    /// Sessions evicted for newer ones so far.
    pub fn evicted(&self) -> u64 {
        self.evicted
    }

    /// The sessions, by the name of the job.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values().map(|e| &e.session)
    }

    /// The same to change.
    pub(crate) fn sessions_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        self.sessions.values_mut().map(|e| &mut e.session)
    }

    /// Follows the messages so far where that is due and paid for, without predictions.
    #[cfg(feature = "serve")]
    pub(crate) fn catch_up(&mut self) {
        self.sessions_mut().filter(|s| s.due_in_passing()).for_each(Session::catch_up);
    }

    /// Feeds a message to the session of its job and gives that. A job too many takes the place of the one that has been silent
    /// for the longest.
    pub fn feed(&mut self, message: &Message) -> &mut Session {
        let name = message.job.as_deref().unwrap_or("");
        let name = name.char_indices().nth(NAME).map_or(name, |(end, _)| &name[..end]);
        if !self.sessions.contains_key(name) && self.sessions.len() >= self.most {
            let oldest = self.sessions.iter().min_by_key(|(_, e)| e.fed).map(|(n, _)| n.clone());
            self.evicted += u64::from(oldest.and_then(|n| self.sessions.remove(&n)).is_some());
        }
        self.fed += 1;
        let entry = self.sessions.entry(name.to_owned()).or_insert_with(|| {
            let job = Some(name.to_owned()).filter(|n| !n.is_empty());
            Entry { session: Session::new(job, self.options.clone()), fed: 0, anew: false }
        });
        entry.fed = self.fed;
        if let (true, Some(end_s)) = (entry.anew, message.transfers.iter().map(|t| t.end).reduce(f64::max)) {
            entry.anew = false;
            entry.session.begin_anew_before(end_s);
        }
        if let Some(ranks) = message.ranks {
            entry.session.set_ranks(ranks);
        }
        entry.session.feed(&message.transfers);
        &mut entry.session
    }

    /// Predicts for every job for which a prediction is due.
    pub fn predict_due(&mut self) -> Vec<Prediction> {
        self.sessions_mut().filter(|s| s.due()).map(Session::predict).collect()
    }

    /// Predicts for every job of which something has come since its last prediction.
    pub fn predict_news(&mut self) -> Vec<Prediction> {
        self.sessions_mut().filter(|s| s.is_updated()).map(Session::predict).collect()
    }

    /// The source begins anew: a job whose clock then turns out to have been set back begins anew, too.
    pub fn begin_anew(&mut self) {
        self.sessions.values_mut().for_each(|e| e.anew = true);
    }

    /// Adds a warning to the next prediction of every job.
    pub fn warn(&mut self, warning: &Warning) {
        self.sessions_mut().for_each(|s| s.warn(warning.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Interval, Op};

    fn message(job: &str, start_s: f64) -> Message {
        let t = Interval { op: Op::Write, start: start_s, end: start_s + 0.5, bytes: 1e6, ..Interval::default() };
        Message { job: Some(job.into()), ranks: None, transfers: vec![t] }
    }

    #[test]
    fn jobs_are_kept_apart_and_bounded() {
        let mut jobs = Jobs::new(Options::default(), 3);
        for i in 0..12 {
            jobs.feed(&message("a", 2.0 * f64::from(i)));
            jobs.feed(&message("b", 5.0 * f64::from(i)));
        }
        let periods: Vec<_> =
            jobs.predict_news().iter().map(|p| (p.job.clone().unwrap(), p.period_s.unwrap())).collect();
        assert_eq!(periods.len(), 2);
        assert!((periods[0].1 - 2.0).abs() < 1e-6 && (periods[1].1 - 5.0).abs() < 1e-6, "{periods:?}");
        jobs.feed(&message("c", 0.0));
        jobs.feed(&message("a", 24.0));
        jobs.feed(&message("d", 0.0));
        let names: Vec<_> = jobs.sessions().filter_map(Session::job).collect();
        assert_eq!((names, jobs.evicted()), (vec!["a", "c", "d"], 1));
        jobs.feed(&message(&"é".repeat(1000), 0.0));
    }
}
