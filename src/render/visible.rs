//! Names from traces, so that they cannot act on what shows them.

use std::borrow::Cow;
use std::fmt::Write;

/// True for characters that move a cursor, change a terminal, turn the direction of text, join or separate it without being seen, or may not
/// stand in XML.
fn acts(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Text in which such characters are seen, as in `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        put(&mut out, c);
    }
    Cow::Owned(out)
}

fn put(out: &mut String, c: char) {
    if acts(c) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{{{:x}}}", c as u32);
    } else {
        out.push(c);
    }
}

/// The same of text with the colours that this program gives it: `ESC [ digits m`.
pub fn on_terminal(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let n = colour(rest);
        if n > 0 {
            out.push_str(&rest[..n]);
            rest = &rest[n..];
        } else {
            put(&mut out, c);
            rest = &rest[c.len_utf8()..];
        }
    }
    Cow::Owned(out)
}

/// Bytes of a colour at the start of the text; 0 if there is none.
fn colour(text: &str) -> usize {
    let Some(after) = text.strip_prefix("\u{1b}[") else { return 0 };
    let digits = after.bytes().take_while(|b| b.is_ascii_digit() || *b == b';').count();
    if digits <= 8 && after.as_bytes().get(digits) == Some(&b'm') { 2 + digits + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_seen_and_the_rest_stays() {
        assert_eq!(visible("/scratch/größe 1\t\n"), "/scratch/größe 1\t\n");
        assert_eq!(visible("a\x1b]0;x\x07b\u{9b}2J\u{202e}c\r"), "a\\u{1b}]0;x\\u{7}b\\u{9b}2J\\u{202e}c\\u{d}");
        assert_eq!(
            on_terminal("\x1b[1;31merror\x1b[0m: \x1b[2J\x1b]8;;"),
            "\x1b[1;31merror\x1b[0m: \\u{1b}[2J\\u{1b}]8;;"
        );
        assert_eq!(on_terminal("\x1b"), "\\u{1b}");
    }
}
