//! Which of a file's accesses are its data, and their stretches, if they have no clear class as they come.
//!
//! Accesses of several size classes ([`super::size_class`]) may hide each other's order: a library's headers and indices between
//! the data, reads and writes that take turns. If the accesses as they come leave ranks apart or without order, the data are
//! judged by themselves and the metadata accesses are set aside, if the data are most of the file and nearly all of them have an
//! order. Accesses are set aside only if each is small, beside the data or at all, and they come between the data or are next to
//! nothing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::access::{Stretch, Tally};
use super::global::GlobalSequentiality;
use super::group::{Group, Local, groups};
use super::lattice::{Axis, Mix, Sequentiality};
use super::report::Aside;
use super::size_class::{FinishedSubStream, SizeClass, Stretches};
use super::thresholds::{BESIDE, BETWEEN, FEW, FEWEST, MOST_JOINED, NEXT_TO_NOTHING, ORDERED, TINY};

/// The stretches of one rank in a file.
pub(crate) struct Ranked {
    pub rank: u32,
    /// As it comes.
    pub whole: Vec<Stretch>,
    pub by_size: Option<Vec<FinishedSubStream>>,
}

impl Ranked {
    /// Its stretches as they come.
    pub fn into_whole(self) -> impl Iterator<Item = Local> {
        of_rank(self.rank, self.whole)
    }
}

fn of_rank(rank: u32, stretches: impl IntoIterator<Item = Stretch>) -> impl Iterator<Item = Local> {
    stretches.into_iter().map(move |stretch| Local { rank, stretch })
}

/// The stretches and groups of a file, and the accesses set aside.
pub(crate) struct JudgedFile {
    pub locals: Vec<Local>,
    pub groups: Vec<Group>,
    pub aside: Option<Aside>,
}

impl JudgedFile {
    fn of(locals: Vec<Local>) -> Self {
        let as_they_come = Self { groups: groups(&locals), locals, aside: None };
        if as_they_come.partial_groups() == 0 || as_they_come.locals.len() > MOST_JOINED {
            return as_they_come;
        }
        // ranks that run out of step with short stretches: those that go on in the same way elsewhere are one
        let locals = continued(&as_they_come.locals);
        let longer = Self { groups: groups(&locals), locals, aside: None };
        let is_better = longer.partial_groups() < as_they_come.partial_groups()
            && longer.groups_without_order() <= as_they_come.groups_without_order();
        if is_better { longer } else { as_they_come }
    }

    /// Groups of fewer ranks than others.
    fn partial_groups(&self) -> usize {
        let most = self.groups.iter().map(|g| g.ranks.len()).max().unwrap_or(0);
        self.groups.iter().filter(|g| g.ranks.len() < most && !g.staggered).count()
    }

    fn groups_without_order(&self) -> usize {
        self.groups.iter().filter(|g| g.class == GlobalSequentiality::NonSequential).count()
    }

    /// Groups in which reads and writes take turns.
    fn mixed_groups(&self) -> usize {
        self.groups.iter().filter(|g| g.mix == Mix::ReadWrite).count()
    }

    /// Groups that say little: ranks apart, or no order.
    fn flaws(&self) -> usize {
        self.partial_groups() + self.groups_without_order()
    }

    /// Fewer flaws, or no more and far fewer pieces of reads and writes that take turns?
    fn is_clearer_than(&self, other: &Self) -> bool {
        let pieces = 2 * self.groups.len() <= other.groups.len() && 2 * other.mixed_groups() >= other.groups.len();
        self.flaws() < other.flaws() || self.flaws() == other.flaws() && pieces
    }
}

/// The stretches and groups of a file.
pub(crate) fn judge(ranks: Vec<Ranked>) -> JudgedFile {
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
        |s: &Vec<(u32, FinishedSubStream)>| s.iter().any(|(_, f)| !matches!(f.stretches, Stretches::OfTheWhole));
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
    /// All accesses as they come, by rank.
    whole: &'w [Local],
}

impl BySize<'_> {
    /// The data by themselves, if they are most of the file and have an order.
    fn judge(self) -> Option<JudgedFile> {
        let mut classes: BTreeMap<SizeClass, Tally> = BTreeMap::new();
        for (_, f) in &self.found {
            classes.entry(f.class).and_modify(|t| t.join(&f.tally)).or_insert(f.tally);
        }
        let data = data_classes(classes.into_iter().collect(), |class| self.is_clear(class))?;
        let (data, rest): (Vec<_>, Vec<_>) = self.found.iter().partition(|(_, f)| data.contains(&f.class));
        let (mut accesses, mut bytes) = (0, 0);
        let mut by_rank: BTreeMap<u32, Vec<Stretch>> = BTreeMap::new();
        for (rank, f) in &data {
            for s in self.stretches(*rank, f)? {
                if !s.sequentiality.is_disorder() {
                    (accesses, bytes) = (accesses + s.tally.accesses, s.tally.bytes.saturating_add(bytes));
                }
                by_rank.entry(*rank).or_default().push(s.clone());
            }
        }
        let all = Tally::sum(data.iter().map(|(_, f)| f.tally))?;
        let enough = |part: u64, all: u64| part as f64 >= ORDERED * all as f64;
        if !enough(accesses, all.accesses) || !enough(bytes, all.bytes) {
            return None;
        }
        let locals = by_rank.into_iter().flat_map(|(rank, all)| of_rank(rank, taking_turns(all)));
        Some(JudgedFile { aside: aside(&rest), ..JudgedFile::of(locals.collect()) })
    }

    /// The stretches of a rank of one size class; `None` if they have been given up.
    fn stretches<'a>(&'a self, rank: u32, found: &'a FinishedSubStream) -> Option<Vec<&'a Stretch>> {
        match &found.stretches {
            Stretches::Own(all) => Some(all.iter().collect()),
            Stretches::OfTheWhole => {
                let from = self.whole.partition_point(|l| l.rank < rank);
                Some(self.whole[from..].iter().take_while(|l| l.rank == rank).map(|l| &l.stretch).collect())
            }
            Stretches::GivenUp => None,
        }
    }

    /// Do all ranks make accesses of this size class, together and in one order?
    fn is_clear(&self, class: SizeClass) -> bool {
        let ranks: BTreeSet<u32> = self.found.iter().map(|f| f.0).collect();
        let mut locals = Vec::new();
        for (rank, f) in self.found.iter().filter(|(_, f)| f.class == class) {
            let stretches = self.stretches(*rank, f).filter(|_| f.tally.accesses >= FEWEST);
            let Some(all) = stretches else { return false };
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

/// The size classes that are data. Those that are not small are; if they are not most of the file, the commonest one is. A small
/// one is, too, if it has its own time, and either some weight or a `clear` class.
fn data_classes(mut classes: Vec<Classed>, clear: impl Fn(SizeClass) -> bool) -> Option<Vec<SizeClass>> {
    let total = sum(&classes);
    classes.sort_by_key(|c| Reverse(c.1.sizes.1));
    let mut above = 0u64;
    let half = classes.iter().find(|c| {
        above = above.saturating_add(c.1.bytes);
        above >= total.bytes / 2
    })?;
    let small = TINY.max(half.1.bytes / half.1.accesses.max(1) / BESIDE);
    let most = |t: Tally| 2 * u128::from(t.bytes) >= u128::from(total.bytes) || 2 * t.accesses >= total.accesses;
    let (mut data, mut others): (Vec<Classed>, Vec<Classed>) = classes.into_iter().partition(|c| c.1.sizes.1 > small);
    if !most(sum(&data)) {
        others.append(&mut data);
        let commonest = others.iter().enumerate().max_by_key(|(_, c)| c.1.accesses)?.0;
        data = vec![others.swap_remove(commonest)];
    }
    others.sort_by_key(|c| Reverse(c.1.accesses));
    let weight = sum(&data).bytes / NEXT_TO_NOTHING;
    for c in others {
        let has_own_time = || time_shared(&c.1, &data) < BETWEEN;
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

fn aside(rest: &[&(u32, FinishedSubStream)]) -> Option<Aside> {
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

/// The stretches of one rank, those that hold at the same time as one: it takes turns between them. The one with the most bytes
/// says how.
fn taking_turns(mut all: Vec<Stretch>) -> Vec<Stretch> {
    all.sort_by(|a, b| a.tally.start_s.total_cmp(&b.tally.start_s));
    let mut out: Vec<Stretch> = Vec::new();
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

/// Stretches of a rank that go on as the one before, elsewhere in the file, and short ones between them, as one.
fn continued(all: &[Local]) -> Vec<Local> {
    let mut out: Vec<Local> = Vec::new();
    for Local { rank, stretch } in all {
        match out.last_mut().filter(|l| l.rank == *rank && goes_on(&l.stretch, stretch)) {
            Some(Local { stretch: last, .. }) => {
                last.shape.join(last.tally.hull, stretch.shape.clone(), stretch.tally.hull);
                if stretch.tally.accesses > last.tally.accesses {
                    last.stride = stretch.stride;
                }
                last.sequentiality = last.sequentiality.meet(stretch.sequentiality).meet(Sequentiality::Strided1d);
                last.join(stretch);
            }
            None => out.push(Local { rank: *rank, stretch: stretch.clone() }),
        }
    }
    out
}

fn goes_on(a: &Stretch, b: &Stretch) -> bool {
    let few = FEW * a.tally.accesses.min(b.tally.accesses) <= a.tally.accesses.max(b.tally.accesses);
    (a.mix, a.tally.sizes, a.by) == (b.mix, b.tally.sizes, b.by)
        && !a.sequentiality.is_disorder()
        && !b.sequentiality.is_disorder()
        && (few || a.stride.is_some() && a.stride == b.stride)
}
