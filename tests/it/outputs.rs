//! No output replaces an input or a trace: every command, every option that writes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal, kill_process};

const BIN: &str = env!("CARGO_BIN_EXE_iophase");

/// Options that name a file to write: the command, the option, and words with `IN` for a trace and `OUT` for the file.
const FILES: [(&str, &str, &str); 24] = [
    ("analyze", "--json", "IN -q --json OUT"),
    ("analyze", "--csv", "IN -q --csv OUT"),
    ("patterns", "--json", "IN -q --json OUT"),
    ("dfg", "--json", "IN -q --json OUT"),
    ("dfg", "--svg", "IN -q --svg OUT"),
    ("dfg", "--dot", "IN -q --dot OUT"),
    ("dfg", "--save-log", "IN -q --save-log OUT"),
    ("classify", "--json", "IN -q --json OUT"),
    ("classify", "--output", "IN -q --train --output OUT"),
    ("findings", "--json", "IN -q --json OUT"),
    ("compare", "--json", "IN IN -q --json OUT"),
    ("report", "--output", "IN -q --output OUT"),
    ("predict", "--state", "IN --once --state OUT"),
    ("watch", "--output", "-q --output OUT -- touch started"),
    ("watch", "--predictions", "-q --predictions OUT -- touch started"),
    ("watch", "--json", "-q --json OUT -- sh -c echo>started"),
    ("watch", "--html", "-q --html OUT -- sh -c echo>started"),
    ("info", "--json", "IN -q --json OUT"),
    ("generate", "--output", "checkpoint -q --format csv --output OUT"),
    ("generate", "--truth", "checkpoint -q --output made.csv --truth OUT"),
    ("convert", "--output", "IN -qq --to jsonl --output OUT"),
    ("convert", "--output", "IN -qq --to csv --output OUT"),
    ("convert", "--output", "IN -qq --to msgpack --output OUT"),
    ("convert", "--output", "IN -qq --to radar --output OUT"),
];

/// Options that name a folder for pictures.
const FOLDERS: [(&str, &str); 5] =
    [("analyze", "--svg"), ("patterns", "--svg"), ("classify", "--svg"), ("compare", "--svg"), ("watch", "--svg")];

/// Options that name or select what is read.
const READ: [&str; 7] = ["--config", "--pattern-file", "--model", "--before", "--after", "--green", "--red"];

fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name).display().to_string()
}

/// The calls of one rank.
fn calls() -> String {
    fs::read_dir(data("stable.strace")).unwrap().next().unwrap().unwrap().path().display().to_string()
}

/// Runs the program in a folder.
fn run(folder: &Path, args: &[&str]) -> Output {
    Command::new(BIN).args(args).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn with(command: &str, words: &str, input: &str, output: &str) -> Vec<String> {
    let word = |w| match w {
        "IN" => input.to_owned(),
        "OUT" => output.to_owned(),
        "echo>started" => "echo > started".to_owned(),
        w => w.to_owned(),
    };
    [command.to_owned()].into_iter().chain(words.split(' ').map(word)).collect()
}

fn said(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

/// All files below a folder with their bytes; of links what they lead to.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(|e| e.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            all.extend(content(&entry.path()).into_iter().map(|(n, bytes)| (format!("{name}/{n}"), bytes)));
        } else {
            let target = fs::read_link(entry.path()).map(|t| t.display().to_string().into_bytes());
            all.insert(name, target.unwrap_or_else(|_| fs::read(entry.path()).unwrap()));
        }
    }
    all
}

/// Runs what is refused because of an output; gives the message.
fn refused(folder: &Path, args: &[&str]) -> String {
    refused_with(folder, args, "name another file")
}

fn refused_twice(folder: &Path, args: &[&str]) -> String {
    refused_with(folder, args, "name two files")
}

fn refused_with(folder: &Path, args: &[&str], remedy: &str) -> String {
    let before = content(folder);
    let o = run(folder, args);
    assert_eq!(o.status.code(), Some(2), "{args:?}: {}", said(&o));
    assert!(content(folder) == before, "{args:?} changed {:?}", content(folder).keys());
    assert!(said(&o).contains(remedy) && o.stdout.is_empty(), "{args:?}: {}", said(&o));
    said(&o)
}

fn texts(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

/// Records as somebody else may write them, in the same words as this program.
const ROWS: &str = "rank,op,file,offset,size,start,end\n0,write,/x,0,4096,0.5,0.75\n0,write,/x,4096,4096,2.5,2.75\n";

#[test]
fn every_option_that_writes_is_in_the_tables() {
    let help = |args: &[&str]| String::from_utf8(run(Path::new("."), args).stdout).unwrap();
    let all = help(&["--help"]);
    let commands = all.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
    let commands =
        commands.filter(|l| l.starts_with("  ") && !l.starts_with("   ")).filter_map(|l| l.split_whitespace().next());
    let path = regex::Regex::new(r"(--[a-z-]+) <(?:PATH|FILE|DIR|MODEL|GLOB|FOLDER)>").unwrap();
    let mut found = BTreeSet::new();
    for command in commands.filter(|c| !["fleet", "help"].contains(c)) {
        let text =
            if command == "generate" { help(&[command, "checkpoint", "--help"]) } else { help(&[command, "--help"]) };
        found.extend(path.captures_iter(&text).map(|c| (command.to_owned(), c[1].to_owned())));
    }
    found.retain(|(_, option)| !READ.contains(&option.as_str()));
    let known = FILES.iter().map(|(c, o, _)| (c, o)).chain(FOLDERS.iter().map(|(c, o)| (c, o)));
    assert_eq!(found, known.map(|(c, o)| ((*c).to_owned(), (*o).to_owned())).collect());
}

#[cfg(unix)]
#[test]
fn no_output_replaces_a_trace_or_an_input_under_any_name() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    fs::write(at("in.csv"), ROWS).unwrap();
    fs::write(at("other.csv"), ROWS.replace("/x", "/y")).unwrap();
    fs::copy(data("stable.darshan"), at("other.darshan")).unwrap();
    fs::hard_link(at("in.csv"), at("hard")).unwrap();
    std::os::unix::fs::symlink("in.csv", at("soft")).unwrap();
    std::os::unix::fs::symlink("other.darshan", at("soft-other")).unwrap();
    let whole = at("in.csv").display().to_string();
    for (command, option, words) in FILES {
        for out in ["other.csv", "other.darshan", "soft-other", "in.csv", "hard", "soft", "sub/../in.csv", &whole] {
            let text = refused(dir.path(), &texts(&with(command, words, "in.csv", out)));
            assert!(text.contains(option), "{command} {option}: {text}");
        }
    }
}

#[test]
fn the_first_trace_of_a_list_is_not_the_file_of_an_option() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.darshan", "b.darshan"] {
        fs::copy(data("stable.darshan"), dir.path().join(name)).unwrap();
    }
    let text = refused(dir.path(), &["analyze", "--json", "a.darshan", "b.darshan"]);
    assert!(text.contains("a.darshan") && text.contains("a trace (darshan)") && text.contains("`--json -`"), "{text}");
}

/// Inputs that do not show by their content that they are any.
#[test]
fn no_output_replaces_an_input_of_another_kind() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("logs/below")).unwrap();
    fs::write(at("in.csv"), ROWS).unwrap();
    fs::write(at("limits.toml"), "[IOP-POSIX-002]\nshare = 0.5\n").unwrap();
    let text = "5.0 write 100\n7.0 write 100\n";
    fs::write(at("text.log"), text).unwrap();
    fs::write(at("logs/below/text.log"), text).unwrap();
    fs::copy(calls(), at("logs/calls_h_1.st")).unwrap();
    let pattern = r"^(?P<start>\S+) (?P<op>\w+) (?P<size>\d+)";
    refused(dir.path(), &["findings", "in.csv", "--config", "limits.toml", "--json", "limits.toml"]);
    refused(dir.path(), &["analyze", "text.log", "--pattern", pattern, "--json", "text.log"]);
    refused(dir.path(), &["analyze", "logs", "-r", "--pattern", pattern, "--json", "logs/below/text.log"]);
    refused(dir.path(), &["convert", "logs/calls_h_1.st", "--to", "strace", "-o", "logs"]);
    refused(dir.path(), &["convert", "logs", "--to", "strace", "-o", "logs"]);
    // not of one output by another either
    refused_twice(dir.path(), &["analyze", "in.csv", "--json", "new", "--csv", "./new"]);
    refused_twice(dir.path(), &["generate", "checkpoint", "-o", "new.csv", "--truth", "new.csv"]);
    // an answer in the folder of its traces is replaced
    for _ in 0..2 {
        let o = run(dir.path(), &["analyze", "logs", "-r", "-q", "--json", "logs/answer.json"]);
        assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    }
}

#[cfg(unix)]
#[test]
fn an_output_replaces_that_of_an_earlier_run_and_not_the_other_names_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::copy(calls(), at("calls.st")).unwrap();
    for (i, (command, option, words)) in FILES.into_iter().enumerate() {
        let out = format!("out.{i}");
        let args = with(command, words, if command == "predict" { "rows.csv" } else { "calls.st" }, &out);
        let bursts: String = (0..20).map(|i| format!("0,write,/x,{i},1000000,{}.5,{}.9\n", 5 * i, 5 * i)).collect();
        fs::write(at("rows.csv"), format!("rank,op,file,offset,size,start,end\n{bursts}")).unwrap();
        let writes = || {
            let o = run(dir.path(), &texts(&args));
            // a command that moves no bytes has no report
            let silent = command == "watch" && ["--json", "--html", "--predictions"].contains(&option);
            assert!(o.status.code() == Some(0) && (silent || at(&out).exists()), "{args:?}: {}", said(&o));
            at(&out).exists()
        };
        if writes() {
            let name = format!("name.{i}");
            fs::hard_link(at(&out), at(&name)).unwrap();
            let before = fs::read(at(&name)).unwrap();
            writes();
            assert!(fs::read(at(&name)).unwrap() == before, "{args:?} wrote through a hard link");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_trace_is_replaced_only_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let input = data("stable.strace");
    for (to, out) in [("csv", "x.csv"), ("strace", "x.st")] {
        let convert = |out: &str| run(dir.path(), &["convert", &input, "-qq", "--to", to, "-o", out]);
        for _ in 0..2 {
            let o = convert(out);
            assert_eq!(o.status.code(), Some(0), "{}", said(&o));
        }
        let file = if to == "csv" { at(out) } else { fs::read_dir(at(out)).unwrap().next().unwrap().unwrap().path() };
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replacen('1', "2", 1)).unwrap();
        let text = refused(dir.path(), &["convert", &input, "-qq", "--to", to, "-o", out]);
        assert!(text.contains("changed since"), "{text}");
    }
    fs::remove_file(at("x.csv")).unwrap();
    assert_eq!(run(dir.path(), &["convert", &input, "-qq", "-o", "x.csv"]).status.code(), Some(0));
    fs::copy(at("x.csv"), at("copy.csv")).unwrap();
    refused(dir.path(), &["generate", "checkpoint", "-o", "copy.csv"]);
    refused(dir.path(), &["analyze", &input, "--json", "x.csv"]);
}

#[cfg(unix)]
#[test]
fn watch_replaces_links_and_follows_none() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    for option in ["--output", "--predictions"] {
        fs::write(at("precious"), "years of work").unwrap();
        let _ = fs::remove_file(at("link"));
        std::os::unix::fs::symlink("precious", at("link")).unwrap();
        for out in ["link", "precious"] {
            fs::hard_link(at("precious"), at("name")).unwrap();
            let o = run(dir.path(), &["watch", "-q", option, out, "--", "sh", "-c", "echo > x"]);
            assert_eq!(o.status.code(), Some(0), "{}", said(&o));
            assert_eq!(fs::read(at("name")).unwrap(), b"years of work", "{option} {out}");
            assert!(fs::symlink_metadata(at(out)).unwrap().is_file());
            fs::remove_file(at("name")).unwrap();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_without_a_reader_keeps_no_command_from_its_work() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for option in ["--output", "--predictions"] {
        let o = run(dir.path(), &["watch", "-q", option, "pipe", "--", "touch", "started"]);
        let silent = option == "--predictions" && o.status.code() == Some(0);
        assert!(silent || o.status.code() == Some(5) && said(&o).contains("nobody has read"), "{option}: {}", said(&o));
        fs::remove_file(dir.path().join("started")).unwrap();
    }
    // who reads later has all of it
    let script = "until [ -e read ]; do :; done; echo > x";
    let mut child = Command::new(BIN)
        .args(["watch", "-q", "--output", "pipe", "--", "sh", "-c", script])
        .current_dir(dir.path())
        .spawn()
        .unwrap();
    let mut text = String::new();
    let mut reader = fs::File::open(&pipe).unwrap();
    fs::write(dir.path().join("read"), "").unwrap();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(text.starts_with("{\"schema\":\"iophase.samples.v1\"") && text.lines().count() > 2, "{text}");
}

/// Whether this process, and so every program that it starts, ignores a signal.
#[cfg(target_os = "linux")]
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    u64::from_str_radix(ignored, 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
}

/// A signal that comes while an output is being written leaves nothing of it.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_leaves_no_draft() {
    let dir = tempfile::tempdir().unwrap();
    let (input, out) = (dir.path().join("in.csv"), dir.path().join("out"));
    fs::create_dir(&out).unwrap();
    let rows: String = (0..300_000).map(|i| format!("0,write,/x,{i},1,{i}.0,{i}.5\n")).collect();
    fs::write(&input, format!("rank,op,file,offset,size,start,end\n{rows}")).unwrap();
    let input = input.to_str().unwrap();
    for args in [
        &["convert", input, "-qq", "-o", "out/x.csv"][..],
        &["convert", input, "-qq", "-o", "out/x.st"],
        &["generate", "checkpoint", "-q", "--ranks", "64", "--checkpoints", "100", "-o", "out/x.csv"],
    ] {
        // below nohup and in the background of some shells SIGINT is ignored, and the program heeds that
        for signal in [Signal::INT, Signal::TERM].into_iter().filter(|signal| !is_ignored(*signal)) {
            let is_writing = || fs::read_dir(&out).unwrap().next().is_some();
            // the program may be done before the signal comes: then it is tried again
            let ended_by_signal = || {
                let mut child = Command::new(BIN).args(args).current_dir(dir.path()).spawn().unwrap();
                while !is_writing() && child.try_wait().unwrap().is_none() {
                    std::thread::yield_now();
                }
                // a process that has ended takes none
                let _ = kill_process(Pid::from_child(&child), signal);
                let ended = child.wait().unwrap().code().is_none();
                if !ended {
                    fs::remove_dir_all(&out).unwrap();
                    fs::create_dir(&out).unwrap();
                }
                ended
            };
            assert!((0..20).any(|_| ended_by_signal()), "{args:?} is always done before the signal comes");
            assert!(!is_writing(), "{args:?} {signal:?} left {:?}", content(&out).keys());
        }
    }
}

#[test]
fn names_of_a_trace_are_no_formulas_in_any_csv() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["=1+1", "+cmd|'/c calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "/plain"];
    let row = |(i, name): (usize, &&str)| format!("0,write,\"{name}\",\"{name}\",{i},1,-{i}.5,{i}.5\n");
    let rows: String = names.iter().enumerate().map(row).collect();
    fs::write(dir.path().join("=in.csv"), format!("rank,op,file,call,offset,size,start,end\n{rows}")).unwrap();
    let formula = |text: &str| {
        let cells = text.split([',', '\n']).map(|c| c.trim_matches(['"', '\r']));
        cells.filter(|c| c.starts_with(['=', '+', '-', '@', '\t']) && c.parse::<f64>().is_err()).count()
    };
    let out = |args: &[&str]| {
        let o = run(dir.path(), args);
        assert_eq!(o.status.code(), Some(0), "{args:?}: {}", said(&o));
        String::from_utf8(o.stdout).unwrap()
    };
    let csv = out(&["convert", "=in.csv", "-qq", "--to", "csv", "-o", "-"]);
    assert!(csv.starts_with("rank,op,file_escaped,offset,size,start,end,call_escaped\n"), "{csv}");
    assert!(formula(&csv) == 0 && csv.contains("-4.5"), "{csv}");
    fs::write(dir.path().join("again.csv"), csv).unwrap();
    let lines = |trace: &str| out(&["convert", trace, "-qq", "--to", "jsonl", "-o", "-"]);
    assert_eq!(lines("again.csv"), lines("=in.csv"));
    let table = out(&["analyze", "=in.csv", "-q", "--csv", "-"]);
    assert!(formula(&table) == 0 && table.contains("'=in.csv"), "{table}");
    let exact = out(&["analyze", "=in.csv", "-q", "--csv", "-", "--exact-names"]);
    assert!(exact.lines().nth(1).is_some_and(|l| l.starts_with("=in.csv,")), "{exact}");
}
