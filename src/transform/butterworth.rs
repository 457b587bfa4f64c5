//! Butterworth filters as cascades of second-order sections.
//!
//! The analogue prototype of order n has its poles evenly on the left half of the unit circle; the cut-offs are
//! pre-warped, w = tan(π f / f_s), the prototype is moved to low-, high- or band-pass, and the bilinear transform
//! z = (1 + s)/(1 − s) makes it digital (Oppenheim & Schafer 2010, section 7.2). |H| is 1/√2 at each cut-off, and
//! 1/(1 + (w/w_c)^{2n}) is |H|² of the low-pass. Every conjugate pair of poles becomes one section with its own zeros, so
//! that no polynomial of high order, with its rounding errors, is formed. A band-pass has 2n poles.

use std::f64::consts::PI;

use realfft::num_complex::Complex64;

use super::{Error, Result};

/// Highest order of a filter.
const MAX_ORDER: usize = 50;

/// Least distance of a cut-off from 0, from half the sampling rate and from the other cut-off, as a share of the rate:
/// below it, the coefficients of a section cannot represent its poles.
const MARGIN: f64 = 1e-7;

/// Frequencies that pass; cut-offs in Hz.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pass {
    /// Frequencies below the cut-off.
    Low(f64),
    /// Frequencies above the cut-off.
    High(f64),
    /// Frequencies between the two cut-offs.
    Band(f64, f64),
}

/// b and a of (b0 + b1 z⁻¹ + b2 z⁻²)/(1 + a1 z⁻¹ + a2 z⁻²); a section of first order has b2 = a2 = 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Section {
    /// b0, b1, b2.
    pub b: [f64; 3],
    /// a1, a2.
    pub a: [f64; 2],
}

/// A Butterworth filter for one sampling rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Butterworth {
    sections: Vec<Section>,
    rate_hz: f64,
}

impl Butterworth {
    /// The filter of an order for a sampling rate in Hz.
    ///
    /// Errors: an order that is 0 or above 50, a rate that is not positive, cut-offs that are not inside (0, f_s/2), a
    /// band whose lower end is not below its upper (each by 10⁻⁷ f_s at least).
    pub fn design(pass: Pass, order: usize, rate_hz: f64) -> Result<Butterworth> {
        if order == 0 || order > MAX_ORDER {
            return Err(Error::parameter("order", order as f64, format!("from 1 to {MAX_ORDER}")));
        }
        if !(rate_hz > 0.0 && rate_hz.is_finite()) {
            return Err(Error::parameter("sampling rate", rate_hz, "positive and finite"));
        }
        let sections = match pass {
            Pass::Low(cutoff) => {
                let w = warped(cutoff, rate_hz)?;
                // At s = 0, that is z = 1, the low-pass passes all.
                prototype(order).map(|p| section(p, p.scaled(w), [-1.0, -1.0], Complex64::new(1.0, 0.0))).collect()
            }
            Pass::High(cutoff) => {
                let w = warped(cutoff, rate_hz)?;
                let one = Complex64::new(-1.0, 0.0);
                prototype(order).map(|p| section(p, Poles::of(p.first.inv() * w, p.pair), [1.0, 1.0], one)).collect()
            }
            Pass::Band(low, high) => {
                let (w1, w2) = (warped(low, rate_hz)?, warped(high, rate_hz)?);
                if high - low < MARGIN * rate_hz {
                    let rule = format!("below the upper one, {high} Hz");
                    return Err(Error::parameter("lower cut-off", low, rule));
                }
                prototype(order).flat_map(|p| band_sections(p, w1, w2)).collect()
            }
        };
        Ok(Butterworth { sections, rate_hz })
    }

    /// Its sections, to be applied one after the other.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// H(e^{2πi f / f_s}): gain and phase at a frequency in Hz.
    pub fn response(&self, frequency_hz: f64) -> Complex64 {
        let z = Complex64::cis(2.0 * PI * frequency_hz / self.rate_hz);
        self.sections.iter().map(|s| s.response(z)).product()
    }

    /// The filtered signal, starting from rest. It is delayed by the filter. O(N n).
    pub fn filter(&self, x: &[f64]) -> Vec<f64> {
        let mut y = x.to_vec();
        self.sections.iter().for_each(|s| s.run(&mut y, [0.0; 2]));
        y
    }

    /// The signal filtered forwards and backwards: no delay, and |H|² instead of |H|.
    ///
    /// The signal is first extended beyond each end by odd reflection about the end point (2 x_0 − x_k), as is usual. The
    /// extension is three times the length of the filter (2 sections + 1, minus one if one is of first order), or the length of
    /// the signal minus one if that is shorter. Each pass starts in the steady state for its first value.
    pub fn filter_zero_phase(&self, x: &[f64]) -> Vec<f64> {
        let (Some(&first), Some(&last)) = (x.first(), x.last()) else { return Vec::new() };
        let first_order = self.sections.iter().filter(|s| s.b[2] == 0.0 && s.a[1] == 0.0).count();
        let edge = (3 * (2 * self.sections.len() + 1 - first_order)).min(x.len() - 1);
        let before = x.iter().skip(1).take(edge).rev().map(|v| 2.0 * first - v);
        let behind = x.iter().rev().skip(1).take(edge).map(|v| 2.0 * last - v);
        let mut y: Vec<f64> = before.chain(x.iter().copied()).chain(behind).collect();
        for _ in 0..2 {
            self.run_settled(&mut y);
            y.reverse();
        }
        y.drain(..edge);
        y.truncate(x.len());
        y
    }

    /// Runs from the steady state for the first value.
    fn run_settled(&self, y: &mut [f64]) {
        let mut level = y.first().copied().unwrap_or(0.0);
        for s in &self.sections {
            let out = level * s.b.iter().sum::<f64>() / (1.0 + s.a[0] + s.a[1]);
            let second = s.b[2] * level - s.a[1] * out;
            let first = s.b[1] * level - s.a[0] * out + second;
            s.run(y, [first, second]);
            level = out;
        }
    }
}

impl Section {
    fn response(&self, z: Complex64) -> Complex64 {
        let one = z.inv();
        let two = one * one;
        (self.b[0] + one * self.b[1] + two * self.b[2]) / (1.0 + one * self.a[0] + two * self.a[1])
    }

    /// Filters in place from a state (transposed direct form II).
    fn run(&self, y: &mut [f64], [mut first, mut second]: [f64; 2]) {
        let ([b0, b1, b2], [a1, a2]) = (self.b, self.a);
        for v in y {
            let x = *v;
            let out = b0 * x + first;
            first = b1 * x - a1 * out + second;
            second = b2 * x - a2 * out;
            *v = out;
        }
    }
}

/// A real pole, or a pair of poles with real coefficients: a pole and its conjugate unless stated otherwise.
#[derive(Clone, Copy)]
struct Poles {
    first: Complex64,
    pair: bool,
}

impl Poles {
    fn of(first: Complex64, pair: bool) -> Poles {
        Poles { first, pair }
    }

    fn scaled(self, w: f64) -> Poles {
        Poles::of(self.first * w, self.pair)
    }
}

/// Poles of the prototype: the pairs of the upper half plane, and −1 if the order is odd.
fn prototype(order: usize) -> impl Iterator<Item = Poles> {
    (0..order.div_ceil(2)).map(move |k| {
        let angle = PI * (2 * k + order + 1) as f64 / (2 * order) as f64;
        let pair = 2 * k + 1 != order;
        let pole = if pair { Complex64::cis(angle) } else { Complex64::new(-1.0, 0.0) };
        Poles::of(pole, pair)
    })
}

/// tan(π f/f_s), the analogue frequency that the bilinear transform maps to f.
fn warped(cutoff: f64, rate_hz: f64) -> Result<f64> {
    let share = cutoff / rate_hz;
    if !(MARGIN..=0.5 - MARGIN).contains(&share) {
        let rule = format!("inside 0 and half the sampling rate, {} Hz", rate_hz / 2.0);
        return Err(Error::parameter("cut-off", cutoff, rule));
    }
    Ok((PI * share).tan())
}

/// The section with the analogue poles `s` of the prototype's `p`, zeros at z = `zeros`, and a gain of 1 at z = `at`.
fn section(p: Poles, s: Poles, zeros: [f64; 2], at: Complex64) -> Section {
    let z = bilinear(s.first);
    let (b, a) = if p.pair {
        ([1.0, -zeros[0] - zeros[1], zeros[0] * zeros[1]], [-2.0 * z.re, z.norm_sqr()])
    } else {
        ([1.0, -zeros[0], 0.0], [-z.re, 0.0])
    };
    normalised(Section { b, a }, at)
}

/// The two sections of a pair of the prototype's poles in a band, or the one of its real pole: each pole p becomes the
/// roots of s² − p (w2 − w1) s + w1 w2.
fn band_sections(p: Poles, w1: f64, w2: f64) -> impl Iterator<Item = Section> {
    let width = p.first * (w2 - w1);
    let centre = w1 * w2;
    let root = (width * width - 4.0 * centre).sqrt();
    // The larger root by addition, the other from the product, which avoids cancellation.
    let sum = if (width.conj() * root).re >= 0.0 { width + root } else { width - root };
    let large = bilinear(sum / 2.0);
    let small = bilinear(centre / (sum / 2.0));
    let with = |sum_of_poles: f64, product: f64| {
        let at = Complex64::new(0.0, centre.sqrt());
        normalised(Section { b: [1.0, 0.0, -1.0], a: [-sum_of_poles, product] }, bilinear(at))
    };
    let sections = if p.pair {
        // Each root with its conjugate, that of the conjugate pole.
        [Some(with(2.0 * large.re, large.norm_sqr())), Some(with(2.0 * small.re, small.norm_sqr()))]
    } else {
        // The two roots of a real pole are real, or conjugates of each other.
        [Some(with((large + small).re, (large * small).re)), None]
    };
    sections.into_iter().flatten()
}

fn bilinear(s: Complex64) -> Complex64 {
    (1.0 + s) / (1.0 - s)
}

/// The section scaled so that its gain at `z` is 1. It uses the rounded coefficients: the gain at z = ±1 is the ratio of the sums of
/// these numbers, and is therefore exact.
fn normalised(mut s: Section, z: Complex64) -> Section {
    let gain = s.response(z).norm();
    s.b.iter_mut().for_each(|b| *b /= gain);
    s
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// |H|² in closed form.
        #[test]
        fn response_matches_the_definition(
            order in 1usize..=10, a in 0.01..0.49f64, b in 0.01..0.49f64, f in 0.0..0.5f64, rate in 0.1..1e4f64,
        ) {
            let tan = |f: f64| (PI * f).tan();
            let power = |ratio: f64| 1.0 / (1.0 + ratio.powi(2 * order as i32));
            let got = |pass| Butterworth::design(pass, order, rate).unwrap().response(f * rate).norm_sqr();
            prop_assert!((got(Pass::Low(a * rate)) - power(tan(f) / tan(a))).abs() < 1e-9);
            if f > 0.0 {
                prop_assert!((got(Pass::High(a * rate)) - power(tan(a) / tan(f))).abs() < 1e-9);
            }
            let (low, high) = (a.min(b), a.max(b));
            prop_assume!(high - low > 0.005);
            let (w1, w2) = (tan(low), tan(high));
            let ratio = (tan(f).powi(2) - w1 * w2) / ((w2 - w1) * tan(f));
            prop_assert!((got(Pass::Band(low * rate, high * rate)) - power(ratio)).abs() < 1e-6);
        }

        #[test]
        fn poles_lie_inside_the_unit_circle(order in 1usize..=50, a in 1e-6..0.25f64, width in 1e-6..0.24f64) {
            for pass in [Pass::Low(a), Pass::High(a), Pass::Band(a, a + width)] {
                for s in Butterworth::design(pass, order, 1.0).unwrap().sections() {
                    // The triangle of stable second-order sections.
                    prop_assert!(s.a[1] < 1.0 && s.a[0].abs() < 1.0 + s.a[1], "{:?} {:?}", pass, s);
                }
            }
        }

        #[test]
        fn zero_phase_commutes_with_reversal(x in prop::collection::vec(-10.0..10.0f64, 1..90), order in 1usize..=4) {
            // Only in the middle: the transients at the ends differ between the two directions.
            let f = Butterworth::design(Pass::Low(0.2), order, 1.0).unwrap();
            let there = f.filter_zero_phase(&x);
            prop_assert_eq!(there.len(), x.len());
            let mut long = vec![0.0; 300];
            long.extend(&x);
            long.resize(long.len() + 300, 0.0);
            let there = f.filter_zero_phase(&long);
            long.reverse();
            let back = f.filter_zero_phase(&long);
            prop_assert!(there.iter().zip(back.iter().rev()).all(|(a, b)| (a - b).abs() < 1e-9));
        }
    }

    #[test]
    fn gain_of_a_constant_is_one_or_zero() {
        let x = [3.0; 40];
        for order in 1..=10 {
            // Cut-offs down to a millionth of the rate keep their gain.
            for cutoff in [1e-6, 0.01, 0.4] {
                let low = Butterworth::design(Pass::Low(cutoff), order, 1.0).unwrap();
                assert!(low.filter_zero_phase(&x).iter().all(|v| (v - 3.0).abs() < 1e-9), "{order} {cutoff}");
                let high = Butterworth::design(Pass::High(cutoff), order, 1.0).unwrap();
                assert!(high.filter_zero_phase(&x).iter().all(|v| v.abs() < 1e-9), "{order} {cutoff}");
            }
        }
    }

    #[test]
    fn zero_phase_filtering_does_not_shift_a_cosine() {
        let wave = |f: f64| (0..2000).map(move |n| (2.0 * PI * f * f64::from(n)).cos());
        let x: Vec<f64> = wave(0.01).zip(wave(0.2)).map(|(a, b)| a + b).collect();
        let low = Butterworth::design(Pass::Low(0.05), 6, 1.0).unwrap().filter_zero_phase(&x);
        for (n, want) in wave(0.01).enumerate().skip(200).take(1600) {
            assert!((low[n] - want).abs() < 1e-5);
        }
    }

    #[test]
    fn designs_out_of_range_are_refused_and_empty_or_nan_signals_pass() {
        let name = |pass, order, rate| match Butterworth::design(pass, order, rate) {
            Err(Error::Parameter { name, .. }) => name,
            other => panic!("{other:?}"),
        };
        assert_eq!(name(Pass::Low(1.0), 0, 10.0), "order");
        assert_eq!(name(Pass::Low(1.0), 51, 10.0), "order");
        assert_eq!(name(Pass::Low(1.0), 2, 0.0), "sampling rate");
        assert_eq!(name(Pass::Low(1.0), 2, f64::NAN), "sampling rate");
        for cutoff in [0.0, -1.0, 5.0, 7.0, f64::NAN, f64::INFINITY] {
            assert_eq!(name(Pass::Low(cutoff), 2, 10.0), "cut-off");
            assert_eq!(name(Pass::High(cutoff), 2, 10.0), "cut-off");
            assert_eq!(name(Pass::Band(cutoff, 4.0), 2, 10.0), "cut-off");
        }
        assert_eq!(name(Pass::Band(2.0, 2.0), 2, 10.0), "lower cut-off");
        assert_eq!(name(Pass::Band(3.0, 2.0), 2, 10.0), "lower cut-off");
        let f = Butterworth::design(Pass::Low(1.0), 3, 10.0).unwrap();
        assert!(f.filter(&[]).is_empty() && f.filter_zero_phase(&[]).is_empty());
        assert!((f.filter_zero_phase(&[2.0])[0] - 2.0).abs() < 1e-12);
        assert!(f.filter(&[f64::NAN, 1.0]).iter().all(|v| v.is_nan()));
    }
}
