//! Runs: again, in parts, with other options, beyond bounds, without room.

use std::os::unix::fs::symlink;
use std::process::Command;

use iophase_fleet::batch::{self, Options, Plan, Retry};
use iophase_fleet::extract::{Bounds, Settings};
use iophase_fleet::list;
use iophase_fleet::pool::Program;

use crate::common::{assert_same, cells, dump, make, program, run, source};

#[test]
fn again_reads_nothing_and_new_logs_only() {
    let t = tempfile::tempdir().unwrap();
    let (logs, fleet) = (t.path().join("logs"), t.path().join("fleet"));
    make(&logs.join("a"), 150, 0.1, 5);
    run(3, &logs, &fleet, &[]);
    let before = dump(&fleet);
    let again = run(0, &logs, &fleet, &[]);
    assert!(again.contains("150 logs: 150 known, 0 read"), "{again}");
    assert_eq!(dump(&fleet), before);
    make(&logs.join("b"), 10, 0.0, 6);
    let more = run(0, &logs, &fleet, &[]);
    assert!(more.contains("160 logs: 150 known, 10 read"), "{more}");
    let once = t.path().join("once");
    run(3, &logs, &once, &[]);
    assert_same(&fleet, &once, "added logs");
    // a log that changes replaces its earlier rows
    let path = cells(&fleet, "select uri from logs where status = 'ok' order by uri limit 1")[0][0].clone();
    std::fs::write(&path, b"3.41").unwrap();
    assert!(run(3, &logs, &fleet, &[]).contains("160 logs: 159 known, 1 read"));
    assert_eq!(
        cells(&fleet, &format!("select count(*), min(status) from logs where uri = '{path}'")),
        [["1", "unsupported"]]
    );
    assert_eq!(cells(&fleet, "select count(*) from logs"), [["160"]]);
}

#[test]
fn parts_of_a_job_array_make_the_same_tables() {
    let t = tempfile::tempdir().unwrap();
    let (logs, whole, parts) = (t.path().join("logs"), t.path().join("whole"), t.path().join("parts"));
    make(&logs, 200, 0.0, 7);
    run(0, &logs, &whole, &[]);
    for i in ["3/3", "1/3", "2/3"] {
        run(0, &logs, &parts, &["--shard", i]);
    }
    assert_same(&whole, &parts, "shards");
    assert!(run(0, &logs, &parts, &[]).contains("200 known, 0 read"));
}

#[test]
fn portions_that_overlap_are_one_list() {
    let t = tempfile::tempdir().unwrap();
    let (logs, whole, fleet) = (t.path().join("logs"), t.path().join("whole"), t.path().join("portions"));
    make(&logs, 30, 0.0, 9);
    run(0, &logs, &whole, &[]);
    let mut all = Vec::new();
    list::find(&[logs], &list::Options::default(), &mut |some| {
        all.extend(some);
        Ok(())
    })
    .unwrap();
    let program = Program { path: env!("CARGO_BIN_EXE_iophase-fleet").into(), arguments: vec!["worker".into()] };
    let options = Options {
        settings: Settings::default(),
        bounds: Bounds::default(),
        by_content: false,
        workers: 1,
        retry: Retry::None,
        rebuild: false,
        delete: Vec::new(),
        shard: (1, 1),
        program,
    };
    let read = |portions: [&[list::LogRef]; 2]| {
        let mut plan = Plan::new(&fleet, &options);
        portions.into_iter().for_each(|logs| plan.take(logs.to_vec()).unwrap());
        let done = batch::run(plan, &mut |_| {}).unwrap();
        (done.known, done.read)
    };
    assert_eq!(read([&all[..20], &all[10..20]]), (10, 20), "a log that comes twice is known");
    assert_eq!(read([&all[..10], &all[5..]]), (25, 10));
    assert_same(&whole, &fleet, "portions");
}

#[test]
fn compacting_and_trying_again_keep_the_rows() {
    let t = tempfile::tempdir().unwrap();
    let (logs, whole, late) = (t.path().join("logs"), t.path().join("whole"), t.path().join("late"));
    make(&logs, 200, 0.0, 8);
    run(0, &logs, &whole, &[]);
    run(3, &logs, &late, &["--time-limit", "0s"]);
    assert_eq!(cells(&late, "select status, count(*) from logs group by status"), [["timeout", "200"]]);
    let compact = || {
        let out =
            Command::new(env!("CARGO_BIN_EXE_iophase-fleet")).args(["compact", "--grace", "0"]).arg(&late).output();
        assert!(out.unwrap().status.success());
    };
    compact();
    let again = run(0, &logs, &late, &["--retry", "timeout"]);
    assert!(again.contains("0 known, 200 read"), "{again}");
    assert_same(&whole, &late, "tried again");
    compact();
    assert_same(&whole, &late, "compacted");
    let files = |table: &str| {
        let months = std::fs::read_dir(late.join(table)).unwrap().flatten().filter(|m| m.file_name() != "_delta_log");
        months.flat_map(|m| std::fs::read_dir(m.path()).unwrap()).count()
    };
    assert_eq!((files("logs"), files("signals")), (1, 1), "what no batch has is deleted");
    assert!(run(0, &logs, &late, &[]).contains("200 known, 0 read"));
}

#[test]
fn other_options_need_a_rebuild() {
    let t = tempfile::tempdir().unwrap();
    let (logs, fleet) = (t.path().join("logs"), t.path().join("fleet"));
    make(&logs, 5, 0.0, 9);
    run(0, &logs, &fleet, &[]);
    let refused = run(2, &logs, &fleet, &["--depth", "counters"]);
    assert!(refused.contains("depth period instead of counters") && refused.contains("--rebuild"), "{refused}");
    run(0, &logs, &fleet, &["--depth", "counters", "--rebuild"]);
    assert_eq!(cells(&fleet, "select count(*), count(distinct log_key) from logs"), [["5", "5"]]);
    assert_eq!(cells(&fleet, "select count(*) from periods"), [["0"]]);
}

#[test]
fn what_is_no_log_is_a_row_or_a_message() {
    let t = tempfile::tempdir().unwrap();
    let at = |name: &str| t.path().join(name);
    std::fs::copy(source("stable"), at("a.darshan")).unwrap();
    assert!(Command::new("mkfifo").arg(at("pipe.darshan")).status().unwrap().success());
    symlink(at("loop.darshan"), at("loop.darshan")).unwrap();
    std::fs::write(at("big.darshan"), vec![0; 3 << 20]).unwrap();
    std::fs::write(at("list"), format!("{0}/gone.darshan\n{0}/pipe.darshan\n{0}/big.darshan\n", t.path().display()))
        .unwrap();
    let list = at("list").display().to_string();
    run(3, &at("a.darshan"), &at("fleet"), &["--manifest", &list, "--max-size", "1MiB"]);
    let rows = cells(&at("fleet"), "select status, reason from logs order by uri");
    let status: Vec<&str> = rows.iter().map(|r| r[0].as_str()).collect();
    assert_eq!(status, ["ok", "too-large", "vanished", "unsupported"], "{rows:?}");
    let messages = run(3, &at("nowhere"), &at("other"), &[]);
    assert!(messages.contains("nowhere") && messages.contains("no log found"), "{messages}");
    assert!(run(4, &at("fleet"), &at("other"), &["--name", "*.none"]).contains("no log found"));
    assert!(run(0, &at("a.darshan"), &at("other"), &["--bad-ok", "--manifest", &list]).contains("could not be read"));
}

#[test]
fn a_full_disk_ends_the_run_and_the_next_goes_on() {
    let t = tempfile::tempdir().unwrap();
    let (logs, fleet, whole) = (t.path().join("logs"), t.path().join("fleet"), t.path().join("whole"));
    make(&logs, 150, 0.0, 10);
    // 8 KiB a file, and an error instead of a signal
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec {} -q '{}' -o '{}'",
        env!("CARGO_BIN_EXE_iophase-fleet"),
        logs.display(),
        fleet.display()
    );
    let out = Command::new("sh").args(["-c", &script]).output().unwrap();
    let text = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(5), "{text}");
    assert!(text.contains("make room"), "{text}");
    run(0, &logs, &fleet, &[]);
    run(0, &logs, &whole, &[]);
    assert_same(&fleet, &whole, "after a full disk");
}

#[test]
fn a_folder_that_vanishes_ends_the_run_and_the_next_goes_on() {
    let t = tempfile::tempdir().unwrap();
    let (logs, fleet, whole) = (t.path().join("logs"), t.path().join("fleet"), t.path().join("whole"));
    make(&logs, 400, 0.0, 13);
    run(0, &logs, &whole, &[]);
    let mut running = program().arg(&logs).arg("-o").arg(&fleet).stderr(std::process::Stdio::piped()).spawn().unwrap();
    // the first commit makes the table
    let has_batch = || fleet.join("logs/_delta_log/00000000000000000001.json").is_file();
    while !has_batch() && running.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    // a rename, since deleting races with what is written; and a file in its place, for folders are made again
    std::fs::rename(&fleet, t.path().join("away")).unwrap();
    std::fs::write(&fleet, "no folder").unwrap();
    let out = running.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(5), "{text}");
    std::fs::remove_file(&fleet).unwrap();
    std::fs::rename(t.path().join("away"), &fleet).unwrap();
    let told = run(0, &logs, &fleet, &[]);
    assert!(!told.contains(" 0 known"), "{told}");
    assert_same(&fleet, &whole, "after the folder came back");
    // logs that vanish after they were listed have rows that say so, and are read once they are back
    let (list, gone, more) = (t.path().join("list"), t.path().join("x.darshan"), t.path().join("more"));
    std::fs::write(&list, format!("{}\n", gone.display())).unwrap();
    run(3, &source("stable"), &more, &["--manifest", list.to_str().unwrap()]);
    let status = || cells(&more, "select status from logs order by uri").concat();
    assert!(status().contains(&"vanished".to_owned()), "{:?}", status());
    std::fs::copy(source("change"), &gone).unwrap();
    run(0, &source("stable"), &more, &["--manifest", list.to_str().unwrap()]);
    assert_eq!(status(), ["ok", "ok"]);
}

#[test]
fn a_log_of_a_gibibyte_costs_itself_only() {
    let t = tempfile::tempdir().unwrap();
    let at = |name: &str| t.path().join(name);
    std::fs::create_dir(at("logs")).unwrap();
    std::fs::copy(source("stable"), at("logs/a.darshan")).unwrap();
    std::fs::copy(source("change"), at("logs/c.darshan")).unwrap();
    // a sound beginning, then zeros; no room is taken on the disk
    std::fs::copy(source("stable"), at("logs/b.darshan")).unwrap();
    std::fs::OpenOptions::new().write(true).open(at("logs/b.darshan")).unwrap().set_len(1 << 30).unwrap();
    run(3, &at("logs"), &at("small"), &["--memory", "64MiB"]);
    let status = |fleet: &str| cells(&at(fleet), "select status from logs order by uri").concat();
    let small = status("small");
    assert_eq!((small[0].as_str(), small[2].as_str()), ("ok", "ok"), "{small:?}");
    assert!(["memory", "too-large", "unreadable"].contains(&small[1].as_str()), "{small:?}");
    run(3, &at("logs"), &at("bound"), &["--max-size", "512MiB"]);
    assert_eq!(status("bound"), ["ok", "too-large", "ok"]);
}

#[test]
fn nothing_in_an_anonymised_fleet_names_anyone() {
    let t = tempfile::tempdir().unwrap();
    let (logs, fleet, key) = (t.path().join("logs"), t.path().join("fleet"), t.path().join("key"));
    make(&logs, 60, 0.4, 11);
    std::fs::write(&key, "0123456789abcdef0123456789abcdef").unwrap();
    run(3, &logs, &fleet, &["--anonymise", key.to_str().unwrap()]);
    for (table, rows) in dump(&fleet) {
        for row in rows {
            let text = row.join(" ");
            assert!(!text.contains("/sw/") && !text.contains(t.path().to_str().unwrap()), "{table}: {row:?}");
            // the column user_id
            assert!(!(20_000..20_200).any(|u| row[3] == u.to_string()), "{table}: {row:?}");
        }
    }
    let again = run(0, &logs, &fleet, &["--anonymise", key.to_str().unwrap()]);
    assert!(again.contains("60 known, 0 read"), "{again}");
}

#[test]
fn one_file_has_a_row_for_each_signal_and_each_bad_log() {
    let t = tempfile::tempdir().unwrap();
    let (logs, file) = (t.path().join("logs"), t.path().join("table.parquet"));
    make(&logs, 40, 0.5, 12);
    run(3, &logs, &file, &[]);
    let fleet = t.path().join("fleet");
    run(3, &logs, &fleet, &[]);
    let expected = cells(&fleet, "select count(*) from logs l left join signals s on l.log_key = s.log_key");
    let rows: usize = iophase_fleet::store::read_part(&file, None).unwrap().map(|b| b.unwrap().num_rows()).sum();
    assert_eq!(expected, [[rows.to_string()]]);
    assert_eq!(std::fs::read_dir(t.path()).unwrap().count(), 3, "the folder it was made in is gone");
}

#[test]
fn runs_at_the_same_time_have_each_log_once() {
    let t = tempfile::tempdir().unwrap();
    let (logs, whole) = (t.path().join("logs"), t.path().join("whole"));
    make(&logs.join("a"), 120, 0.0, 14);
    make(&logs.join("b"), 80, 0.0, 15);
    run(0, &logs, &whole, &[]);
    for drivers in [2, 5, 10] {
        let fleet = t.path().join(format!("fleet{drivers}"));
        // lists that overlap, cut into other batches
        let lists = ["", "a", "b"];
        let start = |i: usize| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_iophase-fleet"));
            command.args(["-q", "--workers", "1"]).arg(logs.join(lists[i % 3])).arg("-o").arg(&fleet);
            command.stderr(std::process::Stdio::piped()).spawn().unwrap()
        };
        let running: Vec<_> = (0..drivers).map(start).collect();
        for process in running {
            let out = process.wait_with_output().unwrap();
            assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        }
        assert_same(&whole, &fleet, &format!("{drivers} drivers"));
        assert!(run(0, &logs, &fleet, &[]).contains("200 known, 0 read"));
    }
}

#[test]
fn runs_that_read_known_logs_again_beside_each_other_and_compaction_keep_each_log_once() {
    let t = tempfile::tempdir().unwrap();
    let (logs, whole, fleet) = (t.path().join("logs"), t.path().join("whole"), t.path().join("fleet"));
    make(&logs, 150, 0.0, 18);
    run(0, &logs, &whole, &[]);
    run(3, &logs, &fleet, &["--time-limit", "0s"]);
    let start = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_iophase-fleet"));
        command.args(arguments).stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let [from, to] = [&logs, &fleet].map(|p| p.to_str().unwrap());
    let again = ["-q", "--workers", "1", "--retry", "timeout", from, "-o", to];
    let running = [start(&again), start(&["compact", to]), start(&again), start(&["compact", to])];
    for process in running {
        let out = process.wait_with_output().unwrap();
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    }
    assert_same(&whole, &fleet, "read again");
}

/// The fleet as an earlier version left it: batches in files beside the tables.
fn as_before(fleet: &std::path::Path) {
    let batches = iophase_fleet::store::Store::open(fleet).unwrap().batches().unwrap();
    for table in iophase_fleet::tables::all() {
        std::fs::remove_dir_all(fleet.join(table.name).join("_delta_log")).unwrap();
    }
    let (first, rest) = batches.split_first().unwrap();
    std::fs::create_dir(fleet.join("_done")).unwrap();
    for batch in rest {
        let path = fleet.join("_done").join(&batch.id).with_extension("json");
        std::fs::write(path, serde_json::to_vec(batch).unwrap()).unwrap();
    }
    let snapshot = serde_json::json!({ "schema": "iophase.fleet.v1", "logs": 0, "bad": 0, "batches": [first] });
    std::fs::write(fleet.join("_snapshot.json"), snapshot.to_string()).unwrap();
}

#[test]
fn a_fleet_of_an_earlier_form_is_converted_by_one_command() {
    let t = tempfile::tempdir().unwrap();
    let (logs, fleet) = (t.path().join("logs"), t.path().join("fleet"));
    make(&logs, 150, 0.1, 16);
    run(3, &logs, &fleet, &[]);
    let before = dump(&fleet);
    as_before(&fleet);
    let refused = run(3, &logs, &fleet, &[]);
    assert!(refused.contains("earlier form") && refused.contains("iophase fleet convert"), "{refused}");
    for _ in 0..2 {
        let out = Command::new(env!("CARGO_BIN_EXE_iophase-fleet")).arg("convert").arg(&fleet).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        assert_eq!(dump(&fleet), before);
    }
    assert!(run(0, &logs, &fleet, &[]).contains("150 known, 0 read"));
}

#[test]
fn rows_of_logs_that_are_gone_and_of_old_jobs_are_deleted_on_request() {
    let t = tempfile::tempdir().unwrap();
    let (logs, fleet) = (t.path().join("logs"), t.path().join("fleet"));
    make(&logs, 90, 0.0, 17);
    run(0, &logs, &fleet, &[]);
    let paths = cells(&fleet, "select uri from logs order by uri limit 30").concat();
    paths.iter().for_each(|p| std::fs::remove_file(p).unwrap());
    run(0, &logs, &fleet, &[]);
    assert_eq!(cells(&fleet, "select count(*) from logs"), [["90"]]);
    run(0, &logs, &fleet, &["--delete"]);
    let once = t.path().join("once");
    run(0, &logs, &once, &[]);
    assert_same(&once, &fleet, "deleted");
    // jobs of January 2026, and one that has just started
    let new = crate::common::printed(chrono::Utc::now().timestamp() as u64);
    std::fs::write(t.path().join("new.darshan"), new).unwrap();
    run(0, &t.path().join("new.darshan"), &fleet, &[]);
    let arguments = ["compact", "--keep-days", "7", "--grace", "0"];
    let out = Command::new(env!("CARGO_BIN_EXE_iophase-fleet")).args(arguments).arg(&fleet).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(cells(&fleet, "select count(*), count(distinct log_key) from logs"), [["1", "1"]]);
    assert_eq!(cells(&fleet, "select count(distinct log_key) from signals"), [["1"]]);
}
