//! Bandwidth over time: the trace, the sampled signal, the cosine of each period where it holds, bursts, and the next burst.

use super::axis::headroom;
use super::model::Wave;
use super::timeline::{Period, ends_with, mode};
use super::{Axis, Figure, Layer, Numbers, Panel, Shape, Timeline, View, color};
use crate::analysis::{Relation, SignalReport};
use crate::render::layout::percent;
use crate::render::units;

/// Periods of the part of a long run that is shown by itself.
const PART: f64 = 8.0;
/// A trace that exceeds the samples by less than this factor is shown whole.
const NEAR: f64 = 1.35;
/// Cells of the width of a figure: narrower ones could not be seen.
const COLUMNS: usize = 1000;
/// Marks of bursts at most; of more, neighbours are joined.
const BURSTS: usize = 500;

/// The figure of one signal. Of a run of more periods than can be seen it shows the whole, and below the last of them.
pub fn bandwidth(signal: &SignalReport, view: &View, time: &Timeline) -> Figure {
    let periods = time.periods(signal);
    let most = view.finest().coarse(COLUMNS).ends().1;
    let top = percentile_top(&view.sampled.values);
    let top = if most < NEAR * top { top.max(most) } else { top };
    let whole = Scene { signal, view, periods: &periods, time: *time, top, most };
    let long =
        signal.period.dominant.as_ref().filter(|d| (signal.end_s - signal.start_s) / d.period_s > Wave::MOST_PERIODS);
    let above = whole.panel(true);
    let panels = match (long, periods.first().and_then(|p| p.windows.last())) {
        (Some(d), Some(last)) => {
            let next = signal.prediction.as_ref().map(|p| p.next_end_s - time.shift);
            let to = next.filter(|e| *e <= last.1 + PART * d.period_s).unwrap_or(last.1);
            let range = (last.1 - PART * d.period_s, (to + 0.25 * d.period_s).min(time.range.1));
            let part = Scene { time: Timeline { range, ..*time }, ..whole };
            vec![above.height(230.0), part.panel(false).height(230.0)]
        }
        _ => vec![above],
    };
    let answer = signal.period.dominant.as_ref().map_or_else(
        || signal.period.verdict.words().to_owned(),
        |d| format!("periodic, every {}", units::seconds(d.period_s)),
    );
    Figure { title: format!("Bandwidth ({}): {answer}", mode(signal)), caption: view.name.clone(), panels }
}

/// The signal in a range of time.
struct Scene<'a> {
    signal: &'a SignalReport,
    view: &'a View,
    periods: &'a [Period<'a>],
    time: Timeline,
    /// End of the axis.
    top: f64,
    /// Largest bandwidth of the trace at the resolution of the figure.
    most: f64,
}

impl Scene<'_> {
    /// From the back to the front; the periods, and what is said of them, in rows above if `rows`.
    fn panel(&self, rows: bool) -> Panel {
        let curve = |c: &super::Steps| self.time.steps(c.start, c.step, c.values.clone()).part(self.time.range);
        let sampled = curve(&self.view.sampled);
        let rate = format!("sampled at {}", units::hertz(self.signal.sampling_hz));
        let mut waves: Vec<Layer> = Vec::new();
        for (i, p) in self.periods.iter().enumerate().rev() {
            let of_period = self.time.waves(self.signal, p, self.view.mean(), if i == 0 { 3.0 } else { 2.0 });
            // further ones differ from the signal for those, too, who do not see their colour
            waves.extend(of_period.into_iter().map(|l| Layer { dashed: i > 0, ..l }));
        }
        let (low, high) = ends_with(&waves, self.time.range, (0.0, self.top));
        let y = Axis::new((1.05 * low, headroom(high)), "Bandwidth", "B/s", Numbers::Prefixed);
        let trace = curve(self.view.finest());
        let mut layers: Vec<Layer> = self.next().into_iter().collect();
        let peaks = self.peaks(&trace, y.range.1);
        layers.push(Layer::new("trace", color::ORIGINAL, Shape::Area(trace.thinned(4096))).mix(0.8));
        layers.push(Layer::new(rate, color::SIGNAL, Shape::Curve(sampled.thinned(4096))));
        layers.extend(waves);
        layers.extend(peaks);
        if rows {
            layers.extend(self.rows());
        }
        Panel::new(self.time.axis(), y, layers)
    }

    fn next(&self) -> Option<Layer> {
        let p = self.signal.prediction.as_ref()?;
        let span = self.time.later((p.next_start_s, p.next_end_s));
        let error = p.next_start_std_s.map_or(String::new(), |s| format!(" ± {}", units::seconds(s)));
        let name = format!("next burst at {:.2} s{error}", span.0);
        Some(Layer::new(name, color::NEXT, Shape::Spans { row: None, spans: vec![span], text: String::new() }).mix(0.4))
    }

    /// Where the trace leaves the figure.
    fn peaks(&self, trace: &super::Steps, top: f64) -> Option<Layer> {
        let above = trace.coarse(2 * COLUMNS);
        let mut at: Vec<f64> =
            (0..above.values.len()).filter(|i| above.values[*i] > top).map(|i| above.at(i)).collect();
        at.dedup_by(|b, a| *b - *a < 0.008 * self.time.span());
        let name = format!("higher, up to {}", units::rate(self.most));
        (self.most > top && !at.is_empty()).then(|| Layer::new(name, color::OUTLINE, Shape::Peaks { at }))
    }

    /// Where each period holds, its next burst in the same row, where another one begins, and the bursts.
    fn rows(&self) -> Vec<Layer> {
        let mut layers = Vec::new();
        let spans = |row, color, share, text, spans| {
            Layer::new("", color, Shape::Spans { row: Some(row), spans, text }).mix(share)
        };
        for (row, p) in self.periods.iter().enumerate() {
            let text =
                format!("every {}, confidence {}", units::seconds(p.period.period_s), percent(p.period.confidence));
            layers.push(spans(row, p.color, 0.3, text, p.windows.clone()));
            let next = p.next.map(|n| vec![self.time.later((n.next_start_s, n.next_end_s))]);
            layers.extend(next.map(|next| spans(row, color::NEXT, 0.3, String::new(), next)));
        }
        for o in &self.signal.period.others {
            let edge = match o.relation {
                Relation::After => o.validity.first(),
                Relation::Before => self.signal.validity.first(),
                _ => None,
            };
            let at = edge.map(|w| vec![w.start_s - self.time.shift]);
            let layer = |at| Layer::new("change of period", color::INK, Shape::Marks { at }).dashed();
            layers.extend(at.map(layer));
        }
        let bursts = bursts(self.signal, self.view);
        if !bursts.is_empty() {
            let text = units::counted(bursts.len() as u64, "burst");
            let all =
                joined(bursts.into_iter().map(|b| self.time.later(b)).collect(), self.time.span() / BURSTS as f64);
            layers.push(spans(self.periods.len(), color::VALID, 0.5, text, all));
        }
        layers
    }
}

/// Spans, of more than can be seen those nearer to each other than `gap` as one.
fn joined(mut spans: Vec<(f64, f64)>, gap: f64) -> Vec<(f64, f64)> {
    if spans.len() > BURSTS {
        spans.dedup_by(|next, last| {
            let near = next.0 - last.1 < gap;
            last.1 = if near { next.1 } else { last.1 };
            near
        });
    }
    spans
}

/// Start and end of each burst on the trace's own clock.
pub fn bursts(signal: &SignalReport, view: &View) -> Vec<(f64, f64)> {
    match (&view.seen.bursts[..], &signal.bursts) {
        ([], Some(b)) => b.starts_s.iter().map(|t| (*t, t + b.width_s.median)).collect(),
        (known, _) => known.to_vec(),
    }
}

/// Single samples may lie far above all bursts: the axis ends where 99 % of the samples with I/O do, if that is far lower.
fn percentile_top(values: &[f64]) -> f64 {
    let mut v: Vec<f64> = values.iter().copied().filter(|x| *x > 0.0).collect();
    v.sort_by(f64::total_cmp);
    let top = v.last().copied().unwrap_or(0.0);
    let most = v.get((v.len() as f64 * 0.99) as usize).copied().unwrap_or(top);
    if top > 2.0 * most { 1.2 * most } else { top }
}
