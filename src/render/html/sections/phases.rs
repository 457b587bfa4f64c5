//! Bandwidth over time of each signal, and metadata calls below.

use maud::{Markup, html};

use crate::analysis::SignalReport;
use crate::record::Timing;
use crate::render::figure::{Axis, Figure, Layer, Numbers, Panel, Shape, View, bandwidth_of, color};
use crate::render::html::page::Page;
use crate::render::html::run::Run;
use crate::render::units;

pub fn section(p: &mut Page<'_>) -> Markup {
    let run = p.run;
    let Some(report) = run.report.as_ref().filter(|_| !run.views.is_empty()) else {
        return p.without(
            "Bandwidth over time",
            "record transfers: DXT_ENABLE_IO_TRACE=1, or the heat maps of Darshan 3.4",
        );
    };
    let lead = match (report.quality.timing, report.quality.bin_s) {
        (Timing::Counter, None) => {
            "Bandwidth of the whole job, if the bytes of each file are spread from its first to its last access."
        }
        _ => "Bandwidth of the whole job.",
    };
    let job_end = report.trace.job.as_ref().and_then(|j| j.run_time_s).filter(|_| run.zero_s == 0.0);
    let bandwidth = |s: &SignalReport, view: &View| {
        let mut figure = bandwidth_of(s, view, &run.time());
        let ends = job_end.map(|t| Shape::Marks { at: vec![0.0, t] });
        let ends = ends.map(|at| Layer::new("start and end of the job", color::SOFT, at).dashed());
        figure.panels[0].layers.extend(ends);
        figure
    };
    let content = html! {
        @for (s, view) in report.signals.iter().zip(&run.views) {
            (p.figure(&format!("bandwidth-{}", s.mode.name()), bandwidth(s, view)))
        }
        @if let Some(figure) = metadata(run) { (p.figure("metadata-plot", figure)) }
    };
    p.section("phases", "Bandwidth over time", lead, content)
}

/// Metadata calls per second below the bandwidth.
fn metadata(run: &Run) -> Option<Figure> {
    let (what, start_s, step_s, rates) = run.metadata.as_ref().filter(|m| m.3.len() > 1)?;
    let steps = run.time().steps(*start_s, *step_s, rates.clone());
    let most = steps.ends().1;
    let y = Axis::new((0.0, 1.06 * most.max(1.0)), "Calls/s", "", Numbers::Plain);
    let layer = Layer::new(format!("metadata calls per second: {what}"), color::OTHERS[0], Shape::Area(steps)).mix(0.8);
    let title = format!("Metadata calls over time: at most {} in a second", units::digits(most));
    let panels = vec![Panel::new(run.time().axis(), y, vec![layer]).height(110.0)];
    Some(Figure { title, panels, ..Figure::default() })
}
