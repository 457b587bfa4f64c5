//! Plans of the Fourier transforms: making one takes longer than the transform itself.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use realfft::num_complex::Complex;
use realfft::{RealFftPlanner, RealToComplex};

type Plan = dyn RealToComplex<f64>;

/// From this length on the tables of a plan take much memory: it lives as long as it is in use.
const LARGE: usize = 1 << 17;
/// Shorter plans that are kept, the last ones used.
const KEPT: usize = 8;

#[derive(Default)]
struct Plans {
    kept: Vec<Arc<Plan>>,
    in_use: Vec<Weak<Plan>>,
}

static PLANS: Mutex<Plans> = Mutex::new(Plans { kept: Vec::new(), in_use: Vec::new() });

/// The forward transform of `len` real numbers, shared by all who need it at the same time.
pub(crate) fn forward(len: usize) -> Arc<Plan> {
    let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    if len < LARGE { plans.short(len) } else { plans.large(len) }
}

/// Input and output of short transforms. Each thread keeps one: the pages of new ones cost as much as the transform.
#[derive(Default)]
pub(crate) struct Workspace {
    pub input: Vec<f64>,
    pub output: Vec<Complex<f64>>,
    scratch: Vec<Complex<f64>>,
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::default();
}

/// Calls `work` with a workspace for `len` real numbers, of which the input is 0.
pub(crate) fn with_workspace<R>(len: usize, work: impl FnOnce(&mut Workspace) -> R) -> R {
    WORKSPACE.with_borrow_mut(|w| {
        w.input.clear();
        w.input.resize(len, 0.0);
        w.output.resize(len / 2 + 1, Complex::default());
        work(w)
    })
}

impl Workspace {
    /// Transforms the input, which it overwrites.
    pub fn transform(&mut self) {
        let plan = forward(self.input.len());
        self.scratch.resize(plan.get_scratch_len(), Complex::default());
        // all lengths are those of the plan: this cannot fail
        let done = plan.process_with_scratch(&mut self.input, &mut self.output, &mut self.scratch);
        debug_assert!(done.is_ok());
    }
}

impl Plans {
    fn short(&mut self, len: usize) -> Arc<Plan> {
        let plan = match self.kept.iter().position(|plan| plan.len() == len) {
            Some(i) => self.kept.remove(i),
            None => RealFftPlanner::new().plan_fft_forward(len),
        };
        self.kept.truncate(KEPT - 1);
        self.kept.insert(0, Arc::clone(&plan));
        plan
    }

    fn large(&mut self, len: usize) -> Arc<Plan> {
        self.in_use.retain(|plan| plan.strong_count() > 0);
        if let Some(plan) = self.in_use.iter().filter_map(Weak::upgrade).find(|plan| plan.len() == len) {
            return plan;
        }
        let plan = RealFftPlanner::new().plan_fft_forward(len);
        self.in_use.push(Arc::downgrade(&plan));
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_plans_are_kept_and_large_ones_are_not() {
        let mut plans = Plans::default();
        let first = plans.short(100);
        (101..100 + KEPT).for_each(|len| drop(plans.short(len)));
        assert!(Arc::ptr_eq(&first, &plans.short(100)));
        (200..200 + KEPT).for_each(|len| drop(plans.short(len)));
        assert!(!Arc::ptr_eq(&first, &plans.short(100)) && plans.kept.len() == KEPT);
        let large = plans.large(LARGE);
        assert!(Arc::ptr_eq(&large, &plans.large(LARGE)));
        drop(large);
        plans.large(2 * LARGE);
        assert_eq!(plans.in_use.len(), 1);
    }
}
