//! Folders of traces: which files are traces, and which of them belong to one job.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::format::Format;
use super::limits::Limits;
use super::options::ReadOptions;
use super::probe::{ALL, probe_member};
use super::source::{Source, Visited, entries};
use crate::error::{Error, ErrorKind, Result};

/// A trace in a folder: the files of one job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FolderTrace {
    /// The file; of several files the folder if that is what shows the trace or if it holds no other, else the first of them.
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

/// Folder with the text of a trace, in the folder of the trace: the same calls once more.
const TEXT_EXPORT: &str = "_text";

impl Folder {
    /// Adds what one folder holds. What is of a job that was met in another folder goes to it: each host may have a folder of its own.
    fn add(&mut self, folder: &Path, among: Among, met: &mut Met) {
        let alone = among.traces.len() == 1;
        for Grouped { format, files, claimed, job } in among.traces {
            if let Some(JobOfFile { key, span_s: Some(span_s) }) = job {
                let jobs = met.entry((format.name(), key)).or_default();
                if let Some((at, known)) = jobs.iter_mut().find(|(_, known)| overlap(*known, span_s)) {
                    let trace = &mut self.traces[*at];
                    trace.name = common(&trace.name, folder);
                    trace.files.extend(files);
                    *known = (known.0.min(span_s.0), known.1.max(span_s.1));
                    continue;
                }
                jobs.push((self.traces.len(), span_s));
            }
            let name = if claimed || alone && files.len() > 1 { folder.to_owned() } else { files[0].clone() };
            self.traces.push(FolderTrace { name, files });
        }
        self.others.extend(among.others);
        self.unreadable.extend(among.unreadable);
    }
}

/// Jobs by format and key: their numbers among the traces, and when they ran, for ids of jobs are used again.
type Met = HashMap<(&'static str, String), Vec<(usize, (f64, f64))>>;

fn overlap(a: (f64, f64), b: (f64, f64)) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

/// The folder that holds both.
fn common(path: &Path, folder: &Path) -> PathBuf {
    path.ancestors().find(|a| folder.starts_with(a)).unwrap_or(folder).to_owned()
}

/// Searches a folder and the folders in it for traces, of the named format or of any. Files of one job in the same folder are one
/// trace; so are those in several folders, if they say when the job ran. Symbolic links are followed; a file or folder that is reached twice counts once.
///
/// # Errors
/// [`ErrorKind::Limit`] if there are too many files.
pub fn search(folder: &Path, format: Option<&dyn Format>, options: &ReadOptions) -> Result<Folder> {
    let limits = &options.limits;
    let mut found = Folder::default();
    let mut visited = Visited::default();
    if let Ok(meta) = folder.metadata() {
        visited.insert(folder, &meta);
    }
    let mut met = Met::new();
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
                let among = traces_among(&members, format, options);
                let claimed = among.traces.iter().any(|t| t.claimed);
                found.add(&folder, among, &mut met);
                let again = |f: &PathBuf| claimed && f.file_name().is_some_and(|name| name == TEXT_EXPORT);
                waiting.extend(folders.into_iter().rev().filter(|f| !again(f)));
            }
            Err(e) if e.kind() == ErrorKind::Limit => return Err(failed(e)),
            Err(e) => found.unreadable.push(failed(e)),
        }
    }
    found.repeated = visited.again;
    Ok(found)
}

/// A trace among the files of one folder.
pub(super) struct Grouped {
    pub format: &'static dyn Format,
    pub files: Vec<PathBuf>,
    /// The names of the files showed the trace, not their content.
    pub claimed: bool,
    job: Option<JobOfFile>,
}

impl Grouped {
    fn add(&mut self, path: PathBuf, job: Option<JobOfFile>) {
        self.files.push(path);
        if let (Some(JobOfFile { span_s: Some(all), .. }), Some((start, end))) =
            (&mut self.job, job.and_then(|job| job.span_s))
        {
            *all = (all.0.min(start), all.1.max(end));
        }
    }
}

/// The job that a file is of.
struct JobOfFile {
    key: String,
    /// Start and end in seconds since 1970, if the file says.
    span_s: Option<(f64, f64)>,
}

impl JobOfFile {
    fn of(format: &dyn Format, source: &Source) -> Option<JobOfFile> {
        let key = format.job_of(source)?;
        let facts = format.outline(source.head()).and_then(|(_, facts)| facts);
        let span = |facts: crate::record::Job| {
            let start = facts.start_unix_s?;
            let end = facts.end_unix_s.filter(|end| *end >= start);
            Some((start, end.unwrap_or(f64::INFINITY)))
        };
        Some(JobOfFile { key, span_s: facts.and_then(span) })
    }
}

/// The files of one folder.
#[derive(Default)]
pub(super) struct Among {
    /// The traces in the order of their first files.
    pub traces: Vec<Grouped>,
    pub others: Vec<PathBuf>,
    pub unreadable: Vec<Error>,
}

/// Which files of one folder are traces, of the named format or of any: those that a format claims by their names, then each of the
/// others by its content, where files of one job are one trace.
pub(super) fn traces_among(members: &[PathBuf], format: Option<&dyn Format>, options: &ReadOptions) -> Among {
    let wanted = |f: &dyn Format| format.is_none_or(|named| named.name() == f.name());
    let mut found = Among::default();
    let mut claimed: HashSet<PathBuf> = HashSet::new();
    for &format in ALL.iter().filter(|f| wanted(**f)) {
        let files = format.claims(members);
        if !files.is_empty() {
            claimed.extend(files.iter().cloned());
            found.traces.push(Grouped { format, files, claimed: true, job: None });
        }
    }
    let rest: Vec<&PathBuf> = members.iter().filter(|p| !claimed.contains(*p)).collect();
    let one = |path: &&PathBuf| {
        let source = Source::open(path, &options.limits)?;
        let of = probe_member(&source, format, options).ok().filter(|f| wanted(*f));
        Ok(of.map(|f| (f, JobOfFile::of(f, &source))))
    };
    let probed: Vec<Result<_>> = rest.par_iter().map(one).collect();
    let mut jobs: HashMap<(&'static str, String), usize> = HashMap::new();
    for (path, probed) in rest.into_iter().zip(probed) {
        let number = found.traces.len();
        match probed {
            Ok(Some((format, job))) => {
                let key = job.as_ref().map(|job| (format.name(), job.key.clone()));
                let known = key.map_or(number, |key| *jobs.entry(key).or_insert(number));
                match found.traces.get_mut(known) {
                    Some(trace) => trace.add(path.clone(), job),
                    None => found.traces.push(Grouped { format, files: vec![path.clone()], claimed: false, job }),
                }
            }
            Ok(None) => found.others.push(path.clone()),
            Err(e) => found.unreadable.push(e),
        }
    }
    found
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
        let found = search(root.path(), None, &ReadOptions::default()).unwrap();
        let expected = [("a.csv", 1), ("out.7", 2), ("b", 2), ("c/one_h_1.st", 1)];
        assert_eq!(names(&found, root.path()), expected.map(|(n, k)| (n.to_owned(), k)));
        assert_eq!((found.others.len(), found.unreadable.len()), (2, 0));
        let strace = super::super::find("strace").unwrap();
        assert_eq!(search(root.path(), Some(strace), &ReadOptions::default()).unwrap().traces.len(), 3);
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
        let found = search(&links, None, &ReadOptions::default()).unwrap();
        assert_eq!(names(&found, root.path()), [("links/y.st".to_owned(), 1)]);
        assert_eq!(found.repeated, 1);
        link(&real, "real");
        fs::write(links.join("z.st"), CALL).unwrap();
        link(&links.join("z.st"), "a.st");
        let found = search(root.path(), None, &ReadOptions::default()).unwrap();
        assert_eq!(names(&found, root.path()), [("links".to_owned(), 2)]);
        // the loop, a.st, real, and x.st in it
        assert_eq!(found.repeated, 4);
    }
}
