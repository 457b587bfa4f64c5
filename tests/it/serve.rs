//! `iophase serve` over the loopback address, and its page in a browser where one is installed.
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::corpus::comparable;

/// A running server; ended when this goes.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(more: &[&str]) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_iophase"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(more)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().trim_end_matches('/').to_owned();
        Server { child, address }
    }

    fn open(&self, head: &str, body: &[u8]) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(stream, "{head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n").unwrap();
        // A refusal may come, and the connection end, before the whole body is sent.
        let _ = stream.write_all(body);
        BufReader::new(stream)
    }

    /// Status, head, body.
    fn ask_with(&self, request: &str, headers: &str, body: &[u8]) -> (u16, String, String) {
        let mut answer = String::new();
        self.open(&format!("{request} HTTP/1.1\r\n{headers}"), body).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_owned(), body.to_owned())
    }

    fn ask(&self, request: &str, body: &[u8]) -> (u16, Value) {
        let (status, _, body) = self.ask_with(request, &format!("Host: {}", self.address), body);
        (status, serde_json::from_str(&body).unwrap_or_else(|e| panic!("{request}: {e}: {body}")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const HEADER: &str = "rank,op,file,offset,size,start,end\n";

/// One burst as CSV.
fn burst(start: f64, ranks: u32) -> String {
    let row = |r| format!("{r},write,out,{},1000000,{start},{}\n", r * 1_000_000, start + 0.5);
    (0..ranks).map(row).collect()
}

#[test]
fn a_trace_gets_the_report_of_analyze() {
    let server = Server::start(&[]);
    let trace = std::fs::read("data/stable.darshan").unwrap();
    let (status, mut report) = server.ask("POST /api/analyze", &trace);
    assert_eq!(status, 200);
    let told = Command::new(env!("CARGO_BIN_EXE_iophase"))
        .args(["analyze", "data/stable.darshan", "--json", "-"])
        .output()
        .unwrap();
    let mut expected: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(report["trace"]["path"], "request");
    expected["trace"]["path"] = "request".into();
    report["trace"]["path"] = "request".into();
    assert_eq!(report, expected);
    let (_, writes) = server.ask("POST /api/analyze?mode=all", &trace);
    assert_eq!(writes["signals"][0]["mode"], "all");
}

#[test]
fn blocks_of_a_job_get_predictions() {
    let server = Server::start(&[]);
    let mut last = Value::Null;
    for i in 0..8 {
        let block = format!("{HEADER}{}", burst(5.0 * f64::from(i), 4));
        let (status, p) = server.ask("POST /api/jobs/climate%201/blocks", block.as_bytes());
        assert_eq!((status, p["sequence"].as_u64(), p["job"].as_str()), (200, Some(i as u64), Some("climate 1")));
        last = p;
    }
    assert_eq!(last["schema"], "iophase.prediction.v1");
    assert!((last["period_s"].as_f64().unwrap() - 5.0).abs() < 0.05, "{last}");
    assert!((last["next_start_s"].as_f64().unwrap() - 40.0).abs() < 0.2, "{last}");
    assert_eq!(server.ask("GET /api/jobs/climate%201/prediction", b"").1, last);
    assert_eq!(server.ask("GET /api/jobs", b"").1, serde_json::json!({"jobs": ["climate 1"]}));
    let (_, live) = server.ask("GET /api/jobs/climate%201/live", b"");
    assert_eq!((live["schema"].as_str(), &live["prediction"]), (Some("iophase.live.v1"), &last));
    let bytes: f64 = live["signal"]["bytes_per_s"].as_array().unwrap().iter().map(|r| r.as_f64().unwrap()).sum();
    assert!((bytes * live["signal"]["bin_s"].as_f64().unwrap() / 32e6 - 1.0).abs() < 1e-6);
    let (_, automaton) = server.ask("GET /api/jobs/climate%201/automaton", b"");
    assert_eq!(automaton["current"], "A");
    let (status, _, dot) = server.ask_with("GET /api/jobs/climate%201/automaton?form=dot", "Host: localhost", b"");
    assert!(status == 200 && dot.contains("digraph"));
    // One message of arrays, as it goes over a socket.
    let arrays = br#"{"b": [1e6, 1e6, 1e6], "ts": [0, 7, 14], "te": [1, 8, 15]}"#;
    assert_eq!(server.ask("POST /api/jobs/other/blocks", arrays).0, 200);
}

#[test]
fn a_change_within_one_block_is_reported() {
    let server = Server::start(&[]);
    let starts = (0..12).map(|i| 5.0 * f64::from(i)).chain((0..10).map(|i| 70.0 + 9.0 * f64::from(i)));
    let block = starts.map(|t| burst(t, 4)).collect::<String>();
    let (_, p) = server.ask("POST /api/jobs/a/blocks", format!("{HEADER}{block}").as_bytes());
    assert_eq!((p["sequence"].as_u64(), p["change_point"].as_bool()), (Some(0), Some(true)), "{p}");
    assert!((p["period_s"].as_f64().unwrap() - 9.0).abs() < 0.05, "{p}");
    // reported once
    let (_, p) = server.ask("POST /api/jobs/a/blocks", format!("{HEADER}{}", burst(160.0, 4)).as_bytes());
    assert_eq!((p["sequence"].as_u64(), p["change_point"].as_bool()), (Some(1), Some(false)), "{p}");
}

#[test]
fn predictions_have_clock_and_time_and_warnings() {
    let server = Server::start(&[]);
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    let began = now();
    // strace -ttt: a block for each burst of four calls
    let block = |i: u32| {
        let start = 1_700_000_000.0 + 5.0 * f64::from(i);
        let call = |k: u32| {
            let t = start + 0.1 * f64::from(k);
            format!("{t:.6} write(3</scratch/out>, \"a\"..., 1000000) = 1000000 <0.050000>\n")
        };
        (0..4).map(call).collect::<String>()
    };
    let mut p = Value::Null;
    for i in 0..8 {
        p = server.ask("POST /api/jobs/a/blocks", block(i).as_bytes()).1;
    }
    assert_eq!(p["clock"], serde_json::json!({"kind": "unix", "zero_unix_s": 0.0}), "{p}");
    assert_eq!(p["next_start_unix_s"], p["next_start_s"]);
    assert!((p["next_start_s"].as_f64().unwrap() - 1_700_000_040.0).abs() < 0.1, "{p}");
    assert!((began..=now()).contains(&p["emitted_unix_s"].as_f64().unwrap()), "{p}");
    assert_eq!(
        (&p["warnings"], &server.ask("GET /api/jobs/a/live", b"").1["prediction"]),
        (&serde_json::json!([]), &p)
    );
    // rows from long before, and one that cannot be read
    let late = format!("{HEADER}{}", burst(0.0, 4));
    let rest: String = (1..8).map(|i| burst(5.0 * f64::from(i), 4)).collect();
    server.ask("POST /api/jobs/b/blocks", format!("{HEADER}{rest}").as_bytes());
    let (_, p) = server.ask("POST /api/jobs/b/blocks", format!("{late}0,write,out,,many,0,1\n").as_bytes());
    assert_eq!(p["clock"]["kind"], "trace");
    let warnings = p["warnings"].as_array().unwrap();
    let codes: Vec<_> = warnings.iter().filter_map(|w| w["code"].as_str()).collect();
    assert_eq!(codes, ["malformed-messages", "rows-out-of-order"], "{p}");
    // a client of the service has no options and no commands
    assert!(warnings.iter().all(|w| !w.to_string().contains("--") && !w.to_string().contains("iophase")), "{p}");
}

#[test]
fn short_periods_are_left_out_on_request() {
    let server = Server::start(&["--min-period", "60"]);
    let all: String = (0..12).map(|i| burst(5.0 * f64::from(i), 4)).collect();
    let (_, p) = server.ask("POST /api/jobs/a/blocks", format!("{HEADER}{all}").as_bytes());
    assert_eq!((p["periodic"].as_bool(), &p["period_s"]), (Some(false), &Value::Null), "{p}");
    let (_, r) = server.ask("POST /api/analyze", format!("{HEADER}{all}").as_bytes());
    assert_eq!(r["signals"][0]["period"]["dominant"], Value::Null);
}

#[test]
fn a_trace_in_one_block_is_predicted_as_by_analyze_and_predict() {
    let server = Server::start(&[]);
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for c in comparable() {
        let trace = std::fs::read(&c.path).unwrap();
        let (status, p) = server.ask(&format!("POST /api/jobs/{checked}/blocks"), &trace);
        checked += 1;
        let same = |period_s: f64| (period_s / c.predicted_s - 1.0).abs() <= 0.02;
        let agrees = p["mode"] == *c.mode && p["period_s"].as_f64().is_some_and(same);
        if status != 200 || !agrees {
            wrong.push(format!("{} {} {} s: {p}", c.path.display(), c.mode, c.predicted_s));
        }
    }
    assert!(wrong.is_empty(), "{} of {checked} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The samples of OpenMetrics text: metric name, labels as they are written, value. Panics where the text does not keep to the
/// format: descriptors before samples, families in one piece, suffixes of units and counters, the end mark.
fn openmetrics(text: &str) -> Vec<(String, String, f64)> {
    let body = text.strip_suffix("# EOF\n").unwrap_or_else(|| panic!("no end mark: {text}"));
    let sample = regex::Regex::new(
        r#"^([a-z_:][a-z0-9_:]*)(\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})? (\S+)$"#,
    )
    .unwrap();
    let (mut samples, mut families) = (Vec::new(), Vec::<(String, String)>::new());
    for line in body.lines() {
        if let Some(descriptor) = line.strip_prefix("# ") {
            let [kind, name, value] = descriptor.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            match kind {
                "TYPE" => {
                    assert!(families.iter().all(|f| f.0 != name), "{name} comes twice");
                    assert!(["gauge", "counter"].contains(&value), "{line}");
                    families.push((name.to_owned(), value.to_owned()));
                }
                "UNIT" => assert!(name.ends_with(&format!("_{value}")), "{line}"),
                "HELP" => {}
                _ => panic!("{line}"),
            }
            assert_eq!(families.last().map(|f| &*f.0), Some(name), "{line}");
            continue;
        }
        let parts = sample.captures(line).unwrap_or_else(|| panic!("{line}"));
        let (family, kind) = families.last().unwrap_or_else(|| panic!("{line} before its type"));
        let suffix = if kind == "counter" { "_total" } else { "" };
        assert_eq!(parts[1], format!("{family}{suffix}"));
        let labels = parts.get(2).map_or("", |l| l.as_str()).to_owned();
        samples.push((parts[1].to_owned(), labels, parts[3].parse().unwrap()));
    }
    samples
}

#[test]
fn a_job_can_be_removed_and_measured() {
    let server = Server::start(&[]);
    let host = format!("Host: {}", server.address);
    assert_eq!(server.ask_with("GET /healthz", &host, b"").2, "ok");
    for i in 0..8 {
        let block = format!("{HEADER}{}", burst(5.0 * f64::from(i), 4));
        assert_eq!(server.ask("POST /api/jobs/a%22b%5C/blocks", block.as_bytes()).0, 200);
    }
    let (status, head, text) = server.ask_with("GET /metrics", &host, b"");
    assert!(status == 200 && head.contains("application/openmetrics-text; version=1.0.0"), "{head}");
    let samples = openmetrics(&text);
    let sample = |name: &str| {
        let labels = r#"{job="a\"b\\"}"#;
        samples.iter().find(|s| s.0 == name && s.1 == labels).unwrap_or_else(|| panic!("{name} in {text}")).2
    };
    assert!((sample("iophase_job_period_seconds") - 5.0).abs() < 0.05);
    assert!((sample("iophase_job_next_burst_seconds") - 40.0).abs() < 0.2);
    assert!(sample("iophase_job_confidence") > 0.5);
    assert_eq!(sample("iophase_job_bytes_total"), 32e6);
    assert_eq!(server.ask_with("DELETE /api/jobs/a%22b%5C", &host, b"").0, 204);
    assert_eq!(server.ask_with("DELETE /api/jobs/a%22b%5C", &host, b"").0, 404);
    assert_eq!(server.ask("GET /api/jobs", b"").1["jobs"], serde_json::json!([]));
    assert_eq!(openmetrics(&server.ask_with("GET /metrics", &host, b"").2), []);
}

#[test]
fn events_come_with_every_block() {
    let server = Server::start(&[]);
    let send =
        |i: u32| server.ask("POST /api/jobs/a/blocks", format!("{HEADER}{}", burst(5.0 * f64::from(i), 2)).as_bytes());
    send(0);
    let mut stream = server.open(&format!("GET /api/jobs/a/events HTTP/1.1\r\nHost: {}", server.address), b"");
    let mut next = || loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the stream ended");
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str::<Value>(data).unwrap();
        }
    };
    assert_eq!(next()["prediction"]["sequence"], 0);
    send(1);
    assert_eq!(next()["prediction"]["sequence"], 1);
}

#[test]
fn invalid_requests_are_refused_with_a_reason() {
    let server = Server::start(&["--max-body", "10000", "--max-jobs", "2"]);
    let refused = |request: &str, body: &[u8], status| {
        let (s, answer) = server.ask(request, body);
        assert_eq!(s, status, "{request}: {answer}");
        assert!(answer["error"].as_str().is_some_and(|e| !e.is_empty()), "{request}");
    };
    refused("POST /api/analyze", b"this is no trace\n", 422);
    refused("POST /api/analyze", b"", 422);
    refused("POST /api/analyze?mode=sideways", b"", 400);
    refused("POST /api/analyze", &[b'x'; 10_001], 413);
    refused("POST /api/jobs/a/blocks", b"neither one nor the other\n", 422);
    refused("GET /api/jobs/a/prediction", b"", 404);
    refused("GET /nowhere", b"", 404);
    assert_eq!(server.ask("GET /api/jobs", b"").1["jobs"], serde_json::json!([]));
    for job in ["a", "b", "c"] {
        let block = format!("{HEADER}{}", burst(0.0, 1));
        assert_eq!(server.ask(&format!("POST /api/jobs/{job}/blocks"), block.as_bytes()).0, 200);
    }
    assert_eq!(server.ask("GET /api/jobs", b"").1["jobs"], serde_json::json!(["b", "c"]));
}

#[test]
fn pages_of_other_hosts_are_refused() {
    let server = Server::start(&[]);
    assert_eq!(server.ask_with("GET /api/jobs", "Host: evil.example", b"").0, 403);
    let cross = format!("Host: {}\r\nOrigin: http://evil.example", server.address);
    assert_eq!(server.ask_with("POST /api/jobs/a/blocks", &cross, b"").0, 403);
    let (status, head, page) = server.ask_with("GET /", &format!("Host: {}", server.address), b"");
    assert_eq!(status, 200);
    assert!(head.to_lowercase().contains("content-security-policy: default-src 'none'"), "{head}");
    assert!(page.contains("type=\"file\"") && page.contains("/api/analyze"), "a trace can be uploaded");
    for outside in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let far = Command::new(env!("CARGO_BIN_EXE_iophase")).args(["serve", "--listen", "0.0.0.0:0"]).output().unwrap();
    assert_eq!(far.status.code(), Some(2));
}

#[test]
fn the_page_shows_a_job_in_a_browser() {
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|b| Command::new(b).arg("--version").output().is_ok_and(|o| o.status.success()))
    else {
        eprintln!("skipped: no Chromium is installed (Debian package chromium)");
        return;
    };
    let server = Server::start(&[]);
    for i in 0..8 {
        server.ask("POST /api/jobs/climate/blocks", format!("{HEADER}{}", burst(5.0 * f64::from(i), 4)).as_bytes());
    }
    let profile = tempfile::tempdir().unwrap();
    let shown = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
            "--virtual-time-budget=4000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("http://{}/?still", server.address))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&shown.stdout);
    for part in
        ["\ndominant cosine\n", "\nnext burst\n", "var(--trace)", "<td>period</td>", "data-sequence=\"7\"", "regime A"]
    {
        assert!(dom.contains(part), "{part} is not on the page:\n{dom}\n{}", String::from_utf8_lossy(&shown.stderr));
    }
}
