//! Decimal numbers in text, fast and exact.

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Above this an integer is no longer exact in an `f64`.
const EXACT: u64 = 1 << 53;

/// The `f64` nearest to the decimal number `text` (sign, digits, point, exponent), or `None` if it is none or not finite.
///
/// Numbers of up to 19 digits with a small exponent take the exact short way of Clinger (1990): an integer below 2⁵³ times or
/// divided by a power of ten up to 10²² is rounded once. All others go through the standard library.
#[inline]
pub fn parse_f64(text: &[u8]) -> Option<f64> {
    match scan_f64(text) {
        Some((x, n)) if n == text.len() => Some(x),
        _ => None,
    }
}

/// The decimal number that `text` begins with, and its length in bytes; `None` if there is none or it is not finite.
#[inline]
pub fn scan_f64(text: &[u8]) -> Option<(f64, usize)> {
    let d = Digits::scan(text)?;
    if d.seen > 19 || d.mantissa > EXACT || d.places > 22 || matches!(text.get(d.len), Some(b'e' | b'E')) {
        return long_way(text);
    }
    let x = d.mantissa as f64 / POWERS[d.places];
    Some((if d.negative { -x } else { x }, d.len))
}

/// Sign, digits and point at the start of a text.
struct Digits {
    negative: bool,
    /// All digits as one integer; wrong if more than 19 were seen.
    mantissa: u64,
    /// Digits, leading zeros included.
    seen: usize,
    /// Digits after the point.
    places: usize,
    /// Bytes, sign and point included.
    len: usize,
}

impl Digits {
    #[inline]
    fn scan(text: &[u8]) -> Option<Digits> {
        let negative = text.first() == Some(&b'-');
        let sign = usize::from(negative || text.first() == Some(&b'+'));
        let (mut mantissa, whole) = digits(text, sign, 0);
        let mut len = sign + whole;
        let mut places = 0;
        if text.get(len) == Some(&b'.') {
            (mantissa, places) = digits(text, len + 1, mantissa);
            len += 1 + places;
        }
        let seen = whole + places;
        (seen > 0).then_some(Digits { negative, mantissa, seen, places, len })
    }
}

/// Continues `mantissa` with the digits of `text` from `from`; also how many there are. Eight at a time: the byte-wise
/// product sums of Lemire (2021), "Number parsing at a gigabyte per second".
#[inline]
fn digits(text: &[u8], from: usize, mut mantissa: u64) -> (u64, usize) {
    const POWER: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    let mut at = from;
    while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let x = u64::from_le_bytes(*eight) ^ 0x3030_3030_3030_3030;
        let other = (x.wrapping_add(0x7676_7676_7676_7676) | x) & 0x8080_8080_8080_8080;
        let n = (other.trailing_zeros() / 8) as usize;
        if n == 0 {
            return (mantissa, at - from);
        }
        // Leading zeros take the place of the bytes that are no digits.
        let x = x << (64 - 8 * n);
        let x = x.wrapping_mul(10).wrapping_add(x >> 8) & 0x00ff_00ff_00ff_00ff;
        let x = x.wrapping_mul(100).wrapping_add(x >> 16) & 0x0000_ffff_0000_ffff;
        let x = x.wrapping_mul(10_000).wrapping_add(x >> 32) & 0xffff_ffff;
        mantissa = mantissa.wrapping_mul(POWER[n]).wrapping_add(x);
        at += n;
        if n < 8 {
            return (mantissa, at - from);
        }
    }
    while let Some(d) = text.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(d));
        at += 1;
    }
    (mantissa, at - from)
}

#[cold]
fn long_way(text: &[u8]) -> Option<(f64, usize)> {
    let is_part = |b: &u8| matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
    let len = text.iter().position(|b| !is_part(b)).unwrap_or(text.len());
    let x: f64 = std::str::from_utf8(&text[..len]).ok()?.parse().ok()?;
    x.is_finite().then_some((x, len))
}

/// The `f64` nearest to the decimal number `text` minus `origin`: exact where `text` itself, an epoch stamp with nanoseconds,
/// would not fit. `None` if `text` is no number or not finite.
#[inline]
pub fn parse_f64_minus(text: &[u8], origin: i64) -> Option<f64> {
    if origin == 0 {
        return parse_f64(text);
    }
    let short = || {
        let d = Digits::scan(text).filter(|d| d.len == text.len() && d.seen <= 19 && d.places <= 18)?;
        let mantissa = i64::try_from(d.mantissa).ok()?;
        let scaled = origin.checked_mul(10i64.pow(d.places as u32))?;
        let difference = (if d.negative { -mantissa } else { mantissa }).checked_sub(scaled)?;
        (difference.unsigned_abs() <= EXACT).then(|| difference as f64 / POWERS[d.places])
    };
    short().or_else(|| Some(parse_f64(text)? - origin as f64))
}

/// The decimal number `text` times `scale`, without what is beyond the point: exact for up to 19 digits. `None` if `text` is no
/// number, or the product does not fit.
#[inline]
pub fn parse_scaled(text: &[u8], scale: u64) -> Option<i64> {
    if let Some(whole) = parse_u64(text) {
        return i64::try_from(whole.checked_mul(scale)?).ok();
    }
    let short = Digits::scan(text).filter(|d| d.len == text.len() && d.seen <= 19 && d.places <= 18);
    if let Some(d) = short {
        let product = i128::from(d.mantissa) * i128::from(scale) / 10i128.pow(d.places as u32);
        return i64::try_from(if d.negative { -product } else { product }).ok();
    }
    let product = parse_f64(text)? * scale as f64;
    (product.abs() < 9e18).then_some(product as i64)
}

/// The unsigned decimal integer `text`, or `None` if it is none or does not fit.
#[inline]
pub fn parse_u64(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    let mut x = 0u64;
    for &b in text {
        let d = b.wrapping_sub(b'0');
        if d > 9 {
            return None;
        }
        x = x.checked_mul(10)?.checked_add(u64::from(d))?;
    }
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_the_standard_library(x in any::<f64>().prop_filter("finite", |x| x.is_finite()), p in 0usize..12) {
            for text in [format!("{x}"), format!("{x:e}"), format!("{:.p$}", x % 1e12)] {
                prop_assert_eq!(parse_f64(text.as_bytes()), text.parse().ok(), "{}", text);
            }
        }

        #[test]
        fn integers(x in any::<u64>()) {
            prop_assert_eq!(parse_u64(x.to_string().as_bytes()), Some(x));
        }

        #[test]
        fn never_panics(b in prop::collection::vec(any::<u8>(), 0..30)) {
            let _ = (parse_f64(&b), parse_u64(&b), scan_f64(&b), parse_f64_minus(&b, i64::MIN), parse_scaled(&b, u64::MAX));
        }

        #[test]
        fn the_number_ends_where_its_digits_end(x in any::<u32>(), p in 0usize..9, tail in "[ ,\\]\n][0-9]{0,12}") {
            let number = format!("{:.p$}", f64::from(x) / 1e4);
            let text = format!("{number}{tail}");
            prop_assert_eq!(scan_f64(text.as_bytes()), Some((number.parse().unwrap(), number.len())));
        }

        #[test]
        fn epoch_stamps_keep_their_nanoseconds(s in 1_000_000_000i64..4_000_000_000, after in 0i64..1_000_000, ns in 0u32..1_000_000_000) {
            let text = format!("{}.{ns:09}", s + after);
            let exact = format!("{after}.{ns:09}").parse().unwrap();
            prop_assert_eq!(parse_f64_minus(text.as_bytes(), s), Some(exact));
        }
    }

    #[test]
    fn microseconds_with_a_fraction_are_exact() {
        for (text, ns) in [
            ("1700000000123456.789", 1_700_000_000_123_456_789),
            ("-1.5", -1500),
            ("0.0004", 0),
            ("12", 12_000),
            ("1.69e15", 1_690_000_000_000_000_000),
            ("00012.000000000000000000", 12_000),
        ] {
            assert_eq!(parse_scaled(text.as_bytes(), 1000), Some(ns), "{text}");
        }
        for text in ["", "x", "1e300", "18446744073709551615", "1.2.3"] {
            assert_eq!(parse_scaled(text.as_bytes(), 1000), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_number() {
        for t in ["", "-", ".", "1.2.3", "abc", "1e", "nan", "inf", "1e999", "--1"] {
            assert_eq!(parse_f64(t.as_bytes()), None, "{t}");
        }
        assert_eq!(scan_f64(b"-12.5e1,3"), Some((-125.0, 7)));
        assert_eq!(parse_f64_minus(b"1.5e3", 1000), Some(500.0));
        for t in ["", "-1", "1.0", "18446744073709551616"] {
            assert_eq!(parse_u64(t.as_bytes()), None, "{t}");
        }
    }
}
