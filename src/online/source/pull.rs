//! A PULL socket: senders come and go, and their messages wait in a bounded queue.

use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::peer::{self, Received, Role};
use crate::error::{Error, ErrorKind, Result};

/// Bounds of a socket.
#[derive(Debug, Clone)]
pub struct PullOptions {
    /// Bytes of a message.
    pub message_bytes: u64,
    /// Messages a second that one sender may push; above that it is made to wait.
    pub rate: f64,
    /// Senders at one time.
    pub senders: usize,
    /// Messages that may wait; beyond that, senders wait.
    pub queue: usize,
}

impl Default for PullOptions {
    fn default() -> Self {
        PullOptions { message_bytes: 64 << 20, rate: 100_000.0, senders: 1024, queue: 4096 }
    }
}

/// Received messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parcel {
    /// A message: the job if it has two parts, of which the first names it, and the message itself.
    Message(Option<String>, Vec<u8>),
    /// Something was wrong with a sender, which was turned away.
    Fault(String),
}

/// See the module.
#[derive(Debug)]
pub struct Pull {
    queue: Receiver<Parcel>,
    address: SocketAddr,
}

/// Bytes of the stack of a thread that serves one sender.
const STACK: usize = 256 << 10;
/// A sender must greet within this time.
const PATIENCE: Duration = Duration::from_secs(10);

impl Pull {
    /// Opens a socket at the first of the addresses that can be had. It is served by threads of its own as long as this lives.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub fn bind(addresses: &[SocketAddr], options: &PullOptions) -> Result<Pull> {
        let failed = |e: io::Error| {
            Error::new(ErrorKind::Io, format!("the socket cannot be opened: {e}"))
                .remedy("choose another port, or end the program that has it")
        };
        let listener = TcpListener::bind(addresses).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (sender, queue) = sync_channel(options.queue.max(1));
        let options = options.clone();
        thread::Builder::new()
            .name("accept".into())
            .spawn(move || accept(&listener, &sender, &options))
            .map_err(failed)?;
        Ok(Pull { queue, address })
    }

    /// Address it listens at, with the actual port if 0 was requested.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next message, waited for as long as `patience`; `None` if none has come.
    pub fn receive(&self, patience: Duration) -> Option<Parcel> {
        self.queue.recv_timeout(patience).ok()
    }

    /// The next message, if one waits.
    pub fn take(&self) -> Option<Parcel> {
        self.queue.try_recv().ok()
    }
}

/// Serves one sender a thread.
fn accept(listener: &TcpListener, queue: &SyncSender<Parcel>, options: &PullOptions) {
    let open = Arc::new(AtomicU64::new(0));
    // One fault of a kind that waits is enough: a sender that tries again and again must not fill the queue with it.
    let reported = Arc::new(Mutex::new(None::<String>));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // For example out of file descriptors: nothing reports that one is free again, and without a pause this would spin.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        if open.fetch_add(1, Ordering::Relaxed) >= options.senders as u64 {
            open.fetch_sub(1, Ordering::Relaxed);
            report(queue, &reported, format!("more than {} senders at one time", options.senders));
            continue;
        }
        let (queue, options, mine, reported) =
            (queue.clone(), options.clone(), Arc::clone(&open), Arc::clone(&reported));
        let serve = move || {
            let from = stream.peer_addr().map_or_else(|_| "a sender".into(), |a| a.to_string());
            if let Err(e) = serve(stream, &queue, &options)
                && !matches!(e.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
            {
                report(&queue, &reported, format!("{from}: {e}"));
            }
            mine.fetch_sub(1, Ordering::Relaxed);
        };
        if thread::Builder::new().name("sender".into()).stack_size(STACK).spawn(serve).is_err() {
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn report(queue: &SyncSender<Parcel>, reported: &Mutex<Option<String>>, what: String) {
    let kind = what.rsplit(": ").next().unwrap_or_default().to_owned();
    if let Ok(mut last) = reported.lock()
        && last.as_ref() != Some(&kind)
    {
        *last = Some(kind);
        // The queue may be full of messages, which matter more.
        let _ = queue.try_send(Parcel::Fault(what));
    }
}

/// Reads through a buffer and writes past it.
struct Buffered(BufReader<TcpStream>);

impl Read for Buffered {
    fn read(&mut self, b: &mut [u8]) -> io::Result<usize> {
        self.0.read(b)
    }
}

impl Write for Buffered {
    fn write(&mut self, b: &[u8]) -> io::Result<usize> {
        self.0.get_mut().write(b)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.get_mut().flush()
    }
}

fn serve(stream: TcpStream, queue: &SyncSender<Parcel>, options: &PullOptions) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut stream = Buffered(BufReader::with_capacity(64 << 10, stream));
    peer::shake_hands(&mut stream, Role::Pull)?;
    stream.0.get_mut().set_read_timeout(None)?;
    let mut allowance = Allowance::new(options.rate);
    loop {
        match peer::receive(&mut stream, options.message_bytes)? {
            Received::Message(mut parts) => {
                allowance.wait();
                let Some(body) = parts.pop() else { continue };
                let job = parts.first().map(|j| String::from_utf8_lossy(j).into_owned());
                // Full: this sender waits, and with it whoever writes to it.
                if queue.send(Parcel::Message(job, body)).is_err() {
                    return Ok(());
                }
            }
            Received::TooLarge => {
                let most = options.message_bytes;
                return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a message of more than {most} bytes")));
            }
            Received::Gone => return Ok(()),
        }
    }
}

/// Messages that may still be taken this second.
struct Allowance {
    rate: f64,
    left: f64,
    since: Instant,
}

impl Allowance {
    fn new(rate: f64) -> Self {
        Allowance { rate: rate.max(1e-3), left: rate.max(1.0), since: Instant::now() }
    }

    fn wait(&mut self) {
        self.left -= 1.0;
        if self.left >= 0.0 {
            return;
        }
        let now = Instant::now();
        self.left = (self.left + self.rate * now.duration_since(self.since).as_secs_f64()).min(self.rate.max(1.0));
        self.since = now;
        if self.left < 0.0 {
            // The pause is the throttle: the sender waits because nothing is read.
            thread::sleep(Duration::from_secs_f64((-self.left / self.rate).min(60.0)));
        }
    }
}
