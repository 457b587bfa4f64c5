//! Connections: so many at one time, and none that keeps its place without sending a request.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Sleep;

use super::places::{Place, Places, note_work};
use super::{Bounds, router};
use crate::online::Options;

/// Wait after an error that is not of one connection, such as too many open files. Nothing reports that a file descriptor is
/// free again, and an attempt at once would fail in a busy loop.
const AGAIN: Duration = Duration::from_secs(1);

/// Answers the requests of the module's table until the future is dropped. Each job is followed with `options`.
///
/// A connection is closed once the head of a request has not come whole in [`Bounds::head`], counted from its opening or
/// from the answer before, or once its client takes nothing of an answer for [`Bounds::write`]. While there are [`Bounds::connections`],
/// the one whose client has been waited for longest makes room for the next one, which waits if answers are made for all of them.
pub async fn serve(listener: TcpListener, options: Options, bounds: Bounds) {
    let connections = Connections::new(options, bounds);
    loop {
        let stream = accept(&listener).await;
        let place = connections.places.take().await;
        tokio::spawn(connections.talk(stream, place));
    }
}

/// A server, whatever the connections come over.
pub struct Connections {
    http: http1::Builder,
    places: Arc<Places>,
    app: Router,
    /// [`Bounds::write`].
    patience: Duration,
}

impl Connections {
    /// As [`serve`] does it.
    pub fn new(options: Options, bounds: Bounds) -> Connections {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(bounds.head);
        let (places, patience) = (Places::new(bounds.connections), bounds.write);
        Connections { http, places, patience, app: router(options, bounds) }
    }

    /// Answers the requests that come over one connection until it is closed.
    pub async fn answer(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let place = self.places.take().await;
        self.talk(stream, place).await;
    }

    fn talk<S>(&self, stream: S, place: Place) -> impl Future<Output = ()> + Send + use<S>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let app = self.app.clone().layer(from_fn_with_state(place.clone(), note_work));
        let stream = TokioIo::new(Taken::new(stream, self.patience));
        let connection = self.http.serve_connection(stream, TowerToHyperService::new(app));
        async move {
            // A client that breaks off, or is too slow, needs no answer.
            tokio::select! {
                _ = connection => {}
                () = place.is_lost() => {}
            }
            place.free();
        }
    }
}

/// A connection that ends when nothing of what is written is taken for too long.
struct Taken<S> {
    stream: S,
    patience: Duration,
    /// Since a write waits.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Taken<S> {
    fn new(stream: S, patience: Duration) -> Taken<S> {
        Taken { stream, patience, waits: None }
    }

    /// Notes whether a write waits; an error if it has waited for too long.
    fn noting<T>(&mut self, done: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.waits = None;
            return done;
        }
        let patience = self.patience;
        let waits = self.waits.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        match waits.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Taken<S> {
    fn poll_read(mut self: Pin<&mut Self>, c: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(c, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Taken<S> {
    fn poll_write(mut self: Pin<&mut Self>, c: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(c, bytes);
        self.noting(done, c)
    }

    fn poll_flush(mut self: Pin<&mut Self>, c: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(c);
        self.noting(done, c)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, c: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_shutdown(c);
        self.noting(done, c)
    }
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(e) if of_one_connection(&e) => {}
            Err(_) => tokio::time::sleep(AGAIN).await,
        }
    }
}

fn of_one_connection(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpStream as Client};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    /// Talks to a server with these bounds.
    fn with_server(bounds: Bounds, talk: impl FnOnce(SocketAddr) + Send + 'static) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let client = tokio::task::spawn_blocking(move || talk(address));
            tokio::select! {
                () = serve(listener, Options::default(), bounds) => {}
                done = client => done.unwrap(),
            }
        });
    }

    /// All that the server sends until it closes the connection.
    fn heard(mut client: &Client) -> String {
        let mut bytes = Vec::new();
        // A reset is a way to close, too.
        let _ = client.read_to_end(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    const SHORT: Duration = Duration::from_millis(30);
    const WHOLE: &str = "GET /api/jobs HTTP/1.1\r\nHost: localhost\r\n";

    #[test]
    fn a_client_that_stalls_loses_its_connection() {
        let bounds = Bounds { head: SHORT, body: SHORT, connections: 1, ..Bounds::default() };
        with_server(bounds, |address| {
            // nothing, half a head, and a second request that does not come; each holds the only place until it is closed
            for (sent, answer) in [
                (String::new(), ""),
                ("GET /api/jobs HTTP/1.1\r\nHost: loc".into(), ""),
                (format!("{WHOLE}\r\n"), "{\"jobs\":[]}"),
            ] {
                let client = Client::connect(address).unwrap();
                (&client).write_all(sent.as_bytes()).unwrap();
                let text = heard(&client);
                assert!(text.contains(answer) && (text.is_empty() == answer.is_empty()), "{sent}: {text}");
            }
            let client = Client::connect(address).unwrap();
            let head = "POST /api/analyze HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nrank,op";
            (&client).write_all(head.as_bytes()).unwrap();
            assert!(heard(&client).starts_with("HTTP/1.1 408 "), "half a body");
        });
    }

    fn ask(address: SocketAddr, head: &str) -> Client {
        let client = Client::connect(address).unwrap();
        (&client).write_all(format!("{head} HTTP/1.1\r\nHost: localhost\r\n").as_bytes()).unwrap();
        client
    }

    fn begins_well(mut client: &Client) {
        let mut begun = [0; 15];
        client.read_exact(&mut begun).unwrap();
        assert_eq!(&begun, b"HTTP/1.1 200 OK");
    }

    /// There is one place. Whoever has it loses it to the next one if it is waited for.
    #[test]
    fn a_client_that_is_waited_for_makes_room() {
        with_server(Bounds { connections: 1, ..Bounds::default() }, |address| {
            let silent = Client::connect(address).unwrap();
            let half_a_head = ask(address, "GET /healthz");
            assert_eq!(heard(&silent), "");
            let half_a_body = ask(address, "POST /api/analyze");
            assert_eq!(heard(&half_a_head), "");
            (&half_a_body).write_all(b"Content-Length: 1000\r\n\r\nrank,op").unwrap();
            let has_its_answer = ask(address, "GET /healthz");
            assert_eq!(heard(&half_a_body), "");
            (&has_its_answer).write_all(b"\r\n").unwrap();
            begins_well(&has_its_answer);
            let next = ask(address, "GET /healthz");
            (&next).write_all(b"\r\n").unwrap();
            begins_well(&next);
            heard(&has_its_answer);
        });
    }

    #[test]
    fn a_client_whose_answer_is_made_keeps_its_place() {
        with_server(Bounds { connections: 1, ..Bounds::default() }, |address| {
            let watcher = ask(address, "GET /api/jobs/x/events");
            (&watcher).write_all(b"\r\n").unwrap();
            begins_well(&watcher);
            let next = ask(address, "GET /healthz");
            (&next).write_all(b"\r\n").unwrap();
            next.set_nonblocking(true).unwrap();
            assert_eq!((&next).read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
            next.set_nonblocking(false).unwrap();
            drop(watcher);
            begins_well(&next);
        });
    }

    #[tokio::test]
    async fn many_requests_of_one_client_let_another_pass() {
        let server = Connections::new(Options::default(), Bounds::default());
        let ((mut many, server_of_many), (mut one, server_of_one)) = (duplex(1 << 20), duplex(1 << 20));
        many.write_all(format!("{WHOLE}\r\n").repeat(100).as_bytes()).await.unwrap();
        one.write_all(format!("{WHOLE}\r\n").as_bytes()).await.unwrap();
        let mut answers = vec![0; 1 << 20];
        tokio::select! {
            biased;
            () = server.answer(server_of_many) => unreachable!("more requests may come"),
            () = server.answer(server_of_one) => unreachable!("more requests may come"),
            n = one.read(&mut answers) => assert!(n.unwrap() > 0),
        }
        let n = many.read(&mut answers).await.unwrap();
        let answers = String::from_utf8_lossy(&answers[..n]).matches("HTTP/1.1 200 OK").count();
        assert!(answers < 5, "{answers} answers before that of the other client");
    }
}
