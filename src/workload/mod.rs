//! Synthetic traces with known truth: periods, bursts and the loops of every rank.
//!
//! A [`Workload`] is a file here and one line in [`ALL`]. From its parameters and a seed it makes a [`Run`]: rows in the order of
//! time, generated on demand ([`Rows`]), and the [`Truth`]. Equal parameters and seeds give equal rows.
//!
//! The truth records what the generator did. A workload states the loops that each rank executed, as in its program, and for a
//! random order the number of accesses and of places. Loops are only canonicalised ([`crate::nest::canonical`]): loops of one pass
//! are dropped, seamless loops are fused. No pattern is derived from the rows, and no rule of a detector is used: a shorter
//! description of the same rows may exist, and a detector may find it.

mod bounds;
mod checkpoint;
mod clock;
mod dlio;
mod faulty;
mod h5bench;
mod ior;
mod nest;
mod parameter;
mod plan;
mod program;
mod random;
mod stated;
mod truth;

pub use parameter::{Kind, Parameter, Value, Values};
pub use plan::Workload;
#[cfg(feature = "internals")]
pub use random::Random;
pub use truth::{
    Order, PatternKind, PatternPeriod, Period, Phase, Ranks, SizeSummary, TRUTH_SCHEMA, TruePattern, Truth,
    Unpatterned, Window,
};

use crate::error::{Error, ErrorKind, Result};
use crate::record::{Calls, Data, Files, Op, Requests, Row, Rows, Timing, Trace};
use clock::seconds;
use program::Program;

/// Every workload.
pub const ALL: &[&Workload] = &[
    &checkpoint::WORKLOAD,
    &h5bench::write::WORKLOAD,
    &h5bench::metadata::WORKLOAD,
    &h5bench::exerciser::WORKLOAD,
    &ior::WORKLOAD,
    &dlio::WORKLOAD,
    &faulty::WORKLOAD,
];

/// The workload called `name`.
///
/// # Errors
/// [`ErrorKind::Usage`] with the list of names.
pub fn find(name: &str) -> Result<&'static Workload> {
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
    program: Box<dyn Program>,
}

/// The job of a workload with these values and this seed.
///
/// # Errors
/// [`ErrorKind::Usage`] for values that contradict each other.
pub fn run(workload: &Workload, values: &Values, seed: u64) -> Result<Run> {
    let plan = (workload.plan)(values, seed)?;
    let mut stated = plan.stated;
    stated.periods.sort_by_key(|p| std::cmp::Reverse(p.bytes));
    stated.phases.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    stated.patterns.sort_by(|a, b| (a.rank, &a.file).cmp(&(b.rank, &b.file)).then(a.start_s.total_cmp(&b.start_s)));
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
        periodic: !stated.periods.is_empty(),
        periods: stated.periods,
        phases: stated.phases,
        patterns: stated.patterns,
        unpatterned: stated.unpatterned,
    };
    sum(&mut truth, &*plan.program);
    Ok(Run { files: plan.files, calls: Calls::default(), truth, program: plan.program })
}

/// Sums records, bytes and time over all segments.
fn sum(truth: &mut Truth, program: &dyn Program) {
    for segment in program.ranks().into_iter().flatten() {
        let records = segment.offsets.records();
        if records == 0 {
            continue;
        }
        truth.records += records;
        let bytes = if segment.op == Op::Read { &mut truth.bytes_read } else { &mut truth.bytes_written };
        *bytes += segment.offsets.bytes();
        truth.start_s = truth.start_s.min(seconds(segment.span_ns.0));
        truth.end_s = truth.end_s.max(seconds(segment.span_ns.1));
    }
    truth.start_s = truth.start_s.min(truth.end_s);
}

impl Run {
    /// The truth of the rows.
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
        program::visit(self.program.ranks(), each)
    }

    fn span(&self) -> Result<Option<(f64, f64)>> {
        Ok((self.truth.records > 0).then_some((self.truth.start_s, self.truth.end_s)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_defaults_valid() {
        for w in ALL {
            assert_eq!(ALL.iter().filter(|v| v.name() == w.name()).count(), 1);
            for p in w.parameters() {
                assert!(p.kind == Kind::Flag || p.kind.parse(p.default).is_ok(), "{} {}", w.name(), p.name);
                assert_eq!(w.parameters().iter().filter(|q| q.name == p.name).count(), 1, "{} {}", w.name(), p.name);
            }
            let run = run(w, &Values::defaults(w.parameters()), 0).unwrap();
            assert!(run.truth().records > 0, "{}", w.name());
        }
        assert_eq!(find("nonsense").err().unwrap().kind(), ErrorKind::Usage);
    }
}
