//! Who gets how much of the bandwidth.

use std::collections::BTreeMap;

use crate::knowledge::{Prophecy, set};

/// A job in I/O, as a scheduler sees it: bytes moved since it asked, and the knowledge of it at that time.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    pub job: usize,
    pub asked_s: f64,
    pub moved: f64,
    pub known: Option<Prophecy>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Policy {
    /// All alike.
    FairShare,
    /// One job at a time, in the order of asking.
    FirstCome,
    /// IO-Sets: one job of each set at a time, in the order of asking, the sets with weight 10^-i.
    Set10,
    /// The shortest remaining burst first, which makes the sum of all times in I/O least.
    LeastLeft,
}

impl Policy {
    /// Divides the bandwidth among the requests, which are in the order of asking. A job that nothing is known of is left alone: it has
    /// the share that it has without a scheduler.
    pub fn shares(self, requests: &[Request]) -> Vec<f64> {
        let alone = 1.0 / requests.len() as f64;
        let weights = match self {
            Policy::FairShare => vec![None; requests.len()],
            Policy::FirstCome => (0..requests.len()).map(|i| Some(if i == 0 { 1.0 } else { 0.0 })).collect(),
            Policy::Set10 => set_10(requests),
            Policy::LeastLeft => least_left(requests),
        };
        let rest = 1.0 - alone * weights.iter().filter(|w| w.is_none()).count() as f64;
        let sum: f64 = weights.iter().flatten().sum();
        weights.into_iter().map(|w| w.map_or(alone, |w| rest * w / sum)).collect()
    }
}

/// A weight for each request of a known job.
fn set_10(requests: &[Request]) -> Vec<Option<f64>> {
    let mut first = BTreeMap::new();
    let weight = |(i, r): (usize, &Request)| {
        let set = set(r.known?.characteristic_s);
        Some(if *first.entry(set).or_insert(i) == i { 10f64.powi(-set) } else { 0.0 })
    };
    requests.iter().enumerate().map(weight).collect()
}

/// All for the first to ask of those that may have the least left.
fn least_left(requests: &[Request]) -> Vec<Option<f64>> {
    let lefts: Vec<Option<(f64, f64)>> = requests.iter().map(|r| r.known?.left(r.asked_s, r.moved)).collect();
    let least = lefts.iter().flatten().map(|l| l.0).fold(f64::INFINITY, f64::min);
    let served = lefts.iter().position(|left| left.is_some_and(|(left, spread)| left - spread <= least));
    lefts.iter().enumerate().map(|(i, left)| left.map(|_| f64::from(u8::from(served == Some(i))))).collect()
}
