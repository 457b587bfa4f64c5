//! `iophase classify`: access classes and what to set because of them.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};

use super::answers::{Answers, PictureNames};
use super::inputs::{Inputs, with_progress};
use super::output;
use super::remedy;
use super::shared::{Input, LookArgs, SelectionArgs, Verbosity, choices};
use crate::analysis::Mode;
use crate::analysis::{self, ModeChoice};
use crate::classify::{Choice, Model, Options};
use crate::formats::{Format, ReadOptions, Source};
use crate::render::{self, figure, units};
use crate::{Error, ErrorKind, Result};

/// Arguments of `classify`.
#[derive(Debug, Args)]
pub struct ClassifyArgs {
    /// Traces
    #[command(flatten)]
    pub input: Input,
    /// Which transfers
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Number of accesses to look ahead after one that breaks the pattern
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(2..=1000))]
    pub window: u16,
    /// Stripe unit of files whose layout is not recorded, e.g. 4MiB; shorter requests count as small
    #[arg(long, value_name = "BYTES", default_value = "1MiB", value_parser = bytes)]
    pub stripe: u64,
    /// Basis of the classes: rules, network or markov
    #[arg(long, value_enum, default_value_t = ClassifierArg::Auto)]
    pub classifier: ClassifierArg,
    /// Model from --train on earlier runs; predicts the classes of a file before it is accessed
    #[arg(long, value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub model: Option<PathBuf>,
    /// Train a model on the traces instead of classifying them; with --model, extend that one
    #[arg(long, requires = "output")]
    pub train: bool,
    /// Write the model to this file; `-` is standard output
    #[arg(help_heading = "Output", short, long, value_name = "MODEL", value_hint = ValueHint::FilePath, requires = "train")]
    pub output: Option<PathBuf>,
    /// Write a picture for each of up to eight files into this folder
    #[arg(help_heading = "Output", long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub svg: Option<PathBuf>,
    /// Size of the figures
    #[command(flatten)]
    pub look: LookArgs,
    /// Write the classes as JSON, one object per line; `-` is standard output
    #[arg(help_heading = "Output", long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Messages
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// A size such as 4096, 64k, 1MiB or 4 MB.
pub(super) fn bytes(text: &str) -> std::result::Result<u64, String> {
    let wrong = || "a size in bytes such as 4096, 64KiB or 1MiB".to_owned();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    let value = number.parse::<u64>().map_err(|_| wrong())?.checked_mul(factor).ok_or_else(wrong)?;
    if value == 0 { Err(wrong()) } else { Ok(value) }
}

choices!(
    /// Values of `--classifier`.
    ClassifierArg => Choice {
        /// Rules; where they find no order, the model of --model, else the network
        Auto = "auto" => Choice::Auto,
        /// Rules only
        Rules = "rules" => Choice::Rules,
        /// Network only
        Network = "network" => Choice::Network,
        /// Model of --model only
        Markov = "markov" => Choice::Markov,
    }
);

/// Classifies every trace, or learns from it; gives the worst exit code.
///
/// # Errors
/// Of the model and of creating the output.
pub fn run(a: &ClassifyArgs) -> Result<u8> {
    let model = a.model.as_deref().map(read_model).transpose()?;
    if a.train { train(a, model.unwrap_or_default()) } else { classes(a, model.as_ref()) }
}

/// Options of the classification.
pub fn options<'m>(a: &ClassifyArgs, model: Option<&'m Model>) -> Options<'m> {
    let mode = match a.selection.mode() {
        ModeChoice::Auto => Mode::All,
        ModeChoice::One(m) => m,
    };
    Options::default().mode(mode).window(a.window.into()).stripe(a.stripe).choice(a.classifier.into()).model(model)
}

/// The error of a file that is no model names the command that makes one.
fn trained(e: Error) -> Error {
    if e.kind() == ErrorKind::Malformed { e.expected("a model from `classify --train`") } else { e }
}

/// Reads a stored model.
///
/// # Errors
/// [`ErrorKind::Io`], [`ErrorKind::Malformed`].
pub fn read_model(path: &Path) -> Result<Model> {
    let name = path.display().to_string();
    let failed = |e: io::Error| Error::new(ErrorKind::Io, e.to_string()).in_file(&name);
    let mut text = Vec::new();
    let most = Model::MOST_BYTES as u64 + 1;
    std::fs::File::open(path).and_then(|f| f.take(most).read_to_end(&mut text)).map_err(failed)?;
    Model::from_json(&text).map_err(|e| trained(e).in_file(&name))
}

fn train(a: &ClassifyArgs, mut model: Model) -> Result<u8> {
    let read = a.input.reading.options()?.order_suffices(true);
    let selection = a.selection.selection()?;
    let mut learned = 0;
    let worst = Inputs::find(&a.input, &a.verbosity)?.each_source(&read.limits, |source, format| {
        learned += with_progress(source, &a.verbosity, &read, |read| {
            analysis::train_on(source, format, read, &selection, options(a, None), &mut model)
        })?;
        Ok(())
    });
    let Some(path) = a.output.as_deref().filter(|_| learned > 0) else { return Ok(worst) };
    output::whole(path, &format!("{}\n", model.to_json()?))?;
    if a.verbosity.quiet == 0 && path.as_os_str() != "-" {
        let files = units::counted(model.files() as u64, "file");
        output::print_text(&format!("{}: {files}\n", path.display()))?;
    }
    Ok(worst)
}

fn classes(a: &ClassifyArgs, model: Option<&Model>) -> Result<u8> {
    let read = a.input.reading.options()?.order_suffices(true);
    let selection = a.selection.selection()?;
    let options = options(a, model);
    let inputs = Inputs::find(&a.input, &a.verbosity)?;
    let mut answers = Answers::new(a.json.as_deref(), &a.verbosity, &inputs)?;
    let mut names = PictureNames::default();
    let compute = |source: &Source, format: Option<&'static dyn Format>, read: &ReadOptions| {
        analysis::classes_of(source, format, read, &selection, options, a.svg.is_some())
    };
    let worst = inputs.each(&read, compute, |_, answer| {
        let Ok((mut found, sketches)) = answer else { return Ok(()) };
        if let Some(folder) = &a.svg {
            let stem = names.stem(&found.path);
            for (file, picture) in figure::classes(&found, &sketches, &a.look.look()) {
                output::write_into(folder, &format!("{stem}.classes.{file}.svg"), &picture)?;
            }
        }
        remedy::name_options(&mut found.warnings);
        answers.emit(&found.path, &found.warnings, &found, |style| render::classes::classes(&found, style))
    });
    Ok(answers.finish(worst))
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes() {
        assert_eq!(["4096", "64k", "1MiB", "2 gb"].map(|t| bytes(t).unwrap()), [4096, 65536, 1 << 20, 2_000_000_000]);
        for bad in ["", "x", "0", "1.5M", "-3", "99999999999G"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
