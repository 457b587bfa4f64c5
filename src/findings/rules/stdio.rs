//! C library streams.

use crate::facts::{BYTES, Count, Measure, Row};
use crate::findings::book::Rule;
use crate::findings::facts::{Facts, RankTime, ratio};
use crate::findings::outcome::{Outcome, Part};
use crate::record::is_terminal;
use crate::units;

pub(in crate::findings) fn share(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (mut bytes, mut time, mut parts) = (0u64, RankTime::default(), Vec::new());
    let moving = |row: &Row<'_, '_>| row.moved() > 0 && !is_terminal(f.name(row.file));
    for row in f.stdio.as_ref()?.rows().filter(moving) {
        bytes += row.moved();
        time.add(row.rank, row.transfer_s(), f.ranks);
        parts.push(Part::of(&row, row.calls(), row.transfer_s()));
    }
    let below = f.posix.as_ref().and_then(|t| t.total(&BYTES)).unwrap_or(0);
    let all = bytes as f64 + below as f64;
    let outcome = Outcome::new(ratio(bytes as f64, all) > r.at("share") && bytes as f64 >= r.at("bytes"))
        .measured(&[("bytes", bytes as f64), ("of", all)])
        .time(time.critical())
        .detail(|| format!("{} of {} went through C streams", units::bytes(bytes as f64), units::bytes(all)))
        .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn chatter(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (mut writes, mut bytes, mut time) = (0u64, 0u64, RankTime::default());
    for row in f.stdio.as_ref()?.rows() {
        if matches!(f.name(row.file), "<STDOUT>" | "<STDERR>") {
            writes += row.count(Count::Writes);
            bytes += row.count(Count::BytesWritten);
            time.add(row.rank, row.measure(Measure::WriteS), f.ranks);
        }
    }
    let time_s = time.critical();
    let outcome = Outcome::new(writes as f64 >= r.at("count") || bytes as f64 >= r.at("bytes"))
        .measured(&[("writes", writes as f64), ("bytes", bytes as f64)])
        .time(time_s)
        .lost(time_s * (1.0 - 1.0 / f.ranks as f64), "time of all ranks but one")
        .detail(|| format!("{} writes, {}", units::grouped(writes), units::bytes(bytes as f64)));
    Some(outcome)
}
