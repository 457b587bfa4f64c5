//! One signal of a followed job: its picture, its bursts, and what they say.

use crate::online::thresholds::LIMITS;
use serde::{Deserialize, Serialize};

use super::change::ChangeMethod;
use super::outlook::Answer;
use super::picture::Picture;
use super::rhythm::{Change, Rhythm};
use super::window::Window;
use crate::signal::{Mode, Span};

/// See the module.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Channel {
    pub(super) mode: Mode,
    picture: Picture,
    rhythm: Rhythm,
    pub(super) answer: Answer,
    /// Bytes so far.
    pub(super) fed: f64,
    /// What came before the first period is left behind, or need not be.
    settled: bool,
    /// The answer is older than the data.
    stale: bool,
}

impl Channel {
    pub(super) fn new(mode: Mode, change: ChangeMethod) -> Self {
        Channel {
            mode,
            picture: Picture::default(),
            rhythm: Rhythm::new(change),
            answer: Answer::default(),
            fed: 0.0,
            settled: false,
            stale: false,
        }
    }

    pub(super) fn add(&mut self, span: Span) {
        self.picture.add(span);
        self.fed += span.bytes;
        self.stale = true;
    }

    /// First start and last end of the window.
    pub(super) fn extent(&self) -> Option<(f64, f64)> {
        self.picture.extent()
    }

    /// Bytes in the window.
    pub(super) fn bytes(&self) -> f64 {
        self.picture.bytes()
    }

    /// Bytes of a burst, as far as bursts are known.
    pub(super) fn burst_bytes(&self) -> Option<f64> {
        self.rhythm.cut().map(|c| c.bytes)
    }

    /// Analyses the window; `now_s` is where the data of the job end. Tells a change; after one of distance, with
    /// [`Window::Change`], the window begins there.
    pub(super) fn update(&mut self, now_s: f64, window: Window) -> Option<Change> {
        match window {
            Window::Seconds(s) => self.picture.cut_before(now_s - s),
            Window::Bytes(b) => self.picture.keep_bytes(b),
            Window::None | Window::LastPeriods(_) | Window::Change => {}
        }
        if !self.stale {
            // nothing new, but time has gone on
            let late = self.answer.outlook.as_ref().is_some_and(|o| o.next_start_s <= now_s);
            if !late {
                return None;
            }
        }
        self.stale = false;
        let share = if window == Window::Change { LIMITS.window_share } else { 0.0 };
        let profile = self.picture.profile();
        let before = std::mem::replace(&mut self.answer, Answer::of(&profile, now_s, share));
        let since = |from: f64| {
            let mut rest = self.picture.clone();
            rest.cut_before(from);
            Answer::of(&rest.profile(), now_s, share)
        };
        let change = self.rhythm.follow(&profile, &self.answer, now_s, &since);
        if let (Some((period_s, last_s)), Some(o)) = (self.rhythm.kept(), before.outlook)
            && (o.period_s / period_s).ln().abs() <= LIMITS.kept_period
        {
            self.answer.outlook = Some(o.later(last_s, now_s));
            self.answer.holds = before.holds;
        }
        if window != Window::Change {
            return change;
        }
        if let Some(Change::Distance(from)) = change {
            self.picture.cut_before(from);
            self.answer = Answer::of(&self.picture.profile(), now_s, share);
            self.rhythm.restart(&self.answer);
            self.settled = true;
        } else if let (false, Some(o), Some((since, ..))) = (self.settled, &self.answer.outlook, self.answer.holds)
            && o.cycles >= LIMITS.settled_cycles
            && o.confidence >= LIMITS.settled_confidence
        {
            // no regime was left, but what came before this one is none of it
            self.picture.cut_before(since - LIMITS.margin * o.period_s);
            self.settled = true;
        }
        change
    }

    /// Keeps the last `periods` periods only.
    pub(super) fn keep_periods(&mut self, periods: u32) {
        if let (Some(o), Some((_, end))) = (&self.answer.outlook, self.extent()) {
            let from = end - (f64::from(periods) + LIMITS.margin) * o.period_s;
            self.picture.cut_before(from);
        }
    }
}
