//! The share of I/O in the run, and what periods say.

use crate::analysis::{Mode, SignalReport};
use crate::findings::book::Rule;
use crate::findings::facts::{Facts, ratio};
use crate::findings::outcome::Outcome;
use crate::units;

pub(in crate::findings) fn not_io(f: &Facts, r: &Rule) -> Option<Outcome> {
    let share = f.io_share()?;
    Some(Outcome::new(share < r.at("share")).measured(&[("share", share)]))
}

pub(in crate::findings) fn io_bound(f: &Facts, r: &Rule) -> Option<Outcome> {
    let share = f.io_share()?;
    let outcome = Outcome::new(share >= r.at("share"))
        .measured(&[("share", share)])
        .time(f.io.time_s)
        .detail(|| format!("{:.0} % of the run, the slowest ranks of all files", 100.0 * share));
    Some(outcome)
}

/// The signal of the writes, if it has bursts of one period.
fn writes<'a>(f: &Facts<'a>) -> Option<&'a SignalReport> {
    f.report?.signals.iter().find(|s| matches!(s.mode, Mode::Write | Mode::WriteSync))
}

pub(in crate::findings) fn could_overlap(f: &Facts, r: &Rule) -> Option<Outcome> {
    let (signal, t) = (writes(f)?, f.mpiio?);
    let (Some(bursts), Some(d)) = (&signal.bursts, &signal.period.dominant) else {
        return Some(Outcome::new(false));
    };
    let blocking = t.total(&["NB_WRITES", "NB_READS"])? == 0;
    let burst = bursts.width_s.median;
    let idle = (d.period_s - burst).max(0.0);
    let fires = blocking && idle >= r.at("ratio") * burst && bursts.duty_cycle >= r.at("duty");
    let time_s = bursts.count as f64 * burst;
    let outcome = Outcome::new(fires)
        .measured(&[("burst_s", burst), ("idle_s", idle), ("duty", bursts.duty_cycle)])
        .time(time_s)
        .lost(time_s.min(bursts.count as f64 * idle), "bursts that fit into the time to the next, at most")
        .detail(|| {
            let n = units::counted(bursts.count, "burst");
            format!("{n} of {}, {} until the next", units::seconds(burst), units::seconds(idle))
        })
        .modelled();
    Some(outcome)
}

pub(in crate::findings) fn checkpoint_interval(f: &Facts, r: &Rule) -> Option<Outcome> {
    let signal = writes(f)?;
    let (Some(bursts), Some(d)) = (&signal.bursts, &signal.period.dominant) else {
        return Some(Outcome::new(false));
    };
    let burst = bursts.width_s.median;
    let interval = (d.period_s - burst).max(0.0);
    // Young (1974): interval = sqrt(2 burst MTBF)
    let mtbf = ratio(interval * interval, 2.0 * burst);
    let outcome =
        Outcome::new(d.confidence >= r.at("confidence") && bursts.count as f64 >= r.at("bursts") && mtbf > 0.0)
            .measured(&[("burst_s", burst), ("interval_s", interval), ("mtbf_s", mtbf)])
            .detail(|| {
                let (interval, burst) = (units::seconds(interval), units::seconds(burst));
                format!("{interval} between bursts of {burst}: right for a failure every {}", units::seconds(mtbf))
            })
            .modelled();
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
