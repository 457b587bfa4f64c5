//! A job that writes in bursts, sound unless a fault is planted.
//!
//! Each rank writes `requests` requests of `size` bytes to its own part of a shared file in each burst, all ranks at the same time.
//! A fault changes that in one respect, or adds accesses to a file of its own. `iophase findings` has a code for each.

use super::bounds;
use super::nest::Nest;
use super::parameter::{Kind, Parameter, Values};
use super::plan::{Plan, Workload};
use super::program::{Program, RankProgram, Segment};
use super::random::Random;
use super::stated::{Stated, phase};
use crate::error::Result;
use crate::record::{FileId, Files, Op};

/// The workload.
pub(super) const WORKLOAD: Workload = Workload {
    name: "faulty",
    about: "Writes in bursts, with one fault planted that `iophase findings` has to find",
    parameters: PARAMETERS,
    plan,
};

/// The faults.
const FAULTS: &[&str] = &[
    "none",
    "small-reads",
    "small-writes",
    "tiny-requests",
    "unaligned",
    "reread",
    "overwrite",
    "read-modify-write",
    "slow-tail",
    "shared-stripes",
    "conflicting-writes",
    "one-rank",
    "time-imbalance",
    "volume-imbalance",
    "taking-turns",
];

const PARAMETERS: &[Parameter] = &[
    Parameter::new("fault", Kind::Choice(FAULTS), "none", "Fault to plant"),
    Parameter::new("ranks", Kind::Count, "8", "Ranks, at least 4"),
    Parameter::new("bursts", Kind::Count, "10", "Bursts"),
    Parameter::new("period", Kind::Seconds, "10", "Seconds from the start of a burst to the start of the next"),
    Parameter::new("requests", Kind::Count, "16", "Requests of each rank in a burst, at least 4"),
    Parameter::new("size", Kind::Bytes, "4MiB", "Bytes of a request, a multiple of 1 MiB"),
];

/// Nanoseconds of a burst as a share of the period: 1 / this.
const DUTY: u64 = 10;
const MIB: u64 = 1 << 20;

fn plan(v: &Values, seed: u64) -> Result<Plan> {
    let job = Job::new(v)?;
    let mut files = Files::default();
    let data = files.intern("/scratch/faulty/data");
    // A file without accesses does not exist.
    let reads = matches!(job.fault, "small-reads" | "reread");
    let other = if reads { files.intern("/scratch/faulty/input") } else { FileId::NONE };
    let mut segments = Vec::new();
    let mut stated = Stated::default();
    let mut random = Random::new(seed, 1);
    let (mut spans, mut from) = ([Vec::new(), Vec::new()], 0);
    for burst in 0..job.bursts {
        let start = job.period_ns * (burst + 1) + random.below(job.burst_ns / 10);
        for rank in 0..job.ranks as u32 {
            let late = random.below(job.burst_ns / 50);
            job.burst(rank, burst, (start + late, start + late + job.burst_ns), (data, other), &mut segments);
        }
        for (op, spans) in [Op::Read, Op::Write].into_iter().zip(&mut spans) {
            let of_burst = || segments[from..].iter().filter(|s: &&Segment| s.op == op);
            let ends = of_burst().map(|s| s.span_ns.0).min().zip(of_burst().map(|s| s.span_ns.1).max());
            if let Some(span) = ends {
                let bytes = of_burst().map(|s| s.offsets.bytes()).sum();
                stated.phases.push(phase(op, span, bytes));
                spans.push(span);
            }
        }
        from = segments.len();
    }
    segments.iter().for_each(|s| stated.pattern(&files, s, &[], None));
    for (op, spans) in [Op::Read, Op::Write].into_iter().zip(&spans) {
        let bytes = segments.iter().filter(|s| s.op == op).map(|s| s.offsets.bytes()).sum();
        stated.period(op, spans, bytes, None);
    }
    let program = Box::new(Listed { ranks: job.ranks as u32, segments });
    Ok(Plan { ranks: job.ranks, files, stated, program })
}

struct Job {
    fault: &'static str,
    ranks: u64,
    bursts: u64,
    period_ns: u64,
    burst_ns: u64,
    requests: u64,
    size: u64,
}

impl Job {
    fn new(v: &Values) -> Result<Job> {
        let ranks = v.positive("ranks", bounds::RANKS)?;
        let (bursts, requests) = (v.positive("bursts", bounds::REPEATS)?, v.positive("requests", bounds::REPEATS)?);
        let (size, period) = (v.whole("size"), v.real("period"));
        let period_ns = super::clock::nanos(period);
        let burst_ns = period_ns / DUTY;
        if ranks < 4 || requests < 4 || !size.is_multiple_of(MIB) || size == 0 {
            let found = format!("{ranks} ranks, {requests} requests of {size} bytes");
            return bounds::usage(found, "at least 4 ranks and 4 requests of whole MiB");
        }
        bounds::bytes(&[ranks, bursts + 1, requests + 1, size, 4])?;
        bounds::kept(&[ranks, bursts, 8])?;
        bounds::run(u128::from(period_ns) * u128::from(bursts + 2), burst_ns / 8, 2048 * requests)?;
        Ok(Job { fault: v.word("fault"), ranks, bursts, period_ns, burst_ns, requests, size })
    }

    /// Accesses of a rank in a burst.
    fn burst(&self, rank: u32, burst: u64, span: (u64, u64), (data, other): (FileId, FileId), all: &mut Vec<Segment>) {
        let (n, size, ranks) = (self.requests, self.size, self.ranks);
        let part = n * size;
        let row = |size: u64, n: u64| Nest::access(0, size).repeated(n, size);
        let own = (burst * ranks + u64::from(rank)) * part;
        let (start, end) = span;
        // times within the burst, in eighths
        let at = |a: u64, b: u64| (start + self.burst_ns * a / 8, start + self.burst_ns * b / 8);
        let write = |nest: Nest, span| Segment::nest(Op::Write, rank, data, nest, span);
        let read = |nest: Nest, span| Segment::nest(Op::Read, rank, other, nest, span);
        let sound = write(row(size, n).shifted(own), (start, end));
        match self.fault {
            "small-reads" => {
                all.extend([write(row(size, n).shifted(own), at(0, 4)), read(row(4096, 1024).shifted(own), at(4, 8))])
            }
            // its last requests are small
            "small-writes" => all.extend([
                write(row(size, n - 1).shifted(own), at(0, 4)),
                write(row(4096, 1024).shifted(own + (n - 1) * size), at(4, 8)),
            ]),
            "tiny-requests" => all.extend([
                write(row(size, n - 1).shifted(own), at(0, 4)),
                write(row(8, 2048).shifted(own + (n - 1) * size), at(4, 8)),
            ]),
            "unaligned" => all.push(write(row(size, n).shifted(own + 2048), span)),
            "reread" => {
                all.push(write(row(size, n).shifted(own), at(0, 4)));
                let first = u64::from(rank) * part;
                all.extend([4, 6].map(|a| read(row(size, n).shifted(first), at(a, a + 2))));
            }
            "overwrite" => all.push(write(row(size, n).shifted(u64::from(rank) * part), span)),
            "read-modify-write" => {
                let step = self.burst_ns / (2 * n);
                for i in 0..n {
                    let (from, offset) = (start + 2 * i * step, own + i * size);
                    let of =
                        |op, from| Segment::nest(op, rank, data, row(size, 1).shifted(offset), (from, from + step));
                    all.extend([of(Op::Read, from), of(Op::Write, from + step)]);
                }
            }
            // one request of rank 0 takes seven eighths of the burst
            "slow-tail" if rank == 0 && burst == 1 => all.extend([
                write(row(size, n - 1).shifted(own), at(0, 1)),
                write(row(size, 1).shifted(own + (n - 1) * size), (start + self.burst_ns / 8, end + 7 * self.burst_ns)),
            ]),
            "slow-tail" => all.push(write(row(size, n).shifted(own), (start, start + self.burst_ns / (10 * ranks)))),
            // pieces of a quarter stripe go around
            "shared-stripes" => {
                let piece = MIB / 4;
                let nest = Nest::access(0, piece).repeated(part / piece, piece * ranks);
                all.push(write(nest.shifted(burst * ranks * part + u64::from(rank) * piece), span));
            }
            "conflicting-writes" if rank == 1 => all.push(write(row(size, n).shifted(own - part), span)),
            "one-rank" if rank == 0 => all.push(sound),
            "one-rank" => {}
            "time-imbalance" if rank == 2 => {
                all.push(write(row(size, n).shifted(own), (start, end + 3 * self.burst_ns)))
            }
            "volume-imbalance" if rank == 2 => {
                let base = burst * 4 * ranks * part;
                all.push(write(row(size, 4 * n).shifted(base), span));
            }
            "volume-imbalance" => {
                let base = burst * 4 * ranks * part + (4 + u64::from(rank)) * part;
                all.push(write(row(size, n).shifted(base), span));
            }
            "taking-turns" => {
                let turn = self.burst_ns / ranks;
                let from = start + u64::from(rank) * (turn + turn / 10);
                all.push(write(row(size, n).shifted(own), (from, from + turn)));
            }
            _ => all.push(sound),
        }
    }
}

/// Segments as they were listed.
struct Listed {
    ranks: u32,
    segments: Vec<Segment>,
}

impl Program for Listed {
    fn ranks(&self) -> Vec<RankProgram<'_>> {
        let of =
            |rank: u32| -> RankProgram<'_> { Box::new(self.segments.iter().filter(move |s| s.rank == rank).cloned()) };
        (0..self.ranks).map(of).collect()
    }
}
