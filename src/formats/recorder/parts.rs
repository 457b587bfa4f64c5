//! The parts of a trace, whether they are files of a folder or sections of one file.

use std::collections::HashMap;
use std::io::{BufReader, Read};

use flate2::bufread::ZlibDecoder;

use crate::error::{Error, ErrorKind, Place, Result, is_damage};
use crate::formats::bytes::Cursor;
use crate::formats::options::ReadOptions;
use crate::formats::source::Source;
use crate::remedy::Remedy;

/// How the file with all parts begins.
pub(super) const MAGIC: &[u8; 8] = b"RECORDER";
/// Plain bytes of a compressed block, and of each compressed byte: zlib cannot expand further.
const MOST_PLAIN: u64 = 4 << 30;
const MOST_EXPANSION: u64 = 1100;
/// Bytes in front of a compressed block: its size and the plain size.
const BLOCK_HEAD: u64 = 16;
/// Bytes of an entry of the table of sections.
const SECTION: u64 = 24;

/// A part of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Version,
    Metadata,
    /// Times of all ranks, with their lengths in front.
    Times,
    TimesOf(u32),
    /// Call signatures of all ranks.
    Signatures,
    SignaturesOf(u32),
    /// The grammars that differ, one after the other.
    Grammars,
    GrammarOf(u32),
    /// The grammar of each rank.
    GrammarOfRank,
    /// Calls of a rank before version 2.3, and the rank's start.
    Records(u32),
    StartOf(u32),
}

impl Part {
    /// The part that a file of a folder is.
    pub(super) fn of_file(name: &str) -> Option<Part> {
        Some(match name {
            "VERSION" => Part::Version,
            "recorder.mt" => Part::Metadata,
            "recorder.ts" => Part::Times,
            "recorder.cst" => Part::Signatures,
            "ug.cfg" => Part::Grammars,
            "ug.mt" => Part::GrammarOfRank,
            _ => {
                let (rank, ending) = name.split_once('.')?;
                let rank = rank.bytes().all(|b| b.is_ascii_digit()).then(|| rank.parse().ok())??;
                match ending {
                    "ts" => Part::TimesOf(rank),
                    "cst" => Part::SignaturesOf(rank),
                    "cfg" => Part::GrammarOf(rank),
                    "itf" => Part::Records(rank),
                    "mt" => Part::StartOf(rank),
                    _ => return None,
                }
            }
        })
    }
}

/// A stretch of an input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'s> {
    pub source: &'s Source,
    pub offset: u64,
    pub len: u64,
    /// It should be longer: the input ends before.
    pub cut: bool,
}

impl<'s> Piece<'s> {
    pub(super) fn whole(source: &'s Source) -> Self {
        Piece { source, offset: 0, len: source.stored_bytes(), cut: false }
    }

    /// A stretch of this one, shortened if it is longer.
    pub(super) fn part(&self, offset: u64, len: u64) -> Piece<'s> {
        let offset = offset.min(self.len);
        let there = len.min(self.len - offset);
        Piece { source: self.source, offset: self.offset + offset, len: there, cut: there < len }
    }

    pub(super) fn reader(&self, options: &ReadOptions) -> Result<impl Read + Send + 's> {
        Ok(self.source.stored_from(self.offset, options)?.take(self.len))
    }

    /// All of it.
    pub(super) fn bytes(&self, options: &ReadOptions) -> Result<Vec<u8>> {
        let most = options.limits.memory_bytes;
        if self.len > most {
            return Err(too_large(self.len, most));
        }
        let mut bytes = Vec::new();
        self.reader(options)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn error(&self, found: impl Into<String>) -> Error {
        Error::malformed(Place::Byte(self.offset), found)
            .in_file(self.source.name())
            .remedy("copy the trace again; if it is complete, the recorder was killed while it wrote")
    }

    /// Sizes of the compressed block at the start: stored, without its head, and plain.
    fn block(&self, options: &ReadOptions) -> Result<(u64, u64)> {
        let head = self.part(0, BLOCK_HEAD).bytes(options)?;
        let mut head = Cursor::new(&head, "a compressed block");
        let (stored, plain) = (head.u64()?, head.u64()?);
        let left = self.len - BLOCK_HEAD;
        if stored > left && !self.cut {
            return Err(self.error(format!("a compressed block of {stored} bytes, of which {left} are there")));
        }
        let expansion = options.limits.expansion.min(MOST_EXPANSION);
        if plain > MOST_PLAIN.min(stored.saturating_mul(expansion).saturating_add(64)) {
            return Err(Error::limit(
                format!("a compressed block of {stored} bytes claims to hold {plain} bytes"),
                format!("4 GiB, and {expansion} times its size"),
            )
            .at(Place::Byte(self.offset))
            .in_file(self.source.name()));
        }
        Ok((stored, plain))
    }

    /// The plain content of the compressed block at the start, and the place after it.
    pub(super) fn unpack(&self, options: &ReadOptions) -> Result<(Vec<u8>, u64)> {
        let (stored, plain) = self.block(options)?;
        if plain > options.limits.memory_bytes {
            return Err(too_large(plain, options.limits.memory_bytes));
        }
        let block = self.part(BLOCK_HEAD, stored).reader(options)?;
        let mut bytes = Vec::new();
        let read = ZlibDecoder::new(BufReader::new(block)).take(plain + 1).read_to_end(&mut bytes);
        match read {
            Ok(_) if bytes.len() as u64 == plain => Ok((bytes, BLOCK_HEAD + stored)),
            Ok(_) => Err(self.error(format!("a compressed block of other than the {plain} bytes that it claims"))),
            Err(e) if is_damage(&e) => Err(self.error(format!("a damaged compressed block: {e}"))),
            Err(e) => Err(Error::from(e).in_file(self.source.name())),
        }
    }

    /// The stretches of a sequence of compressed blocks, without their heads, with their plain sizes.
    pub(super) fn blocks(&self, options: &ReadOptions) -> Result<Vec<(Piece<'s>, u64)>> {
        let mut blocks = Vec::new();
        let mut rest = *self;
        while rest.len > 0 && (rest.len >= BLOCK_HEAD || !rest.cut) {
            let (stored, plain) = rest.block(options)?;
            blocks.push((rest.part(BLOCK_HEAD, stored), plain));
            let after = (BLOCK_HEAD + stored).min(rest.len);
            rest = Piece { cut: rest.cut, ..rest.part(after, rest.len - after) };
        }
        Ok(blocks)
    }
}

/// The parts of a trace by what they are.
pub(super) struct Parts<'s> {
    pub all: HashMap<Part, Piece<'s>>,
    /// Version of the table of sections, if one file holds all.
    pub sections: Option<u32>,
}

impl<'s> Parts<'s> {
    /// Those of a folder.
    pub(super) fn of_files(sources: &'s [Source]) -> Self {
        let part = |s: &'s Source| Part::of_file(s.file_name()).map(|part| (part, Piece::whole(s)));
        Parts { all: sources.iter().filter_map(part).collect(), sections: None }
    }

    /// Those of one file.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if its table of sections is wrong.
    pub(super) fn of_sections(source: &'s Source, options: &ReadOptions) -> Result<Self> {
        Parts::sections(source, options).map_err(|e| e.in_file(source.name()))
    }

    fn sections(source: &'s Source, options: &ReadOptions) -> Result<Self> {
        let file = Piece::whole(source);
        let head = file.part(0, 16).bytes(options)?;
        let mut head = Cursor::new(&head, "the start of the file");
        head.take(MAGIC.len())?;
        let (version, sections) = (head.u32()?, u64::from(head.u32()?));
        if !(1..=2).contains(&version) {
            return Err(Error::new(ErrorKind::Unsupported, format!("recorder.dat of version {version}"))
                .in_file(source.name())
                .expected("version 1 or 2"));
        }
        if sections == 0 || sections > file.len.saturating_sub(16) / SECTION {
            return Err(file.error(format!("a table of {sections} sections in a file of {} bytes", file.len)));
        }
        let table = file.part(16, sections * SECTION).bytes(options)?;
        let mut table = Cursor::new(&table, "the table of sections");
        let mut all = HashMap::new();
        for _ in 0..sections {
            let (kind, rank) = (table.u32()?, table.i32()?);
            let (offset, size) = (table.u64()?, table.u64()?);
            let end = offset.checked_add(size);
            // Data come after the table; all that can be missing are the last bytes of the times.
            if offset < 16 + sections * SECTION || offset > file.len || end.is_none() {
                return Err(table.malformed(format_args!("a section at byte {offset} of {} bytes", file.len)));
            }
            let piece = file.part(offset, size);
            if piece.cut && kind != 1 {
                return Err(file.error(format!("the file ends inside the section at byte {offset}")));
            }
            let of_rank = |part: fn(u32) -> Part| u32::try_from(rank).ok().map(part);
            let part = match kind {
                0 => Some(Part::Metadata),
                1 => Some(Part::Times),
                2 => Some(Part::Signatures),
                3 => Some(Part::Grammars),
                4 => Some(Part::GrammarOfRank),
                5 => of_rank(Part::SignaturesOf),
                6 => of_rank(Part::GrammarOf),
                _ => continue,
            };
            if part.is_none_or(|part| all.insert(part, piece).is_some()) {
                return Err(table.malformed(format_args!("a second section of type {kind} and rank {rank}")));
            }
        }
        Ok(Parts { all, sections: Some(version) })
    }

    /// A part.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] if it is missing.
    pub(super) fn get(&self, part: Part) -> Result<Piece<'s>> {
        self.all.get(&part).copied().ok_or_else(|| {
            Error::new(ErrorKind::Malformed, format!("the trace lacks its part {}", part.name()))
                .remedy("copy the whole folder; a run that was killed leaves an incomplete one")
        })
    }
}

fn too_large(bytes: u64, most: u64) -> Error {
    Error::limit(format!("a part of {bytes} bytes has to fit in memory"), format!("{most} bytes"))
        .remedy(Remedy::AllowMemory)
}

impl Part {
    fn name(self) -> String {
        match self {
            Part::Version => "VERSION".into(),
            Part::Metadata => "recorder.mt (metadata)".into(),
            Part::Times => "recorder.ts (times)".into(),
            Part::Signatures => "recorder.cst (call signatures)".into(),
            Part::Grammars => "ug.cfg (grammars)".into(),
            Part::GrammarOfRank => "ug.mt (grammar of each rank)".into(),
            Part::TimesOf(r) => format!("{r}.ts (times)"),
            Part::SignaturesOf(r) => format!("{r}.cst (call signatures)"),
            Part::GrammarOf(r) => format!("{r}.cfg (grammar)"),
            Part::Records(r) => format!("{r}.itf (calls)"),
            Part::StartOf(r) => format!("{r}.mt (start)"),
        }
    }
}
