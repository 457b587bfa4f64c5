//! Inputs to logs: files, folders, globs and manifests become lists of files, each with its key.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io::BufRead;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{input, usage};
use crate::tables::{Key, Time};
use iophase::{Error, Result};

/// Endings of the files that are taken from folders unless others are asked for.
const ENDINGS: [&str; 5] = ["*.darshan", "*.darshan.gz", "*.darshan.bz2", "*.darshan.xz", "*.darshan.zst"];

/// Globs do not match names that begin with a dot, as in a shell.
const VISIBLE: glob::MatchOptions =
    glob::MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// A log that is to be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogRef {
    /// Its path.
    pub path: PathBuf,
    /// Bytes of the file; 0 if it was not there.
    pub size: u64,
    /// Time of its last modification.
    pub modified: Time,
    /// Its key.
    pub key: Key,
}

/// How inputs are listed.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Patterns of file names that are taken from folders; Darshan's names if empty.
    pub names: Vec<String>,
    /// Files with one path a line; `-` is standard input.
    pub manifests: Vec<PathBuf>,
    /// The key is made of the bytes, so that a log that was copied elsewhere is the same.
    pub by_content: bool,
}

/// Logs of one portion of a listing. Memory holds one portion and its rows of the tables.
const PORTION: usize = 1 << 18;

/// What was not taken.
#[derive(Debug, Default)]
pub struct Listing {
    /// Files in folders whose names are of no log.
    pub left_out: u64,
    /// Inputs that cannot be listed.
    pub problems: Vec<Error>,
}

/// Lists the logs of some inputs: files, folders with all folders in them, and globs. Gives them to `take`, as many at once as memory has
/// room for, in the order of their paths, each key once.
///
/// # Errors
/// [`ErrorKind::Usage`](iophase::ErrorKind::Usage) for a pattern that is none; those of `take`. What cannot be read is in
/// [`Listing::problems`].
pub fn find(inputs: &[PathBuf], options: &Options, take: &mut dyn FnMut(Vec<LogRef>) -> Result<()>) -> Result<Listing> {
    let names: Vec<&str> = match &options.names[..] {
        [] => ENDINGS.to_vec(),
        given => given.iter().map(String::as_str).collect(),
    };
    let names = names.into_iter().map(pattern).collect::<Result<Vec<_>>>()?;
    let found = Found { by_content: options.by_content, files: Vec::new(), objects: Vec::new(), count: 0, take };
    let mut walk = Walk { names, found, folders: HashSet::new(), listing: Listing::default() };
    for path in inputs {
        walk.input(path)?;
    }
    for manifest in &options.manifests {
        walk.manifest(manifest)?;
    }
    walk.found.give()?;
    Ok(walk.listing)
}

/// Logs that were found and not yet given.
struct Found<'a> {
    by_content: bool,
    files: Vec<PathBuf>,
    /// Those of object stores.
    objects: Vec<LogRef>,
    count: u64,
    take: &'a mut dyn FnMut(Vec<LogRef>) -> Result<()>,
}

impl Found<'_> {
    fn file(&mut self, path: PathBuf) -> Result<()> {
        self.count += 1;
        self.files.push(path);
        if self.files.len() < PORTION { Ok(()) } else { self.give() }
    }

    #[cfg(feature = "s3")]
    fn object(&mut self, log: LogRef) -> Result<()> {
        self.objects.push(log);
        if self.objects.len() < PORTION { Ok(()) } else { self.give() }
    }

    fn give(&mut self) -> Result<()> {
        let mut files = std::mem::take(&mut self.files);
        files.sort_unstable();
        files.dedup();
        let mut logs = std::mem::take(&mut self.objects);
        logs.par_extend(files.into_par_iter().map(|path| log_of(path, self.by_content)));
        logs.sort_by(|a, b| a.path.cmp(&b.path));
        let mut seen = HashSet::new();
        logs.retain(|log| seen.insert(log.key));
        if logs.is_empty() { Ok(()) } else { (self.take)(logs) }
    }
}

fn pattern(text: &str) -> Result<glob::Pattern> {
    glob::Pattern::new(text).map_err(|e| usage(format!("{text} is no pattern: {e}")))
}

struct Walk<'a> {
    names: Vec<glob::Pattern>,
    found: Found<'a>,
    /// Device and inode of the folders that were reached, whatever the links on the way.
    folders: HashSet<(u64, u64)>,
    listing: Listing,
}

impl Walk<'_> {
    fn input(&mut self, path: &Path) -> Result<()> {
        #[cfg(feature = "s3")]
        if crate::remote::is_url(path) {
            return self.remote(path);
        }
        match fs::metadata(path) {
            Ok(meta) => self.named(path, &meta)?,
            Err(e) => {
                let text = path.to_string_lossy();
                if !text.contains(['*', '?', '[']) {
                    self.listing.problems.push(input(path, e).remedy("check the path"));
                    return Ok(());
                }
                let all = glob::glob_with(&text, VISIBLE).map_err(|e| usage(format!("{text} is no pattern: {e}")))?;
                let before = self.found.count;
                for hit in all {
                    match hit {
                        Ok(hit) => match fs::metadata(&hit) {
                            Ok(meta) => self.named(&hit, &meta)?,
                            Err(e) => self.listing.problems.push(input(&hit, e)),
                        },
                        Err(e) => self.listing.problems.push(input(e.path(), e.error())),
                    }
                }
                if self.found.count == before {
                    self.listing.problems.push(input(path, "nothing matches").remedy("check the pattern"));
                }
            }
        }
        Ok(())
    }

    /// An object of a store, or those below it whose names are of logs.
    #[cfg(feature = "s3")]
    fn remote(&mut self, path: &Path) -> Result<()> {
        let url = path.to_string_lossy();
        match crate::remote::list(&url) {
            Ok(found) if found.is_empty() => {
                self.listing.problems.push(input(path, "nothing there").remedy("check the address"));
            }
            Ok(found) => {
                for object in found {
                    let name = object.url.rsplit('/').next().unwrap_or_default();
                    if object.url == url || self.names.iter().any(|p| p.matches(name)) {
                        let modified = Time(Some(object.modified));
                        let mut hash = identity(Path::new(&object.url), object.size, modified);
                        hash.update(object.tag.as_bytes());
                        let (path, size) = (object.url.into(), object.size);
                        self.found.object(LogRef { path, size, modified, key: key_of(hash) })?;
                    } else {
                        self.listing.left_out += 1;
                    }
                }
            }
            Err(e) => {
                self.listing.problems.push(input(path, e).remedy("check the address and AWS_* in the environment"));
            }
        }
        Ok(())
    }

    /// A path that was named: whatever it is, it is an input.
    fn named(&mut self, path: &Path, meta: &Metadata) -> Result<()> {
        if meta.is_dir() { self.folder(path, meta) } else { self.found.file(absolute(path)) }
    }

    fn folder(&mut self, path: &Path, meta: &Metadata) -> Result<()> {
        self.folders.insert((meta.dev(), meta.ino()));
        let mut waiting = vec![absolute(path)];
        while let Some(folder) = waiting.pop() {
            match fs::read_dir(&folder) {
                Ok(entries) => {
                    for entry in entries {
                        match entry {
                            Ok(entry) => self.entry(&entry, &mut waiting)?,
                            Err(e) => self.listing.problems.push(input(&folder, e)),
                        }
                    }
                }
                Err(e) => self.listing.problems.push(input(&folder, e)),
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &fs::DirEntry, waiting: &mut Vec<PathBuf>) -> Result<()> {
        let name = entry.file_name();
        if name.as_bytes().first() == Some(&b'.') {
            return Ok(());
        }
        let path = entry.path();
        let kind = match entry.file_type() {
            Ok(kind) if kind.is_symlink() => fs::metadata(&path).map(|m| m.file_type()),
            kind => kind,
        };
        match kind {
            Ok(kind) if kind.is_dir() => {
                let new = fs::metadata(&path).is_ok_and(|m| self.folders.insert((m.dev(), m.ino())));
                waiting.extend(new.then_some(path));
            }
            Ok(kind) if kind.is_file() && self.names.iter().any(|p| p.matches(&name.to_string_lossy())) => {
                self.found.file(path)?;
            }
            // links to nothing and to themselves, pipes and sockets are no logs either
            _ => self.listing.left_out += 1,
        }
        Ok(())
    }

    fn manifest(&mut self, path: &Path) -> Result<()> {
        let lines: Box<dyn BufRead> = if path.as_os_str() == "-" {
            Box::new(std::io::stdin().lock())
        } else {
            match fs::File::open(path) {
                Ok(file) => Box::new(std::io::BufReader::new(file)),
                Err(e) => {
                    self.listing.problems.push(input(path, e));
                    return Ok(());
                }
            }
        };
        for line in lines.lines() {
            match line {
                Ok(line) => self.listed(line.trim_end_matches('\r'))?,
                Err(e) => {
                    self.listing.problems.push(input(path, e));
                    break;
                }
            }
        }
        Ok(())
    }

    /// A line of a manifest.
    fn listed(&mut self, line: &str) -> Result<()> {
        let path = Path::new(line);
        if line.is_empty() {
            return Ok(());
        }
        #[cfg(feature = "s3")]
        if crate::remote::is_url(path) {
            return self.remote(path);
        }
        self.found.file(absolute(path))
    }
}

/// The path from the root, without following links.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn log_of(path: PathBuf, by_content: bool) -> LogRef {
    let meta = fs::metadata(&path).ok().filter(Metadata::is_file);
    let size = meta.as_ref().map_or(0, Metadata::len);
    let us = |m: &Metadata| m.mtime().checked_mul(1_000_000)?.checked_add(m.mtime_nsec() / 1000);
    let modified = Time(meta.as_ref().and_then(us));
    let content = || fs::File::open(&path).and_then(|mut f| digest_of(&mut f)).ok();
    let key = by_content
        .then(|| meta.as_ref().and_then(|_| content()))
        .flatten()
        .unwrap_or_else(|| key_of(identity(&path, size, modified)));
    LogRef { path, size, modified, key }
}

/// The identity of a log, unless it is that of its bytes.
fn identity(path: &Path, size: u64, modified: Time) -> Sha256 {
    let mut hash = Sha256::new();
    hash.update(path.as_os_str().as_bytes());
    hash.update([0]);
    hash.update(size.to_le_bytes());
    hash.update(modified.0.unwrap_or(i64::MIN).to_le_bytes());
    hash
}

fn digest_of(file: &mut fs::File) -> std::io::Result<Key> {
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 256 << 10]);
    loop {
        match std::io::Read::read(file, &mut buffer)? {
            0 => return Ok(key_of(hash)),
            n => hash.update(&buffer[..n]),
        }
    }
}

/// The first 128 bits of a hash.
pub fn key_of(hash: Sha256) -> Key {
    let mut key = Key::default();
    key.0.copy_from_slice(&hash.finalize()[..16]);
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn all(inputs: &[PathBuf], options: &Options) -> Result<(Vec<LogRef>, Listing)> {
        let mut logs = Vec::new();
        let listing = find(inputs, options, &mut |portion| {
            logs.extend(portion);
            Ok(())
        })?;
        Ok((logs, listing))
    }

    fn names(logs: &[LogRef]) -> Vec<String> {
        logs.iter().map(|x| x.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn folders_globs_and_manifests_give_each_log_once() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("2026/1/2")).unwrap();
        for name in ["2026/1/2/b.darshan", "2026/a.darshan", "2026/notes.txt", "2026/.hidden.darshan"] {
            fs::write(at(name), name).unwrap();
        }
        symlink(at("2026"), at("2026/1/again")).unwrap();
        symlink("loop", at("2026/loop")).unwrap();
        fs::write(at("list"), format!("{}\n{}\n", at("2026/a.darshan").display(), at("gone.darshan").display()))
            .unwrap();
        let options = Options { manifests: vec![at("list")], ..Options::default() };
        let (logs, found) = all(&[at("2026"), at("2026/*.darshan")], &options).unwrap();
        assert_eq!(names(&logs), ["b.darshan", "a.darshan", "gone.darshan"]);
        assert_eq!((found.left_out, found.problems.len()), (2, 0), "notes and the link to itself");
        let (any, _) = all(&[at("2026")], &Options { names: vec!["*".into()], ..Options::default() }).unwrap();
        assert_eq!(names(&any), ["b.darshan", "a.darshan", "notes.txt"]);
    }

    #[test]
    fn a_log_that_changes_has_another_key_and_a_copy_by_content_has_not() {
        let root = tempfile::tempdir().unwrap();
        let (a, b) = (root.path().join("a.darshan"), root.path().join("b.darshan"));
        fs::write(&a, "same").unwrap();
        fs::write(&b, "same").unwrap();
        let keys = |by_content| {
            let o = Options { by_content, ..Options::default() };
            all(&[root.path().into()], &o).unwrap().0.iter().map(|l| l.key).collect::<Vec<_>>()
        };
        let (apart, joined) = (keys(false), keys(true));
        assert_eq!((apart.len(), joined.len()), (2, 1));
        fs::write(&a, "longer").unwrap();
        assert!(keys(false)[0] != apart[0] && keys(false)[1] == apart[1]);
    }

    #[test]
    fn what_is_not_there_is_a_problem_of_its_own() {
        let inputs = ["/nonexistent/x".into(), "/nonexistent/*.darshan".into()];
        let (logs, found) = all(&inputs, &Options::default()).unwrap();
        assert_eq!((logs.len(), found.problems.len()), (0, 2));
        assert!(all(&["/nonexistent/[".into()], &Options::default()).is_err());
    }
}
