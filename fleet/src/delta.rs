//! One table of a fleet as a Delta table: which files count, decided by numbered commits of which each can be made once.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::mpsc::channel;
use std::time::UNIX_EPOCH;

use chrono::Duration;
use deltalake_core::kernel::engine::arrow_conversion::TryIntoKernel;
use deltalake_core::kernel::transaction::{CommitBuilder, CommitProperties, TransactionError};
use deltalake_core::kernel::{Action, Add, StructField, Transaction};
use deltalake_core::operations::create::CreateBuilder;
use deltalake_core::operations::vacuum::VacuumMode;
use deltalake_core::protocol::{DeltaOperation, SaveMode};
use deltalake_core::{DeltaTable, DeltaTableBuilder, DeltaTableError};
use serde_json::json;
use tokio::runtime::Runtime;
use url::Url;

use crate::error::{Context, input, output};
use crate::store::Batch;
use crate::tables::Description;
use iophase::{Error, ErrorKind, Result};

/// Name of the batch in the commits of the table `logs`.
const BATCH: &str = "batch";
/// Name under which the other tables note the last commit of `logs` that they have followed.
const FOLLOWED: &str = "iophase.fleet.logs";

static RUNTIME: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build());

/// Waits for work on a thread of its own, so that threads of another runtime can wait, too.
fn wait<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T> {
    let failed = |e: String| Error::new(ErrorKind::Io, e);
    let runtime = RUNTIME.as_ref().map_err(|e| failed(format!("no thread can be started: {e}")))?;
    let (tell, told) = channel();
    runtime.spawn(async move { tell.send(work.await) });
    told.recv().map_err(|_| failed("the log of a table cannot be read: its reader has ended".into()))
}

/// A file of a table: its path within the table's folder, and its rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DataFile {
    pub path: String,
    pub rows: u64,
}

/// What a commit does.
#[derive(Debug, Default)]
pub(crate) struct Change<'a> {
    pub adds: Vec<DataFile>,
    pub removes: Vec<DataFile>,
    /// The rows stay the same, as when files are merged.
    pub same_rows: bool,
    /// The commit of the table `logs` that this one follows.
    pub follows: Option<u64>,
    pub batch: Option<&'a Batch>,
}

/// See the module.
pub(crate) struct DeltaLog {
    folder: PathBuf,
    table: DeltaTable,
}

impl DeltaLog {
    /// The table in a folder, as of now or of a version; `None` if there is none.
    pub fn open(folder: &Path, version: Option<u64>) -> Result<Option<DeltaLog>> {
        if !folder.join("_delta_log").is_dir() {
            return Ok(None);
        }
        let url = url(folder)?;
        let opened = wait(async move {
            let mut builder = DeltaTableBuilder::from_url(url)?;
            if let Some(v) = version {
                builder = builder.with_version(v);
            }
            builder.load().await
        })?;
        match opened {
            Ok(table) => Ok(Some(DeltaLog { folder: folder.into(), table })),
            Err(DeltaTableError::NotATable(_)) => Ok(None),
            Err(e) => Err(input(folder, e)),
        }
    }

    /// The table in a folder, made if there is none.
    pub fn create(folder: &Path, description: &Description) -> Result<DeltaLog> {
        if let Some(table) = DeltaLog::open(folder, None)? {
            return Ok(table);
        }
        fs::create_dir_all(folder).or_output(folder)?;
        let schema = description.schema();
        let columns: std::result::Result<Vec<StructField>, _> =
            schema.fields().iter().map(|f| f.as_ref().try_into_kernel()).collect();
        let builder = CreateBuilder::new()
            .with_location(url(folder)?.to_string())
            .with_table_name(description.name)
            .with_comment(description.doc.clone())
            .with_columns(columns.or_output(folder)?);
        let made = wait(builder.into_future())?;
        // another run may have made it meanwhile
        match (made, DeltaLog::open(folder, None)?) {
            (_, Some(table)) => Ok(table),
            (Err(e), None) => Err(output(folder, e)),
            (Ok(table), None) => Ok(DeltaLog { folder: folder.into(), table }),
        }
    }

    /// Reads the commits that were made since.
    pub fn refresh(&mut self) -> Result<()> {
        let mut table = self.table.clone();
        let newer = wait(async move { table.update_state().await.map(|()| table) })?;
        self.table = newer.or_input(&self.folder)?;
        Ok(())
    }

    /// Number of the last commit.
    pub fn version(&self) -> u64 {
        self.table.version().unwrap_or(0)
    }

    /// The files that count.
    pub fn files(&self) -> Result<Vec<DataFile>> {
        let state = self.table.snapshot().or_input(&self.folder)?;
        let file = |f: deltalake_core::kernel::LogicalFileView| DataFile {
            path: f.path().into_owned(),
            rows: f.num_records().unwrap_or(0) as u64,
        };
        Ok(state.log_data().iter().map(file).collect())
    }

    /// The last commit of `logs` that this table has followed; that table had one commit, which made it, before any batch.
    pub fn followed(&self) -> Result<u64> {
        let table = self.table.clone();
        let noted = wait(async move {
            let log = table.log_store();
            table.snapshot()?.transaction_version(log.as_ref(), FOLLOWED).await
        })?;
        Ok(noted.or_input(&self.folder)?.and_then(|v| u64::try_from(v).ok()).unwrap_or(0))
    }

    /// The batches of commits after `version`, each with the number of its commit; with 0 those whose commits are still there.
    pub fn batches_since(&self, version: u64) -> Result<Vec<(u64, Batch)>> {
        let mut all = Vec::new();
        for commit in version + 1..=self.version() {
            let path = self.commit_path(commit);
            let text = match fs::read_to_string(&path) {
                // of long ago; all tables have followed
                Err(e) if version == 0 && e.kind() == io::ErrorKind::NotFound && all.is_empty() => continue,
                text => text.or_input(&path)?,
            };
            let infos = text.lines().filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok());
            let batch = infos.filter_map(|mut l| Some(l.get_mut("commitInfo")?.get_mut(BATCH)?.take())).next();
            if let Some(batch) = batch {
                all.push((commit, serde_json::from_value(batch).or_input(&path)?));
            }
        }
        Ok(all)
    }

    fn commit_path(&self, version: u64) -> PathBuf {
        self.folder.join("_delta_log").join(format!("{version:020}.json"))
    }

    /// Makes the commit that follows the last one known here; false if another one was made meanwhile.
    pub fn commit(&mut self, change: Change<'_>) -> Result<bool> {
        let actions = self.actions(&change)?;
        let mut properties = CommitProperties::default().with_max_retries(0);
        if let Some(v) = change.follows {
            properties = properties.with_application_transaction(Transaction::new(FOLLOWED, v as i64));
        }
        if let Some(batch) = change.batch {
            properties =
                properties.with_metadata([(BATCH.to_owned(), serde_json::to_value(batch).or_output(&self.folder)?)]);
        }
        let operation = match change.same_rows {
            true => DeltaOperation::Optimize { predicate: None, target_size: crate::batch::FILE_BYTES as i64 },
            false => DeltaOperation::Write { mode: SaveMode::Append, partition_by: None, predicate: None },
        };
        let table = self.table.clone();
        let done = wait(async move {
            let log = table.log_store();
            let state = table.snapshot()?;
            CommitBuilder::from(properties).with_actions(actions).build(Some(state), log, operation).await
        })?;
        match done {
            Ok(made) => {
                self.table.state = Some(made.snapshot());
                // a commit outlives a crash of the machine
                let path = self.commit_path(made.version());
                File::open(&path).and_then(|f| f.sync_all()).or_output(&path)?;
                Ok(true)
            }
            Err(DeltaTableError::Transaction { source: TransactionError::MaxCommitAttempts(_) }) => Ok(false),
            Err(e) => Err(output(&self.folder, e)),
        }
    }

    fn actions(&self, change: &Change<'_>) -> Result<Vec<Action>> {
        let state = self.table.snapshot().or_input(&self.folder)?;
        let changes = !change.same_rows;
        let removes: HashSet<&str> = change.removes.iter().map(|f| f.path.as_str()).collect();
        let removed = state.log_data().into_iter().filter(|f| removes.contains(&*f.path()));
        let mut actions: Vec<Action> = removed.map(|f| Action::Remove(f.remove_action(changes))).collect();
        for file in &change.adds {
            let path = self.folder.join(&file.path);
            let meta = fs::metadata(&path).or_output(&path)?;
            let since = meta.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
            actions.push(Action::Add(Add {
                path: file.path.clone(),
                partition_values: HashMap::new(),
                size: meta.len() as i64,
                modification_time: since.as_millis() as i64,
                data_change: changes,
                stats: Some(json!({ "numRecords": file.rows }).to_string()),
                ..Add::default()
            }));
        }
        Ok(actions)
    }

    /// Deletes files that no commit of the last `grace_s` seconds has; gives their number.
    pub fn vacuum(&self, grace_s: f64) -> Result<usize> {
        let grace = Duration::milliseconds((grace_s * 1e3).clamp(0.0, 1e15) as i64);
        let table = self.table.clone();
        let vacuum = table.vacuum().with_mode(VacuumMode::Full).with_retention_period(grace);
        let done = wait(vacuum.with_enforce_retention_duration(false).into_future())?;
        done.map(|(_, metrics)| metrics.files_deleted.len()).or_output(&self.folder)
    }
}

fn url(folder: &Path) -> Result<Url> {
    let path = std::path::absolute(folder).or_input(folder)?;
    Url::from_directory_path(&path).map_err(|()| input(folder, "the path is no address"))
}
