//! CPU time grows no faster than n log n, whatever the input.
//!
//! Inputs are made to be expensive: ties, deep nesting, many names, ranks, bursts, activities, sections and open events. Each is made
//! twice, the second time four times as long. Then n log n takes under five times the CPU time and a square sixteen times; eight is where a
//! run fails, on its third try. CPU time and not time: a busy machine changes it by far less than that. `benches/worst_cases.py` has more
//! kinds, larger ones, and the time a row.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Rows of the shorter input, and how many times as many the longer one has.
const ROWS: usize = 3000;
const TIMES: usize = 4;
/// Growth of the CPU time from which on it is no n log n.
const GROWTH: f64 = 8.0;
/// CPU seconds below which a run is the start of the process and fixed tables.
const LEAST_S: f64 = 0.15;
/// One in so many pairs of input and command runs by default, all with `IOPHASE_LONG`.
const ONE_IN: usize = 6;

const COMMANDS: &[&[&str]] = &[
    &["info"],
    &["analyze"],
    &["patterns"],
    &["classify"],
    &["dfg", "--svg", "graph.svg", "--dot", "graph.dot", "--by", "pid"],
    &["findings"],
    &["report", "-q", "-o", "page.html"],
    &["convert", "-o", "other.jsonl"],
];

/// Name of the file, and its text of so many rows.
type Kind = (&'static str, fn(usize) -> String);

const KINDS: &[Kind] = &[
    ("random.csv", |n| {
        rows(n, |i| (random(i) % 64, random(3 * i) % 64, random(5 * i) % (1 << 40), t(random(7 * i) % n), 1.0))
    }),
    ("pairs.csv", |n| rows(n, |i| (random(i) % 97, random(3 * i) % (n / 50), 4096 * i, t(i), 0.01))),
    ("names.csv", |n| rows(n, |i| (i, n - i, 4096 * i, t(i), 0.01))),
    ("ties.csv", |n| rows(n, |i| (i, 0, 0, 1.0, 1.0))),
    ("nested.csv", |n| rows(n, |i| (0, 0, 4096 * i, t(i), 2.0 * (t(n) - t(i))))),
    ("bursts.csv", |n| rows(n, |i| (0, 0, 4096 * i, 100.0 * t(i) + 1e-4 * random(i) as f64 % 0.1, 0.2))),
    ("steps.csv", |n| rows(n, |i| (0, 0, 4096 * (i + i / 2 + (i.count_ones() as usize & 1)), t(i), 0.01))),
    ("streams.csv", |n| rows(n, |i| (0, 0, ((i % 64) << 32) + i / 64 * (4096 + 512 * (i % 64)), t(i), 0.01))),
    ("overlaps.csv", |n| rows(n, |i| (i % 16, 0, random(i) % (1 << 13), t(i), 0.01))),
    ("activities.st", |n| {
        calls(n, |i| format!("1 {:.3} {}(3</d{}/x>, \"\", 9) = 9 <0.001>", t(i), word(i), random(i) % 40))
    }),
    ("processes.st", |n| calls(n, |i| format!("{} {:.3} write(3</d{i}/x>, \"\", 9) = 9 <0.001>", i + 1, t(i)))),
    ("unfinished.st", |n| {
        calls(n, |i| match i < n / 2 {
            true => format!("{} {:.3} write(3</d/x>, \"\", 9 <unfinished ...>", i + 1, t(i)),
            false => format!("{} {:.3} <... write resumed>) = 9 <1.0>", n - i, t(i)),
        })
    }),
    ("ends.json", |n| {
        events(n, |i| match i < n / 2 {
            true => format!(r#"{{"ph":"B","name":"write{i}","pid":1,"tid":1,"ts":{i},"args":{{"bytes":9}}}}"#),
            false => format!(r#"{{"ph":"E","name":"other{i}","pid":1,"tid":1,"ts":{i}}}"#),
        })
    }),
    ("calls.pfw", |n| {
        calls(n, |i| {
            format!(
                r#"{{"id":{i},"name":"write{i}","cat":"POSIX","pid":{i},"tid":1,"ts":{i}000,"dur":9,"ph":"X","args":{{"ret":9}}}}"#
            )
        })
    }),
    ("sections.jsonl", |n| {
        calls(n, |i| {
            format!(r#"{{"write_sync":{{"bandwidth":{{"b_overlap_avr":[1.0,2.0],"t_overlap":[{i},{i}.5]}}}}}}"#)
        })
    }),
];

/// A number that looks like chance.
fn random(i: usize) -> usize {
    let mut x = (i as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 16) as usize
}

fn t(i: usize) -> f64 {
    0.01 * i as f64
}

fn word(i: usize) -> &'static str {
    ["read", "write"][random(3 * i) % 2]
}

/// Rows of rank, file, offset, start and duration.
fn rows(n: usize, row: impl Fn(usize) -> (usize, usize, usize, f64, f64)) -> String {
    let mut text = String::from("rank,op,file,offset,size,start,end\n");
    for i in 0..n {
        let (rank, file, offset, start, length) = row(i);
        let _ = writeln!(text, "{rank},{},f{file},{offset},4096,{start:.6},{:.6}", word(i), start + length);
    }
    text
}

fn calls(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(|i| line(i) + "\n").collect()
}

fn events(n: usize, event: impl Fn(usize) -> String) -> String {
    let all: Vec<String> = (0..n).map(event).collect();
    format!("[{}]", all.join(",\n"))
}

/// CPU seconds of the program with these arguments, all threads together.
fn cpu_s(command: &[&str], input: &Path, outputs: &Path) -> f64 {
    /// Of `/proc`, on all architectures.
    const TICKS: f64 = 100.0;
    let mut child = Command::new(env!("CARGO_BIN_EXE_iophase"))
        .args(command)
        .arg(input)
        .current_dir(outputs)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // it has ended and its account is still there
    waitid(WaitId::Pid(Pid::from_child(&child)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    let account = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let code = child.wait().unwrap().code();
    assert!(matches!(code, Some(0 | 4)), "{command:?} {}: {code:?}", input.display());
    let fields: Vec<&str> = account.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap() / TICKS).sum()
}

/// The CPU time for the longer input over that for the shorter one, the least of up to three tries.
fn growth(command: &[&str], inputs: [&Path; 2], outputs: &Path) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        let [short, long] = inputs.map(|input| cpu_s(command, input, outputs));
        least = least.min(long / short.max(LEAST_S));
        if least <= GROWTH {
            break;
        }
    }
    least
}

#[test]
fn samples_and_their_transforms_count_as_memory() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("far.csv");
    fs::write(&input, "rank,op,file,offset,size,start,end\n0,write,f,0,9,0,1\n0,write,f,9,9,5000000,5000001\n")
        .unwrap();
    for method in ["dft", "dwt", "stft", "cwt", "autocorrelation"] {
        let run = |limit: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_iophase"));
            command
                .args(["analyze", "--method", method, "-f", "10", "--max-memory", limit])
                .arg(&input)
                .output()
                .unwrap()
        };
        let refused = run("64MiB");
        let text = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(3), "{method}: {text}");
        for what in ["far.csv", "samples", "64 MiB", "--sampling-rate", "--max-memory"] {
            assert!(text.contains(what), "{method}: {what} is missing: {text}");
        }
    }
}

#[test]
fn cpu_time_grows_no_faster_than_n_log_n() {
    let dir = tempfile::tempdir().unwrap();
    let one_in = if std::env::var_os("IOPHASE_LONG").is_some() { 1 } else { ONE_IN };
    let mut squares = Vec::new();
    for (k, (name, text)) in KINDS.iter().enumerate() {
        let inputs = [ROWS, TIMES * ROWS].map(|n| {
            let path = dir.path().join(format!("{n}-{name}"));
            fs::write(&path, text(n)).unwrap();
            path
        });
        for (c, command) in COMMANDS.iter().enumerate() {
            if (k + c) % one_in == 0 {
                let outputs = tempfile::tempdir().unwrap();
                let growth = growth(command, [&inputs[0], &inputs[1]], outputs.path());
                if growth > GROWTH {
                    squares.push(format!("{name} {}: {growth:.1} times", command[0]));
                }
            }
        }
    }
    assert!(squares.is_empty(), "CPU time for {TIMES} times as many rows: {squares:?}");
}
