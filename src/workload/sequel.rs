//! Patterns of a rank that follow each other and are one: the same loops once more, or loops that go on where others ended.
//! What a workload does in several parts need not show as such: files that do not grow are written over and over alike, and
//! what grows may go on where it was.

use std::collections::BTreeMap;

use super::shape::Shape;
use super::truth::{Level, PatternPeriod, TruePattern};
use crate::record::Op;

/// The patterns with those joined that are one, given in the order of their start; but not those of operations that `by_chance`
/// follow each other.
pub(super) fn join(patterns: Vec<TruePattern>, by_chance: impl Fn(Op) -> bool) -> Vec<TruePattern> {
    // Operation, rank, file and size, to the patterns of them.
    let mut streams: BTreeMap<(u8, u32, String, u64), Vec<TruePattern>> = BTreeMap::new();
    let mut out = Vec::with_capacity(patterns.len());
    for p in patterns {
        match p.access_size {
            Some(size) if !by_chance(p.op) => {
                streams.entry((p.op as u8, p.rank, p.file.clone(), size)).or_default().push(p)
            }
            _ => out.push(p),
        }
    }
    for mut of_stream in streams.into_values() {
        while join_one(&mut of_stream) {}
        part_twins(&mut of_stream);
        out.append(&mut of_stream);
    }
    out
}

/// Joins the first two that are one; false if there are none.
fn join_one(patterns: &mut Vec<TruePattern>) -> bool {
    let n = patterns.len();
    for j in 1..n {
        for i in (j.saturating_sub(NEAR)..j).rev() {
            let (a, b) = (&patterns[i], &patterns[j]);
            let Some(levels) = together(a, b).or_else(|| in_rounds(a, b, n == 2)) else { continue };
            // What comes between goes on with neither of them.
            let new = a.levels == b.levels && !a.levels.is_empty() && a.start_offset != b.start_offset;
            let between =
                |(k, p): (usize, &TruePattern)| k != i && k != j && p.start_s < b.end_s && p.end_s > a.start_s;
            if new && patterns.iter().enumerate().any(between) {
                continue;
            }
            let b = patterns.remove(j);
            let a = &mut patterns[i];
            if a.period.is_none() && b.start_s >= a.end_s {
                a.period = Some(PatternPeriod { period_s: b.start_s - a.start_s, confidence: 1.0 });
                a.period_reason = None;
            }
            a.end_s = a.end_s.max(b.end_s);
            let size = a.access_size.unwrap_or(0);
            a.shape(&Shape { size, levels });
            return true;
        }
    }
    false
}

/// Two accesses at one place, or at two in turns, are accesses alone where others are left over: whether chance makes such ones is asked of all files.
fn part_twins(patterns: &mut Vec<TruePattern>) {
    let shape = |p: &TruePattern| Shape { size: p.access_size.unwrap_or(0), levels: p.levels.clone() };
    let twins = |p: &TruePattern| {
        matches!(
            p.levels[..],
            [Level { count: 2, stride: 0 }] | [Level { count: 2, .. }, Level { count: 2, stride: 0 }]
        ) && shape(p).foretold() == 1
    };
    let left: Vec<&TruePattern> = patterns.iter().filter(|p| shape(p).foretold() == 0 || twins(p)).collect();
    if !patterns.iter().any(twins) || left.iter().all(|p| twins(p)) {
        return;
    }
    for i in 0..patterns.len() {
        if twins(&patterns[i]) {
            let p = &mut patterns[i];
            let (stride, size) = (p.levels[0].stride, p.access_size.unwrap_or(0));
            let pair = p.levels.len() > 1;
            p.shape(&Shape::of(size));
            let one = p.clone();
            patterns.push(one.clone());
            if pair {
                let mut other = one;
                other.start_offset = other.start_offset.wrapping_add_signed(stride);
                other.shape(&Shape::of(size));
                patterns.extend([other.clone(), other]);
            }
        }
    }
}

/// Patterns before one that it may go on.
const NEAR: usize = 4;

/// The loops of both, if in each pass of a loop around them `b` goes on where `a` has ended. Any two accesses are a loop, if
/// they are all.
fn in_rounds(a: &TruePattern, b: &TruePattern, all: bool) -> Option<Vec<Level>> {
    let ((top, one), (other, two)) = (a.levels.split_last()?, b.levels.split_last()?);
    // The first pass ends before the other begins.
    let first_end = a.end_s - (top.count - 1) as f64 * a.period?.period_s;
    let apart = b.start_s + 1e-9 < first_end || b.start_s >= a.end_s;
    if apart || top != other || (one.is_empty() && two.is_empty() && !all) {
        return None;
    }
    let between = b.start_offset.wrapping_sub(a.start_offset) as i64;
    let mut levels = follow(one, two, between)?;
    levels.push(*top);
    Some(levels)
}

/// The loops of both, if `b` follows `a` and they are one.
fn together(a: &TruePattern, b: &TruePattern) -> Option<Vec<Level>> {
    if b.start_s < a.end_s {
        return None;
    }
    follow(&a.levels, &b.levels, b.start_offset.wrapping_sub(a.start_offset) as i64)
}

/// These loops, and others so many bytes further, as one.
pub(super) fn follow(a: &[Level], b: &[Level], between: i64) -> Option<Vec<Level>> {
    let with = |inner: &[Level], count: u64, stride: i64| Some([inner, &[Level { count, stride }]].concat());
    // After all of its loops.
    let next = |l: &Level| l.count as i64 * l.stride;
    match (a.split_last(), b.split_last()) {
        _ if a == b => with(a, 2, between),
        (Some((top, inner)), Some((other, rest)))
            if inner == rest && top.stride == other.stride && between == next(top) =>
        {
            with(inner, top.count + other.count, top.stride)
        }
        (Some((top, inner)), _) if b == inner && between == next(top) => with(inner, top.count + 1, top.stride),
        (_, Some((top, inner))) if a == inner && between == top.stride => with(inner, top.count + 1, top.stride),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::truth::Place;
    use super::*;

    fn pattern(second: u64, offset: u64, shape: &Shape) -> TruePattern {
        let span_ns = (second * 1_000_000_000, (second + 1) * 1_000_000_000);
        let place = Place { op: Op::Write, rank: 0, file: "f", span_ns, period_s: None };
        TruePattern::nested(place, offset, shape).unwrap()
    }

    #[test]
    fn what_goes_on_is_one() {
        let row = |n: u64| Shape::of(8).times(n, 24);
        for (first, second, want) in [
            ((0, row(4)), (96, row(8)), Some(row(12))),
            ((0, row(4)), (0, row(4)), Some(row(4).times(2, 0))),
            ((0, row(4).times(3, 0)), (0, row(4).times(5, 0)), Some(row(4).times(8, 0))),
            ((0, row(4).times(3, 1000)), (3000, row(4)), Some(row(4).times(4, 1000))),
            ((0, row(4)), (1000, row(4).times(3, 1000)), Some(row(4).times(4, 1000))),
            ((0, row(4).times(2, 0)), (96, row(8).times(2, 0)), None),
            ((0, row(4)), (0, row(8)), None),
        ] {
            let (a, b) = (pattern(1, first.0, &first.1), pattern(5, second.0, &second.1));
            let joined = join(vec![a.clone(), b.clone()], |_| false);
            match want {
                Some(shape) => {
                    assert_eq!(joined.len(), 1);
                    assert_eq!((joined[0].levels.clone(), joined[0].records), (shape.levels.clone(), shape.count()));
                    assert_eq!((joined[0].start_s, joined[0].end_s), (1.0, 6.0));
                }
                None => assert_eq!(joined, [a, b]),
            }
        }
    }
}
