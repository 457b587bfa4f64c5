//! A bounded window that slides over an input, reading the next block while the last one is parsed.

use std::io::{self, Read};
use std::ops::Range;

use memchr::{memchr, memrchr};

use super::options::ReadOptions;
use super::source::Source;
use crate::error::{Error, Result, is_damage};

/// Bytes read at once.
const BLOCK: usize = 2 << 20;
/// Room in front of a block for the rest of the one before.
const FRONT: usize = 64 << 10;

/// The part of an input that is in memory. Grows only if a caller asks for more without consuming.
pub(crate) struct Window<'a> {
    reader: Box<dyn Read + Send + 'a>,
    block: usize,
    buffer: Vec<u8>,
    spare: Vec<u8>,
    /// `buffer[start..end]` is read and not consumed.
    start: usize,
    end: usize,
    /// Offset of `buffer[start]` in the input.
    offset: u64,
    ended: bool,
    damage: Option<String>,
}

impl<'a> Window<'a> {
    /// Opens an input and reads its first block.
    ///
    /// # Errors
    /// As [`Source::reader`]; [`ErrorKind::Io`](crate::ErrorKind::Io) if reading fails; here and later
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if a compressed input expands beyond [`Limits::expansion`](super::Limits).
    pub(crate) fn open(source: &'a Source, options: &ReadOptions) -> Result<Self> {
        Self::in_blocks(source, options, BLOCK)
    }

    /// The same with blocks of at most `most_block` bytes: a reader that does not share a block out among threads gains nothing from
    /// more than the caches hold.
    pub(crate) fn in_blocks(source: &'a Source, options: &ReadOptions, most_block: usize) -> Result<Self> {
        // A small file takes one small block; what is compressed may be of any size.
        let stored = usize::try_from(source.most_stored_bytes()).unwrap_or(usize::MAX);
        let whole = if source.is_compressed() { usize::MAX } else { stored.saturating_add(1) };
        Self::over(source.reader(options)?, whole.min(most_block))
    }

    /// Bytes in memory.
    ///
    /// # Errors
    /// None but those of the system.
    pub(crate) fn of_bytes(bytes: &'a [u8]) -> Result<Self> {
        Self::over(Box::new(bytes), bytes.len().saturating_add(1))
    }

    fn over(reader: Box<dyn Read + Send + 'a>, block: usize) -> Result<Self> {
        let mut window = Window {
            reader,
            block,
            buffer: Vec::new(),
            spare: Vec::new(),
            start: 0,
            end: 0,
            offset: 0,
            ended: false,
            damage: None,
        };
        window.more()?;
        Ok(window)
    }

    /// The bytes in memory that are not consumed.
    #[inline]
    pub(crate) fn data(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Offset of the first byte of [`Window::data`] in the (decompressed) input.
    #[inline]
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Drops the first `n` bytes of [`Window::data`], or all if there are fewer.
    #[inline]
    pub(crate) fn consume(&mut self, n: usize) {
        let n = n.min(self.end - self.start);
        self.start += n;
        self.offset += n as u64;
    }

    /// Gives the first `n` bytes of [`Window::data`], or all if there are fewer, and drops them.
    pub(crate) fn take(&mut self, n: usize) -> &[u8] {
        let begin = self.start;
        self.consume(n);
        &self.buffer[begin..self.start]
    }

    /// Drops the next `n` bytes without holding them; false if the input ends before.
    pub(crate) fn skip(&mut self, n: u64) -> Result<bool> {
        let end = self.offset.saturating_add(n);
        loop {
            self.consume(usize::try_from(end - self.offset).unwrap_or(usize::MAX));
            if self.offset == end || !self.more()? {
                return Ok(self.offset == end);
            }
        }
    }

    /// True if nothing follows [`Window::data`].
    pub(crate) fn at_end(&self) -> bool {
        self.ended
    }

    /// Why the input ended early: the message of a decompressor on a damaged stream.
    pub(crate) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Reads a block more; false at the end of the input.
    pub(crate) fn more(&mut self) -> Result<bool> {
        let rest = self.end - self.start;
        if self.ended {
            return Ok(false);
        }
        // A window that has to grow doubles, or a long token would be copied once a block.
        let block = self.prepare_spare(rest, self.block.max(rest));
        let outcome = fill(&mut *self.reader, &mut self.spare[block.clone()]);
        self.take_spare(block, rest, outcome)?;
        Ok(self.end - self.start > rest)
    }

    /// Runs `work` on the first `n` bytes of [`Window::data`] while the next block is read, then consumes them. Nothing is read while a
    /// block or more remains: what is consumed in small parts does not grow.
    pub(crate) fn consume_with<R: Send>(&mut self, n: usize, work: impl FnOnce(&[u8]) -> R + Send) -> Result<R> {
        let n = n.min(self.end - self.start);
        let rest = self.end - self.start - n;
        if self.ended || rest >= self.block {
            let result = work(&self.buffer[self.start..self.start + n]);
            self.consume(n);
            return Ok(result);
        }
        let block = self.prepare_spare(rest, self.block);
        let (reader, spare, done) =
            (&mut *self.reader, &mut self.spare[block.clone()], &self.buffer[self.start..self.start + n]);
        let (result, outcome) = rayon::join(|| work(done), || fill(reader, spare));
        self.consume(n);
        self.take_spare(block, rest, outcome)?;
        Ok(result)
    }

    /// Runs `work` on all of [`Window::data`] while the next block is read, then consumes as many bytes as it says. `work` is told
    /// whether nothing follows.
    pub(crate) fn consume_some<R: Send>(&mut self, work: impl FnOnce(&[u8], bool) -> (usize, R) + Send) -> Result<R> {
        let len = self.end - self.start;
        if self.ended {
            let (used, result) = work(self.data(), true);
            self.consume(used);
            return Ok(result);
        }
        let block = self.prepare_spare(len, self.block);
        let (reader, spare, done) =
            (&mut *self.reader, &mut self.spare[block.clone()], &self.buffer[self.start..self.end]);
        let ((used, result), outcome) = rayon::join(|| work(done, false), || fill(reader, spare));
        self.consume(used);
        self.take_spare(block, len - used.min(len), outcome)?;
        Ok(result)
    }

    /// The length of the whole lines at the start of [`Window::data`], or of all of it at the end of the input; `None` if nothing
    /// is left. 0 if a line is longer than `longest`: [`Window::skip_line`] leaves it out.
    pub(crate) fn whole_lines(&mut self, longest: usize) -> Result<Option<usize>> {
        loop {
            let data = self.data();
            match memrchr(b'\n', data) {
                Some(n) => return Ok(Some(n + 1)),
                None if data.len() > longest => return Ok(Some(0)),
                None => {}
            }
            if !self.more()? {
                if self.damage.is_some() {
                    // how the line would have gone on is not known
                    self.consume(usize::MAX);
                }
                let n = self.data().len();
                return Ok((n > 0).then_some(n));
            }
        }
    }

    /// Drops everything up to the end of a line, without holding it; false if the line has no end.
    pub(crate) fn skip_line(&mut self) -> Result<bool> {
        loop {
            let n = memchr(b'\n', self.data());
            self.consume(n.map_or(usize::MAX, |n| n + 1));
            if n.is_some() || !self.more()? {
                return Ok(n.is_some());
            }
        }
    }

    /// Makes room for `rest` bytes and `more` ones in the spare buffer; returns the place of the latter.
    fn prepare_spare(&mut self, rest: usize, more: usize) -> Range<usize> {
        let first = self.offset == 0 && rest == 0;
        // few sizes, so that a rest that varies finds room
        let front = if first { 0 } else { rest.max(FRONT).next_power_of_two() };
        if self.spare.len() < front + more {
            self.spare = vec![0; front + more];
        }
        front..front + more
    }

    /// Puts the last `rest` bytes in front of the block of the spare buffer and swaps the buffers.
    fn take_spare(&mut self, block: Range<usize>, rest: usize, outcome: (usize, Option<io::Error>)) -> Result<()> {
        let (n, error) = outcome;
        let front = block.start;
        self.spare[front - rest..front].copy_from_slice(&self.buffer[self.end - rest..self.end]);
        std::mem::swap(&mut self.buffer, &mut self.spare);
        (self.start, self.end) = (front - rest, front + n);
        self.ended = n < block.len() || error.is_some();
        match error {
            Some(e) if is_damage(&e) => self.damage = Some(e.to_string()),
            Some(e) => return Err(Error::from(e)),
            None => {}
        }
        Ok(())
    }
}

/// Reads until `block` is full, the input ends or fails.
fn fill(reader: &mut (dyn Read + Send), block: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut n = 0;
    while n < block.len() {
        match reader.read(&mut block[n..]) {
            Ok(0) => break,
            Ok(k) => n += k,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return (n, Some(e)),
        }
    }
    (n, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Blocks of 5 bytes.
    fn small(source: &Source) -> Window<'_> {
        let mut w = Window::open(source, &ReadOptions::default()).unwrap();
        w = Window { reader: source.reader(&ReadOptions::default()).unwrap(), block: 5, ..w };
        (w.start, w.end, w.offset, w.ended) = (0, 0, 0, false);
        (w.buffer, w.spare) = (Vec::new(), Vec::new());
        w.more().unwrap();
        w
    }

    proptest! {
        #[test]
        fn every_byte_passes_once(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            steps in prop::collection::vec((0usize..12, 0u8..4), 0..60),
        ) {
            let source = Source::from_bytes("x", bytes.clone());
            prop_assume!(!source.is_compressed());
            let mut w = small(&source);
            let mut seen = Vec::new();
            for (n, kind) in steps.into_iter().chain([(100, 0); 40].into_iter().flat_map(|s| [s, (0, 1)])) {
                prop_assert_eq!(w.offset(), seen.len() as u64);
                let n = n.min(w.data().len());
                match kind {
                    0 => {
                        seen.extend_from_slice(&w.data()[..n]);
                        w.consume(n);
                    }
                    1 => {
                        let before = w.data().len();
                        let grown = w.more().unwrap();
                        prop_assert_eq!(grown, w.data().len() > before);
                    }
                    2 => seen.extend(w.consume_with(n, <[u8]>::to_vec).unwrap()),
                    _ => seen.extend(w.consume_some(|data, _| (n, data[..n].to_vec())).unwrap()),
                }
            }
            prop_assert!(w.at_end());
            prop_assert_eq!(seen, bytes);
        }
    }
    #[test]
    fn a_window_that_is_consumed_in_small_parts_does_not_grow() {
        let source = Source::from_bytes("x", vec![b'x'; 1000]);
        let mut w = small(&source);
        while !w.data().is_empty() {
            w.consume_with(1, |_| ()).unwrap();
            assert!(w.data().len() < 2 * w.block, "{} bytes", w.data().len());
        }
        assert_eq!(w.offset(), 1000);
    }
}
