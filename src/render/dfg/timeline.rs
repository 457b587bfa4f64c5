//! The timeline of an activity as SVG: a bar an event, a row a case (figure 5).

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::dfg::Timeline;
use crate::error::Result;
use crate::render::svg::frame::{Area, Key, WIDTH, color, failed, panels};
use crate::render::svg::ticks::round_step;
use crate::render::units;

/// Cases drawn at most; more could not be told apart.
const MOST_ROWS: usize = 200;
/// Height of a row in pixels.
const ROW: u32 = 22;
/// Room for the names of cases.
const NAMES: i32 = 260;

/// Draws a timeline.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn timeline(t: &Timeline) -> Result<String> {
    let rows = &t.rows[..t.rows.len().min(MOST_ROWS)];
    let more = if rows.len() < t.rows.len() {
        format!(", the first {} of {}", rows.len(), t.rows.len())
    } else {
        String::new()
    };
    let events: u64 = t.rows.iter().flat_map(|(_, b)| b).map(|b| b.events).sum();
    let title = format!(
        "{}: {} in {}{more}",
        t.activity,
        units::counted(events, "event"),
        units::counted(t.rows.len() as u64, "case")
    );
    let legend = [(Key::Fill(color::SIGNAL, 1.0), "from start to return of the call".to_owned())];
    let height = ROW * rows.len() as u32 + 20;
    panels(&title, &legend, &[height.max(60), 64], |areas| {
        let [bars, axis] = areas else { return Ok(()) };
        let span = t.span_s.max(1e-9);
        let room = f64::from(WIDTH) - f64::from(NAMES) - 40.0;
        let x = |s: f64| NAMES + (s / span * room).round() as i32;
        let ink = ("sans-serif", 15).into_font().color(&color::INK);
        for (i, (case, row)) in rows.iter().enumerate() {
            let y = 10 + (ROW * i as u32) as i32;
            bars.draw(&PathElement::new([(NAMES, y + 18), (x(span), y + 18)], color::GRID)).map_err(failed)?;
            let name: String = if case.chars().count() > 30 {
                ['…'].into_iter().chain(case.chars().skip(case.chars().count() - 29)).collect()
            } else {
                case.clone()
            };
            bars.draw(&Text::new(name, (20, y + 3), ink.clone())).map_err(failed)?;
            for b in row {
                let (from, to) = (x(b.start_s), x(b.end_s).max(x(b.start_s) + 1));
                bars.draw(&Rectangle::new([(from, y + 3), (to, y + 15)], color::SIGNAL.filled())).map_err(failed)?;
            }
        }
        scale(axis, span, &x)
    })
}

/// Time below the rows.
fn scale(area: &Area<'_>, span: f64, x: &impl Fn(f64) -> i32) -> Result<()> {
    let (factor, unit) = units::time_unit(span);
    let style = ("sans-serif", 15).into_font().color(&color::INK).pos(Pos::new(HPos::Center, VPos::Top));
    area.draw(&PathElement::new([(x(0.0), 4), (x(span), 4)], color::INK)).map_err(failed)?;
    let step = round_step(span / factor, 10);
    let mut i = 0.0;
    while i * step <= span / factor * 1.0001 {
        let at = x(i * step * factor);
        area.draw(&PathElement::new([(at, 4), (at, 10)], color::INK)).map_err(failed)?;
        let text = units::digits(i * step);
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text };
        area.draw(&Text::new(text, (at, 14), style.clone())).map_err(failed)?;
        i += 1.0;
    }
    let label = format!("Time since the first start ({unit})");
    area.draw(&Text::new(label, ((x(0.0) + x(span)) / 2, 36), style)).map_err(failed)
}
