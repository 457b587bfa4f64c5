//! The thresholds of classification.
//!
//! "h5bench": chosen by hand with the runs of `tests/unit/classify_h5bench.rs`. How sensitive the classes are to a value was not measured.
//!
//! | threshold | value | meaning | set on |
//! |---|---|---|---|
//! | `LARGE` | 16 KiB | accesses above it are one size class; below, each size is one | h5bench: HDF5's own have up to 600 bytes |
//! | `MOST_SIZES` | 16 | size classes of one rank; other sizes are one | bound on memory |
//! | `TINY` | 1 KiB | accesses up to it may be a library's own, whatever the data | h5bench: HDF5's own have up to 600 bytes |
//! | `BESIDE` | 64 | accesses of the data's mean size over this are small beside them | h5bench |
//! | `NEXT_TO_NOTHING` | 32 | small accesses with more than the data's bytes over this are data | h5bench |
//! | `BETWEEN` | 0.5 | share of its time with data, from which a size class lies between the data | more often than not |
//! | `ORDERED` | 0.9 | share of the data, in accesses and in bytes, that has an order | h5bench, and random data with metadata |
//! | `FEWEST` | 6 | fewer accesses of a rank may be in order by chance | h5bench |
//! | `FEW` | 8 | a stretch with its neighbour's accesses over this is joined to it | h5bench: ranks out of step |
//! | `MOST_JOINED` | 2^18 | stretches of a file, beyond which neighbours are not joined | bound on memory |
//! | `NEAR` | 16 | a step may miss the stride by the request over this | library bytes between datasets |
//! | `SHORT` | 2 | this many accesses always look like a stride | two points |
//! | `FREE` | 2 | accesses that each loop of a nest may choose for itself | not recorded |
//! | `PROVES` | 10 | passes up to this long prove a loop that is seen twice | not recorded |
//! | `DEEPEST` | 6 | loops of a nest | not recorded |
//! | `LONG` | 64 | accesses without order after which none is expected | bound on time |
//! | `DISORDER` | 0.31 | cost of an access without order | not recorded |
//! | `LOOP` | 0.6 | cost of each further loop of a regular stretch, which costs 1 | not recorded |
//! | `GUESS` | 0.3 | cost of an outermost loop that is a guess | not recorded |
//! | `MIXED` | 0.5 | cost of reads and writes in turns | not recorded |
//! | `SIZES` | 0.1 | cost of sizes that differ | not recorded |
//! | `JITTER` | 0.1 | cost of steps that miss the stride | not recorded |
//! | `ONCE` | 0.2 | cost of a stride seen once | not recorded |
//! | `FEWEST_STEPS` | 7 | of fewer steps more than half may be equal by chance | not recorded |
//! | `SURE` | 0.9 | probability from which the network is believed | not recorded |
//! | `SAME` | 0.9 | share of their union that ranges have in common if they are the same | not recorded |
//! | `NARROW` | 16 | gaps up to the piece beside them over this are none | library bytes between datasets |
//! | `RARE` | 4 | a gap must be this many times rarer than rounds of the ranks | not recorded |
//! | `MERGED` | 8192 | accesses of all ranks that are merged to find gaps | bound on memory |
//! | `BACK_TO_BACK` | 0.95 | share of a chain that follows, from which its sizes are the steps | not recorded |
//! | `USUAL_STEPS` | 8 | most frequent steps of a chain | not recorded |
//! | `USUAL_SHARE` | 0.6 | share that these make up if the chain has an order | not recorded |
//! | `FEWEST_OF_RANK` | 2 | accesses of a rank that are too few for the rules | not recorded |

pub(super) const LARGE: u64 = 16 << 10;
pub(super) const MOST_SIZES: usize = 16;
pub(super) const TINY: u64 = 1 << 10;
pub(super) const BESIDE: u64 = 64;
pub(super) const NEXT_TO_NOTHING: u64 = 32;
pub(super) const BETWEEN: f64 = 0.5;
pub(super) const ORDERED: f64 = 0.9;
pub(super) const FEWEST: u64 = 6;
pub(super) const FEW: u64 = 8;
pub(super) const MOST_JOINED: usize = 1 << 18;
pub(super) const NEAR: u64 = 16;
pub(super) const SHORT: u64 = 2;
pub(super) const FREE: u64 = 2;
pub(super) const PROVES: u64 = 10;
pub(super) const DEEPEST: usize = 6;
pub(super) const LONG: u64 = 64;
pub(super) const DISORDER: f64 = 0.31;
pub(super) const LOOP: f64 = 0.6;
pub(super) const GUESS: f64 = 0.3;
pub(super) const MIXED: f64 = 0.5;
pub(super) const SIZES: f64 = 0.1;
pub(super) const JITTER: f64 = 0.1;
pub(super) const ONCE: f64 = 0.2;
pub(super) const FEWEST_STEPS: u64 = 7;
pub(super) const SURE: f64 = 0.9;
pub(super) const SAME: f64 = 0.9;
pub(super) const NARROW: u64 = 16;
pub(super) const RARE: usize = 4;
pub(super) const MERGED: usize = 8192;
pub(super) const BACK_TO_BACK: f64 = 0.95;
pub(super) const USUAL_STEPS: usize = 8;
pub(super) const USUAL_SHARE: f64 = 0.6;
pub(super) const FEWEST_OF_RANK: u64 = 2;
