//! Markup of several sections, and the two places where text enters a page unescaped: a figure that was drawn, and the data. All other
//! text is escaped by `maud`.

use maud::{Markup, PreEscaped, Render, html};

use crate::render::layout::both_ends;
use crate::render::visible::visible;

/// Letters of a text of a trace that are shown.
const LETTERS: usize = 300;
/// Letters of a name in an attribute.
const ALL_LETTERS: usize = 4096;
/// The tag before the data of a page.
const DATA: &str = "<script type=\"application/json\" id=\"data\">";

/// Text that may be of any length: of a long one both ends.
pub struct Said<'a>(pub &'a str);

impl Render for Said<'_> {
    fn render_to(&self, out: &mut String) {
        both_ends(self.0, LETTERS).render_to(out);
    }
}

/// A name as the value of an attribute.
pub fn whole(name: &str) -> String {
    name.chars().take(ALL_LETTERS).collect()
}

/// A figure as it was drawn.
pub fn drawn(svg: String) -> Markup {
    PreEscaped(svg)
}

/// Markup in which nothing turns the direction of text or is not seen.
pub fn seen(markup: Markup) -> Markup {
    PreEscaped(visible(&markup.into_string()).into_owned())
}

/// The one style of a page.
pub fn style(css: &'static str) -> Markup {
    html! { style { (PreEscaped(css)) } }
}

/// The one script of a page.
pub fn script(js: &'static str) -> Markup {
    html! { script { (PreEscaped(js)) } }
}

/// The data of a page, in which nothing can end the block.
pub fn data(json: &str) -> Markup {
    html! { (PreEscaped(DATA)) (PreEscaped(json.replace('<', "\\u003c"))) (PreEscaped("</script>")) "\n" }
}

/// The data of a page as JSON; `None` if the page has none.
pub fn extract(page: &str) -> Option<String> {
    let block = page.split_once(DATA)?.1.split_once("</script>")?.0;
    Some(serde_json::from_str::<serde_json::Value>(block).ok()?.to_string())
}

/// A line with content that unfolds below it.
pub fn fold(summary: &str, content: Markup) -> Markup {
    html! { details.fold { summary { (summary) } (content) } "\n" }
}

/// Facts in two columns; those without a value are left out.
pub fn facts<const N: usize>(facts: [(&str, Option<String>); N]) -> Markup {
    let known = facts.iter().filter_map(|(name, value)| Some((name, value.as_deref().filter(|v| !v.is_empty())?)));
    html! { dl { @for (name, value) in known { div { dt { (name) } dd { (Said(value)) } } "\n" } } }
}

/// A text to copy, and the button for it.
pub fn copy(text: &str) -> Markup {
    html! {
        @if text.contains('\n') { pre.copy { (text) } } @else { code.copy { (text) } }
        button.tool type="button" data-copy="1" { "Copy" }
    }
}

/// A field whose words choose among the rows or cards of what follows.
pub fn filter(label: &str) -> Markup {
    html! { div.tools { input type="search" placeholder=(label) aria-label=(label); } }
}

/// Buttons that set `key` of the state to a value, which only the script shows; the first is the default.
pub fn switches(label: &str, key: &str, values: &[&str]) -> Markup {
    html! {
        @if values.len() > 1 {
            span { (label) }
            @for (i, value) in values.iter().enumerate() {
                button type="button" data-key=(key) data-value=(value) data-first=(if i == 0 { "1" } else { "" }) { (value) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        let name = "\"><img src=x onerror=alert(1)></td><script>'a'\u{202e}\0b";
        let page = seen(html! { td title=(whole(name)) { (Said(name)) } }).into_string();
        let escaped = "&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&lt;/td&gt;&lt;script&gt;'a'\\u{202e}\\u{0}b";
        assert_eq!(page, format!("<td title=\"{escaped}\">{escaped}</td>"));
    }

    #[test]
    fn long_texts_keep_both_ends() {
        let text = html! { (Said(&format!("{}{}", "a".repeat(400), "z"))) }.into_string();
        assert!(text.starts_with("aaa") && text.contains('…') && text.ends_with("az") && text.chars().count() == 300);
    }

    #[test]
    fn a_block_of_data_gives_back_what_was_put_in() {
        for text in ["{\"a\":\"</script><!-- & \u{2028}\"}", "{\"a\":\"\\\\u003c \\\\\\u003c \\n\\u0001\"}", "{}"] {
            let page = data(text).into_string();
            assert_eq!(page.matches("</script>").count(), 1, "{page}");
            let json: serde_json::Value = serde_json::from_str(&extract(&page).unwrap()).unwrap();
            assert_eq!(json, serde_json::from_str::<serde_json::Value>(text).unwrap());
        }
        assert_eq!(extract(&data("{\"a\":\"<\\\\u003c>\"}").into_string()).unwrap(), "{\"a\":\"<\\\\u003c>\"}");
        assert_eq!(extract("<p>no data</p>"), None);
    }
}
