//! One rank's accesses to one file, followed as one stream and by size class.
//!
//! A library inserts its own small accesses between those of the program, and read-modify-write alternates. The whole stream
//! then has no order, but each sub-stream of one direction and size class may have one. While there is only one size class,
//! nothing is followed twice. [`super::metadata_filter`] decides which sub-streams are data once all ranks are known.

use super::access::{Access, Segment, Settings, Tally};
use super::stream::Stream;
use super::thresholds::LIMITS;

/// Size classes of one rank; all other sizes are one more.
const MOST_SIZES: usize = 16;

/// Accesses that are followed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SizeClass {
    /// Of this size.
    Exactly(u64),
    /// Of any other size that is not large.
    Other,
    Large,
}

impl SizeClass {
    fn of(size: u64) -> Self {
        if size > LIMITS.large { Self::Large } else { Self::Exactly(size) }
    }

    fn of_all((smallest, largest): (u64, u64)) -> Self {
        match Self::of(smallest) {
            Self::Exactly(_) if smallest != largest => Self::Other,
            class => class,
        }
    }
}

/// The accesses of one direction and size class.
#[derive(Debug, Clone)]
struct SubStream {
    class: SizeClass,
    write: bool,
    tally: Tally,
    /// `None` if it has no order and is only counted.
    stream: Option<Box<Stream>>,
}

/// The accesses of one rank to one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct SizeClassStreams {
    whole: Stream,
    split: Split,
}

#[derive(Debug, Clone, Default)]
enum Split {
    #[default]
    Empty,
    /// One direction; one size, or back to back.
    One(Tally),
    Several(Vec<SubStream>),
    /// Dropped: a sub-stream that would be data has no order.
    GivenUp,
}

/// The accesses of one rank, direction and size class, classified.
#[derive(Debug, Clone)]
pub(crate) struct FinishedSubStream {
    pub class: SizeClass,
    pub tally: Tally,
    pub segments: Segments,
}

/// The segments of a size class.
#[derive(Debug, Clone)]
pub(crate) enum Segments {
    /// There is only one size class: the segments are those of the whole stream.
    OfTheWhole,
    Own(Vec<Segment>),
    GivenUp,
}

impl SizeClassStreams {
    pub fn push(&mut self, a: Access, settings: Settings) {
        match &mut self.split {
            Split::GivenUp => {}
            Split::Empty => self.split = Split::One(Tally::of(&a)),
            Split::One(tally) => {
                let write = tally.writes > 0;
                if write == a.write && (tally.sizes == (a.size, a.size) || self.whole.follows(&a)) {
                    tally.add(&a);
                } else {
                    let class = SizeClass::of_all(tally.sizes);
                    let stream = Some(Box::new(self.whole.clone()));
                    self.split = Split::Several(vec![SubStream { class, write, tally: *tally, stream }]);
                    self.push_apart(a, settings);
                }
            }
            Split::Several(_) => self.push_apart(a, settings),
        }
        self.whole.push(a, settings);
    }

    fn push_apart(&mut self, a: Access, settings: Settings) {
        if let Split::Several(all) = &mut self.split
            && !push_apart(all, a, settings.of_sub_stream())
        {
            self.split = Split::GivenUp;
        }
    }

    /// The segments of the whole stream, and by size class; `None` for the latter if they were dropped.
    pub fn finish(self, settings: Settings) -> (Vec<Segment>, Option<Vec<FinishedSubStream>>) {
        let segments = |s: Option<Box<Stream>>| match s {
            Some(stream) => Segments::Own(stream.finish(settings.of_sub_stream())),
            None => Segments::GivenUp,
        };
        let found = match self.split {
            Split::Empty => Some(Vec::new()),
            Split::GivenUp => None,
            Split::One(tally) => {
                let class = SizeClass::of_all(tally.sizes);
                Some(vec![FinishedSubStream { class, tally, segments: Segments::OfTheWhole }])
            }
            Split::Several(all) => {
                let found =
                    |s: SubStream| FinishedSubStream { class: s.class, tally: s.tally, segments: segments(s.stream) };
                Some(all.into_iter().map(found).collect())
            }
        };
        (self.whole.finish(settings), found)
    }
}

/// Adds an access to its sub-stream. False if that has no order and is too large to be metadata.
fn push_apart(all: &mut Vec<SubStream>, a: Access, settings: Settings) -> bool {
    let find = |all: &[SubStream], class| all.iter().position(|s| (s.write, s.class) == (a.write, class));
    let mut class = SizeClass::of(a.size);
    let mut place = find(all, class);
    if place.is_none() && class != SizeClass::Large && all.len() >= MOST_SIZES {
        class = SizeClass::Other;
        place = find(all, class);
    }
    let sub = match place {
        Some(place) => {
            all[place].tally.add(&a);
            &mut all[place]
        }
        None => {
            let stream = Some(Box::default());
            all.push(SubStream { class, write: a.write, tally: Tally::of(&a), stream });
            let last = all.len() - 1;
            &mut all[last]
        }
    };
    let Some(stream) = &mut sub.stream else { return true };
    stream.push(a, settings);
    if sub.tally.accesses.is_multiple_of(LIMITS.long) && stream.is_disordered() {
        sub.stream = None;
        return sub.tally.sizes.1 <= LIMITS.tiny;
    }
    true
}
