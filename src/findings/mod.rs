//! Findings: what is wrong with the I/O of a job, how much time it costs, where, and what to set.
//!
//! A finding has a code, such as `IOP-POSIX-002`. Its name, formula, thresholds and remedies are an entry of `rules.toml`; the code
//! that checks it is one function in `rules/` and one line in `rules::RULES`. `docs/findings.md` lists all.
//!
//! * Cost first. `time_s` is the time spent in what was found, an upper bound of the gain; `lost_s` is the gain itself, where there
//!   is a formula for it. Findings are in the order of their cost.
//! * If the slowest rank spends less than 1 % of the run in I/O, nothing is more than `info`.
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
mod outcome;
mod report;
mod requests;
mod rules;
mod streams;
mod system;
mod targets;

internal! { use report::FINDINGS_SCHEMA; }
pub use report::{
    Audience, ByteRange, Certainty, Example, FileShare, Finding, Findings, IoSummary, NotChecked, RemedyReport,
    RuleText, Severity, TimeWindow,
};
pub use system::{BurstBuffer, Mount, System};

use self::book::{Book, Rule};
use self::facts::Facts;
use self::outcome::Outcome;
use crate::analysis::Report;
use crate::error::Result;
use crate::record::Trace;

/// Stripe unit assumed of files whose layout is not known.
const STRIPE: u64 = 1 << 20;

options! {
    /// Options of [`find`].
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
    fn book(&self) -> Result<(Book, Asked)> {
        let mut book = Book::standard()?;
        if let Some(text) = &self.config {
            book.configure(text)?;
        }
        self.set.iter().try_for_each(|text| book.assign(text))?;
        let codes = |names: &[String]| -> Result<Vec<String>> {
            names.iter().map(|name| Ok(book.find(name)?.code.clone())).collect()
        };
        let asked = Asked { only: codes(&self.only)?, ignore: codes(&self.ignore)? };
        Ok((book, asked))
    }

    /// Checks the options before any trace is read.
    ///
    /// # Errors
    /// As [`find`].
    pub fn check(&self) -> Result<()> {
        self.book().map(|_| ())
    }
}

/// Which codes are asked for.
struct Asked {
    only: Vec<String>,
    ignore: Vec<String>,
}

impl Asked {
    fn asks(&self, code: &str) -> bool {
        (self.only.is_empty() || self.only.iter().any(|c| c == code)) && !self.ignore.iter().any(|c| c == code)
    }
}

/// The findings of a trace that was read with its [counters](crate::formats::ReadOptions::counters). With the report of
/// [`analyze`](crate::analysis::analyze) also those that need periods.
///
/// # Errors
/// [`ErrorKind::Malformed`](crate::ErrorKind) if the thresholds are no TOML, [`ErrorKind::Usage`](crate::ErrorKind) for codes and
/// thresholds that do not exist.
pub fn find(trace: &Trace, report: Option<&Report>, options: &Options) -> Result<Findings> {
    let (book, asked) = options.book()?;
    let stripe = book.system.stripe_unit(trace).unwrap_or(options.stripe);
    let mut facts = Facts::of(trace, report, stripe, options.requests);
    facts.describe(book.system.clone(), options.mtbf_s);
    let wanted = rules::RULES.iter().filter(|(code, _)| asked.asks(code));
    let mut checked: Vec<(&Rule, Option<Outcome>)> =
        wanted.filter_map(|(code, check)| book.rules.get(*code).map(|rule| (rule, check(&facts, rule)))).collect();
    let of_warning = |w: &crate::record::Warning| {
        let rule = book.of_warning(&w.code).filter(|rule| asked.asks(&rule.code))?;
        Some((rule, Some(Outcome::new(true).detail(|| w.message.clone()).exact())))
    };
    checked.extend(trace.warnings.iter().filter_map(of_warning));
    Ok(assemble::findings(&facts, &book, checked, options.all_remedies))
}

/// All findings that can be looked for, in the order of their codes.
///
/// # Errors
/// None for the rules that are compiled in.
pub fn all_rules() -> Result<Vec<RuleText>> {
    let book = Book::standard()?;
    let codes = rules::RULES.iter().map(|r| r.0.to_owned()).chain(book.warning_codes());
    Ok(codes.filter_map(|code| book.rules.get(&code)).map(|r| assemble::rule_text(&book, r)).collect())
}

/// All that is known of a finding, by its code or name.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind) with the codes that look alike.
pub fn rule(code: &str) -> Result<RuleText> {
    let book = Book::standard()?;
    book.find(code).map(|r| assemble::rule_text(&book, r))
}

#[cfg(all(test, feature = "cli"))]
mod drishti_tests;
#[cfg(all(test, feature = "cli"))]
mod tests;
