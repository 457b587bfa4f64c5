//! Where answers go: JSON to its file, warnings and text to the terminal, pictures to their files.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::exit_code;
use super::inputs::Inputs;
use super::output::{self, Lines};
use super::shared::Verbosity;
use crate::Result;
use crate::record::Warning;
use crate::render::{json, text};

/// Where the answers on several inputs go: JSON to its file, warnings and text to the terminal.
pub(super) struct Answers {
    lines: Option<Lines>,
    fields: Vec<String>,
    json_only: bool,
    quiet: u8,
    style: text::Style,
    first: bool,
}

impl Answers {
    pub fn new(json: Option<&Path>, verbosity: &Verbosity, inputs: &Inputs<'_>) -> Result<Self> {
        let lines = json.map(Lines::create).transpose()?;
        let json_only = lines.as_ref().is_some_and(Lines::is_stdout);
        let style = text::Style {
            color: output::wants_color(&io::stdout()),
            verbose: verbosity.verbose > 0,
            several: inputs.names().len() > 1,
        };
        Ok(Self { lines, fields: Vec::new(), json_only, quiet: verbosity.quiet, style, first: true })
    }

    /// Keeps only these fields of the JSON; all if there are none.
    pub fn only_fields(mut self, fields: &[String]) -> Self {
        self.fields = fields.to_vec();
        self
    }

    /// Without text: standard output holds something else. Warnings go to standard error.
    pub fn without_text(mut self, without: bool) -> Self {
        self.json_only |= without;
        self
    }

    /// Emits one answer. Its text has its warnings; where there is no text they go to standard error.
    pub fn emit(
        &mut self,
        path: &str,
        warnings: &[Warning],
        answer: &impl Serialize,
        text: impl FnOnce(text::Style) -> String,
    ) -> Result<()> {
        if let Some(l) = &mut self.lines {
            l.write(&json::line_of(answer, &self.fields)?)?;
        }
        if self.json_only {
            if self.quiet < 2 {
                output::warnings(path, warnings);
            }
        } else if self.quiet == 0 {
            let gap = if std::mem::take(&mut self.first) { "" } else { "\n" };
            output::print_text(&format!("{gap}{}", text(self.style)))?;
        }
        Ok(())
    }
}

impl Answers {
    /// Puts the JSON in its place; gives the exit code of that or, if it is worse, of the answers.
    pub fn finish(self, worst: u8) -> u8 {
        worst.max(exit_code(self.lines.map_or(Ok(()), Lines::finish).map(|()| 0)))
    }
}

/// File names for the pictures of several traces, without duplicates.
#[derive(Default)]
pub(super) struct PictureNames(HashSet<String>);

impl PictureNames {
    pub fn stem(&mut self, path: &str) -> String {
        let file = Path::new(path).file_name().map_or_else(|| "stdin".into(), |n| n.to_string_lossy());
        let base = if file == "-" { "stdin".into() } else { file };
        let mut stem = base.clone().into_owned();
        let mut n = 1;
        while !self.0.insert(stem.clone()) {
            n += 1;
            stem = format!("{base}.{n}");
        }
        stem
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_do_not_overwrite_each_other() {
        let mut n = PictureNames::default();
        assert_eq!([n.stem("a/x.json"), n.stem("b/x.json"), n.stem("-")], ["x.json", "x.json.2", "stdin"]);
    }
}
