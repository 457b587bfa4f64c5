//! Faults around the program: disks that are full, links, names that act on terminals, times at the limits, ends at any moment.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const BIN: &str = env!("CARGO_BIN_EXE_iophase");

fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name).display().to_string()
}

fn iophase(args: &[&str]) -> Output {
    Command::new(BIN).args(args).output().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The commands that write one file, with the place of its name.
fn writers(out: &str) -> Vec<Vec<String>> {
    let (log, calls) = (data("stable.darshan"), data("stable.strace"));
    let one = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
    vec![
        one(&["analyze", &log, "-q", "--json", out]),
        one(&["analyze", &log, "-q", "--csv", out]),
        one(&["patterns", &log, "-q", "--json", out]),
        one(&["classify", &log, "-q", "--json", out]),
        one(&["info", &log, "-q", "--json", out]),
        one(&["findings", &log, "-q", "--json", out]),
        one(&["compare", &log, &log, "-q", "--json", out]),
        one(&["report", &log, "-o", out]),
        one(&["dfg", &calls, "-q", "--json", out]),
        one(&["dfg", &calls, "-q", "--svg", out]),
        one(&["dfg", &calls, "-q", "--dot", out]),
        one(&["dfg", &calls, "-q", "--save-log", out]),
        one(&["convert", &log, "-qq", "--to", "csv", "-o", out]),
    ]
}

/// No file may be longer than 512 bytes, as on a disk that is full by then: the error is reported (`ignored`), or it kills.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_output_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    for ignored in [true, false] {
        for args in writers(out.to_str().unwrap()) {
            fs::write(&out, "old").unwrap();
            let limit = if ignored {
                "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""
            } else {
                "ulimit -f 1; exec \"$0\" \"$@\""
            };
            let o = Command::new("sh").args(["-c", limit, BIN]).args(&args).output().unwrap();
            let said = String::from_utf8_lossy(&o.stderr);
            if o.status.code() == Some(0) {
                // short enough for this disk
                assert!(fs::metadata(&out).unwrap().len() <= 1024, "{args:?}");
                continue;
            }
            assert_eq!(fs::read(&out).unwrap(), b"old", "{args:?}: {said}");
            if ignored {
                assert_eq!(o.status.code(), Some(5), "{args:?}: {said}");
                assert_eq!(names(dir.path()), ["out"], "{args:?}");
            }
            // whoever is killed leaves a hidden draft at most
            names(dir.path())
                .iter()
                .filter(|n| n.starts_with('.'))
                .for_each(|n| fs::remove_file(dir.path().join(n)).unwrap());
        }
    }
}

/// If the state cannot be stored, the old one stays, and the next run goes on from it.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_state() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, state) = (dir.path().join("x.csv"), dir.path().join("state.json"));
    let bursts = |n: u32| rows((0..n).map(|i| (5.0 * f64::from(i), 5.0 * f64::from(i) + 1.0, 1e6)));
    let args = ["predict", trace.to_str().unwrap(), "--once", "--state", state.to_str().unwrap()];
    fs::write(&trace, bursts(20)).unwrap();
    assert_eq!(iophase(&args).status.code(), Some(0));
    let old = fs::read(&state).unwrap();
    assert!(old.len() > 1024);
    fs::write(&trace, bursts(40)).unwrap();
    let limit = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";
    let o = Command::new("sh").args(["-c", limit, BIN]).args(args).output().unwrap();
    assert_eq!(o.status.code(), Some(5), "{}", String::from_utf8_lossy(&o.stderr));
    assert!(fs::read(&state).unwrap() == old && names(dir.path()) == ["state.json", "x.csv"]);
    let o = iophase(&args);
    assert!(o.status.code() == Some(0) && !o.stdout.is_empty());
}

#[cfg(unix)]
#[test]
fn outputs_replace_links_and_write_to_devices() {
    let dir = tempfile::tempdir().unwrap();
    let (precious, out) = (dir.path().join("precious"), dir.path().join("out"));
    fs::write(&precious, "years of work").unwrap();
    for args in writers(out.to_str().unwrap()) {
        let _ = fs::remove_file(&out);
        std::os::unix::fs::symlink(&precious, &out).unwrap();
        let o = iophase(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(o.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&o.stderr));
        assert_eq!(fs::read(&precious).unwrap(), b"years of work", "{args:?}");
        assert!(fs::symlink_metadata(&out).unwrap().is_file() && fs::metadata(&out).unwrap().len() > 100, "{args:?}");
    }
    for args in writers("/dev/null") {
        let o = iophase(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(o.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&o.stderr));
    }
    if Path::new("/dev/full").exists() {
        for args in writers("/dev/full") {
            let o = iophase(&args.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(o.status.code(), Some(5), "{args:?}: {}", String::from_utf8_lossy(&o.stderr));
        }
    }
}

#[test]
fn folders_that_cannot_be_written_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    for out in
        ["/proc/none/out".to_owned(), dir.path().display().to_string(), format!("{}/none/out", dir.path().display())]
    {
        // a report may go into a folder
        for args in writers(&out).into_iter().filter(|a| a[0] != "report") {
            let o = iophase(&args.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(o.status.code(), Some(5), "{args:?}: {}", String::from_utf8_lossy(&o.stderr));
        }
    }
    assert!(names(dir.path()).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_goes_away_and_a_full_standard_output() {
    let log = data("stable.darshan");
    for args in
        [&["analyze", &log][..], &["analyze", &log, "--json", "-"], &["convert", &log, "-o", "-", "--to", "csv"]]
    {
        let mut child = Command::new(BIN).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}: {said}");
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let o = Command::new(BIN).args(args).stdout(full).output().unwrap();
        assert_eq!(o.status.code(), Some(5), "{args:?}");
    }
}

/// Killed at moments all over its run, a command leaves the old output or the new one.
#[cfg(unix)]
#[test]
fn a_killed_command_leaves_a_whole_output() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.csv");
    let args = ["convert", &data("stable.darshan"), "-qq", "-o", out.to_str().unwrap()];
    assert_eq!(iophase(&args).status.code(), Some(0));
    let new = fs::read(&out).unwrap();
    for i in 0..20u32 {
        fs::write(&out, "old").unwrap();
        let mut child = Command::new(BIN).args(args).spawn().unwrap();
        // a moment, not an event to wait for
        std::thread::sleep(std::time::Duration::from_micros(u64::from(i) * 1500));
        let _ = child.kill();
        child.wait().unwrap();
        let left = fs::read(&out).unwrap();
        assert!(left == b"old" || left == new, "{} bytes", left.len());
    }
}

/// Names with sequences that set the title of a terminal, move its cursor, ring, and turn the direction of text.
const ACTS: &str = "/x/\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[31m\u{9b}2J\u{202e}<b>&\".nc";

fn acting_trace(folder: &Path) -> PathBuf {
    let path = folder.join("acts.csv");
    let mut text = "op,rank,file,offset,size,start,end,call\n".to_owned();
    for i in 0..60 {
        let quoted = ACTS.replace('"', "\"\"");
        text += &format!("write,0,\"{quoted}\",{},4096,{i}.0,{i}.1,\"\u{1b}[5mwrite\"\n", i * 4096);
    }
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn names_cannot_act_on_a_terminal_and_pictures_of_them_are_xml() {
    let dir = tempfile::tempdir().unwrap();
    let trace = acting_trace(dir.path());
    let trace = trace.to_str().unwrap();
    let svg = dir.path().join("svg");
    let svg = svg.to_str().unwrap();
    let graph = dir.path().join("graph.svg");
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
    for args in [
        &["analyze", trace, "-v", "--svg", svg][..],
        &["analyze", trace, "--table"],
        &["patterns", trace, "--svg", svg],
        &["classify", trace, "--svg", svg],
        &["findings", trace, "-v"],
        &["info", trace],
        &["compare", trace, trace],
        &["dfg", trace, "--svg", graph.to_str().unwrap()],
        &["analyze", ACTS],
        &["analyze", trace, "--format", ACTS],
    ] {
        let o = iophase(args);
        for text in [o.stdout, o.stderr] {
            let text = String::from_utf8(text).unwrap();
            let found: Vec<char> = text.chars().filter(|c| acts(*c)).collect();
            assert!(found.is_empty(), "{args:?}: {found:?} in {text:?}");
        }
    }
    let mut pictures: Vec<PathBuf> = fs::read_dir(svg).unwrap().map(|e| e.unwrap().path()).collect();
    pictures.push(graph);
    assert!(pictures.len() > 4);
    for picture in pictures {
        let text = fs::read_to_string(&picture).unwrap();
        assert!(!text.contains(|c: char| acts(c)) && !text.contains("<b>"), "{}", picture.display());
        assert_eq!(text.matches('<').count(), text.matches('>').count(), "{}", picture.display());
    }
}

fn rows(rows: impl Iterator<Item = (f64, f64, f64)>) -> String {
    let lines: String = rows.map(|(start, end, size)| format!("write,{start:?},{end:?},{size:?}\n")).collect();
    format!("op,start,end,size\n{lines}")
}

/// Finite times that once gave no end or a panic, and what is near the limits of the range and of numbers.
#[test]
fn extreme_times_are_an_answer_or_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let n = |i: u32| f64::from(i);
    let cases = [
        rows([(-f64::MAX, 0.5, 307.0), (-1e308, 3.75, 13.0)].into_iter()),
        rows((0..6).map(|i| (4e301 + n(i) * 1e299, 4e301 + n(i) * 1e299, 10.0))),
        rows((0..10).map(|i| (9.9e11 + n(i) * 1e9, 9.9e11 + n(i) * 1e9 + 1.0, 1000.0))),
        rows((0..10).map(|i| (n(i) * 5e-324, n(i) * 5e-324 + 5e-324, 1000.0))),
        rows((0..50).map(|i| (n(i) * 1e-300, n(i) * 1e-300, 1000.0))),
        rows([(-1e12, 0.5, 307.0), (-9e11, 3.75, 13.0)].into_iter().chain((0..8).map(|i| (n(i), n(i) + 0.1, 10.0)))),
        rows([(0.0, 1e12, 9e18)].into_iter().chain((0..20).map(|i| (n(i) * 10.0, n(i) * 10.0 + 5e-324, 1000.0)))),
        rows((-300..12).map(|k| (10f64.powi(k), 10f64.powi(k) + 1e-9, 1e18))),
        rows(
            [(-1e12, -1e12, 1.0), (1e12, 1e12, 1.0)]
                .into_iter()
                .chain((0..300).map(|i| (n(i) * 1e-3, n(i) * 1e-3, 1.0))),
        ),
        rows((0..20).map(|i| (9e11 + n(i) * 2e-4, 9e11 + n(i) * 2e-4 + 1e-4, 1000.0))),
    ];
    let page = dir.path().join("page.html").display().to_string();
    for (i, text) in cases.iter().enumerate() {
        let path = dir.path().join(format!("{i}.csv"));
        fs::write(&path, text).unwrap();
        let path = path.to_str().unwrap();
        for args in [
            &["analyze", path, "-q"][..],
            &["classify", path, "-q"],
            &["predict", path, "--once"],
            &["findings", path, "-q"],
            &["patterns", path, "-q"],
            &["dfg", path, "-q"],
            &["report", path, "-o", &page],
        ] {
            let o = iophase(args);
            let said = String::from_utf8_lossy(&o.stderr);
            assert!(
                matches!(o.status.code(), Some(0 | 3 | 4)) && !said.contains("panicked"),
                "{args:?}: {:?}: {said}",
                o.status
            );
        }
    }
}

#[test]
fn a_rate_of_too_many_samples_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.csv");
    fs::write(&path, rows([(0.0, 1.0, 10.0), (9e5, 9e5 + 1.0, 10.0)].into_iter())).unwrap();
    let o = iophase(&["analyze", path.to_str().unwrap(), "-f", "1000", "--method", "dft"]);
    let said = String::from_utf8_lossy(&o.stderr);
    assert!(o.status.code() == Some(3) && said.contains("samples"), "{:?}: {said}", o.status);
}

/// Standard input that never ends is refused by its first bytes.
#[cfg(target_os = "linux")]
#[test]
fn standard_input_in_no_known_format_is_not_kept() {
    let zeros = fs::File::open("/dev/zero").unwrap();
    let o = Command::new(BIN).args(["analyze", "-"]).stdin(zeros).output().unwrap();
    let said = String::from_utf8_lossy(&o.stderr);
    assert!(o.status.code() == Some(3) && said.contains("no known trace format"), "{:?}: {said}", o.status);
    let mut child = Command::new(BIN).args(["info", "-", "-q"]).stdin(Stdio::piped()).spawn().unwrap();
    let text = rows((0..20_000).map(|i| (f64::from(i), f64::from(i) + 0.5, 10.0)));
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The rows of `patterns` are kept: 48 bytes each.
#[test]
fn rows_that_do_not_fit_in_the_memory_allowed_are_an_error_that_names_the_option() {
    let log = data("stable.darshan");
    let within = |memory: &str| {
        let o = iophase(&["patterns", &log, "-q", "--max-memory", memory]);
        (o.status.code(), String::from_utf8_lossy(&o.stderr).into_owned())
    };
    assert_eq!(within("400k").0, Some(0));
    let (code, said) = within("80k");
    assert!(code == Some(3) && said.contains("stable.darshan") && said.contains("at most 1706 rows"), "{said}");
    assert!(said.contains("--max-memory"), "{said}");
    let (code, said) = within("1k");
    assert!(code == Some(3) && said.contains("at most 1024 bytes") && said.contains("--max-memory"), "{said}");
}

/// Each pair of rank and file takes about 1 KiB, also in `classify`, which keeps no rows.
#[test]
fn ranks_in_files_that_do_not_fit_in_the_memory_allowed_are_an_error_that_names_the_option() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("x.csv");
    let rows: String = (0..2000).map(|i| format!("{i},write,{i},{},4096,0,/x/{i}\n", i + 1)).collect();
    fs::write(&trace, format!("rank,op,start,end,size,offset,file\n{rows}")).unwrap();
    for command in ["classify", "patterns", "findings"] {
        let within = |memory: &str| iophase(&[command, trace.to_str().unwrap(), "-q", "--max-memory", memory]);
        assert_eq!(within("2000KiB").status.code(), Some(0), "{command}");
        let o = within("1999KiB");
        let said = String::from_utf8_lossy(&o.stderr);
        assert!(o.status.code() == Some(3) && said.contains("at most 1999 pairs"), "{command}: {said}");
        assert!(said.contains("x.csv") && said.contains("--max-memory"), "{command}: {said}");
    }
}
