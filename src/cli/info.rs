//! `iophase info`: the contents of a trace.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::answers::Answers;
use super::inputs::Inputs;
use super::remedy;
use super::shared::{Input, Verbosity};
use crate::Result;
use crate::analysis;
use crate::formats::{Detail, Format, ReadOptions, Source};
use crate::render::text;

/// Arguments of `info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Traces
    #[command(flatten)]
    pub input: Input,
    /// Write JSON, one object per line; `-` is standard output
    #[arg(help_heading = "Output", long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Messages
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// Summarises every trace; gives the worst exit code.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if the output cannot be created.
pub(super) fn run(a: &InfoArgs) -> Result<u8> {
    let read = a.input.reading.options()?.detail(Detail::Calls).all_layers(true).counters(true).order_suffices(true);
    let inputs = Inputs::find(&a.input, &a.verbosity)?.read_once(true);
    let mut answers = Answers::new(a.json.as_deref(), &a.verbosity, &inputs)?;
    let compute = |source: &Source, format: Option<&'static dyn Format>, read: &ReadOptions| {
        analysis::info_of(source, format, read)
    };
    let worst = inputs.each(&read, compute, |_, answer| {
        let Ok(mut info) = answer else { return Ok(()) };
        remedy::name_options(&mut info.warnings);
        answers.emit(&info.path, &info.warnings, &info, |style| text::info(&info, style))
    });
    Ok(answers.finish(worst))
}
