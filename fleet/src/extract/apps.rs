//! Names and versions of applications, from command lines.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use crate::error::usage;
use iophase::Result;

/// A version in a path: `/NAME/1.2.3/`.
static VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"/[^/\s]+/v?(\d+(?:\.\d+)+)(?:/|$)").ok());

/// Bytes of a compiled rule.
const RULE_BYTES: usize = 1 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    app: Vec<Text>,
}

/// A rule: commands that match the pattern are this application. `$1` and the like stand for groups.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    pattern: String,
    name: String,
    version: Option<String>,
}

/// Rules that name applications.
#[derive(Debug, Default)]
pub struct Apps {
    rules: Vec<(Regex, Text)>,
}

impl Apps {
    /// Rules in TOML: `[[app]]` with `pattern`, `name` and, if wanted, `version`.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](iophase::ErrorKind::Usage) for what is no TOML, and for patterns that are none.
    pub fn new(text: &str) -> Result<Apps> {
        let file: File = toml::from_str(text)
            .map_err(|e| usage(format!("the rules for applications: {e}")).expected("[[app]] with pattern and name"))?;
        let one = |t: Text| {
            let pattern = regex::RegexBuilder::new(&t.pattern).size_limit(RULE_BYTES).build();
            Ok((pattern.map_err(|e| usage(format!("the pattern {}: {e}", t.pattern)))?, t))
        };
        Ok(Apps { rules: file.app.into_iter().map(one).collect::<Result<_>>()? })
    }

    /// Name and version of the application of a command line: of the first rule that matches, else the base name of the program, and
    /// the version that a folder of its path is called after.
    pub fn of(&self, command: &str) -> (Option<String>, Option<String>) {
        for (pattern, text) in &self.rules {
            if let Some(found) = pattern.captures(command) {
                let filled = |template: &String| {
                    let mut out = String::new();
                    found.expand(template, &mut out);
                    Some(out).filter(|s| !s.is_empty())
                };
                return (filled(&text.name), text.version.as_ref().and_then(filled));
            }
        }
        let program = command.split_whitespace().next().unwrap_or_default();
        let name = program.rsplit('/').find(|s| !s.is_empty()).map(str::to_owned);
        let version = VERSION.as_ref().and_then(|v| v.captures(program)).and_then(|c| c.get(1));
        (name, version.map(|m| m.as_str().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_come_before_the_name_of_the_program() {
        let some = |a: &str, b: Option<&str>| (Some(a.to_owned()), b.map(str::to_owned));
        let plain = Apps::default();
        assert_eq!(plain.of("/sw/climate/2.1/bin/climate --case 3"), some("climate", Some("2.1")));
        assert_eq!(plain.of("./a.out"), some("a.out", None));
        assert_eq!(plain.of(""), (None, None));
        let rules = "[[app]]\npattern = 'python3? .*/(\\w+)\\.py(?: --release (\\S+))?'\nname = '$1'\nversion = '$2'\n";
        let apps = Apps::new(rules).unwrap();
        assert_eq!(apps.of("python3 /home/u/train.py --release 7"), some("train", Some("7")));
        assert_eq!(apps.of("python3 /home/u/train.py"), some("train", None));
        assert_eq!(apps.of("/bin/ls"), some("ls", None));
        assert!(Apps::new("[[app]]\npattern = '('\nname = 'x'").is_err() && Apps::new("nonsense").is_err());
    }
}
