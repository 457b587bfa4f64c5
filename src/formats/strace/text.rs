//! The grammar of one line of strace text: prefix, timestamp, and the kind of message with its call.
//!
//! Nothing here knows other lines. A line is cut into spans of itself, without copying: what most lines say (a complete
//! call) is settled here, in parallel; what needs memory of earlier lines is settled in [`super::stream`].

use memchr::{memchr, memmem, memrchr};

use super::calls::{self, Spec};
use crate::formats::number::parse_u64;

/// Deepest nesting of brackets in arguments.
const MAX_DEPTH: u32 = 256;
/// Longest duration of a call, in seconds; more is damage.
const MAX_DURATION_S: u64 = 1_000_000_000;
/// Latest timestamp in seconds since 1970 (the year 2255), so that nanoseconds fit.
const MAX_EPOCH_S: u64 = 9_000_000_000;
/// Numbers below are process ids or relative times, numbers from here on are seconds since 1970 (year 1973).
pub(super) const MIN_EPOCH_S: u64 = 100_000_000;
/// Longest message of strace itself.
const MAX_OWN_MESSAGE: usize = 80;
const NANOS: i64 = 1_000_000_000;

/// A part of a line. Offsets fit because lines are bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// No such part; differs from an empty part.
    pub(super) const NONE: Span = Span { start: u32::MAX, end: u32::MAX };

    fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// The bytes of the part; empty if there is none.
    pub(super) fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// True if the line has this part.
    pub(super) fn is_some(self) -> bool {
        self != Span::NONE
    }

    /// Offset of the end in the line.
    pub(super) fn end(self) -> usize {
        self.end as usize
    }
}

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

/// What stands after the equals sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A decimal number.
    Number(i64),
    /// A hexadecimal number: an address or flags.
    Hex,
    /// `?`: the call did not return.
    Unknown,
}

/// A complete call, as spans of the line it was read from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    /// Name of the system call.
    pub(super) name: Span,
    /// Number of the name in [`calls`].
    pub(super) known: u8,
    /// All arguments, without the outer parentheses.
    pub(super) args: Span,
    /// Number of arguments.
    pub(super) n_args: u32,
    /// Where the last argument begins.
    last: u32,
    /// Where the last but one argument begins.
    last_but_one: u32,
    /// The first argument as a number, or -1: the descriptor of most calls.
    pub(super) fd: i32,
    /// The first annotated descriptor, wherever it stands, without `<` and `>`.
    pub(super) annotation: Span,
    /// The annotation is that of the first argument.
    pub(super) annotates_first: bool,
    /// The first string, without quotes.
    pub(super) string: Span,
    /// What it returned.
    pub(super) outcome: Outcome,
    /// Annotation of the returned descriptor, without `<` and `>`.
    pub(super) result_annotation: Span,
    /// Symbolic error, `ENOENT`, also of an interrupted call.
    pub(super) errno: Span,
    /// Everything after the result up to the duration.
    pub(super) comment: Span,
    /// Duration in nanoseconds, -1 if not recorded.
    pub(super) duration: i64,
}

impl Call {
    /// What is known of calls of this name.
    pub(super) fn spec(&self) -> Option<&'static Spec> {
        calls::spec(self.known)
    }

    /// The last argument.
    pub(super) fn last_arg<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text.get(self.last as usize..self.args.end()).unwrap_or_default().trim_ascii()
    }

    /// The last argument but one.
    pub(super) fn last_arg_but_one<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text.get(self.last_but_one as usize..(self.last as usize).saturating_sub(1)).unwrap_or_default().trim_ascii()
    }

    /// What follows the first string: the flags of an open.
    pub(super) fn after_string<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        if self.string.is_some() {
            text.get(self.string.end()..self.args.end()).unwrap_or_default()
        } else {
            self.args.of(text)
        }
    }

    /// The number of bytes it moved, if it is a transfer that succeeded.
    pub(super) fn bytes(&self) -> Option<u64> {
        match (self.spec(), self.outcome) {
            (Some(s), Outcome::Number(n)) if s.action.is_transfer() => u64::try_from(n).ok(),
            _ => None,
        }
    }

    /// True if it returned without an error.
    pub(super) fn succeeded(&self) -> bool {
        !self.errno.is_some() && self.outcome != Outcome::Unknown
    }
}

/// What a line says.
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
    Cut(u32, Option<u32>),
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

/// Takes a line (without line break) apart.
pub(super) fn parse_line(text: &[u8]) -> Line {
    let text = text.trim_ascii_end();
    let mut line = Line { pid: None, bracketed: false, time: Time::None, message: Message::Unparsed };
    if text.is_empty() {
        line.message = Message::Blank;
        return line;
    }
    if let Some((at, attached)) = own_message(text) {
        line.message = Message::Cut(at as u32, attached);
        return line;
    }
    let Some(at) = parse_prefix(text, &mut line) else { return line };
    line.message = parse_body(text, at);
    line
}

fn skip_blanks(text: &[u8], mut i: usize) -> usize {
    while let Some(b' ' | b'\t') = text.get(i) {
        i += 1;
    }
    i
}

/// The number at `i` and where it ends, if it has 1 to 18 digits.
#[inline]
fn digits(text: &[u8], i: usize) -> Option<(u64, usize)> {
    let mut x = 0u64;
    let mut end = i;
    while let Some(d) = text.get(end).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        if end - i == 18 {
            return None;
        }
        x = x * 10 + u64::from(d);
        end += 1;
    }
    (end > i).then_some((x, end))
}

/// A fraction of a second at `i` (`.123456`), in nanoseconds, and where it ends; 0 if there is none.
#[inline]
fn fraction(text: &[u8], i: usize) -> Option<(i64, usize)> {
    if text.get(i) != Some(&b'.') {
        return Some((0, i));
    }
    let (x, end) = digits(text, i + 1)?;
    let places = end - i - 1;
    if places > 9 {
        return None;
    }
    const SCALE: [i64; 10] = [NANOS, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];
    Some((x as i64 * SCALE[places], end))
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
            if n < MIN_EPOCH_S || stamp_follows {
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
                if n > MAX_EPOCH_S {
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

fn parse_body(text: &[u8], at: usize) -> Message {
    const UNFINISHED: &[u8] = b"<unfinished ...>";
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
            let again = text[rest_at..].ends_with(UNFINISHED);
            let end = if again { text.len() - UNFINISHED.len() } else { text.len() };
            Message::Resumed { name: Span::new(from, from + n), rest: Span::new(rest_at, end), again }
        }
        _ if body.ends_with(UNFINISHED) => {
            let end = text.len() - UNFINISHED.len();
            let end = end - usize::from(text[..end].ends_with(b" "));
            match name_end(text, at) {
                Some(n) if n < end => Message::Unfinished(Span::new(at, end)),
                _ => Message::Unparsed,
            }
        }
        _ => parse_call(text, at).map_or(Message::Unparsed, Message::Call),
    }
}

/// Where the name that begins at `at` ends, if a parenthesis follows.
fn name_end(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let n = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))?;
    let valid = (1..=64).contains(&n) && !rest[0].is_ascii_digit() && rest[n] == b'(';
    valid.then_some(at + n)
}

/// The name of the call that a text begins with.
pub(super) fn call_name(text: &[u8]) -> Option<&[u8]> {
    Some(&text[..name_end(text, 0)?])
}

/// What a byte means between arguments.
const CLASS: [u8; 256] = {
    let mut t = [0u8; 256];
    t[b'"' as usize] = STRING;
    t[b'<' as usize] = ANGLE;
    t[b'/' as usize] = COMMENT;
    t[b',' as usize] = COMMA;
    t[b'(' as usize] = OPEN;
    t[b'[' as usize] = OPEN;
    t[b'{' as usize] = OPEN;
    t[b')' as usize] = CLOSE;
    t[b']' as usize] = CLOSE;
    t[b'}' as usize] = CLOSE;
    t
};
const STRING: u8 = 1;
const ANGLE: u8 = 2;
const COMMENT: u8 = 3;
const COMMA: u8 = 4;
const OPEN: u8 = 5;
const CLOSE: u8 = 6;

/// Where the string whose content begins at `i` ends (at its quote): the first quote after an even number of backslashes.
fn string_end(text: &[u8], i: usize) -> Option<usize> {
    let mut from = i;
    loop {
        let quote = from + memchr(b'"', text.get(from..)?)?;
        let escapes = text[i..quote].iter().rev().take_while(|&&b| b == b'\\').count();
        if escapes % 2 == 0 {
            return Some(quote);
        }
        from = quote + 1;
    }
}

/// What stands at a `<`.
enum Angle {
    /// The annotation of a descriptor: its name without device suffix, and where the text goes on.
    Annotation(Span, usize),
    /// An annotation that does not end. Searching for the end of many of them would take for ever.
    Unclosed,
    /// Something else.
    Other,
}

/// The annotation whose `<` stands at `i`. It follows a number or `AT_FDCWD` and begins with `/` or with a word and a colon.
fn annotation(text: &[u8], i: usize) -> Angle {
    let after_descriptor = i.checked_sub(1).is_some_and(|j| matches!(text[j], b'0'..=b'9' | b'D'));
    let from = i + 1;
    let rest = text.get(from..).filter(|_| after_descriptor).unwrap_or_default();
    let end = match rest.first() {
        Some(b'/') => memchr(b'>', rest),
        Some(b) if b.is_ascii_alphabetic() => {
            let word = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
            match rest[word..] {
                // Addresses in brackets may hold `->`.
                [b':', b'[', ..] => memmem::find(rest, b"]>").map(|n| n + 1),
                [b':', ..] => memchr(b'>', rest),
                _ => return Angle::Other,
            }
        }
        _ => return Angle::Other,
    };
    let Some(end) = end else { return Angle::Unclosed };
    // `</dev/null<char 1:3>>`; a `<` of the path itself is written as an escape.
    match memchr(b'<', &rest[..end]) {
        Some(n) if rest[0] == b'/' && rest.get(end + 1) == Some(&b'>') => {
            Angle::Annotation(Span::new(from, from + n), from + end + 2)
        }
        _ => Angle::Annotation(Span::new(from, from + end), from + end + 1),
    }
}

/// Reads `name(args) = result <duration>` from `at` to the end of the text.
pub(super) fn parse_call(text: &[u8], at: usize) -> Option<Call> {
    let name_end = name_end(text, at)?;
    let args_at = name_end + 1;
    let mut c = Call {
        name: Span::new(at, name_end),
        known: calls::find(&text[at..name_end]),
        args: Span::NONE,
        n_args: 0,
        last: args_at as u32,
        last_but_one: args_at as u32,
        fd: -1,
        annotation: Span::NONE,
        annotates_first: false,
        string: Span::NONE,
        outcome: Outcome::Unknown,
        result_annotation: Span::NONE,
        errno: Span::NONE,
        comment: Span::NONE,
        duration: -1,
    };
    if let Some((n, end)) = digits(text, args_at)
        && matches!(text.get(end), Some(b',' | b')' | b'<' | b' '))
    {
        c.fd = i32::try_from(n).unwrap_or(-1);
    }
    let mut i = args_at;
    let mut depth = 0u32;
    loop {
        i += text.get(i..)?.iter().position(|&b| CLASS[b as usize] != 0)?;
        match CLASS[text[i] as usize] {
            STRING => {
                let end = string_end(text, i + 1)?;
                if !c.string.is_some() {
                    c.string = Span::new(i + 1, end);
                }
                i = end;
            }
            ANGLE => match annotation(text, i) {
                Angle::Annotation(name, next) => {
                    if !c.annotation.is_some() {
                        c.annotation = name;
                        c.annotates_first = c.n_args == 0 && depth == 0;
                    }
                    i = next - 1;
                }
                Angle::Unclosed => return None,
                Angle::Other => {}
            },
            COMMENT if text.get(i + 1) == Some(&b'*') => i += 3 + memmem::find(text.get(i + 2..)?, b"*/")?,
            COMMA if depth == 0 => {
                c.n_args += 1;
                c.last_but_one = c.last;
                c.last = i as u32 + 1;
            }
            OPEN => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return None;
                }
            }
            CLOSE if depth > 0 => depth -= 1,
            CLOSE if text[i] == b')' => break,
            CLOSE => return None,
            _ => {}
        }
        i += 1;
    }
    c.args = Span::new(args_at, i);
    if c.n_args > 0 || !text[args_at..i].trim_ascii().is_empty() {
        c.n_args += 1;
    }
    let equals = skip_blanks(text, i + 1);
    if text.get(equals) != Some(&b'=') {
        return None;
    }
    parse_result(text, skip_blanks(text, equals + 1), &mut c)?;
    Some(c)
}

/// Reads what follows the equals sign.
fn parse_result(text: &[u8], at: usize, c: &mut Call) -> Option<()> {
    let mut i = at;
    match text.get(i..)? {
        [b'?', ..] => i += 1,
        [b'0', b'x', ..] => {
            c.outcome = Outcome::Hex;
            i += 2 + text[i + 2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
        }
        rest => {
            let minus = usize::from(rest.first() == Some(&b'-'));
            let n = rest[minus..].iter().take_while(|b| b.is_ascii_digit()).count();
            let x = parse_u64(&rest[minus..minus + n])?;
            let x = i64::try_from(x).ok()?;
            c.outcome = Outcome::Number(if minus == 1 { -x } else { x });
            i += minus + n;
            if text.get(i) == Some(&b'<') {
                let Angle::Annotation(name, next) = annotation(text, i) else { return None };
                c.result_annotation = name;
                i = next;
            }
        }
    }
    let mut end = text.len();
    if text.last() == Some(&b'>')
        && let Some(open) = memrchr(b'<', &text[i..])
    {
        let open = i + open;
        let inner = &text[open + 1..end - 1];
        if text[..open].ends_with(b" ") {
            if inner.first().is_some_and(u8::is_ascii_digit) {
                let (s, e) = digits(inner, 0)?;
                let (f, e) = fraction(inner, e)?;
                if s > MAX_DURATION_S || e != inner.len() {
                    return None;
                }
                c.duration = s as i64 * NANOS + f;
                end = open;
            } else if inner == b"unavailable" {
                end = open;
            }
        }
    }
    c.comment = Span::new(i, end.max(i));
    let comment = c.comment.of(text);
    if !matches!(comment.first(), None | Some(b' ' | b'(')) {
        return None;
    }
    let words = comment.trim_ascii_start();
    if words.first() == Some(&b'E') && matches!(c.outcome, Outcome::Unknown | Outcome::Number(..0)) {
        let n = words.iter().take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || **b == b'_').count();
        let from = i + (comment.len() - words.len());
        c.errno = Span::new(from, from + n);
    }
    Some(())
}

/// The arguments of a call at the outer level, without surrounding blanks.
pub(super) fn split_args(args: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(args);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = first_comma(text);
        rest = text.get(end + 1..);
        Some(text[..end].trim_ascii())
    })
}

fn first_comma(text: &[u8]) -> usize {
    let mut depth = 0u32;
    let mut i = 0;
    while let Some(&b) = text.get(i) {
        match CLASS[b as usize] {
            STRING => i = string_end(text, i + 1).unwrap_or(text.len()),
            ANGLE => match annotation(text, i) {
                Angle::Annotation(_, next) => i = next - 1,
                Angle::Unclosed => return text.len(),
                Angle::Other => {}
            },
            COMMENT if text.get(i + 1) == Some(&b'*') => {
                i = text.get(i + 2..).and_then(|t| memmem::find(t, b"*/")).map_or(text.len(), |n| i + 3 + n);
            }
            COMMA if depth == 0 => return i,
            OPEN => depth += 1,
            CLOSE => depth = depth.saturating_sub(1),
            _ => {}
        }
        i += 1;
    }
    text.len()
}

/// A descriptor in an argument, with its annotation (empty if there is none).
pub(super) fn descriptor(arg: &[u8]) -> Option<(i32, &[u8])> {
    let (n, end) = digits(arg, 0)?;
    let name = match arg.get(end) {
        Some(b'<') => annotation(arg, end),
        _ => Angle::Other,
    };
    let name = if let Angle::Annotation(s, _) = name { s.of(arg) } else { &[] };
    Some((i32::try_from(n).ok()?, name))
}

/// The descriptors of a list such as `[3<pipe:[7]>, 4<pipe:[7]>]`.
pub(super) fn descriptors(list: &[u8]) -> impl Iterator<Item = (i32, &[u8])> {
    let inner = list.strip_prefix(b"[").and_then(|l| l.strip_suffix(b"]")).unwrap_or_default();
    split_args(inner).filter_map(descriptor)
}

/// The number that a text begins with.
pub(super) fn leading_number(text: &[u8]) -> Option<u64> {
    digits(text, 0).map(|(n, _)| n)
}

/// A message of strace itself at the end of a line: where it begins, and the process if it says that one was attached.
///
/// On a terminal these stand in the middle of a call, followed by a line break; the call goes on in the next line.
fn own_message(text: &[u8]) -> Option<(usize, Option<u32>)> {
    // Only these letters end such a message, and no other line ends in them.
    if !matches!(text.last()?, b'd' | b's' | b']') {
        return None;
    }
    let near = text.len().saturating_sub(MAX_OWN_MESSAGE);
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
    fn results() {
        let outcome = |t: &str| {
            let t = format!("f(1) {t}");
            let c = call(&t);
            (c.outcome, part(&t, c.errno).to_owned(), part(&t, c.result_annotation).to_owned(), c.duration)
        };
        let n = Outcome::Number;
        let of = |o, e: &str, a: &str, d| (o, e.to_owned(), a.to_owned(), d);
        assert_eq!(outcome("   = 3</a b> <1.5>"), of(n(3), "", "/a b", 1_500_000_000));
        assert_eq!(outcome("= 3</a b>"), of(n(3), "", "/a b", -1));
        assert_eq!(outcome("= 3<TCP:[1->2]> <0.1>"), of(n(3), "", "TCP:[1->2]", 100_000_000));
        assert_eq!(outcome("= 3</dev/null<char 1:3>> <0.1>"), of(n(3), "", "/dev/null", 100_000_000));
        assert_eq!(outcome("= -1 ENOENT (No such file) <0.1>"), of(n(-1), "ENOENT", "", 100_000_000));
        assert_eq!(outcome("= ? ERESTARTSYS (To be restarted)"), of(Outcome::Unknown, "ERESTARTSYS", "", -1));
        assert_eq!(outcome("= ? <unavailable>"), of(Outcome::Unknown, "", "", -1));
        assert_eq!(outcome("= 0x8002 (flags O_RDWR) <0.1>"), of(Outcome::Hex, "", "", 100_000_000));
        assert_eq!(outcome("= 1 ([{fd=3, revents=POLLIN}]) <0.1>"), of(n(1), "", "", 100_000_000));
        for t in ["f(1) = 9223372036854775808", "f(1) = 0 <1000000001>", "f(1) =", "f(1)", "f(1) = x", "f(1) = 3</a"] {
            assert!(matches!(parse_line(t.as_bytes()).message, Message::Unparsed), "{t}");
        }
    }

    #[test]
    fn arguments_with_everything_in_them() {
        let t = r#"f({a=[1, 2], b="x, )\\"}, 21<<SHIFT, /* 39 vars, ) */ 7</p\76, q>, g(1, 2), "...) = 3") = 0"#;
        let c = call(t);
        assert_eq!((c.n_args, c.annotates_first, part(t, c.annotation)), (5, false, r"/p\76, q"));
        let args: Vec<_> = split_args(c.args.of(t.as_bytes())).collect();
        assert_eq!((args.len(), args[1], args[3]), (5, &b"21<<SHIFT"[..], &b"g(1, 2)"[..]));
        assert_eq!(c.last_arg_but_one(t.as_bytes()), b"g(1, 2)");
        let unclosed = format!("f({}) = 0", "1</x, 2<a:[, ".repeat(1000));
        assert!(matches!(parse_line(unclosed.as_bytes()).message, Message::Unparsed));
        let deep = format!("f({}{}) = 0", "[".repeat(300), "]".repeat(300));
        assert!(matches!(parse_line(deep.as_bytes()).message, Message::Unparsed));
    }

    #[test]
    fn other_messages() {
        let m = |t: &str| parse_line(t.as_bytes()).message;
        assert!(matches!(m("1 00:00:00 --- SIGSEGV {si_signo=SIGSEGV} ---"), Message::Signal));
        assert!(matches!(m("1 00:00:00 +++ exited with 0 +++"), Message::Exit));
        assert!(matches!(m("1 00:00:00 +++ superseded by execve in pid 77 +++"), Message::Superseded(77)));
        assert!(matches!(m("1 00:00:00 read(3,  <unfinished ...>"), Message::Unfinished(_)));
        assert!(matches!(m("1 00:00:00 <... read resumed>\"\", 1) = 0"), Message::Resumed { again: false, .. }));
        assert!(matches!(
            m("1 00:00:00 <... read resumed> <unfinished ...>) = ?"),
            Message::Resumed { again: false, .. }
        ));
        assert!(matches!(m("1 00:00:00 <... read resumed> <unfinished ...>"), Message::Resumed { again: true, .. }));
        assert!(matches!(m("00:00:00 vfork(strace: Process 78 attached"), Message::Cut(15, Some(78))));
        assert!(matches!(m("strace: Process 78 detached"), Message::Cut(0, None)));
        assert!(matches!(m("strace: Process 78 attached with 3 threads"), Message::Cut(0, Some(78))));
        assert!(matches!(m("strace: [ Process PID=7 runs in 32 bit mode. ]"), Message::Cut(0, None)));
        assert!(matches!(m(""), Message::Blank));
        assert!(matches!(m(" > /usr/lib/libc.so.6(read+0x10) [0x1234]"), Message::Blank));
    }

    #[test]
    fn lists_of_descriptors() {
        let found: Vec<_> = descriptors(b"[7<socket:[74105]>, 8]").collect();
        assert_eq!(found, [(7, &b"socket:[74105]"[..]), (8, &b""[..])]);
        assert_eq!(descriptors(b"0x7ffe").count(), 0);
    }
}
