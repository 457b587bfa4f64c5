//! Access classes, with the advice that needs the period of the job: classes know bytes, periods know when.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::signals::Transfers;
use super::{ModeChoice, Options, SignalReport};
use crate::classify::{self, Advice, Choice, Classes, Model, Sketch, classify_and_sketch};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::{self, Format, ReadOptions, Source};
use crate::record::{Batch, Data, Interval, Intervals, Op, Restart, RowSink, Timing, Trace};
use crate::signal::{Decimated, Mode, RowFilter, Selection};

/// Bursts that have to be seen.
const FEWEST_BURSTS: u64 = 3;
/// Shorter bursts, in seconds, are not worth it: opening and placing a file in a burst buffer takes some of this.
const SHORTEST_BURST_S: f64 = 0.1;
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
    let timed = matches!(trace.data, Data::Requests(_)) && trace.timing != Timing::Order;
    if let Some(mode) = of_writes(options.mode).filter(|_| timed) {
        classes.advice.extend(staging(trace, mode, selection)?);
    }
    Ok((classes, sketches))
}

/// As [`classes`], of an input. Formats that can are read as a stream: memory grows with pairs of file and rank, not with rows;
/// the signal of the writes is folded once there are many of them. Rows that come out of order are kept and put in order, or, if there
/// are too many for that, there is a warning.
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
    let sink = ClassSink::new(selection, options, draw, of_writes(options.mode), read.limits.streams());
    let mut rest = formats::read_into(source, format, read, &sink)?;
    let (reader, writes) = sink.finish();
    if reader.out_of_order() > 0 {
        match formats::read(source, format, read) {
            Ok(trace) => return self::classes(&trace, selection, options, draw),
            // a warning says so
            Err(e) if e.kind() == ErrorKind::Limit => {}
            Err(e) => return Err(e),
        }
    }
    let (mut classes, sketches) = reader.finish(&rest)?;
    if let Some((mode, _, folded)) = writes.filter(|_| rest.timing != Timing::Order) {
        let rows = folded.into_spans().into_iter().map(|s| Interval {
            op: Op::Write,
            asynchronous: mode == Mode::WriteAsync,
            bytes: s.bytes,
            start: s.start,
            end: s.end,
            ..Interval::default()
        });
        rest.data = Data::Intervals(rows.collect::<Intervals>());
        classes.advice.extend(staging(&rest, mode, &Selection::default())?);
    }
    Ok((classes, sketches))
}

/// The classes so far, and the writes of the job so far.
type Streamed<'s, 'm> = (classify::Reader<'s, 'm>, Option<(Mode, RowFilter<'s>, Decimated)>);

/// Classifies the rows of a trace as they are read.
struct ClassSink<'s, 'm, F> {
    fresh: F,
    state: Mutex<Streamed<'s, 'm>>,
    restarted: AtomicBool,
    /// Pairs of rank and file; more are an error.
    most_streams: usize,
}

impl<'s, 'm> ClassSink<'s, 'm, ()> {
    fn new(
        selection: &'s Selection,
        options: classify::Options<'m>,
        draw: bool,
        writes: Option<Mode>,
        most_streams: usize,
    ) -> ClassSink<'s, 'm, impl Fn() -> Streamed<'s, 'm> + Sync> {
        let fresh = move || {
            let writes = writes.map(|mode| (mode, RowFilter::new(mode, selection), Decimated::default()));
            (classify::Reader::new(selection, options, draw), writes)
        };
        ClassSink { state: Mutex::new(fresh()), fresh, restarted: AtomicBool::new(false), most_streams }
    }
}

impl<'s, 'm, F> ClassSink<'s, 'm, F> {
    fn finish(self) -> Streamed<'s, 'm> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'s, 'm, F: Fn() -> Streamed<'s, 'm> + Sync> RowSink for ClassSink<'s, 'm, F> {
    fn take(&self, batch: Batch<'_>) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (reader, writes) = &mut *state;
        reader.take(&batch);
        if reader.streams() > self.most_streams {
            return Err(Error::too_many_streams(self.most_streams));
        }
        if let (Some((_, sieve, folded)), Data::Requests(rows)) = (writes, &*batch.rows) {
            sieve.learn(batch.files, batch.origin_s);
            (0..rows.len()).filter_map(|i| sieve.span(rows, i)).for_each(|span| folded.push(span));
        }
        Ok(())
    }

    fn restart(&self, _why: Restart) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = (self.fresh)();
        self.restarted.store(true, Ordering::Relaxed);
    }
}

/// Learns from rows that come a second time.
struct TrainingSink<'s>(Mutex<classify::Trainer<'s>>);

impl RowSink for TrainingSink<'_> {
    fn take(&self, batch: Batch<'_>) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take(&batch);
        Ok(())
    }

    /// The first reading would have been restarted, too.
    fn restart(&self, _why: Restart) {}
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
    let sink = ClassSink::new(selection, options, false, None, read.limits.streams());
    let rest = formats::read_into(source, format, read, &sink)?;
    let restarted = sink.restarted.load(Ordering::Relaxed);
    let reader = sink.finish().0;
    if restarted || reader.out_of_order() > 0 {
        drop(reader);
        return classify::train(&formats::read(source, format, read)?, selection, options, model);
    }
    let sink = TrainingSink(Mutex::new(reader.train(&rest)?));
    formats::read_into(source, format, read, &sink)?;
    Ok(sink.0.into_inner().unwrap_or_else(PoisonError::into_inner).finish(model))
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
    let options = Options { selection: selection.clone(), mode: ModeChoice::One(mode), ..Options::default() };
    let answer = Transfers::of(trace, mode, &options).analyze(trace, &options).transpose()?;
    Ok(answer.and_then(|(report, ..)| staging_of(&report)))
}

/// Bursts that come again and again fit into a burst buffer, which drains until the next one.
fn staging_of(signal: &SignalReport) -> Option<Advice> {
    let (bursts, period) = (signal.bursts.as_ref()?, signal.period.dominant.as_ref()?);
    let calm = period.period_s - bursts.width_s.max;
    let fits = bursts.count >= FEWEST_BURSTS
        && bursts.width_s.median >= SHORTEST_BURST_S
        && bursts.duty_cycle <= LONGEST_DUTY
        && calm > 0.0;
    if signal.period.periodic != Some(true) || period.confidence < SURE || !fits {
        return None;
    }
    let bytes = bursts.bytes.max.round();
    let hints = [
        ("buffer_bytes", format!("{bytes:.0}")),
        ("drain_s", format!("{calm:.3}")),
        ("drain_bytes_per_s", format!("{:.0}", (bytes / calm).ceil())),
    ];
    Some(Advice {
        policy: "burst-buffer-staging".into(),
        why: format!(
            "{} bursts of at most {}, {:.3} s each, come every {:.3} s, leaving {calm:.3} s to drain",
            bursts.count,
            classify::binary_size(bytes as u64),
            bursts.width_s.median,
            period.period_s
        ),
        hints: hints.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<BTreeMap<_, _>>(),
    })
}
