//! The Levenberg–Marquardt method as a solver of argmin, for the frequencies of a [`Projection`].
//!
//! Steps solve (JᵀJ + λ D) δ = −gradient with D the diagonal scale; λ follows the gain ratio after Nielsen (1999).

use argmin::core::{Error, IterState, KV, Problem, Solver, TerminationReason, TerminationStatus};

use super::cholesky::Cholesky;
use super::projection::{Fit, Projection, Slope};

/// What argmin hands from step to step: frequencies and error.
pub(super) type Frequencies = IterState<Vec<f64>, (), (), (), (), f64>;

/// Relative decrease of the error below which two steps in a row end the search.
const SMALL_GAIN: f64 = 1e-10;

/// Levenberg–Marquardt over the frequencies.
#[derive(Debug, Default)]
pub(super) struct LevenbergMarquardt {
    here: Option<(Fit, Slope)>,
    /// Distance of two bins of the DFT, in radians per sample.
    bin: f64,
    damping: f64,
    /// Factor on the damping at the next step that fails.
    growth: f64,
    /// Steps in a row that gained next to nothing.
    idle: u32,
    done: bool,
}

impl LevenbergMarquardt {
    /// For a signal of so many samples.
    pub fn new(len: usize) -> LevenbergMarquardt {
        let bin = std::f64::consts::TAU / len as f64;
        LevenbergMarquardt { bin, damping: 1e-3, growth: 2.0, ..Default::default() }
    }

    /// The best fit that was found.
    pub fn into_fit(self) -> Option<Fit> {
        self.here.map(|(fit, _)| fit)
    }
}

impl Solver<Projection<'_>, Frequencies> for LevenbergMarquardt {
    fn name(&self) -> &str {
        "Levenberg-Marquardt"
    }

    fn init(
        &mut self,
        problem: &mut Problem<Projection<'_>>,
        mut state: Frequencies,
    ) -> Result<(Frequencies, Option<KV>), Error> {
        let omegas = state.take_param().unwrap_or_default();
        let fit = problem.problem("fit", |p| Ok(p.fit(&omegas)))?;
        let slope = problem.problem("slope", |p| Ok(p.slope(&fit)))?;
        let error = fit.error;
        self.here = Some((fit, slope));
        Ok((state.param(omegas).cost(error), None))
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<Projection<'_>>,
        state: Frequencies,
    ) -> Result<(Frequencies, Option<KV>), Error> {
        let Some((fit, slope)) = &self.here else {
            self.done = true;
            return Ok((state, None));
        };
        let largest = slope.scale.iter().fold(f64::MIN_POSITIVE, |m, s| m.max(*s));
        let mut damped = slope.curvature.clone();
        for (d, s) in damped.diag_mut().iter_mut().zip(&slope.scale) {
            *d += self.damping * s.max(1e-12 * largest);
        }
        let mut step = slope.descent.clone();
        Cholesky::of(&damped.view(), 1e-15 * largest).solve(&mut step);
        // Half a bin at most: beyond, the error is no parabola any more.
        let longest = step.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
        if longest > 0.5 * self.bin {
            step.iter_mut().for_each(|d| *d *= 0.5 * self.bin / longest);
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let bent: Vec<f64> =
            slope.curvature.rows().into_iter().map(|row| row.iter().zip(&step).map(|(a, b)| a * b).sum()).collect();
        let expected = 2.0 * dot(&slope.descent, &step) - dot(&step, &bent);
        let moved: Vec<f64> = fit.omegas.iter().zip(&step).map(|(o, d)| o + d).collect();
        let tried = problem.problem("fit", |p| Ok(p.fit(&moved)))?;
        let gained = fit.error - tried.error;
        // A step that fails says nothing unless there was nothing to be gained.
        let promised = if gained > 0.0 { gained } else { expected };
        self.idle = if promised <= SMALL_GAIN * fit.error { self.idle + 1 } else { 0 };
        self.done = self.idle >= 2 || longest <= 1e-12 * self.bin || step.iter().any(|d| !d.is_finite());
        let error = fit.error.min(tried.error);
        if gained > 0.0 {
            let ratio = if expected > 0.0 { gained / expected } else { 1.0 };
            self.damping *= (1.0 - (2.0 * ratio - 1.0).powi(3)).max(1.0 / 3.0);
            self.damping = self.damping.max(1e-12);
            self.growth = 2.0;
            let slope = problem.problem("slope", |p| Ok(p.slope(&tried)))?;
            self.here = Some((tried, slope));
            return Ok((state.param(moved).cost(error), None));
        }
        self.damping *= self.growth;
        self.growth *= 2.0;
        self.done |= self.damping > 1e12;
        let stay = fit.omegas.clone();
        Ok((state.param(stay).cost(error), None))
    }

    fn terminate(&mut self, state: &Frequencies) -> TerminationStatus {
        if self.done || state.get_cost().is_nan() {
            TerminationStatus::Terminated(TerminationReason::SolverConverged)
        } else {
            TerminationStatus::NotTerminated
        }
    }
}
