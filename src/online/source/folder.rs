//! A folder that grows: one file per rank of one job, as `strace -ff -o FOLDER/trace` writes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::file::{GrowingFile, Grown};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::ReadOptions;
use crate::formats::tail::{Faults, Message, Tail};
use crate::record::Clock;

/// Bytes read at once.
const BLOCK: usize = 256 << 10;

/// A file of the folder.
struct Member {
    file: GrowingFile,
    tail: Tail,
    /// The next message, read ahead to find the earliest of all files.
    next: Option<Message>,
    /// It had nothing more when it was looked at last.
    exhausted: bool,
    /// It is of no format that can be followed.
    foreign: bool,
}

/// See the module. Files that appear later are followed, too; subfolders and hidden files are not.
pub struct GrowingFolder {
    path: PathBuf,
    format: Option<String>,
    options: ReadOptions,
    members: BTreeMap<PathBuf, Member>,
    block: Vec<u8>,
}

impl GrowingFolder {
    /// A folder whose files have this format, or the one that their content or the options show.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a format that cannot be followed.
    pub fn new(path: &Path, format: Option<&str>, options: &ReadOptions) -> Result<GrowingFolder> {
        Tail::new(format, &options.limits)?;
        Ok(GrowingFolder {
            path: path.to_owned(),
            format: format.map(str::to_owned),
            options: options.clone(),
            members: BTreeMap::new(),
            block: vec![0; BLOCK],
        })
    }

    /// Looks for new files, and for more in those known.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub fn poll(&mut self) -> Result<()> {
        let failed = |e: std::io::Error| Error::new(ErrorKind::Io, e.to_string());
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let hidden = path.file_name().is_none_or(|n| n.to_string_lossy().starts_with('.'));
            if hidden || self.members.contains_key(&path) || !path.is_file() {
                continue;
            }
            let tail = Tail::new(self.format.as_deref(), &self.options.limits)?.with(&self.options);
            let file = GrowingFile::open(&path)?;
            self.members.insert(path, Member { file, tail, next: None, exhausted: false, foreign: false });
        }
        self.members.values_mut().for_each(|m| m.exhausted = m.foreign);
        Ok(())
    }

    /// The next message, of those of all files the one that starts first; `None` if there is nothing more until
    /// [`GrowingFolder::poll`] finds it. With `end`, last lines without an end count as whole.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub fn next_message(&mut self, end: bool) -> Result<Option<Message>> {
        for member in self.members.values_mut() {
            member.read_ahead(&mut self.block, end)?;
        }
        let waiting = self.members.values_mut().filter(|m| m.next.is_some());
        let first = waiting.min_by(|a, b| a.next_start_s().total_cmp(&b.next_start_s()));
        Ok(first.and_then(|m| m.next.take()))
    }

    /// Lines of all files that could not be read, and files of no format that can be followed.
    pub fn faults(&self) -> Faults {
        let mut all = Faults::default();
        for (path, member) in &self.members {
            let faults = member.tail.faults();
            all.malformed += faults.malformed;
            if let (None, Some(first)) = (&all.first, &faults.first) {
                all.first = Some(format!("{}: {first}", path.display()));
            }
            if member.is_foreign() {
                all.add(|| format!("{}: not a format that can be followed", path.display()));
            }
        }
        all
    }

    /// What the times count from, as the first file says that can be followed.
    pub fn clock(&self) -> Clock {
        let followed = self.members.values().find(|m| !m.foreign && m.tail.form().is_some());
        followed.map_or(Clock::default(), |m| m.tail.clock())
    }

    /// True if some file is of no format that can be followed.
    pub fn has_foreign(&self) -> bool {
        self.members.values().any(Member::is_foreign)
    }
}

impl Member {
    /// True if what has come is of no format that can be followed.
    fn is_foreign(&self) -> bool {
        self.foreign || self.tail.is_undecided()
    }

    /// Reads up to the next message, if there is one.
    fn read_ahead(&mut self, block: &mut [u8], end: bool) -> Result<()> {
        while self.next.is_none() && !self.exhausted {
            let mut read = self.tail.next_message();
            if matches!(read, Ok(None)) {
                match self.file.read(block)? {
                    Grown::Bytes(n) => {
                        self.tail.push(&block[..n]);
                        continue;
                    }
                    Grown::Anew => {
                        self.tail.restart();
                        continue;
                    }
                    Grown::Nothing if end => {
                        self.tail.end();
                        read = self.tail.next_message();
                    }
                    Grown::Nothing => {}
                }
            }
            self.foreign = read.is_err();
            self.next = read.unwrap_or_default();
            self.exhausted = self.next.is_none();
        }
        Ok(())
    }

    fn next_start_s(&self) -> f64 {
        self.next.as_ref().and_then(|m| m.transfers.first()).map_or(f64::NEG_INFINITY, |t| t.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn rows_of_all_files_come_by_time_also_of_later_files() {
        let dir = tempfile::tempdir().unwrap();
        let call = |t: u32| format!("10:00:{t:02}.000000 write(3</scratch/x>, \"a\"..., 4096) = 4096 <0.100000>\n");
        let starts = |folder: &mut GrowingFolder, end: bool| {
            folder.poll().unwrap();
            let messages = std::iter::from_fn(|| folder.next_message(end).unwrap());
            messages.flat_map(|m| m.transfers).map(|t| t.start % 60.0).collect::<Vec<_>>()
        };
        fs::write(dir.path().join("t.1"), call(1) + &call(5)).unwrap();
        fs::write(dir.path().join("t.2"), call(2) + &call(4)).unwrap();
        fs::write(dir.path().join("README"), "how this was recorded\n").unwrap();
        let mut folder = GrowingFolder::new(dir.path(), None, &ReadOptions::default()).unwrap();
        assert_eq!(starts(&mut folder, false), [1.0, 2.0, 4.0, 5.0]);
        assert_eq!(folder.faults().malformed, 1);
        fs::write(dir.path().join("t.3"), call(7)).unwrap();
        let mut first = fs::OpenOptions::new().append(true).open(dir.path().join("t.1")).unwrap();
        first.write_all((call(6) + call(8).trim_end()).as_bytes()).unwrap();
        assert_eq!(starts(&mut folder, false), [6.0, 7.0]);
        assert_eq!(starts(&mut folder, true), [8.0]);
    }
}
