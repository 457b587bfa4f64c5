//! Pages of `iophase report`: valid, safe, true to the other commands, and working in a browser where one is installed.
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base64::Engine;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::outline::{Element, Table, parsed};
use common::{every, shared};

const TRACES: [&str; 8] = [
    "stable.darshan",
    "stable-heatmap.darshan",
    "stable.strace",
    "stable.msgpack",
    "change.darshan",
    "change.json",
    "two-periods.darshan",
    "aperiodic.darshan",
];

fn iophase(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_iophase")).current_dir(env!("CARGO_MANIFEST_DIR")).args(args).output().unwrap()
}

fn page_of(args: &[&str]) -> String {
    let o = iophase(&[&["report", "-o", "-"], args].concat());
    assert!(o.status.success(), "{args:?}: {}", String::from_utf8_lossy(&o.stderr));
    String::from_utf8(o.stdout).unwrap()
}

fn json_of(args: &[&str]) -> Value {
    serde_json::from_slice(&iophase(args).stdout).unwrap()
}

/// Checks of every page; a failure names the element.
#[track_caller]
fn check(name: &str, page: &str) -> Element {
    let (tree, errors) = parsed(page);
    assert!(errors.is_empty(), "{name}: {errors:?}");
    let all = tree.all();
    let mut ids = HashSet::new();
    for id in all.iter().filter_map(|e| e.attribute("id")) {
        assert!(ids.insert(id), "{name}: two elements have the id {id}");
    }
    for e in &all {
        let label = e.label();
        for (key, value) in e.attributes() {
            assert!(key != "style" && !key.starts_with("on"), "{name}: {label} has {key}");
            match (key, &*e.name) {
                ("href", "a") => {
                    let known = value.strip_prefix('#').map_or(value.starts_with("https://"), |id| ids.contains(id));
                    assert!(known, "{name}: {label}: {value} leads nowhere");
                }
                ("href", "image") => assert!(value.starts_with("data:"), "{name}: {label} is loaded from {value}"),
                ("href" | "src" | "srcset" | "action" | "poster", _) => panic!("{name}: {label} loads {value}"),
                ("aria-labelledby" | "aria-describedby", _) => {
                    assert!(value.split(' ').all(|id| ids.contains(id)), "{name}: {label}: {key} {value}");
                }
                _ => {
                    let loaded = value.split("url(").nth(1).map(|v| v.trim_start_matches('#').trim_end_matches(')'));
                    assert!(loaded.is_none_or(|id| ids.contains(id)), "{name}: {label} loads {value}");
                }
            }
        }
        match &*e.name {
            "link" | "iframe" | "object" | "embed" | "base" | "form" => panic!("{name}: {label}"),
            "section" => {
                let heading = e.inside().next().filter(|h| h.name == "h2" && !h.text().is_empty());
                let heading = heading.and_then(|h| h.attribute("id"));
                assert!(heading.is_some() && heading == e.attribute("aria-labelledby"), "{name}: {label}: no heading");
            }
            "svg" => {
                let inside: Vec<&Element> = e.inside().take(2).collect();
                let said = inside.iter().map(|e| (&*e.name, e.text().is_empty())).collect::<Vec<_>>();
                assert_eq!(said, [("title", false), ("desc", false)], "{name}: {label}");
                assert_eq!(e.attribute("role"), Some("img"), "{name}: {label}");
            }
            "table" => check_table(name, &e.table()),
            _ => {}
        }
    }
    let count = |tag: &str| all.iter().filter(|e| e.name == tag).count();
    assert_eq!((count("html"), count("main"), count("style")), (1, 1, 1), "{name}");
    assert!(count("h1") >= 1, "{name}: no title");
    // the policy comes first, and names the script and the style that are there
    let policy = all.iter().find(|e| e.name == "meta").and_then(|e| e.attribute("content")).unwrap();
    for (start, end) in [("<style>", "</style>"), ("<script>", "</script>")] {
        let from = page.rfind(start).unwrap() + start.len();
        let text = &page[from..from + page[from..].find(end).unwrap()];
        let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text));
        assert!(policy.contains(&format!("'sha256-{hash}'")), "{name}: {start}");
    }
    assert!(policy.starts_with("default-src 'none';") && policy.contains("base-uri 'none'"), "{policy}");
    tree
}

/// A table has a caption and titles, each row has a cell under each of them, and each cell shows its exact value.
#[track_caller]
fn check_table(name: &str, t: &Table<'_>) {
    let place = format!("{name}: table {} ({})", t.id, t.caption);
    assert!(!t.id.is_empty() && !t.caption.is_empty(), "{place}: no caption");
    let keys: HashSet<&str> = t.columns.iter().map(|c| c.0).collect();
    assert_eq!(keys.len(), t.columns.len(), "{place}: two columns have the same key");
    assert!(t.columns.iter().all(|(key, title)| !key.is_empty() && !title.is_empty()), "{place}: {:?}", t.columns);
    for (i, row) in t.rows.iter().enumerate() {
        assert_eq!(row.len(), t.columns.len(), "{place}: cells of row {}", i + 1);
        for (cell, (key, _)) in row.iter().zip(&t.columns) {
            let Some(exact) = cell.attribute("data-value").and_then(|v| v.parse::<f64>().ok()) else { continue };
            let text = cell.text();
            assert!(shows(&text, exact), "{place}: row {}, column {key}: `{text}` is not {exact}", i + 1);
        }
    }
}

/// True if a text is a value to the digits that it shows: `1,792`, `all 4`, `40 %`, `4.06 MiB`, `until 1.36 ms`, `< 0.1 %`.
fn shows(text: &str, exact: f64) -> bool {
    if text == "< 0.1 %" {
        return exact > 0.0 && exact < 0.0005;
    }
    let text = text.trim_start_matches("until ").trim_start_matches("all ");
    let (number, rest) = text.split_once(' ').unwrap_or((text, ""));
    let number = number.replace(',', "");
    let Ok(shown) = number.parse::<f64>() else { return false };
    let unit = rest.split([' ', ';']).next().unwrap_or_default();
    let base = unit.trim_end_matches("/s").trim_end_matches(['B', 's']).trim_end_matches("Hz");
    let factor = match base {
        _ if unit == "%" => 0.01,
        "n" => 1e-9,
        "µ" => 1e-6,
        "m" => 1e-3,
        "k" => 1e3,
        "Ki" => f64::from(1 << 10),
        "Mi" => f64::from(1 << 20),
        "Gi" => f64::from(1 << 30),
        _ => 1.0,
    };
    let places = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let half = 0.5 * factor * 0.1f64.powi(places as i32);
    (shown * factor - exact).abs() <= half * (1.0 + 1e-6)
}

#[test]
fn pages_are_valid_and_small() {
    for name in TRACES {
        let page = page_of(&[&format!("data/{name}")]);
        check(name, &page);
        assert!(page.len() < 1_000_000, "{name}: {} bytes", page.len());
        assert_eq!(page, page_of(&["--threads", "1", &format!("data/{name}")]), "{name}: other bytes with one thread");
    }
}

#[test]
fn a_page_gives_back_the_answers_of_the_other_commands() {
    let folder = tempfile::tempdir().unwrap();
    for name in TRACES {
        let trace = format!("data/{name}");
        let path = folder.path().join("page.html");
        let path = path.to_str().unwrap();
        assert!(iophase(&["report", &trace, "-o", path]).status.success());
        let data: Value = json_of(&["report", "--extract", path]);
        let run = &data["runs"][0];
        let findings = json_of(&["findings", &trace, "--json", "-"]);
        for key in ["findings", "ok", "not_checked", "io"] {
            assert_eq!(run["findings"][key], findings[key], "{name}: {key}");
        }
        let mut report = json_of(&["analyze", &trace, "--json", "-"]);
        let mut kept = run["report"].clone();
        for r in [&mut report, &mut kept] {
            // those of most bytes come first in a page
            r.as_object_mut().unwrap().remove("patterns");
            r["trace"]["job"] = Value::Null;
        }
        assert_eq!(kept, report, "{name}");
    }
}

#[test]
fn the_files_and_the_heat_map_have_all_bytes_of_the_trace() {
    for name in ["stable.darshan", "change.darshan", "stable.strace"] {
        let page = page_of(&[&format!("data/{name}")]);
        let bytes = |row: &BTreeMap<String, String>, key: &str| row[key].parse::<u64>().unwrap();
        let rows = table(&page, "files-table");
        let sum: u64 = rows.iter().map(|row| bytes(row, "bytes-read") + bytes(row, "bytes-written")).sum();
        let report = json_of(&["analyze", &format!("data/{name}"), "--json", "-"]);
        let signals = report["signals"].as_array().unwrap();
        let bytes: u64 = signals.iter().map(|s| s["bytes"].as_u64().unwrap()).sum();
        assert_eq!(sum, bytes, "{name}");
        let data: Value = serde_json::from_str(&extracted(&page)).unwrap();
        let heats = data["runs"][0]["pictures"]["heats"].as_array().unwrap();
        let heats: Vec<&Value> = heats.iter().filter(|h| h["id"] != "heat-both").collect();
        let rows = heats.iter().flat_map(|h| h["rows"].as_array().unwrap());
        let heat: f64 = rows.map(|r| r[2].as_f64().unwrap()).sum();
        assert!((heat - sum as f64).abs() <= 16.0, "{name}: {heat} of {sum} bytes");
    }
}

fn extracted(page: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    std::fs::write(&path, page).unwrap();
    String::from_utf8(iophase(&["report", "--extract", path.to_str().unwrap()]).stdout).unwrap()
}

/// A trace whose names try to become markup.
fn hostile(folder: &Path) -> PathBuf {
    let names = [
        "/s/</script><script>document.title='owned'</script>",
        "/s/\\\" onmouseover=\\\"document.title='owned'",
        "/s/<img src=x onerror=document.title=`owned`>",
        "/s/\u{202e}txt.exe",
        "/s/\\u0000\\u0007null",
        &format!("/s/{}", "long".repeat(1024)),
    ];
    let mut rows = String::new();
    for i in 0..40 {
        for (rank, name) in names.iter().enumerate() {
            let start = 2.0 * f64::from(i) + 0.01 * rank as f64;
            rows.push_str(&format!(
                "{{\"rank\":{rank},\"op\":\"write\",\"file\":\"{name}\",\"offset\":{},\"size\":65536,\"start\":{start},\"end\":{}}}\n",
                i * 65536,
                start + 0.2
            ));
        }
    }
    let path = folder.join("hostile.jsonl");
    std::fs::write(&path, rows).unwrap();
    path
}

#[test]
fn names_of_strangers_stay_text() {
    let folder = tempfile::tempdir().unwrap();
    let trace = hostile(folder.path());
    let page = page_of(&[trace.to_str().unwrap()]);
    check("hostile", &page);
    assert_eq!(page.matches("<script").count(), 2, "the data and the script");
    let markup = &page[..page.find("id=\"data\"").unwrap()];
    assert!(!markup.contains("<img") && !markup.contains('\u{202e}') && !page.contains('\0'));
    assert!(page.contains("\\u{202e}txt.exe") && page.contains("&lt;/script&gt;"));
    let data: Value = serde_json::from_str(&extracted(&page)).unwrap();
    let files = data["runs"][0]["report"]["patterns"]["patterns"].as_array().unwrap();
    assert!(files.iter().any(|p| p["file"].as_str().unwrap().contains("</script><script>")));
}

#[test]
fn a_redacted_page_has_no_name_of_the_trace() {
    for (trace, words) in [
        ("data/stable.darshan", vec!["scratch", "ckpt.0", "a_stable", "truth.json", "--segments"]),
        ("data/stable.strace", vec!["scratch", "ckpt.0", "a_stable"]),
    ] {
        let page = page_of(&["--redact", trace]);
        check(trace, &page);
        for word in words {
            assert!(!page.contains(word), "{trace}: {word}");
        }
        assert!(page.contains("periodic, every"));
    }
}

#[test]
fn several_traces_are_one_page_or_a_folder_of_pages() {
    let page = page_of(&["data/stable.darshan", "data/change.darshan"]);
    check("two runs", &page);
    assert!(page.contains("id=\"run-2\"") && page.contains("id=\"r2-phases\"") && page.len() < 1_000_000);
    let folder = tempfile::tempdir().unwrap();
    let path = format!("{}/pages/", folder.path().display());
    let o = iophase(&["report", "data/stable.darshan", "data/change.darshan", "-q", "-o", &path]);
    assert!(o.status.success() && o.stdout.is_empty());
    let index = std::fs::read_to_string(format!("{path}index.html")).unwrap();
    assert!(index.contains("href=\"stable.darshan.html\""));
    check("one of a folder", &std::fs::read_to_string(format!("{path}change.darshan.html")).unwrap());
}

#[test]
fn a_page_is_cut_to_its_size() {
    let page = page_of(&["--max-size", "260kb", "data/stable.strace"]);
    assert!(page.len() <= 260_000, "{}", page.len());
    check("small", &page);
    assert!(page.contains("Cut to keep the page small"));
}

#[test]
fn user_and_date_are_shown_only_if_asked_for() {
    let data: Value = serde_json::from_str(&extracted(&page_of(&["data/stable.darshan"]))).unwrap();
    assert!(data["runs"][0]["trace"]["job"]["uid"].is_null() && data["runs"][0]["info"]["job"]["uid"].is_null());
    let page = page_of(&["--with-user", "--stamp", "2026-11-23", "data/stable.darshan"]);
    assert!(page.contains("<dt>User</dt>") && page.contains("2026-11-23"));
}

#[test]
fn text_enters_a_page_unescaped_in_one_file() {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/render/html");
    let script = std::fs::read_to_string(room.join("page.js")).unwrap();
    for word in [
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "new Function",
        "setTimeout",
        "localStorage",
        "fetch(",
    ] {
        assert!(!script.contains(word), "page.js: {word}");
    }
    let style = std::fs::read_to_string(room.join("page.css")).unwrap();
    assert!(!style.contains("url(") && !style.contains("@import"));
    assert!(script.len() <= 24_000 && style.len() <= 14_000, "{} and {} bytes", script.len(), style.len());
    let sections = std::fs::read_dir(room.join("sections")).unwrap().map(|e| e.unwrap().path());
    for path in ["page.rs", "mod.rs", "../listing.rs"].map(|f| room.join(f)).into_iter().chain(sections) {
        let text = std::fs::read_to_string(&path).unwrap();
        for bad in ["PreEscaped", "\"<", "innerHTML"] {
            assert!(!text.contains(bad), "{}: {bad}", path.display());
        }
    }
}

#[test]
fn each_layer_with_times_has_its_own_heat_maps() {
    let page = page_of(&["data/stable-heatmap.darshan"]);
    let data: Value = serde_json::from_str(&extracted(&page)).unwrap();
    let heats = data["runs"][0]["pictures"]["heats"].as_array().unwrap();
    let info = json_of(&["info", "data/stable-heatmap.darshan", "--json", "-"]);
    for (layer, id) in [("heatmap-posix", "heat-posix-write"), ("heatmap-mpiio", "heat-mpi-io-write")] {
        let counted = info["layers"].as_array().unwrap().iter().find(|l| l["layer"] == layer).unwrap();
        let heat = heats.iter().find(|h| h["id"] == id).unwrap_or_else(|| panic!("no {id}: {heats:?}"));
        let shown: f64 = heat["rows"].as_array().unwrap().iter().map(|r| r[2].as_f64().unwrap()).sum();
        assert!((shown - counted["bytes_written"].as_f64().unwrap()).abs() <= 16.0, "{id}: {shown} of {counted}");
    }
}

/// A page in Chromium: its elements after the script ran, and the lines of the log. `None` if it is not installed.
fn browsed(page: &Path, fragment: &str, more: &[&str]) -> Option<(String, String)> {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", "--enable-logging=stderr"])
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(more)
        .arg("--dump-dom")
        .arg(format!("file://{}{fragment}", page.display()))
        .output();
    let Ok(o) = output else {
        eprintln!("skipped: chromium is not installed");
        return None;
    };
    let log = String::from_utf8_lossy(&o.stderr);
    let console: Vec<&str> = log.lines().filter(|l| l.contains("CONSOLE") || l.contains("Content Security")).collect();
    Some((String::from_utf8_lossy(&o.stdout).into_owned(), console.join("\n")))
}

#[test]
fn a_page_works_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["stable.darshan", "stable.strace", "stable-heatmap.darshan"] {
        let path = folder.path().join(format!("{name}.html"));
        std::fs::write(&path, page_of(&[&format!("data/{name}")])).unwrap();
        let Some((dom, console)) = browsed(&path, "", &["--window-size=375,800"]) else { return };
        assert!(dom.contains("data-ready=\"1\""), "{name}: the script did not reach its end");
        assert_eq!(console, "", "{name}");
        let width: u32 = dom.split("data-width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        assert!(width <= 500, "{name}: the body is {width} wide in a narrow window");
    }
    let path = folder.path().join("stable.darshan.html");
    let Some((dom, console)) = browsed(&path, "#t=10-20&find=IOP-POSIX-002&sort=calls.count&theme=dark", &[]) else {
        return;
    };
    assert_eq!(console, "");
    assert!(dom.contains("data-from=\"10\"") && dom.contains("data-to=\"20\""), "the window is shown");
    assert!(dom.contains("card info lit") && dom.contains("<tr class=\"lit\">"), "the finding and its files are lit");
    assert!(dom.matches("class=\"span found\"").count() > 1, "its times are shown in the pictures");
    assert!(dom.contains("aria-sort=\"descending\"") && dom.contains("data-theme=\"dark\""));
    let Some((dom, console)) = browsed(&path, "#scale=linear&rows=end&hide=reads.size", &[]) else { return };
    assert_eq!(console, "");
    let section = |id: &str| {
        let from = dom.find(&format!("<section id=\"{id}\"")).unwrap();
        &dom[from..from + dom[from..].find("</section>").unwrap()]
    };
    let legend = section("heat").split("class=\"scale\"").nth(1).unwrap();
    assert!(legend.split_once('>').unwrap().1.starts_with("write: 0 to "), "the scale is linear");
    assert!(
        section("heat").contains("aria-pressed=\"true\">linear")
            && section("heat").contains("aria-pressed=\"true\">end")
    );
    let ticks = |dom: &str| -> Vec<String> {
        let heat = &dom[dom.find("id=\"heat-write\"").unwrap()..];
        let axis = heat.split("<g class=\"y\">").nth(2).unwrap().split("</g>").next().unwrap();
        let texts = axis.split("<text").skip(1).map(|t| t.split('>').nth(1).unwrap().split('<').next().unwrap().trim());
        // the last is the title
        texts.filter(|t| *t != "Rank").map(str::to_owned).collect()
    };
    let page = std::fs::read_to_string(&path).unwrap();
    let data: Value = serde_json::from_str(&extracted(&page)).unwrap();
    let rows = data["runs"][0]["pictures"]["heats"][0]["rows"].as_array().unwrap();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| rows[b][3].as_f64().unwrap().total_cmp(&rows[a][3].as_f64().unwrap()));
    let before: Vec<usize> = ticks(&page).iter().map(|t| t.parse().unwrap()).collect();
    let after: Vec<String> = before.iter().map(|i| rows[order[*i]][0].to_string()).collect();
    assert_eq!(ticks(&dom), after, "the rows are in the order of their ends");
    assert_ne!(ticks(&page), after);
    assert!(
        section("files").contains("data-key=\"reads\" hidden") || section("files").contains("hidden=\"\""),
        "columns are hidden"
    );
}

/// The rows of a table: exact values, or the texts, by the keys of the columns.
fn table(page: &str, id: &str) -> Vec<BTreeMap<String, String>> {
    let (tree, _) = parsed(page);
    let all = tree.tagged("table");
    let table = all.iter().find(|t| t.attribute("id") == Some(id)).unwrap_or_else(|| panic!("no table {id}")).table();
    let cell = |td: &Element| td.attribute("data-value").map_or_else(|| td.text(), str::to_owned);
    let rows = table.rows.iter().map(|row| row.iter().map(|td| cell(td)));
    rows.map(|cells| table.columns.iter().map(|c| c.0.to_owned()).zip(cells).collect()).collect()
}

#[test]
fn the_numbers_in_tables_are_those_of_the_other_commands() {
    for name in ["stable.darshan", "two-periods.darshan", "change.darshan"] {
        let trace = format!("data/{name}");
        let page = page_of(&[&trace]);
        let counters = json_of(&["info", &trace, "--json", "-"])["counters"].take();
        let number = |x: &str| x.parse::<f64>().unwrap();
        let files = table(&page, "files-table");
        let families = counters["families"].as_array().unwrap();
        assert_eq!(files.len(), families.len(), "{name}");
        for f in families {
            let row = files.iter().find(|r| r["file"] == f["file"].as_str().unwrap()).unwrap();
            for (key, column) in [("files", "files"), ("bytes_read", "bytes-read"), ("bytes_written", "bytes-written")]
            {
                assert_eq!(number(&row[column]), f[key].as_f64().unwrap(), "{name}: {key}");
            }
            let time = ["read_s", "write_s", "metadata_s"].map(|k| f[k].as_f64().unwrap()).iter().sum::<f64>();
            assert!((number(&row["time"]) - time).abs() <= 1e-12 * time, "{name}: time");
        }
        for sizes in counters["access_sizes"].as_array().unwrap() {
            let rows = table(&page, &format!("sizes-{}", sizes["layer"].as_str().unwrap()));
            for key in ["reads", "writes"] {
                let shown: Vec<f64> = rows.iter().map(|r| number(&r[key])).collect();
                let counted: Vec<f64> = sizes[key].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
                assert_eq!(shown, counted, "{name}: {key}");
            }
        }
        let findings = json_of(&["findings", &trace, "--json", "-"]);
        for (i, f) in findings["findings"].as_array().unwrap().iter().enumerate() {
            let id = format!("find-{}-{}", i + 1, f["code"].as_str().unwrap());
            let card = &page[page.find(&format!("id=\"{id}\"")).unwrap()..];
            let cost = f["lost_s"].as_f64().filter(|s| *s > 0.0).or(f["time_s"].as_f64().filter(|s| *s > 0.0));
            if let Some(cost) = cost {
                let meter = card.split("<meter").nth(1).unwrap().split("value=\"").nth(1).unwrap();
                assert_eq!(number(meter.split('"').next().unwrap()), cost, "{name}: {id}");
            }
            let shares = f["files"].as_array().unwrap();
            let rows = if shares.is_empty() { Vec::new() } else { table(&page, &format!("{id}-files")) };
            for (row, share) in rows.iter().zip(shares) {
                assert_eq!(row["file"], share["file"].as_str().unwrap(), "{name}: {id}");
                for (key, column) in [("files", "files"), ("count", "count"), ("bytes", "bytes"), ("time_s", "time")] {
                    assert_eq!(number(&row[column]), share[key].as_f64().unwrap(), "{name}: {id}: {key}");
                }
            }
        }
        // the answer is in the words of the terminal
        let text = iophase(&["analyze", &trace]);
        let text = String::from_utf8(text.stdout).unwrap();
        let answer = page.split("class=\"answer\"").nth(1).unwrap().split("</ul>").next().unwrap();
        let answer = answer.split("</a>").next().unwrap().rsplit('>').next().unwrap();
        assert!(text.contains(answer), "{name}: {answer} in {text}");
    }
}

#[test]
fn the_data_of_a_page_come_back_byte_for_byte() {
    for name in TRACES {
        let page = page_of(&[&format!("data/{name}")]);
        let start = "<script type=\"application/json\" id=\"data\">";
        let from = page.find(start).unwrap() + start.len();
        let block = &page[from..from + page[from..].find("</script>").unwrap()];
        let json = extracted(&page);
        assert!(json.trim_end_matches('\n').replace('<', "\\u003c") == block, "{name}");
        let data: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(data["schema"], "iophase.page.v1");
    }
}

#[test]
fn lists_that_are_cut_in_the_data_say_so() {
    let page = page_of(&["--max-size", "250kb", "data/stable.strace"]);
    let data: Value = serde_json::from_str(&extracted(&page)).unwrap();
    let run = &data["runs"][0];
    let cuts = run["cut"].as_array().unwrap();
    let files = cuts.iter().find(|c| c["list"] == "classes.files").unwrap();
    assert_eq!(files["kept"].as_u64(), Some(run["classes"]["files"].as_array().unwrap().len() as u64));
    let whole: Value = serde_json::from_str(&extracted(&page_of(&["data/stable.strace"]))).unwrap();
    let whole = &whole["runs"][0];
    assert_eq!(files["of"].as_u64(), Some(whole["classes"]["files"].as_array().unwrap().len() as u64));
    assert!(whole["cut"].as_array().unwrap().is_empty(), "{}", whole["cut"]);
}

#[test]
fn an_empty_page_is_small() {
    let page = page_of(&["-qq", "tests/data/darshan/good/le_341_job_only.darshan"]);
    check("empty", &page);
    assert!(page.len() <= 150_000, "{} bytes", page.len());
    for section in ["phases", "heat", "files", "patterns", "graph"] {
        assert!(!page.contains(&format!("<section id=\"{section}\"")), "{section} is empty and left out");
    }
    assert!(page.contains("Not in this trace"));
}

#[test]
fn damaged_logs_have_a_page_where_they_have_an_answer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/darshan/hostile");
    let mut made = 0;
    let logs = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path());
    for path in logs.filter(|p| p.extension().is_some_and(|e| e == "darshan")) {
        let name = path.to_str().unwrap();
        let answer = iophase(&["findings", "-qq", "--json", "-", name]);
        let page = iophase(&["report", "-qq", "-o", "-", name]);
        assert_eq!(page.status.code(), answer.status.code(), "{name}");
        assert_eq!(page.stdout.is_empty(), answer.stdout.is_empty(), "{name}");
        if !page.stdout.is_empty() {
            check(name, &String::from_utf8(page.stdout).unwrap());
            made += 1;
        }
    }
    assert!(made > 0);
}

#[test]
fn a_printed_page_has_the_answer_and_all_findings() {
    let folder = tempfile::tempdir().unwrap();
    let (path, pdf) = (folder.path().join("page.html"), folder.path().join("page.pdf"));
    std::fs::write(&path, page_of(&["data/stable.darshan"])).unwrap();
    let print = format!("--print-to-pdf={}", pdf.display());
    if browsed(&path, "", &[&print, "--no-pdf-header-footer"]).is_none() {
        return;
    }
    let Ok(o) = Command::new("pdftotext").args([pdf.to_str().unwrap(), "-"]).output() else {
        eprintln!("skipped: pdftotext is not installed");
        return;
    };
    let text = String::from_utf8_lossy(&o.stdout);
    assert!(text.contains("write: periodic, every 2.000 s"), "{text}");
    let findings = json_of(&["findings", "data/stable.darshan", "--json", "-"]);
    for f in findings["findings"].as_array().unwrap() {
        assert!(text.contains(f["code"].as_str().unwrap()), "{f}");
    }
    let pages = text.matches('\u{c}').count();
    assert!((1..=12).contains(&pages), "{pages} pages");
}

#[test]
fn a_page_fits_on_a_phone() {
    let folder = tempfile::tempdir().unwrap();
    // a window cannot be that narrow, a frame can
    let frame = "<iframe id=f width=375 height=800 src=page.html></iframe><script>f.onload = () => {
        const root = f.contentDocument.documentElement;
        document.title = root.scrollWidth + ' of ' + root.clientWidth;
    };</script>";
    std::fs::write(folder.path().join("frame.html"), frame).unwrap();
    for name in ["stable.darshan", "stable.strace", "two-periods.darshan"] {
        std::fs::write(folder.path().join("page.html"), page_of(&[&format!("data/{name}")])).unwrap();
        let frame = folder.path().join("frame.html");
        let Some((dom, _)) = browsed(&frame, "", &["--allow-file-access-from-files"]) else { return };
        let title = dom.split("<title>").nth(1).unwrap().split('<').next().unwrap();
        let (all, seen) = title.split_once(" of ").unwrap();
        assert!(seen.parse::<u32>().unwrap() <= 375);
        assert_eq!(all, seen, "{name}: the body scrolls sideways");
    }
}

#[test]
fn a_browser_runs_nothing_that_a_name_says() {
    let folder = tempfile::tempdir().unwrap();
    let trace = hostile(folder.path());
    let page = page_of(&[trace.to_str().unwrap()]);
    let path = folder.path().join("page.html");
    std::fs::write(&path, &page).unwrap();
    let Some((dom, console)) = browsed(&path, "", &[]) else { return };
    assert_eq!(console, "", "escaping suffices alone");
    assert!(!dom.contains("<title>owned"));
    // the policy suffices alone, too: the same page as if nothing were escaped
    let end = page.find("<script type=\"application/json\"").unwrap();
    let start = page.find("<body>").unwrap();
    let bare = page[start..end].replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    std::fs::write(&path, format!("{}{}{}", &page[..start], bare.replace("&amp;", "&"), &page[end..])).unwrap();
    let Some((dom, console)) = browsed(&path, "", &[]) else { return };
    assert!(bare.contains("</script><script>document.title='owned'</script>"));
    assert!(!dom.contains("<title>owned") && console.contains("Content Security Policy"), "{console}");
    // and markup of other kinds
    let injected = page.replace(
        "<h1",
        "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"><p style='color:red' onclick='1'>x</p><h1",
    );
    std::fs::write(&path, injected).unwrap();
    let Some((dom, console)) = browsed(&path, "", &[]) else { return };
    assert!(!dom.contains("<title>owned") && console.contains("Content Security Policy"), "{console}");
}

#[test]
fn a_page_without_script_has_its_pictures_and_tables() {
    let folder = tempfile::tempdir().unwrap();
    let page = page_of(&["data/stable.darshan"]);
    let from = page.find("script-src 'sha256-").unwrap();
    let to = from + page[from..].find("; style-src").unwrap();
    let path = folder.path().join("page.html");
    std::fs::write(&path, format!("{}script-src 'none'{}", &page[..from], &page[to..])).unwrap();
    let Some((dom, _)) = browsed(&path, "", &[]) else { return };
    assert!(!dom.contains("data-ready"));
    assert!(dom.contains("class=\"beside\"") && dom.contains("<html lang=\"en\">"), "the script marks the document");
    assert!(dom.matches("<svg").count() >= 6 && dom.contains("<image") && dom.contains("bandwidth-write-table"));
}

/// All traces below a folder: files that are no notes, and folders of which the files are one trace.
fn traces_below(root: PathBuf) -> Vec<PathBuf> {
    let (mut all, mut folders) = (Vec::new(), vec![root]);
    while let Some(folder) = folders.pop() {
        let entries: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
        let has = |name: &str| entries.iter().any(|e| e.file_name().is_some_and(|n| n == name));
        if has("VERSION") || has("recorder.mt") || folder.extension().is_some_and(|e| e == "strace") {
            all.push(folder);
            continue;
        }
        for entry in entries {
            match entry.extension().and_then(|e| e.to_str()) {
                _ if entry.is_dir() => folders.push(entry),
                Some("md" | "py" | "rs" | "toml" | "cfg" | "truth") => {}
                _ => all.push(entry),
            }
        }
    }
    all.sort();
    all
}

/// Opens pages one after the other in a frame of Chromium; gives how many its script made ready, how many scroll sideways, and the
/// lines of the log.
fn opened(folder: &Path, pages: &[String]) -> Option<([usize; 2], String)> {
    let frame = folder.join("frame.html");
    let names = serde_json::to_string(pages).unwrap();
    let text = format!(
        "<iframe id=f width=1280 height=900></iframe><script>
        const names = {names}; let i = -1, ready = 0, wide = 0;
        f.onload = () => setTimeout(() => {{
            const page = f.contentDocument, root = page.documentElement;
            ready += 'ready' in page.body.dataset;
            wide += root.scrollWidth > root.clientWidth;
            i += 1;
            if (i < names.length) f.src = names[i]; else document.title = ready + ' ready, wide ' + wide;
        }}, 50);
        f.src = 'about:blank';</script>"
    );
    std::fs::write(&frame, text).unwrap();
    let (dom, console) = browsed(&frame, "", &["--allow-file-access-from-files", "--virtual-time-budget=60000"])?;
    let title = dom.split("<title>").nth(1).unwrap_or_else(|| panic!("{pages:?}: {dom:.2000}")).split('<').next()?;
    let (ready, wide) = title.split_once(" ready, wide ").unwrap();
    Some(([ready.parse().unwrap(), wide.parse().unwrap()], console))
}

#[test]
fn traces_of_every_kind_have_pages_that_open() {
    let mut traces: Vec<PathBuf> = ["corpus", "thirdparty", "accuracy", "patterns"]
        .into_iter()
        .filter_map(shared)
        .flat_map(traces_below)
        .collect();
    traces.extend(traces_below("data".into()));
    let step = 5 * every(12);
    let folder = tempfile::tempdir().unwrap();
    let mut pages = Vec::new();
    for trace in traces.iter().step_by(step).filter(|t| t.metadata().unwrap().len() < 4 << 20) {
        let name = trace.to_str().unwrap();
        let o = iophase(&["report", "-qq", "-o", "-", name]);
        match o.status.code() {
            Some(0) => {
                let page = String::from_utf8(o.stdout).unwrap();
                check(name, &page);
                pages.push(format!("{}.html", pages.len()));
                std::fs::write(folder.path().join(pages.last().unwrap()), page).unwrap();
            }
            code => assert!(code.is_some_and(|c| c < 6) && o.stdout.is_empty(), "{name}: {code:?}"),
        }
    }
    for some in pages.chunks(50) {
        let Some((seen, console)) = opened(folder.path(), some) else { return };
        assert_eq!((seen, console.as_str()), ([some.len(), 0], ""));
    }
}
