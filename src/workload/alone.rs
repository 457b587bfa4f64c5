//! Accesses that stand alone: what no progression of their rank holds. Several ranks may make a pattern of them together, and
//! some may lie back to back.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::across::across;
use super::stretch::{Places, Script, Stretch, seconds};
use super::truth::{Place, TruePattern};
use crate::record::{FileId, Files, Op};

/// Runs of which more are to be expected by chance than this do not count.
pub(super) const CHANCE: f64 = 0.01;

/// An access.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Alone {
    pub(super) rank: u32,
    pub(super) offset: u64,
    pub(super) size: u64,
    /// Start and end.
    pub(super) span_ns: (u64, u64),
}

/// Operation, file, rank, size, offset.
type Key = (Op, FileId, u32, u64, u64);

/// From when to when, in seconds, and the accesses then.
type Times = ((f64, f64), Vec<(u64, u64)>);

/// The patterns, given also those that are none: a single access, or two at any distance. These are replaced by the patterns that
/// they make with each other.
pub(super) fn gather(all: Vec<TruePattern>, files: &Files, script: &dyn Script) -> Vec<TruePattern> {
    let (single, mut patterns): (Vec<_>, Vec<_>) = all.into_iter().partition(is_none);
    if single.is_empty() {
        return patterns;
    }
    let numbers: HashMap<&str, FileId> = files.iter().map(|(id, name)| (name, id)).collect();
    let mut wanted: HashMap<Key, Times> = HashMap::new();
    for p in &single {
        for k in 0..p.records {
            let offset = p.start_offset.wrapping_add_signed(p.stride.unwrap_or(0) * k as i64);
            let key = (p.op, numbers[p.file.as_str()], p.rank, p.access_size.unwrap_or(0), offset);
            let (when, _) = wanted.entry(key).or_insert(((p.start_s, p.end_s), Vec::new()));
            *when = (when.0.min(p.start_s), when.1.max(p.end_s));
        }
    }
    let ranks = times(&mut wanted, script);
    let mut streams: BTreeMap<(u8, FileId), (Op, Vec<Alone>)> = BTreeMap::new();
    for ((op, file, rank, size, offset), (_, spans)) in wanted {
        let of_file = streams.entry((op as u8, file)).or_insert((op, Vec::new()));
        of_file.1.extend(spans.into_iter().map(|span_ns| Alone { rank, offset, size, span_ns }));
    }
    for ((_, file), (op, mut alone)) in streams {
        alone.sort_by_key(|a| (a.rank, a.span_ns, a.offset));
        let file = files.name(file);
        let place = |rank, span_ns| Place { op, rank, file, span_ns, period_s: None };
        let mut together = Vec::new();
        for size in alone.iter().map(|a| a.size).collect::<BTreeSet<_>>() {
            let known = patterns.iter().filter(|p| (p.op, p.file.as_str(), p.access_size) == (op, file, Some(size)));
            let reach: Vec<[u64; 3]> = known.map(|p| [p.lowest(), p.end_offset, p.start_offset]).collect();
            together.extend(across(&mut alone, size, ranks, &reach, place));
        }
        let runs = back_to_back(&alone, &patterns, op, file, place);
        patterns.extend(together.into_iter().chain(runs));
    }
    patterns
}

/// True for what has no second place that the first ones would tell.
fn is_none(p: &TruePattern) -> bool {
    match (p.records, &p.levels[..], p.access_size) {
        (1, ..) => true,
        (2, [l], Some(size)) => l.stride != 0 && l.stride != size as i64,
        _ => false,
    }
}

/// Fills in when the accesses are; gives the number of ranks that do anything.
fn times(wanted: &mut HashMap<Key, Times>, script: &dyn Script) -> usize {
    let mut ranks = BTreeSet::new();
    for s in script.lanes().into_iter().flatten() {
        let n = s.places.count();
        if n == 0 {
            continue;
        }
        ranks.insert(s.rank);
        if n <= 2 {
            let (first, last) = (s.start_ns, s.start_ns + s.length_ns);
            let middle = first + s.length_ns / 2 + s.length_ns % 2;
            let spans =
                if n == 1 { vec![(first, last)] } else { vec![(first, first + s.length_ns / 2), (middle, last)] };
            for ((offset, size), span) in places(&s).into_iter().zip(spans) {
                if let Some((when, known)) = wanted.get_mut(&(s.op, s.file, s.rank, size, offset))
                    && (when.0..=when.1).contains(&seconds(span.0))
                {
                    known.push(span);
                }
            }
        }
    }
    ranks.len()
}

/// The places of a stretch of one or two.
fn places(s: &Stretch) -> Vec<(u64, u64)> {
    match &s.places {
        Places::Nested(offset, shape) => {
            let stride = shape.canonical().levels.first().map_or(0, |l| l.stride);
            let place = |k: u64| (offset.wrapping_add_signed(stride * k as i64), shape.size);
            (0..shape.count()).map(place).collect()
        }
        Places::Listed(list) => list.clone(),
        Places::Shuffled { .. } => Vec::new(),
    }
}

/// What of a rank lies back to back, each access the first one after the end of the one before, if that is no accident.
fn back_to_back<'f>(
    alone: &[Alone],
    patterns: &[TruePattern],
    op: Op,
    file: &str,
    place: impl Fn(u32, (u64, u64)) -> Place<'f>,
) -> Vec<TruePattern> {
    let mut out = Vec::new();
    for of_rank in alone.chunk_by(|a, b| a.rank == b.rank) {
        let rank = of_rank[0].rank;
        let known = patterns.iter().filter(|p| p.op == op && p.rank == rank && p.file == file);
        let reach: Vec<u64> = known.flat_map(|p| [p.start_offset, p.end_offset]).collect();
        let grid = grid(of_rank, &reach);
        let mut used = vec![false; of_rank.len()];
        for i in 0..of_rank.len() {
            let mut run: Vec<usize> = Vec::new();
            let mut next = Some(i).filter(|&i| !used[i]);
            while let Some(j) = next {
                run.push(j);
                let end = of_rank[j].offset + of_rank[j].size;
                next = (j + 1..of_rank.len()).find(|&k| of_rank[k].offset == end).filter(|&k| !used[k]);
            }
            if run.len() < 2 {
                continue;
            }
            run.iter().for_each(|&j| used[j] = true);
            let ways: f64 = (0..run.len()).map(|k| (of_rank.len() - k) as f64 / (k + 1) as f64).product();
            if follows(&run, of_rank) || ways / grid.powi(run.len() as i32 - 1) <= CHANCE {
                let span = (of_rank[i].span_ns.0, of_rank[run[run.len() - 1]].span_ns.1);
                let sizes: Vec<u64> = run.iter().map(|&j| of_rank[j].size).collect();
                out.extend(TruePattern::back_to_back(place(rank, span), of_rank[i].offset, &sizes));
            }
        }
    }
    out
}

/// True for a run that is sequential whatever its places: three in a row, or five, whose sizes vary.
fn follows(run: &[usize], alone: &[Alone]) -> bool {
    let in_a_row = run.windows(2).all(|w| w[1] == w[0] + 1);
    let changes = run.windows(2).filter(|w| alone[w[0]].size != alone[w[1]].size).count();
    run.len() >= if in_a_row { 3 } else { 5 } && changes >= 2 && run.len() < 4 * (changes + 1)
}

/// Places of the finest grid on which all begin and end, as far as they and the patterns reach.
fn grid(alone: &[Alone], reach: &[u64]) -> f64 {
    let ends: Vec<u64> = alone.iter().flat_map(|a| [a.offset, a.offset + a.size]).collect();
    let unit = ends.iter().fold(0, |unit, e| gcd(unit, e.abs_diff(ends[0])));
    let all = || ends.iter().chain(reach);
    let extent = all().max().unwrap_or(&0) - all().min().unwrap_or(&0);
    extent.checked_div(unit).map_or(1.0, |n| n as f64 + 1.0)
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
