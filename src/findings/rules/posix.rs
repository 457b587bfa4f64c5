//! Requests: their size, place, order and repetition.

use std::collections::BTreeMap;

use crate::facts::{BYTES, CALLS, Count, Counted, Measure, TIMES};
use crate::findings::book::Rule;
use crate::findings::evidence::Filter;
use crate::findings::facts::{Facts, RankTime, WORDS, ratio};
use crate::findings::outcome::{Outcome, Part};
use crate::findings::requests::{Class, Direction, RequestFacts, TINY, Tail};
use crate::findings::rules::sums::{self, Sums};
use crate::record::{FileId, Op};
use crate::units;

const OPS: [Op; 2] = [Op::Read, Op::Write];

const MODEL: &str = "time beyond that of the same bytes at the rate of large requests";

/// The requests, if all of them are there.
fn whole<'f>(f: &'f Facts) -> Option<&'f RequestFacts> {
    f.requests.as_ref().filter(|r| r.complete)
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
        let (mut time, mut least, mut parts) = (RankTime::default(), RankTime::default(), Vec::new());
        for c in calls(f.posix.as_ref()?, d) {
            let (low, high) = some(&c);
            (found.low, found.high, found.of) = (found.low + low, found.high + high, found.of + c.calls);
            if c.calls > 0 {
                let time_s = c.time_s * low as f64 / c.calls as f64;
                time.add(c.rank, time_s, f.ranks);
                let left_s = if low < c.calls { c.time_s - (c.calls - low) as f64 * c.longest_s } else { time_s };
                least.add(c.rank, left_s.clamp(0.0, time_s), f.ranks);
                parts.push(Part { file: c.file, rank: c.rank, count: low, bytes: c.bytes, time_s });
            }
        }
        (found.time_s, found.least_s, found.parts) = (time.critical(), least.critical(), counted(parts));
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

/// The parts that count.
fn counted(mut parts: Vec<Part>) -> Vec<Part> {
    parts.retain(|p| p.count > 0);
    parts
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

fn calls(t: &Counted<'_>, d: usize) -> impl Iterator<Item = Calls> {
    /// Classes of requests up to 1 MiB, and below 1,000 bytes.
    const SMALL: usize = 5;
    const TINY: usize = 2;
    let [calls, bytes, seq] = [CALLS[d], BYTES[d], [Count::SeqReads, Count::SeqWrites][d]];
    let longest = [Measure::LongestReadS, Measure::LongestWriteS][d];
    t.rows().map(move |row| {
        let (classes, all, time_s) = (row.sizes(d), row.count(calls), row.measure(TIMES[d]));
        let small: u64 = classes[..SMALL].iter().sum();
        let one_mib: u64 = row.common().filter(|(size, _)| *size == 1 << 20).map(|(_, n)| n).sum();
        let back = all.saturating_sub(row.count(seq));
        // where the longest is not recorded, each is as long as the mean
        let longest_s = Some(row.measure(longest)).filter(|s| *s > 0.0).unwrap_or(ratio(time_s, all as f64));
        Calls {
            file: row.file,
            rank: row.rank,
            calls: all,
            bytes: row.count(bytes),
            time_s,
            longest_s,
            small: (small - classes[SMALL - 1].min(one_mib), small),
            tiny: classes[..TINY].iter().sum(),
            back: (back.saturating_sub(row.count(Count::Opens)), back),
        }
    })
}

pub(in crate::findings) fn small(f: &Facts, r: &Rule, d: usize) -> Option<Outcome> {
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
            format!(
                "{least}{} of {} {} below {}",
                units::grouped(low),
                units::grouped(of),
                WORDS[d],
                units::bytes(f.stripe as f64)
            )
        })
        .evidence(Filter { below: Some(f.stripe), ..Filter::of(OPS[d]) });
    Some(outcome)
}

pub(in crate::findings) fn unaligned_file(f: &Facts, r: &Rule) -> Option<Outcome> {
    if let Some(all) = whole(f) {
        return Some(unaligned_requests(f, r, all));
    }
    let large = r.at("stripes") * f.stripe as f64;
    let (mut all, mut some, mut alignment, mut parts) = (0, 0, 0, Vec::new());
    for row in f.posix.as_ref()?.rows() {
        if row.ends().into_iter().any(|end| end as f64 >= large) {
            let unaligned = row.count(Count::FileUnaligned);
            (all, some) = (all + row.calls(), some + unaligned);
            alignment = alignment.max(row.count(Count::FileAlignment));
            parts.push(Part { bytes: row.count(Count::BytesWritten), ..Part::of(&row, unaligned, 0.0) });
        }
    }
    let outcome = Outcome::new(ratio(some as f64, all as f64) > r.at("share"))
        .measured(&[("unaligned", some as f64), ("of", all as f64), ("alignment", alignment as f64)])
        .parts(counted(parts))
        .detail(|| {
            let unit = units::bytes(alignment as f64);
            let [some, all] = [some, all].map(units::grouped);
            format!("{some} of {all} requests do not begin at a multiple of {unit}, the block of the file system")
        });
    Some(outcome)
}

fn unaligned_requests(f: &Facts, r: &Rule, all: &RequestFacts) -> Outcome {
    let both = &all.directions;
    let [some, of] = [both.iter().map(|d| d.unaligned.count).sum(), both.iter().map(|d| d.quarter).sum::<u64>()];
    let lost = both.iter().filter_map(|d| d.unaligned.lost_s).reduce(|a, b| a + b);
    let large = both.iter().any(|d| d.extent as f64 >= r.at("stripes") * f.stripe as f64);
    Outcome::new(ratio(some as f64, of as f64) > r.at("share") && large)
        .measured(&[("unaligned", some as f64), ("of", of as f64), ("alignment", f.stripe as f64)])
        .time(both.iter().map(|d| d.unaligned.time_s).sum())
        .maybe_lost(lost, "time beyond that of aligned requests of the same size")
        .parts(both.iter().flat_map(|d| d.unaligned.parts.iter().copied()).collect())
        .evidence(Filter { at_least: Some(f.stripe / 4), off: Some(f.stripe), ..Filter::default() })
        .detail(|| {
            let most = both.iter().max_by_key(|d| d.unaligned.count).map_or(&[][..], |d| &d.remainders);
            let usual: Vec<String> = most.iter().map(|x| format!("{} bytes", units::grouped(x.0))).collect();
            let (some, of, unit) = (units::grouped(some), units::grouped(of), units::bytes(f.stripe as f64));
            format!("{some} of {of} large requests begin {} after a multiple of {unit}", usual.join(", "))
        })
        .exact()
}

/// Small requests that go back or skip, by a step that the rank has not just made in this file; from counters those that go back.
pub(in crate::findings) fn random(f: &Facts, r: &Rule, d: usize) -> Option<Outcome> {
    let requests = whole(f).map(|q| (&q.directions[d], &q.streams.rows[d]));
    let (all, low, high) = match requests {
        Some((of, _)) => (Found::of_requests(&of.irregular, of.count), of.irregular.count, of.irregular.count),
        None => {
            let back = Found::of_counters(f, d, |c| c.back)?;
            let both = |c: &Calls| (c.back.0 + c.small.0).saturating_sub(c.calls).min(c.back.0);
            (Found::of_counters(f, d, |c| (both(c), c.back.1.min(c.small.1)))?, back.low, back.high)
        }
    };
    let (small, of) = (all.low, all.of);
    let costs = all.least_s >= r.at("run_share") * f.run_s;
    let fires = all.share() > r.at("share") && small as f64 >= r.at("count") && costs;
    let of_all = [("small", small as f64), ("low", low as f64), ("high", high as f64), ("of", of as f64)];
    let outcome = all.outcome(fires).measured(&of_all);
    let text = |how: &str| {
        format!(
            "{how}{} of {} {} below {}",
            units::grouped(small),
            units::grouped(of),
            WORDS[d],
            units::bytes(f.stripe as f64)
        )
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

pub(in crate::findings) fn sequential(f: &Facts, r: &Rule) -> Option<Outcome> {
    let in_order = |d: usize| {
        let back = Found::of_counters(f, d, |c| c.back)?;
        Some(back.of as f64 >= r.at("count") && 1.0 - ratio(back.high as f64, back.of as f64) >= r.at("share"))
    };
    let (reads, writes) = (in_order(0)?, in_order(1)?);
    Some(Outcome::new(reads || writes).measured(&[("reads", reads.into()), ("writes", writes.into())]))
}

pub(in crate::findings) fn again(f: &Facts, r: &Rule, d: usize) -> Option<Outcome> {
    let words = ["read", "written"][d];
    let requests = whole(f).map(|q| (q, &q.directions[d]));
    let (low, all, time_s, lost_s, parts) = match requests {
        Some((q, of)) => {
            let lost_s = again_lost(of, q, d);
            (of.again.0, of.bytes, lost_s, lost_s, of.again.1.clone())
        }
        None => {
            let (files, mut time) = (sums::files(f)?, RankTime::default());
            let part = |x: &Sums| {
                let bytes = x.bytes[d].saturating_sub(x.ends[d]);
                let time_s = x.times_s[d] * ratio(bytes as f64, x.bytes[d] as f64);
                Part { bytes, count: 1, ..x.part(time_s) }
            };
            let parts: Vec<Part> = files.values().map(part).filter(|p| p.bytes > 0).collect();
            parts.iter().for_each(|p| time.add(p.rank, p.time_s, f.ranks));
            let (low, all) = (parts.iter().map(|p| p.bytes).sum(), files.values().map(|x| x.bytes[d]).sum());
            (low, all, Some(time.critical()), None, parts)
        }
    };
    let fires = ratio(low as f64, all as f64) >= r.at("share") && low as f64 >= r.at("bytes");
    let outcome = Outcome::new(fires)
        .measured(&[("low", low as f64), ("of", all as f64)])
        .maybe_time(time_s)
        .maybe_lost(lost_s, "bytes moved again, at the rate of large requests")
        .parts(parts)
        .detail(|| {
            let [some, of] = [low, all].map(|n| units::bytes(n as f64));
            format!("{}{some} of {of} {words} were {words} before", if requests.is_some() { "" } else { "at least " })
        });
    Some(match requests {
        Some((_, of)) => outcome.evidence(Filter { rows: Some(of.again_rows.clone()), ..Filter::default() }).exact(),
        None => outcome.modelled(),
    })
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
        .detail(|| format!("{} of {} requests below {limit}", units::grouped(n), units::grouped(of)))
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
    let most = |a: &(usize, &Tail), b: &(usize, &Tail)| a.1.lost_s.total_cmp(&b.1.lost_s);
    let worst = all().filter(fires).max_by(most);
    let Some((d, t)) = worst.or_else(|| all().max_by(most)) else { return Some(Outcome::new(false)) };
    let outcome = Outcome::new(worst.is_some())
        .measured(&[("share", t.share), ("count", t.count as f64), ("of", t.of as f64), ("size_bytes", t.size as f64)])
        .measured(&[("median_s", t.median_s), ("max_s", t.max_s)])
        .time(t.time_s)
        .lost(t.lost_s, "time of a rank beyond that of as many median requests of their size")
        .detail(|| {
            let [slowest, median] = [t.max_s, t.median_s].map(units::seconds);
            let [from, to] = [t.size, 2 * t.size].map(|n| units::bytes(n as f64));
            let (share, n, of) = (100.0 * t.share, units::grouped(t.count), units::grouped(t.of));
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

pub(in crate::findings) fn mmap(f: &Facts, r: &Rule) -> Option<Outcome> {
    let mut parts = Vec::new();
    for row in f.posix.as_ref()?.rows() {
        let (maps, size) = (row.count(Count::Mmaps), row.ends().into_iter().fold(2, u64::max) - 1);
        if maps > 0 && (row.moved() as f64) < r.at("share") * size as f64 {
            parts.push(Part::of(&row, maps, 0.0));
        }
    }
    let parts = counted(parts);
    let n = parts.iter().map(|p| p.count).sum::<u64>();
    let outcome = Outcome::new(n > 0)
        .measured(&[("maps", n as f64)])
        .detail(|| format!("{} mmap calls: I/O through memory is not seen", units::grouped(n)))
        .parts(parts);
    Some(outcome)
}
