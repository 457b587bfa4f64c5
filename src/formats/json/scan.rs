//! A text in memory, of objects with few members: values are taken as they are written.

use memchr::memchr2;

/// A position in a text. The error of every method is the place of what is no JSON: the length of the text if it ends too early.
pub(crate) struct Scan<'l> {
    text: &'l [u8],
    at: usize,
}

impl<'l> Scan<'l> {
    /// At the start of a text.
    pub(crate) fn new(text: &'l [u8]) -> Self {
        Scan { text, at: 0 }
    }

    /// Where it is.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The bytes that follow.
    pub(crate) fn rest(&self) -> &'l [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next byte that is no blank.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while let Some(&b) = self.text.get(self.at) {
            if !matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(b);
            }
            self.at += 1;
        }
        None
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Result<(), usize> {
        if self.peek() != Some(byte) {
            return Err(self.at);
        }
        self.at += 1;
        Ok(())
    }

    /// Calls `each` with the key of every member of an object; it reads the value.
    #[inline]
    pub(crate) fn members(
        &mut self,
        mut each: impl FnMut(&mut Scan<'l>, &'l [u8]) -> Result<(), usize>,
    ) -> Result<(), usize> {
        self.take(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = self.string()?;
            self.take(b':')?;
            each(self, key)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.at),
            }
        }
    }

    /// A string, without quotes; escapes are kept as they are.
    #[inline]
    fn string(&mut self) -> Result<&'l [u8], usize> {
        self.take(b'"')?;
        let begin = self.at;
        loop {
            match self.text[self.at.min(self.text.len())..].first_chunk() {
                Some(eight) => match quote_in(u64::from_le_bytes(*eight)) {
                    8 => {
                        self.at += 8;
                        continue;
                    }
                    n => self.at += n,
                },
                None => match memchr2(b'"', b'\\', self.rest()) {
                    Some(n) => self.at += n,
                    None => return Err(self.text.len()),
                },
            }
            if self.text[self.at] == b'"' {
                self.at += 1;
                return Ok(&self.text[begin..self.at - 1]);
            }
            self.at += 2;
        }
    }

    /// A value as it is written; strings without quotes.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<&'l [u8], usize> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{' | b'[') => self.nested(),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => {
                let rest = &self.text[self.at..];
                let n = rest.iter().position(|b| matches!(b, b',' | b'}' | b']')).ok_or(self.text.len())?;
                self.at += n;
                Ok(rest[..n].trim_ascii_end())
            }
            _ => Err(self.at),
        }
    }

    /// An object or array as a whole. Brackets need only balance: whoever uses something in it parses it.
    fn nested(&mut self) -> Result<&'l [u8], usize> {
        let begin = self.at;
        let mut depth = 0usize;
        loop {
            match self.text.get(self.at) {
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Ok(&self.text[begin..self.at]);
                    }
                }
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(_) => {}
                None => return Err(self.text.len()),
            }
            self.at += 1;
        }
    }
}

/// Place of the first quote or backslash in eight bytes; 8 if there is none.
#[inline]
fn quote_in(eight: u64) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let zero = |x: u64| x.wrapping_sub(ONES) & !x & HIGH;
    // The lowest byte found is right: a borrow only reaches bytes above it.
    let found = zero(eight ^ (ONES * u64::from(b'"'))) | zero(eight ^ (ONES * u64::from(b'\\')));
    (found.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_quote_is_found(bytes in prop::array::uniform8(prop::sample::select(&b"\"\\ !#\x22\xa2[]\x80\x00\xff"[..]))) {
            let first = bytes.iter().position(|b| matches!(b, b'"' | b'\\')).unwrap_or(8);
            prop_assert_eq!(quote_in(u64::from_le_bytes(bytes)), first);
        }

        #[test]
        fn any_text_is_survived(text in "[\\[{\"a\\\\:1,}\\] ]{0,40}") {
            let mut scan = Scan::new(text.as_bytes());
            if let Err(at) = scan.value() {
                prop_assert!(at <= text.len());
            }
        }
    }

    #[test]
    fn a_text_that_ends_too_early_is_told_from_a_wrong_one() {
        let whole = br#"{"a":[1,{"b":"x\"y"}],"c":-1.5,"d":{}}"#;
        assert_eq!(Scan::new(whole).value(), Ok(&whole[..]));
        for n in 0..whole.len() {
            assert_eq!(Scan::new(&whole[..n]).value(), Err(n));
            assert_eq!(Scan::new(&whole[..n]).members(|s, _| s.value().map(drop)), Err(n));
        }
        assert_eq!(Scan::new(b"{\"a\":}").members(|s, _| s.value().map(drop)), Err(5));
    }
}
