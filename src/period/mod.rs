//! From a bandwidth signal to its periods.

pub mod chains;
