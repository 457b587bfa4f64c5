//! HDF5 and PnetCDF.

use std::collections::HashSet;

use crate::findings::book::Rule;
use crate::findings::facts::{Facts, ratio, rows};
use crate::findings::outcome::{Outcome, Part};
use crate::record::{CounterModule, CounterTable};
use crate::units;

fn table<'a>(f: &Facts<'a>, module: CounterModule) -> Option<&'a CounterTable> {
    f.counters?.table(module).filter(|t| !t.is_empty())
}

/// The file of a dataset, which is called `FILE:DATASET`.
fn file_of(dataset: &str) -> &str {
    dataset.rsplit_once(':').map_or(dataset, |p| p.0)
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
    let (mut worst, mut parts) = (1.0f64, Vec::new());
    for row in rows(t, names, []) {
        let [element, d @ .., access, count] = row.int;
        let sides: Vec<i64> = d.into_iter().filter(|x| *x > 0).collect();
        if sides.is_empty() || access <= 0 || element <= 0 {
            continue;
        }
        let chunk = sides.iter().fold(element as f64, |all, x| all * *x as f64);
        let ratio = chunk / access as f64;
        if ratio > r.at("ratio") || 1.0 / ratio > r.at("chunks") {
            worst = if (ratio.ln()).abs() > worst.ln().abs() { ratio } else { worst };
            parts.push(Part { file: row.file, rank: row.rank, count: count.max(0) as u64, bytes: 0, time_s: 0.0 });
        }
    }
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("chunk_over_access", worst), ("datasets", parts.len() as f64)])
        .detail(|| match worst > 1.0 {
            true => format!("the commonest access is 1/{worst:.0} of a chunk"),
            false => format!("the commonest access takes {:.0} chunks", 1.0 / worst),
        })
        .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn flushes(f: &Facts, r: &Rule) -> Option<Outcome> {
    let datasets = table(f, CounterModule::H5d)?;
    let of_files = table(f, CounterModule::H5f).and_then(|t| t.total(&["FLUSHES"])).unwrap_or(0);
    let (n, writes) = (of_files + datasets.total(&["FLUSHES"])?, datasets.total(&["WRITES"])?);
    let outcome = Outcome::new(ratio(n as f64, writes as f64) > r.at("share") && n as f64 >= r.at("count"))
        .measured(&[("flushes", n as f64), ("writes", writes as f64)])
        .detail(|| format!("{} flushes for {} dataset writes", units::grouped(n), units::grouped(writes)));
    Some(outcome)
}

pub(in crate::findings) fn points(f: &Facts, r: &Rule) -> Option<Outcome> {
    let t = table(f, CounterModule::H5d)?;
    let some = t.total(&["POINT_SELECTS", "IRREGULAR_HYPERSLAB_SELECTS"])?;
    let all = some + t.total(&["REGULAR_HYPERSLAB_SELECTS"])?;
    let outcome = Outcome::new(ratio(some as f64, all as f64) >= r.at("share") && some as f64 >= r.at("count"))
        .measured(&[("selections", some as f64), ("of", all as f64)])
        .detail(|| format!("{} of {} selections", units::grouped(some), units::grouped(all)));
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
