//! The driver: a list of logs to batches, batches to parts, and a commit for each that is whole.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use datafusion::arrow::array::{BooleanArray, StringArray};
use datafusion::arrow::compute::filter_record_batch;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Context, output, usage};
use crate::extract::{Bounds, Hide, Settings};
use crate::list::{LogRef, key_of};
use crate::pool::{Program, Runner};
use crate::store::{Batch, Identity, Name, Store, key_at, keys_of, of_schema, read_part, write_atomically};
use crate::tables::{Key, PartWriter, Parts, Status, all, host, write_batches};
use iophase::Result;

/// Logs of a batch, at most and at least: a batch is written as a whole, and is what a kill costs.
const BATCH_LOGS: (usize, usize) = (64, 2000);
/// Batches that a list is cut into if they are then not too small.
const BATCHES: usize = 32;
/// Bytes of the logs of a batch, at most.
const BATCH_BYTES: u64 = 256 << 20;
/// Bytes of a file that `compact` makes, at most.
pub const FILE_BYTES: usize = 256 << 20;
/// Time between two notes of the progress.
pub(crate) const NOTE: Duration = Duration::from_secs(10);

/// Which known logs are read again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Retry {
    /// None
    #[default]
    None,
    /// Those that ran out of time
    Timeout,
    /// Those that could not be read
    Bad,
    /// All
    All,
}

/// Options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Settings that decide the rows.
    pub settings: Settings,
    /// Bounds of one log.
    pub bounds: Bounds,
    /// Further options that have to be the same for all logs of a fleet.
    pub by_content: bool,
    /// Number of worker processes.
    pub workers: usize,
    /// Which known logs are read again.
    pub retry: Retry,
    /// Read all logs again if the fleet was made with other options.
    pub rebuild: bool,
    /// Delete the rows of logs in these folders that are gone.
    pub delete: Vec<PathBuf>,
    /// This part of the batches: `i` of `n`, from 1.
    pub shard: (usize, usize),
    /// How workers are started.
    pub program: Program,
}

/// How far a run has come.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Logs in the list.
    pub listed: u64,
    /// Logs of the list that the tables had before.
    pub known: u64,
    /// Logs that this run reads.
    pub todo: u64,
    /// Logs read so far.
    pub read: u64,
    /// Of these, those that could not be read.
    pub bad: u64,
    /// Seconds since the start.
    pub seconds: f64,
    /// The run has ended.
    pub done: bool,
}

/// Work: logs that are read for the first time, or a batch of which some logs are read again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Unit {
    pub logs: Vec<LogRef>,
    /// The batch that has the other rows, and the keys of it that no longer count.
    old: Option<(Batch, HashSet<Key>)>,
}

impl Options {
    /// Options that have to be the same for all logs of a fleet.
    pub fn identity(&self) -> Identity {
        let s = &self.settings;
        let hash = |bytes: &[u8]| key_of(Sha256::new().chain_update(bytes)).hex()[..8].to_owned();
        let optional = |x: Option<&[u8]>| x.map_or("none".to_owned(), hash);
        let mut all = BTreeMap::new();
        let depth = serde_json::to_value(s.depth).ok().and_then(|v| v.as_str().map(str::to_owned));
        all.insert("depth".into(), depth.unwrap_or_default());
        all.insert("files".into(), if s.each_file { "each" } else { "families" }.to_owned());
        all.insert("commands".into(), s.commands.to_string());
        all.insert("key".into(), if self.by_content { "content" } else { "path" }.to_owned());
        all.insert("apps".into(), optional(s.apps.as_deref().map(str::as_bytes)));
        // of the key not even its hash is kept, but a code that it makes
        all.insert("anonymise".into(), s.hide.as_deref().map_or("none".to_owned(), |k| Hide::new(k).code("key")));
        all
    }
}

impl Options {
    /// Keys and paths of logs as the tables have them.
    fn names(&self, logs: &[LogRef]) -> Vec<Name> {
        let hide = self.settings.hide.as_deref().map(Hide::new);
        let name = |log: &LogRef| {
            let uri = log.path.display().to_string();
            Name { key: log.key, uri: hide.as_ref().map_or_else(|| uri.clone(), |h| h.code(&uri)) }
        };
        logs.iter().map(name).collect()
    }
}

/// A run on its way: the portions of a list come one by one, and what a fleet has of them is not kept.
pub struct Plan<'o> {
    folder: PathBuf,
    pub(crate) options: &'o Options,
    store: Option<Store>,
    left: Left,
    listed: u64,
}

/// What there is to do.
pub(crate) struct Planned {
    pub store: Store,
    pub units: Vec<Unit>,
    pub begin: Instant,
    pub progress: Progress,
}

impl<'o> Plan<'o> {
    /// Of a run on the fleet in `folder`.
    pub fn new(folder: &Path, options: &'o Options) -> Self {
        let (store, left) = (None, Left::default());
        Plan { folder: folder.into(), options, store, left, listed: 0 }
    }

    /// Takes logs of the list: those of its part that the fleet does not have are to be read.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](iophase::ErrorKind::Usage) for options that differ from the fleet's,
    /// [`ErrorKind::Io`](iophase::ErrorKind::Io) if its tables cannot be read, [`ErrorKind::Output`](iophase::ErrorKind::Output) if they
    /// cannot be made.
    pub fn take(&mut self, mut logs: Vec<LogRef>) -> Result<()> {
        let (part, parts) = self.options.shard;
        logs.retain(|log| log.key.part(parts) == part - 1);
        self.listed += logs.len() as u64;
        let store = self.made()?;
        self.left.add(&store, logs, self.options)?;
        self.store = Some(store);
        Ok(())
    }

    fn made(&mut self) -> Result<Store> {
        let make = || Store::create(&self.folder, &self.options.identity(), self.options.rebuild);
        self.store.take().map_or_else(make, Ok)
    }

    pub(crate) fn finish(mut self) -> Result<Planned> {
        let store = self.made()?;
        if self.options.shard.0 == 1 {
            self.left.add_gone(&store, self.options)?;
        }
        let units = self.left.units(&store)?;
        let todo = units.iter().map(|u| u.logs.len() as u64).sum();
        let (listed, known) = (self.listed, self.listed.saturating_sub(todo));
        Ok(Planned {
            store,
            units,
            begin: Instant::now(),
            progress: Progress { listed, todo, known, ..Progress::default() },
        })
    }
}

/// Reads the logs of a list that the fleet does not have yet. Reports progress to `watch` about once a second.
///
/// # Errors
/// As [`Plan::take`]; [`ErrorKind::Output`](iophase::ErrorKind::Output) if tables cannot be written, [`ErrorKind::Io`](iophase::ErrorKind::Io)
/// if workers cannot be started or the folder cannot be read.
pub fn run(plan: Plan<'_>, watch: &mut dyn FnMut(&Progress)) -> Result<Progress> {
    let options = plan.options;
    let Planned { store, units, begin, progress } = plan.finish()?;
    let work = Work { store: &store, options, units: Mutex::new(units.into()), stop: AtomicBool::new(false) };
    let (tell, told) = channel();
    let progress = thread::scope(|scope| {
        let threads: Vec<_> = (0..options.workers.max(1))
            .map(|_| {
                let tell = tell.clone();
                scope.spawn(|| work.all(tell))
            })
            .collect();
        drop(tell);
        let watched = work.watch(&told, progress, begin, watch);
        let ends = threads.into_iter().map(|t| t.join().unwrap_or_else(|p| std::panic::resume_unwind(p)));
        // all of them are waited for, and the first error counts
        let ended: Result<()> = ends.collect::<Vec<_>>().into_iter().collect();
        ended.and(watched)
    })?;
    finish(&store, &progress, watch)?;
    Ok(progress)
}

/// Ends a run: the tables have all its batches.
///
/// # Errors
/// [`ErrorKind::Output`] if that cannot be written.
pub(crate) fn finish(store: &Store, progress: &Progress, watch: &mut dyn FnMut(&Progress)) -> Result<()> {
    store.follow()?;
    write_progress(store, progress)?;
    watch(progress);
    Ok(())
}

/// Logs that are to be read.
#[derive(Debug, Default)]
struct Left {
    /// Those that no table has.
    new: Vec<LogRef>,
    /// By batch: those that are read again, and the keys of rows that no longer count.
    again: BTreeMap<String, (Vec<LogRef>, HashSet<Key>)>,
}

impl Left {
    /// Adds those of `logs`.
    fn add(&mut self, store: &Store, logs: Vec<LogRef>, options: &Options) -> Result<()> {
        if logs.is_empty() {
            return Ok(());
        }
        let names = options.names(&logs);
        let known = store.lookup(&names, &|_| false)?;
        for (log, name) in logs.into_iter().zip(names) {
            // a log that changed replaces its earlier rows
            let old = match known.keys.get(&log.key) {
                Some(k) if wanted(&k.status, options.retry) => Some((k, log.key)),
                Some(_) => continue,
                None => known.paths.get(&name.uri).and_then(|key| Some((known.keys.get(key)?, *key))),
            };
            match old {
                Some((k, key)) => {
                    let entry = self.again.entry(k.batch.clone()).or_default();
                    entry.0.push(log);
                    entry.1.insert(key);
                }
                None => self.new.push(log),
            }
        }
        Ok(())
    }

    /// The rows of logs that are gone and to be deleted no longer count.
    fn add_gone(&mut self, store: &Store, options: &Options) -> Result<()> {
        if options.delete.is_empty() {
            return Ok(());
        }
        let gone = |uri: &str| {
            let path = Path::new(uri);
            options.delete.iter().any(|folder| path.starts_with(folder)) && !path.exists()
        };
        for (key, old) in store.lookup(&[], &gone)?.gone {
            self.again.entry(old.batch).or_default().1.insert(key);
        }
        Ok(())
    }

    /// The batches, each log once.
    fn units(mut self, store: &Store) -> Result<Vec<Unit>> {
        let mut seen = HashSet::new();
        self.new.sort_by(|a, b| a.path.cmp(&b.path));
        self.new.retain(|log| seen.insert(log.key));
        let mut units: Vec<Unit> = chunks(self.new).into_iter().map(|logs| Unit { logs, old: None }).collect();
        let mut batches: HashMap<String, Batch> = HashMap::new();
        if !self.again.is_empty() {
            batches.extend(store.whole_batches()?.into_iter().map(|b| (b.id.clone(), b)));
        }
        for (id, (mut logs, keys)) in self.again {
            logs.retain(|log| seen.insert(log.key));
            units.extend(batches.remove(&id).map(|batch| Unit { logs, old: Some((batch, keys)) }));
        }
        Ok(units)
    }
}

fn wanted(status: &str, retry: Retry) -> bool {
    let is = |s: &Status| s.name() == status;
    match retry {
        // that was a state of the list, and the log is back
        _ if is(&Status::Vanished) => true,
        Retry::None => false,
        Retry::Timeout => is(&Status::Timeout),
        Retry::Bad => Status::ALL.iter().any(|s| is(s) && s.is_bad()),
        Retry::All => true,
    }
}

fn chunks(logs: Vec<LogRef>) -> Vec<Vec<LogRef>> {
    let most = (logs.len() / BATCHES).clamp(BATCH_LOGS.0, BATCH_LOGS.1);
    let mut all: Vec<Vec<LogRef>> = Vec::new();
    let mut bytes = 0u64;
    for log in logs {
        bytes = bytes.saturating_add(log.size);
        match all.last_mut() {
            Some(last) if last.len() < most && bytes <= BATCH_BYTES => last.push(log),
            _ => {
                bytes = log.size;
                all.push(vec![log]);
            }
        }
    }
    all
}

impl Unit {
    /// Reads the logs and writes their rows: the batch, still to be committed. `each` gets true for a log that could not be read.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if parts cannot be written, [`ErrorKind::Io`] if no worker can be started; those of `each`.
    pub(crate) fn read(
        &self,
        folder: &Path,
        options: &Options,
        runner: &mut Runner<'_>,
        each: &mut dyn FnMut(bool) -> Result<()>,
    ) -> Result<Batch> {
        let begin = Instant::now();
        let id = self.id(options);
        let mut writer = PartWriter::new(folder, &id);
        let mut bad = 0;
        runner.run(&self.logs, &mut |rows| {
            let is_bad = Status::ALL.iter().any(|s| rows.log.status.as_deref() == Some(s.name()) && s.is_bad());
            bad += u64::from(is_bad);
            writer.push(rows)?;
            each(is_bad)
        })?;
        let mut batch = Batch {
            id,
            parts: writer.finish()?,
            logs: self.logs.len() as u64,
            bad,
            worker: format!("{}:{}", host(), std::process::id()),
            version: env!("CARGO_PKG_VERSION").into(),
            ..Batch::default()
        };
        if let Some((old, dropped)) = &self.old {
            keep_others(folder, old, dropped, &mut batch)?;
            batch.replaces = vec![old.id.clone()];
        }
        batch.seconds = begin.elapsed().as_secs_f64();
        Ok(batch)
    }

    /// Reads and commits the logs, without those that another run has committed meanwhile.
    ///
    /// # Errors
    /// As [`read`](Self::read) and [`Store::commit`].
    pub(crate) fn settle(
        self,
        store: &Store,
        options: &Options,
        runner: &mut Runner<'_>,
        each: &mut dyn FnMut(bool) -> Result<()>,
    ) -> Result<()> {
        let mut waiting = vec![self];
        while let Some(mut unit) = waiting.pop() {
            // logs that are read again belong to a batch, which has to be there at the commit
            let mut names = if unit.old.is_some() { Vec::new() } else { options.names(&unit.logs) };
            let (new, changed) = store.still_new(&names)?;
            if !changed {
                if unit.old.is_none() {
                    unit.logs.retain(|log| new.contains(&log.key));
                    names.retain(|log| new.contains(&log.key));
                    if unit.logs.is_empty() {
                        continue;
                    }
                }
                let batch = unit.read(store.folder(), options, runner, each)?;
                if store.commit(&batch, &names)? {
                    continue;
                }
                batch.parts.files().for_each(|path| _ = std::fs::remove_file(store.folder().join(path)));
            }
            let mut left = Left::default();
            if unit.old.is_some() {
                left.add_gone(store, options)?;
            }
            left.add(store, unit.logs, options)?;
            waiting.extend(left.units(store)?);
        }
        Ok(())
    }

    /// The name of a batch: the same for the same logs, options and version of the tables.
    pub(crate) fn id(&self, options: &Options) -> String {
        let mut hash = Sha256::new();
        hash.update(crate::tables::SCHEMA_VERSION.to_le_bytes());
        for (name, value) in options.identity() {
            hash.update(format!("{name}={value}\n"));
        }
        self.logs.iter().for_each(|log| hash.update(log.key.0));
        if let Some((old, _)) = &self.old {
            hash.update(&old.id);
        }
        key_of(hash).hex()
    }
}

/// State that the threads of a run share.
struct Work<'a> {
    store: &'a Store,
    options: &'a Options,
    units: Mutex<VecDeque<Unit>>,
    stop: AtomicBool,
}

/// A log was read; true if it could not be.
type Told = bool;

impl Work<'_> {
    /// Does units until none is left.
    fn all(&self, tell: Sender<Told>) -> Result<()> {
        let o = self.options;
        let mut runner = Runner::new(&o.program, &o.settings, &o.bounds)?;
        loop {
            let next = self.units.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(unit) = next.filter(|_| !self.stop.load(Relaxed)) else { return Ok(()) };
            if let Err(e) = self.unit(&mut runner, unit, &tell) {
                self.stop.store(true, Relaxed);
                return Err(e);
            }
        }
    }

    fn unit(&self, runner: &mut Runner<'_>, unit: Unit, tell: &Sender<Told>) -> Result<()> {
        let folder = self.store.folder();
        unit.settle(self.store, self.options, runner, &mut |is_bad| {
            // nobody listens once the run has failed
            let _ = tell.send(is_bad);
            if self.stop.load(Relaxed) { Err(output(folder, "stopped: another batch failed")) } else { Ok(()) }
        })
    }

    /// Tells how far the run is until all threads have ended; notes it now and then.
    fn watch(
        &self,
        told: &Receiver<Told>,
        mut p: Progress,
        begin: Instant,
        watch: &mut dyn FnMut(&Progress),
    ) -> Result<Progress> {
        let (mut shown, mut noted) = (begin, begin);
        loop {
            let ended = match told.recv_timeout(Duration::from_millis(500)) {
                Ok(bad) => {
                    p.read += 1;
                    p.bad += u64::from(bad);
                    false
                }
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => true,
            };
            p.seconds = begin.elapsed().as_secs_f64();
            if ended {
                p.done = true;
                return Ok(p);
            }
            if shown.elapsed() >= Duration::from_secs(1) {
                shown = Instant::now();
                watch(&p);
            }
            if noted.elapsed() >= NOTE {
                noted = Instant::now();
                if let Err(e) = write_progress(self.store, &p) {
                    self.stop.store(true, Relaxed);
                    return Err(e);
                }
            }
        }
    }
}

/// Adds the rows of a batch that still count to a new one.
fn keep_others(folder: &Path, old: &Batch, dropped: &HashSet<Key>, batch: &mut Batch) -> Result<()> {
    for table in all() {
        for (part, _) in old.parts.0.get(table.name).into_iter().flatten() {
            let schema = table.schema();
            let kept = read_part(&folder.join(part), None)?.map(|rows| {
                let rows = of_schema(&rows?, &schema).or_output(folder)?;
                let keys = keys_of(&rows).ok_or_else(|| output(folder, "a part without keys"))?;
                let mask: BooleanArray =
                    (0..rows.num_rows()).map(|i| Some(!dropped.contains(&key_at(&keys, i)))).collect();
                filter_record_batch(&rows, &mask).or_output(folder)
            });
            let kept = kept.filter(|b| b.as_ref().map_or(true, |b| b.num_rows() > 0));
            let made = write_batches(folder, &table, &batch.id, kept, usize::MAX)?;
            for (table, files) in made.0 {
                batch.parts.0.entry(table).or_default().extend(files);
            }
        }
    }
    batch.logs += old.logs.saturating_sub(dropped.len() as u64);
    batch.bad = bad_logs(folder, &batch.parts)?;
    Ok(())
}

fn bad_logs(folder: &Path, parts: &Parts) -> Result<u64> {
    let mut bad = 0;
    for (part, _) in parts.0.get("logs").into_iter().flatten() {
        for batch in read_part(&folder.join(part), Some(&["status"]))? {
            let batch = batch?;
            let status = batch.column(0).as_any().downcast_ref::<StringArray>();
            let is_bad = |s: &str| Status::ALL.iter().any(|x| x.name() == s && x.is_bad());
            bad += status.map_or(0, |s| s.iter().flatten().filter(|s| is_bad(s)).count() as u64);
        }
    }
    Ok(bad)
}

pub(crate) fn write_progress(store: &Store, p: &Progress) -> Result<()> {
    let path = store.folder().join("_progress.json");
    write_atomically(&path, &serde_json::to_vec(p).or_output(&path)?)
}

/// How far the last or the running run of a fleet is, as it wrote last; `None` if there was none.
///
/// # Errors
/// [`ErrorKind::Io`] if the folder is no fleet.
pub fn status(folder: &Path) -> Result<Option<Progress>> {
    let store = Store::open(folder)?;
    let text = std::fs::read_to_string(store.folder().join("_progress.json")).ok();
    Ok(text.and_then(|t| serde_json::from_str(&t).ok()))
}

/// Merges all batches of a fleet into few files, sorted by start time, without the rows of jobs that started before `since`, and deletes files
/// that have not counted for `grace_s` seconds. Gives the number of files before and after.
///
/// # Errors
/// [`ErrorKind::Output`] if files cannot be written, [`ErrorKind::Io`] if they cannot be read.
pub fn compact(folder: &Path, grace_s: f64, since: Option<DateTime<Utc>>, most_bytes: usize) -> Result<(u64, u64)> {
    let store = Store::open(folder)?.with_tables()?;
    let files = |batches: &[Batch]| batches.iter().map(|b| b.parts.files().count() as u64).sum();
    let mut old = store.whole_batches()?;
    let before = files(&old);
    while old.len() > 1 || (since.is_some() && !old.is_empty()) {
        let begin = Instant::now();
        let mut hash = Sha256::new();
        old.iter().for_each(|b| hash.update(&b.id));
        let mut batch = Batch {
            id: key_of(hash).hex(),
            worker: format!("{}:{}", host(), std::process::id()),
            version: env!("CARGO_PKG_VERSION").into(),
            replaces: old.iter().map(|b| b.id.clone()).collect(),
            same_rows: since.is_none(),
            ..Batch::default()
        };
        for table in all() {
            let sorted = crate::query::sorted(folder, &old, table.name, since)?;
            batch.parts.0.extend(write_batches(folder, &table, &batch.id, sorted, most_bytes)?.0);
        }
        batch.logs = batch.parts.0.get("logs").into_iter().flatten().map(|(_, rows)| rows).sum();
        batch.bad = bad_logs(folder, &batch.parts)?;
        batch.seconds = begin.elapsed().as_secs_f64();
        if store.commit(&batch, &[])? {
            break;
        }
        // another run has replaced a batch meanwhile
        old = store.whole_batches()?;
    }
    let after = files(&store.batches()?);
    store.sweep(grace_s)?;
    Ok((before, after))
}

/// Reads `i/n` of `--shard`.
///
/// # Errors
/// [`ErrorKind::Usage`] unless 1 ≤ i ≤ n.
pub fn shard(text: &str) -> Result<(usize, usize)> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts
        .filter(|(i, n)| 1 <= *i && i <= n)
        .ok_or_else(|| usage(format!("{text} is no part")).expected("i/n, such as 3/8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Time;
    use iophase::ErrorKind;

    fn logs(n: usize, size: u64) -> Vec<LogRef> {
        let log =
            |i: usize| LogRef { path: format!("/{i:06}").into(), size, modified: Time(None), key: Key([i as u8; 16]) };
        (0..n).map(log).collect()
    }

    #[test]
    fn batches_depend_on_the_list_only() {
        let sizes = |n, size| chunks(logs(n, size)).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(100, 1), [64, 36]);
        assert_eq!(sizes(6400, 1).len(), 32);
        assert_eq!(sizes(100_000, 1)[..3], [2000, 2000, 2000]);
        assert_eq!(sizes(5, 100 << 20), [2, 2, 1]);
        assert_eq!(sizes(2, 1 << 40), [1, 1]);
        assert_eq!(chunks(logs(777, 3)).concat(), logs(777, 3));
    }

    #[test]
    fn parts_of_a_list_are_checked() {
        assert_eq!(shard("2/8").unwrap(), (2, 8));
        for text in ["0/3", "4/3", "3", "a/b", "1/0"] {
            assert_eq!(shard(text).unwrap_err().kind(), ErrorKind::Usage, "{text}");
        }
    }
}
