//! MessagePack piece by piece: where the objects of a growing file end, and maps of arrays as they come over a socket.

use super::super::sections::Section;
use super::msgpack::{Token, begins_object, token};
use crate::error::{Error, ErrorKind, Place, Result};

/// Longest name of a section.
const LONGEST_NAME: usize = 32;
/// No token has more bytes than its tag and eight.
const TOKEN_BYTES: usize = 9;
/// Most values that an object may hold in its arrays, together.
const MOST_VALUES: u64 = 1 << 40;

/// Finds the end of the chunks of a stream of objects whose bytes come in pieces. No byte is looked at twice.
#[derive(Debug, Default)]
pub(in super::super) struct ObjectScanner {
    /// Bytes of the chunk looked at.
    at: usize,
    /// Values of the object still to come; bytes of a text to pass over.
    values: u64,
    bytes: u64,
    /// The object is the last of its chunk.
    last: bool,
}

impl ObjectScanner {
    /// Length of the chunk at the start of `data`, if it is whole: objects up to and with the run times. `data` must begin with
    /// the bytes given before. An error is how many bytes are of no use.
    pub(in super::super) fn whole(&mut self, data: &[u8]) -> Result<Option<usize>, usize> {
        loop {
            if self.bytes > 0 {
                let step = self.bytes.min((data.len() - self.at) as u64);
                self.at += step as usize;
                self.bytes -= step;
                if self.bytes > 0 {
                    return Ok(None);
                }
                continue;
            }
            if self.values == 0 {
                if self.last {
                    let n = self.at;
                    *self = ObjectScanner::default();
                    return Ok(Some(n));
                }
                if !self.begin(data)? {
                    return Ok(None);
                }
                continue;
            }
            let rest = &data[self.at..];
            let Some((token, n)) = token(rest) else {
                if rest.len() >= TOKEN_BYTES {
                    return Err(self.lost(data));
                }
                return Ok(None);
            };
            self.at += n;
            self.values -= 1;
            match token {
                Token::Values(n) if self.values.saturating_add(n) <= MOST_VALUES => self.values += n,
                Token::Values(_) => return Err(self.lost(data)),
                Token::Bytes(n) => self.bytes = n,
                Token::Number(_) | Token::Bool => {}
            }
        }
    }

    /// Takes the head and the name of an object; false if they are not there yet.
    fn begin(&mut self, data: &[u8]) -> Result<bool, usize> {
        let rest = &data[self.at..];
        if rest.is_empty() {
            return Ok(false);
        }
        let head = token(rest).and_then(|(t, n)| match t {
            Token::Values(v @ 1..) => Some((v, n, token(&rest[n..])?)),
            _ => None,
        });
        let Some((values, n, (Token::Bytes(name), m))) = head else {
            return if rest.len() >= 2 * TOKEN_BYTES { Err(self.lost(data)) } else { Ok(false) };
        };
        let end = usize::try_from(name).ok().filter(|&l| l <= LONGEST_NAME).map(|l| n + m + l);
        let Some(end) = end else { return Err(self.lost(data)) };
        let Some(name) = rest.get(n + m..end) else { return Ok(false) };
        let Some(section) = Section::named(name) else { return Err(self.lost(data)) };
        self.last = matches!(section, Section::Times);
        self.at += end;
        self.values = values - 1;
        Ok(true)
    }

    /// Forgets the chunk; gives the bytes up to where another object may begin.
    fn lost(&mut self, data: &[u8]) -> usize {
        *self = ObjectScanner::default();
        (1..data.len()).find(|&i| begins_object(&data[i..])).unwrap_or(data.len())
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
