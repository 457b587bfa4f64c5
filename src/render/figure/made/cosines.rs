//! The signal as a sum of cosines: its strongest 1, 2, 3, 5 and 10 of the DFT (Tarraf & Wolf 2026, figure 1), and fitted ones
//! against as many of the DFT (figure 2).

use super::axis::headroom;
use super::timeline::mode;
use super::{Axis, Figure, Layer, Numbers, Panel, Shape, Timeline, View, color};
use crate::analysis::{SignalReport, strongest};
use crate::render::units;
use crate::transform::{Cosine, evaluate};

/// Numbers of cosines, one panel each.
const COUNTS: [usize; 5] = [1, 2, 3, 5, 10];

/// The sampled signal, and sums of cosines over it.
fn panel(signal: &SignalReport, view: &View, time: &Timeline, sums: Vec<Layer>, room: f64) -> Panel {
    let sampled = time.steps(view.sampled.start, view.sampled.step, view.sampled.values.clone()).part(time.range);
    let points = |l: &Layer| if let Shape::Line { points } = &l.shape { points.clone() } else { Vec::new() };
    let ends = sums.iter().flat_map(points).fold(sampled.ends(), |(low, top), p| (p.1.min(low), p.1.max(top)));
    let name = format!("sampled at {}", units::hertz(signal.sampling_hz));
    let layers =
        std::iter::once(Layer::new(name, color::ORIGINAL, Shape::Area(sampled)).mix(0.55)).chain(sums).collect();
    let y = Axis::new((1.06 * ends.0, headroom(room * ends.1)), "Bandwidth", "B/s", Numbers::Prefixed);
    Panel::new(time.axis(), y, layers)
}

/// A sum of cosines.
fn sum(signal: &SignalReport, time: &Timeline, name: &str, of: &[Cosine]) -> Layer {
    let curve = time.curve(time.range, 480, |t| evaluate(of, t - signal.start_s));
    Layer::new(name, color::DOMINANT, curve).wide(3.0)
}

/// The strongest cosines, if the bandwidth is not constant.
pub fn reconstruction(signal: &SignalReport, view: &View, time: &Timeline) -> Option<Figure> {
    let powers = view.powers.as_ref()?;
    let time = time.cycles(signal);
    let order = strongest(powers, COUNTS[COUNTS.len() - 1]);
    let bins = std::iter::once(0).chain(order.iter().copied());
    let all: Vec<Cosine> = bins.filter_map(|k| view.spectrum.cosine(k, signal.sampling_hz)).collect();
    let counts: Vec<usize> = COUNTS.into_iter().filter(|n| *n < all.len()).collect();
    let of_count = |n: &usize| {
        let layer = sum(signal, &time, "mean and strongest cosines of the DFT", &all[..=*n]);
        let share: f64 = order.iter().take(*n).map(|k| powers.power[k - 1]).sum();
        let note = format!("{}, {:.0} % of the power", units::counted(*n as u64, "cosine"), 100.0 * share);
        let mut p = Panel { note, ..panel(signal, view, &time, vec![layer], 1.35) }.height(125.0);
        p.y.label = String::new();
        if Some(n) != counts.last() {
            (p.x.label, p.x.unit) = (String::new(), "");
        }
        p
    };
    let all: f64 = order.iter().map(|k| powers.power[k - 1]).sum();
    Some(Figure {
        title: format!(
            "Strongest cosines of the signal ({}): {} hold {:.0} % of the power",
            mode(signal),
            order.len(),
            100.0 * all
        ),
        caption: format!("Bandwidth of {}", time.caption(signal, view)),
        panels: counts.iter().map(of_count).collect(),
    })
}

/// The fitted cosines, if there are any.
pub fn fit(signal: &SignalReport, view: &View, time: &Timeline) -> Option<Figure> {
    let (fit, powers) = (signal.fit.as_ref()?, view.powers.as_ref()?);
    let time = time.cycles(signal);
    let n = signal.components.len().saturating_sub(1);
    let bins = std::iter::once(0).chain(strongest(powers, n));
    let on_grid: Vec<Cosine> = bins.filter_map(|k| view.spectrum.cosine(k, signal.sampling_hz)).collect();
    let of = |c: &crate::analysis::Component| Cosine {
        frequency_hz: c.frequency_hz,
        amplitude: c.amplitude_bytes_per_s,
        phase: c.phase_rad,
    };
    let fitted: Vec<Cosine> = signal.components.iter().map(of).collect();
    let first = sum(signal, &time, "cosines of the DFT", &on_grid);
    let sums = vec![Layer { color: color::VALID.into(), ..first }, sum(signal, &time, "fitted cosines", &fitted)];
    Some(Figure {
        title: format!(
            "{n} cosines ({}): fitting them lowers the mean square error by {:.0} %",
            mode(signal),
            100.0 * fit.improvement
        ),
        caption: time.caption(signal, view),
        panels: vec![panel(signal, view, &time, sums, 1.0)],
    })
}
