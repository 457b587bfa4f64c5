//! A job that alternates between computing and writing a checkpoint.

mod activity;
mod schedule;

use super::bounds;
use super::clock::nanos;
use super::nest::Nest;
use super::parameter::{Kind, Parameter, Values};
use super::plan::{Plan, Workload};
use super::program::{Program, RankProgram, Segment};
use super::random::Random;
use super::stated::{Stated, phase};
use crate::error::Result;
use crate::nest::Loop;
use crate::record::{FileId, Files, Op};
use activity::{Budget, Log, Noise};
use schedule::Schedule;

/// The workload.
pub(super) const WORKLOAD: Workload = Workload {
    name: "checkpoint",
    about: "Alternates computing and writing a checkpoint, optionally with jitter, drift, noise or a change of period",
    parameters: PARAMETERS,
    plan,
};

const PARAMETERS: &[Parameter] = &[
    Parameter::new("ranks", Kind::Count, "8", "Ranks"),
    Parameter::new("checkpoints", Kind::Count, "20", "Checkpoints"),
    Parameter::new("period", Kind::Seconds, "10", "Seconds from the start of a checkpoint to the start of the next"),
    Parameter::new("burst", Kind::Seconds, "1.5", "Seconds that writing a checkpoint takes"),
    Parameter::new("start", Kind::Seconds, "3", "Start of the first checkpoint, in seconds"),
    Parameter::new("size", Kind::Bytes, "64MiB", "Bytes of each rank in a checkpoint"),
    Parameter::new("transfer", Kind::Bytes, "1MiB", "Bytes of a request, a divisor of --size"),
    Parameter::new("layout", Kind::Choice(&["shared", "per-rank"]), "shared", "One file for all ranks or one per rank"),
    Parameter::new(
        "place",
        Kind::Choice(&["new", "append", "overwrite"]),
        "new",
        "Where a checkpoint goes: to a new file, behind the previous one, or over it",
    ),
    Parameter::new("jitter", Kind::Share, "0", "Standard deviation of intervals or starts, as a share of the period"),
    Parameter::new(
        "jitter-kind",
        Kind::Choice(&["interval", "grid"]),
        "interval",
        "Jitter of each interval (deviations add up), or of each start around an exact grid",
    ),
    Parameter::new("drift", Kind::Real, "0", "Growth from one interval to the next, as a share of the period"),
    Parameter::new("desync", Kind::Share, "0", "Largest constant delay of a rank, as a share of the period"),
    Parameter::new("missed", Kind::Share, "0", "Share of checkpoints left out, never the first or last"),
    Parameter::new("change-after", Kind::Count, "0", "Checkpoints before the period changes; 0: no change"),
    Parameter::new("change-period", Kind::Seconds, "20", "Period after the change, in seconds"),
    Parameter::new("second-period", Kind::Seconds, "0", "Seconds between writes of a log by rank 0; 0: none"),
    Parameter::new("second-size", Kind::Bytes, "4MiB", "Bytes of a write of the log"),
    Parameter::new("second-burst", Kind::Seconds, "0.2", "Seconds that a write of the log takes"),
    Parameter::new("noise", Kind::Share, "0", "Bytes of random single requests, as a share of checkpoint bytes"),
    Parameter::new("noise-size", Kind::Bytes, "64k", "Mean size of the noise requests"),
];

fn plan(v: &Values, seed: u64) -> Result<Plan> {
    let job = Job::new(v, seed)?;
    let mut files = Files::default();
    for k in 0..job.copies() {
        for r in 0..job.sharers() {
            let rank = if job.shared { String::new() } else { format!(".rank{r:05}") };
            files.intern(&format!("/scratch/checkpoint/ckpt.{k:05}{rank}"));
        }
    }
    // A file without accesses does not exist.
    let mut optional = |wanted: &str, name: &str| if v.real(wanted) > 0.0 { files.intern(name) } else { FileId::NONE };
    let log_file = optional("second-period", "/scratch/checkpoint/log");
    let noise_file = optional("noise", "/scratch/checkpoint/other");
    let log = Log::new(v, log_file, job.end_ns())?;
    let noise = Noise::new(v, noise_file, job.budget(v.real("noise")), &mut Random::new(seed, 3))?;
    let mut stated = Stated::default();
    job.state_periods(v.real("drift") != 0.0, &mut stated);
    job.state_patterns(&files, &mut stated);
    log.state(&files, &mut stated);
    stated.unpatterned.extend(noise.unpatterned(&files));
    Ok(Plan { ranks: job.ranks, files, stated, program: Box::new(Session { job, log, noise }) })
}

/// All activities of the job.
struct Session {
    job: Job,
    log: Log,
    noise: Noise,
}

impl Program for Session {
    fn ranks(&self) -> Vec<RankProgram<'_>> {
        let mut programs: Vec<RankProgram<'_>> =
            (0..self.job.ranks as u32).map(|rank| self.job.program(rank)).collect();
        programs.push(self.log.program());
        programs.push(self.noise.program());
        programs
    }
}

/// Times and places of the checkpoints.
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
            let found = format!("a burst of {} s every {shortest} s", burst + late);
            return bounds::usage(found, "burst and desync shorter than the period");
        }
        let schedule = Schedule::new(v, n, burst + late, &mut Random::new(seed, 1));
        let mut random = Random::new(seed, 2);
        let mut delays_ns: Vec<u64> = (0..ranks).map(|_| nanos(random.unit() * late)).collect();
        // One rank at least is on time, so that bursts begin as scheduled.
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
        let sharers_of_a_file = if self.shared { self.ranks } else { 1 };
        if self.append { self.size * sharers_of_a_file } else { 0 }
    }

    /// The `k`-th checkpoint of a rank.
    fn segment(&self, k: usize, rank: u32) -> Segment {
        let offset = k as u64 * self.stride() + if self.shared { u64::from(rank) * self.size } else { 0 };
        let nest = Nest::access(offset, self.transfer).repeated(self.size / self.transfer, self.transfer);
        let start = self.schedule.starts_ns[k] + self.delays_ns[rank as usize];
        Segment::nest(Op::Write, rank, self.file(k, rank), nest, (start, start + self.burst_ns))
    }

    fn program(&self, rank: u32) -> RankProgram<'_> {
        Box::new((0..self.schedule.starts_ns.len()).map(move |k| self.segment(k, rank)))
    }

    /// Noise with this share of the bytes of all checkpoints, at the speed of a rank.
    fn budget(&self, share: f64) -> Budget {
        let bytes = share * (self.size * self.ranks) as f64 * self.schedule.starts_ns.len() as f64;
        Budget {
            ranks: self.ranks,
            bytes,
            bytes_per_ns: self.size as f64 / self.burst_ns as f64,
            end_ns: self.end_ns(),
        }
    }

    /// States one pattern for each new file, or one over all checkpoints of the same file.
    fn state_patterns(&self, files: &Files, stated: &mut Stated) {
        let n = self.schedule.starts_ns.len();
        for rank in 0..self.ranks as u32 {
            if self.new_file {
                (0..n).for_each(|k| stated.pattern(files, &self.segment(k, rank), &[], None));
                continue;
            }
            let mut all = self.segment(0, rank);
            all.span_ns.1 = self.segment(n - 1, rank).span_ns.1;
            let around = Loop { count: n as u64, stride: self.stride() as i64 };
            stated.pattern(files, &all, &[around], self.schedule.only_period_s());
        }
    }

    /// States every burst, and a period for each regime.
    fn state_periods(&self, drifts: bool, stated: &mut Stated) {
        let length = self.burst_ns + self.longest_delay_ns();
        let bytes = self.size * self.ranks;
        let spans: Vec<(u64, u64)> = self.schedule.starts_ns.iter().map(|s| (*s, s + length)).collect();
        stated.phases.extend(spans.iter().map(|s| phase(Op::Write, *s, bytes)));
        for regime in &self.schedule.regimes {
            let of_regime = &spans[regime.bursts.clone()];
            let period_s = regime.period_s.filter(|_| !drifts);
            stated.period(Op::Write, of_regime, bytes * of_regime.len() as u64, period_s);
        }
    }
}
