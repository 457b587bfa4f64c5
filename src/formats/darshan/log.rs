//! A log as it is: every region on its own.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::counters::{self, CounterTable, Schema};
use super::dxt::{self, DxtRecord};
use super::header::{Header, Module, Slot};
use super::heatmap::{self, HeatmapRecord};
use super::job::JobRecord;
use super::names::Names;
use super::others;
use super::region::{self, Region};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::formats::bytes::ByteOrder;
use crate::formats::limits::Limits;
use crate::record::{Layer, Striping, Warning};

/// A Darshan log: header, job and names read, module data read on request.
#[derive(Debug, Clone)]
pub struct Log {
    file: Vec<u8>,
    header: Header,
    job: JobRecord,
    names: Names,
    limits: Limits,
    stripe_units: OnceLock<HashMap<u64, u64>>,
    /// Warnings about the text that it was read from.
    warnings: Vec<Warning>,
    /// Layers whose times that text lacks.
    untimed: Vec<Layer>,
}

impl Log {
    /// A log from the bytes of its file.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`], [`ErrorKind::Unsupported`] or [`ErrorKind::Limit`] if header, job or names cannot be read, or
    /// a region lies outside the file.
    pub fn new(file: Vec<u8>, limits: &Limits) -> Result<Log> {
        let header = Header::parse(&file)?;
        let mut region = Region::new("job".into(), &file, header.job, header.compression, limits);
        let job = JobRecord::parse(&mut region, &header)?;
        let names = if header.names.1 > 0 {
            let mut region = Region::new("name".into(), &file, header.names, header.compression, limits);
            Names::parse(&mut region, &header, limits)?
        } else {
            Names::default()
        };
        Ok(Log::of_parts(file, header, job, names, limits))
    }

    /// A log whose regions lie in `file` as the header says.
    pub(super) fn of_parts(file: Vec<u8>, header: Header, job: JobRecord, names: Names, limits: &Limits) -> Log {
        let (limits, stripe_units) = (limits.clone(), OnceLock::new());
        Log { file, header, job, names, limits, stripe_units, warnings: Vec::new(), untimed: Vec::new() }
    }

    pub(super) fn of_text(self, warnings: Vec<Warning>, untimed: Vec<Layer>) -> Log {
        Log { warnings, untimed, ..self }
    }

    pub(super) fn untimed(&self) -> &[Layer] {
        &self.untimed
    }

    pub(super) fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The job record.
    pub fn job(&self) -> &JobRecord {
        &self.job
    }

    /// The names of record ids.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Stripe unit in bytes by record id, as far as the Lustre records can be read.
    pub(super) fn stripe_units(&self) -> &HashMap<u64, u64> {
        self.stripe_units.get_or_init(|| {
            let mut units = HashMap::new();
            if let Some(slot) = self.readable(Module::Lustre) {
                let mut note = |id, layout: Striping| {
                    units.insert(id, layout.stripe_bytes);
                };
                // The stripe unit only refines advice; reading the counters reports the damage.
                let _ = others::striping(&mut self.region(slot), slot.version, self.order(), &mut note);
            }
            units
        })
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> usize {
        self.file.len()
    }

    pub(super) fn order(&self) -> ByteOrder {
        self.header.order
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The slot of a module that has data of a version that can be read.
    pub(super) fn readable(&self, module: Module) -> Option<&Slot> {
        self.header.slot(module).filter(|s| s.version <= module.newest_version())
    }

    pub(super) fn region(&self, slot: &Slot) -> Region<'_> {
        let at = (slot.offset, slot.length);
        Region::new(slot.module.name(), &self.file, at, self.header.compression, &self.limits)
    }

    /// A region in parts that can be opened on their own, as [`region::guess_parts`] does.
    pub(super) fn guess_parts(&self, slot: &Slot, parts: usize, looks_right: impl Fn(&[u8]) -> bool) -> Vec<Slot> {
        let range = slot.offset as usize..(slot.offset + slot.length) as usize;
        let input = self.file.get(range).unwrap_or_default();
        let mut offset = slot.offset;
        region::guess_parts(input, self.header.compression, parts, looks_right)
            .into_iter()
            .map(|length| {
                let part = Slot { offset, length: length as u64, ..*slot };
                offset += length as u64;
                part
            })
            .collect()
    }

    fn supported(&self, module: Module) -> Result<Option<&Slot>> {
        match self.header.slot(module) {
            Some(s) if s.version > module.newest_version() => {
                Err(Error::new(ErrorKind::Unsupported, format!("{} data of version {}", module.name(), s.version))
                    .at(Place::Byte(s.offset))
                    .expected(format!("a version up to {}", module.newest_version())))
            }
            slot => Ok(slot),
        }
    }

    /// The counters of a layer, `None` if the log has none.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] or [`ErrorKind::Limit`] if the region is damaged, [`ErrorKind::Unsupported`] if its version is
    /// newer than those known.
    pub fn counters(&self, layer: Layer) -> Result<Option<CounterTable>> {
        let schema = Schema::of(layer);
        let Some(slot) = self.supported(schema.module())? else {
            return Ok(None);
        };
        let mut records = Vec::new();
        let walked = counters::walk(&mut self.region(slot), schema, slot, self.order(), |r| {
            records.push(r.clone());
            Ok(())
        })?;
        Ok(Some(CounterTable::new(schema, slot, records, walked)))
    }

    /// The DXT records of a layer, none for [`Layer::Stdio`].
    ///
    /// # Errors
    /// As [`Log::counters`].
    pub fn dxt(&self, layer: Layer) -> Result<Vec<DxtRecord>> {
        let Some(slot) = dxt_module(layer).map(|m| self.supported(m)).transpose()?.flatten() else {
            return Ok(Vec::new());
        };
        let mut all = dxt::Collect::default();
        dxt::walk(&mut self.region(slot), slot, self.order(), &mut all)?;
        Ok(all.records)
    }

    /// The heatmap records of all layers.
    ///
    /// # Errors
    /// As [`Log::counters`].
    pub fn heatmaps(&self) -> Result<Vec<HeatmapRecord>> {
        let mut all = Vec::new();
        if let Some(slot) = self.supported(Module::Heatmap)? {
            heatmap::walk(&mut self.region(slot), self.order(), |r| {
                all.push(r.clone());
                Ok(())
            })?;
        }
        Ok(all)
    }

    /// The layer of a heatmap record: by the name of its id. `None` for DFS, DAOS and unknown ones.
    pub fn heatmap_layer(&self, record: &HeatmapRecord) -> Option<Layer> {
        heatmap::layer(self.names.get(record.id)?)
    }

    /// Number of records of a module whose records are not read otherwise; `None` if it has no data or its layout is not known.
    ///
    /// # Errors
    /// As [`Log::counters`].
    pub fn count(&self, module: Module) -> Result<Option<u64>> {
        match self.supported(module)? {
            Some(slot) => others::count(&mut self.region(slot), slot, self.order()),
            None => Ok(None),
        }
    }

    /// Compressed streams and plain bytes of a module's region; zeros if it has no data.
    ///
    /// # Errors
    /// [`ErrorKind::Malformed`] or [`ErrorKind::Limit`] if the region is damaged.
    pub fn measure(&self, module: Module) -> Result<(u64, u64)> {
        let Some(slot) = self.header.slot(module) else {
            return Ok((0, 0));
        };
        let mut region = self.region(slot);
        while region.skip(1 << 20)? {}
        Ok((region.streams(), region.position()))
    }
}

/// The job record of a log from its first bytes.
pub(super) fn job_of_start(start: &[u8], limits: &Limits) -> Result<JobRecord> {
    let header = Header::parse_start(start, u64::MAX)?;
    let (offset, length) = header.job;
    let length = length.min((start.len() as u64).saturating_sub(offset));
    JobRecord::parse(&mut Region::new("job".into(), start, (offset, length), header.compression, limits), &header)
}

/// The module with the segments of a layer.
pub(super) fn dxt_module(layer: Layer) -> Option<Module> {
    match layer {
        Layer::Posix => Some(Module::DxtPosix),
        Layer::Mpiio => Some(Module::DxtMpiio),
        Layer::Stdio => None,
    }
}
