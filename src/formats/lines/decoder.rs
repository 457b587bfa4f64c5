//! Knowledge of a format about its lines.

use std::fmt;

use super::{is_remark, quote};

/// The outcome of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Taken {
    /// A record.
    Record,
    /// The line holds none and need not.
    Nothing,
}

/// Reads a line at a time. What depends on the lines before is in `Rows`.
pub(in super::super) trait LineDecoder: Sync {
    /// Rows made of the lines.
    type Rows: Send;

    /// Takes a line, without its end and within the limit, into `rows`. `number` counts from 1: in the file, or in the stretch that is
    /// read by itself.
    ///
    /// # Errors
    /// If it is none of the format. It is counted, and left out.
    fn line(&self, line: &[u8], number: u64, rows: &mut Self::Rows) -> Result<Taken, Bad>;

    /// True for lines that are passed over.
    fn is_remark(&self, line: &[u8]) -> bool {
        is_remark(line)
    }

    /// Bytes of these whole lines up to one that changes how those after it are read: the caller takes it.
    fn until_change(&self, text: &[u8]) -> usize {
        text.len()
    }

    /// Takes a line that is longer than the limit; only its beginning is there.
    ///
    /// # Errors
    /// Always, unless the format keeps an account of its own.
    fn long_line(&self, beginning: &[u8], number: u64, rows: &mut Self::Rows) -> Result<Taken, Bad> {
        let _ = (number, rows);
        Err(Bad::new("a long line", beginning, "shorter lines"))
    }
}

/// A decoder of lines that depend on those before, which does what it can before it knows them: side by side.
pub(in super::super) trait InOrder: LineDecoder {
    /// A line by itself.
    type Parsed: Send + Sync;

    /// Takes a line apart.
    fn parse(&self, line: &[u8]) -> Self::Parsed;

    /// Takes a line into the rows of those before.
    ///
    /// # Errors
    /// As [`LineDecoder::line`].
    fn follow(&self, line: &[u8], parsed: &Self::Parsed, rows: &mut Self::Rows) -> Result<Taken, Bad>;
}

/// Rows of which stretches are read side by side.
pub(in super::super) trait Stretch: Default + Send {
    /// Appends the rows of the lines that follow.
    fn append(&mut self, later: Self);
}

impl<T: Send> Stretch for Vec<T> {
    fn append(&mut self, later: Self) {
        self.extend(later);
    }
}

/// Why a line is none of its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Bad {
    pub(in super::super) found: String,
    pub(in super::super) expected: &'static str,
}

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; expected {}", self.found, self.expected)
    }
}

impl Bad {
    #[cold]
    pub(in super::super) fn new(what: &str, text: &[u8], expected: &'static str) -> Bad {
        Bad { found: format!("{what} {}", quote(text)), expected }
    }
}
