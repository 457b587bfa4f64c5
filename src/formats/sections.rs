//! Rates over time in JSON: the sections of TMIO, and the smaller forms that FTIO takes.
//!
//! A section is an object such as `write_sync` whose `bandwidth` holds parallel arrays. Three kinds of arrays say the same
//! in falling detail worth keeping: per phase of a rank (`b_rank_avr`, `t_rank_s`, `t_rank_e`), the step curve of all
//! ranks (`b_overlap_avr`, `t_overlap`), and per request (`b_ind`, `t_ind_s`, `t_ind_e`). The first that is there is taken, as
//! FTIO 0.0.9 does. Times are seconds, rates bytes per second.

use super::json::Json;
use super::limits::Limits;
use super::options::ReadOptions;
use super::phases::{Announced, Mode, Phases};
use super::source::Source;
use super::window::Window;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::record::{Op, RowSink, Trace, Warning};

/// The contents of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// Transfers.
    Transfers(Mode),
    /// Rates that asynchronous transfers would have needed; no transfers.
    Required,
    /// Run times.
    Times,
}

impl Section {
    /// The section called `name`, of TMIO (`write_async_t`) or of FTIO's own form (`write_async`).
    pub(crate) fn named(name: &[u8]) -> Option<Section> {
        let mode = |op, asynchronous| Some(Section::Transfers(Mode { op, asynchronous }));
        match name {
            b"read_sync" => mode(Op::Read, false),
            b"write_sync" => mode(Op::Write, false),
            b"read_async_t" | b"read_async" => mode(Op::Read, true),
            b"write_async_t" | b"write_async" => mode(Op::Write, true),
            b"read_async_b" | b"write_async_b" => Some(Section::Required),
            b"io_time" => Some(Section::Times),
            _ => None,
        }
    }
}

/// The section called `name`, of TMIO, of FTIO's own form, or of its trace analysis (`read`, `write`).
pub(crate) fn section(name: &[u8]) -> Option<Section> {
    let op = match name {
        b"read" => Op::Read,
        b"write" => Op::Write,
        _ => return Section::named(name),
    };
    Some(Section::Transfers(Mode { op, asynchronous: false }))
}

/// The arrays of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    RankMean,
    RankSum,
    RankStart,
    RankEnd,
    OverlapMean,
    OverlapSum,
    OverlapTime,
    Single,
    SingleStart,
    SingleEnd,
}

impl Slot {
    const ALL: [(Slot, &'static str); 12] = [
        (Slot::RankMean, "b_rank_avr"),
        (Slot::RankMean, "b_rank"),
        (Slot::RankSum, "b_rank_sum"),
        (Slot::RankStart, "t_rank_s"),
        (Slot::RankEnd, "t_rank_e"),
        (Slot::OverlapMean, "b_overlap_avr"),
        (Slot::OverlapMean, "b_overlap"),
        (Slot::OverlapSum, "b_overlap_sum"),
        (Slot::OverlapTime, "t_overlap"),
        (Slot::Single, "b_ind"),
        (Slot::SingleStart, "t_ind_s"),
        (Slot::SingleEnd, "t_ind_e"),
    ];

    fn named(name: &[u8]) -> Option<Slot> {
        Slot::ALL.iter().find(|(_, n)| n.as_bytes() == name).map(|(s, _)| *s)
    }
}

/// True for the names of arrays that a section may hold.
pub(crate) fn is_series(name: &[u8]) -> bool {
    Slot::named(name).is_some()
}

/// The arrays of one section and what stands beside them.
#[derive(Debug, Default)]
struct Group {
    series: [Vec<f64>; 10],
    announced: Announced,
}

/// Arrays that fit together.
enum Shape {
    /// Rate, start, end.
    Phases(Vec<f64>, Vec<f64>, Vec<f64>),
    /// Rate, time.
    Curve(Vec<f64>, Vec<f64>),
    /// None do: the number of values without a partner.
    Nothing(usize),
}

impl Group {
    fn has(&self, slot: Slot) -> bool {
        !self.series[slot as usize].is_empty()
    }

    fn take(&mut self, slot: Slot) -> Vec<f64> {
        std::mem::take(&mut self.series[slot as usize])
    }

    /// Whether there are rates with their times: of ranks, of all ranks, of requests.
    fn shapes(&self) -> [bool; 3] {
        let any = |a, b| self.has(a) || self.has(b);
        [
            any(Slot::RankMean, Slot::RankSum) && self.has(Slot::RankStart),
            any(Slot::OverlapMean, Slot::OverlapSum) && self.has(Slot::OverlapTime),
            self.has(Slot::Single) && self.has(Slot::SingleStart),
        ]
    }

    /// False if better arrays than this one are there already.
    fn wants(&self, slot: Slot) -> bool {
        let [ranks, curve, _] = self.shapes();
        match slot {
            Slot::RankMean | Slot::RankStart | Slot::RankEnd => true,
            Slot::RankSum => !self.has(Slot::RankMean),
            Slot::OverlapMean | Slot::OverlapTime => !ranks,
            Slot::OverlapSum => !ranks && !self.has(Slot::OverlapMean),
            Slot::Single | Slot::SingleStart | Slot::SingleEnd => !ranks && !curve,
        }
    }

    /// Chooses the arrays. `whole` is false if the section was cut: then a missing end is not made up.
    fn shape(mut self, whole: bool) -> Shape {
        let phases = |rate: Vec<f64>, start: Vec<f64>, mut end: Vec<f64>| {
            if end.is_empty() {
                if !whole {
                    return Shape::Nothing(rate.len());
                }
                // Every phase lasts until the next one starts.
                end = start.get(1..).unwrap_or_default().to_vec();
                end.extend(start.last());
            }
            Shape::Phases(rate, start, end)
        };
        let first = |g: &mut Group, a, b| if g.has(a) { g.take(a) } else { g.take(b) };
        let [ranks, curve, single] = self.shapes();
        if ranks {
            let rate = first(&mut self, Slot::RankMean, Slot::RankSum);
            return phases(rate, self.take(Slot::RankStart), self.take(Slot::RankEnd));
        }
        if curve {
            let rate = first(&mut self, Slot::OverlapMean, Slot::OverlapSum);
            return Shape::Curve(rate, self.take(Slot::OverlapTime));
        }
        if single {
            return phases(self.take(Slot::Single), self.take(Slot::SingleStart), self.take(Slot::SingleEnd));
        }
        Shape::Nothing(self.series.iter().map(Vec::len).max().unwrap_or(0))
    }
}

/// The JSON value that is being read, so far.
#[derive(Debug, Default)]
struct Value {
    /// The section that is open.
    open: Option<(Mode, Group)>,
    /// Sections were found.
    sections: bool,
    /// A `bandwidth` object at the top.
    bandwidth: Group,
    /// Arrays of known names at the top.
    top: Group,
    /// Other arrays of numbers at the top whose names begin with `b` or `t`.
    loose: Vec<(Vec<u8>, Vec<f64>)>,
}

/// Reads a file of one or more JSON values with such sections, of the format called `format`, and gives the rows to `sink`.
///
/// # Errors
/// Malformed if nothing can be used, limits, and errors of the system. A damaged part is a warning if something can be used.
pub(crate) fn read(source: &Source, options: &ReadOptions, format: &'static str, sink: &dyn RowSink) -> Result<Trace> {
    let mut json = Json::new(Window::open(source, options)?, options.limits.depth);
    let mut reader = SectionReader::new(format, &options.limits, sink);
    let mut damage: Option<Error> = None;
    let mut resumed = 0u64;
    let mut known = false;
    loop {
        let mut value = Value::default();
        match reader.value(&mut json, &mut value) {
            Ok(false) => break,
            Ok(true) => known |= reader.finish(value, true)?,
            Err(e) if e.kind() == ErrorKind::Malformed => {
                known |= reader.finish(value, false)?;
                damage.get_or_insert(e);
                if !json.resume(begins_section)? {
                    break;
                }
                resumed += 1;
            }
            Err(e) => return Err(e),
        }
    }
    if let (None, Some(why)) = (&damage, json.damage()) {
        damage = Some(Error::malformed(Place::Byte(json.offset()), why));
    }
    if !known && damage.is_none() {
        return Err(Error::new(ErrorKind::Malformed, "no section and no arrays of rates and times in this JSON text")
            .expected("sections such as write_sync, or arrays such as b_rank_avr, t_rank_s, t_rank_e")
            .remedy("rename the arrays, or write the records as CSV"));
    }
    if let Some(e) = &damage
        && reader.phases.len() == 0
    {
        return Err(e.clone().remedy("write the trace again; nothing before the damage can be used"));
    }
    reader.into_trace(damage, resumed)
}

/// Arrays and totals of one section, made by another reader.
pub(crate) struct Arrays {
    mode: Mode,
    group: Group,
    ranks: f64,
}

impl Arrays {
    /// None yet, of transfers of this mode.
    pub(crate) fn new(mode: Mode) -> Self {
        Arrays { mode, group: Group::default(), ranks: f64::NAN }
    }

    /// Adds what is called `name` in FTIO's form: an array such as `b_rank_avr`, or a total such as `total_bytes`.
    pub(crate) fn add(&mut self, name: &str, values: Vec<f64>) {
        match (Slot::named(name.as_bytes()), values.first()) {
            (Some(slot), _) => self.group.series[slot as usize] = values,
            (None, Some(&x)) if name == "total_bytes" => self.group.announced.bytes = x,
            (None, Some(&x)) if name == "total_io_ops" => self.group.announced.operations = Some(x),
            (None, Some(&x)) if name == "number_of_ranks" => self.ranks = x,
            _ => {}
        }
    }

    /// True if there are rates with their times.
    pub(crate) fn are_useful(&self) -> bool {
        self.group.shapes().contains(&true)
    }
}

/// A trace of the format called `format` from arrays that another reader found; its rows go to `sink`.
///
/// # Errors
/// Limits, and those of the sink.
pub(crate) fn of_arrays(arrays: Arrays, format: &'static str, limits: &Limits, sink: &dyn RowSink) -> Result<Trace> {
    let mut reader = SectionReader::new(format, limits, sink);
    reader.phases.announce_ranks(arrays.ranks);
    reader.add(arrays.mode, arrays.group, true)?;
    reader.into_trace(None, 0)
}

/// True if a value begins here: `{"read_sync"` and the like.
fn begins_section(text: &[u8]) -> bool {
    let name = text.get(1..).unwrap_or_default().trim_ascii_start();
    let Some(name) = name.strip_prefix(b"\"") else { return false };
    name.iter().position(|&b| b == b'"').is_some_and(|n| Section::named(&name[..n]).is_some())
}

struct SectionReader<'l> {
    phases: Phases<'l>,
    limits: &'l Limits,
    /// The direction was not given.
    assumed_read: bool,
    /// Values of arrays without partner.
    useless: usize,
}

impl<'l> SectionReader<'l> {
    fn new(format: &'static str, limits: &'l Limits, sink: &'l dyn RowSink) -> Self {
        SectionReader { phases: Phases::new(format, sink), limits, assumed_read: false, useless: 0 }
    }

    /// Reads one value into `value`; false at the end of the input.
    fn value(&mut self, json: &mut Json, value: &mut Value) -> Result<bool> {
        if json.peek()?.is_none() {
            return Ok(false);
        }
        json.members(|json, name| {
            let next = json.peek()?;
            match section(name).filter(|_| next == Some(b'{')) {
                Some(Section::Transfers(mode)) => {
                    value.sections = true;
                    let (_, group) = value.open.insert((mode, Group::default()));
                    self.group(json, group, false)?;
                    value.open.take().map_or(Ok(()), |(mode, group)| self.add(mode, group, true))
                }
                Some(Section::Required) => {
                    value.sections = true;
                    json.skip()
                }
                Some(Section::Times) => {
                    value.sections = true;
                    self.times(json)
                }
                None if name == b"bandwidth" && next == Some(b'{') => self.group(json, &mut value.bandwidth, true),
                None => self.loose(json, value, name),
            }
        })?;
        Ok(true)
    }

    /// A member at the top that is no section.
    fn loose(&mut self, json: &mut Json, value: &mut Value, name: &[u8]) -> Result<()> {
        // More arrays than any rule uses: not kept.
        const MOST: usize = 8;
        let numbers = json.at_numbers()?;
        if let Some(slot) = Slot::named(name).filter(|&s| numbers && value.top.wants(s)) {
            return json.numbers(&mut value.top.series[slot as usize], self.limits.records);
        }
        if numbers && matches!(name.first(), Some(b'b' | b't')) && value.loose.len() < MOST {
            value.loose.push((name.to_vec(), Vec::new()));
            if let Some((_, series)) = value.loose.last_mut() {
                return json.numbers(series, self.limits.records);
            }
        }
        if name == b"number_of_ranks" || name == b"ranks" {
            return self.ranks(json);
        }
        json.skip()
    }

    fn ranks(&mut self, json: &mut Json) -> Result<()> {
        json.number()?.into_iter().for_each(|n| self.phases.announce_ranks(n));
        Ok(())
    }

    /// The members of a section, or of its `bandwidth`, which is inside.
    fn group(&mut self, json: &mut Json, group: &mut Group, inside: bool) -> Result<()> {
        json.members(|json, name| {
            let next = json.peek()?;
            match Slot::named(name) {
                Some(slot) if group.wants(slot) && json.at_numbers()? => {
                    json.numbers(&mut group.series[slot as usize], self.limits.records)
                }
                None if name == b"bandwidth" && next == Some(b'{') && !inside => self.group(json, group, true),
                None if name == b"total_bytes" => json.number().map(|n| group.announced.bytes = n.unwrap_or(0.0)),
                None if name == b"total_io_ops" => json.number().map(|n| group.announced.operations = n),
                None if name == b"number_of_ranks" => self.ranks(json),
                _ => json.skip(),
            }
        })
    }

    /// The section of run times.
    fn times(&mut self, json: &mut Json) -> Result<()> {
        json.members(|json, name| match name {
            b"delta_t_rank0" => {
                json.number()?.into_iter().for_each(|t| self.phases.announce_run_time(t));
                Ok(())
            }
            _ => json.skip(),
        })
    }

    fn add(&mut self, mode: Mode, group: Group, whole: bool) -> Result<()> {
        if whole {
            self.phases.announce(mode, group.announced);
        }
        match group.shape(whole) {
            Shape::Phases(rate, start, end) => self.phases.add_rates(mode, rate, start, end, self.limits),
            Shape::Curve(rate, time) => self.phases.add_curve(mode, rate, time, self.limits),
            Shape::Nothing(n) => {
                self.useless += n;
                self.phases.trace.quality.records_read += n as u64;
                self.phases.trace.quality.records_dropped += n as u64;
                Ok(())
            }
        }
    }

    /// Takes what a value holds beside closed sections; true if it holds anything known.
    fn finish(&mut self, mut value: Value, whole: bool) -> Result<bool> {
        if let Some((mode, group)) = value.open.take() {
            self.add(mode, group, whole)?;
        }
        if value.sections {
            return Ok(true);
        }
        // Without a section nothing says whether these are reads or writes; FTIO takes them as synchronous reads.
        let mode = Mode { op: Op::Read, asynchronous: false };
        let fits = |g: &Group| Slot::ALL.iter().any(|(s, _)| g.has(*s));
        if fits(&value.bandwidth) {
            self.assumed_read = true;
            self.add(mode, value.bandwidth, whole)?;
            return Ok(true);
        }
        if let Some(group) = by_initials(&mut value) {
            self.assumed_read = true;
            self.add(mode, group, whole)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn into_trace(mut self, damage: Option<Error>, resumed: u64) -> Result<Trace> {
        let whole = damage.is_none();
        let warnings = &mut self.phases.trace.warnings;
        if let Some(e) = damage {
            let (code, kept) = match resumed {
                0 => ("damaged-tail", "the records before it were kept".to_owned()),
                n => (
                    "damaged-chunk",
                    format!("the records before it were kept; reading continued {n} times after damage"),
                ),
            };
            warnings.push(Warning::new(code, format!("{e}; {kept}")));
        }
        if self.assumed_read {
            warnings.push(
                Warning::new("direction-unknown", "the file does not say whether it reads or writes: taken as reads")
                    .remedy("put the arrays into a section named write_sync or read_sync"),
            );
        }
        if whole && self.useless > 0 {
            warnings.push(Warning::new(
                "uneven-series",
                format!(
                    "{} values of rates or times have no times or rates beside them and were left out",
                    self.useless
                ),
            ));
        }
        self.phases.into_trace(whole)
    }
}

/// The arrays at the top as a section: by their known names, else by their initials: one `b` and one `t` are a curve, one `b` and
/// two `t`, one ending in `s` and one in `e`, are phases.
fn by_initials(value: &mut Value) -> Option<Group> {
    let top = std::mem::take(&mut value.top);
    let rates = [Slot::RankMean, Slot::RankSum, Slot::OverlapMean, Slot::OverlapSum, Slot::Single];
    if top.shapes().contains(&true) {
        return Some(top);
    }
    let (mut rate, mut time): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
    for (i, series) in top.series.into_iter().enumerate().filter(|(_, v)| !v.is_empty()) {
        if let Some((slot, name)) = Slot::ALL.iter().find(|(s, _)| *s as usize == i) {
            let list = if rates.contains(slot) { &mut rate } else { &mut time };
            list.push((name.as_bytes().to_vec(), series));
        }
    }
    for (name, series) in value.loose.drain(..) {
        if name.starts_with(b"b") { &mut rate } else { &mut time }.push((name, series));
    }
    let mut group = Group::default();
    match (&mut rate[..], &mut time[..]) {
        ([(_, b)], [(_, t)]) => {
            group.series[Slot::OverlapMean as usize] = std::mem::take(b);
            group.series[Slot::OverlapTime as usize] = std::mem::take(t);
        }
        ([(_, b)], [one, two]) => {
            let (s, e) = match (one.0.last(), two.0.last()) {
                (Some(b's'), Some(b'e')) => (one, two),
                (Some(b'e'), Some(b's')) => (two, one),
                _ => return None,
            };
            group.series[Slot::RankMean as usize] = std::mem::take(b);
            group.series[Slot::RankStart as usize] = std::mem::take(&mut s.1);
            group.series[Slot::RankEnd as usize] = std::mem::take(&mut e.1);
        }
        _ => return None,
    }
    Some(group)
}
