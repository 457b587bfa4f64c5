//! h5bench's write benchmark: time steps of particles with eight properties, written to one file by all ranks.
//!
//! A particle is six floats, an integer and a float: eight members of four bytes. In memory and in the file the properties are
//! either arrays of their own (contiguous, C) or an array of structures (interleaved, I); what is in the file decides the
//! requests:
//!
//! - C in the file: eight datasets a step. From C in memory a rank writes its part of each at once. From I the library converts
//!   through its buffer: one request for each bufferful, and from the second dataset on it first reads what it is about to write.
//! - I in the file: one dataset of structures a step. From I a rank writes its part at once. From C it writes one member at a
//!   time, and every other four bytes of a structure must stay: the library reads a bufferful, puts the member in, and writes
//!   it back, eight times over the whole part (`--members buffered`). Without that buffer every member of every particle is a
//!   request of four bytes (`--members direct`).
//!
//! Recorded runs of h5bench 1.6 with HDF5 1.10 on MPI-IO show these requests. One to three dimensions differ in nothing but the
//! number of particles, because only the first dimension is divided among the ranks.

use std::ops::Range;

use super::super::bounds;
use super::super::clock::seconds;
use super::super::nest::Nest;
use super::super::parameter::{Kind, Parameter, Values};
use super::super::plan::{Plan, Workload};
use super::super::program::{Program, RankProgram, Segment};
use super::super::stated::{Repeat, Stated};
use super::aggregators::Aggregators;
use crate::error::Result;
use crate::nest::offsets;
use crate::record::{FileId, Files, Op};

/// The workload.
pub(in super::super) const WORKLOAD: Workload = Workload {
    name: "h5bench-write",
    about: "h5bench write: time steps of particles in HDF5 datasets, contiguous or interleaved, in memory and in the file",
    parameters: PARAMETERS,
    plan,
};

const PARAMETERS: &[Parameter] = &[
    Parameter::new("ranks", Kind::Count, "4", "Ranks"),
    Parameter::new("dims", Kind::Extents, "65536", "Particles of a rank in one to three dimensions, such as 64,32,32"),
    Parameter::new(
        "pattern",
        Kind::Choice(&["CC", "CI", "IC", "II"]),
        "CC",
        "Layout in memory and in the file: C an array for each property, I an array of structures",
    ),
    Parameter::new("steps", Kind::Count, "5", "Time steps"),
    Parameter::new("compute", Kind::Seconds, "2", "Seconds of compute between steps"),
    Parameter::new("write-time", Kind::Seconds, "0.2", "Seconds that writing a step takes"),
    Parameter::new("start", Kind::Seconds, "1", "Start of the first step, in seconds"),
    Parameter::new("header", Kind::Bytes, "2104", "Bytes before the first dataset"),
    Parameter::new("buffer", Kind::Bytes, "1MiB", "Conversion buffer of the library, for CI and IC"),
    Parameter::new(
        "members",
        Kind::Choice(&["buffered", "direct"]),
        "buffered",
        "CI: read and write whole structures through the buffer, or write each member of each particle by itself",
    ),
    Parameter::new("aggregators", Kind::Count, "0", "Ranks that write for all (CC and II); 0: each rank for itself"),
    Parameter::new("read", Kind::Choice(&["none", "full", "partial"]), "none", "Read the file back at the end"),
    Parameter::new("read-particles", Kind::Count, "1024", "Particles of a rank in a partial read"),
    Parameter::new("read-compute", Kind::Seconds, "1", "Seconds of compute between steps when reading"),
    Parameter::new("read-time", Kind::Seconds, "0.1", "Seconds that reading a step takes"),
];

const MEMBERS: u64 = 8;
const MEMBER_BYTES: u64 = 4;
const PARTICLE: u64 = MEMBERS * MEMBER_BYTES;
/// The only file.
const FILE: FileId = FileId(0);
/// The order in which the benchmark reads the properties back: places, ids, momenta.
const READ_ORDER: [&[u64]; 3] = [&[0, 1, 2], &[6, 7], &[3, 4, 5]];

fn plan(v: &Values, _seed: u64) -> Result<Plan> {
    let job = Job::new(v)?;
    let mut files = Files::default();
    files.intern("/scratch/h5bench/test.h5");
    let mut stated = Stated::default();
    for op in [Op::Write, Op::Read].into_iter().filter(|op| job.step_bytes(*op) > 0) {
        let spans: Vec<_> = (0..job.steps).map(|s| job.step_span(op, s)).collect();
        stated.bursts(op, &spans, job.step_bytes(op), Some(seconds(job.write_cycle())));
    }
    if let Some(read) = job.read_particles {
        let start = |s: u64| job.read_start() + s * job.read_cycle();
        let spans: Vec<_> = (0..job.steps).map(|s| (start(s), start(s) + job.read_ns)).collect();
        stated.bursts(Op::Read, &spans, read * PARTICLE * job.ranks, Some(seconds(job.read_cycle())));
    }
    for rank in 0..job.ranks as u32 {
        job.state_loops(rank, &files, &mut stated);
    }
    Ok(Plan { ranks: job.ranks, files, stated, program: Box::new(job) })
}

/// How a rank writes its part of a dataset.
#[derive(Clone, Copy)]
enum Method {
    /// In one request.
    Whole,
    /// Every member of every particle in a request of its own.
    Direct,
    /// Once for each member over the whole part, in pieces of `piece` bytes. Each piece is read and written.
    Rewrite { piece: u64 },
    /// In pieces of `piece` bytes. Each piece is read before it is written, except in the first dataset of a step.
    Convert { piece: u64 },
    /// Some ranks write for all.
    Aggregated(Aggregators),
}

struct Job {
    ranks: u64,
    particles: u64,
    interleaved: bool,
    method: Method,
    steps: u64,
    compute_ns: u64,
    write_ns: u64,
    start_ns: u64,
    header: u64,
    /// Particles of a rank that are read back.
    read_particles: Option<u64>,
    read_compute_ns: u64,
    read_ns: u64,
}

impl Job {
    fn new(v: &Values) -> Result<Job> {
        let ranks = v.positive("ranks", bounds::RANKS)?;
        let dims = v.extents("dims");
        if dims.len() > 3 {
            return bounds::usage(format!("{} dimensions", dims.len()), "one to three");
        }
        let particles = bounds::bytes(&dims)?;
        let steps = v.positive("steps", bounds::REPEATS)?;
        // Conversion member by member moves everything eight times.
        bounds::bytes(&[PARTICLE, particles, ranks, steps, MEMBERS, 2])?;
        let (pattern, buffer) = (v.word("pattern"), v.positive("buffer", 1 << 40)?);
        let aggregators = v.whole("aggregators");
        if buffer < PARTICLE {
            return bounds::usage(format!("a buffer of {buffer} bytes"), "room for a particle of 32 bytes");
        }
        // A bufferful holds whole particles.
        let at_once = (buffer / PARTICLE).min(particles);
        let method = match (pattern, aggregators) {
            ("CC" | "II", 0) => Method::Whole,
            ("CC" | "II", n) => Method::Aggregated(Aggregators::new(n, ranks)?),
            (_, 1..) => {
                let found = format!("{aggregators} aggregators with pattern {pattern}");
                return bounds::usage(found, "none: conversions are not written collectively");
            }
            ("CI", _) if v.word("members") == "direct" => Method::Direct,
            ("CI", _) => Method::Rewrite { piece: at_once * PARTICLE },
            _ => Method::Convert { piece: at_once * MEMBER_BYTES },
        };
        if matches!(method, Method::Rewrite { .. } | Method::Convert { .. }) {
            bounds::divided(("particles of a rank", particles), ("particles of a bufferful", at_once))?;
        }
        let read_particles = match v.word("read") {
            "full" => Some(particles),
            "partial" => Some(v.positive("read-particles", particles)?),
            _ => None,
        };
        let job = Job {
            ranks,
            particles,
            interleaved: pattern.ends_with('I'),
            method,
            steps,
            compute_ns: v.nanos("compute"),
            write_ns: v.nanos("write-time"),
            start_ns: v.nanos("start"),
            header: v.whole("header").min(1 << 40),
            read_particles,
            read_compute_ns: v.nanos("read-compute"),
            read_ns: v.nanos("read-time"),
        };
        if let Method::Aggregated(a) = method {
            a.check(job.dataset())?;
        }
        let step = job.write_cycle() + job.read_cycle();
        let end = u128::from(job.start_ns) + u128::from(steps) * u128::from(step);
        bounds::run(end, job.write_ns, job.accesses(0))?;
        bounds::run(end, job.read_ns, if read_particles.is_some() { MEMBERS } else { 0 })?;
        Ok(job)
    }

    /// Datasets of a step.
    fn variables(&self) -> u64 {
        if self.interleaved { 1 } else { MEMBERS }
    }

    /// Bytes of an element of a dataset.
    fn element(&self) -> u64 {
        if self.interleaved { PARTICLE } else { MEMBER_BYTES }
    }

    /// Bytes of a rank in a dataset.
    fn part(&self) -> u64 {
        self.element() * self.particles
    }

    fn dataset(&self) -> u64 {
        self.part() * self.ranks
    }

    /// Where dataset `variable` of step `step` begins.
    fn dataset_start(&self, step: u64, variable: u64) -> u64 {
        self.header + (step * self.variables() + variable) * self.dataset()
    }

    /// From the start of a step to the start of the next.
    fn write_cycle(&self) -> u64 {
        self.write_ns + self.compute_ns
    }

    fn read_cycle(&self) -> u64 {
        self.read_ns + self.read_compute_ns
    }

    fn read_start(&self) -> u64 {
        self.start_ns + self.steps * self.write_cycle()
    }

    /// The writes of a rank to the first dataset, from the start of the dataset; `None` if it makes none.
    fn share(&self, rank: u32) -> Option<Nest> {
        let own = |size| Nest::access(u64::from(rank) * self.part(), size);
        Some(match self.method {
            Method::Whole => own(self.part()),
            Method::Direct => own(MEMBER_BYTES).repeated(self.particles, PARTICLE).repeated(MEMBERS, MEMBER_BYTES),
            Method::Rewrite { piece } => own(self.part()).split(piece).repeated(MEMBERS, 0),
            Method::Convert { piece } => own(self.part()).split(piece),
            Method::Aggregated(a) => return a.part(rank, self.dataset()),
        })
    }

    /// The datasets of a step that are written, or those that are read before they are written.
    fn datasets(&self, op: Op) -> Range<u64> {
        let first = match (op, self.method) {
            (Op::Write, _) | (_, Method::Rewrite { .. }) => 0,
            (_, Method::Convert { .. }) => 1,
            _ => self.variables(),
        };
        first..self.variables()
    }

    /// Accesses of a rank in a step of writing, including reads.
    fn accesses(&self, rank: u32) -> u64 {
        let in_dataset = self.share(rank).map_or(0, |share| share.records());
        in_dataset * [Op::Write, Op::Read].map(|op| self.datasets(op).count() as u64).iter().sum::<u64>()
    }

    /// Start of access `i` of the `n` of a step, and end of the one before.
    fn at(&self, step: u64, i: u64, n: u64) -> u64 {
        self.start_ns + step * self.write_cycle() + (u128::from(self.write_ns) * u128::from(i) / u128::from(n)) as u64
    }

    /// Bytes that all ranks move in a step of writing.
    fn step_bytes(&self, op: Op) -> u64 {
        let passes = if matches!(self.method, Method::Rewrite { .. }) { MEMBERS } else { 1 };
        self.dataset() * passes * self.datasets(op).count() as u64
    }

    /// Start of the first and end of the last write of a step, or of its reads.
    fn step_span(&self, op: Op, step: u64) -> (u64, u64) {
        let (n, reads) = (self.accesses(0), self.datasets(Op::Read));
        let (first, last) = match op {
            Op::Write => (u64::from(reads.start == 0), n),
            _ => (reads.start * self.share(0).map_or(0, |share| share.records()), n - 1),
        };
        (self.at(step, first, n), self.at(step, last, n))
    }

    /// The writes of a rank in a step, or its reads between them.
    fn step(&self, op: Op, rank: u32, step: u64) -> Option<Segment> {
        let datasets = self.datasets(op);
        let nest = self.share(rank)?.shifted(self.dataset_start(step, datasets.start));
        let nest = nest.repeated(datasets.count() as u64, self.dataset());
        (nest.records() > 0).then(|| Segment::nest(op, rank, FILE, nest, self.step_span(op, step)))
    }

    /// The accesses of a rank in a step of writing. If it reads before it writes, each access is a segment.
    fn write_step(&self, rank: u32, step: u64) -> Vec<Segment> {
        let reads = self.datasets(Op::Read);
        let Some(share) = self.share(rank).filter(|_| !reads.is_empty()) else {
            return self.step(Op::Write, rank, step).into_iter().collect();
        };
        let n = self.accesses(rank);
        let mut segments = Vec::with_capacity(n as usize);
        for variable in self.datasets(Op::Write) {
            let start = self.dataset_start(step, variable) + share.start;
            for offset in offsets(start, &share.loops) {
                let ops = [Op::Read, Op::Write].into_iter().filter(|op| *op == Op::Write || reads.contains(&variable));
                for op in ops {
                    let i = segments.len() as u64;
                    let span_ns = (self.at(step, i, n), self.at(step, i + 1, n));
                    segments.push(Segment::nest(op, rank, FILE, Nest::access(offset, share.size), span_ns));
                }
            }
        }
        segments
    }

    /// The properties that a rank reads of a step, in the order of the benchmark: a segment for each group of datasets.
    fn read_step(&self, rank: u32, step: u64) -> Vec<Segment> {
        let Some(particles) = self.read_particles else { return Vec::new() };
        let groups: &[&[u64]] = if self.interleaved { &[&[0]] } else { &READ_ORDER };
        let begin = self.read_start() + step * self.read_cycle();
        let time = |i: u64| begin + (u128::from(self.read_ns) * u128::from(i) / u128::from(self.variables())) as u64;
        let mut done = 0;
        let segment = |group: &&[u64]| {
            let (count, before) = (group.len() as u64, done);
            done += count;
            let start = self.dataset_start(step, group[0]) + u64::from(rank) * self.part();
            let nest = Nest::access(start, particles * self.element()).repeated(count, self.dataset());
            Segment::nest(Op::Read, rank, FILE, nest, (time(before), time(done)))
        };
        groups.iter().map(segment).collect()
    }

    /// States the loops of a rank. The outermost one goes over the steps.
    fn state_loops(&self, rank: u32, files: &Files, stated: &mut Stated) {
        let bytes = self.variables() * self.dataset();
        let around = Repeat { count: self.steps, bytes, ns: self.write_cycle() };
        let steps = [Op::Write, Op::Read].into_iter().filter_map(|op| self.step(op, rank, 0));
        steps.for_each(|s| stated.segment(files, s, around));
        let around = Repeat { ns: self.read_cycle(), ..around };
        self.read_step(rank, 0).into_iter().for_each(|s| stated.segment(files, s, around));
    }
}

impl Program for Job {
    fn ranks(&self) -> Vec<RankProgram<'_>> {
        let program = |rank: u32| -> RankProgram<'_> {
            let writes = (0..self.steps).flat_map(move |s| self.write_step(rank, s));
            Box::new(writes.chain((0..self.steps).flat_map(move |s| self.read_step(rank, s))))
        };
        (0..self.ranks as u32).map(program).collect()
    }
}
