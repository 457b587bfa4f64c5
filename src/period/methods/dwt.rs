//! Method `dwt`: the DFT of a smoothed signal (Tarraf & Wolf 2026, section 5.3).
//!
//! The signal is replaced by the approximation of its wavelet decomposition at full length; outliers of its power spectrum are
//! found as by method `dft`, and the frequency of the one chosen is refined off the bins. The level is given, or chosen so
//! that a period has eight coefficients, and never deeper than the signal allows. O(N log N).

use super::{Answer, Settings, Sight, autocorrelation, dominant, spectrum};
use crate::period::detectors;
use crate::period::findings::{Method, Verdict};
use crate::period::validity;
use crate::signal::Signal;
use crate::transform::{Band, Boundary, Decomposition, refine_peak};

/// Cycles from which on there is a period: one or less is the rise or fall of the whole run.
const CYCLES: usize = 2;

/// The period of a signal.
pub fn find(signal: &Signal, settings: &Settings) -> Answer {
    let mut a = Answer::new(Method::Dwt, Verdict::Constant);
    let x = &signal.samples;
    let level = level(signal, settings);
    let decomposition = Decomposition::of(x, &settings.wavelet, Boundary::Symmetric, level).ok();
    let smooth = decomposition.as_ref().and_then(|d| d.at_full_length(Band::Approximation, level).ok());
    let smooth = smooth.unwrap_or_else(|| x.clone());
    a.sight = decomposition.map_or(Sight::Nothing, Sight::Wavelet);
    let (spectrum, powers) = spectrum(&smooth, signal.rate_hz);
    let Some(powers) = powers else { return a };
    let (detector, outliers) = detectors::find(settings.detector, &powers, settings.tolerance);
    a.detection.detector = detector;
    a.detection.spectrum = Some(powers.statistics);
    a.detection.verdict = Verdict::Irregular;
    a.detection.candidates = outliers.report(&powers);
    if let Some(found) = outliers.dominant()
        && let Some(on_grid) = spectrum.cosine(found.bin, signal.rate_hz)
    {
        if found.bin < CYCLES {
            a.detection.verdict = Verdict::TooFewCycles;
            return a;
        }
        let cosine = refine_peak(&smooth, found.bin, signal.rate_hz).unwrap_or(on_grid);
        a.periodic(dominant(cosine, signal.duration(), None, found.confidence, Some(found.bin)));
    }
    a
}

/// The level that is asked for, as far as the signal allows, or the one for its likely period.
fn level(signal: &Signal, settings: &Settings) -> usize {
    let (x, wavelet) = (&signal.samples, &settings.wavelet);
    let deepest = wavelet.max_level(x.len());
    if let Some(level) = settings.level {
        return level.min(deepest);
    }
    let guess = autocorrelation::lag(x).or_else(|| strongest(x));
    guess.map_or(0, |samples| validity::level(samples, wavelet, x.len()))
}

/// The period of the strongest bin of at least three cycles, in samples.
fn strongest(x: &[f64]) -> Option<f64> {
    let (_, powers) = spectrum(x, 1.0);
    let power = powers?.power;
    let k = (3..=power.len()).max_by(|a, b| power[a - 1].total_cmp(&power[b - 1]))?;
    Some(x.len() as f64 / k as f64)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{signal, train};
    use super::*;

    #[test]
    fn the_level_follows_the_period_and_the_data_bound_it() {
        let s = train(12.3, 3.0, 250.0);
        // 123 samples a period: 2^3 of them leave 15 coefficients, 2^4 less than eight.
        assert_eq!(level(&s, &Settings::default()), 3);
        assert_eq!(level(&s, &Settings { level: Some(99), ..Settings::default() }), 11);
        assert_eq!(level(&signal(vec![], 1.0), &Settings { level: Some(3), ..Settings::default() }), 0);
        let a = find(&s, &Settings { level: Some(5), ..Settings::default() });
        let Sight::Wavelet(d) = a.sight else { panic!("{:?}", a.sight) };
        assert_eq!(d.levels(), 5);
    }
}
