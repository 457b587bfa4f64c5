//! The name region: record ids to file names.

use std::collections::HashMap;

use super::header::Header;
use super::region::Region;
use crate::error::{Error, Result};
use crate::formats::bytes::Cursor;
use crate::formats::limits::Limits;

/// The names of a log. Most are paths; also `<STDOUT>`, `heatmap:POSIX`, HDF5 datasets, and numbers in anonymised logs.
#[derive(Debug, Clone, Default)]
pub struct Names {
    text: String,
    /// Id, start and length in `text`; in the order of the file.
    entries: Vec<(u64, usize, usize)>,
    index: HashMap<u64, usize>,
    records: u64,
    longest: usize,
}

impl Names {
    pub(super) fn parse(region: &mut Region, header: &Header, limits: &Limits) -> Result<Names> {
        let mut names = Names::default();
        // Format 3.00 gives the length, all later ones end the name with NUL.
        let counted = header.version_number == 300;
        let prefix = if counted { 12 } else { 8 };
        loop {
            let w = region.window(prefix)?;
            if w.is_empty() {
                return Ok(names);
            }
            if w.len() < prefix {
                let left = w.len();
                return Err(region.malformed(format!("{left} bytes after the last name")));
            }
            let f = Cursor::record(w, header.order);
            let id = f.u64_at(0);
            let length = if counted { Some(f.u32_at(8) as usize) } else { None };
            region.consume(prefix);
            let length = match length {
                Some(n) => n,
                None => find_end(region, limits)?,
            };
            if length > limits.name_bytes {
                return Err(too_long(region, length, limits));
            }
            let w = region.window(length)?;
            let Some(name) = w.get(..length) else {
                let left = w.len();
                return Err(region
                    .malformed(format!("a name ends after {left} bytes"))
                    .expected(format!("{length} bytes")));
            };
            names.longest = names.longest.max(length);
            names.add(id, &String::from_utf8_lossy(name), counted);
            region.consume(if counted { length } else { length + 1 });
        }
    }

    /// The first name of an id stays, but an empty one gives way to a later one (not in format 3.00).
    pub(super) fn add(&mut self, id: u64, name: &str, empty_stays: bool) {
        self.records += 1;
        let place = (id, self.text.len(), name.len());
        match self.index.get(&id).copied() {
            None => {
                self.index.insert(id, self.entries.len());
                self.entries.push(place);
                self.text.push_str(name);
            }
            Some(i) => {
                if let Some(entry) = self.entries.get_mut(i).filter(|e| e.2 == 0 && !empty_stays) {
                    *entry = place;
                    self.text.push_str(name);
                }
            }
        }
    }

    /// The name of a record id.
    pub fn get(&self, id: u64) -> Option<&str> {
        let &(_, at, len) = self.entries.get(*self.index.get(&id)?)?;
        self.text.get(at..at + len)
    }

    /// Ids and names, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        self.entries.iter().map(|&(id, at, len)| (id, self.text.get(at..at + len).unwrap_or_default()))
    }

    /// Bytes of all names.
    pub(super) fn text_bytes(&self) -> usize {
        self.text.len()
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Name records of the file, with those of an id that came before.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Bytes of the longest name.
    pub fn longest(&self) -> usize {
        self.longest
    }
}

/// Bytes of the name at the window up to its NUL.
fn find_end(region: &mut Region, limits: &Limits) -> Result<usize> {
    let mut looked = 0;
    loop {
        let w = region.window(looked + 1)?;
        if let Some(n) = w.get(looked..).and_then(|rest| memchr::memchr(0, rest)) {
            return Ok(looked + n);
        }
        if w.len() == looked {
            return Err(region.malformed("a name without end").expected("NUL"));
        }
        looked = w.len();
        if looked > limits.name_bytes {
            return Err(too_long(region, looked, limits));
        }
    }
}

fn too_long(region: &Region, length: usize, limits: &Limits) -> Error {
    Error::limit(
        format!("a name of {length} bytes or more at byte {} of the decompressed names", region.position()),
        format!("{} bytes", limits.name_bytes),
    )
}
