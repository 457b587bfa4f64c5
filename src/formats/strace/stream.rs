//! The lines of one file in their order: split calls are joined, clocks made absolute, processes identified.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::text::{self, Call, DAY, HOUR, Line, Message, NANOS, Time};
use crate::error::{Error, Result};
use crate::formats::number::parse_f64;
use crate::formats::thresholds::LIMITS;

/// Days a trace may last before steps back count as faults of the clock.
const MAX_DAYS: i64 = 3660;
/// Messages of strace that may cut one line.
const MAX_TRUNCATIONS: u32 = 100;
/// Calls that may be unfinished at one time; threads of a large job are fewer.
const MAX_PENDING: usize = 1 << 16;
/// Longest gap of a trace, in nanoseconds, that tells an hour that a local clock skips or repeats from a silence or from disorder.
const HOUR_STEP_GAP: i64 = 600 * NANOS;
/// Gaps that a trace has to have shown for that.
const HOUR_STEP_GAPS: u32 = 16;
/// Nanoseconds by which two calls of a thread may overlap because times are rounded.
const ROUNDING: i64 = 10_000;
/// Bytes that unfinished calls may hold.
const MAX_PENDING_BYTES: usize = 64 << 20;

/// Counts of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Lines that are not empty, without the messages of strace itself.
    pub lines: u64,
    /// Calls with a begin and an end.
    pub calls: u64,
    /// Signals and stops.
    pub signals: u64,
    /// Ends of processes, also those superseded by an `execve` in another thread.
    pub exits: u64,
    /// Lines that are none of strace's.
    pub unparsed: u64,
    /// Calls that another line interrupted.
    pub unfinished: u64,
    /// Continuations of such calls.
    pub resumed: u64,
    /// Calls that began and never went on.
    pub never_resumed: u64,
    /// Continuations whose begin is missing.
    pub orphan_resumed: u64,
    /// Some timestamps are times of day.
    pub time_of_day: bool,
    /// Some timestamps are seconds since 1970.
    pub epoch: bool,
    /// Some timestamps are relative to the line before.
    pub relative: bool,
    /// Times the clock stepped back.
    pub clock_backwards: u64,
    /// First line where a clock of local times went forward or back by an hour, from 1.
    pub hour_step: Option<u64>,
    /// Calls that begin, by a clock relative to the line before, while the one before still runs in their thread.
    pub overlaps: u64,
    /// Some timestamps have a part of a second.
    pub fractions: bool,
    /// Calls at a whole second that begin later in it, where the one before in their thread ends.
    pub sequenced: u64,
    /// Calls with a duration.
    pub timed_calls: u64,
    /// Where the first line that is none of strace's stands, from 1.
    pub first_unparsed: Option<u64>,
    /// Unfinished calls dropped because there were too many.
    pub pending_dropped: u64,
    /// Time of the first and of the last line, in nanoseconds.
    pub span_ns: Option<(i64, i64)>,
    /// The first process has ended.
    pub ended: bool,
}

impl Stats {
    /// True if any line has a timestamp.
    pub fn has_times(&self) -> bool {
        self.time_of_day || self.epoch || self.relative
    }
}

/// A complete call with its place in the trace.
pub(super) struct CallEvent<'a> {
    /// The text that the spans of `call` refer to.
    pub(super) text: &'a [u8],
    /// The call.
    pub(super) call: &'a Call,
    /// Line where it begins, from 1.
    pub(super) line: u64,
    /// Process or thread, 0 if unknown.
    pub(super) pid: u32,
    /// Begin in nanoseconds.
    pub(super) start: i64,
}

/// Takes what happens in a file, in order.
pub(super) trait Sink: Send {
    /// A call is complete.
    fn call(&mut self, event: &CallEvent<'_>) -> Result<()>;
    /// A call began in this line and was interrupted; `text` is what is known of it.
    fn begun(&mut self, _pid: u32, _line: u64, _text: &[u8]) {}
    /// The call that began in this line never ended.
    fn cancelled(&mut self, _line: u64) {}
    /// A process ended.
    fn exited(&mut self, _pid: u32) {}
    /// Thread `by` became process `leader` by an `execve`.
    fn superseded(&mut self, _leader: u32, _by: u32) {}
    /// The process that had been number 0 is `pid`.
    fn named(&mut self, _pid: u32) {}
}

struct Pending {
    line: u64,
    start: i64,
    text: Vec<u8>,
    age: u64,
}

/// Calls that have begun, by process, and their order.
#[derive(Default)]
struct PendingCalls {
    by_pid: HashMap<u32, Pending>,
    by_age: BTreeMap<u64, u32>,
    bytes: usize,
    next_age: u64,
}

impl PendingCalls {
    fn insert(&mut self, pid: u32, mut p: Pending) {
        p.age = self.next_age;
        self.next_age += 1;
        self.bytes += p.text.len();
        self.by_age.insert(p.age, pid);
        self.by_pid.insert(pid, p);
    }

    fn remove(&mut self, pid: u32) -> Option<Pending> {
        let p = self.by_pid.remove(&pid)?;
        self.by_age.remove(&p.age);
        self.bytes -= p.text.len();
        Some(p)
    }

    fn drop_oldest(&mut self) -> Option<Pending> {
        let pid = self.by_age.first_key_value().map(|(_, &pid)| pid)?;
        self.remove(pid)
    }

    fn is(&self, pid: u32, name: &[u8]) -> bool {
        self.by_pid.get(&pid).is_some_and(|p| text::call_name(&p.text) == Some(name))
    }

    /// The only process that has begun a call of this name.
    fn only(&self, name: &[u8]) -> Option<u32> {
        // On a terminal few processes are traced; a long search would be for nothing.
        if self.by_pid.len() > 64 {
            return None;
        }
        let mut found = self.by_pid.keys().copied().filter(|&pid| self.is(pid, name));
        found.next().filter(|_| found.next().is_none())
    }
}

/// Makes timestamps absolute.
#[derive(Default)]
struct Clock {
    /// Days to add to times of day.
    days: i64,
    /// Nanoseconds to add to times of day since the local clock went forward or back.
    shift: i64,
    last: Option<i64>,
    /// The longest time between two lines so far, and their number.
    longest: i64,
    gaps: u32,
    /// When the last call that ended did so; and, where times do not say it, when the last one of each thread did.
    busy: Option<i64>,
    ends: HashMap<u32, i64>,
    relative: bool,
}

impl Clock {
    /// The time of a line of `pid`.
    fn at(&mut self, time: Time, (line, pid): (u64, u32), stats: &mut Stats) -> i64 {
        let now = match time {
            Time::None if stats.has_times() => return self.last.unwrap_or(0),
            // without times, the order of the lines stands for them
            Time::None => return *self.last.insert(self.last.map_or(0, |last| last + 1)),
            Time::Day(t) => {
                stats.time_of_day = true;
                let mut now = (t + self.days * DAY).saturating_add(self.shift);
                if let Some(last) = self.last {
                    let hour = self.hour_step(last, t);
                    if hour != 0 {
                        stats.hour_step.get_or_insert(line);
                    }
                    (self.shift, now) = (self.shift.saturating_sub(hour), now.saturating_sub(hour));
                    let (step, most) = (now.saturating_sub(last), LIMITS.midnight_step_s * NANOS);
                    if step < -most && self.days < MAX_DAYS {
                        self.days += 1;
                        now = now.saturating_add(DAY);
                    } else if self.days > 0 && step > DAY - most {
                        // From before midnight, but written after a line from after it.
                        now = now.saturating_sub(DAY);
                    }
                }
                now
            }
            Time::Plain(t) => {
                if !stats.epoch && !stats.relative {
                    self.relative = t < LIMITS.epoch_least_s as i64 * NANOS;
                }
                if self.relative {
                    stats.relative = true;
                    let stamped = self.last.unwrap_or(0).saturating_add(t);
                    let free = self.ends.get(&pid).copied().unwrap_or(stamped);
                    let overlaps = free.saturating_sub(stamped) > ROUNDING;
                    stats.overlaps += u64::from(overlaps);
                    if overlaps { free } else { stamped }
                } else {
                    stats.epoch = true;
                    t
                }
            }
        };
        if let Some(last) = self.last {
            stats.clock_backwards += u64::from(now < last);
            self.longest = self.longest.max(now.saturating_sub(last).saturating_abs());
            self.gaps = self.gaps.saturating_add(1);
        }
        self.last = Some(now);
        stats.fractions |= now % NANOS != 0;
        // A stamp of whole seconds says its second: a call begins in it, and not before the one ahead of it in its thread has ended.
        let free = self.ends.get(&pid).copied().unwrap_or(now);
        let sequenced = now % NANOS == 0 && free > now && free < now.saturating_add(NANOS);
        stats.sequenced += u64::from(sequenced);
        let now = if sequenced { free } else { now };
        stats.span_ns = Some(stats.span_ns.map_or((now, now), |(a, b)| (a.min(now), b.max(now))));
        now
    }

    /// By how much a local clock was put forward (or back, then it is negative) between the last line and one at this time of day:
    /// an hour, if it skips (or repeats) a whole one, no call lasts through it, and what is left is as long as other gaps of the trace.
    fn hour_step(&self, last: i64, now: i64) -> i64 {
        let waits = self.busy.is_some_and(|end| end > last.saturating_add(HOUR / 2));
        let last = last.saturating_sub(self.shift).rem_euclid(DAY);
        let (step, left) = match (now / HOUR - last / HOUR).rem_euclid(24) {
            2 => (HOUR, (now - last - HOUR).rem_euclid(DAY)),
            0 if now < last => (-HOUR, now + HOUR - last),
            _ => return 0,
        };
        let usual = self.longest <= HOUR_STEP_GAP && self.gaps >= HOUR_STEP_GAPS && left <= 2 * self.longest;
        if usual && !waits { step } else { 0 }
    }
}

/// Which process a line without a process id belongs to.
///
/// Without `-f` there is one. On a terminal, ids are written only while there are several: such a line belongs to the one that
/// is left, and that is mostly the first.
#[derive(Default)]
struct Processes {
    root: u32,
    /// Processes said to be attached, on a terminal.
    attached: HashSet<u32>,
    /// The root has ended.
    root_ended: bool,
    /// That of the first line.
    first: Option<u32>,
}

impl Processes {
    fn of_line(&self) -> u32 {
        match (self.root_ended, self.attached.len()) {
            (true, 1) => self.attached.iter().next().copied().unwrap_or(self.root),
            _ => self.root,
        }
    }
}

/// State of a file between lines.
pub(super) struct CallStream<S> {
    /// Receives the calls.
    pub(super) sink: S,
    /// Counts so far.
    pub(super) stats: Stats,
    line: u64,
    clock: Clock,
    pending: PendingCalls,
    processes: Processes,
    /// The begin of a line that a message of strace cut, where it stands, and how often it was cut.
    held: Option<(Vec<u8>, u64, u32)>,
    joined: Vec<u8>,
    /// The lines are of the summary that `-C` adds.
    in_summary: bool,
    line_bytes: usize,
    /// Why the sink takes no more.
    pub(super) failure: Option<Error>,
}

impl<S: Sink> CallStream<S> {
    /// A file whose lines belong to process `root` unless they say otherwise, with times of day counted from `days`.
    pub(super) fn new(sink: S, root: u32, days: i64, line_bytes: usize) -> Self {
        CallStream {
            sink,
            stats: Stats::default(),
            line: 0,
            clock: Clock { days, ..Clock::default() },
            pending: PendingCalls::default(),
            processes: Processes { root, ..Processes::default() },
            held: None,
            joined: Vec::new(),
            in_summary: false,
            line_bytes,
            failure: None,
        }
    }

    /// Takes the next line.
    pub(super) fn feed(&mut self, bytes: &[u8], line: &Line) -> Result<()> {
        self.line += 1;
        if (self.in_summary || matches!(line.message, Message::Unparsed)) && self.is_of_summary(bytes.trim_ascii()) {
            return Ok(());
        }
        let Some((mut whole, at, cuts)) = self.held.take() else { return self.take(bytes, line, self.line, 0) };
        whole.extend_from_slice(bytes);
        let line = if whole.len() > self.line_bytes || cuts > MAX_TRUNCATIONS {
            Line::UNPARSED
        } else {
            text::parse_line(&whole)
        };
        self.take(&whole, &line, at, cuts)
    }

    /// True for the table of times and counts by call that `-C` adds to the calls: a title, a header, dashes, rows, dashes and the total.
    fn is_of_summary(&mut self, text: &[u8]) -> bool {
        let mut words = text.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        let is_header = || ["syscall", "calls"].iter().all(|name| words.clone().any(|w| w == name.as_bytes()));
        if !self.in_summary {
            self.in_summary = is_header();
            return self.in_summary || text.starts_with(b"System call usage summary for ");
        }
        let is_total = text.ends_with(b" total");
        let is_row = words.clone().any(|w| parse_f64(w).is_some()) && !text.contains(&b'(');
        let is_rule = !text.is_empty() && words.all(|w| w.iter().all(|b| *b == b'-'));
        self.in_summary = (is_row || is_rule) && !is_total;
        is_row || is_rule
    }

    /// Ends the file: what is still unfinished never finished.
    pub(super) fn finish(&mut self) {
        while let Some(p) = self.pending.drop_oldest() {
            self.give_up(&p);
        }
    }

    fn take(&mut self, bytes: &[u8], line: &Line, number: u64, cuts: u32) -> Result<()> {
        match line.message {
            Message::Blank => return Ok(()),
            Message::Truncated(at, attached) => {
                self.processes.attached.extend(attached);
                self.held = Some((bytes[..(at as usize).min(bytes.len())].to_vec(), number, cuts + 1));
                return Ok(());
            }
            _ => self.stats.lines += 1,
        }
        let pid = match line.pid {
            None => self.processes.of_line(),
            Some(pid) => {
                if line.bracketed && self.processes.root == 0 && !self.processes.attached.contains(&pid) {
                    self.processes.root = pid;
                    self.sink.named(pid);
                }
                pid
            }
        };
        if matches!(line.message, Message::Unparsed) {
            return self.unparsed(number);
        }
        self.processes.first.get_or_insert(pid);
        let start = self.clock.at(line.time, (number, pid), &mut self.stats);
        match line.message {
            Message::Call(call) => self.complete(bytes, &call, number, pid, start),
            Message::Unfinished(span) => {
                self.stats.unfinished += 1;
                self.begin(pid, Pending { line: number, start, text: span.of(bytes).to_vec(), age: 0 });
                Ok(())
            }
            Message::Resumed { name, rest, again } => {
                // With -o every line names its process. On a terminal one half of a call may lack what the other has.
                let sure = line.pid.is_some() && !line.bracketed;
                let name = name.of(bytes);
                let owner = match self.pending.is(pid, name) {
                    true => Some(pid),
                    false if sure => None,
                    false => self.pending.only(name),
                };
                let named = line.pid.or(owner).unwrap_or(pid);
                self.resume(rest.of(bytes), owner, named, again, number)
            }
            Message::Signal => {
                self.stats.signals += 1;
                Ok(())
            }
            Message::Exit => {
                self.stats.exits += 1;
                self.end_process(pid);
                Ok(())
            }
            Message::Superseded(by) => {
                self.stats.exits += 1;
                if let Some(p) = self.pending.remove(by) {
                    self.give_up_of(pid);
                    self.pending.insert(pid, p);
                }
                self.sink.superseded(pid, by);
                Ok(())
            }
            Message::Truncated(..) | Message::Blank | Message::Unparsed => Ok(()),
        }
    }

    fn unparsed(&mut self, number: u64) -> Result<()> {
        self.stats.unparsed += 1;
        self.stats.first_unparsed.get_or_insert(number);
        Ok(())
    }

    fn give_up(&mut self, p: &Pending) {
        self.stats.never_resumed += 1;
        self.sink.cancelled(p.line);
    }

    fn give_up_of(&mut self, pid: u32) {
        if let Some(p) = self.pending.remove(pid) {
            self.give_up(&p);
        }
    }

    fn end_process(&mut self, pid: u32) {
        self.give_up_of(pid);
        self.stats.ended |= self.processes.first == Some(pid);
        if pid == self.processes.root {
            self.processes.root_ended = true;
        }
        self.processes.attached.remove(&pid);
        self.sink.exited(pid);
    }

    fn begin(&mut self, pid: u32, p: Pending) {
        self.sink.begun(pid, p.line, &p.text);
        self.give_up_of(pid);
        while self.pending.by_pid.len() >= MAX_PENDING || self.pending.bytes + p.text.len() > MAX_PENDING_BYTES {
            let Some(oldest) = self.pending.drop_oldest() else { break };
            self.give_up(&oldest);
            self.stats.pending_dropped += 1;
        }
        self.pending.insert(pid, p);
    }

    /// Continues the call that `owner` began, with the rest of its text.
    fn resume(&mut self, rest: &[u8], owner: Option<u32>, pid: u32, again: bool, number: u64) -> Result<()> {
        self.stats.resumed += 1;
        let Some((owner, mut p)) = owner.and_then(|o| Some((o, self.pending.remove(o)?))) else {
            self.stats.orphan_resumed += 1;
            return Ok(());
        };
        p.text.extend_from_slice(rest);
        if p.text.len() > self.line_bytes {
            self.sink.cancelled(p.line);
            return self.unparsed(number);
        }
        if again {
            self.stats.unfinished += 1;
            self.pending.insert(owner, p);
            return Ok(());
        }
        self.joined.clear();
        std::mem::swap(&mut self.joined, &mut p.text);
        match text::parse_call(&self.joined, 0) {
            Some(call) => {
                let joined = std::mem::take(&mut self.joined);
                let done = self.complete(&joined, &call, p.line, pid, p.start);
                self.joined = joined;
                done
            }
            None => {
                self.sink.cancelled(p.line);
                self.unparsed(number)
            }
        }
    }

    fn complete(&mut self, text: &[u8], call: &Call, line: u64, pid: u32, start: i64) -> Result<()> {
        self.stats.calls += 1;
        self.stats.timed_calls += u64::from(call.duration >= 0);
        let end = start.saturating_add(call.duration.max(0));
        self.clock.busy = Some(end);
        if self.clock.relative || !self.stats.fractions {
            self.clock.ends.insert(pid, end);
        }
        self.sink.call(&CallEvent { text, call, line, pid, start })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Log(Vec<(u64, u32, i64, String)>);

    impl Sink for Log {
        fn call(&mut self, e: &CallEvent<'_>) -> Result<()> {
            self.0.push((e.line, e.pid, e.start, String::from_utf8_lossy(e.call.name.of(e.text)).into_owned()));
            Ok(())
        }
    }

    fn run(text: &str) -> (Vec<(u64, u32, i64, String)>, Stats) {
        let mut s = CallStream::new(Log::default(), 0, 0, 1 << 20);
        for l in text.lines() {
            s.feed(l.as_bytes(), &text::parse_line(l.as_bytes())).unwrap();
        }
        s.finish();
        (s.sink.0, s.stats)
    }

    #[test]
    fn halves_are_joined_by_process() {
        let (calls, stats) =
            run("1 1.0 read(3,  <unfinished ...>\n2 0.5 getpid() = 2\n1 0.25 <... read resumed>\"\", 1) = 0 <0.7>\n");
        assert_eq!(calls, [(2, 2, 1_500_000_000, "getpid".into()), (1, 1, 1_000_000_000, "read".into())]);
        assert_eq!((stats.unfinished, stats.resumed, stats.never_resumed, stats.orphan_resumed), (1, 1, 0, 0));
        assert!(stats.relative && !stats.epoch);
    }

    #[test]
    fn halves_without_a_partner_are_counted() {
        let (calls, stats) = run("1 00:00:01 <... read resumed>\"\", 1) = 0\n1 00:00:02 read(3,  <unfinished ...>\n\
             1 00:00:03 write(4,  <unfinished ...>\n1 00:00:04 <... read resumed>\"\", 1) = 0\n1 00:00:05 +++ exited with 0 +++\n");
        assert_eq!((calls.len(), stats.never_resumed, stats.orphan_resumed), (0, 2, 2));
    }

    #[test]
    fn halves_find_each_other_when_one_lacks_the_process() {
        for (a, b) in [("[pid 7] ", ""), ("", "[pid 7] ")] {
            let (calls, stats) =
                run(&format!("{a}00:00:01 read(3,  <unfinished ...>\n{b}00:00:02 <... read resumed>\"\", 1) = 0\n"));
            assert_eq!((calls.len(), calls[0].1, stats.orphan_resumed), (1, 7, 0), "{a}");
        }
    }

    #[test]
    fn halves_of_processes_that_are_named_are_not_mixed_up() {
        let (calls, stats) = run("1 00:00:01 read(3,  <unfinished ...>\n2 00:00:02 <... read resumed>\"\", 1) = 0\n");
        assert_eq!((calls.len(), stats.orphan_resumed, stats.never_resumed), (0, 1, 1));
    }

    #[test]
    fn clocks_of_all_kinds_may_be_mixed_without_overflow() {
        let big = "9000000000.9 getpid() = 1\n";
        let text = format!("0.5 getpid() = 1\n{}23:00:00 getpid() = 1\n01:00:00 getpid() = 1\n{big}", big.repeat(3));
        let (calls, stats) = run(&text);
        assert_eq!(calls.len(), 7);
        assert!(stats.relative && stats.time_of_day);
    }

    #[test]
    fn a_line_cut_without_end_is_cancelled() {
        let cut = "x strace: Process 9 attached\n".repeat(1000);
        let (calls, stats) = run(&format!("{cut}end of it\n1 00:00:01 getpid() = 1\n"));
        assert_eq!((calls.len(), stats.unparsed), (1, 1001_u64.div_ceil(u64::from(MAX_TRUNCATIONS) + 2)));
    }

    #[test]
    fn a_resumed_call_can_be_interrupted_again() {
        let (calls, stats) = run(
            "1 00:00:01 f(3 <unfinished ...>\n1 00:00:02 <... f resumed>, 4 <unfinished ...>\n1 00:00:03 <... f resumed>) = 0\n",
        );
        assert_eq!((calls.len(), calls[0].0, stats.unfinished, stats.resumed), (1, 1, 2, 2));
    }

    #[test]
    fn midnight_passes_and_clocks_step_back() {
        let f = |t: &str| format!("{t} getpid() = 7\n");
        let text: String =
            ["23:59:59.5", "00:00:00.5", "23:59:59.9", "00:00:01", "00:00:00", "12:00:00", "09:00:00"].map(f).concat();
        let (calls, stats) = run(&text);
        let s: Vec<f64> = calls.iter().map(|c| c.2 as f64 / 1e9).collect();
        assert_eq!(s, [86399.5, 86400.5, 86399.9, 86401.0, 86400.0, 129_600.0, 205_200.0]);
        assert_eq!(stats.clock_backwards, 2);
    }

    #[test]
    fn messages_of_strace_are_taken_out_of_lines() {
        let (calls, stats) = run("00:00:01 clone(flags=SIGCHLDstrace: Process 9 attached\n, x=1) = 9 <0.1>\n\
             00:00:02 vfork(strace: Process 10 attached\n <unfinished ...>\n[pid 10] 00:00:03 getpid() = 10\n\
             [pid 8] 00:00:03 <... vfork resumed>) = 10\n");
        assert_eq!(
            calls.iter().map(|c| (c.0, c.1, &*c.3)).collect::<Vec<_>>(),
            [(1, 0, "clone"), (5, 10, "getpid"), (3, 8, "vfork")]
        );
        assert_eq!((stats.lines, stats.unparsed), (4, 0));
    }

    #[test]
    fn the_summary_after_the_calls_is_none_of_them() {
        let call = "1 00:00:01 getpid() = 7\n";
        let summary = "% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n \
             72.00    0.000018           9         2           read\n------ ----------- ----------- --------- --------- ----------------\n\
             100.00    0.000025           5         5         1 total\n";
        let (calls, stats) = run(&format!("{call}{summary}{call}x\n"));
        assert_eq!((calls.len(), stats.lines, stats.signals, stats.unparsed), (2, 3, 0, 1));
    }

    #[test]
    fn pending_calls_are_bounded() {
        let text: String = (0..MAX_PENDING + 10).map(|i| format!("{} 00:00:01 f( <unfinished ...>\n", i + 1)).collect();
        let (_, stats) = run(&text);
        assert_eq!((stats.pending_dropped, stats.never_resumed), (10, MAX_PENDING as u64 + 10));
    }
}
