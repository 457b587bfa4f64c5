//! Bytes as whole numbers in JSON. They are summed in floating point, since a request may be split over bins.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::Spread;

/// Smallest, middle and largest number of bytes.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ByteSpread {
    /// Smallest number of bytes.
    min: u64,
    /// Median number of bytes.
    median: u64,
    /// Largest number of bytes.
    max: u64,
}

/// One number.
pub(crate) fn number<S: Serializer>(bytes: &f64, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_u64(bytes.round() as u64)
}

/// A number that need not be known.
pub(crate) fn known<S: Serializer>(bytes: &Option<f64>, s: S) -> Result<S::Ok, S::Error> {
    bytes.map(|b| b.round() as u64).serialize(s)
}

/// A spread.
pub(crate) fn spread<S: Serializer>(bytes: &Spread, s: S) -> Result<S::Ok, S::Error> {
    let whole = |b: f64| b.round() as u64;
    ByteSpread { min: whole(bytes.min), median: whole(bytes.median), max: whole(bytes.max) }.serialize(s)
}
