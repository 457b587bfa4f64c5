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

use super::book::Rule;
use super::facts::Facts;
use super::outcome::Outcome;
use crate::facts::{CALLS, Count, Measure, TIMES};
use crate::record::CounterModule::{Mpiio, Posix, Stdio};
use sums::calls;

/// Checks a trace; `None` if the trace does not have what that needs.
pub(super) type Check = fn(&Facts, &Rule) -> Option<Outcome>;

const WRITING: &[Measure] = &[Measure::WriteS];

/// All rules.
pub(super) const RULES: &[(&str, Check)] = &[
    ("IOP-POSIX-001", |f, r| posix::small(f, r, 0)),
    ("IOP-POSIX-002", |f, r| posix::small(f, r, 1)),
    ("IOP-POSIX-003", posix::unaligned_file),
    ("IOP-POSIX-004", |f, r| {
        calls(
            f,
            r,
            Posix,
            (Count::MemUnaligned, &CALLS),
            &[],
            ["unaligned", "of", "buffers off the boundaries", "transfers"],
        )
    }),
    ("IOP-POSIX-005", |f, r| posix::random(f, r, 0)),
    ("IOP-POSIX-006", |f, r| posix::random(f, r, 1)),
    ("IOP-POSIX-007", posix::sequential),
    ("IOP-POSIX-008", |f, r| posix::again(f, r, 0)),
    ("IOP-POSIX-009", |f, r| posix::again(f, r, 1)),
    ("IOP-POSIX-010", posix::read_modify_write),
    ("IOP-POSIX-012", posix::tiny_requests),
    ("IOP-POSIX-013", |f, r| {
        calls(f, r, Posix, (Count::Seeks, &CALLS), &[Measure::MetaS], ["seeks", "of", "seeks", "transfers"])
    }),
    ("IOP-POSIX-014", |f, r| {
        calls(f, r, Posix, (Count::Switches, &CALLS), &TIMES[..2], ["switches", "of", "switches", "transfers"])
    }),
    ("IOP-POSIX-015", posix::slow_tail),
    ("IOP-POSIX-018", posix::mmap),
    ("IOP-MPIIO-001", mpiio::not_used),
    ("IOP-MPIIO-002", |f, r| mpiio::independent(f, r, 0)),
    ("IOP-MPIIO-003", |f, r| mpiio::independent(f, r, 1)),
    ("IOP-MPIIO-004", mpiio::collective),
    ("IOP-MPIIO-005", mpiio::in_vain),
    ("IOP-MPIIO-006", mpiio::aggregators),
    ("IOP-MPIIO-007", mpiio::sieving),
    ("IOP-MPIIO-008", time::could_overlap),
    ("IOP-MPIIO-009", |f, r| {
        calls(f, r, Mpiio, (Count::Syncs, &[Count::Writes]), WRITING, ["syncs", "of", "syncs", "writes"])
    }),
    ("IOP-STDIO-001", stdio::share),
    ("IOP-STDIO-002", |f, r| {
        calls(f, r, Stdio, (Count::Flushes, &[Count::Writes]), WRITING, ["flushes", "writes", "flushes", "writes"])
    }),
    ("IOP-STDIO-003", stdio::chatter),
    ("IOP-META-001", meta::time),
    ("IOP-META-002", meta::churn),
    ("IOP-META-003", meta::stats),
    ("IOP-META-004", |f, r| {
        calls(f, r, Posix, (Count::Syncs, &[Count::Writes]), WRITING, ["syncs", "writes", "syncs", "writes"])
    }),
    ("IOP-META-005", meta::file_per_process),
    ("IOP-META-006", meta::small_files),
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
    ("IOP-FILE-005", file::target_imbalance),
    ("IOP-FILE-006", file::wrong_place),
    ("IOP-FILE-008", file::all_read_all),
    ("IOP-LIB-001", library::metadata),
    ("IOP-LIB-002", library::no_collective),
    ("IOP-ML-001", loaders::sample_files),
    ("IOP-ML-002", loaders::epochs),
    ("IOP-TIME-001", time::not_io),
    ("IOP-TIME-002", time::io_bound),
    ("IOP-TIME-003", time::checkpoint_interval),
    ("IOP-TIME-004", time::burst_buffer),
    ("IOP-TIME-005", time::slow_bursts),
    ("IOP-TIME-006", time::growing_bursts),
    ("IOP-TIME-008", time::period_change),
    ("IOP-TIME-009", time::startup_storm),
    ("IOP-TRACE-101", trace::unreduced),
    ("IOP-TRACE-103", trace::job_clock),
    ("IOP-TRACE-104", trace::unnamed),
];
