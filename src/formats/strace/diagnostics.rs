//! Warnings about the files of a job.

use super::part::Part;
use super::requests::RowMaker;
use super::stream::Stats;
use crate::record::{Clock, Untimed, Warning};

/// Sums over the files of a job, and what a person should know about them.
#[derive(Default)]
pub(super) struct Diagnostics {
    pub(super) calls: u64,
    pub(super) unparsed: u64,
    pub(super) never_resumed: u64,
    pub(super) orphan_resumed: u64,
    pub(super) timed: bool,
    pub(super) epoch: bool,
    pub(super) clock: Clock,
    pub(super) mixed: bool,
    pub(super) damaged: bool,
    pub(super) warnings: Vec<Warning>,
    /// Interfaces that move bytes without a call that takes as long.
    pub(super) untimed: Vec<Untimed>,
}

impl Diagnostics {
    pub(super) fn of(parts: &[Part<RowMaker<'_>>]) -> Diagnostics {
        let sum = |f: fn(&Part<RowMaker<'_>>) -> u64| parts.iter().map(f).sum::<u64>();
        let any = |f: fn(&Stats) -> bool| parts.iter().any(|p| f(&p.stats));
        let (epoch, day, relative) = (any(|s| s.epoch), any(|s| s.time_of_day), any(|s| s.relative));
        let mut n = Diagnostics {
            calls: sum(|p| p.stats.calls),
            unparsed: sum(|p| p.stats.unparsed),
            never_resumed: sum(|p| p.stats.never_resumed),
            orphan_resumed: sum(|p| p.stats.orphan_resumed),
            timed: any(Stats::has_times),
            epoch,
            clock: Clock::of_stamps(epoch && !relative, day && !relative),
            mixed: [epoch, day, relative].into_iter().filter(|&k| k).count() > 1,
            ..Diagnostics::default()
        };
        n.damage(parts);
        n.losses(parts);
        n.times(parts, relative);
        n.asynchronous(parts);
        let (nameless, transfers) = (sum(|p| p.sink.nameless), sum(|p| p.sink.transfers));
        if nameless > 0 {
            n.warn(
                Warning::new(
                    "unknown-files",
                    format!("{nameless} of {transfers} transfers lack the name of their file"),
                )
                .remedy("record with -y"),
            );
        }
        let mapped = sum(|p| p.sink.mapped.map_or(0, |m| m.0));
        if let Some((p, (_, file))) = parts.iter().find_map(|p| Some((p, p.sink.mapped?))) {
            let name = p.sink.files.name(file);
            n.warn(Warning::new(
                "mmap-invisible",
                format!(
                    "data files are mapped into memory {mapped} times, the first: {name}; such I/O makes no system call"
                ),
            ));
            n.untimed.push(Untimed { module: "mmap".into(), bytes: None });
        }
        n
    }

    fn asynchronous(&mut self, parts: &[Part<RowMaker<'_>>]) {
        let sum = |f: fn(&RowMaker<'_>) -> u64| parts.iter().map(|p| f(&p.sink)).sum::<u64>();
        if let (n @ 1.., unprinted) = (sum(|s| s.submitted), sum(|s| s.unprinted)) {
            let rest = match unprinted {
                0 => String::new(),
                n => format!("; {n} of them are not printed and left out"),
            };
            let message = format!(
                "{n} requests are asynchronous: they stand where io_submit begins them, with the bytes that were asked for{rest}"
            );
            self.warn(Warning::new("asynchronous-requests", message));
            self.untimed.push(Untimed { module: "io_submit".into(), bytes: Some(sum(|s| s.submitted_bytes)) });
        }
        if parts.iter().any(|p| p.sink.ring.is_some()) {
            let requests = match sum(|s| s.ring.unwrap_or(0)) {
                0 => String::new(),
                n => format!(" {n} requests:"),
            };
            let message = format!("the program uses io_uring,{requests} strace does not show its transfers");
            self.warn(
                Warning::new("io-uring-invisible", message)
                    .remedy("let the program use another interface while it is recorded (fio: --ioengine=libaio)"),
            );
            self.untimed.push(Untimed { module: "io_uring".into(), bytes: None });
        }
    }

    fn warn(&mut self, w: Warning) {
        self.warnings.push(w);
    }

    fn damage(&mut self, parts: &[Part<RowMaker<'_>>]) {
        for p in parts {
            let what = match &p.tally.damage {
                Some(why) => format!("the input breaks off after line {}: {why}", p.tally.lines),
                None if p.tally.the_end_is_cut() => format!("the last line, {}, is cut", p.tally.lines),
                None => continue,
            };
            self.damaged = true;
            self.warn(Warning::new("damaged-tail", what).remedy("copy the trace again if the original is whole"));
        }
        let empty = parts.iter().filter(|p| p.stats.calls == 0).count();
        if empty > 0 {
            self.warn(Warning::new("empty-files", format!("{empty} of {} files hold no system call", parts.len())));
        }
    }

    fn losses(&mut self, parts: &[Part<RowMaker<'_>>]) {
        let cut = parts.iter().filter(|p| p.tally.the_end_is_cut()).count() as u64;
        if self.unparsed > cut {
            let first = parts.iter().find_map(|p| p.stats.first_unparsed).unwrap_or(0);
            self.warn(Warning::new(
                "unparsed-lines",
                format!("{} lines are none that strace writes, the first: line {first}", self.unparsed),
            ));
        }
        if self.never_resumed > 0 {
            let n = self.never_resumed;
            self.warn(Warning::new("unfinished-calls", format!("{n} calls began and never ended; they are left out")));
        }
        if self.orphan_resumed > 0 {
            let n = self.orphan_resumed;
            self.warn(
                Warning::new(
                    "resumed-without-start",
                    format!("{n} calls end whose beginning is missing; they are left out"),
                )
                .remedy("record the job from its start"),
            );
        }
    }

    fn times(&mut self, parts: &[Part<RowMaker<'_>>], relative: bool) {
        let timed: u64 = parts.iter().map(|p| p.stats.timed_calls).sum();
        if !self.timed {
            self.warn(
                Warning::new("no-times", "the calls have no times; only their order and sizes are known")
                    .remedy("record with -ttt -T"),
            );
        } else if timed == 0 && self.calls > 0 {
            self.warn(
                Warning::new("no-durations", "calls have no durations; each ends when it starts")
                    .remedy("record with -T"),
            );
        }
        if parts.iter().any(|p| p.stats.sequenced > 0 && !p.stats.fractions) {
            let message =
                "the calls have times of whole seconds: within a second they follow each other by their durations";
            self.warn(Warning::new("whole-seconds", message).remedy("record with -ttt"));
        }
        let back: u64 = parts.iter().map(|p| p.stats.clock_backwards).sum();
        if back > 0 {
            self.warn(Warning::new("clock-backwards", format!("the clock steps back {back} times")));
        }
        if let Some(line) = parts.iter().find_map(|p| p.stats.hour_step) {
            let message = format!(
                "the local clock goes forward or back by an hour, first in line {line}: the times after it are brought in line with those before"
            );
            self.warn(Warning::new("clock-hour-step", message).remedy("record with -ttt"));
        }
        let overlaps: u64 = parts.iter().map(|p| p.stats.overlaps).sum();
        if overlaps > 0 {
            let message = format!(
                "{overlaps} calls begin by -r before the call ahead of them in their thread has ended by its duration (-T): each is taken to begin at that end"
            );
            self.warn(Warning::new("overlapping-calls", message).remedy("record with -ttt instead of -r"));
        }
        if self.mixed {
            self.warn(
                Warning::new("mixed-clocks", "timestamps are of several kinds, which do not compare")
                    .remedy("record all ranks with -ttt"),
            );
        } else if relative && parts.len() > 1 {
            self.warn(
                Warning::new(
                    "no-common-clock",
                    "timestamps are relative to the first line of each file; ranks do not compare",
                )
                .remedy("record with -ttt"),
            );
        }
    }
}
