//! Whether rows are in the range that analyses rely on. Readers see to it; rows of a caller are checked.

use rayon::prelude::*;

use super::range::{MOST_MOVED, MOST_SIZE, MOST_TIME_S};
use super::trace::{Data, Trace};
use crate::error::{Error, ErrorKind, Place, Result};

/// Largest distance of a row from the zero of its trace, which is a time itself.
const MOST_DISTANCE_S: f64 = 2.0 * MOST_TIME_S;
/// Rows that one thread checks at a time.
const PART: usize = 1 << 16;

impl Data {
    /// Checks that all columns have the same length, that times are within 2·10¹² s of the zero, that no row ends before it starts,
    /// and that a row moves at most 1 PiB and all rows at most 4 EiB. Readers bring rows into this range; rows from elsewhere are
    /// checked by the analyses.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] with the first row that is wrong, [`ErrorKind::Limit`] for the sum.
    pub fn check(&self) -> Result<()> {
        self.check_lengths()?;
        self.check_times()?;
        self.check_bytes()?;
        match self.moved() > MOST_MOVED {
            true => Err(Error::limit("the trace moves more bytes", format!("{MOST_MOVED} bytes"))),
            false => Ok(()),
        }
    }

    fn check_lengths(&self) -> Result<()> {
        let n = self.len();
        let equal = match self {
            Data::Requests(r) => {
                let [op, call, rank] = [r.op.len(), r.call.len(), r.rank.len()];
                [op, call, rank, r.task.len(), r.file.len(), r.offset.len(), r.size.len(), r.end.len()] == [n; 8]
            }
            Data::Intervals(i) => {
                let [op, asynchronous, rank] = [i.op.len(), i.asynchronous.len(), i.rank.len()];
                [op, asynchronous, rank, i.file.len(), i.bytes.len(), i.end.len()] == [n; 6]
            }
        };
        match equal {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::Malformed,
                format!("{n} starts, and another number of values in a column beside them"),
            )
            .expected("as many values in each column")),
        }
    }

    fn check_times(&self) -> Result<()> {
        let (start, end) = match self {
            Data::Requests(r) => (&r.start, &r.end),
            Data::Intervals(i) => (&i.start, &i.end),
        };
        let fine = |(start, end): (&f64, &f64)| -MOST_DISTANCE_S <= *start && start <= end && *end <= MOST_DISTANCE_S;
        let first_wrong = |(part, (start, end)): (usize, (&[f64], &[f64]))| {
            start.iter().zip(end).position(|row| !fine(row)).map(|row| part * PART + row)
        };
        let parts = start.par_chunks(PART).zip(end.par_chunks(PART)).enumerate();
        let Some(row) = parts.find_map_first(first_wrong) else { return Ok(()) };
        Err(Error::malformed(Place::Record(row as u64), format!("a row from {} s to {} s", start[row], end[row]))
            .expected(format!("an end that is not before the start, both within {MOST_DISTANCE_S:e} s of 0")))
    }

    fn check_bytes(&self) -> Result<()> {
        let wrong = match self {
            Data::Requests(r) => {
                r.size.iter().enumerate().find(|&(_, n)| n > MOST_SIZE).map(|(row, n)| (row, n.to_string()))
            }
            Data::Intervals(i) => {
                let wrong = i.bytes.iter().enumerate().find(|(_, n)| !(0.0..=MOST_SIZE as f64).contains(*n));
                wrong.map(|(row, n)| (row, n.to_string()))
            }
        };
        let Some((row, bytes)) = wrong else { return Ok(()) };
        Err(Error::malformed(Place::Record(row as u64), format!("a row of {bytes} bytes"))
            .expected(format!("0 to {MOST_SIZE} bytes")))
    }

    /// Bytes of rows in range, at most [`MOST_MOVED`] and one.
    pub(crate) fn moved(&self) -> u64 {
        let sum: u128 = match self {
            Data::Requests(r) => r.size.iter().map(u128::from).sum(),
            Data::Intervals(i) => i.bytes.iter().sum::<f64>() as u128,
        };
        sum.min(u128::from(MOST_MOVED) + 1) as u64
    }
}

impl Trace {
    /// [`Data::check`], with the name of the trace in the error.
    ///
    /// # Errors
    /// As [`Data::check`].
    pub fn check(&self) -> Result<()> {
        self.data.check().map_err(|e| e.in_file(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Interval, Request};

    fn request(start: f64, end: f64, size: u64) -> Request {
        Request { start, end, size, ..Request::default() }
    }

    #[test]
    fn rows_out_of_range_have_their_place() {
        let fine = request(-2e12, 2e12, MOST_SIZE);
        assert!(Data::Requests([fine; 3].into_iter().collect()).check().is_ok());
        let wrong = [
            request(f64::NAN, 1.0, 1),
            request(0.0, f64::INFINITY, 1),
            request(-2.1e12, 0.0, 1),
            request(2.0, 1.0, 1),
            request(0.0, 1.0, MOST_SIZE + 1),
        ];
        for row in wrong {
            let e = Data::Requests([fine, row, fine].into_iter().collect()).check().unwrap_err();
            assert!((e.kind(), e.place()) == (ErrorKind::Malformed, Some(Place::Record(1))), "{row:?}: {e}");
        }
        for bytes in [f64::NAN, -1.0, 2.0 * MOST_SIZE as f64] {
            let row = Interval { end: 1.0, bytes, ..Interval::default() };
            let e = Data::Intervals([row].into_iter().collect()).check().unwrap_err();
            assert!(e.to_string().contains(&format!("{bytes} bytes")), "{e}");
        }
    }

    #[test]
    fn the_first_wrong_row_is_named_beyond_the_first_part() {
        let (fine, wrong) = (request(0.0, 1.0, 1), request(2.0, 1.0, 1));
        let rows = std::iter::repeat_n(fine, PART + 5).chain([wrong, fine, wrong]);
        let e = Data::Requests(rows.collect()).check().unwrap_err();
        assert_eq!(e.place(), Some(Place::Record(PART as u64 + 5)));
    }

    #[test]
    fn sums_and_lengths_are_checked() {
        let most = (MOST_MOVED / MOST_SIZE) as usize;
        let row = request(0.0, 1.0, MOST_SIZE);
        assert!(Data::Requests(std::iter::repeat_n(row, most).collect()).check().is_ok());
        let e = Data::Requests(std::iter::repeat_n(row, most + 1).collect()).check().unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Limit);
        let Data::Requests(mut rows) = Data::Requests([row; 2].into_iter().collect()) else { unreachable!() };
        rows.end.pop();
        assert_eq!(Data::Requests(rows).check().unwrap_err().kind(), ErrorKind::Malformed);
    }
}
