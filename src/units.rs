//! Numbers with units for people.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A factor and the SI prefix that brings `x` between 1 and 1000: 2.5e9 gives (1e9, "G").
pub fn si_prefix(x: f64) -> (f64, &'static str) {
    const PREFIXES: [(f64, &str); 10] = [
        (1e18, "E"),
        (1e15, "P"),
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
        (1e-9, "n"),
    ];
    let x = x.abs();
    // A value that would round up to 1000 takes the next prefix.
    PREFIXES.into_iter().find(|(f, _)| x >= f * 0.9995).unwrap_or(if x == 0.0 { (1.0, "") } else { (1e-9, "n") })
}

/// Whether bytes have decimal prefixes. One choice for all text and pictures of a process, made once at its start.
static DECIMAL_BYTES: AtomicBool = AtomicBool::new(false);

/// Writes bytes with decimal prefixes (kB, MB) from now on; without this call they have binary ones (KiB, MiB).
pub fn use_decimal_bytes() {
    DECIMAL_BYTES.store(true, Relaxed);
}

/// A factor and the prefix that brings `x` bytes between 1 and 1024, or between 1 and 1000 with decimal prefixes.
pub fn byte_prefix(x: f64) -> (f64, &'static str) {
    const PREFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    if DECIMAL_BYTES.load(Relaxed) {
        return si_prefix(if x.abs() < 1.0 { 1.0 } else { x });
    }
    let at = (0..PREFIXES.len()).rev().find(|&i| x.abs() >= 1024f64.powi(i as i32) * 0.9995).unwrap_or(0);
    (1024f64.powi(at as i32), PREFIXES[at])
}

/// Three significant digits, without an exponent where that is short.
pub fn digits(x: f64) -> String {
    let a = x.abs();
    if a == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let places = (2 - a.log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{x:.places$}");
    // 9.996 becomes 10.00: one digit too many.
    if text.parse::<f64>().is_ok_and(|y| y.abs().log10().floor() > a.log10().floor()) && places > 0 {
        return format!("{x:.*}", places - 1);
    }
    text
}

/// Seconds in the unit in which times up to `x` seconds are written, and its name: nanoseconds to seconds, hours, days.
pub fn time_unit(x: f64) -> (f64, &'static str) {
    match x.abs() {
        x if x >= 345_600.0 => (86_400.0, "d"),
        x if x >= 10_800.0 => (3600.0, "h"),
        x if x >= 1.0 || x == 0.0 => (1.0, "s"),
        x if x >= 1e-3 => (1e-3, "ms"),
        x if x >= 1e-6 => (1e-6, "µs"),
        _ => (1e-9, "ns"),
    }
}

fn with_unit(x: f64, unit: &str) -> String {
    let (factor, prefix) = si_prefix(x);
    format!("{} {prefix}{unit}", digits(x / factor))
}

fn with_byte_unit(x: f64, unit: &str) -> String {
    let (factor, prefix) = byte_prefix(x);
    let x = x / factor;
    let number = if x.abs() >= 1000.0 { format!("{x:.0}") } else { digits(x) };
    // Sizes are often whole: 64 KiB.
    let short = number.trim_end_matches('0').strip_suffix('.').unwrap_or(&number);
    format!("{short} {prefix}{unit}")
}

/// Bytes: `1.68 GiB`, `64 KiB`.
pub fn bytes(x: f64) -> String {
    with_byte_unit(if x.abs() < 1000.0 { x.round() } else { x }, "B")
}

/// The smallest and the largest of some numbers of bytes: `7.9 to 8 MiB`; one of them if they look alike.
pub fn byte_range(least: f64, most: f64) -> String {
    let (a, b) = (bytes(least), bytes(most));
    match (a.split_once(' '), b.split_once(' ')) {
        _ if a == b => b,
        (Some((number, one)), Some((_, other))) if one == other => format!("{number} to {b}"),
        _ => format!("{a} to {b}"),
    }
}

/// Bytes per second: `35.2 MiB/s`.
pub fn rate(x: f64) -> String {
    with_byte_unit(x, "B/s")
}

/// Frequency: `0.0922 Hz`, `2.50 kHz`.
pub fn hertz(x: f64) -> String {
    if (1e-3..1.0).contains(&x.abs()) { format!("{} Hz", digits(x)) } else { with_unit(x, "Hz") }
}

/// A length of time: milliseconds below a second, minutes and hours beside the seconds from ten minutes on.
pub fn seconds(x: f64) -> String {
    let a = x.abs();
    if a == 0.0 {
        return "0 s".into();
    }
    if a < 1.0 {
        return with_unit(x, "s");
    }
    let base = if a < 1000.0 { format!("{} s", four_digits(x)) } else { format!("{} s", grouped(x.round() as i64)) };
    if a < 600.0 {
        return base;
    }
    let minutes = (a / 60.0).round() as u64;
    let (h, m) = (minutes / 60, minutes % 60);
    match h / 24 {
        0 if h == 0 => format!("{base} ({m} min)"),
        0 => format!("{base} ({h} h {m:02} min)"),
        days => format!("{base} ({days} d {} h)", h % 24),
    }
}

/// The same without minutes and hours.
pub fn short_seconds(x: f64) -> String {
    let text = seconds(x);
    text.split(" (").next().unwrap_or_default().to_owned()
}

fn four_digits(x: f64) -> String {
    let places = (3 - x.abs().log10().floor() as i32).clamp(0, 3) as usize;
    format!("{x:.places$}")
}

/// A point in time on a trace's clock, with as many digits as the span between events deserves.
pub fn clock(t: f64, resolution: f64) -> String {
    let places = (1 - resolution.max(1e-6).log10().floor() as i32).clamp(0, 6) as usize;
    format!("{t:.places$} s")
}

/// A time of day in seconds since midnight: `13:48:16`.
pub fn time_of_day(seconds: f64) -> String {
    let s = seconds.floor().rem_euclid(86_400.0) as u64;
    format!("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
}

/// A time in seconds since 1970: `2026-11-23 13:48:16 UTC`.
pub fn utc(unix_s: f64) -> String {
    // Days since 0000-03-01 of the Gregorian calendar, by eras of 400 years (Hinnant, chrono-compatible date algorithms).
    let days = (unix_s / 86_400.0).floor() as i64 + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (month, day) = (if shifted < 10 { shifted + 3 } else { shifted - 9 }, of_year - (153 * shifted + 2) / 5 + 1);
    let year = year + 400 * era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {} UTC", time_of_day(unix_s))
}

/// A whole number with its thousands apart: `131,072`.
pub fn grouped(x: impl std::fmt::Display) -> String {
    let text = x.to_string();
    let (sign, text) = text.split_at(text.find(|c| c != '-').unwrap_or(0));
    let mut out = String::with_capacity(text.len() + 8);
    out.push_str(sign);
    for (i, c) in text.chars().enumerate() {
        if i > 0 && (text.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1 file`, `2 files`, `3 activities`.
pub fn counted(n: u64, noun: &str) -> String {
    let number = grouped(n);
    match noun.strip_suffix('y') {
        _ if n == 1 => format!("{number} {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None if noun.ends_with("ss") || noun.ends_with("ch") => format!("{number} {noun}es"),
        None => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_these() {
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(bytes(999.0), "999 B");
        assert_eq!(bytes(1023.0), "1023 B");
        assert_eq!(bytes(65536.0), "64 KiB");
        assert_eq!(bytes(1.68e9), "1.56 GiB");
        assert_eq!(bytes(1_048_575.0), "1 MiB");
        assert_eq!(bytes(1010.0 * 1024.0), "1010 KiB");
        assert_eq!(byte_range(8.322e6, 8_388_608.0), "7.94 to 8 MiB");
        assert_eq!(byte_range(8.389e6, 8.391e6), "8 MiB");
        assert_eq!(byte_range(4.0, 2048.0), "4 B to 2 KiB");
        assert_eq!(rate(35.24e6), "33.6 MiB/s");
        assert_eq!(rate(0.5), "0.500 B/s");
        assert_eq!(hertz(0.0922), "0.0922 Hz");
        assert_eq!(hertz(0.000_5), "500 µHz");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(10.842), "10.84 s");
        assert_eq!(seconds(599.96), "600.0 s");
        assert_eq!(seconds(3661.0), "3,661 s (1 h 01 min)");
        assert_eq!(seconds(200_000.0), "200,000 s (2 d 7 h)");
        assert_eq!(clock(12.3456, 0.05), "12.346 s");
        assert_eq!(grouped(-1_234_567), "-1,234,567");
        assert_eq!(counted(1, "rank"), "1 rank");
        assert_eq!(counted(4096, "rank"), "4,096 ranks");
        assert_eq!(counted(2, "activity"), "2 activities");
        assert_eq!((counted(0, "access"), counted(3, "stretch")), ("0 accesses".into(), "3 stretches".into()));
    }

    #[test]
    fn digits_keep_three() {
        for (x, t) in [(9.996, "10.0"), (0.999_96, "1.00"), (123.4, "123"), (1.005e-5, "0.0000101"), (-2.5, "-2.50")] {
            assert_eq!(digits(x), t);
        }
    }

    #[test]
    fn wall_clock() {
        assert_eq!(utc(0.0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_399.5), "2000-02-28 23:59:59 UTC");
        assert_eq!(utc(951_868_800.0), "2000-03-01 00:00:00 UTC");
        assert_eq!(utc(1_795_448_494.49), "2026-11-23 15:41:34 UTC");
        assert_eq!(utc(-1.0), "1969-12-31 23:59:59 UTC");
        assert_eq!(time_of_day(13_696.35), "03:48:16");
    }
}
