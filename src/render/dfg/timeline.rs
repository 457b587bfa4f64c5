//! The timeline of an activity as SVG: a bar an event, a row a case (figure 5).

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::dfg::Timeline;
use crate::error::Result;
use crate::render::svg::frame::{Area, Head, Key, WIDTH, color, failed, panels};
use crate::render::svg::ticks::{marks, number, round_step};
use crate::render::units;

/// Cases drawn at most; more could not be told apart.
const MOST_ROWS: usize = 200;
/// Height of a row in pixels.
const ROW: u32 = 26;
/// Left end of the names of cases, and of the bars.
const LEFT: i32 = 24;
const NAMES: i32 = 290;
/// Least width of a bar in pixels.
const BAR: i32 = 3;
/// Size of text in pixels.
const TEXT: u32 = 17;

/// Draws a timeline of `source`.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn timeline(t: &Timeline, source: &str) -> Result<String> {
    let rows = &t.rows[..t.rows.len().min(MOST_ROWS)];
    let more = if rows.len() < t.rows.len() {
        format!(", the first {} of {}", rows.len(), t.rows.len())
    } else {
        String::new()
    };
    let events: u64 = t.rows.iter().flat_map(|(_, b)| b).map(|b| b.events).sum();
    let head = Head {
        title: format!(
            "{}: {} in {}{more}",
            t.activity,
            units::counted(events, "event"),
            units::counted(t.rows.len() as u64, "case")
        ),
        caption: source.to_owned(),
        legend: vec![(Key::Fill(color::SIGNAL, 1.0), "from start to return of the call".to_owned())],
    };
    let height = ROW * rows.len() as u32 + 8;
    panels(&head, &[height, 70], |areas| {
        let [bars, axis] = areas else { return Ok(()) };
        let span = t.span_s.max(1e-9);
        let room = f64::from(WIDTH) - f64::from(NAMES) - 40.0;
        let x = |s: f64| NAMES + (s / span * room).round() as i32;
        let ink = ("sans-serif", TEXT).into_font().color(&color::INK);
        for (i, (case, row)) in rows.iter().enumerate() {
            let y = (ROW * i as u32) as i32;
            bars.draw(&PathElement::new([(NAMES, y + 22), (x(span), y + 22)], color::GRID)).map_err(failed)?;
            let name: String = if case.chars().count() > 30 {
                ['…'].into_iter().chain(case.chars().skip(case.chars().count() - 29)).collect()
            } else {
                case.clone()
            };
            bars.draw(&Text::new(name, (LEFT, y + 2), ink.clone())).map_err(failed)?;
            for b in row {
                let (from, to) = (x(b.start_s), x(b.end_s).max(x(b.start_s) + BAR));
                bars.draw(&Rectangle::new([(from, y + 2), (to, y + 20)], color::SIGNAL.filled())).map_err(failed)?;
            }
        }
        scale(axis, span, &x)
    })
}

/// Time below the rows.
fn scale(area: &Area<'_>, span: f64, x: &impl Fn(f64) -> i32) -> Result<()> {
    let (factor, unit) = units::time_unit(span);
    let style = ("sans-serif", TEXT).into_font().color(&color::INK).pos(Pos::new(HPos::Center, VPos::Top));
    area.draw(&PathElement::new([(x(0.0), 4), (x(span), 4)], color::INK)).map_err(failed)?;
    let step = round_step(span / factor, 10);
    for mark in marks(0.0, span / factor, step) {
        let at = x(mark * factor);
        area.draw(&PathElement::new([(at, 4), (at, 10)], color::INK)).map_err(failed)?;
        area.draw(&Text::new(number(mark, step), (at, 14), style.clone())).map_err(failed)?;
    }
    let label = format!("Time since the first start ({unit})");
    area.draw(&Text::new(label, ((x(0.0) + x(span)) / 2, 40), style)).map_err(failed)
}
