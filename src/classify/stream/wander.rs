//! Accesses that no nest describes: what order they have all the same.

use super::super::extent::{Front, Shape};
use super::super::lattice::{Axis, Sequentiality};
use super::super::network;
use super::steps::Steps;
use super::{Access, Rules};

/// Probability from which the network is believed where the rules find no order.
const SURE: f64 = 0.9;

/// What is known of accesses that no nest describes.
#[derive(Debug, Clone)]
pub(super) struct Wandering {
    rising: bool,
    falling: bool,
    steps: Steps,
    bytes: Front,
    heard: Heard,
}

impl Wandering {
    pub fn new(first: &Access, heard: Heard) -> Self {
        let mut bytes = Front::default();
        bytes.add(first.offset, first.past());
        Self { rising: true, falling: true, steps: Steps::default(), bytes, heard }
    }

    /// One more access, after one at `last`.
    pub fn add(&mut self, last: u64, a: &Access) {
        self.rising &= a.offset > last;
        self.falling &= a.offset < last;
        self.steps.add(a.offset.wrapping_sub(last) as i64, a.size);
        self.bytes.add(a.offset, a.past());
    }

    /// Asks the network of one more window.
    pub fn ask(&mut self, window: &[Access], rules: Rules) {
        self.heard = self.heard.ask(window, rules);
    }

    /// Has it a usual step?
    pub fn ordered(&self) -> bool {
        self.steps.usual().is_some()
    }

    /// The class, the bytes and the usual step, given the usual size.
    pub fn close(self, size: u64) -> (Sequentiality, Shape, Option<i64>) {
        let usual = self.steps.usual();
        let class = match self.heard {
            // runs that are back to back, at one place after the other: two levels
            _ if usual == Some(size as i64) => Sequentiality::StridedKd,
            _ if usual.is_some() => Sequentiality::Strided1d,
            Heard::Order(order) => order,
            _ if self.rising || self.falling => Sequentiality::VariablyStrided,
            _ => Sequentiality::NonSequential,
        };
        let shape = if class == Sequentiality::Sequential { Shape::Whole } else { self.bytes.finish() };
        (class, shape, usual)
    }

    /// Was it the network that found an order?
    pub fn by_network(&self) -> bool {
        matches!(self.heard, Heard::Order(_)) && self.steps.usual().is_none()
    }
}

/// What the network said of the windows of an irregular stretch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Heard {
    /// It was not asked.
    Nothing,
    /// Every window has this order, or a more precise one.
    Order(Sequentiality),
    /// Some window has none.
    Disorder,
}

impl Heard {
    /// Of the first window.
    pub fn of(window: &[Access], rules: Rules) -> Self {
        Self::Nothing.ask(window, rules)
    }

    /// Asks of one more window.
    fn ask(self, window: &[Access], rules: Rules) -> Self {
        if !rules.ask || self == Self::Disorder {
            return self;
        }
        let order = network::judge(window, rules.stripe).map(|j| j.unbroken());
        match (self, order) {
            (Self::Order(a), Some((b, p))) if p >= SURE && b < Sequentiality::VariablyStrided => Self::Order(a.meet(b)),
            (Self::Nothing, Some((b, p))) if p >= SURE && b < Sequentiality::VariablyStrided => Self::Order(b),
            _ => Self::Disorder,
        }
    }
}
