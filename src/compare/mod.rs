//! Comparison: what changed between two runs, or two sets of runs, and what explains it.
//!
//! ```
//! use std::slice::from_ref;
//!
//! use iophase::compare::{Options, Outcome, Run, compare};
//!
//! let run = Run::of(&iophase::read("data/stable.darshan")?, &[], &Options::default())?;
//! let found = compare(from_ref(&run), from_ref(&run), &Options::default())?;
//! assert_eq!(found.verdict, Outcome::Same);
//! # Ok::<(), iophase::Error>(())
//! ```
//!
//! [`Run::of`] takes the facts of a run from its trace, [`compare`] sets two lists of them against each other.
//!
//! * The verdict is about time in I/O. Samples are the bursts of the dominant period, or with three runs on each side the runs. The
//!   interval is that of Hodges and Lehmann or of Welch, the p value that of Mann and Whitney, after Holm over all rows.
//! * If bytes or files differ, the verdict is `different-work`: then only rates can be compared.
//! * Reasons share the difference among them: time of the slowest rank = imbalance × Σ bytes / ranks × time per byte, decomposed by
//!   logarithmic means (`decompose`).
//! * Nothing depends on which run comes first but signs.

mod decompose;
mod differences;
mod files;
mod reasons;
mod report;
mod run;
mod samples;
mod stats;
#[cfg(all(test, feature = "cli"))]
mod tests;
mod thresholds;

internal! { use report::COMPARISON_SCHEMA; }
internal! { use run::run_knowing; }
pub(crate) use report::View;
pub use report::{
    Basis, Comparison, Fact, FileChange, FindingChange, FindingChanges, GraphChange, IoTimeChange, Outcome,
    PatternChange, Reason, Row, Side,
};
pub(crate) use run::Curve;
pub use run::Run;
pub(crate) use stats::level;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::analysis::Tool;
use crate::error::{Error, ErrorKind, Result};
use crate::findings;
use samples::Sides;
use thresholds::Thresholds;

/// Order by which the ranks of two runs are paired in pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Match {
    /// Equal numbers.
    #[default]
    Rank,
    /// In the order of their bytes.
    Size,
    /// In the order of their time in I/O.
    Time,
}

options! {
    /// Options of a comparison.
    #[derive(Debug, Clone, Default)]
    pub struct Options {
        /// Which ranks belong together.
        pub matching: Match,
        /// Configuration in TOML: thresholds in `[compare]`, and everything that [findings](crate::findings::Options::config) take.
        pub config: Option<String>,
    }
}

/// The section of a configuration that is read here.
#[derive(Default, Deserialize)]
struct Configuration {
    #[serde(default)]
    compare: BTreeMap<String, f64>,
}

impl Options {
    /// Checks the options before any trace is read.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if the configuration is no TOML, [`ErrorKind::Usage`] for names that do not exist.
    pub fn check(&self) -> Result<()> {
        self.findings().check()?;
        self.limits().map(|_| ())
    }

    fn findings(&self) -> findings::Options {
        findings::Options::default().config(self.config.clone())
    }

    fn limits(&self) -> Result<Thresholds> {
        let text = self.config.as_deref().unwrap_or_default();
        let given: Configuration =
            toml::from_str(text).map_err(|e| Error::new(ErrorKind::Malformed, e.message().replace('\n', " ")))?;
        Thresholds::with(&given.compare)
    }
}

/// Compares runs before with runs after.
///
/// # Errors
/// [`ErrorKind::Usage`] if there is no run on a side, and of the thresholds.
pub fn compare(before: &[Run], after: &[Run], options: &Options) -> Result<Comparison> {
    if before.is_empty() || after.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "one side has no run").expected("runs before and after"));
    }
    let s = Sides { before, after, limits: options.limits()? };
    let bursts = s.bursts();
    let pairs = files::pair(&before[0].families, &after[0].families);
    let different = differences::Differences::of(&s, &pairs);
    let io_time = s.io_time();
    let verdict = s.verdict(&io_time, &bursts, &pairs);
    let (reasons, time) = reasons::reasons(&s, &bursts, &different);
    let side = |runs: &[Run]| Side { traces: runs.iter().map(|r| r.trace.clone()).collect() };
    let unchanged = different.unchanged(&s, &bursts);
    Ok(Comparison {
        schema: COMPARISON_SCHEMA.into(),
        tool: Tool::this(),
        before: side(before),
        after: side(after),
        verdict,
        io_time,
        reasons,
        job: different.job,
        periods: different.periods,
        bursts: bursts.into_iter().filter(|b| b.differs).map(|b| b.row).collect(),
        layers: different.layers,
        time,
        files: different.files,
        patterns: different.patterns,
        findings: different.findings,
        graph: different.graph,
        unchanged,
        warnings: different.warnings,
        view: s.view(options.matching),
    })
}
