//! TMIO's JSON Lines.

use super::super::digits::{seconds, whole};
use super::super::phases::Mode;
use super::super::write::{Sink, Writer, Written};
use super::chunks::{Chunk, Phase, Section, each_chunk};
use crate::error::Result;
use crate::record::{Op, Rows};

/// The writer: chunks of seven lines, one a section. Rates have all digits, so that rate times duration gives the bytes.
pub struct JsonLines;

impl Writer for JsonLines {
    fn name(&self) -> &'static str {
        "tmio"
    }

    fn ending(&self) -> &'static str {
        ".tmio.jsonl"
    }

    fn write(&self, rows: &dyn Rows, sink: &mut dyn Sink) -> Result<Written> {
        let mut out = Vec::new();
        each_chunk(rows, false, |chunk| {
            out.clear();
            chunk_lines(&mut out, chunk, rows.ranks());
            sink.append("", &out)
        })
    }
}

fn chunk_lines(out: &mut Vec<u8>, chunk: &Chunk, ranks: u64) {
    let empty = Section::default();
    let of = |op, asynchronous| chunk.section(Mode { op, asynchronous });
    for (name, s) in [
        ("read_sync", of(Op::Read, false)),
        ("read_async_t", of(Op::Read, true)),
        // The bandwidth that asynchronous calls would have needed is not known.
        ("read_async_b", &empty),
        ("write_async_t", of(Op::Write, true)),
        ("write_async_b", &empty),
        ("write_sync", of(Op::Write, false)),
    ] {
        section(out, name, s);
    }
    let spent = |op, asynchronous| of(op, asynchronous).seconds();
    let (sr, sw) = (spent(Op::Read, false), spent(Op::Write, false));
    let (ara, awa) = (spent(Op::Read, true), spent(Op::Write, true));
    out.extend_from_slice(b"\t{\"io_time\": {");
    for (name, t) in [
        ("delta_t_agg", 0.0),
        ("delta_t_agg_io", sr + sw + ara + awa),
        ("delta_t_sr", sr),
        ("delta_t_ara", ara),
        ("delta_t_arr", 0.0),
        ("delta_t_ar_lost", 0.0),
        ("delta_t_sw", sw),
        ("delta_t_awa", awa),
        ("delta_t_awr", 0.0),
        ("delta_t_aw_lost", 0.0),
        ("delta_t_overhead", 0.0),
        ("delta_t_rank0", 0.0),
        ("delta_t_rank0_app", 0.0),
    ] {
        member(out, name);
        seconds(out, t, 0);
        out.extend_from_slice(b", ");
    }
    out.extend_from_slice(b"\"number_of_ranks\": ");
    whole(out, ranks);
    out.extend_from_slice(b"}}\n");
}

fn section(out: &mut Vec<u8>, name: &str, s: &Section) {
    out.extend_from_slice(b"\t{");
    member(out, name);
    out.push(b'{');
    let (phases, most) = (s.phases.len() as u64, s.most_phases_of_a_rank());
    for (name, x) in [
        ("total_bytes", s.bytes()),
        ("max_bytes_per_rank", s.most_bytes_of_a_rank()),
        ("max_bytes_per_phase", s.most_bytes_of_a_phase()),
    ] {
        member(out, name);
        seconds(out, x, 0);
        out.extend_from_slice(b", ");
    }
    for (name, n) in [
        ("max_io_phases_per_rank", most),
        ("total_io_phases", phases),
        ("max_io_ops_in_phase", u64::from(phases > 0)),
        ("max_io_ops_per_rank", most),
        ("total_io_ops", phases),
        ("number_of_ranks", s.ranks()),
    ] {
        member(out, name);
        whole(out, n);
        out.extend_from_slice(b", ");
    }
    out.extend_from_slice(b"\"bandwidth\": {");
    for (name, x) in statistics(&s.phases) {
        member(out, name);
        seconds(out, x, 0);
        out.extend_from_slice(b", ");
    }
    // One request a phase: the sum of its rates is their mean.
    series(out, "b_rank_avr", &s.phases, exact_rate);
    out.extend_from_slice(b", ");
    series(out, "b_rank_sum", &s.phases, exact_rate);
    out.extend_from_slice(b", ");
    series(out, "t_rank_s", &s.phases, |p| p.start);
    out.extend_from_slice(b", ");
    series(out, "t_rank_e", &s.phases, |p| p.end);
    out.extend_from_slice(b"}}}\n");
}

fn series(out: &mut Vec<u8>, name: &str, phases: &[Phase], value: impl Fn(&Phase) -> f64) {
    member(out, name);
    out.push(b'[');
    for (i, p) in phases.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        seconds(out, value(p), 0);
    }
    out.push(b']');
}

fn member(out: &mut Vec<u8>, name: &str) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\": ");
}

/// The rate that times the duration gives the bytes, if one of the nearest three does.
fn exact_rate(p: &Phase) -> f64 {
    let (rate, duration) = (p.rate(), p.end - p.start);
    [rate, rate.next_up(), rate.next_down()].into_iter().find(|r| r * duration == p.bytes).unwrap_or(rate)
}

/// Means and extremes of the rates of the phases.
fn statistics(phases: &[Phase]) -> [(&'static str, f64); 6] {
    let mut rates: Vec<f64> = phases.iter().map(Phase::rate).collect();
    rates.sort_unstable_by(f64::total_cmp);
    let n = rates.len() as f64;
    let (bytes, seconds) = phases.iter().fold((0.0, 0.0), |(b, t), p| (b + p.bytes, t + (p.end - p.start)));
    let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
    [
        ("weighted_harmonic_mean", finite(bytes / seconds)),
        ("harmonic_mean", finite(n / rates.iter().map(|r| 1.0 / r).sum::<f64>())),
        ("arithmetic_mean", finite(rates.iter().sum::<f64>() / n)),
        ("median", rates.get(rates.len() / 2).copied().unwrap_or(0.0)),
        ("max", rates.last().copied().unwrap_or(0.0)),
        ("min", rates.first().copied().unwrap_or(0.0)),
    ]
}
