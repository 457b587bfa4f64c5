//! The temporary list: records that no known pattern has accepted, by stream and size, oldest first.

use std::collections::VecDeque;

use hashbrown::HashTable;

use super::due::mix;

pub(super) const NONE: u32 = u32::MAX;

/// A record on the list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub offset: u64,
    pub seq: u64,
    pub start: f64,
    duration: f32,
    pub group: u32,
    next: u32,
    prev: u32,
}

impl Record {
    /// Seconds; the duration is kept to seven digits.
    pub fn end(&self) -> f64 {
        self.start + f64::from(self.duration)
    }
}

/// Records of one stream and size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub stream: u32,
    pub size: u64,
    head: u32,
    tail: u32,
    pub len: u32,
    /// Open patterns of this stream and size.
    pub patterns: u32,
    /// The pattern that took the last record of this stream and size.
    pub recent: u32,
    /// Records that came since the last search.
    pub fresh: u32,
    /// Last record that was tried with all others.
    pub paired: u64,
}

/// A record that has just come: its group is not looked up yet.
#[derive(Debug, Clone, Copy)]
struct Fresh {
    stream: u32,
    size: u64,
    offset: u64,
    seq: u64,
    start: f64,
    end: f64,
    hash: u64,
    group: u32,
}

/// A record that leaves the list without a pattern.
#[derive(Debug, Clone, Copy)]
pub(super) struct Old {
    pub slot: u32,
    pub group: u32,
    pub stream: u32,
    pub size: u64,
}

/// A record on the list and where it is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub slot: u32,
    pub offset: u64,
    pub seq: u64,
}

#[derive(Debug, Default)]
pub(super) struct Waiting {
    records: Vec<Record>,
    // What is freed first is taken first: records that came together lie together.
    free_records: VecDeque<u32>,
    pub groups: Vec<Group>,
    free_groups: VecDeque<u32>,
    index: HashTable<u32>,
    /// What has come since groups were looked up for the last time.
    held: Vec<Fresh>,
    /// Arrivals, of which some have left the list.
    arrivals: VecDeque<(u32, u64)>,
    /// Groups with fresh records, in order of arrival.
    pub dirty: Vec<u32>,
    pub fresh: usize,
}

fn hash(stream: u32, size: u64) -> u64 {
    mix(size, u64::from(stream) ^ 0x2545_f491_4f6c_dd1d)
}

impl Waiting {
    /// Puts a record on the list once [`Waiting::settle`] is called.
    #[inline]
    pub fn hold(&mut self, (stream, size): (u32, u64), offset: u64, seq: u64, start: f64, end: f64) {
        self.held.push(Fresh { stream, size, offset, seq, start, end, hash: hash(stream, size), group: NONE });
        self.fresh += 1;
    }

    /// Puts on the list what has come: many at once, since the group of each lies somewhere else, and memory brings many as fast
    /// as one.
    pub fn settle(&mut self) {
        let mut held = std::mem::take(&mut self.held);
        self.fresh -= held.len();
        for f in &mut held {
            f.group = self.find(f.hash, f.stream, f.size).unwrap_or(NONE);
        }
        for f in &held {
            // The first of several of one size has made their group.
            let g = if f.group == NONE { self.group(f.stream, f.size) } else { f.group };
            self.push(g, f.offset, f.seq, f.start, f.end);
        }
        held.clear();
        self.held = held;
    }

    #[inline]
    fn find(&self, hash: u64, stream: u32, size: u64) -> Option<u32> {
        let groups = &self.groups;
        let same = |&g: &u32| groups[g as usize].stream == stream && groups[g as usize].size == size;
        self.index.find(hash, same).copied()
    }

    /// The group of a stream and size, new or known.
    pub fn group(&mut self, stream: u32, size: u64) -> u32 {
        let h = hash(stream, size);
        if let Some(g) = self.find(h, stream, size) {
            return g;
        }
        let group =
            Group { stream, size, head: NONE, tail: NONE, len: 0, patterns: 0, recent: NONE, fresh: 0, paired: 0 };
        let g = match self.free_groups.pop_front() {
            Some(g) => {
                self.groups[g as usize] = group;
                g
            }
            None => {
                self.groups.push(group);
                (self.groups.len() - 1) as u32
            }
        };
        let groups = &self.groups;
        self.index.insert_unique(h, g, |&g| hash(groups[g as usize].stream, groups[g as usize].size));
        g
    }

    /// Forgets a group without records and patterns.
    pub fn release(&mut self, g: u32) {
        let group = &self.groups[g as usize];
        if group.len > 0 || group.patterns > 0 || group.fresh > 0 {
            return;
        }
        if let Ok(entry) = self.index.find_entry(hash(group.stream, group.size), |&x| x == g) {
            entry.remove();
            self.free_groups.push_back(g);
        }
    }

    /// Records on the list.
    pub fn len(&self) -> usize {
        self.records.len() - self.free_records.len()
    }

    /// Puts a record on the list.
    pub fn push(&mut self, g: u32, offset: u64, seq: u64, start: f64, end: f64) {
        let group = &mut self.groups[g as usize];
        let record =
            Record { offset, seq, start, duration: (end - start) as f32, group: g, next: NONE, prev: group.tail };
        let slot = match self.free_records.pop_front() {
            Some(s) => {
                self.records[s as usize] = record;
                s
            }
            None => {
                self.records.push(record);
                (self.records.len() - 1) as u32
            }
        };
        if group.tail == NONE {
            group.head = slot;
        } else {
            self.records[group.tail as usize].next = slot;
        }
        group.tail = slot;
        group.len += 1;
        if group.fresh == 0 {
            self.dirty.push(g);
        }
        group.fresh += 1;
        self.arrivals.push_back((slot, seq));
        self.fresh += 1;
    }

    pub fn record(&self, slot: u32) -> &Record {
        &self.records[slot as usize]
    }

    /// Takes a record from the list.
    pub fn remove(&mut self, slot: u32) -> Record {
        let record = self.records[slot as usize];
        let group = &mut self.groups[record.group as usize];
        group.len -= 1;
        if record.prev == NONE {
            group.head = record.next;
        } else {
            self.records[record.prev as usize].next = record.next;
        }
        let group = &mut self.groups[record.group as usize];
        if record.next == NONE {
            group.tail = record.prev;
        } else {
            self.records[record.next as usize].prev = record.prev;
        }
        // No arrival has this number: the one of this record is void from now on.
        self.records[slot as usize].seq = u64::MAX;
        self.free_records.push_back(slot);
        record
    }

    /// The number of the newest record of a group.
    pub fn newest(&self, g: u32) -> Option<u64> {
        let tail = self.groups[g as usize].tail;
        (tail != NONE).then(|| self.records[tail as usize].seq)
    }

    /// The last `most` records of a group, oldest first, and the number of the one before them.
    pub fn tail(&self, g: u32, most: usize, out: &mut Vec<Entry>) -> Option<u64> {
        out.clear();
        let mut at = self.groups[g as usize].tail;
        while at != NONE && out.len() < most {
            let r = &self.records[at as usize];
            out.push(Entry { slot: at, offset: r.offset, seq: r.seq });
            at = r.prev;
        }
        out.reverse();
        (at != NONE).then(|| self.records[at as usize].seq)
    }

    /// The last `most` arrivals that are still on the list, oldest first.
    pub fn latest(&self, most: usize) -> Vec<Entry> {
        let mut out: Vec<Entry> = Vec::with_capacity(most.min(self.arrivals.len()));
        for &(slot, seq) in self.arrivals.iter().rev().take(most) {
            let r = &self.records[slot as usize];
            if r.seq == seq {
                out.push(Entry { slot, offset: r.offset, seq });
            }
        }
        out.reverse();
        out
    }

    /// The oldest record, if it has waited for too long by the given rule.
    pub fn expired(&mut self, mut too_old: impl FnMut(&Record) -> bool) -> Option<u32> {
        while let Some(&(slot, seq)) = self.arrivals.front() {
            let r = &self.records[slot as usize];
            if r.seq == seq && !too_old(r) {
                return None;
            }
            self.arrivals.pop_front();
            if r.seq == seq {
                return Some(slot);
            }
        }
        None
    }

    /// The oldest records, as long as they have waited for too long by the given rule.
    pub fn all_expired(&mut self, too_old: impl FnMut(&Record) -> bool) -> Vec<Old> {
        let mut too_old = too_old;
        let mut out = Vec::new();
        while let Some(slot) = self.expired(&mut too_old) {
            out.push(Old { slot, group: self.records[slot as usize].group, stream: NONE, size: 0 });
        }
        // A walk of its own: each group lies where nothing was read for long, and memory brings many as fast as one.
        for old in &mut out {
            let group = &self.groups[old.group as usize];
            (old.stream, old.size) = (group.stream, group.size);
        }
        out
    }

    /// Drops marks of records that have left, once they are most of the list.
    pub fn tidy(&mut self) {
        let waiting = self.len();
        if self.arrivals.len() > 1024 && self.arrivals.len() > 4 * waiting {
            let records = &self.records;
            self.arrivals.retain(|&(slot, seq)| records[slot as usize].seq == seq);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_leave_in_any_order() {
        let mut w = Waiting::default();
        let g = w.group(3, 100);
        (0..5).for_each(|i| w.push(g, i * 10, i + 1, i as f64, i as f64));
        let mut all = Vec::new();
        w.tail(g, 10, &mut all);
        w.remove(all[2].slot);
        w.remove(all[0].slot);
        assert_eq!(w.tail(g, 2, &mut all), Some(2));
        assert_eq!(all.iter().map(|e| e.offset).collect::<Vec<_>>(), [30, 40]);
        w.push(g, 77, 6, 0.0, 0.0);
        assert_eq!(w.latest(10).iter().map(|e| e.offset).collect::<Vec<_>>(), [10, 30, 40, 77]);
        let first = w.expired(|_| true).unwrap();
        assert_eq!(w.remove(first).offset, 10);
        assert_eq!((w.group(3, 100), w.groups[g as usize].len), (g, 3));
    }

    #[test]
    fn what_comes_is_in_its_groups_once_settled() {
        let mut w = Waiting::default();
        w.hold((0, 100), 10, 1, 0.0, 0.5);
        w.settle();
        // Of a known size, and two of a new one.
        for (seq, size) in [(2, 100), (3, 7), (4, 7), (5, 100)] {
            w.hold((0, size), 10 * seq, seq, 0.0, 0.5);
        }
        assert_eq!((w.len(), w.fresh), (1, 5));
        w.settle();
        assert_eq!((w.len(), w.fresh, w.groups.len(), w.dirty.len()), (5, 5, 2, 2));
        let mut all = Vec::new();
        for (size, seqs) in [(100, &[1, 2, 5][..]), (7, &[3, 4])] {
            let g = w.group(0, size);
            assert_eq!(w.tail(g, 10, &mut all), None);
            assert_eq!(all.iter().map(|e| e.seq).collect::<Vec<_>>(), seqs);
        }
        let old = w.all_expired(|r| r.seq < 4);
        let seen: Vec<(u64, u64)> = old.iter().map(|o| (w.record(o.slot).seq, o.size)).collect();
        assert_eq!(seen, [(1, 100), (2, 100), (3, 7)]);
    }
}
