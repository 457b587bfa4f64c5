//! `iophase compare`: what changed between two runs.

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum, ValueHint};
use rayon::prelude::*;

use super::output::{self, Lines};
use super::remedy;
use super::shared::{LookArgs, ReadingArgs, Verbosity, refuse_unused};
use crate::answers;
use crate::compare::{self, Comparison, Match, Options, Outcome, Run};
use crate::dfg::Glob;
use crate::formats::Source;
use crate::render::{compare as text, figure, json, text::Style};
use crate::{Error, ErrorKind, Result};

/// Traces in memory at the same time.
const AT_ONCE: usize = 2;

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The run before and the run after: files or folders
    #[arg(value_name = "TRACE", num_args = 2, value_names = ["BEFORE", "AFTER"], value_hint = ValueHint::AnyPath, required_unless_present = "before")]
    pub traces: Vec<PathBuf>,
    /// One or more runs instead of BEFORE: files, folders, or patterns such as 'old-*.darshan'
    #[arg(long, value_name = "GLOB", num_args = 1.., requires = "after", conflicts_with = "traces", value_hint = ValueHint::AnyPath)]
    pub before: Vec<PathBuf>,
    /// One or more runs instead of AFTER
    #[arg(long, value_name = "GLOB", num_args = 1.., requires = "before", value_hint = ValueHint::AnyPath)]
    pub after: Vec<PathBuf>,
    /// How they are read
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// How the picture pairs the ranks of the two runs
    #[arg(long = "match", value_enum, default_value_t = MatchArg::Rank)]
    pub matching: MatchArg,
    /// TOML file. [compare]: thresholds of the comparison; [CODE], e.g. [IOP-POSIX-002]: thresholds of a finding; [system] and
    /// [[mount]]: the machine
    #[arg(long, visible_alias = "thresholds", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// Exit with code 1 if the verdict is slower ('slower'), or slower by more than a share of the I/O time of BEFORE (e.g. 'slower>10%')
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Option<Condition>,
    /// Number of threads, at most 1024 [default: one per core]
    #[arg(long, value_name = "N", value_parser = super::shared::threads())]
    pub threads: Option<usize>,
    /// Write the comparison as JSON; `-` is standard output
    #[arg(help_heading = "Output", long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Write a picture of the comparison into this folder
    #[arg(help_heading = "Output", long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub svg: Option<PathBuf>,
    /// Size of the figures
    #[command(flatten)]
    pub look: LookArgs,
    /// Messages
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// Values of `--match`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MatchArg {
    /// By rank number
    Rank,
    /// By the order of their bytes
    Size,
    /// By the order of their time in I/O
    Time,
}

/// A condition of `--fail-if`: slower by more than a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Condition {
    share: f64,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "slower, or slower>N%".to_owned();
        let rest = text.trim().strip_prefix("slower").ok_or_else(wrong)?.trim();
        if rest.is_empty() {
            return Ok(Condition { share: 0.0 });
        }
        let number = rest.strip_prefix('>').ok_or_else(wrong)?.trim();
        let percent = number.strip_suffix('%').ok_or_else(wrong)?.trim().parse::<f64>().ok();
        let share = percent.filter(|x| x.is_finite() && *x >= 0.0).ok_or_else(wrong)? / 100.0;
        Ok(Condition { share })
    }
}

impl Condition {
    fn holds(self, c: &Comparison) -> bool {
        let share = c.io_time.before_s.zip(c.io_time.change).map_or(0.0, |(before, change)| change / before);
        c.verdict == Outcome::Slower && share > self.share
    }
}

/// Compares the runs; gives the exit code.
///
/// # Errors
/// Of the options, of the first input that cannot be read, and of the outputs.
pub(super) fn run(a: &CompareArgs) -> Result<u8> {
    let options = options(a)?;
    let mut lines = a.json.as_deref().map(Lines::create).transpose()?;
    let sides = match &a.traces[..] {
        [before, after] => [vec![before.clone()], vec![after.clone()]],
        _ => [expanded(&a.before)?, expanded(&a.after)?],
    };
    a.reading.check_used(sides.iter().flatten())?;
    refuse_unused(&[("--match", a.matching != MatchArg::Rank && a.svg.is_none(), "ask for the picture with --svg")])?;
    let mut before = Vec::new();
    for paths in sides.concat().chunks(AT_ONCE) {
        before.extend(paths.par_iter().map(|p| facts(p, a, &options)).collect::<Result<Vec<Run>>>()?);
    }
    let after = before.split_off(sides[0].len());
    let mut c = compare::compare(&before, &after, &options)?;
    remedy::name_options(&mut c.warnings);
    if let Some(l) = &mut lines {
        l.write(&json::line(&c)?)?;
    }
    let to_stdout = lines.as_ref().is_some_and(Lines::is_stdout);
    lines.map_or(Ok(()), Lines::finish)?;
    if let Some(folder) = &a.svg {
        let name = |p: &PathBuf| p.file_name().unwrap_or(p.as_os_str()).to_string_lossy().into_owned();
        let names = [name(&sides[0][0]), name(&sides[1][0])];
        let file = format!("{}.{}.comparison.svg", names[0], names[1]);
        let paths = [0, 1].map(|i| sides[i][0].display().to_string());
        output::write_into(folder, &file, &figure::comparison(&c, &paths, &a.look.look()))?;
    }
    if to_stdout {
        if a.verbosity.quiet < 2 {
            output::warnings("compare", &c.warnings);
        }
    } else if a.verbosity.quiet == 0 {
        let color = output::wants_color(&io::stdout());
        output::print_text(&text::comparison(&c, Style { color, verbose: a.verbosity.verbose > 0, several: false }))?;
    }
    Ok(u8::from(a.fail_if.is_some_and(|f| f.holds(&c))))
}

/// Options of the comparison.
///
/// # Errors
/// Of the configuration.
pub fn options(a: &CompareArgs) -> Result<Options> {
    let matching = match a.matching {
        MatchArg::Rank => Match::Rank,
        MatchArg::Size => Match::Size,
        MatchArg::Time => Match::Time,
    };
    let options = Options::default().matching(matching);
    let Some(path) = &a.config else { return Ok(options) };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| Error::new(ErrorKind::Io, e.to_string()).in_file(&name))?;
    let options = options.config(Some(text));
    options.check().map_err(|e| e.in_file(&name))?;
    Ok(options)
}

/// The facts of a run; its trace is dropped.
fn facts(path: &Path, a: &CompareArgs, options: &Options) -> Result<Run> {
    let read = a.reading.options()?;
    answers::facts(&Source::open(path, &read.limits)?, a.reading.format()?, read, options)
}

/// Files of patterns: wildcards stand in the last part of a path.
pub(super) fn expanded(patterns: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for pattern in patterns {
        if pattern.exists() {
            all.push(pattern.clone());
            continue;
        }
        let name = pattern.file_name().unwrap_or_default().to_string_lossy();
        let glob: Glob = name.parse()?;
        let folder = pattern.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> =
            entries.filter(|e| glob.matches(&e.file_name().to_string_lossy())).map(|e| e.path()).collect();
        if found.is_empty() {
            return Err(Error::new(ErrorKind::Io, format!("no file matches {}", pattern.display()))
                .expected("a file, or a pattern such as 'runs/before-*.darshan'"));
        }
        found.sort();
        all.append(&mut found);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_slower_by_percent() {
        assert_eq!("slower>10%".parse(), Ok(Condition { share: 0.1 }));
        assert_eq!(" slower > 2.5 % ".parse(), Ok(Condition { share: 0.025 }));
        assert_eq!("slower".parse(), Ok(Condition { share: 0.0 }));
        for bad in ["faster", "slower10%", "slower>x%", "slower>10", "slower>-1%", ""] {
            assert!(bad.parse::<Condition>().is_err(), "{bad}");
        }
    }
}
