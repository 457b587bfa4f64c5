//! The definition of a workload, and the plan that it makes.

use super::parameter::{Parameter, Values};
use super::program::Program;
use super::stated::Stated;
use crate::error::Result;
use crate::record::Files;

/// A kind of synthetic job.
pub struct Workload {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// The job with these values and this seed. Values that contradict each other are errors of usage.
    pub(super) plan: fn(&Values, u64) -> Result<Plan>,
}

impl Workload {
    /// Name on the command line.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Description in one line.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Its parameters.
    pub fn parameters(&self) -> &'static [Parameter] {
        self.parameters
    }
}

/// A job: the accesses that it executes, and what it states about them.
pub(super) struct Plan {
    pub(super) ranks: u64,
    pub(super) files: Files,
    pub(super) stated: Stated,
    pub(super) program: Box<dyn Program>,
}
