//! Rows of all files of a job, handed on as they are made.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::{Names, Output, Plan, Row, Table};
use crate::error::Result;
use crate::formats::Take;
use crate::formats::strace::stream::Event;
use crate::record::{FileId, Files, Op, Piece};

/// Rows of one file that are collected and handed on, a few thousand at once.
pub(in crate::formats::strace) struct Handing<'h, 't> {
    table: Table,
    hub: &'h Mutex<Hub<'t>>,
    /// The numbers of the files in the hub.
    numbers: Vec<FileId>,
}

/// Where the rows of all files of a job come together.
pub(in crate::formats::strace) struct Hub<'t> {
    pub(in crate::formats::strace) files: Files,
    take: &'t mut Take<'t>,
    /// Of each file, the rank that writes to it; `None` if there are several.
    writers: HashMap<FileId, Option<u32>>,
}

impl<'t> Hub<'t> {
    pub(in crate::formats::strace) fn new(take: &'t mut Take<'t>) -> Self {
        Hub { files: Files::default(), take, writers: HashMap::new() }
    }

    /// Do several ranks write to this file?
    pub(in crate::formats::strace) fn is_shared(&self, name: &str) -> bool {
        let Some((id, _)) = self.files.iter().find(|(_, n)| *n == name) else { return false };
        self.writers.get(&id) == Some(&None)
    }
}

impl<'h, 't> Handing<'h, 't> {
    /// Rows handed on at once.
    const AT_ONCE: usize = 1 << 14;

    pub(in crate::formats::strace) fn new(plan: Plan, hub: &'h Mutex<Hub<'t>>) -> Self {
        Handing { table: Table::new(Plan { max_rows: usize::MAX, ..plan }), hub, numbers: Vec::new() }
    }

    /// Hands on what there is, given the names of this file.
    pub(in crate::formats::strace) fn hand_on(&mut self, files: &Files) -> Result<()> {
        let mut rows = std::mem::take(&mut self.table.requests);
        let mut hub = self.hub.lock().unwrap_or_else(PoisonError::into_inner);
        let hub = &mut *hub;
        self.numbers.extend(files.iter().skip(self.numbers.len()).map(|(_, name)| hub.files.intern(name)));
        rows.file.map_in_place(|f| self.numbers.get(f.0 as usize).copied().unwrap_or(FileId::NONE));
        let rank = self.table.plan.rank;
        let mut last = FileId::NONE;
        for i in 0..rows.len() {
            let file = rows.file.get(i);
            if file != last && rows.op.get(i) == Op::Write {
                let writer = hub.writers.entry(file).or_insert(Some(rank));
                *writer = writer.filter(|w| *w == rank);
                last = file;
            }
        }
        let origin_s = self.table.plan.origin_ns / 1_000_000_000;
        (hub.take)(&Piece { origin_s, files: &hub.files, rows: &rows })
    }
}

impl Output for Handing<'_, '_> {
    fn row(&mut self, e: &Event<'_>, row: Row, names: Names<'_>) -> Result<()> {
        self.table.row(e, row, names)?;
        if self.table.requests.len() < Self::AT_ONCE { Ok(()) } else { self.hand_on(names.files) }
    }
}
