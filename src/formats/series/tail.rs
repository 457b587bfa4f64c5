//! A table that grows: its rows are read as those of a finished one, and become transfers as soon as their step is known.

use std::collections::VecDeque;

use super::growth::Growth;
use super::header::{self, Found};
use super::presets;
use super::table::{LOOK, Tables};
use super::{Form, blocks, lustre, nmon, snapshots};
use crate::error::{Error, ErrorKind};
use crate::formats::lines::{Bad, Followed, Follower, LineDecoder, Taken, Transfers, is_remark, lines};
use crate::formats::options::ReadOptions;
use crate::record::{Clock, Interval};

/// Follows a series that begins so, once it shows how.
///
/// # Errors
/// Unsupported for other forms of series.
pub(super) fn follow(head: &[u8], options: &ReadOptions) -> crate::Result<Followed> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let whole = &text[..memchr::memrchr(b'\n', text).map_or(0, |n| n + 1)];
    let known = options.series.columns.is_some() || presets::of_lines(whole, super::BEFORE_HEADER).is_some();
    if let Some(found) = known.then(|| header::find(whole, &options.series).ok()).flatten() {
        return Ok(Followed::Lines(Box::new(Follower::new(GrowingTable, Rows::of(found, whole, options)))));
    }
    match super::form(head) {
        None | Some(Form::Table) => Ok(Followed::Later),
        Some(Form::Blocks) => Ok(Followed::Lines(snapshots::follow(options, blocks::Blocks::new("", options)))),
        Some(Form::Nmon) => Ok(Followed::Lines(snapshots::follow(options, nmon::Snapshots::new(options)))),
        Some(Form::LustreStats) => Ok(Followed::Lines(snapshots::follow(options, lustre::Stats::new()))),
        Some(form) => {
            Err(Error::new(ErrorKind::Unsupported, format!("a series of {} cannot be followed", form.name()))
                .remedy(crate::Remedy::AnalyzeFinished))
        }
    }
}

struct GrowingTable;

/// The state of one growing table.
struct Rows {
    options: ReadOptions,
    /// The lines up to the first row, and how many of them are no remarks.
    head: Vec<u8>,
    before: u64,
    /// The first rows, until they show what the columns hold.
    held: Vec<u8>,
    tables: Option<Tables>,
    growth: Growth,
}

impl LineDecoder for GrowingTable {
    type Rows = Rows;

    fn line(&self, line: &[u8], number: u64, rows: &mut Rows) -> Result<Taken, Bad> {
        if number <= rows.before {
            return Ok(Taken::Nothing);
        }
        match rows.tables {
            Some(_) => rows.line(line),
            None => rows.hold(line),
        }
    }

    fn is_remark(&self, line: &[u8]) -> bool {
        is_remark(line) && presets::of_header(b"", line.trim_ascii_end()).is_none()
    }
}

impl Transfers for GrowingTable {
    fn take(&mut self, rows: &mut Rows, transfers: &mut VecDeque<Interval>) -> Result<(), String> {
        transfers.append(&mut rows.growth.waiting);
        Ok(())
    }

    fn clock(&self, rows: &Rows) -> Clock {
        rows.tables.as_ref().map_or_else(Clock::default, |t| t.sheet.clock())
    }

    fn end(&mut self, rows: &mut Rows) {
        if rows.tables.is_none() && !rows.held.is_empty() {
            // an error was one of its lines
            let _ = rows.begin();
        }
        if let Some(tables) = &rows.tables {
            rows.growth.end(&tables.sheet, &tables.part.groups);
        }
    }
}

impl Rows {
    fn of(found: Found, text: &[u8], options: &ReadOptions) -> Rows {
        let head = text[..found.bytes].to_vec();
        let before = lines(&head).filter(|l| !GrowingTable.is_remark(l)).count() as u64;
        Rows { options: options.clone(), head, before, held: Vec::new(), tables: None, growth: Growth::new(options) }
    }

    /// Keeps a row until enough have come.
    fn hold(&mut self, line: &[u8]) -> Result<Taken, Bad> {
        self.held.extend_from_slice(line);
        self.held.push(b'\n');
        let found = self.found()?;
        match found.are_enough(&self.held, &self.options) || lines(&self.held).count() >= LOOK {
            true => self.begin(),
            false => Ok(Taken::Nothing),
        }
    }

    fn found(&self) -> Result<Found, Bad> {
        header::find(&[&self.head[..], &self.held].concat(), &self.options.series).map_err(|e| said(&e))
    }

    /// Learns from the first rows what the columns hold, and reads them.
    fn begin(&mut self) -> Result<Taken, Bad> {
        let found = self.found();
        // what cannot be read is not tried again
        let held = std::mem::take(&mut self.held);
        let mut tables = Tables::new(found?, &held, &self.options).map_err(|e| said(&e))?;
        tables.expect_decimals();
        self.tables = Some(tables);
        let mut all = Ok(Taken::Nothing);
        for line in lines(&held) {
            let taken = self.line(line);
            all = all.and(taken);
        }
        all
    }

    fn line(&mut self, line: &[u8]) -> Result<Taken, Bad> {
        let Some(tables) = &mut self.tables else { return Ok(Taken::Nothing) };
        if tables.columns().is_changed_by(line) {
            return tables.change(line, &self.options).map(|()| Taken::Nothing).map_err(|e| said(&e));
        }
        let taken = tables.line(line)?;
        match tables.part.take_last() {
            Some((at, row)) => self.growth.row(&tables.sheet, &tables.part.groups, at, row).map(|()| taken),
            None => Ok(taken),
        }
    }
}

/// An error of the reader of whole files as that of a line.
fn said(e: &Error) -> Bad {
    Bad { found: e.to_string(), expected: "a table that can be read" }
}
