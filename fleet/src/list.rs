//! Inputs to logs: files, folders, globs and manifests become a sorted list of files, each with its key.

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

/// Logs found, and what was not taken.
#[derive(Debug, Default)]
pub struct Listing {
    /// The logs in the order of their paths; each key once.
    pub logs: Vec<LogRef>,
    /// Files in folders whose names are of no log.
    pub left_out: u64,
    /// Inputs that cannot be listed.
    pub problems: Vec<Error>,
}

/// Lists the logs of some inputs: files, folders with all folders in them, and globs.
///
/// # Errors
/// [`ErrorKind::Usage`](iophase::ErrorKind::Usage) for a pattern that is none. What cannot be read is in [`Listing::problems`].
pub fn find(inputs: &[PathBuf], options: &Options) -> Result<Listing> {
    let names: Vec<&str> = match &options.names[..] {
        [] => ENDINGS.to_vec(),
        given => given.iter().map(String::as_str).collect(),
    };
    let names = names.into_iter().map(pattern).collect::<Result<Vec<_>>>()?;
    let mut walk = Walk { names, found: Vec::new(), folders: HashSet::new(), listing: Listing::default() };
    for path in inputs {
        walk.input(path)?;
    }
    for manifest in &options.manifests {
        walk.manifest(manifest);
    }
    let Walk { mut found, mut listing, .. } = walk;
    found.sort();
    found.dedup();
    let of = |path: PathBuf| log_of(path, options.by_content);
    listing.logs.par_extend(found.into_par_iter().map(of));
    listing.logs.sort_by(|a, b| a.path.cmp(&b.path));
    let mut seen = HashSet::new();
    listing.logs.retain(|log| seen.insert(log.key));
    Ok(listing)
}

fn pattern(text: &str) -> Result<glob::Pattern> {
    glob::Pattern::new(text).map_err(|e| usage(format!("{text} is no pattern: {e}")))
}

struct Walk {
    names: Vec<glob::Pattern>,
    found: Vec<PathBuf>,
    /// Device and inode of the folders that were reached, whatever the links on the way.
    folders: HashSet<(u64, u64)>,
    listing: Listing,
}

impl Walk {
    fn input(&mut self, path: &Path) -> Result<()> {
        #[cfg(feature = "s3")]
        if crate::remote::is_url(path) {
            self.remote(path);
            return Ok(());
        }
        match fs::metadata(path) {
            Ok(meta) => self.named(path, &meta),
            Err(e) => {
                let text = path.to_string_lossy();
                if !text.contains(['*', '?', '[']) {
                    self.listing.problems.push(input(path, e).remedy("check the path"));
                    return Ok(());
                }
                let all = glob::glob_with(&text, VISIBLE).map_err(|e| usage(format!("{text} is no pattern: {e}")))?;
                let before = self.found.len();
                for hit in all {
                    match hit {
                        Ok(hit) => match fs::metadata(&hit) {
                            Ok(meta) => self.named(&hit, &meta),
                            Err(e) => self.listing.problems.push(input(&hit, e)),
                        },
                        Err(e) => self.listing.problems.push(input(e.path(), e.error())),
                    }
                }
                if self.found.len() == before {
                    self.listing.problems.push(input(path, "nothing matches").remedy("check the pattern"));
                }
            }
        }
        Ok(())
    }

    /// An object of a store, or those below it whose names are of logs.
    #[cfg(feature = "s3")]
    fn remote(&mut self, path: &Path) {
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
                        self.listing.logs.push(LogRef { path, size, modified, key: key_of(hash) });
                    } else {
                        self.listing.left_out += 1;
                    }
                }
            }
            Err(e) => {
                self.listing.problems.push(input(path, e).remedy("check the address and AWS_* in the environment"))
            }
        }
    }

    /// A path that was named: whatever it is, it is an input.
    fn named(&mut self, path: &Path, meta: &Metadata) {
        if meta.is_dir() { self.folder(path, meta) } else { self.found.push(absolute(path)) }
    }

    fn folder(&mut self, path: &Path, meta: &Metadata) {
        self.folders.insert((meta.dev(), meta.ino()));
        let mut waiting = vec![absolute(path)];
        while let Some(folder) = waiting.pop() {
            match fs::read_dir(&folder) {
                Ok(entries) => entries.for_each(|entry| match entry {
                    Ok(entry) => self.entry(&entry, &mut waiting),
                    Err(e) => self.listing.problems.push(input(&folder, e)),
                }),
                Err(e) => self.listing.problems.push(input(&folder, e)),
            }
        }
    }

    fn entry(&mut self, entry: &fs::DirEntry, waiting: &mut Vec<PathBuf>) {
        let name = entry.file_name();
        if name.as_bytes().first() == Some(&b'.') {
            return;
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
                self.found.push(path);
            }
            // links to nothing and to themselves, pipes and sockets are no logs either
            _ => self.listing.left_out += 1,
        }
    }

    fn manifest(&mut self, path: &Path) {
        let lines: std::io::Result<Vec<String>> = if path.as_os_str() == "-" {
            std::io::stdin().lock().lines().collect()
        } else {
            fs::File::open(path).and_then(|f| std::io::BufReader::new(f).lines().collect())
        };
        match lines {
            Ok(lines) => {
                let paths = lines.iter().map(|l| l.trim_end_matches('\r')).filter(|l| !l.is_empty());
                for path in paths.map(Path::new) {
                    #[cfg(feature = "s3")]
                    if crate::remote::is_url(path) {
                        self.remote(path);
                        continue;
                    }
                    self.found.push(absolute(path));
                }
            }
            Err(e) => self.listing.problems.push(input(path, e)),
        }
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

    fn names(l: &Listing) -> Vec<String> {
        l.logs.iter().map(|x| x.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
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
        let found = find(&[at("2026"), at("2026/*.darshan")], &options).unwrap();
        assert_eq!(names(&found), ["b.darshan", "a.darshan", "gone.darshan"]);
        assert_eq!((found.left_out, found.problems.len()), (2, 0), "notes and the link to itself");
        let all = find(&[at("2026")], &Options { names: vec!["*".into()], ..Options::default() }).unwrap();
        assert_eq!(names(&all), ["b.darshan", "a.darshan", "notes.txt"]);
    }

    #[test]
    fn a_log_that_changes_has_another_key_and_a_copy_by_content_has_not() {
        let root = tempfile::tempdir().unwrap();
        let (a, b) = (root.path().join("a.darshan"), root.path().join("b.darshan"));
        fs::write(&a, "same").unwrap();
        fs::write(&b, "same").unwrap();
        let keys = |by_content| {
            let o = Options { by_content, ..Options::default() };
            find(&[root.path().into()], &o).unwrap().logs.iter().map(|l| l.key).collect::<Vec<_>>()
        };
        let (apart, joined) = (keys(false), keys(true));
        assert_eq!((apart.len(), joined.len()), (2, 1));
        fs::write(&a, "longer").unwrap();
        assert!(keys(false)[0] != apart[0] && keys(false)[1] == apart[1]);
    }

    #[test]
    fn what_is_not_there_is_a_problem_of_its_own() {
        let found = find(&["/nonexistent/x".into(), "/nonexistent/*.darshan".into()], &Options::default()).unwrap();
        assert_eq!((found.logs.len(), found.problems.len()), (0, 2));
        assert!(find(&["/nonexistent/[".into()], &Options::default()).is_err());
    }
}
