//! Choosing the sampling rate from the trace.

use super::Span;

/// Samples that an automatic rate gives at most.
pub const MAX_AUTO_SAMPLES: usize = 1 << 17;
/// Samples that an automatic rate gives at least, so that pictures and spectra have something to show.
pub const MIN_AUTO_SAMPLES: usize = 1 << 9;

/// What one pass over the transfers tells: extent, bytes, and how long those that carry the bytes last.
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

impl Extent {
    /// One pass over the transfers.
    pub fn of(spans: impl Iterator<Item = Span>) -> Extent {
        let mut e =
            Extent { count: 0, bytes: 0.0, start: f64::INFINITY, end: f64::NEG_INFINITY, durations: vec![0.0; CELLS] };
        for s in spans {
            e.count += 1;
            e.bytes += s.bytes;
            e.start = e.start.min(s.start);
            e.end = e.end.max(s.end);
            let d = s.end - s.start;
            let cell =
                if d > 0.0 { ((quick_log2(d) + 100.0) * 4.0).clamp(1.0, (CELLS - 1) as f64) as usize } else { 0 };
            e.durations[cell] += s.bytes;
        }
        e
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

/// A sampling rate in Hz that resolves the transfers: two samples in the duration below which a tenth of the bytes move,
/// rounded up to 1, 2 or 5 times a power of ten, and between [`MIN_AUTO_SAMPLES`] and [`MAX_AUTO_SAMPLES`] over the run.
/// For heatmaps it is one sample a bin (`bin_s`).
pub fn auto_rate(extent: &Extent, bin_s: Option<f64>) -> f64 {
    let duration = extent.duration();
    if let Some(w) = bin_s.filter(|w| *w > 0.0) {
        return 1.0 / w;
    }
    if duration <= 0.0 {
        return 1.0;
    }
    let wanted = extent.duration_quantile(0.1).map_or(0.0, |d| 2.0 / d);
    let (low, high) = (MIN_AUTO_SAMPLES as f64 / duration, MAX_AUTO_SAMPLES as f64 / duration);
    let round = nice_above(wanted.clamp(low, high));
    if round <= high { round } else { nice_above(round / 2.6).min(high) }
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
        let f = auto_rate(&train(100, 10.0, 1.0), None);
        assert!((2.0..=5.0).contains(&f), "{f}");
        let f = auto_rate(&train(100, 10.0, 1e-5), None);
        assert!(f * 1000.0 <= MAX_AUTO_SAMPLES as f64 && f * 1000.0 > MAX_AUTO_SAMPLES as f64 / 3.0, "{f}");
        let f = auto_rate(&train(3, 10.0, 9.0), None);
        assert!(f * 29.0 >= MIN_AUTO_SAMPLES as f64, "{f}");
        assert_eq!(auto_rate(&train(3, 10.0, 9.0), Some(0.2)), 5.0);
        assert_eq!(auto_rate(&Extent::of(std::iter::empty()), None), 1.0);
    }

    #[test]
    fn round_numbers() {
        for (x, y) in [(1.0, 1.0), (1.1, 2.0), (0.03, 0.05), (7.0, 10.0), (200.0, 200.0)] {
            assert!((nice_above(x) / y - 1.0f64).abs() < 1e-9, "{x}");
        }
    }
}
