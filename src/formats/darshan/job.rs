//! The job record: who ran what, when, on how many processes.

use super::header::Header;
use super::region::Region;
use crate::error::Result;
use crate::formats::bytes::{Cursor, until_nul};
use crate::record::{Clock, Job, MOST_TIME_S};

/// Bytes of the job record that are used.
const MAX_BYTES: usize = 4096;
/// Bytes of its metadata field.
const METADATA_BYTES: usize = 1024;

/// The job record of a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobRecord {
    /// User id.
    pub uid: i64,
    /// Start: seconds since 1970 and nanoseconds (0 before format 3.41).
    pub start: (i64, i64),
    /// End: seconds since 1970 and nanoseconds (0 before format 3.41).
    pub end: (i64, i64),
    /// Number of processes as stored; not sure to be positive.
    pub processes: i64,
    /// Job id.
    pub id: i64,
    /// Lines `key=value` of the metadata, in order; `lib_ver` is the release of Darshan.
    pub metadata: Vec<(String, String)>,
    /// Command line.
    pub executable: String,
    /// Mounted file systems: type and path.
    pub mounts: Vec<(String, String)>,
    /// The times have nanoseconds.
    pub fine: bool,
    /// Decompressed bytes of the record.
    pub bytes: usize,
}

impl JobRecord {
    pub(super) fn parse(region: &mut Region, header: &Header) -> Result<JobRecord> {
        let bytes = region.window(MAX_BYTES)?;
        let bytes = &bytes[..bytes.len().min(MAX_BYTES)];
        // between two releases format 3.41 still had the record of 3.40: its metadata then stands where the process count is to be
        let fine = header.version_number >= 341 && !bytes.get(40..).is_some_and(|rest| rest.starts_with(b"lib_ver="));
        let text_at = if fine { 1080 } else { 1064 };
        if bytes.len() < text_at {
            let short = bytes.len();
            return Err(region
                .malformed(format!("the job record ends after {short} bytes"))
                .expected(format!("{text_at} bytes or more")));
        }
        let f = Cursor::record(bytes, header.order);
        let (start, end, rest) = if fine {
            ((f.i64_at(8), f.i64_at(16)), (f.i64_at(24), f.i64_at(32)), 40)
        } else {
            ((f.i64_at(8), 0), (f.i64_at(16), 0), 24)
        };
        let metadata = String::from_utf8_lossy(until_nul(&bytes[rest + 16..rest + 16 + METADATA_BYTES]));
        let text = String::from_utf8_lossy(until_nul(&bytes[text_at..]));
        let mut lines = text.split('\n');
        Ok(JobRecord {
            uid: f.i64_at(0),
            start,
            end,
            processes: f.i64_at(rest),
            id: f.i64_at(rest + 8),
            metadata: metadata
                .lines()
                .filter_map(|l| l.split_once('='))
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .collect(),
            executable: lines.next().unwrap_or_default().to_owned(),
            mounts: lines
                .filter_map(|l| l.split_once('\t'))
                .map(|(kind, path)| (kind.to_owned(), path.to_owned()))
                .collect(),
            fine,
            bytes: bytes.len(),
        })
    }

    /// The record in the words of the event model.
    pub(super) fn facts(&self) -> Job {
        // the text of a log can lack its head
        let known = self.start.0 != 0;
        Job {
            id: Some(self.id).filter(|_| known),
            uid: u64::try_from(self.uid).ok().filter(|_| known),
            executable: Some(self.executable.clone()).filter(|e| !e.is_empty()),
            ranks: self.ranks(),
            start_unix_s: Some(self.start_s()).filter(|_| known),
            end_unix_s: Some(self.end_s()),
            run_time_s: Some(self.run_time_s()),
        }
    }

    /// The clock of the log.
    pub(super) fn clock(&self) -> Clock {
        let start = Clock::job_start(self.start_s());
        Clock { zero_unix_s: start.zero_unix_s.filter(|_| self.start.0 != 0), ..start }
    }

    /// Start in seconds since 1970.
    pub fn start_s(&self) -> f64 {
        self.start.0 as f64 + self.start.1 as f64 * 1e-9
    }

    /// End in seconds since 1970; 0 if it was never written.
    pub fn end_s(&self) -> f64 {
        self.end.0 as f64 + self.end.1 as f64 * 1e-9
    }

    /// Run time in seconds, below 0 if there is no end. Formats before 3.41 know whole seconds only; as Darshan does, one is added.
    pub fn run_time_s(&self) -> f64 {
        let seconds = (self.end.0.saturating_sub(self.start.0) as f64).min(MOST_TIME_S);
        if self.fine { seconds + self.end.1.saturating_sub(self.start.1) as f64 * 1e-9 } else { seconds + 1.0 }
    }

    /// True if the end was never written, as that of a job that was killed.
    pub(super) fn never_ended(&self) -> bool {
        self.end.0 == 0
    }

    /// Number of processes, if it can be one.
    pub fn ranks(&self) -> Option<u64> {
        (1..=1 << 31).contains(&self.processes).then_some(self.processes.unsigned_abs())
    }

    /// Value of a metadata key.
    pub fn meta(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// Type and path of the file system that a file is on: the longest mount path that ends at a `/` of the name.
    pub fn mount(&self, file: &str) -> Option<(&str, &str)> {
        let holds = |path: &str| {
            file.strip_prefix(path.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.mounts.iter().filter(|(_, p)| holds(p)).max_by_key(|(_, p)| p.len()).map(|(k, p)| (k.as_str(), p.as_str()))
    }
}
