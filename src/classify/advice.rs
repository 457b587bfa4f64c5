//! Settings that follow from a global class: the policies of Madhyastha & Reed (1997) for the file systems and libraries of today.
//!
//! `docs/access.md` has the table, each policy of the paper beside what takes its place. Advice is given only where the
//! trace supports it: each rule states what it needs.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::access::Tally;
use super::global::GlobalSequentiality as G;
use super::lattice::{Mix, Size};
use super::report::{Advice, GlobalClass};
use super::thresholds::LIMITS;

/// Facts that the rules look at.
pub(crate) struct Situation<'a> {
    pub file: Option<&'a str>,
    pub ranks: usize,
    pub class: G,
    pub mix: Mix,
    pub size: Size,
    pub tally: &'a Tally,
    /// First byte touched by each rank, in bytes.
    pub starts: &'a [u64],
    /// Each rank reads its bytes more than once.
    pub again: bool,
    pub stripe: u64,
}

type Rule = fn(&Situation) -> Option<Advice>;

/// The rules; adding one is a function and a line.
const RULES: &[Rule] =
    &[broadcast, collective, independent, stripes, sieving, prefetch, random, aggregate, reread, hdf5, split_file];

/// All that applies.
pub(crate) fn advise(s: &Situation) -> Vec<Advice> {
    RULES.iter().filter_map(|rule| rule(s)).collect()
}

/// Policies of which a file can follow one in each direction: who issues its requests.
const EXCLUSIVE: [&str; 4] = ["collective-buffering", "independent-requests", "data-sieving", "file-per-process"];

/// Keeps one of the [`EXCLUSIVE`] policies for the reads and one for the writes of a file: that of the class that moves most bytes.
pub(crate) fn settle(classes: &mut [GlobalClass]) {
    let exclusive = |a: &Advice| EXCLUSIVE.contains(&a.policy.as_str());
    for direction in [Mix::ReadOnly, Mix::WriteOnly] {
        let concerns = |c: &GlobalClass| c.mix == direction || c.mix == Mix::ReadWrite;
        let kept = classes
            .iter()
            .filter(|c| concerns(c))
            .flat_map(|c| c.advice.iter().filter(|a| exclusive(a)).map(|a| (c.bytes, a.policy.clone())))
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        let Some((_, policy)) = kept else { continue };
        for c in classes.iter_mut().filter(|c| concerns(c)) {
            c.advice.retain(|a| !exclusive(a) || a.policy == policy);
        }
    }
}

fn advice(policy: &str, why: String, hints: &[(&str, &dyn Display)]) -> Option<Advice> {
    let hints = hints.iter().map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
    Some(Advice { policy: policy.into(), why, hints })
}

impl Situation<'_> {
    fn small(&self) -> bool {
        matches!(self.size, Size::UniformSmall | Size::VariableSmall)
    }

    fn reads(&self) -> bool {
        self.mix == Mix::ReadOnly
    }

    fn writes(&self) -> bool {
        self.mix == Mix::WriteOnly
    }

    /// Arguments of `lfs setstripe` for new files in the folder of this one.
    fn lfs_setstripe(&self, count: u64, unit: u64) -> String {
        format!("-c {count} -S {} {}", lfs_size(unit), lfs_folder(self.file))
    }

    /// Bytes moved over bytes spanned.
    fn density(&self) -> f64 {
        self.tally.bytes as f64 / self.tally.span().max(1) as f64
    }
}

/// A size as `lfs` takes it.
pub(crate) fn lfs_size(bytes: u64) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}k", bytes >> 10),
        _ => bytes.to_string(),
    }
}

/// The folder of a file, if a shell takes its name as it is; else `DIR`.
pub(crate) fn lfs_folder(file: Option<&str>) -> &str {
    let folder = file.and_then(|f| f.rsplit_once('/')).map(|(folder, _)| folder).filter(|f| !f.is_empty());
    let plain =
        |f: &&str| !f.starts_with('-') && f.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-+:@%=".contains(&b));
    folder.filter(plain).unwrap_or("DIR")
}

/// Beginnings of the names of hints, which are typed as `name=value`.
const HINTS: [&str; 6] = ["romio_", "cb_", "striping_", "io_ompio_", "nc_", "ind_"];

impl Advice {
    /// The commands and the hints, each as it is typed, and the prose.
    pub(crate) fn parts(&self) -> (Vec<String>, BTreeMap<String, String>, String) {
        let (mut commands, mut hints, mut prose) = (Vec::new(), BTreeMap::new(), self.why.clone());
        for (name, value) in &self.hints {
            if name.contains(' ') {
                commands.push(format!("{name} {value}"));
            } else if HINTS.iter().any(|h| name.starts_with(h)) {
                hints.insert(name.clone(), value.clone());
            } else if name == "call" {
                prose = format!("{value}: {prose}");
            } else {
                prose = format!("{prose}; {name} {value}");
            }
        }
        (commands, hints, prose)
    }
}

/// `x` in binary units, as people write sizes.
pub(crate) fn size(x: u64) -> String {
    match x {
        _ if x >= 1 << 30 && x.is_multiple_of(1 << 20) => format!("{} GiB", x as f64 / f64::from(1 << 30)),
        _ if x >= 1 << 20 => format!("{:.3} MiB", x as f64 / f64::from(1 << 20)).replace(".000", ""),
        _ if x >= 1 << 10 => format!("{:.3} KiB", x as f64 / f64::from(1 << 10)).replace(".000", ""),
        _ => format!("{x} bytes"),
    }
}

/// Every rank reads the same small file: one reads, all get it.
fn broadcast(s: &Situation) -> Option<Advice> {
    if s.class != G::GlobalSequential || !s.reads() {
        return None;
    }
    let why = format!("{} ranks read the same {}", s.ranks, size(s.tally.span()));
    if s.tally.span() <= LIMITS.broadcast {
        let bytes = format!("{} bytes from rank 0", s.tally.span());
        return advice("read-once-and-broadcast", why, &[("MPI_Bcast", &bytes), ("romio_cb_read", &"enable")]);
    }
    let mirror = "lfs mirror create, or a copy on each node's local storage";
    advice(
        "read-collectively",
        why,
        &[("romio_cb_read", &"enable"), ("lfs setstripe", &"-c -1 DIR"), ("mirror", &mirror)],
    )
}

/// Small pieces that interleave: a few ranks gather them into large ones.
fn collective(s: &Situation) -> Option<Advice> {
    if !matches!(s.class, G::InterleavedSequential | G::GlobalStrided)
        || !s.small()
        || s.tally.accesses < LIMITS.worthwhile
    {
        return None;
    }
    let why =
        format!("requests of {} from {} ranks share stripes of {}", size(s.tally.sizes.1), s.ranks, size(s.stripe));
    let buffer = s.stripe.saturating_mul(16).clamp(s.stripe, LIMITS.collective_buffer.max(s.stripe));
    let call = if s.reads() { "MPI_File_read_at_all" } else { "MPI_File_write_at_all" };
    advice(
        "collective-buffering",
        why,
        &[
            ("call", &call),
            (if s.reads() { "romio_cb_read" } else { "romio_cb_write" }, &"enable"),
            ("cb_buffer_size", &buffer),
            ("striping_unit", &s.stripe),
            ("io_ompio_bytes_per_agg", &buffer),
        ],
    )
}

/// Large disjoint pieces need no exchange between ranks.
fn independent(s: &Situation) -> Option<Advice> {
    let apart = matches!(s.class, G::PartitionedSequential | G::InterleavedSequential | G::PartitionedStrided);
    if !apart || s.small() || s.size == Size::Variable {
        return None;
    }
    let why = format!(
        "requests of {} and more fill whole stripes of {}; collective buffering adds nothing",
        size(s.tally.sizes.0),
        size(s.stripe)
    );
    advice("independent-requests", why, &[("romio_cb_read", &"disable"), ("romio_cb_write", &"disable")])
}

/// Many ranks in one large file: many stripes, on the boundaries of the ranks' parts.
fn stripes(s: &Situation) -> Option<Advice> {
    if s.ranks < 2 || s.tally.span() < s.stripe.saturating_mul(4) || s.class == G::GlobalSequential {
        return None;
    }
    let count = (s.tally.span() / s.stripe).min(s.ranks as u64);
    let aligned = s.starts.iter().all(|o| o.is_multiple_of(s.stripe));
    let why = format!("{} ranks move {} in one file", s.ranks, size(s.tally.bytes));
    // the largest power of two on which all parts begin, within what Lustre takes
    let unit = s.starts.iter().fold(0u64, |all, &o| all | o).trailing_zeros().min(32);
    let unit = if aligned { s.stripe } else { (1u64 << unit).max(s.stripe) };
    advice(
        "striping",
        why,
        &[("lfs setstripe", &s.lfs_setstripe(count, unit)), ("striping_factor", &count), ("striping_unit", &unit)],
    )
}

/// Independent strides: one large read and picking from it, if it holds mostly what is wanted.
fn sieving(s: &Situation) -> Option<Advice> {
    let strided = matches!(s.class, G::GlobalStrided | G::PartitionedStrided);
    if !strided || !s.small() || s.tally.accesses < LIMITS.worthwhile {
        return None;
    }
    let per_rank = s.density();
    let (setting, cost) = if per_rank >= 0.25 { ("enable", "less") } else { ("disable", "more") };
    let wanted = 100.0 * per_rank.min(1.0);
    let why = format!(
        "{wanted:.0} % of the range is wanted: few large requests for all of it cost {cost} than many small ones"
    );
    let hint = if s.writes() { "romio_ds_write" } else { "romio_ds_read" };
    advice("data-sieving", why, &[(hint, &setting)])
}

/// Reading on: tell the system, far enough ahead.
fn prefetch(s: &Situation) -> Option<Advice> {
    let onwards = matches!(s.class, G::SingleRank | G::PartitionedSequential);
    let sequential = s.density() >= LIMITS.dense;
    if !onwards || !sequential || !s.reads() || s.tally.accesses < LIMITS.worthwhile {
        return None;
    }
    let ahead = s.tally.sizes.1.saturating_mul(8).clamp(1 << 20, 64 << 20);
    let why = format!("{} requests read on without a gap", s.tally.accesses);
    advice("prefetch", why, &[("posix_fadvise", &"POSIX_FADV_SEQUENTIAL"), ("distance_bytes", &ahead)])
}

/// Small reads here and there: no reading ahead.
fn random(s: &Situation) -> Option<Advice> {
    if s.class != G::NonSequential || !s.reads() || !s.small() || s.tally.accesses < LIMITS.worthwhile {
        return None;
    }
    let why = format!("{} non-sequential reads of up to {}", s.tally.accesses, size(s.tally.sizes.1));
    advice("no-read-ahead", why, &[("posix_fadvise", &"POSIX_FADV_RANDOM"), ("romio_ds_read", &"disable")])
}

/// Tiny writes in a row: gather them before they leave the node.
fn aggregate(s: &Situation) -> Option<Advice> {
    let onwards = matches!(s.class, G::SingleRank | G::PartitionedSequential);
    if !onwards
        || !s.writes()
        || s.tally.sizes.1 >= LIMITS.aggregated
        || s.tally.accesses < LIMITS.worthwhile
        || s.density() < LIMITS.dense
    {
        return None;
    }
    let why = format!("{} writes of at most {} follow each other", s.tally.accesses, size(s.tally.sizes.1));
    advice("write-behind", why, &[("setvbuf", &(4u64 << 20)), ("buffer_bytes", &(4u64 << 20))])
}

/// Bytes that are read again should stay.
fn reread(s: &Situation) -> Option<Advice> {
    if !s.again || !s.reads() {
        return None;
    }
    let why = format!(
        "{} of the {} read are re-reads",
        size(s.tally.bytes.saturating_sub(s.tally.span())),
        size(s.tally.bytes)
    );
    advice("keep-in-cache", why, &[("posix_fadvise", &"POSIX_FADV_WILLNEED"), ("cache_bytes", &s.tally.span())])
}

/// HDF5 files whose requests straddle stripes.
fn hdf5(s: &Situation) -> Option<Advice> {
    if !s.file.is_some_and(is_hdf5_name)
        || s.tally.span() < s.stripe.saturating_mul(4)
        || s.starts.iter().all(|o| o.is_multiple_of(s.stripe))
    {
        return None;
    }
    let why = format!("requests do not begin on stripes of {}", size(s.stripe));
    let alignment = format!("{}, {}", s.tally.sizes.1.min(s.stripe), s.stripe);
    advice("hdf5-alignment", why, &[("H5Pset_alignment", &alignment), ("H5Pset_coll_metadata_write", &"true")])
}

/// Many ranks at random places of one file that is written: each its own.
fn split_file(s: &Situation) -> Option<Advice> {
    if s.class != G::NonSequential || !s.writes() || s.ranks < 2 || !s.small() || s.tally.accesses < LIMITS.worthwhile {
        return None;
    }
    let why = format!("{} ranks write small, non-sequential requests into one file", s.ranks);
    advice("file-per-process", why, &[("subfiling", &"H5FD_SUBFILING, or ADIOS2 BP5, or one file a rank")])
}

/// True for the usual endings of HDF5 and netCDF files.
pub(crate) fn is_hdf5_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [".h5", ".hdf5", ".hdf", ".nc", ".nc4", ".he5"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::report::Classifier;

    fn class(mix: Mix, bytes: u64, policies: &[&str]) -> GlobalClass {
        GlobalClass {
            start_s: 0.0,
            end_s: 1.0,
            ranks: vec![0, 1],
            mix,
            sequentiality: G::NonSequential,
            size: Size::UniformSmall,
            staggered: false,
            bytes,
            accesses: 8,
            classifier: Classifier::Rules,
            advice: policies.iter().filter_map(|p| advice(p, String::new(), &[])).collect(),
        }
    }

    fn policies(c: &GlobalClass) -> Vec<&str> {
        c.advice.iter().map(|a| a.policy.as_str()).collect()
    }

    #[test]
    fn policies_that_exclude_each_other_are_not_advised_for_one_direction() {
        let mut all = [
            class(Mix::WriteOnly, 10, &["file-per-process", "striping"]),
            class(Mix::WriteOnly, 1000, &["collective-buffering"]),
            class(Mix::ReadOnly, 5, &["data-sieving", "prefetch"]),
        ];
        settle(&mut all);
        assert_eq!(policies(&all[0]), ["striping"]);
        assert_eq!(policies(&all[1]), ["collective-buffering"]);
        assert_eq!(policies(&all[2]), ["data-sieving", "prefetch"]);
    }

    #[test]
    fn the_command_for_stripes_can_be_pasted() {
        let tally = Tally::default();
        let command = |file| {
            let s = Situation {
                file,
                ranks: 8,
                class: G::NonSequential,
                mix: Mix::WriteOnly,
                size: Size::UniformSmall,
                tally: &tally,
                starts: &[],
                again: false,
                stripe: 1 << 20,
            };
            s.lfs_setstripe(8, 1 << 20)
        };
        assert_eq!(command(Some("/scratch/run/a.h5")), "-c 8 -S 1M /scratch/run");
        for odd in [None, Some("a.h5"), Some("/scratch/my run; rm x/a.h5"), Some("-x/a.h5")] {
            assert_eq!(command(odd), "-c 8 -S 1M DIR");
        }
    }
}
