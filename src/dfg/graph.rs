//! The graph: activities with their statistics, and how often one directly follows another.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::case::Case;
use super::sequence::BOUNDARY;
use super::spans::{Spans, max_concurrency};

/// The artificial first activity of every case.
pub const START: &str = "<start>";
/// The artificial last activity of every case.
pub const END: &str = "<end>";

/// An activity with its statistics (section IV-B).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// Its name.
    pub activity: String,
    /// Events.
    pub events: u64,
    /// Bytes moved (eq. 9).
    pub bytes: u64,
    /// Sum of the durations in nanoseconds (eq. 7).
    pub duration_ns: u64,
    /// Share of the durations of all activities (eq. 8); `None` if none has any.
    pub relative_duration: Option<f64>,
    /// Mean of bytes by duration over the events, bytes a second (eq. 13); `None` if no event has a rate.
    pub data_rate: Option<f64>,
    /// Events with a rate: transfers that succeeded, with a duration above zero.
    pub rate_events: u64,
    /// Events whose duration is not known.
    pub untimed_events: u64,
    /// Largest number of events at the same moment, over all cases (eq. 16); 0 if none has a duration.
    pub max_concurrency: u64,
}

/// `to` directly follows `from` in some case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// An activity or [`START`].
    pub from: String,
    /// An activity or [`END`].
    pub to: String,
    /// How often.
    pub count: u64,
}

/// A directly-follows graph. Of every node the counts of the edges that come in, and of those that go out, sum to its events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Graph {
    /// Cases with at least one event.
    pub cases: u64,
    /// Activities, by name.
    pub nodes: Vec<Node>,
    /// Edges, by the names of their ends.
    pub edges: Vec<Edge>,
}

impl Graph {
    /// The sum of cases.
    pub fn of<'c>(cases: impl IntoIterator<Item = &'c Case>) -> Graph {
        let mut nodes: BTreeMap<&str, (Node, f64, Vec<&Spans>)> = BTreeMap::new();
        let mut edges: HashMap<(&str, &str), u64, RandomState> = HashMap::default();
        let mut with_events = 0;
        for case in cases {
            with_events += u64::from(case.events > 0);
            for (&activity, t) in &case.stats {
                let (n, rates, spans) = nodes.entry(&*case.activities[activity as usize]).or_default();
                n.events += t.events;
                n.bytes = n.bytes.saturating_add(t.bytes);
                n.duration_ns = n.duration_ns.saturating_add(t.duration_ns);
                n.rate_events += t.rated;
                n.untimed_events += t.untimed;
                *rates += t.rates;
                spans.push(&t.spans);
            }
            let name = |a: u32, boundary| if a == BOUNDARY { boundary } else { &*case.activities[a as usize] };
            for (&(from, to), count) in &case.edges {
                *edges.entry((name(from, START), name(to, END))).or_default() += count;
            }
        }
        let total: f64 = nodes.values().map(|(n, ..)| n.duration_ns as f64).sum();
        let nodes: Vec<_> = nodes.into_iter().collect();
        let nodes = nodes
            .into_par_iter()
            .map(|(name, (mut n, rates, spans))| {
                n.activity = name.to_owned();
                n.relative_duration = (total > 0.0).then(|| n.duration_ns as f64 / total);
                n.data_rate = (n.rate_events > 0).then(|| rates / n.rate_events as f64);
                n.max_concurrency = max_concurrency(spans.into_iter());
                n
            })
            .collect();
        let mut edges: Vec<Edge> = edges
            .into_iter()
            .map(|((from, to), count)| Edge { from: from.to_owned(), to: to.to_owned(), count })
            .collect();
        edges.sort_unstable_by(|a, b| (&a.from, &a.to).cmp(&(&b.from, &b.to)));
        Graph { cases: with_events, nodes, edges }
    }

    /// The activity of this name.
    pub fn node(&self, activity: &str) -> Option<&Node> {
        self.nodes.binary_search_by(|n| (*n.activity).cmp(activity)).ok().map(|i| &self.nodes[i])
    }

    /// How often `to` directly follows `from`.
    pub fn count(&self, from: &str, to: &str) -> u64 {
        let i = self.edges.binary_search_by(|e| (&*e.from, &*e.to).cmp(&(from, to)));
        i.map_or(0, |i| self.edges[i].count)
    }

    /// Events of all activities.
    pub fn events(&self) -> u64 {
        self.nodes.iter().map(|n| n.events).sum()
    }

    /// Bytes moved by all activities.
    pub fn bytes(&self) -> u64 {
        self.nodes.iter().fold(0, |sum, n| sum.saturating_add(n.bytes))
    }

    /// Sum of all durations in seconds.
    pub fn duration_s(&self) -> f64 {
        self.nodes.iter().map(|n| n.duration_ns as f64).sum::<f64>() / 1e9
    }
}
