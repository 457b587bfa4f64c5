//! Version, clock and function names of a trace.

use super::parts::{Part, Parts};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::bytes::{Cursor, until_nul};
use crate::formats::lines::{lines, quote};
use crate::formats::options::ReadOptions;
use crate::record::is_time;

/// Ranks from which on the number is of the other byte order.
const MOST_RANKS: u32 = 1 << 24;
/// Bytes of a function name where they have a fixed width.
const NAME: usize = 64;

/// How a trace is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TraceLayout {
    /// 2.0 to 2.2: a file of records for each rank.
    Records,
    /// 2.3: grammars, signatures without rank and count.
    Plain,
    /// 2.4 and 2.5.
    Shared,
    /// 3.0.
    Packed,
    /// 3.x without a file `VERSION`, or all in one file.
    Numbered,
}

/// Metadata of a trace.
#[derive(Debug)]
pub(super) struct Metadata {
    pub layout: TraceLayout,
    pub version: String,
    /// A version that is newer than those known.
    pub newer: bool,
    pub ranks: u32,
    /// Seconds since 1970 at which the recorder started in rank 0.
    pub start_s: f64,
    /// Seconds of a tick.
    pub resolution: f64,
    /// Times are compressed.
    pub packed_times: bool,
    /// Signatures and grammars are shared by the ranks.
    pub merged: bool,
    /// Offsets are differences to the call of the same name before.
    pub differences: bool,
    /// The keys of signatures have a call site.
    pub call_sites: bool,
    pub functions: Vec<String>,
}

impl Metadata {
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a version or byte order that cannot be read, [`ErrorKind::Malformed`] for damage.
    pub(super) fn read(parts: &Parts<'_>, options: &ReadOptions) -> Result<Metadata> {
        let version = match parts.all.get(&Part::Version) {
            Some(piece) => Some(String::from_utf8_lossy(&piece.part(0, 64).bytes(options)?).trim().to_owned()),
            None => None,
        };
        let (layout, newer) = match &version {
            Some(text) => layout_of(text)?,
            None => (TraceLayout::Numbered, false),
        };
        let piece = parts.get(Part::Metadata)?;
        let bytes = piece.bytes(options)?;
        let meta = Metadata::parse(&bytes, layout).map_err(|e| e.in_file(piece.source.name()))?;
        let version = version.unwrap_or(meta.version);
        Ok(Metadata { version, newer, call_sites: parts.sections == Some(2), ..meta })
    }

    fn parse(bytes: &[u8], layout: TraceLayout) -> Result<Metadata> {
        let at = |n: usize| Cursor::new(bytes.get(n..).unwrap_or_default(), "metadata");
        let flag = |n: usize| bytes.get(n).is_some_and(|b| *b != 0);
        // ranks, start, flags of compression, names
        let (ranks, start, packed, names) = match layout {
            TraceLayout::Records => (8, None, None, 24),
            TraceLayout::Plain => (0, Some(8), None, 32),
            TraceLayout::Shared => (0, Some(8), None, 40),
            TraceLayout::Packed => (0, Some(16), Some(36), 1024),
            TraceLayout::Numbered => (12, Some(32), Some(52), 56),
        };
        let mut version = String::new();
        if layout == TraceLayout::Numbered {
            let mut c = at(0);
            version = format!("{}.{}.{}", c.i32()?, c.i32()?, c.i32()?);
            layout_of(&version)?;
        }
        let (start_s, resolution) = match start {
            Some(n) => (at(n).f64()?, at(n + 8).f64()?),
            None => (0.0, at(0).f64()?),
        };
        if !(is_time(start_s) && resolution > 0.0 && resolution <= 1.0) {
            let found = format!("a start of {start_s} s and a time resolution of {resolution} s");
            return Err(at(0).malformed(found).expected("a start and a resolution between 0 and 1 s"));
        }
        let functions = match layout {
            TraceLayout::Numbered => fixed_names(bytes, at(16).i32()?)?,
            _ => lines(bytes.get(names..).unwrap_or_default()).map(text).collect(),
        };
        Ok(Metadata {
            layout,
            version,
            newer: false,
            ranks: ranks_at(at(ranks))?,
            start_s,
            resolution,
            packed_times: packed.is_some_and(flag),
            merged: match layout {
                TraceLayout::Shared => at(32).i32()? != 0,
                _ => packed.is_some_and(|n| flag(n + 1)),
            },
            differences: packed.is_some_and(|n| flag(n + 3)),
            call_sites: false,
            functions,
        })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ranks_at(mut c: Cursor<'_>) -> Result<u32> {
    let ranks = c.u32()?;
    if ranks > MOST_RANKS && ranks.swap_bytes() <= MOST_RANKS {
        return Err(Error::new(ErrorKind::Unsupported, "written on a machine of the other byte order (big-endian)")
            .remedy("convert it to text on that machine, by recorder2text"));
    }
    if ranks == 0 || ranks > MOST_RANKS {
        return Err(c.malformed(format_args!("{ranks} ranks")));
    }
    Ok(ranks)
}

fn fixed_names(bytes: &[u8], count: i32) -> Result<Vec<String>> {
    let names = bytes.get(56..).unwrap_or_default();
    let count = usize::try_from(count).ok().filter(|n| *n <= names.len() / NAME);
    let Some(count) = count else {
        return Err(Cursor::new(bytes, "metadata").malformed("the function names do not fit"));
    };
    Ok(names.chunks_exact(NAME).take(count).map(|name| text(until_nul(name))).collect())
}

/// The layout of a version, and whether it is newer than those known.
fn layout_of(version: &str) -> Result<(TraceLayout, bool)> {
    let mut numbers = version.split('.').map(|n| n.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(2), Some(0..=2)) => Ok((TraceLayout::Records, false)),
        (Some(2), Some(3)) => Ok((TraceLayout::Plain, false)),
        (Some(2), Some(minor)) => Ok((TraceLayout::Shared, minor > 5)),
        (Some(3), Some(minor)) => Ok((TraceLayout::Packed, minor > 0)),
        _ => Err(Error::new(ErrorKind::Unsupported, format!("Recorder of version {}", quote(version.as_bytes())))
            .expected("2.0 to 3.x")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        for (version, layout) in [
            ("2.2.0", Some((TraceLayout::Records, false))),
            ("2.3.3", Some((TraceLayout::Plain, false))),
            ("2.5", Some((TraceLayout::Shared, false))),
            ("2.10.0", Some((TraceLayout::Shared, true))),
            ("3.0.0", Some((TraceLayout::Packed, false))),
            ("3.1.0", Some((TraceLayout::Packed, true))),
            ("4.0.0", None),
            ("1.0", None),
            ("", None),
        ] {
            assert_eq!(layout_of(version).ok(), layout, "{version}");
        }
    }
}
