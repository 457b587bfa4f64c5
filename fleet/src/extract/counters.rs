//! Layers and files of a log, from its counters.

use std::collections::{BTreeMap, HashMap};

use super::int;
use crate::tables::{FileRow, LayerRow};
use iophase::analysis;
use iophase::classify;
use iophase::internals::facts::{self, Count, Counted, FileFamily, Measure, Row};
use iophase::record::{Counters, FileId, Op, Trace, stem};

/// Families of files, or files, of a log that have a row.
const FAMILIES: usize = 100_000;
/// Adds a value, if it is known.
fn add<T: Copy>(to: &mut Option<T>, more: Option<T>, sum: fn(T, T) -> T) {
    *to = to.iter().copied().chain(more).reduce(sum);
}

/// Bytes read and written: of POSIX and STDIO where the log counts them, else of MPI-IO, else of the rows.
pub fn bytes(trace: &Trace) -> [u64; 2] {
    let summed = |names: &[&str]| {
        let of = trace.layers.iter().filter(|l| names.contains(&l.layer.as_str()));
        of.map(|l| [l.bytes_read, l.bytes_written])
            .reduce(|a, b| [a[0].saturating_add(b[0]), a[1].saturating_add(b[1])])
            .filter(|b| b[0] > 0 || b[1] > 0)
    };
    summed(&["posix", "stdio"]).or_else(|| summed(&["mpiio"])).unwrap_or_else(|| {
        let rows = |op: Op| match &trace.data {
            iophase::record::Data::Requests(r) => {
                r.iter().filter(|x| x.op == op).fold(0u64, |sum, x| sum.saturating_add(x.size))
            }
            iophase::record::Data::Intervals(r) => r.iter().filter(|x| x.op == op).map(|x| x.bytes).sum::<f64>() as u64,
        };
        [rows(Op::Read), rows(Op::Write)]
    })
}

/// One row for each layer and mount.
pub fn layers(c: &Counters, to: &mut Vec<LayerRow>) {
    for t in c.tables.iter().filter(|t| !t.is_empty()).map(Counted::of) {
        let mut mounts: BTreeMap<Option<&str>, (LayerRow, HashMap<FileId, bool>)> = BTreeMap::new();
        for x in t.rows() {
            let mount = c.mount(c.files.name(x.file)).map(|m| m.path.as_str());
            let (row, files) = mounts.entry(mount).or_default();
            add_row(row, &t, &x);
            *files.entry(x.file).or_default() |= x.rank.is_none();
        }
        let layer = t.module.prefix().to_lowercase();
        to.extend(mounts.into_iter().map(|(mount, (row, files))| {
            let shared = files.values().filter(|s| **s).count() as u64;
            LayerRow {
                layer: Some(layer.clone()),
                mount: mount.map(str::to_owned),
                files: Some(int(files.len() as u64)),
                shared_files: Some(int(shared)),
                unique_files: Some(int(files.len() as u64 - shared)),
                ..row
            }
        }));
    }
}

/// A column of the table `layers`.
type Target = fn(&mut LayerRow) -> &mut Option<i64>;

/// The counts behind the columns of a layer.
const COUNTS: [(&[Count], Target); 14] = [
    (&[Count::Opens], |r| &mut r.opens),
    (&[Count::Reads], |r| &mut r.reads),
    (&[Count::Writes], |r| &mut r.writes),
    (&[Count::Seeks], |r| &mut r.seeks),
    (&[Count::Stats], |r| &mut r.stats),
    (&[Count::Syncs, Count::Flushes], |r| &mut r.fsyncs),
    (&[Count::BytesRead], |r| &mut r.bytes_read),
    (&[Count::BytesWritten], |r| &mut r.bytes_written),
    (&[Count::ConsecReads], |r| &mut r.consec_reads),
    (&[Count::ConsecWrites], |r| &mut r.consec_writes),
    (&[Count::SeqReads], |r| &mut r.seq_reads),
    (&[Count::SeqWrites], |r| &mut r.seq_writes),
    (&[Count::FileUnaligned], |r| &mut r.file_not_aligned),
    (&[Count::MemUnaligned], |r| &mut r.mem_not_aligned),
];

/// Adds a row of counters. A counter that it does not know adds nothing.
fn add_row(row: &mut LayerRow, t: &Counted<'_>, x: &Row<'_, '_>) {
    for (counts, target) in COUNTS {
        counts.iter().for_each(|count| add(target(row), x.known(*count).map(int), i64::saturating_add));
    }
    if t.has_sizes() {
        let sizes = [x.sizes(0), x.sizes(1)];
        row.sizes()
            .into_iter()
            .zip(sizes.as_flattened())
            .for_each(|(to, n)| add(to, Some(int(*n)), i64::saturating_add));
    }
    let times =
        [(Measure::ReadS, &mut row.read_s), (Measure::WriteS, &mut row.write_s), (Measure::MetaS, &mut row.meta_s)];
    let measured = times.into_iter().filter(|(time, _)| t.measures(*time));
    measured.for_each(|(time, to)| add(to, Some(x.measure(time)), |a, b| a + b));
}

/// One row for each family of files, or each file. True if some had to be left out.
pub fn files(c: &Counters, each: bool, to: &mut Vec<FileRow>) -> bool {
    let layouts: HashMap<FileId, u64> = c.layouts.iter().map(|l| (l.file, l.stripe_bytes)).collect();
    let key = |name: &str| if each { name.to_owned() } else { stem(name) };
    let families = facts::families(facts::files_of_counters(c), &c.files, key);
    let mut all: Vec<FileRow> = families.into_iter().map(|f| file_row(c, f, &layouts)).collect();
    let cost = |r: &FileRow| [r.read_s, r.write_s, r.meta_s].into_iter().flatten().sum::<f64>();
    let left_out = all.len() > FAMILIES;
    if left_out {
        all.sort_by(|a, b| cost(b).total_cmp(&cost(a)).then_with(|| a.family.cmp(&b.family)));
        all.truncate(FAMILIES);
    }
    to.append(&mut all);
    left_out
}

fn file_row(c: &Counters, f: FileFamily, layouts: &HashMap<FileId, u64>) -> FileRow {
    let mount = c.mount(c.files.name(f.sum.file));
    let [reads, writes, opens] = f.sum.calls.map(|n| n.map(int));
    let [bytes_read, bytes_written] = f.sum.bytes.map(|n| Some(int(n)));
    let [read_s, write_s, meta_s] = [0, 1, 2].map(|i| f.sum.time_s.map(|parts| parts[i]));
    FileRow {
        mount: mount.map(|m| m.path.clone()),
        fs_type: mount.map(|m| m.kind.clone()),
        layer: f.sum.layer.map(|l| l.prefix().to_lowercase()),
        files: Some(int(f.files.len() as u64)),
        ranks_count: f.sum.ranks.map(|ranks| int(ranks.len() as u64)),
        stripe_bytes: f.files.iter().find_map(|f| layouts.get(&f.file)).map(|s| int(*s)),
        family: Some(f.name),
        reads,
        writes,
        opens,
        bytes_read,
        bytes_written,
        read_s,
        write_s,
        meta_s,
        ..FileRow::default()
    }
}

/// Adds the access class of the first file of each family.
pub fn classes(trace: &Trace, to: &mut [FileRow]) {
    let Ok((found, _)) = analysis::classes(trace, &Default::default(), classify::Options::default(), false) else {
        return;
    };
    let mut of: HashMap<String, String> = HashMap::new();
    for f in &found.files {
        let class = f.global.first().and_then(|g| serde_json::to_value(g).ok());
        let word = |key: &str| class.as_ref().and_then(|c| c[key].as_str().map(str::to_owned));
        if let (Some(name), Some(class)) = (&f.file, ["mix", "sequentiality", "size"].map(word).into_iter().collect()) {
            let class: Vec<String> = class;
            let text = class.join(" ");
            of.entry(name.clone()).or_insert_with(|| text.clone());
            of.entry(stem(name)).or_insert(text);
        }
    }
    for row in to {
        row.class = row.family.as_ref().and_then(|name| of.get(name)).cloned();
    }
}
