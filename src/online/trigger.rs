//! When a prediction is due.

use crate::online::thresholds::LIMITS;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};
use crate::record::Interval;

/// How often a job is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Every {
    /// With every message.
    Message,
    /// At each burst, when it seems to have begun and when that is certain; while bursts are not known yet, when activity
    /// resumes after an idle time; and when a burst has failed to come.
    #[default]
    Burst,
    /// At intervals of this many seconds of the trace's own clock.
    Seconds(f64),
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Every::Message => f.write_str("message"),
            Every::Burst => f.write_str("burst"),
            Every::Seconds(s) => write!(f, "{s}"),
        }
    }
}

impl FromStr for Every {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "message" => Ok(Every::Message),
            "burst" => Ok(Every::Burst),
            _ => {
                let seconds = text.strip_suffix('s').unwrap_or(text).parse().ok();
                seconds.filter(|s: &f64| *s > 0.0 && s.is_finite()).map(Every::Seconds).ok_or_else(|| {
                    Error::new(ErrorKind::Usage, format!("invalid interval `{text}`"))
                        .expected("message, burst, or seconds of the trace's clock")
                })
            }
        }
    }
}

/// Seconds; shorter idle times are rounding of a clock.
pub(super) const TICK: f64 = 1e-6;

/// State of the job that the trigger needs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    /// Bytes of a burst.
    pub(super) bytes: Option<f64>,
    pub(super) period_s: Option<f64>,
    pub(super) window_start_s: Option<f64>,
    /// When the next burst is due, and when it must have shown.
    pub(super) next_s: Option<f64>,
    pub(super) expected_s: Option<f64>,
}

/// Decides from the transfers of a job when a prediction is due.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Trigger {
    every: Every,
    end_s: Option<f64>,
    longest_idle_s: f64,
    /// A much longer one since a burst is known: a pause, unless another follows. It must not hide the bursts after it.
    pause_s: Option<f64>,
    /// Share of the bytes of the burst that has begun at which the next prediction is due.
    waits_for: Option<f64>,
    /// Idle times between bursts, all and since the last prediction.
    idle: u64,
    idle_since: u64,
    /// Bytes since the last idle time.
    bytes: f64,
    predicted_s: Option<f64>,
    /// Where the clock began to run.
    began_s: Option<f64>,
    due: bool,
}

impl Trigger {
    pub(super) fn new(every: Every) -> Self {
        Trigger { every, ..Trigger::default() }
    }

    /// True if a prediction is due.
    pub(super) fn due(&self) -> bool {
        self.due
    }

    /// Takes the end of a message.
    pub(super) fn message(&mut self) {
        self.due |= self.every == Every::Message;
    }

    /// A prediction was made.
    pub(super) fn done(&mut self) {
        self.due = false;
        self.idle_since = 0;
        self.predicted_s = self.end_s;
    }

    /// Takes a transfer.
    pub(super) fn take(&mut self, e: &Interval, known: Known) {
        let before = self.end_s.replace(self.end_s.map_or(e.end, |t| t.max(e.end)));
        let Some(before) = before else {
            // the clock begins to run here
            self.predicted_s = Some(e.start);
            self.began_s = Some(e.start);
            return;
        };
        let now = before.max(e.end);
        let since = now - self.predicted_s.unwrap_or(now);
        match self.every {
            Every::Message => {}
            Every::Seconds(s) => self.due |= since >= s,
            Every::Burst => {
                let idle = e.start - before;
                let unknown = known.bytes.is_none();
                // the burst size of another regime, or a long pause before this one, must not hide the next burst
                let lost = known.period_s.is_none();
                self.due |= lost && idle > TICK && since >= LIMITS.least_time * (now - self.began_s.unwrap_or(now));
                // after a long burst the next one may follow soon
                let due_now =
                    |t: f64| before < t && e.start >= t - LIMITS.expected_least * known.period_s.unwrap_or(0.0);
                if idle > TICK && (idle >= LIMITS.parting * self.longest_idle_s || known.next_s.is_some_and(due_now)) {
                    self.waits_for = Some(LIMITS.seeming);
                    self.bytes = 0.0;
                    (self.idle, self.idle_since) = (self.idle.saturating_add(1), self.idle_since.saturating_add(1));
                    self.due |= unknown && self.idle_since >= (self.idle / LIMITS.seldom).clamp(1, LIMITS.seldom_most);
                    let recurs = self.pause_s.is_some_and(|pause| idle >= LIMITS.parting * pause);
                    if !unknown && !recurs && idle > LIMITS.pause * self.longest_idle_s {
                        self.pause_s = Some(idle);
                    } else {
                        self.longest_idle_s = idle.max(LIMITS.forget * self.longest_idle_s);
                    }
                }
                self.bytes += e.bytes.max(0.0);
                if let (Some(share), Some(bytes)) = (self.waits_for, known.bytes)
                    && self.bytes >= share * bytes
                {
                    let whole = (self.bytes / bytes - LIMITS.doubtless).floor() + 1.0;
                    self.waits_for = (whole <= LIMITS.soon).then_some(LIMITS.doubtless + whole.max(0.0));
                    self.due = true;
                }
                self.due |= known.expected_s.is_some_and(|t| now >= t && self.predicted_s.is_some_and(|p| p < t));
                self.due |= match (known.period_s, known.window_start_s) {
                    (Some(period), _) => since >= (1.0 + LIMITS.expected_most) * period,
                    (None, Some(start)) => since >= LIMITS.growth * (now - start),
                    (None, None) => false,
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Op;

    fn due_at(every: Every, known: Known, times: &[f64]) -> Vec<f64> {
        let mut t = Trigger::new(every);
        let mut due = Vec::new();
        for &start_s in times {
            t.take(
                &Interval { op: Op::Write, start: start_s, end: start_s + 0.1, bytes: 1.0, ..Interval::default() },
                known,
            );
            t.message();
            if t.due() {
                due.push(start_s);
                t.done();
            }
        }
        due
    }

    #[test]
    fn triggers() {
        let bursts: Vec<f64> =
            (0..4).flat_map(|b| (0..10).map(move |i| 10.0 * f64::from(b) + 0.1 * f64::from(i))).collect();
        assert_eq!(due_at(Every::Message, Known::default(), &bursts).len(), bursts.len());
        assert_eq!(due_at(Every::Burst, Known::default(), &bursts), [10.0, 20.0, 30.0]);
        let known = Known {
            bytes: Some(10.0),
            period_s: Some(10.0),
            window_start_s: Some(0.0),
            next_s: None,
            expected_s: None,
        };
        let due = due_at(Every::Burst, known, &bursts);
        let expected = [10.0, 10.2, 20.0, 20.2, 30.0, 30.2];
        assert!(due.len() == 6 && due.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{due:?}");
        // the third burst lasts nearly until the fourth, which is punctual
        let close: Vec<f64> =
            [0.0, 10.0, 20.0].into_iter().chain((1..=16).map(|i| 20.0 + 0.6 * f64::from(i))).collect();
        let known = Known { bytes: Some(1.0), next_s: Some(30.0), ..known };
        assert!(due_at(Every::Burst, known, &[&close[..], &[30.2]].concat()).contains(&30.2));
        // after a pause of 100 s, bursts that begin without a period in sight
        let later: Vec<f64> = [0.0, 1.0].into_iter().chain((0..6).map(|i| 101.0 + 4.0 * f64::from(i))).collect();
        let lost = Known { bytes: Some(1e6), ..Known::default() };
        assert_eq!(due_at(Every::Burst, lost, &later), [1.0, 101.0, 105.0, 109.0, 113.0, 117.0, 121.0]);
        assert_eq!(due_at(Every::Seconds(15.0), Known::default(), &bursts), [20.0]);
        for (text, every) in [("message", Every::Message), ("burst", Every::Burst), ("2.5", Every::Seconds(2.5))] {
            assert_eq!(text.parse::<Every>().unwrap(), every);
            assert_eq!(every.to_string(), text);
        }
        assert!("0".parse::<Every>().is_err() && "often".parse::<Every>().is_err());
    }
}
