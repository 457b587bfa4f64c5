//! Questions, forecasts, regressions and the page on a made fleet.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::common::{cells, make_within, printed, run};
use base64::prelude::{BASE64_STANDARD, Engine};
use iophase_fleet::query::{Fleet, Format, QUESTIONS};
use sha2::{Digest, Sha256};

/// A fleet that all tests of this module ask.
static FLEET: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let t = tempfile::tempdir().unwrap();
    let (logs, fleet) = (t.path().join("logs"), t.path().join("fleet"));
    make_within(&logs, 500, 0.04, 31, 2);
    run(3, &logs, &fleet, &[]);
    (t, fleet)
});

fn csv(fleet: &Fleet, sql: &str) -> String {
    let mut out = Vec::new();
    fleet.sql(sql).unwrap().write(Format::Csv, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Numbers to nine digits: sums of floats depend on their order.
fn rounded(text: &str) -> String {
    let cell = |c: &str| match c.parse::<f64>() {
        Ok(x) if c.contains('.') => format!("{x:.8e}"),
        _ => c.to_owned(),
    };
    text.lines().map(|l| l.split(',').map(cell).collect::<Vec<_>>().join(",") + "\n").collect()
}

#[test]
fn questions_have_their_golden_answers() {
    let (one, two) = (Fleet::open(&FLEET.1, 1).unwrap(), Fleet::open(&FLEET.1, 2).unwrap());
    for q in QUESTIONS {
        assert!(q.about().len() > 20 && q.about().ends_with('.'), "{}", q.name);
        let answer = rounded(&csv(&one, q.sql));
        assert_eq!(answer, rounded(&csv(&two, q.sql)), "{}: threads change the answer", q.name);
        assert!(answer.lines().count() > 1 || q.name == "never-read", "{}: empty", q.name);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(q.name).with_extension("csv");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &answer).unwrap();
        }
        assert_eq!(answer, std::fs::read_to_string(&path).unwrap_or_default(), "{}: renew with BLESS=1", q.name);
    }
}

/// Answers of another program on the same tables.
fn script(name: &str, arguments: &[&Path]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    let out = Command::new("python3").arg(path).args(arguments).output();
    let Ok(out) = out else { return eprintln!("skipped: no python3") };
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    match out.status.code() {
        Some(77) => eprintln!("skipped: {text}"),
        code => assert_eq!(code, Some(0), "{text}"),
    }
}

#[test]
fn pandas_gives_the_same_answers() {
    let answers = tempfile::tempdir().unwrap();
    let fleet = Fleet::open(&FLEET.1, 1).unwrap();
    for q in QUESTIONS {
        std::fs::write(answers.path().join(q.name).with_extension("csv"), csv(&fleet, q.sql)).unwrap();
    }
    script("questions.py", &[&FLEET.1, answers.path()]);
}

#[test]
fn other_programs_read_the_tables() {
    let expected = tempfile::NamedTempFile::new().unwrap();
    let count = |t: &str| cells(&FLEET.1, &format!("select count(*) from {t}"))[0][0].clone();
    let lines =
        iophase_fleet::tables::all().iter().map(|t| format!("{},{}\n", t.name, count(t.name))).collect::<String>();
    std::fs::write(expected.path(), lines).unwrap();
    script("readers.py", &[&FLEET.1, expected.path()]);
}

#[test]
fn queries_change_nothing_and_errors_name_the_remedy() {
    let fleet = Fleet::open(&FLEET.1, 1).unwrap();
    for sql in [
        "drop table logs",
        "insert into logs select * from logs",
        "copy logs to '/tmp/x.csv'",
        "create table x as select 1",
    ] {
        assert_eq!(fleet.sql(sql).unwrap_err().exit_code(), 2, "{sql}");
    }
    let e = fleet.sql("select nothing from logs").unwrap_err().to_string();
    assert!(e.contains("nothing") && e.contains("fleet schema"), "{e}");
    assert_eq!(Fleet::open(Path::new("/nonexistent"), 1).err().unwrap().exit_code(), 3);
}

fn output(arguments: &[&str]) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_iophase-fleet")).args(arguments).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn the_page_is_whole_without_anything_else() {
    let fleet = FLEET.1.to_str().unwrap();
    let page = output(&["page", fleet, "-o", "-"]);
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let hash = Sha256::digest(style.as_bytes());
    let base64 = page.split_once("style-src 'sha256-").unwrap().1.split_once('\'').unwrap().0;
    assert_eq!(base64, BASE64_STANDARD.encode(hash));
    assert!(
        !page.contains("<script")
            && !page.contains(" style=")
            && !page.contains("http://")
            && !page.contains("https://")
    );
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|s| s.split('"').next()).collect();
    assert_eq!(ids.len(), ids.iter().collect::<std::collections::BTreeSet<_>>().len(), "ids are unique");
    for link in page.split("href=\"#").skip(1).filter_map(|s| s.split('"').next()) {
        assert!(ids.contains(&link), "#{link} leads nowhere");
    }
    assert!(page.len() < 500_000 && page.contains("500 logs of 8 applications"), "{}", &page[..2000]);
    assert!(!(20_000..20_200).any(|u| page.contains(&format!(">{u}<"))), "users are left out");
    assert!(output(&["page", fleet, "--with-user", "-o", "-"]).contains("top-users-table"));
    // the text of a picture shrinks with it, and what has a least width does not fit on a narrow screen
    for width in ["wide", "narrow"] {
        assert_eq!(page.matches(&format!("<figure class=\"{width}\"><svg")).count(), 1, "{width}");
    }
    assert!(style.contains(".wide { display: none; }") && !style.contains("min-width: 3"));
}

#[test]
fn a_page_can_be_of_some_days() {
    let fleet = FLEET.1.to_str().unwrap();
    let last = &cells(&FLEET.1, "select date_trunc('day', max(start_time)) from logs")[0][0];
    let later = &cells(&FLEET.1, &format!("select count(*) from logs where start_time >= '{last}'"))[0][0];
    let day = &last[..10];
    let page = output(&["page", fleet, "--from", day, "-o", "-"]);
    assert!(page.contains(&format!("{later} logs of")) && page.contains(&format!("from {day} 00:00 UTC")), "{later}");
    let before = output(&["page", fleet, "--until", day, "-o", "-"]);
    let all: usize = cells(&FLEET.1, "select count(start_time) from logs")[0][0].parse().unwrap();
    assert!(before.contains(&format!("{} logs of", all - later.parse::<usize>().unwrap())), "{all} {later}");
    assert!(output(&["page", fleet, "--from", "2031-01-01", "-o", "-"]).contains("0 logs of"));
    let refused = Command::new(env!("CARGO_BIN_EXE_iophase-fleet"))
        .args(["page", fleet, "--from", day, "--until", day, "-o", "-"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_wrong_clock_does_not_squeeze_the_picture() {
    let t = tempfile::tempdir().unwrap();
    let (logs, right, wrong) = (t.path().join("logs"), t.path().join("right"), t.path().join("wrong"));
    make_within(&logs, 40, 0.0, 32, 2);
    run(0, &logs, &right, &[]);
    let log = t.path().join("log.txt");
    std::fs::write(&log, printed(946_684_800)).unwrap();
    run(0, &logs, &wrong, &[log.to_str().unwrap()]);
    let picture = |fleet: &Path, options: &[&str]| {
        let page = output(&[&["page", fleet.to_str().unwrap(), "-o", "-"][..], options].concat());
        let time = page.split_once("id=\"time\"").unwrap().1.split_once("</section>").unwrap().0;
        let (lead, figure) = time.split_once("<figure").unwrap();
        (lead.to_owned(), figure.to_owned())
    };
    let (right, (lead, figure)) = (picture(&right, &[]), picture(&wrong, &[]));
    assert_eq!(right.1, figure);
    assert!(!right.0.contains("left out") && lead.contains("are left out: 1."), "{lead}");
    let old = picture(&wrong, &["--until", "2001-01-01"]);
    assert!(old.0.contains("from 2000-01-01 00:00 to 2000-01-01 00:03 UTC"), "{}", old.0);
}

#[test]
fn a_forecast_expects_what_running_jobs_did_before() {
    let fleet = FLEET.1.to_str().unwrap();
    let last = &cells(
        &FLEET.1,
        "select app, user_id, ranks, cast(extract(epoch from start_time) as bigint) from logs where status = 'ok' order by start_time desc limit 1",
    )[0];
    let jobs = FLEET.0.path().join("jobs.csv");
    std::fs::write(&jobs, format!("job_id,app,user,ranks,start\n1,{},{},{},{}\n", last[0], last[1], last[2], last[3]))
        .unwrap();
    let text = output(&["forecast", fleet, "--running", jobs.to_str().unwrap(), "--horizon", "1", "--peak", "1"]);
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|l| l.split(',').collect()).collect();
    assert_eq!(rows.len(), 60);
    assert!(rows.iter().any(|r| r[1].parse::<f64>().unwrap() > 0.0 && r[3] == "true"), "{text}");
    let replay = output(&["forecast", fleet, "--replay"]);
    let errors: Vec<f64> = replay.lines().skip(1).map(|l| l.rsplit(',').next().unwrap().parse().unwrap()).collect();
    assert!(errors[0] < errors[1] && errors[0] < errors[2], "better than yesterday and than the mean: {replay}");
}

#[test]
fn runs_of_the_same_logs_are_no_regression() {
    let text = output(&["regressions", FLEET.1.to_str().unwrap()]);
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn schema_and_questions_are_listed() {
    let text = output(&["schema"]);
    assert!(
        ["logs:", "signals:", "layers:", "period_s", "Dominant period in seconds."].iter().all(|s| text.contains(s))
    );
    assert!(output(&["schema", "bursts"]).starts_with("bursts:"));
    let list = output(&["ask", "--list"]);
    assert!(QUESTIONS.iter().all(|q| list.contains(q.name)));
    assert!(output(&["--status", FLEET.1.to_str().unwrap()]).starts_with("done: 500 of 500 logs"));
}
