//! Two sets of cases against each other (section IV-C): what only one has, and where they differ most.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::graph::{Edge, Graph, Node};

/// The whole of a group.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct GroupTotals {
    /// Cases with events.
    pub cases: u64,
    /// Events.
    pub events: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Sum of all durations in seconds.
    pub duration_s: f64,
}

/// An edge of one group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct EdgeRef {
    /// An activity or `<start>`.
    pub from: String,
    /// An activity or `<end>`.
    pub to: String,
    /// How often `to` directly follows `from`.
    pub count: u64,
}

/// Activities and edges that only one group has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Exclusive {
    /// Activities, by name.
    pub activities: Vec<String>,
    /// Edges, the most frequent first.
    pub edges: Vec<EdgeRef>,
}

/// The statistics of an activity in one group.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Measures {
    /// Events.
    pub events: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Sum of the durations in seconds.
    pub duration_s: f64,
    /// Share of the durations of all activities of the group.
    pub relative_duration: Option<f64>,
    /// Mean data rate of single events, bytes a second.
    pub data_rate_bytes_per_s: Option<f64>,
    /// Largest number of events at the same moment.
    pub max_concurrency: u64,
}

/// An activity in both groups.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ActivityChange {
    /// Its name.
    pub activity: String,
    /// In the green cases; `null` if it is not there.
    pub green: Option<Measures>,
    /// In the red cases; `null` if it is not there.
    pub red: Option<Measures>,
    /// Seconds a case, green less red: what the order of the list goes by.
    pub duration_difference_s: f64,
}

/// An edge whose counts differ.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct EdgeChange {
    /// An activity or `<start>`.
    pub from: String,
    /// An activity or `<end>`.
    pub to: String,
    /// How often in the green cases.
    pub green: u64,
    /// How often in the red cases.
    pub red: u64,
    /// Count a case, green less red: what the order of the list goes by.
    pub difference: f64,
}

/// Two groups side by side.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Comparison {
    /// All green cases.
    pub green: GroupTotals,
    /// All red cases.
    pub red: GroupTotals,
    /// Activities and edges of green cases alone.
    pub only_green: Exclusive,
    /// Activities and edges of red cases alone.
    pub only_red: Exclusive,
    /// Activities of either, those whose duration a case differs most first.
    pub activities: Vec<ActivityChange>,
    /// Edges whose count a case differs, those that differ most first.
    pub edges: Vec<EdgeChange>,
}

impl Comparison {
    /// Of the graphs of two groups.
    pub(crate) fn of(green: &Graph, red: &Graph) -> Comparison {
        let per_case = |x: f64, g: &Graph| x / g.cases.max(1) as f64;
        let names: BTreeSet<&str> = green.nodes.iter().chain(&red.nodes).map(|n| &*n.activity).collect();
        let seconds = |n: Option<&Node>, g: &Graph| per_case(n.map_or(0.0, |n| n.duration_ns as f64 / 1e9), g);
        let mut activities: Vec<ActivityChange> = names
            .into_iter()
            .map(|name| {
                let (g, r) = (green.node(name), red.node(name));
                ActivityChange {
                    activity: name.to_owned(),
                    green: g.map(measures),
                    red: r.map(measures),
                    duration_difference_s: seconds(g, green) - seconds(r, red),
                }
            })
            .collect();
        activities.sort_by(|a, b| b.duration_difference_s.abs().total_cmp(&a.duration_difference_s.abs()));
        let pairs: BTreeSet<(&str, &str)> = green.edges.iter().chain(&red.edges).map(|e| (&*e.from, &*e.to)).collect();
        let mut edges: Vec<EdgeChange> = pairs
            .into_iter()
            .map(|(from, to)| {
                let (g, r) = (green.count(from, to), red.count(from, to));
                let difference = per_case(g as f64, green) - per_case(r as f64, red);
                EdgeChange { from: from.to_owned(), to: to.to_owned(), green: g, red: r, difference }
            })
            .filter(|e| e.difference != 0.0)
            .collect();
        edges.sort_by(|a, b| b.difference.abs().total_cmp(&a.difference.abs()));
        Comparison {
            green: totals(green),
            red: totals(red),
            only_green: exclusive(green, red),
            only_red: exclusive(red, green),
            activities,
            edges,
        }
    }
}

fn totals(g: &Graph) -> GroupTotals {
    GroupTotals { cases: g.cases, events: g.events(), bytes: g.bytes(), duration_s: g.duration_s() }
}

fn measures(n: &Node) -> Measures {
    Measures {
        events: n.events,
        bytes: n.bytes,
        duration_s: n.duration_ns as f64 / 1e9,
        relative_duration: n.relative_duration,
        data_rate_bytes_per_s: n.data_rate,
        max_concurrency: n.max_concurrency,
    }
}

fn exclusive(of: &Graph, other: &Graph) -> Exclusive {
    let activities =
        of.nodes.iter().filter(|n| other.node(&n.activity).is_none()).map(|n| n.activity.clone()).collect();
    let own = |e: &&Edge| other.count(&e.from, &e.to) == 0;
    let mut edges: Vec<EdgeRef> = of
        .edges
        .iter()
        .filter(own)
        .map(|e| EdgeRef { from: e.from.clone(), to: e.to.clone(), count: e.count })
        .collect();
    edges.sort_by_key(|e| std::cmp::Reverse(e.count));
    Exclusive { activities, edges }
}
