//! The library's remedies as options and commands of the program.

use std::borrow::Cow;

use crate::Error;
use crate::Remedy;
use crate::record::Warning;

/// The error with a remedy that names options of the program.
pub(super) fn of_error(e: &Error) -> Cow<'_, Error> {
    match e.suggestion().and_then(in_options) {
        Some(text) => Cow::Owned(e.clone().remedy(text)),
        None => Cow::Borrowed(e),
    }
}

/// Lets the remedies of warnings name options of the program.
pub fn name_options(warnings: &mut [Warning]) {
    for w in warnings {
        if let Some(text) = w.remedy.as_ref().and_then(in_options) {
            w.remedy = Some(text);
        }
    }
}

/// A remedy in terms of the command line; `None` if it names no setting.
fn in_options(remedy: &Remedy) -> Option<Remedy> {
    Some(Remedy::from(match remedy {
        Remedy::FollowOneFile => "name one file of it, or analyse the finished trace with `iophase analyze`",
        Remedy::AnalyzeFinished => "analyse the finished trace with `iophase analyze`",
        Remedy::Decompress => {
            "unpack it on the way (`zcat FILE | iophase predict -`), or analyse it with `iophase analyze`"
        }
        Remedy::NameFormat => "name the format with --format if the start of the file is damaged",
        Remedy::GivePatterns => {
            "say what its lines mean with --pattern 'REGEX' or --pattern-file FILE (docs/text.md), or name the --format if its start is damaged"
        }
        Remedy::ChooseMetric => "choose another with --metric NAME; `iophase info` lists them",
        Remedy::SearchFolder => "search it with -r: each trace gets a report",
        Remedy::NameOtherFormat => "name another --format if this is no Darshan log",
        Remedy::SortRows => "sort the rows by their start, as `iophase convert` writes them",
        Remedy::ChooseLayer => "choose the layer with --layer",
        Remedy::ChooseEvents => {
            "name the events that are I/O with --io-names, and the argument that has their bytes with --bytes-arg"
        }
        Remedy::TakeLayer(names) => {
            let options: Vec<String> = names.iter().map(|name| format!("--layer {name}")).collect();
            return Some(Remedy::from(format!("take {}", options.join(" or "))));
        }
        Remedy::TakePosix => "--layer posix takes what went through POSIX",
        Remedy::Inspect => "see what the trace holds with `iophase info`",
        Remedy::KeepAllFiles => "all of it is on pipes, terminals or system files: keep them with --all-files",
        Remedy::WidenSelection => {
            "widen --mode, --ranks, --files, --from and --until, or see what the trace holds with `iophase info`"
        }
        Remedy::WidenEvents => {
            "widen --match, --calls or the time window, take system files with --all-files, or calls without a path with --events all"
        }
        Remedy::NeedOffsets => {
            "patterns need offsets, as in Darshan logs with DXT, strace and records with an `offset`; see `iophase info`"
        }
        Remedy::OrderSuffices => {
            "record with `strace -f -ttt -T -y -o FILE`; `iophase info`, `dfg`, `patterns` and `classify` need only the order of the calls"
        }
        Remedy::AllowMemory => "allow more with --max-memory if the machine has it",
        Remedy::LowerSamplingRate => {
            "lower --sampling-rate, narrow the window with --from and --until, or allow more with --max-memory"
        }
        Remedy::RaiseSamplingRate => "raise --sampling-rate or use --sampling bin",
        Remedy::ChangeFilter => "change --cutoff and --order, or raise --sampling-rate",
        Remedy::TrainModel => "make one with `iophase classify --train RUN... -o MODEL` and give it with --model MODEL",
        Remedy::NameColumns(columns) => {
            return Some(Remedy::from(format!("name its columns (and --kind, --unit), as with --columns {columns}")));
        }
        Remedy::NameDirection => "name the columns with --columns read=NAME or write=NAME",
        Remedy::NameKind => "use --kind cumulative if they are a counter",
        Remedy::ChooseDevices => "choose other devices with --files REGEX",
        Remedy::AllowJobs => "raise --max-jobs",
        Remedy::ReadFaster => "read faster, or raise --every",
        Remedy::UseLoopback => "use 127.0.0.1, or --allow-remote in a network where everybody is trusted",
        Remedy::Text(_) => return None,
    }))
}
