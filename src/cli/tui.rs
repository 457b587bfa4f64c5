//! `iophase predict --tui`: the terminal while a job is followed.

use std::io::{self, Read, Stdout, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event as Input, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::crossterm::{cursor, execute};

use super::output;
use super::predict::is_missing;
use super::tui_jobs::Watched;
use iophase::formats::ReadOptions;
use iophase::internals::formats::tail::{self, ClientClocks, Message, Tail};
use iophase::internals::online::source::{GrowingFile, GrowingFolder, Grown, Parcel, Pull, PullOptions, endpoint};
use iophase::online::Options;
use iophase::{Error, ErrorKind, Result};

/// Time between two frames.
const FRAME: Duration = Duration::from_millis(50);
/// Messages that wait to be shown; a source that is faster waits.
const WAITING: usize = 1024;
/// Bytes read at once.
const BLOCK: usize = 256 << 10;

/// What is watched.
pub(super) struct Watch {
    /// As `predict` takes it.
    pub(super) source: String,
    /// Format of a file or of standard input; `None`: by content.
    pub(super) format: Option<String>,
    /// How the source is read.
    pub(super) reading: ReadOptions,
    /// How the jobs are followed.
    pub(super) options: Options,
    /// Jobs at one time.
    pub(super) most_jobs: usize,
    /// Sockets may be on other machines.
    pub(super) allow_remote: bool,
    /// The end of the file is the end of the job.
    pub(super) once: bool,
    /// Between two looks at a file that has not grown.
    pub(super) poll: Duration,
    /// The source need not exist yet.
    pub(super) wait: bool,
}

/// Watches jobs until the user ends it.
///
/// # Errors
/// Of the source, and [`ErrorKind::Output`] without a terminal.
pub(super) fn run(watch: Watch) -> Result<()> {
    let mut screen = Screen::open()?;
    let mut watched = Watched::new(watch.options.clone(), watch.most_jobs);
    let (sender, receiver) = sync_channel(WAITING);
    // Not joined: a read of standard input may never end, but the process does.
    thread::spawn(move || {
        if let Err(e) = read(&watch, &sender) {
            let _ = sender.send(Err(e.in_file(watch.source)));
        }
    });
    let (mut ended, mut drawn) = (false, None::<Instant>);
    loop {
        let heard = if ended { Err(RecvTimeoutError::Timeout) } else { receiver.recv_timeout(FRAME) };
        match heard {
            Ok(message) => watched.take(&message?),
            // What has come stays on the screen.
            Err(RecvTimeoutError::Disconnected) => {
                ended = true;
                watched.end();
                drawn = None;
            }
            Err(RecvTimeoutError::Timeout) => watched.catch_up(),
        }
        if drawn.is_none_or(|t| t.elapsed() >= FRAME) {
            screen.draw(&watched)?;
            drawn = Some(Instant::now());
            if screen.ends(if ended { FRAME } else { Duration::ZERO }, &mut watched)? {
                return Ok(());
            }
        }
    }
}

/// Sends what comes, until the source ends or nobody listens.
fn read(watch: &Watch, sender: &SyncSender<Result<Message>>) -> Result<()> {
    if watch.source.contains("://") {
        let pull = Pull::bind(&endpoint(&watch.source, watch.allow_remote)?, &PullOptions::default())?;
        let mut clients = ClientClocks::default();
        loop {
            let Some(Parcel::Message(job, body)) = pull.receive(Duration::from_secs(1)) else { continue };
            let Ok(message) = tail::decode(&body, &mut clients) else { continue };
            if sender.send(Ok(Message { job: job.or(message.job), ..message })).is_err() {
                return Ok(());
            }
        }
    }
    // as for a file that has not grown
    while watch.wait && watch.source != "-" && is_missing(Path::new(&watch.source)) {
        thread::sleep(watch.poll);
    }
    if Path::new(&watch.source).is_dir() {
        return read_folder(watch, sender);
    }
    let mut tail = Tail::new(watch.format.as_deref(), &watch.reading.limits)?.with(&watch.reading);
    let mut file = if watch.source == "-" { None } else { Some(GrowingFile::open(Path::new(&watch.source))?) };
    let mut block = vec![0; BLOCK];
    loop {
        let grown = match &mut file {
            Some(file) => file.read(&mut block)?,
            None => match io::stdin().lock().read(&mut block) {
                Ok(0) => Grown::Nothing,
                Ok(n) => Grown::Bytes(n),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e.into()),
            },
        };
        let mut last = false;
        match grown {
            Grown::Bytes(n) => tail.push(block.get(..n).unwrap_or_default()),
            Grown::Anew => tail.restart(),
            Grown::Nothing if watch.once || file.is_none() => {
                tail.end();
                last = true;
            }
            // There is no event to wait for: network file systems do not report what another node writes.
            Grown::Nothing => thread::sleep(watch.poll),
        }
        while let Some(message) = tail.next_message()? {
            if sender.send(Ok(message)).is_err() {
                return Ok(());
            }
        }
        if last {
            return Ok(());
        }
    }
}

/// The same of a folder with one file per rank.
fn read_folder(watch: &Watch, sender: &SyncSender<Result<Message>>) -> Result<()> {
    let mut folder = GrowingFolder::new(Path::new(&watch.source), watch.format.as_deref(), &watch.reading, &[])?;
    loop {
        folder.poll()?;
        let mut grew = false;
        while let Some(message) = folder.next_message(watch.once)? {
            grew = true;
            if sender.send(Ok(message)).is_err() {
                return Ok(());
            }
        }
        if watch.once {
            return Ok(());
        }
        if !grew {
            // As for a file.
            thread::sleep(watch.poll);
        }
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
            return Err(Error::new(ErrorKind::Output, "standard output is no terminal").remedy("leave out --tui"));
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

    /// Waits at most so long for a key; true if the user wants to end. Another job or a new size is drawn at once.
    fn ends(&mut self, patience: Duration, watched: &mut Watched) -> Result<bool> {
        if !event::poll(patience).map_err(failed)? {
            return Ok(false);
        }
        match event::read().map_err(failed)? {
            // some terminals tell the release of a key, too
            Input::Key(k) if k.kind != KeyEventKind::Release && watched.key(k.code) => {
                self.draw(watched).map(|()| false)
            }
            Input::Key(k) => Ok(matches!(k.code, KeyCode::Char('q') | KeyCode::Esc)
                || (k.code == KeyCode::Char('c') && k.modifiers.contains(KeyModifiers::CONTROL))),
            Input::Resize(..) => self.draw(watched).map(|()| false),
            _ => Ok(false),
        }
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
