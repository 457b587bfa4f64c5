//! JSON with the liberties that tools take: the bare words `NaN`, `nan`, `-nan`, `inf`, commas too many, decimal commas, and several values one
//! after the other. [`Json`] reads what is large from a stream, [`Scan`] a line or an event in memory.
//!
//! Not serde_json: that refuses those words, and an error in it loses everything before the damage. It is no faster either. For
//! 58 MB with 4.5 million numbers, all of `iophase info` takes 125 ms of CPU time and 47 MiB; a loop that only reads the file
//! with serde_json into three vectors takes 120 ms and 92 MiB.

mod scan;
mod stream;

use std::borrow::Cow;

use memchr::{memchr, memchr2};

pub(crate) use scan::Scan;
pub(crate) use stream::Json;

/// A string as it stands between its quotes, without escapes; `None` if one is wrong.
pub(crate) fn unescaped(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    if memchr(b'\\', text).is_none() {
        return Some(Cow::Borrowed(text));
    }
    let text: String = serde_json::from_slice(&[b"\"", text, b"\""].concat()).ok()?;
    Some(Cow::Owned(text.into_bytes()))
}

/// The same as text; as it stands if an escape is wrong.
pub(crate) fn plain(text: &[u8]) -> Cow<'_, str> {
    match unescaped(text) {
        Some(Cow::Owned(plain)) => Cow::Owned(String::from_utf8_lossy(&plain).into_owned()),
        _ => String::from_utf8_lossy(text),
    }
}

/// The names of members at the start of a JSON text, each with its depth (1: of the outermost object), until the first value ends,
/// the text does, or `max` were found. Looks at structure only, so it works on a text that was cut.
pub(crate) fn member_names(text: &[u8], max: usize) -> Vec<(usize, &[u8])> {
    let mut names = Vec::new();
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            b'"' => {
                let start = at;
                while let Some(n) = text.get(at..).and_then(|t| memchr2(b'"', b'\\', t)) {
                    at += n + 1;
                    if text[at - 1] == b'"' {
                        break;
                    }
                    at += 1;
                }
                let name = text.get(start..at.saturating_sub(1)).unwrap_or_default();
                let after = text.get(at..).unwrap_or_default().trim_ascii_start();
                if after.first() == Some(&b':') {
                    names.push((depth, name));
                    if names.len() == max {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_at_the_start_of_a_cut_text() {
        let text = br#"{"a":{"b":[1,2],"c\"d":"x:\"y"},"e":1} {"f":2}"#;
        let names = |n: usize| member_names(&text[..n], 9);
        assert_eq!(names(text.len()), [(1, &b"a"[..]), (2, b"b"), (2, b"c\\\"d"), (1, b"e")]);
        for n in 0..text.len() {
            names(n);
        }
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(plain(br"/a\/b\u00e9"), "/a/bé");
        assert_eq!(plain(b"/plain"), "/plain");
        assert_eq!(plain(br"\x"), r"\x");
        assert_eq!(unescaped(br"\x"), None);
    }
}
