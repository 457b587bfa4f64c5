//! Layout and sharing of files.

use std::collections::BTreeMap;

use crate::findings::book::Rule;
use crate::findings::evidence::Filter;
use crate::findings::facts::{Facts, RankTime, ratio, rows};
use crate::findings::outcome::{Outcome, Part};
use crate::record::{FileId, Striping};
use crate::units;

pub(in crate::findings) fn false_sharing(f: &Facts, r: &Rule) -> Option<Outcome> {
    let q = f.requests.as_ref()?;
    let s = &q.stripes;
    let share = ratio(s.owner_changes as f64, s.touches as f64);
    // locks are a node's: on one node no lock moves
    let fires = share >= r.at("share") && s.owner_changes as f64 >= r.at("count") && f.nodes() != Some(1);
    let outcome = Outcome::new(fires)
        .measured(&[
            ("share", share),
            ("owner_changes", s.owner_changes as f64),
            ("touches", s.touches as f64),
            ("shared", s.shared as f64),
            ("stripes", s.all as f64),
            ("sampled", s.sampled as f64),
        ])
        .time(s.time_s)
        .maybe_lost(s.lost_s, "time beyond that of other writes of the same size")
        .evidence(Filter { rows: Some(s.rows.clone()), ..Filter::default() })
        .parts(s.parts.clone())
        .detail(|| {
            let [changes, touches, shared] = [s.owner_changes, s.touches, s.shared].map(|n| units::grouped(n as i64));
            let unit = units::bytes(f.stripe as f64);
            format!("{changes} of {touches} times a stripe of {unit} was written after another rank, {shared} stripes in all")
        })
        .exact();
    Some(outcome)
}

pub(in crate::findings) fn conflicts(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (bytes, parts) = &f.requests.as_ref()?.several;
    let outcome = Outcome::new(*bytes as f64 >= r.at("bytes"))
        .measured(&[("bytes", *bytes as f64), ("files", parts.len() as f64)])
        .parts(parts.clone())
        .detail(|| format!("{} written by several ranks, possibly in any order", units::bytes(*bytes as f64)))
        .exact();
    Some(outcome)
}

/// Time of the rank that spends most in these files.
fn critical_s(f: &Facts, parts: &[Part]) -> f64 {
    let mut time = RankTime::default();
    // a file of several ranks without a row over all of them counts as if its time were spread evenly
    parts.iter().for_each(|p| time.add(p.rank.filter(|_| p.count == 1), p.time_s, p.count.max(1).min(f.ranks)));
    time.critical()
}

/// Of each file: bytes and time, ranks that access it as the count, and size.
type Sizes = BTreeMap<FileId, (Part, u64)>;

/// Layouts, and sizes of the files.
fn sizes<'a>(f: &Facts<'a>) -> Option<(&'a [Striping], Sizes)> {
    let layouts = &f.counters?.layouts[..];
    if layouts.is_empty() {
        return None;
    }
    let mut files = Sizes::new();
    let names = ["BYTES_READ", "BYTES_WRITTEN", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN"];
    for row in rows(f.posix?, names, ["F_READ_TIME", "F_WRITE_TIME"]) {
        let ranks = if row.rank.is_none() { f.ranks } else { 1 };
        let (part, size) = files.entry(row.file).or_insert((Part { file: row.file, ..Part::default() }, 0));
        part.count += ranks;
        part.bytes += row.int[..2].iter().map(|x| (*x).max(0) as u64).sum::<u64>();
        part.time_s += row.real.iter().map(|t| t.max(0.0)).sum::<f64>();
        part.rank = row.rank;
        *size = (*size).max((row.int[2].max(row.int[3]).max(-1) + 1) as u64);
    }
    Some((layouts, files))
}

pub(in crate::findings) fn few_stripes(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (layouts, files) = sizes(f)?;
    let (mut parts, mut fewest, mut lost) = (Vec::new(), u64::MAX, Some(0.0));
    for layout in layouts {
        let Some(&(part, size)) = files.get(&layout.file) else { continue };
        let wanted = (part.count as f64).min(r.at("stripes"));
        let shared = part.count >= 2 && size as f64 >= r.at("shared_bytes");
        let large = shared || size as f64 >= r.at("bytes");
        if large && (layout.stripes as f64) < wanted.max(if shared { 0.0 } else { r.at("stripes") }) {
            fewest = fewest.min(layout.stripes);
            // only servers that are busy gain from others beside them
            let of_each =
                ratio(part.bytes as f64, part.time_s / part.count.max(1) as f64) / layout.stripes.max(1) as f64;
            let rate = f.system.mount(f.name(part.file)).and_then(|m| m.ost_rate);
            let gain = 1.0 - layout.stripes as f64 / wanted.max(1.0);
            lost = lost
                .zip(rate.filter(|rate| of_each >= r.at("busy") * rate))
                .map(|(all, _)| all + gain.max(0.0) * critical_s(f, &[part]));
            parts.push(part);
        }
    }
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("files", parts.len() as f64)])
        .time(critical_s(f, &parts))
        .maybe_lost(
            lost.filter(|_| !parts.is_empty()),
            "time x (1 - stripes / wanted): its targets are at half of their rate or more",
        )
        .detail(|| format!("{} on {} or more stripes", units::counted(parts.len() as u64, "large file"), fewest))
        .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn many_stripes(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (layouts, files) = sizes(f)?;
    let small = |l: &&Striping| {
        let size = files.get(&l.file).map_or(u64::MAX, |x| x.1);
        l.stripes as f64 >= r.at("stripes") && size < l.stripes.saturating_mul(l.stripe_bytes)
    };
    let parts: Vec<Part> =
        layouts.iter().filter(small).filter_map(|l| files.get(&l.file)).map(|x| Part { count: 1, ..x.0 }).collect();
    let outcome = Outcome::new(parts.len() as f64 >= r.at("files"))
        .measured(&[("files", parts.len() as f64)])
        .detail(|| {
            format!("{} smaller than one stripe on each of their servers", units::counted(parts.len() as u64, "file"))
        })
        .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn wrong_place(f: &Facts, r: &Rule) -> Option<Outcome> {
    const LOCAL: [&str; 8] = ["nfs", "nfs3", "nfs4", "ext3", "ext4", "xfs", "btrfs", "zfs"];
    let c = f.counters.filter(|c| !c.mounts.is_empty())?;
    let (mut some, mut all, mut parts) = (0u64, 0u64, Vec::new());
    for row in rows(f.posix?, ["BYTES_READ", "BYTES_WRITTEN"], ["F_READ_TIME", "F_WRITE_TIME"]) {
        let bytes = row.int.iter().map(|x| (*x).max(0) as u64).sum::<u64>();
        all += bytes;
        if bytes > 0 && c.mount(c.files.name(row.file)).is_some_and(|m| LOCAL.contains(&&*m.kind)) {
            some += bytes;
            let time_s = row.real.iter().map(|t| t.max(0.0)).sum::<f64>();
            let time_s = if row.rank.is_none() { time_s / f.ranks as f64 } else { time_s };
            parts.push(Part { file: row.file, rank: row.rank, count: 1, bytes, time_s });
        }
    }
    let outcome =
        Outcome::new(f.ranks as f64 >= r.at("ranks") && some > 0 && ratio(some as f64, all as f64) >= r.at("share"))
            .measured(&[("bytes", some as f64), ("of", all as f64)])
            .detail(|| {
                let scratch =
                    f.system.scratch().map_or(String::new(), |m| format!("; large data belong on {}", m.path));
                format!("{} of {}{scratch}", units::bytes(some as f64), units::bytes(all as f64))
            })
            .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn target_imbalance(f: &Facts, r: &Rule) -> Option<Outcome> {
    let t = f.targets.as_ref()?;
    let imbalance = t.imbalance();
    let slow = t.slow(r.at("factor"), r.at("p"));
    let uneven = t.all.len() as f64 >= r.at("targets") && imbalance >= r.at("ratio");
    let mut outcome = Outcome::new(uneven || slow.is_some())
        .measured(&[("max_over_mean", imbalance), ("targets", t.all.len() as f64)])
        .exact();
    if let Some(s) = &slow {
        outcome = outcome
            .measured(&[("slow_target", s.target as f64), ("slow_factor", s.factor)])
            .time(s.time_s)
            .lost(s.lost_s, "time beyond that of as many median requests to the other targets");
    } else {
        outcome = outcome.time(t.all.values().map(|x| x.time_s).fold(0.0, f64::max));
    }
    let outcome = outcome.detail(|| {
        let most = t.all.iter().max_by_key(|x| x.1.bytes).map_or(0, |x| *x.0);
        let slow = slow
            .map_or(String::new(), |s| format!("; OST {} takes {:.1} times as long for a byte", s.target, s.factor));
        format!("OST {most} moves {imbalance:.1} times the mean of {}{slow}", units::counted(t.all.len() as u64, "OST"))
    });
    Some(outcome)
}

pub(in crate::findings) fn scratch_data(f: &Facts, r: &Rule) -> Option<Outcome> {
    let q = f.requests.as_ref().filter(|q| q.complete)?;
    let [reads, writes] = &q.directions;
    let (mut parts, mut removed) = (Vec::new(), 0u64);
    for written in &writes.files {
        let mut ranks = q.streams.of_file(written.file);
        let (Some((rank, s)), None) = (ranks.next(), ranks.next()) else { continue };
        let name = f.trace.files.name(written.file);
        let gone = s.bytes[0] > 0 && f.trace.lookups.as_ref().is_some_and(|l| l.removed.contains(name));
        // read in full, and not before it is written
        let again = s.bytes[0] >= written.covered && s.span_s[0].1 > s.span_s[1].1 && s.span_s[0].0 > s.span_s[1].0;
        removed += u64::from(gone);
        if gone || again {
            let bytes = s.bytes[0] + s.bytes[1];
            let time_s = s.time_s[0] + s.time_s[1];
            parts.push(Part { file: written.file, rank: Some(rank), count: s.count[0] + s.count[1], bytes, time_s });
        }
    }
    let (bytes, all) = (parts.iter().map(|p| p.bytes).sum::<u64>(), reads.bytes + writes.bytes);
    let mut time = RankTime::default();
    parts.iter().for_each(|p| time.add(p.rank, p.time_s, f.ranks));
    let outcome = Outcome::new(ratio(bytes as f64, all as f64) >= r.at("share") && bytes as f64 >= r.at("bytes"))
        .measured(&[
            ("bytes", bytes as f64),
            ("of", all as f64),
            ("files", parts.len() as f64),
            ("removed", removed as f64),
        ])
        .time(time.critical())
        .detail(|| {
            let files = units::counted(parts.len() as u64, "file");
            let gone = if removed > 0 {
                format!("; {} of them are removed", units::grouped(removed as i64))
            } else {
                String::new()
            };
            format!("{} in {files} that one rank writes and reads again{gone}", units::bytes(bytes as f64))
        })
        .evidence(Filter::default())
        .parts(parts)
        .exact();
    Some(outcome)
}

pub(in crate::findings) fn all_read_all(f: &Facts, r: &Rule) -> Option<Outcome> {
    let n = f.ranks as f64;
    let mut files: BTreeMap<FileId, (u64, u64, f64)> = BTreeMap::new();
    for row in rows(f.posix?, ["BYTES_READ", "MAX_BYTE_READ"], ["F_READ_TIME"]) {
        let file = files.entry(row.file).or_default();
        file.0 += row.int[0].max(0) as u64;
        file.1 = file.1.max((row.int[1].max(-1) + 1) as u64);
        file.2 += row.real[0].max(0.0) / n;
    }
    let all = |&(bytes, size, _): &(u64, u64, f64)| {
        size > 0 && bytes as f64 >= r.at("share") * n * size as f64 && size as f64 * n >= r.at("bytes")
    };
    let parts: Vec<Part> = files
        .iter()
        .filter(|(_, x)| n >= r.at("ranks") && all(x))
        .map(|(&file, x)| Part { file, rank: None, count: f.ranks, bytes: x.0, time_s: x.2 })
        .collect();
    let time_s = parts.iter().map(|p| p.time_s).sum();
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("files", parts.len() as f64)])
        .time(time_s)
        .detail(|| format!("{} ranks read {}", f.ranks, units::counted(parts.len() as u64, "file")))
        .parts(parts);
    Some(outcome)
}
