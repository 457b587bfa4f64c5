//! Access classes of h5bench: the real runs of the corpus, generated ones, and HDF5's own accesses between drawn data.
//!
//! Classes follow from the command lines. A dataset of `h5bench_write` and `h5bench_read` is one array of all ranks in their order, each
//! with one block; the datasets of all variables and time steps lie behind each other, with a little metadata between.
//! - Contiguous in file (CC, IC), one dataset a variable: a rank takes its block of one dataset after the other, the blocks of the
//!   ranks fill each dataset: interleaved. In a partial read each rank takes the first part of its block: the same stride, with
//!   gaps: global-strided. `READ_OPTION=STRIDED` did nothing in the run of the corpus (its manifest says so), it reads all.
//! - Interleaved in file (CI, II), one dataset of structures a time step: the same with larger blocks: interleaved.
//! - CI and IC convert through a buffer: what is there is read before it is written, at the same places: read-write.
//! - `READ` takes the variables by name (id_1, id_2, px, ..., x, y, z), not by place: the walk jumps within each time step.
//! - hdf5_iotest writes a block of 2 x 2 doubles of each of 250 arrays of 4 x 4, then reads it: rows of 16 bytes, 4 ranks fill an
//!   array: interleaved writing, then interleaved reading.
//! - The exerciser is collective unless told otherwise: one aggregator on one node moves the whole dataset, one access to write it
//!   and one to read it back, 30 times at the same place: one rank, reads and writes in turns.
//! - All else is HDF5's: superblock, object headers, B-trees, heaps, of at most 600 bytes each. Only a collective write of metadata
//!   at close (1d-CC-coll) sieves: half a megabyte read and written at a time, by ranks one after the other, in no order.

#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use common::shared;
use std::path::{Path, PathBuf};

use super::access_jobs::{Row, place, trace_of};
use iophase::analysis::Selection;
use iophase::classify::{Choice, FileClasses, GlobalSequentiality as G, Mix, Options, classify};
use iophase::formats::{self, ReadOptions, Source};
use iophase::internals::workload::{Values, find, run};
use iophase::record::{Data, Op, Trace};
use proptest::prelude::*;

type Said = (Mix, G, usize);

fn file(t: &Trace, name: &str) -> FileClasses {
    let found = classify(t, &Selection::default(), Options::default()).unwrap();
    found.files.into_iter().find(|f| f.file.as_ref().is_some_and(|f| f.contains(name))).unwrap()
}

fn said(f: &FileClasses) -> Vec<Said> {
    f.global.iter().map(|g| (g.mix, g.sequentiality, g.ranks.len())).collect()
}

/// Accesses in classes, and set aside. None is lost.
fn counts(f: &FileClasses) -> (u64, u64) {
    let data: u64 = f.global.iter().map(|g| g.accesses).sum();
    assert_eq!(data, f.local.iter().map(|l| l.accesses).sum::<u64>());
    (data, f.aside.as_ref().map_or(0, |a| a.accesses))
}

fn accesses_to(t: &Trace, name: &str) -> u64 {
    let Data::Requests(rows) = &t.data else { panic!("no requests") };
    let counts = |i: &usize| {
        matches!(rows.op.get(*i), Op::Read | Op::Write)
            && rows.size.get(*i) > 0
            && t.files.name(rows.file.get(*i)).contains(name)
    };
    (0..rows.len()).filter(counts).count() as u64
}

struct Real {
    path: PathBuf,
    id: String,
    truth: serde_json::Value,
}

fn real_runs() -> Option<Vec<Real>> {
    let corpus = shared("corpus")?;
    let text = std::fs::read_to_string(corpus.join("manifest.json")).ok()?;
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let runs = manifest["runs"].as_array().unwrap().iter();
    let placed = runs.filter(|r| r["scenario"] == "h5bench" && (r["mode"] == "darshan_dxt" || r["mode"] == "strace"));
    let real = |r: &serde_json::Value| {
        let path = corpus.join(r["files"][0]["path"].as_str().unwrap());
        let path = if r["mode"] == "strace" { path.parent().unwrap().to_owned() } else { path };
        Real { path, id: r["id"].as_str().unwrap().to_owned(), truth: r["truth"].clone() }
    };
    Some(placed.map(real).collect())
}

fn read(path: &Path) -> Trace {
    let options = ReadOptions::default();
    formats::read(&Source::open(path, &options.limits).unwrap(), None, &options).unwrap()
}

/// The classes that a command line and its configuration imply, and how many accesses move data (at least, at most).
fn implied(truth: &serde_json::Value) -> (Vec<Said>, (u64, u64)) {
    let (program, config) = (truth["program"].as_str().unwrap(), &truth["config"]);
    let is = |key: &str, value: &str| config[key] == value;
    let steps = config["TIMESTEPS"].as_u64().unwrap_or(0);
    let blocks = |datasets: u64| 4 * steps * datasets;
    match program {
        "h5bench h5bench_read" => {
            let class = if is("READ_OPTION", "PARTIAL") { G::GlobalStrided } else { G::InterleavedSequential };
            (vec![(Mix::ReadOnly, class, 4)], (blocks(8), blocks(8)))
        }
        "h5bench h5bench_write" => {
            let compound = is("FILE_PATTERN", "INTERLEAVED");
            let converts = config["MEM_PATTERN"] != config["FILE_PATTERN"];
            let datasets = if compound { 1 } else { 8 };
            let mix = if converts { Mix::ReadWrite } else { Mix::WriteOnly };
            // a conversion reads before it writes, and a compound is written once for each of its 8 members, in 2 parts
            let (least, most) = match (converts, compound) {
                (false, _) => (blocks(datasets), blocks(datasets)),
                (true, false) => (blocks(8), 2 * blocks(8)),
                (true, true) => (16 * blocks(1), 32 * blocks(1)),
            };
            (vec![(mix, G::InterleavedSequential, 4)], (least, most))
        }
        "h5bench exerciser" => (vec![(Mix::ReadWrite, G::SingleRank, 1)], (60, 60)),
        "h5bench hdf5_iotest (metadata stress)" => {
            let both = [Mix::WriteOnly, Mix::ReadOnly].map(|mix| (mix, G::InterleavedSequential, 4));
            // 250 arrays, 4 ranks, 2 rows, twice; the superblock is read in a piece of the size of a row
            (both.to_vec(), (4000, 4004))
        }
        other => panic!("{other}"),
    }
}

#[test]
fn every_real_run_has_the_classes_that_its_command_line_implies() {
    let Some(runs) = real_runs() else {
        return;
    };
    assert!(runs.len() >= 18, "{}", runs.len());
    for r in runs {
        let t = read(&r.path);
        let name = if r.id.contains("exerciser") { "hdf5TestFile" } else { "test.h5" };
        let f = file(&t, name);
        let (mut classes, (least, most)) = implied(&r.truth);
        let (data, aside) = counts(&f);
        assert_eq!(data + aside, accesses_to(&t, name), "{}: no access is lost", r.id);
        if r.truth["config"]["COLLECTIVE_DATA"] == "YES" {
            // metadata is written at close in pieces of half a megabyte, each read before
            classes.push((Mix::ReadWrite, G::NonSequential, 4));
            assert_eq!((said(&f), f.global[0].accesses), (classes, least), "{}", r.id);
            let metadata = f.global[1].bytes as f64 / f.global[0].bytes as f64;
            assert!(metadata < 0.16, "{}: {metadata}", r.id);
            continue;
        }
        assert_eq!(said(&f), classes, "{}", r.id);
        assert!((least..=most).contains(&data), "{}: {data} accesses of data, not {least} to {most}", r.id);
        assert!(aside > 0 && f.aside.as_ref().unwrap().largest_bytes <= 600, "{}: {:?}", r.id, f.aside);
    }
}

fn generated(name: &str, given: &str) -> Trace {
    let workload = find(name).unwrap();
    let words: Vec<&str> = given.split_whitespace().collect();
    let pairs: Vec<(&str, &str)> = words.chunks(2).map(|w| (w[0], w[1])).collect();
    run(workload, &Values::of(workload.parameters(), &pairs).unwrap(), 1).unwrap().trace().unwrap()
}

#[test]
fn generated_runs_have_the_classes_that_their_parameters_imply() {
    let shapes = [("", 4), ("ranks 6 dims 64,64", 6), ("ranks 16 dims 16,16,8 steps 3", 16), ("ranks 3 dims 5000", 3)];
    for (shape, ranks) in shapes {
        for (pattern, mix) in
            [("CC", Mix::WriteOnly), ("CI", Mix::ReadWrite), ("IC", Mix::ReadWrite), ("II", Mix::WriteOnly)]
        {
            let written = (mix, G::InterleavedSequential, ranks);
            for (option, class) in
                [("none", None), ("full", Some(G::InterleavedSequential)), ("partial", Some(G::GlobalStrided))]
            {
                let given = format!("{shape} pattern {pattern} read {option} read-particles 100");
                let f = file(&generated("h5bench-write", &given), "h5");
                let expected: Vec<Said> =
                    [written].into_iter().chain(class.map(|c| (Mix::ReadOnly, c, ranks))).collect();
                assert_eq!(said(&f), expected, "{given}");
                assert_eq!(f.aside, None, "{given}");
            }
        }
    }
    for given in ["", "rows 4 columns 4", "rows 24 columns 24 process-rows 3 process-columns 4 arrays 7"] {
        let f = file(&generated("h5bench-metadata", given), "h5");
        let ranks = if given.contains("process") { 12 } else { 4 };
        let both = [Mix::WriteOnly, Mix::ReadOnly].map(|mix| (mix, G::InterleavedSequential, ranks));
        assert_eq!(said(&f), both, "{given}");
    }
    for (given, class, ranks) in [
        ("", G::InterleavedSequential, 4),
        ("elements 4,4,4 grid 2,1,3 sizes 2", G::InterleavedSequential, 6),
        ("aggregators 1", G::SingleRank, 1),
    ] {
        let f = file(&generated("h5bench-exerciser", given), "hdf5");
        assert_eq!(said(&f), [(Mix::ReadWrite, class, ranks)], "{given}");
    }
}

/// Numbers that look drawn.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Sizes of HDF5's own reads: superblock, object headers, nodes of B-trees, heaps.
const OWN: [u64; 7] = [8, 16, 80, 328, 352, 512, 544];
/// Names of the variables in their order are not their places.
const BY_NAME: [u64; 8] = [0, 1, 2, 6, 7, 3, 4, 5];

/// Each rank reads `n` pieces of data of `size` bytes where `place` says, and before some of them what the library needs to find
/// them; rank 0 reads more of that.
fn with_metadata(p: u64, n: u64, size: u64, seed: u64, place: impl Fn(u64, u64) -> u64) -> Vec<Row> {
    let mut draw = Draw(seed);
    let mut rows = Vec::new();
    for r in 0..p {
        let mut time = 0.01 * draw.below(30) as f64;
        let mut push = |offset: u64, size: u64, draw: &mut Draw| {
            time += 0.01 + 0.001 * draw.below(5) as f64;
            rows.push((r as u32, Op::Read, offset, size, time));
        };
        for i in 0..n {
            if i % 8 == 0 {
                for _ in 0..if r == 0 { 12 } else { 3 } {
                    push(draw.below(200) * 272, OWN[draw.below(7) as usize], &mut draw);
                }
            }
            push((1 << 20) + place(r, i), size, &mut draw);
        }
    }
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(super::sample(150) as u32))]
    #[test]
    fn datasets_read_by_name_are_strided(
        p in 2u64..64, steps in 2u64..8, scale in 13u32..23, more in 0u64..1 << 23, part in 1u64..4, seed in any::<u64>(),
    ) {
        // pieces that are large beside what lies between the datasets
        let size = (1 << scale) + more % (1 << scale);
        // a dataset holds the blocks of all ranks; a part of each is read
        let dataset = p * size * part;
        let rows = with_metadata(p, 8 * steps, size, seed, |r, i| {
            let place = i / 8 * 8 + BY_NAME[(i % 8) as usize];
            place * dataset + place / 3 * 272 + r * size * part
        });
        let t = trace_of("/scratch/test.h5", rows, 0.005);
        let f = file(&t, "h5");
        let class = if part == 1 { G::InterleavedSequential } else { G::GlobalStrided };
        prop_assert_eq!(said(&f), vec![(Mix::ReadOnly, class, p as usize)]);
        prop_assert_eq!(counts(&f).0, 8 * steps * p);
    }

    /// The same with random places.
    #[test]
    fn random_offsets_have_no_order_and_no_metadata_accesses(p in 2u64..64, n in 16u64..80, kib in 1u64..3000, seed in any::<u64>()) {
        let size = kib * 1024;
        let rows = with_metadata(p, n, size, seed, |r, i| place(G::NonSequential, p, r, i, n, size));
        let t = trace_of("/scratch/test.h5", rows, 0.005);
        for choice in [Choice::Auto, Choice::Rules] {
            let found = classify(&t, &Selection::default(), Options::default().choice(choice)).unwrap();
            let f = &found.files[0];
            prop_assert!(f.aside.is_none());
            let all: u64 = f.global.iter().map(|g| g.bytes).sum();
            let without = f.global.iter().filter(|g| g.sequentiality == G::NonSequential).map(|g| g.bytes).sum::<u64>();
            prop_assert!(without as f64 > 0.9 * all as f64, "{:?}", said(f));
        }
    }
}
