//! Stored outputs: written so that a person can review them, and compared so that a failure names the element that differs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

/// File name in the folder, and content.
pub type Files = BTreeMap<String, String>;

/// Differences of one file that are shown.
const SHOWN: usize = 5;
/// Letters of a line of JSON.
const WIDTH: usize = 140;
/// Entries of a list that are stored; of the others there are a count, sums and words.
const KEPT: usize = 3;
/// A list of texts with so many letters is stored whole.
const LETTERS: usize = 600;

/// The folder of all stored outputs.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// True if the outputs are to be written instead of compared.
pub fn blessed() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// Compares `made` with the files in the folder, or replaces these if `BLESS` is set.
#[track_caller]
pub fn compare(folder: &str, made: &Files) {
    let root = root().join(folder);
    if blessed() {
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        made.iter().for_each(|(name, text)| std::fs::write(root.join(name), text).unwrap());
        return;
    }
    let stored = files_in(&root);
    let names: BTreeSet<&String> = stored.keys().chain(made.keys()).collect();
    let wrong: Vec<String> = names
        .into_iter()
        .filter_map(|name| {
            let all = match (stored.get(name), made.get(name)) {
                (Some(stored), Some(made)) => differences(name, stored, made),
                (Some(_), None) => vec!["is stored, and no output belongs to it".to_owned()],
                (None, _) => vec!["is missing".to_owned()],
            };
            let more = all.len().checked_sub(SHOWN + 1).map(|n| format!("and {} more differences", n + 1));
            let lines: Vec<String> = all.into_iter().take(SHOWN).chain(more).map(|d| format!("\n  {d}")).collect();
            (!lines.is_empty()).then(|| format!("tests/golden/{folder}/{name}{}", lines.concat()))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} stored outputs differ\n{}\nIf that is intended, `BLESS=1 cargo test --all-features --test it golden` stores what was made; review `git diff tests/golden`.",
        wrong.len(),
        wrong.join("\n")
    );
}

fn files_in(folder: &Path) -> Files {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let paths: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    let name = |p: &Path| p.file_name().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|p| (name(p), std::fs::read_to_string(p).unwrap())).collect()
}

/// Where two outputs differ: by the paths of values if they are JSON, else by elements, one a line.
fn differences(name: &str, stored: &str, made: &str) -> Vec<String> {
    let values = |text| serde_json::Deserializer::from_str(text).into_iter().collect::<Result<Vec<Value>, _>>();
    let mut all = Vec::new();
    if name.ends_with(".json")
        && let (Ok(stored), Ok(made)) = (values(stored), values(made))
    {
        match (&stored[..], &made[..]) {
            ([stored], [made]) => paths(stored, made, "", &mut all),
            _ => paths(&Value::Array(stored), &Value::Array(made), "", &mut all),
        }
    }
    // two texts of the same values differ in their form
    if all.is_empty() { lines(stored, made) } else { all }
}

/// The paths at which two values differ.
fn paths(stored: &Value, made: &Value, at: &str, out: &mut Vec<String>) {
    let key = |k: &str| format!("{at}/{}", k.replace('~', "~0").replace('/', "~1"));
    match (stored, made) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().for_each(|k| match (a.get(k), b.get(k)) {
                (Some(a), Some(b)) => paths(a, b, &key(k), out),
                (Some(a), None) => out.push(format!("{}: stored {a}, not made", key(k))),
                (_, b) => out.push(format!("{}: not stored, made {}", key(k), b.unwrap_or(&Value::Null))),
            });
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (0..).zip(a.iter().zip(b)).for_each(|(i, (a, b))| paths(a, b, &format!("{at}/{i}"), out));
        }
        (a, b) if a == b => {}
        (a, b) => out.push(format!("{at}: stored {a}, made {b}")),
    }
}

/// The lines in which two texts differ, each with the lines that it is a part of.
fn lines(stored: &str, made: &str) -> Vec<String> {
    let (a, b): (Vec<&str>, Vec<&str>) = (stored.lines().collect(), made.lines().collect());
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while i < a.len() || j < b.len() {
        let (rest, other) = (&a[i.min(a.len())..], &b[j.min(b.len())..]);
        let missing = other.first().map_or(Some(rest.len()), |line| rest.iter().position(|x| x == line));
        let added = rest.first().map_or(Some(other.len()), |line| other.iter().position(|x| x == line));
        match (missing, added) {
            (Some(0), _) if !rest.is_empty() && !other.is_empty() => (i, j) = (i + 1, j + 1),
            (Some(n), more) if more.is_none_or(|more| n <= more) => {
                out.extend((i..i + n).map(|i| format!("{}: stored, not made: {}", place(&a, i), a[i].trim())));
                i += n;
            }
            (_, Some(n)) => {
                out.extend((j..j + n).map(|j| format!("{}: not stored, made: {}", place(&b, j), b[j].trim())));
                j += n;
            }
            _ => {
                out.push(format!("{}: {}", place(&a, i), changed(a[i].trim(), b[j].trim())));
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    if out.is_empty() && stored != made {
        out.push("the ends of lines differ".to_owned());
    }
    out
}

/// The number of a line, and the lines it is indented under.
fn place(lines: &[&str], at: usize) -> String {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut above = Vec::new();
    let mut least = depth(lines[at]);
    for line in lines[..at].iter().rev().filter(|l| !l.is_empty()) {
        if depth(line) < least {
            least = depth(line);
            above.push(line.trim().chars().take(50).collect::<String>());
        }
    }
    above.push(format!("line {}", at + 1));
    above.reverse();
    above.join(", in ")
}

/// The difference between two lines: attributes and text of an element, or parts of a list.
fn changed(stored: &str, made: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (stored.split('"').collect(), made.split('"').collect());
    let names = |parts: &[&str]| parts.iter().step_by(2).rev().skip(1).map(|s| (*s).to_owned()).collect::<Vec<_>>();
    if !stored.starts_with('<') || names(&a) != names(&b) {
        return parts(stored, made);
    }
    let text =
        |last: &str| last.split_once('>').map_or("", |(_, text)| text).split('<').next().unwrap_or("").to_owned();
    let (old, new) = (text(a[a.len() - 1]), text(b[b.len() - 1]));
    let mut what: Vec<String> = (1..a.len() - 1)
        .step_by(2)
        .filter(|&i| a[i] != b[i])
        .map(|i| {
            let name = a[i - 1].trim_end_matches('=').rsplit([' ', '<']).next().unwrap_or_default();
            format!("{name}{}", number(a[i], b[i]))
        })
        .collect();
    what.extend((old != new).then(|| parts(&old, &new)));
    let tag = a[0].trim_start_matches('<').split([' ', '>']).next().unwrap_or_default();
    let shown = if old.is_empty() { String::new() } else { format!(" `{old:.60}`") };
    format!("<{tag}>{shown}: {}", what.join("; "))
}

/// The parts of a list in which two texts differ.
fn parts(stored: &str, made: &str) -> String {
    let split = |text: &str| text.replace("; ", " | ").split(" | ").map(str::to_owned).collect::<Vec<_>>();
    let (a, b) = (split(stored), split(made));
    if a.len() == 1 || a.len() != b.len() {
        return format!("\n    - {stored}\n    + {made}");
    }
    let start: String = stored.chars().take(60).collect();
    let pairs = a.iter().zip(&b).filter(|(a, b)| a != b).map(|(a, b)| format!("\n    - {a}\n    + {b}"));
    format!("{start}...{}", pairs.collect::<String>())
}

/// The first number, or other part, in which two values of an attribute differ.
fn number(stored: &str, made: &str) -> String {
    let split = |text: &str| text.split([' ', ',']).map(str::to_owned).collect::<Vec<_>>();
    let (a, b) = (split(stored), split(made));
    if a.len() == 1 && b.len() == 1 {
        return format!(" stored {stored}, made {made}");
    }
    let end = "(end)".to_owned();
    let i = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (a.get(i).unwrap_or(&end), b.get(i).unwrap_or(&end));
    format!(" number {}: stored {a}, made {b}", i + 1)
}

/// JSON with as much in a line as fits. Long lists have their first entries, one of each form, and what the others add up to.
pub fn reviewable(value: Value) -> String {
    let mut out = String::new();
    write(&rounded(&shortened(value)), 0, &mut out);
    out.push('\n');
    out
}

/// Six significant digits: the last ones depend on the vector instructions of the processor.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(n) if n.is_f64() => {
            let x = n.as_f64().unwrap();
            let x: f64 = if x.abs() < 1e-12 { 0.0 } else { format!("{x:.5e}").parse().unwrap() };
            x.into()
        }
        Value::Array(all) => all.iter().map(rounded).collect(),
        // the time of the run
        Value::Object(all) => {
            let stays = |k: &&String| *k != "emitted_unix_s";
            all.keys().filter(stays).map(|k| (k.clone(), rounded(&all[k]))).collect()
        }
        other => other.clone(),
    }
}

/// The value with long lists cut.
fn shortened(value: Value) -> Value {
    match value {
        Value::Object(all) => all.into_iter().map(|(k, v)| (k, shortened(v))).collect(),
        Value::Array(all) if all.len() <= KEPT || is_short(&all) => all.into_iter().map(shortened).collect(),
        Value::Array(all) => {
            let mut forms = BTreeSet::new();
            let (kept, others): (Vec<Value>, Vec<Value>) =
                all.into_iter().partition(|v| forms.len() < KEPT && forms.insert(form(v)));
            let rest = rest(&others);
            kept.into_iter().map(shortened).chain(rest).collect()
        }
        other => other,
    }
}

/// A few numbers, or texts of a few lines.
fn is_short(all: &[Value]) -> bool {
    let letters: usize = all.iter().map(|v| v.as_str().map_or(LETTERS / 20, str::len)).sum();
    all.iter().all(|v| v.is_number() || v.is_string()) && letters <= LETTERS
}

/// The kinds of the values in a value, without the values.
fn form(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::Bool(_) => "b".into(),
        Value::Number(_) => "n".into(),
        Value::String(_) => "s".into(),
        Value::Array(all) => format!("[{}]", all.first().map(form).unwrap_or_default()),
        Value::Object(all) => all.iter().map(|(k, v)| format!("{k}{},", form(v))).collect(),
    }
}

/// How many entries of a list were left out, the sums of their numbers, and how often they have which of few words.
fn rest(others: &[Value]) -> Option<Value> {
    let (mut sums, mut words) =
        (BTreeMap::<String, (f64, f64)>::new(), BTreeMap::<String, BTreeMap<String, u64>>::new());
    others.iter().for_each(|v| gather(v, "", &mut sums, &mut words));
    // what is left of numbers that cancel each other is noise
    let sum = |(sum, size): (f64, f64)| if sum.abs() < 1e-9 * size { 0.0 } else { sum };
    let sums: Map<String, Value> = sums.into_iter().map(|(at, s)| (at, sum(s).into())).collect();
    let words: Map<String, Value> = words
        .into_iter()
        .map(|(at, all)| (at, if all.len() <= KEPT { json!(all) } else { json!(format!("{} different", all.len())) }))
        .collect();
    (!others.is_empty()).then(|| {
        let mut rest = Map::from_iter([("more".to_owned(), json!(others.len()))]);
        rest.extend(
            [("sums", sums), ("words", words)].map(|(k, v)| (k.to_owned(), v)).into_iter().filter_map(|(k, all)| {
                (!all.is_empty()).then(|| (k, all.get("").cloned().unwrap_or(Value::Object(all))))
            }),
        );
        Value::Object(rest)
    })
}

fn gather(
    value: &Value,
    at: &str,
    sums: &mut BTreeMap<String, (f64, f64)>,
    words: &mut BTreeMap<String, BTreeMap<String, u64>>,
) {
    match value {
        Value::Number(n) => {
            let x = n.as_f64().unwrap();
            let sum = sums.entry(at.to_owned()).or_default();
            *sum = (sum.0 + x, sum.1 + x.abs());
        }
        Value::String(s) => *words.entry(at.to_owned()).or_default().entry(s.clone()).or_default() += 1,
        Value::Bool(b) => *words.entry(at.to_owned()).or_default().entry(b.to_string()).or_default() += 1,
        Value::Object(all) => {
            let dot = if at.is_empty() { "" } else { "." };
            all.iter().for_each(|(k, v)| gather(v, &format!("{at}{dot}{k}"), sums, words));
        }
        Value::Array(all) => all.iter().for_each(|v| gather(v, &format!("{at}[]"), sums, words)),
        Value::Null => {}
    }
}

fn write(value: &Value, depth: usize, out: &mut String) {
    let line = in_one_line(value);
    let (entries, ends): (Vec<(String, &Value)>, _) = match value {
        Value::Object(all) => (all.iter().map(|(k, v)| (format!("{}: ", json!(k)), v)).collect(), ['{', '}']),
        Value::Array(all) => (all.iter().map(|v| (String::new(), v)).collect(), ['[', ']']),
        _ => (Vec::new(), [' '; 2]),
    };
    if entries.is_empty() || 2 * depth + line.len() <= WIDTH {
        return out.push_str(&line);
    }
    let indent = format!("\n{}", "  ".repeat(depth + 1));
    out.push(ends[0]);
    // what fills the room that is left of a line; entries of lists stand alone
    let mut room = 0;
    for (i, (key, v)) in entries.iter().enumerate() {
        let width = key.len() + in_one_line(v).len() + 2;
        let (comma, stays) = (if i > 0 { "," } else { "" }, width <= room && (value.is_object() || !v.is_object()));
        out.push_str(comma);
        out.push_str(if stays { " " } else { &indent });
        room = if stays { room - width } else { (WIDTH - 2 * depth).saturating_sub(width) };
        out.push_str(key);
        write(v, depth + 1, out);
    }
    out.push_str(&indent[..indent.len() - 2]);
    out.push(ends[1]);
}

fn in_one_line(value: &Value) -> String {
    let list = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Object(all) => {
            format!("{{{}}}", list(all.iter().map(|(k, v)| format!("{}: {}", json!(k), in_one_line(v))).collect()))
        }
        Value::Array(all) => format!("[{}]", list(all.iter().map(in_one_line).collect())),
        other => other.to_string(),
    }
}

/// A picture with each text in the line of its element.
pub fn picture(svg: &str) -> String {
    let is_open = |line: &str| line.starts_with("<text") && !line.ends_with("</text>");
    let joined = svg.replace("\n</text>", "</text>");
    joined.lines().map(|line| if is_open(line) { line.to_owned() } else { format!("{line}\n") }).collect()
}

#[test]
fn a_number_that_differs_is_named_by_its_path() {
    let stored = json!({"signals": [{"period": {"period_s": 2.0}}], "b": 1}).to_string();
    let made = json!({"signals": [{"period": {"period_s": 2.1}}], "c/d": 1}).to_string();
    assert_eq!(
        differences("a.json", &stored, &made),
        ["/b: stored 1, not made", "/c~1d: not stored, made 1", "/signals/0/period/period_s: stored 2.0, made 2.1"]
    );
    assert!(differences("a.json", &stored, &stored).is_empty());
}

#[test]
fn an_element_that_differs_is_named_with_its_attribute() {
    let svg = |x: u32, points: &str, text: &str| {
        format!("<svg>\n<text x=\"{x}\" y=\"1\">{text}</text>\n<polyline points=\"{points}\"/>\n</svg>\n")
    };
    let changes = |made: String| differences("a.svg", &svg(3, "1,2 3,4", "10"), &made);
    assert_eq!(changes(svg(5, "1,2 3,4", "10")), ["line 2: <text> `10`: x stored 3, made 5"]);
    assert_eq!(changes(svg(3, "1,2 3,4", "20")), ["line 2: <text> `10`: \n    - 10\n    + 20"]);
    assert_eq!(changes(svg(3, "1,2 9,4", "10")), ["line 3: <polyline>: points number 3: stored 3, made 9"]);
}

#[test]
fn a_line_that_differs_is_named_with_those_above_it() {
    let page = "section a\n  table t\nsection b\n  table u\n    row\n";
    assert_eq!(
        differences("a.txt", page, &page.replace("    row", "    line")),
        ["line 5, in section b, in table u: \n    - row\n    + line"]
    );
    assert_eq!(
        differences("a.txt", page, &page.replace("  table t\n", "")),
        ["line 2, in section a: stored, not made: table t"]
    );
    assert_eq!(differences("a.txt", page, &format!("{page}  p\n")), ["line 6, in section b: not stored, made: p"]);
}

#[test]
fn a_list_keeps_one_entry_of_each_form_and_the_sums_of_the_others() {
    let entry = |i: u64| json!({"at": i, "kind": if i < 2 { "a" } else { "b" }, "next": if i == 3 { json!(1) } else { Value::Null }});
    let text = reviewable((0..6).map(entry).collect());
    let value: Value = serde_json::from_str(&text).unwrap();
    let rest = json!({"more": 4, "sums": {"at": 12.0}, "words": {"kind": {"a": 1, "b": 3}}});
    assert_eq!(value, json!([entry(0), entry(3), rest]));
    assert_eq!(reviewable(json!([0.1234567, 2, 3, 4, 5])), "[0.123457, 2, 3, 4, 5]\n");
}
