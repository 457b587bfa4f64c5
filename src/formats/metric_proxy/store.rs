//! The store of the proxy: frames with the description of the job, the names of the metrics, and their values at a tick.

use std::collections::BTreeMap;

use super::super::bytes::Cursor;
use super::super::options::ReadOptions;
use super::super::rates::ValueKind;
use super::super::source::Source;
use super::Found;
use super::choice::{Choice, Metric};
use super::export::keep_timed;
use crate::error::{Error, ErrorKind, Result};
use crate::record::Job;

/// Bytes of a frame: a tick of 10⁶ metrics.
const FRAME_BYTES: u64 = 1 << 28;
/// Name of the bytes in messages.
const FRAME: &str = "a frame of Metric Proxy";
/// Fields of a structure.
const FIELDS: u32 = 64;

/// True if the bytes begin with a frame of a store.
pub(super) fn begins_frame(head: &[u8]) -> bool {
    let mut c = Cursor::new(head, FRAME);
    let Ok(length) = c.u64() else { return false };
    (1..=FRAME_BYTES).contains(&length) && c.text().is_ok_and(is_kind)
}

/// True for the name of a kind of frame.
fn is_kind(name: &[u8]) -> bool {
    matches!(name, b"Desc" | b"CounterMetadata" | b"Counters")
}

/// Reads a store.
///
/// # Errors
/// Limits, and errors of the system. Damage is in what is found.
pub(super) fn read(source: &Source, options: &ReadOptions, choice: &mut Choice) -> Result<Found> {
    let data = source.read_all(options)?;
    let mut store = Store { most: options.limits.records, ..Store::default() };
    let mut c = Cursor::new(&data, FRAME);
    let damage = loop {
        if c.left() == 0 {
            break None;
        }
        match store.frame(&mut c) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::Malformed => break Some(e),
            Err(e) => return Err(e),
        }
    };
    for (id, mut metric) in store.metrics {
        if metric.name.is_empty() {
            metric.name = format!("metric {id}");
        }
        keep_timed(&mut metric);
        if !metric.times.is_empty() {
            choice.offer(metric);
        }
    }
    Ok(Found { job: store.job, unix: true, damage })
}

#[derive(Default)]
struct Store {
    job: Option<Job>,
    metrics: BTreeMap<u64, Metric>,
    samples: usize,
    most: usize,
}

impl Store {
    fn frame(&mut self, c: &mut Cursor) -> Result<()> {
        let length = c.u64()?;
        let frame = usize::try_from(length).ok().filter(|_| length <= FRAME_BYTES).and_then(|n| c.part(n).ok());
        let Some(mut f) = frame else {
            let left = format!("at most the {} bytes that are left", c.left());
            return Err(c.malformed(format_args!("{length} bytes")).expected(left));
        };
        if !is_kind(f.text()?) {
            return Err(f.malformed("an unknown kind"));
        }
        let fields = count(&mut f, FIELDS)?;
        let mut time = f64::NAN;
        for _ in 0..fields {
            match f.text()? {
                b"ts" => time = f.f64()?,
                b"desc" => self.description(&mut f)?,
                b"metadata" => self.metadata(&mut f)?,
                b"counters" => self.counters(&mut f, time)?,
                _ => return Err(f.malformed("an unknown field of a frame")),
            }
        }
        match f.left() {
            0 => Ok(()),
            n => Err(f.malformed(format_args!("{n} bytes behind the fields"))),
        }
    }

    fn description(&mut self, f: &mut Cursor) -> Result<()> {
        let job = self.job.insert(Job::default());
        for _ in 0..count(f, FIELDS)? {
            match f.text()? {
                b"jobid" => job.id = std::str::from_utf8(f.text()?).ok().and_then(|t| t.parse().ok()),
                b"command" => job.executable = Some(owned_text(f)?).filter(|t| !t.is_empty()),
                b"nodelist" | b"partition" | b"cluster" | b"run_dir" => _ = f.text()?,
                b"size" => job.ranks = u64::try_from(f.i32()?).ok().filter(|n| *n > 0),
                b"start_time" => job.start_unix_s = unix_s(f.u64()?),
                b"end_time" => job.end_unix_s = unix_s(f.u64()?),
                _ => return Err(f.malformed("an unknown field of a description")),
            }
        }
        Ok(())
    }

    fn metadata(&mut self, f: &mut Cursor) -> Result<()> {
        let (mut id, mut name) = (None, String::new());
        for _ in 0..count(f, FIELDS)? {
            match f.text()? {
                b"id" => id = Some(f.u64()?),
                b"name" => name = owned_text(f)?,
                b"doc" => _ = f.text()?,
                _ => return Err(f.malformed("an unknown field of a metric")),
            }
        }
        if let Some(id) = id {
            self.metrics.entry(id).or_default().name = name;
        }
        Ok(())
    }

    fn counters(&mut self, f: &mut Cursor, time: f64) -> Result<()> {
        // A value takes more than ten bytes.
        let most = u32::try_from(f.left() / 10).unwrap_or(u32::MAX);
        for _ in 0..count(f, most)? {
            let (mut id, mut value) = (None, None);
            for _ in 0..count(f, FIELDS)? {
                match f.text()? {
                    b"id" => id = Some(f.u64()?),
                    b"value" => value = Some(reading(f)?),
                    _ => return Err(f.malformed("an unknown field of a counter")),
                }
            }
            let (Some(id), Some((kind, value))) = (id, value) else { continue };
            let metric = self.metrics.entry(id).or_default();
            metric.known = Some(kind);
            metric.times.push(time);
            metric.readings.push(value);
            self.samples += 1;
            if self.samples > self.most {
                return Err(Error::too_many_rows(self.most));
            }
        }
        Ok(())
    }
}

/// Seconds of milliseconds; 0 is no time.
fn unix_s(ms: u64) -> Option<f64> {
    (ms > 0).then_some(ms as f64 / 1e3)
}

/// A number of fields or values, at most so many.
fn count(c: &mut Cursor, most: u32) -> Result<u32> {
    let n = c.u32()?;
    if n > most { Err(c.malformed(format_args!("{n} fields or values"))) } else { Ok(n) }
}

fn owned_text(c: &mut Cursor) -> Result<String> {
    Ok(String::from_utf8_lossy(c.text()?).into_owned())
}

/// `Counter {ts, value}`, or `Gauge {min, max, hits, total}`, whose level is the total by the hits.
fn reading(c: &mut Cursor) -> Result<(ValueKind, f64)> {
    let kind = match c.text()? {
        b"Counter" => ValueKind::Cumulative,
        b"Gauge" => ValueKind::Rate,
        _ => return Err(c.malformed("a value of an unknown kind")),
    };
    let (mut value, mut hits, mut total) = (f64::NAN, f64::NAN, f64::NAN);
    for _ in 0..count(c, FIELDS)? {
        match c.text()? {
            b"ts" => _ = c.u64()?,
            b"value" => value = c.f64()?,
            b"hits" => hits = c.f64()?,
            b"total" => total = c.f64()?,
            b"min" | b"max" => _ = c.f64()?,
            _ => return Err(c.malformed("an unknown field of a value")),
        }
    }
    Ok((kind, if kind == ValueKind::Rate { total / hits } else { value }))
}
