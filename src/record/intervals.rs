//! Intervals: bytes moved over a stretch of time, without offsets: phases, heatmap bins, counters, metrics.

use super::column::Column;
use super::names::FileId;
use super::requests::{Op, Request};

/// One row of [`Intervals`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Interval {
    /// [`Op::Read`] or [`Op::Write`].
    pub op: Op,
    /// The calls of the stretch were asynchronous (non-blocking).
    pub asynchronous: bool,
    /// Rank; 0 if the format does not say.
    pub rank: u32,
    /// The file, or [`FileId::NONE`].
    pub file: FileId,
    /// Bytes moved. A real number: some formats give a rate, and metrics need not be bytes.
    pub bytes: f64,
    /// Seconds since the origin of the trace.
    pub start: f64,
    /// Seconds since the origin of the trace.
    pub end: f64,
}

/// The bytes of a request over its time.
impl From<Request> for Interval {
    fn from(r: Request) -> Self {
        Interval {
            op: r.op,
            asynchronous: false,
            rank: r.rank,
            file: r.file,
            bytes: r.size as f64,
            start: r.start,
            end: r.end,
        }
    }
}

/// Intervals as columns, in the order of the input. Every reader upholds: `start <= end`, times within 10¹² s of
/// the zero of the clock, bytes from 0 to 2⁶⁴.
#[derive(Debug, Clone, Default)]
pub struct Intervals {
    /// Read or write.
    pub op: Column<Op>,
    /// Asynchronous or not.
    pub asynchronous: Column<bool>,
    /// Ranks.
    pub rank: Column<u32>,
    /// Files.
    pub file: Column<FileId>,
    /// Bytes moved.
    pub bytes: Vec<f64>,
    /// Start times in seconds.
    pub start: Vec<f64>,
    /// End times in seconds.
    pub end: Vec<f64>,
}

impl Intervals {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Appends a row.
    #[inline]
    pub fn push(&mut self, x: Interval) {
        self.op.push(x.op);
        self.asynchronous.push(x.asynchronous);
        self.rank.push(x.rank);
        self.file.push(x.file);
        self.bytes.push(x.bytes);
        self.start.push(x.start);
        self.end.push(x.end);
    }

    /// Row `i`.
    ///
    /// # Panics
    /// If `i` is not a row.
    #[inline]
    pub fn get(&self, i: usize) -> Interval {
        Interval {
            op: self.op.get(i),
            asynchronous: self.asynchronous.get(i),
            rank: self.rank.get(i),
            file: self.file.get(i),
            bytes: self.bytes[i],
            start: self.start[i],
            end: self.end[i],
        }
    }

    /// All rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Interval> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Appends the rows of `other`, whose files must be of the same table.
    pub(crate) fn append(&mut self, other: Intervals) {
        self.op.append(other.op);
        self.asynchronous.append(other.asynchronous);
        self.rank.append(other.rank);
        self.file.append(other.file);
        if self.start.is_empty() {
            (self.bytes, self.start, self.end) = (other.bytes, other.start, other.end);
        } else {
            self.bytes.extend_from_slice(&other.bytes);
            self.start.extend_from_slice(&other.start);
            self.end.extend_from_slice(&other.end);
        }
    }
}

impl FromIterator<Interval> for Intervals {
    fn from_iter<I: IntoIterator<Item = Interval>>(rows: I) -> Self {
        let mut r = Intervals::default();
        rows.into_iter().for_each(|x| r.push(x));
        r
    }
}
