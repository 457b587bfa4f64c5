//! Runs that got worse: the last ones of each application, user and size against those before.
//!
//! For bytes, burst length, rate and share of I/O: Mann-Whitney's U test with the normal approximation, corrected for ties and
//! continuity (Mann & Whitney 1947), on the last N and the N runs before; of all tests those with a false discovery rate below 1 %
//! (Benjamini & Hochberg 1995) and medians at least 20 % apart are reported.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

use crate::error::Context;
use crate::query::{Engine, Fleet, write_csv};
use iophase::Result;

/// Runs on each side that a test needs: with fewer no difference can be significant at 1 %.
const LEAST: usize = 6;

/// Arguments of `regressions`.
#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// Folder of the fleet
    #[arg(value_hint = ValueHint::DirPath)]
    pub fleet: PathBuf,
    /// Runs on each side, at most
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub runs: usize,
    /// False discovery rate
    #[arg(long, default_value_t = 0.01, value_name = "SHARE")]
    pub rate: f64,
    /// Smallest change of the median that is reported
    #[arg(long, default_value_t = 0.2, value_name = "SHARE")]
    pub change: f64,
    /// What answers
    #[command(flatten)]
    pub engine: Engine,
}

/// A property that was tested.
#[derive(Debug, Clone, PartialEq)]
struct Test {
    group: [String; 3],
    property: &'static str,
    before: f64,
    after: f64,
    runs: (usize, usize),
    p: f64,
}

impl Test {
    /// Change of the median as a share of the one before.
    fn change(&self) -> f64 {
        self.after / self.before - 1.0
    }

    /// Cells of a line, as in [`HEADING`].
    fn cells(self) -> Vec<String> {
        let numbers = [
            self.before.to_string(),
            self.after.to_string(),
            format!("{:.3}", self.change()),
            self.runs.0.to_string(),
            self.runs.1.to_string(),
            format!("{:.2e}", self.p),
        ];
        self.group.into_iter().chain([self.property.to_owned()]).chain(numbers).collect()
    }
}

const HEADING: &str = "app,user_id,ranks_class,property,median_before,median_after,change,runs_before,runs_after,p";
const PROPERTIES: [&str; 4] = ["bytes", "burst_s", "rate", "io_share"];

/// Application, user and class of ranks.
type Group = [String; 3];
/// Values of each property, in the order of time.
type Values = [Vec<f64>; 4];

/// Compares runs; gives CSV, the least probable first.
///
/// # Errors
/// As [`Engine::open`] and [`Fleet::sql`].
pub fn run(a: &Arguments) -> Result<String> {
    let tests: Vec<Test> = groups(&a.engine.open(&a.fleet)?)?
        .into_iter()
        .flat_map(|(group, values)| {
            PROPERTIES
                .iter()
                .zip(values)
                .filter_map(move |(name, v)| test(&group, name, &v, a.runs))
                .collect::<Vec<_>>()
        })
        .collect();
    let heading = HEADING.split(',').map(str::to_owned).collect();
    let changes = discoveries(tests, a.rate).into_iter().filter(|t| t.change().abs() >= a.change);
    let mut out = Vec::new();
    write_csv(&mut out, [heading].into_iter().chain(changes.map(Test::cells)))?;
    String::from_utf8(out).or_output(Path::new("the answer"))
}

fn groups(fleet: &Fleet) -> Result<BTreeMap<Group, Values>> {
    let answer = fleet.sql(
        "select l.app, l.user_id, cast(floor(log2(l.ranks)) as bigint) as ranks_class, \
         coalesce(l.bytes_read, 0) + coalesce(l.bytes_written, 0) as bytes, s.burst_s, s.rate, l.io_share \
         from logs l left join (select log_key, max(burst_width_median_s) as burst_s, sum(agg_rate) as rate from signals group by log_key) s \
         on s.log_key = l.log_key where l.status in ('ok', 'partial') and l.ranks > 0 and l.start_time is not null \
         order by l.start_time, l.log_key",
    )?;
    let names = ["app", "user_id", "ranks_class"].map(|n| answer.texts(n));
    let [apps, users, classes] = names;
    let (apps, users, classes) = (apps?, users?, classes?);
    let columns = PROPERTIES.iter().map(|n| answer.numbers(n)).collect::<Result<Vec<_>>>()?;
    let mut all: BTreeMap<Group, Values> = BTreeMap::new();
    for (i, group) in apps.into_iter().zip(users).zip(classes).map(|((a, u), c)| [a, u, c]).enumerate() {
        let values = all.entry(group).or_default();
        for (to, column) in values.iter_mut().zip(&columns) {
            to.extend(column[i]);
        }
    }
    Ok(all)
}

fn test(group: &Group, property: &'static str, values: &[f64], most: usize) -> Option<Test> {
    let n = (values.len() / 2).min(most);
    if n < LEAST {
        return None;
    }
    let (rest, after) = values.split_at(values.len() - n);
    let before = &rest[rest.len() - n..];
    let (a, b) = (median(before), median(after));
    (a != 0.0).then(|| Test {
        group: group.clone(),
        property,
        before: a,
        after: b,
        runs: (before.len(), after.len()),
        p: mann_whitney(before, after),
    })
}

fn median(values: &[f64]) -> f64 {
    let mut v = values.to_vec();
    v.sort_by(f64::total_cmp);
    let m = v.len() / 2;
    if v.len() % 2 == 1 { v[m] } else { 0.5 * (v[m - 1] + v[m]) }
}

/// Two-sided p of the U test; 1 if all values are equal, or some cannot be compared.
fn mann_whitney(a: &[f64], b: &[f64]) -> f64 {
    let method = MannWhitneyUMethod::AsymptoticInclContinuityCorrection;
    mannwhitneyu(a, b, method, Alternative::TwoSided).map_or(1.0, |(_, p)| p)
}

/// Benjamini and Hochberg: the tests up to the last one whose p is at most its share of the rate.
fn discoveries(mut tests: Vec<Test>, rate: f64) -> Vec<Test> {
    tests.sort_by(|a, b| a.p.total_cmp(&b.p).then_with(|| (&a.group, a.property).cmp(&(&b.group, b.property))));
    let n = tests.len() as f64;
    let last = tests.iter().enumerate().rposition(|(i, t)| t.p <= rate * (i + 1) as f64 / n);
    tests.truncate(last.map_or(0, |i| i + 1));
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_the_test() {
        // scipy.stats.mannwhitneyu(a, b, method="asymptotic")
        let (a, b) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [4.5, 7.0, 8.0, 9.0, 10.0, 11.0]);
        assert!((mann_whitney(&a, &b) - 0.013_065_226_764_425_975).abs() < 1e-9, "{}", mann_whitney(&a, &b));
        assert_eq!(mann_whitney(&[2.0; 6], &[2.0; 7]), 1.0);
        assert_eq!(mann_whitney(&a, &b), mann_whitney(&b, &a));
    }

    #[test]
    fn the_last_runs_are_compared_with_those_before() {
        let group: Group = Default::default();
        let steady: Vec<f64> = (0..40).map(|i| 100.0 + f64::from(i % 7)).collect();
        let slower: Vec<f64> = steady.iter().enumerate().map(|(i, x)| if i >= 30 { 2.0 * x } else { *x }).collect();
        let p = |v: &[f64]| test(&group, "rate", v, 10).unwrap();
        assert!(p(&steady).p > 0.05 && p(&slower).p < 1e-3);
        assert_eq!(p(&slower).runs, (10, 10));
        assert!(test(&group, "rate", &steady[..11], 10).is_none());
    }

    #[test]
    fn discoveries_end_at_the_last_test_below_its_line() {
        let t = |p| Test { group: Default::default(), property: "rate", before: 1.0, after: 2.0, runs: (9, 9), p };
        let found = discoveries([0.2, 0.001, 0.009, 0.0049, 0.9].map(t).to_vec(), 0.01);
        assert_eq!(found.iter().map(|t| t.p).collect::<Vec<_>>(), [0.001]);
        let found = discoveries([0.004, 0.003, 0.0055].map(t).to_vec(), 0.01);
        assert_eq!(found.len(), 3, "the first is saved by those behind it");
    }
}
