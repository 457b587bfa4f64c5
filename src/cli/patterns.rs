//! `iophase patterns`: access patterns, each with its period.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::answers::{Answers, PictureNames};
use super::inputs::Inputs;
use super::shared::{Input, LookArgs, SelectionArgs, Verbosity};
use super::{output, remedy};
use crate::Result;
use crate::analysis::{self, PatternOptions};
use crate::pattern::{Age, Options};
use crate::record::Trace;
use crate::render::{figure, text};

/// Arguments of `patterns`.
#[derive(Debug, Args)]
pub struct PatternsArgs {
    /// Traces
    #[command(flatten)]
    pub input: Input,
    /// Which transfers
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Search for interleaved patterns once N accesses of one size are unmatched (then at 2N, ...)
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub window: u32,
    /// How long an access may wait for a pattern: a number of accesses of the same rank, file and operation, or seconds such as 10s
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub max_age: Option<Age>,
    /// Print the next N accesses of each pattern
    #[arg(help_heading = "Output", long, value_name = "N", default_value_t = 0)]
    pub next: usize,
    /// Check that the patterns and the unmatched accesses reproduce every access
    #[arg(long)]
    pub verify: bool,
    /// Write JSON, one object per line; `-` is standard output
    #[arg(help_heading = "Output", long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Write a picture for each of up to eight files into this folder
    #[arg(help_heading = "Output", long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub svg: Option<PathBuf>,
    /// Size of the figures
    #[command(flatten)]
    pub look: LookArgs,
    /// Messages
    #[command(flatten)]
    pub verbosity: Verbosity,
}

fn age(text: &str) -> std::result::Result<Age, String> {
    let wrong = || "a whole number of accesses, or seconds such as 10s".to_owned();
    match text.strip_suffix('s') {
        Some(s) => {
            let seconds = s.parse().ok().filter(|x: &f64| *x > 0.0).ok_or_else(wrong)?;
            Ok(Age { records: u64::MAX, seconds })
        }
        None => {
            let records = text.parse().ok().filter(|n: &u64| *n > 0).ok_or_else(wrong)?;
            Ok(Age { records, seconds: f64::INFINITY })
        }
    }
}

impl PatternsArgs {
    /// Options of the detector.
    pub fn options(&self) -> PatternOptions {
        let mut detector = Options::default().window(self.window as usize);
        if let Some(age) = self.max_age {
            detector.max_age = age;
        }
        PatternOptions::default().detector(detector).next(self.next).verify(self.verify)
    }
}

/// Finds the patterns of every trace; gives the worst exit code.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if the output cannot be created.
pub(super) fn run(a: &PatternsArgs) -> Result<u8> {
    let inputs = Inputs::find(&a.input, &a.verbosity)?;
    let mut answers = Answers::new(a.json.as_deref(), &a.verbosity, &inputs)?;
    let (mode, selection, options) = (a.selection.mode(), a.selection.selection()?, a.options());
    let mut names = PictureNames::default();
    let compute = |trace: Trace| analysis::patterns(&trace, mode, &selection, &options);
    let worst = inputs.each_trace(&a.input.reading.options()?.order_suffices(true), compute, |mut report| {
        if let Some(folder) = &a.svg {
            let stem = names.stem(&report.trace.path);
            for (file, picture) in figure::offsets(&report, &a.look.look()) {
                output::write_into(folder, &format!("{stem}.patterns.{file}.svg"), &picture)?;
            }
        }
        remedy::name_options(&mut report.warnings);
        answers.emit(&report.trace.path, &report.warnings, &report, |style| text::patterns(&report, a.verify, style))
    });
    Ok(answers.finish(worst))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_accesses_or_seconds() {
        assert_eq!(age("500"), Ok(Age { records: 500, seconds: f64::INFINITY }));
        assert_eq!(age("2.5s"), Ok(Age { records: u64::MAX, seconds: 2.5 }));
        for bad in ["", "s", "0", "-1", "nans", "5m"] {
            assert!(age(bad).is_err(), "{bad}");
        }
    }
}
