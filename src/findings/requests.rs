//! Figures of single requests: one pass in the order of time, and one over the places of each file.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};

use foldhash::fast::FixedState;

use super::outcome::Part;
use super::streams::{Run, Runs, Streams, pass_s};
use crate::facts::{CALLS, Counted};
use crate::record::{
    CounterModule, Data, FileId, Layer, Numbered, Op, Request, Requests, Timing, Trace, UNKNOWN_OFFSET, sort_by_number,
};
use crate::transform::upper_median;

/// Requests below this many bytes are tiny.
pub(super) const TINY: u64 = 4096;
/// Stripes whose owners are kept; of more a sample is kept.
const STRIPES: usize = 1 << 20;
/// Stripes of one request that are looked at.
const STRIPES_OF_REQUEST: u64 = 1 << 16;
/// Requests that are kept as evidence, for a figure that no condition on a single request gives.
pub(super) const ROWS: usize = 1 << 12;
/// Remainders of offsets that are counted.
const REMAINDERS: usize = 1 << 16;

/// Figures of the POSIX requests of a trace, or of what it has instead, with their places.
#[derive(Debug, Default)]
pub(super) struct RequestFacts {
    /// Every request is there.
    pub complete: bool,
    pub requests: u64,
    /// Of reads and of writes.
    pub directions: [Direction; 2],
    /// Longest time that any rank is in requests.
    pub io_s: f64,
    /// Time in which at least one rank is in a request.
    pub io_wall_s: f64,
    /// Sum of the ranks' times / that time.
    pub concurrency: f64,
    /// Mean time of all ranks in requests.
    pub mean_s: f64,
    pub slowest: Option<u32>,
    pub active_ranks: u64,
    /// Most bytes of a rank / mean over all ranks.
    pub rank_bytes_max_over_mean: f64,
    /// The rank with the most bytes, and its share.
    pub busiest: Option<(u32, f64)>,
    pub stripes: Stripes,
    /// Bytes that several ranks wrote, and the files.
    pub several: (u64, Vec<Part>),
    /// Bytes written that the same rank had just read, and these reads.
    pub rewritten: (u64, Class),
    /// The requests of each rank in each file.
    pub streams: Streams,
    /// Median time from the start of one pass over a file that is read more than once to the start of the next.
    pub pass_s: Option<f64>,
}

/// Requests of one direction.
#[derive(Debug, Default)]
pub(super) struct Direction {
    pub count: u64,
    pub bytes: u64,
    pub small: Class,
    pub tiny: Class,
    /// Requests of at least a quarter of a stripe unit.
    pub quarter: u64,
    pub unaligned: Class,
    /// The commonest remainders of offsets modulo the stripe unit, and how often each occurs.
    pub remainders: Vec<(u64, u64)>,
    /// Requests below a stripe unit that neither continue the one before nor repeat a step of the rank in that file.
    pub irregular: Class,
    /// Distances from the end of a request to the start of an irregular one: median and 90 %.
    pub jumps: Option<(u64, u64)>,
    /// Rates of large requests.
    pub rates: Rates,
    /// Bytes beyond the union of all ranges, and the files.
    pub again: (u64, Vec<Part>),
    /// Some of the requests that move bytes again, by their rows.
    pub again_rows: Vec<u32>,
    /// Every file.
    pub files: Vec<FileUse>,
    /// From the first byte to the last, of all files.
    pub extent: u64,
    /// Of the slowest 1 % of the requests of each size.
    pub tails: Vec<Tail>,
}

/// Requests of one direction to a file.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct FileUse {
    pub file: FileId,
    pub count: u64,
    pub bytes: u64,
    /// Bytes of the union of their ranges.
    pub covered: u64,
    /// The first byte.
    pub first: u64,
    /// One past the last byte.
    pub end: u64,
}

/// Bytes per second of requests of at least four stripe units.
#[derive(Debug, Default)]
pub(super) struct Rates {
    of_ranks: BTreeMap<u32, f64>,
    of_all: Option<f64>,
}

impl Rates {
    fn of(rates: Numbered<Vec<f64>>) -> Rates {
        let mut all: Vec<f64> = rates.values().flatten().copied().collect();
        let of_all = upper_median(&mut all);
        let enough = rates.into_iter().filter(|(_, rates)| rates.len() >= 8);
        let of_ranks = enough.filter_map(|(rank, mut rates)| Some((rank, upper_median(&mut rates)?))).collect();
        Rates { of_ranks, of_all }
    }

    /// That of a rank, if it has eight such requests, else the median of all.
    pub fn at(&self, rank: u32) -> Option<f64> {
        self.of_ranks.get(&rank).copied().or(self.of_all)
    }
}

/// The slowest 1 % of the requests of one size, within a factor of 2: one at least.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Tail {
    /// Sizes from here to below twice as many bytes.
    pub size: u64,
    /// Requests of these sizes.
    pub of: u64,
    /// Share of their time.
    pub share: f64,
    pub count: u64,
    pub median_s: f64,
    pub max_s: f64,
    /// Time of the rank that spends most in them, and what it spends beyond as many median requests.
    pub time_s: f64,
    pub lost_s: f64,
}

impl Tail {
    /// Of a class of sizes: the times of its requests, each with the rank.
    fn of((class, mut times): (u32, Vec<(f64, u32)>)) -> Option<Tail> {
        let (n, sum) = (times.len(), times.iter().map(|t| t.0).sum::<f64>());
        let count = (n / 100).max(1);
        times.select_nth_unstable_by(n.checked_sub(count)?, |a, b| a.0.total_cmp(&b.0));
        let slowest = &times[n - count..];
        let mut of_ranks: Numbered<(f64, u64)> = Numbered::default();
        for (s, rank) in slowest {
            let of_rank = of_ranks.get_or(*rank, (0.0, 0));
            *of_rank = (of_rank.0 + s, of_rank.1 + 1);
        }
        let (all_s, max_s) = slowest.iter().fold((0.0, 0.0), |(all, max): (f64, f64), t| (all + t.0, max.max(t.0)));
        let share = if sum > 0.0 { all_s / sum } else { 0.0 };
        let median_s = upper_median(&mut times.iter().map(|t| t.0).collect::<Vec<f64>>())?;
        let excess = |(s, n): &(f64, u64)| (*s, (s - *n as f64 * median_s).max(0.0));
        let (time_s, lost_s) =
            of_ranks.values().map(excess).fold((0.0, 0.0), |most, x| if x.1 > most.1 { x } else { most });
        Some(Tail { size: 1 << class, of: n as u64, share, count: count as u64, median_s, max_s, time_s, lost_s })
    }
}

/// Requests that have something in common.
#[derive(Debug, Default)]
pub(super) struct Class {
    pub count: u64,
    /// Time of the rank that spends most in them.
    pub time_s: f64,
    /// Gain of that rank if their bytes moved at the rate of large requests.
    pub lost_s: Option<f64>,
    pub parts: Vec<Part>,
}

/// Stripes touched by writes.
#[derive(Debug, Default)]
pub(super) struct Stripes {
    pub all: u64,
    pub touches: u64,
    /// Touches whose last writer was another rank.
    pub owner_changes: u64,
    /// Stripes of several ranks.
    pub shared: u64,
    /// One in so many stripes was looked at.
    pub sampled: u64,
    /// Time of the writes at a change of the owner, of the rank with the most.
    pub time_s: f64,
    /// Time that these writes took beyond other writes of their size (within a factor of 2), of the rank with the most.
    pub lost_s: Option<f64>,
    /// Some of these writes, by their rows.
    pub rows: Vec<u32>,
    pub parts: Vec<Part>,
}

impl RequestFacts {
    /// The figures; `None` without requests that know their places, or of another layer than POSIX.
    pub fn of(trace: &Trace, stripe: u64) -> Option<RequestFacts> {
        let Data::Requests(rows) = &trace.data else { return None };
        if trace.timing != Timing::Request || !matches!(trace.layer, None | Some(Layer::Posix)) || !rows.has_offsets() {
            return None;
        }
        let usable = |i: &u32| {
            let i = *i as usize;
            rows.op.get(i).moves_bytes()
                && rows.offset.get(i) != UNKNOWN_OFFSET
                && !trace.files.is_system(rows.file.get(i))
        };
        let mut order: Vec<u32> = (0..u32::try_from(rows.len()).ok()?).filter(usable).collect();
        if order.is_empty() {
            return None;
        }
        let key = |i: u32| (rows.rank.get(i as usize), rows.offset.get(i as usize));
        sort_by_number(&mut order, |i| rows.start[i as usize], |a, b| key(a).cmp(&key(b)));
        let mut facts = RequestFacts { requests: order.len() as u64, ..RequestFacts::default() };
        let counted = trace.counters.as_ref().and_then(|c| Counted::by(c, CounterModule::Posix));
        let calls = counted.and_then(|t| t.total(&CALLS));
        facts.complete = match calls {
            Some(n) => n == facts.requests && trace.quality.partial.is_empty(),
            None => trace.quality.records_dropped == 0,
        };
        let both = [Op::Read, Op::Write].map(|op| of_op(rows, &order, op));
        let mixed = both.iter().all(|d| !d.is_empty());
        let RequestFacts { directions: [reads, writes], rewritten: again, streams, .. } = &mut facts;
        let mut runs = Runs::default();
        // each of these looks at the requests on its own
        rayon::scope(|s| {
            s.spawn(|_| (*streams, runs) = Streams::of(rows, &order, stripe));
            s.spawn(|_| {
                if mixed {
                    *again = rewritten(rows, &order);
                }
            });
            s.spawn(|_| *reads = Direction::of(rows, &both[0], stripe));
            s.spawn(|_| *writes = Direction::of(rows, &both[1], stripe));
        });
        facts.places(rows, &both, runs, stripe);
        facts.over_time(rows, &order, trace.ranks);
        for (d, direction) in facts.directions.iter_mut().enumerate() {
            let found = std::mem::take(&mut facts.streams.irregular[d]);
            direction.irregular = found.class(|rank| direction.rates.at(rank));
            direction.jumps = facts.streams.jumps(d);
        }
        facts.pass_s = pass_s(rows, &order, &facts.directions[0].files, &facts.streams);
        Some(facts)
    }

    /// Coverage of the files by the requests of both directions, and how ranks share it.
    fn places(&mut self, rows: &Requests, orders: &[Cow<'_, [u32]>; 2], runs: Runs, stripe: u64) {
        let RequestFacts { directions: [reads, writes], stripes, several: shared, streams, .. } = self;
        let (streams, [of_reads, of_writes]) = (&*streams, &runs);
        rayon::scope(|s| {
            s.spawn(|_| *stripes = Stripes::of(rows, &orders[1], of_writes.as_deref(), stripe));
            s.spawn(|_| {
                reads.places(rows, &orders[0], streams, of_reads.as_deref(), 0);
            });
            s.spawn(|_| {
                let again = writes.places(rows, &orders[1], streams, of_writes.as_deref(), 1);
                *shared = several(rows, &again);
            });
        });
    }

    /// Busy times of ranks, and their bytes.
    fn over_time(&mut self, rows: &Requests, order: &[u32], ranks: u64) {
        // end of the last request, busy time, bytes
        let mut of_ranks: Numbered<(f64, f64, u64)> = Numbered::default();
        let (mut end, mut wall, mut total) = (f64::NEG_INFINITY, 0.0, 0u64);
        for r in order.iter().map(|&i| rows.get(i as usize)) {
            let rank = of_ranks.get_or(r.rank, (f64::NEG_INFINITY, 0.0, 0));
            for (end, busy) in [(&mut rank.0, &mut rank.1), (&mut end, &mut wall)] {
                if r.end > *end {
                    *busy += r.end - r.start.max(*end);
                    *end = r.end;
                }
            }
            rank.2 = rank.2.saturating_add(r.size);
            total = total.saturating_add(r.size);
        }
        let of_ranks: Vec<(u32, (f64, f64, u64))> = of_ranks.into_iter().collect();
        let busy: f64 = of_ranks.iter().map(|r| r.1.1).sum();
        (self.io_wall_s, self.concurrency) = (wall, if wall > 0.0 { busy / wall } else { 0.0 });
        self.active_ranks = of_ranks.len() as u64;
        self.mean_s = busy / ranks.max(1) as f64;
        for &(rank, (_, busy, _)) in &of_ranks {
            if busy > self.io_s || self.slowest.is_none() {
                (self.io_s, self.slowest) = (busy, Some(rank));
            }
        }
        if let Some(&(rank, most)) = of_ranks.iter().max_by_key(|(k, r)| (r.2, std::cmp::Reverse(*k)))
            && total > 0
        {
            self.busiest = Some((rank, most.2 as f64 / total as f64));
            self.rank_bytes_max_over_mean = most.2 as f64 * ranks.max(1) as f64 / total as f64;
        }
    }
}

/// Time and count by rank and file, of some requests.
#[derive(Debug, Default)]
pub(super) struct Collect {
    count: u64,
    ranks: Numbered<(f64, u64)>,
    files: Numbered<Part>,
}

impl Collect {
    pub fn add(&mut self, r: &Request) {
        self.add_share(r, 1.0);
    }

    /// Adds a request of whose time a share counts.
    fn add_share(&mut self, r: &Request, share: f64) {
        let time = share * (r.end - r.start);
        self.count += 1;
        let rank = self.ranks.get_or(r.rank, (0.0, 0));
        (rank.0, rank.1) = (rank.0 + time, rank.1.saturating_add(r.size));
        let file = self.files.get_or(r.file.0, Part { file: r.file, rank: Some(r.rank), ..Part::default() });
        (file.count, file.bytes, file.time_s) = (file.count + 1, file.bytes.saturating_add(r.size), file.time_s + time);
        if file.rank != Some(r.rank) {
            file.rank = None;
        }
    }

    /// The class; `rate` gives the bytes per second of large requests of a rank.
    fn class(self, rate: impl Fn(u32) -> Option<f64>) -> Class {
        let (mut time_s, mut lost_s) = (0.0f64, None::<f64>);
        for (rank, (time, bytes)) in self.ranks {
            time_s = time_s.max(time);
            let lost = rate(rank).map(|b| (time - bytes as f64 / b).max(0.0));
            lost_s = lost.into_iter().chain(lost_s).reduce(f64::max);
        }
        Class { count: self.count, time_s, lost_s, parts: self.files.into_iter().map(|(_, part)| part).collect() }
    }
}

/// Those of one direction, in the same order.
fn of_op<'o>(rows: &Requests, order: &'o [u32], op: Op) -> Cow<'o, [u32]> {
    let of_op = || order.iter().copied().filter(|&i| rows.op.get(i as usize) == op);
    match of_op().count() {
        n if n == order.len() => Cow::Borrowed(order),
        n => {
            let mut found = Vec::with_capacity(n);
            found.extend(of_op());
            Cow::Owned(found)
        }
    }
}

impl Direction {
    /// Requests by size and alignment; the order is that of time.
    fn of(rows: &Requests, order: &[u32], stripe: u64) -> Direction {
        let mut d = Direction::default();
        let (mut small, mut tiny, mut unaligned) = (Collect::default(), Collect::default(), Collect::default());
        let mut remainders: HashMap<u64, u64, FixedState> = HashMap::default();
        let mut rates: Numbered<Vec<f64>> = Numbered::default();
        let mut times: BTreeMap<u32, Vec<(f64, u32)>> = BTreeMap::new();
        let mut durations = Sizes::default();
        for r in order.iter().map(|&i| rows.get(i as usize)) {
            d.count += 1;
            d.bytes = d.bytes.saturating_add(r.size);
            times.entry(size_class(&r)).or_default().push((r.end - r.start, r.rank));
            if r.size < stripe {
                small.add(&r);
            }
            if r.size < TINY {
                tiny.add(&r);
            }
            if r.size >= stripe / 4 {
                d.quarter += 1;
                let remainder = r.offset % stripe;
                durations.add(&r, remainder != 0);
                if remainder != 0 {
                    // of the stripes that it touches, those that an aligned one would not
                    let (touched, needed) = ((remainder + r.size).div_ceil(stripe), r.size.div_ceil(stripe));
                    unaligned.add_share(&r, (touched - needed) as f64 / touched as f64);
                    if remainders.len() < REMAINDERS || remainders.contains_key(&remainder) {
                        *remainders.entry(remainder).or_default() += 1;
                    }
                }
            }
            if r.size >= 4 * stripe && r.end > r.start {
                rates.get_or(r.rank, Vec::new()).push(r.size as f64 / (r.end - r.start));
            }
        }
        d.rates = Rates::of(rates);
        let rate = |rank: u32| d.rates.at(rank);
        (d.small, d.tiny, d.unaligned) = (small.class(rate), tiny.class(rate), unaligned.class(|_| None));
        d.unaligned.lost_s = durations.lost_s();
        let mut common: Vec<(u64, u64)> = remainders.into_iter().collect();
        common.sort_by_key(|&(remainder, n)| (std::cmp::Reverse(n), remainder));
        common.truncate(3);
        d.remainders = common;
        d.tails = times.into_iter().filter_map(Tail::of).collect();
        d
    }

    /// Bytes moved again, and the extent; the order is that of time. Gives the requests to files with bytes moved again, in the order of
    /// file and offset.
    fn places(
        &mut self,
        rows: &Requests,
        order: &[u32],
        streams: &Streams,
        runs: Option<&[Run]>,
        d: usize,
    ) -> Vec<u32> {
        for of_file in runs.unwrap_or_default().chunk_by(|a, b| a.file == b.file) {
            let (file, first) = (of_file[0].file, of_file[0].start);
            let (mut covered, mut end) = (0u64, 0u64);
            for run in of_file {
                covered += run.end.saturating_sub(run.start.max(end));
                end = end.max(run.end);
            }
            let (mut count, mut bytes) = (0u64, 0u64);
            for (_, s) in streams.of_file(file) {
                (count, bytes) = (count + s.count[d], bytes.saturating_add(s.bytes[d]));
            }
            self.files.push(FileUse { file, count, bytes, covered, first, end });
        }
        let again: Option<HashSet<FileId, FixedState>> =
            runs.map(|_| self.files.iter().filter(|f| f.bytes > f.covered).map(|f| f.file).collect());
        let looked_at = |i: &u32| again.as_ref().is_none_or(|files| files.contains(&rows.file.get(*i as usize)));
        let mut again_rows: Vec<u32> = match &again {
            Some(files) if files.is_empty() => Vec::new(),
            _ => order.iter().copied().filter(looked_at).collect(),
        };
        let file = |i: u32| rows.file.get(i as usize);
        let offset = |i: u32| rows.offset.get(i as usize);
        sort_by_number(&mut again_rows, |i| f64::from(file(i).0), |_, _| Ordering::Equal);
        for of_file in again_rows.chunk_by_mut(|&a, &b| file(a) == file(b)) {
            sort_by_number(of_file, |i| offset(i) as f64, |a, b| offset(a).cmp(&offset(b)));
            let used = self.one_by_one(rows, of_file);
            if runs.is_none() {
                self.files.push(used);
            }
        }
        let sum = |of: fn(&FileUse) -> u64| self.files.iter().map(of).fold(0, u64::saturating_add);
        self.again.0 = self.bytes.saturating_sub(sum(|f| f.covered));
        self.extent = sum(|f| f.end.saturating_sub(f.first));
        self.again_rows.sort_unstable();
        again_rows
    }

    /// The use of a file, and its bytes moved again; the order is that of offsets.
    fn one_by_one(&mut self, rows: &Requests, of_file: &[u32]) -> FileUse {
        let file = rows.file.get(of_file[0] as usize);
        let mut used = FileUse { file, count: of_file.len() as u64, first: u64::MAX, ..FileUse::default() };
        let mut time_s = 0.0;
        for (i, r) in of_file.iter().map(|&i| (i, rows.get(i as usize))) {
            let last = r.offset.saturating_add(r.size);
            used.first = used.first.min(r.offset);
            if r.offset < used.end && self.again_rows.len() < ROWS {
                self.again_rows.push(i);
            }
            if last > used.end {
                used.covered += last - r.offset.max(used.end);
                used.end = last;
            }
            used.bytes = used.bytes.saturating_add(r.size);
            time_s += r.end - r.start;
        }
        if used.bytes > used.covered {
            let bytes = used.bytes - used.covered;
            self.again.1.push(Part { file, rank: None, count: used.count, bytes, time_s });
        }
        used
    }
}

/// Requests of one class differ in size by less than a factor of 2.
fn size_class(r: &Request) -> u32 {
    r.size.max(1).ilog2()
}

/// Durations of requests with and without a fault, by size class (powers of two).
#[derive(Default)]
struct Sizes {
    /// Of the requests without the fault.
    sound: BTreeMap<u32, Vec<f64>>,
    /// Of those with it by rank: their number, and some of them.
    faulty: BTreeMap<u32, Numbered<(u64, Vec<f64>)>>,
}

impl Sizes {
    /// Requests of a class, with and without the fault, from which medians are compared.
    const ENOUGH: usize = 30;
    /// Durations kept of a class and rank.
    const KEPT: usize = 1 << 14;

    fn add(&mut self, r: &Request, faulty: bool) {
        let class = size_class(r);
        let all = if faulty {
            let of_rank = self.faulty.entry(class).or_default().get_or(r.rank, (0, Vec::new()));
            of_rank.0 += 1;
            &mut of_rank.1
        } else {
            self.sound.entry(class).or_default()
        };
        if all.len() < Self::KEPT {
            all.push(r.end - r.start);
        }
    }

    /// Time beyond that of as many sound requests, of the rank with the most; `None` if no class has enough of both.
    fn lost_s(mut self) -> Option<f64> {
        let mut lost: BTreeMap<u32, f64> = BTreeMap::new();
        for (class, ranks) in self.faulty {
            let Some(sound) = self.sound.get_mut(&class).filter(|s| s.len() >= Self::ENOUGH) else { continue };
            let mut faulty: Vec<f64> = ranks.values().flat_map(|r| r.1.iter().copied()).collect();
            if faulty.len() < Self::ENOUGH {
                continue;
            }
            let more = (upper_median(&mut faulty)? - upper_median(sound)?).max(0.0);
            for (rank, (count, _)) in ranks {
                *lost.entry(rank).or_default() += count as f64 * more;
            }
        }
        lost.into_values().reduce(f64::max)
    }
}

/// Counts by the level of a stripe: the number of zeros at the end of its number, mixed. Of many stripes those of high levels are
/// a sample.
struct Levels([u64; 65]);

impl Levels {
    const NONE: Levels = Levels([0; 65]);

    fn of(stripe: u64) -> u32 {
        stripe.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32).trailing_zeros()
    }

    fn add(&mut self, level: u32) {
        self.0[level as usize] += 1;
    }

    /// Those of at least this level.
    fn from(&self, level: u32) -> u64 {
        self.0[level as usize..].iter().sum()
    }
}

/// The writer of a stripe.
struct Owner {
    rank: u32,
    /// Several ranks wrote to it.
    shared: bool,
}

impl Stripes {
    /// Stripes that writes touch; the order is that of time.
    fn of(rows: &Requests, order: &[u32], runs: Option<&[Run]>, unit: u64) -> Stripes {
        let apart = runs.and_then(|runs| stripes_apart(runs, unit));
        if let Some(all) = apart
            && order.iter().all(|&i| rows.size.get(i as usize) < unit.saturating_mul(STRIPES_OF_REQUEST))
        {
            return Stripes::without_owners(rows, order, &all, unit);
        }
        Stripes::with_owners(rows, order, unit)
    }

    /// The figures of a sample: `all` and `touches` by level, and those of all stripes of the level.
    fn sampled(level: u32, all: u64, [touches, owner_changes, shared]: [&Levels; 3]) -> Stripes {
        let sampled = 1u64.checked_shl(level).unwrap_or(u64::MAX);
        let sum = |counts: &Levels| counts.from(level).saturating_mul(sampled);
        Stripes {
            all: all.saturating_mul(sampled),
            touches: sum(touches),
            owner_changes: sum(owner_changes),
            shared: sum(shared),
            sampled,
            ..Stripes::default()
        }
    }

    /// Of ranks that write to stripes of their own, these.
    fn without_owners(rows: &Requests, order: &[u32], apart: &[(u64, u64)], unit: u64) -> Stripes {
        let (mut all, mut touches) = (Levels::NONE, Levels::NONE);
        apart.iter().flat_map(|&(first, last)| first..=last).for_each(|stripe| all.add(Levels::of(stripe)));
        // the stripe of the last request, where most small ones begin and end, too
        let (mut within, mut of_stripe) = (0..0, 0);
        for &i in order {
            let (offset, size) = (rows.offset.get(i as usize), rows.size.get(i as usize));
            let Some(more) = size.checked_sub(1) else { continue };
            let end = offset.saturating_add(more);
            if within.contains(&offset) && within.contains(&end) {
                touches.add(of_stripe);
                continue;
            }
            let last = end / unit;
            (offset / unit..=last).for_each(|stripe| touches.add(Levels::of(stripe)));
            (within, of_stripe) = (last * unit..(last * unit).saturating_add(unit), Levels::of(last));
        }
        let level = (0..64).find(|&k| all.from(k) <= STRIPES as u64).unwrap_or(64);
        Stripes::sampled(level, all.from(level), [&touches, &Levels::NONE, &Levels::NONE])
    }

    /// Follows the owner of each stripe.
    fn with_owners(rows: &Requests, order: &[u32], unit: u64) -> Stripes {
        let mut of: HashMap<(FileId, u64), Owner, FixedState> = HashMap::default();
        let mut level = 0;
        let (mut touches, mut owner_changes, mut shared) = (Levels::NONE, Levels::NONE, Levels::NONE);
        let (mut changed, mut durations, mut changed_rows) = (Collect::default(), Sizes::default(), Vec::new());
        for (i, r) in order.iter().map(|&i| (i, rows.get(i as usize))).filter(|(_, r)| r.size > 0) {
            let last = r.offset.saturating_add(r.size - 1) / unit;
            let first = r.offset / unit;
            let mut changes = false;
            for stripe in first..=last.min(first.saturating_add(STRIPES_OF_REQUEST)) {
                let of_stripe = Levels::of(stripe);
                if of_stripe < level {
                    continue;
                }
                touches.add(of_stripe);
                let s = of.entry((r.file, stripe)).or_insert(Owner { rank: r.rank, shared: false });
                if s.rank != r.rank {
                    owner_changes.add(of_stripe);
                    if !s.shared {
                        shared.add(of_stripe);
                    }
                    (*s, changes) = (Owner { rank: r.rank, shared: true }, true);
                }
                if of.len() > STRIPES {
                    level += 1;
                    of.retain(|key, _| Levels::of(key.1) >= level);
                }
            }
            durations.add(&r, changes);
            if changes {
                changed.add(&r);
                if changed_rows.len() < ROWS {
                    changed_rows.push(i);
                }
            }
        }
        changed_rows.sort_unstable();
        let changed = changed.class(|_| None);
        Stripes {
            time_s: changed.time_s,
            lost_s: durations.lost_s(),
            rows: changed_rows,
            parts: changed.parts,
            ..Stripes::sampled(level, of.len() as u64, [&touches, &owner_changes, &shared])
        }
    }
}

/// First and last of neighbouring stripes that writes touch, in the order of files; `None` if several ranks touch one of them.
fn stripes_apart(runs: &[Run], unit: u64) -> Option<Vec<(u64, u64)>> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for of_file in runs.chunk_by(|a, b| a.file == b.file) {
        let mut last: Option<(u32, u64)> = None;
        for run in of_file.iter().filter(|run| run.end > run.start) {
            let (from, to) = (run.start / unit, (run.end - 1) / unit);
            match (last, all.last_mut()) {
                (Some((rank, end)), Some(stretch)) if from <= end => {
                    if rank != run.rank {
                        return None;
                    }
                    stretch.1 = end.max(to);
                    last = Some((rank, stretch.1));
                }
                _ => {
                    all.push((from, to));
                    last = Some((run.rank, to));
                }
            }
        }
    }
    Some(all)
}

/// Bytes that several ranks wrote; the order is that of file and offset.
fn several(rows: &Requests, order: &[u32]) -> (u64, Vec<Part>) {
    let mut all = Vec::new();
    for of_file in order.chunk_by(|&a, &b| rows.file.get(a as usize) == rows.file.get(b as usize)) {
        let ranks: HashSet<u32, FixedState> = of_file.iter().map(|&i| rows.rank.get(i as usize)).collect();
        if ranks.len() < 2 {
            continue;
        }
        // Where the ranges of a rank begin and end, each rank's joined.
        let mut ends: HashMap<u32, (u64, u64), FixedState> = HashMap::default();
        let mut edges: Vec<(u64, i32)> = Vec::new();
        for r in of_file.iter().map(|&i| rows.get(i as usize)) {
            let end = r.offset.saturating_add(r.size);
            let range = ends.entry(r.rank).or_insert((r.offset, r.offset));
            if r.offset > range.1 {
                edges.extend([(range.0, 1), (range.1, -1)]);
                *range = (r.offset, end);
            } else {
                range.1 = range.1.max(end);
            }
        }
        edges.extend(ends.values().flat_map(|&(start, end)| [(start, 1), (end, -1)]));
        edges.sort_unstable();
        let (mut depth, mut last, mut bytes) = (0, 0u64, 0u64);
        for (at, step) in edges {
            if depth >= 2 {
                bytes += at - last;
            }
            (depth, last) = (depth + step, at);
        }
        if bytes > 0 {
            let file = of_file.first().map_or(FileId::NONE, |&i| rows.file.get(i as usize));
            all.push(Part { file, rank: None, count: ranks.len() as u64, bytes, time_s: 0.0 });
        }
    }
    (all.iter().map(|p| p.bytes).sum(), all)
}

/// Bytes written that the same rank read in one of its last two requests of the file.
fn rewritten(rows: &Requests, order: &[u32]) -> (u64, Class) {
    let mut last: HashMap<(u32, FileId), [Option<Request>; 2], FixedState> = HashMap::default();
    let mut reads = Collect::default();
    let mut bytes = 0u64;
    for r in order.iter().map(|&i| rows.get(i as usize)) {
        let before = last.entry((r.rank, r.file)).or_default();
        if r.op == Op::Write {
            let overlap = |q: &Request| {
                let end = |x: &Request| x.offset.saturating_add(x.size);
                end(q).min(end(&r)).saturating_sub(q.offset.max(r.offset))
            };
            let read =
                before.iter().flatten().filter(|q| q.op == Op::Read && overlap(q) > 0).max_by_key(|q| overlap(q));
            if let Some(q) = read {
                bytes = bytes.saturating_add(overlap(q));
                reads.add(q);
            }
        }
        *before = [before[1], Some(r)];
    }
    (bytes, reads.class(|_| None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(requests: &[(Op, u32, u64, u64, f64, f64)]) -> Trace {
        let mut rows = Requests::default();
        for &(op, rank, offset, size, start, end) in requests {
            rows.push(Request { op, rank, offset, size, start, end, file: FileId(0), ..Request::default() });
        }
        let mut trace = Trace { data: Data::Requests(rows), ranks: 2, ..Trace::default() };
        trace.files.intern("/scratch/a");
        trace
    }

    #[test]
    fn figures_in_closed_form() {
        use Op::{Read, Write};
        let t = trace(&[
            (Write, 0, 0, 100, 0.0, 1.0),
            (Write, 1, 50, 100, 0.5, 1.5),
            (Write, 0, 1000, 100, 2.0, 3.0),
            (Read, 0, 1000, 100, 4.0, 4.5),
            (Write, 0, 1000, 50, 4.5, 5.0),
        ]);
        let f = RequestFacts::of(&t, 100).unwrap();
        assert!(f.complete);
        assert_eq!((f.io_s, f.io_wall_s, f.slowest), (3.0, 3.5, Some(0)));
        assert_eq!(f.concurrency, 4.0 / 3.5);
        assert_eq!(f.several.0, 50);
        assert_eq!(f.rewritten.0, 50);
        let w = &f.directions[1];
        assert_eq!((w.count, w.bytes, w.again.0, w.small.count), (4, 350, 100, 1));
        assert_eq!((w.quarter, w.unaligned.count, &w.remainders[..]), (4, 1, &[(50, 1)][..]));
        // stripes 0 and 1 by rank 1 after rank 0 wrote stripe 0
        let s = &f.stripes;
        assert_eq!((s.all, s.touches, s.owner_changes, s.shared, s.sampled), (3, 5, 1, 1, 1));
        assert_eq!(w.extent, 1100);
    }

    #[test]
    fn small_requests_lose_what_large_ones_would_not_take() {
        // 8 requests of 1000 bytes a second, 10 of 10 bytes at 0.1 s each
        let mut all: Vec<_> = (0..8).map(|i| (Op::Write, 0, i * 1000, 1000, i as f64, i as f64 + 1.0)).collect();
        all.extend((0..10).map(|i| (Op::Write, 0, 8000 + i * 10, 10, 10.0 + i as f64, 10.1 + i as f64)));
        let f = RequestFacts::of(&trace(&all), 100).unwrap();
        let small = &f.directions[1].small;
        assert_eq!(small.count, 10);
        assert!((small.time_s - 1.0).abs() < 1e-9 && (small.lost_s.unwrap() - 0.9).abs() < 1e-9);
    }

    #[test]
    fn the_slow_tail_is_one_of_requests_of_the_same_size() {
        // 200 of 100 bytes at 1 ms, and 4 of 50 MB at 1 s
        let small = (0..200).map(|i| (Op::Write, 0, i * 100, 100, i as f64, i as f64 + 0.001));
        let large = (0..4u64).map(|i| (Op::Write, 0, i << 30, 50 << 20, 300.0 + i as f64, 301.0 + i as f64));
        let all: Vec<_> = small.chain(large).collect();
        let worst = |all: &[(Op, u32, u64, u64, f64, f64)]| {
            let f = RequestFacts::of(&trace(all), 1 << 20).unwrap();
            let most = |a: &&Tail, b: &&Tail| a.lost_s.total_cmp(&b.lost_s);
            *f.directions[1].tails.iter().max_by(most).unwrap()
        };
        assert!(worst(&all).lost_s < 1e-9, "{:?}", worst(&all));
        let mut slow = all.clone();
        slow[7].5 = 7.0 + 2.0;
        let t = worst(&slow);
        assert_eq!((t.size, t.of, t.count), (64, 200, 2));
        assert!((t.lost_s - 1.999).abs() < 1e-9 && t.share > 0.9, "{t:?}");
    }

    #[test]
    fn passes_begin_with_the_first_byte_of_the_file() {
        // a header is read first, and each pass ends with reads of nothing
        let pass = |start: f64| {
            let read = move |i: u64| {
                let at = start + i as f64 * 0.01;
                (Op::Read, 0, 100 * i, if i < 100 { 100 } else { 0 }, at, at + 0.001)
            };
            (0..103).map(read)
        };
        let header = [(Op::Read, 0, 0, 100, 0.0, 0.1)];
        let all: Vec<_> = header.into_iter().chain([5.0, 25.0, 45.0].into_iter().flat_map(pass)).collect();
        let f = RequestFacts::of(&trace(&all), 1 << 20).unwrap();
        assert!((f.pass_s.unwrap() - 20.0).abs() < 1e-9, "{:?}", f.pass_s);
    }

    #[test]
    fn many_stripes_are_sampled() {
        // two ranks in turns on 3 million stripes of 1 byte
        let all: Vec<_> = (0..60u64)
            .map(|i| (Op::Write, (i % 2) as u32, i / 2 * 50_000 * 2, 50_000, i as f64, i as f64 + 0.5))
            .collect();
        let f = RequestFacts::of(&trace(&all), 1).unwrap();
        assert!(f.stripes.sampled > 1 || f.stripes.all <= STRIPES as u64);
        let changes = f.stripes.owner_changes as f64 / f.stripes.touches as f64;
        assert!((changes - 0.5).abs() < 0.02, "{changes}");
    }
}
