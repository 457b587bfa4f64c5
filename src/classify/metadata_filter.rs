//! Separates a file's data from metadata accesses if the whole stream has no clear class.
//!
//! Accesses of several size classes ([`super::size_class`]) may hide each other's order: a library's headers and indices between
//! the data, or alternating reads and writes. If the whole stream leaves ranks in different classes or without order, the data
//! sub-streams are classified without the metadata accesses. This requires that the data are most of the file and that nearly all
//! of them have an order. Metadata accesses are small, absolutely or compared with the data, and they either come between data
//! accesses or have hardly any bytes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::access::{Segment, Tally};
use super::global::GlobalSequentiality;
use super::group::{Group, Local, groups};
use super::lattice::{Axis, Mix, Sequentiality};
use super::report::Aside;
use super::size_class::{FinishedSubStream, Segments, SizeClass};
use super::thresholds::LIMITS;

/// Segments of a file, beyond which neighbours are not merged.
const MOST_MERGED: usize = 1 << 18;

/// The segments of one rank in a file.
pub(crate) struct RankSegments {
    pub rank: u32,
    /// Of the whole stream.
    pub whole: Vec<Segment>,
    pub by_size: Option<Vec<FinishedSubStream>>,
}

impl RankSegments {
    /// The segments of the whole stream.
    pub fn into_whole(self) -> impl Iterator<Item = Local> {
        of_rank(self.rank, self.whole)
    }
}

fn of_rank(rank: u32, segments: impl IntoIterator<Item = Segment>) -> impl Iterator<Item = Local> {
    segments.into_iter().map(move |segment| Local { rank, segment })
}

/// The segments, groups and metadata accesses of a file.
pub(crate) struct JudgedFile {
    pub locals: Vec<Local>,
    pub groups: Vec<Group>,
    pub aside: Option<Aside>,
}

impl JudgedFile {
    fn of(locals: Vec<Local>) -> Self {
        let whole = Self { groups: groups(&locals), locals, aside: None };
        if whole.partial_groups() == 0 || whole.locals.len() > MOST_MERGED {
            return whole;
        }
        // ranks out of step with short segments: merge those that continue in the same way elsewhere
        let locals = merge_continued(&whole.locals);
        let longer = Self { groups: groups(&locals), locals, aside: None };
        let is_better = longer.partial_groups() < whole.partial_groups()
            && longer.groups_without_order() <= whole.groups_without_order();
        if is_better { longer } else { whole }
    }

    /// Groups of fewer ranks than others.
    fn partial_groups(&self) -> usize {
        let most = self.groups.iter().map(|g| g.ranks.len()).max().unwrap_or(0);
        self.groups.iter().filter(|g| g.ranks.len() < most && !g.staggered).count()
    }

    fn groups_without_order(&self) -> usize {
        self.groups.iter().filter(|g| g.class == GlobalSequentiality::NonSequential).count()
    }

    /// Groups with reads and writes.
    fn mixed_groups(&self) -> usize {
        self.groups.iter().filter(|g| g.mix == Mix::ReadWrite).count()
    }

    /// Groups of fewer ranks than others, and groups without order.
    fn flaws(&self) -> usize {
        self.partial_groups() + self.groups_without_order()
    }

    /// Fewer flaws; or as many, but at most half of the groups where half of them were mixed.
    fn is_clearer_than(&self, other: &Self) -> bool {
        let fewer_mixed = 2 * self.groups.len() <= other.groups.len() && 2 * other.mixed_groups() >= other.groups.len();
        self.flaws() < other.flaws() || self.flaws() == other.flaws() && fewer_mixed
    }
}

/// The segments and groups of a file.
pub(crate) fn judge(ranks: Vec<RankSegments>) -> JudgedFile {
    let mut whole = Vec::new();
    let mut by_size: Option<Vec<(u32, FinishedSubStream)>> = Some(Vec::new());
    for r in ranks {
        whole.extend(of_rank(r.rank, r.whole));
        by_size = by_size.zip(r.by_size).map(|(mut all, found)| {
            all.extend(found.into_iter().map(|f| (r.rank, f)));
            all
        });
    }
    let whole = JudgedFile::of(whole);
    let is_unclear = whole.flaws() > 0 || whole.mixed_groups() > 1;
    let several =
        |s: &Vec<(u32, FinishedSubStream)>| s.iter().any(|(_, f)| !matches!(f.segments, Segments::OfTheWhole));
    let by_size = by_size.filter(several).filter(|_| is_unclear);
    let data = by_size.and_then(|found| BySize { found, whole: &whole.locals }.judge());
    match data {
        Some(data) if data.is_clearer_than(&whole) => data,
        _ => whole,
    }
}

/// The accesses to a file by rank and size class.
struct BySize<'w> {
    found: Vec<(u32, FinishedSubStream)>,
    /// The segments of the whole stream, by rank.
    whole: &'w [Local],
}

impl BySize<'_> {
    /// The data without the metadata accesses, if they are most of the file and have an order.
    fn judge(self) -> Option<JudgedFile> {
        let mut classes: BTreeMap<SizeClass, Tally> = BTreeMap::new();
        for (_, f) in &self.found {
            classes.entry(f.class).and_modify(|t| t.join(&f.tally)).or_insert(f.tally);
        }
        let data = data_classes(classes.into_iter().collect(), |class| self.is_clear(class))?;
        let (data, rest): (Vec<_>, Vec<_>) = self.found.iter().partition(|(_, f)| data.contains(&f.class));
        let (mut accesses, mut bytes) = (0, 0);
        let mut by_rank: BTreeMap<u32, Vec<Segment>> = BTreeMap::new();
        for (rank, f) in &data {
            for s in self.segments(*rank, f)? {
                if !s.sequentiality.is_disorder() {
                    (accesses, bytes) = (accesses + s.tally.accesses, s.tally.bytes.saturating_add(bytes));
                }
                by_rank.entry(*rank).or_default().push(s.clone());
            }
        }
        let all = Tally::sum(data.iter().map(|(_, f)| f.tally))?;
        let enough = |part: u64, all: u64| part as f64 >= LIMITS.ordered * all as f64;
        if !enough(accesses, all.accesses) || !enough(bytes, all.bytes) {
            return None;
        }
        let locals = by_rank.into_iter().flat_map(|(rank, all)| of_rank(rank, merge_concurrent(all)));
        Some(JudgedFile { aside: metadata(&rest), ..JudgedFile::of(locals.collect()) })
    }

    /// The segments of a rank of one size class; `None` if they were dropped.
    fn segments<'a>(&'a self, rank: u32, found: &'a FinishedSubStream) -> Option<Vec<&'a Segment>> {
        match &found.segments {
            Segments::Own(all) => Some(all.iter().collect()),
            Segments::OfTheWhole => {
                let from = self.whole.partition_point(|l| l.rank < rank);
                Some(self.whole[from..].iter().take_while(|l| l.rank == rank).map(|l| &l.segment).collect())
            }
            Segments::GivenUp => None,
        }
    }

    /// Do all ranks make accesses of this size class, together and in one order?
    fn is_clear(&self, class: SizeClass) -> bool {
        let ranks: BTreeSet<u32> = self.found.iter().map(|f| f.0).collect();
        let mut locals = Vec::new();
        for (rank, f) in self.found.iter().filter(|(_, f)| f.class == class) {
            let segments = self.segments(*rank, f).filter(|_| f.tally.accesses >= LIMITS.fewest);
            let Some(all) = segments else { return false };
            locals.extend(of_rank(*rank, all.into_iter().cloned()));
        }
        let judged = JudgedFile::of(locals);
        judged.flaws() == 0 && judged.groups.iter().all(|g| g.ranks.len() == ranks.len())
    }
}

type Classed = (SizeClass, Tally);

fn sum(classes: &[Classed]) -> Tally {
    Tally::sum(classes.iter().map(|c| c.1)).unwrap_or_default()
}

/// The size classes that are data: those that are not small, or the most frequent one if they are not most of the file. A small
/// class is data, too, if it mostly does not overlap the data in time, and has either enough bytes or a `clear` class.
fn data_classes(mut classes: Vec<Classed>, clear: impl Fn(SizeClass) -> bool) -> Option<Vec<SizeClass>> {
    let total = sum(&classes);
    classes.sort_by_key(|c| Reverse(c.1.sizes.1));
    let mut above = 0u64;
    let half = classes.iter().find(|c| {
        above = above.saturating_add(c.1.bytes);
        above >= total.bytes / 2
    })?;
    let small = LIMITS.tiny.max(half.1.bytes / half.1.accesses.max(1) / LIMITS.small);
    let most = |t: Tally| 2 * u128::from(t.bytes) >= u128::from(total.bytes) || 2 * t.accesses >= total.accesses;
    let (mut data, mut others): (Vec<Classed>, Vec<Classed>) = classes.into_iter().partition(|c| c.1.sizes.1 > small);
    if !most(sum(&data)) {
        others.append(&mut data);
        let commonest = others.iter().enumerate().max_by_key(|(_, c)| c.1.accesses)?.0;
        data = vec![others.swap_remove(commonest)];
    }
    others.sort_by_key(|c| Reverse(c.1.accesses));
    let weight = sum(&data).bytes / LIMITS.weight;
    for c in others {
        let has_own_time = || time_shared(&c.1, &data) < LIMITS.between;
        if c.1.sizes.1 > small || has_own_time() && (c.1.bytes > weight || clear(c.0)) {
            data.push(c);
        }
    }
    most(sum(&data)).then(|| data.iter().map(|c| c.0).collect())
}

/// Share of the time of some accesses in which there are data.
fn time_shared(tally: &Tally, data: &[Classed]) -> f64 {
    let (start, end) = (tally.start_s, tally.end_s);
    let mut spans: Vec<(f64, f64)> = data.iter().map(|(_, d)| (d.start_s.max(start), d.end_s.min(end))).collect();
    spans.retain(|s| s.1 >= s.0);
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    if end <= start {
        return if spans.is_empty() { 0.0 } else { 1.0 };
    }
    let mut covered = (0.0, start);
    for (a, b) in spans {
        covered = (covered.0 + (b - a.max(covered.1)).max(0.0), b.max(covered.1));
    }
    covered.0 / (end - start)
}

fn metadata(rest: &[&(u32, FinishedSubStream)]) -> Option<Aside> {
    let all = Tally::sum(rest.iter().map(|(_, f)| f.tally))?;
    let written = rest.iter().filter(|(_, f)| f.tally.writes > 0).map(|(_, f)| f.tally.bytes);
    let ranks: BTreeSet<u32> = rest.iter().map(|r| r.0).collect();
    Some(Aside {
        ranks: ranks.into_iter().collect(),
        accesses: all.accesses,
        bytes: all.bytes,
        bytes_written: written.fold(0, u64::saturating_add),
        largest_bytes: all.sizes.1,
    })
}

/// The segments of one rank. Those that overlap in time are merged: their accesses alternate. The class is that of the one with
/// the most bytes.
fn merge_concurrent(mut all: Vec<Segment>) -> Vec<Segment> {
    all.sort_by(|a, b| a.tally.start_s.total_cmp(&b.tally.start_s));
    let mut out: Vec<Segment> = Vec::new();
    for s in all {
        match out.last_mut() {
            Some(last) if s.tally.start_s < last.tally.end_s => {
                let shorter = if s.tally.bytes > last.tally.bytes { std::mem::replace(last, s) } else { s };
                last.join(&shorter);
            }
            _ => out.push(s),
        }
    }
    out
}

/// Merges segments of a rank that continue the one before elsewhere in the file, and short ones between them.
fn merge_continued(all: &[Local]) -> Vec<Local> {
    let mut out: Vec<Local> = Vec::new();
    for Local { rank, segment } in all {
        match out.last_mut().filter(|l| l.rank == *rank && goes_on(&l.segment, segment)) {
            Some(Local { segment: last, .. }) => {
                last.shape.join(last.tally.hull, segment.shape.clone(), segment.tally.hull);
                if segment.tally.accesses > last.tally.accesses {
                    last.stride = segment.stride;
                }
                last.sequentiality = last.sequentiality.meet(segment.sequentiality).meet(Sequentiality::Strided1d);
                last.join(segment);
            }
            None => out.push(Local { rank: *rank, segment: segment.clone() }),
        }
    }
    out
}

fn goes_on(a: &Segment, b: &Segment) -> bool {
    let few = LIMITS.few * a.tally.accesses.min(b.tally.accesses) <= a.tally.accesses.max(b.tally.accesses);
    (a.mix, a.tally.sizes, a.by) == (b.mix, b.tally.sizes, b.by)
        && !a.sequentiality.is_disorder()
        && !b.sequentiality.is_disorder()
        && (few || a.stride.is_some() && a.stride == b.stride)
}
