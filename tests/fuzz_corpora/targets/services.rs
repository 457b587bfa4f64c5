//! Messages of clients.

use std::io::{self, BufRead, Cursor, Read, Write};

use iophase::internals::online::source::peer::{self, Received, Role};

/// A stream of bytes that come a few at a time; counts what is written.
struct Trickle<'d> {
    data: Cursor<&'d [u8]>,
    step: usize,
    written: usize,
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = buffer.len().min(self.step);
        self.data.read(&mut buffer[..n])
    }
}

impl BufRead for Trickle<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let left = self.data.fill_buf()?;
        Ok(&left[..left.len().min(self.step)])
    }

    fn consume(&mut self, n: usize) {
        self.data.consume(n);
    }
}

impl Write for Trickle<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes of a message that are allowed.
const MOST: u64 = 1000;

/// The messages that a peer sends, until its connection ends.
fn heard(data: &[u8], step: usize) -> Vec<Vec<Vec<u8>>> {
    let mut stream = Trickle { data: Cursor::new(data), step, written: 0 };
    let mut messages = Vec::new();
    loop {
        match peer::receive(&mut stream, MOST, |_| Ok(())) {
            Ok(Received::Message(parts)) => {
                assert!(parts.iter().map(|p| p.len() as u64).sum::<u64>() <= MOST);
                messages.push(parts);
            }
            Ok(Received::Command) => {}
            Ok(Received::TooLarge | Received::Gone) | Err(_) => {
                assert!(stream.written <= data.len(), "more is answered than was sent");
                return messages;
            }
        }
    }
}

/// A peer of ZMTP: its greeting, or its messages, in whatever pieces; what is sent is understood. The first byte chooses.
pub fn peer(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let step = 1 + usize::from(first >> 1);
    if first & 1 == 0 {
        let shaken =
            |step, role| peer::shake_hands(&mut Trickle { data: Cursor::new(data), step, written: 0 }, role).is_ok();
        for role in [Role::Pull, Role::Push] {
            assert_eq!(shaken(step, role), shaken(data.len().max(1), role));
        }
        return;
    }
    assert_eq!(heard(data, step), heard(data, data.len().max(1)));
    let mut sent = Vec::new();
    peer::send(&mut sent, data).expect("memory");
    let expected = if data.len() as u64 <= MOST { vec![vec![data.to_vec()]] } else { Vec::new() };
    assert_eq!(heard(&sent, step), expected);
}

/// Bytes of a client, cut where the byte 0x1e is, each part over a connection of its own. No answer is an error of the server, and the
/// next client is answered.
#[cfg(feature = "serve")]
pub fn http(data: &[u8]) {
    use iophase::internals::serve::{Bounds, Connections};
    use iophase::online::Options;
    // the clock jumps to the next time-out as soon as nobody has anything to do
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        let server = Connections::new(Options::default(), Bounds::default());
        for sent in data.split(|b| *b == 0x1e).take(8) {
            let answer = asked(&server, sent).await;
            assert!(!answer.starts_with("HTTP/1.1 5"), "{answer}");
        }
        let answer = asked(&server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"), "{answer}");
    });
}

/// The answer of the server to these bytes until it closes the connection, or begins a stream of events.
#[cfg(feature = "serve")]
async fn asked(server: &iophase::internals::serve::Connections, sent: &[u8]) -> String {
    let (ours, theirs) = tokio::net::UnixStream::pair().expect("a pair of sockets");
    let talk = async move {
        let (mut answer, mut sent) = (Vec::new(), sent);
        loop {
            let ready = ours.ready(tokio::io::Interest::READABLE | tokio::io::Interest::WRITABLE);
            let _ = if sent.is_empty() { ours.readable().await } else { ready.await.map(|_| ()) };
            if let Ok(n) = ours.try_write(sent) {
                sent = &sent[n..];
            }
            let mut buffer = [0; 4096];
            match ours.try_read(&mut buffer) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Ok(0) | Err(_) => break,
                Ok(n) => answer.extend(&buffer[..n]),
            }
            if answer.windows(17).any(|w| w == b"text/event-stream") {
                break;
            }
        }
        String::from_utf8_lossy(&answer).into_owned()
    };
    tokio::join!(talk, server.answer(theirs)).0
}
