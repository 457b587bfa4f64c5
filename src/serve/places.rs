//! Places for connections: so many, of which one whose client is waited for makes room for the next.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;

use crate::online::source::room::STEP;

/// The places of a server.
pub(super) struct Places {
    most: usize,
    taken: Mutex<Vec<Arc<Client>>>,
    /// A place is free, or a client is waited for.
    changed: Notify,
}

/// The client that has a place.
struct Client {
    /// Since when it is waited for: for a request, the next part of one, or that it takes the end of its answer. `None` while its answer is
    /// made.
    waited_for_since: Mutex<Option<Instant>>,
    close: Notify,
}

fn locked<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Places {
    pub(super) fn new(most: usize) -> Arc<Places> {
        Arc::new(Places { most: most.max(1), taken: Mutex::default(), changed: Notify::new() })
    }

    /// A place, if need be that of the client that has been waited for longest. Waits while an answer is made for each.
    pub(super) async fn take(self: &Arc<Places>) -> Place {
        loop {
            if let Some(client) = self.try_take() {
                return Place { places: self.clone(), client };
            }
            self.changed.notified().await;
        }
    }

    fn try_take(&self) -> Option<Arc<Client>> {
        let mut taken = locked(&self.taken);
        if taken.len() >= self.most {
            let since =
                |(i, c): (usize, &Arc<Client>)| Some((*locked(&c.waited_for_since), i)).filter(|s| s.0.is_some());
            let (_, longest) = taken.iter().enumerate().filter_map(since).min()?;
            taken.swap_remove(longest).close.notify_one();
        }
        let client = Arc::new(Client { waited_for_since: Mutex::new(Some(Instant::now())), close: Notify::new() });
        taken.push(client.clone());
        Some(client)
    }
}

/// A place, as long as this lives.
#[derive(Clone)]
pub(super) struct Place {
    places: Arc<Places>,
    client: Arc<Client>,
}

impl Place {
    /// Returns when another connection has the place.
    pub(super) async fn is_lost(&self) {
        self.client.close.notified().await;
    }

    pub(super) fn free(&self) {
        locked(&self.places.taken).retain(|c| !Arc::ptr_eq(c, &self.client));
        self.places.changed.notify_one();
    }

    fn answer_begins(&self) {
        *locked(&self.client.waited_for_since) = None;
    }

    fn is_waited_for(&self) {
        *locked(&self.client.waited_for_since) = Some(Instant::now());
    }

    fn answer_ends(&self) {
        self.is_waited_for();
        self.places.changed.notify_one();
    }
}

/// Notes when the whole request is here and when the answer is made.
pub(super) async fn note_work(State(place): State<Place>, request: Request, next: Next) -> Response {
    let request = request.map(|body| Body::new(Question::new(body, place.clone())));
    next.run(request).await.map(|body| Body::new(Answer { body, place }))
}

/// The body of a request: the answer begins where it ends.
struct Question {
    body: Body,
    place: Place,
    /// Bytes since the last part.
    came: u64,
}

impl Question {
    fn new(body: Body, place: Place) -> Question {
        if body.is_end_stream() {
            place.answer_begins();
        }
        Question { body, place, came: 0 }
    }
}

impl HttpBody for Question {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, c: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(c);
        if let Poll::Ready(Some(Ok(piece))) = &frame {
            self.came += piece.data_ref().map_or(0, |data| data.len() as u64);
            if self.came >= STEP {
                self.came = 0;
                self.place.is_waited_for();
            }
        }
        if self.body.is_end_stream() || matches!(frame, Poll::Ready(None)) {
            self.place.answer_begins();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of an answer: dropped once all of it is on its way.
struct Answer {
    body: Body,
    place: Place,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, c: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(c)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.place.answer_ends();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_client_whose_body_comes_keeps_its_place_before_one_that_stalls() {
        let places = Places::new(2);
        let (sends, stalls) = (places.take().await, places.take().await);
        let piece = || Ok::<_, std::convert::Infallible>(Bytes::from(vec![0; STEP as usize]));
        let mut body = Question::new(Body::from_stream(tokio_stream::iter([piece(), piece()])), sends.clone());
        std::future::poll_fn(|c| Pin::new(&mut body).poll_frame(c)).await.unwrap().unwrap();
        places.take().await;
        tokio::select! {
            biased;
            () = sends.is_lost() => panic!("the one that sends"),
            () = stalls.is_lost() => {}
        }
    }
}
