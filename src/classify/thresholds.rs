//! The thresholds that tell a file's data from a library's own accesses ([`super::size_class`], [`super::metadata_filter`]).
//!
//! "h5bench": chosen by hand with the runs of `tests/unit/classify_h5bench.rs`; how sensitive the classes are to it was not measured.
//!
//! | threshold | value | meaning | set on |
//! |---|---|---|---|
//! | `LARGE` | 16 KiB | accesses above it are one size class, all sizes below have one each | h5bench: HDF5's own have up to 600 bytes |
//! | `MOST_SIZES` | 16 | size classes of one rank, other sizes are one | bound on memory |
//! | `TINY` | 1 KiB | accesses up to it may be a library's own, whatever the data | h5bench: HDF5's own have up to 600 bytes |
//! | `BESIDE` | 64 | accesses of the data's mean size over this are small beside them | h5bench |
//! | `NEXT_TO_NOTHING` | 32 | small accesses with more than the data's bytes over this are data | h5bench |
//! | `BETWEEN` | 0.5 | share of its time in which there are data, for a size class that lies between them | more often than not |
//! | `ORDERED` | 0.9 | share of the data, in accesses and in bytes, that has an order | h5bench, and random data with metadata |
//! | `FEWEST` | 6 | fewer accesses of a rank may be in order by chance | h5bench |
//! | `FEW` | 8 | a stretch with its neighbour's accesses over this goes with it | h5bench: ranks out of step |
//! | `ASKED` | 64 | accesses after which a sub-stream is asked whether it has an order | as `LONG` of a stream; bound on time |
//! | `MOST_JOINED` | 2^18 | stretches of a file, beyond which neighbours are not joined | bound on memory |

pub(super) const LARGE: u64 = 16 << 10;
pub(super) const MOST_SIZES: usize = 16;
pub(super) const TINY: u64 = 1 << 10;
pub(super) const BESIDE: u64 = 64;
pub(super) const NEXT_TO_NOTHING: u64 = 32;
pub(super) const BETWEEN: f64 = 0.5;
pub(super) const ORDERED: f64 = 0.9;
pub(super) const FEWEST: u64 = 6;
pub(super) const FEW: u64 = 8;
pub(super) const ASKED: u64 = 64;
pub(super) const MOST_JOINED: usize = 1 << 18;
