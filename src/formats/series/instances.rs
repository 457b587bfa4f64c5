//! Rows of several instances in one table: mounts, devices or targets that are read one after the other.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::layout::TableLayout;
use super::table::{LOOK, value};
use crate::error::{Error, Place, Result};
use crate::formats::lines::{is_remark, lines};
use crate::formats::number::parse_f64;
use crate::formats::rates::ValueKind;

/// Fewer rows show nothing.
pub(super) const FEW: usize = 8;
/// Share of the rows from which on they are of several instances.
const MANY: f64 = 0.25;
/// Share of the rows below which they are of one.
const HARDLY: f64 = 0.05;
/// Times this share of the mean distance apart are of one moment.
const MOMENT: f64 = 0.01;

type Row<'t> = Vec<Cow<'t, [u8]>>;
/// Time and values of the last row of each node and instance.
type Latest<'r> = HashMap<(&'r [u8], &'r [u8]), (f64, Vec<f64>)>;

/// The column that tells the instances of a table apart, where its rows are of several: their counters fall, or their times crowd, again and
/// again, and do not within each text of that column. `None` if the rows are of one instance.
///
/// # Errors
/// Malformed if no column tells the counters of several instances apart.
pub(super) fn find(text: &[u8], layout: &TableLayout, origin: i64, skipped: u64) -> Result<Option<usize>> {
    let rows: Vec<Row> = lines(text).filter(|l| !is_remark(l)).take(LOOK).filter_map(|l| row(l, layout)).collect();
    let looks = Looks { layout, origin, rows: &rows };
    if rows.len() < FEW
        || layout.time.is_empty()
        || layout.series.is_empty()
        || layout.length.is_some()
        || !looks.several(None, MANY)
    {
        return Ok(None);
    }
    let used: Vec<usize> = layout
        .time
        .iter()
        .copied()
        .chain(layout.host)
        .chain(layout.series.iter().flat_map(|w| w.columns.clone()))
        .collect();
    let width = rows.iter().map(Vec::len).min().unwrap_or(0);
    let mut columns: Vec<usize> = (0..width).filter(|c| !used.contains(c)).collect();
    // names before numbers
    columns.sort_by_key(|&c| rows.iter().all(|r| parse_f64(&r[c]).is_some()));
    let texts = |c: usize| rows.iter().map(|r| &*r[c]).collect::<HashSet<&[u8]>>().len();
    let found =
        columns.into_iter().find(|&c| (2..=rows.len() / 2).contains(&texts(c)) && !looks.several(Some(c), HARDLY));
    if found.is_none() && looks.falls(None) >= MANY {
        let what =
            "the counters fall in more than a quarter of the rows: they are of several instances, or no counters";
        return Err(Error::malformed(Place::Line(skipped + 1), what)
            .expected("rows of one device, mount or node, or a column that names it")
            .remedy(
                "name that column as device=NAME beside the other columns, or say that the values are amounts or rates",
            ));
    }
    Ok(found)
}

/// The fields of a line, if it is a row that counts.
fn row<'t>(line: &'t [u8], layout: &TableLayout) -> Option<Row<'t>> {
    let mut found = Vec::new();
    layout
        .separator
        .fields(line, |f| {
            found.push(f);
            true
        })
        .ok()?;
    let counts = layout.filter.as_ref().is_none_or(|(c, text)| found.get(*c).is_some_and(|f| **f == **text));
    (counts && found.len() >= layout.width()).then_some(found)
}

/// Rows, looked at as those of one instance or of one for each text of a column.
struct Looks<'r, 't> {
    layout: &'r TableLayout,
    origin: i64,
    rows: &'r [Row<'t>],
}

impl Looks<'_, '_> {
    /// For each row that follows another of its instance, the seconds between them, and whether a value falls.
    fn steps(&self, column: Option<usize>) -> Vec<(f64, bool)> {
        let mut last: Latest<'_> = HashMap::new();
        let mut steps = Vec::new();
        for row in self.rows {
            let field = |c: Option<usize>| c.map_or(&[][..], |c| &*row[c]);
            let more = self.layout.time.get(1).map(|&c| &*row[c]);
            let Some(time) = self.layout.form.seconds(&row[self.layout.time[0]], more, self.origin) else { continue };
            let values: Vec<f64> =
                self.layout.series.iter().map(|w| value(&row[w.columns[0]], true).unwrap_or(f64::NAN)).collect();
            let key = (field(self.layout.host), field(column));
            if let Some((before, old)) = last.insert(key, (time, values.clone())) {
                steps.push((time - before, values.iter().zip(&old).any(|(new, old)| new < old)));
            }
        }
        steps
    }

    fn falls(&self, column: Option<usize>) -> f64 {
        let steps = self.steps(column);
        let counts = self.layout.kind == ValueKind::Cumulative;
        if counts { steps.iter().filter(|s| s.1).count() as f64 / steps.len().max(1) as f64 } else { 0.0 }
    }

    /// True if this share of the rows shows that they are of several instances.
    fn several(&self, column: Option<usize>, share: f64) -> bool {
        let steps = self.steps(column);
        let n = steps.len().max(1) as f64;
        let mean = steps.iter().map(|s| s.0.max(0.0)).sum::<f64>() / n;
        // rates of equal times are added up, counters must not
        let counts = self.layout.kind == ValueKind::Cumulative;
        let crowd = |s: &&(f64, bool)| s.0 >= 0.0 && s.0 < MOMENT * mean && (counts || s.0 > 0.0);
        let crowded = steps.iter().filter(crowd).count() as f64 / n;
        let alone = column.is_some() && 2 * steps.len() < self.rows.len();
        crowded >= share || self.falls(column) >= share || alone
    }
}
