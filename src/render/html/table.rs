//! Tables: a caption, headings that the script makes sortable, and cells that keep their exact values.

use super::writer::Html;

/// Longer tables have a filter.
const MANY: usize = 12;

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    title: &'static str,
    key: &'static str,
    number: bool,
}

impl Column {
    /// A column of text.
    pub const fn text(title: &'static str, key: &'static str) -> Column {
        Column { title, key, number: false }
    }

    /// A column of numbers.
    pub const fn number(title: &'static str, key: &'static str) -> Column {
        Column { title, key, number: true }
    }
}

impl Column {
    /// Its heading.
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// Its key.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// A column of bars.
    pub const fn bar(title: &'static str, key: &'static str) -> Column {
        Column { title, key, number: false }
    }
}

/// A cell.
#[derive(Debug, Clone)]
pub struct Cell {
    text: String,
    value: Option<String>,
    note: Option<String>,
    bar: Option<f64>,
    more: Vec<String>,
}

impl Cell {
    /// The same, with lines that unfold.
    pub fn unfolding(self, more: Vec<String>) -> Cell {
        Cell { more, ..self }
    }

    /// Text.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), value: None, note: None, bar: None, more: Vec::new() }
    }

    /// The end of a name, and all of it where the pointer rests.
    pub fn name(name: &str) -> Cell {
        let shown = crate::render::layout::ending(name, 64);
        let note = (shown != name).then(|| name.to_owned());
        Cell { text: shown, value: Some(name.to_owned()), note, bar: None, more: Vec::new() }
    }

    /// A number as it is written, and exactly.
    pub fn number(text: impl Into<String>, value: f64) -> Cell {
        Cell { text: text.into(), value: Some(format!("{value}")), note: None, bar: None, more: Vec::new() }
    }

    /// Bytes.
    pub fn bytes(bytes: u64) -> Cell {
        let exact = crate::render::units::grouped(bytes);
        Cell {
            text: crate::render::units::bytes(bytes as f64),
            value: Some(bytes.to_string()),
            note: Some(format!("{exact} bytes")),
            bar: None,
            more: Vec::new(),
        }
    }

    /// A count; `None` is not known.
    pub fn count(count: Option<u64>) -> Cell {
        match count {
            Some(n) => Cell {
                text: crate::render::units::grouped(n),
                value: Some(n.to_string()),
                note: None,
                bar: None,
                more: Vec::new(),
            },
            None => Cell::text("-"),
        }
    }

    /// A length of time; `None` is not known.
    pub fn seconds(seconds: Option<f64>) -> Cell {
        match seconds {
            Some(s) => Cell::number(crate::render::findings::short(s), s),
            None => Cell::text("-"),
        }
    }

    /// A bar of a share of the largest value.
    pub fn bar(share: f64) -> Cell {
        Cell {
            text: crate::render::layout::percent(share),
            value: Some(format!("{share}")),
            note: None,
            bar: Some(share),
            more: Vec::new(),
        }
    }

    /// A share; `None` is not known.
    pub fn share(share: Option<f64>) -> Cell {
        match share {
            Some(s) => Cell::number(crate::render::layout::percent(s), s),
            None => Cell::text("-"),
        }
    }
}

/// A table. Its rows can be sorted by `id` and the key of a column.
pub fn table(h: &mut Html, id: &str, caption: &str, columns: &[Column], rows: impl IntoIterator<Item = Vec<Cell>>) {
    let rows: Vec<Vec<Cell>> = rows.into_iter().collect();
    if rows.len() > MANY {
        h.filter("Filter rows");
    }
    h.open("div", &[("class", "scroll")]);
    h.open("table", &[("id", id)]);
    h.elem("caption", &[], caption);
    h.within("thead", &[], |h| {
        h.within("tr", &[], |h| {
            for c in columns {
                let class = if c.number { "n" } else { "t" };
                h.elem("th", &[("scope", "col"), ("class", class), ("data-key", c.key)], c.title);
            }
        });
    });
    h.open("tbody", &[]);
    for row in rows {
        h.open("tr", &[]);
        for (cell, column) in row.iter().zip(columns) {
            let mut attributes = vec![("class", if column.number { "n" } else { "t" })];
            attributes.extend(cell.value.as_deref().map(|v| ("data-value", v)));
            attributes.extend(cell.note.as_deref().map(|v| ("title", v)));
            match cell.bar {
                Some(share) => h.within("td", &attributes, |h| {
                    h.elem("meter", &[("min", "0"), ("max", "1"), ("value", &format!("{share:.4}"))], &cell.text);
                }),
                None if cell.more.is_empty() => h.elem("td", &attributes, &cell.text),
                None => h.within("td", &attributes, |h| {
                    h.open("details", &[]);
                    h.elem("summary", &[], &cell.text);
                    h.within("ul", &[], |h| cell.more.iter().for_each(|line| h.elem("li", &[], line)));
                    h.close("details");
                }),
            }
        }
        h.close("tr");
    }
    h.close("tbody");
    h.close("table");
    h.close("div");
}

/// Facts in two columns; those without a value are left out.
pub fn facts(h: &mut Html, facts: &[(&'static str, Option<String>)]) {
    h.open("dl", &[]);
    for (name, value) in facts {
        let Some(value) = value.as_deref().filter(|v| !v.is_empty()) else { continue };
        h.open("div", &[]);
        h.elem("dt", &[], name);
        h.elem("dd", &[], value);
        h.close("div");
    }
    h.close("dl");
}
