//! Text that grows, a line at a time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::custom::Layout;
use super::super::tail::message::TailedLines;
use super::super::thresholds::LIMITS;
use super::patterns::{Forms, Patterns};
use super::rows::{Lines, SECONDS_OF_DAY};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Interval, Op, is_amount, is_time};

/// Most curves of rates that are followed at one time.
const MOST_CURVES: usize = 1 << 16;

/// Reads lines by patterns. Lines that no pattern matches are left out.
pub(in super::super) struct TailedText {
    patterns: Patterns,
    /// The last time of the day, and days that have passed.
    day: (f64, f64),
    /// Start and bytes per second of the last row of each curve, by operation, rank and file.
    held: HashMap<(Op, Vec<u8>), (f64, f64)>,
    waiting: Option<Interval>,
}

impl TailedText {
    /// # Errors
    /// [`ErrorKind::Unsupported`] for patterns that are searched in the whole text.
    pub(in super::super) fn new(patterns: Patterns) -> Result<Self> {
        if matches!(patterns.forms(), Forms::Whole(_)) {
            let what = "patterns that are searched once in the whole text, which grows";
            return Err(Error::new(ErrorKind::Unsupported, what)
                .expected("patterns whose matches in the lines are the records")
                .remedy(crate::Remedy::AnalyzeFinished));
        }
        Ok(TailedText { patterns, day: (f64::NEG_INFINITY, 0.0), held: HashMap::new(), waiting: None })
    }

    /// Moves times of day over midnight.
    fn on_days(&mut self, x: &mut Interval) {
        if self.day.0 - x.start > LIMITS.midnight_step_s as f64 {
            self.day.1 += SECONDS_OF_DAY;
        }
        self.day.0 = x.start;
        (x.start, x.end) = (x.start + self.day.1, x.end + self.day.1);
    }

    /// The transfer that ends where this rate begins.
    fn step(&mut self, x: &Interval, curve: Vec<u8>) -> std::result::Result<Option<Interval>, String> {
        if self.held.len() >= MOST_CURVES && !self.held.contains_key(&(x.op, curve.clone())) {
            return Err(format!("a rate of more than {MOST_CURVES} ranks and files"));
        }
        let Some((start, rate)) = self.held.insert((x.op, curve), (x.start, x.bytes)) else { return Ok(None) };
        let bytes = rate * (x.start - start);
        Ok((x.start > start).then_some(Interval { start, end: x.start, bytes, ..*x }))
    }
}

impl TailedLines for TailedText {
    fn feed(&mut self, line: &[u8]) -> std::result::Result<(), String> {
        let (transfer, curve, steps, of_day) = {
            let Forms::Rows(patterns) = self.patterns.forms() else { return Ok(()) };
            let lines = Lines { patterns, times_of_day: AtomicBool::new(false) };
            let Some(row) = lines.row(line).map_err(|bad| bad.to_string())? else { return Ok(()) };
            let transfer = row.transfer().map_err(|bad| bad.to_string())?;
            (transfer, row.curve(), patterns.iter().any(|p| p.is_step), lines.times_of_day.load(Ordering::Relaxed))
        };
        let Some(mut x) = transfer else { return Ok(()) };
        if of_day {
            self.on_days(&mut x);
        }
        self.waiting = if steps { self.step(&x, curve)? } else { Some(x) };
        let beyond = self.waiting.is_some_and(|x| !(is_time(x.start) && is_time(x.end) && is_amount(x.bytes)));
        if beyond {
            self.waiting = None;
            return Err("a time or an amount that no row can hold".into());
        }
        Ok(())
    }

    fn next(&mut self) -> Option<Interval> {
        self.waiting.take()
    }

    fn has_more(&self) -> bool {
        self.waiting.is_some()
    }
}
