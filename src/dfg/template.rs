//! Templates of activities: `{call}:{path:2}`.

use std::fmt;
use std::str::FromStr;

use super::case::CaseId;
use crate::error::{Error, ErrorKind};

/// How much of a path is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Levels {
    /// As many as the mapping says.
    Default,
    /// The top ones.
    Top(usize),
    /// All.
    All,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Call,
    Path(Levels),
    Dir(Levels),
    File,
    Ext,
    Cid,
    Host,
    Rank,
}

/// Text with fields: `{call}`, `{path}` and `{dir}` (cut to the default number of levels, `{path:3}` to three, `{path:all}` not at
/// all), `{file}` (last part), `{ext}` (what follows its last dot), `{cid}`, `{host}`, `{rank}`. `{{` and `}}` are braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
    pieces: Vec<Piece>,
}

impl Default for Template {
    /// `{call}:{path}`, eq. 4.
    fn default() -> Self {
        let pieces = vec![Piece::Call, Piece::Text(":".into()), Piece::Path(Levels::Default)];
        Template { text: "{call}:{path}".into(), pieces }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Template {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bad = |what: String| {
            Error::new(ErrorKind::Usage, what)
                .expected("fields {call} {path} {path:LEVELS} {dir} {file} {ext} {cid} {host} {rank}")
        };
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if let Some(tail) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
                plain.push(c);
                rest = tail;
            } else if let Some(tail) = rest.strip_prefix('{') {
                let (field, tail) =
                    tail.split_once('}').ok_or_else(|| bad(format!("a brace in `{text}` is not closed")))?;
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(piece(field).ok_or_else(|| bad(format!("no field {{{field}}} in activities")))?);
                rest = tail;
            } else {
                plain.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        if pieces.iter().all(|p| matches!(p, Piece::Text(_))) {
            return Err(bad(format!("`{text}` makes the same activity of every call")));
        }
        Ok(Template { text: text.to_owned(), pieces })
    }
}

fn piece(field: &str) -> Option<Piece> {
    let (name, levels) = match field.split_once(':') {
        None => (field, Levels::Default),
        Some((name, "all")) => (name, Levels::All),
        Some((name, n)) => (name, Levels::Top(n.parse().ok().filter(|&n| n > 0)?)),
    };
    Some(match name {
        "path" => Piece::Path(levels),
        "dir" => Piece::Dir(levels),
        _ if levels != Levels::Default => return None,
        "call" => Piece::Call,
        "file" => Piece::File,
        "ext" => Piece::Ext,
        "cid" => Piece::Cid,
        "host" => Piece::Host,
        "rank" => Piece::Rank,
        _ => return None,
    })
}

impl Template {
    /// True if it says anything about the path: calls without one do not fit.
    pub(crate) fn needs_path(&self) -> bool {
        self.pieces.iter().any(|p| matches!(p, Piece::Path(_) | Piece::Dir(_) | Piece::File | Piece::Ext))
    }

    /// The activity. Where the call has no path, what stands between it and other fields is left out at the ends.
    pub(super) fn fill(&self, case: &CaseId, call: &str, path: &str, levels: usize) -> String {
        let mut out = String::new();
        let cut = |path: &str, l: Levels| match l {
            Levels::Default => top(path, levels).to_owned(),
            Levels::Top(n) => top(path, n).to_owned(),
            Levels::All => path.to_owned(),
        };
        let (dir, file) = path.rsplit_once('/').unwrap_or(("", path));
        for p in &self.pieces {
            match p {
                Piece::Text(t) => out.push_str(t),
                Piece::Call => out.push_str(call),
                Piece::Path(l) => out.push_str(&cut(path, *l)),
                Piece::Dir(l) => {
                    out.push_str(&cut(if dir.is_empty() && path.starts_with('/') { "/" } else { dir }, *l))
                }
                Piece::File => out.push_str(file),
                Piece::Ext => out.push_str(file.rsplit_once('.').map_or("", |(_, e)| e)),
                Piece::Cid => out.push_str(&case.cid),
                Piece::Host => out.push_str(case.host.as_deref().unwrap_or("?")),
                Piece::Rank => out.push_str(case.rid.as_deref().unwrap_or("?")),
            }
        }
        if path.is_empty() { out.trim_matches([':', ' ', '/']).to_owned() } else { out }
    }
}

/// A path up to its first `levels` parts: `/usr/lib` of `/usr/lib/x86_64-linux-gnu/libc.so.6`.
fn top(path: &str, levels: usize) -> &str {
    let from = usize::from(path.starts_with('/'));
    let end = path.bytes().enumerate().skip(from).filter(|(_, b)| *b == b'/').nth(levels.saturating_sub(1));
    end.map_or(path, |(i, _)| &path[..i])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(t: &str, call: &str, path: &str) -> String {
        let id = CaseId { cid: "a".into(), host: None, rid: Some("7".into()), pid: None };
        t.parse::<Template>().unwrap().fill(&id, call, path, 2)
    }

    #[test]
    fn paths_are_cut_to_their_top() {
        for (path, want) in [
            ("/usr/lib/x/libc.so.6", "/usr/lib"),
            ("/etc/passwd", "/etc/passwd"),
            ("/", "/"),
            ("$SCRATCH/ssf/out", "$SCRATCH/ssf"),
            ("pipe", "pipe"),
            ("/a/b/", "/a/b"),
        ] {
            assert_eq!(top(path, 2), want);
        }
    }

    #[test]
    fn fields() {
        assert_eq!(Template::default(), "{call}:{path}".parse().unwrap());
        assert_eq!(fill("{call}:{path}", "read", "/usr/lib/x"), "read:/usr/lib");
        assert_eq!(fill("{call} {path:1}", "read", "/usr/lib/x"), "read /usr");
        assert_eq!(fill("{path:all}|{dir:all}", "read", "/usr/lib/x.y"), "/usr/lib/x.y|/usr/lib");
        assert_eq!(fill("{{{file}}}.{ext} {cid}{host}{rank}", "r", "/d/x.tar.gz"), "{x.tar.gz}.gz a?7");
        assert_eq!((fill("{dir}", "r", "/x"), fill("{dir}", "r", "x")), ("/".into(), String::new()));
        assert_eq!(fill("{call}:{path}", "brk", ""), "brk");
        for bad in ["{", "{calls}", "x", "", "{path:0}", "{file:2}", "{path:x}"] {
            assert_eq!(bad.parse::<Template>().unwrap_err().exit_code(), 2, "{bad}");
        }
    }
}
