//! Text of tools in blocks: a time, a header, and a line for each device or process. One reader of iostat, `sar -d` and `-b`, `pidstat -d` and
//! vmstat, by a table of their headers.

use super::sheet::{Group, Sheet, since_start};
use super::snapshots::{Growing, Snapshots};
use super::stamp::is_unix;
use super::table::{Row, amount};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::formats::dates::{DAY, Midnights, Moment, Order, Orders};
use crate::formats::lines::{Bad, Taken, lines, quote};
use crate::formats::number::parse_f64;
use crate::formats::options::ReadOptions;
use crate::formats::rates::ValueKind;
use crate::formats::thresholds::LIMITS;
use crate::record::Warning;
use crate::transform::upper_median;

/// A tool.
struct Tool {
    name: &'static str,
    /// A name that only its header has.
    sign: &'static str,
    /// Its lines begin with a time.
    timed: bool,
    /// The names of the columns that name a device; several make one name.
    device: &'static [&'static str],
}

/// The tools; of those with the same sign the first.
const TOOLS: [Tool; 5] = [
    Tool { name: "iostat", sign: "Device", timed: false, device: &["Device"] },
    Tool { name: "sar", sign: "DEV", timed: true, device: &["DEV"] },
    Tool { name: "sar", sign: "bread/s", timed: true, device: &[] },
    Tool { name: "pidstat", sign: "PID", timed: true, device: &["PID", "Command"] },
    Tool { name: VMSTAT, sign: "swpd", timed: false, device: &[] },
];

const VMSTAT: &str = "vmstat";

/// Names of the columns of rates in all versions, and their bytes.
const RATES: [(&str, &str, f64); 10] = [
    ("rkB/s", "wkB/s", 1024.0),
    ("rMB/s", "wMB/s", 1_048_576.0),
    ("kB_read/s", "kB_wrtn/s", 1024.0),
    ("MB_read/s", "MB_wrtn/s", 1_048_576.0),
    ("rsec/s", "wsec/s", 512.0),
    ("Blk_read/s", "Blk_wrtn/s", 512.0),
    ("rd_sec/s", "wr_sec/s", 512.0),
    ("kB_rd/s", "kB_wr/s", 1024.0),
    ("bread/s", "bwrtn/s", 512.0),
    ("bi", "bo", 1024.0),
];

/// Names of the columns of requests per second.
const REQUESTS: [&str; 3] = ["r/s", "w/s", "tps"];
/// Lines in which a header must show, where no line names the machine.
const BEFORE_HEADER: usize = 64;
/// Digits behind the point of a rate are 2: it is exact to half of the last.
const ROUNDING: f64 = 0.005;
/// A step is measured in hundredths of a second, and may differ by so much of it from the distance of the times.
const CLOCK: f64 = 0.05;
/// Prefixes of units count so much with `--human`.
const KILO: f64 = 1024.0;
/// Blocks that show the usual step of a file that grows, and those in which it should show.
const RECENT: usize = 64;
const FIRST: usize = 4;
/// A block of more than so many usual steps is none: it is the mean since the machine started.
const UPTIME: f64 = 1.5;

/// True if the head is of one of the tools.
pub(super) fn is_blocks(head: &[u8]) -> bool {
    // of all sections of sar those of disks come late
    let is_sysstat =
        head.starts_with(b"Linux ") && lines(head).next().is_some_and(|l| l.trim_ascii_end().ends_with(b" CPU)"));
    is_sysstat || lines(head).take(BEFORE_HEADER).any(|l| Header::of(l).is_some())
}

fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty())
}

fn is_number(cell: &[u8]) -> bool {
    amount(cell.strip_suffix(b"%").unwrap_or(cell), true, 1.0, KILO).is_some()
}

/// The time that a line begins with, and the fields after it.
fn timed<'c, 'l>(cells: &'c [&'l [u8]]) -> Option<(When, &'c [&'l [u8]])> {
    let (first, rest) = cells.split_first()?;
    let epoch = parse_f64(first).filter(|s| is_unix(*s)).map(When::Unix);
    match rest.split_first() {
        Some((half, rest)) if matches!(*half, b"AM" | b"PM" | b"am" | b"pm") => {
            Moment::of(&[first, &b" "[..], half].concat()).map(|m| (When::At(m), rest))
        }
        _ => epoch.or_else(|| Moment::of(first).map(When::At)).map(|t| (t, rest)),
    }
}

/// The columns of a header line.
#[derive(Clone)]
struct Header {
    tool: &'static Tool,
    read: Option<usize>,
    write: Option<usize>,
    /// Columns of what was read and written in the step.
    totals: [Option<usize>; 2],
    unit: f64,
    width: usize,
    requests: Vec<usize>,
    device: Vec<usize>,
    /// The time in front of it.
    start: Option<When>,
}

impl Header {
    fn of(line: &[u8]) -> Option<Header> {
        let cells: Vec<&[u8]> = fields(line).skip_while(|f| *f == b"#").collect();
        let (start, names) = match timed(&cells) {
            Some((start, names)) => (Some(start), names),
            None => (None, cells.strip_prefix(&[&b"Time"[..]]).unwrap_or(&cells)),
        };
        let timed = names.len() < cells.len();
        let place = |name: &str| names.iter().position(|n| n.strip_suffix(b":").unwrap_or(n) == name.as_bytes());
        let tool = TOOLS.iter().find(|t| t.timed == timed && place(t.sign).is_some())?;
        RATES.iter().find_map(|(read, write, unit)| {
            let rates = [place(read), place(write)];
            let total = |name: &str| name.strip_suffix("/s").and_then(place);
            rates.iter().any(Option::is_some).then(|| Header {
                tool,
                read: rates[0],
                write: rates[1],
                totals: [total(read), total(write)],
                unit: *unit,
                width: names.len(),
                requests: REQUESTS.iter().filter_map(|n| place(n)).collect(),
                device: tool.device.iter().filter_map(|n| place(n)).collect(),
                start,
            })
        })
    }
}

/// The time of a block.
#[derive(Debug, Clone, Copy)]
enum When {
    At(Moment),
    Unix(f64),
}

/// One block.
struct Block {
    when: Option<When>,
    /// The time of its header, and the date of the machine's line before it.
    start: Option<When>,
    day: Option<Moment>,
    /// The step that its totals and rates show, and how exactly: a relative error.
    stated: Option<(f64, f64)>,
    /// It is the first of a run of the tool.
    is_first: bool,
    /// Seconds since the origin, where its time can be read.
    time: Option<f64>,
    /// Requests per second that are more than none, of a first block.
    requests: Vec<f64>,
    rows: u64,
}

/// Times of blocks on their way over midnight.
#[derive(Default)]
struct Days {
    origin: Option<i64>,
    midnights: Midnights,
}

/// Blocks as they come.
#[derive(Default)]
pub(super) struct Blocks {
    sheet: Sheet,
    /// The step that the user names.
    step_s: Option<f64>,
    header: Option<Header>,
    blocks: Vec<Block>,
    /// Blocks before these; and how many of these have their time, and were taken.
    before: usize,
    dated: usize,
    taken: usize,
    orders: Orders,
    days: Days,
    /// The end of the last block, if blocks have no times.
    now: f64,
    /// Rows of blocks that are the mean since the machine started, and of those without a time.
    means: u64,
    untimed: u64,
    /// The line of the machine: its name and the date. A run of the tool begins with it.
    host: String,
    day: Option<Moment>,
    is_first: bool,
    /// The sign of the section.
    section: Option<&'static str>,
    /// A time that waits for its block.
    when: Option<When>,
    /// A name that waits for its values in the next line.
    name: Option<Vec<u8>>,
    /// The last line that says nothing, and the first such line where a time should be.
    stray: Option<(u64, String)>,
    unread: Option<(u64, String)>,
    lines: u64,
    /// Devices without values, and the first.
    odd: (u64, String),
}

impl Snapshots for Blocks {
    fn line(&mut self, line: &[u8], number: u64) -> std::result::Result<Taken, Bad> {
        self.lines = number;
        self.take_line(line)
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn finish(mut self) -> Result<Sheet> {
        if self.sheet.groups.is_empty() && self.odd.0 > 0 {
            let found = format!("no device has rates of what was read and written, the first {}", self.odd.1);
            return Err(Error::new(ErrorKind::Malformed, found));
        }
        self.place_rows(self.blocks.len(), |_, group, (time, length), values| {
            group.push(time, &values);
            group.lengths.push(length);
        })?;
        self.say_what_was_left_out();
        if self.sheet.tool == "pidstat" && self.sheet.groups.len() > 1 {
            let what = "a process has the bytes of its children once they have ended: those of a child that was listed itself count twice";
            self.sheet
                .warnings
                .push(Warning::new("children-counted", what).remedy("take the totals from a device (iostat -t)"));
        }
        self.sheet.quality.records_read += self.odd.0;
        self.sheet.quality.records_dropped += self.odd.0;
        if let (n @ 1.., first) = &self.odd {
            let what = format!("{n} devices have no rates of what was read and written, the first {first}");
            self.sheet.warnings.push(Warning::new("unreadable-records", what));
        }
        Ok(self.sheet)
    }
}

impl Growing for Blocks {
    fn take(&mut self, ends: bool) -> Result<Vec<(usize, Row)>> {
        // the last block may go on, and the first ones wait for those that show the step
        let whole = self.blocks.len() - usize::from(!ends && !self.blocks.is_empty());
        self.date(whole);
        let waits = self.before + whole < FIRST && usual_step(&self.blocks[..whole]).or(self.step_s).is_none();
        if whole == self.taken || waits && !ends {
            return Ok(Vec::new());
        }
        let mut rows = Vec::new();
        let placed = self.place_rows(whole, |at, _, (time, length), values| {
            rows.push((at, Row { time, length: Some(length), values: values.to_vec() }));
        });
        self.taken = whole;
        let past = whole.saturating_sub(RECENT);
        self.blocks.drain(..past);
        (self.before, self.dated, self.taken) = (self.before + past, self.dated - past, self.taken - past);
        placed.map(|()| rows)
    }
}

impl Blocks {
    /// Without any; the name of the tool is empty where a header shows it.
    pub(super) fn new(tool: &'static str, options: &ReadOptions) -> Self {
        Blocks {
            sheet: Sheet::of_devices(tool, ValueKind::Rate),
            step_s: options.series.step(),
            is_first: true,
            ..Blocks::default()
        }
    }

    /// True if there is any block.
    pub(super) fn any(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Begins the blocks of another machine.
    pub(super) fn of_host(&mut self, host: String) {
        (self.host, self.day, self.is_first) = (host, None, true);
    }

    /// The time of the block that comes.
    pub(super) fn time(&mut self, text: &[u8]) {
        let cells: Vec<&[u8]> = fields(text).collect();
        self.when = self.time_line(text, &cells);
        if self.when.is_none() {
            self.stray = Some((self.lines, quote(text)));
        }
    }

    /// Adds a block: devices with the names and values of their columns, and how long they lasted, if that is said.
    pub(super) fn add(&mut self, devices: &[(String, Vec<(String, f64)>)], lasted: Option<f64>) {
        self.expect_time();
        let when = self.when.take();
        self.begin(when, None);
        self.blocks.last_mut().into_iter().for_each(|block| block.stated = lasted.map(|s| (s, 0.0)));
        for (device, values) in devices {
            let of = |name: &str| values.iter().find(|(n, _)| n == name).map(|(_, x)| *x);
            let rates = RATES.iter().find(|(read, write, _)| of(read).is_some() && of(write).is_some());
            let (Some((read, write, unit)), false) = (rates, device.is_empty()) else {
                if self.odd.0 == 0 {
                    self.odd.1 = quote(device.as_bytes());
                }
                self.odd.0 += 1;
                continue;
            };
            let stated = |rate: &str| stated_step(of(rate.strip_suffix("/s")?)?, of(rate)?);
            let step = stated(read).into_iter().chain(stated(write)).collect::<Vec<_>>();
            let requests: Vec<f64> = REQUESTS.iter().filter_map(|n| of(n)).collect();
            self.count_row(&step, &requests);
            let values = [read, write].map(|rate| of(rate).unwrap_or(f64::NAN) * unit);
            self.push(device, values);
        }
    }

    /// Notes of the block what one of its rows shows.
    fn count_row(&mut self, steps: &[(f64, f64)], requests: &[f64]) {
        let Some(block) = self.blocks.last_mut() else { return };
        block.stated = steps.iter().copied().chain(block.stated).min_by(|a, b| a.1.total_cmp(&b.1));
        if block.is_first {
            block.requests.extend(requests.iter().filter(|r| **r > 0.0));
        }
        block.rows += 1;
    }

    fn take_line(&mut self, text: &[u8]) -> std::result::Result<Taken, Bad> {
        if text.is_empty() {
            // what follows is another block, except for tools that write a time on every line
            self.header = self.header.take().filter(|h| h.tool.timed);
            // a time stands directly above its block
            self.stray = None;
        } else if text.starts_with(b"Linux ") && text.contains(&b'(') {
            self.machine(text);
        } else if let Some(header) = Header::of(text) {
            self.begin_header(header);
        } else if text.starts_with(b"avg-cpu") || text.starts_with(b"procs ") {
            self.header = None;
            self.expect_time();
        } else {
            return self.cells(text);
        }
        Ok(Taken::Nothing)
    }

    /// A time, a row, or a line that says nothing.
    fn cells(&mut self, text: &[u8]) -> std::result::Result<Taken, Bad> {
        let cells: Vec<&[u8]> = fields(text).collect();
        if self.header.as_ref().is_none_or(|h| !h.tool.timed)
            && let Some(when) = self.time_line(text, &cells)
        {
            (self.when, self.header, self.name) = (Some(when), None, None);
            return Ok(Taken::Nothing);
        }
        match self.header.take() {
            // the header of a section of other counters
            Some(header)
                if header.tool.timed && timed(&cells).is_some_and(|(_, names)| !names.iter().any(|c| is_number(c))) => {
            }
            Some(header) => {
                let taken = self.row(&header, text, &cells);
                self.header = Some(header);
                return taken;
            }
            // a line of numbers is of processors
            None if !cells.iter().all(|c| is_number(c)) => self.stray = Some((self.lines, quote(text))),
            None => {}
        }
        Ok(Taken::Nothing)
    }

    /// The line of the machine, such as `Linux 5.14.0 (n1)  11/24/2026  _x86_64_  (8 CPU)`.
    fn machine(&mut self, text: &[u8]) {
        let host = text.split(|&b| b == b'(').nth(1).and_then(|t| t.split(|&b| b == b')').next()).unwrap_or_default();
        self.host = String::from_utf8_lossy(host).into_owned();
        self.day = fields(text).find_map(Moment::of_date);
        self.day.into_iter().for_each(|d| self.orders.see(d));
        (self.header, self.is_first, self.when, self.stray) = (None, true, None, None);
    }

    /// The time that a line alone is.
    fn time_line(&mut self, text: &[u8], cells: &[&[u8]]) -> Option<When> {
        if let Some(moment) = Moment::of(text) {
            self.orders.see(moment);
            return Some(When::At(moment));
        }
        match timed(cells)? {
            (when, []) => Some(when),
            _ => None,
        }
    }

    /// A block begins: a time should have come before.
    fn expect_time(&mut self) {
        let stray = self.stray.take();
        if self.when.is_none() {
            self.unread = self.unread.take().or(stray);
        }
    }

    fn begin_header(&mut self, header: Header) {
        if self.sheet.tool.is_empty() {
            self.sheet.tool = header.tool.name;
        }
        // sar prints one section after the other, each from the first time on
        let section = self.section.replace(header.tool.sign);
        self.is_first |= section.is_some_and(|s| s != header.tool.sign);
        // with `-xh` the writes have a header of their own
        let goes_on = header.read.is_none() && self.when.is_none() && !self.blocks.is_empty();
        if !header.tool.timed && header.tool.name != VMSTAT && !goes_on {
            self.expect_time();
            let when = self.when.take();
            self.begin(when, None);
        }
        self.header = Some(header);
    }

    fn begin(&mut self, when: Option<When>, start: Option<When>) {
        let (is_first, day) = (std::mem::take(&mut self.is_first), self.day);
        self.blocks.push(Block { when, start, day, stated: None, is_first, time: None, requests: Vec::new(), rows: 0 });
        self.sheet.values += 1;
    }

    /// A line below a header.
    fn row(&mut self, header: &Header, text: &[u8], all: &[&[u8]]) -> std::result::Result<Taken, Bad> {
        let mut cells = all.to_vec();
        if header.tool.timed {
            // lines of means have no time
            let Some((when, rest)) = timed(all) else { return Ok(Taken::Nothing) };
            cells = rest.to_vec();
            let is_new = |b: &Block| b.when.is_none_or(|last| !same(last, when)) || self.is_first;
            if self.blocks.last().is_none_or(is_new) {
                self.begin(Some(when), header.start);
            }
        } else if header.tool.name == VMSTAT {
            let when = match cells.len().checked_sub(2).filter(|n| *n + 1 >= header.width) {
                Some(n) => Moment::of_two(cells[n], cells[n + 1]),
                None => None,
            };
            cells.truncate(cells.len() - if when.is_some() { 2 } else { 0 });
            when.into_iter().for_each(|m| self.orders.see(m));
            self.begin(when.map(When::At), None);
        } else if let ([name], true) = (&cells[..], header.width > 1) {
            self.name = Some(name.to_vec());
            return Ok(Taken::Nothing);
        }
        let name = self.name.take();
        if let Some(name) = name.as_deref().filter(|_| cells.len() + 1 == header.width && header.device == [0]) {
            cells.insert(0, name);
        }
        // the name of a program may have blanks, that of a zone stands above the times of vmstat
        let fits = match header.tool.name {
            "pidstat" => cells.len() >= header.width,
            VMSTAT => cells.len() + 1 >= header.width,
            _ => cells.len() == header.width,
        };
        let cell = |at: Option<usize>| match at {
            None => Some(f64::NAN),
            Some(at) => cells.get(at).and_then(|t| amount(t, true, header.unit, KILO)),
        };
        let (Some(read), Some(write), true) = (cell(header.read), cell(header.write), fits) else {
            return Err(Bad::new("the line", text, "as many values as the header has names"));
        };
        let number = |at: Option<usize>| cells.get(at?).and_then(|c| parse_f64(c));
        let stated = [(header.totals[0], header.read), (header.totals[1], header.write)];
        let steps: Vec<_> =
            stated.iter().filter_map(|&(total, rate)| stated_step(number(total)?, number(rate)?)).collect();
        let requests: Vec<f64> =
            header.requests.iter().filter_map(|&at| amount(cells.get(at)?, true, 1.0, KILO)).collect();
        self.count_row(&steps, &requests);
        let device = header.device.iter().filter_map(|&c| cells.get(c).copied()).collect::<Vec<_>>().join(&b' ');
        self.push(&String::from_utf8_lossy(&device), [read, write]);
        Ok(Taken::Record)
    }

    fn push(&mut self, device: &str, values: [f64; 2]) {
        let at = self.sheet.device(&self.host, device);
        self.sheet.quality.records_read += 1;
        self.sheet.values += 2;
        // until the end the time of a row is the number of its block
        let number = (self.before + self.blocks.len() - 1) as f64;
        let group = &mut self.sheet.groups[at];
        if group.times.last() != Some(&number) {
            return group.push(number, &values);
        }
        for (column, value) in group.columns.iter_mut().zip(values) {
            if let Some(last) = column.last_mut().filter(|l| l.is_nan()) {
                *last = value;
            }
        }
    }

    /// Takes the rows of the blocks before `whole` out of their groups, and hands them to `each` with the time and the length of their block.
    /// Blocks that are the mean since the machine started are left out, and so are those without a time among others.
    fn place_rows(
        &mut self,
        whole: usize,
        mut each: impl FnMut(usize, &mut Group, (f64, f64), [f64; 2]),
    ) -> Result<()> {
        self.date(whole);
        let places = self.places(whole);
        let first = self.before + self.taken;
        for (at, group) in self.sheet.groups.iter_mut().enumerate() {
            let n = group.times.partition_point(|number| *number < (self.before + whole) as f64);
            let numbers: Vec<f64> = group.times.drain(..n).collect();
            let columns: Vec<Vec<f64>> = group.columns.iter_mut().map(|c| c.drain(..n).collect()).collect();
            let places = places.as_deref().unwrap_or_default();
            for (i, number) in numbers.into_iter().enumerate() {
                // a block that was taken has no later rows
                let place = (number as usize).checked_sub(first).and_then(|block| *places.get(block)?);
                let value = |column: usize| columns.get(column).map_or(f64::NAN, |c| c[i]);
                place.into_iter().for_each(|place| each(at, group, place, [value(0), value(1)]));
            }
        }
        places.map(drop)
    }

    /// Time and length of each of the blocks before `whole` that were not taken; `None` for those that are left out.
    fn places(&mut self, whole: usize) -> Result<Vec<Option<(f64, f64)>>> {
        let is_timed = self.blocks[..whole].iter().any(|b| b.time.is_some());
        if let (false, Some((line, text))) = (is_timed, &self.unread) {
            return Err(Error::malformed(Place::Line(*line), format!("the time {text} cannot be read"))
                .expected("a date with a time of day such as `2026-11-24T09:56:07`, or seconds since 1970")
                .remedy("record with S_TIME_FORMAT=ISO in the environment"));
        }
        let usual = usual_step(&self.blocks[..whole]).or(self.step_s);
        let mut places = Vec::new();
        for i in self.taken..whole {
            let block = &self.blocks[i];
            let is_mean = self.is_mean(block, usual);
            let step = length(&self.blocks, i, usual).or(self.step_s).filter(|_| !is_mean);
            let (rows, mut time) = (block.rows, block.time);
            if !is_timed {
                if !is_mean && step.is_none() && rows > 0 {
                    return Err(self.no_times());
                }
                self.now += step.unwrap_or(0.0);
                time = Some(self.now);
            }
            self.means += if is_mean { rows } else { 0 };
            self.untimed += if time.is_none() { rows } else { 0 };
            places.push(time.filter(|_| !is_mean).and_then(|time| Some((time, step.or(usual)?))));
        }
        Ok(places)
    }

    fn no_times(&self) -> Error {
        let tool = self.sheet.tool;
        Error::malformed(Place::Line(self.lines.max(1)), format!("the blocks of {tool} have no times"))
            .expected("a time in front of each block, or totals beside the rates")
            .remedy(format!("record with {tool} -t, or give the distance of the blocks with --time-step"))
    }

    fn say_what_was_left_out(&mut self) {
        self.sheet.quality.records_dropped += self.means + self.untimed;
        if let (true, Some((line, text))) = (self.untimed > 0, &self.unread) {
            let what =
                format!("blocks without a time that can be read were left out, the first at line {line}: {text}");
            self.sheet.warnings.push(Warning::new("unreadable-records", what));
        }
        if self.means == 0 {
            return;
        }
        let kept = self.sheet.groups.iter().any(|g| !g.times.is_empty());
        self.sheet.warnings.push(match kept {
            true if self.sheet.tool == VMSTAT => since_start("row", "the first row of this tool always is"),
            true => since_start("block", "its step is not that of the others").remedy("run iostat with -y"),
            false => {
                let what = format!(
                    "the one reading of {} is the mean since the machine started: steps show from a second on",
                    self.sheet.tool
                );
                Warning::new("one-reading", what).remedy("give an interval and a count, as in `iostat -t 1 60`")
            }
        });
    }

    /// Gives the blocks before `whole` their times in seconds since the origin, which the first sets.
    fn date(&mut self, whole: usize) {
        let order = self.orders.order();
        for i in self.dated..whole {
            let block = &self.blocks[i];
            let time = block.when.and_then(|when| self.days.seconds(when, block, order, &mut self.sheet));
            // a header may have the time at which its block began
            let start = block.start.and_then(|when| self.days.seconds_of(when, block, order));
            let before = i.checked_sub(1).and_then(|b| self.blocks[b].time);
            let length = start.zip(time).map(|(start, end)| end - start).filter(|length| *length > 0.0);
            let follows = start.is_some_and(|start| before.is_none_or(|before| before <= start));
            let block = &mut self.blocks[i];
            block.time = time;
            block.stated = block.stated.or(length.filter(|_| follows).map(|length| (length, 0.5 / length)));
        }
        self.dated = self.dated.max(whole);
    }

    /// Without `-y` the first block is the mean since the machine started, whatever its time says: no step had it. It shows by its totals, or
    /// because a step has whole numbers of requests.
    fn is_mean(&self, block: &Block, usual_s: Option<f64>) -> bool {
        if !block.is_first || !matches!(self.sheet.tool, "iostat" | VMSTAT) {
            return false;
        }
        match (usual_s, block.stated) {
            _ if self.sheet.tool == VMSTAT => true,
            (None, _) => true,
            (Some(usual), Some((stated, _))) => stated > UPTIME * usual,
            (Some(usual), None) => !block.requests.is_empty() && !could_be_counted(&block.requests, usual),
        }
    }
}

impl Days {
    /// The time of a block in seconds since the origin, which the first sets. The days after the first are counted.
    fn seconds(&mut self, when: When, block: &Block, order: Order, sheet: &mut Sheet) -> Option<f64> {
        let (whole, _, zoned) = self.on_day(when, block, order)?;
        self.origin.get_or_insert_with(|| {
            (sheet.unix, sheet.local) = (zoned, !zoned);
            sheet.origin = if zoned { whole } else { whole.div_euclid(DAY) * DAY };
            sheet.origin
        });
        if matches!(when, When::At(m) if m.is_of_day()) {
            if block.is_first && block.day.is_some() {
                self.midnights = Midnights::default();
            }
            self.midnights.next(whole as f64);
        }
        self.seconds_of(when, block, order)
    }

    /// A time on the day that was reached.
    fn seconds_of(&self, when: When, block: &Block, order: Order) -> Option<f64> {
        let (whole, part, _) = self.on_day(when, block, order)?;
        let days = if matches!(when, When::At(m) if m.is_of_day()) { self.midnights.passed_s as i64 } else { 0 };
        Some((whole + days).checked_sub(self.origin.unwrap_or(0))? as f64 + part)
    }

    /// Whole seconds and their part, on the day of the machine's line, and whether the zone is known.
    fn on_day(&self, when: When, block: &Block, order: Order) -> Option<(i64, f64, bool)> {
        match when {
            When::Unix(s) => Some((s.floor() as i64, s - s.floor(), true)),
            When::At(m) => {
                let full = m.on(block.day);
                let (whole, part) = full.seconds(order, self.origin.unwrap_or(0))?;
                Some((whole, part, full.is_zoned()))
            }
        }
    }
}

fn same(a: When, b: When) -> bool {
    match (a, b) {
        (When::At(a), When::At(b)) => a == b,
        (When::Unix(a), When::Unix(b)) => a == b,
        _ => false,
    }
}

/// The step in which a total of whole units makes this rate, and its relative error.
fn stated_step(total: f64, rate: f64) -> Option<(f64, f64)> {
    const EXACT: f64 = 0.01;
    let error = 0.5 / total + ROUNDING / rate;
    (total > 0.0 && rate > 0.0 && error < EXACT).then_some((total / rate, error))
}

/// The usual step of blocks that follow others of their run.
fn usual_step(blocks: &[Block]) -> Option<f64> {
    let mut steps: Vec<f64> = (0..blocks.len()).filter_map(|i| distance(blocks, i)).collect();
    if steps.is_empty() {
        steps = blocks.iter().filter(|b| !b.is_first).filter_map(|b| Some(b.stated?.0)).collect();
    }
    if steps.is_empty() {
        // runs of one block each, whose header says when it began
        steps = blocks.iter().filter(|b| b.start.is_some()).filter_map(|b| Some(b.stated?.0)).collect();
    }
    upper_median(&mut steps)
}

/// Seconds from the block before to this one, of the same run.
fn distance(blocks: &[Block], i: usize) -> Option<f64> {
    let before = blocks[i.checked_sub(1).filter(|_| !blocks[i].is_first)?].time?;
    Some(blocks[i].time? - before).filter(|d| *d > 0.0)
}

/// How long a block lasts: as its times say, where its totals do not say otherwise.
fn length(blocks: &[Block], i: usize, usual_s: Option<f64>) -> Option<f64> {
    let alike = |a: f64, b: f64| (a - b).abs() <= f64::max(1.0, CLOCK * a);
    match (distance(blocks, i), blocks[i].stated) {
        (Some(d), Some((s, error))) if error > 0.0 && alike(d, s) => Some(d),
        (_, Some((s, _))) => Some(s),
        (Some(d), None) if usual_s.is_none_or(|u| d <= LIMITS.gap_steps * u) => Some(d),
        _ => usual_s,
    }
}

/// True if all these rates may be whole numbers in one step of about `step_s`.
fn could_be_counted(rates: &[f64], step_s: f64) -> bool {
    let hundredths = |s: f64| (s * 100.0) as u64;
    if ROUNDING * step_s >= 0.5 {
        return true;
    }
    (hundredths(step_s * (1.0 - CLOCK))..=hundredths(step_s * (1.0 + CLOCK)) + 1).any(|n| {
        let s = n as f64 / 100.0;
        rates.iter().all(|r| ((r * s).round() - r * s).abs() <= ROUNDING * s + 1e-9 && (r * s).round() >= 1.0)
    })
}
