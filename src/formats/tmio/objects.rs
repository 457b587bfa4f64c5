//! TMIO's MessagePack: objects one after the other, four of phases and one of run times a chunk.

use super::super::limits::Limits;
use super::super::msgpack::{MsgPack, NUMBER_BYTES, Token, token};
use super::super::options::ReadOptions;
use super::super::phases::{Announced, BATCH, Mode, Phases};
use super::super::sections::Section;
use super::super::source::Source;
use super::super::window::Window;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::{RowSink, Trace, Warning, is_amount, is_time, not_negative};

/// Bytes read at once.
const BLOCK: usize = 256 << 10;

/// Longest name of a section.
const LONGEST_NAME: u8 = 32;

/// Whether the bytes begin an object of TMIO: an array whose first element is the name of a section. `None` if more of it has to come.
pub(in super::super) fn object_at(data: &[u8]) -> Option<bool> {
    let rest = match data {
        [0xdc, 0, 0, ..] | [0xdd, 0, 0, 0, 0, ..] => return Some(false),
        [0x91..=0x9f, rest @ ..] | [0xdc, _, _, rest @ ..] | [0xdd, _, _, _, _, rest @ ..] => rest,
        [] | [0xdc | 0xdd, ..] => return None,
        _ => return Some(false),
    };
    let (length, name) = match rest {
        [tag @ 0xa0..=0xbf, name @ ..] => (tag & 0x1f, name),
        [0xd9, n @ 0..=LONGEST_NAME, name @ ..] => (*n, name),
        [] | [0xd9] => return None,
        _ => return Some(false),
    };
    name.get(..length.into()).map(|n| Section::named(n).is_some())
}

/// True if the bytes begin an object of TMIO.
pub(in super::super) fn begins_object(head: &[u8]) -> bool {
    object_at(head) == Some(true)
}

/// Reads a file of such objects, and gives its phases to `sink`.
///
/// # Errors
/// Malformed if nothing can be used, limits, and errors of the system.
pub(super) fn read(source: &Source, options: &ReadOptions, format: &'static str, sink: &dyn RowSink) -> Result<Trace> {
    let mut reader = ObjectReader {
        values: MsgPack::new(Window::in_blocks(source, options, BLOCK)?),
        phases: Phases::new(format, sink),
        limits: &options.limits,
        unknown: 0,
    };
    let mut damage = loop {
        match reader.object() {
            Ok(true) => {}
            Ok(false) => break None,
            Err(e) if e.kind() == ErrorKind::Malformed => break Some(e),
            Err(e) => return Err(e),
        }
    };
    if let (None, Some(why)) = (&damage, reader.values.damage()) {
        damage = Some(Error::malformed(Place::Byte(reader.values.offset()), why));
    }
    let mut phases = reader.phases;
    if let Some(e) = &damage {
        if phases.len() == 0 {
            return Err(e.clone().remedy("write the trace again; nothing before the damage can be used"));
        }
        phases.trace.warnings.push(Warning::new("damaged-tail", format!("{e}; the records before it were kept")));
    }
    if reader.unknown > 0 {
        phases.trace.warnings.push(Warning::new(
            "unknown-sections",
            format!("{} objects are not sections of TMIO and were left out", reader.unknown),
        ));
    }
    phases.into_trace(damage.is_none())
}

/// The numbers of a phase that are used: bytes, start, end and mean rate.
type Row = [f64; 4];
/// Their places among a phase's fields.
const USED: [usize; 4] = [0, 1, 2, 5];

/// The phase at the start of `data`, an array of six numbers or more; its length; and how it is laid out, if that is short.
fn phase(data: &[u8]) -> Option<(Row, usize, Option<PhaseLayout>)> {
    let (Token::Values(n @ 6..=64), mut at) = token(data)? else {
        return None;
    };
    let mut layout = PhaseLayout { mask: [0; PhaseLayout::MOST], tags: [0; PhaseLayout::MOST], len: 0, places: [0; 4] };
    layout.tag(data, 0, 0xff);
    let mut row = [f64::NAN; 4];
    for i in 0..n as usize {
        let (Token::Number(x), len) = token(data.get(at..)?)? else {
            return None;
        };
        if let Some(k) = USED.iter().position(|&used| used == i) {
            row[k] = x;
            layout.places[k] = at;
        }
        // a short number is its own tag
        layout.tag(data, at, if data[at] <= 0x7f { 0x80 } else { 0xff });
        at += len;
    }
    // the array's own head: what its tag does not say follows it
    (1..token(data)?.1).for_each(|i| layout.tag(data, i, 0xff));
    layout.len = at;
    Some((row, at, (at <= PhaseLayout::MOST).then_some(layout)))
}

/// Where the numbers of a phase lie and which tags they have: nearly always as in a phase before.
struct PhaseLayout {
    /// Bits of each byte that tell the layout, and what they are.
    mask: [u8; PhaseLayout::MOST],
    tags: [u8; PhaseLayout::MOST],
    len: usize,
    /// Where the used numbers begin.
    places: [usize; 4],
}

impl PhaseLayout {
    /// Longer phases have no layout: nine doubles and the array's tag.
    const MOST: usize = 96;
    /// Layouts remembered for one array.
    const REMEMBERED: usize = 4;

    fn tag(&mut self, data: &[u8], at: usize, mask: u8) {
        if at < Self::MOST {
            (self.mask[at], self.tags[at]) = (mask, data[at] & mask);
        }
    }

    /// The phase at the start of `data`, if it is laid out like this.
    #[inline]
    fn row(&self, data: &[u8; Self::MOST]) -> Option<Row> {
        let off = (0..Self::MOST).fold(0, |off, i| off | ((data[i] & self.mask[i]) ^ self.tags[i]));
        if off != 0 {
            return None;
        }
        let mut row = [0.0; 4];
        for (x, &at) in row.iter_mut().zip(&self.places) {
            *x = match data.get(at..)? {
                [0xcb, digits @ ..] => f64::from_be_bytes(*digits.first_chunk()?),
                other => match token(other)? {
                    (Token::Number(x), _) => x,
                    _ => return None,
                },
            };
        }
        Some(row)
    }
}

struct ObjectReader<'a> {
    values: MsgPack<'a>,
    phases: Phases<'a>,
    limits: &'a Limits,
    /// Objects that are no sections.
    unknown: u64,
}

impl ObjectReader<'_> {
    /// Reads an object; false at the end of the input.
    fn object(&mut self) -> Result<bool> {
        const EXPECTED: &str = "an array such as write_sync, whose first value is its name";
        if self.values.peek()?.is_none() {
            return Ok(false);
        }
        let at = self.values.offset();
        let Token::Values(fields @ 1..) = self.values.token(EXPECTED)? else {
            return Err(Error::malformed(Place::Byte(at), "a value that is not an array").expected(EXPECTED));
        };
        match Section::named(self.values.text(LONGEST_NAME.into(), EXPECTED)?) {
            Some(Section::Transfers(mode)) => self.section(mode, fields - 1)?,
            Some(Section::Times) => self.times(fields - 1)?,
            _ => {
                self.unknown += 1;
                self.values.skip(fields - 1)?;
            }
        }
        Ok(true)
    }

    /// `agg, sr, sw, ara, arr, ar_lost, awa, awr, aw_lost, agg_io, rank0, ...`
    fn times(&mut self, fields: u64) -> Result<()> {
        const RANK0: u64 = 10;
        for i in 0..fields {
            let x = self.values.number()?;
            if i == RANK0 {
                self.phases.announce_run_time(x);
            }
        }
        Ok(())
    }

    /// A section after its name: asynchronous, write, total bytes, six maxima and counts, operations, ranks with I/O, ranks, phases.
    fn section(&mut self, mode: Mode, fields: u64) -> Result<()> {
        const BYTES: u64 = 2;
        const OPERATIONS: u64 = 9;
        const RANKS: u64 = 10;
        const ALL_RANKS: u64 = 11;
        const PHASES: u64 = 12;
        let mut announced = Announced::default();
        for i in 0..fields {
            match i {
                BYTES => announced.bytes = self.values.number()?,
                OPERATIONS => announced.operations = Some(self.values.number()?),
                RANKS | ALL_RANKS => {
                    let n = self.values.number()?;
                    self.phases.announce_ranks(n);
                }
                PHASES => {
                    let mut rows = PhaseRows::default();
                    let outcome = self.phases(mode, &mut rows);
                    rows.hand_over(&mut self.phases, mode, self.limits)?;
                    outcome?;
                }
                _ => self.values.skip(1)?,
            }
        }
        self.phases.announce(mode, announced);
        Ok(())
    }

    /// The array of phases. The last ones are left in `rows`.
    fn phases(&mut self, mode: Mode, rows: &mut PhaseRows) -> Result<()> {
        // Tag and fields of a phase of the most fields accepted.
        const MOST_BYTES: usize = 5 + 64 * NUMBER_BYTES;
        let n = self.values.values("the array of phases")?;
        let window = self.values.window();
        // never more than a block of the input can hold
        rows.reserve(n.min((window.data().len() / NUMBER_BYTES) as u64) as usize);
        let mut layouts: Vec<PhaseLayout> = Vec::new();
        for _ in 0..n {
            let window = self.values.window();
            while window.data().len() < MOST_BYTES && window.more()? {}
            let data = window.data();
            let known = data.first_chunk().and_then(|head| layouts.iter().find_map(|l| Some((l.row(head)?, l.len))));
            let (row, len) = match known {
                Some(known) => known,
                None => {
                    let Some((row, len, layout)) = phase(data) else {
                        return Err(self.values.unexpected("a phase: an array of six numbers or more"));
                    };
                    if layouts.len() < PhaseLayout::REMEMBERED {
                        layouts.extend(layout);
                    }
                    (row, len)
                }
            };
            window.consume(len);
            rows.push(row);
            if rows.start.len() >= BATCH {
                std::mem::take(rows).hand_over(&mut self.phases, mode, self.limits)?;
            }
        }
        Ok(())
    }
}

/// Phases of one section.
#[derive(Default)]
struct PhaseRows {
    bytes: Vec<f64>,
    start: Vec<f64>,
    end: Vec<f64>,
    read: u64,
    dropped: u64,
    clamped: u64,
}

impl PhaseRows {
    fn reserve(&mut self, n: usize) {
        [&mut self.bytes, &mut self.start, &mut self.end].into_iter().for_each(|column| column.reserve(n));
    }

    /// Adds a phase; its fields are `bytes, start, end, required end, rate (sum), rate (mean), ...`.
    ///
    /// The rate that FTIO takes is the mean. Where it says the same as the bytes, up to the rounding of the times, the bytes are
    /// taken, which are exact; where it does not (several requests in a phase), rate times duration; and the bytes where there
    /// is no duration or no rate.
    #[inline]
    fn push(&mut self, [bytes, start, end, rate]: Row) {
        self.read += 1;
        let moved = rate * (end - start);
        let as_recorded = !(moved.is_finite() && moved > 0.0) || (moved - bytes).abs() <= 1e-6 * bytes;
        let mut moved = if as_recorded { bytes } else { moved };
        let mut end = end;
        if !(is_time(start) && is_time(end) && is_amount(not_negative(moved))) {
            self.dropped += 1;
            return;
        }
        if end < start || moved < 0.0 {
            (end, moved) = (end.max(start), not_negative(moved));
            self.clamped += 1;
        }
        self.bytes.push(moved);
        self.start.push(start);
        self.end.push(end);
    }

    fn hand_over(self, phases: &mut Phases, mode: Mode, limits: &Limits) -> Result<()> {
        let q = &mut phases.trace.quality;
        q.records_read += self.read;
        q.records_dropped += self.dropped;
        q.clamped += self.clamped;
        phases.append(mode, self.bytes, self.start, self.end, limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(numbers: &[(u8, u32)]) -> Vec<u8> {
        let mut out = vec![0x90 | numbers.len() as u8];
        for &(kind, x) in numbers {
            match kind {
                0 => out.push((x % 128) as u8),
                1 => out.extend([0xcd, (x >> 8) as u8, x as u8]),
                2 => out.extend([&[0xce][..], &x.to_be_bytes()].concat()),
                3 => out.push(0xc0),
                4 => out.push(0xe0 | (x % 32) as u8),
                _ => out.extend([&[0xcb][..], &(f64::from(x) * 0.25).to_be_bytes()].concat()),
            }
        }
        out
    }

    proptest! {
        #[test]
        fn a_layout_reads_its_like_and_nothing_else(
            kinds in prop::collection::vec(0u8..9, 6..=15),
            numbers in prop::collection::vec(any::<u32>(), 15),
            others in prop::collection::vec(0u8..9, 6..=15),
        ) {
            let with = |kinds: &[u8], numbers: &[u32]| {
                let mut data = encoded(&kinds.iter().copied().zip(numbers.iter().copied()).collect::<Vec<_>>());
                let len = data.len();
                data.extend([0xc1; 200]);
                (data, len)
            };
            let (data, len) = with(&kinds, &[7; 15]);
            let (_, read, layout) = phase(&data).unwrap();
            prop_assert_eq!(read, len);
            prop_assert_eq!(layout.is_some(), len <= PhaseLayout::MOST);
            let Some(layout) = layout else { return Ok(()) };
            for (kinds, same) in [(&kinds, true), (&others, false)] {
                let (data, len) = with(kinds, &numbers);
                let (row, read, _) = phase(&data).unwrap();
                prop_assert_eq!(read, len);
                if let Some(found) = layout.row(data.first_chunk().unwrap()) {
                    prop_assert_eq!(layout.len, len);
                    prop_assert_eq!(found.map(f64::to_bits), row.map(f64::to_bits));
                } else {
                    // the same kinds of numbers are the same layout, except for negative ones, which are their own tags
                    prop_assert!(!same || kinds.contains(&4));
                }
            }
        }
    }
}
