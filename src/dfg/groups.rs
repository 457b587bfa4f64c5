//! Two sets of cases to compare (section IV-C).

use std::str::FromStr;

use regex::Regex;
use schemars::JsonSchema;
use serde::Serialize;

use super::case::Case;
use crate::error::{Error, ErrorKind, Result};

/// A pattern of names: `*` stands for any text, `?` for one character, `[ab]` and `[a-z]` for one of several.
#[derive(Debug, Clone)]
pub struct Glob {
    text: String,
    regex: Regex,
}

impl FromStr for Glob {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad =
            || Error::new(ErrorKind::Usage, format!("`{text}` is not a pattern")).expected("names with * ? and [abc]");
        let mut regex = String::from("(?s)^");
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '*' => regex.push_str(".*"),
                '?' => regex.push('.'),
                '[' => {
                    let (set, tail) = rest.split_once(']').filter(|(s, _)| !s.is_empty()).ok_or_else(bad)?;
                    let (not, set) = set.strip_prefix('!').map_or(("", set), |s| ("^", s));
                    let set: String =
                        set.chars().map(|c| if c == '-' { c.into() } else { regex::escape(&c.to_string()) }).collect();
                    regex.push_str(&format!("[{not}{set}]"));
                    rest = tail;
                }
                c => regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
            }
        }
        regex.push('$');
        Ok(Glob { text: text.to_owned(), regex: Regex::new(&regex).map_err(|_| bad())? })
    }
}

impl Glob {
    /// True if the whole name fits.
    pub fn matches(&self, name: &str) -> bool {
        self.regex.is_match(name)
    }
}

/// One of two sets of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// The first.
    Green,
    /// The second.
    Red,
}

/// Which cases are green and which red. If only one is given, the other is all the rest.
#[derive(Debug, Clone, Default)]
pub struct Partition {
    /// Patterns of the green cases.
    pub green: Vec<Glob>,
    /// Patterns of the red cases.
    pub red: Vec<Glob>,
}

impl Partition {
    /// True if nothing is to be compared.
    pub fn is_empty(&self) -> bool {
        self.green.is_empty() && self.red.is_empty()
    }

    /// The group of each case. A pattern fits the name of the case, its command, its file, or the input as the user named it.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if a case is in both groups, or none in one of them.
    pub(crate) fn groups(&self, cases: &[Case]) -> Result<Vec<Option<Group>>> {
        let groups: Vec<Option<Group>> = cases.iter().map(|c| self.group(c)).collect::<Result<_>>()?;
        for (group, name, patterns) in [(Group::Green, "green", &self.green), (Group::Red, "red", &self.red)] {
            if !self.is_empty() && !groups.contains(&Some(group)) {
                let patterns: Vec<&str> = patterns.iter().map(|g| &*g.text).collect();
                let names: Vec<String> = cases.iter().take(3).map(|c| c.id.to_string()).collect();
                let found = format!("no case is {name} ({})", patterns.join(", "));
                return Err(Error::new(ErrorKind::Usage, found)
                    .expected(format!("patterns of cases such as {}, or names of inputs", names.join(", "))));
            }
        }
        Ok(groups)
    }

    fn group(&self, case: &Case) -> Result<Option<Group>> {
        let (id, input) = (case.id.to_string(), case.origin.input.trim_end_matches('/'));
        let fits = |patterns: &[Glob]| {
            patterns.iter().any(|g| {
                [&*id, &*case.id.cid, input, &*case.origin.file, &*case.origin.input].iter().any(|n| g.matches(n))
            })
        };
        match (self.green.is_empty(), self.red.is_empty(), fits(&self.green), fits(&self.red)) {
            (true, true, ..) => Ok(None),
            (.., true, true) => Err(Error::new(ErrorKind::Usage, format!("case {id} is both green and red"))
                .expected("two sets without a common case")),
            (_, _, true, _) | (true, _, _, false) => Ok(Some(Group::Green)),
            (_, _, _, true) | (_, true, false, _) => Ok(Some(Group::Red)),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (glob, yes, no) in [
            ("a_*", "a_node1_3", "b_a_"),
            ("*.st", "x/y.st", "x.str"),
            ("[ab]?", "b1", "c1"),
            ("[!a-c]", "d", "b"),
            ("a.b", "a.b", "axb"),
            ("ssf", "ssf", "ssf2"),
        ] {
            let g: Glob = glob.parse().unwrap();
            assert!(g.matches(yes) && !g.matches(no), "{glob}");
        }
        assert!("[".parse::<Glob>().is_err() && "[]".parse::<Glob>().is_err());
    }
}
