//! Folders of traces: which files are traces, and which of them belong to one job.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::source::entries;
use super::{Format, Limits, Source, probe};
use crate::error::{Error, ErrorKind, Result};

/// A trace in a folder: the files of one job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FolderTrace {
    /// The file; of several files the folder if all its traces are of this job, else the first of them.
    pub name: PathBuf,
    /// The files, in the order of their names.
    pub files: Vec<PathBuf>,
}

impl FolderTrace {
    /// Opens the trace.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn open(&self, limits: &Limits) -> Result<Source> {
        match &self.files[..] {
            [file] => Source::open(file, limits),
            files => Ok(Source::of_files(self.name.display().to_string(), files.to_vec())),
        }
    }
}

/// Contents of a folder and of the folders in it.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Folder {
    /// The traces: those of a folder in the order of their names, before those of the folders in it.
    pub traces: Vec<FolderTrace>,
    /// Files that are no trace.
    pub others: Vec<PathBuf>,
    /// Files and folders that cannot be read.
    pub unreadable: Vec<Error>,
}

/// Searches a folder and the folders in it for traces, of the named format or of any. Files of one job in the same folder are one
/// trace. Symbolic links are followed; a folder that is reached twice is searched once.
///
/// # Errors
/// [`ErrorKind::Limit`] if there are too many files.
pub fn search(folder: &Path, format: Option<&dyn Format>, limits: &Limits) -> Result<Folder> {
    let mut found = Folder::default();
    let mut seen = HashSet::new();
    let mut waiting = vec![folder.to_owned()];
    let mut files = 0;
    while let Some(folder) = waiting.pop() {
        let unreadable = |e: Error| e.in_file(folder.display().to_string());
        match identity(&folder) {
            Ok(id) if !seen.insert(id) => continue,
            Ok(_) => {}
            Err(e) => {
                found.unreadable.push(unreadable(e));
                continue;
            }
        }
        match entries(&folder, limits) {
            Ok((members, mut folders)) => {
                files += members.len();
                if files > limits.folder_files {
                    return Err(unreadable(Error::limit("the folders hold more files", limits.folder_files)));
                }
                add_traces(&folder, &members, format, limits, &mut found);
                folders.reverse();
                waiting.append(&mut folders);
            }
            Err(e) if e.kind() == ErrorKind::Limit => return Err(unreadable(e)),
            Err(e) => found.unreadable.push(unreadable(e)),
        }
    }
    Ok(found)
}

/// Adds the traces among the files of one folder.
fn add_traces(folder: &Path, members: &[PathBuf], format: Option<&dyn Format>, limits: &Limits, found: &mut Folder) {
    let mut jobs = Jobs::default();
    let before = found.traces.len();
    for path in members {
        let source = match Source::open(path, limits) {
            Ok(s) => s,
            Err(e) => {
                found.unreadable.push(e);
                continue;
            }
        };
        match probe(&source) {
            Ok(f) if format.is_none_or(|named| named.name() == f.name()) => match jobs.place(f, &source) {
                Some(i) => found.traces[before + i].files.push(path.clone()),
                None => found.traces.push(FolderTrace { name: path.clone(), files: vec![path.clone()] }),
            },
            _ => found.others.push(path.clone()),
        }
    }
    if let [only] = &mut found.traces[before..]
        && only.files.len() > 1
    {
        only.name = folder.to_owned();
    }
}

/// The jobs of the files of one folder.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// Number of jobs.
    pub count: usize,
    shared: HashMap<(&'static str, String), usize>,
}

impl Jobs {
    /// The number of the job that a file belongs to if the job is known; `None` if the file begins a new one.
    pub fn place(&mut self, format: &dyn Format, source: &Source) -> Option<usize> {
        let number = self.count;
        if let Some(job) = format.job_of(source)
            && let known = *self.shared.entry((format.name(), job)).or_insert(number)
            && known < number
        {
            return Some(known);
        }
        self.count += 1;
        None
    }
}

/// Device and inode, which stay the same whatever the links on the way.
#[cfg(unix)]
fn identity(folder: &Path) -> Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(folder)?;
    Ok((meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn identity(folder: &Path) -> Result<PathBuf> {
    Ok(std::fs::canonicalize(folder)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const CALL: &str = "1 00:00:01.5 write(3, \"x\", 1) = 1 <0.1>\n";

    fn names(found: &Folder, root: &Path) -> Vec<(String, usize)> {
        let name = |p: &Path| p.strip_prefix(root).unwrap().display().to_string();
        found.traces.iter().map(|t| (name(&t.name), t.files.len())).collect()
    }

    #[test]
    fn files_of_one_job_are_one_trace() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for name in ["b/run_h_9.st", "b/run_h_10.st", "c/one_h_1.st", "c/two_h_1.st", "c/two_h_2.st", "out.7", "out.8"]
        {
            write(name, CALL);
        }
        write("a.csv", "rank,op,file,offset,size,start,end\n0,write,f,0,10,0,1\n");
        write("b/notes", "nothing to see here");
        write("empty", "");
        write(".hidden.st", CALL);
        let found = search(root.path(), None, &Limits::default()).unwrap();
        let expected = [("a.csv", 1), ("out.7", 2), ("b", 2), ("c/one_h_1.st", 1), ("c/two_h_1.st", 2)];
        assert_eq!(names(&found, root.path()), expected.map(|(n, k)| (n.to_owned(), k)));
        assert_eq!((found.others.len(), found.unreadable.len()), (2, 0));
        let strace = super::super::find("strace").unwrap();
        assert_eq!(search(root.path(), Some(strace), &Limits::default()).unwrap().traces.len(), 4);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_loops_end() {
        let root = tempfile::tempdir().unwrap();
        let (real, links) = (root.path().join("real"), root.path().join("links"));
        fs::create_dir(&real).unwrap();
        fs::create_dir(&links).unwrap();
        fs::write(real.join("x.st"), CALL).unwrap();
        std::os::unix::fs::symlink(real.join("x.st"), links.join("y.st")).unwrap();
        std::os::unix::fs::symlink(&links, links.join("loop")).unwrap();
        std::os::unix::fs::symlink(root.path().join("gone"), links.join("broken")).unwrap();
        let found = search(&links, None, &Limits::default()).unwrap();
        assert_eq!(names(&found, root.path()), [("links/y.st".to_owned(), 1)]);
        std::os::unix::fs::symlink(&real, links.join("real")).unwrap();
        assert_eq!(search(root.path(), None, &Limits::default()).unwrap().traces.len(), 2);
    }
}
