//! GekkoFS client metrics: the forms they come in, wrapped clocks, folders, damage.

use super::text::{check, codes, csv_and_back, parse, torture};
use common::shared;
use iophase::formats::{ReadOptions, Source, collect, find, read};
use iophase::internals::formats::tail::{ClientClocks, decode};
use iophase::record::{Data, Op, Request, Trace};
use proptest::prelude::*;

fn rows(t: &Trace) -> Vec<Request> {
    match &t.data {
        Data::Requests(r) => r.iter().collect(),
        Data::Intervals(_) => panic!("intervals"),
    }
}

/// Start and end in microseconds, bytes.
type Sent = (u64, u64, u64);

fn text(out: &mut Vec<u8>, text: &str) {
    out.push(0xa0 | text.len() as u8);
    out.extend(text.as_bytes());
}

fn number(out: &mut Vec<u8>, x: u64) {
    match x {
        0..=127 => out.push(x as u8),
        128..=0xffff_ffff => {
            out.push(0xce);
            out.extend((x as u32).to_be_bytes());
        }
        _ => {
            out.push(0xcf);
            out.extend(x.to_be_bytes());
        }
    }
}

/// The nine values as a client sends them, each preceded by its name if it is to be a map.
fn values(host: &str, pid: u64, kind: &str, requests: &[Sent], named: Option<&[u8]>) -> Vec<u8> {
    const NAMES: [&str; 9] = [
        "flush_t",
        "hostname",
        "pid",
        "io_type",
        "start_t_micro",
        "end_t_micro",
        "req_size",
        "total_iops",
        "total_bytes",
    ];
    let wrapped = |x: u64| x % (1 << 32);
    let mut out = Vec::new();
    for (i, name) in NAMES.iter().enumerate() {
        if let Some(head) = named {
            out.extend(head);
            text(&mut out, name);
        }
        match i {
            0 => number(&mut out, wrapped(requests.last().map_or(0, |r| r.1) + 9)),
            1 => text(&mut out, host),
            2 => number(&mut out, pid),
            3 => text(&mut out, kind),
            7 => number(&mut out, requests.len() as u64),
            8 => number(&mut out, wrapped(requests.iter().map(|r| r.2).sum())),
            _ => {
                out.push(0xdc);
                out.extend((requests.len() as u16).to_be_bytes());
                for r in requests {
                    number(&mut out, wrapped([r.0, r.1, r.2][i - 4]));
                }
            }
        }
    }
    out
}

fn flush(host: &str, pid: u64, kind: &str, requests: &[Sent]) -> Vec<u8> {
    values(host, pid, kind, requests, None)
}

#[test]
fn every_form_gives_the_same_requests() {
    let sent: [Sent; 2] = [(1_500_000, 1_750_000, 4096), (2_000_000, 2_000_000, 10)];
    let bare = flush("n1", 300, "write", &sent);
    let json = r#"{"hostname": "n1", "pid": 300, "io_type": "w", "start_t_micro": [1500000, 2000000],
        "end_t_micro": [1750000, 2000000], "req_size": [4096, 10], "total_iops": 2, "total_bytes": 4106}"#;
    let lines = "start_t_micro: [1500000,2000000]\nend_t_micro: [1750000,2000000]\nreq_size: [4096,10]\nhostname: \"n1\"\npid: 300\nio_type: \"write\"\n";
    let forms: [Vec<u8>; 6] = [
        bare.clone(),
        [&b"\x99"[..], &bare].concat(),
        [&b"\x89"[..], &values("n1", 300, "write", &sent, Some(b""))].concat(),
        values("n1", 300, "w", &sent, Some(b"\x81")),
        json.into(),
        lines.into(),
    ];
    for form in forms {
        let t = parse(&form).unwrap();
        let found: Vec<_> = rows(&t).iter().map(|r| (r.op, r.rank, r.start, r.end, r.size)).collect();
        assert_eq!(found, [(Op::Write, 0, 1.5, 1.75, 4096), (Op::Write, 0, 2.0, 2.0, 10)]);
        assert_eq!((t.format, codes(&t), &*t.hosts[&0]), ("gekkofs", vec![], "n1"));
        let back = csv_and_back(&t);
        assert_eq!(rows(&back).iter().map(|r| (r.op, r.start, r.end, r.size)).collect::<Vec<_>>().len(), 2);
        assert_eq!((rows(&back)[0].start, rows(&back)[0].size), (1.5, 4096));
    }
}

#[test]
fn rates_stand_in_for_sizes() {
    let t = parse("avg_thruput_mib: [1000.0]\nstart_t_micro: [0500]\nend_t_micro: [1500]\ntotal_bytes: 99\n").unwrap();
    assert_eq!((rows(&t)[0].size, codes(&t)), (1_048_576, vec!["direction-unknown"]));
}

#[test]
fn a_negative_size_is_no_request() {
    let mut data = flush("n", 1, "r", &[(1, 2, 100), (3, 4, 101)]);
    let size = data.iter().position(|b| *b == 101).unwrap();
    data[size] = 0xff; // -1
    let t = parse(&data).unwrap();
    assert_eq!((rows(&t).len(), t.quality.records_read, t.quality.records_dropped), (1, 2, 1));
    let message = decode(&data, &mut ClientClocks::default()).unwrap();
    assert_eq!(message.transfers.iter().map(|i| (i.start, i.bytes)).collect::<Vec<_>>(), [(1e-6, 100.0)]);
}

#[test]
fn totals_that_disagree_are_told() {
    let mut data = flush("n", 1, "r", &[(1, 2, 100)]);
    *data.last_mut().unwrap() = 99;
    let t = parse(&data).unwrap();
    assert_eq!((codes(&t), rows(&t)[0].op), (vec!["bytes-disagree"], Op::Read));
    // More than 4 GiB in a flush: the total has wrapped, the sizes are right.
    let requests: Vec<Sent> = (0..3).map(|i| (i, i + 1, 2_000_000_000)).collect();
    let t = parse(flush("n", 1, "r", &requests)).unwrap();
    assert_eq!((codes(&t), t.layers[0].bytes_read), (vec![], 6_000_000_000));
}

#[test]
fn a_folder_is_one_job_of_many_clients() {
    let wrap = 1u64 << 32;
    let files = [
        ("write_1_a", flush("a", 1, "w", &[(10_000_000, 11_000_000, 1), (wrap - 3_000_000, wrap - 2_000_000, 2)])),
        ("write_2_a", flush("a", 1, "w", &[(wrap - 500_000, wrap + 500_000, 3), (wrap + 600_000, wrap + 700_000, 4)])),
        ("write_1_b", flush("b", 1, "w", &[(20_000_000, 21_000_000, 5)])),
        ("write_3_b", b"\xce\x00".to_vec()),
    ];
    let sources: Vec<Source> = files.iter().map(|(n, b)| Source::from_bytes(n, b.clone())).collect();
    let t = collect(find("gekkofs").unwrap(), &sources, &ReadOptions::default()).unwrap();
    check(&t, 10_000);
    let found: Vec<_> = rows(&t).iter().map(|r| (r.rank, r.start, r.end, r.size)).collect();
    let w = wrap as f64 / 1e6;
    assert_eq!(found.iter().map(|r| (r.0, r.3)).collect::<Vec<_>>(), [(0, 1), (1, 5), (0, 2), (0, 3), (0, 4)]);
    assert_eq!((found[3].1, found[3].2, found[4].1), (w - 0.5, w + 0.5, w + 0.6));
    assert_eq!((t.ranks, codes(&t)), (2, vec!["damaged-tail", "no-common-clock"]));
}

/// Four clients of FTIO's samples, whose periods are known from their bursts.
#[test]
fn published_samples() {
    let (Some(folder), Some(list)) = (shared("thirdparty/ftio/gekkofs"), shared("thirdparty/ftio/custom/4.txt")) else {
        return;
    };
    let options = ReadOptions::default();
    let t = read(&Source::open(&folder, &options.limits).unwrap(), None, &options).unwrap();
    assert_eq!((t.format, t.ranks, t.data.len(), codes(&t)), ("gekkofs", 4, 820, vec!["no-common-clock"]));
    let mut bytes = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let json: serde_json::Value = serde_json::from_slice(&std::fs::read(file.unwrap().path()).unwrap()).unwrap();
        bytes += json["req_size"].as_array().unwrap().iter().map(|x| x.as_u64().unwrap()).sum::<u64>();
    }
    assert_eq!(t.layers[0].bytes_written, bytes);
    // The smallest start is of client x0184.
    let first = rows(&t)[0];
    assert_eq!((first.start, first.end, first.size, &*t.hosts[&first.rank]), (65.599463, 65.599975, 33, "x0184"));
    let t = read(&Source::open(&list, &options.limits).unwrap(), None, &options).unwrap();
    // Rates have two decimals, so the bytes of the requests are near the total.
    assert_eq!((t.format, t.data.len()), ("gekkofs", 1024));
    let total = t.layers[0].bytes_written as f64;
    assert!((total - 536_870_912.0).abs() < 1e-4 * 536_870_912.0, "{total}");
}

#[test]
fn a_cut_file_keeps_the_requests_before_the_cut() {
    let one = flush("node", 77, "write", &[(1, 2, 3), (200, 300, 400)]);
    let data = [one.clone(), flush("node", 77, "write", &[(500, 600, 700)])].concat();
    for n in one.len()..data.len() {
        let t = parse(&data[..n]).unwrap();
        assert!((2..=3).contains(&t.data.len()), "{n}");
        assert_eq!(codes(&t).contains(&"damaged-tail"), n > one.len(), "{n}");
    }
    torture("gekkofs", &data);
    torture("gekkofs", br#"{"start_t_micro": [1,2], "end_t_micro": [3,4], "req_size": [5,6]}"#);
    torture("gekkofs", b"start_t_micro: [1,2]\nend_t_micro: [3,4]\nreq_size: [5,6]\n");
}

proptest! {
    /// Messages of a socket are unwrapped like files.
    #[test]
    fn messages_remember_the_clock(steps in prop::collection::vec((0u64..900_000_000, 1u64..5_000_000), 1..30)) {
        let mut clients = ClientClocks::default();
        let mut now = 3_300_000_000u64;
        for (idle, length) in steps {
            let (start, end) = (now + idle, now + idle + length);
            now = end;
            let m = decode(&flush("n", 1, "w", &[(start, end, 8)]), &mut clients).unwrap();
            let t = m.transfers[0];
            prop_assert!((t.start - start as f64 / 1e6).abs() < 1e-9 && (t.end - end as f64 / 1e6).abs() < 1e-9);
            prop_assert_eq!((t.bytes, t.op), (8.0, Op::Write));
        }
    }
}
