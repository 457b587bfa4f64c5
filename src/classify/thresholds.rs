//! The thresholds that tell a file's data from a library's own accesses ([`super::size_class`], [`super::metadata_filter`]).
//!
//! | threshold | value | meaning | set on |
//! |---|---|---|---|
//! | `LARGE` | 16 KiB | larger accesses are one size class, smaller ones one each | HDF5: its own accesses have up to 600 bytes in h5bench |
//! | `MOST_SIZES` | 16 | sizes told apart of one rank | memory; HDF5 uses about ten |
//! | `TINY` | 1 KiB | accesses up to this size may be a library's own, whatever the data | h5bench: 600 bytes at most |
//! | `BESIDE` | 1/64 | accesses of this part of the data's mean size are small beside them | h5bench: rows of 16 bytes stay data |
//! | `NEXT_TO_NOTHING` | 1/32 | small accesses with more of the data's bytes than this have weight | h5bench: metadata stress |
//! | `BETWEEN` | 0.5 | share of its time that a class shares with the data to lie between them | by definition: more than not |
//! | `ORDERED` | 0.9 | share of the data, in accesses and bytes, that has an order | random places with metadata (`tests/classify_h5bench.rs`) |
//! | `FEWEST` | 6 | fewer accesses of a rank may be in order by chance | the same |
//! | `FEW` | 1/8 | a stretch of this part of its neighbour's accesses goes with it | `h5bench_read` by name |
//! | `ASKED` | 64 | accesses after which a sub-stream is asked whether it has an order | time; as long as `LONG` of a stream |
//! | `MOST_JOINED` | 2^18 | stretches of a file beyond which neighbours are not joined | memory |

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
