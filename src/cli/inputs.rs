//! The inputs of a command: opened, read and answered one after the other, many small ones side by side.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::args::{Input, Talk};
use super::{code, progress};
use crate::error::Result;
use crate::formats::{self, Format, ReadOptions, Source};
use crate::record::Trace;

/// Files of at most this many bytes are read side by side; a larger one has all threads to itself.
const SMALL: u64 = 1 << 20;
/// Small files at once, for each thread: the answers wait until all of them are there.
const AT_ONCE: usize = 4;

/// Reads each input, hands the trace to `compute` and what that gives, in the order of the inputs, to `give`. One that fails
/// is told and does not stop the others. Gives the worst exit code.
pub fn each_trace<T: Send>(
    input: &Input,
    talk: &Talk,
    options: &ReadOptions,
    compute: impl Fn(Trace) -> Result<T> + Sync,
    give: impl FnMut(T) -> Result<()>,
) -> u8 {
    each(input, talk, options, |source, format, options| compute(formats::read(source, format, options)?), give)
}

/// As [`each_trace`], of inputs that `compute` reads itself.
pub fn each<T: Send>(
    input: &Input,
    talk: &Talk,
    options: &ReadOptions,
    compute: impl Fn(&Source, Option<&'static dyn Format>, &ReadOptions) -> Result<T> + Sync,
    mut give: impl FnMut(T) -> Result<()>,
) -> u8 {
    let format = match format_named(&input.format) {
        Ok(f) => f,
        Err(e) => return code(Err(e)),
    };
    let open = |path: &PathBuf| Source::open(path, &options.limits);
    let at_once = AT_ONCE * rayon::current_num_threads();
    // what is printed to a terminal says itself how far it has come
    let silent = talk.quiet == 0 && input.traces.len() > 1 && !std::io::stdout().is_terminal();
    let bar = silent.then(|| progress::files(input.traces.len() as u64)).flatten();
    let mut worst = 0;
    let mut rest = &input.traces[..];
    while let Some(first) = rest.first() {
        let small = rest.iter().take(at_once).take_while(|path| is_small(path)).count();
        if small > 1 {
            let answers: Vec<Result<T>> =
                rest[..small].par_iter().map(|path| compute(&open(path)?, format, options)).collect();
            for answer in answers {
                worst = worst.max(code(answer.and_then(&mut give)));
            }
        } else {
            let answer = open(first)
                .and_then(|source| with_progress(&source, talk, options, |options| compute(&source, format, options)));
            worst = worst.max(code(answer.and_then(&mut give)));
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

/// Opens each input and hands it to `work`, one after the other; one that fails is told and does not stop the others. Gives
/// the worst exit code.
pub fn each_source(input: &Input, mut work: impl FnMut(&Source, Option<&'static dyn Format>) -> Result<()>) -> u8 {
    let format = match format_named(&input.format) {
        Ok(f) => f,
        Err(e) => return code(Err(e)),
    };
    let mut worst = 0;
    for path in &input.traces {
        let done = Source::open(path, &ReadOptions::default().limits).and_then(|source| work(&source, format));
        worst = worst.max(code(done));
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

/// Shows how far `work` has come in reading a source.
pub fn with_progress<T>(
    source: &Source,
    talk: &Talk,
    options: &ReadOptions,
    work: impl FnOnce(&ReadOptions) -> Result<T>,
) -> Result<T> {
    let total = match source.members() {
        Some(files) => files.iter().filter_map(|f| f.metadata().ok()).map(|m| m.len()).sum(),
        None => source.stored_bytes(),
    };
    let bar = if talk.quiet == 0 { progress::reading(source.name(), total) } else { None };
    let options = ReadOptions { progress: bar.as_ref().map(|(_, p)| p.clone()), ..options.clone() };
    let done = work(&options);
    if let Some((bar, _)) = bar {
        bar.finish_and_clear();
    }
    done
}
