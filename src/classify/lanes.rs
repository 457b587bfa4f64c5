//! One rank's accesses to one file, followed as they come, and each sort of them by itself.
//!
//! A library puts its own small accesses between those of the program, and read-modify-write takes turns: neither has an order as
//! it comes, but each sort of access, by direction and size, may have one. As long as there is one sort only, nothing is followed
//! twice. What a file's accesses are then said to be is decided when all ranks are known ([`super::data`]).

use super::stream::{Access, Rules, Stream, Stretch};

/// Accesses up to this size are told apart by their size; larger ones are one sort.
const TOLD_APART: u64 = 16 << 10;
/// Sizes told apart of one rank.
const MOST_SIZES: usize = 16;
/// Accesses without order up to this size are only counted: they may be a library's own.
pub(crate) const TINY: u64 = 1024;
/// So often it is asked whether a lane has an order at all.
const ASKED: u64 = 64;

/// What accesses are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sort {
    /// Of this size.
    Of(u64),
    /// Of any other size that is not large.
    Other,
    /// Of more than 16 KiB.
    Large,
}

impl Sort {
    fn of(size: u64) -> Self {
        if size > TOLD_APART { Self::Large } else { Self::Of(size) }
    }

    /// Of accesses of one size, or of several.
    fn of_all(size: Option<u64>, smallest: u64) -> Self {
        match size {
            Some(size) => Self::of(size),
            None if smallest > TOLD_APART => Self::Large,
            None => Self::Other,
        }
    }
}

/// What is counted of a sort.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sum {
    pub accesses: u64,
    pub bytes: u64,
    pub largest: u64,
}

impl Sum {
    pub fn add(&mut self, other: Sum) {
        self.accesses += other.accesses;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.largest = self.largest.max(other.largest);
    }
}

/// One sort of accesses in one direction.
#[derive(Debug, Clone)]
struct Lane {
    sum: Sum,
    span: (f64, f64),
    /// None if it has no order and is only counted.
    stream: Option<Stream>,
}

/// All lanes.
#[derive(Debug, Clone, Default)]
struct Several {
    /// Whether it writes, and of what sort it is.
    keys: Vec<(bool, Sort)>,
    lanes: Vec<Lane>,
}

#[derive(Debug, Clone, Default)]
enum Sorts {
    #[default]
    None,
    /// One direction, and one size or back to back.
    One {
        first: Access,
        size: Option<u64>,
        smallest: u64,
        sum: Sum,
        end_s: f64,
    },
    Several(Several),
    /// What would be data has no order either.
    Lost,
}

/// The accesses of one rank to one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lanes {
    whole: Stream,
    sorts: Sorts,
}

/// What is known of a sort in the end.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub sort: Sort,
    pub write: bool,
    pub sum: Sum,
    pub span: (f64, f64),
    pub order: Order,
}

/// The stretches of a sort.
#[derive(Debug, Clone)]
pub(crate) enum Order {
    /// The same as those of all accesses: there is one sort only.
    OfTheWhole,
    Own(Vec<Stretch>),
    /// It was given up.
    None,
}

impl Lanes {
    pub fn push(&mut self, a: Access, rules: Rules) {
        let one = Sum { accesses: 1, bytes: a.size, largest: a.size };
        match &mut self.sorts {
            Sorts::One { first, size, sum, end_s, .. } if first.write == a.write && *size == Some(a.size) => {
                sum.add(one);
                *end_s = end_s.max(a.end);
            }
            Sorts::Lost => {}
            Sorts::None => {
                self.sorts = Sorts::One { first: a, size: Some(a.size), smallest: a.size, sum: one, end_s: a.end };
            }
            Sorts::One { first, size, smallest, sum, end_s } if first.write == a.write && self.whole.follows(&a) => {
                *size = None;
                *smallest = a.size.min(*smallest);
                sum.add(one);
                *end_s = end_s.max(a.end);
            }
            Sorts::One { first, size, smallest, sum, end_s } => {
                let span = (first.start, *end_s);
                let lane = Lane { sum: *sum, span, stream: Some(self.whole.clone()) };
                let keys = vec![(first.write, Sort::of_all(*size, *smallest))];
                let mut several = Several { keys, lanes: vec![lane] };
                let lost = !several.push(a, one, rules);
                self.sorts = if lost { Sorts::Lost } else { Sorts::Several(several) };
            }
            Sorts::Several(several) => {
                if !several.push(a, one, rules) {
                    self.sorts = Sorts::Lost;
                }
            }
        }
        self.whole.push(a, rules);
    }

    /// The accesses as they came, and by sorts; None for those if they are no help.
    pub fn finish(self, rules: Rules) -> (Vec<Stretch>, Option<Vec<Found>>) {
        let whole = self.whole.finish_all(rules);
        let apart = Rules { ask: false, ..rules };
        let found = match self.sorts {
            Sorts::None => Some(Vec::new()),
            Sorts::Lost => None,
            Sorts::One { first, size, smallest, sum, end_s } => {
                let (sort, span) = (Sort::of_all(size, smallest), (first.start, end_s));
                Some(vec![Found { sort, write: first.write, sum, span, order: Order::OfTheWhole }])
            }
            Sorts::Several(Several { keys, lanes }) => {
                let found = |((write, sort), lane): ((bool, Sort), Lane)| Found {
                    sort,
                    write,
                    sum: lane.sum,
                    span: lane.span,
                    order: lane.stream.map_or(Order::None, |s| Order::Own(s.finish_all(apart))),
                };
                Some(keys.into_iter().zip(lanes).map(found).collect())
            }
        };
        (whole, found)
    }
}

impl Several {
    /// Puts an access into its lane. False if that has no order and cannot be a library's own.
    fn push(&mut self, a: Access, one: Sum, rules: Rules) -> bool {
        let rules = Rules { ask: false, ..rules };
        let find = |keys: &[(bool, Sort)], sort| keys.iter().position(|k| *k == (a.write, sort));
        let mut sort = Sort::of(a.size);
        let mut place = find(&self.keys, sort);
        if place.is_none() && sort != Sort::Large && self.keys.len() >= MOST_SIZES {
            sort = Sort::Other;
            place = find(&self.keys, sort);
        }
        let place = place.unwrap_or_else(|| {
            self.keys.push((a.write, sort));
            let (sum, span) = (Sum::default(), (a.start, a.end));
            self.lanes.push(Lane { sum, span, stream: Some(Stream::default()) });
            self.lanes.len() - 1
        });
        let lane = &mut self.lanes[place];
        lane.sum.add(one);
        lane.span = (lane.span.0.min(a.start), lane.span.1.max(a.end));
        let Some(stream) = &mut lane.stream else { return true };
        stream.push(a, rules);
        if lane.sum.accesses.is_multiple_of(ASKED) && stream.is_lost() {
            lane.stream = None;
            return lane.sum.largest <= TINY;
        }
        true
    }
}
