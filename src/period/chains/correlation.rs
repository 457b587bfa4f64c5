//! Autocorrelation of the clipped bandwidth: proposes trial periods and measures how well a period repeats the signal.

use super::stats::weighted_quantile;
use crate::signal::profile::Profile;
use crate::transform::plans;

/// Bins of the run.
pub(crate) const BINS: usize = 1 << 13;
/// Bins in which a burst of many short requests looks like one.
pub(crate) const BINS_COARSE: usize = 1 << 10;
/// Peaks that propose a trial period.
const PEAKS: usize = 6;
/// Peaks closer than this in log lag are one.
const PEAK_DISTANCE: f64 = 0.05;
/// Longest lag as a share of the run; longer ones rest on too few products.
const LONGEST_LAG: f64 = 0.7;

/// Normalised, unbiased autocorrelation at the lags 0, 1, 2, ... bins.
pub(crate) struct Correlation {
    values: Vec<f64>,
    /// Largest value within each block of lags, for quick maxima over wide ranges.
    block_maxima: Vec<f64>,
    /// Seconds per lag.
    pub width: f64,
}

const BLOCK: usize = 64;

impl Correlation {
    /// The autocorrelation of min(rate / level, 1) without its mean. The level is the byte-weighted median of the bin
    /// rates, so that one giant burst does not own the correlation. Erased intervals are neither high nor low: they
    /// are left out of the products and of their number.
    ///
    /// `n`: bins of the run, a power of two.
    pub fn of(profile: &Profile, erased: &[(f64, f64)], n: usize) -> Option<Self> {
        let width = profile.duration() / n as f64;
        if width.is_nan() || width <= 0.0 {
            return None;
        }
        let bins = profile.binned(n);
        let mut weighted: Vec<(f64, f64)> = bins.iter().filter(|&&b| b > 0.0).map(|&b| (b, b)).collect();
        let level = weighted_quantile(&mut weighted, 0.5)?;
        let visible = visibility(n, width, erased);
        let mut signal: Vec<f64> = bins.iter().map(|b| (b / level).min(1.0)).collect();
        let seen: f64 = visible.as_ref().map_or(n as f64, |v| v.iter().sum());
        let total: f64 = match &visible {
            Some(v) => signal.iter().zip(v).map(|(y, m)| y * m).sum(),
            None => signal.iter().sum(),
        };
        let mean = total / seen.max(1.0);
        match &visible {
            Some(v) => signal.iter_mut().zip(v).for_each(|(y, m)| *y = (*y - mean) * m),
            None => signal.iter_mut().for_each(|y| *y -= mean),
        }
        let mut values = lagged_products(&signal);
        match &visible {
            Some(v) => {
                let pairs = lagged_products(v);
                for (lag, (value, pairs)) in values.iter_mut().zip(pairs).enumerate() {
                    *value = if pairs > 0.2 * (n - lag) as f64 { *value / pairs.max(1.0) } else { 0.0 };
                }
            }
            None => values.iter_mut().enumerate().for_each(|(lag, value)| *value /= (n - lag) as f64),
        }
        let power = values[0];
        // the rest of a constant signal is rounding
        if power.is_nan() || power <= 1e-12 {
            return None;
        }
        values.iter_mut().for_each(|value| *value /= power);
        let block_maxima = values.chunks(BLOCK).map(|c| c.iter().copied().fold(f64::MIN, f64::max)).collect();
        Some(Self { values, block_maxima, width })
    }

    /// Lags in seconds of the highest peaks.
    pub fn trial_periods(&self) -> Vec<f64> {
        let a = &self.values;
        let last = (LONGEST_LAG * a.len() as f64) as usize;
        let mut peaks: Vec<usize> = (2..last).filter(|&k| a[k] >= a[k - 1] && a[k] > a[k + 1] && a[k] > 0.0).collect();
        peaks.sort_by(|&i, &j| a[j].total_cmp(&a[i]).then(i.cmp(&j)));
        let mut periods: Vec<f64> = Vec::new();
        let apart = |periods: &[f64], t: f64| periods.iter().all(|q| (t / q).ln().abs() > PEAK_DISTANCE);
        for k in peaks {
            let t = self.summit(k);
            if apart(&periods, t) {
                periods.push(t);
            }
            if periods.len() == PEAKS {
                break;
            }
        }
        periods
    }

    /// Lag of the top of the parabola through a peak and its neighbours, seconds.
    fn summit(&self, k: usize) -> f64 {
        let (l, c, r) = (self.values[k - 1], self.values[k], self.values[k + 1]);
        let bend = l - 2.0 * c + r;
        let shift = if bend < 0.0 { (0.5 * (l - r) / bend).clamp(-0.5, 0.5) } else { 0.0 };
        (k as f64 + shift) * self.width
    }

    /// Highest correlation within 2 % of a lag in seconds; 0 beyond 80 % of the run.
    pub fn near(&self, lag: f64) -> f64 {
        let i = lag / self.width;
        let (lo, hi) = ((i * 0.98 - 1.0).max(1.0) as usize, (i * 1.02 + 2.0) as usize);
        if hi as f64 >= 0.8 * self.values.len() as f64 {
            return 0.0;
        }
        self.highest(lo, hi)
    }

    /// Like [`Correlation::near`], but 0 unless the lag is on top of a hill: 0.02 above both lags 25 % away.
    pub fn hill(&self, lag: f64) -> f64 {
        let i = lag / self.width;
        let top = self.near(lag);
        let flank = |share: f64| self.values.get((share * i) as usize).copied().unwrap_or(0.0);
        if i < 4.0 || top <= flank(0.75).max(flank(1.25)) + 0.02 { 0.0 } else { top }
    }

    /// Lowest correlation between a fifth and four fifths of a lag: how deep the signal goes between its repetitions.
    pub fn valley(&self, lag: f64) -> f64 {
        let i = lag / self.width;
        let (lo, hi) = ((0.2 * i) as usize, (0.8 * i) as usize);
        match self.values.get(lo..=hi.max(lo)) {
            Some(part) => part.iter().copied().fold(f64::MAX, f64::min),
            None => 0.0,
        }
    }

    /// Largest value at the lags `lo..hi`.
    fn highest(&self, lo: usize, hi: usize) -> f64 {
        let hi = hi.min(self.values.len());
        let plain = |lo: usize, hi: usize| self.values[lo..hi].iter().copied().fold(f64::MIN, f64::max);
        let (first, last) = (lo.div_ceil(BLOCK), hi / BLOCK);
        if lo >= hi {
            0.0
        } else if first >= last {
            plain(lo, hi)
        } else {
            let inner = self.block_maxima[first..last].iter().copied().fold(f64::MIN, f64::max);
            inner.max(plain(lo, first * BLOCK)).max(plain(last * BLOCK, hi))
        }
    }
}

/// 1 for bins whose middle was not erased, 0 for the others; `None` if nothing was erased.
fn visibility(n: usize, width: f64, erased: &[(f64, f64)]) -> Option<Vec<f64>> {
    if erased.is_empty() {
        return None;
    }
    let mut visible = vec![1.0; n];
    for &(a, b) in erased {
        // bins whose middle (i + 0.5) width lies inside (a, b)
        let lo = ((a / width - 0.5).ceil().max(0.0) as usize).min(n);
        let hi = ((b / width - 0.5).floor().max(-1.0) + 1.0) as usize;
        visible[lo..hi.clamp(lo, n)].fill(0.0);
    }
    Some(visible)
}

/// sum_i x_i x_(i + lag) for lag = 0..n by the Wiener-Khinchin theorem, padded against wrapping around.
///
/// The power spectrum is real and even, so that its inverse transform is its forward one: one plan serves both ways.
fn lagged_products(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    plans::with_workspace(2 * n, |w| {
        w.input[..n].copy_from_slice(x);
        w.transform();
        for (k, c) in w.output.iter().enumerate() {
            let power = c.norm_sqr();
            w.input[k] = power;
            w.input[(2 * n - k) % (2 * n)] = power;
        }
        w.transform();
        let scale = 1.0 / (2 * n) as f64;
        w.output[..n].iter().map(|c| c.re * scale).collect()
    })
}
