//! Where the objects of MessagePack end in a file that grows.

use super::super::msgpack::{NUMBER_BYTES, Token, token};
use super::super::sections::Section;
use super::objects::object_at;

/// Most values that an object may hold in its arrays, together.
const MOST_VALUES: u64 = 1 << 40;

/// The piece at the start of the bytes that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Scanned {
    /// A chunk of so many bytes: objects up to and with the run times.
    Chunk(usize),
    /// More has to come.
    More,
    /// So many bytes of a chunk that is damaged behind them.
    Damaged(usize),
    /// So many bytes behind the damage, in which no object begins.
    Useless(usize),
}

/// Finds the end of the chunks of a stream of objects whose bytes come in pieces. What it finds depends on the bytes alone, and no byte
/// is looked at more than a few times: after damage it goes on behind it.
#[derive(Debug, Default)]
pub(in super::super) struct ObjectScanner {
    /// Bytes of the chunk looked at.
    at: usize,
    /// Values of the object still to come; bytes of a text to pass over.
    values: u64,
    bytes: u64,
    /// The object is the last of its chunk.
    last: bool,
    /// The next object is looked for.
    lost: bool,
}

impl ObjectScanner {
    /// Looks at the bytes that wait. They must begin with those given before, unless something was found: then behind it.
    pub(in super::super) fn scan(&mut self, data: &[u8]) -> Scanned {
        if self.lost {
            let useless = (0..data.len()).find(|&i| object_at(&data[i..]) != Some(false)).unwrap_or(data.len());
            if useless > 0 {
                return Scanned::Useless(useless);
            }
            self.lost = object_at(data) != Some(true);
        }
        loop {
            let rest = &data[self.at..];
            if rest.is_empty() || self.lost {
                return Scanned::More;
            }
            if self.bytes > 0 {
                let step = self.bytes.min(rest.len() as u64);
                self.at += step as usize;
                self.bytes -= step;
                continue;
            }
            if self.values == 0 {
                match object_at(rest) {
                    Some(true) => self.begin(rest),
                    Some(false) => return self.give_up(),
                    None => return Scanned::More,
                }
            } else {
                match token(rest) {
                    Some((token, n)) => {
                        // No object holds another: the one before is cut.
                        match (token, object_at(rest)) {
                            (Token::Values(_), Some(true)) => return self.give_up(),
                            (Token::Values(_), None) => return Scanned::More,
                            _ => {}
                        }
                        if !self.pass(token, n) {
                            return self.give_up();
                        }
                    }
                    None if rest.len() >= NUMBER_BYTES => return self.give_up(),
                    None => return Scanned::More,
                }
            }
            if self.last && self.values == 0 && self.bytes == 0 {
                let n = self.at;
                *self = ObjectScanner::default();
                return Scanned::Chunk(n);
            }
        }
    }

    /// Takes the head and the name of an object.
    fn begin(&mut self, object: &[u8]) {
        let Some((Token::Values(values), n)) = token(object) else { return };
        let Some((Token::Bytes(name), m)) = token(&object[n..]) else { return };
        let end = n + m + name as usize;
        self.last = Section::named(&object[n + m..end]) == Some(Section::Times);
        self.at += end;
        self.values = values - 1;
    }

    /// Takes a token of `n` bytes; false if that are too many values.
    fn pass(&mut self, token: Token, n: usize) -> bool {
        self.at += n;
        self.values -= 1;
        match token {
            Token::Values(n) => {
                self.values = self.values.saturating_add(n);
                return self.values <= MOST_VALUES;
            }
            Token::Bytes(n) => self.bytes = n,
            Token::Number(_) | Token::Bool => {}
        }
        true
    }

    /// Forgets the chunk.
    fn give_up(&mut self) -> Scanned {
        let n = self.at;
        *self = ObjectScanner::looking();
        Scanned::Damaged(n)
    }

    /// One that looks for the next object.
    pub(in super::super) fn looking() -> Self {
        ObjectScanner { lost: true, ..ObjectScanner::default() }
    }
}
