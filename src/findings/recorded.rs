//! Data that a trace lacks, and how to record them: nothing that it has is asked for.

use super::book::{Book, Rule};
use super::facts::Facts;
use crate::classify::is_hdf5_name;

/// The tool that recorded a trace, as `rules.toml` calls it.
fn tool(f: &Facts) -> &'static str {
    match f.trace.format {
        format if format.starts_with("darshan") => "darshan",
        format if format.starts_with("strace") => "strace",
        _ => "other",
    }
}

/// True if the trace has these data, or nothing of which they could be recorded.
fn has(f: &Facts, data: &str) -> bool {
    let layer = |begin: &str| f.trace.layers.iter().any(|l| l.layer.starts_with(begin));
    match data {
        "posix" => f.posix.is_some(),
        "mpiio" => f.mpiio.is_some(),
        "stdio" => f.stdio.is_some(),
        "requests" => f.requests.is_some() || layer("dxt"),
        "all-requests" => f.requests.as_ref().is_none_or(|q| q.complete),
        "times" => f.trace.resolves_times(),
        "calls" => f.trace.lookups.is_some() || tool(f) == "strace",
        "lustre" => {
            let c = f.counters;
            c.is_none_or(|c| !c.layouts.is_empty() || !c.mounts.iter().any(|m| m.kind == "lustre"))
        }
        "hdf5" => !f.trace.files.iter().any(|(_, name)| is_hdf5_name(name)),
        _ => true,
    }
}

/// Options of strace that were not given.
fn flags(f: &Facts) -> String {
    let warned = |code: &str| f.trace.warnings.iter().any(|w| w.code == code);
    let missing = [("-T", "no-durations"), ("-y", "unknown-files")].into_iter().filter(|x| warned(x.1));
    missing.map(|x| x.0).collect::<Vec<_>>().join(" ")
}

/// How to record what a rule needs and the trace lacks; `None` if nothing is missing.
pub(super) fn missing(f: &Facts, book: &Book, rule: &Rule) -> Option<String> {
    let tool = tool(f);
    let how = |data: &String| {
        let of_tools = book.record.get(data).filter(|_| !has(f, data))?;
        let text = of_tools
            .get("any")
            .or(of_tools.get(tool))
            .or_else(|| of_tools.get("other").filter(|_| tool != "darshan"))?;
        let flags = flags(f);
        (!text.contains("{flags}") || !flags.is_empty()).then(|| text.replace("{flags}", &flags))
    };
    let all: Vec<String> = book.needs.get(&rule.needs)?.iter().filter_map(how).collect();
    (!all.is_empty()).then(|| all.join("; "))
}
