//! The pages: their examples run, their links lead somewhere, and every list of names is whole. `BLESS=1` renews the outputs of the
//! examples and the lists that are made from the schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;
use serde_json::Value;

const RENEW: &str = "BLESS=1 cargo test --all-features --test it documents";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Standard output of the program in a folder, then standard error.
fn output(dir: &Path, args: &[impl AsRef<std::ffi::OsStr>]) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_iophase")).args(args).current_dir(dir).output().unwrap();
    [out.stdout, out.stderr].map(|b| String::from_utf8(b).unwrap()).concat()
}

fn json(args: &[&str]) -> Value {
    let out = output(root(), args);
    serde_json::from_str(&out).unwrap_or_else(|e| panic!("{args:?}: {e}: {out}"))
}

/// Words of a command line; single quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.extend(Some(std::mem::take(&mut word)).filter(|w| !w.is_empty())),
            c => word.push(c),
        }
    }
    words.extend(Some(word).filter(|w| !w.is_empty()));
    words
}

/// Files below a folder with an ending, by their paths from the root.
fn files(folder: &str, endings: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                let foreign = name.starts_with('.') || ["target", "__pycache__", "corpus", "artifacts"].contains(&name);
                folders.extend(Some(path).filter(|_| !foreign));
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// A block of a page with the outputs that its commands have; a block with a name is a file.
fn block(dir: &Path, head: &str, body: &str) -> String {
    match head.trim_start_matches('`').split_once(' ') {
        Some((_, name)) => fs::write(dir.join(name), body).unwrap(),
        None if head == "```console" => {
            let commands = body.lines().filter_map(|l| l.strip_prefix("$ "));
            return commands
                .map(|command| {
                    let words = words(command);
                    assert_eq!(words[0], "iophase", "{command}");
                    let shown = output(dir, &words[1..]);
                    let end = if shown.trim().is_empty() { "" } else { "\n" };
                    format!("$ {command}\n{}{end}", shown.trim_end())
                })
                .collect();
        }
        None => {}
    }
    body.to_owned()
}

/// The page with the outputs and lists of today; the number of its commands.
fn renewed(dir: &Path, page: &str) -> (String, usize) {
    let (mut renewed, mut commands, mut lines) = (String::new(), 0, page.lines());
    while let Some(line) = lines.next() {
        renewed += line;
        renewed.push('\n');
        if let Some(list) = line.strip_prefix("<!-- made: ").and_then(|l| l.strip_suffix(" -->")) {
            let made = match list {
                "fields" => fields(),
                "values" => values_of_options(),
                _ => panic!("{page}: no list is called {list}"),
            };
            renewed += &format!("\n{made}\n<!-- end -->\n");
            assert!(lines.any(|l| l == "<!-- end -->"), "a list ends");
        } else if line.starts_with("```") {
            let body: String = lines.by_ref().take_while(|l| *l != "```").map(|l| format!("{l}\n")).collect();
            commands += body.lines().filter(|l| line == "```console" && l.starts_with("$ ")).count();
            renewed += &block(dir, line, &body);
            renewed += "```\n";
        }
    }
    (renewed, commands)
}

/// The fields of each output, and the values of its enumerations, by its schema. What an output shares with one before it is not repeated.
fn fields() -> String {
    const OUTPUTS: [(&str, &str); 10] = [
        ("report", "`iophase analyze`"),
        ("info", "`iophase info`"),
        ("patterns", "`iophase patterns`"),
        ("classes", "`iophase classify`"),
        ("dfg", "`iophase dfg`"),
        ("findings", "`iophase findings`"),
        ("comparison", "`iophase compare`"),
        ("truth", "`iophase generate --truth`"),
        ("prediction", "`iophase predict`, `iophase serve`"),
        ("live", "`GET /api/jobs/NAME/live` of `iophase serve`"),
    ];
    let (mut text, mut known) = (String::new(), BTreeSet::new());
    for (name, command) in OUTPUTS {
        let schema = json(&["schema", name]);
        let version = schema["properties"]["schema"]["const"].as_str().unwrap();
        text += &format!("### {name}: {command}\n\n- `{version}`: {}\n", names_of(&schema).unwrap());
        let parts = schema["$defs"].as_object().into_iter().flatten();
        let listed = parts.filter_map(|(part, schema)| Some(format!("- {part}: {}\n", names_of(schema)?)));
        text.extend(listed.filter(|line| known.insert(line.clone())));
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// The values of every option that has named ones, with the commands that have them.
fn values_of_options() -> String {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for command in all_of(&Commands(""), &BTreeMap::new()).1 {
        let options = json(&["man", &command, "--options"])["options"].clone();
        for option in options.as_array().unwrap() {
            let value = |v: &Value| match v[1].as_str() {
                Some(meaning) => format!("`{}` ({meaning})", v[0].as_str().unwrap()),
                None => format!("`{}`", v[0].as_str().unwrap()),
            };
            let values: Vec<_> = option["values"].as_array().unwrap().iter().map(value).collect();
            if values.len() > 1 {
                let name = option["name"].as_str().unwrap();
                all.entry(format!("--{name}: {}", values.join(", "))).or_default().push(command.clone());
            }
        }
    }
    let line = |(values, commands): (String, Vec<String>)| {
        let (name, values) = values.split_once(": ").unwrap().to_owned();
        format!("- `{name}` ({}): {values}", commands.join(", "))
    };
    all.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The fields of an object, those that may be null with a `?`; the values of an enumeration with their meaning.
fn names_of(schema: &Value) -> Option<String> {
    if let Some(fields) = schema["properties"].as_object() {
        let null = Value::from("null");
        let may_be_null = |f: &Value| {
            f["type"] == null
                || f["type"].as_array().is_some_and(|types| types.contains(&null))
                || f["anyOf"].as_array().is_some_and(|parts| parts.iter().any(|p| p["type"] == null))
        };
        let sorted: BTreeMap<_, _> = fields.iter().collect();
        let named = sorted.into_iter().map(|(f, s)| format!("`{f}`{}", if may_be_null(s) { "?" } else { "" }));
        return Some(named.collect::<Vec<_>>().join(", "));
    }
    let value = |v: &Value| {
        let meaning = v["description"].as_str()?.trim_end_matches('.').replace('\n', " ");
        Some(format!("`{}` ({})", v["const"].as_str()?, meaning.replace("[`", "`").replace("`]", "`")))
    };
    Some(schema["oneOf"].as_array()?.iter().map(value).collect::<Option<Vec<_>>>()?.join(", "))
}

#[test]
fn examples_and_lists_are_those_of_the_program() {
    let mut commands = 0;
    for page in files("docs", &[".md"]) {
        let (shown, dir) = (text(&page), tempfile::tempdir().unwrap());
        let (made, n) = renewed(dir.path(), &shown);
        commands += n;
        if std::env::var_os("BLESS").is_some() {
            fs::write(root().join(&page), &made).unwrap();
            continue;
        }
        for (line, (shown, made)) in shown.lines().zip(made.lines()).enumerate() {
            assert_eq!(shown, made, "line {} of {page}; {RENEW} renews it", line + 1);
        }
        assert_eq!(shown.lines().count(), made.lines().count(), "{page}");
    }
    assert!(commands >= 10, "{commands}");
}

/// The text outside blocks and code.
fn prose(page: &str) -> String {
    let blocks = Regex::new(r"(?ms)^```.*?^```").unwrap();
    Regex::new("`[^`\n]*`").unwrap().replace_all(&blocks.replace_all(page, ""), "").into_owned()
}

/// The anchors of the headings of a page.
fn anchors(page: &str) -> BTreeSet<String> {
    let blocks = Regex::new(r"(?ms)^```.*?^```").unwrap();
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    let headings = Regex::new(r"(?m)^#+ (.*)$").unwrap();
    let page = blocks.replace_all(page, "");
    headings
        .captures_iter(&page)
        .map(|h| h[1].to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut links = 0;
    for page in files("", &[".md"]) {
        for found in link.captures_iter(&prose(&text(&page))) {
            let (path, anchor) = found[1].split_once('#').unwrap_or((&found[1], ""));
            if path.contains("://") || path.starts_with("mailto:") {
                continue;
            }
            links += 1;
            let target =
                if path.is_empty() { root().join(&page) } else { root().join(&page).parent().unwrap().join(path) };
            assert!(target.exists(), "{page}: {}", &found[1]);
            let known = anchor.is_empty() || anchors(&fs::read_to_string(&target).unwrap()).contains(anchor);
            assert!(known, "{page}: no heading {}", &found[1]);
        }
    }
    assert!(links > 60, "{links}");
    let page = Regex::new(r"(?:^|[^/\w.-])docs/[\w-]+\.md").unwrap();
    for file in files("", &[".rs", ".toml", ".py", ".md"]) {
        for found in page.find_iter(&text(&file)) {
            let path = &found.as_str()[found.as_str().find("docs/").unwrap()..];
            assert!(root().join(path).exists(), "{file} names {path}");
        }
    }
}

/// Where a list of names comes from.
enum Names {
    /// Variants of a public enum, and how they are spelled.
    Enum(&'static str, fn(&str) -> String),
    /// Values of an option of a command.
    Values(&'static str, &'static str),
    /// Commands, or those below one.
    Commands(&'static str),
    /// The first line that the program prints, of which the expression takes the names.
    Printed(&'static [&'static str], &'static str),
}
use Names::{Commands, Enum, Printed, Values};

/// Where each of the names has to stand.
enum Place {
    /// Among the values of an option, or in its help.
    Help(&'static str, &'static str),
    /// In a page, in backquotes or as the text of a link.
    Page(&'static str),
    /// In a source, behind this.
    Source(&'static str, &'static str),
}
use Place::{Help, Page, Source};

/// Every list of names that stands in more than one place. Schemas, lists of the contract and files of Python are made from the types and the
/// command line themselves.
const LISTS: &[(Names, &[Place])] = &[
    (Enum("Remedy", str::to_owned), &[Source("src/cli/remedy.rs", "Remedy::")]),
    (Enum("analysis::Mode", snake), &[Help("analyze", "mode"), Help("convert", "mode")]),
    (Enum("analysis::Sampling", kebab), &[Help("analyze", "sampling")]),
    (Enum("analysis::Pass", |v| kebab(v) + "pass"), &[Help("analyze", "filter")]),
    (Enum("period::Method", kebab), &[Help("analyze", "method"), Page("docs/from-ftio.md"), Page("CHANGELOG.md")]),
    (Enum("period::Detector", kebab), &[Help("analyze", "detector"), Page("docs/from-ftio.md"), Page("CHANGELOG.md")]),
    (Enum("period::Relation", kebab), &[Page("docs/concepts.md")]),
    (Enum("period::Verdict", kebab), &[Page("docs/concepts.md")]),
    (Enum("classify::Choice", kebab), &[Help("classify", "classifier"), Page("docs/access.md")]),
    (Enum("classify::Classifier", kebab), &[Help("classify", "classifier")]),
    (Enum("compare::Match", kebab), &[Help("compare", "match"), Page("docs/compare.md")]),
    (Enum("compare::Outcome", kebab), &[Page("docs/compare.md")]),
    (Enum("compare::Basis", kebab), &[Page("docs/compare.md")]),
    (Enum("dfg::By", kebab), &[Help("dfg", "by")]),
    (Enum("findings::Severity", kebab), &[Help("findings", "fail-on"), Page("docs/findings.md")]),
    (Enum("findings::Certainty", kebab), &[Page("docs/findings.md")]),
    (Enum("findings::Audience", kebab), &[Page("docs/findings.md")]),
    (Enum("formats::RecordField", kebab), &[Page("docs/text.md")]),
    (Enum("formats::Stamp", kebab), &[Help("analyze", "stamp"), Page("docs/text.md")]),
    (Enum("formats::ValueKind", kebab), &[Help("analyze", "kind"), Page("docs/text.md")]),
    (Enum("online::ChangeMethod", kebab), &[Help("predict", "change"), Page("CHANGELOG.md")]),
    (Enum("pattern::Kind", kebab), &[Page("docs/access.md")]),
    (Enum("record::ClockKind", kebab), &[Page("docs/contract.md")]),
    (Enum("record::Layer", lower), &[Help("analyze", "layer"), Page("docs/text.md")]),
    (
        Printed(&["info", "--format", "?", "LICENSE-MIT"], r"(?:one of |, )([\w-]+)"),
        &[Page("README.md"), Page("CHANGELOG.md")],
    ),
    (Values("convert", "to"), &[Source("src/cli/convert.rs", r"\b"), Page("docs/record.md"), Page("CHANGELOG.md")]),
    (Commands(""), &[Page("docs/contract.md"), Page("CHANGELOG.md")]),
    (Commands("generate"), &[Page("docs/record.md"), Page("CHANGELOG.md")]),
    (Printed(&["analyze", "data/stable.darshan", "-q", "--csv", "-"], r"(?:^|,)(\w+)"), &[Page("docs/contract.md")]),
];

/// Public enums whose variants are named in the library or in the schemas alone.
const ELSEWHERE: [&str; 19] = [
    "ErrorKind",
    "Place",
    "analysis::ModeChoice",
    "classify::GlobalSequentiality",
    "classify::Mix",
    "classify::Sequentiality",
    "classify::Size",
    "dfg::Color",
    "dfg::Group",
    "formats::Detail",
    "online::Every",
    "online::Window",
    "pattern::Direction",
    "record::Column",
    "record::CounterModule",
    "record::Data",
    "record::Op",
    "record::Row",
    "record::Timing",
];

fn joined(variant: &str, with: char) -> String {
    let mut name = String::new();
    for (at, c) in variant.char_indices() {
        name.extend(Some(with).filter(|_| at > 0 && c.is_uppercase()));
        name.extend(c.to_lowercase());
    }
    name
}

fn lower(variant: &str) -> String {
    variant.to_lowercase()
}

fn kebab(variant: &str) -> String {
    joined(variant, '-')
}

fn snake(variant: &str) -> String {
    joined(variant, '_')
}

/// The variants of every public enum, by its path.
fn enums() -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text("tests/golden/public-api.txt").lines() {
        if let Some((path, variant)) = line.strip_prefix("variant iophase::").and_then(|l| l.rsplit_once("::")) {
            all.entry(path.to_owned()).or_default().push(variant.to_owned());
        }
    }
    all
}

/// An option of a command, as its help has it.
fn option(command: &str, name: &str) -> Value {
    let all = json(&["man", command, "--options"]);
    let found = all["options"].as_array().unwrap().iter().find(|o| o["name"] == name);
    found.unwrap_or_else(|| panic!("{command} --{name}")).clone()
}

fn values(option: &Value) -> Vec<String> {
    option["values"].as_array().unwrap().iter().map(|v| v[0].as_str().unwrap().to_owned()).collect()
}

fn all_of(names: &Names, enums: &BTreeMap<String, Vec<String>>) -> (String, Vec<String>) {
    match names {
        Enum(path, spelled) => ((*path).to_owned(), enums[*path].iter().map(|v| spelled(v)).collect()),
        Values(command, name) => (format!("{command} --{name}"), values(&option(command, name))),
        Commands(command) => {
            let all = json(&["man", command, "--options"])["commands"].clone();
            let names = serde_json::from_value::<Vec<String>>(all).unwrap();
            (format!("commands of {command}"), names.into_iter().filter(|c| c != "help").collect())
        }
        Printed(args, names) => {
            let (line, names) = (output(root(), args), Regex::new(names).unwrap());
            let line = line.lines().next().unwrap();
            (args.join(" "), names.captures_iter(line).map(|c| c[1].to_owned()).collect())
        }
    }
}

/// The change to make if a name does not stand in a place.
fn missing(name: &str, place: &Place) -> Option<String> {
    match place {
        Help(command, option_name) => {
            let option = option(command, option_name);
            let found = values(&option).iter().any(|v| v == name) || option["help"].as_str().unwrap().contains(name);
            (!found).then(|| format!("give `iophase {command} --{option_name}` the value {name} (src/cli/)"))
        }
        Page(path) => {
            let named = Regex::new(&format!(r"[`\[|( ]{}[`\] |,)=]", regex::escape(name))).unwrap();
            (!named.is_match(&text(path))).then(|| format!("name `{name}` in {path}"))
        }
        Source(path, before) => {
            let named = Regex::new(&format!(r"{before}{name}\b")).unwrap();
            (!named.is_match(&text(path))).then(|| format!("handle {before}{name} in {path}"))
        }
    }
}

#[test]
fn every_name_stands_where_its_list_has_to() {
    let enums = enums();
    let listed = |path: &str| LISTS.iter().any(|(names, _)| matches!(names, Enum(p, _) if *p == path));
    let new: Vec<_> = enums.keys().filter(|path| !listed(path) && !ELSEWHERE.contains(&path.as_str())).collect();
    assert!(
        new.is_empty(),
        "say in LISTS of tests/it/documents.rs where the names of {new:?} have to stand, or in ELSEWHERE"
    );
    let mut to_do = Vec::new();
    for (names, places) in LISTS {
        let (list, all) = all_of(names, &enums);
        assert!(all.len() > 1, "{list}: {all:?}");
        for name in &all {
            to_do.extend(places.iter().filter_map(|place| Some(format!("{list}: {}", missing(name, place)?))));
        }
    }
    assert!(to_do.is_empty(), "names that a list lacks:\n{}", to_do.join("\n"));
}
