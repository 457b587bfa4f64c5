//! Who gets how much of the bandwidth.

use std::collections::BTreeMap;

use crate::knowledge::{self, Prophecy};
use crate::sim::BANDWIDTH;

/// A job in I/O, as a scheduler sees it.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub job: usize,
    pub asked_s: f64,
    /// Bytes moved since.
    pub moved: f64,
    /// What was told about the job when it asked.
    pub told: Option<Prophecy>,
}

/// Shares of the bandwidth, one a request, and after how many seconds they are to be reviewed if nothing else happens.
pub struct Grant {
    pub shares: Vec<f64>,
    pub review_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Policy {
    /// All alike.
    FairShare,
    /// One job at a time, in the order of asking.
    FirstCome,
    /// IO-Sets: one job of each set at a time, the sets by weight.
    Set10,
    /// The burst with the fewest bytes left has all that is divided.
    LeastLeft,
}

/// Least time between reviews of a burst that outgrows its prediction, seconds.
const REVIEW_S: f64 = 0.1;

impl Policy {
    pub fn name(self) -> &'static str {
        match self {
            Policy::FairShare => "fair share",
            Policy::FirstCome => "first come",
            Policy::Set10 => "Set-10",
            Policy::LeastLeft => "least left",
        }
    }

    /// Divides the bandwidth among the requests, which are in the order of asking.
    pub fn grant(self, requests: &[Request]) -> Grant {
        let n = requests.len();
        let mut grant = Grant { shares: vec![0.0; n], review_s: f64::INFINITY };
        match self {
            _ if n == 0 => {}
            Policy::FairShare => grant.shares.fill(1.0 / n as f64),
            Policy::FirstCome => grant.shares[0] = 1.0,
            Policy::Set10 => set_10(requests, &mut grant.shares),
            Policy::LeastLeft => least_left(requests, &mut grant),
        }
        grant
    }
}

/// A job that nothing is known of is left alone: it has the share that it has without a scheduler. The rest is divided among the
/// sets by their weight, 10^-i for set i; of each, the job that asked first is served.
fn set_10(requests: &[Request], shares: &mut [f64]) {
    let alone = 1.0 / requests.len() as f64;
    let mut first = BTreeMap::new();
    let mut rest = 1.0;
    for (i, r) in requests.iter().enumerate() {
        match r.told {
            Some(p) => _ = first.entry(knowledge::set(p.characteristic_s)).or_insert(i),
            None => {
                shares[i] = alone;
                rest -= alone;
            }
        }
    }
    let weights: f64 = first.keys().map(|set| 10f64.powi(-set)).sum();
    for (set, i) in first {
        shares[i] = rest * 10f64.powi(-set) / weights;
    }
}

/// The shortest remaining time first, which makes the sum of all times in I/O least. What is left follows from the bytes of the
/// prediction, if the burst is the predicted one. A job of which nothing is known, or that does something else, is left alone.
fn least_left(requests: &[Request], grant: &mut Grant) {
    let alone = 1.0 / requests.len() as f64;
    let mut rest = 1.0;
    let mut least: Option<(usize, f64)> = None;
    for (i, r) in requests.iter().enumerate() {
        match r.told.and_then(|p| p.left(r.asked_s, r.moved)) {
            Some(left) if least.is_none_or(|(_, bytes)| left < bytes) => least = Some((i, left)),
            Some(_) => {}
            None => {
                grant.shares[i] = alone;
                rest -= alone;
            }
        }
    }
    if let Some((i, left)) = least {
        grant.shares[i] = rest;
        // what is left is judged anew when that much has been moved
        grant.review_s = (left / (rest * BANDWIDTH)).max(REVIEW_S);
    }
}
