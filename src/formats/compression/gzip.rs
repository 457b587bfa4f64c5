//! gzip with several members one after the other, which are decompressed side by side.
//!
//! A member does not say how long it is compressed. The bytes that begin one are looked for in what lies ahead; a stretch between two
//! such places that decompresses to its very end, with the right check sum, is a member. Any other is decompressed as a stream from
//! where it begins, so that all inputs give the bytes and the errors that a single decompressor gives.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use memchr::memmem;
use rayon::prelude::*;

/// Compressed bytes that are looked at for members.
const AHEAD: usize = 4 << 20;
/// Compressed bytes read at once.
const BLOCK: usize = 256 << 10;
/// Decompressed bytes of the members that are decompressed side by side, for each thread.
const AT_ONCE: usize = 4 << 20;
/// Most bytes that deflate makes of one.
const EXPANSION: usize = 1032;
/// Bytes of the shortest member: header, an empty block, check sum and length.
const SHORTEST: usize = 20;

/// The decompressed content of all members.
pub(super) struct Members<R> {
    state: State<R>,
    /// Decompressed members, of the first of which `used` bytes were given.
    ready: VecDeque<Vec<u8>>,
    used: usize,
}

enum State<R> {
    /// At the start of a member, or at the end.
    Between(Compressed<R>),
    /// In a member that is decompressed as a stream.
    Inside(Box<GzDecoder<Compressed<R>>>),
    /// After an error.
    Over,
}

impl<R: Read> Members<R> {
    pub(super) fn new(reader: R) -> Self {
        let compressed = Compressed { reader, buffer: Vec::new(), start: 0, ended: false };
        Members { state: State::Between(compressed), ready: VecDeque::new(), used: 0 }
    }

    /// Decompresses the members that lie ahead, or begins the next one.
    fn next_members(&mut self, mut compressed: Compressed<R>) -> io::Result<()> {
        compressed.look_ahead(AHEAD)?;
        if compressed.data().is_empty() {
            self.state = State::Between(compressed);
            return Ok(());
        }
        let budget = AT_ONCE * rayon::current_num_threads();
        let members = stretches(compressed.data(), compressed.ended, budget);
        let data = compressed.data();
        let outcomes: Vec<Option<Vec<u8>>> = match members.len() {
            0 | 1 => Vec::new(),
            _ => members.par_iter().map(|&(from, to, size)| whole_member(&data[from..to], size)).collect(),
        };
        let mut end = 0;
        for ((_, to, _), bytes) in members.into_iter().zip(outcomes) {
            let Some(bytes) = bytes else { break };
            self.ready.push_back(bytes);
            end = to;
        }
        compressed.start += end;
        self.state =
            if end > 0 { State::Between(compressed) } else { State::Inside(Box::new(GzDecoder::new(compressed))) };
        Ok(())
    }

    /// Copies decompressed bytes; 0 if there are none.
    fn give(&mut self, out: &mut [u8]) -> usize {
        while let Some(first) = self.ready.front() {
            let rest = &first[self.used..];
            if !rest.is_empty() {
                let n = rest.len().min(out.len());
                out[..n].copy_from_slice(&rest[..n]);
                self.used += n;
                return n;
            }
            self.ready.pop_front();
            self.used = 0;
        }
        0
    }
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            let given = self.give(out);
            if given > 0 {
                return Ok(given);
            }
            match std::mem::replace(&mut self.state, State::Over) {
                State::Between(compressed) => {
                    self.next_members(compressed)?;
                    if let State::Between(at_end) = &self.state
                        && at_end.data().is_empty()
                        && at_end.ended
                        && self.ready.is_empty()
                    {
                        return Ok(0);
                    }
                }
                State::Inside(mut decoder) => match decoder.read(out)? {
                    0 => self.state = State::Between(decoder.into_inner()),
                    n => {
                        self.state = State::Inside(decoder);
                        return Ok(n);
                    }
                },
                State::Over => return Ok(0),
            }
        }
    }
}

/// Stretches of `data`, which begins with a member, from the start of what may be a member to that of the next, and the size that
/// each states; `ended`: the last one reaches the end of the data. Together they state at most `budget` bytes.
fn stretches(data: &[u8], ended: bool, budget: usize) -> Vec<(usize, usize, usize)> {
    let begins = |at: &usize| data.get(at + 3).is_some_and(|flags| flags & 0xe0 == 0);
    let later = memmem::find_iter(data.get(1..).unwrap_or_default(), b"\x1f\x8b\x08").map(|n| n + 1).filter(begins);
    let mut list = Vec::new();
    let (mut from, mut sum) = (0, 0);
    for to in later.chain(ended.then_some(data.len())) {
        let size = match data[from..to].last_chunk() {
            Some(size) if to - from >= SHORTEST - 2 => u32::from_le_bytes(*size) as usize,
            _ => break,
        };
        sum += size;
        if sum > budget || size / EXPANSION > to - from {
            break;
        }
        list.push((from, to, size));
        from = to;
    }
    list
}

/// Decompresses a member that fills the stretch and has this size; `None` if it does not.
fn whole_member(stretch: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut decoder = GzDecoder::new(stretch);
    let mut bytes = Vec::with_capacity(size);
    decoder.by_ref().take(size as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() == size && decoder.into_inner().is_empty()).then_some(bytes)
}

/// Compressed bytes, of which many can be looked at before they are consumed.
struct Compressed<R> {
    reader: R,
    buffer: Vec<u8>,
    /// `buffer[..start]` is consumed.
    start: usize,
    ended: bool,
}

impl<R: Read> Compressed<R> {
    fn data(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Reads until `n` bytes wait, or the input ends.
    fn look_ahead(&mut self, n: usize) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        while !self.ended && self.buffer.len() < n {
            let had = self.buffer.len();
            let got = (&mut self.reader).take((n - had).min(BLOCK) as u64).read_to_end(&mut self.buffer)?;
            self.ended = got == 0;
        }
        Ok(())
    }
}

impl<R: Read> Read for Compressed<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

impl<R: Read> BufRead for Compressed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.data().is_empty() && !self.ended {
            self.look_ahead(BLOCK)?;
        }
        Ok(self.data())
    }

    fn consume(&mut self, n: usize) {
        self.start = self.buffer.len().min(self.start + n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::bufread::MultiGzDecoder;
    use proptest::prelude::*;
    use std::io::Write;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        z.write_all(text).unwrap();
        z.finish().unwrap()
    }

    /// What came before the end or an error, and whether there was one.
    fn all(mut reader: impl Read) -> (Vec<u8>, bool) {
        let (mut bytes, mut block) = (Vec::new(), [0; 777]);
        loop {
            match reader.read(&mut block) {
                Ok(0) => return (bytes, false),
                Ok(n) => bytes.extend_from_slice(&block[..n]),
                Err(_) => return (bytes, true),
            }
        }
    }

    #[test]
    fn members_are_found_whatever_they_hold() {
        // stored blocks that hold the bytes of another member
        let inner = member(b"inner");
        let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        z.write_all(&inner).unwrap();
        let outer = z.finish().unwrap();
        let text = [member(b"a"), outer, member(b""), member(&[b'x'; 100_000])].concat();
        let expected = [&b"a"[..], &inner, &[b'x'; 100_000]].concat();
        assert_eq!(all(Members::new(&text[..])), (expected, false));
    }

    proptest! {
        #[test]
        fn a_damaged_input_gives_what_one_decompressor_gives(
            texts in prop::collection::vec("[ab{}]{0,60}", 1..6), cut in 0usize..400, flip in 0usize..4000, tail in 0usize..3,
        ) {
            let mut bytes: Vec<u8> = texts.iter().flat_map(|t| member(t.as_bytes())).collect();
            bytes.extend_from_slice(&b"\x00\x1f"[..tail.min(2)]);
            bytes.truncate(bytes.len().saturating_sub(cut / 8).max(1));
            if let Some(b) = bytes.get_mut(flip / 8) {
                *b ^= 1 << (flip % 8);
            }
            prop_assert_eq!(all(Members::new(&bytes[..])), all(MultiGzDecoder::new(&bytes[..])));
        }
    }
}
