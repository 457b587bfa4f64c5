//! The bodies of requests: bounded in bytes, in time, and in the bytes of all bodies.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use tokio_stream::StreamExt;

use super::Shared;
use super::answer::Refusal;
use crate::online::source::room::{Answer, Room, Share, Signal};

/// The first seconds of a body, in which it may be slow.
const BEGIN: Duration = Duration::from_secs(5);
/// The first bytes of a body, which need no room of that of all: short ones never wait.
const OWN: usize = 64 << 10;

/// A whole body, and the room that it takes until that is dropped.
pub(super) struct Whole {
    pub(super) bytes: Vec<u8>,
    pub(super) room: Entered,
}

/// A body that comes, in the room of all.
pub(super) struct Entered {
    share: Share,
    /// There may be room now.
    turn: Arc<Notify>,
    /// It has given way.
    left: Arc<Notify>,
}

impl Entered {
    fn new(room: &Room) -> Entered {
        let (turn, left) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (ask, leave) = (turn.clone(), left.clone());
        let tell = move |signal| match signal {
            Signal::Ask => ask.notify_one(),
            Signal::Leave => leave.notify_one(),
        };
        Entered { share: room.enter(Arc::new(tell), Instant::now().into_std()), turn, left }
    }

    /// Waits for room; false if it had to give way.
    async fn take(&self, bytes: usize) -> bool {
        loop {
            match self.share.ask(bytes as u64, Instant::now().into_std()) {
                Answer::Taken => return true,
                Answer::Left => return false,
                Answer::Wait(None) => self.turn.notified().await,
                Answer::Wait(Some(at)) => {
                    // asks again in any case
                    let _ = timeout_at(at.into(), self.turn.notified()).await;
                }
            }
        }
    }
}

/// Takes the body of a request.
pub(super) async fn whole(shared: &Shared, headers: &HeaderMap, body: Body) -> Result<Whole, Refusal> {
    let bounds = &shared.bounds;
    let most = bounds.body_bytes;
    let large = || Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, format!("a body of more than {most} bytes"));
    let late = |what| Refusal::new(StatusCode::REQUEST_TIMEOUT, what);
    let gave_way = || late("the body stalled and gave way to others");
    let length = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|n| n > most) {
        return Err(large());
    }
    let mut room = Entered::new(&shared.bodies);
    // without the time in which it waits for room
    let mut begun = Instant::now();
    let (mut bytes, mut stream) = (Vec::new(), body.into_data_stream());
    loop {
        // what has come so far allows as much time again
        let slowest = BEGIN + Duration::from_secs_f64(bytes.len() as f64 / bounds.body_rate.max(1.0));
        let piece = tokio::select! {
            piece = timeout_at(begun + slowest.min(bounds.body), stream.next()) => {
                piece.map_err(|_| late("the body has not come in time"))?
            }
            () = room.left.notified() => return Err(gave_way()),
        };
        match piece {
            None if room.share.keep() => return Ok(Whole { bytes, room }),
            None => return Err(gave_way()),
            Some(Ok(piece)) if bytes.len() + piece.len() <= most => {
                if bytes.len() + piece.len() > OWN {
                    let asked = Instant::now();
                    match timeout_at(asked + bounds.body, room.take(piece.len())).await {
                        Ok(true) => begun += asked.elapsed(),
                        Ok(false) => return Err(gave_way()),
                        Err(_) => return Err(Refusal::busy("no room for the body")),
                    }
                }
                bytes.extend_from_slice(&piece);
            }
            Some(Ok(_)) => return Err(large()),
            Some(Err(e)) => return Err(Refusal::new(StatusCode::BAD_REQUEST, format!("the body is damaged: {e}"))),
        }
    }
}
