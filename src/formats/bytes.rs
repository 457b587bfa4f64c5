//! Numbers and blocks of bytes that are in memory: little-endian, checked against their end.

use std::fmt;

use crate::error::{Error, Place, Result};

/// A place in some bytes.
pub(super) struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
    /// What they are, for messages.
    what: &'static str,
}

impl<'b> Cursor<'b> {
    pub(super) fn new(bytes: &'b [u8], what: &'static str) -> Self {
        Cursor { bytes, at: 0, what }
    }

    /// The next `n` bytes by themselves, with places that count from where these do.
    pub(super) fn part(&mut self, n: usize) -> Result<Cursor<'b>> {
        let at = self.at;
        self.take(n)?;
        Ok(Cursor { bytes: &self.bytes[..self.at], at, what: self.what })
    }

    /// Bytes that follow.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// An error about what is here.
    pub(super) fn malformed(&self, found: impl fmt::Display) -> Error {
        Error::malformed(Place::Byte(self.at as u64), format!("{}: {found}", self.what))
    }

    pub(super) fn take(&mut self, n: usize) -> Result<&'b [u8]> {
        match self.bytes[self.at..].get(..n) {
            Some(taken) => {
                self.at += n;
                Ok(taken)
            }
            None => Err(self.malformed(format_args!("{n} bytes are needed and {} are left", self.left()))),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut a = [0; N];
        a.copy_from_slice(self.take(N)?);
        Ok(a)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|a| a[0])
    }

    pub(super) fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn f64(&mut self) -> Result<f64> {
        self.array().map(f64::from_le_bytes)
    }

    /// A text behind its length.
    pub(super) fn text(&mut self) -> Result<&'b [u8]> {
        let n = self.u32()?;
        self.take(n as usize)
    }

    /// A number of entries that take at least `each` bytes.
    pub(super) fn count(&mut self, each: usize, what: &str) -> Result<usize> {
        let n = self.i32()?;
        match usize::try_from(n) {
            Ok(count) if count <= self.left() / each => Ok(count),
            _ => Err(self.malformed(format_args!("{n} {what} do not fit in {} bytes", self.left()))),
        }
    }
}
