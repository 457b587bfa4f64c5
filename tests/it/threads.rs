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
        let (packed, ending) = if i % 2 == 0 { (gzip(&content), "gz") } else { (zstd(&content), "zst") };
        let path = folder.join(format!("{i}.{name}.{ending}"));
        fs::write(&path, packed).unwrap();
        path
    };
    (0..count).map(copy).collect()
}

#[test]
fn more_compressed_inputs_than_threads_are_read_to_the_end() {
    const COMMANDS: [&[&str]; 9] = [
        &["analyze", "-q"],
        &["analyze", "-q", "--table"],
        &["analyze", "-q", "--no-patterns"],
        &["patterns", "-q"],
        &["classify", "-q"],
        &["dfg", "-q"],
        &["info", "-q"],
        &["findings", "-q"],
        &["convert", "-q", "--to", "csv", "-o", "-"],
    ];
    for threads in [1, 2, 3] {
        let dir = tempfile::tempdir().unwrap();
        // one more of each format than there are threads
        let of = |path: &PathBuf| copies(dir.path(), path, threads + 1);
        let formats: Vec<Vec<PathBuf>> = samples().iter().map(of).collect();
        let pages = dir.path().join("pages/").display().to_string();
        let report = ["report", "-q", "-o", &pages];
        for args in COMMANDS.into_iter().chain([&report[..]]) {
            // a graph is one of all inputs, and one input has one conversion
            let apart = matches!(args[0], "dfg" | "convert");
            let inputs = if apart { formats.clone() } else { vec![formats.concat()] };
            for inputs in inputs {
                let inputs = if args[0] == "convert" { &inputs[..1] } else { &inputs };
                let o = iophase(threads, args, inputs);
                let code = o.status.code();
                assert!(
                    matches!(code, Some(0 | 3 | 4)),
                    "{args:?}, {threads} threads, {}: {code:?}",
                    inputs[0].display()
                );
            }
        }
        for inputs in &formats {
            let pair = [&["compare", "-q"][..], &["compare", "-q", "--json", "-"]]
                .map(|args| iophase(threads, args, &inputs[..2]));
            assert!(pair.iter().all(|o| matches!(o.status.code(), Some(0 | 3 | 4))), "{}", inputs[0].display());
        }
        let folder = [dir.path().to_owned()];
        let o = iophase(threads, &["analyze", "-q", "-r", "--table"], &folder);
        assert!(matches!(o.status.code(), Some(0 | 3 | 4)), "{:?}", o.status);
    }
}
