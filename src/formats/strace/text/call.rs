//! One complete call: `name(args) = result <duration>`, as spans of its text.

use memchr::{memchr, memmem, memrchr};

use super::arguments::{ANGLE, Angle, CLASS, CLOSE, COMMA, COMMENT, OPEN, STRING, annotation, string_end, value_of};
use super::scan::{NANOS, Span, digits, fraction, skip_blanks};
use crate::formats::number::parse_u64;
use crate::formats::strace::calls::{self, Spec};

/// Deepest nesting of brackets in arguments.
const MAX_DEPTH: u32 = 256;
/// Longest duration of a call, in seconds; more is damage.
const MAX_DURATION_S: u64 = 1_000_000_000;

/// The result: the text after the equals sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Outcome {
    /// A decimal number.
    Number(i64),
    /// A hexadecimal number: an address or flags.
    Hex,
    /// `?`: the call did not return.
    Unknown,
}

/// A complete call, as spans of the line it was read from.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Call {
    /// Name of the system call.
    pub(in super::super) name: Span,
    /// Number of the name in [`calls`].
    pub(in super::super) known: u8,
    /// All arguments, without the outer parentheses.
    pub(in super::super) args: Span,
    /// Number of arguments.
    pub(in super::super) n_args: u32,
    /// Where the last argument begins.
    last: u32,
    /// Where the last but one argument begins.
    last_but_one: u32,
    /// The first argument as a number, or -1: the descriptor of most calls.
    pub(in super::super) fd: i32,
    /// The first annotated descriptor, wherever it stands, without `<` and `>`.
    pub(in super::super) annotation: Span,
    /// The annotation is that of the first argument.
    pub(in super::super) annotates_first: bool,
    /// The first string, without quotes.
    pub(in super::super) string: Span,
    /// Its result.
    pub(in super::super) outcome: Outcome,
    /// Annotation of the returned descriptor, without `<` and `>`.
    pub(in super::super) result_annotation: Span,
    /// Symbolic error, `ENOENT`, also of an interrupted call.
    pub(in super::super) errno: Span,
    /// Everything after the result up to the duration.
    pub(in super::super) comment: Span,
    /// Duration in nanoseconds, -1 if not recorded.
    pub(in super::super) duration: i64,
}

impl Call {
    /// The entry of the table of calls for this name.
    pub(in super::super) fn spec(&self) -> Option<&'static Spec> {
        calls::spec(self.known)
    }

    /// The last argument.
    pub(in super::super) fn last_arg<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        value_of(text.get(self.last as usize..self.args.end()).unwrap_or_default().trim_ascii())
    }

    /// The last argument but one.
    pub(in super::super) fn last_arg_but_one<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let arg = text.get(self.last_but_one as usize..(self.last as usize).saturating_sub(1)).unwrap_or_default();
        value_of(arg.trim_ascii())
    }

    /// The text after the first string: the flags of an open.
    pub(in super::super) fn after_string<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        if self.string.is_some() {
            text.get(self.string.end()..self.args.end()).unwrap_or_default()
        } else {
            self.args.of(text)
        }
    }

    /// The number of bytes it moved, if it is a transfer that succeeded.
    pub(in super::super) fn bytes(&self) -> Option<u64> {
        match (self.spec(), self.outcome) {
            (Some(s), Outcome::Number(n)) if s.action.is_transfer() => u64::try_from(n).ok(),
            _ => None,
        }
    }

    /// True if it returned without an error.
    pub(in super::super) fn succeeded(&self) -> bool {
        !self.errno.is_some() && self.outcome != Outcome::Unknown
    }
}

/// Where the name that begins at `at` ends, if a parenthesis follows.
pub(super) fn name_end(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let n = rest.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))?;
    let valid = (1..=64).contains(&n) && !rest[0].is_ascii_digit() && rest[n] == b'(';
    valid.then_some(at + n)
}

/// The name of the call that a text begins with.
pub(in super::super) fn call_name(text: &[u8]) -> Option<&[u8]> {
    Some(&text[..name_end(text, 0)?])
}

/// Reads `name(args) = result <duration>` from `at` to the end of the text.
pub(in super::super) fn parse_call(text: &[u8], at: usize) -> Option<Call> {
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
    let first_at = text.len() - value_of(&text[args_at..]).len();
    if let Some((n, end)) = digits(text, first_at)
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
                i = match annotation(text, i) {
                    Angle::Annotation(name, next) => {
                        c.result_annotation = name;
                        next
                    }
                    // the name of a process, by `-Y`
                    Angle::Other => i + 1 + memchr(b'>', &text[i..])?,
                    Angle::Unclosed => return None,
                };
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

#[cfg(test)]
mod tests {
    use super::super::arguments::split_args;
    use super::*;

    fn call(text: &str) -> Call {
        parse_call(text.as_bytes(), 0).unwrap_or_else(|| panic!("{text}"))
    }

    fn part(text: &str, s: Span) -> &str {
        std::str::from_utf8(s.of(text.as_bytes())).unwrap()
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
        assert_eq!(outcome("= 13478<bash> <0.1>"), of(n(13478), "", "", 100_000_000));
        assert_eq!(outcome("= -1 ENOENT (No such file) <0.1>"), of(n(-1), "ENOENT", "", 100_000_000));
        assert_eq!(outcome("= ? ERESTARTSYS (To be restarted)"), of(Outcome::Unknown, "ERESTARTSYS", "", -1));
        assert_eq!(outcome("= ? <unavailable>"), of(Outcome::Unknown, "", "", -1));
        assert_eq!(outcome("= 0x8002 (flags O_RDWR) <0.1>"), of(Outcome::Hex, "", "", 100_000_000));
        assert_eq!(outcome("= 1 ([{fd=3, revents=POLLIN}]) <0.1>"), of(n(1), "", "", 100_000_000));
        for t in ["f(1) = 9223372036854775808", "f(1) = 0 <1000000001>", "f(1) =", "f(1)", "f(1) = x", "f(1) = 3</a"] {
            assert!(parse_call(t.as_bytes(), 0).is_none(), "{t}");
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
        assert!(parse_call(unclosed.as_bytes(), 0).is_none());
        let deep = format!("f({}{}) = 0", "[".repeat(300), "]".repeat(300));
        assert!(parse_call(deep.as_bytes(), 0).is_none());
    }
}
