//! Files and access sizes of a trace, from its counters or from its rows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::counters::CounterReport;
use crate::facts::{self, FileFacts, FileFamily};
use crate::record::{
    Counters, Data, FileId, Files, Numbered, Op, Request, Striping, Timing, Trace, UNKNOWN_OFFSET, stem,
};
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
    /// Seconds of all ranks in its calls of the outermost layer; `None` if the trace does not say.
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

impl Usage {
    /// Of a trace, with at most `most` families.
    pub fn of(trace: &Trace, counters: Option<&CounterReport>, most: usize) -> Usage {
        let mut sizes: Vec<SizeUse> = counters.iter().flat_map(|c| &c.access_sizes).map(of_counters).collect();
        let counted = trace.counters.as_deref().filter(|_| counters.is_some());
        let (files, names) = match counted {
            Some(c) => (facts::files_of_counters(c), &c.files),
            None => (facts::files_of_rows(trace), &trace.files),
        };
        if counted.is_none() {
            sizes.extend(sizes_of_rows(trace));
        }
        let layouts: HashMap<FileId, (u64, u64)> = counted
            .iter()
            .flat_map(|c| c.layouts.iter().rev().map(|l| (l.file, (l.stripe_bytes, l.stripes))))
            .collect();
        let of_family = |f: FileFamily| FileUse {
            mount: counted.and_then(|c| mount_of(c, names.name(f.sum.file))),
            stripe: layouts.get(&f.sum.file).copied(),
            ..file_use(f, names)
        };
        let mut files: Vec<FileUse> = facts::families(files, names, stem).into_iter().map(of_family).collect();
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
    let ends = facts::SIZES.into_iter().map(|(_, end)| end);
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
fn mount_of(c: &Counters, file: &str) -> Option<String> {
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
        let moved: HashMap<FileId, [u64; 2]> =
            facts::files_of_counters(c).into_iter().map(|f| (f.file, f.bytes)).collect();
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

/// Files of a family that are listed.
const MEMBERS: usize = 8;

fn file_use(f: FileFamily, names: &Files) -> FileUse {
    let FileFamily { name, sum, files } = f;
    let [reads, writes, opens] = sum.calls;
    FileUse {
        file: name,
        files: files.len() as u64,
        reads,
        writes,
        opens,
        bytes_read: sum.bytes[0],
        bytes_written: sum.bytes[1],
        time_s: sum.time_s.map(|parts| parts.iter().sum()),
        ranks: sum.ranks.as_ref().map(|ranks| ranks.len() as u64),
        mount: None,
        stripe: None,
        members: members(files, names),
    }
}

/// The first of the files of a family, none if it is the only one.
fn members(mut all: Vec<FileFacts>, names: &Files) -> Vec<(String, u64, Option<f64>)> {
    all.sort_by(|a, b| b.spent().total_cmp(&a.spent()).then(b.moved().cmp(&a.moved())).then(a.file.cmp(&b.file)));
    all.truncate(if all.len() > 1 { MEMBERS } else { 0 });
    let line = |f: FileFacts| (names.name(f.file).to_owned(), f.moved(), f.time_s.map(|parts| parts.iter().sum()));
    all.into_iter().map(line).collect()
}

/// Sizes of transfers, if the rows are single requests.
fn sizes_of_rows(trace: &Trace) -> Option<SizeUse> {
    let Data::Requests(rows) = &trace.data else { return None };
    if trace.timing != Timing::Request {
        return None;
    }
    let mut classes = vec![[(0u64, 0u64); 2]; SIZE_CLASSES];
    for x in rows.iter().filter(|x| x.op.moves_bytes() && !trace.files.is_system(x.file)) {
        let at = (u64::BITS - x.size.saturating_sub(1).leading_zeros()) as usize;
        let class = &mut classes[at][usize::from(x.op == Op::Write)];
        (class.0, class.1) = (class.0 + 1, class.1.saturating_add(x.size));
    }
    let used = |c: &[(u64, u64); 2]| c[0].0 + c[1].0 > 0;
    let (first, last) = (classes.iter().position(used)?, classes.iter().rposition(used)?);
    let class = |(k, c): (usize, &[(u64, u64); 2])| SizeClass {
        up_to: Some(1u64.checked_shl(k as u32).unwrap_or(u64::MAX)),
        reads: c[0].0,
        writes: c[1].0,
        bytes: Some((c[0].1, c[1].1)),
    };
    Some(SizeUse {
        layer: trace.layer.map_or("requests", |l| l.name()).to_owned(),
        classes: classes.iter().enumerate().skip(first).take(last + 1 - first).map(class).collect(),
        common: Vec::new(),
    })
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
