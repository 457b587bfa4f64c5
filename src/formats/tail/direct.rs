//! Messages that come whole: chunks of TMIO, and objects with arrays of rates and times.

use serde::Deserialize;

use super::super::format::Format;
use super::super::gekkofs::{self, ClientClocks};
use super::super::msgpack::{MsgPack, Token, is_map};
use super::super::options::ReadOptions;
use super::super::source::Source;
use super::super::tmio::begins_object;
use super::super::{collect, custom, tmio};
use super::message::Message;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{Data, Interval, Op, Trace, is_amount, is_time};

/// Reads one message as it comes over a socket: a map with the keys `b` (rates in bytes per second), `ts`, `te` (starts and ends in
/// seconds), and, if it has them, `ranks`, `job`, `op` (`read` or `write`; else `write`), as MessagePack or JSON; or chunks of TMIO
/// as it writes them; or one record as JSON; or a flush of a GekkoFS client, whose clock the `clients` remember.
///
/// # Errors
/// [`ErrorKind::Malformed`] and what the readers of the formats say.
pub fn decode(message: &[u8], clients: &mut ClientClocks) -> Result<Message> {
    match message.first() {
        Some(_) if gekkofs::begins_flush(message) => {
            Ok(Message { transfers: gekkofs::transfers(message, clients)?, ..Message::default() })
        }
        Some(&tag) if is_map(tag) => direct(Direct::of_packed(message)?),
        Some(_) if begins_object(message) => read(message, "tmio"),
        Some(_) if message.trim_ascii_start().starts_with(b"{") => {
            let Some(record) = custom::transfer_of(message) else { return read(message, "tmio") };
            let transfer = record.map_err(|what| Error::new(ErrorKind::Malformed, what))?;
            Ok(Message { transfers: transfer.into_iter().collect(), ..Message::default() })
        }
        Some(b) => Err(Error::new(ErrorKind::Malformed, format!("a message that begins with byte {b:#04x}"))
            .expected("a map with b, ts, te, or chunks of TMIO")),
        None => Err(Error::new(ErrorKind::Malformed, "an empty message")),
    }
}

/// The direct form.
#[derive(Default, Deserialize)]
struct Direct {
    b: Vec<f64>,
    ts: Vec<f64>,
    te: Vec<f64>,
    #[serde(default)]
    ranks: Option<u64>,
    #[serde(default, deserialize_with = "text_or_number")]
    job: Option<String>,
    #[serde(default)]
    op: Option<String>,
}

/// A text, or another value as text.
fn text_or_number<'d, D: serde::Deserializer<'d>>(value: D) -> std::result::Result<Option<String>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(value)?;
    Ok(value.map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned)))
}

impl Direct {
    /// The direct form as a map of MessagePack; other keys are passed over.
    fn of_packed(message: &[u8]) -> Result<Direct> {
        let mut m = MsgPack::of_message(message)?;
        let mut direct = Direct::default();
        let mut found = 0u8;
        for _ in 0..m.values("a map")? / 2 {
            match m.text(u64::MAX, "a key")? {
                b"b" => found |= numbers(&mut m, &mut direct.b).map(|()| 1)?,
                b"ts" => found |= numbers(&mut m, &mut direct.ts).map(|()| 2)?,
                b"te" => found |= numbers(&mut m, &mut direct.te).map(|()| 4)?,
                b"ranks" => direct.ranks = Some(m.number()?).filter(|x| (0.0..=1e12).contains(x)).map(|x| x as u64),
                b"job" => direct.job = text(&mut m)?,
                b"op" => direct.op = text(&mut m)?,
                _ => m.skip(1)?,
            }
        }
        match (found, m.peek()?) {
            (7, None) => Ok(direct),
            (7, Some(_)) => Err(m.unexpected("the end of the message")),
            _ => Err(Error::new(ErrorKind::Malformed, "no map with arrays b, ts, te")),
        }
    }
}

/// The array of a key, which takes the place of one before.
fn numbers(m: &mut MsgPack, out: &mut Vec<f64>) -> Result<()> {
    out.clear();
    m.numbers(out)
}

/// A text, or a number as text.
fn text(m: &mut MsgPack) -> Result<Option<String>> {
    const EXPECTED: &str = "a text or a number";
    let at = m.offset();
    Ok(match m.token(EXPECTED)? {
        Token::Bytes(n) => Some(String::from_utf8_lossy(m.bytes(n)?).into_owned()),
        Token::Number(x) => x.is_finite().then(|| x.to_string()),
        other => return Err(other.unexpected(at, EXPECTED)),
    })
}

/// Reads whole values.
pub(super) fn read(data: &[u8], format: &'static str) -> Result<Message> {
    if data.trim_ascii_start().starts_with(b"{") && is_direct(data) {
        let no_arrays = |e| Error::new(ErrorKind::Malformed, format!("no object with arrays b, ts, te: {e}"));
        return direct(serde_json::from_slice(data).map_err(no_arrays)?);
    }
    let source = Source::from_bytes("message", data);
    let format: &dyn Format = if format == "tmio" { &tmio::Tmio } else { &custom::Custom };
    Ok(message_of(collect(format, &[source], &ReadOptions::default())?))
}

/// True if an object has the keys of the direct form.
fn is_direct(data: &[u8]) -> bool {
    let names = super::super::json::member_names(data, 16);
    ["b", "ts", "te"].iter().all(|k| names.iter().any(|(depth, n)| *depth == 1 && *n == k.as_bytes()))
}

fn direct(d: Direct) -> Result<Message> {
    let (n, starts, ends) = (d.b.len(), d.ts.len(), d.te.len());
    if n != starts || n != ends {
        return Err(Error::new(ErrorKind::Malformed, format!("{n} rates, {starts} starts and {ends} ends"))
            .expected("arrays of equal length"));
    }
    let op = match d.op.as_deref() {
        None | Some("write") => Op::Write,
        Some("read") => Op::Read,
        Some(other) => {
            let found = format!("op `{}`", String::from_utf8_lossy(&other.as_bytes()[..other.len().min(40)]));
            return Err(Error::new(ErrorKind::Malformed, found).expected("read or write"));
        }
    };
    let transfers = d.b.iter().zip(d.ts.iter().zip(&d.te));
    let transfers: Vec<Interval> = transfers
        .map(|(&rate, (&start, &end))| Interval { op, start, end, bytes: rate * (end - start), ..Interval::default() })
        .collect();
    let sound = |t: &Interval| t.end >= t.start && is_time(t.start) && is_time(t.end) && is_amount(t.bytes);
    if let Some(t) = transfers.iter().find(|t| !sound(t)) {
        let found = format!("{} bytes from {} to {} s", t.bytes, t.start, t.end);
        return Err(Error::new(ErrorKind::Malformed, found).expected("times in order, within 1e12 s of 0"));
    }
    Ok(Message { job: d.job, ranks: d.ranks, transfers })
}

/// The transfers of a trace.
fn message_of(trace: Trace) -> Message {
    let origin = trace.origin_s as f64;
    let mut transfers: Vec<Interval> = match &trace.data {
        Data::Requests(rows) => rows.iter().map(Interval::from).collect(),
        Data::Intervals(rows) => rows.iter().collect(),
    };
    transfers.retain(|t| t.op.moves_bytes() && !trace.files.is_system(t.file));
    for t in &mut transfers {
        (t.start, t.end) = (origin + t.start, origin + t.end);
    }
    Message { job: None, ranks: trace.job.and_then(|j| j.ranks), transfers }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(message: &[u8]) -> Result<Message> {
        super::decode(message, &mut ClientClocks::default())
    }

    #[test]
    fn the_direct_form_in_both_encodings() {
        // {"ranks": 4, "b": [10, 20.5], "ts": [0, 2], "te": [1, 4], "job": "j1"}
        let packed = [
            &b"\x85\xa5ranks\x04\xa1b\x92\x0a\xcb"[..],
            &20.5f64.to_be_bytes(),
            b"\xa2ts\x92\x00\x02\xa2te\x92\x01\x04\xa3job\xa2j1",
        ]
        .concat();
        let text = br#"{"ranks": 4, "b": [10, 20.5], "ts": [0, 2], "te": [1, 4], "job": "j1"}"#;
        let m = decode(&packed).unwrap();
        assert_eq!(m, decode(text).unwrap());
        assert_eq!((m.ranks, m.job.as_deref()), (Some(4), Some("j1")));
        let t: Vec<_> = m.transfers.iter().map(|t| (t.start, t.end, t.bytes)).collect();
        assert_eq!(t, [(0.0, 1.0, 10.0), (2.0, 4.0, 41.0)]);
        assert!(m.transfers.iter().all(|t| t.op == Op::Write));
        for n in 0..packed.len() {
            assert!(decode(&packed[..n]).is_err(), "cut at {n}");
        }
        for bad in [
            &b""[..],
            b"\x81\xa1b\x91\x01",
            br#"{"b":[1],"ts":[],"te":[2]}"#,
            b"hello",
            b"\xdf\xff\xff\xff\xff\xa1b\xdd\xff\xff\xff\xff",
        ] {
            assert!(decode(bad).is_err(), "{bad:?}");
        }
    }
}
