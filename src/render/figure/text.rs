//! How wide text is.

/// Advance widths of the letters from the blank to the tilde in thousandths of the size: those of DejaVu Sans, the widest of the usual
/// fonts, so that what fits in it fits in all of them.
const ADVANCES: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
];

/// Width of a text in pixels.
pub fn width(text: &str, size: f64) -> f64 {
    let advance = |c: char| match ADVANCES.get((c as usize).wrapping_sub(32)) {
        Some(a) => f64::from(*a),
        None if matches!(c, 'µ' | '\u{c0}'..='\u{24f}') => 640.0,
        None => 1000.0,
    };
    text.chars().map(advance).sum::<f64>() * size / 1000.0
}

/// The beginning of a text that fits into `room` pixels.
pub fn beginning(text: &str, room: f64, size: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut used = width("…", size);
    let fits = |c: &char| {
        used += width(c.encode_utf8(&mut [0; 4]), size);
        used <= room
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// A text in lines that fit into `room` pixels, broken after a semicolon where that is enough, else at blanks.
pub fn lines(text: &str, room: f64, size: f64) -> Vec<String> {
    let fits = |part: &str| width(part, size) <= room;
    let mut all: Vec<String> = Vec::new();
    let mut add = |part: &str| match all.last_mut().filter(|line| fits(&format!("{line} {part}"))) {
        Some(line) => line.extend([" ", part]),
        None => all.push(beginning(part, room, size)),
    };
    for part in text.split_inclusive(';').map(str::trim) {
        if fits(part) { add(part) } else { part.split_whitespace().for_each(&mut add) }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken_after_semicolons_or_at_blanks() {
        let text = "write bytes 112 MiB to 64 MiB; run 28.90 s to 43.33 s (p < 0.001)";
        assert_eq!(lines(text, 350.0, 15.0), [&text[..30], &text[31..]]);
        let narrow = lines(text, 150.0, 15.0);
        assert!(narrow.len() > 2 && narrow.iter().all(|line| width(line, 15.0) <= 150.0), "{narrow:?}");
        assert_eq!((narrow.join(" "), lines(text, 1000.0, 15.0)), (text.to_owned(), vec![text.to_owned()]));
    }

    #[test]
    fn long_texts_are_cut_where_they_end() {
        assert_eq!(beginning("/scratch/a.h5", 200.0, 20.0), "/scratch/a.h5");
        let short = beginning(&format!("/scratch/{}.h5", "x".repeat(200)), 300.0, 20.0);
        assert!(short.starts_with("/scratch/xx") && short.ends_with('…'), "{short}");
        assert!((270.0..=300.0).contains(&width(&short, 20.0)));
    }
}
