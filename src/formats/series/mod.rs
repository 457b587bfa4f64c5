//! Time series of monitoring tools: counters and rates of nodes and devices, a row or a block a step.
//!
//! Tables with a header line (CSV or blanks between the fields) of collectl, `sadf -d`, LDMS, dstat, dool, Grafana, InfluxDB and FTIO's trace
//! analysis are known by their header; of any other table the user names the columns ([`SeriesOptions`]). Other forms: text in blocks of
//! iostat, sar, pidstat, vmstat and nmon; JSON of sadf, iostat and Prometheus; snapshots of Lustre's `stats` and `job_stats`.
//!
//! A value becomes the bytes of the step it belongs to ([`rates`](super::rates)). The nodes are the ranks of the trace and the devices, jobs or
//! instances its files, so that they are added up or chosen as those are. What decides here are facts of the tools, in `presets.rs`, and the
//! rows `gap_steps` and `midnight_step_s` of the table of thresholds.

mod blocks;
mod growth;
mod header;
mod instances;
mod json;
mod layout;
mod lustre;
mod nmon;
mod options;
mod presets;
mod readings;
mod sheet;
mod snapshots;
mod stacked;
mod stamp;
mod table;
mod tail;

pub(super) use header::unknown_table;
pub use layout::direction;
pub use options::{SeriesColumns, SeriesOptions};
pub use readings::Readings;
pub use stamp::per_second;

use super::format::{Format, Sniff, only};
use super::lines::Followed;
use super::options::ReadOptions;
use super::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{RowSink, Trace};

/// The format.
pub struct Series;

/// Which of the forms an input has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Table,
    Blocks,
    Nmon,
    LustreStats,
    LustreJobStats,
    Sysstat(&'static str),
    Prometheus,
}

impl Form {
    /// Its name in messages.
    fn name(self) -> &'static str {
        match self {
            Form::Table => "a table",
            Form::Blocks => "blocks of a table",
            Form::Nmon => "nmon",
            Form::LustreStats => "Lustre's stats",
            Form::LustreJobStats => "Lustre's job_stats",
            Form::Sysstat(_) => "sysstat",
            Form::Prometheus => "Prometheus",
        }
    }
}

/// Lines before the header of a known tool.
const BEFORE_HEADER: usize = 8;

/// The form of a known tool.
fn form(head: &[u8]) -> Option<Form> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    if text.trim_ascii_start().starts_with(b"{") {
        return match text {
            t if json::is_sysstat(t) => Some(Form::Sysstat(if json::is_iostat(t) { "iostat" } else { "sadf" })),
            t if json::is_prometheus(t) => Some(Form::Prometheus),
            _ => None,
        };
    }
    match text {
        t if blocks::is_blocks(t) => Some(Form::Blocks),
        t if nmon::is_nmon(t) => Some(Form::Nmon),
        t if lustre::is_stats(t) => Some(Form::LustreStats),
        t if lustre::is_job_stats(t) => Some(Form::LustreJobStats),
        t if presets::of_lines(t, BEFORE_HEADER).is_some() => Some(Form::Table),
        _ => None,
    }
}

impl Format for Series {
    fn name(&self) -> &'static str {
        "series"
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        match form(head) {
            Some(_) => Sniff::Yes,
            None => Sniff::No(
                "no header of a known monitoring tool (sysstat, collectl, dstat, nmon, pmrep, LDMS, Lustre, Prometheus, Grafana)",
            ),
        }
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let source = only(sources, self)?;
        let form = form(source.head()).unwrap_or(Form::Table);
        if form != Form::Table && options.series.columns.is_some() {
            return Err(Error::new(ErrorKind::Usage, format!("columns are named, but the input has none ({form:?})"))
                .expected("a table"));
        }
        let sheet = match form {
            Form::Table => table::read(source, options)?,
            Form::Blocks => snapshots::read(source, options, blocks::Blocks::new("", options))?,
            Form::Nmon => snapshots::read(source, options, nmon::Snapshots::new(options))?,
            Form::LustreStats => snapshots::read(source, options, lustre::Stats::new())?,
            Form::LustreJobStats => snapshots::read(source, options, lustre::Readings::new(options))?,
            Form::Sysstat(tool) => json::sysstat(source, options, tool)?,
            Form::Prometheus => json::prometheus(source, options)?,
        };
        sheet.give(options, self.name(), sink)
    }

    fn follow(&self, head: &[u8], options: &ReadOptions) -> Result<Followed> {
        tail::follow(head, options)
    }
}
