//! Time in I/O as text.

use super::units::{self, short_seconds};
use crate::findings::{Bounds, IoTime, LayerTime};

/// A layer as a person writes it; `None` for single requests of any.
pub(super) fn layer_name(layer: &str) -> Option<&'static str> {
    Some(match layer {
        "posix" => "POSIX",
        "mpiio" => "MPI-IO",
        "stdio" => "STDIO",
        "hdf5" => "HDF5",
        "pnetcdf" => "PnetCDF",
        "daos" => "DAOS",
        _ => return None,
    })
}

/// The share of the run: `I/O takes 64 to 71 % of 23.07 s`.
pub(super) fn share(io: &IoTime) -> String {
    let run = units::seconds(io.run_s);
    let why = io.why.as_deref().unwrap_or("the length of the run is not known");
    match (io.share_range, io.slowest_s) {
        (Some(s), _) if s.high < 0.01 => format!("I/O takes {} of {run}: it is not the problem", percents(s)),
        (Some(s), _) => format!("I/O takes {} of {run}", percents(s)),
        (None, Some(s)) if s.low < io.run_s && s.low >= 0.01 * io.run_s => {
            let least = percent((s.low / io.run_s).min(1.0));
            format!("I/O takes at least {least} % of {run}; how much is not known: {why}")
        }
        _ => format!("the share of the run in I/O is not known: {why}"),
    }
}

/// A value, or its least and most.
fn bounds(b: Bounds, text: fn(f64) -> String) -> String {
    if b.is_exact() { text(b.low) } else { format!("{} to {}", text(b.low), text(b.high)) }
}

/// The slowest rank, the mean by kind, the layer, and waiting; `None` without times.
pub(super) fn parts(io: &IoTime) -> Option<String> {
    // calls that overlap add up to more than the run
    let slowest = io.slowest_s.filter(|s| io.mean_s.is_none_or(|mean| mean <= 1.01 * s.high))?;
    let rank = bounds(slowest, short_seconds);
    let kinds = [io.mean_read_s, io.mean_write_s, io.mean_metadata_s].map(|s| short_seconds(s.unwrap_or(0.0)));
    let [read, write, metadata] = kinds;
    let mean = short_seconds(io.mean_s?);
    let layer =
        io.layer.as_deref().and_then(layer_name).map_or(String::new(), |name| format!("; most of it in {name}"));
    let waiting = waiting(io).map_or(String::new(), |share| {
        format!("; {} % of the time in MPI-IO is waiting for other ranks or exchanging data with them", percent(share))
    });
    let rate = io
        .rate
        .map_or(String::new(), |r| format!("; {} (all bytes / time of the slowest rank)", bounds(r, units::rate)));
    let kinds = format!("reading {read}, writing {write}, metadata {metadata}");
    Some(format!("slowest rank {rank}, mean {mean}: {kinds}{layer}{waiting}{rate}"))
}

/// One layer: `POSIX: mean 3.10 s (reading 1.00 s, writing 2.00 s, metadata 0.10 s), slowest 4.00 to 5.00 s`.
pub(super) fn layer(l: &LayerTime) -> String {
    let name = layer_name(&l.layer).unwrap_or("requests");
    let parts = [("reading", l.mean_read_s), ("writing", l.mean_write_s), ("metadata", l.mean_metadata_s)];
    let mean = short_seconds(parts.iter().map(|p| p.1).sum());
    let parts: Vec<String> =
        parts.iter().filter(|p| p.1 > 0.0).map(|(what, s)| format!("{what} {}", short_seconds(*s))).collect();
    let slowest = bounds(l.slowest_s, short_seconds);
    let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    format!("{name}: mean {mean}{parts}, slowest rank {slowest}")
}

/// Share of the time in MPI-IO that is not in the calls below it, if it is worth a word.
pub(super) fn waiting(io: &IoTime) -> Option<f64> {
    let mpiio = io.layers.iter().find(|l| l.layer == "mpiio")?;
    let all = mpiio.mean_read_s + mpiio.mean_write_s + mpiio.mean_metadata_s;
    let share = (io.waiting_s? / all).min(1.0);
    (share >= 0.1).then_some(share)
}

fn percents(s: Bounds) -> String {
    let [low, high] = [s.low, s.high].map(percent);
    if low == high || s.is_exact() || s.high < LEAST { format!("{high} %") } else { format!("{low} to {high} %") }
}

/// Shares below are not nothing, and shares above not all, as rounding would say.
const LEAST: f64 = 0.0005;
const MOST: f64 = 0.995;

pub(super) fn percent(share: f64) -> String {
    match share {
        _ if share > 0.0 && share < LEAST => "less than 0.1".into(),
        _ if share < 0.1 => format!("{:.1}", 100.0 * share),
        _ if (MOST..1.0).contains(&share) => "over 99".into(),
        _ => format!("{:.0}", 100.0 * share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_value_an_interval_or_a_reason() {
        let io = |low, high| IoTime { run_s: 10.0, share_range: Some(Bounds { low, high }), ..IoTime::default() };
        assert_eq!(share(&io(0.64, 0.71)), "I/O takes 64 to 71 % of 10.00 s");
        assert_eq!(share(&io(0.5, 0.5)), "I/O takes 50 % of 10.00 s");
        assert_eq!(share(&io(0.001, 0.004)), "I/O takes 0.1 to 0.4 % of 10.00 s: it is not the problem");
        assert_eq!(share(&io(0.001, 0.02)), "I/O takes 0.1 to 2.0 % of 10.00 s");
        assert_eq!(share(&io(0.999, 0.999)), "I/O takes over 99 % of 10.00 s");
        assert_eq!(share(&io(1e-5, 2e-4)), "I/O takes less than 0.1 % of 10.00 s: it is not the problem");
        let why = Some("POSIX is incomplete".to_owned());
        let unknown = IoTime { why, run_s: 10.0, ..IoTime::default() };
        assert_eq!(share(&unknown), "the share of the run in I/O is not known: POSIX is incomplete");
        let some = IoTime { slowest_s: Some(Bounds { low: 2.0, high: 2.0 }), ..unknown };
        assert_eq!(share(&some), "I/O takes at least 20 % of 10.00 s; how much is not known: POSIX is incomplete");
    }
}
