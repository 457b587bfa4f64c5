//! Reads Darshan logs and prints what came of each, with the time that reading took:
//! `cargo run --release --example read_darshan -- LOG...`

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use iophase::formats::{self, Limits, ReadOptions, Source};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for path in std::env::args().skip(1) {
        let begin = Instant::now();
        let options = ReadOptions::default().all_layers(std::env::var_os("SURVEY").is_some());
        let trace = Source::open(Path::new(&path), &Limits::default()).and_then(|s| formats::read(&s, None, &options));
        let seconds = begin.elapsed().as_secs_f64();
        match trace {
            Ok(t) => {
                let layer = t.layer.map_or("none", |l| l.name());
                writeln!(out, "{path}: {} rows of {layer} ({:?}) in {:.2} ms", t.data.len(), t.timing, seconds * 1e3)?;
                for s in &t.layers {
                    writeln!(out, "  {s:?}")?;
                }
                for w in &t.warnings {
                    writeln!(out, "  {}: {}", w.code, w.message)?;
                }
            }
            Err(e) => writeln!(out, "{e}")?,
        }
    }
    Ok(())
}
