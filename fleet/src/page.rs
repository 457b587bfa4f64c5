//! A fleet as one HTML page: answers first, then the named questions as tables. It needs nothing else, has no script, and shows the
//! names of strangers: all text goes through one escaping writer, and a policy allows the one style by its hash and nothing more.

mod html;

use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine};
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};

use crate::error::usage;
use crate::query::{Answer, Fleet, QUESTIONS, question};
use crate::store::Store;
use html::Html;
use iophase::Result;

/// A bound of time, if there is one.
type Bound = Option<DateTime<Utc>>;

const STYLE: &str = include_str!("page/page.css");
/// Rows of a table that are shown.
const ROWS: usize = 50;
/// A name or code of up to this many bytes stays on one line, however narrow the page.
const WHOLE: usize = 24;
/// Width and height of a picture in units of its view box.
const SIZE: (f64, f64) = (1000.0, 200.0);
/// Said where there is no row.
const NOTHING: &str = "Nothing in the data answers this.";
/// Columns of a picture: more minutes are added up.
const COLUMNS: usize = 240;

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
/// [`ErrorKind::Usage`](iophase::ErrorKind::Usage) for a time that ends before it begins, and as [`Fleet::sql`].
pub fn page(fleet: &Fleet, folder: &Path, (from, until): (Bound, Bound), with_user: bool) -> Result<String> {
    if from.zip(until).is_some_and(|(from, until)| from >= until) {
        return Err(usage("no time between --from and --until").expected("a later time for --until"));
    }
    fleet.between(from, until)?;
    let mut h = Html::default();
    start(&mut h);
    h.open("main", &[("id", "main")]);
    head(&mut h, fleet, folder, (from, until))?;
    time(&mut h, fleet)?;
    for (title, name) in SECTIONS {
        if name == "top-users" && !with_user {
            continue;
        }
        let q = question(name)?;
        let answer = fleet.sql(q.sql)?;
        section(&mut h, name, title, &q.about(), |h| table(h, name, title, &answer, with_user))?;
    }
    provenance(&mut h, fleet, folder, with_user)?;
    h.close("main");
    h.close("body");
    h.close("html");
    Ok(h.finish())
}

fn start(h: &mut Html) {
    let hash = BASE64_STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    let policy = format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'");
    h.doctype();
    h.open("html", &[("lang", "en")]);
    h.open("head", &[]);
    h.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
    h.open("meta", &[("charset", "utf-8")]);
    h.open("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    h.elem("title", &[], "I/O of many jobs");
    h.style(STYLE);
    h.close("head");
    h.open("body", &[]);
    h.elem("a", &[("class", "skip"), ("href", "#main")], "Skip to the answer");
    h.open("nav", &[("aria-label", "Sections")]);
    h.open("ul", &[]);
    let links = [("answer", "Answer"), ("time", "Bytes over time")];
    let questions = SECTIONS.iter().map(|(title, name)| (*name, *title));
    for (id, title) in links.into_iter().chain(questions.filter(|q| q.0 != "top-users")).chain([("provenance", "Data")])
    {
        h.open("li", &[]);
        h.elem("a", &[("href", &format!("#{id}"))], title);
        h.close("li");
    }
    h.close("ul");
    h.close("nav");
}

fn section(
    h: &mut Html,
    id: &str,
    title: &str,
    lead: &str,
    content: impl FnOnce(&mut Html) -> Result<()>,
) -> Result<()> {
    let heading = format!("{id}-h");
    h.open("section", &[("id", id), ("aria-labelledby", &heading)]);
    h.elem("h2", &[("id", &heading)], title);
    h.elem("p", &[("class", "lead")], lead);
    content(h)?;
    h.close("section");
    Ok(())
}

/// The answers in words.
fn head(h: &mut Html, fleet: &Fleet, folder: &Path, (from, until): (Bound, Bound)) -> Result<()> {
    let name = folder.file_name().map_or_else(|| folder.display().to_string(), |n| n.to_string_lossy().into_owned());
    h.elem("h1", &[], &format!("I/O of the jobs in {name}"));
    let bounds = [("from", from), ("before", until)];
    let bounds = bounds.into_iter().filter_map(|(word, t)| Some(format!(" {word} {} UTC", html::date(seconds(t?)))));
    let bounds: String = bounds.collect();
    if !bounds.is_empty() {
        h.elem("p", &[("class", "lead")], &format!("Jobs that started{bounds}."));
    }
    h.open("ul", &[("id", "answer"), ("class", "answer")]);
    for line in answers(fleet)? {
        h.elem("li", &[], &line);
    }
    h.close("ul");
    Ok(())
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
    let number = |x: Option<f64>| x.map_or("-".to_owned(), html::grouped);
    let bad = at(&logs, 1)
        .filter(|b| *b > 0.0)
        .map_or(String::new(), |b| format!("; {} could not be read", html::grouped(b)));
    lines.push(format!("{} logs of {} applications{bad}", number(at(&logs, 0)), number(at(&logs, 6))));
    let (read, written) = (at(&logs, 2).unwrap_or(0.0), at(&logs, 3).unwrap_or(0.0));
    lines.push(format!("{} read, {} written", html::bytes(read), html::bytes(written)));
    if let (Some(hours), Some(share)) = (at(&logs, 4), at(&logs, 5)) {
        lines.push(format!("{} core hours in I/O: {:.1} % of the jobs' time", html::short(hours), 100.0 * share));
    }
    let periodic = one(
        "select count(distinct case when periodic then log_key end) as p, count(distinct case when periodic is not null then log_key end) as n, \
         median(case when confidence > 0.8 then period_s end) as t from signals",
    )?;
    if let (Some(p), Some(n)) = (at(&periodic, 0), at(&periodic, 1).filter(|n| *n > 0.0)) {
        let median = at(&periodic, 2).map_or(String::new(), |t| format!("; median period {} s", html::short(t)));
        lines.push(format!(
            "{} of {} jobs with data that resolve periods are periodic{median}",
            html::grouped(p),
            html::grouped(n)
        ));
    }
    let worst = fleet.sql(
        "select code, name, sum(lost_s * ranks) / 3600 as hours, count(distinct log_key) as jobs from findings \
         where lost_s > 0 group by code, name order by hours desc, code limit 1",
    )?;
    if let (Some(row), Some(Some(hours))) = (worst.cells()?.first(), worst.numbers("hours")?.first()) {
        let text = format!(
            "costliest finding: {} ({}) in {} jobs, {} core hours",
            row[0],
            row[1],
            row[3],
            html::short(*hours)
        );
        lines.push(text);
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
        let n = html::grouped(n);
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
fn time(h: &mut Html, fleet: &Fleet) -> Result<()> {
    let drawable = drawable(fleet)?;
    let (left_out, rows) = (left_out(fleet, &drawable)?, minutes(fleet, &drawable)?);
    let (Some(first), Some(last)) = (rows.first().map(|x| x.0), rows.last().map(|x| x.0 + 60.0)) else {
        return section(h, "time", "Bytes over time", NOTHING, |_| Ok(()));
    };
    let step = ((last - first) / COLUMNS as f64 / 60.0).ceil().max(1.0) * 60.0;
    let columns = ((last - first) / step).ceil() as usize;
    let mut sums = vec![[0.0; 2]; columns.max(1)];
    for (t, x) in &rows {
        let at = (((t - first) / step) as usize).min(sums.len() - 1);
        (0..2).for_each(|k| sums[at][k] += x[k]);
    }
    let lead = format!(
        "Mean rates of {} s each, from {} to {} UTC: written upwards, read downwards. Rows without exact times are spread over the time between the first and the last access of a file.{left_out}",
        html::grouped(step),
        html::date(first),
        html::date(last)
    );
    section(h, "time", "Bytes over time", &lead, |h| {
        picture(h, &sums, step, (first, last));
        Ok(())
    })
}

fn picture(h: &mut Html, sums: &[[f64; 2]], step: f64, (first, last): (f64, f64)) {
    let top = |k: usize| sums.iter().map(|s| s[k]).fold(0.0, f64::max);
    let (width, height) = SIZE;
    let (middle, half) = (height / 2.0, height / 2.0 - 2.0);
    let most = top(0).max(top(1)).max(f64::MIN_POSITIVE);
    let path = |k: usize, sign: f64| {
        let mut d = format!("M0 {middle:.1}");
        for (i, s) in sums.iter().enumerate() {
            let x = |i: usize| i as f64 * width / sums.len() as f64;
            let y = middle - sign * half * s[k] / most;
            d += &format!("L{:.1} {y:.1}L{:.1} {y:.1}", x(i), x(i + 1));
        }
        d + &format!("L{width:.1} {middle:.1}Z")
    };
    let rate = |k: usize| html::bytes(top(k) / step);
    h.open("figure", &[]);
    // words beside the picture keep their size, however narrow the page
    h.elem("p", &[("class", "ends")], &format!("written, up to {}/s", rate(1)));
    let view = format!("0 0 {width} {height}");
    h.open(
        "svg",
        &[("viewBox", &view), ("preserveAspectRatio", "none"), ("role", "img"), ("aria-labelledby", "time-t time-d")],
    );
    h.elem("title", &[("id", "time-t")], "Bytes over time");
    let desc = format!("Highest mean rate: {}/s written, {}/s read.", rate(1), rate(0));
    h.elem("desc", &[("id", "time-d")], &desc);
    h.empty("path", &[("class", "write"), ("d", &path(1, 1.0))]);
    h.empty("path", &[("class", "read"), ("d", &path(0, -1.0))]);
    h.empty("path", &[("class", "zero"), ("d", &format!("M0 {middle:.1}H{width:.1}"))]);
    h.close("svg");
    h.elem("p", &[("class", "ends")], &format!("read, up to {}/s", rate(0)));
    h.open("p", &[("class", "ends")]);
    [first, last].iter().for_each(|t| h.elem("span", &[], &html::date(*t)));
    h.close("p");
    h.elem("figcaption", &[], &desc);
    h.close("figure");
}

fn table(h: &mut Html, id: &str, title: &str, answer: &Answer, with_user: bool) -> Result<()> {
    let fields = answer.schema.fields();
    let shown: Vec<usize> = (0..fields.len()).filter(|&i| with_user || !fields[i].name().contains("user")).collect();
    let cells = answer.cells()?;
    if cells.is_empty() {
        h.elem("p", &[], NOTHING);
        return Ok(());
    }
    let class = |i: usize| if fields[i].data_type().is_numeric() { "n" } else { "t" };
    h.open("div", &[("class", "scroll")]);
    h.open("table", &[("id", &format!("{id}-table"))]);
    let cut = if cells.len() > ROWS { format!(": {ROWS} of {} rows", cells.len()) } else { String::new() };
    h.elem("caption", &[], &format!("{title}{cut}"));
    h.open("thead", &[]);
    h.open("tr", &[]);
    for &i in &shown {
        h.elem("th", &[("scope", "col"), ("class", class(i))], &html::heading(fields[i].name()));
    }
    h.close("tr");
    h.close("thead");
    h.open("tbody", &[]);
    for row in cells.iter().take(ROWS) {
        h.open("tr", &[]);
        for &i in &shown {
            let exact = &row[i];
            let number = exact.parse::<f64>().ok().filter(|_| fields[i].data_type().is_numeric());
            match number {
                Some(x) => h.elem(
                    "td",
                    &[("class", "n"), ("data-value", exact), ("title", exact)],
                    &html::value(fields[i].name(), x),
                ),
                None if exact.is_empty() => h.elem("td", &[("class", class(i))], "-"),
                None if exact.len() <= WHOLE => h.elem("td", &[("class", "w")], exact),
                None => h.elem("td", &[("class", "t")], exact),
            }
        }
        h.close("tr");
    }
    h.close("tbody");
    h.close("table");
    h.close("div");
    Ok(())
}

fn provenance(h: &mut Html, fleet: &Fleet, folder: &Path, with_user: bool) -> Result<()> {
    let store = Store::open(folder)?;
    let batches = store.batches()?;
    let versions = store.batches_since(0)?;
    let logs = fleet.sql("select count(*) as n from logs")?.numbers("n")?;
    let lead = "What the tables were made of; `iophase fleet sql` asks them anything else.";
    section(h, "provenance", "Data", lead, |h| {
        h.open("dl", &[]);
        let versions: std::collections::BTreeSet<&str> = versions.iter().map(|(_, b)| b.version.as_str()).collect();
        let mut facts = vec![
            ("Logs".to_owned(), html::grouped(logs.into_iter().flatten().sum())),
            (
                "Files of the tables".to_owned(),
                html::grouped(batches.iter().map(|m| m.parts.files().count() as f64).sum()),
            ),
            ("Version of the tables".to_owned(), crate::tables::SCHEMA_VERSION.to_string()),
            ("Version of iophase".to_owned(), versions.into_iter().collect::<Vec<_>>().join(", ")),
        ];
        facts.extend(store.options().into_iter().map(|(name, value)| (format!("Option {name}"), value)));
        if !with_user {
            facts.push(("Users".to_owned(), "left out; --with-user shows them".to_owned()));
        }
        for (name, value) in facts {
            h.open("div", &[]);
            h.elem("dt", &[], &name);
            h.elem("dd", &[], &value);
            h.close("div");
        }
        h.close("dl");
        h.open("details", &[]);
        h.elem("summary", &[], "SQL of the questions");
        for q in QUESTIONS {
            h.elem("h3", &[], q.name);
            h.elem("pre", &[], q.sql);
        }
        h.close("details");
        Ok(())
    })
}
