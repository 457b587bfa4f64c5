//! Training of a network: epochs of sample reads in shuffled order, compute between batches, checkpoints between epochs.

use std::collections::BTreeMap;

use super::drawn::Drawn;
use super::follow::{self, Followed};
use super::parameter::{Kind, Parameter, Values};
use super::random::{Random, Shuffle};
use super::shape::Shape;
use super::stretch::{Lane, Places, Script, Stretch, seconds};
use super::truth::{Bursts, Period, Phase, Place, TruePattern, Window};
use super::{Plan, Workload, bounds};
use crate::error::Result;
use crate::record::{FileId, Files, Op};

/// The workload.
pub(super) struct Dlio;

const PARAMETERS: &[Parameter] = &[
    Parameter::new("ranks", Kind::Count, "4", "Ranks"),
    Parameter::new("epochs", Kind::Count, "6", "Epochs"),
    Parameter::new(
        "files",
        Kind::Count,
        "32",
        "Files with samples; with shuffle files or none a multiple of the ranks",
    ),
    Parameter::new("samples", Kind::Count, "16", "Samples of a file"),
    Parameter::new("sample-size", Kind::Bytes, "128k", "Mean bytes of a sample, which is one request"),
    Parameter::new("sample-spread", Kind::Share, "0", "Largest deviation of a sample's size, as a share of it"),
    Parameter::new("batch", Kind::Count, "4", "Samples of a batch of a rank"),
    Parameter::new("shuffle", Kind::Choice(&["samples", "files", "none"]), "samples", "What is shuffled at each epoch"),
    Parameter::new("read-time", Kind::Seconds, "0.02", "Seconds that reading a batch takes"),
    Parameter::new("compute", Kind::Seconds, "0.18", "Seconds of compute after each batch"),
    Parameter::new("checkpoint-every", Kind::Count, "1", "Epochs from checkpoint to checkpoint; 0: none"),
    Parameter::new("checkpoint-size", Kind::Bytes, "32MiB", "Bytes that each rank writes at one"),
    Parameter::new("transfer", Kind::Bytes, "1MiB", "Bytes of a request of it; divides the size"),
    Parameter::new("pause", Kind::Seconds, "1", "Seconds between epochs; checkpoints are written then"),
    Parameter::new("start", Kind::Seconds, "2", "Start of the first epoch, in seconds"),
];

impl Workload for Dlio {
    fn name(&self) -> &'static str {
        "dlio"
    }

    fn about(&self) -> &'static str {
        "Training: epochs of shuffled sample reads from many files, compute between batches, checkpoints between epochs"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn plan(&self, v: &Values, seed: u64) -> Result<Plan> {
        let mut job = Job::new(v, seed)?;
        if job.spread > 0.0 {
            job.offsets = job.known_offsets();
        }
        if job.shuffle == "samples" && job.spread > 0.0 {
            let followed = job.followed();
            job.by_chance = followed.is_chance();
            job.of_sizes = job.by_chance && followed.has_many_sizes();
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
        let mut patterns = job.patterns(&files);
        patterns.extend(job.checkpoint_patterns(&files));
        let (periods, phases) = job.periods();
        Ok(Plan { ranks: job.ranks, files, periods, phases, patterns, script: Box::new(job) })
    }
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
    /// Epochs from checkpoint to checkpoint, 0 for none.
    every: u64,
    checkpoint_size: u64,
    transfer: u64,
    pause_ns: u64,
    start_ns: u64,
    seed: u64,
    /// Where samples of many sizes begin, one of so many.
    offsets: Vec<u64>,
    /// They are read in random order, and that shows.
    by_chance: bool,
    /// They are of many sizes then.
    of_sizes: bool,
}

/// Of so many samples of a file, the offset of one is kept: else the sizes of all before it are drawn again.
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
            by_chance: false,
            of_sizes: false,
        };
        if job.shuffle != "samples" {
            bounds::divided(("files", job.files), ("ranks", job.ranks))?;
        }
        bounds::divided(
            ("samples of all files", job.files * job.samples),
            ("ranks times batch", job.ranks * job.batch),
        )?;
        bounds::bytes(&[job.epochs, job.files, job.samples, 2 * job.sample_size])?;
        bounds::kept(&[job.files, job.samples.min(64)])?;
        bounds::kept(&[job.files, job.known()])?;
        bounds::kept(&[job.checkpoints(), job.ranks])?;
        bounds::kept(&[job.files, job.epochs])?;
        if job.shuffle == "samples" {
            // Of a rank, if it shows at once that there is no order.
            let ranks = if job.spread > 0.0 || job.samples == 1 { 1 } else { job.ranks };
            bounds::kept(&[job.files, job.samples, job.epochs.div_ceil(ranks)])?;
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

    /// When the checkpoint after epoch `e` is written.
    fn checkpoint_span(&self, e: u64) -> (u64, u64) {
        let start = self.epoch_start(e + 1) - self.pause_ns;
        (start, start + self.pause_ns)
    }

    fn checkpoint_file(&self, k: u64, rank: u32) -> FileId {
        FileId((self.files + k * self.ranks) as u32 + rank)
    }

    fn checkpoint_shape(&self) -> Shape {
        Shape::of(self.transfer).times(self.checkpoint_size / self.transfer.max(1), self.transfer)
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

    /// Samples of a file whose offset is kept.
    fn known(&self) -> u64 {
        self.samples / KNOWN + 1
    }

    /// Where samples begin, file by file, one of so many.
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

    /// The `q`-th file that a rank reads in an epoch, where whole files are dealt out.
    fn nth_file(&self, order: &Shuffle, rank: u32, q: u64) -> u64 {
        let place = q * self.ranks + u64::from(rank);
        if self.shuffle == "files" { order.at(place) } else { place }
    }

    /// The `i`-th sample that a rank reads in an epoch: its file and its place there.
    fn nth_sample(&self, order: &Shuffle, rank: u32, i: u64) -> (u64, u64) {
        if self.shuffle == "samples" {
            let n = order.at((i / self.batch * self.ranks + u64::from(rank)) * self.batch + i % self.batch);
            return (n / self.samples, n % self.samples);
        }
        (self.nth_file(order, rank, i / self.samples), i % self.samples)
    }

    /// When the read of the `i`-th sample of a rank in an epoch begins.
    fn sample_start(&self, e: u64, i: u64) -> u64 {
        self.epoch_start(e) + i / self.batch * self.step_ns() + self.after_begin(i % self.batch)
    }

    fn sample_end(&self, e: u64, i: u64) -> u64 {
        self.epoch_start(e) + i / self.batch * self.step_ns() + self.after_begin(i % self.batch + 1)
    }

    fn after_begin(&self, i: u64) -> u64 {
        (u128::from(self.read_ns) * u128::from(i) / u128::from(self.batch)) as u64
    }

    /// The reads of a batch: a stretch for each run of samples of one file.
    fn batch_reads(&self, rank: u32, e: u64, order: &Shuffle, step: u64) -> Vec<Stretch> {
        let first = step * self.batch;
        let samples: Vec<(u64, u64)> = (first..first + self.batch).map(|i| self.nth_sample(order, rank, i)).collect();
        let mut stretches = Vec::new();
        let mut i = first;
        for run in samples.chunk_by(|a, b| a.0 == b.0) {
            let places = run.iter().map(|&(f, j)| (self.offset(f, j), self.size(f, j))).collect();
            let last = i + run.len() as u64 - 1;
            let start_ns = self.sample_start(e, i);
            stretches.push(Stretch {
                op: Op::Read,
                rank,
                file: FileId(run[0].0 as u32),
                places: Places::Listed(places),
                start_ns,
                length_ns: self.sample_end(e, last) - start_ns,
            });
            i = last + 1;
        }
        stretches
    }

    fn checkpoint_write(&self, rank: u32, e: u64) -> Option<Stretch> {
        if self.every == 0 || !(e + 1).is_multiple_of(self.every) {
            return None;
        }
        let (start_ns, end_ns) = self.checkpoint_span(e);
        Some(Stretch {
            op: Op::Write,
            rank,
            file: self.checkpoint_file((e + 1) / self.every - 1, rank),
            places: Places::Nested(0, self.checkpoint_shape()),
            start_ns,
            length_ns: end_ns - start_ns,
        })
    }

    /// Where whole files are dealt out, a rank reads each from its start to its end: equal samples give one pattern through all
    /// epochs in which it does, others one for each.
    fn patterns(&self, files: &Files) -> Vec<TruePattern> {
        if self.shuffle == "samples" {
            return self.visits(files);
        }
        let of_a_rank = self.files / self.ranks;
        let mut patterns = Vec::new();
        let orders: Vec<Shuffle> = (0..self.epochs).map(|e| self.order(e)).collect();
        for rank in 0..self.ranks as u32 {
            // The passes over each file: epoch and place in it.
            let mut passes: Vec<Vec<(u64, u64)>> = vec![Vec::new(); self.files as usize];
            for (e, order) in orders.iter().enumerate() {
                (0..of_a_rank).for_each(|q| passes[self.nth_file(order, rank, q) as usize].push((e as u64, q)));
            }
            for (f, passes) in passes.iter().enumerate() {
                let (Some(first), Some(last)) = (passes.first(), passes.last()) else { continue };
                let span = |from: &(u64, u64), to: &(u64, u64)| {
                    let (i, j) = (from.1 * self.samples, (to.1 + 1) * self.samples - 1);
                    (self.sample_start(from.0, i), self.sample_end(to.0, j))
                };
                let (n, file) = (passes.len() as u64, files.name(FileId(f as u32)));
                let place = Place { op: Op::Read, rank, file, span_ns: span(first, last), period_s: None };
                let over_and_over = if self.spread > 0.0 { self.over_and_over(f as u64, n) } else { Vec::new() };
                if self.spread > 0.0
                    && (n == 1 && !self.varies(f as u64) || n > 1 && over_and_over.len() as u64 <= 2 * n)
                {
                    // Few samples: each over and over, or the nests of each size.
                    for (j, shape) in over_and_over {
                        let (from, to) = (first.1 * self.samples + j, last.1 * self.samples + j);
                        let span_ns = (self.sample_start(first.0, from), self.sample_end(last.0, to));
                        let place = Place { span_ns, ..place };
                        patterns.extend(TruePattern::nested(place, self.offset(f as u64, j), &shape));
                    }
                } else if self.spread > 0.0 {
                    let sizes: Vec<u64> = (0..self.samples).map(|j| self.size(f as u64, j)).collect();
                    patterns.extend(passes.iter().filter_map(|pass| {
                        TruePattern::back_to_back(Place { span_ns: span(pass, pass), ..place }, 0, &sizes)
                    }));
                } else {
                    let every_epoch = self.shuffle == "none" && passes.len() > 1;
                    let place = Place { period_s: every_epoch.then(|| seconds(self.epoch_ns())), ..place };
                    let shape = Shape::of(self.sample_size).times(self.samples, self.sample_size);
                    patterns.extend(TruePattern::nested(place, 0, &shape.times(n, 0)));
                }
            }
        }
        patterns
    }

    /// True if the sizes of the samples of a file change twice.
    fn varies(&self, f: u64) -> bool {
        (1..self.samples).filter(|&j| self.size(f, j) != self.size(f, j - 1)).nth(1).is_some()
    }

    /// The samples of a file, so often, as the nests of each size: the first one of a nest, and its shape.
    fn over_and_over(&self, f: u64, n: u64) -> Vec<(u64, Shape)> {
        let mut of_sizes: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        let mut at = 0;
        for j in 0..self.samples {
            of_sizes.entry(self.size(f, j)).or_default().push((j, at));
            at += self.size(f, j);
        }
        let nests = of_sizes.into_iter().flat_map(|(size, samples)| {
            let places: Vec<u64> = samples.iter().map(|s| s.1).collect();
            match Shape::walked(size, &places) {
                Some(one) => vec![(samples[0].0, one.times(n, 0))],
                // Else what lies back to back, and each of the others.
                None => samples
                    .chunk_by(|a, b| a.1 + size == b.1)
                    .map(|run| (run[0].0, Shape::of(size).times(run.len() as u64, size).times(n, 0)))
                    .collect(),
            }
        });
        nests.collect()
    }

    /// What the random order of shuffled samples is, for each size. Where each sample has a size of its own, or a file of its
    /// own, it is a pattern that a rank has read it again.
    fn visits(&self, files: &Files) -> Vec<TruePattern> {
        // Of sizes that vary by chance, those in other files have nothing to do with each other.
        let file_of = |f: u64| if self.by_chance { f } else { 0 };
        let mut of_sizes: BTreeMap<(u64, u64), Drawn> = BTreeMap::new();
        let mut patterns = Vec::new();
        let one_size = self.spread == 0.0;
        for rank in 0..self.ranks as u32 {
            let mut walks: BTreeMap<(u64, u64), Vec<Visit>> = BTreeMap::new();
            for (f, mut walk) in self.walks(rank) {
                if !one_size && !self.by_chance {
                    patterns.extend(self.sequential(rank, files.name(FileId(f as u32)), &mut walk));
                }
                for ((offset, size), e, i) in walk {
                    walks.entry((f, size)).or_default().push((offset, e, i));
                }
            }
            for ((f, size), walk) in walks {
                let place =
                    Place { op: Op::Read, rank, file: files.name(FileId(f as u32)), span_ns: (0, 0), period_s: None };
                let list: Vec<u64> = walk.iter().map(|w| w.0).collect();
                let time = |i: u64| {
                    let (_, e, i) = walk[i as usize];
                    (self.sample_start(e, i), self.sample_end(e, i))
                };
                let drawn = || if self.of_sizes { Drawn::of_sizes() } else { Drawn::default() };
                of_sizes.entry((size, file_of(f))).or_insert_with(drawn).add(place, size, (&list, 1), time);
            }
            if one_size && of_sizes.values().any(Drawn::is_nothing) {
                return Vec::new();
            }
        }
        patterns.extend(of_sizes.into_values().flat_map(Drawn::patterns));
        patterns
    }

    /// What a rank reads of each file, in order.
    fn walks(&self, rank: u32) -> BTreeMap<u64, Vec<Read>> {
        let mut walks: BTreeMap<u64, Vec<Read>> = BTreeMap::new();
        let place = |(f, j): (u64, u64)| (self.offset(f, j), self.size(f, j));
        // What is before a sample is told once.
        let mut known: BTreeMap<(u64, u64), (u64, u64)> = BTreeMap::new();
        for e in 0..self.epochs {
            let order = self.order(e);
            for i in 0..self.steps() * self.batch {
                let sample = self.nth_sample(&order, rank, i);
                let place = match self.spread == 0.0 {
                    true => place(sample),
                    false => *known.entry(sample).or_insert_with(|| place(sample)),
                };
                walks.entry(sample.0).or_default().push((place, e, i));
            }
        }
        walks
    }

    /// How samples follow each other where they lie.
    fn followed(&self) -> Followed {
        let mut followed = Followed::default();
        for rank in 0..self.ranks as u32 {
            for walk in self.walks(rank).values() {
                followed.add(&walk.iter().map(|r| r.0).collect::<Vec<_>>());
            }
        }
        followed
    }

    /// The sequential patterns of what a rank reads of a file, which they take out of it.
    fn sequential(&self, rank: u32, file: &str, walk: &mut Vec<Read>) -> Vec<TruePattern> {
        let runs = follow::runs(&walk.iter().map(|r| r.0).collect::<Vec<_>>());
        let of = |run: &Vec<usize>| {
            let (first, last) = (walk[run[0]], walk[run[run.len() - 1]]);
            let span_ns = (self.sample_start(first.1, first.2), self.sample_end(last.1, last.2));
            let sizes: Vec<u64> = run.iter().map(|&i| walk[i].0.1).collect();
            let place = Place { op: Op::Read, rank, file, span_ns, period_s: None };
            TruePattern::back_to_back(place, first.0.0, &sizes)
        };
        let patterns: Vec<TruePattern> = runs.iter().filter_map(of).collect();
        let mut visits: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        walk.iter().for_each(|r| visits.entry(r.0.0).or_default().0 += 1);
        runs.iter().flatten().for_each(|&i| visits.entry(walk[i].0.0).or_default().1 += 1);
        let beside = visits.values().filter(|(all, of_runs)| all - of_runs > 1).count();
        let alone = visits.values().filter(|(all, of_runs)| all - of_runs == 1).count();
        // All of it over and over takes no more patterns than twice as many, or leaves nothing alone, and they tell it.
        let told = runs.len() + beside;
        if (alone > 0 || told > 1 && visits.len() <= 2 * told) && visits.values().all(|v| v.0 > 1) {
            return Vec::new();
        }
        let mut number = 0..;
        walk.retain(|_| number.next().is_some_and(|i| !runs.iter().any(|run| run.contains(&i))));
        patterns
    }

    fn checkpoint_patterns(&self, files: &Files) -> Vec<TruePattern> {
        let of = |k: u64, rank: u32| {
            let span_ns = self.checkpoint_span((k + 1) * self.every - 1);
            let file = files.name(self.checkpoint_file(k, rank));
            let place = Place { op: Op::Write, rank, file, span_ns, period_s: None };
            TruePattern::nested(place, 0, &self.checkpoint_shape())
        };
        (0..self.checkpoints()).flat_map(|k| (0..self.ranks as u32).filter_map(move |r| of(k, r))).collect()
    }

    /// Batches, epochs and checkpoints.
    fn periods(&self) -> (Vec<Period>, Vec<Phase>) {
        let reads: Vec<(u64, u64)> = (0..self.epochs)
            .map(|e| (self.epoch_start(e), self.epoch_start(e) + self.steps() * self.step_ns() - self.compute_ns))
            .collect();
        let writes: Vec<(u64, u64)> =
            (0..self.checkpoints()).map(|k| self.checkpoint_span((k + 1) * self.every - 1)).collect();
        let each = match self.spread > 0.0 {
            false => self.files * self.samples * self.sample_size,
            true => (0..self.files).map(|f| self.offset(f, self.samples)).sum(),
        };
        let written = self.checkpoint_size * self.ranks;
        let mut phases: Vec<Phase> = reads.iter().map(|s| Phase::of(Op::Read, *s, each)).collect();
        phases.extend(writes.iter().map(|s| Phase::of(Op::Write, *s, written)));
        let mut periods = Vec::new();
        if self.compute_ns > 0 && self.steps() > 1 {
            let step_s = seconds(self.step_ns());
            periods.push(Period {
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
            let epochs = Bursts { spans_ns: reads, bytes: each * self.epochs };
            periods.extend(epochs.period(Op::Read, Some(seconds(self.epoch_ns()))));
        }
        let bytes = written * writes.len() as u64;
        let cycle = seconds(self.epoch_ns() * self.every);
        periods.extend(Bursts { spans_ns: writes, bytes }.period(Op::Write, Some(cycle)));
        (periods, phases)
    }
}

/// A read of a sample: offset, epoch and place in it.
type Visit = (u64, u64, u64);

/// The same, with its offset and size.
type Read = ((u64, u64), u64, u64);

impl Script for Job {
    fn follows_by_chance(&self, op: Op) -> bool {
        op == Op::Read && self.by_chance
    }

    fn is_of_many_sizes(&self, op: Op) -> bool {
        op == Op::Read && self.of_sizes
    }

    fn lanes(&self) -> Vec<Lane<'_>> {
        let epoch = move |rank: u32, e: u64| {
            let order = self.order(e);
            let reads = (0..self.steps()).flat_map(move |step| self.batch_reads(rank, e, &order, step));
            reads.chain(self.checkpoint_write(rank, e))
        };
        (0..self.ranks as u32)
            .map(|rank| -> Lane<'_> { Box::new((0..self.epochs).flat_map(move |e| epoch(rank, e))) })
            .collect()
    }
}
