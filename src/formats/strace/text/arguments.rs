//! Arguments of a call: strings, annotated descriptors, comments and brackets, and the commas between them.

use memchr::{memchr, memmem};

use super::scan::{Span, digits};

/// The meaning of a byte between arguments.
pub(super) const CLASS: [u8; 256] = {
    let mut t = [0u8; 256];
    t[b'"' as usize] = STRING;
    t[b'<' as usize] = ANGLE;
    t[b'/' as usize] = COMMENT;
    t[b',' as usize] = COMMA;
    t[b'(' as usize] = OPEN;
    t[b'[' as usize] = OPEN;
    t[b'{' as usize] = OPEN;
    t[b')' as usize] = CLOSE;
    t[b']' as usize] = CLOSE;
    t[b'}' as usize] = CLOSE;
    t
};
pub(super) const STRING: u8 = 1;
pub(super) const ANGLE: u8 = 2;
pub(super) const COMMENT: u8 = 3;
pub(super) const COMMA: u8 = 4;
pub(super) const OPEN: u8 = 5;
pub(super) const CLOSE: u8 = 6;

/// Where the string whose content begins at `i` ends (at its quote): the first quote after an even number of backslashes.
pub(super) fn string_end(text: &[u8], i: usize) -> Option<usize> {
    let mut from = i;
    loop {
        let quote = from + memchr(b'"', text.get(from..)?)?;
        let escapes = text[i..quote].iter().rev().take_while(|&&b| b == b'\\').count();
        if escapes % 2 == 0 {
            return Some(quote);
        }
        from = quote + 1;
    }
}

/// The text that begins with a `<`.
pub(super) enum Angle {
    /// The annotation of a descriptor: its name without device suffix, and where the text goes on.
    Annotation(Span, usize),
    /// An annotation that does not end. Searching for the end of many of them would take for ever.
    Unclosed,
    /// Something else.
    Other,
}

/// The annotation whose `<` stands at `i`. It follows a number or `AT_FDCWD` and begins with `/` or with a word and a colon.
pub(super) fn annotation(text: &[u8], i: usize) -> Angle {
    let after_descriptor = i.checked_sub(1).is_some_and(|j| matches!(text[j], b'0'..=b'9' | b'D'));
    let from = i + 1;
    let rest = text.get(from..).filter(|_| after_descriptor).unwrap_or_default();
    let end = match rest.first() {
        Some(b'/') => memchr(b'>', rest),
        Some(b) if b.is_ascii_alphabetic() => {
            let word = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
            match rest[word..] {
                // Addresses in brackets may hold `->`.
                [b':', b'[', ..] => memmem::find(rest, b"]>").map(|n| n + 1),
                [b':', ..] => memchr(b'>', rest),
                _ => return Angle::Other,
            }
        }
        _ => return Angle::Other,
    };
    let Some(end) = end else { return Angle::Unclosed };
    // `</dev/null<char 1:3>>`; a `<` of the path itself is written as an escape.
    match memchr(b'<', &rest[..end]) {
        Some(n) if rest[0] == b'/' && rest.get(end + 1) == Some(&b'>') => {
            Angle::Annotation(Span::new(from, from + n), from + end + 2)
        }
        _ => Angle::Annotation(Span::new(from, from + end), from + end + 1),
    }
}

/// An argument without the name that strace puts in front of it (`fd=`, with `-N` in front of all).
pub(in super::super) fn value_of(arg: &[u8]) -> &[u8] {
    if !arg.first().is_some_and(u8::is_ascii_lowercase) {
        return arg;
    }
    let name = arg.iter().take_while(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || **b == b'_').count();
    if arg.get(name) == Some(&b'=') { &arg[name + 1..] } else { arg }
}

/// The arguments of a call at the outer level, without surrounding blanks and names.
pub(in super::super) fn split_args(args: &[u8]) -> impl Iterator<Item = &[u8]> {
    split_members(args).map(value_of)
}

/// The members of a structure, without its braces, or the elements of a list, each with its name.
pub(in super::super) fn split_members(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = first_comma(text);
        rest = text.get(end + 1..);
        Some(text[..end].trim_ascii())
    })
}

fn first_comma(text: &[u8]) -> usize {
    let mut depth = 0u32;
    let mut i = 0;
    while let Some(&b) = text.get(i) {
        match CLASS[b as usize] {
            STRING => i = string_end(text, i + 1).unwrap_or(text.len()),
            ANGLE => match annotation(text, i) {
                Angle::Annotation(_, next) => i = next - 1,
                Angle::Unclosed => return text.len(),
                Angle::Other => {}
            },
            COMMENT if text.get(i + 1) == Some(&b'*') => {
                i = text.get(i + 2..).and_then(|t| memmem::find(t, b"*/")).map_or(text.len(), |n| i + 3 + n);
            }
            COMMA if depth == 0 => return i,
            OPEN => depth += 1,
            CLOSE => depth = depth.saturating_sub(1),
            _ => {}
        }
        i += 1;
    }
    text.len()
}

/// A descriptor in an argument, with its annotation (empty if there is none).
pub(in super::super) fn descriptor(arg: &[u8]) -> Option<(i32, &[u8])> {
    let (n, end) = digits(arg, 0)?;
    let name = match arg.get(end) {
        Some(b'<') => annotation(arg, end),
        _ => Angle::Other,
    };
    let name = if let Angle::Annotation(s, _) = name { s.of(arg) } else { &[] };
    Some((i32::try_from(n).ok()?, name))
}

/// The descriptors of a list such as `[3<pipe:[7]>, 4<pipe:[7]>]`.
pub(in super::super) fn descriptors(list: &[u8]) -> impl Iterator<Item = (i32, &[u8])> {
    let inner = list.strip_prefix(b"[").and_then(|l| l.strip_suffix(b"]")).unwrap_or_default();
    split_args(inner).filter_map(descriptor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_descriptors() {
        let found: Vec<_> = descriptors(b"[7<socket:[74105]>, 8]").collect();
        assert_eq!(found, [(7, &b"socket:[74105]"[..]), (8, &b""[..])]);
        assert_eq!(descriptors(b"0x7ffe").count(), 0);
    }

    #[test]
    fn names_of_arguments_are_taken_off() {
        for (arg, value) in [
            (&b"fd=5</x>"[..], &b"5</x>"[..]),
            (b"buf=\"a=b\"", b"\"a=b\""),
            (b"\"a=b\"", b"\"a=b\""),
            (b"O_RDONLY", b"O_RDONLY"),
            (b"{st_mode=0}", b"{st_mode=0}"),
            (b"=1", b"=1"),
            (b"", b""),
        ] {
            assert_eq!(value_of(arg), value);
        }
    }
}
