//! Counters of bytes read or written, as series.

use std::collections::HashMap;

use super::event::{Event, unescaped};
use crate::formats::number::parse_f64;
use crate::formats::op_name::op_of;
use crate::formats::ticks::Ticks;
use crate::record::{Interval, Intervals, Op};

/// Words in the names of rates.
const RATES: [&str; 5] = ["per_s", "per s", "/s", "rate", "bandwidth"];

/// The samples of all counters that count bytes of reads or writes.
#[derive(Default)]
pub(super) struct Counters {
    /// By process, name of the counter with its id, and name of the value.
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

/// Counters are told apart up to this number; more are ignored.
const MOST: usize = 10_000;

impl Counters {
    /// Adds the values of an event; `chosen`: the operation of its name, if the user has chosen it.
    pub(super) fn add(&mut self, event: &Event<'_>, at_ns: i64, chosen: Option<Op>) {
        let (index, series) = (&mut self.index, &mut self.series);
        let (mut samples, mut bad) = (0, 0);
        event.each_arg(|key, value| {
            let of_all = [event.pid, event.id, event.name, key].join(&b"\0"[..]);
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

    /// The series as rows, and the usual distance of samples in seconds.
    pub(super) fn into_rows(self, ticks: Ticks) -> (Intervals, Option<f64>) {
        let (mut rows, mut steps) = (Vec::new(), Vec::new());
        for (rank, series) in self.series.into_iter().enumerate() {
            rows.extend(series.into_rows(rank as u32, ticks));
        }
        steps.extend(rows.iter().map(|r| r.end - r.start));
        steps.sort_by(f64::total_cmp);
        let usual = steps.get(steps.len() / 2).copied().filter(|s| *s > 0.0);
        (rows.into_iter().collect(), usual)
    }
}

impl Series {
    /// A series if it counts bytes of reads or writes, or if the user has chosen it.
    fn of(name: &[u8], value: &[u8], chosen: Option<Op>) -> Option<Series> {
        let text = format!("{} {}", unescaped(name), unescaped(value)).to_lowercase();
        let by_name = [value, name].map(op_of).into_iter().find(|op| op.moves_bytes());
        let op = match chosen {
            Some(op) => Some(op).filter(|op| op.moves_bytes()).or(by_name).unwrap_or(Op::Read),
            None => by_name.filter(|_| text.contains("byte"))?,
        };
        Some(Series { op, rate: RATES.iter().any(|word| text.contains(word)), samples: Vec::new() })
    }

    /// A value that never falls is a total since the start, of which the rises are taken; a rate holds until the next sample; any
    /// other value is the bytes since the sample before.
    fn into_rows(mut self, rank: u32, ticks: Ticks) -> impl Iterator<Item = Interval> {
        self.samples.sort_by_key(|s| s.0);
        // of samples at one time the last counts
        self.samples.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = later.1;
            }
            same
        });
        let Series { op, rate, samples } = self;
        let total = !rate && samples.is_sorted_by(|a, b| a.1 <= b.1);
        let steps: Vec<_> = samples.windows(2).map(|w| (w[0], w[1])).collect();
        steps.into_iter().map(move |((from, before), (to, after))| {
            let (start, end) = (ticks.seconds(from), ticks.seconds(to));
            let bytes = match (rate, total) {
                (true, _) => before * (end - start),
                (_, true) => after - before,
                _ => after,
            };
            Interval { op, rank, bytes: if bytes.is_finite() { bytes } else { 0.0 }, start, end, ..Interval::default() }
        })
    }
}
