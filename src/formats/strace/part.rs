//! One file of a job: lines are taken apart in parallel, then their calls are followed in order.

use std::collections::HashSet;
use std::marker::PhantomData;

use super::stream::{CallStream, Sink, Stats};
use super::text::{self, DAY, Line, Message, NANOS, Time};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::formats::format::Sniff;
use crate::formats::lines::{Bad, InOrder, LineDecoder, LineReader, Taken, Tally};
use crate::formats::options::ReadOptions;
use crate::formats::source::{HEAD_BYTES, Source};
use crate::formats::thresholds::LIMITS;
use crate::remedy::Remedy;

/// Longest line: offsets in lines are of 32 bits.
const MOST_BYTES: usize = 1 << 30;

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
    pub tally: Tally,
}

/// Lines of strace, each taken apart by itself and then followed in order.
pub(super) struct Calls<S> {
    /// A call without a time is of no use.
    pub(super) timed_only: bool,
    pub(super) sink: PhantomData<fn() -> S>,
}

impl<S: Sink> LineDecoder for Calls<S> {
    type Rows = CallStream<S>;

    fn line(&self, line: &[u8], _: u64, stream: &mut CallStream<S>) -> std::result::Result<Taken, Bad> {
        self.follow(line, &self.parse(line), stream)
    }

    fn is_remark(&self, _: &[u8]) -> bool {
        false
    }

    fn long_line(&self, beginning: &[u8], _: u64, stream: &mut CallStream<S>) -> std::result::Result<Taken, Bad> {
        self.follow(beginning, &Line::UNPARSED, stream)
    }
}

impl<S: Sink> InOrder for Calls<S> {
    type Parsed = Line;

    fn parse(&self, line: &[u8]) -> Line {
        if line.len() > MOST_BYTES { Line::UNPARSED } else { text::parse_line(line) }
    }

    fn follow(&self, text: &[u8], line: &Line, stream: &mut CallStream<S>) -> std::result::Result<Taken, Bad> {
        let call = matches!(line.message, Message::Call(_) | Message::Unfinished(_) | Message::Resumed { .. });
        if self.timed_only && call && line.time == Time::None && !stream.stats.has_times() {
            return Err(Bad::new("a call without a time:", text, "calls recorded with -ttt"));
        }
        let before = stream.stats.unparsed;
        if stream.failure.is_none() {
            stream.failure = stream.feed(text, line).err();
        }
        match stream.stats.unparsed > before {
            true => Err(Bad::new("the line", text, "a line of strace")),
            false => Ok(Taken::Record),
        }
    }
}

/// Reads one file into a sink, on all threads if they are to share it.
pub(super) fn read_part<S: Sink>(
    source: &Source,
    options: &ReadOptions,
    sink: S,
    head: &Head,
    days: i64,
    share: bool,
) -> Result<Part<S>> {
    let mut lines = if share { LineReader::open(source, options)? } else { LineReader::alone(source, options)? };
    let root = head.root.or(process_of(source.file_name())).unwrap_or(0);
    let mut stream = CallStream::new(sink, root, days, options.limits.line_bytes.min(MOST_BYTES));
    let calls: Calls<S> = Calls { timed_only: false, sink: PhantomData };
    while lines.follow(&calls, &mut stream)? {
        if let Some(e) = stream.failure.take() {
            return Err(e);
        }
        if stream.stats.calls > 0 && !stream.stats.has_times() && !options.order_suffices {
            return Err(Error::new(ErrorKind::Unsupported, "the calls have no times")
                .at(Place::Line(1))
                .remedy(Remedy::OrderSuffices));
        }
    }
    stream.finish();
    Ok(Part { stats: stream.stats, sink: stream.sink, tally: lines.finish() })
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
