//! Work that is shared out among threads comes to an end, however few they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::compressed::{gzip, samples, zstd};

/// Seconds after which a command is taken to wait for ever: none of these takes more than a few.
const PATIENCE: &str = "180";

fn iophase(threads: usize, args: &[&str], inputs: &[PathBuf]) -> Output {
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", PATIENCE, env!("CARGO_BIN_EXE_iophase")]).args(args).args(inputs);
    command.env("RAYON_NUM_THREADS", threads.to_string()).output().unwrap()
}

/// Compressed copies of a file.
fn copies(folder: &Path, file: &Path, count: usize) -> Vec<PathBuf> {
    let content = fs::read(file).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    let copy = |i: usize| {
        let (packed, ending) = if i.is_multiple_of(2) { (gzip(&content), "gz") } else { (zstd(&content), "zst") };
        let path = folder.join(format!("{i}.{name}.{ending}"));
        fs::write(&path, packed).unwrap();
        path
    };
    (0..count).map(copy).collect()
}

#[test]
fn more_compressed_inputs_than_threads_are_read_to_the_end() {
    const SINGLE: [&str; 4] = ["sample.csv", "demo_host1_7.st", "sample.pfw", "le_341"];
    const COMMANDS: [&[&str]; 7] = [
        &["analyze", "-q"],
        &["analyze", "-q", "--table"],
        &["analyze", "-q", "--no-patterns"],
        &["patterns", "-q"],
        &["classify", "-q"],
        &["info", "-q"],
        &["findings", "-q"],
    ];
    for threads in [1, 2, 3] {
        let dir = tempfile::tempdir().unwrap();
        let end = |args: &[&str], inputs: &[PathBuf]| {
            let code = iophase(threads, args, inputs).status.code();
            assert!(matches!(code, Some(0 | 3 | 4)), "{args:?}, {threads} threads, {}: {code:?}", inputs[0].display());
        };
        // one more of each format than there are threads
        let formats: Vec<_> = samples().iter().map(|path| copies(dir.path(), path, threads + 1)).collect();
        let pages = dir.path().join("pages/").display().to_string();
        for args in COMMANDS.into_iter().chain([&["report", "-q", "-o", &pages][..]]) {
            end(args, &formats.concat());
        }
        end(&["analyze", "-q", "-r", "--table"], &[dir.path().to_owned()]);
        // one graph is of inputs of one format, and one conversion of one input
        for inputs in formats.iter().filter(|f| SINGLE.iter().any(|name| f[0].to_str().unwrap().contains(name))) {
            end(&["dfg", "-q"], inputs);
            end(&["compare", "-q"], &inputs[..2]);
            end(&["convert", "-q", "--to", "csv", "-o", "-"], &inputs[..1]);
        }
    }
}
