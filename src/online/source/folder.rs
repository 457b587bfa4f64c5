//! A folder that grows: one file per rank of one job, as `strace -ff -o FOLDER/trace` writes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::file::{GrowingFile, Grown};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::Limits;
use crate::formats::tail::{Faults, Message, Tail};

/// Bytes read at once.
const BLOCK: usize = 256 << 10;

/// A file of the folder.
struct Member {
    file: GrowingFile,
    tail: Tail,
    /// It is of no format that can be followed.
    foreign: bool,
}

/// See the module. Files that appear later are followed, too; subfolders and hidden files are not.
pub struct GrowingFolder {
    path: PathBuf,
    format: Option<String>,
    limits: Limits,
    members: BTreeMap<PathBuf, Member>,
}

impl GrowingFolder {
    /// A folder whose files have this format, or one told by their content.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a format that cannot be followed.
    pub fn new(path: &Path, format: Option<&str>, limits: &Limits) -> Result<GrowingFolder> {
        Tail::new(format, limits)?;
        Ok(GrowingFolder {
            path: path.to_owned(),
            format: format.map(str::to_owned),
            limits: limits.clone(),
            members: BTreeMap::new(),
        })
    }

    /// The messages that have come since the last call, of all files, by the start of their first transfer. With `end`, last
    /// lines without an end count as whole.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub fn read(&mut self, end: bool) -> Result<Vec<Message>> {
        self.look_for_files()?;
        let mut messages = Vec::new();
        let mut block = vec![0; BLOCK];
        for member in self.members.values_mut().filter(|m| !m.foreign) {
            loop {
                match member.file.read(&mut block)? {
                    Grown::Bytes(n) => member.tail.push(&block[..n]),
                    Grown::Anew => member.tail.restart(),
                    Grown::Nothing => {
                        if end {
                            member.tail.end();
                        }
                        member.take(&mut messages);
                        break;
                    }
                }
                member.take(&mut messages);
            }
        }
        let start = |m: &Message| m.transfers.first().map_or(f64::NEG_INFINITY, |t| t.start);
        messages.sort_by(|a, b| start(a).total_cmp(&start(b)));
        Ok(messages)
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
            if member.foreign {
                all.add(|| format!("{}: not a format that can be followed", path.display()));
            }
        }
        all
    }

    /// True if some file is of no format that can be followed.
    pub fn has_foreign(&self) -> bool {
        self.members.values().any(|m| m.foreign)
    }

    fn look_for_files(&mut self) -> Result<()> {
        let failed = |e: std::io::Error| Error::new(ErrorKind::Io, e.to_string());
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let hidden = path.file_name().is_none_or(|n| n.to_string_lossy().starts_with('.'));
            if hidden || self.members.contains_key(&path) || !path.is_file() {
                continue;
            }
            let tail = Tail::new(self.format.as_deref(), &self.limits)?;
            let file = GrowingFile::open(&path)?;
            self.members.insert(path, Member { file, tail, foreign: false });
        }
        Ok(())
    }
}

impl Member {
    fn take(&mut self, messages: &mut Vec<Message>) {
        loop {
            match self.tail.next_message() {
                Ok(Some(m)) => messages.push(m),
                Ok(None) => return,
                Err(_) => {
                    self.foreign = true;
                    return;
                }
            }
        }
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
        let starts = |messages: Vec<Message>| {
            messages.iter().flat_map(|m| &m.transfers).map(|t| t.start % 60.0).collect::<Vec<_>>()
        };
        fs::write(dir.path().join("t.1"), call(1) + &call(5)).unwrap();
        fs::write(dir.path().join("t.2"), call(2) + &call(4)).unwrap();
        fs::write(dir.path().join("README"), "how this was recorded\n").unwrap();
        let mut folder = GrowingFolder::new(dir.path(), None, &Limits::default()).unwrap();
        assert_eq!(starts(folder.read(false).unwrap()), [1.0, 2.0, 4.0, 5.0]);
        assert_eq!(folder.faults().malformed, 1);
        fs::write(dir.path().join("t.3"), call(7)).unwrap();
        let mut first = fs::OpenOptions::new().append(true).open(dir.path().join("t.1")).unwrap();
        first.write_all((call(6) + call(8).trim_end()).as_bytes()).unwrap();
        assert_eq!(starts(folder.read(false).unwrap()), [6.0, 7.0]);
        assert_eq!(starts(folder.read(true).unwrap()), [8.0]);
    }
}
