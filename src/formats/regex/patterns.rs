//! Patterns that read text: from flags, or from a file in TOML or JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use regex::bytes::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use super::quantity::{Kind, Unit};
use crate::error::{Error, ErrorKind, Result};

/// Bytes that a compiled expression may take.
const COMPILED_BYTES: usize = 16 << 20;
/// Patterns of one set.
const MOST_PATTERNS: usize = 256;
/// Bytes of a pattern file.
const FILE_BYTES: usize = 1 << 20;

/// Patterns for text that is in no known format: what to look for, and what it means.
///
/// Either each pattern is searched in each line, and its named groups make a record; or, as in FTIO's pattern files, each pattern is
/// searched once in the whole text, and its first group holds one array or number.
#[derive(Debug, Clone)]
pub struct Patterns {
    forms: Arc<Forms>,
    /// A pattern file that says the same.
    text: Arc<str>,
}

#[derive(Debug)]
pub(super) enum Forms {
    Rows(Vec<RowPattern>),
    Whole(WholePatterns),
}

/// A field of a record that a group can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Rank,
    Op,
    File,
    Offset,
    Size,
    Start,
    End,
    Duration,
    Rate,
    Time,
}

impl Group {
    pub(super) const COUNT: usize = 10;
    const ALL: [(&'static str, Group); Group::COUNT] = [
        ("rank", Group::Rank),
        ("op", Group::Op),
        ("file", Group::File),
        ("offset", Group::Offset),
        ("size", Group::Size),
        ("start", Group::Start),
        ("end", Group::End),
        ("duration", Group::Duration),
        ("rate", Group::Rate),
        ("time", Group::Time),
    ];

    fn named(name: &str) -> Option<Group> {
        Group::ALL.iter().find(|(n, _)| *n == name).map(|(_, g)| *g)
    }

    pub(super) fn name(self) -> &'static str {
        Group::ALL[self as usize].0
    }

    /// The quantity of the number in it; `None` for text and plain numbers.
    pub(super) fn kind(self) -> Option<Kind> {
        match self {
            Group::Offset | Group::Size => Some(Kind::Bytes),
            Group::Rate => Some(Kind::Rate),
            Group::Start | Group::End | Group::Duration | Group::Time => Some(Kind::Seconds),
            Group::Rank | Group::Op | Group::File => None,
        }
    }

    fn names() -> String {
        Group::ALL.map(|(n, _)| n).join(", ")
    }
}

/// Another text for what a group captured.
type Translation = BTreeMap<String, String>;

/// A pattern whose match in a line is a record.
#[derive(Debug)]
pub(super) struct RowPattern {
    pub(super) regex: Regex,
    /// Number of the capture group, its field and its unit.
    pub(super) groups: Vec<(usize, Group, Unit)>,
    /// Fields that the text does not have, and their units.
    pub(super) constants: Vec<(Group, Unit, String)>,
    pub(super) translate: BTreeMap<Group, Translation>,
    /// The rate holds from the time of a match to that of the next.
    pub(super) is_step: bool,
}

/// FTIO's form: one pattern a field, each searched once.
#[derive(Debug)]
pub(super) struct WholePatterns {
    pub(super) patterns: Vec<(String, Regex)>,
    /// Array or total of FTIO's form, name of the pattern, factor.
    pub(super) targets: Vec<(String, String, f64)>,
    /// Direction, if the file states it.
    pub(super) op: Option<String>,
}

fn usage(found: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, found)
}

impl Patterns {
    /// Patterns for lines, each a regular expression with named groups.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if one is no expression, has an unknown group, or lacks one that a record needs.
    pub fn rows(expressions: &[String]) -> Result<Patterns> {
        let entries = expressions.iter().map(|e| Entry::Expression(e.clone())).collect();
        let file = RowFile { patterns: entries, ..RowFile::default() };
        let text = serde_json::to_string(&file).map_err(|e| usage(e.to_string()))?;
        Ok(Patterns { forms: Arc::new(Forms::Rows(file.compile()?)), text: text.into() })
    }

    /// Patterns from the text of a file in TOML or JSON: `patterns`, `units`, `constants` and `translate` for lines, or the maps
    /// `pattern` and `translate` of FTIO for the whole text.
    ///
    /// # Errors
    /// As [`Patterns::rows`]; [`ErrorKind::Usage`] if the text is neither.
    pub fn from_file(text: &str) -> Result<Patterns> {
        if text.len() > FILE_BYTES {
            return Err(Error::limit(format!("a pattern file of {} bytes", text.len()), format!("{FILE_BYTES} bytes")));
        }
        let value: toml::Table = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|e| usage(format!("no JSON: {e}")))?
        } else {
            toml::from_str(text).map_err(|e| not_toml(text, &e))?
        };
        let fields = |e: toml::de::Error| usage(e.message().to_owned()).expected(FILE_FIELDS);
        if value.get("pattern").is_some_and(toml::Value::is_table) {
            let whole = value.try_into::<WholeFile>().map_err(fields)?.compile()?;
            return Ok(Patterns { forms: Arc::new(Forms::Whole(whole)), text: text.into() });
        }
        let rows = value.try_into::<RowFile>().map_err(fields)?.compile()?;
        Ok(Patterns { forms: Arc::new(Forms::Rows(rows)), text: text.into() })
    }

    pub(super) fn forms(&self) -> &Forms {
        &self.forms
    }

    /// The patterns of lines.
    pub(super) fn of_rows(&self) -> &[RowPattern] {
        match self.forms() {
            Forms::Rows(rows) => rows,
            Forms::Whole(_) => &[],
        }
    }

    /// A pattern file that says the same.
    pub(in super::super) fn text(&self) -> &str {
        &self.text
    }
}

const FILE_FIELDS: &str =
    "`patterns` (a list) with `units`, `constants` and `translate`, or the maps `pattern` and `translate` of FTIO";

fn not_toml(text: &str, e: &toml::de::Error) -> Error {
    let line = e.span().map_or(1, |s| 1 + text[..s.start.min(text.len())].matches('\n').count());
    let e = usage(format!("line {line}: no TOML: {}", e.message()));
    // FTIO runs its pattern files, which are Python.
    if text.contains("= {") && text.contains("r\"") {
        return e.remedy("this looks like Python: write its two maps as TOML, as docs/from-ftio.md shows");
    }
    e.expected(FILE_FIELDS)
}

/// A pattern with settings of its own, or the expression alone.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(untagged)]
enum Entry {
    Expression(String),
    Full(FullEntry),
}

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct FullEntry {
    regex: String,
    #[serde(default)]
    units: BTreeMap<String, String>,
    #[serde(default)]
    constants: BTreeMap<String, toml::Value>,
    #[serde(default)]
    translate: BTreeMap<String, Translation>,
}

/// A file of patterns for lines. Settings beside `patterns` hold for all of them.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct RowFile {
    patterns: Vec<Entry>,
    #[serde(default)]
    units: BTreeMap<String, String>,
    #[serde(default)]
    constants: BTreeMap<String, toml::Value>,
    #[serde(default)]
    translate: BTreeMap<String, Translation>,
}

impl RowFile {
    fn compile(self) -> Result<Vec<RowPattern>> {
        if self.patterns.is_empty() || self.patterns.len() > MOST_PATTERNS {
            return Err(usage(format!("{} patterns", self.patterns.len())).expected(format!("1 to {MOST_PATTERNS}")));
        }
        let compile = |(i, entry): (usize, &Entry)| {
            let mut full = match entry.clone() {
                Entry::Expression(regex) => FullEntry { regex, ..FullEntry::default() },
                Entry::Full(full) => full,
            };
            add_missing(&mut full.units, &self.units);
            add_missing(&mut full.constants, &self.constants);
            add_missing(&mut full.translate, &self.translate);
            let which = format!("pattern {}, {}", i + 1, super::super::lines::quote(full.regex.as_bytes()));
            full.compile().map_err(|e| prefixed(&which, &e))
        };
        let rows: Vec<RowPattern> = self.patterns.iter().enumerate().map(compile).collect::<Result<_>>()?;
        if rows.iter().any(|r| r.is_step) && !rows.iter().all(|r| r.is_step) {
            return Err(usage("some patterns give rates that hold until the next match, others single transfers")
                .expected("patterns of one kind")
                .remedy("read the text once with each kind"));
        }
        Ok(rows)
    }
}

/// Takes over the settings of all patterns that a pattern does not have itself.
fn add_missing<V: Clone>(own: &mut BTreeMap<String, V>, of_all: &BTreeMap<String, V>) {
    for (name, value) in of_all {
        own.entry(name.clone()).or_insert_with(|| value.clone());
    }
}

/// The error with the pattern in front of it.
fn prefixed(which: &str, e: &Error) -> Error {
    usage(format!("{which}: {e}"))
}

impl FullEntry {
    fn compile(self) -> Result<RowPattern> {
        let regex = compile(&self.regex)?;
        let units = self.units.iter().map(|(k, v)| unit(k, v)).collect::<Result<BTreeMap<_, _>>>()?;
        let mut groups = Vec::new();
        for (i, name) in regex.capture_names().enumerate() {
            let Some(name) = name else { continue };
            let (group, own) = field(name)?;
            groups.push((i, group, own.or(units.get(&group).copied()).unwrap_or(Unit::ONE)));
        }
        let mut constants = Vec::new();
        for (name, value) in &self.constants {
            let (group, own) = field(name)?;
            let text = match value {
                toml::Value::String(text) => text.clone(),
                toml::Value::Integer(n) => n.to_string(),
                toml::Value::Float(x) => x.to_string(),
                other => {
                    return Err(usage(format!("constant {name} is of type {}", other.type_str()))
                        .expected("a text or a number"));
                }
            };
            if !groups.iter().any(|(_, g, _)| *g == group) {
                constants.push((group, own.or(units.get(&group).copied()).unwrap_or(Unit::ONE), text));
            }
        }
        let mut translate = BTreeMap::new();
        for (name, map) in self.translate {
            translate.insert(field(&name)?.0, map);
        }
        let is_step = shape(&groups, &constants)?;
        Ok(RowPattern { regex, groups, constants, translate, is_step })
    }
}

/// The field of a group name, which may end in a unit: `size_KiB`, `start_ms`.
fn field(name: &str) -> Result<(Group, Option<Unit>)> {
    let (first, behind) = name.split_once('_').map_or((name, None), |(f, b)| (f, Some(b)));
    let group = Group::named(first).ok_or_else(|| {
        usage(format!("a group or field is called {name}")).expected(format!("one of {}", Group::names()))
    })?;
    Ok((group, behind.map(|b| unit(first, b)).transpose()?.map(|(_, u)| u)))
}

/// A field with its unit.
fn unit(field: &str, name: &str) -> Result<(Group, Unit)> {
    let group = Group::named(field)
        .ok_or_else(|| usage(format!("a unit for {field}")).expected(format!("one of {}", Group::names())))?;
    let kind = group.kind().ok_or_else(|| usage(format!("{field} has no unit, and {name} was given")))?;
    let unit = Unit::named(name, kind);
    unit.map(|u| (group, u))
        .ok_or_else(|| usage(format!("{field} in unit {name}")).expected(format!("one of {}", Unit::names(kind))))
}

/// Checks that there is a time and an amount; true if the rate holds until the next match.
fn shape(groups: &[(usize, Group, Unit)], constants: &[(Group, Unit, String)]) -> Result<bool> {
    let has = |g: Group| groups.iter().any(|x| x.1 == g) || constants.iter().any(|x| x.0 == g);
    let named: Vec<&str> = groups.iter().map(|x| x.1.name()).collect();
    let found = if named.is_empty() { "no named group".to_owned() } else { format!("the groups {}", named.join(", ")) };
    let missing =
        |what: &str, expected: &str| usage(format!("{found}: nothing says {what}")).expected(expected.to_owned());
    if !(has(Group::Start) || has(Group::End) || has(Group::Time)) {
        return Err(missing("when", "a group start, end or time, such as (?P<start>[\\d.]+)"));
    }
    if !(has(Group::Size) || has(Group::Rate)) {
        return Err(missing("how much", "a group size or rate, such as (?P<size>\\d+)"));
    }
    let begins = has(Group::Start) || has(Group::Time);
    let lasts = has(Group::Duration) || has(Group::End) && begins;
    if has(Group::Size) || lasts {
        return Ok(false);
    }
    if !begins {
        return Err(missing("how long the rate holds", "a group duration or start"));
    }
    Ok(true)
}

/// Compiles an expression. One of ASCII characters is matched against bytes, so that names in any encoding are read.
fn compile(expression: &str) -> Result<Regex> {
    let build = |unicode| RegexBuilder::new(expression).unicode(unicode).size_limit(COMPILED_BYTES).build();
    let bytes = if expression.is_ascii() { build(false).ok() } else { None };
    bytes.map_or_else(|| build(true), Ok).map_err(|e| {
        let what = match e {
            regex::Error::Syntax(text) => text.lines().map(str::trim).collect::<Vec<_>>().join(" "),
            other => other.to_string(),
        };
        usage(what).remedy("the syntax is that of the crate regex: no look-around, no back-references")
    })
}

/// FTIO's file.
#[derive(Debug, Deserialize)]
struct WholeFile {
    pattern: BTreeMap<String, String>,
    translate: BTreeMap<String, Target>,
    #[serde(default)]
    constants: BTreeMap<String, String>,
}

/// A field in FTIO's `translate`: a name, a name with a factor, or a map of such.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Target {
    Name(String),
    Scaled(String, f64),
    /// The name alone in a list, as a tuple of one becomes.
    Alone([String; 1]),
    Map(BTreeMap<String, Target>),
}

impl WholeFile {
    fn compile(self) -> Result<WholePatterns> {
        if self.pattern.len() > MOST_PATTERNS {
            return Err(usage(format!("{} patterns", self.pattern.len())).expected(format!("at most {MOST_PATTERNS}")));
        }
        let mut patterns = Vec::new();
        for (name, expression) in &self.pattern {
            let which = format!("pattern {name}");
            let regex = compile(expression).map_err(|e| prefixed(&which, &e))?;
            if regex.captures_len() < 2 {
                return Err(usage(format!("{which} has no group")).expected("one group around the numbers"));
            }
            patterns.push((name.clone(), regex));
        }
        let mut targets = Vec::new();
        flatten(self.translate, &mut targets);
        for (field, source, factor) in &targets {
            if !self.pattern.contains_key(source) {
                let names: Vec<_> = self.pattern.keys().cloned().collect();
                return Err(usage(format!("translate: {field} is taken from {source}, and there is no such pattern"))
                    .expected(format!("one of {}", names.join(", "))));
            }
            if !factor.is_finite() {
                return Err(usage(format!("translate: {field} is scaled by {factor}")).expected("a number"));
            }
        }
        Ok(WholePatterns { patterns, targets, op: self.constants.get("op").cloned() })
    }
}

fn flatten(map: BTreeMap<String, Target>, out: &mut Vec<(String, String, f64)>) {
    for (field, target) in map {
        match target {
            Target::Name(name) | Target::Alone([name]) => out.push((field, name, 1.0)),
            Target::Scaled(name, factor) => out.push((field, name, factor)),
            Target::Map(inner) => flatten(inner, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(expression: &str) -> Result<Patterns> {
        Patterns::rows(&[expression.to_owned()])
    }

    #[test]
    fn a_pattern_says_what_it_lacks() {
        for (expression, why) in [
            (r"(?P<op>\w+)", "the groups op: nothing says when; expected a group start, end or time"),
            (r"(?P<start>\d+)", "the groups start: nothing says how much; expected a group size or rate"),
            (r"\d+", "no named group"),
            (r"(?P<end>\d+) (?P<rate>\d+)", "nothing says how long the rate holds"),
            (r"(?P<bytes>\d+)", "a group or field is called bytes; expected one of rank, op, file"),
            (r"(?P<size_ms>\d+)", "size in unit ms; expected one of B, kB"),
            (r"(?P<rank_s>\d+)", "rank has no unit"),
            (r"(?P<start>\d+", "unclosed group"),
            (r"(?<=x)(?P<start>\d+)", "look-around"),
        ] {
            let e = rows(expression).unwrap_err();
            assert_eq!(e.kind(), ErrorKind::Usage);
            assert!(e.to_string().starts_with("pattern 1, `") && e.to_string().contains(why), "{expression}: {e}");
        }
        for expression in [
            r"(?P<start>\S+) (?P<size>\d+)",
            r"(?P<time>\S+) (?P<rate>\d+)",
            r"(?P<end>\S+) (?P<duration_us>\S+) (?P<rate_MiB>\d+)",
            r"größe=(?P<size>\d+) (?P<end>\S+)",
        ] {
            rows(expression).unwrap();
        }
    }

    #[test]
    fn files_say_what_is_wrong_and_where() {
        for (text, why) in [
            ("patterns = []", "0 patterns; expected 1 to 256"),
            ("x = 1", "unknown field `x`"),
            ("patterns = ['(?P<start>.)(?P<size>.)']\n[unit]\nsize = 'KiB'", "unknown field `unit`"),
            ("patterns = ['(?P<start>.)(?P<size>.)']\n[units]\nsize = 'parsec'", "size in unit parsec"),
            ("patterns = [\n", "line"),
            ("{\"patterns\": [}", "no JSON"),
            ("pattern = {\n  \"a\": r\"x\",\n}\n", "docs/from-ftio.md"),
            ("[pattern]\na = 'x'\n[translate]\n", "pattern a has no group"),
            ("[pattern]\na = '(x)'\n[translate]\ntotal_bytes = 'b'\n", "there is no such pattern; expected one of a"),
        ] {
            let e = Patterns::from_file(text).unwrap_err();
            assert!(e.to_string().contains(why), "{text}: {e}");
        }
    }
}
