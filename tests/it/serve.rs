//! `iophase serve` over the loopback address, and its page in a browser where one is installed.
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

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
    let sample = |name: &str| {
        let start = format!("{name}{{job=\"a\\\"b\\\\\"}} ");
        let line = text.lines().find_map(|l| l.strip_prefix(&start));
        line.unwrap_or_else(|| panic!("{start} in {text}")).parse::<f64>().unwrap()
    };
    assert!((sample("iophase_job_period_seconds") - 5.0).abs() < 0.05);
    assert!((sample("iophase_job_next_burst_seconds") - 40.0).abs() < 0.2);
    assert!(sample("iophase_job_confidence") > 0.5);
    assert_eq!(sample("iophase_job_bytes_total"), 32e6);
    assert!(text.ends_with("# EOF\n"));
    assert_eq!(server.ask_with("DELETE /api/jobs/a%22b%5C", &host, b"").0, 204);
    assert_eq!(server.ask_with("DELETE /api/jobs/a%22b%5C", &host, b"").0, 404);
    assert_eq!(server.ask("GET /api/jobs", b"").1["jobs"], serde_json::json!([]));
    assert!(!server.ask_with("GET /metrics", &host, b"").2.contains("{job="));
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
    for part in ["id=\"signal\"", "id=\"cosine\"", "id=\"burst\"", "<td>period</td>", "data-sequence=\"7\"", "regime A"]
    {
        assert!(dom.contains(part), "{part} is not on the page:\n{dom}\n{}", String::from_utf8_lossy(&shown.stderr));
    }
}
