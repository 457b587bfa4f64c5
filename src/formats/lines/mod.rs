//! Texts of lines, whole and growing.
//!
//! A format has one [`LineDecoder`]: from a line to rows. [`LineReader`] reads a file with it: whole lines with their numbers, long lines,
//! remarks, lines that cannot be read, a cut last line, damage of the compression, all threads. [`Follower`] hands it the lines of a file
//! that grows.

mod decoder;
mod follow;
mod reader;

use memchr::memchr;

pub(super) use decoder::{Bad, InOrder, LineDecoder, Stretch, Taken};
pub(super) use follow::{Followed, Follower, TailedLines, Transfers, transfers_of};
pub(super) use reader::{LineReader, Tally, decode};

/// The lines of a text without their ends.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let n = memchr(b'\n', rest);
        let line = &rest[..n.unwrap_or(rest.len())];
        rest = n.map_or(&[][..], |n| &rest[n + 1..]);
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

/// True for lines without content: blank ones and those that begin with `#`.
pub(crate) fn is_remark(line: &[u8]) -> bool {
    match line.first() {
        None | Some(b'#') => true,
        Some(b) => b.is_ascii_whitespace() && matches!(line.trim_ascii_start().first(), None | Some(b'#')),
    }
}

/// A piece of an input for a message: cut, and without control characters.
pub(crate) fn quote(text: &[u8]) -> String {
    const SHOWN: usize = 40;
    let shown = String::from_utf8_lossy(&text[..text.len().min(SHOWN)]).replace(char::is_control, "?");
    format!("`{shown}{}`", if text.len() > SHOWN { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_remarks() {
        let l: Vec<_> = lines(b"a\r\n\n  # b\nc").collect();
        assert_eq!(l, [&b"a"[..], b"", b"  # b", b"c"]);
        assert_eq!(l.iter().map(|l| is_remark(l)).collect::<Vec<_>>(), [false, true, true, false]);
        assert_eq!(lines(b"").count(), 0);
        assert_eq!(quote(b"a\tb"), "`a?b`");
        assert_eq!(quote(&[b'x'; 41]), format!("`{}…`", "x".repeat(40)));
    }
}
