//! Workers as processes: a log that hangs, eats memory or ends its process costs itself only.

use std::ffi::OsString;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::extract::{Bounds, Extractor, Settings};
use crate::list::LogRef;
use crate::tables::{LogRows, Status};
use crate::worker::{Order, frame, send, value};
use iophase::{Error, ErrorKind, Result};

/// Time that a worker has to start.
const START: Duration = Duration::from_secs(60);
/// Workers that are started one after the other, at most, until one is ready. What ends a worker before it has a log has nothing to
/// do with logs: a passing want of memory, a kill by hand. What passes hits few of them; what is wrong with the program or
/// its limits hits all.
pub const STARTS: usize = 5;
/// Bytes of a worker's messages that are kept.
const MESSAGES: usize = 4096;
/// Times, 2 ms apart, that it is looked whether a worker has ended and its messages are read.
const LOOKS: usize = 500;
/// Answers that may wait for the driver.
const WAITING: usize = 64;

/// How workers are started: the program and its arguments.
#[derive(Debug, Clone)]
pub struct Program {
    /// Path of the program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Program {
    /// This program.
    ///
    /// # Errors
    /// If the system does not say where it is.
    pub fn this() -> Result<Program> {
        Ok(Program { path: std::env::current_exe()?, arguments: vec!["worker".into()] })
    }
}

/// A worker that runs.
struct Worker {
    child: Child,
    orders: Option<BufWriter<ChildStdin>>,
    answers: Receiver<Vec<u8>>,
    messages: Arc<Mutex<Vec<u8>>>,
    /// Ends with the messages.
    listener: thread::JoinHandle<()>,
}

/// The outcome of waiting for an answer.
enum Event {
    Rows(Box<LogRows>),
    /// Nothing came in time.
    Silent,
    /// The process ended.
    Dead(String, bool),
}

impl Worker {
    /// A worker that is ready for logs. One that ends before is replaced, up to [`STARTS`] times in all.
    fn start(program: &Program, settings: &Settings, bounds: &Bounds) -> Result<Worker> {
        let failed = |e: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Io, format!("a worker cannot be started: {e}"))
                .in_file(program.path.display().to_string())
        };
        let mut reason = String::new();
        for _ in 0..STARTS {
            let mut worker = Worker::spawn(program).map_err(|e| failed(&e))?;
            match worker.ready(settings, bounds) {
                Ok(()) => return Ok(worker),
                Err(why) => reason = why,
            }
        }
        let all =
            format!("{STARTS} were started one after the other, and none was ready for logs; the last one {reason}");
        Err(failed(&all).remedy("look at the limits of memory and processes, then run the same command again"))
    }

    fn spawn(program: &Program) -> io::Result<Worker> {
        let mut child = Command::new(&program.path)
            .args(&program.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("it has no pipes"));
        };
        let (give, answers) = sync_channel(WAITING);
        thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while let Ok(Some(bytes)) = frame(&mut stdout) {
                if give.send(bytes).is_err() {
                    return;
                }
            }
        });
        let messages = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&messages);
        let listener = thread::spawn(move || keep_messages(stderr, &kept));
        Ok(Worker { child, orders: Some(BufWriter::new(stdin)), answers, messages, listener })
    }

    /// Tells it how logs are read, and waits until it knows; or else how it ended.
    fn ready(&mut self, settings: &Settings, bounds: &Bounds) -> std::result::Result<(), String> {
        let told = self.tell(&Order::Start(settings.clone(), bounds.clone()));
        if told.is_err() || self.answers.recv_timeout(START).is_err() {
            return Err(self.end().0);
        }
        Ok(())
    }

    /// Itself, if it still runs.
    fn living(mut self) -> Option<Worker> {
        matches!(self.child.try_wait(), Ok(None)).then_some(self)
    }

    fn tell(&mut self, order: &Order) -> io::Result<()> {
        self.orders.as_mut().map_or_else(|| Err(io::ErrorKind::BrokenPipe.into()), |to| send(to, order))
    }

    fn next(&mut self, patience: Duration) -> Event {
        match self.answers.recv_timeout(patience) {
            Ok(bytes) => match value(&bytes) {
                Ok(rows) => Event::Rows(Box::new(rows)),
                Err(_) => self.dead(),
            },
            Err(RecvTimeoutError::Timeout) => Event::Silent,
            Err(RecvTimeoutError::Disconnected) => self.dead(),
        }
    }

    fn dead(&mut self) -> Event {
        let (reason, memory) = self.end();
        Event::Dead(reason, memory)
    }

    /// Ends the process: how it ended, and whether it was for want of memory.
    fn end(&mut self) -> (String, bool) {
        self.orders = None;
        // one that ended by itself keeps its own status
        let ended = |child: &mut Child| {
            (0..LOOKS).find_map(|_| {
                let status = child.try_wait().ok().flatten();
                if status.is_none() {
                    thread::sleep(Duration::from_millis(2));
                }
                status
            })
        };
        let status = ended(&mut self.child).or_else(|| {
            let _ = self.child.kill();
            self.child.wait().ok()
        });
        // its last words may still be in the pipe
        (0..LOOKS).take_while(|_| !self.listener.is_finished()).for_each(|_| thread::sleep(Duration::from_millis(2)));
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&messages);
        let last = text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default().to_owned();
        let memory = text.contains("memory allocation of") || text.contains("Cannot allocate memory");
        let how = status.map_or_else(|| "its process is lost".to_owned(), describe);
        (if last.is_empty() { how } else { format!("{how}: {last}") }, memory)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(signal) => format!("ended its process with signal {signal}"),
        None => format!("ended its process with code {}", status.code().unwrap_or(-1)),
    }
}

fn keep_messages(mut from: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..n]);
        let surplus = kept.len().saturating_sub(MESSAGES);
        kept.drain(..surplus);
    }
}

/// Runs batches on one worker after the other.
pub struct Runner<'a> {
    program: &'a Program,
    settings: &'a Settings,
    bounds: &'a Bounds,
    extractor: Extractor,
    worker: Option<Worker>,
}

impl<'a> Runner<'a> {
    /// Without a worker yet.
    ///
    /// # Errors
    /// Of the settings.
    pub fn new(program: &'a Program, settings: &'a Settings, bounds: &'a Bounds) -> Result<Runner<'a>> {
        let extractor = Extractor::new(settings.clone(), bounds.clone())?;
        Ok(Runner { program, settings, bounds, extractor, worker: None })
    }

    /// Gives the rows of each log, in order. A log after which the process ended is tried once more by itself.
    ///
    /// # Errors
    /// Those of `each`; if no worker can be started.
    pub fn run(&mut self, logs: &[LogRef], each: &mut dyn FnMut(LogRows) -> Result<()>) -> Result<()> {
        let mut done = 0;
        while done < logs.len() {
            done += match self.some(&logs[done..], each)? {
                (answered, None) => answered,
                (answered, Some(first)) => {
                    let log = &logs[done + answered];
                    let end = match first {
                        Event::Dead(..) => match self.some(std::slice::from_ref(log), each)? {
                            (_, None) => None,
                            (_, again) => again,
                        },
                        silent => Some(silent),
                    };
                    if let Some(end) = end {
                        each(self.given_up(log, end))?;
                    }
                    answered + 1
                }
            };
        }
        Ok(())
    }

    /// Sends logs to the worker: how many were answered, and why not the rest.
    fn some(&mut self, logs: &[LogRef], each: &mut dyn FnMut(LogRows) -> Result<()>) -> Result<(usize, Option<Event>)> {
        // one that ended while it waited for a batch had no log
        let mut worker = match self.worker.take().and_then(Worker::living) {
            Some(worker) => worker,
            None => Worker::start(self.program, self.settings, self.bounds)?,
        };
        let patience = Duration::from_secs_f64((2.0 * self.bounds.time_s).clamp(1.0, 1e6));
        // one that ended meanwhile shows when its answer is awaited
        let _ = worker.tell(&Order::Logs(logs.to_vec()));
        for answered in 0..logs.len() {
            match worker.next(patience) {
                Event::Rows(rows) => each(*rows)?,
                event => return Ok((answered, Some(event))),
            }
        }
        self.worker = Some(worker);
        Ok((logs.len(), None))
    }

    fn given_up(&self, log: &LogRef, end: Event) -> LogRows {
        let (status, reason) = match end {
            Event::Dead(reason, true) => (Status::Memory, reason),
            Event::Dead(reason, false) => (Status::Crashed, reason),
            _ => (Status::Timeout, format!("no answer within {} s", (2.0 * self.bounds.time_s).max(1.0))),
        };
        self.extractor.given_up(log, status, reason)
    }
}
