//! Numbers and blocks of bytes that are in memory.

use std::fmt;

use crate::error::{Error, Place, Result};

/// Order of the bytes of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// `little` or `big`.
    pub fn name(self) -> &'static str {
        match self {
            ByteOrder::Little => "little",
            ByteOrder::Big => "big",
        }
    }
}

/// Some bytes, and a place in them. What comes next is checked against their end. A number at a place of its own is not:
/// the caller has the length from the layout.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
    order: ByteOrder,
    /// Name of these bytes in messages.
    what: &'static str,
}

impl<'b> Cursor<'b> {
    pub(super) fn new(bytes: &'b [u8], what: &'static str) -> Self {
        Cursor { bytes, at: 0, order: ByteOrder::Little, what }
    }

    /// A header, a record or a segment whose numbers have this order.
    #[inline]
    pub(super) fn record(bytes: &'b [u8], order: ByteOrder) -> Self {
        Cursor { bytes, at: 0, order, what: "record" }
    }

    /// The next `n` bytes by themselves, with places that count from where these do.
    pub(super) fn part(&mut self, n: usize) -> Result<Cursor<'b>> {
        let at = self.at;
        self.take(n)?;
        Ok(Cursor { bytes: &self.bytes[..self.at], at, ..*self })
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

    /// Bytes of a number, the least significant one first.
    #[inline]
    fn array_at<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut a = [0; N];
        a.copy_from_slice(&self.bytes[at..at + N]);
        if self.order == ByteOrder::Big {
            a.reverse();
        }
        a
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let at = self.at;
        self.take(N)?;
        Ok(self.array_at(at))
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        self.array().map(u8::from_le_bytes)
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

    #[inline]
    pub(super) fn u32_at(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array_at(at))
    }

    #[inline]
    pub(super) fn u64_at(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.array_at(at))
    }

    #[inline]
    pub(super) fn i64_at(&self, at: usize) -> i64 {
        i64::from_le_bytes(self.array_at(at))
    }

    #[inline]
    pub(super) fn f64_at(&self, at: usize) -> f64 {
        f64::from_le_bytes(self.array_at(at))
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

/// The text before the first NUL, or all of it.
pub(super) fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&b| b == 0).next().unwrap_or(bytes)
}
