//! Which format is it?

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::folder::{Grouped, traces_among};
use super::format::{Format, Sniff};
use super::gate::Gate;
use super::limits::Limits;
use super::options::ReadOptions;
use super::sealed::Sealed;
use super::source::{Source, has_folders};
use super::{
    chrome, custom, darshan, dftracer, foreign, gekkofs, metric_proxy, radar, recorder, regex, samples, series, strace,
    tmio,
};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Batch, Data, Header, Job, MOST_NAME_BYTES, Restart, RowSink, Trace, Warning};
use crate::remedy::Remedy;

/// Every format that can be read, the most certain to probe first.
pub const ALL: &[&dyn Format] = &[
    &darshan::Darshan,
    &recorder::Recorder,
    &radar::Radar,
    &samples::SampledCounters,
    &chrome::Chrome,
    &dftracer::DfTracer,
    &tmio::Tmio,
    &gekkofs::GekkoFs,
    &metric_proxy::MetricProxy,
    &series::Series,
    &strace::Strace,
    &custom::Custom,
    &regex::Text,
];

impl Sealed for chrome::Chrome {}
impl Sealed for darshan::Darshan {}
impl Sealed for dftracer::DfTracer {}
impl Sealed for gekkofs::GekkoFs {}
impl Sealed for metric_proxy::MetricProxy {}
impl Sealed for radar::Radar {}
impl Sealed for recorder::Recorder {}
impl Sealed for regex::Text {}
impl Sealed for series::Series {}
impl Sealed for tmio::Tmio {}
impl Sealed for samples::SampledCounters {}
impl Sealed for strace::Strace {}
impl Sealed for custom::Custom {}

/// The format called `name`.
///
/// # Errors
/// [`ErrorKind::Usage`] with the list of names.
pub fn find(name: &str) -> Result<&'static dyn Format> {
    ALL.iter().copied().find(|f| f.name() == name).ok_or_else(|| {
        let names: Vec<_> = ALL.iter().map(|f| f.name()).collect();
        Error::new(ErrorKind::Usage, format!("unknown format {name}")).expected(format!("one of {}", names.join(", ")))
    })
}

/// The format of a file by its content: the first that is sure, else the first that thinks it possible.
///
/// # Errors
/// [`ErrorKind::Unsupported`]; [`mismatches`] gives the reasons.
pub fn probe(source: &Source) -> Result<&'static dyn Format> {
    probe_with(source, &[])
}

/// As [`probe`], with formats that are asked before those of this library.
fn probe_with(source: &Source, own: &[&'static dyn Format]) -> Result<&'static dyn Format> {
    let (mut possible, mut unsupported) = (None, None);
    let formats: &[&'static dyn Format] = if foreign::is_tar(source.head()) { &[] } else { ALL };
    for &format in own.iter().chain(formats) {
        match format.sniff(source.head()) {
            Sniff::Yes => return Ok(format),
            Sniff::Maybe => possible = possible.or(Some(format)),
            Sniff::Unsupported(why) => unsupported = unsupported.or(Some(why)),
            Sniff::No(_) => {}
        }
    }
    possible.ok_or_else(|| {
        if let Some(why) = source.spoiled() {
            return why.clone().in_file(source.name());
        }
        let error = |found: &'static str| Error::new(ErrorKind::Unsupported, found).in_file(source.name());
        match unsupported {
            _ if source.head().is_empty() => {
                error("an empty file").remedy("check whether the recorder was active and the disk had room")
            }
            Some(why) => error(why).remedy("convert it to CSV with the columns op, size, start"),
            None => match foreign::recognise(source.head()) {
                Some(known) => error(known.what).expected("a trace").remedy(known.remedy),
                None if is_text(source.head()) => match series::unknown_table(source.head()) {
                    Some(columns) => error("a table of no known tool").remedy(Remedy::NameColumns(columns)),
                    None => error("no known trace format").remedy(Remedy::GivePatterns),
                },
                None => error("no known trace format").remedy(Remedy::NameFormat),
            },
        }
    })
}

/// Opens a file or a folder, or standard input for `-`, with the default bounds; [`Source::open`] takes others.
///
/// # Errors
/// As [`Source::open`].
pub fn open(path: impl AsRef<Path>) -> Result<Source> {
    Source::open(path.as_ref(), &Limits::default())
}

/// Opens an input as [`Source::open`] does. Standard input in no known format is refused by its head, before the rest is read, unless
/// its format is `named`.
///
/// # Errors
/// As [`Source::open`] and [`probe`].
pub fn open_named(path: &Path, named: bool, limits: &Limits) -> Result<Source> {
    if named || path.as_os_str() != "-" {
        return Source::open(path, limits);
    }
    let look = |head: &Source| probe(head).map(|_| ());
    Source::from_reader("-", Box::new(io::stdin()), limits, look).map_err(|e| e.in_file("-"))
}

/// As [`open_named`], for a use that reads the input once: standard input is not kept, so that it may be of any size.
///
/// # Errors
/// As [`open_named`].
pub fn open_once(path: &Path, named: bool, limits: &Limits) -> Result<Source> {
    if path.as_os_str() != "-" {
        return Source::open(path, limits);
    }
    let look = |head: &Source| if named { Ok(()) } else { probe(head).map(|_| ()) };
    Source::once("-", Box::new(io::stdin()), limits, look).map_err(|e| e.in_file("-"))
}

/// Header and job from the first bytes of an input, also where the rest cannot be read; `None` if they do not say.
pub fn outline(source: &Source) -> Option<(&'static str, Header, Option<Job>)> {
    let format = ALL.iter().find(|f| f.sniff(source.head()) == Sniff::Yes)?;
    let (header, mut job) = format.outline(source.head())?;
    job.as_mut().map(Job::take_out_impossible_end);
    Some((format.name(), header, job))
}

/// The format of a file of a folder: the one that its content shows, unless it is to be read by patterns or by the names
/// of its columns, which any text may be.
pub(super) fn probe_member(
    source: &Source,
    named: Option<&dyn Format>,
    options: &ReadOptions,
) -> Result<&'static dyn Format> {
    let by_columns = options.series.columns.is_some() && is_text(source.head());
    match named {
        Some(f) if f.name() == regex::Text.name() => Ok(&regex::Text),
        Some(f) if f.name() == series::Series.name() && by_columns => Ok(&series::Series),
        _ => probe_with(source, options.own_formats),
    }
}

/// The format that is meant where none is named: text with patterns, a series with columns.
pub(super) fn named_by_options(options: &ReadOptions) -> Option<&'static dyn Format> {
    let by_columns = options.series.columns.as_ref().map(|_| &series::Series as &'static dyn Format);
    options.patterns.as_ref().map(|_| &regex::Text as &'static dyn Format).or(by_columns)
}

/// True for lines of text: no JSON, and no control characters but those of lines.
fn is_text(head: &[u8]) -> bool {
    let is_json = matches!(head.trim_ascii_start().first(), Some(b'{' | b'['));
    !is_json && head.iter().all(|&b| b >= b' ' || b.is_ascii_whitespace())
}

/// Features that each format expects and an input of no known format lacks: names of formats and reasons.
pub fn mismatches(source: &Source) -> Vec<(&'static str, &'static str)> {
    let reason = |format: &&'static dyn Format| match format.sniff(source.head()) {
        Sniff::No(why) | Sniff::Unsupported(why) => Some((format.name(), why)),
        _ => None,
    };
    ALL.iter().filter_map(reason).collect()
}

/// The files of an input that make one trace, and their format.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// The files: the input itself, or those of a folder that are of the format.
    pub files: Vec<Source>,
    /// Files of a folder that were left out.
    pub warning: Option<Warning>,
    /// Format of each job in a folder.
    pub jobs: Vec<&'static str>,
}

/// Finds out which files of a file or folder are to be read, of the named format or of the one that their content shows.
///
/// In a folder the first file of a known format decides; files of another format are left out with a warning.
///
/// # Errors
/// As [`Source::open`](super::Source::open) and [`probe`], each with the name of the input.
pub fn inputs<'f>(
    source: &Source,
    format: Option<&'f dyn Format>,
    options: &ReadOptions,
) -> Result<(&'f dyn Format, Inputs)> {
    let format = format.or(named_by_options(options).map(|f| f as &dyn Format));
    let Some(members) = source.members() else {
        let f = match format {
            Some(f) => f,
            None => probe_with(source, options.own_formats)?,
        };
        return Ok((f, Inputs { files: vec![source.clone()], warning: None, jobs: vec![f.name()] }));
    };
    let found = traces_among(members, format, options);
    if let Some(e) = found.unreadable.into_iter().next() {
        return Err(e);
    }
    let Some(f) = format.or(found.traces.first().map(|t| t.format)).filter(|_| !found.traces.is_empty()) else {
        let looked_at = format!("no trace in this folder ({} files looked at)", members.len());
        let error = |what: String| Error::new(ErrorKind::Unsupported, what).in_file(source.name());
        let mut opened = found.others.iter().filter_map(|path| Source::open(path, &options.limits).ok());
        let known = opened.find_map(|s| Some((s.file_name().to_owned(), foreign::recognise(s.head())?)));
        return Err(match known {
            Some((name, known)) => error(format!("{looked_at}; {name} is {}", known.what)).remedy(known.remedy),
            None if has_folders(Path::new(source.name())) => error(looked_at).remedy(Remedy::SearchFolder),
            None => error(looked_at),
        });
    };
    let jobs = found.traces.iter().map(|t| t.format.name()).collect();
    let (ours, foreign): (Vec<_>, Vec<_>) = found.traces.into_iter().partition(|t| t.format.name() == f.name());
    let mut others = found.others;
    others.extend(foreign.into_iter().flat_map(|t| t.files));
    let warning = others.first().map(|first| {
        let first = first.file_name().unwrap_or_default().to_string_lossy();
        let (n, name) = (others.len(), f.name());
        let message = format!("{n} files of the folder are no {name} traces and were left out, the first: {first}");
        Warning::new("other-files", message)
    });
    // a claimed file is known by its name, and its content need not look like anything
    let open = |t: &Grouped, path: &PathBuf| {
        if t.claimed { Source::stored_file(path) } else { Source::open(path, &options.limits) }
    };
    let files: Vec<Source> =
        ours.iter().flat_map(|t| t.files.iter().map(move |p| open(t, p))).collect::<Result<_>>()?;
    Ok((f, Inputs { files, warning, jobs }))
}

/// Reads a file or folder, of the named format or of the one that its content shows, as `inputs` finds it.
///
/// # Errors
/// As `inputs` and [`Format::read`], each with the name of the input; [`ErrorKind::Unsupported`] for a folder with several jobs;
/// [`ErrorKind::Limit`] for rows, or pairs of rank and file, beyond [`Limits::memory_bytes`](super::Limits::memory_bytes).
pub fn read(source: &Source, format: Option<&dyn Format>, options: &ReadOptions) -> Result<Trace> {
    let all = KeptRows::default();
    let trace = read_into(source, format, &for_kept_rows(options), &all)?;
    within_streams(all.in_trace(trace), options)
}

/// Reads a file or folder as [`read`] does, but gives the rows to a sink; the trace that is returned has none.
///
/// # Errors
/// As [`read`], and those of the sink.
pub fn read_into(
    source: &Source,
    format: Option<&dyn Format>,
    options: &ReadOptions,
    sink: &dyn RowSink,
) -> Result<Trace> {
    let (f, inputs) = inputs(source, format, options).map_err(|e| e.in_file(source.name()))?;
    if inputs.jobs.len() > 1 {
        return Err(several_jobs(&inputs.jobs).in_file(source.name()));
    }
    let mut trace = give(f, &inputs.files, options, sink).map_err(|e| e.in_file(source.name()))?;
    trace.warnings.extend(inputs.warning);
    trace.path = source.name().to_owned();
    if let Some(w) = source.compression().name() {
        trace.header.compression.get_or_insert_with(|| w.to_owned());
    }
    Ok(trace)
}

fn several_jobs(formats: &[&'static str]) -> Error {
    let mut names = formats.to_vec();
    names.sort_by_key(|name| ALL.iter().position(|f| f.name() == *name));
    let counts: Vec<String> = names.chunk_by(|a, b| a == b).map(|same| format!("{} {}", same.len(), same[0])).collect();
    Error::new(ErrorKind::Unsupported, format!("the folder holds {} traces: {}", formats.len(), counts.join(", ")))
        .remedy(Remedy::SearchFolder)
}

/// Reads files as one job of this format.
///
/// # Errors
/// As [`Format::read`].
pub fn collect(format: &dyn Format, sources: &[Source], options: &ReadOptions) -> Result<Trace> {
    let all = KeptRows::default();
    let trace = give(format, sources, &for_kept_rows(options), &all)?;
    within_streams(all.in_trace(trace), options)
}

/// Gives the rows of files, one job of this format, to a sink, with amounts and names within bounds; the trace that is returned has none.
///
/// # Errors
/// As [`Format::read`]; [`ErrorKind::Limit`] for bytes or names beyond the bounds.
pub fn give(format: &dyn Format, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
    let gate = Gate::new(sink);
    let mut trace = with_damage(sources, format.read(sources, options, &gate))?;
    if trace.files.are_too_many() {
        let most = format!("{} GiB of them", MOST_NAME_BYTES >> 30);
        return Err(Error::limit("the trace has more names of files", most));
    }
    if trace.job.as_mut().is_some_and(Job::take_out_impossible_end) {
        let message =
            "the trace does not say when the job ended, as that of a job that was killed: its run time is not known";
        trace.warnings.push(Warning::new("no-end-time", message));
    }
    let amounts = gate.clamped() + trace.counters.as_mut().map_or(0, |c| c.bring_into_range());
    if amounts > 0 {
        let message =
            format!("{amounts} sizes or counters are larger than any system has, and were brought into range");
        trace.quality.clamped += amounts;
        trace.warnings.push(Warning::new("clamped-records", message));
    }
    Warning::fold(&mut trace.warnings);
    Ok(trace)
}

/// The trace with a warning of each compressed file that is damaged: a format need not read to the end, and what it can do without it
/// does not miss. A warning of the one file's cut end gets the cause.
fn with_damage(sources: &[Source], read: Result<Trace>) -> Result<Trace> {
    let mut damaged = sources.iter().filter_map(|s| Some((s.file_name(), s.damage()?)));
    match read {
        Ok(mut trace) => {
            for (name, why) in damaged {
                if trace.warnings.iter().any(|w| w.message.contains(why)) {
                    continue;
                }
                match trace.warnings.iter_mut().find(|w| w.code == "damaged-tail" && sources.len() == 1) {
                    Some(cut) => cut.message = format!("{why}; {}", cut.message),
                    None => {
                        let message = format!("{name}: {why}; the records before it were kept");
                        trace.warnings.push(Warning::new("damaged-tail", message));
                    }
                }
            }
            Ok(trace)
        }
        Err(e) => match damaged.next() {
            Some((_, why)) if e.kind() != ErrorKind::Limit && !e.found().contains(why) => {
                Err(Error::new(e.kind(), format!("{why}; what came before cannot be read: {e}")))
            }
            _ => Err(e),
        },
    }
}

fn for_kept_rows(options: &ReadOptions) -> ReadOptions {
    options.clone().limits(options.limits.for_kept_rows())
}

fn within_streams(trace: Trace, options: &ReadOptions) -> Result<Trace> {
    let most = options.limits.streams();
    match trace.data.has_more_streams_than(most) {
        true => Err(Error::too_many_streams(most).in_file(&trace.path)),
        false => Ok(trace),
    }
}

/// Keeps the rows of a trace.
#[derive(Default)]
pub(super) struct KeptRows(Mutex<Data>);

impl KeptRows {
    /// The trace with them.
    pub(super) fn in_trace(self, trace: Trace) -> Trace {
        Trace { data: self.0.into_inner().unwrap_or_else(PoisonError::into_inner), ..trace }
    }
}

impl RowSink for KeptRows {
    fn keeps_rows(&self) -> bool {
        true
    }

    fn take(&self, batch: Batch<'_>) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).append(batch.rows.into_owned());
        Ok(())
    }

    fn restart(&self, _why: Restart) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Data::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for f in ALL {
            assert_eq!(find(f.name()).unwrap().name(), f.name());
            assert_eq!(ALL.iter().filter(|g| g.name() == f.name()).count(), 1);
        }
        assert_eq!(find("nonsense").err().unwrap().kind(), ErrorKind::Usage);
    }

    const ROWS: &[u8] = b"op,file,start,end,size\nwrite,a,0,1,1\nwrite,b,2,3,1\n";

    /// CSV with too many names.
    struct Named;

    impl Sealed for Named {}

    impl Format for Named {
        fn name(&self) -> &'static str {
            "named"
        }

        fn sniff(&self, _head: &[u8]) -> Sniff {
            Sniff::No("never")
        }

        fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
            let mut trace = find("custom")?.read(sources, options, sink)?;
            trace.files.use_up();
            Ok(trace)
        }
    }

    #[test]
    fn more_names_than_fit_in_memory_are_an_error() {
        let e = read(&Source::from_bytes("x", ROWS), Some(&Named), &ReadOptions::default()).unwrap_err();
        assert_eq!((e.kind(), e.path()), (ErrorKind::Limit, Some("x")), "{e}");
    }

    #[test]
    fn rows_that_are_kept_have_to_fit_in_memory() {
        let source = Source::from_bytes("x", format!("op,start,end,size\n{}", "write,0,1,1\n".repeat(32)));
        let within = |bytes| ReadOptions::default().limits(Limits::default().memory_bytes(bytes));
        assert!(read(&source, None, &within(32 * 48)).is_ok());
        let e = read(&source, None, &within(32 * 48 - 1)).unwrap_err();
        assert_eq!((e.kind(), e.suggestion()), (ErrorKind::Limit, Some(&Remedy::AllowMemory)), "{e}");

        struct Nowhere;
        impl RowSink for Nowhere {
            fn take(&self, _: Batch<'_>) -> Result<()> {
                Ok(())
            }
            fn restart(&self, _: Restart) {}
        }
        assert!(read_into(&source, None, &within(95), &Nowhere).is_ok());
    }

    #[test]
    fn ranks_in_files_that_are_followed_have_to_fit_in_memory() {
        let rows: String = (0..30).map(|i| format!("{i},write,{i},{},100\n", i + 1)).collect();
        let source = Source::from_bytes("x", format!("rank,op,start,end,size\n{rows}"));
        let within = |bytes| ReadOptions::default().limits(Limits::default().memory_bytes(bytes));
        assert!(read(&source, None, &within(30 << 10)).is_ok());
        let e = read(&source, None, &within(29 << 10)).unwrap_err();
        assert_eq!((e.kind(), e.suggestion()), (ErrorKind::Limit, Some(&Remedy::AllowMemory)), "{e}");
        assert!(e.to_string().contains("at most 29 pairs"), "{e}");
    }

    #[test]
    fn unknown_content_is_one_line_and_has_reasons() {
        let source = Source::from_bytes("x", *b"\x00\x01\x02 what is this");
        let e = probe(&source).err().unwrap();
        assert_eq!(e.kind(), ErrorKind::Unsupported);
        assert!(e.to_string().starts_with("x: no known trace format; "), "{e}");
        assert_eq!(mismatches(&source).len(), ALL.len());
        let bytes = probe(&Source::from_bytes("x", *b"rank,op,bytes,start,end\n0,write,9,0,1\n")).err().unwrap();
        assert!(bytes.to_string().starts_with("x: CSV whose header lacks one of the columns"), "{bytes}");
        let empty = probe(&Source::from_bytes("x", *b"")).err().unwrap();
        assert!(empty.to_string().starts_with("x: an empty file; "), "{empty}");
    }
}
