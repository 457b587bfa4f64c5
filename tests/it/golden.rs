//! Outputs of the command line for the traces in `data/`, compared with the files in `tests/golden/`.
//!
//! `BLESS=1 cargo test --all-features --test it golden` writes the files anew. Look at the difference (`git diff tests/golden`) before you commit it.

mod stored;

use std::process::{Command, Output};

use rayon::prelude::*;
use serde_json::Value;

use super::outline::{outline, whole};
use stored::{Files, compare, picture, reviewable};

const TRACES: [&str; 8] = [
    "stable.darshan",
    "stable-heatmap.darshan",
    "stable.msgpack",
    "stable.strace",
    "change.darshan",
    "change.json",
    "two-periods.darshan",
    "aperiodic.darshan",
];

fn iophase(args: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_iophase"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args.split_whitespace())
        .output()
        .unwrap()
}

#[test]
fn texts_and_exit_codes_are_those_stored() {
    let commands = ["analyze", "analyze -v", "patterns", "classify", "dfg", "findings", "info"];
    let mut runs: Vec<(&str, &str)> = commands.iter().flat_map(|c| TRACES.map(|t| (*c, t))).collect();
    runs.extend(
        ["stable.darshan", "change.darshan", "stable-heatmap.darshan"].map(|t| ("compare data/stable.darshan", t)),
    );
    runs.push(("compare data/stable.strace", "stable.strace"));
    let made = runs.par_iter().map(|(command, trace)| {
        let o = iophase(&format!("{command} data/{trace}"));
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let (out, err, code) = (text(&o.stdout), text(&o.stderr), o.status.code().unwrap());
        (
            format!("{trace}.{}.txt", command.replace(" data/", "-").replace(' ', "")),
            format!("{out}{err}exit code {code}\n"),
        )
    });
    compare("text", &made.collect());
}

#[test]
fn json_answers_are_those_stored() {
    let mut runs: Vec<String> = TRACES.map(|t| format!("analyze {t}")).to_vec();
    runs.extend(
        [
            "info stable-heatmap.darshan",
            "info two-periods.darshan",
            "info stable.strace",
            "info stable.msgpack",
            "compare stable.darshan data/stable-heatmap.darshan",
            "patterns stable.strace",
            "classify stable.strace",
            "classify two-periods.darshan",
            "findings two-periods.darshan",
            "dfg stable.darshan",
            "dfg stable.strace --match ^/scratch",
            "predict stable.msgpack --once",
            "predict change.json --once",
        ]
        .map(str::to_owned),
    );
    let made = runs.par_iter().map(|run| {
        let (command, rest) = run.split_once(' ').unwrap();
        let json = if command == "predict" { "" } else { "--json -" };
        let o = iophase(&format!("{command} data/{rest} {json} -q"));
        assert!(o.status.success(), "{run}: {}", String::from_utf8_lossy(&o.stderr));
        let values = serde_json::Deserializer::from_slice(&o.stdout).into_iter::<Value>();
        let texts = values.map(|v| reviewable(v.unwrap()));
        let trace = rest.split(' ').next().unwrap();
        (format!("{trace}.{command}.json"), texts.collect())
    });
    compare("json", &made.collect());
}

/// One picture of each kind, from traces and windows with few marks.
#[test]
fn pictures_of_each_kind_are_those_stored() {
    let folder = tempfile::tempdir().unwrap();
    let pictures = [
        ("analyze tests/data/checkpoints.csv -f 2", "checkpoints.csv.write.bandwidth"),
        ("analyze tests/data/checkpoints.csv -f 2", "checkpoints.csv.write.spectrum"),
        ("analyze tests/data/checkpoints.csv -f 2", "checkpoints.csv.write.bursts"),
        ("analyze tests/data/checkpoints.csv -f 2", "checkpoints.csv.write.correlation"),
        (
            "analyze tests/data/checkpoints.csv -f 2 --method dwt -n 2 --fourier-fit",
            "checkpoints.csv.write.reconstruction",
        ),
        ("analyze tests/data/checkpoints.csv -f 2 --method dwt -n 2 --fourier-fit", "checkpoints.csv.write.fit"),
        ("analyze tests/data/checkpoints.csv -f 2 --method dwt -n 2 --fourier-fit", "checkpoints.csv.write.scalogram"),
        ("analyze tests/data/checkpoints.csv -f 2 --method stft --until 30", "checkpoints.csv.write.map"),
        ("analyze tests/data/checkpoints.csv -f 2 --method autocorrelation", "checkpoints.csv.write.autocorrelation"),
        ("patterns data/stable.strace", "stable.strace.patterns.1-ckpt.0000.dat"),
        ("classify data/stable.strace", "stable.strace.classes.1-ckpt.0000.dat"),
        (
            "compare data/stable-heatmap.darshan tests/data/checkpoints.csv",
            "stable-heatmap.darshan.checkpoints.csv.comparison",
        ),
    ];
    let mut runs: Vec<&str> = pictures.map(|(run, _)| run).to_vec();
    runs.dedup();
    let part = |i: usize| folder.path().join(i.to_string());
    runs.par_iter().enumerate().for_each(|(i, run)| done(&format!("{run} -qq --svg {}", part(i).display())));
    let mut made: Files = pictures
        .iter()
        .map(|(run, name)| {
            let file = part(runs.iter().position(|r| r == run).unwrap()).join(format!("{name}.svg"));
            let svg = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{run}: {name}: {e}"));
            // the kind of the picture is the last part of its name, or that before the file
            let words: Vec<&str> = name.split('.').collect();
            let kind = words.iter().find(|w| matches!(**w, "patterns" | "classes")).unwrap_or(words.last().unwrap());
            (format!("{kind}.svg"), picture(&svg))
        })
        .collect();
    for (name, run) in [
        ("graph.svg", "dfg data/stable.strace --match ^/scratch --svg"),
        ("graph.dot", "dfg data/stable.strace --match ^/scratch --dot"),
        ("timeline.svg", "dfg data/stable.strace --timeline fsync:/scratch/run --svg"),
    ] {
        let file = folder.path().join(name);
        done(&format!("{run} {} -qq", file.display()));
        made.insert(name.to_owned(), picture(&std::fs::read_to_string(file).unwrap()));
    }
    for (name, text) in made.iter().filter(|(name, _)| name.ends_with(".svg")) {
        let parts: Vec<&str> = text.split('"').collect();
        let lengths = parts.chunks_exact(2).filter(|pair| !pair[0].ends_with("opacity="));
        let long = lengths.flat_map(|pair| pair[1].split([' ', ',', '('])).find(|number| {
            number.parse::<f64>().is_ok() && number.split_once('.').is_some_and(|(_, decimals)| decimals.len() > 1)
        });
        assert_eq!(long, None, "{name}: more than a tenth of a pixel is not seen");
        assert!(text.lines().count() < 300, "{name}: {} lines; take a smaller trace", text.lines().count());
    }
    compare("pictures", &made);
}

fn done(run: &str) {
    let o = iophase(run);
    assert!(o.status.success(), "{run}: {}", String::from_utf8_lossy(&o.stderr));
}

/// Outlines of pages, and one small page whole.
#[test]
fn pages_are_made_of_what_is_stored() {
    let traces = [
        "data/stable.darshan",
        "data/stable-heatmap.darshan",
        "data/change.darshan",
        "data/two-periods.darshan",
        "data/aperiodic.darshan",
        "data/stable.strace",
        SMALLEST,
    ];
    let made = traces.par_iter().map(|trace| {
        let o = iophase(&format!("report -qq -o - {trace}"));
        assert_eq!(o.status.code(), Some(0), "{trace}: {}", String::from_utf8_lossy(&o.stderr));
        let name = trace.rsplit('/').next().unwrap();
        let page = String::from_utf8(o.stdout).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION");
        if *trace == SMALLEST {
            (format!("{name}.html"), whole(&page))
        } else {
            (format!("{name}.txt"), outline(&page))
        }
    });
    compare("pages", &made.collect());
}

/// The trace whose page is stored whole.
const SMALLEST: &str = "tests/data/darshan/good/le_341_job_only.darshan";

/// Outputs that nobody can review guard nothing.
#[test]
fn stored_outputs_can_be_reviewed() {
    let folders = std::fs::read_dir(stored::root()).unwrap().map(|e| e.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = folders.partition(|p| p.is_dir());
    let inside = folders.iter().flat_map(|f| std::fs::read_dir(f).unwrap().map(|e| e.unwrap().path()));
    let lines = |p: std::path::PathBuf| std::fs::read_to_string(p).unwrap().lines().count();
    let all: usize = files.into_iter().chain(inside).map(lines).sum();
    assert!(stored::blessed() || all <= 8000, "tests/golden has {all} lines");
}
