//! For tests and benches of the library and of the program.

pub mod recorder;

use std::path::{Path, PathBuf};

/// A file or folder of the shared traces (`IOPHASE_CORPUS`, default `../shared`). Prints the reason for a skipped test if it is
/// not there.
#[allow(clippy::print_stderr, reason = "a skipped test says why")]
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("IOPHASE_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let found = root.join(path);
    if !found.exists() {
        eprintln!("skipped: {} is not there; IOPHASE_CORPUS names the folder of the shared traces", found.display());
        return None;
    }
    Some(found)
}

/// Number of cases of a long test: `all` of them if `IOPHASE_LONG` is set, as in `scripts/nightly`, else a tenth.
pub fn sample(all: usize) -> usize {
    all.div_ceil(every(10))
}

/// One case in so many is enough by default, and none is left out if `IOPHASE_LONG` is set: for `step_by`.
pub fn every(n: usize) -> usize {
    if std::env::var_os("IOPHASE_LONG").is_some() { 1 } else { n }
}

/// Lines of strace that are hard to parse.
pub const HARD: &str = include_str!("../../data/strace/hard.st");
