//! Requests: their size, place, order and repetition.

use std::collections::BTreeMap;

use crate::findings::book::Rule;
use crate::findings::evidence::Filter;
use crate::findings::facts::{Facts, RankTime, ratio, rows};
use crate::findings::outcome::{Outcome, Part};
use crate::findings::requests::{Class, Direction, RequestFacts, TINY, Tail};
use crate::findings::rules::sums::{self, Sums};
use crate::record::{CounterTable, FileId, Op};
use crate::units;

/// Reads, then writes: the words for them, and in the names of counters.
const WORDS: [&str; 2] = ["reads", "writes"];
const TIMES: [[&str; 2]; 2] = [["F_READ_TIME", "F_MAX_READ_TIME"], ["F_WRITE_TIME", "F_MAX_WRITE_TIME"]];
/// Bins of requests up to 1 MiB.
const SMALL: [[&str; 5]; 2] = [
    ["SIZE_READ_0_100", "SIZE_READ_100_1K", "SIZE_READ_1K_10K", "SIZE_READ_10K_100K", "SIZE_READ_100K_1M"],
    ["SIZE_WRITE_0_100", "SIZE_WRITE_100_1K", "SIZE_WRITE_1K_10K", "SIZE_WRITE_10K_100K", "SIZE_WRITE_100K_1M"],
];
const BYTES: [&str; 2] = ["BYTES_READ", "BYTES_WRITTEN"];
const CALLS: [&str; 2] = ["READS", "WRITES"];
const SEQUENTIAL: [&str; 2] = ["SEQ_READS", "SEQ_WRITES"];

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

/// Requests of one direction or both that have something in common, from requests or, as bounds, from counters.
#[derive(Default)]
struct Found {
    low: u64,
    high: u64,
    of: u64,
    /// Time of the rank with the most; from counters as if all requests of a file took as long.
    time_s: f64,
    /// The same at least: what all other requests leave, even if each of them took as long as the slowest.
    least_s: f64,
    lost_s: Option<f64>,
    parts: Vec<Part>,
    exact: bool,
}

impl Found {
    fn of_requests(c: &Class, of: u64) -> Found {
        let (low, high) = (c.count, c.count);
        let Class { time_s, lost_s, .. } = *c;
        Found { low, high, of, time_s, least_s: time_s, lost_s, parts: c.parts.clone(), exact: true }
    }

    /// Of the calls that `some` gives the low and the high end of.
    fn of_counters(f: &Facts, d: usize, some: impl Fn(&Calls) -> (u64, u64)) -> Option<Found> {
        let mut found = Found::default();
        let (mut time, mut least, mut parts) = (RankTime::default(), RankTime::default(), Parts::default());
        for c in calls(f.posix?, d) {
            let (low, high) = some(&c);
            (found.low, found.high, found.of) = (found.low + low, found.high + high, found.of + c.calls);
            if c.calls > 0 {
                let time_s = c.time_s * low as f64 / c.calls as f64;
                time.add(c.rank, time_s, f.ranks);
                let left_s = if low < c.calls { c.time_s - (c.calls - low) as f64 * c.longest_s } else { time_s };
                least.add(c.rank, left_s.clamp(0.0, time_s), f.ranks);
                parts.add(Part { file: c.file, rank: c.rank, count: low, bytes: c.bytes, time_s });
            }
        }
        (found.time_s, found.least_s, found.parts) = (time.critical(), least.critical(), parts.counted());
        Some(found)
    }

    fn share(&self) -> f64 {
        ratio(self.low as f64, self.of as f64)
    }

    fn outcome(self, fires: bool) -> Outcome {
        let outcome = Outcome::new(fires).time(self.time_s).time_low(self.least_s).maybe_lost(self.lost_s, MODEL);
        let outcome = outcome.parts(self.parts);
        if self.exact { outcome.exact() } else { outcome.modelled() }
    }
}

/// Calls of one direction in a row of counters.
struct Calls {
    file: FileId,
    rank: Option<u32>,
    calls: u64,
    bytes: u64,
    time_s: f64,
    /// The longest call.
    longest_s: f64,
    /// Below 1 MiB: those of exactly 1 MiB may be in the bin, too.
    small: (u64, u64),
    /// Below 1,000 bytes.
    tiny: u64,
    /// Those that go back: the first after each open may be one at offset 0.
    back: (u64, u64),
}

fn calls(t: &CounterTable, d: usize) -> impl Iterator<Item = Calls> + '_ {
    let [b0, b1, b2, b3, b4] = SMALL[d];
    let all = rows(t, [b0, b1, b2, b3, b4, CALLS[d], BYTES[d], SEQUENTIAL[d], "OPENS"], TIMES[d]);
    all.zip(of_one_mib(t)).map(|(row, exact)| {
        let [bins @ .., calls, bytes, seq, opens] = row.int.map(|x| x.max(0) as u64);
        let small: u64 = bins.iter().sum();
        let back = calls.saturating_sub(seq);
        // a longest call that is not recorded may be as long as all
        let longest_s = if row.real[1] > 0.0 { row.real[1] } else { f64::INFINITY };
        Calls {
            file: row.file,
            rank: row.rank,
            calls,
            bytes,
            time_s: row.real[0].max(0.0),
            longest_s,
            small: (small - bins[4].min(exact), small),
            tiny: bins[0] + bins[1],
            back: (back.saturating_sub(opens), back),
        }
    })
}

/// For each row the calls of exactly 1 MiB that its common sizes know of.
fn of_one_mib(t: &CounterTable) -> impl Iterator<Item = u64> + '_ {
    let sizes = ["ACCESS1_ACCESS", "ACCESS2_ACCESS", "ACCESS3_ACCESS", "ACCESS4_ACCESS"];
    let counts = ["ACCESS1_COUNT", "ACCESS2_COUNT", "ACCESS3_COUNT", "ACCESS4_COUNT"];
    let exact = |size: [i64; 4], n: [i64; 4]| {
        size.iter().zip(n).filter(|(size, _)| **size == 1 << 20).map(|(_, n)| n.max(0) as u64).sum()
    };
    rows(t, sizes, []).zip(rows(t, counts, [])).map(move |(size, n)| exact(size.int, n.int))
}

pub(in crate::findings) fn small_reads(f: &Facts, r: &Rule) -> Option<Outcome> {
    small(f, r, 0)
}

pub(in crate::findings) fn small_writes(f: &Facts, r: &Rule) -> Option<Outcome> {
    small(f, r, 1)
}

fn small(f: &Facts, r: &Rule, d: usize) -> Option<Outcome> {
    let all = match whole(f) {
        Some(q) => Found::of_requests(&q.directions[d].small, q.directions[d].count),
        None => Found::of_counters(f, d, |c| c.small)?,
    };
    let (low, high, of) = (all.low, all.high, all.of);
    let many = low as f64 >= r.at("count") || all.least_s >= r.at("run_share") * f.run_s;
    let fires = all.share() > r.at("share") && many;
    let outcome = all
        .outcome(fires)
        .measured(&[("low", low as f64), ("high", high as f64), ("of", of as f64)])
        .detail(|| {
            let least = if low < high { "at least " } else { "" };
            format!("{least}{} of {} {} below {}", count(low), count(of), WORDS[d], units::bytes(f.stripe as f64))
        })
        .evidence(Filter { below: Some(f.stripe), ..Filter::of(OPS[d]) });
    Some(outcome)
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

pub(in crate::findings) fn random_reads(f: &Facts, r: &Rule) -> Option<Outcome> {
    random(f, r, 0)
}

pub(in crate::findings) fn random_writes(f: &Facts, r: &Rule) -> Option<Outcome> {
    random(f, r, 1)
}

/// Small requests that go back or skip, by a step that the rank has not just made in this file; from counters those that go back.
fn random(f: &Facts, r: &Rule, d: usize) -> Option<Outcome> {
    let requests = whole(f).map(|q| (&q.directions[d], &q.streams.rows[d]));
    let (all, low, high) = match requests {
        Some((of, _)) => (Found::of_requests(&of.irregular, of.count), of.irregular.count, of.irregular.count),
        None => {
            let back = Found::of_counters(f, d, |c| c.back)?;
            let both = |c: &Calls| (c.back.0 + c.small.0).saturating_sub(c.calls);
            (Found::of_counters(f, d, |c| (both(c), c.back.1.min(c.small.1)))?, back.low, back.high)
        }
    };
    let (small, of) = (all.low, all.of);
    let costs = all.least_s >= r.at("run_share") * f.run_s;
    let fires = all.share() > r.at("share") && small as f64 >= r.at("count") && costs;
    let of_all = [("small", small as f64), ("low", low as f64), ("high", high as f64), ("of", of as f64)];
    let outcome = all.outcome(fires).measured(&of_all);
    let text = |how: &str| {
        format!("{how}{} of {} {} below {}", count(small), count(of), WORDS[d], units::bytes(f.stripe as f64))
    };
    let Some((direction, rows)) = requests else {
        return Some(outcome.detail(|| format!("{} go back in their file", text("at least "))));
    };
    let (median, most) = direction.jumps.unwrap_or_default();
    let outcome = outcome
        .measured(&[("jump_median", median as f64), ("jump_p90", most as f64)])
        .detail(|| format!("{} go back or skip, by {} (median)", text(""), units::bytes(median as f64)))
        .evidence(Filter { rows: Some(rows.clone()), ..Filter::default() });
    Some(outcome)
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
    let in_order = |d: usize| {
        let back = Found::of_counters(f, d, |c| c.back)?;
        Some(back.of as f64 >= r.at("count") && 1.0 - ratio(back.high as f64, back.of as f64) >= r.at("share"))
    };
    let (reads, writes) = (in_order(0)?, in_order(1)?);
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
    let files = sums::files(f)?;
    let all = files.values().map(|x| x.bytes[d]).sum();
    let more = |x: &Sums| Some(x.bytes[d].saturating_sub(x.ends[d])).filter(|n| *n > 0);
    let part = |x: &Sums| Some(Part { file: x.file, bytes: more(x)?, count: 1, ..Part::default() });
    let parts: Vec<Part> = files.values().filter_map(part).collect();
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
    let of = |d: usize| match whole(f) {
        Some(q) => Some(Found::of_requests(&q.directions[d].tiny, q.directions[d].count)),
        None => Found::of_counters(f, d, |c| (c.tiny, c.tiny)),
    };
    let (reads, mut all) = (of(0)?, of(1)?);
    (all.low, all.of, all.lost_s) = (all.low + reads.low, all.of + reads.of, None);
    (all.time_s, all.least_s) = (all.time_s + reads.time_s, all.least_s + reads.least_s);
    all.parts.extend(reads.parts);
    let (n, of, limit) = (all.low, all.of, if all.exact { "4 KiB" } else { "1,000 bytes" });
    let fires = all.share() >= r.at("share") && n as f64 >= r.at("count");
    let outcome = all
        .outcome(fires)
        .measured(&[("count", n as f64), ("of", of as f64)])
        .detail(|| format!("{} of {} requests below {limit}", count(n), count(of)))
        .evidence(Filter { below: Some(TINY), ..Filter::default() });
    Some(outcome)
}

pub(in crate::findings) fn slow_tail(f: &Facts, r: &Rule) -> Option<Outcome> {
    let directions = f.requests.as_ref()?.directions.iter().enumerate();
    let all = || directions.clone().flat_map(|(d, of)| of.tails.iter().map(move |t| (d, t)));
    let fires = |(_, t): &(usize, &Tail)| {
        t.of as f64 >= r.at("count")
            && t.share >= r.at("share")
            && t.max_s >= r.at("factor") * t.median_s
            && t.time_s >= r.at("time_s")
    };
    let most = |a: &(usize, &Tail), b: &(usize, &Tail)| a.1.lost_s().total_cmp(&b.1.lost_s());
    let worst = all().filter(fires).max_by(most);
    let Some((d, t)) = worst.or_else(|| all().max_by(most)) else { return Some(Outcome::new(false)) };
    let outcome = Outcome::new(worst.is_some())
        .measured(&[("share", t.share), ("count", t.count as f64), ("of", t.of as f64), ("size_bytes", t.size as f64)])
        .measured(&[("median_s", t.median_s), ("max_s", t.max_s)])
        .time(t.time_s)
        .lost(t.lost_s(), "time beyond that of as many median requests of their size")
        .detail(|| {
            let [slowest, median] = [t.max_s, t.median_s].map(units::seconds);
            let [from, to] = [t.size, 2 * t.size].map(|n| units::bytes(n as f64));
            let (share, n, of) = (100.0 * t.share, count(t.count), count(t.of));
            format!(
                "{n} of {of} {} of {from} to {to} take {share:.0} % of their time, up to {slowest}, the median {median}",
                WORDS[d]
            )
        })
        .evidence(Filter {
            longer_s: Some(r.at("factor") * t.median_s),
            at_least: Some(t.size),
            below: Some(2 * t.size),
            ..Filter::of(OPS[d])
        })
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
