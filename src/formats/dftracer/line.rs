//! A line of DFTracer: an event, whose arguments are read with it.

use crate::formats::event::{self, Event};
use crate::formats::json::Scan;

/// The event of a line.
pub(super) type Line<'l> = Event<'l, Args<'l>>;

/// Parses a line; an error is the place of what is no JSON.
#[inline]
pub(super) fn parse(text: &[u8]) -> Result<Line<'_>, usize> {
    let (line, n) = Line::parse(text)?;
    match text[n..].trim_ascii() {
        b"" | b"," | b"]" => Ok(line),
        _ => Err(n),
    }
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

impl<'l> event::Args<'l> for Args<'l> {
    #[inline]
    fn read(&mut self, scan: &mut Scan<'l>) -> Result<(), usize> {
        if scan.peek() != Some(b'{') {
            return scan.value().map(drop);
        }
        scan.members(|scan, key| {
            self.set(key, scan.value()?);
            Ok(())
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_quoted_and_keys_in_any_order() {
        let line =
            parse(br#" {"args":{"ret":"4096","fd":28,"x":{"a":["}"]}},"name":"write","ts": 12 ,"ph":1},"#).unwrap();
        assert_eq!(
            (line.args.ret, line.name, line.ts, line.phase),
            (&b"4096"[..], &b"write"[..], &b"12"[..], &b"1"[..])
        );
        assert!(parse(b"{}").is_ok() && parse(br#"{"args":{}}"#).is_ok());
    }

    #[test]
    fn what_is_no_object_is_refused_at_its_place() {
        for (text, at) in [
            ("", 0),
            ("[", 0),
            ("{\"a\":}", 5),
            ("{\"a\":1", 6),
            ("{\"a\":1}x", 7),
            ("{\"a", 3),
            ("{\"a\":{\"b\":1}", 12),
        ] {
            assert_eq!(parse(text.as_bytes()).err(), Some(at), "{text}");
        }
    }
}
