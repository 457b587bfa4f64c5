//! The arguments of an event.

use crate::formats::event;
use crate::formats::json::Scan;
use crate::formats::number::{parse_f64, parse_u64};

/// An event whose arguments are looked at only if it is of use.
pub(super) type Event<'l> = event::Event<'l>;

impl<'l> Event<'l> {
    /// True for an event with what TAU writes beside the arguments.
    pub(super) fn is_of_tau(&self) -> bool {
        !self.returned.is_empty() || !self.path.is_empty()
    }

    /// Calls `each` with the members of `args`.
    pub(super) fn each_arg(&self, mut each: impl FnMut(&'l [u8], &'l [u8])) {
        // Brackets balance; what else is wrong inside costs the members after it.
        let _ = Scan::new(self.args).members(|scan, key| {
            each(key, scan.value()?);
            Ok(())
        });
    }

    /// The member `name` of `args`, which is that of a process or thread in metadata.
    pub(super) fn arg_name(&self) -> &'l [u8] {
        let mut name = &b""[..];
        self.each_arg(|key, value| {
            if key == b"name" {
                name = value;
            }
        });
        name
    }
}

/// Keys of a number of bytes, the best first.
const BYTES: [&[u8]; 7] = [b"ret", b"bytes", b"size", b"count", b"nbytes", b"length", b"Bytes"];
/// Keys of a path, the best first.
const PATHS: [&[u8]; 5] = [b"fname", b"path", b"file", b"filename", b"file_name"];

/// Facts about a transfer from `args`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Details<'l> {
    pub amount: Amount,
    pub path: &'l [u8],
    pub offset: Option<u64>,
    /// The mode of a stream says that writes go to its end.
    pub appends: bool,
}

/// Bytes of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Amount {
    /// It does not say.
    #[default]
    Unknown,
    Bytes(u64),
    /// A negative number.
    Failed,
}

impl Amount {
    fn of(text: &[u8]) -> Amount {
        match parse_u64(text) {
            // a negative number that was taken for one without sign
            Some(bytes) if bytes > i64::MAX.unsigned_abs() => return Amount::Failed,
            Some(bytes) => return Amount::Bytes(bytes),
            None => {}
        }
        match parse_f64(text) {
            Some(x) if x < 0.0 => Amount::Failed,
            Some(x) if x < 2f64.powi(63) => Amount::Bytes(x.round() as u64),
            _ => Amount::Unknown,
        }
    }
}

impl<'l> Details<'l> {
    /// `bytes_key`: the key of the bytes, if the user names it.
    pub(super) fn of(event: &Event<'l>, bytes_key: Option<&str>) -> Details<'l> {
        let mut details = Details { path: event.path, ..Details::default() };
        let (mut best_bytes, mut best_path) = (usize::MAX, usize::MAX);
        // `fread` and `fwrite` count items of a size
        let mut items = (None, None);
        if bytes_key.is_none() && Amount::of(event.returned) != Amount::Unknown {
            (details.amount, best_bytes) = (Amount::of(event.returned), 0);
        }
        event.each_arg(|key, value| {
            match key {
                b"size" => items.0 = parse_u64(value),
                b"nmemb" => items.1 = parse_u64(value),
                b"mode" => details.appends = value.starts_with(b"a"),
                _ => {}
            }
            let place = match bytes_key {
                Some(named) => (named.as_bytes() == key).then_some(0),
                None => BYTES.iter().position(|k| *k == key),
            };
            if let Some(place) = place.filter(|p| *p < best_bytes) {
                let amount = Amount::of(value);
                if amount != Amount::Unknown {
                    (details.amount, best_bytes) = (amount, place);
                }
            }
            if let Some(place) = PATHS.iter().position(|k| *k == key).filter(|p| *p < best_path) {
                (details.path, best_path) = (value, place);
            }
            if key == b"offset" {
                details.offset = parse_u64(value);
            }
        });
        if let (None, (Some(size), Some(asked))) = (bytes_key, items) {
            details.amount = match details.amount {
                Amount::Bytes(moved) if best_bytes == 0 => Amount::Bytes(moved.saturating_mul(size)),
                Amount::Failed => Amount::Failed,
                _ => Amount::Bytes(asked.saturating_mul(size)),
            };
        }
        details
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_number_of_bytes_is_taken() {
        let amount = |args: &str, key: Option<&str>| {
            let text = format!("{{\"name\":\"read\",\"args\":{args}}},");
            let (event, n) = Event::parse(text.as_bytes()).unwrap();
            assert_eq!(n, text.len() - 1);
            Details::of(&event, key).amount
        };
        assert_eq!(amount(r#"{"size":7,"ret":"5"}"#, None), Amount::Bytes(5));
        assert_eq!(amount(r#"{"ret":-1,"size":7}"#, None), Amount::Failed);
        assert_eq!(amount(r#"{"bytes":"all","length":4.0e3}"#, None), Amount::Bytes(4000));
        assert_eq!(amount(r#"{"x":[1,{"ret":3}],"n":9}"#, Some("n")), Amount::Bytes(9));
        assert_eq!(amount(r#"{"ret":3}"#, Some("n")), Amount::Unknown);
        assert_eq!(amount("{}", None), Amount::Unknown);
        assert_eq!(amount(r#"{"size":8,"nmemb":3}"#, None), Amount::Bytes(24));
        assert_eq!(amount(r#"{"size":8,"nmemb":3,"ret":2}"#, None), Amount::Bytes(16));
        assert_eq!(amount(r#"{"ret":18446744073709551615}"#, None), Amount::Failed);
    }

    #[test]
    fn what_stands_beside_the_arguments_is_read() {
        let text = br#"{"name":"fwrite","args":{"size":4,"nmemb":9,"buf": 0x7ff},"pathname":"a.log","return":7}"#;
        let details = Details::of(&Event::parse(text).unwrap().0, None);
        assert_eq!((details.amount, details.path), (Amount::Bytes(28), &b"a.log"[..]));
    }
}
