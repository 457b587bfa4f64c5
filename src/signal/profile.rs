//! The exact bandwidth over time as a piecewise constant function.
