//! From inputs of any format to the cases of a directly-follows graph.

use std::io::Write;

use crate::dfg::{self, Case, CaseId, Collectors, DfgReport, LogWriter, Origin, Partition, Plan, RankLogs, Skipped};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::{self, Detail, Format, ReadOptions, Source};
use crate::record::{RowSink, Trace, Warning};

/// All cases of some inputs.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct EventLog {
    /// In the order of the inputs, and of the files in a folder.
    pub cases: Vec<Case>,
    /// Events that are in no case.
    pub skipped: Skipped,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

/// Reads the events of all inputs into cases. Formats that can are read as a stream: memory grows with activities, cases and file
/// names, and a few bytes an event, not with the rows.
///
/// # Errors
/// As [`formats::read`], `dfg::read_log` and `dfg::RankLogs::new`.
pub fn event_log(
    sources: &[Source],
    format: Option<&dyn Format>,
    options: &ReadOptions,
    plan: &Plan,
) -> Result<EventLog> {
    let mut log = EventLog::default();
    for part in parts(sources, format, options)? {
        let made = match part {
            Part::Stored(source) => {
                let (made, warnings) =
                    dfg::read_log(source.reader(options)?, plan, source.name(), options.limits.line_bytes)
                        .map_err(|e| e.in_file(source.name()))?;
                log.warnings.extend(warnings);
                vec![made]
            }
            Part::Traces(format, traces) => {
                let collectors = |parts| Collectors::new(plan, parts);
                pass(format, &traces, options, &collectors, &mut log.warnings)?
            }
        };
        for collectors in made {
            let (cases, skipped) = collectors.finish();
            log.cases.extend(cases);
            log.skipped.add(skipped);
        }
    }
    if log.skipped.interrupted > 0 {
        log.warnings.push(Warning::new(
            "interrupted-calls",
            format!("{} calls were interrupted and made again; they are no events", log.skipped.interrupted),
        ));
    }
    Ok(log)
}

/// The directly-follows graph of the rows of a trace, which need not be read again.
///
/// # Errors
/// As `dfg::RankLogs::new`, [`dfg::report`] and [`Trace::check`].
pub fn graph(trace: &Trace, plan: &Plan) -> Result<DfgReport> {
    trace.check()?;
    let (cases, skipped) = RankLogs::new(trace)?.collect(plan);
    dfg::report(&cases, skipped, plan, &Partition::default(), Vec::new())
}

/// Writes every call of all inputs as one event log, which [`event_log`] reads like any trace; gives the number of calls.
///
/// # Errors
/// As [`event_log`]; [`ErrorKind::Output`] if the log cannot be written, [`ErrorKind::Usage`] if an input is such a log.
pub fn save_log(
    sources: &[Source],
    format: Option<&dyn Format>,
    options: &ReadOptions,
    out: impl Write + Send,
) -> Result<u64> {
    let writer = LogWriter::new(out)?;
    // One thread writes the cases one after the other, so that the same inputs give the same bytes.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .map_err(|e| Error::new(ErrorKind::Io, format!("no thread can be started: {e}")))?;
    pool.install(|| {
        for part in parts(sources, format, options)? {
            match part {
                Part::Stored(source) => {
                    return Err(Error::new(ErrorKind::Usage, "this is an event log already").in_file(source.name()));
                }
                Part::Traces(format, traces) => {
                    let cases = |parts: Vec<(CaseId, Origin)>| writer.cases(parts.into_iter().map(|p| p.0));
                    pass(format, &traces, options, &cases, &mut Vec::new())?;
                }
            }
        }
        Ok(())
    })?;
    writer.finish()
}

/// Inputs that are read together.
enum Part<'a> {
    /// An event log.
    Stored(&'a Source),
    /// Traces of one format, with the input that each set of files belongs to.
    Traces(&'a dyn Format, Vec<(&'a Source, formats::Inputs)>),
}

/// Neighbours of one format go together: all files of a run have one calendar.
fn parts<'a>(sources: &'a [Source], format: Option<&'a dyn Format>, options: &ReadOptions) -> Result<Vec<Part<'a>>> {
    let mut parts: Vec<Part<'a>> = Vec::new();
    for source in sources {
        if format.is_none() && dfg::is_log(source.head()) {
            parts.push(Part::Stored(source));
            continue;
        }
        let (f, inputs) = formats::inputs(source, format, options).map_err(|e| e.in_file(source.name()))?;
        match parts.last_mut() {
            Some(Part::Traces(last, traces)) if last.name() == f.name() => traces.push((source, inputs)),
            _ => parts.push(Part::Traces(f, vec![(source, inputs)])),
        }
    }
    Ok(parts)
}

/// Gives the calls of all traces to sinks, each of which takes the cases it was made for.
fn pass<S: RowSink>(
    format: &dyn Format,
    traces: &[(&Source, formats::Inputs)],
    options: &ReadOptions,
    sink: &impl Fn(Vec<(CaseId, Origin)>) -> S,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<S>> {
    let options = ReadOptions { detail: Detail::Log, ..options.clone() };
    if format.logs_calls() {
        let files: Vec<Source> = traces.iter().flat_map(|(_, i)| i.files.iter().cloned()).collect();
        let cases = traces.iter().flat_map(|(input, i)| i.files.iter().map(move |f| (input, f))).map(|(input, f)| {
            let origin = Origin { input: input.name().to_owned(), file: f.name().to_owned() };
            (CaseId::of_file(f.file_name()), origin)
        });
        let sink = sink(cases.collect());
        warnings.extend(formats::give(format, &files, &options, &sink)?.warnings);
        warnings.extend(traces.iter().filter_map(|(_, i)| i.warning.clone()));
        return Ok(vec![sink]);
    }
    let mut sinks = Vec::new();
    for (source, _) in traces {
        let trace = formats::read(source, Some(format), &options)?;
        let logs = RankLogs::new(&trace)?;
        let sink = sink(logs.cases());
        logs.give(&sink)?;
        sinks.push(sink);
        warnings.extend(trace.warnings);
    }
    Ok(sinks)
}
