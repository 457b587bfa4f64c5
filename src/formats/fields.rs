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

/// A field of CSV, in quotes if need be.
pub(crate) fn quoted(text: &str) -> String {
    let plain = !text.contains([',', '"', '\r', '\n']) && text.trim_ascii().len() == text.len();
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

/// True for a name that a spreadsheet would take for a formula, also in quotes; a sign alone is none.
pub(crate) fn is_formula(text: &str) -> bool {
    let begins = ['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    text.starts_with(begins) && text.chars().nth(1).is_some()
}

/// A name in which a backslash stands before backslashes, for line breaks, and before what would make it a formula: as it is in a field
/// of one line.
pub(crate) fn escaped(name: &str) -> String {
    let text = name.replace('\\', r"\\").replace('\n', r"\n").replace('\r', r"\r");
    if is_formula(&text) { format!("\\{text}") } else { text }
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
