//! Times the reading of a strace log or of a folder of them: `read_strace PATH [calls]`.

#![allow(clippy::print_stdout, reason = "an example talks to a person")]

use std::path::Path;
use std::time::Instant;

use iophase::formats::{Detail, Limits, ReadOptions, Source, read};

fn main() -> iophase::Result<()> {
    let mut args = std::env::args().skip(1);
    let path = args.next().unwrap_or_else(|| "tests/data/strace/sample.st".into());
    let detail = if args.next().as_deref() == Some("calls") { Detail::Calls } else { Detail::Transfers };
    let source = Source::open(Path::new(&path), &Limits::default())?;
    let stored: u64 = match source.members() {
        Some(m) => m.iter().filter_map(|p| p.metadata().ok()).map(|m| m.len()).sum(),
        None => source.stored_bytes(),
    };
    let begin = Instant::now();
    let trace = read(&source, None, &ReadOptions::default().detail(detail))?;
    let s = begin.elapsed().as_secs_f64();
    let (calls, rows) = (trace.quality.records_read, trace.data.len());
    println!("{calls} calls, {rows} rows, {} files, {} warnings", trace.files.len(), trace.warnings.len());
    println!("{s:.3} s, {:.2} million calls/s, {:.0} MB/s as stored", calls as f64 / s / 1e6, stored as f64 / s / 1e6);
    for w in &trace.warnings {
        println!("{}: {}", w.code, w.message);
    }
    // Peak memory of the process, where the system tells it.
    if let Ok(status) = std::fs::read_to_string("/proc/self/status")
        && let Some(line) = status.lines().find(|l| l.starts_with("VmHWM"))
    {
        println!("{line}");
    }
    Ok(())
}
