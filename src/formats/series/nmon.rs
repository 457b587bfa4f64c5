//! nmon: lines of sections. `ZZZZ` begins a snapshot, and the first line of a section names the disks of its columns.

use std::collections::HashMap;

use memchr::memmem;

use super::blocks::Blocks;
use super::sheet::Sheet;
use super::snapshots::{self, Growing};
use super::table::Row;
use crate::error::Result;
use crate::formats::lines::{Bad, Taken};
use crate::formats::number::parse_f64;
use crate::formats::options::ReadOptions;

/// True if the head is of nmon.
pub(super) fn is_nmon(head: &[u8]) -> bool {
    head.starts_with(b"AAA,") && memmem::find(head, b"nmon").is_some()
}

/// The snapshots so far, and the disks of the one under way: KiB per second since the one before.
pub(super) struct Snapshots {
    blocks: Blocks,
    /// The disks of a section: of many disks there are several, such as `DISKREAD1`.
    names: HashMap<Vec<u8>, Vec<String>>,
    disks: Vec<(String, Vec<(String, f64)>)>,
}

impl snapshots::Snapshots for Snapshots {
    fn line(&mut self, line: &[u8], _: u64) -> std::result::Result<Taken, Bad> {
        let fields: Vec<&[u8]> = line.split(|b| *b == b',').collect();
        match fields[..] {
            [b"AAA", b"host", name, ..] => self.blocks.of_host(String::from_utf8_lossy(name).into_owned()),
            [b"ZZZZ", _, time, date, ..] => {
                self.close();
                self.blocks.time(&[date, time].join(&b' '));
            }
            [section, first, ref values @ ..] => {
                let rate = match section {
                    s if s.starts_with(b"DISKREAD") => "kB_read/s",
                    s if s.starts_with(b"DISKWRITE") => "kB_wrtn/s",
                    _ => return Ok(Taken::Nothing),
                };
                let is_snapshot = first.strip_prefix(b"T").is_some_and(|n| n.iter().all(u8::is_ascii_digit));
                match is_snapshot {
                    true => return self.values(section, rate, values),
                    false => self.name(section, values),
                }
            }
            _ => {}
        }
        Ok(Taken::Nothing)
    }

    fn sheet(&self) -> &Sheet {
        self.blocks.sheet()
    }

    fn close(&mut self) {
        if !self.disks.is_empty() {
            self.blocks.add(&std::mem::take(&mut self.disks), None);
        }
    }

    fn finish(self) -> Result<Sheet> {
        self.blocks.finish()
    }
}

impl Growing for Snapshots {
    fn take(&mut self, ends: bool) -> Result<Vec<(usize, Row)>> {
        self.blocks.take(ends)
    }
}

impl Snapshots {
    pub(super) fn new(options: &ReadOptions) -> Snapshots {
        Snapshots { blocks: Blocks::new("nmon", options), names: HashMap::new(), disks: Vec::new() }
    }

    fn name(&mut self, section: &[u8], names: &[&[u8]]) {
        let names = names.iter().map(|n| String::from_utf8_lossy(n).into_owned()).collect();
        self.names.insert(section.to_vec(), names);
    }

    fn values(&mut self, section: &[u8], rate: &str, values: &[&[u8]]) -> std::result::Result<Taken, Bad> {
        let Some(names) = self.names.get(section) else {
            return Err(Bad::new("values before the names of their disks in", section, "a line of names"));
        };
        for (name, value) in names.iter().zip(values) {
            let place = self.disks.iter().position(|(n, _)| n == name).unwrap_or_else(|| {
                self.disks.push((name.clone(), Vec::new()));
                self.disks.len() - 1
            });
            self.disks[place].1.push((rate.to_owned(), parse_f64(value).unwrap_or(f64::NAN)));
        }
        Ok(Taken::Record)
    }
}
