//! Reports as a table: a row for each signal, aligned for a terminal or as CSV.

use super::layout::both_ends;
use super::units;
use crate::analysis::{Report, SignalReport};
use crate::formats::{is_formula, quoted_field};

/// Names of the columns of the CSV.
pub const CSV_HEADER: &str = "name,job,application,ranks,bytes,mode,period_s,confidence,bursts,duty_cycle,verdict";

/// Columns of the table after the name: heading, width in letters, and whether the text begins at the left.
const COLUMNS: [(&str, usize, bool); 9] = [
    ("job", 10, false),
    ("application", 16, true),
    ("ranks", 6, false),
    ("bytes", 9, false),
    ("mode", 11, true),
    ("period", 14, false),
    ("conf.", 5, false),
    ("bursts", 6, false),
    ("duty", 5, false),
];
/// Columns that a narrow terminal does without, the first to go first.
const OPTIONAL: [usize; 4] = [1, 0, 8, 7];
/// Least letters of the column of names.
const NAME: usize = 16;

/// An aligned table whose rows are written one by one.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    name: usize,
    shown: [bool; COLUMNS.len()],
    cut: bool,
}

impl Table {
    /// A table for traces of these names. For a terminal of `columns` letters, columns are left out and long names are shortened in
    /// the middle; without `columns` nothing is shortened.
    pub fn new(names: impl Iterator<Item = String>, columns: Option<usize>) -> Table {
        let longest = names.map(|n| n.chars().count()).max().unwrap_or(0).max("name".len());
        let mut table = Table { name: longest, shown: [true; COLUMNS.len()], cut: columns.is_some() };
        let Some(columns) = columns else { return table };
        for column in OPTIONAL {
            if table.others() + longest.min(NAME) > columns {
                table.shown[column] = false;
            }
        }
        table.name = longest.min(columns.saturating_sub(table.others()).max(NAME));
        table
    }

    /// Letters of all shown columns but the name, with the blanks before them.
    fn others(&self) -> usize {
        COLUMNS.iter().zip(self.shown).filter(|(_, shown)| *shown).map(|((_, width, _), _)| width + 2).sum()
    }

    /// The line above the rows.
    pub fn header(&self) -> String {
        self.line("name", COLUMNS.map(|(heading, ..)| heading.to_owned()))
    }

    /// A line for each signal of a report.
    pub fn rows(&self, r: &Report) -> String {
        r.signals.iter().map(|s| self.row(r, s)).collect()
    }

    /// The line of a trace without a report; `why` stands for the period.
    pub fn failed(&self, name: &str, why: &str) -> String {
        self.line(name, ["-", "-", "-", "-", "-", why, "-", "-", "-"].map(str::to_owned))
    }

    fn row(&self, r: &Report, s: &SignalReport) -> String {
        let [job, application, ranks, bytes, mode, period, confidence, bursts, duty, verdict] =
            fields(r, s).map(|f| f[0].clone());
        let period = if period == "-" { verdict } else { period };
        self.line(&r.trace.path, [job, application, ranks, bytes, mode, period, confidence, bursts, duty])
    }

    fn line(&self, name: &str, cells: [String; COLUMNS.len()]) -> String {
        let n = self.name;
        let mut line = format!("{:<n$}", if self.cut { both_ends(name, n) } else { name.into() });
        for ((cell, (_, width, left)), shown) in cells.iter().zip(COLUMNS).zip(self.shown) {
            match (shown, left) {
                (false, _) => {}
                (true, true) => {
                    let cell = if self.cut { both_ends(cell, width) } else { cell.as_str().into() };
                    line += &format!("  {cell:<width$}");
                }
                (true, false) => line += &format!("  {cell:>width$}"),
            }
        }
        line.truncate(line.trim_end().len());
        line + "\n"
    }
}

/// Lines of CSV (RFC 4180) for the signals of a report, in full precision; unknown is empty. Unless they are to be `exact`, names that a
/// spreadsheet would take for formulas have an apostrophe in front.
pub fn csv(r: &Report, exact: bool) -> String {
    let row = |s: &SignalReport| {
        let [job, application, more @ ..] = fields(r, s).map(|f| f[1].clone());
        let names = [csv_name(&r.trace.path, exact), job, csv_name(&application, exact)];
        csv_line(&[&names[..], &more[..]].concat())
    };
    r.signals.iter().map(row).collect()
}

/// The line of CSV of a trace without a report; `why` is its verdict.
pub fn csv_failed(name: &str, why: &str, exact: bool) -> String {
    let mut fields: [String; 11] = Default::default();
    fields[0] = csv_name(name, exact);
    fields[10] = why.to_owned();
    csv_line(&fields)
}

fn csv_line(fields: &[String]) -> String {
    fields.iter().map(|f| quoted_field(f)).collect::<Vec<_>>().join(",") + "\r\n"
}

fn csv_name(name: &str, exact: bool) -> String {
    if is_formula(name) && !exact { format!("'{name}") } else { name.to_owned() }
}

/// Fields of a signal in both forms, each as text for people and exactly: from the job to the verdict.
fn fields(r: &Report, s: &SignalReport) -> [[String; 2]; 10] {
    fn known<T: Copy + ToString>(x: Option<T>, text: impl Fn(T) -> String) -> [String; 2] {
        x.map_or_else(|| ["-".into(), String::new()], |x| [text(x), x.to_string()])
    }
    let percent = |p: f64| format!("{:.0} %", 100.0 * p);
    let job = r.trace.job.as_ref();
    let program = job.and_then(|j| j.executable.as_deref()).and_then(|e| e.split_whitespace().next());
    let (dominant, bursts) = (s.period.dominant.as_ref(), s.bursts.as_ref());
    // as in the JSON
    let verdict = serde_json::to_value(s.period.verdict).ok();
    let both = |text: &str| [text.to_owned(), text.to_owned()];
    [
        known(job.and_then(|j| j.id), |id| id.to_string()),
        program.map_or_else(|| ["-".into(), String::new()], |p| both(p.rsplit('/').next().unwrap_or(p))),
        both(&r.trace.ranks.to_string()),
        [units::bytes(s.bytes), format!("{:.0}", s.bytes)],
        both(s.mode.name()),
        known(dominant.map(|d| d.period_s), units::seconds),
        known(dominant.map(|d| d.confidence), percent),
        known(bursts.map(|b| b.count), |n| n.to_string()),
        known(bursts.map(|b| b.duty_cycle), percent),
        both(verdict.as_ref().and_then(|v| v.as_str()).unwrap_or_default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_a_terminal_only() {
        let long = "x".repeat(200);
        let table = |columns| Table::new([long.clone()].into_iter(), columns);
        for columns in [200, 120, 100, 80, 71] {
            let table = table(Some(columns));
            for line in [table.header(), table.failed(&long, "unreadable")] {
                assert_eq!(line.trim_end().chars().count(), columns, "{line}");
            }
        }
        assert!(table(None).failed(&long, "-").starts_with(&long));
        assert!(table(Some(80)).header().ends_with("conf.  bursts\n"));
    }

    #[test]
    fn csv_fields_are_quoted() {
        assert_eq!(csv_failed("a,\"b\"", "unreadable", false), "\"a,\"\"b\"\"\",,,,,,,,,,unreadable\r\n");
        for formula in ["=1+1", "+1", "-x.csv", "@sum(a)", "\t=1", "\r=1"] {
            assert!(csv_failed(formula, "nothing", false).trim_start_matches('"').starts_with('\''), "{formula:?}");
            assert!(csv_failed(formula, "nothing", true).trim_start_matches('"').starts_with(formula), "{formula:?}");
        }
        assert!(csv_failed("-", "nothing", false).starts_with("-,"));
        assert_eq!(CSV_HEADER.split(',').count(), 11);
    }
}
