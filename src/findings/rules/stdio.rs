//! C library streams.

use crate::findings::book::Rule;
use crate::findings::facts::{Facts, RankTime, ratio, rows};
use crate::findings::outcome::{Outcome, Part};
use crate::record::is_terminal;
use crate::units;

pub(in crate::findings) fn share(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (mut bytes, mut time, mut parts) = (0u64, RankTime::default(), Vec::new());
    for row in rows(f.stdio?, ["BYTES_READ", "BYTES_WRITTEN", "READS", "WRITES"], ["F_READ_TIME", "F_WRITE_TIME"]) {
        let [read, written, reads, writes] = row.int.map(|x| x.max(0) as u64);
        if read + written == 0 || is_terminal(f.name(row.file)) {
            continue;
        }
        let time_s = row.real.iter().map(|t| t.max(0.0)).sum();
        bytes += read + written;
        time.add(row.rank, time_s, f.ranks);
        parts.push(Part { file: row.file, rank: row.rank, count: reads + writes, bytes: read + written, time_s });
    }
    let below = f.posix.and_then(|t| t.total(&["BYTES_READ", "BYTES_WRITTEN"])).unwrap_or(0);
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
    for row in rows(f.stdio?, ["WRITES", "BYTES_WRITTEN"], ["F_WRITE_TIME"]) {
        if matches!(f.name(row.file), "<STDOUT>" | "<STDERR>") {
            writes += row.int[0].max(0) as u64;
            bytes += row.int[1].max(0) as u64;
            time.add(row.rank, row.real[0].max(0.0), f.ranks);
        }
    }
    let time_s = time.critical();
    let outcome = Outcome::new(writes as f64 >= r.at("count") || bytes as f64 >= r.at("bytes"))
        .measured(&[("writes", writes as f64), ("bytes", bytes as f64)])
        .time(time_s)
        .lost(time_s * (1.0 - 1.0 / f.ranks as f64), "time of all ranks but one")
        .detail(|| format!("{} writes, {}", units::grouped(writes as i64), units::bytes(bytes as f64)));
    Some(outcome)
}
