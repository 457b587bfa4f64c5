//! What a scheduler is told about a job when it asks for access.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use iophase::online::{Every, Options, Prediction, Session};
use iophase::record::Interval;
use serde_json::{Value, json};

use crate::jobs::Phase;

/// What a scheduler was told.
#[derive(Debug, Clone, Copy)]
pub struct Prophecy {
    /// Mean time between the starts of bursts, seconds.
    pub characteristic_s: f64,
    /// The next burst, if more than the time between bursts is known.
    pub burst: Option<Burst>,
}

#[derive(Debug, Clone, Copy)]
pub struct Burst {
    pub bytes: f64,
    /// Earliest start within the uncertainty, and when the burst after it is due, seconds.
    pub earliest_s: f64,
    pub valid_until_s: f64,
}

impl Prophecy {
    /// Bytes left of the I/O that began at a time and has moved some. `None` if it is not the predicted burst: too early for it, or
    /// long overdue. Of a burst that outgrows its prediction as much is left, for all one knows, as it has outgrown it.
    pub fn left(&self, start_s: f64, moved: f64) -> Option<f64> {
        let expected = self.burst.filter(|b| (b.earliest_s..=b.valid_until_s).contains(&start_s))?;
        Some((expected.bytes - moved).abs())
    }
}

/// A source of knowledge.
pub trait Knowledge {
    /// A call of a job is over.
    fn row(&mut self, _job: usize, _row: &Interval) {}
    /// A job asks for access at a time. Only the truth may look at the phase.
    fn ask(&mut self, job: usize, now_s: f64, phase: &Phase) -> Option<Prophecy>;
}

/// Nothing is known.
pub struct Nothing;

impl Knowledge for Nothing {
    fn ask(&mut self, _: usize, _: f64, _: &Phase) -> Option<Prophecy> {
        None
    }
}

/// Everything is known, from the plan of the job.
pub struct Truth;

impl Knowledge for Truth {
    fn ask(&mut self, _: usize, now_s: f64, phase: &Phase) -> Option<Prophecy> {
        let burst = Burst { bytes: phase.calls.iter().sum(), earliest_s: now_s, valid_until_s: now_s };
        Some(Prophecy { characteristic_s: phase.characteristic_s, burst: Some(burst) })
    }
}

/// The mean time between requests for access: all that a scheduler knows by itself.
#[derive(Default)]
pub struct MeanGap(BTreeMap<usize, (f64, u32)>);

impl Knowledge for MeanGap {
    fn ask(&mut self, job: usize, now_s: f64, _: &Phase) -> Option<Prophecy> {
        let (first_s, before) = self.0.entry(job).or_insert((now_s, 0));
        *before += 1;
        let gaps = f64::from(*before - 1);
        (gaps > 0.0).then(|| Prophecy { characteristic_s: (now_s - *first_s) / gaps, burst: None })
    }
}

/// A session of iophase for each job.
#[derive(Default)]
pub struct Iophase {
    sessions: BTreeMap<usize, Session>,
    /// What was told last, and until when it holds.
    told: BTreeMap<usize, (Prophecy, f64)>,
    /// Predictions: all, those with a period to plan with, and those with a period of the right set.
    pub predictions: u64,
    pub periods: u64,
    pub right_sets: u64,
    /// Rows and predictions are printed.
    log: bool,
}

/// The documentation advises not to plan with less.
const LEAST_CONFIDENCE: f64 = 0.5;
/// Standard deviations that a burst may come too early and still be the predicted one.
const DEVIATIONS: f64 = 3.0;

impl Iophase {
    pub fn new(log: bool) -> Iophase {
        Iophase { log, ..Iophase::default() }
    }

    fn session(&mut self, job: usize) -> &mut Session {
        self.sessions.entry(job).or_insert_with(|| Session::new(None, Options::default().every(Every::Message)))
    }
}

impl Knowledge for Iophase {
    fn row(&mut self, job: usize, row: &Interval) {
        if self.log {
            eprintln!("{}", json!({"job": job, "row": [row.start, row.end, row.bytes]}));
        }
        self.session(job).feed(std::slice::from_ref(row));
    }

    /// Asks again when what was told has expired.
    fn ask(&mut self, job: usize, now_s: f64, phase: &Phase) -> Option<Prophecy> {
        if let Some((told, until_s)) = self.told.get(&job)
            && now_s <= *until_s
        {
            return Some(*told);
        }
        let p = self.session(job).predict();
        if self.log {
            eprintln!("{}", json!({"job": job, "asked_s": now_s, "true_s": phase.characteristic_s, "prediction": p}));
        }
        self.predictions += 1;
        let told = prophecy(&p);
        if let (Some(told), Some(until_s)) = (told, p.valid_until_s) {
            self.told.insert(job, (told, until_s));
            self.periods += 1;
            self.right_sets += u64::from(set(told.characteristic_s) == set(phase.characteristic_s));
        } else {
            self.told.remove(&job);
        }
        told
    }
}

/// What a prediction tells a scheduler; `None`: leave the job alone.
fn prophecy(p: &Prediction) -> Option<Prophecy> {
    let characteristic_s = p.period_s.filter(|_| p.periodic && p.confidence >= Some(LEAST_CONFIDENCE))?;
    let burst = p.bytes.zip(p.next_start_s).zip(p.valid_until_s).map(|((bytes, start_s), until_s)| {
        let uncertain_s = p.next_start_std_s.map_or(0.25 * characteristic_s, |std| DEVIATIONS * std);
        Burst { bytes, earliest_s: start_s - uncertain_s, valid_until_s: until_s + uncertain_s }
    });
    Some(Prophecy { characteristic_s, burst })
}

/// The set of Set-10 that a characteristic time belongs to.
pub fn set(characteristic_s: f64) -> i32 {
    characteristic_s.log10().round() as i32
}

/// FTIO in a process of Python that is sent the rows of all jobs.
pub struct Ftio {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    rows: BTreeMap<usize, Vec<[f64; 3]>>,
}

impl Ftio {
    /// Starts it. The error says why it cannot be had.
    pub fn start(python: &str) -> Result<Ftio, String> {
        let mut command = Command::new(python);
        command.args(["-u", "-c", include_str!("ftio.py")]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::null()).spawn().map_err(|e| format!("{python}: {e}"))?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(format!("{python}: no pipe"));
        };
        let mut ftio = Ftio { process, input, output: BufReader::new(output), rows: BTreeMap::new() };
        let hello = ftio.answer().ok_or_else(|| format!("{python} has no package `ftio` (`pip install ftio-hpc`)"))?;
        eprintln!("FTIO {}", hello["version"].as_str().unwrap_or("of unknown version"));
        Ok(ftio)
    }

    fn answer(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    /// Forgets all jobs.
    pub fn begin_anew(&mut self) {
        self.rows.clear();
        // a process that is gone is noticed when it is asked
        let _ = writeln!(self.input, "{}", json!({"anew": true}));
    }
}

impl Knowledge for Ftio {
    fn row(&mut self, job: usize, row: &Interval) {
        self.rows.entry(job).or_default().push([row.start, row.end, row.bytes / (row.end - row.start)]);
    }

    fn ask(&mut self, job: usize, _: f64, _: &Phase) -> Option<Prophecy> {
        let rows = std::mem::take(self.rows.entry(job).or_default());
        writeln!(self.input, "{}", json!({"job": job, "rows": rows})).ok()?;
        let characteristic_s = self.answer()?["period_s"].as_f64()?;
        Some(Prophecy { characteristic_s, burst: None })
    }
}

impl Drop for Ftio {
    fn drop(&mut self) {
        // nothing is left to do if it has ended already
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
