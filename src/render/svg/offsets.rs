//! Offsets over time: how each rank walks through a file, coloured by rank, neighbouring patterns of a rank in two shades.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use plotters::prelude::*;

use super::frame::{Axis, Head, Key, Numbers, failed, headroom, picture, shortened};
use super::view::file_name;
use crate::analysis::PatternsOfTrace;
use crate::error::Result;
use crate::pattern::{Pattern, PatternReport, groups};
use crate::record::stem;
use crate::render::pattern_text::walk;
use crate::render::units;

/// Files that get a picture: those of most bytes, one of each series of names before a second one.
pub(super) const FILES: usize = 8;

/// Groups of patterns that a caption names.
const WALKS: usize = 2;

/// Accesses drawn of a file, and at least of a pattern.
const SHAPES: usize = 12_000;
const LEAST: usize = 24;

/// Pixels of the plot, to judge what fits.
pub(super) const PLOT: (f64, f64) = (1050.0, 380.0);
/// Least size of an access, as a share of the distance between as many that fill the plot evenly.
const SPECK: f64 = 0.12;

/// Ranks that have a colour and a legend entry of their own.
pub(super) const RANKS: usize = 6;

/// Period marks that can be reported apart.
const MARKS: f64 = 80.0;

/// Where a period begins.
const MARK: RGBColor = RGBColor(170, 170, 170);

/// Accesses of which only the order is still known.
const EVEN: RGBColor = RGBColor(190, 190, 190);

/// Colours that stay apart for most eyes (after Okabe and Ito).
const PALETTE: [RGBColor; RANKS] = [
    RGBColor(0, 90, 160),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(120, 90, 30),
    RGBColor(86, 180, 233),
];

/// A pattern with its report.
type Reported<'a> = (&'a PatternReport, &'a Pattern);

/// A picture of each of the files with the most bytes: its number and name, fit for a file name, and the SVG.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if drawing fails.
pub fn offsets(report: &PatternsOfTrace) -> Result<Vec<(String, String)>> {
    let mut files: HashMap<&str, Vec<Reported<'_>>> = HashMap::new();
    for reported in report.patterns.iter().zip(&report.found).filter(|(p, _)| !p.start_s.is_nan()) {
        files.entry(&reported.0.file).or_default().push(reported);
    }
    let bytes = |ps: &[Reported<'_>]| ps.iter().map(|p| u128::from(p.0.bytes)).sum::<u128>();
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|(name, ps)| (std::cmp::Reverse(bytes(ps)), *name));
    one_of_each_first(&mut files, |f| f.0);
    let (trace, all) = (file_name(&report.trace.path), files.len());
    let draw = |(i, (name, ps)): (usize, &(&str, Vec<Reported<'_>>))| {
        let groups = groups(&ps.iter().map(|p| p.0).collect::<Vec<_>>(), |_| None);
        let mut walks: Vec<String> = groups.iter().take(WALKS).map(|(group, _)| walk(group)).collect();
        if groups.len() > WALKS {
            walks.push(units::counted((groups.len() - WALKS) as u64, "more group"));
        }
        let caption = format!("{trace}, {}: {}", nth_file(i, all), walks.join("; "));
        Ok((format!("{}-{}", i + 1, plain(name)), of_file(name, caption, ps)?))
    };
    files.iter().take(FILES).enumerate().map(draw).collect()
}

/// `file 1 of 15 (8 drawn)`.
pub(super) fn nth_file(i: usize, all: usize) -> String {
    let drawn = if all > FILES { format!(" ({FILES} drawn)") } else { String::new() };
    format!("file {} of {}{drawn}", i + 1, units::grouped(all))
}

/// Moves the first file of each series (names that differ in digits only) before the others, so that a file unlike all
/// others is drawn rather than one more of a series.
pub(super) fn one_of_each_first<T>(files: &mut Vec<T>, name: impl Fn(&T) -> &str) {
    let mut seen = HashSet::new();
    let (first, more): (Vec<T>, Vec<T>) = files.drain(..).partition(|f| seen.insert(stem(name(f))));
    files.extend(first.into_iter().chain(more));
}

/// The last part of a path in letters that every file system takes.
pub(super) fn plain(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.chars().take(60).map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

fn of_file(name: &str, caption: String, patterns: &[Reported<'_>]) -> Result<String> {
    let fold = |f: fn(f64, f64) -> f64, start: f64, value: fn(&PatternReport) -> f64| {
        patterns.iter().map(|p| value(p.0)).fold(start, f)
    };
    let (first, last) = (fold(f64::min, f64::INFINITY, |p| p.start_s), fold(f64::max, f64::NEG_INFINITY, |p| p.end_s));
    let span = (last - first).max(1e-6);
    // A clock far from zero is shown from the first access on.
    let shift = if first.abs() > 10.0 * span.max(100.0) { first } else { 0.0 };
    let label = if shift == 0.0 { "Time" } else { "Time since the first request" };
    let margin = 0.02 * span;
    let x = Axis { range: (first - shift - margin, last - shift + margin), label, unit: "s", numbers: Numbers::Time };
    let top = patterns.iter().map(|p| p.0.end_offset).max().unwrap_or(1) as f64;
    let y = Axis { range: (0.0, headroom(top)), label: "Offset", unit: "B", numbers: Numbers::Prefixed };
    let ranks: Vec<u32> = patterns.iter().flat_map(|p| p.0.all_ranks()).collect::<BTreeSet<_>>().into_iter().collect();
    let period = patterns.iter().map(|p| p.0).max_by_key(|p| p.bytes);
    let mut legend: Vec<(Key, String)> = if ranks.len() <= RANKS {
        ranks
            .iter()
            .enumerate()
            .map(|(i, r)| (Key::Fill(of_rank(i, ranks.len(), 0), 1.0), format!("rank {r}")))
            .collect()
    } else {
        let ends = [0, ranks.len() / 2, ranks.len() - 1];
        ends.iter().map(|&i| (Key::Fill(of_rank(i, ranks.len(), 0), 1.0), format!("rank {}", ranks[i]))).collect()
    };
    let marks = period.and_then(|p| {
        let period = p.period?;
        let count = (last - p.start_s) / period.period_s;
        (1.0..=MARKS).contains(&count).then_some((p.start_s - shift, period.period_s, count as usize))
    });
    if let Some((_, every, _)) = marks {
        legend.push((Key::Line(MARK, 3), format!("every {}", units::seconds(every))));
    }
    let rest = format!(": {}", units::counted(patterns.len() as u64, "pattern"));
    let title = format!("{}{rest}", shortened(name, &rest));
    if patterns.iter().any(|(_, p)| p.steps.forgotten() > 0) {
        legend.push((Key::Fill(EVEN, 1.0), "long ago: times spread evenly".to_owned()));
    }
    let most = (SHAPES / patterns.len()).max(LEAST);
    let drawn = patterns.iter().map(|(_, p)| p.records.min(most as u64) as usize).sum();
    let smallest = smallest(drawn, &x, &y);
    picture(&Head { title, caption, legend }, &x, &y, |c| {
        if let Some((start, every, count)) = marks {
            let lines = (0..=count).map(|i| start + every * i as f64);
            let line = |t| PathElement::new(vec![(t, 0.0), (t, y.range.1)], MARK.stroke_width(3));
            c.draw_series(lines.map(line)).map_err(failed)?;
        }
        let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
        for (reported, pattern) in patterns {
            let number = seen.entry(reported.rank).or_default();
            let shade = *number;
            *number += 1;
            let delay = reported.start_s - pattern.start - shift;
            let known = pattern.steps.forgotten();
            let shapes = shapes(pattern, most).into_iter().map(|s| {
                let rank = ranks.binary_search(&pattern.rank_of(s.2)).unwrap_or(0);
                let colour = of_rank(rank, ranks.len(), shade);
                let fill = if s.2 < known { blend(colour, EVEN, 0.7).filled() } else { colour.filled() };
                let (t0, o0) = (s.0.0 + delay, s.1.0);
                let (t1, o1) = ((s.0.1 + delay).max(t0 + smallest.0), s.1.1.max(o0 + smallest.1));
                Rectangle::new([(t0, o0), (t1.min(x.range.1), o1)], fill)
            });
            c.draw_series(shapes).map_err(failed)?;
        }
        Ok(())
    })
}

/// Least width and height of an access in the units of the axes: few short ones are drawn larger than they are, many as they are.
pub(super) fn smallest(accesses: usize, x: &Axis<'_>, y: &Axis<'_>) -> (f64, f64) {
    let each = PLOT.0 * PLOT.1 / accesses.max(1) as f64;
    let pixels = (SPECK * each.sqrt()).clamp(3.0, 9.0);
    ((x.range.1 - x.range.0) / PLOT.0 * pixels, (y.range.1 - y.range.0) / PLOT.1 * pixels)
}

/// The colour of a rank by its place among all; patterns of a rank alternate between two shades.
pub(super) fn of_rank(i: usize, ranks: usize, pattern: usize) -> RGBColor {
    let base = if ranks <= RANKS {
        PALETTE[i % RANKS]
    } else {
        // From blue over green to orange.
        let t = i as f64 / (ranks - 1).max(1) as f64;
        let (a, b, u) =
            if t < 0.5 { (PALETTE[0], PALETTE[2], 2.0 * t) } else { (PALETTE[2], PALETTE[1], 2.0 * t - 1.0) };
        blend(a, b, u)
    };
    if pattern.is_multiple_of(2) { base } else { blend(base, WHITE, 0.4) }
}

pub(super) fn blend(a: RGBColor, b: RGBColor, share: f64) -> RGBColor {
    let mix = |a: u8, b: u8| (f64::from(a) + share * (f64::from(b) - f64::from(a))).round() as u8;
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// Times, offsets and number of an access.
type Shape = ((f64, f64), (f64, f64), u64);

/// At most about `most` accesses of a pattern, evenly chosen; accesses of a step are spread over it, and those of steps that were
/// forgotten from its start to the first step that is known.
fn shapes(p: &Pattern, most: usize) -> Vec<Shape> {
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
