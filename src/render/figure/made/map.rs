//! Maps of colour: power over time and frequency (the spectrogram of the STFT, the scalogram of the CWT), and the strength of the
//! bands of a wavelet decomposition.

use super::model::Row;
use super::timeline::mode;
use super::{Axis, Figure, Layer, Numbers, Panel, Shape, Timeline, View, color};
use crate::analysis::SignalReport;
use crate::period::Method;
use crate::period::methods::{Map, Sight};
use crate::render::units;
use crate::transform::{Band, Decomposition};

/// Columns of a map, at most.
const COLUMNS: usize = 300;

/// The largest of every `group` values.
fn thinned(values: &[f64], group: usize) -> Vec<f64> {
    values.chunks(group).map(|part| part.iter().copied().fold(f64::NEG_INFINITY, f64::max)).collect()
}

/// Rows as shares of the largest value of all, which is given, too.
fn shares(mut rows: Vec<Row>) -> (Vec<Row>, f64) {
    let top = rows.iter().flat_map(|r| &r.values).copied().fold(0.0, f64::max);
    rows.iter_mut().flat_map(|r| &mut r.values).for_each(|v| *v = if top > 0.0 { *v / top } else { 0.0 });
    (rows, top)
}

/// Power over time and frequency, if the method of the signal has it.
pub fn map(signal: &SignalReport, view: &View, time: &Timeline) -> Option<Figure> {
    let Sight::Map(map) = &view.seen.sight else { return None };
    let dominant = signal.period.dominant.as_ref().map(|d| d.frequency_hz);
    let (first, last) = (*map.frequency_hz.first()?, *map.frequency_hz.last()?);
    if first >= last {
        return None;
    }
    let most = dominant.map_or_else(|| most_power(map), |f| 5.5 * f).min(last);
    // the scales of wavelets are octaves, the bins of a DFT are not
    let (what, numbers, low) = match signal.period.method {
        Method::Cwt => ("Wavelet power", Numbers::Logarithmic, first.max(dominant.map_or(0.0, |f| f / 8.0))),
        _ => ("Power spectra over time", Numbers::Prefixed, first.min(0.5 * most)),
    };
    let y = Axis::new((low, most), "Frequency", "Hz", numbers);
    let inside = |f: f64| (y.range.0..=y.range.1).contains(&f);
    let (rows, _) = shares(rows(map, signal.start_s - time.shift, y.range));
    let mut layers = vec![Layer::new("0 to 100 % of the largest amplitude", color::SIGNAL, Shape::Map { rows })];
    for p in time.periods(signal) {
        let f = p.period.frequency_hz;
        let name = format!("period of {}", units::seconds(p.period.period_s));
        for &(from, to) in p.windows.iter().filter(|_| inside(f)) {
            layers.push(Layer::new(&*name, p.color, Shape::Line { points: vec![(from, f), (to, f)] }).wide(4.0));
        }
    }
    let points =
        signal.track.iter().map(|p| (p.time_s - time.shift, 1.0 / p.period_s)).filter(|p| inside(p.1)).collect();
    layers.push(Layer::new("strongest frequency", color::TRACK, Shape::Dots { points }).wide(4.0));
    let found = dominant.map_or_else(
        || "no dominant frequency".to_owned(),
        |f| format!("{} = 1 / {}", units::hertz(f), units::seconds(1.0 / f)),
    );
    let title = format!("{what} ({}): {found}", mode(signal));
    Some(Figure { title, caption: view.name.clone(), panels: vec![Panel::new(time.axis(), y, layers)] })
}

/// The frequency below which 95 % of the power lies, with some room.
fn most_power(map: &Map) -> f64 {
    let sums: Vec<f64> = map.power.rows().into_iter().map(|r| r.sum()).collect();
    let total: f64 = sums.iter().sum();
    let mut sum = 0.0;
    let row = sums.iter().position(|s| {
        sum += s;
        sum >= 0.95 * total
    });
    1.2 * row.and_then(|i| map.frequency_hz.get(i)).copied().unwrap_or(f64::INFINITY)
}

/// The rows that can be seen, each from half way to the one below to half way to the one above; roots of the powers, so that weak
/// parts show, too.
fn rows(map: &Map, start: f64, range: (f64, f64)) -> Vec<Row> {
    let f = &map.frequency_hz;
    let group = map.power.ncols().div_ceil(COLUMNS).max(1);
    let between = |i: usize| 0.5 * (f[i] + f[i + 1]);
    let edges = |i: usize| {
        let low = if i > 0 { between(i - 1) } else { f[0] };
        let high = if i + 1 < f.len() { between(i) } else { f[i] };
        (low, high)
    };
    let value = |i: usize| map.power.row(i).iter().map(|p| p.sqrt()).collect::<Vec<f64>>();
    let row = |i: usize| Row {
        x0: start + map.start_s - 0.5 * map.step_s,
        step: group as f64 * map.step_s,
        y: edges(i),
        values: thinned(&value(i), group),
    };
    (0..f.len()).filter(|&i| edges(i).1 > range.0 && edges(i).0 < range.1).map(row).collect()
}

/// How strong each band of frequencies is at each time, if the signal was decomposed.
pub fn scalogram(signal: &SignalReport, view: &View, time: &Timeline) -> Option<Figure> {
    let Sight::Wavelet(d) = &view.seen.sight else { return None };
    let levels = d.levels();
    // level 1, the fastest band, is at the bottom; above the last level is what is slower than all of them
    let bands = || (1..=levels).map(|l| (Band::Detail, l)).chain([(Band::Approximation, levels)]).zip(1u32..);
    let row = |((band, level), i): ((Band, usize), u32)| {
        let x = d.at_full_length(band, level).ok()?;
        let group = x.len().div_ceil(COLUMNS).max(1);
        let moduli: Vec<f64> = x.iter().map(|v| v.abs()).collect();
        let (step, i) = (group as f64 / signal.sampling_hz, f64::from(i));
        Some(Row { x0: signal.start_s - time.shift, step, y: (i - 0.46, i + 0.46), values: thinned(&moduli, group) })
    };
    let (rows, top) = shares(bands().filter_map(row).collect());
    let sum = |r: &Row| r.values.iter().sum::<f64>();
    let strongest = (0..rows.len()).max_by(|&a, &b| sum(&rows[a]).total_cmp(&sum(&rows[b])));
    let name = |((band, level), i): ((Band, usize), u32)| {
        let letter = if band == Band::Detail { "D" } else { "A" };
        (f64::from(i), format!("{letter}{level}"))
    };
    let y = Axis::named((0.5, levels as f64 + 1.5), "Frequency band", bands().map(name).collect());
    let beside = |((band, level), i): ((Band, usize), u32)| {
        let (low, high) = Decomposition::frequencies(band, level, signal.sampling_hz);
        let least = if low == 0.0 { "below".into() } else { format!("{} to", units::hertz(low)) };
        (f64::from(i), format!("{least} {}", units::hertz(high)))
    };
    let answer = strongest.and_then(|i| bands().nth(i)).map_or_else(String::new, |band| beside(band).1);
    let layer = Layer::new(format!("0 to {}", units::rate(top)), color::SIGNAL, Shape::Map { rows });
    let panel = Panel { beside: bands().map(beside).collect(), ..Panel::new(time.axis(), y, vec![layer]) };
    Some(Figure {
        title: format!("Wavelet decomposition ({}): strongest {answer}", mode(signal)),
        caption: format!("{}: largest modulus in each band; D are details, A is the rest", view.name),
        panels: vec![panel],
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn groups_keep_their_largest_value() {
        assert_eq!(super::thinned(&[1.0, 3.0, 2.0, 5.0, 4.0], 2), [3.0, 5.0, 4.0]);
    }
}
