//! Time series as JSON, one value or several one after the other: `sadf -j`, `iostat -o JSON`, and answers of Prometheus to range queries.

use memchr::memmem;

use super::blocks::Blocks;
use super::layout::direction;
use super::sheet::{Group, Meaning, Sheet};
use super::snapshots::{self, Snapshots as _};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::formats::json::{Json, member_names};
use crate::formats::lines::Tally;
use crate::formats::options::ReadOptions;
use crate::formats::rates::ValueKind;
use crate::formats::source::Source;
use crate::formats::window::Window;
use crate::record::{Op, is_time};

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

/// The error of damage behind which nothing is of use, or what is to be said of it.
fn damage(outcome: Result<()>, json: &Json, any: bool) -> Result<Tally> {
    match outcome {
        Err(e) if e.kind() == ErrorKind::Malformed && any => {
            Ok(Tally::of_damage(Some(json.damage().map_or_else(|| e.to_string(), str::to_owned))))
        }
        other => other.map(|()| Tally::default()),
    }
}

/// Reads `iostat -o JSON` and `sadf -j`: `sysstat.hosts[].statistics[]`, each with a `timestamp` if iostat had `-t`, and the devices of `disk`.
///
/// # Errors
/// Malformed, also if nothing says the times; limits, errors of the system.
pub(super) fn sysstat(source: &Source, options: &ReadOptions, tool: &'static str) -> Result<Sheet> {
    let mut json = Json::new(Window::open(source, options)?, options.limits.depth);
    let mut blocks = Blocks::new(tool, options);
    let outcome = documents(&mut json, |json| {
        json.members(|json, name| match name {
            b"sysstat" => json.members(|json, name| match name {
                b"hosts" => elements(json, |json| {
                    json.members(|json, name| match name {
                        b"nodename" => text(json).map(|host| blocks.of_host(host)),
                        b"statistics" => elements(json, |json| {
                            block(json, &mut blocks)?;
                            blocks.sheet().check(&options.limits)
                        }),
                        _ => json.skip(),
                    })
                }),
                _ => json.skip(),
            }),
            _ => json.skip(),
        })
    });
    let tally = damage(outcome, &json, blocks.any())?;
    snapshots::finish(blocks, &tally, options)
}

/// One of the statistics. sadf names rates without `/s`, and says how long they lasted.
fn block(json: &mut Json, blocks: &mut Blocks) -> Result<()> {
    let mut disks: Vec<(String, Vec<(String, f64)>)> = Vec::new();
    let mut lasted = None;
    json.members(|json, name| match name {
        b"timestamp" if json.peek()? == Some(b'{') => {
            let (mut date, mut time, mut zone) = (String::new(), String::new(), "");
            json.members(|json, name| match name {
                b"date" => text(json).map(|t| date = t),
                b"time" => text(json).map(|t| time = t),
                b"utc" => json.number().map(|n| zone = if n == Some(1.0) { "Z" } else { "" }),
                b"interval" => json.number().map(|n| lasted = n),
                _ => json.skip(),
            })?;
            blocks.time(format!("{date} {time}{zone}").as_bytes());
            Ok(())
        }
        b"timestamp" => text(json).map(|t| blocks.time(t.as_bytes())),
        b"disk" => elements(json, |json| {
            let (mut device, mut values, mut per_s) = (String::new(), Vec::new(), "");
            json.members(|json, name| match name {
                b"disk_device" => text(json).map(|t| device = t),
                b"disk-device" => text(json).map(|t| (device, per_s) = (t, "/s")),
                _ if values.len() < MEMBERS => {
                    let name = String::from_utf8_lossy(name).into_owned() + per_s;
                    json.member_amount().map(|x| values.push((name, x)))
                }
                _ => json.skip(),
            })?;
            disks.push((device, values));
            Ok(())
        }),
        _ => json.skip(),
    })?;
    blocks.add(&disks, lasted);
    Ok(())
}

/// Reads an answer of Prometheus to a range query: `data.result[]`, each with the labels of `metric` and pairs of time and value.
/// Counters have names that end in `_total`; anything else is a level or a rate.
///
/// # Errors
/// Malformed if it is no range of values; limits; errors of the system.
pub(super) fn prometheus(source: &Source, options: &ReadOptions) -> Result<Sheet> {
    let mut json = Json::new(Window::open(source, options)?, options.limits.depth);
    let mut answers = Answers { sheet: Sheet { tool: "Prometheus", ..Sheet::default() }, options };
    let outcome = documents(&mut json, |json| {
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
                b"result" => elements(json, |json| answers.result(json)),
                _ => json.skip(),
            }),
            _ => json.skip(),
        })
    });
    let mut sheet = answers.sheet;
    sheet.quality.records_read = sheet.values as u64;
    sheet.warnings.extend(damage(outcome, &json, sheet.values > 0)?.warnings("readings", None));
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

/// Answers on their way to a sheet.
struct Answers<'o> {
    sheet: Sheet,
    options: &'o ReadOptions,
}

impl Answers<'_> {
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
                self.sheet.values += 1;
                self.sheet.check(&self.options.limits)?;
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
        self.sheet.begin_at(times[0]);
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
        let key =
            [&metric, &host, &device].into_iter().chain(&labels).map(String::as_str).collect::<Vec<_>>().join("\0");
        let meaning = self.sheet.meanings.len();
        let at = self.sheet.place(key, || Group::new(meaning, None, host, device));
        if at == meaning {
            let columns = vec![(op.unwrap_or(Op::Write), mark)];
            self.sheet.meanings.push(Meaning { columns, kind, stamp, first_is_mean: false });
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
