//! The machine on which the job ran, as far as the user describes it: no trace knows the rates of its file systems.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Bytes per second of all targets.
    pub peak_rate: Option<f64>,
    /// Large data belong here.
    pub scratch: bool,
}

impl System {
    /// The file system that a file is on: the longest path.
    pub(crate) fn mount(&self, file: &str) -> Option<&Mount> {
        self.mounts.iter().filter(|m| crate::record::is_below(file, &m.path)).max_by_key(|m| m.path.len())
    }

    /// Where large data belong.
    pub(crate) fn scratch(&self) -> Option<&Mount> {
        self.mounts.iter().find(|m| m.scratch)
    }
}
