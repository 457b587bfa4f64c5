//! I/O that is expected of jobs that run now: bytes per second by minute, from the last runs of the same application, user and size.
//!
//! Each earlier run is a sample of what the new one does: its bytes by minute since its own start. Of up to [`RUNS`] of them the mean
//! and the variance of each minute are added over the running jobs, whose runs are independent. Where a run was periodic, its
//! bursts are placed by offset and period, and blurred by what is not known of them: the k-th burst by
//! σ² = σ_phase² + k² σ_period². A job without earlier runs counts with the mean rate of all jobs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use serde::Deserialize;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::error::{Context, input, usage};
use crate::query::{Answer, Engine, Fleet};
use iophase::{Error, ErrorKind, Place, Result};

/// Earlier runs that make a signature.
const RUNS: usize = 10;
/// 90 % of a normal distribution lie below its mean and this many standard deviations.
const P90: f64 = 1.2816;
/// Seconds since 1970 that can be times of jobs: milliseconds, and seconds since another year, are outside.
const TIMES: std::ops::Range<f64> = 631_152_000.0..7_258_118_400.0;

/// Arguments of `forecast`.
#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// Folder of the fleet
    #[arg(value_hint = ValueHint::DirPath)]
    pub fleet: PathBuf,
    /// Jobs that run: CSV with the columns app, user, ranks, start (seconds since 1970)
    #[arg(long, required_unless_present = "replay", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub running: Option<PathBuf>,
    /// Time for which I/O is forecast, in hours
    #[arg(long, default_value_t = 6.0, value_name = "HOURS")]
    pub horizon: f64,
    /// First minute, seconds since 1970; the latest start of a running job if it is not given
    #[arg(long, value_name = "SECONDS")]
    pub now: Option<f64>,
    /// Bytes per second that are too many: minutes above are marked
    #[arg(long, value_name = "BYTES_PER_S")]
    pub peak: Option<f64>,
    /// Judge the forecast: hold out the last day and compare with what came
    #[arg(long)]
    pub replay: bool,
    /// What answers
    #[command(flatten)]
    pub engine: Engine,
}

/// A job whose I/O is wanted.
#[derive(Debug, Clone, PartialEq)]
struct Job {
    app: String,
    user: String,
    ranks: u64,
    start: f64,
}

/// A run that has ended.
#[derive(Debug, Clone, PartialEq)]
struct Run {
    job: Job,
    length_s: f64,
    /// Bytes by minute since its start.
    minutes: BTreeMap<i64, f64>,
    period: Option<Period>,
}

/// Its dominant period.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Period {
    /// Start of the first burst after the start of the job.
    offset_s: f64,
    period_s: f64,
    std_s: f64,
    bursts: f64,
    width_s: f64,
    bytes: f64,
}

/// Mean and variance of the bytes of each minute from the first on.
#[derive(Debug, Clone, PartialEq)]
struct Forecast {
    mean: Vec<f64>,
    variance: Vec<f64>,
}

/// Makes the forecast, or judges it.
///
/// # Errors
/// [`ErrorKind::Usage`] for a list of jobs that is none, [`ErrorKind::Empty`] without earlier runs, and as [`Engine::open`].
pub fn run(a: &Arguments) -> Result<String> {
    let runs = runs(&a.engine.open(&a.fleet)?)?;
    if runs.is_empty() {
        return Err(Error::new(ErrorKind::Empty, "no run in the fleet has bytes by minute"));
    }
    if a.replay {
        return Ok(replay(&runs));
    }
    let path = a.running.clone().unwrap_or_default();
    let jobs = running(&path)?;
    let latest = jobs.iter().map(|j| j.start).fold(f64::NEG_INFINITY, f64::max);
    let now = a.now.or(Some(latest)).filter(|t| t.is_finite());
    let now = seconds(now.ok_or_else(|| input(&path, "no running job"))?)?;
    let minutes = (a.horizon * 60.0).clamp(1.0, 100_000.0) as usize;
    let first = (now / 60.0).floor() as i64;
    Ok(text(&forecast(&runs, &jobs, first, minutes), first, a.peak))
}

fn text(f: &Forecast, first: i64, peak: Option<f64>) -> String {
    let mut out = String::from("minute_unix_s,bytes_per_s_mean,bytes_per_s_p90,above_peak\n");
    for (i, (mean, variance)) in f.mean.iter().zip(&f.variance).enumerate() {
        let p90 = (mean + P90 * variance.sqrt()) / 60.0;
        let above = peak.map_or(String::new(), |p| (p90 > p).to_string());
        // writing to a string cannot fail
        let _ = writeln!(out, "{},{:.1},{p90:.1},{above}", (first + i as i64) * 60, mean / 60.0);
    }
    out
}

/// The runs of a fleet that moved bytes, in the order of their starts.
fn runs(fleet: &Fleet) -> Result<Vec<Run>> {
    let facts = fleet.sql(
        "select encode(arrow_cast(l.log_key, 'Binary'), 'hex') as key, l.app, l.user_id, l.ranks, l.run_time_s, \
         cast(extract(epoch from l.start_time) as double) as start, p.period_s, p.period_std_s, p.bursts, \
         p.burst_width_median_s as width_s, p.burst_bytes_median as burst_bytes, \
         cast(extract(epoch from p.first_burst) as double) as first_burst \
         from logs l left join (select *, row_number() over (partition by log_key order by bytes desc, mode) as place \
         from signals where confidence > 0.8) p on p.log_key = l.log_key and p.place = 1 \
         where l.status in ('ok', 'partial') and l.start_time is not null order by l.start_time, l.log_key",
    )?;
    let minutes = fleet.sql(
        "select encode(arrow_cast(log_key, 'Binary'), 'hex') as key, cast(extract(epoch from minute) as double) / 60 as minute, \
         sum(bytes) as bytes from minutes where bytes > 0 group by log_key, minute",
    )?;
    let mut by_key: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    let values = minutes.numbers("minute")?.into_iter().zip(minutes.numbers("bytes")?);
    for (key, (minute, bytes)) in minutes.texts("key")?.into_iter().zip(values) {
        by_key.entry(key).or_default().extend(minute.zip(bytes));
    }
    of_answer(&facts, &by_key)
}

fn of_answer(facts: &Answer, by_key: &BTreeMap<String, Vec<(f64, f64)>>) -> Result<Vec<Run>> {
    let (keys, apps, users) = (facts.texts("key")?, facts.texts("app")?, facts.texts("user_id")?);
    let names =
        ["ranks", "start", "run_time_s", "first_burst", "period_s", "period_std_s", "bursts", "width_s", "burst_bytes"];
    let columns = names.iter().map(|n| facts.numbers(n)).collect::<Result<Vec<_>>>()?;
    let mut all = Vec::new();
    for (i, key) in keys.iter().enumerate() {
        let at = |column: usize| columns[column][i];
        let (Some(start), Some(minutes)) = (at(1), by_key.get(key)) else { continue };
        let since = |(minute, bytes): &(f64, f64)| ((minute - (start / 60.0).floor()) as i64, *bytes);
        let period = || {
            let offset_s = at(3)? - start;
            let (period_s, bursts, width_s, bytes) = (at(4)?, at(6)?, at(7)?, at(8)?);
            Some(Period { offset_s, period_s, std_s: at(5).unwrap_or(0.0), bursts, width_s, bytes })
        };
        let job = Job { app: apps[i].clone(), user: users[i].clone(), ranks: at(0).unwrap_or(1.0) as u64, start };
        let minutes: BTreeMap<i64, f64> = minutes.iter().map(since).collect();
        let seen = minutes.keys().next_back().map_or(0.0, |m| (m + 1) as f64 * 60.0);
        all.push(Run { job, length_s: at(2).unwrap_or(seen), minutes, period: period() });
    }
    Ok(all)
}

/// The runs that are most like a job and started before it: of the same application, user and size, else of the application.
fn signature<'a>(runs: &'a [Run], job: &Job) -> Vec<&'a Run> {
    let size = |ranks: u64| ranks.max(1).ilog2();
    let before = || runs.iter().rev().filter(|r| r.job.start < job.start && r.job.app == job.app);
    let same = |r: &&Run| r.job.user == job.user && size(r.job.ranks) == size(job.ranks);
    let own: Vec<&Run> = before().filter(same).take(RUNS).collect();
    if own.is_empty() { before().take(RUNS).collect() } else { own }
}

fn forecast(runs: &[Run], jobs: &[Job], first: i64, minutes: usize) -> Forecast {
    let mut all = Forecast { mean: vec![0.0; minutes], variance: vec![0.0; minutes] };
    let total: f64 = runs.iter().flat_map(|r| r.minutes.values()).sum();
    let length: f64 = runs.iter().map(|r| r.length_s.max(60.0)).sum();
    let ends: f64 = length / runs.len().max(1) as f64;
    for job in jobs {
        let start = (job.start / 60.0).floor() as i64;
        let like = signature(runs, job);
        if like.is_empty() {
            // the mean rate of all jobs for as long as a job lasts
            for (i, mean) in all.mean.iter_mut().enumerate() {
                let since = (first + i as i64 - start) as f64 * 60.0;
                *mean += if (0.0..ends).contains(&since) { 60.0 * total / length } else { 0.0 };
            }
            continue;
        }
        let phase = phase_std(&like);
        let samples: Vec<BTreeMap<i64, f64>> = like.iter().map(|r| blurred(r, phase)).collect();
        let n = samples.len() as f64;
        for i in 0..minutes {
            let since = first + i as i64 - start;
            let of = |s: &BTreeMap<i64, f64>| s.get(&since).copied().unwrap_or(0.0);
            let mean = samples.iter().map(of).sum::<f64>() / n;
            all.mean[i] += mean;
            all.variance[i] += samples.iter().map(|s| (of(s) - mean).powi(2)).sum::<f64>() / n;
        }
    }
    all
}

/// Standard deviation of the first bursts' offsets.
fn phase_std(runs: &[&Run]) -> f64 {
    let offsets: Vec<f64> = runs.iter().filter_map(|r| r.period.map(|p| p.offset_s)).collect();
    let n = offsets.len() as f64;
    let mean = offsets.iter().sum::<f64>() / n.max(1.0);
    (offsets.iter().map(|o| (o - mean).powi(2)).sum::<f64>() / n.max(1.0)).sqrt()
}

/// Bytes of the next run by minute, from an earlier one: its minutes, or its bursts blurred by the uncertainty of their times.
fn blurred(run: &Run, phase_s: f64) -> BTreeMap<i64, f64> {
    let Some(p) = run.period.filter(|p| p.period_s > 0.0 && p.bursts * p.bytes > 0.0) else {
        return run.minutes.clone();
    };
    let phase_in_minute = run.job.start.rem_euclid(60.0);
    let mut all: BTreeMap<i64, f64> = BTreeMap::new();
    for k in 0..p.bursts.min(100_000.0) as u64 {
        let k = k as f64;
        // the bytes of a burst are spread over its width, whose variance is that of a uniform distribution
        let std = (phase_s.powi(2) + (k * p.std_s).powi(2) + p.width_s.powi(2) / 12.0).sqrt().max(1e-3);
        let middle = phase_in_minute + p.offset_s + k * p.period_s + 0.5 * p.width_s;
        let Ok(normal) = Normal::new(middle, std) else { continue };
        let (from, to) = (((middle - 4.0 * std) / 60.0).floor() as i64, ((middle + 4.0 * std) / 60.0).floor() as i64);
        for minute in from..=to.min(from + 10_000) {
            let share = normal.cdf((minute + 1) as f64 * 60.0) - normal.cdf(minute as f64 * 60.0);
            *all.entry(minute).or_default() += share * p.bytes;
        }
    }
    // bursts are not all of the bytes
    let (made, moved) = (all.values().sum::<f64>(), run.minutes.values().sum::<f64>());
    all.values_mut().for_each(|b| *b *= moved / made.max(1e-9));
    all
}

/// Holds out the last day: mean absolute error of the bytes per minute, against the same minute of the day before and the mean.
fn replay(runs: &[Run]) -> String {
    let minute = |r: &Run| (r.job.start / 60.0).floor() as i64;
    let last = runs.last().map_or(0, minute);
    let first = last - 24 * 60 + 1;
    let (before, held): (Vec<Run>, Vec<Run>) = runs.iter().cloned().partition(|r| minute(r) < first);
    let jobs: Vec<Job> = held.iter().map(|r| r.job.clone()).collect();
    let day = 24 * 60;
    let bytes = |of: &[Run], from: i64| {
        let mut sums = vec![0.0; day];
        for (m, b) in of.iter().flat_map(|r| r.minutes.iter().map(|(m, b)| (minute(r) + m - from, *b))) {
            if let Some(sum) = usize::try_from(m).ok().and_then(|m| sums.get_mut(m)) {
                *sum += b;
            }
        }
        sums
    };
    let truth = bytes(&held, first);
    let days = before.first().map_or(1.0, |r| ((first - minute(r)) as f64 / day as f64).max(1.0));
    let mean = before.iter().flat_map(|r| r.minutes.values()).sum::<f64>() / (days * day as f64);
    let error =
        |of: &dyn Fn(usize) -> f64| truth.iter().enumerate().map(|(i, t)| (t - of(i)).abs()).sum::<f64>() / day as f64;
    let made = forecast(&before, &jobs, first, day);
    let yesterday = bytes(&before, first - day as i64);
    let mut out = String::from("method,mean_absolute_error_bytes_per_minute\n");
    for (name, e) in [
        ("forecast", error(&|i| made.mean[i])),
        ("same minute of the day before", error(&|i| yesterday[i])),
        ("mean of all minutes before", error(&|_| mean)),
    ] {
        // writing to a string cannot fail
        let _ = writeln!(out, "{name},{e:.1}");
    }
    out
}

/// A line of the list of running jobs.
#[derive(Deserialize)]
struct Row {
    app: String,
    user: String,
    ranks: u64,
    start: f64,
}

/// The jobs of a CSV file.
fn running(path: &Path) -> Result<Vec<Job>> {
    let file = std::fs::File::open(path).or_input(path)?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
    let wrong = |e: csv::Error| match e.kind() {
        csv::ErrorKind::Io(e) => input(path, e),
        csv::ErrorKind::Deserialize { err, .. } => usage(err.to_string()),
        _ => usage(e.to_string()),
    };
    let heading = reader.headers().map_err(wrong)?.clone();
    let job = |record: &csv::StringRecord| {
        let row = record.deserialize(Some(&heading)).map_err(wrong);
        let Row { app, user, ranks, start } =
            row.map_err(|e| e.expected("app,user,ranks,start: ranks and start as numbers"))?;
        Ok(Job { app, user, ranks, start: seconds(start)? })
    };
    let jobs = reader.records().map(|record| {
        let record = record.map_err(wrong)?;
        let line = record.position().map_or(0, csv::Position::line);
        job(&record).map_err(|e: Error| e.at(Place::Line(line)))
    });
    jobs.collect::<Result<_>>().map_err(|e| e.in_file(path.display().to_string()))
}

/// A time that a job can have.
fn seconds(time: f64) -> Result<f64> {
    TIMES.contains(&time).then_some(time).ok_or_else(|| {
        usage(format!("{time} is no time of a job")).expected("seconds since 1970, of the years from 1990 to 2199")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: f64, period: Option<Period>, minutes: &[(i64, f64)]) -> Run {
        let job = Job { app: "a".into(), user: "u".into(), ranks: 8, start };
        Run { job, length_s: 600.0, minutes: minutes.iter().copied().collect(), period }
    }

    #[test]
    fn a_job_does_what_its_last_runs_did() {
        let runs = [run(0.0, None, &[(0, 60.0), (2, 120.0)]), run(6000.0, None, &[(0, 100.0), (2, 120.0)])];
        let job = Job { start: 60_000.0, ..runs[0].job.clone() };
        let f = forecast(&runs, &[job.clone(), job], 1000, 4);
        assert_eq!(f.mean, [160.0, 0.0, 240.0, 0.0]);
        assert_eq!(f.variance, [800.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn running_jobs_are_read_as_csv_and_have_times_that_can_be() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let jobs = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            running(file.path())
        };
        let read = jobs("job_id,app,user,ranks,start\n\"1\",\"a, b\", u ,8,\"1767225600\"\n\n").unwrap();
        assert_eq!(read, [Job { app: "a, b".into(), user: "u".into(), ranks: 8, start: 1_767_225_600.0 }]);
        for start in ["1767225600000", "0", "-5", "nan", "soon", ""] {
            let e = jobs(&format!("job_id,app,user,ranks,start\n1,a,u,8,1767225600\n1,a,u,8,{start}\n")).unwrap_err();
            assert_eq!((e.kind(), e.place()), (ErrorKind::Usage, Some(Place::Line(3))), "{start}: {e}");
        }
        assert!(jobs("job_id,app,user\n1,a,u\n").unwrap_err().to_string().contains("ranks"));
        assert_eq!(seconds(1_767_225_600_000.0).unwrap_err().kind(), ErrorKind::Usage);
    }

    #[test]
    fn a_job_without_earlier_runs_counts_with_the_mean_rate() {
        let runs = [run(0.0, None, &[(0, 600.0)])];
        let job = Job { app: "new".into(), start: 6000.0, ..runs[0].job.clone() };
        let f = forecast(&runs, &[job], 100, 12);
        assert_eq!(f.mean[..10], [60.0; 10]);
        assert_eq!(f.mean[10..], [0.0; 2]);
    }

    #[test]
    fn bursts_blur_with_their_number_and_keep_their_bytes() {
        let p = Period { offset_s: 30.0, period_s: 600.0, std_s: 10.0, bursts: 20.0, width_s: 5.0, bytes: 50.0 };
        let of = blurred(&run(0.0, Some(p), &[(0, 1000.0)]), 0.0);
        assert!((of.values().sum::<f64>() - 1000.0).abs() < 1e-6);
        assert!(of[&0] > 49.9, "the first burst is in its minute: {}", of[&0]);
        assert!(of.get(&190).copied().unwrap_or(0.0) < 20.0, "the last is spread over many");
    }
}
