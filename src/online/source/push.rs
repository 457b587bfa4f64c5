//! A PUSH socket that answers, as TMIO's prefetcher expects it: two numbers, the frequency and the confidence.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::peer::{self, Role};
use crate::error::{Error, ErrorKind, Result};

/// Answers that wait for the peer; more are dropped.
const WAITING: usize = 64;
/// Time to connect, to greet and to take an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two tries to connect.
const RETRY: Duration = Duration::from_secs(1);

/// See the module. The peer may come later, go, and come back; answers made without one are dropped.
#[derive(Debug)]
pub struct Push {
    queue: SyncSender<[u8; 16]>,
}

impl Push {
    /// Connects to a PULL socket at the first of the addresses that answers.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if no thread can be started.
    pub fn connect(addresses: Vec<SocketAddr>) -> Result<Push> {
        let (queue, answers) = sync_channel::<[u8; 16]>(WAITING);
        let serve = move || {
            let mut stream: Option<TcpStream> = None;
            let mut tried: Option<Instant> = None;
            while let Ok(answer) = answers.recv() {
                if stream.is_none() && tried.is_none_or(|t| t.elapsed() >= RETRY) {
                    tried = Some(Instant::now());
                    stream = addresses.iter().find_map(|a| open(a).ok());
                }
                let sent = stream.as_mut().map(|s| peer::send(s, &answer).and_then(|()| s.flush()));
                if let Some(Err(_)) = sent {
                    stream = None;
                }
            }
        };
        thread::Builder::new()
            .name("reply".into())
            .spawn(serve)
            .map_err(|e| Error::new(ErrorKind::Io, format!("no thread for replies: {e}")))?;
        Ok(Push { queue })
    }

    /// Answers with the frequency in Hz, NaN if there is none, and the confidence, as two `f64` in the byte order of this
    /// machine (FTIO's form). Never waits.
    pub fn answer(&self, frequency_hz: Option<f64>, confidence: f64) {
        let mut body = [0u8; 16];
        body[..8].copy_from_slice(&frequency_hz.unwrap_or(f64::NAN).to_ne_bytes());
        body[8..].copy_from_slice(&confidence.to_ne_bytes());
        // Full: the peer is slow or gone; a later answer is worth more.
        let _ = self.queue.try_send(body);
    }
}

fn open(address: &SocketAddr) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    peer::shake_hands(&mut stream, Role::Push)?;
    Ok(stream)
}
