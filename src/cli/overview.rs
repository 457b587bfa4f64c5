//! `iophase TRACE`: the answer on one screen.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;

use super::answers::Answers;
use super::inputs::Inputs;
use super::remedy;
use super::shared::{Input, Verbosity};
use crate::analysis;
use crate::findings;
use crate::record::Trace;
use crate::render::overview;
use crate::{ErrorKind, Result};

/// Arguments of `overview`.
#[derive(Debug, Args)]
pub struct OverviewArgs {
    /// Traces
    #[command(flatten)]
    pub input: Input,
    /// Messages
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// Prints period, next burst, cost of I/O and the costliest findings of every trace; gives the worst exit code.
///
/// # Errors
/// [`ErrorKind::Usage`] if the format is not known.
pub(super) fn run(a: &OverviewArgs) -> Result<u8> {
    let options =
        analysis::Options::default().patterns(false).spectrum(false).memory_bytes(a.input.reading.max_memory());
    let read = a.input.reading.options()?.counters(true);
    let inputs = Inputs::find(&a.input, &a.verbosity)?;
    let mut answers = Answers::new(None, &a.verbosity, &inputs)?;
    let compute = |trace: Trace| {
        let report = match analysis::analyze(&trace, &options) {
            Ok(found) => Some(found.report),
            Err(e) if e.kind() == ErrorKind::Empty => None,
            Err(e) => return Err(e),
        };
        let resolved = report.as_ref().filter(|_| trace.resolves_times());
        let found = findings::find(&trace, resolved, &findings::Options::default())?;
        Ok((report, found))
    };
    let worst = inputs.each_trace(&read, compute, |(report, mut found)| {
        remedy::name_options(&mut found.warnings);
        answers.emit(&found.trace.path, &found.warnings, &found, |style| {
            overview::overview(report.as_ref(), &found, style)
        })
    });
    Ok(answers.finish(worst))
}

/// The arguments of the program, with `overview` in front of a trace that stands in the place of a command.
pub(super) fn with_command(definition: &clap::Command, arguments: &[OsString]) -> Vec<OsString> {
    let mut all = arguments.to_vec();
    let is_option = |a: &OsString| a.to_string_lossy().starts_with('-') && a != "-";
    let Some(at) = (1..all.len()).find(|&i| !is_option(&all[i])) else { return all };
    let named = definition.find_subcommand(&all[at]).is_some() || all[at] == "help";
    // a word that is neither a command nor there is a command misspelt
    if !named && (all[at] == "-" || Path::new(&all[at]).exists()) {
        all.insert(1, "overview".into());
    }
    all
}
