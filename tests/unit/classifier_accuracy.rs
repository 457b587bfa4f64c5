//! Every classifier of access classes on jobs that are true by construction. `JOBS=2000 FIRST=0` chooses the jobs.

use super::access_jobs::Job;
use iophase::analysis::Selection;
use iophase::classify::{Choice, Model, Options, classify, train};

#[test]
fn every_classifier_is_right_on_regular_jobs() {
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|a| a.parse().ok()).unwrap_or(default);
    let (jobs, first) = (number("JOBS", 50), number("FIRST", 0));
    let all = Selection::default();
    for number in first..first.saturating_add(jobs) {
        let job = Job::number(number);
        let mut model = Model::default();
        train(&job.run("/scratch/out.0001", 1), &all, Options::default(), &mut model).unwrap();
        let trace = job.run("/scratch/out.0002", 2);
        for choice in [Choice::Rules, Choice::Network, Choice::Markov, Choice::Auto] {
            let classes = classify(&trace, &all, Options::default().choice(choice).model(Some(&model))).unwrap();
            let global: Vec<_> = classes.files[0].global.iter().map(|g| (g.sequentiality, g.ranks.len())).collect();
            assert_eq!(global, job.truth(), "{number} {choice:?}: {job:?}");
        }
    }
}
