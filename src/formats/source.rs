//! Inputs: a file, a folder or bytes in memory, decompressed as they come.

use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::compression::{Compression, DamageNote, Unpacked, Unpacking};
use super::limits::Limits;
use super::options::{Progress, ReadOptions};
use super::pipe::Pipe;
use crate::error::{Error, ErrorKind, Result, is_damage};
use crate::remedy::Remedy;

/// Bytes of the start of an input that probing may look at.
pub const HEAD_BYTES: usize = 64 << 10;

/// Remedy for an input that has to be kept whole.
const STORE_IT: &str = "store the input in a file, and name the file";

#[derive(Debug, Clone)]
enum SourceKind {
    File(PathBuf),
    Memory(Arc<Vec<u8>>),
    Pipe(Arc<Pipe>),
    Folder(Vec<PathBuf>),
}

/// An input that can be read more than once.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    kind: SourceKind,
    compression: Compression,
    head: Vec<u8>,
    /// Why nothing of the head could be decompressed.
    spoiled: Option<Error>,
    /// Shared by all copies.
    damage: DamageNote,
    len: u64,
}

impl Source {
    /// An input of this content, as it is stored.
    fn new(name: String, kind: SourceKind, len: u64) -> Source {
        let (compression, damage) = (Compression::None, DamageNote::default());
        Source { name, kind, compression, head: Vec::new(), spoiled: None, damage, len }
    }

    /// The same, decompressed if its first bytes say so.
    fn unpacked(mut self, raw_head: Vec<u8>, limits: &Limits) -> Source {
        self.compression = Compression::of(&raw_head);
        (self.head, self.spoiled) = match self.compression {
            Compression::None => (raw_head, None),
            _ => self.unpack_head(limits),
        };
        self
    }

    /// The same under another name.
    #[must_use]
    pub fn named(self, name: &str) -> Source {
        Source { name: name.to_owned(), ..self }
    }

    /// The first bytes, decompressed, or why there are none. Of damage further on, what came before is known.
    fn unpack_head(&self, limits: &Limits) -> (Vec<u8>, Option<Error>) {
        let mut head = Vec::new();
        let read = self.raw(&ReadOptions::default()).and_then(|raw| {
            let reader = Unpacked::new(self.compression, raw, Unpacking::head(limits));
            Ok(reader.take(HEAD_BYTES as u64).read_to_end(&mut head)?)
        });
        let spoiled = read.err().filter(|_| head.is_empty());
        (head, spoiled)
    }

    /// Opens a file or folder, or standard input for `-`, and reads the first `HEAD_BYTES` of it.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if it cannot be read, [`ErrorKind::Unsupported`] if it is neither file nor folder,
    /// [`ErrorKind::Limit`] if standard input or a folder is too large.
    pub fn open(path: &Path, limits: &Limits) -> Result<Source> {
        let name = path.display().to_string();
        Source::open_unnamed(path, limits).map_err(|e| e.in_file(name))
    }

    fn open_unnamed(path: &Path, limits: &Limits) -> Result<Source> {
        if path.as_os_str() == "-" {
            return Source::from_reader("-", Box::new(io::stdin()), limits, |_| Ok(()));
        }
        let meta = std::fs::metadata(path).map_err(|e| {
            let remedy = match e.kind() {
                io::ErrorKind::NotFound => "check the path",
                io::ErrorKind::PermissionDenied => "ask the owner of the file for read permission",
                _ => "check the file system",
            };
            Error::from(e).remedy(remedy)
        })?;
        let name = path.display().to_string();
        if meta.is_dir() {
            return Ok(Source::of_files(name, list_folder(path, limits)?));
        }
        if !meta.is_file() {
            return Err(Error::new(ErrorKind::Unsupported, "neither a regular file nor a folder")
                .remedy("to read a pipe, redirect it to standard input and name the trace `-`"));
        }
        // Files of the kernel say that they have no bytes, and some of them wait for ever for the first one.
        if meta.len() == 0 {
            return Ok(Source::from_bytes(&name, Vec::new()));
        }
        let mut raw = Vec::new();
        File::open(path)?.take(HEAD_BYTES as u64).read_to_end(&mut raw)?;
        Ok(Source::new(name, SourceKind::File(path.into()), meta.len()).unpacked(raw, limits))
    }

    /// A file of a trace that is known by its place: its content is taken as it is stored, and nothing of it is read yet.
    pub(crate) fn stored_file(path: &Path) -> Result<Source> {
        let name = path.display().to_string();
        let len = std::fs::metadata(path).map_err(|e| Error::from(e).in_file(&name))?.len();
        Ok(Source::new(name, SourceKind::File(path.into()), len))
    }

    /// Several files as one input, under this name.
    pub(crate) fn of_files(name: String, files: Vec<PathBuf>) -> Source {
        Source::new(name, SourceKind::Folder(files), 0)
    }

    /// An input that is kept whole, unless `look` refuses its head.
    pub(super) fn from_reader(
        name: &str,
        input: Box<dyn Read + Send>,
        limits: &Limits,
        look: impl FnOnce(&Source) -> Result<()>,
    ) -> Result<Source> {
        Source::piped(name, input, limits, look)?.kept_whole(limits)
    }

    /// An input that is read as it comes, unless `look` refuses its head. Only what is no text is kept whole: its formats go to and fro.
    pub(super) fn once(
        name: &str,
        input: Box<dyn Read + Send>,
        limits: &Limits,
        look: impl FnOnce(&Source) -> Result<()>,
    ) -> Result<Source> {
        let source = Source::piped(name, input, limits, look)?;
        let binary = source.head().iter().any(|b| b.is_ascii_control() && !b.is_ascii_whitespace());
        if binary { source.kept_whole(limits) } else { Ok(source) }
    }

    fn piped(
        name: &str,
        mut input: Box<dyn Read + Send>,
        limits: &Limits,
        look: impl FnOnce(&Source) -> Result<()>,
    ) -> Result<Source> {
        let mut raw = Vec::new();
        read_bounded(&mut (&mut input).take(HEAD_BYTES as u64), limits.memory_bytes, &mut raw)?;
        if raw.len() < HEAD_BYTES {
            return Ok(Source::from_bytes(name, raw));
        }
        let pipe = SourceKind::Pipe(Arc::new(Pipe::new(raw.clone(), input)));
        let source = Source::new(name.into(), pipe, 0).unpacked(raw, limits);
        look(&source)?;
        Ok(source)
    }

    /// The same with what comes in memory, if it comes once.
    fn kept_whole(mut self, limits: &Limits) -> Result<Source> {
        if let SourceKind::Pipe(pipe) = self.kind {
            let too_large = |e: io::Error| Error::from(e).remedy(STORE_IT);
            let mut bytes = Vec::new();
            read_bounded(&mut pipe.last_reader(), limits.memory_bytes, &mut bytes).map_err(too_large)?;
            self.len = bytes.len() as u64;
            self.kind = SourceKind::Memory(Arc::new(bytes));
        }
        Ok(self)
    }

    /// An input from memory.
    pub fn from_bytes(name: &str, bytes: impl Into<Vec<u8>>) -> Source {
        let bytes: Vec<u8> = bytes.into();
        let (head, len) = (bytes[..bytes.len().min(HEAD_BYTES)].to_vec(), bytes.len() as u64);
        Source::new(name.into(), SourceKind::Memory(Arc::new(bytes)), len).unpacked(head, &Limits::default())
    }

    /// As the user named it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Last part of the name without the ending of a compression: what name conventions such as `cid_host_rid.st` look at.
    pub(crate) fn file_name(&self) -> &str {
        Compression::strip_ending(self.name.rsplit('/').next().unwrap_or(&self.name))
    }

    /// The first [`HEAD_BYTES`] at most, decompressed.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Why nothing of the head could be decompressed.
    pub(super) fn spoiled(&self) -> Option<&Error> {
        self.spoiled.as_ref()
    }

    /// The damage that reading has met in compressed content.
    pub(super) fn damage(&self) -> Option<&str> {
        self.damage.get().map(String::as_str)
    }

    /// Size as stored, in bytes; 0 for a folder, and where it is not known.
    pub fn stored_bytes(&self) -> u64 {
        match self.kind {
            SourceKind::Pipe(_) => 0,
            _ => self.len,
        }
    }

    /// Size as stored, in bytes, or more than any where it is not known.
    pub(crate) fn most_stored_bytes(&self) -> u64 {
        match self.kind {
            SourceKind::Pipe(_) => u64::MAX,
            _ => self.len,
        }
    }

    /// Whether the stored bytes say little about the size of the content.
    pub(crate) fn is_compressed(&self) -> bool {
        self.compression != Compression::None
    }

    /// Compression around the input.
    pub(crate) fn compression(&self) -> Compression {
        self.compression
    }

    /// The regular files of a folder in the order of their names (numbers by value), `None` for anything else.
    pub fn members(&self) -> Option<&[PathBuf]> {
        match &self.kind {
            SourceKind::Folder(m) => Some(m),
            _ => None,
        }
    }

    /// The decompressed content as a stream, from the start. Reports the stored bytes it consumes to `options.progress`.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the file cannot be opened, [`ErrorKind::Usage`] for a folder.
    pub(crate) fn reader(&self, options: &ReadOptions) -> Result<Box<dyn Read + Send + '_>> {
        let raw = self.raw(options)?;
        if self.compression == Compression::None {
            return Ok(Box::new(raw));
        }
        let how = Unpacking::whole(&options.limits, self.most_stored_bytes(), &self.damage);
        Ok(Box::new(Unpacked::new(self.compression, raw, how)))
    }

    /// The content as it is stored.
    fn raw(&self, options: &ReadOptions) -> Result<Counting<Box<dyn Read + Send + '_>>> {
        let inner: Box<dyn Read + Send + '_> = match &self.kind {
            SourceKind::File(p) => Box::new(File::open(p).map_err(|e| Error::from(e).in_file(&self.name))?),
            SourceKind::Memory(b) => Box::new(&b[..]),
            SourceKind::Pipe(p) => Box::new(p.reader()),
            SourceKind::Folder(_) => {
                return Err(Error::new(ErrorKind::Usage, "a folder cannot be read as a file").in_file(&self.name));
            }
        };
        Ok(Counting { inner, progress: options.progress.clone(), limits: options.limits.clone() })
    }

    /// The content as it is stored, from a byte on.
    ///
    /// # Errors
    /// As [`Source::reader`]; [`ErrorKind::Io`] if it cannot be reached.
    pub(crate) fn stored_from(&self, offset: u64, options: &ReadOptions) -> Result<Box<dyn Read + Send + '_>> {
        let raw: Box<dyn Read + Send + '_> = match &self.kind {
            SourceKind::File(p) => {
                let opened = File::open(p).and_then(|mut f| f.seek(SeekFrom::Start(offset)).map(|_| f));
                Box::new(opened.map_err(|e| Error::from(e).in_file(&self.name))?)
            }
            SourceKind::Memory(b) => Box::new(&b[usize::try_from(offset).unwrap_or(usize::MAX).min(b.len())..]),
            SourceKind::Pipe(p) => {
                let mut reader = p.reader();
                io::copy(&mut (&mut reader).take(offset), &mut io::sink())?;
                Box::new(reader)
            }
            SourceKind::Folder(_) => return self.reader(options),
        };
        let limits = options.limits.clone();
        Ok(Box::new(Counting { inner: raw, progress: options.progress.clone(), limits }))
    }

    /// The decompressed content as a whole, up to a damage of its compression, which [`Source::damage`] then names.
    ///
    /// # Errors
    /// As [`Source::reader`]; [`ErrorKind::Io`] if reading fails; [`ErrorKind::Limit`] above `limits.memory_bytes`.
    pub(crate) fn read_all(&self, options: &ReadOptions) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if self.compression == Compression::None {
            bytes.reserve_exact(self.stored_bytes().min(options.limits.memory_bytes) as usize);
        }
        match read_bounded(&mut self.reader(options)?, options.limits.memory_bytes, &mut bytes) {
            Err(e) if !(self.is_compressed() && is_damage(&e) && !bytes.is_empty()) => {
                Err(Error::from(e).in_file(&self.name))
            }
            _ => Ok(bytes),
        }
    }
}

fn read_bounded(r: &mut dyn Read, cap: u64, out: &mut Vec<u8>) -> io::Result<()> {
    r.take(cap.saturating_add(1).saturating_sub(out.len() as u64)).read_to_end(out)?;
    if out.len() as u64 > cap {
        let found = "the input has to fit in memory and is larger";
        let e = Error::limit(found, format!("{cap} bytes")).remedy(Remedy::AllowMemory);
        return Err(io::Error::new(io::ErrorKind::QuotaExceeded, e));
    }
    Ok(())
}

struct Counting<R> {
    inner: R,
    progress: Option<Progress>,
    limits: Limits,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.limits.in_time().map_err(|e| io::Error::new(io::ErrorKind::TimedOut, e.to_string()))?;
        let n = self.inner.read(buf)?;
        if let Some(p) = &self.progress {
            p(n as u64);
        }
        Ok(n)
    }
}

/// The regular files directly in a folder, and links to them. A folder that holds one folder and nothing else stands for that one:
/// some recorders put each trace into a folder of its own below one for the day.
fn list_folder(path: &Path, limits: &Limits) -> Result<Vec<PathBuf>> {
    let mut visited = Visited::default();
    let (mut files, mut folders) = entries(path, limits, &mut visited)?;
    while let ([], [only]) = (&files[..], &folders[..]) {
        (files, folders) = entries(&only.clone(), limits, &mut visited)?;
    }
    Ok(files)
}

/// True for a folder with folders in it.
pub(super) fn has_folders(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut all| all.any(|e| e.is_ok_and(|e| e.path().is_dir())))
}

/// The files and the folders directly in a folder in the order of their names, without those already visited. Symbolic links are
/// followed; hidden entries, links to nothing, sockets and the like are left out.
pub(crate) fn entries(path: &Path, limits: &Limits, visited: &mut Visited) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().first() == Some(&b'.') {
            continue;
        }
        let path = entry.path();
        if let Ok(meta) = std::fs::metadata(&path)
            && (meta.is_file() || meta.is_dir())
        {
            // an entry has precedence over links to it
            let link = entry.file_type().is_ok_and(|t| t.is_symlink());
            all.push((link, natural_key(&entry.file_name().to_string_lossy()), path, meta));
        }
        if all.len() > limits.folder_files {
            return Err(Error::limit("the folder holds more files", format!("{} files", limits.folder_files)));
        }
    }
    all.sort_by(|(a, name_a, ..), (b, name_b, ..)| (a, name_a).cmp(&(b, name_b)));
    all.retain(|(_, _, path, meta)| visited.insert(path, meta));
    all.sort_by(|(_, a, ..), (_, b, ..)| a.cmp(b));
    let (files, folders): (Vec<_>, Vec<_>) = all.into_iter().partition(|(.., meta)| meta.is_file());
    let paths = |list: Vec<(_, _, PathBuf, _)>| list.into_iter().map(|(_, _, path, _)| path).collect();
    Ok((paths(files), paths(folders)))
}

/// Files and folders that have been reached, whatever the links on the way.
#[derive(Debug, Default)]
pub(crate) struct Visited {
    reached: HashSet<Identity>,
    /// How many were reached again.
    pub again: usize,
}

/// Device and inode.
#[cfg(unix)]
type Identity = (u64, u64);
/// The path without links.
#[cfg(not(unix))]
type Identity = PathBuf;

impl Visited {
    /// Adds a file or folder; false if it is known.
    pub fn insert(&mut self, path: &Path, meta: &Metadata) -> bool {
        let new = self.reached.insert(identity(path, meta));
        self.again += usize::from(!new);
        new
    }

    /// True if a file or folder is known.
    pub fn contains(&self, path: &Path, meta: &Metadata) -> bool {
        self.reached.contains(&identity(path, meta))
    }
}

#[cfg(unix)]
fn identity(_path: &Path, meta: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (meta.dev(), meta.ino())
}

#[cfg(not(unix))]
fn identity(path: &Path, _meta: &Metadata) -> Identity {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Sort key that orders the numbers in names by value: `rank_9` before `rank_10`.
fn natural_key(name: &str) -> Vec<(String, u128)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest[text..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - text);
        parts.push((rest[..text].to_owned(), rest[text..text + digits].parse().unwrap_or(u128::MAX)));
        rest = &rest[text + digits..];
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn gzip_is_opened_and_counted() {
        let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        z.write_all(b"hello").unwrap();
        let s = Source::from_bytes("x/a_b_1.st.gz", z.finish().unwrap());
        assert_eq!((s.head(), s.file_name(), s.compression()), (&b"hello"[..], "a_b_1.st", Compression::Gzip));
        assert_eq!(s.read_all(&ReadOptions::default()).unwrap(), b"hello");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_says_it_is_empty_is_not_waited_for() {
        // has bytes that its length does not tell
        let s = Source::open(Path::new("/proc/self/cmdline"), &Limits::default()).unwrap();
        assert_eq!(s.read_all(&ReadOptions::default()).unwrap(), b"");
    }

    #[test]
    fn memory_is_bounded() {
        let s = Source::from_bytes("x", vec![1u8; 100]);
        let o = ReadOptions { limits: Limits { memory_bytes: 99, ..Limits::default() }, ..ReadOptions::default() };
        assert_eq!(s.read_all(&o).unwrap_err().kind(), ErrorKind::Limit);
    }

    #[test]
    fn names_sort_by_number() {
        let mut v = ["r10", "r9", "r9a", "a"];
        v.sort_by_cached_key(|n| natural_key(n));
        assert_eq!(v, ["a", "r9", "r9a", "r10"]);
    }
}
