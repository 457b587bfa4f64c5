//! The grammar of one line of strace text: prefix, timestamp, and the kind of message with its call.
//!
//! Nothing here knows other lines. A line is cut into spans of itself, without copying: what most lines say (a complete
//! call) is settled here, in parallel; what needs memory of earlier lines is settled in [`super::stream`].

mod arguments;
mod call;
mod scan;

use memchr::{memchr, memmem};

pub(super) use self::arguments::{descriptor, descriptors, split_args, split_members};
use self::call::name_end;
pub(super) use self::call::{Call, Outcome, call_name, parse_call};
pub(super) use self::scan::{DAY, HOUR, NANOS, leading_number};
use self::scan::{Span, digits, fraction, skip_blanks};
use crate::formats::thresholds::LIMITS;

/// A timestamp as the line has it, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    /// The line has none.
    None,
    /// Time of day (`-t`, `-tt`).
    Day(i64),
    /// A plain number: seconds since 1970 (`-ttt`) or since the line before (`-r`).
    Plain(i64),
}

/// The contents of a line.
#[derive(Debug, Clone, Copy)]
pub(super) enum Message {
    /// A call from begin to end.
    Call(Call),
    /// A call that begins: the text `from..to` without ` <unfinished ...>`.
    Unfinished(Span),
    /// A call that goes on: its name, the rest of its text, and whether it stays unfinished.
    Resumed { name: Span, rest: Span, again: bool },
    /// `--- SIGCHLD {...} ---`
    Signal,
    /// `+++ exited with 0 +++` and the like.
    Exit,
    /// `+++ superseded by execve in pid N +++`
    Superseded(u32),
    /// A message of strace itself in the middle of the line, which goes on in the next line without it. Holds where the message
    /// begins, and the process if one was attached.
    Truncated(u32, Option<u32>),
    /// Nothing, or a line of a stack trace (`-k`).
    Blank,
    /// None of these.
    Unparsed,
}

/// A line taken apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// Process or thread that the line names.
    pub(super) pid: Option<u32>,
    /// The process stands in brackets, as on a terminal.
    pub(super) bracketed: bool,
    /// When.
    pub(super) time: Time,
    /// What.
    pub(super) message: Message,
}

impl Line {
    /// One that is too long to be taken apart.
    pub(super) const UNPARSED: Line =
        Line { pid: None, bracketed: false, time: Time::None, message: Message::Unparsed };
}

/// Takes a line (without line break) apart.
pub(super) fn parse_line(text: &[u8]) -> Line {
    let text = text.trim_ascii_end();
    let mut line = Line::UNPARSED;
    if text.is_empty() {
        line.message = Message::Blank;
        return line;
    }
    if let Some((at, attached)) = own_message(text) {
        line.message = Message::Truncated(at as u32, attached);
        return line;
    }
    let Some(at) = parse_prefix(text, &mut line) else { return line };
    line.message = parse_body(text, at);
    line
}

/// Reads process and time in front of the message; gives where the message begins.
fn parse_prefix(text: &[u8], line: &mut Line) -> Option<usize> {
    let mut i = skip_blanks(text, 0);
    if text[i..].starts_with(b"[pid ") {
        let (n, end) = digits(text, skip_blanks(text, i + 5))?;
        let close = end + memchr(b']', text.get(end..)?)?;
        line.pid = u32::try_from(n).ok();
        line.pid?;
        line.bracketed = true;
        i = skip_blanks(text, close + 1);
    } else if let Some((n, end)) = digits(text, i) {
        let next = match text.get(end) {
            // `8508<ls> `: the process with the name of its command.
            Some(b'<') => end + memchr(b'>', &text[end..])? + 1,
            _ => end,
        };
        if matches!(text.get(next), Some(b' ' | b'\t')) {
            let after = skip_blanks(text, next);
            let stamp_follows = text.get(after).is_some_and(u8::is_ascii_digit);
            if n < LIMITS.epoch_least_s || stamp_follows {
                line.pid = Some(u32::try_from(n).ok()?);
                i = after;
            }
        }
    }
    if let Some((n, end)) = digits(text, i) {
        let at_end = match text.get(end) {
            Some(b':') => {
                let (m, e) = digits(text, end + 1)?;
                let (s, e) = if text.get(e) == Some(&b':') { digits(text, e + 1)? } else { return None };
                let (f, e) = fraction(text, e)?;
                if n > 23 || m > 59 || s > 60 {
                    return None;
                }
                line.time = Time::Day((n * 3600 + m * 60 + s) as i64 * NANOS + f);
                e
            }
            _ => {
                let (f, e) = fraction(text, end)?;
                if n > LIMITS.epoch_most_s {
                    return None;
                }
                line.time = Time::Plain(n as i64 * NANOS + f);
                e
            }
        };
        i = skip_blanks(text, at_end);
        if text[i..].starts_with(b"(+") {
            i = skip_blanks(text, i + memchr(b')', &text[i..])? + 1);
        }
    }
    // Number of the system call (-n), then instruction pointer (-i).
    for _ in 0..2 {
        if text.get(i) == Some(&b'[') {
            let close = i + memchr(b']', &text[i..])?;
            if !text[i + 1..close].iter().all(|b| b.is_ascii_hexdigit() || matches!(b, b' ' | b'?' | b'x')) {
                return None;
            }
            i = skip_blanks(text, close + 1);
        }
    }
    Some(i)
}

/// Marks in place of the rest of a call that has not returned; one that strace was detached from never does.
const NOT_RETURNED: [&[u8]; 2] = [b"<unfinished ...>", b"<detached ...>"];

fn parse_body(text: &[u8], at: usize) -> Message {
    let not_returned = NOT_RETURNED.iter().find(|mark| text.ends_with(mark)).map(|mark| text.len() - mark.len());
    let body = &text[at..];
    match body {
        [] => Message::Unparsed,
        [b'>', b' ', ..] => Message::Blank,
        [b'-', b'-', b'-', ..] => Message::Signal,
        [b'+', b'+', b'+', rest @ ..] => {
            let by = rest.strip_prefix(b" superseded by execve in pid ").and_then(|r| digits(r, 0));
            match by.and_then(|(n, _)| u32::try_from(n).ok()) {
                Some(n) => Message::Superseded(n),
                None => Message::Exit,
            }
        }
        [b'<', b'.', b'.', b'.', b' ', ..] => {
            let from = at + 5;
            let Some(n) = memmem::find(&text[from..], b" resumed>") else { return Message::Unparsed };
            let rest_at = from + n + b" resumed>".len();
            let again = not_returned.filter(|&end| end >= rest_at);
            let rest = Span::new(rest_at, again.unwrap_or(text.len()));
            Message::Resumed { name: Span::new(from, from + n), rest, again: again.is_some() }
        }
        _ => match not_returned.filter(|&end| end >= at) {
            Some(end) => {
                let end = end - usize::from(text[..end].ends_with(b" "));
                match name_end(text, at) {
                    Some(n) if n < end => Message::Unfinished(Span::new(at, end)),
                    _ => Message::Unparsed,
                }
            }
            None => parse_call(text, at).map_or(Message::Unparsed, Message::Call),
        },
    }
}

/// A message of strace itself at the end of a line: where it begins, and the process if it says that one was attached.
///
/// On a terminal these stand in the middle of a call, followed by a line break; the call goes on in the next line.
fn own_message(text: &[u8]) -> Option<(usize, Option<u32>)> {
    // Only these letters end such a message, and no other line ends in them.
    if !matches!(text.last()?, b'd' | b's' | b']') {
        return None;
    }
    let near = text.len().saturating_sub(LIMITS.own_message);
    if let Some(n) = memmem::rfind(&text[near..], b"strace: [ Process PID=") {
        return text.ends_with(b" mode. ]").then_some((near + n, None));
    }
    let word = near + memmem::rfind(&text[near..], b"Process ")?;
    let (pid, end) = digits(text, word + 8)?;
    let at = if text[..word].ends_with(b"strace: ") { word - 8 } else { word };
    let rest = text[end..].strip_prefix(b" ")?;
    let attached = rest == b"attached" || (rest.starts_with(b"attached with ") && rest.ends_with(b" threads"));
    let known = attached || matches!(rest, b"detached" | b"suspended" | b"resumed");
    known.then_some((at, u32::try_from(pid).ok().filter(|_| attached)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> Call {
        match parse_line(text.as_bytes()).message {
            Message::Call(c) => c,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn part(text: &str, s: Span) -> &str {
        std::str::from_utf8(s.of(text.as_bytes())).unwrap()
    }

    #[test]
    fn a_plain_call() {
        let t = r#"8508  03:24:51.985915 read(3</usr/lib/libc.so.6>, "\177ELF\"\2"..., 832) = 832 <0.000047>"#;
        let l = parse_line(t.as_bytes());
        assert_eq!((l.pid, l.time), (Some(8508), Time::Day(12_291_985_915_000)));
        let c = call(t);
        assert_eq!(part(t, c.name), "read");
        assert_eq!((c.fd, c.n_args, c.outcome, c.duration), (3, 3, Outcome::Number(832), 47_000));
        assert_eq!((part(t, c.annotation), c.annotates_first), ("/usr/lib/libc.so.6", true));
        assert_eq!(part(t, c.string), r#"\177ELF\"\2"#);
        assert_eq!(c.last_arg(t.as_bytes()), b"832");
    }

    #[test]
    fn prefixes() {
        let rest = "getpid() = 7";
        for (prefix, pid, time) in [
            ("", None, Time::None),
            ("12 ", Some(12), Time::None),
            ("[pid    12] ", Some(12), Time::None),
            ("[pid 12<ls>] 1.5 ", Some(12), Time::Plain(1_500_000_000)),
            ("12<ls> 01:00:00 ", Some(12), Time::Day(3_600_000_000_000)),
            ("12 1795231492.142561 ", Some(12), Time::Plain(1_795_231_492_142_561_000)),
            ("1795231492.142561123 ", None, Time::Plain(1_795_231_492_142_561_123)),
            ("1795231492 ", None, Time::Plain(1_795_231_492_000_000_000)),
            ("12 1795231492 ", Some(12), Time::Plain(1_795_231_492_000_000_000)),
            ("     0.000443 ", None, Time::Plain(443_000)),
            ("12      0.000443 ", Some(12), Time::Plain(443_000)),
            ("01:02:03.004 (+     0.000443) ", None, Time::Day(3_723_004_000_000)),
            ("12 01:02:03.004 [  39] [00007f12] ", Some(12), Time::Day(3_723_004_000_000)),
        ] {
            let t = format!("{prefix}{rest}");
            let l = parse_line(t.as_bytes());
            assert_eq!((l.pid, l.time), (pid, time), "{t}");
            assert!(matches!(l.message, Message::Call(c) if c.n_args == 0), "{t}");
        }
        for t in [
            "24:00:00 getpid() = 7",
            "00:60:00 getpid() = 7",
            "99999999999.0 getpid() = 7",
            "1.1234567890 getpid() = 7",
        ] {
            assert!(matches!(parse_line(t.as_bytes()).message, Message::Unparsed), "{t}");
        }
    }

    #[test]
    fn other_messages() {
        let m = |t: &str| parse_line(t.as_bytes()).message;
        assert!(matches!(m("1 00:00:00 --- SIGSEGV {si_signo=SIGSEGV} ---"), Message::Signal));
        assert!(matches!(m("1 00:00:00 +++ exited with 0 +++"), Message::Exit));
        assert!(matches!(m("1 00:00:00 +++ superseded by execve in pid 77 +++"), Message::Superseded(77)));
        assert!(matches!(m("1 00:00:00 read(3,  <unfinished ...>"), Message::Unfinished(_)));
        assert!(matches!(m("1 00:00:00 read(0</x>,  <detached ...>"), Message::Unfinished(_)));
        assert!(matches!(m("1 00:00:00 <... read resumed> <detached ...>"), Message::Resumed { again: true, .. }));
        assert!(matches!(m("1 00:00:00 <... read resumed>\"\", 1) = 0"), Message::Resumed { again: false, .. }));
        assert!(matches!(
            m("1 00:00:00 <... read resumed> <unfinished ...>) = ?"),
            Message::Resumed { again: false, .. }
        ));
        assert!(matches!(m("1 00:00:00 <... read resumed> <unfinished ...>"), Message::Resumed { again: true, .. }));
        assert!(matches!(m("00:00:00 vfork(strace: Process 78 attached"), Message::Truncated(15, Some(78))));
        assert!(matches!(m("strace: Process 78 detached"), Message::Truncated(0, None)));
        assert!(matches!(m("strace: Process 78 attached with 3 threads"), Message::Truncated(0, Some(78))));
        assert!(matches!(m("strace: [ Process PID=7 runs in 32 bit mode. ]"), Message::Truncated(0, None)));
        assert!(matches!(m(""), Message::Blank));
        assert!(matches!(m(" > /usr/lib/libc.so.6(read+0x10) [0x1234]"), Message::Blank));
    }
}
