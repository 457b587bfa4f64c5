//! One rank's accesses to one file, cut into segments of one local class.
//!
//! An automaton takes the next access in constant time if it fits: back to back, or nested strides. If one does not fit,
//! accesses are collected until they fill a window, and the window is cut into regular segments at the least cost ([`cut`]). If
//! every cut costs too much, the window is irregular.

mod cut;
mod irregular;
mod open;
mod strides;

use super::access::{Access, MOST_SEGMENTS, Segment, Settings};
use super::thresholds::LIMITS;
use open::Open;

/// A stream of accesses of one rank to one file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    open: Option<Open>,
    /// Accesses of the open segment that may have to be classified again.
    recent: Vec<Access>,
    /// Accesses that did not fit, up to a window.
    waiting: Vec<Access>,
    done: Vec<Segment>,
}

impl Stream {
    /// Does this access follow back to back, whatever its size?
    pub fn follows(&self, a: &Access) -> bool {
        let open = self.open.as_ref().filter(|o| o.is_back_to_back() && self.waiting.is_empty());
        open.is_some_and(|o| o.run.last.past() == a.offset)
    }

    /// Has it had no order for long, or a new order every few accesses?
    pub fn is_disordered(&self) -> bool {
        let irregular = |o: &Open| o.is_irregular() && o.run.tally.accesses >= LIMITS.long && !o.has_usual_step();
        let pieces = self.done.len() as u64;
        self.open.as_ref().is_some_and(irregular)
            || pieces > LIMITS.long && self.done.iter().map(|s| s.tally.accesses).sum::<u64>() < 4 * pieces
    }

    pub fn push(&mut self, a: Access, settings: Settings) {
        if self.waiting.is_empty() {
            let Some(open) = &mut self.open else {
                self.open = Some(Open::new(a, settings.kept()));
                self.recent.push(a);
                return;
            };
            let mixed = open.is_mixed();
            if open.accept(&a, mixed) {
                return self.remember(a, settings);
            }
            self.give_back(settings);
        }
        // a change of direction usually starts a new segment, unless reads and writes alternate
        if self.waiting.len() > 2 && self.waiting.iter().all(|w| w.write != a.write) {
            self.decide(settings, false);
            return self.push(a, settings);
        }
        self.waiting.push(a);
        if self.waiting.len() >= settings.window {
            self.decide(settings, false);
        }
    }

    /// Accesses are kept while the open segment may be chance or depends on a guess.
    fn remember(&mut self, a: Access, settings: Settings) {
        let Some(open) = &self.open else { return };
        match open.guessed() {
            Some(1) if !open.before_guess_may_be_chance() => self.recent.clear(),
            None if !open.may_be_chance() => return self.recent.clear(),
            _ => {}
        }
        if self.recent.len() <= settings.window + LIMITS.short as usize {
            self.recent.push(a);
        }
    }

    /// Ends the open segment. The accesses since a wrong guess are classified again, or all of them if the order may be chance.
    fn give_back(&mut self, settings: Settings) {
        let Some(mut open) = self.open.take_if(|o| !o.is_irregular()) else { return };
        let recent = std::mem::take(&mut self.recent);
        let all = recent.len() as u64 == open.run.tally.accesses;
        let guessed = is_short_guess(&open, settings);
        if guessed {
            open.take_back();
        }
        let chance = all && open.may_be_chance();
        if guessed || chance {
            self.waiting = recent;
        }
        if !chance {
            self.close(open, settings);
        }
    }

    fn close(&mut self, mut open: Open, settings: Settings) {
        let since = open.take_back();
        let segment = open.close(settings);
        let is_full = self.done.len() >= MOST_SEGMENTS;
        match self.done.last_mut() {
            Some(last) if is_full => last.absorb(&segment),
            _ => self.done.push(segment),
        }
        if let Some(since) = since {
            self.close(since, settings);
        }
    }

    /// Cuts the waiting accesses into segments.
    fn decide(&mut self, settings: Settings, last: bool) {
        let mut waiting = std::mem::take(&mut self.waiting);
        let goes_on = self.open.as_ref().map_or(0, |o| o.may_go_on(&waiting));
        match cut::cheapest(&waiting, goes_on) {
            Some(cuts) => self.cut(&waiting, &cuts, settings, last),
            None => self.leave_irregular(&waiting, goes_on, settings, last),
        }
        if self.waiting.is_empty() {
            // reuse the memory
            waiting.clear();
            self.waiting = waiting;
        }
    }

    fn cut(&mut self, waiting: &[Access], cuts: &cut::Cuts, settings: Settings, last: bool) {
        self.close_irregular(&waiting[..cuts.before], settings);
        let mut from = cuts.before;
        for &to in &cuts.ends {
            let part = &waiting[from..to];
            from = to;
            let Some(open) = Open::regular(part, settings.kept()) else { continue };
            if to < waiting.len() || last {
                self.close(open, settings);
                continue;
            }
            let kept = match open.guessed() {
                Some(since) => part.len() - since as usize,
                None if part.len() <= LIMITS.short as usize => 0,
                None => part.len(),
            };
            self.recent.clear();
            self.recent.extend_from_slice(&part[kept..]);
            self.open = Some(open);
        }
    }

    /// Adds accesses without order to an irregular segment: the open one, if its direction is theirs.
    fn leave_irregular(&mut self, waiting: &[Access], goes_on: usize, settings: Settings, last: bool) {
        let (before, after) = waiting.split_at(goes_on);
        let turns = |o: &mut Open| !o.is_mixed() && after.iter().all(|a| a.write != o.run.first.write);
        if !after.is_empty() && self.open.as_mut().is_some_and(turns) {
            self.close_irregular(before, settings);
            self.waiting = after.to_vec();
            if last || self.waiting.len() >= settings.window {
                self.decide(settings, last);
            }
            return;
        }
        match &mut self.open {
            Some(open) => open.add_window(waiting, settings),
            None => self.open = Open::irregular(waiting, settings),
        }
    }

    /// Ends the open segment with these accesses.
    fn close_irregular(&mut self, accesses: &[Access], settings: Settings) {
        if let Some(mut open) = self.open.take() {
            open.add_irregular(accesses);
            self.close(open, settings);
        }
    }

    /// All segments, in the order of the accesses.
    pub fn finish(mut self, settings: Settings) -> Vec<Segment> {
        if self.waiting.is_empty() && self.open.as_ref().is_some_and(|o| is_short_guess(o, settings)) {
            self.give_back(settings);
        }
        if let Some(open) = self.open.as_mut().filter(|o| o.is_irregular()) {
            // too few accesses for a new order
            open.add_irregular(&self.waiting);
        } else if !self.waiting.is_empty() {
            self.decide(settings, true);
        }
        self.close_irregular(&[], settings);
        self.done
    }
}

/// A guess that was followed for longer than a window is a segment of its own.
fn is_short_guess(open: &Open, settings: Settings) -> bool {
    open.guessed().is_some_and(|since| since as usize <= settings.window)
}
