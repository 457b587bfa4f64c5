//! Byte ranges of every rank over time, with the global classes as bands (after figure 3 of Madhyastha & Reed 1997).

use plotters::prelude::*;

use super::frame::{Axis, Head, Key, Numbers, color, failed, picture, shortened};
use super::offsets::{FILES, PLOT, RANKS, blend, nth_file, of_rank, one_of_each_first, plain, smallest};
use super::view::file_name;
use crate::classify::{Axis as _, Classes, FileClasses, GlobalClass, GlobalSequentiality, Mix, Sketch, SketchedAccess};
use crate::error::Result;
use crate::render::units;

/// Accesses drawn of a file.
const SHAPES: usize = 12_000;
/// Ranks drawn of a file.
const DRAWN_RANKS: usize = 64;
/// Bands drawn of a file.
const BANDS: usize = 400;
/// Pixels of a letter of a band's name.
const LETTER: f64 = 10.0;

/// A picture of each of the files with the most bytes: its number and name, fit for a file name, and the SVG. `sketches` are those
/// of the files of `classes`, in the same order.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn classes(classes: &Classes, sketches: &[Sketch]) -> Result<Vec<(String, String)>> {
    let bytes = |f: &FileClasses| f.global.iter().map(|g| u128::from(g.bytes)).sum::<u128>();
    let mut files: Vec<(&FileClasses, &Sketch)> = classes.files.iter().zip(sketches).collect();
    files.sort_by_key(|(f, _)| std::cmp::Reverse(bytes(f)));
    let name = |f: &FileClasses| f.file.clone().unwrap_or_else(|| "unnamed".into());
    one_of_each_first(&mut files, |f| f.0.file.as_deref().unwrap_or_default());
    let (trace, all) = (file_name(&classes.path), files.len());
    let draw = |(i, (file, sketch)): (usize, (&FileClasses, &Sketch))| {
        let caption = format!("{trace}, {}", nth_file(i, all));
        Ok((format!("{}-{}", i + 1, plain(&name(file))), of_file(&name(file), caption, file, sketch)?))
    };
    files.into_iter().take(FILES).enumerate().map(draw).collect()
}

/// Bands of one class keep their colour in every picture; those of reads are darker.
fn of_class(class: &GlobalClass) -> RGBColor {
    use GlobalSequentiality as G;
    let color = match class.sequentiality {
        G::GlobalSequential => RGBColor(255, 214, 130),
        G::PartitionedSequential => RGBColor(160, 215, 190),
        G::InterleavedSequential => RGBColor(170, 205, 240),
        G::GlobalStrided => RGBColor(240, 190, 160),
        G::PartitionedStrided => RGBColor(205, 220, 140),
        G::SingleRank => RGBColor(215, 215, 215),
        G::NonSequential => RGBColor(230, 180, 215),
    };
    if class.mix == Mix::ReadOnly { blend(color, color::INK, 0.3) } else { color }
}

fn name_of(class: &GlobalClass) -> String {
    format!("{}, {}", class.sequentiality.name(), class.mix.name())
}

fn of_file(name: &str, mut caption: String, file: &FileClasses, sketch: &Sketch) -> Result<String> {
    let ranks = chosen(&sketch.ranks);
    let all = || sketch.ranks.iter().flat_map(|r| &r.1);
    let first = all().map(|a| a.start_s).fold(f64::INFINITY, f64::min);
    let last = all().map(|a| a.end_s).fold(f64::NEG_INFINITY, f64::max);
    let span = (last - first).max(1e-6);
    // a clock far from zero is shown from the first access on
    let shift = if first.abs() > 10.0 * span.max(100.0) { first } else { 0.0 };
    let label = if shift == 0.0 { "Time" } else { "Time since the first access" };
    let margin = 0.02 * span;
    let x = Axis { range: (first - shift - margin, last - shift + margin), label, unit: "s", numbers: Numbers::Time };
    let low = all().map(|a| a.start_offset).min().unwrap_or(0) as f64;
    let high = all().map(|a| a.end_offset).max().unwrap_or(1) as f64;
    // a file is drawn from its beginning, unless what is accessed is far from it
    let low = if low > 2.0 * (high - low) { low } else { 0.0 };
    let reach = (high - low).max(1.0);
    let y = Axis { range: (low, low + 1.16 * reach), label: "Offset", unit: "B", numbers: Numbers::Prefixed };
    let ceiling = (low + 1.04 * reach, low + 1.14 * reach);
    let bands = &file.global[..file.global.len().min(BANDS)];
    if bands.len() < file.global.len() {
        caption += &format!(", the first {BANDS} of {} classes", file.global.len());
    }
    let accesses = units::counted(sketch.accesses, "access");
    let some = if ranks.len() < sketch.ranks.len() { format!(", {} drawn", ranks.len()) } else { String::new() };
    let aside = file.aside.as_ref().map_or(0, |a| a.accesses);
    let aside = if aside > 0 { format!(", {} set aside", units::grouped(aside)) } else { String::new() };
    let rest = format!(": {accesses} by {}{some}{aside}", units::counted(sketch.ranks.len() as u64, "rank"));
    let title = format!("{}{rest}", shortened(name, &rest));
    let smallest = smallest(all().count().min(SHAPES), &x, &y);
    let head = Head { title, caption, legend: legend(&ranks, bands) };
    picture(&head, &x, &y, |c| {
        for g in bands {
            let (start, end) = (g.start_s - shift, (g.end_s - shift).max(g.start_s - shift + smallest.0));
            let fill = of_class(g);
            let tint = Rectangle::new([(start, low), (end, ceiling.0)], fill.mix(0.28).filled());
            let head = Rectangle::new([(start, ceiling.0), (end, ceiling.1)], fill.filled());
            c.draw_series([tint, head]).map_err(failed)?;
        }
        let most = SHAPES / ranks.len().max(1);
        for (i, (_, accesses)) in ranks.iter().enumerate() {
            let fill = of_rank(i, ranks.len(), 0).filled();
            let each = accesses.len().div_ceil(most.max(1)).max(1);
            let shapes = accesses.iter().step_by(each).map(|a: &SketchedAccess| {
                let (t0, o0) = (a.start_s - shift, a.start_offset as f64);
                let (t1, o1) = ((a.end_s - shift).max(t0 + smallest.0), (a.end_offset as f64).max(o0 + smallest.1));
                Rectangle::new([(t0, o0), (t1.min(x.range.1), o1)], fill)
            });
            c.draw_series(shapes).map_err(failed)?;
        }
        let style = ("sans-serif", 19).into_font().color(&color::INK);
        for g in bands {
            let room = (g.end_s - g.start_s) / (x.range.1 - x.range.0) * PLOT.0;
            let text = [name_of(g), g.sequentiality.name().to_owned(), g.mix.name().to_owned()];
            let Some(text) = text.into_iter().find(|t| t.len() as f64 * LETTER <= room) else { continue };
            let half = text.len() as f64 * LETTER / 2.0 / PLOT.0 * (x.range.1 - x.range.0);
            let place = ((g.start_s + g.end_s) / 2.0 - shift - half, ceiling.1 - 0.022 * reach);
            c.draw_series([Text::new(text, place, style.clone())]).map_err(failed)?;
        }
        Ok(())
    })
}

/// Every rank if they are few, else some of them, evenly.
fn chosen(ranks: &[(u32, Vec<SketchedAccess>)]) -> Vec<&(u32, Vec<SketchedAccess>)> {
    let n = ranks.len();
    let drawn = n.min(DRAWN_RANKS);
    (0..drawn).map(|i| &ranks[if drawn < 2 { 0 } else { i * (n - 1) / (drawn - 1) }]).collect()
}

/// Ranks and classes.
fn legend(ranks: &[&(u32, Vec<SketchedAccess>)], bands: &[GlobalClass]) -> Vec<(Key, String)> {
    let shown: Vec<usize> =
        if ranks.len() <= RANKS { (0..ranks.len()).collect() } else { vec![0, ranks.len() / 2, ranks.len() - 1] };
    let rank = |&i: &usize| (Key::Fill(of_rank(i, ranks.len(), 0), 1.0), format!("rank {}", ranks[i].0));
    let mut out: Vec<(Key, String)> = shown.iter().map(rank).collect();
    for g in bands {
        let name = name_of(g);
        if out.iter().all(|(_, known)| *known != name) {
            out.push((Key::Fill(of_class(g), 1.0), name));
        }
    }
    out
}
