//! The rules: for each code a function, one line here, and its text and thresholds in `rules.toml`.

mod file;
mod library;
mod loaders;
mod meta;
mod mpiio;
mod posix;
mod rank;
mod stdio;
mod sums;
mod time;
mod trace;

use std::collections::HashSet;

use super::book::Rule;
use super::facts::{Facts, rows};
use super::outcome::Outcome;
use crate::record::{CounterModule, FileId};
use sums::Calls;

/// Checks a trace; `None` if the trace does not have what that needs.
pub(super) type Check = fn(&Facts, &Rule) -> Option<Outcome>;

/// All rules.
pub(super) const RULES: &[(&str, Check)] = &[
    ("IOP-POSIX-001", posix::small_reads),
    ("IOP-POSIX-002", posix::small_writes),
    ("IOP-POSIX-003", posix::unaligned_file),
    ("IOP-POSIX-004", |f, r| {
        let (some, of) = (&["MEM_NOT_ALIGNED"], &["READS", "WRITES"]);
        Calls {
            module: CounterModule::Posix,
            some,
            of,
            names: ["unaligned", "of"],
            words: ["buffers off the boundaries", "transfers"],
        }
        .check(f, r)
    }),
    ("IOP-POSIX-005", posix::random_reads),
    ("IOP-POSIX-006", posix::random_writes),
    ("IOP-POSIX-007", posix::sequential),
    ("IOP-POSIX-008", posix::reread),
    ("IOP-POSIX-009", posix::overwrite),
    ("IOP-POSIX-010", posix::read_modify_write),
    ("IOP-POSIX-011", posix::shuffled_whole_file),
    ("IOP-POSIX-012", posix::tiny_requests),
    ("IOP-POSIX-013", |f, r| {
        let (some, of) = (&["SEEKS"], &["READS", "WRITES"]);
        Calls { module: CounterModule::Posix, some, of, names: ["seeks", "of"], words: ["seeks", "transfers"] }
            .check(f, r)
    }),
    ("IOP-POSIX-014", |f, r| {
        let (some, of) = (&["RW_SWITCHES"], &["READS", "WRITES"]);
        Calls { module: CounterModule::Posix, some, of, names: ["switches", "of"], words: ["switches", "transfers"] }
            .check(f, r)
    }),
    ("IOP-POSIX-015", posix::slow_tail),
    ("IOP-POSIX-016", posix::holes),
    ("IOP-POSIX-017", posix::mix),
    ("IOP-POSIX-018", posix::mmap),
    ("IOP-MPIIO-001", mpiio::not_used),
    ("IOP-MPIIO-002", mpiio::independent_reads),
    ("IOP-MPIIO-003", mpiio::independent_writes),
    ("IOP-MPIIO-004", mpiio::collective),
    ("IOP-MPIIO-005", mpiio::in_vain),
    ("IOP-MPIIO-006", mpiio::aggregators),
    ("IOP-MPIIO-007", mpiio::sieving),
    ("IOP-MPIIO-008", time::could_overlap),
    ("IOP-MPIIO-009", |f, r| {
        let (some, of) = (&["SYNCS"], &["INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES"]);
        Calls { module: CounterModule::Mpiio, some, of, names: ["syncs", "of"], words: ["syncs", "writes"] }.check(f, r)
    }),
    ("IOP-MPIIO-010", mpiio::opens),
    ("IOP-STDIO-001", stdio::share),
    ("IOP-STDIO-002", |f, r| {
        let (some, of) = (&["FLUSHES"], &["WRITES"]);
        Calls { module: CounterModule::Stdio, some, of, names: ["flushes", "writes"], words: ["flushes", "writes"] }
            .check(f, r)
    }),
    ("IOP-STDIO-003", stdio::chatter),
    ("IOP-META-001", meta::time),
    ("IOP-META-002", meta::churn),
    ("IOP-META-003", |f, r| {
        let (some, of) = (&["STATS"], &["OPENS"]);
        Calls { module: CounterModule::Posix, some, of, names: ["stats", "opens"], words: ["stats", "opens"] }
            .check(f, r)
    }),
    ("IOP-META-004", |f, r| {
        let (some, of) = (&["FSYNCS", "FDSYNCS"], &["WRITES"]);
        Calls { module: CounterModule::Posix, some, of, names: ["syncs", "writes"], words: ["syncs", "writes"] }
            .check(f, r)
    }),
    ("IOP-META-005", meta::file_per_process),
    ("IOP-META-006", meta::small_files),
    ("IOP-META-007", meta::path_search),
    ("IOP-META-008", meta::burst),
    ("IOP-META-009", meta::serial_opens),
    ("IOP-RANK-001", rank::time),
    ("IOP-RANK-002", rank::volume),
    ("IOP-RANK-003", rank::one),
    ("IOP-RANK-004", rank::last_again),
    ("IOP-RANK-005", rank::burst_spread),
    ("IOP-RANK-006", rank::turns),
    ("IOP-RANK-007", rank::out_of_step),
    ("IOP-RANK-008", rank::idle),
    ("IOP-FILE-001", file::false_sharing),
    ("IOP-FILE-002", file::conflicts),
    ("IOP-FILE-003", file::few_stripes),
    ("IOP-FILE-004", file::many_stripes),
    ("IOP-FILE-005", file::target_imbalance),
    ("IOP-FILE-006", file::wrong_place),
    ("IOP-FILE-007", file::scratch_data),
    ("IOP-FILE-008", file::all_read_all),
    ("IOP-LIB-001", library::metadata),
    ("IOP-LIB-002", library::no_collective),
    ("IOP-LIB-003", library::chunks),
    ("IOP-LIB-004", |f, r| {
        let (some, of) = (&["FLUSHES"], &["WRITES"]);
        Calls {
            module: CounterModule::H5d,
            some,
            of,
            names: ["flushes", "writes"],
            words: ["flushes", "dataset writes"],
        }
        .check(f, r)
    }),
    ("IOP-LIB-005", |f, r| {
        let (some, of) = (
            &["POINT_SELECTS", "IRREGULAR_HYPERSLAB_SELECTS"],
            &["POINT_SELECTS", "IRREGULAR_HYPERSLAB_SELECTS", "REGULAR_HYPERSLAB_SELECTS"],
        );
        Calls {
            module: CounterModule::H5d,
            some,
            of,
            names: ["selections", "of"],
            words: ["point and irregular selections", "selections"],
        }
        .check(f, r)
    }),
    ("IOP-LIB-006", library::netcdf),
    ("IOP-ML-001", loaders::sample_files),
    ("IOP-ML-002", loaders::epochs),
    ("IOP-ML-003", loaders::starved),
    ("IOP-TIME-001", time::not_io),
    ("IOP-TIME-002", time::io_bound),
    ("IOP-TIME-003", time::checkpoint_interval),
    ("IOP-TIME-004", time::burst_buffer),
    ("IOP-TIME-005", time::slow_bursts),
    ("IOP-TIME-006", time::growing_bursts),
    ("IOP-TIME-007", time::colliding_periods),
    ("IOP-TIME-008", time::period_change),
    ("IOP-TIME-009", time::startup_storm),
    ("IOP-TRACE-101", trace::unreduced),
    ("IOP-TRACE-102", trace::anonymised),
    ("IOP-TRACE-103", trace::job_clock),
    ("IOP-TRACE-104", trace::unnamed),
];

/// The time in files by the outermost layer that counted it: MPI-IO, else POSIX and STDIO; of a rank, or the sum over all ranks.
fn outermost(f: &Facts, each: &mut dyn FnMut(FileId, Option<u32>, f64)) {
    let mut above: HashSet<FileId> = HashSet::new();
    let times = ["F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"];
    for tables in [[f.mpiio, None], [f.posix, f.stdio]] {
        let all = tables.into_iter().flatten().flat_map(|t| rows(t, [], times));
        let of_layer: Vec<_> = all.filter(|row| !above.contains(&row.file)).collect();
        for row in of_layer {
            each(row.file, row.rank, row.real.iter().map(|t| if t.is_finite() { t.max(0.0) } else { 0.0 }).sum());
            above.insert(row.file);
        }
    }
}
