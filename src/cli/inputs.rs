//! The inputs of a command: opened, read and answered one after the other, many small ones side by side.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::shared::{Input, Verbosity};
use super::{exit_code, progress};
use iophase::Result;
use iophase::formats::{self, Format, ReadOptions, Source};
use iophase::record::Trace;

/// Files of at most this many bytes are read side by side; a larger one has all threads to itself.
const SMALL: u64 = 1 << 20;
/// Small files at once, for each thread: the answers wait until all of them are there.
const AT_ONCE: usize = 4;

/// Reads each input, hands the trace to `compute` and the result, in the order of the inputs, to `emit`. Reports the error of
/// an input that fails and continues with the others. Gives the worst exit code.
pub fn each_trace<T: Send>(
    input: &Input,
    verbosity: &Verbosity,
    options: &ReadOptions,
    compute: impl Fn(Trace) -> Result<T> + Sync,
    emit: impl FnMut(T) -> Result<()>,
) -> u8 {
    each(input, verbosity, options, |source, format, options| compute(formats::read(source, format, options)?), emit)
}

/// As [`each_trace`], of inputs that `compute` reads itself.
pub fn each<T: Send>(
    input: &Input,
    verbosity: &Verbosity,
    options: &ReadOptions,
    compute: impl Fn(&Source, Option<&'static dyn Format>, &ReadOptions) -> Result<T> + Sync,
    mut emit: impl FnMut(T) -> Result<()>,
) -> u8 {
    let format = match format_named(&input.format) {
        Ok(f) => f,
        Err(e) => return exit_code(Err(e)),
    };
    let open = |path: &PathBuf| Source::open(path, &options.limits);
    let at_once = AT_ONCE * rayon::current_num_threads();
    // answers on a terminal show the progress themselves
    let silent = verbosity.quiet == 0 && input.traces.len() > 1 && !std::io::stdout().is_terminal();
    let bar = silent.then(|| progress::files(input.traces.len() as u64)).flatten();
    let mut worst = 0;
    let mut rest = &input.traces[..];
    while let Some(first) = rest.first() {
        let small = rest.iter().take(at_once).take_while(|path| is_small(path)).count();
        if small > 1 {
            let answers: Vec<Result<T>> =
                rest[..small].par_iter().map(|path| compute(&open(path)?, format, options)).collect();
            for answer in answers {
                worst = worst.max(exit_code(answer.and_then(&mut emit).map(|()| 0)));
            }
        } else {
            let answer = open(first).and_then(|source| {
                with_progress(&source, verbosity, options, |options| compute(&source, format, options))
            });
            worst = worst.max(exit_code(answer.and_then(&mut emit).map(|()| 0)));
        }
        let done = small.max(1);
        rest = &rest[done..];
        if let Some((_, advance)) = &bar {
            advance(done as u64);
        }
    }
    if let Some((bar, _)) = bar {
        bar.finish_and_clear();
    }
    worst
}

/// Opens each input and hands it to `work`, one after the other. Reports the error of one that fails and continues with the
/// others. Gives the worst exit code.
pub fn each_source(input: &Input, mut work: impl FnMut(&Source, Option<&'static dyn Format>) -> Result<()>) -> u8 {
    let format = match format_named(&input.format) {
        Ok(f) => f,
        Err(e) => return exit_code(Err(e)),
    };
    let mut worst = 0;
    for path in &input.traces {
        let done = Source::open(path, &ReadOptions::default().limits).and_then(|source| work(&source, format));
        worst = worst.max(exit_code(done.map(|()| 0)));
    }
    worst
}

fn is_small(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file() && m.len() <= SMALL)
}

/// The format of `--format`; `None` for `auto`.
pub fn format_named(name: &str) -> Result<Option<&'static dyn Format>> {
    if name == "auto" { Ok(None) } else { formats::find(name).map(Some) }
}

/// Bytes of a source as it is stored.
pub fn stored(source: &Source) -> u64 {
    match source.members() {
        Some(files) => files.iter().filter_map(|f| f.metadata().ok()).map(|m| m.len()).sum(),
        None => source.stored_bytes(),
    }
}

/// Shows how far `work` has come in reading a source.
pub fn with_progress<T>(
    source: &Source,
    verbosity: &Verbosity,
    options: &ReadOptions,
    work: impl FnOnce(&ReadOptions) -> Result<T>,
) -> Result<T> {
    let bar = if verbosity.quiet == 0 { progress::reading(source.name(), stored(source)) } else { None };
    let options = ReadOptions { progress: bar.as_ref().map(|(_, p)| p.clone()), ..options.clone() };
    let done = work(&options);
    if let Some((bar, _)) = bar {
        bar.finish_and_clear();
    }
    done
}
