//! Classes as programs read them: schema `iophase.classes.v1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::global::GlobalSequentiality;
use super::lattice::{Mix, Sequentiality, Size};
use crate::record::Warning;

/// Name of the schema of [`Classes`].
pub const CLASSES_SCHEMA: &str = "iophase.classes.v1";

/// The classes of all files of a trace.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Classes {
    /// [`CLASSES_SCHEMA`].
    pub schema: String,
    /// The trace, as the user named it.
    pub path: String,
    /// Accesses classified.
    pub records: u64,
    /// Files, in the order of their first access.
    pub files: Vec<FileClasses>,
    /// What a person should know.
    pub warnings: Vec<Warning>,
}

/// The classes of one file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FileClasses {
    /// Its name; `null` if the trace does not tell.
    pub file: Option<String>,
    /// What each rank does, by rank and time.
    pub local: Vec<LocalClass>,
    /// What the job does, by time.
    pub global: Vec<GlobalClass>,
}

/// What one rank does to a file for a while.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
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
}

/// What the job does to a file for a while.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
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
    /// What to set because of it.
    pub advice: Vec<Advice>,
}

/// A policy, why, and what to set.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// Its name.
    pub policy: String,
    /// What in the trace speaks for it.
    pub why: String,
    /// Settings by name.
    pub hints: BTreeMap<String, String>,
}
