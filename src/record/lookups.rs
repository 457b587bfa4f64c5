//! Calls that look up a path, of traces of single calls.

use std::collections::{BTreeMap, BTreeSet};

/// Folders of failed look-ups that are counted.
const FOLDERS: usize = 1 << 12;

/// Names of removed files that are kept.
const REMOVED: usize = 1 << 16;

/// How often paths were looked up, by any call that takes one: open, stat, access and the like.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Lookups {
    /// Calls.
    pub calls: u64,
    /// Of these, calls that found nothing (`ENOENT`).
    pub missing: u64,
    /// Time of those that found nothing in seconds, of the rank with the most.
    pub missing_s: f64,
    /// Calls in each second of the trace's own clock.
    pub by_second: BTreeMap<i64, u64>,
    /// Calls that found nothing by the folder in which they looked.
    pub folders: BTreeMap<String, u64>,
    /// Files that were removed (`unlink`), at most 65,536.
    pub removed: BTreeSet<String>,
}

impl Lookups {
    /// Adds a call at a second; `missing` has its duration and the folder, if it found nothing.
    pub(crate) fn add(&mut self, second: i64, missing: Option<(f64, Option<&str>)>) {
        self.calls += 1;
        *self.by_second.entry(second).or_default() += 1;
        let Some((duration_s, folder)) = missing else { return };
        self.missing += 1;
        self.missing_s += duration_s;
        if let Some(folder) = folder {
            if let Some(n) = self.folders.get_mut(folder) {
                *n += 1;
            } else if self.folders.len() < FOLDERS {
                self.folders.insert(folder.to_owned(), 1);
            }
        }
    }

    /// Adds a file that was removed.
    pub(crate) fn remove(&mut self, file: &str) {
        if self.removed.len() < REMOVED && !self.removed.contains(file) {
            self.removed.insert(file.to_owned());
        }
    }

    /// Adds those of another rank.
    pub(crate) fn join(&mut self, other: &Lookups) {
        self.calls += other.calls;
        self.missing += other.missing;
        self.missing_s = self.missing_s.max(other.missing_s);
        other.by_second.iter().for_each(|(second, n)| *self.by_second.entry(*second).or_default() += n);
        for file in &other.removed {
            self.remove(file);
        }
        other.folders.iter().for_each(|(folder, n)| *self.folders.entry(folder.clone()).or_default() += n);
    }
}
