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

/// A number as people, locales and dashboards write it, and the bytes of the unit behind it: `1,234.5`, `1.234,5`, `0,25`, `50.00 MB/s`,
/// `3.2k`. A comma alone stands before decimals if `decimal_comma`, else it parts thousands. Prefixes are decimal, with `i` binary, and
/// count `kilo` where no unit follows them; a small `b` is a bit. `None` if it is no number, or its unit is none of bytes.
#[cold]
pub(crate) fn parse_quantity(text: &[u8], decimal_comma: bool, kilo: f64) -> Option<(f64, Option<f64>)> {
    const LONGEST: usize = 64;
    let text = std::str::from_utf8(text).ok().filter(|t| t.len() <= LONGEST)?.trim();
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let (number, unit) = (&text[..end], text[end..].trim());
    let factor = if unit.is_empty() { None } else { Some(unit_bytes(unit, kilo)?) };
    let plain = without_marks(number, decimal_comma)?;
    parse_f64(plain.as_bytes()).map(|x| (x, factor))
}

/// A number without the marks between its thousands, and with a point before its decimals.
fn without_marks(number: &str, decimal_comma: bool) -> Option<String> {
    let is_blank = |c: char| matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\'');
    let marks: Vec<(usize, char)> =
        number.char_indices().filter(|(_, c)| matches!(c, '.' | ',') || is_blank(*c)).collect();
    let count = |mark: char| marks.iter().filter(|(_, c)| *c == mark).count();
    let Some(&(at, last)) = marks.last() else { return Some(number.to_owned()) };
    let decimal = match (last, count(last)) {
        (',', 1) => decimal_comma || count('.') > 0 || number.len() - at != 4,
        ('.', n) => n == 1,
        _ => false,
    };
    // what parts thousands has three digits behind it
    let groups = marks.iter().take(marks.len() - usize::from(decimal));
    let ends = marks.iter().skip(1).map(|(n, _)| *n).chain([number.len()]);
    let whole = groups
        .zip(ends)
        .all(|((n, c), end)| end - n - c.len_utf8() == 3 && number[..*n].ends_with(|c: char| c.is_ascii_digit()));
    let keep = |(i, c): (usize, char)| match c {
        _ if i == at && decimal => Some('.'),
        '.' | ',' => None,
        c => (!is_blank(c)).then_some(c),
    };
    whole.then(|| number.char_indices().filter_map(keep).collect())
}

/// The bytes of a unit of bytes, or of bytes a second.
pub(crate) fn unit_bytes(unit: &str, kilo: f64) -> Option<f64> {
    let per_second = ["/s", "/sec", "ps"].iter().find_map(|end| unit.strip_suffix(end));
    let unit = per_second.unwrap_or(unit).trim();
    if matches!(unit, "sector" | "sectors") {
        return Some(512.0);
    }
    let (power, rest) = match unit.char_indices().next()? {
        (_, c) if "kKMGTP".contains(c) => ("kMGTP".find(if c == 'K' { 'k' } else { c })? as i32 + 1, &unit[1..]),
        _ => (0, unit),
    };
    let (binary, name) = match rest.strip_prefix('i') {
        Some(name) if power > 0 => (true, name),
        _ => (false, rest),
    };
    let one = match name {
        "" if power > 0 => 1.0,
        "B" | "Byte" | "Bytes" | "byte" | "bytes" => 1.0,
        "b" | "bit" | "bits" => 1.0 / 8.0,
        _ => return None,
    };
    let base = if binary {
        1024.0
    } else if name.is_empty() {
        kilo
    } else {
        1000.0
    };
    Some(one * f64::powi(base, power))
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
    fn numbers_of_people_locales_and_dashboards() {
        for (text, comma, x) in [
            ("1,234", false, Some((1234.0, None))),
            ("1,234,567.5", false, Some((1_234_567.5, None))),
            ("1.234.567,5", false, Some((1_234_567.5, None))),
            ("1,234", true, Some((1.234, None))),
            ("0,25", false, Some((0.25, None))),
            ("-0,5", true, Some((-0.5, None))),
            ("1 234 567", false, Some((1_234_567.0, None))),
            ("1\u{202f}234,5", true, Some((1234.5, None))),
            ("0 B/s", false, Some((0.0, Some(1.0)))),
            ("50.00 MB/s", false, Some((50.0, Some(1e6)))),
            ("1.5KiB", false, Some((1.5, Some(1024.0)))),
            ("3.2k", false, Some((3.2, Some(1024.0)))),
            ("3.2M", false, Some((3.2, Some(1_048_576.0)))),
            ("8 Mb/s", false, Some((8.0, Some(125_000.0)))),
            ("7 sectors", false, Some((7.0, Some(512.0)))),
            ("2 GBps", false, Some((2.0, Some(1e9)))),
            ("12,34,5", false, None),
            ("1..5", false, None),
            ("5 ms", false, None),
            ("4.5%", false, None),
            ("5 iops", false, None),
            ("i5", false, None),
            ("B/s", false, None),
            ("", true, None),
        ] {
            assert_eq!(parse_quantity(text.as_bytes(), comma, 1024.0), x, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_quantity_is_survived(text in "[0-9.,' kKMiBb/se\u{a0}-]{0,20}", comma in any::<bool>()) {
            let _ = parse_quantity(text.as_bytes(), comma, 1000.0);
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
