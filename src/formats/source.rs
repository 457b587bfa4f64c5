//! Inputs: a file, a folder or bytes in memory, with gzip and zstd opened as they come.

use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use super::gzip::Members;
use super::limits::Limits;
use super::options::{Progress, ReadOptions};
use super::pipe::Pipe;
use crate::error::{Error, ErrorKind, Result};
use crate::remedy::Remedy;

/// Bytes of the start of an input that probing may look at.
pub const HEAD_BYTES: usize = 64 << 10;

/// What to try with an input that has to be kept whole.
const STORE_IT: &str = "store the input in a file, and name the file";

/// Compression of a whole input, recognised by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// As it is.
    None,
    /// gzip, any number of members.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// By the first bytes.
    pub(crate) fn of(head: &[u8]) -> Compression {
        match head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }

    /// `gzip`, `zstd`, or `None`.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Compression::None => None,
            Compression::Gzip => Some("gzip"),
            Compression::Zstd => Some("zstd"),
        }
    }
}

#[derive(Debug, Clone)]
enum Kind {
    File(PathBuf),
    Memory(Arc<Vec<u8>>),
    Pipe(Arc<Pipe>),
    Folder(Vec<PathBuf>),
}

/// An input that can be read more than once.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    kind: Kind,
    compression: Compression,
    head: Vec<u8>,
    len: u64,
}

impl Source {
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
            return Source::from_reader("-", &mut io::stdin().lock(), limits, |_| Ok(()));
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
        let compression = Compression::of(&raw);
        let mut s = Source { name, kind: Kind::File(path.into()), compression, head: raw, len: meta.len() };
        s.unwrap_head();
        Ok(s)
    }

    /// A file of a trace that is known by its place: its content is taken as it is stored, and nothing of it is read yet.
    pub(crate) fn stored_file(path: &Path) -> Result<Source> {
        let name = path.display().to_string();
        let len = std::fs::metadata(path).map_err(|e| Error::from(e).in_file(&name))?.len();
        Ok(Source { name, kind: Kind::File(path.into()), compression: Compression::None, head: Vec::new(), len })
    }

    /// Several files as one input, under this name.
    pub(crate) fn of_files(name: String, files: Vec<PathBuf>) -> Source {
        Source { name, kind: Kind::Folder(files), compression: Compression::None, head: Vec::new(), len: 0 }
    }

    /// An input that is kept whole, unless `look` refuses its head.
    pub(super) fn from_reader(
        name: &str,
        reader: &mut dyn Read,
        limits: &Limits,
        look: impl FnOnce(&Source) -> Result<()>,
    ) -> Result<Source> {
        let mut bytes = Vec::new();
        read_bounded(&mut reader.take(HEAD_BYTES as u64), limits.memory_bytes, &mut bytes)?;
        if bytes.len() == HEAD_BYTES {
            look(&Source::from_bytes(name, bytes.clone()))?;
            read_bounded(reader, limits.memory_bytes, &mut bytes).map_err(|e| e.remedy(STORE_IT))?;
        }
        Ok(Source::from_bytes(name, bytes))
    }

    /// An input that is read as it comes, unless `look` refuses its head. Only what is no text is kept whole: its formats go to and fro.
    pub(super) fn once(
        name: &str,
        mut input: Box<dyn Read + Send>,
        limits: &Limits,
        look: impl FnOnce(&Source) -> Result<()>,
    ) -> Result<Source> {
        let mut bytes = Vec::new();
        read_bounded(&mut (&mut input).take(HEAD_BYTES as u64), limits.memory_bytes, &mut bytes)?;
        if bytes.len() < HEAD_BYTES {
            return Ok(Source::from_bytes(name, bytes));
        }
        let mut source = Source::from_bytes(name, bytes.clone());
        look(&source)?;
        if source.head().iter().any(|b| b.is_ascii_control() && !b.is_ascii_whitespace()) {
            read_bounded(&mut input, limits.memory_bytes, &mut bytes).map_err(|e| e.remedy(STORE_IT))?;
            return Ok(Source::from_bytes(name, bytes));
        }
        source.kind = Kind::Pipe(Arc::new(Pipe::new(bytes, input)));
        Ok(source)
    }

    /// An input from memory.
    pub fn from_bytes(name: &str, bytes: impl Into<Vec<u8>>) -> Source {
        let bytes: Vec<u8> = bytes.into();
        let compression = Compression::of(&bytes);
        let head = bytes[..bytes.len().min(HEAD_BYTES)].to_vec();
        let len = bytes.len() as u64;
        let mut s = Source { name: name.into(), kind: Kind::Memory(Arc::new(bytes)), compression, head, len };
        s.unwrap_head();
        s
    }

    /// Replaces the compressed head by the decompressed one. What cannot be decompressed shows when it is read.
    fn unwrap_head(&mut self) {
        if self.compression != Compression::None {
            let mut head = Vec::new();
            if let Ok(r) = self.open_stored(&ReadOptions::default(), false) {
                // A damaged stream gives what came before the damage.
                let _ = r.take(HEAD_BYTES as u64).read_to_end(&mut head);
            }
            self.head = head;
        }
    }

    /// As the user named it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Last part of the name without `.gz` or `.zst`: what name conventions such as `cid_host_rid.st` look at.
    pub(crate) fn file_name(&self) -> &str {
        let n = self.name.rsplit('/').next().unwrap_or(&self.name);
        n.strip_suffix(".gz").or_else(|| n.strip_suffix(".zst")).unwrap_or(n)
    }

    /// The first [`HEAD_BYTES`] at most, decompressed.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Size as stored, in bytes; 0 for a folder, and where it is not known.
    pub fn stored_bytes(&self) -> u64 {
        match self.kind {
            Kind::Pipe(_) => 0,
            _ => self.len,
        }
    }

    /// Size as stored, in bytes, or more than any where it is not known.
    pub(crate) fn most_stored_bytes(&self) -> u64 {
        match self.kind {
            Kind::Pipe(_) => u64::MAX,
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
            Kind::Folder(m) => Some(m),
            _ => None,
        }
    }

    /// The decompressed content as a stream, from the start. Reports the stored bytes it consumes to `options.progress`.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the file cannot be opened, [`ErrorKind::Usage`] for a folder.
    pub(crate) fn reader(&self, options: &ReadOptions) -> Result<Box<dyn Read + Send + '_>> {
        self.open_stored(options, true)
    }

    /// As [`Source::reader`]; unless `to_the_end` no more is decompressed than is read.
    fn open_stored(&self, options: &ReadOptions, to_the_end: bool) -> Result<Box<dyn Read + Send + '_>> {
        let raw: Box<dyn Read + Send + '_> = match &self.kind {
            Kind::File(p) => Box::new(File::open(p).map_err(|e| Error::from(e).in_file(&self.name))?),
            Kind::Memory(b) => Box::new(&b[..]),
            Kind::Pipe(p) => Box::new(p.reader()),
            Kind::Folder(_) => {
                return Err(Error::new(ErrorKind::Usage, "a folder cannot be read as a file").in_file(&self.name));
            }
        };
        let raw = Counting { inner: raw, progress: options.progress.clone(), limits: options.limits.clone() };
        Ok(match self.compression {
            Compression::None => Box::new(raw),
            Compression::Gzip if to_the_end => Box::new(Members::new(raw)),
            Compression::Gzip => Box::new(MultiGzDecoder::new(BufReader::with_capacity(64 << 10, raw))),
            Compression::Zstd => {
                let r = BufReader::with_capacity(256 << 10, raw);
                let d = ruzstd::decoding::StreamingDecoder::new(r).map_err(|e| {
                    Error::new(ErrorKind::Malformed, format!("not a sound zstd stream: {e}")).in_file(&self.name)
                })?;
                Box::new(d)
            }
        })
    }

    /// The content as it is stored, from a byte on.
    ///
    /// # Errors
    /// As [`Source::reader`]; [`ErrorKind::Io`] if it cannot be reached.
    pub(crate) fn stored_from(&self, offset: u64, options: &ReadOptions) -> Result<Box<dyn Read + Send + '_>> {
        let raw: Box<dyn Read + Send + '_> = match &self.kind {
            Kind::File(p) => {
                let opened = File::open(p).and_then(|mut f| f.seek(SeekFrom::Start(offset)).map(|_| f));
                Box::new(opened.map_err(|e| Error::from(e).in_file(&self.name))?)
            }
            Kind::Memory(b) => Box::new(&b[usize::try_from(offset).unwrap_or(usize::MAX).min(b.len())..]),
            Kind::Pipe(p) => {
                let mut reader = p.reader();
                io::copy(&mut (&mut reader).take(offset), &mut io::sink())?;
                Box::new(reader)
            }
            Kind::Folder(_) => return self.reader(options),
        };
        let limits = options.limits.clone();
        Ok(Box::new(Counting { inner: raw, progress: options.progress.clone(), limits }))
    }

    /// The decompressed content as a whole.
    ///
    /// # Errors
    /// As [`Source::reader`]; [`ErrorKind::Io`] if reading fails; [`ErrorKind::Limit`] above `limits.memory_bytes`.
    pub(crate) fn read_all(&self, options: &ReadOptions) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if self.compression == Compression::None {
            bytes.reserve_exact(self.stored_bytes().min(options.limits.memory_bytes) as usize);
        }
        let mut r = self.reader(options)?;
        read_bounded(&mut r, options.limits.memory_bytes, &mut bytes).map_err(|e| e.in_file(&self.name))?;
        Ok(bytes)
    }
}

/// True if the error means that the data is damaged or cut, rather than that the system could not read it.
pub fn is_damage(e: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    matches!(e.kind(), UnexpectedEof | InvalidData | InvalidInput | Other)
}

fn read_bounded(r: &mut dyn Read, cap: u64, out: &mut Vec<u8>) -> Result<()> {
    r.take(cap.saturating_add(1).saturating_sub(out.len() as u64)).read_to_end(out)?;
    if out.len() as u64 > cap {
        let found = "the input has to fit in memory and is larger";
        return Err(Error::limit(found, format!("{cap} bytes")).remedy(Remedy::AllowMemory));
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

/// The files and the folders directly in a folder in the order of their names, without those already visited. Symbolic links are
/// followed; hidden entries, links to nothing, sockets and the like are left out.
pub(super) fn entries(path: &Path, limits: &Limits, visited: &mut Visited) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
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
pub(super) struct Visited {
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
