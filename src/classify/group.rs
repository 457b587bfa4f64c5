//! Segments of several ranks that overlap in time, and their class.

use std::collections::{HashSet, VecDeque};

use super::access::{Segment, Settings, Tally};
use super::advice::{self, Situation};
use super::global::{self, GlobalSequentiality, Part};
use super::lattice::{Axis, Mix, Sequentiality, Size};
use super::report::{Classifier, GlobalClass, LocalClass};
use super::time;

/// One rank's segment.
pub(crate) struct Local {
    pub rank: u32,
    pub segment: Segment,
}

/// Local classes; equal neighbours of a rank are merged.
pub(crate) fn locals(all: &[Local], origin: f64) -> Vec<LocalClass> {
    let key = |l: &Local| (l.rank, l.segment.mix, l.segment.sequentiality, l.segment.size, l.segment.by);
    let class = |equal: &[Local]| {
        let Local { rank, segment: first } = &equal[0];
        let tally = Tally::sum(equal.iter().map(|l| l.segment.tally)).unwrap_or_default();
        LocalClass {
            rank: *rank,
            start_s: origin + first.tally.start_s,
            end_s: origin + tally.end_s,
            mix: first.mix,
            sequentiality: first.sequentiality,
            size: first.size,
            accesses: tally.accesses,
            start_offset: tally.hull.0,
            end_offset: tally.hull.1,
            classifier: first.by,
        }
    };
    all.chunk_by(|a, b| key(a) == key(b)).map(class).collect()
}

/// Segments with one global class.
pub(crate) struct Group {
    pub members: Vec<usize>,
    pub ranks: Vec<u32>,
    pub mix: Mix,
    pub size: Size,
    pub local: Sequentiality,
    pub class: GlobalSequentiality,
    pub staggered: bool,
    pub by: Classifier,
}

impl Group {
    fn of<'a>(all: &'a [Local], members: Vec<usize>, staggered: bool) -> Self {
        // of several segments of a rank, the longest one counts
        let mut by_rank: Vec<usize> = members.clone();
        by_rank.sort_by_key(|&i| (all[i].rank, std::cmp::Reverse(all[i].segment.tally.accesses)));
        by_rank.dedup_by_key(|i| all[*i].rank);
        let part = |s: &'a Segment| Part { sequentiality: s.sequentiality, hull: s.tally.hull, shape: &s.shape };
        let parts: Vec<Part> = by_rank.iter().map(|&i| part(&all[i].segment)).collect();
        let segments = || members.iter().map(|&i| &all[i].segment);
        Self {
            ranks: by_rank.iter().map(|&i| all[i].rank).collect(),
            mix: segments().map(|s| s.mix).reduce(Axis::meet).unwrap_or(Mix::LEAST),
            size: segments().map(|s| s.size).reduce(Axis::meet).unwrap_or(Size::LEAST),
            local: parts.iter().map(|p| p.sequentiality).reduce(Axis::meet).unwrap_or(Sequentiality::LEAST),
            class: global::classify(&parts),
            staggered,
            by: segments().map(|s| s.by).find(|by| *by != Classifier::Rules).unwrap_or(Classifier::Rules),
            members,
        }
    }

    /// One segment of each rank?
    fn one_each(&self) -> bool {
        self.members.len() == self.ranks.len()
    }

    fn alike(&self, other: &Group) -> bool {
        (self.mix, self.size, self.local) == (other.mix, other.size, other.local)
    }

    /// Merges groups of ranks that do the same one after the other. The groups are alike, and no rank is in two of them.
    fn staggered(parts: &[Group], all: &[Local]) -> Option<Group> {
        use GlobalSequentiality as G;
        let members = parts.iter().flat_map(|g| &g.members).copied().collect();
        let joined = Group::of(all, members, true);
        // each group alone may leave gaps that the others fill
        let part = |g: &Group| {
            g.class == G::SingleRank
                || g.class == joined.class
                || joined.class == G::InterleavedSequential
                    && matches!(g.class, G::GlobalStrided | G::PartitionedStrided)
        };
        let ordered = joined.class != G::NonSequential || joined.local == Sequentiality::NonSequential;
        (parts.iter().all(part) && ordered).then_some(joined)
    }
}

/// Groups of segments with one global class each, by time. Neighbours of different ranks that do the same are merged if together
/// they have an order.
pub(crate) fn groups(all: &[Local]) -> Vec<Group> {
    let spans: Vec<(f64, f64)> = all.iter().map(|l| (l.segment.tally.start_s, l.segment.tally.end_s)).collect();
    let sets = time::overlaps(&spans).into_iter();
    let mut rest: VecDeque<Group> = sets.map(|set| Group::of(all, set.members, false)).collect();
    let mut groups = Vec::new();
    while !rest.is_empty() {
        let count = staggered_run(rest.make_contiguous());
        let run: Vec<Group> = rest.drain(..count).collect();
        match Group::staggered(&run, all).filter(|_| run.len() > 1) {
            Some(joined) => groups.push(joined),
            None => groups.extend(run),
        }
    }
    groups
}

/// How many groups from the first on are alike and have no rank in common.
fn staggered_run(groups: &[Group]) -> usize {
    let mut seen = HashSet::new();
    let own = |g: &&Group| g.alike(&groups[0]) && g.one_each() && g.ranks.iter().all(|r| seen.insert(*r));
    groups.iter().take_while(own).count().max(1)
}

/// Global classes; equal neighbours are merged.
pub(crate) fn globals(
    groups: &[Group],
    all: &[Local],
    file: Option<&str>,
    settings: Settings,
    origin: f64,
) -> Vec<GlobalClass> {
    let same = |a: &Group, b: &Group| {
        let key = |g: &Group| (g.mix, g.size, g.class, g.staggered, g.by);
        key(a) == key(b) && a.ranks == b.ranks
    };
    groups.chunk_by(same).map(|equal| joined(equal, all, file, settings, origin)).collect()
}

/// One entry for neighbouring groups of the same ranks and class.
fn joined(groups: &[Group], all: &[Local], file: Option<&str>, settings: Settings, origin: f64) -> GlobalClass {
    let first = &groups[0];
    let tallies: Vec<Tally> = groups.iter().flat_map(|g| &g.members).map(|&i| all[i].segment.tally).collect();
    let total = Tally::sum(tallies.iter().copied()).unwrap_or_default();
    let starts: Vec<u64> = tallies.iter().map(|t| t.hull.0).collect();
    let per_rank = total.bytes / first.ranks.len().max(1) as u64;
    let own = first.members.iter().map(|&i| all[i].segment.tally.span()).max().unwrap_or(0);
    let situation = Situation {
        file,
        ranks: first.ranks.len(),
        class: first.class,
        mix: first.mix,
        size: first.size,
        tally: &total,
        starts: &starts,
        again: first.class == GlobalSequentiality::SingleRank && total.bytes / 2 >= total.span()
            || first.class == GlobalSequentiality::GlobalSequential && per_rank / 2 >= own,
        stripe: settings.stripe,
    };
    GlobalClass {
        start_s: origin + total.start_s,
        end_s: origin + total.end_s,
        ranks: first.ranks.clone(),
        mix: first.mix,
        sequentiality: first.class,
        size: first.size,
        staggered: first.staggered,
        bytes: total.bytes,
        accesses: total.accesses,
        classifier: first.by,
        advice: advice::advise(&situation),
    }
}
