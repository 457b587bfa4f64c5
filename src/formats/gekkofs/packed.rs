//! Flushes as MessagePack: nine values one after the other, in an array, in a map, or in maps of one.

use memchr::memmem;

use super::super::msgpack::{MsgPack, Token, is_array, is_map};
use super::super::window::Window;
use super::flush::{Direction, Field, Flush};
use crate::error::{Error, ErrorKind, Place, Result};

/// Longest name of a host or field.
const NAME_BYTES: u64 = 1024;
/// Description of a flush in messages.
const FLUSH: &str = "the nine values of a flush";

/// True if the bytes begin with a flush.
pub(in super::super) fn begins_flush(head: &[u8]) -> bool {
    head.first().is_some_and(|tag| begins_with_flush(head, *tag).unwrap_or(false))
}

fn begins_with_flush(head: &[u8], tag: u8) -> Result<bool> {
    let mut m = MsgPack::of_message(&head[..head.len().min(4 * NAME_BYTES as usize)])?;
    if is_map(tag) {
        // The first name may be any of the nine; those of the times are in no other format.
        m.values(FLUSH)?;
        return Ok(Field::named(name(&mut m)?).is_some() && memmem::find(head, b"start_t").is_some());
    }
    if is_array(tag) && m.values(FLUSH)? != 9 {
        return Ok(false);
    }
    let number = |m: &mut MsgPack| m.token(FLUSH).map(|t| matches!(t, Token::Number(_)));
    if !number(&mut m)? || name(&mut m).is_err() || !number(&mut m)? {
        return Ok(false);
    }
    let direction = Direction::named(name(&mut m)?);
    Ok(direction != Direction::Unknown && m.peek()?.is_some_and(is_array))
}

fn name<'m>(m: &'m mut MsgPack<'_>) -> Result<&'m [u8]> {
    m.text(NAME_BYTES, "the name of a host or field")
}

/// Hands the flushes on; gives the damage that ended them. A flush that is cut is handed on as far as it goes.
pub(super) fn read(window: Window<'_>, mut each: impl FnMut(Flush) -> Result<()>) -> Result<Option<Error>> {
    let mut m = MsgPack::new(window);
    let mut flush = Flush::default();
    let mut damage = loop {
        match next(&mut m, &mut flush) {
            Ok(None) => break None,
            Ok(Some(true)) => each(std::mem::take(&mut flush).complete())?,
            Ok(Some(false)) => {}
            Err(e) if e.kind() == ErrorKind::Malformed => break Some(e),
            Err(e) => return Err(e),
        }
    };
    if let Some(why) = m.damage() {
        damage = Some(Error::malformed(Place::Byte(m.offset()), why));
    }
    if !flush.starts.is_empty() {
        each(flush.complete())?;
    }
    Ok(damage)
}

/// Reads what comes next; true if the flush is whole, `None` at the end of the input.
fn next(m: &mut MsgPack, flush: &mut Flush) -> Result<Option<bool>> {
    match m.peek()? {
        None => Ok(None),
        Some(tag) if is_map(tag) => map(m, flush).map(Some),
        Some(tag) if is_array(tag) => array(m, flush).map(Some),
        Some(_) => nine(m, flush).map(|()| Some(true)),
    }
}

/// A map of all names is a flush; of maps of one, the last is the one with the total. True if the flush is whole.
fn map(m: &mut MsgPack, flush: &mut Flush) -> Result<bool> {
    let n = m.values(FLUSH)?;
    let mut total = false;
    for _ in 0..n / 2 {
        match Field::named(name(m)?) {
            Some(field) => {
                value(m, flush, field)?;
                total |= field == Field::Total;
            }
            None => m.skip(1)?,
        }
    }
    Ok(n > 2 || total)
}

/// Reads an array of nine values. Of any other array only the head is taken; its elements are read next. True if the flush is whole.
fn array(m: &mut MsgPack, flush: &mut Flush) -> Result<bool> {
    let at = m.offset();
    let n = m.values(FLUSH)?;
    if m.peek()?.is_none_or(|tag| is_map(tag) || is_array(tag)) {
        return Ok(false);
    }
    if n != 9 {
        return Err(Token::Values(n).unexpected(at, FLUSH));
    }
    nine(m, flush)?;
    Ok(true)
}

fn nine(m: &mut MsgPack, flush: &mut Flush) -> Result<()> {
    Field::ORDER.into_iter().try_for_each(|field| value(m, flush, field))
}

/// Reads the value of a field into the flush. After an error the numbers before it are there.
fn value(m: &mut MsgPack, flush: &mut Flush, field: Field) -> Result<()> {
    if let Some(list) = flush.list(field) {
        list.clear();
        return m.numbers(list);
    }
    if matches!(field, Field::Host | Field::Direction) {
        flush.set_text(field, m.text(NAME_BYTES, FLUSH)?);
        return Ok(());
    }
    let at = m.offset();
    match m.token(FLUSH)? {
        Token::Number(x) => flush.set_number(field, x),
        other => return Err(other.unexpected(at, FLUSH)),
    }
    Ok(())
}
