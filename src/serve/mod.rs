//! A small HTTP interface: send a trace and get its report, send the blocks of a running job and get its predictions, watch
//! jobs on a live page.
//!
//! | request | answer |
//! |---|---|
//! | `POST /api/analyze` (a trace, `?mode=`) | `iophase.report.v1` |
//! | `POST /api/jobs/NAME/blocks` (records, TMIO, arrays) | `iophase.prediction.v1` |
//! | `GET /api/jobs` | `{"jobs": [NAME, ...]}` |
//! | `GET /api/jobs/NAME/prediction` | the latest `iophase.prediction.v1` |
//! | `GET /api/jobs/NAME/live` | the latest `iophase.live.v1` |
//! | `GET /api/jobs/NAME/automaton` (`?form=dot`) | the regimes |
//! | `GET /api/jobs/NAME/events` | server-sent events, an `iophase.live.v1` each |
//! | `DELETE /api/jobs/NAME` | 204; the job and its regimes are gone |
//! | `GET /healthz` | `ok` |
//! | `GET /metrics` | period, confidence, next burst and bytes of every job as OpenMetrics text |
//! | `GET /` (`?job=NAME`) | the live page, of one job |
//!
//! Errors are `{"error": TEXT}` with a status of 4xx. There is no password: the address should be one that only trusted people
//! reach. Connections, bodies, bytes of all bodies, jobs, watchers and analyses at one time are bounded, and so is the time in which the
//! head and the body of a request must come and the answer must be taken; a request that names a host that is not allowed, or comes from
//! a page of another host, is refused.

mod answer;
mod guard;
mod jobs;
mod listen;
mod metrics;
mod places;
mod routes;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, broadcast};

use crate::online::Options;
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
    /// Analyses at one time.
    pub analyses: usize,
    /// Bytes of all bodies at one time, as they come: a further body waits until there is room.
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
            bodies_bytes: 256 << 20,
            body_rate: f64::from(16u32 << 10),
            write: Duration::from_secs(30),
            any_address: false,
            hosts: Vec::new(),
        }
    }
}

/// Bytes by which room for bodies is counted.
const UNIT: usize = 1 << 10;

/// Snapshots that a slow watcher may lag behind.
const LAG: usize = 16;

/// A snapshot of a job for all who watch it.
#[derive(Debug, Clone)]
struct News {
    job: Arc<str>,
    snapshot: Arc<str>,
}

/// What all requests share.
#[derive(Clone)]
struct Shared {
    bounds: Arc<Bounds>,
    jobs: Arc<Jobs>,
    news: broadcast::Sender<News>,
    watchers: Arc<Semaphore>,
    analyses: Arc<Semaphore>,
    /// Room for bodies, in units of [`UNIT`] bytes.
    bodies: Arc<Semaphore>,
}

impl Shared {
    fn new(options: Options, bounds: Bounds) -> Shared {
        Shared {
            jobs: Arc::new(Jobs::new(options, bounds.jobs)),
            news: broadcast::channel(LAG).0,
            watchers: Arc::new(Semaphore::new(bounds.watchers)),
            analyses: Arc::new(Semaphore::new(bounds.analyses.max(1))),
            bodies: Arc::new(Semaphore::new(
                (bounds.bodies_bytes.max(bounds.body_bytes) / UNIT + 1).min(Semaphore::MAX_PERMITS),
            )),
            bounds: Arc::new(bounds),
        }
    }
}
