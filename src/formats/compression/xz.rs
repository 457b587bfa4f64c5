//! A stream of xz.

use std::io::{self, BufRead, Read};

use lzma_rust2::{Action, Status, XzStream};

use super::ahead::Ahead;
use super::{MAGIC, damage, too_large};

/// Reads the content of one stream.
pub(super) struct Stream<R> {
    source: R,
    decoder: XzStream,
    window_bytes: u64,
}

impl<R: BufRead> Stream<R> {
    pub fn new(source: R, window_bytes: u64) -> Self {
        // the largest number stands for no limit
        let most_kib = u32::try_from(window_bytes >> 10).unwrap_or(u32::MAX - 1);
        Stream { source, decoder: XzStream::new_mem_limit(false, most_kib), window_bytes }
    }

    pub fn into_inner(self) -> R {
        self.source
    }
}

impl<R: BufRead> Read for Stream<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let input = self.source.fill_buf()?;
            let ended = input.is_empty();
            let action = if ended { Action::Finish } else { Action::Run };
            let done = match self.decoder.process(input, out, action) {
                Err(e) if e.kind() == io::ErrorKind::OutOfMemory => {
                    let bytes = u64::from(self.decoder.memory_usage().unwrap_or_default()) << 10;
                    return Err(too_large("xz", bytes, self.window_bytes));
                }
                done => done?,
            };
            self.source.consume(done.bytes_consumed);
            match (done.bytes_produced, done.status) {
                (0, Status::StreamEnd) => return Ok(0),
                (0, Status::Ok) if ended => return Err(io::ErrorKind::UnexpectedEof.into()),
                (0, Status::Ok) if done.bytes_consumed == 0 => return Err(damage("it does not go on".into())),
                (0, Status::Ok) => {}
                (n, _) => return Ok(n),
            }
        }
    }
}

/// Goes over the zeros that may follow a stream, four by four.
pub(super) fn skip_padding<R: Read>(source: &mut Ahead<R>) -> io::Result<()> {
    while source.data().starts_with(&[0; 4]) {
        source.consume(4);
        source.look_ahead(MAGIC)?;
    }
    Ok(())
}
