//! Whether a walk that no nest describes has a usual step all the same: runs of one stride with jumps between them.
//!
//! A library may take the datasets of a file by name: from dataset to dataset the stride is that of the file, and now and then the
//! walk jumps. Drawn offsets have no usual step. That they come again elsewhere in the same order makes them no walk either, so a
//! round of steps that repeats is not looked for.

use super::NEAR;

/// Fewest steps that tell: of fewer, more than half may be equal by chance.
const FEWEST: u64 = 7;

/// The steps of one walk, in constant memory: a majority vote (Boyer and Moore).
#[derive(Debug, Clone, Default)]
pub(super) struct Steps {
    count: u64,
    /// The step that leads, by how many votes, and how often it was seen since it leads.
    leader: i64,
    lead: u64,
    seen: u64,
    near: u64,
}

impl Steps {
    /// One more step, of an access of `size` bytes.
    pub fn add(&mut self, step: i64, size: u64) {
        self.count += 1;
        self.near = size / NEAR;
        match (self.lead, step.wrapping_sub(self.leader).unsigned_abs() <= self.near) {
            (0, _) => (self.leader, self.lead, self.seen) = (step, 1, 1),
            (_, true) => (self.lead, self.seen) = (self.lead + 1, self.seen + 1),
            (_, false) => self.lead -= 1,
        }
    }

    /// The step that more than half of them have, if it goes anywhere.
    pub fn usual(&self) -> Option<i64> {
        let most = self.count >= FEWEST && 2 * self.seen > self.count && self.leader.unsigned_abs() > self.near;
        most.then_some(self.leader)
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
    fn drawn_places_have_none_nor_have_they_again_elsewhere() {
        let mut state = 7u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for n in [13u64, 16, 40, 400] {
            let mut places: Vec<u64> = (0..n).collect();
            (1..n as usize).rev().for_each(|i| places.swap(i, draw(i as u64 + 1) as usize));
            assert_eq!(usual(places.iter().copied()), None, "{n}");
            let elsewhere = (0..5).flat_map(|k| places.iter().map(move |p| k * n + p));
            assert_eq!(usual(elsewhere), None, "{n} elsewhere");
        }
    }

    #[test]
    fn staying_on_the_spot_is_no_step() {
        assert_eq!(usual([3, 3, 3, 3, 9, 3, 3, 3, 3, 3, 2, 3]), None);
    }
}
