//! The activities of a case in the order in which their calls began, counted as they end.
//!
//! Calls end in another order than they begin: one that waits ends after many others. Its place is kept open, as a hole between
//! runs of settled activities, of which only the first and the last matter any more. So memory grows with the calls that
//! are open at one time, not with the trace, and every pair is counted once, when the last thing between the two is settled.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// Number of an activity in its case.
pub(super) type Activity = u32;

/// Before the first activity of a case, and after the last.
pub(super) const BOUNDARY: Activity = u32::MAX;

/// How often one activity directly follows another; [`BOUNDARY`] is the start as `from` and the end as `to`.
pub(super) type EdgeCounts = HashMap<(Activity, Activity), u64, RandomState>;

/// No neighbour.
const NONE: usize = usize::MAX;

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Settled activities: the first and the last.
    Run(Activity, Activity),
    /// A call that has begun.
    Hole,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    kind: Kind,
    before: usize,
    after: usize,
}

/// A case on its way.
#[derive(Debug)]
pub(super) struct Sequence {
    links: Vec<Link>,
    free: Vec<usize>,
    last: usize,
    edges: EdgeCounts,
    /// The pair counted last, and how often in a row: most pairs repeat.
    recent: ((Activity, Activity), u64),
}

impl Default for Sequence {
    fn default() -> Self {
        let start = Link { kind: Kind::Run(BOUNDARY, BOUNDARY), before: NONE, after: NONE };
        Sequence {
            links: vec![start],
            free: Vec::new(),
            last: 0,
            edges: EdgeCounts::default(),
            recent: ((BOUNDARY, BOUNDARY), 0),
        }
    }
}

impl Sequence {
    /// The activity begins after all others.
    pub(super) fn push(&mut self, a: Activity) {
        if let Kind::Run(first, last) = self.links[self.last].kind {
            self.links[self.last].kind = Kind::Run(first, a);
            self.count(last, a);
        } else {
            self.append(Kind::Run(a, a));
        }
    }

    /// A call begins after all others; gives the number of its hole.
    pub(super) fn open(&mut self) -> usize {
        self.append(Kind::Hole)
    }

    /// The call of the hole is this activity, or none.
    pub(super) fn settle(&mut self, hole: usize, activity: Option<Activity>) {
        match activity {
            Some(a) => {
                self.links[hole].kind = Kind::Run(a, a);
                self.join(hole);
                // Joining leaves the left one of two.
                self.join(self.links[hole].after);
            }
            None => {
                let after = self.links[hole].after;
                self.remove(hole);
                self.join(after);
            }
        }
    }

    /// The counts; holes that are still open are dropped.
    pub(super) fn finish(mut self) -> EdgeCounts {
        for i in 0..self.links.len() {
            if matches!(self.links[i].kind, Kind::Hole) {
                self.settle(i, None);
            }
        }
        if let Kind::Run(_, last) = self.links[self.last].kind
            && last != BOUNDARY
        {
            self.count(last, BOUNDARY);
        }
        self.flush();
        self.edges
    }

    fn append(&mut self, kind: Kind) -> usize {
        let link = Link { kind, before: self.last, after: NONE };
        let i = match self.free.pop() {
            Some(i) => {
                self.links[i] = link;
                i
            }
            None => {
                self.links.push(link);
                self.links.len() - 1
            }
        };
        self.links[self.last].after = i;
        self.last = i;
        i
    }

    /// Makes one run of this link and the one before, if both are runs.
    fn join(&mut self, i: usize) {
        let Some(&Link { kind: Kind::Run(a, b), before, .. }) = self.links.get(i) else { return };
        let Some(&Link { kind: Kind::Run(first, last), .. }) = self.links.get(before) else { return };
        self.count(last, a);
        self.links[before].kind = Kind::Run(first, b);
        self.remove(i);
    }

    fn remove(&mut self, i: usize) {
        let Link { before, after, .. } = self.links[i];
        if let Some(l) = self.links.get_mut(before) {
            l.after = after;
        }
        match self.links.get_mut(after) {
            Some(l) => l.before = before,
            None => self.last = before,
        }
        // A run without neighbours: what is left of a removed link.
        self.links[i].kind = Kind::Run(BOUNDARY, BOUNDARY);
        self.free.push(i);
    }

    fn count(&mut self, from: Activity, to: Activity) {
        if self.recent.0 == (from, to) {
            self.recent.1 += 1;
        } else {
            self.flush();
            self.recent = ((from, to), 1);
        }
    }

    fn flush(&mut self) {
        if self.recent.1 > 0 {
            *self.edges.entry(self.recent.0).or_default() += self.recent.1;
            self.recent.1 = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(activities: &[Activity]) -> EdgeCounts {
        let mut s = Sequence::default();
        activities.iter().for_each(|&a| s.push(a));
        s.finish()
    }

    #[test]
    fn pairs_and_ends() {
        let e = plain(&[1, 1, 2]);
        assert_eq!(e.len(), 4);
        assert!([(BOUNDARY, 1), (1, 1), (1, 2), (2, BOUNDARY)].iter().all(|p| e[p] == 1));
        assert!(plain(&[]).is_empty());
    }

    proptest! {
        /// Calls that end late or never leave the same counts as their plain sequence.
        #[test]
        fn order_of_ends_does_not_matter(
            calls in prop::collection::vec((prop::option::of(0u32..4), 0usize..12, any::<bool>()), 0..60),
        ) {
            let mut s = Sequence::default();
            let mut waiting: Vec<(usize, usize, Option<Activity>)> = Vec::new();
            for (i, &(activity, delay, never)) in calls.iter().enumerate() {
                waiting.retain(|&(until, hole, a)| {
                    if until == i {
                        s.settle(hole, a);
                    }
                    until != i
                });
                match (delay, activity) {
                    (0, Some(a)) => s.push(a),
                    (0, None) => {}
                    _ if never => { s.open(); }
                    _ => {
                        let hole = s.open();
                        waiting.push((i + delay, hole, activity));
                    }
                }
            }
            waiting.into_iter().for_each(|(_, hole, a)| s.settle(hole, a));
            let kept: Vec<Activity> =
                calls.iter().filter(|c| c.1 == 0 || !c.2).filter_map(|c| c.0).collect();
            prop_assert_eq!(s.finish(), plain(&kept));
        }

        #[test]
        fn memory_is_that_of_open_calls(n in 1u32..2000) {
            let mut s = Sequence::default();
            let wait = s.open();
            for i in 0..n {
                let hole = s.open();
                s.push(i % 3);
                s.settle(hole, Some(3));
            }
            prop_assert!(s.links.len() <= 8);
            s.settle(wait, Some(4));
            prop_assert_eq!(s.finish()[&(BOUNDARY, 4)], 1);
        }
    }
}
