//! SQL over the tables: DataFusion on the parts of the batches that count.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::json::LineDelimitedWriter;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::datasource::MemTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::{Expr, SessionConfig, SessionContext, col, lit};
use datafusion::scalar::ScalarValue;
use futures::StreamExt;

use crate::error::{Context, input, output, usage};
use crate::store::{Batch, Store};
use crate::tables::{Description, all};
use iophase::{Error, ErrorKind, Result};

/// Bytes of the stack of a thread that plans: nested SQL needs more than usual.
const STACK: usize = 16 << 20;

/// Bytes that a query may need before it sorts on disk.
const MEMORY: usize = 1 << 30;

/// Rows of the largest table for which a stage has one more task on a cluster.
#[cfg(feature = "cluster")]
const ROWS_A_TASK: u64 = 1 << 20;

/// A fleet that can be asked.
pub struct Fleet {
    context: SessionContext,
    runtime: tokio::runtime::Runtime,
    /// Bytes that a query may need.
    memory: usize,
}

/// What answers the questions.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Engine {
    /// Number of threads, or of tasks at a time on a cluster; all cores, or as many as the rows need, if it is not given
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub threads: usize,
    /// Answer on the cluster of this scheduler, df://HOST:PORT
    #[cfg(feature = "cluster")]
    #[arg(long, value_name = "URL")]
    pub scheduler: Option<String>,
}

impl Engine {
    /// Opens a fleet.
    ///
    /// # Errors
    /// As [`Fleet::open`]; [`ErrorKind::Io`] if the scheduler cannot be reached.
    pub fn open(&self, folder: &Path) -> Result<Fleet> {
        #[cfg(feature = "cluster")]
        if let Some(scheduler) = &self.scheduler {
            return crate::cluster::open(folder, scheduler, self.threads);
        }
        Fleet::open(folder, self.threads)
    }
}

/// Rows of an answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Names and types of its columns.
    pub schema: SchemaRef,
    /// Its rows.
    pub batches: Vec<RecordBatch>,
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table for people
    #[default]
    Table,
    /// Comma-separated values with a heading
    Csv,
    /// One JSON object a line
    Json,
    /// Parquet
    Parquet,
}

/// A question that has a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// Its name.
    pub name: &'static str,
    /// The SQL: a comment that says what it answers, then the query.
    pub sql: &'static str,
}

macro_rules! questions {
    ($($name:literal)*) => {
        /// The named questions; each is a file in `questions/`.
        pub const QUESTIONS: &[Question] =
            &[$(Question { name: $name, sql: include_str!(concat!("../questions/", $name, ".sql")) },)*];
    };
}

questions! { "top-users" "top-findings" "periodic-apps" "period-by-version" "busy-minutes" "collisions" "quality" "never-read" }

impl Question {
    /// The question it answers: the comment at its start.
    pub fn about(&self) -> String {
        let lines = self.sql.lines().map_while(|l| l.strip_prefix("--"));
        lines.map(str::trim).collect::<Vec<_>>().join(" ")
    }
}

/// The question of a name.
///
/// # Errors
/// [`ErrorKind::Usage`] with the names that there are.
pub fn question(name: &str) -> Result<&'static Question> {
    QUESTIONS.iter().find(|q| q.name == name).ok_or_else(|| {
        let names: Vec<&str> = QUESTIONS.iter().map(|q| q.name).collect();
        usage(format!("no question is called {name}")).expected(format!("one of {}", names.join(", ")))
    })
}

fn refused(e: &DataFusionError) -> Error {
    if is_exhausted(e) {
        return Error::new(ErrorKind::Limit, "the query needs too much memory")
            .expected(format!("at most {} GiB", MEMORY >> 30))
            .remedy("ask about less time: `where start_time >= …`");
    }
    if is_disk_full(e) {
        return Error::new(ErrorKind::Limit, "the query needs more space for temporary files than their disk has")
            .remedy("ask about less time: `where start_time >= …`; or set TMPDIR to a folder on a larger disk");
    }
    let root = e.find_root();
    let kind = match root {
        DataFusionError::IoError(_) | DataFusionError::ObjectStore(_) => ErrorKind::Io,
        _ => ErrorKind::Usage,
    };
    // the first line names the step, and of an error within another not the cause
    let (text, cause) = (e.strip_backtrace(), root.strip_backtrace());
    let [step, cause] = [&text, &cause].map(|t| t.lines().next().unwrap_or_default());
    let found = if step.contains(cause) { step.to_owned() } else { format!("{step}: {cause}") };
    Error::new(kind, found).remedy("`iophase fleet schema` lists tables and columns")
}

impl Fleet {
    /// Opens a fleet with its tables; `threads` of 0 are as many as the machine has cores.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the folder is no fleet or cannot be read.
    pub fn open(folder: &Path, threads: usize) -> Result<Fleet> {
        Fleet::of(folder, &current(folder)?, threads)
    }

    /// Opens a fleet whose questions a session of a cluster answers, once `connect` has made it from its configuration.
    #[cfg(feature = "cluster")]
    pub(crate) fn of_session(
        folder: &Path,
        (config, threads): (SessionConfig, usize),
        connect: impl AsyncFnOnce(SessionConfig) -> Result<SessionContext>,
    ) -> Result<Fleet> {
        let batches = current(folder)?;
        let runtime = runtime(0)?;
        let tasks = if threads > 0 { threads } else { tasks(&batches) };
        let config = configured(config).with_target_partitions(tasks);
        let context = runtime.block_on(connect(config))?;
        register_all(&context, folder, &batches)?;
        Ok(Fleet { context, runtime, memory: MEMORY })
    }

    fn of(folder: &Path, batches: &[Batch], threads: usize) -> Result<Fleet> {
        let runtime = runtime(threads)?;
        let mut config = configured(SessionConfig::new().with_information_schema(true));
        if threads > 0 {
            config = config.with_target_partitions(threads);
        }
        let memory = RuntimeEnvBuilder::new().with_memory_limit(MEMORY, 1.0).build_arc().map_err(|e| refused(&e))?;
        let context = SessionContext::new_with_config_rt(config, memory);
        register_all(&context, folder, batches)?;
        Ok(Fleet { context, runtime, memory: MEMORY })
    }

    /// Leaves out of all tables the jobs that did not start within a time.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if a table cannot be read.
    pub(crate) fn between(&self, from: Option<DateTime<Utc>>, until: Option<DateTime<Utc>>) -> Result<()> {
        let time = |t: DateTime<Utc>| {
            let us = ScalarValue::TimestampMicrosecond(Some(t.timestamp_micros()), Some("UTC".into()));
            lit(us)
        };
        let bounds = [from.map(|t| col("start_time").gt_eq(time(t))), until.map(|t| col("start_time").lt(time(t)))];
        let Some(within) = bounds.into_iter().flatten().reduce(Expr::and) else { return Ok(()) };
        let context = &self.context;
        let narrowed: datafusion::common::Result<()> = self.runtime.block_on(async {
            for table in all() {
                let part = context.table(table.name).await?.filter(within.clone())?.into_view();
                context.deregister_table(table.name)?;
                context.register_table(table.name, part)?;
            }
            Ok(())
        });
        narrowed.map_err(|e| refused(&e))
    }

    /// The rows that SQL asks for. Only queries: what would write or define is refused. A query that runs out of memory is run again
    /// with joins that spill to disk.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for SQL that is none, [`ErrorKind::Limit`] for a query that needs more memory all the same,
    /// [`ErrorKind::Io`] if a part cannot be read.
    pub fn sql(&self, sql: &str) -> Result<Answer> {
        let answer = match self.collect(self.context.clone(), sql)? {
            Err(e) if is_exhausted(&e) => self.collect(self.with_joins_on_disk().map_err(|e| refused(&e))?, sql)?,
            answer => answer,
        };
        answer.map_err(|e| refused(&e))
    }

    /// The same tables with sort-merge joins, which are slower than hash joins but spill to disk. The operators share the memory
    /// equally, so that none starves.
    fn with_joins_on_disk(&self) -> datafusion::common::Result<SessionContext> {
        let pool = Arc::new(FairSpillPool::new(self.memory));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc()?;
        let mut state = SessionStateBuilder::new_from_existing(self.context.state()).with_runtime_env(runtime).build();
        let partitions = state.config().target_partitions();
        let options = state.config_mut().options_mut();
        options.optimizer.prefer_hash_join = false;
        // Each sort reserves memory to merge its spilled runs: the two sorts of a join together an eighth of all.
        let reserved = &mut options.execution.sort_spill_reservation_bytes;
        *reserved = (*reserved).min(self.memory / (16 * partitions));
        Ok(SessionContext::new_with_state(state))
    }

    fn collect(&self, context: SessionContext, sql: &str) -> Result<datafusion::common::Result<Answer>> {
        let options = datafusion::execution::context::SQLOptions::new().with_allow_ddl(false).with_allow_dml(false);
        let sql = sql.to_owned();
        // on a thread of the runtime, whose stack is large
        let task = self.runtime.spawn(async move {
            let frame = context.sql_with_options(&sql, options).await?;
            let schema: SchemaRef = Arc::new(frame.schema().as_arrow().clone());
            frame.collect().await.map(|batches| Answer { schema, batches })
        });
        self.runtime.block_on(task).map_err(|e| Error::new(ErrorKind::Io, format!("the query ended: {e}")))
    }
}

/// Tasks of a stage on a cluster, each of which takes some 50 ms however few its rows are.
#[cfg(feature = "cluster")]
fn tasks(batches: &[Batch]) -> usize {
    let rows = |table: &Description| -> u64 {
        batches.iter().filter_map(|b| b.parts.0.get(table.name)).flatten().map(|(_, rows)| rows).sum()
    };
    let largest = all().iter().map(rows).max().unwrap_or(0);
    (1 + largest / ROWS_A_TASK) as usize
}

fn is_exhausted(e: &DataFusionError) -> bool {
    matches!(e.find_root(), DataFusionError::ResourcesExhausted(_))
}

fn is_disk_full(e: &DataFusionError) -> bool {
    let mut causes = std::iter::successors(Some(e as &dyn std::error::Error), |e| e.source());
    causes.any(|e| e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::StorageFull))
}

/// Threads that plan and answer queries; 0 are as many as the machine has cores.
pub(crate) fn runtime(threads: usize) -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if threads > 0 {
        builder.worker_threads(threads);
    }
    let runtime = builder.thread_stack_size(STACK).enable_all().build();
    runtime.map_err(|e| Error::new(ErrorKind::Io, format!("no threads can be started: {e}")))
}

fn configured(mut config: SessionConfig) -> SessionConfig {
    config.options_mut().sql_parser.default_null_ordering = "nulls_last".into();
    config
}

fn register_all(context: &SessionContext, folder: &Path, batches: &[Batch]) -> Result<()> {
    for table in all() {
        let parts = batches.iter().filter_map(|m| m.parts.0.get(table.name)).flatten();
        let files: Vec<String> = parts.map(|(path, _)| folder.join(path).display().to_string()).collect();
        register(context, &table, &files)?;
    }
    Ok(())
}

fn register(context: &SessionContext, table: &Description, files: &[String]) -> Result<()> {
    let schema = table.schema();
    let failed = |e: DataFusionError| refused(&e);
    if files.is_empty() {
        let empty = MemTable::try_new(schema, vec![vec![]]).map_err(failed)?;
        return context.register_table(table.name, Arc::new(empty)).map(|_| ()).map_err(failed);
    }
    // made of characters as they are: a path can hold what an address escapes
    let urls = files.iter().map(ListingTableUrl::parse).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
    let config = ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options).with_schema(schema);
    let listing = ListingTable::try_new(config).map_err(failed)?;
    context.register_table(table.name, Arc::new(listing)).map(|_| ()).map_err(failed)
}

/// The batches of a fleet. If a run was killed between two tables, the later ones follow first, unless this user may only read.
fn current(folder: &Path) -> Result<Vec<Batch>> {
    let store = Store::open(folder)?;
    match store.follow() {
        Err(e) if e.kind() != ErrorKind::Output => return Err(e),
        _ => {}
    }
    store.batches()
}

/// The rows of a table of some batches in the order of their start, for `compact`; without those of jobs that started before `since`.
///
/// # Errors
/// [`ErrorKind::Io`] if a part cannot be read.
pub fn sorted(
    folder: &Path,
    batches: &[Batch],
    table: &str,
    since: Option<DateTime<Utc>>,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + use<>> {
    let fleet = Fleet::of(folder, batches, 1)?;
    let kept = since.map(|t| format!("where start_time is null or start_time >= timestamp '{}'", t.to_rfc3339()));
    let sql = format!("select * from {table} {} order by start_time, log_key", kept.unwrap_or_default());
    let mut stream = fleet
        .runtime
        .block_on(async { fleet.context.sql(&sql).await?.execute_stream().await })
        .map_err(|e| refused(&e))?;
    Ok(std::iter::from_fn(move || fleet.runtime.block_on(stream.next()).map(|b| b.map_err(|e| refused(&e)))))
}

impl Answer {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// All cells as text, row by row; empty for what is not known.
    ///
    /// # Errors
    /// For types that cannot be written.
    pub fn cells(&self) -> Result<Vec<Vec<String>>> {
        let mut all = Vec::with_capacity(self.rows());
        for batch in &self.batches {
            let options = FormatOptions::default().with_null("");
            let formatters = batch.columns().iter().map(|c| ArrayFormatter::try_new(c.as_ref(), &options));
            let formatters = formatters.collect::<Result<Vec<_>, _>>().map_err(|e| usage(e.to_string()))?;
            all.extend(
                (0..batch.num_rows()).map(|i| formatters.iter().map(|f| f.value(i).to_string()).collect::<Vec<_>>()),
            );
        }
        Ok(all)
    }

    /// A column as numbers; what is none is not known.
    ///
    /// # Errors
    /// If there is no such column.
    pub fn numbers(&self, name: &str) -> Result<Vec<Option<f64>>> {
        let mut all = Vec::with_capacity(self.rows());
        for batch in &self.batches {
            let column = batch.column_by_name(name).ok_or_else(|| usage(format!("no column is called {name}")))?;
            let column: ArrayRef =
                datafusion::arrow::compute::cast(column, &datafusion::arrow::datatypes::DataType::Float64)
                    .map_err(|e| usage(e.to_string()))?;
            if let Some(values) = column.as_any().downcast_ref::<datafusion::arrow::array::Float64Array>() {
                all.extend(values.iter());
            }
        }
        Ok(all)
    }

    /// A column as text.
    ///
    /// # Errors
    /// If there is no such column.
    pub fn texts(&self, name: &str) -> Result<Vec<String>> {
        let at = self.schema.index_of(name).map_err(|e| usage(e.to_string()))?;
        Ok(self.cells()?.into_iter().map(|mut row| std::mem::take(&mut row[at])).collect())
    }

    /// Writes the answer.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if that fails.
    pub fn write(&self, format: Format, to: &mut (impl Write + Send)) -> Result<()> {
        let path = Path::new("the answer");
        match format {
            Format::Table => {
                let text = match self.batches.is_empty() {
                    true => pretty_format_batches(&[RecordBatch::new_empty(Arc::clone(&self.schema))]),
                    false => pretty_format_batches(&self.batches),
                };
                writeln!(to, "{}", text.or_output(path)?).or_output(path)
            }
            Format::Csv => {
                let heading = self.schema.fields().iter().map(|f| f.name().clone()).collect();
                write_csv(to, [heading].into_iter().chain(self.cells()?))
            }
            Format::Json => {
                let mut writer = LineDelimitedWriter::new(to);
                self.batches.iter().try_for_each(|b| writer.write(b)).or_output(path)?;
                writer.finish().or_output(path)
            }
            Format::Parquet => {
                let mut writer = ArrowWriter::try_new(to, Arc::clone(&self.schema), None).or_output(path)?;
                self.batches.iter().try_for_each(|b| writer.write(b)).or_output(path)?;
                writer.close().map(|_| ()).or_output(path)
            }
        }
    }
}

/// Writes rows as CSV (RFC 4180; lines end as on Unix).
///
/// # Errors
/// [`ErrorKind::Output`].
pub(crate) fn write_csv(to: impl Write, rows: impl IntoIterator<Item = Vec<String>>) -> Result<()> {
    let path = Path::new("the answer");
    let mut writer = csv::Writer::from_writer(to);
    rows.into_iter().try_for_each(|row| writer.write_record(&row)).or_output(path)?;
    writer.flush().or_output(path)
}

/// Names of the questions and what they answer, for `ask --list`.
pub fn list() -> BTreeMap<&'static str, String> {
    QUESTIONS.iter().map(|q| (q.name, q.about())).collect()
}

/// The signals of all logs as one file: a log without signals has one row.
///
/// # Errors
/// As [`Fleet::sql`]; [`ErrorKind::Output`] if it cannot be written.
pub fn write_signals(folder: &Path, to: &Path) -> Result<u64> {
    let fleet = Fleet::open(folder, 0)?;
    let own = |t: &str| -> Vec<&'static str> {
        let table = all().into_iter().find(|d| d.name == t);
        table.map(|d| d.columns.iter().skip(5).map(|c| c.name).collect()).unwrap_or_default()
    };
    let log = own("logs").into_iter().map(|c| format!("l.{c}"));
    // `bursts` and `files` are numbers here
    let signal = own("signals").into_iter().map(|c| format!("s.{c}"));
    let columns: Vec<String> = ["l.log_key", "l.start_time", "l.app", "l.user_id", "l.ranks"]
        .into_iter()
        .map(str::to_owned)
        .chain(signal)
        .chain(log)
        .collect();
    let sql = format!(
        "select {} from logs l left join signals s on l.log_key = s.log_key order by l.start_time, l.uri, s.mode",
        columns.join(", ")
    );
    let answer = fleet.sql(&sql)?;
    let mut bytes = Vec::new();
    answer.write(Format::Parquet, &mut bytes)?;
    crate::store::write_atomically(to, &bytes).map_err(|e| output(to, e))?;
    Ok(answer.rows() as u64)
}

/// The SQL of a file.
///
/// # Errors
/// [`ErrorKind::Io`].
pub fn read_sql(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| input(path, e))
}

/// A fleet without tables, whose queries may need so many bytes.
#[cfg(test)]
pub(crate) fn small(memory: usize) -> Fleet {
    let limited = RuntimeEnvBuilder::new().with_memory_limit(memory, 1.0).build_arc().unwrap();
    let config = configured(SessionConfig::new().with_target_partitions(2));
    let context = SessionContext::new_with_config_rt(config, limited);
    Fleet { context, runtime: runtime(2).unwrap(), memory }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_within_another_carries_its_cause() {
        let e = DataFusionError::Plan("no such thing".into()).context("while that was done");
        let text = refused(&e).to_string();
        assert!(text.contains("while that was done") && text.contains("no such thing"), "{text}");
        let e = refused(&DataFusionError::Plan("no such thing".into())).to_string();
        assert_eq!(e.matches("no such thing").count(), 1, "{e}");
        let full = DataFusionError::from(io::Error::from(io::ErrorKind::StorageFull)).context("while it sorted");
        assert_eq!(refused(&full).kind(), ErrorKind::Limit);
    }

    #[test]
    fn cells_of_csv_are_quoted_where_they_must_be() {
        let mut out = Vec::new();
        write_csv(&mut out, [["a,b", "c\"d", "", "e f"].map(str::to_owned).to_vec()]).unwrap();
        assert_eq!(out, b"\"a,b\",\"c\"\"d\",,e f\n");
    }

    #[test]
    fn a_join_that_does_not_fit_into_memory_is_done_on_disk() {
        let sql = "with x as (select value * 7919 % 3000017 as k from generate_series(1, 3000000)) \
                   select count(*) as n from x join (select k, k + 1 as l from x) y on x.k = y.k";
        let counted = |fleet: &Fleet| fleet.sql(sql).and_then(|a| a.numbers("n"));
        assert_eq!(counted(&small(MEMORY)).unwrap(), [Some(3e6)]);
        let fleet = small(24 << 20);
        let first = fleet.collect(fleet.context.clone(), sql).unwrap();
        assert!(first.is_err_and(|e| is_exhausted(&e)));
        assert_eq!(counted(&fleet).unwrap(), [Some(3e6)]);
        assert_eq!(counted(&small(1 << 10)).unwrap_err().kind(), ErrorKind::Limit);
    }
}
