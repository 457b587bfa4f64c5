//! `iophase fleet`: the program of many logs is found beside this one or on the search path.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

#[test]
fn fleet_runs_its_program_or_says_how_to_install_it() {
    let folder = tempfile::tempdir().unwrap();
    let fleet = || {
        let mut c = Command::new(env!("CARGO_BIN_EXE_iophase"));
        c.args(["fleet", "--help", "-o", "a b"]).env("PATH", folder.path());
        c
    };
    let missing = fleet().output().unwrap();
    let text = String::from_utf8(missing.stderr).unwrap();
    assert_eq!(missing.status.code(), Some(2), "{text}");
    assert!(text.contains("iophase-fleet is not installed") && text.contains("cargo install"), "{text}");

    let program = folder.path().join("iophase-fleet");
    fs::write(&program, "#!/bin/sh\necho \"$$:$#:$1:$3\"\nexit 4\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let found = fleet().stdout(Stdio::piped()).spawn().unwrap();
    // the same process id: a signal to `iophase fleet` reaches it
    let id = found.id();
    let found = found.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(found.stdout).unwrap(), format!("{id}:3:--help:a b\n"));
    assert_eq!(found.status.code(), Some(4));
}
