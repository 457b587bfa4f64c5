//! The view of `predict --tui`: the jobs of a source, of which one is drawn.

use std::collections::BTreeMap;

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;

use crate::Result;
use crate::online::Prediction;
use crate::online::follow::{Automaton, Sink};
use crate::online::live::Live;
use crate::record::Interval;
use crate::render::tui::{self, JobLine};

/// The jobs, in the order of their names.
#[derive(Default)]
pub(super) struct Watched {
    lives: BTreeMap<String, Live>,
    /// The job that is drawn; the first that came, until another one is chosen.
    chosen: Option<String>,
    /// The keys and marks are explained over the picture.
    help: bool,
}

impl Sink for Watched {
    fn feed(&mut self, job: &str, transfers: &[Interval]) {
        if !self.lives.contains_key(job) {
            self.lives.insert(job.to_owned(), Live::new());
            self.chosen.get_or_insert_with(|| job.to_owned());
        }
        if let Some(live) = self.lives.get_mut(job) {
            live.feed(transfers);
        }
    }

    fn take(&mut self, prediction: Prediction, automaton: &Automaton) -> Result<()> {
        if let Some(live) = self.lives.get_mut(prediction.job.as_deref().unwrap_or("")) {
            live.note(&prediction, automaton);
        }
        Ok(())
    }

    fn keep_only(&mut self, jobs: &[&str]) {
        self.lives.retain(|name, _| jobs.contains(&name.as_str()));
        if self.chosen.as_ref().is_some_and(|c| !self.lives.contains_key(c)) {
            self.chosen = self.lives.keys().next().cloned();
        }
    }
}

impl Watched {
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
    use crate::formats::tail::Message;
    use crate::online::follow::{Follower, Next, Plan, Source};
    use crate::online::{Every, Options};
    use crate::record::Op;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use std::sync::atomic::AtomicBool;

    struct OneMessage(Option<Message>);

    impl Source for OneMessage {
        fn next(&mut self) -> Result<Next> {
            Ok(self.0.take().map_or(Next::End, Next::Message))
        }
    }

    /// Jobs that are followed and drawn.
    struct Followed(Follower, Watched);

    impl Followed {
        fn new(most_jobs: usize) -> Followed {
            let every = Some(Every::Message);
            let options = Options::default();
            Followed(
                Follower::new(Plan { options, every, most_jobs, idle_exit: None, keeps_state: false }),
                Watched::default(),
            )
        }

        fn take(&mut self, job: &str, start_s: f64) {
            let t = Interval { op: Op::Write, start: start_s, end: start_s + 0.5, bytes: 1e6, ..Interval::default() };
            let message = Message { job: Some(job.into()), ranks: None, transfers: vec![t] };
            self.0.run(&mut OneMessage(Some(message)), &mut self.1, &AtomicBool::new(false)).unwrap();
        }

        fn key(&mut self, code: KeyCode) -> bool {
            self.1.key(code)
        }
    }

    fn drawn(w: &Followed) -> String {
        let mut terminal = Terminal::new(TestBackend::new(110, 32)).unwrap();
        terminal.draw(|frame| w.1.draw(frame, false)).unwrap();
        let cells = terminal.backend().buffer().content();
        cells.chunks(110).map(|row| row.iter().map(|c| c.symbol()).collect::<String>() + "\n").collect()
    }

    #[test]
    fn keys_choose_the_job_that_is_drawn() {
        let mut w = Followed::new(9);
        for i in 0..8 {
            w.take("ocean", 3.0 * f64::from(i));
            w.take("climate", 8.0 * f64::from(i));
            w.take("wind", 20.0 * f64::from(i));
        }
        // the first that came is drawn; the list has all, in the order of their names
        let shows = |w: &Followed, job: &str, period: &str| {
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
        w.take("aero", 0.0);
        shows(&w, "ocean", "3.000 s");
    }

    #[test]
    fn a_key_shows_and_hides_the_help() {
        let mut w = Followed::new(2);
        w.take("a", 0.0);
        let helps = |w: &Followed| drawn(w).contains("another job") && drawn(w).contains("the next burst");
        assert!(!helps(&w) && drawn(&w).contains("?: help"));
        assert!(w.key(KeyCode::Char('?')) && helps(&w));
        assert!(w.key(KeyCode::Char('h')) && !helps(&w));
    }

    #[test]
    fn one_job_has_no_list_and_a_job_that_goes_is_not_drawn() {
        let mut w = Followed::new(2);
        assert!(drawn(&w).contains("nothing yet") && w.key(KeyCode::Tab));
        (0..5).for_each(|i| w.take("a", 4.0 * f64::from(i)));
        assert!(!drawn(&w).contains("> a"));
        for job in ["b", "c"] {
            w.take(job, 0.0);
        }
        let frame = drawn(&w);
        assert!(frame.contains("> b") && frame.contains("  c") && !frame.contains("job a"), "{frame}");
    }
}
