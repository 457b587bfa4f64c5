//! A chain: bursts of a list that follow each other at whole multiples of a period.

use crate::period::chains::bursts::BurstList;
use crate::period::chains::fit::{Fit, fit};
use crate::period::chains::stats::median_of;
use crate::period::chains::thresholds::LIMITS;

/// Bursts of a list with their slot numbers, both rising; the first slot is 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chain {
    pub members: Vec<u32>,
    pub slots: Vec<u32>,
}

impl Chain {
    pub fn len(&self) -> usize {
        self.members.len()
    }

    pub fn first(&self) -> usize {
        self.members.first().map_or(0, |&i| i as usize)
    }

    pub fn last(&self) -> usize {
        self.members.last().map_or(0, |&i| i as usize)
    }

    /// Slots from the first to the last burst, both included.
    pub fn slot_count(&self) -> usize {
        self.slots.last().map_or(0, |&k| k as usize + 1)
    }

    pub fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.iter().map(|&i| i as usize)
    }

    /// Onsets of the members, seconds since the origin.
    pub fn onsets<'a>(&'a self, list: &'a BurstList) -> impl Iterator<Item = f64> + 'a {
        self.indices().map(|i| list.start[i])
    }

    /// Slot numbers as numbers to calculate with.
    pub fn slot_numbers(&self) -> Vec<f64> {
        self.slots.iter().map(|&k| f64::from(k)).collect()
    }

    /// Period, phase and errors from the chain's onsets.
    pub fn fit(&self, list: &BurstList) -> Fit {
        fit(&self.onsets(list).collect::<Vec<_>>(), &self.slot_numbers())
    }

    /// Keeps the members `from..=to`.
    fn cut(&mut self, from: usize, to: usize) {
        self.members.truncate(to + 1);
        self.slots.truncate(to + 1);
        self.members.drain(..from);
        self.slots.drain(..from);
        let first = self.slots.first().copied().unwrap_or(0);
        self.slots.iter_mut().for_each(|k| *k -= first);
    }

    /// Drops members at the ends that are longer than a period.
    pub fn drop_long_ends(&mut self, list: &BurstList, period: f64, keep: usize) {
        let most = self.longest(list, period);
        let long = |i: Option<&u32>| i.is_some_and(|&i| length(list, i) > most);
        while self.len() > keep && long(self.members.last()) {
            self.cut(0, self.len() - 2);
        }
        while self.len() > keep && long(self.members.first()) {
            self.cut(1, self.len() - 1);
        }
    }

    /// Does a burst at an end last longer than a period?
    pub fn has_long_end(&self, list: &BurstList, period: f64) -> bool {
        let ends = [self.members.first(), self.members.last()];
        let long = |i: &u32, most: f64| length(list, *i) > most;
        ends.iter().flatten().any(|i| long(i, LIMITS.longest_burst * period)) && {
            let most = self.longest(list, period);
            ends.iter().flatten().any(|i| long(i, most))
        }
    }

    /// Seconds of the longest burst of a period: less than the period, but phases that nearly fill it are as long as the others.
    fn longest(&self, list: &BurstList, period: f64) -> f64 {
        let mut lengths: Vec<f64> = self.members.iter().map(|&i| length(list, i)).collect();
        (LIMITS.longest_burst * period).max(1.05 * median_of(&mut lengths)).min(period)
    }
}

fn length(list: &BurstList, i: u32) -> f64 {
    list.end[i as usize] - list.start[i as usize]
}
