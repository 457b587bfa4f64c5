//! Training of a network: epochs of sample reads in shuffled order, compute between batches, checkpoints between epochs.

use super::bounds;
use super::clock::seconds;
use super::nest::Nest;
use super::parameter::{Kind, Parameter, Values};
use super::plan::{Plan, Workload};
use super::program::{Offsets, Program, RankProgram, Segment};
use super::random::{Random, Shuffle};
use super::stated::{Repeat, Stated, phase};
use super::truth::{Period, Unpatterned, Window};
use crate::error::Result;
use crate::record::{FileId, Files, Op};

/// The workload.
pub(super) const WORKLOAD: Workload = Workload {
    name: "dlio",
    about: "DLIO: training that reads shuffled samples from many files, computes between batches and writes checkpoints between epochs",
    parameters: PARAMETERS,
    plan,
};

const PARAMETERS: &[Parameter] = &[
    Parameter::new("ranks", Kind::Count, "4", "Ranks"),
    Parameter::new("epochs", Kind::Count, "6", "Epochs"),
    Parameter::new("files", Kind::Count, "32", "Files; a multiple of the ranks, unless --shuffle is samples"),
    Parameter::new("samples", Kind::Count, "16", "Samples of a file"),
    Parameter::new("sample-size", Kind::Bytes, "128k", "Mean bytes of a sample; a sample is one request"),
    Parameter::new("sample-spread", Kind::Share, "0", "Largest deviation from the mean size, as a share of the mean"),
    Parameter::new("batch", Kind::Count, "4", "Samples per batch of a rank"),
    Parameter::new("shuffle", Kind::Choice(&["samples", "files", "none"]), "samples", "Data shuffled in each epoch"),
    Parameter::new("read-time", Kind::Seconds, "0.02", "Seconds that reading a batch takes"),
    Parameter::new("compute", Kind::Seconds, "0.18", "Seconds of compute after each batch"),
    Parameter::new("checkpoint-every", Kind::Count, "1", "Epochs between checkpoints; 0: no checkpoints"),
    Parameter::new("checkpoint-size", Kind::Bytes, "32MiB", "Bytes of each rank in a checkpoint"),
    Parameter::new("transfer", Kind::Bytes, "1MiB", "Bytes of a checkpoint request, a divisor of --checkpoint-size"),
    Parameter::new("pause", Kind::Seconds, "1", "Seconds between epochs, in which checkpoints are written"),
    Parameter::new("start", Kind::Seconds, "2", "Start of the first epoch, in seconds"),
];

fn plan(v: &Values, seed: u64) -> Result<Plan> {
    let mut job = Job::new(v, seed)?;
    if job.spread > 0.0 {
        job.offsets = job.known_offsets();
    }
    let mut files = Files::default();
    for f in 0..job.files {
        files.intern(&format!("/scratch/dlio/train/img_{f:06}.npz"));
    }
    for e in 0..job.checkpoints() {
        for r in 0..job.ranks {
            files.intern(&format!("/scratch/dlio/checkpoint/epoch_{:04}.rank{r:05}", (e + 1) * job.every));
        }
    }
    let mut stated = Stated::default();
    if job.shuffle == "samples" {
        stated.unpatterned = (0..job.files).map(|f| job.shuffled_samples(f, &files)).collect();
    } else {
        job.state_reads(&files, &mut stated);
    }
    for e in 0..job.epochs {
        let writes = (0..job.ranks as u32).filter_map(|rank| job.checkpoint_write(rank, e));
        writes.for_each(|write| stated.pattern(&files, &write, &[], None));
    }
    job.state_periods(&mut stated);
    Ok(Plan { ranks: job.ranks, files, stated, program: Box::new(job) })
}

struct Job {
    ranks: u64,
    epochs: u64,
    files: u64,
    samples: u64,
    sample_size: u64,
    spread: f64,
    batch: u64,
    shuffle: &'static str,
    read_ns: u64,
    compute_ns: u64,
    /// Epochs between checkpoints; 0 for no checkpoints.
    every: u64,
    checkpoint_size: u64,
    transfer: u64,
    pause_ns: u64,
    start_ns: u64,
    seed: u64,
    /// Offsets of every [`KNOWN`]-th sample of each file, if sizes vary.
    offsets: Vec<u64>,
}

/// Distance of the samples whose offsets are kept. Sizes between them are drawn again, which bounds memory.
const KNOWN: u64 = 64;

impl Job {
    fn new(v: &Values, seed: u64) -> Result<Job> {
        let job = Job {
            ranks: v.positive("ranks", bounds::RANKS)?,
            epochs: v.positive("epochs", bounds::REPEATS)?,
            files: v.positive("files", bounds::REPEATS)?,
            samples: v.positive("samples", bounds::REPEATS)?,
            sample_size: v.positive("sample-size", 1 << 40)?,
            spread: v.real("sample-spread"),
            batch: v.positive("batch", bounds::REPEATS)?,
            shuffle: v.word("shuffle"),
            read_ns: v.nanos("read-time"),
            compute_ns: v.nanos("compute"),
            every: v.whole("checkpoint-every"),
            checkpoint_size: v.whole("checkpoint-size"),
            transfer: v.whole("transfer"),
            pause_ns: v.nanos("pause"),
            start_ns: v.nanos("start"),
            seed,
            offsets: Vec::new(),
        };
        if job.shuffle != "samples" {
            bounds::divided(("files", job.files), ("ranks", job.ranks))?;
        }
        let (samples, at_once) = (job.files * job.samples, job.ranks * job.batch);
        bounds::divided(("samples of all files", samples), ("ranks times batch", at_once))?;
        bounds::bytes(&[job.epochs, job.files, job.samples, 2 * job.sample_size])?;
        bounds::kept(&[job.files, job.known()])?;
        bounds::kept(&[job.checkpoints(), job.ranks])?;
        if job.shuffle != "samples" {
            let visits = if job.shuffle == "files" { job.epochs } else { 1 };
            let sizes = if job.spread > 0.0 { job.samples } else { 1 };
            bounds::kept(&[job.files, visits, sizes])?;
        }
        let epoch = u128::from(job.steps()) * u128::from(job.step_ns()) + u128::from(job.pause_ns);
        let end = u128::from(job.start_ns) + epoch * u128::from(job.epochs);
        bounds::run(end, job.read_ns, job.batch)?;
        if job.every > 0 {
            let writes = bounds::divided(("checkpoint-size", job.checkpoint_size), ("transfer", job.transfer))?;
            bounds::bytes(&[job.checkpoint_size, job.ranks, job.epochs])?;
            bounds::run(end, job.pause_ns, writes)?;
        }
        Ok(job)
    }

    /// Batches of a rank in an epoch.
    fn steps(&self) -> u64 {
        self.files * self.samples / (self.ranks * self.batch)
    }

    fn step_ns(&self) -> u64 {
        self.read_ns + self.compute_ns
    }

    fn epoch_ns(&self) -> u64 {
        self.steps() * self.step_ns() + self.pause_ns
    }

    fn epoch_start(&self, e: u64) -> u64 {
        self.start_ns + e * self.epoch_ns()
    }

    fn checkpoints(&self) -> u64 {
        self.epochs.checked_div(self.every).unwrap_or(0)
    }

    /// Start and end of the checkpoint after epoch `e`.
    fn checkpoint_span(&self, e: u64) -> (u64, u64) {
        let start = self.epoch_start(e + 1) - self.pause_ns;
        (start, start + self.pause_ns)
    }

    /// Size of a sample of a file.
    fn size(&self, file: u64, sample: u64) -> u64 {
        if self.spread == 0.0 {
            return self.sample_size;
        }
        let draw = 2.0 * Random::new(self.seed, 1 + file * self.samples + sample).unit() - 1.0;
        ((self.sample_size as f64 * (1.0 + self.spread * draw)).round() as u64).max(1)
    }

    fn offset(&self, file: u64, sample: u64) -> u64 {
        if self.spread == 0.0 {
            return sample * self.sample_size;
        }
        let known = sample / KNOWN;
        let before = self.offsets.get((file * self.known() + known) as usize).copied().unwrap_or(0);
        before + (known * KNOWN..sample).map(|j| self.size(file, j)).sum::<u64>()
    }

    /// Number of samples of a file whose offset is kept.
    fn known(&self) -> u64 {
        self.samples / KNOWN + 1
    }

    /// The offsets that are kept, file by file.
    fn known_offsets(&self) -> Vec<u64> {
        let of_file = |file: u64| {
            let mut at = 0;
            (0..self.known()).map(move |k| {
                let here = at;
                at += (k * KNOWN..(k + 1) * KNOWN).map(|j| self.size(file, j)).sum::<u64>();
                here
            })
        };
        (0..self.files).flat_map(of_file).collect()
    }

    /// The order of an epoch: of all samples, or of the files.
    fn order(&self, e: u64) -> Shuffle {
        let n = if self.shuffle == "samples" { self.files * self.samples } else { self.files };
        Shuffle::new(n, &mut Random::new(self.seed ^ 0x6570_6f63_6873, e))
    }

    /// The `q`-th file that a rank reads in an epoch, if it reads whole files.
    fn nth_file(&self, order: &Shuffle, rank: u32, q: u64) -> u64 {
        let place = q * self.ranks + u64::from(rank);
        if self.shuffle == "files" { order.at(place) } else { place }
    }

    /// The `i`-th sample that a rank reads in an epoch: its file and its number there.
    fn nth_sample(&self, order: &Shuffle, rank: u32, i: u64) -> (u64, u64) {
        if self.shuffle == "samples" {
            let n = order.at((i / self.batch * self.ranks + u64::from(rank)) * self.batch + i % self.batch);
            return (n / self.samples, n % self.samples);
        }
        (self.nth_file(order, rank, i / self.samples), i % self.samples)
    }

    /// From the start of read `i` of a rank in an epoch to the end of read `last`.
    fn read_span(&self, e: u64, i: u64, last: u64) -> (u64, u64) {
        let batch = |i: u64| self.epoch_start(e) + i / self.batch * self.step_ns();
        let in_batch = |n: u64| (u128::from(self.read_ns) * u128::from(n) / u128::from(self.batch)) as u64;
        (batch(i) + in_batch(i % self.batch), batch(last) + in_batch(last % self.batch + 1))
    }

    /// The reads of a batch: a segment for each row of samples of one file.
    fn batch_reads(&self, rank: u32, e: u64, order: &Shuffle, step: u64) -> Vec<Segment> {
        let first = step * self.batch;
        let samples: Vec<(u64, u64)> = (first..first + self.batch).map(|i| self.nth_sample(order, rank, i)).collect();
        let mut segments = Vec::new();
        let mut i = first;
        for row in samples.chunk_by(|a, b| a.0 == b.0) {
            let list = row.iter().map(|&(f, j)| (self.offset(f, j), self.size(f, j))).collect();
            let next = i + row.len() as u64;
            segments.push(Segment {
                op: Op::Read,
                rank,
                file: FileId(row[0].0 as u32),
                offsets: Offsets::Listed(list),
                span_ns: self.read_span(e, i, next - 1),
            });
            i = next;
        }
        segments
    }

    fn checkpoint_write(&self, rank: u32, e: u64) -> Option<Segment> {
        if self.every == 0 || !(e + 1).is_multiple_of(self.every) {
            return None;
        }
        let accesses = Nest::access(0, self.transfer).repeated(self.checkpoint_size / self.transfer, self.transfer);
        let before = ((e + 1) / self.every - 1) * self.ranks;
        let file = FileId((self.files + before) as u32 + rank);
        Some(Segment::nest(Op::Write, rank, file, accesses, self.checkpoint_span(e)))
    }

    /// The samples of a file from its start to its end.
    fn all_samples(&self, file: u64) -> Offsets {
        if self.spread == 0.0 {
            return Offsets::Nest(Nest::access(0, self.sample_size).repeated(self.samples, self.sample_size));
        }
        let mut end = 0;
        let list = (0..self.samples).map(|j| {
            let size = self.size(file, j);
            end += size;
            (end - size, size)
        });
        Offsets::Listed(list.collect())
    }

    /// States the reads of whole files. Without a shuffle a rank reads the same files in a loop of epochs. Shuffled files come at
    /// random, so every visit of a file is stated on its own.
    fn state_reads(&self, files: &Files, stated: &mut Stated) {
        let (visits, epochs) = if self.shuffle == "none" { (1, self.epochs) } else { (self.epochs, 1) };
        let around = Repeat { count: epochs, bytes: 0, ns: self.epoch_ns() };
        for e in 0..visits {
            let order = self.order(e);
            for (rank, q) in (0..self.ranks as u32).flat_map(|r| (0..self.files / self.ranks).map(move |q| (r, q))) {
                let file = self.nth_file(&order, rank, q);
                let visit = Segment {
                    op: Op::Read,
                    rank,
                    file: FileId(file as u32),
                    offsets: self.all_samples(file),
                    span_ns: self.read_span(e, q * self.samples, (q + 1) * self.samples - 1),
                };
                stated.segment(files, visit, around);
            }
        }
    }

    /// The reads of a file by all ranks in all epochs. Each epoch draws an order of all samples of all files.
    fn shuffled_samples(&self, file: u64, files: &Files) -> Unpatterned {
        let (records, bytes) = (self.samples * self.epochs, self.offset(file, self.samples) * self.epochs);
        let all = Unpatterned::random(Op::Read, files.name(FileId(file as u32)), records, bytes, self.samples);
        Unpatterned { unit: (self.spread == 0.0).then_some(self.sample_size), ..all }
    }

    /// States batches, epochs and checkpoints.
    fn state_periods(&self, stated: &mut Stated) {
        let reads: Vec<(u64, u64)> = (0..self.epochs)
            .map(|e| (self.epoch_start(e), self.epoch_start(e) + self.steps() * self.step_ns() - self.compute_ns))
            .collect();
        let each = (0..self.files).map(|f| self.offset(f, self.samples)).sum::<u64>();
        if self.compute_ns > 0 && self.steps() > 1 {
            let step_s = seconds(self.step_ns());
            stated.periods.push(Period {
                op: Op::Read,
                period_s: step_s,
                frequency_hz: 1.0 / step_s,
                shortest_s: Some(step_s),
                longest_s: Some(step_s),
                bursts: self.steps() * self.epochs,
                bytes: each * self.epochs,
                windows: reads.iter().map(|s| Window { start_s: seconds(s.0), end_s: seconds(s.1) }).collect(),
            });
        }
        if self.pause_ns > 0 {
            stated.bursts(Op::Read, &reads, each, Some(seconds(self.epoch_ns())));
        } else {
            stated.phases.extend(reads.iter().map(|s| phase(Op::Read, *s, each)));
        }
        let writes: Vec<(u64, u64)> =
            (0..self.checkpoints()).map(|k| self.checkpoint_span((k + 1) * self.every - 1)).collect();
        let cycle_s = seconds(self.epoch_ns() * self.every);
        stated.bursts(Op::Write, &writes, self.checkpoint_size * self.ranks, Some(cycle_s));
    }
}

impl Program for Job {
    fn ranks(&self) -> Vec<RankProgram<'_>> {
        let epoch = move |rank: u32, e: u64| {
            let order = self.order(e);
            let reads = (0..self.steps()).flat_map(move |step| self.batch_reads(rank, e, &order, step));
            reads.chain(self.checkpoint_write(rank, e))
        };
        (0..self.ranks as u32)
            .map(|rank| -> RankProgram<'_> { Box::new((0..self.epochs).flat_map(move |e| epoch(rank, e))) })
            .collect()
    }
}
