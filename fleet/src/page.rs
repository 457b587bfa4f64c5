//! A fleet as one HTML page: answers first, then the named questions as tables. It needs nothing else, has no script, and shows the
//! names of strangers: `maud` escapes all text, and a policy allows the one style by its hash and nothing more.

mod text;

use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};
use chrono::{DateTime, Utc};
use iophase::internals::render::figure::{self, Axis, Figure, Layer, Look, Numbers, Panel, Shape, Steps, color};
use iophase::internals::render::units;
use iophase::internals::render::visible::visible;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::error::usage;
use crate::query::{Fleet, QUESTIONS, question};
use crate::store::Store;
use iophase::{ErrorKind, Result};

/// A bound of time, if there is one.
type Bound = Option<DateTime<Utc>>;

const STYLE: &str = include_str!("page/page.css");
/// Rows of a table that are shown.
const ROWS: usize = 50;
/// A name or code of up to this many bytes stays on one line, however narrow the page.
const WHOLE: usize = 24;
/// Said where there is no row.
const NOTHING: &str = "Nothing in the data answers this.";
/// Columns of a picture: more minutes are added up.
const COLUMNS: usize = 240;
/// A picture for wide screens and one for narrow ones, whose text would be too small in the other: class, and width in pixels.
const PICTURES: [(&str, u32); 2] = [("wide", 1000), ("narrow", 360)];

/// The sections that are questions: heading, and name of the question.
const SECTIONS: [(&str, &str); 8] = [
    ("Users", "top-users"),
    ("Findings", "top-findings"),
    ("Periodic applications", "periodic-apps"),
    ("Periods by version", "period-by-version"),
    ("Busiest minutes", "busy-minutes"),
    ("Applications that collide", "collisions"),
    ("Written, never read", "never-read"),
    ("Quality of the data", "quality"),
];

/// The page of a fleet, which is in `folder`, of the jobs that started within a time. Users are left out unless they are asked for.
///
/// # Errors
/// [`ErrorKind::Usage`] for a time that ends before it begins, and as [`Fleet::sql`].
pub fn page(fleet: &Fleet, folder: &Path, (from, until): (Bound, Bound), with_user: bool) -> Result<String> {
    if from.zip(until).is_some_and(|(from, until)| from >= until) {
        return Err(usage("no time between --from and --until").expected("a later time for --until"));
    }
    fleet.between(from, until)?;
    let asked = || SECTIONS.into_iter().filter(|(_, name)| with_user || *name != "top-users");
    let style = format!("{}{STYLE}", figure::STYLE);
    let hash = BASE64_STANDARD.encode(Sha256::digest(&style));
    let policy = format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'");
    let mut sections = vec![time(fleet)?];
    for (title, name) in asked() {
        let q = question(name)?;
        let content = table(fleet, (name, title), q.sql, with_user)?;
        sections.push(section(name, title, &q.about(), &content));
    }
    sections.push(provenance(fleet, folder, with_user)?);
    let links = [("Answer", "answer"), ("Bytes over time", "time")].into_iter().chain(asked());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "I/O of many jobs" }
                style { (PreEscaped(style)) }
            }
            body {
                a.skip href="#main" { "Skip to the answer" }
                nav aria-label="Sections" {
                    ul { @for (title, id) in links.chain([("Data", "provenance")]) { li { a href={ "#" (id) } { (title) } } } }
                }
                main #main { (head(fleet, folder, (from, until))?) @for s in sections { (s) "\n" } }
            }
        }
    };
    Ok(visible(&page.into_string()).into_owned())
}

fn section(id: &str, title: &str, lead: &str, content: &Markup) -> Markup {
    html! {
        section #(id) aria-labelledby={ (id) "-h" } { h2 #{ (id) "-h" } { (title) } p.lead { (lead) } (content) }
    }
}

/// The answers in words.
fn head(fleet: &Fleet, folder: &Path, (from, until): (Bound, Bound)) -> Result<Markup> {
    let name = folder.file_name().map_or_else(|| folder.display().to_string(), |n| n.to_string_lossy().into_owned());
    let bounds = [("from", from), ("before", until)];
    let bounds = bounds.into_iter().filter_map(|(word, t)| Some(format!(" {word} {} UTC", text::date(seconds(t?)))));
    let bounds: String = bounds.collect();
    let answers = answers(fleet)?;
    Ok(html! {
        h1 { "I/O of the jobs in " (name) }
        @if !bounds.is_empty() { p.lead { "Jobs that started" (bounds) "." } }
        ul #answer.answer { @for line in answers { li { (line) } "\n" } }
    })
}

fn answers(fleet: &Fleet) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    let one = |sql: &str| -> Result<Vec<Option<f64>>> {
        let answer = fleet.sql(sql)?;
        answer.schema.fields().iter().map(|f| Ok(answer.numbers(f.name())?.first().copied().flatten())).collect()
    };
    let logs =
        one("select count(*) as logs, sum(case when status in ('ok','partial','empty') then 0 else 1 end) as bad, \
         sum(bytes_read) as r, sum(bytes_written) as w, sum(io_s * ranks) / 3600 as hours, \
         sum(io_s * ranks) / sum(run_time_s * ranks) as share, count(distinct app) as apps from logs")?;
    let at = |v: &[Option<f64>], i: usize| v.get(i).copied().flatten();
    let number = |x: Option<f64>| x.map_or("-".to_owned(), text::whole);
    let bad =
        at(&logs, 1).filter(|b| *b > 0.0).map_or(String::new(), |b| format!("; {} could not be read", text::whole(b)));
    lines.push(format!("{} logs of {} applications{bad}", number(at(&logs, 0)), number(at(&logs, 6))));
    let (read, written) = (at(&logs, 2).unwrap_or(0.0), at(&logs, 3).unwrap_or(0.0));
    lines.push(format!("{} read, {} written", units::bytes(read), units::bytes(written)));
    if let (Some(hours), Some(share)) = (at(&logs, 4), at(&logs, 5)) {
        lines.push(format!("{} core hours in I/O: {:.1} % of the jobs' time", text::number(hours), 100.0 * share));
    }
    // by groups, which spill to disk: counts of distinct keys do not
    let periodic =
        one("select p, n, t from (select sum(case when periodic then 1 else 0 end) as p, count(*) as n from \
         (select bool_or(periodic) as periodic from signals where periodic is not null group by log_key)) \
         cross join (select median(period_s) as t from signals where confidence > 0.8)")?;
    if let (Some(p), Some(n)) = (at(&periodic, 0), at(&periodic, 1).filter(|n| *n > 0.0)) {
        let median = at(&periodic, 2).map_or(String::new(), |t| format!("; median period {} s", text::number(t)));
        lines.push(format!(
            "{} of {} jobs with data that resolve periods are periodic{median}",
            text::whole(p),
            text::whole(n)
        ));
    }
    let worst = fleet.sql(
        "select code, name, sum(lost_s * ranks) / 3600 as hours, count(distinct log_key) as jobs from findings \
         where lost_s > 0 group by code, name order by hours desc, code limit 1",
    )?;
    let first = |name: &str| worst.numbers(name).map(|all| all.first().copied().flatten());
    if let (Some(row), Some(hours), Some(jobs)) = (worst.cells()?.first(), first("hours")?, first("jobs")?) {
        let (jobs, hours) = (units::counted(jobs as u64, "job"), text::number(hours));
        lines.push(format!("costliest finding: {} ({}) in {jobs}, {hours} core hours", row[0], row[1]));
    }
    Ok(lines)
}

fn seconds(t: DateTime<Utc>) -> f64 {
    t.timestamp_micros() as f64 * 1e-6
}

/// Share of the jobs, at either end of their starts, by whose clocks no span of time is judged; one of ten jobs or more.
const DOUBTFUL: usize = 50;
const DAY_S: f64 = 86_400.0;

/// SQL that is true of jobs whose start can be drawn with those of all others: no further from nearly all others than a day and twice the
/// time between these. One clock that is years off would leave a picture of two lines.
fn drawable(fleet: &Fleet) -> Result<String> {
    let ends = format!("greatest(n / {DOUBTFUL}, case when n >= 10 then 1 else 0 end)");
    let answer = fleet.sql(&format!(
        "select min(t) as first, max(t) as last from (select cast(extract(epoch from start_time) as double) as t, \
         row_number() over (order by start_time) as i, count(*) over () as n from logs where start_time is not null) \
         where i > {ends} and i <= n - {ends}"
    ))?;
    let [first, last] = ["first", "last"].map(|name| answer.numbers(name).map(|all| all.first().copied().flatten()));
    let (Some(first), Some(last)) = (first?, last?) else { return Ok("true".to_owned()) };
    let reach = 2.0 * (last - first) + DAY_S;
    let start = "cast(extract(epoch from start_time) as double)";
    Ok(format!("coalesce({start} between {} and {}, true)", first - reach, last + reach))
}

/// Says how many jobs are not drawn.
fn left_out(fleet: &Fleet, drawable: &str) -> Result<String> {
    let answer = fleet.sql(&format!("select count(*) as n from logs where not {drawable}"))?;
    let jobs = answer.numbers("n")?.first().copied().flatten().filter(|n| *n > 0.0);
    Ok(jobs.map_or(String::new(), |n| {
        let n = text::whole(n);
        format!(
            " Jobs that started far from nearly all others, as by wrong clocks, are left out: {n}. With --from and --until they are shown."
        )
    }))
}

/// Start of each minute in seconds since 1970, and the bytes that were read and written in it.
fn minutes(fleet: &Fleet, drawable: &str) -> Result<Vec<(f64, [f64; 2])>> {
    let answer = fleet.sql(&format!(
        "select cast(extract(epoch from minute) as double) as t, sum(case when mode = 'read' then bytes else 0 end) as r, \
         sum(case when mode = 'write' then bytes else 0 end) as w from minutes where mode <> 'metadata' and {drawable} \
         group by minute order by minute"
    ))?;
    let (t, r, w) = (answer.numbers("t")?, answer.numbers("r")?, answer.numbers("w")?);
    let rows = t.iter().zip(r.iter().zip(&w));
    Ok(rows.filter_map(|(t, (r, w))| Some(((*t)?, [r.unwrap_or(0.0), w.unwrap_or(0.0)]))).collect())
}

/// Bytes over time as a picture.
fn time(fleet: &Fleet) -> Result<Markup> {
    let of_time = |lead: &str, content: Markup| section("time", "Bytes over time", lead, &content);
    let drawable = drawable(fleet)?;
    let (left_out, rows) = (left_out(fleet, &drawable)?, minutes(fleet, &drawable)?);
    let (Some(first), Some(last)) = (rows.first().map(|x| x.0), rows.last().map(|x| x.0 + 60.0)) else {
        return Ok(of_time(&format!("{NOTHING}{left_out}"), html! {}));
    };
    let step = ((last - first) / COLUMNS as f64 / 60.0).ceil().max(1.0) * 60.0;
    let columns = ((last - first) / step).ceil() as usize;
    let mut rates = [vec![0.0; columns.max(1)], vec![0.0; columns.max(1)]];
    for (t, bytes) in &rows {
        let at = (((t - first) / step) as usize).min(rates[0].len() - 1);
        (0..2).for_each(|k| rates[k][at] += bytes[k] / step);
    }
    let [read, written] = rates.map(|values| Steps { start: first, step, values });
    let lead = format!(
        "Mean rates of {} s each, from {} to {} UTC. Rows without exact times are spread over the time between the first and the last access of a file.{left_out}",
        text::whole(step),
        text::date(first),
        text::date(last)
    );
    let figure = rates_figure((read, written), (first, last));
    Ok(of_time(
        &lead,
        html! {
            @for (class, width) in PICTURES {
                figure class=(class) { (PreEscaped(figure::draw(&figure, &Look::of_screen(width), class).svg)) }
            }
        },
    ))
}

/// Rates of reading and writing, each in a panel of its own with the same scale.
fn rates_figure((read, written): (Steps, Steps), range: (f64, f64)) -> Figure {
    let (most_read, most_written) = (read.ends().1, written.ends().1);
    let panel = |label: &str, time: &str, color, rates: Steps| {
        let y = Axis { label: label.to_owned(), ..Axis::rate(most_read.max(most_written)) };
        let x = Axis::new(range, time, "", Numbers::Date);
        Panel::new(x, y, vec![Layer::new("", color, Shape::Area(rates))]).height(180.0)
    };
    Figure {
        title: format!("Highest mean rate: {} written, {} read", units::rate(most_written), units::rate(most_read)),
        panels: vec![panel("Written", "", color::SIGNAL, written), panel("Read", "Time (UTC)", color::DOMINANT, read)],
        ..Figure::default()
    }
}

/// The answer to a question. One that the engine refuses, because it needs too much memory, leaves those of the others.
fn table(fleet: &Fleet, (id, title): (&str, &str), sql: &str, with_user: bool) -> Result<Markup> {
    let answer = match fleet.sql(sql) {
        Err(e) if e.kind() == ErrorKind::Limit => {
            return Ok(
                html! { p { "Not answered: " (e.found()) ". A page of less time, with --from and --until, has it." } },
            );
        }
        answer => answer?,
    };
    let fields = answer.schema.fields();
    let shown: Vec<usize> = (0..fields.len()).filter(|&i| with_user || !fields[i].name().contains("user")).collect();
    let cells = answer.cells()?;
    if cells.is_empty() {
        return Ok(html! { p { (NOTHING) } });
    }
    let cut = if cells.len() > ROWS { format!(": {ROWS} of {} rows", cells.len()) } else { String::new() };
    let class = |i: usize| if fields[i].data_type().is_numeric() { "n" } else { "t" };
    Ok(html! {
        div.scroll {
            table #{ (id) "-table" } {
                caption { (title) (cut) }
                thead { tr { @for &i in &shown { th scope="col" class=(class(i)) { (text::heading(fields[i].name())) } } } }
                tbody {
                    @for row in cells.iter().take(ROWS) {
                        tr { @for &i in &shown { (cell(fields[i].name(), class(i), &row[i])) } }
                        "\n"
                    }
                }
            }
        }
    })
}

fn cell(column: &str, class: &str, exact: &str) -> Markup {
    let number = exact.parse::<f64>().ok().filter(|_| class == "n");
    html! {
        @if let Some(x) = number {
            td.n data-value=(exact) title=(exact) { (text::value(column, x)) }
        } @else if exact.is_empty() {
            td class=(class) { "-" }
        } @else {
            td class=(if exact.len() <= WHOLE { "w" } else { "t" }) { (text::both_ends(exact)) }
        }
    }
}

fn provenance(fleet: &Fleet, folder: &Path, with_user: bool) -> Result<Markup> {
    let store = Store::open(folder)?;
    let batches = store.batches()?;
    let versions = store.batches_since(0)?;
    let logs = fleet.sql("select count(*) as n from logs")?.numbers("n")?;
    let versions: std::collections::BTreeSet<&str> = versions.iter().map(|(_, b)| b.version.as_str()).collect();
    let files = batches.iter().map(|m| m.parts.files().count()).sum::<usize>();
    let mut facts = vec![
        ("Logs".to_owned(), text::whole(logs.into_iter().flatten().sum())),
        ("Files of the tables".to_owned(), units::grouped(files)),
        ("Version of the tables".to_owned(), crate::tables::SCHEMA_VERSION.to_string()),
        ("Version of iophase".to_owned(), versions.into_iter().collect::<Vec<_>>().join(", ")),
    ];
    facts.extend(store.options().into_iter().map(|(name, value)| (format!("Option {name}"), value)));
    if !with_user {
        facts.push(("Users".to_owned(), "left out; --with-user shows them".to_owned()));
    }
    let lead = "What the tables were made of; `iophase fleet sql` asks them anything else.";
    Ok(section(
        "provenance",
        "Data",
        lead,
        &html! {
            dl { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
            details {
                summary { "SQL of the questions" }
                @for q in QUESTIONS { h3 { (q.name) } pre { (q.sql) } }
            }
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_needs_too_much_memory_leaves_the_page() {
        let sql = "select value as n from generate_series(1, 100000) order by value % 1000";
        let shown = |memory| table(&crate::query::small(memory), ("all", "All"), sql, false).unwrap().into_string();
        assert!(shown(1 << 30).contains("<table id=\"all-table\""));
        assert!(shown(1 << 10).starts_with("<p>Not answered: "));
    }
}
