//! Dates, times of day and zones, as tools and locales write them.
//!
//! A [`Moment`] is what one text says. Two things are up to all moments of a file: whether `03/04/2026` is in March or in April
//! ([`Orders`]), and the year of dates that have none.

use super::number::parse_u64;
use super::thresholds::LIMITS;

/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

/// Names of months in English, as `date` prints them.
const MONTHS: [&[u8]; 12] =
    [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];

/// Names of zones that have one meaning, and minutes east of Greenwich.
const ZONES: [(&[u8], i64); 27] = [
    (b"Z", 0),
    (b"UTC", 0),
    (b"GMT", 0),
    (b"WET", 0),
    (b"WEST", 60),
    (b"BST", 60),
    (b"CET", 60),
    (b"MET", 60),
    (b"CEST", 120),
    (b"MEST", 120),
    (b"EET", 120),
    (b"SAST", 120),
    (b"EEST", 180),
    (b"MSK", 180),
    (b"JST", 540),
    (b"KST", 540),
    (b"AEST", 600),
    (b"AEDT", 660),
    (b"NZST", 720),
    (b"NZDT", 780),
    (b"EST", -300),
    (b"EDT", -240),
    (b"MST", -420),
    (b"MDT", -360),
    (b"PST", -480),
    (b"PDT", -420),
    (b"HST", -600),
];

/// Which of the first two numbers of a date is the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Order {
    #[default]
    MonthFirst,
    DayFirst,
}

/// A date as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Date {
    /// Days since 1970.
    Days(i64),
    /// Month and day in an order that the text does not show, and the year.
    Numbers(i64, i64, i64),
    /// Month and day without a year.
    OfYear(i64, i64),
}

/// A date, a time of day, or both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
    date: Option<Date>,
    /// Whole seconds since midnight, and the rest.
    second: i64,
    part: f64,
    /// Seconds east of Greenwich.
    zone: Option<i64>,
}

impl Moment {
    /// The moment that a text is: a date and a time of day, or a time of day alone.
    pub(crate) fn of(text: &[u8]) -> Option<Moment> {
        if !text.is_ascii() {
            return Moment::of(&japanese(text)?);
        }
        if let Some((second, part, zone)) = clock(text, false) {
            return Some(Moment { date: None, second, part, zone });
        }
        let (date, n) = date(text)?;
        let rest = text.get(n..)?;
        let time = rest.strip_prefix(b"T").unwrap_or(rest).trim_ascii_start();
        if time.len() == rest.len() {
            return None;
        }
        let (second, part, zone) = clock(time, true)?;
        Some(Moment { date: Some(date), second, part, zone })
    }

    /// The moment of a date and a time of day in two texts.
    pub(crate) fn of_two(day: &[u8], time: &[u8]) -> Option<Moment> {
        let (date, n) = date(day)?;
        let (second, part, zone) = clock(time, false)?;
        (n == day.len()).then_some(Moment { date: Some(date), second, part, zone })
    }

    /// Midnight of the date that a text is.
    pub(crate) fn of_date(text: &[u8]) -> Option<Moment> {
        let (date, n) = date(text)?;
        (n == text.len()).then_some(Moment { date: Some(date), second: 0, part: 0.0, zone: None })
    }

    /// This time of day on the date of another moment, if it has none of its own.
    pub(crate) fn on(self, day: Option<Moment>) -> Moment {
        Moment { date: self.date.or(day.and_then(|d| d.date)), ..self }
    }

    pub(crate) fn is_of_day(self) -> bool {
        self.date.is_none()
    }

    /// True if it says all that other moments of its file could: the year, and which number is the month.
    pub(crate) fn is_by_itself(self) -> bool {
        matches!(self.date, None | Some(Date::Days(_)))
    }

    pub(crate) fn is_zoned(self) -> bool {
        self.zone.is_some() && !matches!(self.date, None | Some(Date::OfYear(..)))
    }

    /// Whole seconds since 1970 (since midnight, if there is no date), and the rest; local ones without a zone. A date without a year is
    /// within half a year of `near`, whole seconds too. `None` if there is no such date.
    pub(crate) fn seconds(self, order: Order, near: i64) -> Option<(i64, f64)> {
        let days = match self.date {
            None => 0,
            Some(Date::Days(days)) => days,
            Some(Date::Numbers(a, b, year)) => match order {
                Order::MonthFirst => days(year, a, b)?,
                Order::DayFirst => days(year, b, a)?,
            },
            Some(Date::OfYear(month, day)) => {
                let day_near = near.div_euclid(DAY);
                let year = 1970 + day_near.div_euclid(365);
                // a leap day has no place in every year
                let in_year = |y| days(y, month, day).or_else(|| days(y, month, day - 1));
                (year - 2..=year + 1).filter_map(in_year).min_by_key(|d| (d - day_near).abs())?
            }
        };
        Some((days.checked_mul(DAY)? + self.second - self.zone.unwrap_or(0), self.part))
    }
}

/// Whether the dates of a file have the day or the month first: where one cannot be a month, that shows it; else the order in which they
/// go forward, by the shorter way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Orders {
    /// A number that can be no month stood in the second place, in the first place.
    shown: [bool; 2],
    /// For each order the last day, steps back and days between the dates.
    last: [Option<i64>; 2],
    back: [u64; 2],
    way: [u64; 2],
}

impl Orders {
    pub(crate) fn see(&mut self, moment: Moment) {
        let Some(Date::Numbers(a, b, year)) = moment.date else { return };
        self.shown[0] |= b > 12;
        self.shown[1] |= a > 12;
        for (i, day) in [days(year, a, b), days(year, b, a)].into_iter().enumerate() {
            let Some(day) = day else { continue };
            if let Some(last) = self.last[i].replace(day) {
                self.back[i] += u64::from(day < last);
                self.way[i] += day.abs_diff(last);
            }
        }
    }

    pub(crate) fn order(&self) -> Order {
        let day_first = match self.shown {
            [true, false] => false,
            [false, true] => true,
            _ => (self.back[1], self.way[1]) < (self.back[0], self.way[0]),
        };
        if day_first { Order::DayFirst } else { Order::MonthFirst }
    }
}

/// Times of day on their way over midnight: one that falls by more than a clock is set back has passed it.
#[derive(Debug, Default)]
pub(crate) struct Midnights {
    last: Option<f64>,
    /// Seconds of the days that have passed.
    pub(crate) passed_s: f64,
}

impl Midnights {
    /// A time of day as seconds since the first midnight.
    pub(crate) fn next(&mut self, t: f64) -> f64 {
        if self.last.replace(t).is_some_and(|last| last - t > LIMITS.midnight_step_s as f64) {
            self.passed_s += DAY as f64;
        }
        t + self.passed_s
    }
}

/// The date that a text begins with, and its length: `2026-11-23`, `2026/11/23`, `20261123`, `11/23/26`, `23/11/2026`, `23.11.2026`,
/// `Nov-23`, `23-Nov-2026`, `Nov 23`, `23 Nov 2026`.
fn date(text: &[u8]) -> Option<(Date, usize)> {
    let digits = |from: usize| text.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let number = |from: usize, n: usize| parse_u64(text.get(from..from + n)?).map(|x| x as i64);
    let first = digits(0);
    if first == 8 {
        return Some((Date::Days(days(number(0, 4)?, number(4, 2)?, number(6, 2)?)?), 8));
    }
    if let Some(named) = with_name(text, first) {
        return Some(named);
    }
    let mark = *text.get(first)?;
    let second = digits(first + 1);
    let third_at = first + second + 2;
    let third = digits(third_at);
    if !(1..=4).contains(&first) || !(1..=2).contains(&second) || !matches!(mark, b'-' | b'/' | b'.') {
        return None;
    }
    let (a, b) = (number(0, first)?, number(first + 1, second)?);
    if text.get(first + second + 1) != Some(&mark) {
        // dstat: day and month
        let date = (first <= 2 && mark == b'-').then_some(Date::OfYear(b, a))?;
        return ((1..=12).contains(&b) && (1..=31).contains(&a)).then_some((date, first + 1 + second));
    }
    if !(1..=4).contains(&third) {
        return None;
    }
    let c = number(third_at, third)?;
    let date = match (first, mark) {
        (4, _) => Date::Days(days(a, b, c)?),
        (1 | 2, b'.') => Date::Days(days(full(c), b, a)?),
        (1 | 2, _) => Date::Numbers(a, b, full(c)),
        _ => return None,
    };
    let Date::Numbers(a, b, _) = date else { return Some((date, third_at + third)) };
    let possible = (1..=31).contains(&a) && (1..=31).contains(&b) && a.min(b) <= 12;
    possible.then_some((date, third_at + third))
}

/// A date with the name of its month, before or after the day; `first` digits stand at its begin.
fn with_name(text: &[u8], first: usize) -> Option<(Date, usize)> {
    let is_mark = |b: &&u8| matches!(b, b'-' | b' ' | b'/');
    let marked = |at: usize| at + usize::from(text.get(at).as_ref().is_some_and(is_mark));
    let two = |at: usize| {
        let n = text.get(at..)?.iter().take_while(|b| b.is_ascii_digit()).count();
        (1..=2).contains(&n).then(|| Some((parse_u64(&text[at..at + n])? as i64, at + n)))?
    };
    let month = |at: usize| {
        let name = text.get(at..at + 3)?;
        let found = MONTHS.iter().position(|m| m.eq_ignore_ascii_case(name))?;
        Some((found as i64 + 1, at + 3))
    };
    let (month, day, end) = if first == 0 {
        let (month, end) = month(0)?;
        let (day, end) = two(marked(end))?;
        (month, day, end)
    } else {
        let (day, end) = two(0)?;
        let (month, end) = month(marked(end))?;
        (month, day, end)
    };
    days(2000, month, day)?;
    let year_at = marked(end);
    let n = text.get(year_at..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let is_year = year_at > end && matches!(n, 2 | 4) && text.get(year_at + n) != Some(&b':');
    match is_year {
        true => {
            Some((Date::Days(days(full(parse_u64(&text[year_at..year_at + n])? as i64), month, day)?), year_at + n))
        }
        false => Some((Date::OfYear(month, day), end)),
    }
}

/// A year of two digits or of four.
fn full(year: i64) -> i64 {
    if year < 100 { 2000 + year } else { year }
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

/// Whole seconds since midnight, the rest, and the zone in seconds east of Greenwich: `09:56:07.250`, `09:56:07 PM`, `… UTC`, `…Z`,
/// `…+01:00`, and with a date also `09:56`. Zones whose names have several meanings are no zones.
fn clock(text: &[u8], has_date: bool) -> Option<(i64, f64, Option<i64>)> {
    let two = |at: usize| match text.get(at..at + 2)? {
        [a @ b'0'..=b'9', b @ b'0'..=b'9'] => Some(i64::from(a - b'0') * 10 + i64::from(b - b'0')),
        _ => None,
    };
    let (h, m) = (two(0)?, two(3)?);
    let has_seconds = text.get(5) == Some(&b':');
    let s = if has_seconds { two(6)? } else { 0 };
    if text[2] != b':' || h > 24 || m > 59 || s > 60 || !(has_seconds || has_date) {
        return None;
    }
    let mut n = if has_seconds { 8 } else { 5 };
    let mut part = 0.0;
    if let (true, Some(b'.' | b',')) = (has_seconds, text.get(8)) {
        let places = text[9..].iter().take_while(|b| b.is_ascii_digit()).count();
        let digits = places.min(15);
        part = parse_u64(text.get(9..9 + digits)?)? as f64 / 10f64.powi(digits as i32);
        n = 9 + places;
    }
    let whole = h * 3600 + m * 60 + s;
    let rest = text[n..].trim_ascii();
    let half = rest.get(..2).filter(|_| rest.get(2).is_none_or(|b| *b == b' '));
    let (noon, rest) = match half.map(<[u8]>::to_ascii_uppercase).as_deref() {
        Some(b"AM") => (if h == 12 { -DAY / 2 } else { 0 }, rest[2..].trim_ascii()),
        Some(b"PM") => (if h == 12 { 0 } else { DAY / 2 }, rest[2..].trim_ascii()),
        _ => (0, rest),
    };
    Some((whole + noon, part, zone(rest)?))
}

/// The zone in seconds east of Greenwich: `None` inside if there is none, or one of unknown meaning; outside if the text is no zone.
fn zone(text: &[u8]) -> Option<Option<i64>> {
    if let Some((_, minutes)) = ZONES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
        return Some(Some(minutes * 60));
    }
    match text {
        b"" => Some(None),
        [sign @ (b'+' | b'-'), h1, h2, rest @ ..] => {
            let (m1, m2) = match rest {
                [b':', m1, m2] | [m1, m2] => (*m1, *m2),
                [] => (b'0', b'0'),
                _ => return None,
            };
            let zone = parse_u64(&[*h1, *h2])? as i64 * 3600 + parse_u64(&[m1, m2])? as i64 * 60;
            Some(Some(if *sign == b'-' { -zone } else { zone }))
        }
        name => ((2..=5).contains(&name.len()) && name.iter().all(u8::is_ascii_uppercase)).then_some(None),
    }
}

/// `2026年11月24日 11時59分30秒` with the marks of ISO.
fn japanese(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let plain: String = text
        .chars()
        .filter_map(|c| match c {
            '年' | '月' => Some('-'),
            '時' | '分' => Some(':'),
            '日' | '秒' => None,
            c => Some(c),
        })
        .collect();
    plain.is_ascii().then(|| plain.trim().as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unix(text: &str, order: Order) -> Option<(f64, bool)> {
        let m = Moment::of(text.as_bytes())?;
        m.seconds(order, 1_795_000_000).map(|(s, part)| (s as f64 + part, m.is_zoned()))
    }

    #[test]
    fn dates_and_times_of_tools_and_locales() {
        let t = 1_795_427_767.0;
        for (text, s, zoned) in [
            ("2026-11-23 09:56:07", t, false),
            ("2026-11-23T09:56:07.250", t + 0.25, false),
            ("2026-11-23T09:56:07Z", t, true),
            ("2026-11-23 09:56:07 UTC", t, true),
            ("2026-11-23T09:56:07+0000", t, true),
            ("2026-11-23T10:56:07+01:00", t, true),
            ("2026-11-23T04:26:07-05:30", t, true),
            ("2026-11-23 10:56:07 CET", t, true),
            ("2026-11-23 09:56:07 CST", t, false),
            ("2026-11-23 09:56", t - 7.0, false),
            ("11/23/26 09:56:07", t, false),
            ("23/11/2026 09:56:07", t, false),
            ("23-11-2026 09:56:07", t, false),
            ("11/23/2026 09:56:07 PM", t + 43200.0, false),
            ("11/23/2026 12:56:07 am", t - 9.0 * 3600.0, false),
            ("11/23/2026 10:56:07 AM CET", t, true),
            ("23.11.2026 09:56:07", t, false),
            ("20261123 09:56:07", t, false),
            ("Nov-23 09:56:07", t, false),
            ("23-11 09:56:07", t, false),
            ("23 Nov 2026 09:56:07 UTC", t, true),
            ("23-Nov-2026 09:56:07", t, false),
            ("Nov 23 09:56:07", t, false),
            ("2026年11月23日 09時56分07秒", t, false),
            ("1970-01-01 00:00:00", 0.0, false),
            ("2000-02-29 00:00:00", 951_782_400.0, false),
        ] {
            let order = if text.starts_with("23") { Order::DayFirst } else { Order::MonthFirst };
            assert_eq!(unix(text, order), Some((s, zoned)), "{text}");
        }
        for text in [
            "",
            "2026-11-23",
            "2026-13-01 00:00:00",
            "2026-11-23 9:56",
            "2026-11-2309:56:07",
            "x",
            "13/13/2026 09:56:07",
        ] {
            assert_eq!(unix(text, Order::MonthFirst), None, "{text}");
        }
        assert!(Moment::of(b"09:56:07").unwrap().is_of_day() && Moment::of(b"09:56").is_none());
    }

    #[test]
    fn all_dates_show_which_number_is_the_month() {
        let order = |dates: &[&str]| {
            let mut orders = Orders::default();
            dates.iter().for_each(|d| orders.see(Moment::of(format!("{d} 00:00:00").as_bytes()).unwrap()));
            orders.order()
        };
        assert_eq!(order(&["11/12/26", "12/12/26", "13/12/26"]), Order::DayFirst);
        assert_eq!(order(&["11/12/26", "11/13/26"]), Order::MonthFirst);
        // neither is above 12: the days follow each other
        assert_eq!(order(&["05/11/26", "06/11/26", "07/11/26"]), Order::DayFirst);
        assert_eq!(order(&["11/05/26", "11/06/26"]), Order::MonthFirst);
    }

    #[test]
    fn a_year_that_is_not_said_goes_on() {
        let at = |text: &str, near| Moment::of(text.as_bytes()).unwrap().seconds(Order::MonthFirst, near).unwrap().0;
        let last = at("Dec-31 23:59:59", 0);
        assert_eq!(at("Jan-01 00:00:00", last), last + 1);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[0-9A-Z:/., +-]{0,32}", near in any::<i32>()) {
            if let Some(m) = Moment::of(text.as_bytes()) {
                let _ = (m.seconds(Order::DayFirst, near.into()), m.seconds(Order::MonthFirst, near.into()));
            }
        }
    }
}
