//! `iophase predict`: sources, jobs, restarts, bounds.

use common::{every as one_in, shared};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};

fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name).display().to_string()
}

fn command(args: &[&str]) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_iophase"));
    c.arg("predict").args(args);
    c
}

fn predict(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

fn predict_text(args: &[&str], input: &[u8]) -> Output {
    let mut child = command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let o = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    o
}

fn lines(o: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&o.stdout).unwrap();
    assert!(o.status.success(), "{:?}: {}", o.status.code(), String::from_utf8_lossy(&o.stderr));
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn number(v: &Value, key: &str) -> f64 {
    v[key].as_f64().unwrap_or_else(|| panic!("{key} in {v}"))
}

/// A file of strace: that of one rank of a real run.
fn calls(dir: &Path) -> PathBuf {
    let folder = dir.join("calls.st");
    let done = Command::new(env!("CARGO_BIN_EXE_iophase"))
        .args(["convert", "-q", "--ranks", "0", &data("stable.darshan"), "-o", folder.to_str().unwrap()])
        .status();
    assert!(done.unwrap().success());
    fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
}

/// CSV of bursts of eight requests at these starts, each `size` bytes in half a second.
fn csv(starts: impl IntoIterator<Item = f64>) -> String {
    let mut text = String::from("rank,op,file,size,start,end\n");
    for t in starts {
        rows(&mut text, t);
    }
    text
}

fn rows(text: &mut String, t: f64) {
    for i in 0..8 {
        let start = t + 0.0625 * f64::from(i);
        writeln!(text, "{i},write,/scratch/x,1000000,{start:.6},{:.6}", start + 0.0625).unwrap();
    }
}

fn every(period: f64, n: u32) -> impl Iterator<Item = f64> {
    (0..n).map(move |i| 3.0 + period * f64::from(i))
}

#[test]
fn a_finished_file_is_replayed_up_to_the_next_burst() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.csv");
    fs::write(&file, csv(every(7.5, 12))).unwrap();
    let all = lines(&predict(&[file.to_str().unwrap(), "--once"]));
    for (i, p) in all.iter().enumerate() {
        assert_eq!(p["schema"], "iophase.prediction.v1");
        assert_eq!(p["sequence"], i);
        assert_eq!(p["change_point"], false, "{p}");
    }
    let last = all.last().unwrap();
    assert!((number(last, "period_s") - 7.5).abs() < 1e-6 && last["periodic"] == true, "{last}");
    assert!((number(last, "next_start_s") - 93.0).abs() < 0.01 && (number(last, "next_end_s") - 93.5).abs() < 0.05);
    assert!((number(last, "bytes") - 8e6).abs() < 1.0 && number(last, "confidence") > 0.9);
    assert_eq!((last["mode"].as_str(), last["state"].as_str()), (Some("write"), Some("A")));
    // every burst after the fifth was told before it began
    for k in 6..12 {
        let start = 3.0 + 7.5 * f64::from(k);
        let told = all.iter().rev().find(|p| number(p, "now_s") < start).unwrap();
        assert!((number(told, "next_start_s") - start).abs() < 0.05 * 7.5, "{start}: {told}");
    }
}

#[test]
fn all_sources_give_the_same_predictions() {
    let dir = tempfile::tempdir().unwrap();
    // one flush a burst, as a job does that is asked for it
    let msgpack = fs::read(data("stable.msgpack")).unwrap();
    let o = predict_text(&["-"], &msgpack);
    let all = lines(&o);
    assert!((number(all.last().unwrap(), "period_s") - 2.0).abs() < 0.01);
    let convert = |to: &str| {
        let path = dir.path().join(to);
        let done = Command::new(env!("CARGO_BIN_EXE_iophase"))
            .args(["convert", "-q", &data("stable.darshan"), "-o", path.to_str().unwrap()])
            .status();
        assert!(done.unwrap().success());
        path
    };
    for name in ["x.csv", "x.jsonl", "x.tmio.jsonl", "x.msgpack"].into_iter().step_by(one_in(2)) {
        let path = convert(name);
        let path = path.to_str().unwrap();
        let all = lines(&predict(&[path, "--once", "--mode", "write", "--window", "none"]));
        let last = all.last().unwrap();
        assert!((number(last, "period_s") - 2.0).abs() < 0.01, "{path}: {last}");
        assert!(last["now_s"].as_f64() > Some(27.0));
    }
    let strace = calls(dir.path());
    let all = lines(&predict(&[strace.to_str().unwrap(), "--once"]));
    assert!((number(all.last().unwrap(), "period_s") - 2.0).abs() < 0.02, "{}", all.last().unwrap());
}

#[test]
fn a_change_of_period_begins_a_new_window_and_a_new_state() {
    let mut starts: Vec<f64> = every(5.0, 12).collect();
    starts.extend((1..=12).map(|i| 58.0 + 9.0 * f64::from(i)));
    let all = lines(&predict_text(&["-"], csv(starts.clone()).as_bytes()));
    let changes: Vec<_> = all.iter().filter(|p| p["change_point"] == true).collect();
    let [change] = changes[..] else { panic!("one change: {changes:?}") };
    assert!((number(change, "change_s") - 58.0).abs() < 1e-6, "{change}");
    assert!((number(&change["window"], "start_s") - 58.0).abs() < 1e-6);
    let mut states: Vec<&str> = all.iter().filter_map(|p| p["state"].as_str()).collect();
    states.dedup();
    assert_eq!(states, ["A", "B"]);
    // without change points nothing begins anew
    let none = lines(&predict_text(&["-", "--change", "none"], csv(starts).as_bytes()));
    assert!(none.iter().all(|p| p["change_point"] == false));
}

/// Predictions for bursts with these gaps.
fn replayed(gaps: &[f64]) -> Vec<Value> {
    let starts = gaps.iter().scan(3.0, |t, gap| {
        *t += 10.0 * gap;
        Some(*t)
    });
    lines(&predict_text(&["-"], csv([3.0].into_iter().chain(starts)).as_bytes()))
}

#[test]
fn two_equal_gaps_of_an_irregular_period_are_no_change() {
    // normal, of 20 % and 5 %; the ninth and tenth differ from those before and hardly from each other
    let normal = [
        1.11, 0.88, 1.22, 0.94, 1.13, 1.04, 1.16, 1.0, 0.6, 0.63, 0.82, 0.94, 0.99, 1.44, 0.95, 0.86, 0.99, 1.4, 0.86,
        0.95, 0.79, 1.06, 1.1, 0.75, 1.07, 0.95, 1.11,
    ];
    let compute = [
        0.95, 1.04, 0.94, 0.93, 0.92, 0.95, 0.9, 0.96, 1.18, 1.26, 0.93, 1.03, 0.96, 1.0, 0.97, 1.08, 1.03, 0.97, 1.04,
    ];
    for gaps in [&normal[..], &compute[..]] {
        let all = replayed(gaps);
        assert!(all.iter().any(|p| p["periodic"] == true));
        assert!(all.iter().all(|p| p["change_point"] == false), "{gaps:?}");
    }
}

#[test]
fn a_halved_period_is_reported_in_its_second_cycle() {
    let gaps: Vec<f64> = [1.0; 12].into_iter().chain([0.5; 12]).collect();
    let all = replayed(&gaps);
    let changes: Vec<_> = all.iter().filter(|p| p["change_point"] == true).collect();
    let [change] = changes[..] else { panic!("one change: {changes:?}") };
    assert!((number(change, "change_s") - 123.0).abs() < 1e-6 && number(change, "now_s") <= 133.6, "{change}");
}

#[test]
fn bursts_of_three_pieces_are_predicted_while_their_period_shrinks() {
    let mut text = String::from("rank,op,file,size,start,end\n");
    let mut starts = Vec::new();
    let mut t = 3.0;
    for k in 0..20 {
        for (i, (after, long)) in [(0.0, 1.7), (2.0, 1.6), (4.1, 1.8)].into_iter().enumerate() {
            // the first piece of the first burst was not seen
            if (k, i) != (0, 0) {
                writeln!(text, "0,write,/scratch/x,{:.0},{:.6},{:.6}", 1e8 * long, t + after, t + after + long)
                    .unwrap();
            }
        }
        starts.push(t);
        t += 20.0 - 0.5 * f64::from(k);
    }
    let all = lines(&predict_text(&["-"], text.as_bytes()));
    assert!(all.iter().all(|p| p["change_point"] == false));
    for w in starts[6..].windows(2) {
        let told = all.iter().rev().find(|p| number(p, "now_s") < w[1] - 0.5).unwrap();
        assert!((number(told, "next_start_s") - w[1]).abs() < 0.05 * (w[1] - w[0]), "{}: {told}", w[1]);
    }
}

#[test]
fn a_returning_period_gets_its_old_state() {
    for (first, second) in [(5.0, 9.0), (9.0, 5.0), (6.0, 2.5)].into_iter().step_by(one_in(3)) {
        let (end, back) = (3.0 + 11.0 * first, 3.0 + 11.0 * first + 12.0 * second);
        let starts = every(first, 12).chain((1..=12).map(|i| end + second * f64::from(i)));
        let starts: Vec<f64> = starts.chain((1..=12).map(|i| back + first * f64::from(i))).collect();
        let all = lines(&predict_text(&["-"], csv(starts).as_bytes()));
        let changes: Vec<_> = all.iter().filter(|p| p["change_point"] == true).collect();
        let [one, two] = changes[..] else { panic!("{first}, {second}: two changes: {changes:?}") };
        for (change, at, period) in [(one, end, second), (two, back, first)] {
            assert!((number(change, "change_s") - at).abs() < 1e-6, "{first}, {second}: {change}");
            assert!(number(change, "now_s") <= at + 2.0 * period + 0.6, "{first}, {second}: {change}");
        }
        let mut states: Vec<&str> = all.iter().filter_map(|p| p["state"].as_str()).collect();
        states.dedup();
        assert_eq!(states, ["A", "B", "A"], "{first}, {second}");
        assert!((number(all.last().unwrap(), "period_s") / first - 1.0).abs() < 1e-3);
    }
}

#[test]
fn predictions_use_only_the_window() {
    let text = csv(every(4.0, 20));
    for (window, seconds) in [("last-5", 5.25 * 4.0 + 0.5), ("fixed:30s", 30.0), ("fixed:48MB", 5.0 * 4.0 + 0.5)] {
        let all = lines(&predict_text(&["-", "--window", window], text.as_bytes()));
        let last = all.last().unwrap();
        let start = number(&last["window"], "start_s");
        let length = number(&last["window"], "end_s") - start;
        assert!(length <= seconds + 4.01 && length > 0.5 * seconds, "{window}: {last}");
        assert!((number(last, "period_s") - 4.0).abs() < 1e-3, "{window}: {last}");
    }
    let all = lines(&predict_text(&["-", "--window", "none"], text.as_bytes()));
    assert_eq!(number(&all.last().unwrap()["window"], "start_s"), 3.0);
}

/// A predictor that runs, and what it has said.
struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Running {
    fn start(args: &[&str]) -> Self {
        let mut child = command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Running { child, out }
    }

    /// The next line; `None` at the end.
    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        // a line may be cut by the end of the process
        serde_json::from_str(&line).ok()
    }

    fn until(&mut self, found: impl Fn(&Value) -> bool) -> Value {
        loop {
            let p = self.next().expect("the predictor has ended");
            if found(&p) {
                return p;
            }
        }
    }

    fn kill(mut self) -> Vec<Value> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        rest.lines().filter_map(|l| serde_json::from_str(l).ok()).collect()
    }
}

#[test]
fn a_growing_file_is_followed_across_rotation() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.csv");
    let starts: Vec<f64> = every(5.0, 16).collect();
    let text = csv(starts.clone());
    // cut in the middle of a line
    let half = text.find(&format!("{:.6}", starts[8] + 0.25)).unwrap();
    fs::write(&path, &text[..half]).unwrap();
    let mut p = Running::start(&[path.to_str().unwrap(), "--poll", "0.01", "--every", "message"]);
    p.until(|v| number(v, "now_s") > starts[8]);
    let rest = &text[half..];
    let next = rest.find(&format!("{:.6}", starts[11])).unwrap();
    let line = rest[..next].rfind('\n').unwrap() + 1;
    OpenOptions::new().append(true).open(&path).unwrap().write_all(&rest.as_bytes()[..line]).unwrap();
    p.until(|v| number(v, "now_s") > starts[10]);
    // the new file has a header of its own
    fs::rename(&path, dir.path().join("log.csv.1")).unwrap();
    let mut new = String::from(text.lines().next().unwrap());
    new.push('\n');
    new.push_str(&rest[line..]);
    fs::write(dir.path().join("new"), new).unwrap();
    fs::rename(dir.path().join("new"), &path).unwrap();
    let last = p.until(|v| number(v, "now_s") > starts[15]);
    assert!((number(&last, "period_s") - 5.0).abs() < 1e-3, "{last}");
    assert_eq!(number(&last["window"], "start_s"), 3.0, "{last}");
    assert_eq!(last["warnings"], json!([]));
    p.kill();
}

/// Lines of several runs by sequence number. A repeated line must equal the first one, apart from the time at which it was printed.
fn merge(into: &mut Vec<Value>, lines: Vec<Value>) {
    for mut line in lines {
        line["emitted_unix_s"] = Value::Null;
        let n = line["sequence"].as_u64().unwrap() as usize;
        assert!(n <= into.len(), "predictions are missing before {n}");
        if n < into.len() {
            assert_eq!(into[n], line);
        } else {
            into.push(line);
        }
    }
}

#[test]
fn a_restart_after_a_kill_repeats_the_same_predictions() {
    let dir = tempfile::tempdir().unwrap();
    let strace = calls(dir.path());
    let csv_path = dir.path().join("x.csv");
    let mut starts: Vec<f64> = every(5.0, 10).collect();
    starts.extend((0..10).map(|i| 56.0 + 8.0 * f64::from(i)));
    fs::write(&csv_path, csv(starts)).unwrap();
    for (source, reads) in [(csv_path, [1usize, 40, 70]), (strace, [1, 20, 50])].into_iter().step_by(one_in(2)) {
        let source = source.to_str().unwrap();
        let options = [source, "--once", "--every", "message", "--queue", "2"];
        let mut whole = Vec::new();
        merge(&mut whole, lines(&predict(&options)));
        assert!(whole.len() > 120, "{}", whole.len());
        let state = dir.path().join("state.json");
        let _ = fs::remove_file(&state);
        let with_state: Vec<&str> = options.into_iter().chain(["--state", state.to_str().unwrap()]).collect();
        let mut all = Vec::new();
        for k in reads {
            let mut p = Running::start(&with_state);
            let mut said: Vec<Value> = (0..k).map_while(|_| p.next()).collect();
            said.extend(p.kill());
            merge(&mut all, said);
        }
        assert!(state.is_file());
        merge(&mut all, lines(&predict(&with_state)));
        assert_eq!(all, whole, "{source}");
        // at the end nothing is left to say
        assert_eq!(lines(&predict(&with_state)), Vec::<Value>::new());
    }
}

#[test]
fn a_state_of_other_options_or_versions_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state.json");
    let state = state.to_str().unwrap();
    let text = csv(every(5.0, 20));
    let half = text.find("\n0,write,/scratch/x,1000000,53.000000").unwrap() + 1;
    let header = text.lines().next().unwrap().to_owned() + "\n";
    let first = lines(&predict_text(&["-", "--state", state], &text.as_bytes()[..half]));
    let second = lines(&predict_text(&["-", "--state", state], (header + &text[half..]).as_bytes()));
    assert_eq!(second[0]["sequence"], first.len());
    assert_eq!(number(&second.last().unwrap()["window"], "start_s"), 3.0);
    let other = predict_text(&["-", "--state", state, "--window", "none"], b"");
    assert_eq!(other.status.code(), Some(2), "{}", String::from_utf8_lossy(&other.stderr));
    for damaged in [&b"{"[..], b"{}", b"\x00"] {
        fs::write(state, damaged).unwrap();
        assert_eq!(predict_text(&["-", "--state", state], b"").status.code(), Some(3));
    }
    let nowhere = dir.path().join("no/such/folder/state");
    let o = predict_text(&["-", "--state", nowhere.to_str().unwrap()], text.as_bytes());
    assert_eq!(o.status.code(), Some(5));
}

#[test]
fn a_clock_that_steps_is_survived_and_steps_back_are_told() {
    for step in [-1e9, -1000.0, -7.0, 1000.0, 1e9].into_iter().step_by(one_in(2)) {
        let all = lines(&predict_text(
            &["-"],
            csv(every(5.0, 20).chain(every(5.0, 20).map(|t| t + 100.0 + step))).as_bytes(),
        ));
        let told = |code: &str| {
            let has = |l: &Value| l["warnings"].as_array().unwrap().iter().any(|w| w["code"] == code);
            all.iter().position(has)
        };
        assert_eq!(told("rows-out-of-order").is_some(), step < 0.0, "{step}");
        // less than a period back is a burst out of place
        let back = told("clock-set-back");
        assert_eq!(back.is_some(), step < -100.0, "{step}");
        let falls = |w: &[Value]| number(&w[0], "now_s") > number(&w[1], "now_s");
        assert_eq!(all.windows(2).filter(|w| falls(w)).count(), usize::from(back.is_some()), "{step}");
        let periodic: Vec<&Value> = all.iter().filter(|l| l["periodic"] == true).collect();
        assert!(
            !periodic.is_empty() && periodic.iter().all(|l| number(l, "next_start_s") > number(l, "now_s")),
            "{step}"
        );
    }
}

#[test]
fn jobs_of_one_source_are_separate_and_bad_messages_counted() {
    let mut text = String::new();
    for i in 0..12 {
        for (job, period) in [("a", 3.0), ("b", 5.0)] {
            let t = period * f64::from(i);
            writeln!(
                text,
                r#"{{"job":"{job}","ranks":4,"b":[1e6,1e6],"ts":[{t},{t}],"te":[{},{}]}}"#,
                t + 0.5,
                t + 0.75
            )
            .unwrap();
        }
        text.push_str("{\"b\":[1],\"ts\":[],\"te\":[1]}\nnonsense\n");
    }
    let all = lines(&predict_text(&["-"], text.as_bytes()));
    for (job, period) in [("a", 3.0), ("b", 5.0)] {
        let of_job: Vec<_> = all.iter().filter(|p| p["job"] == job).collect();
        let last = of_job.last().unwrap();
        assert!((number(last, "period_s") - period).abs() < 1e-6, "{last}");
        assert_eq!((last["ranks"].as_u64(), last["sequence"].as_u64()), (Some(4), Some(of_job.len() as u64 - 1)));
    }
    let warned = all.iter().any(|p| p["warnings"].to_string().contains("malformed-messages"));
    assert!(warned);
}

/// One peer of ZMTP 3.0.
fn shake_hands(mut s: &TcpStream, kind: &str) {
    let mut greeting = [0u8; 64];
    (greeting[0], greeting[9], greeting[10]) = (0xff, 0x7f, 3);
    greeting[12..16].copy_from_slice(b"NULL");
    s.write_all(&greeting).unwrap();
    s.read_exact(&mut greeting).unwrap();
    assert_eq!((greeting[0], greeting[10]), (0xff, 3));
    let mut ready = vec![4, 26];
    ready.extend(b"\x05READY\x0bSocket-Type\0\0\0\x04");
    ready.extend(kind.as_bytes());
    s.write_all(&ready).unwrap();
    let mut head = [0u8; 2];
    s.read_exact(&mut head).unwrap();
    let mut body = vec![0; head[1].into()];
    s.read_exact(&mut body).unwrap();
    assert!(head[0] == 4 && body.starts_with(b"\x05READY"));
}

fn push(mut s: &TcpStream, message: &[u8]) {
    let mut frame = vec![2];
    frame.extend((message.len() as u64).to_be_bytes());
    frame.extend(message);
    s.write_all(&frame).unwrap();
}

fn address(p: &mut Running) -> String {
    let mut stderr = BufReader::new(p.child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    line.trim().strip_prefix("listening on zmq://").unwrap_or_else(|| panic!("{line}")).to_owned()
}

#[test]
fn a_socket_serves_changing_senders_and_replies() {
    let replies = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("zmq://{}", replies.local_addr().unwrap());
    let answer = std::thread::spawn(move || {
        let (mut reply, _) = replies.accept().unwrap();
        shake_hands(&reply, "PULL");
        let mut frame = [0u8; 18];
        reply.read_exact(&mut frame).unwrap();
        frame
    });
    let mut p = Running::start(&["zmq://127.0.0.1:0", "--reply", &to, "--max-message", "100000"]);
    let at = address(&mut p);
    let message = |i: u32| {
        let t = 4.0 * f64::from(i);
        let body = json!({"job": "j", "b": [2e6], "ts": [t], "te": [t + 0.5]});
        body.to_string().into_bytes()
    };
    for i in 0..6 {
        // a sender a message
        let s = TcpStream::connect(&at).unwrap();
        shake_hands(&s, "PUSH");
        push(&s, &message(i));
        p.until(|v| number(v, "now_s") > 4.0 * f64::from(i));
    }
    // one that asks for more memory than allowed, one of another kind, one that speaks another language
    let greedy = TcpStream::connect(&at).unwrap();
    shake_hands(&greedy, "PUSH");
    (&greedy).write_all(b"\x02\x00\x00\x00\xff\x00\x00\x00\x00").unwrap();
    assert_eq!((&greedy).read(&mut [0]).unwrap_or(0), 0, "it is turned away");
    let mut stranger = TcpStream::connect(&at).unwrap();
    stranger.write_all(&[b'G'; 80]).unwrap();
    let s = TcpStream::connect(&at).unwrap();
    shake_hands(&s, "PUSH");
    for i in 6..9 {
        push(&s, &message(i));
        push(&s, b"\x81\xa1x\x01");
    }
    let last = p.until(|v| number(v, "now_s") > 32.0);
    assert!((number(&last, "period_s") - 4.0).abs() < 1e-6 && last["job"] == "j", "{last}");
    let frame = answer.join().unwrap();
    assert_eq!(frame[..2], [0, 16]);
    let f = f64::from_ne_bytes(frame[2..10].try_into().unwrap());
    assert!(f.is_nan() || (f - 0.25).abs() < 1e-6, "{f}");
    p.kill();
}

#[test]
fn addresses_and_options_are_checked() {
    for args in [
        &["zmq://0.0.0.0:0"][..],
        &["zmq://127.0.0.1:0", "--reply", "zmq://192.0.2.1:5556"],
        &["zmq://nonsense"],
        &["-", "--window", "last-2"],
        &["-", "--change", "guess"],
        &["-", "--every", "0"],
        &["x", "--once", "--follow"],
        &[],
    ] {
        let o = predict_text(args, b"");
        assert_eq!(o.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&o.stderr));
        assert!(o.stdout.is_empty());
    }
    let folder = data("stable.strace");
    for (args, code) in [
        (&["/no/such/file", "--once"][..], 3),
        (&[&*data("stable.darshan"), "--once"], 3),
        (&[&folder, "--once"], 3),
        (&[&*data("stable.msgpack"), "--once", "--format", "darshan"], 3),
    ] {
        let o = predict(args);
        assert_eq!(o.status.code(), Some(code), "{args:?}: {}", String::from_utf8_lossy(&o.stderr));
    }
    // what cannot be followed is named, and what to do instead
    let gzip = predict_text(&["-", "--once"], b"\x1f\x8b\x08\x00\x00\x00\x00\x00");
    let folder = predict(&[env!("CARGO_MANIFEST_DIR"), "--once"]);
    for (o, what) in [(gzip, "gzip"), (folder, "folder")] {
        let text = String::from_utf8_lossy(&o.stderr);
        assert!(o.status.code() == Some(3) && text.contains(what) && text.contains("iophase analyze"), "{text}");
    }
    assert_eq!(predict_text(&["-"], b"").status.code(), Some(4));
    assert_eq!(predict_text(&["-"], b"rank,op,size,start\n").status.code(), Some(4));
}

#[test]
fn flushed_logs_of_real_runs_are_followed() {
    for (file, periods, change_s) in [
        ("corpus/a_stable/tmio/mpiio-flush.tmio_jsonl.jsonl", &[2.0][..], None),
        ("corpus/a_stable/tmio/mpiio-flush.tmio_msgpack.msgpack", &[2.0], None),
        ("corpus/c_change/tmio/mpiio-flush.tmio_jsonl.jsonl", &[2.0, 3.5], Some(19.5)),
        ("corpus/c_change/tmio/mpiio-flush.tmio_msgpack.msgpack", &[2.0, 3.5], Some(19.5)),
    ] {
        let Some(path) = shared(file) else { continue };
        let all = lines(&predict(&[path.to_str().unwrap(), "--once"]));
        let last = all.last().unwrap();
        let expected = periods[periods.len() - 1];
        assert!((number(last, "period_s") / expected - 1.0).abs() < 0.05, "{file}: {last}");
        let changes: Vec<_> = all.iter().filter(|p| p["change_point"] == true).collect();
        assert_eq!(changes.len(), usize::from(change_s.is_some()), "{file}: {changes:?}");
        for (change, at) in changes.iter().zip(change_s) {
            assert!((number(change, "change_s") - at).abs() < 0.2, "{file}: {change}");
            assert!(number(change, "now_s") < at + 2.6 * expected, "noticed within two cycles: {file}: {change}");
        }
    }
}

#[test]
fn the_rhythm_inside_bursts_is_no_period() {
    let dir = tempfile::tempdir().unwrap();
    let csv = dir.path().join("change.csv");
    let convert = |more: &[&str], to: &Path| {
        let mut c = Command::new(env!("CARGO_BIN_EXE_iophase"));
        let done = c.args(["convert", "-q", &data("change.darshan"), "-o", to.to_str().unwrap()]).args(more).status();
        assert!(done.unwrap().success());
    };
    convert(&[], &csv);
    let all = lines(&predict(&[csv.to_str().unwrap(), "--once"]));
    let periods: Vec<f64> = all.iter().filter_map(|p| p["period_s"].as_f64()).collect();
    assert!(
        periods.len() > 20 && periods.iter().all(|t| (t - 2.0).abs() < 0.01 || (t - 3.5).abs() < 0.01),
        "{periods:?}"
    );
    let changes: Vec<&Value> = all.iter().filter(|p| p["change_point"] == true).collect();
    assert_eq!(changes.len(), 1);
    let states: std::collections::BTreeSet<_> = all.iter().filter_map(|p| p["state"].as_str()).collect();
    assert_eq!(states.into_iter().collect::<Vec<_>>(), ["A", "B"]);
    assert!(all.iter().all(|p| p["warnings"] == json!([])));
    let wanted = lines(&predict(&[csv.to_str().unwrap(), "--once", "--min-period", "0.01"]));
    assert!(wanted.iter().any(|p| p["period_s"].as_f64().is_some_and(|t| t < 0.1)));
    // rank by rank, as a log holds them
    convert(&["--input-order"], &csv);
    let all = lines(&predict(&[csv.to_str().unwrap(), "--once"]));
    let mut warnings = all.iter().flat_map(|p| p["warnings"].as_array().unwrap());
    let warning = warnings.find(|w| w["code"] == "rows-out-of-order").unwrap();
    assert!(warning["remedy"].as_str().is_some_and(|r| r.contains("iophase convert")), "{warning}");
}

#[cfg(unix)]
#[test]
fn a_signal_stores_the_state_and_ends_with_success() {
    for signal in ["TERM", "INT"] {
        let dir = tempfile::tempdir().unwrap();
        let (file, state) = (dir.path().join("x.csv"), dir.path().join("state"));
        let (path, state) = (file.to_str().unwrap(), state.to_str().unwrap());
        fs::write(&file, csv(every(7.5, 12))).unwrap();
        let mut whole = Vec::new();
        merge(&mut whole, lines(&predict(&[path, "--once"])));
        fs::write(&file, csv(every(7.5, 9))).unwrap();
        let mut child = command(&[path, "--state", state]).stdout(Stdio::piped()).spawn().unwrap();
        let mut seen: Vec<Value> = Vec::new();
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        while seen.last().is_none_or(|p| number(p, "now_s") < 63.0) {
            seen.push(serde_json::from_str(&out.next().unwrap().unwrap()).unwrap());
        }
        let kill = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        seen.extend(out.map(|l| serde_json::from_str::<Value>(&l.unwrap()).unwrap()));
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
        fs::write(&file, csv(every(7.5, 12))).unwrap();
        let rest = lines(&predict(&[path, "--once", "--state", state]));
        assert_eq!(rest[0]["sequence"], seen.len(), "{signal}: nothing is lost or repeated");
        let mut all = Vec::new();
        merge(&mut all, seen);
        merge(&mut all, rest);
        assert_eq!(all, whole, "{signal}");
    }
}

#[test]
fn a_folder_of_strace_files_is_one_job() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole.st");
    let done = Command::new(env!("CARGO_BIN_EXE_iophase"))
        .args(["convert", "-q", &data("stable.darshan"), "-o", whole.to_str().unwrap()])
        .status();
    assert!(done.unwrap().success());
    let all = lines(&predict(&[whole.to_str().unwrap(), "--once"]));
    let last = all.last().unwrap();
    assert!((number(last, "period_s") - 2.0).abs() < 0.01 && last["warnings"] == json!([]), "{last}");
    assert_eq!(last["clock"]["kind"], "midnight");
    // files that come while the folder is followed
    let growing = dir.path().join("growing.st");
    fs::create_dir(&growing).unwrap();
    let mut child = command(&[growing.to_str().unwrap(), "--poll", "0.01"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    for entry in fs::read_dir(&whole).unwrap().map(Result::unwrap) {
        let beside = dir.path().join("beside");
        fs::copy(entry.path(), &beside).unwrap();
        fs::rename(&beside, growing.join(entry.file_name())).unwrap();
    }
    let mut p = Value::Null;
    while p["periodic"] != true {
        p = serde_json::from_str(&out.next().unwrap().unwrap()).unwrap();
    }
    assert!((number(&p, "period_s") - 2.0).abs() < 0.05, "{p}");
    child.kill().unwrap();
    child.wait().unwrap();
    let refused = predict(&[whole.to_str().unwrap(), "--state", dir.path().join("s").to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--state cannot be used with a folder"));
}

#[test]
fn a_folder_is_one_job_and_what_is_left_out_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("a.csv"), csv((0..20).map(|i| 5.0 * f64::from(i)))).unwrap();
    // the rhythm of another job
    fs::write(at("b.csv"), csv((0..30).map(|i| 3.1 * f64::from(i) + 1.0))).unwrap();
    fs::write(at("README"), "how this was recorded\n").unwrap();
    let out = fs::File::create(at("out.jsonl")).unwrap();
    let folder = dir.path().to_str().unwrap();
    let mut child = command(&[folder, "--once"]).stdout(out).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    let text = fs::read_to_string(at("out.jsonl")).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert!((number(&last, "period_s") - 5.0).abs() < 0.05, "{last}");
    for part in ["b.csv (another job)", "README (not a format", "out.jsonl (written by this program)"] {
        assert!(said.contains(part), "{part}: {said}");
        assert!(text.contains("other-files") && text.contains(part), "{part}: {text}");
    }
    // the answers of before are none of the job either
    let again = lines(&predict(&[folder, "--once"]));
    assert_eq!(again.last().unwrap()["period_s"], last["period_s"]);
}

#[test]
fn a_source_that_does_not_exist_yet_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let (path, begun) = (dir.path().join("run.csv"), dir.path().join("begun"));
    let path_text = path.to_str().unwrap();
    assert_eq!(predict(&[path_text, "--once"]).status.code(), Some(3));
    let waiting = |args: &[&str]| {
        let mut child = command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("waiting for") && said.contains("run.csv"), "{said}");
        child
    };
    let child = waiting(&[path_text, "--wait", "--once", "--poll", "0.01"]);
    fs::write(&begun, csv((0..20).map(|i| 5.0 * f64::from(i)))).unwrap();
    fs::rename(&begun, &path).unwrap();
    let all = lines(&child.wait_with_output().unwrap());
    assert!((number(all.last().unwrap(), "period_s") - 5.0).abs() < 0.05);
    fs::remove_file(&path).unwrap();
    assert_eq!(predict(&[path_text, "--wait", "--idle-exit", "0.02", "--poll", "0.01"]).status.code(), Some(3));
    #[cfg(unix)]
    for signal in ["-INT", "-TERM"] {
        let mut child = waiting(&[path_text, "--wait"]);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}
