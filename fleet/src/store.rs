//! The folder of a fleet: options, markers of batches, and the snapshot of those that count.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use datafusion::arrow::array::{Array, FixedSizeBinaryArray, StringArray};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde::{Deserialize, Serialize};

use crate::error::{Context, input, usage};
use crate::tables::{Key, Parts, SCHEMA_VERSION, temporary};
use iophase::Result;

/// Format of the files beside the tables.
const SCHEMA: &str = "iophase.fleet.v1";

/// Options that have to be the same for all logs of a fleet: name and value of each.
pub type Identity = BTreeMap<String, String>;

/// A batch that was committed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Marker {
    /// Its name: a hash of its logs, the options and the version of the tables.
    pub id: String,
    /// Number of its logs.
    pub logs: u64,
    /// Those that could not be read.
    pub bad: u64,
    /// Its files.
    pub parts: Parts,
    /// Seconds that it took.
    pub seconds: f64,
    /// Host and process that made it.
    pub worker: String,
    /// Version of iophase.
    pub version: String,
    /// Batches that no longer count, since this one has their rows.
    #[serde(default)]
    pub replaces: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Options {
    schema: String,
    tables: u32,
    options: Identity,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Snapshot {
    schema: String,
    logs: u64,
    bad: u64,
    batches: Vec<Marker>,
}

/// A log that is in the tables.
#[derive(Debug, Clone)]
pub struct Known {
    /// The batch that has its rows.
    pub batch: String,
    /// Its status.
    pub status: String,
}

/// The folder of a fleet.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// A fleet that exists.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](iophase::ErrorKind::Io) if the folder is none of a fleet.
    pub fn open(folder: &Path) -> Result<Store> {
        let store = Store { folder: folder.into() };
        match store.options_path().is_file() {
            true => Ok(store),
            false => Err(input(folder, "no fleet: it has no _fleet.json")
                .expected("a folder that `iophase fleet LOGS... -o FOLDER` made")),
        }
    }

    /// A fleet of these options, new or known. With `rebuild` what it holds is deleted if the options differ.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](iophase::ErrorKind::Usage) if it was made with other options.
    pub fn create(folder: &Path, options: &Identity, rebuild: bool) -> Result<Store> {
        let store = Store { folder: folder.into() };
        let path = store.options_path();
        fs::create_dir_all(folder).or_output(folder)?;
        if let Ok(text) = fs::read_to_string(&path) {
            let made: Options = serde_json::from_str(&text).or_input(&path)?;
            let differ = differences(&made, options);
            match (differ.is_empty(), rebuild) {
                (true, false) => return Ok(store),
                (false, false) => {
                    return Err(usage(format!("the fleet was made with other options: {}", differ.join(", ")))
                        .remedy("use the same options, another folder, or --rebuild to read all logs again")
                        .in_file(folder.display().to_string()));
                }
                _ => store.clear()?,
            }
        }
        let made = Options { schema: SCHEMA.into(), tables: SCHEMA_VERSION, options: options.clone() };
        write_atomically(&path, &serde_json::to_vec_pretty(&made).or_output(&path)?)?;
        Ok(store)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The options that it was made with.
    pub fn options(&self) -> Identity {
        let text = fs::read_to_string(self.options_path()).unwrap_or_default();
        serde_json::from_str::<Options>(&text).map(|o| o.options).unwrap_or_default()
    }

    fn options_path(&self) -> PathBuf {
        self.folder.join("_fleet.json")
    }

    fn marker_path(&self, id: &str) -> PathBuf {
        self.folder.join("_done").join(format!("{id}.json"))
    }

    fn clear(&self) -> Result<()> {
        let _ = fs::remove_file(self.folder.join("_snapshot.json"));
        let mut folders = vec!["_done"];
        let tables = crate::tables::all();
        folders.extend(tables.iter().map(|t| t.name));
        for name in folders {
            let path = self.folder.join(name);
            if path.exists() {
                fs::remove_dir_all(&path).or_output(&path)?;
            }
        }
        Ok(())
    }

    /// Commits a batch whose parts are written.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](iophase::ErrorKind::Output).
    pub fn commit(&self, marker: &Marker) -> Result<()> {
        let path = self.marker_path(&marker.id);
        fs::create_dir_all(self.folder.join("_done")).or_output(&path)?;
        write_atomically(&path, &serde_json::to_vec(marker).or_output(&path)?)
    }

    /// The batches that count: those of the snapshot, and those committed since.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](iophase::ErrorKind::Io) if the folder or a marker cannot be read.
    pub fn batches(&self) -> Result<Vec<Marker>> {
        let path = self.folder.join("_snapshot.json");
        let mut all = match fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str::<Snapshot>(&text).or_input(&path)?.batches,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(input(&path, e)),
        };
        let have: HashSet<String> = all.iter().map(|m| m.id.clone()).collect();
        let mut new = self.marker_ids()?;
        new.retain(|id| !have.contains(id));
        new.sort_unstable();
        for id in new {
            let path = self.marker_path(&id);
            let text = match fs::read_to_string(&path) {
                Ok(text) => text,
                // compacted meanwhile
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
                Err(e) => return Err(input(&path, e)),
            };
            all.push(serde_json::from_str(&text).or_input(&path)?);
        }
        let replaced: HashSet<String> = all.iter().flat_map(|m| m.replaces.iter().cloned()).collect();
        all.retain(|m| !replaced.contains(&m.id));
        Ok(all)
    }

    /// A batch that was committed.
    #[cfg(feature = "cluster")]
    pub(crate) fn marker(&self, id: &str) -> Option<Marker> {
        let text = fs::read_to_string(self.marker_path(id)).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(crate) fn marker_ids(&self) -> Result<Vec<String>> {
        let folder = self.folder.join("_done");
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(input(&folder, e)),
        };
        let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
        Ok(names.filter_map(|n| n.strip_suffix(".json").map(str::to_owned)).collect())
    }

    /// Writes the snapshot.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](iophase::ErrorKind::Output).
    pub fn fold(&self) -> Result<Vec<Marker>> {
        let batches = self.batches()?;
        let snapshot = Snapshot {
            schema: SCHEMA.into(),
            logs: batches.iter().map(|m| m.logs).sum(),
            bad: batches.iter().map(|m| m.bad).sum(),
            batches,
        };
        let path = self.folder.join("_snapshot.json");
        write_atomically(&path, &serde_json::to_vec(&snapshot).or_output(&path)?)?;
        Ok(snapshot.batches)
    }

    /// The logs that are in the tables, by key and by path. A batch that shares logs with one before it, as two runs with different
    /// lists at the same time could make, does not count: what only it has is read again.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](iophase::ErrorKind::Io) if a part cannot be read.
    pub fn known(&self) -> Result<(HashMap<Key, Known>, HashMap<String, Key>)> {
        let (mut keys, mut paths) = (HashMap::new(), HashMap::new());
        for marker in self.batches()? {
            let mut rows = Vec::new();
            for (part, _) in marker.parts.0.get("logs").into_iter().flatten() {
                rows.extend(read_logs(&self.folder.join(part))?);
            }
            if rows.iter().any(|(key, ..)| keys.contains_key(key)) {
                self.refuse(&marker)?;
                continue;
            }
            for (key, uri, status) in rows {
                keys.insert(key, Known { batch: marker.id.clone(), status });
                paths.insert(uri, key);
            }
        }
        Ok((keys, paths))
    }

    fn refuse(&self, marker: &Marker) -> Result<()> {
        let path = self.marker_path(&marker.id);
        fs::remove_file(&path).or_output(&path)?;
        let _ = fs::remove_file(self.folder.join("_snapshot.json"));
        self.fold().map(|_| ())
    }

    /// Deletes files that no batch has, older than `grace_s` seconds: of batches that were replaced or never committed.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](iophase::ErrorKind::Io) if the markers cannot be read.
    pub fn sweep(&self, grace_s: f64) -> Result<u64> {
        let batches = self.batches()?;
        let kept: HashSet<PathBuf> =
            batches.iter().flat_map(|m| m.parts.files()).map(|p| self.folder.join(p)).collect();
        let ids: HashSet<PathBuf> = batches.iter().map(|m| self.marker_path(&m.id)).collect();
        let mut waiting: Vec<PathBuf> = crate::tables::all().iter().map(|t| self.folder.join(t.name)).collect();
        waiting.extend(["_done", "_work"].map(|name| self.folder.join(name)));
        let mut deleted = 0;
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let Ok(meta) = entry.metadata() else { continue };
                let old =
                    meta.modified().ok().and_then(|t| t.elapsed().ok()).is_some_and(|t| t.as_secs_f64() >= grace_s);
                if meta.is_dir() {
                    waiting.push(path);
                } else if old && !kept.contains(&path) && !ids.contains(&path) && fs::remove_file(&path).is_ok() {
                    deleted += 1;
                }
            }
        }
        Ok(deleted)
    }
}

/// Options that differ, in words.
fn differences(made: &Options, wanted: &Identity) -> Vec<String> {
    let mut all = Vec::new();
    if made.tables != SCHEMA_VERSION {
        all.push(format!("version {} of the tables instead of {SCHEMA_VERSION}", made.tables));
    }
    let names: std::collections::BTreeSet<&String> = made.options.keys().chain(wanted.keys()).collect();
    for name in names {
        let value = |of: &Identity| of.get(name).map_or("none".to_owned(), Clone::clone);
        let (a, b) = (value(&made.options), value(wanted));
        if a != b {
            all.push(format!("{name} {a} instead of {b}"));
        }
    }
    all
}

/// Writes a file under another name in the same folder and renames it.
///
/// # Errors
/// [`ErrorKind::Output`](iophase::ErrorKind::Output).
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary(path);
    let written = File::create(&temporary).and_then(|mut f| f.write_all(bytes).and_then(|()| f.sync_data()));
    if let Err(e) = written.and_then(|()| fs::rename(&temporary, path)) {
        let _ = fs::remove_file(&temporary);
        return Err(crate::error::output(path, e));
    }
    Ok(())
}

/// The batches of rows of a part, of some columns or all.
///
/// # Errors
/// [`ErrorKind::Io`](iophase::ErrorKind::Io) if it cannot be read.
pub fn read_part(path: &Path, columns: Option<&[&str]>) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    let file = File::open(path).or_input(path)?;
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).or_input(path)?;
    if let Some(columns) = columns {
        let mask = ProjectionMask::columns(reader.parquet_schema(), columns.iter().copied());
        reader = reader.with_projection(mask);
    }
    let path = path.to_owned();
    Ok(reader.build().or_input(&path)?.map(move |b| b.or_input(&path)))
}

/// Key, path and status of the logs of a part.
fn read_logs(path: &Path) -> Result<Vec<(Key, String, String)>> {
    let mut all = Vec::new();
    for batch in read_part(path, Some(&["log_key", "uri", "status"]))? {
        let batch = batch?;
        let text =
            |name: &str| batch.column_by_name(name).and_then(|c| c.as_any().downcast_ref::<StringArray>()).cloned();
        let (Some(keys), Some(uris), Some(status)) = (keys_of(&batch), text("uri"), text("status")) else {
            return Err(input(path, "no part of the table logs"));
        };
        let value = |a: &StringArray, i: usize| if a.is_null(i) { String::new() } else { a.value(i).to_owned() };
        all.extend((0..batch.num_rows()).map(|i| (key_at(&keys, i), value(&uris, i), value(&status, i))));
    }
    Ok(all)
}

/// The column of keys.
pub fn keys_of(batch: &RecordBatch) -> Option<FixedSizeBinaryArray> {
    batch.column_by_name("log_key").and_then(|c| c.as_any().downcast_ref::<FixedSizeBinaryArray>()).cloned()
}

/// A key of a column.
pub fn key_at(keys: &FixedSizeBinaryArray, i: usize) -> Key {
    let mut key = Key::default();
    if let Ok(bytes) = keys.value(i).try_into() {
        key.0 = bytes;
    }
    key
}
