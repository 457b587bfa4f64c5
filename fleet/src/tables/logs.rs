//! The table `logs`.

use serde::{Deserialize, Serialize};

use super::{Time, table};

/// The outcome of reading a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Read as a whole.
    #[default]
    Ok,
    /// Read, but a part is damaged or was lost when it was recorded.
    Partial,
    /// A sound log without I/O.
    Empty,
    /// Damaged, or the system refused to read it.
    Unreadable,
    /// In no known format, or of a version that is not known.
    Unsupported,
    /// Larger than --max-size, or something in it exceeds a bound against hostile input.
    TooLarge,
    /// Not done within --time-limit.
    Timeout,
    /// Needed more than --memory.
    Memory,
    /// Ended the process that read it, twice.
    Crashed,
    /// Listed, but gone when it was to be read.
    Vanished,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 10] = [
        Status::Ok,
        Status::Partial,
        Status::Empty,
        Status::Unreadable,
        Status::Unsupported,
        Status::TooLarge,
        Status::Timeout,
        Status::Memory,
        Status::Crashed,
        Status::Vanished,
    ];

    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Partial => "partial",
            Status::Empty => "empty",
            Status::Unreadable => "unreadable",
            Status::Unsupported => "unsupported",
            Status::TooLarge => "too-large",
            Status::Timeout => "timeout",
            Status::Memory => "memory",
            Status::Crashed => "crashed",
            Status::Vanished => "vanished",
        }
    }

    /// Whether nothing but the header could be taken from the log.
    pub fn is_bad(self) -> bool {
        !matches!(self, Status::Ok | Status::Partial | Status::Empty)
    }
}

table! {
    /// One row per log, also of those that cannot be read.
    pub struct LogRow = "logs" {
        /// Path of the log; with --anonymise a code of it.
        pub uri: Option<String>,
        /// Size of the file in bytes.
        pub size_bytes: Option<i64>,
        /// Time of its last modification.
        pub modified: Time,
        /// Name of the batch that read it.
        pub batch: Option<String>,
        /// One of ok, partial, empty, unreadable, unsupported, too-large, timeout, memory, crashed, vanished.
        pub status: Option<String>,
        /// Why it is not ok: the error or the first warning, in one line.
        pub reason: Option<String>,
        /// Byte at which the damage was noticed.
        pub place: Option<i64>,
        /// Name of the format.
        pub format: Option<String>,
        /// Version of the format.
        pub format_version: Option<String>,
        /// Version of the tracer's library.
        pub lib_version: Option<String>,
        /// Job id of the batch system.
        pub job_id: Option<i64>,
        /// First word of the command line; the whole line with --commands.
        pub command: Option<String>,
        /// Version of the application: of the rules, or X.Y of a folder /NAME/X.Y/ in the command.
        pub app_version: Option<String>,
        /// End of the job.
        pub end_time: Time,
        /// Run time in seconds.
        pub run_time_s: Option<f64>,
        /// Number of nodes, where the log names the host of each rank.
        pub nodes: Option<i64>,
        /// Parts of the log that hold data.
        pub modules: Vec<String>,
        /// Parts of the log that are known to be incomplete.
        pub incomplete: Vec<String>,
        /// The source of the times of the signal, which decides how exact they are: request, phase, heatmap or counter.
        pub timing: Option<String>,
        /// Seconds in I/O of the slowest rank, at least, in the outermost layer that recorded each file.
        pub io_s: Option<f64>,
        /// io_s / run_time_s; null if the recording is not complete.
        pub io_share: Option<f64>,
        /// Bytes read; by POSIX and STDIO counters where the log has them, else by the rows analysed.
        pub bytes_read: Option<i64>,
        /// Bytes written, as bytes_read.
        pub bytes_written: Option<i64>,
        /// Number of files.
        pub files: Option<i64>,
        /// Codes of the warnings.
        pub warnings: Vec<String>,
        /// Seconds that the log took.
        pub analysed_s: Option<f64>,
        /// Version of iophase.
        pub iophase_version: Option<String>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_serialised_form() {
        for s in Status::ALL {
            assert_eq!(serde_json::to_value(s).unwrap(), s.name());
        }
    }
}
