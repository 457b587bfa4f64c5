//! HEADER/PROCESS text of the access-pattern note.

use super::{Format, ReadOptions, Sniff, Source};
use crate::error::{Error, ErrorKind, Result};
use crate::record::Trace;

/// The format.
pub struct Radar;

impl Format for Radar {
    fn name(&self) -> &'static str {
        "radar"
    }

    fn sniff(&self, _head: &[u8]) -> Sniff {
        Sniff::No("not read yet")
    }

    fn read(&self, _source: &Source, _options: &ReadOptions) -> Result<Trace> {
        Err(Error::new(ErrorKind::Unsupported, "not read yet"))
    }
}
