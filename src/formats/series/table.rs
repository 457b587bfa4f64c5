//! Tables: a row a time, read in stretches of lines that are parsed in parallel.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::{memchr, memmem};

use super::header::{self, Found};
use super::instances;
use super::layout::{Length, Separator, TableLayout};
use super::options::SeriesOptions;
use super::presets;
use super::sheet::{Group, Sheet, check, since_start};
use super::stamp::TimeForm;
use crate::error::{Error, Place, Result};
use crate::formats::lines::{Bad, LineDecoder, LineReader, Stretch, Taken, Tally, is_remark, lines, quote};
use crate::formats::number::{parse_f64, parse_quantity, parse_u64};
use crate::formats::options::ReadOptions;
use crate::formats::rates::ValueKind;
use crate::formats::source::Source;

/// Most headers.
const MOST_TABLES: usize = 1000;
/// Lines in which the first row, and a decimal comma, must show.
pub(super) const LOOK: usize = 1000;

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
    left_out: u64,
    /// Room for the fields of a line.
    fields: Vec<Cow<'static, [u8]>>,
}

impl Stretch for Part {
    fn append(&mut self, mut later: Part) {
        for (key, at) in later.index {
            later.groups[at].key = key;
        }
        for group in later.groups {
            match self.index.get(&group.key) {
                Some(&at) => self.groups[at].append(group),
                None => {
                    self.index.insert(group.key.clone(), self.groups.len());
                    self.groups.push(group);
                }
            }
        }
        self.values += later.values;
        self.left_out += later.left_out;
    }
}

/// One row of a group.
pub(super) struct Row {
    pub(super) time: f64,
    pub(super) length: Option<f64>,
    pub(super) values: Vec<f64>,
}

impl Part {
    /// Takes the last row away, with the place of its group.
    pub(super) fn take_last(&mut self) -> Option<(usize, Row)> {
        let at = self.last.1;
        let group = self.groups.get_mut(at)?;
        let (time, length) = (group.times.pop()?, group.lengths.pop());
        Some((at, Row { time, length, values: group.columns.iter_mut().filter_map(Vec::pop).collect() }))
    }

    /// The group of a row.
    #[inline]
    fn group(&mut self, columns: &Columns, found: &[Cow<'_, [u8]>]) -> std::result::Result<&mut Group, Bad> {
        let layout = &columns.layout;
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

/// A layout with what its rows need: the lines below one header.
#[derive(Clone)]
pub(super) struct Columns {
    pub(super) layout: TableLayout,
    header: Vec<u8>,
    /// Its place among the layouts of the file.
    number: usize,
    /// Fields that are looked at, which a row must have.
    width: usize,
    origin: i64,
}

impl LineDecoder for Columns {
    type Rows = Part;

    #[inline]
    fn line(&self, line: &[u8], _: u64, part: &mut Part) -> std::result::Result<Taken, Bad> {
        if self.is_useless() {
            part.left_out += u64::from(line.trim_ascii_end() != self.header);
            return Ok(Taken::Nothing);
        }
        let mut fields: Vec<Cow<'_, [u8]>> = std::mem::take(&mut part.fields);
        let taken = self.row(line, &mut fields, part);
        // the room, which outlives the line
        fields.clear();
        part.fields = fields.into_iter().map(|_| Cow::Borrowed(&[][..])).collect();
        match taken {
            Err(_) if line.trim_ascii_end() == self.header || presets::is_note(&self.layout, line) => {
                Ok(Taken::Nothing)
            }
            taken => taken.map(|()| Taken::Record),
        }
    }

    fn is_remark(&self, line: &[u8]) -> bool {
        !self.is_useless() && is_remark(line)
    }

    fn until_change(&self, text: &[u8]) -> usize {
        let starts = std::iter::once(0).chain(memmem::find_iter(text, b"\n#").map(|n| n + 1));
        let mut lines = starts.map(|start| (start, lines(&text[start..]).next().unwrap_or_default()));
        lines.find(|(_, line)| self.is_changed_by(line)).map_or(text.len(), |(start, _)| start)
    }
}

impl Columns {
    fn new(layout: TableLayout, header: Vec<u8>, number: usize, origin: i64) -> Self {
        Columns { width: layout.width(), layout, header, number, origin }
    }

    /// Its rows hold nothing that is read or written.
    fn is_useless(&self) -> bool {
        self.layout.series.is_empty()
    }

    /// True if a line is the header of another table.
    pub(super) fn is_changed_by(&self, line: &[u8]) -> bool {
        let line = line.trim_ascii_end();
        line.starts_with(b"#") && line != self.header && presets::of_header(b"", line).is_some()
    }

    /// Adds the row of a line to `part`.
    #[inline]
    fn row<'t>(&self, line: &'t [u8], found: &mut Vec<Cow<'t, [u8]>>, part: &mut Part) -> std::result::Result<(), Bad> {
        let layout = &self.layout;
        let whole = layout.separator.fields(line, |f| {
            found.push(f);
            found.len() < self.width
        });
        whole.map_err(|rest| Bad::new("quoted field", rest, "a closing quote"))?;
        // what is missing behind a last field without content has none either
        if found.last().is_some_and(|f| f.is_empty()) {
            found.resize(self.width.max(found.len()), Cow::Borrowed(&[]));
        }
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
}

/// Reads a table.
///
/// # Errors
/// Malformed if its columns are not known or no line is a row; limits; errors of the system and of the sink.
pub(super) fn read(source: &Source, options: &ReadOptions) -> Result<Sheet> {
    let mut lines = LineReader::open(source, options)?;
    let found = header::find(lines.ahead(), &options.series)?;
    for _ in 0..found.lines {
        lines.line_as_is()?;
    }
    let mut tables = Tables::new(found, lines.ahead(), options)?;
    loop {
        while lines.share(&tables.known[tables.now], &mut tables.part)? {
            check(tables.part.groups.len(), tables.part.values, &options.limits)?;
        }
        let Some(header) = lines.line_as_is()? else { break };
        tables.change(&header, options)?;
    }
    tables.finish(&lines.finish())
}

/// The tables of a file: those of some tools change their header on the way.
pub(super) struct Tables {
    known: Vec<Columns>,
    /// Which of them the rows that come are of.
    now: usize,
    pub(super) sheet: Sheet,
    pub(super) part: Part,
    /// Lines before the first row.
    skipped: u64,
}

impl Tables {
    /// `text` are the rows as far as they are there.
    pub(super) fn new(found: Found, text: &[u8], options: &ReadOptions) -> Result<Self> {
        let Found { mut layout, header, lines: skipped, .. } = found;
        let mut sheet = Sheet { tool: layout.tool, ..Sheet::default() };
        let is_timed = |row: &Vec<Cow<'_, [u8]>>| first_form(&layout, row, &options.series).is_some();
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
        sheet.add_layout(&layout);
        let known = vec![Columns::new(layout, header, 0, sheet.origin)];
        Ok(Tables { known, now: 0, sheet, part: Part::default(), skipped })
    }

    /// Rows to come may have decimals, where these have none: a comma that does not separate fields stands before them.
    pub(super) fn expect_decimals(&mut self) {
        self.known.iter_mut().for_each(|c| c.layout.decimal_comma = c.layout.separator != Separator::Byte(b','));
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.known[self.now]
    }

    /// Takes one line.
    pub(super) fn line(&mut self, line: &[u8]) -> std::result::Result<Taken, Bad> {
        self.known[self.now].line(line, 0, &mut self.part)
    }

    /// Takes the header of another table.
    pub(super) fn change(&mut self, line: &[u8], options: &ReadOptions) -> Result<()> {
        let line = line.trim_ascii_end();
        if let Some(known) = self.known.iter().position(|c| c.header == line) {
            self.now = known;
            return Ok(());
        }
        if self.known.len() >= MOST_TABLES {
            return Err(Error::limit("more tables", format!("{MOST_TABLES}")));
        }
        let mut layout = presets::of_header(b"", line).unwrap_or_else(|| TableLayout::new("", Separator::Blanks));
        let first = &self.known[0].layout;
        let comma = first.decimal_comma || first.series.is_empty() && layout.separator != Separator::Byte(b',');
        (layout.form, layout.decimal_comma) = (first.form, comma);
        if let Some(columns) = options.series.columns.as_ref().filter(|_| !layout.series.is_empty()) {
            let names = layout.separator.names(line)?;
            if layout.take(columns, &names).is_err() {
                layout.series.clear();
            }
        }
        layout.set(&options.series);
        self.now = self.known.len();
        self.sheet.add_layout(&layout);
        self.known.push(Columns::new(layout, line.to_vec(), self.now, self.sheet.origin));
        Ok(())
    }

    fn finish(self, tally: &Tally) -> Result<Sheet> {
        let Tables { known, mut sheet, part, skipped, .. } = self;
        if let (true, Some(Columns { layout, header, .. })) = (known.iter().all(Columns::is_useless), known.first()) {
            return Err(header::useless(layout.tool, header, skipped));
        }
        if part.groups.is_empty() && part.left_out == 0 {
            if let Some((line, bad)) = tally.first_bad.clone() {
                return Err(bad.at(line).remedy("no line of this file can be read as a row: check its columns"));
            }
            if let Some(why) = &tally.damage {
                return Err(Error::malformed(Place::Byte(tally.bytes), why).remedy("copy the file again"));
            }
        }
        sheet.quality.records_read = tally.records;
        sheet.quality.records_dropped = tally.bad;
        sheet.quality.records_left_out = part.left_out;
        sheet.warnings.extend(tally.warnings("rows", None));
        sheet.groups = part.groups;
        if known.iter().any(|c| c.layout.first_is_mean) {
            sheet.groups.iter_mut().for_each(Group::leave_out_first);
            sheet.quality.records_left_out += sheet.groups.len() as u64;
            sheet.warnings.push(since_start("row", "the first row of this tool always is"));
        }
        Ok(sheet)
    }
}

/// The fields of the first rows that are of use.
fn rows<'t>(text: &'t [u8], layout: &TableLayout, most: usize) -> impl Iterator<Item = Vec<Cow<'t, [u8]>>> {
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
fn stamp_of<'r>(layout: &TableLayout, row: &'r [Cow<'_, [u8]>]) -> Option<(&'r [u8], Option<&'r [u8]>)> {
    let field = |c: usize| row.get(c).map(|f| &**f);
    let text = field(*layout.time.first()?)?;
    match layout.time.get(1) {
        Some(&c) => Some((text, Some(field(c)?))),
        None => Some((text, None)),
    }
}

impl Found {
    /// True if these rows show what the columns hold: one that has a time, and some more where nothing names the instances.
    pub(super) fn are_enough(&self, rows_text: &[u8], options: &ReadOptions) -> bool {
        let layout = &self.layout;
        let few = if layout.device.is_none() && layout.rank.is_none() { instances::FEW } else { 1 };
        let timed =
            |row: &Vec<Cow<'_, [u8]>>| layout.time.is_empty() || first_form(layout, row, &options.series).is_some();
        rows(rows_text, layout, LOOK).filter(timed).nth(few - 1).is_some()
    }
}

/// The form of the time of a row.
fn first_form(layout: &TableLayout, row: &[Cow<'_, [u8]>], options: &SeriesOptions) -> Option<TimeForm> {
    let (text, more) = stamp_of(layout, row)?;
    TimeForm::of(text, more, options.time_unit_s)
}

/// The error of rows whose times cannot be read, by the first.
fn unreadable_time(text: &[u8], layout: &TableLayout, skipped: u64) -> Option<Error> {
    let row = rows(text, layout, LOOK).find(|row| row.len() >= layout.width())?;
    let (stamp, _) = stamp_of(layout, &row)?;
    Some(
        Error::malformed(Place::Line(skipped + 1), format!("the time {} cannot be read", quote(stamp)))
            .expected("seconds, a date with a time such as `2026-11-23 09:56:07`, or a time of day")
            .remedy("write the times in ISO form (S_TIME_FORMAT=ISO for sysstat) or as seconds since 1970, or name their column"),
    )
}

/// True if the values of the first rows have a comma before their decimals.
fn has_decimal_comma(text: &[u8], layout: &TableLayout) -> bool {
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
