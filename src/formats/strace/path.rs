//! File names as strace writes them: escapes, annotations, relative paths.

use std::borrow::Cow;

use super::calls::Action;
use super::text::{Call, Outcome};

/// Replaces the escapes of a string or annotation by the bytes they stand for.
pub(super) fn unescape(raw: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', raw).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut out = Vec::with_capacity(raw.len());
    let mut i = 0;
    while let Some(&b) = raw.get(i) {
        i += 1;
        if b != b'\\' {
            out.push(b);
            continue;
        }
        let Some(&e) = raw.get(i) else {
            out.push(b);
            break;
        };
        i += 1;
        match e {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'f' => out.push(0x0c),
            b'v' => out.push(0x0b),
            b'x' => {
                let (x, n) = number(&raw[i..], 16, 2);
                out.push(x);
                i += n;
            }
            b'0'..=b'7' => {
                let (x, n) = number(&raw[i - 1..], 8, 3);
                out.push(x);
                i += n - 1;
            }
            other => out.push(other),
        }
    }
    Cow::Owned(out)
}

/// The number of at most `most` digits that the text begins with, as a byte, and how many digits it has.
fn number(text: &[u8], base: u32, most: usize) -> (u8, usize) {
    let mut x = 0u32;
    let mut n = 0;
    while let Some(d) = text.get(n).filter(|_| n < most).and_then(|&b| char::from(b).to_digit(base)) {
        x = x * base + d;
        n += 1;
    }
    (x as u8, n)
}

/// A path without empty and `.` parts, with `..` resolved by the text alone. Bytes that are no UTF-8 become U+FFFD.
pub(super) fn normalise(path: &[u8]) -> Cow<'_, str> {
    if is_normal(path) {
        return String::from_utf8_lossy(path);
    }
    let absolute = path.first() == Some(&b'/');
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|&b| b == b'/') {
        match part {
            b"" | b"." => {}
            b".." if absolute || parts.last().is_some_and(|p| *p != b"..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let mut text = Vec::with_capacity(path.len());
    for (i, part) in parts.iter().enumerate() {
        if absolute || i > 0 {
            text.push(b'/');
        }
        text.extend_from_slice(part);
    }
    if text.is_empty() {
        text.push(if absolute { b'/' } else { b'.' });
    }
    Cow::Owned(String::from_utf8_lossy(&text).into_owned())
}

/// True if the path is absolute and has no part to take out.
fn is_normal(path: &[u8]) -> bool {
    path.len() > 1
        && path[0] == b'/'
        && path[path.len() - 1] != b'/'
        && !path.windows(2).any(|w| w[0] == b'/' && matches!(w[1], b'/' | b'.'))
}

/// The name of an annotated descriptor: the path, or for what has no path (`pipe:[7]`) the word before the colon.
pub(super) fn annotated(raw: &[u8]) -> Option<Cow<'_, str>> {
    match raw.first()? {
        b'/' => Some(match unescape(raw) {
            Cow::Borrowed(b) => normalise(b),
            Cow::Owned(b) => Cow::Owned(normalise(&b).into_owned()),
        }),
        _ => {
            let end = memchr::memchr(b':', raw).unwrap_or(raw.len());
            Some(String::from_utf8_lossy(&raw[..end]))
        }
    }
}

/// A path argument, joined to the folder if it is relative; the folder itself if it is empty.
pub(super) fn joined(raw: &[u8], folder: Option<&str>) -> Option<String> {
    let path = unescape(raw);
    match (path.first(), folder) {
        (Some(b'/'), _) => Some(normalise(&path).into_owned()),
        (None, folder) => folder.map(str::to_owned),
        (Some(_), Some(folder)) if folder.starts_with('/') => {
            let mut whole = folder.as_bytes().to_vec();
            whole.push(b'/');
            whole.extend_from_slice(&path);
            Some(normalise(&whole).into_owned())
        }
        (Some(_), _) => Some(normalise(&path).into_owned()),
    }
}

/// The path of a call, as far as it follows from the line alone.
///
/// 1. A successful open: the annotation of the result, in which symbolic links are resolved.
/// 2. Calls with a path argument: the first string; if relative, joined to the annotated descriptor before it, else to
///    `folder`.
/// 3. All others: the first annotated descriptor in the arguments.
pub(super) fn of_call<'t>(text: &'t [u8], c: &Call, folder: Option<&str>) -> Option<Cow<'t, str>> {
    let spec = c.spec();
    let opens = spec.is_some_and(|s| matches!(s.action, Action::Open | Action::Create));
    if opens && c.result_annotation.is_some() && matches!(c.outcome, Outcome::Number(0..)) {
        return annotated(c.result_annotation.of(text));
    }
    if spec.is_some_and(|s| s.path) && c.string.is_some() {
        let before = c.annotation.is_some() && c.annotation.end() <= c.string.end();
        let annotation = if before { annotated(c.annotation.of(text)) } else { None };
        return joined(c.string.of(text), annotation.as_deref().or(folder)).map(Cow::Owned);
    }
    if c.annotation.is_some() { annotated(c.annotation.of(text)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes() {
        assert_eq!(&*unescape(br#"a\"b\\\n\t\74x\0761\x41\377\0"#), b"a\"b\\\n\t<x>1A\xff\0");
        assert_eq!(&*unescape(b"end\\"), b"end\\");
    }

    #[test]
    fn normal_forms() {
        for (path, want) in [
            ("/a/b", "/a/b"),
            ("/a//b/./c/", "/a/b/c"),
            ("/a/../../b", "/b"),
            ("/", "/"),
            ("./thr", "thr"),
            ("a/../../b", "../b"),
            (".", "."),
            ("/a/.hidden", "/a/.hidden"),
            ("/a/b..c", "/a/b..c"),
        ] {
            assert_eq!(normalise(path.as_bytes()), want, "{path}");
        }
        assert_eq!(annotated(b"pipe:[7]").unwrap(), "pipe");
        assert_eq!(annotated(br"/x\74y").unwrap(), "/x<y");
        assert_eq!(joined(b"../c", Some("/a/b")).unwrap(), "/a/c");
        assert_eq!(joined(b"", Some("/a/b")).unwrap(), "/a/b");
        assert_eq!(joined(b"c", Some("pipe")).unwrap(), "c");
        assert_eq!(joined(b"", None), None);
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(path in "/?([a.]{0,2}/){0,5}[a.]{0,3}") {
            let once = normalise(path.as_bytes()).into_owned();
            prop_assert_eq!(normalise(once.as_bytes()), once.clone());
        }
    }
}
