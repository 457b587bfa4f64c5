//! Time series of monitoring tools: recordings and layouts with known totals, spellings of tables, and damage.

use std::fs;
use std::path::PathBuf;

use super::text::Memory;
use super::text::{codes, parse, parse_as, torture};
use common::shared;
use iophase::analysis::{self, NamePattern, Options, RankSet, Selection};
use iophase::formats::Limits;
use iophase::formats::write::writer;
use iophase::formats::{ReadOptions, SeriesOptions, Source, Stamp, ValueKind, read};
use iophase::internals::formats::tail::Tail;
use iophase::record::{ClockKind, Data, Interval, Op, Timing, Trace};
use iophase::{ErrorKind, Result};
use proptest::prelude::*;
use serde_json::Value;

fn with(text: impl AsRef<[u8]>, series: SeriesOptions) -> Result<Trace> {
    read(&Source::from_bytes("memory", text.as_ref()), None, &ReadOptions::default().series(series))
}

fn columns(text: &str) -> SeriesOptions {
    SeriesOptions::default().columns(Some(text.parse().unwrap()))
}

fn rows(t: &Trace) -> Vec<Interval> {
    match &t.data {
        Data::Intervals(rows) => rows.iter().collect(),
        Data::Requests(rows) => {
            assert_eq!(rows.len(), 0, "{}: requests", t.path);
            Vec::new()
        }
    }
}

/// Operation, rank, start, end, bytes.
fn list(t: &Trace) -> Vec<(Op, u32, f64, f64, f64)> {
    rows(t).iter().map(|r| (r.op, r.rank, r.start, r.end, r.bytes)).collect()
}

/// Start, end and bytes of the writes on the trace's own clock.
fn written(t: &Trace) -> Vec<(f64, f64, f64)> {
    let origin = t.origin_s as f64;
    rows(t).iter().filter(|r| r.op == Op::Write).map(|r| (origin + r.start, origin + r.end, r.bytes)).collect()
}

fn total(t: &Trace, op: Op) -> f64 {
    rows(t).iter().filter(|r| r.op == op).map(|r| r.bytes).sum()
}

fn corpus(folder: &str) -> Option<(PathBuf, Value)> {
    let folder = shared("corpus/series")?.join(folder);
    let expected = serde_json::from_slice(&fs::read(folder.join("expected.json")).unwrap()).unwrap();
    Some((folder, expected))
}

fn open(path: PathBuf, series: SeriesOptions) -> Trace {
    let options = ReadOptions::default().series(series);
    let t = read(&Source::open(&path, &options.limits).unwrap(), None, &options).unwrap();
    assert_eq!(t.format, "series", "{}", t.path);
    t
}

#[track_caller]
fn near(found: f64, expected: &Value, relative: f64) {
    let expected = expected.as_f64().unwrap();
    assert!((found - expected).abs() <= relative * expected, "{found} instead of {expected}");
}

/// The period of the writes, in seconds.
fn period(t: &Trace) -> Option<f64> {
    let report = analysis::analyze(t, &Options::default()).unwrap().report;
    let writes = report.signals.iter().find(|s| s.mode == analysis::Mode::Write)?;
    writes.period.dominant.as_ref().map(|d| d.period_s)
}

#[test]
fn recordings_of_tools_hold_what_the_job_and_the_machine_wrote() {
    let Some((folder, expected)) = corpus("real") else { return };
    // collectl's intervals of half a second are off by some milliseconds, and its rates are for the nominal ones
    let tools = [
        ("collectl_d.txt", "write_bytes_total", 1.0, 1e-12),
        ("collectl_D.csv", "write_bytes_total", 0.5, 0.01),
        ("sadf_d.csv", "write_bytes_total", 1.0, 1e-12),
        ("sadf.json", "write_bytes_total", 1.0, 1e-12),
        ("iostat.txt", "write_bytes_total", 1.0, 1e-12),
    ];
    for (name, key, step, tolerance) in tools {
        let t = open(folder.join(name), SeriesOptions::default());
        near(total(&t, Op::Write), &expected[name][key], tolerance);
        assert_eq!((t.timing, t.ranks), (Timing::Counter, 1), "{name}");
        assert!((t.bin_s.unwrap() - step).abs() < 0.002, "{name}: {:?}", t.bin_s);
        assert_eq!(codes(&t), [] as [&str; 0], "{name}");
        assert!(rows(&t).iter().all(|r| r.end - r.start < 1.1 * step), "{name}");
        let n = |key: &str| expected[name][key].as_u64();
        let readings = n("rows").or(n("blocks")).unwrap_or(t.quality.records_read);
        if !name.ends_with("json") {
            assert_eq!(t.quality.records_read, readings, "{name}");
        }
    }
}

#[test]
fn a_reading_has_its_place_in_time() {
    let Some((folder, expected)) = corpus("real") else { return };
    for (name, local) in
        [("collectl_d.txt", false), ("collectl_D.csv", true), ("sadf_d.csv", false), ("iostat.txt", false)]
    {
        let t = open(folder.join(name), SeriesOptions::default());
        let kind = if local { ClockKind::Midnight } else { ClockKind::Unix };
        assert_eq!(t.clock.kind, kind, "{name}");
        if name == "collectl_d.txt" {
            let first = &expected[name]["first"];
            let (end, bytes) = (first[0].as_f64().unwrap(), first[1].as_f64().unwrap());
            assert_eq!(written(&t)[0], (end - 1.0, end, bytes));
        }
    }
    // local times of day: 09:56:08.001 and so on
    let t = open(folder.join("collectl_D.csv"), SeriesOptions::default());
    let (start, end, bytes) = written(&t)[0];
    assert!(
        (end - 35_768.001).abs() < 1e-9 && (end - start - 0.5).abs() < 0.002 && (bytes / 4096.0 - 1.0).abs() < 0.01
    );
    // every burst of the job is a reading of more than its neighbours
    let t = open(folder.join("sadf_d.csv"), SeriesOptions::default());
    let t0 = expected["truth"]["t0_unix"].as_f64().unwrap();
    for burst in expected["truth"]["list"].as_array().unwrap() {
        let at = t0 + burst["start"].as_f64().unwrap();
        let seen = written(&t).iter().any(|(a, b, n)| a - 1.0 <= at && at <= b + 1.0 && *n >= 0.5 * 41_943_040.0);
        assert!(seen, "no reading of the burst at {at}");
    }
}

#[test]
fn layouts_of_tools_hold_the_bytes_of_the_run() {
    let Some((folder, expected)) = corpus("made") else { return };
    let none: [&str; 0] = [];
    let files = [
        ("ldms_store.csv", 2, 0.5, &none[..]),
        ("lustre_llite_stats.txt", 1, 0.5, &none[..]),
        ("lustre_job_stats.txt", 2, 1.0, &none[..]),
        ("prometheus_range.json", 2, 0.5, &["missing-values"][..]),
        ("4711_signal_site.csv", 1, 0.5, &none[..]),
    ];
    for (name, ranks, step, warnings) in files {
        let t = open(folder.join(name), SeriesOptions::default());
        near(total(&t, Op::Write), &expected[name]["write_total"], 1e-12);
        assert_eq!((total(&t, Op::Read), t.ranks, t.timing), (0.0, ranks, Timing::Counter), "{name}");
        assert!((t.bin_s.unwrap() - step).abs() < 0.002, "{name}: {:?}", t.bin_s);
        assert_eq!(codes(&t), warnings, "{name}");
        // each burst of the run is in the readings that surround it
        let t0 = if t.clock.kind == ClockKind::Unix { expected["truth"]["t0_unix"].as_f64().unwrap() } else { 0.0 };
        for burst in expected["truth"]["list"].as_array().unwrap() {
            let at = |key: &str| t0 + burst[key].as_f64().unwrap();
            let (from, to) = (at("start") - 0.05, at("end") + 0.05);
            let inside: f64 = written(&t).iter().filter(|(a, b, _)| *b > from && *a < to).map(|r| r.2).sum();
            near(inside, &burst["bytes"], 1e-9);
        }
        // four or two readings a period
        let found = period(&t).unwrap_or_else(|| panic!("{name}: no period"));
        assert!((found - 2.0).abs() < 0.02, "{name}: {found}");
    }
    let t = open(folder.join("malleability.txt"), columns("time=2,value=8,duration=11"));
    near(total(&t, Op::Write), &expected["malleability.txt"]["total"], 1e-6);
    assert_eq!((t.data.len(), t.timing, t.bin_s), (12, Timing::Phase, None));
    assert_eq!(codes(&t), ["direction-unknown"]);
    assert!((period(&t).unwrap() - 2.0).abs() < 0.01);
}

#[test]
fn nodes_are_ranks_and_devices_are_files() {
    let text = "#Time,Time_usec,ProducerName,sect_written#sda,sect_written#sdb\n\
        1700000000.5,500000,n2,0,100\n1700000000.5,500000,n1,5,0\n\
        1700000001.5,500000,n2,2,100\n1700000001.5,500000,n1,5,4\n";
    let t = parse(text).unwrap();
    let expected = [(Op::Write, 0, 0.5, 1.5, 1024.0), (Op::Write, 1, 0.5, 1.5, 2048.0)];
    assert_eq!(list(&t), expected);
    assert_eq!((t.origin_s, t.ranks, t.files.len(), t.bin_s), (1_700_000_000, 2, 2, Some(1.0)));
    let hosts: Vec<_> = t.hosts.iter().map(|(rank, host)| (*rank, &**host)).collect();
    assert_eq!(hosts, [(0, "n2"), (1, "n1")]);
    let names: Vec<&str> = rows(&t).iter().map(|r| t.files.name(r.file)).collect();
    assert_eq!(names, ["sda", "sdb"]);
    let bytes = |selection: Selection| {
        let options = Options::default().selection(selection);
        analysis::analyze(&t, &options).unwrap().report.signals[0].bytes
    };
    assert_eq!(bytes(Selection::default().ranks(Some("1".parse::<RankSet>().unwrap()))), 2048.0);
    assert_eq!(bytes(Selection::default().files(Some("sda".parse::<NamePattern>().unwrap()))), 1024.0);
}

#[test]
fn tables_of_any_spelling_are_read() {
    let expected = [(Op::Read, 0, 0.0, 1.0, 3.0), (Op::Write, 0, 1.0, 2.0, 4.5)];
    for text in [
        "time,read,write\n1,3,0\n2,0,4.5\n",
        "\u{feff}# made by hand\n#time, read, write,\r\n1, 3, 0,\r\n2, 0, 4.5,\r\n",
        "time;read;write\n1;3;0\n2;0;4,5\n",
        "time\tread\twrite\n1\t3\t-\n2\tNaN\t4.5\n",
        "note of the site\ntime read write\n  1   3 0\n  2 null  4.5\n",
        "\"the time, s\",Read,WRITE,time\n\"a, b\",3,0,1\n\"c\"\"d\",0,4.5,2\n",
        "time,read,write\n2,0,4.5\n\n# x\n1,3,0\ntime,read,write\n",
    ] {
        let t = with(text, columns("time=time,read=read,write=write")).unwrap();
        assert_eq!(list(&t), expected, "{text}");
        assert_eq!((t.quality.records_read, t.quality.records_dropped), (2, 0), "{text}");
        let numbers = if text.starts_with('"') { "time=4,read=2,write=3" } else { "time=1,read=2,write=3" };
        assert_eq!(list(&with(text, columns(numbers)).unwrap()), expected, "{text}");
    }
    // without header
    let t = with("1,3,0\n2,0,4.5\n", columns("time=1,read=2,write=3")).unwrap();
    assert_eq!(list(&t), expected);
    // without time
    let t = with("3 0\n0 4.5\n", columns("read=1,write=2").step_s(Some(0.5))).unwrap();
    assert_eq!(list(&t), [(Op::Read, 0, -0.5, 0.0, 1.5), (Op::Write, 0, 0.0, 0.5, 2.25)]);
    let t = with("x|1|3\nx|2|5\n", columns("time=2,write=3").separator(Some(b'|')).stamp(Some(Stamp::Start))).unwrap();
    assert_eq!(list(&t), [(Op::Write, 0, 1.0, 2.0, 3.0), (Op::Write, 0, 2.0, 3.0, 5.0)]);
}

#[test]
fn kinds_units_and_columns_are_as_said() {
    let text = "t,dev,a,b,len\n10,sda,1,2,0.5\n10,sdb,100,100,0.5\n12,sda,3,5,0.5\n12,sdb,100,100,0.5\n";
    let bytes = |spec: &str, kind: ValueKind, unit: f64| {
        let series = columns(spec).kind(Some(kind)).unit_bytes(Some(unit));
        list(&with(text, series).unwrap()).iter().map(|r| (r.2, r.3, r.4)).collect::<Vec<_>>()
    };
    let sda = "time=t,where=dev:sda,write=a+b";
    assert_eq!(bytes(sda, ValueKind::Rate, 1024.0), [(8.0, 10.0, 6144.0), (10.0, 12.0, 16384.0)]);
    assert_eq!(bytes(sda, ValueKind::Bytes, 512.0), [(8.0, 10.0, 1536.0), (10.0, 12.0, 4096.0)]);
    assert_eq!(bytes(sda, ValueKind::Cumulative, 1.0), [(10.0, 12.0, 5.0)]);
    // rows of equal time add up, of two devices too, unless these are kept apart
    assert_eq!(bytes("time=t,write=a", ValueKind::Bytes, 1.0), [(8.0, 10.0, 101.0), (10.0, 12.0, 103.0)]);
    assert_eq!(bytes("time=t,write=a,device=dev", ValueKind::Bytes, 1.0).len(), 4);
    let t = with(text, columns("time=t,write=a,dur=len,where=dev:sda")).unwrap();
    assert_eq!(list(&t), [(Op::Write, 0, 10.0, 10.5, 0.5), (Op::Write, 0, 12.0, 12.5, 1.5)]);
    let t = with("s,e,n\n1,2,8\n5,9,8\n", columns("time=s,end=e,read=n")).unwrap();
    assert_eq!(list(&t), [(Op::Read, 0, 1.0, 2.0, 8.0), (Op::Read, 0, 5.0, 9.0, 32.0)]);
    let t = with("r,t,w\n7,1,1\n3,1,2\n7,2,1\n", columns("time=t,write=w,rank=r")).unwrap();
    assert_eq!((t.ranks, list(&t)[0].1, list(&t)[2].1), (2, 7, 3));
}

#[test]
fn times_of_any_kind_are_read() {
    for (a, b, origin, kind) in [
        ("1700000000.25", "1700000001.25", 1_700_000_000, ClockKind::Unix),
        ("1700000000250", "1700000001250", 1_700_000_000, ClockKind::Unix),
        ("1700000000250000000", "1700000001250000000", 1_700_000_000, ClockKind::Unix),
        ("2023-11-14T22:13:20.25Z", "2023-11-14T22:13:21.25Z", 1_700_000_000, ClockKind::Unix),
        ("2023-11-14 22:13:20.25", "2023-11-14 22:13:21.25", 0, ClockKind::Midnight),
        ("12.5", "13.5", 0, ClockKind::Trace),
    ] {
        let t = with(format!("when,write\n{a},1\n{b},2\n"), columns("time=when,write=write")).unwrap();
        assert_eq!((t.origin_s, t.clock.kind), (origin, kind), "{a}");
        let r = rows(&t);
        assert!((r[1].end - r[0].end - 1.0).abs() < 1e-9 && (r[1].bytes - 2.0).abs() < 1e-9, "{a}: {r:?}");
    }
    let t = with("23:59:59,1\n00:00:00,2\n00:00:01,3\n", columns("time=1,write=2")).unwrap();
    assert_eq!(written(&t).iter().map(|r| r.1).collect::<Vec<_>>(), [86_399.0, 86_400.0, 86_401.0]);
    let t = with("100,1\n200,2\n", columns("time=1,write=2").time_unit_s(Some(1e-3))).unwrap();
    assert_eq!(list(&t)[1], (Op::Write, 0, 0.1, 0.2, 0.2));
}

#[test]
fn gaps_and_restarts_are_told() {
    let text = "t,w\n0,5\n1,10\n2,\n3,14\n4,2\n5,6\n50,7\n";
    let t = with(text, columns("time=t,write=w").kind(Some(ValueKind::Cumulative))).unwrap();
    let moved: Vec<_> = written(&t);
    assert_eq!(moved, [(0.0, 1.0, 5.0), (1.0, 3.0, 4.0), (3.0, 4.0, 2.0), (4.0, 5.0, 4.0), (5.0, 50.0, 1.0)]);
    assert_eq!(codes(&t), ["counter-restarts", "missing-values", "gaps"]);
    let text = "t,w\n0,5\n1,10\n2,0\n3,14\n4,4294967290\n5,6\n6,7\n";
    let t = with(text, columns("time=t,write=w").kind(Some(ValueKind::Cumulative))).unwrap();
    assert_eq!(codes(&t), ["counter-wraps", "counter-glitches"]);
    let t = with("t,w\n0,5\n1,6\n2,7\n3,9\n", columns("time=t,write=w")).unwrap();
    assert_eq!(codes(&t), ["looks-cumulative"]);
    let t = with("t,w\n0,5\n1,6\n2,3\n3,9\n", columns("time=t,value=w")).unwrap();
    assert_eq!(codes(&t), ["direction-unknown"]);
}

#[test]
fn headers_may_change_on_the_way() {
    let text = "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s\nn;1;100000001;sda;0;1;2\n\
        n;-1;100000001;LINUX-RESTART\t(2 CPU)\n\
        # hostname;interval;timestamp;CPU;%user\nn;1;100000002;-1;3\n\
        # hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s\nn;1;100000003;sda;0;0;2\n\
        # hostname;interval;timestamp;DEV;wkB/s\nn;1;100000004;sda;4\n";
    let t = parse(text).unwrap();
    let sums = [Op::Read, Op::Write].map(|op| total(&t, op));
    assert_eq!(sums, [1024.0, 8.0 * 1024.0]);
    assert_eq!((t.quality.records_read, t.quality.records_dropped, t.quality.records_left_out), (3, 0, 1));
}

#[test]
fn snapshots_of_jobs_need_no_times_of_their_own() {
    let reading = |t: f64, sum: u64| {
        format!(
            "job_stats:\n- job_id: a\n  snapshot_time: {t}\n  write_bytes: {{ samples: 1, unit: bytes, min: 1, max: 2, sum: {sum} }}\n"
        )
    };
    // a reading each 10 s; the job writes shortly before the second, fourth and sixth
    let all: String = [(95.0, 1), (108.0, 5), (108.0, 5), (128.0, 9), (128.0, 9), (148.0, 20)]
        .map(|(t, s)| reading(1.7e9 + t, s))
        .concat();
    let t = parse(&all).unwrap();
    let rows = written(&t);
    assert_eq!(rows.iter().map(|r| r.2).collect::<Vec<_>>(), [4.0, 4.0, 11.0]);
    assert!(rows.iter().all(|r| (9.0..12.0).contains(&(r.1 - r.0))), "{rows:?}");
    assert!(
        rows.iter().zip([108.0, 128.0, 148.0]).all(|(r, t)| r.0 <= 1.7e9 + t && 1.7e9 + t <= r.1 + 1e-6),
        "{rows:?}"
    );
    // times before the readings, and a job that comes later, which begins at 0
    let headed = format!("# 1700000100\njob_stats:\n1700000110\n{}", reading(1.7e9 + 103.0, 7));
    assert_eq!(written(&parse(&headed).unwrap()), [(1_700_000_100.0, 1_700_000_110.0, 7.0)]);
}

#[test]
fn errors_name_the_columns_that_are_there() {
    let e = parse_as("series", b"when,in,out\n1,2,3\n").unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Malformed);
    assert!(e.to_string().contains("when, in, out"), "{e}");
    let e = with("when,in,out\n1,2,3\n", columns("time=when,read=inn")).unwrap_err();
    assert!(e.to_string().contains("`inn`") && e.to_string().contains("when, in, out"), "{e}");
    let e = with("time,read\nx,y\nz,a\n", columns("time=time,read=read")).unwrap_err();
    assert!(e.to_string().contains("line 2"), "{e}");
    let wide = vec!["x"; 10_002].join(",");
    assert_eq!(with(wide, columns("write=x")).unwrap_err().kind(), ErrorKind::Limit);
    let e = parse(r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#).unwrap_err();
    assert!(e.to_string().contains("query_range"), "{e}");
    let options = ReadOptions::default().series(columns("write=1"));
    let e = read(&Source::from_bytes("memory", &b"job_stats:\n"[..]), None, &options).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Usage);
}

#[test]
fn a_damaged_tail_costs_the_tail_only() {
    let text = "timestamp,read,write\n2026-11-23 09:38:04.9,1,2\n2026-11-23 09:38:05.4,1,2\n2026-11-23 09:3";
    let t = parse(text).unwrap();
    assert_eq!((codes(&t), t.data.len()), (vec!["damaged-tail"], 4));
    let t = parse(text.replace("05.4,1,2", "05.4,1,x,") + "8:06.4,1,1\n").unwrap();
    assert_eq!((codes(&t), t.data.len()), (vec!["unreadable-records"], 4));
}

/// Blocks of iostat, one second apart, of two devices: requests and KiB written per second.
fn iostat(blocks: &[[(&str, &str); 2]]) -> String {
    let block = |(i, [a, b]): (usize, &[(&str, &str); 2])| {
        let line = |name, (requests, written): (&str, &str)| format!("{name} 0.00 0.00 {requests} {written}\n");
        format!("\n2026-11-23T09:56:{i:02}+0000\nDevice r/s rkB/s w/s wkB/s\n{}{}", line("sda", *a), line("sdb", *b))
    };
    let blocks: String = blocks.iter().enumerate().map(block).collect();
    format!("Linux 6.1 (n1) \t2026-11-23 \t_x86_64_\t(2 CPU)\n{blocks}")
}

#[test]
fn the_mean_since_the_machine_started_is_no_reading() {
    // 101 and 99 hundredths of a second between readings
    let steps = [[("1.98", "7.92"), ("0.00", "0.00")], [("4.04", "16.16"), ("2.02", "8.08")]];
    for (first, is_mean) in [
        ([("0.31", "12.50"), ("0.00", "0.00")], true),
        ([("12.34", "61.10"), ("7.21", "3.00")], true),
        ([("3.00", "12.00"), ("1.00", "4.00")], false),
        ([("0.00", "0.00"), ("0.00", "0.00")], false),
    ] {
        let t = with(iostat(&[first, steps[0], steps[1]]), SeriesOptions::default()).unwrap();
        let of_first = if is_mean { 0.0 } else { first.iter().map(|d| d.1.parse::<f64>().unwrap()).sum() };
        near(total(&t, Op::Write), &(1024.0 * (of_first + 7.92 + 16.16 + 8.08)).into(), 1e-9);
        assert_eq!(t.warnings.iter().any(|w| w.code == "since-start"), is_mean, "{first:?}: {:?}", t.warnings);
    }
}

#[test]
fn devices_on_devices_count_once_unless_they_are_chosen() {
    let text = "# hostname;interval;timestamp;DEV;rkB/s;wkB/s\nn;1;100000001;sda;1;2\nn;1;100000001;sda1;1;2\nn;1;100000001;dm-0;0;2\n";
    let t = parse(text).unwrap();
    assert_eq!((codes(&t), total(&t, Op::Write), t.files.len()), (vec!["stacked-devices"], 2048.0, 1));
    let t = with(text, SeriesOptions::default().every_device(true)).unwrap();
    assert_eq!((codes(&t), total(&t, Op::Write), t.files.len()), (vec!["stacked-devices"], 3.0 * 2048.0, 3));
    // a section of totals beside that of the devices
    let text = "# hostname;interval;timestamp;CPU;%user\nn;1;100000001;-1;3\n\
        # hostname;interval;timestamp;bread/s;bwrtn/s\nn;1;100000001;2;4\n\
        # hostname;interval;timestamp;DEV;rkB/s;wkB/s\nn;1;100000001;sda;1;2\n";
    assert_eq!(total(&parse(text).unwrap(), Op::Write), 2048.0);
}

#[test]
fn rows_of_several_instances_are_several_counters() {
    let mut ldms = String::from("#Time,Time_usec,ProducerName,job_id,fs_name,llite,write_bytes.sum\n");
    let mut table = String::from("when,where,hits,bytes\n");
    for i in 0..20 {
        let (a, b) = (5_000_000_000_000u64 + i * 1000, 7000 + i);
        ldms += &format!(
            "{0}.0005,500,n1,{1},scratch,s-ff,{a}\n{0}.0006,600,n1,{1},home,h-ff,{b}\n",
            1_700_000_000 + i,
            i / 7
        );
        table += &format!("{i},scratch,{0},{a}\n{i},home,{0},{b}\n", i * 37 % 11);
    }
    let counters = || SeriesOptions::default().kind(Some(ValueKind::Cumulative));
    let by_behaviour = columns("time=when,write=bytes").kind(Some(ValueKind::Cumulative));
    for (text, series) in [(&ldms, counters()), (&table, by_behaviour.clone())] {
        let t = with(text, series).unwrap();
        assert_eq!((total(&t, Op::Write), t.files.len(), codes(&t).len()), (19.0 * 1001.0, 2, 0), "{:?}", t.warnings);
    }
    let unnamed = table.replace("scratch", "x").replace("home", "x");
    let e = with(unnamed, by_behaviour).unwrap_err();
    assert!(e.to_string().contains("device=NAME"), "{e}");
}

/// Blocks of iostat with totals in kB, each with its time.
fn blocks(times: &[&str]) -> String {
    let block =
        |t: &&str| format!("\n{t}\nDevice tps kB_read/s kB_wrtn/s kB_read kB_wrtn\nsda 5.00 0.00 100.00 0 1000\n");
    format!("Linux 6.1 (n1) \t_x86_64_\t(2 CPU)\n{}", times.iter().map(block).collect::<String>())
}

#[test]
fn times_of_blocks_come_from_the_data_or_not_at_all() {
    let ends = |t: &Trace| rows(t).iter().map(|r| r.end - rows(t)[0].end).collect::<Vec<_>>();
    for times in [
        ["24/11/2026 23:59:50", "25/11/2026 00:00:00", "25/11/2026 00:00:10"],
        ["05/11/26 11:59:50 PM", "06/11/26 12:00:00 AM", "06/11/26 12:00:10 AM"],
        ["11/05/26 11:59:50 PM", "11/06/26 12:00:00 AM", "11/06/26 12:00:10 AM"],
        ["24.11.2026 23:59:50", "25.11.2026 00:00:00", "25.11.2026 00:00:10"],
        ["2026年11月24日 23時59分50秒", "2026年11月25日 00時00分00秒", "2026年11月25日 00時00分10秒"],
        ["1795000000", "1795000010", "1795000020"],
        // the totals say the steps
        ["", "", ""],
    ] {
        let t = parse(blocks(&times)).unwrap();
        assert_eq!(ends(&t), [0.0, 10.0, 20.0], "{times:?}: {:?}", t.warnings);
        assert_eq!(total(&t, Op::Write), 3.0 * 1_024_000.0, "{times:?}");
    }
    let e = parse(blocks(&["der 24. November 26 um zwölf", "der 24. November 26 um eins"])).unwrap_err();
    assert!(e.to_string().contains("der 24") && e.to_string().contains("S_TIME_FORMAT=ISO"), "{e}");
    let untimed =
        "Linux 6.1 (n1)\n\nDevice r/s rkB/s wkB/s\nsda 1.00 4.00 0.00\n\nDevice r/s rkB/s wkB/s\nsda 1.00 4.00 0.00\n";
    assert!(parse(untimed).unwrap_err().to_string().contains("iostat -t"));
    let t = with(untimed, SeriesOptions::default().step_s(Some(5.0))).unwrap();
    assert_eq!(total(&t, Op::Read), 2.0 * 5.0 * 4096.0);
}

#[test]
fn each_block_has_its_own_step() {
    let text = blocks(&["24/11/2026 10:00:00", "24/11/2026 10:00:10"])
        + "\n24/11/2026 10:00:40\nDevice tps kB_read/s kB_wrtn/s kB_read kB_wrtn\nsdb 5.00 0.00 100.00 0 3000\n";
    let t = parse(text).unwrap();
    assert_eq!(total(&t, Op::Write), 1024.0 * 5000.0);
}

#[test]
fn text_of_tools_in_blocks_is_read() {
    let sar = "Linux 6.1 (n1) \t11/24/26 \t_x86_64_\t(2 CPU)\n\n\
        11:59:58 PM DEV tps rkB/s wkB/s\n11:59:59 PM sda 1.00 1.00 2.00\n12:00:00 AM sda 1.00 0.00 4.00\nAverage: sda 1 1 3\n\n\
        11:59:58 PM kbmemfree kbmemused\n11:59:59 PM 5 6\n";
    let pidstat = "Linux 6.1 (n1) \t11/24/26 \t_x86_64_\t(2 CPU)\n\n12:53:20 UID PID kB_rd/s kB_wr/s Command\n\
        12:53:21 0 7 1.00 2.00 my prog\n\n12:53:21 UID PID kB_rd/s kB_wr/s Command\n12:53:22 0 9 0.00 4.00 sh\n";
    let vmstat = "procs ---io--\n r b swpd bi bo UTC\n 1 0 0 9 9 2026-11-24 09:59:59\n 1 0 0 1 2 2026-11-24 10:00:00\n 1 0 0 0 4 2026-11-24 10:00:01\n";
    let pretty = "Linux 6.1 (n1)\n\n2026-11-24T10:00:00Z\n tps kB_read/s kB_wrtn/s Device\n 1.00 1.0k 2.0k sda\n\n\
        2026-11-24T10:00:01Z\n tps kB_read/s kB_wrtn/s Device\n 1.00 0.0k 4.0k sda\n";
    let split = "Linux 6.1 (n1)\n\n2026-11-24T10:00:00Z\n r/s rkB/s Device\n 1.00 1.00 sda\n\n w/s wkB/s Device\n 1.00 2.00 sda\n\n\
        2026-11-24T10:00:01Z\n r/s rkB/s Device\n 0.00 0.00 sda\n\n w/s wkB/s Device\n 1.00 4.00 sda\n";
    for (tool, text) in [("sar", sar), ("pidstat", pidstat), ("vmstat", vmstat), ("iostat", pretty), ("iostat", split)]
    {
        let t = parse(text).unwrap();
        let moved: Vec<_> = rows(&t).iter().map(|r| (r.op, r.bytes / 1024.0, r.end - r.start)).collect();
        assert_eq!(t.header.version.as_deref(), Some(tool));
        let sum = |op| moved.iter().filter(|m| m.0 == op).map(|m| m.1).sum::<f64>();
        assert_eq!((sum(Op::Read), sum(Op::Write)), (1.0, 6.0), "{tool}: {moved:?}");
        assert!(moved.iter().all(|m| m.2 == 1.0), "{tool}: {moved:?}");
        // what a process moved is counted again for the one that waited for it
        assert_eq!(codes(&t).contains(&"children-counted"), tool == "pidstat");
    }
}

#[test]
fn tables_of_dashboards_and_dstat_are_read() {
    let dstat = "\"Dstat 0.7.4 CSV output\"\n\n\"system\",\"dsk/sda\",,\"dsk/total\",\n\"time\",\"read\",\"writ\",\"read\",\"writ\"\n\
        Dec-31 23:59:58,9,9,9,9\nDec-31 23:59:59,0,2,0,2\nJan-01 00:00:00,1,4,1,4\n";
    let t = parse(dstat).unwrap();
    assert_eq!((total(&t, Op::Read), total(&t, Op::Write)), (1.0, 6.0));
    assert_eq!(codes(&t), ["since-start", "stacked-devices"]);
    let both = "\"Dstat 0.7.4 CSV output\"\n\n\"system\",\"epoch\",\"dsk/total\",\n\"time\",\"epoch\",\"read\",\"writ\"\n\
        29-11 06:27:07,1795933627.5,9,9\n29-11 06:27:08,1795933628.5,0,2\n29-11 06:27:09,1795933629.5,0,4\n";
    let t = parse(both).unwrap();
    assert_eq!((total(&t, Op::Write), t.origin_s, t.clock.zero_unix_s.is_some()), (6.0, 1_795_933_627, true));
    let grafana = "\"Time\",\"n1 write\",\"load\"\n2026-11-24 11:59:30,50.00 MB/s,1\n2026-11-24 11:59:31,0 B/s,2\n2026-11-24 11:59:32,2 KiB/s,3\n";
    let t = parse(grafana).unwrap();
    assert_eq!((total(&t, Op::Write), t.header.version.as_deref()), (50_002_048.0, Some("Grafana")));
    let influx = "name,tags,time,read_bytes,write_bytes\ndiskio,\"name=a\",1700000001000000000,0,100\n\
        diskio,\"name=b\",1700000001000000000,5,100\ndiskio,\"name=a\",1700000002000000000,0,150\ndiskio,\"name=b\",1700000002000000000,5,101\n";
    let t = parse(influx).unwrap();
    assert_eq!((total(&t, Op::Write), t.files.len(), t.origin_s), (51.0, 2, 1_700_000_001));
}

#[test]
fn dool_writes_bits_from_release_1_3_on_and_pcp_kilobytes() {
    for (name, options, bytes) in [
        ("dool 1.3.8", "-td", 1.0),
        ("dool 1.3.8", "-td --bytes", 8.0),
        ("dool 1.3.8", "--bytes --bits", 1.0),
        ("dool 1.3.8", "--dstat", 8.0),
        ("dool 1.10.0", "-td", 1.0),
        ("dool 1.2.0", "-td", 8.0),
        ("Dstat 1.1.0", "-td", 8.0),
        ("pcp-dstat 6.0.3", "-td", 12.5 * 1024.0),
    ] {
        let text = format!(
            "\"{name} CSV output\"\n\"Cmdline:\",\"/usr/bin/dool {options} --output x.csv\",,\n\
             \"system\",\"dsk/total\",\n\"time\",\"read\",\"writ\"\n\
             Nov-28 18:35:45,9,9\nNov-28 18:35:46,0,8\nNov-28 18:35:47,0,8\n"
        );
        assert_eq!(total(&parse(text).unwrap(), Op::Write), 2.0 * bytes, "{name} {options}");
    }
    // the first row of pcp-dstat ends behind its time
    let pcp = "\"pcp-dstat 6.0.3 CSV Output\"\n\"Cmdline:\",\"dstat -td --output x.csv 1\",,\n\n\"system\",\"total\",\n\
        \"time\",\"dsk/total:read\",\"dsk/total:writ\"\n29-11 05:31:50,\n29-11 05:31:51,0,8\n29-11 05:31:52,1,8\n";
    let t = parse(pcp).unwrap();
    assert_eq!((total(&t, Op::Read), total(&t, Op::Write)), (1024.0, 16_384.0));
    assert_eq!((t.quality.records_dropped, codes(&t).contains(&"unreadable-records")), (0, false), "{:?}", t.warnings);
}

#[test]
fn snapshots_of_nmon_are_rates_of_each_disk() {
    let text = "AAA,progname,nmon\nAAA,host,n1\nDISKREAD,Disk Read KB/s n1,sda,sdb\nDISKWRITE,Disk Write KB/s n1,sda,sdb\n\
        ZZZZ,T0001,23:59:58,27-NOV-2026\nDISKREAD,T0001,2.0,0.0\nDISKWRITE,T0001,4.5,1.0\n\
        ZZZZ,T0002,23:59:59,27-NOV-2026\nDISKREAD,T0002,0.0,0.0\nDISKWRITE,T0002,0.0,1.0\n\
        ZZZZ,T0003,00:00:00,28-NOV-2026\nDISKREAD,T0003,0.0,1.0\nDISKWRITE,T0003,8.0,1.0\n";
    let t = parse(text).unwrap();
    assert_eq!((total(&t, Op::Read), total(&t, Op::Write)), (3.0 * 1024.0, 15.5 * 1024.0), "{:?}", t.warnings);
    assert_eq!(
        (t.files.len(), t.header.version.as_deref(), t.warnings.len()),
        (2, Some("nmon"), 0),
        "{:?}",
        t.warnings
    );
}

#[test]
fn tables_of_pmrep_are_kilobytes_per_second() {
    let rows = "2026-11-28 19:04:29,,\n2026-11-28 19:04:30,3.000,0.500\n2026-11-28 19:04:31,1.000,0.500\n";
    let header = "Time,\"disk.dev.write_bytes-vda\",\"disk.dev.read_bytes-vda\"\n";
    let t = parse(header.to_owned() + rows).unwrap();
    assert_eq!((total(&t, Op::Read), total(&t, Op::Write), t.files.len()), (1024.0, 4096.0, 1));
}

#[test]
fn everything_in_a_json_file_is_read() {
    let answer = |from: u64| {
        let values: Vec<String> = (from..from + 3).map(|i| format!("[{},\"{}\"]", 1_700_000_000 + i, 10 * i)).collect();
        format!(
            "{{\"status\":\"success\",\"data\":{{\"resultType\":\"matrix\",\"result\":[{{\"metric\":{{\"__name__\":\"written_bytes_total\",\"fs\":\"a\"}},\"values\":[{}]}}]}},\"infos\":[\"x\"]}}\n",
            values.join(",")
        )
    };
    let t = parse(answer(0) + &answer(2) + &answer(5)).unwrap();
    assert_eq!((total(&t, Op::Write), codes(&t).len()), (70.0, 0), "{:?}", t.warnings);
    let iostat = |time: &str, comma: &str| {
        let block = |i: u32, w: &str| {
            format!(
                "{{{}\"disk\":[{{\"disk_device\":\"sda\",\"tps\":1,\"rMB/s\":0{comma},\"wMB/s\":{w}{comma}}}]}}",
                time.replace('?', &i.to_string())
            )
        };
        format!(
            "{{\"sysstat\":{{\"hosts\":[{{\"nodename\":\"n1\",\"statistics\":[\n,{},{}]}}]}}}}",
            block(0, "1"),
            block(1, "2")
        )
    };
    for comma in ["", ".50", ",50"] {
        let half = if comma.is_empty() { 0.0 } else { 1.0 };
        let t = parse(iostat("\"timestamp\":\"2026-11-24T10:00:0?+0000\",", comma)).unwrap();
        assert_eq!(
            (total(&t, Op::Write), t.header.version.as_deref()),
            ((3.0 + half) * 1_048_576.0, Some("iostat")),
            "{comma}"
        );
    }
    assert!(parse(iostat("", "")).unwrap_err().to_string().contains("iostat -t"));
}

#[test]
fn local_clocks_that_step_by_an_hour_are_put_right() {
    let row = |i: u32, zone: fn(u32) -> String| format!("n1;600;2026-10-25 {};sda;0;10\n", zone(i));
    let local = |i: u32| {
        let minute = if i > 9 { 10 * i - 60 } else { 10 * i };
        format!("{:02}:{:02}:00", 1 + minute / 60, minute % 60)
    };
    let named = |i: u32| {
        format!(
            "{} {}",
            {
                let m = if i > 9 { 10 * i - 60 } else { 10 * i };
                format!("{:02}:{:02}:00", 1 + m / 60, m % 60)
            },
            if i > 9 { "CET" } else { "CEST" }
        )
    };
    for (zone, expected) in [(local as fn(u32) -> String, &["clock-hour-step"][..]), (named as fn(u32) -> String, &[])]
    {
        let text = (0..24).map(|i| row(i, zone)).collect::<String>();
        let t = parse(format!("# hostname;interval;timestamp;DEV;rkB/s;wkB/s\n{text}")).unwrap();
        assert_eq!(codes(&t), expected);
        assert!(rows(&t).windows(2).all(|w| w[1].start == w[0].end), "{:?}", written(&t));
    }
}

#[test]
fn one_reading_says_that_it_is_one() {
    let lustre = "snapshot_time 1700000000.5 secs.nsecs\nwrite_bytes 9 samples [bytes] 1 9 81\n";
    for text in [lustre, "Linux 6.1 (n1)\n\nDevice tps kB_read/s kB_wrtn/s\nsda 1.23 4.00 5.00\n"] {
        let t = parse(text).unwrap();
        assert_eq!((codes(&t), t.data.len()), (vec!["one-reading"], 0));
        let e = analysis::analyze(&t, &Options::default()).err().unwrap();
        assert!(e.kind() == ErrorKind::Empty && e.to_string().contains("one reading"), "{e}");
    }
}

#[test]
fn times_that_cannot_be_read_are_an_error() {
    let e = with("when,write\nyesterday,5\ntoday,6\n", columns("time=when,write=write")).unwrap_err();
    assert!(e.to_string().contains("`yesterday`") && e.to_string().contains("S_TIME_FORMAT=ISO"), "{e}");
}

#[test]
fn conversion_to_records_and_back_keeps_every_step() {
    let text = "#UTC [DSK]ReadKBTot [DSK]WriteKBTot\n1700000001 3 4\n1700000002 0 7\n1700000003 1 0\n";
    let t = parse(text).unwrap();
    let mut files = Memory::default();
    writer("csv").unwrap().write(&t, &mut files).unwrap();
    let back = parse(files.0.values().next().unwrap()).unwrap();
    let Data::Requests(requests) = &back.data else { panic!("no records") };
    let moved = (back.origin_s - t.origin_s) as f64;
    let again =
        requests.iter().map(Interval::from).map(|r| Interval { start: r.start + moved, end: r.end + moved, ..r });
    assert_eq!(again.collect::<Vec<_>>(), rows(&t));
}

#[test]
fn large_tables_are_the_same_in_parts_and_as_a_whole() {
    let mut text = String::from("time,host,write\n");
    for i in 0..60_000 {
        text += &format!("{},n{},{}\n", i / 3, i % 3, (i * 7919) % 1000);
    }
    let t = with(&text, columns("time=time,host=host,write=write").kind(Some(ValueKind::Bytes))).unwrap();
    let expected: f64 = (0..60_000).map(|i| f64::from((i * 7919) % 1000)).sum();
    assert_eq!((total(&t, Op::Write), t.ranks, t.quality.records_read), (expected, 3, 60_000));
    assert!(rows(&t).chunk_by(|a, b| a.rank == b.rank).all(|r| r.windows(2).all(|w| w[0].end <= w[1].start)));
}

/// The transfers of a table that is followed, in pieces of so many bytes.
fn followed(text: &str, series: SeriesOptions, piece: usize) -> Vec<Interval> {
    let mut tail = Tail::new(None, &Limits::default()).unwrap().with(&ReadOptions::default().series(series));
    let mut all = Vec::new();
    for part in text.as_bytes().chunks(piece) {
        tail.push(part);
        while let Some(message) = tail.next_message().unwrap() {
            all.extend(message.transfers);
        }
    }
    tail.end();
    while let Some(message) = tail.next_message().unwrap() {
        all.extend(message.transfers);
    }
    assert_eq!(tail.faults().malformed, 0, "{:?}", tail.faults().first);
    all
}

#[test]
fn a_table_that_grows_gives_what_the_finished_one_holds() {
    let collectl = "waiting for 1 second sample...\n#UTC [DSK]ReadKBTot [DSK]WriteKBTot\n\
        1700000001 3 4\n1700000002 0 7\n1700000003 1 0\n1700000004 1 9\n";
    let counters = "when,node,bytes\n1,a,5\n1,b,7\n2,a,8\n2,b,7\n3,a,1\n3,b,9\n4,a,2\n4,b,11\n";
    let summer = (0..24u32).fold(String::from("# hostname;interval;timestamp;DEV;rkB/s;wkB/s\n"), |text, i| {
        let minute = 60 + if i > 9 { 10 * i - 60 } else { 10 * i };
        text + &format!("n1;600;2026-10-25 {:02}:{:02}:00;sda;0;10\n", minute / 60, minute % 60)
    });
    let mounts = (0..12u64).fold(String::from("when,where,hits,bytes\n"), |text, i| {
        text + &format!("{i},scratch,{0},{1}\n{i},home,{0},{2}\n", i * 37 % 11, 5_000_000_000 + i * 1000, 7000 + i)
    });
    let cases = [
        (collectl, SeriesOptions::default()),
        (counters, columns("time=when,host=node,write=bytes").kind(Some(ValueKind::Cumulative))),
        (counters, columns("time=when,where=node:b,write=bytes").stamp(Some(Stamp::Start))),
        ("10:00:00 4\n10:00:01 5\n10:00:02 6\n", columns("time=1,read=2")),
        ("timestamp,write\n2026-11-23 09:38:04.5,8\n2026-11-23 09:38:05.0,8\n", SeriesOptions::default()),
        // one row, rows of one time, a local clock that is put back, columns that change
        ("time,write\n5,8\n", columns("time=time,write=write")),
        ("time,write\n1,8\n1,2\n2,1\n3,1\n3,5\n", columns("time=time,write=write")),
        (&summer, SeriesOptions::default()),
        (
            "# hostname;interval;timestamp;DEV;rkB/s;wkB/s\nn;1;1700000001;sda;1;2\nn;1;1700000001;sda1;1;2\n\
             # hostname;interval;timestamp;CPU;%user\nn;1;1700000001;-1;3\n\
             # hostname;interval;timestamp;DEV;rkB/s;wkB/s\nn;1;1700000002;sda;1;2\nn;1;1700000002;sda1;1;2\n",
            SeriesOptions::default(),
        ),
        (&mounts, columns("time=when,write=bytes").kind(Some(ValueKind::Cumulative))),
    ];
    for (text, series) in cases {
        let t = with(text, series.clone()).unwrap();
        let origin = t.origin_s as f64;
        let row = |r: &Interval| (r.end, r.start, r.bytes, format!("{:?}", r.op));
        let in_order = |rows: &mut Vec<(f64, f64, f64, String)>| {
            rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
        };
        let mut whole: Vec<_> =
            rows(&t).iter().map(|r| row(&Interval { start: origin + r.start, end: origin + r.end, ..*r })).collect();
        in_order(&mut whole);
        for piece in [1, 7, 1000] {
            let mut grown: Vec<_> = followed(text, series.clone(), piece).iter().map(row).collect();
            in_order(&mut grown);
            assert_eq!(grown, whole, "{text}");
        }
    }
}

/// A store that waits for the next row to know a step does not give that step again when it goes on.
#[test]
fn a_table_that_was_read_to_its_end_goes_on_behind_it() {
    let text = "time,write\n1,8\n2,4\n3,2\n4,1\n5,3\n6,3\n7,3\n8,3\n9,3\n10,3\n11,3\n";
    let options = ReadOptions::default().series(columns("time=time,write=write").stamp(Some(Stamp::Start)));
    let begun = |lines: usize| text.split_inclusive('\n').take(lines).collect::<String>();
    let bytes = |tail: &mut Tail, after: u64| {
        let mut sum = 0.0;
        while let Some(message) = tail.next_message().unwrap() {
            sum += message.transfers.iter().filter(|_| tail.position() > after).map(|t| t.bytes).sum::<f64>();
        }
        sum
    };
    for lines in 2..12 {
        let mut first = Tail::new(None, &Limits::default()).unwrap().with(&options);
        first.push(begun(lines).as_bytes());
        first.end();
        let before = bytes(&mut first, 0);
        let mut next = Tail::resume(first.form().unwrap().clone(), first.position(), &Limits::default()).unwrap();
        assert!(next.rereads());
        next.push(text.as_bytes());
        next.end();
        assert_eq!(before + bytes(&mut next, first.position()), 36.0, "{lines}");
    }
}

#[test]
fn damage_is_survived() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/robustness");
    for entry in fs::read_dir(folder).unwrap().step_by(super::every(2)) {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains(".series.") {
            torture("series", &fs::read(path).unwrap());
        }
    }
}

proptest! {
    #[test]
    fn any_table_is_an_answer(text in "[ -~\n]{0,200}", spec in 0usize..4) {
        let spec = ["time=1,write=2", "write=1+2,host=3", "time=1+2,value=3", "time=a,end=b,read=c,rank=d"][spec];
        let header = "a,b,c,d\n";
        for text in [text.clone(), format!("{header}{text}")] {
            if let Ok(t) = with(&text, columns(spec)) {
                super::text::check(&t, text.len().max(1) * 2);
            }
        }
    }

    #[test]
    fn bytes_of_a_counter_are_conserved(values in prop::collection::vec(0u32..1_000_000, 2..50), nodes in 1usize..4) {
        let mut text = String::from("t,h,c\n");
        let mut sums = vec![0u64; nodes];
        let firsts: Vec<u64> = (0..nodes).map(|n| u64::from(values[n % values.len()])).collect();
        for (i, v) in values.iter().enumerate() {
            sums[i % nodes] += u64::from(*v);
            text += &format!("{},n{},{}\n", i, i % nodes, sums[i % nodes]);
        }
        let t = with(&text, columns("time=t,host=h,write=c").kind(Some(ValueKind::Cumulative))).unwrap();
        let seen = values.len().min(nodes);
        let expected: u64 = sums.iter().zip(&firsts).take(seen).map(|(s, f)| s - f).sum();
        prop_assert!((total(&t, Op::Write) - expected as f64).abs() < 1e-6);
    }
}
