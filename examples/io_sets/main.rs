//! What a scheduler of I/O gains from predictions: jobs share a file system in a discrete-event simulation.
//!
//! `cargo run --release --example io_sets -- [WORKLOAD...] [--seeds 20] [--load X] [--jitter X] [--aperiodic X] [--length X]
//! [--ftio PYTHON] [--ftio-seeds N] [--sweep] [--svg DIR] [--log]`
//!
//! Prints a table for each workload, by default all: a policy and what it is told in each line, with 95 % intervals over seeds.
//! `--sweep` varies load, jitter and the share of aperiodic jobs in the workload `decades`. `--ftio` names a Python with the package
//! `ftio-hpc`. `--svg` draws both. `--log` prints rows and predictions to standard error. Equal seeds give equal jobs; they
//! are the same for all policies. `docs/scheduler.md` says what it means.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod jobs;
mod knowledge;
mod plot;
mod policy;
mod sim;
mod summary;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use iophase::{Error, ErrorKind};

use crate::jobs::{Setting, Workload};
use crate::knowledge::{Ftio, Iophase, MeanGap, Nothing, Truth};
use crate::policy::Policy;
use crate::sim::Outcome;
use crate::summary::Mean;

/// Where a scheduler has its knowledge from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    Nothing,
    MeanGap,
    Truth,
    Iophase,
    Ftio,
}

impl Source {
    fn name(self) -> &'static str {
        match self {
            Source::Nothing => "nothing",
            Source::MeanGap => "mean gap",
            Source::Truth => "truth",
            Source::Iophase => "iophase",
            Source::Ftio => "FTIO",
        }
    }
}

type Contestant = (Policy, Source);

const FAIR: Contestant = (Policy::FairShare, Source::Nothing);
const BEST: Contestant = (Policy::Set10, Source::Truth);
const CONTESTANTS: [Contestant; 8] = [
    FAIR,
    (Policy::FirstCome, Source::Nothing),
    BEST,
    (Policy::Set10, Source::Iophase),
    (Policy::Set10, Source::Ftio),
    (Policy::Set10, Source::MeanGap),
    (Policy::LeastLeft, Source::Truth),
    (Policy::LeastLeft, Source::Iophase),
];
/// Those of the sweep.
const SWEPT: [Contestant; 4] = [FAIR, BEST, CONTESTANTS[3], CONTESTANTS[7]];

struct Options {
    workloads: Vec<Workload>,
    seeds: u64,
    ftio_seeds: u64,
    ftio: Option<Ftio>,
    sweep: bool,
    svg: Option<PathBuf>,
    log: bool,
    load: Option<f64>,
    jitter: Option<f64>,
    aperiodic: Option<f64>,
    length: Option<f64>,
}

impl Options {
    fn parse() -> iophase::Result<Options> {
        let mut o = Options {
            workloads: Vec::new(),
            seeds: 20,
            ftio_seeds: u64::MAX,
            ftio: None,
            sweep: false,
            svg: None,
            log: false,
            load: None,
            jitter: None,
            aperiodic: None,
            length: None,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(a) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| usage(format!("{a} needs a value")));
            match a.as_str() {
                "--seeds" => o.seeds = number(&value()?)?.max(1.0) as u64,
                "--ftio-seeds" => o.ftio_seeds = number(&value()?)? as u64,
                "--load" => o.load = Some(number(&value()?)?),
                "--jitter" => o.jitter = Some(number(&value()?)?),
                "--aperiodic" => o.aperiodic = Some(number(&value()?)?),
                "--length" => o.length = Some(number(&value()?)?),
                "--ftio" => o.ftio = Ftio::start(&value()?).inspect_err(|e| eprintln!("without FTIO: {e}")).ok(),
                "--sweep" => o.sweep = true,
                "--svg" => o.svg = Some(value()?.into()),
                "--log" => o.log = true,
                name => {
                    let workload = Workload::ALL.into_iter().find(|w| w.name() == name);
                    o.workloads.push(workload.ok_or_else(|| usage(format!("`{name}` is no workload and no option")))?);
                }
            }
        }
        if o.workloads.is_empty() && !o.sweep {
            o.workloads = Workload::ALL.to_vec();
        }
        Ok(o)
    }

    fn setting(&self, workload: Workload) -> Setting {
        let standard = workload.setting();
        Setting {
            load: self.load.unwrap_or(standard.load),
            jitter: self.jitter.unwrap_or(standard.jitter),
            aperiodic: self.aperiodic.unwrap_or(standard.aperiodic),
            length: self.length.unwrap_or(standard.length),
            ..standard
        }
    }
}

fn usage(message: String) -> Error {
    let names: Vec<&str> = Workload::ALL.iter().map(|w| w.name()).collect();
    Error::new(ErrorKind::Usage, message)
        .expected(format!("workloads {}, and options of the first lines of main.rs", names.join(", ")))
}

fn number(text: &str) -> iophase::Result<f64> {
    text.parse().map_err(|_| usage(format!("`{text}` is no number")))
}

/// One run for each seed.
fn outcomes((policy, source): Contestant, setting: &Setting, o: &mut Options) -> iophase::Result<Vec<Outcome>> {
    let (mut told, mut right, mut asked) = (0, 0, 0);
    let seeds = if source == Source::Ftio { o.seeds.min(o.ftio_seeds) } else { o.seeds };
    let mut all = Vec::new();
    for seed in 0..seeds {
        let (jobs, span) = (setting.jobs(seed)?, setting.span());
        all.push(match source {
            Source::Nothing => sim::run(jobs, policy, &mut Nothing, span),
            Source::MeanGap => sim::run(jobs, policy, &mut MeanGap::default(), span),
            Source::Truth => sim::run(jobs, policy, &mut Truth, span),
            Source::Iophase => {
                let mut iophase = Iophase::new(o.log);
                let outcome = sim::run(jobs, policy, &mut iophase, span);
                asked += iophase.predictions;
                (told, right) = (told + iophase.periods, right + iophase.right_sets);
                outcome
            }
            Source::Ftio => {
                let Some(ftio) = &mut o.ftio else { break };
                ftio.begin_anew();
                sim::run(jobs, policy, ftio, span)
            }
        });
    }
    if let Some(wrong) = all.iter().position(|o| !o.conserves_work()) {
        return Err(Error::new(ErrorKind::Limit, format!("seed {wrong}: bandwidth was left unused, or exceeded")));
    }
    if asked > 0 {
        eprintln!("{}: {asked} predictions, {told} with a period, {right} of the right set", policy.name());
    }
    Ok(all)
}

fn of(all: &[Outcome], measure: impl Fn(&Outcome) -> f64) -> Vec<f64> {
    all.iter().map(measure).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn slowdown(o: &Outcome) -> f64 {
    mean(&o.slowdown)
}

/// How much of what the best gains over fair share was gained.
fn share_of_gain(all: &[Outcome], fair: &[Outcome], best: &[Outcome], measure: fn(&Outcome) -> f64) -> Mean {
    let gain = |x: &[Outcome]| -> Vec<f64> { x.iter().zip(fair).map(|(x, f)| measure(x) - measure(f)).collect() };
    Mean::ratio(&gain(all), &gain(best))
}

/// The table of a workload; returns the lines of its picture.
fn table(workload: Workload, o: &mut Options) -> iophase::Result<plot::Panel> {
    let setting = o.setting(workload);
    println!(
        "\n{}: load {}, jitter {}, aperiodic {}, {} seeds, {:?}\n",
        workload.name(),
        setting.load,
        setting.jitter,
        setting.aperiodic,
        o.seeds,
        setting.span()
    );
    println!(
        "| policy | told | utilisation | I/O slowdown | mean stretch | largest stretch | gain in utilisation | in slowdown |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let fair = outcomes(FAIR, &setting, o)?;
    let best = outcomes(BEST, &setting, o)?;
    let mut panel = plot::Panel { title: workload.name().to_owned(), rows: Vec::new() };
    let mut by_class = Vec::new();
    for contestant in CONTESTANTS {
        let all = match contestant {
            FAIR | BEST => None,
            other => Some(outcomes(other, &setting, o)?),
        };
        let all = all.as_ref().unwrap_or(if contestant == FAIR { &fair } else { &best });
        if all.is_empty() {
            continue;
        }
        let (policy, source) = (contestant.0.name(), contestant.1.name());
        let gain = |measure| share_of_gain(all, &fair, &best, measure).percent();
        println!(
            "| {policy} | {source} | {} | {} | {} | {} | {} | {} |",
            Mean::of(&of(all, |o| o.utilisation)).text(4),
            Mean::of(&of(all, slowdown)).text(3),
            Mean::of(&of(all, |o| mean(&o.stretch))).text(4),
            Mean::of(&of(all, |o| o.stretch.iter().copied().fold(0.0, f64::max))).text(3),
            gain(|o| o.utilisation),
            gain(slowdown),
        );
        let relative = Mean::ratio(&of(all, slowdown), &of(&fair, slowdown));
        panel.rows.push((format!("{policy}, {source}"), relative));
        by_class.push((format!("{policy}, {source}"), classes(&setting, all)?));
    }
    println!("\nI/O slowdown by class of jobs\n");
    for (name, classes) in by_class {
        let text: Vec<String> = classes.iter().map(|(class, m)| format!("{class}: {}", m.text(3))).collect();
        println!("- {name}: {}", text.join(", "));
    }
    Ok(panel)
}

/// I/O slowdown of the jobs of each class.
fn classes(setting: &Setting, all: &[Outcome]) -> iophase::Result<Vec<(String, Mean)>> {
    let names: Vec<String> = setting.jobs(0)?.into_iter().map(|j| j.class).collect();
    let mut distinct = names.clone();
    distinct.dedup();
    let of_class = |class: &String, o: &Outcome| {
        let some: Vec<f64> = names.iter().zip(&o.slowdown).filter(|(n, _)| *n == class).map(|(_, s)| *s).collect();
        mean(&some)
    };
    Ok(distinct.into_iter().map(|class| (class.clone(), Mean::of(&of(all, |o| of_class(&class, o))))).collect())
}

/// Varies one thing after the other.
fn sweep(o: &mut Options) -> iophase::Result<Vec<plot::Curves>> {
    type Change = fn(&mut Setting, f64);
    let axes: [(&str, &[f64], Change); 3] = [
        ("load", &[0.3, 0.5, 0.7, 0.9], |s, x| s.load = x),
        ("jitter", &[0.0, 0.05, 0.1, 0.2, 0.4], |s, x| s.jitter = x),
        ("share of aperiodic jobs", &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0], |s, x| s.aperiodic = x),
    ];
    let mut all = Vec::new();
    for (axis, values, change) in axes {
        println!("\n{axis}: reduction of the I/O slowdown against fair share, %\n");
        let mut curves: Vec<plot::Curve> = Vec::new();
        for contestant in &SWEPT[1..] {
            curves.push(plot::Curve {
                name: format!("{}, {}", contestant.0.name(), contestant.1.name()),
                points: Vec::new(),
            });
        }
        for &x in values {
            let mut setting = o.setting(Workload::Decades);
            change(&mut setting, x);
            let fair = of(&outcomes(FAIR, &setting, o)?, slowdown);
            print!("| {x} | {:.2} ", mean(&fair));
            for (curve, contestant) in curves.iter_mut().zip(&SWEPT[1..]) {
                let ratio = Mean::ratio(&of(&outcomes(*contestant, &setting, o)?, slowdown), &fair);
                let reduction = Mean { value: 1.0 - ratio.value, half: ratio.half };
                print!("| {} ", reduction.percent());
                curve.points.push((x, reduction));
            }
            println!("|");
        }
        all.push(plot::Curves { axis: axis.to_owned(), curves });
    }
    Ok(all)
}

fn main() -> iophase::Result<()> {
    let mut o = Options::parse()?;
    let mut panels = Vec::new();
    for workload in o.workloads.clone() {
        panels.push(table(workload, &mut o)?);
    }
    let curves = if o.sweep { sweep(&mut o)? } else { Vec::new() };
    if let Some(folder) = &o.svg {
        let drawn = plot::gains(&panels, &folder.join("scheduler_gain.svg"))
            .and_then(|()| plot::sweep(&curves, &folder.join("scheduler_sweep.svg")));
        drawn.map_err(|e| Error::new(ErrorKind::Output, format!("{}: {e}", folder.display())))?;
    }
    Ok(())
}
