//! Accesses that no nest describes. They may still have an order: one direction, or a usual step.
//!
//! A library may read the datasets of a file by name: most steps are from one dataset to the next, some are jumps. Random offsets
//! have no usual step. A repeated sequence of steps is not an order: random offsets may repeat elsewhere, too.

use super::super::access::{Access, Settings, Voting};
use super::super::extent::{Front, Shape};
use super::super::lattice::{Axis, Sequentiality};
use super::super::thresholds::LIMITS;

/// Accesses that no nest describes, in bounded memory.
#[derive(Debug, Clone)]
pub(super) struct Irregular {
    rising: bool,
    falling: bool,
    steps: Steps,
    bytes: Front,
    /// The meet of the votes on all windows; an uncertain vote counts as no order.
    vote: Option<Sequentiality>,
}

impl Irregular {
    pub fn new(first: &Access) -> Self {
        let mut bytes = Front::default();
        bytes.add(first.offset, first.past());
        Self { rising: true, falling: true, steps: Steps::default(), bytes, vote: None }
    }

    /// One more access, after one at `last`.
    pub fn add(&mut self, last: u64, a: &Access) {
        self.rising &= a.offset > last;
        self.falling &= a.offset < last;
        self.steps.add(a.offset.wrapping_sub(last) as i64, a.size);
        self.bytes.add(a.offset, a.past());
    }

    /// Asks for a vote on one more window.
    pub fn ask(&mut self, window: &[Access], settings: Settings) {
        let Voting::IfIrregular(vote) = settings.voting else { return };
        if self.vote.is_none_or(|v| !v.is_disorder()) {
            let sure = vote(window, settings.stripe).filter(|(_, p)| *p >= LIMITS.sure);
            let class = sure.map_or(Sequentiality::LEAST, |v| v.0);
            self.vote = Some(self.vote.map_or(class, |before| before.meet(class)));
        }
    }

    /// The order on which all votes agree.
    fn voted(&self) -> Option<Sequentiality> {
        self.vote.filter(|v| !v.is_disorder())
    }

    pub fn has_usual_step(&self) -> bool {
        self.steps.usual().is_some()
    }

    /// Was it the network that found an order?
    pub fn is_by_network(&self) -> bool {
        self.voted().is_some() && !self.has_usual_step()
    }

    /// The class, the bytes and the usual step, given the usual size.
    pub fn close(self, size: u64) -> (Sequentiality, Shape, Option<i64>) {
        let usual = self.steps.usual();
        let class = match self.voted() {
            // back-to-back runs, one behind the other: two loops
            _ if usual == Some(size as i64) => Sequentiality::StridedKd,
            _ if usual.is_some() => Sequentiality::Strided1d,
            Some(order) => order,
            _ if self.rising || self.falling => Sequentiality::VariablyStrided,
            _ => Sequentiality::NonSequential,
        };
        let shape = if class == Sequentiality::Sequential { Shape::Whole } else { self.bytes.finish() };
        (class, shape, usual)
    }
}

/// The majority of the steps, in constant memory (Boyer and Moore).
#[derive(Debug, Clone, Default)]
struct Steps {
    count: u64,
    /// The leading step, its lead, and how often it was seen since then.
    leader: i64,
    lead: u64,
    seen: u64,
    near: u64,
}

impl Steps {
    /// One more step, of an access of `size` bytes.
    fn add(&mut self, step: i64, size: u64) {
        self.count += 1;
        self.near = size / LIMITS.near;
        match (self.lead, step.wrapping_sub(self.leader).unsigned_abs() <= self.near) {
            (0, _) => (self.leader, self.lead, self.seen) = (step, 1, 1),
            (_, true) => (self.lead, self.seen) = (self.lead + 1, self.seen + 1),
            (_, false) => self.lead -= 1,
        }
    }

    /// The step that more than half of them have, if it goes anywhere.
    fn usual(&self) -> Option<i64> {
        let is_most =
            self.count >= LIMITS.fewest_steps && 2 * self.seen > self.count && self.leader.unsigned_abs() > self.near;
        is_most.then_some(self.leader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual(places: impl IntoIterator<Item = u64>) -> Option<i64> {
        let places: Vec<u64> = places.into_iter().collect();
        let mut steps = Steps::default();
        places.windows(2).for_each(|w| steps.add((w[1].wrapping_sub(w[0]) as i64).wrapping_mul(100), 100));
        steps.usual()
    }

    #[test]
    fn runs_with_jumps_have_a_usual_step() {
        let order = [0u64, 1, 2, 6, 7, 3, 4, 5];
        assert_eq!(usual(order), Some(100));
        assert_eq!(usual((0..40).flat_map(|k| order.map(|o| 8 * k + o))), Some(100));
        assert_eq!(usual((0..40).flat_map(|k| order.map(|o| 8 * (40 - k) - o))), Some(-100));
    }

    #[test]
    fn random_places_have_no_usual_step_even_if_they_repeat_elsewhere() {
        let mut state = 7u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for n in [13u64, 16, 40, 400] {
            let mut places: Vec<u64> = (0..n).collect();
            (1..n as usize).rev().for_each(|i| places.swap(i, draw(i as u64 + 1) as usize));
            let elsewhere = (0..5).flat_map(|k| places.iter().map(move |p| k * n + p));
            assert_eq!((usual(places.iter().copied()), usual(elsewhere)), (None, None), "{n}");
        }
    }

    #[test]
    fn staying_at_one_place_is_no_step() {
        assert_eq!(usual([3, 3, 3, 3, 9, 3, 3, 3, 3, 3, 2, 3]), None);
    }
}
