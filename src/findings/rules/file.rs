//! Layout and sharing of files.

use std::collections::{BTreeMap, HashSet};

use crate::findings::book::Rule;
use crate::findings::evidence::Filter;
use crate::findings::facts::{Facts, ratio};
use crate::findings::outcome::{Outcome, Part};
use crate::findings::rules::sums::{self, Sums};
use crate::record::FileId;
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
            let [changes, touches, shared] = [s.owner_changes, s.touches, s.shared].map(units::grouped);
            let unit = units::bytes(f.stripe as f64);
            format!("{changes} of {touches} times a stripe of {unit} was written after another rank, {shared} stripes in all")
        })
        .exact();
    Some(outcome)
}

pub(in crate::findings) fn conflicts(f: &Facts, r: &Rule) -> Option<Outcome> {
    let parts = &f.requests.as_ref()?.several.1;
    // of what MPI-IO asks for POSIX sees the pieces that its aggregators write, under locks
    let of_mpiio: HashSet<&str> = f.mpiio.iter().flat_map(|t| t.rows()).map(|row| f.name(row.file)).collect();
    let is_own = |p: &&Part| !of_mpiio.contains(f.trace.files.name(p.file));
    let parts: Vec<Part> = parts.iter().filter(is_own).copied().collect();
    let bytes = parts.iter().map(|p| p.bytes).sum::<u64>() as f64;
    let outcome = Outcome::new(bytes >= r.at("bytes"))
        .measured(&[("bytes", bytes), ("files", parts.len() as f64)])
        .parts(parts)
        .detail(|| format!("{} written by several ranks, possibly in any order", units::bytes(bytes)))
        .exact();
    Some(outcome)
}

pub(in crate::findings) fn few_stripes(f: &Facts, r: &Rule) -> Option<Outcome> {
    let layouts = f.counters.map(|c| &c.layouts[..]).filter(|all| !all.is_empty())?;
    // of each file: bytes, time of all ranks by the outermost layer, ranks of that layer as the count, and its sums
    let part = |x: Sums| (x.file, (Part { rank: None, count: 0, ..x.part(0.0) }, x));
    let mut files: BTreeMap<FileId, (Part, Sums)> = sums::files(f)?.into_values().map(part).collect();
    for t in &f.io.outermost {
        let (file, rank, time_s) = (t.file, t.rank, t.time_s());
        if let Some((part, _)) = files.get_mut(&file) {
            (part.count, part.time_s) = (part.count + rank.map_or(f.ranks, |_| 1), part.time_s + time_s);
        }
    }
    let (mut parts, mut lost, mut time_s) = (Vec::new(), Some(0.0), 0.0);
    let (mut fewest, mut most) = (u64::MAX, 0);
    for layout in layouts {
        let Some(&(part, sums)) = files.get(&layout.file) else { continue };
        let (ranks, size) = (part.count.max(1) as f64, sums.size());
        let shared = part.count >= 2 && size as f64 >= r.at("shared_bytes");
        let wanted = if shared { ranks.min(r.at("stripes")) } else { r.at("stripes") };
        if (shared || size as f64 >= r.at("bytes")) && (layout.stripes as f64) < wanted {
            (fewest, most) = (fewest.min(layout.stripes), most.max(layout.stripes));
            // only servers that are busy gain from others beside them
            // what the layers above wait for others is no time of the servers
            let of_rank_s = (part.time_s / ranks).min(sums.slowest_s);
            let of_each = ratio(part.bytes as f64, of_rank_s) / layout.stripes.max(1) as f64;
            let rate = f.system.mount(f.name(part.file)).and_then(|m| m.ost_rate);
            let gain = 1.0 - layout.stripes as f64 / wanted;
            lost = lost
                .zip(rate.filter(|rate| of_each >= r.at("busy") * rate))
                .map(|(all, _)| all + gain.max(0.0) * of_rank_s);
            time_s += of_rank_s;
            parts.push(part);
        }
    }
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("files", parts.len() as f64)])
        .time(time_s)
        .maybe_lost(
            lost.filter(|_| !parts.is_empty()),
            "time x (1 - stripes / wanted): its targets are at half of their rate or more",
        )
        .detail(|| {
            let (n, bytes) = (parts.len() as u64, parts.iter().map(|p| p.bytes).sum::<u64>());
            let each = if n > 1 { "each on " } else { "on " };
            let to = if fewest < most { format!("{fewest} to ") } else { String::new() };
            let targets = units::counted(most, "storage target");
            format!("{} with {}, {each}{to}{targets}", units::counted(n, "large file"), units::bytes(bytes as f64))
        })
        .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn wrong_place(f: &Facts, r: &Rule) -> Option<Outcome> {
    const LOCAL: [&str; 8] = ["nfs", "nfs3", "nfs4", "ext3", "ext4", "xfs", "btrfs", "zfs"];
    let c = f.counters.filter(|c| !c.mounts.is_empty())?;
    let files = sums::files(f)?;
    let local = |x: &&Sums| c.mount(c.files.name(x.file)).is_some_and(|m| LOCAL.contains(&&*m.kind));
    let found = files.values().filter(|x| x.bytes != [0; 2]).filter(local);
    let parts: Vec<Part> = found.map(|x| x.part(x.transfer_s() / x.ranks.max(1) as f64)).collect();
    let (some, all) = (parts.iter().map(|p| p.bytes).sum::<u64>(), files.values().flat_map(|x| x.bytes).sum::<u64>());
    let many = f.ranks as f64 >= r.at("ranks") && some > 0;
    let outcome = Outcome::new(many && ratio(some as f64, all as f64) >= r.at("share"))
        .measured(&[("bytes", some as f64), ("of", all as f64)])
        .detail(|| {
            let scratch = f.system.scratch().map_or(String::new(), |m| format!("; large data belong on {}", m.path));
            format!("{} of {}{scratch}", units::bytes(some as f64), units::bytes(all as f64))
        })
        .parts(parts);
    Some(outcome)
}

pub(in crate::findings) fn target_imbalance(f: &Facts, r: &Rule) -> Option<Outcome> {
    let t = f.targets.as_ref()?;
    let imbalance = t.imbalance();
    let slow = t.slow(r.at("factor"), r.at("p"));
    let uneven = t.exact && t.all.len() as f64 >= r.at("targets") && imbalance >= r.at("ratio");
    let mut outcome = Outcome::new(uneven || slow.is_some())
        .measured(&[("max_over_mean", imbalance), ("targets", t.all.len() as f64)]);
    if t.exact {
        outcome = outcome.exact();
    }
    if let Some(s) = &slow {
        outcome = outcome
            .measured(&[("slow_target", s.target as f64), ("slow_factor", s.factor)])
            .time(s.time_s)
            .lost(s.lost_s, "time of the slowest rank beyond the median of the other targets for as many bytes")
            .parts(s.parts.clone());
    } else {
        outcome = outcome.time(t.all.values().map(|x| x.time_s).fold(0.0, f64::max));
    }
    let outcome = outcome.detail(|| {
        let most = t.all.iter().max_by_key(|x| x.1.bytes).map_or(0, |x| *x.0);
        let slow =
            slow.map(|s| format!("OST {} takes {:.1} times as long for a byte as the others", s.target, s.factor));
        let of = units::counted(t.all.len() as u64, "OST");
        let uneven = uneven.then(|| format!("OST {most} moves {imbalance:.1} times the mean of {of}"));
        slow.into_iter().chain(uneven).collect::<Vec<_>>().join("; ")
    });
    Some(outcome)
}

pub(in crate::findings) fn all_read_all(f: &Facts, r: &Rule) -> Option<Outcome> {
    let n = f.ranks as f64;
    let by_all = |x: &&Sums| {
        let size = x.ends[0] as f64;
        size > 0.0 && x.bytes[0] as f64 >= r.at("share") * n * size && size * n >= r.at("bytes")
    };
    let files = sums::files(f)?;
    let found = files.values().filter(|x| n >= r.at("ranks") && by_all(x));
    let part = |x: &Sums| Part { rank: None, count: f.ranks, bytes: x.bytes[0], ..x.part(x.times_s[0] / n) };
    let parts: Vec<Part> = found.map(part).collect();
    let outcome = Outcome::new(!parts.is_empty())
        .measured(&[("files", parts.len() as f64)])
        .time(parts.iter().map(|p| p.time_s).sum())
        .detail(|| format!("{} ranks read {}", f.ranks, units::counted(parts.len() as u64, "file")))
        .parts(parts);
    Some(outcome)
}
