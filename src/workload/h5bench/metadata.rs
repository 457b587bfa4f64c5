//! h5bench's metadata stress: a four-dimensional dataset of many small arrays, written and read back over a grid of processes.
//!
//! The dataset has the dimensions steps, arrays, rows, columns. The grid divides rows and columns, so that a rank has some columns
//! of some rows of every array. It makes one call for each array, which becomes a request for each of its rows, or fewer where
//! rows are adjacent.

use super::super::bounds;
use super::super::clock::seconds;
use super::super::nest::Nest;
use super::super::parameter::{Kind, Parameter, Values};
use super::super::plan::{Plan, Workload};
use super::super::program::{Program, RankProgram, Segment};
use super::super::stated::{Repeat, Stated};
use crate::error::Result;
use crate::record::{FileId, Files, Op};

/// The workload.
pub(in super::super) const WORKLOAD: Workload = Workload {
    name: "h5bench-metadata",
    about: "h5bench metadata stress: many small arrays of a 4-D dataset over a grid of processes, written, then read",
    parameters: PARAMETERS,
    plan,
};

const PARAMETERS: &[Parameter] = &[
    Parameter::new("steps", Kind::Count, "10", "Time steps"),
    Parameter::new("arrays", Kind::Count, "25", "Arrays of a step"),
    Parameter::new("rows", Kind::Count, "64", "Rows of an array, a multiple of --process-rows"),
    Parameter::new("columns", Kind::Count, "64", "Columns of an array, a multiple of --process-columns"),
    Parameter::new("process-rows", Kind::Count, "2", "Ranks along the rows"),
    Parameter::new("process-columns", Kind::Count, "2", "Ranks along the columns"),
    Parameter::new("element", Kind::Bytes, "8", "Bytes of an element"),
    Parameter::new("header", Kind::Bytes, "2104", "Bytes before the dataset"),
    Parameter::new("start", Kind::Seconds, "1", "Start of the first step, in seconds"),
    Parameter::new("write-time", Kind::Seconds, "0.1", "Seconds that writing a step takes"),
    Parameter::new("read-time", Kind::Seconds, "0.1", "Seconds that reading a step takes"),
    Parameter::new("compute", Kind::Seconds, "0.4", "Seconds between steps"),
    Parameter::new("pause", Kind::Seconds, "1", "Seconds between the end of writing and the start of reading"),
];

fn plan(v: &Values, _seed: u64) -> Result<Plan> {
    let job = Job::new(v)?;
    let mut files = Files::default();
    files.intern("/scratch/h5bench/iotest.h5");
    let mut stated = Stated::default();
    for op in [Op::Write, Op::Read] {
        let spans_ns: Vec<_> = (0..job.steps).map(|step| job.span(op, step)).collect();
        stated.bursts(op, &spans_ns, job.step_bytes(), Some(seconds(job.cycle_ns(op))));
        let around = Repeat { count: job.steps, bytes: job.step_bytes(), ns: job.cycle_ns(op) };
        (0..job.ranks as u32).for_each(|rank| stated.segment(&files, job.segment(rank, op, 0), around));
    }
    Ok(Plan { ranks: job.ranks, files, stated, program: Box::new(job) })
}

struct Job {
    ranks: u64,
    grid_columns: u64,
    steps: u64,
    arrays: u64,
    /// Rows and columns of a rank.
    rows: u64,
    columns: u64,
    /// Bytes of a row of an array, and of an array.
    row: u64,
    array: u64,
    element: u64,
    header: u64,
    start_ns: u64,
    write_ns: u64,
    read_ns: u64,
    compute_ns: u64,
    pause_ns: u64,
}

impl Job {
    fn new(v: &Values) -> Result<Job> {
        let (steps, arrays) = (v.positive("steps", bounds::REPEATS)?, v.positive("arrays", bounds::REPEATS)?);
        let (grid_rows, grid_columns) =
            (v.positive("process-rows", bounds::RANKS)?, v.positive("process-columns", bounds::RANKS)?);
        let element = v.positive("element", 1 << 30)?;
        let (rows, columns) = (v.whole("rows"), v.whole("columns"));
        bounds::bytes(&[steps, arrays, rows, columns, element, 2])?;
        bounds::kept(&[grid_rows, grid_columns])?;
        let job = Job {
            ranks: grid_rows * grid_columns,
            grid_columns,
            steps,
            arrays,
            rows: bounds::divided(("rows", rows), ("process-rows", grid_rows))?,
            columns: bounds::divided(("columns", columns), ("process-columns", grid_columns))?,
            row: columns * element,
            array: rows * columns * element,
            element,
            header: v.whole("header").min(1 << 40),
            start_ns: v.nanos("start"),
            write_ns: v.nanos("write-time"),
            read_ns: v.nanos("read-time"),
            compute_ns: v.nanos("compute"),
            pause_ns: v.nanos("pause"),
        };
        let step = job.cycle_ns(Op::Write) + job.cycle_ns(Op::Read);
        let end = u128::from(job.start_ns + job.pause_ns) + u128::from(steps) * u128::from(step);
        bounds::run(end, job.write_ns.min(job.read_ns), job.accesses(0).records())?;
        Ok(job)
    }

    fn busy_ns(&self, op: Op) -> u64 {
        if op == Op::Write { self.write_ns } else { self.read_ns }
    }

    fn cycle_ns(&self, op: Op) -> u64 {
        self.busy_ns(op) + self.compute_ns
    }

    /// Start and end of a step.
    fn span(&self, op: Op, step: u64) -> (u64, u64) {
        let first = match op {
            Op::Write => self.start_ns,
            _ => self.start_ns + self.steps * self.cycle_ns(Op::Write) - self.compute_ns + self.pause_ns,
        };
        let start = first + step * self.cycle_ns(op);
        (start, start + self.busy_ns(op))
    }

    fn step_bytes(&self) -> u64 {
        self.arrays * self.array
    }

    /// The accesses of a rank in the first step: one call for each array. The library merges those requests of a call that are
    /// adjacent.
    fn accesses(&self, rank: u32) -> Nest {
        let (r, c) = (u64::from(rank) / self.grid_columns, u64::from(rank) % self.grid_columns);
        let start = self.header + r * self.rows * self.row + c * self.columns * self.element;
        let block =
            Nest::access(start, self.element).repeated(self.columns, self.element).repeated(self.rows, self.row);
        block.coalesced().repeated(self.arrays, self.array)
    }

    fn segment(&self, rank: u32, op: Op, step: u64) -> Segment {
        let nest = self.accesses(rank).shifted(step * self.step_bytes());
        Segment::nest(op, rank, FileId(0), nest, self.span(op, step))
    }
}

impl Program for Job {
    fn ranks(&self) -> Vec<RankProgram<'_>> {
        let steps = move |rank, op| (0..self.steps).map(move |step| self.segment(rank, op, step));
        let program = |rank| -> RankProgram<'_> { Box::new(steps(rank, Op::Write).chain(steps(rank, Op::Read))) };
        (0..self.ranks as u32).map(program).collect()
    }
}
