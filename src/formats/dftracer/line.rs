//! A line of DFTracer: one JSON object, whose member `args` is an object, too. Values may be numbers or the same in quotes.

use crate::formats::scan::Scan;

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
        let mut scan = Scan::new(text);
        scan.members(|scan, key| {
            if key == b"args" && scan.peek() == Some(b'{') {
                let args = &mut line.args;
                return scan.members(|scan, key| {
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
        match scan.rest().trim_ascii() {
            b"" | b"," | b"]" => Ok(line),
            _ => Err(scan.at()),
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
            ("{\"a", 3),
            ("{\"a\":{\"b\":1}", 12),
        ] {
            assert_eq!(Line::parse(text.as_bytes()).err(), Some(at), "{text}");
        }
    }
}
