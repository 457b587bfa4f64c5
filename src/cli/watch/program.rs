//! The command that is watched: started, sent the signals that come, and waited for.

use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgrp, getpid, kill_process, set_child_subreaper, waitid};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::flag;

use super::super::output;
use super::WatchArgs;
use crate::{Error, ErrorKind, Result};

/// Exit code for a command that is not found, as of shells.
const NOT_FOUND: u8 = 127;
/// Exit code for a command that cannot be run, as of shells.
const NOT_EXECUTABLE: u8 = 126;

/// Starts the command. Orphans among its descendants will be children of this process. `Err` is the exit code of a
/// command that cannot be started, which has been reported.
pub(super) fn start(a: &WatchArgs) -> std::result::Result<Child, u8> {
    let Some((program, arguments)) = a.command.split_first() else { return Err(NOT_FOUND) };
    // Without it, orphans are still counted if they were seen before their parent ended.
    let _ = set_child_subreaper(Some(getpid()));
    Command::new(program).args(arguments).spawn().map_err(|e| {
        let (code, remedy) = match e.kind() {
            io::ErrorKind::NotFound => (NOT_FOUND, "check the spelling, PATH, and the interpreter in its first line"),
            io::ErrorKind::PermissionDenied => (NOT_EXECUTABLE, "make it executable"),
            _ => {
                (NOT_EXECUTABLE, "check that it is a program of this machine, or a script with `#!` in its first line")
            }
        };
        let what = format!("the command cannot be started: {e}");
        output::error(&Error::new(ErrorKind::Io, what).in_file(program.to_string_lossy()).remedy(remedy));
        code
    })
}

/// The exit code that stands for how a command ended.
pub(super) fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|s| 128 + s)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}

/// True if a child has ended and not been waited for; `wait` waits for its end.
pub(super) fn has_ended(pid: u32, wait: bool) -> bool {
    let hang = if wait { WaitIdOptions::empty() } else { WaitIdOptions::NOHANG };
    loop {
        match waitid(id(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | hang) {
            Ok(status) => return status.is_some(),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Waits for an orphan that has ended.
pub(super) fn bury(pid: u32) {
    let _ = waitid(id(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
}

fn id(pid: u32) -> WaitId<'static> {
    let pid = i32::try_from(pid).ok().filter(|p| *p > 0).and_then(Pid::from_raw);
    pid.map_or(WaitId::Pid(getpid()), WaitId::Pid)
}

/// Signals that come, one flag for each.
pub(super) struct Signals {
    flags: Vec<(i32, Arc<AtomicBool>)>,
    over: Arc<AtomicBool>,
}

impl Signals {
    /// Catches the signals that end a program and, for a command, those that programs use among themselves.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn catch(for_command: bool) -> Result<Signals> {
        let over = Arc::new(AtomicBool::new(false));
        let mut flags = Vec::new();
        if for_command {
            // a parent that ignores its children would never hear how they ended, and whoever started this may have made it so
            flag::register(SIGCHLD, Arc::new(AtomicBool::new(false)))?;
        }
        let more: &[i32] = if for_command { &[SIGUSR1, SIGUSR2] } else { &[] };
        for &signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT].iter().chain(more) {
            let flag = Arc::new(AtomicBool::new(false));
            flag::register_conditional_default(signal, over.clone())?;
            flag::register(signal, flag.clone())?;
            flags.push((signal, flag));
        }
        Ok(Signals { flags, over })
    }

    /// From now on signals do what they do by default.
    pub(super) fn release(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// True if one has come.
    pub(super) fn any(&self) -> bool {
        self.flags.iter().any(|(_, flag)| flag.load(Ordering::Relaxed))
    }

    /// Passes those that have come on to a process.
    pub(super) fn pass_on(&self, pid: u32) {
        for (number, flag) in &self.flags {
            if !flag.swap(false, Ordering::Relaxed) {
                continue;
            }
            // the terminal has sent it to the command as well
            if [SIGINT, SIGQUIT].contains(number) && has_terminal() {
                continue;
            }
            if let (Ok(pid), Some(signal)) = (i32::try_from(pid), Signal::from_named_raw(*number))
                && let Some(pid) = Pid::from_raw(pid)
            {
                // It may have ended meanwhile.
                let _ = kill_process(pid, signal);
            }
        }
    }
}

/// True if the keys of the terminal go to this process and the command.
fn has_terminal() -> bool {
    File::open("/dev/tty").is_ok_and(|tty| rustix::termios::tcgetpgrp(&tty).is_ok_and(|group| group == getpgrp()))
}
