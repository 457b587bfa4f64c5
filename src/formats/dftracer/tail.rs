//! The transfers of a growing file, a line at a time.

use super::super::tail::message::TailedLines;
use super::super::ticks::{MICROS, Ticks};
use super::line::Line;
use super::rows::{HASH, Part, is_frame};
use super::{DfTracer, Format, Sniff};
use crate::record::{Clock, FileId, Interval, is_system_path};

/// Follows the calls of one file.
#[derive(Default)]
pub(in super::super) struct TailedEvents {
    part: Part,
    /// Rows that were taken, of those in `part`.
    taken: usize,
}

impl TailedEvents {
    fn is_system(&self, file: FileId) -> bool {
        let name = self.part.files.name(file);
        let text = name.strip_prefix(HASH).and_then(|hash| self.part.text_of(hash));
        is_system_path(text.unwrap_or(name))
    }
}

impl TailedLines for TailedEvents {
    fn feed(&mut self, line: &[u8]) -> Result<(), String> {
        if is_frame(line) {
            return Ok(());
        }
        let ticks = Ticks { unit_ns: self.part.unit_ns.unwrap_or(MICROS), origin_s: 0 };
        match Line::parse(line).map(|l| self.part.add(&l, ticks, None, false)) {
            Ok(true) => {
                // Totals have no end yet, and are not followed.
                self.part.totals.clear();
                Ok(())
            }
            _ => Err("no event of DFTracer".to_owned()),
        }
    }

    fn next(&mut self) -> Option<Interval> {
        while self.taken < self.part.requests.len() {
            let row = self.part.requests.get(self.taken);
            self.taken += 1;
            if row.op.moves_bytes() && !self.is_system(row.file) {
                return Some(Interval { rank: 0, file: FileId::NONE, ..Interval::from(row) });
            }
        }
        self.taken = 0;
        self.part.requests.clear();
        None
    }

    fn has_more(&self) -> bool {
        self.taken < self.part.requests.len()
    }

    fn clock(&self) -> Clock {
        Clock::of_stamps(true, false)
    }
}

/// True if a line is an event of DFTracer that says so.
pub(in super::super) fn is_event(line: &[u8]) -> bool {
    DfTracer.sniff(line) == Sniff::Yes
}

/// A text without the brackets and blank lines that it begins with.
pub(in super::super) fn after_frames(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while let Some(n) = memchr::memchr(b'\n', rest).filter(|n| is_frame(&rest[..*n])) {
        rest = &rest[n + 1..];
    }
    rest
}
