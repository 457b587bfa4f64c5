//! Other writes of a checkpointing job: a log with a period of its own, and requests at random times.

use super::super::bounds;
use super::super::clock::{nanos, seconds};
use super::super::nest::Nest;
use super::super::parameter::Values;
use super::super::program::{RankProgram, Segment};
use super::super::random::Random;
use super::super::stated::Stated;
use super::super::truth::Unpatterned;
use crate::error::Result;
use crate::nest::Loop;
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
        let (size, length_ns) = (v.whole("second-size"), nanos(length));
        let mut log = Log { file, size, period_s, length_ns, starts_ns: Vec::new() };
        if period_s == 0.0 {
            return Ok(log);
        }
        if log.length_ns == 0 || length >= period_s || log.size == 0 {
            let found = format!("a log of {} bytes in {length} s every {period_s} s", log.size);
            return bounds::usage(found, "bytes, and second-burst above 0 and below second-period");
        }
        // Out of phase with the checkpoints.
        let first = period_s / 3.0;
        let count = ((seconds(end_ns) - first) / period_s).floor().max(0.0) as u64 + 1;
        if count > bounds::REPEATS {
            return bounds::usage(format!("{count} writes of the log"), &format!("at most {}", bounds::REPEATS));
        }
        bounds::bytes(&[log.size, count])?;
        log.starts_ns = (0..count).map(|j| nanos(first + j as f64 * period_s)).collect();
        Ok(log)
    }

    /// The `j`-th write.
    fn segment(&self, j: usize) -> Segment {
        let start = self.starts_ns[j];
        let write = Nest::access(j as u64 * self.size, self.size);
        Segment::nest(Op::Write, 0, self.file, write, (start, start + self.length_ns))
    }

    pub(super) fn program(&self) -> RankProgram<'_> {
        Box::new((0..self.starts_ns.len()).map(|j| self.segment(j)))
    }

    pub(super) fn state(&self, files: &Files, stated: &mut Stated) {
        let spans_ns: Vec<_> = self.starts_ns.iter().map(|s| (*s, s + self.length_ns)).collect();
        stated.bursts(Op::Write, &spans_ns, self.size, Some(self.period_s));
        let Some(last) = spans_ns.last() else { return };
        let mut all = self.segment(0);
        all.span_ns.1 = last.1;
        let around = Loop { count: spans_ns.len() as u64, stride: self.size as i64 };
        stated.pattern(files, &all, &[around], (around.count > 1).then_some(self.period_s));
    }
}

/// Amount of noise.
pub(super) struct Budget {
    pub(super) ranks: u64,
    /// Bytes of all requests.
    pub(super) bytes: f64,
    /// Speed of a request.
    pub(super) bytes_per_ns: f64,
    /// End of the run.
    pub(super) end_ns: u64,
}

/// Single requests of random ranks at random times, offsets and sizes.
pub(super) struct Noise {
    file: FileId,
    requests: Vec<Single>,
}

/// Bound of the offsets of noise.
const NOISE_EXTENT: u64 = 1 << 40;

struct Single {
    start_ns: u64,
    length_ns: u64,
    rank: u32,
    offset: u64,
    size: u64,
}

impl Noise {
    /// A Poisson process over the run. Sizes are exponential and at most four times the mean.
    pub(super) fn new(v: &Values, file: FileId, budget: Budget, random: &mut Random) -> Result<Noise> {
        const MOST: f64 = 1e8;
        let mean = v.positive("noise-size", 1 << 40)? as f64;
        let mut left = budget.bytes;
        if left / mean > MOST {
            let found = format!("{:.0} requests of noise", left / mean);
            return bounds::usage(found, &format!("at most {MOST:.0}: a larger noise-size"));
        }
        let mut requests = Vec::new();
        while left >= 1.0 {
            let drawn = mean * -(1.0 - random.unit()).ln();
            let size = drawn.clamp(1.0, 4.0 * mean).min(left) as u64;
            left -= size as f64;
            requests.push(Single {
                start_ns: random.below(budget.end_ns),
                length_ns: (size as f64 / budget.bytes_per_ns).ceil() as u64,
                rank: random.below(budget.ranks) as u32,
                offset: random.below(NOISE_EXTENT),
                size,
            });
        }
        requests.sort_by_key(|r| r.start_ns);
        Ok(Noise { file, requests })
    }

    pub(super) fn program(&self) -> RankProgram<'_> {
        let write = |r: &Single| {
            let span_ns = (r.start_ns, r.start_ns + r.length_ns);
            Segment::nest(Op::Write, r.rank, self.file, Nest::access(r.offset, r.size), span_ns)
        };
        Box::new(self.requests.iter().map(write))
    }

    pub(super) fn unpatterned(&self, files: &Files) -> Option<Unpatterned> {
        let bytes = self.requests.iter().map(|r| r.size).sum();
        let file = files.name(self.file);
        let all = || Unpatterned::random(Op::Write, file, self.requests.len() as u64, bytes, NOISE_EXTENT);
        (!self.requests.is_empty()).then(all)
    }
}
