//! Whether a new reading of accesses tells them better than the patterns that were found record by record.

use super::left::counts;
use super::nest::Level;
use super::pattern::Pattern;
use super::reading::{self, Cost, EVIDENCE, LITTLE, OfSize, Piece, Told};
use super::table::Keys;

/// Of so many accesses, a new reading that leaves something over leaves less than one.
const MANY: u64 = 2;

/// Numbers that a nest may take which begins within another one.
const NUMBERS: u64 = 2;

/// Accesses that nests which follow each other may leave over: of places in no order, some nests leave more.
const FEW: u64 = 2;

/// The patterns that are known of some accesses.
pub(super) struct Known<'p> {
    old: &'p [Pattern],
    /// Those of them that have foretold enough.
    standing: Vec<&'p Pattern>,
    cost: Cost,
}

impl<'p> Known<'p> {
    /// These patterns, which leave so many accesses alone.
    pub fn of(old: &'p [Pattern], alone: u64) -> Known<'p> {
        // Where something is left over, a nest must have foretold more.
        let over = alone > 0 || !old.iter().all(counts);
        let least = if over { EVIDENCE } else { LITTLE };
        let foretold = |p: &Pattern| p.access_size().map(|size| reading::evidence(p.levels(), size));
        // A stride that another nest shows is no free choice.
        let strong = old.iter().filter(|p| foretold(p).is_some_and(|n| n >= EVIDENCE));
        let strides: Keys<i64> = strong.flat_map(|p| p.levels()).map(|l| l.stride).collect();
        let shown = |p: &Pattern| {
            let free = |l: &&Level| l.stride != 0 && p.access_size() != Some(l.stride as u64);
            p.levels().iter().filter(|l| free(l) && strides.contains(&l.stride)).count()
        };
        let stands = |p: &&Pattern| counts(p) && foretold(p).is_none_or(|n| n + shown(p) as u64 >= least);
        let (standing, none): (Vec<&Pattern>, Vec<&Pattern>) = old.iter().partition(stands);
        let cost = (
            alone + none.iter().map(|p| p.records).sum::<u64>(),
            standing.len(),
            standing.iter().map(|p| p.levels().len()).sum(),
        );
        Known { old, standing, cost }
    }

    /// True if nothing can tell it better.
    pub fn is_one(&self) -> bool {
        self.cost.0 == 0 && self.cost.1 < 2
    }

    /// True if the new reading is better.
    pub fn gives_way_to(&self, new: &[OfSize]) -> bool {
        if pieces(new).count() == self.standing.len() && pieces(new).all(|(size, p)| self.has(size, p)) {
            // What has foretold too little is none.
            return self.standing.len() < self.old.len();
        }
        // Loops that are seen but once must have foretold enough, or any few accesses are nests.
        let sound = new.iter().map(|g| g.reading.surplus(g.size)).sum::<i64>() >= 0;
        // In place of sequential patterns over the same places, which have no loop to tell that.
        let over_and_over = self.old.len() > 1 && new.len() > 1 && cost(new).1 <= 2 * self.cost.1;
        let less = || self.cost.0 > 0 || over_and_over || self.is_twice() || self.takes_more_than(new);
        sound && (self.is_mended_by(new) || !self.leaves_less_than(new) && less())
    }

    fn has(&self, size: u64, piece: &Piece) -> bool {
        let same =
            |p: &&Pattern| p.access_size() == Some(size) && p.start_offset == piece.base && p.levels() == piece.levels;
        self.standing.iter().any(same)
    }

    /// What it takes to tell it, unless sizes vary.
    fn told(&self) -> Option<Told> {
        let numbers = |p: &&Pattern| p.access_size().map(|size| reading::numbers(p.levels(), size));
        let all: u64 = self.standing.iter().map(numbers).sum::<Option<u64>>()?;
        let (over, patterns, loops) = self.cost;
        Some((all + over, loops as u64 + over, patterns as u64, over))
    }

    /// True if the same is there twice: the same places again are a loop, not another pattern.
    fn is_twice(&self) -> bool {
        let what = |p: &'p Pattern| (p.access_size(), p.start_offset, p.levels());
        let mut seen = self.old.iter().enumerate().filter(|(_, p)| p.access_size().is_some());
        seen.any(|(i, p)| self.old[..i].iter().any(|q| what(q) == what(p)))
    }

    /// True if the new reading leaves something over where this leaves less, or tells in less; one that leaves something over must
    /// not leave more than one access or this.
    fn leaves_less_than(&self, new: &[OfSize]) -> bool {
        let (over, patterns, loops) = cost(new);
        let told = (numbers(new), loops as u64 + over, patterns as u64, over);
        over > 0 && (self.leaves_much_less_than(new) || self.told().is_none_or(|known| told > known))
    }

    fn leaves_much_less_than(&self, new: &[OfSize]) -> bool {
        let over = cost(new).0;
        let all: u64 = new.iter().flat_map(|g| &g.items).map(|i| i.count).sum();
        MANY * over >= all && over > self.cost.0
    }

    /// True if the new reading tells the same in less. Where all that is new is done over and over, few patterns tell it best; else a
    /// nest is better than what it is made of if it takes fewer numbers to tell: a place, and two for each loop.
    fn takes_more_than(&self, new: &[OfSize]) -> bool {
        let (_, patterns, loops) = cost(new);
        if pieces(new).all(|(size, p)| p.repeats() || self.has(size, p)) {
            // A pair that nothing shows is no better than two accesses.
            let is_pair = |p: &&&Pattern| p.access_size().is_some_and(|s| reading::is_pair(p.levels(), s));
            return patterns <= self.cost.1 + self.standing.iter().filter(is_pair).count();
        }
        patterns + 2 * loops < self.cost.1 + 2 * self.cost.2
            || (patterns, loops) == (self.cost.1, self.cost.2)
            || self.told().is_some_and(|known| (numbers(new), patterns) < (known.0, self.cost.1))
    }

    /// True if the new reading has whole what was torn, though that may take more to tell.
    fn is_mended_by(&self, new: &[OfSize]) -> bool {
        let Some(known) = self.told() else { return false };
        let (over, patterns, _) = cost(new);
        let takes = |more: usize| numbers(new) <= known.0 + more as u64;
        // What begins within a nest and goes on beyond it is a nest of its own.
        let within: usize = new.iter().map(|g| within(g.reading.pieces.iter())).sum();
        let apart = within > 0 && over <= self.cost.0 && takes(NUMBERS as usize * within);
        let torn = self.rows_torn(new);
        let mended = torn > 0 && !self.leaves_much_less_than(new) && takes(torn);
        // Nests that follow each other were torn to join their parts with those of others.
        let better =
            patterns <= self.cost.1 && over <= self.cost.0.min(FEW) && (over, patterns) != (self.cost.0, self.cost.1);
        let joined = better && pieces(new).all(|(_, p)| p.is_in_one_go()) && takes(patterns);
        apart || mended || joined
    }

    /// Rows whose first access was told alone, over and over, and that are whole again.
    fn rows_torn(&self, new: &[OfSize]) -> usize {
        let over_one_place = self.standing.iter().filter(|k| matches!(k.levels(), [l] if l.stride == 0));
        let places: Keys<u64> = over_one_place.map(|k| k.start_offset).collect();
        let is_torn = |p: &&&Pattern| match p.levels() {
            [l] if l.stride != 0 => {
                let first = p.start_offset.wrapping_sub(l.stride as u64);
                let whole = [Level { count: l.count + 1, ..*l }];
                places.contains(&first) && pieces(new).any(|(_, new)| new.base == first && new.levels == whole)
            }
            _ => false,
        };
        self.standing.iter().filter(is_torn).count()
    }
}

/// Nests, each with its size.
fn pieces(new: &[OfSize]) -> impl Iterator<Item = (u64, &Piece)> {
    new.iter().flat_map(|g| g.reading.pieces.iter().map(move |p| (g.size, p)))
}

fn cost(new: &[OfSize]) -> Cost {
    let of_sizes = new.iter().map(|g| g.reading.cost(&g.items));
    of_sizes.fold((0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2))
}

fn numbers(new: &[OfSize]) -> u64 {
    new.iter().map(|g| g.told().0).sum()
}

/// Nests which begin within the one before and go on beyond it, at its stride; 0 if not all that is done once is done in one go.
fn within<'p>(pieces: impl Iterator<Item = &'p Piece>) -> usize {
    let mut once: Vec<&Piece> = pieces.filter(|p| !p.repeats()).collect();
    once.sort_by_key(|p| p.items.first().copied());
    let begins_within = |a: &Piece, b: &Piece| {
        let (Some((top, inner)), Some((other, rest))) = (a.levels.split_last(), b.levels.split_last()) else {
            return false;
        };
        let further = (b.base.wrapping_sub(a.base) as i64).checked_div(top.stride).unwrap_or(0);
        let on_it = a.base.wrapping_add_signed(further.wrapping_mul(top.stride)) == b.base;
        inner == rest && top.stride == other.stride && on_it && (1..top.count as i64).contains(&further)
    };
    if once.iter().all(|p| p.is_in_one_go()) {
        once.windows(2).filter(|w| begins_within(w[0], w[1])).count()
    } else {
        0
    }
}
