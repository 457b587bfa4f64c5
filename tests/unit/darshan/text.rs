//! The text that Darshan's tools print of a log gives the same answers as the log.

use std::fmt::Write;

use iophase::formats::{Limits, ReadOptions};
use iophase::internals::formats::darshan::{ByteOrder, Log, Schema, Segment};
use iophase::record::{Data, Layer, Request, Trace};

use super::{codes, data, intervals, read_bytes, requests, summary};

/// Output of darshan-parser and darshan-dxt-parser for a log, with all digits.
fn printed(log: &Log) -> String {
    let (header, job, mut out) = (log.header(), log.job(), String::new());
    let mut line = |text: String| writeln!(out, "{text}").unwrap();
    line("\n# *WARNING*: not of this log".to_owned());
    line(format!("# darshan log version: {}", header.version));
    line(format!("# exe: {}", job.executable));
    line(format!("# uid: {}\n# jobid: {}", job.uid, job.id));
    line(format!("# start_time: {}\n# start_time_asci: Thu Dec  3 12:42:22 2020", job.start.0));
    line(format!("# end_time: {}\n# nprocs: {}", job.end.0, job.processes));
    if job.fine {
        line(format!("# run time: {}", job.run_time_s()));
    }
    job.metadata.iter().for_each(|(key, value)| line(format!("# metadata: {key} = {value}")));
    for s in header.slots.iter().filter(|s| s.length > 0) {
        line(format!("# {} module: {} bytes (compressed), ver={}", s.module.name(), s.length, s.version));
    }
    job.mounts.iter().for_each(|(kind, path)| line(format!("# mount entry:\t{path}\t{kind}")));
    for slot in header.slots.iter().filter(|s| s.partial) {
        line(format!("# *WARNING*: The {} module contains incomplete data!", slot.module.name()));
    }
    for layer in [Layer::Posix, Layer::Mpiio, Layer::Stdio] {
        let Some(table) = log.counters(layer).unwrap() else { continue };
        let schema = Schema::of(layer);
        for r in &table.records {
            let file = log.names().get(r.id).unwrap_or("");
            let head = format!("{}\t{}\t{}", schema.module().name(), r.rank, r.id);
            let ints = schema.ints.iter().zip(&r.ints).map(|(name, n)| (name, n.to_string()));
            let floats = schema.floats.iter().zip(&r.floats).map(|(name, x)| (name, x.to_string()));
            ints.chain(floats).for_each(|(name, value)| line(format!("{head}\t{name}\t{value}\t{file}\t/\text4")));
        }
    }
    for r in log.heatmaps().unwrap() {
        let file = log.names().get(r.id).unwrap_or("");
        let mut bin = |name: String, value: String| {
            line(format!("HEATMAP\t{}\t{}\t{name}\t{value}\t{file}\tUNKNOWN\tUNKNOWN", r.rank, r.id))
        };
        bin("HEATMAP_F_BIN_WIDTH_SECONDS".into(), r.bin_s.to_string());
        r.read.iter().enumerate().for_each(|(i, n)| bin(format!("HEATMAP_READ_BIN_{i}"), n.to_string()));
        r.written.iter().enumerate().for_each(|(i, n)| bin(format!("HEATMAP_WRITE_BIN_{i}"), n.to_string()));
    }
    for (layer, name) in [(Layer::Posix, "X_POSIX"), (Layer::Mpiio, "X_MPIIO")] {
        line(format!("# DXT_{} module data", &name[2..]));
        for r in log.dxt(layer).unwrap() {
            let h = &r.header;
            line(format!("\n# DXT, file_id: {}, file_name: {}", h.id, log.names().get(h.id).unwrap_or("")));
            line(format!("# DXT, rank: {}, hostname: {}", h.rank, h.host()));
            line(format!("# DXT, write_count: {}, read_count: {}", h.writes, h.reads));
            line("# DXT, mnt_pt: /, fs_type: ext4".to_owned());
            line(
                "# Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)  [OST]"
                    .to_owned(),
            );
            for (direction, all) in [("write", &r.writes), ("read", &r.reads)] {
                for (i, Segment { offset, length, start, end, .. }) in all.iter().enumerate() {
                    line(format!(
                        " {name} {:7} {direction:>6} {i:8} {offset:15} {length:15} {start} {end}  [  2]",
                        h.rank
                    ));
                }
            }
        }
    }
    out
}

fn both(bytes: &[u8], options: &ReadOptions) -> Option<(Trace, Trace)> {
    let log = Log::new(bytes.to_vec(), &Limits::default()).unwrap();
    let whole = log.header().order == ByteOrder::Little && log.header().cut.is_empty();
    whole.then(|| (read_bytes(bytes, options).unwrap(), read_bytes(printed(&log).as_bytes(), options).unwrap()))
}

#[test]
fn the_text_of_a_log_gives_the_rows_and_counters_of_the_log() {
    let mut compared = 0;
    let mut names: Vec<_> = std::fs::read_dir(data().join("good")).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    for path in names.iter().filter(|p| p.extension().is_some_and(|e| e == "darshan")) {
        let bytes = std::fs::read(path).unwrap();
        let Some((log, text)) = both(&bytes, &ReadOptions::default().counters(true).all_layers(true)) else { continue };
        let name = path.display();
        assert_eq!((text.format, text.layer, text.timing), ("darshan", log.layer, log.timing), "{name}");
        // a text has no nanoseconds of the start, and no threads
        let facts = |t: &Trace| t.job.as_ref().map(|j| (j.id, j.ranks, j.executable.clone(), j.run_time_s));
        assert_eq!((facts(&text), &text.hosts), (facts(&log), &log.hosts), "{name}");
        let rows = |t: &Trace| requests(t).into_iter().map(|r| Request { task: 0, ..r }).collect::<Vec<_>>();
        match log.data {
            Data::Requests(_) => assert_eq!(rows(&text), rows(&log), "{name}"),
            Data::Intervals(_) => assert_eq!(intervals(&text), intervals(&log), "{name}"),
        }
        let summary = |t: &Trace, layer: &str| t.layers.iter().find(|s| s.layer == layer).cloned();
        for layer in ["posix", "mpiio", "stdio", "dxt-posix", "dxt-mpiio", "heatmap-posix"] {
            assert_eq!(summary(&text, layer), summary(&log, layer), "{name} {layer}");
        }
        compared += 1;
    }
    assert!(compared > 5, "{compared}");
}

const SEGMENTS: &str = "# darshan log version: 3.21\n# start_time: 1607020942\n# end_time: 1607022513\n# nprocs: 2\n\
    # DXT, file_id: 77, file_name: /x\n# DXT, rank: 1, hostname: n1\n# DXT, write_count: 2, read_count: 1\n\
    # Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)\n \
    X_POSIX       1  write        0               0             260     42.7549     42.7551\n \
    X_POSIX       1  write        1             260             262     52.7549     52.7551\n \
    X_POSIX       1   read        0               0             100     62.7549     62.7551\n";

#[test]
fn what_a_cut_text_lacks_is_told() {
    let t = read_bytes(SEGMENTS.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!((t.data.len(), codes(&t)), (3, vec![]));
    assert_eq!((t.ranks, t.job.as_ref().unwrap().run_time_s), (2, Some(1572.0)));
    let cut = SEGMENTS.len() - 100;
    let t = read_bytes(&SEGMENTS.as_bytes()[..cut], &ReadOptions::default()).unwrap();
    assert_eq!((t.data.len(), codes(&t)), (1, vec!["damaged-tail", "missing-segments"]));
}

#[test]
fn segments_without_offsets_have_none() {
    // the fifth of eight columns
    let without = |line: &str| match line.split_ascii_whitespace().collect::<Vec<_>>() {
        words if words.len() == 8 && line.starts_with(' ') => [&words[..4], &words[5..]].concat().join(" "),
        _ => line.replace("Offset", ""),
    };
    let text: String = SEGMENTS.lines().map(|line| without(line).replace("X_POSIX", "X_MPIIO") + "\n").collect();
    let t = read_bytes(text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(requests(&t).iter().map(|r| r.offset).collect::<Vec<_>>(), [iophase::record::UNKNOWN_OFFSET; 3]);
}

#[test]
fn what_a_text_does_not_say_is_unknown() {
    let text = "# darshan log version: 3.41\n# nprocs: 4\nPOSIX\t-1\t77\tPOSIX_BYTES_WRITTEN\t4096\t/x\t/\text4\n";
    let t = read_bytes(text.as_bytes(), &ReadOptions::default().counters(true)).unwrap();
    let job = t.job.as_ref().unwrap();
    assert_eq!((job.id, job.start_unix_s, t.clock.zero_unix_s), (None, None, None));
    let io = iophase::analysis::Info::of(&t).io;
    assert!(io.share.is_none() && io.why.as_ref().unwrap().contains("times are not known"), "{io:?}");
    assert!(io.mean_s.is_none() && io.mean_write_s.is_none() && io.io_s.is_none() && io.layers.is_empty(), "{io:?}");
    assert!(t.header.byte_order.is_none() && t.header.compression.is_none());
    assert_eq!(summary(&t, "posix").unwrap().bytes_written, 4096);
}

#[test]
fn totals_and_texts_of_darshan_2_are_refused_with_a_way() {
    let refused = |text: &str| read_bytes(text.as_bytes(), &ReadOptions::default()).unwrap_err().to_string();
    let e = refused("# darshan log version: 3.41\n# nprocs: 1\n\ntotal_POSIX_OPENS: 4\n");
    assert!(e.contains("totals") && e.contains("--total"), "{e}");
    let e = refused("# darshan log version: 2.06\n# nprocs: 1\n0\t7\tCP_POSIX_READS\t3\tx\t/\text4\n");
    assert!(e.contains("Darshan 2") && e.contains("darshan-util 2.3.1"), "{e}");
}
