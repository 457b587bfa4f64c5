//! TMIO files: facts of real traces, hand-made edge cases, damage.

use common::shared;
use std::fmt::Write as _;
use std::io::Write as _;

use super::text::{codes, parse, parse_as, torture};
use iophase::ErrorKind;
use iophase::formats::{ReadOptions, Sniff, Source, find, read};
use iophase::record::{Data, Intervals, Op, Timing, Trace};

/// Bytes, start, end of a phase.
type Phase = (u64, f64, f64);

fn rows(t: &Trace) -> &Intervals {
    match &t.data {
        Data::Intervals(i) => i,
        Data::Requests(_) => panic!("requests"),
    }
}

/// JSON sections as TMIO writes them; `line` for JSON Lines.
fn json(sections: &[(&str, &[Phase])], line: bool) -> String {
    let mut out = String::new();
    for (i, (name, phases)) in sections.iter().enumerate() {
        let series = |f: &dyn Fn(&Phase) -> f64| {
            phases.iter().map(|p| format!("{:?}", f(p))).collect::<Vec<_>>().join(if line {
                ", "
            } else {
                ",\n\t\t\t "
            })
        };
        let rate = series(&|&(b, s, e)| b as f64 / (e - s));
        let (s, e) = (series(&|p| p.1), series(&|p| p.2));
        let total: u64 = phases.iter().map(|p| p.0).sum();
        let section = format!(
            "\"{name}\":{{\"total_bytes\": {:.2e},\"max_bytes_per_rank\": 0.00e+00,\"max_io_phases_per_rank\": 3,\"total_io_ops\": {},\
             \"number_of_ranks\": 2,\"bandwidth\": {{\"median\": -nan,\"max\": inf,\"b_rank_avr\": [{rate}],\"b_rank_sum\": [{rate}],\
             \"t_rank_s\": [{s}],\"t_rank_e\": [{e}],\"b_ind\": [{rate}],\"t_ind_s\": [{s}],\"t_ind_e\": [{e}]}}}}",
            total as f64,
            2 * phases.len()
        );
        match line {
            true => writeln!(out, "\t{{{section}}}").unwrap(),
            false => write!(out, "{}{section}", if i == 0 { "{\n\t" } else { ",\n\n\t" }).unwrap(),
        }
    }
    let times = "\"io_time\":{\"delta_t_agg\": 1.00e+01,\"delta_t_rank0\": 5.50e+00}";
    match line {
        true => writeln!(out, "\t{{{times}}}").unwrap(),
        false => writeln!(out, ",\n\n\t{times}\n}}").unwrap(),
    }
    out
}

fn pack_number(out: &mut Vec<u8>, x: f64) {
    // As the packer of TMIO: integral values become integers.
    match x {
        x if x.fract() == 0.0 && (0.0..128.0).contains(&x) => out.push(x as u8),
        x if x.fract() == 0.0 && (0.0..4e9).contains(&x) => {
            out.push(0xce);
            out.extend((x as u32).to_be_bytes());
        }
        x => {
            out.push(0xcb);
            out.extend(x.to_be_bytes());
        }
    }
}

fn pack_text(out: &mut Vec<u8>, text: &str) {
    out.push(0xa0 | text.len() as u8);
    out.extend(text.as_bytes());
}

/// A chunk of MessagePack. `rates` maps a phase to its mean rate.
fn msgpack(sections: &[(&str, &[Phase])], rate: impl Fn(&Phase) -> f64) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, phases) in sections {
        out.push(0x9e);
        pack_text(&mut out, name);
        out.push(0xc2 + u8::from(name.contains("async")));
        out.push(0xc2 + u8::from(name.contains("write")));
        let total = phases.iter().map(|p| p.0).sum::<u64>() as f64;
        for x in [total, 0.0, 0.0, 0.0, phases.len() as f64, 2.0, 0.0, 2.0 * phases.len() as f64, 2.0, 3.0] {
            pack_number(&mut out, x);
        }
        out.push(0xdc);
        out.extend((phases.len() as u16).to_be_bytes());
        for p in *phases {
            out.push(0x99);
            let r = rate(p);
            for x in [p.0 as f64, p.1, p.2, 0.0, r, r, 0.0, 0.0, 2.0] {
                pack_number(&mut out, x);
            }
        }
    }
    out.extend([0xdc, 0, 19]);
    pack_text(&mut out, "io_time");
    for i in 1..18 {
        pack_number(&mut out, if i == 11 { 5.5 } else { 0.0 });
    }
    pack_number(&mut out, f64::NAN);
    out
}

const READS: &[Phase] = &[(1 << 20, 0.5, 0.75), (1 << 20, 3.125, 3.5)];
const WRITES: &[Phase] = &[(65536, 1.0625, 1.09375), (65536, 2.5, 2.5625), (3 << 20, 1.25, 2.0)];

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * a.abs().max(b.abs()))
}

#[test]
fn one_run_gives_the_same_rows_from_all_three_encodings() {
    let sections = [("read_sync", READS), ("write_sync", WRITES)];
    let from_json = parse(json(&sections, false)).unwrap();
    let from_lines = parse(json(&sections, true)).unwrap();
    let from_msgpack = parse(msgpack(&sections, |&(b, s, e)| b as f64 / (e - s))).unwrap();
    let all: Vec<Phase> = READS.iter().chain(WRITES).copied().collect();
    for t in [&from_json, &from_lines, &from_msgpack] {
        let r = rows(t);
        assert_eq!((t.format, t.timing), ("tmio", Timing::Phase));
        assert_eq!(t.warnings, [], "{:?}", t.warnings);
        assert_eq!(r.start, all.iter().map(|p| p.1).collect::<Vec<_>>());
        assert_eq!(r.end, all.iter().map(|p| p.2).collect::<Vec<_>>());
        assert!(close(&r.bytes, &all.iter().map(|p| p.0 as f64).collect::<Vec<_>>()), "{:?}", r.bytes);
        assert_eq!(r.op.iter().collect::<Vec<_>>(), [Op::Read, Op::Read, Op::Write, Op::Write, Op::Write]);
        assert_eq!(r.asynchronous.as_constant(), Some(false));
        let s = &t.layers[0];
        assert_eq!((s.layer.as_str(), s.records, s.reads, s.writes), ("phases", 5, Some(4), Some(6)));
        assert_eq!((s.bytes_read, s.bytes_written), (2 << 20, (3 << 20) + 131072));
        assert_eq!((s.first_s, s.last_s), (Some(0.5), Some(3.5)));
        assert_eq!(t.job.as_ref().unwrap().run_time_s, Some(5.5));
        assert_eq!((t.quality.records_read, t.quality.records_dropped), (5, 0));
    }
    // MessagePack knows all ranks, JSON those that did I/O.
    assert_eq!((from_json.ranks, from_lines.ranks, from_msgpack.ranks), (2, 2, 3));
}

#[test]
fn achieved_rates_count_and_required_rates_do_not() {
    let sections =
        [("read_async_t", READS), ("read_async_b", READS), ("write_async_t", WRITES), ("write_async_b", WRITES)];
    let t = parse(json(&sections, true)).unwrap();
    assert_eq!(rows(&t).len(), 5);
    assert_eq!(rows(&t).asynchronous.as_constant(), Some(true));
    let t = parse(msgpack(&[("read_async", READS), ("write_async", WRITES)], |&(b, s, e)| b as f64 / (e - s))).unwrap();
    assert_eq!(rows(&t).len(), 5);
    assert_eq!(rows(&t).asynchronous.as_constant(), Some(true));
}

#[test]
fn chunks_follow_each_other() {
    let (a, b) = WRITES.split_at(1);
    let lines = json(&[("write_sync", a)], true) + &json(&[("write_sync", b)], true);
    let packed =
        [msgpack(&[("write_sync", a)], |&(b, s, e)| b as f64 / (e - s)), msgpack(&[("write_sync", b)], |_| f64::NAN)];
    for t in [parse(lines).unwrap(), parse(packed.concat()).unwrap()] {
        assert_eq!(rows(&t).start, [1.0625, 2.5, 1.25]);
        assert_eq!(t.layers[0].writes, Some(6));
        // The run times of chunks may overlap.
        assert_eq!(t.job.as_ref().unwrap().run_time_s, None);
        assert_eq!(t.warnings, []);
    }
}

#[test]
fn phases_of_several_requests_have_their_mean_rate() {
    // Three mebibytes in 0.75 s, at a mean rate of the requests of 8 MiB/s: the step curve has the mean rate.
    let t = parse(msgpack(&[("write_sync", &WRITES[2..])], |_| 8388608.0)).unwrap();
    assert_eq!(rows(&t).bytes, [0.75 * 8388608.0]);
    assert_eq!(codes(&t), ["bytes-disagree"]);
    // A rate that differs by the rounding of the times only: the bytes are exact.
    let t = parse(msgpack(&[("write_sync", &WRITES[2..])], |&(b, s, e)| b as f64 / (e - s) * (1.0 + 1e-9))).unwrap();
    assert_eq!(rows(&t).bytes, [f64::from(3 << 20)]);
}

#[test]
fn phases_without_duration_are_read() {
    let none = [(4096, 1.0, 1.0), (4096, 2.0, 3.0)];
    // MessagePack has the bytes.
    let t = parse(msgpack(&[("write_sync", &none)], |&(b, s, e)| b as f64 / (e - s))).unwrap();
    assert_eq!(rows(&t).bytes, [4096.0, 4096.0]);
    assert_eq!(t.warnings, []);
    // JSON has not.
    let text = json(&[("write_sync", &none)], false).replace("inf,", "5e9,").replace("[inf", "[5e9");
    let t = parse(text).unwrap();
    assert_eq!(rows(&t).bytes, [0.0, 4096.0]);
    assert_eq!(codes(&t), ["bytes-disagree", "zero-duration"]);
}

#[test]
fn a_phase_whose_bytes_are_no_number_is_left_out() {
    let mut chunk = msgpack(&[("write_sync", &[(5000, 1.0, 1.0), (4096, 2.0, 3.0)])], |_| f64::NAN);
    // 5000 as an integer, and what takes as much room: NaN as a float of four bytes
    let at = chunk.windows(5).position(|w| w == [0xce, 0, 0, 0x13, 0x88]).unwrap();
    chunk[at..at + 5].copy_from_slice(&[0xca, 0x7f, 0xc0, 0, 0]);
    let t = parse(chunk).unwrap();
    assert_eq!((rows(&t).bytes.as_slice(), t.quality.records_dropped), ([4096.0].as_slice(), 1));
}

#[test]
fn inconsistent_rows_are_reported() {
    let text = r#"{"write_sync":{"max_bytes_per_rank":1,"bandwidth":{
        "b_rank_avr":[NaN, 1,  -3, 4,   2, nan, inf, 8],
        "t_rank_s":  [0,   nan, 1, 2,   5, 1,   1,   7],
        "t_rank_e":  [1,   1,   2, inf, 4, 2,   2,   9, 10]}}}"#;
    let t = parse(text).unwrap();
    let r = rows(&t);
    assert_eq!(
        (&r.start[..], &r.end[..], &r.bytes[..]),
        (&[1.0, 5.0, 7.0][..], &[2.0, 5.0, 9.0][..], &[0.0, 0.0, 16.0][..])
    );
    let q = &t.quality;
    assert_eq!((q.records_read, q.records_dropped, q.clamped), (9, 6, 2));
    assert_eq!(codes(&t), ["uneven-series", "zero-duration"]);
}

#[test]
fn other_series_replace_missing_ones() {
    let with = |bandwidth: &str| {
        parse(format!("{{\"write_sync\":{{\"total_io_ops\":9,\"bandwidth\":{{{bandwidth}}}}}}}"))
            .map(|t| rows(&t).clone())
    };
    let sum = with(r#""b_rank_avr":[],"b_rank_sum":[2],"t_rank_s":[1],"t_rank_e":[3]"#).unwrap();
    assert_eq!(sum.bytes, [4.0]);
    let end = with(r#""b_rank_avr":[2,3],"t_rank_s":[1,4]"#).unwrap();
    assert_eq!((end.end, end.bytes), (vec![4.0, 4.0], vec![6.0, 0.0]));
    let overlap =
        with(r#""t_overlap":[1,2,4],"b_overlap_sum":[7,7,0],"b_overlap_avr":[2,5,1e-9],"b_ind":[1]"#).unwrap();
    assert_eq!((overlap.start, overlap.end, overlap.bytes), (vec![1.0, 2.0], vec![2.0, 4.0], vec![2.0, 10.0]));
    let single = with(r#""b_ind":[2],"t_ind_s":[1],"t_ind_e":[2]"#).unwrap();
    assert_eq!(single.bytes, [2.0]);
    // Best first, whatever the order.
    let all = with(r#""b_ind":[9],"t_ind_s":[1],"t_ind_e":[2],"t_overlap":[1,2],"b_overlap_avr":[8,0],"t_rank_s":[1],"t_rank_e":[2],"b_rank_sum":[7],"b_rank_avr":[6]"#).unwrap();
    assert_eq!(all.bytes, [6.0]);
    assert!(with("").unwrap().is_empty());
}

#[test]
fn a_cut_chunk_keeps_the_rows_before_the_cut() {
    let whole = json(&[("read_sync", READS), ("write_sync", WRITES)], true);
    let lines: Vec<&str> = whole.lines().collect();
    let cut = format!("{}\n{}", lines[0], &lines[1][..lines[1].find("t_rank_e").unwrap() + 20]);
    let t = parse(&cut).unwrap();
    assert_eq!(rows(&t).len(), 3, "two reads, and the one write whose end is known");
    assert_eq!(codes(&t), ["damaged-tail"]);
    assert!(t.warnings[0].message.contains(&format!("byte {}", cut.len())), "{}", t.warnings[0].message);
    // Without any end nothing is made up.
    let cut = format!("{}\n{}", lines[0], &lines[1][..lines[1].find("t_rank_e").unwrap()]);
    let t = parse(&cut).unwrap();
    assert_eq!((rows(&t).len(), t.quality.records_dropped), (2, 3));
    // A writer that was started again appends behind the damage.
    let t = parse(format!("{cut}\n{whole}")).unwrap();
    assert_eq!(rows(&t).len(), 2 + 5);
    assert_eq!(codes(&t), ["damaged-chunk"]);

    let mut packed = msgpack(&[("read_sync", READS), ("write_sync", WRITES)], |&(b, s, e)| b as f64 / (e - s));
    packed.truncate(packed.len() - 60);
    let t = parse(&packed).unwrap();
    assert!((2..5).contains(&rows(&t).len()), "{}", rows(&t).len());
    assert_eq!(codes(&t), ["damaged-tail"]);
}

#[test]
fn nothing_of_use_is_an_error_with_place_and_remedy() {
    for text in
        [&b"{\"read_sync\":{\"total_io_ops\":1"[..], b"\x9e\xa9read_sync\xc2", b"{\"read_sync\":{\"total_io_ops\":x}}"]
    {
        let e = parse(text).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Malformed);
        let message = e.to_string();
        assert!(
            message.contains("byte ") && message.contains("expected") && message.contains("write the trace again"),
            "{e}"
        );
    }
    let e = parse_as("tmio", b"{\"x\":1}").unwrap_err();
    assert!(e.to_string().contains("no section"), "{e}");
    assert_eq!(parse_as("tmio", b"").unwrap().data.len(), 0);
}

#[test]
fn formats_are_told_apart() {
    let tmio = find("tmio").unwrap();
    for yes in [json(&[("read_sync", READS)], false), json(&[("read_sync", READS)], true)] {
        assert_eq!(tmio.sniff(yes.as_bytes()), Sniff::Yes);
        assert_eq!(tmio.sniff(&yes.as_bytes()[..200]), Sniff::Yes, "a cut head is enough");
    }
    assert_eq!(tmio.sniff(&msgpack(&[("read_async", &[])], |_| 0.0)), Sniff::Yes);
    assert_eq!(tmio.sniff(b"\t{\"io_time\":{\"delta_t_agg\": 1"), Sniff::Yes);
    for no in [
        &b"{\"write_sync\":{\"total_bytes\":1,\"bandwidth\":{\"b_rank_avr\":[1,"[..],
        b"{\"avg_thruput_mib\":[1]}",
        b"\x9e\xa4what",
        b"\x93\x01\x02\x03",
        b"",
        b"HEADER\n",
    ] {
        assert!(matches!(tmio.sniff(no), Sniff::No(_)), "{no:?}");
    }
}

#[test]
fn limits_are_enforced() {
    let options = |records| {
        let mut o = ReadOptions::default();
        o.limits.records = records;
        o
    };
    let sections = [("read_sync", READS), ("write_sync", WRITES)];
    for bytes in [json(&sections, false).into_bytes(), msgpack(&sections, |_| 1.0)] {
        let s = Source::from_bytes("x", bytes);
        assert_eq!(read(&s, None, &options(4)).unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!(read(&s, None, &options(5)).unwrap().data.len(), 5);
    }
    let deep = format!("{{\"io_time\":{{\"x\":{}", "[".repeat(1 << 20));
    assert_eq!(parse(deep).unwrap_err().kind(), ErrorKind::Limit);
    // Lengths that the input does not hold cost nothing.
    for hostile in [
        &b"\x9e\xa9read_sync\xc2\xc2\0\0\0\0\0\0\0\0\0\0\xdd\xff\xff\xff\xff"[..],
        b"\xdd\xff\xff\xff\xff\xa9read_sync",
        b"\x92\xa7io_time\xdb\xff\xff\xff\xff",
    ] {
        assert_eq!(parse(hostile).unwrap_err().kind(), ErrorKind::Malformed);
    }
}

#[test]
fn compression_and_threads_do_not_change_the_rows() {
    let phases: Vec<Phase> = (0..60_000).map(|i| (4096 + i % 7, i as f64 * 0.25, i as f64 * 0.25 + 0.125)).collect();
    let text = json(&[("write_sync", &phases)], false);
    let plain = parse(&text).unwrap();
    assert!(close(&rows(&plain).bytes, &phases.iter().map(|p| p.0 as f64).collect::<Vec<_>>()));
    let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    z.write_all(text.as_bytes()).unwrap();
    let zipped = z.finish().unwrap();
    let same = |t: &Trace| {
        rows(t).bytes == rows(&plain).bytes && rows(t).start == rows(&plain).start && rows(t).end == rows(&plain).end
    };
    let t = parse(&zipped).unwrap();
    assert!(same(&t));
    assert_eq!(t.header.compression.as_deref(), Some("gzip"));
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(|| same(&parse(&text).unwrap())));
    }
    // A cut stream gives what came before, and says so.
    let t = parse(&zipped[..zipped.len() - 20]).unwrap();
    assert_eq!(codes(&t), ["damaged-tail"]);
}

#[test]
fn epoch_timestamps_set_the_origin() {
    let t = parse(r#"{"write_sync":{"total_io_ops":1,"bandwidth":{"b_rank_avr":[8,8],"t_rank_s":[1795232926.5,1795232925.25],"t_rank_e":[1795232927,1795232926]}}}"#).unwrap();
    assert_eq!(t.origin_s, 1795232925);
    assert_eq!((&rows(&t).start[..], &rows(&t).end[..]), (&[1.5, 0.25][..], &[2.0, 1.0][..]));
    assert_eq!(t.layers[0].first_s, Some(1795232925.25));
}

#[test]
fn damage_never_panics() {
    let sections = [("read_sync", READS), ("write_async_t", &WRITES[..2])];
    torture("tmio", json(&sections, false).as_bytes());
    torture("tmio", json(&sections, true).as_bytes());
    torture("tmio", &msgpack(&sections, |&(b, s, e)| b as f64 / (e - s)));
}

#[test]
fn damage_in_real_traces_never_panics() {
    for file in [
        "corpus/a_stable/tmio/mpiiocoll.tmio_json.json",
        "corpus/c_change/tmio/mpiio.tmio_msgpack.msgpack",
        "corpus/c_change/tmio/mpiio-flush.tmio_jsonl.jsonl",
    ]
    .into_iter()
    .step_by(super::every(3))
    {
        if let Some(path) = shared(file) {
            torture("tmio", &std::fs::read(path).unwrap());
        }
    }
}

#[test]
fn a_decompression_bomb_is_refused() {
    let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    z.write_all(json(&[("write_sync", WRITES)], false).as_bytes()).unwrap();
    z.write_all(&vec![b' '; 3 << 20]).unwrap();
    let s = Source::from_bytes("x", z.finish().unwrap());
    let mut o = ReadOptions::default();
    assert_eq!(read(&s, None, &o).unwrap().data.len(), 3);
    o.limits.expansion = 100;
    assert_eq!(read(&s, None, &o).unwrap_err().kind(), ErrorKind::Limit);
}

/// Bytes written, from the times that the program itself kept.
fn truth_bytes(run: &str) -> Option<f64> {
    let text = std::fs::read(shared(&format!("corpus/{run}.json"))?).unwrap();
    let truth: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let phases = truth["ranks"].as_array().unwrap().iter().flat_map(|r| r["phases"].as_array().unwrap());
    Some(phases.filter(|p| p[6] == "w").map(|p| p[7].as_f64().unwrap()).sum())
}

#[test]
fn real_traces_have_the_bytes_that_the_program_wrote() {
    for (scenario, name, ending, phases, ranks) in [
        ("a_stable", "mpiio", "json", 1792, 8),
        ("a_stable", "mpiio", "msgpack", 1792, 8),
        ("a_stable", "mpiio-flush", "jsonl", 1792, 8),
        ("a_stable", "mpiio-flush", "msgpack", 1792, 8),
        ("b_jitter", "mpiio", "json", 1024, 8),
        ("b_jitter", "mpiio", "msgpack", 1024, 8),
        ("b_jitter", "mpiio-flush", "jsonl", 1024, 8),
        ("b_jitter", "mpiio-flush", "msgpack", 1024, 8),
        ("c_change", "mpiio", "json", 512, 4),
        ("c_change", "mpiio", "msgpack", 512, 4),
        ("c_change", "mpiio-flush", "jsonl", 512, 4),
        ("c_change", "mpiio-flush", "msgpack", 512, 4),
        ("f_aperiodic", "mpiio", "json", 492, 4),
    ] {
        let file = format!("corpus/{scenario}/tmio/{name}.tmio_{ending}.{ending}");
        let (Some(path), Some(truth)) = (shared(&file), truth_bytes(&format!("{scenario}/truth/{name}.tmio_{ending}")))
        else {
            return;
        };
        let t = parse(std::fs::read(path).unwrap()).unwrap();
        assert_eq!((t.format, t.data.len(), t.ranks), ("tmio", phases, ranks), "{file}");
        assert_eq!(t.warnings, [], "{file}");
        let written: f64 = rows(&t).bytes.iter().sum();
        // JSON has six decimals of a second for phases of tens of microseconds.
        let tolerance = if ending == "msgpack" { 0.0 } else { 2e-3 };
        assert!((written - truth).abs() <= tolerance * truth, "{file}: {written} {truth}");
    }
}

#[test]
fn published_samples() {
    let (Some(lines), Some(packed)) =
        (shared("thirdparty/ftio/tmio-jsonl/8.jsonl"), shared("thirdparty/ftio/tmio-msgpack/384.msgpack"))
    else {
        return;
    };
    let t = parse(std::fs::read(lines).unwrap()).unwrap();
    assert_eq!((t.data.len(), t.ranks, codes(&t).len()), (2190, 8, 0));
    let t = parse(std::fs::read(packed).unwrap()).unwrap();
    assert_eq!((t.data.len(), t.ranks, codes(&t).len()), (61440, 384, 0));
    let s = &t.layers[0];
    assert_eq!((s.bytes_read, s.bytes_written), (64_424_509_440, 64_424_509_440));
    assert_eq!((s.reads, s.writes), (Some(30_720), Some(30_720)));
}
