//! The jobs that are followed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};
use std::vec;

use tokio::sync::OwnedMutexGuard;

use super::Bounds;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::Limits;
use crate::formats::tail::{self, ClientClocks, Faults, Message, Tail};
use crate::online::live::{Live, Snapshot};
use crate::online::{Options, Session};
use crate::record::{Clock, Interval, Warning};

/// Longest name of a job in bytes.
const NAME: usize = 256;

/// A job: what follows it, and what it found last. Whoever asks for that does not wait for an analysis.
pub(super) struct Job {
    /// Held as long as a block is followed.
    following: Arc<tokio::sync::Mutex<Following>>,
    found: Mutex<Option<Arc<Found>>>,
}

/// What the blocks so far have shown of a job.
pub(super) struct Found {
    pub(super) snapshot: Snapshot,
    /// Bytes read and written.
    pub(super) bytes: f64,
}

impl Job {
    fn new(name: &str, options: &Options) -> Job {
        let session = Session::new(Some(name.to_owned()), options.clone());
        let following = Following { session, live: Live::new(), bytes: 0.0 };
        Job { following: Arc::new(tokio::sync::Mutex::new(following)), found: Mutex::default() }
    }

    /// Waits for the blocks that came before.
    pub(super) async fn following(&self) -> OwnedMutexGuard<Following> {
        self.following.clone().lock_owned().await
    }

    pub(super) fn show(&self, found: Arc<Found>) {
        *locked(&self.found) = Some(found);
    }
}

/// The session of a job and its live view.
pub(super) struct Following {
    session: Session,
    live: Live,
    bytes: f64,
}

impl Following {
    /// Goes on with a block for [`Bounds::turn`]; what it shows, once all of it is taken. The block may hold many bursts: changes of the
    /// period within it are followed as far as its transfers pay for the analyses.
    pub(super) fn follow(&mut self, block: &mut Block, bounds: &Bounds) -> Option<Arc<Found>> {
        block.warning.take().into_iter().for_each(|w| self.session.warn(w));
        block.ranks.drain(..).for_each(|n| self.session.set_ranks(n));
        let begun = Instant::now();
        for t in block.transfers.by_ref() {
            if self.session.due_in_passing() {
                self.session.catch_up();
            }
            self.live.feed(std::slice::from_ref(&t));
            self.bytes += if t.bytes.is_finite() { t.bytes } else { 0.0 };
            self.session.feed(std::slice::from_ref(&t));
            if begun.elapsed() >= bounds.turn {
                return None;
            }
        }
        let prediction = self.session.predict().stamped(block.clock, SystemTime::now());
        self.live.note(&prediction, self.session.automaton());
        Some(Arc::new(Found { snapshot: self.live.snapshot(), bytes: self.bytes }))
    }
}

/// A job and when it was last asked for a place.
struct Place {
    job: Arc<Job>,
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

    /// What was found last of a job.
    pub(super) fn found(&self, name: &str) -> Option<Arc<Found>> {
        locked(&self.places).1.get(name).and_then(|p| locked(&p.job.found).clone())
    }

    /// What was found last of each job.
    pub(super) fn all_found(&self) -> Vec<(String, Arc<Found>)> {
        let places = locked(&self.places);
        places.1.iter().filter_map(|(name, p)| Some((name.clone(), locked(&p.job.found).clone()?))).collect()
    }

    /// Removes a job; false if there is none of this name.
    pub(super) fn remove(&self, name: &str) -> bool {
        locked(&self.places).1.remove(name).is_some()
    }

    /// The job of this name, made if there is none; then the one that has been silent for longest may go.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for a name that is too long.
    pub(super) fn get_or_make(&self, name: &str) -> Result<Arc<Job>> {
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
        let place = jobs
            .entry(name.to_owned())
            .or_insert_with(|| Place { job: Arc::new(Job::new(name, &self.options)), fed: 0 });
        place.fed = *fed;
        Ok(place.job.clone())
    }
}

/// The lock, also of what a panic elsewhere left behind. Nothing that takes long is done under it.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part of the trace of a running job: what is still to be followed of it.
pub(super) struct Block {
    ranks: Vec<u64>,
    /// In order of their starts.
    transfers: vec::IntoIter<Interval>,
    warning: Option<Warning>,
    clock: Clock,
}

impl Block {
    /// Reads a map with arrays as MessagePack or JSON, TMIO, strace, or records as CSV or JSON Lines.
    ///
    /// # Errors
    /// Those of the readers; [`ErrorKind::Malformed`] if nothing in it can be read.
    pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Block> {
        if matches!(bytes.first(), Some(0x80..=0x8f | 0xde | 0xdf)) {
            let message = tail::decode(bytes, &mut ClientClocks::default())?;
            return Ok(Block::new(vec![message], &Faults::default(), Clock::default()));
        }
        let mut tail = Tail::new(None, limits)?;
        tail.push(bytes);
        tail.end();
        let mut messages = Vec::new();
        while let Some(m) = tail.next_message()? {
            messages.push(m);
        }
        match &tail.faults().first {
            Some(what) if messages.is_empty() => Err(Error::new(ErrorKind::Malformed, what.clone())),
            None if messages.is_empty() => Err(Error::new(ErrorKind::Empty, "no transfer in the block")),
            _ => Ok(Block::new(messages, tail.faults(), tail.clock())),
        }
    }

    fn new(messages: Vec<Message>, faults: &Faults, clock: Clock) -> Block {
        let warning = faults.first.as_ref().map(|first| {
            let count = faults.malformed;
            let text = format!("{count} rows of the block could not be read and were left out; the first: {first}");
            Warning::new("malformed-messages", text)
        });
        let (mut ranks, mut transfers) = (Vec::new(), Vec::new());
        for m in messages {
            ranks.extend(m.ranks.filter(|n| ranks.last() != Some(n)));
            transfers.extend(m.transfers);
        }
        transfers.sort_by(|a, b| a.start.total_cmp(&b.start));
        Block { ranks, transfers: transfers.into_iter(), warning, clock }
    }
}
