//! What holds in every simulation.

use crate::jobs::{Setting, Workload};
use crate::knowledge::{Iophase, Knowledge, Nothing, Truth};
use crate::policy::Policy;
use crate::sim::{self, Outcome};

fn small(workload: Workload) -> Setting {
    Setting { length: 0.5, ..workload.setting() }
}

fn run(setting: Setting, policy: Policy, knowledge: &mut dyn Knowledge, seed: u64) -> Outcome {
    sim::run(setting.jobs(seed).unwrap(), policy, knowledge, setting.span())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn no_policy_leaves_bandwidth_unused_or_grants_more_than_there_is() {
    for workload in Workload::ALL {
        for policy in [Policy::FairShare, Policy::FirstCome, Policy::Set10, Policy::LeastLeft] {
            let o = run(small(workload), policy, &mut Truth, 1);
            assert!(o.conserves_work(), "{policy:?} {workload:?}");
            assert!(o.slowdown.iter().chain(&o.stretch).all(|s| *s > 1.0 - 1e-6), "{policy:?} {:?}", o.slowdown);
        }
    }
}

#[test]
fn a_scheduler_that_is_told_nothing_shares_fairly() {
    let setting = small(Workload::Decades);
    let [fair, set_10] = [Policy::FairShare, Policy::Set10].map(|p| run(setting, p, &mut Nothing, 1).slowdown);
    assert_eq!(fair, set_10);
}

#[test]
fn set_10_with_the_truth_is_no_worse_than_fair_share_among_one_short_and_fifteen_long_jobs() {
    let setting = small(Workload::OneAmongFifteen);
    for seed in 0..5 {
        let fair = run(setting, Policy::FairShare, &mut Nothing, seed);
        let best = run(setting, Policy::Set10, &mut Truth, seed);
        assert!(best.utilisation >= fair.utilisation && mean(&best.slowdown) <= mean(&fair.slowdown), "seed {seed}");
    }
}

#[test]
fn predictions_are_of_the_right_set_and_the_same_in_every_run() {
    let setting = small(Workload::OneAmongFifteen);
    let once = || {
        let mut iophase = Iophase::new(false);
        let o = run(setting, Policy::Set10, &mut iophase, 2);
        (o.slowdown, iophase.periods, iophase.right_sets)
    };
    let (slowdown, told, right) = once();
    assert!(told > 50 && right * 20 > told * 19, "{right} of {told}");
    assert_eq!((slowdown, told, right), once());
}
