//! Parameters of workloads as data: name, kind, default and meaning. Their values are given as text.

use serde_json::Value as Json;

use crate::error::{Error, ErrorKind, Result};

/// Kinds of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Bytes: `4096`, `4k`, `1MiB` (powers of 1024); `1MB` (powers of 1000).
    Bytes,
    /// Seconds, 0 or more.
    Seconds,
    /// A whole number, 0 or more.
    Count,
    /// A share from 0 to 1.
    Share,
    /// A number of either sign.
    Real,
    /// One to four whole numbers above 0, such as `64,64`.
    Extents,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Given or not.
    Flag,
}

/// A parameter of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Name, in kebab-case.
    pub name: &'static str,
    /// Kind.
    pub kind: Kind,
    /// Default, as text; empty for flags.
    pub default: &'static str,
    /// Meaning, in one line.
    pub help: &'static str,
}

impl Parameter {
    pub(crate) const fn new(name: &'static str, kind: Kind, default: &'static str, help: &'static str) -> Parameter {
        Parameter { name, kind, default, help }
    }
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Bytes or a count.
    Whole(u64),
    /// Seconds, a share or a number.
    Real(f64),
    /// Extents.
    Extents(Vec<u64>),
    /// A choice.
    Word(&'static str),
    /// A flag.
    Flag(bool),
}

impl Kind {
    /// The value that `text` stands for.
    ///
    /// # Errors
    /// The kind of value that was expected.
    pub fn parse(self, text: &str) -> Result<Value, String> {
        let real = || text.parse::<f64>().ok().filter(|x| x.is_finite());
        let whole = |t: &str| t.trim().parse::<u64>().ok();
        let value = match self {
            Kind::Bytes => bytes(text).map(Value::Whole),
            Kind::Count => whole(text).map(Value::Whole),
            // Times are summed as nanoseconds in a `u64`.
            Kind::Seconds => real().filter(|x| (0.0..=1e8).contains(x)).map(Value::Real),
            Kind::Share => real().filter(|x| (0.0..=1.0).contains(x)).map(Value::Real),
            Kind::Real => real().map(Value::Real),
            Kind::Extents => {
                let all: Option<Vec<u64>> = text.split(',').map(|t| whole(t).filter(|n| *n > 0)).collect();
                all.filter(|n| n.len() <= 4).map(Value::Extents)
            }
            Kind::Choice(words) => words.iter().find(|w| **w == text).map(|w| Value::Word(w)),
            Kind::Flag => text.parse().ok().map(Value::Flag),
        };
        value.ok_or_else(|| self.expected())
    }

    fn expected(self) -> String {
        match self {
            Kind::Bytes => "bytes, such as 4096, 4k or 1MiB".into(),
            Kind::Seconds => "seconds, from 0 to 1e8".into(),
            Kind::Count => "a whole number".into(),
            Kind::Share => "a number from 0 to 1".into(),
            Kind::Real => "a number".into(),
            Kind::Extents => "one to four whole numbers above 0, such as 64,64".into(),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Flag => "true or false".into(),
        }
    }
}

/// A number of bytes with an optional unit.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let unit = text[digits..].trim().to_ascii_lowercase();
    let power = |prefix: &str| ["", "k", "m", "g", "t", "p"].iter().position(|p| *p == prefix).map(|p| p as u32);
    let factor = match unit.strip_suffix('b').unwrap_or(&unit) {
        "" => 1,
        rest if rest.ends_with('i') => 1024u64.pow(power(&rest[..rest.len() - 1]).filter(|p| *p > 0)?),
        rest if unit.ends_with('b') => 1000u64.pow(power(rest)?),
        rest => 1024u64.pow(power(rest)?),
    };
    number.checked_mul(factor)
}

/// The values of all parameters of a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Values(Vec<(&'static str, Value)>);

impl Values {
    /// The defaults of `parameters`.
    pub fn defaults(parameters: &[Parameter]) -> Values {
        let default = |p: &Parameter| match p.kind {
            Kind::Flag => Value::Flag(false),
            // Defaults are checked by a test.
            kind => kind.parse(p.default).unwrap_or(Value::Whole(0)),
        };
        Values(parameters.iter().map(|p| (p.name, default(p))).collect())
    }

    /// The `given` values, as pairs of name and text, and the defaults of all other `parameters`.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for an unknown name or an invalid value.
    pub fn of(parameters: &[Parameter], given: &[(&str, &str)]) -> Result<Values> {
        let mut values = Values::defaults(parameters);
        for &(name, text) in given {
            let parameter = parameters.iter().find(|p| p.name == name);
            let parameter = parameter
                .ok_or_else(|| Error::new(ErrorKind::Usage, format!("the workload has no parameter {name}")))?;
            let value = parameter
                .kind
                .parse(text)
                .map_err(|e| Error::new(ErrorKind::Usage, format!("{name} `{text}`")).expected(e))?;
            values.set(name, value);
        }
        Ok(values)
    }

    /// Sets the parameter `name`, if the workload has it.
    pub fn set(&mut self, name: &str, value: Value) {
        if let Some((_, v)) = self.0.iter_mut().find(|(n, _)| *n == name) {
            *v = value;
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(n, _)| *n == name).map(|(_, v)| v);
        debug_assert!(found.is_some(), "no parameter {name}");
        found
    }

    pub(crate) fn whole(&self, name: &str) -> u64 {
        if let Some(Value::Whole(x)) = self.get(name) { *x } else { 0 }
    }

    pub(crate) fn real(&self, name: &str) -> f64 {
        if let Some(Value::Real(x)) = self.get(name) { *x } else { 0.0 }
    }

    /// Seconds in nanoseconds.
    pub(crate) fn nanos(&self, name: &str) -> u64 {
        super::clock::nanos(self.real(name))
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Value::Flag(true)))
    }

    pub(crate) fn word(&self, name: &str) -> &'static str {
        if let Some(Value::Word(w)) = self.get(name) { w } else { "" }
    }

    pub(crate) fn extents(&self, name: &str) -> Vec<u64> {
        if let Some(Value::Extents(x)) = self.get(name) { x.clone() } else { vec![1] }
    }

    /// A whole number above 0 and at most `most`.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`].
    pub(crate) fn positive(&self, name: &str, most: u64) -> Result<u64> {
        let n = self.whole(name);
        if n == 0 || n > most {
            return Err(Error::new(ErrorKind::Usage, format!("{name} {n}")).expected(format!("from 1 to {most}")));
        }
        Ok(n)
    }

    /// All values for a report.
    pub(crate) fn json(&self) -> serde_json::Map<String, Json> {
        let json = |v: &Value| match v {
            Value::Whole(x) => Json::from(*x),
            Value::Real(x) => Json::from(*x),
            Value::Extents(x) => Json::from(x.clone()),
            Value::Word(w) => Json::from(*w),
            Value::Flag(b) => Json::from(*b),
        };
        self.0.iter().map(|(n, v)| (n.replace('-', "_"), json(v))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_bytes() {
        let binary =
            [("4096", 4096), ("4k", 4096), ("4K", 4096), ("1MiB", 1 << 20), ("1 mib", 1 << 20), ("2g", 2 << 30)];
        for (text, want) in binary.into_iter().chain([("7B", 7), ("1kb", 1000), ("1MB", 1_000_000)]) {
            assert_eq!(bytes(text), Some(want), "{text}");
        }
        for bad in ["", "k", "1x", "1ib", "-1", "1.5k", "99999999999999999999", "20000p"] {
            assert_eq!(bytes(bad), None, "{bad}");
        }
    }

    #[test]
    fn values_are_checked() {
        assert_eq!(Kind::Extents.parse("64, 2"), Ok(Value::Extents(vec![64, 2])));
        let bad_extents = ["1,0", "1,2,3,4,5"].map(|bad| (Kind::Extents, bad));
        let bad_numbers = [(Kind::Seconds, "-1"), (Kind::Seconds, "nan"), (Kind::Share, "1.5"), (Kind::Count, "2.5")];
        let others = [(Kind::Real, "inf"), (Kind::Choice(&["a", "b"]), "c"), (Kind::Flag, "maybe")];
        for (kind, bad) in bad_extents.into_iter().chain(bad_numbers).chain(others) {
            assert!(kind.parse(bad).is_err(), "{bad}");
        }
    }
}
