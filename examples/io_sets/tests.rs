//! What holds in every simulation.

use clap::ValueEnum;

use crate::jobs::Workload;
use crate::knowledge::{Iophase, Knowledge, Nothing, Truth};
use crate::policy::Policy;
use crate::sim::{self, Outcome};
use crate::slowdown;

fn run(workload: Workload, policy: Policy, knowledge: &mut dyn Knowledge, seed: u64) -> Outcome {
    let setting = workload.setting();
    sim::run(setting.jobs(seed).unwrap(), policy, knowledge, setting.end_s())
}

#[test]
fn no_policy_leaves_bandwidth_unused_or_grants_more_than_there_is() {
    for &workload in Workload::value_variants() {
        for policy in [Policy::FairShare, Policy::FirstCome, Policy::Set10, Policy::LeastLeft] {
            let o = run(workload, policy, &mut Truth, 1);
            assert!(o.conserves_work(), "{policy:?} {workload:?}");
            assert!(o.slowdown.iter().chain(&o.stretch).all(|s| *s > 1.0 - 1e-6), "{policy:?} {:?}", o.slowdown);
        }
    }
}

#[test]
fn a_scheduler_that_is_told_nothing_shares_fairly() {
    let fair = run(Workload::Decades, Policy::FairShare, &mut Nothing, 1).slowdown;
    assert_eq!(fair, run(Workload::Decades, Policy::Set10, &mut Nothing, 1).slowdown);
    assert_eq!(fair, run(Workload::Decades, Policy::LeastLeft, &mut Nothing, 1).slowdown);
}

#[test]
fn set_10_with_the_truth_is_no_worse_than_fair_share_among_one_short_and_fifteen_long_jobs() {
    for seed in 0..5 {
        let fair = run(Workload::OneAmongFifteen, Policy::FairShare, &mut Nothing, seed);
        let best = run(Workload::OneAmongFifteen, Policy::Set10, &mut Truth, seed);
        assert!(best.utilisation >= fair.utilisation && slowdown(&best) <= slowdown(&fair), "seed {seed}");
    }
}

#[test]
fn predictions_are_of_the_right_set_and_the_same_in_every_run() {
    let once = || {
        let mut iophase = Iophase::default();
        (run(Workload::OneAmongFifteen, Policy::Set10, &mut iophase, 2).slowdown, iophase.predictions())
    };
    let (slowdown, [asked, periods, right]) = once();
    assert!(periods > 50 && right * 20 > periods * 19, "{right} of {periods}");
    assert_eq!((slowdown, [asked, periods, right]), once());
}
