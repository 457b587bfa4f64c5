//! Compressed bytes, of which many can be looked at before they are consumed.

use std::io::{self, BufRead, Read};

/// A reader and what was read of it ahead.
pub(super) struct Ahead<R> {
    reader: R,
    block: usize,
    buffer: Vec<u8>,
    /// `buffer[..start]` is consumed.
    start: usize,
    /// Bytes consumed so far.
    position: u64,
    ended: bool,
    /// Why the reader failed: decompressors wrap it in errors of their own.
    error: Option<io::Error>,
}

impl<R: Read> Ahead<R> {
    /// Reads `block` bytes at once.
    pub fn new(reader: R, block: usize) -> Self {
        Ahead { reader, block, buffer: Vec::new(), start: 0, position: 0, ended: false, error: None }
    }

    /// Bytes read and not consumed.
    pub fn data(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// True if nothing follows [`Ahead::data`].
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Bytes consumed so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The error of the reader, if it failed.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// Reads until `n` bytes wait, or the input ends.
    pub fn look_ahead(&mut self, n: usize) -> io::Result<()> {
        if self.ended || self.data().len() >= n {
            return Ok(());
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        while !self.ended && self.buffer.len() < n {
            let got = (&mut self.reader).take(self.block as u64).read_to_end(&mut self.buffer);
            let got = got.inspect_err(|e| self.error = Some(io::Error::new(e.kind(), e.to_string())))?;
            self.ended = got == 0;
        }
        Ok(())
    }
}

impl<R: Read> Read for Ahead<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

impl<R: Read> BufRead for Ahead<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.look_ahead(1)?;
        Ok(self.data())
    }

    fn consume(&mut self, n: usize) {
        let n = n.min(self.data().len());
        self.start += n;
        self.position += n as u64;
    }
}
