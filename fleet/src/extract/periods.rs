//! Signals, periods and bursts of a log.

use std::collections::BTreeMap;

use super::{int, layer_name};
use crate::tables::{BurstRow, LogRows, PeriodRow, SignalRow, Time};
use iophase::analysis::{Analysis, Evidence, Mode, SignalReport};
use iophase::findings::IoTime;
use iophase::period::{Burst, Dominant, Validity};
use iophase::record::Trace;

/// Bursts of a signal that have a row of their own.
const BURSTS: usize = 10_000;

/// The rows of an analysis.
pub fn rows(trace: &Trace, analysis: &Analysis, io: &IoTime, rows: &mut LogRows) {
    let bursts: Vec<Vec<Burst>> = analysis.evidence.iter().map(|e: &Evidence| e.bursts().collect()).collect();
    for (i, signal) in analysis.report.signals.iter().enumerate() {
        let unix = |t: f64| trace.clock.unix_s(t).map_or(Time(None), Time::of_seconds);
        rows.signals.push(signal_row(trace, signal, &bursts[i], io, &unix));
        periods(signal, &unix, &mut rows.periods);
        let others: Vec<(f64, f64)> = bursts
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != i)
            .flat_map(|(_, b)| b)
            .map(|b| (b.start_s, b.end_s))
            .collect();
        let mode = mode_name(signal.mode);
        rows.bursts.extend(burst_rows(&bursts[i], &others).into_iter().map(|(row, begin, end)| BurstRow {
            mode: mode.clone(),
            begin_time: unix(begin),
            end_time: unix(end),
            ..row
        }));
    }
}

/// Rows of the bytes alone, where times were not looked at.
pub fn totals(trace: &Trace, io: &IoTime, rows: &mut LogRows) {
    let Some(layer) = trace.layers.iter().find(|l| l.layer == layer_name(trace.layer)) else { return };
    for (mode, bytes) in [("write", layer.bytes_written), ("read", layer.bytes_read)] {
        if bytes > 0 {
            let row = SignalRow { mode: Some(mode.to_owned()), bytes: Some(int(bytes)), ..SignalRow::default() };
            rows.signals.push(with_times(row, io));
        }
    }
}

fn mode_name(mode: Mode) -> Option<String> {
    Some(mode.name().to_owned())
}

fn with_times(row: SignalRow, io: &IoTime) -> SignalRow {
    let io_s = io.io_s.filter(|t| *t > 0.0);
    SignalRow {
        io_time_s: io.io_s,
        time_read_s: io.mean_read_s,
        time_write_s: io.mean_write_s,
        time_meta_s: io.mean_metadata_s,
        agg_rate: row.bytes.zip(io_s).map(|(b, t)| b as f64 / t),
        ..row
    }
}

fn signal_row(trace: &Trace, s: &SignalReport, bursts: &[Burst], io: &IoTime, unix: &dyn Fn(f64) -> Time) -> SignalRow {
    let dominant = s.period.dominant.as_ref();
    let length = s.end_s - s.start_s;
    let valid: f64 = s.validity.iter().map(|v| v.end_s - v.start_s).sum();
    let verdict = serde_json::to_value(s.period.verdict).ok().and_then(|v| v.as_str().map(str::to_owned));
    let summary = s.bursts.as_ref();
    let row = SignalRow {
        mode: mode_name(s.mode),
        bytes: Some(whole(s.bytes)),
        verdict,
        periodic: s.period.periodic,
        period_s: dominant.map(|d| d.period_s),
        period_std_s: dominant.and_then(|d| d.period_std_s),
        confidence: dominant.map(|d| d.confidence),
        cycles: dominant.map(|d| d.cycles),
        duty_cycle: summary.map(|b| b.duty_cycle),
        bursts: summary.map(|b| int(b.count)),
        burst_bytes_median: summary.map(|b| whole(b.bytes.median)),
        burst_bytes_p95: percentile_95(bursts).map(whole),
        burst_width_median_s: summary.map(|b| b.width_s.median),
        first_burst: bursts.first().map_or(Time(None), |b| unix(b.start_s)),
        last_burst: bursts.last().map_or(Time(None), |b| unix(b.start_s)),
        valid_share: dominant.filter(|_| length > 0.0).map(|_| (valid / length).min(1.0)),
        idle_s: dominant.zip(summary).map(|(d, b)| (d.period_s - b.width_s.median).max(0.0)),
        set10: dominant.map(|d| d.period_s.log10().round() as i64),
        abstraction_error: Some(s.abstraction_error),
        bin_s: trace.bin_s,
        ..SignalRow::default()
    };
    with_times(row, io)
}

/// The smallest of the bytes that 95 % of the bursts do not exceed.
fn percentile_95(bursts: &[Burst]) -> Option<f64> {
    let mut v: Vec<f64> = bursts.iter().map(|b| b.bytes).collect();
    v.sort_by(f64::total_cmp);
    v.get(((0.95 * v.len() as f64).ceil() as usize).saturating_sub(1)).copied()
}

fn whole(bytes: f64) -> i64 {
    bytes.round() as i64
}

fn periods(s: &SignalReport, unix: &dyn Fn(f64) -> Time, to: &mut Vec<PeriodRow>) {
    let first = s.period.dominant.iter().map(|d| (d, &s.validity[..]));
    let others = s.period.others.iter().map(|o| (&o.period, &o.validity[..]));
    to.extend((0..).zip(first.chain(others)).map(|(rank, (d, valid)): (i64, (&Dominant, &[Validity]))| PeriodRow {
        mode: mode_name(s.mode),
        rank: Some(rank),
        period_s: Some(d.period_s),
        period_std_s: d.period_std_s,
        confidence: Some(d.confidence),
        cycles: Some(d.cycles),
        from_time: valid.first().map_or(Time(None), |v| unix(v.start_s)),
        to_time: valid.last().map_or(Time(None), |v| unix(v.end_s)),
    }));
}

/// Rows of bursts, with their starts and ends; those after the first 10,000 in one.
fn burst_rows(bursts: &[Burst], others: &[(f64, f64)]) -> Vec<(BurstRow, f64, f64)> {
    let row = |index: usize, of: &[Burst]| {
        let begin = of.iter().map(|b| b.start_s).fold(f64::INFINITY, f64::min);
        let end = of.iter().map(|b| b.end_s).fold(f64::NEG_INFINITY, f64::max);
        let overlap: f64 = of.iter().map(|b| overlap((b.start_s, b.end_s), others)).sum();
        let row = BurstRow {
            index: Some(int(index as u64)),
            bytes: Some(whole(of.iter().map(|b| b.bytes).sum())),
            overlap_s: Some(overlap),
            count: Some(int(of.len() as u64)),
            ..BurstRow::default()
        };
        (row, begin, end)
    };
    let (own, rest) = bursts.split_at(bursts.len().min(BURSTS));
    let mut all: Vec<_> = own.iter().enumerate().map(|(i, b)| row(i, std::slice::from_ref(b))).collect();
    if !rest.is_empty() {
        all.push(row(BURSTS, rest));
    }
    all
}

/// Seconds that a span shares with spans in the order of time that do not overlap each other.
fn overlap((a, b): (f64, f64), others: &[(f64, f64)]) -> f64 {
    let from = others.partition_point(|o| o.1 <= a);
    others[from..].iter().take_while(|o| o.0 < b).map(|o| (b.min(o.1) - a.max(o.0)).max(0.0)).sum()
}

/// Sums by key whose parts are rounded so that they add up to the rounded total.
pub fn rounded<K: Ord + Clone>(parts: &BTreeMap<K, f64>) -> Vec<(K, i64)> {
    let (mut sum, mut given) = (0.0, 0i64);
    let one = |(key, x): (&K, &f64)| {
        sum += x;
        let due = whole(sum) - given;
        given += due;
        (key.clone(), due)
    };
    parts.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_beyond_the_bound_are_counted_in_one_row() {
        let bursts: Vec<Burst> =
            (0..BURSTS + 5).map(|i| Burst { start_s: i as f64, end_s: i as f64 + 0.5, bytes: 10.0 }).collect();
        let rows = burst_rows(&bursts, &[(1.25, 3.25)]);
        assert_eq!(rows.len(), BURSTS + 1);
        let (last, begin, end) = &rows[BURSTS];
        assert_eq!((last.count, last.bytes, *begin, *end), (Some(5), Some(50), BURSTS as f64, BURSTS as f64 + 4.5));
        let shared: Vec<f64> = rows.iter().take(4).map(|r| r.0.overlap_s.unwrap()).collect();
        assert_eq!(shared, [0.0, 0.25, 0.5, 0.25]);
        assert_eq!(percentile_95(&bursts), Some(10.0));
    }

    #[test]
    fn rounded_parts_add_up() {
        let parts: BTreeMap<u32, f64> = (0..7).map(|i| (i, 10.0 / 7.0)).collect();
        let sums = rounded(&parts);
        assert_eq!(sums.iter().map(|p| p.1).sum::<i64>(), 10);
        assert!(sums.iter().all(|p| (1..=2).contains(&p.1)));
    }
}
