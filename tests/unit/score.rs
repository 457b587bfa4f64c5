//! The length of a description of accesses, in numbers, and whether it is lossless.
//!
//! A pattern takes a number for its place and one for its size, one for the count of each loop, and one for each free stride: a
//! stride is free unless it is 0, or the size in the innermost loop. A loop through ranks and a second operation take one more
//! each. A sequential pattern takes a number for its place and two for each row of equal sizes. An access in no pattern takes two
//! numbers, offset and size.

// Each user takes a part.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::panic::catch_unwind;

use iophase::internals::workload::{Run, TruePattern, Truth};
use iophase::pattern::{Access, Found, Options, Pattern, detect, verify};
use iophase::record::{Data, Op, Row, Rows, Trace};

/// Numbers of an access in no pattern.
const LITERAL: u64 = 2;

/// A pattern as far as its length goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Counts and strides, innermost first.
    pub loops: Vec<(u64, i64)>,
    pub body: Body,
    /// The outermost loop goes over ranks.
    pub over_ranks: bool,
    /// The innermost loop goes over two operations.
    pub two_operations: bool,
}

/// The body of the loops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// An access of this size.
    Access(u64),
    /// Adjacent accesses: sizes, and how many in a row have it.
    Sequence(Vec<(u64, u64)>),
}

impl Description {
    /// Its length.
    pub fn numbers(&self) -> u64 {
        let size = match &self.body {
            Body::Access(size) => Some(*size as i64),
            Body::Sequence(_) => None,
        };
        let of_loops = self.loops.iter().enumerate().map(|(i, &(_, stride))| {
            let free = stride != 0 && !(i == 0 && Some(stride) == size);
            1 + u64::from(free)
        });
        let body = match &self.body {
            Body::Access(_) => 1,
            Body::Sequence(rows) => 2 * rows.len() as u64,
        };
        1 + body + of_loops.sum::<u64>() + u64::from(self.over_ranks) + u64::from(self.two_operations)
    }
}

impl From<&TruePattern> for Description {
    fn from(p: &TruePattern) -> Description {
        let body = match (&p.sizes, p.access_size) {
            (Some(rows), _) => Body::Sequence(rows.clone()),
            (None, size) => Body::Access(size.expect("a size or sizes")),
        };
        let loops = p.levels.iter().map(|l| (l.count, l.stride)).collect();
        Description { loops, body, over_ranks: p.ranks.is_some(), two_operations: false }
    }
}

impl From<&Pattern> for Description {
    /// Of a sequential pattern the sizes must have been kept.
    fn from(p: &Pattern) -> Description {
        let loops: Vec<(u64, i64)> = p.levels().iter().map(|l| (l.count, l.stride)).collect();
        let body = match p.access_size() {
            Some(size) => Body::Access(size),
            None => {
                let passes: u64 = loops.iter().map(|l| l.0).product();
                let sizes = p.expand().expect("sizes are kept").take((p.records / passes) as usize);
                Body::Sequence(rows(sizes.map(|(_, size)| size)))
            }
        };
        Description { loops, body, over_ranks: p.ranks().is_some(), two_operations: p.then().is_some() }
    }
}

fn rows(sizes: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut rows: Vec<(u64, u64)> = Vec::new();
    for size in sizes {
        match rows.last_mut() {
            Some(row) if row.0 == size => row.1 += 1,
            _ => rows.push((size, 1)),
        }
    }
    rows
}

/// Length of the truth.
pub fn numbers_of_truth(truth: &Truth) -> u64 {
    let patterns = truth.patterns.iter().map(|p| Description::from(p).numbers()).sum::<u64>();
    patterns + LITERAL * truth.unpatterned.iter().map(|u| u.records).sum::<u64>()
}

/// Length of what a detector found.
pub fn numbers_of_found(found: &Found) -> u64 {
    let patterns = found.patterns.iter().map(|p| Description::from(p).numbers()).sum::<u64>();
    patterns + LITERAL * found.unmatched_records
}

/// The patterns of a trace, with everything that it takes to expand and to verify them.
///
/// # Errors
/// The difference if the patterns are not lossless; a panic of the detector.
pub fn found_in(trace: &Trace) -> Result<Found, String> {
    let Data::Requests(requests) = &trace.data else { panic!("a trace of requests") };
    let options = Options::default().keep_sizes(true).keep_unmatched(true);
    // A panic counts as a failure of this trace, so that a sweep reports it with its parameters.
    let found = catch_unwind(|| detect(requests, |_| true, options)).map_err(|_| "the detector panics")?;
    verify(&found, requests.iter().filter_map(|r| Access::of(&r)))?;
    Ok(found)
}

/// Rank, offset and size of every access of a stated pattern, in the order in which it states them.
pub fn expand(p: &TruePattern) -> Vec<(u32, u64, u64)> {
    let mut places = vec![(p.rank, p.start_offset)];
    for (i, l) in p.levels.iter().enumerate().rev() {
        let step = p.ranks.filter(|_| i + 1 == p.levels.len()).map_or(0, |ranks| ranks.step);
        let pass = |(rank, offset): (u32, u64), k: u64| {
            (rank + (step * k) as u32, offset.wrapping_add_signed(l.stride * k as i64))
        };
        places = places.into_iter().flat_map(|place| (0..l.count).map(move |k| pass(place, k))).collect();
    }
    let mut accesses = Vec::new();
    for (rank, start) in places {
        let one = [(p.access_size.unwrap_or(0), 1)];
        let mut offset = start;
        for &(size, n) in p.sizes.as_deref().unwrap_or(&one) {
            for _ in 0..n {
                accesses.push((rank, offset, size));
                offset += size;
            }
        }
    }
    accesses
}

/// Operation, rank, file, offset and size.
type Key = (Op, u32, String, u64, u64);

/// Checks that every row is either in exactly one stated pattern or counted as unpatterned.
///
/// # Errors
/// The first difference.
pub fn check_truth(run: &Run) -> Result<(), String> {
    let truth = run.truth();
    let mut left: BTreeMap<Key, u64> = BTreeMap::new();
    run.visit(&mut |row| {
        let Row::Request(r) = row else { panic!("a row of a request") };
        *left.entry((r.op, r.rank, run.files().name(r.file).to_owned(), r.offset, r.size)).or_default() += 1;
        Ok(())
    })
    .map_err(|e| e.to_string())?;
    for p in &truth.patterns {
        let accesses = expand(p);
        if accesses.len() as u64 != p.records || accesses.iter().map(|a| a.2).sum::<u64>() != p.bytes() {
            return Err(format!("{} accesses are stated by {p:?}", accesses.len()));
        }
        for (rank, offset, size) in accesses {
            let key = (p.op, rank, p.file.clone(), offset, size);
            match left.get_mut(&key) {
                Some(n) if *n > 0 => *n -= 1,
                _ => return Err(format!("{key:?} is not in the rows, or not as often as stated, last by {p:?}")),
            }
        }
    }
    let mut rest: BTreeMap<(Op, String), (u64, u64)> = BTreeMap::new();
    for ((op, _, file, _, size), n) in left.into_iter().filter(|(_, n)| *n > 0) {
        let (records, bytes) = rest.entry((op, file)).or_default();
        *records += n;
        *bytes += n * size;
    }
    let stated: BTreeMap<(Op, String), (u64, u64)> =
        truth.unpatterned.iter().map(|u| ((u.op, u.file.clone()), (u.records, u.bytes))).collect();
    if stated.len() != truth.unpatterned.len() || rest != stated {
        return Err(format!("in no pattern are {rest:?}, stated are {:?}", truth.unpatterned));
    }
    Ok(())
}
