//! Modules for the program, the benches and the examples of this repository. **Not a stable interface:** anything here may change
//! or go with any release.

macro_rules! rooms {
    ($($(#[$attribute:meta])* $room:ident)*) => {
        $($(#[$attribute])* pub mod $room { pub use crate::$room::*; })*
    };
}

rooms! {
    /// All answers on a trace.
    #[cfg(feature = "render")]
    answers
    /// Time in I/O, and what was done with each file.
    facts
    /// Loop nests.
    nest
    /// Reports as text, pictures and JSON.
    render
    /// The HTTP interface.
    #[cfg(feature = "serve")]
    serve
    /// Records to bandwidth over time.
    signal
    /// Numerics.
    transform
    /// Synthetic traces with known truth.
    #[cfg(feature = "generate")]
    workload
}

/// Readers of single formats, and of traces that grow.
pub mod formats {
    use std::io::Read;

    use crate::error::Result;
    use crate::formats::{ReadOptions, Source};

    pub use crate::formats::clock::origin_of;
    pub use crate::formats::series::{Readings, direction, per_second};

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

    /// Darshan logs.
    pub mod darshan {
        pub use crate::formats::darshan::*;
    }
    /// Chrome trace JSON.
    pub mod chrome {
        pub use crate::formats::chrome::*;
    }
    /// Traces of DFTracer.
    pub mod dftracer {
        pub use crate::formats::dftracer::*;
    }
    /// Samples of counters.
    pub mod samples {
        pub use crate::formats::samples::*;
    }
    /// Traces that grow.
    pub mod tail {
        pub use crate::formats::tail::*;
    }
    /// Output of strace.
    pub mod strace {
        pub use crate::formats::strace::*;
    }
}

/// Parts of the period search.
pub mod period {
    /// Bursts of a sampled signal.
    pub mod bursts {
        pub use crate::period::bursts::*;
    }
    /// Chains of bursts at regular distances.
    pub mod chains {
        pub use crate::period::chains::*;
    }
    /// Outliers of a spectrum.
    pub mod detectors {
        pub use crate::period::detectors::*;
    }
    /// Methods on a sampled signal.
    pub mod methods {
        pub use crate::period::methods::*;
    }
    /// Further measures of periodicity.
    pub mod scores {
        pub use crate::period::scores::*;
    }
    /// Normalised power spectra.
    pub mod spectrum {
        pub use crate::period::spectrum::*;
    }
    /// Stretches in which a period holds.
    pub mod validity {
        pub use crate::period::validity::*;
    }
}

/// Access classes with what pictures show.
pub mod classify {
    use crate::classify::{Classes, Options, Sketch};
    use crate::error::Result;
    use crate::record::Trace;
    use crate::signal::Selection;

    /// As [`classify`](crate::classify::classify), with a sketch of the accesses to each file.
    ///
    /// # Errors
    /// As [`classify`](crate::classify::classify).
    pub fn classify_and_sketch(
        trace: &Trace,
        selection: &Selection,
        options: Options<'_>,
    ) -> Result<(Classes, Vec<Sketch>)> {
        crate::classify::classify_and_sketch(trace, selection, options)
    }
}

/// Outputs that are whole or not there.
pub mod draft {
    pub use crate::draft::*;
}

/// Directly-follows graphs before they are reported.
pub mod dfg {
    pub use crate::dfg::graph::*;
}

/// Parts of a predictor that runs as a program.
pub mod online {
    /// Detectors of changes.
    pub mod change {
        pub use crate::online::change::*;
    }
    /// The loop in which jobs are followed.
    pub mod follow {
        pub use crate::online::follow::*;
    }
    /// Predictors of several jobs.
    pub mod jobs {
        pub use crate::online::jobs::*;
    }
    /// State that survives a restart.
    pub mod checkpoint {
        pub use crate::online::checkpoint::*;
    }
    /// State of a job for a live view.
    pub mod live {
        pub use crate::online::live::*;
    }
    /// Output that waits for a slow reader.
    pub mod output_queue {
        pub use crate::online::output_queue::*;
    }
    /// Growing files and sockets.
    pub mod source {
        pub use crate::online::source::*;
    }
}
