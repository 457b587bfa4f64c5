//! A report as one HTML file that needs nothing else: pictures inline, a script that only adds to them, and the JSON of all answers.
//!
//! Names in a trace are those of strangers. `maud` escapes all text, and a policy in the page allows its one script and its one style by
//! their hashes and nothing else.

mod caps;
pub(super) mod markup;
mod page;
mod run;
mod sections;

pub use caps::DEFAULT_SIZE;
pub use markup::extract;
pub use run::{Answers, Line, Origin, Rows, Run};

use base64::Engine;
use maud::{DOCTYPE, Markup, html};
use sha2::{Digest, Sha256};

use crate::compare::Comparison;
use caps::Caps;
use page::Page;

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
        let page = page_of(&bundle, options, caps);
        match caps.smaller(page.len(), options.max_size) {
            Some(less) => caps = less,
            None => return page,
        }
    }
}

/// A table of pages, one line each.
pub fn index(pages: &[(String, Line)]) -> String {
    document("I/O reports", html! { main { h1 { "I/O reports" } (sections::index(pages)) } }, html! {})
}

fn page_of(bundle: &Bundle, options: &Options, caps: Caps) -> String {
    let mut pages: Vec<Page<'_>> = (0..).zip(&bundle.runs).map(|(i, run)| Page::new(run, i, caps)).collect();
    let articles: Vec<Markup> = pages.iter_mut().map(|p| sections::all(p, options)).collect();
    let several = bundle.runs.len() > 1;
    let body = html! {
        a.skip href="#main" { "Skip to the answer" }
        (sections::navigation(bundle, &pages))
        main id="main" {
            @if several { (sections::comparison(bundle)) }
            @for (i, article) in articles.iter().enumerate() { article.run id={ "run-" (i + 1) } { (article) } }
        }
    };
    let decimal = crate::render::units::byte_prefix(1000.0).0 == 1000.0;
    let runs: Vec<_> = pages.iter().map(Page::data).collect();
    let mut data = serde_json::json!({ "schema": "iophase.page.v1", "decimal": decimal, "runs": runs });
    if let Some(c) = &bundle.comparison {
        data["comparison"] = serde_json::json!(c);
    }
    let title = bundle.runs.first().map_or_else(String::new, sections::title);
    let more = if several { format!(" and {} more", bundle.runs.len() - 1) } else { String::new() };
    document(&format!("{title}{more}: I/O report"), body, markup::data(&data.to_string()))
}

fn document(title: &str, body: Markup, data: Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (markup::seen(html! { (markup::Said(title)) })) }
                (markup::style(STYLE))
            }
            body { (markup::seen(body)) (data) (markup::script(SCRIPT)) }
        }
    };
    page.into_string()
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
