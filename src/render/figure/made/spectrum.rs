//! Power spectrum with the outlier threshold, candidates and harmonics.

use super::axis::headroom;
use super::timeline::mode;
use super::{Axis, Figure, Layer, Numbers, Panel, Shape, Timeline, View, color, short};
use crate::analysis::SignalReport;
use crate::period::spectrum::{OUTLIER, Powers};
use crate::render::units;

/// Stems that are drawn at most.
const STEMS: usize = 1000;

/// The figure, if the bandwidth is not constant.
pub fn spectrum(signal: &SignalReport, view: &View, time: &Timeline) -> Option<Figure> {
    let powers = view.powers.as_ref()?;
    let dominant = signal.period.dominant.as_ref().map(|d| d.frequency_hz);
    let threshold = powers.statistics.mean + OUTLIER * powers.statistics.std;
    let last = shown_bins(powers, dominant);
    let x = Axis::new((0.0, powers.frequency(last)), "Frequency", "Hz", Numbers::Prefixed);
    let top = powers.power[..last].iter().copied().fold(0.0, f64::max).max(threshold);
    let y = Axis::new((0.0, 100.0 * headroom(top)), "Share of the power", "%", Numbers::Plain);
    let near = |f: f64| ((f / powers.resolution_hz).round() as usize).clamp(1, powers.power.len());
    let height = |f: f64| 100.0 * powers.power[near(f) - 1];
    let periods = time.periods(signal);
    let is = |f: f64, of: f64| (f - of).abs() < powers.resolution_hz;
    let known = |f: f64| periods.iter().any(|p| is(f, p.period.frequency_hz));
    let harmonic = |f: f64| dominant.is_some_and(|d| f > 1.5 * d && is(f, (f / d).round() * d));
    // a dot at no power would mark nothing
    let visible = |f: &f64| *f <= x.range.1 && height(*f) > 0.03 * y.range.1;
    let dots = |name: &str, color, of: Vec<f64>, radius| {
        // a dot marks a bin, not the place beside it
        let points: Vec<_> = of.into_iter().filter(visible).map(|f| (powers.frequency(near(f)), height(f))).collect();
        (!points.is_empty()).then(|| Layer::new(name, color, Shape::Dots { points }).wide(radius))
    };
    let stems = Shape::Stems { points: columns(powers, last) };
    let mut layers = vec![
        Layer::new("power of a bin", color::SIGNAL, stems),
        Layer::new("outlier threshold (z = 3)", color::INK, Shape::Levels { at: vec![100.0 * threshold] })
            .wide(1.0)
            .dashed(),
    ];
    for p in &periods {
        let f = p.period.frequency_hz;
        let name = format!("period of {}", units::seconds(p.period.period_s));
        layers.push(Layer::new(name, p.color, Shape::Marks { at: vec![f] }).dashed());
        layers.extend(dots("", p.color, vec![f], 6.0));
    }
    if let Some(f) = dominant {
        let name = format!("harmonics of {}", units::seconds(1.0 / f));
        layers.extend(dots(&name, color::NEXT, (2..=8).map(|k| f64::from(k) * f).collect(), 5.0));
    }
    let found = signal.period.candidates.iter().map(|c| c.frequency_hz).filter(|f| !known(*f) && !harmonic(*f));
    layers.extend(dots("candidates", color::VALID, found.collect(), 5.0));
    let answer = dominant.map_or_else(
        || "no dominant frequency".to_owned(),
        |f| format!("{} = 1 / {}", units::hertz(f), units::seconds(1.0 / f)),
    );
    let all = powers.frequency(powers.power.len());
    let part = if x.range.1 < all {
        format!(": up to {} of {}", units::hertz(x.range.1), units::hertz(all))
    } else {
        String::new()
    };
    Some(Figure {
        title: format!("Power spectrum ({}): {answer}", mode(signal)),
        caption: format!("{}{part}", view.name),
        panels: vec![Panel::new(x, y, layers)],
    })
}

/// Bins to show: those that hold 95 % of the power, at least ten times the dominant frequency and 20 bins.
fn shown_bins(powers: &Powers, dominant: Option<f64>) -> usize {
    let mut sum = 0.0;
    let most = powers.power.iter().position(|p| {
        sum += p;
        sum >= 0.95
    });
    let most = most.map_or(powers.power.len(), |i| i + 1);
    let least = dominant.map_or(20, |f| ((10.5 * f / powers.resolution_hz) as usize).max(20));
    // Bursts have harmonics without end; the first dozen is enough to see them.
    let cap = dominant.map_or(usize::MAX, |f| ((12.5 * f / powers.resolution_hz) as usize).max(least));
    most.clamp(least, cap).min(powers.power.len())
}

/// Stems in percent: of bins that share a pixel the highest.
fn columns(powers: &Powers, last: usize) -> Vec<(f64, f64)> {
    let bins: Vec<usize> = (1..=last).collect();
    let highest = |part: &[usize]| {
        let b = *part.iter().max_by(|&&a, &&b| powers.power[a - 1].total_cmp(&powers.power[b - 1]))?;
        Some((short(powers.frequency(b)), short(100.0 * powers.power[b - 1])))
    };
    bins.chunks(last.div_ceil(STEMS).max(1)).filter_map(highest).collect()
}
