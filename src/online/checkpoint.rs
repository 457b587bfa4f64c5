//! The state of a predictor on disk, to go on after the process was ended at any moment.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::jobs::Jobs;
use super::source::Mark;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::tail::{Faults, Form};

/// Name and version of the file.
const SCHEMA: &str = "iophase.predict-state.v5";

/// How a source was read, and up to where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The place; `None` for standard input, which cannot be read again.
    pub mark: Option<Mark>,
    /// The form of the source.
    pub form: Form,
}

/// Everything that is needed to go on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Checkpoint {
    schema: String,
    /// Place in the source; `None` for sockets.
    pub reading: Option<Reading>,
    /// Faults of the input so far.
    pub faults: Faults,
    /// The jobs.
    pub jobs: Jobs,
}

#[derive(Deserialize)]
struct Version {
    schema: String,
}

impl Checkpoint {
    /// A checkpoint of this moment.
    pub fn new(reading: Option<Reading>, faults: Faults, jobs: Jobs) -> Self {
        Checkpoint { schema: SCHEMA.into(), reading, faults, jobs }
    }

    /// As it is stored.
    ///
    /// # Errors
    /// [`ErrorKind::Output`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(|e| Error::new(ErrorKind::Output, format!("the state cannot be stored: {e}")))
    }

    /// Reads a stored checkpoint; `None` if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], [`ErrorKind::Malformed`].
    pub fn load(path: &Path) -> Result<Option<Checkpoint>> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::from(e).in_file(path.display().to_string())),
        };
        Checkpoint::of_bytes(&bytes).map(Some).map_err(|e| e.in_file(path.display().to_string()))
    }

    /// The checkpoint that is stored as these bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`].
    pub fn of_bytes(bytes: &[u8]) -> Result<Checkpoint> {
        let wrong = |what: String| {
            Error::new(ErrorKind::Malformed, what)
                .expected(format!("a state of {SCHEMA}"))
                .remedy("remove it to begin anew")
        };
        let no_state = |e: serde_json::Error| wrong(format!("no state of a predictor: {e}"));
        // of another version the rest has another form
        let Version { schema } = serde_json::from_slice(bytes).map_err(no_state)?;
        if schema != SCHEMA {
            return Err(wrong(format!("a state of {schema}")));
        }
        serde_json::from_slice(bytes).map_err(no_state)
    }
}

/// Stores bytes at `path` so that at every moment either the old or the new ones are there, whole.
///
/// # Errors
/// [`ErrorKind::Output`].
pub fn store(path: &Path, bytes: &[u8]) -> Result<()> {
    crate::draft::store(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tail::Message;
    use crate::online::Options;
    use crate::record::{Interval, Op};

    /// A state as this version stores it: twelve bursts, 10 s apart. `BLESS=1` stores it anew, which needs a new version once one is
    /// released.
    const STORED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/predict-state.v5.json");

    fn burst(i: u32) -> Message {
        let start = 10.0 * f64::from(i);
        let row = Interval { op: Op::Write, start, end: start + 1.0, bytes: 1e6, ..Interval::default() };
        Message { job: None, ranks: Some(4), transfers: vec![row] }
    }

    #[test]
    fn a_stored_state_is_read_and_goes_on_as_the_run_that_stored_it() {
        let mut jobs = Jobs::new(Options::default(), 2);
        for i in 0..12 {
            jobs.feed(&burst(i)).predict();
        }
        if std::env::var_os("BLESS").is_some() {
            fs::write(STORED, Checkpoint::new(None, Faults::default(), jobs.clone()).to_bytes().unwrap()).unwrap();
        }
        let mut stored = Checkpoint::load(Path::new(STORED)).unwrap().expect("a stored state");
        for i in 12..15 {
            let (here, there) = (jobs.feed(&burst(i)).predict(), stored.jobs.feed(&burst(i)).predict());
            assert!(here.period_s.is_some_and(|t| (t - 10.0).abs() < 1e-6) && here.state.is_some());
            assert_eq!(here, there);
        }
    }

    #[test]
    fn a_state_of_another_version_is_refused_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state");
        let old =
            r#"{"schema":"iophase.predict-state.v4","reading":{"mark":null,"form":{"csv":"op,size,start"}},"jobs":{}}"#;
        fs::write(&path, old).unwrap();
        let e = Checkpoint::load(&path).unwrap_err().to_string();
        assert!(e.contains("a state of iophase.predict-state.v4; expected a state of iophase.predict-state.v5"), "{e}");
        assert!(e.ends_with("remove it to begin anew"), "{e}");
    }
}
