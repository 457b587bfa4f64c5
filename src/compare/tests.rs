//! Comparisons of generated jobs: equal jobs, mirrored sides, planted changes, and noise.

use super::*;
use crate::record::{Data, Files, Requests, Trace};
use crate::workload::{self, Values};
use rayon::prelude::*;

/// Seeds of a test: one in forty by default.
fn seeds(all: u64) -> u64 {
    all.div_ceil(common::every(40) as u64)
}

/// Whether a share of all seeds hits; of a sample, one may miss more.
fn enough(hits: u64, share: f64, seeds: u64) -> bool {
    let spare = if seeds < 100 { 1.0 } else { 0.0 };
    hits as f64 + spare >= share * seeds as f64
}

/// A job with 5 % jitter.
fn job(seed: u64, values: &[(&str, &str)]) -> Trace {
    let faulty = workload::find("faulty").unwrap();
    let common = [("bursts", "20"), ("period", "10"), ("burst", "1"), ("jitter", "0.05"), ("requests", "8")];
    let all: Vec<(&str, &str)> = common.into_iter().filter(|c| values.iter().all(|v| v.0 != c.0)).collect();
    let values = Values::of(faulty.parameters(), &[&all, values].concat()).unwrap();
    workload::run(faulty, &values, seed).unwrap().trace().unwrap()
}

fn facts(trace: &Trace) -> Run {
    Run::of(trace, &[], &Options::default()).unwrap()
}

fn compared(a: &Trace, b: &Trace) -> Comparison {
    compare(&[facts(a)], &[facts(b)], &Options::default()).unwrap()
}

/// A copy with another folder, job id and time, whose ranks are numbered backwards and whose rows are in another order.
fn copy(t: &Trace) -> Trace {
    let Data::Requests(rows) = &t.data else { panic!() };
    let mut files = Files::default();
    t.files.iter().for_each(|(_, name)| {
        files.intern(&name.replace("/scratch/faulty", "/project/p7/run.991"));
    });
    let last = t.ranks as u32 - 1;
    let mut all: Vec<_> = rows.iter().map(|r| crate::record::Request { rank: last - r.rank, ..r }).collect();
    all.sort_by_key(|r| r.rank);
    let mut data = Requests::default();
    all.into_iter().for_each(|r| data.push(r));
    let job = crate::record::Job { id: Some(991), start_unix_s: Some(1e9), ..Default::default() };
    let mut layers = t.layers.clone();
    for time in layers.iter_mut().flat_map(|l| [&mut l.first_s, &mut l.last_s]).flatten() {
        *time += 86_400.0;
    }
    let data = Data::Requests(data);
    Trace { path: "elsewhere".into(), files, data, origin_s: 86_400, job: Some(job), layers, ..t.clone() }
}

fn is_empty(c: &Comparison) -> bool {
    let f = &c.findings;
    c.reasons.is_empty()
        && c.job.is_empty()
        && c.periods.is_empty()
        && c.bursts.is_empty()
        && c.layers.is_empty()
        && c.time.is_empty()
        && c.files.is_empty()
        && c.patterns.is_empty()
        && f.new.is_empty()
        && f.gone.is_empty()
        && f.changed.is_empty()
        && c.graph.is_empty()
}

#[test]
fn a_run_equals_itself_and_its_copy() {
    for fault in ["none", "shared-stripes", "read-modify-write", "shuffled"].into_iter().step_by(common::every(3)) {
        let a = job(11, &[("fault", fault)]);
        for b in [a.clone(), copy(&a)] {
            let c = compared(&a, &b);
            assert_eq!(c.verdict, Outcome::Same, "{fault}");
            assert!(is_empty(&c), "{fault}: {c:#?}");
        }
    }
}

/// Equal up to rounding.
fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-9),
        (a, b) => a == b,
    }
}

#[test]
fn exchanged_sides_mirror_the_comparison() {
    let a = job(3, &[]);
    for values in [[("fault", "time-imbalance")], [("burst", "1.3")], [("requests", "16")], [("ranks", "16")]]
        .into_iter()
        .step_by(common::every(3))
    {
        let b = job(4, &values);
        let (there, back) = (compared(&a, &b), compared(&b, &a));
        let mirrored = match there.verdict {
            Outcome::Slower => Outcome::Faster,
            Outcome::Faster => Outcome::Slower,
            other => other,
        };
        assert_eq!(back.verdict, mirrored);
        let minus = |x: Option<f64>| x.map(|x| -x);
        let (t, u) = (&there.io_time, &back.io_time);
        assert!(near(t.change, minus(u.change)) && near(t.low, minus(u.high)) && near(t.before_s, u.after_s));
        assert_eq!(there.reasons.len(), back.reasons.len());
        for (x, y) in there.reasons.iter().zip(&back.reasons) {
            assert_eq!((&x.row.what, &x.files), (&y.row.what, &y.files));
            assert!(near(x.lost_s, minus(y.lost_s)) && near(x.row.p, y.row.p), "{x:?} {y:?}");
            assert!(near(x.row.change, minus(y.row.change)) && near(x.row.low, minus(y.row.high)), "{x:?} {y:?}");
        }
    }
}

/// A change of the job, the reason that has to come first, and by how much it changes.
struct Planted {
    before: &'static [(&'static str, &'static str)],
    after: &'static [(&'static str, &'static str)],
    reason: &'static str,
    /// Of what is measured, without noise.
    change: f64,
}

const PLANTED: &[Planted] = &[
    Planted { before: &[], after: &[("period", "11")], reason: "write period", change: 1.0 },
    Planted { before: &[], after: &[("requests", "16")], reason: "write bytes", change: 8.0 * 20.0 * 8.0 * 4.0 * MIB },
    Planted {
        before: &[("size", "16MiB")],
        after: &[("size", "1MiB"), ("requests", "128")],
        reason: "write request size",
        change: -15.0 * MIB,
    },
    Planted {
        before: &[],
        after: &[("fault", "time-imbalance")],
        reason: "slowest rank",
        change: 4.0 / (11.0 / 8.0) - 1.0,
    },
    Planted { before: &[], after: &[("fault", "sync")], reason: "sync calls", change: 8.0 * 20.0 * 8.0 },
    Planted { before: &[], after: &[("ranks", "16")], reason: "ranks", change: 8.0 },
    Planted {
        before: &[("fault", "overwrite")],
        after: &[("fault", "shuffled")],
        reason: "in order",
        change: 1.0 / 64.0 - 140.0 / 159.0,
    },
];

const MIB: f64 = 1048576.0;

#[test]
fn planted_changes_are_the_first_reason_and_lie_in_their_intervals() {
    let seeds = seeds(200);
    PLANTED.par_iter().for_each(|p| {
        let (mut first, mut inside) = (0, 0);
        let mut wrong = Vec::new();
        for seed in 0..seeds {
            let c = compared(&job(2 * seed, p.before), &job(2 * seed + 1, p.after));
            match c.reasons.first() {
                Some(r) if r.row.what.contains(p.reason) => {
                    first += 1;
                    // counts have no interval
                    let (low, high) = (r.row.low.or(r.row.change).unwrap(), r.row.high.or(r.row.change).unwrap());
                    // times are whole nanoseconds
                    let rounding = 1e-6 * p.change.abs();
                    inside += u64::from(low - rounding <= p.change && p.change <= high + rounding);
                }
                other => wrong.push((seed, other.map(|r| r.row.what.clone()))),
            }
        }
        assert!(enough(first, 0.95, seeds), "{}: {first} of {seeds} first; {wrong:?}", p.reason);
        assert!(enough(inside, 0.93, seeds), "{}: {inside} of {seeds} inside", p.reason);
    });
}

#[test]
fn slower_bursts_are_slower_by_an_interval_that_holds_the_change() {
    // An interval of 95 % holds the change in 93 % of so many seeds, whatever the luck of the draw.
    let seeds = seeds(800);
    // 20 bursts, 0.2 s longer each; ranks begin up to a fiftieth of a burst late, the last of eight 7/9 of that after the first
    let change = 20.0 * 0.2 * (1.0 + 7.0 / 9.0 / 50.0);
    let pair = |seed: u64| {
        let c = compared(&job(2 * seed + 1000, &[]), &job(2 * seed + 1001, &[("burst", "1.2")]));
        let holds = c.io_time.low.unwrap() <= change && change <= c.io_time.high.unwrap();
        (u64::from(c.verdict == Outcome::Slower), u64::from(holds))
    };
    let (slower, inside) = (0..seeds).into_par_iter().map(pair).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert!(enough(slower, 0.95, seeds), "{slower} of {seeds} slower");
    assert!(enough(inside, 0.93, seeds), "{inside} of {seeds} inside");
}

#[test]
fn jitter_alone_is_neither_slower_nor_faster() {
    let pairs = seeds(400);
    let differ = |seed: u64| {
        let c = compared(&job(2 * seed, &[]), &job(2 * seed + 1, &[]));
        u64::from(c.verdict != Outcome::Same)
    };
    let wrong: u64 = (5000..5000 + pairs).into_par_iter().map(differ).sum();
    assert!(wrong as f64 <= 0.02 * pairs as f64, "{wrong} of {pairs}");
}

#[test]
fn three_runs_a_side_are_compared_as_runs() {
    let runs = |values: &[(&str, &str)], from: u64| -> Vec<Run> {
        (from..from + 3).map(|seed| facts(&job(seed, values))).collect()
    };
    let (before, after) = (runs(&[], 50), runs(&[("burst", "1.5")], 60));
    let c = compare(&before, &after, &Options::default()).unwrap();
    assert_eq!((c.io_time.basis, c.verdict), (Basis::Runs, Outcome::Slower));
    assert_eq!(compare(&before, &[], &Options::default()).unwrap_err().kind(), ErrorKind::Usage);
}

#[test]
fn thresholds_are_replaced_and_mistakes_are_named() {
    let (a, b) = (job(1, &[]), job(2, &[("burst", "1.2")]));
    let options = Options::default().config(Some("[compare]\ntime = 0.5\n[IOP-POSIX-001]\nshare = 0.5\n".into()));
    let c = compare(&[facts(&a)], &[facts(&b)], &options).unwrap();
    assert_eq!((c.verdict, compared(&a, &b).verdict), (Outcome::Same, Outcome::Slower));
    let error = |text: &str| Options::default().config(Some(text.into())).check().unwrap_err();
    assert!(error("[compare]\ntme = 1\n").to_string().contains("tme"));
    assert_eq!(error("[compare]\ntime = -1\n").kind(), ErrorKind::Usage);
    assert_eq!(error("[IOP-NONE-001]\nshare = 1\n").kind(), ErrorKind::Usage);
}
