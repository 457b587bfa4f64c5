//! Time stamps: numbers, dates with a time of day, times of day.

use crate::formats::number::{parse_f64, parse_f64_minus, parse_u64};
use crate::record::is_time;

/// Seconds of a day.
const DAY: i64 = 86_400;
/// Numbers from here on are seconds since 1970.
const EPOCH_LEAST: f64 = 1e8;

/// How the times of a table are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TimeForm {
    /// A number of which so many are a second.
    Number { per_s: i64 },
    /// A date and a time of day, with a zone or UTC (true), or local.
    Date { zoned: bool },
    /// A time of day, local.
    TimeOfDay,
}

impl TimeForm {
    /// The form of this time, which may stand in two fields; numbers count `unit_s` if that is given. `None` if it is no time.
    pub(super) fn of(text: &[u8], more: Option<&[u8]>, unit_s: Option<f64>) -> Option<TimeForm> {
        if let Some(more) = more {
            let (date, zoned) = (date(text)?, time_of_day(more)?.2);
            return (date.1 == text.len()).then_some(TimeForm::Date { zoned });
        }
        if let Some(x) = parse_f64(text) {
            let by_size = || match x.abs() {
                x if x > 1e17 => 1_000_000_000,
                x if x > 1e14 => 1_000_000,
                x if x > 1e11 => 1_000,
                _ => 1,
            };
            return Some(TimeForm::Number {
                per_s: unit_s.map_or_else(by_size, |s| (1.0 / s).round().max(1.0) as i64),
            });
        }
        match date_time(text) {
            Some((_, _, zoned)) => Some(TimeForm::Date { zoned }),
            None => time_of_day(text).map(|_| TimeForm::TimeOfDay),
        }
    }

    /// Whole seconds before this time that the trace may count from, and whether they are of Unix time.
    pub(super) fn origin(self, text: &[u8], more: Option<&[u8]>) -> (i64, bool) {
        match self {
            TimeForm::Number { per_s } => {
                let s = parse_f64(text).unwrap_or(0.0) / per_s as f64;
                let since_epoch = (EPOCH_LEAST..1e11).contains(&s);
                (if since_epoch { s.floor() as i64 } else { 0 }, since_epoch)
            }
            TimeForm::Date { zoned } => {
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
            (TimeForm::Date { .. }, None) => {
                let (whole, part, _) = date_time(text)?;
                (whole - origin) as f64 + part
            }
            (TimeForm::Date { .. }, Some(more)) => {
                let (days, n) = date(text)?;
                let (whole, part, _) = time_of_day(more)?;
                (n == text.len()).then_some((days * DAY + whole - origin) as f64 + part)?
            }
            (TimeForm::TimeOfDay, _) => {
                let (whole, part, _) = time_of_day(text)?;
                (whole - origin) as f64 + part
            }
        };
        is_time(s).then_some(s)
    }
}

/// Whole seconds since 1970, the rest of a second, and whether a zone is given.
pub(super) fn date_time(text: &[u8]) -> Option<(i64, f64, bool)> {
    let (days, n) = date(text)?;
    let rest = text.get(n..)?;
    let clock = rest.strip_prefix(b"T").unwrap_or(rest).trim_ascii_start();
    if clock.len() == rest.len() {
        return None;
    }
    let (whole, part, zoned) = time_of_day(clock)?;
    Some((days * DAY + whole, part, zoned))
}

/// Days since 1970 of the date that a text begins with, and its length: `2026-11-23`, `2026/11/23`, `20261123`, `11/23/26` (month first),
/// `23.11.2026`.
fn date(text: &[u8]) -> Option<(i64, usize)> {
    let digits = |from: usize| text.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let number = |from: usize, n: usize| parse_u64(text.get(from..from + n)?).map(|x| x as i64);
    let first = digits(0);
    if first == 8 {
        return Some((days(number(0, 4)?, number(4, 2)?, number(6, 2)?)?, 8));
    }
    let mark = *text.get(first)?;
    let second = digits(first + 1);
    let third_at = first + second + 2;
    let third = digits(third_at);
    let sizes = (1..=4).contains(&first) && (1..=2).contains(&second) && (1..=4).contains(&third);
    if !sizes || !matches!(mark, b'-' | b'/' | b'.') || text.get(first + second + 1) != Some(&mark) {
        return None;
    }
    let (a, b, c) = (number(0, first)?, number(first + 1, second)?, number(third_at, third)?);
    let year = |y: i64| if y < 100 { 2000 + y } else { y };
    let days = match (first, mark) {
        (4, _) => days(a, b, c),
        (_, b'/') => days(year(c), a, b),
        (_, b'.') => days(year(c), b, a),
        _ => None,
    };
    Some((days?, third_at + third))
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // years begin in March, so that the leap day is their last
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(365 * year + leaps + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// Seconds since midnight, UTC if a zone is given: whole ones, the rest, and whether a zone is given. `09:56:07.250`, `09:56:07 PM`, `… UTC`,
/// `…Z`, `…+01:00`.
fn time_of_day(text: &[u8]) -> Option<(i64, f64, bool)> {
    let two = |at: usize| match text.get(at..at + 2)? {
        [a @ b'0'..=b'9', b @ b'0'..=b'9'] => Some(i64::from(a - b'0') * 10 + i64::from(b - b'0')),
        _ => None,
    };
    let (h, m, s) = (two(0)?, two(3)?, two(6)?);
    if text[2] != b':' || text[5] != b':' || h > 24 || m > 59 || s > 60 {
        return None;
    }
    let mut n = 8;
    let mut part = 0.0;
    if let Some(b'.' | b',') = text.get(8) {
        let places = text[9..].iter().take_while(|b| b.is_ascii_digit()).count();
        let digits = places.min(15);
        part = parse_u64(text.get(9..9 + digits)?)? as f64 / 10f64.powi(digits as i32);
        n = 9 + places;
    }
    let whole = h * 3600 + m * 60 + s;
    match text[n..].trim_ascii() {
        b"" => Some((whole, part, false)),
        b"Z" | b"UTC" | b"GMT" => Some((whole, part, true)),
        b"AM" => Some((whole - if h == 12 { DAY / 2 } else { 0 }, part, false)),
        b"PM" => Some((whole + if h == 12 { 0 } else { DAY / 2 }, part, false)),
        [sign @ (b'+' | b'-'), h1, h2, rest @ ..] => {
            let (m1, m2) = match rest {
                [b':', m1, m2] | [m1, m2] => (*m1, *m2),
                [] => (b'0', b'0'),
                _ => return None,
            };
            let zone = parse_u64(&[*h1, *h2])? as i64 * 3600 + parse_u64(&[m1, m2])? as i64 * 60;
            Some((whole - if *sign == b'-' { -zone } else { zone }, part, true))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unix(text: &str) -> Option<(f64, bool)> {
        date_time(text.as_bytes()).map(|(s, part, zoned)| (s as f64 + part, zoned))
    }

    #[test]
    fn dates_and_times() {
        let t = 1_795_427_767.0;
        for (text, s, zoned) in [
            ("2026-11-23 09:56:07", t, false),
            ("2026-11-23T09:56:07.250", t + 0.25, false),
            ("2026-11-23T09:56:07Z", t, true),
            ("2026-11-23 09:56:07 UTC", t, true),
            ("2026-11-23T09:56:07+0000", t, true),
            ("2026-11-23T10:56:07+01:00", t, true),
            ("2026-11-23T04:26:07-05:30", t, true),
            ("11/23/26 09:56:07", t, false),
            ("11/23/2026 09:56:07 PM", t + 43200.0, false),
            ("11/23/2026 12:56:07 AM", t - 9.0 * 3600.0, false),
            ("23.11.2026 09:56:07", t, false),
            ("20261123 09:56:07", t, false),
            ("1970-01-01 00:00:00", 0.0, false),
            ("2000-02-29 00:00:00", 951_782_400.0, false),
        ] {
            assert_eq!(unix(text), Some((s, zoned)), "{text}");
        }
        for text in ["", "2026-11-23", "2026-13-01 00:00:00", "09:56:07", "2026-11-23 9:56", "2026-11-2309:56:07", "x"]
        {
            assert_eq!(unix(text), None, "{text}");
        }
    }

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
