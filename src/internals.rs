//! Private modules for the tests, benches and examples of this repository and for the crates beside the library. **Not a stable
//! interface:** anything here may change or go with any release.

#![allow(missing_docs, reason = "the modules themselves are documented")]

/// Modules of the crate by the same path, with all that is public in them.
macro_rules! open {
    ($($(#[$condition:meta])* $room:ident)*) => {
        $($(#[$condition])* pub mod $room { pub use crate::$room::*; })*
    };
    ($room:ident: $($part:ident)*) => {
        $(pub mod $part { pub use crate::$room::$part::*; })*
    };
}

open! {
    #[cfg(feature = "render")]
    answers
    draft
    facts
    nest
    render
    #[cfg(feature = "serve")]
    serve
    signal
    transform
    #[cfg(feature = "generate")]
    workload
}

pub mod dfg {
    pub use crate::dfg::graph::*;
}

pub mod formats {
    use std::io::Read;

    use crate::error::Result;
    use crate::formats::{ReadOptions, Source};

    pub use crate::formats::clock::origin_of;
    pub use crate::formats::series::{Readings, direction, per_second};

    open! { formats: chrome darshan dftracer strace tail }

    /// The decompressed content of a source.
    ///
    /// # Errors
    /// Of reading, and [`ErrorKind::Limit`](crate::ErrorKind::Limit) if it does not fit.
    pub fn whole(source: &Source, options: &ReadOptions) -> Result<Vec<u8>> {
        source.read_all(options)
    }

    /// The content of a source in memory as it is stored.
    ///
    /// # Errors
    /// Of reading.
    pub fn stored(source: &Source, options: &ReadOptions) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        source.stored_from(0, options)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

pub mod online {
    open! { online: change checkpoint jobs live source }
}

pub mod period {
    open! { period: bursts chains detectors methods scores spectrum validity }
}
