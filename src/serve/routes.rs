//! The requests and what answers them.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware;
use axum::response::sse::{Event, KeepAlive, KeepAliveStream, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, mpsc};
use tokio_stream::wrappers::ReceiverStream;

use super::answer::{Json, Refusal};
use super::body::{Whole, whole};
use super::guard::guard;
use super::jobs::Block;
use super::metrics;
use super::{Bounds, News, Shared};
use crate::analysis::{self, Analysis, Evidence, ModeChoice, SignalReport};
use crate::formats::{self, Limits, ReadOptions, Source};
use crate::online::Options;
use crate::render::figure::{self, View};
use crate::render::json;
use crate::signal::Mode;

/// The page: one file, nothing from elsewhere.
static PAGE: LazyLock<String> =
    LazyLock::new(|| include_str!("page.html").replacen("<style>", &format!("<style>\n{}", figure::STYLE), 1));

/// All requests of the module's table. Each job is followed with `options`.
pub fn router(options: Options, bounds: Bounds) -> Router {
    routes(Shared::new(options, bounds))
}

pub(super) fn routes(shared: Shared) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/api/analyze", post(analyze))
        .route("/api/jobs", get(jobs))
        .route("/healthz", get(healthz))
        .route("/metrics", get(metrics))
        .route("/api/jobs/{job}", delete(remove))
        .route("/api/jobs/{job}/blocks", post(block))
        .route("/api/jobs/{job}/prediction", get(prediction))
        .route("/api/jobs/{job}/live", get(live))
        .route("/api/jobs/{job}/figure", get(figure_of))
        .route("/api/jobs/{job}/automaton", get(automaton))
        .route("/api/jobs/{job}/events", get(events))
        .fallback(nowhere)
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

async fn page() -> Html<&'static str> {
    Html(&PAGE)
}

async fn nowhere() -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, "no such address")
}

/// Does work that takes long beside the requests, so much at one time.
async fn aside<T: Send + 'static>(
    running: &Arc<Semaphore>,
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let permit = running.clone().acquire_owned().await.map_err(|_| broken())?;
    let done = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(permit);
        done
    });
    done.await.map_err(|_| broken())?
}

fn broken() -> Refusal {
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the analysis has failed")
}

/// A place among those that wait for an answer.
fn place(waiting: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Refusal> {
    waiting.clone().try_acquire_owned().map_err(|_| Refusal::busy("too many requests wait for an answer"))
}

fn limits(bounds: &Bounds) -> Limits {
    Limits { memory_bytes: (bounds.body_bytes as u64).saturating_mul(8), records: 50_000_000, ..Limits::default() }
}

#[derive(Deserialize)]
struct Wanted {
    mode: Option<String>,
    /// Width of figures.
    figures: Option<u32>,
}

async fn analyze(
    State(shared): State<Shared>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json, Refusal> {
    let mode = match wanted.mode.as_deref() {
        None | Some("auto") => ModeChoice::default(),
        Some(name) => ModeChoice::One(mode(name)?),
    };
    let Whole { bytes, room } = whole(&shared, &headers, body).await?;
    let _place = place(&shared.analyses.waiting)?;
    let read = ReadOptions { limits: limits(&shared.bounds), ..ReadOptions::default() };
    let min_period_s = shared.jobs.options().min_period_s;
    aside(&shared.analyses.running, move || {
        let _room = room;
        let source = Source::from_bytes("request", bytes);
        let trace = formats::read(&source, None, &read)?;
        let options = analysis::Options { mode, min_period_s, ..analysis::Options::default() };
        let Analysis { report, evidence, .. } = analysis::analyze(&trace, &options)?;
        let Some(width) = wanted.figures else { return Ok(Json(json::line(&report)?)) };
        let figure = |(i, (s, evidence)): (usize, (&SignalReport, Evidence))| {
            let view = View::new(&trace, s.mode, &options.selection, evidence);
            figure::bandwidth_of_page(s, &view, width, &format!("signal-{i}"))
        };
        let figures: Vec<String> = report.signals.iter().zip(evidence).enumerate().map(figure).collect();
        Ok(Json(json::line(&json!({ "report": report, "figures": figures }))?))
    })
    .await
}

fn mode(name: &str) -> Result<Mode, Refusal> {
    let all = [Mode::Write, Mode::Read, Mode::All, Mode::WriteSync, Mode::ReadSync, Mode::WriteAsync, Mode::ReadAsync];
    let found = all.into_iter().find(|m| m.name() == name);
    found.ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, "no such mode; auto, write, read, all, write_sync, ..."))
}

async fn block(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json, Refusal> {
    let body = whole(&shared, &headers, body).await?;
    let place = place(&shared.blocks.waiting)?;
    // It is taken to its end also if the client leaves.
    let taken = tokio::spawn(async move {
        let _place = place;
        follow(&shared, name, body).await
    });
    taken.await.map_err(|_| broken())?
}

/// Follows a block in turns, so that blocks of other jobs do not wait for the end of a long one.
async fn follow(shared: &Shared, name: String, body: Whole) -> Result<Json, Refusal> {
    let limits = limits(&shared.bounds);
    let running = &shared.blocks.running;
    let Whole { bytes, room: _room } = body;
    let mut block = aside(running, move || Ok(Block::read(&bytes, &limits)?)).await?;
    // A job begins with the first block that can be read.
    let job = shared.jobs.get_or_make(&name)?;
    let mut following = job.following().await;
    let found = loop {
        let bounds = shared.bounds.clone();
        let found;
        (following, block, found) = aside(running, move || {
            let found = following.follow(&mut block, &bounds)?;
            Ok((following, block, found))
        })
        .await?;
        if let Some(found) = found {
            break found;
        }
    };
    job.show(found.clone());
    if shared.news.receiver_count() > 0 {
        // Nobody may have stayed to hear it.
        let _ = shared.news.send(News { job: name.into(), snapshot: json::line(&found.snapshot)?.into() });
    }
    Ok(Json(json::line(&found.snapshot.prediction)?))
}

async fn jobs(State(shared): State<Shared>) -> Result<Json, Refusal> {
    #[derive(serde::Serialize)]
    struct Names {
        jobs: Vec<String>,
    }
    Ok(Json(json::line(&Names { jobs: shared.jobs.names() })?))
}

async fn remove(State(shared): State<Shared>, Path(name): Path<String>) -> Result<StatusCode, Refusal> {
    if shared.jobs.remove(&name) { Ok(StatusCode::NO_CONTENT) } else { Err(Refusal::no_job()) }
}

async fn healthz() -> &'static str {
    "ok"
}

async fn metrics(State(shared): State<Shared>) -> Response {
    ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], metrics::text(&shared.jobs)).into_response()
}

async fn prediction(State(shared): State<Shared>, Path(name): Path<String>) -> Result<Json, Refusal> {
    let found = shared.jobs.found(&name).ok_or_else(Refusal::no_job)?;
    Ok(Json(json::line(&found.snapshot.prediction)?))
}

async fn live(State(shared): State<Shared>, Path(name): Path<String>) -> Result<Json, Refusal> {
    let found = shared.jobs.found(&name).ok_or_else(Refusal::no_job)?;
    Ok(Json(json::line(&found.snapshot)?))
}

#[derive(Deserialize)]
struct Width {
    width: Option<u32>,
}

/// The current figure of a job as SVG, in the colours of the page.
async fn figure_of(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    Query(f): Query<Width>,
) -> Result<Response, Refusal> {
    let found = shared.jobs.found(&name).ok_or_else(Refusal::no_job)?;
    let svg = figure::live(&found.snapshot, f.width.unwrap_or(1000)).ok_or_else(Refusal::no_job)?;
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], svg).into_response())
}

#[derive(Deserialize)]
struct Form {
    form: Option<String>,
}

async fn automaton(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    Query(f): Query<Form>,
) -> Result<Response, Refusal> {
    let found = shared.jobs.found(&name).ok_or_else(Refusal::no_job)?;
    let automaton = &found.snapshot.automaton;
    match f.form.as_deref() {
        None | Some("json") => Ok(Json(json::line(&automaton.to_json())?).into_response()),
        Some("dot") => Ok(([(header::CONTENT_TYPE, "text/vnd.graphviz")], automaton.to_dot()).into_response()),
        Some(_) => Err(Refusal::new(StatusCode::BAD_REQUEST, "no such form; json or dot")),
    }
}

/// Snapshots of a job, for one who watches it.
type Watched = ReceiverStream<Result<Event, Infallible>>;

async fn events(
    State(shared): State<Shared>,
    Path(name): Path<String>,
) -> Result<Sse<KeepAliveStream<Watched>>, Refusal> {
    let full = || Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too many watchers");
    let permit = shared.watchers.clone().try_acquire_owned().map_err(|_| full())?;
    // Heard from before the first look, so that nothing falls between.
    let news = shared.news.subscribe();
    let first = shared.jobs.found(&name).map(|found| json::line(&found.snapshot)).transpose()?;
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        tell(name, first, news, sender).await;
        drop(permit);
    });
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

/// Sends the first snapshot and all that come, until the watcher has gone.
async fn tell(
    name: String,
    first: Option<String>,
    mut news: broadcast::Receiver<News>,
    sender: mpsc::Sender<Result<Event, Infallible>>,
) {
    if let Some(text) = first
        && sender.send(Ok(Event::default().data(text))).await.is_err()
    {
        return;
    }
    loop {
        let heard = tokio::select! {
            heard = news.recv() => heard,
            () = sender.closed() => return,
        };
        match heard {
            Ok(n) if *n.job == *name => {
                if sender.send(Ok(Event::default().data(&*n.snapshot))).await.is_err() {
                    return;
                }
            }
            // Snapshots are whole: a slow watcher goes on with the next.
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}
