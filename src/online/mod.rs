//! The pipeline fed piece by piece: change points and the automaton of regimes.

pub mod automaton;
pub mod change;
