//! The line on the terminal while a program is watched.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use terminal_size::{Width, terminal_size_of};

use super::super::output;
use crate::online::Prediction;
use crate::record::{Interval, Op};
use crate::render::units;

/// Time between two changes of the line.
const STEP: Duration = Duration::from_millis(250);

/// See the module. Nothing is shown unless standard error is a terminal.
pub(super) struct LiveLine {
    shown: bool,
    drawn: Instant,
    /// Bytes since then: read, written.
    bytes: [f64; 2],
    prediction: Option<Prediction>,
}

impl LiveLine {
    pub(super) fn new(wanted: bool) -> LiveLine {
        // a terminal without colours may be one without a cursor that goes back
        let dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
        let shown = wanted && !dumb && io::IsTerminal::is_terminal(&io::stderr());
        LiveLine { shown, drawn: Instant::now(), bytes: [0.0; 2], prediction: None }
    }

    pub(super) fn feed(&mut self, x: &Interval) {
        self.bytes[usize::from(x.op == Op::Write)] += x.bytes;
    }

    pub(super) fn note(&mut self, p: &Prediction) {
        self.prediction = Some(p.clone());
    }

    /// Draws the line if it is time to; `now_s` gives the time since the start.
    pub(super) fn draw(&mut self, now_s: impl FnOnce() -> f64) {
        let passed = self.drawn.elapsed();
        if !self.shown || passed < STEP {
            return;
        }
        let rates = std::mem::take(&mut self.bytes).map(|b| b / passed.as_secs_f64());
        self.drawn = Instant::now();
        let width = terminal_size_of(io::stderr()).map_or(80, |(Width(w), _)| usize::from(w));
        let text: String =
            describe(now_s(), rates, self.prediction.as_ref()).chars().take(width.saturating_sub(1)).collect();
        // Nothing can be done if that fails.
        let _ = write!(io::stderr().lock(), "\r\x1b[K{text}").and_then(|()| io::stderr().flush());
    }

    /// Takes the line away.
    pub(super) fn clear(&mut self) {
        if self.shown {
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
            self.shown = false;
        }
    }

    /// A message below which the line goes on.
    pub(super) fn message(&self, text: &str) {
        let clear = if self.shown { "\r\x1b[K" } else { "" };
        output::message(&format!("{clear}{text}"));
    }
}

/// The text of the line.
fn describe(now_s: f64, [read, written]: [f64; 2], p: Option<&Prediction>) -> String {
    let rate = |x: f64| if x > 0.0 { units::rate(x) } else { "-".into() };
    let rates = format!("{now_s:.0} s  write {}  read {}", rate(written), rate(read));
    let Some(p) = p else { return format!("{rates}  no burst yet") };
    let (Some(period_s), Some(next_s), true) = (p.period_s, p.next_start_s, p.periodic) else {
        return format!("{rates}  no period yet");
    };
    let confidence = 100.0 * p.confidence.unwrap_or(0.0);
    let mode = p.mode.map_or("I/O", |m| m.name());
    let next = if next_s > now_s {
        format!("next {mode} burst in {:.1} s", next_s - now_s)
    } else {
        format!("next {mode} burst due for {:.1} s", now_s - next_s)
    };
    let size = p.bytes.map_or(String::new(), |b| format!(", {}", units::bytes(b)));
    format!("{rates}  every {} ({confidence:.0} %)  {next}{size}", units::seconds(period_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::online::{Options, Session};

    #[test]
    fn the_line_says_rate_period_and_next_burst() {
        let mut session = Session::new(None, Options::default());
        assert_eq!(describe(3.4, [0.0, 2097152.0], None), "3 s  write 2 MiB/s  read -  no burst yet");
        for i in 0..8 {
            let start = 2.0 * f64::from(i);
            session.feed(&[Interval {
                op: Op::Write,
                bytes: 8388608.0,
                start,
                end: start + 0.1,
                ..Interval::default()
            }]);
        }
        let p = session.predict();
        let text = describe(15.0, [0.0; 2], Some(&p));
        assert!(
            text.starts_with("15 s  write -  read -  every 2.000 s (")
                && text.ends_with("next write burst in 1.0 s, 8 MiB"),
            "{text}"
        );
        assert!(describe(17.5, [0.0; 2], Some(&p)).contains("due for 1.5 s"));
    }
}
