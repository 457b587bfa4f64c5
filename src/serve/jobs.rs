//! The jobs that are followed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::error::{Error, ErrorKind, Result};
use crate::formats::Limits;
use crate::formats::tail::{self, ClientClocks, Faults, Message, Tail};
use crate::online::live::{Live, Snapshot};
use crate::online::{Options, Prediction, Session};
use crate::record::{Clock, Warning};

/// Longest name of a job in bytes.
const NAME: usize = 256;

/// A job: what predicts it, and what is shown of it.
pub(super) struct Job {
    session: Session,
    live: Live,
    latest: Option<Prediction>,
    bytes: f64,
}

impl Job {
    pub(super) fn latest(&self) -> Option<&Prediction> {
        self.latest.as_ref()
    }

    /// Bytes taken so far.
    pub(super) fn bytes(&self) -> f64 {
        self.bytes
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        self.live.snapshot()
    }

    /// Takes the transfers of a block in order of their starts, and predicts. The block may hold many bursts: changes of the
    /// period within it are followed.
    pub(super) fn take(&mut self, block: Block) -> Prediction {
        if let Some(first) = &block.faults.first {
            let text = format!(
                "{} rows of the block could not be read and were left out; the first: {first}",
                block.faults.malformed
            );
            self.session.warn(Warning::new("malformed-messages", text));
        }
        let mut transfers = Vec::new();
        for m in block.messages {
            if let Some(ranks) = m.ranks {
                self.session.set_ranks(ranks);
            }
            transfers.extend(m.transfers);
        }
        transfers.sort_by(|a, b| a.start.total_cmp(&b.start));
        self.live.feed(&transfers);
        self.bytes += transfers.iter().map(|t| t.bytes).filter(|b| b.is_finite()).sum::<f64>();
        for t in &transfers {
            if self.session.due() {
                self.session.catch_up();
            }
            self.session.feed(std::slice::from_ref(t));
        }
        let prediction = self.session.predict().stamped(block.clock, SystemTime::now());
        self.live.note(&prediction, self.session.automaton());
        self.latest = Some(prediction.clone());
        prediction
    }
}

/// A job and when it was last asked for a place.
struct Place {
    job: Arc<Mutex<Job>>,
    fed: u64,
}

/// All jobs, by name.
pub(super) struct Jobs {
    options: Options,
    most: usize,
    places: Mutex<(u64, BTreeMap<String, Place>)>,
}

impl Jobs {
    pub(super) fn new(options: Options, most: usize) -> Jobs {
        Jobs { options, most: most.max(1), places: Mutex::default() }
    }

    /// How jobs are followed.
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    pub(super) fn names(&self) -> Vec<String> {
        locked(&self.places).1.keys().cloned().collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<Mutex<Job>>> {
        locked(&self.places).1.get(name).map(|p| p.job.clone())
    }

    /// Removes a job; false if there is none of this name.
    pub(super) fn remove(&self, name: &str) -> bool {
        locked(&self.places).1.remove(name).is_some()
    }

    /// The job of this name, made if there is none; then the one that has been silent for longest may go.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for a name that is too long.
    pub(super) fn get_or_make(&self, name: &str) -> Result<Arc<Mutex<Job>>> {
        if name.len() > NAME {
            return Err(Error::new(ErrorKind::Usage, format!("a name of {} bytes", name.len()))
                .expected(format!("at most {NAME}")));
        }
        let mut places = locked(&self.places);
        let (fed, jobs) = &mut *places;
        *fed += 1;
        if !jobs.contains_key(name) && jobs.len() >= self.most {
            let oldest = jobs.iter().min_by_key(|(_, p)| p.fed).map(|(n, _)| n.clone());
            oldest.and_then(|n| jobs.remove(&n));
        }
        let place = jobs.entry(name.to_owned()).or_insert_with(|| {
            let session = Session::new(Some(name.to_owned()), self.options.clone());
            Place { job: Arc::new(Mutex::new(Job { session, live: Live::new(), latest: None, bytes: 0.0 })), fed: 0 }
        });
        place.fed = *fed;
        Ok(place.job.clone())
    }
}

/// The lock, also of what a panic elsewhere left behind: every state of a job is a usable one.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part of the trace of a running job.
pub(super) struct Block {
    messages: Vec<Message>,
    faults: Faults,
    clock: Clock,
}

impl Block {
    /// Reads a map with arrays as MessagePack or JSON, TMIO, strace, or records as CSV or JSON Lines.
    ///
    /// # Errors
    /// Those of the readers; [`ErrorKind::Malformed`] if nothing in it can be read.
    pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Block> {
        if matches!(bytes.first(), Some(0x80..=0x8f | 0xde | 0xdf)) {
            let messages = vec![tail::decode(bytes, &mut ClientClocks::default())?];
            return Ok(Block { messages, faults: Faults::default(), clock: Clock::default() });
        }
        let mut tail = Tail::new(None, limits)?;
        tail.push(bytes);
        tail.end();
        let mut messages = Vec::new();
        while let Some(m) = tail.next_message()? {
            messages.push(m);
        }
        let faults = tail.faults().clone();
        match faults.first {
            Some(what) if messages.is_empty() => Err(Error::new(ErrorKind::Malformed, what)),
            None if messages.is_empty() => Err(Error::new(ErrorKind::Empty, "no transfer in the block")),
            _ => Ok(Block { messages, faults, clock: tail.clock() }),
        }
    }
}
