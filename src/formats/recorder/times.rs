//! Times of the calls of a rank, as they come.

use std::io::{self, BufReader, Read};

use flate2::bufread::ZlibDecoder;

use super::parts::Piece;
use crate::error::{Error, Result, is_damage};
use crate::formats::options::ReadOptions;

/// Bytes of the two times of a call.
const CALL: u64 = 8;
/// Bytes read at once.
const BUFFER: usize = 64 << 10;

/// Ticks to seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    resolution: f64,
    /// Ticks of a second, if that is a whole number: dividing by it gives the seconds as they would be written.
    per_second: Option<f64>,
}

impl Clock {
    pub(super) fn new(resolution: f64) -> Self {
        let per_second = (1.0 / resolution).round();
        Clock { resolution, per_second: Some(per_second).filter(|n| (n * resolution - 1.0).abs() < 1e-12) }
    }

    #[inline]
    pub(super) fn seconds(self, ticks: i64) -> f64 {
        match self.per_second {
            Some(n) => ticks as f64 / n,
            None => ticks as f64 * self.resolution,
        }
    }
}

/// The times of one rank.
pub(super) struct Times<'s> {
    stored: Stored<'s>,
    piece: Piece<'s>,
    /// Calls that the part should hold.
    pub calls: u64,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    /// Start of the call before, in ticks.
    start: i64,
}

enum Stored<'s> {
    Plain(Box<dyn Read + Send + 's>),
    /// Blocks that follow, and the one that is read.
    Packed(std::vec::IntoIter<(Piece<'s>, u64)>, Option<Box<dyn Read + Send + 's>>, Box<ReadOptions>),
}

impl<'s> Times<'s> {
    /// Opens the part of a rank.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed) for blocks that do not fit.
    pub(super) fn open(piece: Piece<'s>, packed: bool, options: &ReadOptions) -> Result<Self> {
        let (stored, bytes) = if packed {
            let blocks = piece.blocks(options)?;
            let bytes = blocks.iter().map(|b| b.1).fold(0u64, u64::saturating_add);
            (Stored::Packed(blocks.into_iter(), None, Box::new(options.clone())), bytes)
        } else {
            (Stored::Plain(Box::new(piece.reader(options)?)), piece.len)
        };
        if bytes % CALL != 0 && !piece.cut {
            return Err(piece.error(format!("{bytes} bytes of times, of which each call has {CALL}")));
        }
        let buffer = vec![0; BUFFER.min(usize::try_from(bytes).unwrap_or(BUFFER)).max(1)];
        Ok(Times { stored, piece, calls: bytes / CALL, buffer, at: 0, end: 0, start: 0 })
    }

    /// Start and end of the next call in ticks; `None` if the part ends before.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<(i64, i64)>> {
        if self.end - self.at < CALL as usize && !self.refill()? {
            return Ok(None);
        }
        let mut two = [0; CALL as usize];
        two.copy_from_slice(&self.buffer[self.at..self.at + CALL as usize]);
        self.at += CALL as usize;
        let both = u64::from_le_bytes(two);
        let (to_start, to_end) = (both & u64::from(u32::MAX), both >> 32);
        let before = self.start;
        let mut start = before.saturating_add(to_start as i64);
        // A call of another thread that began before the one stored before it has a difference below zero, modulo 2^32. Otherwise a
        // call cannot end before it starts.
        if to_start > to_end {
            start = start.saturating_sub(1 << 32);
        }
        self.start = start;
        Ok(Some((start, before.saturating_add(to_end as i64))))
    }

    #[cold]
    fn refill(&mut self) -> Result<bool> {
        self.buffer.copy_within(self.at..self.end, 0);
        (self.at, self.end) = (0, self.end - self.at);
        while self.end < self.buffer.len() {
            match self.more()? {
                0 => break,
                n => self.end += n,
            }
        }
        Ok(self.end >= CALL as usize)
    }

    /// Reads into the free part of the buffer.
    fn more(&mut self) -> Result<usize> {
        loop {
            return match self.stored.read(&mut self.buffer[self.end..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) if is_damage(&e) && self.piece.cut => Ok(0),
                Err(e) if is_damage(&e) => Err(self.piece.error(format!("damaged times: {e}"))),
                read => read.map_err(|e| Error::from(e).in_file(self.piece.source.name())),
            };
        }
    }

    /// Reads to the end of the part, where a compressed block has its checksum.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.end = 0;
        while self.more()? > 0 {}
        Ok(())
    }

    /// True if the input ends before the part does.
    pub(super) fn is_cut(&self) -> bool {
        self.piece.cut
    }

    /// An error about the part.
    pub(super) fn error(&self, found: String) -> Error {
        self.piece.error(found)
    }
}

impl Read for Stored<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (blocks, block, options) = match self {
            Stored::Plain(reader) => return reader.read(buffer),
            Stored::Packed(blocks, block, options) => (blocks, block, options),
        };
        loop {
            if let Some(reader) = block {
                let n = reader.read(buffer)?;
                if n > 0 {
                    return Ok(n);
                }
            }
            let Some((piece, plain)) = blocks.next() else { return Ok(0) };
            let stored = piece.reader(options).map_err(|e| io::Error::other(e.to_string()))?;
            let decoder = ZlibDecoder::new(BufReader::with_capacity(BUFFER, stored));
            *block = Some(Box::new(Block { decoder, left: plain }));
        }
    }
}

/// A compressed block of known plain size.
struct Block<R> {
    decoder: R,
    left: u64,
}

impl<R: Read> Read for Block<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let damage = |found: &str| Err(io::Error::new(io::ErrorKind::InvalidData, found));
        if self.left == 0 {
            // the decoder compares the checksum here
            let more = self.decoder.read(&mut [0])?;
            return if more == 0 { Ok(0) } else { damage("a compressed block is longer than it claims") };
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let n = self.decoder.read(&mut buffer[..most])?;
        self.left -= n as u64;
        if n == 0 && most > 0 { damage("a compressed block is shorter than it claims") } else { Ok(n) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::source::Source;

    #[test]
    fn a_start_before_the_last_one_is_told_by_its_end() {
        let numbers: [u32; 6] = [100, 150, u32::MAX - 9, 30, 5, 6];
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let source = Source::from_bytes("x", bytes);
        let mut times = Times::open(Piece::whole(&source), false, &ReadOptions::default()).unwrap();
        let all: Vec<_> = std::iter::from_fn(|| times.next().unwrap()).collect();
        assert_eq!((times.calls, all), (3, vec![(100, 150), (90, 130), (95, 96)]));
    }

    #[test]
    fn seconds_have_the_digits_of_the_resolution() {
        assert_eq!(Clock::new(1e-7).seconds(15_559_468), 1.5559468);
        assert_eq!(Clock::new(1e-6).seconds(-3), -0.000003);
        assert_eq!(Clock::new(0.3).seconds(10), 3.0);
    }
}
