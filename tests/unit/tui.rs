//! The terminal view: what a frame shows.

use std::path::Path;

use iophase::internals::online::live::{Live, Snapshot};
use iophase::internals::render::tui;
use iophase::online::{Options, Session};
use iophase::record::{Interval, Op};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::style::Color;

/// Bursts every 5 s, then every 8 s.
fn followed() -> Snapshot {
    let (mut session, mut live) = (Session::new(Some("climate".into()), Options::default()), Live::new());
    let starts = (0..12).map(|i| 5.0 * f64::from(i)).chain((0..6).map(|i| 63.0 + 8.0 * f64::from(i)));
    for start_s in starts {
        let events =
            [Interval { op: Op::Write, start: start_s, end: start_s + 1.0, bytes: 4e9, ..Interval::default() }];
        session.feed(&events);
        live.feed(&events);
        let prediction = session.predict();
        live.note(&prediction, session.automaton());
    }
    live.snapshot()
}

fn drawn(snapshot: &Snapshot, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| tui::draw(frame, snapshot, false)).unwrap();
    let cells = terminal.backend().buffer().content();
    cells
        .chunks(usize::from(width))
        .map(|row| row.iter().map(|c| c.symbol()).collect::<String>().trim_end().to_owned() + "\n")
        .collect()
}

#[test]
fn a_frame_shows_signal_prediction_change_and_regimes() {
    let frame = drawn(&followed(), 100, 32);
    let shown = [
        "job climate",
        "bandwidth",
        "dominant cosine",
        "change",
        "period     8.000 s",
        "next       at 111.000 s",
        "bytes      3.73 GiB",
        "> B  8.000 s, 3.73 GiB, 1 visit",
        "  A  5.000 s, 3.73 GiB, 1 visit",
        "A -> B at",
    ];
    for part in shown {
        assert!(frame.contains(part), "`{part}` is not in\n{frame}");
    }
    // The curves are drawn in dots of Braille.
    assert!(frame.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count() > 200, "{frame}");
}

/// The frame as a picture for the documentation: `BLESS=1 cargo test --lib --features tui frame_as_a_picture` writes it anew.
#[test]
fn the_documentation_shows_the_frame_as_a_picture() {
    const CELL: (f64, f64) = (9.6, 20.0);
    let (width, height) = (100u16, 30u16);
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| tui::draw(frame, &followed(), true)).unwrap();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
         font-family=\"DejaVu Sans Mono, monospace\" font-size=\"16\" xml:space=\"preserve\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#15181c\"/>\n",
        w = f64::from(width) * CELL.0,
        h = f64::from(height) * CELL.1
    );
    let color = |c: &Cell| match c.fg {
        Color::Blue => "#5aa9e6",
        Color::Indexed(208) => "#ff8700",
        Color::Magenta => "#d98cc0",
        _ => "#e6e6e6",
    };
    for (row, cells) in terminal.backend().buffer().content().chunks(usize::from(width)).enumerate() {
        let (mut column, y) = (0, (row as f64 + 0.75) * CELL.1);
        for run in cells.chunk_by(|a, b| color(a) == color(b)) {
            let (x, length) = (column as f64 * CELL.0, run.len() as f64 * CELL.0);
            column += run.len();
            let text: String = run.iter().map(|c| c.symbol()).collect();
            if !text.trim().is_empty() {
                let text = text.replace('&', "&amp;").replace('<', "&lt;");
                let fill = color(&run[0]);
                svg +=
                    &format!("<text x=\"{x:.1}\" y=\"{y}\" textLength=\"{length:.1}\" fill=\"{fill}\">{text}</text>\n");
            }
        }
    }
    svg += "</svg>\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures/tui.svg");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &svg).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), svg, "BLESS=1 renews it");
}

#[test]
fn every_size_and_state_can_be_drawn() {
    for (width, height) in [(1, 1), (10, 3), (40, 12), (300, 90)].into_iter().step_by(super::every(3)) {
        drawn(&Live::new().snapshot(), width, height);
        drawn(&followed(), width, height);
        let (name, snapshot) = ("x".repeat(100), followed());
        let jobs = vec![tui::JobLine { name: &name, prediction: snapshot.prediction.as_ref() }; 500];
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| tui::draw_jobs(frame, &jobs, 499, &snapshot, true)).unwrap();
    }
}

#[test]
fn the_list_of_jobs_shows_the_chosen_one() {
    let snapshot = followed();
    let names: Vec<String> = (0..100).map(|i| format!("job{i:02}")).collect();
    let jobs: Vec<_> =
        names.iter().map(|name| tui::JobLine { name, prediction: snapshot.prediction.as_ref() }).collect();
    for chosen in [0, 50, 99] {
        let mut terminal = Terminal::new(TestBackend::new(120, 30)).unwrap();
        terminal.draw(|frame| tui::draw_jobs(frame, &jobs, chosen, &snapshot, false)).unwrap();
        let frame = format!("{}", terminal.backend());
        let line =
            frame.lines().find(|l| l.contains(&format!("> job{chosen:02}"))).unwrap_or_else(|| panic!("{frame}"));
        assert!(line.contains("8.000 s") && line.contains('%'), "{line}");
        assert_eq!(frame.matches("> job").count(), 1, "{frame}");
    }
}

#[test]
fn control_characters_in_names_are_not_drawn() {
    let snapshot = Snapshot { job: Some("\x1b[2Jx".into()), ..followed() };
    assert!(!drawn(&snapshot, 80, 24).contains('\x1b'));
}
