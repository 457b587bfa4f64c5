//! Progress bars for work that takes longer than a second.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::formats::Progress;
use crate::render::visible::visible;

/// How long work goes without a bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar over `total` stored bytes and what readers report to; `None` if standard error is no terminal.
pub fn reading(name: &str, total: u64) -> Option<(ProgressBar, Progress)> {
    bar(total, name, "{msg} {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")
}

/// The same over `total` files.
pub fn files(total: u64) -> Option<(ProgressBar, Progress)> {
    bar(total, "", "{bar:30} {human_pos} of {human_len} files, {per_sec}, {eta} left")
}

fn bar(total: u64, name: &str, template: &str) -> Option<(ProgressBar, Progress)> {
    if !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(visible(name).into_owned());
    let started = Instant::now();
    let done = AtomicU64::new(0);
    let shown = bar.clone();
    let progress: Progress = Arc::new(move |n| {
        let sum = done.fetch_add(n, Ordering::Relaxed) + n;
        if started.elapsed() >= PATIENCE {
            if shown.is_hidden() {
                shown.set_draw_target(ProgressDrawTarget::stderr());
            }
            shown.set_position(sum);
        }
    });
    Some((bar, progress))
}
