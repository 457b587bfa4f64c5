//! Work without the interpreter lock: it runs in a thread of its own while the caller waits, so that Ctrl-C is seen at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use iophase::formats::{ReadOptions, Stop};
use iophase::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use rayon::ThreadPool;

use crate::errors;

/// Interval at which signals are handled and progress is reported.
const NOTICE: Duration = Duration::from_millis(50);

/// Connects running work with its caller: a request to stop, and progress.
#[derive(Clone, Default)]
pub struct Control {
    stop: Stop,
    done: Arc<AtomicU64>,
    total: Arc<AtomicU64>,
}

impl Control {
    /// Options of a reader that counts its bytes here and ends when the caller does.
    pub fn reading(&self, mut options: ReadOptions) -> ReadOptions {
        options.limits.stop = Some(self.stop.clone());
        let done = self.done.clone();
        options.progress(Some(Arc::new(move |n| {
            done.fetch_add(n, Ordering::Relaxed);
        })))
    }

    /// There is more to do, in bytes or in whatever [`Control::add`] counts.
    pub fn expect(&self, more: u64) {
        self.total.fetch_add(more, Ordering::Relaxed);
    }

    /// This much is done.
    pub fn add(&self, more: u64) {
        self.done.fetch_add(more, Ordering::Relaxed);
    }

    /// Whether the caller has gone.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }
}

/// The threads of this process. A child that was forked has none of its parent's threads, and gets a pool of its own.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

fn pool(threads: Option<usize>) -> Result<Arc<ThreadPool>> {
    let make = |n: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).thread_name(|i| format!("iophase-{i}")).build();
        pool.map(Arc::new).map_err(|e| Error::new(ErrorKind::Usage, format!("{n} threads cannot be started: {e}")))
    };
    if let Some(n) = threads {
        return make(n);
    }
    let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*kept {
        Some((of, pool)) if *of == process::id() => Ok(pool.clone()),
        _ => {
            let pool = make(0)?;
            // that of a parent process: nobody could end its threads here
            if let Some(old) = kept.replace((process::id(), pool.clone())) {
                std::mem::forget(old);
            }
            Ok(pool)
        }
    }
}

/// Runs `work` on `threads` threads (all, if `None`). Meanwhile other Python threads run, signals are handled, and `progress` is
/// called with what is done and what there is to do. Once a signal or `progress` raises, reading ends; what is being computed
/// goes on unseen to its end.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    beside(py, threads, progress, move |control, pool| pool.install(|| work(control)))
}

/// As [`run`], with work that begins outside the pool. There it may wait for a lock: a thread of the pool that waits for parts of its
/// own work takes up other work meanwhile, and if that waited for a lock the thread holds, it would wait for ever.
pub fn beside<T: Send + 'static>(
    py: Python<'_>,
    threads: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control, &ThreadPool) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let pool = pool(threads).map_err(|e| errors::exception(py, &e))?;
    let control = Control::default();
    let (sender, receiver) = sync_channel(1);
    let of_work = control.clone();
    let started = std::thread::Builder::new().name("iophase".into()).spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(|| work(&of_work, &pool)));
        // nobody waits after a signal
        let _ = sender.send(done);
    });
    started.map_err(|e| errors::exception(py, &errors::usage(format!("no thread can be started: {e}"))))?;
    let receiver = Mutex::new(receiver);
    let mut told = None;
    loop {
        let answer = py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(NOTICE));
        match answer {
            Ok(Ok(done)) => {
                tell(progress, &control, &mut told)?;
                return done.map_err(|e| errors::exception(py, &e));
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return Err(errors::bug()),
            Err(RecvTimeoutError::Timeout) => {
                let seen = py.check_signals().and_then(|()| tell(progress, &control, &mut told));
                if let Err(e) = seen {
                    control.stop.set();
                    return Err(e);
                }
            }
        }
    }
}

/// Calls `progress` if there is news.
fn tell(progress: Option<&Bound<'_, PyAny>>, control: &Control, told: &mut Option<(u64, u64)>) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let now = (control.done.load(Ordering::Relaxed), control.total.load(Ordering::Relaxed));
    if told.replace(now) != Some(now) {
        progress.call1(now)?;
    }
    Ok(())
}
