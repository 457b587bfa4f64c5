//! How often each classifier of access classes is right on jobs that are true by construction, and how often they agree. `JOBS=2000 FIRST=0`
//! chooses the jobs:
//!
//!     cargo test --release --all-features --test unit classifier_accuracy -- --ignored --nocapture

use super::access_jobs::{Job, Kind};
use iophase::analysis::Selection;
use iophase::classify::{Choice, Classes, GlobalSequentiality as G, Model, Options, classify, train};

fn global(c: &Classes) -> Vec<(G, usize)> {
    c.files[0].global.iter().map(|g| (g.sequentiality, g.ranks.len())).collect()
}

#[test]
#[ignore = "prints the shares that docs/access.md states"]
#[allow(clippy::print_stdout)]
fn shares_of_right_answers() -> iophase::Result<()> {
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|a| a.parse().ok()).unwrap_or(default);
    let (jobs, first) = (number("JOBS", 1000), number("FIRST", 0));
    let all = Selection::default();
    let (mut right, mut agree) = ([[0u32; 4]; 5], [0u32; 3]);
    let mut of_kind = [0u32; 5];
    for number in first..first.saturating_add(jobs) {
        let job = Job::number(number);
        let mut model = Model::default();
        train(&job.run("/scratch/out.0001", 1), &all, Options::default(), &mut model)?;
        let trace = job.run("/scratch/out.0002", 2);
        let ask = |choice| classify(&trace, &all, Options::default().choice(choice).model(Some(&model)));
        let choices = [Choice::Rules, Choice::Network, Choice::Markov, Choice::Auto];
        let answers = choices.into_iter().map(|c| ask(c).map(|c| global(&c))).collect::<iophase::Result<Vec<_>>>()?;
        let kind = Kind::ALL.iter().position(|k| *k == job.kind).unwrap_or(0);
        of_kind[kind] += 1;
        for (i, a) in answers.iter().enumerate() {
            let good = *a == job.truth();
            right[kind][i] += u32::from(good);
            if !good {
                println!("{number} {:?}: {job:?} says {a:?}", choices[i]);
            }
        }
        for (i, (a, b)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
            agree[i] += u32::from(answers[a] == answers[b]);
        }
    }
    println!("{:12} {:>6} {:>8} {:>8} {:>8} {:>8}", "right", "jobs", "rules", "network", "markov", "auto");
    let share = |a: u32, b: u32| format!("{:.2} %", 100.0 * f64::from(a) / f64::from(b.max(1)));
    for (k, kind) in Kind::ALL.iter().enumerate() {
        let row: Vec<String> = right[k].iter().map(|r| format!("{:>8}", share(*r, of_kind[k]))).collect();
        println!("{:12} {:>6} {}", format!("{kind:?}"), of_kind[k], row.join(" "));
    }
    let total = |i: usize| right.iter().map(|r| r[i]).sum::<u32>();
    let row: Vec<String> = (0..4).map(|i| format!("{:>8}", share(total(i), jobs as u32))).collect();
    println!("{:12} {jobs:>6} {}", "all", row.join(" "));
    for (i, pair) in ["rules and network", "rules and markov", "network and markov"].iter().enumerate() {
        println!("{pair} agree: {}", share(agree[i], jobs as u32));
    }
    Ok(())
}
