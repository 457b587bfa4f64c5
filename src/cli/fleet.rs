//! `iophase fleet`: runs the program `iophase-fleet`, which is built and installed on its own.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::{Error, ErrorKind, Result};

/// Runs `iophase-fleet` with these arguments and gives its exit code.
///
/// On Unix it replaces this process (`exec`), so that a signal to this process ends it as well.
///
/// # Errors
/// [`ErrorKind::Usage`] if the program is neither beside this one nor on the search path.
pub fn run(arguments: &[OsString]) -> Result<u8> {
    let program = beside().unwrap_or_else(|| name().into());
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::NotFound => Error::new(ErrorKind::Usage, "the program iophase-fleet is not installed")
            .expected("the program beside iophase or on the search path")
            .remedy("install it with `cargo install --locked --path fleet` in the source of iophase"),
        _ => Error::new(ErrorKind::Usage, format!("{} cannot be started: {e}", program.display())),
    };
    replace_or_wait(Command::new(&program).args(arguments)).map_err(failed)
}

#[cfg(unix)]
fn replace_or_wait(command: &mut Command) -> io::Result<u8> {
    Err(std::os::unix::process::CommandExt::exec(command))
}

#[cfg(not(unix))]
fn replace_or_wait(command: &mut Command) -> io::Result<u8> {
    let status = command.status()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

fn name() -> String {
    format!("iophase-fleet{}", std::env::consts::EXE_SUFFIX)
}

/// The program in the folder of this one.
fn beside() -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.with_file_name(name());
    path.is_file().then_some(path)
}
