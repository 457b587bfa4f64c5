//! Access patterns and their periods.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::nest::Loop;
use crate::pattern::{
    self, Access, Coverage, Found, Kind, Pattern, PatternPeriod, PatternReport, PatternsReport, Ranks, Step, detect,
};
use crate::period::Verdict;
use crate::period::chains;
use crate::record::{Data, FileId, Op, Requests, Timing, Trace, UNKNOWN_OFFSET, stem};
use crate::signal::profile::Profile;
use crate::signal::{Activity, Mode, Selection, Span};

/// Families whose periods are sought, those that move the most bytes first.
const MOST_FAMILIES: usize = 2000;

/// Bursts that a period takes.
const FEWEST_BURSTS: usize = 3;

options! {
    /// Options of the pattern analysis.
    #[derive(Debug, Clone, Default)]
    pub struct PatternOptions {
        /// Settings of the detector.
        pub detector: pattern::Options,
        /// Next accesses to report for each pattern.
        pub next: usize,
        /// Check that nothing was lost.
        pub verify: bool,
    }
}

/// Finds the patterns of the selected accesses, and the period of each: the report, and the patterns themselves
/// in the same order. `None` if no access has an offset.
///
/// # Errors
/// [`ErrorKind::Output`] if accesses were lost or doubled, which only [`PatternOptions::verify`] looks for.
pub fn patterns(
    trace: &Trace,
    mode: Mode,
    selection: &Selection,
    search: chains::Options,
    options: &PatternOptions,
) -> Result<Option<(PatternsReport, Vec<Pattern>)>> {
    let Data::Requests(requests) = &trace.data else { return Ok(None) };
    let activity = Activity::new(trace, mode, selection);
    let keep = |i: usize| requests.offset.get(i) != UNKNOWN_OFFSET && activity.keeps_request(requests, i);
    if !requests.has_offsets() || !(0..requests.len()).any(keep) {
        return Ok(None);
    }
    let mut detector = options.detector;
    detector.keep_sizes |= options.verify;
    detector.keep_unmatched |= options.verify;
    let found = detect(requests, keep, detector);
    if options.verify {
        check(&found, requests, keep).map_err(|e| e.in_file(&trace.path))?;
    }
    let origin = trace.origin_s as f64;
    let mut reports: Vec<PatternReport> = found
        .patterns
        .par_iter()
        .map(|p| PatternReport { next: p.next(options.next), ..PatternReport::of(p, trace.files.name(p.file), origin) })
        .collect();
    annotate(trace, &found.patterns, &mut reports, search);
    if trace.timing == Timing::Order {
        reports.iter_mut().for_each(PatternReport::without_times);
    }
    let coverage = Coverage {
        records: found.records,
        matched: found.matched(),
        predicted: found.predicted,
        bytes: found.bytes,
        matched_bytes: found.matched_bytes(),
        folded_patterns: found.unlisted.patterns,
    };
    Ok(Some((PatternsReport { coverage, patterns: reports }, found.patterns)))
}

fn check(found: &Found, requests: &Requests, keep: impl Fn(usize) -> bool) -> Result<()> {
    let accesses = (0..requests.len()).filter(|&i| keep(i)).filter_map(|i| Access::of(&requests.get(i)));
    pattern::verify(found, accesses)
        .map_err(|e| Error::new(ErrorKind::Output, format!("the patterns do not give back the records: {e}")))
}

/// A period, or why there is none.
type Answer = std::result::Result<PatternPeriod, String>;

/// Key of a family of patterns: the walk, and the name of the file without its digits.
type Walk<'a> = ((Op, Option<Op>), u32, Option<Ranks>, Kind, Option<u64>, &'a [Loop], u32);

/// Gives each pattern its period: that of its own accesses, or of its family if its own are too few.
fn annotate(trace: &Trace, patterns: &[Pattern], reports: &mut [PatternReport], search: chains::Options) {
    let families = families(trace, patterns);
    let bytes = |f: &[usize]| f.iter().map(|&i| u128::from(patterns[i].bytes)).sum::<u128>();
    let mut order: Vec<usize> = (0..families.len()).collect();
    order.sort_by_cached_key(|&f| (std::cmp::Reverse(bytes(&families[f])), f));
    let late = order.split_off(order.len().min(MOST_FAMILIES));
    let answers: Vec<(usize, Vec<Answer>)> =
        order.into_par_iter().map(|f| (f, of_family(patterns, &families[f], search))).collect();
    let not_sought = || Err(format!("not sought: {MOST_FAMILIES} other walks move more bytes"));
    let answers = answers.into_iter().chain(late.into_iter().map(|f| (f, vec![not_sought(); families[f].len()])));
    for (f, periods) in answers {
        for (&i, answer) in families[f].iter().zip(periods) {
            match answer {
                Ok(period) => reports[i].period = Some(period),
                Err(reason) => reports[i].period_reason = Some(reason),
            }
        }
    }
    let shared = families.iter().filter(|f| f.len() > 1);
    for (number, family) in (0u64..).zip(shared) {
        family.iter().for_each(|&i| reports[i].family = Some(number));
    }
}

/// The numbers of the patterns of each family, families in the order of their first pattern.
fn families(trace: &Trace, patterns: &[Pattern]) -> Vec<Vec<usize>> {
    let mut stems: HashMap<String, u32> = HashMap::new();
    let mut stem_of: HashMap<FileId, u32, FixedState> = HashMap::default();
    let mut index: HashMap<Walk<'_>, usize, FixedState> = HashMap::default();
    let mut families: Vec<Vec<usize>> = Vec::new();
    for (i, p) in patterns.iter().enumerate() {
        let stem = *stem_of.entry(p.file).or_insert_with(|| {
            let next = stems.len() as u32;
            *stems.entry(stem(trace.files.name(p.file))).or_insert(next)
        });
        let walk = ((p.op, p.then()), p.rank, p.ranks(), p.kind(), p.access_size(), p.levels(), stem);
        let f = *index.entry(walk).or_insert_with(|| {
            families.push(Vec::new());
            families.len() - 1
        });
        families[f].push(i);
    }
    families
}

fn of_family(patterns: &[Pattern], family: &[usize], search: chains::Options) -> Vec<Answer> {
    let own = |i: usize| period(patterns[i].steps.list().iter(), search);
    if let [i] = family {
        return vec![own(*i)];
    }
    let all = family.iter().flat_map(|&i| patterns[i].steps.list());
    let together = period(all, search);
    let answer = |&i: &usize| match own(i) {
        Ok(period) => Ok(period),
        Err(reason) => together.clone().map_err(|_| reason),
    };
    family.iter().map(answer).collect()
}

/// The period of some steps.
fn period<'a>(steps: impl Iterator<Item = &'a Step>, search: chains::Options) -> Answer {
    let spans: Vec<Span> = steps.map(|s| Span { start: s.start, end: s.end, bytes: s.bytes.max(1) as f64 }).collect();
    let first = spans.iter().map(|s| s.start).fold(f64::INFINITY, f64::min);
    let last = spans.iter().map(|s| s.end).fold(f64::NEG_INFINITY, f64::max);
    if last <= first {
        return Err("no times: all accesses are at the same time".into());
    }
    if spans.len() < FEWEST_BURSTS {
        return Err(format!("too few accesses: {}", if spans.len() == 1 { "one burst" } else { "two bursts" }));
    }
    let search = chains::Options { most_periods: 1, ..search };
    if last - first <= search.shortest_window_s {
        return Err("one burst: all of it lasts less than a twentieth of the run".into());
    }
    let found = chains::detect(&Profile::from_spans(spans), search);
    match found.periods.first() {
        Some(f) => Ok(PatternPeriod { period_s: f.period_s, confidence: f.confidence }),
        None => Err(match found.verdict {
            Verdict::TooFewCycles => "too few accesses: too few bursts".into(),
            Verdict::SingleBurst => "one burst".into(),
            Verdict::Constant => "no bursts: the accesses follow each other evenly".into(),
            _ => "aperiodic".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_periods_or_reasons() {
        let steps = |starts: &[f64], width: f64| -> Vec<Step> {
            starts.iter().map(|&start| Step { start, end: start + width, bytes: 100, records: 1 }).collect()
        };
        let even: Vec<f64> = (0..20).map(|i| 60.0 * f64::from(i)).collect();
        let search = chains::Options::for_run;
        let found = period(steps(&even, 2.0).iter(), search(1000.0)).unwrap();
        assert!((found.period_s - 60.0).abs() < 0.1 && found.confidence > 0.8, "{found:?}");
        let reason = |starts: &[f64], width| period(steps(starts, width).iter(), search(20.0)).unwrap_err();
        assert!(reason(&[1.0, 2.0], 0.1).starts_with("too few"));
        assert!(reason(&[1.0, 1.0, 1.0], 0.0).starts_with("no times"));
        assert!(reason(&[1.0, 1.1, 1.2], 0.01).starts_with("one burst"));
        assert_eq!(reason(&[0.0, 3.0, 3.9, 11.0, 12.5, 30.0, 31.0, 47.0, 58.0, 58.9, 80.0], 0.2), "aperiodic");
    }
}
