//! The worker: a process that reads logs one after the other and answers with their rows.
//!
//! Frames go in both directions: four bytes with the length, least significant first, then the value in postcard. A worker is sent
//! [`Order`]s and answers the first with an empty frame, each log with its rows, in the order of the list.

use std::io::{self, Read, Write};
use std::sync::mpsc::sync_channel;
use std::thread;

use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::usage;
use crate::extract::{Bounds, Extractor, Settings};
use crate::list::LogRef;
use iophase::{Error, ErrorKind, Result};

/// Files up to this many bytes are read while the log before is analysed.
const AHEAD: u64 = 64 << 20;
/// Address space that a worker may need beside the memory of a log: stacks, reserves of the allocator, code.
const RESERVE: u64 = 512 << 20;
/// Bytes of a frame, at most.
const FRAME: usize = 1 << 30;

/// A message to a worker.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// How logs are read.
    Start(Settings, Bounds),
    /// Logs to read.
    Logs(Vec<LogRef>),
}

/// Writes a frame.
///
/// # Errors
/// Those of writing.
pub fn send<T: Serialize>(to: &mut impl Write, value: &T) -> io::Result<()> {
    let bytes = postcard::to_stdvec(value).map_err(io::Error::other)?;
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&bytes)?;
    to.flush()
}

/// The bytes of the next frame; `None` at the end.
///
/// # Errors
/// Those of reading; a length that cannot be one.
pub fn frame(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        done => done?,
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no frame of a worker"));
    }
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length { Ok(None) } else { Ok(Some(bytes)) }
}

/// The value of a frame.
///
/// # Errors
/// If it holds another.
pub fn value<T: DeserializeOwned>(frame: &[u8]) -> io::Result<T> {
    postcard::from_bytes(frame).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))
}

/// Runs a worker on standard input and output until its orders end.
///
/// # Errors
/// If it was not started by `iophase-fleet`, or the pipes break.
pub fn run() -> Result<()> {
    // a driver that is killed takes its workers with it
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    std::panic::set_hook(Box::new(|_| {}));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|e| Error::new(ErrorKind::Io, format!("no thread can be started: {e}")))?;
    pool.install(serve)
}

fn serve() -> Result<()> {
    let (mut orders, mut answers) = (io::stdin().lock(), io::stdout().lock());
    let broken = |e: io::Error| Error::new(ErrorKind::Io, format!("the pipe to the driver: {e}"));
    let mut extractor: Option<(Extractor, u64)> = None;
    while let Some(order) = frame(&mut orders).map_err(broken)? {
        match (value(&order).map_err(broken)?, &extractor) {
            (Order::Start(settings, bounds), _) => {
                limit_memory(bounds.memory);
                let max_size = bounds.max_size;
                extractor = Some((Extractor::new(settings, bounds)?, max_size));
                send(&mut answers, &()).map_err(broken)?;
            }
            (Order::Logs(logs), Some((extractor, max_size))) => {
                all(extractor, *max_size, &logs, &mut answers).map_err(broken)?;
            }
            (Order::Logs(_), None) => {
                return Err(usage("a worker is started by iophase-fleet itself").remedy("name logs instead"));
            }
        }
    }
    Ok(())
}

/// Reads and answers logs; the next file is read while one is analysed.
fn all(extractor: &Extractor, max_size: u64, logs: &[LogRef], answers: &mut impl Write) -> io::Result<()> {
    let (give, take) = sync_channel(1);
    thread::scope(|scope| {
        scope.spawn(move || {
            for log in logs {
                let content = (log.size <= AHEAD).then(|| Extractor::fetch(log, max_size));
                // the other end is gone if the pipe broke
                if give.send(content).is_err() {
                    return;
                }
            }
        });
        for (log, content) in logs.iter().zip(take) {
            let content = content.unwrap_or_else(|| Extractor::fetch(log, max_size));
            send(answers, &extractor.rows(log, content))?;
        }
        Ok(())
    })
}

/// Bounds the address space: what is there already, the memory of a log, and a reserve.
fn limit_memory(memory: u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmSize:"));
    let have = line.and_then(|l| l.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).unwrap_or(1 << 20) << 10;
    let most = have.saturating_add(memory).saturating_add(RESERVE);
    // without it the bounds inside still hold
    let _ = setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) });
}
