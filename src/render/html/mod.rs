//! A report as one HTML file that needs nothing else: pictures inline, a script that only adds to them, and the JSON of all answers.
//!
//! Names in a trace are those of strangers. All text goes through `Html`, and a policy in the page allows its one script and its
//! one style by their hashes and nothing else.

mod caps;
mod page;
mod run;
mod sections;
mod table;
mod writer;

pub use caps::DEFAULT_SIZE;
pub use run::{Answers, Line, Origin, Rows, Run};
pub use writer::extract;

use base64::Engine;
use sha2::{Digest, Sha256};

use crate::compare::Comparison;
use caps::Caps;
use page::Page;
use writer::Html;

const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = concat!(include_str!("../figure/figure.css"), include_str!("page.css"));

/// The traces of a page.
#[derive(Debug)]
pub struct Bundle {
    /// One or several, in the order in which they are shown.
    pub runs: Vec<Run>,
    /// The second run against the first, if there are two.
    pub comparison: Option<Comparison>,
}

/// How a page is made.
#[derive(Debug, Clone)]
pub struct Options {
    /// Bytes that the page should not exceed: lists and pictures are cut until it fits.
    pub max_size: usize,
    /// Show who ran the job.
    pub with_user: bool,
    /// Date at which the page was made, as it is to be shown.
    pub stamp: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options { max_size: DEFAULT_SIZE, with_user: false, stamp: None }
    }
}

/// The page. The same bundle and options give the same bytes.
pub fn page(mut bundle: Bundle, options: &Options) -> String {
    if !options.with_user {
        bundle.runs.iter_mut().for_each(Run::without_user);
    }
    let mut caps = Caps::new(bundle.runs.len());
    loop {
        let page = document(&bundle, options, caps);
        match caps.smaller(page.len(), options.max_size) {
            Some(less) => caps = less,
            None => return page,
        }
    }
}

/// A table of pages, one line each.
pub fn index(pages: &[(String, Line)]) -> String {
    let mut h = Html::default();
    start(&mut h, "I/O reports");
    h.within("main", &[], |h| {
        h.elem("h1", &[], "I/O reports");
        sections::index(h, pages);
    });
    h.script(SCRIPT);
    h.close("body");
    h.close("html");
    h.finish()
}

fn document(bundle: &Bundle, options: &Options, caps: Caps) -> String {
    let mut h = Html::default();
    let title = bundle.runs.first().map_or_else(String::new, sections::title);
    let more = if bundle.runs.len() > 1 { format!(" and {} more", bundle.runs.len() - 1) } else { String::new() };
    start(&mut h, &format!("{title}{more}: I/O report"));
    h.elem("a", &[("class", "skip"), ("href", "#main")], "Skip to the answer");
    let mut data = Vec::new();
    let pages: Vec<(Html, Vec<(String, &'static str)>)> = (0..)
        .zip(&bundle.runs)
        .map(|(i, run)| {
            let mut page = Page::new(run, i, caps);
            sections::all(&mut page, options);
            data.push(page.data());
            page.finish()
        })
        .collect();
    sections::navigation(&mut h, bundle, &pages);
    h.open("main", &[("id", "main")]);
    if bundle.runs.len() > 1 {
        sections::comparison(&mut h, bundle);
    }
    for (i, (page, _)) in pages.into_iter().enumerate() {
        h.open("article", &[("class", "run"), ("id", &format!("run-{}", i + 1))]);
        h.append(page);
        h.close("article");
    }
    h.close("main");
    let decimal = crate::render::units::byte_prefix(1000.0).0 == 1000.0;
    let mut data = serde_json::json!({ "schema": "iophase.page.v1", "decimal": decimal, "runs": data });
    if let Some(c) = &bundle.comparison {
        data["comparison"] = serde_json::json!(c);
    }
    h.json("data", &data.to_string());
    h.script(SCRIPT);
    h.close("body");
    h.close("html");
    h.finish()
}

/// The head of a document, and the start of its body.
fn start(h: &mut Html, title: &str) {
    h.doctype();
    h.open("html", &[("lang", "en")]);
    h.open("head", &[]);
    h.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy())]);
    h.void("meta", &[("charset", "utf-8")]);
    h.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    h.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
    h.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
    h.elem("title", &[], title);
    h.style(STYLE);
    h.close("head");
    h.open("body", &[]);
}

/// Allows the one script, the one style, and images inside the page.
fn policy() -> String {
    let hash = |text: &str| base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}
