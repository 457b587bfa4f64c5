//! A followed job in a terminal: the recent bandwidth with its dominant cosine, changes and the next burst; below, the
//! prediction and the regimes. Of several jobs one is drawn so, beside a list of all.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Clear, Dataset, GraphType, Paragraph, Wrap};

use super::units;
use crate::online::Prediction;
use crate::online::live::Snapshot;

/// Colours of the parts; all the same without colour.
#[derive(Debug, Clone, Copy)]
struct Colors {
    signal: Style,
    cosine: Style,
    next: Style,
    change: Style,
}

impl Colors {
    fn new(color: bool) -> Colors {
        let of = |c: Color| if color { Style::new().fg(c) } else { Style::new() };
        Colors {
            signal: of(Color::Blue),
            cosine: of(ORANGE),
            next: of(Color::Magenta),
            change: Style::new().add_modifier(Modifier::BOLD),
        }
    }
}

/// Everybody can tell it from blue.
const ORANGE: Color = Color::Indexed(208);
/// Points of the cosine.
const CURVE: usize = 400;
/// Transitions that are listed.
const LISTED: usize = 6;
/// Columns of the list of jobs, and of a name in it.
const LIST: u16 = 46;
const NAME: usize = 18;

/// A job in the list.
#[derive(Debug, Clone, Copy)]
pub struct JobLine<'a> {
    /// Its name; may be empty.
    pub name: &'a str,
    /// The latest one.
    pub prediction: Option<&'a Prediction>,
}

/// Draws the job that is chosen of a list, `snapshot`, and the list beside it, if it has several.
pub fn draw_jobs(frame: &mut Frame, jobs: &[JobLine], chosen: usize, snapshot: &Snapshot, color: bool) {
    if jobs.len() < 2 {
        return draw(frame, snapshot, color);
    }
    let [list, rest] = Layout::horizontal([Constraint::Length(LIST), Constraint::Min(0)]).areas(frame.area());
    let rows = usize::from(list.height.saturating_sub(3));
    // the chosen one in the middle, as far as the ends of the list allow
    let from = chosen.saturating_sub(rows / 2).min(jobs.len().saturating_sub(rows));
    let head = format!("  {:<NAME$} {:>9} {:>5} {:>8}", "name", "period", "sure", "next in");
    let mut lines = vec![Line::raw(head)];
    lines.extend(jobs.iter().enumerate().skip(from).take(rows).map(|(i, job)| job_line(job, i == chosen)));
    let title = format!("{} jobs (Tab, arrows: choose)", jobs.len());
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), list);
    draw_in(frame, rest, snapshot, color);
}

fn job_line(job: &JobLine, chosen: bool) -> Line<'static> {
    let told = |f: &dyn Fn(&Prediction) -> Option<String>| job.prediction.and_then(f).unwrap_or_else(|| "-".into());
    let period = told(&|p| p.period_s.filter(|_| p.periodic).map(units::seconds));
    let sure = told(&|p| p.confidence.filter(|_| p.periodic).map(|c| format!("{:.0} %", 100.0 * c)));
    let next = told(&|p| p.next_start_s.map(|t| units::seconds((t - p.now_s).max(0.0))));
    let name: String = plain(if job.name.is_empty() { "(no name)" } else { job.name }).chars().take(NAME).collect();
    let mark = if chosen { '>' } else { ' ' };
    let text = format!("{mark} {name:<NAME$} {period:>9} {sure:>5} {next:>8}");
    if chosen { Line::styled(text, Modifier::BOLD) } else { Line::raw(text) }
}

/// Draws a snapshot over the whole frame. Text from the trace is shown without control characters.
pub fn draw(frame: &mut Frame, snapshot: &Snapshot, color: bool) {
    draw_in(frame, frame.area(), snapshot, color);
}

fn draw_in(frame: &mut Frame, area: Rect, snapshot: &Snapshot, color: bool) {
    let colors = Colors::new(color);
    let [head, chart, below] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(8), Constraint::Length(10)]).areas(area);
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(below);
    frame.render_widget(Paragraph::new(head_line(snapshot)), head);
    draw_chart(frame, chart, snapshot, colors);
    let figures = snapshot.prediction.as_ref().map_or_else(|| vec![Line::raw("nothing yet")], figures);
    for (lines, title, area) in [(figures, "next burst", left), (regimes(snapshot), "regimes", right)] {
        let block = Block::bordered().title(title);
        frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }).block(block), area);
    }
}

/// Explains keys and marks, over what is drawn.
pub fn draw_help(frame: &mut Frame, color: bool) {
    let c = Colors::new(color);
    let lines = [
        ("Tab, arrows", "choose another job", Style::new()),
        ("? or h", "show or hide this help", Style::new()),
        ("q, Esc, Ctrl-C", "quit", Style::new()),
        ("", "", Style::new()),
        ("⣿ bandwidth", "of the job", c.signal),
        ("• cosine", "of the period found, since the last change", c.cosine),
        ("█ next", "the next burst, as high as its bandwidth", c.next),
        ("▄ change", "of the period: a new regime begins", c.change),
    ];
    let lines: Vec<Line> =
        lines.iter().map(|(key, what, style)| Line::styled(format!("{key:<15}{what}"), *style)).collect();
    let [_, row, _] =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(lines.len() as u16 + 2), Constraint::Fill(1)])
            .areas(frame.area());
    let [_, area, _] = Layout::horizontal([Constraint::Fill(1), Constraint::Max(62), Constraint::Fill(1)]).areas(row);
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines.to_vec()).block(Block::bordered().title("help")), area);
}

/// Names come from outside.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

fn head_line(s: &Snapshot) -> Line<'static> {
    let job = s.job.as_deref().map_or(String::new(), |j| format!("  job {}", plain(j)));
    let at =
        s.prediction.as_ref().map_or(String::new(), |p| format!("  at {:.3} s, prediction {}", p.now_s, p.sequence));
    Line::from(vec![
        Span::styled("iophase", Modifier::BOLD),
        Span::raw(job),
        Span::raw(at),
        Span::raw("  ?: help  q: quit"),
    ])
}

fn draw_chart(frame: &mut Frame, area: Rect, s: &Snapshot, colors: Colors) {
    let rates = &s.signal.bytes_per_s;
    let start = s.signal.start_s.unwrap_or(0.0);
    let end = start + s.signal.bin_s * rates.len() as f64;
    let predicted = s.prediction.as_ref().and_then(|p| p.next_start_s.zip(p.next_end_s)).filter(|n| n.0 >= start);
    let right = predicted.map_or(end, |n| n.1.max(end)).max(start + f64::MIN_POSITIVE);
    let top = rates.iter().copied().fold(0.0, f64::max).max(1.0);
    // Times from the left edge: the axis of a chart has no more digits than it has columns.
    let steps: Vec<(f64, f64)> = rates
        .iter()
        .enumerate()
        .flat_map(|(i, &r)| [(i as f64 * s.signal.bin_s, r), ((i + 1) as f64 * s.signal.bin_s, r)])
        .collect();
    let curve: Vec<(f64, f64)> = s.cosine.as_ref().map_or_else(Vec::new, |c| {
        let wave = |t: f64| {
            let phase = std::f64::consts::TAU * c.frequency_hz * t + c.phase_rad;
            (t, c.mean_bytes_per_s + c.amplitude_bytes_per_s * phase.cos())
        };
        // The period holds since the last change.
        let since = s.changes_s.last().map_or(0.0, |t| (t - start).max(0.0).min(right - start));
        (0..=CURVE).map(|i| wave(since + (right - start - since) * i as f64 / CURVE as f64)).collect()
    });
    let burst: Vec<(f64, f64)> = predicted.map_or_else(Vec::new, |(a, b)| {
        let bytes = s.prediction.as_ref().and_then(|p| p.bytes).unwrap_or(0.0);
        let height = if b > a { (bytes / (b - a)).min(top) } else { top };
        vec![(a - start, 0.0), (a - start, height), (b - start, height), (b - start, 0.0)]
    });
    let changes: Vec<Vec<(f64, f64)>> = s
        .changes_s
        .iter()
        .filter(|t| (start..=right).contains(t))
        .map(|t| vec![(t - start, 0.0), (t - start, top)])
        .collect();
    // The names stand in the frame, because a legend would cover the data. Each curve has a marker of its own, for those who do
    // not see the colours.
    let (mut sets, mut title) = (Vec::new(), Vec::new());
    let mut add = |points, (marker, sign, name): (Marker, &str, &str), style| {
        sets.push(Dataset::default().marker(marker).graph_type(GraphType::Line).style(style).data(points));
        if !name.is_empty() {
            title.push(Span::styled(format!(" {sign} {name} "), style));
        }
    };
    add(&steps, (Marker::Braille, "⣿", "bandwidth"), colors.signal);
    if !curve.is_empty() {
        add(&curve, (Marker::Dot, "•", "dominant cosine"), colors.cosine);
    }
    if !burst.is_empty() {
        add(&burst, (Marker::Block, "█", "next burst"), colors.next);
    }
    for (i, c) in changes.iter().enumerate() {
        add(c, (Marker::Bar, "▄", if i == 0 { "change" } else { "" }), colors.change);
    }
    let ticks = [0.0, 0.5, 1.0].map(|x| format!("{:.1} s", start + x * (right - start)));
    let heights = [0.0, 0.5, 1.0].map(|y| if y == 0.0 { "0".into() } else { units::rate(y * top) });
    let chart = Chart::new(sets)
        .block(Block::bordered().title(Line::from(title)))
        .x_axis(Axis::default().bounds([0.0, right - start]).labels(ticks))
        .y_axis(Axis::default().bounds([0.0, top]).labels(heights));
    frame.render_widget(chart, area);
}

fn figures(p: &Prediction) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut say = |name: &str, text: String| lines.push(Line::raw(format!("{name:<11}{text}")));
    let pm = |x: Option<f64>| x.map_or(String::new(), |s| format!(" ± {}", units::seconds(s)));
    if let Some(t) = p.period_s.filter(|_| p.periodic) {
        say("period", format!("{}{}", units::seconds(t), pm(p.period_std_s)));
    } else {
        say("period", "none holds now".into());
    }
    if let Some(c) = p.confidence {
        say("confidence", format!("{:.0} %", 100.0 * c));
    }
    if let Some(t) = p.next_start_s {
        say("next", format!("at {t:.3} s"));
        say("", format!("in {}{}", units::seconds((t - p.now_s).max(0.0)), pm(p.next_start_std_s)));
    }
    if let Some(b) = p.bytes {
        say("bytes", units::bytes(b));
    }
    if let Some(t) = p.idle_s {
        say("idle", units::seconds(t));
    }
    if let Some(w) = p.warnings.first() {
        say("warning", plain(&w.message));
    }
    lines
}

fn regimes(s: &Snapshot) -> Vec<Line<'static>> {
    let a = &s.automaton;
    let current = a.current();
    let mut lines: Vec<Line> = a
        .states()
        .iter()
        .rev()
        .take(LISTED.saturating_sub(2))
        .map(|state| {
            let mark = if current == Some(state.name.as_str()) { '>' } else { ' ' };
            let r = &state.regime;
            let text = format!(
                "{mark} {:<3}{}, {}, {}",
                state.name,
                units::seconds(r.period_s),
                units::bytes(r.burst_bytes),
                units::counted(state.visits, "visit")
            );
            if mark == '>' { Line::styled(text, Modifier::BOLD) } else { Line::raw(text) }
        })
        .collect();
    if lines.is_empty() {
        return vec![Line::raw("none yet")];
    }
    let transitions: Vec<_> = a.transitions().collect();
    for t in transitions.iter().rev().take(LISTED - lines.len().min(LISTED - 1)) {
        let from = t.from.as_deref().map_or(String::new(), |f| format!("{f} "));
        lines.push(Line::raw(format!("  {from}-> {} at {:.3} s ({})", t.to, t.at_s, t.cause.name())));
    }
    lines
}
