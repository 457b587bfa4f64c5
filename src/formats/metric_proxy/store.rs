//! The store of the proxy: frames with the description of the job, the names of the metrics, and their values at a tick.

use std::collections::BTreeMap;

use super::super::options::ReadOptions;
use super::super::source::Source;
use super::Found;
use super::choice::{Choice, Metric, Values};
use super::export::keep_timed;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::Job;

/// Bytes of a frame: a tick of 10⁶ metrics.
const FRAME_BYTES: u64 = 1 << 28;
/// Fields of a structure.
const FIELDS: u32 = 64;

/// True if the bytes begin with a frame of a store.
pub(super) fn begins_frame(head: &[u8]) -> bool {
    let mut c = Cursor { data: head, at: 0 };
    let Ok(length) = c.u64() else { return false };
    (1..=FRAME_BYTES).contains(&length) && c.text().is_ok_and(|name| Variant::named(name).is_some())
}

#[derive(Clone, Copy)]
enum Variant {
    Description,
    Metadata,
    Counters,
}

impl Variant {
    fn named(name: &[u8]) -> Option<Variant> {
        match name {
            b"Desc" => Some(Variant::Description),
            b"CounterMetadata" => Some(Variant::Metadata),
            b"Counters" => Some(Variant::Counters),
            _ => None,
        }
    }
}

/// Reads a store.
///
/// # Errors
/// Limits, and errors of the system. Damage is in what is found.
pub(super) fn read(source: &Source, options: &ReadOptions, choice: &mut Choice) -> Result<Found> {
    let data = source.read_all(options)?;
    let mut store = Store { most: options.limits.records, ..Store::default() };
    let mut c = Cursor { data: &data, at: 0 };
    let damage = loop {
        if c.at == data.len() {
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
        let at = c.at;
        let length = c.u64()?;
        let frame = usize::try_from(length).ok().filter(|_| length <= FRAME_BYTES).and_then(|n| c.take(n).ok());
        let Some(frame) = frame else {
            return Err(Error::malformed(Place::Byte(at as u64), format!("a frame of {length} bytes"))
                .expected(format!("at most the {} bytes that are left", c.data.len() - c.at)));
        };
        let start = c.at - frame.len();
        let mut f = Cursor { data: &c.data[..c.at], at: start };
        let variant = Variant::named(f.text()?).ok_or_else(|| f.error("a frame of an unknown kind"))?;
        let fields = f.count(FIELDS)?;
        let mut time = f64::NAN;
        for _ in 0..fields {
            match f.text()? {
                b"ts" => time = f.f64()?,
                b"desc" => self.description(&mut f)?,
                b"metadata" => self.metadata(&mut f)?,
                b"counters" => self.counters(&mut f, time)?,
                _ => return Err(f.error("an unknown field of a frame")),
            }
        }
        match (variant, f.at == f.data.len()) {
            (_, true) => Ok(()),
            _ => Err(f.error("bytes behind the fields of a frame")),
        }
    }

    fn description(&mut self, f: &mut Cursor) -> Result<()> {
        let job = self.job.insert(Job::default());
        for _ in 0..f.count(FIELDS)? {
            match f.text()? {
                b"jobid" => job.id = std::str::from_utf8(f.text()?).ok().and_then(|t| t.parse().ok()),
                b"command" => job.executable = Some(f.name()?).filter(|t| !t.is_empty()),
                b"nodelist" | b"partition" | b"cluster" | b"run_dir" => _ = f.text()?,
                b"size" => job.ranks = u64::try_from(f.i32()?).ok().filter(|n| *n > 0),
                b"start_time" => job.start_unix_s = unix_s(f.u64()?),
                b"end_time" => job.end_unix_s = unix_s(f.u64()?),
                _ => return Err(f.error("an unknown field of a description")),
            }
        }
        Ok(())
    }

    fn metadata(&mut self, f: &mut Cursor) -> Result<()> {
        let (mut id, mut name) = (None, String::new());
        for _ in 0..f.count(FIELDS)? {
            match f.text()? {
                b"id" => id = Some(f.u64()?),
                b"name" => name = f.name()?,
                b"doc" => _ = f.text()?,
                _ => return Err(f.error("an unknown field of a metric")),
            }
        }
        if let Some(id) = id {
            self.metrics.entry(id).or_default().name = name;
        }
        Ok(())
    }

    fn counters(&mut self, f: &mut Cursor, time: f64) -> Result<()> {
        // A value takes more than ten bytes.
        let most = u32::try_from(f.data.len() / 10).unwrap_or(u32::MAX);
        for _ in 0..f.count(most)? {
            let (mut id, mut value) = (None, None);
            for _ in 0..f.count(FIELDS)? {
                match f.text()? {
                    b"id" => id = Some(f.u64()?),
                    b"value" => value = Some(f.value()?),
                    _ => return Err(f.error("an unknown field of a counter")),
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

/// A place in the data, all numbers little-endian.
struct Cursor<'d> {
    data: &'d [u8],
    at: usize,
}

impl<'d> Cursor<'d> {
    fn error(&self, found: &str) -> Error {
        Error::malformed(Place::Byte(self.at as u64), found).expected("a frame of Metric Proxy")
    }

    fn take(&mut self, n: usize) -> Result<&'d [u8]> {
        let end = self.at.checked_add(n).filter(|&e| e <= self.data.len());
        let bytes = end.and_then(|end| self.data.get(self.at..end));
        let bytes = bytes.ok_or_else(|| self.error("the data ends inside a frame"))?;
        self.at += n;
        Ok(bytes)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N)?;
        bytes.first_chunk().copied().ok_or_else(|| self.error("the data ends inside a number"))
    }

    fn u64(&mut self) -> Result<u64> {
        self.fixed().map(u64::from_le_bytes)
    }

    fn f64(&mut self) -> Result<f64> {
        self.fixed().map(f64::from_le_bytes)
    }

    fn i32(&mut self) -> Result<i32> {
        self.fixed().map(i32::from_le_bytes)
    }

    fn count(&mut self, most: u32) -> Result<u32> {
        let n = self.fixed().map(u32::from_le_bytes)?;
        if n > most { Err(self.error("a number of fields or values that cannot be")) } else { Ok(n) }
    }

    fn text(&mut self) -> Result<&'d [u8]> {
        let n = self.fixed().map(u32::from_le_bytes)?;
        self.take(n as usize)
    }

    fn name(&mut self) -> Result<String> {
        Ok(String::from_utf8_lossy(self.text()?).into_owned())
    }

    /// `Counter {ts, value}`, or `Gauge {min, max, hits, total}`, whose level is the total by the hits.
    fn value(&mut self) -> Result<(Values, f64)> {
        let kind = match self.text()? {
            b"Counter" => Values::Counter,
            b"Gauge" => Values::Level,
            _ => return Err(self.error("a value of an unknown kind")),
        };
        let (mut value, mut hits, mut total) = (f64::NAN, f64::NAN, f64::NAN);
        for _ in 0..self.count(FIELDS)? {
            match self.text()? {
                b"ts" => _ = self.u64()?,
                b"value" => value = self.f64()?,
                b"hits" => hits = self.f64()?,
                b"total" => total = self.f64()?,
                b"min" | b"max" => _ = self.f64()?,
                _ => return Err(self.error("an unknown field of a value")),
            }
        }
        Ok((kind, if kind == Values::Level { total / hits } else { value }))
    }
}
