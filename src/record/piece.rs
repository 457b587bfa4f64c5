//! Rows as they are read, for questions that need every row of a trace but not all of them at once.

use super::names::Files;
use super::requests::Requests;

/// Some rows of a trace. Those of one rank come in their order; ranks may come in any order.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// As in [`Trace::origin_s`](super::Trace): the same in every piece.
    pub origin_s: i64,
    /// File names so far: a later piece has them under the same numbers.
    pub files: &'a Files,
    /// The rows. Their call names are not told.
    pub rows: &'a Requests,
}
