//! Logs in an object store: a server of the few answers that are asked for.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use crate::common::{cells, make, program, run};

/// Objects of the bucket `logs` by key. Keys with `busy` are answered with 503.
struct Bucket(BTreeMap<String, Vec<u8>>);

impl Bucket {
    fn answer(&self, method: &str, target: &str) -> (u16, Vec<u8>) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let key = path.trim_start_matches("/logs").trim_start_matches('/');
        if key.contains("busy") {
            return (503, Vec::new());
        }
        if query.contains("list-type=2") {
            let prefix = query.split('&').find_map(|p| p.strip_prefix("prefix=")).unwrap_or("").replace("%2F", "/");
            return (200, self.list(&prefix).into_bytes());
        }
        match self.0.get(key) {
            Some(bytes) if method == "GET" || method == "HEAD" => (200, bytes.clone()),
            _ => (404, Vec::new()),
        }
    }

    fn list(&self, prefix: &str) -> String {
        let rows = self.0.iter().filter(|(key, _)| key.starts_with(prefix)).map(|(key, bytes)| {
            format!(
                "<Contents><Key>{key}</Key><Size>{}</Size><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>\"{key}\"</ETag></Contents>",
                bytes.len()
            )
        });
        format!("<ListBucketResult><IsTruncated>false</IsTruncated>{}</ListBucketResult>", rows.collect::<String>())
    }

    fn serve(&self, stream: &TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream);
        loop {
            let mut first = String::new();
            if lines.read_line(&mut first)? == 0 {
                return Ok(());
            }
            let mut length = 0;
            loop {
                let mut line = String::new();
                lines.read_line(&mut line)?;
                if let Some(n) = line.to_lowercase().strip_prefix("content-length:") {
                    length = n.trim().parse().unwrap_or(0);
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            std::io::copy(&mut lines.by_ref().take(length), &mut std::io::sink())?;
            let words: Vec<&str> = first.split(' ').collect();
            let (code, body) = self.answer(words[0], words[1]);
            let head = format!(
                "HTTP/1.1 {code} x\r\ncontent-length: {}\r\nlast-modified: Fri, 02 Jan 2026 03:04:05 GMT\r\netag: \"x\"\r\n\r\n",
                body.len()
            );
            let mut to = stream;
            to.write_all(head.as_bytes())?;
            if words[0] != "HEAD" {
                to.write_all(&body)?;
            }
        }
    }
}

/// Serves until the tests end; gives its address.
fn start(bucket: Bucket) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let bucket = Arc::new(bucket);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let bucket = Arc::clone(&bucket);
            std::thread::spawn(move || bucket.serve(&stream));
        }
    });
    address
}

#[test]
fn logs_of_a_bucket_have_the_rows_that_files_have() {
    let t = tempfile::tempdir().unwrap();
    let (logs, here, there) = (t.path().join("files"), t.path().join("here"), t.path().join("there"));
    make(&logs, 40, 0.1, 41);
    run(3, &logs, &here, &[]);
    let uris = cells(&here, "select uri from logs");
    let mut objects = BTreeMap::from([("2026/notes.txt".to_owned(), b"no log".to_vec())]);
    for uri in uris.iter().map(|r| &r[0]) {
        let key = uri.strip_prefix(logs.to_str().unwrap()).unwrap().trim_start_matches('/');
        objects.insert(key.to_owned(), std::fs::read(uri).unwrap());
    }
    let server = start(Bucket(objects));
    let read = |input: &str| {
        let mut command = program();
        command.arg(input).arg("-o").arg(&there);
        command.envs([("AWS_ENDPOINT", server.as_str()), ("AWS_ALLOW_HTTP", "true"), ("AWS_SKIP_SIGNATURE", "true")]);
        let out = command.output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (code, told) = read("s3://logs/2026");
    assert_eq!(code, Some(3), "{told}");
    assert!(told.contains("40 logs: 0 known, 40 read") && told.contains("1 files of other names"), "{told}");
    let sql = "select app, user_id, status, reason, bytes_read, bytes_written, io_s, size_bytes from logs order by job_id, size_bytes";
    assert_eq!(cells(&there, sql), cells(&here, sql));
    assert!(read("s3://logs").1.contains("40 known, 0 read"));
    // what is not there, and a store that is busy, end soon and are said
    for input in ["s3://logs/nothing", "s3://logs/busy"] {
        let (code, told) = read(input);
        assert!(code == Some(3) && told.contains(input), "{code:?} {told}");
    }
}
