//! Whether what all ranks do with accesses of one operation and size has an order at all.
//!
//! It has one if the patterns found tell where these accesses are in fewer bits than random places take. Random places of a
//! file are told by their number among the places of its grid that this pass over the file has not seen yet; a pattern by its
//! start, its loops, and when it comes among the others. Both are prefix codes: at random places, patterns save n bits with a
//! probability of less than 2^-n, whatever the way in which they were found, and of much less where they are as wordy as here.

use super::bits::{FEW, in_blocks, in_passes, number, of_visits, rows, turns, unseen, ways};
use super::doubt::{Choice, Key, Pools};
use super::follow::Jumbled;
use super::left::Part;
use super::log::Item;
use super::nest::{Level, Nest};
use super::pattern::Pattern;
use super::search::small_nests;
use super::table::{Keys, Table};
use super::walk::Walk;
use crate::record::FileId;

/// Bits that patterns save where there is an order: of one list, and at most of many, among which chance makes a few.
const ENOUGH: (f64, f64) = (2.0, 8.0);

/// The same where no place comes twice: such orders may look like one in many ways, and the more so the more lists there are.
const APART: (f64, f64) = (6.0, 12.0);

/// Bits that they must save beyond that where they tell only some of the lists: among many, chance makes a few.
const SOME: f64 = 8.0;

/// Accesses of a stream that may have no order: any two have one.
const THREE: u64 = 3;

/// Records that each of several nests must have foretold.
const EVIDENCE: u64 = 2;

/// Records that nests in turn must have foretold together if the last of them has foretold less.
const MUCH: u64 = 12;

/// Accesses of a stream that are told from its log where what is left is not kept.
const MOST: u64 = 8 * FEW;

/// Accesses times patterns of a stream of which it is looked at to which pattern each access belongs.
const LABELS: u64 = 8 * FEW;

/// Accesses of a stream that is looked at for nests that its patterns do not tell.
const SHORT: u64 = 64;

/// Accesses that have an order or have none together: operation as a number, size, and the file where sizes vary in random order
/// or accesses are strewn.
pub(super) type Pool = (u8, u64, Option<FileId>);

/// What a rank did in a file with accesses of one operation and size.
#[derive(Debug, Default)]
struct Stream {
    records: u64,
    /// Its patterns, by number.
    patterns: Vec<usize>,
    /// Places in no pattern, and those in patterns of several ranks.
    alone: Vec<u64>,
    joined: Vec<u64>,
}

impl Stream {
    fn is_whole(&self) -> bool {
        self.alone.is_empty() && self.joined.is_empty()
    }

    /// True if it is a nest, or some that follow each other and are no list over and over, or too little to tell.
    fn is_plain(&self, part: &Part, key: &Key, jumbled: &Jumbled) -> bool {
        // Among sizes in random order, nests follow each other by chance.
        if jumbled.has_many(key.0) {
            return self.records < THREE || self.is_whole() && self.patterns.len() == 1;
        }
        let nests = || self.patterns.iter().map(|&i| &part.patterns[i]);
        let foretold = |p: &Pattern| Nest::from_levels(p.start_offset, p.levels()).evidence(key.2);
        let sound = |p: &Pattern| foretold(p) >= EVIDENCE;
        // Of a stream that foretells much, the last nest may be a short one.
        let but_last = || {
            let in_time = by_time(nests());
            let much = in_time.iter().map(|p| foretold(p)).sum::<u64>() >= MUCH;
            much && in_time.split_last().is_some_and(|(_, others)| others.iter().all(|p| sound(p)))
        };
        let several =
            || in_turn(&by_time(nests())) && (nests().all(sound) || but_last()) && self.passes(part, key) == 1;
        let in_order = || self.patterns.len() == 1 || several() || self.in_nests(part, key);
        self.records < THREE || self.is_whole() && in_order() || self.in_list(part, key) || self.climbs(part, key)
    }

    /// True if it goes upwards from the same place to at least two others, over and over.
    fn climbs(&self, part: &Part, key: &Key) -> bool {
        let walk = (self.records <= FEW).then(|| part.walk(key)).flatten();
        let Some(walk) = walk.filter(|w| w.records() == self.records) else { return false };
        // Twice the list, where it is gone through more often: all of it is alike.
        let items: Vec<Item> = walk.accesses().take(2 * walk.list().len()).collect();
        let mut climbs = items.chunk_by(|a, b| a.offset < b.offset);
        let from_first = |c: &[Item]| c.len() as u64 >= THREE && c[0].offset == items[0].offset;
        items.len() > climbs.clone().next().map_or(0, <[Item]>::len) && climbs.all(from_first)
    }

    /// True if a list of different places is gone through over and over, but not always to its end.
    fn in_list(&self, part: &Part, key: &Key) -> bool {
        let walk = (self.records <= FEW).then(|| part.walk(key)).flatten();
        let Some(walk) = walk.filter(|w| w.records() == self.records) else { return false };
        let walk: Vec<Item> = walk.accesses().collect();
        let passes: Vec<&[Item]> = walk.chunk_by(|_, b| b.offset != walk[0].offset).collect();
        let Some(list) = passes.iter().max_by_key(|p| p.len()) else { return false };
        let begins = |p: &&[Item]| p.iter().zip(*list).all(|(a, b)| a.offset == b.offset);
        // Each other length must be told, and an access is foretold even then.
        let lengths = passes.windows(2).filter(|w| w[0].len() != w[1].len()).count();
        let mut seen = Keys::default();
        let different = list.iter().all(|i| seen.insert(i.offset));
        lengths > 0 && walk.len() > list.len() + lengths && different && passes.iter().all(begins)
    }

    /// True if it can be told as nests that follow each other, as above, though its patterns do not.
    fn in_nests(&self, part: &Part, key: &Key) -> bool {
        let walk = (self.records <= SHORT).then(|| part.walk(key)).flatten();
        let Some(walk) = walk.filter(|w| w.records() == self.records && w.passes == 1) else { return false };
        let places: Vec<u64> = walk.list().iter().map(|i| i.offset).collect();
        let one = |places: &[u64]| {
            let nests = small_nests(places, key.2).unwrap_or_default();
            matches!(&nests[..], [one] if one.evidence(key.2) >= EVIDENCE)
        };
        // Whether the first places are nests, by their number.
        let mut told = vec![false; places.len() + 1];
        told[0] = true;
        for from in 0..places.len() {
            for to in from + 1 + EVIDENCE as usize..=places.len() {
                told[to] = told[to] || told[from] && one(&places[from..to]);
            }
        }
        told[places.len()]
    }

    /// Not all that is left is kept, but this is all of it.
    fn know(&mut self, part: &Part, walk: &Walk) {
        self.records = walk.records();
        let told = self.patterns.iter().filter_map(|&i| part.patterns[i].expand()).flatten().map(|(o, _)| o);
        let mut told: Vec<u64> = told.chain(self.joined.iter().copied()).collect();
        told.sort_unstable();
        let mut told = told.into_iter().peekable();
        let mut places: Vec<u64> = walk.accesses().map(|i| i.offset).collect();
        places.sort_unstable();
        places.retain(|place| {
            while told.next_if(|t| t < place).is_some() {}
            told.next_if_eq(place).is_none()
        });
        self.alone = places;
    }

    /// How often a list of places is gone through.
    fn passes(&self, part: &Part, key: &Key) -> u64 {
        part.walk(key).map_or(1, |w| w.passes)
    }
}

fn by_time<'a>(patterns: impl Iterator<Item = &'a Pattern>) -> Vec<&'a Pattern> {
    let mut patterns: Vec<&Pattern> = patterns.collect();
    patterns.sort_by_key(|p| p.span);
    patterns
}

fn in_turn(patterns: &[&Pattern]) -> bool {
    patterns.windows(2).all(|w| w[0].span.1 < w[1].span.0)
}

/// The streams of a rank.
fn streams(part: &Part) -> Table<Key, Stream> {
    let mut streams: Table<Key, Stream> = Table::default();
    for (i, p) in part.patterns.iter().enumerate() {
        let Some(size) = p.access_size() else { continue };
        let stream = streams.entry((p.op as u8, p.file, size)).or_default();
        stream.records += p.records;
        stream.patterns.push(i);
    }
    for l in part.all_left().filter(|l| l.access.sane() && !l.is_held()) {
        let stream = streams.entry((l.access.op as u8, l.access.file, l.access.size)).or_default();
        stream.records += 1;
        if l.taken { stream.joined.push(l.access.offset) } else { stream.alone.push(l.access.offset) }
    }
    if !part.keeps_left() {
        for (key, walk) in part.walks() {
            let stream = streams.entry(key).or_default();
            if let Some(walk) = walk.filter(|w| stream.records < w.records() && w.records() <= MOST) {
                stream.know(part, &walk);
            }
        }
    }
    streams
}

/// Operations and sizes of which some rank does what is no nest; `None` if it is not known what all ranks did.
pub(super) fn asked(parts: &[Part], pools: &Pools) -> Option<Keys<Pool>> {
    if !parts.iter().all(Part::is_complete) {
        return None;
    }
    let open = |part: &Part| -> Vec<Pool> {
        let streams = streams(part).into_iter();
        streams.filter(|(key, s)| !s.is_plain(part, key, pools.jumbled())).map(|(key, _)| pools.pool(&key)).collect()
    };
    Some(parts.iter().flat_map(open).collect())
}

/// What has no order.
#[derive(Debug, Default)]
pub(super) struct Without {
    /// Operations and sizes, and whether all ranks do so over and over.
    pub pools: Table<Pool, bool>,
    /// Of each rank, what is known of its accesses.
    pub choices: Vec<Table<Key, Choice>>,
}

/// Those of the pools in which there is no order.
pub(super) fn without(asked: Option<&Keys<Pool>>, pools: &Pools, parts: &[Part], joint: &[Pattern]) -> Without {
    let Some(asked) = asked.filter(|asked| !asked.is_empty()) else { return Without::default() };
    let mut savings: Table<Pool, Savings> = Table::default();
    let mut choices = Vec::with_capacity(parts.len());
    for part in parts {
        let of_asked = streams(part).into_iter().filter(|(key, _)| asked.contains(&pools.pool(key)));
        let choice = of_asked.map(|(key, stream)| {
            let places = pools.places(&key);
            let pool = savings.entry(pools.pool(&key)).or_default();
            // Where a file has but one place, accesses are there and nowhere else.
            if places.0 > 1.0 {
                let fewest = pool.places.get_or_insert(places.0);
                *fewest = fewest.min(places.0);
                pool.choices += stream.records as f64;
            }
            let bits = pool.add(part, &key, &stream, places);
            (key, Choice { places: (bits / stream.records as f64).exp2(), records: stream.records })
        });
        choices.push(choice.collect());
    }
    for p in joint {
        let key = (p.op as u8, p.file, p.access_size().unwrap_or(0));
        if let Some(pool) = savings.get_mut(&pools.pool(&key)) {
            pool.add_joint(p, key.2, pools.places(&key).0);
        }
    }
    savings.retain(|_, s| !s.is_of_few() && s.bits() < s.enough());
    Without { pools: savings.into_iter().map(|(pool, s)| (pool, !s.once)).collect(), choices }
}

/// What a list of accesses is, wherever it begins, and the pattern of each access if that is known.
type List = (u64, Vec<(u64, Vec<(u64, i64)>)>, Vec<u64>, Option<Vec<usize>>);

/// Loops of the patterns of a list, and which of them each access belongs to.
type Structure = (Vec<Vec<(u64, i64)>>, Vec<usize>);

/// Bits that patterns save.
#[derive(Debug, Default)]
struct Savings {
    /// For each list, the bits of it in random order, and a number; ranks that do the same tell nothing more.
    of_lists: Table<List, (f64, f64)>,
    /// By rank, the lists of few accesses, from their lowest place on: how often it has each, and the bits of all but that place.
    walks: Table<u32, Table<Vec<u64>, (u64, f64)>>,
    structures: Keys<Structure>,
    passes: Keys<u64>,
    /// By levels over ranks, which begin with one of all records; whether these leave something alone.
    joint: f64,
    rows: Keys<(u32, u64, u64, i64)>,
    records: f64,
    streams: f64,
    alone: bool,
    strides: Keys<i64>,
    /// Some rank does what it does but once.
    once: bool,
    /// Some rank comes to a place again.
    comes_again: bool,
    /// Places of the grid of a file that has several, the fewest, and the accesses of all such files.
    places: Option<f64>,
    choices: f64,
}

impl Savings {
    /// Adds a stream; gives its bits in random order.
    fn add(&mut self, part: &Part, key: &Key, stream: &Stream, places_of: (f64, u64, u64)) -> f64 {
        let grid = places_of.0;
        let patterns = || stream.patterns.iter().map(|&i| &part.patterns[i]);
        let places = || patterns().map(|p| p.start_offset).chain(stream.alone.iter().chain(&stream.joined).copied());
        let low = places().min().unwrap_or(0);
        let from = |place: u64| place.wrapping_sub(low);
        let told = |p: &Pattern| (from(p.start_offset), p.levels().iter().map(|l| (l.count, l.stride)).collect());
        let alone = stream.alone.iter().chain(&stream.joined).map(|&o| from(o)).collect();
        self.records += stream.records as f64;
        self.streams += 1.0;
        self.alone |= !stream.alone.is_empty();
        let in_time = by_time(patterns());
        let labels = labels(part, key, stream, &in_time);
        let list: List = (stream.records, patterns().map(told).collect(), alone, labels.clone());
        if let Some(walk) = (stream.records <= SHORT).then(|| part.walk(key)).flatten() {
            let places: Vec<u64> = walk.list().iter().map(|i| from(i.offset)).collect();
            let bits = (of_visits(places.clone(), 1, grid) - grid.log2()).max(0.0);
            self.walks.entry(part.rank).or_default().entry(places).or_insert((0, bits)).0 += 1;
        }
        if let Some(&(_, random)) = self.of_lists.get(&list) {
            return random;
        }
        let passes = stream.passes(part, key);
        self.once |= passes == 1 && stream.records > 1;
        // How often all of it is done, too, is told once.
        let known = !self.passes.insert(passes);
        let random = random(part, key, stream, grid, (passes, known));
        let patterns = in_time;
        let told = telling(&patterns, key, stream, labels.as_deref(), places_of);
        let mut bits = told.starts + told.others;
        if let Some(labels) = labels {
            // What another list was, but for the places.
            let levels = patterns.iter().map(|p| p.levels().iter().map(|l| (l.count, l.stride)).collect()).collect();
            if !self.structures.insert((levels, labels)) {
                bits = bits.min(told.starts + 2.0 + (self.structures.len() as f64).log2());
            }
        }
        if passes == 1 {
            let rows = patterns.iter().filter_map(|p| in_row(p, stream, &patterns, places_of));
            let walk = (stream.records <= FEW).then(|| part.walk(key)).flatten();
            let walk = walk.filter(|w| w.records() == stream.records);
            let places: Option<Vec<u64>> = walk.map(|w| w.list().iter().map(|i| i.offset).collect());
            bits = rows.chain(places.and_then(|places| in_blocks(&places, grid))).fold(bits, f64::min);
        }
        self.comes_again |= passes > 1 || stream.records > FEW || !all_apart(&patterns, stream);
        self.of_lists.insert(list, (random - bits, random));
        random
    }

    fn add_joint(&mut self, p: &Pattern, size: u64, grid: f64) {
        let place = grid.log2();
        let Some(stride) = p.levels().last().map(|l| l.stride) else { return };
        // The same in other files tells nothing more.
        if !self.rows.insert((p.rank, p.start_offset, p.records, stride)) {
            return;
        }
        let of_each = (self.records / self.streams.max(1.0)).log2();
        // Where they are not all that is left, each begins with one of many, and goes on with one of those of each rank.
        let (name, choice) = if self.alone { (number(p.records) + self.records.log2(), of_each) } else { (0.0, 0.0) };
        self.joint += (p.records.saturating_sub(1) as f64 * (place - 1.0 - choice) - name).max(0.0);
        if self.strides.insert(stride) {
            let given = stride == 0 || stride.unsigned_abs() == size;
            self.joint -= if given { 2.0 } else { 2.0 + place };
        }
    }

    /// True if these are too few to have no order: a random one goes through all of a file.
    fn is_of_few(&self) -> bool {
        self.choices <= SHORT as f64 && self.places.is_some_and(|places| self.choices < places)
    }

    /// Bits that must be saved.
    fn enough(&self) -> f64 {
        let others = self.of_lists.len().saturating_sub(1) as f64;
        let (least, most) = if self.comes_again { ENOUGH } else { APART };
        (least + others).min(most)
    }

    fn bits(&self) -> f64 {
        let saved = || self.of_lists.values().map(|s| s.0);
        // Patterns may tell all of the lists, or some, which must be named.
        let name = (self.of_lists.len() as f64).log2() + 1.0;
        let some: f64 = saved().map(|s| (s - name).max(0.0)).sum();
        let joint = if self.alone { self.joint.max(0.0) } else { self.joint };
        (saved().sum::<f64>().max(some - SOME) + joint).max(self.alike() - SOME)
    }

    /// Bits that are saved where ranks do alike: each walk that has come before is told by how often it has, and its lowest place.
    /// Where a rank does the same in all files, that is one walk.
    fn alike(&self) -> f64 {
        let mut walks: Table<&[u64], (u64, f64)> = Table::default();
        for of_rank in self.walks.values() {
            for (walk, &(times, bits)) in of_rank {
                let of_all = walks.entry(walk).or_insert((0, bits));
                of_all.0 += if of_rank.len() == 1 { 1 } else { times };
            }
        }
        let orders = |n: u64| (1..=n).map(|i| (i as f64).log2()).sum::<f64>();
        let all = walks.values().map(|w| w.0).sum();
        walks.values().map(|&(n, bits)| (n - 1) as f64 * bits + orders(n - 1)).sum::<f64>() - orders(all)
    }
}

/// Bits of the places of a stream in random order: each pass over the file visits a place once. That a list is gone through
/// over and over is told once.
fn random(part: &Part, key: &Key, stream: &Stream, grid: f64, (passes, known): (u64, bool)) -> f64 {
    let walk = part.walk(key).filter(|w| w.records() == stream.records);
    let long = stream.records > FEW;
    if long && passes == 1 {
        return stream.records as f64 * grid.log2();
    }
    let often = if known { 1.0 } else { number(passes - 1) + 1.0 };
    if let Some(walk) = walk.as_ref().filter(|_| long) {
        return of_visits(walk.list().iter().map(|i| i.offset).collect(), 1, grid) + often;
    }
    let patterns = stream.patterns.iter().filter_map(|&i| part.patterns[i].expand()).flatten().map(|(o, _)| o);
    let all: Vec<u64> = patterns.chain(stream.alone.iter().chain(&stream.joined).copied()).collect();
    let bits = match walk {
        Some(walk) => in_passes(walk.accesses(), grid).min(stream.records as f64 * grid.log2()),
        None => of_visits(all.clone(), 1, grid),
    };
    if passes > 1 { bits.min(of_visits(all, passes, grid) + often) } else { bits }
}

/// Bits of the patterns of a stream and of what is alone.
struct Telling {
    /// Where the patterns start.
    starts: f64,
    others: f64,
}

fn telling(
    patterns: &[&Pattern],
    key: &Key,
    stream: &Stream,
    labels: Option<&[usize]>,
    (grid, unit, low): (f64, u64, u64),
) -> Telling {
    let place = grid.log2();
    let (whole, in_turn) = (stream.is_whole(), stream.is_whole() && in_turn(patterns));
    let mut records = stream.records;
    let several = patterns.len() as u64;
    let mut bits = 1.0 + if several < 3 { several as f64 } else { number(several) };
    let (mut starts, mut counts) = (0.0, 0.0);
    bits += apart(patterns, stream, grid);
    // Rounds: a loop around all of them is told once, if all come in each of its passes in the same order.
    let in_rounds = |l: &Level| {
        let alike =
            |labels: &[usize]| labels.chunks(labels.len() / l.count as usize).all(|pass| labels.starts_with(pass));
        match labels {
            Some(labels) => (labels.len() as u64).is_multiple_of(l.count) && alike(labels),
            // Not looked at.
            None => stream.records * several > LABELS,
        }
    };
    let around = patterns
        .first()
        .and_then(|p| p.levels().last())
        .copied()
        .filter(|l| whole && several > 1 && patterns.iter().all(|p| p.levels().last() == Some(l)))
        .filter(in_rounds);
    let distance = |stride: i64| (place + 1.0).min(1.0 + number(stride.unsigned_abs() / unit.max(1)));
    if let Some(l) = around {
        records /= l.count.max(1);
        bits += number(l.count - 1) + 1.0 + if l.stride == 0 { 0.0 } else { distance(l.stride) };
    }
    // Where nothing but runs back to back is told, that is told once.
    let runs = whole && patterns.iter().all(|p| matches!(p.levels(), [l] if l.stride as u64 == key.2));
    let (mut known, mut strides) = (Keys::from_iter([low]), Keys::default());
    let mut comes: Vec<f64> = Vec::new();
    for (n, p) in patterns.iter().enumerate() {
        let inner = &p.levels()[..p.levels().len() - usize::from(around.is_some())];
        starts += if known.contains(&p.start_offset) { 1.0 } else { 1.0 + place };
        bits += if runs { 0.0 } else { inner.len().max(1) as f64 };
        for (i, l) in inner.iter().enumerate() {
            let given = l.stride == 0 || i == 0 && [key.2, unit].contains(&l.stride.unsigned_abs());
            bits += match (given, strides.insert(l.stride)) {
                (true, _) if runs => 0.0,
                (true, _) => 1.0,
                (false, false) => 2.0,
                (false, true) => 2.0 + distance(l.stride),
            };
            // The number of all tells that of the last loop.
            let count = number(l.count - 1).min((records.max(2) as f64).log2());
            if i + 1 < inner.len() {
                bits += count;
            } else if !(whole && n + 1 == patterns.len()) {
                counts += count;
            }
        }
        let of_list = inner.iter().map(|l| l.count).product::<u64>();
        let span = if around.is_some() { of_list } else { (p.span.1 - p.span.0 + 1).min(stream.records) };
        let in_one = (records.max(2) as f64).log2();
        comes.push(if span <= of_list { in_one } else { ways(span, of_list) + in_one.min(1.0) });
        known.extend([p.start_offset, next(p.start_offset, p.levels())]);
    }
    // When they come: what is not one of the others is the last.
    let mut when = counts;
    if patterns.len() > 1 && !in_turn || !whole {
        let most = if whole { comes.iter().copied().fold(0.0, f64::max) } else { 0.0 };
        when += comes.iter().sum::<f64>() - most;
    }
    // Or which is the next one each time, which also tells how many there are of each.
    if let Some(labels) = labels.filter(|_| around.is_none() && several > 1) {
        when = when.min(turns(labels, several as f64) + 1.0);
    }
    Telling { starts, others: bits + when }
}

/// The pattern of each access of a stream that has nothing but patterns, if that is known.
fn labels(part: &Part, key: &Key, stream: &Stream, patterns: &[&Pattern]) -> Option<Vec<usize>> {
    let little = stream.is_whole() && stream.records * patterns.len() as u64 <= LABELS;
    let walk = part.walk(key).filter(|w| little && w.records() == stream.records)?;
    let mut due = patterns.iter().map(|p| Some(p.expand()?.peekable())).collect::<Option<Vec<_>>>()?;
    let label = |item: Item| {
        let is_next = |&n: &usize| {
            let (first, last) = patterns[n].span;
            (first..=last).contains(&item.span.0) && due[n].peek().is_some_and(|next| next.0 == item.offset)
        };
        let n = (0..patterns.len()).find(is_next)?;
        due[n].next();
        Some(n)
    };
    walk.accesses().map(label).collect()
}

/// Bits of all accesses of a stream that are at different places, if only this pattern, some in a row on the grid, is told, and all
/// others are in random order.
fn in_row(p: &Pattern, stream: &Stream, patterns: &[&Pattern], (grid, unit, _): (f64, u64, u64)) -> Option<f64> {
    let [one] = p.levels() else { return None };
    let some = (THREE..stream.records).contains(&one.count);
    if stream.records > FEW || one.stride == 0 || unit == 0 || !some || !all_apart(patterns, stream) {
        return None;
    }
    let lengths = (stream.records - THREE) as f64;
    let others = unseen(grid, one.count as usize, (stream.records - one.count) as usize);
    Some(3.0 + 1.0 + rows(one.count, grid) + lengths.log2() + ways(stream.records, one.count) + others)
}

/// True if no place of a stream comes twice.
fn all_apart(patterns: &[&Pattern], stream: &Stream) -> bool {
    let told = patterns.iter().filter_map(|p| p.expand()).flatten().map(|(o, _)| o);
    let mut seen = Keys::default();
    told.chain(stream.alone.iter().chain(&stream.joined).copied()).all(|o| seen.insert(o))
}

/// Bits of what is alone: where all accesses are at different places, at those that no pattern has.
fn apart(patterns: &[&Pattern], stream: &Stream, grid: f64) -> f64 {
    let alone = stream.alone.len() + stream.joined.len();
    if stream.records > FEW {
        return alone as f64 * grid.log2();
    }
    let told = patterns.iter().filter_map(|p| p.expand()).flatten().map(|(o, _)| o);
    let mut all: Vec<u64> = told.chain(stream.alone.iter().chain(&stream.joined).copied()).collect();
    let records = all.len();
    all.sort_unstable();
    all.dedup();
    if all.len() == records { unseen(grid, records - alone, alone) } else { alone as f64 * grid.log2() }
}

fn next(start: u64, levels: &[Level]) -> u64 {
    levels.last().map_or(start, |l| start.wrapping_add(l.count.wrapping_mul(l.stride as u64)))
}

#[cfg(test)]
mod tests {
    use super::super::{Access, Detector, Options};
    use crate::record::{FileId, Op};

    /// Start and loops.
    type Told = (u64, Vec<(u64, i64)>);

    /// What each rank does in a file of its own, and the number of accesses in no pattern.
    fn found(walks: &[&[u64]]) -> (Vec<Told>, u64) {
        let mut d = Detector::new(Options::default());
        for (rank, walk) in (0u32..).zip(walks) {
            for (i, place) in walk.iter().enumerate() {
                let (op, file, offset, start) = (Op::Read, FileId(rank), place * 64, i as f64);
                d.push(&Access { op, rank, file, offset, size: 64, start, end: start + 0.5 });
            }
        }
        let found = d.finish();
        let levels = |p: &super::Pattern| p.levels().iter().map(|l| (l.count, l.stride / 64)).collect();
        (found.patterns.iter().map(|p| (p.start_offset / 64, levels(p))).collect(), found.unmatched_records)
    }

    #[test]
    fn one_rank_may_show_that_there_is_no_order() {
        let ordered: (&[u64], &[u64]) = (&[0, 1, 2, 3], &[3, 2, 1, 0]);
        assert_eq!(found(&[ordered.0, ordered.1]).0.len(), 2);
        assert_eq!(found(&[ordered.0, ordered.1, &[1, 3, 0, 2]]).0.len(), 3);
        assert_eq!(found(&[ordered.0, ordered.1, &[0, 1, 3, 2]]), (vec![], 12));
        // Many do the same: that is no chance, whatever one of them does.
        let mut walks = vec![ordered.0; 12];
        walks.push(&[0, 1, 3, 2]);
        assert_eq!(found(&walks).0.iter().filter(|p| p.1 == [(4, 1)]).count(), 12);
        // Two samples of a file, in the order of each of six epochs.
        assert_eq!(found(&[&[0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0]]), (vec![], 12));
    }

    #[test]
    fn what_goes_upwards_over_and_over_has_an_order() {
        let list = [0u64, 1, 2, 40];
        assert_eq!(found(&[&list.repeat(3)]), (vec![(0, vec![(3, 1), (3, 0)]), (40, vec![(3, 0)])], 0));
        // Two back to back, and two others: a pair, as no more are alone.
        let pairs = vec![(1, vec![(2, 1), (3, 0)]), (0, vec![(2, 40), (3, 0)])];
        assert_eq!(found(&[&[1, 2, 0, 40].repeat(3)]), (pairs, 0));
    }

    #[test]
    fn the_last_of_nests_in_turn_may_be_short() {
        let walk = [vec![0u64; 8], vec![1; 8], vec![0, 1]].concat();
        assert_eq!(found(&[&walk]), (vec![(0, vec![(8, 0), (2, 1)]), (0, vec![(2, 1)])], 0));
        let walk = [vec![0u64; 3], vec![1; 3], vec![0, 1]].concat();
        assert_eq!(found(&[&walk]), (vec![], 8));
    }

    #[test]
    fn few_accesses_at_far_places_are_not_asked_for_an_order() {
        assert_eq!(found(&[&[0, 1000, 1001]]), (vec![(1000, vec![(2, 1)])], 1));
        assert_eq!(found(&[&[0, 5, 6]]), (vec![], 3));
    }

    #[test]
    fn what_saves_bits_is_an_order() {
        // Members of a record: six in a row, and two of another kind in between.
        let members = found(&[&[0, 1, 2, 6, 7, 3, 4, 5]]);
        assert_eq!(members, (vec![(0, vec![(6, 1)]), (6, vec![(2, 1)])], 0));
        // A long run among others, in a small file.
        let mut walk: Vec<u64> = (0..60).map(|i| (i * i * 7 + i / 3) % 61).collect();
        walk.splice(30..30, 100..140);
        assert_eq!(found(&[&walk]), (vec![(100, vec![(40, 1)])], 60));
    }

    #[test]
    fn few_accesses_may_be_an_order() {
        // A part of each member of a record: six at a stride, and two alone.
        assert_eq!(found(&[&[0, 2, 4, 12, 14, 6, 8, 10]]), (vec![(0, vec![(6, 2)])], 2));
        // Two places in turns, and then one of them.
        let walk: Vec<u64> = (0..10).flat_map(|_| [0, 1]).chain([0; 10]).collect();
        let mut both = found(&[&walk]);
        both.0.sort();
        assert_eq!(both, (vec![(0, vec![(20, 0)]), (1, vec![(10, 0)])], 0));
        // One of them, and then both in turns.
        let walk: Vec<u64> = [0; 5].into_iter().chain((0..5).flat_map(|_| [0, 7])).collect();
        let mut both = found(&[&walk]);
        both.0.sort();
        assert_eq!(both, (vec![(0, vec![(10, 0)]), (7, vec![(5, 0)])], 0));
        // No order: passes over two places, each in an order of its own.
        assert_eq!(found(&[&[0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1]]), (vec![], 20));
        assert_eq!(found(&[&[0, 1, 4, 7, 2, 3, 6, 5]]), (vec![], 8));
        // A list over and over that breaks off.
        let mut both = found(&[&[0, 40, 0, 40, 0, 0, 0, 0]]);
        both.0.sort();
        assert_eq!(both, (vec![(0, vec![(6, 0)]), (40, vec![(2, 0)])], 0));
        assert_eq!(found(&[&[0, 40, 0]]), (vec![], 3));
    }

    #[test]
    fn what_other_ranks_do_alike_is_told_once() {
        let of = |rank: u64| [rank, rank, 2 * rank + 4, 2 * rank + 5, 2 * rank + 4, 2 * rank + 5];
        let walks: Vec<[u64; 6]> = (0..4).map(of).collect();
        let walks: Vec<&[u64]> = walks.iter().map(|w| &w[..]).collect();
        let (patterns, over) = found(&walks);
        assert_eq!((patterns.len(), over), (8, 0));
    }

    #[test]
    fn a_list_over_and_over_is_a_loop_at_each_place() {
        let list = [4u64, 0, 1, 5, 2];
        let walk: Vec<u64> = (0..3).flat_map(|_| list).collect();
        let mut each = found(&[&walk]).0;
        each.sort();
        assert_eq!(each, [0, 1, 2, 4, 5].map(|o| (o, vec![(3, 0)])));
        assert_eq!(found(&[&walk, &[0, 1, 2, 0, 1, 2]]).0.len(), 6);
    }
}
