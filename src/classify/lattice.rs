//! Classes as partially ordered sets: "is a less precise predictor than" (Madhyastha & Reed 1997, section 3.1, figure 2).
//!
//! The classes of one axis have a least precise one, and any two of them have a greatest class below both, their meet.

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

/// The variants of an enum and their names in reports.
macro_rules! named {
    ($public:vis $($variant:ident = $name:literal),+) => {
        /// All of them.
        $public const ALL: &'static [Self] = &[$(Self::$variant),+];

        /// Name in reports.
        $public fn name(self) -> &'static str {
            match self {
                $(Self::$variant => $name),+
            }
        }
    };
}
pub(super) use named;

/// Reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Mix {
    /// Only reads.
    ReadOnly,
    /// Only writes.
    WriteOnly,
    /// Both.
    ReadWrite,
}

impl Axis for Mix {
    named!(ReadOnly = "read-only", WriteOnly = "write-only", ReadWrite = "read-write");

    const LEAST: Self = Mix::ReadWrite;

    fn at_most(self, other: Self) -> bool {
        self == other || self == Mix::ReadWrite
    }
}

/// How one rank walks through a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
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
    named!(
        Sequential = "sequential",
        Strided1d = "strided-1d",
        StridedKd = "strided-kd",
        VariablyStrided = "variably-strided",
        NonSequential = "non-sequential"
    );

    const LEAST: Self = Sequentiality::NonSequential;

    // a chain: each is a special case of the next
    fn at_most(self, other: Self) -> bool {
        self >= other
    }
}

impl Sequentiality {
    /// Does the order not predict the next access?
    pub(crate) fn is_disorder(self) -> bool {
        self.at_most(Self::VariablyStrided)
    }
}

impl Size {
    /// The size class of requests of two different sizes together.
    pub(crate) fn beside(self, other: Self) -> Self {
        match self.meet(other) {
            Self::UniformSmall => Self::VariableSmall,
            Self::UniformLarge => Self::VariableLarge,
            met => met,
        }
    }
}

/// Sizes of requests; small is below the stripe unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
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
    #[default]
    Variable,
}

impl Axis for Size {
    named!(
        UniformSmall = "uniform-small",
        UniformLarge = "uniform-large",
        VariableSmall = "variable-small",
        VariableLarge = "variable-large",
        Variable = "variable"
    );

    const LEAST: Self = Size::Variable;

    fn at_most(self, other: Self) -> bool {
        self == other
            || self == Size::Variable
            || (self, other) == (Size::VariableSmall, Size::UniformSmall)
            || (self, other) == (Size::VariableLarge, Size::UniformLarge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sets are small: the laws are checked on all of their elements.
    fn laws<C: Axis>() {
        for &a in C::ALL {
            assert_eq!((a.meet(a), a.meet(C::LEAST)), (a, C::LEAST), "idempotent, bottom");
            for &b in C::ALL {
                assert_eq!(a.meet(b), b.meet(a), "commutative");
                assert_eq!(a.at_most(b), a.meet(b) == a, "consistent");
                for &c in C::ALL {
                    assert_eq!(a.meet(b).meet(c), a.meet(b.meet(c)), "associative");
                }
            }
        }
    }

    #[test]
    fn every_axis_is_a_semilattice() {
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
    }
}
