//! h5bench's metadata stress: a four-dimensional dataset of many small arrays, written and read back over a grid of processes.
//!
//! The dataset has the dimensions steps, arrays, rows, columns. The grid divides rows and columns, so that a rank has some columns
//! of some rows of every array: one call an array, which becomes a request for each of its rows (fewer where rows lie back to
//! back).

use super::super::parameter::{Kind, Parameter, Values};
use super::super::shape::Shape;
use super::super::stretch::{Lane, Places, Script, Stretch, seconds};
use super::super::truth::{Bursts, Phase, Place, TruePattern};
use super::super::{Plan, Workload, bounds};
use crate::error::Result;
use crate::record::{FileId, Files, Op};

/// The workload.
pub(in super::super) struct Metadata;

const PARAMETERS: &[Parameter] = &[
    Parameter::new("steps", Kind::Count, "10", "Time steps"),
    Parameter::new("arrays", Kind::Count, "25", "Arrays of a step"),
    Parameter::new("rows", Kind::Count, "64", "Rows of an array; a multiple of process-rows"),
    Parameter::new("columns", Kind::Count, "64", "Columns of an array; a multiple of process-columns"),
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

impl Workload for Metadata {
    fn name(&self) -> &'static str {
        "h5bench-metadata"
    }

    fn about(&self) -> &'static str {
        "h5bench metadata stress: many small arrays of a 4-D dataset over a grid of processes, written, then read"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn plan(&self, v: &Values, _seed: u64) -> Result<Plan> {
        let job = Job::new(v)?;
        let mut files = Files::default();
        files.intern("/scratch/h5bench/iotest.h5");
        let mut patterns = Vec::new();
        for rank in 0..job.ranks as u32 {
            for op in [Op::Write, Op::Read] {
                let (from, to) = (job.step_start(op, 0), job.step_start(op, job.steps - 1) + job.busy_ns(op));
                let period_s = (job.steps > 1).then(|| seconds(job.cycle_ns(op)));
                let place = Place { op, rank, file: files.name(FileId(0)), span_ns: (from, to), period_s };
                let shape = job.step_shape().times(job.steps, job.arrays * job.array);
                patterns.extend(TruePattern::nested(place, job.offset(rank), &shape));
            }
        }
        let (mut periods, mut phases) = (Vec::new(), Vec::new());
        let bytes = job.arrays * job.array;
        for op in [Op::Write, Op::Read] {
            let span = |s| (job.step_start(op, s), job.step_start(op, s) + job.busy_ns(op));
            let spans_ns: Vec<_> = (0..job.steps).map(span).collect();
            phases.extend(spans_ns.iter().map(|s| Phase::of(op, *s, bytes)));
            let bursts = Bursts { spans_ns, bytes: bytes * job.steps };
            periods.extend(bursts.period(op, Some(seconds(job.cycle_ns(op)))));
        }
        Ok(Plan { ranks: job.ranks, files, periods, phases, patterns, script: Box::new(job) })
    }
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
        bounds::run(end, job.write_ns.min(job.read_ns), job.step_shape().count())?;
        Ok(job)
    }

    fn busy_ns(&self, op: Op) -> u64 {
        if op == Op::Write { self.write_ns } else { self.read_ns }
    }

    fn cycle_ns(&self, op: Op) -> u64 {
        self.busy_ns(op) + self.compute_ns
    }

    fn step_start(&self, op: Op, step: u64) -> u64 {
        let first = match op {
            Op::Write => self.start_ns,
            _ => self.start_ns + self.steps * self.cycle_ns(Op::Write) - self.compute_ns + self.pause_ns,
        };
        first + step * self.cycle_ns(op)
    }

    /// What a rank does in a step: one call an array, whose requests the library joins where they lie back to back.
    fn step_shape(&self) -> Shape {
        let call = Shape::of(self.element).times(self.columns, self.element).times(self.rows, self.row).coalesced();
        call.times(self.arrays, self.array)
    }

    fn offset(&self, rank: u32) -> u64 {
        let (r, c) = (u64::from(rank) / self.grid_columns, u64::from(rank) % self.grid_columns);
        self.header + r * self.rows * self.row + c * self.columns * self.element
    }
}

impl Script for Job {
    fn lanes(&self) -> Vec<Lane<'_>> {
        let stretch = move |rank: u32, op: Op, step: u64| Stretch {
            op,
            rank,
            file: FileId(0),
            places: Places::Nested(self.offset(rank) + step * self.arrays * self.array, self.step_shape()),
            start_ns: self.step_start(op, step),
            length_ns: self.busy_ns(op),
        };
        let steps = move |rank, op| (0..self.steps).map(move |s| stretch(rank, op, s));
        let lane = |rank| -> Lane<'_> { Box::new(steps(rank, Op::Write).chain(steps(rank, Op::Read))) };
        (0..self.ranks as u32).map(lane).collect()
    }
}
