//! Which transfers of a trace enter a signal.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NamePattern, Span};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Data, FileId, Files, Intervals, Op, Requests, Trace};

/// Direction and kind of the transfers that enter a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// All writes.
    Write,
    /// All reads.
    Read,
    /// Reads and writes.
    All,
    /// Blocking writes.
    WriteSync,
    /// Blocking reads.
    ReadSync,
    /// Non-blocking writes.
    WriteAsync,
    /// Non-blocking reads.
    ReadAsync,
}

impl Mode {
    /// Name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Write => "write",
            Mode::Read => "read",
            Mode::All => "all",
            Mode::WriteSync => "write_sync",
            Mode::ReadSync => "read_sync",
            Mode::WriteAsync => "write_async",
            Mode::ReadAsync => "read_async",
        }
    }

    #[inline]
    fn takes(self, op: Op, asynchronous: bool) -> bool {
        match self {
            Mode::Write => op == Op::Write,
            Mode::Read => op == Op::Read,
            Mode::All => op.moves_bytes(),
            Mode::WriteSync => op == Op::Write && !asynchronous,
            Mode::ReadSync => op == Op::Read && !asynchronous,
            Mode::WriteAsync => op == Op::Write && asynchronous,
            Mode::ReadAsync => op == Op::Read && asynchronous,
        }
    }
}

/// A set of ranks such as `0-3,7`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankSet(Vec<RangeInclusive<u32>>);

impl RankSet {
    /// True if `rank` is in the set.
    pub(crate) fn contains(&self, rank: u32) -> bool {
        self.0.iter().any(|r| r.contains(&rank))
    }
}

impl FromStr for RankSet {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let range = |part: &str| {
            let (a, b) = part.split_once('-').unwrap_or((part, part));
            let (a, b): (u32, u32) = (a.trim().parse().ok()?, b.trim().parse().ok()?);
            (a <= b).then_some(a..=b)
        };
        text.split(',').map(range).collect::<Option<Vec<_>>>().map(RankSet).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("invalid rank list `{text}`"))
                .expected("numbers and ranges such as 0-3,7")
        })
    }
}

options! {
    /// The part of a trace to keep, beside the mode.
    #[derive(Debug, Clone, Default)]
    pub struct Selection {
        /// Only these ranks.
        pub ranks: Option<RankSet>,
        /// Only files whose name matches.
        pub files: Option<NamePattern>,
        /// Also pipes, sockets, terminals, `/proc`, `/sys`, `/dev`, `/etc` and shared libraries.
        pub all_files: bool,
        /// Only transfers at or after this time, in seconds on the trace's own clock.
        pub from_s: Option<f64>,
        /// Only transfers before this time, in seconds on the trace's own clock.
        pub until_s: Option<f64>,
    }
}

impl Selection {
    /// True if it keeps all transfers of files of the job.
    pub fn is_whole(&self) -> bool {
        let Selection { ranks, files, all_files, from_s, until_s } = self;
        ranks.is_none() && files.is_none() && !all_files && from_s.is_none() && until_s.is_none()
    }
}

/// Decides row by row whether a mode and a selection keep it, while the names of files become known.
#[derive(Debug, Clone)]
pub struct RowFilter<'a> {
    mode: Mode,
    selection: &'a Selection,
    /// For each file, whether it is kept.
    keep_file: Vec<bool>,
    /// For each file, whether it is a system file that is left out.
    system: Vec<bool>,
    keep_all: bool,
    /// The only files that are kept, if not all are.
    only: Option<&'a HashSet<FileId>>,
    from: f64,
    until: f64,
}

impl<'a> RowFilter<'a> {
    /// Knows no file yet.
    pub fn new(mode: Mode, selection: &'a Selection) -> Self {
        RowFilter {
            mode,
            selection,
            only: None,
            keep_file: Vec::new(),
            system: Vec::new(),
            keep_all: true,
            from: f64::NEG_INFINITY,
            until: f64::INFINITY,
        }
    }

    /// Keeps these files only, of those that the selection keeps.
    pub fn only(self, files: Option<&'a HashSet<FileId>>) -> Self {
        RowFilter { only: files, ..self }
    }

    /// Learns the files that are new, and to what the times of rows are relative ([`Trace::origin_s`]).
    pub fn learn(&mut self, files: &Files, origin_s: i64) {
        let origin = origin_s as f64;
        self.from = self.selection.from_s.map_or(f64::NEG_INFINITY, |t| t - origin);
        self.until = self.selection.until_s.map_or(f64::INFINITY, |t| t - origin);
        for (id, name) in files.since(self.keep_file.len()) {
            let keep = (self.selection.all_files || !files.is_system(id))
                && self.only.is_none_or(|files| files.contains(&id))
                && self.selection.files.as_ref().is_none_or(|r| r.is_match(name));
            self.keep_all &= keep;
            self.keep_file.push(keep);
            self.system.push(!keep && files.is_system(id));
        }
    }

    /// The same for another reading, whose files may have other numbers.
    pub fn again(&self) -> Self {
        Self::new(self.mode, self.selection).only(self.only)
    }

    #[inline]
    fn keeps(&self, op: Op, asynchronous: bool, rank: u32, file: FileId) -> bool {
        self.mode.takes(op, asynchronous) && self.keeps_place(rank, file)
    }

    fn keeps_place(&self, rank: u32, file: FileId) -> bool {
        let unnamed = || self.selection.files.is_none() && self.only.is_none();
        self.selection.ranks.as_ref().is_none_or(|r| r.contains(rank))
            && match file {
                FileId::NONE => unnamed(),
                _ if self.keep_all => true,
                _ => self.keep_file.get(file.0 as usize).copied().unwrap_or_else(unnamed),
            }
    }

    /// Most traces are taken whole: their ranks and files need no look.
    fn keeps_all_places(&self) -> bool {
        self.keep_all && self.selection.ranks.is_none() && self.selection.files.is_none() && self.only.is_none()
    }

    /// True if row `i` is kept whole: it begins inside the time window.
    #[inline]
    pub fn keeps_request(&self, requests: &Requests, i: usize) -> bool {
        self.keeps(requests.op.get(i), false, requests.rank.get(i), requests.file.get(i))
            && (self.from..self.until).contains(&requests.start[i])
    }

    /// Rows that the mode asks for but that belong to system files.
    pub fn excluded(&self, rows: &Data) -> u64 {
        let Data::Requests(requests) = rows else { return 0 };
        if self.keep_all {
            return 0;
        }
        let system = |f: FileId| self.system.get(f.0 as usize).copied().unwrap_or(false);
        let excluded = |&i: &usize| self.mode.takes(requests.op.get(i), false) && system(requests.file.get(i));
        (0..requests.len()).filter(excluded).count() as u64
    }

    /// Calls `each` with the kept part of every row, cut to the time window.
    pub fn each_span(&self, rows: &Data, each: impl FnMut(Span)) {
        let all = self.keeps_all_places();
        match rows {
            Data::Requests(r) => (0..r.len()).filter_map(|i| self.request(r, i, all)).for_each(each),
            Data::Intervals(v) => (0..v.len()).filter_map(|i| self.interval(v, i, all)).for_each(each),
        }
    }

    /// The kept part of row `i`, cut to the time window.
    #[inline]
    pub fn span(&self, requests: &Requests, i: usize) -> Option<Span> {
        self.request(requests, i, self.keeps_all_places())
    }

    #[inline(always)]
    fn request(&self, r: &Requests, i: usize, all: bool) -> Option<Span> {
        let keeps = self.mode.takes(r.op.get(i), false) && (all || self.keeps_place(r.rank.get(i), r.file.get(i)));
        if !keeps {
            return None;
        }
        self.cut(Span { start: r.start[i], end: r.end[i], bytes: r.size.get(i) as f64 })
    }

    #[inline(always)]
    fn interval(&self, v: &Intervals, i: usize, all: bool) -> Option<Span> {
        let keeps = self.mode.takes(v.op.get(i), v.asynchronous.get(i))
            && (all || self.keeps_place(v.rank.get(i), v.file.get(i)));
        if !keeps {
            return None;
        }
        self.cut(Span { start: v.start[i], end: v.end[i], bytes: v.bytes[i] })
    }

    /// The part of a span inside the window.
    #[inline(always)]
    fn cut(&self, s: Span) -> Option<Span> {
        if s.start >= self.from && s.end <= self.until {
            return (s.bytes > 0.0 && (s.end - s.start).is_finite() && s.bytes.is_finite()).then_some(s);
        }
        self.cut_off(s)
    }

    #[cold]
    fn cut_off(&self, s: Span) -> Option<Span> {
        let (start, end) = (s.start.max(self.from), s.end.min(self.until));
        let share = (end - start) / (s.end - s.start);
        let bytes = s.bytes * share;
        (end > start && bytes > 0.0 && bytes.is_finite()).then_some(Span { start, end, bytes })
    }
}

/// The transfers of a trace that a mode and a selection keep, cut to the time window.
///
/// Times are relative to the origin of the trace ([`Trace::origin_s`]).
#[derive(Debug, Clone)]
pub struct Activity<'a> {
    trace: &'a Trace,
    sieve: RowFilter<'a>,
}

impl<'a> Activity<'a> {
    /// The transfers of `trace` for this mode and selection.
    pub fn new(trace: &'a Trace, mode: Mode, selection: &'a Selection) -> Self {
        let mut sieve = RowFilter::new(mode, selection);
        sieve.learn(&trace.files, trace.origin_s);
        Activity { trace, sieve }
    }

    /// The kept transfers among rows `from..to` of the data, in input order. Going through all of them with `for_each` is
    /// faster than asking for one after the other.
    pub fn spans_of(&self, rows: std::ops::Range<usize>) -> Spans<'_> {
        let end = rows.end.min(self.trace.data.len());
        Spans { data: &self.trace.data, sieve: &self.sieve, rows: rows.start.min(end)..end }
    }

    /// True if row `i` of the data is kept and starts inside the time window.
    pub(super) fn keeps_row(&self, i: usize) -> bool {
        let (op, asynchronous, rank, file, start) = match &self.trace.data {
            Data::Requests(r) => (r.op.get(i), false, r.rank.get(i), r.file.get(i), r.start[i]),
            Data::Intervals(v) => (v.op.get(i), v.asynchronous.get(i), v.rank.get(i), v.file.get(i), v.start[i]),
        };
        self.sieve.keeps(op, asynchronous, rank, file) && start >= self.sieve.from && start < self.sieve.until
    }

    /// All kept transfers in input order.
    pub fn spans(&self) -> Spans<'_> {
        self.spans_of(0..self.rows())
    }

    /// Calls `each` with all kept transfers and their ranks, in input order.
    pub fn each_of_ranks(&self, mut each: impl FnMut(u32, Span)) {
        let (sieve, all) = (&self.sieve, self.sieve.keeps_all_places());
        match &self.trace.data {
            Data::Requests(r) => (0..r.len())
                .for_each(|i| sieve.request(r, i, all).into_iter().for_each(|span| each(r.rank.get(i), span))),
            Data::Intervals(v) => (0..v.len())
                .for_each(|i| sieve.interval(v, i, all).into_iter().for_each(|span| each(v.rank.get(i), span))),
        }
    }

    /// True if row `i` of `requests`, the data of the trace, is kept whole: it begins inside the time window.
    #[inline]
    pub fn keeps_request(&self, requests: &Requests, i: usize) -> bool {
        self.sieve.keeps_request(requests, i)
    }

    /// Rows of the data, kept or not.
    pub fn rows(&self) -> usize {
        self.trace.data.len()
    }

    /// Rows that the mode asks for but that belong to system files.
    pub fn excluded(&self) -> u64 {
        self.sieve.excluded(&self.trace.data)
    }
}

/// Transfers of an [`Activity`] in input order.
#[derive(Debug, Clone)]
pub struct Spans<'a> {
    data: &'a Data,
    sieve: &'a RowFilter<'a>,
    rows: std::ops::Range<usize>,
}

impl Iterator for Spans<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let (sieve, all) = (self.sieve, self.sieve.keeps_all_places());
        self.rows.find_map(|i| match self.data {
            Data::Requests(r) => sieve.request(r, i, all),
            Data::Intervals(v) => sieve.interval(v, i, all),
        })
    }

    fn fold<B, F: FnMut(B, Span) -> B>(self, init: B, mut f: F) -> B {
        let (sieve, all) = (self.sieve, self.sieve.keeps_all_places());
        match self.data {
            Data::Requests(r) => self.rows.fold(init, |b, i| match sieve.request(r, i, all) {
                Some(span) => f(b, span),
                None => b,
            }),
            Data::Intervals(v) => self.rows.fold(init, |b, i| match sieve.interval(v, i, all) {
                Some(span) => f(b, span),
                None => b,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Request;

    fn trace() -> Trace {
        let mut t = Trace { origin_s: 100, ..Trace::default() };
        let (a, lib) = (t.files.intern("/data/a"), t.files.intern("/lib/libc.so.6"));
        let row = |op, rank, file, start: f64| Request {
            op,
            rank,
            file,
            size: 10,
            start,
            end: start + 1.0,
            ..Request::default()
        };
        let rows = [
            row(Op::Write, 0, a, 0.0),
            row(Op::Read, 1, a, 2.0),
            row(Op::Read, 2, lib, 4.0),
            row(Op::Write, 3, FileId::NONE, 6.0),
            row(Op::Open, 0, a, 8.0),
        ];
        t.data = Data::Requests(rows.into_iter().collect::<Requests>());
        t
    }

    fn starts(mode: Mode, s: &Selection) -> Vec<f64> {
        Activity::new(&trace(), mode, s).spans().map(|x| x.start).collect()
    }

    #[test]
    fn modes_and_filters() {
        let mut s = Selection::default();
        assert_eq!(starts(Mode::Write, &s), [0.0, 6.0]);
        assert_eq!(starts(Mode::All, &s), [0.0, 2.0, 6.0]);
        assert!(starts(Mode::WriteAsync, &s).is_empty());
        assert_eq!(Activity::new(&trace(), Mode::All, &s).excluded(), 1);
        s.all_files = true;
        assert_eq!(starts(Mode::Read, &s), [2.0, 4.0]);
        s.ranks = Some("1,3-9".parse().unwrap());
        assert_eq!(starts(Mode::All, &s), [2.0, 6.0]);
        s.files = Some("^/data".parse().unwrap());
        assert_eq!(starts(Mode::All, &s), [2.0]);
    }

    #[test]
    fn a_window_cuts_spans() {
        let s = Selection { from_s: Some(100.25), until_s: Some(102.5), ..Selection::default() };
        let t = trace();
        let got: Vec<_> = Activity::new(&t, Mode::All, &s).spans().collect();
        assert_eq!(got[0], Span { start: 0.25, end: 1.0, bytes: 7.5 });
        assert_eq!(got[1], Span { start: 2.0, end: 2.5, bytes: 5.0 });
        assert_eq!(got.len(), 2);
    }

    #[test]
    fn rank_sets() {
        assert!("0-3,7".parse::<RankSet>().unwrap().contains(7));
        for bad in ["", "a", "3-1", "1,,2", "-"] {
            assert!(bad.parse::<RankSet>().is_err(), "{bad}");
        }
    }
}
