//! Reads traces and says how many records a second: `read_text TRACE...`.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use iophase::formats::{ReadOptions, Source, read};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = ReadOptions::default();
    let mut out = std::io::stdout().lock();
    for path in std::env::args().skip(1) {
        let start = Instant::now();
        let source = Source::open(Path::new(&path), &options.limits)?;
        let trace = read(&source, None, &options)?;
        let seconds = start.elapsed().as_secs_f64();
        let rows = trace.data.len();
        writeln!(
            out,
            "{path}: {} {rows} rows, {} ranks, {} stored bytes, {seconds:.6} s, {:.3e} rows/s, {:.1} MB/s",
            trace.format,
            trace.ranks,
            source.stored_bytes(),
            rows as f64 / seconds,
            source.stored_bytes() as f64 / seconds / 1e6
        )?;
        writeln!(out, "  {:?}", trace.layers)?;
        writeln!(out, "  {:?}", trace.quality)?;
        for w in &trace.warnings {
            writeln!(out, "  {}: {}", w.code, w.message)?;
        }
    }
    Ok(())
}
