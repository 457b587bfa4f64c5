//! Decimal numbers in text, fast and exact.

/// The `f64` nearest to the decimal number `text` (sign, digits, point, exponent), or `None` if it is none.
///
/// Numbers of up to 19 digits with a small exponent take the exact short way of Clinger (1990): an integer below 2⁵³ times or
/// divided by a power of ten up to 10²² is rounded once. All others go through the standard library.
#[inline]
pub fn parse_f64(text: &[u8]) -> Option<f64> {
    short_way(text).or_else(|| std::str::from_utf8(text).ok()?.parse().ok().filter(|x: &f64| x.is_finite()))
}

#[inline]
fn short_way(text: &[u8]) -> Option<f64> {
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ];
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 20 {
        return None;
    }
    let mut mantissa = 0u64;
    let mut places = 0usize;
    let mut seen = 0usize;
    let mut point = false;
    for &b in digits {
        let d = b.wrapping_sub(b'0');
        if d < 10 {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(d));
            seen += 1;
            places += usize::from(point);
        } else if b == b'.' && !point {
            point = true;
        } else {
            return None;
        }
    }
    // Up to 19 digits cannot have wrapped.
    if seen == 0 || seen > 19 || mantissa > 1 << 53 || places > 22 {
        return None;
    }
    let x = mantissa as f64 / POWERS[places];
    Some(if negative { -x } else { x })
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
            let _ = (parse_f64(&b), parse_u64(&b));
        }
    }

    #[test]
    fn what_is_no_number() {
        for t in ["", "-", ".", "1.2.3", "abc", "1e", "nan", "inf", "1e999", "--1"] {
            assert_eq!(parse_f64(t.as_bytes()), None, "{t}");
        }
        for t in ["", "-1", "1.0", "18446744073709551616"] {
            assert_eq!(parse_u64(t.as_bytes()), None, "{t}");
        }
    }
}
