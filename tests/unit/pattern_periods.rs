//! Periods of patterns and of groups of patterns: each is that of its accesses.

use iophase::analysis::Selection;
use iophase::analysis::{ModeChoice, PatternOptions, PatternsOfTrace, patterns};
use iophase::record::{Data, Op, Request, Requests, Trace};

const SIZE: u64 = 1 << 20;

/// Rank, number of the file, its how-manieth access of this size, and when.
type Row = (u32, u32, u64, f64);

fn found(op: Op, rows: impl IntoIterator<Item = Row>) -> PatternsOfTrace {
    let mut t = Trace::default();
    let request = |(rank, file, nth, start): Row| Request {
        op,
        rank,
        file: t.files.intern(&format!("/scratch/part.{file}")),
        offset: nth * SIZE,
        size: SIZE,
        start,
        end: start + 0.05,
        ..Request::default()
    };
    let mut rows: Vec<Request> = rows.into_iter().map(request).collect();
    rows.sort_by(|a, b| a.start.total_cmp(&b.start));
    t.data = Data::Requests(rows.into_iter().collect::<Requests>());
    patterns(&t, ModeChoice::Auto, &Selection::default(), &PatternOptions::default()).unwrap()
}

/// Numbers from 0 to 1 without order.
fn noise(i: u64) -> f64 {
    let x = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x >> 11) as f64 / (1u64 << 53) as f64
}

#[test]
fn the_period_of_a_group_is_that_of_its_accesses_together() {
    let of_rank = |r: u32| (0..20).map(move |i| (r, r, i, 4.0 * i as f64 + 2.0 * f64::from(r)));
    let answer = found(Op::Write, (0..2).flat_map(of_rank));
    let periods: Vec<f64> = answer.patterns.iter().filter_map(|p| p.period).map(|p| p.period_s).collect();
    assert!(periods.len() == 2 && periods.iter().all(|t| (t - 4.0).abs() < 0.01), "{periods:?}");
    let [group] = &answer.groups[..] else { panic!("{:?}", answer.groups) };
    assert_eq!((group.files, group.ranks, group.patterns, group.records, group.bytes), (2, 2, 2, 40, 40 * SIZE));
    assert!(group.period.is_some_and(|p| (p.period_s - 2.0).abs() < 0.01), "{:?}", group.period);
}

#[test]
fn a_rhythm_of_one_pattern_is_not_that_of_its_group() {
    let even = (0..20).map(|i| (0, 0, i, 3.0 * i as f64));
    let times = |r: u64| {
        let mut times: Vec<f64> = (0..20).map(|i| 60.0 * noise(20 * r + i)).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let others = (1..30).flat_map(|r| (0..).zip(times(r)).map(move |(i, t)| (r as u32, r as u32, i, t)));
    let answer = found(Op::Write, even.chain(others));
    let first = answer.patterns.iter().find(|p| p.rank == 0).and_then(|p| p.period);
    assert!(first.is_some_and(|p| (p.period_s - 3.0).abs() < 0.01), "{first:?}");
    let [group] = &answer.groups[..] else { panic!("{:?}", answer.groups) };
    assert!(group.period.is_none() && group.period_reason.is_some(), "{group:?}");
}

#[test]
fn a_file_that_is_read_again_does_not_have_the_period_of_its_family() {
    // each epoch reads all files in an order of its own, one every 2 s
    let epoch = |e: u64| {
        let mut files: Vec<u32> = (0..8).collect();
        files.sort_by(|&a, &b| noise(8 * e + u64::from(a)).total_cmp(&noise(8 * e + u64::from(b))));
        (0..).zip(files).map(move |(i, file)| (0, file, 0, 16.0 * e as f64 + 2.0 * f64::from(i)))
    };
    let answer = found(Op::Read, (0..12).flat_map(epoch));
    assert!(!answer.patterns.is_empty());
    for p in &answer.patterns {
        assert!(p.period.is_none_or(|t| t.period_s > 8.0), "{p:?}");
    }
    let group = &answer.groups[0];
    assert!(group.period.is_some_and(|p| (p.period_s - 2.0).abs() < 0.01), "{group:?}");
}
