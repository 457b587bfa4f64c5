//! Flushes as MessagePack: nine values one after the other, in an array, in a map, or in maps of one.

use memchr::memmem;

use super::super::options::ReadOptions;
use super::super::source::Source;
use super::super::tmio::{Cursor, Token};
use super::flush::{Direction, Field, Flush};
use super::malformed;
use crate::error::{Error, ErrorKind, Result};

/// Longest name of a host or field.
const NAME_BYTES: u64 = 1024;

fn is_map(tag: u8) -> bool {
    matches!(tag, 0x80..=0x8f | 0xde | 0xdf)
}

fn is_array(tag: u8) -> bool {
    matches!(tag, 0x90..=0x9f | 0xdc | 0xdd)
}

/// True if the bytes begin with a flush.
pub(in super::super) fn begins_flush(head: &[u8]) -> bool {
    let Some(&tag) = head.first() else { return false };
    let mut c = Cursor::new(head);
    if is_map(tag) {
        // The first name may be any of the nine; those of the times are in no other format.
        let first = c.token().and_then(|_| name(&mut c)).ok().and_then(Field::named);
        return first.is_some() && memmem::find(head, b"start_t").is_some();
    }
    if is_array(tag) && !matches!(c.token(), Ok(Token::Values(9))) {
        return false;
    }
    let number = |c: &mut Cursor| matches!(c.token(), Ok(Token::Number(_)));
    if !number(&mut c) || name(&mut c).is_err() || !number(&mut c) {
        return false;
    }
    let direction = name(&mut c).map_or(Direction::Unknown, Direction::named);
    direction != Direction::Unknown && c.peek().is_some_and(is_array)
}

fn name<'a>(c: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let at = c.at();
    match c.token()? {
        Token::Bytes(n) if n <= NAME_BYTES => c.bytes(n),
        _ => Err(malformed(at, "no text", "the name of a host or field")),
    }
}

/// Hands the flushes of a file on; gives the damage that ended it. A flush that is cut is handed on as far as it goes.
pub(super) fn read(
    source: &Source,
    options: &ReadOptions,
    mut each: impl FnMut(Flush) -> Result<()>,
) -> Result<Option<Error>> {
    let data = match source.read_all(options) {
        Ok(data) => data,
        Err(e) if e.kind() == ErrorKind::Io => return Ok(Some(e)),
        Err(e) => return Err(e),
    };
    let mut c = Cursor::new(&data);
    let mut flush = Flush::default();
    let outcome = loop {
        let Some(tag) = c.peek() else { break Ok(()) };
        let whole = match tag {
            tag if is_map(tag) => map(&mut c, &mut flush),
            tag if is_array(tag) => array(&mut c, &mut flush),
            _ => nine(&mut c, &mut flush).map(|()| true),
        };
        match whole {
            Ok(true) => each(std::mem::take(&mut flush).complete())?,
            Ok(false) => {}
            Err(e) => break Err(e),
        }
    };
    if !flush.starts.is_empty() {
        each(flush.complete())?;
    }
    Ok(outcome.err())
}

/// A map of all names is a flush; of maps of one, the last is the one with the total. True if the flush is whole.
fn map(c: &mut Cursor, flush: &mut Flush) -> Result<bool> {
    let Token::Values(n) = c.token()? else { return Ok(false) };
    let mut total = false;
    for _ in 0..n / 2 {
        match Field::named(name(c)?) {
            Some(field) => {
                value(c, flush, field)?;
                total |= field == Field::Total;
            }
            None => c.skip()?,
        }
    }
    Ok(n > 2 || total)
}

/// An array of the nine values; of others only the head is taken, so that what is in it follows. True if the flush is whole.
fn array(c: &mut Cursor, flush: &mut Flush) -> Result<bool> {
    let at = c.at();
    let Token::Values(n) = c.token()? else { return Ok(false) };
    if c.peek().is_none_or(|tag| is_map(tag) || is_array(tag)) {
        return Ok(false);
    }
    if n != 9 {
        return Err(malformed(at, format!("an array of {n} values"), "the nine values of a flush"));
    }
    nine(c, flush)?;
    Ok(true)
}

fn nine(c: &mut Cursor, flush: &mut Flush) -> Result<()> {
    for field in Field::ORDER {
        value(c, flush, field)?;
    }
    Ok(())
}

/// Reads the value of a field into the flush. After an error the numbers before it are there.
fn value(c: &mut Cursor, flush: &mut Flush, field: Field) -> Result<()> {
    let at = c.at();
    if let Some(list) = flush.list(field) {
        let Token::Values(n) = c.token()? else {
            return Err(malformed(at, format!("no array for {field:?}"), "an array of numbers"));
        };
        list.clear();
        for _ in 0..n {
            let at = c.at();
            match c.token()? {
                Token::Number(x) => list.push(x),
                _ => return Err(malformed(at, format!("no number in {field:?}"), "an array of numbers")),
            }
        }
        return Ok(());
    }
    let is_text = matches!(field, Field::Host | Field::Direction);
    match c.token()? {
        Token::Number(x) if !is_text => flush.set_number(field, x),
        Token::Bytes(n) if is_text && n <= NAME_BYTES => flush.set_text(field, c.bytes(n)?),
        _ => {
            return Err(malformed(
                at,
                format!("another value in the place of {field:?}"),
                "the nine values of a flush",
            ));
        }
    }
    Ok(())
}
