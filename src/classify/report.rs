//! Classes as programs read them: schema `iophase.classes.v1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::global::GlobalSequentiality;
use super::lattice::{Mix, Sequentiality, Size, named};
use crate::record::Warning;

/// Name of the schema of [`Classes`].
pub const CLASSES_SCHEMA: &str = "iophase.classes.v1";

/// What gave a class.
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
    /// [`CLASSES_SCHEMA`].
    pub schema: String,
    /// The trace, as the user named it.
    pub path: String,
    /// Accesses classified.
    pub records: u64,
    /// Files, in the order of their first access.
    pub files: Vec<FileClasses>,
    /// What to set for the job as a whole.
    pub advice: Vec<Advice>,
    /// What a person should know.
    pub warnings: Vec<Warning>,
}

/// The classes of one file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FileClasses {
    /// Its name; `null` if the trace does not tell.
    pub file: Option<String>,
    /// What each rank does, by rank and time.
    pub local: Vec<LocalClass>,
    /// What the job does, by time.
    pub global: Vec<GlobalClass>,
    /// Accesses that are in no class, since they are none of the program's data; `null` if there are none.
    pub aside: Option<Aside>,
    /// What earlier runs did, known when the file is opened; `null` without a model that knows the file.
    pub expected: Option<Expected>,
}

/// Small accesses between the data, as a library makes them for itself: headers, indices.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Aside {
    /// The ranks.
    pub ranks: Vec<u32>,
    /// Accesses.
    pub accesses: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Of them, bytes written.
    pub bytes_written: u64,
    /// The largest access, in bytes.
    pub largest_bytes: u64,
}

/// What a model of earlier runs says of a file before it is accessed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Expected {
    /// The file of the earlier runs that is matched: the same name, or one that differs in its digits.
    pub learned_from: String,
    /// Earlier runs.
    pub runs: u64,
    /// How often each rank goes over its bytes, at most.
    pub passes: f64,
    /// Bytes moved.
    pub bytes: u64,
    /// Accesses.
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
    /// Reads and writes.
    pub mix: Mix,
    /// How the ranks walk together.
    pub sequentiality: GlobalSequentiality,
    /// Sizes of the requests.
    pub size: Size,
    /// How often each rank goes over its bytes meanwhile.
    pub passes: f64,
    /// Bytes moved.
    pub bytes: u64,
    /// What to set because of it.
    pub advice: Vec<Advice>,
}

/// What one rank does to a file for a while.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LocalClass {
    /// The rank.
    pub rank: u32,
    /// Its first access.
    pub start_s: f64,
    /// The end of its last access.
    pub end_s: f64,
    /// Reads and writes.
    pub mix: Mix,
    /// How it walks.
    pub sequentiality: Sequentiality,
    /// Sizes of its requests.
    pub size: Size,
    /// Accesses.
    pub accesses: u64,
    /// First byte.
    pub start_offset: u64,
    /// One past the last byte.
    pub end_offset: u64,
    /// What gave the class.
    pub classifier: Classifier,
}

/// What the job does to a file for a while.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct GlobalClass {
    /// From when on all of its ranks are at it; if `staggered`, when the first begins.
    pub start_s: f64,
    /// Until when all of them are; if `staggered`, when the last ends.
    pub end_s: f64,
    /// The ranks.
    pub ranks: Vec<u32>,
    /// Reads and writes.
    pub mix: Mix,
    /// How they walk together.
    pub sequentiality: GlobalSequentiality,
    /// Sizes of the requests.
    pub size: Size,
    /// The ranks come one after the other, not at the same time.
    pub staggered: bool,
    /// Bytes moved.
    pub bytes: u64,
    /// Accesses seen; 0 if the class was known before them.
    pub accesses: u64,
    /// What gave the classes it rests on.
    pub classifier: Classifier,
    /// What to set because of it.
    pub advice: Vec<Advice>,
}

/// A policy, why, and what to set.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Advice {
    /// Its name.
    pub policy: String,
    /// What in the trace speaks for it.
    pub why: String,
    /// Settings by name.
    pub hints: BTreeMap<String, String>,
}
