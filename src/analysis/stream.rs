//! Analysis while an input is read: rows are kept only as far as the answers need them.
//!
//! Rows are added to the bandwidth ([`Profile`](crate::signal::profile)) and to totals while the next ones are read. Samples and patterns
//! need the rows themselves: they are kept until there are more than [`Bounds`] allow, and dropped from then on. Memory does not
//! grow with the rows after that.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use rayon::prelude::*;

use super::signals::Transfers;
use super::totals::Totals;
use super::{Analysis, Options, analyze, assemble, patterns_of, signals_of};
use crate::error::Result;
use crate::formats::{self, Format, ReadOptions, Source};
use crate::record::{Batch, Data, Restart, RowSink, Trace, Warning};
use crate::signal::profile::{EXACT_SPANS, ProfileBuilder};
use crate::signal::{Activity, Extent, Mode, RowFilter};

/// When rows are let go.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Smaller inputs that are not compressed are kept whole: reading them takes all threads then.
    pub small_bytes: u64,
    /// Rows that are kept if nothing but the bandwidth is asked for: of more it is in bins however they are read.
    pub rows: usize,
    /// Rows with offsets that are kept for the access patterns: at most 47 bytes each.
    pub rows_for_patterns: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { small_bytes: 32 << 20, rows: EXACT_SPANS, rows_for_patterns: 1 << 24 }
    }
}

/// Reads and analyses an input.
///
/// The answer is that of [`analyze`](super::analyze), in memory that stops growing: of more than 16,777,216 requests in one file
/// the access patterns are left out, with the warning `patterns-left-out`.
///
/// # Errors
/// As [`formats::read`] and [`analyze`](super::analyze).
pub fn analyze_source(
    source: &Source,
    format: Option<&dyn Format>,
    read: &ReadOptions,
    options: &Options,
) -> Result<Analysis> {
    within(source, format, read, options, Bounds::default())
}

pub(super) fn within(
    source: &Source,
    format: Option<&dyn Format>,
    read: &ReadOptions,
    options: &Options,
    bounds: Bounds,
) -> Result<Analysis> {
    // the files of a folder are read side by side, and rows in another order are other sums
    let small = !source.is_compressed() && source.most_stored_bytes() < bounds.small_bytes;
    if small || source.members().is_some() || !options.needs_bandwidth_only() {
        return analyze(&formats::read(source, format, read)?, options);
    }
    let state = Mutex::new(Gathered::new(options, bounds));
    let (sender, receiver) = sync_channel(1);
    // rows are summed up while the next ones are read, by a thread that must not wait for the pool: its workers wait for that thread
    let trace = thread::scope(|scope| {
        scope.spawn(|| receiver.into_iter().for_each(|handed| locked(&state).add(handed)));
        formats::read_into(source, format, read, &Hand { state: &state, sender })
    })?;
    state.into_inner().unwrap_or_else(PoisonError::into_inner).finish(trace, options)
}

fn locked<'m, T>(mutex: &'m Mutex<T>) -> MutexGuard<'m, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Rows on their way to the thread that sums them up.
struct Handed {
    /// Restarts before them.
    restarts: u32,
    /// As [`Batch::binned`].
    binned: bool,
    rows: Data,
}

/// Hands rows over to the thread that sums them up.
struct Hand<'m, 'o> {
    state: &'m Mutex<Gathered<'o>>,
    sender: SyncSender<Handed>,
}

impl RowSink for Hand<'_, '_> {
    fn take(&self, batch: Batch<'_>) -> Result<()> {
        let restarts = locked(self.state).learn(&batch);
        // if that thread has panicked, so does the scope of it
        let _ = self.sender.send(Handed { restarts, binned: batch.binned, rows: batch.rows.into_owned() });
        Ok(())
    }

    fn restart(&self, _why: Restart) {
        locked(self.state).restart();
    }
}

/// The state of the analysis after the rows so far.
struct Gathered<'o> {
    options: &'o Options,
    modes: Vec<OfMode<'o>>,
    bounds: Bounds,
    /// Whether any row has an offset: only such rows have patterns.
    offsets: bool,
    restarts: u32,
    origin_s: i64,
    totals: Totals,
    /// The rows; `None` once they are too many.
    kept: Option<Data>,
}

impl<'o> Gathered<'o> {
    fn new(options: &'o Options, bounds: Bounds) -> Self {
        let modes = signals_of(options.mode).into_iter().map(|mode| OfMode::new(mode, options)).collect();
        Gathered {
            options,
            modes,
            bounds,
            offsets: false,
            restarts: 0,
            origin_s: 0,
            totals: Totals::default(),
            kept: Some(Data::default()),
        }
    }

    fn restart(&mut self) {
        *self = Gathered { restarts: self.restarts + 1, ..Gathered::new(self.options, self.bounds) };
    }

    /// Learns names; gives the number of restarts.
    fn learn(&mut self, batch: &Batch<'_>) -> u32 {
        self.origin_s = batch.origin_s;
        self.modes.iter_mut().for_each(|m| m.filter.learn(batch.files, batch.origin_s));
        self.restarts
    }

    fn add(&mut self, Handed { restarts, binned, rows }: Handed) {
        if restarts != self.restarts {
            return;
        }
        self.offsets |= matches!(&rows, Data::Requests(r) if r.has_offsets());
        let of_patterns = self.options.patterns && self.offsets;
        let most = if of_patterns { self.bounds.rows_for_patterns } else { self.bounds.rows };
        self.totals.add(&Totals::of(&rows, self.origin_s));
        self.modes.iter_mut().for_each(|m| m.add(&rows));
        // bins are those of the signal
        let bins = binned && matches!(rows, Data::Intervals(_));
        self.kept = self.kept.take().filter(|kept| bins || kept.len() + rows.len() <= most);
        if let Some(kept) = &mut self.kept {
            kept.append(rows);
        }
    }

    fn finish(self, mut trace: Trace, options: &Options) -> Result<Analysis> {
        let keeps_rows = self.kept.is_some();
        trace.data = self.kept.unwrap_or_default();
        if options.patterns && self.offsets && !keeps_rows {
            trace.warnings.push(patterns_left_out(self.totals.records));
        }
        let answer = |m: OfMode<'_>| {
            let activity = keeps_rows.then(|| Activity::new(&trace, m.mode, &options.selection));
            (m.excluded, m.transfers(activity).analyze(&trace, options))
        };
        let answers = self.modes.into_par_iter().map(answer).collect();
        let patterns = || match options.patterns && keeps_rows {
            true => patterns_of(&trace, options),
            false => Ok(None),
        };
        assemble(&trace, &self.totals, options, answers, patterns)
    }
}

/// The transfers of a mode.
struct OfMode<'o> {
    mode: Mode,
    filter: RowFilter<'o>,
    extent: Extent,
    profile: ProfileBuilder,
    excluded: u64,
}

impl<'o> OfMode<'o> {
    fn new(mode: Mode, options: &'o Options) -> Self {
        let filter = RowFilter::new(mode, &options.selection);
        OfMode { mode, filter, extent: Extent::default(), profile: ProfileBuilder::default(), excluded: 0 }
    }

    fn add(&mut self, rows: &Data) {
        let OfMode { filter, extent, profile, excluded, .. } = self;
        *excluded += filter.excluded(rows);
        filter.each_span(rows, |span| {
            extent.add(span);
            profile.add(span);
        });
    }

    fn transfers<'a>(self, activity: Option<Activity<'a>>) -> Transfers<'a> {
        let OfMode { mode, extent, profile, excluded, .. } = self;
        Transfers { mode, extent, profile: Some(profile.finish()), activity, excluded }
    }
}

fn patterns_left_out(requests: u64) -> Warning {
    let found = format!("no access patterns: they need all {requests} requests, which are too many to be kept");
    Warning::new("patterns-left-out", found)
        .remedy("ask for the patterns alone: that keeps all requests, at about 50 bytes each")
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use super::*;
    use crate::analysis::Report;
    use crate::formats::write::{write_stream, writer};
    use crate::record::{Interval, Intervals};
    use crate::signal::Selection;
    use crate::workload::{self, Values};

    /// Lets rows go after a few.
    const TIGHT: Bounds = Bounds { small_bytes: 0, rows: 100, rows_for_patterns: 1000 };

    /// A job of 4 ranks that writes every 7 s, in a format.
    fn job(format: &str) -> Source {
        let checkpoint = workload::find("checkpoint").unwrap();
        let values = [("ranks", "4"), ("checkpoints", "30"), ("period", "7"), ("size", "16MiB"), ("jitter", "0.03")];
        let run = workload::run(checkpoint, &Values::of(checkpoint.parameters(), &values).unwrap(), 1).unwrap();
        let mut bytes = Vec::new();
        write_stream(writer(format).unwrap(), &run, &mut bytes).unwrap();
        Source::from_bytes("job", bytes)
    }

    /// The reports with few rows kept, and with all.
    fn both(source: &Source, options: &Options) -> [Report; 2] {
        let read = ReadOptions::default();
        let kept = analyze(&formats::read(source, None, &read).unwrap(), options).unwrap();
        [within(source, None, &read, options, TIGHT).unwrap().report, kept.report]
    }

    #[test]
    fn rows_that_are_let_go_give_the_same_answer() {
        let narrow = Selection::default().ranks(Some("0-1".parse().unwrap())).from_s(Some(20.5)).until_s(Some(150.0));
        for format in ["csv", "jsonl", "msgpack"] {
            let source = job(format);
            for selection in [Selection::default(), narrow.clone()] {
                let [passed, kept] = both(&source, &Options::default().patterns(false).selection(selection));
                assert_eq!(passed.trace, kept.trace, "{format}");
                assert_eq!(passed.quality, kept.quality, "{format}");
                assert_eq!(passed.warnings, kept.warnings, "{format}");
                let [a, b] = [&passed, &kept].map(|r| &r.signals[0]);
                assert_eq!((a.bytes, a.sampling_hz, a.samples), (b.bytes, b.sampling_hz, b.samples), "{format}");
                assert!(a.abstraction_error < 1e-9, "{format}: {}", a.abstraction_error);
                assert_eq!(a.bursts, b.bursts, "{format}");
                let [a, b] = [a, b].map(|s| s.period.dominant.as_ref().unwrap());
                assert_eq!((a.period_s, a.confidence), (b.period_s, b.confidence), "{format}");
            }
        }
    }

    #[test]
    fn patterns_need_rows_and_their_absence_is_told() {
        let source = job("csv");
        let [passed, kept] = both(&source, &Options::default());
        assert!(kept.patterns.is_some() && passed.patterns.is_none());
        assert_eq!(passed.warnings.last().unwrap().code, "patterns-left-out");
        let roomy = Bounds { rows_for_patterns: usize::MAX, ..TIGHT };
        let read = ReadOptions::default();
        let roomy = within(&source, None, &read, &Options::default(), roomy).unwrap().report;
        assert_eq!(roomy.patterns, kept.patterns);
    }

    #[test]
    fn rows_without_offsets_are_not_kept_for_patterns() {
        let text: String = (0..400).map(|i| format!("write,{i},{i}.5,100\n")).collect();
        let source = Source::from_bytes("job", format!("op,start,end,size\n{text}").into_bytes());
        let [passed, kept] = both(&source, &Options::default());
        assert_eq!((&passed.trace, &passed.warnings, passed.patterns), (&kept.trace, &kept.warnings, kept.patterns));
        let options = Options::default();
        let state = Mutex::new(Gathered::new(&options, TIGHT));
        let (sender, receiver) = sync_channel(100);
        let hand = Hand { state: &state, sender };
        formats::read_into(&source, None, &ReadOptions::default(), &hand).unwrap();
        drop(hand);
        receiver.into_iter().for_each(|handed| locked(&state).add(handed));
        assert!(locked(&state).kept.is_none());
    }

    #[test]
    fn phases_are_let_go_and_bins_are_kept() {
        let rows: Intervals = (0..400)
            .map(|i| Interval { start: f64::from(i), end: f64::from(i) + 0.5, bytes: 100.0, ..Interval::default() })
            .collect();
        let trace = Trace { data: Data::Intervals(rows), ..Trace::default() };
        let options = Options::default();
        for binned in [false, true] {
            let state = Mutex::new(Gathered::new(&options, TIGHT));
            let (sender, receiver) = sync_channel(100);
            Hand { state: &state, sender }.take(Batch { binned, ..trace.as_batch() }).unwrap();
            receiver.into_iter().for_each(|handed| locked(&state).add(handed));
            assert_eq!(locked(&state).kept.is_some(), binned);
        }
    }

    #[test]
    fn rows_before_a_restart_are_forgotten() {
        let options = Options::default().patterns(false);
        let state = Mutex::new(Gathered::new(&options, Bounds { rows: 10, ..TIGHT }));
        let (sender, receiver) = sync_channel(100);
        let hand = Hand { state: &state, sender };
        let trace = formats::read(&job("csv"), None, &ReadOptions::default()).unwrap();
        hand.take(trace.as_batch()).unwrap();
        hand.restart(Restart::Trace);
        hand.take(trace.as_batch()).unwrap();
        drop(hand);
        receiver.into_iter().for_each(|handed| locked(&state).add(handed));
        let gathered = state.into_inner().unwrap();
        assert!(gathered.kept.is_none());
        assert_eq!(gathered.totals.records, trace.data.len() as u64);
    }
}
