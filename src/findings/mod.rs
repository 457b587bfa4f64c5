//! Findings: what is wrong with the I/O of a job, how much time it costs, where, and what to set.
//!
//! A finding has a code, such as `IOP-POSIX-002`. Its name, formula, thresholds and remedies are an entry of `rules.toml`; the code
//! that checks it is one function in `rules/` and one line in `rules::RULES`. `docs/findings.md` lists all.
//!
//! * Cost first. `time_s` is the time spent in what was found, an upper bound of the gain; `lost_s` is the gain itself, where there
//!   is a formula for it. Findings are in the order of their cost.
//! * If the slowest rank spends less than 1 % of the run in I/O, and all of it is recorded, nothing is more than `info`.
//! * Counters often give bounds only. A finding fires on the low end.
//! * Findings of one group about the same files are one entry, under the costliest code; `also` names the others.
//!
//! ```
//! use iophase::{findings, formats};
//!
//! # fn main() -> iophase::Result<()> {
//! let read = formats::ReadOptions::default().counters(true);
//! let source = formats::Source::open("data/stable.darshan".as_ref(), &read.limits)?;
//! let trace = formats::read(&source, None, &read)?;
//! let found = findings::find(&trace, None, &findings::Options::default())?;
//! assert!(found.io.share.unwrap() < 0.1);
//! # Ok(())
//! # }
//! ```

mod assemble;
mod book;
mod bursts;
mod evidence;
mod facts;
mod options;
mod outcome;
mod recorded;
mod remedies;
mod report;
mod requests;
mod rules;
mod search;
mod streams;
mod system;
mod targets;

internal! { use facts::Known; }
internal! { use report::FINDINGS_SCHEMA; }
pub use search::find_all;
internal! { use search::{Search, find_knowing}; }
pub use crate::facts::{Bounds, IoTime, LayerTime};
pub use options::Options;
pub use report::{
    Audience, ByteRange, Certainty, Example, FileShare, Finding, Findings, NotChecked, RemedyReport, RuleText,
    Severity, TimeWindow,
};
pub use system::{BurstBuffer, Mount, System};

use self::book::Book;
use crate::analysis::Report;
use crate::error::Result;
use crate::record::Trace;

/// The findings of a trace that was read with its [counters](crate::formats::ReadOptions::counters). With the report of
/// [`analyze`](crate::analysis::analyze) also those that need periods.
///
/// # Errors
/// [`ErrorKind::Malformed`](crate::ErrorKind) if the thresholds are no TOML, [`ErrorKind::Usage`](crate::ErrorKind) for codes and
/// thresholds that do not exist. Those of [`Trace::check`].
pub fn find(trace: &Trace, report: Option<&Report>, options: &Options) -> Result<Findings> {
    trace.check()?;
    find_knowing(trace, Known { report, classes: None }, options)
}

/// All findings that can be looked for, in the order of their codes.
///
/// # Errors
/// None for the rules that are compiled in.
pub fn all_rules() -> Result<Vec<RuleText>> {
    let book = Book::standard()?;
    let codes = rules::RULES.iter().map(|r| r.0.to_owned()).chain(book.warning_codes());
    Ok(codes.filter_map(|code| book.rules.get(&code)).map(|r| assemble::rule_text(book, r)).collect())
}

/// All that is known of a finding, by its code or name.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind) with the codes that look alike.
pub fn rule(code: &str) -> Result<RuleText> {
    let book = Book::standard()?;
    book.find(code).map(|r| assemble::rule_text(book, r))
}

#[cfg(all(test, feature = "cli"))]
mod drishti_tests;
#[cfg(all(test, feature = "cli"))]
mod tests;
