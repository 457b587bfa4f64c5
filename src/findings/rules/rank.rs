//! Balance between ranks.

use std::collections::BTreeMap;

use crate::findings::book::Rule;
use crate::findings::facts::{Facts, ratio, rows};
use crate::findings::outcome::{Outcome, Part};
use crate::units;

pub(in crate::findings) fn time(f: &Facts, r: &Rule) -> Option<Outcome> {
    let io = &f.io;
    let (most, mean) = match (&f.posix, &f.requests) {
        (Some(_), _) => (io.private_max_s, io.private_sum_s / f.ranks as f64),
        (None, Some(q)) => (q.io_s, q.mean_s),
        _ => return None,
    };
    let imbalance = |slowest: f64, mean: f64| {
        let share = 1.0 - ratio(mean, slowest);
        let long = slowest - mean >= r.at("time_s") || slowest - mean >= r.at("run_share") * f.run_s;
        (f.ranks > 1 && slowest > 0.0 && share >= r.at("share") && long).then_some((share, slowest - mean))
    };
    let own = imbalance(most, mean);
    let mut parts = Vec::new();
    let mut found: Vec<(f64, f64)> = own.into_iter().collect();
    for &(file, slowest, mean) in &io.shared {
        if let Some((share, lost)) = imbalance(slowest, mean) {
            found.push((share, lost));
            parts.push(Part { file, rank: None, count: f.ranks, bytes: 0, time_s: slowest });
        }
    }
    let worst = found.iter().map(|x| x.0).fold(0.0, f64::max);
    let lost: f64 = found.iter().map(|x| x.1).sum();
    let outcome = Outcome::new(worst > 0.0)
        .measured(&[("worst", worst), ("lost_s", lost)])
        .time(own.map_or(0.0, |_| most) + parts.iter().map(|p| p.time_s).sum::<f64>())
        .lost(lost, "time of the slowest rank beyond the mean, if the others wait for it")
        .detail(|| detail(f, own.map(|_| (most, mean)), &parts))
        .parts(parts);
    Some(outcome)
}

/// The slowest rank of the files of single ranks, and of the worst shared file.
fn detail(f: &Facts, own: Option<(f64, f64)>, shared: &[Part]) -> String {
    let mut all = Vec::new();
    if let Some((rank, (most, mean))) = f.io.slowest.zip(own) {
        let (slowest, mean) = (units::seconds(most), units::seconds(mean));
        let files = if f.posix.is_some() { " in files of single ranks" } else { "" };
        all.push(format!("rank {rank} spends {slowest}{files}, the mean is {mean}"));
    }
    if let Some(worst) = shared.iter().max_by(|a, b| a.time_s.total_cmp(&b.time_s)) {
        let mean = f.io.shared.iter().find(|s| s.0 == worst.file).map_or(0.0, |s| s.2);
        let slowest = slowest_rank(f, worst.file).map_or("the slowest rank".into(), |k| format!("rank {k}"));
        let time = units::seconds(worst.time_s);
        all.push(format!("{slowest} spends {time} in a shared file, the mean is {}", units::seconds(mean)));
    }
    all.join("; ")
}

fn slowest_rank(f: &Facts, file: crate::record::FileId) -> Option<i64> {
    [f.posix, f.stdio]
        .into_iter()
        .flatten()
        .flat_map(|t| rows(t, ["SLOWEST_RANK"], []))
        .find(|row| row.file == file && row.rank.is_none())
        .map(|row| row.int[0])
        .filter(|k| *k >= 0)
}

/// Bytes of ranks in files of their own, and all bytes.
fn bytes_of_ranks(f: &Facts) -> Option<(BTreeMap<u32, u64>, u64)> {
    let (mut of, mut all) = (BTreeMap::new(), 0u64);
    for row in rows(f.posix?, ["BYTES_READ", "BYTES_WRITTEN"], []) {
        let bytes = row.int.iter().map(|x| (*x).max(0) as u64).sum::<u64>();
        all += bytes;
        if let Some(rank) = row.rank {
            *of.entry(rank).or_insert(0u64) += bytes;
        }
    }
    Some((of, all))
}

pub(in crate::findings) fn volume(f: &Facts, r: &Rule) -> Option<Outcome> {
    let mut parts = Vec::new();
    let mut worst = 0.0f64;
    let ratio_of_ranks = match &f.requests {
        Some(q) => q.rank_bytes_max_over_mean,
        None => {
            let names = ["BYTES_READ", "BYTES_WRITTEN"];
            for row in rows(f.posix?, names, ["F_VARIANCE_RANK_BYTES"]).filter(|row| row.rank.is_none()) {
                let bytes = row.int.iter().map(|x| (*x).max(0) as u64).sum::<u64>();
                let mean = bytes as f64 / f.ranks as f64;
                let variation = ratio(row.real[0].max(0.0).sqrt(), mean);
                if variation >= r.at("variation") {
                    worst = worst.max(variation);
                    parts.push(Part { file: row.file, rank: None, count: f.ranks, bytes, time_s: 0.0 });
                }
            }
            let (of, _) = bytes_of_ranks(f)?;
            let (most, sum) = (of.values().copied().max().unwrap_or(0), of.values().sum::<u64>());
            ratio(most as f64 * f.ranks as f64, sum as f64)
        }
    };
    let fires = f.ranks > 1 && (ratio_of_ranks >= r.at("ratio") || worst > 0.0);
    let outcome = Outcome::new(fires)
        .measured(&[("ratio", ratio_of_ranks), ("variation", worst)])
        .detail(|| match ratio_of_ranks >= r.at("ratio") {
            true => format!("the busiest rank moves {ratio_of_ranks:.1} times the mean"),
            false => format!("the ranks' bytes in a file vary by {:.0} % of their mean", 100.0 * worst),
        })
        .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn one(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (rank, share) = match &f.requests {
        Some(q) => q.busiest?,
        None => {
            let (of, all) = bytes_of_ranks(f)?;
            let most = of.iter().max_by_key(|(k, n)| (**n, std::cmp::Reverse(**k)));
            most.map_or((0, 0.0), |(&k, &n)| (k, ratio(n as f64, all as f64)))
        }
    };
    let fires = share >= r.at("share") && f.ranks as f64 >= r.at("ranks") && f.io.time_s >= r.at("run_share") * f.run_s;
    let outcome = Outcome::new(fires)
        .measured(&[("rank", rank.into()), ("share", share)])
        .time(f.io.time_s)
        .detail(|| format!("rank {rank} of {} moves {:.0} % of the bytes", f.ranks, 100.0 * share));
    Some(outcome)
}

pub(in crate::findings) fn turns(f: &Facts, r: &Rule) -> Option<Outcome> {
    let q = f.requests.as_ref()?;
    let fires = q.active_ranks as f64 >= r.at("ranks")
        && q.concurrency < r.at("concurrency")
        && q.io_wall_s >= r.at("run_share") * f.run_s;
    let outcome = Outcome::new(fires)
        .measured(&[("concurrency", q.concurrency), ("ranks", q.active_ranks as f64), ("wall_s", q.io_wall_s)])
        .time(q.io_wall_s)
        .lost(
            q.io_wall_s * (1.0 - 1.0 / (q.active_ranks.min(4 * nodes(f).unwrap_or(1)) as f64)),
            "time of all in parallel, four ranks on each node",
        )
        .detail(|| format!("{} ranks, {:.2} of them in I/O at a time", q.active_ranks, q.concurrency))
        .exact()
        .modelled();
    Some(outcome)
}

/// Nodes of the job, where the trace names the host of each rank.
pub(super) fn nodes(f: &Facts) -> Option<u64> {
    let hosts: std::collections::HashSet<&str> = f.trace.hosts.values().map(|h| &**h).collect();
    (!hosts.is_empty()).then_some(hosts.len() as u64)
}

pub(in crate::findings) fn idle(f: &Facts, r: &Rule) -> Option<Outcome> {
    let q = f.requests.as_ref().filter(|q| q.complete)?;
    let idle = f.ranks.saturating_sub(q.active_ranks);
    let outcome = Outcome::new(idle as f64 >= r.at("count") && idle < f.ranks)
        .measured(&[("idle", idle as f64), ("of", f.ranks as f64)])
        .detail(|| format!("{idle} of {}", units::counted(f.ranks, "rank")))
        .exact();
    Some(outcome)
}
