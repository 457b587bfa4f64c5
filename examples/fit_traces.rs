//! Fits ten cosines to the sampled signals of traces, for `scripts/fit_compare.py`: `fit_traces TRACE...`.
//!
//! One JSON object a line for each signal: the samples, the mean square errors of the DFT components and of the fit, and
//! the seconds that the fit took: on one thread, so that these are no less than the processor's, and the least of five, as
//! other programs may run beside it. Signals of more samples than `SAMPLES` (first argument) are sampled that often.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use iophase::analysis::{self, Options};
use iophase::formats::{ReadOptions, Source, read};
use iophase::internals::transform::fourier_fit;

const COMPONENTS: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let most: u64 = arguments.next().ok_or("usage: fit_traces SAMPLES TRACE...")?.parse()?;
    let read_options = ReadOptions::default();
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut out = std::io::stdout().lock();
    for path in arguments {
        let trace = Source::open(Path::new(&path), &read_options.limits).and_then(|s| read(&s, None, &read_options));
        let Ok(trace) = trace else { continue };
        let Ok(first) = analysis::analyze(&trace, &Options::default()) else { continue };
        for signal in &first.report.signals {
            let duration = signal.end_s - signal.start_s;
            let rate_hz = if signal.samples > most { most as f64 / duration } else { signal.sampling_hz };
            let mode = analysis::ModeChoice::One(signal.mode);
            let options = Options::default().mode(mode).rate_hz(Some(rate_hz));
            let Ok(again) = analysis::analyze(&trace, &options) else { continue };
            for evidence in &again.evidence {
                let samples = evidence.samples();
                let timed = || {
                    let begun = Instant::now();
                    let fit = fourier_fit(samples, 1.0, COMPONENTS);
                    fit.ok().map(|fit| (begun.elapsed().as_secs_f64(), fit))
                };
                let runs = (0..5).filter_map(|_| one_thread.install(timed));
                let Some((seconds, fit)) = runs.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
                let line = serde_json::json!({
                    "path": path,
                    "mode": signal.mode,
                    "seconds": seconds,
                    "mse_dft": fit.dft.mean_square_error,
                    "mse_fit": fit.fit.mean_square_error,
                    "samples": samples,
                });
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(())
}
