//! Classes as programs read them: schema `iophase.classes.v1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::global::GlobalSequentiality;
use super::lattice::{Mix, Sequentiality, Size, named};
use crate::record::Warning;

/// Name of the schema of [`Classes`].
pub const CLASSES_SCHEMA: &str = "iophase.classes.v1";

/// Method that assigned a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Classifier {
    /// The rules of the automaton.
    Rules,
    /// The network, after a window of accesses.
    Network,
    /// The Markov model of earlier runs, before any access.
    Markov,
}

impl Classifier {
    named!(pub Rules = "rules", Network = "network", Markov = "markov");
}

/// The classes of all files of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Classes {
    /// Name and version of the schema.
    pub schema: String,
    /// Path of the trace as the user gave it.
    pub path: String,
    /// Number of accesses classified.
    pub records: u64,
    /// Files, in the order of their first access.
    pub files: Vec<FileClasses>,
    /// Settings for the job as a whole.
    pub advice: Vec<Advice>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

impl Classes {
    /// Takes out times that stand for an order only.
    pub(super) fn without_times(&mut self) {
        for f in &mut self.files {
            f.local.iter_mut().for_each(|l| (l.start_s, l.end_s) = (f64::NAN, f64::NAN));
            f.global.iter_mut().for_each(|g| (g.start_s, g.end_s) = (f64::NAN, f64::NAN));
        }
    }
}

/// The classes of one file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FileClasses {
    /// Name of the file; `null` if the trace does not say.
    pub file: Option<String>,
    /// Classes of the single ranks, by rank and time.
    pub local: Vec<LocalClass>,
    /// Classes of the whole job, by time.
    pub global: Vec<GlobalClass>,
    /// Accesses that are in no class, since they are none of the program's data; `null` if there are none.
    pub aside: Option<Aside>,
    /// Behaviour of earlier runs, known when the file is opened; `null` without a model that knows the file.
    pub expected: Option<Expected>,
}

/// Small accesses between the data, as a library makes them for itself: headers, indices.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Aside {
    /// Ranks that make them.
    pub ranks: Vec<u32>,
    /// Number of accesses.
    pub accesses: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Bytes written, of those moved.
    pub bytes_written: u64,
    /// Size of the largest access in bytes.
    pub largest_bytes: u64,
}

/// The forecast of a model of earlier runs for a file, before it is accessed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Expected {
    /// The file of the earlier runs that is matched: the same name, or one that differs in its digits.
    pub learned_from: String,
    /// Number of earlier runs.
    pub runs: u64,
    /// How often each rank goes over its bytes, at most.
    pub passes: f64,
    /// Bytes moved.
    pub bytes: u64,
    /// Number of accesses.
    pub accesses: u64,
    /// Classes in the order in which they come.
    pub global: Vec<ExpectedClass>,
}

/// A class that a file will have for a while.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ExpectedClass {
    /// Number of ranks.
    pub ranks: u64,
    /// Whether there are reads, writes or both.
    pub mix: Mix,
    /// Order of the offsets, over all ranks.
    pub sequentiality: GlobalSequentiality,
    /// Sizes of the requests, and whether they vary.
    pub size: Size,
    /// How often each rank goes over its bytes meanwhile.
    pub passes: f64,
    /// Bytes moved.
    pub bytes: u64,
    /// Settings that follow from it.
    pub advice: Vec<Advice>,
}

/// The access class of one rank in a file during one time window.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LocalClass {
    /// Rank.
    pub rank: u32,
    /// Start of the first access, seconds on the trace's own clock; `null` (not a number) if the accesses have no times.
    #[schemars(with = "Option<f64>")]
    pub start_s: f64,
    /// End of the last access, seconds on the trace's own clock; `null` (not a number) if the accesses have no times.
    #[schemars(with = "Option<f64>")]
    pub end_s: f64,
    /// Whether there are reads, writes or both.
    pub mix: Mix,
    /// Order of the offsets.
    pub sequentiality: Sequentiality,
    /// Sizes of the requests, and whether they vary.
    pub size: Size,
    /// Number of accesses.
    pub accesses: u64,
    /// Offset of the first byte.
    pub start_offset: u64,
    /// Offset one past the last byte.
    pub end_offset: u64,
    /// Method that gave the class.
    pub classifier: Classifier,
}

/// The access class of the whole job in a file during one time window.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct GlobalClass {
    /// Start of the first access of its ranks, seconds on the trace's own clock; `null` (not a number) if they have no times.
    #[schemars(with = "Option<f64>")]
    pub start_s: f64,
    /// End of the last access of its ranks, seconds on the trace's own clock; `null` (not a number) if they have no times.
    #[schemars(with = "Option<f64>")]
    pub end_s: f64,
    /// Ranks of the class.
    pub ranks: Vec<u32>,
    /// Whether there are reads, writes or both.
    pub mix: Mix,
    /// Order of the offsets, over all ranks.
    pub sequentiality: GlobalSequentiality,
    /// Sizes of the requests, and whether they vary.
    pub size: Size,
    /// The ranks come one after the other, not at the same time.
    pub staggered: bool,
    /// Bytes moved.
    pub bytes: u64,
    /// Number of accesses seen; 0 if the class was known before them.
    pub accesses: u64,
    /// Method that gave the local classes below.
    pub classifier: Classifier,
    /// Settings that follow from it.
    pub advice: Vec<Advice>,
}

/// A policy, why, and what to set.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Advice {
    /// Name of the policy.
    pub policy: String,
    /// Reason, from the trace.
    pub why: String,
    /// Settings: value by name.
    pub hints: BTreeMap<String, String>,
}
