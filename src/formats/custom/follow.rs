//! Records one by one, as they come.

use super::super::json::member_names;
use super::records::{Columns, Layout, Objects};
use super::row::Bad;
use crate::record::Interval;

/// Takes records apart, a line at a time.
pub(in super::super) struct Records {
    layout: Box<dyn Layout + Send>,
    /// The header line, which comes again where a file was begun anew.
    header: Vec<u8>,
}

fn told(bad: Bad) -> String {
    format!("{}; expected {}", bad.found, bad.expected)
}

impl Records {
    /// Records of CSV with this header line. An error says what is wrong with it.
    pub(in super::super) fn csv(header: &[u8]) -> Result<Records, String> {
        let columns = Columns::of_header(header).map_err(told)?;
        Ok(Records { layout: Box::new(columns), header: header.to_vec() })
    }

    /// Records of JSON Lines.
    pub(in super::super) fn json_lines() -> Records {
        Records { layout: Box::new(Objects), header: Vec::new() }
    }

    /// The transfer in a line; `None` if it moves no bytes, or is the header. An error says what is wrong with it.
    pub(in super::super) fn transfer(&self, line: &[u8]) -> Result<Option<Interval>, String> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if !self.header.is_empty() && line == self.header {
            return Ok(None);
        }
        self.layout.row(line).and_then(|row| row.transfer()).map_err(told)
    }
}

/// True if a line holds a record as JSON.
pub(in super::super) fn is_record_line(line: &[u8]) -> bool {
    super::is_record(&member_names(line, super::MEMBERS))
}
