//! Access patterns: what each rank does in each file, in as few loops as possible.
//!
//! ```
//! use iophase::analysis::{ModeChoice, PatternOptions, Selection, patterns};
//!
//! let trace = iophase::read("data/stable.darshan")?;
//! let found = patterns(&trace, ModeChoice::Auto, &Selection::default(), &PatternOptions::default())?;
//! assert!(found.coverage.matched > 0 && !found.patterns.is_empty());
//! # Ok::<(), iophase::Error>(())
//! ```
//!
//! # Definition
//!
//! A *stream* is what one rank does in one file with one operation. A *description* of streams is a list of patterns and a list
//! of residual accesses; expanded, it gives exactly the accesses ([`verify`]). Its *length* is the number of bits of a message
//! from which the accesses can be decoded in the order of time; `cost.rs` defines it. The answer is the shortest description
//! that the search finds. A pattern is kept only if it shortens the description, and only if the patterns of its file, or those
//! with its loops in all files, save 6 bits together: random accesses save n bits with a probability below 2^-n.
//! Several descriptions may be right. Only the form of a single nest is canonical ([`crate::nest::canonical`]).
//!
//! A pattern is a loop nest around a body, loops innermost first, written (count, stride) here:
//!
//! | [`Kind`] | body and loops | example |
//! |---|---|---|
//! | contiguous | one size, one loop at that stride | 4 KiB at 0, 4K, 8K, ...: (256, 4096) |
//! | fixed-strided | one size, one loop at any stride, also 0 or down | 4 KiB at 0, 64K, 128K, ...: (256, 65536) |
//! | kd-strided | one size, several loops | rows of 4, each 64K further: (4, 4096) (256, 65536) |
//! | sequential | sizes that vary, back to back; loops around all of them | 96, 40, 544 bytes at 0, 96, 136, twice: (2, 0) |
//!
//! A loop may go through ranks ([`Pattern::ranks`]): 8 ranks that write 1 MiB each, side by side, are (8, 1M). A loop of
//! stride 0 may go through a read and a write of the same bytes ([`Pattern::then`]).
//!
//! # Two parts
//!
//! The *predictor* (`predictor.rs`) takes the accesses of a rank as they come. Automata that each expect one access take it,
//! found by hash; others wait, and three that are evenly spaced open an automaton. What automata took becomes *pieces*. The
//! *description* folds pieces: a run of pieces of one shape at a constant stride is a piece with one more loop (`fold.rs`),
//! also over ranks (`ranks.rs`). Then it keeps what pays (`describe.rs`). The rule that a run of alike things is a thing is
//! that of nested loop recognition (Ketterlin & Clauss, CGO 2008) and of power-RSDs (ScalaTrace, Noeth et al. 2009).
//!
//! # Memory
//!
//! Bounded by `limits.rs`, whatever the number of accesses: open automata, waiting accesses, sizes and pieces. Beyond that,
//! what waited longest is residual, and the pieces of fewest bytes are counted and not listed ([`Found::unlisted`]).

mod access;
mod automata;
mod cost;
mod describe;
mod detect;
mod fold;
mod found;
mod limits;
mod links;
mod options;
#[expect(clippy::module_inception, reason = "a pattern is what the room is about")]
mod pattern;
mod piece;
mod predictor;
mod progressions;
mod ranks;
mod report;
mod sizes;
mod steps;
mod table;
pub(crate) mod thresholds;
mod tiles;
mod verify;

pub use access::Access;
internal! { use detect::Detector; }
pub use detect::detect;
pub use found::{Found, Unlisted};
pub use options::{Age, Options};
pub use pattern::{Kind, NextAccess, Pattern};
pub use piece::Ranks;
pub use report::{Coverage, Direction, PatternGroup, PatternPeriod, PatternReport, PatternsReport};
pub(crate) use report::{alike, groups};
pub use sizes::SizeSummary;
pub(crate) use steps::Step;
internal! { use verify::verify; }
