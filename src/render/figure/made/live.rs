//! A followed job: its recent bandwidth, the dominant cosine since the last change, the next burst, and the changes.

use std::f64::consts::TAU;

use super::axis::headroom;
use super::{Axis, Figure, Layer, Numbers, Panel, Shape, Timeline, color};
use crate::online::live::Snapshot;
use crate::render::units;

/// Points of the cosine.
const POINTS: usize = 600;

/// The figure of a job; `None` while nothing has come.
pub fn live(s: &Snapshot) -> Option<Figure> {
    let start = s.signal.start_s?;
    let end = start + s.signal.bin_s * s.signal.bytes_per_s.len() as f64;
    let prediction = s.prediction.as_ref();
    let next = prediction.and_then(|p| p.next_start_s.zip(p.next_end_s)).filter(|n| n.0 >= start);
    let last = next.map_or(end, |n| n.1.max(end));
    let time = Timeline::of(start, last, 0.01);
    let recent = time.steps(start, s.signal.bin_s, s.signal.bytes_per_s.clone());
    let most = recent.ends().1;
    let mut layers = Vec::new();
    if let Some(span) = next {
        let bytes = prediction.and_then(|p| p.bytes);
        let high = bytes.filter(|_| span.1 > span.0).map_or(most, |b| (b / (span.1 - span.0)).min(most));
        let (from, to) = time.later(span);
        let boxes = Shape::Boxes { boxes: vec![[from, 0.0, to, high]], labels: Vec::new() };
        layers.push(Layer::new("next burst", color::NEXT, boxes).mix(0.5));
    }
    layers.push(Layer::new("bandwidth", color::ORIGINAL, Shape::Area(recent)).mix(0.8));
    let mut ends = (0.0, most);
    if let Some(c) = &s.cosine {
        // the period holds since the last change
        let since = s.changes_s.iter().copied().filter(|t| *t <= last).fold(start, f64::max);
        let wave = |t: f64| {
            c.mean_bytes_per_s + c.amplitude_bytes_per_s * (TAU * c.frequency_hz * (t - start) + c.phase_rad).cos()
        };
        let curve = time.curve(time.later((since, last)), POINTS, wave);
        let both = [-1.0, 1.0].map(|sign| c.mean_bytes_per_s + sign * c.amplitude_bytes_per_s);
        ends = (both[0].min(0.0), most.max(both[1]));
        layers.push(Layer::new("dominant cosine", color::DOMINANT, curve));
    }
    let at: Vec<f64> = s.changes_s.iter().filter(|t| (start..=last).contains(t)).map(|t| t - time.shift).collect();
    if !at.is_empty() {
        layers.push(Layer::new("change", color::INK, Shape::Marks { at }).dashed());
    }
    let period = prediction.filter(|p| p.periodic).and_then(|p| p.period_s);
    let answer =
        period.map_or_else(|| "no period holds now".into(), |t| format!("periodic, every {}", units::seconds(t)));
    let y = Axis::new((1.05 * ends.0, headroom(ends.1)), "Bandwidth", "B/s", Numbers::Prefixed);
    let x = Axis { label: since(&time, start), ..time.axis() };
    Some(Figure { title: format!("Bandwidth: {answer}"), panels: vec![Panel::new(x, y, layers)], ..Figure::default() })
}

/// The zero of the time axis, in words.
fn since(time: &Timeline, start: f64) -> String {
    if time.shift == 0.0 { "Time".into() } else { format!("Time since {start:.3} s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::online::live::{Cosine, Live, RecentSignal};

    #[test]
    fn a_cosine_begins_at_the_last_change_and_an_empty_job_has_no_figure() {
        let empty = Live::new().snapshot();
        assert!(live(&empty).is_none());
        let cosine = Cosine { frequency_hz: 0.1, mean_bytes_per_s: 4.0, amplitude_bytes_per_s: 5.0, phase_rad: 0.0 };
        let signal = RecentSignal { start_s: Some(1e9), bin_s: 1.0, bytes_per_s: vec![2.0, 8.0, 2.0, 8.0] };
        let s = Snapshot { signal, cosine: Some(cosine), changes_s: vec![1e9 + 2.0], ..empty };
        let figure = live(&s).unwrap();
        let panel = &figure.panels[0];
        let line =
            panel.layers.iter().find_map(|l| if let Shape::Line { points } = &l.shape { Some(points) } else { None });
        assert_eq!(line.unwrap()[0], (2.0, 4.0 + 5.0 * (TAU * 0.2).cos()));
        assert!(panel.y.range.0 < -1.0 && panel.y.range.1 > 9.0, "the cosine is within the axes: {:?}", panel.y.range);
        assert_eq!(panel.x.label, "Time since 1000000000.000 s");
    }
}
