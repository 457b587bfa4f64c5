//! Time series as JSON, one value or several one after the other: `sadf -j`, `iostat -o JSON`, and answers of Prometheus to range queries.

use std::collections::HashMap;

use memchr::memmem;

use super::blocks::Blocks;
use super::layout::direction;
use super::sheet::{Group, Meaning, Sheet};
use super::snapshots::Snapshots as _;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::formats::dates::{Moment, Order};
use crate::formats::json::{Json, member_names};
use crate::formats::lines::Tally;
use crate::formats::options::ReadOptions;
use crate::formats::rates::ValueKind;
use crate::formats::source::Source;
use crate::formats::window::Window;
use crate::record::{Op, Warning, is_time};

/// Names looked at to tell what a text is.
const MEMBERS: usize = 64;

fn has_top(head: &[u8], wanted: &[&str]) -> bool {
    let names = member_names(head, MEMBERS);
    wanted.iter().all(|w| names.iter().any(|(depth, n)| *depth <= 2 && *n == w.as_bytes()))
}

/// True if the head is of `sadf -j` or `iostat -o JSON`.
pub(super) fn is_sysstat(head: &[u8]) -> bool {
    has_top(head, &["sysstat", "hosts"])
}

/// True if a head of sysstat is of iostat.
pub(super) fn is_iostat(head: &[u8]) -> bool {
    [&b"\"disk_device\""[..], b"\"avg-cpu\""].iter().any(|name| memmem::find(head, name).is_some())
}

/// True if the head is of a range query.
pub(super) fn is_prometheus(head: &[u8]) -> bool {
    has_top(head, &["data", "resultType"]) && has_top(head, &["status"])
}

/// A reader of one JSON value that fills a sheet.
struct Filling<'o> {
    sheet: Sheet,
    options: &'o ReadOptions,
    values: usize,
    dated: bool,
    /// Places of groups by what names them.
    places: HashMap<String, usize>,
}

/// Reads a value by `fill`; what came before damage is kept.
fn read_with<'o>(
    source: &Source,
    options: &'o ReadOptions,
    tool: &'static str,
    fill: impl FnOnce(&mut Filling<'o>, &mut Json) -> Result<()>,
) -> Result<Sheet> {
    let mut json = Json::new(Window::open(source, options)?, options.limits.depth);
    let sheet = Sheet { tool, ..Sheet::default() };
    let mut filling = Filling { sheet, options, values: 0, dated: false, places: HashMap::new() };
    let outcome = fill(&mut filling, &mut json);
    let Filling { mut sheet, values, .. } = filling;
    match outcome {
        Err(e) if e.kind() == ErrorKind::Malformed && values > 0 => {
            let why = json.damage().map_or_else(|| e.to_string(), str::to_owned);
            sheet.warnings.push(Warning::new("damaged-tail", format!("{why}; what came before was kept")));
        }
        other => other?,
    }
    sheet.quality.records_read = values as u64;
    Ok(sheet)
}

/// Calls `each` for every element of an array; passes over anything else.
fn elements(json: &mut Json, each: impl FnMut(&mut Json) -> Result<()>) -> Result<()> {
    if json.peek()? == Some(b'[') { json.elements(each) } else { json.skip() }
}

/// Calls `each` for every value of the input.
fn documents(json: &mut Json, mut each: impl FnMut(&mut Json) -> Result<()>) -> Result<()> {
    each(json)?;
    while json.peek()?.is_some() {
        each(json)?;
    }
    Ok(())
}

/// The text that comes next; empty if another value comes.
fn text(json: &mut Json) -> Result<String> {
    match json.text()? {
        Some(text) => Ok(text),
        None => json.skip().map(|()| String::new()),
    }
}

impl Filling<'_> {
    fn count(&mut self, values: usize) -> Result<()> {
        self.values += values;
        let most = self.options.limits.records;
        if self.values > most {
            return Err(Error::too_many_rows(most));
        }
        Ok(())
    }
}

/// Reads `iostat -o JSON`: `sysstat.hosts[].statistics[]`, each with the devices of `disk`, and with a `timestamp` if `-t` was given.
///
/// # Errors
/// Malformed, also if nothing says the times; limits, errors of the system.
pub(super) fn iostat(source: &Source, options: &ReadOptions) -> Result<Sheet> {
    let mut json = Json::new(Window::open(source, options)?, options.limits.depth);
    let mut blocks = Blocks::new("iostat", options);
    let outcome = documents(&mut json, |json| {
        json.members(|json, name| match name {
            b"sysstat" => json.members(|json, name| match name {
                b"hosts" => elements(json, |json| {
                    json.members(|json, name| match name {
                        b"nodename" => text(json).map(|host| blocks.of_host(host)),
                        b"statistics" => elements(json, |json| iostat_block(json, &mut blocks)),
                        _ => json.skip(),
                    })
                }),
                _ => json.skip(),
            }),
            _ => json.skip(),
        })
    });
    let why = match outcome {
        Err(e) if e.kind() == ErrorKind::Malformed && blocks.any() => {
            Some(json.damage().map_or_else(|| e.to_string(), str::to_owned))
        }
        other => other.map(|()| None)?,
    };
    blocks.finish(&Tally::of_damage(why))
}

fn iostat_block(json: &mut Json, blocks: &mut Blocks) -> Result<()> {
    let mut disks: Vec<(String, Vec<(String, f64)>)> = Vec::new();
    json.members(|json, name| match name {
        b"timestamp" => text(json).map(|t| blocks.time(t.as_bytes())),
        b"disk" => elements(json, |json| {
            let (mut device, mut values) = (String::new(), Vec::new());
            json.members(|json, name| match name {
                b"disk_device" => text(json).map(|t| device = t),
                _ if values.len() < MEMBERS => {
                    let name = String::from_utf8_lossy(name).into_owned();
                    json.member_amount().map(|x| values.push((name, x)))
                }
                _ => json.skip(),
            })?;
            disks.push((device, values));
            Ok(())
        }),
        _ => json.skip(),
    })?;
    blocks.add(&disks);
    blocks.check()
}

/// What a `timestamp` of sadf says.
#[derive(Default)]
struct Timestamp {
    date: String,
    time: String,
    utc: bool,
    interval: Option<f64>,
}

/// Reads `sadf -j`: `sysstat.hosts[].statistics[]`, each with a `timestamp` and the devices of `disk`.
///
/// # Errors
/// Malformed, limits, errors of the system.
pub(super) fn sadf(source: &Source, options: &ReadOptions) -> Result<Sheet> {
    read_with(source, options, "sadf", |f, json| {
        f.sheet.meanings = vec![Meaning::read_and_written(ValueKind::Rate)];
        documents(json, |json| {
            json.members(|json, name| match name {
                b"sysstat" => json.members(|json, name| match name {
                    b"hosts" => elements(json, |json| f.host(json)),
                    _ => json.skip(),
                }),
                _ => json.skip(),
            })
        })?;
        // an interval that is missing once is of no use
        for g in f.sheet.groups.iter_mut().filter(|g| g.lengths.len() != g.times.len()) {
            g.lengths.clear();
        }
        Ok(())
    })
}

impl Filling<'_> {
    fn host(&mut self, json: &mut Json) -> Result<()> {
        let mut host = String::new();
        json.members(|json, name| match name {
            b"nodename" => text(json).map(|t| host = t),
            b"statistics" => elements(json, |json| self.statistics(json, &host)),
            _ => json.skip(),
        })
    }

    fn statistics(&mut self, json: &mut Json, host: &str) -> Result<()> {
        let mut moment = Timestamp::default();
        let mut disks = Vec::new();
        json.members(|json, name| match name {
            b"timestamp" => json.members(|json, name| match name {
                b"date" => text(json).map(|t| moment.date = t),
                b"time" => text(json).map(|t| moment.time = t),
                b"utc" => json.number().map(|n| moment.utc = n == Some(1.0)),
                b"interval" => json.number().map(|n| moment.interval = n),
                _ => json.skip(),
            }),
            b"disk" => elements(json, |json| disk(json).map(|d| disks.push(d))),
            _ => json.skip(),
        })?;
        if disks.is_empty() {
            return Ok(());
        }
        let stamp = format!("{} {}", moment.date, moment.time);
        let read = Moment::of(stamp.as_bytes());
        let Some(((seconds, part), zoned)) = read.and_then(|m| Some((m.seconds(Order::default(), 0)?, m.is_zoned())))
        else {
            self.sheet.quality.records_dropped += disks.len() as u64;
            return self.count(disks.len());
        };
        if !std::mem::replace(&mut self.dated, true) {
            let utc = zoned || moment.utc;
            let day = seconds.div_euclid(86_400) * 86_400;
            (self.sheet.origin, self.sheet.unix, self.sheet.local) = (if utc { seconds } else { day }, utc, !utc);
        }
        let time = (seconds - self.sheet.origin) as f64 + part;
        for (device, values) in disks {
            self.count(2)?;
            let next = self.sheet.groups.len();
            let at = *self.places.entry(format!("{host}\0{device}")).or_insert(next);
            if at == next {
                self.sheet.groups.push(Group::new(0, None, host.to_owned(), device));
            }
            let group = &mut self.sheet.groups[at];
            group.push(time, &values);
            group.lengths.extend(moment.interval);
        }
        Ok(())
    }
}

/// The name of a device, and bytes per second read and written.
fn disk(json: &mut Json) -> Result<(String, [f64; 2])> {
    let mut device = String::new();
    let (mut kib, mut sectors) = ([f64::NAN; 2], [f64::NAN; 2]);
    json.members(|json, name| match name {
        b"disk-device" => text(json).map(|t| device = t),
        b"rkB" => json.member_amount().map(|x| kib[0] = 1024.0 * x),
        b"wkB" => json.member_amount().map(|x| kib[1] = 1024.0 * x),
        b"rd_sec" => json.member_amount().map(|x| sectors[0] = 512.0 * x),
        b"wr_sec" => json.member_amount().map(|x| sectors[1] = 512.0 * x),
        _ => json.skip(),
    })?;
    Ok((device, [0, 1].map(|i| if kib[i].is_nan() { sectors[i] } else { kib[i] })))
}

/// Reads an answer of Prometheus to a range query: `data.result[]`, each with the labels of `metric` and pairs of time and value.
/// Counters have names that end in `_total`; anything else is a level or a rate.
///
/// # Errors
/// Malformed if it is no range of values; limits; errors of the system.
pub(super) fn prometheus(source: &Source, options: &ReadOptions) -> Result<Sheet> {
    let mut sheet = read_with(source, options, "Prometheus", |f, json| {
        documents(json, |json| {
            json.members(|json, name| match name {
                b"data" => json.members(|json, name| match name {
                    b"resultType" => {
                        let kind = text(json)?;
                        if kind == "matrix" {
                            return Ok(());
                        }
                        Err(Error::malformed(Place::Byte(json.offset()), format!("a result of type `{kind}`"))
                            .expected("`matrix`, the answer to a range query")
                            .remedy("ask /api/v1/query_range with start, end and step"))
                    }
                    b"result" => elements(json, |json| f.result(json)),
                    _ => json.skip(),
                }),
                _ => json.skip(),
            })
        })
    })?;
    choose_metrics(&mut sheet);
    Ok(sheet)
}

/// Keeps the metrics whose names say that they are reads or writes, if there are any.
fn choose_metrics(sheet: &mut Sheet) {
    let said: Vec<bool> = sheet.meanings.iter().map(|m| !m.columns[0].1.is_empty()).collect();
    sheet.direction_unknown = !said.is_empty() && !said.iter().any(|s| *s);
    if said.iter().any(|s| *s) {
        let before = sheet.groups.len();
        sheet.groups.retain(|g| said.get(g.meaning).copied().unwrap_or(false));
        sheet.quality.records_left_out += (before - sheet.groups.len()) as u64;
    }
    // the mark of a direction that was said is no device
    sheet.meanings.iter_mut().for_each(|m| m.columns[0].1.clear());
}

/// One series of an answer: what names it, and its pairs of time and value.
#[derive(Default)]
struct Answer {
    metric: String,
    host: String,
    device: String,
    /// All other labels.
    labels: Vec<String>,
    times: Vec<f64>,
    values: Vec<f64>,
}

impl Filling<'_> {
    fn result(&mut self, json: &mut Json) -> Result<()> {
        let mut a = Answer::default();
        let outcome = json.members(|json, name| match name {
            b"metric" => json.members(|json, name| match name {
                b"__name__" => text(json).map(|t| a.metric = t),
                b"instance" => text(json).map(|t| a.host = t),
                b"device" => text(json).map(|t| a.device = t),
                name => {
                    let name = String::from_utf8_lossy(name).into_owned();
                    text(json).map(|t| a.labels.push(format!("{name}={t}")))
                }
            }),
            b"values" => elements(json, |json| {
                let mut pair = [f64::NAN; 2];
                let mut n = 0;
                elements(json, |json| {
                    let x = json.amount()?;
                    if let Some(slot) = pair.get_mut(n) {
                        *slot = x;
                    }
                    n += 1;
                    Ok(())
                })?;
                self.count(1)?;
                match is_time(pair[0]) {
                    true => {
                        a.times.push(pair[0]);
                        a.values.push(pair[1]);
                    }
                    false => self.sheet.quality.records_dropped += 1,
                }
                Ok(())
            }),
            _ => json.skip(),
        });
        if !a.times.is_empty() {
            self.keep(a);
        }
        outcome
    }

    fn keep(&mut self, answer: Answer) {
        let Answer { metric, host, device, mut labels, mut times, mut values } = answer;
        if !std::mem::replace(&mut self.dated, true) && times[0] > 1e8 {
            (self.sheet.origin, self.sheet.unix) = (times[0].floor() as i64, true);
        }
        let origin = self.sheet.origin as f64;
        times.iter_mut().for_each(|t| *t -= origin);
        let series = &self.options.series;
        let by_name = if metric.ends_with("_total") { ValueKind::Cumulative } else { ValueKind::Rate };
        let unit = series.unit_bytes.unwrap_or(1.0);
        values.iter_mut().for_each(|v| *v *= unit);
        let op = direction(&metric);
        // a direction that the name says is marked until all names are known
        let mark = op.map_or(String::new(), |_| metric.clone());
        let (kind, stamp) = (series.kind.unwrap_or(by_name), series.stamp.unwrap_or_default());
        // all labels together name an instance, which goes on in a later answer
        labels.sort_unstable();
        let next = self.sheet.groups.len();
        let key =
            [&metric, &host, &device].into_iter().chain(&labels).map(String::as_str).collect::<Vec<_>>().join("\0");
        let at = *self.places.entry(key).or_insert(next);
        if at == next {
            let columns = vec![(op.unwrap_or(Op::Write), mark)];
            self.sheet.meanings.push(Meaning { columns, kind, stamp, first_is_mean: false });
            self.sheet.groups.push(Group::new(self.sheet.meanings.len() - 1, None, host, device));
        }
        let group = &mut self.sheet.groups[at];
        // answers may overlap
        let known = group.times.first().zip(group.times.last()).map(|(a, b)| *a..=*b);
        for (time, value) in
            times.into_iter().zip(values).filter(|(t, _)| known.as_ref().is_none_or(|k| !k.contains(t)))
        {
            group.push(time, &[value]);
        }
    }
}
