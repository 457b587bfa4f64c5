//! Regular expressions for the names of files.

use std::str::FromStr;

use regex::Regex;

use crate::error::{Error, ErrorKind};

/// A regular expression that the names of files match; parsed from the syntax of the `regex` crate.
#[derive(Debug, Clone)]
pub struct NamePattern(Regex);

impl NamePattern {
    /// True if the pattern occurs in the name.
    pub(crate) fn is_match(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

impl FromStr for NamePattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Regex::new(text).map(NamePattern).map_err(|e| Error::new(ErrorKind::Usage, e.to_string()))
    }
}
