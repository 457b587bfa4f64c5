//! Flushes as JSON, and as text with a line `name: value` for each, as the tools of GekkoFS print them.

use super::super::json::{Json, member_names};
use super::super::lines::{lines, quote};
use super::super::number::parse_f64;
use super::super::options::ReadOptions;
use super::super::source::Source;
use super::super::window::Window;
use super::flush::{Field, Flush};
use super::malformed;
use crate::error::{Error, ErrorKind, Place, Result};

/// More members than a flush has.
const MEMBERS: usize = 64;

/// True for JSON or text with the arrays of a flush.
pub(super) fn has_metrics(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if text.starts_with(b"{") {
        let names = member_names(text, MEMBERS);
        return names.iter().any(|(depth, n)| *depth == 1 && Field::named(n).is_some_and(Field::is_telling));
    }
    lines(text).take(MEMBERS).filter_map(named_value).any(|(f, value)| f.is_telling() && value.starts_with(b"["))
}

/// Field and value of a line `name: value`.
fn named_value(line: &[u8]) -> Option<(Field, &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    let name = line[..colon].trim_ascii();
    let name = name.strip_prefix(b"\"").and_then(|n| n.strip_suffix(b"\"")).unwrap_or(name);
    Some((Field::named(name)?, line[colon + 1..].trim_ascii()))
}

/// Hands the flushes of a JSON file on, one an object; gives the damage that ended it.
pub(super) fn read_json(
    source: &Source,
    options: &ReadOptions,
    mut each: impl FnMut(Flush) -> Result<()>,
) -> Result<Option<Error>> {
    let mut json = Json::new(Window::open(source, options)?, options.limits.depth);
    loop {
        let mut flush = Flush::default();
        let done = object(&mut json, &mut flush, options.limits.records);
        let damage = match done {
            Ok(true) => None,
            Ok(false) => return Ok(json.damage().map(|why| malformed(json.offset(), why, "the whole file"))),
            Err(e) if e.kind() == ErrorKind::Malformed => Some(e),
            Err(e) => return Err(e),
        };
        if !flush.starts.is_empty() {
            each(flush.complete())?;
        }
        if damage.is_some() {
            return Ok(damage);
        }
    }
}

/// Reads an object; false at the end of the input.
fn object(json: &mut Json, flush: &mut Flush, most: usize) -> Result<bool> {
    if json.peek()?.is_none() {
        return Ok(false);
    }
    json.members(|json, name| {
        let Some(field) = Field::named(name) else { return json.skip() };
        if let Some(list) = flush.list(field) {
            if !json.at_numbers()? {
                return json.skip();
            }
            list.clear();
            return json.numbers(list, most);
        }
        if let Some(text) = json.text()? {
            flush.set_text(field, text.as_bytes());
        } else if let Some(x) = json.number()? {
            flush.set_number(field, x);
        }
        Ok(())
    })?;
    Ok(true)
}

/// Hands the flushes of a text on: one ends where a name comes again. Gives the damage that ended it.
pub(super) fn read_lines(
    source: &Source,
    options: &ReadOptions,
    mut each: impl FnMut(Flush) -> Result<()>,
) -> Result<Option<Error>> {
    let data = source.read_all(options)?;
    let mut flush = Flush::default();
    let mut seen: Vec<Field> = Vec::new();
    for line in lines(&data) {
        let Some((field, value)) = named_value(line) else { continue };
        if seen.contains(&field) {
            each(std::mem::take(&mut flush).complete())?;
            seen.clear();
        }
        seen.push(field);
        let Some(list) = flush.list(field) else {
            match parse_f64(value) {
                Some(x) => flush.set_number(field, x),
                None => flush.set_text(
                    field,
                    value.trim_ascii_start().strip_prefix(b"\"").map_or(value, |v| v.strip_suffix(b"\"").unwrap_or(v)),
                ),
            }
            continue;
        };
        let at = value.as_ptr() as usize - data.as_ptr() as usize;
        if let Err(e) = numbers(value, at as u64, list) {
            each(flush.complete())?;
            return Ok(Some(e));
        }
    }
    each(flush.complete())?;
    Ok(None)
}

/// The numbers of `[1, 2, 3]`; those before a mistake are kept.
fn numbers(text: &[u8], at: u64, out: &mut Vec<f64>) -> Result<()> {
    let read = Json::new(Window::of_bytes(text)?, 1).numbers(out, usize::MAX);
    read.map_err(|e| {
        let Some(Place::Byte(n)) = e.place() else { return e };
        let found = quote(text.get(n as usize..).unwrap_or_default());
        malformed(at + n, found, "numbers with commas between them, in brackets")
    })
}
