//! The records of a growing file, a line at a time.

use super::super::json::member_names;
use super::super::tail::message::TailedLines;
use super::records::{Columns, Layout, Objects};
use crate::record::Interval;

/// Parses records, a line at a time.
pub(in super::super) struct TailedRecords {
    layout: Box<dyn Layout + Send>,
    /// The header line, which comes again where a file was begun anew.
    header: Vec<u8>,
    waiting: Option<Interval>,
}

impl TailedRecords {
    /// Records of CSV with this header line. An error says what is wrong with it.
    pub(in super::super) fn csv(header: &[u8]) -> Result<Self, String> {
        let columns = Columns::of_header(header).map_err(|bad| bad.to_string())?;
        Ok(Self { layout: Box::new(columns), header: header.to_vec(), waiting: None })
    }

    /// Records of JSON Lines.
    pub(in super::super) fn json_lines() -> Self {
        Self { layout: Box::new(Objects), header: Vec::new(), waiting: None }
    }
}

impl TailedLines for TailedRecords {
    fn feed(&mut self, line: &[u8]) -> Result<(), String> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if self.header.is_empty() || line != self.header {
            let row = self.layout.row(line).map_err(|bad| bad.to_string())?;
            self.waiting = row.map_or(Ok(None), |row| row.transfer()).map_err(|bad| bad.to_string())?;
        }
        Ok(())
    }

    fn next(&mut self) -> Option<Interval> {
        self.waiting.take()
    }

    fn has_more(&self) -> bool {
        self.waiting.is_some()
    }
}

/// True if a line holds a record as JSON.
pub(in super::super) fn is_record_line(line: &[u8]) -> bool {
    super::is_record(&member_names(line, super::MEMBERS))
}
