//! Directly-follows graphs: which I/O activity follows which, how often, and what each costs.
//!
//! ```
//! use iophase::dfg::{Partition, Plan, report};
//! use iophase::{analysis, formats};
//!
//! let (source, plan) = (formats::open("data/stable.strace")?, Plan::default());
//! let log = analysis::event_log(&[source], None, &formats::ReadOptions::default(), &plan)?;
//! let graph = report(&log.cases, log.skipped, &plan, &Partition::default(), log.warnings)?;
//! assert!(graph.nodes.len() > 2 && graph.edges.len() + 1 >= graph.nodes.len());
//! # Ok::<(), iophase::Error>(())
//! ```
//!
//! After Sankaran, Zhukov, Frings and Bientinesi, "Inspection of I/O Operations from System Call Traces using
//! Directly-Follows-Graph" (2024), sections III to V. Calls become events of cases (one trace file,
//! process or rank: [`CaseId`]). A partial [`Mapping`] gives each an activity, by default the call and the top two levels of the
//! path; what it does not map is not in the graph. `Collectors` take the logs of calls, in one pass and in
//! parallel, and give [`Case`]s: counts of which activity directly follows which, and sums. A `Graph` is the sum of any set of
//! cases; a [`Comparison`] sets two against each other.
//!
//! Memory grows with the activities and cases, and by 2 to 5 bytes an event for the times that the maximum concurrency is made
//! from (`spans`).

mod case;
mod collector;
mod compare;
mod event_log_csv;
pub(crate) mod graph;
mod groups;
mod mapping;
mod ranks;
mod report;
mod sequence;
mod spans;
mod stats;
mod template;
mod timeline;

pub use case::{By, Case, Origin};
internal! { use case::CaseId; }
pub(crate) use collector::Collectors;
pub use collector::{Plan, Skipped};
pub use compare::{ActivityChange, Comparison, EdgeChange, EdgeRef, Exclusive, GroupTotals, Measures};
pub(crate) use event_log_csv::{LogWriter, is_log, read_log};
pub(crate) use graph::{END, START};
pub use groups::{Glob, Group, Partition};
pub use mapping::{Alias, Mapping};
pub(crate) use ranks::RankLogs;
pub use report::{CaseReport, Color, DfgReport, EdgeReport, NodeReport, report};
internal! { use report::DFG_SCHEMA; }
pub use template::Template;
internal! { use timeline::{Bar, Timeline}; }
