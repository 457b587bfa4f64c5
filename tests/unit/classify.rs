//! Access classes of generated and of real traces.

#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use common::shared;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::access_jobs::{Job, Row, place, prism, qcrd, trace_of};
use iophase::analysis;
use iophase::analysis::Selection;
use iophase::classify::{
    Choice, Classes, Classifier, GlobalSequentiality as G, Mix, Model, Options, Sequentiality, Size, classify, train,
};
use iophase::formats::{self, ReadOptions, Source, write};
use iophase::record::{BATCH_ROWS, Batch, Op, Restart, RowSink, Trace};
use proptest::prelude::*;

const KIB: u64 = 1024;
const FILE: &str = "/scratch/data";

fn trace(accesses: impl IntoIterator<Item = Row>, length: f64) -> Trace {
    trace_of(FILE, accesses, length)
}

fn classes(t: &Trace) -> Classes {
    classify(t, &Selection::default(), Options::default()).unwrap()
}

/// Classes of the only file: what, by how many ranks.
fn global(t: &Trace) -> Vec<(G, usize)> {
    let found = classes(t);
    assert_eq!(found.files.len(), 1);
    found.files[0].global.iter().map(|g| (g.sequentiality, g.ranks.len())).collect()
}

#[test]
fn requests_below_the_recorded_stripe_unit_are_small() {
    let mib = KIB * KIB;
    let job = |unit: Option<u64>| {
        let accesses = (0..4)
            .flat_map(|r| (0..40).map(move |i| (r, Op::Write, (4 * i + u64::from(r)) * 4 * mib, 4 * mib, i as f64)));
        let mut t = trace(accesses, 0.5);
        let file = t.files.intern(FILE);
        unit.into_iter().for_each(|u| t.files.set_stripe(file, u));
        let g = classes(&t).files[0].global[0].clone();
        let hint = |name: &str| g.advice.iter().find_map(|a| a.hints.get(name).cloned());
        (g.size, hint("call").is_some(), hint("striping_unit"))
    };
    assert_eq!(job(None), (Size::UniformLarge, false, Some(mib.to_string())));
    assert_eq!(job(Some(16 * mib)), (Size::UniformSmall, true, Some((16 * mib).to_string())));
}

#[test]
fn stripe_units_of_darshan_logs_are_those_of_their_lustre_records() {
    let Some(folder) = shared("thirdparty/darshan/imbalanced_io") else { return };
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let read = ReadOptions::default().counters(true);
        let Ok(source) = Source::open(&entry.unwrap().path(), &read.limits) else { continue };
        let Ok(t) = formats::read(&source, None, &read) else { continue };
        let Some(counters) = &t.counters else { continue };
        for (id, name) in t.files.iter() {
            let layout = counters.layouts.iter().find(|l| counters.files.name(l.file) == name);
            assert_eq!(t.files.stripe(id), layout.map(|l| l.stripe_bytes), "{name}");
            seen += usize::from(layout.is_some());
        }
    }
    assert!(seen > 0);
}

#[test]
fn a_class_lasts_from_its_first_access_to_its_last() {
    let accesses = (0..4).flat_map(|r| {
        (0..30).map(move |i| (r, Op::Write, (u64::from(r) * 30 + i) * KIB, KIB, f64::from(r) + i as f64))
    });
    let found = classes(&trace(accesses, 0.5));
    assert_eq!((found.files[0].global[0].start_s, found.files[0].global[0].end_s), (0.0, 32.5));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(super::sample(200) as u32))]
    #[test]
    fn every_class_at_every_number_of_ranks(
        which in 0usize..7, p in 2u64..=256, n in 24u64..60, size in 1u64..3_000_000, op in prop::bool::ANY, stagger in 0.0..0.3, slow in 1.0..1.5,
    ) {
        let class = G::ALL[which];
        let ranks = if class == G::SingleRank { 1 } else { p };
        let op = if op { Op::Read } else { Op::Write };
        let accesses = (0..ranks).flat_map(|r| (0..n).map(move |i| {
            // all overlap: a staggered start, one rank slower than the others
            let pace = if r == p / 2 { slow } else { 1.0 };
            let start = stagger * n as f64 * r as f64 / p as f64 + pace * i as f64;
            (r as u32, op, place(class, p, r, i, n, size), size, start)
        }));
        let t = trace(accesses, 0.5);
        prop_assert_eq!(global(&t), vec![(class, ranks as usize)]);
        let g = &classes(&t).files[0].global[0];
        let size_class = if size < KIB * KIB { Size::UniformSmall } else { Size::UniformLarge };
        prop_assert_eq!((g.size, g.mix), (size_class, if op == Op::Read { Mix::ReadOnly } else { Mix::WriteOnly }));
        prop_assert_eq!(g.bytes, ranks * n * size);
    }

    #[test]
    fn two_phases_of_different_class(a in 0usize..6, b in 0usize..6, p in 2u64..64, n in 24u64..40) {
        let (first, second) = (G::ALL[a], G::ALL[b]);
        prop_assume!(first != second && first != G::SingleRank && second != G::SingleRank);
        let accesses = (0..p).flat_map(|r| (0..2 * n).map(move |i| {
            let (class, i, base) = if i < n { (first, i, 0) } else { (second, i - n, 1 << 40) };
            let phase = if base > 0 { n as f64 + 5.0 } else { 0.0 };
            (r as u32, Op::Read, base + place(class, p, r, i, n, 4096), 4096, phase + i as f64)
        }));
        prop_assert_eq!(global(&trace(accesses, 0.5)), vec![(first, p as usize), (second, p as usize)]);
    }
}

#[test]
fn staggered_ranks_of_one_pattern_are_one_class() {
    let accesses = (0..16u64).flat_map(|r| {
        (0..20).map(move |i| {
            (
                r as u32,
                Op::Write,
                place(G::InterleavedSequential, 16, r, i, 20, 4096),
                4096,
                100.0 * r as f64 + i as f64,
            )
        })
    });
    let found = classes(&trace(accesses, 0.5));
    let g = &found.files[0].global;
    assert_eq!(g.len(), 1);
    assert_eq!((g[0].sequentiality, g[0].ranks.len(), g[0].staggered), (G::InterleavedSequential, 16, true));
}

/// First all of them one after the other, then all of them again with another class; any number of ranks.
#[test]
fn two_staggered_phases_are_two_classes() {
    for p in [2u64, 3, 7, 100, 1024] {
        let phase = |k: u64, class: G| {
            let begin = 20_000.0 * k as f64;
            (0..p).flat_map(move |r| {
                let row = move |i: u64| {
                    let start = begin + 15.0 * r as f64 + i as f64 * 0.5;
                    (r as u32, Op::Write, (k << 40) + place(class, p, r, i, 24, 4096), 4096, start)
                };
                (0..24).map(row)
            })
        };
        let both = phase(0, G::InterleavedSequential).chain(phase(1, G::PartitionedSequential));
        let found = classes(&trace(both, 0.2));
        let said: Vec<(G, usize, bool)> =
            found.files[0].global.iter().map(|g| (g.sequentiality, g.ranks.len(), g.staggered)).collect();
        let expected = [G::InterleavedSequential, G::PartitionedSequential].map(|class| (class, p as usize, true));
        assert_eq!(said, expected, "{p}");
    }
}

#[test]
fn writing_then_reading_back_is_two_classes() {
    let accesses = (0..8u64).flat_map(|r| {
        (0..40u64).map(move |i| {
            let op = if i < 20 { Op::Write } else { Op::Read };
            (r as u32, op, (r * 20 + i % 20) * 65536, 65536, i as f64)
        })
    });
    let found = classes(&trace(accesses, 0.5));
    let mixes: Vec<(Mix, G)> = found.files[0].global.iter().map(|g| (g.mix, g.sequentiality)).collect();
    assert_eq!(mixes, [(Mix::WriteOnly, G::PartitionedSequential), (Mix::ReadOnly, G::PartitionedSequential)]);
}

/// Classes by one classifier, after one earlier run of the same program.
fn answer(t: &Trace, choice: Choice, model: &Model) -> Classes {
    classify(t, &Selection::default(), Options::default().choice(choice).model(Some(model))).unwrap()
}

fn learned(earlier: &Trace) -> Model {
    let mut model = Model::default();
    train(earlier, &Selection::default(), Options::default(), &mut model).unwrap();
    // as it is stored
    Model::from_json(model.to_json().unwrap().as_bytes()).unwrap()
}

fn of(c: &Classes) -> Vec<(G, usize)> {
    c.files[0].global.iter().map(|g| (g.sequentiality, g.ranks.len())).collect()
}

/// Ranks that come late, a slow one, two phases, a second pass; what each classifier has to reach.
#[test]
fn every_classifier_on_jobs_with_known_classes() {
    let jobs = super::sample(200) as u64;
    let mut right = [0; 3];
    for number in 0..jobs {
        let job = Job::number(number);
        let model = learned(&job.run("/scratch/out.0001.dat", 1));
        let t = job.run("/scratch/out.0002.dat", 2);
        for (i, choice) in [Choice::Rules, Choice::Network, Choice::Markov].into_iter().enumerate() {
            let found = of(&answer(&t, choice, &model));
            right[i] += u32::from(found == job.truth());
            assert!(choice == Choice::Network || found == job.truth(), "{choice:?} of {job:?}: {found:?}");
        }
    }
    assert!(f64::from(right[1]) >= 0.98 * jobs as f64, "network: {} of {jobs}", right[1]);
}

#[test]
fn qcrd_reads_the_header_globally_and_interleaves_the_data() {
    let once = [(G::GlobalSequential, 64), (G::InterleavedSequential, 64)];
    let t = qcrd("/scratch/matrix.2");
    let model = learned(&qcrd("/scratch/matrix.1"));
    for choice in [Choice::Auto, Choice::Rules, Choice::Network, Choice::Markov] {
        assert_eq!(of(&answer(&t, choice, &model)), [once, once].concat(), "{choice:?}");
    }
    let found = answer(&t, Choice::Auto, &model);
    let expected = found.files[0].expected.as_ref().unwrap();
    assert_eq!((expected.passes, expected.learned_from.as_str()), (2.0, "/scratch/matrix.1"));
}

#[test]
fn prism_reads_whole_files_on_every_rank() {
    let t = prism("/scratch/init.rea");
    let model = learned(&t);
    for choice in [Choice::Auto, Choice::Rules, Choice::Network, Choice::Markov] {
        let found = answer(&t, choice, &model);
        let g = &found.files[0].global;
        assert_eq!(g.len(), 1, "{choice:?} {g:?}");
        let class = (g[0].sequentiality, g[0].size, g[0].ranks.len());
        assert_eq!(class, (G::GlobalSequential, Size::UniformSmall, 16), "{choice:?}");
        let policies: Vec<&str> = g[0].advice.iter().map(|a| a.policy.as_str()).collect();
        assert_eq!(policies, ["read-once-and-broadcast", "keep-in-cache"], "{choice:?}");
    }
    let expected = answer(&t, Choice::Markov, &model).files[0].expected.clone().unwrap();
    assert_eq!((expected.passes, expected.bytes, expected.runs), (2.0, 2 * 16 * 127_394, 1));
}

/// The first access of a file that is read twice tells nothing; an earlier run does.
#[test]
fn the_model_predicts_classes_from_the_first_access() {
    let model = learned(&prism("/scratch/init.rea"));
    let first: Vec<Row> = (0..16u32).map(|r| (r, Op::Read, 0, 8192, f64::from(r))).collect();
    let t = trace_of("/scratch/init.rea", first, 0.1);
    let found = answer(&t, Choice::Auto, &model);
    let expected = found.files[0].expected.as_ref().unwrap();
    assert_eq!((expected.passes, expected.global[0].sequentiality), (2.0, G::GlobalSequential));
    assert!(expected.global[0].advice.iter().any(|a| a.policy == "keep-in-cache"));
    let elsewhere = answer(&trace_of("/scratch/other", [(0, Op::Read, 0, 1, 0.0)], 0.1), Choice::Markov, &model);
    assert!(elsewhere.files[0].global.is_empty() && elsewhere.files[0].expected.is_none());
    assert!(elsewhere.warnings.iter().any(|w| w.code == "not-in-model"));
}

#[test]
fn several_runs_are_combined_and_invalid_models_refused() {
    let mut model = learned(&prism("/scratch/init.rea"));
    train(&prism("/scratch/init.rea"), &Selection::default(), Options::default(), &mut model).unwrap();
    assert_eq!(model.files(), 1);
    let expected = answer(&prism("/scratch/init.rea"), Choice::Markov, &model).files[0].expected.clone().unwrap();
    assert_eq!((expected.runs, expected.passes), (2, 2.0));
    let good = model.to_json().unwrap();
    for (old, new) in [
        ("access-model.v1", "access-model.v9"),
        ("\"runs\":2", "\"runs\":0"),
        ("\"block_bytes\":", "\"block_bytes\":0,\"x\":"),
        ("\"walks\":16", "\"walks\":0"),
        ("\"ranks\":16", "\"ranks\":18446744073709551615"),
        ("\"files\":[", "\"files\":{"),
    ] {
        let bad = good.replacen(old, new, 1);
        assert_ne!(bad, good, "{old} is in the model");
        assert_eq!(Model::from_json(bad.as_bytes()).unwrap_err().exit_code(), 3, "{new}");
    }
    for cut in (0..good.len()).step_by(97) {
        assert!(Model::from_json(&good.as_bytes()[..cut]).is_err());
    }
}

proptest! {
    /// Numbers that no training makes are refused or harmless.
    #[test]
    fn altered_models_are_refused_or_harmless(at in 0usize..400, number in prop::sample::select(vec!["0", "1", "9223372036854775807", "-9223372036854775808", "18446744073709551615"])) {
        let t = prism("/scratch/init.rea");
        let good = learned(&t).to_json().unwrap();
        let digits: Vec<(usize, usize)> = {
            let b = good.as_bytes();
            let begins = (1..b.len()).filter(|&i| b[i].is_ascii_digit() && matches!(b[i - 1], b':' | b'[' | b','));
            begins.map(|i| (i, i + b[i..].iter().take_while(|c| c.is_ascii_digit()).count())).collect()
        };
        let (from, to) = digits[at % digits.len()];
        let changed = format!("{}{number}{}", &good[..from], &good[to..]);
        if let Ok(model) = Model::from_json(changed.as_bytes()) {
            let found = answer(&t, Choice::Markov, &model);
            prop_assert!(found.files.len() == 1);
        }
    }
}

#[test]
fn every_class_names_the_classifier_that_gave_it() {
    // back to back, but every seventh access comes one too early
    let order = |i: u64| match i % 7 {
        3 => i + 1,
        4 => i - 1,
        _ => i,
    };
    let t = trace((0..70u64).map(|i| (0, Op::Read, order(i) * 4096, 4096, i as f64)), 0.5);
    let none = Model::default();
    let by = |choice| answer(&t, choice, &none).files[0].local.clone();
    assert!(by(Choice::Network).iter().all(|l| l.classifier == Classifier::Network));
    assert!(by(Choice::Rules).iter().all(|l| l.classifier == Classifier::Rules));
}

#[test]
fn sketches_are_bounded_and_in_the_order_of_the_files() {
    let job = Job::number(3);
    let t = job.run(FILE, 1);
    let (classes, sketches) = analysis::classes(&t, &Selection::default(), Options::default(), true).unwrap();
    assert_eq!((classes.files.len(), sketches.len()), (1, 1));
    assert_eq!(sketches[0].accesses, classes.records);
    assert_eq!(sketches[0].ranks.len() as u64, job.ranks);
}

/// A library puts a few bytes of its own between the datasets: the stride is the same all the same.
#[test]
fn small_jitter_of_a_stride_keeps_the_class() {
    let (p, n, size) = (4u64, 40u64, 262_144u64);
    let own = |i: u64| 2048 * (i / 7);
    let accesses = (0..p)
        .flat_map(|r| (0..n).map(move |i| (r as u32, Op::Write, 2104 + (i * p + r) * size + own(i), size, i as f64)));
    assert_eq!(global(&trace(accesses, 0.5)), [(G::InterleavedSequential, 4)]);
}

/// Classes by `iophase classify` of an input that it may read as a stream, and of the same input as a whole.
fn streamed_and_whole(path: &Path) -> [Classes; 2] {
    let options = ReadOptions::default();
    let source = Source::open(path, &options.limits).unwrap();
    let all = Selection::default();
    let streamed = analysis::classes_of(&source, None, &options, &all, Options::default(), false).unwrap().0;
    let whole = formats::read(&source, None, &options).unwrap();
    [streamed, analysis::classes(&whole, &all, Options::default(), false).unwrap().0]
}

/// Counts rows and the largest batch.
#[derive(Default)]
struct Counted {
    rows: Mutex<(usize, usize)>,
    restarts: Mutex<usize>,
}

impl RowSink for Counted {
    fn take(&self, batch: Batch<'_>) -> iophase::Result<()> {
        let mut rows = self.rows.lock().unwrap();
        *rows = (rows.0 + batch.rows.len(), rows.1.max(batch.rows.len()));
        Ok(())
    }

    fn restart(&self, _why: Restart) {
        *self.rows.lock().unwrap() = (0, 0);
        *self.restarts.lock().unwrap() += 1;
    }
}

/// Rows that an input gives to a sink that does not keep them, the largest batch, and how often it had to begin again.
fn batches(path: &Path) -> (usize, usize, usize) {
    let options = ReadOptions::default();
    let source = Source::open(path, &options.limits).unwrap();
    let sink = Counted::default();
    let trace = formats::read_into(&source, None, &options, &sink).unwrap();
    assert!(trace.data.is_empty());
    let (rows, largest) = sink.rows.into_inner().unwrap();
    (rows, largest, sink.restarts.into_inner().unwrap())
}

#[test]
fn streaming_gives_the_classes_of_the_whole_trace() {
    let folder = tempfile::tempdir().unwrap();
    for number in [0, 3, 13, 38] {
        let t = Job::number(number).run("/scratch/out.dat", 1);
        for name in ["t.csv", "t.jsonl"] {
            let path = folder.path().join(name);
            write::write(write::writer_for(&path).unwrap(), &t, &path).unwrap();
            let [streamed, whole] = streamed_and_whole(&path);
            assert_eq!(streamed, whole, "{number} {name}");
            assert_eq!((batches(&path).0, batches(&path).2), (t.data.len(), 0), "{number} {name}");
        }
    }
    for name in ["stable.darshan", "stable.strace"] {
        let path = Path::new("data").join(name);
        let [streamed, whole] = streamed_and_whole(&path);
        assert_eq!(streamed, whole, "{name}");
    }
}

#[test]
fn a_sink_that_keeps_nothing_gets_small_batches() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.st");
    let line = |i: u64| {
        format!("7 {}.5 pwrite64(5</scratch/out>, \"\"..., 4096, {}) = 4096 <0.002>\n", 1_700_000_000 + i, i * 4096)
    };
    std::fs::write(&path, (0..40_000).map(line).collect::<String>()).unwrap();
    let (rows, largest, restarts) = batches(&path);
    assert_eq!((rows, restarts), (40_000, 0));
    assert!(largest <= BATCH_ROWS, "{largest}");
}

#[test]
fn a_job_of_several_files_has_the_same_classes_as_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let rank = |r: u64| -> String {
        let line = |i: u64| {
            let offset = (i * 4 + r) * 4096;
            let time = 1_700_000_000.0 + i as f64 + 0.01 * r as f64;
            format!("{} {time:.6} pwrite64(5</scratch/out>, \"\"..., 4096, {offset}) = 4096 <0.002>\n", 100 + r)
        };
        (0..40).map(line).collect()
    };
    for r in 0..4 {
        std::fs::write(folder.path().join(format!("job_host_{r}.st")), rank(r)).unwrap();
    }
    let [streamed, whole] = streamed_and_whole(folder.path());
    assert_eq!(streamed, whole);
    assert_eq!(batches(folder.path()), (160, 40, 0));
    let g = &streamed.files[0].global[0];
    assert_eq!((g.sequentiality, g.ranks.len()), (G::InterleavedSequential, 4));
    // where several ranks append to a file, its end shows only when all of them have been read
    for r in 0..2 {
        let mut text = rank(r);
        text.push_str(&format!(
            "{pid} 1700000100.0 openat(AT_FDCWD, \"/scratch/log\", O_WRONLY|O_CREAT|O_TRUNC|O_APPEND, 0644) = 7</scratch/log> <0.1>\n\
             {pid} 1700000101.0 write(7</scratch/log>, \"\"..., 10) = 10 <0.1>\n",
            pid = 100 + r
        ));
        std::fs::write(folder.path().join(format!("job_host_{r}.st")), text).unwrap();
    }
    assert_eq!(batches(folder.path()), (162, 41, 1), "2 ranks of 41 rows, 2 of 40");
    let [streamed, whole] = streamed_and_whole(folder.path());
    assert_eq!(streamed, whole);
}

#[test]
fn records_of_several_layers_are_read_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let line = |i: u64, layer: &str| format!("write,{},4096,{i},/scratch/out,{layer}\n", i * 4096);
    let one: String = (0..30).map(|i| line(i, "posix")).collect();
    let header = "op,offset,size,start,file,layer\n";
    std::fs::write(&path, format!("{header}{one}")).unwrap();
    assert_eq!(batches(&path), (30, 30, 0));
    std::fs::write(&path, format!("{header}{one}{}", line(31, "mpiio"))).unwrap();
    assert_eq!(batches(&path), (30, 30, 1));
    let [streamed, whole] = streamed_and_whole(&path);
    assert_eq!(streamed, whole);
    assert_eq!(streamed.records, 30);
}

/// A model learned from a stream is that of the whole.
#[test]
fn training_from_a_stream_equals_training_from_the_whole_trace() {
    let folder = tempfile::tempdir().unwrap();
    let t = Job::number(13).run("/scratch/out.dat", 1);
    let path = folder.path().join("t.csv");
    write::write(write::writer_for(&path).unwrap(), &t, &path).unwrap();
    let (all, options) = (Selection::default(), ReadOptions::default());
    let source = Source::open(&path, &options.limits).unwrap();
    let mut model = Model::default();
    let files = analysis::train_on(&source, None, &options, &all, Options::default(), &mut model).unwrap();
    let mut whole = Model::default();
    train(&formats::read(&source, None, &options).unwrap(), &all, Options::default(), &mut whole).unwrap();
    assert_eq!((files, model), (1, whole));
}

/// Traces of IOR, with the options that say what it does.
fn ior_runs(corpus: &Path) -> Vec<(PathBuf, Vec<String>)> {
    let text = std::fs::read_to_string(corpus.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let runs = manifest["runs"].as_array().unwrap().iter();
    let of_ior = runs.filter(|r| r["scenario"] == "ior" && (r["mode"] == "darshan_dxt" || r["mode"] == "strace"));
    of_ior
        .map(|r| {
            let path = corpus.join(r["files"][0]["path"].as_str().unwrap());
            let folder = r["mode"] == "strace";
            let path = if folder { path.parent().unwrap().to_owned() } else { path };
            let command = r["command"].as_str().unwrap();
            let options = command[command.find("/bin/ior").unwrap()..].split([' ', '\'']).map(str::to_owned).collect();
            (path, options)
        })
        .collect()
}

#[test]
fn ior_has_the_classes_that_its_command_line_implies() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let mut seen = 0;
    for (path, options) in ior_runs(&corpus) {
        let has = |o: &str| options.iter().any(|x| x == o);
        if has("--mpiio.useFileView") {
            continue; // the requests of the collective buffers, not those of the job
        }
        let segments = options.iter().position(|o| o == "-s").map_or(1, |i| options[i + 1].parse::<u64>().unwrap());
        let class = match (has("-F"), has("-z"), segments) {
            (true, ..) => G::SingleRank,
            (false, true, _) => G::NonSequential,
            (false, false, 1) => G::PartitionedSequential,
            _ => G::InterleavedSequential,
        };
        let mixes: Vec<Mix> =
            [("-w", Mix::WriteOnly), ("-r", Mix::ReadOnly)].into_iter().filter(|m| has(m.0)).map(|m| m.1).collect();
        let found = read(&path);
        let files: Vec<_> = found.files.iter().filter(|f| f.file.as_ref().unwrap().contains("testfile")).collect();
        assert!(!files.is_empty(), "{}", path.display());
        for f in files {
            let said: Vec<(Mix, G)> = f.global.iter().map(|g| (g.mix, g.sequentiality)).collect();
            let expected: Vec<(Mix, G)> = mixes.iter().map(|m| (*m, class)).collect();
            assert_eq!(said, expected, "{} {options:?}", path.display());
        }
        seen += 1;
    }
    assert!(seen >= 12, "{seen}");
}

fn read(path: &Path) -> Classes {
    let options = ReadOptions::default();
    let source = Source::open(path, &options.limits).unwrap();
    classes(&formats::read(&source, None, &options).unwrap())
}

#[test]
fn read_modify_write_is_mixed_and_strided() {
    let accesses = (0..60u64).map(|i| {
        let op = if i % 2 == 0 { Op::Read } else { Op::Write };
        (0, op, i / 2 * 4096, 4096, i as f64)
    });
    let found = classes(&trace(accesses, 0.5));
    let l = &found.files[0].local;
    assert_eq!(l.len(), 1);
    assert_eq!((l[0].mix, l[0].sequentiality), (Mix::ReadWrite, Sequentiality::StridedKd));
}

#[test]
fn a_trace_without_offsets_has_no_classes() {
    let t = trace([(0, Op::Write, iophase::record::UNKNOWN_OFFSET, 10, 0.0)], 1.0);
    let e = classify(&t, &Selection::default(), Options::default()).unwrap_err();
    assert_eq!(e.exit_code(), 4);
}
