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

use std::ops::Range;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use iophase::internals::render::figure::{Axis, Numbers, color};
use plotters::style::RGBColor;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::jobs::{Setting, Workload};
use crate::knowledge::{Ftio, Iophase, Knowledge, MeanGap, Truth};
use crate::plot::{Curve, panel};
use crate::policy::Policy;
use crate::sim::Outcome;

/// Prints a table for each workload, a line for each policy and its knowledge, with 95 % intervals over seeds.
#[derive(Parser)]
struct Args {
    /// Default: all.
    workloads: Vec<Workload>,
    #[arg(long, default_value_t = 20)]
    seeds: u64,
    /// Leave out predictions, which take nearly all of the time.
    #[arg(long)]
    truth: bool,
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
    MeanGap,
    Truth,
    Iophase,
    Ftio,
}

/// A policy and its knowledge: as they are named and drawn.
type Contestant = (&'static str, Policy, Source, RGBColor);
const FAIR: Contestant = ("fair share", Policy::FairShare, Source::Nothing, color::INK);
const BEST: Contestant = ("Set-10, truth", Policy::Set10, Source::Truth, color::INK);
const CONTESTANTS: [Contestant; 8] = [
    FAIR,
    ("first come", Policy::FirstCome, Source::Nothing, color::OTHERS[3]),
    ("Set-10, mean gap", Policy::Set10, Source::MeanGap, color::OTHERS[2]),
    ("Set-10, FTIO", Policy::Set10, Source::Ftio, color::DOMINANT),
    ("Set-10, iophase", Policy::Set10, Source::Iophase, color::SIGNAL),
    BEST,
    ("least left, iophase", Policy::LeastLeft, Source::Iophase, color::VALID),
    ("least left, truth", Policy::LeastLeft, Source::Truth, color::OTHERS[0]),
];

/// Those that know something: first come would hide the differences between them.
const DRAWN: &[Contestant] = CONTESTANTS.split_at(2).1;

type Measure = (&'static str, usize, fn(&Outcome) -> f64);
const UTILISATION: Measure = ("utilisation", 4, |o| o.utilisation);
const SLOWDOWN: Measure = ("I/O slowdown", 3, |o| mean(&o.slowdown));
const MEASURES: [Measure; 6] = [
    UTILISATION,
    SLOWDOWN,
    ("mean stretch", 3, |o| mean(&o.stretch)),
    ("largest stretch", 3, |o| o.stretch.iter().copied().fold(0.0, f64::max)),
    ("set known, %", 1, |o| 100.0 * o.known),
    ("right, %", 1, |o| 100.0 * o.right),
];

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
        let value = mean(above) / mean(below);
        let rest: Vec<f64> = above.iter().zip(below).map(|(a, b)| a - value * b).collect();
        Mean { value, half: Mean::of(&rest).half / mean(below).abs() }
    }

    /// `factor` times the mean, and then more by `plus`.
    fn scaled(self, factor: f64, plus: f64) -> Mean {
        Mean { value: factor * self.value + plus, half: (factor * self.half).abs() }
    }

    fn text(self, digits: usize) -> String {
        if self.value.is_nan() { "-".into() } else { format!("{:.digits$} ± {:.digits$}", self.value, self.half) }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A measure of each outcome.
fn each(outcomes: &[Outcome], measure: Measure) -> Vec<f64> {
    outcomes.iter().map(measure.2).collect()
}

/// One run for each seed. None without predictions, if these are left out, and if FTIO cannot be had.
fn outcomes(&(_, policy, source, _): &Contestant, setting: &Setting, a: &Args) -> iophase::Result<Vec<Outcome>> {
    if a.truth && matches!(source, Source::Iophase | Source::Ftio) {
        return Ok(Vec::new());
    }
    let mut knowledge: Box<dyn Knowledge> = match source {
        Source::Nothing => Box::new(()),
        Source::Truth => Box::new(Truth),
        Source::Iophase => Box::new(Iophase::default()),
        Source::MeanGap => Box::new(MeanGap::default()),
        Source::Ftio => match Ftio::start(a.ftio.as_deref()) {
            Ok(ftio) => Box::new(ftio),
            Err(e) => {
                eprintln!("FTIO is left out: {e}");
                return Ok(Vec::new());
            }
        },
    };
    let run = |seed| Ok(sim::run(setting.jobs(seed)?, policy, &mut *knowledge, setting.end_s()));
    let all = (0..a.seeds).map(run).collect::<iophase::Result<Vec<Outcome>>>()?;
    assert!(all.iter().all(Outcome::conserves_work), "bandwidth was left unused, or exceeded");
    Ok(all)
}

/// Prints the table of a workload; gives the outcomes of each contestant.
fn table(workload: Workload, a: &Args) -> iophase::Result<Vec<(Contestant, Vec<Outcome>)>> {
    let setting = workload.setting();
    let mut rows = Vec::new();
    for c in CONTESTANTS {
        rows.push((c, outcomes(&c, &setting, a)?));
    }
    rows.retain(|r| !r.1.is_empty());
    let names: Vec<&str> = MEASURES.iter().map(|m| m.0).collect();
    let classes = setting.classes();
    println!(
        "\n{setting:?}, {} seeds; gains in % of that of Set-10 with the truth; last, slowdown of {classes:?}\n",
        a.seeds
    );
    println!("| policy, knowledge | {} | gain: utilisation | gain: slowdown | by class |", names.join(" | "));
    println!("|{}", "---|".repeat(names.len() + 4));
    let of = |wanted: &str| rows.iter().find(|r| r.0.0 == wanted).map_or(&[][..], |r| &r.1);
    let gain = |x: &[Outcome], m: Measure| -> Vec<f64> {
        each(x, m).iter().zip(each(of(FAIR.0), m)).map(|(x, fair)| x - fair).collect()
    };
    for (c, all) in &rows {
        let mut cells: Vec<String> = MEASURES.iter().map(|m| Mean::of(&each(all, *m)).text(m.1)).collect();
        for m in [UTILISATION, SLOWDOWN] {
            cells.push(Mean::ratio(&gain(all, m), &gain(of(BEST.0), m)).scaled(100.0, 0.0).text(1));
        }
        let class = |jobs: &Range<usize>| {
            Mean::of(&all.iter().map(|o| mean(&o.slowdown[jobs.clone()])).collect::<Vec<_>>()).text(2)
        };
        cells.push(classes.iter().map(class).collect::<Vec<_>>().join(", "));
        println!("| {} | {} |", c.0, cells.join(" | "));
    }
    Ok(rows)
}

/// Prints less I/O slowdown than with fair share, %, along each axis, and draws it.
fn sweep(a: &Args) -> iophase::Result<()> {
    let mut panels = Vec::new();
    for (axis, values, set) in jobs::AXES {
        let mut curves: Vec<Curve> = DRAWN.iter().map(|c| (c.0, c.3, Vec::new())).collect();
        println!("\n| {axis} | {} |", curves.iter().map(|c| c.0).collect::<Vec<_>>().join(" | "));
        println!("|{}", "---|".repeat(curves.len() + 1));
        for &x in values {
            let mut setting = Workload::Decades.setting();
            set(&mut setting, x);
            let fair = each(&outcomes(&FAIR, &setting, a)?, SLOWDOWN);
            let mut cells = vec![x.to_string()];
            for (contestant, curve) in DRAWN.iter().zip(&mut curves) {
                let all = each(&outcomes(contestant, &setting, a)?, SLOWDOWN);
                let less = (!all.is_empty()).then(|| Mean::ratio(&all, &fair).scaled(-100.0, 100.0));
                cells.push(less.map_or_else(String::new, |m| m.text(1)));
                curve.2.extend(less.map(|m| (x, m)));
            }
            println!("| {} |", cells.join(" | "));
        }
        let (first, last) = (values[0], values[values.len() - 1]);
        let margin = 0.06 * (last - first);
        let x = Axis::new((first - margin, last + margin), axis, "", Numbers::Plain);
        panels.push(panel(x, "Less I/O slowdown", &curves, 0.006));
    }
    let caption = format!("Jobs around 10, 100 and 1000 s; mean and 95 % interval of {} seeds", a.seeds);
    plot::write("I/O slowdown against fair share", caption, panels, a.svg.as_deref(), "scheduler_sweep.svg")
}

fn tables(a: &Args) -> iophase::Result<()> {
    let all = if a.workloads.is_empty() { Workload::value_variants() } else { &a.workloads };
    let mut curves: [Vec<Curve>; 2] = [(); 2].map(|()| DRAWN.iter().map(|c| (c.0, c.3, vec![])).collect());
    for (i, workload) in all.iter().enumerate() {
        let rows = table(*workload, a)?;
        for (measure, curves) in [UTILISATION, SLOWDOWN].into_iter().zip(&mut curves) {
            for curve in curves {
                let of = |name: &str| rows.iter().find(|r| r.0.0 == name).map(|r| each(&r.1, measure));
                let ratio = of(curve.0).zip(of(FAIR.0)).map(|(x, fair)| Mean::ratio(&x, &fair));
                let more = if measure.0 == SLOWDOWN.0 { -100.0 } else { 100.0 };
                curve.2.extend(ratio.map(|r| (i as f64, r.scaled(more, -more))));
            }
        }
    }
    let name = |w: &Workload| w.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned());
    let names = || all.iter().enumerate().map(|(i, w)| (i as f64, name(w))).collect();
    let x = |label: &str| Axis::named((-0.5, all.len() as f64 - 0.5), label, names());
    let [utilisation, slowdown] = curves;
    let panels = vec![
        panel(x(""), "More utilisation", &utilisation, 0.02),
        panel(x("Jobs"), "Less I/O slowdown", &slowdown, 0.02),
    ];
    let caption = format!("Mean and 95 % interval of {} seeds", a.seeds);
    plot::write(
        "Utilisation and I/O slowdown against fair share",
        caption,
        panels,
        a.svg.as_deref(),
        "scheduler_gain.svg",
    )
}

fn main() -> iophase::Result<()> {
    let a = Args::parse();
    if a.sweep { sweep(&a) } else { tables(&a) }
}
