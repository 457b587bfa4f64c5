//! Checks all rules on a trace.

use std::borrow::Cow;

use super::assemble;
use super::book::{Book, Rule};
use super::facts::{Facts, Known};
use super::options::{Asked, Options};
use super::outcome::Outcome;
use super::report::Findings;
use super::requests::RequestFacts;
use super::rules;
use crate::analysis::{self, Report};
use crate::error::Result;
use crate::record::{Trace, Warning};

/// As [`find`](super::find), with what is known of the trace.
///
/// # Errors
/// As there.
pub fn find_knowing(trace: &Trace, known: Known<'_>, options: &Options) -> Result<Findings> {
    let search = Search::of(trace, options)?;
    Ok(search.find(known, || search.requests()))
}

/// As [`find`](super::find), with the periods of the trace, if its rows have times that could show any.
///
/// # Errors
/// As there.
pub fn find_all(trace: &Trace, options: &Options) -> Result<Findings> {
    let search = Search::of(trace, options)?;
    let (requests, report) = rayon::join(|| search.requests(), || periods(trace));
    Ok(search.find(Known { report: report.as_ref(), classes: None }, || requests))
}

fn periods(trace: &Trace) -> Option<Report> {
    if !trace.resolves_times() || trace.data.is_empty() {
        return None;
    }
    // no rule looks at patterns or spectra
    let options = analysis::Options::default().patterns(false).spectrum(false);
    analysis::analyze(trace, &options).ok().map(|a| a.report)
}

/// What is looked for in a trace.
struct Search<'a> {
    trace: &'a Trace,
    options: &'a Options,
    book: Cow<'static, Book>,
    asked: Asked,
    stripe: u64,
}

impl<'a> Search<'a> {
    fn of(trace: &'a Trace, options: &'a Options) -> Result<Search<'a>> {
        let (book, asked) = options.book()?;
        let stripe = book.system.stripe_unit(trace).unwrap_or(options.stripe);
        Ok(Search { trace, options, book, asked, stripe })
    }

    fn requests(&self) -> Option<RequestFacts> {
        self.options.requests.then(|| RequestFacts::of(self.trace, self.stripe)).flatten()
    }

    fn find(&self, known: Known<'_>, requests: impl FnOnce() -> Option<RequestFacts> + Send) -> Findings {
        let Search { trace, options, book, asked, stripe } = self;
        let classes = known.classes.filter(|_| *stripe == options.stripe);
        let mut facts = Facts::with(trace, Known { classes, ..known }, *stripe, requests);
        facts.describe(book.system.clone(), options.mtbf_s);
        let wanted = rules::RULES.iter().filter(|(code, _)| asked.asks(code));
        let mut checked: Vec<(&Rule, Option<Outcome>)> =
            wanted.filter_map(|(code, check)| book.rules.get(*code).map(|rule| (rule, check(&facts, rule)))).collect();
        let of_warning = |w: &Warning| {
            let rule = book.of_warning(&w.code).filter(|rule| asked.asks(&rule.code))?;
            Some((rule, Some(Outcome::new(true).detail(|| w.message.clone()).exact())))
        };
        checked.extend(trace.warnings.iter().filter_map(of_warning));
        assemble::findings(&facts, book, checked, options.all_remedies)
    }
}
