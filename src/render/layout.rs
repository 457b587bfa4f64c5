//! Lines of a text: names in a column, wrapping, and what is cut.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use super::visible::visible;
use crate::record::Warning;

/// Columns of a line, if its words allow. One choice for all text of a process, made once at its start.
static COLUMNS: AtomicUsize = AtomicUsize::new(80);
/// Text goes to a terminal, where long names are cut. What is stored is whole.
static CUTS: AtomicBool = AtomicBool::new(false);

/// How text may look.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// Use bold and colour.
    pub color: bool,
    /// Show what lies behind the answer: candidates, spectrum, sampling.
    pub verbose: bool,
    /// One of several traces: its name comes first.
    pub several: bool,
}

impl Style {
    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{}\x1b[0m", visible(text)) } else { text.to_owned() }
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }
}

/// Wraps lines at the `columns` of a terminal from now on, within reason, and cuts long names; without this call lines are wrapped at 80
/// and names are whole.
pub fn wrap_at(columns: usize) {
    CUTS.store(true, Relaxed);
    COLUMNS.store(columns.clamp(40, 160), Relaxed);
}

/// Columns of the text of a line.
pub(super) fn room() -> usize {
    COLUMNS.load(Relaxed) - NAMES
}

/// The name of a trace, if it is one of several.
pub(super) fn heading(path: &str, style: Style) -> String {
    if style.several { format!("{}\n", style.bold(path)) } else { String::new() }
}

/// The answer in bold, in as many lines as it needs.
pub(super) fn headline(out: &mut String, text: &str, style: Style) {
    for (i, part) in wrapped(text, COLUMNS.load(Relaxed) - 2).iter().enumerate() {
        let _ = writeln!(out, "{}{}", if i == 0 { "" } else { "  " }, style.bold(part));
    }
}

/// Columns of the names of lines, with what is before and after them.
const NAMES: usize = 13;

pub(super) fn line(out: &mut String, name: &str, text: &str) {
    painted(out, &format!("{name:<10}"), text, str::to_owned);
}

pub(super) fn faint_line(out: &mut String, name: &str, text: &str, style: Style) {
    painted(out, &format!("{name:<10}"), text, |part| style.faint(part));
}

/// A line; what does not fit goes below its beginning.
fn painted(out: &mut String, name: &str, text: &str, paint: impl Fn(&str) -> String) {
    let mut parts = wrapped(text, room()).into_iter();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "  {name} {}", paint(&parts.next().unwrap_or_default()));
    for part in parts {
        let _ = writeln!(out, "{:NAMES$}{}", "", paint(&part));
    }
}

/// A text in lines of at most `room` letters, cut between words; a longer word has a line of its own.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut letters = 0;
    // a number and its unit, and the sign before it, stay together
    let mut rest = text;
    while !rest.is_empty() {
        let at = breaks(rest);
        let (word, after) = rest.split_at(at);
        rest = after.strip_prefix(' ').unwrap_or(after);
        let length = word.chars().count();
        match lines.last_mut() {
            Some(last) if letters + 1 + length <= room => {
                last.push(' ');
                last.push_str(word);
                letters += 1 + length;
            }
            _ => {
                lines.push(word.to_owned());
                letters = length;
            }
        }
    }
    lines
}

/// Where the first word of a text ends: at a blank that is not between a number and its unit.
fn breaks(text: &str) -> usize {
    let mut from = 0;
    while let Some(i) = text[from..].find(' ').map(|i| from + i) {
        let (before, after) = (text[..i].chars().next_back(), &text[i + 1..]);
        let word = after.split(' ').next().unwrap_or_default().trim_end_matches([',', ';', ')', ':']);
        let unit = before.is_some_and(|c| c.is_ascii_digit())
            && (word == "%" || (word.chars().count() <= 5 && word.ends_with(['s', 'B', 'z'])));
        let sign = matches!(before, Some('±' | '='));
        if !unit && !sign && word != "=" && word != "±" {
            return i;
        }
        from = i + 1;
    }
    text.len()
}

/// The end of a path in at most `most` letters, from one of its folders on if one begins there.
pub(super) fn ending(path: &str, most: usize) -> String {
    let letters = path.chars().count();
    if letters <= most {
        return path.to_owned();
    }
    let kept: String = path.chars().skip(letters - most + 1).collect();
    let from = kept.find('/').filter(|i| i + 1 < kept.len()).unwrap_or(0);
    format!("…{}", &kept[from..])
}

/// A text in at most `most` letters: its beginning and its end, `…` between them.
pub(super) fn both_ends(text: &str, most: usize) -> Cow<'_, str> {
    let letters = text.chars().count();
    if letters <= most || most == 0 {
        return Cow::Borrowed(text);
    }
    let (end, start) = (most / 2, most - 1 - most / 2);
    text.chars().take(start).chain(['…']).chain(text.chars().skip(letters - end)).collect()
}

/// A path in a text: on a terminal its end in at most `most` letters.
pub(super) fn fitted(path: &str, most: usize) -> String {
    if CUTS.load(Relaxed) { ending(path, most) } else { path.to_owned() }
}

/// A text, on a terminal its start in at most `most` letters.
pub(super) fn shorten(text: &str, most: usize) -> String {
    if !CUTS.load(Relaxed) || text.chars().count() <= most {
        text.to_owned()
    } else {
        text.chars().take(most - 1).chain(['…']).collect()
    }
}

pub(super) fn percent(p: f64) -> String {
    match p {
        _ if p > 0.0 && p < 0.0005 => "< 0.1 %".into(),
        _ if p > 0.0 && p < 0.01 => format!("{:.1} %", 100.0 * p),
        _ => format!("{:.0} %", 100.0 * p),
    }
}

pub(super) fn warnings(out: &mut String, warnings: &[Warning], style: Style) {
    for w in warnings {
        let remedy = w.remedy.as_ref().map_or(String::new(), |r| format!("; {r}"));
        let name = style.paint("33", &format!("{:<10}", "warning"));
        painted(out, &name, &format!("{}{remedy}", w.message), str::to_owned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words_and_units_stay_with_their_numbers() {
        assert_eq!(
            wrapped("14 of 442 ms (22 % of the period), 8.2 MiB/s", 14),
            ["14 of 442 ms", "(22 % of the", "period),", "8.2 MiB/s"]
        );
        assert_eq!(wrapped("at 28.66 s ± 249 µs, until", 12), ["at", "28.66 s ± 249 µs,", "until"]);
        assert_eq!(wrapped("cb = 1; stripe = 2", 9), ["cb = 1;", "stripe = 2"]);
        assert_eq!(wrapped("/a/path/longer/than/that is", 8), ["/a/path/longer/than/that", "is"]);
        assert_eq!(wrapped("", 8), Vec::<String>::new());
    }

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(ending("/scratch/a.h5", 13), "/scratch/a.h5");
        assert_eq!(ending("/scratch/run/a.h5", 15), "…/run/a.h5");
        assert_eq!(ending("/scratch/a.h5", 5), "…a.h5");
        assert_eq!(both_ends("logs/job_1234.darshan", 11), "logs/…rshan");
        assert_eq!(both_ends("short", 5), "short");
    }
}
