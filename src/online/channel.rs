//! One signal of a followed job: its picture, its bursts, and what they say.

use serde::{Deserialize, Serialize};

use super::change::ChangeMethod;
use super::outlook::{Answer, Cut};
use super::picture::Picture;
use super::rhythm::{Change, Rhythm};
use super::window::Window;
use crate::signal::{Mode, Span};

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
        let profile = self.picture.profile();
        self.answer = Answer::of(&profile, now_s);
        self.cut = self.answer.cut.or(self.cut);
        let bursts = self.cut?.bursts(&profile);
        let change = self.rhythm.observe(&bursts, now_s);
        if let (Some(Change::Distance(first)), Window::Change) = (change, window) {
            self.picture.cut_before(first);
            self.answer = Answer::of(&self.picture.profile(), now_s);
            self.cut = self.answer.cut.or(self.cut);
        }
        change
    }

    /// Keeps the last `periods` periods only.
    pub(super) fn keep_periods(&mut self, periods: u32) {
        if let (Some(o), Some((_, end))) = (&self.answer.outlook, self.extent()) {
            let from = end - (f64::from(periods) + MARGIN) * o.period_s;
            self.picture.cut_before(from);
        }
    }
}
