//! A frame of Zstandard, or one to skip.

use std::error::Error as _;
use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{damage, too_large};

/// An empty block that is the last of its frame, and room for a check sum.
const END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Reads the content of one frame.
pub(super) struct Frame<R> {
    source: R,
    decoder: FrameDecoder,
    begun: bool,
    /// Bytes of content so far.
    given: u64,
    /// The error behind what is decoded.
    failed: Option<io::Error>,
}

impl<R: BufRead> Frame<R> {
    pub fn new(source: R, window_bytes: u64) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(window_bytes);
        Frame { source, decoder, begun: false, given: 0, failed: None }
    }

    pub fn into_inner(self) -> R {
        self.source
    }

    /// Reads the header, or skips the frame.
    fn begin(&mut self) -> io::Result<()> {
        self.begun = true;
        match self.decoder.reset(&mut self.source) {
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                let length = u64::from(length);
                let skipped = io::copy(&mut (&mut self.source).take(length), &mut io::sink())?;
                if skipped < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
            }
            begun => begun.map_err(error),
        }
    }

    /// Decodes a block. What was decoded before one that fails comes out once the frame has ended.
    fn decode(&mut self) {
        if let Err(e) = self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1)) {
            self.failed = Some(error(e));
            // its own error adds nothing
            let _ = self.decoder.decode_blocks(&END[..], BlockDecodingStrategy::UptoBlocks(1));
        }
    }

    /// Compares what the frame states with what came.
    fn check(&self) -> io::Result<()> {
        let stated = self.decoder.content_size();
        let sum = self.decoder.get_checksum_from_data();
        if sum.is_some() && sum != self.decoder.get_calculated_checksum() {
            return Err(damage("the check sum is wrong".into()));
        }
        if stated > 0 && stated != self.given {
            return Err(damage(format!("{} bytes of content instead of {stated}", self.given)));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Frame<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if !self.begun {
            self.begin()?;
        }
        loop {
            let n = self.decoder.read(out)?;
            self.given += n as u64;
            if n > 0 {
                return Ok(n);
            }
            if let Some(e) = self.failed.take() {
                return Err(e);
            }
            if self.decoder.is_finished() {
                return self.check().map(|()| 0);
            }
            self.decode();
        }
    }
}

/// The end of the input, where that is behind the error.
fn error(e: FrameDecoderError) -> io::Error {
    if let FrameDecoderError::WindowSizeTooBig { requested, max } = e {
        return too_large("zstd", requested, max);
    }
    let mut cause = e.source();
    while let Some(c) = cause {
        if c.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::UnexpectedEof) {
            return io::ErrorKind::UnexpectedEof.into();
        }
        cause = c.source();
    }
    damage(e.to_string())
}
