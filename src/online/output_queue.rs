//! A bounded queue of lines for a reader that may be slow.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Behaviour of a full queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// The sender waits: for sources that can wait as well.
    Wait,
    /// The oldest line is dropped and counted: a late prediction is worth nothing.
    DropOldest,
}

/// An entry that waits to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A line.
    Line(String),
    /// A state to be stored once all lines before it are written.
    State(Vec<u8>),
}

#[derive(Debug, Default)]
struct Inner {
    items: VecDeque<Item>,
    dropped: u64,
    closed: bool,
}

/// See the module.
#[derive(Debug)]
pub struct OutputQueue {
    inner: Mutex<Inner>,
    changed: Condvar,
    most: usize,
    when_full: WhenFull,
}

impl OutputQueue {
    /// A queue of at most `most` items.
    pub fn new(most: usize, when_full: WhenFull) -> Self {
        OutputQueue { inner: Mutex::default(), changed: Condvar::new(), most: most.max(2), when_full }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an item; false if the reader has gone. Of two states that follow each other only the newer is kept.
    pub fn put(&self, item: Item) -> bool {
        let mut inner = self.inner();
        if let (Item::State(_), Some(Item::State(_))) = (&item, inner.items.back()) {
            inner.items.pop_back();
        }
        while inner.items.len() >= self.most && !inner.closed {
            match self.when_full {
                WhenFull::Wait => inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner),
                WhenFull::DropOldest => {
                    let is_line = |i: &Item| matches!(i, Item::Line(_));
                    let oldest = inner.items.iter().position(is_line).unwrap_or(0);
                    inner.items.remove(oldest);
                    inner.dropped += 1;
                }
            }
        }
        if inner.closed {
            return false;
        }
        inner.items.push_back(item);
        self.changed.notify_all();
        true
    }

    /// Waits for the next item; `None` once the box is closed and empty.
    pub fn take(&self) -> Option<Item> {
        let mut inner = self.inner();
        loop {
            if let Some(item) = inner.items.pop_front() {
                self.changed.notify_all();
                return Some(item);
            }
            if inner.closed {
                return None;
            }
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// No more items; those that wait can still be taken.
    pub fn close(&self) {
        self.inner().closed = true;
        self.changed.notify_all();
    }

    /// True once no more items are accepted.
    pub fn is_closed(&self) -> bool {
        self.inner().closed
    }

    /// Lines dropped so far.
    pub fn dropped(&self) -> u64 {
        self.inner().dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: u32) -> Item {
        Item::Line(n.to_string())
    }

    #[test]
    fn the_oldest_lines_go_and_are_counted() {
        let b = OutputQueue::new(3, WhenFull::DropOldest);
        assert!(b.put(Item::State(vec![1])));
        assert!(b.put(Item::State(vec![2])));
        for n in 0..10 {
            assert!(b.put(line(n)));
        }
        assert_eq!(b.dropped(), 8);
        b.close();
        assert!(!b.put(line(99)));
        let rest: Vec<_> = std::iter::from_fn(|| b.take()).collect();
        assert_eq!(rest, [Item::State(vec![2]), line(8), line(9)]);
    }

    #[test]
    fn a_sender_that_waits_loses_nothing() {
        let b = OutputQueue::new(2, WhenFull::Wait);
        std::thread::scope(|s| {
            s.spawn(|| {
                (0..1000).for_each(|n| assert!(b.put(line(n))));
                b.close();
            });
            let all: Vec<_> = std::iter::from_fn(|| b.take()).collect();
            assert_eq!(all, (0..1000).map(line).collect::<Vec<_>>());
        });
        assert_eq!(b.dropped(), 0);
    }
}
