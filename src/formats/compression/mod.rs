//! Compressed inputs: gzip, bzip2, xz and Zstandard, by the same rules.
//!
//! An input is any number of members (streams, frames), one after the other, whose check sums are compared. Where it is cut or damaged,
//! what came before is given first, then the error. What follows the last member and is none is an error, too.

mod ahead;
mod gzip;
mod xz;
mod zstd;

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, OnceLock};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;

use self::ahead::Ahead;
use super::limits::Limits;
use crate::error::{Error, is_damage};
use crate::remedy::Remedy;

/// Compressed bytes read at once; the first ones suffice to see what they are.
const BLOCK: usize = 256 << 10;
/// Compressed bytes read at once where no more than the head of an input is wanted.
const HEAD_BLOCK: usize = 64 << 10;
/// Bytes that show the compression of what follows.
const MAGIC: usize = 16;

/// Compression of a whole input, recognised by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// As it is.
    None,
    /// gzip.
    Gzip,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// By the first bytes.
    pub(crate) fn of(head: &[u8]) -> Compression {
        match head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // the sign of a block, or of the end
            [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&', b'S', b'Y', ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, b'r', b'E', b'8', b'P', 0x90, ..] => Compression::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
            // a frame, or one to skip
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }

    /// `gzip`, `bzip2`, `xz`, `zstd`, or `None`.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Compression::None => None,
            Compression::Gzip => Some("gzip"),
            Compression::Bzip2 => Some("bzip2"),
            Compression::Xz => Some("xz"),
            Compression::Zstd => Some("zstd"),
        }
    }

    /// A file name without the ending of a compression.
    pub(super) fn strip_ending(name: &str) -> &str {
        [".gz", ".bz2", ".xz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
    }
}

/// The damage of an input, once a reader has met it.
pub(super) type DamageNote = Arc<OnceLock<String>>;

/// How an input is decompressed.
pub(super) struct Unpacking {
    /// Memory for what a decompressor has to look back at.
    window_bytes: u64,
    /// Bytes that may come out.
    most: u64,
    /// Whether gzip members are decompressed side by side.
    side_by_side: bool,
    block: usize,
    note: Option<DamageNote>,
}

impl Unpacking {
    /// The whole of an input of `stored` bytes; damage goes to `note`.
    pub(super) fn whole(limits: &Limits, stored: u64, note: &DamageNote) -> Self {
        let most = limits.expansion.saturating_mul(stored).saturating_add(1 << 20);
        Unpacking { most, side_by_side: true, block: BLOCK, note: Some(note.clone()), ..Self::head(limits) }
    }

    /// The first bytes: no more is decompressed than is read.
    pub(super) fn head(limits: &Limits) -> Self {
        // a decompressor doubles its memory while it grows, and is not the only one that needs some
        let window_bytes = limits.memory_bytes / 4;
        Unpacking { window_bytes, most: u64::MAX, side_by_side: false, block: HEAD_BLOCK, note: None }
    }
}

/// The decompressed content of an input.
pub(super) struct Unpacked<R> {
    kind: Compression,
    how: Unpacking,
    state: State<R>,
    /// Members that were decompressed side by side.
    ready: VecDeque<io::Cursor<Vec<u8>>>,
    /// A member has begun.
    begun: bool,
    /// Up to this compressed byte no members were found to decompress side by side.
    alone_until: u64,
    given: u64,
}

enum State<R> {
    /// At the start of a member, or at the end.
    Between(Ahead<R>),
    Inside(Member<R>),
    /// At the end, or after an error.
    Over,
}

impl<R: Read> Unpacked<R> {
    pub(super) fn new(kind: Compression, reader: R, how: Unpacking) -> Self {
        let state = State::Between(Ahead::new(reader, how.block));
        Unpacked { kind, how, state, ready: VecDeque::new(), begun: false, alone_until: 0, given: 0 }
    }

    fn name(&self) -> &'static str {
        self.kind.name().unwrap_or("compressed")
    }

    fn next_bytes(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            while let Some(first) = self.ready.front_mut() {
                match first.read(out)? {
                    0 => drop(self.ready.pop_front()),
                    n => return Ok(n),
                }
            }
            match std::mem::replace(&mut self.state, State::Over) {
                State::Between(source) => self.begin(source)?,
                State::Inside(mut member) => match member.read(out) {
                    Ok(0) => self.state = State::Between(member.into_source()),
                    Ok(n) => {
                        self.state = State::Inside(member);
                        return Ok(n);
                    }
                    Err(e) => return Err(self.failure(&mut member.into_source(), e)),
                },
                State::Over => return Ok(0),
            }
        }
    }

    /// Begins the next member, or decompresses those that lie ahead.
    fn begin(&mut self, mut source: Ahead<R>) -> io::Result<()> {
        let many = self.kind == Compression::Gzip && self.how.side_by_side && source.position() >= self.alone_until;
        source.look_ahead(if many { gzip::AHEAD } else { MAGIC })?;
        if self.begun && self.kind == Compression::Xz {
            xz::skip_padding(&mut source)?;
        }
        if source.data().is_empty() && self.begun {
            return Ok(());
        }
        if std::mem::replace(&mut self.begun, true) && Compression::of(source.data()) != self.kind {
            let (name, at) = (self.name(), source.position());
            return Err(damage(format!("byte {at}: what follows the {name} data is no {name}")));
        }
        if many {
            self.ready.extend(gzip::whole_members(&mut source).into_iter().map(io::Cursor::new));
            if !self.ready.is_empty() {
                self.state = State::Between(source);
                return Ok(());
            }
            self.alone_until = source.position() + source.data().len() as u64;
        }
        self.state = State::Inside(Member::new(self.kind, source, self.how.window_bytes));
        Ok(())
    }

    /// The error of the input behind an error of the decompressor.
    fn failure(&self, source: &mut Ahead<R>, e: io::Error) -> io::Error {
        if let Some(of_input) = source.take_error() {
            return of_input;
        }
        let (name, at) = (self.name(), source.position());
        match e.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::new(e.kind(), format!("byte {at}: the {name} data is cut")),
            io::ErrorKind::QuotaExceeded => e,
            _ => damage(format!("before byte {at}: the {name} data is damaged: {e}")),
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let read = self.next_bytes(out);
        match (&read, &self.how.note) {
            (Ok(n), _) => self.given += *n as u64,
            (Err(e), Some(note)) if is_damage(e) => _ = note.set(e.to_string()),
            _ => {}
        }
        if self.given > self.how.most {
            (self.state, self.ready) = (State::Over, VecDeque::new());
            let most = format!("{} bytes", self.how.most);
            return Err(beyond(Error::limit("the input expands further than any trace does", most)));
        }
        read
    }
}

fn damage(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// A bound that is exceeded. Unlike damage, it ends reading.
fn beyond(e: Error) -> io::Error {
    io::Error::new(io::ErrorKind::QuotaExceeded, e)
}

/// A window that is too large.
fn too_large(name: &str, bytes: u64, most: u64) -> io::Error {
    let found = format!("to decompress the {name} data takes {bytes} bytes of memory");
    beyond(Error::limit(found, format!("{most} bytes, a quarter of what is allowed")).remedy(Remedy::AllowMemory))
}

/// A member that is decompressed as a stream.
enum Member<R> {
    Gzip(Box<GzDecoder<Ahead<R>>>),
    Bzip2(Box<BzDecoder<Ahead<R>>>),
    Xz(Box<xz::Stream<Ahead<R>>>),
    Zstd(Box<zstd::Frame<Ahead<R>>>),
}

impl<R: Read> Member<R> {
    fn new(kind: Compression, source: Ahead<R>, window_bytes: u64) -> Self {
        match kind {
            Compression::Bzip2 => Member::Bzip2(Box::new(BzDecoder::new(source))),
            Compression::Xz => Member::Xz(Box::new(xz::Stream::new(source, window_bytes))),
            Compression::Zstd => Member::Zstd(Box::new(zstd::Frame::new(source, window_bytes))),
            Compression::Gzip | Compression::None => Member::Gzip(Box::new(GzDecoder::new(source))),
        }
    }

    /// The input behind the member, once the member has ended.
    fn into_source(self) -> Ahead<R> {
        match self {
            Member::Gzip(m) => m.into_inner(),
            Member::Bzip2(m) => m.into_inner(),
            Member::Xz(m) => m.into_inner(),
            Member::Zstd(m) => m.into_inner(),
        }
    }
}

impl<R: Read> Read for Member<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Member::Gzip(m) => m.read(out),
            Member::Bzip2(m) => m.read(out),
            Member::Xz(m) => m.read(out),
            Member::Zstd(m) => m.read(out),
        }
    }
}
