//! TMIO's MessagePack.

use super::super::phases::Mode;
use super::super::write::{Sink, Writer, Written};
use super::chunks::{Chunk, each_chunk};
use crate::error::Result;
use crate::record::{Op, Rows};

/// The writer: chunks of five arrays, the phases with bytes and all digits of their times.
pub struct MessagePack;

/// The sections of a chunk in their order.
const SECTIONS: [(&str, Mode); 4] = [
    ("read_async", Mode { op: Op::Read, asynchronous: true }),
    ("read_sync", Mode { op: Op::Read, asynchronous: false }),
    ("write_async", Mode { op: Op::Write, asynchronous: true }),
    ("write_sync", Mode { op: Op::Write, asynchronous: false }),
];

impl Writer for MessagePack {
    fn name(&self) -> &'static str {
        "msgpack"
    }

    fn ending(&self) -> &'static str {
        ".msgpack"
    }

    fn write(&self, rows: &dyn Rows, sink: &mut dyn Sink) -> Result<Written> {
        let mut out = Vec::new();
        each_chunk(rows, true, |chunk| {
            out.clear();
            pack_chunk(&mut out, chunk, rows.ranks());
            sink.append("", &out)
        })
    }
}

fn pack_chunk(out: &mut Vec<u8>, chunk: &Chunk, ranks: u64) {
    for (name, mode) in SECTIONS {
        let s = chunk.section(mode);
        array(out, 14);
        text(out, name);
        for flag in [mode.asynchronous, mode.op == Op::Write] {
            out.push(0xc2 | u8::from(flag));
        }
        for x in [s.bytes(), s.most_bytes_of_a_rank(), s.most_bytes_of_a_phase()] {
            number(out, x);
        }
        // A phase is one operation here.
        let (phases, most) = (s.phases.len() as u64, s.most_phases_of_a_rank());
        for n in [most, phases, u64::from(phases > 0), most, phases, s.ranks(), ranks] {
            unsigned(out, n);
        }
        array(out, s.phases.len() as u32);
        for p in &s.phases {
            array(out, 9);
            number(out, p.bytes);
            float(out, p.start);
            float(out, p.end);
            // Nothing is required of blocking calls.
            float(out, if mode.asynchronous { p.end } else { 0.0 });
            float(out, p.rate());
            float(out, p.rate());
            float(out, 0.0);
            float(out, 0.0);
            unsigned(out, 1);
        }
    }
    array(out, 19);
    text(out, "io_time");
    let seconds = |op, asynchronous| chunk.section(Mode { op, asynchronous }).seconds();
    let (sr, sw) = (seconds(Op::Read, false), seconds(Op::Write, false));
    let (ara, awa) = (seconds(Op::Read, true), seconds(Op::Write, true));
    for t in [0.0, sr, sw, ara, 0.0, 0.0, awa, 0.0, 0.0, sr + sw + ara + awa] {
        float(out, t);
    }
    (0..8).for_each(|_| float(out, 0.0));
}

fn array(out: &mut Vec<u8>, n: u32) {
    match n {
        0..16 => out.push(0x90 | n as u8),
        16..0x1_0000 => {
            out.push(0xdc);
            out.extend((n as u16).to_be_bytes());
        }
        _ => {
            out.push(0xdd);
            out.extend(n.to_be_bytes());
        }
    }
}

/// Text of less than 32 bytes.
fn text(out: &mut Vec<u8>, t: &str) {
    out.push(0xa0 | t.len() as u8);
    out.extend_from_slice(t.as_bytes());
}

fn unsigned(out: &mut Vec<u8>, n: u64) {
    match n {
        0..128 => out.push(n as u8),
        128..0x1_0000_0000 => {
            out.push(0xce);
            out.extend((n as u32).to_be_bytes());
        }
        _ => {
            out.push(0xcf);
            out.extend(n.to_be_bytes());
        }
    }
}

fn float(out: &mut Vec<u8>, x: f64) {
    out.push(0xcb);
    out.extend(x.to_be_bytes());
}

/// Bytes: a whole number where it is one.
fn number(out: &mut Vec<u8>, x: f64) {
    if x.fract() == 0.0 && (0.0..2f64.powi(63)).contains(&x) { unsigned(out, x as u64) } else { float(out, x) }
}
