//! Access patterns of a log.

use super::int;
use crate::tables::{PatternRow, Time};
use iophase::pattern::PatternReport;
use iophase::record::Trace;

/// Patterns of a log that have a row.
const PATTERNS: usize = 1000;

/// The patterns that move most bytes, in the order in which they began. True if some had to be left out.
pub fn rows(trace: &Trace, found: &[PatternReport], to: &mut Vec<PatternRow>) -> bool {
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(found[i].bytes), i));
    order.truncate(PATTERNS);
    order.sort_unstable();
    to.extend(order.into_iter().map(|i| row(trace, &found[i])));
    found.len() > PATTERNS
}

fn row(trace: &Trace, p: &PatternReport) -> PatternRow {
    let unix = |t: f64| trace.clock.unix_s(t).map_or(Time(None), Time::of_seconds);
    let word = |op: &iophase::pattern::Direction| serde_json::to_value(op).ok()?.as_str().map(str::to_owned);
    PatternRow {
        op: word(&p.op),
        followed_by: p.then.as_ref().and_then(word),
        kind: Some(p.kind.name().to_owned()),
        file: Some(p.file.clone()),
        rank: Some(i64::from(p.rank)),
        ranks_count: Some(p.ranks.map_or(1, |r| i64::from(r.count))),
        access_size: p.access_size.map(int),
        stride: p.stride,
        depth: Some(int(p.levels.len() as u64)),
        accesses: Some(int(p.records)),
        bytes: Some(int(p.bytes)),
        begin_time: unix(p.start_s),
        end_time: unix(p.end_s),
        period_s: p.period.as_ref().map(|x| x.period_s),
        confidence: p.period.as_ref().map(|x| x.confidence),
    }
}
