//! Outputs of the command line for the traces in `data/`, compared with the files in `tests/golden/`.
//!
//! `BLESS=1 cargo test golden` writes the files anew. Look at the difference (`git diff tests/golden`) before you commit it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rayon::prelude::*;
use serde_json::Value;

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

/// File name in the folder, and content.
type Files = BTreeMap<String, String>;

fn iophase(args: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_iophase"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args.split_whitespace())
        .output()
        .unwrap()
}

/// Compares `made` with the files in the folder, or replaces these if `BLESS` is set.
#[track_caller]
fn compare(folder: &str, made: &Files) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(folder);
    if std::env::var_os("BLESS").is_some() {
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        made.iter().for_each(|(name, text)| std::fs::write(root.join(name), text).unwrap());
        return;
    }
    let stored = files_in(&root);
    let names: std::collections::BTreeSet<&String> = stored.keys().chain(made.keys()).collect();
    let differences: Vec<String> = names
        .into_iter()
        .filter_map(|name| {
            let difference = match (stored.get(name), made.get(name)) {
                (Some(stored), Some(made)) => first_difference(stored, made)?,
                (Some(_), None) => "  is stored, and no output belongs to it".to_owned(),
                (None, _) => "  is missing".to_owned(),
            };
            Some(format!("tests/golden/{folder}/{name}\n{difference}"))
        })
        .collect();
    assert!(
        differences.is_empty(),
        "{} stored outputs differ; if that is intended: BLESS=1 cargo test golden\n{}",
        differences.len(),
        differences.join("\n")
    );
}

fn files_in(folder: &Path) -> Files {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let paths: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    let name = |p: &Path| p.file_name().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|p| (name(p), std::fs::read_to_string(p).unwrap())).collect()
}

/// The first line in which two texts differ.
fn first_difference(stored: &str, made: &str) -> Option<String> {
    let (mut a, mut b) = (stored.lines(), made.lines());
    for line in 1.. {
        match (a.next(), b.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            (a, b) => {
                let end = "(end of the file)";
                return Some(format!("  line {line}\n  - {}\n  + {}", a.unwrap_or(end), b.unwrap_or(end)));
            }
        }
    }
    None
}

/// Numbers with six significant digits: the last ones depend on the vector instructions of the processor.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(n) if n.is_f64() => {
            let x = n.as_f64().unwrap();
            let x: f64 = if x.abs() < 1e-12 { 0.0 } else { format!("{x:.5e}").parse().unwrap() };
            x.into()
        }
        Value::Array(all) => all.into_iter().map(rounded).collect(),
        // the time of the run
        Value::Object(all) if all.contains_key("emitted_unix_s") => {
            all.into_iter().filter(|(k, _)| k != "emitted_unix_s").map(|(k, v)| (k, rounded(v))).collect()
        }
        Value::Object(all) => all.into_iter().map(|(k, v)| (k, rounded(v))).collect(),
        other => other,
    }
}

#[test]
fn texts_and_exit_codes() {
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
fn json() {
    let mut runs: Vec<String> = TRACES.map(|t| format!("analyze {t}")).to_vec();
    runs.extend(TRACES.map(|t| format!("info {t}")));
    runs.extend(
        [
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
        let texts = values.map(|v| serde_json::to_string_pretty(&rounded(v.unwrap())).unwrap() + "\n");
        let trace = rest.split(' ').next().unwrap();
        (format!("{trace}.{command}.json"), texts.collect())
    });
    compare("json", &made.collect());
}

/// One picture of each kind.
#[test]
fn pictures() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let spectral = "analyze data/change.darshan -qq --method";
    let runs = [
        (format!("analyze data/stable.darshan -qq --svg {}", path("auto")), "auto/stable.darshan.write.bandwidth.svg"),
        (String::new(), "auto/stable.darshan.write.spectrum.svg"),
        (String::new(), "auto/stable.darshan.write.reconstruction.svg"),
        (String::new(), "auto/stable.darshan.write.bursts.svg"),
        (String::new(), "auto/stable.darshan.write.correlation.svg"),
        (format!("{spectral} dwt -n 3 --fourier-fit --svg {}", path("dwt")), "dwt/change.darshan.write.fit.svg"),
        (String::new(), "dwt/change.darshan.write.scalogram.svg"),
        (format!("{spectral} stft --svg {}", path("stft")), "stft/change.darshan.write.map.svg"),
        (
            format!("{spectral} autocorrelation --svg {}", path("autocorrelation")),
            "autocorrelation/change.darshan.write.autocorrelation.svg",
        ),
        (
            format!("patterns data/stable.strace -qq --svg {}", path("patterns")),
            "patterns/stable.strace.patterns.1-ckpt.0000.dat.svg",
        ),
        (
            format!("classify data/stable.strace -qq --svg {}", path("classes")),
            "classes/stable.strace.classes.1-ckpt.0000.dat.svg",
        ),
        (
            format!("compare data/stable.darshan data/change.darshan -qq --svg {}", path("compare")),
            "compare/stable.darshan.change.darshan.comparison.svg",
        ),
        (format!("dfg data/stable.strace -qq --match ^/scratch --svg {}", path("graph.svg")), "graph.svg"),
        (
            format!("dfg data/stable.strace -qq --timeline fsync:/scratch/run --svg {}", path("timeline.svg")),
            "timeline.svg",
        ),
        (format!("dfg data/stable.strace -qq --match ^/scratch --dot {}", path("graph.dot")), "graph.dot"),
    ];
    runs.par_iter().filter(|(run, _)| !run.is_empty()).for_each(|(run, _)| {
        let o = iophase(run);
        assert!(o.status.success(), "{run}: {}", String::from_utf8_lossy(&o.stderr));
    });
    let made: Files = runs
        .iter()
        .map(|(_, file)| {
            let text = std::fs::read_to_string(folder.path().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
            (file.rsplit('/').next().unwrap().to_owned(), text)
        })
        .collect();
    for (name, text) in made.iter().filter(|(name, _)| name.ends_with(".svg")) {
        let long = text
            .split('"')
            .find(|v| v.split_once('.').is_some_and(|(a, b)| is_digits(a) && b.len() > 2 && is_digits(b)));
        assert_eq!(long, None, "{name}: at most two decimals");
    }
    compare("pictures", &made);
}

/// Pages, without style, script and data, one element a line; long values of attributes are cut.
#[test]
fn pages() {
    let traces = [
        "data/stable.darshan",
        "data/stable-heatmap.darshan",
        "data/change.darshan",
        "data/two-periods.darshan",
        "data/aperiodic.darshan",
        "data/stable.strace",
        "tests/data/darshan/good/le_341_job_only.darshan",
    ];
    let made = traces.par_iter().map(|trace| {
        let o = iophase(&format!("report -qq -o - {trace}"));
        assert_eq!(o.status.code(), Some(0), "{trace}: {}", String::from_utf8_lossy(&o.stderr));
        let name = trace.rsplit('/').next().unwrap();
        (format!("{name}.html"), outline(&String::from_utf8(o.stdout).unwrap()))
    });
    compare("pages", &made.collect());
}

fn outline(page: &str) -> String {
    let mut out = String::new();
    let mut skipped = None;
    for piece in page.split('<').skip(1) {
        let name = piece.split([' ', '>']).next().unwrap();
        if let Some(end) = skipped {
            skipped = (name != end).then_some(end);
            continue;
        }
        skipped = match name {
            "style" => Some("/style"),
            "script" => Some("/script"),
            _ => None,
        };
        if skipped.is_some() || piece.contains("Content-Security-Policy") {
            continue;
        }
        let (tag, text) = piece.split_once('>').unwrap();
        // shapes of one kind in a row are one line
        if matches!(name, "rect" | "circle") {
            let class = tag.split("class=\"").nth(1).map_or("", |c| c.split('"').next().unwrap());
            let line = format!("<{name} class=\"{class}\"...>\n");
            if !out.ends_with(&line) {
                out.push_str(&line);
            }
            continue;
        }
        let parts = tag.split('"').enumerate().map(|(i, part)| if i % 2 == 1 { cut(part) } else { part.to_owned() });
        out.push_str(&format!("<{}>{}\n", parts.collect::<Vec<_>>().join("\""), text.trim()));
    }
    out.replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

/// The beginning of a long value; a number with nine digits.
fn cut(value: &str) -> String {
    if let Ok(x) = value.parse::<f64>()
        && value.len() > 10
    {
        return format!("{x:.8e}");
    }
    let start: String = value.chars().take(80).collect();
    if start.len() < value.len() { format!("{start}... ({} bytes)", value.len()) } else { start }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[test]
fn the_first_different_line_is_shown() {
    assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
    assert_eq!(first_difference("a\nb\n", "a\nc\n").unwrap(), "  line 2\n  - b\n  + c");
    assert_eq!(first_difference("a\n", "a\nb\n").unwrap(), "  line 2\n  - (end of the file)\n  + b");
}
