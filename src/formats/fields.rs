//! The fields of a line of separated values.

use std::borrow::Cow;

use memchr::memchr;

/// Hands the fields of a line to `each`, until it returns false. A field in double quotes may hold separators, and doubled quotes for one. An
/// error is a quoted field that does not end.
#[inline]
pub(crate) fn fields<'l>(
    line: &'l [u8],
    separator: u8,
    mut each: impl FnMut(Cow<'l, [u8]>) -> bool,
) -> Result<(), &'l [u8]> {
    let mut rest = line;
    loop {
        let (field, next) = match rest {
            [b'"', quoted @ ..] => {
                let (text, after) = unquote(quoted).ok_or(rest)?;
                (text, memchr(separator, after).map(|n| &after[n + 1..]))
            }
            _ => match memchr(separator, rest) {
                Some(n) => (Cow::Borrowed(rest[..n].trim_ascii()), Some(&rest[n + 1..])),
                None => (Cow::Borrowed(rest.trim_ascii()), None),
            },
        };
        if !each(field) {
            return Ok(());
        }
        match next {
            Some(next) => rest = next,
            None => return Ok(()),
        }
    }
}

/// A quoted field after its opening quote: its text, doubled quotes made one, and what follows its closing quote.
fn unquote(quoted: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let mut text: Cow<[u8]> = Cow::Borrowed(&[]);
    let mut rest = quoted;
    loop {
        let n = memchr(b'"', rest)?;
        let doubled = rest.get(n + 1) == Some(&b'"');
        let part = &rest[..n + usize::from(doubled)];
        if text.is_empty() {
            text = Cow::Borrowed(part);
        } else {
            text.to_mut().extend_from_slice(part);
        }
        rest = &rest[n + 1 + usize::from(doubled)..];
        if !doubled {
            return Some((text, rest));
        }
    }
}
