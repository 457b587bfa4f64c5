//! Numbers as decimal text that reads back to the same value.

use std::io::Write;

const NANOS: f64 = 1e9;

/// Appends a whole number.
pub(crate) fn whole(out: &mut Vec<u8>, n: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(n).as_bytes());
}

/// `seconds` as whole nanoseconds, if that is what they are: the nearest `f64` of these is `seconds`.
pub(crate) fn nanos(seconds: f64) -> Option<i64> {
    let scaled = seconds * NANOS;
    let ns = scaled.round();
    (ns.abs() <= 2f64.powi(53) && ns / NANOS == seconds).then_some(ns as i64)
}

/// Appends seconds since `origin` on the clock of the origin, in the fewest digits that read back to the same `f64`.
/// There is a decimal point or an exponent in every such number.
pub(crate) fn seconds(out: &mut Vec<u8>, seconds: f64, origin: i64) {
    if let Some(ns) = nanos(seconds) {
        return fixed(out, i128::from(origin) * 1_000_000_000 + i128::from(ns), 9);
    }
    let text = format!("{seconds}");
    if origin == 0 {
        // The longest of all `f64` has 1075 digits; nobody wants to read those.
        let _ = if text.len() > 24 { write!(out, "{seconds:e}") } else { write!(out, "{seconds:?}") };
        return;
    }
    let (whole, places) = text.split_once('.').unwrap_or((&text, ""));
    // 18 decimals fit beside an epoch stamp; no clock is finer.
    let places = &places[..places.len().min(18)];
    let digits: i128 = format!("{whole}{places}").parse().unwrap_or(0);
    let scale = 10i128.pow(places.len() as u32);
    fixed(out, i128::from(origin).saturating_mul(scale).saturating_add(digits), places.len());
}

/// Appends `n` / 10^`places` without trailing zeros but one behind the point.
fn fixed(out: &mut Vec<u8>, n: i128, places: usize) {
    if n < 0 {
        out.push(b'-');
    }
    let scale = 10u128.pow(places as u32);
    let n = n.unsigned_abs();
    match u64::try_from(n) {
        Ok(n) => whole(out, n / scale as u64),
        Err(_) => whole(out, n / scale),
    }
    out.push(b'.');
    let mut rest = (n % scale) as u64;
    if rest == 0 {
        return out.push(b'0');
    }
    let mut width = places;
    while rest.is_multiple_of(10) {
        rest /= 10;
        width -= 1;
    }
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(rest);
    out.extend(std::iter::repeat_n(b'0', width - digits.len()));
    out.extend_from_slice(digits.as_bytes());
}

/// Appends nanoseconds as seconds with nine decimals.
pub(crate) fn nine_places(out: &mut Vec<u8>, ns: u64) {
    whole(out, ns / 1_000_000_000);
    out.push(b'.');
    padded(out, ns % 1_000_000_000, 9);
}

/// Appends a number with leading zeros.
pub(crate) fn padded(out: &mut Vec<u8>, n: u64, width: usize) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(n);
    out.extend(std::iter::repeat_n(b'0', width.saturating_sub(digits.len())));
    out.extend_from_slice(digits.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::number::{parse_f64, parse_f64_minus};
    use super::*;
    use proptest::prelude::*;

    fn text(s: f64, origin: i64) -> Vec<u8> {
        let mut out = Vec::new();
        seconds(&mut out, s, origin);
        out
    }

    proptest! {
        #[test]
        fn any_number_reads_back(s in any::<f64>().prop_filter("finite", |x| x.is_finite())) {
            let t = text(s, 0);
            prop_assert_eq!(parse_f64(&t), Some(s), "{}", String::from_utf8_lossy(&t));
            prop_assert!(t.iter().any(|b| matches!(b, b'.' | b'e')) && t.len() <= 26);
        }

        #[test]
        fn epoch_stamps_read_back(ns in -4_000_000_000_000_000i64..4_000_000_000_000_000, origin in 1_000_000_000i64..4_000_000_000) {
            let s = ns as f64 / 1e9;
            let t = text(s, origin);
            prop_assert_eq!(parse_f64_minus(&t, origin), Some(s), "{}", String::from_utf8_lossy(&t));
        }
    }

    #[test]
    fn plain_numbers_are_plain() {
        for (s, origin, want) in [
            (0.0, 0, "0.0"),
            (12.5, 0, "12.5"),
            (-0.25, 0, "-0.25"),
            (0.1, 0, "0.1"),
            (1e-9, 0, "0.000000001"),
            (0.25, 1_700_000_000, "1700000000.25"),
            (-0.25, 1_700_000_000, "1699999999.75"),
            (1.0 / 3.0, 0, "0.3333333333333333"),
            (1.0 / 3.0, 100, "100.3333333333333333"),
            (1e300, 0, "1e300"),
        ] {
            assert_eq!(String::from_utf8(text(s, origin)).unwrap(), want);
        }
    }
}
