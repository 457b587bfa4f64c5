//! From records to bandwidth over time.

pub mod profile;

/// One transfer: `bytes` moved evenly over `[start, end)`, in seconds.
///
/// `end` may equal `start` (a point in time); it is never before it, and all three are finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Seconds.
    pub start: f64,
    /// Seconds, at or after `start`.
    pub end: f64,
    /// Bytes moved.
    pub bytes: f64,
}
