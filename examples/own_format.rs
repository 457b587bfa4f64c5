//! A format of your own, read beside the built-in ones: a line has the time, microseconds, direction, rank, bytes and file.

use iophase::formats::{self, LineFormat, OwnFormat, ReadOptions, RecordField, RecordFields, Source};

/// Lines such as `17.250000 8000 W 3 1048576 /scratch/checkpoint.3`, after a first line `#IOLOG`.
struct IoLog;

impl LineFormat for IoLog {
    fn name(&self) -> &'static str {
        "iolog"
    }

    fn is_mine(&self, head: &[u8]) -> bool {
        head.starts_with(b"#IOLOG")
    }

    fn record<'l>(&self, line: &'l [u8]) -> Result<RecordFields<'l>, &'static str> {
        const EXPECTED: &str = "seconds, microseconds, W or R, rank, bytes, file";
        let text = std::str::from_utf8(line).map_err(|_| EXPECTED)?;
        let parts: Vec<&str> = text.splitn(6, ' ').collect();
        let [start, micros, op, rank, size, file] = parts[..] else { return Err(EXPECTED) };
        let (seconds, micros): (f64, f64) = start.parse().ok().zip(micros.parse().ok()).ok_or(EXPECTED)?;
        let mut record = RecordFields::default();
        record.set(RecordField::Start, start.as_bytes());
        record.set(RecordField::End, (seconds + 1e-6 * micros).to_string().into_bytes());
        record.set(RecordField::Op, if op == "W" { &b"write"[..] } else { b"read" });
        record.set(RecordField::Rank, rank.as_bytes());
        record.set(RecordField::Size, size.as_bytes());
        record.set(RecordField::File, file.as_bytes());
        Ok(record)
    }
}

fn main() -> iophase::Result<()> {
    let lines = (0..40).map(|k| format!("{}.5 800000 W {} 1048576 /scratch/c\n", 15 * (k / 4), k % 4));
    let source = Source::from_bytes("job.iolog", format!("#IOLOG\n{}", lines.collect::<String>()));

    let options = ReadOptions::default().own_formats(&[&OwnFormat(IoLog)]);
    let trace = formats::read(&source, None, &options)?;
    assert_eq!((trace.format, trace.ranks, trace.data.len()), ("iolog", 4, 40));

    let report = iophase::analyze(&trace)?;
    let period = report.signals[0].period.dominant.as_ref().expect("a burst every 15 s");
    assert!((period.period_s - 15.0).abs() < 1e-6);
    Ok(())
}
