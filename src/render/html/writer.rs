//! Markup: every text and attribute of a page goes through [`Html`], which escapes it.

use std::fmt::Write;

/// Letters of a name that are shown; the middle of a longer one is left out.
const LETTERS: usize = 300;
/// Letters of a name in an attribute.
const ALL_LETTERS: usize = 4096;

/// Attributes of an element: fixed names, values of any kind.
pub type Attributes<'a> = &'a [(&'static str, &'a str)];

/// A document that is written from its start to its end.
#[derive(Debug, Default)]
pub struct Html {
    out: String,
}

impl Html {
    /// An opening tag.
    pub fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.tag(tag, attributes);
        self.out.push('>');
    }

    /// A closing tag.
    pub fn close(&mut self, tag: &'static str) {
        // Writing to a string cannot fail.
        let _ = write!(self.out, "</{tag}>");
        if matches!(tag, "p" | "li" | "tr" | "table" | "section" | "div" | "details" | "h2" | "h3" | "ul") {
            self.out.push('\n');
        }
    }

    /// An element of HTML without content and end: `meta`, `input`.
    pub fn void(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.tag(tag, attributes);
        self.out.push('>');
    }

    /// An element that holds text only.
    pub fn elem(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.open(tag, attributes);
        self.text(text);
        self.close(tag);
    }

    /// An element around others.
    pub fn within(&mut self, tag: &'static str, attributes: Attributes<'_>, content: impl FnOnce(&mut Html)) {
        self.open(tag, attributes);
        content(self);
        self.close(tag);
    }

    /// Buttons that set `key` of the state to a value, which only the script shows; the first is the default.
    pub fn switches(&mut self, label: &'static str, key: &'static str, values: &[&str]) {
        if values.len() < 2 {
            return;
        }
        self.elem("span", &[], label);
        for (i, value) in values.iter().enumerate() {
            let first = if i == 0 { "1" } else { "" };
            self.elem(
                "button",
                &[("type", "button"), ("data-key", key), ("data-value", value), ("data-first", first)],
                value,
            );
        }
    }

    /// A text to copy, and the button for it.
    pub fn copy(&mut self, tag: &'static str, text: &str) {
        self.within(tag, &[("class", "copy")], |h| h.lines(text));
        self.elem("button", &[("type", "button"), ("class", "tool"), ("data-copy", "1")], "Copy");
    }

    /// A field whose words choose among the rows or cards of what follows.
    pub fn filter(&mut self, label: &'static str) {
        self.within("div", &[("class", "tools")], |h| {
            h.void("input", &[("type", "search"), ("placeholder", label), ("aria-label", label)]);
        });
    }

    /// Text. A name of more than 300 letters keeps both ends.
    pub fn text(&mut self, text: &str) {
        let letters = text.chars().count();
        if letters <= LETTERS {
            return text.chars().for_each(|c| self.letter(c));
        }
        let half = LETTERS / 2;
        text.chars().take(half).for_each(|c| self.letter(c));
        self.out.push('…');
        text.chars().skip(letters - half).for_each(|c| self.letter(c));
    }

    /// Text made here, whose lines end where it says.
    pub fn lines(&mut self, text: &str) {
        text.chars().for_each(|c| if c == '\n' { self.out.push(c) } else { self.letter(c) });
    }

    /// A figure as it was drawn.
    pub fn picture(&mut self, svg: &str) {
        self.out.push_str(svg);
    }

    /// The one style of the page.
    pub fn style(&mut self, css: &'static str) {
        let _ = write!(self.out, "<style>{css}</style>");
    }

    /// The one script of the page.
    pub fn script(&mut self, script: &'static str) {
        let _ = write!(self.out, "<script>{script}</script>");
    }

    /// A block of JSON, in which nothing can end the block.
    pub fn json(&mut self, id: &'static str, json: &str) {
        let _ = write!(self.out, "<script type=\"application/json\" id=\"{id}\">");
        for c in json.chars() {
            match c {
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                    let _ = write!(self.out, "\\u{:04x}", u32::from(c));
                }
                c => self.out.push(c),
            }
        }
        self.out.push_str("</script>\n");
    }

    /// The document type.
    pub fn doctype(&mut self) {
        self.out.push_str("<!DOCTYPE html>\n");
    }

    /// Appends a part that was written by itself.
    pub fn append(&mut self, part: Html) {
        self.out.push_str(&part.out);
    }

    /// The document.
    pub fn finish(self) -> String {
        self.out
    }

    fn tag(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        let _ = write!(self.out, "<{tag}");
        for (name, value) in attributes {
            let _ = write!(self.out, " {name}=\"");
            // what is made here may be long; names are cut
            let most = if matches!(*name, "href" | "content" | "data-windows") { usize::MAX } else { ALL_LETTERS };
            value.chars().take(most).for_each(|c| self.letter(c));
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
            c if c.is_control() || is_hidden(c) => {
                let _ = write!(self.out, "\\u{{{:x}}}", u32::from(c));
            }
            c => self.out.push(c),
        }
    }
}

/// Letters that turn the direction of text, join or separate without being seen, and those that XML does not allow.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// The JSON of the block `id` of a page, as it was before it was escaped; `None` if the page has no such block.
pub fn extract(page: &str) -> Option<String> {
    let start = "<script type=\"application/json\" id=\"data\">";
    let from = page.find(start)? + start.len();
    let block = &page[from..];
    let block = &block[..block.find("</script>")?];
    let mut out = String::with_capacity(block.len());
    let mut rest = block;
    while let Some(i) = rest.find('\\') {
        let (before, escape) = rest.split_at(i);
        out.push_str(before);
        let ours =
            [("\\u003c", '<'), ("\\u003e", '>'), ("\\u0026", '&'), ("\\u2028", '\u{2028}'), ("\\u2029", '\u{2029}')];
        match ours.iter().find(|(code, _)| escape.starts_with(code)) {
            Some((code, c)) => {
                out.push(*c);
                rest = &escape[code.len()..];
            }
            None => {
                // an escape of the JSON itself, whose second letter may be a backslash
                let end = escape.char_indices().nth(2).map_or(escape.len(), |(i, _)| i);
                out.push_str(&escape[..end]);
                rest = &escape[end..];
            }
        }
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        let mut h = Html::default();
        h.elem("td", &[("title", "\"><img src=x onerror=alert(1)>")], "</td><script>'a'\u{202e}\0b");
        assert_eq!(
            h.finish(),
            "<td title=\"&quot;&gt;&lt;img src=x onerror=alert(1)&gt;\">&lt;/td&gt;&lt;script&gt;&#39;a&#39;\\u{202e}\\u{0}b</td>"
        );
    }

    #[test]
    fn long_names_keep_both_ends() {
        let mut h = Html::default();
        h.text(&format!("{}{}", "a".repeat(400), "z"));
        let text = h.finish();
        assert!(text.starts_with("aaa") && text.contains('…') && text.ends_with("az") && text.chars().count() == 301);
    }

    #[test]
    fn a_block_of_json_gives_back_what_was_put_in() {
        for text in ["{\"a\":\"</script><!-- & \u{2028}\"}", "{\"a\":\"\\\\u003c \\\\\\u003c \\n\\u0001\"}", "{}"] {
            let mut h = Html::default();
            h.json("data", text);
            let page = h.finish();
            assert_eq!(page.matches("</script>").count(), 1, "{page}");
            let json: serde_json::Value = serde_json::from_str(&extract(&page).unwrap()).unwrap();
            assert_eq!(json, serde_json::from_str::<serde_json::Value>(text).unwrap());
        }
        let mut h = Html::default();
        h.json("data", "{\"a\":\"<\\\\u003c>\"}");
        assert_eq!(extract(&h.finish()).unwrap(), "{\"a\":\"<\\\\u003c>\"}");
    }
}
