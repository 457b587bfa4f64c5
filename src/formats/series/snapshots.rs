//! Texts of readings that come several at a time: one decoder of the lines reads a finished file and one that grows.

use std::collections::VecDeque;
use std::marker::PhantomData;

use super::growth::Growth;
use super::sheet::Sheet;
use super::table::Row;
use crate::error::Result;
use crate::formats::lines::{Bad, Follower, LineDecoder, LineReader, TailedLines, Taken, Tally, Transfers};
use crate::formats::options::ReadOptions;
use crate::formats::source::Source;
use crate::record::{Clock, Interval};

/// What the lines become, one after the other.
pub(super) trait Snapshots: Send {
    /// Takes a line without the blanks around it; `number` counts from 1.
    ///
    /// # Errors
    /// If it should be a reading and is none.
    fn line(&mut self, line: &[u8], number: u64) -> std::result::Result<Taken, Bad>;

    /// The error of too many readings.
    fn check(&self) -> Result<()>;

    /// All readings of a file.
    fn finish(self, tally: &Tally) -> Result<Sheet>;
}

/// Snapshots whose readings can be taken as they come.
pub(super) trait Growing: Snapshots {
    /// The readings so far, without those taken.
    fn sheet(&self) -> &Sheet;

    /// Takes the readings that no later line changes, each with the place of its group; all of them if nothing more comes.
    ///
    /// # Errors
    /// If nothing says their times.
    fn take(&mut self, ends: bool) -> Result<Vec<(usize, Row)>>;
}

/// Reads a file.
///
/// # Errors
/// Malformed if it has no reading or nothing says the times; limits; errors of the system.
pub(super) fn read<S: Snapshots>(source: &Source, options: &ReadOptions, mut snapshots: S) -> Result<Sheet> {
    let mut lines = LineReader::open(source, options)?;
    while lines.next(&SnapshotLines(PhantomData), &mut snapshots)? {
        snapshots.check()?;
    }
    snapshots.finish(&lines.finish())
}

/// Follows a file that grows.
pub(super) fn follow<S: Growing + 'static>(options: &ReadOptions, snapshots: S) -> Box<dyn TailedLines> {
    Box::new(Follower::new(GrowingLines(PhantomData), (snapshots, Growth::new(options))))
}

struct SnapshotLines<S>(PhantomData<fn() -> S>);

impl<S: Snapshots> LineDecoder for SnapshotLines<S> {
    type Rows = S;

    fn line(&self, line: &[u8], number: u64, snapshots: &mut S) -> std::result::Result<Taken, Bad> {
        snapshots.line(line.trim_ascii(), number)
    }

    fn is_remark(&self, _: &[u8]) -> bool {
        false
    }
}

struct GrowingLines<S>(PhantomData<fn() -> S>);

impl<S: Growing> LineDecoder for GrowingLines<S> {
    type Rows = (S, Growth);

    fn line(&self, line: &[u8], number: u64, rows: &mut Self::Rows) -> std::result::Result<Taken, Bad> {
        rows.0.line(line.trim_ascii(), number)
    }

    fn is_remark(&self, _: &[u8]) -> bool {
        false
    }
}

impl<S: Growing> Transfers for GrowingLines<S> {
    fn take(
        &mut self,
        (snapshots, growth): &mut Self::Rows,
        transfers: &mut VecDeque<Interval>,
    ) -> std::result::Result<(), String> {
        let taken = give(snapshots, growth, false);
        transfers.append(&mut growth.waiting);
        taken
    }

    fn clock(&self, (snapshots, _): &Self::Rows) -> Clock {
        snapshots.sheet().clock()
    }

    fn end(&mut self, (snapshots, growth): &mut Self::Rows) {
        // an error was one of the lines
        let _ = give(snapshots, growth, true);
        growth.end(snapshots.sheet(), &snapshots.sheet().groups);
    }
}

fn give(snapshots: &mut impl Growing, growth: &mut Growth, ends: bool) -> std::result::Result<(), String> {
    let rows = snapshots.take(ends).map_err(|e| e.to_string())?;
    let sheet = snapshots.sheet();
    let mut give = |(at, row)| growth.row(sheet, &sheet.groups, at, row).map_err(|bad| bad.to_string());
    rows.into_iter().try_for_each(&mut give)
}
