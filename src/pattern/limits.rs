//! Memory of the detector, shared out among the ranks.

/// Bounds of one rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Open automata.
    pub open: usize,
    /// Accesses that wait.
    pub waiting: usize,
    /// Sizes by file and operation.
    pub lanes: usize,
    /// Time steps of an automaton.
    pub steps: usize,
    /// Pieces that are kept until the end; of more, those of fewest bytes are counted and not listed.
    pub pieces: usize,
}

impl Limits {
    /// The bounds of each rank in a job of `ranks` ranks.
    pub fn of(ranks: usize) -> Limits {
        let share = |all: usize, least: usize, most: usize| (all / ranks.max(1)).clamp(least, most);
        Limits {
            open: share(1 << 16, 16, 1 << 14),
            waiting: share(1 << 16, 512, 1 << 16),
            lanes: share(1 << 15, 512, 1 << 15),
            steps: share(1 << 13, 16, 256),
            pieces: share(1 << 15, 512, 1 << 15),
        }
    }
}
