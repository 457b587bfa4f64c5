//! HEADER/PROCESS text of requests.

use super::super::custom::write::Texts;
use super::super::digits::{seconds, whole};
use super::super::write::{Sink, Writer, Written};
use crate::error::Result;
use crate::record::{FileId, Op, Row, Rows, UNKNOWN_OFFSET};

/// The writer: records with start, end and one access each. Times are seconds since the origin of the trace, as the format has it.
///
/// Rows are grouped by file and rank, [`GROUP`] at a time, as the format has the number of records before them; a longer trace has
/// several blocks of a file. Rows of one rank and file stay in order.
pub struct Text;

/// Rows held back until their blocks are written.
pub(crate) const GROUP: usize = 1 << 20;

/// The fields of a row that a record has.
struct Access {
    file: FileId,
    rank: u32,
    op: Op,
    offset: u64,
    size: u64,
    start: f64,
    end: f64,
}

impl Writer for Text {
    fn name(&self) -> &'static str {
        "radar"
    }

    fn ending(&self) -> &'static str {
        ".radar.txt"
    }

    fn write(&self, rows: &dyn Rows, sink: &mut dyn Sink) -> Result<Written> {
        let names = Texts::new(rows.files(), held);
        let changed = rows.files().iter().filter(|(_, n)| held(n) != *n).count() as u64;
        let mut written = Written::default();
        let (mut others, mut stretches, mut nameless) = (0, 0, 0);
        let mut group: Vec<Access> = Vec::new();
        let mut out = Vec::new();
        let mut flush = |group: &mut Vec<Access>| {
            blocks(group, &names, rows.ranks(), &mut out);
            group.clear();
            let done = sink.append("", &out);
            out.clear();
            done
        };
        rows.visit(&mut |row| {
            let (start, end) = row.span();
            let (offset, size) = match row {
                Row::Request(r) => (r.offset, r.size),
                Row::Interval(i) => {
                    stretches += 1;
                    (UNKNOWN_OFFSET, i.bytes.round() as u64)
                }
            };
            if !row.op().moves_bytes() {
                others += 1;
                return Ok(());
            }
            nameless += u64::from(row.file() == FileId::NONE);
            written.rows += 1;
            group.push(Access { file: row.file(), rank: row.rank(), op: row.op(), offset, size, start, end });
            if group.len() == GROUP { flush(&mut group) } else { Ok(()) }
        })?;
        flush(&mut group)?;
        written.note(changed, "names-changed", |n| {
            format!("{n} file names hold what this format cannot; such characters are written as %XX")
        });
        written.note(nameless, "unknown-files", |n| format!("{n} rows have no file; it is written as `unknown`"));
        written.note(others, "no-transfers", |n| format!("{n} rows move no bytes and are left out"));
        written.note(stretches, "stretches-as-records", |n| {
            format!("{n} rows are phases or bins, not requests; each is written as one record of whole bytes")
        });
        written.note(u64::from(rows.origin_s() != 0), "clock-moved", |_| {
            format!("times are written as seconds since second {} of the trace's clock", rows.origin_s())
        });
        Ok(written)
    }
}

/// Writes the rows as blocks, one a file, with a PROCESS a rank.
fn blocks(rows: &mut [Access], names: &Texts, ranks: u64, out: &mut Vec<u8>) {
    rows.sort_by_key(|a| (a.file, a.rank));
    for block in rows.chunk_by(|a, b| a.file == b.file) {
        out.extend_from_slice(b"HEADER\n");
        match names.get(block[0].file) {
            [] => out.extend_from_slice(b"unknown"),
            name => out.extend_from_slice(name),
        }
        out.push(b' ');
        whole(out, ranks.min(1 << 31));
        out.push(b' ');
        let total: u128 = block.iter().map(|a| u128::from(a.size)).sum();
        whole(out, u64::try_from(total).unwrap_or(u64::MAX));
        for process in block.chunk_by(|a, b| a.rank == b.rank) {
            out.extend_from_slice(b"\nPROCESS ");
            whole(out, process[0].rank);
            out.push(b' ');
            whole(out, process.len());
            for a in process {
                let op: &[u8] = if a.op == Op::Read { b"\nADIO_ReadContig " } else { b"\nADIO_WriteContig " };
                out.extend_from_slice(op);
                seconds(out, a.start, 0);
                out.push(b' ');
                // Always with a point or exponent, so that no reader takes it for the number of accesses.
                seconds(out, a.end, 0);
                out.extend_from_slice(b" 1\n");
                match a.offset {
                    UNKNOWN_OFFSET => out.extend_from_slice(b"-1"),
                    offset => whole(out, offset),
                }
                out.push(b' ');
                whole(out, a.size);
            }
        }
        out.push(b'\n');
    }
}

/// A name as this format can hold it: on one line, not a remark, without blanks at its ends.
fn held(name: &str) -> String {
    let last = name.chars().count().saturating_sub(1);
    let mut text = String::with_capacity(name.len());
    for (i, c) in name.chars().enumerate() {
        let edge = (i == 0 || i == last) && c.is_ascii_whitespace();
        if matches!(c, '\n' | '\r') || edge || (i == 0 && c == '#') {
            text.push_str(&format!("%{:02X}", c as u32));
        } else {
            text.push(c);
        }
    }
    text
}
