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
//! number of particles, as ranks share the first dimension alone.

use super::super::parameter::{Kind, Parameter, Values};
use super::super::shape::Shape;
use super::super::stretch::{Lane, Places, Script, Stretch, seconds};
use super::super::truth::{Bursts, Phase, Place, TruePattern};
use super::super::{Plan, Workload, bounds};
use super::Aggregators;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{FileId, Files, Op};

/// The workload.
pub(in super::super) struct Write;

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
        "CI: through the buffer, reading and writing whole structures, or each member of each particle by itself",
    ),
    Parameter::new(
        "aggregators",
        Kind::Count,
        "0",
        "Ranks that write for all, as collective buffering does (CC and II); 0: each for itself",
    ),
    Parameter::new(
        "read",
        Kind::Choice(&["none", "full", "partial"]),
        "none",
        "Read the file back after the last step",
    ),
    Parameter::new("read-particles", Kind::Count, "1024", "Particles of a rank that a partial read takes"),
    Parameter::new("read-compute", Kind::Seconds, "1", "Seconds of compute between steps when reading"),
    Parameter::new("read-time", Kind::Seconds, "0.1", "Seconds that reading a step takes"),
];

const MEMBERS: u64 = 8;
const MEMBER_BYTES: u64 = 4;
const PARTICLE: u64 = MEMBERS * MEMBER_BYTES;
/// The order in which the benchmark reads the properties back: places, ids, momenta.
const READ_ORDER: [&[u64]; 3] = [&[0, 1, 2], &[6, 7], &[3, 4, 5]];

impl Workload for Write {
    fn name(&self) -> &'static str {
        "h5bench-write"
    }

    fn about(&self) -> &'static str {
        "h5bench write: time steps of particles in HDF5 datasets, contiguous or interleaved, in memory and in the file"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn plan(&self, v: &Values, _seed: u64) -> Result<Plan> {
        let job = Job::new(v)?;
        let mut files = Files::default();
        files.intern("/scratch/h5bench/test.h5");
        let mut patterns = Vec::new();
        for rank in 0..job.ranks as u32 {
            patterns.extend(job.write_patterns(rank, &files));
            patterns.extend(job.read_patterns(rank, &files));
        }
        let (mut periods, mut phases) = (Vec::new(), Vec::new());
        let mut add = |op: Op, spans_ns: Vec<(u64, u64)>, cycle: u64, bytes: u64| {
            phases.extend(spans_ns.iter().map(|s| Phase::of(op, *s, bytes)));
            let bursts = Bursts { bytes: bytes * spans_ns.len() as u64, spans_ns };
            periods.extend(bursts.period(op, Some(seconds(cycle))));
        };
        let cycle = job.write_ns + job.compute_ns;
        for op in [Op::Write, Op::Read] {
            let bytes = job.step_bytes(op);
            if bytes > 0 {
                add(op, (0..job.steps).map(|s| job.step_span(op, s)).collect(), cycle, bytes);
            }
        }
        if let Some(read) = job.read_particles {
            let cycle = job.read_ns + job.read_compute_ns;
            let start = |s: u64| job.read_start() + s * cycle;
            let spans = (0..job.steps).map(|s| (start(s), start(s) + job.read_ns)).collect();
            add(Op::Read, spans, cycle, read * PARTICLE * job.ranks);
        }
        Ok(Plan { ranks: job.ranks, files, periods, phases, patterns, script: Box::new(job) })
    }
}

/// How a rank writes its part of a dataset.
#[derive(Clone, Copy)]
enum Way {
    /// At once.
    Whole,
    /// Every member of every particle by itself.
    Direct,
    /// Member after member over the whole part: pieces of `piece` bytes, each read and written.
    Rewrite { piece: u64 },
    /// In pieces of `piece` bytes, each read before it is written, but in the first dataset of a step.
    Convert { piece: u64 },
    /// Some ranks for all.
    Aggregated(Aggregators),
}

struct Job {
    ranks: u64,
    particles: u64,
    interleaved: bool,
    way: Way,
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
        let usage = |found: String, expected: &str| Err(Error::new(ErrorKind::Usage, found).expected(expected));
        let ranks = v.positive("ranks", bounds::RANKS)?;
        let dims = v.extents("dims");
        if dims.len() > 3 {
            return usage(format!("{} dimensions", dims.len()), "one to three");
        }
        let particles = bounds::bytes(&dims)?;
        let steps = v.positive("steps", bounds::REPEATS)?;
        // Converting member by member moves everything eight times.
        bounds::bytes(&[PARTICLE, particles, ranks, steps, MEMBERS, 2])?;
        let (pattern, buffer) = (v.word("pattern"), v.positive("buffer", 1 << 40)?);
        let aggregators = v.whole("aggregators");
        if buffer < PARTICLE {
            return usage(format!("a buffer of {buffer} bytes"), "room for a particle of 32 bytes");
        }
        // A bufferful holds whole particles.
        let at_once = (buffer / PARTICLE).min(particles);
        let way = match (pattern, aggregators) {
            ("CC" | "II", 0) => Way::Whole,
            ("CC" | "II", n) => Way::Aggregated(Aggregators::new(n, ranks)?),
            (_, 1..) => {
                return usage(
                    format!("{aggregators} aggregators with pattern {pattern}"),
                    "none: conversions are not written collectively",
                );
            }
            ("CI", _) if v.word("members") == "direct" => Way::Direct,
            ("CI", _) => Way::Rewrite { piece: at_once * PARTICLE },
            _ => Way::Convert { piece: at_once * MEMBER_BYTES },
        };
        if matches!(way, Way::Rewrite { .. } | Way::Convert { .. }) {
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
            way,
            steps,
            compute_ns: v.nanos("compute"),
            write_ns: v.nanos("write-time"),
            start_ns: v.nanos("start"),
            header: v.whole("header").min(1 << 40),
            read_particles,
            read_compute_ns: v.nanos("read-compute"),
            read_ns: v.nanos("read-time"),
        };
        if let Way::Aggregated(a) = way {
            a.check(job.dataset())?;
        }
        let step = job.write_ns + job.compute_ns + job.read_ns + job.read_compute_ns;
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

    fn read_start(&self) -> u64 {
        self.start_ns + self.steps * (self.write_ns + self.compute_ns)
    }

    /// What a rank writes of a dataset of its own, from where on; `None` if nothing.
    fn share(&self, rank: u32) -> Option<(u64, Shape)> {
        let own = u64::from(rank) * self.part();
        Some(match self.way {
            Way::Whole => (own, Shape::of(self.part())),
            Way::Direct => (own, Shape::of(MEMBER_BYTES).times(self.particles, PARTICLE).times(MEMBERS, MEMBER_BYTES)),
            Way::Rewrite { piece } => (own, Shape::of(self.part()).cut(piece).times(MEMBERS, 0)),
            Way::Convert { piece } => (own, Shape::of(self.part()).cut(piece)),
            Way::Aggregated(a) => return a.part(rank, self.dataset()),
        })
    }

    /// Accesses of a rank in a step, reads too.
    fn accesses(&self, rank: u32) -> u64 {
        let n = self.share(rank).map_or(0, |(_, shape)| shape.count());
        match self.way {
            Way::Rewrite { .. } => 2 * n,
            Way::Convert { .. } => n + 2 * n * (MEMBERS - 1),
            _ => n * self.variables(),
        }
    }

    fn step_start(&self, step: u64) -> u64 {
        self.start_ns + step * (self.write_ns + self.compute_ns)
    }

    /// When the `i`-th access of the `n` of a step begins, and the one before it ends.
    fn at(&self, step: u64, i: u64, n: u64) -> u64 {
        self.step_start(step) + (u128::from(self.write_ns) * u128::from(i) / u128::from(n)) as u64
    }

    /// Bytes that all ranks move in a step of writing: converting in place reads what it is about to write.
    fn step_bytes(&self, op: Op) -> u64 {
        let all = self.dataset() * self.variables();
        match (self.way, op) {
            (Way::Rewrite { .. }, _) => all * MEMBERS,
            (Way::Convert { .. }, Op::Read) => all / MEMBERS * (MEMBERS - 1),
            (_, Op::Read) => 0,
            _ => all,
        }
    }

    /// First start and last end of the writes, or of the reads between them, in a step.
    fn step_span(&self, op: Op, step: u64) -> (u64, u64) {
        let n = self.accesses(0);
        let (first, last) = match (self.way, op) {
            (Way::Rewrite { .. }, Op::Write) => (1, n),
            (Way::Rewrite { .. }, _) => (0, n - 1),
            (Way::Convert { .. }, Op::Read) => (self.share(0).map_or(0, |(_, shape)| shape.count()), n - 1),
            _ => (0, n),
        };
        (self.at(step, first, n), self.at(step, last, n))
    }

    /// What a rank does in a step, where reads and writes take turns: operation, dataset and piece.
    fn turns(&self, rank: u32) -> Vec<(Op, u64, u64)> {
        let n = self.share(rank).map_or(0, |(_, shape)| shape.count());
        let before = |variable: u64| matches!(self.way, Way::Rewrite { .. }) || variable > 0;
        let turn = |variable: u64, i: u64| {
            let read = before(variable).then_some((Op::Read, variable, i));
            read.into_iter().chain([(Op::Write, variable, i)])
        };
        (0..self.variables()).flat_map(|variable| (0..n).flat_map(move |i| turn(variable, i))).collect()
    }

    fn write_step(&self, rank: u32, step: u64) -> Vec<Stretch> {
        let Some((base, shape)) = self.share(rank) else { return Vec::new() };
        let stretch = |op, places, from: u64, to: u64| Stretch {
            op,
            rank,
            file: FileId(0),
            places,
            start_ns: from,
            length_ns: to - from,
        };
        let piece = match self.way {
            Way::Rewrite { piece } | Way::Convert { piece } => piece,
            _ => {
                let all = shape.times(self.variables(), self.dataset());
                let places = Places::Nested(self.dataset_start(step, 0) + base, all);
                let start = self.step_start(step);
                return vec![stretch(Op::Write, places, start, start + self.write_ns)];
            }
        };
        let turns = self.turns(rank);
        let (n, pieces) = (turns.len() as u64, self.part() / piece);
        let one = |(i, (op, variable, k)): (usize, (Op, u64, u64))| {
            let offset = self.dataset_start(step, variable) + base + k % pieces * piece;
            let i = i as u64;
            stretch(op, Places::Nested(offset, Shape::of(piece)), self.at(step, i, n), self.at(step, i + 1, n))
        };
        turns.into_iter().enumerate().map(one).collect()
    }

    /// The properties of a step, one after the other, in the order of the benchmark.
    fn read_step(&self, rank: u32, step: u64) -> Vec<Stretch> {
        let Some(read) = self.read_particles else { return Vec::new() };
        let begin = self.read_start() + step * (self.read_ns + self.read_compute_ns);
        self.read_groups()
            .map(|(first, count, done, of)| {
                let time = |i: u64| begin + (u128::from(self.read_ns) * u128::from(i) / u128::from(of)) as u64;
                let shape = Shape::of(read * self.element()).times(count, self.dataset());
                let offset = self.dataset_start(step, first) + u64::from(rank) * self.part();
                let (start_ns, end_ns) = (time(done), time(done + count));
                let places = Places::Nested(offset, shape);
                Stretch { op: Op::Read, rank, file: FileId(0), places, start_ns, length_ns: end_ns - start_ns }
            })
            .collect()
    }

    /// Groups of datasets that are read one after the other: first, number, how many were read before, how many there are.
    fn read_groups(&self) -> impl Iterator<Item = (u64, u64, u64, u64)> + '_ {
        let groups: &[&[u64]] = if self.interleaved { &[&[0]] } else { &READ_ORDER };
        let mut done = 0;
        groups.iter().map(move |g| {
            done += g.len() as u64;
            (g[0], g.len() as u64, done - g.len() as u64, self.variables())
        })
    }

    fn place<'f>(&self, op: Op, rank: u32, files: &'f Files, span_ns: (u64, u64), cycle_ns: u64) -> Place<'f> {
        let period_s = (self.steps > 1).then(|| seconds(cycle_ns));
        Place { op, rank, file: files.name(FileId(0)), span_ns, period_s }
    }

    /// One pattern of writes through all steps; and one of reads where the library reads before it writes.
    fn write_patterns(&self, rank: u32, files: &Files) -> Vec<TruePattern> {
        let Some((base, shape)) = self.share(rank) else { return Vec::new() };
        let step = self.variables() * self.dataset();
        let nested = |op, variable: u64, shape: Shape| {
            let span_ns = (self.step_span(op, 0).0, self.step_span(op, self.steps - 1).1);
            let place = self.place(op, rank, files, span_ns, self.write_ns + self.compute_ns);
            TruePattern::nested(place, self.dataset_start(0, variable) + base, &shape.times(self.steps, step))
        };
        let all = shape.clone().times(self.variables(), self.dataset());
        let read = match self.way {
            Way::Rewrite { .. } => nested(Op::Read, 0, all.clone()),
            Way::Convert { .. } => nested(Op::Read, 1, shape.times(MEMBERS - 1, self.dataset())),
            _ => None,
        };
        [nested(Op::Write, 0, all), read].into_iter().flatten().collect()
    }

    /// Places and momenta are read in two parts, but the second goes on where the first ended: a pattern for them, and one for
    /// the ids, each through all steps.
    fn read_patterns(&self, rank: u32, files: &Files) -> Vec<TruePattern> {
        let Some(read) = self.read_particles else { return Vec::new() };
        let of = self.variables();
        let order: Vec<u64> = self.read_groups().flat_map(|(first, count, ..)| first..first + count).collect();
        let turns: &[(u64, u64)] = if self.interleaved { &[(0, 1)] } else { &[(0, 6), (6, 2)] };
        let cycle = self.read_ns + self.read_compute_ns;
        let time = |step: u64, i: usize| {
            self.read_start() + step * cycle + (u128::from(self.read_ns) * i as u128 / u128::from(of)) as u64
        };
        let pattern = |&(first, count): &(u64, u64)| {
            let mine = |v: &u64| (first..first + count).contains(v);
            let (from, to) = (order.iter().position(mine)?, order.iter().rposition(mine)?);
            let span_ns = (time(0, from), time(self.steps - 1, to + 1));
            let shape = Shape::of(read * self.element()).times(count, self.dataset());
            let offset = self.dataset_start(0, first) + u64::from(rank) * self.part();
            let place = self.place(Op::Read, rank, files, span_ns, cycle);
            TruePattern::nested(place, offset, &shape.times(self.steps, of * self.dataset()))
        };
        turns.iter().filter_map(pattern).collect()
    }
}

impl Script for Job {
    fn lanes(&self) -> Vec<Lane<'_>> {
        let lane = |rank: u32| -> Lane<'_> {
            let writes = (0..self.steps).flat_map(move |s| self.write_step(rank, s));
            Box::new(writes.chain((0..self.steps).flat_map(move |s| self.read_step(rank, s))))
        };
        (0..self.ranks as u32).map(lane).collect()
    }
}
