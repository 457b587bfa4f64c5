//! The files of a run as one trace: names behind hashes, numbers of processes, and rows on their way to a sink.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use super::rows::{HASH, Part};
use crate::error::{Error, Result};
use crate::record::{Batch, CallId, Calls, Data, FileId, Files, LayerSummary, RowSink};

/// Host, as it is written, and process id.
pub(super) type Process = (String, u64);

/// Facts from all files about processes, and about hashes that their own file does not explain.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) numbers: HashMap<Process, u32>,
    /// The numbers are MPI ranks.
    pub(super) ranked: bool,
    /// Names of hosts by the number of the process.
    pub(super) hosts: Vec<(u32, String)>,
    texts: HashMap<String, String>,
}

impl Known {
    /// Numbers the processes: by their rank, if the trace has the rank of each, else by host and process id.
    pub(super) fn of<'p>(parts: impl Iterator<Item = &'p Part> + Clone) -> Known {
        let all: HashSet<&Process> = parts.clone().flat_map(|p| &p.processes).collect();
        let host = |hash: &str| {
            let text = parts.clone().find_map(|p| p.host_texts.get(hash.as_bytes()));
            text.map_or_else(|| hash.to_owned(), |t| t.to_string())
        };
        let hosts: HashMap<&str, String> = all.iter().map(|(hash, _)| (&**hash, host(hash))).collect();
        let mut order: Vec<&Process> = all.into_iter().collect();
        order.sort_by_key(|&(hash, pid)| (&hosts[&**hash], *pid, hash));
        // of a process, with or without its host: what came first
        let mut stated: HashMap<(&str, u64), (usize, u32)> = HashMap::new();
        for (place, (host, pid, rank)) in parts.clone().flat_map(|p| &p.ranks).enumerate() {
            stated.entry((host, *pid)).or_insert((place, *rank));
        }
        let rank_of = |&(host, pid): &&Process| {
            let of = |host| stated.get(&(host, *pid));
            of("").into_iter().chain(of(host)).min().map(|(_, rank)| *rank)
        };
        let ranks: Option<Vec<u32>> = order.iter().map(rank_of).collect();
        let ranks = ranks.filter(|r| !r.is_empty() && r.iter().collect::<HashSet<_>>().len() == r.len());
        let ranked = ranks.is_some();
        let numbers = ranks.unwrap_or_else(|| (0..order.len() as u32).collect());
        Known {
            hosts: numbers.iter().zip(&order).map(|(n, (hash, _))| (*n, hosts[&**hash].clone())).collect(),
            numbers: order.into_iter().cloned().zip(numbers).collect(),
            ranked,
            texts: texts_of_others(parts),
        }
    }
}

/// Texts of the hashes that a file cites and another one explains, the first that does.
fn texts_of_others<'p>(parts: impl Iterator<Item = &'p Part> + Clone) -> HashMap<String, String> {
    let cited = parts.clone().flat_map(|p| p.files.iter().map(move |(_, name)| (p, name)));
    let unexplained: HashSet<&str> =
        cited.filter_map(|(p, name)| name.strip_prefix(HASH).filter(|h| p.text_of(h).is_none())).collect();
    let text = |hash: &&str| parts.clone().find_map(|p| p.text_of(hash)).map(|t| ((*hash).to_owned(), t.to_owned()));
    unexplained.iter().filter_map(text).collect()
}

/// A sink, and the names of all files of the run.
pub(super) struct Merged<'s> {
    sink: &'s dyn RowSink,
    origin_s: i64,
    most: usize,
    known: &'s Known,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    files: Files,
    calls: Calls,
    summary: Option<LayerSummary>,
    rows: usize,
    /// Processes that are not known.
    strangers: HashMap<Process, u32>,
}

/// Names and numbers of a file as they are in [`Merged`].
#[derive(Debug, Default)]
pub(super) struct Renamed {
    files: Vec<FileId>,
    calls: Vec<CallId>,
    pub(super) ranks: Vec<u32>,
    /// Hashes that were given as they are.
    unexplained: Vec<String>,
}

/// Names and totals of [`Merged`] after the last row.
pub(super) struct Names {
    pub(super) files: Files,
    pub(super) calls: Calls,
    pub(super) summary: Option<LayerSummary>,
}

impl<'s> Merged<'s> {
    /// For at most `most` rows, whose times count from `origin_s`.
    pub(super) fn new(sink: &'s dyn RowSink, known: &'s Known, origin_s: i64, most: usize) -> Self {
        Merged { sink, origin_s, most, known, state: Mutex::default() }
    }

    pub(super) fn into_names(self) -> Names {
        let State { files, calls, summary, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        Names { files, calls, summary }
    }

    /// Gives the rows of a part of a file to the sink.
    pub(super) fn give(&self, part: &mut Part, renamed: &mut Renamed) -> Result<()> {
        let mut rows = std::mem::take(&mut part.requests);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        self.rename(part, renamed, state);
        if rows.is_empty() {
            return Ok(());
        }
        state.rows += rows.len();
        if state.rows > self.most {
            return Err(Error::too_many_rows(self.most));
        }
        rows.renumber(&renamed.files, &renamed.calls);
        rows.rank.map_in_place(|p| renamed.ranks.get(p as usize).copied().unwrap_or(p));
        let data = Data::Requests(rows);
        LayerSummary::of("requests", &data, self.origin_s).add_to(&mut state.summary);
        if let Data::Requests(rows) = data {
            part.requests = rows;
        }
        let batch = Batch::of(Cow::default(), self.origin_s, (&state.files, &state.calls));
        part.requests.give(self.sink, batch)
    }

    /// Adds the names and processes that are new in a part.
    fn rename(&self, part: &Part, renamed: &mut Renamed, state: &mut State) {
        for (_, name) in part.files.iter().skip(renamed.files.len()) {
            let hash = name.strip_prefix(HASH);
            let text = hash.and_then(|h| part.text_of(h).or_else(|| self.known.texts.get(h).map(|t| &**t)));
            if let (Some(hash), None) = (hash, text) {
                renamed.unexplained.push(hash.to_owned());
            }
            renamed.files.push(state.files.intern(text.unwrap_or(name)));
        }
        let calls = renamed.calls.len()..part.calls.len();
        renamed.calls.extend(calls.map(|i| state.calls.intern(part.calls.name(CallId(i as u16)))));
        for process in part.processes.iter().skip(renamed.ranks.len()) {
            let next = (self.known.numbers.len() + state.strangers.len()) as u32;
            let known = self.known.numbers.get(process).copied();
            let number = known.unwrap_or_else(|| *state.strangers.entry(process.clone()).or_insert(next));
            renamed.ranks.push(number);
        }
    }

    /// True if the rows given would be the same if all that `full` knows had been known before.
    pub(super) fn agrees<'p>(&self, full: &Known, mut files: impl Iterator<Item = (&'p Part, &'p Renamed)>) -> bool {
        self.known.numbers == full.numbers
            && files.all(|(part, renamed)| {
                let explained = |h: &String| part.text_of(h).is_some() || full.texts.contains_key(h);
                !renamed.unexplained.iter().any(explained)
            })
    }
}
