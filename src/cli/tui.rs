//! `iophase predict --tui`: the terminal while a job is followed.

use std::io::{self, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event as Input, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::crossterm::{cursor, execute};

use super::output;
use super::predict::{PredictArgs, follow};
use super::tui_jobs::Watched;
use crate::online::Prediction;
use crate::online::follow::{Automaton, Sink};
use crate::record::Interval;
use crate::{Error, ErrorKind, Result};

/// Time between two frames.
const FRAME: Duration = Duration::from_millis(50);

/// Shows jobs until the user or a signal ends it. What has come stays on the screen at the end of the source.
///
/// # Errors
/// Of the source, and [`ErrorKind::Output`] without a terminal.
pub(super) fn run(a: &PredictArgs, stop: &AtomicBool) -> Result<()> {
    let shared = Shared(Mutex::default());
    thread::scope(|scope| {
        let mut screen = Screen::open()?;
        let mut follower = Some(scope.spawn(|| follow(a, &mut &shared, stop)));
        let mut show = || {
            loop {
                if follower.as_ref().is_some_and(|f| f.is_finished())
                    && let Some(Ok(outcome)) = follower.take().map(|f| f.join())
                {
                    outcome?;
                }
                screen.draw(&shared.watched())?;
                if screen.ends(&shared)? || stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
            }
        };
        let outcome = show();
        stop.store(true, Ordering::Relaxed);
        outcome
    })
}

/// The state that one thread follows and another one draws.
struct Shared(Mutex<Watched>);

impl Shared {
    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for &Shared {
    fn feed(&mut self, job: &str, transfers: &[Interval]) {
        self.watched().feed(job, transfers);
    }

    fn take(&mut self, prediction: Prediction, automaton: &Automaton) -> Result<()> {
        self.watched().take(prediction, automaton)
    }

    fn keep_only(&mut self, jobs: &[&str]) {
        self.watched().keep_only(jobs);
    }
}

/// The whole terminal. Given back when this goes.
struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    color: bool,
}

impl Screen {
    /// Takes the terminal.
    fn open() -> Result<Screen> {
        if !io::IsTerminal::is_terminal(&io::stdout()) {
            return Err(Error::new(ErrorKind::Output, "standard output is not a terminal").remedy("leave out --tui"));
        }
        let color = output::wants_color(&io::stdout());
        enable_raw_mode().map_err(failed)?;
        let opened = execute!(io::stdout(), EnterAlternateScreen, cursor::Hide)
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        match opened {
            Ok(terminal) => Ok(Screen { terminal, color }),
            Err(e) => {
                give_back();
                Err(failed(e))
            }
        }
    }

    /// Shows the state of the moment.
    fn draw(&mut self, watched: &Watched) -> Result<()> {
        let color = self.color;
        self.terminal.draw(|frame| watched.draw(frame, color)).map_err(failed)?;
        Ok(())
    }

    /// Waits for a key until the next frame; true if the user wants to end. Another job or a new size is drawn at once.
    fn ends(&mut self, shared: &Shared) -> Result<bool> {
        if !event::poll(FRAME).map_err(failed)? {
            return Ok(false);
        }
        Ok(match event::read().map_err(failed)? {
            // some terminals tell the release of a key, too
            Input::Key(k) if k.kind != KeyEventKind::Release && shared.watched().key(k.code) => false,
            Input::Key(k) => {
                matches!(k.code, KeyCode::Char('q') | KeyCode::Esc)
                    || (k.code == KeyCode::Char('c') && k.modifiers.contains(KeyModifiers::CONTROL))
            }
            _ => false,
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Errors are of no use here: the terminal may be gone.
fn give_back() {
    let _ = execute!(io::stdout(), LeaveAlternateScreen, cursor::Show);
    let _ = disable_raw_mode();
    let _ = io::stdout().flush();
}

fn failed(e: io::Error) -> Error {
    Error::new(ErrorKind::Output, e.to_string()).in_file("terminal")
}
