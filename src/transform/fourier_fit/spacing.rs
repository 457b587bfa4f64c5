//! Minimum distances between components. All frequencies are in DFT bins.

/// Least distance of two frequencies from each other, and from 0. Components that are closer than half the resolution of the
/// window cancel each other: their amplitudes grow without bound and have no meaning.
const GAP: f64 = 0.5;
/// Least distance of the two components of a pair, which models one line with varying amplitude. It bounds their amplitudes.
pub(super) const PAIR: f64 = 1.0 / 128.0;
/// Least distance of a pair from other components and from 0: three close components would have unbounded amplitudes.
const ALONE: f64 = 1.0;
/// Least distance from half the sampling rate: closer to it, sine and cosine are nearly equal.
const BELOW_TOP: f64 = 1.0 / 64.0;

/// The band of a signal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spacing {
    /// Half the sampling rate.
    nyquist: f64,
}

/// How far a frequency can move down and up, in bins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Room {
    pub below: f64,
    pub above: f64,
}

impl Spacing {
    pub(super) fn new(samples: usize) -> Spacing {
        Spacing { nyquist: 0.5 * samples as f64 }
    }

    /// The nearest allowed frequency (in bins). Half the sampling rate itself, an alternation, is allowed and does not move.
    pub(super) fn clamp(&self, frequency: f64) -> f64 {
        if self.is_alternation(frequency) { self.nyquist } else { frequency.min(self.nyquist - BELOW_TOP).max(GAP) }
    }

    /// The frequency below half the sampling rate to which an alternation can be moved.
    pub(super) fn released(&self) -> f64 {
        (self.nyquist - 0.5 * GAP).max(GAP)
    }

    /// Is this half the sampling rate?
    pub(super) fn is_alternation(&self, frequency: f64) -> bool {
        (frequency - self.nyquist).abs() < 1e-9 * self.nyquist
    }

    /// Whether a component at `frequency` keeps its distance from all of `others`.
    pub(super) fn is_free(&self, frequency: f64, others: &[f64]) -> bool {
        ((GAP..=self.nyquist - BELOW_TOP).contains(&frequency) || self.is_alternation(frequency))
            && others.iter().all(|f| (f - frequency).abs() >= GAP)
    }

    /// Neighbours at the minimum distance.
    pub(super) fn crowded(frequencies: &[f64]) -> Vec<(usize, usize)> {
        let close = |pair: &(usize, usize)| frequencies[pair.1] - frequencies[pair.0] < 1.1 * GAP;
        neighbours(frequencies).filter(close).collect()
    }

    /// Crowded neighbours without a third component or 0 nearby.
    pub(super) fn pairs(frequencies: &[f64]) -> Vec<(usize, usize)> {
        let alone = |(low, high): &(usize, usize)| {
            let (from, to) = (frequencies[*low] - ALONE, frequencies[*high] + ALONE);
            from >= 0.0 && frequencies.iter().filter(|f| (from..=to).contains(*f)).count() == 2
        };
        Spacing::crowded(frequencies).into_iter().filter(alone).collect()
    }

    /// How far each frequency can move so that all keep their distance wherever the others move. `pairs`, the lower frequency
    /// first, may come closer to each other.
    pub(super) fn rooms(&self, frequencies: &[f64], pairs: &[(usize, usize)]) -> Vec<Room> {
        // The ends are fixed, so a component may move all the way to them; of the way to a neighbour it may take half.
        let mut rooms: Vec<Room> = frequencies
            .iter()
            .map(|f| Room { below: (f - GAP).max(0.0), above: (self.nyquist - BELOW_TOP - f).max(0.0) })
            .collect();
        let fixed: Vec<usize> = (0..frequencies.len()).filter(|&i| self.is_alternation(frequencies[i])).collect();
        for (low, high) in neighbours(frequencies) {
            let gap = if pairs.contains(&(low, high)) { PAIR } else { GAP };
            let half = (0.5 * (frequencies[high] - frequencies[low] - gap)).max(0.0);
            rooms[low].above = rooms[low].above.min(half);
            rooms[high].below = rooms[high].below.min(half);
        }
        fixed.into_iter().for_each(|i| rooms[i] = Room { below: 0.0, above: 0.0 });
        rooms
    }
}

/// Indices of frequencies next to each other, the lower first.
fn neighbours(frequencies: &[f64]) -> impl Iterator<Item = (usize, usize)> {
    let mut order: Vec<usize> = (0..frequencies.len()).collect();
    order.sort_unstable_by(|a, b| frequencies[*a].total_cmp(&frequencies[*b]));
    let next = order.clone().into_iter().skip(1);
    order.into_iter().zip(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_within_the_rooms_keep_the_distance() {
        let spacing = Spacing::new(100);
        let f = [10.0, 10.5, 49.5, 0.5, 12.0];
        let rooms = spacing.rooms(&f, &[]);
        assert_eq!(rooms[1], Room { below: 0.0, above: 0.5 });
        assert_eq!(rooms[3], Room { below: 0.0, above: 4.5 });
        assert_eq!(rooms[2].above, 0.5 - BELOW_TOP);
        for signs in 0..1 << f.len() {
            let moved: Vec<f64> = (0..f.len())
                .map(|i| if signs >> i & 1 == 0 { f[i] - rooms[i].below } else { f[i] + rooms[i].above })
                .collect();
            for (i, place) in moved.iter().enumerate() {
                let others: Vec<f64> = moved.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, f)| *f).collect();
                assert!(spacing.is_free(*place, &others), "{moved:?}");
            }
        }
        assert_eq!(Spacing::crowded(&f), [(0, 1)]);
        assert!(!spacing.is_free(0.4, &[]) && !spacing.is_free(10.2, &f));
        assert_eq!((spacing.clamp(-3.0), spacing.clamp(49.999), spacing.clamp(7.0)), (0.5, 50.0 - BELOW_TOP, 7.0));
        // A pair may come closer, but not three components, and not a component beside 0.
        assert_eq!(Spacing::pairs(&[10.0, 11.0, 10.5, 3.0, 3.52, 0.5, 0.95]), [(3, 4)]);
        let rooms = spacing.rooms(&[10.0, 11.0, 10.5], &[(0, 2)]);
        assert_eq!((rooms[0].above, rooms[2].below), (0.25 - 0.5 * PAIR, 0.25 - 0.5 * PAIR));
        assert_eq!((rooms[2].above, rooms[1].below), (0.0, 0.0));
        // Half the sampling rate is allowed.
        assert_eq!(spacing.clamp(50.0), 50.0);
        assert!(spacing.is_free(50.0, &f) && !spacing.is_free(49.8, &f));
        assert_eq!(spacing.rooms(&[50.0, 20.0], &[])[0], Room { below: 0.0, above: 0.0 });
    }
}
