//! Names of events that are I/O, as a user states them.

use std::str::FromStr;

use super::op_name::op_of;
use crate::error::{Error, ErrorKind, Result};
use crate::record::Op;

/// Names of events that are I/O: patterns with `*` (any text) and `?` (any character), separated by commas, as in
/// `*DataLoader*,write=save_*`. `read=` or `write=` before a pattern says what its events do; else their names do.
///
/// ```
/// let names: iophase::formats::IoNames = "read=*DataLoader*,write=save_?".parse()?;
/// assert_eq!(names.to_string(), "read=*DataLoader*,write=save_?");
/// # Ok::<(), iophase::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoNames(Vec<(Option<Op>, String)>);

impl IoNames {
    /// The operation of events of a name or category, if they are I/O; [`Op::Other`] if it is not known.
    pub(super) fn op(&self, name: &[u8], category: &[u8]) -> Option<Op> {
        let last = last_part(name);
        let fits = |pattern: &String| [name, last, category].iter().any(|text| matches(pattern.as_bytes(), text));
        let (op, _) = self.0.iter().find(|(_, pattern)| fits(pattern))?;
        let by_name = || Some(op_of(last)).filter(|op| op.moves_bytes());
        Some(op.or_else(by_name).unwrap_or(Op::Other))
    }
}

impl FromStr for IoNames {
    type Err = Error;

    fn from_str(text: &str) -> Result<IoNames> {
        let one = |pattern: &str| match pattern.split_once('=') {
            Some(("read", pattern)) => (Some(Op::Read), pattern.to_owned()),
            Some(("write", pattern)) => (Some(Op::Write), pattern.to_owned()),
            _ => (None, pattern.to_owned()),
        };
        let patterns: Vec<_> = text.split(',').map(|p| one(p.trim())).collect();
        if patterns.iter().any(|(_, pattern)| pattern.is_empty()) {
            return Err(Error::new(ErrorKind::Usage, "an empty name of events")
                .expected("names with * and ?, separated by commas, such as `*DataLoader*,write=save_*`"));
        }
        Ok(IoNames(patterns))
    }
}

impl std::fmt::Display for IoNames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (op, pattern)) in self.0.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            match op {
                Some(op) => write!(f, "{comma}{}={pattern}", op.name())?,
                None => write!(f, "{comma}{pattern}")?,
            }
        }
        Ok(())
    }
}

/// The part of a name that says what is done: after the last `.`, `::` or `/`.
pub(super) fn last_part(name: &[u8]) -> &[u8] {
    let after = memchr::memrchr3(b'.', b':', b'/', name).map_or(0, |n| n + 1);
    if after == name.len() { name } else { &name[after..] }
}

/// True if a text fits a pattern with `*` (any text) and `?` (any character): after a `*` the shortest text is tried first, and only the last `*` is ever tried again.
pub(super) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == b'?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (p, t) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_names_parts_of_names_and_categories() {
        let names: IoNames = "a*c, write=?x,*DataLoader*".parse().unwrap();
        for (name, op) in [
            ("abc", Some(Op::Other)),
            ("abcb", None),
            ("ac.read", None),
            ("m::yx", Some(Op::Write)),
            ("enumerate(DataLoader)#read", Some(Op::Read)),
            ("", None),
        ] {
            assert_eq!(names.op(name.as_bytes(), b""), op, "{name}");
        }
        assert_eq!(names.op(b"q", b"abc"), Some(Op::Other));
        assert!("a,,b".parse::<IoNames>().is_err() && "read=".parse::<IoNames>().is_err());
        assert!(matches(b"*a*b*", b"xxaxxbxx") && !matches(b"*a*b", b"ab ") && matches(b"**", b""));
        assert_eq!(last_part(b"std::io/Read.read"), b"read");
        assert_eq!(last_part(b"a."), b"a.");
    }
}
