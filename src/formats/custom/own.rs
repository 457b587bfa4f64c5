//! Formats of a program that uses this library: one record a line.

use super::super::format::{Format, Sniff, only};
use super::super::lines::Bad;
use super::super::options::ReadOptions;
use super::super::sealed::Sealed;
use super::super::source::Source;
use super::records::{LineLayout, Reading, read};
use super::row::RecordFields;
use crate::error::Result;
use crate::record::{RowSink, Trace};

/// A format of your own, of which a line is one record. [`OwnFormat`] makes a [`Format`] of it.
///
/// Everything else is as in the formats of this library: compression, lines cut at the end, lines that cannot be read, all
/// threads, the range of times and bytes, warnings with the number of the line.
///
/// ```
#[doc = include_str!("../../../examples/own_format.rs")]
/// ```
pub trait LineFormat: Sync {
    /// Name of the format in reports.
    fn name(&self) -> &'static str;

    /// Whether an input that begins like this, with 64 KiB at most, is of the format. Asked before the formats of this library, if the
    /// format is in [`ReadOptions::own_formats`].
    fn is_mine(&self, head: &[u8]) -> bool;

    /// The record in a line, which has no line end.
    ///
    /// # Errors
    /// The rule that the line breaks. The line is counted and left out; an input without any other is an error.
    fn record<'l>(&self, line: &'l [u8]) -> std::result::Result<RecordFields<'l>, &'static str>;

    /// True for lines without a record: by default blank ones, and those that begin with `#`.
    fn is_remark(&self, line: &[u8]) -> bool {
        super::super::lines::is_remark(line)
    }
}

/// A [`LineFormat`] as a [`Format`], beside those of this library.
#[derive(Debug, Clone, Copy)]
pub struct OwnFormat<L>(pub L);

impl<L: LineFormat> Sealed for OwnFormat<L> {}

impl<L: LineFormat> Format for OwnFormat<L> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn sniff(&self, head: &[u8]) -> Sniff {
        if self.0.is_mine(head) { Sniff::Yes } else { Sniff::No("not like a format of the program") }
    }

    fn read(&self, sources: &[Source], options: &ReadOptions, sink: &dyn RowSink) -> Result<Trace> {
        let source = only(sources, self)?;
        read(|| Ok((Reading::new(source, options, self.name())?, self)), sink)
    }
}

impl<L: LineFormat> LineLayout for OwnFormat<L> {
    fn row<'l>(&'l self, line: &'l [u8]) -> std::result::Result<Option<RecordFields<'l>>, Bad> {
        self.0.record(line).map(Some).map_err(|expected| Bad::new("line", line, expected))
    }

    fn is_remark(&self, line: &[u8]) -> bool {
        self.0.is_remark(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{RecordField, Source, mismatches, read};
    use crate::{ErrorKind, Place};

    /// Lines such as `2.5 100`: seconds and bytes written.
    struct Plain;

    impl LineFormat for Plain {
        fn name(&self) -> &'static str {
            "plain"
        }

        fn is_mine(&self, head: &[u8]) -> bool {
            head.starts_with(b"# plain")
        }

        fn record<'l>(&self, line: &'l [u8]) -> std::result::Result<RecordFields<'l>, &'static str> {
            let at = line.iter().position(|b| *b == b' ').ok_or("seconds and bytes")?;
            let mut record = RecordFields::default();
            record.set(RecordField::Op, &b"write"[..]);
            record.set(RecordField::Start, &line[..at]);
            record.set(RecordField::Size, &line[at + 1..]);
            Ok(record)
        }
    }

    #[test]
    fn an_own_format_is_probed_and_named_as_the_others_are() {
        let text = "# plain\n1 10\n2.5 20\nbroken\n\n3 x\n4 40";
        let source = Source::from_bytes("x", text);
        let options = ReadOptions::default().own_formats(&[&OwnFormat(Plain)]);
        let trace = read(&source, None, &options).unwrap();
        assert_eq!((trace.format, trace.data.len(), trace.layers[0].bytes_written), ("plain", 3, 70));
        assert_eq!((trace.quality.records_read, trace.quality.records_dropped), (5, 2));
        let warning = &trace.warnings[0];
        assert!(warning.code == "unreadable-records" && warning.message.contains("line 4"), "{}", warning.message);
        // named, without options
        let named = read(&source, Some(&OwnFormat(Plain)), &ReadOptions::default()).unwrap();
        assert_eq!((named.data.len(), named.warnings), (3, trace.warnings));
        assert_eq!(read(&source, None, &ReadOptions::default()).unwrap_err().kind(), ErrorKind::Unsupported);
        assert!(mismatches(&source).iter().all(|(name, _)| *name != "plain"));
        // inputs of other formats stay theirs
        let csv = Source::from_bytes("x", "op,size,start\nwrite,1,0\n");
        assert_eq!(read(&csv, None, &options).unwrap().format, "custom");
        let e = read(&Source::from_bytes("x", "# plain\nnothing\n"), None, &options).unwrap_err();
        assert_eq!((e.kind(), e.place()), (ErrorKind::Malformed, Some(Place::Line(2))), "{e}");
    }
}
