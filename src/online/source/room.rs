//! Room for the messages and bodies that come from many peers at one time.
//!
//! Bytes that have come take room, not those that are announced. Where there is none left, peers wait in a line, and the one that
//! has stalled for longest gives way to its head. One message at a time, the chosen one, comes whole past the line: halves never
//! wait for each other.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes after which a peer has made progress. A byte now and then is none.
pub(crate) const STEP: u64 = 64 << 10;
/// A peer without progress for so long gives way to one that waits for room.
const STALLED: Duration = Duration::from_millis(250);

/// The answer to a peer that waits for room or for bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// It is its turn: ask again.
    Ask,
    /// It has given way.
    Leave,
}

/// Takes signals. Is called under a lock: must neither wait nor ask.
pub(crate) type Tell = Arc<dyn Fn(Signal) + Send + Sync>;

/// The answer to a request for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Taken,
    /// Ask again when told to, or at this time.
    Wait(Option<Instant>),
    /// The peer has given way to others.
    Left,
}

/// See the module.
#[derive(Clone)]
pub(crate) struct Room(Arc<Mutex<State>>);

struct State {
    /// Bytes that are free, without those kept for the chosen message.
    free: u64,
    chosen: Option<u64>,
    next: u64,
    coming: BTreeMap<u64, Coming>,
    /// Messages that wait for room.
    line: VecDeque<u64>,
}

/// A message of which more is to come.
struct Coming {
    bytes: u64,
    waits: bool,
    /// It has given way. Its bytes are there until its share is dropped.
    left: bool,
    /// Of its last progress, and the bytes since.
    progress: Instant,
    since: u64,
    tell: Tell,
}

/// The room of one message, until it is dropped.
pub(crate) struct Share {
    room: Room,
    id: u64,
    /// Bytes of the message once it is whole.
    whole: u64,
}

impl Room {
    /// Room for `bytes` of messages of at most `largest` bytes; at least for one.
    pub(crate) fn new(bytes: u64, largest: u64) -> Room {
        let (free, coming, line) = (bytes.saturating_sub(largest), BTreeMap::new(), VecDeque::new());
        Room(Arc::new(Mutex::new(State { free, chosen: None, next: 0, coming, line })))
    }

    /// A message that begins to come.
    pub(crate) fn enter(&self, tell: Tell, now: Instant) -> Share {
        let mut state = self.state();
        let id = state.next;
        state.next += 1;
        state.coming.insert(id, Coming { bytes: 0, waits: false, left: false, progress: now, since: 0, tell });
        Share { room: self.clone(), id, whole: 0 }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Asks for room for bytes that have come.
    pub(crate) fn ask(&self, bytes: u64, now: Instant) -> Answer {
        let mut state = self.room.state();
        if state.coming.get(&self.id).is_none_or(|m| m.left) {
            Answer::Left
        } else if state.take(self.id, bytes, now) {
            Answer::Taken
        } else {
            state.stand_in_line(self.id, now)
        }
    }

    /// The message is whole and keeps its room; false if it had to give way.
    pub(crate) fn keep(&mut self) -> bool {
        let mut state = self.room.state();
        let Some(message) = state.coming.get(&self.id).filter(|m| !m.left) else { return false };
        self.whole = message.bytes;
        state.coming.remove(&self.id);
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut state = self.room.state();
        let message = state.coming.remove(&self.id);
        state.line.retain(|waits| *waits != self.id);
        state.free += message.map_or(self.whole, |m| m.bytes);
        state.chosen = state.chosen.filter(|chosen| *chosen != self.id);
        state.call_first();
    }
}

impl State {
    fn take(&mut self, id: u64, bytes: u64, now: Instant) -> bool {
        let is_first = self.line.front().is_none_or(|first| *first == id);
        let Some(message) = self.coming.get_mut(&id) else { return false };
        if self.chosen != Some(id) {
            if is_first && self.free >= bytes {
                self.free -= bytes;
                message.bytes += bytes;
            } else if is_first && self.chosen.is_none() {
                self.chosen = Some(id);
            } else {
                return false;
            }
        }
        message.since += bytes;
        if message.waits || message.since >= STEP {
            (message.progress, message.since) = (now, 0);
        }
        if std::mem::take(&mut message.waits) {
            self.line.pop_front();
            self.call_first();
        }
        true
    }

    /// The answer to one that has to wait. For the first in line, another may have to give way; one at a time.
    fn stand_in_line(&mut self, id: u64, now: Instant) -> Answer {
        let Some(message) = self.coming.get_mut(&id) else { return Answer::Left };
        if !std::mem::replace(&mut message.waits, true) {
            self.line.push_back(id);
        }
        if self.line.front() != Some(&id) || self.coming.values().any(|m| m.left) {
            return Answer::Wait(None);
        }
        let chosen = self.chosen;
        let stalls = self.coming.iter_mut().filter(|(i, m)| !m.waits && (m.bytes > 0 || chosen == Some(**i)));
        let Some((_, stalled)) = stalls.min_by_key(|(_, m)| m.progress) else { return Answer::Wait(None) };
        let gives_way = stalled.progress + STALLED;
        if now < gives_way {
            return Answer::Wait(Some(gives_way));
        }
        stalled.left = true;
        (stalled.tell)(Signal::Leave);
        Answer::Wait(None)
    }

    fn call_first(&self) {
        if let Some(first) = self.line.front().and_then(|id| self.coming.get(id)) {
            (first.tell)(Signal::Ask);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Answer::{Left, Taken, Wait};

    const MB: u64 = 1 << 20;

    fn silent() -> Tell {
        Arc::new(|_| {})
    }

    /// Stores the answer to a peer.
    fn noting() -> (Tell, Arc<Mutex<Vec<Signal>>>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let notes = told.clone();
        (Arc::new(move |signal| notes.lock().unwrap().push(signal)), told)
    }

    #[test]
    fn who_has_stalled_for_longest_gives_way_to_one_that_waits() {
        let (room, t) = (Room::new(3 * MB, MB), Instant::now());
        let (tell, told) = noting();
        let first = room.enter(tell, t);
        let (second, third, good) = (room.enter(silent(), t), room.enter(silent(), t), room.enter(silent(), t));
        assert_eq!((first.ask(MB, t), second.ask(MB, t + STALLED / 4)), (Taken, Taken));
        // of the room that is kept for one to come whole
        assert_eq!(third.ask(MB / 2, t + STALLED / 2), Taken);
        assert_eq!(good.ask(1, t + STALLED / 2), Wait(Some(t + STALLED)));
        assert_eq!((good.ask(1, t + STALLED), &told.lock().unwrap()[..]), (Wait(None), &[Signal::Leave][..]));
        assert_eq!(first.ask(1, t + STALLED), Left);
        // nobody else while its bytes are there
        assert_eq!((good.ask(1, t + 9 * STALLED), second.ask(1, t + 9 * STALLED)), (Wait(None), Wait(None)));
        drop(first);
        assert_eq!((good.ask(1, t + 9 * STALLED), second.ask(1, t + 9 * STALLED)), (Taken, Taken));
    }

    #[test]
    fn a_byte_now_and_then_is_no_progress() {
        let t = Instant::now();
        for (bytes, answer) in [(1, Left), (STEP, Taken)] {
            let room = Room::new(MB, MB);
            let (slow, good) = (room.enter(silent(), t), room.enter(silent(), t));
            assert_eq!((slow.ask(MB / 2, t), good.ask(1, t)), (Taken, Wait(Some(t + STALLED))));
            assert_eq!(slow.ask(bytes, t + STALLED / 2), Taken);
            good.ask(1, t + STALLED);
            assert_eq!(slow.ask(1, t + STALLED), answer);
        }
    }

    #[test]
    fn nobody_gives_way_while_there_is_room() {
        let (room, t) = (Room::new(2 * MB, MB), Instant::now());
        let mut silent: Vec<Share> = (0..60).map(|_| room.enter(silent(), t)).collect();
        assert!(silent.iter().all(|s| s.ask(1, t) == Taken));
        let mut good = room.enter(Arc::new(|_| {}), t + 9 * STALLED);
        assert_eq!((good.ask(MB / 2, t + 9 * STALLED), good.keep()), (Taken, true));
        assert!(silent.iter_mut().all(Share::keep));
    }

    #[test]
    fn halves_do_not_wait_for_each_other() {
        let (room, t) = (Room::new(2 * MB, MB), Instant::now());
        let mut halves: Vec<_> = (0..8).map(|_| room.enter(silent(), t)).map(|share| (share, MB / STEP)).collect();
        // Nobody has stalled: time stands. Each asks for its next step in turn.
        while !halves.is_empty() {
            let before = halves.iter().map(|h| h.1).sum::<u64>();
            for (share, left) in &mut halves {
                *left -= u64::from(share.ask(STEP, t) == Taken);
            }
            assert!(halves.iter().map(|h| h.1).sum::<u64>() < before, "all wait");
            halves.retain_mut(|(share, left)| *left > 0 || !share.keep());
        }
    }

    #[test]
    fn a_whole_message_keeps_its_room_and_the_line_is_kept() {
        let (room, t) = (Room::new(MB, MB), Instant::now());
        let mut whole = room.enter(silent(), t);
        assert_eq!((whole.ask(MB, t), whole.keep()), (Taken, true));
        let ((a, told_a), (b, told_b)) = (noting(), noting());
        let (a, b) = (room.enter(a, t), room.enter(b, t));
        assert_eq!((a.ask(1, t + 9 * STALLED), b.ask(1, t + 9 * STALLED)), (Wait(None), Wait(None)));
        drop(whole);
        assert_eq!((&told_a.lock().unwrap()[..], told_b.lock().unwrap().len()), (&[Signal::Ask][..], 0));
        // the one that was called goes: the next is
        drop(a);
        assert_eq!((&told_b.lock().unwrap()[..], b.ask(1, t)), (&[Signal::Ask][..], Taken));
    }
}
