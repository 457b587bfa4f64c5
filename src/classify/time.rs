//! Which local classes hold at the same time (Madhyastha & Reed 1997, section 3.4).
//!
//! A local class holds from its first to its last access. `p` of them have a moment in common if the latest start comes
//! before the earliest end; only then is there a global class of cardinality `p`.

/// Members (indices into the input) that overlap, and when all of them hold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Overlap {
    pub members: Vec<usize>,
    pub start_s: f64,
    pub end_s: f64,
}

/// Parts the spans (start, end) into sets whose members all overlap, as few sets as there can be, in the order of time.
///
/// The span that ends first takes all that have begun by then: any other set that holds it is smaller. O(n log n).
pub(crate) fn overlaps(spans: &[(f64, f64)]) -> Vec<Overlap> {
    let mut by_start: Vec<usize> = (0..spans.len()).collect();
    by_start.sort_by(|&a, &b| spans[a].0.total_cmp(&spans[b].0).then(a.cmp(&b)));
    let mut found: Vec<Overlap> = Vec::new();
    let mut current: Option<Overlap> = None;
    for i in by_start {
        let (start, end) = spans[i];
        match &mut current {
            // accesses at one moment overlap each other
            Some(set) if start < set.end_s || start == set.start_s => {
                set.members.push(i);
                set.start_s = set.start_s.max(start);
                set.end_s = set.end_s.min(end.max(start));
            }
            _ => found.extend(current.replace(Overlap { members: vec![i], start_s: start, end_s: end.max(start) })),
        }
    }
    found.extend(current);
    for set in &mut found {
        set.members.sort_unstable();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_slow_member_belongs_to_both_phases_it_has_spans_in() {
        let spans = [(0.0, 10.0), (1.0, 10.0), (0.5, 15.0), (12.0, 20.0), (12.0, 19.0), (16.0, 25.0)];
        let sets = overlaps(&spans);
        assert_eq!(sets[0], Overlap { members: vec![0, 1, 2], start_s: 1.0, end_s: 10.0 });
        assert_eq!(sets[1], Overlap { members: vec![3, 4, 5], start_s: 16.0, end_s: 19.0 });
        assert_eq!(sets.len(), 2);
    }

    proptest! {
        #[test]
        fn every_span_is_in_one_set_and_all_of_a_set_overlap(spans in prop::collection::vec((0u8..50, 0u8..20), 1..60)) {
            let spans: Vec<(f64, f64)> = spans.iter().map(|&(a, d)| (f64::from(a), f64::from(a) + f64::from(d))).collect();
            let sets = overlaps(&spans);
            let mut seen: Vec<usize> = sets.iter().flat_map(|s| s.members.clone()).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..spans.len()).collect::<Vec<_>>());
            for s in &sets {
                let latest = s.members.iter().map(|&i| spans[i].0).fold(f64::MIN, f64::max);
                let earliest = s.members.iter().map(|&i| spans[i].1).fold(f64::MAX, f64::min);
                prop_assert_eq!((s.start_s, s.end_s), (latest, earliest));
                prop_assert!(latest < earliest || s.members.iter().any(|&i| spans[i].0 == latest));
            }
        }
    }
}
