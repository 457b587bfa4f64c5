//! MPI-IO: what is collective, and what becomes of the calls.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::facts::{BYTES, CALLS, Count, Row, SIZES, TIMES};
use crate::findings::book::Rule;
use crate::findings::evidence::Filter;
use crate::findings::facts::{Facts, RankTime, WORDS, ratio};
use crate::findings::outcome::{Outcome, Part};
use crate::findings::rules::sums::{self, Sums};
use crate::record::{FileId, Op};
use crate::units;

/// Independent reads and writes.
const INDEPENDENT: [Count; 2] = [Count::IndepReads, Count::IndepWrites];
/// Collective reads and writes.
const COLLECTIVE: [Count; 2] = [Count::CollReads, Count::CollWrites];

pub(in crate::findings) fn not_used(f: &Facts, r: &Rule) -> Option<Outcome> {
    let opened: HashSet<FileId> = f.mpiio.iter().flat_map(|t| t.rows()).map(|row| row.file).collect();
    let files = sums::files(f)?;
    let all: u64 = files.values().flat_map(|x| x.bytes).sum();
    // large requests of a shared file are right without MPI-IO
    let small = |x: &&Sums| x.bytes.iter().sum::<u64>() < f.stripe.saturating_mul(x.calls.iter().sum());
    let shared = |x: &&Sums| x.rank.is_none() && !opened.contains(&x.file);
    let found = files.values().filter(shared).filter(small);
    let parts: Vec<Part> = found.map(|x| x.part(x.transfer_s() / f.ranks as f64)).collect();
    let bytes: u64 = parts.iter().map(|p| p.bytes).sum();
    let many = f.ranks as f64 >= r.at("ranks") && bytes > 0;
    let outcome = Outcome::new(many && ratio(bytes as f64, all as f64) >= r.at("share"))
        .measured(&[("bytes", bytes as f64), ("of", all as f64)])
        .time(parts.iter().map(|p| p.time_s).sum())
        .detail(|| {
            let [some, all] = [bytes, all].map(|n| units::bytes(n as f64));
            format!("{some} of {all} in small requests to shared files")
        })
        .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn independent(f: &Facts, r: &Rule, d: usize) -> Option<Outcome> {
    let (mut indep, mut all) = (0, 0);
    // of each file: independent and all calls, a rank's mean time, and its only rank
    let mut files: BTreeMap<FileId, (u64, u64, f64, Option<u32>)> = BTreeMap::new();
    for row in f.mpiio.as_ref()?.rows() {
        let (independent, calls) = (row.count(INDEPENDENT[d]), row.count(CALLS[d]));
        (indep, all) = (indep + independent, all + calls);
        let file = files.entry(row.file).or_insert((0, 0, 0.0, row.rank));
        (file.0, file.1) = (file.0 + independent, file.1 + calls);
        file.2 += row.measure(TIMES[d]) / f.ranks as f64;
        file.3 = file.3.filter(|k| Some(*k) == row.rank);
    }
    let large = large_and_apart(f, d);
    let fires = |file: &FileId, x: &(u64, u64, f64, Option<u32>)| {
        let many = x.0 as f64 >= r.at("count") && ratio(x.0 as f64, x.1 as f64) > r.at("share");
        x.3.is_none() && many && !large.contains(f.name(*file))
    };
    let parts: Vec<Part> = files
        .iter()
        .filter(|(file, x)| fires(file, x))
        .map(|(&file, x)| Part { file, rank: None, count: x.0, bytes: 0, time_s: x.2 })
        .collect();
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("indep", indep as f64), ("of", all as f64), ("files", parts.len() as f64)])
        .time(parts.iter().map(|p| p.time_s).sum())
        .detail(|| format!("{} of {} MPI-IO {} are independent", units::grouped(indep), units::grouped(all), WORDS[d]))
        .parts(parts);
    Some(outcome)
}

/// Files whose requests are all seen, most of which have a stripe unit or more and keep to their rank's stripes: they are right
/// without collective calls.
fn large_and_apart<'f>(f: &'f Facts, d: usize) -> HashSet<&'f str> {
    let Some(q) = f.requests.as_ref().filter(|q| q.complete) else { return HashSet::new() };
    let small: BTreeMap<FileId, u64> = q.directions[d].small.parts.iter().map(|p| (p.file, p.count)).collect();
    let shared: HashSet<FileId> = q.stripes.parts.iter().map(|p| p.file).collect();
    let large = |u: &&crate::findings::requests::FileUse| {
        10 * small.get(&u.file).copied().unwrap_or(0) <= u.count && !shared.contains(&u.file)
    };
    q.directions[d].files.iter().filter(large).map(|u| f.trace.files.name(u.file)).collect()
}

pub(in crate::findings) fn aggregators(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (t, q) = (f.mpiio.as_ref()?, f.requests.as_ref()?);
    let ids: HashMap<&str, FileId> = f.trace.files.iter().map(|(id, name)| (name, id)).collect();
    let stripes: HashMap<FileId, u64> = f.counters?.layouts.iter().rev().map(|l| (l.file, l.stripes)).collect();
    let collective = t.rows().filter(|row| row.count(Count::CollWrites) > 0);
    let collective: BTreeSet<FileId> = collective.map(|row| row.file).collect();
    let (mut parts, mut fewest, mut most, mut time_s) = (Vec::new(), u64::MAX, 0, 0.0f64);
    for file in collective {
        let Some(&id) = ids.get(f.name(file)) else { continue };
        let writers: Vec<_> = q.streams.of_file(id).filter(|(_, s)| s.count[1] > 0).collect();
        let (n, bytes) = (writers.len() as u64, writers.iter().map(|(_, s)| s.bytes[1]).sum::<u64>());
        let stripes = stripes.get(&file).copied();
        let one = n == 1 && f.nodes().is_some_and(|k| k as f64 >= r.at("nodes")) && bytes as f64 >= r.at("bytes");
        if one || stripes.is_some_and(|c| n as f64 > r.at("per_stripe") * c as f64) {
            (fewest, most) = (fewest.min(n), most.max(n));
            time_s = time_s.max(writers.iter().map(|(_, s)| s.time_s[1]).fold(0.0, f64::max));
            let count = writers.iter().map(|(_, s)| s.count[1]).sum();
            parts.push(Part {
                file: id,
                rank: None,
                count,
                bytes,
                time_s: writers.iter().map(|x| x.1.time_s[1]).sum(),
            });
        }
    }
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("files", parts.len() as f64), ("aggregators", most as f64)])
        .time(time_s)
        .detail(|| {
            let nodes = f.nodes().map_or(String::new(), |n| format!(" on {}", units::counted(n, "node")));
            let n = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
            format!("{n} of {}{nodes} write for all", units::counted(f.ranks, "rank"))
        })
        .evidence(Filter::of(Op::Write))
        .parts(parts)
        .exact();
    Some(outcome)
}

pub(in crate::findings) fn collective(f: &Facts, r: &Rule) -> Option<Outcome> {
    let t = f.mpiio.as_ref()?;
    let mostly = |d: usize| -> Option<bool> {
        let (collective, all) = (t.total(&[COLLECTIVE[d]])?, t.total(&[CALLS[d]])?);
        Some(all > 0 && ratio(collective as f64, all as f64) >= r.at("share"))
    };
    let (reads, writes) = (mostly(0)?, mostly(1)?);
    Some(Outcome::new(reads || writes).measured(&[("reads", reads.into()), ("writes", writes.into())]))
}

/// Sums over the rows of a file on MPI-IO, and on POSIX.
type BothSums<const N: usize, const M: usize> = ([u64; N], [u64; M]);

/// Both sums of each file that MPI-IO opened. Nothing follows from a file of which a counter is missing or cannot be.
fn both_layers<const N: usize, const M: usize>(
    f: &Facts,
    above: [Count; N],
    below: [Count; M],
) -> Option<BTreeMap<FileId, BothSums<N, M>>> {
    let mut files: BTreeMap<FileId, Option<BothSums<N, M>>> = BTreeMap::new();
    for row in f.mpiio.as_ref()?.rows() {
        let file = files.entry(row.file).or_insert(Some(([0; N], [0; M])));
        file.as_mut().and_then(|sums| add(&mut sums.0, &row, above)).is_none().then(|| *file = None);
    }
    for row in f.posix.as_ref()?.rows() {
        let Some(file) = files.get_mut(&row.file) else { continue };
        file.as_mut().and_then(|sums| add(&mut sums.1, &row, below)).is_none().then(|| *file = None);
    }
    Some(files.into_iter().filter_map(|(file, sums)| Some((file, sums?))).collect())
}

/// Adds counts of a row; `None` if one is not known.
fn add<const N: usize>(sums: &mut [u64; N], row: &Row<'_, '_>, counts: [Count; N]) -> Option<()> {
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum = sum.saturating_add(row.known(count)?);
    }
    Some(())
}

/// POSIX requests of each file that are certainly below a half of its stripe unit: a whole stripe without a header is not.
fn split(f: &Facts) -> Option<BTreeMap<FileId, u64>> {
    let units: HashMap<FileId, u64> = f.counters?.layouts.iter().map(|l| (l.file, l.stripe_bytes)).collect();
    let mut all: BTreeMap<FileId, u64> = BTreeMap::new();
    for row in f.posix.as_ref()?.rows() {
        let half = units.get(&row.file).copied().filter(|u| *u > 0).unwrap_or(f.stripe) / 2;
        let below = SIZES.iter().take_while(|(_, end)| end.is_some_and(|end| end <= half)).count();
        let end = below.checked_sub(1).and_then(|i| SIZES[i].1).unwrap_or(0);
        let classes = [0, 1].map(|d| row.sizes(d)[..below].iter().sum::<u64>());
        let common = row.common().filter(|(size, _)| (end + 1..half).contains(size)).map(|(_, n)| n);
        *all.entry(row.file).or_default() += classes[0] + classes[1] + common.sum::<u64>();
    }
    Some(all)
}

pub(in crate::findings) fn in_vain(f: &Facts, r: &Rule) -> Option<Outcome> {
    let below = [Count::Reads, Count::Writes, Count::BytesRead, Count::BytesWritten];
    let files = both_layers(f, [COLLECTIVE[0], COLLECTIVE[1], INDEPENDENT[0], INDEPENDENT[1]], below)?;
    let split = split(f)?;
    let mut found: BTreeMap<FileId, Part> = BTreeMap::new();
    let (mut calls, mut requests, mut small) = (0, 0, 0);
    for (file, (mpiio, posix)) in files {
        let (made, became, bytes) = (mpiio[0] + mpiio[1], posix[0] + posix[1], posix[2] + posix[3]);
        // independent calls may be small on their own
        let count = split.get(&file).copied().unwrap_or(0).saturating_sub(mpiio[2] + mpiio[3]);
        let mostly = count as f64 >= r.at("share") * became as f64 && bytes / became.max(1) < f.stripe / 2;
        if made as f64 > r.at("count") && became as f64 >= r.at("ratio") * made as f64 && mostly {
            (calls, requests, small) = (calls + made, requests + became, small + count);
            found.insert(file, Part { file, rank: None, count, bytes, time_s: 0.0 });
        }
    }
    let mut time = RankTime::default();
    for row in f.posix.as_ref()?.rows() {
        let Some(part) = found.get_mut(&row.file) else { continue };
        part.time_s += row.transfer_s();
        time.add(row.rank, row.transfer_s(), f.ranks);
    }
    let outcome = Outcome::new(!found.is_empty())
        .measured(&[("calls", calls as f64), ("requests", requests as f64), ("small", small as f64)])
        .time(time.critical())
        .detail(|| {
            let bytes: u64 = found.values().map(|p| p.bytes).sum();
            let size = units::bytes(ratio(bytes as f64, requests as f64));
            let [calls, requests] = [calls, requests].map(units::grouped);
            format!("{calls} collective calls became {requests} requests of {size} on average")
        })
        .parts(found.into_values().collect());
    Some(outcome)
}

pub(in crate::findings) fn sieving(f: &Facts, r: &Rule) -> Option<Outcome> {
    f.mpiio.as_ref()?;
    let mut found: BTreeMap<FileId, Part> = BTreeMap::new();
    let mut of_all = HashMap::new();
    let mut asked = 0;
    // without POSIX counters nothing below is known
    for (file, (above, below)) in both_layers(f, BYTES, BYTES).unwrap_or_default() {
        for (wanted, moved) in above.into_iter().zip(below) {
            let extra = moved.saturating_sub(wanted);
            if extra as f64 >= r.at("bytes") && moved as f64 >= r.at("ratio") * wanted as f64 {
                let part = found.entry(file).or_insert(Part { file, ..Part::default() });
                (part.count, part.bytes) = (part.count + 1, part.bytes + extra);
                asked += wanted;
            }
        }
        of_all.insert(file, below.iter().sum::<u64>());
    }
    let mut time = RankTime::default();
    for t in &f.io.outermost {
        let (file, rank, time_s) = (t.file, t.rank, t.time_s());
        if let Some(part) = found.get_mut(&file) {
            let extra_s = time_s * ratio(part.bytes as f64, of_all[&file] as f64);
            part.time_s += extra_s;
            time.add(rank, extra_s, f.ranks);
        }
    }
    let (extra, asked_for): (u64, u64) = (found.values().map(|p| p.bytes).sum(), asked);
    let fires = !found.is_empty();
    let outcome = Outcome::new(fires)
        .measured(&[("extra_bytes", extra as f64), ("files", found.len() as f64), ("asked_bytes", asked as f64)])
        .time(time.critical())
        .maybe_lost(fires.then(|| time.critical()), "time in these files x share of the bytes that nobody asked for")
        .detail(|| {
            let [extra, asked] = [extra as f64, asked as f64].map(units::bytes);
            match asked_for {
                0 => format!("POSIX moved {extra} in a direction in which MPI-IO was asked for nothing"),
                _ => format!("POSIX moved {extra} more than the {asked} that MPI-IO was asked for"),
            }
        })
        .parts(found.into_values().collect())
        .modelled();
    Some(outcome)
}
