//! HDF5 and PnetCDF.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::classify::{Aside, is_hdf5_name};
use crate::facts::{Count, Counted};
use crate::findings::book::Rule;
use crate::findings::evidence::Filter;
use crate::findings::facts::{Facts, ratio};
use crate::findings::outcome::{Outcome, Part};
use crate::record::{CounterModule, FileId};
use crate::units;

/// The file of a dataset, which is called `FILE:DATASET`.
fn file_of(dataset: &str) -> &str {
    dataset.rsplit_once(':').map_or(dataset, |p| p.0)
}

pub(in crate::findings) fn metadata(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (q, all_rows) = (f.requests.as_ref()?, f.rows()?);
    let of_hdf5 = || f.trace.files.iter().filter(|(_, name)| is_hdf5_name(name));
    let ids: HashMap<&str, FileId> = of_hdf5().map(|(id, name)| (name, id)).collect();
    if ids.is_empty() {
        return Some(Outcome::new(false));
    }
    let classes = f.classes_of(&of_hdf5().map(|(id, _)| id).collect());
    let named = classes.iter().filter_map(|c| Some((*ids.get(c.file.as_deref()?)?, c.aside.as_ref()?)));
    let aside: BTreeMap<FileId, &Aside> = named.collect();
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
            format!("{} accesses of up to {size} are the library's own", units::grouped(n))
        })
        .evidence(Filter { below: Some(largest + 1), ..Filter::default() })
        .parts(parts)
        .exact()
        .modelled();
    Some(outcome)
}

pub(in crate::findings) fn no_collective(f: &Facts, r: &Rule) -> Option<Outcome> {
    let counted = |module| f.counters.and_then(|c| Counted::by(c, module));
    let (datasets, files) = (counted(CounterModule::H5d)?, counted(CounterModule::H5f)?);
    let with_mpiio = files.rows().filter(|row| row.count(Count::UsesMpiio) > 0);
    let parallel: HashSet<&str> = with_mpiio.map(|row| f.name(row.file)).collect();
    let (mut some, mut all, mut parts) = (0u64, 0u64, Vec::new());
    for row in datasets.rows() {
        all += row.moved();
        let collective = row.count(Count::UsesCollective) > 0;
        if !collective && row.moved() > 0 && parallel.contains(file_of(f.name(row.file))) {
            some += row.moved();
            parts.push(Part::of(&row, row.calls(), row.transfer_s() / f.ranks as f64));
        }
    }
    let outcome = Outcome::new(some > 0 && ratio(some as f64, all as f64) >= r.at("share"))
        .measured(&[("bytes", some as f64), ("of", all as f64)])
        .time(parts.iter().map(|p| p.time_s).sum())
        .detail(|| format!("{} of {} of the datasets", units::bytes(some as f64), units::bytes(all as f64)))
        .parts(parts);
    Some(outcome)
}
