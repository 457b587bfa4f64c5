//! The wavelet decomposition: how strong each band of frequencies is at each time.

use super::frame::{Axis, Head, Key, Numbers, picture_beside};
use super::heat::{self, COLUMNS, Row};
use super::timeline::Timeline;
use super::view::View;
use crate::analysis::SignalReport;
use crate::error::Result;
use crate::period::methods::Sight;
use crate::render::units;
use crate::transform::{Band, Decomposition};

/// The picture of one signal; `None` if it was not decomposed.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn scalogram(signal: &SignalReport, view: &View) -> Result<Option<String>> {
    let Sight::Wavelet(d) = &view.seen.sight else { return Ok(None) };
    let levels = d.levels();
    let time = Timeline::whole(signal);
    // Level 1, the fastest band, is at the bottom; above the last level is what is slower than all of them.
    let bands: Vec<(Band, usize)> =
        (1..=levels).map(|l| (Band::Detail, l)).chain([(Band::Approximation, levels)]).collect();
    let strength: Vec<(usize, Vec<f64>)> = bands.iter().filter_map(|(b, l)| strengths(d, *b, *l)).collect();
    let top = strength.iter().flat_map(|(_, v)| v).copied().fold(0.0, f64::max);
    let rows: Vec<Row> = strength
        .iter()
        .enumerate()
        .map(|(i, (group, values))| Row {
            x0: signal.start_s - time.shift,
            step: *group as f64 / signal.sampling_hz,
            y: (i as f64 + 0.54, i as f64 + 1.46),
            values: values.iter().map(|v| if top > 0.0 { v / top } else { 0.0 }).collect(),
        })
        .collect();
    let y =
        Axis { range: (0.5, levels as f64 + 1.5), label: "Frequency band", unit: "", numbers: Numbers::Bands(levels) };
    let head = Head {
        title: format!("Wavelet decomposition ({})", signal.mode.name().replace('_', " ")),
        caption: format!("{}: largest modulus in each band; D are details, A is the rest", view.name),
        legend: vec![(Key::Ramp, format!("0 to {}", units::rate(top)))],
    };
    let named = bands.iter().enumerate().map(|(i, (band, level))| {
        let (low, high) = Decomposition::frequencies(*band, *level, signal.sampling_hz);
        let name = if low == 0.0 {
            format!("below {}", units::hertz(high))
        } else {
            format!("{} to {}", units::hertz(low), units::hertz(high))
        };
        (i as f64 + 1.0, name)
    });
    let named: Vec<(f64, String)> = named.collect();
    let svg = picture_beside(&head, &time.axis(), &y, &named, |c| heat::draw(c, &rows, time.range, y.range))?;
    Ok(Some(svg))
}

/// Largest modulus of a band in every group of samples, at most [`COLUMNS`] of them; the mean is taken off the approximation.
fn strengths(d: &Decomposition, band: Band, level: usize) -> Option<(usize, Vec<f64>)> {
    let x = d.at_full_length(band, level).ok()?;
    let group = x.len().div_ceil(COLUMNS).max(1);
    let mean = if band == Band::Approximation { x.iter().sum::<f64>() / x.len().max(1) as f64 } else { 0.0 };
    Some((group, heat::thinned(x.iter().map(|v| (v - mean).abs()), group)))
}
