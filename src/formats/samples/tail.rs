//! The samples of a file that is being written, a line at a time.

use super::super::tail::message::TailedLines;
use super::{Header, Line, is_header};
use crate::record::{Clock, Interval};

/// Reads samples, a line at a time.
pub(in super::super) struct TailedSamples {
    clock: Clock,
    waiting: Option<Interval>,
}

impl TailedSamples {
    /// Samples after this first line. An error says what is wrong with it.
    pub(in super::super) fn new(header: &[u8]) -> Result<Self, String> {
        Ok(Self { clock: Header::parse(header)?.clock(), waiting: None })
    }
}

impl TailedLines for TailedSamples {
    fn feed(&mut self, line: &[u8]) -> Result<(), String> {
        if is_header(line) {
            self.clock = Header::parse(line)?.clock();
        } else if let Line::Sample(s) = Line::parse(line)? {
            self.waiting = Some(s.interval());
        }
        Ok(())
    }

    fn next(&mut self) -> Option<Interval> {
        self.waiting.take()
    }

    fn has_more(&self) -> bool {
        self.waiting.is_some()
    }

    fn clock(&self) -> Clock {
        self.clock
    }
}
