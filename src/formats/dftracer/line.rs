//! A line of DFTracer: one JSON object, whose member `args` is an object, too. Values may be numbers or the same in quotes.

use memchr::{memchr2, memchr3};

/// The members of a line that are of use, as they are written, without quotes; empty if missing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Line<'l> {
    pub name: &'l [u8],
    pub category: &'l [u8],
    pub phase: &'l [u8],
    pub pid: &'l [u8],
    pub tid: &'l [u8],
    pub ts: &'l [u8],
    pub dur: &'l [u8],
    pub args: Args<'l>,
}

/// Members of `args`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Args<'l> {
    pub name: &'l [u8],
    pub value: &'l [u8],
    pub ret: &'l [u8],
    pub count: &'l [u8],
    pub size: &'l [u8],
    pub offset: &'l [u8],
    pub file_hash: &'l [u8],
    pub file_name: &'l [u8],
    pub host: &'l [u8],
    /// Calls of an aggregated record.
    pub calls: &'l [u8],
    pub bytes_read: &'l [u8],
    pub bytes_written: &'l [u8],
    /// Settings of the tracer, an object.
    pub settings: &'l [u8],
}

impl<'l> Line<'l> {
    /// Parses a line; an error is the place of what is no JSON.
    pub(super) fn parse(text: &'l [u8]) -> Result<Line<'l>, usize> {
        let mut line = Line::default();
        let mut scan = Scan { text, at: 0 };
        scan.members(&mut |scan, key| {
            if key == b"args" && scan.peek() == Some(b'{') {
                let args = &mut line.args;
                return scan.members(&mut |scan, key| {
                    let value = scan.value()?;
                    args.set(key, value);
                    Ok(())
                });
            }
            let value = scan.value()?;
            match key {
                b"name" => line.name = value,
                b"cat" => line.category = value,
                b"ph" => line.phase = value,
                b"pid" => line.pid = value,
                b"tid" => line.tid = value,
                b"ts" => line.ts = value,
                b"dur" => line.dur = value,
                _ => {}
            }
            Ok(())
        })?;
        match text[scan.at..].trim_ascii() {
            b"" | b"," | b"]" => Ok(line),
            _ => Err(scan.at),
        }
    }
}

impl<'l> Args<'l> {
    fn set(&mut self, key: &[u8], value: &'l [u8]) {
        match key {
            b"name" => self.name = value,
            b"value" => self.value = value,
            b"ret" | b"ret_sum" => self.ret = value,
            b"count" | b"count_sum" | b"nmemb" => self.count = value,
            b"size" | b"size_max" => self.size = value,
            b"offset" => self.offset = value,
            b"fhash" => self.file_hash = value,
            b"fname" => self.file_name = value,
            b"hhash" | b"hostname" => self.host = value,
            b"dft_cnt" => self.calls = value,
            b"bytes_read" => self.bytes_read = value,
            b"bytes_written" => self.bytes_written = value,
            b"cfg" => self.settings = value,
            _ => {}
        }
    }
}

/// Takes the key of a member and reads its value.
type Member<'f, 'l> = &'f mut dyn FnMut(&mut Scan<'l>, &'l [u8]) -> Result<(), usize>;

/// A position in a line.
struct Scan<'l> {
    text: &'l [u8],
    at: usize,
}

impl<'l> Scan<'l> {
    /// The next byte that is no blank.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        while let Some(&b) = self.text.get(self.at) {
            if !b.is_ascii_whitespace() {
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

    /// Calls `each` with the key of every member; it reads the value.
    fn members(&mut self, each: Member<'_, 'l>) -> Result<(), usize> {
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
            let rest = self.text.get(self.at..).unwrap_or_default();
            match memchr2(b'"', b'\\', rest) {
                Some(n) if rest[n] == b'"' => {
                    self.at += n + 1;
                    return Ok(&self.text[begin..self.at - 1]);
                }
                Some(n) => self.at += n + 2,
                None => return Err(begin),
            }
        }
    }

    /// A value as it is written; strings without quotes.
    #[inline]
    fn value(&mut self) -> Result<&'l [u8], usize> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{' | b'[') => self.nested(),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => {
                let rest = &self.text[self.at..];
                let n = memchr3(b',', b'}', b']', rest).ok_or(self.text.len())?;
                self.at += n;
                Ok(rest[..n].trim_ascii_end())
            }
            _ => Err(self.at),
        }
    }

    /// An object or array as a whole. Braces need only balance: nothing in it is used but single numbers.
    fn nested(&mut self) -> Result<&'l [u8], usize> {
        let begin = self.at;
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') => {
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        return Ok(&self.text[begin..self.at]);
                    }
                }
                Some(b'"') => {
                    self.string()?;
                }
                Some(_) => self.at += 1,
                None => return Err(begin),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_quoted_and_keys_in_any_order() {
        let line = Line::parse(br#" {"args":{"ret":"4096","fd":28,"x":{"a":["}"]}},"name":"write","ts": 12 ,"ph":1},"#)
            .unwrap();
        assert_eq!(
            (line.args.ret, line.name, line.ts, line.phase),
            (&b"4096"[..], &b"write"[..], &b"12"[..], &b"1"[..])
        );
        assert!(Line::parse(b"{}").is_ok() && Line::parse(br#"{"args":{}}"#).is_ok());
    }

    #[test]
    fn what_is_no_object_is_refused_at_its_place() {
        for (text, at) in [
            ("", 0),
            ("[", 0),
            ("{\"a\":}", 5),
            ("{\"a\":1", 6),
            ("{\"a\":1}x", 7),
            ("{\"a", 2),
            ("{\"a\":{\"b\":1}", 12),
        ] {
            assert_eq!(Line::parse(text.as_bytes()).err(), Some(at), "{text}");
        }
    }
}
