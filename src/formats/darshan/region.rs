//! Regions: sequences of compressed streams, one per process that wrote, opened piece by piece.

use std::borrow::Cow;

use flate2::{Decompress, FlushDecompress, Status};

use super::header::RegionCompression;
use crate::error::{Error, Place, Result};
use crate::formats::limits::Limits;

/// Decompressed bytes held at a time: small enough for the second-level cache, and less for small regions.
const PIECE: usize = 128 << 10;

/// Output up to here is never held against the ratio of [`Limits::expansion`].
const FREE: u64 = 1 << 20;

/// zlib cannot expand more than about 1030 times, so [`Limits::expansion`] alone would bound only bzip2. Regions of real logs
/// stay below 100 times.
const EXPANSION: u64 = 500;

/// Streams without content that may follow each other; Darshan writes none.
const EMPTY_STREAMS: u32 = 4096;

enum Codec {
    Zlib(Box<Decompress>),
    Bzip2(Box<bzip2::Decompress>),
    Stored,
}

/// The plain data of a region, through a window that moves forward.
///
/// Darshan appends one complete stream per process; the data is the concatenation of all of them, and records cross their
/// boundaries.
pub(super) struct Region<'a> {
    name: Cow<'static, str>,
    input: &'a [u8],
    /// Place of `input` in the file.
    origin: u64,
    consumed: usize,
    codec: Codec,
    /// Inside a stream: its end has not been seen.
    open: bool,
    buffer: Vec<u8>,
    head: usize,
    tail: usize,
    /// Plain bytes produced so far.
    produced: u64,
    /// Plain bytes in streams whose checksum was right.
    verified: u64,
    streams: u64,
    empty_streams: u32,
    /// The most plain bytes that a region of this size can hold.
    most: u64,
    /// The most plain bytes that are wanted: `most` or what memory allows.
    cap: u64,
    /// Plain bytes to stop after, as if the region ended there.
    stop: u64,
    finished: bool,
    limits: &'a Limits,
}

impl<'a> Region<'a> {
    /// The region of `name` at (offset, length) of the file, which the header has checked.
    pub fn new(
        name: Cow<'static, str>,
        file: &'a [u8],
        at: (u64, u64),
        compression: RegionCompression,
        limits: &'a Limits,
    ) -> Self {
        let start = usize::try_from(at.0).unwrap_or(usize::MAX).min(file.len());
        let end = usize::try_from(at.0.saturating_add(at.1)).unwrap_or(usize::MAX).clamp(start, file.len());
        let input = &file[start..end];
        let piece = input.len().saturating_mul(8).next_power_of_two().clamp(1 << 10, PIECE);
        let (codec, room) = match compression {
            RegionCompression::Zlib => (Codec::Zlib(Box::new(Decompress::new(true))), piece),
            RegionCompression::Bzip2 => (Codec::Bzip2(Box::new(bzip2::Decompress::new(false))), piece),
            RegionCompression::None => (Codec::Stored, 0),
        };
        let ratio = limits.expansion.min(EXPANSION);
        let most = FREE.saturating_add(ratio.saturating_mul(input.len() as u64));
        let cap = limits.memory_bytes.min(most);
        Region {
            name,
            input,
            origin: at.0,
            consumed: 0,
            codec,
            open: false,
            buffer: vec![0; room],
            head: 0,
            tail: 0,
            produced: 0,
            verified: 0,
            streams: 0,
            empty_streams: 0,
            most,
            cap,
            stop: u64::MAX,
            finished: false,
            limits,
        }
    }

    /// Ends the region after this many plain bytes.
    pub fn stop_after(mut self, plain_bytes: u64) -> Self {
        self.stop = plain_bytes;
        self
    }

    /// Gives every record of `size` bytes to `each`; returns the bytes after the last whole one.
    pub fn records(&mut self, size: usize, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<u64> {
        loop {
            let w = self.window(size)?;
            let whole = w.len() / size * size;
            if whole == 0 {
                return Ok(w.len() as u64);
            }
            w[..whole].chunks_exact(size).try_for_each(&mut each)?;
            self.consume(whole);
        }
    }

    /// The first `size` bytes of the next record, not consumed; `None` at the end.
    pub fn record(&mut self, size: usize) -> Result<Option<&[u8]>> {
        match self.window(size)?.len() {
            0 => Ok(None),
            left if left < size => Err(self
                .malformed(format!("{left} bytes after the last record"))
                .expected(format!("a record of {size} bytes or more"))),
            _ => Ok(self.window(size)?.get(..size)),
        }
    }

    /// The next plain bytes: at least `n`, fewer only at the end of the region.
    pub fn window(&mut self, n: usize) -> Result<&[u8]> {
        if let Codec::Stored = self.codec {
            (self.streams, self.produced, self.verified) = (1, self.input.len() as u64, self.input.len() as u64);
            let end = self.input.len().min(usize::try_from(self.stop).unwrap_or(usize::MAX));
            return Ok(self.input.get(self.consumed..end).unwrap_or_default());
        }
        if self.tail - self.head < n && !self.finished {
            self.refill(n)?;
        }
        let surplus = usize::try_from(self.produced.saturating_sub(self.stop)).unwrap_or(usize::MAX);
        let end = self.tail.saturating_sub(surplus).max(self.head);
        Ok(&self.buffer[self.head..end])
    }

    /// Moves the window forward by `n` bytes of it.
    pub fn consume(&mut self, n: usize) {
        match self.codec {
            Codec::Stored => self.consumed = (self.consumed + n).min(self.input.len()),
            _ => self.head = (self.head + n).min(self.tail),
        }
    }

    /// Moves the window forward by `n` bytes; false if the region ends before.
    pub fn skip(&mut self, n: u64) -> Result<bool> {
        let mut left = n;
        while left > 0 {
            let have = self.window(1)?.len();
            if have == 0 {
                return Ok(false);
            }
            let step = usize::try_from(left).unwrap_or(usize::MAX).min(have);
            self.consume(step);
            left -= step as u64;
        }
        Ok(true)
    }

    /// Plain bytes before the window.
    pub fn position(&self) -> u64 {
        match self.codec {
            Codec::Stored => self.consumed as u64,
            _ => self.produced - (self.tail - self.head) as u64,
        }
    }

    /// The most plain bytes that can follow, by the size of the region: a count that needs more is wrong.
    pub fn room(&self) -> u64 {
        let most = match self.codec {
            Codec::Stored => self.input.len() as u64,
            _ => self.most,
        };
        most.saturating_sub(self.position())
    }

    /// Plain bytes in complete streams.
    pub fn verified(&self) -> u64 {
        self.verified
    }

    /// Complete streams seen so far.
    pub fn streams(&self) -> u64 {
        self.streams
    }

    /// An error about the plain data at the window.
    pub fn malformed(&self, found: impl std::fmt::Display) -> Error {
        Error::malformed(
            Place::Byte(self.origin),
            format!("{} data, byte {} after decompression: {found}", self.name, self.position()),
        )
    }

    fn damage(&self, found: &str) -> Error {
        Error::malformed(Place::Byte(self.origin + self.consumed as u64), format!("{} region: {found}", self.name))
            .remedy("copy the log again: it was damaged on the way")
    }

    fn refill(&mut self, n: usize) -> Result<()> {
        self.limits.in_time()?;
        self.buffer.copy_within(self.head..self.tail, 0);
        (self.head, self.tail) = (0, self.tail - self.head);
        if n > self.buffer.len() {
            self.buffer.resize(n, 0);
        }
        while self.tail < self.buffer.len() {
            if self.produced >= self.stop {
                self.finished = true;
                return Ok(());
            }
            if self.consumed == self.input.len() && !self.open {
                self.finished = true;
                return Ok(());
            }
            let (eaten, made, ended) = self.decompress()?;
            self.open = true;
            self.consumed += eaten;
            self.tail += made;
            self.produced += made as u64;
            if self.produced > self.cap {
                return Err(Error::limit(
                    format!(
                        "the {} region of {} bytes decompresses to more than {} bytes",
                        self.name,
                        self.input.len(),
                        self.cap
                    ),
                    if self.cap < self.most {
                        "the memory that is allowed".to_owned()
                    } else {
                        format!("{EXPANSION} times its size above the first MiB")
                    },
                )
                .at(Place::Byte(self.origin)));
            }
            if ended {
                self.end_stream()?;
            } else if eaten == 0 && made == 0 {
                return Err(self.damage("the last compressed stream is cut"));
            }
        }
        Ok(())
    }

    /// One step: compressed bytes eaten, plain bytes made, end of a stream reached.
    fn decompress(&mut self) -> Result<(usize, usize, bool)> {
        let (input, output) = (&self.input[self.consumed..], &mut self.buffer[self.tail..]);
        let step = match &mut self.codec {
            Codec::Zlib(z) => {
                let (i, o) = (z.total_in(), z.total_out());
                z.decompress(input, output, FlushDecompress::None)
                    .map(|s| ((z.total_in() - i) as usize, (z.total_out() - o) as usize, s == Status::StreamEnd))
                    .ok()
            }
            Codec::Bzip2(z) => {
                let (i, o) = (z.total_in(), z.total_out());
                z.decompress(input, output)
                    .map(|s| {
                        let ended = s == bzip2::Status::StreamEnd;
                        ((z.total_in() - i) as usize, (z.total_out() - o) as usize, ended)
                    })
                    .ok()
            }
            Codec::Stored => Some((0, 0, true)),
        };
        step.ok_or_else(|| self.damage("not a sound compressed stream"))
    }

    fn end_stream(&mut self) -> Result<()> {
        self.open = false;
        self.streams += 1;
        self.empty_streams = if self.produced == self.verified { self.empty_streams + 1 } else { 0 };
        self.verified = self.produced;
        if self.empty_streams > EMPTY_STREAMS {
            return Err(Error::limit(
                format!("{} compressed streams without content in the {} region", self.empty_streams, self.name),
                EMPTY_STREAMS,
            )
            .at(Place::Byte(self.origin + self.consumed as u64)));
        }
        match &mut self.codec {
            Codec::Zlib(z) => z.reset(true),
            Codec::Bzip2(z) if self.consumed < self.input.len() => **z = bzip2::Decompress::new(false),
            _ => {}
        }
        Ok(())
    }
}

/// Smallest part that is worth a core.
const PART: usize = 512 << 10;
/// Bytes that are searched for the start of a stream.
const SEARCH: usize = 16 << 20;

/// Cuts a region before streams that look like the start of a record, into at most `parts` parts of similar size: their lengths.
///
/// That a part starts there is a guess: the parts before it must prove it by ending there, at the end of a stream and of a record.
pub(super) fn guess_parts(
    input: &[u8],
    compression: RegionCompression,
    parts: usize,
    looks_right: impl Fn(&[u8]) -> bool,
) -> Vec<usize> {
    let parts = parts.min(input.len() / PART);
    let mut cuts = vec![0];
    for k in 1..parts {
        let from = input.len() / parts * k;
        let to = (from + SEARCH).min(input.len() / parts * (k + 1));
        if let Some(at) = find_stream(&input[from..], to - from, compression, &looks_right) {
            cuts.push(from + at);
        }
    }
    cuts.push(input.len());
    cuts.windows(2).map(|w| w[1] - w[0]).collect()
}

/// The first place before `within` where a stream begins whose plain data looks right.
fn find_stream(
    input: &[u8],
    within: usize,
    compression: RegionCompression,
    looks_right: &impl Fn(&[u8]) -> bool,
) -> Option<usize> {
    let mut zlib = Decompress::new(true);
    let mut plain = [0; 512];
    let first = match compression {
        RegionCompression::Zlib => 0x78,
        RegionCompression::Bzip2 => b'B',
        RegionCompression::None => return None,
    };
    memchr::memchr_iter(first, input.get(..within)?).find(|&at| {
        let stream = &input[at..];
        let made = match (compression, stream) {
            // The second byte makes the two a multiple of 31 and asks for no dictionary (RFC 1950).
            (RegionCompression::Zlib, &[a, b, ..])
                if (u16::from(a) * 256 + u16::from(b)) % 31 == 0 && b & 0x20 == 0 =>
            {
                zlib.reset(true);
                let ok = zlib.decompress(stream, &mut plain, FlushDecompress::None).is_ok();
                if ok { zlib.total_out() } else { 0 }
            }
            (RegionCompression::Bzip2, &[b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]) => {
                let mut z = bzip2::Decompress::new(false);
                let ok = z.decompress(stream, &mut plain).is_ok();
                if ok { z.total_out() } else { 0 }
            }
            _ => 0,
        };
        looks_right(&plain[..made as usize])
    })
}
