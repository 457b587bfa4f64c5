//! What else a checkpointing job writes: a log at a period of its own, and requests at random times.

use super::super::bounds;
use super::super::parameter::Values;
use super::super::random::Random;
use super::super::shape::Shape;
use super::super::stretch::{Lane, Places, Stretch, nanos, seconds};
use super::super::truth::{Bursts, Period, Phase, Place, TruePattern};
use super::Job;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{FileId, Files, Op};

/// A log that rank 0 appends to, one request at a time.
pub(super) struct Log {
    file: FileId,
    size: u64,
    period_s: f64,
    length_ns: u64,
    starts_ns: Vec<u64>,
}

impl Log {
    /// The log of a run that ends at `end_ns`.
    pub(super) fn new(v: &Values, file: FileId, end_ns: u64) -> Result<Log> {
        let (period_s, length) = (v.real("second-period"), v.real("second-burst"));
        let mut log =
            Log { file, size: v.whole("second-size"), period_s, length_ns: nanos(length), starts_ns: Vec::new() };
        if period_s == 0.0 {
            return Ok(log);
        }
        if log.length_ns == 0 || length >= period_s || log.size == 0 {
            return Err(Error::new(
                ErrorKind::Usage,
                format!("a log of {} bytes in {length} s every {period_s} s", log.size),
            )
            .expected("bytes, and second-burst above 0 and below second-period"));
        }
        // Not in step with the checkpoints.
        let first = period_s / 3.0;
        let count = ((seconds(end_ns) - first) / period_s).floor().max(0.0) as u64 + 1;
        if count > bounds::REPEATS {
            return Err(Error::new(ErrorKind::Usage, format!("{count} writes of the log"))
                .expected(format!("at most {}", bounds::REPEATS)));
        }
        bounds::bytes(&[log.size, count])?;
        log.starts_ns = (0..count).map(|j| nanos(first + j as f64 * period_s)).collect();
        Ok(log)
    }

    pub(super) fn lane(&self) -> Lane<'_> {
        Box::new(self.starts_ns.iter().enumerate().map(|(j, start_ns)| Stretch {
            op: Op::Write,
            rank: 0,
            file: self.file,
            places: Places::Nested(j as u64 * self.size, Shape::of(self.size)),
            start_ns: *start_ns,
            length_ns: self.length_ns,
        }))
    }

    fn spans(&self) -> Vec<(u64, u64)> {
        self.starts_ns.iter().map(|s| (*s, s + self.length_ns)).collect()
    }

    pub(super) fn pattern(&self, files: &Files) -> Option<TruePattern> {
        let (first, last) = (self.starts_ns.first()?, self.starts_ns.last()?);
        let span_ns = (*first, last + self.length_ns);
        let place =
            Place { op: Op::Write, rank: 0, file: files.name(self.file), span_ns, period_s: Some(self.period_s) };
        TruePattern::nested(place, 0, &Shape::of(self.size).times(self.starts_ns.len() as u64, self.size))
    }

    pub(super) fn period(&self) -> Option<Period> {
        let bytes = self.size * self.starts_ns.len() as u64;
        Bursts { spans_ns: self.spans(), bytes }.period(Op::Write, Some(self.period_s))
    }

    pub(super) fn phases(&self) -> Vec<Phase> {
        self.spans().into_iter().map(|s| Phase::of(Op::Write, s, self.size)).collect()
    }
}

/// Single requests of random ranks at random times, places and sizes.
pub(super) struct Noise {
    file: FileId,
    requests: Vec<Single>,
}

struct Single {
    start_ns: u64,
    length_ns: u64,
    rank: u32,
    offset: u64,
    size: u64,
}

impl Noise {
    /// Requests that sum to the share of `noise`, at even chance over the run: a Poisson process. Sizes are exponential, cut at
    /// four times the mean.
    pub(super) fn new(v: &Values, file: FileId, job: &Job, random: &mut Random) -> Result<Noise> {
        const MOST: f64 = 1e8;
        let mean = v.positive("noise-size", 1 << 40)? as f64;
        let mut left = v.real("noise") * (job.size * job.ranks) as f64 * job.schedule.starts_ns.len() as f64;
        if left / mean > MOST {
            return Err(Error::new(ErrorKind::Usage, format!("{:.0} requests of noise", left / mean))
                .expected(format!("at most {MOST:.0}: a larger noise-size")));
        }
        // As fast as a rank writes its checkpoints.
        let bytes_per_ns = job.size as f64 / job.burst_ns as f64;
        let mut requests = Vec::new();
        while left >= 1.0 {
            let drawn = mean * -(1.0 - random.unit()).ln();
            let size = drawn.clamp(1.0, 4.0 * mean).min(left) as u64;
            left -= size as f64;
            requests.push(Single {
                start_ns: random.below(job.end_ns()),
                length_ns: (size as f64 / bytes_per_ns).ceil() as u64,
                rank: random.below(job.ranks) as u32,
                offset: random.below(1 << 40),
                size,
            });
        }
        requests.sort_by_key(|r| r.start_ns);
        Ok(Noise { file, requests })
    }

    pub(super) fn lane(&self) -> Lane<'_> {
        Box::new(self.requests.iter().map(|r| Stretch {
            op: Op::Write,
            rank: r.rank,
            file: self.file,
            places: Places::Nested(r.offset, Shape::of(r.size)),
            start_ns: r.start_ns,
            length_ns: r.length_ns,
        }))
    }
}
