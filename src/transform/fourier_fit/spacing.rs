//! The distance that components keep from each other. All frequencies are in DFT bins.

/// Least distance of two frequencies from each other, and from 0. Components that are closer than half the resolution of the
/// window cancel each other: their amplitudes grow without bound and say nothing of the signal.
const GAP: f64 = 0.5;
/// Least distance of the two of a pair. They stand for one line whose strength changes over the window, as its two halves would
/// beat; their amplitudes are bounded by this.
pub(super) const PAIR: f64 = 1.0 / 128.0;
/// So far away are the others, and 0: three that beat would not be bounded.
const ALONE: f64 = 1.0;
/// Least distance from half the sampling rate. Nothing is there to cancel; nearer, sine and cosine look alike.
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

    /// The nearest frequency (in bins) that this signal can tell from its mean, and from an alternation unless it is one:
    /// half the sampling rate itself is a place of its own, where a component stays.
    pub(super) fn clamp(&self, frequency: f64) -> f64 {
        if self.is_alternation(frequency) { self.nyquist } else { frequency.min(self.nyquist - BELOW_TOP).max(GAP) }
    }

    /// The place below half the sampling rate from which an alternation may go on down.
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

    /// Neighbours that are as close as they may be.
    pub(super) fn crowded(frequencies: &[f64]) -> Vec<(usize, usize)> {
        let close = |pair: &(usize, usize)| frequencies[pair.1] - frequencies[pair.0] < 1.1 * GAP;
        neighbours(frequencies).filter(close).collect()
    }

    /// The crowded ones that have no other component, and not 0, near them.
    pub(super) fn pairs(frequencies: &[f64]) -> Vec<(usize, usize)> {
        let alone = |(low, high): &(usize, usize)| {
            let (from, to) = (frequencies[*low] - ALONE, frequencies[*high] + ALONE);
            from >= 0.0 && frequencies.iter().filter(|f| (from..=to).contains(*f)).count() == 2
        };
        Spacing::crowded(frequencies).into_iter().filter(alone).collect()
    }

    /// How far each frequency can move, whatever the others do, so that all keep their distance. `pairs`, the lower first, may come
    /// nearer to each other.
    pub(super) fn rooms(&self, frequencies: &[f64], pairs: &[(usize, usize)]) -> Vec<Room> {
        // The ends stand still, so all of the way to them is free; of the way to a neighbour, half.
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
    fn moving_as_far_as_there_is_room_keeps_the_distance() {
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
        // a pair may come nearer, but not three, and not beside 0
        assert_eq!(Spacing::pairs(&[10.0, 11.0, 10.5, 3.0, 3.52, 0.5, 0.95]), [(3, 4)]);
        let rooms = spacing.rooms(&[10.0, 11.0, 10.5], &[(0, 2)]);
        assert_eq!((rooms[0].above, rooms[2].below), (0.25 - 0.5 * PAIR, 0.25 - 0.5 * PAIR));
        assert_eq!((rooms[2].above, rooms[1].below), (0.0, 0.0));
        // half the sampling rate is a place of its own
        assert_eq!(spacing.clamp(50.0), 50.0);
        assert!(spacing.is_free(50.0, &f) && !spacing.is_free(49.8, &f));
        assert_eq!(spacing.rooms(&[50.0, 20.0], &[])[0], Room { below: 0.0, above: 0.0 });
    }
}
