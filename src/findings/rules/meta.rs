//! Opens, stats, syncs, and the number of files.

use std::collections::{BTreeMap, HashMap};

use crate::analysis::{self, MetadataCalls};
use crate::facts::{Count, Measure};
use crate::findings::book::Rule;
use crate::findings::facts::{Facts, RankTime, ratio};
use crate::findings::outcome::{Outcome, Part};
use crate::findings::rules::sums;
use crate::period::Dominant;
use crate::record::{Data, FileId, Interval, Intervals, Op, Timing, Trace, is_terminal};
use crate::units;

/// Calls whose time is that of metadata.
const METADATA: [Count; 3] = [Count::Opens, Count::Stats, Count::Seeks];
/// Files up to this size are small.
const SMALL_FILE: u64 = 64 << 10;

pub(in crate::findings) fn time(f: &Facts, r: &Rule) -> Option<Outcome> {
    let parts_s = f.io.outer.as_ref().filter(|o| !o.overlaps)?.of_busiest();
    let time_s = parts_s[2];
    let share = ratio(time_s, parts_s.iter().sum());
    let (mut calls, mut parts) = ([0; 3], Vec::new());
    let all = [&f.posix, &f.stdio].into_iter().flatten().flat_map(|t| t.rows());
    for row in all.filter(|row| !is_terminal(f.name(row.file))) {
        let of = METADATA.map(|calls| row.count(calls));
        (0..3).for_each(|i| calls[i] += of[i]);
        let time_s = row.measure(Measure::MetaS) / row.rank.map_or(f.ranks, |_| 1) as f64;
        parts.push(Part { bytes: 0, ..Part::of(&row, of.iter().sum(), time_s) });
    }
    let outcome = Outcome::new(share >= r.at("share") && time_s >= r.at("time_s"))
        .measured(&[("share", share), ("time_s", time_s)])
        .time(time_s)
        .detail(|| {
            let [opens, stats, seeks] = calls.map(units::grouped);
            format!(
                "{:.0} % of the I/O time of a rank: {opens} opens, {stats} stats, {seeks} seeks of all ranks",
                100.0 * share
            )
        })
        .parts(parts);
    Some(outcome)
}

/// Time of the rank with the most in one of the kinds of metadata calls, as if each call took as long, with the files where
/// there are more than `beyond` for each rank; and all of these calls, opens, and pairs of file and rank.
fn calls(f: &Facts, kind: usize, beyond: u64) -> Option<(f64, Vec<Part>, [u64; 3])> {
    let (mut sums, mut parts, mut time) = ([0u64; 3], Vec::new(), RankTime::default());
    for row in f.posix.as_ref()?.rows() {
        let ranks = row.rank.map_or(f.ranks, |_| 1);
        let of = METADATA.map(|calls| row.count(calls));
        let n = of[kind];
        sums = [sums[0] + n, sums[1] + of[0], sums[2] + ranks];
        if n > beyond * ranks {
            let time_s = row.measure(Measure::MetaS) * ratio(n as f64, of.iter().sum::<u64>() as f64);
            time.add(row.rank, time_s, f.ranks);
            parts.push(Part { bytes: 0, ..Part::of(&row, n, time_s / ranks as f64) });
        }
    }
    Some((time.critical(), parts, sums))
}

pub(in crate::findings) fn churn(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (time_s, parts, [opens, _, pairs]) = calls(f, 0, 1)?;
    let share = ratio(opens as f64, pairs as f64);
    let outcome = Outcome::new(share > r.at("ratio") && opens as f64 >= r.at("count"))
        .measured(&[("opens", opens as f64), ("pairs", pairs as f64)])
        .time(time_s)
        .lost(time_s * (1.0 - 1.0 / share.max(1.0)), "time of all opens but the first of each rank")
        .detail(|| {
            let [opens, pairs] = [opens, pairs].map(units::grouped);
            format!("{opens} opens of {pairs} files and ranks")
        })
        .parts(parts)
        .modelled();
    Some(outcome)
}

pub(in crate::findings) fn stats(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (time_s, parts, [stats, opens, _]) = calls(f, 1, 0)?;
    let outcome = Outcome::new(ratio(stats as f64, opens as f64) > r.at("ratio") && stats as f64 >= r.at("count"))
        .measured(&[("stats", stats as f64), ("opens", opens as f64)])
        .time(time_s)
        .detail(|| {
            let [stats, opens] = [stats, opens].map(units::grouped);
            format!("{stats} stats for {opens} opens")
        })
        .parts(parts)
        .modelled();
    Some(outcome)
}

pub(in crate::findings) fn file_per_process(f: &Facts, r: &Rule) -> Option<Outcome> {
    let mut folders: HashMap<&str, (u64, FileId)> = HashMap::new();
    let mut files = 0u64;
    for row in f.posix.as_ref()?.rows().filter(|row| row.rank.is_some()) {
        files += 1;
        let folder = f.name(row.file).rsplit_once('/').map_or("", |p| p.0);
        folders.entry(folder).or_insert((0, row.file)).0 += 1;
    }
    let (folder, most) = folders.iter().max_by_key(|(name, n)| (n.0, **name)).map_or(("", 0), |(name, n)| (*name, n.0));
    let fires = f.ranks as f64 >= r.at("ranks") && files >= f.ranks && most as f64 >= r.at("files");
    let outcome = Outcome::new(fires)
        .measured(&[("files", files as f64), ("in_directory", most as f64)])
        .detail(|| format!("{} files of single ranks in {folder}", units::grouped(most)));
    Some(outcome)
}

pub(in crate::findings) fn small_files(f: &Facts, r: &Rule) -> Option<Outcome> {
    let files = sums::files(f)?;
    let small = files.values().filter(|x| x.size() <= SMALL_FILE);
    let parts: Vec<Part> = small.map(|x| Part { count: 1, ..x.part(x.metadata_s + x.times_s[0]) }).collect();
    let (n, all) = (parts.len() as f64, files.len() as f64);
    let mut time = RankTime::default();
    parts.iter().for_each(|p| time.add(p.rank, p.time_s, f.ranks));
    let outcome = Outcome::new(n >= r.at("count") && ratio(n, all) >= r.at("share"))
        .measured(&[("small_files", n), ("files", all)])
        .time(time.critical())
        .detail(|| format!("{} of {} files below 64 KiB", units::grouped(n), units::grouped(all)))
        .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn serial_opens(f: &Facts, r: &Rule) -> Option<Outcome> {
    let t = f.posix.as_ref().filter(|t| t.measures(Measure::OpenEnd))?;
    let mut parts = Vec::new();
    for row in t.rows().filter(|row| row.rank.is_none()) {
        let (opens, first, last) =
            (row.count(Count::Opens), row.measure(Measure::OpenStart), row.measure(Measure::OpenEnd));
        // one open for each rank: later ones would be a new phase
        if opens > 0 && opens <= f.ranks && first > 0.0 && last > first {
            parts.push(Part { bytes: 0, ..Part::of(&row, opens, last - first) });
        }
    }
    let longest = parts.iter().map(|p| p.time_s).fold(0.0, f64::max);
    parts.retain(|p| p.time_s >= r.at("time_s") && p.time_s >= r.at("run_share") * f.run_s);
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("span_s", longest), ("files", parts.len() as f64)])
        .time(longest)
        .detail(|| format!("{} from the first to the last open by {} ranks", units::seconds(longest), f.ranks))
        .parts(parts);
    Some(outcome)
}

/// The period of the calls: that of a heat map whose bytes are calls.
fn rhythm(all: &BTreeMap<i64, u64>) -> Option<Dominant> {
    let origin_s = *all.first_key_value()?.0;
    let rows: Intervals = all
        .iter()
        .map(|(second, n)| {
            let start = second.abs_diff(origin_s) as f64;
            Interval { op: Op::Write, start, end: start + 1.0, bytes: *n as f64, ..Interval::default() }
        })
        .collect();
    let (timing, bin_s) = (Timing::Heatmap, Some(1.0));
    let calls = Trace { data: Data::Intervals(rows), timing, bin_s, origin_s, ranks: 1, ..Trace::default() };
    let report = analysis::analyze(&calls, &analysis::Options::default()).ok()?.report;
    report.primary_signal()?.period.dominant.clone()
}

pub(in crate::findings) fn burst(f: &Facts, r: &Rule) -> Option<Outcome> {
    let all = MetadataCalls::of(f.trace)?.by_second;
    let peak = all.values().copied().max().unwrap_or(0);
    let high: Vec<i64> = all.iter().filter(|x| *x.1 as f64 >= r.at("per_s")).map(|x| *x.0).collect();
    let fires = !high.is_empty();
    let period = fires.then(|| rhythm(&all)).flatten();
    let mut outcome = Outcome::new(fires).measured(&[("peak_per_s", peak as f64), ("seconds", high.len() as f64)]);
    if let Some(d) = &period {
        outcome = outcome.measured(&[("period_s", d.period_s), ("confidence", d.confidence)]);
    }
    Some(outcome.detail(|| {
        let (n, least) = (units::grouped(peak), r.at("per_s"));
        let start_s = f.trace.data.extent(f.trace.origin_s).0.unwrap_or(0.0).floor();
        let from = units::seconds((high[0] as f64 - start_s).max(0.0));
        if high.len() == 1 {
            return format!("{n} in one second, {from} after the start");
        }
        let seconds = units::counted(high.len() as u64, "second");
        let regular = period.as_ref().map_or("in no regular distance".to_owned(), |d| {
            format!("every {} (confidence {:.0} %)", units::seconds(d.period_s), 100.0 * d.confidence)
        });
        format!("{n} in one second, {seconds} with at least {least}, the first {from} after the start, {regular}")
    }))
}
