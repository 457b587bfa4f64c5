//! Cases: the events of one trace file, process or rank.

use std::fmt;
use std::sync::Arc;

use super::sequence::EdgeCounts;
use super::stats::StatsOf;

/// The unit of an event log that makes one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// A trace file, or a rank of a format that has all ranks in one file (section IV).
    #[default]
    File,
    /// A process or thread.
    Pid,
}

/// Where a case came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The input as the user named it: a file, or the folder of the file.
    pub input: String,
    /// The file.
    pub file: String,
}

/// Names a case: command, host, launching process, and process where cases are split by it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaseId {
    /// Identifier of the command (`cid`).
    pub cid: String,
    /// The machine, if known.
    pub host: Option<String>,
    /// Identifier of the launching process or rank (`rid`), if known.
    pub rid: Option<String>,
    /// The process, where cases are split by process.
    pub pid: Option<u32>,
}

impl CaseId {
    /// From a file name of the form `cid_host_rid.st`; the host may itself have underscores. Any other name is the command.
    pub(crate) fn of_file(file_name: &str) -> CaseId {
        let stem = file_name.strip_suffix(".st").unwrap_or(file_name);
        if let Some((cid, rest)) = stem.split_once('_')
            && let Some((host, rid)) = rest.rsplit_once('_')
            && ![cid, host, rid].contains(&"")
        {
            return CaseId { cid: cid.into(), host: Some(host.into()), rid: Some(rid.into()), pid: None };
        }
        CaseId { cid: stem.to_owned(), ..CaseId::default() }
    }

    /// A rank of a trace that holds several.
    pub(crate) fn of_rank(file_name: &str, rank: u32) -> CaseId {
        CaseId { cid: file_name.to_owned(), rid: Some(rank.to_string()), ..CaseId::default() }
    }
}

/// `cid_host_rid`, and `#pid` where cases are split by process.
impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cid)?;
        for part in [&self.host, &self.rid].into_iter().flatten() {
            write!(f, "_{part}")?;
        }
        self.pid.map_or(Ok(()), |pid| write!(f, "#{pid}"))
    }
}

/// A case after its events have passed: everything that graphs are made from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Case {
    /// Its name.
    pub id: CaseId,
    /// Where it came from.
    pub origin: Origin,
    /// Events that became activities.
    pub events: u64,
    /// Names of the activities; the numbers in `edges` and `stats` are places here.
    pub(super) activities: Arc<[String]>,
    pub(super) stats: StatsOf,
    pub(super) edges: EdgeCounts,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let id = CaseId::of_file("a_node_1_9042.st");
        assert_eq!((&*id.cid, id.host.as_deref(), id.rid.as_deref()), ("a", Some("node_1"), Some("9042")));
        assert_eq!(id.to_string(), "a_node_1_9042");
        for other in ["trace.log", "a_b.st", "_x_1.st", "a__.st"] {
            assert_eq!(CaseId::of_file(other).host, None, "{other}");
        }
        assert_eq!(CaseId { pid: Some(7), ..id }.to_string(), "a_node_1_9042#7");
        assert_eq!(CaseId::of_rank("x.darshan", 3).to_string(), "x.darshan_3");
    }
}
