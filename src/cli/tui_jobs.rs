//! What `predict --tui` watches: the jobs of a source, of which one is drawn.

use std::collections::BTreeMap;

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;

use iophase::internals::formats::tail::Message;
use iophase::internals::online::jobs::Jobs;
use iophase::internals::online::live::Live;
use iophase::internals::render::tui::{self, JobLine};
use iophase::online::{Options, Prediction};

/// The jobs, in the order of their names. At most so many as [`Jobs`] keeps.
pub(super) struct Watched {
    jobs: Jobs,
    lives: BTreeMap<String, Live>,
    /// The job that is drawn; the first that came, until another one is chosen.
    chosen: Option<String>,
    /// The keys and marks are explained over the picture.
    help: bool,
}

impl Watched {
    pub(super) fn new(options: Options, most: usize) -> Watched {
        Watched { jobs: Jobs::new(options, most), lives: BTreeMap::new(), chosen: None, help: false }
    }

    /// Takes a message, and predicts if that is due.
    pub(super) fn take(&mut self, message: &Message) {
        let evicted = self.jobs.evicted();
        let session = self.jobs.feed(message);
        let name = session.job().unwrap_or("").to_owned();
        let live = self.lives.entry(name.clone()).or_default();
        live.feed(&message.transfers);
        if session.due_in_passing() {
            let prediction = session.predict();
            live.note(&prediction, session.automaton());
        }
        self.chosen.get_or_insert(name);
        if self.jobs.evicted() != evicted {
            let kept: Vec<&str> = self.jobs.sessions().map(|s| s.job().unwrap_or("")).collect();
            self.lives.retain(|name, _| kept.contains(&name.as_str()));
            if self.chosen.as_ref().is_some_and(|c| !self.lives.contains_key(c)) {
                self.chosen = self.lives.keys().next().cloned();
            }
        }
    }

    /// The source has ended: a last prediction of every job that has news.
    pub(super) fn end(&mut self) {
        let last = self.jobs.predict_news();
        self.note(&last);
    }

    /// Nothing more has come for now: the predictions that were left out in passing.
    pub(super) fn catch_up(&mut self) {
        let due = self.jobs.predict_due();
        self.note(&due);
    }

    fn note(&mut self, predictions: &[Prediction]) {
        let automata = self.jobs.sessions().map(|s| (s.job().unwrap_or(""), s.automaton()));
        let automata: BTreeMap<&str, _> = automata.collect();
        for p in predictions {
            let name = p.job.as_deref().unwrap_or("");
            if let (Some(live), Some(automaton)) = (self.lives.get_mut(name), automata.get(name)) {
                live.note(p, automaton);
            }
        }
    }

    /// Chooses the next or the previous job, around the ends, or shows or hides the help; true if the key did.
    pub(super) fn key(&mut self, code: KeyCode) -> bool {
        let step = match code {
            KeyCode::Tab | KeyCode::Down | KeyCode::Right => 1,
            KeyCode::Char('?' | 'h') => {
                self.help = !self.help;
                return true;
            }
            KeyCode::BackTab | KeyCode::Up | KeyCode::Left => self.lives.len().saturating_sub(1),
            _ => return false,
        };
        if let Some(at) = self.position() {
            self.chosen = self.lives.keys().nth((at + step) % self.lives.len()).cloned();
        }
        true
    }

    /// Place of the chosen job in the list.
    fn position(&self) -> Option<usize> {
        let chosen = self.chosen.as_deref()?;
        self.lives.keys().position(|name| name == chosen)
    }

    /// Draws the chosen job, and beside it the list, if there are several.
    pub(super) fn draw(&self, frame: &mut Frame, color: bool) {
        let chosen = self.position().unwrap_or(0);
        let snapshot = self.lives.values().nth(chosen).map_or_else(|| Live::new().snapshot(), Live::snapshot);
        let lines: Vec<JobLine> =
            self.lives.iter().map(|(name, live)| JobLine { name, prediction: live.prediction() }).collect();
        tui::draw_jobs(frame, &lines, chosen, &snapshot, color);
        if self.help {
            tui::draw_help(frame, color);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iophase::online::Every;
    use iophase::record::{Interval, Op};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn message(job: &str, start_s: f64) -> Message {
        let t = Interval { op: Op::Write, start: start_s, end: start_s + 0.5, bytes: 1e6, ..Interval::default() };
        Message { job: Some(job.into()), ranks: None, transfers: vec![t] }
    }

    fn watched(most: usize) -> Watched {
        Watched::new(Options::default().every(Every::Message), most)
    }

    fn drawn(w: &Watched) -> String {
        let mut terminal = Terminal::new(TestBackend::new(110, 32)).unwrap();
        terminal.draw(|frame| w.draw(frame, false)).unwrap();
        let cells = terminal.backend().buffer().content();
        cells.chunks(110).map(|row| row.iter().map(|c| c.symbol()).collect::<String>() + "\n").collect()
    }

    #[test]
    fn keys_choose_the_job_that_is_drawn() {
        let mut w = watched(9);
        for i in 0..8 {
            w.take(&message("ocean", 3.0 * f64::from(i)));
            w.take(&message("climate", 8.0 * f64::from(i)));
            w.take(&message("wind", 20.0 * f64::from(i)));
        }
        // the first that came is drawn; the list has all, in the order of their names
        let shows = |w: &Watched, job: &str, period: &str| {
            let frame = drawn(w);
            let head = format!("job {job} ");
            let right = frame.contains(&head) && frame.contains(&format!("period     {period}"));
            assert!(right && frame.contains(&format!("> {job}")), "{job}\n{frame}");
            assert!(["climate", "ocean", "wind", "8.000 s", "3.000 s", "20.00 s"].iter().all(|t| frame.contains(t)));
        };
        shows(&w, "ocean", "3.000 s");
        assert!(w.key(KeyCode::Tab));
        shows(&w, "wind", "20.00 s");
        assert!(w.key(KeyCode::Down));
        shows(&w, "climate", "8.000 s");
        assert!(w.key(KeyCode::Up) && !w.key(KeyCode::Char('x')));
        shows(&w, "wind", "20.00 s");
        assert!(w.key(KeyCode::BackTab));
        shows(&w, "ocean", "3.000 s");
        // another job before it in the list does not change what is drawn
        w.take(&message("aero", 0.0));
        shows(&w, "ocean", "3.000 s");
    }

    #[test]
    fn a_key_shows_and_hides_the_help() {
        let mut w = watched(2);
        w.take(&message("a", 0.0));
        let helps = |w: &Watched| drawn(w).contains("another job") && drawn(w).contains("the next burst");
        assert!(!helps(&w) && drawn(&w).contains("?: help"));
        assert!(w.key(KeyCode::Char('?')) && helps(&w));
        assert!(w.key(KeyCode::Char('h')) && !helps(&w));
    }

    #[test]
    fn one_job_has_no_list_and_a_job_that_goes_is_not_drawn() {
        let mut w = watched(2);
        assert!(drawn(&w).contains("nothing yet") && w.key(KeyCode::Tab));
        (0..5).for_each(|i| w.take(&message("a", 4.0 * f64::from(i))));
        assert!(!drawn(&w).contains("> a"));
        for job in ["b", "c"] {
            w.take(&message(job, 0.0));
        }
        w.end();
        let frame = drawn(&w);
        assert!(frame.contains("> b") && frame.contains("  c") && !frame.contains("job a"), "{frame}");
    }
}
