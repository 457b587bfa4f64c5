//! The paths of a command: those it reads and those it writes.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, ValueHint};

use super::compare;
use crate::Result;
use crate::draft::{self, Content, Output};

/// Options that name what is written. Every other argument that names a path is read.
const WRITTEN: [(&str, Content); 9] = [
    ("json", Content::Answer),
    ("csv", Content::Answer),
    ("svg", Content::Answer),
    ("dot", Content::Answer),
    ("html", Content::Answer),
    ("truth", Content::Answer),
    ("predictions", Content::Answer),
    ("state", Content::Answer),
    ("save_log", Content::Trace),
];

/// Commands whose `--output` is a trace.
const WRITE_TRACES: [&str; 3] = ["convert", "generate", "watch"];

/// The content of the file that an argument names; `None` for arguments that name no output.
fn content(command: &str, id: &str) -> Option<Content> {
    if id == "output" {
        return Some(if WRITE_TRACES.contains(&command) { Content::Trace } else { Content::Answer });
    }
    WRITTEN.iter().find(|(name, _)| *name == id).map(|(_, content)| *content)
}

fn names_a_path(arg: &Arg) -> bool {
    matches!(arg.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath)
}

/// Refuses outputs that would replace an input or a trace, before anything is done; true if there are outputs.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage).
pub(super) fn check(root: &Command, matches: &ArgMatches) -> Result<bool> {
    let (mut command, mut given) = (root, matches);
    let mut first = None;
    while let Some((name, below)) = given.subcommand() {
        let Some(found) = command.find_subcommand(name) else { break };
        (command, given) = (found, below);
        first.get_or_insert(name);
    }
    let (mut outputs, mut inputs) = (Vec::new(), Vec::new());
    for arg in command.get_arguments().filter(|a| names_a_path(a)) {
        let id = arg.get_id().as_str();
        let paths = given.get_raw(id).into_iter().flatten().map(PathBuf::from);
        match content(first.unwrap_or_default(), id) {
            Some(content) => {
                let option = arg.get_long().map(|long| format!("--{long}"));
                outputs.extend(paths.map(|path| Output { path, content, option: option.clone() }));
            }
            // training adds to a model, which may keep its name
            None if id == "model" && given.get_flag("train") => {}
            None => inputs
                .extend(paths.flat_map(|path| compare::expanded(std::slice::from_ref(&path)).unwrap_or(vec![path]))),
        }
    }
    draft::check(&outputs, &inputs)?;
    Ok(!outputs.is_empty())
}

/// Lets a signal that ends this process remove what it has not finished.
#[cfg(unix)]
pub(super) fn leave_nothing_at_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // what was started with `nohup` or in the background goes on
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| !is_ignored(*s));
    let Ok(mut signals) = signal_hook::iterator::Signals::new(heeded) else { return };
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            draft::abandon();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    // without it a signal leaves a hidden file
    let _ = std::thread::Builder::new().name("signals".into()).spawn(wait);
}

/// Without signals there is nothing to do.
#[cfg(not(unix))]
pub(super) fn leave_nothing_at_signals() {}

/// True if this process ignores a signal, as far as the system tells.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok()).is_some_and(|m| m >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::super::args::Cli;
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    /// Arguments that name what is read.
    const READ: [&str; 8] = ["traces", "trace", "source", "before", "after", "pattern_file", "config", "model"];

    fn paths_of(command: &Command, all: &mut BTreeSet<String>) {
        all.extend(command.get_arguments().filter(|a| names_a_path(a)).map(|a| a.get_id().to_string()));
        command.get_subcommands().for_each(|c| paths_of(c, all));
    }

    fn options_that_look_like_paths(command: &Command, all: &mut BTreeSet<String>) {
        let path = |a: &&Arg| {
            let names = a.get_value_names().unwrap_or_default();
            names.iter().any(|n| ["PATH", "FILE", "DIR", "MODEL", "TRACE", "SOURCE", "GLOB"].contains(&n.as_str()))
        };
        all.extend(command.get_arguments().filter(path).map(|a| a.get_id().to_string()));
        command.get_subcommands().for_each(|c| options_that_look_like_paths(c, all));
    }

    #[test]
    fn every_argument_that_names_a_path_is_known_as_read_or_written() {
        let (mut hinted, mut named) = (BTreeSet::new(), BTreeSet::new());
        paths_of(&Cli::command(), &mut hinted);
        options_that_look_like_paths(&Cli::command(), &mut named);
        let known = |id: &String| content("", id).is_some() || READ.contains(&id.as_str());
        assert_eq!(hinted.iter().filter(|id| !known(id)).collect::<Vec<_>>(), [""; 0]);
        let unhinted: Vec<_> = named.difference(&hinted).filter(|id| *id != "green" && *id != "red").collect();
        assert_eq!(unhinted, [""; 0], "paths without a ValueHint are not checked");
    }
}
