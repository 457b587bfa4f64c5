//! Runs on a Ballista cluster: a scheduler and executors as roles of this program.
//!
//! The batches of a run are rows of a table, and the query that the cluster answers calls one function on each: it reads the logs of
//! the batch, writes their parts and commits its marker, as a run on one machine does. A batch that is done twice, because an executor
//! was taken for lost, makes the same files again.
//!
//! Functions travel by name, so that client, scheduler and executors all have to know this one. Its name has the version of the
//! program: mixed versions fail at planning, with the name.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ballista::prelude::{SessionConfigExt, SessionContextExt};
use ballista_core::config::BALLISTA_ADAPTIVE_PLANNER_ENABLED;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::{cluster::BallistaCluster, config::SchedulerConfig, scheduler_process::start_server};
use clap::Args;
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray, StructArray};
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::DataFusionError;
use datafusion::execution::{FunctionRegistry, SessionState, SessionStateBuilder};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::{SessionConfig, SessionContext};
use serde::{Deserialize, Serialize};

use crate::batch::{NOTE, Options, Plan, Planned, Progress, Retry, Unit, finish, write_progress};
use crate::error::{Context, usage};
use crate::extract::{Bounds, Settings};
use crate::pool::{Program, Runner};
use crate::query::{Fleet, runtime};
use crate::store::Store;
use crate::tables::host;
use iophase::{Error, ErrorKind, Result};

/// Tasks of a run, at most; each does some batches one after the other.
const TASKS: usize = 256;
/// Seconds between two signs of life of an executor.
const HEARTBEAT_S: u64 = 2;
/// Losses of executors that a run outlives.
const LOSSES: usize = 1000;

/// Arguments of `scheduler`.
#[derive(Debug, Clone, Args)]
pub struct SchedulerArguments {
    /// Address that it listens on. There is no authentication: other addresses than this machine's own belong on a closed network
    #[arg(long, default_value = "127.0.0.1")]
    pub bind: String,
    /// Name under which others reach it
    #[arg(long, value_name = "NAME", default_value = "127.0.0.1")]
    pub host: String,
    /// Its port
    #[arg(long, default_value_t = 50050)]
    pub port: u16,
    /// Seconds without a sign of life, which comes every 2 s, after which an executor is lost and others do its batches
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2 * HEARTBEAT_S..))]
    pub lost_after: u64,
}

/// Arguments of `executor`.
#[derive(Debug, Clone, Args)]
pub struct ExecutorArguments {
    /// The scheduler, which may start later
    #[arg(long, default_value = "df://127.0.0.1:50050")]
    pub scheduler: String,
    /// Address that it listens on. There is no authentication: other addresses than this machine's own belong on a closed network
    #[arg(long, default_value = "127.0.0.1")]
    pub bind: String,
    /// Name under which others reach it
    #[arg(long, value_name = "NAME", default_value = "127.0.0.1")]
    pub host: String,
    /// Its port; the next one is taken too
    #[arg(long, default_value_t = 50051)]
    pub port: u16,
    /// Batches that it reads at a time; one a core if it is not given
    #[arg(long, value_name = "N")]
    pub cores: Option<usize>,
}

fn failed(what: &str, e: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Io, format!("{what}: {e}"))
}

/// Host and port of an address such as `df://node1:50050`.
fn address(url: &str) -> Result<(String, u16)> {
    let rest = url.strip_prefix("df://").unwrap_or(url);
    let parts = rest.rsplit_once(':').and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
    parts
        .filter(|(host, _)| !host.is_empty())
        .ok_or_else(|| usage(format!("{url} is no address of a scheduler")).expected("df://HOST:PORT"))
}

/// Runs a scheduler until it is ended.
///
/// # Errors
/// [`ErrorKind::Io`] if it cannot listen.
pub fn scheduler(a: &SchedulerArguments) -> Result<()> {
    let config = SchedulerConfig {
        bind_host: a.bind.clone(),
        external_host: a.host.clone(),
        bind_port: a.port,
        override_session_builder: Some(Arc::new(state)),
        executor_timeout_seconds: a.lost_after,
        expire_dead_executor_interval_seconds: 1,
        task_max_failures: LOSSES,
        stage_max_failures: LOSSES,
        ..SchedulerConfig::default()
    };
    let at = format!("{}:{}", a.bind, a.port);
    let at = at.parse().map_err(|e| usage(format!("{at}: {e}")).expected("--bind with an IP address"))?;
    runtime(0)?.block_on(async {
        let cluster = BallistaCluster::new_from_config(&config).await.map_err(|e| failed("the scheduler", e))?;
        start_server(cluster, at, Arc::new(config)).await.map_err(|e| failed("the scheduler", e))
    })
}

/// Runs an executor until it is ended.
///
/// # Errors
/// [`ErrorKind::Io`] if it cannot listen.
pub fn executor(a: &ExecutorArguments) -> Result<()> {
    let (scheduler_host, scheduler_port) = address(&a.scheduler)?;
    let work = std::env::temp_dir().join(format!("iophase-fleet-{}", std::process::id()));
    fs::DirBuilder::new().mode(0o700).create(&work).or_output(&work)?;
    let state = state(SessionConfig::new_with_ballista()).map_err(|e| failed("the executor", e))?;
    let functions = BallistaFunctionRegistry::from(&state);
    let config = ExecutorProcessConfig {
        bind_host: a.bind.clone(),
        external_host: Some(a.host.clone()),
        port: a.port,
        grpc_port: a.port.saturating_add(1),
        scheduler_host,
        scheduler_port,
        scheduler_connect_timeout_seconds: u16::MAX,
        vcores: a.cores.unwrap_or(0),
        work_dir: Some(work.display().to_string()),
        executor_heartbeat_interval_seconds: HEARTBEAT_S,
        override_function_registry: Some(Arc::new(functions)),
        ..ExecutorProcessConfig::default()
    };
    let done = runtime(0)?.block_on(start_executor_process(Arc::new(config)));
    // answers of batches that nobody fetches any more
    let _ = fs::remove_dir_all(&work);
    done.map_err(|e| failed("the executor", e))
}

/// A session that knows the function and those of lists, of the scheduler, an executor or a client.
fn state(config: SessionConfig) -> datafusion::common::Result<SessionState> {
    let mut state = SessionStateBuilder::new().with_config(config).with_default_features().build();
    state.register_udf(function())?;
    Ok(state)
}

/// Opens a fleet whose questions the executors of a cluster answer, in so many tasks at a time; 0 are as many as its rows need. All
/// machines have to see it under the same path.
///
/// # Errors
/// As [`Fleet::open`]; [`ErrorKind::Io`] if the scheduler cannot be reached.
pub fn open(folder: &Path, scheduler: &str, threads: usize) -> Result<Fleet> {
    let folder = std::path::absolute(folder).or_output(folder)?;
    // Ballista 55 plans without end while it runs, once rows are grouped by some columns and numbered within fewer of them
    let config = SessionConfig::new_with_ballista().set_bool(BALLISTA_ADAPTIVE_PLANNER_ENABLED, false);
    Fleet::of_session(&folder, (config, threads), async |config| session(scheduler, config).await)
}

/// A session whose queries the cluster answers.
async fn session(scheduler: &str, config: SessionConfig) -> Result<SessionContext> {
    let (host, port) = address(scheduler)?;
    let url = format!("df://{host}:{port}");
    let state = state(config).map_err(|e| failed("the cluster", e))?;
    let context = SessionContext::remote_with_state(&url, state).await.map_err(|e| failed("the cluster", e))?;
    // the functions of the state were replaced by those that every executor has
    context.register_udf((*function()).clone());
    Ok(context)
}

/// Settings of a run that the executors need.
#[derive(Debug, Serialize, Deserialize)]
struct Shared {
    settings: Settings,
    bounds: Bounds,
    by_content: bool,
    /// The commit of the table `logs` that the batches were planned at.
    planned_at: u64,
}

impl Shared {
    /// The options of a batch on an executor.
    fn options(self) -> Result<Options> {
        Ok(Options {
            settings: self.settings,
            bounds: self.bounds,
            by_content: self.by_content,
            workers: 1,
            retry: Retry::None,
            rebuild: false,
            delete: Vec::new(),
            shard: (1, 1),
            program: Program::this()?,
        })
    }
}

/// A folder in that of the fleet, which all machines see: options and batches of a run. Deleted at its end.
struct WorkFolder(PathBuf);

impl WorkFolder {
    fn create(store: &Store, options: &Options, planned_at: u64, units: &[Unit]) -> Result<WorkFolder> {
        let all = store.folder().join("_work");
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_micros();
        let folder = all.join(format!("{}-{}-{since}", host(), std::process::id()));
        fs::create_dir_all(&all).or_output(&all)?;
        delete_left(&all);
        // the options can hold a key
        fs::DirBuilder::new().mode(0o700).create(&folder).or_output(&folder)?;
        let made = WorkFolder(folder);
        let shared = Shared {
            settings: options.settings.clone(),
            bounds: options.bounds.clone(),
            by_content: options.by_content,
            planned_at,
        };
        let path = made.0.join("options.json");
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let text = serde_json::to_vec(&shared).or_output(&path)?;
        file.and_then(|mut f| f.write_all(&text)).or_output(&path)?;
        // dealt out in turn: neighbours are alike, and so are the tasks then
        let tasks = units.len().min(TASKS);
        for task in 0..tasks {
            let rows = units.iter().skip(task).step_by(tasks).map(|u| serde_json::to_string(u).or_output(&path));
            made.write_task(task, rows.collect::<Result<Vec<_>>>()?)?;
        }
        Ok(made)
    }

    fn write_task(&self, task: usize, rows: Vec<String>) -> Result<()> {
        let path = self.0.join(format!("part-{task:05}.parquet"));
        let column: ArrayRef = Arc::new(StringArray::from(rows));
        let batch = RecordBatch::try_from_iter([("batch", column)]).or_output(&path)?;
        let file = fs::File::create(&path).or_output(&path)?;
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).or_output(&path)?;
        writer.write(&batch).or_output(&path)?;
        writer.close().map(|_| ()).or_output(&path)
    }
}

/// Deletes the folders of drivers of this machine that were killed. What the cluster still does for them then ends.
fn delete_left(all: &Path) {
    let mine = host();
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let mut parts = name.rsplitn(3, '-').skip(1);
        let process = parts.next().and_then(|id| id.parse::<u32>().ok()).filter(|_| parts.next() == Some(&mine));
        if process.is_some_and(|id| !Path::new("/proc").join(id.to_string()).exists()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // compacting deletes what is left of it
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// As [`batch::run`](crate::batch::run), on the executors of a cluster. All machines have to see the logs and the fleet under the same paths.
///
/// # Errors
/// As there; [`ErrorKind::Io`] if the scheduler cannot be reached or ends. What was committed until then counts.
pub fn run(plan: Plan<'_>, scheduler: &str, watch: &mut dyn FnMut(&Progress)) -> Result<Progress> {
    let options = plan.options;
    let Planned { store, units, begin, mut progress } = plan.finish()?;
    let planned_at = store.version()?;
    if !units.is_empty() {
        let work = WorkFolder::create(&store, options, planned_at, &units)?;
        let runtime = runtime(0)?;
        let mut seen = Seen(planned_at);
        loop {
            let before = seen.0;
            let asked = runtime.spawn(ask(scheduler.to_owned(), work.0.clone(), units.len().min(TASKS)));
            let mut noted = Instant::now();
            while !asked.is_finished() {
                std::thread::sleep(Duration::from_millis(100));
                seen.count(&store, &mut progress)?;
                progress.seconds = begin.elapsed().as_secs_f64();
                watch(&progress);
                if noted.elapsed() >= NOTE {
                    noted = Instant::now();
                    write_progress(&store, &progress)?;
                }
            }
            let answer = runtime.block_on(asked).map_err(|e| failed("the cluster", e))?;
            // what was committed counts, whatever came then
            seen.count(&store, &mut progress)?;
            match answer {
                Ok(sums) => {
                    (progress.read, progress.bad) = sums;
                    break;
                }
                // an executor was lost with its answers, or a scheduler that is back; the batches that were done are not done again
                Err(e) if e.kind() == ErrorKind::Io && seen.0 > before => {}
                Err(e) => return Err(e.remedy("run the same command again: it goes on where it stopped")),
            }
        }
    }
    progress.done = true;
    progress.seconds = begin.elapsed().as_secs_f64();
    finish(&store, &progress, watch)?;
    Ok(progress)
}

/// The last commit that was counted.
struct Seen(u64);

impl Seen {
    fn count(&mut self, store: &Store, progress: &mut Progress) -> Result<()> {
        for (version, batch) in store.batches_since(self.0)? {
            progress.read += batch.logs;
            progress.bad += batch.bad;
            self.0 = version;
        }
        Ok(())
    }
}

/// Has the cluster do the batches: logs read, and those that could not be.
async fn ask(scheduler: String, work: PathBuf, tasks: usize) -> Result<(u64, u64)> {
    let failed = |e: DataFusionError| failed("the cluster", e.strip_backtrace());
    // one file a task, one batch a call
    let config = SessionConfig::new_with_ballista()
        .with_target_partitions(tasks)
        .with_batch_size(1)
        .set_bool("datafusion.optimizer.repartition_file_scans", false)
        .set_str("ballista.scheduler.max_partitions_per_task", "1");
    let context = session(&scheduler, config).await?;
    let files = work.display().to_string();
    context.register_parquet("work", &files, Default::default()).await.map_err(failed)?;
    // the whole answer at once: its fields, asked for one by one, would call the function once each
    let sql = format!("select {}(batch, '{}') as r from work", function().name(), files.replace('\'', "''"));
    let batches = context.sql(&sql).await.map_err(failed)?.collect().await.map_err(failed)?;
    let (mut read, mut bad) = (0, 0);
    for batch in &batches {
        let Some(rows) = batch.column(0).as_any().downcast_ref::<StructArray>() else { continue };
        let sum = |name: &str| {
            let column = rows.column_by_name(name).and_then(|c| c.as_any().downcast_ref::<Int64Array>());
            column.map_or(0, |c| c.iter().flatten().sum::<i64>())
        };
        read += sum("logs");
        bad += sum("bad");
        let errors = rows.column_by_name("error").and_then(|c| c.as_any().downcast_ref::<StringArray>());
        if let Some((i, error)) = errors.and_then(|c| (0..).zip(c).find_map(|(i, e)| Some((i, e?)))) {
            let unwritten = rows.column_by_name("unwritten").and_then(|c| c.as_any().downcast_ref::<BooleanArray>());
            let kind = if unwritten.is_some_and(|c| c.value(i)) { ErrorKind::Output } else { ErrorKind::Io };
            return Err(Error::new(kind, error));
        }
    }
    Ok((u64::try_from(read).unwrap_or(0), u64::try_from(bad).unwrap_or(0)))
}

/// The function that does a batch.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Extract {
    name: String,
    signature: Signature,
}

fn function() -> Arc<ScalarUDF> {
    let name = format!("iophase_extract_{}", env!("CARGO_PKG_VERSION").replace('.', "_"));
    // volatile: it is called once for each row, never before
    let signature = Signature::exact(vec![DataType::Utf8, DataType::Utf8], Volatility::Volatile);
    Arc::new(ScalarUDF::from(Extract { name, signature }))
}

/// The columns that the function returns.
fn fields() -> Fields {
    Fields::from(vec![
        Field::new("logs", DataType::Int64, false),
        Field::new("bad", DataType::Int64, false),
        Field::new("seconds", DataType::Float64, false),
        Field::new("worker", DataType::Utf8, false),
        Field::new("error", DataType::Utf8, true),
        Field::new("unwritten", DataType::Boolean, false),
    ])
}

impl ScalarUDFImpl for Extract {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> datafusion::common::Result<DataType> {
        Ok(DataType::Struct(fields()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> datafusion::common::Result<ColumnarValue> {
        let text = |i: usize| {
            let array = args.args[i].clone().into_array(args.number_rows)?;
            datafusion::arrow::compute::cast(&array, &DataType::Utf8)
        };
        let (batches, folders) = (text(0)?, text(1)?);
        let strings = |a: &ArrayRef| a.as_any().downcast_ref::<StringArray>().cloned();
        let (Some(batches), Some(folders)) = (strings(&batches), strings(&folders)) else {
            return Err(DataFusionError::Execution(format!("{} takes text", self.name)));
        };
        let done: Vec<Done> = (0..batches.len()).map(|i| Done::of(batches.value(i), folders.value(i))).collect();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(done.iter().map(|d| Some(d.logs)).collect::<Int64Array>()),
            Arc::new(done.iter().map(|d| Some(d.bad)).collect::<Int64Array>()),
            Arc::new(done.iter().map(|d| Some(d.seconds)).collect::<Float64Array>()),
            Arc::new(done.iter().map(|d| Some(d.worker.clone())).collect::<StringArray>()),
            Arc::new(done.iter().map(|d| d.error.clone()).collect::<StringArray>()),
            Arc::new(done.iter().map(|d| Some(d.unwritten)).collect::<BooleanArray>()),
        ];
        Ok(ColumnarValue::Array(Arc::new(StructArray::new(fields(), columns, None))))
    }
}

/// The outcome of a batch. An error does not fail the task, which would be tried again, but is an answer.
struct Done {
    logs: i64,
    bad: i64,
    seconds: f64,
    worker: String,
    error: Option<String>,
    /// The error is that tables cannot be written.
    unwritten: bool,
}

impl Done {
    fn of(batch: &str, work: &str) -> Done {
        let begin = Instant::now();
        let worker = format!("{}:{}", host(), std::process::id());
        let mut done = Done { logs: 0, bad: 0, seconds: 0.0, worker, error: None, unwritten: false };
        match done.read(batch, Path::new(work)) {
            Ok(()) => {}
            Err(e) => {
                done.unwritten = e.kind() == ErrorKind::Output;
                done.error = Some(format!("{}: {e}", done.worker));
            }
        }
        done.seconds = begin.elapsed().as_secs_f64();
        done
    }

    fn read(&mut self, batch: &str, work: &Path) -> Result<()> {
        let path = work.join("options.json");
        let shared: Shared = serde_json::from_slice(&fs::read(&path).or_input(&path)?).or_input(&path)?;
        let unit: Unit = serde_json::from_str(batch).or_input(&path)?;
        let folder = work.parent().and_then(Path::parent).ok_or_else(|| usage("no folder of a run"))?;
        let store = Store::open(folder)?;
        store.looked_at(shared.planned_at)?;
        let options = shared.options()?;
        let mut runner = Runner::new(&options.program, &options.settings, &options.bounds)?;
        unit.settle(&store, &options, &mut runner, &mut |is_bad| {
            self.logs += 1;
            self.bad += i64::from(is_bad);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_host_and_a_port() {
        assert_eq!(address("df://node1:50050").unwrap(), ("node1".to_owned(), 50050));
        for wrong in ["node1", "df://:1", "df://node1:many"] {
            assert_eq!(address(wrong).unwrap_err().kind(), ErrorKind::Usage, "{wrong}");
        }
    }
}
