//! Output of `iostat -dxyt`: blocks of a time, a header and a line for each device.

use std::collections::HashMap;

use super::sheet::{Group, Meaning, Sheet};
use super::stamp::date_time;
use super::table::value;
use crate::error::{Error, Place, Result};
use crate::formats::lines::{lines, quote};
use crate::formats::options::ReadOptions;
use crate::formats::rates::{Stamp, ValueKind};
use crate::formats::source::Source;
use crate::formats::window::Window;
use crate::record::{Op, Warning};

/// Names of the columns of rates in all versions, and their bytes.
const RATES: [(&str, &str, f64); 6] = [
    ("rkB/s", "wkB/s", 1024.0),
    ("rMB/s", "wMB/s", 1_048_576.0),
    ("kB_read/s", "kB_wrtn/s", 1024.0),
    ("MB_read/s", "MB_wrtn/s", 1_048_576.0),
    ("rsec/s", "wsec/s", 512.0),
    ("Blk_read/s", "Blk_wrtn/s", 512.0),
];

/// Names of the columns of requests per second.
const REQUESTS: [&str; 3] = ["r/s", "w/s", "tps"];
/// Digits behind the point of a rate are 2: it is exact to half of the last.
const ROUNDING: f64 = 0.005;
/// A step is measured in hundredths of a second, and may differ by so much of it from the distance of the times.
const CLOCK: f64 = 0.05;

/// True if the head is of iostat.
pub(super) fn is_iostat(head: &[u8]) -> bool {
    head.starts_with(b"Linux ") && lines(head).filter(|l| l.starts_with(b"Device")).any(|l| Header::of(l).is_some())
}

/// The columns of a header line.
#[derive(Clone, Copy)]
struct Header {
    read: usize,
    write: usize,
    unit: f64,
    width: usize,
    /// Requests per second; the last width if there is no such column.
    requests: [usize; REQUESTS.len()],
}

impl Header {
    fn of(line: &[u8]) -> Option<Header> {
        let names: Vec<&[u8]> = fields(line).collect();
        let place = |name: &str| names.iter().position(|n| *n == name.as_bytes());
        RATES.iter().find_map(|(read, write, unit)| {
            let requests = REQUESTS.map(|name| place(name).unwrap_or(names.len()));
            Some(Header { read: place(read)?, write: place(write)?, unit: *unit, width: names.len(), requests })
        })
    }
}

fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty())
}

/// State between lines.
struct Blocks {
    sheet: Sheet,
    devices: HashMap<Vec<u8>, usize>,
    header: Option<Header>,
    /// Seconds of the block, and blocks so far.
    time: Option<f64>,
    blocks: u64,
    /// The first date was read.
    dated: bool,
    step_s: f64,
    values: usize,
    lines: u64,
    bad: Option<(u64, String)>,
    /// Requests per second in the first block, more than none, and its devices.
    first: (Vec<f64>, usize),
}

/// Reads the blocks.
///
/// # Errors
/// Malformed if no line is of a device; limits; errors of the system.
pub(super) fn read(source: &Source, options: &ReadOptions) -> Result<Sheet> {
    let mut window = Window::open(source, options)?;
    let sheet = Sheet { tool: "iostat", ..Sheet::default() };
    let step_s = options.series.step_s.unwrap_or(1.0);
    let (devices, header, time) = (HashMap::new(), None, None);
    let (bad, first) = (None, (Vec::new(), 0));
    let mut blocks =
        Blocks { sheet, devices, header, time, blocks: 0, dated: false, step_s, values: 0, lines: 0, bad, first };
    while let Some(n) = window.whole_lines(options.limits.line_bytes)? {
        if n == 0 {
            window.skip_line()?;
            blocks.lines += 1;
            blocks.note(b"a long line");
            continue;
        }
        for line in lines(&window.data()[..n]) {
            blocks.line(line);
        }
        if blocks.values > options.limits.records {
            return Err(Error::too_many_rows(options.limits.records));
        }
        window.consume(n);
    }
    blocks.finish(window.damage())
}

impl Blocks {
    fn note(&mut self, line: &[u8]) {
        self.sheet.quality.records_read += 1;
        self.sheet.quality.records_dropped += 1;
        self.bad.get_or_insert_with(|| (self.lines, quote(line)));
    }

    fn line(&mut self, line: &[u8]) {
        self.lines += 1;
        let text = line.trim_ascii();
        if text.is_empty() || text.starts_with(b"Linux ") {
            return;
        }
        if text.starts_with(b"Device") {
            self.header = Header::of(text);
            self.blocks += 1;
            return;
        }
        if text.starts_with(b"avg-cpu") {
            self.header = None;
            return;
        }
        if let Some((seconds, part, zoned)) = date_time(text) {
            if !std::mem::replace(&mut self.dated, true) {
                let day = seconds.div_euclid(86_400) * 86_400;
                (self.sheet.origin, self.sheet.unix, self.sheet.local) =
                    (if zoned { seconds } else { day }, zoned, !zoned);
            }
            self.time = Some((seconds - self.sheet.origin) as f64 + part);
            self.header = None;
            return;
        }
        let Some(header) = self.header else { return };
        let cells: Vec<&[u8]> = fields(text).collect();
        let cell = |at: usize| cells.get(at).and_then(|t| value(t, true)).map(|v| v * header.unit);
        let (Some(read), Some(write), true) = (cell(header.read), cell(header.write), cells.len() == header.width)
        else {
            return self.note(text);
        };
        let time = self.time.unwrap_or((self.blocks - 1) as f64 * self.step_s);
        if self.blocks == 1 {
            let requests = header.requests.iter().filter_map(|&at| value(cells.get(at)?, true));
            self.first.0.extend(requests.filter(|r| *r > 0.0));
            self.first.1 += 1;
        }
        let next = self.sheet.groups.len();
        let at = *self.devices.entry(cells[0].to_vec()).or_insert(next);
        if at == next {
            let device = String::from_utf8_lossy(cells[0]).into_owned();
            self.sheet.groups.push(Group::new(0, None, String::new(), device));
        }
        self.sheet.groups[at].push(time, &[read, write]);
        self.sheet.quality.records_read += 1;
        self.values += 2;
    }

    fn finish(mut self, damage: Option<&str>) -> Result<Sheet> {
        self.leave_out_the_mean();
        let nothing = self.sheet.groups.is_empty();
        match (&self.bad, nothing) {
            (Some((line, text)), true) => {
                return Err(Error::malformed(Place::Line(*line), format!("no line of a device: {text}"))
                    .expected("as many values as the header has names"));
            }
            (Some((line, text)), false) => {
                let n = self.sheet.quality.records_dropped;
                let last = *line == self.lines && n == 1;
                let (code, what) = match last {
                    true => ("damaged-tail", format!("line {line}, the last, is cut: {text}")),
                    false => {
                        ("unreadable-records", format!("{n} lines of devices cannot be read, the first {line}: {text}"))
                    }
                };
                self.sheet.warnings.push(Warning::new(code, what));
            }
            (None, _) => {}
        }
        if let Some(why) = damage {
            self.sheet.warnings.push(Warning::new("damaged-tail", format!("{why}; what came before was kept")));
        }
        let columns = vec![(Op::Read, String::new()), (Op::Write, String::new())];
        self.sheet.meanings = vec![Meaning { columns, kind: ValueKind::Rate, stamp: Stamp::End }];
        Ok(self.sheet)
    }

    /// Without `-y` the first block is the mean since the machine started, whatever its time says: no step had it. It shows, because a
    /// step has whole numbers of requests.
    fn leave_out_the_mean(&mut self) {
        let step = |g: &Group| Some(g.times.get(1)? - g.times.first()?);
        let Some(step_s) = self.sheet.groups.iter().filter_map(step).reduce(f64::min) else { return };
        if self.first.0.is_empty() || could_be_counted(&self.first.0, step_s) {
            return;
        }
        let first_s = self.sheet.groups.iter().filter_map(|g| g.times.first().copied()).fold(f64::INFINITY, f64::min);
        for group in &mut self.sheet.groups {
            if group.times.first() == Some(&first_s) {
                group.leave_out_first();
            }
        }
        self.sheet.quality.records_dropped += self.first.1 as u64;
        let what = "the first block is the mean since the machine started, and was left out";
        self.sheet.warnings.push(Warning::new("since-start", what).remedy("run iostat with -y"));
    }
}

/// True if all these rates may be whole numbers in one step of about `step_s`.
fn could_be_counted(rates: &[f64], step_s: f64) -> bool {
    let hundredths = |s: f64| (s * 100.0) as u64;
    (hundredths(step_s * (1.0 - CLOCK))..=hundredths(step_s * (1.0 + CLOCK)) + 1).any(|n| {
        let s = n as f64 / 100.0;
        rates.iter().all(|r| ((r * s).round() - r * s).abs() <= ROUNDING * s + 1e-9 && (r * s).round() >= 1.0)
    })
}
