//! Darshan logs of format 3.00 to 3.41 (releases 3.0.0 to 3.5.0): DXT segments, heatmaps, counters.
//!
//! A log can hold the same I/O several times: once for each layer, and as segments (exact), heatmap (bins of 0.1 s or more) and
//! counters (totals of a file). One layer and one kind is taken; layers are never added up.
//!
//! * Kind: segments if there are any, else the heatmap, else counters.
//! * Layer, unless [`ReadOptions::layer`] names one: POSIX, under which MPI-IO normally lies, so it misses nothing. MPI-IO if more
//!   bytes went through it on files that POSIX did not touch than through POSIX, as with drivers that bypass POSIX.
//!   Of heatmaps and counters, STDIO if it moved more: Darshan sees no POSIX calls under it. Segments of STDIO do not
//!   exist; where they would be most of the bytes, a warning says so.
//!
//! [`Log`] gives access to everything else in a log.

mod columns;
pub(crate) mod counter_names;
mod counters;
mod dxt;
mod header;
mod heatmap;
mod job;
mod layer_summary;
mod log;
mod names;
mod others;
mod region;
mod rows;
mod selection;
mod tally;
mod text;
mod warnings;

pub use super::bytes::ByteOrder;
pub use counters::{CounterRecord, CounterTable, MISSING, Schema, Walked};
pub use dxt::{DxtHeader, DxtRecord, Segment, segment_bytes};
pub use header::{Header, Module, RegionCompression, Slot};
pub use heatmap::HeatmapRecord;
pub use job::JobRecord;
pub use log::Log;
pub use names::Names;

use rayon::prelude::*;

use self::layer_summary::Overview;
use self::log::dxt_module;
use self::rows::{Placement, SelectedRows, take};
use self::selection::{LayerData, select};
use super::format::{Format, Sniff};
use super::limits::Limits;
use super::options::{Detail, ReadOptions};
use super::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{self, Files, Job, Layer, LayerSummary, MOST_TIME_S, Restart, RowSink, Timing, Trace, Warning};

/// The format.
pub struct Darshan;

/// Bytes of a log from which two cores are worth it.
const PARALLEL_BYTES: usize = 256 << 10;

impl Format for Darshan {
    fn name(&self) -> &'static str {
        "darshan"
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        let is_log = header::has_magic(head) || text::is_text(head);
        if is_log { Sniff::Yes } else { Sniff::No("no magic number at byte 8, and no text of darshan-parser") }
    }

    /// Logs of one process each belong together if they have the same job id; so do the memory-mapped logs that are left of a job
    /// that was killed, one of each process.
    fn job_of(&self, source: &Source) -> Option<String> {
        let job = log::job_of_start(source.head(), &Limits::default()).ok()?;
        if job.processes <= 1 {
            return Some(job.id.to_string());
        }
        // the name ends in a number that all of them share, and the rank
        let name = source.file_name();
        let shared = name.split_once("_mmap-log-").and_then(|(_, numbers)| numbers.split_once('-')).map_or("", |n| n.0);
        job.never_ended().then(|| format!("{} of {} processes {shared}", job.id, job.processes))
    }

    fn outline(&self, head: &[u8]) -> Option<(record::Header, Option<Job>)> {
        let header = Header::parse_start(head, u64::MAX).ok()?;
        let job = log::job_of_start(head, &Limits::default()).ok();
        Some((header.facts(), job.map(|j| j.facts())))
    }

    /// Reads a log, or logs that each hold one process of the same job: then the rank is the place among them, unless the job knows its
    /// ranks.
    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let logs = open_all(sources, options)?;
        if let [log] = &logs[..]
            && !sink.keeps_rows()
            && let Some(trace) = in_batches(log, options, sink)?
        {
            return Ok(trace);
        }
        whole(&logs, options)?.give_rows(sink)
    }
}

fn open(source: &Source, options: &ReadOptions) -> Result<Log> {
    match text::is_text(source.head()) {
        true => text::log_of(source, options),
        false => Log::new(source.read_all(options)?, &options.limits),
    }
}

/// Opens the logs of a folder and makes sure that they are the processes of one job.
fn open_all(sources: &[Source], options: &ReadOptions) -> Result<Vec<Log>> {
    let mut left = options.limits.memory_bytes;
    let mut logs: Vec<Log> = Vec::new();
    for source in sources {
        let log = open(source, options).map_err(|e| e.in_file(source.name()))?;
        if sources.len() == 1 {
            return Ok(vec![log]);
        }
        let Some(rest) = left.checked_sub(log.bytes() as u64) else {
            return Err(Error::limit("the logs of the folder have to fit in memory and are larger", left)
                .remedy("name the logs one by one"));
        };
        left = rest;
        let refuse = |found: String| {
            Err(Error::new(ErrorKind::Unsupported, found)
                .in_file(source.name())
                .expected("one log for each process of one job")
                .remedy("name the logs one by one"))
        };
        if log.job().processes > 1 && !log.job().never_ended() {
            return refuse(format!("a log of {} processes among several logs", log.job().processes));
        }
        if let Some(first) = logs.first().filter(|f| f.job().id != log.job().id) {
            return refuse(format!("logs of different jobs, {} and {}", first.job().id, log.job().id));
        }
        logs.push(log);
    }
    Ok(logs)
}

/// Gives the segments of a sound log to a sink as they are read; `None` if there are none, or the log has to be read as a whole.
fn in_batches(log: &Log, options: &ReadOptions, sink: &dyn RowSink) -> Result<Option<Trace>> {
    let overview = read_overview(log, options)?;
    let Some(first) = selection::first(&overview, log, options.layer) else { return Ok(None) };
    if first.timing != Timing::Request {
        return Ok(None);
    }
    match rows::give_segments(log, first.layer, sink) {
        Ok((taken, files)) if taken.quality.records_read > taken.quality.records_dropped => {
            let mut trace = assemble(log, &overview, Some(first), taken, files, options);
            check_others(log, &overview, options.all_layers, &mut trace)?;
            if options.all_layers {
                summarise_segments(log, 0.0, Some(first), &mut trace);
            }
            trace.layers.sort_by_key(|s| layer_order(&s.layer));
            add_counters(std::slice::from_ref(log), &[Placement::default()], options, &mut trace)?;
            Ok(Some(trace))
        }
        Ok(_) => Ok(None),
        // Of what was given, some may come from a stream whose checksum is wrong.
        Err(e) if e.kind() == ErrorKind::Malformed => {
            sink.restart(Restart::Trace);
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

/// Reads logs with all their rows.
fn whole(logs: &[Log], options: &ReadOptions) -> Result<Trace> {
    let Some(first) = logs.iter().min_by(|a, b| a.job().start.cmp(&b.job().start)) else {
        return Err(Error::new(ErrorKind::Empty, "no log in this folder"));
    };
    let placements = placements(logs, first);
    let (overview, mut ahead) = match logs {
        [log] if options.detail == Detail::Totals => return totals(log, options),
        [log] => overview_and_guess(log, options)?,
        _ => {
            let parts: Vec<Overview> = logs.par_iter().map(|l| read_overview(l, options)).collect::<Result<_>>()?;
            let mut overview = Overview::default();
            for (mut part, p) in parts.into_iter().zip(&placements) {
                part.shift(p.shift_s);
                overview.absorb(part);
            }
            (overview, None)
        }
    };
    let mut fetch = |selected: LayerData| match ahead.take() {
        Some((made, result)) if made == selected => result,
        _ => {
            let (mut all, mut files) = (SelectedRows::default(), Files::default());
            for (log, &p) in logs.iter().zip(&placements) {
                all.absorb(take(log, selected, &mut files, p)?);
            }
            Ok((all, files))
        }
    };
    let (selected, taken, files) = select(&overview, logs, options, &mut fetch)?;
    let mut trace = assemble(first, &overview, selected, taken, files, options);
    if logs.len() > 1 {
        as_one_job(logs, &placements, &mut trace);
    }
    for (log, p) in logs.iter().zip(&placements) {
        check_others(log, &overview, options.all_layers, &mut trace)?;
        if options.all_layers {
            summarise_segments(log, p.shift_s, selected, &mut trace);
        }
    }
    trace.layers.sort_by_key(|s| layer_order(&s.layer));
    add_counters(logs, &placements, options, &mut trace)?;
    Ok(trace)
}

/// A log without its rows; layer and timing say which would be read.
fn totals(log: &Log, options: &ReadOptions) -> Result<Trace> {
    let overview = read_overview(log, options)?;
    let selected = selection::first(&overview, log, options.layer);
    let mut trace = assemble(log, &overview, selected, SelectedRows::default(), Files::default(), options);
    overview.damaged.iter().for_each(|(module, e)| warn_of_damage(*module, e, &mut trace));
    trace.layers.sort_by_key(|s| layer_order(&s.layer));
    add_counters(std::slice::from_ref(log), &[Placement::default()], options, &mut trace)?;
    Ok(trace)
}

/// Adds the counters, if they are wanted.
fn add_counters(logs: &[Log], placements: &[Placement], options: &ReadOptions, trace: &mut Trace) -> Result<()> {
    if !options.counters {
        return Ok(());
    }
    let (counters, warnings) = columns::read(logs, placements)?;
    trace.counters = Some(Box::new(counters));
    for w in warnings {
        if !trace.warnings.contains(&w) {
            trace.warnings.push(w);
        }
    }
    Ok(())
}

/// Ranks by place, and times since the start of the first log.
fn placements(logs: &[Log], first: &Log) -> Vec<Placement> {
    if let [_] = logs {
        return vec![Placement::default()];
    }
    let (origin, origin_ns) = first.job().start;
    let place = |(i, log): (usize, &Log)| {
        let (s, ns) = log.job().start;
        let shift_s = s.saturating_sub(origin) as f64 + ns.saturating_sub(origin_ns) as f64 * 1e-9;
        let rank = (log.job().processes <= 1).then_some(i as u32);
        Placement { rank, shift_s: shift_s.clamp(-MOST_TIME_S, MOST_TIME_S) }
    };
    logs.iter().enumerate().map(place).collect()
}

/// Rows of a selected, made before it was known to be the one.
type Ahead = Option<(LayerData, Result<(SelectedRows, Files)>)>;

/// The totals of a log and, as most logs give POSIX segments, these while the totals that decide are added up.
fn overview_and_guess(log: &Log, options: &ReadOptions) -> Result<(Overview, Ahead)> {
    let guess = matches!(options.layer, None | Some(Layer::Posix)) && log.readable(Module::DxtPosix).is_some();
    let guess = guess.then_some(LayerData { timing: Timing::Request, layer: Layer::Posix });
    let ahead = || {
        guess.map(|selected| {
            let mut files = Files::default();
            (selected, take(log, selected, &mut files, Placement::default()).map(|t| (t, files)))
        })
    };
    let (totals, ahead) = if log.bytes() >= PARALLEL_BYTES {
        rayon::join(|| read_overview(log, options), ahead)
    } else {
        (read_overview(log, options), ahead())
    };
    Ok((totals?, ahead))
}

/// The totals of a log, with those of libraries if they are listed.
fn read_overview(log: &Log, options: &ReadOptions) -> Result<Overview> {
    Overview::new(log, options.all_layers || options.counters)
}

/// Merges the facts of the logs of the processes of one job.
fn as_one_job(logs: &[Log], placements: &[Placement], trace: &mut Trace) {
    let processes = logs.iter().filter_map(|l| l.job().ranks()).max().unwrap_or(0).max(logs.len() as u64);
    trace.ranks = processes;
    if processes > logs.len() as u64 {
        let message = format!("there are logs of {} of {processes} processes", logs.len());
        trace.warnings.push(Warning::new("missing-ranks", message));
    }
    if let Some(job) = &mut trace.job {
        job.ranks = Some(processes);
        let end = logs.iter().map(|l| l.job().end_s()).fold(f64::NEG_INFINITY, f64::max);
        job.end_unix_s = Some(end);
        job.run_time_s = placements.iter().zip(logs).map(|(p, l)| p.shift_s + l.job().run_time_s()).reduce(f64::max);
    }
    for log in logs {
        for w in warnings::of_modules(log) {
            if !trace.warnings.iter().any(|x| x.code == w.code && x.message == w.message) {
                trace.warnings.push(w);
            }
        }
        for p in partial(log) {
            if !trace.quality.partial.contains(&p) {
                trace.quality.partial.push(p);
            }
        }
    }
    if logs.iter().any(|l| !l.job().fine) {
        trace.warnings.push(Warning::new(
            "coarse-start",
            "logs of this format give whole seconds as their start: ranks can be up to a second apart",
        ));
    }
}

/// The trace of the selected rows, without the totals of further layers.
fn assemble(
    log: &Log,
    overview: &Overview,
    selected: Option<LayerData>,
    taken: SelectedRows,
    files: Files,
    options: &ReadOptions,
) -> Trace {
    let (header, job) = (log.header(), log.job());
    let mut warnings = warnings::of_modules(log);
    warnings.extend(warnings::of_selection(overview, selected, &taken, log, options));
    warnings.extend(warnings::of_rows(overview, &taken, log));
    let mut layers: Vec<LayerSummary> =
        overview.counters.iter().chain(&overview.heatmaps).filter_map(Clone::clone).collect();
    layers.extend(overview.others.iter().cloned().chain(taken.summary));
    let mut quality = taken.quality;
    (quality.partial, quality.impossible) = (partial(log), overview.impossible.clone());
    quality.untimed = overview.untimed(log);
    Trace {
        format: "darshan",
        header: header.facts(),
        clock: job.clock(),
        job: Some(job.facts()),
        layer: selected.map(|c| c.layer),
        ranks: job.ranks().unwrap_or(taken.ranks.len() as u64),
        files,
        data: taken.data,
        timing: selected.map_or(Timing::Request, |c| c.timing),
        bin_s: taken.bin_s,
        layers,
        call_counts: overview.calls.clone(),
        hosts: taken.hosts,
        quality,
        warnings,
        ..Trace::default()
    }
}

/// Modules that ran out of memory, or that a cut file lacks.
fn partial(log: &Log) -> Vec<String> {
    let (slots, cut) = (&log.header().slots, &log.header().cut);
    let full = slots.iter().filter(|s| s.partial && !cut.contains(&s.module)).map(|s| s.module);
    full.chain(cut.iter().copied()).map(|m| m.name().into_owned()).collect()
}

/// Checks the modules that give no rows, and counts their records: damage is a warning if there are rows, else the error.
fn check_others(log: &Log, overview: &Overview, thorough: bool, trace: &mut Trace) -> Result<()> {
    let counted = layer_summary::count_others(log, thorough);
    let read = overview.damaged.iter().map(|(module, e)| (*module, Err(e.clone())));
    for (module, records) in read.chain(counted) {
        match records {
            Err(e) if trace.layer.is_none() && (thorough || module == Module::Lustre) => return Err(e),
            Err(e) => warn_of_damage(module, &e, trace),
            Ok(Some(records)) if module != Module::Lustre => {
                let layer = module.name().to_lowercase();
                layer_summary::add_to(&mut trace.layers, LayerSummary { layer, records, ..LayerSummary::default() });
            }
            Ok(_) => {}
        }
    }
    Ok(())
}

fn warn_of_damage(module: Module, why: &Error, trace: &mut Trace) {
    let message = format!("{} is damaged and was left out: {why}", module.name());
    if !trace.warnings.iter().any(|w| w.message == message) {
        trace.warnings.push(Warning::new("damaged-module", message));
    }
}

/// Adds the totals of segments that were not taken.
fn summarise_segments(log: &Log, shift_s: f64, selected: Option<LayerData>, trace: &mut Trace) {
    for layer in [Layer::Posix, Layer::Mpiio] {
        if selected == Some(LayerData { timing: Timing::Request, layer }) {
            continue;
        }
        let Some(module) = dxt_module(layer) else { continue };
        match layer_summary::dxt_totals(log, layer, module, shift_s) {
            Ok(Some(s)) => layer_summary::add_to(&mut trace.layers, s),
            Ok(None) => {}
            Err(e) if trace.warnings.iter().any(|w| w.message.ends_with(&e.to_string())) => {}
            Err(e) => warn_of_damage(module, &e, trace),
        }
    }
}

fn layer_order(name: &str) -> usize {
    const ORDER: [&str; 14] = [
        "posix",
        "mpiio",
        "stdio",
        "dfs",
        "daos",
        "h5f",
        "h5d",
        "pnetcdf_file",
        "pnetcdf_var",
        "dxt-posix",
        "dxt-mpiio",
        "heatmap-posix",
        "heatmap-mpiio",
        "heatmap-stdio",
    ];
    ORDER.iter().position(|&n| n == name).unwrap_or(ORDER.len())
}
