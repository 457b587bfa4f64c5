//! Where the rows of a table begin.

use super::layout::{Length, Separator, TableLayout, no_columns, shown};
use super::options::{SeriesColumns, SeriesOptions};
use super::presets;
use super::stamp::TimeForm;
use super::table::value;
use crate::error::{Error, Place, Result};
use crate::formats::lines::quote;
use crate::remedy::Remedy;

/// Lines before the header: comments, what a tool says of itself.
const BEFORE_HEADER: usize = 64;

/// The beginning of a table.
pub(super) struct Found {
    pub(super) layout: TableLayout,
    /// The header line; empty if there is none.
    pub(super) header: Vec<u8>,
    /// Bytes and lines before the first row.
    pub(super) bytes: usize,
    pub(super) lines: u64,
}

/// Finds the header of a known tool, or of the columns that the user names, or the first row if there is none.
///
/// # Errors
/// Malformed if the columns are not there, or must be named.
pub(super) fn find(text: &[u8], options: &SeriesOptions) -> Result<Found> {
    let mut known = first(text, |before, line| Ok(presets::of_header(before, line)))?;
    if let (Some(found), Some(separator)) = (&mut known, options.separator) {
        found.layout.separator = Separator::new(Some(separator), &found.header);
    }
    let mut found = match (known, &options.columns) {
        (Some(mut found), Some(columns)) => {
            let names = found.layout.separator.names(&found.header)?;
            found.layout.take(columns, &names).map_err(|c| missing(&c, &found.header, found.lines, &names))?;
            found
        }
        // sections of other counters come and go
        (Some(found), None) if found.layout.series.is_empty() && found.layout.tool != "sadf" => {
            return Err(useless(found.layout.tool, &found.header, found.lines));
        }
        (Some(found), None) => found,
        (None, Some(columns)) => by_columns(text, columns, options)?,
        (None, None) => {
            let line = header_like(text, options);
            return Err(no_columns(line, &Separator::new(options.separator, line).names(line)?));
        }
    };
    found.layout.set(options);
    Ok(found)
}

/// The error of a table of a known tool without columns of use.
pub(super) fn useless(tool: &str, header: &[u8], line: u64) -> Error {
    let names = Separator::new(None, header).names(header).unwrap_or_default();
    let what = format!("a table of {tool} without columns of bytes read and written");
    Error::malformed(Place::Line(line), what).remedy(Remedy::NameColumns(shown(&names)))
}

/// The first line for which `layout` gives one from the text before it and the line.
fn first(text: &[u8], layout: impl Fn(&[u8], &[u8]) -> Result<Option<TableLayout>>) -> Result<Option<Found>> {
    let mut bytes = 0;
    for (i, whole) in text.split_inclusive(|&b| b == b'\n').take(BEFORE_HEADER).enumerate() {
        let before = &text[..bytes];
        bytes += whole.len();
        let line = whole.trim_ascii_end();
        if let Some(layout) = layout(before, line)? {
            return Ok(Some(Found { layout, header: line.to_vec(), bytes, lines: i as u64 + 1 }));
        }
    }
    Ok(None)
}

/// A table of no known tool with these columns: below its header, or from its first row on.
fn by_columns(text: &[u8], columns: &SeriesColumns, options: &SeriesOptions) -> Result<Found> {
    let row = first(text, |_, line| {
        let separator = Separator::new(options.separator, line);
        let mut layout = TableLayout::new("", separator);
        // numbers alone need no header: the row has to have values in these places
        let fits = layout.take(columns, &[]).is_ok() && is_row(&layout, line, options);
        Ok(fits.then_some(layout))
    })?;
    if let Some(mut found) = row {
        found.bytes -= text[..found.bytes].split_inclusive(|&b| b == b'\n').next_back().map_or(0, <[u8]>::len);
        found.lines -= 1;
        found.header.clear();
        return Ok(found);
    }
    let header = first(text, |_, line| {
        let separator = Separator::new(options.separator, line);
        let names = separator.names(line)?;
        let mut layout = TableLayout::new("", separator);
        let fits = !line.is_empty() && layout.take(columns, &names).is_ok() && layout.width() <= names.len();
        Ok(fits.then_some(layout))
    })?;
    header.map_or_else(
        || {
            let line = header_like(text, options);
            let names = Separator::new(options.separator, line).names(line)?;
            let mut layout = TableLayout::new("", Separator::Blanks);
            let column = layout.take(columns, &names).err().unwrap_or_else(|| format!("{}", layout.width()));
            Err(missing(&column, line, 1, &names))
        },
        Ok,
    )
}

/// True if the line has a time and a value in the places of the layout.
fn is_row(layout: &TableLayout, line: &[u8], options: &SeriesOptions) -> bool {
    let mut found = Vec::new();
    let whole = layout.separator.fields(line, |f| {
        found.push(f);
        found.len() < layout.width()
    });
    let field = |c: &usize| found.get(*c).map(|f| &**f);
    let timed = match &layout.time[..] {
        [] => true,
        [one] => field(one).and_then(|t| TimeForm::of(t, None, options.time_unit_s)).is_some(),
        [one, two, ..] => field(one).zip(field(two)).and_then(|(a, b)| TimeForm::of(a, Some(b), None)).is_some(),
    };
    let lasts = match layout.length {
        Some(Length::Seconds(c) | Length::Until(c)) => found.len() > c,
        None => true,
    };
    let columns = || layout.series.iter().flat_map(|w| &w.columns);
    whole.is_ok() && timed && lasts && columns().all(|c| field(c).is_some_and(|f| value(f, true).is_some()))
}

/// The first line most of whose fields are no numbers.
fn header_like<'t>(text: &'t [u8], options: &SeriesOptions) -> &'t [u8] {
    let lines = || text.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).take(BEFORE_HEADER).filter(|l| !l.is_empty());
    let is_header = |line: &&[u8]| {
        let names = Separator::new(options.separator, line).names(line).unwrap_or_default();
        let numbers = names.iter().filter(|n| n.parse::<f64>().is_ok()).count();
        names.len() > 1 && 2 * numbers < names.len()
    };
    lines().find(is_header).or_else(|| lines().next()).unwrap_or_default()
}

/// How the columns of a table of no known tool may be named; `None` if the text is no table with a time and a number in each row.
pub(in super::super) fn unknown_table(text: &[u8]) -> Option<String> {
    const FEWEST: usize = 2;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let options = SeriesOptions::default();
    let header = header_like(text, &options);
    let separator = Separator::new(None, header);
    let names = separator.names(header).ok()?;
    let after = memchr::memmem::find(text, header)?;
    let is_row = |line: &&[u8]| {
        let found = separator.names(line).unwrap_or_default();
        let time = found.iter().position(|f| TimeForm::of(f.as_bytes(), None, None).is_some());
        let numbers = found
            .iter()
            .enumerate()
            .filter(|(i, f)| Some(*i) != time && value(f.as_bytes(), true).is_some_and(f64::is_finite));
        found.len() == names.len() && time.is_some() && numbers.count() > 0
    };
    let rows = text[after..].split(|&b| b == b'\n').skip(1).map(<[u8]>::trim_ascii).filter(|l| !l.is_empty());
    let rows: Vec<&[u8]> = rows.take(BEFORE_HEADER).collect();
    let whole = rows.len().saturating_sub(1).max(1);
    let is_table =
        names.len() >= FEWEST && rows.iter().take(whole).filter(|l| is_row(l)).count() >= FEWEST.max(whole / 2);
    is_table.then(|| shown(&names))
}

fn missing(column: &str, line: &[u8], number: u64, names: &[String]) -> Error {
    Error::malformed(Place::Line(number), format!("no column `{column}` in {}", quote(line)))
        .expected("columns by the names of the header, or by their numbers from 1")
        .remedy(Remedy::NameColumns(shown(names)))
}
