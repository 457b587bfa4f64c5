//! A followed job.

use crate::online::thresholds::LIMITS;
use serde::{Deserialize, Serialize};

use super::allowance::{self, Allowance};
use super::automaton::{Automaton, Cause, Regime};
use super::change::ChangeMethod;
use super::clock_step::{ClockStep, Scale, Step};
use super::history::History;
use super::mode_state::ModeState;
use super::prediction::{PREDICTION_SCHEMA, Prediction, WindowSpan};
use super::regime::Change;
use super::trigger::{Every, Known, Trigger};
use super::window::Window;
use crate::record::{Clock, Interval, Op, Warning, is_amount, is_time};
use crate::remedy::Remedy;
use crate::signal::{Mode, Span};

options! {
    /// How a job is followed.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Options {
        /// The signals: [`Mode::Write`], [`Mode::Read`], [`Mode::All`]. Of those that are periodic the one that moves the most bytes
        /// is reported.
        pub modes: Vec<Mode>,
        /// How much of the past counts.
        pub window: Window,
        /// How changes are noticed.
        pub change: ChangeMethod,
        /// When [`Session::due`] says that a prediction is due.
        pub every: Every,
        /// Shorter periods in seconds are not reported; `None`: the rhythm of requests inside bursts is not.
        pub min_period_s: Option<f64>,
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            modes: vec![Mode::Write, Mode::Read],
            window: Window::default(),
            change: ChangeMethod::default(),
            every: Every::default(),
            min_period_s: None,
        }
    }
}

/// Code of a warning that every prediction repeats.
const UNUSABLE: &str = "unusable-transfers";
/// Most warnings that wait for a prediction.
const WARNINGS: usize = 16;

/// The state of one followed job. Serializes whole: a session that was stored goes on as if nothing had happened.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    job: Option<String>,
    options: Options,
    sequence: u64,
    now_s: Option<f64>,
    ranks: Option<u64>,
    modes: Vec<ModeState>,
    trigger: Trigger,
    clock_step: ClockStep,
    /// What is left for analyses.
    allowance: Allowance,
    /// Predictions were left out, and that was said.
    left_out: bool,
    history: History,
    automaton: Automaton,
    /// The mode reported last.
    reported: Option<Mode>,
    /// Period of the last prediction and how many before it agreed.
    last: Option<(f64, u32)>,
    /// Why the next regime differs from the last, and since when.
    cause: Option<(Cause, f64)>,
    unusable: u64,
    warnings: Vec<Warning>,
    /// A change that no prediction has reported.
    unreported_change_s: Option<f64>,
    /// There are new data since the last prediction.
    updated: bool,
}

impl Session {
    /// A session for a new job.
    pub fn new(job: Option<String>, options: Options) -> Self {
        Session {
            job,
            sequence: 0,
            now_s: None,
            ranks: None,
            modes: options.modes.iter().map(|&m| ModeState::new(m, options.change, options.min_period_s)).collect(),
            trigger: Trigger::new(options.every),
            clock_step: ClockStep::default(),
            allowance: Allowance::default(),
            left_out: false,
            history: History::default(),
            automaton: Automaton::default(),
            reported: None,
            last: None,
            cause: None,
            unusable: 0,
            warnings: Vec::new(),
            unreported_change_s: None,
            updated: false,
            options,
        }
    }

    /// Takes the transfers of a message, in any order, with times on the trace's own clock. Rows that are neither reads nor writes
    /// only move the clock. Costs a constant time a transfer, on average.
    pub fn feed(&mut self, transfers: &[Interval]) {
        self.notice_order(transfers);
        self.notice_left_out();
        let known = self.known();
        let scale = self.clock_scale();
        self.clock_step.message(transfers.first().map(|e| e.start), scale.map_or(0.0, |s| s.late_s));
        for e in transfers {
            if !(is_time(e.start) && is_time(e.end) && e.start <= e.end && is_amount(e.bytes)) {
                self.unusable += 1;
                continue;
            }
            match self.clock_step.take(e, scale) {
                Step::None => {}
                Step::Begins => self.modes.iter_mut().for_each(ModeState::mark),
                Step::Back(to_s) => self.set_clock_back(to_s, e.end),
            }
            self.now_s = Some(self.now_s.map_or(e.end, |t| t.max(e.end)));
            let mut taken = false;
            for c in &mut self.modes {
                let takes = match c.mode {
                    Mode::Write | Mode::WriteSync | Mode::WriteAsync => e.op == Op::Write,
                    Mode::Read | Mode::ReadSync | Mode::ReadAsync => e.op == Op::Read,
                    Mode::All => matches!(e.op, Op::Read | Op::Write),
                };
                if takes && e.bytes > 0.0 {
                    c.add(Span { start: e.start, end: e.end, bytes: e.bytes });
                    taken = true;
                }
            }
            if taken {
                self.trigger.take(e, known);
            }
        }
        self.trigger.message();
        self.allowance.earn(transfers.len());
        self.updated |= !transfers.is_empty();
    }

    /// Warns about a message that ends long before the data so far do: by more than a burst or, while no burst is known, by more
    /// than half of the time seen.
    fn notice_order(&mut self, transfers: &[Interval]) {
        let ends = transfers.iter().map(|e| e.end).filter(|t| is_time(*t));
        let (Some(now_s), Some(end_s)) = (self.now_s, ends.reduce(f64::max)) else { return };
        if end_s >= now_s {
            return;
        }
        if self.late_s().is_some_and(|most| now_s - end_s > most) {
            let message = format!("rows step back in time by {:.3} s, more than a burst lasts", now_s - end_s);
            self.warn(Warning::new("rows-out-of-order", message).remedy(Remedy::SortRows));
        }
    }

    /// Seconds by which rows may be late: a burst or, while no burst is known, half of the time seen.
    fn late_s(&self) -> Option<f64> {
        let burst = self.primary().and_then(|c| c.analysis.forecast.as_ref()).map(|o| o.width_s);
        let extent = || self.modes.iter().filter_map(ModeState::extent).map(|w| 0.5 * (w.1 - w.0)).reduce(f64::max);
        burst.or_else(extent)
    }

    /// What shows that the clock was set back.
    fn clock_scale(&self) -> Option<Scale> {
        let late_s = self.late_s().filter(|_| !self.clock_step.is_blind(self.ranks))?;
        let period_s = self.primary().and_then(|c| c.analysis.forecast.as_ref()).map(|o| o.period_s);
        let start_s = self.modes.iter().filter_map(ModeState::extent).map(|w| w.0).reduce(f64::min)?;
        Some(Scale { late_s, lasts_s: period_s.unwrap_or(late_s), start_s })
    }

    /// Follows the job on the clock that was set back to `to_s`, where it now shows `now_s`.
    fn set_clock_back(&mut self, to_s: f64, now_s: f64) {
        self.modes.iter_mut().for_each(|m| m.set_back(to_s));
        self.trigger = Trigger::new(self.options.every);
        (self.now_s, self.cause) = (Some(now_s), None);
        self.warn(Warning::new("clock-set-back", "the clock was set back; the job is followed from there"));
    }

    /// Warns once when a prediction is overtaken by more data because nothing pays for its analysis.
    fn notice_left_out(&mut self) {
        if !self.left_out && self.due() && !self.allowance.covers() {
            self.left_out = true;
            let transfers = allowance::TRANSFERS;
            let text = format!(
                "bursts come faster than they can be analysed: one prediction is made for every {transfers} transfers, and one at the end of the data"
            );
            self.warn(Warning::new("predictions-left-out", text));
        }
    }

    /// Sets the number of ranks, if a source reports it. A new number is a change of regime.
    pub fn set_ranks(&mut self, ranks: u64) {
        let before = self.ranks.replace(ranks);
        if before.is_some_and(|b| b != ranks) {
            self.cause = Some((Cause::Ranks, self.now_s.unwrap_or(0.0)));
        }
    }

    /// Adds a warning to the next prediction. Of many, the first are kept.
    pub fn warn(&mut self, warning: Warning) {
        if self.warnings.len() < WARNINGS && !self.warnings.iter().any(|w| w.code == warning.code) {
            self.warnings.push(warning);
        }
    }

    /// True if a prediction is due, by [`Options::every`].
    pub fn due(&self) -> bool {
        self.trigger.due()
    }

    /// As [`due`](Self::due), for a source that has more data at hand: true only if the transfers so far pay for the analysis, so that
    /// work stays in proportion to the data. The first 128 predictions are free; of more in one piece, one in 65,536 transfers is made. The
    /// last one is still due at the end of the piece.
    pub fn due_in_passing(&self) -> bool {
        self.due() && self.allowance.covers()
    }

    /// True if there are new data since the last prediction.
    pub(crate) fn is_updated(&self) -> bool {
        self.updated
    }

    /// Called where a source starts over and its first transfer ends at `end_s`. If that lies far back, a new run has begun and
    /// the bursts so far are dropped. Known regimes are kept.
    pub(crate) fn begin_anew_before(&mut self, end_s: f64) {
        let start = self.modes.iter().filter_map(ModeState::extent).map(|w| w.0).reduce(f64::min);
        let (Some(now), Some(start)) = (self.now_s, start) else { return };
        if end_s < 0.5 * (now + start) {
            self.modes = self
                .options
                .modes
                .iter()
                .map(|&m| ModeState::new(m, self.options.change, self.options.min_period_s))
                .collect();
            self.trigger = Trigger::new(self.options.every);
            (self.now_s, self.last, self.cause, self.reported) = (None, None, None, None);
            self.warn(Warning::new(
                "clock-set-back",
                "the source began anew with earlier times; the job is followed from there",
            ));
        }
    }

    /// Follows the transfers so far without a prediction of its own: a change is reported by the next prediction. For sources
    /// that bring the data of many bursts at once.
    #[cfg(feature = "serve")]
    pub(crate) fn catch_up(&mut self) {
        let p = self.predict();
        self.sequence -= 1;
        self.unreported_change_s = p.change_s;
        self.warnings = p.warnings;
        self.warnings.retain(|w| w.code != UNUSABLE);
        self.updated = true;
    }

    /// The job.
    pub fn job(&self) -> Option<&str> {
        self.job.as_deref()
    }

    /// Predictions made so far.
    pub fn predictions(&self) -> u64 {
        self.sequence
    }

    /// The regimes so far.
    pub fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    fn known(&self) -> Known {
        let primary = self.primary();
        let forecast = primary.and_then(|c| c.analysis.forecast.as_ref());
        let window = primary.or(self.modes.first()).and_then(ModeState::extent);
        Known {
            bytes: primary.or(self.modes.first()).and_then(ModeState::burst_bytes),
            period_s: forecast.map(|o| o.period_s),
            next_s: forecast.map(|o| o.next_start_s),
            expected_s: forecast.map(|o| o.next_start_s + 0.5 * o.width_s),
            window_start_s: window.map(|w| w.0),
        }
    }

    /// The mode to act on: of the periodic ones the one that has moved the most bytes, or the one reported last as long as
    /// none has moved clearly more.
    fn primary(&self) -> Option<&ModeState> {
        let weight = |c: &ModeState| c.fed * if self.reported == Some(c.mode) { LIMITS.clearly_more } else { 1.0 };
        let periodic = self.modes.iter().filter(|c| c.analysis.forecast.is_some());
        periodic.max_by(|a, b| weight(a).total_cmp(&weight(b)))
    }

    /// Predicts the next burst from the transfers so far. Costs at most one analysis of the window of each signal that has
    /// new data, two right after a change, and none while bursts come as forecast; the window is bounded.
    pub fn predict(&mut self) -> Prediction {
        let now_s = self.now_s.unwrap_or(0.0);
        let mut change: Option<Change> = None;
        for c in &mut self.modes {
            let of_channel = c.update(now_s, self.options.window);
            change = match (change, of_channel) {
                (Some(Change::Gap(t)), _) => Some(Change::Gap(t)),
                (_, Some(c)) => Some(c),
                (c, None) => c,
            };
        }
        if let Some(change) = change {
            self.cause = Some(match change {
                Change::Gap(t) => (Cause::Period, t),
                Change::Size(t) => (Cause::Statistics, t),
            });
        }
        let mut p = self.blank(now_s);
        let earlier_s = self.unreported_change_s.take();
        p.change_s = match change {
            Some(Change::Gap(t)) => Some(t),
            Some(Change::Size(_)) | None => earlier_s,
        };
        p.change_point = p.change_s.is_some();
        self.forecast_into(&mut p);
        let period = p.period_s.filter(|_| p.periodic);
        let hits = match (self.last, period) {
            (Some((before, hits)), Some(t)) if (t / before).ln().abs() <= LIMITS.same_period => hits + 1,
            _ => 0,
        };
        self.last = period.map(|t| (t, hits));
        self.reported = p.mode.or(self.reported);
        self.name_state(&mut p, hits);
        if let Window::LastPeriods(k) = self.options.window
            && hits >= k
        {
            self.modes.iter_mut().for_each(|c| c.keep_periods(k));
        }
        self.trigger.done();
        if self.modes.iter().any(ModeState::was_analysed) {
            self.allowance.spend();
        }
        self.updated = false;
        self.sequence += 1;
        p
    }

    /// A prediction without a forecast.
    fn blank(&mut self, now_s: f64) -> Prediction {
        let mut warnings = std::mem::take(&mut self.warnings);
        if self.unusable > 0 {
            warnings.push(Warning::new(
                UNUSABLE,
                format!("{} transfers have no usable time or size and were left out", self.unusable),
            ));
        }
        Prediction {
            schema: PREDICTION_SCHEMA.into(),
            sequence: self.sequence,
            job: self.job.clone(),
            clock: Clock::default(),
            emitted_unix_s: None,
            now_s,
            periodic: false,
            mode: None,
            period_s: None,
            period_std_s: None,
            confidence: None,
            characteristic_time_s: None,
            cycles: None,
            next_start_s: None,
            next_start_unix_s: None,
            next_start_std_s: None,
            next_start_probability: None,
            next_end_s: None,
            bytes: None,
            bytes_p95: None,
            idle_s: None,
            valid_until_s: None,
            overdue: None,
            frequency_range: None,
            ranks: self.ranks,
            window: WindowSpan { start_s: None, end_s: None },
            change_point: false,
            change_s: None,
            state: None,
            warnings,
        }
    }

    /// Fills in the forecast of the primary mode.
    fn forecast_into(&mut self, p: &mut Prediction) {
        let primary = self.primary();
        let told = primary.or_else(|| self.modes.iter().max_by(|a, b| a.bytes().total_cmp(&b.bytes())));
        let window = told.and_then(ModeState::extent);
        p.overdue = told.and_then(ModeState::overdue);
        p.characteristic_time_s = told.and_then(|c| c.characteristic_time_s);
        p.window = WindowSpan { start_s: window.map(|w| w.0), end_s: window.map(|w| w.1) };
        let frequency;
        if let Some((c, o)) = primary.and_then(|c| Some((c, c.analysis.forecast.as_ref()?))) {
            p.periodic = true;
            p.mode = Some(c.mode);
            p.period_s = Some(o.period_s);
            p.period_std_s = o.period_std_s;
            p.confidence = Some(o.confidence);
            p.cycles = Some(o.cycles);
            p.next_start_s = Some(o.next_start_s);
            (p.next_start_std_s, p.next_start_probability) = c.window.unzip();
            p.next_end_s = Some(o.next_start_s + o.width_s);
            p.bytes = Some(o.bytes);
            p.bytes_p95 = Some(o.bytes_p95);
            p.idle_s = Some((o.period_s - o.width_s).max(0.0));
            p.valid_until_s = Some(o.next_start_s + o.period_s);
            frequency = Some(1.0 / o.period_s);
        } else {
            let rejected = told.and_then(|c| c.analysis.rejected);
            p.confidence = rejected.map(|r| r.1);
            frequency = rejected.map(|r| 1.0 / r.0);
        }
        p.frequency_range = self.history.add(frequency, p.periodic);
    }

    /// Names the state, once two predictions in a row agree on the period.
    fn name_state(&mut self, p: &mut Prediction, hits: u32) {
        let (Some(period_s), true) = (p.period_s, hits >= 1) else { return };
        let regime = Regime { period_s, ranks: self.ranks.unwrap_or(0), burst_bytes: p.bytes.unwrap_or(0.0) };
        let (cause, at_s) = self.cause.take().unwrap_or((Cause::Period, p.now_s));
        p.state = Some(self.automaton.observe(at_s, &regime, cause).to_owned()).filter(|s| !s.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A write each 10 s, after `first`.
    fn fed(first: &[Interval]) -> Prediction {
        let mut session = Session::new(None, Options::default());
        session.feed(first);
        for i in 0..20 {
            let start = 10.0 * f64::from(i);
            session.feed(&[Interval { op: Op::Write, start, end: start + 1.0, bytes: 1e6, ..Interval::default() }]);
        }
        session.predict()
    }

    #[test]
    fn analyses_are_in_proportion_to_the_transfers_and_the_last_one_is_made() {
        let mut session = Session::new(None, Options::default().every(Every::Message));
        let (mut passed, mut analyses) = (0, 0);
        let transfers = 3000;
        for i in 0..transfers {
            let start = 10.0 * f64::from(i);
            session.feed(&[Interval { op: Op::Write, start, end: start + 1.0, bytes: 1e6, ..Interval::default() }]);
            passed += 1;
            assert!(session.due());
            if session.due_in_passing() {
                // what a prediction does to the trigger and to the allowance
                session.trigger.done();
                session.allowance.spend();
                (passed, analyses) = (0, analyses + 1);
            }
        }
        let free = Allowance::default();
        assert!(free.covers() && analyses > 100 && analyses < 1000, "{analyses}");
        assert!(passed > 0 && session.due() && !session.due_in_passing());
        let last = session.predict();
        assert!(!session.due() && last.period_s.is_some_and(|t| (t - 10.0).abs() < 1e-3), "{last:?}");
        assert!(last.warnings.iter().any(|w| w.code == "predictions-left-out"), "{:?}", last.warnings);
    }

    /// Bursts of five writes every 10 s, twelve of them, and six more from `then_s` on: for each of the six, by how much the last prediction
    /// before it missed its start, and the codes of all warnings.
    fn after_a_step(then_s: f64) -> (Vec<Option<f64>>, Vec<String>) {
        let mut session = Session::new(None, Options::default());
        let (mut missed, mut codes, mut next_s) = (Vec::new(), Vec::new(), None::<f64>);
        let starts = (0..12)
            .map(|i| (i, 1e5 + 10.0 * f64::from(i)))
            .chain((0..6).map(|i| (12 + i, then_s + 10.0 * f64::from(i))));
        for (burst, start_s) in starts {
            if burst >= 12 {
                missed.push(next_s.map(|t| (t - start_s).abs()));
            }
            for i in 0..5 {
                let (start, bytes) = (start_s + 0.2 * f64::from(i), 1e6);
                session.feed(&[Interval { op: Op::Write, start, end: start + 0.15, bytes, ..Interval::default() }]);
                if session.due() {
                    let p = session.predict();
                    next_s = p.next_start_s;
                    codes.extend(p.warnings.into_iter().map(|w| w.code.to_string()));
                }
            }
        }
        (missed, codes)
    }

    #[test]
    fn small_writes_do_not_end_the_silence_of_an_overdue_burst() {
        let mut session = Session::new(None, Options::default());
        let mut due_s = |start: f64, bytes: f64| {
            session.feed(&[Interval { op: Op::Write, start, end: start + 1e-8 * bytes, bytes, ..Interval::default() }]);
            session.predict().overdue.map(|o| o.due_s)
        };
        for burst in 0..20 {
            for i in 0..5 {
                due_s(10.0 * f64::from(burst) + 0.01 * f64::from(i), 1e6);
            }
        }
        for late_s in [3.0, 4.7, 5.1, 8.9, 12.3, 19.0] {
            let due_s = due_s(200.0 + late_s, 1e5);
            assert!(due_s.is_some_and(|t| (t - 200.0).abs() < 0.1), "{late_s}: {due_s:?}");
        }
        assert_eq!(due_s(220.0, 5e6), None);
    }

    #[test]
    fn a_period_is_taken_up_again_after_a_pause_and_on_a_clock_that_was_set() {
        let end_s = 1e5 + 110.0;
        for pause_s in [14.0, 1003.0, 1e6] {
            let (missed, codes) = after_a_step(end_s + pause_s);
            assert!(missed[3..].iter().all(|m| m.is_some_and(|m| m < 0.5)), "{pause_s}: {missed:?}");
            assert!(codes.is_empty(), "{pause_s}: {codes:?}");
        }
        for back_s in [40.0, 3600.0] {
            let (missed, codes) = after_a_step(end_s - back_s);
            assert!(missed[3..].iter().all(|m| m.is_some_and(|m| m < 0.5)), "{back_s}: {missed:?}");
            assert!(codes.iter().any(|c| c == "clock-set-back"), "{back_s}: {codes:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Bursts of five writes at any distances, from twenty to sixty seconds.
        #[test]
        fn the_characteristic_time_is_the_period_or_the_mean_distance_of_bursts(gaps in proptest::collection::vec(20.0f64..60.0, 0..12)) {
            let mut session = Session::new(None, Options::default());
            let mut start_s = 0.0;
            for gap_s in std::iter::once(0.0).chain(gaps.iter().copied()) {
                start_s += gap_s;
                for start in (0..5).map(|i| start_s + 0.2 * f64::from(i)) {
                    session.feed(&[Interval { op: Op::Write, start, end: start + 0.15, bytes: 1e6, ..Interval::default() }]);
                }
            }
            let p = session.predict();
            let mean_s = (gaps.len() >= 2).then(|| start_s / gaps.len() as f64);
            let off = p.characteristic_time_s.zip(p.period_s.or(mean_s)).map(|(t, expected)| (t / expected - 1.0).abs());
            prop_assert_eq!(p.characteristic_time_s.is_some(), gaps.len() >= 2);
            prop_assert!(off.is_none_or(|off| off < 1e-9), "{:?}", p);
        }

        /// A job that changes its period after a pause, at once or some bursts later: from the sixth burst on each is predicted, or
        /// from the tenth after a pause hardly longer than the job so far, which may be one more of its gaps.
        #[test]
        fn another_period_after_a_pause_is_found(
            period_s in 20.0f64..100.0, ratio in prop_oneof![0.3f64..0.8, 1.25f64..1.8], bursts in 6..16, pause in 1.0f64..5.0, again in 0..4,
        ) {
            let start_s = |n: i32| -> f64 { period_s * f64::from(n) };
            let resumed_s = start_s(bursts - 1) + pause * start_s(bursts);
            let changed_s = resumed_s + start_s(again);
            let old = (0..bursts).map(start_s).chain((0..again).map(|n| resumed_s + start_s(n)));
            let new = (0..12).map(|n| changed_s + ratio * start_s(n));
            let mut session = Session::new(None, Options::default());
            let (mut next_s, mut late) = (None, Vec::new());
            for start_s in old.chain(new) {
                if start_s >= changed_s {
                    late.push(next_s.map(|t: f64| (t - start_s).abs() / period_s));
                }
                for start in (0..5).map(|i| start_s + 0.2 * f64::from(i)) {
                    session.feed(&[Interval { op: Op::Write, start, end: start + 0.15, bytes: 1e6, ..Interval::default() }]);
                    if session.due() {
                        next_s = session.predict().next_start_s;
                    }
                }
            }
            let known_from = if pause < 1.5 { 9 } else { 5 };
            prop_assert!(late[known_from..].iter().all(|l| l.is_some_and(|l| l <= 0.05 * ratio)), "{late:?}");
        }
    }

    #[test]
    fn what_another_rank_sends_late_is_no_step_of_the_clock() {
        for ranks in [None, Some(2)] {
            let mut session = Session::new(None, Options::default());
            ranks.into_iter().for_each(|n| session.set_ranks(n));
            // two ranks send a minute each, one after the other, in one message or, if their number is known, in two
            for minute in 0..10 {
                for late_s in [0.3, 0.0] {
                    let start = |i: i32| 60.0 * f64::from(minute) + 10.0 * f64::from(i) + late_s;
                    let row = |i| Interval {
                        op: Op::Write,
                        start: start(i),
                        end: start(i) + 0.2,
                        bytes: 1e6,
                        ..Interval::default()
                    };
                    let rows: Vec<Interval> = (0..6).map(row).collect();
                    rows.chunks(if ranks.is_some() { 3 } else { 6 }).for_each(|message| session.feed(message));
                    let p = session.predict();
                    assert!(p.warnings.iter().all(|w| w.code != "clock-set-back"), "{ranks:?}: {:?}", p.warnings);
                }
            }
            let p = session.predict();
            assert!(p.period_s.is_some_and(|t| (t - 10.0).abs() < 0.1), "{ranks:?}: {p:?}");
        }
    }

    #[test]
    fn transfers_out_of_range_change_nothing_but_their_count() {
        let fine = Interval { op: Op::Write, end: 1.0, bytes: 1.0, ..Interval::default() };
        let wrong = [
            Interval { start: 1e300, end: 2e300, ..fine },
            Interval { start: f64::NAN, ..fine },
            Interval { end: f64::INFINITY, ..fine },
            Interval { start: 2.0, ..fine },
            Interval { bytes: 1e300, ..fine },
            Interval { bytes: -1.0, ..fine },
        ];
        let (without, with) = (fed(&[]), fed(&wrong));
        assert_eq!(
            (with.period_s, with.next_start_s, with.now_s),
            (without.period_s, without.next_start_s, without.now_s)
        );
        assert!(without.period_s.is_some());
        let warning = with.warnings.iter().find(|w| w.code == UNUSABLE).expect("a warning");
        assert!(warning.message.starts_with("6 transfers"), "{}", warning.message);
    }
}
