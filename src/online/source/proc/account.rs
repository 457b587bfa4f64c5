//! Growth of counters to bytes that a process has moved itself.

use super::files::Counters;

/// The counters of a process that has gone, which an ancestor may have taken over.
#[derive(Debug, Clone)]
pub(super) struct Debt {
    counters: Counters,
    /// Its ancestors, the parent first.
    ancestors: Vec<u32>,
    /// It was looked for once: an ancestor that was read just before it took them over has them at the next reading.
    old: bool,
}

impl Debt {
    pub(super) fn new(counters: Counters, ancestors: Vec<u32>) -> Debt {
        Debt { counters, ancestors, old: false }
    }
}

/// What a process has moved itself between two readings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    /// The process.
    pub pid: u32,
    /// The reading before, or the last moment at which the process did not exist, in seconds.
    pub since_s: f64,
    /// By how much its counters grew.
    pub by: Counters,
}

/// Takes what came from processes that have gone off the growth of the nearest ancestor that grew by as much. Debts must come
/// parents first: a parent that has gone, too, had its children's counters in its own, or never got them.
pub(super) fn settle(debts: &mut Vec<Debt>, growth: &mut [Moved]) {
    debts.retain_mut(|debt| {
        for ancestor in &debt.ancestors {
            let Some(g) = growth.iter_mut().find(|g| g.pid == *ancestor) else { continue };
            if let Some(rest) = g.by.less(&debt.counters) {
                g.by = rest;
                return false;
            }
        }
        // not waited for: what was read of it has counted, and nobody has it again
        !std::mem::replace(&mut debt.old, true)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(pid: u32, by: Counters) -> Moved {
        Moved { pid, since_s: 0.0, by }
    }

    fn io(written: u64, calls: u64) -> Counters {
        Counters::of([0, written, 0, calls, 0, written, 0])
    }

    #[test]
    fn a_child_that_was_waited_for_does_not_count_twice() {
        let mut debts = vec![Debt::new(io(100, 10), vec![2, 1])];
        let mut growth = [moved(1, io(500, 50)), moved(2, io(130, 12))];
        settle(&mut debts, &mut growth);
        assert!(debts.is_empty());
        assert_eq!(growth, [moved(1, io(500, 50)), moved(2, io(30, 2))]);
    }

    #[test]
    fn a_parent_read_too_early_has_it_at_the_next_reading_and_one_that_does_not_wait_never() {
        let mut debts = vec![Debt::new(io(100, 10), vec![2])];
        let mut growth = [moved(2, io(99, 10))];
        settle(&mut debts, &mut growth);
        assert_eq!((debts.len(), growth[0].by), (1, io(99, 10)));
        let mut late = debts.clone();
        let mut next = [moved(2, io(100, 11))];
        settle(&mut late, &mut next);
        assert_eq!((late.len(), next[0].by), (0, io(0, 1)));
        settle(&mut debts, &mut growth);
        assert_eq!((debts.len(), growth[0].by), (0, io(99, 10)));
    }

    #[test]
    fn a_whole_branch_that_went_is_taken_off_the_ancestor_that_is_left() {
        let mut debts = vec![Debt::new(io(50, 5), vec![1]), Debt::new(io(100, 10), vec![2, 1])];
        let mut growth = [moved(1, io(155, 16))];
        settle(&mut debts, &mut growth);
        assert_eq!((debts.len(), growth[0].by), (0, io(5, 1)));
    }
}
