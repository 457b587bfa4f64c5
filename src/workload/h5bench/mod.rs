//! The workloads of h5bench: how writes and reads of HDF5 datasets become requests to the file.
//!
//! Datasets have a contiguous layout and follow each other behind a header. Requests of the library for its own metadata are left
//! out.

mod aggregators;
pub(super) mod exerciser;
pub(super) mod metadata;
pub(super) mod write;
