//! Pages as a tree of elements, and what a person would look at in them, in few lines.

use std::fmt::Write;

use html5ever::tendril::TendrilSink;
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// An element of a page.
#[derive(Debug, Default)]
pub struct Element {
    /// Its tag.
    pub name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Node>,
}

#[derive(Debug)]
enum Node {
    Element(Element),
    Text(String),
}

/// A table: what stands above it, and its cells.
pub struct Table<'a> {
    pub id: &'a str,
    pub caption: String,
    /// Keys and titles of the columns.
    pub columns: Vec<(&'a str, String)>,
    pub rows: Vec<Vec<&'a Element>>,
}

/// A page, and what is wrong in its markup.
pub fn parsed(page: &str) -> (Element, Vec<String>) {
    let dom = html5ever::parse_document(RcDom::default(), Default::default()).one(page);
    let errors = dom.errors.borrow().iter().map(ToString::to_string).collect();
    (Element { name: "document".into(), children: children(&dom.document), ..Element::default() }, errors)
}

fn children(of: &Handle) -> Vec<Node> {
    let node = |n: &Handle| match &n.data {
        NodeData::Text { contents } => Some(Node::Text(contents.borrow().to_string())),
        NodeData::Element { name, attrs, .. } => Some(Node::Element(Element {
            name: name.local.to_string(),
            attributes: attrs.borrow().iter().map(|a| (a.name.local.to_string(), a.value.to_string())).collect(),
            children: children(n),
        })),
        _ => None,
    };
    of.children.borrow().iter().filter_map(node).collect()
}

impl Element {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|a| a.0 == name).map(|a| a.1.as_str())
    }

    /// Names and values of all attributes.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes.iter().map(|a| (a.0.as_str(), a.1.as_str()))
    }

    /// The elements inside, not those inside these.
    pub fn inside(&self) -> impl Iterator<Item = &Element> {
        self.children.iter().filter_map(|n| if let Node::Element(e) = n { Some(e) } else { None })
    }

    /// All elements below, in their order.
    pub fn all(&self) -> Vec<&Element> {
        self.inside().flat_map(|e| std::iter::once(e).chain(e.all())).collect()
    }

    /// Those with a tag.
    pub fn tagged(&self, name: &str) -> Vec<&Element> {
        self.all().into_iter().filter(|e| e.name == name).collect()
    }

    /// The text, with single spaces, without those of scripts.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.collect(&mut text);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn collect(&self, text: &mut String) {
        for node in &self.children {
            match node {
                Node::Text(t) => text.push_str(t),
                Node::Element(e) if matches!(&*e.name, "script" | "style") => {}
                Node::Element(e) => {
                    // what is no part of a sentence stands apart
                    text.push_str(if matches!(&*e.name, "a" | "code") { "" } else { " " });
                    e.collect(text);
                }
            }
        }
    }

    fn has_class(&self, class: &str) -> bool {
        self.attribute("class").is_some_and(|c| c.split(' ').any(|c| c == class))
    }

    /// Tag, id and class: what a failure calls it.
    pub fn label(&self) -> String {
        let part = |sign, name| self.attribute(name).filter(|v| !v.is_empty()).map(|v| format!("{sign}{v}"));
        format!("{}{}{}", self.name, part('#', "id").unwrap_or_default(), part('.', "class").unwrap_or_default())
    }

    /// The table that this element is.
    pub fn table(&self) -> Table<'_> {
        let columns = self.tagged("th").into_iter().map(|th| (th.attribute("data-key").unwrap_or(""), th.text()));
        let rows = self.inside().filter(|e| e.name == "tbody").flat_map(Element::inside);
        Table {
            id: self.attribute("id").unwrap_or(""),
            caption: self.inside().find(|e| e.name == "caption").map(Element::text).unwrap_or_default(),
            columns: columns.collect(),
            rows: rows.map(|row| row.inside().collect()).collect(),
        }
    }
}

/// The outline of a page: its sections, figures, tables with their first row, lists and facts. Each has a line.
pub fn outline(page: &str) -> String {
    let mut out = String::new();
    parsed(page).0.inside().for_each(|e| write_outline(e, 0, &mut out));
    out
}

fn write_outline(e: &Element, depth: usize, out: &mut String) {
    let texts = |e: &Element, tag: &str| e.tagged(tag).into_iter().map(Element::text).collect::<Vec<_>>().join(" | ");
    let id = e.attribute("id").unwrap_or("");
    let (line, goes_on) = match &*e.name {
        "head" | "script" => return,
        "nav" => (format!("contents: {}", texts(e, "a")), false),
        "h1" => (format!("title: {}", e.text()), false),
        "section" => (format!("section {id}: {}", texts(e, "h2")), true),
        "figure" => {
            let said = e.tagged("svg").into_iter().flat_map(|svg| svg.inside().take(2)).map(Element::text);
            let said: Vec<String> = said.collect();
            (format!("figure {id}: {}; legend: {}", said.join(" | "), texts(e, "li")), true)
        }
        "svg" => {
            out.push_str(&shapes(e, depth));
            return;
        }
        "table" => (table(e), false),
        "ul" | "ol" if e.has_class("legend") => return,
        "ul" | "ol" => (format!("list: {}", texts(e, "li")), false),
        "dl" => {
            let facts = e.inside().map(|f| format!("{} = {}", texts(f, "dt"), texts(f, "dd"))).collect::<Vec<_>>();
            (format!("facts: {}", facts.join(" | ")), false)
        }
        "div" if e.has_class("card") => (format!("finding {id}: {}; {}", texts(e, "h3"), texts(e, "p")), true),
        "p" | "h3" | "summary" if e.text().is_empty() => return,
        "p" | "h3" | "summary" => (format!("{}: {}", e.name, e.text()), false),
        _ => (String::new(), true),
    };
    let depth = if line.is_empty() { depth } else { depth + 1 };
    if !line.is_empty() {
        let _ = writeln!(out, "{}{line}", "  ".repeat(depth - 1));
    }
    if goes_on {
        let said = |c: &&Element| matches!((&*e.name, &*c.name), ("section", "h2") | ("div", "h3"));
        e.inside().filter(|c| !said(c)).for_each(|c| write_outline(c, depth, out));
    }
}

/// Caption, number of rows, and the first row under the titles of the columns.
fn table(e: &Element) -> String {
    let t = e.table();
    let first = t.rows.first().map_or(&[][..], |r| r);
    let cells: Vec<String> =
        t.columns.iter().zip(first).map(|((_, title), td)| format!("{title} = {}", td.text())).collect();
    format!("table {}: {}; {} rows; {}", t.id, t.caption, t.rows.len(), cells.join(" | "))
}

/// Shapes of one tag and class: their name, points and texts.
type Group = (String, Vec<(f64, f64)>, Vec<String>);

/// The shapes of a picture by tag and class: how many, where, and the texts.
fn shapes(svg: &Element, depth: usize) -> String {
    let mut groups: Vec<Group> = Vec::new();
    for e in svg.all() {
        let points = points(e);
        if points.is_empty() {
            continue;
        }
        let class = e.attribute("class").filter(|_| e.name != "text").unwrap_or("");
        let name = format!("{} {class}", e.name);
        let i = groups.iter().position(|g| g.0 == name).unwrap_or_else(|| {
            groups.push((name, Vec::new(), Vec::new()));
            groups.len() - 1
        });
        groups[i].1.extend(points);
        groups[i].2.extend((e.name == "text").then(|| e.text()));
    }
    let mut out = String::new();
    for (name, points, texts) in groups {
        let along = |of: fn(&(f64, f64)) -> f64| {
            let (low, high) = points.iter().map(of).fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
            let mean = points.iter().map(of).sum::<f64>() / points.len() as f64;
            format!("{low:.1} to {high:.1}, mean {mean:.1}")
        };
        let (x, y) = (along(|p| p.0), along(|p| p.1));
        let _ = write!(out, "{}{}: {} points, x {x}; y {y}", "  ".repeat(depth), name.trim(), points.len());
        let _ = writeln!(out, "{}{}", if texts.is_empty() { "" } else { ": " }, texts.join(" "));
    }
    out
}

/// The points of a shape.
fn points(e: &Element) -> Vec<(f64, f64)> {
    let at = |name: &str| e.attribute(name).and_then(|v| v.parse::<f64>().ok());
    match &*e.name {
        "path" => path(e.attribute("d").unwrap_or("")),
        "rect" | "image" => {
            let (Some(x), Some(y)) = (at("x"), at("y")) else { return Vec::new() };
            vec![(x, y), (x + at("width").unwrap_or(0.0), y + at("height").unwrap_or(0.0))]
        }
        "polyline" | "polygon" => pairs(e.attribute("points").unwrap_or("")),
        "line" => [("x1", "y1"), ("x2", "y2")].into_iter().filter_map(|(x, y)| at(x).zip(at(y))).collect(),
        "circle" => at("cx").zip(at("cy")).into_iter().collect(),
        "text" => at("x").zip(at("y")).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Points as a list of numbers.
fn pairs(points: &str) -> Vec<(f64, f64)> {
    let numbers: Vec<f64> = points.split([' ', ',']).filter_map(|n| n.parse().ok()).collect();
    numbers.chunks_exact(2).map(|p| (p[0], p[1])).collect()
}

/// The points of a path of absolute commands.
fn path(d: &str) -> Vec<(f64, f64)> {
    let (mut out, mut last) = (Vec::new(), (0.0, 0.0));
    let starts: Vec<usize> = d.char_indices().filter(|(_, c)| c.is_ascii_alphabetic()).map(|(i, _)| i).collect();
    for (i, &from) in starts.iter().enumerate() {
        let part = &d[from..starts.get(i + 1).copied().unwrap_or(d.len())];
        let numbers: Vec<f64> = part[1..].split([' ', ',']).filter_map(|n| n.parse().ok()).collect();
        match &part[..1] {
            "H" => numbers.iter().for_each(|x| out.push((*x, last.1))),
            "V" => numbers.iter().for_each(|y| out.push((last.0, *y))),
            _ => out.extend(numbers.chunks_exact(2).map(|p| (p[0], p[1]))),
        }
        last = out.last().copied().unwrap_or(last);
    }
    out
}

/// All of a page but style, script and data: an element a line, a row of a table a line. Long values of attributes are cut.
pub fn whole(page: &str) -> String {
    let mut out = String::new();
    parsed(page).0.inside().for_each(|e| write_whole(e, 0, &mut out));
    out
}

fn write_whole(e: &Element, depth: usize, out: &mut String) {
    if matches!(&*e.name, "script" | "style") || e.attribute("http-equiv").is_some() {
        return;
    }
    let attributes: String = e.attributes().map(|(name, value)| format!(" {name}=\"{}\"", cut(value))).collect();
    let _ = write!(out, "{}<{}{attributes}>", "  ".repeat(depth), e.name);
    if e.name == "tr" {
        let cells = e.inside().map(|c| {
            format!("{}{}", c.text(), c.attribute("data-value").map_or_else(String::new, |v| format!(" ({v})")))
        });
        let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join(" | "));
        return;
    }
    let own: Vec<&str> =
        e.children.iter().filter_map(|n| if let Node::Text(t) = n { Some(t.trim()) } else { None }).collect();
    let _ = writeln!(out, "{}", own.concat());
    e.inside().for_each(|c| write_whole(c, depth + 1, out));
}

/// The beginning of a long value.
fn cut(value: &str) -> String {
    let start: String = value.chars().take(80).collect();
    if start.len() < value.len() { format!("{start}... ({} bytes)", value.len()) } else { start }
}
