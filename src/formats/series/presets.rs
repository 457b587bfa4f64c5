//! Tables of known tools, recognised by their header line.
//!
//! Sources are the tools' own output and documentation: collectl 4.3, sysstat 12.5, LDMS `store_csv`, dool 1.3, PCP 6.0, Grafana
//! 11, InfluxDB 1.8, FTIO 0.0.9.

use memchr::memmem;

use super::layout::{Length, Separator, TableLayout, Wanted, direction};
use crate::formats::lines::lines;
use crate::formats::rates::{Stamp, ValueKind};
use crate::record::Op;

const KIB: f64 = 1024.0;
const SECTOR: f64 = 512.0;

/// The layout of a table by its header line and the text before that. One without series is of a known tool, but none of its columns is of
/// use. `None` if the line is no header of a known tool.
pub(super) fn of_header(before: &[u8], line: &[u8]) -> Option<TableLayout> {
    let begins = |text: &[u8]| line.starts_with(text);
    if begins(b"# hostname;interval;timestamp") {
        return sadf(line);
    }
    if begins(b"#UTC ") || begins(b"#Date Time ") {
        return collectl(line, Separator::Blanks);
    }
    for separator in [b',', b';', b'\t'] {
        let second = [&b"#UTC"[..], &[separator]].concat();
        let first = [&b"#Date"[..], &[separator], b"Time", &[separator]].concat();
        if begins(&first) || begins(&second) {
            return collectl(line, Separator::Byte(separator));
        }
    }
    let has = |text: &[u8]| memmem::find(line, text).is_some();
    match line.iter().find(|b| !matches!(b, b'#' | b'"' | b' ')) {
        Some(b'T') if has(b"ProducerName") || has(b"Time_usec") => ldms(line),
        Some(_) if begins(b"\"") && has(b"read\"") && has(b"writ\"") => dstat(before, line),
        Some(b'T') if begins(b"Time,\"disk.") || begins(b"Time,disk.") => pmrep(line),
        Some(b'T') if begins(b"\"Time\"") => grafana(line),
        Some(b'n') if begins(b"name,") && has(b",time,") => influx(line),
        _ => trace_analysis(line),
    }
}

/// The layout that the first of these lines shows, looking at so many.
pub(super) fn of_lines(text: &[u8], most: usize) -> Option<TableLayout> {
    let mut end = 0;
    text.split_inclusive(|b| *b == b'\n').take(most).find_map(|line| {
        let before = &text[..end];
        end += line.len();
        of_header(before, line.trim_ascii_end())
    })
}

/// Pairs of names for what is read and written, the best first, with the bytes of their unit.
type Pairs<'p> = &'p [(&'p str, &'p str, f64)];

/// The first pair of which a name is there, as series.
fn series_of(names: &[String], pairs: Pairs) -> Option<(Vec<Wanted>, f64)> {
    let find = |name: &str| names.iter().position(|n| n == name);
    pairs.iter().find_map(|&(read, write, unit)| {
        let there = [(Op::Read, find(read)), (Op::Write, find(write))];
        let series: Vec<Wanted> = there.into_iter().filter_map(|(op, c)| Some(wanted(op, "", c?))).collect();
        (!series.is_empty()).then_some((series, unit))
    })
}

fn wanted(op: Op, device: &str, column: usize) -> Wanted {
    Wanted { op, device: device.to_owned(), columns: vec![column] }
}

/// `sadf -d`: a row for each device and interval.
fn sadf(line: &[u8]) -> Option<TableLayout> {
    let mut layout = TableLayout::new("sadf", Separator::Byte(b';'));
    let names = layout.separator.names(line).ok()?;
    layout.host = Some(0);
    layout.length = Some(Length::Seconds(1));
    layout.time = vec![2];
    layout.device = names.iter().position(|n| n == "DEV");
    let pairs: Pairs = &[("rkB/s", "wkB/s", KIB), ("rd_sec/s", "wr_sec/s", SECTOR), ("bread/s", "bwrtn/s", SECTOR)];
    if let Some((series, unit)) = series_of(&names, pairs) {
        (layout.series, layout.unit_bytes) = (series, unit);
    }
    Some(layout)
}

/// `collectl -P`: a row for each interval; columns of all devices, or of each.
fn collectl(line: &[u8], separator: Separator) -> Option<TableLayout> {
    let mut layout = TableLayout::new("collectl", separator);
    let names = separator.names(line).ok()?;
    names.iter().any(|n| n.starts_with('[')).then_some(())?;
    layout.time = if names.first()? == "UTC" { vec![0] } else { vec![0, 1] };
    layout.unit_bytes = KIB;
    // the file system before the disks below it, devices before their sum
    let kinds = [("CLT", "ReadKB", "WriteKB"), ("DSK", "RKBytes", "WKBytes"), ("DSK", "ReadKBTot", "WriteKBTot")];
    for (kind, read, write) in kinds {
        for (column, name) in names.iter().enumerate() {
            let Some((subject, metric)) = name.strip_prefix('[').and_then(|n| n.split_once(']')) else { continue };
            let (of, device) = subject.split_once(':').unwrap_or((subject, ""));
            let op = match metric {
                m if m == read => Op::Read,
                m if m == write => Op::Write,
                _ => continue,
            };
            if of == kind {
                layout.series.push(wanted(op, device, column));
            }
        }
        if !layout.series.is_empty() {
            break;
        }
    }
    Some(layout)
}

/// Columns of LDMS that name the instance of a row, the most exact first.
const INSTANCES: [&str; 14] = [
    "llite",
    "ost",
    "mdt",
    "target",
    "device",
    "dev_name",
    "dev",
    "disk",
    "mountpoint",
    "mount",
    "fs_name",
    "interface",
    "iface",
    "instance",
];

/// LDMS `store_csv`: a row for each node and interval; metrics are counters, of an instance if they have a `#`.
fn ldms(line: &[u8]) -> Option<TableLayout> {
    let mut layout = TableLayout::new("LDMS", Separator::Byte(b','));
    let names = layout.separator.names(line).ok()?;
    matches!(names.first()?.as_str(), "Time" | "Time_msec" | "Timestamp").then_some(())?;
    layout.time = vec![0];
    let instance = INSTANCES.iter().find_map(|i| names.iter().position(|n| n == i));
    layout.host = names.iter().position(|n| n == "ProducerName");
    layout.kind = ValueKind::Cumulative;
    let pairs: Pairs = &[
        ("read_bytes.sum", "write_bytes.sum", 1.0),
        ("read_bytes", "write_bytes", 1.0),
        ("sect_read", "sect_written", SECTOR),
        ("sect_read", "sect_write", SECTOR),
    ];
    for &(read, write, unit) in pairs {
        for (column, name) in names.iter().enumerate() {
            let (metric, device) = name.split_once('#').unwrap_or((name, ""));
            let metric = metric.strip_prefix("client.lstats.").unwrap_or(metric);
            match metric {
                m if m == read => layout.series.push(wanted(Op::Read, device, column)),
                m if m == write => layout.series.push(wanted(Op::Write, device, column)),
                _ => {}
            }
        }
        if layout.series.iter().any(|w| w.op == Op::Write) {
            layout.unit_bytes = unit;
            break;
        }
        layout.series.clear();
    }
    // the job of a node is no instance: the counters go on from one to the next
    layout.device = instance.filter(|i| layout.series.iter().all(|w| !w.columns.contains(i)));
    Some(layout)
}

/// dstat and dool, `--output`: a line of groups such as `dsk/sda` above that of the names, or the group in front of each name. The first row is
/// the mean since the machine started, except for that of Performance Co-Pilot, which also counts kilobytes.
fn dstat(before: &[u8], line: &[u8]) -> Option<TableLayout> {
    let mut layout = TableLayout::new("dstat", Separator::Byte(b','));
    let names = layout.separator.names(line).ok()?;
    let groups = layout.separator.names(lines(before).last().unwrap_or_default().trim_ascii_end()).ok()?;
    let notes = String::from_utf8_lossy(before);
    let is_pcp = notes.contains("pcp-dstat");
    layout.unit_bytes = match () {
        () if is_pcp => KIB,
        () if writes_bits(&notes) => 1.0 / 8.0,
        () => 1.0,
    };
    let mut group = "";
    for (column, name) in names.iter().enumerate() {
        group = groups.get(column).map(String::as_str).filter(|g| !g.is_empty()).unwrap_or(group);
        let (of, metric) = name.split_once(':').unwrap_or((group, name));
        match (metric, of.strip_prefix("dsk/")) {
            ("read", Some(device)) => layout.series.push(wanted(Op::Read, device, column)),
            ("writ", Some(device)) => layout.series.push(wanted(Op::Write, device, column)),
            // seconds since 1970 say the day and the zone, too
            ("epoch", _) => layout.time = vec![column],
            ("time", _) if layout.time.is_empty() => layout.time = vec![column],
            _ => {}
        }
    }
    layout.first_is_mean = !is_pcp;
    Some(layout)
}

/// True for dool from 1.3.0 on, which writes bits unless it is run with `--bytes` or as `--dstat` (its notes above the table say both).
fn writes_bits(notes: &str) -> bool {
    let version = notes.lines().find_map(|l| {
        let (name, version) = l.trim_start_matches('"').split_once(' ')?;
        let mut numbers = version.split(['.', ' ']).map_while(|n| n.parse::<u32>().ok());
        (name == "dool").then(|| (numbers.next(), numbers.next()))
    });
    let command = notes.lines().find(|l| l.starts_with("\"Cmdline:\"")).unwrap_or_default();
    let mut options = command.split([' ', '"']).rev();
    let last = options.find(|o| matches!(*o, "--bits" | "--bytes" | "--dstat"));
    version >= Some((Some(1), Some(3))) && matches!(last, None | Some("--bits"))
}

/// `pmrep -o csv` of Performance Co-Pilot: rates of its disk metrics, which are in kilobytes, by device or of all.
fn pmrep(line: &[u8]) -> Option<TableLayout> {
    let mut layout = TableLayout::new("pmrep", Separator::Byte(b','));
    let names = layout.separator.names(line).ok()?;
    (layout.time, layout.unit_bytes) = (vec![0], KIB);
    for kind in ["disk.dev.", "disk.all.", "disk.partitions."] {
        for (column, name) in names.iter().enumerate() {
            let Some((metric, device)) = name.strip_prefix(kind).and_then(|n| n.split_once("_bytes")) else { continue };
            let device = device.trim_start_matches(['-', '[']).trim_end_matches(']');
            match metric {
                "read" => layout.series.push(wanted(Op::Read, device, column)),
                "write" => layout.series.push(wanted(Op::Write, device, column)),
                _ => {}
            }
        }
        if !layout.series.is_empty() {
            break;
        }
    }
    Some(layout)
}

/// Grafana, Inspect > Data: a column for each query, whose name may say whether it is read or written; units stand in the values.
fn grafana(line: &[u8]) -> Option<TableLayout> {
    let mut layout = TableLayout::new("Grafana", Separator::Byte(b','));
    let names = layout.separator.names(line).ok()?;
    layout.time = vec![0];
    layout.series = names.iter().enumerate().filter_map(|(i, n)| Some(wanted(direction(n)?, n, i))).collect();
    (!layout.series.is_empty()).then_some(layout)
}

/// InfluxDB, `influx -format csv`: the measurement, tags, the time and the fields, of which Telegraf's `diskio` has counters.
fn influx(line: &[u8]) -> Option<TableLayout> {
    let mut layout = TableLayout::new("InfluxDB", Separator::Byte(b','));
    let names = layout.separator.names(line).ok()?;
    let place = |name: &str| names.iter().rposition(|n| n == name);
    layout.time = vec![place("time")?];
    layout.host = place("host");
    layout.device = place("name").filter(|c| *c > 0).or(place("tags"));
    layout.kind = ValueKind::Cumulative;
    layout.series = series_of(&names, &[("read_bytes", "write_bytes", 1.0)])?.0;
    Some(layout)
}

/// FTIO's trace analysis: any of `timestamp`, `read`, `write`, `both`, and nothing else.
fn trace_analysis(line: &[u8]) -> Option<TableLayout> {
    let mut layout = TableLayout::new("FTIO", Separator::Byte(b','));
    let names = layout.separator.names(line).ok()?;
    let known = names.iter().all(|n| ["", "timestamp", "read", "write", "both"].contains(&n.as_str()));
    layout.time = names.iter().position(|n| n == "timestamp").into_iter().collect();
    layout.stamp = Stamp::Start;
    layout.zero_at_first = true;
    let (series, _) = series_of(&names, &[("read", "write", 1.0), ("", "both", 1.0)]).filter(|_| known)?;
    layout.direction_unknown = series.iter().any(|w| names.get(w.columns[0]).is_some_and(|n| n == "both"));
    layout.series = series.into_iter().filter(|w| names.get(w.columns[0]).is_some_and(|n| !n.is_empty())).collect();
    (!layout.series.is_empty()).then_some(layout)
}

/// True for lines that a tool writes among its rows: notes of a restart, comments.
pub(super) fn is_note(layout: &TableLayout, line: &[u8]) -> bool {
    match layout.tool {
        "sadf" => [&b";LINUX-RESTART"[..], b";COM "].iter().any(|n| memmem::find(line, n).is_some()),
        // the head of a later run
        "dstat" => line.starts_with(b"\""),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_tools_are_told_apart() {
        let tool = |line: &str| of_header(b"", line.as_bytes()).map(|l| (l.tool, l.series.len()));
        for (line, expected) in [
            ("# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s", Some(("sadf", 2))),
            ("# hostname;interval;timestamp;CPU;%user", Some(("sadf", 0))),
            ("#UTC [DSK]ReadKBTot [DSK]WriteKBTot", Some(("collectl", 2))),
            ("#Date Time [CPU]User% [CLT]ReadKB [CLT]WriteKB [DSK]ReadKBTot", Some(("collectl", 2))),
            ("#Date,Time,[DSK:sda]Name,[DSK:sda]RKBytes,[DSK:sda]WKBytes,[DSK:sdb]RKBytes", Some(("collectl", 3))),
            ("#Time,Time_usec,ProducerName,sect_read#sda,sect_written#sda,sect_written#sdb", Some(("LDMS", 3))),
            ("#\"Time\",\"Time_usec\",\"ProducerName\",\"write_bytes.sum\"", Some(("LDMS", 1))),
            ("#Time_msec,Time_usec,ProducerName,write_bytes.sum", Some(("LDMS", 1))),
            ("#Time,Time_usec,ProducerName,write_bytes#llite.scratch", Some(("LDMS", 1))),
            ("\"epoch\",\"dsk/sda:read\",\"dsk/sda:writ\",\"net/total:recv\"", Some(("dstat", 2))),
            ("\"Time\",\"n1 sda write\",\"n1 sda read\",\"n1 load\"", Some(("Grafana", 2))),
            ("\"Time\",\"n1 load\"", None),
            ("name,tags,time,read_bytes,write_bytes", Some(("InfluxDB", 2))),
            ("timestamp,read,write,both", Some(("FTIO", 2))),
            ("both", Some(("FTIO", 1))),
            ("timestamp", None),
            ("time,read,write", None),
            ("op,size,start", None),
            ("", None),
        ] {
            assert_eq!(tool(line), expected, "{line}");
        }
    }
}
