//! What of a file's accesses are its data, and their stretches, if they have no clear class as they come.
//!
//! Accesses of several sorts ([`super::lanes`]) may hide each other's order: a library's headers and indices between the data,
//! reads and writes that take turns. If the accesses as they come leave ranks apart or without order, the data are judged by
//! themselves and the rest is set aside, if the data are most of what is done to the file and nearly all of them have an order.
//! Accesses are set aside only if each is small, beside the data or at all, and they come between the data or are next to
//! nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::global::GlobalSequentiality;
use super::group::{Group, Local, groups};
use super::lanes::{Found, Order, Sort, Sum, TINY};
use super::lattice::{Axis, Mix, Sequentiality};
use super::report::Aside;
use super::stream::Stretch;

/// Accesses of one part in so many of the data's are small beside them.
const BESIDE: u64 = 64;
/// Bytes of one part in so many of the data's are next to nothing.
const NOTHING: u64 = 32;
/// A sort that lies in the span of the data for this share of its own comes between them.
const BETWEEN: f64 = 0.5;
/// Share of the data that has to have an order.
const ORDERED: f64 = 0.9;
/// Fewer accesses of a rank may be in order by chance.
const FEWEST: u64 = 6;
/// A stretch of one part in so many of its neighbour's accesses goes with it.
const FEW: u64 = 8;

/// So many stretches of a file are not looked at again, to save memory.
const MOST_CONTINUED: usize = 1 << 18;

/// What one rank does to a file.
pub(crate) struct Ranked {
    pub rank: u32,
    /// As it comes.
    pub whole: Vec<Stretch>,
    /// By sorts.
    pub sorts: Option<Vec<Found>>,
}

impl Ranked {
    /// Its stretches as they come.
    pub fn into_whole(self) -> impl Iterator<Item = Local> {
        self.whole.into_iter().map(move |stretch| Local { rank: self.rank, stretch })
    }
}

/// What a file is judged by.
pub(crate) struct Judged {
    pub locals: Vec<Local>,
    pub groups: Vec<Group>,
    pub aside: Option<Aside>,
}

impl Judged {
    fn of(locals: Vec<Local>) -> Self {
        let as_they_come = Self { groups: groups(&locals), locals, aside: None };
        if as_they_come.splinters() == 0 || as_they_come.locals.len() > MOST_CONTINUED {
            return as_they_come;
        }
        // ranks that run out of step with short stretches: what goes on in the same way elsewhere is one stretch
        let locals = continued(&as_they_come.locals);
        let longer = Self { groups: groups(&locals), locals, aside: None };
        if longer.splinters() < as_they_come.splinters() && longer.disorders() <= as_they_come.disorders() {
            longer
        } else {
            as_they_come
        }
    }

    /// Groups of fewer ranks than others.
    fn splinters(&self) -> usize {
        let most = self.groups.iter().map(|g| g.ranks.len()).max().unwrap_or(0);
        self.groups.iter().filter(|g| g.ranks.len() < most && !g.staggered).count()
    }

    fn disorders(&self) -> usize {
        self.groups.iter().filter(|g| g.class == GlobalSequentiality::NonSequential).count()
    }

    /// Groups in which reads and writes take turns.
    fn turns(&self) -> usize {
        self.groups.iter().filter(|g| g.mix == Mix::ReadWrite).count()
    }

    /// Fewer flaws, or no more and far fewer pieces of what takes turns?
    fn is_clearer_than(&self, other: &Self) -> bool {
        let pieces = 2 * self.groups.len() <= other.groups.len() && 2 * other.turns() >= other.groups.len();
        self.flaws() < other.flaws() || self.flaws() == other.flaws() && pieces
    }

    /// Groups that say little: ranks apart, or no order.
    fn flaws(&self) -> usize {
        self.splinters() + self.disorders()
    }
}

/// The stretches and groups of a file.
pub(crate) fn judge(ranks: Vec<Ranked>) -> Judged {
    let mut whole = Vec::new();
    let mut sorts: Option<Vec<(u32, Found)>> = Some(Vec::new());
    for r in ranks {
        whole.extend(r.whole.into_iter().map(|stretch| Local { rank: r.rank, stretch }));
        match (&mut sorts, r.sorts) {
            (Some(all), Some(found)) => all.extend(found.into_iter().map(|f| (r.rank, f))),
            _ => sorts = None,
        }
    }
    let whole = Judged::of(whole);
    let several = |s: &Vec<(u32, Found)>| s.iter().any(|(_, f)| !matches!(f.order, Order::OfTheWhole));
    let Some(sorts) = sorts.filter(several).filter(|_| whole.flaws() > 0 || whole.turns() > 1) else { return whole };
    let sorts = Sorts { found: sorts, whole: &whole.locals };
    match sorts.judge() {
        Some(data) if data.is_clearer_than(&whole) => data,
        _ => whole,
    }
}

/// All accesses of one sort, of all ranks.
#[derive(Clone, Copy)]
struct Kind {
    sort: Sort,
    sum: Sum,
    span: (f64, f64),
}

/// The accesses to a file by rank and sort.
struct Sorts<'w> {
    found: Vec<(u32, Found)>,
    /// All accesses as they come, by rank.
    whole: &'w [Local],
}

impl Sorts<'_> {
    /// What the file is judged by if its data are most of it and have an order.
    fn judge(self) -> Option<Judged> {
        let mut kinds: BTreeMap<Sort, Kind> = BTreeMap::new();
        for (_, f) in &self.found {
            let k = kinds.entry(f.sort).or_insert(Kind { sort: f.sort, sum: Sum::default(), span: f.span });
            k.sum.add(f.sum);
            k.span = (k.span.0.min(f.span.0), k.span.1.max(f.span.1));
        }
        let data = data_kinds(kinds.into_values().collect(), |sort| self.is_clear(sort))?;
        let (data, rest): (Vec<_>, Vec<_>) = self.found.iter().partition(|(_, f)| data.contains(&f.sort));
        let (mut sum, mut ordered) = (Sum::default(), Sum::default());
        let mut by_rank: BTreeMap<u32, Vec<Stretch>> = BTreeMap::new();
        for (rank, f) in data {
            sum.add(f.sum);
            for s in self.stretches(*rank, f)? {
                if !s.sequentiality.at_most(Sequentiality::VariablyStrided) {
                    ordered.add(Sum { accesses: s.accesses, bytes: s.extent.bytes, largest: 0 });
                }
                by_rank.entry(*rank).or_default().push(s.clone());
            }
        }
        let enough = |part: u64, all: u64| part as f64 >= ORDERED * all as f64;
        if !enough(ordered.accesses, sum.accesses) || !enough(ordered.bytes, sum.bytes) {
            return None;
        }
        let turns = |(rank, all)| taking_turns(all).into_iter().map(move |stretch| Local { rank, stretch });
        let judged = Judged::of(by_rank.into_iter().flat_map(turns).collect());
        Some(Judged { aside: aside(&rest), ..judged })
    }

    /// The stretches of a rank of one sort; None if they have been given up.
    fn stretches<'a>(&'a self, rank: u32, found: &'a Found) -> Option<Vec<&'a Stretch>> {
        match &found.order {
            Order::Own(all) => Some(all.iter().collect()),
            Order::OfTheWhole => {
                let from = self.whole.partition_point(|l| l.rank < rank);
                Some(self.whole[from..].iter().take_while(|l| l.rank == rank).map(|l| &l.stretch).collect())
            }
            Order::None => None,
        }
    }

    /// Do all ranks make accesses of this sort, together and in one order?
    fn is_clear(&self, sort: Sort) -> bool {
        let ranks: BTreeSet<u32> = self.found.iter().map(|f| f.0).collect();
        let mut locals = Vec::new();
        for (rank, f) in self.found.iter().filter(|(_, f)| f.sort == sort) {
            let Some(all) = self.stretches(*rank, f).filter(|_| f.sum.accesses >= FEWEST) else { return false };
            locals.extend(all.into_iter().map(|s| Local { rank: *rank, stretch: s.clone() }));
        }
        let judged = Judged::of(locals);
        judged.flaws() == 0 && judged.groups.iter().all(|g| g.ranks.len() == ranks.len())
    }
}

/// The sorts that are data. What is not small is; if that is not most of the file, the commonest size is. A small sort is, too,
/// if it has its own time, and either some weight or a `clear` class.
fn data_kinds(mut kinds: Vec<Kind>, clear: impl Fn(Sort) -> bool) -> Option<Vec<Sort>> {
    let total = sum(&kinds);
    kinds.sort_by_key(|k| std::cmp::Reverse(k.sum.largest));
    let mut above = 0u64;
    let half = kinds.iter().find(|k| {
        above = above.saturating_add(k.sum.bytes);
        above >= total.bytes / 2
    })?;
    let small = TINY.max(half.sum.bytes / half.sum.accesses.max(1) / BESIDE);
    let most = |s: Sum| 2 * u128::from(s.bytes) >= u128::from(total.bytes) || 2 * s.accesses >= total.accesses;
    let (mut data, mut others): (Vec<Kind>, Vec<Kind>) = kinds.into_iter().partition(|k| k.sum.largest > small);
    if !most(sum(&data)) {
        others.append(&mut data);
        let commonest = others.iter().enumerate().max_by_key(|(_, k)| k.sum.accesses)?.0;
        data = vec![others.swap_remove(commonest)];
    }
    others.sort_by_key(|k| std::cmp::Reverse(k.sum.accesses));
    let weight = sum(&data).bytes / NOTHING;
    for k in others {
        if k.sum.largest > small || between(&k, &data) < BETWEEN && (k.sum.bytes > weight || clear(k.sort)) {
            data.push(k);
        }
    }
    most(sum(&data)).then(|| data.iter().map(|k| k.sort).collect())
}

fn sum(kinds: &[Kind]) -> Sum {
    kinds.iter().fold(Sum::default(), |mut all, k| {
        all.add(k.sum);
        all
    })
}

/// Share of the time of one sort in which there are data.
fn between(kind: &Kind, data: &[Kind]) -> f64 {
    let (start, end) = kind.span;
    let mut spans: Vec<(f64, f64)> = data.iter().map(|d| (d.span.0.max(start), d.span.1.min(end))).collect();
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

fn aside(rest: &[&(u32, Found)]) -> Option<Aside> {
    let all = rest.iter().fold(Sum::default(), |mut all, (_, f)| {
        all.add(f.sum);
        all
    });
    let written = rest.iter().filter(|(_, f)| f.write).map(|(_, f)| f.sum.bytes).fold(0, u64::saturating_add);
    let mut ranks: Vec<u32> = rest.iter().map(|r| r.0).collect();
    ranks.sort_unstable();
    ranks.dedup();
    (all.accesses > 0).then_some(Aside {
        ranks,
        accesses: all.accesses,
        bytes: all.bytes,
        bytes_written: written,
        largest_bytes: all.largest,
    })
}

/// The stretches of one rank, those that hold at the same time as one: it takes turns between them. The longest says how.
fn taking_turns(mut all: Vec<Stretch>) -> Vec<Stretch> {
    all.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    let mut out: Vec<Stretch> = Vec::new();
    for s in all {
        match out.last_mut() {
            Some(last) if s.start_s < last.end_s => {
                let shorter = if s.extent.bytes > last.extent.bytes { std::mem::replace(last, s) } else { s };
                last.start_s = last.start_s.min(shorter.start_s);
                last.end_s = last.end_s.max(shorter.end_s);
                last.extent.hull.0 = last.extent.hull.0.min(shorter.extent.hull.0);
                last.extent.hull.1 = last.extent.hull.1.max(shorter.extent.hull.1);
                last.extent.bytes = last.extent.bytes.saturating_add(shorter.extent.bytes);
                together(last, &shorter);
            }
            _ => out.push(s),
        }
    }
    out
}

/// What two stretches have in common.
fn together(into: &mut Stretch, other: &Stretch) {
    into.mix = into.mix.meet(other.mix);
    into.size = if into.sizes == other.sizes { into.size.meet(other.size) } else { into.size.beside(other.size) };
    into.sizes = (into.sizes.0.min(other.sizes.0), into.sizes.1.max(other.sizes.1));
    into.accesses += other.accesses;
}

/// Stretches of a rank that go on as the one before, elsewhere in the file, and short ones between them, as one.
fn continued(all: &[Local]) -> Vec<Local> {
    let mut out: Vec<Local> = Vec::new();
    for Local { rank, stretch } in all {
        match out.last_mut().filter(|l| l.rank == *rank && goes_on(&l.stretch, stretch)) {
            Some(Local { stretch: last, .. }) => {
                last.extent.join(stretch.extent.clone());
                last.start_s = last.start_s.min(stretch.start_s);
                last.end_s = last.end_s.max(stretch.end_s);
                if stretch.accesses > last.accesses {
                    last.stride = stretch.stride;
                }
                last.sequentiality = last.sequentiality.meet(stretch.sequentiality).meet(Sequentiality::Strided1d);
                together(last, stretch);
            }
            None => out.push(Local { rank: *rank, stretch: stretch.clone() }),
        }
    }
    out
}

fn goes_on(a: &Stretch, b: &Stretch) -> bool {
    let disorder = |s: &Stretch| s.sequentiality.at_most(Sequentiality::VariablyStrided);
    let few = FEW * a.accesses.min(b.accesses) <= a.accesses.max(b.accesses);
    (a.mix, a.sizes, a.by) == (b.mix, b.sizes, b.by)
        && !disorder(a)
        && !disorder(b)
        && (few || a.stride.is_some() && a.stride == b.stride)
}
