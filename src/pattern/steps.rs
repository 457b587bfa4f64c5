//! When a pattern was active, in bounded memory.
use super::thresholds::LIMITS;

/// A stretch of time in which a pattern moved bytes without a pause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Seconds.
    pub start: f64,
    /// Seconds.
    pub end: f64,
    /// Bytes moved.
    pub bytes: u64,
    /// Accesses.
    pub records: u64,
}

/// The steps of a pattern. When there are too many, short pauses are closed if pauses are of two kinds; else the oldest
/// half is forgotten.
#[derive(Debug, Clone, Default)]
pub struct Steps {
    list: Vec<Step>,
    /// Pauses up to this are none.
    tolerance: f64,
    /// Records of steps that were forgotten.
    forgotten: u64,
}

/// Steps of a pattern that was joined of others.
const MOST_JOINED: usize = 4096;

impl Steps {
    /// The steps in order.
    pub fn list(&self) -> &[Step] {
        &self.list
    }

    /// One step.
    pub fn of(start: f64, end: f64, bytes: u64) -> Steps {
        Steps { list: vec![Step { start, end, bytes, records: 1 }], ..Steps::default() }
    }

    /// Start of the first step and end of the last.
    pub fn span(&self) -> Option<(f64, f64)> {
        let end = self.list.iter().map(|s| s.end).reduce(f64::max)?;
        Some((self.list.first()?.start, end))
    }

    /// Records before the first step that is still known.
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Adds an access; `most` bounds the number of steps.
    #[inline]
    pub fn add(&mut self, start: f64, end: f64, bytes: u64, most: usize) {
        if let Some(last) = self.list.last_mut()
            && start <= last.end + self.tolerance
        {
            last.end = last.end.max(end);
            last.bytes = last.bytes.saturating_add(bytes);
            last.records += 1;
            return;
        }
        self.list.push(Step { start, end, bytes, records: 1 });
        if self.list.len() > most {
            self.shrink();
        }
    }

    #[cold]
    fn shrink(&mut self) {
        let mut gaps: Vec<f64> = self.list.windows(2).map(|w| w[1].start - w[0].end).collect();
        gaps.sort_unstable_by(f64::total_cmp);
        let median = gaps[gaps.len() / 2];
        let long = gaps.len() - gaps.partition_point(|g| *g <= LIMITS.long_pause * median);
        if long > 0 && median > 0.0 {
            self.tolerance = 0.5 * LIMITS.long_pause * median;
            let mut merged: Vec<Step> = Vec::with_capacity(self.list.len());
            for s in self.list.drain(..) {
                match merged.last_mut() {
                    Some(m) if s.start <= m.end + self.tolerance => {
                        m.end = m.end.max(s.end);
                        m.bytes = m.bytes.saturating_add(s.bytes);
                        m.records += s.records;
                    }
                    _ => merged.push(s),
                }
            }
            self.list = merged;
        }
        let half = self.list.len() / 2;
        if half > gaps.len() / 4 {
            self.forgotten += self.list.drain(..half).map(|s| s.records).sum::<u64>();
        }
    }

    /// Cuts off everything after the first `records` records. A step that holds the cut is divided evenly in time.
    pub fn split_off(&mut self, records: u64) -> Steps {
        let mut before = self.forgotten;
        let mut i = 0;
        while i < self.list.len() && before + self.list[i].records <= records {
            before += self.list[i].records;
            i += 1;
        }
        let mut tail = self.list.split_off(i);
        if let Some(first) = tail.first_mut()
            && before < records
        {
            let n = records - before;
            let share = n as f64 / first.records as f64;
            let middle = first.start + share * (first.end - first.start);
            let bytes = (first.bytes as f64 * share) as u64;
            self.list.push(Step { start: first.start, end: middle, bytes, records: n });
            *first = Step {
                start: middle,
                end: first.end,
                bytes: first.bytes - bytes.min(first.bytes),
                records: first.records - n,
            };
        }
        Steps { list: tail, tolerance: self.tolerance, forgotten: 0 }
    }

    /// Joins neighbours, pauses between them too, until there are at most `most`, and gives back memory.
    pub fn thin(&mut self, most: usize) {
        while self.list.len() > most.max(1) {
            let join = |pair: &[Step]| Step {
                start: pair[0].start,
                end: pair.iter().map(|s| s.end).fold(f64::NEG_INFINITY, f64::max),
                bytes: pair.iter().fold(0, |sum, s| sum.saturating_add(s.bytes)),
                records: pair.iter().map(|s| s.records).sum(),
            };
            self.list = self.list.chunks(2).map(join).collect();
        }
        self.list.shrink_to_fit();
    }

    /// True if nothing was noted.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes in steps that came later, or between its own. Steps that overlap, of several ranks, are one.
    pub fn append(&mut self, other: Steps) {
        self.forgotten += other.forgotten;
        self.tolerance = self.tolerance.max(other.tolerance);
        let apart = self.list.last().is_none_or(|a| other.list.first().is_none_or(|b| a.end < b.start));
        self.list.extend(other.list);
        if !apart {
            self.list.sort_by(|a, b| a.start.total_cmp(&b.start));
            self.list.dedup_by(|next, step| {
                let overlaps = next.start <= step.end;
                if overlaps {
                    step.end = step.end.max(next.end);
                    step.bytes = step.bytes.saturating_add(next.bytes);
                    step.records += next.records;
                }
                overlaps
            });
        }
        if self.list.len() > MOST_JOINED {
            self.shrink();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_stay_apart_and_requests_melt() {
        let mut s = Steps::default();
        for burst in 0..50 {
            for i in 0..100 {
                let t = f64::from(burst) + 0.001 * f64::from(i);
                s.add(t, t + 0.0005, 10, 256);
            }
        }
        assert!(s.list().len() <= 256 && s.list().len() >= 50, "{}", s.list().len());
        assert_eq!(s.forgotten() + s.list().iter().map(|x| x.records).sum::<u64>(), 5000);
        for burst in 1..50 {
            let pause = (f64::from(burst) - 0.5, f64::from(burst));
            assert!(!s.list().iter().any(|x| x.start < pause.0 && x.end > pause.1));
        }
    }

    #[test]
    fn an_even_beat_keeps_its_latest_steps() {
        let mut s = Steps::default();
        for i in 0..1000 {
            s.add(f64::from(i), f64::from(i) + 0.1, 1, 100);
        }
        assert!(s.list().len() >= 50 && s.list().len() <= 100);
        assert_eq!(s.list().last().map(|x| x.start), Some(999.0));
        assert_eq!(s.forgotten() + s.list().len() as u64, 1000);
    }

    #[test]
    fn splitting_conserves() {
        let mut s = Steps::default();
        for i in 0..10 {
            s.add(f64::from(i), f64::from(i) + 1.0, 7, 100);
        }
        let tail = s.split_off(3);
        let sum = |s: &Steps| s.list().iter().map(|x| (x.records, x.bytes)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        assert_eq!((sum(&s), sum(&tail)), ((3, 21), (7, 49)));
        assert_eq!(tail.list()[0].start, 3.0);
    }
}
