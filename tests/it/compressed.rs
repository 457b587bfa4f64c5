//! Compressed inputs: every kind keeps the same promises.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use iophase::formats::{self, Patterns, ReadOptions, Source};
use iophase::record::{Data, Trace};
use iophase::{ErrorKind, Result};

type Pack = fn(&[u8]) -> Vec<u8>;

const KINDS: [(&str, Pack); 4] = [("gzip", gzip), ("bzip2", bzip2), ("xz", xz), ("zstd", zstd)];

pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    z.write_all(text).unwrap();
    z.finish().unwrap()
}

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut z = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    z.write_all(text).unwrap();
    z.finish().unwrap()
}

fn xz(text: &[u8]) -> Vec<u8> {
    let mut z = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(0)).unwrap();
    z.write_all(text).unwrap();
    z.finish().unwrap()
}

pub fn zstd(text: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
}

/// Rows whose numbers hardly compress, from the row `from` on.
fn rows(from: u64, count: u64) -> String {
    let size = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 34;
    let row = |i: u64| format!("write,f{},{i},{i}.{:06},{}\n", i % 7, size(i) % 999_983, size(!i));
    (from..from + count).map(row).collect()
}

/// A table in three parts, the first with the header.
fn parts(count: u64) -> [String; 3] {
    let header = "op,file,start,end,size\n".to_owned();
    [header + &rows(0, count), rows(count, count), rows(2 * count, count)]
}

fn read(bytes: impl Into<Vec<u8>>) -> Result<Trace> {
    formats::read(&Source::from_bytes("input", bytes), None, &ReadOptions::default())
}

fn times_and_sizes(trace: &Trace) -> Vec<(f64, f64, u64)> {
    let Data::Requests(r) = &trace.data else { panic!("no requests") };
    r.start.iter().zip(&r.end).zip(r.size.iter()).map(|((start, end), size)| (*start, *end, size)).collect()
}

fn is_damaged(trace: &Trace) -> bool {
    trace.warnings.iter().any(|w| w.code == "damaged-tail")
}

#[test]
fn members_one_after_the_other_are_one_input() {
    let parts = parts(20);
    let all = times_and_sizes(&read(parts.concat()).unwrap());
    for (kind, pack) in KINDS {
        // between the members one that holds nothing, and a line that two of them share
        let (start, end) = parts[1].split_at(parts[1].len() / 2 + 3);
        let mut packed = [&parts[0], "", start, end, &parts[2]].map(|t| pack(t.as_bytes()));
        if kind == "zstd" {
            let skipped = b"\x5e\x2a\x4d\x18\x03\0\0\0abc";
            packed.iter_mut().for_each(|frame| *frame = [skipped, &frame[..], skipped].concat());
        }
        if kind == "xz" {
            packed.iter_mut().for_each(|stream| stream.extend([0; 8]));
        }
        let trace = read(packed.concat()).unwrap_or_else(|e| panic!("{kind}: {e}"));
        assert!(times_and_sizes(&trace) == all && trace.warnings.is_empty(), "{kind}: {:?}", trace.warnings);
        assert_eq!(trace.header.compression.as_deref(), Some(kind));
    }
}

#[test]
fn what_other_programs_compress_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/compressed");
    let expected = [(0.0, 1.0, 4096), (2.0, 2.5, 512), (3.0, 4.0, 8192)];
    for ending in ["gz", "bz2", "xz", "zst"] {
        let packed = fs::read(folder.join(format!("two.csv.{ending}"))).unwrap();
        let trace = read(packed).unwrap_or_else(|e| panic!("{ending}: {e}"));
        assert!(times_and_sizes(&trace) == expected && trace.warnings.is_empty(), "{ending}: {:?}", trace.warnings);
    }
    // of a frame in which matches may reach back to its start, too, what was decoded is kept: two of three blocks
    let mut packed = fs::read(folder.join("repeated.csv.zst")).unwrap();
    assert_eq!(read(packed.clone()).unwrap().data.len(), 20_000);
    packed.truncate(packed.len() - 5);
    let trace = read(packed).unwrap();
    assert!(trace.data.len() >= (256 << 10) / 17 - 2 && is_damaged(&trace), "{} rows", trace.data.len());
}

#[test]
fn a_cut_costs_the_tail_and_is_told() {
    let parts = parts(12);
    let all = times_and_sizes(&read(parts.concat()).unwrap());
    for (kind, pack) in KINDS {
        let packed = parts.each_ref().map(|t| pack(t.as_bytes()));
        let ends = [packed[0].len(), packed[0].len() + packed[1].len()];
        let whole = packed.concat();
        for n in 1..whole.len() {
            let members = ends.iter().filter(|end| **end <= n).count();
            let trace = match read(&whole[..n]) {
                Ok(trace) => trace,
                Err(e) => {
                    assert!(members == 0 && e.exit_code() >= 3, "{kind}, cut at byte {n}: {e}");
                    continue;
                }
            };
            let rows = times_and_sizes(&trace);
            assert!(
                rows.len() >= 12 * members && all.starts_with(&rows),
                "{kind}, cut at byte {n}: {} rows",
                rows.len()
            );
            assert!(is_damaged(&trace) || ends.contains(&n), "{kind}, cut at byte {n}: {:?}", trace.warnings);
        }
    }
}

#[test]
fn a_cut_in_a_large_member_costs_a_block() {
    // at most: a block of bzip2 and of zstd
    const LOST: usize = 128 << 10;
    let text = parts(12_000).concat();
    let count = read(text.clone()).unwrap().data.len();
    for (kind, pack) in KINDS {
        let packed = pack(text.as_bytes());
        for tenths in [5, 9] {
            let trace = read(&packed[..packed.len() * tenths / 10]).unwrap_or_else(|e| panic!("{kind}: {e}"));
            let (kept, per_row) = (trace.data.len(), text.len() / count);
            let least = (count * tenths / 10).saturating_sub(LOST / per_row + count / 50);
            assert!(kept >= least && kept < count && is_damaged(&trace), "{kind}: {kept} of {count} rows");
        }
    }
}

#[test]
fn a_flipped_bit_never_gives_other_rows_unnoticed() {
    let [first, second, _] = parts(6);
    let all = times_and_sizes(&read(format!("{first}{second}")).unwrap());
    for (kind, pack) in KINDS {
        let whole = [pack(first.as_bytes()), pack(second.as_bytes())].concat();
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(trace) = read(bytes) {
                assert!(
                    is_damaged(&trace) || times_and_sizes(&trace) == all,
                    "{kind}, bit {bit}: {:?}",
                    trace.warnings
                );
            }
        }
    }
}

#[test]
fn what_follows_the_last_member_is_named() {
    let text = parts(5).concat();
    let all = times_and_sizes(&read(text.clone()).unwrap());
    for (kind, pack) in KINDS {
        let packed = pack(text.as_bytes());
        for tail in [&b"\0"[..], b"\0\0\0\0\0", b"garbage", text.as_bytes(), &packed[..2], &packed[..9]] {
            let trace = read([&packed, tail].concat()).unwrap_or_else(|e| panic!("{kind}: {e}"));
            let named = trace.warnings.iter().any(|w| w.code == "damaged-tail" && w.message.contains(kind));
            assert!(times_and_sizes(&trace) == all && named, "{kind}, {tail:?}: {:?}", trace.warnings);
        }
    }
}

/// Standard output and exit code of the program; the input is a file, or standard input.
fn convert(file: &Path, piped: bool) -> (Vec<u8>, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iophase"));
    command.arg("convert").arg(if piped { Path::new("-") } else { file }).args(["--to", "csv", "-o", "-", "-qq"]);
    command.stdin(if piped { fs::File::open(file).unwrap().into() } else { Stdio::null() });
    let o = command.output().unwrap();
    (o.stdout, o.status.code())
}

#[test]
fn standard_input_is_read_as_a_file_is() {
    let dir = tempfile::tempdir().unwrap();
    // more than the head, as stored and as it is; and a format that goes to and fro
    let text = parts(8_000).concat();
    let log = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/stable.darshan")).unwrap();
    for (kind, pack) in KINDS {
        for (name, content) in [("table", text.as_bytes()), ("log", &log), ("few", &text.as_bytes()[..300])] {
            let (path, plain) = (dir.path().join(format!("{kind}-{name}")), dir.path().join(name));
            fs::write(&path, pack(content)).unwrap();
            fs::write(&plain, content).unwrap();
            let expected = convert(&plain, false);
            assert!(expected.0.len() > 100 && expected.1 == Some(0), "{name}");
            assert!(convert(&path, false) == expected, "{kind}, {name}: file");
            assert!(convert(&path, true) == expected, "{kind}, {name}: standard input");
            let mut packed = fs::read(&path).unwrap();
            packed.truncate(packed.len() - 3);
            fs::write(&path, packed).unwrap();
            assert!(convert(&path, true) == convert(&path, false), "{kind}, {name}, cut");
        }
    }
}

/// The samples of all formats.
pub fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/robustness");
    let mut all: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    all
}

#[test]
fn every_format_tells_of_damage_behind_its_rows() {
    let pattern = r"^(?P<start>\S+) rank (?P<rank>\d+) (?P<op>\w+) (?P<size>.+) to (?P<file>\S+) in (?P<duration>.+)$";
    let by_pattern = Patterns::rows(&[pattern.to_owned()]).unwrap();
    // of the last check sum; that of the index of xz
    let sums = [("gzip", 5), ("bzip2", 4), ("xz", 14), ("zstd", 1)];
    for path in samples() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let patterns = name.ends_with(".regex.log").then(|| by_pattern.clone());
        let options = ReadOptions::default().patterns(patterns).order_suffices(true);
        let read = |bytes: Vec<u8>| formats::read(&Source::from_bytes(name, bytes), None, &options);
        let content = fs::read(&path).unwrap();
        let plain = read(content.clone()).unwrap();
        for ((kind, pack), (_, from_end)) in KINDS.into_iter().zip(sums) {
            let packed = pack(&content);
            let trace = read(packed.clone()).unwrap_or_else(|e| panic!("{kind}: {e}"));
            assert_eq!(format!("{:?}", trace.data), format!("{:?}", plain.data), "{kind}: {name}");
            assert_eq!(trace.warnings, plain.warnings, "{kind}: {name}");
            let garbage = [&packed[..], b"garbage"].concat();
            let mut wrong_sum = packed;
            let at = wrong_sum.len() - from_end;
            wrong_sum[at] ^= 1;
            for damaged in [garbage, wrong_sum] {
                match read(damaged) {
                    Ok(trace) => {
                        let told: Vec<_> = trace.warnings.iter().filter(|w| w.message.contains(kind)).collect();
                        assert_eq!(told.len(), 1, "{kind}: {name}: {:?}", trace.warnings);
                    }
                    Err(e) => assert!(e.to_string().contains(kind), "{e}"),
                }
            }
        }
    }
}

#[test]
fn the_window_of_a_decompressor_counts_as_memory() {
    // no check sum, a window of 2 GiB, and an empty block that is the last
    let zstd = b"\x28\xb5\x2f\xfd\x00\xa8\x01\0\0".to_vec();
    // a dictionary of 4 GiB, behind the head of the stream and the flags of the block
    let mut xz = xz(parts(3).concat().as_bytes());
    xz[16] = 40;
    let mut sum = flate2::Crc::new();
    sum.update(&xz[12..20]);
    xz[20..24].copy_from_slice(&sum.sum().to_le_bytes());
    for bytes in [zstd, xz] {
        let e = read(bytes).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Limit, "{e}");
    }
}
