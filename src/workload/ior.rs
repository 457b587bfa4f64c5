//! IOR: every rank writes and reads back blocks of a shared file or of its own.
//!
//! Offsets are those of IOR 4: segment after segment, in each a block a rank, in each block transfer after transfer. With random
//! order the slots of the whole file are dealt out, as `-z` does; here every rank gets equally many.

use super::drawn::Drawn;
use super::parameter::{Kind, Parameter, Values};
use super::random::{Random, Shuffle};
use super::shape::Shape;
use super::stretch::{Lane, Places, Script, Stretch, seconds};
use super::truth::{Bursts, Phase, Place, TruePattern};
use super::{Plan, Workload, bounds};
use crate::error::Result;
use crate::record::{FileId, Files, Op};

/// The workload.
pub(super) struct Ior;

const PARAMETERS: &[Parameter] = &[
    Parameter::new("ranks", Kind::Count, "8", "Ranks"),
    Parameter::new("segments", Kind::Count, "4", "Segments of a file"),
    Parameter::new("block", Kind::Bytes, "1MiB", "Bytes of a rank in a segment"),
    Parameter::new("transfer", Kind::Bytes, "64k", "Bytes of a request; divides the block"),
    Parameter::new("layout", Kind::Choice(&["shared", "per-rank"]), "shared", "One file for all ranks or one for each"),
    Parameter::new("order", Kind::Choice(&["sequential", "random"]), "sequential", "Order of the requests of a rank"),
    Parameter::new("access", Kind::Choice(&["write-read", "write", "read"]), "write-read", "What is done"),
    Parameter::new("reorder", Kind::Count, "0", "Each rank reads what the rank this many further has written"),
    Parameter::new("repetitions", Kind::Count, "1", "Repetitions of it all"),
    Parameter::new("new-files", Kind::Flag, "", "New files for each repetition"),
    Parameter::new("start", Kind::Seconds, "1", "Start of the first access, in seconds"),
    Parameter::new("write-time", Kind::Seconds, "1", "Seconds that writing takes"),
    Parameter::new("gap", Kind::Seconds, "0.1", "Seconds between writing and reading"),
    Parameter::new("read-time", Kind::Seconds, "0.5", "Seconds that reading takes"),
    Parameter::new("delay", Kind::Seconds, "3", "Seconds between repetitions"),
];

impl Workload for Ior {
    fn name(&self) -> &'static str {
        "ior"
    }

    fn about(&self) -> &'static str {
        "IOR: writes and reads segments of blocks of transfers, shared or per rank, in order or at random"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn plan(&self, v: &Values, seed: u64) -> Result<Plan> {
        let job = Job::new(v, seed)?;
        let mut files = Files::default();
        for k in 0..job.copies() {
            for r in 0..job.sharers() {
                let copy = if job.new_files { format!(".{k}") } else { String::new() };
                let rank = if job.shared { String::new() } else { format!(".{r:08}") };
                files.intern(&format!("/scratch/ior/testfile{rank}{copy}"));
            }
        }
        let patterns = job.patterns(&files);
        let (mut periods, mut phases) = (Vec::new(), Vec::new());
        let bytes = job.slots() * job.transfer * job.ranks;
        for &(op, _, _) in &job.parts {
            let spans_ns: Vec<_> = (0..job.repetitions).map(|k| job.span(op, k)).collect();
            phases.extend(spans_ns.iter().map(|s| Phase::of(op, *s, bytes)));
            let bursts = Bursts { spans_ns, bytes: bytes * job.repetitions };
            periods.extend(bursts.period(op, Some(seconds(job.cycle_ns))));
        }
        Ok(Plan { ranks: job.ranks, files, periods, phases, patterns, script: Box::new(job) })
    }
}

struct Job {
    ranks: u64,
    segments: u64,
    block: u64,
    transfer: u64,
    shared: bool,
    random: bool,
    reorder: u64,
    repetitions: u64,
    new_files: bool,
    start_ns: u64,
    /// From repetition to repetition.
    cycle_ns: u64,
    /// What is done in a repetition, when it starts in it, and how long it takes.
    parts: Vec<(Op, u64, u64)>,
    seed: u64,
}

impl Job {
    fn new(v: &Values, seed: u64) -> Result<Job> {
        let ranks = v.positive("ranks", bounds::RANKS)?;
        let (segments, block, transfer) =
            (v.positive("segments", bounds::REPEATS)?, v.whole("block"), v.whole("transfer"));
        bounds::divided(("block", block), ("transfer", transfer))?;
        let repetitions = v.positive("repetitions", bounds::REPEATS)?;
        bounds::bytes(&[segments, block, ranks, repetitions])?;
        let (write_ns, gap_ns, read_ns) = (v.nanos("write-time"), v.nanos("gap"), v.nanos("read-time"));
        let parts = match v.word("access") {
            "write" => vec![(Op::Write, 0, write_ns)],
            "read" => vec![(Op::Read, 0, read_ns)],
            _ => vec![(Op::Write, 0, write_ns), (Op::Read, write_ns + gap_ns, read_ns)],
        };
        let busy_ns = parts.last().map_or(0, |(_, after, length)| after + length);
        let job = Job {
            ranks,
            segments,
            block,
            transfer,
            shared: v.word("layout") == "shared",
            random: v.word("order") == "random",
            reorder: v.whole("reorder") % ranks,
            repetitions,
            new_files: v.flag("new-files"),
            start_ns: v.nanos("start"),
            cycle_ns: busy_ns + v.nanos("delay"),
            parts,
            seed,
        };
        bounds::kept(&[job.copies(), ranks])?;
        if job.random && job.repetitions > 1 && !job.new_files {
            bounds::kept(&[job.slots(), ranks, 2])?;
        }
        let end = u128::from(job.start_ns) + u128::from(job.cycle_ns) * u128::from(job.repetitions);
        bounds::run(end, job.parts.iter().map(|p| p.2).min().unwrap_or(0), job.slots())?;
        Ok(job)
    }

    /// Requests of a rank in one part of a repetition.
    fn slots(&self) -> u64 {
        self.segments * (self.block / self.transfer)
    }

    fn copies(&self) -> u64 {
        if self.new_files { self.repetitions } else { 1 }
    }

    fn sharers(&self) -> u64 {
        if self.shared { 1 } else { self.ranks }
    }

    /// The rank whose data a rank accesses.
    fn owner(&self, op: Op, rank: u32) -> u64 {
        let shift = if op == Op::Read { self.reorder } else { 0 };
        (u64::from(rank) + shift) % self.ranks
    }

    fn file(&self, op: Op, rank: u32, k: u64) -> FileId {
        let set = if self.new_files { k * self.sharers() } else { 0 };
        FileId((set + if self.shared { 0 } else { self.owner(op, rank) }) as u32)
    }

    fn offset(&self, op: Op, rank: u32) -> u64 {
        if self.shared { self.owner(op, rank) * self.block } else { 0 }
    }

    fn shape(&self) -> Shape {
        let segment = if self.shared { self.block * self.ranks } else { self.block };
        Shape::of(self.transfer).times(self.block / self.transfer, self.transfer).times(self.segments, segment)
    }

    fn places(&self, op: Op, rank: u32) -> Places {
        if !self.random {
            return Places::Nested(self.offset(op, rank), self.shape());
        }
        let owner = self.owner(op, rank);
        let (slots, first, step, stream) = match self.shared {
            true => (self.slots() * self.ranks, owner, self.ranks, 0),
            false => (self.slots(), 0, 1, owner),
        };
        let order = Shuffle::new(slots, &mut Random::new(self.seed, stream));
        Places::Shuffled { order, first, step, count: self.slots(), size: self.transfer }
    }

    /// When an operation begins and ends in repetition `k`.
    fn span(&self, op: Op, k: u64) -> (u64, u64) {
        let part = self.parts.iter().find(|p| p.0 == op);
        let (after, length) = part.map_or((0, 0), |p| (p.1, p.2));
        let start = self.start_ns + k * self.cycle_ns + after;
        (start, start + length)
    }

    /// In new files a pattern for each repetition, else one through all of them.
    fn patterns(&self, files: &Files) -> Vec<TruePattern> {
        let passes = if self.new_files { 1 } else { self.repetitions };
        let shape = self.shape().times(passes, 0);
        let mut patterns = Vec::new();
        for &(op, _, _) in &self.parts {
            if self.random {
                patterns.extend(self.drawn(op, passes, files));
                continue;
            }
            for rank in 0..self.ranks as u32 {
                let offset = self.offset(op, rank);
                let of_copy = |k| TruePattern::nested(self.place(op, rank, k, files), offset, &shape);
                patterns.extend((0..self.copies()).filter_map(of_copy));
            }
        }
        patterns
    }

    /// What a rank does in a set of files, from the first to the last access.
    fn place<'f>(&self, op: Op, rank: u32, k: u64, files: &'f Files) -> Place<'f> {
        let last = if self.new_files { k } else { self.repetitions - 1 };
        let span_ns = (self.span(op, k).0, self.span(op, last).1);
        let period_s = (last > k).then(|| seconds(self.cycle_ns));
        Place { op, rank, file: files.name(self.file(op, rank, k)), span_ns, period_s }
    }

    /// What the random order is.
    fn drawn(&self, op: Op, passes: u64, files: &Files) -> Vec<TruePattern> {
        if passes == 1 && self.slots() > FEW {
            return Vec::new();
        }
        let mut drawn = Drawn::default();
        for rank in 0..self.ranks as u32 {
            let order = self.order(op, rank);
            for k in 0..self.copies() {
                let time = |i: u64| {
                    let (start, end) = self.span(op, k + i / self.slots());
                    let at =
                        |i: u64| start + (u128::from(end - start) * u128::from(i) / u128::from(self.slots())) as u64;
                    (at(i % self.slots()), at(i % self.slots() + 1))
                };
                drawn.add(self.place(op, rank, k, files), self.transfer, (&order, passes), time);
            }
            if drawn.is_nothing() {
                return Vec::new();
            }
        }
        drawn.patterns()
    }

    /// Places of a rank in random order.
    fn order(&self, op: Op, rank: u32) -> Vec<u64> {
        match self.places(op, rank) {
            Places::Shuffled { order, first, step, count, size } => {
                (0..count).map(|i| order.at(first + i * step) * size).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Slots of which no random order looks like any in practice.
const FEW: u64 = 64;

impl Script for Job {
    fn lanes(&self) -> Vec<Lane<'_>> {
        let lane = |rank: u32| -> Lane<'_> {
            let stretch = move |k: u64, op: Op| {
                let (start_ns, end_ns) = self.span(op, k);
                let (file, places) = (self.file(op, rank, k), self.places(op, rank));
                Stretch { op, rank, file, places, start_ns, length_ns: end_ns - start_ns }
            };
            Box::new((0..self.repetitions).flat_map(move |k| self.parts.iter().map(move |p| stretch(k, p.0))))
        };
        (0..self.ranks as u32).map(lane).collect()
    }
}
