//! The sampled signal as a sum of cosines.

use super::Options;
use crate::period::spectrum::Powers;
use crate::period::{Component, Fit};
use crate::record::Warning;
use crate::signal::Signal;
use crate::transform::{Cosine, Spectrum, fourier_fit};

/// Cosines of a Fourier fit if no number is given.
const FITTED: usize = 10;

/// The signal as its mean and its strongest cosines: those of the DFT, or fitted if that is asked for.
pub(super) fn components(
    signal: &Signal,
    spectrum: &Spectrum,
    powers: Option<&Powers>,
    options: &Options,
    warnings: &mut Vec<Warning>,
) -> (Vec<Component>, Option<Fit>) {
    let rate_hz = signal.rate_hz;
    let component =
        |c: Cosine| Component { frequency_hz: c.frequency_hz, amplitude_bytes_per_s: c.amplitude, phase_rad: c.phase };
    if options.fourier_fit {
        let count = if options.components > 0 { options.components } else { FITTED };
        match fourier_fit(&signal.samples, rate_hz, count) {
            Ok(f) => {
                let (mse_dft, mse_fit) = (f.dft.mean_square_error, f.fit.mean_square_error);
                let improvement = if mse_dft > 0.0 { 1.0 - mse_fit / mse_dft } else { 0.0 };
                let mean = Cosine {
                    frequency_hz: 0.0,
                    amplitude: f.fit.mean.abs(),
                    phase: if f.fit.mean < 0.0 { std::f64::consts::PI } else { 0.0 },
                };
                let all = std::iter::once(mean).chain(f.fit.cosines).map(component).collect();
                let fit = improvement.is_finite().then_some(Fit { mse_dft, mse_fit, improvement });
                return (all, fit);
            }
            Err(e) => warnings.push(Warning::new("no-fit", format!("the components could not be fitted: {e}"))),
        }
    }
    let Some(powers) = powers.filter(|_| options.components > 0) else { return (Vec::new(), None) };
    let order = strongest(powers, options.components);
    let all = std::iter::once(0).chain(order).filter_map(|k| spectrum.cosine(k, rate_hz)).map(component).collect();
    (all, None)
}

/// The `n` bins of most power, strongest first.
pub fn strongest(powers: &Powers, n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (1..=powers.power.len()).collect();
    let stronger = |a: &usize, b: &usize| powers.power[b - 1].total_cmp(&powers.power[a - 1]).then(a.cmp(b));
    if n < order.len() {
        order.select_nth_unstable_by(n, stronger);
        order.truncate(n);
    }
    order.sort_by(stronger);
    order
}
