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

/// Snapshots made of the lines, one after the other.
pub(super) trait Snapshots: Send {
    /// Takes a line without the blanks around it; `number` counts from 1.
    ///
    /// # Errors
    /// If it should be a reading and is none.
    fn line(&mut self, line: &[u8], number: u64) -> std::result::Result<Taken, Bad>;

    /// The readings so far, without those taken.
    fn sheet(&self) -> &Sheet;

    /// Ends the reading under way: nothing more comes.
    fn close(&mut self) {}

    /// All readings of a file.
    ///
    /// # Errors
    /// If nothing says their times.
    fn finish(self) -> Result<Sheet>;
}

/// Snapshots whose readings can be taken as they come.
pub(super) trait Growing: Snapshots {
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
pub(super) fn read<S: Snapshots>(source: &Source, options: &ReadOptions, snapshots: S) -> Result<Sheet> {
    let mut lines = LineReader::open(source, options)?;
    let mut rows = (snapshots, ());
    while lines.next(&SnapshotLines(PhantomData), &mut rows)? {
        rows.0.sheet().check(&options.limits)?;
    }
    finish(rows.0, &lines.finish(), options)
}

/// The readings of a text of which this was seen.
///
/// # Errors
/// As [`read`].
pub(super) fn finish(mut snapshots: impl Snapshots, tally: &Tally, options: &ReadOptions) -> Result<Sheet> {
    snapshots.close();
    if let (true, Some((line, bad))) = (snapshots.sheet().groups.is_empty(), tally.first_bad.clone()) {
        return Err(bad.at(line));
    }
    let mut sheet = snapshots.finish()?;
    sheet.check(&options.limits)?;
    sheet.quality.records_read += tally.bad;
    sheet.quality.records_dropped += tally.bad;
    sheet.warnings.extend(tally.warnings("readings", None));
    Ok(sheet)
}

/// Follows a file that grows.
pub(super) fn follow<S: Growing + 'static>(options: &ReadOptions, snapshots: S) -> Box<dyn TailedLines> {
    Box::new(Follower::new(SnapshotLines(PhantomData), (snapshots, Growth::new(options))))
}

/// Lines of snapshots, and what becomes of their readings if the file grows.
struct SnapshotLines<S, G>(PhantomData<fn() -> (S, G)>);

impl<S: Snapshots, G: Send> LineDecoder for SnapshotLines<S, G> {
    type Rows = (S, G);

    fn line(&self, line: &[u8], number: u64, rows: &mut Self::Rows) -> std::result::Result<Taken, Bad> {
        rows.0.line(line.trim_ascii(), number)
    }

    fn is_remark(&self, _: &[u8]) -> bool {
        false
    }
}

impl<S: Growing> Transfers for SnapshotLines<S, Growth> {
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
        snapshots.close();
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
