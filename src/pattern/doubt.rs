//! Short patterns among accesses without order: among many of these some follow each other by chance.

use super::follow::Jumbled;
use super::left::{Left, Part};
use super::order::{Pool, Without};
use super::pattern::Pattern;
use super::remnants::{CHANCE, expected, gcd};
use super::table::{Keys, Table};
use crate::record::FileId;

/// Accesses of a size have no order if a share of one in so many of them is in no pattern, and so many are.
const SHARE: u64 = 3;
const MANY: u64 = 48;

/// Places of a file for each of its accesses, if these are strewn: they tell nothing of what is done elsewhere.
const WIDE: u64 = 1000;

/// Patterns of which more are to be expected by chance than this do not count: many ranks and files may be alike.
pub(super) const RARE: f64 = CHANCE / 10_000.0;

/// Ranks, and at least half of all, that show that a nest is none.
const ALIKE: usize = 4;

/// Patterns of more accesses are no accident.
const SHORT: u64 = 64;

/// Operation as a number, file, size.
pub(super) type Key = (u8, FileId, u64);

/// Operation as a number, size, counts and strides.
type Loops = (u8, u64, Vec<(u64, i64)>);

fn loops(p: &Pattern, size: u64) -> Loops {
    (p.op as u8, size, p.levels().iter().map(|l| (l.count, l.stride)).collect())
}

/// What is known of the accesses of a rank, of one operation, file and size: the places that each of them may have been at, on
/// average, and how many they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub places: f64,
    pub records: u64,
}

/// What all ranks have.
#[derive(Debug, Default)]
pub(super) struct Pools {
    jumbled: Jumbled,
    /// Operations, as numbers, and files whose accesses are strewn.
    strewn: Keys<(u8, FileId)>,
    /// Accesses, and those of them in no pattern.
    counts: Table<Pool, (u64, u64)>,
    ranks: usize,
    /// Ranks that have a nest of these loops, where there may be no order.
    alike: Table<Loops, usize>,
    /// Operations and sizes that may have no order; `None` if all may.
    asked: Option<Keys<Pool>>,
    /// Operations and sizes without an order, and whether all of it is done over and over.
    without: Table<Pool, bool>,
    /// Where they have no order, or may have none: places of each file.
    reach: Table<Key, Reach>,
}

/// First, lowest and highest place, and what all are multiples of from the first on.
#[derive(Debug, Clone, Copy)]
struct Reach {
    first: u64,
    low: u64,
    high: u64,
    unit: u64,
}

impl Reach {
    fn of(place: u64) -> Reach {
        Reach { first: place, low: place, high: place, unit: 0 }
    }

    fn see(&mut self, place: u64, size: u64) {
        (self.low, self.high) = (self.low.min(place), self.high.max(place));
        self.unit = gcd(gcd(self.unit, size), place.abs_diff(self.first));
    }

    /// Places of the finest grid.
    fn places(&self) -> Option<u64> {
        (self.high - self.low).checked_div(self.unit).map(|n| n.saturating_add(1))
    }
}

/// Operations and files whose accesses are strewn over many more places, most of them in no pattern.
fn strewn(parts: &[Part]) -> Keys<(u8, FileId)> {
    // The places of those in no pattern, how many they are, and how many are in one.
    let mut files: Table<(u8, FileId), (Reach, u64, u64)> = Table::default();
    let alone = parts.iter().flat_map(|p| &p.left).filter(|l| l.access.sane() && !l.is_held() && !l.taken);
    for a in alone.map(|l| &l.access) {
        let (reach, alone, _) = files.entry((a.op as u8, a.file)).or_insert((Reach::of(a.offset), 0, 0));
        reach.see(a.offset, a.size);
        *alone += 1;
    }
    for p in parts.iter().flat_map(|p| &p.patterns) {
        files.entry((p.op as u8, p.file)).and_modify(|f| f.2 += p.records);
    }
    let is = |&(reach, alone, others): &(Reach, u64, u64)| {
        alone >= MANY.max(others) && reach.places().is_some_and(|n| n / WIDE >= alone)
    };
    files.into_iter().filter(|(_, f)| is(f)).map(|(file, _)| file).collect()
}

impl Pools {
    /// Of all that the ranks have.
    pub fn new(jumbled: Jumbled, parts: &[Part]) -> Pools {
        let mut pools = Pools { jumbled, strewn: strewn(parts), ..Pools::default() };
        parts.iter().for_each(|p| pools.add(&p.left, &p.patterns));
        pools
    }

    pub fn jumbled(&self) -> &Jumbled {
        &self.jumbled
    }

    /// Those that have an order or have none together with these.
    pub fn pool(&self, key: &Key) -> Pool {
        if self.strewn.contains(&(key.0, key.1)) { (key.0, key.2, Some(key.1)) } else { self.jumbled.pool(key) }
    }

    /// Counts what a rank has.
    fn add(&mut self, left: &[Left], patterns: &[Pattern]) {
        self.ranks += 1;
        for l in left.iter().filter(|l| l.access.sane()) {
            let pool = self.pool(&l.key());
            let pool = self.counts.entry(pool).or_default();
            *pool = (pool.0 + 1, pool.1 + u64::from(!l.is_held() && !l.taken));
        }
        for p in patterns {
            if let Some(size) = p.access_size() {
                let pool = self.pool(&(p.op as u8, p.file, size));
                self.counts.entry(pool).or_default().0 += p.records;
            }
        }
    }

    /// Only these may have no order.
    pub fn ask(&mut self, asked: Option<Keys<Pool>>) {
        self.asked = asked;
    }

    pub fn asked(&self) -> Option<&Keys<Pool>> {
        self.asked.as_ref()
    }

    /// These have none.
    pub fn answer(&mut self, without: &Without) {
        self.without.clone_from(&without.pools);
    }

    /// Looks at the places of what a rank has, once all are counted.
    pub fn look(&mut self, part: &Part) {
        let patterns = &part.patterns;
        // Where not all that is left is kept, the logs tell the places.
        let walks = (!part.keeps_left()).then(|| part.walks()).into_iter().flatten();
        for (key, walk) in walks.filter_map(|(key, walk)| Some((key, walk?))) {
            walk.list().iter().for_each(|i| self.see(key, i.offset));
        }
        for a in part.all_left().map(|l| &l.access).filter(|a| a.sane()) {
            self.see((a.op as u8, a.file, a.size), a.offset);
        }
        let mut alike: Keys<Loops> = Keys::default();
        for p in patterns {
            let Some(size) = p.access_size() else { continue };
            if p.records <= SHORT && self.no_order(&(p.op as u8, p.file, size)) {
                alike.insert(loops(p, size));
            }
            let (low, end) = p.extent();
            let places = [p.start_offset, low, end - size.min(end - low)];
            let second = p.levels().iter().map(|l| p.start_offset.wrapping_add_signed(l.stride));
            places.into_iter().chain(second).for_each(|at| self.see((p.op as u8, p.file, size), at));
        }
        alike.into_iter().for_each(|loops| *self.alike.entry(loops).or_default() += 1);
    }

    fn see(&mut self, key: Key, place: u64) {
        let asked = self.asked.as_ref().is_some_and(|asked| asked.contains(&self.pool(&key)));
        if !asked && !self.no_order(&key) {
            return;
        }
        self.reach.entry(key).or_insert(Reach::of(place)).see(place, key.2);
    }

    /// Places of the finest grid that all accesses of a file are on.
    fn grid(&self, key: &Key) -> f64 {
        self.places(key).0
    }

    /// The same, their distance, and the lowest.
    pub fn places(&self, key: &Key) -> (f64, u64, u64) {
        let places = |r: &Reach| r.places().map_or(1.0, |n| n as f64);
        self.reach.get(key).map_or((1.0, 0, 0), |r| (places(r), r.unit, r.low))
    }

    fn no_order(&self, key: &Key) -> bool {
        let pool = self.pool(key);
        match self.without.get(&pool) {
            Some(again) => !again,
            None if self.asked.as_ref().is_some_and(|asked| !asked.contains(&pool)) => false,
            None => self.counts.get(&pool).is_some_and(|&(all, none)| none >= MANY && none >= all / SHARE),
        }
    }
}

/// For each pattern of a rank whether chance makes such ones among what the rank has left: where accesses of an operation and
/// size have no order, patterns must be longer than is to be expected at random places of the same grid.
/// `choices` tell where more is known of them.
pub(super) fn accidents(pools: &Pools, left: &[Left], patterns: &[Pattern], choices: &Table<Key, Choice>) -> Vec<bool> {
    let mut groups: Table<Key, usize> = Table::default();
    let alone = left.iter().filter(|l| !l.taken).map(|l| &l.access);
    for key in alone.filter(|a| a.sane()).map(|a| (a.op as u8, a.file, a.size)).filter(|key| pools.no_order(key)) {
        *groups.entry(key).or_default() += 1;
    }
    // The patterns of each file.
    let mut known: Table<Key, Vec<usize>> = Table::default();
    for (i, p) in patterns.iter().enumerate() {
        if let Some(size) = p.access_size().filter(|&size| pools.no_order(&(p.op as u8, p.file, size))) {
            known.entry((p.op as u8, p.file, size)).or_default().push(i);
        }
    }
    let mut out = vec![false; patterns.len()];
    let files = groups.len().max(known.len()) as f64;
    let looks = pools.ranks as f64 * files;
    for (key, members) in known {
        let alone = groups.get(&key).copied().unwrap_or(0);
        let records = alone + members.iter().map(|&i| patterns[i].records as usize).sum::<usize>();
        let known = choices.get(&key).filter(|_| pools.without.contains_key(&pools.pool(&key)));
        let records = known.map_or(records, |c| records.max(c.records as usize));
        let grid = known.map_or_else(|| pools.grid(&key), |c| c.places);
        // Where a file has but one place, accesses are there and nowhere else.
        let anywhere = grid > 1.0;
        for &i in members.iter().filter(|&&i| patterns[i].records <= SHORT) {
            let p = &patterns[i];
            let length = (p.records as usize + 1).saturating_sub(p.levels().len()).max(1);
            // Anywhere among the records, or any one of them and the others as soon after it as they are.
            let after = (p.span.1 - p.span.0) as usize + 1;
            let soon = records as f64 * expected(after.max(length), length, grid) * length as f64 / after as f64;
            let stride = p.levels().first().map_or(0, |l| l.stride);
            let strides = if stride == 0 || stride as u64 == key.2 { 1.0 } else { grid };
            let chance = expected(records, length, grid).min(soon);
            // That so many ranks have such a nest at the same stride, in one of their files.
            let ranks = pools.alike.get(&loops(p, key.2)).copied().unwrap_or(1);
            let of_rank = chance * files;
            let alike = known.is_none() && strides * expected(pools.ranks, ranks, of_rank.recip()) * of_rank <= RARE;
            out[i] =
                anywhere && looks * strides * chance > RARE && !(ranks >= ALIKE && 2 * ranks >= pools.ranks && alike);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::left::{end, settle};
    use super::super::{Access, Options, RankDetector};
    use crate::record::{FileId, Op};

    fn found(places: &[(u32, u64)]) -> (usize, u64) {
        let mut d = RankDetector::new(0, Options::default());
        for (i, &(file, place)) in places.iter().enumerate() {
            let (op, file, offset, start) = (Op::Read, FileId(file), place * 4096, i as f64);
            d.push(&Access { op, rank: 0, file, offset, size: 4096, start, end: start + 0.5 });
        }
        let found = d.finish();
        (found.patterns.len(), found.unmatched_records)
    }

    #[test]
    fn chance_makes_no_patterns() {
        // The samples of some files in no order: some follow each other.
        let mut x = 1u64;
        let mut below = |n: u64| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) % n
        };
        let random: Vec<(u32, u64)> = (0..2000).map(|_| (below(20) as u32, below(16))).collect();
        assert_eq!(found(&random), (0, 2000));
        // A long run among them is none of chance.
        let mut with_run = random.clone();
        with_run.splice(500..500, (0..16).map(|k| (3, k)));
        assert_eq!(found(&with_run), (1, 2000));
    }

    #[test]
    fn what_is_strewn_tells_nothing_of_other_files() {
        // Three accesses in a row, and many of their size: of other files like theirs in no order, or anywhere in a large one.
        let mut x = 1u64;
        let mut below = |n: u64| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) % n
        };
        let row = (0..3u64).map(|k| (0, k));
        let alike: Vec<(u32, u64)> = (0..100).map(|i| (1 + i % 20, below(8))).collect();
        let strewn: Vec<(u32, u64)> = (0..60).map(|_| (1, below(1 << 30))).collect();
        assert_eq!(found(&row.clone().chain(alike).collect::<Vec<_>>()), (0, 103));
        assert_eq!(found(&row.chain(strewn).collect::<Vec<_>>()), (1, 60));
    }

    #[test]
    fn what_many_ranks_do_alike_is_no_accident() {
        // Two accesses anywhere, and a row of four at a stride, in each of 24 ranks.
        let found = |alike: bool| {
            let ranks = (0..24u32).map(|rank| {
                let mut d = RankDetector::new(rank, Options::default());
                let from = 100 * u64::from(rank * rank % 17) + u64::from(rank);
                let row = from + 40..from + 88;
                let stride = if alike { 12 } else { 7 + rank as usize % 12 };
                let places = [from, from + 31 + u64::from(rank % 5)].into_iter().chain(row.step_by(stride).take(4));
                for (i, place) in places.enumerate() {
                    let (op, file, offset, start) = (Op::Write, FileId(0), place * 128, i as f64);
                    d.push(&Access { op, rank, file, offset, size: 128, start, end: start + 0.5 });
                }
                d.ended()
            });
            let found = settle(end(ranks.collect()));
            found.patterns.iter().filter(|p| p.ranks.is_none() && p.records == 4).count()
        };
        assert_eq!((found(true), found(false)), (24, 0));
    }
}
