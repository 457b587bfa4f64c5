//! Helpers of the tests of text readers.

#![allow(clippy::print_stderr, reason = "a test that is skipped says why")]

use iophase::formats::write::Sink;
use iophase::formats::{ReadOptions, Source, read};
use iophase::record::{Data, Trace};
use iophase::{Error, Result};

/// Files in memory by name; the one file of other formats has the empty name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory(pub std::collections::BTreeMap<String, Vec<u8>>);

impl Sink for Memory {
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.0.entry(name.to_owned()).or_default().extend_from_slice(bytes);
        Ok(())
    }
}

/// Reads bytes as a trace of the format that they show.
pub fn parse(bytes: impl AsRef<[u8]>) -> Result<Trace> {
    read(&Source::from_bytes("memory", bytes.as_ref()), None, &ReadOptions::default())
}

/// Reads bytes as the named format, so that a damaged start reaches the reader too, and checks what holds for every trace.
pub fn parse_as(format: &str, bytes: &[u8]) -> Result<Trace> {
    let format = iophase::formats::find(format)?;
    let trace = read(&Source::from_bytes("memory", bytes), Some(format), &ReadOptions::default());
    match &trace {
        Ok(t) => check(t, bytes.len()),
        Err(e) => check_error(e),
    }
    trace
}

/// Rows are sound and no more than the input can hold.
pub fn check(t: &Trace, input: usize) {
    assert!(t.data.len() <= input, "{} rows of {input} bytes", t.data.len());
    let (start, end) = match &t.data {
        Data::Requests(r) => (&r.start, &r.end),
        Data::Intervals(i) => {
            assert!(i.bytes.iter().all(|b| b.is_finite() && *b >= 0.0));
            (&i.start, &i.end)
        }
    };
    assert_eq!(start.len(), end.len());
    assert!(start.iter().zip(end).all(|(s, e)| s.is_finite() && e.is_finite() && s <= e));
    assert_eq!(t.layers.len(), 1);
}

fn check_error(e: &Error) {
    assert!(e.to_string().starts_with("memory: "), "{e}");
}

/// The codes of the warnings.
pub fn codes(t: &Trace) -> Vec<&str> {
    t.warnings.iter().map(|w| w.code.as_str()).collect()
}

/// Cuts a sample at every byte and flips each of its bits in turn (of long samples some): nothing may panic, and every
/// trace that comes out is sound.
pub fn torture(format: &str, sample: &[u8]) {
    for n in (0..sample.len()).step_by((sample.len() / 4000).max(1) | 1) {
        let _ = parse_as(format, &sample[..n]);
    }
    let step = (sample.len() * 8 / 4000).max(1) | 1;
    let mut damaged = sample.to_vec();
    for bit in (0..sample.len() * 8).step_by(step) {
        damaged[bit / 8] ^= 1 << (bit % 8);
        let _ = parse_as(format, &damaged);
        damaged[bit / 8] ^= 1 << (bit % 8);
    }
}

/// The trace written as CSV and read again.
pub fn csv_and_back(t: &Trace) -> Trace {
    let mut files = Memory::default();
    iophase::formats::write::writer("csv").unwrap().write(t, &mut files).unwrap();
    let bytes = files.0.values().next().unwrap().clone();
    read(&Source::from_bytes("memory.csv", bytes), None, &ReadOptions::default()).unwrap()
}
