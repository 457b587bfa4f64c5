//! Time in I/O of a job.

use schemars::JsonSchema;
use serde::Serialize;

use super::counted::{Timed, TimedLayer, timed};
use super::counts::{Counted, Measure};
use super::outermost::{outermost, waiting};
use super::spans::{self, RankTime};
use super::spent::Spent;
use crate::record::{CounterModule, Counters, Timing, Trace, Untimed};

/// A value that the data only bound; both ends are equal where it is exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Bounds {
    /// Low end.
    pub low: f64,
    /// High end.
    pub high: f64,
}

impl Bounds {
    fn exact(x: f64) -> Bounds {
        Bounds { low: x, high: x }
    }

    /// True if the ends are the same for a person: within 1 %.
    pub(crate) fn is_exact(self) -> bool {
        self.high - self.low <= 0.01 * self.high
    }

    /// Bytes by this time.
    fn rate_of(self, bytes: u64) -> Option<Bounds> {
        let bytes = bytes as f64;
        (self.low > 0.0 && bytes > 0.0).then(|| Bounds { low: bytes / self.high, high: bytes / self.low })
    }

    fn share_of(self, whole: f64) -> Bounds {
        Bounds { low: (self.low / whole).min(1.0), high: (self.high / whole).min(1.0) }
    }
}

/// Time in I/O: what a rank spends inside calls of the outermost layer that recorded the file. From counters the sum over the
/// files of a rank; from single requests the union of their spans.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct IoTime {
    /// Length of the run in seconds; of the accesses, if the trace does not know the run.
    pub run_s: f64,
    /// True if the time of everything that the ranks did is recorded.
    pub complete: bool,
    /// The reason why the recording is not complete; `null` if it is.
    pub why: Option<String>,
    /// The outermost layer with most of the time: `posix`, `mpiio`, `stdio`, `hdf5`, `pnetcdf`, `daos`, or `requests` where single requests
    /// are all that is known; `null` without times.
    pub layer: Option<String>,
    /// Seconds, mean of all ranks; `null` without times.
    pub mean_s: Option<f64>,
    /// Seconds of reading, mean of all ranks.
    pub mean_read_s: Option<f64>,
    /// Seconds of writing and synchronising, mean of all ranks.
    pub mean_write_s: Option<f64>,
    /// Seconds of metadata, mean of all ranks.
    pub mean_metadata_s: Option<f64>,
    /// Seconds of the slowest rank; `null` without times.
    pub slowest_s: Option<Bounds>,
    /// The rank with most time in files of its own; `null` if all files are counted over all ranks.
    pub slowest_rank: Option<u32>,
    /// Low end of `slowest_s`.
    pub io_s: Option<f64>,
    /// `io_s / run_s`, at most 1; `null` if the recording is not complete.
    pub share: Option<f64>,
    /// Ends of the share of the run of the slowest rank.
    pub share_range: Option<Bounds>,
    /// Seconds inside MPI-IO and outside the POSIX calls below it, mean of all ranks: waiting for other ranks and exchanging data with
    /// them. `null` without MPI-IO.
    pub waiting_s: Option<f64>,
    /// Seconds in which at least one rank is in a request; `null` without single requests.
    pub wall_s: Option<f64>,
    /// Bytes per second: what the outermost layer moved, by the time of the slowest rank. `null` without times or bytes.
    pub rate: Option<Bounds>,
    /// All layers that have times, each with what it spends in those below it.
    pub layers: Vec<LayerTime>,
    /// From single requests: the ranks.
    #[serde(skip)]
    pub(crate) ranks: Vec<RankTime>,
}

/// Time in I/O of one layer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LayerTime {
    /// Name as in [`IoTime::layer`].
    pub layer: String,
    /// Seconds of reading, mean of all ranks.
    pub mean_read_s: f64,
    /// Seconds of writing, mean of all ranks.
    pub mean_write_s: f64,
    /// Seconds of metadata, mean of all ranks.
    pub mean_metadata_s: f64,
    /// Seconds of the slowest rank.
    pub slowest_s: Bounds,
}

/// Time in I/O and what it is made of.
#[derive(Debug, Clone, Default)]
pub(crate) struct IoFacts {
    pub time: IoTime,
    /// From counters: the outermost layers.
    pub outer: Option<Spent>,
    /// The times behind it.
    pub outermost: Vec<Timed>,
}

/// Length of the run in seconds: as the job says, or of the accesses.
pub(crate) fn run_s(trace: &Trace) -> f64 {
    let span = || {
        // whichever rows were kept
        let (first, last) = trace.data.extent(trace.origin_s);
        let first = trace.layers.iter().filter_map(|l| l.first_s).chain(first).reduce(f64::min);
        let last = trace.layers.iter().filter_map(|l| l.last_s).chain(last).reduce(f64::max);
        last.zip(first).map_or(0.0, |(b, a)| b - a)
    };
    trace.job.as_ref().and_then(|j| j.run_time_s).filter(|t| *t > 0.0).unwrap_or_else(span)
}

impl IoFacts {
    /// Of a trace that was read with its counters.
    pub fn of(trace: &Trace) -> IoFacts {
        let run_s = run_s(trace);
        let (ranks, wall_s) = spans::of_ranks(trace).map_or((Vec::new(), None), |(r, s)| (r, Some(s)));
        // a log of counters without any was recorded by a job without I/O
        let counted = trace.counters.as_deref().map(timed).filter(|all| !all.is_empty() || wall_s.is_none());
        let mut facts = match counted {
            Some(all) => of_counters(trace, all, run_s),
            None if wall_s.is_some() => of_requests(trace, &ranks),
            None => {
                let why = incomplete(trace).unwrap_or_else(|| untimed(trace).into());
                IoFacts { time: IoTime { why: Some(why), ..IoTime::default() }, ..IoFacts::default() }
            }
        };
        (facts.time.ranks, facts.time.wall_s, facts.time.run_s) = (ranks, wall_s, run_s);
        facts.time.finish();
        facts
    }
}

impl IoTime {
    /// Derives the values that follow from the others.
    fn finish(&mut self) {
        self.complete = self.why.is_none();
        self.io_s = self.slowest_s.map(|s| s.low);
        let known = self.complete && self.run_s > 0.0;
        self.share_range = self.slowest_s.filter(|_| known).map(|s| s.share_of(self.run_s));
        self.share = self.share_range.map(|s| s.low);
    }
}

fn of_counters(trace: &Trace, mut all: Vec<Timed>, run_s: f64) -> IoFacts {
    // files of DAOS, below which its objects lie
    if all.iter().any(|t| t.module == CounterModule::Dfs) {
        all.retain(|t| t.module != CounterModule::Daos);
    }
    let ranks = trace.ranks.max(1);
    let run = Some(run_s).filter(|s| *s > 0.0);
    let spent = |layer: TimedLayer| Spent::of(all.iter().copied().filter(|t| t.layer == layer), ranks, run);
    let mut found: Vec<TimedLayer> = all.iter().map(|t| t.layer).collect();
    found.sort_unstable();
    found.dedup();
    let layers = found.into_iter().map(|layer| layer_time(layer.name(), &spent(layer))).collect();
    let waiting_s = waiting(&all).map(|s| s / ranks as f64);
    let kept = outermost(all);
    let of_layer = |l: TimedLayer| kept.iter().filter(|t| t.layer == l).map(Timed::time_s).sum::<f64>();
    let layer = kept.iter().map(|t| t.layer).max_by(|a, b| of_layer(*a).total_cmp(&of_layer(*b)));
    let outer = Spent::of(kept.iter().copied(), ranks, run);
    // of a record of all ranks the mean is known only with their number
    let counted = trace.job.as_ref().is_none_or(|j| j.ranks.is_some()) || kept.iter().all(|t| t.rank.is_some());
    let why = incomplete(trace)
        .or_else(|| (!counted).then(|| "the number of processes is not known".to_owned()))
        .or_else(|| outer.overlaps.then(|| "the calls of a rank add up to more than the run".to_owned()));
    // nothing among times of which some are missing may be what is missing
    let whole = why.is_none();
    let mean = |s: f64| Some(s).filter(|s| counted && (*s > 0.0 || whole));
    let [read, write, metadata] = outer.mean_s.map(mean);
    let time = IoTime {
        mean_s: mean(outer.mean_io_s()),
        why,
        layer: layer.map(|l| l.name().to_owned()),
        mean_read_s: read,
        mean_write_s: write,
        mean_metadata_s: metadata,
        slowest_s: Some(outer.slowest_s).filter(|s| s.high > 0.0 || whole),
        slowest_rank: outer.busiest().map(|x| x.0),
        waiting_s,
        // metadata records of a library say nothing of its bytes
        rate: outer.slowest_s.rate_of(kept.iter().filter_map(|t| t.bytes).fold(0, u64::saturating_add)),
        layers,
        ..IoTime::default()
    };
    IoFacts { time, outer: Some(outer), outermost: kept }
}

fn layer_time(name: &str, spent: &Spent) -> LayerTime {
    let [mean_read_s, mean_write_s, mean_metadata_s] = spent.mean_s;
    LayerTime { layer: name.to_owned(), mean_read_s, mean_write_s, mean_metadata_s, slowest_s: spent.slowest_s }
}

fn of_requests(trace: &Trace, of_ranks: &[RankTime]) -> IoFacts {
    let n = trace.ranks.max(of_ranks.len() as u64).max(1) as f64;
    let mean = |value: &dyn Fn(&RankTime) -> f64| of_ranks.iter().map(value).sum::<f64>() / n;
    let kinds = [0, 1, 2, 3].map(|k| mean(&|r| r.time_s[k]));
    let slowest = of_ranks.iter().reduce(|most, next| if next.io_s > most.io_s { next } else { most });
    let layer = LayerTime {
        layer: "requests".into(),
        mean_read_s: kinds[0],
        mean_write_s: kinds[1] + kinds[2],
        mean_metadata_s: kinds[3],
        slowest_s: Bounds::exact(slowest.map_or(0.0, |r| r.io_s)),
    };
    let quality = &trace.quality;
    let time = IoTime {
        why: match (quality.records_dropped, quality.partial.is_empty()) {
            (0, true) => quality.untimed.first().map(Untimed::to_string),
            (0, false) => Some(format!("{} is incomplete", quality.partial.join(", "))),
            (n, _) => Some(format!("{n} records could not be used")),
        },
        layer: Some("requests".into()),
        mean_s: Some(mean(&|r| r.io_s)),
        mean_read_s: Some(layer.mean_read_s),
        mean_write_s: Some(layer.mean_write_s),
        mean_metadata_s: Some(layer.mean_metadata_s),
        slowest_s: Some(layer.slowest_s),
        slowest_rank: slowest.map(|r| r.rank),
        rate: layer.slowest_s.rate_of(of_ranks.iter().map(|r| r.bytes).fold(0, u64::saturating_add)),
        layers: vec![layer],
        ..IoTime::default()
    };
    IoFacts { time, ..IoFacts::default() }
}

/// Why counters do not tell the time of everything that the ranks did.
fn incomplete(trace: &Trace) -> Option<String> {
    // single requests and heat maps beside the counters may end early: the counters go on
    let counts = |name: &&String| !["DXT", "HEATMAP", "LUSTRE"].iter().any(|other| name.starts_with(other));
    let partial: Vec<&str> = trace.quality.partial.iter().filter(counts).map(String::as_str).collect();
    if !partial.is_empty() {
        return Some(format!("{} ran out of memory and is incomplete", partial.join(", ")));
    }
    let (impossible, untimed) = (&trace.quality.impossible, &trace.quality.untimed);
    let more = |n: usize| if n > 1 { format!(" (and {} more)", n - 1) } else { String::new() };
    let wrong = impossible.first().map(|x| format!("{x}{}", more(impossible.len())));
    wrong.or_else(|| untimed.first().map(|x| format!("{x}{}", more(untimed.len()))))
}

/// Why a trace has no times.
fn untimed(trace: &Trace) -> &'static str {
    match trace.timing {
        Timing::Order => "the calls have no times",
        _ if trace.data.is_empty() => "nothing with a time is recorded",
        Timing::Request => "the requests have no lengths",
        Timing::Phase => "phases are recorded, not the calls in them",
        Timing::Heatmap | Timing::Counter => "bytes by time are recorded, not how long the calls take",
    }
}

/// The time of each module's own counters, whatever lies around them.
/// In the order of the tables.
pub(crate) fn of_modules(c: &Counters, ranks: u64, run_s: Option<f64>) -> Vec<(CounterModule, Spent)> {
    let all = timed(c);
    let tables = c.tables.iter().filter(|t| Counted::of(t).measures(Measure::MetaS) && !t.is_empty());
    let of = |module| Spent::of(all.iter().copied().filter(|t| t.module == module), ranks, run_s);
    tables.map(|t| (t.module, of(t.module))).collect()
}
