//! A job that computes and writes a checkpoint, over and over.

mod beside;
mod schedule;

use super::parameter::{Kind, Parameter, Values};
use super::random::Random;
use super::shape::Shape;
use super::stretch::{Lane, Places, Script, Stretch, nanos};
use super::truth::{Bursts, Period, Phase, Place, TruePattern};
use super::{Plan, Workload, bounds};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{FileId, Files, Op};
use beside::{Log, Noise};
use schedule::Schedule;

/// The workload.
pub(super) struct Checkpoint;

const PARAMETERS: &[Parameter] = &[
    Parameter::new("ranks", Kind::Count, "8", "Ranks"),
    Parameter::new("checkpoints", Kind::Count, "20", "Checkpoints"),
    Parameter::new("period", Kind::Seconds, "10", "Seconds from the start of one to the start of the next"),
    Parameter::new("burst", Kind::Seconds, "1.5", "Seconds that writing one takes"),
    Parameter::new("start", Kind::Seconds, "3", "Start of the first, in seconds"),
    Parameter::new("size", Kind::Bytes, "64MiB", "Bytes that each rank writes at one"),
    Parameter::new("transfer", Kind::Bytes, "1MiB", "Bytes of a request; divides the size"),
    Parameter::new("layout", Kind::Choice(&["shared", "per-rank"]), "shared", "One file for all ranks or one for each"),
    Parameter::new(
        "place",
        Kind::Choice(&["new", "append", "overwrite"]),
        "new",
        "Where the next one goes: a new file, behind the last one, over the last one",
    ),
    Parameter::new("jitter", Kind::Share, "0", "Standard deviation of the period, as a share of it"),
    Parameter::new(
        "jitter-kind",
        Kind::Choice(&["interval", "grid"]),
        "interval",
        "What varies: each interval (deviations add up), or each start around an exact grid",
    ),
    Parameter::new("drift", Kind::Real, "0", "Growth of the period from one interval to the next, as a share of it"),
    Parameter::new("desync", Kind::Share, "0", "Largest constant delay of a rank, as a share of the period"),
    Parameter::new("missed", Kind::Share, "0", "Share of checkpoints left out, never the first or last"),
    Parameter::new("change-after", Kind::Count, "0", "Checkpoints before the period changes; 0: it does not"),
    Parameter::new("change-period", Kind::Seconds, "20", "Period after the change, in seconds"),
    Parameter::new(
        "second-period",
        Kind::Seconds,
        "0",
        "Period at which rank 0 writes a log beside, in seconds; 0: none",
    ),
    Parameter::new("second-size", Kind::Bytes, "4MiB", "Bytes of the log that are written at a time"),
    Parameter::new("second-burst", Kind::Seconds, "0.2", "Seconds that this takes"),
    Parameter::new(
        "noise",
        Kind::Share,
        "0",
        "Bytes of single requests at random times, as a share of all checkpoints",
    ),
    Parameter::new("noise-size", Kind::Bytes, "64k", "Mean size of those requests"),
];

impl Workload for Checkpoint {
    fn name(&self) -> &'static str {
        "checkpoint"
    }

    fn about(&self) -> &'static str {
        "Computes and writes a checkpoint, over and over; with jitter, drift, noise, a change of period, and more"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn plan(&self, v: &Values, seed: u64) -> Result<Plan> {
        let job = Job::new(v, seed)?;
        let mut files = Files::default();
        for k in 0..job.copies() {
            for r in 0..job.sharers() {
                let rank = if job.shared { String::new() } else { format!(".rank{r:05}") };
                files.intern(&format!("/scratch/checkpoint/ckpt.{k:05}{rank}"));
            }
        }
        // Files that nothing goes to are not there.
        let mut beside =
            |wanted: &str, name: &str| if v.real(wanted) > 0.0 { files.intern(name) } else { FileId::NONE };
        let log_file = beside("second-period", "/scratch/checkpoint/log");
        let noise_file = beside("noise", "/scratch/checkpoint/other");
        let log = Log::new(v, log_file, job.end_ns())?;
        let noise = Noise::new(v, noise_file, &job, &mut Random::new(seed, 3))?;
        let mut patterns = job.patterns(&files);
        patterns.extend(log.pattern(&files));
        let (mut periods, mut phases) = job.periods(v.real("drift") != 0.0);
        periods.extend(log.period());
        phases.extend(log.phases());
        Ok(Plan { ranks: job.ranks, files, periods, phases, patterns, script: Box::new(Session { job, log, noise }) })
    }
}

/// Everything that happens.
struct Session {
    job: Job,
    log: Log,
    noise: Noise,
}

impl Script for Session {
    fn lanes(&self) -> Vec<Lane<'_>> {
        let mut lanes: Vec<Lane<'_>> = (0..self.job.ranks as u32).map(|rank| self.job.lane(rank)).collect();
        lanes.push(self.log.lane());
        lanes.push(self.noise.lane());
        lanes
    }
}

/// When and where checkpoints are written.
struct Job {
    ranks: u64,
    shared: bool,
    new_file: bool,
    append: bool,
    size: u64,
    transfer: u64,
    burst_ns: u64,
    schedule: Schedule,
    /// Delay of each rank.
    delays_ns: Vec<u64>,
}

impl Job {
    fn new(v: &Values, seed: u64) -> Result<Job> {
        let ranks = v.positive("ranks", bounds::RANKS)?;
        let n = v.positive("checkpoints", bounds::REPEATS)?;
        let (size, transfer) = (v.whole("size"), v.whole("transfer"));
        let accesses = bounds::divided(("size", size), ("transfer", transfer))?;
        bounds::bytes(&[size, ranks, n])?;
        let (period, burst, late) = (v.real("period"), v.real("burst"), v.real("desync") * v.real("period"));
        let shortest = if v.whole("change-after") > 0 { period.min(v.real("change-period")) } else { period };
        if n > 1 && burst + late >= shortest {
            return Err(Error::new(ErrorKind::Usage, format!("a burst of {} s every {shortest} s", burst + late))
                .expected("burst and desync shorter than the period"));
        }
        let schedule = Schedule::new(v, n, burst + late, &mut Random::new(seed, 1));
        let mut random = Random::new(seed, 2);
        let mut delays_ns: Vec<u64> = (0..ranks).map(|_| nanos(random.unit() * late)).collect();
        // The first of the ranks is in time.
        let least = delays_ns.iter().copied().min().unwrap_or(0);
        delays_ns.iter_mut().for_each(|d| *d -= least);
        let job = Job {
            ranks,
            shared: v.word("layout") == "shared",
            new_file: v.word("place") == "new",
            append: v.word("place") == "append",
            size,
            transfer,
            burst_ns: nanos(burst),
            schedule,
            delays_ns,
        };
        bounds::kept(&[job.copies(), ranks])?;
        bounds::run(u128::from(job.end_ns()), job.burst_ns, accesses)?;
        Ok(job)
    }

    /// Sets of files: one for each checkpoint, or one for all.
    fn copies(&self) -> u64 {
        if self.new_file { self.schedule.starts_ns.len() as u64 } else { 1 }
    }

    /// Files of a set.
    fn sharers(&self) -> u64 {
        if self.shared { 1 } else { self.ranks }
    }

    /// End of the last burst.
    fn end_ns(&self) -> u64 {
        let last = self.schedule.starts_ns.last().copied().unwrap_or(0);
        last.saturating_add(self.burst_ns + self.longest_delay_ns())
    }

    fn longest_delay_ns(&self) -> u64 {
        self.delays_ns.iter().copied().max().unwrap_or(0)
    }

    /// The file of a rank at the `k`-th checkpoint that is written.
    fn file(&self, k: usize, rank: u32) -> FileId {
        let set = if self.new_file { k as u64 * self.sharers() } else { 0 };
        FileId(set as u32 + if self.shared { 0 } else { rank })
    }

    /// Bytes from one checkpoint of a rank to the next in the same file.
    fn stride(&self) -> u64 {
        if self.append { self.size * self.sharers_of_a_file() } else { 0 }
    }

    fn sharers_of_a_file(&self) -> u64 {
        if self.shared { self.ranks } else { 1 }
    }

    /// Where a rank begins in its file at the `k`-th checkpoint.
    fn offset(&self, k: usize, rank: u32) -> u64 {
        let base = if self.shared { u64::from(rank) * self.size } else { 0 };
        base + k as u64 * self.stride()
    }

    /// The accesses of a rank at one checkpoint.
    fn shape(&self) -> Shape {
        Shape::of(self.transfer).times(self.size / self.transfer, self.transfer)
    }

    fn lane(&self, rank: u32) -> Lane<'_> {
        Box::new(self.schedule.starts_ns.iter().enumerate().map(move |(k, start_ns)| Stretch {
            op: Op::Write,
            rank,
            file: self.file(k, rank),
            places: Places::Nested(self.offset(k, rank), self.shape()),
            start_ns: start_ns + self.delays_ns[rank as usize],
            length_ns: self.burst_ns,
        }))
    }

    /// In new files one pattern for each checkpoint, else one through all of them.
    fn patterns(&self, files: &Files) -> Vec<TruePattern> {
        let starts = &self.schedule.starts_ns;
        let (sets, period_s) = match self.new_file {
            true => (starts.len(), None),
            false => (1, self.schedule.only_period_s()),
        };
        let mut patterns = Vec::new();
        for rank in 0..self.ranks as u32 {
            let delay = self.delays_ns[rank as usize];
            for k in 0..sets {
                let last = if self.new_file { k } else { starts.len() - 1 };
                let file = files.name(self.file(k, rank));
                let span_ns = (starts[k] + delay, starts[last] + delay + self.burst_ns);
                let place = Place { op: Op::Write, rank, file, span_ns, period_s };
                let shape = self.shape().times((last - k + 1) as u64, self.stride());
                patterns.extend(TruePattern::nested(place, self.offset(k, rank), &shape));
            }
        }
        patterns
    }

    /// One period for each regime; and every burst.
    fn periods(&self, drifts: bool) -> (Vec<Period>, Vec<Phase>) {
        let length = self.burst_ns + self.longest_delay_ns();
        let bytes = self.size * self.ranks;
        let spans: Vec<(u64, u64)> = self.schedule.starts_ns.iter().map(|s| (*s, s + length)).collect();
        let mut periods = Vec::new();
        for regime in &self.schedule.regimes {
            let spans_ns = spans[regime.bursts.clone()].to_vec();
            let bursts = Bursts { bytes: bytes * spans_ns.len() as u64, spans_ns };
            periods.extend(bursts.period(Op::Write, regime.period_s.filter(|_| !drifts)));
        }
        let phases = spans.iter().map(|s| Phase::of(Op::Write, *s, bytes)).collect();
        (periods, phases)
    }
}
