//! The published method gives the published program's answers, to four digits.
//!
//! Reads the sample traces of that program from the folder that `IOPHASE_CORPUS` names (default `../shared`) and is skipped
//! with a message if it is not there.

// A skipped test says so.
#![allow(clippy::print_stdout)]

use common::shared;

use iophase::analysis::{self, ModeChoice, Options};
use iophase::analysis::{Mode, Sampling};
use iophase::formats::{self, ReadOptions, Source};
use iophase::period::{Detector, Method};

fn check(name: &str, frequency: f64, confidence: f64) {
    let Some(path) = shared(&format!("thirdparty/ftio/{name}")) else { return };
    let read = ReadOptions::default();
    let trace = formats::read(&Source::open(&path, &read.limits).unwrap(), None, &read).unwrap();
    let options = Options::default()
        .mode(ModeChoice::One(Mode::Write))
        .rate_hz(Some(10.0))
        .sampling(Sampling::Point)
        .method(Method::Dft)
        .detector(Detector::ZScore);
    let report = analysis::analyze(&trace, &options).unwrap().report;
    let d = report.signals[0].period.dominant.as_ref().unwrap();
    let digits = |x: f64| format!("{x:.3e}");
    assert_eq!((digits(d.frequency_hz), digits(d.confidence)), (digits(frequency), digits(confidence)), "{name}");
}

#[test]
fn published_answer_for_tmio_json_lines() {
    check("tmio-jsonl/8.jsonl", 0.5190, 0.6774);
}

#[test]
fn published_answer_for_tmio_message_pack() {
    check("tmio-msgpack/384.msgpack", 0.09223, 0.6499);
}

#[test]
fn published_answer_for_custom_json() {
    check("custom/custom.json", 0.3721, 1.000);
}
