//! Access patterns and their periods.

use std::cmp::Reverse;
use std::collections::HashMap;

use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::pattern::{
    self, Access, Coverage, Found, Pattern, PatternGroup, PatternPeriod, PatternReport, PatternsReport, Step, alike,
    detect, groups,
};
use crate::period::Verdict;
use crate::period::chains;
use crate::record::{Data, Requests, Series, Timing, Trace, UNKNOWN_OFFSET};
use crate::signal::profile::Profile;
use crate::signal::{Activity, Mode, Selection, Span};

/// Groups, and walks of the same ranks, whose periods are sought, those that move the most bytes first.
const MOST_WALKS: usize = 2000;

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
    if trace.timing == Timing::Order {
        reports.iter_mut().for_each(|p| (p.start_s, p.end_s) = (f64::NAN, f64::NAN));
    }
    let together = |some: &[usize]| match trace.timing {
        Timing::Order => Err("no times: only the order of the accesses is known".into()),
        _ => period(some.iter().flat_map(|&i| found.patterns[i].steps.list()), search),
    };
    let series = Series::of(&trace.files);
    let groups = groups(&reports.iter().collect::<Vec<_>>(), |i| series.number(found.patterns[i].file));
    let groups = with_periods(groups, together);
    annotate(&mut reports, &groups, together);
    let groups = groups.into_iter().map(|(group, _)| group).collect();
    let coverage = Coverage {
        records: found.records,
        matched: found.matched(),
        predicted: found.predicted,
        bytes: found.bytes,
        matched_bytes: found.matched_bytes(),
        folded_patterns: found.unlisted.patterns,
    };
    Ok(Some((PatternsReport { coverage, patterns: reports, groups }, found.patterns)))
}

fn check(found: &Found, requests: &Requests, keep: impl Fn(usize) -> bool) -> Result<()> {
    let accesses = (0..requests.len()).filter(|&i| keep(i)).filter_map(|i| Access::of(&requests.get(i)));
    pattern::verify(found, accesses)
        .map_err(|e| Error::new(ErrorKind::Output, format!("the patterns do not give back the records: {e}")))
}

/// A period, or why there is none.
type Answer = std::result::Result<PatternPeriod, String>;

fn not_sought() -> Answer {
    Err(format!("not sought: {MOST_WALKS} other walks move more bytes"))
}

fn told(answer: Answer) -> (Option<PatternPeriod>, Option<String>) {
    let reason = answer.as_ref().err().cloned();
    (answer.ok(), reason)
}

/// A group, and the places of its patterns.
type Members = (PatternGroup, Vec<usize>);

/// Gives each group the period of its accesses together.
fn with_periods(groups: Vec<Members>, together: impl Fn(&[usize]) -> Answer + Sync) -> Vec<Members> {
    let with_period = |(n, (group, members)): (usize, Members)| {
        let (period, period_reason) = told(if n < MOST_WALKS { together(&members) } else { not_sought() });
        (PatternGroup { period, period_reason, ..group }, members)
    };
    groups.into_par_iter().enumerate().map(with_period).collect()
}

/// The same walk of the same ranks through the files of a group: its number, and the places of the patterns. In the order in which
/// they began.
fn families(reports: &[PatternReport], groups: &[Members]) -> Vec<(usize, Vec<usize>)> {
    let mut families: Vec<(usize, Vec<usize>)> = Vec::new();
    for (number, (_, members)) in groups.iter().enumerate() {
        let walk = |&i: &usize| (reports[i].rank, reports[i].ranks, &reports[i].levels);
        let places = alike(members.iter().map(walk)).into_iter();
        families.extend(places.map(|places| (number, places.into_iter().map(|k| members[k]).collect())));
    }
    families.sort_by_key(|(_, family)| family.first().copied());
    families
}

/// Gives each pattern the period of its own accesses or, if its file is one burst of its family, that of the family.
fn annotate(reports: &mut [PatternReport], groups: &[Members], together: impl Fn(&[usize]) -> Answer + Sync) {
    let mut families = families(reports, groups);
    for (number, (_, family)) in (0u64..).zip(families.iter().filter(|f| f.1.len() > 1)) {
        family.iter().for_each(|&i| reports[i].family = Some(number));
    }
    families.sort_by_cached_key(|f| Reverse(f.1.iter().map(|&i| u128::from(reports[i].bytes)).sum::<u128>()));
    let answers = |(n, (number, family)): (usize, &(usize, Vec<usize>))| -> Vec<Answer> {
        let (group, members) = &groups[*number];
        let of_group = || group.period.ok_or_else(|| group.period_reason.clone().unwrap_or_default());
        let whole = || if members.len() == family.len() { of_group() } else { together(family) };
        match family.len() {
            len if n >= MOST_WALKS => vec![not_sought(); len],
            1 => vec![whole()],
            // of many families in a group without a period some have one by chance
            _ => of_family(reports, family, &of_group().and_then(|_| whole()), |i| together(&[i])),
        }
    };
    let answers: Vec<Vec<Answer>> = families.par_iter().enumerate().map(answers).collect();
    for (&i, answer) in families.iter().flat_map(|f| &f.1).zip(answers.into_iter().flatten()) {
        (reports[i].period, reports[i].period_reason) = told(answer);
    }
}

/// The period of each pattern of a family whose accesses together have the period `whole`.
fn of_family(
    reports: &[PatternReport],
    family: &[usize],
    whole: &Answer,
    own: impl Fn(usize) -> Answer,
) -> Vec<Answer> {
    let mut in_file: HashMap<&str, (f64, f64)> = HashMap::new();
    for p in family.iter().map(|&i| &reports[i]) {
        let extent = in_file.entry(&p.file).or_insert((p.start_s, p.end_s));
        *extent = (extent.0.min(p.start_s), extent.1.max(p.end_s));
    }
    let is_burst = |i: usize, period_s: f64| in_file.get(&*reports[i].file).is_some_and(|(a, b)| b - a < period_s);
    let answer = |&i: &usize| own(i).or_else(|why| whole.clone().ok().filter(|t| is_burst(i, t.period_s)).ok_or(why));
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
