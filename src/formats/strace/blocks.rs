//! The input as blocks of whole lines.

use std::io::Read;

use memchr::{memchr, memrchr};

use crate::error::{Error, Result, is_damage};
use crate::formats::limits::Limits;

/// Bytes read at a time: large enough to be worth sharing between threads, and small enough that even lines of one byte,
/// taken apart, stay in some tens of mebibytes.
const BLOCK: usize = 512 << 10;

/// Cuts a stream into blocks that end at line ends.
pub(super) struct Blocks<'a> {
    reader: Box<dyn Read + Send + 'a>,
    carry: Vec<u8>,
    line_bytes: usize,
    ended: bool,
    /// The last line has no line break.
    pub(super) unterminated: bool,
    /// The stream broke off; why.
    pub(super) damage: Option<String>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(reader: Box<dyn Read + Send + 'a>, limits: &Limits) -> Self {
        Blocks {
            reader,
            carry: Vec::new(),
            // Offsets in lines are of 32 bits.
            line_bytes: limits.line_bytes.min(1 << 30),
            ended: false,
            unterminated: false,
            damage: None,
        }
    }

    /// Replaces `block` by the next one; false if there is none. A line longer than the limit is cut short behind it.
    pub(super) fn next(&mut self, block: &mut Vec<u8>) -> Result<bool> {
        block.clear();
        std::mem::swap(block, &mut self.carry);
        while !self.ended {
            let room = BLOCK.saturating_sub(block.len()).max(BLOCK / 8);
            self.fill(room, block)?;
            if self.ended {
                break;
            }
            if let Some(end) = memrchr(b'\n', block) {
                self.carry.extend_from_slice(&block[end + 1..]);
                block.truncate(end + 1);
                return Ok(true);
            }
            if block.len() > self.line_bytes {
                self.skip_line(block)?;
            }
        }
        if self.damage.is_some() {
            // how the line would have gone on is not known
            block.truncate(memrchr(b'\n', block).map_or(0, |n| n + 1));
        }
        self.unterminated |= block.last().is_some_and(|&b| b != b'\n');
        Ok(!block.is_empty())
    }

    /// Appends up to `room` bytes.
    fn fill(&mut self, room: usize, block: &mut Vec<u8>) -> Result<()> {
        match (&mut self.reader).take(room as u64).read_to_end(block) {
            Ok(0) => self.ended = true,
            Ok(_) => {}
            // What came before the damage is in the block.
            Err(e) if is_damage(&e) => {
                self.damage = Some(e.to_string());
                self.ended = true;
            }
            Err(e) => return Err(Error::from(e)),
        }
        Ok(())
    }

    /// Drops the rest of a line that is too long.
    fn skip_line(&mut self, block: &mut Vec<u8>) -> Result<()> {
        block.truncate(self.line_bytes + 1);
        let mut rest = Vec::new();
        while !self.ended {
            rest.clear();
            self.fill(BLOCK, &mut rest)?;
            if let Some(end) = memchr(b'\n', &rest) {
                block.extend_from_slice(&rest[end..]);
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], limit: usize) -> (Vec<Vec<u8>>, bool) {
        let limits = Limits { line_bytes: limit, ..Limits::default() };
        let mut b = Blocks::new(Box::new(text), &limits);
        let (mut block, mut all) = (Vec::new(), Vec::new());
        while b.next(&mut block).unwrap() {
            all.extend_from_slice(&block);
        }
        (all.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect(), b.unterminated)
    }

    #[test]
    fn nothing_is_lost_at_block_ends() {
        let text: Vec<u8> =
            (0..400_000u64).flat_map(|i| format!("line {i} {}\n", i.pow(2) % 977).into_bytes()).collect();
        let (got, unterminated) = lines(&text, 1 << 20);
        let want: Vec<Vec<u8>> = text.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
        assert!(got == want && !unterminated);
        assert!(lines(b"a\nb", 10).1);
        assert_eq!(lines(b"", 10).0.len(), 1);
    }

    #[test]
    fn a_long_line_is_cut() {
        let mut text = b"before\n".to_vec();
        text.extend(std::iter::repeat_n(b'x', 7 << 20));
        text.extend_from_slice(b"\nafter\n");
        let (got, _) = lines(&text, 1 << 20);
        assert_eq!((got.len(), got[0].len(), got[1].len(), &got[2][..]), (4, 6, (1 << 20) + 1, &b"after"[..]));
    }
}
