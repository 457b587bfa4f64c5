//! Forms for hand-made traces: FTIO's JSON with arrays of rates and times, and records as CSV or JSON Lines.
//!
//! **Rates.** A JSON object with sections such as `write_sync` as in TMIO, any of them, or `read` and `write`, as FTIO's trace analysis
//! writes them; or a `bandwidth` object; or the arrays
//! alone: `b_rank_avr`, `t_rank_s`, `t_rank_e` (one entry a phase), or `b_overlap`, `t_overlap` (a step curve), or one array whose
//! name begins with `b` and one or two (ending in `s` and `e`) with `t`.
//!
//! **Records.** One request a line: CSV with a header line, columns in any order, or JSON objects with the same keys.
//! Required: `op`, `size`, `start`. Else: `rank` (0), `file` (none), `offset` (unknown), `end` (as `start`), `call`, `pid`,
//! `host` (not used), `layer`. `op` is `read`, `write`, `open`, `close`, `seek`, `sync` or the name of a call such as `pwrite64`.
//! Times are seconds, offsets and sizes bytes. A quoted field of CSV may hold commas and doubled quotes, not line breaks; a
//! column `file_escaped` or `call_escaped` is `file` or `call` with `\\`, `\n`, `\r` for backslash and line breaks, and a backslash
//! before what would make it a formula in a spreadsheet.

mod own;
mod records;
mod row;
pub(super) mod write;

pub use own::{LineFormat, OwnFormat};
pub(super) use records::{LineLayout, Reading, Records, follow as follow_records, read as read_records};
pub(super) use row::RecordRows;
pub use row::{RecordField, RecordFields};

use super::format::{Format, Sniff, only};
use super::json::member_names;
use super::lines::{Followed, is_remark, lines};
use super::options::ReadOptions;
use super::sections::{self, Section};
use super::source::Source;
use crate::error::Result;
use crate::record::{Interval, RowSink, Trace};

/// The format.
pub struct Custom;

/// Which of the forms an input has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Rates,
    Csv,
    JsonLines,
}

impl Format for Custom {
    fn name(&self) -> &'static str {
        "custom"
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        if text.starts_with(b"{") {
            return sniff_json(text);
        }
        match records::Columns::of_header(header_of(text)) {
            Ok(_) => Sniff::Yes,
            Err(_) if records::is_nearly_header(header_of(text)) => {
                Sniff::Unsupported("CSV whose header lacks one of the columns op, size, start")
            }
            Err(_) => Sniff::No("neither JSON with arrays of rates and times nor CSV with columns op, size, start"),
        }
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let source = only(sources, self)?;
        match form(source.head()) {
            Form::Rates => sections::read(source, options, self.name(), sink),
            Form::Csv => records::read(|| records::csv(source, options, self.name()), sink),
            Form::JsonLines => records::read(|| records::json_lines(source, options, self.name()), sink),
        }
    }

    fn follow(&self, head: &[u8], _: &ReadOptions) -> Result<Followed> {
        match form(head) {
            Form::Rates => Ok(Followed::Values),
            Form::JsonLines => Ok(follow_records(records::Objects)),
            Form::Csv => {
                let columns = records::Columns::of_header(header_of(head));
                columns.map(follow_records).map_err(|bad| bad.at(1).remedy(records::NAME_COLUMNS))
            }
        }
    }
}

/// The transfer of a record as JSON by itself; `None` if the text is no record.
pub(super) fn transfer_of(text: &[u8]) -> Option<Result<Option<Interval>, String>> {
    is_record(&member_names(text, MEMBERS)).then(|| records::Objects::transfer(text))
}

/// The first line that is no remark.
fn header_of(text: &[u8]) -> &[u8] {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    lines(text).find(|l| !is_remark(l)).unwrap_or_default()
}

/// More members than a record or a section has.
const MEMBERS: usize = 256;

fn form(head: &[u8]) -> Form {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    match text.first() {
        Some(b'{') if is_record(&member_names(text, MEMBERS)) => Form::JsonLines,
        Some(b'{') => Form::Rates,
        _ => Form::Csv,
    }
}

/// True if these are the members of an object that is a record.
fn is_record(names: &[(usize, &[u8])]) -> bool {
    [&b"op"[..], b"size", b"start"].iter().all(|want| names.iter().any(|(depth, n)| *depth == 1 && n == want))
}

fn sniff_json(text: &[u8]) -> Sniff {
    let names = member_names(text, MEMBERS);
    let top = || names.iter().filter(|(depth, _)| *depth == 1).map(|(_, n)| *n);
    let series = |at: usize| names.iter().any(|(depth, n)| *depth == at && sections::is_series(n));
    let bandwidth = names.iter().any(|(depth, n)| *depth == 2 && *n == b"bandwidth");
    let transfers = |section| matches!(section, Some(Section::Transfers(_)));
    // `read` and `write` are words that others use, too.
    let sections = top().any(|n| transfers(Section::named(n)) || bandwidth && transfers(sections::section(n)));
    if is_record(&names) || sections || series(1) || (top().any(|n| n == b"bandwidth") && series(2)) {
        return Sniff::Yes;
    }
    // One array of rates and one or two of times; a long first array may hide the others.
    let (b, t) = (top().filter(|n| n.starts_with(b"b")).count(), top().filter(|n| n.starts_with(b"t")).count());
    let cut = !text.trim_ascii_end().ends_with(b"}");
    if b == 1 && (1..=2).contains(&t) || cut && names.len() == 1 && b + t == 1 {
        return Sniff::Maybe;
    }
    Sniff::No("JSON without sections such as write_sync, arrays of rates and times, or records with op, size, start")
}
