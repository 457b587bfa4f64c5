//! Counters of bytes read or written, as series.

use std::collections::HashMap;

use super::args::Event;
use crate::formats::json::plain;
use crate::formats::number::parse_f64;
use crate::formats::op_name::op_of;
use crate::formats::rates::{Spread, Stamp, ValueKind, looks_cumulative, median_step, spread};
use crate::formats::ticks::Ticks;
use crate::record::{Interval, Intervals, Op};

/// Words in the names of rates.
const RATES: [&str; 5] = ["per_s", "per s", "/s", "rate", "bandwidth"];

/// The samples of all counters that count bytes of reads or writes.
#[derive(Default)]
pub(super) struct Counters {
    /// File that is read.
    pub(super) file: usize,
    /// By file, process, name of the counter with its id, and name of the value; without place if it does not count bytes.
    index: HashMap<Vec<u8>, Option<usize>>,
    series: Vec<Series>,
    /// Samples of all of them.
    pub(super) samples: usize,
    /// Samples that are no numbers.
    pub(super) bad: u64,
}

struct Series {
    op: Op,
    rate: bool,
    /// Nanoseconds and value.
    samples: Vec<(i64, f64)>,
}

/// Most different counters; more are ignored.
const MOST: usize = 10_000;

impl Counters {
    /// Adds the values of an event; `chosen`: the operation of its name, if the user has chosen it.
    pub(super) fn add(&mut self, event: &Event<'_>, at_ns: i64, chosen: Option<Op>) {
        let (file, index, series) = (self.file.to_string(), &mut self.index, &mut self.series);
        let (mut samples, mut bad) = (0, 0);
        event.each_arg(|key, value| {
            let of_all = [file.as_bytes(), event.pid, event.id, event.name, key].join(&b"\0"[..]);
            if !index.contains_key(&of_all) && index.len() >= MOST {
                return;
            }
            let place = *index.entry(of_all).or_insert_with(|| {
                let new = Series::of(event.name, key, chosen)?;
                series.push(new);
                Some(series.len() - 1)
            });
            let Some(place) = place else { return };
            match parse_f64(value).filter(|x| *x >= 0.0) {
                Some(x) => {
                    series[place].samples.push((at_ns, x));
                    samples += 1;
                }
                None => bad += 1,
            }
        });
        self.samples += samples;
        self.bad += bad;
    }

    /// The series as rows, and the shortest usual distance of the samples of one, in seconds.
    pub(super) fn into_rows(self, ticks: Ticks) -> (Intervals, Option<f64>) {
        let mut rows = Intervals::default();
        let mut shortest: Option<f64> = None;
        for (rank, series) in self.series.into_iter().enumerate() {
            if let Some(step) = series.add_to(&mut rows, rank as u32, ticks) {
                shortest = Some(shortest.map_or(step, |s| s.min(step)));
            }
        }
        (rows, shortest)
    }
}

impl Series {
    /// A series if it counts bytes of reads or writes, or if the user has chosen it.
    fn of(name: &[u8], value: &[u8], chosen: Option<Op>) -> Option<Series> {
        let text = format!("{} {}", plain(name), plain(value)).to_lowercase();
        let by_name = [value, name].map(op_of).into_iter().find(|op| op.moves_bytes());
        let op = match chosen {
            Some(op) => Some(op).filter(|op| op.moves_bytes()).or(by_name).unwrap_or(Op::Read),
            None => by_name.filter(|_| text.contains("byte"))?,
        };
        Some(Series { op, rate: RATES.iter().any(|word| text.contains(word)), samples: Vec::new() })
    }

    /// Adds the stretches between the samples. A counter that rises is a total since the start; a rate holds until the next sample; any
    /// other value is the bytes since the sample before, of which the first is of an unknown time. Gives the usual step.
    fn add_to(mut self, rows: &mut Intervals, rank: u32, ticks: Ticks) -> Option<f64> {
        self.samples.sort_by_key(|s| s.0);
        // Of samples at one time the last counts.
        self.samples.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = later.1;
            }
            same
        });
        let times: Vec<f64> = self.samples.iter().map(|s| ticks.seconds(s.0)).collect();
        let mut values: Vec<f64> = self.samples.iter().map(|s| s.1).collect();
        let step_s = median_step(&times)?;
        let (kind, stamp) = match self.rate {
            true => (ValueKind::Rate, Stamp::Start),
            false if looks_cumulative(&values) => (ValueKind::Cumulative, Stamp::End),
            false => (ValueKind::Bytes, Stamp::End),
        };
        if let (ValueKind::Bytes, Some(first)) = (kind, values.first_mut()) {
            *first = f64::NAN;
        }
        let op = self.op;
        spread(&times, &values, Spread { kind, stamp, step_s }, |start, end, bytes| {
            if bytes.is_finite() {
                rows.push(Interval { op, rank, bytes, start, end, ..Interval::default() });
            }
        });
        Some(step_s)
    }
}
