//! The share of I/O in the run, and what periods say.

use std::collections::HashSet;

use foldhash::fast::FixedState;

use crate::analysis::{Mode, SignalReport};
use crate::facts::Count;
use crate::findings::book::Rule;
use crate::findings::bursts::{Burst, quantile, trend};
use crate::findings::evidence::Filter;
use crate::findings::facts::{Facts, ratio};
use crate::findings::outcome::{Outcome, Part};
use crate::record::{FileId, Numbered, Op, Row, Timing};
use crate::units;

pub(in crate::findings) fn not_io(f: &Facts, r: &Rule) -> Option<Outcome> {
    let share = f.io.time.share_range?.high;
    Some(Outcome::new(share < r.at("share")).measured(&[("share", share)]))
}

pub(in crate::findings) fn io_bound(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (share, time_s) = (f.io.time.share?, f.io.time.io_s?);
    let outcome = Outcome::new(share >= r.at("share"))
        .measured(&[("share", share)])
        .time(time_s)
        .detail(|| format!("the slowest rank spends {:.0} % of the run in I/O", 100.0 * share));
    Some(outcome)
}

/// The signal of the writes, if it has bursts of one period.
fn writes<'a>(f: &Facts<'a>) -> Option<&'a SignalReport> {
    f.report?.signals.iter().find(|s| matches!(s.mode, Mode::Write | Mode::WriteSync))
}

pub(in crate::findings) fn could_overlap(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (signal, t) = (writes(f)?, f.mpiio.as_ref()?);
    let (Some(bursts), Some(d)) = (&signal.bursts, &signal.period.dominant) else {
        return Some(Outcome::new(false));
    };
    if !f.bursts[0].as_ref().is_some_and(|b| b.timed) {
        return None;
    }
    let blocking = t.total(&[Count::NonBlocking])? == 0;
    // above the calls that write, the outermost layer may be in I/O for longer: a rank that waits there does not compute
    let (spent_s, slowest) = (f.io.time.mean_read_s? + f.io.time.mean_write_s?, f.io.time.slowest_s?);
    let burst = bursts.width_s.median.max(ratio(spent_s, bursts.count as f64));
    let idle = (d.period_s - burst).max(0.0);
    let fires = blocking && idle >= r.at("ratio") * burst && bursts.duty_cycle >= r.at("duty");
    let time_s = (bursts.count as f64 * burst).min(slowest.high);
    let outcome = Outcome::new(fires)
        .measured(&[("burst_s", burst), ("idle_s", idle), ("duty", bursts.duty_cycle)])
        .time(time_s)
        .lost(time_s.min(bursts.count as f64 * idle), "bursts that fit into the time to the next, at most")
        .lost_low(0.0)
        .detail(|| {
            let n = units::counted(bursts.count, "burst");
            format!("{n} of {}, {} until the next", units::seconds(burst), units::seconds(idle))
        })
        .modelled();
    Some(outcome)
}

/// Optimal time between checkpoints of `cost_s` each (Daly, FGCS 2006, equation 37).
fn daly(cost_s: f64, mtbf_s: f64) -> f64 {
    let x = cost_s / (2.0 * mtbf_s);
    if x >= 1.0 {
        return mtbf_s;
    }
    (2.0 * cost_s * mtbf_s).sqrt() * (1.0 + x.sqrt() / 3.0 + x / 9.0) - cost_s
}

/// Share of the run that checkpoints and lost work take, to first order; a restart takes as long as a checkpoint.
fn waste(interval_s: f64, cost_s: f64, mtbf_s: f64) -> f64 {
    cost_s / interval_s + (interval_s / 2.0 + cost_s) / mtbf_s
}

pub(in crate::findings) fn checkpoint_interval(f: &Facts, r: &Rule) -> Option<Outcome> {
    let signal = writes(f)?;
    let (Some(bursts), Some(d)) = (&signal.bursts, &signal.period.dominant) else {
        return Some(Outcome::new(false));
    };
    let burst = bursts.width_s.median;
    let interval = (d.period_s - burst).max(0.0);
    let periodic = d.confidence >= r.at("confidence") && bursts.count as f64 >= r.at("bursts");
    let Some(mtbf) = f.mtbf_s.filter(|_| periodic) else { return Some(Outcome::new(false)) };
    let best = daly(burst, mtbf);
    let (now, least) = (waste(interval, burst, mtbf), waste(best, burst, mtbf));
    let outcome = Outcome::new(now - least >= r.at("waste"))
        .measured(&[("burst_s", burst), ("interval_s", interval), ("mtbf_s", mtbf)])
        .measured(&[("best_interval_s", best), ("waste", now), ("best_waste", least)])
        .time(now * f.run_s)
        .lost((now - least) * f.run_s, "waste beyond that of Daly's interval, to first order")
        .with_work()
        .detail(|| {
            let (now, least) = (100.0 * now, 100.0 * least);
            let [interval, burst, best] = [interval, burst, best].map(units::seconds);
            format!("{interval} between bursts of {burst} waste {now:.0} % of the run, {best} would waste {least:.0} %")
        });
    Some(outcome.modelled())
}

pub(in crate::findings) fn burst_buffer(f: &Facts, r: &Rule) -> Option<Outcome> {
    let bursts = f.bursts[0].as_ref()?;
    let bytes: Vec<f64> = bursts.all.iter().map(|b| b.bytes).collect();
    let (largest, sum) = (quantile(&bytes, 0.95), bytes.iter().sum::<f64>());
    let lengths = bursts.lengths();
    let (idle, time_s) = ((bursts.period_s - quantile(&lengths, 0.95)).max(0.0), lengths.iter().sum::<f64>());
    let fires = bursts.confidence >= r.at("confidence")
        && bursts.all.len() as f64 >= r.at("bursts")
        && bursts.duty <= r.at("duty")
        && idle > 0.0
        && bursts.timed
        && time_s.min(f.io_most_s().unwrap_or(time_s)) >= r.at("run_share") * f.run_s;
    let buffer = f.system.burst_buffer.filter(|b| b.capacity >= largest);
    let outcome = Outcome::new(fires)
        .measured(&[("buffer_bytes", largest), ("idle_s", idle), ("drain_bytes_per_s", ratio(largest, idle))])
        .time(time_s)
        .maybe_lost(
            buffer.map(|b| (time_s - sum / b.rate).max(0.0)),
            "bursts beyond their time at the rate of the buffer",
        )
        .detail(|| {
            let (size, rate) = (units::bytes(largest), units::rate(ratio(largest, idle)));
            format!("a buffer of {size} would take each burst, drained at {rate} in {}", units::seconds(idle))
        })
        .modelled();
    Some(outcome)
}

pub(in crate::findings) fn slow_bursts(f: &Facts, r: &Rule) -> Option<Outcome> {
    let bursts = f.bursts.iter().flatten().next().filter(|b| b.timed)?;
    let usual = quantile(&bursts.all.iter().map(|b| b.bytes).collect::<Vec<_>>(), 0.5);
    let alike: Vec<&Burst> = bursts.all.iter().filter(|b| (b.bytes / usual - 1.0).abs() <= r.at("bytes")).collect();
    let lengths: Vec<f64> = alike.iter().map(|b| b.length_s()).collect();
    let n = lengths.len().max(1) as f64;
    let mean = lengths.iter().sum::<f64>() / n;
    let variation = ratio((lengths.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt(), mean);
    let (fast, slow) = (quantile(&lengths, 0.1), quantile(&lengths, 0.9));
    let factor = ratio(slow, fast);
    let worst = alike.iter().max_by(|a, b| a.length_s().total_cmp(&b.length_s()));
    let uneven = variation >= r.at("variation") || factor >= r.at("ratio");
    let outcome = Outcome::new(lengths.len() as f64 >= r.at("bursts") && uneven)
        .measured(&[("variation", variation), ("p90_over_p10", factor), ("p10_s", fast), ("bursts", n)])
        .time(lengths.iter().sum())
        .lost(lengths.iter().map(|x| (x - fast).max(0.0)).sum(), "time of the bursts beyond that of the fastest tenth")
        .detail(|| format!("bursts of equal bytes take {} to {}", units::seconds(fast), units::seconds(slow)))
        .exact();
    Some(match worst {
        Some(b) => outcome.evidence(Filter { within_s: Some((b.start_s, b.end_s)), ..Filter::default() }),
        None => outcome,
    })
}

pub(in crate::findings) fn growing_bursts(f: &Facts, r: &Rule) -> Option<Outcome> {
    let bursts = f.bursts.iter().flatten().find(|b| b.all.len() as f64 >= r.at("bursts"))?;
    // all pairs are compared: of very many bursts, each so many-th is looked at
    let step = bursts.all.len().div_ceil(1000);
    let seen: Vec<&Burst> = bursts.all.iter().step_by(step).collect();
    let growth = |values: Vec<f64>| {
        let (slope, p) = trend(&values);
        (ratio(slope * (values.len() - 1) as f64, quantile(&values, 0.5)), p)
    };
    let (bytes, bytes_p) = growth(seen.iter().map(|b| b.bytes).collect());
    let (length, length_p) = growth(seen.iter().map(|b| b.length_s()).collect());
    let length_p = if bursts.timed { length_p } else { 1.0 };
    let grows = |share: f64, p: f64| share >= r.at("growth") && p < r.at("p");
    let outcome = Outcome::new(grows(bytes, bytes_p) || grows(length, length_p))
        .measured(&[("bytes_growth", bytes), ("bytes_p", bytes_p), ("length_growth", length), ("length_p", length_p)])
        .detail(|| {
            let why = match grows(bytes, bytes_p) {
                true => "more data",
                false => "equal data: fragmentation, or a target that fills up",
            };
            format!(
                "over the run bursts grow by {:.0} % in bytes, {:.0} % in time: {why}",
                100.0 * bytes,
                100.0 * length
            )
        })
        .exact();
    Some(outcome)
}

/// Time during which at least one of some stretches holds.
pub(super) fn union_s(mut spans: Vec<(f64, f64)>) -> f64 {
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut sum, mut end) = (0.0, f64::NEG_INFINITY);
    for (start, stop) in spans {
        if stop > end {
            sum += stop - start.max(end);
            end = stop;
        }
    }
    sum
}

pub(in crate::findings) fn startup_storm(f: &Facts, r: &Rule) -> Option<Outcome> {
    // a tenth of the run must be more than a bin or two
    let coarse = f.trace.bin_s.is_some_and(|bin_s| r.at("run") * f.run_s < 2.0 * bin_s);
    // readings of counters say nothing of durations
    if coarse || f.trace.timing == Timing::Counter || f.trace.data.is_empty() {
        return None;
    }
    let rows = || (0..f.trace.data.len()).map(|i| f.trace.row(i)).filter(|x| !f.trace.files.is_system(x.file()));
    let bytes = |row: &Row| match row {
        Row::Request(x) => x.size as f64,
        Row::Interval(x) => x.bytes,
    };
    // when the first read and the first write begin
    let (mut first_read, mut first_write) = (f64::INFINITY, f64::INFINITY);
    for row in rows().filter(|x| x.op().moves_bytes()) {
        let first = if row.op() == Op::Read { &mut first_read } else { &mut first_write };
        *first = first.min(row.span().0);
    }
    let tenth = first_read.min(first_write) + r.at("run") * f.run_s;
    let until = if first_write.is_finite() { tenth.max(first_write) } else { tenth };
    let (mut all, mut early, mut spans) = (0.0, 0.0, Vec::new());
    let (mut ranks, mut files) = (HashSet::<u32, FixedState>::default(), Numbered::<Part>::default());
    let reads = first_read.is_finite().then(|| rows().filter(|x| x.op() == Op::Read));
    for row in reads.into_iter().flatten() {
        all += bytes(&row);
        let (start, end) = row.span();
        if start < until {
            early += bytes(&row);
            spans.push((start, end));
            ranks.insert(row.rank());
            let part = files.get_or(row.file().0, Part { file: row.file(), ..Part::default() });
            (part.count, part.bytes, part.time_s) =
                (part.count + 1, part.bytes + bytes(&row) as u64, part.time_s + end - start);
        }
    }
    let wall = union_s(spans);
    // a job that only reads, all of it at once, does nothing else
    let fires = ratio(early, all) >= r.at("share")
        && ranks.len() as f64 >= r.at("ranks") * f.ranks as f64
        && wall >= r.at("run_share") * f.run_s
        && until < first_read + r.at("most") * f.run_s;
    let outcome = Outcome::new(fires)
        .measured(&[("share", ratio(early, all)), ("ranks", ranks.len() as f64), ("bytes", early), ("wall_s", wall)])
        .time(wall)
        .detail(|| {
            let (some, all) = (units::bytes(early), units::bytes(all));
            format!("{} ranks read {some} of {all} in {} at the start", ranks.len(), units::seconds(wall))
        })
        .evidence(Filter { within_s: Some((f64::NEG_INFINITY, until)), ..Filter::of(Op::Read) })
        .parts(files.into_iter().map(|x| x.1).filter(|p| p.file != FileId::NONE).collect())
        .exact();
    Some(outcome)
}

pub(in crate::findings) fn period_change(f: &Facts, r: &Rule) -> Option<Outcome> {
    use crate::period::Relation;
    let signals = &f.report?.signals;
    let change = signals.iter().find_map(|s| {
        let d = s.period.dominant.as_ref().filter(|d| d.cycles >= r.at("cycles"))?;
        let before = |o: &&crate::period::OtherPeriod| {
            matches!(o.relation, Relation::Before) && o.period.cycles >= r.at("cycles")
        };
        s.period.others.iter().find(before).map(|o| (o.period.period_s, d.period_s))
    });
    let (before, after) = change.unwrap_or_default();
    let outcome = Outcome::new(change.is_some())
        .measured(&[("before_s", before), ("after_s", after)])
        .detail(|| format!("from {} to {}", units::seconds(before), units::seconds(after)))
        .exact();
    Some(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_between_checkpoints() {
        let minutes = |mtbf_min: f64| daly(300.0, 60.0 * mtbf_min) / 60.0;
        for (mtbf_min, best) in [(1440.0, 117.0), (360.0, 57.0), (15.0, 9.1)] {
            assert!((minutes(mtbf_min) - best).abs() < 0.5, "{mtbf_min}: {}", minutes(mtbf_min));
        }
        assert_eq!(daly(300.0, 100.0), 100.0);
        // nothing is better than the optimum, except to first order of the waste
        let best = daly(300.0, 86_400.0);
        assert!(waste(2.0 * best, 300.0, 86_400.0) > waste(best, 300.0, 86_400.0));
        assert!(waste(0.5 * best, 300.0, 86_400.0) > waste(best, 300.0, 86_400.0));
    }

    #[test]
    fn stretches_that_overlap_count_once() {
        assert_eq!(union_s(vec![(5.0, 6.0), (0.0, 2.0), (1.0, 3.0), (1.5, 2.0)]), 4.0);
    }
}
