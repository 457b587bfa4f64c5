//! A Markov model of earlier runs: the classes of a file when it is opened, before any access (Madhyastha & Reed 1997, section
//! 3.2: "a file as a collection of blocks, and a probabilistic model of transitions between blocks").
//!
//! Hidden states are the phases that the rules found in an earlier run ([`sample`]); in each there is a chain of blocks
//! ([`chain`]). When a file is opened, the chain of each phase is walked from where each rank begins, and the walk is
//! classified like any other ([`predict`]). The number of passes is how often a rank returns to its first block.

mod chain;
mod file_model;
mod predict;
mod sample;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::access::Settings;
use crate::error::{Error, ErrorKind, Result};
use crate::record::stem;
use file_model::FileModel;

pub(crate) use predict::Predicted;
pub(crate) use sample::TrainingSample;

/// Name of the schema of [`Model`].
pub const MODEL_SCHEMA: &str = "iophase.access-model.v1";
/// Files kept; beyond that, those learned first are dropped.
const MOST_FILES: usize = 20_000;

/// Models of the files of earlier runs.
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
        let malformed = |what: String| Error::new(ErrorKind::Malformed, what).expected("a trained model");
        let stored: Stored = serde_json::from_slice(text).map_err(|e| malformed(format!("no model: {e}")))?;
        if stored.schema != MODEL_SCHEMA {
            return Err(Error::new(ErrorKind::Unsupported, format!("a model of schema {}", stored.schema))
                .expected(MODEL_SCHEMA)
                .remedy("train it again"));
        }
        if let Some(wrong) = stored.files.iter().find(|f| !f.is_sound()) {
            return Err(malformed(format!("the model of {} is inconsistent", wrong.file)));
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

    /// The classes of a file of this name, else of the one learned last whose name differs only in its digits.
    pub(crate) fn predict(&self, file: &str, settings: Settings) -> Option<Predicted> {
        let i = self.exact.get(file).or_else(|| self.alike.get(&stem(file)))?;
        self.files.get(*i).map(|model| model.predict(settings, file))
    }

    /// Adds the samples of a run.
    pub(crate) fn learn(&mut self, samples: impl IntoIterator<Item = (String, TrainingSample)>) {
        let mut files: Vec<Option<FileModel>> = std::mem::take(&mut self.files).into_iter().map(Some).collect();
        for (name, sample) in samples {
            let mut next = sample.finish(&name);
            let earlier = self.exact.get(&name).and_then(|&i| files[i].take());
            earlier.iter().for_each(|earlier| next.add(earlier));
            files.push(Some(next));
        }
        *self = Self::of(files.into_iter().flatten().collect());
    }
}
