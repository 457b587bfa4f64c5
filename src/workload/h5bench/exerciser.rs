//! h5bench's exerciser: create a file, write a dataset of one to four dimensions, close, open again, read and check; over and over,
//! with growing sizes.
//!
//! The ranks form a grid. In each dimension a rank selects blocks of elements of the file a stride apart; what lies back to back in
//! the selection is one request. If its buffer in memory has holes, too, a request is no longer than a block there.

use std::collections::BTreeMap;

use super::super::parameter::{Kind, Parameter, Values};
use super::super::shape::Shape;
use super::super::stretch::{Lane, Places, Script, Stretch, seconds};
use super::super::truth::{Bursts, Phase, Place, TruePattern};
use super::super::{Plan, Workload, bounds};
use super::Aggregators;
use super::rounds::{self, Part, Round, Run, Told};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{FileId, Files, Op};

/// The workload.
pub(in super::super) struct Exerciser;

const PARAMETERS: &[Parameter] = &[
    Parameter::new("elements", Kind::Extents, "8,8", "Elements of a rank in each dimension, at first"),
    Parameter::new("grid", Kind::Extents, "2,2", "Ranks in each dimension"),
    Parameter::new("growth", Kind::Extents, "2", "Factor from one size to the next, for each dimension or for all"),
    Parameter::new("sizes", Kind::Count, "3", "Sizes"),
    Parameter::new("repeats", Kind::Count, "10", "Repetitions of each size"),
    Parameter::new("file-block", Kind::Extents, "1", "Elements of a block of the file, for each dimension or for all"),
    Parameter::new("file-stride", Kind::Extents, "1", "Elements from block to block of the file, likewise"),
    Parameter::new("memory-block", Kind::Count, "1", "Elements of a block in memory"),
    Parameter::new("memory-stride", Kind::Count, "1", "Elements from block to block in memory"),
    Parameter::new("attributes", Kind::Count, "0", "Attributes that rank 0 writes before the dataset"),
    Parameter::new("attribute-size", Kind::Bytes, "64", "Bytes of one of them"),
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

/// Bytes of an element, and of one of the derived dataset.
const ELEMENTS: [u64; 2] = [8, 64];
/// Bytes that rank 0 writes at the start of a new file.
const SUPERBLOCK: u64 = 96;

impl Workload for Exerciser {
    fn name(&self) -> &'static str {
        "h5bench-exerciser"
    }

    fn about(&self) -> &'static str {
        "h5bench exerciser: create, write, close, open, read and check datasets of 1 to 4 dimensions, over and over"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn plan(&self, v: &Values, _seed: u64) -> Result<Plan> {
        let job = Job::new(v)?;
        let mut files = Files::default();
        files.intern("/scratch/h5bench/hdf5TestFile");
        let patterns = (0..job.ranks() as u32).flat_map(|rank| job.patterns(rank, &files)).collect();
        let (mut periods, mut phases) = (Vec::new(), Vec::new());
        for op in [Op::Write, Op::Read] {
            let mut bursts = Bursts::default();
            for (size, repeat) in job.all() {
                let span = job.span(op, size, repeat);
                let bytes = job.bytes(op, size);
                phases.push(Phase::of(op, span, bytes));
                bursts.spans_ns.push(span);
                bursts.bytes += bytes;
            }
            periods.extend(bursts.period(op, Some(seconds(job.cycle_ns))));
        }
        Ok(Plan { ranks: job.ranks(), files, periods, phases, patterns, script: Box::new(job) })
    }
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
    /// Elements of the file that belong to a rank, holes too.
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
        if stride < block {
            return Err(Error::new(ErrorKind::Usage, format!("memory-block {block} and memory-stride {stride}"))
                .expected("a stride no shorter than the block"));
        }
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
                most = most.max(job.part(0, size, dataset).map_or(0, |(_, shape)| shape.count()) * 2);
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

    /// The selection of a rank, in as few requests as it takes.
    fn request(&self, size: u64, dataset: usize) -> Shape {
        let mut shape = Shape::of(ELEMENTS[dataset]);
        let mut unit = ELEMENTS[dataset];
        for a in self.axes.iter().rev() {
            let blocks = a.reach(size) / a.stride;
            shape = shape.times(a.block, unit).times(blocks, a.stride * unit);
            unit *= a.ranks * a.reach(size);
        }
        shape.coalesced()
    }

    /// Where a rank begins in a dataset, and what it does there.
    fn part(&self, rank: u32, size: u64, dataset: usize) -> Option<(u64, Shape)> {
        if let Some(a) = self.aggregators {
            return a.part(rank, self.dataset_bytes(size, dataset));
        }
        let (mut offset, mut unit, mut rest) = (0, ELEMENTS[dataset], u64::from(rank));
        for a in self.axes.iter().rev() {
            offset += rest % a.ranks * a.reach(size) * unit;
            rest /= a.ranks;
            unit *= a.ranks * a.reach(size);
        }
        let shape = self.request(size, dataset);
        Some((offset, self.memory_block.map_or(shape.clone(), |b| shape.cut(b.saturating_mul(ELEMENTS[dataset])))))
    }

    /// Bytes of all ranks in the datasets.
    fn bytes(&self, op: Op, size: u64) -> u64 {
        let of_rank = |rank| {
            let part = |d| self.part(rank, size, d).map_or(0, |(_, shape)| shape.size * shape.count());
            (0..self.datasets).map(part).sum::<u64>()
        };
        let data: u64 = match self.aggregators {
            Some(_) => (0..self.datasets).map(|d| self.dataset_bytes(size, d)).sum(),
            None => of_rank(0) * self.ranks(),
        };
        data + if op == Op::Write { SUPERBLOCK + self.attributes * self.attribute_size } else { 0 }
    }

    /// All repetitions: size and number.
    fn all(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (0..self.sizes).flat_map(|size| (0..self.repeats).map(move |repeat| (size, repeat)))
    }

    fn begin(&self, size: u64, repeat: u64) -> u64 {
        self.start_ns + (size * self.repeats + repeat) * self.cycle_ns
    }

    /// The burst of an operation in a repetition; writing begins with creating.
    fn span(&self, op: Op, size: u64, repeat: u64) -> (u64, u64) {
        let begin = self.begin(size, repeat);
        match op {
            Op::Write => (begin, begin + self.create_ns + self.write_ns),
            _ => (begin + self.read_after_ns, begin + self.read_after_ns + self.read_ns),
        }
    }

    /// What a rank does in a repetition, as if it began at 0.
    fn once(&self, rank: u32, size: u64) -> Vec<Stretch> {
        let stretch = |op, offset, shape, start_ns: u64, end_ns: u64| Stretch {
            op,
            rank,
            file: FileId(0),
            places: Places::Nested(offset, shape),
            start_ns,
            length_ns: end_ns - start_ns,
        };
        let mut all = Vec::new();
        if rank == 0 {
            let first = self.create_ns / (self.attributes + 1);
            all.push(stretch(Op::Write, 0, Shape::of(SUPERBLOCK), 0, first));
            let attributes = Shape::of(self.attribute_size).times(self.attributes, self.attribute_size);
            all.push(stretch(Op::Write, self.header, attributes, first, self.create_ns));
        }
        for (op, begin, length) in
            [(Op::Write, self.create_ns, self.write_ns), (Op::Read, self.read_after_ns, self.read_ns)]
        {
            for d in 0..self.datasets {
                let time = |d: usize| begin + length * d as u64 / self.datasets as u64;
                if let Some((base, shape)) = self.part(rank, size, d) {
                    all.push(stretch(op, self.dataset_start(size, d) + base, shape, time(d), time(d + 1)));
                }
            }
        }
        all
    }

    /// What a rank reads or writes in a repetition.
    fn list(&self, op: Op, rank: u32, size: u64) -> Vec<Part> {
        let part = |s: Stretch| {
            let Places::Nested(offset, shape) = s.places else { return None };
            let span_ns = (s.start_ns, s.start_ns + s.length_ns);
            (s.op == op && shape.count() > 0).then(|| Part { offset, shape: shape.canonical(), span_ns })
        };
        self.once(rank, size).into_iter().filter_map(part).collect()
    }

    /// The nests of what is done at each size, what of it is in none, and how many there are.
    fn told(&self, lists: &[Vec<Part>]) -> (Vec<Told>, u64, usize) {
        // Bytes of an access, to what is done with such ones.
        let mut streams: BTreeMap<u64, Vec<Round>> = BTreeMap::new();
        for (number, list) in (0..).zip(lists) {
            for part in list {
                let rounds = streams.entry(part.shape.size).or_default();
                if rounds.last().is_none_or(|r| r.number != number) {
                    rounds.push(Round { number, list: Vec::new(), times: self.repeats });
                }
                rounds.last_mut().into_iter().for_each(|r| r.list.push(part.clone()));
            }
        }
        let (mut all, mut over, mut patterns) = (Vec::new(), 0, 0);
        for rounds in streams.values() {
            let (told, cost) = rounds::told(rounds);
            all.extend(told);
            (over, patterns) = (over + cost.alone, patterns + cost.patterns);
        }
        (all, over, patterns)
    }

    /// Nothing is done twice in the same way.
    fn is_once(&self) -> bool {
        self.repeats == 1 && (self.sizes == 1 || self.axes.iter().any(|a| a.growth > 1))
    }

    /// The file is the same each time: what is done in it repeats at the same places.
    fn patterns(&self, rank: u32, files: &Files) -> Vec<TruePattern> {
        let place = |op, (from, to), (start, end), times| {
            let span_ns = (self.begin(from, 0) + start, self.begin(to, self.repeats - 1) + end);
            let period_s = (times > 1).then(|| seconds(self.cycle_ns));
            Place { op, rank, file: files.name(FileId(0)), span_ns, period_s }
        };
        let mut patterns = Vec::new();
        for op in [Op::Write, Op::Read] {
            let mut lists: Vec<Vec<Part>> = (0..self.sizes).map(|size| self.list(op, rank, size)).collect();
            let (mut told, over, count) = self.told(&lists);
            // What is sequential and done but once is that, unless loops leave nothing over.
            let mut runs: Vec<(u64, Run)> = Vec::new();
            for (size, list) in (0..).zip(&mut lists).filter(|_| self.is_once()) {
                runs.extend(rounds::take_sequential(list).into_iter().map(|run| (size, run)));
            }
            if !runs.is_empty() {
                let others = self.told(&lists);
                if over > 0 || count > 2 * (others.2 + runs.len()) {
                    told = others.0;
                } else {
                    runs.clear();
                }
            }
            for (size, run) in runs {
                let place = place(op, (size, size), run.span_ns, 1);
                patterns.extend(TruePattern::back_to_back(place, run.offset, &run.sizes));
            }
            for t in told {
                let place = place(op, t.rounds, t.span_ns, t.times);
                patterns.extend(TruePattern::nested(place, t.part.offset, &t.part.shape.times(t.times, 0)));
            }
        }
        patterns
    }
}

/// The dimensions, checked.
fn axes(v: &Values) -> Result<Vec<Axis>> {
    let elements = v.extents("elements");
    let n = elements.len();
    let each = |name: &str| -> Result<Vec<u64>> {
        match v.extents(name) {
            one if one.len() == 1 => Ok(vec![one[0]; n]),
            all if all.len() == n => Ok(all),
            other => Err(Error::new(ErrorKind::Usage, format!("{} values of {name} for {n} dimensions", other.len()))
                .expected("one for each dimension, or one for all")),
        }
    };
    let (grid, growth) = (each("grid")?, each("growth")?);
    let (blocks, strides) = (each("file-block")?, each("file-stride")?);
    let mut axes = Vec::new();
    for d in 0..n {
        let a = Axis { elements: elements[d], ranks: grid[d], growth: growth[d], block: blocks[d], stride: strides[d] };
        bounds::divided(("elements", a.elements), ("file-block", a.block))?;
        if a.stride < a.block {
            return Err(Error::new(ErrorKind::Usage, format!("file-block {} and file-stride {}", a.block, a.stride))
                .expected("a stride no shorter than the block"));
        }
        axes.push(a);
    }
    Ok(axes)
}

impl Script for Job {
    fn lanes(&self) -> Vec<Lane<'_>> {
        let lane = |rank: u32| -> Lane<'_> {
            Box::new(self.all().flat_map(move |(size, repeat)| {
                let begin = self.begin(size, repeat);
                self.once(rank, size).into_iter().map(move |s| Stretch { start_ns: s.start_ns + begin, ..s })
            }))
        };
        (0..self.ranks() as u32).map(lane).collect()
    }
}
