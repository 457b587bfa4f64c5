//! A small HTTP interface: send a trace and get its report, send the blocks of a running job and get its predictions, watch
//! jobs on a live page.
//!
//! | request | answer |
//! |---|---|
//! | `POST /api/analyze` (a trace, `?mode=`) | `iophase.report.v1`; with `?figures=WIDTH` `{"report", "figures": [SVG, ...]}` |
//! | `POST /api/jobs/NAME/blocks` (records, TMIO, arrays) | `iophase.prediction.v1` |
//! | `GET /api/jobs` | `{"jobs": [NAME, ...]}` |
//! | `GET /api/jobs/NAME/prediction` | the latest `iophase.prediction.v1` |
//! | `GET /api/jobs/NAME/live` | the latest `iophase.live.v1` |
//! | `GET /api/jobs/NAME/figure` (`?width=`) | the figure of the live page as SVG |
//! | `GET /api/jobs/NAME/automaton` (`?form=dot`) | the regimes |
//! | `GET /api/jobs/NAME/events` | server-sent events, an `iophase.live.v1` each |
//! | `DELETE /api/jobs/NAME` | 204; the job and its regimes are gone |
//! | `GET /healthz` | `ok` |
//! | `GET /metrics` | period, confidence, next burst and bytes of every job as OpenMetrics text |
//! | `GET /` (`?job=NAME`) | the live page, of one job |
//!
//! Errors are `{"error": TEXT}` with a status of 4xx, or 503 where too many ask at one time. Blocks are followed in turns beside the requests;
//! meanwhile the last finished answer of a job is served. There is no password: the address should be one that only trusted people
//! reach. Connections, bodies, bytes of all bodies, jobs, watchers and analyses at one time are bounded, and so is the time in which the
//! head and the body of a request must come and the answer must be taken; a request that names a host that is not allowed, or comes from
//! a page of another host, is refused.

mod answer;
mod body;
mod guard;
mod jobs;
mod listen;
mod metrics;
mod places;
mod routes;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, broadcast};

use crate::online::Options;
use crate::online::source::room::Room;
use jobs::Jobs;

pub use listen::{Connections, serve};
pub use routes::router;

/// Bounds of a server.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Bytes of a request's body, as it comes and unpacked.
    pub body_bytes: usize,
    /// Time in which a body must have come.
    pub body: Duration,
    /// Time in which the head of a request must have come.
    pub head: Duration,
    /// Connections at one time.
    pub connections: usize,
    /// Jobs that are followed at one time; one more takes the place of the one silent for longest.
    pub jobs: usize,
    /// Pages and programs that watch at one time.
    pub watchers: usize,
    /// Analyses of traces at one time, and as many of blocks.
    pub analyses: usize,
    /// Time for which a block is followed before others have their turn.
    pub turn: Duration,
    /// Bytes of all bodies that have come and are not answered, besides the first 64 KiB of each: more wait until there is room, and
    /// those that have stalled give way.
    pub bodies_bytes: usize,
    /// Least bytes a second in which a body must come, after the first seconds.
    pub body_rate: f64,
    /// Time in which a client must take something of an answer.
    pub write: Duration,
    /// Requests may name any address: for servers that are not on a loopback address. A page of another host cannot have an address as
    /// its name.
    pub any_address: bool,
    /// Names of this machine that requests may use.
    pub hosts: Vec<String>,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            body_bytes: 64 << 20,
            body: Duration::from_secs(60),
            head: Duration::from_secs(10),
            connections: 256,
            jobs: 256,
            watchers: 64,
            analyses: 2,
            turn: Duration::from_millis(50),
            bodies_bytes: 256 << 20,
            body_rate: f64::from(16u32 << 10),
            write: Duration::from_secs(30),
            any_address: false,
            hosts: Vec::new(),
        }
    }
}

/// Snapshots that a slow watcher may lag behind.
const LAG: usize = 16;

/// A snapshot of a job for all who watch it.
#[derive(Debug, Clone)]
struct News {
    job: Arc<str>,
    snapshot: Arc<str>,
}

/// State that all requests share.
#[derive(Clone)]
struct Shared {
    bounds: Arc<Bounds>,
    jobs: Arc<Jobs>,
    news: broadcast::Sender<News>,
    watchers: Arc<Semaphore>,
    analyses: Work,
    /// Apart from those of traces, which may take long.
    blocks: Work,
    bodies: Room,
}

/// Work that takes long: what runs, and the requests that wait for it or are answered.
#[derive(Clone)]
struct Work {
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Work {
    fn new(running: usize, waiting: usize) -> Work {
        let semaphore = |n: usize| Arc::new(Semaphore::new(n.clamp(1, Semaphore::MAX_PERMITS)));
        Work { running: semaphore(running), waiting: semaphore(waiting) }
    }
}

impl Shared {
    fn new(options: Options, bounds: Bounds) -> Shared {
        Shared {
            jobs: Arc::new(Jobs::new(options, bounds.jobs)),
            news: broadcast::channel(LAG).0,
            watchers: Arc::new(Semaphore::new(bounds.watchers)),
            // Some connections are left for requests that need no analysis.
            analyses: Work::new(bounds.analyses, bounds.connections / 8),
            blocks: Work::new(bounds.analyses, bounds.connections / 2),
            bodies: Room::new(bounds.bodies_bytes as u64, bounds.body_bytes as u64),
            bounds: Arc::new(bounds),
        }
    }
}
