//! Streams that are one list over and over, of which the log keeps but one pass: read again when the trace ends, as nests of the
//! list with a loop around them.

use super::again::{Reread, told_by};
use super::left::{Folded, counts};
use super::log::{Item, Log};
use super::pattern::Pattern;
use super::reading::Piece;
use super::reread;
use super::walk::Walk;
use crate::record::{FileId, Op};

impl Reread {
    /// What accesses of these sizes are: the patterns known, of which some may only be counted, or those of the list.
    pub fn list(
        &mut self,
        (op, rank, file): (Op, u32, FileId),
        log: &Log,
        sizes: &[u64],
        old: Vec<Pattern>,
        folded: Folded,
    ) -> Vec<Pattern> {
        let known = old.iter().fold(folded.records, |sum, p| sum + p.records);
        let Some(alone) = sizes.iter().map(|&s| log.count(s)).sum::<u64>().checked_sub(known) else { return old };
        let mut patterns = Vec::new();
        for &size in sizes {
            let Some(walk) = log.walk(size) else { return old };
            let reading = reread::over_and_over(walk.list(), size, walk.passes).filter(|r| r.rest.is_empty());
            let Some(reading) = reading else { return old };
            patterns.extend(reading.pieces.iter().map(|piece| told_over(piece, &walk, (op, rank, file), size)));
        }
        if known > 0 && alone == 0 && folded.patterns == 0 && old.iter().all(counts) && old.len() <= patterns.len() {
            return old;
        }
        self.streams.extend(sizes.iter().map(|&size| (op, file, size)));
        self.alone += alone;
        self.folded.append(folded);
        patterns
    }
}

/// The pattern of a nest of the accesses of a list that is gone through over and over.
pub(super) fn told_over(piece: &Piece, walk: &Walk, of: (Op, u32, FileId), size: u64) -> Pattern {
    let visits = |group: u64| piece.items.iter().map(move |&i| walk.visit(i, group));
    let items: Vec<Item> = (0..walk.groups()).flat_map(visits).collect();
    told_by(&Piece { items: (0..items.len()).collect(), ..piece.clone() }, &items, of, size)
}

#[cfg(test)]
mod tests {
    use super::super::access::Access;
    use super::super::options::Options;
    use super::super::{Kind, RankDetector};
    use super::*;

    #[test]
    fn a_long_list_over_and_over_is_a_loop_at_each_place() {
        // In an order that is none; little else is kept.
        let places: Vec<u64> = (0..5003u64).map(|i| i * i % 5003 * 5003 + i).collect();
        for passes in [3, 12] {
            let mut d = RankDetector::new(0, Options::default());
            (d.most.left, d.most.closed) = (100, 20_000);
            for (i, place) in (0u64..).zip(places.repeat(passes)) {
                let (op, file, offset, start) = (Op::Read, FileId(0), place * 64, i as f64);
                d.push(&Access { op, rank: 0, file, offset, size: 64, start, end: start + 0.5 });
            }
            let found = d.finish();
            assert_eq!((found.patterns.len(), found.unmatched_records, found.folded.patterns), (places.len(), 0, 0));
            let each = |p: &Pattern| p.kind() == Kind::FixedStrided && p.records == passes as u64;
            assert!(found.patterns.iter().all(each));
            let n = places.len() as f64;
            let first = found.patterns.iter().find(|p| p.start_offset == places[7] * 64).unwrap();
            // Its times as far as they are known: of two accesses together.
            let times = (7.0, 7.5 + n * (passes - 1) as f64);
            assert!((first.start - times.0).abs() < 1.0 && (first.end - times.1).abs() < 1.0, "{first:?}");
        }
    }
}
