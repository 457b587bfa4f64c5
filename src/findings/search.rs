//! Checks all rules on a trace.

use super::assemble;
use super::book::Rule;
use super::facts::{Facts, Known};
use super::options::Options;
use super::outcome::Outcome;
use super::report::Findings;
use super::rules;
use crate::error::Result;
use crate::record::{Trace, Warning};

/// As [`find`](super::find), with what is known of the trace.
///
/// # Errors
/// As there.
pub fn find_knowing(trace: &Trace, known: Known<'_>, options: &Options) -> Result<Findings> {
    let (book, asked) = options.book()?;
    let stripe = book.system.stripe_unit(trace).unwrap_or(options.stripe);
    let classes = known.classes.filter(|_| stripe == options.stripe);
    let mut facts = Facts::of(trace, Known { classes, ..known }, stripe, options.requests);
    facts.describe(book.system.clone(), options.mtbf_s);
    let wanted = rules::RULES.iter().filter(|(code, _)| asked.asks(code));
    let mut checked: Vec<(&Rule, Option<Outcome>)> =
        wanted.filter_map(|(code, check)| book.rules.get(*code).map(|rule| (rule, check(&facts, rule)))).collect();
    let of_warning = |w: &Warning| {
        let rule = book.of_warning(&w.code).filter(|rule| asked.asks(&rule.code))?;
        Some((rule, Some(Outcome::new(true).detail(|| w.message.clone()).exact())))
    };
    checked.extend(trace.warnings.iter().filter_map(of_warning));
    Ok(assemble::findings(&facts, &book, checked, options.all_remedies))
}
