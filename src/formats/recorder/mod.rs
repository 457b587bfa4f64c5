//! Recorder, versions 2.0 to 3.x: a folder of files, or one file `recorder.dat`, and the text of `recorder2text`.
//!
//! From 2.3 on a trace has each different call once (`signatures`), rules that give their order (`grammar`), and their times
//! (`times`). Rules are expanded as a stream, rank by rank (`calls`): memory grows with the different calls, not with all of them.
//! Before 2.3 each rank has a file of records (`records`).
//!
//! Bytes are those that a call asked for: results are not recorded. Offsets of `pread`, `pwrite` and `MPI_File_*_at` are recorded;
//! those of `read`, `write` and theirs follow from the opens, seeks and transfers before, as long as a rank has the file open once.
//! A trace has the calls of several levels side by side, of which the lower ones carry out the higher ones: one is taken, POSIX and
//! stdio if none is named.

mod call;
mod calls;
mod grammar;
mod level;
mod metadata;
mod parts;
mod records;
mod rows;
mod signatures;
mod text;
mod times;

use std::borrow::Cow;
use std::path::PathBuf;

use self::calls::Calls;
use self::level::Level;
use self::metadata::{Metadata, TraceLayout};
use self::parts::{MAGIC, Part, Parts};
use self::rows::{Facts, Wanted, batch};
use super::compression::Compression;
use super::format::{Format, Sniff};
use super::options::ReadOptions;
use super::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Clock, Data, Header, Job, Layer, Quality, Requests, RowSink, Timing, Trace, Warning};

/// The format.
pub struct Recorder;

impl Format for Recorder {
    fn name(&self) -> &'static str {
        "recorder"
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        if head.starts_with(MAGIC) { Sniff::Yes } else { text::sniff(head) }
    }

    /// The texts of the ranks in a folder are one run.
    fn job_of(&self, source: &Source) -> Option<String> {
        (!source.head().starts_with(MAGIC)).then(String::new)
    }

    /// The files of a folder with `recorder.mt`.
    fn claims(&self, files: &[PathBuf]) -> Vec<PathBuf> {
        let name = |p: &PathBuf| p.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let parts: Vec<(Part, &PathBuf)> = files.iter().filter_map(|p| Part::of_file(&name(p)).zip(Some(p))).collect();
        let with_calls = parts.iter().any(|(part, _)| !matches!(part, Part::Version | Part::Metadata));
        if with_calls && parts.iter().any(|(part, _)| *part == Part::Metadata) {
            return parts.into_iter().map(|(_, path)| path.clone()).collect();
        }
        Vec::new()
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        if let [file] = sources
            && file.head().starts_with(MAGIC)
        {
            let plain;
            let file = if file.compression() == Compression::None {
                file
            } else {
                plain = Source::from_bytes(file.name(), file.read_all(options)?);
                &plain
            };
            return read_parts(Parts::of_sections(file, options), options, sink);
        }
        let parts = Parts::of_files(sources);
        if !parts.all.contains_key(&Part::Metadata) {
            return text::read(sources, options, sink);
        }
        read_parts(Ok(parts), options, sink)
    }
}

fn read_parts(parts: Result<Parts<'_>>, options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
    let remedy = "copy the trace again; if it is complete, the recorder was killed while it wrote";
    let is_damage = |e: &Error| e.kind() == ErrorKind::Malformed && e.suggestion().is_none();
    let read = parts.and_then(|parts| of_parts(&parts, options, sink));
    read.map_err(|e| if is_damage(&e) { e.remedy(remedy) } else { e })
}

fn of_parts(parts: &Parts<'_>, options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
    let meta = Metadata::read(parts, options)?;
    if meta.layout == TraceLayout::Records {
        return records::read(parts, &meta, options, sink);
    }
    let calls = Calls::open(parts, &meta, options)?;
    let most = options.limits.records;
    if calls.len() > most as u64 {
        return Err(Error::too_many_rows(most));
    }
    let layer = layer_of(options.layer, |wanted| calls.has_transfers(wanted));
    let read = calls.read(Wanted::new(sink, layer, options), options)?;
    let mut trace = trace_of(&meta, layer, read.facts, read.rows, (calls.names, sink))?;
    trace.clock = Clock::job_start(meta.start_s);
    if let Some(n) = parts.sections {
        trace.header.version = Some(format!("{} (one file, version {n})", meta.version));
    }
    let cut: u64 = read.cut.iter().map(|c| c.1).sum();
    if let Some((rank, _)) = read.cut.first() {
        let n = read.cut.len();
        let message = format!("the times of {n} ranks are cut, the first of rank {rank}: {cut} calls were lost");
        trace.warnings.push(Warning::new("damaged-tail", message).remedy("copy the trace again"));
        trace.quality.records_read += cut;
        trace.quality.records_dropped += cut;
    }
    if calls.missing > 0 {
        let message = format!("{} of {} ranks have no calls in the trace", calls.missing, meta.ranks);
        trace.warnings.push(Warning::new("missing-ranks", message));
        trace.quality.partial.push("ranks".into());
    }
    // It is so in every trace, and bends no period: a fact for those who ask for all there is.
    if meta.ranks > 1 && options.all_layers {
        let message = "the time of each rank counts from the start of its recorder, and all are taken as that of rank 0: \
            ranks may be off by the time it took to launch them";
        trace.warnings.push(Warning::new("launch-skew", message));
    }
    if let Some(rank) = read.early {
        trace.warnings.push(long_pause(&meta, &format!("; rank {rank} ends earlier than another by more than that")));
    } else if meta.resolution < 0.9e-7 {
        trace.warnings.push(long_pause(&meta, ""));
    }
    Ok(trace)
}

/// A difference of times has 32 bits.
fn long_pause(meta: &Metadata, why: &str) -> Warning {
    let pause = meta.resolution * 2f64.powi(32);
    let message = format!("a pause of more than {pause:.1} s is stored shorter than it was{why}");
    Warning::new("long-pauses", message).remedy("record with RECORDER_TIME_RESOLUTION=1e-6")
}

/// The layer that is taken: the one named, else POSIX and stdio together, or MPI-IO where these move nothing.
fn layer_of(named: Option<Layer>, moves: impl Fn(&(dyn Fn(Level) -> bool + Sync)) -> bool) -> Option<Layer> {
    let only_mpi = !moves(&|level| level.is_in(None)) && moves(&|level| level == Level::Mpiio);
    named.or(only_mpi.then_some(Layer::Mpiio))
}

/// The trace of some ranks, whose rows go to the sink if it keeps them.
fn trace_of(
    meta: &Metadata,
    layer: Option<Layer>,
    facts: Facts,
    rows: Vec<Requests>,
    (names, sink): (call::Names, &dyn RowSink),
) -> Result<Trace> {
    if sink.keeps_rows() {
        for rows in rows {
            sink.take(batch(Cow::Owned(Data::Requests(rows)), &names))?;
        }
    }
    let calls = facts.calls();
    if calls == 0 {
        return Err(Error::new(ErrorKind::Empty, "the trace holds no call")
            .remedy("check that the program ran with the recorder preloaded, and to its end"));
    }
    let mut trace = Trace {
        format: Recorder.name(),
        header: Header {
            version: Some(meta.version.clone()).filter(|v| !v.is_empty()),
            byte_order: (!meta.functions.is_empty()).then(|| "little".into()),
            compression: (meta.layout >= TraceLayout::Packed).then(|| "zlib".into()),
        },
        layer,
        ranks: u64::from(meta.ranks),
        timing: Timing::Request,
        quality: Quality { records_read: calls, records_left_out: facts.other_layer, ..Quality::default() },
        layers: facts.layers(),
        ..Trace::default()
    };
    if meta.start_s > 0.0 {
        trace.job = Some(Job {
            ranks: Some(u64::from(meta.ranks)),
            start_unix_s: Some(meta.start_s),
            end_unix_s: Some(meta.start_s + facts.end_s),
            run_time_s: Some(facts.end_s),
            ..Job::default()
        });
    }
    for (call, n) in facts.counted() {
        *trace.call_counts.entry(names.calls.name(call).to_owned()).or_default() += n;
    }
    (trace.files, trace.calls) = (names.files, names.calls);
    if meta.newer {
        let message = format!("version {} is newer than those known, and was read as the newest of them", meta.version);
        trace.warnings.push(Warning::new("newer-version", message));
    }
    if facts.unsized_calls > 0 {
        let message = format!("{} calls do not say how many bytes they moved", facts.unsized_calls);
        trace.warnings.push(Warning::new("sizes-unknown", message));
    }
    if facts.reads > 0 {
        let message = "bytes are those that the calls asked for: a read at the end of a file counts in full";
        trace.warnings.push(Warning::new("requested-bytes", message));
    }
    Ok(trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_known_by_the_names_of_its_files() {
        let claimed = |names: &str| {
            let files: Vec<PathBuf> = names.split(' ').map(|n| PathBuf::from(format!("/x/{n}"))).collect();
            Recorder.claims(&files).len()
        };
        assert_eq!(claimed("VERSION recorder.mt recorder.ts recorder.cst ug.cfg ug.mt notes.txt"), 6);
        assert_eq!(claimed("0.cfg 0.cst 0.ts 10.cfg 10.cst 10.ts VERSION recorder.mt x.cfg 1.2.ts"), 8);
        assert_eq!(claimed("0.itf 0.mt recorder.mt"), 3);
        assert_eq!(claimed("VERSION recorder.mt"), 0);
        assert_eq!(claimed("VERSION 0.cfg 0.ts"), 0);
        assert_eq!(claimed("recorder.dat"), 0);
    }
}
