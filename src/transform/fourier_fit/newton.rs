//! A damped Newton method with the damping of Levenberg and Marquardt, as a solver for argmin.
//!
//! The step solves (H + λ D) δ = −g with the exact Hessian H and D the diagonal of its Gauss–Newton part. While H is not
//! positive definite, or if a step does not lower the cost, λ grows; after a successful step, it shrinks. Near the optimum
//! this is Newton's method, which converges fast even if the residuals are large, unlike the Gauss–Newton method.

use argmin::core::{Error, Executor, IterState, KV, Problem, Solver, TerminationReason, TerminationStatus};

use super::projection::{Point, Projection};
use super::spacing::Spacing;

/// Longest step of one frequency, in DFT bins: half of the distance from the top of a spectral peak to its foot.
const LONGEST: f64 = 0.5;
/// A component with less room than this in the downhill direction, in DFT bins, is held for a step, so that the others can
/// take their full steps.
const NO_ROOM: f64 = 1e-2;
/// Damping that holds a component, relative to the largest scale.
const HELD: f64 = 1e9;
/// Damping at which the search ends, because no step lowers the cost.
const MAX_DAMPING: f64 = 1e10;
const MAX_ITERATIONS: u64 = 60;
/// A cost below this share of the signal's sum of squares is rounding error; one more step is made and the search ends.
pub(super) const EXACT: f64 = 1e-13;

type FitState = IterState<Vec<f64>, (), (), (), (), f64>;

struct DampedNewton<'a> {
    point: Point,
    /// Components that may come closer to each other than the others.
    pairs: &'a [(usize, usize)],
    damping: f64,
    tolerance: f64,
    settled: bool,
}

impl Solver<&Projection, FitState> for DampedNewton<'_> {
    fn name(&self) -> &str {
        "damped Newton method"
    }

    fn init(&mut self, _: &mut Problem<&Projection>, state: FitState) -> Result<(FitState, Option<KV>), Error> {
        Ok((state.param(self.point.frequencies.clone()).cost(self.point.cost), None))
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<&Projection>,
        state: FitState,
    ) -> Result<(FitState, Option<KV>), Error> {
        let next = problem.problem("cost_count", |projection| Ok(self.step(projection)))?;
        match next {
            Some(next) => {
                let exact = EXACT * problem.problem("", |projection| Ok(projection.squares()))?;
                self.settled =
                    self.point.cost - next.cost <= self.tolerance * self.point.cost || self.point.cost <= exact;
                self.damping = (0.3 * self.damping).max(1e-9);
                self.point = next;
            }
            None => self.damping = (5.0 * self.damping).max(1e-3),
        }
        Ok((state.param(self.point.frequencies.clone()).cost(self.point.cost), None))
    }

    fn terminate(&mut self, _: &FitState) -> TerminationStatus {
        if self.settled || self.damping > MAX_DAMPING {
            TerminationStatus::Terminated(TerminationReason::SolverConverged)
        } else {
            TerminationStatus::NotTerminated
        }
    }
}

impl DampedNewton<'_> {
    /// The point after one step, if its cost is lower.
    fn step(&self, projection: &Projection) -> Option<Point> {
        let Point { frequencies, gradient, hessian, scale, .. } = &self.point;
        let rooms = Spacing::new(projection.samples()).rooms(frequencies, self.pairs);
        let most = scale.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let shift: Vec<f64> = (0..frequencies.len())
            .map(|i| {
                let downhill = if gradient[i] < 0.0 { rooms[i].above } else { rooms[i].below };
                if downhill < NO_ROOM { HELD * most } else { self.damping * scale[i].max(1e-9 * most) }
            })
            .collect();
        let step = hessian.cholesky(&shift)?.solve(gradient);
        let moved: Vec<f64> = frequencies
            .iter()
            .zip(rooms)
            .zip(step)
            .map(|((f, room), step)| f - step.clamp(-room.above.min(LONGEST), room.below.min(LONGEST)))
            .collect();
        projection.at(&moved).filter(|next| next.cost < self.point.cost)
    }
}

/// Minimises the cost from `frequencies` (in DFT bins) until a step lowers it by less than `tolerance`, relative to it; `None` if
/// the data are not finite.
pub(super) fn descend(projection: &Projection, frequencies: &[f64], tolerance: f64) -> Option<Point> {
    descend_with(projection, frequencies, &[], tolerance)
}

/// As [`descend`], with `pairs` of components that may come closer to each other than the others.
pub(super) fn descend_with(
    projection: &Projection,
    frequencies: &[f64],
    pairs: &[(usize, usize)],
    tolerance: f64,
) -> Option<Point> {
    let solver = DampedNewton { point: projection.at(frequencies)?, pairs, damping: 1e-3, tolerance, settled: false };
    let run = Executor::new(projection, solver).configure(|state| state.max_iters(MAX_ITERATIONS)).run();
    run.ok().map(|result| result.solver.point)
}
