//! `iophase convert`: one format into another.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::inputs::with_progress;
use super::shared::{ModeArg, ReadingArgs, Verbosity, check_window};
use super::{output, remedy};
use crate::Result;
use crate::analysis::{Mode, NamePattern, RankSet, Selection};
use crate::formats::write::{WRITERS, Writer, Written};
use crate::formats::{self, Source};
use crate::record::{Rows, Trace};
use crate::render::units;
use crate::signal::Slice;

/// Arguments of `convert`.
#[derive(Debug, Args)]
#[command(after_help = FORMATS)]
pub struct ConvertArgs {
    /// File or folder, also compressed (gzip, bzip2, xz, zstd); `-` is standard input
    #[arg(value_name = "TRACE", value_hint = ValueHint::AnyPath)]
    pub trace: PathBuf,
    /// Output file, which appears only once it is complete; `-` is standard output
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub output: PathBuf,
    /// Format to write [default: by the ending of the output]
    #[arg(long, value_name = "NAME", value_parser = writer_names())]
    to: Option<String>,
    /// How it is read
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Transfers to keep; auto: writes and reads
    #[arg(short, long, value_enum, default_value_t = ModeArg::Auto)]
    mode: ModeArg,
    /// Keep only these ranks, e.g. 0-3,7
    #[arg(long, value_name = "LIST")]
    ranks: Option<RankSet>,
    /// Keep only files whose name matches
    #[arg(long, value_name = "REGEX")]
    files: Option<NamePattern>,
    /// Keep only transfers that start at or after this time
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    from: Option<f64>,
    /// Keep only transfers that start before this time
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    until: Option<f64>,
    /// Keep the order of the input instead of sorting records by their start
    #[arg(long)]
    input_order: bool,
    /// Number of threads, at most 1024 [default: one per core]
    #[arg(long, value_name = "N", value_parser = super::shared::threads())]
    pub threads: Option<usize>,
    /// Messages
    #[command(flatten)]
    pub verbosity: Verbosity,
}

const FORMATS: &str = "Formats and their endings: csv (.csv) and jsonl (.jsonl), a record a line; radar (.radar.txt); \
tmio (.tmio.jsonl) and msgpack (.msgpack), phases without rank, file and offset; strace (.st), a folder with one file per rank. Records \
are written in order of their start, for which the whole trace is held in memory; radar and strace keep the order of each rank, and \
--input-order keeps that of the input. Nothing is rounded; a warning lists fields that a format cannot store. Exit codes: 2 wrong usage, 3 the \
trace cannot be read, 4 nothing is left of it, 5 the output cannot be written.";

/// The names of the formats that can be written.
pub(super) fn writer_names() -> clap::builder::PossibleValuesParser {
    WRITERS.iter().map(|w| w.name()).collect::<Vec<_>>().into()
}

/// Runs the command.
///
/// # Errors
/// Of reading, selecting and writing.
pub(super) fn run(a: &ConvertArgs) -> Result<()> {
    check_window(a.from, a.until)?;
    let writer = writer(a)?;
    a.reading.check_used([&a.trace])?;
    let mut options = a.reading.options()?;
    options.series.every_device = a.files.is_some();
    let format = a.reading.format()?;
    let source = Source::open(&a.trace, &options.limits)?;
    let mut trace = with_progress(&source, &a.verbosity, &options, |options| formats::read(&source, format, options))?;
    if a.verbosity.quiet < 2 {
        remedy::name_options(&mut trace.warnings);
        output::warnings(&trace.path, &trace.warnings);
    }
    let written = write(a, &trace, writer)?;
    if a.verbosity.quiet == 0 {
        let all = units::counted(trace.data.len() as u64, "record");
        let ranks = units::counted(trace.ranks(), "rank");
        let count = units::grouped(written.rows);
        output::message(&format!("wrote {count} of {all} of {ranks} to {}", a.output.display()));
    }
    Ok(())
}

/// The writer that the arguments ask for.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if there is none.
pub fn writer(a: &ConvertArgs) -> Result<&'static dyn Writer> {
    output::writer(&a.output, a.to.as_deref())
}

/// Writes the rows of a trace that the arguments keep.
///
/// # Errors
/// Of the selection and of writing.
pub fn write(a: &ConvertArgs, trace: &Trace, writer: &dyn Writer) -> Result<Written> {
    check_window(a.from, a.until)?;
    let selection = Selection::default()
        .ranks(a.ranks.clone())
        .files(a.files.clone())
        .all_files(true)
        .from_s(a.from)
        .until_s(a.until);
    let excerpt = Slice::new(trace, Option::from(a.mode).unwrap_or(Mode::All), &selection);
    // these two group the records by rank
    let by_rank = ["radar", "strace"].contains(&writer.name());
    let excerpt = if a.input_order || by_rank { excerpt } else { excerpt.by_start() };
    output::rows(&excerpt, &a.output, writer, a.verbosity.quiet >= 2)
}
