//! Whether the trace itself can be trusted.

use std::collections::BTreeMap;

use crate::findings::book::Rule;
use crate::findings::facts::{Facts, ratio};
use crate::findings::outcome::Outcome;
use crate::record::FileId;
use crate::units;

pub(in crate::findings) fn unreduced(f: &Facts, r: &Rule) -> Option<Outcome> {
    let mut files: BTreeMap<FileId, u64> = BTreeMap::new();
    let own = f.posix.as_ref()?.rows().filter(|row| row.rank.is_some());
    own.for_each(|row| *files.entry(row.file).or_default() += 1);
    let n = files.values().filter(|n| **n > 1).count() as u64;
    let outcome = Outcome::new(n as f64 >= r.at("files"))
        .measured(&[("files", n as f64)])
        .detail(|| format!("{} with a record for each rank, not one for all", units::counted(n, "file")));
    Some(outcome)
}

pub(in crate::findings) fn job_clock(f: &Facts, r: &Rule) -> Option<Outcome> {
    let run_s = f.trace.job.as_ref()?.run_time_s?;
    // only where the clock begins with the job
    let starts_with_job = f.trace.clock.kind == crate::record::ClockKind::JobStart;
    let last = f.trace.data.extent(f.trace.origin_s).1.filter(|_| starts_with_job)?;
    let outcome = Outcome::new(last - run_s > r.at("time_s"))
        .measured(&[("last_s", last), ("run_s", run_s)])
        .detail(|| format!("the last access is at {} of {}", units::seconds(last), units::seconds(run_s)));
    Some(outcome)
}

pub(in crate::findings) fn unnamed(f: &Facts, r: &Rule) -> Option<Outcome> {
    let n = f.trace.data.len();
    // traces without any names, such as phases of a job, are not asked for them
    if n == 0 || f.trace.files.is_empty() {
        return None;
    }
    let some = (0..n).filter(|&i| f.trace.files.name(f.trace.row(i).file()).is_empty()).count();
    let outcome = Outcome::new(ratio(some as f64, n as f64) >= r.at("share"))
        .measured(&[("unnamed", some as f64), ("of", n as f64)])
        .detail(|| format!("{} of {} records", units::grouped(some), units::grouped(n)));
    Some(outcome)
}
