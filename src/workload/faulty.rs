//! A job that writes in bursts, sound unless a fault is planted.
//!
//! Each rank writes `requests` requests of `size` bytes to its own part of a shared file in each burst, all ranks at the same time.
//! A fault changes that in one respect, or adds accesses to a file of its own. `iophase findings` has a code for each.

use super::bounds;
use super::nest::Nest;
use super::parameter::{Kind, Parameter, Values};
use super::plan::{Plan, Workload};
use super::program::{Offsets, Program, RankProgram, Segment};
use super::random::{Random, Shuffle};
use super::stated::{Stated, phase};
use super::truth::Unpatterned;
use crate::error::Result;
use crate::record::{FileId, Files, Op};

/// The workload.
pub(super) const WORKLOAD: Workload = Workload {
    name: "faulty",
    about: "Writes in bursts, with at most one fault (--fault) for `iophase findings` to find",
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
    "shuffled-reads",
    "holes",
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
    "last-again",
    "burst-spread",
    "out-of-step",
    "scratch-data",
    "slow-bursts",
    "growing-bursts",
    "colliding-reads",
    "startup-storm",
    "sync",
    "shuffled",
];
/// Faults with a file beside the shared one.
const WITH_OTHER: &[&str] =
    &["small-reads", "reread", "shuffled-reads", "scratch-data", "colliding-reads", "startup-storm"];

const PARAMETERS: &[Parameter] = &[
    Parameter::new("fault", Kind::Choice(FAULTS), "none", "Fault to plant"),
    Parameter::new("ranks", Kind::Count, "8", "Ranks, at least 4"),
    Parameter::new("bursts", Kind::Count, "10", "Bursts"),
    Parameter::new("period", Kind::Seconds, "10", "Seconds from the start of a burst to the start of the next"),
    Parameter::new("requests", Kind::Count, "16", "Requests of each rank in a burst, at least 4"),
    Parameter::new("burst", Kind::Seconds, "0", "Seconds that a burst takes; 0: a tenth of the period"),
    Parameter::new(
        "jitter",
        Kind::Share,
        "0",
        "Standard deviation of burst lengths, as a share of the length, and of burst starts, as a share of the period",
    ),
    Parameter::new("size", Kind::Bytes, "4MiB", "Bytes of a request, a multiple of 1 MiB"),
];

/// Nanoseconds of a burst as a share of the period, unless given: 1 / this.
const DUTY: u64 = 10;
/// Largest deviation of a random length or start, in standard deviations.
const FARTHEST: f64 = 3.0;
const MIB: u64 = 1 << 20;
/// Pieces of a rank in a burst of the fault `shuffled-reads`, and their size in bytes.
const PIECES: u64 = 256;
const PIECE: u64 = 64 << 10;

fn plan(v: &Values, seed: u64) -> Result<Plan> {
    let job = Job::new(v)?;
    let mut files = Files::default();
    let data = files.intern("/scratch/faulty/data");
    // A file without accesses does not exist.
    let other = if WITH_OTHER.contains(&job.fault) { files.intern("/scratch/faulty/input") } else { FileId::NONE };
    let mut segments = Vec::new();
    let mut stated = Stated::default();
    let mut random = Random::new(seed, 1);
    let order = Shuffle::new(job.ranks * PIECES, &mut random);
    let (mut spans, mut from) = ([Vec::new(), Vec::new()], 0);
    for burst in 0..job.bursts {
        let start = job.period_ns * (burst + 1) + random.below(job.burst_ns / 10);
        let (start, length) = job.jittered(start, &mut random);
        if job.fault == "shuffled" {
            job.shuffled(start, length, data, &mut random, &mut segments);
        }
        for rank in 0..job.ranks as u32 {
            let late = random.below(job.burst_ns / 50);
            let span = (start + late, start + late + length);
            segments.extend(Turn { job: &job, rank, burst, span, data, other, order }.segments());
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
    segments.iter().filter(|s| s.op.moves_bytes()).for_each(|s| stated.pattern(&files, s, &[], None));
    if let Some((op, file, unit, places)) = job.random_order(data, other) {
        let records = places * job.bursts;
        let once = Unpatterned::random(op, files.name(file), records, records * unit, places);
        let repeats = if job.fault == "shuffled-reads" { job.bursts } else { once.repeats };
        stated.unpatterned.push(Unpatterned { unit: Some(unit), repeats, ..once });
    }
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
    jitter: f64,
    requests: u64,
    size: u64,
}

impl Job {
    fn new(v: &Values) -> Result<Job> {
        let ranks = v.positive("ranks", bounds::RANKS)?;
        let (bursts, requests) = (v.positive("bursts", bounds::REPEATS)?, v.positive("requests", bounds::REPEATS)?);
        let (size, period) = (v.whole("size"), v.real("period"));
        let period_ns = super::clock::nanos(period);
        let burst_ns = if v.real("burst") > 0.0 { super::clock::nanos(v.real("burst")) } else { period_ns / DUTY };
        if burst_ns > period_ns / 2 {
            return bounds::usage(
                format!("bursts of {} ns every {period_ns} ns", burst_ns),
                "bursts of at most half the period",
            );
        }
        if ranks < 4 || requests < 4 || !size.is_multiple_of(MIB) || size == 0 {
            let found = format!("{ranks} ranks, {requests} requests of {size} bytes");
            return bounds::usage(found, "at least 4 ranks and 4 requests of whole MiB");
        }
        bounds::bytes(&[ranks, bursts + 1, requests + 1, size, 4])?;
        bounds::kept(&[ranks, bursts, 8])?;
        bounds::run(u128::from(period_ns) * u128::from(bursts + 2), burst_ns / 8, 2048 * requests)?;
        let jitter = v.real("jitter").min(0.2);
        Ok(Job { fault: v.word("fault"), ranks, bursts, period_ns, burst_ns, jitter, requests, size })
    }

    /// Start and length of a burst that begins at `start` without jitter.
    fn jittered(&self, start: u64, random: &mut Random) -> (u64, u64) {
        if self.jitter <= 0.0 {
            return (start, self.burst_ns);
        }
        let mut scaled = |ns: u64| self.jitter * random.normal().clamp(-FARTHEST, FARTHEST) * ns as f64;
        let start = start as f64 + scaled(self.period_ns);
        (start.max(0.0) as u64, (self.burst_ns as f64 + scaled(self.burst_ns)) as u64)
    }

    /// Operation, file, size and places of the accesses in random order, if the job has such.
    fn random_order(&self, data: FileId, other: FileId) -> Option<(Op, FileId, u64, u64)> {
        match self.fault {
            "shuffled-reads" => Some((Op::Read, other, PIECE, self.ranks * PIECES)),
            "shuffled" => Some((Op::Write, data, self.size, self.requests * self.ranks)),
            _ => None,
        }
    }

    /// A burst in which the ranks write the slots of the file in one random order.
    fn shuffled(&self, start: u64, length: u64, data: FileId, random: &mut Random, all: &mut Vec<Segment>) {
        let order = Shuffle::new(self.requests * self.ranks, random);
        for rank in 0..self.ranks as u32 {
            let first = u64::from(rank) * self.requests;
            let offsets = Offsets::Shuffled { order, first, step: 1, count: self.requests, size: self.size };
            all.push(Segment { op: Op::Write, rank, file: data, offsets, span_ns: (start, start + length) });
        }
    }
}

/// The part of a rank in a burst.
struct Turn<'j> {
    job: &'j Job,
    rank: u32,
    burst: u64,
    /// Start and end in nanoseconds.
    span: (u64, u64),
    data: FileId,
    other: FileId,
    /// A random order of the pieces of `other`.
    order: Shuffle,
}

impl Turn<'_> {
    /// Bytes of a rank in a burst.
    fn part(&self) -> u64 {
        self.job.requests * self.job.size
    }

    /// Requests of the usual size, one after the other.
    fn row(&self, n: u64) -> Nest {
        Nest::access(0, self.job.size).repeated(n, self.job.size)
    }

    /// Small requests, one after the other.
    fn small(&self, size: u64, n: u64) -> Nest {
        Nest::access(0, size).repeated(n, size)
    }

    /// Where the rank's own part of this burst begins.
    fn own(&self) -> u64 {
        (self.burst * self.job.ranks + u64::from(self.rank)) * self.part()
    }

    /// Times within the burst, in eighths.
    fn at(&self, a: u64, b: u64) -> (u64, u64) {
        let length = self.span.1 - self.span.0;
        (self.span.0 + length * a / 8, self.span.0 + length * b / 8)
    }

    fn write(&self, nest: Nest, span: (u64, u64)) -> Segment {
        Segment::nest(Op::Write, self.rank, self.data, nest, span)
    }

    fn read(&self, nest: Nest, span: (u64, u64)) -> Segment {
        Segment::nest(Op::Read, self.rank, self.other, nest, span)
    }

    /// The rank's own part.
    fn own_part(&self, span: (u64, u64)) -> Segment {
        self.write(self.row(self.job.requests).shifted(self.own()), span)
    }

    /// The own part, whose last request is replaced by small ones.
    fn ends_small(&self, size: u64, n: u64) -> Vec<Segment> {
        let most = self.job.requests - 1;
        let last = self.own() + most * self.job.size;
        vec![
            self.write(self.row(most).shifted(self.own()), self.at(0, 4)),
            self.write(self.small(size, n).shifted(last), self.at(4, 8)),
        ]
    }

    /// The accesses, with the fault of the job.
    fn segments(&self) -> Vec<Segment> {
        let faulty = self.sizes().or_else(|| self.repeats()).or_else(|| self.ranks()).or_else(|| self.times());
        faulty.unwrap_or_else(|| vec![self.own_part(self.span)])
    }

    /// Faults of sizes and places.
    fn sizes(&self) -> Option<Vec<Segment>> {
        let (n, ranks) = (self.job.requests, self.job.ranks);
        Some(match self.job.fault {
            "small-reads" => vec![self.own_part(self.at(0, 4)), self.read(self.small(4096, 1024), self.at(4, 8))],
            "small-writes" => self.ends_small(4096, 1024),
            "tiny-requests" => self.ends_small(8, 2048),
            "unaligned" => vec![self.write(self.row(n).shifted(self.own() + 2048), self.span)],
            "holes" => vec![self.write(self.row(n).shifted(4 * self.own()), self.span)],
            "shuffled-reads" => {
                let offsets = Offsets::Shuffled {
                    order: self.order,
                    first: u64::from(self.rank),
                    step: ranks,
                    count: PIECES,
                    size: PIECE,
                };
                let read = Segment { op: Op::Read, rank: self.rank, file: self.other, offsets, span_ns: self.at(4, 8) };
                vec![self.own_part(self.at(0, 4)), read]
            }
            // pieces of a quarter stripe go around
            "shared-stripes" => {
                let (piece, part) = (MIB / 4, self.part());
                let nest = Nest::access(0, piece).repeated(part / piece, piece * ranks);
                let first = self.burst * ranks * part + u64::from(self.rank) * piece;
                vec![self.write(nest.shifted(first), self.span)]
            }
            _ => return None,
        })
    }

    /// Faults of bytes that are moved again.
    fn repeats(&self) -> Option<Vec<Segment>> {
        let (n, part) = (self.job.requests, self.part());
        let own_file = self.row(n).shifted(self.burst * part);
        Some(match (self.job.fault, self.rank, self.burst) {
            ("reread", ..) => {
                let again = || self.row(n).shifted(u64::from(self.rank) * part);
                vec![self.own_part(self.at(0, 4)), self.read(again(), self.at(4, 6)), self.read(again(), self.at(6, 8))]
            }
            // each write is synchronised, which takes a quarter of its time
            ("sync", ..) => {
                let step = (self.span.1 - self.span.0) / n;
                let pair = |i: u64| {
                    let from = self.span.0 + i * (step + step / 4);
                    let (to, nest) = (from + step, self.row(1).shifted(self.own() + i * self.job.size));
                    let sync = Nest::access(0, 0).repeated(1, 0).shifted(self.own());
                    [
                        self.write(nest, (from, to)),
                        Segment::nest(Op::Sync, self.rank, self.data, sync, (to, to + step / 4)),
                    ]
                };
                (0..n).flat_map(pair).collect()
            }
            ("shuffled", ..) => Vec::new(),
            ("overwrite", ..) => vec![self.write(self.row(n).shifted(u64::from(self.rank) * part), self.span)],
            ("read-modify-write", ..) => {
                let step = self.job.burst_ns / (2 * n);
                let of = |op, i: u64, half: u64| {
                    let from = self.span.0 + (2 * i + half) * step;
                    let nest = self.row(1).shifted(self.own() + i * self.job.size);
                    Segment::nest(op, self.rank, self.data, nest, (from, from + step))
                };
                (0..n).flat_map(|i| [of(Op::Read, i, 0), of(Op::Write, i, 1)]).collect()
            }
            ("scratch-data", 0, _) => {
                let write = Segment::nest(Op::Write, 0, self.other, own_file.clone(), self.at(0, 4));
                vec![write, self.read(own_file, self.at(4, 8))]
            }
            ("startup-storm", _, 0) => {
                let read = self.read(self.row(n).shifted(u64::from(self.rank) * part), self.span);
                vec![read, self.own_part(self.at(8, 16))]
            }
            // reads in the middle of every second burst, which takes twice the time
            ("colliding-reads", ..) if self.burst % 2 == 1 => {
                let half = |from: u64, to: u64, span| {
                    self.write(self.row(to - from).shifted(self.own() + from * self.job.size), span)
                };
                let read = self.read(self.row(n).shifted(self.own()), self.at(4, 12));
                vec![half(0, n / 2, self.at(0, 4)), read, half(n / 2, n, self.at(12, 16))]
            }
            ("conflicting-writes", 1, _) => vec![self.write(self.row(n).shifted(self.own() - part), self.span)],
            _ => return None,
        })
    }

    /// Faults of single ranks.
    fn ranks(&self) -> Option<Vec<Segment>> {
        let (n, ranks, part, rank) = (self.job.requests, self.job.ranks, self.part(), u64::from(self.rank));
        let base = self.burst * 4 * ranks * part;
        let turn = self.job.burst_ns / ranks;
        let from = |wait: u64| self.span.0 + rank * wait;
        Some(match (self.job.fault, rank) {
            ("one-rank", 0) => vec![self.own_part(self.span)],
            ("one-rank", _) => Vec::new(),
            ("time-imbalance", 2) => vec![self.own_part(self.at(0, 32))],
            ("volume-imbalance", 2) => vec![self.write(self.row(4 * n).shifted(base), self.span)],
            ("volume-imbalance", _) => vec![self.write(self.row(n).shifted(base + (4 + rank) * part), self.span)],
            ("taking-turns", _) => {
                let from = from(turn + turn / 10);
                vec![self.own_part((from, from + turn))]
            }
            ("last-again", 3) => vec![self.own_part(self.at(0, 12))],
            // another rank in each burst
            ("burst-spread", _) if rank != self.burst % ranks => vec![self.own_part(self.at(0, 4))],
            ("out-of-step", _) => {
                let from = from(self.job.period_ns * 2 / (5 * ranks));
                vec![self.own_part((from, from + self.job.burst_ns))]
            }
            _ => return None,
        })
    }

    /// Faults of single bursts and requests.
    fn times(&self) -> Option<Vec<Segment>> {
        let (n, ranks) = (self.job.requests, self.job.ranks);
        Some(match (self.job.fault, self.rank, self.burst) {
            // one request of rank 0 takes nearly eight bursts
            ("slow-tail", 0, 1) => vec![
                self.write(self.row(n - 1).shifted(self.own()), self.at(0, 1)),
                self.write(self.row(1).shifted(self.own() + (n - 1) * self.job.size), self.at(1, 64)),
            ],
            ("slow-tail", ..) => {
                vec![self.own_part((self.span.0, self.span.0 + self.job.burst_ns / (10 * ranks)))]
            }
            ("slow-bursts", ..) if self.burst % 3 == 1 => vec![self.own_part(self.at(0, 32))],
            // one request more in each burst
            ("growing-bursts", ..) => {
                let (more, size) = (n + self.burst, self.job.size);
                let before = ranks * size * (n * self.burst + self.burst * self.burst.saturating_sub(1) / 2);
                let nest = self.row(more).shifted(before + u64::from(self.rank) * more * size);
                vec![self.write(nest, (self.span.0, self.span.0 + self.job.burst_ns * more / n))]
            }
            _ => return None,
        })
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
