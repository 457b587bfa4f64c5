//! The small things that a line is made of: parts of it, blanks, numbers.

pub(in super::super) const NANOS: i64 = 1_000_000_000;
pub(in super::super) const HOUR: i64 = 3600 * NANOS;
pub(in super::super) const DAY: i64 = 24 * HOUR;

/// A part of a line. Offsets fit because lines are bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// No such part; differs from an empty part.
    pub(in super::super) const NONE: Span = Span { start: u32::MAX, end: u32::MAX };

    pub(super) fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// The bytes of the part; empty if there is none.
    pub(in super::super) fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// True if the line has this part.
    pub(in super::super) fn is_some(self) -> bool {
        self != Span::NONE
    }

    /// Offset of the end in the line.
    pub(in super::super) fn end(self) -> usize {
        self.end as usize
    }
}

#[inline]
pub(super) fn skip_blanks(text: &[u8], mut i: usize) -> usize {
    while let Some(b' ' | b'\t') = text.get(i) {
        i += 1;
    }
    i
}

/// The number at `i` and where it ends, if it has 1 to 18 digits.
#[inline]
pub(super) fn digits(text: &[u8], i: usize) -> Option<(u64, usize)> {
    let mut x = 0u64;
    let mut end = i;
    while let Some(d) = text.get(end).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        if end - i == 18 {
            return None;
        }
        x = x * 10 + u64::from(d);
        end += 1;
    }
    (end > i).then_some((x, end))
}

/// A fraction of a second at `i` (`.123456`), in nanoseconds, and where it ends; 0 if there is none.
#[inline]
pub(super) fn fraction(text: &[u8], i: usize) -> Option<(i64, usize)> {
    if text.get(i) != Some(&b'.') {
        return Some((0, i));
    }
    let (x, end) = digits(text, i + 1)?;
    let places = end - i - 1;
    if places > 9 {
        return None;
    }
    const SCALE: [i64; 10] = [NANOS, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];
    Some((x as i64 * SCALE[places], end))
}

/// The number that a text begins with.
pub(in super::super) fn leading_number(text: &[u8]) -> Option<u64> {
    digits(text, 0).map(|(n, _)| n)
}
