//! Parts: the rows of a batch as Parquet files, one for each table and month.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

use chrono::Datelike;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::metadata::KeyValue;
use datafusion::parquet::file::properties::WriterProperties;
use sha2::{Digest, Sha256};

use super::{
    BurstRow, Common, Description, FileRow, FindingRow, LayerRow, LogRow, LogRows, MinuteRow, PatternRow, PeriodRow,
    SCHEMA_VERSION, SignalRow, Table, Time, arrays,
};
use crate::error::{Context, output};
use crate::list::key_of;
use iophase::Result;

/// Rows of a row group.
const GROUP_ROWS: usize = 256 << 10;
/// Rows of a table and month that are kept before they are encoded.
const KEPT_ROWS: usize = 32 << 10;
/// Names that a bloom filter is made for.
const BLOOMED: [&str; 2] = ["app", "user_id"];
/// Distinct values of such a name in a row group; the filter shrinks to those that are there.
const BLOOM_VALUES: u64 = 10_000;

/// How a table is written: compression, row groups, indices and the documentation of its columns.
pub fn properties(table: &Description) -> WriterProperties {
    let docs: BTreeMap<&str, &str> = table.columns.iter().map(|c| (c.name, c.doc.as_str())).collect();
    let docs = serde_json::to_string(&docs).unwrap_or_default();
    let pairs = vec![
        KeyValue::new("iophase.fleet.schema".into(), SCHEMA_VERSION.to_string()),
        KeyValue::new("iophase.fleet.table".into(), table.doc.clone()),
        KeyValue::new("iophase.fleet.columns".into(), docs),
    ];
    let level = ZstdLevel::try_new(3).unwrap_or_default();
    let mut p = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_created_by(concat!("iophase-fleet ", env!("CARGO_PKG_VERSION")).into())
        .set_key_value_metadata(Some(pairs));
    for name in BLOOMED {
        p = p.set_column_bloom_filter_max_ndv(name.into(), BLOOM_VALUES);
    }
    p.build()
}

/// A file that is being written: under another name until it is whole.
struct Part {
    writer: Option<ArrowWriter<File>>,
    temporary: PathBuf,
    path: PathBuf,
    rows: u64,
}

/// A name for a file until it is whole. Two tasks that do the same batch do not meet there, be it on
/// one machine or two.
pub fn temporary(path: &Path) -> PathBuf {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let made = MADE.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{}-{made}.tmp", host(), std::process::id()));
    path.with_file_name(name)
}

/// Name of this machine.
pub fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

impl Drop for Part {
    fn drop(&mut self) {
        // of a batch that failed; one that is whole has its own name by now
        let _ = fs::remove_file(&self.temporary);
    }
}

impl Part {
    fn create(path: PathBuf, table: &Description) -> Result<Part> {
        let temporary = temporary(&path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).or_output(folder)?;
        }
        let file = File::create(&temporary).or_output(&temporary)?;
        let writer = ArrowWriter::try_new(file, table.schema(), Some(properties(table))).or_output(&temporary)?;
        Ok(Part { writer: Some(writer), temporary, path, rows: 0 })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        self.writer.as_mut().map_or(Ok(()), |w| w.write(batch).or_output(&self.temporary))
    }

    /// Bytes of the file so far.
    fn bytes(&self) -> usize {
        self.writer.as_ref().map_or(0, |w| w.bytes_written() + w.in_progress_size())
    }

    /// Ends the file and gives it its name.
    fn finish(mut self) -> Result<(PathBuf, u64)> {
        if let Some(writer) = self.writer.take() {
            let file = writer.into_inner().or_output(&self.temporary)?;
            file.sync_data().or_output(&self.temporary)?;
        }
        fs::rename(&self.temporary, &self.path).or_output(&self.path)?;
        Ok((std::mem::take(&mut self.path), self.rows))
    }
}

/// Rows of a table that wait to be encoded.
struct Waiting<T> {
    rows: Vec<(Arc<Common>, T)>,
    part: Option<Part>,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Waiting { rows: Vec::new(), part: None }
    }
}

impl<T: Table> Waiting<T> {
    fn push(&mut self, common: &Arc<Common>, rows: Vec<T>, place: &Place<'_>) -> Result<()> {
        self.rows.extend(rows.into_iter().map(|r| (Arc::clone(common), r)));
        if self.rows.len() >= KEPT_ROWS { self.encode(place) } else { Ok(()) }
    }

    fn encode(&mut self, place: &Place<'_>) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let table = Description::of::<T>();
        let rows: Vec<(&Common, &T)> = self.rows.iter().map(|(c, r)| (c.as_ref(), r)).collect();
        let batch = RecordBatch::try_new(table.schema(), arrays(&rows)).map_err(|e| output(place.folder, e))?;
        if self.part.is_none() {
            self.part = Some(Part::create(part_path(place.folder, T::NAME, place.month, place.stem), &table)?);
        }
        if let Some(part) = &mut self.part {
            part.write(&batch)?;
        }
        self.rows.clear();
        Ok(())
    }

    fn finish(mut self, place: &Place<'_>, made: &mut Parts) -> Result<()> {
        self.encode(place)?;
        if let Some(part) = self.part {
            let (path, rows) = part.finish()?;
            made.add(T::NAME, place.folder, &path, rows);
        }
        Ok(())
    }
}

struct Place<'a> {
    folder: &'a Path,
    month: &'a str,
    stem: &'a str,
}

/// The tables of one month.
#[derive(Default)]
struct Month {
    logs: Waiting<LogRow>,
    signals: Waiting<SignalRow>,
    periods: Waiting<PeriodRow>,
    bursts: Waiting<BurstRow>,
    minutes: Waiting<MinuteRow>,
    layers: Waiting<LayerRow>,
    files: Waiting<FileRow>,
    findings: Waiting<FindingRow>,
    patterns: Waiting<PatternRow>,
}

/// Files of a batch by table: paths within the fleet's folder, and rows.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Parts(pub BTreeMap<String, Vec<(String, u64)>>);

impl Parts {
    fn add(&mut self, table: &str, folder: &Path, path: &Path, rows: u64) {
        let within = path.strip_prefix(folder).unwrap_or(path).display().to_string();
        self.0.entry(table.to_owned()).or_default().push((within, rows));
    }

    /// All files.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.0.values().flatten().map(|(path, _)| path.as_str())
    }
}

/// Writes the rows of a batch.
pub struct PartWriter {
    folder: PathBuf,
    batch: String,
    stem: String,
    months: BTreeMap<String, Month>,
}

impl PartWriter {
    /// A writer of parts of a batch in a fleet's folder.
    pub fn new(folder: &Path, batch: &str) -> PartWriter {
        PartWriter { folder: folder.into(), batch: batch.into(), stem: unique(batch), months: BTreeMap::new() }
    }

    /// Adds the rows of a log.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](iophase::ErrorKind::Output) if a part cannot be written.
    pub fn push(&mut self, rows: LogRows) -> Result<()> {
        let name = month_of(rows.common.start_time);
        let month = self.months.entry(name.clone()).or_default();
        let place = Place { folder: &self.folder, month: &name, stem: &self.stem };
        let common = Arc::new(rows.common);
        let log = LogRow { batch: Some(self.batch.clone()), ..rows.log };
        month.logs.push(&common, vec![log], &place)?;
        month.signals.push(&common, rows.signals, &place)?;
        month.periods.push(&common, rows.periods, &place)?;
        month.bursts.push(&common, rows.bursts, &place)?;
        month.minutes.push(&common, rows.minutes, &place)?;
        month.layers.push(&common, rows.layers, &place)?;
        month.files.push(&common, rows.files, &place)?;
        month.findings.push(&common, rows.findings, &place)?;
        month.patterns.push(&common, rows.patterns, &place)
    }

    /// Ends all parts and gives them their names.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn finish(self) -> Result<Parts> {
        let mut made = Parts::default();
        for (month, m) in self.months {
            let place = Place { folder: &self.folder, month: &month, stem: &self.stem };
            m.logs.finish(&place, &mut made)?;
            m.signals.finish(&place, &mut made)?;
            m.periods.finish(&place, &mut made)?;
            m.bursts.finish(&place, &mut made)?;
            m.minutes.finish(&place, &mut made)?;
            m.layers.finish(&place, &mut made)?;
            m.files.finish(&place, &mut made)?;
            m.findings.finish(&place, &mut made)?;
            m.patterns.finish(&place, &mut made)?;
        }
        Ok(made)
    }
}

/// Writes ready rows of one table for a batch, as `compact` has them: at most `most_bytes` a file.
///
/// # Errors
/// [`ErrorKind::Output`](iophase::ErrorKind::Output) if a file cannot be written.
pub fn write_batches(
    folder: &Path,
    table: &Description,
    batch: &str,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    most_bytes: usize,
) -> Result<Parts> {
    let mut made = Parts::default();
    let mut part: Option<Part> = None;
    for rows in batches {
        let mut open = match part.take() {
            Some(p) => p,
            None => Part::create(part_path(folder, table.name, "all", &unique(batch)), table)?,
        };
        open.write(&rows?)?;
        if open.bytes() >= most_bytes {
            let (path, rows) = open.finish()?;
            made.add(table.name, folder, &path, rows);
        } else {
            part = Some(open);
        }
    }
    if let Some(open) = part {
        let (path, rows) = open.finish()?;
        made.add(table.name, folder, &path, rows);
    }
    Ok(made)
}

fn part_path(folder: &Path, table: &str, month: &str, stem: &str) -> PathBuf {
    folder.join(table).join(format!("month={month}")).join(format!("part-{stem}.parquet"))
}

/// A stem for the files of a batch that no other run gives them: two runs may make the same batch, of which one counts.
fn unique(batch: &str) -> String {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let since = UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
    let run = format!("{} {} {since} {}", host(), std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    format!("{batch}-{}", &key_of(Sha256::new().chain_update(run)).hex()[..8])
}

/// `2026-01` in UTC; `unknown` without a time that can be one of a job (1970 to 9999).
fn month_of(start: Time) -> String {
    let possible = start.date_time().filter(|t| t.timestamp() >= 86_400 && t.year() <= 9999);
    possible.map_or_else(|| "unknown".into(), |t| t.format("%Y-%m").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_those_of_the_calendar() {
        let month = |s: f64| month_of(Time::of_seconds(s));
        assert_eq!(month(1_767_225_600.0), "2026-01");
        assert_eq!(month(1_767_225_599.0), "2025-12");
        assert_eq!((month(951_868_799.0), month(951_868_800.0)), ("2000-02".into(), "2000-03".into()));
        assert_eq!(
            (month(-5.0), month(f64::NAN), month_of(Time(None))),
            ("unknown".into(), "unknown".into(), "unknown".into())
        );
    }
}
