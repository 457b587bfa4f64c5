//! Which columns of a table hold what, and how its values are meant.

use std::borrow::Cow;

use super::options::{SeriesColumns, SeriesOptions};
use super::stamp::TimeForm;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::fields::fields;
use crate::formats::lines::quote;
use crate::formats::number::parse_f64;
use crate::formats::rates::{Stamp, ValueKind};
use crate::record::Op;
use crate::remedy::Remedy;

/// Most columns of a table.
const MOST_COLUMNS: usize = 10_000;

/// Separator of the fields of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Byte(u8),
    Blanks,
}

impl Separator {
    /// The one that was named, or the most frequent of a line.
    pub(super) fn new(named: Option<u8>, line: &[u8]) -> Separator {
        match named {
            Some(b' ') => Separator::Blanks,
            Some(byte) => Separator::Byte(byte),
            None => {
                let count = |byte| memchr::memchr_iter(byte, line).count();
                let most = [b'\t', b';', b','].into_iter().max_by_key(|&b| count(b)).filter(|&b| count(b) > 0);
                most.map_or(Separator::Blanks, Separator::Byte)
            }
        }
    }

    /// Hands the fields of a line to `each`, until it returns false. An error is a quoted field that does not end.
    #[inline]
    pub(super) fn fields<'l>(
        self,
        line: &'l [u8],
        mut each: impl FnMut(Cow<'l, [u8]>) -> bool,
    ) -> std::result::Result<(), &'l [u8]> {
        match self {
            // the usual ones as constants
            Separator::Byte(b',') => fields(line, b',', each),
            Separator::Byte(byte) => fields(line, byte, each),
            Separator::Blanks => {
                line.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty()).all(|f| each(Cow::Borrowed(f)));
                Ok(())
            }
        }
    }

    /// The names in a header line, without the `#` it may begin with.
    pub(super) fn names(self, line: &[u8]) -> Result<Vec<String>> {
        let line = line.trim_ascii_start();
        let line = line.strip_prefix(b"#").unwrap_or(line).trim_ascii_start();
        let mut names = Vec::new();
        // an unfinished quote ends the names
        let _ = self.fields(line, |f| {
            names.push(String::from_utf8_lossy(&f).into_owned());
            names.len() <= MOST_COLUMNS
        });
        if names.len() > MOST_COLUMNS {
            return Err(Error::limit("a table of more columns", format!("{MOST_COLUMNS} columns")));
        }
        Ok(names)
    }
}

/// One series of every row: the sum of some columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    pub(super) op: Op,
    /// The device that its columns name.
    pub(super) device: String,
    pub(super) columns: Vec<usize>,
}

/// How long a row lasts, where the table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// To the time in this column.
    Until(usize),
    /// The seconds in this column.
    Seconds(usize),
}

/// See the module. Columns count from 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TableLayout {
    /// The tool that writes such tables; empty if it is not known.
    pub(super) tool: &'static str,
    pub(super) separator: Separator,
    /// The time: none, one column, or date and time of day.
    pub(super) time: Vec<usize>,
    pub(super) form: TimeForm,
    pub(super) length: Option<Length>,
    pub(super) rank: Option<usize>,
    pub(super) host: Option<usize>,
    pub(super) device: Option<usize>,
    /// Only rows with this text in this column count.
    pub(super) filter: Option<(usize, Vec<u8>)>,
    pub(super) series: Vec<Wanted>,
    pub(super) kind: ValueKind,
    pub(super) unit_bytes: f64,
    pub(super) stamp: Stamp,
    /// A comma stands before the decimals.
    pub(super) decimal_comma: bool,
    /// Times count from the first row.
    pub(super) zero_at_first: bool,
    /// The first row is the mean since the machine started.
    pub(super) first_is_mean: bool,
    /// Nothing says whether the values are reads or writes.
    pub(super) direction_unknown: bool,
    /// Nothing says whether the values are rates.
    pub(super) kind_unknown: bool,
}

impl TableLayout {
    /// A table of rates in bytes per second, without columns.
    pub(super) fn new(tool: &'static str, separator: Separator) -> TableLayout {
        TableLayout {
            tool,
            separator,
            time: Vec::new(),
            form: TimeForm::Number { per_s: 1 },
            length: None,
            rank: None,
            host: None,
            device: None,
            filter: None,
            series: Vec::new(),
            kind: ValueKind::Rate,
            unit_bytes: 1.0,
            stamp: Stamp::End,
            decimal_comma: false,
            zero_at_first: false,
            first_is_mean: false,
            direction_unknown: false,
            kind_unknown: false,
        }
    }

    /// Fields of a line that are of use.
    pub(super) fn width(&self) -> usize {
        let length = self.length.map(|l| match l {
            Length::Until(c) | Length::Seconds(c) => c,
        });
        let ids = [length, self.rank, self.host, self.device, self.filter.as_ref().map(|f| f.0)];
        let values = self.series.iter().flat_map(|w| &w.columns);
        values.chain(&self.time).copied().chain(ids.into_iter().flatten()).max().map_or(0, |c| c + 1)
    }

    /// Replaces what the options say.
    pub(super) fn set(&mut self, options: &SeriesOptions) {
        self.kind_unknown = options.kind.is_none() && self.tool.is_empty();
        self.kind = options.kind.unwrap_or(self.kind);
        self.unit_bytes = options.unit_bytes.unwrap_or(self.unit_bytes);
        self.stamp = options.stamp.unwrap_or(self.stamp);
    }

    /// Takes the columns that the user names. An error is a name that is not in the header.
    pub(super) fn take(&mut self, columns: &SeriesColumns, names: &[String]) -> std::result::Result<(), String> {
        let one = |c: &Option<String>| c.as_deref().map(|c| place(c, names)).transpose();
        let all = |c: &[String]| c.iter().map(|c| place(c, names)).collect::<std::result::Result<Vec<_>, _>>();
        if !columns.time.is_empty() {
            self.time = all(&columns.time)?;
        }
        if let Some(column) = one(&columns.dur)? {
            (self.length, self.stamp) = (Some(Length::Seconds(column)), Stamp::Start);
        }
        if let Some(column) = one(&columns.end)? {
            (self.length, self.stamp) = (Some(Length::Until(column)), Stamp::Start);
        }
        self.rank = one(&columns.rank)?.or(self.rank);
        self.host = one(&columns.host)?.or(self.host);
        self.device = one(&columns.device)?.or(self.device);
        if let Some(filter) = &columns.filter {
            let found =
                filter.match_indices(':').find_map(|(n, _)| Some((place(&filter[..n], names).ok()?, &filter[n + 1..])));
            let (column, text) = found.ok_or_else(|| filter.clone())?;
            self.filter = Some((column, text.as_bytes().to_vec()));
        }
        self.series.clear();
        let (read, write, value) = (all(&columns.read)?, all(&columns.write)?, all(&columns.value)?);
        let said = value.iter().find_map(|&c| direction(names.get(c)?));
        self.direction_unknown = !value.is_empty() && said.is_none();
        for (op, columns) in [(Op::Read, read), (Op::Write, write), (said.unwrap_or(Op::Write), value)] {
            if !columns.is_empty() {
                self.series.push(Wanted { op, device: String::new(), columns });
            }
        }
        Ok(())
    }
}

/// The place of a column by its name, exact or else in any case, or its number from 1.
fn place(column: &str, names: &[String]) -> std::result::Result<usize, String> {
    let plain = column.strip_prefix('#').unwrap_or(column).trim();
    let exact = names.iter().position(|n| n == column || n == plain);
    let mut alike = names.iter().enumerate().filter(|(_, n)| n.eq_ignore_ascii_case(plain));
    let alike = match (alike.next(), alike.next()) {
        (Some((i, _)), None) => Some(i),
        _ => None,
    };
    let number = || column.parse::<usize>().ok()?.checked_sub(1).filter(|n| *n < MOST_COLUMNS);
    exact.or(alike).or_else(number).ok_or_else(|| column.to_owned())
}

/// Reads or writes, if the name of a metric says.
pub fn direction(name: &str) -> Option<Op> {
    let name = name.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| name.contains(w));
    match (has(&["read", "rkb", "rd_"]), has(&["writ", "wkb", "wr_"])) {
        (true, false) => Some(Op::Read),
        (false, true) => Some(Op::Write),
        _ => None,
    }
}

/// The error of a table whose header is of no known tool.
pub(super) fn no_columns(line: &[u8], names: &[String]) -> Error {
    Error::new(ErrorKind::Malformed, format!("a table whose header {} is of no known tool", quote(line)))
        .expected("the names of its columns of time and values")
        .remedy(Remedy::NameColumns(shown(names)))
}

/// How the columns of a table may be named, and the names that there are, for a message.
pub(super) fn shown(names: &[String]) -> String {
    const SHOWN: usize = 24;
    const LONGEST: usize = 600;
    let is_number = |name: &String| parse_f64(name.as_bytes()).is_some();
    let time = names.iter().position(|n| ["time", "date", "epoch"].iter().any(|t| n.to_ascii_lowercase().contains(t)));
    let said = |op| names.iter().position(|n| direction(n) == Some(op));
    let other = |not: Option<usize>| (0..names.len()).rev().find(|i| Some(*i) != not);
    let time = time.or((!names.is_empty()).then_some(0));
    let values = match (said(Op::Read), said(Op::Write)) {
        (None, None) => vec![("write", other(time))],
        (read, write) => vec![("read", read), ("write", write)],
    };
    let numbered = names.iter().any(is_number);
    let setting = |(key, column): (&str, Option<usize>)| {
        let column = column?;
        Some(format!("{key}={}", if numbered { (column + 1).to_string() } else { names[column].clone() }))
    };
    let example: Vec<String> = [("time", time)].into_iter().chain(values).filter_map(setting).collect();
    let example = example.join(",");
    let example = if example.contains([' ', '/', '#', '%', '(']) { format!("'{example}'") } else { example };
    let mut text = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    if text.len() > LONGEST {
        text = String::from_utf8_lossy(&text.as_bytes()[..LONGEST]).into_owned() + "…";
    }
    let what = if numbered { "the first row is" } else { "there are" };
    format!("{example}; {what}: {text}")
}
