//! From records to access patterns: how each rank walks through each file.
//!
//! The detector begins with no known pattern. Each known pattern is an automaton that accepts only the record that is due in
//! it: its operation, rank, file, offset and, where that is fixed, size. One hash lookup finds it, however many patterns are
//! interleaved. Records that no pattern accepts wait in a list; each time [`Options::window`] of them have come, and at the
//! end, new patterns are sought in it. Records that wait for too long leave it as unmatched, and patterns that idle for longest
//! are closed when too many are open. (After the design note "Trace Analyzer"; recency is its open point.)
//!
//! Nothing is lost: the patterns expanded ([`Pattern::expand`]) and the unmatched records are together exactly the records.
//!
//! # Types
//!
//! [`Kind::Contiguous`]: equal sizes, back to back. [`Kind::FixedStrided`]: equal sizes at a constant stride, which may be
//! negative or zero. [`Kind::KdStrided`]: nested loops over accesses of one size. [`Kind::Sequential`]: back to back, sizes vary.
//!
//! # The canonical form
//!
//! Several descriptions may visit the same places. *The* pattern is this one:
//!
//! 1. Records of one operation, rank, file and size, in the order of time, are read as loop nests, greedily: a nest takes in
//!    every record as long as it stays a nest. A nest is its first offset and its loops, innermost first, each with its count
//!    and its stride: the distance from the start of one pass to the start of the next.
//! 2. A loop goes on for as long as it can before a loop around it begins. So there are no loops of one pass, and a loop that
//!    goes on where the loop inside it ends (`stride = inner count * inner stride`) is one with it ([`canonical`]): blocks
//!    back to back are one contiguous pattern, passes over the same single place are one loop of stride 0.
//! 3. One loop is fixed-strided, or contiguous if its stride is the size (sizes of 0 are never contiguous). More loops are
//!    kd-strided, also if the innermost one is contiguous.
//! 4. Another pass over the same places is a loop of stride 0 around them; if it goes on beyond them, and further passes do
//!    so too, it is the first one of a larger nest. Streams in regular turns (a chunk of one, a chunk of the other, ...) are
//!    one nest; streams in irregular turns are one pattern each.
//! 5. A nest must have foretold two of its records: four at any stride, three back to back or at one place, five for pairs at
//!    a distance. One is enough (three at any stride, two back to back or at one place, two pairs) where such nests leave
//!    nothing over of that operation, rank, file and size when the trace ends, and stronger ones do not tell it as well (rule
//!    9). A stride that a nest of that stream shows which has foretold two is no free choice of the others: it counts as foretold.
//! 6. Sizes that vary, back to back, are sequential if they change at least twice and, on average, before four are equal; a
//!    sequential pattern goes on whatever the sizes. What goes on elsewhere as a nest belongs to that, and what begins where
//!    the access right before it ended goes on with no other. Longer runs of equal sizes are contiguous, and a last shorter
//!    access (the end of a file) belongs to none. Where the same accesses come several times and one of them is sequential, it is
//!    that without which the others are told best. Where accesses of many sizes come in random order, sequential patterns must be
//!    longer than chance makes them, and those of one size that is one of 16 or more are one nest, or visits of their places; that
//!    order shows, over all ranks and files, in that most accesses which could be followed where they end are not, right away,
//!    and in places back to back that are visited in reverse.
//! 7. When the trace ends, what is left is looked at once more, all ranks together. Accesses of one size that evenly spaced
//!    ranks make once each, at a constant distance from rank to rank (0: the same place), are one pattern whose outermost
//!    loop goes through the ranks ([`Pattern::ranks`]). Two of them must be foretold, over all such places of a distance, and
//!    they must be no accident: not to be expected at random places of the same grid, or all that is left, in the same order
//!    in every rank, of all ranks or at least four. A loop that one rank has shown counts in others, at that distance,
//!    wherever all of it is left.
//! 8. Then each rank alone: runs, also of two, back to back, at one place, at a stride that the stream has shown or at a
//!    distance that shows more than once, if chance does not make them (no more than 0.01 to be expected). A read and the write
//!    of the same bytes right after it, more than once in a file, are a pattern of both ([`Pattern::then`]).
//! 9. Of all readings of what a rank does in a file with one operation and size, *the* one is told by the fewest numbers: a
//!    place for each nest and each access left over, and a stride for each loop but those over the same places or back to
//!    back. Then it has the fewest loops and accesses left over, then the fewest patterns, then nests that have each foretold
//!    two, then the fewest mere pairs, and of those that are equal it is the one whose first loops go on for longest. Nests
//!    that are seen but once have foretold three for two of them, on average, or any few accesses are nests. In it nests
//!    follow each other in time, rounds (the same list over and over, each time a distance further) are a loop around the
//!    nests of the list, and what goes on where a nest has ended, or does the same again, whatever came between, is one with
//!    it, and so is a pass by itself before it; but what begins within a nest and goes on beyond it, at its stride, is a nest
//!    of its own, a row is not torn for the sake of its first access, and nests that follow each other are not torn to join
//!    their parts with those of others. What is all done again leaves nothing over to take fewer numbers. The same places
//!    again are a loop of stride 0, not another stream: what is once alone over and over and then followed by one more access
//!    is one pattern, and that access another one. In a list over and over, a pair at a distance that no nest of the list
//!    shows is two accesses, each a loop, unless no others are alone. Streams of a few thousand accesses or runs are read so
//!    as a whole when the trace ends, and so are lists of a few thousand accesses, however often all of one is gone through;
//!    longer ones as nests that follow each other, each as long as it stays one, but for its last pass where that is the start
//!    of a larger one.
//! 10. What a rank does in a file with accesses of one operation and size is plain if it is less than three of them,
//!     one nest, or nests that follow each other, with two foretold in each (in all but the last of many), or a list
//!     over and over that often breaks off (the same places are in the same order each time), or that goes upwards from
//!     the same place to two others or more, each time, though its patterns may tell it in another way; of one of many
//!     sizes in random order, only what is one nest or less than three. Where some is not, over all ranks and files
//!     (where sizes vary in random order, and where 48 accesses or more are strewn over a thousand times as many
//!     places, in each file by itself), and these are more than 64 accesses or as many as some file of several places
//!     has places for them, there is an order only if the patterns tell where the accesses are in fewer bits (by 2, by
//!     6 if no place comes twice in what a rank does, and by one more for each other list, up to 6) than random places
//!     take; what a rank does at other places as another one does it is told by that, turns by a list and how often it
//!     comes, and of few accesses, one row of the places may be told and the others not, or a row in blocks that come
//!     in another order. Many ranks that do the same, where others do not, do it in an order. Without an order nothing
//!     is a pattern, plain or not, but what chance does not make (fewer than 0.000001 to be expected; with accesses of
//!     other sizes by rule 8); if all ranks go through a list of places over and over, what is no nest is a loop at
//!     each place. With an order, but a third of the accesses in no pattern, short patterns among them are none if
//!     chance makes such ones, unless half of all ranks or more have one of the same loops.
//! 11. `start_offset` is the first access; `end_offset` is one past the highest byte, so that for descending strides the
//!     start is not the lowest byte.
//!
//! Accesses of which each happens once, at a place that nothing tells, are in no pattern.
//!
//! # Memory
//!
//! Bounded by the open patterns ([`Options::max_open`] a rank, fewer where there are many ranks), the records that wait (1
//! million, of all ranks together), those left that wait for the end (a hundred thousand), what streams did (half a million
//! accesses or runs; of a list over and over those of one pass), and the closed patterns that are kept (24 MiB, about a
//! hundred thousand). When there are more closed ones, parts of one are joined, and those of fewest bytes are only counted
//! from then on ([`Found::folded`]). With [`Options::keep_unmatched`], which the check for losses needs, everything is kept.
//!
//! The outermost loop counts complete passes; what is left of a pass that broke off is a pattern of its own, or unmatched.

mod access;
mod across;
mod again;
mod bits;
mod chain;
mod detect;
mod detector;
mod doubt;
mod due;
mod follow;
mod growth;
mod left;
mod log;
mod merge;
mod nest;
mod open;
mod options;
mod order;
mod over;
#[expect(clippy::module_inception, reason = "a pattern is what the room is about")]
mod pattern;
mod reading;
mod remnants;
mod report;
mod reread;
mod scattered;
mod search;
mod sequential;
mod sizes;
mod steps;
mod table;
mod verify;
mod waiting;
mod walk;
mod weigh;

pub use access::Access;
pub use detect::{Detector, Found, detect};
pub use detector::{Counts, RankDetector};
pub use left::Folded;
pub use nest::{Level, canonical, offsets};
pub use options::{Age, Options};
pub use pattern::{Kind, NextAccess, Pattern, Ranks};
pub use report::{Coverage, Direction, PatternPeriod, PatternReport, PatternsReport};
pub use sizes::SizeSummary;
pub use steps::{Step, Steps};
pub use verify::verify;
