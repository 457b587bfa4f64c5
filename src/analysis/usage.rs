//! Files and access sizes of a trace, from its counters or from its rows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::counters::CounterReport;
use crate::record::{Counters, Data, FileId, Numbered, Op, Request, Striping, Timing, Trace, UNKNOWN_OFFSET, stem};
use crate::signal::{Activity, Mode, Selection};

/// Sizes are counted by powers of two.
const SIZE_CLASSES: usize = 65;

/// A family of files: names that differ in digits only.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileUse {
    /// Name of the file; of several with `#` for digits.
    pub file: String,
    /// Number of files.
    pub files: u64,
    /// Calls that read; `None` if they are not counted.
    pub reads: Option<u64>,
    /// Calls that write; `None` if they are not counted.
    pub writes: Option<u64>,
    /// Calls that open; `None` if they are not counted.
    pub opens: Option<u64>,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Seconds of the ranks in its calls; `None` if the trace does not say.
    pub time_s: Option<f64>,
    /// Number of ranks; `None` if the counters are of all ranks.
    pub ranks: Option<u64>,
    /// Mount point and type of its file system.
    pub mount: Option<String>,
    /// Bytes of a stripe and number of stripes of its first file, where the layout is known.
    pub stripe: Option<(u64, u64)>,
    /// Files of a family with the most time, then the most bytes: name, bytes, and time as `time_s`.
    pub members: Vec<(String, u64, Option<f64>)>,
}

impl FileUse {
    /// The sum of two families.
    pub fn plus(self, b: FileUse) -> FileUse {
        let plus = |x: Option<u64>, y: Option<u64>| x.zip(y).map(|(x, y)| x.saturating_add(y));
        FileUse {
            files: self.files + b.files,
            reads: plus(self.reads, b.reads),
            writes: plus(self.writes, b.writes),
            opens: plus(self.opens, b.opens),
            bytes_read: self.bytes_read.saturating_add(b.bytes_read),
            bytes_written: self.bytes_written.saturating_add(b.bytes_written),
            time_s: self.time_s.zip(b.time_s).map(|(x, y)| x + y),
            ..FileUse::default()
        }
    }

    /// The same without a name.
    pub fn unnamed(self) -> FileUse {
        FileUse { file: String::new(), ranks: None, mount: None, stripe: None, members: Vec::new(), ..self }
    }
}

/// Accesses by size.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SizeUse {
    /// The layer.
    pub layer: String,
    /// One entry per class of sizes: upper end in bytes (`None`: no upper end), reads, writes, and bytes read and written where
    /// single requests are known.
    pub classes: Vec<SizeClass>,
    /// The commonest sizes and their counts.
    pub common: Vec<(u64, u64)>,
}

/// Accesses of one class of sizes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SizeClass {
    /// Upper end in bytes; `None`: no upper end.
    pub up_to: Option<u64>,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read and written; `None` without single requests.
    pub bytes: Option<(u64, u64)>,
}

/// Bytes of a storage target (OST).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TargetUse {
    /// Number of the target.
    pub target: u64,
    /// Stripes of files on it.
    pub stripes: u64,
    /// Bytes read and written.
    pub bytes: [f64; 2],
}

/// Files and access sizes of a trace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// Families of files, those that took most time first, then those that moved most bytes.
    pub files: Vec<FileUse>,
    /// Number of families.
    pub families: u64,
    /// The sum of those families that are not in `files`; `None` if all are.
    pub rest: Option<FileUse>,
    /// Sizes by layer.
    pub sizes: Vec<SizeUse>,
    /// Storage targets, where the layout of files is known.
    pub targets: Vec<TargetUse>,
    /// Bytes of targets follow from the offsets of requests; else those of each file are spread evenly over its targets.
    pub targets_exact: bool,
}

/// Upper ends of Darshan's classes of access sizes.
const DARSHAN: [u64; 9] = [100, 1024, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30];

impl Usage {
    /// Of a trace, with at most `most` families.
    pub fn of(trace: &Trace, counters: Option<&CounterReport>, most: usize) -> Usage {
        let mut sizes: Vec<SizeUse> = counters.iter().flat_map(|c| &c.access_sizes).map(of_counters).collect();
        let mut files = match trace.counters.as_deref() {
            Some(c) if counters.is_some() => CounterReport::all_files(c),
            _ => {
                let (files, of_rows) = rows(trace);
                sizes.extend(of_rows);
                files
            }
        };
        let time = |f: &FileUse| f.time_s.unwrap_or(0.0);
        files.sort_by(|a, b| {
            let bytes = |f: &FileUse| f.bytes_read.saturating_add(f.bytes_written);
            time(b).total_cmp(&time(a)).then(bytes(b).cmp(&bytes(a))).then(a.file.cmp(&b.file))
        });
        let families = files.len() as u64;
        let rest = files.split_off(files.len().min(most)).into_iter().reduce(FileUse::plus).map(FileUse::unnamed);
        let (targets, targets_exact) = trace.counters.as_deref().map_or_else(Default::default, |c| targets(trace, c));
        Usage { files, families, rest, sizes, targets, targets_exact }
    }
}

fn of_counters(a: &super::AccessSizes) -> SizeUse {
    let ends = DARSHAN.into_iter().map(Some).chain([None]);
    let classes = ends.zip(a.reads.iter().zip(&a.writes)).map(|(up_to, (&reads, &writes))| SizeClass {
        up_to,
        reads,
        writes,
        bytes: None,
    });
    let common = a.common.iter().map(|s| (s.size, s.count)).collect();
    SizeUse { layer: a.layer.clone(), classes: classes.collect(), common }
}

/// The mount point of a file and its type.
pub(super) fn mount_of(c: &Counters, file: &str) -> Option<String> {
    c.mount(file).map(|m| format!("{} ({})", m.path, m.kind))
}

/// Bytes by storage target: from the places of requests if all bytes of the files with a layout are in them, else from counters.
fn targets(trace: &Trace, c: &Counters) -> (Vec<TargetUse>, bool) {
    let mut all: BTreeMap<u64, TargetUse> = BTreeMap::new();
    for target in c.layouts.iter().flat_map(|l| &l.targets) {
        all.entry(*target).or_insert(TargetUse { target: *target, ..TargetUse::default() }).stripes += 1;
    }
    let layouts: HashMap<&str, &Striping> = c.layouts.iter().map(|l| (c.files.name(l.file), l)).collect();
    let of_file: HashMap<FileId, &Striping> =
        trace.files.iter().filter_map(|(id, name)| Some((id, *layouts.get(name)?))).collect();
    let placed = |r: &Request| r.op.moves_bytes() && r.offset != UNKNOWN_OFFSET && r.size > 0;
    let mut exact = false;
    if let Data::Requests(rows) = &trace.data {
        for r in rows.iter().filter(placed) {
            let Some(layout) = of_file.get(&r.file) else { continue };
            for (target, bytes, _) in layout.spread(r.offset, r.size) {
                all.entry(target).or_default().bytes[usize::from(r.op == Op::Write)] += bytes as f64;
                exact = true;
            }
        }
    }
    if !exact {
        let parts: HashMap<FileId, u64> = c.layouts.iter().fold(HashMap::new(), |mut n, l| {
            *n.entry(l.file).or_default() += l.targets.len() as u64;
            n
        });
        let moved = CounterReport::bytes_of_files(c);
        for l in &c.layouts {
            let (Some(bytes), Some(n)) = (moved.get(&l.file), parts.get(&l.file)) else { continue };
            for t in &l.targets {
                let target = all.entry(*t).or_default();
                (0..2).for_each(|d| target.bytes[d] += bytes[d] as f64 / *n as f64);
            }
        }
    }
    (all.into_values().collect(), exact)
}

#[derive(Default)]
struct Sum {
    calls: [u64; 2],
    bytes: [u64; 2],
    time_s: f64,
    ranks: BTreeSet<u32>,
    latest: Option<u32>,
}

/// Files of a family that are listed.
const MEMBERS: usize = 8;

/// A file of a family: bytes, and seconds if known.
pub(super) type Member = (FileId, u64, Option<f64>);

/// The first of the files of a family, none if it is the only one.
pub(super) fn members(mut all: Vec<Member>) -> Vec<Member> {
    all.sort_by(|a, b| {
        let time = |m: &Member| m.2.unwrap_or(0.0);
        time(b).total_cmp(&time(a)).then(b.1.cmp(&a.1)).then(a.0.cmp(&b.0))
    });
    all.truncate(if all.len() > 1 { MEMBERS } else { 0 });
    all
}

/// Files, and sizes if the rows are single requests.
fn rows(trace: &Trace) -> (Vec<FileUse>, Option<SizeUse>) {
    let mut files: Numbered<Sum> = Numbered::default();
    let mut classes = vec![[(0u64, 0u64); 2]; SIZE_CLASSES];
    let mut add = |file: FileId, op: Op, rank: u32, bytes: u64, time_s: f64| {
        let d = usize::from(op == Op::Write);
        let f = files.get_or(file.0, Sum::default());
        f.calls[d] += 1;
        f.bytes[d] = f.bytes[d].saturating_add(bytes);
        f.time_s += time_s;
        if f.latest.replace(rank) != Some(rank) {
            f.ranks.insert(rank);
        }
        let class = &mut classes[(u64::BITS - bytes.saturating_sub(1).leading_zeros()) as usize][d];
        (class.0, class.1) = (class.0 + 1, class.1.saturating_add(bytes));
    };
    let kept = |file: FileId| !trace.files.is_system(file);
    match &trace.data {
        Data::Requests(r) => {
            for x in r.iter().filter(|x| x.op.moves_bytes() && kept(x.file)) {
                add(x.file, x.op, x.rank, x.size, x.end - x.start);
            }
        }
        Data::Intervals(v) => {
            for x in v.iter().filter(|x| kept(x.file)) {
                add(x.file, x.op, x.rank, x.bytes.max(0.0).round() as u64, x.end - x.start);
            }
        }
    }
    let single = trace.timing == Timing::Request;
    let named = files.into_iter().map(|(id, s)| (FileId(id), s)).filter(|(id, _)| *id != FileId::NONE);
    let mut families: BTreeMap<String, (FileUse, BTreeSet<u32>, Vec<Member>)> = BTreeMap::new();
    for (id, s) in named {
        let name = trace.files.name(id);
        let (f, ranks, listed) = families.entry(stem(name)).or_default();
        f.file = if f.files == 0 { name.to_owned() } else { stem(name) };
        f.files += 1;
        f.reads = single.then(|| f.reads.unwrap_or(0) + s.calls[0]);
        f.writes = single.then(|| f.writes.unwrap_or(0) + s.calls[1]);
        f.bytes_read = f.bytes_read.saturating_add(s.bytes[0]);
        f.bytes_written = f.bytes_written.saturating_add(s.bytes[1]);
        f.time_s = single.then(|| f.time_s.unwrap_or(0.0) + s.time_s);
        listed.push((id, s.bytes[0].saturating_add(s.bytes[1]), single.then_some(s.time_s)));
        ranks.extend(s.ranks);
    }
    let whole = |(f, ranks, listed): (FileUse, BTreeSet<u32>, Vec<Member>)| {
        let name = |(id, bytes, time_s)| (trace.files.name(id).to_owned(), bytes, time_s);
        let members = members(listed).into_iter().map(name).collect();
        FileUse { ranks: Some(ranks.len() as u64), members, ..f }
    };
    let seen = classes.iter().any(|c| c[0].0 + c[1].0 > 0) && single;
    let sizes = seen.then(|| {
        let class = |(k, c): (usize, &[(u64, u64); 2])| SizeClass {
            up_to: Some(1u64.checked_shl(k as u32).unwrap_or(u64::MAX)),
            reads: c[0].0,
            writes: c[1].0,
            bytes: Some((c[0].1, c[1].1)),
        };
        let used = |c: &&[(u64, u64); 2]| c[0].0 + c[1].0 > 0;
        let first = classes.iter().position(|c| used(&c)).unwrap_or(0);
        let last = classes.iter().rposition(|c| used(&c)).unwrap_or(0);
        SizeUse {
            layer: trace.layer.map_or("requests", |l| l.name()).to_owned(),
            classes: classes.iter().enumerate().skip(first).take(last + 1 - first).map(class).collect(),
            common: Vec::new(),
        }
    });
    (families.into_values().map(whole).collect(), sizes)
}

/// Some accesses to a family of files, evenly chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct FileAccesses {
    /// Name of the file; of several with `#` for digits.
    pub file: String,
    /// Number of files.
    pub files: u64,
    /// Number of accesses, of which those in `shown` are some.
    pub all: u64,
    /// Accesses in the order of the trace, with times on the trace's own clock.
    pub shown: Vec<Request>,
}

impl FileAccesses {
    /// Of the families with the most bytes in selected accesses with an offset: so many families, so many accesses of each.
    pub fn of(trace: &Trace, selection: &Selection, (families, most): (usize, usize)) -> Vec<FileAccesses> {
        let Data::Requests(r) = &trace.data else { return Vec::new() };
        let activity = Activity::new(trace, Mode::All, selection);
        let kept = || {
            (0..r.len()).filter(|&i| {
                r.offset.get(i) != UNKNOWN_OFFSET && r.file.get(i) != FileId::NONE && activity.keeps_request(r, i)
            })
        };
        let mut moved: Numbered<(u64, u64)> = Numbered::default();
        for i in kept() {
            let f = moved.get_or(r.file.get(i).0, (0, 0));
            *f = (f.0.saturating_add(r.size.get(i)), f.1 + 1);
        }
        let mut of_stem: BTreeMap<String, (u64, u64, Vec<FileId>)> = BTreeMap::new();
        for (id, (bytes, accesses)) in moved.into_iter().map(|(id, sum)| (FileId(id), sum)) {
            let family = of_stem.entry(stem(trace.files.name(id))).or_default();
            family.0 = family.0.saturating_add(bytes);
            family.1 += accesses;
            family.2.push(id);
        }
        let mut order: Vec<_> = of_stem.into_iter().collect();
        order.sort_by_key(|(_, (bytes, ..))| Reverse(*bytes));
        order.truncate(families);
        let mut place: Numbered<usize> = Numbered::default();
        // of each: one access in so many is shown, and how many are left until the next
        let mut chosen: Vec<(FileAccesses, [u64; 2])> = Vec::new();
        for (stem, (_, all, ids)) in order {
            let file = if let [id] = ids[..] { trace.files.name(id).to_owned() } else { stem };
            let files = ids.len() as u64;
            ids.into_iter().for_each(|id| _ = place.get_or(id.0, chosen.len()));
            let step = all.div_ceil(most as u64).max(1);
            chosen.push((FileAccesses { file, files, all, shown: Vec::new() }, [step, 0]));
        }
        let origin = trace.origin_s as f64;
        for i in kept() {
            let Some((f, [step, left])) = place.get(r.file.get(i).0).and_then(|&k| chosen.get_mut(k)) else { continue };
            if *left == 0 {
                let x = r.get(i);
                f.shown.push(Request { start: x.start + origin, end: x.end + origin, ..x });
                *left = *step;
            }
            *left -= 1;
        }
        chosen.into_iter().map(|c| c.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Requests;

    #[test]
    fn families_and_sizes_of_requests() {
        let mut t = Trace::default();
        let (a, b) = (t.files.intern("/out.1"), t.files.intern("/out.22"));
        let row = |op, file, rank, size| Request { op, file, rank, size, start: 1.0, end: 1.5, ..Request::default() };
        let rows = [row(Op::Write, a, 0, 1024), row(Op::Write, b, 1, 1025), row(Op::Read, b, 1, 1)];
        t.data = Data::Requests(rows.into_iter().collect::<Requests>());
        let u = Usage::of(&t, None, 10);
        assert_eq!(u.files.len(), 1);
        let f = &u.files[0];
        assert_eq!((f.file.as_str(), f.files, f.bytes_written, f.ranks), ("/out.#", 2, 2049, Some(2)));
        assert_eq!((f.reads, f.writes, f.time_s), (Some(1), Some(2), Some(1.5)));
        let class = |up_to: u64| u.sizes[0].classes.iter().find(|c| c.up_to == Some(up_to)).copied().unwrap();
        assert_eq!((class(1024).writes, class(2048).writes, class(1).reads), (1, 1, 1));
    }

    #[test]
    fn families_beyond_the_cap_are_summed() {
        let mut t = Trace::default();
        let files: Vec<_> = ["a", "b", "c"].map(|n| t.files.intern(n)).into();
        let row = |file, size| Request { op: Op::Write, file, size, ..Request::default() };
        t.data = Data::Requests((1..=3).map(|i| row(files[i as usize - 1], i * 10)).collect());
        let u = Usage::of(&t, None, 1);
        assert_eq!((u.files[0].file.as_str(), u.families), ("c", 3));
        assert_eq!(u.rest.map(|r| (r.files, r.bytes_written)), Some((2, 30)));
    }
}
