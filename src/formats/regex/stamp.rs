//! Dates and times of day in text.

/// Seconds as decimal text, of a date with a time (`2026-11-24T21:30:00.25+01:00`, also with `/` in the date, a blank or no zone:
/// then UTC), since 1970; or of a time of day (`21:30:00.25`), since midnight: then the second is true. All digits are kept.
pub(super) fn seconds(text: &[u8]) -> Option<(Vec<u8>, bool)> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let Some(at) = text.find(['T', ' ', '_']) else {
        let (seconds, fraction, rest) = clock(text)?;
        return rest.is_empty().then(|| (with_fraction(seconds, fraction), true));
    };
    let days = days(&text[..at])?;
    let (seconds, fraction, zone) = clock(&text[at + 1..])?;
    let total = days.checked_mul(86_400)?.checked_add(seconds)?.checked_sub(zone_s(zone.trim())?)?;
    (total >= 0).then(|| (with_fraction(total, fraction), false))
}

fn with_fraction(seconds: i64, fraction: &str) -> Vec<u8> {
    if fraction.is_empty() { seconds.to_string() } else { format!("{seconds}.{fraction}") }.into_bytes()
}

/// Seconds, digits behind the point, and what follows, of `HH:MM:SS.f`.
fn clock(text: &str) -> Option<(i64, &str, &str)> {
    let part = |from: usize, most: i64| {
        let x: i64 = text.get(from..from + 2).filter(|t| t.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()?;
        (x <= most).then_some(x)
    };
    let (h, m, s) = (part(0, 23)?, part(3, 59)?, part(6, 60)?);
    if (text.as_bytes().get(2), text.as_bytes().get(5)) != (Some(&b':'), Some(&b':')) {
        return None;
    }
    let seconds = 3600 * h + 60 * m + s;
    let rest = text.get(8..)?;
    let Some(behind) = rest.strip_prefix(['.', ',']) else { return Some((seconds, "", rest)) };
    let n = behind.bytes().take_while(u8::is_ascii_digit).count();
    (n > 0).then(|| (seconds, &behind[..n], &behind[n..]))
}

/// Days since 1970 of `YYYY-MM-DD`, `YYYY/MM/DD` or `YYYYMMDD`.
fn days(text: &str) -> Option<i64> {
    let digits: String = text.chars().filter(|c| !matches!(c, '-' | '/')).collect();
    let separators = text.len() - digits.len();
    if digits.len() != 8 || !(separators == 0 || separators == 2) || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (y, m, d): (i64, i64, i64) = (digits[..4].parse().ok()?, digits[4..6].parse().ok()?, digits[6..].parse().ok()?);
    if !(1..=12).contains(&m) || !(1..=31).contains(&d) {
        return None;
    }
    // Days from the civil calendar: years begin in March, so that the leap day is their last.
    let (y, m) = if m > 2 { (y, m - 3) } else { (y - 1, m + 9) };
    let era = y.div_euclid(400);
    let year = y - era * 400;
    let day = (153 * m + 2) / 5 + d - 1;
    Some(era * 146_097 + year * 365 + year / 4 - year / 100 + day - 719_468)
}

/// Seconds east of Greenwich of `Z`, `UTC`, `+hh:mm`, `+hhmm`; 0 for none.
fn zone_s(text: &str) -> Option<i64> {
    let (sign, digits) = match text {
        "" | "Z" | "z" | "UTC" | "GMT" => return Some(0),
        t if t.starts_with('+') => (1, &t[1..]),
        t if t.starts_with('-') => (-1, &t[1..]),
        _ => return None,
    };
    let digits: String = digits.chars().filter(|&c| c != ':').collect();
    let n: i64 = Some(digits).filter(|d| d.len() == 4 && d.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()?;
    Some(sign * (3600 * (n / 100) + 60 * (n % 100)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_of_day() {
        for (text, expected, of_day) in [
            ("1970-01-01 00:00:00", "0", false),
            ("2026-11-24T21:30:00.123456789Z", "1795555800.123456789", false),
            ("2026/11/24 22:30:00,5+01:00", "1795555800.5", false),
            ("20261124 20:30:00 -0100", "1795555800", false),
            ("2024-02-29 23:59:60", "1709251200", false),
            ("21:30:00.25", "77400.25", true),
        ] {
            let (seconds, day) = seconds(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((String::from_utf8(seconds).unwrap().as_str(), day), (expected, of_day), "{text}");
        }
        for text in ["", "24:00:00", "2026-13-01 00:00:00", "1:2:3", "2026-11-24", "12:34", "21:30:00 CET", "äöü:öä"]
        {
            assert_eq!(seconds(text.as_bytes()), None, "{text}");
        }
    }
}
