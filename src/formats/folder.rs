//! Folders of traces: which files are traces, and which of them belong to one job.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::format::Format;
use super::limits::Limits;
use super::probe::probe;
use super::source::{Source, Visited, entries};
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
    /// Links to files and folders that were reached before.
    pub repeated: usize,
}

/// Searches a folder and the folders in it for traces, of the named format or of any. Files of one job in the same folder are one
/// trace. Symbolic links are followed; a file or folder that is reached twice counts once.
///
/// # Errors
/// [`ErrorKind::Limit`] if there are too many files.
pub fn search(folder: &Path, format: Option<&dyn Format>, limits: &Limits) -> Result<Folder> {
    let mut found = Folder::default();
    let mut visited = Visited::default();
    if let Ok(meta) = folder.metadata() {
        visited.insert(folder, &meta);
    }
    let mut waiting = vec![folder.to_owned()];
    let mut files = 0;
    while let Some(folder) = waiting.pop() {
        let failed = |e: Error| e.in_file(folder.display().to_string());
        match entries(&folder, limits, &mut visited) {
            Ok((members, folders)) => {
                files += members.len();
                if files > limits.folder_files {
                    return Err(failed(Error::limit("the folders hold more files", limits.folder_files)));
                }
                add_traces(&folder, members, format, limits, &mut found);
                waiting.extend(folders.into_iter().rev());
            }
            Err(e) if e.kind() == ErrorKind::Limit => return Err(failed(e)),
            Err(e) => found.unreadable.push(failed(e)),
        }
    }
    found.repeated = visited.again;
    Ok(found)
}

/// Adds the traces among the files of one folder.
fn add_traces(folder: &Path, members: Vec<PathBuf>, format: Option<&dyn Format>, limits: &Limits, found: &mut Folder) {
    let one = |path: &PathBuf| {
        let source = Source::open(path, limits)?;
        let of = probe(&source).ok().filter(|f| format.is_none_or(|named| named.name() == f.name()));
        Ok(of.map(|f| (f.name(), f.job_of(&source))))
    };
    let probed: Vec<Result<_>> = members.par_iter().map(one).collect();
    let mut jobs = Jobs::default();
    let before = found.traces.len();
    for (path, probed) in members.into_iter().zip(probed) {
        match probed {
            Ok(Some((format, key))) => match jobs.place(format, key) {
                Some(i) => found.traces[before + i].files.push(path),
                None => found.traces.push(FolderTrace { name: path.clone(), files: vec![path] }),
            },
            Ok(None) => found.others.push(path),
            Err(e) => found.unreadable.push(e),
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
    /// Format of each job.
    pub formats: Vec<&'static str>,
    shared: HashMap<(&'static str, String), usize>,
}

impl Jobs {
    /// The number of the job that a file belongs to if the job is known; `None` if the file begins a new one.
    pub fn place(&mut self, format: &'static str, key: Option<String>) -> Option<usize> {
        let number = self.formats.len();
        if let Some(key) = key
            && let known = *self.shared.entry((format, key)).or_insert(number)
            && known < number
        {
            return Some(known);
        }
        self.formats.push(format);
        None
    }
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
        for name in ["b/one_h_9.st", "b/two_h_10.st", "c/one_h_1.st", "out.7", "out.8"] {
            write(name, CALL);
        }
        write("a.csv", "rank,op,file,offset,size,start,end\n0,write,f,0,10,0,1\n");
        write("b/notes", "nothing to see here");
        write("empty", "");
        write(".hidden.st", CALL);
        let found = search(root.path(), None, &Limits::default()).unwrap();
        let expected = [("a.csv", 1), ("out.7", 2), ("b", 2), ("c/one_h_1.st", 1)];
        assert_eq!(names(&found, root.path()), expected.map(|(n, k)| (n.to_owned(), k)));
        assert_eq!((found.others.len(), found.unreadable.len()), (2, 0));
        let strace = super::super::find("strace").unwrap();
        assert_eq!(search(root.path(), Some(strace), &Limits::default()).unwrap().traces.len(), 3);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_once() {
        let root = tempfile::tempdir().unwrap();
        let (real, links) = (root.path().join("real"), root.path().join("links"));
        fs::create_dir(&real).unwrap();
        fs::create_dir(&links).unwrap();
        let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, links.join(name)).unwrap();
        fs::write(real.join("x.st"), CALL).unwrap();
        link(&real.join("x.st"), "y.st");
        link(&links, "loop");
        link(&root.path().join("gone"), "broken");
        let found = search(&links, None, &Limits::default()).unwrap();
        assert_eq!(names(&found, root.path()), [("links/y.st".to_owned(), 1)]);
        assert_eq!(found.repeated, 1);
        link(&real, "real");
        fs::write(links.join("z.st"), CALL).unwrap();
        link(&links.join("z.st"), "a.st");
        let found = search(root.path(), None, &Limits::default()).unwrap();
        assert_eq!(names(&found, root.path()), [("links".to_owned(), 2)]);
        // the loop, a.st, real, and x.st in it
        assert_eq!(found.repeated, 4);
    }
}
