//! The folder of a fleet: its options, and its tables as Delta tables that follow one another.
//!
//! A batch counts once it is in the log of the table `logs`, whose commit names the files of all tables. The other tables follow
//! commit by commit and note how far they have come, so a run that is killed between two tables costs nothing.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use datafusion::arrow::array::{Array, BinaryArray, StringArray, new_null_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, FieldRef, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::delta::{Change, DataFile, DeltaLog};
use crate::error::{Context, input, usage};
use crate::list::key_of;
use crate::tables::{Key, Parts, SCHEMA_VERSION, all, temporary};
use iophase::Result;

/// Format of the files beside the tables.
const SCHEMA: &str = "iophase.fleet.v2";

/// Options that have to be the same for all logs of a fleet: name and value of each.
pub type Identity = BTreeMap<String, String>;

/// Some logs, and the files of their rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Batch {
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
    /// It has just the rows of those that it replaces.
    #[serde(default)]
    pub same_rows: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Options {
    schema: String,
    tables: u32,
    options: Identity,
}

/// A log that is in the tables.
#[derive(Debug, Clone)]
pub struct Known {
    /// The batch that has its rows.
    pub batch: String,
    /// Its status.
    pub status: String,
}

/// Key and path of a log, as the tables have them.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub key: Key,
    pub uri: String,
}

/// What a log of a list is to the tables.
#[derive(Debug, Default)]
pub(crate) struct Lookup {
    /// Logs with a key of the list.
    pub keys: HashMap<Key, Known>,
    /// Keys of logs with a path of the list.
    pub paths: HashMap<String, Key>,
    /// Logs that are not in the list: those that `gone` takes.
    pub gone: Vec<(Key, Known)>,
}

/// The tables, and what other runs have added since this one has looked at them.
#[derive(Default)]
struct State {
    tables: BTreeMap<&'static str, DeltaLog>,
    /// Work was planned with what the tables had.
    planned: bool,
    /// Files of `logs` that were looked at.
    seen: HashSet<String>,
    keys: HashSet<Key>,
    /// Hashes of their paths.
    paths: HashSet<Key>,
}

/// The folder of a fleet.
pub struct Store {
    folder: PathBuf,
    state: Mutex<State>,
}

impl Store {
    /// A fleet that exists.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](iophase::ErrorKind::Io) if the folder is none of a fleet, or of an earlier form.
    pub fn open(folder: &Path) -> Result<Store> {
        let store = Store { folder: folder.into(), state: Mutex::default() };
        if !store.options_path().is_file() {
            return Err(input(folder, "no fleet: it has no _fleet.json")
                .expected("a folder that `iophase fleet LOGS... -o FOLDER` made"));
        }
        if crate::convert::is_earlier(folder) {
            return Err(input(folder, "a fleet of an earlier form, whose tables are no Delta tables")
                .remedy(format!("convert it: iophase fleet convert {}", folder.display())));
        }
        Ok(store)
    }

    /// A fleet of these options, new or known. With `rebuild` what it holds is deleted if the options differ.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](iophase::ErrorKind::Usage) if it was made with other options.
    pub fn create(folder: &Path, options: &Identity, rebuild: bool) -> Result<Store> {
        fs::create_dir_all(folder).or_output(folder)?;
        let path = folder.join("_fleet.json");
        if let Ok(text) = fs::read_to_string(&path) {
            let store = if rebuild { Store::at(folder) } else { Store::open(folder)? };
            let made: Options = serde_json::from_str(&text).or_input(&path)?;
            let differ = differences(&made, options);
            match (differ.is_empty(), rebuild) {
                (true, false) => return store.with_tables(),
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
        Store::at(folder).with_tables()
    }

    pub(crate) fn at(folder: &Path) -> Store {
        Store { folder: folder.into(), state: Mutex::default() }
    }

    /// Makes the tables that are not there.
    pub(crate) fn with_tables(self) -> Result<Store> {
        {
            let mut state = self.state();
            for table in all() {
                state.tables.insert(table.name, DeltaLog::create(&self.folder.join(table.name), &table)?);
            }
        }
        Ok(self)
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clear(&self) -> Result<()> {
        let _ = fs::remove_file(self.folder.join("_snapshot.json"));
        for name in all().iter().map(|t| t.name).chain(["_done"]) {
            let path = self.folder.join(name);
            if path.exists() {
                fs::remove_dir_all(&path).or_output(&path)?;
            }
        }
        Ok(())
    }

    /// A table as of now.
    fn table<'a>(&self, state: &'a mut State, name: &'static str) -> Result<&'a mut DeltaLog> {
        let table = match state.tables.remove(name) {
            Some(mut table) => {
                table.refresh()?;
                table
            }
            None => DeltaLog::open(&self.folder.join(name), None)?
                .ok_or_else(|| input(&self.folder.join(name), "no table: it has no log of commits"))?,
        };
        Ok(state.tables.entry(name).or_insert(table))
    }

    /// Commits a batch whose parts are written, unless one of `new`, its logs that no table had, is in the tables by now or a batch that
    /// it replaces is not: then gives false.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](iophase::ErrorKind::Output).
    pub(crate) fn commit(&self, batch: &Batch, new: &[Name]) -> Result<bool> {
        let mut state = self.state();
        loop {
            // the commit is made on the files that were looked at, or not at all
            let files = if new.is_empty() { self.table(&mut state, "logs")?.files()? } else { self.look(&mut state)? };
            if new.iter().any(|log| state.has(log)) {
                return Ok(false);
            }
            let active: HashSet<&str> = files.iter().map(|f| batch_of(&f.path)).collect();
            if !batch.replaces.iter().all(|id| active.contains(id.as_str())) {
                return Ok(false);
            }
            let change = Change { batch: Some(batch), ..change(&[batch], "logs", files) };
            let own: Vec<String> = change.adds.iter().map(|f| f.path.clone()).collect();
            if state.commit("logs", change)? {
                state.seen.extend(own);
                break;
            }
        }
        self.follow_with(&mut state)?;
        Ok(true)
    }

    /// Brings the other tables to the last commit of `logs`.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](iophase::ErrorKind::Output).
    pub fn follow(&self) -> Result<()> {
        self.follow_with(&mut self.state())
    }

    fn follow_with(&self, state: &mut State) -> Result<()> {
        let mut pending: BTreeMap<u64, Batch> = BTreeMap::new();
        let last = self.table(state, "logs")?.version();
        for description in all().into_iter().filter(|t| t.name != "logs") {
            loop {
                let table = self.table(state, description.name)?;
                let (followed, files) = (table.followed()?, table.files()?);
                if followed >= last {
                    break;
                }
                if pending.first_key_value().is_none_or(|(first, _)| *first > followed + 1) {
                    pending = self.table(state, "logs")?.batches_since(followed)?.into_iter().collect();
                }
                let batches: Vec<&Batch> = pending.range(followed + 1..=last).map(|(_, b)| b).collect();
                let change = Change { follows: Some(last), ..change(&batches, description.name, files) };
                // also if it has no file of these batches: commits of long ago are deleted, so it must not fall behind
                if state.commit(description.name, change)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The batches that count, of which only names, numbers of logs and files are known.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](iophase::ErrorKind::Io) if the folder cannot be read.
    pub fn batches(&self) -> Result<Vec<Batch>> {
        let mut state = self.state();
        for table in all() {
            self.table(&mut state, table.name)?;
        }
        state.batches()
    }

    /// As [`batches`](Self::batches), with all files of each: while another run commits, some tables are ahead of others.
    ///
    /// # Errors
    /// As there; [`ErrorKind::Output`](iophase::ErrorKind::Output) if a table cannot follow.
    pub(crate) fn whole_batches(&self) -> Result<Vec<Batch>> {
        let mut state = self.state();
        loop {
            self.follow_with(&mut state)?;
            if state.is_level()? {
                return state.batches();
            }
        }
    }

    /// Number of the last commit of the table `logs`.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](iophase::ErrorKind::Io) if its log cannot be read.
    pub fn version(&self) -> Result<u64> {
        Ok(self.table(&mut self.state(), "logs")?.version())
    }

    /// The batches that were committed after a version.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](iophase::ErrorKind::Io) if the log cannot be read.
    pub fn batches_since(&self, version: u64) -> Result<Vec<(u64, Batch)>> {
        self.table(&mut self.state(), "logs")?.batches_since(version)
    }

    /// Looks for the logs of a list in the tables; `gone` takes paths of logs that are not in the list. What comes into the tables
    /// later is known to [`still_new`](Self::still_new).
    ///
    /// # Errors
    /// [`ErrorKind::Io`](iophase::ErrorKind::Io) if a part cannot be read.
    pub(crate) fn lookup(&self, logs: &[Name], gone: &dyn Fn(&str) -> bool) -> Result<Lookup> {
        let mut state = self.state();
        // what came since the first look is still unknown to the work that was planned then
        let files = if state.planned { self.look(&mut state)? } else { self.table(&mut state, "logs")?.files()? };
        let keys: HashSet<Key> = logs.iter().map(|l| l.key).collect();
        let uris: HashSet<&str> = logs.iter().map(|l| l.uri.as_str()).collect();
        let mut found = Lookup::default();
        for file in &files {
            read_logs(&self.folder.join("logs").join(&file.path), |key, uri, status| {
                let known = || Known { batch: batch_of(&file.path).to_owned(), status: status.to_owned() };
                if keys.contains(&key) || uris.contains(uri) {
                    found.keys.insert(key, known());
                    found.paths.insert(uri.to_owned(), key);
                } else if gone(uri) {
                    found.gone.push((key, known()));
                }
            })?;
        }
        state.seen.extend(files.into_iter().map(|f| f.path));
        state.planned = true;
        Ok(found)
    }

    /// What the tables had at a version is known.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](iophase::ErrorKind::Io) if the log cannot be read.
    #[cfg(feature = "cluster")]
    pub(crate) fn looked_at(&self, version: u64) -> Result<()> {
        let table = DeltaLog::open(&self.folder.join("logs"), Some(version))?;
        let files = table.map_or(Ok(Vec::new()), |t| t.files())?;
        let mut state = self.state();
        state.seen.extend(files.into_iter().map(|f| f.path));
        state.planned = true;
        Ok(())
    }

    /// Of some logs those whose keys are not in the tables by now, and whether a path of these is.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](iophase::ErrorKind::Io) if a part cannot be read.
    pub(crate) fn still_new(&self, logs: &[Name]) -> Result<(HashSet<Key>, bool)> {
        let mut state = self.state();
        if !logs.is_empty() {
            self.look(&mut state)?;
        }
        let new = || logs.iter().filter(|l| !state.keys.contains(&l.key));
        Ok((new().map(|l| l.key).collect(), new().any(|l| state.has(l))))
    }

    /// Reads the keys and paths of the files of `logs` that were not looked at; gives all files.
    fn look(&self, state: &mut State) -> Result<Vec<DataFile>> {
        let files = self.table(state, "logs")?.files()?;
        for file in &files {
            if state.seen.contains(&file.path) {
                continue;
            }
            let (keys, paths) = (&mut state.keys, &mut state.paths);
            read_logs(&self.folder.join("logs").join(&file.path), |key, uri, _| {
                keys.insert(key);
                paths.insert(hash(uri));
            })?;
            state.seen.insert(file.path.clone());
        }
        Ok(files)
    }

    /// Deletes files that no batch has, and those that none has had for `grace_s` seconds.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](iophase::ErrorKind::Output) if a table refuses.
    pub fn sweep(&self, grace_s: f64) -> Result<u64> {
        let mut deleted = 0;
        for table in all() {
            deleted += self.table(&mut self.state(), table.name)?.vacuum(grace_s)? as u64;
        }
        Ok(deleted)
    }
}

impl State {
    /// Makes a commit on a table as it was read last; false if another one was made since.
    fn commit(&mut self, table: &str, change: Change<'_>) -> Result<bool> {
        self.tables.get_mut(table).map_or(Ok(false), |t| t.commit(change))
    }

    /// Whether all tables, as they were read last, have followed the same commit of `logs`.
    fn is_level(&self) -> Result<bool> {
        let last = self.tables.get("logs").map(DeltaLog::version);
        let mut others = self.tables.iter().filter(|(name, _)| **name != "logs");
        others.try_fold(true, |level, (_, table)| Ok(level && Some(table.followed()?) == last))
    }

    /// The batches of the tables as they were read last.
    fn batches(&self) -> Result<Vec<Batch>> {
        let mut batches: BTreeMap<String, Batch> = BTreeMap::new();
        for (name, table) in &self.tables {
            for file in table.files()? {
                let id = batch_of(&file.path).to_owned();
                let batch = batches.entry(id.clone()).or_insert_with(|| Batch { id, ..Batch::default() });
                if *name == "logs" {
                    batch.logs += file.rows;
                }
                let path = format!("{name}/{}", file.path);
                batch.parts.0.entry((*name).to_owned()).or_default().push((path, file.rows));
            }
        }
        Ok(batches.into_values().collect())
    }

    fn has(&self, log: &Name) -> bool {
        self.keys.contains(&log.key) || self.paths.contains(&hash(&log.uri))
    }
}

fn hash(uri: &str) -> Key {
    key_of(Sha256::new().chain_update(uri))
}

/// The batch of a file.
pub(crate) fn batch_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.trim_start_matches("part-").split(['-', '.']).next().unwrap_or(name)
}

/// What batches, one after the other, do to a table that has these files.
fn change(batches: &[&Batch], table: &str, files: Vec<DataFile>) -> Change<'static> {
    let mut made = Change { same_rows: batches.iter().all(|b| b.same_rows), ..Change::default() };
    let mut active = files;
    for batch in batches {
        let is_replaced = |f: &DataFile| batch.replaces.iter().any(|id| id == batch_of(&f.path));
        made.adds.retain(|f| !is_replaced(f));
        let (gone, rest) = active.into_iter().partition(is_replaced);
        (active, made.removes) = (rest, [made.removes, gone].concat());
        let parts = batch.parts.0.get(table).into_iter().flatten();
        let within = |path: &str| path.strip_prefix(table).map_or(path, |p| p.trim_start_matches('/')).to_owned();
        made.adds.extend(parts.map(|(path, rows)| DataFile { path: within(path), rows: *rows }));
    }
    made
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

/// Gives key, path and status of the logs of a part, one after the other: a part can have millions.
fn read_logs(path: &Path, mut each: impl FnMut(Key, &str, &str)) -> Result<()> {
    for batch in read_part(path, Some(&["log_key", "uri", "status"]))? {
        let batch = batch?;
        // another program may have merged files, and has types of its own for text and bytes
        let text = |name: &str| {
            let column = batch.column_by_name(name).and_then(|c| cast(c, &DataType::Utf8).ok());
            column.and_then(|c| c.as_any().downcast_ref::<StringArray>().cloned())
        };
        let (Some(keys), Some(uris), Some(status)) = (keys_of(&batch), text("uri"), text("status")) else {
            return Err(input(path, "no part of the table logs"));
        };
        for i in 0..batch.num_rows() {
            let [uri, status] = [&uris, &status].map(|a| if a.is_null(i) { "" } else { a.value(i) });
            each(key_at(&keys, i), uri, status);
        }
    }
    Ok(())
}

/// Rows with the columns of a schema, in its types: another program may have written them.
pub(crate) fn of_schema(rows: &RecordBatch, schema: &SchemaRef) -> std::result::Result<RecordBatch, ArrowError> {
    let column = |f: &FieldRef| match rows.column_by_name(f.name()) {
        Some(c) => cast(c, f.data_type()),
        None => Ok(new_null_array(f.data_type(), rows.num_rows())),
    };
    RecordBatch::try_new(Arc::clone(schema), schema.fields().iter().map(column).collect::<std::result::Result<_, _>>()?)
}

/// The column of keys.
pub fn keys_of(batch: &RecordBatch) -> Option<BinaryArray> {
    let keys = batch.column_by_name("log_key").and_then(|c| cast(c, &DataType::Binary).ok())?;
    keys.as_any().downcast_ref::<BinaryArray>().cloned()
}

/// A key of a column.
pub fn key_at(keys: &BinaryArray, i: usize) -> Key {
    keys.value(i).try_into().map(Key).unwrap_or_default()
}
