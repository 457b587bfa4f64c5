//! `iophase info`: the contents of a trace.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::answers::Answers;
use super::inputs::Inputs;
use super::remedy;
use super::shared::{Input, Verbosity};
use iophase::Result;
use iophase::analysis::Info;
use iophase::formats::Detail;
use iophase::internals::render::text;
use iophase::record::Trace;

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
/// [`ErrorKind::Output`](iophase::ErrorKind::Output) if the output cannot be created.
pub(super) fn run(a: &InfoArgs) -> Result<u8> {
    let read = a.input.reading.options()?.detail(Detail::Calls).all_layers(true).counters(true);
    let inputs = Inputs::find(&a.input, &a.verbosity)?;
    let mut answers = Answers::new(a.json.as_deref(), &a.verbosity, &inputs)?;
    let compute = |trace: Trace| Ok(Info::of(&trace));
    let worst = inputs.each_trace(&read, compute, |mut info| {
        remedy::name_options(&mut info.warnings);
        answers.emit(&info.path, &info.warnings, &info, |style| text::info(&info, style))
    });
    Ok(answers.finish(worst))
}
