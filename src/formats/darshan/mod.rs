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

mod bytes;
mod counter_names;
mod counters;
mod dxt;
mod header;
mod heatmap;
mod job;
mod log;
mod names;
mod others;
mod region;
mod rows;
mod survey;

pub use bytes::ByteOrder;
pub use counters::{CounterRecord, CounterTable, MISSING, Schema, Walked};
pub use dxt::{DxtHeader, DxtRecord, Segment, segment_bytes};
pub use header::{Compression, Header, Module, Slot};
pub use heatmap::HeatmapRecord;
pub use job::JobRecord;
pub use log::Log;
pub use names::Names;

use rayon::prelude::*;

use self::log::dxt_module;
use self::rows::{Choice, Placement, Taken, take};
use self::survey::{LAYERS, Overview};
use super::{Format, ReadOptions, Sniff, Source};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{self, Files, Job, Layer, LayerSummary, Timing, Trace, Warning};

/// The format.
pub struct Darshan;

/// Bytes of a log from which two cores are worth it.
const PARALLEL_BYTES: usize = 256 << 10;

impl Format for Darshan {
    fn name(&self) -> &'static str {
        "darshan"
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        if header::has_magic(head) { Sniff::Yes } else { Sniff::No("no magic number at byte 8") }
    }

    fn read(&self, source: &Source, options: &ReadOptions) -> Result<Trace> {
        let log = Log::new(source.read_all(options)?, &options.limits)?;
        // Most logs give POSIX segments: read them while the totals that decide are added up.
        let guess = matches!(options.layer, None | Some(Layer::Posix)) && log.readable(Module::DxtPosix).is_some();
        let guess = guess.then_some(Choice { timing: Timing::Request, layer: Layer::Posix });
        let ahead = || {
            guess.map(|choice| {
                let mut files = Files::default();
                (choice, take(&log, choice, &mut files, Placement::default()).map(|t| (t, files)))
            })
        };
        let (overview, ahead) = if log.bytes() >= PARALLEL_BYTES {
            rayon::join(|| Overview::new(&log), ahead)
        } else {
            (Overview::new(&log), ahead())
        };
        let overview = overview?;
        let mut ahead = ahead;
        let mut fetch = |choice: Choice| match ahead.take() {
            Some((made, result)) if made == choice => result,
            _ => {
                let mut files = Files::default();
                take(&log, choice, &mut files, Placement::default()).map(|t| (t, files))
            }
        };
        let (choice, taken, files) = choose(&overview, std::slice::from_ref(&log), options, &mut fetch)?;
        let mut trace = assemble(&log, &overview, choice, taken, files, options);
        check_others(&log, options.survey, &mut trace)?;
        if options.survey {
            survey_segments(&log, 0.0, choice, &mut trace);
        }
        trace.layers.sort_by_key(|s| layer_order(&s.layer));
        Ok(trace)
    }

    /// Reads a folder of logs that each hold one process of the same job; the rank is the place in the folder.
    fn read_many(&self, sources: &[Source], options: &ReadOptions) -> Result<Trace> {
        if let [one] = sources {
            return self.read(one, options);
        }
        let logs = open_all(sources, options)?;
        let Some(first) = logs.iter().min_by(|a, b| a.job().start.cmp(&b.job().start)) else {
            return Err(Error::new(ErrorKind::Empty, "no log in this folder"));
        };
        let (origin, origin_ns) = first.job().start;
        let placements: Vec<Placement> = logs
            .iter()
            .enumerate()
            .map(|(i, l)| {
                let (s, ns) = l.job().start;
                let shift_s = s.saturating_sub(origin) as f64 + ns.saturating_sub(origin_ns) as f64 * 1e-9;
                Placement { rank: Some(i as u32), shift_s }
            })
            .collect();
        let parts: Vec<Overview> = logs.par_iter().map(Overview::new).collect::<Result<_>>()?;
        let mut overview = Overview::default();
        for (mut part, p) in parts.into_iter().zip(&placements) {
            part.shift(p.shift_s);
            overview.absorb(part);
        }
        let mut fetch = |choice: Choice| {
            let (mut all, mut files) = (Taken::default(), Files::default());
            for (log, &p) in logs.iter().zip(&placements) {
                all.absorb(take(log, choice, &mut files, p)?);
            }
            Ok((all, files))
        };
        let (choice, taken, files) = choose(&overview, &logs, options, &mut fetch)?;
        let mut trace = assemble(first, &overview, choice, taken, files, options);
        trace.ranks = logs.len() as u64;
        if let Some(job) = &mut trace.job {
            job.ranks = Some(logs.len() as u64);
            let end = logs.iter().map(|l| l.job().end_s()).fold(f64::NEG_INFINITY, f64::max);
            job.end_unix_s = Some(end);
            job.run_time_s =
                placements.iter().zip(&logs).map(|(p, l)| p.shift_s + l.job().run_time_s()).reduce(f64::max);
        }
        for log in &logs {
            for w in slot_warnings(log) {
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
        for (log, p) in logs.iter().zip(&placements) {
            check_others(log, options.survey, &mut trace)?;
            if options.survey {
                survey_segments(log, p.shift_s, choice, &mut trace);
            }
        }
        trace.layers.sort_by_key(|s| layer_order(&s.layer));
        Ok(trace)
    }
}

/// Opens the logs of a folder and makes sure that they are the processes of one job.
fn open_all(sources: &[Source], options: &ReadOptions) -> Result<Vec<Log>> {
    let mut left = options.limits.memory_bytes;
    let mut logs: Vec<Log> = Vec::new();
    for source in sources {
        let log = source
            .read_all(options)
            .and_then(|file| Log::new(file, &options.limits))
            .map_err(|e| e.in_file(source.name()))?;
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
        if log.job().processes > 1 {
            return refuse(format!("a log of {} processes among several logs", log.job().processes));
        }
        if let Some(first) = logs.first().filter(|f| f.job().id != log.job().id) {
            return refuse(format!("logs of different jobs, {} and {}", first.job().id, log.job().id));
        }
        logs.push(log);
    }
    Ok(logs)
}

/// What could be taken, the best first.
fn candidates(o: &Overview, logs: &[Log], wanted: Option<Layer>) -> Vec<Choice> {
    let has_segments = |layer: Layer| dxt_module(layer).is_some_and(|m| logs.iter().any(|l| l.readable(m).is_some()));
    let has = |c: &Choice| match c.timing {
        Timing::Request => has_segments(c.layer),
        Timing::Heatmap => o.heatmaps[c.layer as usize].as_ref().is_some_and(|s| survey::bytes(s) > 0),
        _ => o.counters[c.layer as usize].as_ref().is_some_and(|s| survey::bytes(s) > 0),
    };
    let bypassed = o.mpiio_only_bytes > o.bytes(Layer::Posix);
    let layers = match wanted {
        Some(layer) => vec![layer],
        None if bypassed => vec![Layer::Mpiio, Layer::Posix, Layer::Stdio],
        None => vec![Layer::Posix, Layer::Mpiio, Layer::Stdio],
    };
    let mut all = Vec::new();
    for timing in [Timing::Request, Timing::Heatmap, Timing::Counter] {
        let mut layers = layers.clone();
        if let (Some(&best), true) = (layers.first(), timing != Timing::Request)
            && wanted.is_none()
            && o.bytes(Layer::Stdio) > o.bytes(best)
        {
            layers.rotate_right(1);
        }
        all.extend(layers.into_iter().map(|layer| Choice { timing, layer }).filter(has));
    }
    all
}

/// Takes the first candidate that gives rows. Without any: no rows, which is an error only if a layer was asked for.
fn choose(
    overview: &Overview,
    logs: &[Log],
    options: &ReadOptions,
    fetch: &mut dyn FnMut(Choice) -> Result<(Taken, Files)>,
) -> Result<(Option<Choice>, Taken, Files)> {
    let mut empty = Taken::default();
    for choice in candidates(overview, logs, options.layer) {
        let (taken, files) = fetch(choice)?;
        if !taken.data.is_empty() {
            return Ok((Some(choice), taken, files));
        }
        // Segments that had to be dropped are worth telling, even if nothing is left of them.
        empty.warnings.extend(taken.warnings);
        empty.summary = empty.summary.or(taken.summary);
        empty.quality.records_read += taken.quality.records_read;
        empty.quality.records_dropped += taken.quality.records_dropped;
    }
    let Some(layer) = options.layer else {
        return Ok((None, empty, Files::default()));
    };
    let mut held: Vec<(Layer, Timing)> = Vec::new();
    for c in candidates_of_all(overview, logs) {
        if !held.iter().any(|h| h.0 == c.layer) {
            held.push((c.layer, c.timing));
        }
    }
    let (found, remedy) = if held.is_empty() {
        ("the log holds no reads or writes".to_owned(), "check that the job ran under Darshan".to_owned())
    } else {
        let list: Vec<_> = held.iter().map(|(l, t)| format!("{} ({})", l.name(), kind_name(*t))).collect();
        let flags: Vec<_> = held.iter().map(|(l, _)| format!("--layer {}", l.name())).collect();
        (
            format!("nothing was recorded of layer {}; the log holds {}", layer.name(), list.join(", ")),
            format!("take {}", flags.join(" or ")),
        )
    };
    Err(Error::new(ErrorKind::Empty, found).remedy(remedy))
}

fn candidates_of_all(overview: &Overview, logs: &[Log]) -> Vec<Choice> {
    LAYERS.iter().flat_map(|&l| candidates(overview, logs, Some(l))).collect()
}

fn kind_name(timing: Timing) -> &'static str {
    match timing {
        Timing::Request => "segments",
        Timing::Heatmap => "heatmap",
        _ => "counters",
    }
}

/// The trace of what was taken, without the totals of a survey.
fn assemble(
    log: &Log,
    overview: &Overview,
    choice: Option<Choice>,
    taken: Taken,
    files: Files,
    options: &ReadOptions,
) -> Trace {
    let (header, job) = (log.header(), log.job());
    let mut warnings = slot_warnings(log);
    warnings.extend(taken.warnings);
    warnings.extend(choice_warnings(overview, choice, taken.summary.as_ref(), log, options));
    if taken.shared > 0 {
        warnings.push(Warning::new(
            "shared-records",
            format!("{} file records are totals over all ranks; they stand under rank 0", taken.shared),
        ));
    }
    if job.ranks().is_none() {
        warnings.push(Warning::new(
            "bad-process-count",
            format!("the log says that the job had {} processes; the ranks met are counted instead", job.processes),
        ));
    }
    for (module, bytes) in &overview.trailing {
        warnings.push(Warning::new(
            "trailing-bytes",
            format!("the {} data ends with {bytes} bytes that are no whole record; they were left out", module.name()),
        ));
    }
    if overview.mixed_records > 0 {
        warnings.push(Warning::new(
            "mixed-records",
            format!(
                "{} POSIX records also count stdio calls and were left out, as Darshan does",
                overview.mixed_records
            ),
        ));
    }
    let mut layers: Vec<LayerSummary> =
        overview.counters.iter().chain(&overview.heatmaps).filter_map(Clone::clone).collect();
    layers.extend(taken.summary);
    let mut quality = taken.quality;
    quality.partial = partial(log);
    Trace {
        format: "darshan",
        header: record::Header {
            version: Some(header.version.clone()),
            byte_order: Some(header.order.name().to_owned()),
            compression: Some(header.compression.name().to_owned()),
        },
        job: Some(Job {
            id: Some(job.id),
            executable: Some(job.executable.clone()).filter(|e| !e.is_empty()),
            ranks: job.ranks(),
            start_unix_s: Some(job.start_s()),
            end_unix_s: Some(job.end_s()),
            run_time_s: Some(job.run_time_s()),
        }),
        layer: choice.map(|c| c.layer),
        ranks: job.ranks().unwrap_or(taken.ranks.len() as u64),
        files,
        data: taken.data,
        timing: choice.map_or(Timing::Request, |c| c.timing),
        bin_s: taken.bin_s,
        layers,
        call_counts: overview.calls.clone(),
        quality,
        warnings,
        ..Trace::default()
    }
}

fn partial(log: &Log) -> Vec<String> {
    log.header().slots.iter().filter(|s| s.partial).map(|s| s.module.name().into_owned()).collect()
}

/// Warnings about modules: unknown, too new, incomplete, known to be wrong.
fn slot_warnings(log: &Log) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for s in &log.header().slots {
        let name = s.module.name();
        if s.length > 0 {
            if let Module::Unknown(_) = s.module {
                warnings.push(Warning::new(
                    "unknown-module",
                    format!("{name} (slot {}, {} bytes) is not known and was left out", s.file_index, s.length),
                ));
            } else if s.version > s.module.newest_version() {
                warnings.push(Warning::new(
                    "unsupported-module",
                    format!(
                        "{name} has version {} and was left out; versions up to {} are known",
                        s.version,
                        s.module.newest_version()
                    ),
                ));
            }
        }
        if s.partial {
            warnings.push(
                Warning::new(
                    "partial-module",
                    format!("{name} ran out of memory during the run: its data is not complete"),
                )
                .remedy(
                    "run again with more memory for Darshan (DARSHAN_MODMEM) or fewer files (DARSHAN_NAME_EXCLUDE)",
                ),
            );
        }
    }
    if log.header().version_number == 320 {
        warnings.push(
            Warning::new(
                "corrupt-counters",
                "release 3.2.0 of Darshan is known to write wrong counters, mainly the sizes of common accesses",
            )
            .remedy("use a later release of Darshan"),
        );
    }
    warnings
}

/// Warnings about what was taken, and what of the job's I/O it leaves out.
fn choice_warnings(
    o: &Overview,
    choice: Option<Choice>,
    segments: Option<&LayerSummary>,
    log: &Log,
    options: &ReadOptions,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let Some(Choice { timing, layer }) = choice else {
        let what = if log.header().slots.iter().any(|s| s.length > 0) {
            Warning::new("no-transfers", "the log holds no reads or writes that could be taken")
        } else {
            Warning::new("empty-log", "the log holds no data of any module")
        };
        warnings.push(what);
        return warnings;
    };
    if timing == Timing::Counter {
        warnings.push(
            Warning::new(
                "coarse-timing",
                "the log holds only totals for each file: their bytes are spread from first to last access",
            )
            .remedy("record segments with DXT_ENABLE_IO_TRACE=1 (Darshan 3.1.3 or later)"),
        );
    }
    let totals = o.counters[layer as usize].as_ref();
    let taken = match (timing, segments) {
        (Timing::Request, Some(s)) => {
            let moved = survey::bytes(s);
            let counted = totals.map_or(0, survey::bytes);
            if counted > moved {
                warnings.push(
                    Warning::new(
                        "missing-segments",
                        format!("the segments hold {moved} bytes of the {counted} that the counters of the layer saw"),
                    )
                    .remedy("run again with more memory for segments (DARSHAN_MODMEM)"),
                );
            }
            moved
        }
        _ => o.bytes(layer),
    };
    if options.layer.is_some() {
        return warnings;
    }
    if layer == Layer::Mpiio && o.mpiio_only_bytes > o.bytes(Layer::Posix) {
        warnings.push(
            Warning::new(
                "layer-choice",
                format!("MPI-IO moved {} bytes without POSIX, so MPI-IO was taken", o.mpiio_only_bytes),
            )
            .remedy("--layer posix takes what went through POSIX"),
        );
    }
    let elsewhere = LAYERS
        .into_iter()
        .filter(|&l| l != layer)
        .map(|l| match (layer, l) {
            (Layer::Posix, Layer::Mpiio) => (l, o.mpiio_only_bytes),
            _ => (l, o.bytes(l)),
        })
        .filter(|&(l, _)| !(layer == Layer::Stdio && l == Layer::Mpiio && o.mpiio_only_bytes == 0))
        .max_by_key(|&(_, bytes)| bytes);
    if let Some((other, bytes)) = elsewhere.filter(|&(_, b)| b > taken) {
        warnings.push(
            Warning::new(
                "most-bytes-elsewhere",
                format!(
                    "layer {} was taken and holds {taken} bytes; layer {} moved {bytes}",
                    layer.name(),
                    other.name()
                ),
            )
            .remedy(format!("take --layer {}", other.name())),
        );
    }
    if o.foreign_bytes > taken {
        warnings.push(Warning::new(
            "most-bytes-elsewhere",
            format!("{} bytes went through DAOS, which has no layer here; {taken} are shown", o.foreign_bytes),
        ));
    }
    warnings
}

/// Checks the modules that give no rows: damage is a warning if there are rows, else the error.
fn check_others(log: &Log, thorough: bool, trace: &mut Trace) -> Result<()> {
    for (module, e) in survey::check_others(log, thorough) {
        if trace.data.is_empty() {
            return Err(e);
        }
        trace
            .warnings
            .push(Warning::new("damaged-module", format!("{} is damaged and was left out: {e}", module.name())));
    }
    Ok(())
}

/// Adds the totals of segments that were not taken.
fn survey_segments(log: &Log, shift_s: f64, choice: Option<Choice>, trace: &mut Trace) {
    for layer in [Layer::Posix, Layer::Mpiio] {
        if choice == Some(Choice { timing: Timing::Request, layer }) {
            continue;
        }
        let Some(module) = dxt_module(layer) else { continue };
        match survey::dxt_totals(log, layer, module, shift_s) {
            Ok(Some(s)) => match trace.layers.iter_mut().find(|t| t.layer == s.layer) {
                Some(t) => {
                    let mut total = Some(std::mem::take(t));
                    survey::add(&mut total, s);
                    *t = total.unwrap_or_default();
                }
                None => trace.layers.push(s),
            },
            Ok(None) => {}
            Err(e) => trace
                .warnings
                .push(Warning::new("damaged-module", format!("{} is damaged and was left out: {e}", module.name()))),
        }
    }
}

fn layer_order(name: &str) -> usize {
    const ORDER: [&str; 8] =
        ["posix", "mpiio", "stdio", "dxt-posix", "dxt-mpiio", "heatmap-posix", "heatmap-mpiio", "heatmap-stdio"];
    ORDER.iter().position(|&n| n == name).unwrap_or(ORDER.len())
}
