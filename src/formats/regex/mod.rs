//! Any text, by regular expressions with named groups, which the caller gives in [`ReadOptions::patterns`].
//!
//! **Lines.** The first pattern that matches a line makes a record of it. A record needs a time (`start`, `end`, `time`) and an
//! amount (`size`, or `rate` with a length); `duration`, `op`, `rank`, `file` and `offset` add to it. A rate with one time and nothing
//! else holds until the next match. Lines that no pattern matches are counted. Time is linear in the text (the crate `regex`).
//!
//! **Whole text.** FTIO's maps `pattern` and `translate`: each pattern is searched once in the whole text, and its first group holds
//! an array or a total.

mod patterns;
mod quantity;
mod rows;
mod whole;

use patterns::Forms;
pub use patterns::Patterns;

use super::format::{Format, Sniff, only};
use super::lines::Followed;
use super::options::ReadOptions;
use super::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{RowSink, Trace};
use crate::remedy::Remedy;

/// The format.
pub struct Text;

impl Format for Text {
    fn name(&self) -> &'static str {
        "regex"
    }

    fn sniff(&self, _: &[u8]) -> Sniff {
        Sniff::No("read only by patterns that are given")
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let patterns = patterns_of(options)?;
        let source = only(sources, self)?;
        match patterns.forms() {
            Forms::Rows(_) => rows::read(patterns, source, options, self.name(), sink),
            Forms::Whole(whole) => whole::read(whole, source, options, self.name(), sink),
        }
    }

    fn follow(&self, _: &[u8], options: &ReadOptions) -> Result<Followed> {
        let patterns = patterns_of(options)?;
        if matches!(patterns.forms(), Forms::Whole(_)) {
            let what = "patterns that are searched once in the whole text, which grows";
            return Err(Error::new(ErrorKind::Unsupported, what)
                .expected("patterns whose matches in the lines are the records")
                .remedy(Remedy::AnalyzeFinished));
        }
        Ok(Followed::Lines(Box::new(rows::followed(patterns))))
    }
}

fn patterns_of(options: &ReadOptions) -> Result<&Patterns> {
    let missing = || Error::new(ErrorKind::Usage, "format regex without a pattern").remedy(Remedy::GivePatterns);
    options.patterns.as_ref().ok_or_else(missing)
}
