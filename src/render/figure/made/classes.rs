//! Byte ranges of every rank over time, with the global classes as bands (after figure 3 of Madhyastha & Reed 1997).

use plotters::style::RGBColor;

use super::draw::{Look, draw};
use super::offsets::offset_axis;
use super::rank::{FILES, legend, nth_file, of_rank, one_of_each_first, plain, speck};
use super::view::file_name;
use super::{Figure, Layer, Panel, Shape, Timeline, blend, color};
use crate::classify::{
    Axis as _, Classes, FileClasses, GlobalClass, GlobalSequentiality, LocalClass, Mix, Sketch, SketchedAccess,
};
use crate::render::layout::ending;
use crate::render::units;

/// Accesses drawn of a file.
const SHAPES: usize = 12_000;
/// Ranks drawn of a file.
const DRAWN_RANKS: usize = 64;
/// Bands drawn of a file.
const BANDS: usize = 400;

/// A figure of each of the files with the most bytes: its number and name, fit for a file name, and the SVG. `sketches` are those
/// of the files of `classes`, in the same order.
pub fn classes(classes: &Classes, sketches: &[Sketch], look: &Look) -> Vec<(String, String)> {
    let bytes = |f: &FileClasses| f.global.iter().map(|g| u128::from(g.bytes)).sum::<u128>();
    let mut files: Vec<(&FileClasses, &Sketch)> = classes.files.iter().zip(sketches).collect();
    files.sort_by_key(|(f, _)| std::cmp::Reverse(bytes(f)));
    one_of_each_first(&mut files, |f| f.0.file.as_deref().unwrap_or_default());
    let (trace, all) = (file_name(&classes.path), files.len());
    let drawn = |(i, (file, sketch)): (usize, (&FileClasses, &Sketch))| {
        let name = file.file.as_deref().unwrap_or("unnamed");
        let caption = format!("{trace}, {}", nth_file(i, all));
        (format!("{}-{}", i + 1, plain(name)), draw(&of_file(name, caption, file, sketch), look, "").svg)
    };
    files.into_iter().take(FILES).enumerate().map(drawn).collect()
}

/// Bands of one class keep their colour in every figure; those of reads are darker.
fn of_class(class: &GlobalClass) -> RGBColor {
    use GlobalSequentiality as G;
    let color = match class.sequentiality {
        G::GlobalSequential => RGBColor(255, 190, 60),
        G::PartitionedSequential => RGBColor(90, 190, 150),
        G::InterleavedSequential => RGBColor(110, 170, 230),
        G::GlobalStrided => RGBColor(225, 145, 100),
        G::PartitionedStrided => RGBColor(170, 190, 80),
        G::SingleRank => RGBColor(170, 170, 170),
        G::NonSequential => RGBColor(215, 140, 195),
    };
    if class.mix == Mix::ReadOnly { blend(color, color::INK, 0.3) } else { color }
}

/// A name, its colour and its times.
type Named = (String, RGBColor, Vec<(f64, f64)>);

/// Bands of the global classes: over all of the data, and in a row above.
fn bands<'a>(classes: impl Iterator<Item = &'a GlobalClass>, time: &Timeline) -> Vec<Layer> {
    let mut kinds: Vec<Named> = Vec::new();
    for g in classes.take(BANDS) {
        let name = format!("{}, {}", g.sequentiality.name(), g.mix.name());
        let span = time.later((g.start_s, g.end_s));
        match kinds.iter_mut().find(|k| k.0 == name) {
            Some(k) => k.2.push(span),
            None => kinds.push((name, of_class(g), vec![span])),
        }
    }
    let layers = |(name, color, spans): Named| {
        let span = |row, text| Shape::Spans { row, spans: spans.clone(), text };
        let above = Layer::new("", color, span(Some(0), name.clone()));
        [Layer::new(name, color, span(None, String::new())).mix(0.25), above]
    };
    kinds.into_iter().flat_map(layers).collect()
}

fn of_file(name: &str, mut caption: String, file: &FileClasses, sketch: &Sketch) -> Figure {
    let ranks = chosen(&sketch.ranks);
    let all = || sketch.ranks.iter().flat_map(|r| &r.1);
    let first = all().map(|a| a.start_s).fold(f64::INFINITY, f64::min);
    let last = all().map(|a| a.end_s).fold(f64::NEG_INFINITY, f64::max);
    let time = Timeline::of(first, last, 0.02);
    let low = all().map(|a| a.start_offset).min().unwrap_or(0) as f64;
    let high = all().map(|a| a.end_offset).max().unwrap_or(1) as f64;
    // a file is drawn from its beginning, unless what is accessed is far from it
    let low = if low > 2.0 * (high - low) { low } else { 0.0 };
    if file.global.len() > BANDS {
        caption += &format!(", the first {BANDS} of {} classes", file.global.len());
    }
    let accesses = units::counted(sketch.accesses, "access");
    let some = if ranks.len() < sketch.ranks.len() { format!(", {} drawn", ranks.len()) } else { String::new() };
    let aside = file.aside.as_ref().map_or(0, |a| a.accesses);
    let aside = if aside > 0 { format!(", {} set aside", units::grouped(aside)) } else { String::new() };
    let by = units::counted(sketch.ranks.len() as u64, "rank");
    let mut layers = bands(file.global.iter(), &time);
    let numbers: Vec<u32> = ranks.iter().map(|r| r.0).collect();
    layers.extend(legend(&numbers));
    let (most, smallest) = (SHAPES / ranks.len().max(1), speck(all().count().min(SHAPES)));
    for (i, (_, accesses)) in ranks.iter().enumerate() {
        let each = accesses.len().div_ceil(most.max(1)).max(1);
        let box_of = |a: &SketchedAccess| {
            let (from, to) = time.later((a.start_s, a.end_s));
            [from, a.start_offset as f64, to, a.end_offset as f64]
        };
        let shape = Shape::Boxes { boxes: accesses.iter().step_by(each).map(box_of).collect(), labels: Vec::new() };
        layers.push(Layer::new("", of_rank(i, ranks.len(), 0), shape).wide(smallest));
    }
    Figure {
        title: format!("{}: {accesses} by {by}{some}{aside}", ending(name, 60)),
        caption,
        panels: vec![Panel::new(time.axis(), offset_axis(low, high), layers)],
    }
}

/// Every rank if they are few, else some of them, evenly.
fn chosen(ranks: &[(u32, Vec<SketchedAccess>)]) -> Vec<&(u32, Vec<SketchedAccess>)> {
    let n = ranks.len();
    let drawn = n.min(DRAWN_RANKS);
    (0..drawn).map(|i| &ranks[if drawn < 2 { 0 } else { i * (n - 1) / (drawn - 1) }]).collect()
}

/// The ranges of the local classes of some files, at most about `keep` of them, and the bands of their global ones.
pub fn of_local(name: &str, files: &[&FileClasses], time: &Timeline, keep: usize) -> Option<Figure> {
    let all: Vec<&LocalClass> = files.iter().flat_map(|f| &f.local).collect();
    let top = all.iter().map(|l| l.end_offset).max().filter(|top| *top > 0)?;
    let shown: Vec<&LocalClass> = all.iter().copied().step_by(all.len().div_ceil(keep).max(1)).collect();
    let box_of = |l: &&LocalClass| {
        let (from, to) = time.later((l.start_s, l.end_s));
        [(from * 1e6).round() / 1e6, l.start_offset as f64, (to * 1e6).round() / 1e6, l.end_offset as f64]
    };
    let label = |l: &&LocalClass| format!("rank {}, {} {}", l.rank, l.sequentiality.name(), l.mix.name());
    let shape = Shape::Boxes { boxes: shown.iter().map(box_of).collect(), labels: shown.iter().map(label).collect() };
    let mut layers = bands(files.iter().flat_map(|f| &f.global), time);
    // ranges over each other stay apart: the more at once, the fainter each
    let ends =
        |f: fn(f64, f64) -> f64, of: fn(&LocalClass) -> f64| shown.iter().map(|l| of(l)).reduce(f).unwrap_or(0.0);
    let span = ends(f64::max, |l| l.end_s) - ends(f64::min, |l| l.start_s);
    let at_once = shown.iter().map(|l| l.end_s - l.start_s).sum::<f64>() / span.max(1e-9);
    layers.push(Layer::new("range of a rank", color::SIGNAL, shape).mix(0.35 / at_once.clamp(1.0, 20.0)));
    let classes = units::counted(files.iter().map(|f| f.global.len()).sum::<usize>() as u64, "class");
    Some(Figure {
        title: format!("{name}: {classes}, {}", units::counted(all.len() as u64, "range")),
        panels: vec![Panel::new(time.axis(), offset_axis(0.0, top as f64), layers).height(220.0)],
        ..Figure::default()
    })
}
