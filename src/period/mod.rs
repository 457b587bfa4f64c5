//! From a bandwidth signal to its periods.
