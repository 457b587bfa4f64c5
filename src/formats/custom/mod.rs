//! FTIO's own JSON forms, and records as CSV or JSONL.

use super::{Format, ReadOptions, Sniff, Source};
use crate::error::{Error, ErrorKind, Result};
use crate::record::Trace;

/// The format.
pub struct Custom;

impl Format for Custom {
    fn name(&self) -> &'static str {
        "custom"
    }

    fn sniff(&self, _head: &[u8]) -> Sniff {
        Sniff::No("not read yet")
    }

    fn read(&self, _source: &Source, _options: &ReadOptions) -> Result<Trace> {
        Err(Error::new(ErrorKind::Unsupported, "not read yet"))
    }
}
