//! Choosing the sampling rate from the trace.

use super::profile::Profile;
use super::{SHORTEST_S, Span};

/// Samples that an automatic rate gives at most.
pub const MAX_AUTO_SAMPLES: usize = 1 << 16;
/// Samples that an automatic rate gives at least, so that pictures and spectra have something to show.
pub const MIN_AUTO_SAMPLES: usize = 1 << 9;

/// Result of one pass over the transfers: extent, bytes, and how long those that carry the bytes last.
#[derive(Debug, Clone)]
pub struct Extent {
    /// Transfers.
    pub count: u64,
    /// Bytes.
    pub bytes: f64,
    /// First start in seconds, infinite if there is none.
    pub start: f64,
    /// Last end in seconds, minus infinity if there is none.
    pub end: f64,
    /// Bytes by duration: cell i holds durations of 2^(i/4 - 100) seconds; the first those without duration.
    durations: Vec<f64>,
}

const CELLS: usize = 800;

impl Default for Extent {
    fn default() -> Self {
        Extent { count: 0, bytes: 0.0, start: f64::INFINITY, end: f64::NEG_INFINITY, durations: vec![0.0; CELLS] }
    }
}

impl Extent {
    /// One pass over the transfers.
    pub fn of(spans: impl Iterator<Item = Span>) -> Extent {
        let mut e = Extent::default();
        spans.for_each(|s| e.add(s));
        e
    }

    /// Adds a transfer.
    #[inline]
    pub fn add(&mut self, s: Span) {
        self.count += 1;
        self.bytes += s.bytes;
        self.start = self.start.min(s.start);
        self.end = self.end.max(s.end);
        let d = s.end - s.start;
        let cell = if d > 0.0 { ((quick_log2(d) + 100.0) * 4.0).clamp(1.0, (CELLS - 1) as f64) as usize } else { 0 };
        self.durations[cell] += s.bytes;
    }

    /// Seconds from first start to last end; 0 if there is nothing.
    pub fn duration(&self) -> f64 {
        (self.end - self.start).max(0.0)
    }

    /// The duration below which transfers carry the share `q` of the bytes; `None` if none has a duration.
    pub fn duration_quantile(&self, q: f64) -> Option<f64> {
        let timed = &self.durations[1..];
        let total: f64 = timed.iter().sum();
        let mut sum = 0.0;
        let i = timed.iter().position(|b| {
            sum += b;
            *b > 0.0 && sum >= q * total
        })?;
        Some(2f64.powf((i + 1) as f64 / 4.0 - 100.0))
    }
}

/// log2 to within 0.09, from the bits of the number: enough for cells a quarter octave wide.
#[inline]
fn quick_log2(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as f64 - 1023.0;
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    exponent + (mantissa - 1.0)
}

/// A sampling rate in Hz that resolves the bursts: six samples in a burst of the usual width if that is known, else two in
/// the duration below which transfers move a tenth of the bytes; rounded up to 1, 2 or 5 times a power of ten, and between
/// [`MIN_AUTO_SAMPLES`] and [`MAX_AUTO_SAMPLES`] over the run. For heatmaps and sampled counters it is one sample a bin (`bin_s`), at
/// most [`MAX_AUTO_SAMPLES`] as well.
pub fn auto_rate(extent: &Extent, bin_s: Option<f64>, burst_width: Option<f64>) -> f64 {
    let duration = extent.duration();
    if let Some(w) = bin_s.filter(|w| *w > 0.0) {
        return (1.0 / w).min(MAX_AUTO_SAMPLES as f64 / duration.max(SHORTEST_S));
    }
    if duration < SHORTEST_S {
        return 1.0;
    }
    let wanted = match burst_width.filter(|w| *w > 0.0) {
        Some(w) => 6.0 / w,
        None => extent.duration_quantile(0.1).map_or(0.0, |d| 2.0 / d),
    };
    let (low, high) = (MIN_AUTO_SAMPLES as f64 / duration, MAX_AUTO_SAMPLES as f64 / duration);
    let round = nice_above(wanted.clamp(low, high));
    if round <= high { round } else { nice_above(round / 2.6).min(high) }
}

/// Usual width of a burst in seconds: the byte-weighted median of the stretches of I/O after those that lie much closer
/// together than others are joined. The natural break between short and long gaps is where the sorted gaps grow by the
/// largest factor. `None` if there are no two stretches, or no break by a factor of 2.
pub fn burst_width(profile: &Profile) -> Option<f64> {
    let (times, rates) = (profile.times(), profile.rates());
    let mut stretches: Vec<(f64, f64)> = Vec::new();
    for (pair, _) in times.windows(2).zip(rates).filter(|(_, r)| **r > 0.0) {
        match stretches.last_mut() {
            Some(last) if last.1 >= pair[0] => last.1 = pair[1],
            _ => stretches.push((pair[0], pair[1])),
        }
    }
    let mut gaps: Vec<f64> = stretches.windows(2).map(|w| w[1].0 - w[0].1).collect();
    gaps.sort_unstable_by(f64::total_cmp);
    let growth = |w: &[f64]| w[1] / w[0].max(f64::MIN_POSITIVE);
    let (i, factor) = gaps.windows(2).map(growth).enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 1.0));
    let join = if factor >= 2.0 { gaps[i] } else { 0.0 };
    let mut bursts: Vec<(f64, f64)> = Vec::new();
    for s in stretches {
        match bursts.last_mut() {
            Some(last) if s.0 - last.1 <= join => last.1 = s.1,
            _ => bursts.push(s),
        }
    }
    if bursts.len() < 2 {
        return None;
    }
    let mut widths: Vec<(f64, f64)> =
        bursts.iter().map(|&(a, b)| (b - a, profile.bytes_until(b) - profile.bytes_until(a))).collect();
    widths.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * widths.iter().map(|w| w.1).sum::<f64>();
    let mut sum = 0.0;
    widths
        .iter()
        .find(|w| {
            sum += w.1;
            sum >= half
        })
        .map(|w| w.0)
}

/// The smallest 1, 2 or 5 times a power of ten that is not below `x`.
fn nice_above(x: f64) -> f64 {
    let base = 10f64.powf(x.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * base).find(|v| *v >= x * (1.0 - 1e-12)).unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_short_transfers_within_the_bounds() {
        let train = |n: u32, gap: f64, d: f64| {
            Extent::of((0..n).map(move |i| Span { start: f64::from(i) * gap, end: f64::from(i) * gap + d, bytes: 1e6 }))
        };
        let f = auto_rate(&train(100, 10.0, 1.0), None, None);
        assert!((2.0..=5.0).contains(&f), "{f}");
        let f = auto_rate(&train(100, 10.0, 1e-5), None, None);
        assert!(f * 1000.0 <= MAX_AUTO_SAMPLES as f64 && f * 1000.0 > MAX_AUTO_SAMPLES as f64 / 3.0, "{f}");
        let f = auto_rate(&train(3, 10.0, 9.0), None, None);
        assert!(f * 29.0 >= MIN_AUTO_SAMPLES as f64, "{f}");
        assert_eq!(auto_rate(&train(3, 10.0, 9.0), Some(0.2), None), 5.0);
        assert_eq!(auto_rate(&Extent::of(std::iter::empty()), None, None), 1.0);
        for (gap, d) in [(0.0, 5e-324), (5e-324, 5e-324), (1e-310, 0.0), (1e-13, 1e-13)] {
            assert_eq!(auto_rate(&train(3, gap, d), None, None), 1.0);
            assert!(auto_rate(&train(3, gap, d), Some(5e-324), None).is_finite());
        }
    }

    #[test]
    fn bursts_of_pieces_have_the_width_of_the_whole() {
        let piece = |i: u32, k: u32| {
            let start = 50.0 + 10.0 * f64::from(i) + 0.1 * f64::from(k);
            Span { start, end: start + 0.05, bytes: 1e6 }
        };
        let train = Profile::from_spans((0..20).flat_map(|i| (0..8).map(move |k| piece(i, k))));
        let w = burst_width(&train).unwrap();
        assert!((w - 0.75).abs() < 1e-9, "{w}");
        let one = Profile::from_spans([Span { start: 0.0, end: 5.0, bytes: 1.0 }]);
        assert_eq!(burst_width(&one), None);
        let w = burst_width(&Profile::from_spans((0..9).map(|i| piece(i, 0)))).unwrap();
        assert!((w - 0.05).abs() < 1e-9, "{w}");
    }

    #[test]
    fn round_numbers() {
        for (x, y) in [(1.0, 1.0), (1.1, 2.0), (0.03, 0.05), (7.0, 10.0), (200.0, 200.0)] {
            assert!((nice_above(x) / y - 1.0f64).abs() < 1e-9, "{x}");
        }
    }
}
