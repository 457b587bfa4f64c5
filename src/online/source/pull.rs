//! A PULL socket: senders come and go, and their messages wait in a bounded queue.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::peer::{self, Received, Role};
use super::room::{Answer, Room, Share, Signal, Tell};
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
    /// Bytes of all messages that have come, whole or in part, and not been taken; beyond that, senders wait, and those that have stalled
    /// within a message give way. At least those of one message.
    pub total_bytes: u64,
}

impl Default for PullOptions {
    fn default() -> Self {
        PullOptions { message_bytes: 64 << 20, rate: 100_000.0, senders: 1024, queue: 4096, total_bytes: 256 << 20 }
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
    queue: Receiver<Item>,
    address: SocketAddr,
}

/// A parcel, and the room of a message until it is taken.
type Item = (Parcel, Option<Share>);

/// Bytes of the stack of a thread that serves one sender.
const STACK: usize = 256 << 10;
/// A sender must greet within this time.
const PATIENCE: Duration = Duration::from_secs(10);
/// A message must come whole within this time, besides that in which it waits for room.
const MESSAGE: Duration = Duration::from_secs(60);
/// A sender that has been silent for so long since its last message may have to make room for a new one. It can come again.
const SILENT: Duration = Duration::from_secs(10);

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
        self.queue.recv_timeout(patience).ok().map(|(parcel, _)| parcel)
    }

    /// The next message, if one waits.
    pub fn take(&self) -> Option<Parcel> {
        self.queue.try_recv().ok().map(|(parcel, _)| parcel)
    }
}

/// The senders that are served.
#[derive(Default)]
struct Senders {
    next: u64,
    open: Vec<Sender>,
}

struct Sender {
    id: u64,
    /// The way to close it.
    stream: Arc<TcpStream>,
    /// A message of it has come whole.
    has_sent: bool,
    /// When its last whole message came, else when it came itself.
    heard: Instant,
}

/// Those of a socket.
type Served = Arc<Mutex<Senders>>;

fn locked(senders: &Mutex<Senders>) -> MutexGuard<'_, Senders> {
    senders.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Senders {
    /// Takes a sender, in the place of another if there are `most`: of the first one that has sent no whole message, else of the one that
    /// has been silent for longest. `None` if each was heard of late.
    fn take(&mut self, stream: &Arc<TcpStream>, most: usize) -> Option<u64> {
        if self.open.len() >= most {
            let (last, s) = self.open.iter().enumerate().min_by_key(|(_, s)| (s.has_sent, s.heard))?;
            if s.has_sent && s.heard.elapsed() < SILENT {
                return None;
            }
            let _ = self.open.swap_remove(last).stream.shutdown(Shutdown::Both);
        }
        self.next += 1;
        let id = self.next;
        self.open.push(Sender { id, stream: stream.clone(), has_sent: false, heard: Instant::now() });
        Some(id)
    }

    fn heard(&mut self, id: u64) {
        if let Some(s) = self.open.iter_mut().find(|s| s.id == id) {
            (s.has_sent, s.heard) = (true, Instant::now());
        }
    }
}

/// Serves one sender a thread.
fn accept(listener: &TcpListener, queue: &SyncSender<Item>, options: &PullOptions) {
    let senders = Served::default();
    let room = Room::new(options.total_bytes, options.message_bytes);
    // One fault of a kind that waits is enough: a sender that tries again and again must not fill the queue with it.
    let reported = Arc::new(Mutex::new(None::<String>));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // For example out of file descriptors: nothing reports that one is free again, and without a pause this would spin.
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        let stream = Arc::new(stream);
        let Some(id) = locked(&senders).take(&stream, options.senders.max(1)) else {
            report(queue, &reported, format!("more than {} senders at one time", options.senders));
            continue;
        };
        let (queue, options, mine, reported, room) =
            (queue.clone(), options.clone(), Arc::clone(&senders), Arc::clone(&reported), room.clone());
        let serve = move || {
            let from = stream.peer_addr().map_or_else(|_| "a sender".into(), |a| a.to_string());
            let heard = || locked(&mine).heard(id);
            if let Err(e) = serve(&stream, &queue, &options, &room, &heard)
                && !matches!(e.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
            {
                report(&queue, &reported, format!("{from}: {e}"));
            }
            locked(&mine).open.retain(|s| s.id != id);
        };
        if thread::Builder::new().name("sender".into()).stack_size(STACK).spawn(serve).is_err() {
            locked(&senders).open.retain(|s| s.id != id);
        }
    }
}

fn report(queue: &SyncSender<Item>, reported: &Mutex<Option<String>>, what: String) {
    let kind = what.rsplit(": ").next().unwrap_or_default().to_owned();
    if let Ok(mut last) = reported.lock()
        && last.as_ref() != Some(&kind)
    {
        *last = Some(kind);
        // The queue may be full of messages, which matter more.
        let _ = queue.try_send((Parcel::Fault(what), None));
    }
}

/// Reads through a buffer and writes past it.
struct Buffered<'s>(BufReader<&'s TcpStream>);

impl Read for Buffered<'_> {
    fn read(&mut self, b: &mut [u8]) -> io::Result<usize> {
        self.0.read(b)
    }
}

impl BufRead for Buffered<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.0.consume(n);
    }
}

impl Write for Buffered<'_> {
    fn write(&mut self, b: &[u8]) -> io::Result<usize> {
        self.0.get_mut().write(b)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.get_mut().flush()
    }
}

/// Takes the messages of one sender; `heard` notes each that is whole.
fn serve(
    stream: &Arc<TcpStream>,
    queue: &SyncSender<Item>,
    options: &PullOptions,
    room: &Room,
    heard: &impl Fn(),
) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reader = Buffered(BufReader::with_capacity(64 << 10, &**stream));
    peer::shake_hands(&mut reader, Role::Pull)?;
    let mut allowance = Allowance::new(options.rate);
    let tell = closing(stream.clone());
    loop {
        // a sender may be silent between two messages, not within one
        stream.set_read_timeout(None)?;
        if reader.fill_buf()?.is_empty() {
            return Ok(());
        }
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut share = room.enter(tell.clone(), Instant::now());
        let received = peer::receive(&mut reader, options.message_bytes, in_time(&share));
        if !share.keep() {
            return Err(gave_way());
        }
        match received? {
            Received::Message(mut parts) => {
                heard();
                allowance.wait();
                let Some(body) = parts.pop() else { continue };
                let job = parts.first().map(|j| String::from_utf8_lossy(j).into_owned());
                // Full: this sender waits, and with it whoever writes to it.
                if queue.send((Parcel::Message(job, body), Some(share))).is_err() {
                    return Ok(());
                }
            }
            Received::Command => {}
            Received::TooLarge => {
                let most = options.message_bytes;
                return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a message of more than {most} bytes")));
            }
            Received::Gone => return Ok(()),
        }
    }
}

/// Wakes this thread where it waits for room, or ends its reading.
fn closing(stream: Arc<TcpStream>) -> Tell {
    let waits = thread::current();
    Arc::new(move |signal| {
        waits.unpark();
        if signal == Signal::Leave {
            // it may have gone already
            let _ = stream.shutdown(Shutdown::Both);
        }
    })
}

fn gave_way() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "a message that stalled gave way to others")
}

/// Takes room for the pieces of a message, waited for, as long as the message comes in time.
fn in_time(share: &Share) -> impl FnMut(u64) -> io::Result<()> {
    let mut until = Instant::now() + MESSAGE;
    move |bytes| {
        let begun = Instant::now();
        if begun > until {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "a message has not come in time"));
        }
        if bytes == 0 {
            return Ok(());
        }
        loop {
            let now = Instant::now();
            match share.ask(bytes, now) {
                Answer::Taken => break,
                Answer::Left => return Err(gave_way()),
                Answer::Wait(None) => thread::park(),
                Answer::Wait(Some(again)) => thread::park_timeout(again.saturating_duration_since(now)),
            }
        }
        until += begun.elapsed();
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_sender_makes_room_for_a_new_one() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let come = || {
            let client = TcpStream::connect(address).unwrap();
            (client, Arc::new(listener.accept().unwrap().0))
        };
        let is_closed = |mut client: &TcpStream| client.read(&mut [0; 8]).unwrap() == 0;
        let mut senders = Senders::default();
        let [(active, a), (silent, b), (next, c), (last, d)] = [come(), come(), come(), come()];
        let first = senders.take(&a, 2).unwrap();
        senders.heard(first);
        senders.take(&b, 2).unwrap();
        // the one that has sent no whole message goes
        let third = senders.take(&c, 2).unwrap();
        assert!(is_closed(&silent));
        senders.heard(third);
        assert_eq!(senders.take(&d, 2), None);
        // of those that have, the one that has been silent for long
        senders.open[0].heard = Instant::now().checked_sub(SILENT).unwrap();
        senders.take(&d, 2).unwrap();
        assert!(is_closed(&active) && senders.open.len() == 2);
        drop((next, last));
    }

    /// A sender that has shaken hands.
    fn sender(address: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).unwrap();
        peer::shake_hands(&mut stream, Role::Push).unwrap();
        stream
    }

    #[test]
    fn messages_of_all_senders_share_one_budget() {
        let options = PullOptions { message_bytes: 1000, total_bytes: 1000, ..PullOptions::default() };
        let pull = Pull::bind(&["127.0.0.1:0".parse().unwrap()], &options).unwrap();
        let body = vec![7u8; 600];
        for _ in 0..3 {
            peer::send(&mut sender(pull.address()), &body).unwrap();
        }
        // the second waits until the first has been taken
        for _ in 0..3 {
            let Some(Parcel::Message(None, got)) = pull.receive(Duration::from_secs(60)) else { panic!("no message") };
            assert_eq!(got, body);
        }
        assert_eq!(pull.take(), None);
    }

    /// Those that announce much hold no more than they sent: nobody gives way to a good sender, and nobody is waited for.
    #[test]
    fn senders_that_announce_much_and_fall_silent_leave_room() {
        let options = PullOptions { message_bytes: 1 << 20, total_bytes: 2 << 20, ..PullOptions::default() };
        let pull = Pull::bind(&["127.0.0.1:0".parse().unwrap()], &options).unwrap();
        let silent: Vec<TcpStream> = (0..12).map(|_| sender(pull.address())).collect();
        for mut s in &silent {
            s.write_all(&[2, 0, 0, 0, 0, 0, 0x10, 0, 0, 7]).unwrap();
        }
        let body = vec![7u8; 600 << 10];
        peer::send(&mut sender(pull.address()), &body).unwrap();
        let Some(Parcel::Message(None, got)) = pull.receive(Duration::from_secs(60)) else { panic!("no message") };
        assert_eq!(got, body);
        for mut s in &silent {
            s.set_nonblocking(true).unwrap();
            assert_eq!(s.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        }
    }

    #[test]
    fn a_sender_that_stalls_with_all_the_room_is_sent_away() {
        let options = PullOptions { message_bytes: 1000, total_bytes: 1000, ..PullOptions::default() };
        let pull = Pull::bind(&["127.0.0.1:0".parse().unwrap()], &options).unwrap();
        let (mut stalls, mut good) = (sender(pull.address()), sender(pull.address()));
        stalls.write_all(&[0, 200, 7]).unwrap();
        let (mut sent, mut came, mut faults) = (0, 0, Vec::new());
        while faults.is_empty() || came < sent {
            if faults.is_empty() {
                peer::send(&mut good, &[7; 100]).unwrap();
                sent += 1;
            }
            match pull.receive(Duration::from_secs(60)).unwrap() {
                Parcel::Message(..) => came += 1,
                Parcel::Fault(what) => faults.push(what),
            }
        }
        assert!(faults.len() == 1 && faults[0].contains("gave way"), "{faults:?}");
        assert_eq!(stalls.read(&mut [0]).unwrap_or(0), 0);
    }
}
