//! h5bench's exerciser: create a file, write a dataset of one to four dimensions, close, open again, read and check. This repeats
//! several times for each of several growing sizes, always in the same file.
//!
//! The ranks form a grid. In each dimension a rank selects blocks of elements at a stride; adjacent bytes of the selection are one
//! request. If the buffer in memory has holes as well, a request is no longer than a block there.

use super::super::bounds;
use super::super::clock::seconds;
use super::super::nest::Nest;
use super::super::parameter::{Kind, Parameter, Values};
use super::super::plan::{Plan, Workload};
use super::super::program::{Program, RankProgram, Segment};
use super::super::stated::{Repeat, Stated, phase};
use super::aggregators::Aggregators;
use crate::error::Result;
use crate::record::{FileId, Files, Op};

/// The workload.
pub(in super::super) const WORKLOAD: Workload = Workload {
    name: "h5bench-exerciser",
    about: "h5bench exerciser: repeatedly create, write, close, open, read and check datasets of 1 to 4 dimensions",
    parameters: PARAMETERS,
    plan,
};

const PARAMETERS: &[Parameter] = &[
    Parameter::new("elements", Kind::Extents, "8,8", "Elements of a rank in each dimension, at the first size"),
    Parameter::new("grid", Kind::Extents, "2,2", "Ranks in each dimension"),
    Parameter::new("growth", Kind::Extents, "2", "Factor from one size to the next, per dimension or for all"),
    Parameter::new("sizes", Kind::Count, "3", "Number of sizes"),
    Parameter::new("repeats", Kind::Count, "10", "Repetitions of each size"),
    Parameter::new("file-block", Kind::Extents, "1", "Elements of a block in the file, per dimension or for all"),
    Parameter::new(
        "file-stride",
        Kind::Extents,
        "1",
        "Elements from block to block in the file, per dimension or for all",
    ),
    Parameter::new("memory-block", Kind::Count, "1", "Elements of a block in memory"),
    Parameter::new("memory-stride", Kind::Count, "1", "Elements from block to block in memory"),
    Parameter::new("attributes", Kind::Count, "0", "Attributes that rank 0 writes before the dataset"),
    Parameter::new("attribute-size", Kind::Bytes, "64", "Bytes of an attribute"),
    Parameter::new("derived", Kind::Flag, "", "Write and read a second dataset, of structures of eight values"),
    Parameter::new("aggregators", Kind::Count, "0", "Ranks that write and read for all; 0: each for itself"),
    Parameter::new("header", Kind::Bytes, "2104", "Bytes before the attributes and datasets"),
    Parameter::new("start", Kind::Seconds, "1", "Start of the first repetition, in seconds"),
    Parameter::new("create-time", Kind::Seconds, "0.1", "Seconds that creating takes, with all attributes"),
    Parameter::new("write-time", Kind::Seconds, "0.2", "Seconds that writing takes"),
    Parameter::new("reopen-time", Kind::Seconds, "0.3", "Seconds from the end of writing to the start of reading"),
    Parameter::new("read-time", Kind::Seconds, "0.2", "Seconds that reading takes"),
    Parameter::new("close-time", Kind::Seconds, "0.2", "Seconds from the end of reading to the next repetition"),
];

/// Bytes of an element of the dataset, and of the derived dataset.
const ELEMENTS: [u64; 2] = [8, 64];
/// The only file.
const FILE: FileId = FileId(0);
/// Bytes that rank 0 writes at the start of a new file.
const SUPERBLOCK: u64 = 96;

fn plan(v: &Values, _seed: u64) -> Result<Plan> {
    let job = Job::new(v)?;
    let mut files = Files::default();
    files.intern("/scratch/h5bench/hdf5TestFile");
    let mut stated = Stated::default();
    for op in [Op::Write, Op::Read] {
        let spans_ns: Vec<_> = job.all().map(|(size, repeat)| job.span(op, size, repeat)).collect();
        let bytes: Vec<u64> = job.all().map(|(size, _)| job.bytes(op, size)).collect();
        stated.phases.extend(spans_ns.iter().zip(&bytes).map(|(span, bytes)| phase(op, *span, *bytes)));
        stated.period(op, &spans_ns, bytes.iter().sum(), Some(seconds(job.cycle_ns)));
    }
    for rank in 0..job.ranks() as u32 {
        job.state_loops(rank, &files, &mut stated);
    }
    Ok(Plan { ranks: job.ranks(), files, stated, program: Box::new(job) })
}

/// A dimension.
#[derive(Clone, Copy)]
struct Axis {
    elements: u64,
    ranks: u64,
    growth: u64,
    block: u64,
    stride: u64,
}

impl Axis {
    /// Elements of the file from the first to the last of a rank, with holes.
    fn reach(&self, size: u64) -> u64 {
        self.elements * self.growth.pow(size as u32) / self.block * self.stride
    }
}

struct Job {
    axes: Vec<Axis>,
    sizes: u64,
    repeats: u64,
    /// Elements of the longest request, if memory has holes.
    memory_block: Option<u64>,
    attributes: u64,
    attribute_size: u64,
    datasets: usize,
    aggregators: Option<Aggregators>,
    header: u64,
    start_ns: u64,
    create_ns: u64,
    write_ns: u64,
    read_ns: u64,
    read_after_ns: u64,
    cycle_ns: u64,
}

impl Job {
    fn new(v: &Values) -> Result<Job> {
        let (sizes, repeats) = (v.positive("sizes", 32)?, v.positive("repeats", bounds::REPEATS)?);
        let axes = axes(v)?;
        let most: Vec<u64> = axes.iter().flat_map(|a| [a.elements, a.ranks, a.stride]).collect();
        let growth =
            axes.iter().fold(1u128, |g, a| g.saturating_mul(u128::from(a.growth).saturating_pow(sizes as u32 - 1)));
        let growth = u64::try_from(growth).unwrap_or(u64::MAX);
        bounds::bytes(&[&most[..], &[growth, 128, sizes, repeats]].concat())?;
        let ranks: u64 = axes.iter().map(|a| a.ranks).product();
        bounds::kept(&[ranks, sizes, 8])?;
        bounds::kept(&[sizes, repeats])?;
        let (block, stride) = (v.positive("memory-block", 1 << 40)?, v.positive("memory-stride", 1 << 40)?);
        reaches(("memory-stride", stride), ("memory-block", block))?;
        let (write_ns, reopen_ns) = (v.nanos("write-time"), v.nanos("reopen-time"));
        let (create_ns, read_ns) = (v.nanos("create-time"), v.nanos("read-time"));
        let read_after_ns = create_ns + write_ns + reopen_ns;
        let job = Job {
            axes,
            sizes,
            repeats,
            memory_block: (stride > block).then_some(block),
            attributes: v.whole("attributes"),
            attribute_size: v.positive("attribute-size", 1 << 30)?,
            datasets: 1 + usize::from(v.flag("derived")),
            aggregators: match v.whole("aggregators") {
                0 => None,
                n => Some(Aggregators::new(n, ranks)?),
            },
            header: v.whole("header").clamp(SUPERBLOCK, 1 << 40),
            start_ns: v.nanos("start"),
            create_ns,
            write_ns,
            read_ns,
            read_after_ns,
            cycle_ns: read_after_ns + read_ns + v.nanos("close-time"),
        };
        bounds::bytes(&[job.attributes, job.attribute_size, sizes, repeats])?;
        let end = u128::from(job.start_ns) + u128::from(job.cycle_ns) * u128::from(sizes * repeats);
        bounds::run(end, create_ns, job.attributes + 1)?;
        for size in 0..sizes {
            let mut most = 1;
            for (dataset, element) in ELEMENTS.iter().enumerate().take(job.datasets) {
                let request = job.request(size, dataset);
                match (job.aggregators, job.memory_block) {
                    (Some(a), _) => a.check(job.dataset_bytes(size, dataset))?,
                    (None, Some(block)) => {
                        let block = block.saturating_mul(*element).min(request.size);
                        bounds::divided(("bytes of a request", request.size), ("bytes of a memory block", block))?;
                    }
                    _ => {}
                }
                most = most.max(job.part(0, size, dataset).map_or(0, |part| part.records()) * 2);
            }
            bounds::run(end, write_ns.min(read_ns), most)?;
        }
        Ok(job)
    }

    fn ranks(&self) -> u64 {
        self.axes.iter().map(|a| a.ranks).product()
    }

    fn dataset_bytes(&self, size: u64, dataset: usize) -> u64 {
        self.axes.iter().map(|a| a.ranks * a.reach(size)).product::<u64>() * ELEMENTS[dataset]
    }

    fn dataset_start(&self, size: u64, dataset: usize) -> u64 {
        let before: u64 = (0..dataset).map(|d| self.dataset_bytes(size, d)).sum();
        self.header + self.attributes * self.attribute_size + before
    }

    /// The selection of the first rank in the fewest requests, from the start of the dataset.
    fn request(&self, size: u64, dataset: usize) -> Nest {
        let mut nest = Nest::access(0, ELEMENTS[dataset]);
        let mut unit = ELEMENTS[dataset];
        for a in self.axes.iter().rev() {
            let blocks = a.reach(size) / a.stride;
            nest = nest.repeated(a.block, unit).repeated(blocks, a.stride * unit);
            unit *= a.ranks * a.reach(size);
        }
        nest.coalesced()
    }

    /// The accesses of a rank from the start of a dataset.
    fn part(&self, rank: u32, size: u64, dataset: usize) -> Option<Nest> {
        if let Some(a) = self.aggregators {
            return a.part(rank, self.dataset_bytes(size, dataset));
        }
        let (mut offset, mut unit, mut rest) = (0, ELEMENTS[dataset], u64::from(rank));
        for a in self.axes.iter().rev() {
            offset += rest % a.ranks * a.reach(size) * unit;
            rest /= a.ranks;
            unit *= a.ranks * a.reach(size);
        }
        let request = self.request(size, dataset).shifted(offset);
        Some(match self.memory_block {
            Some(block) => request.split(block.saturating_mul(ELEMENTS[dataset])),
            None => request,
        })
    }

    /// Bytes of all ranks in the datasets.
    fn bytes(&self, op: Op, size: u64) -> u64 {
        let datasets = 0..self.datasets;
        let data = match self.aggregators {
            Some(_) => datasets.map(|d| self.dataset_bytes(size, d)).sum(),
            None => self.ranks() * datasets.filter_map(|d| self.part(0, size, d)).map(|part| part.bytes()).sum::<u64>(),
        };
        data + if op == Op::Write { SUPERBLOCK + self.attributes * self.attribute_size } else { 0 }
    }

    /// All repetitions: number of the size, and of the repetition of this size.
    fn all(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (0..self.sizes).flat_map(|size| (0..self.repeats).map(move |repeat| (size, repeat)))
    }

    fn begin(&self, size: u64, repeat: u64) -> u64 {
        self.start_ns + (size * self.repeats + repeat) * self.cycle_ns
    }

    /// The burst of an operation in a repetition. Writing begins with the creation of the file.
    fn span(&self, op: Op, size: u64, repeat: u64) -> (u64, u64) {
        let begin = self.begin(size, repeat);
        match op {
            Op::Write => (begin, begin + self.create_ns + self.write_ns),
            _ => (begin + self.read_after_ns, begin + self.read_after_ns + self.read_ns),
        }
    }

    /// Rank 0 creates the file in the repetition that begins at `begin`: superblock and attributes.
    fn create(&self, begin: u64) -> [Segment; 2] {
        let first = begin + self.create_ns / (self.attributes + 1);
        let attributes = Nest::access(self.header, self.attribute_size).repeated(self.attributes, self.attribute_size);
        [
            Segment::nest(Op::Write, 0, FILE, Nest::access(0, SUPERBLOCK), (begin, first)),
            Segment::nest(Op::Write, 0, FILE, attributes, (first, begin + self.create_ns)),
        ]
    }

    /// A rank writes and reads its part of all datasets in the repetition that begins at `begin`.
    fn transfer(&self, rank: u32, size: u64, begin: u64) -> Vec<Segment> {
        let bursts = [(Op::Write, self.create_ns, self.write_ns), (Op::Read, self.read_after_ns, self.read_ns)];
        let part = |(op, after, length): (Op, u64, u64), d: usize| {
            let time = |d: usize| begin + after + length * d as u64 / self.datasets as u64;
            let nest = self.part(rank, size, d)?.shifted(self.dataset_start(size, d));
            Some(Segment::nest(op, rank, FILE, nest, (time(d), time(d + 1))))
        };
        bursts.into_iter().flat_map(|burst| (0..self.datasets).filter_map(move |d| part(burst, d))).collect()
    }

    /// States the loops of a rank. Repetitions of one size are equal; repetitions of all sizes create the file alike.
    fn state_loops(&self, rank: u32, files: &Files, stated: &mut Stated) {
        let repeat = |count| Repeat { count, bytes: 0, ns: self.cycle_ns };
        if rank == 0 {
            let create = self.create(self.start_ns).into_iter();
            create.for_each(|s| stated.segment(files, s, repeat(self.sizes * self.repeats)));
        }
        for size in 0..self.sizes {
            let transfer = self.transfer(rank, size, self.begin(size, 0)).into_iter();
            transfer.for_each(|s| stated.segment(files, s, repeat(self.repeats)));
        }
    }
}

/// Fails if blocks overlap.
fn reaches(stride: (&str, u64), block: (&str, u64)) -> Result<()> {
    if stride.1 < block.1 {
        let found = format!("{} {} and {} {}", block.0, block.1, stride.0, stride.1);
        return bounds::usage(found, "a stride no shorter than the block");
    }
    Ok(())
}

/// The dimensions, checked.
fn axes(v: &Values) -> Result<Vec<Axis>> {
    let elements = v.extents("elements");
    let n = elements.len();
    let each = |name: &str| -> Result<Vec<u64>> {
        match v.extents(name) {
            one if one.len() == 1 => Ok(vec![one[0]; n]),
            all if all.len() == n => Ok(all),
            other => {
                let found = format!("{} values of {name} for {n} dimensions", other.len());
                bounds::usage(found, "one for each dimension, or one for all")
            }
        }
    };
    let (grid, growth) = (each("grid")?, each("growth")?);
    let (blocks, strides) = (each("file-block")?, each("file-stride")?);
    let mut axes = Vec::new();
    for d in 0..n {
        let a = Axis { elements: elements[d], ranks: grid[d], growth: growth[d], block: blocks[d], stride: strides[d] };
        bounds::divided(("elements", a.elements), ("file-block", a.block))?;
        reaches(("file-stride", a.stride), ("file-block", a.block))?;
        axes.push(a);
    }
    Ok(axes)
}

impl Program for Job {
    fn ranks(&self) -> Vec<RankProgram<'_>> {
        let repetition = move |rank: u32, size: u64, begin: u64| {
            let create = if rank == 0 { self.create(begin).to_vec() } else { Vec::new() };
            create.into_iter().chain(self.transfer(rank, size, begin))
        };
        let program = |rank: u32| -> RankProgram<'_> {
            Box::new(self.all().flat_map(move |(size, repeat)| repetition(rank, size, self.begin(size, repeat))))
        };
        (0..self.ranks() as u32).map(program).collect()
    }
}
