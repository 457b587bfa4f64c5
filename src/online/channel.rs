//! One signal of a followed job: its picture, its bursts, and what they say.

use serde::{Deserialize, Serialize};

use super::change::ChangeMethod;
use super::outlook::{Answer, Cut};
use super::picture::Picture;
use super::rhythm::{Change, Rhythm};
use super::window::Window;
use crate::period::chains::Burst;
use crate::signal::{Mode, Span};

/// In a window that begins with a regime a period has to hold over this share of it.
const SHARE: f64 = 0.2;
/// A period that differs by more than this factor from the one before is one of another scale: of bursts instead of parts of
/// them.
const RESCALED: f64 = 3.0;
/// Periods that differ by no more than this, of the logarithm, are the same.
const SAME: f64 = 0.1;
/// Share of the bytes that a period must explain to go on.
const EXPLAINED: f64 = 0.6;
/// Cut this share of a period before the first burst that is to be kept.
const MARGIN: f64 = 0.25;

/// See the module.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Channel {
    pub(super) mode: Mode,
    picture: Picture,
    rhythm: Rhythm,
    /// What counted as a burst when a period was last known.
    cut: Option<Cut>,
    pub(super) answer: Answer,
    /// The period that was known last.
    period_s: Option<f64>,
    /// The answer is older than the data.
    stale: bool,
}

impl Channel {
    pub(super) fn new(mode: Mode, change: ChangeMethod) -> Self {
        Channel {
            mode,
            picture: Picture::default(),
            rhythm: Rhythm::new(change),
            cut: None,
            period_s: None,
            answer: Answer::default(),
            stale: false,
        }
    }

    pub(super) fn add(&mut self, span: Span) {
        self.picture.add(span);
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
        self.cut.map(|c| c.bytes)
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
        let share = if window == Window::Change { SHARE } else { 0.0 };
        let profile = self.picture.profile();
        self.answer = Answer::of(&profile, now_s, share);
        let before = self.period_s;
        self.period_s = self.answer.outlook.as_ref().map(|o| o.period_s).or(before);
        let rescaled = before.zip(self.period_s).is_none_or(|(a, b)| !(1.0 / RESCALED..=RESCALED).contains(&(b / a)));
        self.cut = self.answer.cut.or(self.cut);
        let bursts = self.cut?.bursts(&profile);
        if rescaled {
            self.rhythm.rebuild(&bursts, now_s);
            return None;
        }
        let change = self.rhythm.observe(&bursts, now_s).filter(|c| self.is_real(*c, before, &bursts));
        if let (Some(Change::Distance(first)), Window::Change) = (change, window) {
            self.picture.cut_before(first);
            self.answer = Answer::of(&self.picture.profile(), now_s, share);
            self.cut = self.answer.cut.or(self.cut);
            self.period_s = self.answer.outlook.as_ref().map(|o| o.period_s).or(self.period_s);
        }
        change
    }

    /// False for a change of distance that is none: the period of before still explains the bursts (those of another period
    /// come between them), or it was the rhythm inside a burst.
    fn is_real(&self, change: Change, before: Option<f64>, bursts: &[Burst]) -> bool {
        let (Change::Distance(first), Some(before)) = (change, before) else { return true };
        let goes_on = self.answer.outlook.as_ref().is_some_and(|o| (o.period_s / before).ln().abs() <= SAME);
        let since = &bursts[bursts.partition_point(|b| b.start_s < first)..];
        before >= 0.5 * self.answer.idle_s && !(goes_on && self.answer.explained(since) >= EXPLAINED)
    }

    /// Keeps the last `periods` periods only.
    pub(super) fn keep_periods(&mut self, periods: u32) {
        if let (Some(o), Some((_, end))) = (&self.answer.outlook, self.extent()) {
            let from = end - (f64::from(periods) + MARGIN) * o.period_s;
            self.picture.cut_before(from);
        }
    }
}
