//! Sources of a scheduler's knowledge of a job: none, the truth, and predictors.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use iophase::online::{Options, Session};
use iophase::record::Interval;
use serde_json::{Value, json};

use crate::jobs::Phase;

/// A scheduler's knowledge of a job's next burst.
#[derive(Debug, Clone, Copy)]
pub struct Prophecy {
    /// Mean time between the starts of bursts, seconds.
    pub characteristic_s: f64,
    /// The next burst, if it is known: bytes and how many more they may be, its earliest start, and when the one after it is due at the
    /// latest.
    pub burst: Option<([f64; 2], f64, f64)>,
}

impl Prophecy {
    /// Bytes left of the I/O that began at a time and has moved some. `None` if it is not the predicted burst: too early for it, or
    /// long overdue. Of a burst that outgrows its prediction as much is left, for all one knows, as it has outgrown it. Second, by how much
    /// it may be less than that.
    pub fn left(&self, start_s: f64, moved: f64) -> Option<(f64, f64)> {
        let ([bytes, spread], earliest_s, latest_s) = self.burst?;
        (earliest_s..=latest_s).contains(&start_s).then_some(((bytes - moved).abs(), spread))
    }
}

/// A source of knowledge.
pub trait Knowledge {
    /// Other jobs begin.
    fn forget(&mut self) {}
    /// A call of a job is over.
    fn row(&mut self, _job: usize, _row: &Interval) {}
    /// A job asks for access at a time, or has done a call of a burst that nothing was known of. Only the truth may look at the phase.
    fn ask(&mut self, _job: usize, _now_s: f64, _begins: bool, _phase: &Phase) -> Option<Prophecy> {
        None
    }
}

/// Nothing is known.
impl Knowledge for () {}

/// Everything is known, from the plan of the job.
pub struct Truth;

impl Knowledge for Truth {
    fn ask(&mut self, _: usize, now_s: f64, _: bool, phase: &Phase) -> Option<Prophecy> {
        let burst = Some(([phase.bytes, 0.0], now_s, now_s));
        Some(Prophecy { characteristic_s: phase.characteristic_s, burst })
    }
}

/// The mean time between requests for access: all that a scheduler knows by itself.
#[derive(Default)]
pub struct MeanGap(BTreeMap<usize, (f64, u32)>);

impl Knowledge for MeanGap {
    fn forget(&mut self) {
        self.0.clear();
    }

    fn ask(&mut self, job: usize, now_s: f64, begins: bool, _: &Phase) -> Option<Prophecy> {
        let (first_s, before) = self.0.entry(job).or_insert((now_s, 0));
        *before += u32::from(begins);
        let gaps = f64::from(*before - 1);
        (gaps > 0.0).then(|| Prophecy { characteristic_s: (now_s - *first_s) / gaps, burst: None })
    }
}

/// A session of iophase for each job.
#[derive(Default)]
pub struct Iophase(BTreeMap<usize, Session>);

/// The documentation advises not to plan with less.
const LEAST_CONFIDENCE: f64 = 0.5;
/// Standard deviations that a burst may come too early and still be the predicted one.
const DEVIATIONS: f64 = 3.0;

impl Knowledge for Iophase {
    fn forget(&mut self) {
        self.0.clear();
    }

    fn row(&mut self, job: usize, row: &Interval) {
        let session = self.0.entry(job).or_insert_with(|| Session::new(None, Options::default()));
        session.feed(std::slice::from_ref(row));
    }

    fn ask(&mut self, job: usize, _: f64, _: bool, _: &Phase) -> Option<Prophecy> {
        let p = self.0.get_mut(&job)?.predict();
        let characteristic_s = p.characteristic_time_s?;
        let sure = p.periodic && p.confidence >= Some(LEAST_CONFIDENCE);
        let burst = p.bytes.zip(p.next_start_s).zip(p.valid_until_s).filter(|_| sure);
        let burst = burst.map(|((bytes, start_s), until_s)| {
            let uncertain_s = p.next_start_std_s.map_or(0.25 * characteristic_s, |std| DEVIATIONS * std);
            let spread = p.bytes_p95.map_or(0.0, |most| most - bytes);
            ([bytes, spread], start_s - uncertain_s, until_s + uncertain_s)
        });
        Some(Prophecy { characteristic_s, burst })
    }
}

/// The set of Set-10 that a characteristic time belongs to.
pub fn set(characteristic_s: f64) -> i32 {
    characteristic_s.log10().round() as i32
}

/// FTIO in a process of Python, which is sent the rows of all jobs and ends with its input.
pub struct Ftio {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    rows: BTreeMap<usize, Vec<[f64; 3]>>,
}

impl Ftio {
    /// Starts it. The error says why it cannot be had.
    pub fn start(python: Option<&str>) -> Result<Ftio, String> {
        let python = python.ok_or("no Python is given (--ftio)")?;
        let mut command = Command::new(python);
        command.args(["-c", include_str!("ask_ftio.py")]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let process = command.spawn().map_err(|e| format!("{python}: {e}"))?;
        let pipes = process.stdin.zip(process.stdout);
        let (input, output) = pipes.ok_or_else(|| format!("{python}: no pipe"))?;
        let mut ftio = Ftio { input, output: BufReader::new(output).lines(), rows: BTreeMap::new() };
        ftio.answer().ok_or_else(|| format!("{python} has no package `ftio` (`pip install ftio-hpc`)"))?;
        Ok(ftio)
    }

    fn answer(&mut self) -> Option<Value> {
        serde_json::from_str(&self.output.next()?.ok()?).ok()
    }
}

impl Knowledge for Ftio {
    fn forget(&mut self) {
        self.rows.clear();
        // a process that has ended gives no answers, which the table shows
        let _ = writeln!(self.input, "null");
    }

    fn row(&mut self, job: usize, row: &Interval) {
        self.rows.entry(job).or_default().push([row.start, row.end, row.bytes / (row.end - row.start)]);
    }

    fn ask(&mut self, job: usize, _: f64, _: bool, _: &Phase) -> Option<Prophecy> {
        let rows = std::mem::take(self.rows.entry(job).or_default());
        writeln!(self.input, "{}", json!({"job": job, "rows": rows})).ok()?;
        let characteristic_s = self.answer()?["period_s"].as_f64()?;
        Some(Prophecy { characteristic_s, burst: None })
    }
}
