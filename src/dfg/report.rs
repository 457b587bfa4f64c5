//! The report for other programs: schema `iophase.dfg.v1`.

use schemars::JsonSchema;
use serde::Serialize;

use super::case::Case;
use super::collector::{Plan, Skipped};
use super::compare::Comparison;
use super::graph::Graph;
use super::groups::{Group, Partition};
use crate::error::{Error, ErrorKind, Result};
use crate::record::Warning;
use crate::remedy::Remedy;

/// Name of the schema of [`DfgReport`].
pub const DFG_SCHEMA: &str = "iophase.dfg.v1";

/// Which group a node or edge belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Color {
    /// Only in green cases.
    Green,
    /// Only in red cases.
    Red,
    /// In both or neither, or nothing is compared.
    None,
}

/// A case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct CaseReport {
    /// Name of the case: `cid_host_rid`, with `#pid` where cases are split by process.
    pub case: String,
    /// Identifier of the command.
    pub cid: String,
    /// Name of the machine.
    pub host: Option<String>,
    /// Launching process, or rank.
    pub rid: Option<String>,
    /// Process id.
    pub pid: Option<u32>,
    /// File that the case was read from.
    pub file: String,
    /// Number of events in the graph.
    pub events: u64,
    /// Group of the case, if two are compared.
    pub group: Option<Group>,
}

/// An activity. `<start>` and `<end>` are no activities and have no node.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct NodeReport {
    /// Name of the activity.
    pub activity: String,
    /// Number of events.
    pub events: u64,
    /// Bytes moved by transfers that succeeded.
    pub bytes: u64,
    /// Sum of the durations in seconds.
    pub duration_s: f64,
    /// Share of the durations of all activities; `null` if none has any.
    pub relative_duration: Option<f64>,
    /// Mean over single events of bytes by duration, bytes per second; `null` if no event has both.
    pub data_rate_bytes_per_s: Option<f64>,
    /// Number of events in that mean: transfers that succeeded, with a duration above zero.
    pub rate_events: u64,
    /// Number of events whose duration is not known.
    pub untimed_events: u64,
    /// Largest number of events at the same moment, over all cases.
    pub max_concurrency: u64,
    /// Group that has it.
    pub color: Color,
}

/// An edge.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct EdgeReport {
    /// An activity or `<start>`.
    pub from: String,
    /// An activity or `<end>`.
    pub to: String,
    /// How often `to` directly follows `from`.
    pub count: u64,
    /// Group that has it.
    pub color: Color,
}

/// A directly-follows graph.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct DfgReport {
    /// Name and version of the schema.
    pub schema: String,
    /// Template of the names of activities.
    pub map: String,
    /// The cases.
    pub cases: Vec<CaseReport>,
    /// Number of events in the graph.
    pub events: u64,
    /// Number of events left out: on system files, without a path, or outside of the selection.
    pub unmapped_events: u64,
    /// Number of interrupted calls that were made again; they are no events.
    pub interrupted_calls: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Sum of all durations in seconds.
    pub duration_s: f64,
    /// Activities, by name.
    pub nodes: Vec<NodeReport>,
    /// Edges, by the names of their ends.
    pub edges: Vec<EdgeReport>,
    /// The two groups side by side; `null` if nothing is compared.
    pub comparison: Option<Comparison>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// Makes the graph of all cases, and of two groups of them if they are to be compared.
///
/// # Errors
/// [`ErrorKind::Empty`] if no event has an activity; [`ErrorKind::Usage`] for groups that overlap or are empty.
pub fn report(
    cases: &[Case],
    skipped: Skipped,
    plan: &Plan,
    partition: &Partition,
    mut warnings: Vec<Warning>,
) -> Result<DfgReport> {
    if cases.iter().all(|c| c.events == 0) {
        let found = format!("none of {} calls has an activity", skipped.unmapped + skipped.interrupted);
        let e = Error::new(ErrorKind::Empty, found).remedy(Remedy::WidenEvents);
        return Err(e.in_file(cases.first().map_or("", |c| &c.origin.input)));
    }
    let groups = partition.groups(cases)?;
    let whole = Graph::of(cases);
    let part = |group| Graph::of(cases.iter().zip(&groups).filter(|(_, g)| **g == Some(group)).map(|(c, _)| c));
    let parts = (!partition.is_empty()).then(|| rayon::join(|| part(Group::Green), || part(Group::Red)));
    let color = |green: bool, red: bool| match (green, red) {
        (true, false) => Color::Green,
        (false, true) => Color::Red,
        _ => Color::None,
    };
    let nodes = whole.nodes.iter().map(|n| NodeReport {
        activity: n.activity.clone(),
        events: n.events,
        bytes: n.bytes,
        duration_s: n.duration_ns as f64 / 1e9,
        relative_duration: n.relative_duration,
        data_rate_bytes_per_s: n.data_rate,
        rate_events: n.rate_events,
        untimed_events: n.untimed_events,
        max_concurrency: n.max_concurrency,
        color: parts
            .as_ref()
            .map_or(Color::None, |(g, r)| color(g.node(&n.activity).is_some(), r.node(&n.activity).is_some())),
    });
    let edges = whole.edges.iter().map(|e| EdgeReport {
        from: e.from.clone(),
        to: e.to.clone(),
        count: e.count,
        color: parts
            .as_ref()
            .map_or(Color::None, |(g, r)| color(g.count(&e.from, &e.to) > 0, r.count(&e.from, &e.to) > 0)),
    });
    notes(cases, &whole, &mut warnings);
    Ok(DfgReport {
        schema: DFG_SCHEMA.into(),
        map: plan.mapping.template.to_string(),
        cases: cases.iter().zip(&groups).map(|(c, g)| case(c, *g)).collect(),
        events: whole.events(),
        unmapped_events: skipped.unmapped,
        interrupted_calls: skipped.interrupted,
        bytes: whole.bytes(),
        duration_s: whole.duration_s(),
        nodes: nodes.collect(),
        edges: edges.collect(),
        comparison: parts.as_ref().map(|(g, r)| Comparison::of(g, r)),
        warnings,
    })
}

fn case(c: &Case, group: Option<Group>) -> CaseReport {
    CaseReport {
        case: c.id.to_string(),
        cid: c.id.cid.clone(),
        host: c.id.host.clone(),
        rid: c.id.rid.clone(),
        pid: c.id.pid,
        file: c.origin.file.clone(),
        events: c.events,
        group,
    }
}

fn notes(cases: &[Case], whole: &Graph, warnings: &mut Vec<Warning>) {
    let mut hosts: Vec<&str> = cases.iter().filter(|c| c.events > 0).filter_map(|c| c.id.host.as_deref()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    if hosts.len() > 1 {
        warnings.push(Warning::new(
            "several-hosts",
            format!(
                "the maximum concurrency compares times of {} hosts, whose clocks need not agree; nothing else does",
                hosts.len()
            ),
        ));
    }
    let untimed: u64 = whole.nodes.iter().map(|n| n.untimed_events).sum();
    if untimed > 0 {
        warnings.push(
            Warning::new(
                "untimed-events",
                format!(
                    "{untimed} of {} events have no duration: they add none, and have no data rate",
                    whole.events()
                ),
            )
            .remedy("record with -T"),
        );
    }
    let empty = cases.iter().filter(|c| c.events == 0).count();
    if empty > 0 {
        warnings
            .push(Warning::new("empty-cases", format!("{empty} of {} cases have no event in the graph", cases.len())));
    }
}
