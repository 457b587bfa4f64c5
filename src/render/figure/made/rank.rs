//! Common parts of figures of the accesses to a file: colours of ranks, sizes of accesses, names of files.

use std::collections::HashSet;

use plotters::style::RGBColor;

use super::{Layer, Shape, blend, color};
use crate::record::stem;
use crate::render::units;

/// Files that get a figure: those of most bytes, one of each series of names before a second one.
pub const FILES: usize = 8;
/// Ranks that have a colour and a legend entry of their own.
const RANKS: usize = 6;
/// Pixels of the data, to judge what fits.
const PLOT: f64 = 1050.0 * 370.0;
/// Least size of an access, as a share of the distance between as many that fill the figure evenly.
const SPECK: f64 = 0.12;

/// Colours that stay apart for most eyes (after Okabe and Ito).
const PALETTE: [RGBColor; RANKS] =
    [color::SIGNAL, color::DOMINANT, color::VALID, color::NEXT, color::RANKS[0], color::RANKS[1]];

/// `file 1 of 15 (8 drawn)`.
pub fn nth_file(i: usize, all: usize) -> String {
    let drawn = if all > FILES { format!(" ({FILES} drawn)") } else { String::new() };
    format!("file {} of {}{drawn}", i + 1, units::grouped(all))
}

/// Moves the first file of each series (names that differ in digits only) before the others, so that a file unlike all
/// others is drawn rather than one more of a series.
pub fn one_of_each_first<T>(files: &mut Vec<T>, name: impl Fn(&T) -> &str) {
    let mut seen = HashSet::new();
    let (first, more): (Vec<T>, Vec<T>) = files.drain(..).partition(|f| seen.insert(stem(name(f))));
    files.extend(first.into_iter().chain(more));
}

/// The last part of a path in letters that every file system takes.
pub fn plain(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.chars().take(60).map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

/// Least width and height of an access in pixels: few short ones are drawn larger than they are, many as they are.
pub fn speck(accesses: usize) -> f64 {
    (SPECK * (PLOT / accesses.max(1) as f64).sqrt()).clamp(3.0, 9.0)
}

/// The colour of a rank by its place among all; patterns of a rank alternate between two shades.
pub fn of_rank(i: usize, ranks: usize, pattern: usize) -> RGBColor {
    let base = if ranks <= RANKS {
        PALETTE[i % RANKS]
    } else {
        // from blue over green to orange
        let t = i as f64 / (ranks - 1).max(1) as f64;
        let (a, b, u) =
            if t < 0.5 { (PALETTE[0], PALETTE[2], 2.0 * t) } else { (PALETTE[2], PALETTE[1], 2.0 * t - 1.0) };
        blend(a, b, u)
    };
    if pattern.is_multiple_of(2) { base } else { blend(base, color::PAPER, 0.4) }
}

/// Entries of the legend for ranks: all, or of many the first, the middle and the last.
pub fn legend(ranks: &[u32]) -> Vec<Layer> {
    let n = ranks.len();
    let shown: Vec<usize> = if n <= RANKS { (0..n).collect() } else { vec![0, n / 2, n - 1] };
    let none = || Shape::Boxes { boxes: Vec::new(), labels: Vec::new() };
    shown.into_iter().map(|i| Layer::new(format!("rank {}", ranks[i]), of_rank(i, n, 0), none())).collect()
}
