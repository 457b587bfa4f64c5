//! Directly-follows graphs: which I/O activity follows which, how often, and what each costs.
//!
//! After Sankaran, Zhukov, Frings and Bientinesi, "Inspection of I/O Operations from System Call Traces using
//! Directly-Follows-Graph" (2024), sections III to V. Calls become [`Event`](crate::record::Event)s of cases (one trace file,
//! process or rank: [`CaseId`]). A partial [`Mapping`] gives each an activity, by default the call and the top two levels of the
//! path; what it does not map is not in the graph. [`Collector`]s take the events of one part each, in one pass and in
//! parallel, and give [`Case`]s: counts of which activity directly follows which, and sums. A [`Graph`] is the sum of any set of
//! cases; a [`Comparison`] sets two against each other.
//!
//! Memory grows with the activities and cases, and by 2 to 5 bytes an event for the times that the maximum concurrency is made
//! from (`spans`).

mod case;
mod collector;
mod compare;
mod graph;
mod groups;
mod mapping;
mod report;
mod rows;
mod sequence;
mod spans;
mod stored;
mod tally;
mod template;
mod timeline;

pub use case::{By, Case, CaseId, Origin};
pub use collector::{Collector, Plan, Skipped};
pub use compare::{ActivityChange, Comparison, EdgeChange, EdgeRef, Exclusive, GroupTotals, Measures};
pub use graph::{END, Edge, Graph, Node, START};
pub use groups::{Glob, Group, Partition};
pub use mapping::{Alias, Mapping};
pub use report::{CaseReport, Color, DFG_SCHEMA, DfgReport, EdgeReport, NodeReport, report};
pub use rows::pass;
pub use stored::{LogSink, LogWriter, is_log, read_log};
pub use template::Template;
pub use timeline::{Bar, Timeline};
