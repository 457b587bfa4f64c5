//! HDF5 and PnetCDF.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::classify::{Aside, is_hdf5_name};
use crate::findings::book::Rule;
use crate::findings::evidence::Filter;
use crate::findings::facts::{Facts, ratio, rows};
use crate::findings::outcome::{Outcome, Part};
use crate::findings::rules::sums::{self, Sums};
use crate::record::{CounterModule, CounterTable, FileId};
use crate::units;

fn table<'a>(f: &Facts<'a>, module: CounterModule) -> Option<&'a CounterTable> {
    f.counters?.table(module).filter(|t| !t.is_empty())
}

/// The file of a dataset, which is called `FILE:DATASET`.
fn file_of(dataset: &str) -> &str {
    dataset.rsplit_once(':').map_or(dataset, |p| p.0)
}

pub(in crate::findings) fn metadata(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (q, all_rows) = (f.requests.as_ref()?, f.rows()?);
    if !f.trace.files.iter().any(|(_, name)| is_hdf5_name(name)) {
        return Some(Outcome::new(false));
    }
    let ids: HashMap<&str, FileId> = f.trace.files.iter().map(|(id, name)| (name, id)).collect();
    let named = f.classes().iter().filter_map(|c| Some((*ids.get(c.file.as_deref()?)?, c.aside.as_ref()?)));
    let aside: BTreeMap<FileId, &Aside> = named.filter(|(id, _)| is_hdf5_name(f.trace.files.name(*id))).collect();
    // of each file: time of the requests that are as small, and of all
    let mut times: BTreeMap<FileId, (f64, f64)> = BTreeMap::new();
    for x in all_rows.iter().filter(|x| x.op.moves_bytes()) {
        if let Some(a) = aside.get(&x.file) {
            let time = times.entry(x.file).or_default();
            time.0 += if x.size <= a.largest_bytes { x.end - x.start } else { 0.0 };
            time.1 += x.end - x.start;
        }
    }
    let (mut parts, mut worst, mut largest) = (Vec::new(), 0.0f64, 0);
    for (&file, a) in &aside {
        let requests: u64 = q.streams.of_file(file).map(|(_, s)| s.count[0] + s.count[1]).sum();
        let (small_s, all_s) = times.get(&file).copied().unwrap_or_default();
        let share = ratio(a.accesses as f64, requests as f64);
        if share >= r.at("share") || ratio(small_s, all_s) >= r.at("time_share") {
            (worst, largest) = (worst.max(share), largest.max(a.largest_bytes));
            parts.push(Part { file, rank: None, count: a.accesses, bytes: a.bytes, time_s: small_s });
        }
    }
    let time_s = parts.iter().map(|p| p.time_s).sum::<f64>() / q.active_ranks.max(1) as f64;
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("share", worst), ("largest_bytes", largest as f64), ("files", parts.len() as f64)])
        .time(time_s)
        .lost(time_s, "their time, a rank's mean")
        .detail(|| {
            let n = parts.iter().map(|p| p.count).sum::<u64>();
            let size = units::bytes(largest as f64);
            format!("{} accesses of up to {size} are the library's own", units::grouped(n as i64))
        })
        .evidence(Filter { below: Some(largest + 1), ..Filter::default() })
        .parts(parts)
        .exact()
        .modelled();
    Some(outcome)
}

/// POSIX bytes and time of each file, and the HDF5 bytes of its datasets.
fn amplification(f: &Facts, datasets: &CounterTable) -> HashMap<String, (f64, f64)> {
    let mut above: HashMap<&str, f64> = HashMap::new();
    for row in rows(datasets, ["BYTES_READ", "BYTES_WRITTEN"], []) {
        *above.entry(file_of(f.name(row.file))).or_default() += row.int.iter().map(|x| (*x).max(0) as f64).sum::<f64>();
    }
    let files = sums::files(f).unwrap_or_default();
    let of_file = |x: &Sums| {
        let (name, bytes) = (f.name(x.file), x.bytes.iter().sum::<u64>() as f64);
        Some((name.to_owned(), (ratio(bytes, *above.get(name)?), x.transfer_s() / f.ranks as f64)))
    };
    files.values().filter_map(of_file).collect()
}

pub(in crate::findings) fn no_collective(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (datasets, files) = (table(f, CounterModule::H5d)?, table(f, CounterModule::H5f)?);
    let parallel: HashSet<&str> =
        rows(files, ["USE_MPIIO"], []).filter(|row| row.int[0] > 0).map(|row| f.name(row.file)).collect();
    let names = ["BYTES_READ", "BYTES_WRITTEN", "USE_MPIIO_COLLECTIVE", "READS", "WRITES"];
    let (mut some, mut all, mut parts) = (0u64, 0u64, Vec::new());
    for row in rows(datasets, names, ["F_READ_TIME", "F_WRITE_TIME"]) {
        let [read, written, collective, reads, writes] = row.int.map(|x| x.max(0) as u64);
        all += read + written;
        if collective == 0 && read + written > 0 && parallel.contains(file_of(f.name(row.file))) {
            some += read + written;
            let time_s = row.real.iter().map(|t| t.max(0.0)).sum::<f64>() / f.ranks as f64;
            parts.push(Part { file: row.file, rank: row.rank, count: reads + writes, bytes: read + written, time_s });
        }
    }
    let outcome = Outcome::new(some > 0 && ratio(some as f64, all as f64) >= r.at("share"))
        .measured(&[("bytes", some as f64), ("of", all as f64)])
        .time(parts.iter().map(|p| p.time_s).sum())
        .detail(|| format!("{} of {} of the datasets", units::bytes(some as f64), units::bytes(all as f64)))
        .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn chunks(f: &Facts, r: &Rule) -> Option<Outcome> {
    let t = table(f, CounterModule::H5d)?;
    let names = [
        "DATATYPE_SIZE",
        "CHUNK_SIZE_D1",
        "CHUNK_SIZE_D2",
        "CHUNK_SIZE_D3",
        "CHUNK_SIZE_D4",
        "CHUNK_SIZE_D5",
        "ACCESS1_ACCESS",
        "ACCESS1_COUNT",
    ];
    let moved = amplification(f, t);
    let (mut worst, mut parts, mut most, mut time, mut files) = (1.0f64, Vec::new(), 0.0f64, 0.0, HashSet::new());
    for row in rows(t, names, []) {
        let [element, d @ .., access, count] = row.int;
        let sides: Vec<i64> = d.into_iter().filter(|x| *x > 0).collect();
        if sides.is_empty() || access <= 0 || element <= 0 {
            continue;
        }
        let chunk = sides.iter().fold(element as f64, |all, x| all * *x as f64);
        let ratio = chunk / access as f64;
        let file = file_of(f.name(row.file));
        let (factor, time_s) = moved.get(file).copied().unwrap_or_default();
        let fits = ratio <= r.at("ratio") && 1.0 / ratio <= r.at("chunks");
        if !fits && factor >= r.at("amplification") {
            most = most.max(factor);
            if files.insert(file) {
                time += time_s * (1.0 - 1.0 / factor);
            }
            worst = if (ratio.ln()).abs() > worst.ln().abs() { ratio } else { worst };
            parts.push(Part { file: row.file, rank: row.rank, count: count.max(0) as u64, bytes: 0, time_s: 0.0 });
        }
    }
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("chunk_over_access", worst), ("datasets", parts.len() as f64), ("amplification", most)])
        .time(time)
        .lost(time, "time of the bytes beyond those of the datasets, at the file's own rate")
        .detail(|| {
            let access = match worst > 1.0 {
                true => format!("the commonest access is 1/{worst:.0} of a chunk"),
                false => format!("the commonest access takes {:.0} chunks", 1.0 / worst),
            };
            format!("{access}; {most:.1} times the bytes of the datasets are moved")
        })
        .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn netcdf(f: &Facts, r: &Rule) -> Option<Outcome> {
    let t = table(f, CounterModule::PnetcdfVar)?;
    let indep = t.total(&["INDEP_READS", "INDEP_WRITES"])?;
    let all = indep + t.total(&["COLL_READS", "COLL_WRITES", "NB_READS", "NB_WRITES"])?;
    let redefinitions = table(f, CounterModule::PnetcdfFile)
        .map_or(0, |t| rows(t, ["REDEFS"], []).map(|row| row.int[0]).max().unwrap_or(0));
    let many = ratio(indep as f64, all as f64) > r.at("share") && indep as f64 >= r.at("count");
    let outcome = Outcome::new(many || redefinitions as f64 >= r.at("redefinitions"))
        .measured(&[("indep", indep as f64), ("of", all as f64), ("redefinitions", redefinitions as f64)])
        .detail(|| {
            let (some, all) = (units::grouped(indep), units::grouped(all));
            format!("{some} of {all} calls are independent, a file is defined anew {redefinitions} times")
        });
    Some(outcome)
}
