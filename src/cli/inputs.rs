//! The inputs of a command: opened, read and answered one after the other, many small ones side by side.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::shared::{Input, Verbosity};
use super::{exit_code, output, progress};
use crate::answers::stored;
use crate::formats::{self, FolderTrace, Format, Limits, ReadOptions, Source};
use crate::record::Trace;
use crate::render::units;
use crate::{Error, ErrorKind, Result};

/// Files of at most this many bytes are read side by side; a larger one has all threads to itself.
const SMALL: u64 = 1 << 20;
/// Small files at once, for each thread: the answers wait until all of them are there.
const AT_ONCE: usize = 4;

/// The inputs of a command: those that were named, and with `-r` the traces in folders.
pub struct Inputs<'a> {
    verbosity: &'a Verbosity,
    format: Option<&'static dyn Format>,
    items: Vec<Item>,
    /// Files of searched folders that are no trace.
    others: Vec<PathBuf>,
    /// Links in searched folders to files and folders that were reached before.
    repeated: usize,
    /// Worst exit code so far.
    worst: u8,
    /// Each input is read once, so that standard input need not be kept.
    once: bool,
}

enum Item {
    Named(PathBuf),
    Found(FolderTrace),
}

impl Item {
    fn path(&self) -> &Path {
        match self {
            Item::Named(path) => path,
            Item::Found(trace) => &trace.name,
        }
    }

    fn open(&self, named: bool, once: bool, limits: &Limits) -> Result<Source> {
        match self {
            Item::Named(path) if once => formats::open_once(path, named, limits),
            Item::Named(path) => formats::open_named(path, named, limits),
            Item::Found(trace) => trace.open(limits),
        }
    }

    fn is_small(&self) -> bool {
        match self {
            Item::Found(trace) if trace.files.len() > 1 => false,
            item => item.path().metadata().is_ok_and(|m| m.is_file() && m.len() <= SMALL),
        }
    }
}

impl<'a> Inputs<'a> {
    /// The inputs of the arguments. What cannot be read of a searched folder is reported.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if the format is not known.
    pub fn find(input: &Input, verbosity: &'a Verbosity) -> Result<Inputs<'a>> {
        let format = input.reading.format()?;
        let options = input.reading.options()?;
        if !input.recursive {
            input.reading.check_used(&input.traces)?;
        }
        let mut all =
            Inputs { verbosity, format, items: Vec::new(), others: Vec::new(), repeated: 0, worst: 0, once: false };
        for path in &input.traces {
            if input.recursive && path.is_dir() {
                let searched = all.search(path, &options);
                all.worst = all.worst.max(exit_code(searched.map(|()| 0)));
            } else {
                all.items.push(Item::Named(path.clone()));
            }
        }
        Ok(all)
    }

    fn search(&mut self, folder: &Path, options: &ReadOptions) -> Result<()> {
        let found = formats::search(folder, self.format, options)?;
        for e in found.unreadable {
            self.worst = self.worst.max(exit_code(Err(e)));
        }
        let (traces, others) = (found.traces.len(), found.others.len());
        self.items.extend(found.traces.into_iter().map(Item::Found));
        self.others.extend(found.others);
        self.repeated += found.repeated;
        if traces == 0 {
            let looked_at = format!("no trace in this folder and those in it ({others} files looked at)");
            return Err(Error::new(ErrorKind::Unsupported, looked_at)
                .remedy("check the path; if a recorder wrote them, name its --format")
                .in_file(folder.display().to_string()));
        }
        Ok(())
    }

    /// The format of `--format`; `None` for `auto`.
    pub fn format(&self) -> Option<&'static dyn Format> {
        self.format
    }

    /// The same, of which each is read once.
    pub fn read_once(self, once: bool) -> Inputs<'a> {
        Inputs { once, ..self }
    }

    /// Names of the inputs.
    pub fn names(&self) -> impl ExactSizeIterator<Item = String> + '_ {
        self.items.iter().map(|i| i.path().display().to_string())
    }

    /// Reads each input, hands the trace to `compute` and the result, in the order of the inputs, to `emit`. Reports the error
    /// of an input that fails and continues with the others. Gives the worst exit code.
    pub fn each_trace<T: Send>(
        self,
        options: &ReadOptions,
        compute: impl Fn(Trace) -> Result<T> + Sync,
        mut emit: impl FnMut(T) -> Result<()>,
    ) -> u8 {
        let compute = |source: &Source, format: Option<&'static dyn Format>, options: &ReadOptions| {
            compute(formats::read(source, format, options)?)
        };
        self.each(options, compute, |_, answer| answer.map_or(Ok(()), &mut emit))
    }

    /// As [`Inputs::each_trace`], of inputs that `compute` reads itself. `emit` is called for an input that fails, too, with its
    /// name and the error that has been reported.
    pub fn each<T: Send>(
        mut self,
        options: &ReadOptions,
        compute: impl Fn(&Source, Option<&'static dyn Format>, &ReadOptions) -> Result<T> + Sync,
        mut emit: impl FnMut(&str, Result<T, &Error>) -> Result<()>,
    ) -> u8 {
        let (verbosity, format, once) = (self.verbosity, self.format, self.once);
        let at_once = AT_ONCE * rayon::current_num_threads();
        // answers on a terminal show the progress themselves
        let silent = verbosity.quiet == 0 && self.items.len() > 1 && !std::io::stdout().is_terminal();
        let bar = silent.then(|| progress::files(self.items.len() as u64)).flatten();
        let items = std::mem::take(&mut self.items);
        let mut empty = Vec::new();
        let mut rest = &items[..];
        while let Some(first) = rest.first() {
            let small = rest.iter().take(at_once).take_while(|item| item.is_small()).count();
            let answers: Vec<Result<T>> = if small > 1 {
                let one = |item: &Item| compute(&item.open(format.is_some(), once, &options.limits)?, format, options);
                rest[..small].par_iter().map(one).collect()
            } else {
                vec![first.open(format.is_some(), once, &options.limits).and_then(|source| {
                    with_progress(&source, verbosity, options, |options| compute(&source, format, options))
                })]
            };
            for (item, answer) in rest.iter().zip(answers) {
                if let Err(e) = &answer {
                    match item {
                        Item::Found(t) if e.kind() == ErrorKind::Empty => empty.push(t.name.clone()),
                        _ => {
                            self.worst = self.worst.max(exit_code(Err(e.clone())));
                            self.explain(item, e, &options.limits);
                        }
                    }
                }
                let name = item.path().display().to_string();
                let emitted = match answer {
                    Ok(answer) => emit(&name, Ok(answer)),
                    Err(e) => emit(&name, Err(&e)),
                };
                self.worst = self.worst.max(exit_code(emitted.map(|()| 0)));
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
        self.report_skipped(&empty);
        self.worst
    }

    /// Opens each input and hands it to `work`, one after the other. Reports the error of one that fails and continues with the
    /// others. Gives the worst exit code.
    pub fn each_source(
        mut self,
        limits: &Limits,
        mut work: impl FnMut(&Source, Option<&'static dyn Format>) -> Result<()>,
    ) -> u8 {
        for item in &self.items {
            let done =
                item.open(self.format.is_some(), self.once, limits).and_then(|source| work(&source, self.format));
            self.worst = self.worst.max(exit_code(done.map(|()| 0)));
        }
        self.report_skipped(&[]);
        self.worst
    }

    /// With `-v`, says what each format expected of an input of no known format.
    fn explain(&self, item: &Item, e: &Error, limits: &Limits) {
        if self.verbosity.verbose == 0 || e.kind() != ErrorKind::Unsupported || self.format.is_some() {
            return;
        }
        let source = Some(item)
            .filter(|i| i.path().as_os_str() != "-")
            .and_then(|i| i.open(true, false, limits).ok())
            .filter(|s| s.members().is_none() && formats::probe(s).is_err());
        for (format, why) in source.iter().flat_map(formats::mismatches) {
            output::message(&format!("  {format}: {why}"));
        }
    }

    /// Reports what was found in folders and has no answer.
    fn report_skipped(&self, empty: &[PathBuf]) {
        let counted =
            |n: usize, noun: &str, why: &str| (n > 0).then(|| format!("{} {why}", units::counted(n as u64, noun)));
        let parts = [
            counted(self.others.len(), "file", "in no known format"),
            counted(empty.len(), "trace", "with nothing to analyse"),
            counted(self.repeated, "link", "to a file or folder already searched"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() || self.verbosity.quiet > 1 {
            return;
        }
        output::message(&format!("skipped: {}", parts.join(", ")));
        if self.verbosity.verbose > 0 {
            self.others.iter().chain(empty).for_each(|path| output::message(&format!("  {}", path.display())));
        }
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
    let options = options.clone().progress(bar.as_ref().map(|(_, p)| p.clone()));
    let done = work(&options);
    if let Some((bar, _)) = bar {
        bar.finish_and_clear();
    }
    done
}
