//! Classes as partially ordered sets: "is a less precise predictor than" (Madhyastha & Reed 1997, section 3.1, figure 2).
//!
//! The classes of one axis have a least precise one, and any two of them have a greatest class below both, their meet. With
//! the stream of accesses itself on top, which predicts perfectly, every axis is a lattice ([`Known`]).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The classes of one axis.
pub trait Axis: Copy + Eq + std::fmt::Debug + 'static {
    /// All classes, in no order that matters.
    const ALL: &'static [Self];
    /// The least precise one.
    const LEAST: Self;

    /// True if `self` predicts no more than `other`.
    fn at_most(self, other: Self) -> bool;

    /// The most precise class that predicts no more than either.
    fn meet(self, other: Self) -> Self {
        let below = |c: &&Self| c.at_most(self) && c.at_most(other);
        Self::ALL.iter().filter(below).fold(Self::LEAST, |best, &c| if best.at_most(c) { c } else { best })
    }

    /// Name in reports.
    fn name(self) -> &'static str;
}

/// What is known of a stream of accesses on one axis: a class, or all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known<C> {
    /// A class.
    Class(C),
    /// The accesses themselves: a perfect predictor.
    Exactly,
}

impl<C: Axis> Known<C> {
    /// Greatest lower bound.
    pub fn meet(self, other: Self) -> Self {
        match (self, other) {
            (Known::Class(a), Known::Class(b)) => Known::Class(a.meet(b)),
            (Known::Exactly, x) | (x, Known::Exactly) => x,
        }
    }

    /// Least upper bound.
    pub fn join(self, other: Self) -> Self {
        let (Known::Class(a), Known::Class(b)) = (self, other) else { return Known::Exactly };
        let above = |c: &&C| a.at_most(**c) && b.at_most(**c);
        let least = |found: Known<C>, &c: &C| match found {
            Known::Class(best) if best.at_most(c) => found,
            _ => Known::Class(c),
        };
        C::ALL.iter().filter(above).fold(Known::Exactly, least)
    }
}

/// Reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mix {
    /// Only reads.
    ReadOnly,
    /// Only writes.
    WriteOnly,
    /// Both.
    ReadWrite,
}

impl Axis for Mix {
    const ALL: &'static [Self] = &[Mix::ReadOnly, Mix::WriteOnly, Mix::ReadWrite];
    const LEAST: Self = Mix::ReadWrite;

    fn at_most(self, other: Self) -> bool {
        self == other || self == Mix::ReadWrite
    }

    fn name(self) -> &'static str {
        match self {
            Mix::ReadOnly => "read-only",
            Mix::WriteOnly => "write-only",
            Mix::ReadWrite => "read-write",
        }
    }
}

/// How one rank walks through a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Sequentiality {
    /// Back to back.
    #[serde(rename = "sequential")]
    Sequential,
    /// One constant step, also backwards or on the spot.
    #[serde(rename = "strided-1d")]
    Strided1d,
    /// Nested constant steps.
    #[serde(rename = "strided-kd")]
    StridedKd,
    /// One direction, steps vary.
    #[serde(rename = "variably-strided")]
    VariablyStrided,
    /// Anything else.
    #[serde(rename = "non-sequential")]
    NonSequential,
}

impl Axis for Sequentiality {
    const ALL: &'static [Self] = &[
        Sequentiality::Sequential,
        Sequentiality::Strided1d,
        Sequentiality::StridedKd,
        Sequentiality::VariablyStrided,
        Sequentiality::NonSequential,
    ];
    const LEAST: Self = Sequentiality::NonSequential;

    // a chain: each is a special case of the next
    fn at_most(self, other: Self) -> bool {
        self >= other
    }

    fn name(self) -> &'static str {
        match self {
            Sequentiality::Sequential => "sequential",
            Sequentiality::Strided1d => "strided-1d",
            Sequentiality::StridedKd => "strided-kd",
            Sequentiality::VariablyStrided => "variably-strided",
            Sequentiality::NonSequential => "non-sequential",
        }
    }
}

impl Size {
    /// The size class of two kinds of requests together that are not of one size.
    pub(crate) fn beside(self, other: Self) -> Self {
        match self.meet(other) {
            Self::UniformSmall => Self::VariableSmall,
            Self::UniformLarge => Self::VariableLarge,
            met => met,
        }
    }
}

/// Sizes of requests; small is below the stripe unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// All equal and small.
    UniformSmall,
    /// All equal and large.
    UniformLarge,
    /// Different, all small.
    VariableSmall,
    /// Different, all large.
    VariableLarge,
    /// Small and large ones.
    Variable,
}

impl Axis for Size {
    const ALL: &'static [Self] =
        &[Size::UniformSmall, Size::UniformLarge, Size::VariableSmall, Size::VariableLarge, Size::Variable];
    const LEAST: Self = Size::Variable;

    fn at_most(self, other: Self) -> bool {
        self == other
            || self == Size::Variable
            || (self, other) == (Size::VariableSmall, Size::UniformSmall)
            || (self, other) == (Size::VariableLarge, Size::UniformLarge)
    }

    fn name(self) -> &'static str {
        match self {
            Size::UniformSmall => "uniform-small",
            Size::UniformLarge => "uniform-large",
            Size::VariableSmall => "variable-small",
            Size::VariableLarge => "variable-large",
            Size::Variable => "variable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sets are small: the laws are checked on all of their elements.
    fn laws<C: Axis>() {
        let mut all: Vec<Known<C>> = C::ALL.iter().map(|&c| Known::Class(c)).collect();
        all.push(Known::Exactly);
        for &a in &all {
            assert_eq!((a.meet(a), a.join(a)), (a, a), "idempotent");
            assert_eq!((a.meet(Known::Exactly), a.join(Known::Exactly)), (a, Known::Exactly), "top");
            let least = Known::Class(C::LEAST);
            assert_eq!((a.meet(least), a.join(least)), (least, a), "bottom");
            for &b in &all {
                assert_eq!((a.meet(b), a.join(b)), (b.meet(a), b.join(a)), "commutative");
                assert_eq!((a.meet(a.join(b)), a.join(a.meet(b))), (a, a), "absorbing");
                assert_eq!(a.meet(b) == a, a.join(b) == b, "consistent");
                for &c in &all {
                    assert_eq!(a.meet(b).meet(c), a.meet(b.meet(c)), "meet is associative");
                    assert_eq!(a.join(b).join(c), a.join(b.join(c)), "join is associative");
                }
            }
        }
    }

    #[test]
    fn every_axis_is_a_lattice() {
        laws::<Mix>();
        laws::<Sequentiality>();
        laws::<Size>();
    }

    #[test]
    fn the_order_is_that_of_precision() {
        assert_eq!(Mix::ReadOnly.meet(Mix::WriteOnly), Mix::ReadWrite);
        assert_eq!(Sequentiality::Sequential.meet(Sequentiality::StridedKd), Sequentiality::StridedKd);
        assert_eq!(Size::UniformSmall.meet(Size::UniformLarge), Size::Variable);
        assert_eq!(Size::UniformSmall.meet(Size::VariableSmall), Size::VariableSmall);
        assert_eq!(Known::Class(Size::UniformSmall).join(Known::Class(Size::UniformLarge)), Known::Exactly);
    }
}
