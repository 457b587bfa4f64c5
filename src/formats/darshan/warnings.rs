//! Warnings about a log.

use super::header::Module;
use super::layer_summary::{self, LAYERS, Overview};
use super::log::Log;
use super::rows::SelectedRows;
use super::selection::LayerData;
use crate::formats::options::ReadOptions;
use crate::record::{Impossible, Layer, Timing, Warning};
use crate::remedy::Remedy;

/// Warnings about modules: unknown, too new, incomplete, known to be wrong.
pub(super) fn of_modules(log: &Log) -> Vec<Warning> {
    let mut warnings = log.warnings().to_vec();
    for s in &log.header().slots {
        let name = s.module.name();
        if s.length > 0 {
            if matches!(s.module, Module::Unknown(_) | Module::Apxc | Module::Mdhim) {
                warnings.push(Warning::new(
                    "unknown-module",
                    format!(
                        "{name} (slot {}, {} bytes) has an unknown layout and was left out",
                        s.file_index, s.length
                    ),
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
    if let cut @ [_, ..] = &log.header().cut[..] {
        let names: Vec<_> = cut.iter().map(|m| m.name()).collect();
        let (bytes, whole) = (log.bytes(), log.header().whole_bytes);
        let message =
            format!("the file ends after {bytes} of {whole} bytes: the end or all of {} is missing", names.join(", "));
        warnings.push(Warning::new("damaged-module", message).remedy("copy the log again: it was cut on the way"));
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
pub(super) fn of_selection(
    o: &Overview,
    selected: Option<LayerData>,
    taken: &SelectedRows,
    log: &Log,
    options: &ReadOptions,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let beside = |held: u64| {
        let (name, bytes) = o.storage().filter(|&(_, bytes)| bytes > held)?;
        let message =
            format!("{bytes} bytes went through {name}, of which only counters are read; the rows hold {held} bytes");
        Some(Warning::new("most-bytes-elsewhere", message))
    };
    let Some(LayerData { timing, layer }) = selected else {
        warnings.extend(beside(0));
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
                "no DXT and no heatmap: bytes are assumed to move evenly between the first and the last access of a file",
            )
            .remedy("record segments with DXT_ENABLE_IO_TRACE=1 (Darshan 3.1.3 or later)"),
        );
    }
    let totals = o.counters[layer as usize].as_ref();
    let held = match (timing, &taken.summary) {
        (Timing::Request, Some(s)) => {
            let moved = layer_summary::bytes(s);
            let counted = totals.map_or(0, layer_summary::bytes);
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
            .remedy(Remedy::TakePosix),
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
    if let Some((other, bytes)) = elsewhere.filter(|&(_, b)| b > held) {
        warnings.push(
            Warning::new(
                "most-bytes-elsewhere",
                format!(
                    "layer {} was taken and holds {held} bytes; layer {} moved {bytes}",
                    layer.name(),
                    other.name()
                ),
            )
            .remedy(Remedy::TakeLayer(vec![other.name()])),
        );
    }
    warnings.extend(beside(held));
    warnings
}

/// One warning for all counters with values that they cannot have.
fn impossible(all: &[Impossible]) -> Option<Warning> {
    const NAMED: usize = 4;
    let mut list: Vec<String> = all.iter().take(NAMED).map(ToString::to_string).collect();
    if let more @ 1.. = all.len().saturating_sub(NAMED) {
        list.push(format!("{more} more are alike"));
    }
    let message = format!("{}: these values are unknown, and sums leave them out", list.join(", "));
    (!all.is_empty()).then(|| Warning::new("impossible-counters", message))
}

/// `2 records have ...`: a number, its noun with a verb for one and for more, and the rest.
fn some(n: u64, one: &str, more: &str, rest: &str) -> String {
    format!("{n} {} {rest}", if n == 1 { one } else { more })
}

/// Warnings about single records.
pub(super) fn of_rows(overview: &Overview, taken: &SelectedRows, log: &Log) -> Vec<Warning> {
    let mut warnings = taken.damage.clone();
    warnings.extend(impossible(&overview.impossible));
    let mut warn = |n: u64, code: &str, message: String| {
        if n > 0 {
            warnings.push(Warning::new(code, message));
        }
    };
    let q = &taken.quality;
    let (dropped, read) = (q.records_dropped, q.records_read);
    warn(
        dropped,
        "unusable-records",
        format!("{dropped} of {read} records have times that are no numbers or negative bytes, and were dropped"),
    );
    let bent = q.clamped.saturating_sub(taken.untimed);
    warn(
        bent,
        "clamped-records",
        format!(
            "{bent} of {read} records end before they start or have an impossible offset or length, and were brought into range"
        ),
    );
    let n = taken.untimed;
    warn(
        n,
        "untimed-records",
        some(n, "file record moves", "file records move", "bytes at no time; spread over the run"),
    );
    let n = taken.bad_ranks;
    warn(n, "bad-ranks", some(n, "record has", "records have", "an impossible rank; listed under rank 0"));
    let n = taken.widths.len();
    warn(
        u64::from(n > 1),
        "mixed-bins",
        format!("the heatmap records have bins of {n} widths; the widest is reported"),
    );
    let n = taken.shared;
    warn(
        n,
        "shared-records",
        some(n, "file record holds", "file records hold", "totals over all ranks; listed under rank 0"),
    );
    let n = overview.mixed_records;
    warn(
        n,
        "mixed-records",
        some(n, "POSIX record counts", "POSIX records count", "stdio calls, too; left out, as Darshan does"),
    );
    for (module, &bytes) in &overview.trailing {
        let message =
            format!("the {} data ends with {bytes} bytes of an incomplete record, which were left out", module.name());
        warn(bytes, "trailing-bytes", message);
    }
    let job = log.job();
    warn(
        u64::from(job.ranks().is_none()),
        "bad-process-count",
        format!("the log says that the job had {} processes; the ranks met are counted instead", job.processes),
    );
    warnings
}
