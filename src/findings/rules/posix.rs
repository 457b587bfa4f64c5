//! Requests: their size, place, order and repetition.

use std::collections::BTreeMap;

use crate::findings::book::Rule;
use crate::findings::evidence::Filter;
use crate::findings::facts::{Facts, RankTime, ratio, rows};
use crate::findings::outcome::{Outcome, Part};
use crate::findings::requests::{Class, Direction, RequestFacts, TINY};
use crate::record::{CounterTable, FileId, Op};
use crate::units;

/// Reads, then writes: the words for them, and in the names of counters.
const WORDS: [&str; 2] = ["reads", "writes"];
const COUNTERS: [&str; 2] = ["READ", "WRITE"];
const BYTES: [&str; 2] = ["BYTES_READ", "BYTES_WRITTEN"];
const MAX_BYTE: [&str; 2] = ["MAX_BYTE_READ", "MAX_BYTE_WRITTEN"];

const OPS: [Op; 2] = [Op::Read, Op::Write];

const MODEL: &str = "time beyond that of the same bytes at the rate of large requests";

/// The requests, if all of them are there.
fn whole<'f>(f: &'f Facts) -> Option<&'f RequestFacts> {
    f.requests.as_ref().filter(|r| r.complete)
}

fn count(n: u64) -> String {
    units::grouped(i64::try_from(n).unwrap_or(i64::MAX))
}

fn of(n: i64, all: i64, what: &str) -> String {
    format!("{} of {} {what}", units::grouped(n), units::grouped(all))
}

pub(in crate::findings) fn small_reads(f: &Facts, r: &Rule) -> Option<Outcome> {
    small(f, r, 0)
}

pub(in crate::findings) fn small_writes(f: &Facts, r: &Rule) -> Option<Outcome> {
    small(f, r, 1)
}

fn small(f: &Facts, r: &Rule, d: usize) -> Option<Outcome> {
    let enough = |n: f64, all: f64, time_s: f64| {
        ratio(n, all) > r.at("share") && (n >= r.at("count") || time_s >= r.at("run_share") * f.run_s)
    };
    let Some(all) = whole(f) else { return small_counted(f, d, &enough) };
    let (c, n) = (&all.directions[d].small, all.directions[d].count);
    let outcome = class(c, n, enough(c.count as f64, n as f64, c.time_s))
        .detail(|| {
            let what = format!("{} below {}", WORDS[d], units::bytes(f.stripe as f64));
            format!("{} of {} {what}", count(c.count), count(n))
        })
        .evidence(Filter { below: Some(f.stripe), ..Filter::of(OPS[d]) });
    Some(outcome)
}

/// Requests of a class of all `n` of a direction.
fn class(c: &Class, n: u64, fires: bool) -> Outcome {
    let some = c.count as f64;
    Outcome::new(fires)
        .measured(&[("low", some), ("high", some), ("of", n as f64)])
        .time(c.time_s)
        .maybe_lost(c.lost_s, MODEL)
        .parts(c.parts.clone())
        .exact()
}

/// From bins of sizes: the last may hold requests of exactly 1 MiB, and larger ones if the stripe unit is smaller.
fn small_counted(f: &Facts, d: usize, enough: &dyn Fn(f64, f64, f64) -> bool) -> Option<Outcome> {
    let t = f.posix?;
    let (mut low, mut high, mut all) = (0i64, 0i64, 0i64);
    let (mut time, mut parts) = (RankTime::default(), Parts::default());
    let [b0, b1, b2, b3, b4] =
        ["0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M"].map(|bin| format!("SIZE_{}_{bin}", COUNTERS[d]));
    let names = [&*b0, &b1, &b2, &b3, &b4, COUNTERS_OF[d], BYTES[d]];
    let real = format!("F_{}_TIME", COUNTERS[d]);
    for (row, exact) in rows(t, names, [&real]).zip(of_one_mib(t)) {
        let bins = &row.int[..5];
        let (calls, bytes) = (row.int[5], row.int[6]);
        let some: i64 = bins.iter().map(|n| n.max(&0)).sum();
        let least = some - bins[4].max(0).min(exact);
        (low, high, all) = (low + least, high + some, all + calls.max(0));
        if calls > 0 {
            let time_s = row.real[0].max(0.0) * least as f64 / calls as f64;
            time.add(row.rank, time_s, f.ranks);
            parts.add(Part { file: row.file, rank: row.rank, count: least as u64, bytes: bytes.max(0) as u64, time_s });
        }
    }
    let time_s = time.critical();
    let outcome = Outcome::new(enough(low as f64, all as f64, time_s))
        .measured(&[("low", low as f64), ("high", high as f64), ("of", all as f64)])
        .time(time_s)
        .parts(parts.counted())
        .detail(|| {
            let least = if low < high { "at least " } else { "" };
            format!("{least}{} below {}", of(low, all, WORDS[d]), units::bytes(f.stripe as f64))
        })
        .modelled();
    Some(outcome)
}

const COUNTERS_OF: [&str; 2] = ["READS", "WRITES"];

/// For each row the calls of exactly 1 MiB that its common sizes know of.
fn of_one_mib(t: &CounterTable) -> impl Iterator<Item = i64> + '_ {
    let sizes = ["ACCESS1_ACCESS", "ACCESS2_ACCESS", "ACCESS3_ACCESS", "ACCESS4_ACCESS"];
    let counts = ["ACCESS1_COUNT", "ACCESS2_COUNT", "ACCESS3_COUNT", "ACCESS4_COUNT"];
    rows(t, sizes, [])
        .zip(rows(t, counts, []))
        .map(|(size, n)| size.int.iter().zip(n.int).filter(|(size, _)| **size == 1 << 20).map(|(_, n)| n.max(0)).sum())
}

/// Parts by file.
#[derive(Default)]
struct Parts(BTreeMap<(FileId, Option<u32>), Part>);

impl Parts {
    fn add(&mut self, p: Part) {
        let sum = self.0.entry((p.file, p.rank)).or_insert(Part { file: p.file, rank: p.rank, ..Part::default() });
        sum.count += p.count;
        sum.bytes += p.bytes;
        sum.time_s += p.time_s;
    }

    /// Those that count.
    fn counted(self) -> Vec<Part> {
        self.0.into_values().filter(|p| p.count > 0).collect()
    }
}

pub(in crate::findings) fn unaligned_file(f: &Facts, r: &Rule) -> Option<Outcome> {
    if let Some(all) = whole(f) {
        return Some(unaligned_requests(f, r, all));
    }
    let t = f.posix?;
    let names =
        ["READS", "WRITES", "FILE_NOT_ALIGNED", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN", "FILE_ALIGNMENT", "BYTES_WRITTEN"];
    let large = r.at("stripes") * f.stripe as f64;
    let (mut all, mut some, mut alignment, mut parts) = (0i64, 0i64, 0i64, Parts::default());
    for row in rows(t, names, []) {
        let [reads, writes, unaligned, max_read, max_written, unit, bytes] = row.int;
        if (max_read.max(max_written) + 1) as f64 >= large {
            (all, some) = (all + reads.max(0) + writes.max(0), some + unaligned.max(0));
            alignment = alignment.max(unit);
            let count = unaligned.max(0) as u64;
            parts.add(Part { file: row.file, rank: row.rank, count, bytes: bytes.max(0) as u64, time_s: 0.0 });
        }
    }
    let outcome = Outcome::new(ratio(some as f64, all as f64) > r.at("share"))
        .measured(&[("unaligned", some as f64), ("of", all as f64), ("alignment", alignment as f64)])
        .parts(parts.counted())
        .detail(|| {
            let unit = units::bytes(alignment as f64);
            format!("{} do not begin at a multiple of {unit}, the block of the file system", of(some, all, "requests"))
        });
    Some(outcome)
}

fn unaligned_requests(f: &Facts, r: &Rule, all: &RequestFacts) -> Outcome {
    let both: Vec<&Direction> = all.directions.iter().collect();
    let (some, of_all) = both.iter().fold((0, 0), |s, d| (s.0 + d.unaligned.count, s.1 + d.quarter));
    let most = both.iter().max_by_key(|d| d.unaligned.count);
    let remainders = most.map_or(&[][..], |d| &d.remainders);
    let parts: Vec<Part> = both.iter().flat_map(|d| d.unaligned.parts.iter().copied()).collect();
    let extent = both.iter().map(|d| d.holes.1).max().unwrap_or(0);
    let fires = ratio(some as f64, of_all as f64) > r.at("share") && extent as f64 >= r.at("stripes") * f.stripe as f64;
    Outcome::new(fires)
        .measured(&[("unaligned", some as f64), ("of", of_all as f64), ("alignment", f.stripe as f64)])
        .time(both.iter().map(|d| d.unaligned.time_s).sum())
        .maybe_lost(
            both.iter().filter_map(|d| d.unaligned.lost_s).reduce(|a, b| a + b),
            "time beyond that of aligned requests of the same size",
        )
        .parts(parts)
        .evidence(Filter { at_least: Some(f.stripe / 4), off: Some(f.stripe), ..Filter::default() })
        .detail(|| {
            let usual: Vec<String> = remainders.iter().map(|x| format!("{} bytes", count(x.0))).collect();
            let unit = units::bytes(f.stripe as f64);
            format!(
                "{} of {} large requests begin {} after a multiple of {unit}",
                count(some),
                count(of_all),
                usual.join(", ")
            )
        })
        .exact()
}

pub(in crate::findings) fn unaligned_memory(f: &Facts, r: &Rule) -> Option<Outcome> {
    let t = f.posix?;
    let (all, some) = (t.total(&["READS", "WRITES"])?, t.total(&["MEM_NOT_ALIGNED"])?);
    let outcome = Outcome::new(ratio(some as f64, all as f64) > r.at("share"))
        .measured(&[("unaligned", some as f64), ("of", all as f64)])
        .detail(|| of(some, all, "requests"));
    Some(outcome)
}

/// Low and high end of the requests that go back, and all.
fn random(t: &CounterTable, d: usize) -> (i64, i64, i64) {
    let seq = ["SEQ_READS", "SEQ_WRITES"][d];
    rows(t, [COUNTERS_OF[d], seq, "OPENS"], []).fold((0, 0, 0), |(low, high, all), row| {
        let [calls, seq, opens] = row.int;
        let back = (calls - seq).max(0);
        (low + (calls - seq - opens).max(0), high + back, all + calls.max(0))
    })
}

pub(in crate::findings) fn random_reads(f: &Facts, r: &Rule) -> Option<Outcome> {
    random_requests(f, r, 0)
}

pub(in crate::findings) fn random_writes(f: &Facts, r: &Rule) -> Option<Outcome> {
    random_requests(f, r, 1)
}

fn random_requests(f: &Facts, r: &Rule, d: usize) -> Option<Outcome> {
    if let Some(all) = whole(f) {
        return Some(irregular_requests(r, all, d));
    }
    let t = f.posix?;
    let (low, high, all) = random(t, d);
    let (mut time, mut parts) = (RankTime::default(), Parts::default());
    let seq = ["SEQ_READS", "SEQ_WRITES"][d];
    for row in rows(t, [COUNTERS_OF[d], seq, "OPENS", BYTES[d]], [&*format!("F_{}_TIME", COUNTERS[d])]) {
        let [calls, seq, opens, bytes] = row.int;
        let back = (calls - seq - opens).max(0);
        if calls > 0 {
            let time_s = row.real[0].max(0.0) * back as f64 / calls as f64;
            time.add(row.rank, time_s, f.ranks);
            parts.add(Part { file: row.file, rank: row.rank, count: back as u64, bytes: bytes.max(0) as u64, time_s });
        }
    }
    let outcome = Outcome::new(ratio(low as f64, all as f64) > r.at("share") && low as f64 >= r.at("count"))
        .measured(&[("low", low as f64), ("high", high as f64), ("of", all as f64)])
        .time(time.critical())
        .parts(parts.counted())
        .detail(|| format!("at least {} go back in their file", of(low, all, WORDS[d])))
        .modelled();
    Some(outcome)
}

/// From requests: those that go back or skip, by a step that the rank has not just made in this file.
fn irregular_requests(r: &Rule, all: &RequestFacts, d: usize) -> Outcome {
    let of = &all.directions[d];
    let (c, n) = (&of.irregular, of.count);
    let (median, most) = of.jumps.unwrap_or_default();
    let fires = ratio(c.count as f64, n as f64) > r.at("share") && c.count as f64 >= r.at("count");
    class(c, n, fires)
        .measured(&[("jump_median", median as f64), ("jump_p90", most as f64)])
        .detail(|| {
            let jump = units::bytes(median as f64);
            format!("{} of {} {} go back or skip, by {jump} (median)", count(c.count), count(n), WORDS[d])
        })
        .evidence(Filter { rows: Some(all.streams.rows[d].clone()), ..Filter::default() })
}

pub(in crate::findings) fn shuffled_whole_file(f: &Facts, r: &Rule) -> Option<Outcome> {
    let all = whole(f)?;
    let reads = &all.directions[0];
    let (mut files, mut ranks) = (Vec::new(), BTreeMap::<u32, (f64, u64)>::new());
    let mut passes = 0.0f64;
    for u in &reads.files {
        let n = ratio(u.bytes as f64, u.covered as f64);
        let streams = || all.streams.of_file(u.file).map(|(rank, s)| (rank, s, s.time_s[0]));
        let back: u64 = streams().map(|x| x.1.back[0]).sum();
        let whole =
            u.covered as f64 >= r.at("coverage") * u.end as f64 && (n / n.round() - 1.0).abs() <= r.at("passes");
        let small = u.bytes as f64 / (u.count as f64) < r.at("stripes") * f.stripe as f64;
        if whole && small && u.count as f64 >= r.at("count") && back as f64 >= r.at("back") * u.count as f64 {
            for (rank, s, time_s) in streams() {
                let sum = ranks.entry(rank).or_default();
                (sum.0, sum.1) = (sum.0 + time_s, sum.1 + s.bytes[0]);
            }
            let time_s = streams().map(|x| x.2).sum();
            files.push(Part { file: u.file, rank: None, count: u.count, bytes: u.bytes, time_s });
            passes = passes.max(n);
        }
    }
    let lost = ranks.iter().filter_map(|(&rank, x)| Some((x.0 - x.1 as f64 / reads.rates.at(rank)?).max(0.0)));
    let (n, bytes) = files.iter().fold((0, 0), |s, p| (s.0 + p.count, s.1 + p.bytes));
    let size = ratio(bytes as f64, n as f64);
    let outcome = Outcome::new(!files.is_empty())
        .measured(&[("files", files.len() as f64), ("passes", passes), ("request_bytes", size)])
        .time(ranks.values().map(|x| x.0).fold(0.0, f64::max))
        .maybe_lost(lost.reduce(f64::max), MODEL)
        .detail(|| format!("{} reads of {} in random order cover whole files", count(n), units::bytes(size)))
        .evidence(Filter { rows: Some(all.streams.rows[0].clone()), ..Filter::default() })
        .parts(files)
        .exact();
    Some(outcome)
}

pub(in crate::findings) fn sequential(f: &Facts, r: &Rule) -> Option<Outcome> {
    let t = f.posix?;
    let in_order = |d: usize| {
        let (_, high, all) = random(t, d);
        all as f64 >= r.at("count") && 1.0 - ratio(high as f64, all as f64) >= r.at("share")
    };
    let (reads, writes) = (in_order(0), in_order(1));
    Some(Outcome::new(reads || writes).measured(&[("reads", reads.into()), ("writes", writes.into())]))
}

pub(in crate::findings) fn reread(f: &Facts, r: &Rule) -> Option<Outcome> {
    again(f, r, 0)
}

pub(in crate::findings) fn overwrite(f: &Facts, r: &Rule) -> Option<Outcome> {
    again(f, r, 1)
}

fn again(f: &Facts, r: &Rule, d: usize) -> Option<Outcome> {
    let words = ["read", "written"][d];
    let outcome = |low: u64, all: u64, parts: Vec<Part>| {
        let fires = ratio(low as f64, all as f64) >= r.at("share") && low as f64 >= r.at("bytes");
        Outcome::new(fires).measured(&[("low", low as f64), ("of", all as f64)]).parts(parts)
    };
    let text = |low: u64, all: u64| {
        format!("{} of {} {words} were {words} before", units::bytes(low as f64), units::bytes(all as f64))
    };
    if let Some(all) = whole(f) {
        let (d, n) = (&all.directions[d], all.directions[d].bytes);
        let evidence = Filter { rows: Some(d.again_rows.clone()), ..Filter::default() };
        let lost = again_lost(d, all, usize::from(words == "written"));
        let made = outcome(d.again.0, n, d.again.1.clone()).detail(|| text(d.again.0, n)).evidence(evidence).exact();
        return Some(match lost {
            Some(s) => made.time(s).lost(s, "bytes moved again, at the rate of large requests"),
            None => made,
        });
    }
    let mut files: BTreeMap<FileId, (u64, i64)> = BTreeMap::new();
    let mut all = 0u64;
    for row in rows(f.posix?, [BYTES[d], MAX_BYTE[d]], []) {
        let bytes = row.int[0].max(0).unsigned_abs();
        let file = files.entry(row.file).or_insert((0, -1));
        (file.0, file.1, all) = (file.0 + bytes, file.1.max(row.int[1]), all + bytes);
    }
    let more = |(&file, &(bytes, last)): (&FileId, &(u64, i64))| {
        let again = bytes.saturating_sub((last.max(-1) + 1).unsigned_abs());
        (again > 0).then(|| Part { file, bytes: again, count: 1, ..Part::default() })
    };
    let parts: Vec<Part> = files.iter().filter_map(more).collect();
    let low = parts.iter().map(|p| p.bytes).sum();
    Some(outcome(low, all, parts).detail(|| format!("at least {}", text(low, all))))
}

/// Time of the rank with the most bytes moved again, each file's shared among its ranks by their bytes.
fn again_lost(d: &Direction, all: &RequestFacts, direction: usize) -> Option<f64> {
    let mut ranks: BTreeMap<u32, f64> = BTreeMap::new();
    for p in &d.again.1 {
        let of_file: u64 = all.streams.of_file(p.file).map(|(_, s)| s.bytes[direction]).sum();
        for (rank, s) in all.streams.of_file(p.file) {
            let part = p.bytes as f64 * ratio(s.bytes[direction] as f64, of_file as f64);
            *ranks.entry(rank).or_default() += part / d.rates.at(rank)?;
        }
    }
    ranks.into_values().reduce(f64::max)
}

pub(in crate::findings) fn read_modify_write(f: &Facts, r: &Rule) -> Option<Outcome> {
    let all = f.requests.as_ref()?;
    let (bytes, reads) = &all.rewritten;
    let written = all.directions[1].bytes;
    let time = reads.time_s;
    let outcome = Outcome::new(*bytes > 0 && ratio(*bytes as f64, written as f64) >= r.at("share"))
        .measured(&[("bytes", *bytes as f64), ("of", written as f64)])
        .time(time)
        .lost(time, "time of the reads")
        .parts(reads.parts.clone())
        .detail(|| {
            let (some, all) = (units::bytes(*bytes as f64), units::bytes(written as f64));
            format!("{some} of {all} written had just been read by the same rank")
        })
        .exact();
    Some(outcome)
}

pub(in crate::findings) fn tiny_requests(f: &Facts, r: &Rule) -> Option<Outcome> {
    let outcome = |n: u64, all: u64, time_s: f64, parts: Vec<Part>| {
        Outcome::new(ratio(n as f64, all as f64) >= r.at("share") && n as f64 >= r.at("count"))
            .measured(&[("count", n as f64), ("of", all as f64)])
            .time(time_s)
            .parts(parts)
    };
    if let Some(all) = whole(f) {
        let [a, b] = &all.directions;
        let (n, of_all) = (a.tiny.count + b.tiny.count, a.count + b.count);
        let parts = a.tiny.parts.iter().chain(&b.tiny.parts).copied().collect();
        let made = outcome(n, of_all, a.tiny.time_s + b.tiny.time_s, parts);
        return Some(
            made.detail(|| format!("{} of {} requests below 4 KiB", count(n), count(of_all)))
                .evidence(Filter { below: Some(TINY), ..Filter::default() })
                .exact(),
        );
    }
    let bins = ["SIZE_READ_0_100", "SIZE_READ_100_1K", "SIZE_WRITE_0_100", "SIZE_WRITE_100_1K", "READS", "WRITES"];
    let (mut n, mut all, mut time, mut parts) = (0, 0, RankTime::default(), Parts::default());
    for row in rows(f.posix?, bins, ["F_READ_TIME", "F_WRITE_TIME"]) {
        let at = |i: usize| row.int[i].max(0) as u64;
        let (reads, writes) = (at(0) + at(1), at(2) + at(3));
        (n, all) = (n + reads + writes, all + at(4) + at(5));
        let share = |some: u64, all: u64, time: f64| time.max(0.0) * ratio(some as f64, all as f64);
        let time_s = share(reads, at(4), row.real[0]) + share(writes, at(5), row.real[1]);
        time.add(row.rank, time_s, f.ranks);
        parts.add(Part { file: row.file, rank: row.rank, count: reads + writes, bytes: 0, time_s });
    }
    let made = outcome(n, all, time.critical(), parts.counted());
    Some(made.detail(|| format!("{} of {} requests below 1,000 bytes", count(n), count(all))).modelled())
}

/// A count of calls against all transfers.
fn per_transfer(f: &Facts, r: &Rule, counter: &str, name: &'static str) -> Option<Outcome> {
    let t = f.posix?;
    let (n, all) = (t.total(&[counter])?, t.total(&["READS", "WRITES"])?);
    let mut parts = Parts::default();
    for row in rows(t, [counter, "BYTES_READ", "BYTES_WRITTEN"], []) {
        let [n, read, written] = row.int.map(|x| x.max(0) as u64);
        parts.add(Part { file: row.file, rank: row.rank, count: n, bytes: read + written, time_s: 0.0 });
    }
    let outcome = Outcome::new(ratio(n as f64, all as f64) > r.at("share") && n as f64 >= r.at("count"))
        .measured(&[(name, n as f64), ("of", all as f64)])
        .parts(parts.counted())
        .detail(|| format!("{} {name} for {} transfers", units::grouped(n), units::grouped(all)));
    Some(outcome)
}

pub(in crate::findings) fn seeks(f: &Facts, r: &Rule) -> Option<Outcome> {
    per_transfer(f, r, "SEEKS", "seeks")
}

pub(in crate::findings) fn turns(f: &Facts, r: &Rule) -> Option<Outcome> {
    per_transfer(f, r, "RW_SWITCHES", "switches")
}

pub(in crate::findings) fn slow_tail(f: &Facts, r: &Rule) -> Option<Outcome> {
    let all = f.requests.as_ref()?;
    let (d, direction) =
        all.directions.iter().enumerate().max_by(|a, b| a.1.tail.time_s.total_cmp(&b.1.tail.time_s))?;
    let t = direction.tail;
    let fires = direction.count as f64 >= r.at("count")
        && t.share >= r.at("share")
        && t.max_s >= r.at("factor") * t.median_s
        && t.time_s >= r.at("time_s");
    let lost = (t.time_s - t.count as f64 * t.median_s).max(0.0);
    let outcome = Outcome::new(fires)
        .measured(&[("share", t.share), ("count", t.count as f64), ("median_s", t.median_s), ("max_s", t.max_s)])
        .time(t.time_s)
        .lost(lost, "time beyond that of as many median requests")
        .detail(|| {
            let (slowest, median) = (units::seconds(t.max_s), units::seconds(t.median_s));
            let share = 100.0 * t.share;
            format!(
                "{} {} take {share:.0} % of the time, up to {slowest}, the median {median}",
                count(t.count),
                WORDS[d]
            )
        })
        .evidence(Filter { longer_s: Some(r.at("factor") * t.median_s), ..Filter::of(OPS[d]) })
        .exact();
    Some(outcome)
}

pub(in crate::findings) fn holes(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (share, extent) = whole(f)?.directions[1].holes;
    let outcome = Outcome::new(share > r.at("share") && extent as f64 >= r.at("bytes"))
        .measured(&[("share", share), ("extent", extent as f64)])
        .detail(|| format!("{:.0} % of {} were not written", 100.0 * share, units::bytes(extent as f64)))
        .exact();
    Some(outcome)
}

/// For the totals; never a finding.
pub(in crate::findings) fn mix(f: &Facts, _: &Rule) -> Option<Outcome> {
    let t = f.posix?;
    let share = |a: i64, b: i64| ratio(a as f64, (a + b) as f64);
    let calls = share(t.total(&["READS"])?, t.total(&["WRITES"])?);
    let bytes = share(t.total(&["BYTES_READ"])?, t.total(&["BYTES_WRITTEN"])?);
    Some(Outcome::new(false).measured(&[("read_calls", calls), ("read_bytes", bytes)]))
}

pub(in crate::findings) fn mmap(f: &Facts, r: &Rule) -> Option<Outcome> {
    let names = ["MMAPS", "BYTES_READ", "BYTES_WRITTEN", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN"];
    let mut parts = Parts::default();
    for row in rows(f.posix?, names, []) {
        let [maps, read, written, last_read, last_written] = row.int.map(|x| x.max(0) as u64);
        let size = last_read.max(last_written);
        if maps > 0 && ((read + written) as f64) < r.at("share") * size.max(1) as f64 {
            parts.add(Part { file: row.file, rank: row.rank, count: maps, bytes: read + written, time_s: 0.0 });
        }
    }
    let parts = parts.counted();
    let n = parts.iter().map(|p| p.count).sum::<u64>();
    let outcome = Outcome::new(n > 0)
        .measured(&[("maps", n as f64)])
        .detail(|| format!("{} mmap calls: I/O through memory is not seen", count(n)))
        .parts(parts);
    Some(outcome)
}
