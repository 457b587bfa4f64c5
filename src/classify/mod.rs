//! Access classes: what each rank does to a file, what the job does to it, and what to set because of it.
//!
//! After Madhyastha & Reed, "Exploiting Global Input/Output Access Pattern Classification" (SC 1997). The accesses of a rank
//! to a file are cut into stretches of one local class ([`stream`](self)); stretches of several ranks that overlap in time
//! have a global class: the meet of the local ones on the axes of mix and size ([`lattice`]), and for sequentiality what
//! the bytes say. Each global class brings advice.
//!
//! Cost: constant time an access while it follows a pattern; memory for the stretches, not for the accesses.

mod advice;
mod extent;
mod global;
mod lattice;
mod nest;
mod report;
mod stream;
mod time;

use std::collections::HashMap;

use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::record::{Data, FileId, Op, Trace, UNKNOWN_OFFSET, Warning};
use crate::signal::Selection;

pub use global::GlobalSequentiality;
pub use lattice::{Axis, Known, Mix, Sequentiality, Size};
pub use report::{Advice, CLASSES_SCHEMA, Classes, FileClasses, GlobalClass, LocalClass};

use advice::Situation;
use extent::Extent;
use stream::{Access, Rules, Stream, Stretch};

/// What [`classify`] may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Accesses that decide what follows when one does not fit.
    pub window: usize,
    /// Requests below this many bytes are small: the stripe unit of the file system.
    pub stripe: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { window: 10, stripe: 1 << 20 }
    }
}

/// One rank's stretch.
struct Local {
    rank: u32,
    stretch: Stretch,
}

/// Classifies the accesses of a trace, file by file.
///
/// # Errors
/// [`ErrorKind::Empty`] if no access with an offset is left.
pub fn classify(trace: &Trace, selection: &Selection, options: Options) -> Result<Classes> {
    let rules = Rules { window: options.window.max(2), stripe: options.stripe.max(1) };
    let (streams, records, unplaced) = streams(trace, selection, rules);
    if streams.is_empty() {
        let found = if unplaced > 0 {
            format!("nothing to classify: none of {unplaced} accesses has an offset")
        } else {
            format!("nothing to classify: no read or write is left of {} records", trace.data.len())
        };
        let remedy = "classes need offsets: Darshan with DXT, strace or records have them, phases and counters do not";
        return Err(Error::new(ErrorKind::Empty, found).remedy(remedy).in_file(&trace.path));
    }
    let mut files: Vec<(FileId, Vec<(u32, Stream)>)> = Vec::new();
    let mut place: HashMap<FileId, usize> = HashMap::new();
    for ((file, rank), stream) in streams {
        let i = *place.entry(file).or_insert_with(|| {
            files.push((file, Vec::new()));
            files.len() - 1
        });
        files[i].1.push((rank, stream));
    }
    let origin = trace.origin_s as f64;
    let files = files
        .into_par_iter()
        .map(|(id, mut ranks)| {
            ranks.sort_by_key(|r| r.0);
            let name = (id != FileId::NONE).then(|| trace.files.name(id).to_owned());
            of_file(name, ranks, rules, origin)
        })
        .collect();
    let mut warnings = trace.warnings.clone();
    if unplaced > 0 {
        let message = format!("{unplaced} accesses without an offset are in no class");
        warnings.push(Warning::new("no-offset", message));
    }
    Ok(Classes { schema: CLASSES_SCHEMA.into(), path: trace.path.clone(), records, files, warnings })
}

type Streams = Vec<((FileId, u32), Stream)>;

/// The accesses of each rank to each file, in the order of the input: streams, accesses in them, accesses without offset.
fn streams(trace: &Trace, selection: &Selection, rules: Rules) -> (Streams, u64, u64) {
    let Data::Requests(r) = &trace.data else { return (Vec::new(), 0, 0) };
    let origin = trace.origin_s as f64;
    let from = selection.from_s.map_or(f64::NEG_INFINITY, |t| t - origin);
    let until = selection.until_s.map_or(f64::INFINITY, |t| t - origin);
    let keep_file: Vec<bool> = trace
        .files
        .iter()
        .map(|(id, name)| {
            (selection.all_files || !trace.files.is_system(id))
                && selection.files.as_ref().is_none_or(|x| x.is_match(name))
        })
        .collect();
    let keeps = |file: FileId| match keep_file.get(file.0 as usize) {
        Some(&keep) if file != FileId::NONE => keep,
        _ => selection.files.is_none(),
    };
    let mut streams: Streams = Vec::new();
    let mut place: HashMap<(FileId, u32), usize> = HashMap::new();
    let mut latest: Option<((FileId, u32), usize)> = None;
    let (mut records, mut unplaced) = (0, 0);
    for i in 0..r.len() {
        let (op, rank, file) = (r.op.get(i), r.rank.get(i), r.file.get(i));
        if !op.moves_bytes() || selection.ranks.as_ref().is_some_and(|s| !s.contains(rank)) || !keeps(file) {
            continue;
        }
        let (offset, size) = (r.offset.get(i), r.size.get(i));
        if r.start[i] < from || r.start[i] >= until || size == 0 {
            continue;
        }
        if offset == UNKNOWN_OFFSET {
            unplaced += 1;
            continue;
        }
        records += 1;
        let key = (file, rank);
        let at = match latest {
            Some((k, at)) if k == key => at,
            _ => *place.entry(key).or_insert_with(|| {
                streams.push((key, Stream::default()));
                streams.len() - 1
            }),
        };
        latest = Some((key, at));
        let access = Access { write: op == Op::Write, offset, size, start: r.start[i], end: r.end[i] };
        streams[at].1.push(access, rules);
    }
    (streams, records, unplaced)
}

fn of_file(file: Option<String>, ranks: Vec<(u32, Stream)>, rules: Rules, origin: f64) -> FileClasses {
    let mut all: Vec<Local> = Vec::new();
    for (rank, stream) in ranks {
        all.extend(stream.finish_all(rules).into_iter().map(|stretch| Local { rank, stretch }));
    }
    let global = globals(&all, file.as_deref(), rules, origin);
    FileClasses { file, local: locals(&all, origin), global }
}

/// Local classes, equal neighbours of a rank joined.
fn locals(all: &[Local], origin: f64) -> Vec<LocalClass> {
    let mut out: Vec<LocalClass> = Vec::new();
    for Local { rank, stretch: s } in all {
        let next = LocalClass {
            rank: *rank,
            start_s: origin + s.start_s,
            end_s: origin + s.end_s,
            mix: s.mix,
            sequentiality: s.sequentiality,
            size: s.size,
            accesses: s.accesses,
            start_offset: s.extent.hull.0,
            end_offset: s.extent.hull.1,
        };
        match out.last_mut() {
            Some(l) if (l.rank, l.mix, l.sequentiality, l.size) == (*rank, s.mix, s.sequentiality, s.size) => {
                l.end_s = l.end_s.max(next.end_s);
                l.accesses += next.accesses;
                l.start_offset = l.start_offset.min(next.start_offset);
                l.end_offset = l.end_offset.max(next.end_offset);
            }
            _ => out.push(next),
        }
    }
    out
}

/// Stretches with one global class.
struct Group {
    members: Vec<usize>,
    ranks: Vec<u32>,
    start_s: f64,
    end_s: f64,
    mix: Mix,
    size: Size,
    local: Sequentiality,
    class: GlobalSequentiality,
    staggered: bool,
}

impl Group {
    fn of(all: &[Local], members: Vec<usize>, span: (f64, f64), staggered: bool) -> Self {
        // a rank's further stretches at the same moment say no more than its longest one
        let mut by_rank: Vec<usize> = members.clone();
        by_rank.sort_by_key(|&i| (all[i].rank, std::cmp::Reverse(all[i].stretch.accesses)));
        by_rank.dedup_by_key(|i| all[*i].rank);
        let parts: Vec<(Sequentiality, &Extent)> =
            by_rank.iter().map(|&i| (all[i].stretch.sequentiality, &all[i].stretch.extent)).collect();
        let stretches = || members.iter().map(|&i| &all[i].stretch);
        Self {
            ranks: by_rank.iter().map(|&i| all[i].rank).collect(),
            start_s: span.0,
            end_s: span.1,
            mix: stretches().map(|s| s.mix).reduce(Axis::meet).unwrap_or(Mix::LEAST),
            size: stretches().map(|s| s.size).reduce(Axis::meet).unwrap_or(Size::LEAST),
            local: parts.iter().map(|p| p.0).reduce(Axis::meet).unwrap_or(Sequentiality::LEAST),
            class: global::classify(&parts),
            staggered,
            members,
        }
    }

    /// Both as one, if the ranks of `next` do the same as those of this group, one after the other.
    fn staggered_with(&self, next: &Group, all: &[Local]) -> Option<Group> {
        use GlobalSequentiality as G;
        let alike = (self.mix, self.size, self.local) == (next.mix, next.size, next.local);
        let one_each = |g: &Group| g.members.len() == g.ranks.len();
        let apart = next.ranks.iter().all(|r| self.ranks.binary_search(r).is_err());
        if !alike || !one_each(self) || !one_each(next) || !apart {
            return None;
        }
        let members = self.members.iter().chain(&next.members).copied().collect();
        let span = (self.start_s.min(next.start_s), self.end_s.max(next.end_s));
        let joined = Group::of(all, members, span, true);
        // some of the ranks alone leave gaps that the others fill
        let part = |g: &Group| {
            g.class == G::SingleRank
                || g.class == joined.class
                || joined.class == G::InterleavedSequential
                    && matches!(g.class, G::GlobalStrided | G::PartitionedStrided)
        };
        let ordered = joined.class != G::NonSequential || self.local == Sequentiality::NonSequential;
        (part(self) && part(next) && ordered).then_some(joined)
    }
}

fn globals(all: &[Local], file: Option<&str>, rules: Rules, origin: f64) -> Vec<GlobalClass> {
    let spans: Vec<(f64, f64)> = all.iter().map(|l| (l.stretch.start_s, l.stretch.end_s)).collect();
    let mut groups: Vec<Group> = Vec::new();
    for set in time::overlaps(&spans) {
        let group = Group::of(all, set.members, (set.start_s, set.end_s), false);
        match groups.last().and_then(|last| last.staggered_with(&group, all)) {
            Some(joined) => {
                groups.pop();
                groups.push(joined);
            }
            None => groups.push(group),
        }
    }
    let mut out: Vec<GlobalClass> = Vec::new();
    let mut from = 0;
    while from < groups.len() {
        let key = |g: &Group| (g.mix, g.size, g.class, g.staggered);
        let same = |g: &&Group| key(g) == key(&groups[from]) && g.ranks == groups[from].ranks;
        let to = from + groups[from..].iter().take_while(same).count();
        out.push(joined(&groups[from..to], all, file, rules, origin));
        from = to;
    }
    out
}

/// One entry for neighbouring groups of the same ranks and class.
fn joined(groups: &[Group], all: &[Local], file: Option<&str>, rules: Rules, origin: f64) -> GlobalClass {
    let (first, last) = (&groups[0], &groups[groups.len() - 1]);
    let members = || groups.iter().flat_map(|g| &g.members).map(|&i| &all[i].stretch);
    let bytes = members().fold(0u64, |sum, s| sum.saturating_add(s.extent.bytes));
    let low = members().map(|s| s.extent.hull.0).min().unwrap_or(0);
    let high = members().map(|s| s.extent.hull.1).max().unwrap_or(0);
    let starts: Vec<u64> = members().map(|s| s.extent.hull.0).collect();
    let per_rank = bytes / first.ranks.len().max(1) as u64;
    let own = first.members.iter().map(|&i| all[i].stretch.extent.length()).max().unwrap_or(0);
    let situation = Situation {
        file,
        ranks: first.ranks.len(),
        class: first.class,
        mix: first.mix,
        size: first.size,
        sizes: (members().map(|s| s.sizes.0).min().unwrap_or(0), members().map(|s| s.sizes.1).max().unwrap_or(0)),
        accesses: members().map(|s| s.accesses).sum(),
        bytes,
        span: high - low,
        starts: &starts,
        again: first.class == GlobalSequentiality::SingleRank && bytes >= 2 * (high - low)
            || first.class == GlobalSequentiality::GlobalSequential && per_rank >= 2 * own,
        stripe: rules.stripe,
    };
    GlobalClass {
        start_s: origin + first.start_s,
        end_s: origin + last.end_s,
        ranks: first.ranks.clone(),
        mix: first.mix,
        sequentiality: first.class,
        size: first.size,
        staggered: first.staggered,
        bytes,
        advice: advice::advise(&situation),
    }
}
