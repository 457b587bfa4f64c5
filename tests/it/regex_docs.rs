//! The examples of `docs/regex.md`: every file in it is written, every command run, and its output is what the page shows.
//! `BLESS=1` renews the outputs of the page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Words of a command line; single quotes keep blanks.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.extend(Some(std::mem::take(&mut word)).filter(|w| !w.is_empty())),
            c => word.push(c),
        }
    }
    words.extend(Some(word).filter(|w| !w.is_empty()));
    words
}

/// Standard output, then what was said on standard error.
fn output(dir: &Path, command: &str) -> String {
    let words = words(command);
    assert_eq!(words[0], "iophase", "{command}");
    let out = Command::new(env!("CARGO_BIN_EXE_iophase")).args(&words[1..]).current_dir(dir).output().unwrap();
    let text = [out.stdout, out.stderr].map(|b| String::from_utf8(b).unwrap());
    text.concat()
}

#[test]
fn examples_give_what_the_page_shows() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/regex.md");
    let text = fs::read_to_string(&page).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (mut renewed, mut rest, mut commands) = (String::new(), text.as_str(), 0);
    while let Some(at) = rest.find("\n```") {
        let (before, block) = rest.split_at(at + 1);
        renewed += before;
        let end = block[3..].find("\n```").expect("a block ends") + 3 + 5;
        let (block, after) = block.split_at(end);
        let (head, body) = block.split_once('\n').unwrap();
        let body = &body[..body.len() - 4];
        rest = after;
        match head.trim_start_matches('`').split_once(' ') {
            Some((_, name)) => fs::write(dir.path().join(name), format!("{body}\n")).unwrap(),
            None => {
                let command = body.lines().next().and_then(|l| l.strip_prefix("$ ")).expect("a command");
                let shown = output(dir.path(), command);
                renewed += &format!("{head}\n$ {command}\n{}\n```\n", shown.trim_end());
                commands += 1;
                continue;
            }
        }
        renewed += block;
    }
    renewed += rest;
    assert!(commands >= 6);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&page, &renewed).unwrap();
        return;
    }
    for (line, (shown, made)) in text.lines().zip(renewed.lines()).enumerate() {
        assert_eq!(shown, made, "line {} of {}; BLESS=1 renews it", line + 1, page.display());
    }
    assert_eq!(text.lines().count(), renewed.lines().count());
}
