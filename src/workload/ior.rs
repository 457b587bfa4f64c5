//! IOR: every rank writes and reads back blocks of a shared file or of a file of its own.
//!
//! Offsets are those of IOR 4: a file is a row of segments, a segment has a block for each rank, a block is a row of transfers. In
//! random order the slots of the whole file are shuffled and dealt to the ranks, as with `-z`; here every rank gets equally many.
//! Every repetition has the same order.

use super::bounds;
use super::clock::seconds;
use super::nest::Nest;
use super::parameter::{Kind, Parameter, Values};
use super::plan::{Plan, Workload};
use super::program::{Offsets, Program, RankProgram, Segment};
use super::random::{Random, Shuffle};
use super::stated::{Repeat, Stated};
use super::truth::Unpatterned;
use crate::error::Result;
use crate::record::{FileId, Files, Op};

/// The workload.
pub(super) const WORKLOAD: Workload = Workload {
    name: "ior",
    about: "IOR: ranks write and read their blocks of a shared file, or files of their own, in order or at random",
    parameters: PARAMETERS,
    plan,
};

const PARAMETERS: &[Parameter] = &[
    Parameter::new("ranks", Kind::Count, "8", "Ranks"),
    Parameter::new("segments", Kind::Count, "4", "Segments of a file"),
    Parameter::new("block", Kind::Bytes, "1MiB", "Bytes of each rank in a segment"),
    Parameter::new("transfer", Kind::Bytes, "64k", "Bytes of a request, a divisor of --block"),
    Parameter::new("layout", Kind::Choice(&["shared", "per-rank"]), "shared", "One file for all ranks or one per rank"),
    Parameter::new("order", Kind::Choice(&["sequential", "random"]), "sequential", "Order of the requests of a rank"),
    Parameter::new("access", Kind::Choice(&["write-read", "write", "read"]), "write-read", "Operations"),
    Parameter::new("reorder", Kind::Count, "0", "Each rank reads what the rank N places further wrote"),
    Parameter::new("repetitions", Kind::Count, "1", "Repetitions of writing and reading"),
    Parameter::new("new-files", Kind::Flag, "", "New files for each repetition"),
    Parameter::new("start", Kind::Seconds, "1", "Start of the first access, in seconds"),
    Parameter::new("write-time", Kind::Seconds, "1", "Seconds that writing takes"),
    Parameter::new("gap", Kind::Seconds, "0.1", "Seconds between writing and reading"),
    Parameter::new("read-time", Kind::Seconds, "0.5", "Seconds that reading takes"),
    Parameter::new("delay", Kind::Seconds, "3", "Seconds between repetitions"),
];

fn plan(v: &Values, seed: u64) -> Result<Plan> {
    let job = Job::new(v, seed)?;
    let mut files = Files::default();
    for k in 0..job.copies() {
        for r in 0..job.sharers() {
            let copy = if job.new_files { format!(".{k}") } else { String::new() };
            let rank = if job.shared { String::new() } else { format!(".{r:08}") };
            files.intern(&format!("/scratch/ior/testfile{rank}{copy}"));
        }
    }
    let mut stated = Stated::default();
    let bytes = job.slots() * job.transfer * job.ranks;
    for &(op, _, _) in &job.parts {
        let spans_ns: Vec<_> = (0..job.repetitions).map(|k| job.span(op, k)).collect();
        stated.bursts(op, &spans_ns, bytes, Some(seconds(job.cycle_ns)));
        if job.random {
            stated.unpatterned.extend(files.iter().map(|(_, file)| job.random_order(op, file)));
            continue;
        }
        let around = Repeat { count: job.repetitions / job.copies(), bytes: 0, ns: job.cycle_ns };
        for rank in 0..job.ranks as u32 {
            (0..job.copies()).for_each(|k| stated.segment(&files, job.segment(op, rank, k), around));
        }
    }
    Ok(Plan { ranks: job.ranks, files, stated, program: Box::new(job) })
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
    /// From the start of a repetition to the start of the next.
    cycle_ns: u64,
    /// Parts of a repetition: operation, start within the repetition, and duration.
    parts: Vec<(Op, u64, u64)>,
    seed: u64,
}

impl Job {
    fn new(v: &Values, seed: u64) -> Result<Job> {
        let (write_ns, gap_ns, read_ns) = (v.nanos("write-time"), v.nanos("gap"), v.nanos("read-time"));
        let parts = match v.word("access") {
            "write" => vec![(Op::Write, 0, write_ns)],
            "read" => vec![(Op::Read, 0, read_ns)],
            _ => vec![(Op::Write, 0, write_ns), (Op::Read, write_ns + gap_ns, read_ns)],
        };
        let busy_ns = parts.last().map_or(0, |(_, after, length)| after + length);
        let ranks = v.positive("ranks", bounds::RANKS)?;
        let job = Job {
            ranks,
            segments: v.positive("segments", bounds::REPEATS)?,
            block: v.whole("block"),
            transfer: v.whole("transfer"),
            shared: v.word("layout") == "shared",
            random: v.word("order") == "random",
            reorder: v.whole("reorder") % ranks,
            repetitions: v.positive("repetitions", bounds::REPEATS)?,
            new_files: v.flag("new-files"),
            start_ns: v.nanos("start"),
            cycle_ns: busy_ns + v.nanos("delay"),
            parts,
            seed,
        };
        bounds::divided(("block", job.block), ("transfer", job.transfer))?;
        bounds::bytes(&[job.segments, job.block, ranks, job.repetitions])?;
        bounds::kept(&[job.copies(), ranks])?;
        let end = u128::from(job.start_ns) + u128::from(job.cycle_ns) * u128::from(job.repetitions);
        bounds::run(end, job.parts.iter().map(|p| p.2).min().unwrap_or(0), job.slots())?;
        Ok(job)
    }

    /// Requests of a rank in a part of a repetition.
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

    fn offsets(&self, op: Op, rank: u32) -> Offsets {
        let owner = self.owner(op, rank);
        if self.random {
            let (slots, first, step, stream) = match self.shared {
                true => (self.slots() * self.ranks, owner, self.ranks, 0),
                false => (self.slots(), 0, 1, owner),
            };
            let order = Shuffle::new(slots, &mut Random::new(self.seed, stream));
            return Offsets::Shuffled { order, first, step, count: self.slots(), size: self.transfer };
        }
        let (start, segment) =
            if self.shared { (owner * self.block, self.block * self.ranks) } else { (0, self.block) };
        let block = Nest::access(start, self.transfer).repeated(self.block / self.transfer, self.transfer);
        Offsets::Nest(block.repeated(self.segments, segment))
    }

    fn segment(&self, op: Op, rank: u32, k: u64) -> Segment {
        let (file, offsets) = (self.file(op, rank, k), self.offsets(op, rank));
        Segment { op, rank, file, offsets, span_ns: self.span(op, k) }
    }

    /// The accesses of one operation to one file, of all ranks and repetitions.
    fn random_order(&self, op: Op, file: &str) -> Unpatterned {
        let (places, repeats) = (self.slots() * self.ranks / self.sharers(), self.repetitions / self.copies());
        let records = places * repeats;
        let once = Unpatterned::random(op, file, records, records * self.transfer, places);
        Unpatterned { unit: Some(self.transfer), repeats, ..once }
    }

    /// Start and end of an operation in repetition `k`.
    fn span(&self, op: Op, k: u64) -> (u64, u64) {
        let part = self.parts.iter().find(|p| p.0 == op);
        let (after, length) = part.map_or((0, 0), |p| (p.1, p.2));
        let start = self.start_ns + k * self.cycle_ns + after;
        (start, start + length)
    }
}

impl Program for Job {
    fn ranks(&self) -> Vec<RankProgram<'_>> {
        let program = |rank: u32| -> RankProgram<'_> {
            let repetition = move |k: u64| self.parts.iter().map(move |part| self.segment(part.0, rank, k));
            Box::new((0..self.repetitions).flat_map(repetition))
        };
        (0..self.ranks as u32).map(program).collect()
    }
}
