//! Numbers with units, and stamps of time, as text: captured text to seconds and bytes.

use std::borrow::Cow;

use super::super::number::{parse_f64, parse_f64_minus, parse_u64, scan_f64, unit_bytes};
use super::super::thresholds::LIMITS;
use crate::formats::dates::{Moment, Order};
use crate::record::is_time;

/// The quantity of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bytes,
    /// Bytes per second.
    Rate,
    Seconds,
}

/// A factor to bytes, bytes per second or seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Unit {
    /// Times this.
    Times(f64),
    /// Divided by ten to this power: exact on decimal text.
    Decimals(usize),
}

impl Unit {
    pub(super) const ONE: Unit = Unit::Times(1.0);

    /// The unit called `name` for a kind of number.
    pub(super) fn named(name: &str, kind: Kind) -> Option<Unit> {
        if kind == Kind::Seconds {
            return Some(match name {
                "s" | "sec" | "secs" | "second" | "seconds" => Unit::ONE,
                "ms" | "msec" => Unit::Decimals(3),
                "us" | "usec" | "µs" | "μs" => Unit::Decimals(6),
                "ns" | "nsec" => Unit::Decimals(9),
                "m" | "min" => Unit::Times(60.0),
                "h" => Unit::Times(3600.0),
                _ => return None,
            });
        }
        // as FTIO's patterns have it: a small b is a byte, and a large K 1024
        let name = name.replace("ib", "iB");
        unit_bytes(
            match name.strip_suffix("/s").or_else(|| name.strip_suffix("ps")).unwrap_or(&name) {
                "b" => "B",
                "K" => "Ki",
                name => name,
            },
            1000.0,
        )
        .map(Unit::Times)
    }

    /// The names, for messages.
    pub(super) fn names(kind: Kind) -> &'static str {
        match kind {
            Kind::Seconds => "s, ms, us, ns, min or h",
            Kind::Bytes => "B, kB, KiB, MB, MiB, GB, GiB, TB, TiB or sector",
            Kind::Rate => "B/s, kB/s, KiB/s, MB/s, MiB/s, GB/s, GiB/s, TB/s or TiB/s",
        }
    }
}

/// A number that may have a unit behind it, which has precedence over `unit`.
fn split(text: &[u8], unit: Unit, kind: Kind) -> Option<(&[u8], Unit)> {
    let text = text.trim_ascii();
    let (_, n) = scan_f64(text)?;
    let (number, behind) = text.split_at(n);
    let behind = std::str::from_utf8(behind).ok()?.trim();
    if behind.is_empty() {
        return Some((number, unit));
    }
    Unit::named(behind, kind).map(|u| (number, u))
}

/// A number in bytes, bytes per second or seconds; not negative for the first two.
pub(super) fn number(text: &[u8], unit: Unit, kind: Kind) -> Option<f64> {
    let (number, unit) = split(text, unit, kind)?;
    let x = parse_f64(number)?;
    let x = match unit {
        Unit::Times(f) => x * f,
        Unit::Decimals(n) => x / 10f64.powi(n as i32),
    };
    (if kind == Kind::Seconds { is_time(x) } else { x.is_finite() && x >= 0.0 }).then_some(x)
}

/// A size as whole bytes in text.
pub(super) fn size(text: &[u8], unit: Unit) -> Option<Cow<'_, [u8]>> {
    let (digits, unit) = split(text, unit, Kind::Bytes)?;
    if unit == Unit::ONE && parse_u64(digits).is_some() {
        return Some(Cow::Borrowed(digits));
    }
    if let (Some(n), Unit::Times(f)) = (parse_u64(digits), unit)
        && let Some(bytes) = n.checked_mul(f as u64)
    {
        return Some(Cow::Owned(bytes.to_string().into_bytes()));
    }
    whole(number(text, unit, Kind::Bytes)?).map(Cow::Owned)
}

/// Whole bytes as text; `None` if there are more than any file has.
pub(super) fn whole(bytes: f64) -> Option<Vec<u8>> {
    (0.0..2f64.powi(63)).contains(&bytes).then(|| (bytes.round() as u64).to_string().into_bytes())
}

/// A point in time as text in seconds, and whether it is a time of day: a number, or a date with a time.
pub(super) fn time(text: &[u8], unit: Unit) -> Option<(Cow<'_, [u8]>, bool)> {
    let text = text.trim_ascii();
    let Some((digits, unit)) = split(text, unit, Kind::Seconds) else {
        return stamp(text).map(|(seconds, of_day)| (Cow::Owned(seconds), of_day));
    };
    if unit == Unit::ONE {
        return Some((Cow::Borrowed(digits), false));
    }
    let exact = match unit {
        Unit::Decimals(places) => shifted(digits, places),
        Unit::Times(_) => None,
    };
    let seconds = exact.or_else(|| Some(number(text, unit, Kind::Seconds)?.to_string().into_bytes()));
    seconds.map(|s| (Cow::Owned(s), false))
}

/// Seconds since 1970 of a date and a time of day, also with `_` between them, UTC if there is no zone; or since midnight of a time of day:
/// then the second is true. One line does not show which number of `03/04/2026` is the month, nor the year of a date that has none.
fn stamp(text: &[u8]) -> Option<(Vec<u8>, bool)> {
    let moment = match memchr::memchr(b'_', text) {
        Some(at) => Moment::of_two(&text[..at], &text[at + 1..]),
        None => Moment::of(text),
    };
    let moment = moment.filter(|m| m.is_by_itself())?;
    let (whole, part) = moment.seconds(Order::default(), 0).filter(|s| s.0 >= 0)?;
    let decimals = if part > 0.0 { part.to_string() } else { String::new() };
    Some((format!("{whole}{}", decimals.trim_start_matches('0')).into_bytes(), moment.is_of_day()))
}

/// A decimal number with its point moved to the left: exact, unlike a division.
fn shifted(digits: &[u8], places: usize) -> Option<Vec<u8>> {
    let (sign, digits) = match digits {
        [b'-', rest @ ..] => (&b"-"[..], rest),
        [b'+', rest @ ..] => (&b""[..], rest),
        rest => (&b""[..], rest),
    };
    let point = digits.iter().position(|&b| b == b'.').unwrap_or(digits.len());
    let (whole, fraction) = (&digits[..point], digits.get(point + 1..).unwrap_or_default());
    if !whole.iter().chain(fraction).all(u8::is_ascii_digit) {
        return None;
    }
    let zeros = vec![b'0'; (places + 1).saturating_sub(whole.len())];
    let padded = [&zeros, whole].concat();
    let (seconds, below) = padded.split_at(padded.len() - places);
    Some([sign, seconds, b".", below, fraction].concat())
}

/// The time `start`, a decimal number, plus `seconds`, to the picosecond, so that sums of decimals are decimals; to the nanosecond where
/// `start` is far from zero.
pub(super) fn later(start: &[u8], seconds: f64) -> Option<Vec<u8>> {
    let x = parse_f64(start)?;
    let sum = x + seconds;
    if !sum.is_finite() {
        return None;
    }
    if x.abs() < LIMITS.foreign_clock_s || sum.abs() > 2f64.powi(53) {
        const PICO: f64 = 1e12;
        let exact = (sum * PICO).abs() < 2f64.powi(53);
        return Some(if exact { (sum * PICO).round() / PICO } else { sum }.to_string().into_bytes());
    }
    let origin = x.floor() as i64;
    let rest = parse_f64_minus(start, origin)? + seconds;
    let (whole, ns) = (rest.floor(), ((rest - rest.floor()) * 1e9).round() as i64);
    let total = origin.checked_add(whole as i64)?.checked_add(ns / 1_000_000_000)?;
    if total < 0 {
        return Some(sum.to_string().into_bytes());
    }
    Some(format!("{total}.{:09}", ns % 1_000_000_000).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(x: Option<Cow<'_, [u8]>>) -> Option<String> {
        x.map(|x| String::from_utf8(x.into_owned()).unwrap())
    }

    #[test]
    fn sizes_with_units() {
        let kib = Unit::named("KiB", Kind::Bytes).unwrap();
        for (given, unit, bytes) in [
            ("4096", Unit::ONE, Some("4096")),
            ("4", kib, Some("4096")),
            ("1.5", kib, Some("1536")),
            ("2 MB", kib, Some("2000000")),
            ("2MiB", Unit::ONE, Some("2097152")),
            ("18446744073709551615", Unit::ONE, Some("18446744073709551615")),
            ("-1", Unit::ONE, None),
            ("3 parsecs", Unit::ONE, None),
            ("18446744073709551615", kib, None),
            ("", Unit::ONE, None),
        ] {
            assert_eq!(text(size(given.as_bytes(), unit)).as_deref(), bytes, "{given}");
        }
        assert_eq!(number(b"1.5 GiB/s", Unit::ONE, Kind::Rate), Some(1.5 * 1024f64.powi(3)));
    }

    #[test]
    fn times_keep_their_digits() {
        let ns = Unit::named("ns", Kind::Seconds).unwrap();
        let seconds = |t: &str, u| time(t.as_bytes(), u).map(|(s, _)| String::from_utf8(s.into_owned()).unwrap());
        assert_eq!(seconds("1795427946139000001", ns).as_deref(), Some("1795427946.139000001"));
        assert_eq!(seconds("5", ns).as_deref(), Some("0.000000005"));
        assert_eq!(seconds("12.5 ms", Unit::ONE).as_deref(), Some("0.0125"));
        assert_eq!(seconds("2 min", Unit::ONE).as_deref(), Some("120"));
        assert_eq!(seconds("yesterday", Unit::ONE), None);
        let after = later(b"1795427946.139000001", 0.25).unwrap();
        assert_eq!(String::from_utf8(after).unwrap(), "1795427946.389000001");
        assert_eq!(later(b"1.5", 0.25).unwrap(), b"1.75");
        assert_eq!(later(b"1795427946.9", 0.1).unwrap(), b"1795427947.000000000");
    }

    proptest! {
        #[test]
        fn a_shift_is_a_division(x in any::<u32>(), places in 0usize..9, fraction in 0u32..1000) {
            let given = format!("{x}.{fraction:03}");
            let moved = parse_f64(&shifted(given.as_bytes(), places).unwrap()).unwrap();
            let divided: f64 = given.parse::<f64>().unwrap() / 10f64.powi(places as i32);
            prop_assert!((moved - divided).abs() <= 1e-12 * divided.abs());
        }

        #[test]
        fn never_panics(b in prop::collection::vec(any::<u8>(), 0..30), seconds in any::<f64>()) {
            let _ = (time(&b, Unit::Decimals(6)), size(&b, Unit::Times(512.0)), later(&b, seconds));
        }
    }

    #[test]
    fn dates_and_times_of_day() {
        for (text, expected, of_day) in [
            ("1970-01-01 00:00:00", "0", false),
            ("2026-11-24T21:30:00.123456789Z", "1795555800.123456789", false),
            ("2026/11/24 22:30:00,5+01:00", "1795555800.5", false),
            ("20261124_20:30:00 -0100", "1795555800", false),
            ("24 Nov 2026 21:30:00", "1795555800", false),
            ("2024-02-29 23:59:60", "1709251200", false),
            ("21:30:00.25", "77400.25", true),
        ] {
            let (seconds, day) = stamp(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((String::from_utf8(seconds).unwrap().as_str(), day), (expected, of_day), "{text}");
        }
        for text in ["", "2026-13-01 00:00:00", "1:2:3", "2026-11-24", "12:34", "03/04/2026 21:30:00", "äöü:öä"] {
            assert_eq!(stamp(text.as_bytes()), None, "{text}");
        }
    }
}
