//! Markup that escapes every text and attribute, and numbers as people read them.

use crate::tables::Time;

/// Letters of a text that are shown; the middle of a longer one is left out.
const LETTERS: usize = 4000;

/// Attributes of an element: fixed names, values of any kind.
pub type Attributes<'a> = &'a [(&'static str, &'a str)];

/// A document that is written from its start to its end.
#[derive(Debug, Default)]
pub struct Html {
    out: String,
}

impl Html {
    /// The document type.
    pub fn doctype(&mut self) {
        self.out.push_str("<!DOCTYPE html>\n");
    }

    /// An opening tag.
    pub fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.tag(tag, attributes);
        self.out.push('>');
    }

    /// A closing tag.
    pub fn close(&mut self, tag: &'static str) {
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push_str(">\n");
    }

    /// An element without content, as SVG has them.
    pub fn empty(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.tag(tag, attributes);
        self.out.push_str("/>");
    }

    /// An element that holds text only.
    pub fn elem(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.open(tag, attributes);
        let letters = text.chars().count();
        if letters <= LETTERS {
            text.chars().for_each(|c| self.letter(c));
        } else {
            text.chars().take(LETTERS / 2).for_each(|c| self.letter(c));
            self.out.push('…');
            text.chars().skip(letters - LETTERS / 2).for_each(|c| self.letter(c));
        }
        self.close(tag);
    }

    /// The one style of the page.
    pub fn style(&mut self, css: &'static str) {
        self.out.push_str("<style>");
        self.out.push_str(css);
        self.out.push_str("</style>\n");
    }

    /// The document.
    pub fn finish(self) -> String {
        self.out
    }

    fn tag(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            value.chars().for_each(|c| self.letter(c));
            self.out.push('"');
        }
    }

    /// One letter, escaped; one that cannot be seen or turns the direction of text as `\u{...}`.
    fn letter(&mut self, c: char) {
        match c {
            '&' => self.out.push_str("&amp;"),
            '<' => self.out.push_str("&lt;"),
            '>' => self.out.push_str("&gt;"),
            '"' => self.out.push_str("&quot;"),
            '\'' => self.out.push_str("&#39;"),
            '\n' => self.out.push('\n'),
            c if c.is_control() || is_hidden(c) => self.out.push_str(&c.escape_unicode().to_string()),
            c => self.out.push(c),
        }
    }
}

/// Letters that turn the direction of text, join or separate without being seen.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A whole number with separators: 12,345.
pub fn grouped(x: f64) -> String {
    let digits = format!("{:.0}", x.abs());
    let mut out = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    if x < 0.0 { format!("-{out}") } else { out }
}

/// Three significant digits.
pub fn short(x: f64) -> String {
    let a = x.abs();
    if a == 0.0 || !x.is_finite() {
        return if a == 0.0 { "0".into() } else { "-".into() };
    }
    if a >= 1000.0 {
        return grouped(x);
    }
    if a < 1e-3 {
        return format!("{x:.2e}");
    }
    // of what is shown: 0.09996 is 0.100, not 0.1000
    let shown = format!("{a:.2e}").parse().unwrap_or(a);
    let places = (2 - f64::log10(shown).floor() as i32).clamp(0, 6) as usize;
    format!("{x:.places$}")
}

/// Bytes with a binary prefix.
pub fn bytes(x: f64) -> String {
    const PREFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let at = (0..PREFIXES.len()).rev().find(|&i| x.abs() >= 1024f64.powi(i as i32)).unwrap_or(0);
    format!("{} {}B", short(x / 1024f64.powi(at as i32)), PREFIXES[at])
}

/// A time in seconds since 1970: 2026-01-31 12:05.
pub fn date(unix_s: f64) -> String {
    let time = Time::of_seconds(unix_s).date_time();
    time.map_or_else(|| "-".to_owned(), |t| t.format("%Y-%m-%d %H:%M").to_string())
}

/// A number in the unit that the name of its column tells.
pub fn value(column: &str, x: f64) -> String {
    match column {
        c if c.contains("bytes_per_s") || c == "agg_rate" => format!("{}/s", bytes(x)),
        c if c.contains("bytes") => bytes(x),
        c if c.ends_with("_share") => format!("{:.1} %", 100.0 * x),
        c if c.ends_with("_s") => format!("{} s", short(x)),
        _ if x.fract() == 0.0 => grouped(x),
        _ => short(x),
    }
}

/// A heading for a column: the unit is with the numbers.
pub fn heading(column: &str) -> String {
    let name = column.strip_suffix("_s").unwrap_or(column).replace('_', " ");
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |c| c.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        let mut h = Html::default();
        h.elem("td", &[("title", "\"><img src=x onerror=alert(1)>")], "</td><script>'a'\u{202e}\0b");
        let page = h.finish();
        assert_eq!(
            page,
            "<td title=\"&quot;&gt;&lt;img src=x onerror=alert(1)&gt;\">&lt;/td&gt;&lt;script&gt;&#39;a&#39;\\u{202e}\\u{0}b</td>\n"
        );
    }

    #[test]
    fn numbers_are_short_and_dates_those_of_the_calendar() {
        assert_eq!(
            (grouped(1_234_567.0), grouped(12.0), grouped(-1000.0)),
            ("1,234,567".into(), "12".into(), "-1,000".into())
        );
        assert_eq!((short(0.01234), short(12.34), short(0.0)), ("0.0123".into(), "12.3".into(), "0".into()));
        assert_eq!((short(0.099_96), short(9.999), short(999.6)), ("0.100".into(), "10.0".into(), "1000".into()));
        assert_eq!(bytes(3.0 * 1024.0 * 1024.0), "3.00 MiB");
        assert_eq!(date(1_769_861_100.0), "2026-01-31 12:05");
        assert_eq!((value("io_share", 0.5), value("period_s", 2.0)), ("50.0 %".into(), "2.00 s".into()));
    }
}
