//! Only this library reads and writes formats: their traits may gain methods.

/// A format of this library.
pub trait Sealed {}
