//! Values of any size, one after the other, through a bounded window. Arrays of numbers, the bulk of a trace, are parsed in parallel and never
//! held as text.

use memchr::{memchr, memchr_iter, memchr2, memchr3, memrchr};
use rayon::prelude::*;

use super::plain;
use crate::error::{Error, Place, Result};
use crate::formats::number::{parse_f64, scan_f64};
use crate::formats::window::Window;

/// Bytes of numbers that one task parses.
const PIECE: usize = 128 << 10;
/// Longest name of a member; longer ones are truncated. Names of metrics hold labels.
const NAME_BYTES: usize = 4096;
/// Longest number.
const NUMBER_BYTES: usize = 1024;

/// A position in a stream of JSON values.
pub(crate) struct Json<'a> {
    window: Window<'a>,
    depth: usize,
    max_depth: usize,
}

impl<'a> Json<'a> {
    /// Starts at the beginning of `window`, after a byte order mark if there is one.
    pub(crate) fn new(mut window: Window<'a>, max_depth: usize) -> Self {
        if window.data().starts_with(b"\xef\xbb\xbf") {
            window.consume(3);
        }
        Json { window, depth: 0, max_depth }
    }

    /// Offset of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.window.offset()
    }

    /// The input from the next byte on, for a part that is not read as JSON values.
    pub(crate) fn window(&mut self) -> &mut Window<'a> {
        &mut self.window
    }

    /// Why the input ended early, if a decompressor says so.
    pub(crate) fn damage(&self) -> Option<&str> {
        self.window.damage()
    }

    fn error(&self, found: impl Into<String>) -> Error {
        Error::malformed(Place::Byte(self.offset()), found)
    }

    fn unexpected(&self, byte: Option<u8>, expected: &str) -> Error {
        self.error(describe(byte)).expected(expected)
    }

    /// The next byte that is no white space, not consumed; `None` at the end of the input.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            let data = self.window.data();
            match data.iter().position(|b| !b.is_ascii_whitespace()) {
                Some(n) => {
                    let byte = data[n];
                    self.window.consume(n);
                    return Ok(Some(byte));
                }
                None => {
                    self.window.consume(usize::MAX);
                    if !self.window.more()? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    fn take(&mut self, byte: u8, expected: &str) -> Result<()> {
        match self.peek()? {
            Some(b) if b == byte => {
                self.window.consume(1);
                Ok(())
            }
            other => Err(self.unexpected(other, expected)),
        }
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > self.max_depth {
            return Err(
                Error::limit("JSON nested deeper", format!("{} levels", self.max_depth)).at(Place::Byte(self.offset()))
            );
        }
        Ok(())
    }

    /// Calls `each` for every member of an object with its name; it has to read the value.
    pub(crate) fn members(&mut self, mut each: impl FnMut(&mut Self, &[u8]) -> Result<()>) -> Result<()> {
        self.take(b'{', "`{`")?;
        self.deeper()?;
        let (mut first, mut name) = (true, Vec::new());
        while self.another(&mut first, b'}', "`,` or `}`")? {
            if self.peek()? != Some(b'"') {
                let byte = self.peek()?;
                return Err(self.unexpected(byte, "the name of a member"));
            }
            self.string(&mut name)?;
            self.take(b':', "`:`")?;
            each(self, &name)?;
        }
        Ok(())
    }

    /// Calls `each` for every element of an array; it has to read it.
    pub(crate) fn elements(&mut self, mut each: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.take(b'[', "`[`")?;
        self.deeper()?;
        let mut first = true;
        while self.another(&mut first, b']', "`,` or `]`")? {
            each(self)?;
        }
        Ok(())
    }

    /// Moves to the next value of an object or array; false after the last, its end consumed. Passes over commas, of which tools write too
    /// many. In an object, digits behind a comma are decimals of the value before.
    fn another(&mut self, first: &mut bool, end: u8, expected: &str) -> Result<bool> {
        let mut separated = std::mem::take(first);
        loop {
            match self.peek()? {
                Some(b',') => {
                    self.window.consume(1);
                    separated = true;
                    while end == b'}' && self.byte(0)?.is_some_and(|b| b.is_ascii_digit()) {
                        self.window.consume(1);
                    }
                }
                Some(b) if b == end => {
                    self.window.consume(1);
                    self.depth -= 1;
                    return Ok(false);
                }
                Some(_) if separated => return Ok(true),
                other => return Err(self.unexpected(other, expected)),
            }
        }
    }

    /// The byte so many behind the next one.
    fn byte(&mut self, n: usize) -> Result<Option<u8>> {
        while self.window.data().len() <= n && self.window.more()? {}
        Ok(self.window.data().get(n).copied())
    }

    /// Reads a string into `text`, cut after [`NAME_BYTES`]; escapes are kept as they are.
    fn string(&mut self, text: &mut Vec<u8>) -> Result<()> {
        let start = self.offset();
        text.clear();
        self.take(b'"', "`\"`")?;
        loop {
            let data = self.window.data();
            let (n, closed, enough) = match memchr3(b'"', b'\\', b'\n', data) {
                Some(n) if data[n] == b'"' => (n, true, true),
                // No string holds a bare line break: its end was cut off, what follows is whole again.
                Some(n) if data[n] == b'\n' => {
                    self.window.consume(n);
                    return Err(self.unexpected(Some(b'\n'), "the end of a string"));
                }
                Some(n) if n + 1 < data.len() => (n + 2, false, true),
                // A backslash at the end waits for the byte that it escapes.
                Some(n) => (n, false, false),
                None => (data.len(), false, false),
            };
            text.extend_from_slice(&data[..n.min(NAME_BYTES.saturating_sub(text.len()))]);
            self.window.consume(n + usize::from(closed));
            if closed {
                return Ok(());
            }
            if !enough && !self.window.more()? {
                return Err(self.error(format!("the string begun at byte {start} does not end")).expected("`\"`"));
            }
        }
    }

    /// The text that comes next, cut after [`NAME_BYTES`]; `None` and nothing read if another value comes.
    pub(crate) fn text(&mut self) -> Result<Option<String>> {
        if self.peek()? != Some(b'"') {
            return Ok(None);
        }
        let mut text = Vec::new();
        self.string(&mut text)?;
        Ok(Some(plain(&text).into_owned()))
    }

    /// The number that comes next, or that the text is which comes next; NaN if another value comes.
    pub(crate) fn amount(&mut self) -> Result<f64> {
        match self.text()? {
            Some(text) => Ok(parse_f64(text.as_bytes()).unwrap_or(f64::NAN)),
            None => Ok(self.number()?.unwrap_or(f64::NAN)),
        }
    }

    /// The same of a member, which may have a comma before its decimals.
    pub(crate) fn member_amount(&mut self) -> Result<f64> {
        let mut x = self.amount()?;
        if self.byte(0)? != Some(b',') {
            return Ok(x);
        }
        let (sign, mut n, mut place) = (if x.is_sign_negative() { -1.0 } else { 1.0 }, 1, 0.1);
        while let Some(digit) = self.byte(n)?.filter(u8::is_ascii_digit) {
            x += sign * place * f64::from(digit - b'0');
            (n, place) = (n + 1, place * 0.1);
        }
        self.window.consume(if n > 1 { n } else { 0 });
        Ok(x)
    }

    /// Reads a value; `Some` if it is a number or a word such as `nan`.
    pub(crate) fn number(&mut self) -> Result<Option<f64>> {
        match self.peek()? {
            Some(b'"' | b'{' | b'[' | b't' | b'f') => self.skip().map(|()| None),
            _ => {
                while self.window.data().len() < NUMBER_BYTES && self.window.more()? {}
                match item(self.window.data()) {
                    Some((x, n)) => {
                        self.window.consume(n);
                        Ok(Some(x))
                    }
                    None => {
                        let byte = self.peek()?;
                        Err(self.unexpected(byte, "a value"))
                    }
                }
            }
        }
    }

    /// Reads past a value of any kind. Checks that values are separated, not that numbers are numbers.
    pub(crate) fn skip(&mut self) -> Result<()> {
        let outside = self.depth;
        let mut ignored = Vec::new();
        let mut separated = true;
        loop {
            let inside = self.depth > outside;
            match self.peek()? {
                Some(b'{' | b'[') if separated => {
                    self.window.consume(1);
                    self.deeper()?;
                    separated = self.skip_numbers()?;
                    continue;
                }
                Some(b',' | b':') if inside => {
                    self.window.consume(1);
                    separated = true;
                    continue;
                }
                Some(b'}' | b']') if inside => {
                    self.window.consume(1);
                    self.depth -= 1;
                }
                Some(b'"') if separated => self.string(&mut ignored)?,
                Some(b't' | b'f') if separated => self.word()?,
                Some(b'+' | b'-' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') if separated => {
                    self.number()?;
                }
                other => {
                    return Err(self.unexpected(other, if separated { "a value" } else { "`,` or the end of a value" }));
                }
            }
            separated = false;
            if self.depth == outside {
                return Ok(());
            }
        }
    }

    /// `true` or `false`.
    fn word(&mut self) -> Result<()> {
        while self.window.data().len() < 5 && self.window.more()? {}
        for word in [&b"true"[..], b"false"] {
            if self.window.data().starts_with(word) {
                self.window.consume(word.len());
                return Ok(());
            }
        }
        let byte = self.peek()?;
        Err(self.unexpected(byte, "`true` or `false`"))
    }

    /// Inside an array or object: jumps over numbers, commas and words to the next bracket, brace or string. True if a value may
    /// begin there: what was jumped over is nothing or ends with a separator.
    fn skip_numbers(&mut self) -> Result<bool> {
        let mut separated = true;
        loop {
            let data = self.window.data();
            let stop = memchr3(b']', b'[', b'"', data);
            let stop = memchr2(b'{', b'}', &data[..stop.unwrap_or(data.len())]).or(stop);
            if let Some(last) = data[..stop.unwrap_or(data.len())].trim_ascii_end().last() {
                separated = matches!(last, b',' | b':');
            }
            self.window.consume(stop.unwrap_or(usize::MAX));
            if stop.is_some() {
                return Ok(separated);
            }
            if !self.window.more()? {
                return Err(self.error("the input ends inside a value"));
            }
        }
    }

    /// True if an array comes next that is empty or begins with a number.
    pub(crate) fn at_numbers(&mut self) -> Result<bool> {
        let numbers = |b| matches!(b, b']' | b'+' | b'-' | b'.' | b'0'..=b'9' | b'n' | b'N' | b'i' | b'I');
        Ok(self.in_array()?.is_some_and(|b| b.is_none_or(numbers)))
    }

    /// True if an array comes next that begins with an array.
    pub(crate) fn at_arrays(&mut self) -> Result<bool> {
        Ok(self.in_array()? == Some(Some(b'[')))
    }

    /// If an array comes next, the first byte in it, `None` where the input ends; nothing is consumed.
    fn in_array(&mut self) -> Result<Option<Option<u8>>> {
        if self.peek()? != Some(b'[') {
            return Ok(None);
        }
        loop {
            let data = self.window.data();
            if let Some(&b) = data.get(1..).unwrap_or_default().trim_ascii_start().first() {
                return Ok(Some(Some(b)));
            }
            if data.len() > NUMBER_BYTES || !self.window.more()? {
                return Ok(Some(None));
            }
        }
    }

    /// Appends the array of arrays of two numbers that comes next, `null` and `nan` as NaN. After an error those before it are there.
    ///
    /// # Errors
    /// Malformed; above `max` pairs [`ErrorKind::Limit`](crate::ErrorKind::Limit).
    pub(crate) fn pairs(&mut self, first: &mut Vec<f64>, second: &mut Vec<f64>, max: usize) -> Result<()> {
        self.elements(|json| {
            json.take(b'[', "`[` before a pair of numbers")?;
            let a = json.number()?.unwrap_or(f64::NAN);
            json.take(b',', "`,` and the second number of a pair")?;
            let b = json.number()?.unwrap_or(f64::NAN);
            json.take(b']', "`]` after a pair of numbers")?;
            if first.len() >= max {
                return Err(Error::too_many_rows(max).at(Place::Byte(json.offset())));
            }
            first.push(a);
            second.push(b);
            Ok(())
        })
    }

    /// Appends the array of numbers that comes next to `out`, `null` and `nan` as NaN. After an error `out` holds the numbers
    /// before it.
    ///
    /// # Errors
    /// Malformed; above `max` numbers [`ErrorKind::Limit`](crate::ErrorKind::Limit).
    pub(crate) fn numbers(&mut self, out: &mut Vec<f64>, max: usize) -> Result<()> {
        const EXPECTED: &str = "a number, `,` or `]`";
        self.take(b'[', "`[`")?;
        loop {
            match self.peek()? {
                Some(b']') => {
                    self.window.consume(1);
                    return Ok(());
                }
                Some(_) => {}
                None => return Err(self.unexpected(None, EXPECTED)),
            }
            let data = self.window.data();
            // The items up to the end of the array or the last comma in sight.
            let n = memchr(b']', data).unwrap_or_else(|| memrchr(b',', data).map_or(0, |n| n + 1));
            if n == 0 {
                let what_is_wrong = match item(data) {
                    Some((_, n)) => data.get(n).copied(),
                    None => data.first().copied(),
                };
                if data.len() > NUMBER_BYTES || !self.window.more()? {
                    return Err(self.unexpected(what_is_wrong, EXPECTED));
                }
                continue;
            }
            let at = self.offset();
            let done = self.window.consume_with(n, |data| items(data, out))?;
            if let Err((n, byte)) = done {
                return Err(Error::malformed(Place::Byte(at + n as u64), describe(byte)).expected(EXPECTED));
            }
            if out.len() > max {
                return Err(Error::limit(
                    format!("an array of {} numbers or more", out.len()),
                    format!("{max} records"),
                )
                .at(Place::Byte(at)));
            }
        }
    }

    /// After an error: moves to the next place where `starts` says that a value may begin (it is given the bytes from a `{` on),
    /// as if everything before had been read; false if there is none.
    pub(crate) fn resume(&mut self, starts: impl Fn(&[u8]) -> bool) -> Result<bool> {
        const LOOK: usize = 128;
        self.depth = 0;
        loop {
            let data = self.window.data();
            match memchr(b'{', data) {
                Some(n) if data.len() - n < LOOK && !self.window.at_end() => {
                    self.window.consume(n);
                    self.window.more()?;
                }
                Some(n) => {
                    if starts(&data[n..]) {
                        self.window.consume(n);
                        return Ok(true);
                    }
                    self.window.consume(n + 1);
                }
                None => {
                    self.window.consume(usize::MAX);
                    if !self.window.more()? {
                        return Ok(false);
                    }
                }
            }
        }
    }
}

/// How an unexpected byte is called in a message.
fn describe(byte: Option<u8>) -> String {
    match byte {
        Some(b'\n') => "the end of the line".into(),
        Some(b) if b.is_ascii_graphic() => format!("`{}`", char::from(b)),
        Some(b) => format!("byte {b:#04x}"),
        None => "the input ends".into(),
    }
}

/// The number or word that `text` begins with, and its length.
#[inline]
fn item(text: &[u8]) -> Option<(f64, usize)> {
    scan_f64(text).or_else(|| word(text))
}

/// The words that stand for numbers; NaN for `null`.
#[cold]
fn word(text: &[u8]) -> Option<(f64, usize)> {
    const WORDS: [(&[u8], f64); 4] =
        [(b"nan", f64::NAN), (b"null", f64::NAN), (b"infinity", f64::INFINITY), (b"inf", f64::INFINITY)];
    let (sign, skip) = match text.first()? {
        b'-' => (-1.0, 1),
        b'+' => (1.0, 1),
        _ => (1.0, 0),
    };
    let text = &text[skip..];
    if let Some((w, x)) = WORDS.iter().find(|(w, _)| text.get(..w.len()).is_some_and(|t| t.eq_ignore_ascii_case(w))) {
        return Some((sign * x, skip + w.len()));
    }
    // A decimal number out of range.
    let n =
        text.iter().position(|b| !matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')).unwrap_or(text.len());
    let x: f64 = std::str::from_utf8(&text[..n]).ok()?.parse().ok()?;
    Some((sign * x, skip + n))
}

/// Appends the numbers of a comma-separated list, in parallel if it is long. An error is a place in `list` and the byte there;
/// the numbers before it are kept.
fn items(list: &[u8], out: &mut Vec<f64>) -> Result<(), (usize, Option<u8>)> {
    struct Piece<'l> {
        text: &'l [u8],
        /// Of the text in the list, of the first number in `out`.
        place: usize,
        index: usize,
        count: usize,
    }
    let mut pieces = Vec::new();
    let (mut place, mut index) = (0, out.len());
    while place < list.len() {
        let to =
            list.get(place + PIECE..).and_then(|rest| memchr(b',', rest)).map_or(list.len(), |n| place + PIECE + n + 1);
        let text = &list[place..to];
        // Nothing but white space may follow the last comma.
        let ends = text.trim_ascii_end().ends_with(b",");
        let count = memchr_iter(b',', text).count() + usize::from(!ends);
        pieces.push(Piece { text, place, index, count });
        (place, index) = (to, index + count);
    }
    let first = out.len();
    out.resize(index, 0.0);
    let mut slots = &mut out[first..];
    let mut tasks = Vec::with_capacity(pieces.len());
    for p in pieces {
        let (mine, others) = slots.split_at_mut(p.count);
        slots = others;
        tasks.push((p, mine));
    }
    let parse = |(p, slots): (Piece, &mut [f64])| {
        parse_items(p.text, slots).map_err(|(done, n)| (p.index + done, p.place + n, p.text.get(n).copied()))
    };
    let results: Vec<_> = match tasks.len() {
        0 | 1 => tasks.into_iter().map(parse).collect(),
        _ => tasks.into_par_iter().map(parse).collect(),
    };
    match results.into_iter().find_map(Result::err) {
        None => Ok(()),
        Some((keep, place, byte)) => {
            out.truncate(keep);
            Err((place, byte))
        }
    }
}

/// Fills `slots` with the numbers of a list. An error is how many were read and the place of what is none.
fn parse_items(text: &[u8], slots: &mut [f64]) -> Result<(), (usize, usize)> {
    let space = |mut at: usize| {
        while text.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        at
    };
    let mut at = 0;
    for (i, slot) in slots.iter_mut().enumerate() {
        at = space(at);
        let (x, n) = item(&text[at..]).ok_or((i, at))?;
        *slot = x;
        at = space(at + n);
        match text.get(at) {
            Some(b',') => at += 1,
            None => {}
            Some(_) => return Err((i + 1, at)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::formats::{ReadOptions, Source};

    fn with<R>(text: &str, run: impl FnOnce(&mut Json) -> R) -> R {
        let source = Source::from_bytes("x", text.as_bytes());
        run(&mut Json::new(Window::open(&source, &ReadOptions::default()).unwrap(), 8))
    }

    fn numbers(text: &str) -> (Vec<f64>, Result<()>) {
        let mut out = Vec::new();
        let result = with(text, |j| j.numbers(&mut out, 1 << 20));
        (out, result)
    }

    #[test]
    fn arrays_of_numbers() {
        let (x, r) = numbers(" [1, -2.5e3 ,\n\t3.25,4 ] ");
        assert_eq!((x, r), (vec![1.0, -2500.0, 3.25, 4.0], Ok(())));
        for empty in ["[]", "[ \n]"] {
            assert_eq!(numbers(empty), (vec![], Ok(())));
        }
        let (x, _) = numbers("[NaN,nan,-nan,null,inf,-Infinity,1e999]");
        assert!(x[..4].iter().all(|x| x.is_nan()));
        assert_eq!(x[4..], [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY]);
    }

    #[test]
    fn arrays_of_pairs() {
        let pairs = |text: &str, max: usize| {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            let result = with(text, |j| j.pairs(&mut a, &mut b, max));
            (a, b, result)
        };
        assert_eq!(pairs(" [ [1,2.5] , [3, 4]]", 9), (vec![1.0, 3.0], vec![2.5, 4.0], Ok(())));
        assert_eq!(pairs("[]", 9), (vec![], vec![], Ok(())));
        let (a, b, r) = pairs("[[1,null],[2,NaN],[3,\"x\"]]", 9);
        assert!(a == [1.0, 2.0, 3.0] && b.iter().all(|x| x.is_nan()) && r.is_ok());
        for cut in ["[[1,2],[3", "[[1,2],[3,4", "[[1,2],", "[[1,2],[3,4,5]]", "[[1,2],7]"] {
            let (a, b, r) = pairs(cut, 9);
            assert!(a == [1.0] && b == [2.0] && r.is_err(), "{cut}");
        }
        assert_eq!(pairs("[[1,2],[3,4]]", 1).2.unwrap_err().kind(), ErrorKind::Limit);
    }

    #[test]
    fn an_error_keeps_the_numbers_before_it_and_names_its_place() {
        for (text, kept, place) in [
            ("[1,2,x,4]", 2, 5),
            ("[1,,2]", 1, 3),
            ("[1 2]", 1, 3),
            ("[1,2,3", 2, 5),
            ("[1,2,", 2, 5),
            ("[\"a\"]", 0, 1),
            ("[1,[2]]", 1, 3),
        ] {
            let (x, r) = numbers(text);
            let e = r.unwrap_err();
            assert_eq!((x.len(), e.place()), (kept, Some(Place::Byte(place))), "{text}: {e}");
        }
    }

    #[test]
    fn long_arrays_are_read_in_pieces() {
        let n = 200_000;
        let mut text = String::from("[");
        for i in 0..n {
            text += &format!("{}{}", if i == 0 { "" } else { ", " }, i as f64 / 8.0);
        }
        let (x, r) = numbers(&format!("{text}]"));
        assert_eq!((x.len(), r), (n, Ok(())));
        assert!(x.iter().enumerate().all(|(i, &x)| x == i as f64 / 8.0));
        let mut out = Vec::new();
        let e = with(&format!("{text}]"), |j| j.numbers(&mut out, 1000)).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Limit);
        // Damage in the middle: everything before it is kept.
        let cut = text.find(" 20000,").unwrap();
        let (x, r) = numbers(&format!("{}?{}]", &text[..cut], &text[cut..]));
        assert_eq!((x.len(), r.is_err()), (160_000, true));
    }

    #[test]
    fn values_are_skipped_whatever_they_are() {
        let value = r#"{"a\\":[1,[2,{"b":"]}\""}],true],"c":{},"d":null,"e":-nan,"f":false,"g":[[],[]]}"#;
        with(&format!("{value} {value}7"), |j| {
            j.skip().unwrap();
            j.skip().unwrap();
            assert_eq!(j.number().unwrap(), Some(7.0));
            assert_eq!(j.peek().unwrap(), None);
        });
        for bad in ["", "{", "[1,2", r#"{"a":"#, r#"{"a":"x"#, "?", "tru", "]"] {
            assert!(with(bad, |j| j.skip()).is_err(), "{bad}");
        }
        let deep = "[".repeat(9);
        assert_eq!(with(&deep, |j| j.skip()).unwrap_err().kind(), ErrorKind::Limit);
    }

    #[test]
    fn members_one_by_one() {
        let names = |text: &str| {
            let mut names = Vec::new();
            let read = with(text, |j| {
                j.members(|j, name| {
                    names.push(String::from_utf8_lossy(name).into_owned());
                    j.skip()
                })
            });
            (names.concat(), read.err().and_then(|e| e.place()))
        };
        assert_eq!(names(r#"{"a" : 1, "b":[2],"c":"text"} "#), ("abc".into(), None));
        // decimal commas, and commas too many
        assert_eq!(names(r#"{"a":1,50,,"b":{},}"#), ("ab".into(), None));
        assert_eq!(names(r#"{"a":1 "b":2}"#), ("a".into(), Some(Place::Byte(7))));
        let amounts = with(r#"{"a":-1,50,"b":"2.5","c":3}"#, |j| {
            let mut all = Vec::new();
            j.members(|j, _| j.member_amount().map(|x| all.push(x))).map(|()| all)
        });
        assert_eq!(amounts, Ok(vec![-1.5, 2.5, 3.0]));
    }

    #[test]
    fn reading_goes_on_after_damage() {
        with(r#"{"a":[1,2  {"x":1} {"a":[3]}"#, |j| {
            assert_eq!(j.skip().unwrap_err().place(), Some(Place::Byte(11)));
            assert!(j.resume(|t| t.starts_with(b"{\"a")).unwrap());
            j.skip().unwrap();
            assert!(!j.resume(|_| true).unwrap());
        });
    }
}
