//! Balance between ranks.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Count, Measure, Row, SharedTime};
use crate::findings::book::Rule;
use crate::findings::bursts::{Bursts, at_least, quantile, trend};
use crate::findings::evidence::Filter;
use crate::findings::facts::{Facts, ratio};
use crate::findings::outcome::{Outcome, Part};
use crate::findings::requests::RequestFacts;
use crate::findings::rules::time::union_s;
use crate::record::FileId;
use crate::units;

pub(in crate::findings) fn time(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (slowest, mean) = (f.io.time.slowest_s?.low, f.io.time.mean_s?);
    let excess = |slowest: f64, mean: f64| {
        let long = slowest - mean >= r.at("time_s") || slowest - mean >= r.at("run_share") * f.run_s;
        f.ranks > 1 && slowest > 0.0 && 1.0 - ratio(mean, slowest) >= r.at("share") && long
    };
    let shared = f.io.outer.iter().flat_map(|o| &o.shared).filter(|s| excess(s.slowest_s, s.mean_s));
    let part = |s: &SharedTime| Part { file: s.file, rank: None, count: f.ranks, bytes: 0, time_s: s.slowest_s };
    let outcome = Outcome::new(excess(slowest, mean))
        .measured(&[("worst", 1.0 - ratio(mean, slowest)), ("lost_s", slowest - mean)])
        .time(slowest)
        .lost(slowest - mean, "time of the slowest rank beyond the mean, if the others wait for it")
        .detail(|| {
            let all_own = f.io.outer.as_ref().is_none_or(|o| o.shared.is_empty());
            let who = f.io.time.slowest_rank.filter(|_| all_own);
            let who = who.map_or_else(|| "the slowest rank".to_owned(), |k| format!("rank {k}"));
            let metadata = if f.excess_is_metadata() { ", most of the difference in metadata" } else { "" };
            format!("{who} spends {} in I/O, the mean is {}{metadata}", units::seconds(slowest), units::seconds(mean))
        })
        .parts(shared.map(part).collect());
    Some(outcome)
}

/// Files with collective calls: of these, aggregators move the bytes of the other ranks.
fn collective(f: &Facts) -> BTreeSet<FileId> {
    let is_collective = |row: &Row<'_, '_>| [Count::CollReads, Count::CollWrites].iter().any(|n| row.count(*n) > 0);
    f.mpiio.iter().flat_map(|t| t.rows()).filter(is_collective).map(|row| row.file).collect()
}

/// Bytes of ranks.
#[derive(Default)]
struct Volume {
    /// In files of their own.
    own: BTreeMap<u32, u64>,
    all: u64,
    /// Standard deviations of the ranks' bytes in shared files; that of their bytes in files of their own.
    deviations: Vec<(f64, Part)>,
    own_deviation: f64,
}

impl Volume {
    /// Of the POSIX counters. What aggregators move for others, in files with collective calls, belongs to no rank.
    fn of(f: &Facts, collective: &BTreeSet<FileId>) -> Option<Volume> {
        let mut volume = Volume::default();
        for row in f.posix.as_ref()?.rows() {
            volume.all = volume.all.saturating_add(row.moved());
            if collective.contains(&row.file) {
                continue;
            }
            match row.rank {
                Some(rank) => *volume.own.entry(rank).or_default() += row.moved(),
                None => {
                    let deviation = row.measure(Measure::BytesVariance).sqrt();
                    volume.deviations.push((deviation, Part::of(&row, f.ranks, 0.0)));
                }
            }
        }
        let mean = volume.own.values().sum::<u64>() as f64 / f.ranks as f64;
        let idle = f.ranks.saturating_sub(volume.own.len() as u64) as f64 * mean * mean;
        let squares = volume.own.values().map(|n| (*n as f64 - mean).powi(2)).sum::<f64>() + idle;
        volume.own_deviation = (squares / f.ranks as f64).sqrt();
        Some(volume)
    }

    /// The least standard deviation that the ranks' bytes in all files can have, by their mean, and the file that makes it: those of
    /// the other files make up for its own at most by theirs.
    fn variation(&self, ranks: u64) -> Option<(f64, Part)> {
        let (most, part) = self.deviations.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
        let others = self.deviations.iter().map(|d| d.0).sum::<f64>() - most + self.own_deviation;
        Some((ratio((most - others).max(0.0), self.all as f64 / ranks as f64), *part))
    }
}

pub(in crate::findings) fn volume(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (ratio_of_ranks, uneven) = match &f.requests {
        Some(q) if collective(f).is_empty() => (q.rank_bytes_max_over_mean, None),
        Some(_) => (0.0, None),
        None => {
            let volume = Volume::of(f, &collective(f))?;
            let most = volume.own.values().copied().max().unwrap_or(0);
            (ratio(most as f64 * f.ranks as f64, volume.all as f64), volume.variation(f.ranks))
        }
    };
    let uneven = uneven.filter(|(variation, _)| *variation >= r.at("variation"));
    let variation = uneven.map_or(0.0, |(variation, _)| variation);
    let fires = f.ranks > 1 && (ratio_of_ranks >= r.at("ratio") || uneven.is_some());
    let outcome = Outcome::new(fires)
        .measured(&[("ratio", ratio_of_ranks), ("variation", variation)])
        .detail(|| match ratio_of_ranks >= r.at("ratio") {
            true => format!("the busiest rank moves {ratio_of_ranks:.1} times the mean"),
            false => {
                format!("the bytes of the ranks have a standard deviation of at least {variation:.1} times their mean")
            }
        })
        .parts(uneven.into_iter().map(|(_, part)| part).collect());
    Some(outcome)
}

pub(in crate::findings) fn one(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (rank, share) = match &f.requests {
        Some(q) => q.busiest?,
        None => {
            let volume = Volume::of(f, &BTreeSet::new())?;
            let most = volume.own.iter().max_by_key(|(k, n)| (**n, std::cmp::Reverse(**k)));
            most.map_or((0, 0.0), |(&k, &n)| (k, ratio(n as f64, volume.all as f64)))
        }
    };
    let io_s = f.io.time.io_s.unwrap_or(0.0);
    let fires = share >= r.at("share") && f.ranks as f64 >= r.at("ranks") && io_s >= r.at("run_share") * f.run_s;
    let outcome = Outcome::new(fires)
        .measured(&[("rank", rank.into()), ("share", share)])
        .time(io_s)
        .detail(|| format!("rank {rank} of {} moves {:.0} % of the bytes", f.ranks, 100.0 * share));
    Some(outcome)
}

/// Bursts whose ranks are known, of the writes, else of the reads.
fn bursts<'f>(f: &'f Facts, fewest: f64) -> Option<&'f Bursts> {
    let of_ranks = |b: &&Bursts| b.all.len() as f64 >= fewest && b.all.iter().all(|x| !x.ranks.is_empty());
    f.requests.as_ref()?;
    f.bursts.iter().flatten().find(of_ranks)
}

/// Seconds from the median end of the ranks to the last, and the rank that ends last, if it is alone.
fn last(ends: &[(f64, u32)]) -> Option<(f64, u32)> {
    let [.., second, last] = ends else { return None };
    (last.0 > second.0).then(|| (last.0 - ends[ends.len() / 2].0, last.1))
}

pub(in crate::findings) fn last_again(f: &Facts, r: &Rule) -> Option<Outcome> {
    let bursts = bursts(f, r.at("bursts"))?;
    let n = bursts.all.len() as u64;
    let host = |rank: u32| f.trace.hosts.get(&rank).map(|h| &**h);
    let (mut of_ranks, mut of_nodes) = (BTreeMap::<u32, (u64, f64)>::new(), BTreeMap::<&str, u64>::new());
    for (late, rank) in bursts.all.iter().filter_map(|b| last(&b.ends())) {
        let of = of_ranks.entry(rank).or_default();
        *of = (of.0 + 1, of.1 + late);
        if let Some(node) = host(rank) {
            *of_nodes.entry(node).or_default() += 1;
        }
    }
    let active = bursts.all.iter().map(|b| b.ranks.len()).max().unwrap_or(1).max(1);
    let (rank, (times, lost)) = of_ranks.into_iter().max_by_key(|x| x.1.0).unwrap_or((0, (0, 0.0)));
    let p = at_least(times, n, 1.0 / active as f64);
    let node = of_nodes.into_iter().max_by_key(|x| x.1).filter(|_| f.nodes().is_some_and(|n| n > 1));
    let outcome = Outcome::new(active > 1 && times as f64 >= r.at("share") * n as f64 && p < r.at("p"))
        .measured(&[("rank", rank.into()), ("times", times as f64), ("bursts", n as f64), ("p", p)])
        .lost(lost, "time from the median end of the ranks to its end, over its bursts")
        .detail(|| {
            let node = node.map_or(String::new(), |(name, k)| format!("; a rank of {name} does in {k}"));
            let late = units::seconds(lost / times.max(1) as f64);
            format!("rank {rank} ends last in {times} of {n} bursts, {late} after the median rank{node}")
        })
        .evidence(Filter { rank: Some(rank), ..Filter::default() })
        .exact();
    Some(outcome)
}

pub(in crate::findings) fn burst_spread(f: &Facts, r: &Rule) -> Option<Outcome> {
    let bursts = bursts(f, r.at("bursts"))?;
    let late: Vec<(f64, f64)> = bursts
        .all
        .iter()
        .filter(|b| b.length_s() > 0.0 && b.ranks.len() > 1)
        .filter_map(|b| Some((b.ends().last()?.0 - b.ends()[b.ranks.len() / 2].0, b.length_s())))
        .collect();
    let shares: Vec<f64> = late.iter().map(|x| x.0 / x.1).collect();
    let median = quantile(&shares, 0.5);
    let outcome = Outcome::new(shares.len() as f64 >= r.at("bursts") && median >= r.at("share"))
        .measured(&[("median", median), ("p90", quantile(&shares, 0.9)), ("bursts", shares.len() as f64)])
        .lost(late.iter().map(|x| x.0).sum(), "time from the median end of the ranks to the last, over all bursts")
        .detail(|| {
            let percent = 100.0 * median;
            format!("half of the ranks have ended when {percent:.0} % of a burst are left, median of {}", shares.len())
        })
        .exact();
    Some(outcome)
}

pub(in crate::findings) fn out_of_step(f: &Facts, r: &Rule) -> Option<Outcome> {
    let bursts = bursts(f, r.at("bursts"))?;
    // of each burst: the time over which the middle 80 % of the ranks begin
    let spread = |b: &crate::findings::bursts::Burst| {
        let starts: Vec<f64> = b.ranks.iter().map(|(_, span)| span.0).collect();
        (quantile(&starts, 0.9) - quantile(&starts, 0.1)) / bursts.period_s
    };
    let spreads: Vec<f64> = bursts.all.iter().map(spread).collect();
    let median = quantile(&spreads, 0.5);
    let (slope, _) = trend(&spreads[..spreads.len().min(1000)]);
    let outcome = Outcome::new(median >= r.at("share"))
        .measured(&[("spread", median), ("trend_per_burst", slope), ("bursts", spreads.len() as f64)])
        .detail(|| format!("ranks begin their bursts over {:.0} % of the period", 100.0 * median))
        .exact();
    Some(outcome)
}

/// Sum of the ranks' times from their first to their last request / the time in which one of them is between these, in each burst,
/// else in the run: 1 if the ranks follow one another.
fn spans_at_once(f: &Facts, q: &RequestFacts) -> f64 {
    let mut of_run: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for ((_, rank), s) in &q.streams.all {
        let span = of_run.entry(*rank).or_insert((f64::INFINITY, f64::NEG_INFINITY));
        s.span_s.iter().for_each(|x| *span = (span.0.min(x.0), span.1.max(x.1)));
    }
    let mut spans: Vec<Vec<(f64, f64)>> = vec![of_run.into_values().collect()];
    if let Some(b) = bursts(f, 1.0) {
        spans = b.all.iter().map(|x| x.ranks.iter().map(|r| r.1).collect()).collect();
    }
    let sum: f64 = spans.iter().flatten().map(|x| x.1 - x.0).sum();
    ratio(sum, spans.into_iter().map(union_s).sum())
}

pub(in crate::findings) fn turns(f: &Facts, r: &Rule) -> Option<Outcome> {
    let q = f.requests.as_ref()?;
    let at_once = spans_at_once(f, q);
    let fires = q.active_ranks as f64 >= r.at("ranks")
        && q.concurrency.max(at_once) < r.at("concurrency")
        && q.io_wall_s >= r.at("run_share") * f.run_s
        && f.system.cores_per_node.is_none_or(|cores| f.ranks <= cores * f.nodes().unwrap_or(1));
    let outcome = Outcome::new(fires)
        .measured(&[("concurrency", q.concurrency), ("spans_at_once", at_once)])
        .measured(&[("ranks", q.active_ranks as f64), ("wall_s", q.io_wall_s)])
        .time(q.io_wall_s)
        .lost(
            q.io_wall_s * (1.0 - 1.0 / (q.active_ranks.min(4 * f.nodes().unwrap_or(1)) as f64)),
            "time of all in parallel, four ranks on each node",
        )
        .detail(|| format!("{} ranks, each of which begins when the one before has ended", q.active_ranks))
        .exact()
        .modelled();
    Some(outcome)
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
