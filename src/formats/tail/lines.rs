//! Bytes that wait for the rest of their message.

use memchr::memchr;

use super::message::Faults;

/// A queue of bytes with its place in the source.
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// `buffer[..used]` was given out.
    used: usize,
    /// Place of `buffer[used]` in the source.
    position: u64,
    /// `buffer[used..seen]` holds no line break.
    seen: usize,
    /// The rest of a line that was too long is left out.
    skipping: bool,
    /// Most bytes that wait.
    most: usize,
}

impl Lines {
    pub(super) fn new(most: usize) -> Self {
        Lines { buffer: Vec::new(), used: 0, position: 0, seen: 0, skipping: false, most }
    }

    /// Says that the first byte to come stands at `position`.
    pub(super) fn start_at(&mut self, position: u64) {
        self.position = position;
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn push(&mut self, data: &[u8]) {
        // Bytes given out are dropped when they are most of the buffer: every byte moves once on average.
        if self.used > self.buffer.len() / 2 {
            self.buffer.drain(..self.used);
            self.seen = self.seen.saturating_sub(self.used);
            self.used = 0;
        }
        self.buffer.extend_from_slice(data);
    }

    /// The bytes that wait.
    pub(super) fn data(&self) -> &[u8] {
        &self.buffer[self.used..]
    }

    /// Bytes that wait.
    pub(super) fn waiting(&self) -> usize {
        self.buffer.len() - self.used
    }

    pub(super) fn consume(&mut self, n: usize) {
        let n = n.min(self.waiting());
        self.used += n;
        self.position += n as u64;
        self.seen = self.seen.max(self.used);
    }

    /// Drops all that waits if it is more than may wait.
    pub(super) fn give_up_if_full(&mut self, faults: &mut Faults) -> bool {
        let full = self.waiting() > self.most;
        if full {
            let most = self.most;
            faults.add(|| format!("a message of more than {most} bytes"));
            self.consume(usize::MAX);
        }
        full
    }

    /// The next line, without its end and a byte order mark. `ended`: the last line may lack its end.
    pub(super) fn next(&mut self, longest: usize, ended: bool, faults: &mut Faults) -> Option<&[u8]> {
        loop {
            let from = self.seen.max(self.used);
            let (line_end, next) = match memchr(b'\n', &self.buffer[from..]) {
                Some(n) => (from + n, from + n + 1),
                None if ended && self.waiting() > 0 => (self.buffer.len(), self.buffer.len()),
                None => {
                    self.seen = self.buffer.len();
                    // with a carriage return, which is no part of it
                    if self.waiting() > longest + 1 {
                        if !self.skipping {
                            faults.add(|| format!("a line of more than {longest} bytes"));
                        }
                        self.skipping = true;
                        self.consume(usize::MAX);
                    }
                    return None;
                }
            };
            let start = self.used;
            let is_first = self.position == 0;
            self.position += (next - start) as u64;
            (self.used, self.seen) = (next, next);
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            let mut line = start..line_end;
            if self.buffer[line.clone()].last() == Some(&b'\r') {
                line.end -= 1;
            }
            if is_first && self.buffer[line.clone()].starts_with(b"\xef\xbb\xbf") {
                line.start += 3;
            }
            if line.len() <= longest {
                return Some(&self.buffer[line]);
            }
            faults.add(|| format!("a line of more than {longest} bytes"));
        }
    }
}
