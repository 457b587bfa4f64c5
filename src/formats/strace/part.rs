//! One file of a job: blocks of lines are taken apart in parallel, then their calls are followed in order.

use std::collections::HashSet;

use memchr::memchr_iter;
use rayon::prelude::*;

use super::blocks::Blocks;
use super::stream::{CallStream, Sink, Stats};
use super::text::{self, DAY, Line, Message, NANOS, Time};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::formats::format::Sniff;
use crate::formats::limits::Limits;
use crate::formats::options::ReadOptions;
use crate::formats::source::{HEAD_BYTES, Source};
use crate::formats::thresholds::LIMITS;
use crate::remedy::Remedy;

/// Bytes of a block that one task takes apart.
const PIECE: usize = 128 << 10;

/// Judges the first bytes of an input.
pub(super) fn sniff(head: &[u8]) -> Sniff {
    let whole = head.len() < HEAD_BYTES;
    let mut lines: Vec<&[u8]> = head.split(|&b| b == b'\n').take(65).collect();
    let begun;
    match lines[..] {
        // One line that is longer shows the beginning of its call.
        [first] if !whole => {
            begun = [first, b" <unfinished ...>"].concat();
            lines = vec![&begun];
        }
        _ if !whole && lines.len() < 65 => _ = lines.pop(),
        _ => {}
    }
    let (mut messages, mut others, mut times) = (0, 0, 0);
    for line in lines.into_iter().take(64).map(text::parse_line) {
        match line.message {
            Message::Blank => {}
            Message::Unparsed => others += 1,
            Message::Truncated(..) => messages += 1,
            Message::Call(_) | Message::Unfinished(_) | Message::Resumed { .. } => {
                messages += 1;
                times += usize::from(line.time != Time::None);
            }
            // `---` and `+++` begin lines of other texts too.
            _ => messages += usize::from(line.time != Time::None || line.pid.is_some()),
        }
    }
    match (messages, others, times) {
        (0, ..) => Sniff::No("no lines of the form `name(arguments) = result`"),
        (m, o, _) if m < o => Sniff::No("few lines of the form `name(arguments) = result`"),
        (.., 0) => Sniff::Maybe,
        _ => Sniff::Yes,
    }
}

/// The result of reading one file.
pub(super) struct Part<S> {
    pub sink: S,
    pub stats: Stats,
    pub lines: u64,
    pub unterminated: bool,
    pub last_unparsed: bool,
    pub damage: Option<String>,
}

/// A block of lines, taken apart.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    pieces: Vec<Vec<(u32, u32, Line)>>,
}

impl Block {
    /// Reads the next block and takes it apart; false if there is none.
    fn next(&mut self, input: &mut Blocks<'_>, limits: &Limits, share: bool) -> Result<bool> {
        self.pieces.clear();
        if !input.next(&mut self.bytes)? {
            return Ok(false);
        }
        let bytes = &self.bytes[..];
        let mut cuts = vec![0];
        while let Some(&from) = cuts.last().filter(|&&from| from < bytes.len()) {
            let near = (from + PIECE).min(bytes.len());
            cuts.push(memchr::memchr(b'\n', &bytes[near..]).map_or(bytes.len(), |n| near + n + 1));
        }
        let piece = |w: &[usize]| take_apart(bytes, w[0], w[1], limits.line_bytes);
        self.pieces =
            if share { cuts.par_windows(2).map(piece).collect() } else { cuts.windows(2).map(piece).collect() };
        Ok(true)
    }
}

/// The lines of `bytes[from..to]`.
fn take_apart(bytes: &[u8], from: usize, to: usize, line_bytes: usize) -> Vec<(u32, u32, Line)> {
    let mut lines = Vec::with_capacity((to - from) / 96);
    let mut start = from;
    let mut add = |start: usize, end: usize| {
        let line = if end - start > line_bytes {
            Line { pid: None, bracketed: false, time: Time::None, message: Message::Unparsed }
        } else {
            text::parse_line(&bytes[start..end])
        };
        lines.push((start as u32, end as u32, line));
    };
    for n in memchr_iter(b'\n', &bytes[from..to]) {
        add(start, from + n);
        start = from + n + 1;
    }
    if start < to {
        add(start, to);
    }
    lines
}

/// Reads one file into a sink. If threads are to share it, the next block is read and taken apart while the lines of the one
/// before are followed in order.
pub(super) fn read_part<S: Sink>(
    source: &Source,
    options: &ReadOptions,
    sink: S,
    head: &Head,
    days: i64,
    share: bool,
) -> Result<Part<S>> {
    let mut input = Blocks::new(source.reader(options)?, &options.limits);
    let mut stream = CallStream::new(
        sink,
        head.root.or(process_of(source.file_name())).unwrap_or(0),
        days,
        options.limits.line_bytes,
    );
    let mut last_unparsed = false;
    let (mut now, mut ahead) = (Block::default(), Block::default());
    let mut more = ahead.next(&mut input, &options.limits, share)?;
    while more {
        std::mem::swap(&mut now, &mut ahead);
        let mut follow = || -> Result<()> {
            for &(start, end, ref line) in now.pieces.iter().flatten() {
                last_unparsed = matches!(line.message, Message::Unparsed);
                stream.feed(&now.bytes[start as usize..end as usize], line)?;
            }
            Ok(())
        };
        let mut read = || ahead.next(&mut input, &options.limits, share);
        let (followed, read) = if share { rayon::join(follow, read) } else { (follow(), read()) };
        followed?;
        more = read?;
        if stream.stats.calls > 0 && !stream.stats.has_times() && !options.order_suffices {
            return Err(Error::new(ErrorKind::Unsupported, "the calls have no times")
                .at(Place::Line(1))
                .remedy(Remedy::OrderSuffices));
        }
    }
    stream.finish();
    Ok(Part {
        lines: stream.line(),
        stats: stream.stats,
        sink: stream.sink,
        unterminated: input.unterminated,
        last_unparsed,
        damage: input.damage,
    })
}

/// Facts about a file that its first lines show.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// Second since 1970 of the first timestamp.
    pub epoch_s: Option<i64>,
    /// Time of day of the first timestamp.
    pub day_ns: Option<i64>,
    /// The process of the lines that name none, if others are named in brackets.
    root: Option<u32>,
}

impl Head {
    /// Days to add to the times of day of the file. One that begins in the small hours, while others begin late in the
    /// evening, begins the day after.
    pub fn days(&self, latest: i64) -> i64 {
        i64::from(self.day_ns.is_some_and(|t| latest - t > DAY / 2))
    }

    pub fn of(bytes: &[u8]) -> Head {
        let mut head = Head::default();
        let mut attached = HashSet::new();
        let mut timed = false;
        for bytes in bytes.split(|&b| b == b'\n') {
            let line = text::parse_line(bytes);
            if let Message::Truncated(_, pid) = line.message {
                attached.extend(pid);
            }
            if !timed && !matches!(line.message, Message::Unparsed) {
                match line.time {
                    Time::None => {}
                    Time::Day(t) => (head.day_ns, timed) = (Some(t), true),
                    Time::Plain(t) => {
                        timed = true;
                        head.epoch_s = Some(t / NANOS).filter(|&s| s >= LIMITS.epoch_least_s as i64);
                    }
                }
            }
            match line.pid {
                // With -o every line names its process, and there is nothing to find out.
                Some(_) if !line.bracketed && timed => return head,
                Some(_) if !line.bracketed => {}
                Some(pid) if !attached.contains(&pid) => {
                    head.root = Some(pid);
                    return head;
                }
                _ => {}
            }
        }
        head
    }
}

/// The process of a file that `-ff` wrote: `NAME.PID`.
pub(super) fn process_of(file_name: &str) -> Option<u32> {
    file_name.rsplit_once('.')?.1.parse().ok()
}
