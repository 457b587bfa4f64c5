//! Smooth modulation: a bandwidth that swings with a period, with or without bursts.
//!
//! Thresholds cut a noisy swing at the wrong places. Here the period is the frequency at which the first harmonics of the
//! binned signal hold the most power, refined off the spectral grid; the continuum around the line is the power that a random
//! signal would show there. Each cycle is then compared with the mean cycle: where they look alike the period holds.
//! The cycles' upper halves stand in as bursts, so that all later steps treat all hypotheses alike.
//!
//! Cost: a few hundred Fourier sums over [`BINS`] bins.

use super::bursts::{BurstList, Levels};
use super::fit::{Clock, Fit};
use super::hypothesis::{Context, Hypothesis, Judgment, Kind, Traits, features};
use super::search::Chain;
use super::stats::{self, deviation, median};
use crate::period::chains::thresholds::LIMITS;
use crate::signal::profile::Profile;
use crate::transform::{plans, tone};
use realfft::num_complex::Complex;
use std::f64::consts::TAU;
use std::sync::{Arc, LazyLock};

/// Bins of the run.
const BINS: usize = 2048;
/// Harmonics that count.
const HARMONICS: usize = 3;
/// The spectrum is sampled this many times finer than the run's own bins; the transform is then as long as that of the
/// correlation, whose plan serves both.
const FINER: usize = 8;
/// Parabolas at most for one frequency, and how close, in steps of the fine grid, the last one's top has to be.
const PARABOLAS: usize = 5;
const CLOSE: f64 = 1e-3;
/// Places in the mean cycle.
const PLACES: usize = 32;
/// Cycles of a modulation in the run, and bins of a cycle, at least.
const FEWEST_CYCLES: f64 = 2.8;
const FEWEST_BINS: f64 = 8.0;
/// Highest peaks of the spectrum that are tried, and refined; the best ones become hypotheses.
const TRIED: usize = 4;
const KEPT: usize = 2;

/// The best modulations of a profile, each with a list of its cycles; `next_list` is the index the first list will get.
pub(crate) fn hypotheses(
    trials: &[f64],
    levels: &Levels,
    next_list: usize,
    context: &Context,
) -> Vec<(BurstList, Hypothesis)> {
    if degrees_of_freedom(context.profile) < 1.0 {
        return Vec::new();
    }
    let Some(signal) = Signal::of(levels, context) else {
        return Vec::new();
    };
    let mut lines: Vec<Line> = Vec::new();
    let mut starts: Vec<(f64, f64)> = trials
        .iter()
        .map(|t| 1.0 / t)
        .chain(signal.peaks())
        .filter(|f| {
            let cycles = f * context.profile.duration();
            cycles >= FEWEST_CYCLES && cycles * FEWEST_BINS <= BINS as f64
        })
        .map(|f| signal.near(f))
        .collect();
    starts.sort_by(|a, b| b.0.total_cmp(&a.0));
    starts.dedup_by(|a, b| (a.1 / b.1).ln().abs() < 0.003);
    for &(_, start) in starts.iter().take(TRIED) {
        let line = signal.refined(start);
        let known = |l: &Line| (l.frequency / line.frequency).ln().abs() < 0.01;
        if !lines.iter().any(known) {
            lines.push(line);
        }
    }
    lines.sort_by(|a, b| b.share.total_cmp(&a.share));
    lines.truncate(KEPT);
    let hypotheses = lines.iter().filter_map(|line| signal.hypothesis(line, levels, context));
    hypotheses
        .enumerate()
        .map(|(i, (list, mut h))| {
            h.list = next_list + i;
            (list, h)
        })
        .collect()
}

/// What a line with its harmonics and the mean leave of the independent samples, no more than the profile has pieces.
fn degrees_of_freedom(profile: &Profile) -> f64 {
    let samples = (0.5 * profile.rates().len() as f64).min(0.25 * BINS as f64);
    samples - 2.0 * HARMONICS as f64 - 1.0
}

/// Mean rates of equal bins, clipped, without their mean.
struct Signal {
    values: Vec<f64>,
    width: f64,
    variance: f64,
    /// Power at k cycles per run, k = 0..BINS / 2.
    spectrum: Vec<f64>,
    /// The same at k / [`FINER`] cycles per run.
    fine: Vec<f64>,
}

/// A frequency with its harmonics.
struct Line {
    frequency: f64,
    /// Complex amplitudes: the signal holds sum 2 Re(c_h exp(2 pi i h f t)).
    amplitudes: [Complex<f64>; HARMONICS],
    /// Share of the signal's variance.
    share: f64,
}

impl Signal {
    fn of(levels: &Levels, context: &Context) -> Option<Self> {
        let profile = context.profile;
        let width = profile.duration() / BINS as f64;
        if width.is_nan() || width <= 0.0 {
            return None;
        }
        let unit = levels.burst * width;
        let mut values: Vec<f64> = profile.binned(BINS).iter().map(|b| b / unit).collect();
        let mean = values.iter().sum::<f64>() / BINS as f64;
        values.iter_mut().for_each(|v| *v -= mean);
        let variance = values.iter().map(|v| v * v).sum::<f64>() / BINS as f64;
        if variance <= 1e-9 {
            return None;
        }
        let fine: Vec<f64> = plans::with_workspace(FINER * BINS, |w| {
            w.input[..BINS].copy_from_slice(&values);
            w.transform();
            w.output.iter().map(|c| c.norm_sqr() / (BINS * BINS) as f64).collect()
        });
        let spectrum = fine.iter().copied().step_by(FINER).collect();
        Some(Self { values, width, variance, spectrum, fine })
    }

    /// Frequencies of the highest peaks of the spectrum that are long enough.
    fn peaks(&self) -> Vec<f64> {
        let s = &self.spectrum;
        let last = (s.len() as f64 * 2.0 / FEWEST_BINS) as usize;
        let mut tops: Vec<usize> =
            (2..last.min(s.len() - 1)).filter(|&k| s[k] >= s[k - 1] && s[k] > s[k + 1]).collect();
        tops.sort_by(|&i, &j| s[j].total_cmp(&s[i]).then(i.cmp(&j)));
        tops.truncate(TRIED);
        tops.iter().map(|&k| k as f64 / (BINS as f64 * self.width)).collect()
    }

    /// Complex amplitude at a frequency; the time of a bin is that of its middle.
    fn amplitude(&self, frequency: f64) -> Complex<f64> {
        let omega = TAU * frequency * self.width;
        tone(&self.values, omega) * Complex::cis(-0.5 * omega) / BINS as f64
    }

    fn amplitudes(&self, frequency: f64) -> [Complex<f64>; HARMONICS] {
        std::array::from_fn(|h| self.amplitude((h + 1) as f64 * frequency))
    }

    /// The frequency near a trial (2 %, or half a cycle per run) at which the harmonics hold the most power on the fine
    /// grid, with that power in front.
    fn near(&self, trial: f64) -> (f64, f64) {
        let cycle = FINER as f64 * BINS as f64 * self.width;
        let middle = trial * cycle;
        let reach = (0.5 * FINER as f64).max(0.02 * middle);
        let (lo, hi) = ((middle - reach).max(1.0) as usize, (middle + reach).ceil() as usize);
        (lo..=hi)
            .map(|k| {
                let power: f64 = (1..=HARMONICS).filter_map(|h| self.fine.get(h * k)).sum();
                (power, k as f64 / cycle)
            })
            .fold((f64::MIN, trial), |a, b| if b.0 > a.0 { b } else { a })
    }

    /// The frequency within one step of the fine grid at which the harmonics hold the most power: the top of a parabola
    /// through three frequencies, again and again.
    fn refined(&self, start: f64) -> Line {
        let step = 1.0 / (FINER as f64 * BINS as f64 * self.width);
        let line = |frequency: f64| {
            let amplitudes = self.amplitudes(frequency);
            let power: f64 = amplitudes.iter().map(Complex::norm_sqr).sum();
            let share = 2.0 * power / self.variance;
            // not `min`, which makes a NaN 1: harmonics overflow in the shortest runs, and such a line is none
            Line { frequency, amplitudes, share: if share > 1.0 { 1.0 } else { share } }
        };
        let mut three = [start - step, start, start + step].map(line);
        for _ in 0..PARABOLAS {
            let [a, b, c] = &three;
            let (left, right) = (a.frequency - b.frequency, c.frequency - b.frequency);
            let (rise_left, rise_right) = ((a.share - b.share) / left, (c.share - b.share) / right);
            let bend = (rise_right - rise_left) / (right - left);
            let top = b.frequency + 0.5 * (left - rise_left / bend);
            let near = |l: &Line| (l.frequency - top).abs() < CLOSE * step;
            if bend.is_nan() || bend >= 0.0 || (top - start).abs() > step || three.iter().any(near) {
                break;
            }
            let farther = if (a.frequency - top).abs() > (c.frequency - top).abs() { 0 } else { 2 };
            three[farther] = line(top);
            three.sort_by(|a, b| a.frequency.total_cmp(&b.frequency));
        }
        let [a, b, c] = three;
        [b, c].into_iter().fold(a, |best, l| if l.share > best.share { l } else { best })
    }

    /// How far the line stands above the continuum around it: ln of its power over the median power nearby.
    fn contrast(&self, line: &Line) -> f64 {
        // the run first: a frequency times the bins overflows in the shortest runs
        let k = line.frequency * (BINS as f64 * self.width);
        let near = |k: f64| {
            let (lo, hi) = ((0.6 * k) as usize, (1.6 * k).ceil() as usize + 3);
            let around: Vec<f64> = (lo.max(1)..hi.min(self.spectrum.len()))
                .filter(|&i| (i as f64 - k).abs() > 1.5)
                .map(|i| self.spectrum[i])
                .collect();
            median(&around)
        };
        let power = line.amplitudes[0].norm_sqr();
        (power / near(k).max(1e-9 * self.variance)).max(1e-3).ln()
    }

    /// Describes the line as a hypothesis whose bursts are the upper halves of the cycles.
    fn hypothesis(&self, line: &Line, levels: &Levels, context: &Context) -> Option<(BurstList, Hypothesis)> {
        let profile = context.profile;
        let run = profile.duration();
        let period = 1.0 / line.frequency;
        // onset: the fundamental rises through its mean
        let phase = -line.amplitudes[0].arg() / TAU - 0.25;
        let first = (phase * period).rem_euclid(period);
        let cycles = self.cycles(first - period, period);
        let template = mean_cycle(&cycles);
        let alike: Vec<f64> = cycles.iter().map(|c| correlation(&c.values, &template)).collect();
        // a swing that fades away has no mean cycle
        if alike.iter().filter(|a| **a > 0.5).count() < alike.len().div_ceil(2) {
            return None;
        }
        let inside = &cycles;
        let upper_half = |c: &Cycle| {
            let (a, b) = (c.start.clamp(0.0, run), (c.start + 0.5 * period).clamp(0.0, run));
            (b > a).then(|| (a, b, profile.bytes_until(b) - profile.bytes_until(a)))
        };
        let mut list = BurstList::from_bursts(inside.iter().filter_map(upper_half), levels.burst)?;
        if list.len() < 3 {
            return None;
        }
        list.threshold = profile.bytes() / run;
        let n = list.len() as u32;
        let window = (
            if inside[0].start < period { 0.0 } else { inside[0].start },
            (inside[inside.len() - 1].start + period).min(run),
        );
        let fit = self.fit(line, inside, &list.start);
        let free = degrees_of_freedom(profile);
        let score = 0.5 * free * -(1.0 - line.share).max(1e-6).ln() - (BINS as f64).ln();
        let mean = profile.bytes() / run / levels.burst;
        let traits =
            Traits { trend_deviation: fit.gap_deviation, ..self.traits(line, inside, &alike, &template, mean) };
        let h = Hypothesis {
            kind: Kind::Modulation,
            list: 0,
            features: features(Kind::Modulation, &fit, score, window, &traits, (context, context.grain)),
            chain: Arc::new(Chain { members: (0..n).collect(), slots: (0..n).collect() }),
            slots_per_period: 1,
            fit,
            tolerance: 0.0,
            extra: LIMITS.rare,
            window,
            bytes: list.bytes.iter().sum(),
            judged: Judgment::default(),
        };
        Some((list, h))
    }

    /// Period and errors: how far the cycles' own fundamentals stray from the line, and the Cramer-Rao bound of its frequency. The onsets
    /// lie on the line, the first one perhaps before the run began.
    fn fit(&self, line: &Line, cycles: &[Cycle], onsets: &[f64]) -> Fit {
        let period = 1.0 / line.frequency;
        let n = onsets.len() as f64;
        let middle = 0.5 * (n - 1.0);
        let strays: Vec<f64> = cycles.iter().filter(|c| c.full).map(|c| c.stray()).collect();
        let steps: Vec<f64> = strays.windows(2).map(|w| wrapped(w[1] - w[0])).collect();
        let (line_sd, gap_sd) = (rms(&strays) * period, rms(&steps) * period);
        let noise = (1.0 - line.share).max(1e-6) * self.variance;
        let signal: f64 =
            line.amplitudes.iter().enumerate().map(|(h, c)| ((h + 1) as f64).powi(2) * 4.0 * c.norm_sqr()).sum();
        // of a frequency in white noise, radians per bin
        let bound = (24.0 * noise / (signal.max(1e-12) * (BINS as f64).powi(3))).sqrt();
        Fit {
            period,
            period_std: period * period * bound / (TAU * self.width),
            clock: Clock::Clocked,
            line_sd,
            gap_sd,
            gap_deviation: gap_sd / period,
            clock_share: 1.0,
            line: stats::Line {
                n,
                middle: (middle, onsets[onsets.len() - 1] - period * middle),
                slope: period,
                spread: n * (n * n - 1.0) / 12.0,
                squares: (n - 2.0).max(1.0) * line_sd * line_sd,
            },
        }
    }

    /// Features of the cycles; `alike` are their correlations with the mean cycle `template`, `mean` is that of the signal.
    fn traits(&self, line: &Line, cycles: &[Cycle], alike: &[f64], template: &[f64], mean: f64) -> Traits {
        let swings: Vec<f64> = cycles.iter().filter(|c| c.full).map(|c| c.swing().max(1e-9).ln()).collect();
        let middle = median(&swings);
        let lowest = template.iter().copied().fold(f64::MAX, f64::min);
        let highest = template.iter().copied().fold(f64::MIN, f64::max);
        Traits {
            share: line.share,
            share_in_window: median(alike),
            share_of_list: alike.iter().filter(|&&a| a > 0.5).count() as f64 / cycles.len() as f64,
            fill: 1.0,
            size_mad: median(&swings.iter().map(|s| (s - middle).abs()).collect::<Vec<_>>()),
            size_sd: deviation(&swings),
            cut: self.contrast(line),
            dip: (highest - lowest) / (mean + highest).max(1e-9),
            // share of the line's power in its fundamental
            duty: line.amplitudes[0].norm_sqr() / line.amplitudes.iter().map(Complex::norm_sqr).sum::<f64>().max(1e-30),
            cycles: cycles.len() as f64,
            ..Traits::default()
        }
    }

    /// The signal cut into cycles from `start` on; those cut off by the ends of the run are marked. At most one for each bin.
    fn cycles(&self, start: f64, period: f64) -> Vec<Cycle> {
        let run = BINS as f64 * self.width;
        let starts = (0..BINS).map(|k| start + k as f64 * period).take_while(|a| *a < run);
        starts.filter(|a| a + 0.5 * period > 0.0).map(|a| self.cycle(a, period)).collect()
    }

    fn cycle(&self, start: f64, period: f64) -> Cycle {
        let values: Vec<f64> = (0..PLACES)
            .map(|i| {
                let t = start + (i as f64 + 0.5) / PLACES as f64 * period;
                let at = (t / self.width).floor();
                if at < 0.0 { f64::NAN } else { self.values.get(at as usize).copied().unwrap_or(f64::NAN) }
            })
            .collect();
        let full = values.iter().all(|v| v.is_finite());
        Cycle { start, values, full }
    }
}

/// One period of the signal at [`PLACES`] places; NaN where the run does not reach.
struct Cycle {
    start: f64,
    values: Vec<f64>,
    full: bool,
}

impl Cycle {
    fn fundamental(&self) -> Complex<f64> {
        static TURNS: LazyLock<[Complex<f64>; PLACES]> = LazyLock::new(|| {
            std::array::from_fn(|i| Complex::from_polar(2.0 / PLACES as f64, -TAU * (i as f64 + 0.5) / PLACES as f64))
        });
        self.values.iter().zip(TURNS.iter()).map(|(&v, turn)| turn * v).sum()
    }

    /// Distance in cycles of this cycle's rise from where the line puts it.
    fn stray(&self) -> f64 {
        wrapped(-self.fundamental().arg() / TAU - 0.25)
    }

    fn swing(&self) -> f64 {
        self.fundamental().norm()
    }
}

/// A phase in cycles, wrapped to -1/2..1/2.
fn wrapped(x: f64) -> f64 {
    x - x.round()
}

fn rms(x: &[f64]) -> f64 {
    (x.iter().map(|v| v * v).sum::<f64>() / x.len().max(1) as f64).sqrt()
}

fn mean_cycle(cycles: &[Cycle]) -> Vec<f64> {
    (0..PLACES)
        .map(|i| {
            let seen: Vec<f64> = cycles.iter().map(|c| c.values[i]).filter(|v| v.is_finite()).collect();
            seen.iter().sum::<f64>() / seen.len().max(1) as f64
        })
        .collect()
}

/// Pearson correlation over the places that both have.
fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let pairs: Vec<(f64, f64)> =
        x.iter().copied().zip(y.iter().copied()).filter(|p| p.0.is_finite() && p.1.is_finite()).collect();
    let n = pairs.len().max(1) as f64;
    let (mx, my) = (pairs.iter().map(|p| p.0).sum::<f64>() / n, pairs.iter().map(|p| p.1).sum::<f64>() / n);
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        xy += (a - mx) * (b - my);
        xx += (a - mx) * (a - mx);
        yy += (b - my) * (b - my);
    }
    let norm = (xx * yy).sqrt();
    if norm > 0.0 { xy / norm } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use crate::period::chains::{Options, detect};
    use crate::signal::Span;
    use crate::signal::profile::Profile;

    #[test]
    fn the_shortest_runs_have_an_answer() {
        // harmonics of their frequencies are beyond the largest number
        for scale in (0..40).map(|i| 6.781033507303577e-308 * 2f64.powi(i - 10)) {
            let at = |k: i32| scale * f64::from(k);
            let spans = (2..12).map(|k| Span { start: at(k), end: at(k) + 0.25 * scale, bytes: 1.0 });
            let options = Options {
                most_periods: 1,
                shortest_window_s: 0.5 * scale,
                least_reported_s: 0.0,
                ..Options::default()
            };
            let found = detect(&Profile::from_spans(spans), options);
            assert!(found.periods.iter().all(|p| p.period_s > 0.0 && p.period_s.is_finite()), "{scale}");
        }
    }
}
