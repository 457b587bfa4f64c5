//! MessagePack piece by piece: where the objects of a growing file end, and maps of arrays as they come over a socket.

use super::super::sections::Section;
use super::msgpack::{Token, object_at, token};
use crate::error::{Error, ErrorKind, Place, Result};

/// No token has more bytes than its tag and eight.
const TOKEN_BYTES: usize = 9;
/// Most values that an object may hold in its arrays, together.
const MOST_VALUES: u64 = 1 << 40;

/// What the bytes that wait begin with.
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
                    None if rest.len() >= TOKEN_BYTES => return self.give_up(),
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

/// A map with arrays of rates and times.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in super::super) struct Map {
    pub(in super::super) rates: Vec<f64>,
    pub(in super::super) starts: Vec<f64>,
    pub(in super::super) ends: Vec<f64>,
    pub(in super::super) ranks: Option<u64>,
    pub(in super::super) job: Option<String>,
    pub(in super::super) op: Option<String>,
}

/// A place in a message in memory.
pub(in super::super) struct Cursor<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(in super::super) fn new(data: &'a [u8]) -> Self {
        Cursor { data, at: 0 }
    }

    /// Offset of the next byte.
    pub(in super::super) fn at(&self) -> u64 {
        self.at as u64
    }

    /// The next byte, not taken.
    pub(in super::super) fn peek(&self) -> Option<u8> {
        self.data.get(self.at).copied()
    }

    fn error(&self, what: &str) -> Error {
        Error::malformed(Place::Byte(self.at as u64), what)
    }

    /// The head of the next value.
    pub(in super::super) fn token(&mut self) -> Result<Token> {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let (token, n) = token(rest).ok_or_else(|| self.error("the message ends inside a value"))?;
        self.at += n;
        Ok(token)
    }

    /// The bytes of a text.
    pub(in super::super) fn bytes(&mut self, n: u64) -> Result<&'a [u8]> {
        let end = usize::try_from(n).ok().and_then(|n| self.at.checked_add(n));
        let bytes = end.and_then(|end| self.data.get(self.at..end));
        let bytes = bytes.ok_or_else(|| self.error("the message ends inside a text"))?;
        self.at += bytes.len();
        Ok(bytes)
    }

    fn numbers(&mut self) -> Result<Vec<f64>> {
        let Token::Values(n) = self.token()? else { return Err(self.error("no array of numbers")) };
        // Every number takes a byte or more.
        let mut out = Vec::with_capacity(usize::try_from(n).unwrap_or(usize::MAX).min(self.data.len() - self.at));
        for _ in 0..n {
            match self.token()? {
                Token::Number(x) => out.push(x),
                _ => return Err(self.error("no number in an array of numbers")),
            }
        }
        Ok(out)
    }

    /// A text, or a number as text.
    fn text(&mut self) -> Result<Option<String>> {
        Ok(match self.token()? {
            Token::Bytes(n) => Some(String::from_utf8_lossy(self.bytes(n)?).into_owned()),
            Token::Number(x) if x.is_finite() => Some(x.to_string()),
            Token::Number(_) => None,
            _ => return Err(self.error("no text")),
        })
    }

    /// Passes over a value.
    pub(in super::super) fn skip(&mut self) -> Result<()> {
        let mut left: u64 = 1;
        while left > 0 {
            left -= 1;
            match self.token()? {
                Token::Values(n) => left = left.saturating_add(n),
                Token::Bytes(n) => _ = self.bytes(n)?,
                Token::Number(_) | Token::Bool => {}
            }
        }
        Ok(())
    }
}

/// Reads a map with the keys `b`, `ts`, `te` and, if it has them, `ranks`, `job`, `op`; others are passed over. `None` without the
/// three arrays.
///
/// # Errors
/// [`ErrorKind::Malformed`] with the place.
pub(in super::super) fn read_map(data: &[u8]) -> Result<Option<Map>> {
    let mut c = Cursor::new(data);
    let Token::Values(n) = c.token()? else { return Err(Error::new(ErrorKind::Malformed, "no map")) };
    let mut map = Map::default();
    let mut found = 0u8;
    for _ in 0..n / 2 {
        let Token::Bytes(length) = c.token()? else { return Err(c.error("a key that is no text")) };
        match c.bytes(length)? {
            b"b" => (map.rates, found) = (c.numbers()?, found | 1),
            b"ts" => (map.starts, found) = (c.numbers()?, found | 2),
            b"te" => (map.ends, found) = (c.numbers()?, found | 4),
            b"ranks" => {
                map.ranks = match c.token()? {
                    Token::Number(x) if (0.0..=1e12).contains(&x) => Some(x as u64),
                    Token::Number(_) => None,
                    _ => return Err(c.error("ranks that are no number")),
                }
            }
            b"job" => map.job = c.text()?,
            b"op" => map.op = c.text()?,
            _ => c.skip()?,
        }
    }
    if c.at < data.len() {
        return Err(c.error("bytes after the map"));
    }
    Ok((found == 7).then_some(map))
}
