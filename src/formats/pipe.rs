//! An input that comes once, such as standard input: its start is kept, so that it can be read again from there.

use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

/// Bytes of the start that are kept. A format that has to begin again does so early, or needs an input of this size at most.
const KEPT_BYTES: usize = 256 << 20;

/// An input that comes once.
pub(super) struct Pipe(Mutex<State>);

struct State {
    input: Box<dyn Read + Send>,
    /// All bytes so far; nothing once they are too many.
    kept: Vec<u8>,
    /// Bytes so far.
    taken: u64,
    most: usize,
}

impl Pipe {
    /// `head` has been read, `input` follows.
    pub fn new(head: Vec<u8>, input: Box<dyn Read + Send>) -> Pipe {
        Pipe::keeping(head, input, KEPT_BYTES)
    }

    fn keeping(head: Vec<u8>, input: Box<dyn Read + Send>, most: usize) -> Pipe {
        Pipe(Mutex::new(State { input, taken: head.len() as u64, kept: head, most }))
    }

    /// Reads from the start for the last time: nothing more is kept.
    pub fn last_reader(&self) -> PipeReader<'_> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).most = 0;
        self.reader()
    }

    /// Reads from the start.
    pub fn reader(&self) -> PipeReader<'_> {
        PipeReader { pipe: self, at: 0 }
    }
}

impl std::fmt::Debug for Pipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pipe")
    }
}

/// Reads a [`Pipe`] from its start.
pub(super) struct PipeReader<'p> {
    pipe: &'p Pipe,
    at: u64,
}

impl Read for PipeReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let state = &mut *self.pipe.0.lock().unwrap_or_else(PoisonError::into_inner);
        let n = state.read(self.at, buffer)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl State {
    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if at == self.taken {
            let n = self.input.read(buffer)?;
            if self.kept.len() as u64 == self.taken && self.kept.len() + n <= self.most {
                self.kept.extend_from_slice(&buffer[..n]);
            } else {
                self.kept = Vec::new();
            }
            self.taken += n as u64;
            return Ok(n);
        }
        let kept = usize::try_from(at).ok().and_then(|at| self.kept.get(at..)).filter(|k| !k.is_empty());
        let gone = || {
            let found = "it has to be read twice, and its start is gone: store it in a file, and name the file";
            io::Error::new(io::ErrorKind::NotSeekable, found)
        };
        let mut kept = kept.ok_or_else(gone)?;
        kept.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut r: impl Read) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        r.read_to_end(&mut bytes).map(|_| bytes)
    }

    #[test]
    fn what_is_kept_can_be_read_again() {
        let pipe = Pipe::keeping(b"head ".to_vec(), Box::new(&b"and the rest"[..]), 100);
        let mut first = pipe.reader();
        let mut start = [0; 7];
        first.read_exact(&mut start).unwrap();
        assert_eq!(all(pipe.reader()).unwrap(), b"head and the rest");
        assert_eq!(all(first).unwrap(), b"d the rest");
    }

    #[test]
    fn a_long_input_is_read_once() {
        let pipe = Pipe::keeping(b"head ".to_vec(), Box::new(&b"and the rest"[..]), 8);
        assert_eq!(all(pipe.reader()).unwrap(), b"head and the rest");
        assert_eq!(all(pipe.reader()).unwrap_err().kind(), io::ErrorKind::NotSeekable);
    }
}
