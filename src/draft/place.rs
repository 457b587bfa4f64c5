//! Files that an output may replace: never an input of the run, never a trace that this program did not write.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::path::{Path, PathBuf};

use super::mark;
use crate::dfg::is_log;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::{ALL, Format, Limits, Source, Visited, entries, foreign_content, probe};

/// The content of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// An answer, a picture, a state: it replaces anything but a trace.
    Answer,
    /// A trace: it also replaces a trace that this program wrote.
    Trace,
}

/// An output of a run.
#[derive(Debug, Clone)]
pub struct Output {
    /// Where it is to be.
    pub path: PathBuf,
    /// Its content.
    pub content: Content,
    /// The option that names it; none in a library.
    pub option: Option<String>,
}

/// Refuses a run of which an output is an input, holds a trace that it may not replace, or is another output. Inputs are known again by
/// any name, also those in folders. Devices and pipes replace nothing.
///
/// # Errors
/// [`ErrorKind::Usage`].
pub fn check(outputs: &[Output], inputs: &[PathBuf]) -> Result<()> {
    let there: Vec<&Output> = outputs.iter().filter(|o| o.path.as_os_str() != "-").collect();
    let mut read = Inputs::of(inputs);
    for (i, output) in there.iter().enumerate() {
        if let Some(other) = there[..i].iter().find(|o| is_same_file(&o.path, &output.path)) {
            let what = format!("{} names the file that {} writes", output.name(), other.name());
            return Err(output.refused(what, "name two files"));
        }
        let Ok(meta) = fs::metadata(&output.path) else { continue };
        if !(meta.is_file() || meta.is_dir() && output.content == Content::Trace) {
            continue;
        }
        if read.reaches(output, &meta) {
            return Err(
                output.refused(format!("{} would replace an input of this run", output.name()), output.remedy())
            );
        }
        output.check_trace()?;
    }
    Ok(())
}

/// Refuses an output in whose place, or in whose folder, is a trace that it may not replace.
///
/// # Errors
/// [`ErrorKind::Usage`].
pub(crate) fn check_place(path: &Path, content: Content) -> Result<()> {
    Output { path: path.to_owned(), content, option: None }.check_trace()
}

impl Output {
    fn name(&self) -> &str {
        self.option.as_deref().unwrap_or("the output")
    }

    fn refused(&self, what: String, remedy: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, what).in_file(self.path.display().to_string()).remedy(remedy.into())
    }

    /// The remedy: another name. An option takes the word after it, also the first of a list of traces.
    fn remedy(&self) -> String {
        match &self.option {
            Some(option) => format!("name another file: `{option} FILE`, or `{option} -` for standard output"),
            None => "name another file".into(),
        }
    }

    /// Refuses to replace a trace that has the place of the output, or is in its folder.
    fn check_trace(&self) -> Result<()> {
        let files = match fs::read_dir(&self.path) {
            Ok(entries) => entries.flatten().map(|e| e.path()).collect(),
            Err(_) => vec![self.path.clone()],
        };
        let Some((file, trace)) = files.iter().find_map(|f| Some((f, trace_at(f, self.content)?))) else {
            return Ok(());
        };
        let inside = if *file == self.path { String::new() } else { format!(" ({})", file.display()) };
        let what = format!("{} would replace {trace}{inside}", self.name());
        Err(match self.content {
            Content::Answer => self.refused(what, self.remedy()),
            Content::Trace => self.refused(
                format!("{what} that this program did not write, or that was changed since"),
                format!("{}, or remove it first", self.remedy()),
            ),
        })
    }
}

/// The trace in a file that an output of this content may not replace, as an error names it.
fn trace_at(path: &Path, content: Content) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    let source = Source::open(path, &Limits::default()).ok()?;
    let head = source.head();
    if is_answer(head) {
        return None;
    }
    let name = if is_log(head) { Some("a log of calls") } else { probe(&source).ok().map(|f| f.name()) };
    let name = name.or_else(|| claimed_by(path));
    // no other program writes these two
    let own = is_log(head) || name == Some("samples");
    if content == Content::Trace && (own || File::open(path).is_ok_and(|file| mark::is_set(&file))) {
        return None;
    }
    name.map(|name| format!("a trace ({name})")).or_else(|| foreign_content(head).map(str::to_owned))
}

/// The format that knows the file as part of a trace by the names in its folder.
fn claimed_by(path: &Path) -> Option<&'static str> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let files: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.flatten().take(Limits::default().folder_files).map(|e| e.path()).collect();
    let claims = |f: &&dyn Format| f.claims(&files).iter().any(|claimed| claimed.file_name() == path.file_name());
    ALL.iter().copied().find(claims).map(Format::name)
}

/// True for what this program writes and nobody reads as a trace.
pub(crate) fn is_answer(head: &[u8]) -> bool {
    // the last are tables of a fleet
    const BEGINNINGS: [&[u8]; 5] = [b"<svg", b"<!DOCTYPE html>", b"digraph ", b"name,job,application,", b"PAR1"];
    let words = ["{", "\"schema\"", ":", "\"iophase."];
    let after = words.iter().try_fold(head, |rest, word| rest.trim_ascii_start().strip_prefix(word.as_bytes()));
    after.is_some_and(|name| !name.starts_with(b"samples.")) || BEGINNINGS.iter().any(|b| head.starts_with(b))
}

/// The inputs of a run.
struct Inputs<'p> {
    named: Visited,
    paths: &'p [PathBuf],
    /// The files in those that are folders, once they are needed.
    inside: Option<Visited>,
}

impl<'p> Inputs<'p> {
    fn of(paths: &'p [PathBuf]) -> Inputs<'p> {
        let mut named = Visited::default();
        for path in paths {
            // a shell may have redirected it from a file
            let path = if path.as_os_str() == "-" { Path::new("/dev/stdin") } else { path };
            if let Ok(meta) = fs::metadata(path) {
                named.insert(path, &meta);
            }
        }
        Inputs { named, paths, inside: None }
    }

    /// True if the output would replace one of them.
    fn reaches(&mut self, output: &Output, meta: &Metadata) -> bool {
        let Output { path, .. } = output;
        if self.named.contains(path, meta) {
            return true;
        }
        if meta.is_dir() {
            let place = path.canonicalize();
            return place.is_ok_and(|folder| {
                self.paths.iter().any(|p| p.canonicalize().is_ok_and(|input| input.starts_with(&folder)))
            });
        }
        let inside = self.inside.get_or_insert_with(|| below(self.paths));
        // an answer that was written into the folder is none of its traces
        inside.contains(path, meta)
            && !Source::open(path, &Limits::default()).is_ok_and(|source| is_answer(source.head()))
    }
}

/// All files in those of these paths that are folders.
fn below(paths: &[PathBuf]) -> Visited {
    let (mut visited, limits) = (Visited::default(), Limits::default());
    let mut waiting: Vec<PathBuf> = paths.iter().filter(|p| p.is_dir()).cloned().collect();
    while let Some(folder) = waiting.pop() {
        if let Ok((_, folders)) = entries(&folder, &limits, &mut visited) {
            waiting.extend(folders);
        }
    }
    visited
}

/// True for two names of one file that is to be made or replaced.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let replaces = fs::metadata(path).map_or(true, |m| m.is_file());
        replaces.then(|| folder.canonicalize().ok()).flatten().zip(path.file_name().map(OsStr::to_owned))
    };
    place(a).is_some_and(|a| place(b) == Some(a))
}
