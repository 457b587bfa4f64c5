//! The messages of one file that grows, or of a stream such as standard input.

use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::file::{GrowingFile, Grown};
use crate::error::Result;
use crate::formats::ReadOptions;
use crate::formats::tail::{Faults, Form, Tail};
use crate::online::checkpoint::Reading;
use crate::online::follow::{AtEnd, NOTICE, Next, Source, pause};
use crate::record::{Clock, Warning};

/// Bytes read at once.
const BLOCK: usize = 256 << 10;

/// Where the bytes come from.
enum Bytes {
    File(GrowingFile),
    /// Blocks of a stream, read by a thread of their own, so that a request to stop is noticed while none comes.
    Stream(Receiver<io::Result<Vec<u8>>>),
}

/// See the module.
pub struct Stream {
    bytes: Bytes,
    tail: Tail,
    block: Vec<u8>,
    /// Bytes that were taken before and are read again for what they tell about the rest.
    again: u64,
    at_end: AtEnd,
    ended: bool,
    /// Another file than the one that was read before, which nobody has been warned about.
    other: bool,
    anew: bool,
}

impl Stream {
    /// A file, read from its start, or from where `before` ended.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io); [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for a format that cannot be
    /// followed.
    pub fn file(
        path: &Path,
        format: Option<&str>,
        options: &ReadOptions,
        before: Option<Reading>,
        at_end: AtEnd,
    ) -> Result<Stream> {
        let tail = Tail::new(format, &options.limits)?.with(options);
        let mut stream = Stream { at_end, ..Stream::new(Bytes::File(GrowingFile::open(path)?), tail) };
        if let (Bytes::File(file), Some(Reading { mark: Some(mark), form })) = (&mut stream.bytes, before) {
            if file.go_to(&mark)? {
                stream.tail = Tail::resume(form, mark.position, &options.limits)?;
                if stream.tail.rereads() {
                    stream.again = mark.position;
                    *file = GrowingFile::open(path)?;
                }
            } else {
                (stream.other, stream.anew) = (true, true);
            }
        }
        Ok(stream)
    }

    /// A stream that cannot be read again.
    ///
    /// # Errors
    /// As [`Stream::file`].
    pub fn of(input: impl Read + Send + 'static, format: Option<&str>, options: &ReadOptions) -> Result<Stream> {
        let tail = Tail::new(format, &options.limits)?.with(options);
        Ok(Stream::new(Bytes::Stream(blocks(input)), tail))
    }

    fn new(bytes: Bytes, tail: Tail) -> Stream {
        Stream {
            bytes,
            tail,
            block: vec![0; BLOCK],
            again: 0,
            at_end: AtEnd { once: false, poll: NOTICE },
            ended: false,
            other: false,
            anew: false,
        }
    }

    /// Gives the tail what has come. A stream is waited for: whoever asks has nothing else to do.
    fn read(&mut self) -> Result<Grown> {
        let grown = match &mut self.bytes {
            Bytes::File(file) => file.read(&mut self.block)?,
            Bytes::Stream(blocks) => match blocks.recv_timeout(NOTICE) {
                Err(RecvTimeoutError::Timeout) => return Ok(Grown::Nothing),
                Err(RecvTimeoutError::Disconnected) => Grown::Bytes(0),
                Ok(read) => {
                    self.block = read?;
                    Grown::Bytes(self.block.len())
                }
            },
        };
        match grown {
            Grown::Bytes(0) => self.end(),
            Grown::Bytes(n) => self.tail.push(&self.block[..n]),
            Grown::Nothing if self.at_end.once => self.end(),
            Grown::Nothing => return Ok(Grown::Nothing),
            Grown::Anew => {
                self.tail.restart();
                self.again = 0;
            }
        }
        Ok(grown)
    }
}

/// The blocks of a stream; an empty one is its end.
fn blocks(mut input: impl Read + Send + 'static) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = mpsc::sync_channel(2);
    thread::spawn(move || {
        let mut block = vec![0; BLOCK];
        loop {
            let read = match input.read(&mut block) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                read => read,
            };
            let ends = !matches!(read, Ok(n) if n > 0);
            if sender.send(read.map(|n| block[..n].to_vec())).is_err() || ends {
                return;
            }
        }
    });
    receiver
}

impl Source for Stream {
    fn next(&mut self) -> Result<Next> {
        if std::mem::take(&mut self.anew) {
            return Ok(Next::Anew);
        }
        loop {
            match self.tail.next_message()? {
                Some(_) if self.tail.position() <= self.again => {}
                Some(message) => return Ok(Next::Message(message)),
                None if self.ended => return Ok(Next::End),
                None => match self.read()? {
                    Grown::Anew => return Ok(Next::Anew),
                    Grown::Nothing if !self.ended => return Ok(Next::Nothing),
                    Grown::Nothing | Grown::Bytes(_) => {}
                },
            }
        }
    }

    fn wait(&mut self, _: Duration, stop: &AtomicBool) {
        if matches!(self.bytes, Bytes::File(_)) {
            pause(self.at_end.poll, stop);
        }
    }

    fn end(&mut self) {
        self.tail.end();
        self.ended = true;
    }

    fn faults(&self) -> Faults {
        self.tail.faults().clone()
    }

    fn clock(&self) -> Clock {
        self.tail.clock()
    }

    fn form(&self) -> Option<&Form> {
        self.tail.form()
    }

    fn is_undecided(&self) -> bool {
        self.tail.is_undecided()
    }

    fn may_stop(&self) -> bool {
        self.tail.may_stop()
    }

    fn reading(&mut self) -> Result<Option<Reading>> {
        let Some(form) = self.tail.form().cloned() else { return Ok(None) };
        let mark = match &mut self.bytes {
            Bytes::File(file) => Some(file.mark(self.tail.position())?),
            Bytes::Stream(_) => None,
        };
        Ok(Some(Reading { mark, form }))
    }

    fn warning(&mut self) -> Option<Warning> {
        let text = "the file is not the one that the stored state is of; it is read from its start";
        std::mem::take(&mut self.other).then(|| Warning::new("another-file", text))
    }
}
