//! A bounded sketch of the accesses to a file, for pictures: a few hundred accesses of each rank, evenly chosen.

use super::access::Access;

/// Accesses kept of a rank in a file, at least, once there are more.
const KEPT: usize = 256;

/// An access that is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SketchedAccess {
    /// Seconds on the trace's own clock.
    pub start_s: f64,
    /// Seconds on the trace's own clock.
    pub end_s: f64,
    /// First byte.
    pub start_offset: u64,
    /// One past the last byte.
    pub end_offset: u64,
    /// A write.
    pub write: bool,
}

/// Accesses of all ranks to a file, fewer than there are if there are many.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sketch {
    /// Ranks in order, each with its accesses in order.
    pub ranks: Vec<(u32, Vec<SketchedAccess>)>,
    /// Accesses in the trace.
    pub accesses: u64,
}

impl Sketch {
    pub(crate) fn of(ranks: Vec<(u32, Sketcher)>, origin: f64) -> Self {
        let accesses = ranks.iter().map(|r| r.1.accesses).sum();
        let finish = |s: Sketcher| {
            let later =
                |a: SketchedAccess| SketchedAccess { start_s: origin + a.start_s, end_s: origin + a.end_s, ..a };
            s.kept.into_iter().map(later).collect()
        };
        Self { ranks: ranks.into_iter().map(|(rank, s)| (rank, finish(s))).collect(), accesses }
    }
}

/// Makes the sketch of one rank while its accesses pass: of many, every `step`-th is kept.
#[derive(Debug, Clone)]
pub(crate) struct Sketcher {
    kept: Vec<SketchedAccess>,
    accesses: u64,
    step: u64,
}

impl Default for Sketcher {
    fn default() -> Self {
        Self { kept: Vec::new(), accesses: 0, step: 1 }
    }
}

impl Sketcher {
    pub fn push(&mut self, a: &Access) {
        if self.kept.len() == 2 * KEPT {
            self.kept = self.kept.iter().step_by(2).copied().collect();
            self.step *= 2;
        }
        if self.accesses.is_multiple_of(self.step) {
            self.kept.push(SketchedAccess {
                start_s: a.start,
                end_s: a.end,
                start_offset: a.offset,
                end_offset: a.past(),
                write: a.write,
            });
        }
        self.accesses += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(offsets: impl Iterator<Item = u64>) -> Sketch {
        let mut s = Sketcher::default();
        for (i, offset) in offsets.enumerate() {
            s.push(&Access { write: true, offset, size: 8, start: i as f64, end: i as f64 + 0.5 });
        }
        Sketch::of(vec![(0, s)], 0.0)
    }

    #[test]
    fn a_million_accesses_become_few_and_still_reach_the_end() {
        for step in [8, 24] {
            let s = sketch((0..1_000_000u64).map(|i| i * step));
            let kept = &s.ranks[0].1;
            assert_eq!(s.accesses, 1_000_000);
            assert!(kept.len() >= KEPT && kept.len() <= 2 * KEPT, "{}", kept.len());
            assert!(kept.windows(2).all(|w| w[0].start_s < w[1].start_s && w[0].end_offset <= w[1].start_offset));
            assert!(kept[kept.len() - 1].end_s > 990_000.0);
            let steps: Vec<u64> = kept.windows(2).map(|w| w[1].start_offset - w[0].start_offset).collect();
            assert!(steps.iter().all(|s| *s == steps[0]), "evenly chosen");
        }
    }

    #[test]
    fn few_accesses_are_kept_as_they_are() {
        let s = sketch([0u64, 100, 50].into_iter());
        let places: Vec<u64> = s.ranks[0].1.iter().map(|a| a.start_offset).collect();
        assert_eq!(places, [0, 100, 50]);
    }
}
