//! Thresholds that decide what the times of a trace mean. Bounds on memory stand where they are used, facts of a format too.
//!
//! Half, double: traces with other rows, times or warnings if the value is halved or doubled.
//! Measured on 229 traces by `scripts/sensitivity.py`. One trace there lies
//! near `gap_steps` and one near `counter_share`, none near another bound: those separate two meanings that are orders of magnitude apart.
//! Each has a test.

use crate::thresholds::thresholds;

thresholds! {
    /// Thresholds of the readers.
    "formats":

    /// Numbers of a strace line from here on are seconds since 1970 (the year 1973); below, process ids or relative times.
    /// Half: 0, double: 0.
    epoch_least_s: u64 = 100_000_000;
    /// Latest time of a strace line in seconds since 1970 (the year 2255), so that nanoseconds fit.
    /// Half: 0, double: 0.
    epoch_most_s: u64 = 9_000_000_000;
    /// A time of day that is earlier by more than this, in seconds, means that midnight has passed; by less, that the clock was set
    /// back, by an hour at the end of summer time.
    /// Half: 0, double: 0.
    midnight_step_s: i64 = 7200;
    /// Bytes of the longest message of strace itself, which can stand inside a line of a terminal's log.
    /// Half: 0, double: 0.
    own_message: usize = 80;
    /// Seconds on a clock from which on stamps are of the epoch or of the machine's start rather than of the job's.
    /// Half: 0, double: 0.
    foreign_clock_s: f64 = 1e6;
    /// A distance of more than this many median steps between two values of a monitoring tool is a gap, not a step.
    /// Half: 1, double: 0.
    gap_steps: f64 = 3.0;
    /// Share of the steps over which a counter whose name does not say that it is one does not fall; a level falls as often as it rises.
    /// Half: 0, double: 1.
    counter_share: f64 = 0.9;
    /// Microseconds by which the end of a request of a GekkoFS client may come before the one sent before it, because threads
    /// send in any order; an earlier one means that the 32 bits of its clock were used up. Batches are sent every 5 s.
    /// Half: 0, double: 0.
    client_disorder_us: f64 = 60e6;
}
