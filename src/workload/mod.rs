//! Synthetic traces whose truth is known: periods, bursts and the exact pattern of every rank.
//!
//! A [`Workload`] is a file here and one line in [`ALL`]. From its parameters and a seed it makes a [`Run`]: rows in the order of
//! time, made while they are asked for ([`Rows`]), and the [`Truth`]. The same parameters and seed give the same rows.
//!
//! ```
//! use iophase::record::Rows;
//! use iophase::workload::{self, Values};
//!
//! # fn main() -> iophase::Result<()> {
//! let checkpoint = workload::find("checkpoint")?;
//! let values = Values::of(checkpoint.parameters(), &[("period", "12"), ("ranks", "4")])?;
//! let run = workload::run(checkpoint, &values, 1)?;
//! assert_eq!(run.truth().periods[0].period_s, 12.0);
//! let mut bytes = 0;
//! run.visit(&mut |row| {
//!     bytes += if let iophase::record::Row::Request(r) = row { r.size } else { 0 };
//!     Ok(())
//! })?;
//! assert_eq!(bytes, run.truth().bytes_written);
//! # Ok(())
//! # }
//! ```

mod across;
mod alone;
mod checkpoint;
mod dlio;
mod drawn;
mod follow;
mod h5bench;
mod ior;
mod parameter;
mod random;
mod sequel;
mod shape;
mod stretch;
mod truth;

use std::collections::BTreeMap;

pub use parameter::{Kind, Parameter, Value, Values};
pub use truth::{
    Level, PatternKind, PatternPeriod, Period, Phase, Ranks, SizeSummary, TRUTH_SCHEMA, TruePattern, Truth,
    Unpatterned, Window,
};

use crate::error::{Error, ErrorKind, Result};
use crate::record::{Calls, Data, FileId, Files, Op, Requests, Row, Rows, Timing, Trace};
use stretch::Script;

/// Every workload.
pub const ALL: &[&dyn Workload] = &[
    &checkpoint::Checkpoint,
    &h5bench::write::Write,
    &h5bench::metadata::Metadata,
    &h5bench::exerciser::Exerciser,
    &ior::Ior,
    &dlio::Dlio,
];

/// A kind of synthetic job.
pub trait Workload: Sync {
    /// Name on the command line.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn about(&self) -> &'static str;

    /// Its parameters.
    fn parameters(&self) -> &'static [Parameter];

    /// What happens with these values.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for values that do not fit each other.
    #[doc(hidden)]
    fn plan(&self, values: &Values, seed: u64) -> Result<Plan>;
}

/// What a workload makes of its values.
pub struct Plan {
    files: Files,
    ranks: u64,
    periods: Vec<Period>,
    phases: Vec<Phase>,
    patterns: Vec<TruePattern>,
    script: Box<dyn Script>,
}

/// The workload called `name`.
///
/// # Errors
/// [`ErrorKind::Usage`] with the list of names.
pub fn find(name: &str) -> Result<&'static dyn Workload> {
    ALL.iter().copied().find(|w| w.name() == name).ok_or_else(|| {
        let names: Vec<_> = ALL.iter().map(|w| w.name()).collect();
        Error::new(ErrorKind::Usage, format!("no workload is called {name}"))
            .expected(format!("one of {}", names.join(", ")))
    })
}

/// A synthetic job, ready to be written.
pub struct Run {
    files: Files,
    calls: Calls,
    truth: Truth,
    script: Box<dyn Script>,
}

/// The job that a workload does with these values and this seed.
///
/// # Errors
/// [`ErrorKind::Usage`] for values that do not fit each other.
pub fn run(workload: &dyn Workload, values: &Values, seed: u64) -> Result<Run> {
    let mut plan = workload.plan(values, seed)?;
    plan.periods.sort_by_key(|p| std::cmp::Reverse(p.bytes));
    plan.phases.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    plan.patterns.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    plan.patterns = sequel::join(plan.patterns, |op| plan.script.is_of_many_sizes(op));
    plan.patterns = alone::gather(plan.patterns, &plan.files, &*plan.script);
    plan.patterns.sort_by(|a, b| (a.rank, &a.file).cmp(&(b.rank, &b.file)).then(a.start_s.total_cmp(&b.start_s)));
    let mut truth = Truth {
        schema: TRUTH_SCHEMA.into(),
        workload: workload.name().into(),
        seed,
        parameters: values.json(),
        ranks: plan.ranks,
        files: plan.files.len() as u64,
        records: 0,
        bytes_read: 0,
        bytes_written: 0,
        start_s: f64::INFINITY,
        end_s: 0.0,
        periodic: !plan.periods.is_empty(),
        periods: plan.periods,
        phases: plan.phases,
        patterns: plan.patterns,
        unpatterned: Vec::new(),
    };
    count(&mut truth, &plan.files, &*plan.script);
    Ok(Run { files: plan.files, calls: Calls::default(), truth, script: plan.script })
}

/// Sums over all stretches, and what of it no pattern covers.
fn count(truth: &mut Truth, files: &Files, script: &dyn Script) {
    let mut left: BTreeMap<(FileId, Op), (u64, u64)> = BTreeMap::new();
    for stretch in script.lanes().into_iter().flatten() {
        let (records, bytes) = (stretch.places.count(), stretch.places.bytes());
        if records == 0 {
            continue;
        }
        truth.records += records;
        *(if stretch.op == Op::Read { &mut truth.bytes_read } else { &mut truth.bytes_written }) += bytes;
        truth.start_s = truth.start_s.min(stretch::seconds(stretch.start_ns));
        truth.end_s = truth.end_s.max(stretch::seconds(stretch.start_ns + stretch.length_ns));
        let sum = left.entry((stretch.file, stretch.op)).or_default();
        *sum = (sum.0 + records, sum.1 + bytes);
    }
    truth.start_s = truth.start_s.min(truth.end_s);
    let numbers: BTreeMap<&str, FileId> = files.iter().map(|(id, name)| (name, id)).collect();
    for p in &truth.patterns {
        if let Some(sum) = numbers.get(p.file.as_str()).and_then(|id| left.get_mut(&(*id, p.op))) {
            *sum = (sum.0.saturating_sub(p.records), sum.1.saturating_sub(p.bytes()));
        }
    }
    let rest = left.into_iter().filter(|(_, (records, _))| *records > 0);
    truth.unpatterned = rest
        .map(|((file, op), (records, bytes))| Unpatterned { op, file: files.name(file).to_owned(), records, bytes })
        .collect();
}

impl Run {
    /// What is true of the rows.
    pub fn truth(&self) -> &Truth {
        &self.truth
    }

    /// All rows in memory.
    ///
    /// # Errors
    /// None of its own.
    pub fn trace(&self) -> Result<Trace> {
        let mut rows = Requests::default();
        self.visit(&mut |row| {
            if let Row::Request(r) = row {
                rows.push(r);
            }
            Ok(())
        })?;
        let mut trace = Trace {
            path: self.truth.workload.clone(),
            format: "generated",
            ranks: self.truth.ranks,
            files: self.files.clone(),
            timing: Timing::Request,
            data: Data::Requests(rows),
            ..Trace::default()
        };
        trace.layers = vec![trace.summarise("requests")];
        Ok(trace)
    }
}

impl Rows for Run {
    fn files(&self) -> &Files {
        &self.files
    }

    fn calls(&self) -> &Calls {
        &self.calls
    }

    fn ranks(&self) -> u64 {
        self.truth.ranks
    }

    fn visit(&self, each: &mut dyn FnMut(Row) -> Result<()>) -> Result<()> {
        stretch::visit(self.script.lanes(), each)
    }

    fn span(&self) -> Result<Option<(f64, f64)>> {
        Ok((self.truth.records > 0).then_some((self.truth.start_s, self.truth.end_s)))
    }
}

/// Bounds that every workload keeps.
mod bounds {
    use super::{Error, ErrorKind, Result};

    /// Ranks of a job.
    pub(super) const RANKS: u64 = 1 << 20;
    /// Repetitions of anything.
    pub(super) const REPEATS: u64 = 1 << 24;
    /// Patterns of a truth, and names of files, which are kept in memory.
    const KEPT: u128 = 20_000_000;
    /// Bytes of a file, and of all requests: offsets are signed in most of the world.
    const BYTES: u128 = 1 << 62;
    /// End of a run, in nanoseconds: about 100 days, so that all times are exact.
    const RUN_NS: u128 = 1 << 53;

    fn usage(found: String, expected: String) -> Error {
        Error::new(ErrorKind::Usage, found).expected(expected)
    }

    /// Fails if what is kept in memory is too much.
    pub(super) fn kept(factors: &[u64]) -> Result<()> {
        let n = factors.iter().fold(1u128, |n, f| n.saturating_mul(u128::from(*f)));
        let expected = || format!("at most {KEPT}");
        if n > KEPT { Err(usage(format!("{n} patterns or files"), expected())) } else { Ok(()) }
    }

    /// The product, if there may be as many bytes.
    pub(super) fn bytes(factors: &[u64]) -> Result<u64> {
        let n = factors.iter().fold(1u128, |n, f| n.saturating_mul(u128::from(*f)));
        if n > BYTES {
            return Err(usage(format!("{n} bytes"), format!("at most {BYTES}")));
        }
        Ok(n as u64)
    }

    /// Fails if the run is too long, or accesses are shorter than a nanosecond.
    pub(super) fn run(end_ns: u128, shortest_ns: u64, accesses: u64) -> Result<()> {
        if end_ns > RUN_NS {
            return Err(usage(
                format!("a run of {} s", end_ns / 1_000_000_000),
                format!("at most {} s", RUN_NS / 1_000_000_000),
            ));
        }
        if shortest_ns < accesses {
            return Err(usage(
                format!("{accesses} accesses in {} s", shortest_ns as f64 / 1e9),
                "at least a nanosecond for each".into(),
            ));
        }
        Ok(())
    }

    /// `whole / part`, if that leaves no rest.
    pub(super) fn divided(whole: (&str, u64), part: (&str, u64)) -> Result<u64> {
        if part.1 == 0 || whole.1 == 0 || !whole.1.is_multiple_of(part.1) {
            return Err(usage(
                format!("{} {} and {} {}", whole.0, whole.1, part.0, part.1),
                format!("{} a multiple of {}", whole.0, part.0),
            ));
        }
        Ok(whole.1 / part.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_sound() {
        for w in ALL {
            assert_eq!(ALL.iter().filter(|v| v.name() == w.name()).count(), 1);
            for p in w.parameters() {
                assert!(p.kind == Kind::Flag || p.kind.parse(p.default).is_ok(), "{} {}", w.name(), p.name);
                assert_eq!(w.parameters().iter().filter(|q| q.name == p.name).count(), 1, "{} {}", w.name(), p.name);
            }
            let run = run(*w, &Values::defaults(w.parameters()), 0).unwrap();
            assert!(run.truth().records > 0, "{}", w.name());
        }
        assert_eq!(find("nonsense").err().unwrap().kind(), ErrorKind::Usage);
    }
}
