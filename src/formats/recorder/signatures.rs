//! Tables of call signatures: each different call once.

use super::call::{Names, Signature};
use super::metadata::{Metadata, TraceLayout};
use crate::error::Result;
use crate::formats::bytes::Cursor;

/// Function number of a function of the program where the table of names is shorter, and its name where it is not.
const USER: usize = 255;
const USER_NAME: &str = "user_function";

/// Parses a table.
///
/// # Errors
/// [`ErrorKind::Malformed`](crate::ErrorKind::Malformed).
pub(super) fn parse(bytes: &[u8], meta: &Metadata, names: &mut Names) -> Result<Vec<Signature>> {
    let mut c = Cursor::new(bytes, "call signatures");
    let plain = meta.layout == TraceLayout::Plain;
    let count = c.count(if plain { 8 } else { 16 }, "signatures")?;
    let mut all: Vec<Option<Signature>> = vec![None; count];
    for _ in 0..count {
        let id = c.i32()?;
        // The rank that had it first says nothing of the others.
        if !plain {
            c.i32()?;
        }
        let length = c.i32()?;
        if !plain {
            c.u32()?;
        }
        let length = usize::try_from(length).ok().filter(|n| *n <= c.left());
        let Some(length) = length else {
            return Err(c.malformed(format_args!("the key of signature {id} does not fit")));
        };
        let key = c.take(length)?;
        let signature =
            parse_key(key, meta, names).map_err(|found| c.malformed(format_args!("signature {id}: {found}")))?;
        let slot = usize::try_from(id).ok().and_then(|i| all.get_mut(i));
        match slot {
            Some(slot @ None) => *slot = Some(signature),
            _ => return Err(c.malformed(format_args!("signature {id} of {count}, or a second one of that number"))),
        }
    }
    if c.left() > 0 {
        return Err(c.malformed(format_args!("{} bytes follow the last signature", c.left())));
    }
    Ok(all.into_iter().flatten().collect())
}

fn parse_key(key: &[u8], meta: &Metadata, names: &mut Names) -> Result<Signature, String> {
    let fields = |key: &[u8]| -> Result<(u64, i64, usize, usize, usize)> {
        let mut c = Cursor::new(key, "key");
        let thread = c.u64()?;
        let function = if meta.layout >= TraceLayout::Packed { i64::from(c.i32()?) } else { i64::from(c.u8()?) };
        let _depth = c.u8()?;
        if meta.call_sites {
            c.u32()?;
        }
        let (count, length) = (usize::from(c.u8()?), c.i32()?);
        let length = usize::try_from(length).map_err(|_| c.malformed("a length below 0"))?;
        Ok((thread, function, count, length, key.len() - c.left()))
    };
    let (thread, function, count, length, head) = fields(key).map_err(|_| "the key is too short".to_owned())?;
    let args = &key[head..];
    if args.len() != length {
        return Err(format!("{length} bytes of arguments, of which the key has {}", args.len()));
    }
    let mut words: Vec<&[u8]> = args.split(|b| *b == b' ').collect();
    if words.pop() != Some(b"") || words.len() != count {
        return Err(format!("{count} arguments, of which the key has {}", words.len()));
    }
    let function = usize::try_from(function).unwrap_or(usize::MAX);
    let task = thread as u32;
    match meta.functions.get(function) {
        Some(name) if name != USER_NAME => Ok(names.signature(name, &words, task)),
        None if function != USER => Err(format!("function {function} of {}", meta.functions.len())),
        // a module and the name of the function
        _ => {
            let name = words.get(1).map_or(USER_NAME.into(), |w| String::from_utf8_lossy(w));
            Ok(names.user_function(&name, task))
        }
    }
}
