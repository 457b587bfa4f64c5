//! The jobs that are followed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec;

use tokio::sync::OwnedMutexGuard;

use super::Bounds;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::Limits;
use crate::formats::tail::{self, ClientClocks, Faults, Message, Tail};
use crate::online::follow::{Automaton, Follower, Next, Sink, Source};
use crate::online::live::{Live, Snapshot};
use crate::online::{Options, Prediction};
use crate::record::{Clock, Interval};

/// Longest name of a job in bytes.
const NAME: usize = 256;

/// A job: what follows it, and what it found last. Whoever asks for that does not wait for an analysis.
pub(super) struct Job {
    /// Held as long as a block is followed.
    following: Arc<tokio::sync::Mutex<Following>>,
    found: Mutex<Option<Arc<Found>>>,
}

/// Findings about a job from the blocks so far.
pub(super) struct Found {
    pub(super) snapshot: Snapshot,
    /// Bytes read and written.
    pub(super) bytes: f64,
}

impl Job {
    fn new(name: &str, options: &Options) -> Job {
        let following = Following { follower: Follower::of_job(name, options), view: View::default() };
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

/// The follower of a job, and its live view.
pub(super) struct Following {
    follower: Follower,
    view: View,
}

impl Following {
    /// Goes on with a block for [`Bounds::turn`]; what it shows, once all of it is taken.
    ///
    /// # Errors
    /// None that is of the client.
    pub(super) fn follow(&mut self, block: &mut Block, bounds: &Bounds) -> Result<Option<Arc<Found>>> {
        let whole = self.follower.take_piece(block, &mut self.view, bounds.turn)?;
        let found = || Arc::new(Found { snapshot: self.view.live.snapshot(), bytes: self.view.bytes });
        Ok(whole.then(found))
    }
}

/// The live view of a job.
#[derive(Default)]
struct View {
    live: Live,
    bytes: f64,
}

impl Sink for View {
    fn feed(&mut self, _: &str, transfers: &[Interval]) {
        self.live.feed(transfers);
        self.bytes += transfers.iter().map(|t| t.bytes).filter(|b| b.is_finite()).sum::<f64>();
    }

    fn take(&mut self, prediction: Prediction, automaton: &Automaton) -> Result<()> {
        self.live.note(&prediction, automaton);
        Ok(())
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

    /// The last findings about a job.
    pub(super) fn found(&self, name: &str) -> Option<Arc<Found>> {
        locked(&self.places).1.get(name).and_then(|p| locked(&p.job.found).clone())
    }

    /// The last findings about each job.
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
    ranks: vec::IntoIter<u64>,
    /// In the order of their starts.
    transfers: vec::IntoIter<Interval>,
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
            let message = tail::decode(bytes, &mut ClientClocks::default())?;
            return Ok(Block::new(vec![message], Faults::default(), Clock::default()));
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
            _ => Ok(Block::new(messages, tail.faults().clone(), tail.clock())),
        }
    }

    fn new(messages: Vec<Message>, faults: Faults, clock: Clock) -> Block {
        let mut ranks: Vec<u64> = messages.iter().filter_map(|m| m.ranks).collect();
        ranks.dedup();
        let mut transfers: Vec<Interval> = messages.into_iter().flat_map(|m| m.transfers).collect();
        transfers.sort_by(|a, b| a.start.total_cmp(&b.start));
        Block { ranks: ranks.into_iter(), transfers: transfers.into_iter(), faults, clock }
    }
}

impl Source for Block {
    /// A message for each transfer: the block may hold many bursts.
    fn next(&mut self) -> Result<Next> {
        let ranks = self.ranks.next().map(|n| Message { ranks: Some(n), ..Message::default() });
        let transfer = || self.transfers.next().map(|t| Message { transfers: vec![t], ..Message::default() });
        Ok(ranks.or_else(transfer).map_or(Next::End, Next::Message))
    }

    fn faults(&self) -> Faults {
        self.faults.clone()
    }

    fn clock(&self) -> Clock {
        self.clock
    }
}
