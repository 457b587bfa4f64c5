//! The machine on which the job ran, as far as the user describes it: no trace knows the rates of its file systems.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::facts::Counted;
use crate::record::{CounterModule, Data, Trace};

/// A machine; `null` what was not given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct System {
    /// Nodes of the job.
    pub nodes: Option<u64>,
    /// Cores of a node.
    pub cores_per_node: Option<u64>,
    /// Memory of a node in bytes.
    pub memory_per_node: Option<f64>,
    /// Mean time between failures of a node in hours.
    pub node_mtbf_h: Option<f64>,
    /// Storage that takes bursts and drains between them.
    pub burst_buffer: Option<BurstBuffer>,
    /// File systems.
    pub mounts: Vec<Mount>,
}

/// Storage that takes bursts and drains between them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BurstBuffer {
    /// Bytes per second that the job can write to it.
    pub rate: f64,
    /// Bytes that it holds.
    pub capacity: f64,
}

/// A file system; `null` what was not given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Mount {
    /// Path of the mount point.
    pub path: String,
    /// Type, such as `lustre`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Bytes of a stripe.
    pub stripe_unit: Option<u64>,
    /// Bytes per second of one storage target.
    pub ost_rate: Option<f64>,
    /// Large data belong here.
    pub scratch: bool,
}

impl System {
    /// The file system that a file is on: the longest path.
    pub(crate) fn mount(&self, file: &str) -> Option<&Mount> {
        self.mounts.iter().filter(|m| crate::record::is_below(file, &m.path)).max_by_key(|m| m.path.len())
    }

    /// The stripe unit of the file system with the most bytes of a trace; `None` if it is not given.
    pub(crate) fn stripe_unit(&self, trace: &Trace) -> Option<u64> {
        let given = |m: &Mount| m.stripe_unit.filter(|u| *u > 0);
        self.mounts.iter().find_map(given)?;
        let mut bytes: HashMap<Option<&str>, u64> = HashMap::new();
        let mut add = |name: &str, n: u64| {
            let sum = bytes.entry(self.mount(name).map(|m| m.path.as_str())).or_default();
            *sum = sum.saturating_add(n);
        };
        let table = trace.counters.as_deref().and_then(|c| Some((c, Counted::by(c, CounterModule::Posix)?)));
        if let Some((c, t)) = table {
            t.rows().for_each(|row| add(c.files.name(row.file), row.moved()));
        } else if let Data::Requests(requests) = &trace.data {
            let moved = requests.iter().filter(|r| r.op.moves_bytes());
            let of_file = moved.fold(HashMap::new(), |mut all: HashMap<_, u64>, r| {
                let sum = all.entry(r.file).or_default();
                *sum = sum.saturating_add(r.size);
                all
            });
            of_file.into_iter().for_each(|(file, n)| add(trace.files.name(file), n));
        }
        let most = bytes.into_iter().max_by_key(|(path, n)| (*n, *path))?.0?;
        given(self.mounts.iter().find(|m| m.path == most)?)
    }

    /// Where large data belong.
    pub(crate) fn scratch(&self) -> Option<&Mount> {
        self.mounts.iter().find(|m| m.scratch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Op, Request};

    #[test]
    fn the_stripe_unit_is_that_of_the_file_system_with_the_most_bytes() {
        let mount = |path: &str, stripe_unit| Mount { path: path.into(), stripe_unit, ..Mount::default() };
        let system = |mounts| System { mounts, ..System::default() };
        let mut t = Trace::default();
        let (a, b) = (t.files.intern("/scratch/a"), t.files.intern("/home/b"));
        let row = |file, size| Request { op: Op::Write, file, size, ..Request::default() };
        t.data = Data::Requests([row(a, 10), row(b, 30), row(a, 25)].into_iter().collect());
        let both = system(vec![mount("/scratch", Some(4 << 20)), mount("/home", Some(7))]);
        assert_eq!(both.stripe_unit(&t), Some(4 << 20));
        assert_eq!(
            system(vec![mount("/home", Some(7))]).stripe_unit(&t),
            None,
            "most bytes are on no mount that is given"
        );
        assert_eq!(system(vec![mount("/scratch", None)]).stripe_unit(&t), None);
    }
}
