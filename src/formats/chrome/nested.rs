//! Events inside one another: a call of a library, and the calls that it makes, are the same bytes.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::record::{FileId, Op};

/// An event that moves bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved {
    /// Number of its thread, from 1; 0 if it is on none.
    pub lane: u32,
    pub op: Op,
    pub file: FileId,
    pub start: f64,
    pub end: f64,
    pub bytes: f64,
}

impl Moved {
    /// True if `inner` is a part of this event, and shorter. At the edge of one a call without length is the next one.
    fn holds(&self, inner: &Moved) -> bool {
        let same_file = self.file == inner.file || self.file == FileId::NONE || inner.file == FileId::NONE;
        let within = self.start <= inner.start && inner.end <= self.end;
        let shorter = inner.end - inner.start < self.end - self.start;
        let clear = inner.end > inner.start || self.start < inner.start && inner.end < self.end;
        (self.lane, self.op) == (inner.lane, inner.op) && same_file && within && shorter && clear
    }
}

/// Finds out as events come whether some are inside others.
#[derive(Default)]
pub(super) struct Lanes {
    numbers: HashMap<(u32, u32), u32, RandomState>,
    /// Of each thread the last event, and the one that ends last.
    seen: Vec<[Moved; 2]>,
    /// The thread of each event, if the events are kept.
    kept: Option<Vec<u32>>,
    /// Events inside others, or around others.
    nested: u64,
}

impl Lanes {
    pub fn new(keeps: bool) -> Self {
        Lanes { kept: keeps.then(Vec::new), ..Lanes::default() }
    }

    pub fn any_nested(&self) -> bool {
        self.nested > 0
    }

    /// Takes the next event, which is on this thread (rank and task) or on none.
    pub fn note(&mut self, thread: Option<(u32, u32)>, event: Moved) {
        let next = self.numbers.len() as u32 + 1;
        let lane = thread.map_or(0, |thread| *self.numbers.entry(thread).or_insert(next));
        self.kept.iter_mut().for_each(|kept| kept.push(lane));
        if let Some(place) = (lane as usize).checked_sub(1) {
            self.see(place, Moved { lane, ..event });
        }
    }

    fn see(&mut self, place: usize, event: Moved) {
        let Some([last, latest]) = self.seen.get_mut(place) else {
            self.seen.push([event, event]);
            return;
        };
        self.nested += u64::from(latest.holds(&event) || event.holds(last));
        *last = event;
        if event.end >= latest.end {
            *latest = event;
        }
    }

    /// Which of the events that were kept count; `None` if all do.
    pub fn counted(&self, events: impl Iterator<Item = Moved>) -> Option<Vec<bool>> {
        let lanes = self.kept.as_ref().filter(|_| self.nested > 0)?;
        let events: Vec<Moved> = events.zip(lanes).map(|(event, &lane)| Moved { lane, ..event }).collect();
        Some(counted(&events))
    }
}

/// Which of some events count, so that no byte counts twice: those inside another one if they move as many bytes as it does, else
/// that one alone.
fn counted(events: &[Moved]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..events.len()).filter(|&i| events[i].lane > 0).collect();
    order.sort_by(|&a, &b| {
        let (x, y) = (&events[a], &events[b]);
        let group = |e: &Moved| (e.lane, e.op as u8);
        group(x).cmp(&group(y)).then(x.start.total_cmp(&y.start)).then(y.end.total_cmp(&x.end)).then(a.cmp(&b))
    });
    // of each event by its place in the order: where those inside it end, if it counts instead of them
    let mut covers = vec![None; order.len()];
    // the events around the next one: place and bytes of those inside
    let mut around: Vec<(usize, f64)> = Vec::new();
    let mut close = |around: &mut Vec<(usize, f64)>, next: usize| {
        let Some((place, inside)) = around.pop() else { return };
        let own = events[order[place]].bytes;
        if inside < own || inside == 0.0 {
            covers[place] = Some(next);
        }
        if let Some((_, sum)) = around.last_mut() {
            *sum += inside.max(own);
        }
    };
    for (place, &i) in order.iter().enumerate() {
        while around.last().is_some_and(|&(outer, _)| !events[order[outer]].holds(&events[i])) {
            close(&mut around, place);
        }
        around.push((place, 0.0));
    }
    while !around.is_empty() {
        close(&mut around, order.len());
    }
    let mut counts = vec![true; events.len()];
    let mut covered = 0;
    for (place, (&i, covers)) in order.iter().zip(covers).enumerate() {
        counts[i] = place >= covered && covers.is_some();
        covered = covered.max(covers.filter(|_| counts[i]).unwrap_or(0));
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(start: f64, end: f64, bytes: f64) -> Moved {
        Moved { lane: 1, op: Op::Write, file: FileId(0), start, end, bytes }
    }

    #[test]
    fn of_an_event_and_those_inside_it_the_larger_account_counts() {
        let outer = event(0.0, 10.0, 8.0);
        let inside = |bytes| [event(1.0, 4.0, bytes), event(5.0, 9.0, bytes)];
        assert_eq!(counted(&[&[outer][..], &inside(4.0)].concat()), [false, true, true]);
        assert_eq!(counted(&[&inside(4.0)[..], &[outer]].concat()), [true, true, false]);
        assert_eq!(counted(&[&[outer][..], &inside(3.0)].concat()), [true, false, false]);
        // three levels, of which the lowest is not whole
        let deep = [outer, event(1.0, 9.0, 8.0), event(2.0, 3.0, 1.0)];
        assert_eq!(counted(&deep), [false, true, false]);
    }

    #[test]
    fn neighbours_other_threads_files_and_directions_are_not_inside() {
        let outer = event(0.0, 10.0, 8.0);
        for beside in [
            event(10.0, 10.0, 1.0),
            event(5.0, 11.0, 1.0),
            outer,
            Moved { lane: 2, ..event(1.0, 2.0, 1.0) },
            Moved { lane: 0, ..event(1.0, 2.0, 1.0) },
            Moved { op: Op::Read, ..event(1.0, 2.0, 1.0) },
            Moved { file: FileId(1), ..event(1.0, 2.0, 1.0) },
        ] {
            assert_eq!(counted(&[outer, beside]), [true, true], "{beside:?}");
            let mut lanes = Lanes::new(false);
            lanes.note(Some((0, 0)), outer);
            lanes.note((beside.lane > 0).then(|| (0, beside.lane - 1)), beside);
            assert!(!lanes.any_nested(), "{beside:?}");
        }
        let many: Vec<Moved> = (0..100_000).map(|i| event(f64::from(i), 2e5 - f64::from(i), 1.0)).collect();
        assert_eq!(counted(&many).into_iter().filter(|c| *c).count(), 1);
    }
}
