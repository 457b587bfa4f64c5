//! `iophase findings`: what is wrong, what it costs, and what to set.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::answers::Answers;
use super::inputs::Inputs;
use super::shared::{Input, Verbosity};
use super::{output, remedy};
use crate::findings::{self, Options, Severity};
use crate::record::Trace;
use crate::render::{findings as text, text::Style};
use crate::{Error, ErrorKind, Result};

/// Arguments of `findings`.
#[derive(Debug, Args)]
pub struct FindingsArgs {
    /// Traces
    #[command(flatten)]
    pub input: Input,
    /// Findings to look for
    #[command(flatten)]
    pub options: FindingOptions,
    /// Exit with code 1 if a finding is at least this severe
    #[arg(long, value_name = "LEVEL", value_parser = ["info", "warning", "critical"])]
    pub fail_on: Option<String>,
    /// Write JSON, one object per line; `-` is standard output
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Messages
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// Options of findings, of this command and of others that show them.
#[derive(Debug, Args)]
pub struct FindingOptions {
    /// TOML file: thresholds in [CODE], e.g. [IOP-POSIX-002]; the machine in [system] and [[mount]]
    #[arg(long, visible_alias = "thresholds", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
    /// Set a threshold, e.g. IOP-POSIX-002.share=0.2
    #[arg(long, value_name = "CODE.NAME=VALUE")]
    pub set: Vec<String>,
    /// Mean time between failures of the job, e.g. 24h, by which to judge the checkpoint interval
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub mtbf: Option<f64>,
    /// Look for these findings only, e.g. IOP-POSIX-002,IOP-RANK-001
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Do not look for these findings
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Stripe unit of files whose layout is not recorded; shorter requests count as small
    #[arg(long, value_name = "BYTES", default_value = "1MiB", value_parser = super::classify::bytes)]
    pub stripe: u64,
    /// Also show remedies for file systems and libraries that are not in the trace
    #[arg(long)]
    pub all_remedies: bool,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Code or name of a finding; leave it out to list all
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

impl FindingOptions {
    /// The options, checked.
    ///
    /// # Errors
    /// Of the configuration; [`ErrorKind::Usage`] for codes that do not exist.
    pub fn options(&self) -> Result<Options> {
        let path = self.config.as_ref();
        let name = || path.map(|p| p.display().to_string()).unwrap_or_default();
        let read = |p: &PathBuf| {
            std::fs::read_to_string(p).map_err(|e| Error::new(ErrorKind::Io, e.to_string()).in_file(name()))
        };
        let options = Options::default()
            .stripe(self.stripe)
            .config(path.map(read).transpose()?)
            .set(self.set.clone())
            .mtbf_s(self.mtbf)
            .only(self.only.clone())
            .ignore(self.ignore.clone())
            .all_remedies(self.all_remedies);
        options.check().map_err(|e| if path.is_some() { e.in_file(name()) } else { e })?;
        Ok(options)
    }
}

/// Seconds from a number with an optional unit: `90`, `90s`, `15m`, `24h`, `30d`.
fn duration(text: &str) -> std::result::Result<f64, String> {
    let unit = text.chars().last().unwrap_or_default();
    let (number, factor) = match unit {
        's' => (text.strip_suffix('s'), 1.0),
        'm' => (text.strip_suffix('m'), 60.0),
        'h' => (text.strip_suffix('h'), 3600.0),
        'd' => (text.strip_suffix('d'), 86_400.0),
        _ => (Some(text), 1.0),
    };
    let seconds = number.and_then(|n| n.parse::<f64>().ok()).map(|n| n * factor);
    seconds.filter(|s| *s > 0.0 && s.is_finite()).ok_or_else(|| "a time such as 24h".into())
}

/// Finds in every trace; gives the worst exit code.
///
/// # Errors
/// Of the options, and [`ErrorKind::Output`] if the output cannot be created.
pub(super) fn run(a: &FindingsArgs) -> Result<u8> {
    let options = a.options.options()?;
    let read = a.input.reading.options()?.counters(true);
    let inputs = Inputs::find(&a.input, &a.verbosity)?;
    let mut answers = Answers::new(a.json.as_deref(), &a.verbosity, &inputs)?;
    let compute = |trace: Trace| findings::find_all(&trace, &options);
    let mut failed = false;
    let worst = inputs.each_trace(&read, compute, |mut found| {
        remedy::name_options(&mut found.warnings);
        failed |= found.findings.iter().any(|f| a.fail_on.as_deref().is_some_and(|level| f.severity >= named(level)));
        answers.emit(&found.trace.path, &found.warnings, &found, |style| text::findings(&found, style))
    });
    Ok(answers.finish(worst.max(u8::from(failed))))
}

fn named(level: &str) -> Severity {
    match level {
        "critical" => Severity::Critical,
        "warning" => Severity::Warning,
        _ => Severity::Info,
    }
}

/// Explains a finding, or lists all.
///
/// # Errors
/// [`ErrorKind::Usage`] for a code that does not exist.
pub(super) fn explain(a: &ExplainArgs) -> Result<()> {
    let style = Style { color: output::wants_color(&std::io::stdout()), verbose: false, several: false };
    let Some(code) = &a.code else { return output::print_text(&text::list(&findings::all_rules()?)) };
    output::print_text(&text::explain(&findings::rule(code)?, style))
}
