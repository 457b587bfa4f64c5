//! Method `dft`: outliers of the power spectrum, as published (Tarraf & Wolf 2026, section 3.2).
//!
//! The frequency is that of a bin of the DFT, k f_s / N, whatever the detector: results compare with published ones. A period
//! T of n cycles may so be off by T/(2n); the methods that are not bound to bins do better. O(N log N).

use super::{Answer, Settings, dominant, spectrum};
use crate::period::detectors;
use crate::period::findings::{Method, Verdict};
use crate::signal::Signal;

/// The period of a signal.
pub fn find(signal: &Signal, settings: &Settings) -> Answer {
    let mut a = Answer::new(Method::Dft, Verdict::Constant);
    let (spectrum, powers) = spectrum(&signal.samples, signal.rate_hz);
    let Some(powers) = powers else { return a };
    let (detector, outliers) = detectors::find(settings.detector, &powers, settings.tolerance);
    a.detection.detector = detector;
    a.detection.spectrum = Some(powers.statistics);
    a.detection.verdict = Verdict::Irregular;
    a.detection.candidates = outliers.report(&powers);
    if let Some(found) = outliers.dominant()
        && let Some(cosine) = spectrum.cosine(found.bin, signal.rate_hz)
    {
        // The true frequency lies anywhere in the bin: a uniform error of one bin.
        let std = 1.0 / cosine.frequency_hz / (found.bin as f64 * 12f64.sqrt());
        a.periodic(dominant(cosine, signal.duration(), Some(std), found.confidence, Some(found.bin)));
    }
    a
}
