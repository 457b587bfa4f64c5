//! What holds in every simulation.

use clap::ValueEnum;

use crate::SLOWDOWN;
use crate::jobs::Workload;
use crate::knowledge::{Iophase, Knowledge, MeanGap, Truth};
use crate::policy::Policy;
use crate::sim::{self, Outcome};

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
fn a_scheduler_without_knowledge_shares_fairly() {
    let fair = run(Workload::Decades, Policy::FairShare, &mut (), 1).slowdown;
    assert_eq!(fair, run(Workload::Decades, Policy::Set10, &mut (), 1).slowdown);
    assert_eq!(fair, run(Workload::Decades, Policy::LeastLeft, &mut (), 1).slowdown);
}

#[test]
fn set_10_with_the_truth_is_no_worse_than_fair_share_among_one_short_and_fifteen_long_jobs() {
    for seed in 0..5 {
        let fair = run(Workload::OneAmongFifteen, Policy::FairShare, &mut (), seed);
        let best = run(Workload::OneAmongFifteen, Policy::Set10, &mut Truth, seed);
        assert!(best.utilisation >= fair.utilisation && SLOWDOWN.2(&best) <= SLOWDOWN.2(&fair), "seed {seed}");
    }
}

#[test]
fn predictions_are_of_the_right_set_and_the_same_in_every_run() {
    let once = || run(Workload::OneAmongFifteen, Policy::Set10, &mut Iophase::default(), 2);
    let (o, again) = (once(), once());
    assert!(o.known > 0.7 && o.right > 0.95, "{} {}", o.known, o.right);
    assert_eq!(o.slowdown, again.slowdown);
    let o = run(Workload::OneAmongFifteen, Policy::Set10, &mut MeanGap::default(), 2);
    assert!(o.known > 0.9 && o.right > 0.95, "{} {}", o.known, o.right);
}
