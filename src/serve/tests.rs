//! Requests that keep the server busy, and what others are answered meanwhile. In memory, on a clock that stands.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, Response, header};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::routes::routes;
use super::{Bounds, Shared};
use crate::online::Options;

fn server(bounds: Bounds) -> (Shared, Router) {
    let shared = Shared::new(Options::default(), bounds);
    (shared.clone(), routes(shared))
}

async fn asked(app: &Router, request: &str, length: Option<usize>, body: Body) -> Response<Body> {
    let (method, path) = request.split_once(' ').unwrap();
    let request = Request::builder().method(method).uri(path).header(header::HOST, "localhost");
    let request = length.into_iter().fold(request, |r, n| r.header(header::CONTENT_LENGTH, n));
    TowerToHyperService::new(app.clone()).call(request.body(body).unwrap()).await.unwrap()
}

/// Status and body of the answer.
async fn ask(app: &Router, request: &str, body: impl Into<Body>) -> (u16, String) {
    read(asked(app, request, None, body.into()).await).await
}

async fn read(answer: Response<Body>) -> (u16, String) {
    let status = answer.status().as_u16();
    let body = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// Bursts of one write, 5 s apart.
fn bursts(range: std::ops::Range<u32>) -> String {
    let row = |i: u32| format!("0,write,{},{},1000000\n", 5 * i, 5 * i + 1);
    std::iter::once("rank,op,start,end,size\n".into()).chain(range.map(row)).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_last_answer_is_served_while_a_job_is_analysed() {
    let (shared, app) = server(Bounds::default());
    let (_, first) = ask(&app, "POST /api/jobs/a/blocks", bursts(0..8)).await;
    let analysis = shared.jobs.get_or_make("a").unwrap().following().await;
    let all = u32::try_from(shared.bounds.analyses).unwrap();
    let permits = (shared.analyses.running.acquire_many(all).await, shared.blocks.running.acquire_many(all).await);
    let behind = tokio::spawn({
        let app = app.clone();
        async move { ask(&app, "POST /api/jobs/a/blocks", bursts(8..9)).await }
    });
    assert_eq!(ask(&app, "GET /api/jobs/a/prediction", "").await, (200, first.clone()));
    assert_eq!(json(&ask(&app, "GET /api/jobs/a/live", "").await.1)["prediction"], json(&first));
    for path in ["/healthz", "/metrics", "/api/jobs", "/api/jobs/a/automaton", "/"] {
        assert_eq!(ask(&app, &format!("GET {path}"), "").await.0, 200, "{path}");
    }
    assert_eq!(asked(&app, "GET /api/jobs/a/events", None, Body::empty()).await.status(), 200);
    assert!(!behind.is_finished());
    drop((analysis, permits));
    let (status, second) = behind.await.unwrap();
    assert_eq!((status, &json(&second)["sequence"]), (200, &Value::from(1)));
}

#[tokio::test]
async fn a_short_block_does_not_wait_for_the_end_of_a_long_one() {
    let (_, app) = server(Bounds { analyses: 1, turn: Duration::ZERO, ..Bounds::default() });
    let long = ask(&app, "POST /api/jobs/long/blocks", bursts(0..40));
    let short = ask(&app, "POST /api/jobs/short/blocks", bursts(0..1));
    tokio::select! {
        biased;
        _ = long => panic!("the long one first"),
        (status, _) = short => assert_eq!(status, 200),
    }
}

#[tokio::test(start_paused = true)]
async fn requests_beyond_those_that_may_wait_are_refused() {
    let (shared, app) = server(Bounds { connections: 4, ..Bounds::default() });
    let permits = shared.blocks.running.acquire_many(2).await;
    let waiting: Vec<_> = (0..2)
        .map(|i| {
            let app = app.clone();
            tokio::spawn(async move { ask(&app, &format!("POST /api/jobs/{i}/blocks"), bursts(0..1)).await })
        })
        .collect();
    while shared.blocks.waiting.available_permits() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(ask(&app, "POST /api/jobs/c/blocks", bursts(0..1)).await.0, 503);
    assert_eq!(ask(&app, "GET /healthz", "").await.0, 200);
    drop(permits);
    for w in waiting {
        assert_eq!(w.await.unwrap().0, 200);
    }
}

/// An answer that is waited for, and the way to send more of the body.
type Asking = (tokio::task::JoinHandle<(u16, String)>, mpsc::Sender<Result<Bytes, Infallible>>);

/// A body that announces `length` bytes, sends some, and falls silent.
fn stalls(app: &Router, length: usize, sent: usize) -> Asking {
    let (sender, receiver) = mpsc::channel(1);
    sender.try_send(Ok(Bytes::from(vec![b'x'; sent]))).unwrap();
    let app = app.clone();
    let answer = tokio::spawn(async move {
        let body = Body::from_stream(ReceiverStream::new(receiver));
        read(asked(&app, "POST /api/analyze", Some(length), body).await).await
    });
    (answer, sender)
}

/// A trace of more than a body may bring without room.
fn long_trace() -> String {
    let trace = bursts(0..20_000);
    assert!(trace.len() > 300 << 10);
    trace
}

const MOST: usize = 1 << 20;

#[tokio::test(start_paused = true)]
async fn bodies_that_are_announced_and_do_not_come_leave_room() {
    let (_, app) = server(Bounds { body_bytes: MOST, bodies_bytes: 2 * MOST, ..Bounds::default() });
    let silent: Vec<_> = (0..60).map(|_| stalls(&app, MOST, 1)).collect();
    for _ in &silent {
        tokio::task::yield_now().await;
    }
    assert_eq!(ask(&app, "POST /api/analyze?mode=write", long_trace()).await.0, 200);
    assert!(silent.iter().all(|(answer, _)| !answer.is_finished()));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stalls_with_the_room_of_all_gives_way() {
    let (_, app) = server(Bounds { body_bytes: MOST, bodies_bytes: MOST, ..Bounds::default() });
    let (stalled, _open) = stalls(&app, MOST, MOST / 2);
    tokio::task::yield_now().await;
    // a short one needs no room
    assert_eq!(ask(&app, "POST /api/jobs/a/blocks", bursts(0..8)).await.0, 200);
    assert!(!stalled.is_finished());
    assert_eq!(ask(&app, "POST /api/analyze?mode=write", long_trace()).await.0, 200);
    let (status, told) = stalled.await.unwrap();
    assert_eq!((status, told.contains("gave way")), (408, true), "{told}");
}
