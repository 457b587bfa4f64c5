//! What the analyses of a job may cost: work in proportion to its data, however many bursts a piece of them holds.
//!
//! An analysis costs milliseconds however few transfers have come since the last one, so transfers pay for analyses. A job has as many
//! free ones as most jobs have bursts.

use serde::{Deserialize, Serialize};

/// Analyses that no transfers have to pay for.
const FREE: u64 = 128;
/// Transfers that pay for one analysis: of a full window it takes about as long as reading so many.
pub(super) const TRANSFERS: u64 = 65_536;

/// See the module.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Allowance {
    /// Transfers that have paid for nothing yet.
    transfers: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Allowance { transfers: FREE * TRANSFERS }
    }
}

impl Allowance {
    pub(super) fn earn(&mut self, transfers: usize) {
        self.transfers = self.transfers.saturating_add(transfers as u64);
    }

    /// Whether an analysis is paid for.
    pub(super) fn covers(&self) -> bool {
        self.transfers >= TRANSFERS
    }

    /// Pays for an analysis, as far as it can.
    pub(super) fn spend(&mut self) {
        self.transfers = self.transfers.saturating_sub(TRANSFERS);
    }
}
