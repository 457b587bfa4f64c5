//! Events that have begun and not ended.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;

use super::event::Event;
use super::rows::Io;

/// Open events of one thread, or of one asynchronous id.
const MOST_OF_ONE: usize = 100_000;
/// Open events of all.
const MOST: usize = 2_000_000;

/// An event that has begun.
struct Open {
    /// Hash of its name.
    name: u64,
    at_ns: i64,
    /// What it is, if it is I/O.
    io: Option<Io>,
}

/// Pairs begins and ends: last in, first out, within a thread or an asynchronous id.
#[derive(Default)]
pub(super) struct Pairs {
    hasher: RandomState,
    /// By hash of the thread or id.
    open: HashMap<u64, Vec<Open>, RandomState>,
    count: usize,
    /// Ends without a begin, and begins that other ends or bounds closed.
    pub(super) unmatched: u64,
}

impl Pairs {
    fn hash(&self, x: impl Hash) -> u64 {
        self.hasher.hash_one(x)
    }

    /// Events of a thread.
    pub(super) fn thread(&self, event: &Event<'_>) -> u64 {
        self.hash((false, event.pid, event.tid))
    }

    /// Asynchronous events of an id.
    pub(super) fn id(&self, event: &Event<'_>) -> u64 {
        self.hash((true, event.pid, event.category, event.id, event.name))
    }

    pub(super) fn begin(&mut self, key: u64, event: &Event<'_>, at_ns: i64, io: Option<Io>) {
        let name = self.hash(event.name);
        let of_key = self.open.entry(key).or_default();
        if of_key.len() >= MOST_OF_ONE || self.count >= MOST {
            self.unmatched += 1;
            return;
        }
        of_key.push(Open { name, at_ns, io });
        self.count += 1;
    }

    /// The begin and the I/O of the event that ends; an end without a name closes the last one.
    pub(super) fn end(&mut self, key: u64, event: &Event<'_>) -> Option<(i64, Option<Io>)> {
        let name = self.hash(event.name);
        let of_key = self.open.get_mut(&key);
        let place = of_key.as_deref().and_then(|open| match event.name {
            b"" => open.len().checked_sub(1),
            _ => open.iter().rposition(|o| o.name == name),
        });
        let (Some(of_key), Some(place)) = (of_key, place) else {
            self.unmatched += 1;
            return None;
        };
        let inner = of_key.len() - place - 1;
        self.unmatched += inner as u64;
        self.count -= inner + 1;
        of_key.truncate(place + 1);
        let ended = of_key.pop();
        if of_key.is_empty() {
            // ids of asynchronous events do not come again
            self.open.remove(&key);
        }
        ended.map(|o| (o.at_ns, o.io))
    }

    /// Begins and ends without partner, in the end.
    pub(super) fn lost(&self) -> u64 {
        self.unmatched + self.count as u64
    }
}
