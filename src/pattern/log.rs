//! What a stream did, one access after the other, as long as that is little: a few hundred accesses as they are, more of them
//! as runs at a stride, and what is too long for that as nests ([`chain`](super::chain)). With it, a stream can be read again as
//! a whole when the trace ends ([`reread`](super::reread)).

use super::chain::Chain;
use super::options::Age;
use super::table::Table;
use super::walk::{Passes, Walk};

/// Accesses of a size at a stride.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Item {
    pub offset: u64,
    pub stride: i64,
    pub size: u64,
    pub count: u64,
    /// Start of the first and end of the last, seconds.
    pub start: f64,
    pub end: f64,
    /// Numbers of the first and the last among the records of the rank.
    pub span: (u64, u64),
}

impl Item {
    pub fn extended_by(&self, offset: u64, size: u64) -> bool {
        self.size == size
            && (self.count == 1 || offset == self.offset.wrapping_add(self.count.wrapping_mul(self.stride as u64)))
    }

    pub fn extend(&mut self, offset: u64, end: f64, seq: u64) {
        if self.count == 1 {
            self.stride = offset.wrapping_sub(self.offset) as i64;
        }
        self.count += 1;
        self.end = self.end.max(end);
        self.span.1 = seq;
    }

    /// The first `n` accesses, and the others; each has some.
    fn cut(&self, n: u64) -> (Item, Item) {
        let (last, first) = (self.part(n - 1), self.part(n));
        let stride = |count: u64| if count > 1 { self.stride } else { 0 };
        let head = Item { count: n, stride: stride(n), end: last.end, span: (self.span.0, last.span.1), ..*self };
        let count = self.count - n;
        let tail = Item {
            offset: first.offset,
            count,
            stride: stride(count),
            start: first.start,
            span: (first.span.0, self.span.1),
            ..*self
        };
        (head, tail)
    }

    /// True if this would still have waited when the next one came.
    pub fn is_near(&self, next: &Item, age: Age) -> bool {
        next.span.0.saturating_sub(self.span.1) <= age.records && next.start - self.end <= age.seconds
    }

    /// Accesses `from` to `to`, if that is some.
    pub fn range(&self, from: u64, to: u64) -> Option<Item> {
        let to = to.min(self.count);
        if from >= to {
            return None;
        }
        let head = if to < self.count { self.cut(to).0 } else { *self };
        Some(if from > 0 { head.cut(from).1 } else { head })
    }

    /// Where access `i` is.
    pub fn place(&self, i: u64) -> u64 {
        self.offset.wrapping_add(i.wrapping_mul(self.stride as u64))
    }

    /// Access `i`, its times and its number as if all took equally long.
    pub fn part(&self, i: u64) -> Item {
        let at = |i: u64| self.start + (self.end - self.start) * i as f64 / self.count as f64;
        let seq = self.span.0 + (self.span.1 - self.span.0) * i / (self.count - 1).max(1);
        let (start, end) = if self.count == 1 { (self.start, self.end) } else { (at(i), at(i + 1)) };
        let offset = self.place(i);
        Item { offset, stride: 0, size: self.size, count: 1, start, end, span: (seq, seq) }
    }
}

/// Accesses that are kept one by one, and items at most.
const SINGLE: usize = 4096;
const MOST: usize = 8192;

/// Accesses among which a list over and over is looked for.
const ALL: u64 = 4 * MOST as u64;

/// Sizes of which there may be too many accesses.
const BUSY: usize = 4;

/// Accesses of a size that are given one by one; of more, those of a run together.
const FEW: usize = 512;

/// Fewest accesses of such a run: any two have a stride, and chance makes three. Longer ones will do where there are no more
/// items then.
const RUN: usize = 5;
const LONG: usize = 16;
const MANY: usize = 2048;

/// The accesses of one operation and file by one rank.
#[derive(Debug)]
pub(super) struct Log {
    age: Age,
    items: Vec<Item>,
    /// They are runs.
    runs: bool,
    /// Nests of sizes of which there are too many items, which come before these.
    chains: Vec<Chain>,
    /// What they take in memory, in items.
    weight: usize,
    /// Sizes that are not kept any more.
    busy: Vec<u64>,
    /// They are a list, and it is this that is done over and over.
    passes: Option<Passes>,
}

impl Log {
    /// Accesses that are further apart have nothing to do with each other.
    pub fn new(age: Age) -> Log {
        Log { age, items: Vec::new(), runs: false, chains: Vec::new(), weight: 0, busy: Vec::new(), passes: None }
    }

    /// What it takes in memory, in items.
    pub fn len(&self) -> usize {
        self.items.len() + self.weight
    }

    /// Takes the next access if it goes on with a run, or need not be kept.
    #[inline]
    pub fn extend(&mut self, offset: u64, size: u64, end: f64, seq: u64) -> bool {
        match self.items.last_mut() {
            Some(last) if self.runs && last.extended_by(offset, size) => {
                last.extend(offset, end, seq);
                true
            }
            _ => self.busy.contains(&size),
        }
    }

    /// Takes the next access; false if it is one too many.
    pub fn push(&mut self, offset: u64, size: u64, times: (f64, f64), seq: u64) -> bool {
        if self.extend(offset, size, times.1, seq) {
            return true;
        }
        if let Some(passes) = &mut self.passes {
            return passes.take(&self.items, (offset, size), times, seq);
        }
        let (start, end) = times;
        self.items.push(Item { offset, stride: 0, size, count: 1, start, end, span: (seq, seq) });
        if self.items.len() > SINGLE {
            self.shorten();
        }
        self.items.len() <= MOST || self.shrink()
    }

    /// Keeps but one pass of a list that is all there is, over and over; false if it is none.
    #[cold]
    fn fold(&mut self) -> bool {
        if !self.chains.is_empty() || self.items.iter().map(|i| i.count).sum::<u64>() > ALL {
            return false;
        }
        let mut all = self.accesses(|_| true);
        let Some((length, passes)) = Passes::of(&all).filter(|p| p.0 <= MOST) else { return false };
        all.truncate(length);
        all.shrink_to_fit();
        (self.items, self.runs, self.passes) = (all, false, Some(passes));
        true
    }

    /// Passes over a list of which it keeps but one.
    pub fn passes(&self) -> Option<&Passes> {
        self.passes.as_ref()
    }

    fn accesses(&self, of: impl Fn(&Item) -> bool) -> Vec<Item> {
        self.items.iter().filter(|i| of(i)).flat_map(|i| (0..i.count).map(|k| i.part(k))).collect()
    }

    /// Keeps runs, not single accesses, from now on.
    #[cold]
    fn shorten(&mut self) {
        if self.runs {
            return;
        }
        self.runs = true;
        let mut runs: Vec<Item> = Vec::new();
        for i in self.items.drain(..) {
            match runs.last_mut() {
                Some(last) if last.extended_by(i.offset, i.size) => last.extend(i.offset, i.end, i.span.1),
                _ => runs.push(i),
            }
        }
        self.items = runs;
    }

    /// Keeps less: runs, if these are not much less the nests of the size of which there is most, if those are not either one pass
    /// of a list; else that size is kept no more. False if there are too many such sizes.
    #[cold]
    pub fn shrink(&mut self) -> bool {
        if self.passes.is_some() {
            return false;
        }
        if !self.runs {
            let before = self.items.len();
            self.shorten();
            if self.items.len() <= before / 2 {
                return true;
            }
        }
        let mut of_size: Table<u64, usize> = Table::default();
        self.items.iter().for_each(|i| *of_size.entry(i.size).or_default() += 1);
        let Some((&size, &n)) = of_size.iter().max_by_key(|(size, n)| (**n, **size)) else { return false };
        let known = self.chain(size);
        let before = known.map_or(0, Chain::weight);
        let mut chain = known.cloned().unwrap_or_else(|| Chain::new(size, self.age));
        let rest = chain.take(self.runs(size));
        let less = rest.len() + chain.weight() <= n / 2 + before;
        if !less && self.fold() {
            return true;
        }
        self.items.retain(|i| i.size != size);
        self.chains.retain(|c| c.size() != size);
        self.weight -= before;
        if less {
            self.weight += chain.weight();
            self.chains.push(chain);
            self.items.extend(rest);
            self.items.sort_unstable_by_key(|i| i.span);
            return true;
        }
        self.items.shrink_to_fit();
        self.busy.push(size);
        self.busy.len() <= BUSY
    }

    /// Sizes whose accesses are kept, in order; true if these are all.
    pub fn sizes(&self) -> (Vec<u64>, bool) {
        let mut sizes: Vec<u64> =
            self.items.iter().map(|i| i.size).chain(self.chains.iter().map(Chain::size)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        (sizes, self.busy.is_empty())
    }

    /// Number of accesses of a size that is kept.
    pub fn count(&self, size: u64) -> u64 {
        let visits = |i: usize| self.passes.map_or(1, |p| p.visits(i));
        let items = (0..).zip(&self.items).filter(|(_, item)| item.size == size);
        items.map(|(i, item)| item.count * visits(i)).sum::<u64>() + self.chain(size).map_or(0, Chain::records)
    }

    /// All accesses of a size one by one, if they are kept and few, or a list over and over.
    pub fn walk(&self, size: u64) -> Option<Walk> {
        if self.busy.contains(&size) || self.chain(size).is_some() {
            return None;
        }
        if let Some(passes) = &self.passes {
            return passes.walk(&self.items, size);
        }
        let n = self.count(size);
        let all = (n <= ALL).then(|| self.accesses(|i| i.size == size))?;
        Walk::new(all, 1, (0.0, 0)).filter(|walk| n <= MOST as u64 || walk.passes > 1)
    }

    /// All accesses one by one, if they are kept and few.
    pub fn all(&self) -> Option<Vec<Item>> {
        let all_kept = self.busy.is_empty() && self.chains.is_empty() && self.passes.is_none();
        let few = || self.items.iter().map(|i| i.count).sum::<u64>() <= ALL;
        (all_kept && few()).then(|| self.accesses(|_| true))
    }

    /// The same, or one pass of a list over and over.
    pub fn known(&self) -> Option<Vec<Item>> {
        if self.passes.is_some() { Some(self.items.clone()) } else { self.all() }
    }

    /// The nests of a size of which there are too many items, but for the last items.
    pub fn chain(&self, size: u64) -> Option<&Chain> {
        self.chains.iter().find(|c| c.size() == size)
    }

    /// The items of a size.
    pub fn runs(&self, size: u64) -> Vec<Item> {
        self.items.iter().filter(|i| i.size == size).copied().collect()
    }

    /// The accesses of a size.
    pub fn of_size(&self, size: u64) -> Vec<Item> {
        let mut out: Vec<Item> = Vec::new();
        for i in self.items.iter().filter(|i| i.size == size) {
            if i.count < RUN as u64 {
                out.extend((0..i.count).map(|k| i.part(k)));
            } else {
                out.push(*i);
            }
        }
        if out.len() > FEW {
            let long = with_runs(&out, LONG);
            out = if long.len() <= MANY { long } else { with_runs(&out, RUN) };
        }
        apart(out)
    }
}

/// Places in the middle of a run at which it is cut, at most.
const CUTS: usize = 8;

/// A run: its first place, its stride, and how many accesses it has.
type Run = (u64, i64, u64);

/// The items with runs cut where other runs begin and after their ends, where they took in the end of the run before or the
/// start of the one after it, and with an access by itself that what comes before or after may as well have: the last one, and
/// the first one where what is before would go on with it. The same run is cut alike wherever it is.
fn apart(items: Vec<Item>) -> Vec<Item> {
    let runs = || items.iter().filter(|i| i.count > 1);
    let mut starts: Vec<u64> = runs().flat_map(|i| [i.offset, after(i)]).collect();
    starts.sort_unstable();
    starts.dedup();
    let run = |i: &Item| -> Run { (i.offset, i.stride, i.count) };
    let mut cut_at: Table<Run, Vec<u64>> = Table::default();
    for (i, item) in items.iter().enumerate().filter(|(_, item)| item.count > 1) {
        let at = cut_at.entry(run(item)).or_insert_with(|| {
            let mut at = cuts(item, &starts);
            at.push(item.count - 1);
            at
        });
        let (before, next) = (&items[..i], &items[i + 1..]);
        let (before_it, after_it) = (row(before.iter().rev(), item.stride), row(next.iter(), item.stride));
        at.extend([before_it, item.count.saturating_sub(after_it)].into_iter().filter(|n| (1..item.count).contains(n)));
        at.extend(goes_on(before, item).then_some(1));
    }
    let mut out: Vec<Item> = Vec::with_capacity(items.len());
    for item in &items {
        let mut rest = *item;
        if let Some(at) = cut_at.get_mut(&run(item)) {
            at.sort_unstable();
            at.dedup();
            for &at in at.iter() {
                let (head, tail) = rest.cut(at - (item.count - rest.count));
                out.push(head);
                rest = tail;
            }
        }
        out.push(rest);
    }
    out
}

/// Where a run would go on.
fn after(run: &Item) -> u64 {
    run.offset.wrapping_add(run.count.wrapping_mul(run.stride as u64))
}

/// Accesses that these items begin with, in their order or against it, one after the other at a stride.
fn row<'a>(items: impl Iterator<Item = &'a Item>, stride: i64) -> u64 {
    let (mut count, mut last): (u64, Option<&Item>) = (0, None);
    for i in items {
        let own = i.count == 1 || i.stride == stride;
        let goes_on = last.is_none_or(|l| {
            let (first, second) = if l.span.1 < i.span.0 { (l, i) } else { (i, l) };
            second.offset == first.offset.wrapping_add(first.count.wrapping_mul(stride as u64))
        });
        if !own || !goes_on {
            break;
        }
        (count, last) = (count + i.count, Some(i));
    }
    count
}

/// True if what comes before goes on at this item: a run, or single accesses at a stride or back to back.
fn goes_on(before: &[Item], item: &Item) -> bool {
    let gap = |a: &Item, b: &Item| b.offset.wrapping_sub(a.offset);
    match before {
        [.., a] if a.count > 1 => after(a) == item.offset,
        [.., a] if gap(a, item) == a.size => true,
        [.., a, b] => a.count == 1 && gap(a, b) == gap(b, item),
        _ => false,
    }
}

/// The accesses of a run, but the first one, at which other runs begin; none if there are many.
fn cuts(run: &Item, starts: &[u64]) -> Vec<u64> {
    let step = run.stride.unsigned_abs();
    if run.count < 2 || step == 0 {
        return Vec::new();
    }
    let end = run.part(run.count - 1).offset;
    let (low, high) = (run.offset.min(end), run.offset.max(end));
    let inside = &starts[starts.partition_point(|&s| s < low)..starts.partition_point(|&s| s <= high)];
    let on_it = inside.iter().map(|s| s.abs_diff(run.offset)).filter(|d| *d > 0 && d.is_multiple_of(step));
    let mut at: Vec<u64> = on_it.map(|d| d / step).take(CUTS + 1).collect();
    at.sort_unstable();
    if at.len() > CUTS { Vec::new() } else { at }
}

/// The items with those joined that are a run of at least so many accesses.
fn with_runs(items: &[Item], least: usize) -> Vec<Item> {
    let mut out: Vec<Item> = Vec::with_capacity(items.len());
    let mut i = 0;
    while i < items.len() {
        let mut run = items[i];
        let mut n = 1;
        while let Some(next) = items.get(i + n) {
            let stride = if run.count > 1 { run.stride } else { next.offset.wrapping_sub(run.offset) as i64 };
            let goes_on = run.extended_by(next.offset, next.size) && (next.count == 1 || next.stride == stride);
            if !goes_on {
                break;
            }
            if run.count == 1 {
                run.stride = next.offset.wrapping_sub(run.offset) as i64;
            }
            (run.count, run.end, run.span.1) = (run.count + next.count, run.end.max(next.end), next.span.1);
            n += 1;
        }
        if run.count < least as u64 {
            out.push(items[i]);
            i += 1;
        } else {
            out.push(run);
            i += n;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: Age = Age { records: u64::MAX, seconds: f64::INFINITY };

    #[test]
    fn a_log_gives_back_every_access() {
        // pairs, runs, and a step that belongs to the run after it
        let places: Vec<u64> = (0..1500).flat_map(|i| [i * 100, i * 100 + 7, i * 100 + 14, i * 100 + 60]).collect();
        for n in [5, 400, 1200, 6000] {
            let mut log = Log::new(NEVER);
            let kept =
                places[..n].iter().enumerate().all(|(i, &o)| log.push(o, 8, (i as f64, i as f64 + 0.5), i as u64));
            let items = log.of_size(8);
            let back: Vec<u64> = items.iter().flat_map(|i| (0..i.count).map(|k| i.part(k).offset)).collect();
            assert!(kept && back == places[..n], "{n}");
            assert!(items.iter().all(|i| i.count == 1 || i.count >= RUN as u64));
        }
        // Of two sizes one is little.
        let mut log = Log::new(NEVER);
        let both = |i: u64| (i * i * i, if i.is_multiple_of(100) { 16 } else { 8 });
        assert!((0..20_000u64).all(|i| log.push(both(i).0, both(i).1, (i as f64, i as f64), i)));
        assert_eq!((log.sizes(), log.of_size(16).len()), ((vec![16], false), 200));
        // A list over and over takes as much as one pass.
        let list: Vec<u64> = (0..6000u64).map(|i| i * i % 6007 * 64).collect();
        let mut log = Log::new(NEVER);
        let at = |i: u64| list[i as usize % list.len()];
        assert!((0..600_000u64).all(|i| log.push(at(i), 8, (i as f64, i as f64), i)));
        let walk = log.walk(8).unwrap();
        assert_eq!((log.len(), walk.passes, log.count(8)), (list.len(), 100, 600_000));
        assert!(walk.list().iter().zip(&list).all(|(i, o)| i.offset == *o));
        assert!(!log.push(at(1), 8, (0.0, 0.0), 0));
        let mut log = Log::new(NEVER);
        assert!(!(0..100_000u64).all(|i| log.push(i * i * i, i % 7, (i as f64, i as f64), i)));
    }
}
