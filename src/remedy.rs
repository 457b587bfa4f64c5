//! Remedies of errors and warnings, in terms of the library; a program turns those that name a setting into its own terms.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Advice on an error or a warning. Displays as a phrase; serialises as that text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", from = "String")]
#[schemars(with = "String")]
#[non_exhaustive]
pub enum Remedy {
    /// Advice that names no setting.
    Text(Cow<'static, str>),
    /// Follow no folder, but one file of it.
    FollowOneFile,
    /// The source does not grow in a form that can be followed.
    AnalyzeFinished,
    /// Compressed data cannot be followed.
    Decompress,
    /// The start of the input is damaged, so its format has to be named.
    NameFormat,
    /// The input is text in no known format.
    GivePatterns,
    /// The folder holds several traces.
    SearchFolder,
    /// The input is not of the format that was named.
    NameOtherFormat,
    /// Rows come out of order.
    SortRows,
    /// The trace holds many metrics.
    ChooseMetric,
    /// Several layers were recorded.
    ChooseLayer,
    /// Names of events or of their bytes do not say which of them are I/O.
    ChooseEvents,
    /// One of these layers has data.
    TakeLayer(Vec<&'static str>),
    /// The MPI-IO layer was taken although POSIX has data, too.
    TakePosix,
    /// See the contents of the trace first.
    Inspect,
    /// Everything was excluded as pipes, terminals and system files.
    KeepAllFiles,
    /// The selection is too narrow.
    WidenSelection,
    /// The selection of events is too narrow.
    WidenEvents,
    /// Patterns need the offsets of accesses.
    NeedOffsets,
    /// The calls have no times.
    OrderSuffices,
    /// More has to be in memory than was allowed.
    AllowMemory,
    /// Too many samples.
    LowerSamplingRate,
    /// Samples miss transfers.
    RaiseSamplingRate,
    /// The filter does not fit the sampling rate.
    ChangeFilter,
    /// The Markov classifier needs a model.
    TrainModel,
    /// Remote addresses are refused.
    UseLoopback,
    /// A table is of no known tool; how its columns may be named, and what there is.
    NameColumns(String),
    /// The values of a time series may be reads or writes.
    NameDirection,
    /// The values of a time series may be counters.
    NameKind,
    /// The devices of a time series stand on each other.
    ChooseDevices,
    /// More jobs were followed at one time than is allowed.
    AllowJobs,
    /// Predictions come faster than they are read.
    ReadFaster,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Remedy::Text(text) => text,
            Remedy::FollowOneFile => "name one file of it, or analyse the finished trace",
            Remedy::AnalyzeFinished => "analyse the finished trace",
            Remedy::Decompress => "decompress it on the way, or analyse the finished trace",
            Remedy::NameFormat => "name the format if the start of the file is damaged",
            Remedy::GivePatterns => {
                "give patterns that say what its lines mean, or name the format if its start is damaged"
            }
            Remedy::SearchFolder => "search the folder for them",
            Remedy::NameOtherFormat => "name another format if this is no Darshan log",
            Remedy::SortRows => "sort the rows by their start",
            Remedy::ChooseMetric => "choose a metric",
            Remedy::ChooseLayer => "choose the layer",
            Remedy::ChooseEvents => "name the events that are I/O, and the argument that has their bytes",
            Remedy::TakeLayer(names) => return write!(f, "take layer {}", names.join(" or ")),
            Remedy::TakePosix => "layer posix has the transfers through POSIX",
            Remedy::Inspect => "see what the trace holds",
            Remedy::KeepAllFiles => "all of it is on pipes, terminals or system files: keep these files",
            Remedy::WidenSelection => "widen the selection, or see what the trace holds",
            Remedy::WidenEvents => {
                "widen the mapping or the time window, or take system files and calls without a path, too"
            }
            Remedy::NeedOffsets => {
                "patterns need offsets, as in Darshan logs with DXT, strace and records with an `offset`"
            }
            Remedy::OrderSuffices => {
                "record with `strace -f -ttt -T -y -o FILE`, or ask what needs only their order: contents, graph, patterns, classes"
            }
            Remedy::AllowMemory => "allow more memory",
            Remedy::LowerSamplingRate => "lower the sampling rate, narrow the time window or allow more memory",
            Remedy::RaiseSamplingRate => "raise the sampling rate or sample by the mean of bins",
            Remedy::ChangeFilter => "change the cutoff and the order of the filter, or raise the sampling rate",
            Remedy::TrainModel => "train one on earlier runs",
            Remedy::NameColumns(columns) => {
                return write!(f, "name its columns of time, reads and writes, as {columns}");
            }
            Remedy::NameDirection => "say which column holds reads, which writes",
            Remedy::NameKind => "say so if they are a counter",
            Remedy::ChooseDevices => "choose the files that are other devices",
            Remedy::AllowJobs => "allow more jobs at one time",
            Remedy::ReadFaster => "read faster, or predict less often",
            Remedy::UseLoopback => "use 127.0.0.1, or allow remote addresses in a network where everybody is trusted",
        })
    }
}

impl From<&'static str> for Remedy {
    fn from(text: &'static str) -> Self {
        Remedy::Text(text.into())
    }
}

impl From<String> for Remedy {
    fn from(text: String) -> Self {
        Remedy::Text(text.into())
    }
}

impl From<Remedy> for String {
    fn from(remedy: Remedy) -> Self {
        remedy.to_string()
    }
}
