//! Numbers and names as people read them.

use iophase::internals::render::units;

use crate::tables::Time;

/// Letters of a text that are shown; the middle of a longer one is left out.
const LETTERS: usize = 4000;

/// A text, or of a long one both ends.
pub fn both_ends(text: &str) -> String {
    let letters = text.chars().count();
    if letters <= LETTERS {
        return text.to_owned();
    }
    let (half, end) = (LETTERS / 2, letters - LETTERS / 2);
    text.chars().take(half).chain(['…']).chain(text.chars().skip(end)).collect()
}

/// A whole number with its thousands apart: 12,345.
pub fn whole(x: f64) -> String {
    units::grouped(format!("{x:.0}"))
}

/// Three significant digits, or a whole number.
pub fn number(x: f64) -> String {
    if x.abs() < 1000.0 { units::digits(x) } else { whole(x) }
}

/// A time in seconds since 1970: 2026-01-31 12:05.
pub fn date(unix_s: f64) -> String {
    let time = Time::of_seconds(unix_s).date_time();
    time.map_or_else(|| "-".to_owned(), |t| t.format("%Y-%m-%d %H:%M").to_string())
}

/// A number in the unit that the name of its column tells.
pub fn value(column: &str, x: f64) -> String {
    match column {
        c if c.contains("bytes_per_s") || c == "agg_rate" => units::rate(x),
        c if c.contains("bytes") => units::bytes(x),
        c if c.ends_with("_share") => format!("{:.1} %", 100.0 * x),
        c if c.ends_with("_s") => units::short_seconds(x),
        _ if x.fract() == 0.0 => whole(x),
        _ => number(x),
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
    fn numbers_are_short_and_dates_those_of_the_calendar() {
        assert_eq!(
            [whole(1_234_567.0), whole(-1000.0), number(0.012_34), number(1234.5)],
            ["1,234,567", "-1,000", "0.0123", "1,234"]
        );
        assert_eq!(date(1_769_861_100.0), "2026-01-31 12:05");
        let of = [value("io_share", 0.5), value("period_s", 2.0), value("bytes_read", 3.0 * 1024.0 * 1024.0)];
        assert_eq!(of, ["50.0 %", "2.000 s", "3 MiB"]);
    }

    #[test]
    fn long_texts_keep_both_ends() {
        let text = both_ends(&format!("{}z", "a".repeat(5000)));
        assert!(
            text.starts_with("aaa")
                && text.contains('…')
                && text.ends_with("az")
                && text.chars().count() == LETTERS + 1
        );
    }
}
