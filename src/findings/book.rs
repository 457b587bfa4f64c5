//! The text and the thresholds of findings, and the remedies: `rules.toml`, which is compiled in.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::report::Audience;
use super::system::{Mount, System};
use crate::error::{Error, ErrorKind, Result};

/// The file that is compiled in.
const RULES: &str = include_str!("rules.toml");

/// Severity of a finding of which neither time nor loss is known, or that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Warning,
    #[default]
    Info,
    /// A good property.
    Ok,
}

/// One of both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Direction {
    Read,
    Write,
}

/// A condition on the files of a finding; `rules.toml` explains each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum When {
    Reads,
    Writes,
    SharedFile,
    ReadByAll,
    SmallFile,
    LargeFile,
    SeveralRanks,
    ManyFiles,
    ManyOpens,
    ManyStats,
    ManySeeks,
    MayBeLustre,
    Collective,
    NotCollective,
    UnequalTransfers,
    EqualTransfers,
}

/// The entry of a code.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    #[serde(skip)]
    pub code: String,
    pub name: String,
    pub title: String,
    pub measured: String,
    pub why: String,
    pub limits: BTreeMap<String, f64>,
    #[serde(default)]
    pub level: Level,
    /// Never more than `info`, unless a loss is known.
    #[serde(default)]
    pub capped: bool,
    /// It follows from something else that may be found, too.
    #[serde(default)]
    pub symptom: bool,
    #[serde(default)]
    pub correctness: bool,
    /// The direction of the transfers concerned, if not both.
    pub direction: Option<Direction>,
    /// Processes that the job has at least.
    #[serde(default)]
    pub processes: u64,
    pub group: Option<String>,
    /// Codes that follow from this one in the same file.
    #[serde(default)]
    pub explains: Vec<String>,
    pub needs: String,
    #[serde(default)]
    pub audience: Audience,
    #[serde(default)]
    pub remedies: Vec<String>,
    /// Policies of access classes that help.
    #[serde(default)]
    pub policies: Vec<String>,
    #[serde(default)]
    pub drishti: Vec<String>,
}

impl Rule {
    fn of_warning(code: String, name: &str, meaning: &str) -> Rule {
        Rule {
            code,
            name: name.to_owned(),
            title: meaning.to_owned(),
            measured: "warning of the reader or of the analysis".into(),
            why: "figures may be incomplete or wrong".into(),
            limits: BTreeMap::new(),
            level: Level::Info,
            capped: true,
            symptom: false,
            correctness: false,
            direction: None,
            processes: 0,
            group: None,
            explains: Vec::new(),
            needs: "trace".into(),
            audience: Audience::User,
            remedies: Vec::new(),
            policies: Vec::new(),
            drishti: Vec::new(),
        }
    }

    /// A threshold.
    ///
    /// # Panics
    /// If the file has no threshold of this name, which a test rules out.
    pub fn at(&self, name: &str) -> f64 {
        self.limits[name]
    }
}

/// A way to help, for one library or file system.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RemedyText {
    /// `any`, or what has to be seen in the trace.
    #[serde(rename = "for", default = "any")]
    pub system: String,
    #[serde(default)]
    pub when: Vec<When>,
    pub command: Option<String>,
    #[serde(default)]
    pub hints: BTreeMap<String, String>,
    /// Advice in words, if there is neither command nor hint, and the reason.
    pub why: String,
    #[serde(default)]
    pub url: String,
}

fn any() -> String {
    "any".to_owned()
}

/// A policy of access classes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Policy {
    #[serde(default)]
    pub url: String,
    #[serde(default)]
    pub when: Vec<When>,
}

/// A configuration file.
#[derive(Deserialize)]
struct Configuration {
    #[serde(default)]
    system: System,
    #[serde(default)]
    mount: Vec<Mount>,
    #[serde(flatten)]
    limits: BTreeMap<String, BTreeMap<String, f64>>,
}

/// All rules and remedies.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Book {
    /// The data that findings need.
    pub needs: BTreeMap<String, Vec<String>>,
    /// How to record them, by the tool that made the trace.
    pub record: BTreeMap<String, BTreeMap<String, String>>,
    pub remedy: BTreeMap<String, Vec<RemedyText>>,
    pub policy: BTreeMap<String, Policy>,
    /// Values that hints have anyway.
    pub default: BTreeMap<String, String>,
    /// Warnings and their meaning, in the order of their codes.
    pub warning: Vec<[String; 2]>,
    /// The machine, as the user describes it.
    #[serde(skip)]
    pub system: System,
    #[serde(flatten)]
    pub rules: BTreeMap<String, Rule>,
}

/// The code of a warning by its place. Numbers from 101 to 200 belong to checks of the trace itself.
fn warning_code(at: usize) -> String {
    format!("IOP-TRACE-{:03}", if at < 100 { at + 1 } else { at + 101 })
}

impl Book {
    /// The file that is compiled in.
    ///
    /// # Errors
    /// None: a test parses the file.
    pub fn standard() -> Result<&'static Book> {
        static STANDARD: OnceLock<Book> = OnceLock::new();
        if let Some(book) = STANDARD.get() {
            return Ok(book);
        }
        let mut book: Book = toml::from_str(RULES).map_err(|e| malformed(RULES, &e))?;
        for (code, rule) in &mut book.rules {
            rule.code.clone_from(code);
        }
        for (code, [name, meaning]) in (0..).map(warning_code).zip(&book.warning) {
            book.rules.insert(code.clone(), Rule::of_warning(code, name, meaning));
        }
        Ok(STANDARD.get_or_init(|| book))
    }

    /// Takes what a configuration file says: `[CODE]` and lines `name = number`, `[system]`, and `[[mount]]`.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] with the line for what is no TOML, [`ErrorKind::Usage`] for a code or a threshold that does not exist.
    pub fn configure(&mut self, text: &str) -> Result<()> {
        let given: Configuration = toml::from_str(text).map_err(|e| malformed(text, &e))?;
        self.system = System { mounts: given.mount, ..given.system };
        // those of a comparison stand in the same file
        for (code, limits) in given.limits.into_iter().filter(|(code, _)| code != "compare") {
            for (name, value) in limits {
                self.set(&code, &name, value)?;
            }
        }
        Ok(())
    }

    /// Sets a threshold from `CODE.name=VALUE`.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for another form, and as [`set`](Self::set).
    pub fn assign(&mut self, text: &str) -> Result<()> {
        let parts = text.split_once('=').and_then(|(left, value)| {
            let (code, name) = left.trim().rsplit_once('.')?;
            Some((code.to_owned(), name, value.trim().parse::<f64>().ok()?))
        });
        let Some((code, name, value)) = parts else {
            return Err(Error::new(ErrorKind::Usage, format!("{text} sets no threshold")).expected("CODE.name=NUMBER"));
        };
        self.set(&code, name, value)
    }

    /// Sets a threshold.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for a code or a threshold that does not exist, and for a value that is no number.
    fn set(&mut self, code: &str, name: &str, value: f64) -> Result<()> {
        let rule = self.rule_mut(code)?;
        let Some(limit) = rule.limits.get_mut(name) else {
            let names: Vec<&str> = rule.limits.keys().map(String::as_str).collect();
            let expected = if names.is_empty() { "none".into() } else { names.join(", ") };
            return Err(Error::new(ErrorKind::Usage, format!("{code} has no threshold {name}")).expected(expected));
        };
        if !value.is_finite() {
            return Err(Error::new(ErrorKind::Usage, format!("{code}: {name} = {value}")).expected("a number"));
        }
        *limit = value;
        Ok(())
    }

    /// The rule of a warning.
    pub fn of_warning(&self, name: &str) -> Option<&Rule> {
        let at = self.warning.iter().position(|w| w[0] == name)?;
        self.rules.get(&warning_code(at))
    }

    /// The codes of the warnings, in order.
    pub fn warning_codes(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.warning.len()).map(warning_code)
    }

    fn rule_mut(&mut self, code: &str) -> Result<&mut Rule> {
        match self.rules.get(code) {
            Some(_) => Ok(self.rules.get_mut(code).expect("it was just found")),
            None => Err(unknown(code, self.rules.keys())),
        }
    }

    /// The rule of a code, or of a name such as `small-reads`.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] with the codes that look alike.
    pub fn find(&self, code: &str) -> Result<&Rule> {
        let found = self.rules.values().find(|r| r.code.eq_ignore_ascii_case(code) || r.name == code);
        found.ok_or_else(|| unknown(code, self.rules.keys()))
    }
}

/// The error of a code that does not exist names those that begin in the same way.
fn unknown<'a>(code: &str, all: impl Iterator<Item = &'a String> + Clone) -> Error {
    let common = |known: &str| known.bytes().zip(code.bytes()).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
    let most = all.clone().map(|c| common(c)).max().unwrap_or(0);
    let near: Vec<&str> = all.filter(|c| common(c) == most).take(12).map(String::as_str).collect();
    Error::new(ErrorKind::Usage, format!("no finding has the code {code}")).expected(near.join(", "))
}

fn malformed(text: &str, e: &toml::de::Error) -> Error {
    let line = e.span().map_or(1, |s| 1 + text[..s.start.min(text.len())].matches('\n').count() as u64);
    Error::malformed(crate::error::Place::Line(line), e.message().replace('\n', " "))
        .expected("TOML with [CODE] and lines name = number, [system], and [[mount]]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_sound() {
        let book = Book::standard().unwrap();
        for (code, rule) in &book.rules {
            assert!(code.starts_with("IOP-") && code.len() >= 10, "{code}");
            assert!(book.needs.contains_key(&rule.needs), "{code} needs {}", rule.needs);
            for r in &rule.remedies {
                assert!(book.remedy.contains_key(r), "{code} names the remedy {r}");
            }
            assert!(rule.explains.iter().all(|c| book.rules.contains_key(c)), "{code}");
            for p in &rule.policies {
                assert!(book.policy.contains_key(p), "{code} names the policy {p}");
            }
            assert_eq!(book.rules.values().filter(|r| r.name == rule.name).count(), 1, "{}", rule.name);
        }
        for (id, all) in &book.remedy {
            assert!(book.rules.values().any(|r| r.remedies.contains(id)), "nothing names the remedy {id}");
            let is_address = |url: &str| url.is_empty() || url.starts_with("https://");
            assert!(all.iter().all(|r| is_address(&r.url) && !r.why.is_empty()), "{id}");
            let typed = |text: &str| !text.contains("; ") && !text.contains(" or ");
            assert!(all.iter().flat_map(|r| r.command.iter().chain(r.hints.values())).all(|t| typed(t)), "{id}");
        }
        for data in book.needs.values().flatten() {
            assert!(book.record.contains_key(data), "{data}");
        }
    }

    #[test]
    fn thresholds_can_be_set_and_mistakes_are_named() {
        let mut book = Book::standard().unwrap().clone();
        book.configure("[IOP-POSIX-001]\nshare = 0.25\ncount = 7\n").unwrap();
        assert_eq!((book.rules["IOP-POSIX-001"].at("share"), book.rules["IOP-POSIX-001"].at("count")), (0.25, 7.0));
        let error = |text: &str| Book::standard().unwrap().clone().configure(text).unwrap_err();
        assert_eq!(error("[IOP-POSIX-001]\nshare == 2\n").place(), Some(crate::error::Place::Line(2)));
        let names = error("[IOP-POSIX-001]\nshre = 2\n");
        assert_eq!(names.kind(), ErrorKind::Usage);
        assert!(names.to_string().contains("share"), "{names}");
        assert!(error("[IOP-POSIX-999]\nshare = 2\n").to_string().contains("IOP-POSIX-001"));
        assert_eq!(error("[IOP-POSIX-001]\nshare = nan\n").kind(), ErrorKind::Usage);
        assert_eq!(error("[IOP-POSIX-001]\nshare = \"x\"\n").kind(), ErrorKind::Malformed);
        assert_eq!(error("[system]\nnode = 3\n").kind(), ErrorKind::Malformed);
        book.assign("IOP-POSIX-001.share=0.5").unwrap();
        assert_eq!(book.rules["IOP-POSIX-001"].at("share"), 0.5);
        for wrong in ["IOP-POSIX-001.shre=0.5", "IOP-POSIX-001=0.5", "IOP-POSIX-001.share=x", "share"] {
            assert_eq!(book.assign(wrong).unwrap_err().kind(), ErrorKind::Usage, "{wrong}");
        }
    }

    #[test]
    fn a_machine_can_be_described() {
        let mut book = Book::standard().unwrap().clone();
        let text = "[system]\nnodes = 4\nburst_buffer = { rate = 1e9, capacity = 1e12 }\n\
                    [[mount]]\npath = \"/scratch\"\nost_rate = 5e8\nscratch = true\n[IOP-POSIX-001]\nshare = 0.2\n";
        book.configure(text).unwrap();
        assert_eq!((book.system.nodes, book.rules["IOP-POSIX-001"].at("share")), (Some(4), 0.2));
        assert_eq!(book.system.mount("/scratch/a").unwrap().ost_rate, Some(5e8));
        assert_eq!(book.system.mount("/scratched"), None);
    }
}
