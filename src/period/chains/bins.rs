//! Periods of binned data: heat maps and counters that are read at a fixed step.
//!
//! A bin holds the bytes that moved while it was open. With few bins per period the edges of a burst list are those of bins, and
//! their pattern repeats with the beat of period and bin, not with the period. So the bins are taken for what they are,
//! integrals: a train of equal bursts with period P, onset tau and width w puts into a bin the bytes of the bursts
//! that overlap it. The train with the least squared error is sought over P, tau and w.
//!
//! Sampling leaves a family of periods behind, 1/P = |1/Q + k/bin|, whose cosines agree in every bin. Bursts that
//! are not negative and a bin that is a window of known width tell the members apart: a train of half the bins has no empty
//! bin left. What likelihood leaves open goes into the confidence.

use super::fit::Clock;
use super::hypothesis::Kind;
use super::stats::median;
use super::{BurstPeriod, BurstPeriods, Next, Rejected, classifier};
use crate::period::chains::thresholds::LIMITS;
use crate::period::{Burst, Verdict};
use crate::signal::profile::Profile;
use crate::transform::plans;

/// Cells of a period in which bins are added up.
const CELLS: usize = 48;
/// Widths of a burst that are tried, as shares of the period.
const WIDTHS: [f64; 10] = [0.02, 0.06, 0.12, 0.2, 0.3, 0.4, 0.5, 0.62, 0.75, 0.9];
/// Frequencies of the spectrum that propose a period.
const PEAKS: usize = 4;
/// Runs of more bins than this have exact onsets in another form, or none at all.
const MOST_BINS: usize = 1 << 13;
/// Bursts of a period in the beat of period and bin, at most.
const MOST_PARTS: u32 = 6;
/// Frequencies on each side of the best train that are weighed, that many of them to one cycle over all bins.
const NEIGHBOURS: i32 = 16;
/// Widths of a burst that are weighed, as shares of the period: those between that are the best one times a power of the factor.
const WEIGHED_WIDTHS: (f64, f64, f64) = (0.02, 0.97, 1.15);
/// Trains whose odds are below this, against the best one, do not count.
const NEGLIGIBLE: f64 = 1e-4;
/// Period, onset, width and height of a train.
const TRAIN_PARAMETERS: f64 = 4.0;
/// Rounds in which onset, width and period leave their grid.
const POLISHED: usize = 16;
/// Cycles over all bins of a train, at least.
const LEAST_CYCLES: f64 = 3.0;
/// Cycles per bin of a train, at most: bins are never empty of a faster one.
const HIGHEST: f64 = 0.95;
/// Fewest bins that show a train.
const FEWEST_BINS: usize = 8;

/// Bytes per bin.
pub(crate) struct Bins {
    /// Seconds.
    pub width: f64,
    bytes: Vec<f64>,
    /// Bytes and their squares, summed up.
    sum: f64,
    sum_of_squares: f64,
    /// Sum of the squared deviations from the mean.
    squares: f64,
    /// Seconds from the origin of the profile to the first bin.
    pub start: f64,
}

/// A train of equal bursts. Times are seconds from the first bin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Train {
    pub period: f64,
    pub onset: f64,
    /// Standard deviation of the onset that follows the last bin.
    pub next_std: f64,
    pub burst: f64,
    /// Share of the variance of the bins that it explains.
    pub explained: f64,
    /// The same with onset and width in whole cells, as those of cycles of whole bins.
    pub on_grid: f64,
    /// Probability that it is this train, and none of its relatives.
    pub share: f64,
}

/// The train of the bins and those that they cannot tell from it.
pub(crate) struct Reading {
    pub train: Train,
    /// Relatives with their probabilities, the likeliest first.
    pub relatives: Vec<Train>,
}

/// Onset, width and squared error of a train of one period.
#[derive(Clone, Copy)]
struct Fitted {
    /// Bins.
    period: f64,
    onset: f64,
    burst: f64,
    error: f64,
}

/// How a train goes on, in bins: means over the trains near the best one, weighted by their odds.
struct Continued {
    period: f64,
    /// First onset after the last bin, and its standard deviation.
    next: f64,
    next_std: f64,
    /// Periods from the onset of the best train to there.
    count: f64,
}

/// Number of bins and their bytes, by the phase of their beginning.
struct Folded {
    count: [f64; CELLS],
    sum: [f64; CELLS],
}

impl Bins {
    /// The bins of `width` seconds from `from` to `to`, seconds since the origin of the profile. Its first step may be part of a
    /// bin, which does not count.
    pub fn of(profile: &Profile, width: f64, from: f64, to: f64) -> Option<Bins> {
        // stamps are rounded, and so is the width
        let whole = |bins: f64| if (bins - bins.round()).abs() < 1e-3 { bins.round() } else { bins };
        let first_edge = whole(profile.times().get(1)? / width).fract() * width;
        let first = whole((from - first_edge) / width).floor().max(0.0);
        let count = (whole((to - first_edge) / width).ceil() - first).max(0.0) as usize;
        if !(FEWEST_BINS..=MOST_BINS).contains(&count) {
            return None;
        }
        let start = first_edge + first * width;
        let edge = |i: usize| profile.bytes_until(start + i as f64 * width);
        let mut before = edge(0);
        let bytes: Vec<f64> = (1..=count)
            .map(|i| {
                let until = edge(i);
                until - std::mem::replace(&mut before, until)
            })
            .collect();
        let sum: f64 = bytes.iter().sum();
        let sum_of_squares: f64 = bytes.iter().map(|y| y * y).sum();
        let squares = sum_of_squares - sum * sum / count as f64;
        let varies = squares > 1e-9 * sum_of_squares;
        varies.then_some(Bins { width, bytes, sum, sum_of_squares, squares, start })
    }

    /// The train that explains the bins best, if it explains more than all else together; `periods` (seconds) are tried besides those
    /// of the spectrum.
    pub fn read(&self, periods: impl Iterator<Item = f64>) -> Option<Reading> {
        let n = self.bytes.len() as f64;
        let mut tried: Vec<f64> = Vec::new();
        let proposed = self.spectral_peaks().into_iter().chain(periods.map(|p| self.width / p));
        for f in proposed.flat_map(|f| [f, 1.0 - f]) {
            let possible = f > LEAST_CYCLES / n && f < HIGHEST;
            if possible && tried.iter().all(|g| (f - g).abs() * n > 0.5) {
                tried.push(f);
            }
        }
        let mut fitted: Vec<Fitted> = tried.into_iter().map(|f| self.refined(f)).collect();
        fitted.sort_by(|a, b| a.error.total_cmp(&b.error));
        // bursts are not quite equal rectangles: a misfit below this is none
        let floor = LIMITS.bins_misfit * self.squares;
        let least = fitted.first()?.error + floor;
        let odds = |f: &Fitted| (-0.5 * n * ((f.error + floor) / least).ln()).exp();
        let total: f64 = fitted.iter().map(odds).sum();
        let mut trains = fitted.iter().map(|f| Train {
            period: f.period * self.width,
            onset: f.onset * self.width,
            next_std: 0.0,
            burst: f.burst * self.width,
            explained: 1.0 - f.error / self.squares,
            on_grid: 1.0 - f.error / self.squares,
            share: odds(f) / total,
        });
        let mut train = trains.next()?;
        train.explained = 1.0 - self.least_error(fitted.first()?) / self.squares;
        if train.explained < LIMITS.bins_explained {
            return None;
        }
        let relatives = trains.filter(|t| t.share > 0.01).collect();
        let mean = self.continued(fitted.first()?);
        train.period = mean.period * self.width;
        train.onset = (mean.next - mean.count * mean.period) * self.width;
        train.next_std = mean.next_std * self.width;
        Some(Reading { train, relatives })
    }

    /// ln of the odds of a train against bins without one, with Schwarz's price for period, onset, width and height and one
    /// for the choice of the period.
    fn odds_against_none(&self, train: &Train) -> f64 {
        let n = self.bytes.len() as f64;
        // a burst tells where it begins and where it ends, however many bins it is long
        let told = n.min(2.0 * n * self.width / train.period);
        -0.5 * told * (1.0 - train.explained).max(LIMITS.bins_misfit).ln() - 2.0 * n.ln() - n.ln()
    }

    /// Whether the train explains the bins better than a cycle of any shape with the period found `before`: that has one free
    /// height for each bin of the period.
    fn prefer(&self, train: &Train, before: Option<&BurstPeriod>) -> bool {
        let Some(period) = before.map(|p| p.period_s / self.width) else {
            return true;
        };
        let n = self.bytes.len() as f64;
        let cells = (period.round().max(1.0) as usize).min(self.bytes.len());
        let step = 0.25 / n;
        let of = |shift: i32| self.error_of_any_shape(1.0 / (1.0 / period + f64::from(shift) * step), cells);
        let free = (-4..=4).map(of).fold(f64::INFINITY, f64::min) / self.squares;
        self.evidence(LIMITS.bins_simpler * (1.0 - train.explained), TRAIN_PARAMETERS)
            > self.evidence(free, cells as f64)
    }

    /// ln of the probability of the bins, up to a constant, given a model that leaves this share of the variance and has so many
    /// parameters: Schwarz's criterion.
    fn evidence(&self, unexplained: f64, parameters: f64) -> f64 {
        let n = self.bytes.len() as f64;
        -0.5 * (n * (unexplained + LIMITS.bins_misfit).ln() + parameters * n.ln())
    }

    /// Whether a cycle of a whole number of bins explains them as well as the train does: one burst of whole bins, which has a height and
    /// a background, or any shape. Then nothing speaks for bins: requests whose times are multiples of one step look the same.
    fn keep_to_edges(&self, train: &Train) -> bool {
        let period = (train.period / self.width).round().max(1.0) as usize;
        let any_shape = self.error_of_any_shape(period as f64, period);
        let of_any_shape = self.evidence(any_shape / self.squares, period as f64);
        of_any_shape >= self.evidence(1.0 - train.on_grid, TRAIN_PARAMETERS) || self.keep_to_bursts(train, train.period)
    }

    /// The same of one burst of whole bins in each period of so many seconds.
    fn keep_to_bursts(&self, train: &Train, period: f64) -> bool {
        let n = self.bytes.len() as f64;
        let period = (period / self.width).round().max(1.0) as usize;
        let (mut count, mut sum) = (vec![0.0; period], vec![0.0; period]);
        for (i, y) in self.bytes.iter().enumerate() {
            count[i % period] += 1.0;
            sum[i % period] += y;
        }
        let mut burst = f64::INFINITY;
        for onset in 0..period {
            let (mut o, mut oy) = (0.0, 0.0);
            for bin in onset..onset + period - 1 {
                o += count[bin % period];
                oy += sum[bin % period];
                burst = burst.min(squared_error(n, o, o, oy, self.sum, self.sum_of_squares));
            }
        }
        self.evidence(burst / self.squares, 2.0) >= self.evidence(1.0 - train.on_grid, TRAIN_PARAMETERS)
    }

    /// Squared error of a cycle with a height of its own in each of `cells` parts of the period.
    fn error_of_any_shape(&self, period: f64, cells: usize) -> f64 {
        let mut count = vec![0.0; cells];
        let mut sum = vec![0.0; cells];
        for (i, y) in self.bytes.iter().enumerate() {
            // the middle of a bin, which rounding does not move to the next cell
            let cell = ((((i as f64 + 0.5) / period).fract() * cells as f64) as usize).min(cells - 1);
            count[cell] += 1.0;
            sum[cell] += y;
        }
        let explained: f64 = count.iter().zip(&sum).filter(|(c, _)| **c > 0.0).map(|(c, s)| s * s / c).sum();
        (self.sum_of_squares - explained).max(0.0)
    }

    /// Cycles per bin at the highest peaks of the spectrum with few bins a cycle, the highest first.
    fn spectral_peaks(&self) -> Vec<f64> {
        let n = self.bytes.len();
        let length = (4 * n).next_power_of_two();
        let mean = self.sum / n as f64;
        let transform = plans::forward(length);
        let mut padded = transform.make_input_vec();
        padded.iter_mut().zip(&self.bytes).for_each(|(x, y)| *x = y - mean);
        let mut spectrum = transform.make_output_vec();
        if transform.process(&mut padded, &mut spectrum).is_err() {
            return Vec::new();
        }
        let power: Vec<f64> = spectrum.iter().map(|z| z.norm_sqr()).collect();
        let last = power.len() - 1;
        let lowest = ((LIMITS.bins_lowest * length as f64) as usize).max(1);
        let higher = |k: usize, i: usize| i > last || power[k] >= power[i];
        let mut peaks: Vec<usize> = (lowest..=last).filter(|&k| higher(k, k - 1) && higher(k, k + 1)).collect();
        peaks.sort_by(|&i, &j| power[j].total_cmp(&power[i]));
        peaks.truncate(PEAKS);
        peaks.into_iter().map(|k| k as f64 / length as f64).collect()
    }

    /// The best train near a frequency in cycles per bin.
    fn refined(&self, frequency: f64) -> Fitted {
        let mut best = self.fit(1.0 / frequency, &WIDTHS);
        let mut step = 0.5 / self.bytes.len() as f64;
        for _ in 0..6 {
            for sign in [-1.0, 1.0] {
                let f = 1.0 / best.period + sign * step;
                if f > 0.0 {
                    let near = self.fit(1.0 / f, &[best.burst / best.period]);
                    if near.error < best.error {
                        best = near;
                    }
                }
            }
            step *= 0.5;
        }
        let around = |best: Fitted, step: f64| {
            let widths: [f64; 5] =
                [-2.0, -1.0, 0.0, 1.0, 2.0].map(|x| (best.burst / best.period * (1.0 + step * x)).min(0.97));
            self.fit(best.period, &widths)
        };
        around(around(best, 0.15), 0.03)
    }

    /// The error of the best train near one of the grid of onsets and widths.
    fn least_error(&self, from: &Fitted) -> f64 {
        let n = self.bytes.len() as f64;
        let mut at = [1.0 / from.period, from.onset, from.burst];
        let mut steps = [0.05 / n, 0.5 * from.period / CELLS as f64, 0.1 * from.burst];
        let mut least = self.error_of(at);
        for _ in 0..POLISHED {
            for (i, step) in steps.iter_mut().enumerate() {
                for sign in [-1.0, 1.0] {
                    let mut near = at;
                    near[i] += sign * *step;
                    let error = self.error_of(near);
                    if error < least {
                        (at, least) = (near, error);
                    }
                }
                *step *= 0.7;
            }
        }
        least.min(from.error)
    }

    /// Squared error of the train of a frequency, an onset and a width, in bins.
    fn error_of(&self, [frequency, onset, burst]: [f64; 3]) -> f64 {
        let period = 1.0 / frequency;
        if burst <= 0.0 || burst >= period {
            return f64::INFINITY;
        }
        let shift = (onset / period).ceil() * period - onset;
        let (mut o, mut oo, mut oy) = (0.0, 0.0, 0.0);
        let mut before = until(shift, period, burst);
        for (i, y) in self.bytes.iter().enumerate() {
            let end = until(shift + i as f64 + 1.0, period, burst);
            let x = (end - before) / burst.min(1.0);
            before = end;
            o += x;
            oo += x * x;
            oy += x * y;
        }
        squared_error(self.bytes.len() as f64, o, oo, oy, self.sum, self.sum_of_squares)
    }

    /// Bursts that end within a bin leave a range of periods and onsets that fit alike: where they go on is the mean over that range,
    /// not its edge that happens to fit best.
    fn continued(&self, best: &Fitted) -> Continued {
        let n = self.bytes.len() as f64;
        let floor = LIMITS.bins_misfit * self.squares;
        let count = ((n - best.onset) / best.period).ceil();
        let next = best.onset + count * best.period;
        // odds are a power of it, which is slow: those of most trains need not be known
        let ratio = |train: &Fitted| (best.error + floor) / (train.error + floor);
        let least_ratio = NEGLIGIBLE.powf(2.0 / n);
        let (least, most, factor) = WEIGHED_WIDTHS;
        let share = best.burst / best.period;
        let narrower = ((share / least).ln() / factor.ln()).floor().max(0.0) as i32;
        let widths = (-narrower..).map(|k| share * factor.powi(k)).take_while(|w| *w <= most);
        let widths: Vec<f64> = widths.collect();
        let (mut total, mut period_sum, mut late_sum, mut late_squares) = (0.0, 0.0, 0.0, 0.0);
        for k in -NEIGHBOURS..=NEIGHBOURS {
            let period = 1.0 / (1.0 / best.period + f64::from(k) / (f64::from(NEIGHBOURS) * n));
            if period <= 0.0 {
                continue;
            }
            if ratio(&self.fit(period, &[share])) < least_ratio {
                continue;
            }
            self.each_train(period, &widths, |train| {
                let ratio = ratio(&train);
                if ratio < least_ratio {
                    return;
                }
                let weight = ratio.powf(0.5 * n);
                let cycles = (train.onset - next) / period;
                let late = (cycles - cycles.round()) * period;
                total += weight;
                period_sum += weight * period;
                late_sum += weight * late;
                late_squares += weight * late * late;
            });
        }
        let late = late_sum / total;
        let next_std = (late_squares / total - late * late).max(0.0).sqrt();
        Continued { period: period_sum / total, next: next + late, next_std, count }
    }

    /// The best train of a period in bins, over onsets and the widths given as shares of it.
    fn fit(&self, period: f64, widths: &[f64]) -> Fitted {
        let mut best = Fitted { period, onset: 0.0, burst: period * widths[0], error: f64::INFINITY };
        self.each_train(period, widths, |train| {
            if train.error < best.error {
                best = train;
            }
        });
        best
    }

    /// The trains of a period in bins, over onsets and the widths given as shares of it.
    fn each_train(&self, period: f64, widths: &[f64], mut each: impl FnMut(Fitted)) {
        let folded = self.folded(period);
        // twice, so that those of any onset lie side by side
        let twice = |cells: &[f64; CELLS]| -> [f64; 2 * CELLS] { std::array::from_fn(|i| cells[i % CELLS]) };
        let (count, sum) = (twice(&folded.count), twice(&folded.sum));
        let n = self.bytes.len() as f64;
        for &share in widths {
            let burst = share * period;
            let overlap: [f64; CELLS] = std::array::from_fn(|c| {
                let at = (c as f64 + 0.5) / CELLS as f64 * period;
                (until(at + 1.0, period, burst) - until(at, period, burst)) / burst.min(1.0)
            });
            // for all onsets at once, which the processor adds up side by side
            let (mut o, mut oo, mut oy) = ([0.0; CELLS], [0.0; CELLS], [0.0; CELLS]);
            for (c, &x) in overlap.iter().enumerate().filter(|(_, x)| **x > 0.0) {
                let count: &[f64; CELLS] = count[c..].first_chunk().unwrap_or(&folded.count);
                let sum: &[f64; CELLS] = sum[c..].first_chunk().unwrap_or(&folded.sum);
                add(&mut o, count, x);
                add(&mut oo, count, x * x);
                add(&mut oy, sum, x);
            }
            for shift in 0..CELLS {
                let error = squared_error(n, o[shift], oo[shift], oy[shift], self.sum, self.sum_of_squares);
                each(Fitted { period, onset: shift as f64 / CELLS as f64 * period, burst, error });
            }
        }
    }

    /// Each bin is shared by the two cells whose centres are nearest to its phase: the bytes that a train puts into a bin are linear in
    /// between, but for the kinks where a burst begins or ends.
    fn folded(&self, period: f64) -> Folded {
        let mut folded = Folded { count: [0.0; CELLS], sum: [0.0; CELLS] };
        let frequency = 1.0 / period;
        for (i, y) in self.bytes.iter().enumerate() {
            let cycles = i as f64 * frequency;
            let phase = cycles - cycles as u32 as f64;
            // half a cell before the phase, counted from the cell before the first
            let place = phase * CELLS as f64 + (CELLS as f64 - 0.5);
            let cell = place as usize;
            let later = place - cell as f64;
            for (cell, weight) in [(cell % CELLS, 1.0 - later), ((cell + 1) % CELLS, later)] {
                folded.count[cell] += weight;
                folded.sum[cell] += weight * y;
            }
        }
        folded
    }
}

/// The width of bins, and whether the trace states it: otherwise request times only look like those of bins.
#[derive(Clone, Copy)]
pub(crate) struct Width {
    pub seconds: f64,
    pub known: bool,
}

/// Reads the bins of `width` seconds from which a profile was made: periods of few bins, and those that follow a train
/// more closely than the edges of bins can tell, are those of the train.
pub(crate) fn correct(found: &mut BurstPeriods, profile: &Profile, width: Width, shortest_s: f64) {
    let Width { seconds: width, known } = width;
    let (few, coarse) = (width / LIMITS.bins_few, width / LIMITS.bins_lowest);
    let mut unresolved = false;
    let origin = profile.origin();
    let mut read = |before: Option<&BurstPeriod>| -> Option<BurstPeriod> {
        let longest = if before.is_some() { coarse } else { few };
        if !known && shortest_s >= longest {
            return None; // times are multiples of a step that is far too short
        }
        let hull = before.and_then(|p| Some((p.windows.first()?.0 - origin, p.windows.last()?.1 - origin)));
        let (from, to) = hull.unwrap_or((0.0, profile.duration()));
        // the last burst may not have ended, and its window ends when it should
        let to = to.min(profile.duration());
        let bins = Bins::of(profile, width, from, to)?;
        let parts = before.into_iter().flat_map(|p| (1..=MOST_PARTS).map(|k| p.period_s / f64::from(k)));
        let Reading { train, relatives } = bins.read(parts)?;
        let same = before.is_some_and(|p| (p.period_s / train.period).ln().abs() < 0.05);
        let wins = match same {
            true => known || train.period < coarse && !bins.keep_to_edges(&train),
            // whole requests at the edges of steps are bursts: only what is known to be bins may hide another period
            false => {
                let whole = |p: &BurstPeriod| !known && bins.keep_to_bursts(&train, p.period_s);
                train.period < few && bins.prefer(&train, before) && !before.is_some_and(whole)
            }
        };
        if !wins || train.period < shortest_s {
            return None;
        }
        // beyond half a cycle per bin (Nyquist) there is an alias; less than half a cycle over all bins does not tell the two sides apart
        if width / train.period > 0.5 + 0.5 / bins.bytes.len() as f64 {
            unresolved = true;
            found.relatives = std::iter::once(&train)
                .chain(&relatives)
                .map(|t| Rejected {
                    period_s: t.period,
                    // it or its alias
                    confidence: 0.5 * t.share,
                    logit: 0.0,
                })
                .collect();
        }
        Some(period(&bins, &train, before, profile, (from, to)))
    };
    if found.periods.is_empty() {
        let answer = classifier::weights().map_or(1.0, |w| w.answer[0]);
        if let Some(period) = read(None).filter(|p| p.confidence >= answer) {
            found.periods.push(period);
            found.verdict = Verdict::Periodic;
            found.rejected = None;
        }
    } else {
        for p in &mut found.periods {
            if let Some(better) = read(Some(p)) {
                *p = better;
            }
        }
    }
    // several periods of edges may be those of one train
    let mut kept: Vec<f64> = Vec::new();
    found.periods.retain(|p| {
        let new = kept.iter().all(|k| (k / p.period_s).ln().abs() >= LIMITS.same_period);
        kept.push(p.period_s);
        new || p.bin_s.is_none()
    });
    if unresolved {
        found.periods.clear();
        found.rejected = None;
        found.verdict = Verdict::NotResolvable;
    }
    found.bin_s = Some(width).filter(|_| known || found.periods.first().is_some_and(|p| p.bin_s.is_some()));
}

/// The period of a train in bins, in the place of one that was found `before`.
fn period(
    bins: &Bins,
    train: &Train,
    before: Option<&BurstPeriod>,
    profile: &Profile,
    (from, to): (f64, f64),
) -> BurstPeriod {
    let Train { period, burst, .. } = *train;
    let phase = bins.start + train.onset;
    let first = ((from - phase) / period - 0.5).ceil();
    let count = (((to - phase - 0.5 * burst) / period).floor() - first + 1.0).max(1.0);
    let onset = |k: f64| phase + (first + k) * period;
    let idle = 0.5 * (period - burst);
    let origin = profile.origin();
    let bursts: Vec<Burst> = (0..count as usize)
        .map(|k| {
            let start = onset(k as f64);
            let bytes = profile.bytes_until(start + burst + idle) - profile.bytes_until(start - idle);
            Burst { start_s: start + origin, end_s: start + burst + origin, bytes }
        })
        .collect();
    // an onset is known to a bin, the slope of the line through them accordingly
    let stamp = bins.width / 12f64.sqrt();
    let period_std_s = stamp * (12.0 / (count * (count * count - 1.0)).max(1.0)).sqrt();
    let bytes: Vec<f64> = bursts.iter().map(|b| b.bytes).collect();
    let of_train = Next {
        start_s: onset(count) + origin,
        std_s: stamp.max(train.next_std),
        gap_s: period,
        drift_s: 0.0,
        bytes: median(&bytes),
    };
    let same = before.filter(|p| (p.period_s / period).ln().abs() < 0.05);
    let next = match same.map(|p| p.next) {
        // onsets that vary more than a bin hides: a burst begins anywhere in its first bin
        Some(next) if next.std_s > 2.0 * of_train.std_s => {
            Next { start_s: next.start_s + 0.5 * bins.width, bytes: of_train.bytes, ..next }
        }
        _ => of_train,
    };
    let confidence = match (before, same) {
        (_, Some(p)) => p.confidence.min(train.share),
        (Some(_), None) => train.share,
        _ => train.share / (1.0 + (-bins.odds_against_none(train)).exp()),
    };
    let window = (bursts[0].start_s.max(origin), bursts[bursts.len() - 1].end_s.min(origin + profile.duration()));
    BurstPeriod {
        period_s: period,
        period_std_s,
        confidence,
        cycles: count as usize,
        windows: vec![window],
        bursts,
        bytes: bytes.iter().sum(),
        clock: Clock::Clocked,
        kind: Kind::Chain,
        next,
        under_way: before.and_then(|p| p.under_way),
        rise_s: 0.0,
        rise_std_s: 0.0,
        places: vec![next],
        bin_s: Some(bins.width),
        threshold: before.map_or(f64::MIN_POSITIVE, |p| p.threshold),
        merge_distance_s: before.map_or(0.0, |p| p.merge_distance_s),
        logit: before.map_or(0.0, |p| p.logit),
        runner_up: before.and_then(|p| p.runner_up),
    }
}

/// Adds `factor` times the cells.
fn add(to: &mut [f64; CELLS], cells: &[f64; CELLS], factor: f64) {
    to.iter_mut().zip(cells).for_each(|(to, cell)| *to += cell * factor);
}

/// Seconds of bursts of a train that begins at 0, up to `t`, which is not negative.
fn until(t: f64, period: f64, burst: f64) -> f64 {
    // a call of `floor` takes longer than all the rest
    let whole = (t / period) as i64 as f64;
    whole * burst + (t - whole * period).min(burst)
}

/// Least squared error of y = background + height * overlap, neither of them negative.
fn squared_error(n: f64, o: f64, oo: f64, oy: f64, y: f64, yy: f64) -> f64 {
    let spread = oo - o * o / n;
    let height = if spread > 1e-12 * oo { (oy - o * y / n) / spread } else { 0.0 };
    if height <= 0.0 {
        return yy - y * y / n;
    }
    if y - height * o < 0.0 {
        // no background: the line goes through zero
        return yy - oy * oy / oo;
    }
    yy - y * y / n - height * height * spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Span;

    /// Bins of 1 s of a train.
    fn binned(period: f64, burst: f64, cycles: usize) -> Profile {
        let bins = (period * cycles as f64) as usize;
        let bytes = |i: usize| {
            let at = i as f64 + 0.37 * period;
            until(at + 1.0, period, burst) - until(at, period, burst)
        };
        let span = |i: usize| Span { start: i as f64, end: i as f64 + 1.0, bytes: 1e6 * bytes(i) };
        Profile::from_spans((0..bins).map(span).filter(|s| s.bytes > 0.0))
    }

    fn read(period: f64, burst: f64) -> Reading {
        let profile = binned(period, burst, 60);
        let bins = Bins::of(&profile, 1.0, 0.0, profile.duration()).unwrap();
        bins.read(std::iter::empty()).unwrap()
    }

    #[test]
    fn a_period_of_few_bins_is_not_its_beat() {
        for period in [2.2, 2.5, 2.8, 3.2, 4.7, 6.1] {
            let found = read(period, 0.3).train;
            assert!((found.period / period - 1.0).abs() < 2e-3 && found.explained > 0.95, "{period}: {found:?}");
            assert!(found.share > 0.9, "{period}: {found:?}");
        }
    }

    #[test]
    fn a_train_faster_than_half_the_bins_is_not_its_alias() {
        for period in [1.3, 1.55, 1.7] {
            let found = read(period, 0.2).train;
            assert!((found.period / period - 1.0).abs() < 2e-3, "{period}: {found:?}");
        }
    }

    #[test]
    fn a_train_goes_on_where_its_bursts_do() {
        // almost whole numbers of bins, too: few bursts reach into a second bin then
        for period in [2.97, 3.37, 3.97, 5.01, 6.29, 11.17, 19.31] {
            for burst in [0.1, 0.4, 0.4 * period] {
                let train = read(period, burst).train;
                // the profile begins with the first bin that is not empty
                let next = 60.63 * period - binned(period, burst, 60).origin();
                let cycles = (next - train.onset) / train.period;
                let late = (cycles - cycles.round()).abs() * train.period;
                // a short burst may never reach into a second bin, and is half a bin from the mean of where it can be
                let most = if burst > 1.0 { 0.1 } else { 0.5 };
                assert!(late < most, "{period} {burst}: {late} bins");
                assert!((train.period / period - 1.0).abs() < 5e-3, "{period} {burst}: {train:?}");
            }
        }
    }

    #[test]
    fn bins_begin_at_an_edge_where_the_first_is_cut() {
        let span = |i: f64, from: f64| Span { start: from, end: i + 1.0, bytes: 1.0 + i };
        let spans = (0..40).map(f64::from).map(|i| span(i, if i == 0.0 { 0.7 } else { i }));
        let profile = Profile::from_spans(spans);
        assert!((crate::period::chains::iterations::resolution(&profile) - 1.0).abs() < 1e-9);
        let bins = Bins::of(&profile, 1.0, 0.0, profile.duration()).unwrap();
        assert!((bins.start - 0.3).abs() < 1e-9);
        assert!(bins.bytes.iter().zip(2..).all(|(y, n)| (y - f64::from(n)).abs() < 1e-9), "{:?}", bins.bytes);
        // what rounding adds to the width is no further bin
        let rounded = Bins::of(&profile, 1.0 - 5e-7, 0.0, profile.duration()).unwrap();
        assert_eq!(rounded.bytes.len(), bins.bytes.len());
    }

    #[test]
    fn the_error_is_that_of_the_line_with_no_negative_part() {
        // y = 2 x exactly, then y = 1 - x, which would need a negative height
        assert!(squared_error(2.0, 1.0, 1.0, 2.0, 2.0, 4.0).abs() < 1e-12);
        assert!((squared_error(2.0, 1.0, 1.0, 0.0, 1.0, 1.0) - 0.5).abs() < 1e-12);
    }
}
