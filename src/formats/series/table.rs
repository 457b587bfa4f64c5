//! Tables: a row a time, read in stretches of lines that are parsed in parallel.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use memchr::{memchr, memmem};
use rayon::prelude::*;

use super::header::{self, Found};
use super::instances;
use super::layout::{Layout, Length, Separator};
use super::options::SeriesOptions;
use super::presets;
use super::sheet::{Group, Sheet, since_start};
use super::stamp::TimeForm;
use crate::error::{Error, Place, Result};
use crate::formats::lines::{is_remark, lines, quote};
use crate::formats::number::{parse_f64, parse_quantity, parse_u64};
use crate::formats::options::ReadOptions;
use crate::formats::rates::ValueKind;
use crate::formats::source::Source;
use crate::formats::window::Window;
use crate::record::Warning;

/// Bytes of lines that one task parses.
const PIECE: usize = 256 << 10;
/// Most nodes and devices.
const MOST_GROUPS: usize = 1 << 20;
/// Lines in which the first row, and a decimal comma, must show.
pub(super) const LOOK: usize = 1000;

/// Why a line is no row.
pub(super) struct Bad {
    found: String,
    expected: &'static str,
}

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; expected {}", self.found, self.expected)
    }
}

impl Bad {
    #[cold]
    fn new(what: &str, text: &[u8], expected: &'static str) -> Bad {
        Bad { found: format!("{what} {}", quote(text)), expected }
    }
}

/// Prefixes of units behind the values of tools count so much.
const KILO: f64 = 1000.0;

/// The value of a field in bytes, of `unit` bytes each if no unit is behind it: NaN for an empty one, `-`, `NaN` and the like; `None` if it is
/// none.
#[inline]
pub(super) fn amount(text: &[u8], decimal_comma: bool, unit: f64, kilo: f64) -> Option<f64> {
    if let Some(x) = parse_f64(text) {
        return Some(x * unit);
    }
    const GAPS: [&str; 10] = ["", "-", "nan", "null", "n/a", "na", "none", "inf", "+inf", "-inf"];
    let is_gap = GAPS.iter().any(|g| text.eq_ignore_ascii_case(g.as_bytes()));
    if is_gap {
        return Some(f64::NAN);
    }
    parse_quantity(text, decimal_comma, kilo).map(|(x, own)| x * own.unwrap_or(unit))
}

/// The value of a field as it stands.
pub(super) fn value(text: &[u8], decimal_comma: bool) -> Option<f64> {
    amount(text, decimal_comma, 1.0, KILO)
}

/// Rows of a stretch of lines.
#[derive(Default)]
pub(super) struct Part {
    pub(super) groups: Vec<Group>,
    /// Places in `groups` by the texts that name them.
    index: HashMap<Box<[u8]>, usize>,
    /// The texts and the place of the last row's group.
    last: (Vec<u8>, usize),
    key: Vec<u8>,
    values: usize,
    lines: u64,
    records: u64,
    left_out: u64,
    bad: u64,
    /// The first line that is no row, by its number in the stretch from 0; true if it is the last line of the stretch.
    first_bad: Option<(u64, Bad)>,
    last_is_bad: bool,
}

impl Part {
    /// The texts that name each group, and its place.
    pub(super) fn keys(&mut self) -> HashMap<Box<[u8]>, usize> {
        std::mem::take(&mut self.index)
    }

    /// Notes a line that is no row.
    fn note(&mut self, bad: Bad) {
        self.bad += 1;
        self.last_is_bad = true;
        self.first_bad.get_or_insert((self.lines - 1, bad));
    }

    /// The group of a row.
    #[inline]
    fn group(&mut self, columns: &Columns, found: &[Cow<'_, [u8]>]) -> std::result::Result<&mut Group, Bad> {
        let layout = columns.layout;
        let text = |c: Option<usize>| c.and_then(|c| found.get(c)).map_or(&[][..], |f| f);
        self.key.clear();
        self.key.extend_from_slice(&columns.number.to_le_bytes());
        for c in [layout.rank, layout.host, layout.device].into_iter().flatten() {
            self.key.extend_from_slice(text(Some(c)));
            self.key.push(0);
        }
        if self.groups.is_empty() || self.last.0 != self.key {
            let at = match self.index.get(&*self.key) {
                Some(&at) => at,
                None => {
                    let rank = match text(layout.rank) {
                        b"" => None,
                        t => Some(rank(t).ok_or_else(|| Bad::new("rank", t, "a whole number below 4294967296"))?),
                    };
                    let name = |c| String::from_utf8_lossy(text(c)).into_owned();
                    self.groups.push(Group::new(columns.number, rank, name(layout.host), name(layout.device)));
                    self.index.insert(self.key.as_slice().into(), self.groups.len() - 1);
                    self.groups.len() - 1
                }
            };
            self.last.0.clone_from(&self.key);
            self.last.1 = at;
        }
        Ok(&mut self.groups[self.last.1])
    }
}

fn rank(text: &[u8]) -> Option<u32> {
    parse_u64(text).and_then(|n| u32::try_from(n).ok())
}

/// A layout with what its rows need.
pub(super) struct Columns<'l> {
    layout: &'l Layout,
    /// Its place among the layouts of the file.
    number: usize,
    header: &'l [u8],
    /// Fields that are looked at, which a row must have.
    width: usize,
    origin: i64,
}

impl<'l> Columns<'l> {
    pub(super) fn new(layout: &'l Layout, header: &'l [u8], number: usize, origin: i64) -> Self {
        Columns { layout, number, header, width: layout.width(), origin }
    }

    /// Adds the row of a line to `part`.
    #[inline]
    pub(super) fn row<'t>(
        &self,
        line: &'t [u8],
        found: &mut Vec<Cow<'t, [u8]>>,
        part: &mut Part,
    ) -> std::result::Result<(), Bad> {
        let layout = self.layout;
        found.clear();
        let whole = layout.separator.fields(line, |f| {
            found.push(f);
            found.len() < self.width
        });
        whole.map_err(|rest| Bad::new("quoted field", rest, "a closing quote"))?;
        if found.len() < self.width {
            return Err(Bad::new("a row of too few fields", line, "a value in each column that is read"));
        }
        if let Some((c, text)) = &layout.filter
            && *found[*c] != **text
        {
            part.left_out += 1;
            return Ok(());
        }
        let stamp = |a: usize, b: Option<usize>| {
            let seconds = layout.form.seconds(&found[a], b.map(|b| &*found[b]), self.origin);
            seconds.ok_or_else(|| Bad::new("time", &found[a], "a time as in the first row"))
        };
        let time = match layout.time[..] {
            [] => 0.0,
            [a] => stamp(a, None)?,
            [a, b, ..] => stamp(a, Some(b))?,
        };
        let number = |c: usize, unit: f64| {
            let x = amount(&found[c], layout.decimal_comma, unit, KILO);
            x.ok_or_else(|| Bad::new("value", &found[c], "a number with or without a unit of bytes, or nothing"))
        };
        let length = match layout.length {
            None => None,
            Some(Length::Until(c)) => Some(stamp(c, None)? - time),
            Some(Length::Seconds(c)) => Some(number(c, 1.0)?),
        };
        // all values are read before any is kept: a row is kept as a whole
        let mut values = [f64::NAN; 8];
        let few = layout.series.len() <= values.len();
        for (v, w) in values.iter_mut().zip(&layout.series) {
            *v = self.sum(&w.columns, &number)?;
        }
        if !few {
            layout.series.iter().try_for_each(|w| self.sum(&w.columns, &number).map(|_| ()))?;
        }
        let group = part.group(self, found)?;
        group.times.push(time);
        group.lengths.extend(length.filter(|_| layout.kind != ValueKind::Cumulative));
        group.columns.resize_with(layout.series.len(), Vec::new);
        for (i, (column, w)) in group.columns.iter_mut().zip(&layout.series).enumerate() {
            column.push(values.get(i).copied().unwrap_or_else(|| self.sum(&w.columns, &number).unwrap_or(f64::NAN)));
        }
        part.values += layout.series.len();
        Ok(())
    }

    /// The sum of some columns in bytes; NaN if none has a value.
    #[inline]
    fn sum(
        &self,
        columns: &[usize],
        number: &impl Fn(usize, f64) -> std::result::Result<f64, Bad>,
    ) -> std::result::Result<f64, Bad> {
        let unit = self.layout.unit_bytes;
        if let [one] = columns {
            return number(*one, unit);
        }
        let mut sum = f64::NAN;
        for &c in columns {
            let x = number(c, unit)?;
            if !x.is_nan() {
                sum = if sum.is_nan() { x } else { sum + x };
            }
        }
        Ok(sum)
    }

    fn parse(&self, text: &[u8], longest: usize) -> Part {
        let mut part = Part::default();
        let mut found = Vec::with_capacity(self.width);
        for line in lines(text) {
            part.lines += 1;
            part.last_is_bad = false;
            if is_remark(line) {
                continue;
            }
            let pushed = match line.len() <= longest {
                true => self.row(line, &mut found, &mut part),
                false => Err(Bad::new("a long line", line, "shorter lines")),
            };
            let Err(bad) = pushed else {
                part.records += 1;
                continue;
            };
            if line.trim_ascii_end() == self.header || presets::is_note(self.layout, line) {
                continue;
            }
            part.records += 1;
            part.note(bad);
        }
        part
    }
}

/// Reads a table.
///
/// # Errors
/// Malformed if its columns are not known or no line is a row; limits; errors of the system and of the sink.
pub(super) fn read(source: &Source, options: &ReadOptions) -> Result<Sheet> {
    let mut window = Window::open(source, options)?;
    if window.data().starts_with(b"\xef\xbb\xbf") {
        window.consume(3);
    }
    let found = header::find(window.data(), &options.series)?;
    window.consume(found.bytes);
    let mut tables = Tables::new(found, window.data(), options)?;
    let mut truncated = false;
    while tables.next(&mut window, &mut truncated)? {}
    tables.finish(&window, truncated)
}

/// The tables of a file: those of some tools change their header on the way.
struct Tables<'o> {
    layouts: Vec<(Layout, Vec<u8>)>,
    /// The layout of the rows that come; `None`: they are of no use.
    now: Option<usize>,
    sheet: Sheet,
    sum: Part,
    /// Lines before the first row.
    skipped: u64,
    options: &'o ReadOptions,
}

impl<'o> Tables<'o> {
    fn new(found: Found, text: &[u8], options: &'o ReadOptions) -> Result<Self> {
        let Found { mut layout, header, lines: skipped, .. } = found;
        let mut sheet = Sheet { tool: layout.tool, ..Sheet::default() };
        let is_timed = |row: &Vec<Cow<'_, [u8]>>| first_time(&layout, row, &options.series).is_some();
        let first = rows(text, &layout, LOOK).find(is_timed);
        if let Some((stamp, more)) = first.as_deref().and_then(|row| stamp_of(&layout, row))
            && let Some(form) = TimeForm::of(stamp, more, options.series.time_unit_s)
        {
            let form = form.ordered(|see| {
                for row in rows(text, &layout, usize::MAX) {
                    stamp_of(&layout, &row).into_iter().for_each(|(stamp, more)| see(stamp, more));
                }
            });
            (sheet.origin, sheet.unix) = form.origin(stamp, more);
            sheet.time_of_day = form == TimeForm::TimeOfDay;
            sheet.local = matches!(form, TimeForm::Date { zoned: false, .. } | TimeForm::TimeOfDay);
            layout.form = form;
        } else if let Some(e) = unreadable_time(text, &layout, skipped) {
            return Err(e);
        }
        layout.decimal_comma = has_decimal_comma(text, &layout);
        sheet.untimed = layout.time.is_empty();
        sheet.zero_at_first = layout.zero_at_first && !sheet.unix;
        sheet.direction_unknown = layout.direction_unknown;
        sheet.kind_unknown = layout.kind_unknown;
        // rows whose length the user names are phases; the interval that a tool states is its step
        sheet.phases = layout.length.is_some() && layout.tool != "sadf";
        if layout.device.is_none() && layout.rank.is_none() {
            layout.device = instances::find(text, &layout, sheet.origin, skipped)?;
        }
        let now = (!layout.series.is_empty()).then_some(0);
        Ok(Tables { layouts: vec![(layout, header)], now, sheet, sum: Part::default(), skipped, options })
    }

    /// Reads the next stretch of lines; false if there is none.
    fn next(&mut self, window: &mut Window, truncated: &mut bool) -> Result<bool> {
        let longest = self.options.limits.line_bytes;
        let Some(n) = window.whole_lines(longest)? else { return Ok(false) };
        if n == 0 {
            let bad = Bad::new("a long line", window.data(), "shorter lines");
            window.skip_line()?;
            self.sum.lines += 1;
            self.sum.records += 1;
            self.sum.note(bad);
            return Ok(true);
        }
        let text = &window.data()[..n];
        let header = self.now.map_or(&[][..], |i| &self.layouts[i].1);
        let (n, change) = match next_header(text, header) {
            None => (n, None),
            Some((0, end)) => {
                let line = text[..end].trim_ascii_end().to_vec();
                window.consume(end);
                self.sum.lines += 1;
                return self.change(line).map(|()| true);
            }
            Some((start, _)) => (start, Some(())),
        };
        *truncated = change.is_none() && !window.data()[..n].ends_with(b"\n");
        let Some(number) = self.now else {
            let others = window.consume_with(n, |text| lines(text).count() as u64)?;
            self.sum.lines += others;
            self.sum.left_out += others;
            return Ok(true);
        };
        let (layout, header) = &self.layouts[number];
        let columns = Columns::new(layout, header, number, self.sheet.origin);
        let parts = window.consume_with(n, |text| match pieces(text) {
            p if p.len() == 1 => vec![columns.parse(text, longest)],
            p => p.into_par_iter().map(|p| columns.parse(p, longest)).collect(),
        })?;
        parts.into_iter().try_for_each(|part| self.add(part)).map(|()| true)
    }

    /// Takes the header of another table.
    fn change(&mut self, line: Vec<u8>) -> Result<()> {
        if let Some(known) = self.layouts.iter().position(|(_, header)| *header == line) {
            self.now = Some(known);
            return Ok(());
        }
        self.now = None;
        let Some(mut layout) =
            presets::of_header(b"", &line).filter(|l| self.layouts.len() < 1000 && !l.series.is_empty())
        else {
            return Ok(());
        };
        let first = &self.layouts[0].0;
        let comma = first.decimal_comma || first.series.is_empty() && layout.separator != Separator::Byte(b',');
        (layout.form, layout.decimal_comma) = (first.form, comma);
        if let Some(columns) = &self.options.series.columns {
            let names = layout.separator.names(&line)?;
            if layout.take(columns, &names).is_err() {
                return Ok(());
            }
        }
        layout.set(&self.options.series);
        self.layouts.push((layout, line));
        self.now = Some(self.layouts.len() - 1);
        Ok(())
    }

    fn add(&mut self, mut part: Part) -> Result<()> {
        let (sum, skipped) = (&mut self.sum, self.skipped);
        for (key, at) in part.keys() {
            part.groups[at].key = key;
        }
        for group in part.groups {
            match sum.index.get(&group.key) {
                Some(&at) => sum.groups[at].append(group),
                None => {
                    sum.index.insert(group.key.clone(), sum.groups.len());
                    sum.groups.push(group);
                }
            }
        }
        if sum.groups.len() > MOST_GROUPS {
            return Err(Error::limit("more nodes and devices", format!("{MOST_GROUPS}")));
        }
        sum.values += part.values;
        let most = self.options.limits.records;
        if sum.values > most {
            return Err(Error::too_many_rows(most));
        }
        let first = part.first_bad.map(|(line, bad)| (skipped + sum.lines + line, bad));
        sum.first_bad = sum.first_bad.take().or(first);
        sum.lines += part.lines;
        sum.records += part.records;
        sum.left_out += part.left_out;
        sum.bad += part.bad;
        sum.last_is_bad = part.last_is_bad;
        Ok(())
    }

    fn finish(self, window: &Window, truncated: bool) -> Result<Sheet> {
        let Tables { layouts, mut sheet, mut sum, skipped, .. } = self;
        if let [(layout, header)] = &layouts[..]
            && layout.series.is_empty()
        {
            return Err(header::useless(layout.tool, header, skipped));
        }
        if sum.groups.is_empty() && sum.left_out == 0 {
            if let Some((line, bad)) = sum.first_bad {
                let e = Error::malformed(Place::Line(line + 1), bad.found).expected(bad.expected);
                return Err(e.remedy("no line of this file can be read as a row: check its columns"));
            }
            if let Some(why) = window.damage() {
                return Err(Error::malformed(Place::Byte(window.offset()), why).remedy("copy the file again"));
            }
        }
        sheet.quality.records_read = sum.records;
        sheet.quality.records_dropped = sum.bad;
        sheet.quality.records_left_out = sum.left_out;
        if let Some(why) = window.damage() {
            sheet.warnings.push(Warning::new("damaged-tail", format!("{why}; what came before was kept")));
        }
        if let Some((line, bad)) = sum.first_bad.take() {
            let (found, expected, line) = (bad.found, bad.expected, line + 1);
            sheet.warnings.push(if sum.bad == 1 && truncated && sum.last_is_bad && line == skipped + sum.lines {
                Warning::new("damaged-tail", format!("line {line}, the last, is cut: {found}; expected {expected}"))
            } else {
                let (bad, all) = (sum.bad, sum.records);
                let first = format!("the first line {line}: {found}; expected {expected}");
                Warning::new(
                    "unreadable-records",
                    format!("{bad} of {all} lines are no rows and were left out, {first}"),
                )
                .remedy("correct these lines")
            });
        }
        sheet.groups = sum.groups;
        if layouts.iter().any(|(l, _)| l.first_is_mean) {
            sheet.groups.iter_mut().for_each(Group::leave_out_first);
            sheet.quality.records_left_out += sheet.groups.len() as u64;
            sheet.warnings.push(since_start("row", "the first row of this tool always is"));
        }
        for (layout, _) in layouts {
            sheet.add_layout(&layout);
        }
        Ok(sheet)
    }
}

/// The fields of the first rows that are of use.
fn rows<'t>(text: &'t [u8], layout: &Layout, most: usize) -> impl Iterator<Item = Vec<Cow<'t, [u8]>>> {
    let (separator, width) = (layout.separator, layout.width());
    lines(text).filter(|l| !is_remark(l)).take(most).map(move |line| {
        let mut found = Vec::new();
        let _ = separator.fields(line, |f| {
            found.push(f);
            found.len() < width
        });
        found
    })
}

/// The time of a row, in one field or in two.
fn stamp_of<'r>(layout: &Layout, row: &'r [Cow<'_, [u8]>]) -> Option<(&'r [u8], Option<&'r [u8]>)> {
    let field = |c: usize| row.get(c).map(|f| &**f);
    let text = field(*layout.time.first()?)?;
    match layout.time.get(1) {
        Some(&c) => Some((text, Some(field(c)?))),
        None => Some((text, None)),
    }
}

/// The form of the time of a row, the origin, and whether that is of Unix time.
pub(super) fn first_time(
    layout: &Layout,
    row: &[Cow<'_, [u8]>],
    options: &SeriesOptions,
) -> Option<(TimeForm, i64, bool)> {
    let (text, more) = stamp_of(layout, row)?;
    let form = TimeForm::of(text, more, options.time_unit_s)?.ordered(|see| see(text, more));
    let (origin, unix) = form.origin(text, more);
    Some((form, origin, unix))
}

/// The error of rows whose times cannot be read, by the first.
fn unreadable_time(text: &[u8], layout: &Layout, skipped: u64) -> Option<Error> {
    let row = rows(text, layout, LOOK).find(|row| row.len() >= layout.width())?;
    let (stamp, _) = stamp_of(layout, &row)?;
    Some(
        Error::malformed(Place::Line(skipped + 1), format!("the time {} cannot be read", quote(stamp)))
            .expected("seconds, a date with a time such as `2026-11-23 09:56:07`, or a time of day")
            .remedy("write the times in ISO form (S_TIME_FORMAT=ISO for sysstat) or as seconds since 1970, or name their column"),
    )
}

/// True if the values of the first rows have a comma before their decimals.
fn has_decimal_comma(text: &[u8], layout: &Layout) -> bool {
    if layout.separator == Separator::Byte(b',') {
        return false;
    }
    let mut commas = 0;
    for row in rows(text, layout, LOOK) {
        for field in layout.series.iter().flat_map(|w| &w.columns).filter_map(|&c| row.get(c)) {
            if memchr(b'.', field).is_some() {
                return false;
            }
            commas += usize::from(memchr(b',', field).is_some());
        }
    }
    commas > 0
}

/// Begin and end of the first line that is the header of another table.
fn next_header(text: &[u8], header: &[u8]) -> Option<(usize, usize)> {
    let starts = std::iter::once(0).chain(memmem::find_iter(text, b"\n#").map(|n| n + 1));
    starts.filter(|&n| text.get(n) == Some(&b'#')).find_map(|start| {
        let end = memchr(b'\n', &text[start..]).map_or(text.len(), |n| start + n + 1);
        let line = text[start..end].trim_ascii_end();
        (line != header && presets::of_header(b"", line).is_some()).then_some((start, end))
    })
}

/// Cuts a text at line ends into pieces.
fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = text;
    loop {
        let n = rest.get(PIECE..).and_then(|later| memchr(b'\n', later)).map_or(rest.len(), |n| PIECE + n + 1);
        let (piece, later) = rest.split_at(n);
        pieces.push(piece);
        rest = later;
        if rest.is_empty() {
            return pieces;
        }
    }
}
