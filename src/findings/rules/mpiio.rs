//! MPI-IO: what is collective, and what becomes of the calls.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::findings::book::Rule;
use crate::findings::evidence::Filter;
use crate::findings::facts::{Facts, ratio, rows};
use crate::findings::outcome::{Outcome, Part};
use crate::record::{CounterTable, FileId, Op};
use crate::units;

const READS: [&str; 4] = ["INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS"];
const WRITES: [&str; 4] = ["INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES"];

/// Files that several ranks access; a row over all ranks is of such a file.
fn shared_files(t: &CounterTable) -> HashSet<FileId> {
    let mut of: BTreeMap<FileId, BTreeSet<Option<u32>>> = BTreeMap::new();
    for row in rows(t, [], []) {
        of.entry(row.file).or_default().insert(row.rank);
    }
    let several = |all: &BTreeSet<Option<u32>>| all.len() > 1 || all.contains(&None);
    of.into_iter().filter(|(_, all)| several(all)).map(|(file, _)| file).collect()
}

pub(in crate::findings) fn not_used(f: &Facts, r: &Rule) -> Option<Outcome> {
    let t = f.posix?;
    let shared = shared_files(t);
    let opened: HashSet<FileId> = f.mpiio.into_iter().flat_map(|m| m.file.iter()).collect();
    let names = ["BYTES_READ", "BYTES_WRITTEN", "READS", "WRITES"];
    let mut files: BTreeMap<FileId, Part> = BTreeMap::new();
    let mut all = 0u64;
    for row in rows(t, names, ["F_READ_TIME", "F_WRITE_TIME"]) {
        let [read, written, reads, writes] = row.int.map(|x| x.max(0) as u64);
        all += read + written;
        if shared.contains(&row.file) && !opened.contains(&row.file) && row.int[..4].iter().any(|x| *x > 0) {
            let part = files.entry(row.file).or_insert(Part { file: row.file, ..Part::default() });
            part.count += reads + writes;
            part.bytes += read + written;
            part.time_s += row.real.iter().map(|x| x.max(0.0)).sum::<f64>() / f.ranks as f64;
        }
    }
    // large requests of a shared file are right without MPI-IO
    files.retain(|_, p| p.count > 0 && p.bytes / p.count < f.stripe);
    let bytes: u64 = files.values().map(|p| p.bytes).sum();
    let outcome =
        Outcome::new(f.ranks as f64 >= r.at("ranks") && bytes > 0 && ratio(bytes as f64, all as f64) >= r.at("share"))
            .measured(&[("bytes", bytes as f64), ("of", all as f64)])
            .time(files.values().map(|p| p.time_s).sum())
            .detail(|| {
                format!(
                    "{} of {} in small requests to shared files",
                    units::bytes(bytes as f64),
                    units::bytes(all as f64)
                )
            })
            .parts(files.into_values().collect());
    Some(outcome)
}

pub(in crate::findings) fn independent_reads(f: &Facts, r: &Rule) -> Option<Outcome> {
    independent(f, r, READS, "F_READ_TIME", "reads")
}

pub(in crate::findings) fn independent_writes(f: &Facts, r: &Rule) -> Option<Outcome> {
    independent(f, r, WRITES, "F_WRITE_TIME", "writes")
}

fn independent(f: &Facts, r: &Rule, names: [&str; 4], time: &str, what: &str) -> Option<Outcome> {
    let t = f.mpiio?;
    let shared = shared_files(t);
    let (mut indep, mut all) = (0i64, 0i64);
    let mut files: BTreeMap<FileId, (i64, i64, f64)> = BTreeMap::new();
    for row in rows(t, names, [time]) {
        let calls = row.int.map(|x| x.max(0));
        (indep, all) = (indep + calls[0], all + calls.iter().sum::<i64>());
        let file = files.entry(row.file).or_default();
        *file = (file.0 + calls[0], file.1 + calls.iter().sum::<i64>(), file.2 + row.real[0].max(0.0) / f.ranks as f64);
    }
    let large = large_and_apart(f, usize::from(what == "writes"));
    let fires = |file: &FileId, x: &(i64, i64, f64)| {
        let many = x.0 as f64 >= r.at("count") && ratio(x.0 as f64, x.1 as f64) > r.at("share");
        shared.contains(file) && many && !large.contains(f.name(*file))
    };
    let parts: Vec<Part> = files
        .iter()
        .filter(|(file, x)| fires(file, x))
        .map(|(&file, x)| Part { file, rank: None, count: x.0 as u64, bytes: 0, time_s: x.2 })
        .collect();
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("indep", indep as f64), ("of", all as f64), ("files", parts.len() as f64)])
        .time(parts.iter().map(|p| p.time_s).sum())
        .detail(|| format!("{} of {} MPI-IO {what} are independent", units::grouped(indep), units::grouped(all)))
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
    let (t, q) = (f.mpiio?, f.requests.as_ref()?);
    let ids: HashMap<&str, FileId> = f.trace.files.iter().map(|(id, name)| (name, id)).collect();
    let stripes: HashMap<FileId, u64> = f.counters?.layouts.iter().rev().map(|l| (l.file, l.stripes)).collect();
    let collective: BTreeSet<FileId> =
        rows(t, ["COLL_WRITES"], []).filter(|row| row.int[0] > 0).map(|row| row.file).collect();
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
    let t = f.mpiio?;
    let mostly = |names: [&str; 4]| -> Option<bool> {
        let (coll, all) = (t.total(&[names[1]])?, t.total(&names)?);
        Some(all > 0 && ratio(coll as f64, all as f64) >= r.at("share"))
    };
    let (reads, writes) = (mostly(READS)?, mostly(WRITES)?);
    Some(Outcome::new(reads || writes).measured(&[("reads", reads.into()), ("writes", writes.into())]))
}

/// Sums of counters of MPI-IO, and of POSIX.
type BothSums<const N: usize> = ([i64; N], [i64; N]);

/// Both sums of each file that MPI-IO opened.
fn both_layers<const N: usize>(f: &Facts, above: [&str; N], below: [&str; N]) -> Option<BTreeMap<FileId, BothSums<N>>> {
    let mut files: BTreeMap<FileId, BothSums<N>> = BTreeMap::new();
    for row in rows(f.mpiio?, above, []) {
        let sum = &mut files.entry(row.file).or_insert(([0; N], [0; N])).0;
        (0..N).for_each(|i| sum[i] += row.int[i].max(0));
    }
    for row in rows(f.posix?, below, []) {
        if let Some((_, sum)) = files.get_mut(&row.file) {
            (0..N).for_each(|i| sum[i] += row.int[i].max(0));
        }
    }
    Some(files)
}

pub(in crate::findings) fn in_vain(f: &Facts, r: &Rule) -> Option<Outcome> {
    let above = ["COLL_READS", "COLL_WRITES", "BYTES_READ", "BYTES_WRITTEN"];
    let below = ["READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN"];
    let mut parts = Vec::new();
    let (mut calls, mut requests) = (0, 0);
    for (file, (coll, posix)) in both_layers(f, above, below)? {
        let (made, became, bytes) = (coll[0] + coll[1], posix[0] + posix[1], posix[2] + posix[3]);
        let small = became > 0 && ((bytes / became) as f64) < f.stripe as f64;
        if made as f64 > r.at("count") && became as f64 >= r.at("ratio") * made as f64 && small {
            (calls, requests) = (calls + made, requests + became);
            parts.push(Part { file, rank: None, count: became as u64, bytes: bytes as u64, time_s: 0.0 });
        }
    }
    let bytes: u64 = parts.iter().map(|p| p.bytes).sum();
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("calls", calls as f64), ("requests", requests as f64)])
        .detail(|| {
            let size = units::bytes(ratio(bytes as f64, requests as f64));
            format!("{} collective calls became {} requests of {size}", units::grouped(calls), units::grouped(requests))
        })
        .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn sieving(f: &Facts, r: &Rule) -> Option<Outcome> {
    let names = ["BYTES_READ", "BYTES_WRITTEN"];
    f.mpiio?;
    let mut parts = Vec::new();
    // without POSIX counters nothing below is known
    for (file, (above, below)) in f.posix.and(both_layers(f, names, names)).unwrap_or_default() {
        for (wanted, moved) in above.into_iter().zip(below) {
            if (moved - wanted) as f64 >= r.at("bytes") && moved as f64 >= r.at("ratio") * wanted as f64 {
                parts.push(Part { file, rank: None, count: 1, bytes: (moved - wanted) as u64, time_s: 0.0 });
            }
        }
    }
    let extra: u64 = parts.iter().map(|p| p.bytes).sum();
    let files = parts.iter().map(|p| p.file).collect::<HashSet<_>>().len();
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("extra_bytes", extra as f64), ("files", files as f64)])
        .detail(|| format!("POSIX moved {} more than MPI-IO was asked for", units::bytes(extra as f64)))
        .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn syncs(f: &Facts, r: &Rule) -> Option<Outcome> {
    let t = f.mpiio?;
    let (n, all) = (t.total(&["SYNCS"])?, t.total(&WRITES)?);
    let outcome = Outcome::new(ratio(n as f64, all as f64) > r.at("share") && n as f64 >= r.at("count"))
        .measured(&[("syncs", n as f64), ("of", all as f64)])
        .detail(|| format!("{} syncs for {} writes", units::grouped(n), units::grouped(all)));
    Some(outcome)
}

pub(in crate::findings) fn opens(f: &Facts, r: &Rule) -> Option<Outcome> {
    let n = f.ranks;
    let mut parts: BTreeMap<FileId, Part> = BTreeMap::new();
    for row in rows(f.mpiio?, ["INDEP_OPENS"], ["F_META_TIME"]) {
        let part = parts.entry(row.file).or_insert(Part { file: row.file, ..Part::default() });
        part.count += row.int[0].max(0) as u64;
        part.time_s += row.real[0].max(0.0) / n as f64;
    }
    let parts: Vec<Part> = parts.into_values().filter(|p| p.count >= n && n as f64 >= r.at("ranks")).collect();
    let opens: u64 = parts.iter().map(|p| p.count).sum();
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("opens", opens as f64), ("files", parts.len() as f64)])
        .time(parts.iter().map(|p| p.time_s).sum())
        .detail(|| format!("{} independent opens by {n} ranks", units::grouped(opens as i64)))
        .parts(parts);
    Some(outcome)
}
