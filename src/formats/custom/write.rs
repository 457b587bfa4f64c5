//! Records as CSV and JSON Lines.

use super::super::digits::{seconds, whole};
use super::super::fields::{escaped, is_formula, quoted};
use super::super::write::{PIECE, Sink, Writer, Written};
use crate::error::Result;
use crate::record::{CallId, FileId, Files, Request, Row, Rows, UNKNOWN_OFFSET};

/// CSV with a header line: `rank,op,file,offset,size,start,end`, and `call`, `pid`, `layer` where rows have them. A column
/// `file_escaped` or `call_escaped` stands for `file` or `call` if one of its names holds a line break, or would be a formula in a
/// spreadsheet.
pub struct Csv;

/// A JSON object a line, with the same keys.
pub struct JsonLines;

impl Writer for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn ending(&self) -> &'static str {
        ".csv"
    }

    fn write(&self, rows: &dyn Rows, sink: &mut dyn Sink) -> Result<Written> {
        let details = rows.details();
        let needs_escapes = |name: &str| name.contains(['\n', '\r']) || is_formula(name);
        let text = |name: &str, escapes| if escapes { quoted(&escaped(name)) } else { quoted(name) };
        let in_files = rows.files().iter().any(|(_, name)| needs_escapes(name));
        let in_calls = (0..rows.calls().len()).any(|i| needs_escapes(rows.calls().name(CallId(i as u16))));
        let names = Texts::new(rows.files(), |name| text(name, in_files));
        let mut header = format!("rank,op,{},offset,size,start,end", if in_files { "file_escaped" } else { "file" });
        let call = if in_calls { "call_escaped" } else { "call" };
        for (name, there) in [(call, details.calls), ("pid", details.tasks), ("layer", rows.layer().is_some())] {
            if there {
                header = format!("{header},{name}");
            }
        }
        let layer = rows.layer().map_or("", |l| l.name());
        each_line(rows, sink, &format!("{header}\n"), |out, r, origin| {
            whole(out, r.rank);
            out.push(b',');
            out.extend_from_slice(r.op.name().as_bytes());
            out.push(b',');
            out.extend_from_slice(names.get(r.file));
            out.push(b',');
            if r.offset != UNKNOWN_OFFSET {
                whole(out, r.offset);
            }
            out.push(b',');
            whole(out, r.size);
            out.push(b',');
            seconds(out, r.start, origin);
            out.push(b',');
            seconds(out, r.end, origin);
            if details.calls {
                out.push(b',');
                out.extend_from_slice(text(rows.calls().name(r.call), in_calls).as_bytes());
            }
            if details.tasks {
                out.push(b',');
                whole(out, r.task);
            }
            if !layer.is_empty() {
                out.push(b',');
                out.extend_from_slice(layer.as_bytes());
            }
        })
    }
}

impl Writer for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn ending(&self) -> &'static str {
        ".jsonl"
    }

    fn write(&self, rows: &dyn Rows, sink: &mut dyn Sink) -> Result<Written> {
        let details = rows.details();
        let json = |name: &str| serde_json::Value::from(name).to_string();
        let names = Texts::new(rows.files(), json);
        let layer = rows.layer().map_or(String::new(), |l| format!(",\"layer\":\"{}\"", l.name()));
        each_line(rows, sink, "", |out, r, origin| {
            out.extend_from_slice(b"{\"rank\":");
            whole(out, r.rank);
            out.extend_from_slice(b",\"op\":\"");
            out.extend_from_slice(r.op.name().as_bytes());
            if r.file != FileId::NONE {
                out.extend_from_slice(b"\",\"file\":");
                out.extend_from_slice(names.get(r.file));
            } else {
                out.push(b'"');
            }
            if r.offset != UNKNOWN_OFFSET {
                out.extend_from_slice(b",\"offset\":");
                whole(out, r.offset);
            }
            out.extend_from_slice(b",\"size\":");
            whole(out, r.size);
            out.extend_from_slice(b",\"start\":");
            seconds(out, r.start, origin);
            out.extend_from_slice(b",\"end\":");
            seconds(out, r.end, origin);
            if details.calls {
                out.extend_from_slice(b",\"call\":");
                out.extend_from_slice(json(rows.calls().name(r.call)).as_bytes());
            }
            if details.tasks {
                out.extend_from_slice(b",\"pid\":");
                whole(out, r.task);
            }
            out.extend_from_slice(layer.as_bytes());
            out.push(b'}');
        })
    }
}

/// Writes a line for each row. Stretches become requests of whole bytes.
fn each_line(
    rows: &dyn Rows,
    sink: &mut dyn Sink,
    header: &str,
    mut line: impl FnMut(&mut Vec<u8>, &Request, i64),
) -> Result<Written> {
    let origin = rows.origin_s();
    let mut out = Vec::with_capacity(PIECE + 4096);
    out.extend_from_slice(header.as_bytes());
    let mut written = Written::default();
    let (mut stretches, mut asynchronous, mut broken) = (0, 0, 0);
    rows.visit(&mut |row| {
        let request = match row {
            Row::Request(r) => r,
            Row::Interval(i) => {
                stretches += 1;
                asynchronous += u64::from(i.asynchronous);
                broken += u64::from(i.bytes.fract() != 0.0);
                Request {
                    op: i.op,
                    rank: i.rank,
                    file: i.file,
                    size: i.bytes.round() as u64,
                    start: i.start,
                    end: i.end,
                    ..Request::default()
                }
            }
        };
        line(&mut out, &request, origin);
        out.push(b'\n');
        written.rows += 1;
        if out.len() >= PIECE {
            sink.append("", &out)?;
            out.clear();
        }
        Ok(())
    })?;
    sink.append("", &out)?;
    written.note(stretches, "stretches-as-records", |n| {
        format!("{n} rows are phases or bins, not requests; each is written as one record")
    });
    written.note(asynchronous, "asynchronous-lost", |n| format!("{n} rows are asynchronous, which records do not say"));
    written.note(broken, "bytes-rounded", |n| format!("{n} rows move no whole number of bytes; they are rounded"));
    Ok(written)
}

/// Names as they stand in the output, made once.
pub(crate) struct Texts(Vec<Box<[u8]>>);

impl Texts {
    pub(crate) fn new(files: &Files, text: impl Fn(&str) -> String) -> Texts {
        Texts(files.iter().map(|(_, name)| text(name).into_bytes().into()).collect())
    }

    /// The text of a name; empty if there is none.
    pub(crate) fn get(&self, id: FileId) -> &[u8] {
        self.0.get(id.0 as usize).map_or(&[], |t| t)
    }
}
