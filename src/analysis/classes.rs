//! Access classes, with the advice that needs the period of the job: classes know bytes, periods know when.

use std::collections::BTreeMap;

use super::{ModeChoice, Options, SignalReport, analyze_signal};
use crate::classify::{self, Advice, Classes, Sketch, classify_and_sketch};
use crate::error::Result;
use crate::record::{Data, Trace};
use crate::signal::{Activity, Extent, Mode, Selection};

/// Bursts that have to be seen.
const FEWEST_BURSTS: u64 = 3;
/// Longest share of the period that bursts may last: else there is no time to drain.
const LONGEST_DUTY: f64 = 0.5;
/// Least confidence in the period.
const SURE: f64 = 0.5;

/// The classes of a trace; with sketches of its files if they are to be drawn. If the writes of the job are periodic, there is advice
/// on staging them.
///
/// # Errors
/// As [`classify::classify`], and as [`analyze`](super::analyze) for signals that cannot be made.
pub fn classes(
    trace: &Trace,
    selection: &Selection,
    options: classify::Options<'_>,
    draw: bool,
) -> Result<(Classes, Vec<Sketch>)> {
    let (mut classes, sketches) = if draw {
        classify_and_sketch(trace, selection, options)?
    } else {
        (classify::classify(trace, selection, options)?, Vec::new())
    };
    let mode = match options.mode {
        Mode::All => Mode::Write,
        mode => mode,
    };
    if matches!(mode, Mode::Write | Mode::WriteSync | Mode::WriteAsync) && matches!(trace.data, Data::Requests(_)) {
        let activity = Activity::new(trace, mode, selection);
        let extent = Extent::of(activity.spans());
        if extent.count > 0 {
            let signal = Options { selection: selection.clone(), mode: ModeChoice::One(mode), ..Options::default() };
            let (report, ..) = analyze_signal(trace, mode, &activity, &extent, &signal)?;
            classes.advice.extend(staging(&report));
        }
    }
    Ok((classes, sketches))
}

/// Bursts that come again and again fit into a burst buffer, which drains until the next one.
fn staging(signal: &SignalReport) -> Option<Advice> {
    let (bursts, period) = (signal.bursts.as_ref()?, signal.period.dominant.as_ref()?);
    let calm = period.period_s - bursts.width_s.max;
    let fits = bursts.count >= FEWEST_BURSTS && bursts.duty_cycle <= LONGEST_DUTY && calm > 0.0;
    if !signal.period.periodic || period.confidence < SURE || !fits {
        return None;
    }
    let bytes = bursts.bytes.max.ceil();
    let hints = [
        ("buffer_bytes", format!("{bytes:.0}")),
        ("drain_s", format!("{calm:.3}")),
        ("drain_bytes_per_s", format!("{:.0}", (bytes / calm).ceil())),
    ];
    Some(Advice {
        policy: "burst-buffer-staging".into(),
        why: format!(
            "{} bursts of at most {bytes:.0} bytes, {:.3} s each, come every {:.3} s: {calm:.3} s are left to drain each",
            bursts.count, bursts.width_s.median, period.period_s
        ),
        hints: hints.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<BTreeMap<_, _>>(),
    })
}
