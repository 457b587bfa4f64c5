//! `iophase classify`: access classes and what to set because of them.

use std::io;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use regex::Regex;

use super::args::{Input, Talk};
use super::output::{self, Lines};
use super::{code, each_trace};
use crate::classify::{Options, classify};
use crate::formats::ReadOptions;
use crate::render::{classes, json, text};
use crate::signal::{RankSet, Selection};

/// Arguments of `classify`.
#[derive(Debug, Args)]
pub struct ClassifyArgs {
    /// Traces
    #[command(flatten)]
    pub input: Input,
    /// Keep only these ranks, e.g. 0-3,7
    #[arg(long, value_name = "LIST")]
    pub ranks: Option<RankSet>,
    /// Keep only files whose name matches
    #[arg(long, value_name = "REGEX")]
    pub files: Option<Regex>,
    /// Keep pipes, sockets, terminals, /proc, /sys, /dev, /etc and shared libraries, too
    #[arg(long)]
    pub all_files: bool,
    /// Start of the time window
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub from: Option<f64>,
    /// End of the time window
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub until: Option<f64>,
    /// Accesses that decide what follows when one does not fit
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(2..=1000))]
    pub window: u16,
    /// Stripe unit of the file system, e.g. 4MiB: smaller requests are small
    #[arg(long, value_name = "BYTES", default_value = "1MiB", value_parser = bytes)]
    pub stripe: u64,
    /// Write the classes as JSON, one object a line; `-` is standard output
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Messages
    #[command(flatten)]
    pub talk: Talk,
}

/// A size such as 4096, 64k, 1MiB or 4 MB.
fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || "a size in bytes such as 4096, 64KiB or 1MiB".to_owned();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "kb" => 1000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    let value = number.parse::<u64>().map_err(|_| wrong())?.checked_mul(factor).ok_or_else(wrong)?;
    if value == 0 { Err(wrong()) } else { Ok(value) }
}

/// Classifies every trace; gives the worst exit code.
pub fn run(a: &ClassifyArgs) -> u8 {
    let read = ReadOptions { layer: a.input.layer.into(), ..ReadOptions::default() };
    let selection = Selection {
        ranks: a.ranks.clone(),
        files: a.files.clone(),
        all_files: a.all_files,
        from_s: a.from,
        until_s: a.until,
    };
    let options = Options { window: a.window.into(), stripe: a.stripe };
    let mut lines = match a.json.as_deref().map(Lines::create).transpose() {
        Ok(l) => l,
        Err(e) => return code(Err(e)),
    };
    let json_only = lines.as_ref().is_some_and(Lines::is_stdout);
    let style = text::Style { color: output::wants_color(&io::stdout()), verbose: a.talk.verbose > 0 };
    let mut first = true;
    each_trace(&a.input, &a.talk, &read, |trace| {
        let found = classify(&trace, &selection, options)?;
        drop(trace);
        if let Some(l) = &mut lines {
            l.write(&json::line(&found)?)?;
        }
        if json_only {
            if a.talk.quiet < 2 {
                output::warnings(&found.path, &found.warnings);
            }
        } else if a.talk.quiet == 0 {
            let gap = if std::mem::take(&mut first) { "" } else { "\n" };
            output::print(&format!("{gap}{}", classes::classes(&found, style)))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes() {
        assert_eq!(["4096", "64k", "1MiB", "2 gb"].map(|t| bytes(t).unwrap()), [4096, 65536, 1 << 20, 2_000_000_000]);
        for bad in ["", "x", "0", "1.5M", "-3", "99999999999G"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
