//! Known formats that are not read, so that an error can name them.

use super::compression::Compression;
use super::json::member_names;
use super::lines::lines;

/// A format that is known and not read.
pub(super) struct Foreign {
    /// Description of the input in errors.
    pub what: &'static str,
    /// Advice on how to analyse it all the same.
    pub remedy: &'static str,
    is: fn(&[u8]) -> bool,
}

const RECORD_ELSE: &str = "record the job with Darshan, strace or another recorder that `docs/record.md` lists";
const DECOMPRESS: &str = "decompress it first";
const DECOMPRESS_ONCE: &str = "decompress it once";
const AS_TEXT: &str = "print it as text and read that by patterns (format regex)";

/// The formats, those with the longest sign first.
const ALL: &[Foreign] = &[
    Foreign {
        what: "an SQLite database, such as Nsight Systems exports",
        remedy: "it holds no bytes of POSIX calls; export the events as Chrome trace, or record the job with strace",
        is: |head| head.starts_with(b"SQLite format 3\0"),
    },
    Foreign {
        what: "an HDF5 file",
        remedy: "it is data, not a trace: record the program that reads or writes it",
        is: |head| head.starts_with(b"\x89HDF\r\n\x1a\n"),
    },
    Foreign {
        what: "a NetCDF file",
        remedy: "it is data, not a trace: record the program that reads or writes it",
        is: |head| matches!(head, [b'C', b'D', b'F', 1 | 2 | 5, ..]),
    },
    Foreign {
        what: "the recording of perf record",
        remedy: "print it with `perf script` and read that text by patterns (format regex)",
        is: |head| head.starts_with(b"PERFILE2"),
    },
    Foreign {
        what: "a Common Trace Format stream, such as LTTng writes",
        remedy: "print it with `babeltrace2` and read that text by patterns (format regex)",
        is: |head| matches!(head, [0xc1, 0x1f, 0xfc, 0xc1, ..] | [0xc1, 0xfc, 0x1f, 0xc1, ..]),
    },
    Foreign {
        what: "the binary output of blktrace",
        remedy: "print it with `blkparse` and read that text by patterns (format regex)",
        is: |head| matches!(head, [_, b't', b'a', b'e', ..] | [b'e', b'a', b't', _, ..]),
    },
    Foreign {
        what: "a Parquet file",
        remedy: "write it as CSV with the columns op, size, start",
        is: |head| head.starts_with(b"PAR1"),
    },
    Foreign { what: "a Paraver trace of Extrae", remedy: RECORD_ELSE, is: |head| head.starts_with(b"#Paraver (") },
    Foreign {
        what: "output of IOR as JSON, which has totals of each repetition and no course over time",
        remedy: "record the run of IOR with Darshan, strace or Recorder",
        is: is_ior,
    },
    Foreign {
        what: "an OTF2 archive, such as Score-P writes",
        remedy: "print it with `otf2-print` and read that text by patterns (format regex), or record the job with Darshan or strace",
        is: |head| matches!(head, [3, 0x42 | 0x23, ..]),
    },
    Foreign {
        what: "a Perfetto trace in its binary form",
        remedy: "convert it with `traceconv json`",
        is: is_perfetto,
    },
    Foreign {
        what: "a binary file of sysstat (sar)",
        remedy: "print it with `sadf -d -U FILE -- -d > node.csv` and read that",
        is: |head| matches!(head, [0x96, 0xd5, 0x75, 0x21, ..] | [0xd5, 0x96, 0x21, 0x75, ..]),
    },
    Foreign {
        what: "sysstat's data as XML",
        remedy: "print it as JSON with `sadf -j FILE -- -d > node.json` and read that",
        is: |head| has_line(head, &[b"<sysstat"]),
    },
    Foreign {
        what: "the output of sadf -p, which has one value a line",
        remedy: "print it with `sadf -d -U FILE -- -d > node.csv` and read that",
        is: |head| has_line(head, &[b"\trkB/s\t"]),
    },
    Foreign {
        what: "a raw file of collectl",
        remedy: "print it with `collectl -p FILE -P -oU -sD > node.txt` and read that",
        is: |head| head.starts_with(b"####") && memchr::memmem::find(head, b"# Collectl:").is_some(),
    },
    Foreign {
        what: "the terminal output of collectl",
        remedy: "record with `collectl -sD -i 1 -P -oU > node.txt` and read that",
        is: |head| has_line(head, &[b"KBRead", b"KBWrit"]) || has_line(head, &[b"# ", b" STATISTICS ", b"/sec)"]),
    },
    Foreign {
        what: "a raw file of atop",
        remedy: "print it with `atop -r FILE -P DSK > node.txt` and read that",
        is: |head| matches!(head, [0xef, 0xbe, 0xed, 0xfe, ..] | [0xfe, 0xed, 0xbe, 0xef, ..]),
    },
    Foreign {
        what: "the output of atop -P DSK, which begins with the sums since the machine started",
        remedy: "take the intervals with `sed 1,/SEP/d FILE | grep ^DSK > node.txt`, and read that with \
                 `--columns time=3,device=7,read=10,write=12 --kind bytes --unit sector --sep space`",
        is: |head| head.starts_with(b"RESET\nDSK "),
    },
    Foreign {
        what: "the text of pmrep",
        remedy: "write a table with `pmrep -o csv` and read that",
        is: |head| has_line(head, &[b"Kbyte/s"]),
    },
    Foreign {
        what: "the output of iotop",
        remedy: "record with `S_TIME_FORMAT=ISO pidstat -d 1 > node.txt` and read that",
        is: |head| has_line(head, &[b"Total DISK READ", b"Total DISK WRITE"]),
    },
    Foreign {
        what: "the table of vmstat -d, which has sums since the machine started and no times",
        remedy: "record with `S_TIME_FORMAT=ISO iostat -d -t 1 > node.txt` and read that",
        is: |head| has_line(head, &[b"disk-", b"---reads---", b"---writes---"]),
    },
    Foreign {
        what: "the report of fio, which has totals of each job and no course over time",
        remedy: "run fio with `--write_bw_log=NAME`, and read NAME_bw.1.log as docs/text.md shows",
        is: |head| {
            let json = || head.trim_ascii_start().starts_with(b"{") && has_line(head, &[b"\"fio version\""]);
            json() || has_line(head, &[b": (g=", b"): rw="]) || has_line(head, &[b";fio-", b";"])
        },
    },
    Foreign {
        what: "the list of requests of fio (--write_iolog)",
        remedy: "one of version 3 has microseconds: read it with \
                 --pattern '^(?P<start_us>\\d+) (?P<file>\\S+) (?P<op>read|write) (?P<offset>\\d+) (?P<size>\\d+)'",
        is: |head| head.starts_with(b"fio version ") && has_line(head, &[b" iolog"]),
    },
    Foreign {
        what: "a log of fio",
        remedy: "docs/text.md has the file of patterns for a bandwidth log",
        is: is_fio_log,
    },
    Foreign {
        what: "a file packed twice",
        remedy: DECOMPRESS_ONCE,
        is: |head| Compression::of(head) != Compression::None,
    },
    Foreign { what: "an archive packed with zip", remedy: DECOMPRESS, is: |head| head.starts_with(b"PK\x03\x04") },
    Foreign { what: "a file packed with lz4", remedy: DECOMPRESS, is: |head| head.starts_with(b"\x04\x22\x4d\x18") },
    Foreign { what: "a tar archive", remedy: "unpack it with `tar -xf` into a folder, and name that", is: is_tar },
    Foreign {
        what: "the summary of strace -c, which has totals of each call and no course over time",
        remedy: "record the calls themselves: `strace -f -ttt -T -y -o FILE`, with -C for the summary as well",
        is: |head| has_line(head, &[b"% time", b"usecs/call", b"syscall"]),
    },
    Foreign {
        what: "the output of perf trace",
        remedy: "record with `strace -f -ttt -T -y -o FILE`, or read this text by patterns (format regex)",
        is: |head| has_line(head, &[b" ms): ", b"(", b") = "]),
    },
    Foreign {
        what: "an archive of Performance Co-Pilot",
        remedy: "print it with `pmrep -a FILE -o csv disk.dev.read_bytes disk.dev.write_bytes > node.csv` and read that",
        is: |head| matches!(head, [0, 0, 0, _, 0x50, 0x05, 0x26, 1..=3, ..]),
    },
    Foreign { what: "a program", remedy: "name the trace that it left", is: |head| head.starts_with(b"\x7fELF") },
    Foreign {
        what: "a capture of network packets",
        remedy: AS_TEXT,
        is: |head| {
            matches!(head, [0xd4, 0xc3, 0xb2, 0xa1, ..] | [0xa1, 0xb2, 0xc3, 0xd4, ..] | [0x0a, 0x0d, 0x0d, 0x0a, ..])
        },
    },
];

/// True for an archive whose members are stored as they are: the text of one among them would be taken for the whole.
pub(super) fn is_tar(head: &[u8]) -> bool {
    let Some((header, _)) = head.split_first_chunk::<512>() else { return false };
    let text = String::from_utf8_lossy(&header[148..156]).into_owned();
    let stated = u32::from_str_radix(text.trim_matches([' ', '\0']), 8);
    let outside = header[..148].iter().chain(&header[156..]).map(|&b| u32::from(b)).sum::<u32>();
    // the sum is made with blanks in its own place
    header[0] != 0 && stated.is_ok_and(|sum| sum == outside + 8 * u32::from(b' '))
}

/// True if a line holds all of these words in their order.
fn has_line(head: &[u8], words: &[&[u8]]) -> bool {
    let holds = |line: &[u8]| {
        let mut rest = line;
        words.iter().all(|word| match memchr::memmem::find(rest, word) {
            Some(n) => {
                rest = &rest[n + word.len()..];
                true
            }
            None => false,
        })
    };
    lines(head).any(holds)
}

/// The known format that an input has by its first bytes, though it is not read.
pub(super) fn recognise(head: &[u8]) -> Option<&'static Foreign> {
    ALL.iter().find(|f| (f.is)(head))
}

/// `{"Version": ..., "Began": ..., "Command line": ..., "tests": ...}`.
fn is_ior(head: &[u8]) -> bool {
    const MEMBERS: usize = 64;
    if head.trim_ascii_start().first() != Some(&b'{') {
        return false;
    }
    let names = member_names(head.trim_ascii_start(), MEMBERS);
    let has = |want: &[u8]| names.iter().any(|(depth, name)| *depth == 1 && *name == want);
    has(b"Began") && (has(b"Command line") || has(b"tests"))
}

/// Milliseconds, a value, a direction (0 reads, 1 writes, 2 trims), a block size, from some releases on an offset and a priority.
fn is_fio_log(head: &[u8]) -> bool {
    const LINES: usize = 8;
    let is_entry = |line: &[u8]| {
        let Ok(text) = std::str::from_utf8(line.trim_ascii_end()) else { return false };
        let fields: Vec<Option<u64>> = text.split(", ").map(|f| f.parse().ok()).collect();
        (4..=6).contains(&fields.len()) && fields.iter().all(Option::is_some) && fields[2] <= Some(2)
    };
    // the last line of a head may be cut
    let mut whole = head.split_inclusive(|b| *b == b'\n').filter(|l| l.ends_with(b"\n")).take(LINES).peekable();
    whole.peek().is_some() && whole.all(is_entry)
}

/// A message of packets: field 1, length-delimited, one after the other.
fn is_perfetto(head: &[u8]) -> bool {
    const PACKET: u8 = 0x0a;
    let mut rest = head;
    for _ in 0..3 {
        let Some((&PACKET, after)) = rest.split_first() else { return false };
        let Some((length, digits)) = varint(after) else { return false };
        match after.get(digits + length..) {
            Some(next) if length > 0 => rest = next,
            _ => return false,
        }
    }
    true
}

/// A base-128 number of at most four bytes, and how many it takes.
fn varint(data: &[u8]) -> Option<(usize, usize)> {
    let mut x = 0;
    for (i, &b) in data.iter().take(4).enumerate() {
        x |= usize::from(b & 0x7f) << (7 * i);
        if b < 0x80 {
            return Some((x, i + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of a member, as releases without `ustar` wrote it.
    fn tar_header() -> Vec<u8> {
        let mut header = vec![0; 512];
        header[..5].copy_from_slice(b"a.csv");
        header[124..135].copy_from_slice(b"00000000017");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|&b| u32::from(b)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        header
    }

    #[test]
    fn known_formats_are_named() {
        let packets = [&b"\x0a\x03abc"[..], b"\x0a\x02xy", b"\x0a\x01z", b"\x0a\x09"].concat();
        for (head, what) in [
            (&b"SQLite format 3\0....."[..], "SQLite"),
            (b"\x89HDF\r\n\x1a\n\0", "HDF5"),
            (b"CDF\x05", "NetCDF"),
            (b"PERFILE2\0", "perf"),
            (b"\xc1\x1f\xfc\xc1\0", "Common Trace Format"),
            (b"\x07tae", "blktrace"),
            (b"eat\x07", "blktrace"),
            (b"#Paraver (21/11/26", "Paraver"),
            (b"\n% time     seconds  usecs/call     calls    errors syscall\n------ ---\n", "strace -c"),
            (b"     0.000 ( 0.005 ms): cat/71 openat(dfd: CWD, filename: \"x\") = 3\n", "perf trace"),
            (b"\0\0\0\x84\x50\x05\x26\x02", "Performance Co-Pilot"),
            (&tar_header(), "tar"),
            (br#"{"Version": "4.0.0", "Began": "Mon", "Command line": "ior", "tests": [{"#, "IOR"),
            (b"\x03\x42\x00", "OTF2"),
            (&packets, "Perfetto"),
            (b"\x96\xd5\x75\x21\x0c\x07", "sar"),
            (b"#####\n# Collectl:   V4.3.1-1\n#####\n>>> 1795000000.001 <<<\n", "collectl"),
            (b"\xef\xbe\xed\xfe\x08\x82", "raw file of atop"),
            (b"RESET\nDSK n1 1795890944 2026/11/28 18:35:44 35712 vda 8 3 12 4 3 3 2 0 39.05\nSEP\n", "atop -P DSK"),
            (b"18:35:44 Total DISK READ: 531.34 K/s | Total DISK WRITE: 194393.57 K/s\n", "iotop"),
            (b"waiting for 1 second sample...\n#Time     KBRead  Reads KBWrit Writes\n", "terminal output of collectl"),
            (b"# DISK STATISTICS (/sec)\n#          <---------reads---------------><---------writes", "terminal output of collectl"),
            (b"disk- ------------reads------------ ------------writes----------- -----IO------\n", "vmstat -d"),
            (b"{\n  \"fio version\" : \"fio-3.33\",\n", "report of fio"),
            (b"w: (g=0): rw=write, bs=(R) 256KiB-256KiB, ioengine=psync, iodepth=1\nfio-3.33\n", "report of fio"),
            (b"3;fio-3.33;n;0;0;12288;768000;12000;16\n", "report of fio"),
            (b"fio version 3 iolog\n0 /d/f add\n", "list of requests of fio"),
            (b"          d.a.write_bytes  d.a.read_bytes\n                  Kbyte/s         Kbyte/s\n", "pmrep"),
            (b"<?xml version=\"1.0\"?>\n<!DOCTYPE sysstat>\n<sysstat\nxmlns=\"", "XML"),
            (b"vm\t1\t2026-11-28 18:35:45 UTC\tvda\ttps\t278.22\nvm\t1\t2026-11-28 18:35:45 UTC\tvda\trkB/s\t2172.28\n", "sadf -p"),
            (b"500, 32768, 1, 0, 0\n2507, 32768, 1, 0, 0\n45", "log of fio"),
            (b"BZh91AY&SY", "packed twice"),
            (b"BZh9\x17rE8P\x90\0\0\0\0", "packed twice"),
            (b"\xfd7zXZ\0", "packed twice"),
            (b"\x1f\x8b\x08\0", "packed twice"),
            (b"\x28\xb5\x2f\xfd\x04", "packed twice"),
        ] {
            let found = recognise(head).unwrap_or_else(|| panic!("{what}"));
            assert_eq!(is_tar(head), what == "tar");
            assert!(found.what.contains(what), "{what}: {}", found.what);
        }
        for head in [&b""[..], b"op,size,start\n", b"{\"a\":1}", b"\x0a\x0a\x0a", b"write(3, ...)"] {
            assert!(recognise(head).is_none(), "{head:?}");
        }
    }
}
