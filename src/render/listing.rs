//! Tables: rows, and columns with a cell of each, as text and as markup.

use comfy_table::{CellAlignment, Table, presets};
use maud::{Markup, html};

use super::html::markup::{Said, filter, whole};
use super::layout::{ending, percent};
use super::units;

/// Longer tables of a page have a filter.
const MANY: usize = 12;
/// Letters of a name in a page.
const NAME: usize = 64;

/// A cell.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    /// The exact value, of a number or of a name.
    value: Option<String>,
    is_number: bool,
    /// Text that a page shows where the pointer rests.
    note: Option<String>,
    bar: Option<f64>,
    more: Vec<String>,
}

impl Cell {
    /// The same, with lines that unfold in a page.
    pub fn unfolding(self, more: Vec<String>) -> Cell {
        Cell { more, ..self }
    }

    /// Text.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// The end of a name, and all of it where the pointer rests.
    pub fn name(name: &str) -> Cell {
        let shown = ending(name, NAME);
        let note = (shown != name).then(|| whole(name));
        Cell { text: shown, value: Some(whole(name)), note, ..Cell::default() }
    }

    /// A number as it is written, and exactly.
    pub fn number(text: impl Into<String>, value: f64) -> Cell {
        Cell { value: Some(value.to_string()), ..Cell::numeral(text) }
    }

    /// Text among numbers.
    pub fn numeral(text: impl Into<String>) -> Cell {
        Cell { is_number: true, ..Cell::text(text) }
    }

    /// A value that is not known.
    pub fn unknown() -> Cell {
        Cell::text("-")
    }

    /// Bytes; `None` is not known.
    pub fn bytes(bytes: impl Into<Option<u64>>) -> Cell {
        bytes.into().map_or_else(Cell::unknown, |n| Cell {
            value: Some(n.to_string()),
            note: Some(format!("{} bytes", units::grouped(n))),
            ..Cell::numeral(units::bytes(n as f64))
        })
    }

    /// A count; `None` is not known.
    pub fn count(count: impl Into<Option<u64>>) -> Cell {
        let known = |n: u64| Cell { value: Some(n.to_string()), ..Cell::numeral(units::grouped(n)) };
        count.into().map_or_else(Cell::unknown, known)
    }

    /// A length of time; `None` is not known.
    pub fn seconds(seconds: impl Into<Option<f64>>) -> Cell {
        seconds.into().map_or_else(Cell::unknown, |s| Cell::number(units::short_seconds(s), s))
    }

    /// A bar of a share of the largest value.
    pub fn bar(share: f64) -> Cell {
        Cell { bar: Some(share), is_number: false, ..Cell::share(share) }
    }

    /// A share; `None` is not known.
    pub fn share(share: impl Into<Option<f64>>) -> Cell {
        share.into().map_or_else(Cell::unknown, |s| Cell::number(percent(s), s))
    }

    /// Bytes per second; `None` is not known.
    pub fn rate(rate: impl Into<Option<f64>>) -> Cell {
        rate.into().map_or_else(Cell::unknown, |r| Cell::number(units::rate(r), r))
    }

    /// A time on a clock, as exact as `resolution`; `None` is not known.
    pub fn clock(time_s: impl Into<Option<f64>>, resolution: f64) -> Cell {
        time_s.into().map_or_else(Cell::unknown, |t| Cell::number(units::clock(t, resolution), t))
    }

    fn is_known(&self) -> bool {
        !matches!(&*self.text, "" | "-")
    }

    fn html(&self) -> Markup {
        html! {
            @if let Some(share) = self.bar {
                meter min="0" max="1" value=(format!("{share:.4}")) { (self.text) }
            } @else if self.more.is_empty() {
                (Said(&self.text))
            } @else {
                details { summary { (Said(&self.text)) } ul { @for line in &self.more { li { (Said(line)) } } } }
            }
        }
    }
}

#[derive(Debug)]
struct Column {
    title: String,
    key: &'static str,
    cells: Vec<Cell>,
}

impl Column {
    fn is_number(&self) -> bool {
        self.cells.iter().any(|c| c.is_number)
    }
}

/// A table in the making.
#[derive(Debug)]
pub struct Listing<T> {
    rows: Vec<T>,
    columns: Vec<Column>,
}

impl<T> Listing<T> {
    /// Rows without columns.
    pub fn of(rows: impl IntoIterator<Item = T>) -> Listing<T> {
        Listing { rows: rows.into_iter().collect(), columns: Vec::new() }
    }

    /// One more column, which a page names by `key`. One of which no cell is known is left out.
    pub fn column(mut self, title: impl Into<String>, key: &'static str, cell: impl FnMut(&T) -> Cell) -> Listing<T> {
        let cells: Vec<Cell> = self.rows.iter().map(cell).collect();
        if self.columns.is_empty() || cells.iter().any(Cell::is_known) {
            self.columns.push(Column { title: title.into(), key, cells });
        }
        self
    }

    /// Keys and titles of the columns behind the first.
    pub fn choices(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.columns.iter().skip(1).map(|c| (c.key, &*c.title))
    }

    /// The table in a page, which can be sorted by `id` and the key of a column; nothing without rows.
    pub fn html(&self, id: &str, caption: &str) -> Markup {
        let class = |c: &Column| if c.is_number() { "n" } else { "t" };
        let columns: Vec<(&Column, &str)> = self.columns.iter().map(|c| (c, class(c))).collect();
        html! { @if !self.rows.is_empty() {
            @if self.rows.len() > MANY { (filter("Filter rows")) }
            div.scroll { table id=(id) {
                caption { (caption) }
                thead { tr { @for (c, class) in &columns { th.(class) scope="col" data-key=(c.key) { (c.title) } } } }
                tbody { @for i in 0..self.rows.len() {
                    tr { @for (c, class) in &columns {
                        @let cell = &c.cells[i];
                        td.(class) data-value=[&cell.value] title=[&cell.note] { (cell.html()) }
                    } } "\n"
                } }
            } } "\n"
        } }
    }

    /// The table in a terminal, indented; nothing without rows.
    pub fn text(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let indented = |i: usize, text: &str| if i == 0 { format!("  {text}") } else { text.to_owned() };
        let small =
            |title: &str| title.chars().take(1).flat_map(char::to_lowercase).chain(title.chars().skip(1)).collect();
        let titles = self.columns.iter().map(|c| small(&c.title));
        let mut t = Table::new();
        t.load_style(presets::NOTHING);
        t.set_header(titles.enumerate().map(|(i, title): (usize, String)| indented(i, &title)));
        for row in 0..self.rows.len() {
            t.add_row(self.columns.iter().enumerate().map(|(i, c)| indented(i, &c.cells[row].text)));
        }
        for (column, shown) in self.columns.iter().zip(t.column_iter_mut()) {
            if column.is_number() {
                shown.set_cell_alignment(CellAlignment::Right);
            }
        }
        t.trim_fmt()
    }
}
