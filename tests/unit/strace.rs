//! strace: hard lines against an independent reading of them, whole runs against what the programs say they did.
//!
//! The traces are shared data outside the crate: `IOPHASE_CORPUS`, by default `../shared` beside it. Without it those tests
//! say so and pass.

use common::shared;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use iophase::analysis::{self, ModeChoice, PatternOptions, Selection};
use iophase::formats::{Detail, Limits, ReadOptions, Source, read};
use iophase::internals::formats::strace::{Stats, Strace, visit};
use iophase::record::{Data, Op, Request, Timing, Trace, UNKNOWN_OFFSET};
use serde_json::Value;

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn open(path: &Path) -> Source {
    Source::open(path, &Limits::default()).unwrap()
}

fn trace_of(path: &Path, detail: Detail) -> Trace {
    read(&open(path), Some(&Strace), &ReadOptions::default().detail(detail)).unwrap()
}

fn text(lines: &str) -> Trace {
    text_with(lines, Detail::Transfers)
}

fn text_with(lines: &str, detail: Detail) -> Trace {
    let o = ReadOptions::default().detail(detail);
    read(&Source::from_bytes("t", lines.as_bytes().to_vec()), Some(&Strace), &o).unwrap()
}

fn rows(t: &Trace) -> Vec<Request> {
    match &t.data {
        Data::Requests(r) => r.iter().collect(),
        Data::Intervals(_) => panic!("strace gives requests"),
    }
}

/// Operation, offset and size of each row; unknown offsets are -1.
fn places(t: &Trace) -> Vec<(&'static str, i64, u64)> {
    rows(t)
        .iter()
        .map(|r| (r.op.name(), if r.offset == UNKNOWN_OFFSET { -1 } else { r.offset as i64 }, r.size))
        .collect()
}

fn codes(t: &Trace) -> Vec<&str> {
    t.warnings.iter().map(|w| &*w.code).collect()
}

// --- every call of the hard logs -----------------------------------------------------------------------------------

/// Numbers of lines once the messages of strace itself, which cut lines in two, are taken out.
fn logical_lines(log: &str) -> HashMap<u64, u64> {
    let mut numbers = HashMap::new();
    let (mut n, mut cut) = (0, false);
    for (physical, line) in (1u64..).zip(log.lines()) {
        if !cut {
            n += 1;
            numbers.insert(physical, n);
        }
        cut = line.contains("strace: Process ") && line.ends_with("attached");
    }
    numbers
}

fn stats_json(s: &Stats) -> Value {
    let kinds = [(s.time_of_day, "tod"), (s.epoch, "epoch"), (s.relative, "relative")];
    let kinds: Vec<_> = kinds.iter().filter(|k| k.0).map(|k| k.1).collect();
    serde_json::json!({
        "lines": s.lines, "calls": s.calls, "signals": s.signals, "exits": s.exits, "unparsed": s.unparsed,
        "unfinished": s.unfinished, "resumed": s.resumed, "never_resumed": s.never_resumed,
        "orphan_resumed": s.orphan_resumed, "time_kind": kinds, "unparsed_lines": [],
    })
}

#[test]
fn hard_logs_call_by_call() {
    let Some(corpus) = shared("corpus") else { return };
    let mut seen = 0;
    for name in ["t1", "t2", "t4", "t7", "t9"] {
        let log = corpus.join(format!("strace-tricky/{name}_node1_0.st"));
        let expected = json(&log.with_extension("events.json"));
        let lines = logical_lines(&std::fs::read_to_string(&log).unwrap());
        let mut got = Vec::new();
        let stats = visit(&open(&log), &ReadOptions::default(), |c| {
            got.push(serde_json::json!({
                "line": lines[&c.line], "pid": c.pid.to_string(), "start": c.start_ns, "dur": c.duration_ns,
                "call": c.name, "path": c.path, "result": c.result, "errno": c.errno,
                "bytes": c.bytes.unwrap_or(0), "transfer": c.bytes.is_some(), "n_args": c.n_args,
            }));
        })
        .unwrap();
        let want = expected["events"].as_array().unwrap();
        for (g, w) in got.iter().zip(want) {
            assert_eq!(g, w, "{name}");
        }
        assert_eq!(got.len(), want.len(), "{name}");
        assert_eq!(stats_json(&stats), expected["stats"], "{name}");
        seen += got.len();
    }
    assert!(seen > 500);
}

// --- whole runs against what the programs logged -------------------------------------------------------------------

/// Every run of the corpus that strace recorded: its entry in the manifest and its folder or file.
fn runs(corpus: &Path) -> Vec<(Value, PathBuf)> {
    let manifest = json(&corpus.join("manifest.json"));
    let strace = |r: &&Value| r["format"] == "strace";
    let folder = |r: &Value| corpus.join(r["files"][0]["path"].as_str().unwrap()).parent().unwrap().to_owned();
    manifest["runs"].as_array().unwrap().iter().filter(strace).map(|r| (r.clone(), folder(r))).collect()
}

#[test]
fn every_run_is_read_completely() {
    let Some(corpus) = shared("corpus") else { return };
    let runs = runs(&corpus);
    assert!(runs.len() >= 30, "{}", runs.len());
    for (run, folder) in &runs {
        let id = run["id"].as_str().unwrap();
        let t = trace_of(folder, Detail::Transfers);
        assert_eq!(t.ranks, run["files"].as_array().unwrap().len() as u64, "{id}");
        let q = &t.quality;
        assert_eq!((q.records_dropped, q.clock_backwards, q.clamped), (0, 0, 0), "{id}");
        assert!(!t.data.is_empty(), "{id}");
        for r in rows(&t) {
            assert!(r.start.is_finite() && r.start <= r.end && r.op.moves_bytes() && r.task > 0, "{id}: {r:?}");
        }
        let unexpected: Vec<_> =
            codes(&t).into_iter().filter(|c| !["unfinished-calls", "unknown-files"].contains(c)).collect();
        assert!(unexpected.is_empty(), "{id}: {unexpected:?}");
        assert_eq!(codes(&t).contains(&"unknown-files"), id == "x_edge.noy.strace", "{id}");
    }
}

/// The phases that each rank logged, found again in the trace: bytes, number, offsets and sizes of their requests.
#[test]
fn phases_hold_the_bytes_and_offsets_that_the_ranks_logged() {
    let Some(corpus) = shared("corpus") else { return };
    let (mut phases, mut requests) = (0, 0);
    for (run, folder) in runs(&corpus) {
        let Some(truth) = run["phase_times_file"].as_str() else { continue };
        let id = run["id"].as_str().unwrap();
        let truth = json(&corpus.join(truth));
        let t = trace_of(&folder, Detail::Transfers);
        let t0 = truth["t0_epoch"].as_f64().unwrap();
        // -ttt counts from 1970, -tt from midnight.
        let zero = if t.origin_s > 0 { t0 - t.origin_s as f64 } else { t0 % 86_400.0 };
        // Buffers of libc and aggregators of collective MPI-IO move bytes at other times, sizes and ranks than the program asks.
        let direct = !id.contains("stdio") && !id.contains("coll");
        let all: Vec<Request> = rows(&t).into_iter().filter(|r| !t.files.is_system(r.file)).collect();
        let (mut logged, mut moved) = (0, 0);
        for rank in truth["ranks"].as_array().unwrap() {
            let n = rank["rank"].as_u64().unwrap();
            let mine: Vec<&Request> = all
                .iter()
                .filter(|r| u64::from(r.rank) == n && u64::from(r.task) == rank["pid"].as_u64().unwrap())
                .collect();
            assert!(!mine.is_empty(), "{id}: rank {n}");
            for phase in rank["phases"].as_array().unwrap() {
                let (start, end) = (phase[4].as_f64().unwrap(), phase[5].as_f64().unwrap());
                let op = if phase[6] == "r" { Op::Read } else { Op::Write };
                let [bytes, count, size, offset0, stride] = [7, 8, 9, 10, 11].map(|i| phase[i].as_u64().unwrap());
                logged += bytes;
                // The log rounds to microseconds.
                // The size tells the requests of a checkpoint from those of a log written in the same moments.
                let inside = |r: &&&Request| {
                    r.op == op && r.size == size && r.start - zero >= start - 2e-6 && r.end - zero <= end + 2e-6
                };
                let found: Vec<&Request> = mine.iter().filter(inside).copied().collect();
                moved += found.iter().map(|r| r.size).sum::<u64>();
                if !direct {
                    continue;
                }
                let mut offsets: Vec<u64> = found.iter().map(|r| r.offset).collect();
                offsets.sort_unstable();
                let want: Vec<u64> = (0..count).map(|k| offset0 + k * stride).collect();
                assert_eq!(offsets, want, "{id}: rank {n}, phase {phase}");
                (phases, requests) = (phases + 1, requests + found.len());
            }
        }
        if !direct {
            let data = |name: &str| name.contains("/scratch/run/") && !name.ends_with("truth.json");
            moved = all.iter().filter(|r| data(t.files.name(r.file))).map(|r| r.size).sum();
        }
        assert_eq!(moved, logged, "{id}");
    }
    assert!(phases > 2000 && requests > 10_000, "{phases} {requests}");
}

#[test]
fn a_killed_job_keeps_its_bursts() {
    let Some(corpus) = shared("corpus") else { return };
    let t = trace_of(&corpus.join("x_edge/strace/killedrank.strace"), Detail::Transfers);
    assert_eq!((t.ranks, t.quality.records_dropped), (4, 0));
    for rank in 0..4 {
        let mut bursts: BTreeMap<String, f64> = BTreeMap::new();
        for r in rows(&t).into_iter().filter(|r| r.rank == rank && t.files.name(r.file).contains("/ckpt.")) {
            assert_eq!((r.op, r.size, r.offset / 262_144), (Op::Write, 65_536, rank.into()));
            bursts.entry(t.files.name(r.file).to_owned()).or_insert(r.start);
        }
        let starts: Vec<f64> = bursts.into_values().collect();
        assert!((3..=6).contains(&starts.len()), "{starts:?}");
        assert!(starts.windows(2).all(|w| (w[1] - w[0] - 1.0).abs() < 0.02), "{starts:?}");
    }
}

#[test]
fn folders_of_several_programs_are_read_completely() {
    let Some(corpus) = shared("corpus") else { return };
    for (folder, files, mixed) in [("dfg", 8, false), ("strace-tricky", 5, true)] {
        let t = trace_of(&corpus.join(folder), Detail::Calls);
        let mut calls = 0;
        for entry in std::fs::read_dir(corpus.join(folder)).unwrap().map(|e| e.unwrap().path()) {
            if entry.extension().is_some_and(|e| e == "st") {
                calls += visit(&open(&entry), &ReadOptions::default(), |_| {}).unwrap().calls;
            }
        }
        // a call between two files reads one and writes the other
        let between = |name: &str| t.call_counts.get(name).copied().unwrap_or(0);
        let rows = calls + ["copy_file_range", "sendfile", "splice"].map(between).iter().sum::<u64>();
        assert_eq!((t.ranks, t.data.len() as u64, t.quality.records_read), (files, rows, calls), "{folder}");
        assert_eq!(t.call_counts.values().sum::<u64>(), calls, "{folder}");
        assert_eq!((t.quality.records_dropped, codes(&t).contains(&"mixed-clocks")), (0, mixed), "{folder}");
    }
}

/// Offsets of IOR: segments of blocks of transfers; files of their own or one shared file.
#[test]
fn ior_offsets_follow_its_layout() {
    let Some(corpus) = shared("corpus") else { return };
    let mut seen = 0;
    for (run, folder) in runs(&corpus) {
        let id = run["id"].as_str().unwrap();
        let access = &run["truth"]["access"];
        let Some(count) = access["per_rank"]["count"].as_u64() else { continue };
        let n = run["ranks"].as_u64().unwrap();
        let own = access["file_layout"] == "fpp";
        let segments = access["segments"].as_u64().unwrap();
        let t = trace_of(&folder, Detail::Transfers);
        let all = rows(&t);
        let data: Vec<&Request> = all
            .iter()
            .filter(|r| r.op == Op::Write && r.size == 65_536 && t.files.name(r.file).contains("testfile"))
            .collect();
        let iterations = run["truth"]["iterations"].as_u64().unwrap_or(1);
        assert_eq!(data.len() as u64, count * n * iterations, "{id}");
        for rank in 0..n {
            let mut got: Vec<u64> = data.iter().filter(|r| u64::from(r.rank) == rank).map(|r| r.offset).collect();
            if id.contains("coll") {
                continue;
            }
            // Ranks of MPI and positions of files agree only up to order: the first offset tells the rank.
            got.sort_unstable();
            got.dedup();
            let base = got[0];
            let step = if own { 1 << 20 } else { n << 20 };
            let want: Vec<u64> =
                (0..segments).flat_map(|s| (0..16).map(move |k| base + s * step + k * 65_536)).collect();
            assert_eq!(got, want, "{id}: rank {rank}");
        }
        let mut all: Vec<u64> = data.iter().map(|r| r.offset).collect();
        all.sort_unstable();
        all.dedup();
        let file_blocks = if own { count } else { count * n };
        assert_eq!(all, (0..file_blocks).map(|i| i * 65_536).collect::<Vec<_>>(), "{id}");
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
}

/// The directly-follows graphs that an independent reader of the same logs gives.
#[test]
fn calls_with_paths_give_the_expected_graphs() {
    let Some(corpus) = shared("corpus") else { return };
    let expected = json(&corpus.join("dfg/expected.json"));
    for config in expected["configs"].as_array().unwrap() {
        let with_path = config["events"] == "path";
        for (set, want) in config["sets"].as_object().unwrap() {
            let mut nodes: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
            let mut edges: BTreeMap<(String, String), u64> = BTreeMap::new();
            let files =
                ["a_node1_9042", "a_node1_9043", "a_node1_9044", "b_node1_9157", "b_node1_9158", "b_node1_9159"];
            for name in files.iter().filter(|f| set.split('+').any(|s| f.starts_with(s))) {
                let t = trace_of(&corpus.join(format!("dfg/{name}.st")), Detail::Calls);
                let mut cases: BTreeMap<u32, Vec<Request>> = BTreeMap::new();
                for r in rows(&t) {
                    let case = if config["case_by"] == "pid" { r.task } else { 0 };
                    cases.entry(case).or_default().push(r);
                }
                for mut case in cases.into_values() {
                    case.sort_by(|a, b| a.start.total_cmp(&b.start));
                    let mut last = "<start>".to_owned();
                    for r in case {
                        let (call, path) = (t.calls.name(r.call), t.files.name(r.file));
                        if path.is_empty() && with_path {
                            continue;
                        }
                        let activity = activity(call, path);
                        let node = nodes.entry(activity.clone()).or_default();
                        let duration = ((r.end - r.start) * 1e6).round() as u64 * 1000;
                        *node = (node.0 + 1, node.1 + if r.op.moves_bytes() { r.size } else { 0 }, node.2 + duration);
                        *edges.entry((std::mem::replace(&mut last, activity.clone()), activity)).or_default() += 1;
                    }
                    *edges.entry((last, "<end>".into())).or_default() += 1;
                }
            }
            let text = |v: &Value| v.as_str().unwrap().to_owned();
            let number = |v: &Value| v.as_u64().unwrap();
            let want_nodes: BTreeMap<_, _> = want["nodes"]
                .as_array()
                .unwrap()
                .iter()
                .map(|n| (text(&n["activity"]), (number(&n["count"]), number(&n["bytes"]), number(&n["duration_ns"]))))
                .collect();
            let want_edges: BTreeMap<_, _> = want["edges"]
                .as_array()
                .unwrap()
                .iter()
                .map(|e| ((text(&e["source"]), text(&e["target"])), number(&e["count"])))
                .collect();
            assert_eq!(nodes, want_nodes, "{set}, {}", config["events"]);
            assert_eq!(edges, want_edges, "{set}, {}", config["events"]);
        }
    }
}

/// Call and the first two parts of the path.
fn activity(call: &str, path: &str) -> String {
    if path.is_empty() {
        return call.to_owned();
    }
    let end = path.match_indices('/').nth(2).map_or(path.len(), |(i, _)| i);
    format!("{call} {}", &path[..end])
}

// --- offsets -------------------------------------------------------------------------------------------------------

/// Lines of process 1 with timestamps and durations.
fn timed(calls: &[&str]) -> String {
    calls.iter().enumerate().map(|(i, c)| format!("1 00:00:{i:02}.000000 {c} <0.000001>\n")).collect()
}

#[test]
fn positions_follow_reads_writes_and_seeks() {
    let t = text(&timed(&[
        r#"openat(AT_FDCWD</w>, "/w/f", O_RDWR|O_CREAT, 0644) = 3</w/f>"#,
        r#"write(3</w/f>, "a", 10) = 10"#,
        r#"pwrite64(3</w/f>, "a", 5, 1000) = 5"#,
        r#"writev(3</w/f>, [{iov_base="a, b", iov_len=7}], 1) = 7"#,
        r#"lseek(3</w/f>, -4, SEEK_CUR) = 13"#,
        r#"read(3</w/f>, "a", 4) = 2"#,
        r#"preadv2(3</w/f>, [{iov_base="a", iov_len=9}], 1, -1, 0) = 9"#,
        r#"pwritev2(3</w/f>, [{iov_base="a", iov_len=9}], 1, 77, RWF_DSYNC) = 9"#,
        r#"preadv(3</w/f>, [{iov_base="a", iov_len=9}], 1, 50) = 9"#,
        r#"read(3</w/f>, "", 4) = 0"#,
        r#"read(3</w/f>, 0x7ffe, 4) = -1 EIO (Input/output error)"#,
        r#"read(3</w/f>, "a", 1) = 1"#,
        r#"lseek(3</w/f>, 0, SEEK_SET) = 0"#,
        r#"read(3</w/f>, "a", 1) = 1"#,
    ]));
    let want = [
        ("write", 0, 10),
        ("write", 1000, 5),
        ("write", 10, 7),
        ("read", 13, 2),
        ("read", 15, 9),
        ("write", 77, 9),
        ("read", 50, 9),
        ("read", 24, 0),
        ("read", 24, 1),
        ("read", 0, 1),
    ];
    assert_eq!(places(&t), want);
    assert_eq!((t.quality.records_read, t.quality.records_left_out), (14, 1));
    assert_eq!((t.call_counts["read"], t.call_counts["lseek"]), (5, 2));
    assert!(rows(&t).iter().all(|r| t.files.name(r.file) == "/w/f"));
}

#[test]
fn a_job_ends_with_its_first_process() {
    let calls = "7 1700000000.0 write(1, \"x\", 1) = 1 <0.1>\n8 1700000001.0 write(1, \"x\", 1) = 1 <0.1>\n";
    let end = |last: &str| text(&format!("{calls}{last}")).job.unwrap().end_unix_s;
    assert_eq!(end("8 1700000002.0 +++ exited with 0 +++\n"), None);
    assert_eq!(end("7 1700000002.0 +++ exited with 0 +++\n"), Some(1_700_000_002.0));
}

#[test]
fn duplicated_descriptors_share_the_position() {
    for dup in ["dup(3</w/f>) = 4</w/f>", "dup2(3</w/f>, 4</w/f>) = 4</w/f>", "fcntl(3</w/f>, F_DUPFD, 4) = 4</w/f>"] {
        let t = text(&timed(&[
            r#"openat(AT_FDCWD</w>, "f", O_WRONLY) = 3</w/f>"#,
            dup,
            r#"write(3</w/f>, "", 8) = 8"#,
            "close(3</w/f>) = 0",
            r#"write(4</w/f>, "", 8) = 8"#,
            r#"write(3, "", 8) = -1 EBADF (Bad file descriptor)"#,
            // The number again, for another opening of the file.
            r#"openat(AT_FDCWD</w>, "f", O_WRONLY) = 3</w/f>"#,
            r#"write(3</w/f>, "", 1) = 1"#,
            r#"write(4</w/f>, "", 1) = 1"#,
        ]));
        assert_eq!(places(&t), [("write", 0, 8), ("write", 8, 8), ("write", 0, 1), ("write", 16, 1)], "{dup}");
    }
}

#[test]
fn children_share_positions_and_threads_share_descriptors() {
    let open = r#"1 00:00:01 openat(AT_FDCWD</w>, "f", O_WRONLY) = 3</w/f>"#;
    let write = |pid: u32| format!("{pid} 00:00:03 write(3</w/f>, \"\", 8) = 8");
    for (fork, thread) in [
        ("1 00:00:02 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 2", false),
        ("1 00:00:02 vfork() = 2", false),
        ("1 00:00:02 fork() = 2", false),
        ("1 00:00:02 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES, exit_signal=0} => {parent_tid=[2]}, 88) = 2", true),
        ("1 00:00:02 clone(child_stack=NULL, flags=SIGCHLD) = 7 /* 2 in strace's PID NS */", false),
        // The child shows before the call that makes it returns.
        (
            "1 00:00:02 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n2 00:00:02 getpid() = 2\n\
             1 00:00:02 <... clone resumed>) = 2",
            false,
        ),
    ] {
        let close = "2 00:00:04 close(3</w/f>) = 0";
        let lines = [open, &write(1), fork, &write(2), &write(1), close, &write(1)].join("\n");
        let t = text(&lines);
        let last = if thread { -1 } else { 24 };
        assert_eq!(places(&t), [("write", 0, 8), ("write", 8, 8), ("write", 16, 8), ("write", last, 8)], "{fork}");
    }
}

#[test]
fn execve_keeps_descriptors_without_cloexec() {
    let t = text(&timed(&[
        r#"openat(AT_FDCWD</w>, "f", O_WRONLY) = 3</w/f>"#,
        r#"openat(AT_FDCWD</w>, "g", O_WRONLY|O_CLOEXEC) = 4</w/g>"#,
        r#"openat(AT_FDCWD</w>, "h", O_WRONLY) = 5</w/h>"#,
        "fcntl(5</w/h>, F_SETFD, FD_CLOEXEC) = 0",
        r#"execve("./x", ["./x", "-n", "a b"...], 0x7ffe /* 3 vars */) = 0"#,
        r#"write(3</w/f>, "", 1) = 1"#,
        r#"write(4</w/g>, "", 2) = 2"#,
        r#"write(5</w/h>, "", 3) = 3"#,
    ]));
    assert_eq!(places(&t), [("write", 0, 1), ("write", -1, 2), ("write", -1, 3)]);
    assert_eq!(t.job.unwrap().executable.unwrap(), "./x -n a b...");
}

#[test]
fn appends_start_at_the_known_end_of_the_file() {
    let t = text(&timed(&[
        r#"openat(AT_FDCWD</w>, "new", O_WRONLY|O_CREAT|O_TRUNC|O_APPEND, 0644) = 3</w/new>"#,
        r#"write(3</w/new>, "", 10) = 10"#,
        r#"lseek(3</w/new>, 0, SEEK_SET) = 0"#,
        r#"write(3</w/new>, "", 5) = 5"#,
        r#"pwrite64(3</w/new>, "", 5, 0) = 5"#,
        r#"openat(AT_FDCWD</w>, "old", O_WRONLY|O_APPEND) = 4</w/old>"#,
        r#"write(4</w/old>, "", 10) = 10"#,
        r#"lseek(4</w/old>, 0, SEEK_END) = 1010"#,
        r#"write(4</w/old>, "", 10) = 10"#,
        "ftruncate(4</w/old>, 6) = 0",
        r#"write(4</w/old>, "", 1) = 1"#,
        r#"rename("/w/old", "/w/older") = 0"#,
        r#"write(4</w/old>, "", 1) = 1"#,
    ]));
    let want = [
        ("write", 0, 10),
        ("write", 10, 5),
        ("write", 15, 5),
        ("write", -1, 10),
        ("write", 1010, 10),
        ("write", 6, 1),
        ("write", -1, 1),
    ];
    assert_eq!(places(&t), want);
}

#[test]
fn appends_of_several_ranks_to_one_file_have_no_known_offset() {
    let folder = tempfile::tempdir().unwrap();
    let log = timed(&[
        r#"openat(AT_FDCWD</w>, "log", O_WRONLY|O_CREAT|O_TRUNC|O_APPEND, 0644) = 3</w/log>"#,
        r#"write(3</w/log>, "", 10) = 10"#,
        r#"openat(AT_FDCWD</w>, "own", O_WRONLY) = 4</w/own>"#,
        r#"write(4</w/own>, "", 7) = 7"#,
    ]);
    for rank in 0..2 {
        std::fs::write(folder.path().join(format!("a_h_{rank}.st")), &log).unwrap();
    }
    let t = trace_of(folder.path(), Detail::Transfers);
    assert_eq!(places(&t), [("write", -1, 10), ("write", 0, 7), ("write", -1, 10), ("write", 0, 7)]);
    assert_eq!(rows(&t).iter().map(|r| r.rank).collect::<Vec<_>>(), [0, 0, 1, 1]);
}

#[test]
fn files_opened_before_the_trace_have_no_offset_until_a_seek() {
    let t = text(&timed(&[
        r#"read(5</w/f>, "", 8) = 8"#,
        r#"pread64(5</w/f>, "", 8, 64) = 8"#,
        "lseek(5</w/f>, 0, SEEK_CUR) = 72",
        r#"read(5</w/f>, "", 8) = 8"#,
        // The descriptor is another file now, though nothing was seen to open it.
        r#"read(5</w/g>, "", 8) = 8"#,
    ]));
    assert_eq!(places(&t), [("read", -1, 8), ("read", 64, 8), ("read", 72, 8), ("read", -1, 8)]);
}

#[test]
fn without_annotations_files_follow_from_opens() {
    let t = text(&timed(&[
        r#"open("/w/d", O_RDONLY|O_DIRECTORY) = 3"#,
        r#"openat(3, "./f\x41", O_RDONLY) = 4"#,
        r#"read(4, "", 8) = 8"#,
        "dup(4) = 5",
        r#"read(5, "", 8) = 8"#,
        "pipe2([6, 7], O_CLOEXEC) = 0",
        r#"write(7, "", 1) = 1"#,
        "socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 8",
        r#"sendto(8, "", 2, 0, NULL, 0) = 2"#,
        r#"write(1, "", 3) = 3"#,
        r#"write(9, "", 4) = 4"#,
        "close_range(3, 4294967295, 0) = 0",
        r#"read(4, "", 8) = 8"#,
    ]));
    let names: Vec<_> = rows(&t).iter().map(|r| t.files.name(r.file).to_owned()).collect();
    assert_eq!(names, ["/w/d/fA", "/w/d/fA", "pipe", "socket", "<STDOUT>", "", ""]);
    assert_eq!(places(&t)[..2], [("read", 0, 8), ("read", 8, 8)]);
    let warning = t.warnings.iter().find(|w| w.code == "unknown-files").unwrap();
    assert!(warning.message.starts_with("2 of 7 ") && warning.remedy == Some("record with -y".into()));
}

#[test]
fn copies_count_as_read_and_write() {
    let lines = timed(&[
        r#"openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>"#,
        r#"openat(AT_FDCWD</w>, "b", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4</w/b>"#,
        "copy_file_range(3</w/a>, NULL, 4</w/b>, NULL, 100, 0) = 60",
        "copy_file_range(3</w/a>, [500] => [540], 4</w/b>, NULL, 40, 0) = 40",
        "sendfile(4</w/b>, 3</w/a>, NULL, 10) = 10",
        "sendfile(4</w/b>, 3</w/a>, [7] => [8], 1) = 1",
        "splice(3</w/a>, [0] => [5], 4</w/b>, NULL, 5, 0) = -1 EINVAL (Invalid argument)",
    ]);
    let t = text(&lines);
    let want = [
        ("read", 0, 60),
        ("write", 0, 60),
        ("read", 500, 40),
        ("write", 60, 40),
        ("read", 60, 10),
        ("write", 100, 10),
        ("read", 7, 1),
        ("write", 110, 1),
    ];
    assert_eq!(places(&t), want);
    // Among all calls as well; each is counted once.
    let t = text_with(&lines, Detail::Calls);
    assert_eq!((&places(&t)[2..10], places(&t)[10]), (&want[..], ("other", -1, 0)));
    assert_eq!((t.call_counts["copy_file_range"], t.call_counts["sendfile"]), (2, 2));
    let all = &t.layers[0];
    assert_eq!((all.reads, all.bytes_read, all.writes, all.bytes_written), (Some(4), 111, Some(4), 111));
}

#[test]
fn an_execve_in_a_thread_continues_under_the_leader() {
    let t = text_with(
        "10 00:00:01 openat(AT_FDCWD</w>, \"f\", O_WRONLY) = 3</w/f> <0.1>\n\
         10 00:00:01 clone3({flags=CLONE_VM|CLONE_FILES}, 88) = 11 <0.1>\n\
         11 00:00:02 write(3</w/f>, \"\", 4) = 4 <0.1>\n\
         11 00:00:03 execve(\"/bin/true\", [\"true\"], 0x7f /* 3 vars */ <unfinished ...>\n\
         10 00:00:03 +++ superseded by execve in pid 11 +++\n\
         10 00:00:03 <... execve resumed>) = 0 <0.5>\n\
         10 00:00:04 write(3</w/f>, \"\", 4) = 4 <0.1>\n",
        Detail::Calls,
    );
    let exec = rows(&t).into_iter().find(|r| t.calls.name(r.call) == "execve").unwrap();
    assert_eq!((exec.task, exec.start, exec.end, t.files.name(exec.file)), (10, 3.0, 3.5, "/bin/true"));
    assert_eq!(rows(&t).iter().filter(|r| r.op == Op::Write).map(|r| r.offset).collect::<Vec<_>>(), [0, 4]);
}

// --- times ---------------------------------------------------------------------------------------------------------

#[test]
fn all_timestamp_formats_are_read() {
    let ttt =
        text("1795232643.679091 read(3</f>, \"\", 1) = 1 <0.000003>\n1795232644.000001234 read(3</f>, \"\", 1) = 1\n");
    let r = rows(&ttt);
    assert_eq!(ttt.origin_s, 1_795_232_643);
    assert_eq!((r[0].start, r[0].end, r[1].start), (0.679091, 0.679094, 1.000001234));
    assert_eq!(ttt.job.unwrap().start_unix_s, Some(1_795_232_643.679_091));

    let tt = text("23:59:59.5 read(3</f>, \"\", 1) = 1 <1>\n00:00:00.25 read(3</f>, \"\", 1) = 1\n");
    let r = rows(&tt);
    assert_eq!((tt.origin_s, r[0].start, r[0].end, r[1].start), (0, 86_399.5, 86_400.5, 86_400.25));
    assert_eq!((codes(&tt), tt.quality.clock_backwards), (vec![], 0));

    let rel = text(
        "     0.000000 read(3</f>, \"\", 1) = 1\n     0.500000 getpid() = 1\n     0.250000 read(3</f>, \"\", 1) = 1\n",
    );
    assert_eq!((rel.origin_s, rows(&rel)[1].start), (0, 0.75));
    assert_eq!(codes(&rel), ["no-durations"]);

    let back = text("10:00:01 read(3</f>, \"\", 1) = 1 <0.1>\n10:00:00.5 read(3</f>, \"\", 1) = 1 <0.1>\n");
    assert_eq!((back.quality.clock_backwards, codes(&back)), (1, vec!["clock-backwards"]));
}

#[test]
fn without_timestamps_the_remedy_is_named() {
    for lines in
        ["read(3</f>, \"\", 1) = 1\n", "12 read(3</f>, \"\", 1) = 1 <0.1>\n", "[pid 12] read(3</f>, \"\", 1) = 1\n"]
    {
        let e = read(&Source::from_bytes("t", lines.as_bytes().to_vec()), None, &ReadOptions::default()).unwrap_err();
        assert_eq!(e.kind(), iophase::ErrorKind::Unsupported);
        assert!(e.to_string().contains("no times") && e.to_string().contains("-ttt -T"), "{e}");
    }
}

const UNTIMED: &str = "execve(\"/bin/app\", [\"app\"], 0x7f /* 3 vars */) = 0\n\
    openat(AT_FDCWD, \"/d/a\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4\n\
    write(4, \"x\"..., 100) = 100\nwrite(4, \"x\"..., 100)      = 100\nwrite(4, \"x\"..., 100) = 100\n\
    write(4, \"x\"..., 100) = 100\nclose(4) = 0\n";

#[test]
fn without_times_the_order_and_the_sizes_are_known() {
    let source = Source::from_bytes("t", UNTIMED);
    let options = ReadOptions::default().order_suffices(true);
    let t = read(&source, None, &options).unwrap();
    assert_eq!((t.timing, codes(&t)), (Timing::Order, vec!["no-times"]));
    assert_eq!(places(&t), [0, 100, 200, 300].map(|offset| ("write", offset, 100)));
    assert!(rows(&t).windows(2).all(|w| w[0].start < w[1].start));
    let job = t.job.as_ref().unwrap();
    assert_eq!((job.executable.as_deref(), job.run_time_s), (Some("app"), None));

    let info = analysis::Info::of(&t);
    let layer = &info.layers[0];
    assert_eq!((info.start_s, layer.first_s, layer.last_s, layer.bytes_written), (None, None, None, 400));
    assert_eq!(info.io.why.as_deref(), Some("the calls have no times"));

    let found = analysis::patterns(&t, ModeChoice::Auto, &Selection::default(), &PatternOptions::default()).unwrap();
    let pattern = &found.patterns[0];
    assert!(found.trace.start_s.is_none() && pattern.start_s.is_nan() && pattern.period.is_none());
    assert!(pattern.period_reason.as_ref().unwrap().starts_with("no times"));
    let json = serde_json::to_value(pattern).unwrap();
    assert_eq!((&json["start_s"], &json["end_s"]), (&Value::Null, &Value::Null));

    let classes = analysis::classes(&t, &Selection::default(), Default::default(), true).unwrap().0;
    assert_eq!(classes.files[0].file.as_deref(), Some("/d/a"));
    assert!(classes.files[0].global[0].start_s.is_nan() && classes.advice.is_empty());

    let e = analysis::analyze(&t, &analysis::Options::default()).unwrap_err();
    assert!(e.to_string().contains("no times"), "{e}");
}

#[test]
fn files_with_and_without_times_are_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("a_h_0.st", UNTIMED);
    write("a_h_1.st", "00:00:02 read(3</g>, \"\", 1) = 1 <0.1>\n");
    let e = read(&open(folder.path()), None, &ReadOptions::default().order_suffices(true)).unwrap_err();
    assert!(e.to_string().contains("has no times"), "{e}");
}

/// Four bursts a minute of four writes each, from a time of day on, as a clock says that goes forward or back by some hours after
/// the tenth.
fn bursts(from_s: i64, hours: i64) -> String {
    let burst = |i: i64| {
        let shown = (from_s + 15 * i + if i >= 10 { 3600 * hours } else { 0 }).rem_euclid(86_400);
        let time = format!("{:02}:{:02}:{:02}", shown / 3600, shown / 60 % 60, shown % 60);
        (0..4).map(move |k| format!("{time}.{k}00 write(3</f>, \"\", 8) = 8 <0.05>\n")).collect::<String>()
    };
    (0..20).map(burst).collect()
}

#[test]
fn a_local_clock_that_goes_forward_or_back_by_an_hour_is_noticed() {
    // the tenth burst begins at the full hour
    for (from_s, hours) in [(2 * 3600 - 150, 1), (3 * 3600 - 150, -1), (86_400 - 150, 1), (11 * 3600 - 150, 1)] {
        let t = text(&bursts(from_s, hours));
        assert_eq!((codes(&t), t.quality.clock_backwards), (vec!["clock-hour-step"], 0), "{from_s} {hours}");
        let starts: Vec<f64> = rows(&t).iter().step_by(4).map(|r| r.start).collect();
        assert!(starts.windows(2).all(|w| (w[1] - w[0] - 15.0).abs() < 1e-6), "{starts:?}");
    }
    // within an hour, by two hours, or while a call waits, the time has passed
    for lines in [
        bursts(2 * 3600, 1),
        bursts(2 * 3600 - 150, 2),
        bursts(2 * 3600 - 150, 1).replacen(
            "01:59:45.300 write(3</f>, \"\", 8) = 8 <0.05>",
            "01:59:45.300 pause() = 0 <3614>",
            1,
        ),
    ] {
        assert_eq!(codes(&text(&lines)), Vec::<&str>::new());
    }
}

#[test]
fn a_call_begins_when_the_one_before_it_in_its_thread_has_ended() {
    let cycle = "     0.060000 write(3</f>, \"\", 8) = 8 <0.050000>\n     0.000008 semop(1, [{}], 1) = 0 <4.750000>\n";
    let t = text(&cycle.repeat(10));
    assert_eq!(codes(&t), ["overlapping-calls"]);
    let starts: Vec<f64> = rows(&t).iter().map(|r| r.start).collect();
    assert!(starts.windows(2).all(|w| (w[1] - w[0] - 4.8).abs() < 0.02), "{starts:?}");
    // rounded times, and other threads, do overlap
    let t = text(
        "1 0.1 write(3</f>, \"\", 8) = 8 <0.100004>\n1 0.1 write(3</f>, \"\", 8) = 8 <5>\n2 0.1 read(3</f>, \"\", 8) = 8 <1>\n",
    );
    assert_eq!(codes(&t), Vec::<&str>::new());
}

#[test]
fn calls_of_one_whole_second_follow_each_other() {
    let call = |pid: u32, s: u32, t: &str| format!("{pid} 10:00:{s:02} write(3</f>, \"\", 8) = 8 <{t}>\n");
    let log = [(1, 1, "0.25"), (1, 1, "0.5"), (2, 1, "0.25"), (1, 1, "0.5"), (1, 2, "0.25"), (1, 5, "0.25")];
    let t = text(&log.map(|(pid, s, t)| call(pid, s, t)).concat());
    let starts: Vec<f64> = rows(&t).iter().map(|r| r.start - 36_000.0).collect();
    assert_eq!(starts, [1.0, 1.25, 1.0, 1.75, 2.25, 5.0]);
    assert_eq!(codes(&t), ["whole-seconds"]);
}

// --- asynchronous requests -----------------------------------------------------------------------------------------

#[test]
fn requests_of_io_submit_are_rows() {
    let new = "{aio_data=0, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=3</d>, aio_buf=\"x, {\"..., aio_nbytes=65536, aio_offset=131072}";
    let vector = "{aio_data=0x5, aio_lio_opcode=IOCB_CMD_PREADV, aio_fildes=3</d>, aio_buf=[{iov_base=0x1, iov_len=10}, {iov_base=0x2, iov_len=20}], aio_offset=7}";
    let old = "{data=0x7ffd, pwrite, fildes=4, str=\"ab\"..., nbytes=512, offset=1024}";
    let sync = "{aio_data=0, aio_lio_opcode=IOCB_CMD_FSYNC, aio_fildes=3</d>}";
    let lines = timed(&[
        "openat(AT_FDCWD, \"/e\", O_RDWR) = 4",
        &format!("io_submit(0x7f, 4, [{new}, {vector}, {sync}, {old}]) = 4"),
        &format!("io_submit(0x7f, 2, [{new}, {new}]) = 1"),
        &format!("io_submit(0x7f, 64, [{old}, ...]) = 64"),
        &format!("io_submit(0x7f, 1, [{new}]) = -1 EAGAIN (Resource temporarily unavailable)"),
    ]);
    let t = text(&lines);
    let mut expected = vec![("write", 131_072, 65_536), ("read", 7, 30), ("write", 1024, 512)];
    expected.extend([("write", 131_072, 65_536), ("write", 1024, 512)]);
    assert_eq!(places(&t), expected);
    let names: Vec<&str> = rows(&t).iter().map(|r| t.files.name(r.file)).collect();
    assert_eq!(names, ["/d", "/d", "/e", "/d", "/e"]);
    assert_eq!(codes(&t), ["asynchronous-requests"]);
    assert!(
        t.warnings[0].message.contains("69 requests") && t.warnings[0].message.contains("63 of them"),
        "{:?}",
        t.warnings
    );
    assert_eq!(no_share(&t), "132126 bytes went through io_submit, whose times are not known");
    // a log has one row a call
    assert_eq!(t.call_counts["io_submit"], 4);
}

/// Why findings give no share of the run.
fn no_share(t: &Trace) -> String {
    let io = iophase::findings::find(t, None, &Default::default()).unwrap().io;
    assert!(io.share.is_none() && !io.complete, "{io:?}");
    io.why.unwrap()
}

#[test]
fn what_goes_through_io_uring_is_told() {
    let ring = "3<anon_inode:[io_uring]>";
    let lines = timed(&[
        &format!("io_uring_setup(64, {{flags=0}}) = {ring}"),
        &format!("io_uring_enter({ring}, 16, 16, IORING_ENTER_GETEVENTS, NULL, 8) = 16"),
        &format!("io_uring_enter({ring}, 4, 0, 0, NULL, 8) = 4"),
    ]);
    let t = text(&lines);
    assert_eq!(codes(&t), ["io-uring-invisible"]);
    assert!(t.warnings[0].message.contains("20 requests"), "{:?}", t.warnings);
    let e = analysis::analyze(&t, &analysis::Options::default()).unwrap_err().to_string();
    assert!(e.contains("io_uring") && !e.contains("after filtering"), "{e}");
}

#[test]
fn names_in_front_of_arguments_change_nothing() {
    let plain = timed(&[
        "openat(AT_FDCWD, \"/d/a\", O_WRONLY|O_CREAT, 0644) = 5",
        "pwrite64(5, \"a=b\"..., 100, 300) = 100",
        "pwritev2(5, [{iov_base=\"\", iov_len=8}], 1, -1, 0) = 8",
        "lseek(5, 0, SEEK_END) = 400",
        "dup2(5, 9) = 9",
        "write(9, \"x\"..., 10) = 10",
        "fcntl(9, F_DUPFD, 20) = 20",
        "write(20, \"x\"..., 1) = 1",
    ]);
    let named = plain
        .replace("openat(AT_FDCWD, \"/d/a\", O", "openat(dirfd=AT_FDCWD, pathname=\"/d/a\", flags=O")
        .replace("(5, \"a=b\"..., 100, 300)", "(fd=5, buf=\"a=b\"..., count=100, pos=300)")
        .replace(
            "(5, [{iov_base=\"\", iov_len=8}], 1, -1, 0)",
            "(fd=5, vec=[{iov_base=\"\", iov_len=8}], vlen=1, pos_l=-1, flags=0)",
        )
        .replace("(5, 0, SEEK_END)", "(fd=5, offset=0, whence=SEEK_END)")
        .replace("dup2(5, 9)", "dup2(oldfd=5, newfd=9)")
        .replace("(9, \"x\"..., 10)", "(fd=9, buf=\"x\"..., count=10)")
        .replace("(9, F_DUPFD, 20)", "(fd=9, op=F_DUPFD, arg=20)")
        .replace("(20, \"x\"..., 1)", "(fd=20, buf=\"x\"..., count=1)");
    let (a, b) = (text(&plain), text(&named));
    assert_eq!((places(&a), codes(&a)), (places(&b), codes(&b)));
    assert_eq!(places(&a), [("write", 300, 100), ("write", 0, 8), ("write", 400, 10), ("write", 410, 1)]);
    assert!(rows(&b).iter().all(|r| b.files.name(r.file) == "/d/a"));
}

#[test]
fn files_of_a_job_share_the_clock_and_are_ordered_by_run_id() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    // Rank 0 begins before midnight, rank 1 after it.
    write("a_h_9.st", "23:59:58 read(3</f>, \"\", 1) = 1 <0.1>\n");
    write("a_h_10.st", "00:00:02 read(3</g>, \"\", 1) = 1 <0.1>\n");
    let t = trace_of(folder.path(), Detail::Transfers);
    let got: Vec<_> = rows(&t).iter().map(|r| (r.rank, t.files.name(r.file).to_owned(), r.start)).collect();
    assert_eq!(got, [(0, "/f".into(), 86_398.0), (1, "/g".into(), 86_402.0)]);

    write("a_h_9.st", "1795232643.5 read(3</f>, \"\", 1) = 1 <0.1>\n");
    write("a_h_10.st", "1795232641.25 read(3</g>, \"\", 1) = 1 <0.1>\n");
    let t = trace_of(folder.path(), Detail::Transfers);
    assert_eq!((t.origin_s, rows(&t)[0].start, rows(&t)[1].start), (1_795_232_641, 2.5, 0.25));

    write("a_h_10.st", "00:00:02 read(3</g>, \"\", 1) = 1 <0.1>\n");
    assert!(codes(&trace_of(folder.path(), Detail::Transfers)).contains(&"mixed-clocks"));
    // A rank that made no call is a rank all the same.
    write("a_h_9.st", "00:00:01 +++ exited with 0 +++\n");
    let t = trace_of(folder.path(), Detail::Transfers);
    assert_eq!((t.ranks, rows(&t)[0].rank, codes(&t)), (2, 1, vec!["empty-files"]));
}

// --- what is lost --------------------------------------------------------------------------------------------------

#[test]
fn unmatched_halves_of_calls_are_reported() {
    let t = text(
        "1 00:00:01 <... read resumed>\"\", 1) = 1 <0.1>\n2 00:00:02 read(3</f>,  <unfinished ...>\n\
         1 00:00:03 read(3</f>, \"\", 1) = 1 <0.1>\n1 00:00:04 write(3</f>,  <detached ...>\n",
    );
    assert_eq!(places(&t), [("read", -1, 1)]);
    assert_eq!(codes(&t), ["unfinished-calls", "resumed-without-start"]);
    assert_eq!((t.quality.records_read, t.quality.records_dropped, t.quality.records_left_out), (3, 1, 2));
}

#[test]
fn interrupted_and_failed_transfers_count_as_calls_only() {
    let lines = timed(&[
        "read(3</f>, 0x7f, 8) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)",
        "read(3</f>, 0x7f, 8) = -1 EAGAIN (Resource temporarily unavailable)",
        r#"openat(AT_FDCWD</w>, "none", O_RDONLY) = -1 ENOENT (No such file or directory)"#,
        r#"read(3</f>, "", 8) = 8"#,
        "fsync(3</f>) = 0",
        "close(3</f>) = 0",
    ]);
    let t = text(&lines);
    assert_eq!((places(&t).len(), t.quality.records_left_out, t.quality.records_read), (1, 2, 6));
    let t = text_with(&lines, Detail::Calls);
    let got: Vec<_> = rows(&t)
        .iter()
        .map(|r| (r.op.name(), t.calls.name(r.call).to_owned(), t.files.name(r.file).to_owned()))
        .collect();
    let want = [
        ("other", "read", "/f"),
        ("other", "read", "/f"),
        ("other", "openat", "/w/none"),
        ("read", "read", "/f"),
        ("sync", "fsync", "/f"),
        ("close", "close", "/f"),
    ];
    assert_eq!(got, want.map(|(o, c, f)| (o, c.to_owned(), f.to_owned())));
}

#[test]
fn mappings_of_data_files_are_reported() {
    let map = |path: &str, prot: &str, flags: &str| format!("mmap(NULL, 8192, {prot}, {flags}, 3<{path}>, 0) = 0x7f00");
    let lines = |maps: &[String]| {
        let mut calls: Vec<&str> = maps.iter().map(|m| &**m).collect();
        calls.push(r#"read(3</f>, "", 8) = 8"#);
        timed(&calls)
    };
    let quiet = [
        map("/usr/lib/libc.so.6", "PROT_READ", "MAP_PRIVATE"),
        map("/w/program", "PROT_READ|PROT_EXEC", "MAP_PRIVATE|MAP_DENYWRITE"),
        map("/dev/shm/x", "PROT_READ|PROT_WRITE", "MAP_SHARED"),
        "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f00".into(),
        "mmap(NULL, 8192, PROT_READ, MAP_SHARED, 3</w/data>, 0) = -1 ENODEV (No such device)".into(),
    ];
    assert_eq!(codes(&text(&lines(&quiet))), [""; 0]);
    let loud = [map("/w/data", "PROT_READ", "MAP_SHARED"), map("/w/more", "PROT_READ|PROT_WRITE", "MAP_SHARED")];
    let t = text(&lines(&loud));
    assert_eq!(codes(&t), ["mmap-invisible"]);
    assert!(t.warnings[0].message.contains("2 times, the first: /w/data"), "{}", t.warnings[0].message);
    assert_eq!(t.quality.untimed[0].to_string(), "bytes and times of mmap are not known");
}

#[test]
fn foreign_lines_and_cut_tails_are_reported() {
    let good = "1 00:00:01.5 read(3</f>, \"\", 1) = 1 <0.1>\n";
    let t = text(&format!("{good}Segmentation fault\n{good}"));
    assert_eq!((codes(&t), t.quality.records_dropped), (vec!["unparsed-lines"], 1));
    assert!(t.warnings[0].message.contains("line 2"));
    let t = text(&format!("{good}{}", &good[..25]));
    assert_eq!((codes(&t), places(&t).len()), (vec!["damaged-tail"], 1));
    let long = format!("1 00:00:02 read(3</f>, \"{}\", 1) = 1 <0.1>\n", "x".repeat(3 << 20));
    let t = text(&format!("{good}{long}{good}"));
    assert_eq!((codes(&t), places(&t).len()), (vec!["unparsed-lines"], 2));
    // also as the first line, longer than what is looked at
    for (length, rows) in [(100 << 10, 3), (3 << 20, 2)] {
        let long = format!("1 00:00:01 read(3</f>, \"{}\", 1) = 1 <0.1>\n{good}{good}", "x".repeat(length));
        let t = read(&Source::from_bytes("t", long.into_bytes()), None, &ReadOptions::default()).unwrap();
        assert_eq!(places(&t).len(), rows);
    }
}

#[test]
fn rows_before_damage_in_a_compressed_file_are_kept() {
    use std::io::Write;
    let lines: String =
        (0..20_000).map(|i| format!("1 00:00:01.{:06} read(3</f>, \"{}\", 9) = 1 <0.1>\n", i, i * 7919)).collect();
    let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    z.write_all(lines.as_bytes()).unwrap();
    let mut bytes = z.finish().unwrap();
    bytes.truncate(bytes.len() / 2);
    let t = read(&Source::from_bytes("t.st.gz", bytes), None, &ReadOptions::default()).unwrap();
    let n = t.data.len();
    assert!(n > 5_000 && n < 20_000, "{n}");
    assert!(codes(&t).contains(&"damaged-tail"));
}

#[test]
fn nothing_usable_is_an_error_with_place_and_remedy() {
    let open =
        |text: &str| read(&Source::from_bytes("t", text.as_bytes().to_vec()), Some(&Strace), &ReadOptions::default());
    let e = open("what\nis this\n").unwrap_err();
    assert_eq!(e.kind(), iophase::ErrorKind::Malformed);
    assert!(e.to_string().contains("line 1") && e.to_string().contains("strace -f -ttt"), "{e}");
    assert_eq!(open("1 00:00:01 +++ exited with 0 +++\n").unwrap_err().kind(), iophase::ErrorKind::Empty);
}

#[test]
fn the_number_of_rows_is_bounded() {
    let lines = "1 00:00:01 read(3</f>, \"\", 1) = 1 <0.1>\n".repeat(11);
    let limits = Limits::default().records(10);
    let e =
        read(&Source::from_bytes("t", lines.into_bytes()), None, &ReadOptions::default().limits(limits)).unwrap_err();
    assert_eq!(e.kind(), iophase::ErrorKind::Limit);
}

// --- hostile input -------------------------------------------------------------------------------------------------

/// A log with something of everything.
fn sample() -> Vec<u8> {
    include_bytes!("../data/strace/sample.st").to_vec()
}

/// Reads what may be anything: no panic, and no more rows than lines could give.
fn survive(bytes: Vec<u8>) {
    let lines = bytes.iter().filter(|&&b| b == b'\n').count() + 1;
    let source = Source::from_bytes("t", bytes);
    for detail in [Detail::Transfers, Detail::Calls] {
        if let Ok(t) = read(&source, Some(&Strace), &ReadOptions::default().detail(detail)) {
            // A copy between two files is two rows.
            assert!(t.data.len() <= 2 * lines);
            for r in rows(&t) {
                assert!(r.start.is_finite() && r.start <= r.end);
            }
        }
    }
}

#[test]
fn a_sample_cut_at_any_byte_is_survived() {
    let whole = sample();
    for n in 0..whole.len() {
        survive(whole[..n].to_vec());
    }
}

#[test]
fn the_sample_is_read() {
    let t = read(&Source::from_bytes("sample", sample()), None, &ReadOptions::default()).unwrap();
    assert_eq!((t.quality.records_dropped, codes(&t)), (0, vec!["unfinished-calls"]));
    let want = [
        ("write", 0, 18),
        ("write", 18, 30),
        ("read", -1, 4),
        ("read", 0, 9),
        ("write", 48, 9),
        ("write", 57, 100),
        ("write", 4096, 4096),
    ];
    assert_eq!(places(&t), want);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(512))]

    #[test]
    fn flipped_bits_and_moved_pieces_are_survived(
        flips in proptest::collection::vec((0usize..10_000, 0u8..8), 1..12),
        cut in 0usize..10_000,
        from in 0usize..10_000,
        len in 0usize..200,
    ) {
        let mut bytes = sample();
        let n = bytes.len();
        for (at, bit) in flips {
            bytes[at % n] ^= 1 << bit;
        }
        let piece: Vec<u8> = bytes.iter().skip(from % n).take(len).copied().collect();
        let at = cut % n;
        bytes.splice(at..at, piece);
        survive(bytes);
    }

    #[test]
    fn any_text_of_strace_characters_is_survived(lines in "([a-z(){}<>\\[\\]\",=.?/ 0-9\\\\+-]{0,40}\n){0,12}") {
        survive(lines.into_bytes());
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let mut lines = String::new();
    for i in 0..60_000u32 {
        lines += &format!(
            "{} 00:{:02}:{:02}.{:06} write({}</w/f{}>, \"\", 8) = 8 <0.000001>\n",
            i % 5,
            i / 3600 % 60,
            i / 60 % 60,
            i,
            i % 7,
            i % 7
        );
    }
    let in_pool = |n| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(|| rows(&text(&lines)))
    };
    let one = in_pool(1);
    assert_eq!(one.len(), 60_000);
    assert!(one == in_pool(3));
}
