//! A Markov model of earlier runs: the classes of a file when it is opened, before any access (Madhyastha & Reed 1997, section
//! 3.2: "a file as a collection of blocks, and a probabilistic model of transitions between blocks").
//!
//! Hidden states are the phases that the rules found in an earlier run ([`lesson`]); in each there is a chain of blocks
//! ([`chain`]). When a file is opened, the chain of each phase is walked from where each rank begins, and the walk is
//! classified like any other ([`foresee`]). How often a rank comes back to its first block is the number of passes.

mod chain;
mod foresee;
mod lesson;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::lattice::Size;
use crate::error::{Error, ErrorKind, Result};
use crate::record::stem;
use chain::{MOST_ROWS, MOST_WAYS, Row};

pub(crate) use foresee::Known;
pub(crate) use lesson::Lesson;

/// Name of the schema of [`Model`].
pub const MODEL_SCHEMA: &str = "iophase.access-model.v1";
/// Files kept; beyond it those learned first are forgotten.
const MOST_FILES: usize = 20_000;
/// Phases kept of a file.
const MOST_PHASES: usize = 64;
/// Runs of ranks kept of a phase.
const MOST_STARTS: usize = 4096;
/// Ranks of a phase.
const MOST_RANKS: u64 = 1 << 20;

/// What earlier runs did to each file.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    files: Vec<FileModel>,
    exact: HashMap<String, usize>,
    /// By name without digits: the file learned last.
    alike: HashMap<String, usize>,
}

/// A model as it is stored.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    schema: String,
    files: Vec<FileModel>,
}

/// What earlier runs did to a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileModel {
    file: String,
    runs: u64,
    /// Accesses and bytes of the last run.
    accesses: u64,
    bytes: u64,
    /// Every access begins on a multiple of this.
    block_bytes: u64,
    /// Some of the run did not fit.
    cut: bool,
    phases: Vec<Phase>,
}

/// What the ranks of a run did at the same time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Phase {
    staggered: bool,
    size: Size,
    smallest_bytes: u64,
    largest_bytes: u64,
    /// Size of the first request.
    usual_bytes: u64,
    starts: Vec<Start>,
    /// Walks learned from, one a rank or more.
    walks: u64,
    accesses: u64,
    bytes: u64,
    /// Share of the accesses that follow the one before.
    back_to_back: f64,
    /// First and past the last byte, from where a rank begins.
    low_bytes: i64,
    high_bytes: i64,
    rows: Vec<Row>,
}

/// Where neighbouring ranks begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    rank: u32,
    ranks: u64,
    block: u64,
    /// Blocks from one rank to the next.
    step: i64,
}

impl Start {
    /// The first block of the `i`-th rank.
    fn block(&self, i: u64) -> u64 {
        let steps = i64::try_from(i).unwrap_or(i64::MAX);
        self.block.saturating_add_signed(self.step.saturating_mul(steps))
    }
}

impl Default for Model {
    fn default() -> Self {
        Self::of(Vec::new())
    }
}

impl Model {
    /// Largest model that is read, in bytes.
    pub const MOST_BYTES: usize = 256 << 20;

    fn of(mut files: Vec<FileModel>) -> Self {
        let old = files.len().saturating_sub(MOST_FILES);
        files.drain(..old);
        let exact = files.iter().enumerate().map(|(i, f)| (f.file.clone(), i)).collect();
        let alike = files.iter().enumerate().map(|(i, f)| (stem(&f.file), i)).collect();
        Self { files, exact, alike }
    }

    /// Reads a model.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if this is no model, [`ErrorKind::Unsupported`] if it is one of another version,
    /// [`ErrorKind::Limit`] if it is too large.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        if text.len() > Self::MOST_BYTES {
            let found = format!("a model of {} bytes", text.len());
            return Err(Error::new(ErrorKind::Limit, found).expected(format!("at most {} bytes", Self::MOST_BYTES)));
        }
        let malformed =
            |what: String| Error::new(ErrorKind::Malformed, what).expected("a model from `classify --train`");
        let stored: Stored = serde_json::from_slice(text).map_err(|e| malformed(format!("no model: {e}")))?;
        if stored.schema != MODEL_SCHEMA {
            return Err(Error::new(ErrorKind::Unsupported, format!("a model of schema {}", stored.schema))
                .expected(MODEL_SCHEMA)
                .remedy("train it again"));
        }
        if let Some(wrong) = stored.files.iter().find(|f| !f.is_sound()) {
            return Err(malformed(format!("the model of {} cannot be", wrong.file)));
        }
        Ok(Self::of(stored.files))
    }

    /// The model as it is stored.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String> {
        let stored = Stored { schema: MODEL_SCHEMA.into(), files: self.files.clone() };
        serde_json::to_string(&stored).map_err(|e| Error::new(ErrorKind::Output, e.to_string()))
    }

    /// Number of files.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// What is known of a file: of this name, else of the one learned last whose name differs only in its digits.
    pub(crate) fn find(&self, file: &str) -> Option<Known<'_>> {
        let i = self.exact.get(file).or_else(|| self.alike.get(&stem(file)))?;
        self.files.get(*i).map(Known::new)
    }

    /// Adds what a run teaches.
    pub(crate) fn learn(&mut self, lessons: impl IntoIterator<Item = (String, Lesson)>) {
        let mut files = std::mem::take(&mut self.files);
        let mut later: Vec<FileModel> = Vec::new();
        let mut gone: Vec<bool> = vec![false; files.len()];
        for (name, lesson) in lessons {
            let mut next = lesson.finish(&name);
            if let Some(&i) = self.exact.get(&name) {
                next.add(&files[i]);
                gone[i] = true;
            }
            later.push(next);
        }
        let mut gone = gone.into_iter();
        files.retain(|_| !gone.next().unwrap_or(false));
        files.append(&mut later);
        *self = Self::of(files);
    }
}

impl FileModel {
    /// Adds an earlier run. Counts add up if both runs went the same ways; else this one, the later, is believed.
    fn add(&mut self, earlier: &FileModel) {
        self.runs = self.runs.saturating_add(earlier.runs);
        let alike = |a: &Row, b: &Row| {
            (a.state, a.step, a.states) == (b.state, b.step, b.states)
                && a.ways.len() == b.ways.len()
                && a.ways.iter().zip(&b.ways).all(|(x, y)| x.0 == y.0)
        };
        let same = self.block_bytes == earlier.block_bytes
            && self.phases.len() == earlier.phases.len()
            && self
                .phases
                .iter()
                .zip(&earlier.phases)
                .all(|(p, q)| p.rows.len() == q.rows.len() && p.rows.iter().zip(&q.rows).all(|(a, b)| alike(a, b)));
        if !same {
            return;
        }
        for (row, old) in self.phases.iter_mut().zip(&earlier.phases).flat_map(|(p, q)| p.rows.iter_mut().zip(&q.rows))
        {
            row.ends = row.ends.saturating_add(old.ends);
            row.ways.iter_mut().zip(&old.ways).for_each(|(w, o)| w.1 = w.1.saturating_add(o.1));
        }
    }

    /// Could training have made it? What is not bounded elsewhere is bounded here.
    fn is_sound(&self) -> bool {
        let phase = |p: &Phase| {
            let ranks = p.starts.iter().fold(0u64, |sum, s| sum.saturating_add(s.ranks));
            p.starts.len() <= MOST_STARTS
                && (1..=MOST_RANKS).contains(&ranks)
                && p.starts.iter().all(|s| s.ranks > 0 && u64::from(s.rank) + s.ranks <= 1 << 32)
                && p.rows.len() <= MOST_ROWS
                && p.rows.windows(2).all(|w| w[0].state < w[1].state)
                && p.rows.iter().all(|r| r.step >= 0 && r.states > 0 && r.ways.len() <= MOST_WAYS)
                && p.walks > 0
                && p.accesses >= p.walks
                && p.low_bytes <= p.high_bytes
                && (0.0..=1.0).contains(&p.back_to_back)
        };
        self.block_bytes > 0 && self.runs > 0 && self.phases.len() <= MOST_PHASES && self.phases.iter().all(phase)
    }
}
