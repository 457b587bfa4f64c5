//! Access classes, with the advice that needs the period of the job: classes know bytes, periods know when.

use std::collections::BTreeMap;

use super::{ModeChoice, Options, SignalReport, analyze_signal};
use crate::classify::{self, Advice, Choice, Classes, Model, Sketch, classify_and_sketch};
use crate::error::Result;
use crate::formats::{self, Format, ReadOptions, Source};
use crate::record::{Data, FileId, Interval, Intervals, Op, Trace};
use crate::signal::profile::Profile;
use crate::signal::{Activity, Extent, Folded, Mode, Selection, Sieve};

/// Bursts that have to be seen.
const FEWEST_BURSTS: u64 = 3;
/// Longest share of the period that bursts may last: else there is no time to drain.
const LONGEST_DUTY: f64 = 0.5;
/// Least confidence in the period.
const SURE: f64 = 0.5;

/// The classes of a trace; with sketches of its files if they are to be drawn. If the writes of the job are periodic, there is
/// advice on staging them.
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
    if let Some(mode) = of_writes(options.mode).filter(|_| matches!(trace.data, Data::Requests(_))) {
        classes.advice.extend(staging(trace, mode, selection)?);
    }
    Ok((classes, sketches))
}

/// As [`classes`], of an input. Formats that can are read as a stream: memory grows with pairs of file and rank, not with rows;
/// the signal of the writes is folded once there are many of them.
///
/// # Errors
/// As [`formats::read`] and [`classes`].
pub fn classes_of(
    source: &Source,
    format: Option<&dyn Format>,
    read: &ReadOptions,
    selection: &Selection,
    options: classify::Options<'_>,
    draw: bool,
) -> Result<(Classes, Vec<Sketch>)> {
    let mut reader = classify::Reader::new(selection, options, draw);
    let mut writes = of_writes(options.mode).map(|mode| (Sieve::new(mode, selection), Folded::default()));
    let rest = formats::read_pieces(source, format, read, &mut |piece| {
        reader.take(piece);
        if let Some((sieve, folded)) = &mut writes {
            sieve.learn(piece.files, piece.origin_s);
            (0..piece.rows.len()).filter_map(|i| sieve.span(piece.rows, i)).for_each(|span| folded.push(span));
        }
        Ok(())
    })?;
    let Some(mut rest) = rest else {
        drop(reader);
        drop(writes);
        return classes(&formats::read(source, format, read)?, selection, options, draw);
    };
    let (mut classes, sketches) = reader.finish(&rest)?;
    if let (Some(mode), Some((_, folded))) = (of_writes(options.mode), writes) {
        let rows = folded.into_spans().into_iter().map(|s| Interval {
            op: Op::Write,
            asynchronous: mode == Mode::WriteAsync,
            rank: 0,
            file: FileId::NONE,
            bytes: s.bytes,
            start: s.start,
            end: s.end,
        });
        rest.data = Data::Intervals(rows.collect::<Intervals>());
        classes.advice.extend(staging(&rest, mode, &Selection::default())?);
    }
    Ok((classes, sketches))
}

/// Adds the run of an input to a model of earlier runs, reading it twice where it can be read as a stream. Gives the number of
/// files learned from it.
///
/// # Errors
/// As [`formats::read`] and [`classify::train`].
pub fn train_on(
    source: &Source,
    format: Option<&dyn Format>,
    read: &ReadOptions,
    selection: &Selection,
    options: classify::Options<'_>,
    model: &mut Model,
) -> Result<usize> {
    let options = classify::Options { choice: Choice::Rules, model: None, ..options };
    let mut reader = classify::Reader::new(selection, options, false);
    let rest = formats::read_pieces(source, format, read, &mut |piece| {
        reader.take(piece);
        Ok(())
    })?;
    let Some(rest) = rest else {
        drop(reader);
        return classify::train(&formats::read(source, format, read)?, selection, options, model);
    };
    let mut trainer = reader.train(&rest)?;
    formats::read_pieces(source, format, read, &mut |piece| {
        trainer.take(piece);
        Ok(())
    })?;
    Ok(trainer.finish(model))
}

/// The writes among the transfers of a mode.
fn of_writes(mode: Mode) -> Option<Mode> {
    match mode {
        Mode::All => Some(Mode::Write),
        mode => matches!(mode, Mode::Write | Mode::WriteSync | Mode::WriteAsync).then_some(mode),
    }
}

/// Advice on the writes of a job, if they are periodic.
fn staging(trace: &Trace, mode: Mode, selection: &Selection) -> Result<Option<Advice>> {
    let activity = Activity::new(trace, mode, selection);
    let extent = Extent::of(activity.spans());
    if extent.count == 0 {
        return Ok(None);
    }
    let signal = Options { selection: selection.clone(), mode: ModeChoice::One(mode), ..Options::default() };
    let profile = Profile::from_counted(activity.spans(), activity.rows());
    let (report, ..) = analyze_signal(trace, mode, &activity, &extent, Some(profile), &signal)?;
    Ok(staging_of(&report))
}

/// Bursts that come again and again fit into a burst buffer, which drains until the next one.
fn staging_of(signal: &SignalReport) -> Option<Advice> {
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
            "{} bursts of at most {}, {:.3} s each, come every {:.3} s: {calm:.3} s are left to drain each",
            bursts.count,
            classify::binary_size(bytes as u64),
            bursts.width_s.median,
            period.period_s
        ),
        hints: hints.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<BTreeMap<_, _>>(),
    })
}
