//! Lists of accesses that are gone through over and over, of which one pass is enough to keep.

use super::log::Item;
use super::options::Age;

/// Visits of a place that are told apart in time.
const VISITS: u64 = 256;

/// Length of the list that these are, over and over, the last time perhaps in part: their own, if they are none.
fn shortest_list(items: &[Item]) -> usize {
    // Borders (Knuth, Morris, Pratt).
    let same = |i: usize, j: usize| (items[i].offset, items[i].size) == (items[j].offset, items[j].size);
    let n = items.len();
    let mut border = vec![0usize; n + 1];
    let mut k = 0;
    for i in 1..n {
        while k > 0 && !same(i, k) {
            k = border[k];
        }
        k += usize::from(same(i, k));
        border[i + 1] = k;
    }
    n - border[n]
}

/// How far the passes over a list are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Passes {
    whole: u64,
    /// Accesses of the list that the pass after these has had.
    at: usize,
    /// Start of the last whole pass and number of its first access among those of the rank; the same of the pass after it.
    last: (f64, u64),
    next: (f64, u64),
    /// End and number of the last access, and the most seconds and accesses between two.
    end: (f64, u64),
    gap: (f64, u64),
}

impl Passes {
    /// The length of the list that these accesses are, over and over, and its passes; `None` if there are no two of them.
    pub fn of(all: &[Item]) -> Option<(usize, Passes)> {
        let length = shortest_list(all);
        if length == 0 || all.len() < 2 * length {
            return None;
        }
        let whole = all.len() / length;
        let begin = |pass: usize| all.get(pass * length).map_or((0.0, 0), |i| (i.start, i.span.0));
        let (at, last, next) = (all.len() % length, begin(whole - 1), begin(whole));
        let mut passes = Passes { whole: whole as u64, at, last, next, end: begin(0), gap: (0.0, 0) };
        all.iter().for_each(|i| passes.follow((i.start, i.end), i.span.0));
        Some((length, passes))
    }

    /// Takes the next access if it is the one that the list has next.
    pub fn take(&mut self, list: &[Item], (offset, size): (u64, u64), times: (f64, f64), seq: u64) -> bool {
        if list.get(self.at).is_none_or(|due| (due.offset, due.size) != (offset, size)) {
            return false;
        }
        if self.at == 0 {
            self.next = (times.0, seq);
        }
        self.follow(times, seq);
        self.at += 1;
        if self.at == list.len() {
            (self.at, self.last) = (0, self.next);
            self.whole += 1;
        }
        true
    }

    fn follow(&mut self, (start, end): (f64, f64), seq: u64) {
        let gap = (start - self.end.0, seq.saturating_sub(self.end.1));
        self.gap = (self.gap.0.max(gap.0), self.gap.1.max(gap.1));
        self.end = (end, seq);
    }

    /// True if no two accesses that follow each other are further apart.
    pub fn are_near(&self, age: Age) -> bool {
        self.gap.0 <= age.seconds && self.gap.1 <= age.records
    }

    /// How often the access with this number in the list has come.
    pub fn visits(&self, i: usize) -> u64 {
        self.whole + u64::from(i < self.at)
    }

    /// The walk over these accesses of the list, in whole passes.
    pub fn walk(&self, list: &[Item], size: u64) -> Option<Walk> {
        let first = list.first().filter(|_| self.at == 0)?;
        let later = (self.last.0 - first.start, self.last.1.saturating_sub(first.span.0));
        Walk::new(list.iter().filter(|i| i.size == size).copied().collect(), self.whole, later)
    }
}

/// The accesses of a stream of one size, one by one: a list and how often it is gone through.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    /// So often.
    items: Vec<Item>,
    times: u64,
    /// Seconds and accesses of the rank from the first time to the last.
    later: (f64, u64),
    /// Length of the list, which the items may be several times.
    length: usize,
    pub passes: u64,
}

impl Walk {
    /// `None` without items.
    pub fn new(items: Vec<Item>, times: u64, later: (f64, u64)) -> Option<Walk> {
        let length = shortest_list(&items);
        let length = if length > 0 && items.len().is_multiple_of(length) { length } else { items.len() };
        let passes = (items.len() as u64 * times).checked_div(length as u64)?;
        Some(Walk { items, times, later, length, passes })
    }

    /// All accesses.
    pub fn records(&self) -> u64 {
        self.length as u64 * self.passes
    }

    /// Those of one pass.
    pub fn list(&self) -> &[Item] {
        &self.items[..self.length]
    }

    /// Access `n`, its times and its number as if all passes took equally long where they are not known.
    fn nth(&self, n: u64) -> Item {
        let (time, i) = (n / self.items.len() as u64, n % self.items.len() as u64);
        let item = self.items[i as usize];
        let intervals = (self.times - 1).max(1);
        let seconds = self.later.0 * time as f64 / intervals as f64;
        let seq = (u128::from(self.later.1) * u128::from(time) / u128::from(intervals)) as u64;
        let (start, end) = (item.start + seconds, item.end + seconds);
        Item { start, end, span: (item.span.0 + seq, item.span.1 + seq), ..item }
    }

    /// All accesses, one after the other.
    pub fn accesses(&self) -> impl Iterator<Item = Item> + '_ {
        (0..self.records()).map(|n| self.nth(n))
    }

    /// Passes that are told together where they are very many: how many such groups there are.
    pub fn groups(&self) -> u64 {
        self.passes.min(VISITS)
    }

    /// What the passes of a group do at an access of the list.
    pub fn visit(&self, i: usize, group: u64) -> Item {
        let pass = |group: u64| (u128::from(self.passes) * u128::from(group) / u128::from(self.groups())) as u64;
        let (from, to) = (pass(group), pass(group + 1));
        let at = |pass: u64| self.nth(pass * self.length as u64 + i as u64);
        let (first, last) = (at(from), at(to - 1));
        Item { count: to - from, end: last.end, span: (first.span.0, last.span.1), ..first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(places: &[u64]) -> Vec<Item> {
        let item = |(i, &offset): (usize, &u64)| {
            let (start, seq) = (i as f64, i as u64);
            Item { offset, stride: 0, size: 8 + offset % 2 * 8, count: 1, start, end: start + 0.5, span: (seq, seq) }
        };
        places.iter().enumerate().map(item).collect()
    }

    #[test]
    fn one_pass_tells_all() {
        let list = [5u64, 2, 8, 2, 4, 7];
        let all = items(&list.repeat(40));
        let (length, mut passes) = Passes::of(&all[..15]).unwrap();
        assert_eq!((length, passes.visits(2), passes.visits(3)), (6, 3, 2));
        let take = |p: &mut Passes, i: &Item| p.take(&all[..6], (i.offset, i.size), (i.start, i.end), i.span.0);
        assert!(all[15..].iter().all(|i| take(&mut passes, i)));
        assert!(!take(&mut passes, &all[1]));
        for size in [8, 16] {
            let want: Vec<Item> = all.iter().filter(|i| i.size == size).copied().collect();
            let (one, whole) = (passes.walk(&all[..6], size).unwrap(), Walk::new(want.clone(), 1, (0.0, 0)).unwrap());
            assert_eq!(one.accesses().collect::<Vec<_>>(), want);
            assert_eq!(
                (one.passes, one.list().len(), one.records()),
                (whole.passes, whole.list().len(), want.len() as u64)
            );
            let visits: Vec<Item> = (0..one.groups()).map(|g| one.visit(0, g)).collect();
            assert_eq!(visits, (0..whole.groups()).map(|g| whole.visit(0, g)).collect::<Vec<_>>());
        }
        let age = |records| Age { records, seconds: f64::INFINITY };
        assert!(passes.are_near(age(1)) && !passes.are_near(age(0)));
        // In the middle of a pass there is no whole number of them.
        assert!(take(&mut passes, &all[0]) && passes.walk(&all[..6], 8).is_none());
        assert!(Passes::of(&all[..11]).is_none());
    }

    #[test]
    fn many_visits_are_told_together() {
        let all = items(&[0, 2]);
        let walk = Walk::new(all, 1_000_000, (2_000_000.0, 1_999_998)).unwrap();
        let visits: Vec<Item> = (0..walk.groups()).map(|g| walk.visit(1, g)).collect();
        assert_eq!((visits.len() as u64, visits.iter().map(|v| v.count).sum::<u64>()), (VISITS, 1_000_000));
        assert!(visits.windows(2).all(|w| w[0].span.1 < w[1].span.0));
    }
}
