//! The header: version, byte order, compression, and where the regions are.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind, Place, Result};
use crate::formats::bytes::{ByteOrder, Cursor, until_nul};
use crate::remedy::Remedy;

/// The number at byte 8 of every log.
const MAGIC: u64 = 6_567_223;

/// Format versions that releases 3.0.0 to 3.5.0 have written.
const VERSIONS: [&str; 5] = ["3.00", "3.10", "3.20", "3.21", "3.41"];

/// Compression of all regions of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionCompression {
    /// zlib streams.
    Zlib,
    /// bzip2 streams.
    Bzip2,
    /// None: a region is its data.
    None,
}

impl RegionCompression {
    /// `zlib`, `bzip2` or `none`.
    pub fn name(self) -> &'static str {
        match self {
            RegionCompression::Zlib => "zlib",
            RegionCompression::Bzip2 => "bzip2",
            RegionCompression::None => "none",
        }
    }
}

/// A Darshan module, by its current number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Module {
    /// POSIX counters.
    Posix,
    /// MPI-IO counters.
    MpiIo,
    /// HDF5 files.
    H5f,
    /// HDF5 datasets.
    H5d,
    /// PnetCDF files.
    PnetcdfFile,
    /// PnetCDF variables.
    PnetcdfVar,
    /// Blue Gene/Q.
    Bgq,
    /// Lustre striping.
    Lustre,
    /// Counters of C library streams.
    Stdio,
    /// Segments of POSIX reads and writes.
    DxtPosix,
    /// Segments of MPI-IO reads and writes.
    DxtMpiio,
    /// MDHIM.
    Mdhim,
    /// Cray Aries counters (AutoPerf).
    Apxc,
    /// MPI counters (AutoPerf).
    Apmpi,
    /// Bytes over time.
    Heatmap,
    /// DAOS file system.
    Dfs,
    /// DAOS objects.
    Daos,
    /// A number that no release up to 3.5.0 uses.
    Unknown(u8),
}

impl Module {
    const NAMED: [(Module, &'static str); 17] = [
        (Module::Posix, "POSIX"),
        (Module::MpiIo, "MPI-IO"),
        (Module::H5f, "H5F"),
        (Module::H5d, "H5D"),
        (Module::PnetcdfFile, "PNETCDF_FILE"),
        (Module::PnetcdfVar, "PNETCDF_VAR"),
        (Module::Bgq, "BG/Q"),
        (Module::Lustre, "LUSTRE"),
        (Module::Stdio, "STDIO"),
        (Module::DxtPosix, "DXT_POSIX"),
        (Module::DxtMpiio, "DXT_MPIIO"),
        (Module::Mdhim, "MDHIM"),
        (Module::Apxc, "APXC"),
        (Module::Apmpi, "APMPI"),
        (Module::Heatmap, "HEATMAP"),
        (Module::Dfs, "DFS"),
        (Module::Daos, "DAOS"),
    ];

    /// The module with this current number.
    fn from_number(id: usize) -> Module {
        id.checked_sub(1).and_then(|i| Module::NAMED.get(i)).map_or(Module::Unknown(id as u8), |&(m, _)| m)
    }

    /// The module that Darshan calls so.
    pub(super) fn named(name: &str) -> Option<Module> {
        Module::NAMED.iter().find(|(_, n)| *n == name).map(|&(module, _)| module)
    }

    /// Current number.
    pub fn number(self) -> u8 {
        match self {
            Module::Unknown(n) => n,
            m => 1 + Module::NAMED.iter().position(|&(x, _)| x == m).unwrap_or_default() as u8,
        }
    }

    /// Darshan's name.
    pub fn name(self) -> Cow<'static, str> {
        match Module::NAMED.iter().find(|&&(m, _)| m == self) {
            Some(&(_, name)) => Cow::Borrowed(name),
            None => Cow::Owned(format!("module {}", self.number())),
        }
    }

    /// The highest version that the releases up to 3.5.0, and for DXT the one after, have written.
    pub fn newest_version(self) -> u32 {
        match self {
            Module::Posix => 4,
            Module::MpiIo | Module::H5f | Module::PnetcdfFile | Module::DxtMpiio => 3,
            Module::Stdio | Module::H5d | Module::Bgq | Module::Lustre | Module::DxtPosix => 2,
            _ => 1,
        }
    }
}

/// Where a module's data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The module.
    pub module: Module,
    /// Its number in this file; older formats number otherwise.
    pub file_index: u8,
    /// Version of its records.
    pub version: u32,
    /// Start of its region in bytes.
    pub offset: u64,
    /// Length of its region in (compressed) bytes; 0 if the module wrote nothing.
    pub length: u64,
    /// The module ran out of memory: data is missing.
    pub partial: bool,
}

impl Slot {
    /// End of its region, which [`Header::parse`] has checked to be a number.
    fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}

/// Where regions with data end.
fn ends(slots: &[Slot]) -> impl Iterator<Item = u64> {
    slots.iter().filter(|s| s.length > 0).map(Slot::end)
}

/// The header of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Version of the format, e.g. `3.41`; not the release of Darshan.
    pub version: String,
    /// 100 × the version.
    pub version_number: u32,
    /// Byte order of all numbers.
    pub order: ByteOrder,
    /// Compression of all regions.
    pub compression: RegionCompression,
    /// Bytes of the header.
    pub length: u64,
    /// The partial flags as stored, by the module numbers of this file.
    pub partial_bits: u64,
    /// Start and length of the job region.
    pub job: (u64, u64),
    /// Start and length of the name region; length 0 if there is none.
    pub names: (u64, u64),
    /// Modules with data or with their partial flag set, in the order of their numbers.
    pub slots: Vec<Slot>,
    /// Modules whose data the file ends before or within, of a log that was cut.
    pub cut: Vec<Module>,
    /// Bytes of the whole file, by the end of the last region.
    pub whole_bytes: u64,
}

/// True if the bytes carry the magic number of a Darshan log of format 3.
pub(super) fn has_magic(head: &[u8]) -> bool {
    byte_order(head).is_some()
}

fn byte_order(head: &[u8]) -> Option<ByteOrder> {
    let bytes = head.get(..16)?;
    [ByteOrder::Little, ByteOrder::Big].into_iter().find(|&order| Cursor::record(bytes, order).u64_at(8) == MAGIC)
}

/// 100 times a format version, also one that no log is read of.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if it is none, or of a release before 3.0.
pub(super) fn number_of_text(version: &str) -> Result<u32> {
    let number: Option<u32> = version.replacen('.', "", 1).parse().ok().filter(|_| version.len() == 4);
    let error = |found: String| Error::new(ErrorKind::Unsupported, found).at(Place::Byte(0));
    match number {
        Some(number @ 300..) => Ok(number),
        Some(_) => Err(error(format!("a log of Darshan 2 (format {version})"))
            .expected("a log of Darshan 3.0 or later")
            .remedy("darshan-parser of darshan-util 2.3.1, the last release of 2.x, prints it; releases from 3.0 on cannot read it")),
        None => Err(error(format!("format version {version:?}")).expected(format!("one of {}", VERSIONS.join(", ")))),
    }
}

/// The current number of a file's module index: formats before 3.20 had no H5D (4), before 3.41 no PNETCDF_VAR (6).
fn current_number(index: usize, version_number: u32) -> usize {
    let mut i = index;
    if version_number < 320 && i >= 4 {
        i += 1;
    }
    if version_number < 341 && i >= 6 {
        i += 1;
    }
    i
}

impl Header {
    /// Reads the header and checks its regions. Of a file that was cut, the modules that are whole are kept, and of
    /// segments what is there.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] with the place, also if no module is left, [`ErrorKind::Unsupported`] for another format
    /// version or compression.
    pub fn parse(file: &[u8]) -> Result<Header> {
        Header::parse_start(file, file.len() as u64)
    }

    /// The header from the first bytes of a file of `file_bytes`.
    pub(super) fn parse_start(file: &[u8], file_bytes: u64) -> Result<Header> {
        let Some(order) = byte_order(file) else {
            let what = if file.is_empty() { "an empty file" } else { "no Darshan magic number" };
            return Err(Error::malformed(Place::Byte(8), what)
                .expected(format!("{MAGIC} in either byte order"))
                .remedy(Remedy::NameOtherFormat));
        };
        let text = String::from_utf8_lossy(until_nul(&file[..8])).into_owned();
        let version_number = number_of_text(&text)?;
        if !VERSIONS.contains(&text.as_str()) {
            return Err(Error::new(ErrorKind::Unsupported, format!("format version {text:?}"))
                .at(Place::Byte(0))
                .expected(format!("one of {}", VERSIONS.join(", ")))
                .remedy("print the log with darshan-parser of the release that wrote it, and read that text"));
        }
        let wide = version_number >= 341;
        let (length, slots, map_at, versions_at) = if wide { (1328, 64, 48, 1072) } else { (360, 16, 40, 296) };
        let Some(bytes) = file.get(..length) else {
            return Err(truncated(file, length as u64).at(Place::Byte(file.len() as u64)));
        };
        let f = Cursor::record(bytes, order);
        let compression = match bytes[16] {
            0 => RegionCompression::Zlib,
            1 => RegionCompression::Bzip2,
            2 => RegionCompression::None,
            x => {
                return Err(Error::new(ErrorKind::Unsupported, format!("compression {x}"))
                    .at(Place::Byte(16))
                    .expected("0 (zlib), 1 (bzip2) or 2 (none)"));
            }
        };
        let (partial_bits, names_at) = if wide { (f.u64_at(24), 32) } else { (f.u32_at(20).into(), 24) };
        let names = (f.u64_at(names_at), f.u64_at(names_at + 8));
        // The end of a region; it may lie behind the end of a file that was cut.
        let check = |place: usize, what: &str, (offset, len): (u64, u64)| -> Result<u64> {
            if offset < length as u64 {
                return Err(Error::malformed(
                    Place::Byte(place as u64),
                    format!("the {what} region starts at byte {offset}, inside the header"),
                )
                .expected(format!("{length} or more")));
            }
            offset.checked_add(len).ok_or_else(|| {
                Error::malformed(
                    Place::Byte(place as u64),
                    format!("the {what} region starts at byte {offset} and has {len} bytes"),
                )
                .expected("a region within the file")
            })
        };
        if names.1 > 0 && check(names_at, "name", names)? > file_bytes {
            return Err(truncated(file, names.0 + names.1).at(Place::Byte(file.len() as u64)));
        }
        let mut found = Vec::new();
        for index in 0..slots {
            let at = map_at + 16 * index;
            let slot = Slot {
                module: Module::from_number(current_number(index, version_number)),
                file_index: index as u8,
                version: f.u32_at(versions_at + 4 * index),
                offset: f.u64_at(at),
                length: f.u64_at(at + 8),
                partial: partial_bits >> index & 1 == 1,
            };
            // A module that wrote nothing has length 0, and often an offset at the end of the file.
            if slot.length > 0 {
                check(at, &slot.module.name(), (slot.offset, slot.length))?;
                if slot.version == 0 {
                    return Err(Error::malformed(
                        Place::Byte((versions_at + 4 * index) as u64),
                        format!("{} has data of version 0", slot.module.name()),
                    )
                    .expected("a version of 1 or more"));
                }
            }
            if slot.length > 0 || slot.partial {
                found.push(slot);
            }
        }
        check_overlaps(names, &found)?;
        let after_job = [names.0].into_iter().chain(found.iter().map(|s| s.offset));
        let end = after_job.filter(|&o| o >= length as u64 && o <= file_bytes).min().unwrap_or(file_bytes);
        let whole_bytes = ends(&found).max().unwrap_or_default();
        let cut = cut_off(&mut found, file_bytes)
            .ok_or_else(|| truncated(file, whole_bytes).at(Place::Byte(file.len() as u64)))?;
        Ok(Header {
            version: text,
            version_number,
            order,
            compression,
            length: length as u64,
            partial_bits,
            job: (length as u64, end - length as u64),
            names,
            slots: found,
            cut,
            whole_bytes,
        })
    }

    /// Facts from the header, in the words of the event model.
    pub(super) fn facts(&self) -> crate::record::Header {
        // the log that a text was printed from is not here
        let is_stored = self.length > 0;
        crate::record::Header {
            version: Some(self.version.clone()),
            byte_order: is_stored.then(|| self.order.name().to_owned()),
            compression: is_stored.then(|| self.compression.name().to_owned()),
        }
    }

    /// The slot of a module that has data.
    pub fn slot(&self, module: Module) -> Option<&Slot> {
        self.slots.iter().find(|s| s.module == module && s.length > 0)
    }
}

/// Takes from a log that was cut what lies behind its end, and gives the modules that lose data by it. `None` if no module
/// is left, or if something lies between the missing regions, which follow one another in a log: then the header is wrong.
fn cut_off(slots: &mut Vec<Slot>, file_bytes: u64) -> Option<Vec<Module>> {
    let ends: Vec<u64> = ends(slots).collect();
    let mut cut = Vec::new();
    for slot in slots.iter_mut().filter(|s| s.length > 0 && s.end() > file_bytes) {
        if slot.offset > file_bytes && !ends.contains(&slot.offset) {
            return None;
        }
        cut.push(slot.module);
        // Counters without their end are no totals; segments stand for themselves.
        let segments = matches!(slot.module, Module::DxtPosix | Module::DxtMpiio);
        slot.length = if segments { file_bytes.saturating_sub(slot.offset) } else { 0 };
    }
    slots.retain(|s| s.length > 0 || s.partial);
    (cut.is_empty() || slots.iter().any(|s| s.length > 0)).then_some(cut)
}

/// Refuses regions that share bytes: one of them would be read as what it is not.
fn check_overlaps(names: (u64, u64), slots: &[Slot]) -> Result<()> {
    let mut regions: Vec<(u64, u64, Cow<str>)> = slots.iter().map(|s| (s.offset, s.length, s.module.name())).collect();
    regions.push((names.0, names.1, "name".into()));
    regions.retain(|r| r.1 > 0);
    regions.sort();
    for pair in regions.windows(2) {
        if let [a, b] = pair
            && a.0 + a.1 > b.0
        {
            return Err(Error::malformed(Place::Byte(b.0), format!("the {} and {} regions overlap", a.2, b.2))
                .expected("regions that share no bytes"));
        }
    }
    Ok(())
}

fn truncated(file: &[u8], wanted: u64) -> Error {
    Error::new(ErrorKind::Malformed, format!("the file ends after {} bytes", file.len()))
        .expected(format!("{wanted} bytes or more, as its header says"))
        .remedy("copy the log again: it was cut on the way")
}
