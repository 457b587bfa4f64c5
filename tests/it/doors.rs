//! The library's short ways have the answers of the program.

use std::fs;
use std::process::Command;

use iophase::period::{Bandwidth, Span, detect};
use iophase::{Report, formats};
use serde_json::Value;

/// Period, confidence and next burst in the JSON of the program.
fn of_program(args: &[&str]) -> Value {
    let o = Command::new(env!("CARGO_BIN_EXE_iophase")).args(args).args(["-q", "--json", "-"]).output().unwrap();
    assert!(o.status.success(), "{}", String::from_utf8_lossy(&o.stderr));
    let report: Value = serde_json::from_slice(&o.stdout).unwrap();
    report["signals"][0].clone()
}

fn assert_same(found: &Report, wanted: &Value) {
    let found = serde_json::to_value(found).unwrap();
    assert_eq!(found["signals"].as_array().unwrap().len(), 1);
    for part in ["period", "prediction", "validity", "bursts"] {
        assert!(!wanted[part].is_null(), "{part}");
        assert_eq!(found["signals"][0][part], wanted[part], "{part}");
    }
}

#[test]
fn detect_has_the_answer_of_the_program_for_the_same_csv() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows.csv");
    let file = path.to_str().unwrap();
    let late = |k: u32| 30.0 * f64::from(k) + 0.3 * f64::from(k * 7 % 5);
    let spans: Vec<Span> =
        (0..60).map(|k| Span { start: late(k), end: late(k) + 4.0, bytes: f64::from(1000 * k + 7) }).collect();
    let row = |s: &Span| format!("write,{},{},{}\n", s.start, s.end, s.bytes);
    fs::write(&path, format!("op,start,end,size\n{}", spans.iter().map(row).collect::<String>())).unwrap();
    assert_same(&detect(&spans[..]).unwrap(), &of_program(&["analyze", file]));

    let rates: Vec<f64> = (0..2000u32).map(|k| if k % 100 < 30 { 1e6 + f64::from(k % 7) } else { 0.0 }).collect();
    let row = |(k, v): (usize, &f64)| format!("{},{v}\n", k as f64 / 4.0);
    fs::write(&path, format!("t,v\n{}", rates.iter().enumerate().map(row).collect::<String>())).unwrap();
    let wanted = of_program(&["analyze", file, "--columns", "time=t,write=v", "--stamp", "start"]);
    assert_same(&detect(Bandwidth::samples(&rates, 4.0, 0.0)).unwrap(), &wanted);
}

#[test]
fn read_and_analyze_have_the_report_of_the_program() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/data/stable.darshan");
    let trace = iophase::read(file).unwrap();
    let wanted = of_program(&["analyze", file]);
    assert_same(&iophase::analyze(&trace).unwrap(), &wanted);
    let mut batches = formats::open(file).unwrap().batches();
    let rows: usize = batches.by_ref().map(|batch| batch.unwrap().rows.len()).sum();
    assert_eq!((rows, batches.files().len()), (trace.data.len(), trace.files.len()));
}
