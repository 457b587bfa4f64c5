//! The description of all ranks: which nests shorten it, and the accesses that no pattern covers.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use rayon::prelude::*;

use super::access::Access;
use super::automata::NONE;
use super::cost::{Pool, any_order_bits, breaks_bits, count_bits, nest_bits, steps_bits};
use super::fold::fold;
use super::found::Found;
use super::links::link;
use super::pattern::Pattern;
use super::piece::{Order, OrderBits, Piece, Shape, Source, Turn};
use super::predictor::Predictor;
use super::ranks::join_ranks;
use super::table::Table;
use super::thresholds::LIMITS;
use super::tiles::Tiles;
use crate::nest::Loop;
use crate::record::{FileId, Op};

/// Places of the accesses of a file, an operation and a size; of all sizes under `None`.
type Pools = Table<(FileId, Op, Option<u64>), Pool>;

/// Different accesses of a file and an operation.
type AllTiles = Table<(FileId, Op), Tiles>;

/// The pieces of one rank.
#[derive(Debug, Default)]
pub(super) struct Ended {
    nests: Vec<Piece>,
    singles: Vec<Piece>,
    pools: Pools,
    tiles: AllTiles,
    found: Found,
}

/// Folds what one rank did into nests.
pub(super) fn end(mut rank: Predictor) -> Ended {
    rank.finish();
    let mut ended = Ended::default();
    for lane in std::mem::take(&mut rank.lanes).into_iter().filter(|l| l.stream != NONE) {
        let stream = &rank.streams[lane.stream as usize];
        let source = Source { op: stream.op, rank: rank.rank, file: stream.file };
        let mut pieces = lane.pieces;
        pieces.extend(lane.waiting.iter().map(|s| s.piece(source, lane.size)));
        let seen = lane.pool.accesses;
        for p in fold(pieces, &lane.pool, seen) {
            if p.turns.is_empty() { ended.singles.push(p) } else { ended.nests.push(p) }
        }
        ended.pools.entry((stream.file, stream.op, Some(lane.size))).or_default().join(&lane.pool);
        ended.pools.entry((stream.file, stream.op, None)).or_default().join(&lane.pool);
    }
    for stream in &mut rank.streams {
        ended.pools.entry((stream.file, stream.op, None)).or_default().join(&stream.forgotten);
        add_tiles(&mut ended.tiles, (stream.file, stream.op), std::mem::take(&mut stream.tiles));
        let chains = std::mem::take(&mut stream.closed_chains);
        let pool = ended.pools.entry((stream.file, stream.op, None)).or_default();
        for c in &chains {
            pool.accesses += c.records();
            pool.add(c.at);
        }
        let pool = *pool;
        ended.nests.extend(fold(chains, &pool, stream.seen));
    }
    ended.found = Found {
        records: rank.records,
        bytes: rank.bytes,
        predicted: rank.predicted,
        unmatched_records: rank.residual,
        unlisted: rank.unlisted,
        unmatched: std::mem::take(&mut rank.kept),
        ..Found::default()
    };
    ended
}

/// Adds the accesses of a rank to those of a file and an operation: most files are of one rank, so that nothing is copied.
fn add_tiles(all: &mut AllTiles, key: (FileId, Op), tiles: Tiles) {
    match all.entry(key) {
        Entry::Vacant(e) => {
            e.insert(tiles);
        }
        Entry::Occupied(mut e) => e.get_mut().join(&tiles),
    }
}

/// The description of all ranks.
pub(super) fn describe(ranks: impl Iterator<Item = Ended>, across: bool, keep: bool) -> Found {
    let mut found = Found::default();
    let (mut pools, mut tiles) = (Pools::default(), AllTiles::default());
    let (mut nests, mut singles) = (Vec::new(), Vec::new());
    for r in ranks {
        found.append(r.found);
        nests.extend(r.nests);
        singles.extend(r.singles);
        for (key, pool) in r.pools {
            pools.entry(key).or_default().join(&pool);
        }
        for (key, t) in r.tiles {
            add_tiles(&mut tiles, key, t);
        }
    }
    let prices = Prices { pools, tiles: tiles.into_iter().map(|(k, t)| (k, t.count())).collect() };
    nests.par_iter_mut().for_each(|p| p.order = prices.order(p));
    let (mut patterns, rest) = prices.judge(nests, &[]);
    // Accesses too few to show a pattern in one rank may show one over all ranks.
    let (mut candidates, mut rest) = if across { joined(rest, |_| true) } else { (Vec::new(), rest) };
    let (lone, singles) = lone_accesses(singles, &prices);
    candidates.extend(lone);
    let (more, chance) = prices.judge(candidates, &patterns);
    rest.extend(chance);
    patterns.extend(more);
    let (linked, singles) = back_to_back(singles, &prices);
    let (linked, chance) = prices.judge(linked, &patterns);
    rest.extend(singles.into_iter().chain(chance));
    patterns.extend(linked);
    if across {
        patterns = join_ranks(patterns, |_| true);
    }
    patterns = read_modify_writes(patterns);
    for p in rest {
        found.unmatched_records += p.records();
        if keep {
            found.unmatched.extend(accesses(p));
        }
    }
    found.patterns = patterns.into_iter().map(Pattern::of).collect();
    found.patterns.sort_by(|a, b| {
        a.start.total_cmp(&b.start).then((a.rank, a.file, a.start_offset).cmp(&(b.rank, b.file, b.start_offset)))
    });
    found
}

/// Accesses of a piece, with its own times.
fn accesses(p: Piece) -> Vec<Access> {
    let p = Pattern::of(p);
    let places: Vec<(u64, u64)> = p.expand().map(Iterator::collect).unwrap_or_default();
    let access = |(i, (offset, size)): (u64, (u64, u64))| Access {
        op: p.op_of(i),
        rank: p.rank_of(i),
        file: p.file,
        offset,
        size,
        start: p.start,
        end: p.end,
    };
    (0..).zip(places).map(access).collect()
}

/// Single accesses that evenly spaced ranks make at a constant distance, and the others.
fn lone_accesses(singles: Vec<Piece>, prices: &Prices) -> (Vec<Piece>, Vec<Piece>) {
    let mut counts: Table<(FileId, Op, Option<u64>), u64> = Table::default();
    singles.iter().for_each(|p| *counts.entry((p.file, p.op, p.body.size())).or_default() += 1);
    let pays = |members: &[&Piece]| {
        let (p, n) = (members[0], members.len() as u64);
        let key = (p.file, p.op, p.body.size());
        let each = (counts[&key] as f64 / n as f64).max(1.0);
        let place = prices.literals(p, 1, 1);
        let stride = members[1].at.abs_diff(p.at);
        let free = stride != 0 && Some(stride) != p.body.size();
        // at the same point of each stream, among the accesses of its size, or anywhere
        let choices = if members.iter().all(|m| m.in_stream == p.in_stream) {
            1.0
        } else if members.iter().all(|m| m.in_size == p.in_size) {
            1.0 + (n - 1) as f64 * prices.size(p)
        } else {
            n as f64 * each.log2()
        };
        let pattern = place + if free { place + 2.0 } else { 1.0 } + count_bits(n) + choices;
        n > 2 && prices.literals(p, n, if stride == 0 { 1 } else { n }) - pattern > 0.0
    };
    joined(singles, pays)
}

/// Runs of single accesses of a stream that continue each other, and the other accesses.
fn back_to_back(singles: Vec<Piece>, prices: &Prices) -> (Vec<Piece>, Vec<Piece>) {
    let mut streams: BTreeMap<(u32, FileId, Op), Vec<Piece>> = BTreeMap::new();
    for p in singles {
        streams.entry((p.rank, p.file, p.op)).or_default().push(p);
    }
    let (mut runs, mut rest) = (Vec::new(), Vec::new());
    for ((_, file, op), list) in streams {
        let (linked, others) = link(list, &prices.pool(file, op, None));
        let of_prices = |mut p: Piece| {
            p.order = prices.order(&p);
            p
        };
        runs.extend(linked.into_iter().map(of_prices));
        rest.extend(others);
    }
    (runs, rest)
}

/// Pieces that ranks make together, and the others.
fn joined(pieces: Vec<Piece>, pays: impl Fn(&[&Piece]) -> bool) -> (Vec<Piece>, Vec<Piece>) {
    join_ranks(pieces, pays).into_iter().partition(|p| p.ranks.is_some())
}

/// A nest of reads and a nest of writes of the same places at the same time are one.
fn read_modify_writes(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let mut reads: Table<(u32, FileId, u64, Shape), usize> = Table::default();
    let (read, write): (Vec<_>, Vec<_>) = pieces.into_iter().partition(|p| p.op == Op::Read);
    let key = |p: &Piece| Some((p.rank, p.file, p.at, p.shape()?));
    for p in read {
        if let Some(key) = key(&p).filter(|_| p.body.size().is_some()) {
            reads.insert(key, out.len());
        }
        out.push(p);
    }
    for p in write {
        let same = key(&p).and_then(|k| reads.get(&k).copied());
        let overlaps = |i: &usize| {
            out[*i].then.is_none() && out[*i].ranks == p.ranks && p.start < out[*i].end && out[*i].start < p.end
        };
        match same.filter(overlaps) {
            Some(i) => out[i].pair_with(p),
            None => out.push(p),
        }
    }
    out
}

struct Prices {
    pools: Pools,
    /// Different accesses of a file and operation, and the share of them that begin where none ends.
    tiles: Table<(FileId, Op), (f64, f64)>,
}

impl Prices {
    fn pool(&self, file: FileId, op: Op, size: Option<u64>) -> Pool {
        self.pools.get(&(file, op, size)).copied().unwrap_or_default()
    }

    /// Bits that tell the size of an access.
    fn size(&self, p: &Piece) -> f64 {
        let all = self.pool(p.file, p.op, None).accesses.max(1) as f64;
        let Some(size) = p.body.size() else { return 0.0 };
        (all / self.pool(p.file, p.op, Some(size)).accesses.max(1) as f64).log2().max(0.0)
    }

    fn place(&self, p: &Piece) -> f64 {
        self.pool(p.file, p.op, p.body.size()).place()
    }

    /// Bits of `n` accesses at `places` different places one by one: each as a size and a place of the grid, or as one of a list of
    /// all different accesses, each of which is stated once.
    fn literals(&self, p: &Piece, n: u64, places: u64) -> f64 {
        let each = n as f64 * (self.size(p) + self.place(p));
        let (different, loose) = self.tiles.get(&(p.file, p.op)).copied().unwrap_or((1.0, 1.0));
        let listed = n as f64 * different.max(1.0).log2().max(LIMITS.certain)
            + places as f64 * loose * self.pool(p.file, p.op, None).byte();
        each.min(listed)
    }

    /// Bits that a pattern saves before its start, its loops and the order of its accesses are paid for.
    fn gross(&self, p: &Piece) -> f64 {
        let places: u64 = p.turns.iter().filter(|t| t.stride != 0).map(|t| t.count).product();
        self.literals(p, p.records(), places * p.body.records()) - self.literals(p, 1, 1)
    }

    fn order(&self, p: &Piece) -> [OrderBits; 2] {
        let n = p.records();
        let bits = |o: &Order, sizes: f64, step: fn(&Turn) -> u64| {
            let given_steps = LIMITS.order + sizes + breaks_bits(o, n);
            let own = (given_steps + steps_bits(o, n, &p.turns, step)).min(LIMITS.order + sizes + any_order_bits(o, n));
            OrderBits { own, given_steps: if p.turns.is_empty() { own } else { given_steps } }
        };
        let in_stream = bits(&p.in_stream, 0.0, |t| t.steps.in_stream);
        let in_size = bits(&p.in_size, (n - 1) as f64 * self.size(p), |t| t.steps.in_size);
        if p.body.size().is_none() { [in_stream; 2] } else { [in_size, in_stream] }
    }

    /// Patterns that shorten the description, beside those `given`, and those that do not.
    fn judge(&self, pieces: Vec<Piece>, given: &[Piece]) -> (Vec<Piece>, Vec<Piece>) {
        let (mut kept, mut chance) = (pieces, Vec::new());
        for _ in 0..LIMITS.rounds {
            let (of_kept, of_given) = self.saved(&kept, given);
            let mut classes: Table<Class, f64> = Table::default();
            let all = kept.iter().zip(&of_kept).chain(given.iter().zip(&of_given));
            for (p, s) in all.filter(|(_, s)| **s > 0.0) {
                class(p).into_iter().for_each(|c| *classes.entry(c).or_default() += s);
            }
            let before = kept.len();
            let mut saved = of_kept.into_iter();
            let (good, bad): (Vec<_>, Vec<_>) = kept.into_iter().partition(|p| {
                let s = saved.next().unwrap_or(0.0);
                let learned = 0.5 * (self.pool(p.file, p.op, None).accesses.max(1) as f64).log2();
                s > 0.0
                    && class(p).iter().any(|c| classes[c] > LIMITS.margin)
                    && classes[&Class::File(p.file, p.op)] > learned
            });
            kept = good;
            chance.extend(bad);
            if kept.len() == before {
                break;
            }
        }
        (kept, chance)
    }

    /// Bits that each pattern saves, beside the others, as `cost.rs` says.
    fn saved(&self, pieces: &[Piece], given: &[Piece]) -> (Vec<f64>, Vec<f64>) {
        let mut starts: Table<(FileId, Op), (u64, u64)> = Table::default();
        let mut uses = Uses::default();
        for p in pieces.iter().chain(given) {
            let sum = starts.entry((p.file, p.op)).or_default();
            *sum = (sum.0 + 1, sum.1 + p.records());
            uses.add(p);
        }
        let saved = |p: &Piece| {
            let accesses = self.pool(p.file, p.op, None).accesses.max(1) as f64;
            let (starts, covered) = starts[&(p.file, p.op)];
            let residual = (accesses - covered as f64).max(0.0);
            let start = ((starts as f64 + residual) / starts as f64).log2();
            let own = nest_bits(&p.turns, &p.body, self.place(p));
            let chain = if p.body.size().is_none() { count_bits(p.body.records()) } else { 0.0 };
            self.gross(p)
                - start
                - f64::from(p.uneven_ranks) * (start + (starts as f64).log2())
                - uses.bits(p, own)
                - chain
        };
        (pieces.par_iter().map(saved).collect(), given.par_iter().map(saved).collect())
    }
}

/// How often loops occur, by themselves and with their steps: what was stated once need not be stated again.
#[derive(Default)]
struct Uses {
    all: f64,
    loops: Table<(Op, Vec<Loop>), f64>,
    steps_in_size: Table<(Op, Vec<Loop>, Vec<u64>), f64>,
    steps_in_stream: Table<(Op, Vec<Loop>, Vec<u64>), f64>,
}

impl Uses {
    fn add(&mut self, p: &Piece) {
        self.all += 1.0;
        *self.loops.entry((p.op, p.loops())).or_default() += 1.0;
        *self.steps_in_size.entry((p.op, p.loops(), steps(p, |t| t.steps.in_size))).or_default() += 1.0;
        *self.steps_in_stream.entry((p.op, p.loops(), steps(p, |t| t.steps.in_stream))).or_default() += 1.0;
    }

    /// Bits of the loops of a pattern, which take `own` bits if they are new, and of the order of its accesses.
    fn bits(&self, p: &Piece, own: f64) -> f64 {
        let known = |used: f64, own: f64| (self.all / used).log2() + own / used;
        let [in_size, in_stream] = p.order;
        let order = in_size.own.min(in_stream.own);
        let loops = own.min(known(self.loops[&(p.op, p.loops())], own)) + order;
        let with_steps = |o: OrderBits, used: f64| known(used, own + o.own - o.given_steps) + o.given_steps;
        loops
            .min(with_steps(in_size, self.steps_in_size[&(p.op, p.loops(), steps(p, |t| t.steps.in_size))]))
            .min(with_steps(in_stream, self.steps_in_stream[&(p.op, p.loops(), steps(p, |t| t.steps.in_stream))]))
    }
}

fn steps(p: &Piece, of: fn(&Turn) -> u64) -> Vec<u64> {
    p.turns.iter().map(of).collect()
}

/// Patterns that speak for each other.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Class {
    /// The same loops, in any file.
    Loops(Op, Vec<Loop>),
    /// Those of one file.
    File(FileId, Op),
}

fn class(p: &Piece) -> [Class; 2] {
    [Class::Loops(p.op, p.loops()), Class::File(p.file, p.op)]
}
