//! Offsets over time: how each rank walks through a file.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use plotters::style::RGBColor;

use super::draw::{Look, draw};
use super::rank::{FILES, legend, nth_file, of_rank, one_of_each_first, plain, speck};
use super::view::file_name;
use super::{Axis, Figure, Layer, Numbers, Panel, Shape, Timeline, blend, color};
use crate::analysis::{FileAccesses, PatternsOfTrace};
use crate::pattern::{Pattern, PatternReport, groups};
use crate::record::{Op, Request};
use crate::render::layout::ending;
use crate::render::pattern_text::walk;
use crate::render::units;

/// Groups of patterns that a caption names.
const WALKS: usize = 2;
/// Accesses drawn of a file, and at least of a pattern.
const SHAPES: usize = 12_000;
const LEAST: usize = 24;
/// Period marks that stay apart in a picture.
const MARKS: f64 = 80.0;
/// Stripes that stay apart in a picture.
const STRIPES: u64 = 32;
/// Accesses of which only the order is still known.
const EVEN: RGBColor = RGBColor(190, 190, 190);

/// A pattern with its report.
type Reported<'a> = (&'a PatternReport, &'a Pattern);

/// A figure of each of the files with the most bytes, coloured by rank, neighbouring patterns of a rank in two shades: the number and
/// name of the file, fit for a file name, and the SVG.
pub fn offsets(report: &PatternsOfTrace, look: &Look) -> Vec<(String, String)> {
    let mut files: HashMap<&str, Vec<Reported<'_>>> = HashMap::new();
    for reported in report.patterns.iter().zip(&report.found).filter(|(p, _)| !p.start_s.is_nan()) {
        files.entry(&reported.0.file).or_default().push(reported);
    }
    let bytes = |ps: &[Reported<'_>]| ps.iter().map(|p| u128::from(p.0.bytes)).sum::<u128>();
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|(name, ps)| (std::cmp::Reverse(bytes(ps)), *name));
    one_of_each_first(&mut files, |f| f.0);
    let (trace, all) = (file_name(&report.trace.path), files.len());
    let drawn = |(i, (name, ps)): (usize, &(&str, Vec<Reported<'_>>))| {
        let groups = groups(&ps.iter().map(|p| p.0).collect::<Vec<_>>(), |_| None);
        let mut walks: Vec<String> = groups.iter().take(WALKS).map(|(group, _)| walk(group)).collect();
        if groups.len() > WALKS {
            walks.push(units::counted((groups.len() - WALKS) as u64, "more group"));
        }
        let caption = format!("{trace}, {}: {}", nth_file(i, all), walks.join("; "));
        (format!("{}-{}", i + 1, plain(name)), draw(&Figure { caption, ..of_patterns(name, ps) }, look, "").svg)
    };
    files.iter().take(FILES).enumerate().map(drawn).collect()
}

fn of_patterns(name: &str, patterns: &[Reported<'_>]) -> Figure {
    let first = patterns.iter().map(|p| p.0.start_s).fold(f64::INFINITY, f64::min);
    let last = patterns.iter().map(|p| p.0.end_s).fold(f64::NEG_INFINITY, f64::max);
    let time = Timeline::of(first, last, 0.02);
    let ranks: Vec<u32> = patterns.iter().flat_map(|p| p.0.all_ranks()).collect::<BTreeSet<_>>().into_iter().collect();
    let mut layers = legend(&ranks);
    let most = patterns.iter().map(|p| p.0).max_by_key(|p| p.bytes);
    let regular = most.and_then(|p| Some((p.start_s, p.period?.period_s)));
    if let Some((start, every)) = regular.filter(|(start, every)| (1.0..=MARKS).contains(&((last - start) / every))) {
        let at =
            (0..).map(|i| start - time.shift + every * f64::from(i)).take_while(|t| *t <= last - time.shift).collect();
        layers.push(Layer::new(format!("every {}", units::seconds(every)), EVEN, Shape::Marks { at }));
    }
    if patterns.iter().any(|(_, p)| p.steps.forgotten() > 0) {
        let none = Shape::Boxes { boxes: Vec::new(), labels: Vec::new() };
        layers.push(Layer::new("long ago: times spread evenly", EVEN, none));
    }
    let most = (SHAPES / patterns.len()).max(LEAST);
    let smallest = speck(patterns.iter().map(|(_, p)| p.records.min(most as u64) as usize).sum());
    let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
    for (reported, pattern) in patterns {
        let number = seen.entry(reported.rank).or_default();
        let delay = reported.start_s - pattern.start - time.shift;
        let mut colours: BTreeMap<(u8, u8, u8), Vec<[f64; 4]>> = BTreeMap::new();
        for (times, places, access) in shapes(pattern, most) {
            let rank = ranks.binary_search(&pattern.rank_of(access)).unwrap_or(0);
            let c = of_rank(rank, ranks.len(), *number);
            let c = if access < pattern.steps.forgotten() { blend(c, EVEN, 0.7) } else { c };
            let boxes = colours.entry((c.0, c.1, c.2)).or_default();
            boxes.push([times.0 + delay, places.0, times.1 + delay, places.1]);
        }
        *number += 1;
        let layer = |((r, g, b), boxes)| Layer::new("", RGBColor(r, g, b), Shape::Boxes { boxes, labels: Vec::new() });
        layers.extend(colours.into_iter().map(layer).map(|l| l.wide(smallest)));
    }
    let top = patterns.iter().map(|p| p.0.end_offset).max().unwrap_or(1);
    let title = format!("{}: {}", ending(name, 70), units::counted(patterns.len() as u64, "pattern"));
    Figure { title, panels: vec![Panel::new(time.axis(), offset_axis(0.0, top as f64), layers)], ..Figure::default() }
}

/// The axis of the places in a file.
pub fn offset_axis(low: f64, high: f64) -> Axis {
    Axis::new((low, low + 1.06 * (high - low).max(1.0)), "Offset", "B", Numbers::Prefixed)
}

/// Times, offsets and number of an access.
type Access = ((f64, f64), (f64, f64), u64);

/// At most about `most` accesses of a pattern, evenly chosen; accesses of a step are spread over it, and those of steps that were
/// forgotten from its start to the first step that is known.
fn shapes(p: &Pattern, most: usize) -> Vec<Access> {
    let place = p.places();
    let stride = p.records.max(1).div_ceil(most as u64).max(1);
    let (forgotten, known) = (p.steps.forgotten(), p.steps.list());
    let since = known.first().map_or(p.start, |s| s.start);
    let begun = (forgotten > 0).then_some((p.start, since, forgotten));
    let stretches = begun.into_iter().chain(known.iter().map(|s| (s.start, s.end, s.records)));
    let mut out = Vec::new();
    let mut first = 0;
    for (from, to, records) in stretches {
        let each = (to - from) / records.max(1) as f64;
        let mut i = (stride - first % stride) % stride;
        while i < records {
            let access = p.in_time(first + i);
            let (offset, size) = place(access);
            let start = from + i as f64 * each;
            out.push(((start, start + each), (offset as f64, offset as f64 + size as f64), access));
            i += stride;
        }
        first += records;
    }
    out
}

/// Reads and writes of a file, at most about `keep` of them, over lines at its stripes of `stripe` bytes.
pub fn of_accesses(f: &FileAccesses, time: &Timeline, keep: usize, stripe: Option<u64>) -> Option<Figure> {
    let top = f.shown.iter().map(|r| r.offset.saturating_add(r.size)).max()?.max(1);
    let step = f.shown.len().div_ceil(keep.max(1)).max(1);
    let shown: Vec<&Request> = f.shown.iter().step_by(step).collect();
    let mut layers: Vec<Layer> = stripe.and_then(|unit| stripes(unit, top)).into_iter().collect();
    for (op, name, color) in [(Op::Write, "write", color::SIGNAL), (Op::Read, "read", color::DOMINANT)] {
        let of_op = || shown.iter().filter(|r| r.op == op);
        let box_of = |r: &&Request| {
            let (from, to) = time.later((r.start, r.end));
            [from, r.offset as f64, to, r.offset.saturating_add(r.size) as f64].map(|x| (x * 1e6).round() / 1e6)
        };
        let labels: Vec<String> = of_op().map(|r| format!("{name} by rank {}", r.rank)).collect();
        let boxes = of_op().map(box_of).collect();
        let layer = |labels| Layer::new(name, color, Shape::Boxes { boxes, labels }).wide(0.6 * speck(shown.len()));
        layers.extend((!labels.is_empty()).then_some(labels).map(layer));
    }
    let accesses = units::counted(f.all, "access");
    let some = if (shown.len() as u64) < f.all { format!("{} of {accesses}", shown.len()) } else { accesses };
    let several = if f.files > 1 { format!(" ({} files)", units::grouped(f.files)) } else { String::new() };
    Some(Figure {
        title: format!("{}{several}: {some}", ending(&f.file, 70)),
        panels: vec![Panel::new(time.axis(), offset_axis(0.0, top as f64), layers).height(220.0)],
        ..Figure::default()
    })
}

/// Lines at the stripes of a file; of many every second, fourth, ...
fn stripes(unit: u64, top: u64) -> Option<Layer> {
    let mut every = 1u64;
    while top / unit.max(1) / every > STRIPES {
        every *= 2;
    }
    let size = units::bytes(unit as f64);
    let name = if every == 1 { format!("stripes of {size}") } else { format!("every {every} stripes of {size}") };
    let at = (1..=top / unit.max(1) / every).map(|i| (i * every) as f64 * unit as f64).collect();
    (unit > 0 && unit <= top).then(|| Layer::new(name, color::SOFT, Shape::Levels { at }).wide(1.0).dashed())
}
