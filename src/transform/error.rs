//! Errors in the arguments of a transform.

use std::fmt;

/// An argument outside the domain of a transform. The data themselves are never an error: NaN in gives NaN out.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// The signal has no samples.
    Empty,
    /// The signal has too few samples.
    TooShort {
        /// Number of samples.
        len: usize,
        /// Number needed.
        needed: usize,
    },
    /// Two series that belong together differ in length.
    Lengths {
        /// Length of the first.
        first: usize,
        /// Length of the second.
        second: usize,
    },
    /// No wavelet has this name.
    UnknownWavelet(String),
    /// A parameter breaks a rule.
    Parameter {
        /// Which parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The rule.
        rule: String,
    },
}

impl Error {
    pub(super) fn parameter(name: &'static str, value: f64, rule: impl Into<String>) -> Error {
        Error::Parameter { name, value, rule: rule.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Empty => write!(f, "the signal has no samples"),
            Error::TooShort { len, needed } => write!(f, "{len} samples are too few: at least {needed} are needed"),
            Error::Lengths { first, second } => write!(f, "two series of {first} and {second} samples do not match"),
            Error::UnknownWavelet(name) => {
                write!(f, "unknown wavelet {name:?}; expected one of haar, db1..db10, sym2..sym10, coif1..coif5")
            }
            Error::Parameter { name, value, rule } => write!(f, "{name} is {value}, but must be {rule}"),
        }
    }
}

impl std::error::Error for Error {}

/// Result of a transform.
pub type Result<T> = std::result::Result<T, Error>;
