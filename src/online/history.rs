//! How often a frequency was found periodic: the frequencies of the predictions so far, merged to ranges.
//!
//! FTIO's predictor does the same with its dominant frequencies (Tarraf et al., IPDPS 2024, online part): neighbouring
//! frequencies are merged to an interval and the share of the predictions in it is reported. Here rejected candidates are counted
//! as well, so that the share of the accepted ones is a conditional probability.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::prediction::FrequencyRange;

/// Predictions remembered.
const MEMORY: usize = 64;
/// Neighbouring frequencies of a range differ by at most this, of the logarithm.
const SAME: f64 = 0.1;

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct History {
    /// Frequency and whether it was found periodic; no frequency where there was no candidate.
    entries: VecDeque<(Option<f64>, bool)>,
}

impl History {
    /// Adds a prediction and gives the range of its frequency.
    pub(super) fn add(&mut self, frequency_hz: Option<f64>, periodic: bool) -> Option<FrequencyRange> {
        let frequency = frequency_hz.filter(|f| f.is_finite() && *f > 0.0);
        while self.entries.len() >= MEMORY {
            self.entries.pop_front();
        }
        self.entries.push_back((frequency, periodic));
        let frequency = frequency?;
        let mut sorted: Vec<(f64, bool)> = self.entries.iter().filter_map(|&(f, p)| Some((f?, p))).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut range = sorted.chunk_by(|a, b| (b.0 / a.0).ln() <= SAME);
        let range = range.find(|r| r.iter().any(|e| e.0 == frequency))?;
        let count = range.len() as f64;
        Some(FrequencyRange {
            low_hz: range.first()?.0,
            high_hz: range.last()?.0,
            predictions: range.len() as u64,
            probability: count / self.entries.len() as f64,
            periodic_probability: range.iter().filter(|e| e.1).count() as f64 / count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_merge_and_count() {
        let mut h = History::default();
        h.add(Some(0.5), true);
        h.add(Some(0.52), false);
        h.add(None, false);
        h.add(Some(2.0), true);
        let r = h.add(Some(0.55), true).unwrap();
        assert_eq!((r.low_hz, r.high_hz, r.predictions), (0.5, 0.55, 3));
        assert!((r.probability - 0.6).abs() < 1e-12 && (r.periodic_probability - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(h.add(None, false), None);
        assert_eq!(h.add(Some(f64::NAN), false), None);
        for _ in 0..1000 {
            h.add(Some(1.0), true);
        }
        let r = h.add(Some(1.0), true).unwrap();
        assert_eq!((r.predictions, r.probability, h.entries.len()), (MEMORY as u64, 1.0, MEMORY));
    }
}
