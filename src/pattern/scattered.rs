//! Seeking strided patterns whose records come in any order among others of the same stream and size.
//!
//! Two records give a stride; the places before them along that stride are looked up. A chain counts if so long a one is not to
//! be expected among as many records at random places of the same grid, in random order.

use hashbrown::HashTable;

use super::detector::RankDetector;
use super::due::mix;
use super::nest::Nest;
use super::remnants::gcd;
use super::waiting::Entry;

/// Records of a group that a chain may be made of.
const MOST: usize = 16_384;

/// Records before the last one of a chain that are tried as the last but one.
const PAIRS: usize = 4096;

/// Places on each side among which the nearest earlier record is looked for.
const NEAR: usize = 8;

/// Records at one place among which the last one that is free is looked for.
const SAME: usize = 64;

/// Probes that setting up costs, for each record.
const SETUP: i64 = 16;

/// Shortest chain.
const SHORTEST: usize = 4;

/// Chains of which more are to be expected by chance than this do not count.
const CHANCE: f64 = 0.01;

impl RankDetector {
    /// Seeks patterns among the unmatched records of a group, as far as the credit allows.
    pub(super) fn seek_scattered(&mut self, g: u32) {
        let group = self.waiting.groups[g as usize];
        let n = (group.len as usize).min(MOST) as i64;
        let pairs = n.min(PAIRS as i64);
        // Looking at all once, and at least one record against all others.
        if self.credit < SETUP * n + pairs {
            return;
        }
        self.credit -= SETUP * n;
        let mut entries: Vec<Entry> = Vec::new();
        self.waiting.tail(g, MOST, &mut entries);
        let mut pool = Pool::new(entries, group.size);
        for newest in 0..pool.entries.len() {
            let seq = pool.entries[newest].seq;
            if seq <= group.paired || !pool.here[newest] {
                continue;
            }
            if self.credit < pairs {
                break;
            }
            self.waiting.groups[g as usize].paired = seq;
            let (chain, probes) = pool.chain_to(newest, group.size);
            self.credit -= probes;
            let Some(chain) = chain else { continue };
            self.reward(SETUP * n + 64 * pairs);
            chain.iter().for_each(|&i| pool.here[i] = false);
            let members: Vec<Entry> = chain.iter().map(|&i| pool.entries[i]).collect();
            let mut nest = Nest::new(members[0].offset);
            nest.wrap(members[1].offset);
            (2..members.len()).for_each(|_| nest.advance());
            let id = self.start(g, nest, &members);
            self.claim(id, &mut pool, newest);
        }
    }

    /// Gives a pattern what came after its last record.
    fn claim(&mut self, id: u32, pool: &mut Pool, after: usize) {
        for i in after + 1..pool.entries.len() {
            let Some(Some(open)) = self.opens.get(id as usize) else { return };
            if pool.here[i] && pool.entries[i].offset == open.due().offset {
                pool.here[i] = false;
                self.give(id, pool.entries[i].slot);
            }
        }
    }
}

/// Records with an index by place.
struct Pool {
    entries: Vec<Entry>,
    here: Vec<bool>,
    /// By place, those of one place in the order of time.
    order: Vec<u32>,
    /// The stretch of `order` at each place.
    index: HashTable<(u32, u32)>,
    extent: (u64, u64),
    size: u64,
}

fn hash(offset: u64) -> u64 {
    mix(offset, 0x1656_67b1_9e37_79f9)
}

impl Pool {
    fn new(entries: Vec<Entry>, size: u64) -> Pool {
        let place = |i: u32| entries[i as usize].offset;
        let mut order: Vec<u32> = (0..entries.len() as u32).collect();
        order.sort_unstable_by_key(|&i| (place(i), i));
        let mut index = HashTable::with_capacity(entries.len());
        let mut from = 0;
        for same in order.chunk_by(|&a, &b| place(a) == place(b)) {
            let to = from + same.len() as u32;
            index.insert_unique(hash(place(same[0])), (from, to), |r: &(u32, u32)| hash(place(order[r.0 as usize])));
            from = to;
        }
        let extent = order.first().zip(order.last()).map_or((1, 0), |(&a, &b)| (place(a), place(b)));
        Pool { here: vec![true; entries.len()], entries, index, order, extent, size }
    }

    /// The last record at this place that came before number `before`.
    #[inline]
    fn find(&self, offset: u64, before: usize) -> Option<usize> {
        if offset < self.extent.0 || offset > self.extent.1 {
            return None;
        }
        let here = |r: &(u32, u32)| self.entries[self.order[r.0 as usize] as usize].offset == offset;
        let &(from, to) = self.index.find(hash(offset), here)?;
        let same = &self.order[from as usize..to as usize];
        let earlier = same.partition_point(|&i| (i as usize) < before);
        same[..earlier].iter().rev().take(SAME).map(|&i| i as usize).find(|&i| self.here[i])
    }

    /// The nearest records at or below, and above, the place of record `newest` that came before it.
    fn neighbours(&self, newest: usize) -> impl Iterator<Item = usize> {
        let x = (self.entries[newest].offset, newest as u32);
        let here = self.order.partition_point(|&i| (self.entries[i as usize].offset, i) < x);
        let fits = |&&i: &&u32| (i as usize) < newest && self.here[i as usize];
        let below = self.order[..here].iter().rev().take(NEAR).find(fits);
        let above = self.order[here..].iter().take(NEAR).find(fits);
        [below, above].into_iter().flatten().map(|&i| i as usize).collect::<Vec<_>>().into_iter()
    }

    /// A chain that ends with record `newest`, oldest first, and the number of probes it cost to find it or none. Strides are
    /// tried in the order in which they are likely: back to back, to the nearest places, to any place.
    fn chain_to(&self, newest: usize, size: u64) -> (Option<Vec<usize>>, i64) {
        let x = self.entries[newest].offset;
        let mut probes = 2 * NEAR as i64;
        let before = x.checked_sub(size).and_then(|p| self.find(p, newest));
        let likely = before.into_iter().map(|p| (p, 1.0)).chain(self.neighbours(newest).map(|p| (p, 2.0)));
        for (previous, strides) in likely {
            let chain = self.chain(newest, previous, &mut probes);
            if self.counts(&chain, strides, &mut probes) {
                return (Some(chain), probes);
            }
        }
        let mut longest = Vec::new();
        let mut chains = 0u32;
        for previous in (0..newest).rev().take(PAIRS) {
            if !self.here[previous] {
                continue;
            }
            probes += 1;
            let p = self.entries[previous].offset;
            if self.find(p.wrapping_sub(x.wrapping_sub(p)), previous).is_some() {
                chains += 1;
                let chain = self.chain(newest, previous, &mut probes);
                if chain.len() > longest.len() {
                    longest = chain;
                }
            }
        }
        // Many short chains: the places are on a grid, and longer chains than chance would have it show, too.
        let enough = 3.0 + 1.5 * f64::from(chains.max(1)).log2();
        let found = longest.len() as f64 >= enough && self.counts(&longest, f64::INFINITY, &mut probes);
        (found.then_some(longest), probes)
    }

    /// The chain of records that ends with these two, oldest first.
    fn chain(&self, newest: usize, previous: usize, probes: &mut i64) -> Vec<usize> {
        let stride = self.entries[newest].offset.wrapping_sub(self.entries[previous].offset);
        let mut chain = vec![newest, previous];
        let mut at = previous;
        while let Some(i) = self.find(self.entries[at].offset.wrapping_sub(stride), at) {
            chain.push(i);
            at = i;
            *probes += 1;
        }
        chain.reverse();
        chain
    }

    /// True if a chain, one of so many strides that were tried, is longer than chance makes them.
    fn counts(&self, chain: &[usize], strides: f64, probes: &mut i64) -> bool {
        let [.., previous, newest] = *chain else { return false };
        if chain.len() < SHORTEST {
            return false;
        }
        *probes += self.entries.len() as i64 / 2;
        let place = self.entries[newest].offset;
        let stride = place.wrapping_sub(self.entries[previous].offset) as i64;
        self.expected(chain.len(), place, stride, strides) <= CHANCE
    }

    /// Chains of this length to be expected by chance: on the grid of the stride with s places, of which a share r is taken, there
    /// are s r^m / m! in the order of time, and as many times more as strides were tried: at most s.
    fn expected(&self, length: usize, place: u64, stride: i64, strides: f64) -> f64 {
        let step = stride.unsigned_abs();
        if step == 0 {
            return self.expected_visits(length);
        }
        let on_grid = |e: &Entry| e.offset.abs_diff(place).is_multiple_of(step);
        let taken = self.entries.iter().zip(&self.here).filter(|(e, here)| **here && on_grid(e)).count() as f64;
        let places = (self.extent.1 - self.extent.0) as f64 / step as f64 + 1.0;
        let share = (taken / places).min(1.0);
        let orders: f64 = (1..=length).map(|i| i as f64).product();
        strides.min(places) * places * share.powi(length as i32) / orders
    }

    /// Places of the grid to be expected with so many of the records, if these are anywhere on it: the order of records at one
    /// place tells nothing.
    fn expected_visits(&self, length: usize) -> f64 {
        let (low, high) = self.extent;
        let unit = self.entries.iter().fold(self.size, |unit, e| gcd(unit, e.offset - low));
        let places = (high - low).checked_div(unit).map_or(1.0, |n| n as f64 + 1.0);
        if places == 1.0 {
            return 0.0;
        }
        let each = self.entries.len() as f64 / places;
        // Of a Poisson distribution: the term of this number, and a bound for all larger ones.
        let term = (1..=length).fold((-each).exp(), |term, i| term * each / i as f64);
        let ratio = each / (length + 1) as f64;
        if ratio < 1.0 { places * term / (1.0 - ratio) } else { places }
    }
}
