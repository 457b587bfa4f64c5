//! A file that grows, is truncated, or is replaced by another of its name.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::remedy::Remedy;

/// Result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grown {
    /// The number of bytes read.
    Bytes(usize),
    /// Nothing new.
    Nothing,
    /// The file was truncated or replaced; the next bytes begin another.
    Anew,
}

/// Bytes at the start of a file that identify it.
const HEAD: u64 = 4096;

/// A place in a file, and what the file began with: enough to find the place again, in a copy, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Bytes from the start.
    pub position: u64,
    /// So many bytes at the start ...
    head: u64,
    /// ... give this sum (FNV-1a, 64 bit).
    sum: u64,
}

/// See the module.
#[derive(Debug)]
pub struct GrowingFile {
    path: PathBuf,
    file: File,
    /// Bytes read of this file.
    read: u64,
    /// All of it was read once: the next bytes are new, or those of a file that was cut and written anew.
    at_end: bool,
    known: Known,
}

/// What was read from both ends of the part that was read.
#[derive(Debug, Default)]
struct Known {
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Known {
    /// Bytes kept of each end.
    const MOST: usize = HEAD as usize;

    /// Takes the bytes that come next.
    fn note(&mut self, bytes: &[u8]) {
        let room = Self::MOST - self.first.len();
        self.first.extend_from_slice(&bytes[..bytes.len().min(room)]);
        let bytes = &bytes[bytes.len().saturating_sub(Self::MOST)..];
        let old = (self.last.len() + bytes.len()).saturating_sub(Self::MOST);
        self.last.drain(..old);
        self.last.extend_from_slice(bytes);
    }
}

fn failed(path: &Path, e: &io::Error) -> Error {
    Error::new(ErrorKind::Io, e.to_string())
        .remedy("check the path and the permissions")
        .in_file(path.display().to_string())
}

impl GrowingFile {
    /// Opens a file at its start.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub fn open(path: &Path) -> Result<GrowingFile> {
        let file = File::open(path).map_err(|e| failed(path, &e))?;
        if file.metadata().is_ok_and(|m| m.is_dir()) {
            return Err(Error::new(ErrorKind::Unsupported, "a folder cannot be followed")
                .remedy(Remedy::FollowOneFile)
                .in_file(path.display().to_string()));
        }
        Ok(GrowingFile { path: path.to_owned(), file, read: 0, at_end: false, known: Known::default() })
    }

    /// Goes to a marked place; false, and at the start, if this is not the file that was marked.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub fn go_to(&mut self, mark: &Mark) -> Result<bool> {
        let same = self.size()? >= mark.position && self.sum(mark.head)? == Some(mark.sum);
        self.begin_at(if same { mark.position } else { 0 }).map_err(|e| failed(&self.path, &e))?;
        Ok(same)
    }

    /// Goes to a place, as if all before it had been read.
    fn begin_at(&mut self, position: u64) -> io::Result<()> {
        let mut known = Known::default();
        for from in [0, position.saturating_sub(HEAD).max(HEAD)] {
            let mut bytes = Vec::new();
            self.file.seek(SeekFrom::Start(from))?;
            (&mut self.file).take(HEAD.min(position.saturating_sub(from))).read_to_end(&mut bytes)?;
            known.note(&bytes);
        }
        self.file.seek(SeekFrom::Start(position))?;
        (self.read, self.at_end, self.known) = (position, false, known);
        Ok(())
    }

    /// Whether both ends of the first `read` bytes are what they were.
    fn is_as_known(&mut self, read: u64) -> io::Result<bool> {
        let place = self.file.stream_position()?;
        let mut same = true;
        for (from, known) in [(0, &self.known.first), (read - self.known.last.len() as u64, &self.known.last)] {
            let mut bytes = Vec::new();
            self.file.seek(SeekFrom::Start(from))?;
            (&mut self.file).take(known.len() as u64).read_to_end(&mut bytes)?;
            same &= bytes == *known;
        }
        self.file.seek(SeekFrom::Start(place))?;
        Ok(same)
    }

    /// Marks a place at or before the current one.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub fn mark(&mut self, position: u64) -> Result<Mark> {
        let head = position.min(HEAD);
        let sum = self.sum(head)?.unwrap_or(0);
        Ok(Mark { position, head, sum })
    }

    fn size(&self) -> Result<u64> {
        self.file.metadata().map(|m| m.len()).map_err(|e| failed(&self.path, &e))
    }

    /// The sum of the first bytes; `None` if there are fewer. The place in the file stays.
    fn sum(&mut self, head: u64) -> Result<Option<u64>> {
        let mut bytes = Vec::new();
        let mut at_start = || -> io::Result<()> {
            self.file.seek(SeekFrom::Start(0))?;
            (&mut self.file).take(head).read_to_end(&mut bytes)?;
            self.file.seek(SeekFrom::Start(self.read))?;
            Ok(())
        };
        at_start().map_err(|e| failed(&self.path, &e))?;
        let sum =
            bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        Ok((bytes.len() as u64 == head).then_some(sum))
    }

    /// Reads new data, as far as `buffer` takes them. A file that was replaced is read to its end before the next is begun.
    ///
    /// # Errors
    /// [`ErrorKind::Io`]; a file that is gone for a moment is none.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<Grown> {
        let n = loop {
            match self.file.read(buffer) {
                Ok(n) => break n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(failed(&self.path, &e)),
            }
        };
        let was_at_end = std::mem::replace(&mut self.at_end, n == 0);
        // A file that is cut may be as long as before when it is looked at again, or longer.
        if was_at_end
            && (self.size()? < self.read || !self.is_as_known(self.read).map_err(|e| failed(&self.path, &e))?)
        {
            self.begin_at(0).map_err(|e| failed(&self.path, &e))?;
            return Ok(Grown::Anew);
        }
        if n > 0 {
            self.read += n as u64;
            self.known.note(&buffer[..n]);
            return Ok(Grown::Bytes(n));
        }
        let Ok(there) = std::fs::metadata(&self.path) else { return Ok(Grown::Nothing) };
        let here = self.file.metadata().map_err(|e| failed(&self.path, &e))?;
        if is_same(&here, &there) {
            return Ok(Grown::Nothing);
        }
        let Ok(next) = File::open(&self.path) else { return Ok(Grown::Nothing) };
        self.file = next;
        self.begin_at(0).map_err(|e| failed(&self.path, &e))?;
        Ok(Grown::Anew)
    }
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Without inodes a replaced file is recognised by its creation time.
#[cfg(not(unix))]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    a.created().ok() == b.created().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn rest(f: &mut GrowingFile) -> (Vec<u8>, Vec<Grown>) {
        let (mut bytes, mut events) = (Vec::new(), Vec::new());
        let mut buffer = [0; 3];
        loop {
            match f.read(&mut buffer).unwrap() {
                Grown::Bytes(n) => bytes.extend_from_slice(&buffer[..n]),
                Grown::Nothing => return (bytes, events),
                other => events.push(other),
            }
        }
    }

    #[test]
    fn growth_cuts_and_rotation() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "one").unwrap();
        let mut f = GrowingFile::open(&path).unwrap();
        assert_eq!(rest(&mut f), (b"one".to_vec(), vec![]));
        let mut appended = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        appended.write_all(b"two").unwrap();
        assert_eq!(rest(&mut f), (b"two".to_vec(), vec![]));
        // rotated with a rest in the old file
        appended.write_all(b"last").unwrap();
        std::fs::rename(&path, dir.path().join("log.1")).unwrap();
        assert_eq!(rest(&mut f), (b"last".to_vec(), vec![]));
        std::fs::write(&path, "new file").unwrap();
        assert_eq!(rest(&mut f), (b"new file".to_vec(), vec![Grown::Anew]));
        // cut in place, and as long as before or longer when it is read again
        for text in ["x", "y", "longer than before", "longer than before, and more", &"x".repeat(3 * HEAD as usize)] {
            let anew = if text.ends_with("more") { vec![] } else { vec![Grown::Anew] };
            std::fs::write(&path, text).unwrap();
            let expected = text.strip_prefix("longer than before").filter(|_| anew.is_empty()).unwrap_or(text);
            assert_eq!(rest(&mut f), (expected.as_bytes().to_vec(), anew), "{text:.20}");
        }
        // with the same beginning
        std::fs::write(&path, "x".repeat(2 * HEAD as usize) + "y" + &"x".repeat(2 * HEAD as usize)).unwrap();
        assert_eq!(rest(&mut f).1, [Grown::Anew]);
    }

    #[test]
    fn a_file_is_known_again_from_a_mark() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        for length in [10, HEAD - 1, HEAD, HEAD + 7, 2 * HEAD, 3 * HEAD + 1] {
            let text: String = (0..length).map(|i| char::from(b'a' + (i % 23) as u8)).collect();
            std::fs::write(&path, &text).unwrap();
            let mut f = GrowingFile::open(&path).unwrap();
            rest(&mut f);
            let mark = f.mark(length).unwrap();
            let mut g = GrowingFile::open(&path).unwrap();
            assert!(g.go_to(&mark).unwrap());
            assert_eq!((&g.known.first, &g.known.last), (&f.known.first, &f.known.last), "{length}");
            std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more").unwrap();
            for f in [&mut f, &mut g] {
                assert_eq!(rest(f), (b"more".to_vec(), vec![]), "{length}");
                assert!(f.at_end);
            }
        }
    }

    #[test]
    fn a_mark_is_found_again_and_another_file_is_not_taken_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "0123456789").unwrap();
        let mut f = GrowingFile::open(&path).unwrap();
        rest(&mut f);
        let mark = f.mark(4).unwrap();
        let copy = dir.path().join("copy");
        std::fs::copy(&path, &copy).unwrap();
        let mut g = GrowingFile::open(&copy).unwrap();
        assert!(g.go_to(&mark).unwrap());
        assert_eq!(rest(&mut g).0, b"456789");
        for other in ["0124456789", "012"] {
            std::fs::write(&copy, other).unwrap();
            let mut g = GrowingFile::open(&copy).unwrap();
            assert!(!g.go_to(&mark).unwrap());
            assert_eq!(rest(&mut g).0, other.as_bytes());
        }
        assert!(GrowingFile::open(dir.path()).is_err() && GrowingFile::open(&dir.path().join("none")).is_err());
    }
}
