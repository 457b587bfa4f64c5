//! Access classes: how each rank walks through a file, how the job does, and which settings follow.
//!
//! ```
//! use iophase::analysis::Selection;
//! use iophase::classify::{Options, classify};
//!
//! let trace = iophase::read("data/stable.darshan")?;
//! let classes = classify(&trace, &Selection::default(), Options::default())?;
//! assert!(classes.files.iter().all(|file| !file.global.is_empty()));
//! # Ok::<(), iophase::Error>(())
//! ```
//!
//! After Madhyastha & Reed, "Exploiting Global Input/Output Access Pattern Classification" (SC 1997). An automaton follows
//! back-to-back accesses and nested strides and cuts the accesses of a rank to a file into segments of one local class.
//! Segments of several ranks that overlap in time have a global class. Its mix and size are the meets of the local ones; its
//! sequentiality follows from the bytes. Each global class brings advice.
//!
//! Three classifiers assign the local classes ([`Choice`]): the rules of the automaton, a network that sees the first accesses
//! of each segment, and a Markov model of earlier runs ([`Model`]) that knows the classes before the first access.
//!
//! If a rank uses several sizes or both directions, each size class is also followed on its own, so that a library's metadata
//! accesses do not decide the class of the data. They are counted separately ([`Aside`]).
//!
//! Cost: constant time per access inside a pattern; memory grows with the segments, not with the accesses.

mod access;
mod advice;
mod extent;
mod global;
mod group;
mod lattice;
mod markov;
mod metadata_filter;
mod network;
mod report;
mod size_class;
mod sketch;
mod stream;
pub(crate) mod thresholds;
mod time;

use std::collections::{HashMap, HashSet};
use std::num::NonZero;

use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::record::{BATCH_ROWS, Batch, Data, FileId, Op, Timing, Trace, UNKNOWN_OFFSET, Warning, sort_by_number};
use crate::remedy::Remedy;
use crate::signal::{Mode, RowFilter, Selection};

pub(crate) use self::advice::{is_hdf5_name, lfs_folder, lfs_size, size as binary_size};
pub use global::GlobalSequentiality;
pub(crate) use lattice::Axis;
pub use lattice::{Mix, Sequentiality, Size};
pub use markov::Model;
internal! { use markov::MODEL_SCHEMA; }
internal! { use network::training_features; }
pub use report::{Advice, Aside, Classes, Classifier, Expected, ExpectedClass, FileClasses, GlobalClass, LocalClass};
internal! { use report::CLASSES_SCHEMA; }
internal! { use sketch::Sketch; }
pub(crate) use sketch::SketchedAccess;

use access::{Access, Settings, Voting};
use group::Local;
use markov::TrainingSample;
use metadata_filter::RankSegments;
use size_class::SizeClassStreams;
use sketch::Sketcher;

/// Which classifier is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Choice {
    /// The rules. Without order or with too few accesses, the model, if there is one that knows the file; else the network.
    #[default]
    Auto,
    /// Only the rules.
    Rules,
    /// The network classifies every segment.
    Network,
    /// Only the model. Files that it does not know have no global class.
    Markov,
}

options! {
    /// Options of [`classify`].
    #[derive(Debug, Clone, Copy)]
    pub struct Options<'m> {
        /// Transfers that are classified.
        pub mode: Mode,
        /// Accesses that are collected when one does not fit, and then cut into segments.
        pub window: usize,
        /// Stripe unit in bytes of files whose layout the trace does not have; requests below it are small.
        pub stripe: u64,
        /// Which classifier is used.
        pub choice: Choice,
        /// Model of earlier runs.
        pub model: Option<&'m Model>,
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { mode: Mode::All, window: 10, stripe: 1 << 20, choice: Choice::Auto, model: None }
    }
}

impl Options<'_> {
    /// Settings for a file, given its stripe unit if that is known.
    fn settings(&self, stripe: Option<u64>) -> Settings {
        let voting = match self.choice {
            Choice::Auto => Voting::IfIrregular(network::vote),
            Choice::Network => Voting::Always(network::vote),
            Choice::Rules | Choice::Markov => Voting::Never,
        };
        Settings { window: self.window.max(2), stripe: stripe.unwrap_or(self.stripe).max(1), voting }
    }
}

/// Classifies the accesses of a trace, file by file.
///
/// # Errors
/// [`ErrorKind::Empty`] if no access with an offset is left; [`ErrorKind::Usage`] for [`Choice::Markov`] without a model. Those of
/// [`Trace::check`].
pub fn classify(trace: &Trace, selection: &Selection, options: Options<'_>) -> Result<Classes> {
    classify_rows(trace, selection, options, false).map(|(classes, _)| classes)
}

/// As [`classify`], with a sketch of the accesses to each file for pictures, in the order of [`Classes::files`].
///
/// # Errors
/// As [`classify`].
pub(crate) fn classify_and_sketch(
    trace: &Trace,
    selection: &Selection,
    options: Options<'_>,
) -> Result<(Classes, Vec<Sketch>)> {
    classify_rows(trace, selection, options, true)
}

fn classify_rows(
    trace: &Trace,
    selection: &Selection,
    options: Options<'_>,
    draw: bool,
) -> Result<(Classes, Vec<Sketch>)> {
    trace.check()?;
    Reader::new(selection, options, draw).whole(&trace.as_batch()).finish(trace)
}

/// The access classes of `files` only; empty if their requests have no offsets.
///
/// # Errors
/// Those of [`Trace::check`].
pub(crate) fn classify_files(trace: &Trace, files: &HashSet<FileId>, options: Options<'_>) -> Result<Vec<FileClasses>> {
    trace.check()?;
    let selection = Selection::default();
    let reader = Reader::new(&selection, options, false).only(files).whole(&trace.as_batch());
    if reader.streams() == 0 { Ok(Vec::new()) } else { Ok(reader.finish(trace)?.0.files) }
}

/// Adds a run to a model of earlier runs. Returns the number of files learned from it.
///
/// # Errors
/// As [`classify`].
pub fn train(trace: &Trace, selection: &Selection, options: Options<'_>, model: &mut Model) -> Result<usize> {
    trace.check()?;
    let options = Options { choice: Choice::Rules, model: None, ..options };
    let batch = trace.as_batch();
    let reader = Reader::new(selection, options, false).whole(&batch);
    let ordered = reader.ordered;
    let mut trainer = reader.train(trace)?;
    if ordered {
        trainer.take_rows(&batch, by_time(&batch.rows));
    } else {
        trainer.take(&batch);
    }
    Ok(trainer.finish(model))
}

/// Learns from a second pass over the rows of a trace; see [`Reader::train`].
pub(crate) struct Trainer<'s> {
    filter: RowFilter<'s>,
    samples: Vec<(String, TrainingSample)>,
    index: HashMap<String, usize>,
    /// The sample of each file of this pass.
    sample_of: Vec<Option<usize>>,
}

impl Trainer<'_> {
    /// Takes the next rows; file numbers may differ from those of the first pass.
    pub fn take(&mut self, batch: &Batch<'_>) {
        self.take_rows(batch, 0..batch.rows.len());
    }

    fn take_rows(&mut self, batch: &Batch<'_>, order: impl IntoIterator<Item = usize>) {
        self.filter.learn(batch.files, batch.origin_s);
        let known = batch.files.iter().skip(self.sample_of.len());
        self.sample_of.extend(known.map(|(_, name)| self.index.get(name).copied()));
        accesses(&batch.rows, order, &self.filter, |file, rank, access| {
            if let Some(Some(i)) = self.sample_of.get(file.0 as usize) {
                self.samples[*i].1.see(rank, &access);
            }
        });
    }

    /// Adds the samples to a model; returns the number of files.
    pub fn finish(self, model: &mut Model) -> usize {
        let count = self.samples.len();
        model.learn(self.samples);
        count
    }
}

/// Slots of [`Reader::latest`].
const MOST_LATEST: u32 = 1 << 16;

/// The accesses of one rank to one file.
struct Followed {
    rank: u32,
    /// Stripe unit of the file, if it is known.
    stripe: Option<NonZero<u64>>,
    /// Start and end of the last access.
    last_s: (f64, f64),
    streams: Held,
    sketcher: Option<Box<Sketcher>>,
}

/// Accesses, kept as they are while they are few: a job of a million files with one access each has a million of these.
enum Held {
    Few(Vec<Access>),
    Many(Box<SizeClassStreams>),
}

impl Held {
    /// Accesses that take less memory than what follows them.
    const FEW: usize = 8;

    fn push(&mut self, access: Access, settings: Settings) {
        match self {
            Held::Few(few) if few.len() < Self::FEW => {
                // most files have one
                few.reserve_exact(if few.is_empty() { 1 } else { 0 });
                few.push(access);
            }
            Held::Few(few) => {
                let mut streams = Self::follow(std::mem::take(few), settings);
                streams.push(access, settings);
                *self = Held::Many(streams);
            }
            Held::Many(streams) => streams.push(access, settings),
        }
    }

    fn follow(few: Vec<Access>, settings: Settings) -> Box<SizeClassStreams> {
        let mut streams: Box<SizeClassStreams> = Box::default();
        few.into_iter().for_each(|a| streams.push(a, settings));
        streams
    }

    fn into_streams(self, settings: Settings) -> Box<SizeClassStreams> {
        match self {
            Held::Few(few) => Self::follow(few, settings),
            Held::Many(streams) => streams,
        }
    }
}

/// Classifies a trace whose rows come in batches. Memory grows with pairs of file and rank and with their segments, not with
/// rows.
pub(crate) struct Reader<'s, 'm> {
    options: Options<'m>,
    filter: RowFilter<'s>,
    draw: bool,
    all: Vec<(FileId, Followed)>,
    place: HashMap<(FileId, u32), usize>,
    /// The last file of each rank, a cache: neighbouring accesses are of many ranks but seldom of many files.
    latest: Vec<Option<(FileId, usize)>>,
    /// All rows, those classified, and those that lack only an offset.
    rows: u64,
    records: u64,
    unplaced: u64,
    /// Accesses that begin before the one above them of the same rank and file.
    disorder: u64,
    /// Those that begin and end with it.
    ties: u64,
    /// The rows were put in order.
    ordered: bool,
}

impl<'s, 'm> Reader<'s, 'm> {
    /// For the rows that a selection keeps; `draw`: also sketch the accesses.
    pub fn new(selection: &'s Selection, options: Options<'m>, draw: bool) -> Self {
        Self::with(RowFilter::new(options.mode, selection), options, draw)
    }

    fn with(filter: RowFilter<'s>, options: Options<'m>, draw: bool) -> Self {
        Self {
            options,
            filter,
            draw,
            all: Vec::new(),
            place: HashMap::new(),
            latest: Vec::new(),
            rows: 0,
            records: 0,
            unplaced: 0,
            disorder: 0,
            ties: 0,
            ordered: false,
        }
    }

    /// For these files only.
    fn only(self, files: &'s HashSet<FileId>) -> Self {
        Self { filter: self.filter.only(Some(files)), ..self }
    }

    /// Takes all rows of a trace, in the order of their times if they come in another one.
    fn whole(self, all: &Batch<'_>) -> Self {
        let (filter, options, draw) = (self.filter.again(), self.options, self.draw);
        let mut reader = self;
        let mut from = 0;
        while from < all.rows.len() && reader.disorder == 0 {
            let to = all.rows.len().min(from + BATCH_ROWS);
            reader.take_rows(all, from..to);
            from = to;
        }
        if reader.disorder > 0 {
            reader = Self { ordered: true, ..Self::with(filter, options, draw) };
            reader.take_rows(all, by_time(&all.rows));
        }
        reader
    }

    /// Accesses so far that begin before the one above them of the same rank and file: the classes of rows in another order differ.
    pub fn out_of_order(&self) -> u64 {
        self.disorder
    }

    /// Pairs of file and rank so far.
    pub fn streams(&self) -> usize {
        self.all.len()
    }

    /// Takes the next rows.
    pub fn take(&mut self, batch: &Batch<'_>) {
        self.take_rows(batch, 0..batch.rows.len());
    }

    fn take_rows(&mut self, batch: &Batch<'_>, order: impl ExactSizeIterator<Item = usize>) {
        let Self { options, filter, draw, all, place, latest, rows, records, unplaced, disorder, ties, .. } = self;
        filter.learn(batch.files, batch.origin_s);
        *rows += order.len() as u64;
        *unplaced += accesses(&batch.rows, order, filter, |file, rank, access| {
            *records += 1;
            let slot = (rank % MOST_LATEST) as usize;
            if slot >= latest.len() {
                latest.resize(slot + 1, None);
            }
            let at = match latest[slot] {
                Some((f, at)) if f == file && all[at].1.rank == rank => at,
                _ => *place.entry((file, rank)).or_insert_with(|| {
                    let stripe = batch.files.stripe(file).and_then(NonZero::new);
                    let (streams, sketcher) = (Held::Few(Vec::new()), draw.then(Box::default));
                    let last_s = (f64::NEG_INFINITY, f64::NEG_INFINITY);
                    all.push((file, Followed { rank, stripe, last_s, streams, sketcher }));
                    all.len() - 1
                }),
            };
            latest[slot] = Some((file, at));
            let followed = &mut all[at].1;
            let time_s = (access.start, access.end);
            *disorder += u64::from(time_s.0 < followed.last_s.0);
            *ties += u64::from(time_s == followed.last_s);
            followed.last_s = time_s;
            followed.streams.push(access, options.settings(followed.stripe.map(NonZero::get)));
            if let Some(s) = &mut followed.sketcher {
                s.push(&access);
            }
        });
    }

    /// The classes of all rows, and a sketch of each file if asked for; name, files and warnings are those of `trace`.
    ///
    /// # Errors
    /// As [`classify`].
    pub fn finish(self, trace: &Trace) -> Result<(Classes, Vec<Sketch>)> {
        let options = self.options;
        if options.choice == Choice::Markov && options.model.is_none() {
            return Err(Error::new(ErrorKind::Usage, "the Markov classifier needs a model of earlier runs")
                .remedy(Remedy::TrainModel));
        }
        let (records, unplaced, order) = (self.records, self.unplaced, self.warning_of_order());
        let origin = trace.origin_s as f64;
        let mut judged: Vec<(FileClasses, Sketch)> = self
            .files(trace)?
            .into_par_iter()
            .map(|(id, ranks)| {
                let name = (id != FileId::NONE).then(|| trace.files.name(id).to_owned());
                let (all, sketch) = finish(ranks, options, origin);
                let settings = options.settings(trace.files.stripe(id));
                (of_file(name, all, options, settings, origin), sketch)
            })
            .collect();
        let begins = |f: &FileClasses| f.local.iter().map(|l| l.start_s).fold(f64::INFINITY, f64::min);
        judged.sort_by(|(a, _), (b, _)| begins(a).total_cmp(&begins(b)).then_with(|| a.file.cmp(&b.file)));
        let (files, sketches): (Vec<FileClasses>, Vec<Sketch>) = judged.into_iter().unzip();
        let mut warnings = trace.warnings.clone();
        if unplaced > 0 {
            let message = format!("{unplaced} accesses without an offset are in no class");
            warnings.push(Warning::new("no-offset", message));
        }
        warnings.extend(order);
        let unknown = files.iter().filter(|f| f.expected.is_none()).count();
        if options.model.is_some() && unknown > 0 {
            let message = format!("the model does not know {unknown} of {} files", files.len());
            warnings.push(Warning::new("not-in-model", message));
        }
        let mut classes = Classes {
            schema: CLASSES_SCHEMA.into(),
            path: trace.path.clone(),
            records,
            files,
            advice: Vec::new(),
            warnings,
        };
        if trace.timing == Timing::Order {
            classes.without_times();
            return Ok((classes, Vec::new()));
        }
        Ok((classes, sketches))
    }

    fn warning_of_order(&self) -> Option<Warning> {
        let what = match (self.disorder, self.ties) {
            (0, n @ 1..) if self.ordered => {
                format!("rows came out of order, and {n} have the times of another one of their rank and file")
            }
            (n @ 1.., _) => {
                format!("{n} rows begin before the one above them, and there are too many rows to order them")
            }
            _ => return None,
        };
        let message = format!("{what}: in the order in which they were written the classes may differ");
        Some(Warning::new("rows-out-of-order", message).remedy(Remedy::SortRows))
    }

    /// Prepares to learn from the same rows in a second pass.
    ///
    /// # Errors
    /// As [`classify`].
    pub fn train(self, trace: &Trace) -> Result<Trainer<'s>> {
        let (filter, options) = (self.filter.again(), self.options);
        let samples: Vec<(String, TrainingSample)> = self
            .files(trace)?
            .into_par_iter()
            .filter(|(id, _)| *id != FileId::NONE)
            .map(|(id, ranks)| {
                let (all, _) = finish(ranks, options, 0.0);
                let all: Vec<Local> = all.into_iter().flat_map(RankSegments::into_whole).collect();
                (trace.files.name(id).to_owned(), TrainingSample::of(&all))
            })
            .collect();
        let index = samples.iter().enumerate().map(|(i, l)| (l.0.clone(), i)).collect();
        Ok(Trainer { filter, samples, index, sample_of: Vec::new() })
    }

    /// The accesses of each rank, by file.
    fn files(self, trace: &Trace) -> Result<Vec<(FileId, Vec<Followed>)>> {
        if self.all.is_empty() {
            let empty = || trace.why_no_rows().filter(|_| self.rows == 0).map(|w| w.message.clone());
            let found = match trace.why_no_requests().or_else(empty) {
                Some(why) => format!("nothing to classify: {why}"),
                None if self.rows == 0 => "nothing to classify: the trace holds no read or write".to_owned(),
                None if self.unplaced > 0 => {
                    format!("nothing to classify: none of {} accesses has an offset", self.unplaced)
                }
                None => format!("no data left after filtering: no read or write among {} records", self.rows),
            };
            let remedy =
                "classes need offsets: Darshan with DXT, strace or records have them, phases and counters do not";
            return Err(Error::new(ErrorKind::Empty, found).remedy(remedy).in_file(&trace.path));
        }
        let mut files: Vec<(FileId, Vec<Followed>)> = Vec::new();
        let mut place: HashMap<FileId, usize> = HashMap::new();
        drop(self.place);
        for (file, followed) in self.all {
            let i = *place.entry(file).or_insert_with(|| {
                // most files of a million have one rank
                files.push((file, Vec::with_capacity(1)));
                files.len() - 1
            });
            files[i].1.push(followed);
        }
        Ok(files)
    }
}

/// The rows in the order of their times; of equal times by their places, so that it does not depend on the order of the rows.
fn by_time(rows: &Data) -> impl ExactSizeIterator<Item = usize> + use<> {
    let mut order: Vec<u32> = Vec::new();
    if let Data::Requests(rows) = rows {
        order.extend(0..u32::try_from(rows.len()).unwrap_or(u32::MAX));
        let place = |i: usize| (rows.offset.get(i), rows.size.get(i), rows.op.get(i));
        let of_one_start = |a: u32, b: u32| {
            let (a, b) = (a as usize, b as usize);
            rows.end[a].total_cmp(&rows.end[b]).then_with(|| place(a).cmp(&place(b)))
        };
        sort_by_number(&mut order, |i| rows.start[i as usize], of_one_start);
    }
    order.into_iter().map(|i| i as usize)
}

/// Calls `each` with every selected access that moves bytes and has an offset, in this order of the rows. Returns the number
/// of those without an offset.
fn accesses(
    rows: &Data,
    order: impl IntoIterator<Item = usize>,
    filter: &RowFilter<'_>,
    mut each: impl FnMut(FileId, u32, Access),
) -> u64 {
    let Data::Requests(rows) = rows else { return 0 };
    let mut unplaced = 0;
    for i in order {
        let (offset, size) = (rows.offset.get(i), rows.size.get(i));
        if size == 0 || !filter.keeps_request(rows, i) {
            continue;
        }
        if offset == UNKNOWN_OFFSET {
            unplaced += 1;
            continue;
        }
        let write = rows.op.get(i) == Op::Write;
        each(
            rows.file.get(i),
            rows.rank.get(i),
            Access { write, offset, size, start: rows.start[i], end: rows.end[i] },
        );
    }
    unplaced
}

/// The segments of each rank, by rank, and the sketch of their accesses.
fn finish(mut ranks: Vec<Followed>, options: Options<'_>, origin: f64) -> (Vec<RankSegments>, Sketch) {
    ranks.sort_by_key(|r| r.rank);
    let mut drawn = Vec::new();
    let each = ranks.into_iter().map(|Followed { rank, stripe, streams, sketcher, .. }| {
        let settings = options.settings(stripe.map(NonZero::get));
        drawn.extend(sketcher.map(|s| (rank, *s)));
        let (whole, by_size) = streams.into_streams(settings).finish(settings);
        RankSegments { rank, whole, by_size }
    });
    let all = each.collect();
    (all, Sketch::of(drawn, origin))
}

fn of_file(
    file: Option<String>,
    ranks: Vec<RankSegments>,
    options: Options<'_>,
    settings: Settings,
    origin: f64,
) -> FileClasses {
    let name = file.as_deref();
    let predicted = options.model.zip(name).and_then(|(model, name)| model.predict(name, settings));
    let judged = metadata_filter::judge(ranks);
    let mut local = group::locals(&judged.locals, origin);
    let mut global = match (options.choice, &predicted) {
        (Choice::Markov, Some(f)) => f.as_classes(&judged.locals, origin),
        (Choice::Markov, None) => Vec::new(),
        _ => group::globals(&judged.groups, &judged.locals, name, settings, origin),
    };
    if let (Choice::Auto, Some(f)) = (options.choice, &predicted) {
        f.replace_undecided(&mut global);
    }
    advice::settle(&mut global);
    local.shrink_to_fit();
    global.shrink_to_fit();
    FileClasses { file, local, global, aside: judged.aside, expected: predicted.map(|f| f.expected) }
}
