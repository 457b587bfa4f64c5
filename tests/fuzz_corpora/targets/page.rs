//! Pictures, text and pages of traces whose names are hostile.

use iophase::Error;
use iophase::analysis::{self, Info, Options, Selection};
use iophase::dfg::Plan;
use iophase::internals::render::html::{self, Answers, Bundle, Origin, Rows, Run};
use iophase::internals::render::{dfg, text as terminal, visible};
use iophase::record::Trace;
use iophase::{classify, findings};

use super::FEWEST;
use super::inputs::requests;

/// A trace of any requests whose names are the bytes themselves.
fn named(data: &[u8]) -> Trace {
    let mut t = requests(data, FEWEST);
    let name = String::from_utf8_lossy(data);
    t.path = name.chars().take(40).collect();
    t.hosts.insert(0, name.chars().skip(20).take(40).collect::<String>().into());
    t
}

/// Text for a terminal and graphs hold no character that acts, whatever the names.
pub fn text(data: &[u8]) {
    let t = named(data);
    let acts = |text: &str| text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    if let Ok(found) = analysis::analyze(&t, &Options::default()) {
        let text = terminal::report(&found.report, terminal::Style::default());
        assert!(!acts(&visible::visible(&text)));
    }
    if let Ok(report) = analysis::graph(&t, &Plan::default()) {
        let svg = dfg::picture(&report, &t.path, dfg::Coloring::Load, Some(100));
        assert!(!acts(&svg) && svg.matches('<').count() == svg.matches('>').count());
    }
}

/// A page has the elements and attributes of a page, whatever the names, and its data are JSON.
pub fn html(data: &[u8]) {
    check_page(&named(data), &String::from_utf8_lossy(data));
}

/// All answers on a trace, as a page.
pub fn check_page(t: &Trace, name: &str) {
    t.check().expect("in range");
    let selection = Selection::default();
    let info = Info::of(t);
    let named = |e: Error| Error::new(e.kind(), format!("{e}: {name}"));
    let analysis = analysis::analyze(t, &Options::default()).map_err(named);
    let found = findings::find(t, analysis.as_ref().ok().map(|a| &a.report), &findings::Options::default());
    let classes = classify::classify(t, &selection, classify::Options::default()).ok();
    let graph = analysis::graph(t, &Plan::default()).ok();
    let rows = Rows::of(t, &info, &selection);
    let answers = Answers { info, analysis, findings: found.expect("findings"), classes, graph };
    let origin = Origin { name: name.to_owned(), options: vec![name.to_owned()], ..Origin::default() };
    let run = Run::new(t, origin, answers, rows, &selection);
    let page = html::page(Bundle { runs: vec![run], comparison: None }, &html::Options::default());
    let json = html::extract(&page).expect("a block of data");
    serde_json::from_str::<serde_json::Value>(&json).expect("JSON");
    check_markup(&page);
}

/// Elements that a page may have.
const ELEMENTS: &str = " a article body button caption circle clippath code dd desc details div dl doctype dt figure g h1 h2 h3 h4 head \
                        header html image input label li line main meta meter nav ol p path polygon polyline pre rect section small span style \
                        summary svg table tbody td text th thead title tr ul ";

/// Every `<` begins a tag of [`ELEMENTS`] or one of the three scripts, and no attribute acts.
fn check_markup(page: &str) {
    let (mut rest, mut scripts) = (page, 0);
    while let Some(i) = rest.find('<') {
        rest = &rest[i + 1..];
        let end = rest.strip_prefix(['/', '!']).unwrap_or(rest);
        let name: String = end.chars().take_while(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        if name == "script" {
            scripts += usize::from(end.len() == rest.len());
            rest = &rest[rest.find("</script>").unwrap_or(0)..];
            rest = rest.strip_prefix("</script>").unwrap_or(rest);
            continue;
        }
        assert!(ELEMENTS.contains(&format!(" {name} ")), "an element {:?}", rest.chars().take(60).collect::<String>());
        if name == "style" {
            rest = &rest[rest.find("</style>").unwrap_or(0)..];
        }
        rest = check_attributes(rest);
    }
    assert_eq!(scripts, 2, "scripts");
}

/// The text after the tag. Values are quoted; none is an address that acts, and no name is that of a handler.
fn check_attributes(tag: &str) -> &str {
    let (mut quoted, mut word) = (false, String::new());
    for (i, c) in tag.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return &tag[i + 1..],
            _ if quoted => {}
            '=' => assert!(!word.starts_with("on"), "an attribute {word}"),
            _ if c.is_whitespace() => word.clear(),
            _ => word.push(c.to_ascii_lowercase()),
        }
    }
    panic!("a tag that does not end: {:?}", tag.chars().take(60).collect::<String>());
}
