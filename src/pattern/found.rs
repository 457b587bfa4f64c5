//! The result of a search for patterns.

use super::access::Access;
use super::cost::{Pool, saved_alone};
use super::pattern::Pattern;
use super::piece::Piece;
use super::thresholds::LIMITS;

/// Patterns, and the accesses outside them.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Found {
    /// Patterns in the order in which they began.
    pub patterns: Vec<Pattern>,
    /// Accesses that were taken in, and their bytes.
    pub records: u64,
    /// Bytes of all accesses.
    pub bytes: u64,
    /// Accesses that an open automaton expected.
    pub predicted: u64,
    /// Patterns that are only counted, because there were too many to keep.
    pub unlisted: Unlisted,
    /// Accesses that belong to no pattern.
    pub unmatched_records: u64,
    /// These accesses, if they were kept ([`super::Options::keep_unmatched`]).
    pub unmatched: Vec<Access>,
}

/// Patterns that are counted and not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Unlisted {
    /// How many.
    pub patterns: u64,
    /// Their accesses.
    pub records: u64,
    /// Bytes that these move.
    pub bytes: u64,
}

impl Unlisted {
    /// Takes the pieces of at most `most` bytes out of a list and counts those that pay by themselves. Gives the accesses of
    /// the others.
    pub(super) fn take_small(&mut self, pieces: &mut Vec<Piece>, most: u64, pool: &Pool) -> u64 {
        let mut residual = 0;
        for p in pieces.extract_if(.., |p| p.bytes() <= most) {
            if saved_alone(pool, &p) > LIMITS.margin {
                self.patterns += 1;
                self.records += p.records();
                self.bytes = self.bytes.saturating_add(p.bytes());
            } else {
                residual += p.records();
            }
        }
        residual
    }
}

impl Found {
    /// Accesses that belong to a pattern.
    pub fn matched(&self) -> u64 {
        self.records - self.unmatched_records
    }

    /// Bytes that they move.
    pub fn matched_bytes(&self) -> u64 {
        self.patterns.iter().fold(self.unlisted.bytes, |sum, p| sum.saturating_add(p.bytes))
    }

    pub(super) fn append(&mut self, other: Found) {
        self.unlisted.patterns += other.unlisted.patterns;
        self.unlisted.records += other.unlisted.records;
        self.unlisted.bytes = self.unlisted.bytes.saturating_add(other.unlisted.bytes);
        self.patterns.extend(other.patterns);
        self.records += other.records;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.predicted += other.predicted;
        self.unmatched_records += other.unmatched_records;
        self.unmatched.extend(other.unmatched);
    }
}
