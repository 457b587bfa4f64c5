//! The lines of a file on their way to a decoder.

use memchr::memchr;
use rayon::prelude::*;

use super::super::options::ReadOptions;
use super::super::source::Source;
use super::super::window::Window;
use super::{Bad, InOrder, LineDecoder, Stretch, Taken, lines, quote};
use crate::error::{Error, Place, Result};
use crate::record::Warning;

/// Bytes of lines that one task decodes.
const PIECE: usize = 256 << 10;
/// Bytes of lines that one task takes apart ahead of those that are followed, and tasks at once: what is taken apart is larger than the text.
const PIECE_AHEAD: usize = 128 << 10;
const AHEAD: usize = 4;
/// Bytes read at once by a thread that has a file to itself.
const OWN_BLOCK: usize = 512 << 10;

/// Counts of the lines of a text.
#[derive(Debug, Default)]
pub(in super::super) struct Tally {
    /// Lines, and those of them that should be records.
    pub(in super::super) lines: u64,
    pub(in super::super) records: u64,
    pub(in super::super) bad: u64,
    /// The first line that cannot be read, by its number from 1.
    pub(in super::super) first_bad: Option<(u64, Bad)>,
    last_is_bad: bool,
    /// Lines that hold no record and need not, and the first of them.
    pub(in super::super) passed: u64,
    pub(in super::super) first_passed: Option<(u64, String)>,
    /// The last line has no end.
    unterminated: bool,
    /// Bytes that could be read.
    pub(in super::super) bytes: u64,
    /// Why the input ended early: the message of a decompressor on a damaged stream.
    pub(in super::super) damage: Option<String>,
}

impl Tally {
    /// Of an input that ended early, if that says why.
    pub(in super::super) fn of_damage(damage: Option<String>) -> Tally {
        Tally { damage, ..Tally::default() }
    }

    #[inline]
    fn take<D: LineDecoder>(&mut self, decoder: &D, line: &[u8], longest: usize, rows: &mut D::Rows) {
        let read = |number, rows: &mut D::Rows| match line.len() <= longest {
            true => decoder.line(line, number, rows),
            false => decoder.long_line(&line[..longest], number, rows),
        };
        self.take_by(decoder, line, rows, read);
    }

    /// Takes a line as `read` does, if it is no remark.
    #[inline]
    fn take_by<D: LineDecoder>(
        &mut self,
        decoder: &D,
        line: &[u8],
        rows: &mut D::Rows,
        read: impl FnOnce(u64, &mut D::Rows) -> Result<Taken, Bad>,
    ) {
        self.lines += 1;
        self.last_is_bad = false;
        if !decoder.is_remark(line) {
            self.note(read(self.lines, rows), line);
        }
    }

    #[inline]
    fn note(&mut self, taken: Result<Taken, Bad>, line: &[u8]) {
        match taken {
            Ok(Taken::Record) => self.records += 1,
            Ok(Taken::Nothing) => {
                self.passed += 1;
                let number = self.lines;
                self.first_passed.get_or_insert_with(|| (number, quote(line)));
            }
            Err(bad) => {
                self.records += 1;
                self.bad += 1;
                self.last_is_bad = true;
                self.first_bad.get_or_insert((self.lines, bad));
            }
        }
    }

    /// Adds what was seen of the lines that follow.
    fn append(&mut self, later: Tally) {
        let before = self.lines;
        self.first_bad = self.first_bad.take().or(later.first_bad.map(|(line, bad)| (before + line, bad)));
        self.first_passed = self.first_passed.take().or(later.first_passed.map(|(line, text)| (before + line, text)));
        self.last_is_bad = if later.lines > 0 { later.last_is_bad } else { self.last_is_bad };
        self.lines += later.lines;
        self.records += later.records;
        self.bad += later.bad;
        self.passed += later.passed;
    }

    /// True if the last line cannot be read, and has no end.
    pub(in super::super) fn the_end_is_cut(&self) -> bool {
        self.last_is_bad && self.unterminated
    }

    /// True if no other line cannot be read.
    pub(in super::super) fn only_the_end_is_cut(&self) -> bool {
        self.bad == 1 && self.the_end_is_cut()
    }

    /// Warnings: damage, a cut last line, lines that are none of `noun` (`records`, `events`). `file` names the file if it is
    /// one of several.
    pub(in super::super) fn warnings(&self, noun: &str, file: Option<&str>) -> Vec<Warning> {
        let name = file.map(|f| format!("{f}: ")).unwrap_or_default();
        let damage = self.damage.as_ref().map(|why| format!("{name}{why}; the records before it were kept"));
        let mut all: Vec<_> = damage.map(|message| Warning::new("damaged-tail", message)).into_iter().collect();
        if let Some((line, bad)) = &self.first_bad {
            let (n, records) = (self.bad, self.records);
            all.push(if self.only_the_end_is_cut() {
                Warning::new("damaged-tail", format!("{name}line {line}, the last, is cut: {bad}"))
            } else {
                let left_out = format!("{n} of {records} lines are no {noun} and were left out");
                Warning::new("unreadable-records", format!("{name}{left_out}, the first line {line}: {bad}"))
                    .remedy("correct these lines")
            });
        }
        all
    }
}

/// Decodes the lines of a text in memory.
pub(in super::super) fn decode<D: LineDecoder>(decoder: &D, text: &[u8], longest: usize, rows: &mut D::Rows) -> Tally {
    let mut tally = Tally::default();
    lines(text).for_each(|line| tally.take(decoder, line, longest, rows));
    tally
}

/// Reads the lines of a file, a stretch at a time.
pub(in super::super) struct LineReader<'s> {
    window: Window<'s>,
    longest: usize,
    piece: usize,
    /// Nothing is read while lines are decoded: other files keep the threads busy.
    alone: bool,
    tally: Tally,
}

impl<'s> LineReader<'s> {
    /// Opens a file that is read on all threads.
    ///
    /// # Errors
    /// As [`Window::open`].
    pub(in super::super) fn open(source: &'s Source, options: &ReadOptions) -> Result<Self> {
        Ok(Self::over(Window::open(source, options)?, options))
    }

    /// Opens a file that is read on one thread, as others are beside it.
    ///
    /// # Errors
    /// As [`Window::open`].
    pub(in super::super) fn alone(source: &'s Source, options: &ReadOptions) -> Result<Self> {
        Ok(Self { alone: true, ..Self::over(Window::in_blocks(source, options, OWN_BLOCK)?, options) })
    }

    fn over(mut window: Window<'s>, options: &ReadOptions) -> Self {
        if window.data().starts_with(b"\xef\xbb\xbf") {
            window.consume(3);
        }
        Self { window, longest: options.limits.line_bytes, piece: PIECE, alone: false, tally: Tally::default() }
    }

    /// The bytes in memory from the next line on.
    pub(in super::super) fn ahead(&self) -> &[u8] {
        self.window.data()
    }

    /// Lines that were read.
    pub(in super::super) fn line(&self) -> u64 {
        self.tally.lines
    }

    /// The first line that is no remark, as `read` understands it; an empty one if there is none. It counts as no record.
    ///
    /// # Errors
    /// Malformed, with the number of the line; those of the system.
    pub(in super::super) fn header<T>(
        &mut self,
        is_remark: impl Fn(&[u8]) -> bool,
        read: impl FnOnce(&[u8]) -> Result<T, Bad>,
    ) -> Result<T> {
        loop {
            let n = self.window.whole_lines(self.longest)?.unwrap_or(0);
            let line = lines(&self.window.data()[..n]).next().unwrap_or_default();
            self.tally.lines += 1;
            self.tally.last_is_bad = false;
            let more = n > 0 && is_remark(line);
            if !more {
                let header = read(line).map_err(|bad| bad.at(self.tally.lines))?;
                self.tally.unterminated = !self.window.skip_line()?;
                return Ok(header);
            }
            self.window.skip_line()?;
        }
    }

    /// Takes the next line as it stands; `None` if there is none.
    ///
    /// # Errors
    /// Those of the system.
    pub(in super::super) fn line_as_is(&mut self) -> Result<Option<Vec<u8>>> {
        if self.ahead().is_empty() {
            return Ok(None);
        }
        self.header(|_| false, |line| Ok(line.to_vec())).map(Some)
    }

    /// Decodes the next stretch of lines on this thread; false if there is none, or none before a change.
    ///
    /// # Errors
    /// Limits, and errors of the system.
    pub(in super::super) fn next<D: LineDecoder>(&mut self, decoder: &D, rows: &mut D::Rows) -> Result<bool> {
        let Some(n) = self.whole_lines(decoder, rows)? else { return Ok(false) };
        let (longest, tally) = (self.longest, &mut self.tally);
        let mut work = |text: &[u8]| lines(text).for_each(|line| tally.take(decoder, line, longest, rows));
        if self.alone {
            work(&self.window.data()[..n]);
            self.window.consume(n);
        } else {
            self.window.consume_with(n, work)?;
        }
        Ok(true)
    }

    /// Decodes the next stretch of lines on all threads: some are taken apart while those before are followed; false if there is none, or
    /// none before a change.
    ///
    /// # Errors
    /// Limits, and errors of the system.
    pub(in super::super) fn follow<D: InOrder>(&mut self, decoder: &D, rows: &mut D::Rows) -> Result<bool> {
        if self.alone {
            return self.next(decoder, rows);
        }
        let Some(n) = self.whole_lines(decoder, rows)? else { return Ok(false) };
        let (longest, tally, piece) = (self.longest, &mut self.tally, self.piece.min(PIECE_AHEAD));
        self.window.consume_with(n, |text| {
            let parse_all = |group| parse_all(decoder, group, longest);
            let pieces = pieces(text, piece);
            let mut groups = pieces.chunks(AHEAD);
            let mut now = groups.next().map(parse_all);
            while let Some(parsed) = now {
                let mut follow = || {
                    for (line, parsed) in parsed.iter().flatten() {
                        tally.take_by(decoder, line, rows, |number, rows| match parsed {
                            Some(parsed) => decoder.follow(line, parsed, rows),
                            None => decoder.long_line(&line[..longest], number, rows),
                        });
                    }
                };
                now = match groups.next() {
                    Some(group) => rayon::join(follow, || Some(parse_all(group))).1,
                    None => {
                        follow();
                        None
                    }
                };
            }
        })?;
        Ok(true)
    }

    /// Decodes the next stretch of lines on all threads; false if there is none, or none before a change.
    ///
    /// # Errors
    /// Limits, and errors of the system.
    pub(in super::super) fn share<D>(&mut self, decoder: &D, rows: &mut D::Rows) -> Result<bool>
    where
        D: LineDecoder<Rows: Stretch>,
    {
        let Some(n) = self.whole_lines(decoder, rows)? else { return Ok(false) };
        let (longest, piece) = (self.longest, self.piece);
        let one = |text: &[u8]| {
            let mut rows = D::Rows::default();
            (decode(decoder, text, longest, &mut rows), rows)
        };
        let parts = self.window.consume_with(n, |text| match pieces(text, piece) {
            p if p.len() == 1 => vec![one(text)],
            p => p.into_par_iter().map(one).collect(),
        })?;
        for (tally, part) in parts {
            self.tally.append(tally);
            rows.append(part);
        }
        Ok(true)
    }

    /// The length of the next whole lines that the decoder takes; 0 if one was too long, and is behind.
    fn whole_lines<D: LineDecoder>(&mut self, decoder: &D, rows: &mut D::Rows) -> Result<Option<usize>> {
        let Some(n) = self.window.whole_lines(self.longest)? else { return Ok(None) };
        if n == 0 {
            self.tally.take(decoder, &self.window.data()[..=self.longest], self.longest, rows);
            self.tally.unterminated = !self.window.skip_line()?;
            return Ok(Some(0));
        }
        let n = decoder.until_change(&self.window.data()[..n]);
        if n == 0 {
            return Ok(None);
        }
        self.tally.unterminated = !self.window.data()[..n].ends_with(b"\n");
        Ok(Some(n))
    }

    /// Counts of the lines, and the damage at the end of the file.
    pub(in super::super) fn finish(self) -> Tally {
        let damage = self.window.damage().map(str::to_owned);
        Tally { bytes: self.window.offset(), damage, ..self.tally }
    }
}

impl Bad {
    /// The error of a line.
    pub(in super::super) fn at(self, line: u64) -> Error {
        Error::malformed(Place::Line(line), self.found).expected(self.expected)
    }
}

/// A line, taken apart unless it is too long.
type ParsedLine<'t, P> = (&'t [u8], Option<P>);

/// The lines of each piece.
fn parse_all<'t, D: InOrder>(decoder: &D, pieces: &[&'t [u8]], longest: usize) -> Vec<Vec<ParsedLine<'t, D::Parsed>>> {
    let parse = |line: &'t [u8]| (line, (line.len() <= longest).then(|| decoder.parse(line)));
    pieces.par_iter().map(|piece| lines(piece).map(parse).collect()).collect()
}

/// Cuts a text at line ends into pieces of at least so many bytes.
fn pieces(text: &[u8], least: usize) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = text;
    loop {
        let n = rest.get(least..).and_then(|later| memchr(b'\n', later)).map_or(rest.len(), |n| least + n + 1);
        let (piece, later) = rest.split_at(n);
        pieces.push(piece);
        rest = later;
        if rest.is_empty() {
            return pieces;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lines of digits.
    struct Digits;

    impl LineDecoder for Digits {
        type Rows = Vec<u8>;

        fn line(&self, line: &[u8], _: u64, rows: &mut Vec<u8>) -> Result<Taken, Bad> {
            match line {
                [b'-', ..] => Ok(Taken::Nothing),
                _ if line.iter().all(u8::is_ascii_digit) => {
                    rows.extend_from_slice(line);
                    Ok(Taken::Record)
                }
                _ => Err(Bad::new("a line", line, "digits")),
            }
        }

        fn until_change(&self, text: &[u8]) -> usize {
            let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text).map(|n| n + 1));
            starts.filter(|n| text.get(*n) == Some(&b'=')).min().unwrap_or(text.len())
        }
    }

    impl InOrder for Digits {
        type Parsed = usize;

        fn parse(&self, line: &[u8]) -> usize {
            line.len()
        }

        fn follow(&self, line: &[u8], parsed: &usize, rows: &mut Vec<u8>) -> Result<Taken, Bad> {
            assert_eq!(*parsed, line.len());
            self.line(line, 0, rows)
        }
    }

    /// How a text is read.
    #[derive(Clone, Copy)]
    enum How {
        Next,
        Share,
        Follow,
    }

    /// Reads a text in blocks and pieces of these sizes.
    fn read(text: &[u8], block: usize, piece: usize, how: How) -> (Vec<u8>, String) {
        let source = Source::from_bytes("x", text);
        let mut options = ReadOptions::default();
        options.limits.line_bytes = 6;
        let window = Window::in_blocks(&source, &options, block).unwrap();
        let mut reader = LineReader { piece, alone: block.is_multiple_of(2), ..LineReader::over(window, &options) };
        let mut rows = Vec::new();
        loop {
            while match how {
                How::Next => reader.next(&Digits, &mut rows),
                How::Share => reader.share(&Digits, &mut rows),
                How::Follow => reader.follow(&Digits, &mut rows),
            }
            .unwrap()
            {}
            let Some(line) = reader.line_as_is().unwrap() else { break };
            rows.extend(line);
        }
        (rows, format!("{:?}", Tally { bytes: 0, ..reader.finish() }))
    }

    proptest! {
        #[test]
        fn lines_are_the_same_whatever_the_blocks_and_pieces(
            text in "([0-9]{0,5}|[0-9]{7,9}|-[0-9]{0,3}|#x| |a[0-9]?)(\r?\n([0-9]{0,5}|[0-9]{7,9}|-|#|b|=[0-9]?)){0,12}\n?",
            block in 1usize..20,
            piece in 0usize..20,
        ) {
            let whole = read(text.as_bytes(), 1 << 20, PIECE, How::Next);
            for how in [How::Next, How::Share, How::Follow] {
                prop_assert_eq!(&read(text.as_bytes(), block, piece, how), &whole);
            }
        }
    }

    #[test]
    fn the_first_bad_line_has_its_number_and_a_cut_last_line_is_told() {
        let tally = |text: &str| {
            let source = Source::from_bytes("x", text.as_bytes());
            let mut reader = LineReader::open(&source, &ReadOptions::default()).unwrap();
            let mut rows = Vec::new();
            while reader.share(&Digits, &mut rows).unwrap() {}
            reader.finish()
        };
        let t = tally("# remark\n\n12\nx\n3\ny\n");
        assert_eq!((t.lines, t.records, t.bad, t.first_bad.as_ref().unwrap().0), (6, 4, 2, 4));
        let said = t.warnings("digits", Some("f")).remove(0).message;
        assert!(said.starts_with("f: 2 of 4 lines are no digits and were left out, the first line 4: "), "{said}");
        assert!(tally("12\nx").only_the_end_is_cut() && !tally("12\nx\n").only_the_end_is_cut());
        assert!(!tally("x\n12").only_the_end_is_cut());
    }
}
