//! Events that have begun and not ended.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;

use super::args::Event;
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
    /// The transfer, if the event is I/O.
    io: Option<Io>,
}

/// The open events of a thread or of an asynchronous id, the innermost last.
#[derive(Default)]
struct Stack {
    open: Vec<Open>,
    /// How many of each name are open, once there are many: an end without a begin then costs no search.
    of_names: Option<HashMap<u64, u32, RandomState>>,
}

impl Stack {
    /// Open events among which a name is searched without an index.
    const SEARCHED: usize = 32;

    fn push(&mut self, event: Open) {
        if let Some(of_names) = &mut self.of_names {
            *of_names.entry(event.name).or_default() += 1;
        }
        self.open.push(event);
        if self.open.len() == Self::SEARCHED && self.of_names.is_none() {
            let mut of_names: HashMap<u64, u32, RandomState> = HashMap::default();
            self.open.iter().for_each(|o| *of_names.entry(o.name).or_default() += 1);
            self.of_names = Some(of_names);
        }
    }

    fn pop(&mut self) -> Option<Open> {
        let event = self.open.pop()?;
        if let Some(of_names) = &mut self.of_names
            && let Entry::Occupied(mut n) = of_names.entry(event.name)
        {
            *n.get_mut() -= 1;
            if *n.get() == 0 {
                n.remove();
            }
        }
        Some(event)
    }

    /// Whether an event of this name is open.
    fn has(&self, name: u64) -> bool {
        match &self.of_names {
            Some(of_names) => of_names.contains_key(&name),
            None => self.open.iter().any(|o| o.name == name),
        }
    }
}

/// Pairs begins and ends: last in, first out, within a thread or an asynchronous id.
#[derive(Default)]
pub(super) struct Pairs {
    hasher: RandomState,
    /// By hash of the thread or id.
    open: HashMap<u64, Stack, RandomState>,
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
        if of_key.open.len() >= MOST_OF_ONE || self.count >= MOST {
            self.unmatched += 1;
            return;
        }
        of_key.push(Open { name, at_ns, io });
        self.count += 1;
    }

    /// The begin and the I/O of the event that ends; an end without a name closes the last one.
    pub(super) fn end(&mut self, key: u64, event: &Event<'_>) -> Option<(i64, Option<Io>)> {
        let name = self.hash(event.name);
        let any = event.name.is_empty();
        let Some(of_key) = self.open.get_mut(&key).filter(|k| any || k.has(name)) else {
            self.unmatched += 1;
            return None;
        };
        let mut ended = of_key.pop();
        while ended.as_ref().is_some_and(|o| !any && o.name != name) {
            self.unmatched += 1;
            self.count -= 1;
            ended = of_key.pop();
        }
        self.count -= usize::from(ended.is_some());
        if of_key.open.is_empty() {
            // ids of asynchronous events do not come again
            self.open.remove(&key);
        }
        ended.map(|o| (o.at_ns, o.io))
    }

    /// Gives up events that are open at the end of a document: they never end.
    pub(super) fn close(&mut self) {
        self.open.clear();
        self.unmatched += std::mem::take(&mut self.count) as u64;
    }
}
