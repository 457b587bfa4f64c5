//! Options of findings.

use std::borrow::Cow;

use super::book::Book;
use crate::error::Result;

/// Stripe unit assumed of files whose layout is not known.
pub(super) const STRIPE: u64 = 1 << 20;

options! {
    /// Options of [`find`](super::find).
    #[derive(Debug, Clone)]
    pub struct Options {
        /// Stripe unit in bytes of files whose layout the trace does not have; requests below it are small.
        pub stripe: u64,
        /// TOML: thresholds that replace those compiled in (`[CODE]` and lines `name = number`), and the machine (`[system]`,
        /// `[[mount]]`).
        pub config: Option<String>,
        /// Single thresholds, `CODE.name=VALUE`; they win over `config`.
        pub set: Vec<String>,
        /// Mean time between failures of the job in seconds.
        pub mtbf_s: Option<f64>,
        /// Only these codes; all if empty.
        pub only: Vec<String>,
        /// All but these codes.
        pub ignore: Vec<String>,
        /// Look at single requests, if the trace has them; without them there are findings of counters and periods only.
        pub requests: bool,
        /// Also remedies for file systems and libraries that are not seen in the trace.
        pub all_remedies: bool,
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            stripe: STRIPE,
            config: None,
            set: Vec::new(),
            mtbf_s: None,
            only: Vec::new(),
            ignore: Vec::new(),
            requests: true,
            all_remedies: false,
        }
    }
}

impl Options {
    /// The rules with the thresholds of these options, and which of them are asked for.
    pub(super) fn book(&self) -> Result<(Cow<'static, Book>, Asked)> {
        let mut book = Cow::Borrowed(Book::standard()?);
        if let Some(text) = &self.config {
            book.to_mut().configure(text)?;
        }
        self.set.iter().try_for_each(|text| book.to_mut().assign(text))?;
        let codes = |names: &[String]| -> Result<Vec<String>> {
            names.iter().map(|name| Ok(book.find(name)?.code.clone())).collect()
        };
        let asked = Asked { only: codes(&self.only)?, ignore: codes(&self.ignore)? };
        Ok((book, asked))
    }

    /// Checks the options before any trace is read.
    ///
    /// # Errors
    /// As [`find`](super::find).
    pub fn check(&self) -> Result<()> {
        self.book().map(|_| ())
    }
}

/// Which codes are asked for.
pub(super) struct Asked {
    only: Vec<String>,
    ignore: Vec<String>,
}

impl Asked {
    pub fn asks(&self, code: &str) -> bool {
        (self.only.is_empty() || self.only.iter().any(|c| c == code)) && !self.ignore.iter().any(|c| c == code)
    }
}
