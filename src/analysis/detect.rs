//! The period of bandwidth that is in memory, without a trace of its own.

use super::{ModeChoice, Options, Report, analyze};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::clock::origin_of;
use crate::formats::series::Readings;
use crate::formats::{Stamp, ValueKind};
use crate::record::{Column, Data, FileId, Intervals, Op, Timing, Trace};
use crate::signal::{Mode, Span};

/// Bandwidth that is in memory.
///
/// Times are seconds on any clock. Bytes may be any amount that moves, such as requests or joules. Transfers may come in any order.
#[derive(Debug, Clone, Copy)]
pub struct Bandwidth<'a>(Form<'a>);

#[derive(Debug, Clone, Copy)]
enum Form<'a> {
    Spans(&'a [Span]),
    Columns([&'a [f64]; 3]),
    Samples { values: &'a [f64], rate_hz: f64, start_s: f64 },
}

impl<'a> Bandwidth<'a> {
    /// Transfers, bursts or phases.
    pub fn spans(spans: &'a [Span]) -> Bandwidth<'a> {
        Bandwidth(Form::Spans(spans))
    }

    /// Transfers, bursts or phases as columns of one length: starts and ends in seconds, and bytes.
    pub fn columns(start: &'a [f64], end: &'a [f64], bytes: &'a [f64]) -> Bandwidth<'a> {
        Bandwidth(Form::Columns([start, end, bytes]))
    }

    /// Mean bytes per second from the time of each sample to that of the next; NaN where unknown. The first sample is at `start_s`
    /// seconds, and there are `rate_hz` in a second.
    pub fn samples(values: &'a [f64], rate_hz: f64, start_s: f64) -> Bandwidth<'a> {
        Bandwidth(Form::Samples { values, rate_hz, start_s })
    }

    /// The trace that a file with these rows gives.
    fn trace(self) -> Result<Trace> {
        match self.0 {
            Form::Spans(spans) => {
                let of = |get: fn(&Span) -> f64| spans.iter().map(get).collect();
                Ok(phases(of(|s| s.start), of(|s| s.end), of(|s| s.bytes)))
            }
            Form::Columns([start, end, bytes]) if [end.len(), bytes.len()] == [start.len(); 2] => {
                Ok(phases(start.to_vec(), end.to_vec(), bytes.to_vec()))
            }
            Form::Columns([start, end, bytes]) => {
                let found = format!("{} starts, {} ends and {} sizes", start.len(), end.len(), bytes.len());
                Err(Error::new(ErrorKind::Usage, found).expected("columns of one length"))
            }
            Form::Samples { values, rate_hz, start_s } => readings(values, rate_hz, start_s),
        }
    }
}

impl<'a> From<&'a [Span]> for Bandwidth<'a> {
    fn from(spans: &'a [Span]) -> Self {
        Bandwidth::spans(spans)
    }
}

/// Finds the period of bandwidth that is in memory: the answer of `iophase analyze` for a file with the same rows, all written.
///
/// The report has one signal, that of the writes; [`Report::primary_signal`] is `None` if it has no period.
///
/// ```
/// use iophase::period::{Bandwidth, detect};
///
/// // 25 MB/s for 2.5 s of every 10 s, at 8 Hz
/// let rates: Vec<f64> = (0..400).map(|k| if k % 80 < 20 { 25e6 } else { 0.0 }).collect();
/// let report = detect(Bandwidth::samples(&rates, 8.0, 0.0))?;
/// let signal = report.primary_signal().expect("a burst every 10 s");
/// assert!((signal.period.dominant.as_ref().expect("its period").period_s - 10.0).abs() < 0.1);
/// assert!((signal.prediction.as_ref().expect("the next burst").next_start_s - 50.0).abs() < 0.5);
/// # Ok::<(), iophase::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Usage`] for columns of different lengths or a rate that is none, [`ErrorKind::Malformed`] with the first row that ends
/// before it starts or is out of range, [`ErrorKind::Empty`] if nothing moves.
pub fn detect<'a>(bandwidth: impl Into<Bandwidth<'a>>) -> Result<Report> {
    detect_with(bandwidth, Options::default())
}

/// As [`detect`], with a method, a sampling rate, a time window and the like.
///
/// # Errors
/// As [`detect`] and [`analyze`](super::analyze()).
pub fn detect_with<'a>(bandwidth: impl Into<Bandwidth<'a>>, options: Options) -> Result<Report> {
    let trace = bandwidth.into().trace()?;
    let options = options.mode(ModeChoice::One(Mode::Write)).patterns(false);
    Ok(analyze(&trace, &options)?.report)
}

/// The name of rows that are in no file.
const NAME: &str = "memory";

fn phases(start: Vec<f64>, end: Vec<f64>, bytes: Vec<f64>) -> Trace {
    let (n, origin_s) = (start.len(), start.first().map_or(0, |t| origin_of(*t)));
    let since = |times: Vec<f64>| times.into_iter().map(|t| t - origin_s as f64).collect();
    let rows = Intervals {
        op: Column::constant(Op::Write, n),
        asynchronous: Column::constant(false, n),
        rank: Column::constant(0, n),
        file: Column::constant(FileId::NONE, n),
        bytes,
        start: since(start),
        end: since(end),
    };
    let mut trace =
        Trace { path: NAME.into(), format: NAME, ranks: 1, origin_s, timing: Timing::Phase, ..Trace::default() };
    trace.quality.records_read = n as u64;
    trace.data = Data::Intervals(rows);
    trace.layers = vec![trace.summarise("phases")];
    trace
}

fn readings(values: &[f64], rate_hz: f64, start_s: f64) -> Result<Trace> {
    let step_s = 1.0 / rate_hz;
    if !(rate_hz > 0.0 && step_s.is_normal()) {
        return Err(Error::new(ErrorKind::Usage, format!("{rate_hz} Hz is not a sampling rate")).expected("above 0"));
    }
    let origin_s = origin_of(start_s);
    let zero = start_s - origin_s as f64;
    let readings = Readings {
        times: (0..values.len()).map(|k| zero + k as f64 / rate_hz).collect(),
        columns: vec![(Op::Write, values.to_vec())],
        kind: Some(ValueKind::Rate),
        stamp: Stamp::Start,
        step_s: Some(step_s),
        origin_s,
        direction_unknown: false,
    };
    Ok(Trace { path: NAME.into(), ..readings.trace(NAME)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{ReadOptions, Source, read};

    /// Bursts of 2 s every 12.5 s with some jitter, some of them in two parts, on a clock of the year 2025.
    fn bursts() -> Vec<Span> {
        let start = |k: u32| 1.75e9 + 12.5 * f64::from(k) + 0.125 * f64::from(k * 7 % 5);
        let parts =
            (0..40).flat_map(|k| [(start(k), 1.5, 3_000_000.0), (start(k) + 1.0, 1.0, 65_536.0 * f64::from(k))]);
        parts.map(|(start, length, bytes)| Span { start, end: start + length, bytes }).collect()
    }

    /// Period, confidence, next burst and validity.
    fn answer(report: &Report) -> String {
        let s = report.primary_signal().unwrap();
        format!("{:?} {:?} {:?}", s.period, s.prediction, s.validity)
    }

    /// The answer for a file, as the program gives it.
    fn of_file(text: &str, read_options: &ReadOptions) -> Report {
        let trace = read(&Source::from_bytes("x", text), None, read_options).unwrap();
        analyze(&trace, &Options::default()).unwrap().report
    }

    #[test]
    fn spans_have_the_answer_of_a_file_with_them() {
        let spans = bursts();
        let row = |s: &Span| format!("write,{},{},{}\n", s.start, s.end, s.bytes);
        let rows: String = spans.iter().map(row).collect();
        let file = of_file(&format!("op,start,end,size\n{rows}"), &ReadOptions::default());
        let found = detect(&spans[..]).unwrap();
        assert_eq!(answer(&found), answer(&file));
        let of = |get: fn(&Span) -> f64| spans.iter().map(get).collect::<Vec<_>>();
        let columns = detect(Bandwidth::columns(&of(|s| s.start), &of(|s| s.end), &of(|s| s.bytes))).unwrap();
        assert_eq!(columns, found);
        let with = detect_with(&spans[..], Options::default().method(crate::period::Method::Dft)).unwrap();
        assert_ne!(answer(&with), answer(&found));
    }

    #[test]
    fn samples_have_the_answer_of_a_table_of_them() {
        let values: Vec<f64> = (0..1000).map(|k| if k % 80 < 20 { 1e6 + f64::from(k) } else { 0.0 }).collect();
        let rows = values.iter().enumerate().map(|(k, v)| format!("{},{v}\n", 1.75e9 + k as f64 / 8.0));
        let mut options = ReadOptions::default();
        options.series.columns = Some("time=t,write=rate".parse().unwrap());
        options.series.stamp = Some(Stamp::Start);
        let file = of_file(&format!("t,rate\n{}", rows.collect::<String>()), &options);
        let found = detect(Bandwidth::samples(&values, 8.0, 1.75e9)).unwrap();
        assert_eq!(answer(&found), answer(&file));
        assert_eq!((&found.warnings, &found.clock), (&file.warnings, &file.clock));
        let mut gaps = values;
        gaps[25..30].fill(f64::NAN);
        let codes = |r: Report| r.warnings.into_iter().map(|w| w.code).collect::<Vec<_>>();
        assert_eq!(codes(detect(Bandwidth::samples(&gaps, 8.0, 0.0)).unwrap()), ["missing-values", "gaps"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let kind = |bandwidth: Bandwidth<'_>| detect(bandwidth).unwrap_err().kind();
        assert_eq!(kind(Bandwidth::columns(&[0.0], &[1.0, 2.0], &[1.0])), ErrorKind::Usage);
        for rate_hz in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320] {
            assert_eq!(kind(Bandwidth::samples(&[1.0; 9], rate_hz, 0.0)), ErrorKind::Usage, "{rate_hz}");
        }
        assert_eq!(kind(Bandwidth::spans(&[])), ErrorKind::Empty);
        assert_eq!(kind(Bandwidth::samples(&[0.0; 9], 1.0, 0.0)), ErrorKind::Empty);
        let backwards = [Span { start: 2.0, end: 1.0, bytes: 1.0 }];
        let e = detect(&backwards[..]).unwrap_err();
        assert_eq!((e.kind(), e.place()), (ErrorKind::Malformed, Some(crate::Place::Record(0))), "{e}");
    }
}
