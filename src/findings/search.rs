//! Checks all rules on a trace.

use std::borrow::Cow;
use std::sync::OnceLock;

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
use crate::facts::IoFacts;
use crate::record::{Trace, Warning};

/// As [`find`](super::find), with what is known of the trace.
///
/// # Errors
/// As there.
pub fn find_knowing(trace: &Trace, known: Known<'_>, options: &Options) -> Result<Findings> {
    Ok(Search::of(trace, options)?.find(known))
}

/// As [`find`](super::find), with the periods of the trace, if its rows have times that could show any.
///
/// # Errors
/// As there.
pub fn find_all(trace: &Trace, options: &Options) -> Result<Findings> {
    let search = Search::of(trace, options)?;
    let ((), report) = rayon::join(|| search.see_requests(), || periods(trace));
    Ok(search.find(Known { report: report.as_ref(), classes: None }))
}

fn periods(trace: &Trace) -> Option<Report> {
    if !trace.resolves_times() || trace.data.is_empty() {
        return None;
    }
    // no rule looks at patterns or spectra
    let options = analysis::Options::default().patterns(false).spectrum(false);
    analysis::analyze(trace, &options).ok().map(|a| a.report)
}

/// A search for findings in a trace.
pub struct Search<'a> {
    trace: &'a Trace,
    options: &'a Options,
    book: Cow<'static, Book>,
    asked: Asked,
    stripe: u64,
    requests: OnceLock<(Option<RequestFacts>, IoFacts)>,
}

impl<'a> Search<'a> {
    /// The search that the options ask for.
    ///
    /// # Errors
    /// As [`find`](super::find).
    pub fn of(trace: &'a Trace, options: &'a Options) -> Result<Search<'a>> {
        let (book, asked) = options.book()?;
        let stripe = book.system.stripe_unit(trace).unwrap_or(options.stripe);
        Ok(Search { trace, options, book, asked, stripe, requests: OnceLock::new() })
    }

    /// Goes through the requests now, which needs no other answer; otherwise [`find`](Self::find) does.
    pub fn see_requests(&self) {
        self.requests.get_or_init(|| self.of_requests());
    }

    fn of_requests(&self) -> (Option<RequestFacts>, IoFacts) {
        let requests = || self.options.requests.then(|| RequestFacts::of(self.trace, self.stripe)).flatten();
        rayon::join(requests, || IoFacts::of(self.trace))
    }

    /// The findings, with what is known of the trace.
    pub fn find(mut self, known: Known<'_>) -> Findings {
        let seen = self.requests.take();
        let Search { trace, options, book, asked, stripe, .. } = &self;
        let classes = known.classes.filter(|_| *stripe == options.stripe);
        let requests = seen.unwrap_or_else(|| self.of_requests());
        let mut facts = Facts::with(trace, Known { classes, ..known }, *stripe, requests);
        facts.describe(book.system.clone(), options.mtbf_s);
        let wanted = rules::RULES.iter().filter(|(code, _)| asked.asks(code));
        let found = |rule: &Rule, check: &rules::Check| match facts.ranks < rule.processes {
            true => Some(Outcome::new(false)),
            false => check(&facts, rule),
        };
        let mut checked: Vec<(&Rule, Option<Outcome>)> =
            wanted.filter_map(|(code, check)| book.rules.get(*code).map(|rule| (rule, found(rule, check)))).collect();
        let of_warning = |w: &Warning| {
            let rule = book.of_warning(&w.code).filter(|rule| asked.asks(&rule.code))?;
            Some((rule, Some(Outcome::new(true).detail(|| w.message.clone()).exact())))
        };
        checked.extend(trace.warnings.iter().filter_map(of_warning));
        assemble::findings(&facts, book, checked, options.all_remedies)
    }
}
