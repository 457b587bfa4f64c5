//! What a scheduler of I/O gains from predictions: jobs share a file system in a discrete-event simulation.
//!
//! `cargo run --release --features internals --example io_sets -- --help`. Equal seeds give equal jobs, the same for all policies. `docs/scheduler.md` says
//! what it means.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod jobs;
mod knowledge;
mod plot;
mod policy;
mod sim;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use iophase::{Error, ErrorKind};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::jobs::{Setting, Workload};
use crate::knowledge::{Ftio, Iophase, Knowledge, MeanGap, Nothing, Truth};
use crate::plot::Curve;
use crate::policy::Policy;
use crate::sim::Outcome;

/// Prints a table for each workload, a line for each policy and what it is told, with 95 % intervals over seeds.
#[derive(Parser)]
struct Args {
    /// Default: all.
    workloads: Vec<Workload>,
    #[arg(long, default_value_t = 20)]
    seeds: u64,
    /// Seeds for iophase and FTIO, whose predictions take most of the time. Default: all.
    #[arg(long, default_value_t = u64::MAX)]
    predicted_seeds: u64,
    /// A Python with the package `ftio-hpc`.
    #[arg(long)]
    ftio: Option<String>,
    /// Vary load, jitter and the share of aperiodic jobs in the workload `decades` instead.
    #[arg(long)]
    sweep: bool,
    /// Folder for the picture.
    #[arg(long)]
    svg: Option<PathBuf>,
}

/// Where a scheduler has its knowledge from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    Nothing,
    Truth,
    Iophase,
    Ftio,
    MeanGap,
}

type Contestant = (Policy, Source);
const FAIR: Contestant = (Policy::FairShare, Source::Nothing);
const BEST: Contestant = (Policy::Set10, Source::Truth);
const CONTESTANTS: [Contestant; 8] = [
    FAIR,
    (Policy::FirstCome, Source::Nothing),
    (Policy::Set10, Source::MeanGap),
    BEST,
    (Policy::LeastLeft, Source::Truth),
    (Policy::Set10, Source::Iophase),
    (Policy::LeastLeft, Source::Iophase),
    (Policy::Set10, Source::Ftio),
];

fn name((policy, source): Contestant) -> String {
    format!("{policy:?}, {source:?}")
}

/// A mean and half the width of its 95 % interval.
#[derive(Debug, Clone, Copy)]
pub struct Mean {
    /// The mean over seeds.
    pub value: f64,
    /// Half of its interval of 95 %.
    pub half: f64,
}

impl Mean {
    fn of(values: &[f64]) -> Mean {
        let n = values.len() as f64;
        let value = mean(values);
        let variance = values.iter().map(|v| (v - value).powi(2)).sum::<f64>() / (n - 1.0);
        // Student's t has no quantile for a single value
        let t95 = StudentsT::new(0.0, 1.0, n - 1.0).map_or(f64::NAN, |t| t.inverse_cdf(0.975));
        Mean { value, half: t95 * (variance / n).sqrt() }
    }

    /// The ratio of the means of paired values.
    fn ratio(above: &[f64], below: &[f64]) -> Mean {
        let below = &below[..above.len()];
        let value = mean(above) / mean(below);
        let rest: Vec<f64> = above.iter().zip(below).map(|(a, b)| a - value * b).collect();
        Mean { value, half: Mean::of(&rest).half / mean(below).abs() }
    }

    fn text(self, factor: f64, digits: usize) -> String {
        format!("{:.digits$} ± {:.digits$}", factor * self.value, factor * self.half)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn slowdown(o: &Outcome) -> f64 {
    mean(&o.slowdown)
}

/// One run for each seed. None if FTIO cannot be had.
fn outcomes((policy, source): Contestant, setting: &Setting, a: &Args) -> iophase::Result<Vec<Outcome>> {
    let mut all = Vec::new();
    let mut predictions = [0; 3];
    let predicted = matches!(source, Source::Iophase | Source::Ftio);
    for seed in 0..if predicted { a.seeds.min(a.predicted_seeds) } else { a.seeds } {
        let mut knowledge: Box<dyn Knowledge> = match source {
            Source::Nothing => Box::new(Nothing),
            Source::Truth => Box::new(Truth),
            Source::Iophase => Box::new(Iophase::default()),
            Source::MeanGap => Box::new(MeanGap::default()),
            Source::Ftio => match Ftio::start(a.ftio.as_deref()) {
                Ok(ftio) => Box::new(ftio),
                Err(e) => {
                    eprintln!("FTIO is left out: {e}");
                    break;
                }
            },
        };
        let outcome = sim::run(setting.jobs(seed)?, policy, &mut *knowledge, setting.end_s());
        assert!(outcome.conserves_work(), "bandwidth was left unused, or exceeded");
        all.push(outcome);
        knowledge.predictions().into_iter().zip(&mut predictions).for_each(|(n, sum)| *sum += n);
    }
    let [asked, periods, right] = predictions;
    if asked > 0 {
        eprintln!("{}: {asked} predictions, {periods} periods, {right} of the right set", name((policy, source)));
    }
    Ok(all)
}

/// The table of a workload, and its slowdowns relative to fair share for the picture.
fn table(workload: Workload, a: &Args) -> iophase::Result<Vec<(String, Mean)>> {
    let setting = workload.setting();
    println!(
        "\n{setting:?}, {} seeds; gains: % of that of Set-10 with the truth; last: slowdown of jobs {:?}\n",
        a.seeds,
        setting.classes()
    );
    println!(
        "| policy, told | utilisation | I/O slowdown | mean stretch | largest stretch | gain: utilisation | gain: slowdown |"
    );
    println!("|---|---|---|---|---|---|---|");
    let (fair, best) = (outcomes(FAIR, &setting, a)?, outcomes(BEST, &setting, a)?);
    let mut relative = Vec::new();
    for contestant in CONTESTANTS {
        let all = outcomes(contestant, &setting, a)?;
        if all.is_empty() {
            continue;
        }
        let of = |measure: &dyn Fn(&Outcome) -> f64| all.iter().map(measure).collect::<Vec<f64>>();
        let text = |digits, measure: &dyn Fn(&Outcome) -> f64| Mean::of(&of(measure)).text(1.0, digits);
        let gain = |measure: fn(&Outcome) -> f64| {
            let over_fair =
                |x: &[Outcome]| x.iter().zip(&fair).map(|(x, f)| measure(x) - measure(f)).collect::<Vec<_>>();
            Mean::ratio(&over_fair(&all), &over_fair(&best)).text(100.0, 1)
        };
        print!("| {} | {} | {} ", name(contestant), text(4, &|o| o.utilisation), text(3, &slowdown));
        print!(
            "| {} | {} ",
            text(3, &|o| mean(&o.stretch)),
            text(3, &|o| o.stretch.iter().copied().fold(0.0, f64::max))
        );
        print!("| {} | {} |", gain(|o| o.utilisation), gain(slowdown));
        for jobs in setting.classes() {
            print!(" {} |", text(2, &|o| mean(&o.slowdown[jobs.clone()])));
        }
        println!();
        let of_fair: Vec<f64> = fair.iter().map(slowdown).collect();
        relative.push((name(contestant), Mean::ratio(&of(&slowdown), &of_fair)));
    }
    Ok(relative)
}

/// Reductions of the slowdown along one axis.
fn along(axis: &str, values: &[f64], set: fn(&mut Setting, f64), a: &Args) -> iophase::Result<Vec<Curve>> {
    let contestants = [BEST, CONTESTANTS[4], CONTESTANTS[5], CONTESTANTS[6]];
    let mut curves = contestants.map(|c| (name(c), Vec::new()));
    println!("\nless I/O slowdown than with fair share, %\n\n| {axis} | {} |", contestants.map(name).join(" | "));
    for &x in values {
        let mut setting = Workload::Decades.setting();
        set(&mut setting, x);
        let fair: Vec<f64> = outcomes(FAIR, &setting, a)?.iter().map(slowdown).collect();
        print!("| {x} |");
        for (contestant, (_, points)) in contestants.into_iter().zip(&mut curves) {
            let all: Vec<f64> = outcomes(contestant, &setting, a)?.iter().map(slowdown).collect();
            if all.is_empty() {
                print!(" |");
                continue;
            }
            let ratio = Mean::ratio(&all, &fair);
            let less = Mean { value: 1.0 - ratio.value, half: ratio.half };
            print!(" {} |", less.text(100.0, 1));
            points.push((x, less));
        }
        println!();
    }
    Ok(curves.into_iter().filter(|c| !c.1.is_empty()).collect())
}

fn main() -> iophase::Result<()> {
    let mut a = Args::parse();
    let mut panels = Vec::new();
    if a.sweep {
        for (axis, values, set) in jobs::AXES {
            panels.push((axis.to_owned(), along(axis, values, set, &a)?));
        }
    } else {
        if a.workloads.is_empty() {
            a.workloads = Workload::value_variants().to_vec();
        }
        for workload in &a.workloads {
            let relative = table(*workload, &a)?.into_iter().enumerate();
            let curves = relative.map(|(i, (name, m))| (format!("{}: {name}", i + 1), vec![((i + 1) as f64, m)]));
            panels.push((format!("{workload:?}"), curves.collect()));
        }
    }
    let Some(folder) = a.svg else { return Ok(()) };
    let (file, what) = match a.sweep {
        true => ("scheduler_sweep.svg", "less I/O slowdown than with fair share"),
        false => ("scheduler_gain.svg", "I/O slowdown relative to fair share"),
    };
    plot::draw(&panels, what, &folder.join(file))
        .map_err(|e| Error::new(ErrorKind::Output, format!("{}: {e}", folder.join(file).display())))
}
