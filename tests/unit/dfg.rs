//! Directly-follows graphs: against their definition, and hard lines.

use common::HARD;
use std::collections::{BTreeMap, BTreeSet};

use iophase::analysis::{EventLog, event_log, save_log};
use iophase::dfg::{By, Case, Color, DfgReport, Mapping, Partition, Plan, report};
use iophase::formats::{ReadOptions, Source};
use iophase::internals::dfg::{END, Edge, Graph, START};
use proptest::prelude::*;

fn log_of(texts: &[(&str, &str)], plan: &Plan) -> EventLog {
    let sources: Vec<Source> =
        texts.iter().map(|(name, text)| Source::from_bytes(name, text.as_bytes().to_vec())).collect();
    event_log(&sources, None, &ReadOptions::default(), plan).unwrap()
}

fn report_of(log: &EventLog, plan: &Plan, partition: &Partition) -> DfgReport {
    report(&log.cases, log.skipped, plan, partition, log.warnings.clone()).unwrap()
}

/// Activities of every node with its events, and every edge with its count.
type Shape = (BTreeMap<String, u64>, BTreeMap<(String, String), u64>);

fn shape(g: &Graph) -> Shape {
    let nodes = g.nodes.iter().map(|n| (n.activity.clone(), n.events)).collect();
    (nodes, g.edges.iter().map(|e| ((e.from.clone(), e.to.clone()), e.count)).collect())
}

fn pairs<const N: usize>(edges: [(&str, &str, u64); N]) -> BTreeMap<(String, String), u64> {
    edges.into_iter().map(|(a, b, n)| ((a.to_owned(), b.to_owned()), n)).collect()
}

#[test]
fn hard_lines_become_events_or_warnings() {
    let plan = Plan { mapping: Mapping { path_levels: 9, all_files: true, ..Mapping::default() }, ..Plan::default() };
    let log = log_of(&[("a_h_1.st", HARD)], &plan);
    let g = Graph::of(&log.cases);
    let name = r#"/w/a (1) = "2".dat"#;
    let open = format!("openat:{name}");
    let read = format!("read:{name}");
    assert_eq!(
        shape(&g).1,
        pairs([
            (START, &open, 1),
            (&open, &read, 1),
            (&read, "read:pipe", 1),
            ("read:pipe", "write:/w/café/x", 1),
            ("write:/w/café/x", "read:pipe", 1),
            ("read:pipe", "write:TCP", 1),
            ("write:TCP", "fsync:/w/gone (deleted)", 1),
            ("fsync:/w/gone (deleted)", END, 1),
        ])
    );
    let n = g.node("read:pipe").unwrap();
    assert_eq!((n.events, n.bytes, n.duration_ns, n.rate_events), (2, 1, 23_000, 1), "a failed transfer has no rate");
    assert_eq!(g.node(&read).unwrap().bytes, 100);
    let codes: Vec<&str> = log.warnings.iter().map(|w| &*w.code).collect();
    assert!(["unparsed-lines", "unfinished-calls", "interrupted-calls"].iter().all(|c| codes.contains(c)), "{codes:?}");
    assert_eq!((log.skipped.interrupted, log.skipped.unmapped), (1, 1));

    let by_pid = Plan { by: By::Pid, ..plan };
    let log = log_of(&[("a_h_1.st", HARD)], &by_pid);
    let names: Vec<String> = log.cases.iter().map(|c| c.id.to_string()).collect();
    assert_eq!(names, ["a_h_1#7", "a_h_1#8"]);
    assert_eq!(Graph::of(&log.cases).count(START, "write:/w/café/x"), 1);
}

#[test]
fn events_are_ordered_by_start_if_the_clock_steps_back() {
    let plan = Plan::default();
    let lines = [
        "1 10:00:00.000300 read(3</x/c>, \"\", 1) = 1 <0.000001>\n",
        "1 10:00:00.000100 read(3</x/a>, \"\", 1) = 1 <0.000001>\n",
        "1 10:00:00.000200 read(3</x/b>, \"\", 1) = 1 <0.000001>\n",
    ]
    .concat();
    let log = log_of(&[("a_h_1.st", &lines)], &plan);
    let want = pairs([
        (START, "read:/x/a", 1),
        ("read:/x/a", "read:/x/b", 1),
        ("read:/x/b", "read:/x/c", 1),
        ("read:/x/c", END, 1),
    ]);
    assert_eq!(shape(&Graph::of(&log.cases)).1, want);
    let mut saved = Vec::new();
    let source = [Source::from_bytes("a_h_1.st", lines.into_bytes())];
    assert_eq!(save_log(&source, None, &ReadOptions::default(), &mut saved).unwrap(), 3, "each call once");
    let log = log_of(&[("log", std::str::from_utf8(&saved).unwrap())], &plan);
    assert_eq!(shape(&Graph::of(&log.cases)).1, want);
}

/// Calls of a random log by its definition: activity, line of the begin, process, bytes, duration in microseconds.
type Truth = Vec<(String, usize, u32, u64, u64)>;

/// Writes a log of some processes whose calls are cut in two, lost or whole, and what it holds.
fn random_log(steps: &[(u32, usize, usize, u8)]) -> (String, Truth) {
    let (mut text, mut truth) = (String::new(), Truth::new());
    let mut pending: BTreeMap<u32, (usize, String, String, u64)> = BTreeMap::new();
    let mut lines = 0;
    for &(pid, call, path, kind) in steps {
        let mut line = |body: &str| {
            lines += 1;
            text.push_str(&format!("{pid} 10:00:00.{:06} {body}\n", lines * 10));
            lines
        };
        if let Some((begin, activity, name, bytes)) = pending.remove(&pid) {
            // Every fourth cut call is lost: another one of the process follows.
            if kind % 4 != 3 {
                line(&format!("<... {name} resumed>\"\", 9) = {bytes} <0.000{kind:03}>"));
                truth.push((activity, begin, pid, bytes, u64::from(kind)));
                continue;
            }
        }
        let name = ["read", "write", "lseek"][call];
        let file = ["/a/b/c", "/a/b/d", "/e"][path];
        let moved = if call == 2 { 0 } else { path as u64 + 1 };
        let activity = format!("{name}:{}", ["/a/b", "/a/b", "/e"][path]);
        if kind % 3 == 0 {
            let begin = line(&format!("{name}(3<{file}>,  <unfinished ...>"));
            pending.insert(pid, (begin, activity, name.to_owned(), moved));
        } else {
            let begin = line(&format!("{name}(3<{file}>, \"\", 9) = {moved} <0.000{kind:03}>"));
            truth.push((activity, begin, pid, moved, u64::from(kind)));
        }
    }
    truth.sort_by_key(|t| t.1);
    (text, truth)
}

fn by_definition(truth: &[&Truth]) -> Shape {
    let (mut nodes, mut edges) = (BTreeMap::new(), BTreeMap::new());
    for case in truth.iter().filter(|t| !t.is_empty()) {
        let mut last = START.to_owned();
        for (activity, ..) in case.iter() {
            *nodes.entry(activity.clone()).or_default() += 1;
            *edges.entry((std::mem::replace(&mut last, activity.clone()), activity.clone())).or_default() += 1;
        }
        *edges.entry((last, END.to_owned())).or_default() += 1;
    }
    (nodes, edges)
}

fn steps() -> impl Strategy<Value = Vec<(u32, usize, usize, u8)>> {
    prop::collection::vec((1u32..4, 0usize..3, 0usize..3, 0u8..200), 1..40)
}

/// A call that surely ends, so that no log is empty.
const LAST: &str = "9 11:00:00.000000 close(3</e>) = 0 <0.000001>\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn graphs_are_those_of_the_definition(logs in prop::collection::vec(steps(), 1..4), split in any::<bool>()) {
        let made: Vec<(String, Truth)> = logs.iter().map(|s| {
            let (mut text, mut truth) = random_log(s);
            text.push_str(LAST);
            truth.push(("close:/e".into(), usize::MAX, 9, 0, 1));
            (text, truth)
        }).collect();
        let names: Vec<String> = (0..made.len()).map(|i| format!("{}_h_{i}.st", if i == 0 { "g" } else { "r" })).collect();
        let texts: Vec<(&str, &str)> = names.iter().zip(&made).map(|(n, (t, _))| (&**n, &**t)).collect();
        let plan = Plan { by: if split { By::Pid } else { By::File }, ..Plan::default() };
        let log = log_of(&texts, &plan);
        let whole = Graph::of(&log.cases);

        // The definition: the activities of each case in the order of their begin.
        let cases: Vec<Truth> = made.iter().flat_map(|(_, t)| {
            let mut pids: Vec<u32> = t.iter().map(|e| e.2).collect();
            pids.sort_unstable();
            pids.dedup();
            let one = |pid: Option<u32>| t.iter().filter(|e| pid.is_none_or(|p| e.2 == p)).cloned().collect::<Truth>();
            if split { pids.into_iter().map(|p| one(Some(p))).collect() } else { vec![one(None)] }
        }).collect();
        prop_assert_eq!(shape(&whole), by_definition(&cases.iter().collect::<Vec<_>>()));

        // Edges into a node, its count, and edges out of it are equal in number.
        for n in &whole.nodes {
            let sum = |f: &dyn Fn(&Edge) -> bool| whole.edges.iter().filter(|e| f(e)).map(|e| e.count).sum::<u64>();
            prop_assert_eq!(sum(&|e| e.to == n.activity), n.events);
            prop_assert_eq!(sum(&|e| e.from == n.activity), n.events);
            let of: Vec<_> = cases.iter().flatten().filter(|t| t.0 == n.activity).collect();
            prop_assert_eq!(n.bytes, of.iter().map(|t| t.3).sum::<u64>());
            prop_assert_eq!(n.duration_ns, of.iter().map(|t| t.4 * 1000).sum::<u64>());
        }

        // Sums over cases are the whole.
        let mut sum = Shape::default();
        for c in &log.cases {
            let (nodes, edges) = shape(&Graph::of([c]));
            nodes.into_iter().for_each(|(k, n)| *sum.0.entry(k).or_default() += n);
            edges.into_iter().for_each(|(k, n)| *sum.1.entry(k).or_default() += n);
        }
        prop_assert_eq!(sum, shape(&whole));

        if made.len() > 1 {
            colors_are_set_algebra(&log, &plan)?;
        }

        // The stored log gives the same graph.
        let sources: Vec<Source> = texts.iter().map(|(n, t)| Source::from_bytes(n, t.as_bytes().to_vec())).collect();
        let mut stored = Vec::new();
        save_log(&sources, None, &ReadOptions::default(), &mut stored).unwrap();
        let again = log_of(&[("log.csv", std::str::from_utf8(&stored).unwrap())], &plan);
        same(Graph::of(&again.cases), whole)?;
    }
}

/// Compares two reports. Mean rates may differ in their last digits, because they are summed in another order.
fn same(mut a: Graph, mut b: Graph) -> Result<(), TestCaseError> {
    for (a, b) in a.nodes.iter_mut().zip(&mut b.nodes) {
        let (x, y) = (a.data_rate.take(), b.data_rate.take());
        prop_assert_eq!(x.is_some(), y.is_some());
        prop_assert!((x.unwrap_or(0.0) - y.unwrap_or(0.0)).abs() <= 1e-12 * x.unwrap_or(0.0));
    }
    prop_assert_eq!(a, b);
    Ok(())
}

/// Green is what only the green cases have, red what only the red, and the rest is what both have.
fn colors_are_set_algebra(log: &EventLog, plan: &Plan) -> Result<(), TestCaseError> {
    let partition = Partition { green: vec!["g_*".parse().unwrap()], red: Vec::new() };
    let r = report_of(log, plan, &partition);
    let part = |cid: &str| shape(&Graph::of(log.cases.iter().filter(|c: &&Case| c.id.cid == cid)));
    let (green, red) = (part("g"), part("r"));
    let expected = |g: bool, r: bool| match (g, r) {
        (true, false) => Color::Green,
        (false, true) => Color::Red,
        _ => Color::None,
    };
    for n in &r.nodes {
        let a = &n.activity;
        prop_assert_eq!(n.color, expected(green.0.contains_key(a), red.0.contains_key(a)));
    }
    for e in &r.edges {
        let k = (e.from.clone(), e.to.clone());
        prop_assert_eq!(e.color, expected(green.1.contains_key(&k), red.1.contains_key(&k)));
    }
    let c = r.comparison.unwrap();
    let only: BTreeSet<&String> = green.0.keys().filter(|k| !red.0.contains_key(*k)).collect();
    prop_assert_eq!(c.only_green.activities.iter().collect::<BTreeSet<_>>(), only);
    Ok(())
}
