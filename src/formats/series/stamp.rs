//! Times of a table: numbers, or dates and times of day.

use crate::formats::dates::{DAY, Moment, Order, Orders};
use crate::formats::number::{parse_f64, parse_f64_minus};
use crate::record::is_time;

/// Numbers from here on are seconds since 1970.
const EPOCH_LEAST: f64 = 1e8;

/// True for a number that is a time in seconds since 1970.
pub(super) fn is_unix(seconds: f64) -> bool {
    (EPOCH_LEAST..1e11).contains(&seconds)
}

/// How the times of a table are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TimeForm {
    /// A number of which so many are a second.
    Number { per_s: i64 },
    /// A date and a time of day, with a zone or UTC (true), or local.
    Date { zoned: bool, order: Order },
    /// A time of day, local.
    TimeOfDay,
}

fn moment(text: &[u8], more: Option<&[u8]>) -> Option<Moment> {
    match more {
        Some(more) => Moment::of_two(text, more),
        None => Moment::of(text),
    }
}

/// How many are a second of numbers like this time: as the unit says, else by its size.
pub fn per_second(time: f64, unit_s: Option<f64>) -> i64 {
    let by_size = || match time.abs() {
        x if x > 1e17 => 1_000_000_000,
        x if x > 1e14 => 1_000_000,
        x if x > 1e11 => 1_000,
        _ => 1,
    };
    unit_s.map_or_else(by_size, |s| (1.0 / s).round().max(1.0) as i64)
}

impl TimeForm {
    /// The form of this time, which may stand in two fields; numbers count `unit_s` if that is given. `None` if it is no time.
    pub(super) fn of(text: &[u8], more: Option<&[u8]>, unit_s: Option<f64>) -> Option<TimeForm> {
        if let (Some(x), None) = (parse_f64(text), more) {
            return Some(TimeForm::Number { per_s: per_second(x, unit_s) });
        }
        let m = moment(text, more)?;
        Some(if m.is_of_day() {
            TimeForm::TimeOfDay
        } else {
            TimeForm::Date { zoned: m.is_zoned(), order: Order::default() }
        })
    }

    /// The form with the order of dates that these texts show.
    pub(super) fn ordered(self, mut each: impl FnMut(&mut dyn FnMut(&[u8], Option<&[u8]>))) -> TimeForm {
        let TimeForm::Date { zoned, .. } = self else { return self };
        let mut orders = Orders::default();
        each(&mut |text, more| moment(text, more).into_iter().for_each(|m| orders.see(m)));
        TimeForm::Date { zoned, order: orders.order() }
    }

    /// Whole seconds before this time that the trace may count from, and whether they are of Unix time.
    pub(super) fn origin(self, text: &[u8], more: Option<&[u8]>) -> (i64, bool) {
        match self {
            TimeForm::Number { per_s } => {
                let s = parse_f64(text).unwrap_or(0.0) / per_s as f64;
                let since_epoch = is_unix(s);
                (if since_epoch { s.floor() as i64 } else { 0 }, since_epoch)
            }
            TimeForm::Date { zoned, .. } => {
                let s = self.seconds(text, more, 0).unwrap_or(0.0).floor() as i64;
                (if zoned { s } else { s.div_euclid(DAY) * DAY }, zoned)
            }
            TimeForm::TimeOfDay => (0, false),
        }
    }

    /// Seconds since `origin`.
    #[inline]
    pub(super) fn seconds(self, text: &[u8], more: Option<&[u8]>, origin: i64) -> Option<f64> {
        let s = match (self, more) {
            (TimeForm::Number { per_s: 1 }, _) => parse_f64_minus(text, origin)?,
            (TimeForm::Number { per_s }, _) => parse_f64_minus(text, origin.checked_mul(per_s)?)? / per_s as f64,
            (TimeForm::Date { order, .. }, more) => {
                let (whole, part) = moment(text, more).filter(|m| !m.is_of_day())?.seconds(order, origin)?;
                whole.checked_sub(origin)? as f64 + part
            }
            (TimeForm::TimeOfDay, _) => {
                let (whole, part) = moment(text, None).filter(|m| m.is_of_day())?.seconds(Order::default(), 0)?;
                (whole - origin) as f64 + part
            }
        };
        is_time(s).then_some(s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_apart() {
        let number = |per_s| Some(TimeForm::Number { per_s });
        for (text, form) in [
            ("12.5", number(1)),
            ("1795427767.5", number(1)),
            ("1795427767123", number(1000)),
            ("1795427767123456", number(1_000_000)),
            ("1795427767123456789", number(1_000_000_000)),
            ("09:56:07", Some(TimeForm::TimeOfDay)),
            ("vda", None),
        ] {
            assert_eq!(TimeForm::of(text.as_bytes(), None, None), form, "{text}");
        }
        let ns = b"1795427767123456789";
        let form = TimeForm::of(ns, None, None).unwrap();
        assert_eq!(form.origin(ns, None), (1_795_427_767, true));
        assert!((form.seconds(ns, None, 1_795_427_767).unwrap() - 0.123456789).abs() < 1e-12);
        let two = TimeForm::of(b"20261123", Some(b"09:56:07.5"), None).unwrap();
        assert_eq!(two.origin(b"20261123", Some(b"09:56:07.5")), (1_795_392_000, false));
        assert_eq!(two.seconds(b"20261123", Some(b"09:56:07.5"), 1_795_392_000), Some(35_767.5));
    }
}
