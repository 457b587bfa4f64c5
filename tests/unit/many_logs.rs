//! The basis on which very many logs are read: totals without rows, the outline of a damaged log, a deadline, the bursts.

use std::time::Instant;

use iophase::analysis::{self, Options};
use iophase::formats::{self, Detail, Limits, ReadOptions, Source};

const LOGS: [&str; 5] = [
    "data/stable.darshan",
    "data/stable-heatmap.darshan",
    "data/change.darshan",
    "data/aperiodic.darshan",
    "data/two-periods.darshan",
];

fn open(path: &str) -> Source {
    Source::open(path.as_ref(), &Limits::default()).unwrap()
}

#[test]
fn totals_are_those_of_a_read_with_rows() {
    for path in LOGS {
        let read =
            |detail| formats::read(&open(path), None, &ReadOptions::default().counters(true).detail(detail)).unwrap();
        let (totals, rows) = (read(Detail::Totals), read(Detail::Transfers));
        assert!(totals.data.is_empty() && !rows.data.is_empty(), "{path}");
        assert_eq!((&totals.job, totals.layer, totals.timing), (&rows.job, rows.layer, rows.timing), "{path}");
        assert_eq!(totals.counters.unwrap().tables, rows.counters.unwrap().tables, "{path}");
        assert!(totals.layers.iter().all(|l| rows.layers.contains(l)), "{path}");
    }
}

#[test]
fn a_cut_log_still_says_whose_it_is() {
    let bytes = std::fs::read("data/stable.darshan").unwrap();
    let whole = formats::read(&open("data/stable.darshan"), None, &ReadOptions::default()).unwrap();
    let cut = Source::from_bytes("cut", bytes[..2500].to_vec());
    assert!(formats::read(&cut, None, &ReadOptions::default()).is_err());
    let (format, header, job) = formats::outline(&cut).unwrap();
    assert_eq!((format, header, job), ("darshan", whole.header, whole.job));
    assert!(formats::outline(&Source::from_bytes("text", *b"no trace")).is_none());
}

#[test]
fn reading_stops_at_the_deadline() {
    for path in ["data/stable.darshan", "data/stable.msgpack"] {
        let late = ReadOptions::default().limits(Limits::default().deadline(Some(Instant::now())));
        let e = formats::read(&open(path), None, &late).unwrap_err();
        assert!(e.to_string().contains("takes longer"), "{e}");
    }
}

#[test]
fn single_bursts_are_those_of_the_report() {
    for path in LOGS {
        let trace = formats::read(&open(path), None, &ReadOptions::default()).unwrap();
        let found = analysis::analyze(&trace, &Options::default().patterns(false)).unwrap();
        for (signal, evidence) in found.report.signals.iter().zip(&found.evidence) {
            let bursts: Vec<_> = evidence.bursts().collect();
            let Some(summary) = &signal.bursts else { continue };
            assert_eq!(bursts.iter().map(|b| b.start_s).collect::<Vec<_>>(), summary.starts_s, "{path}");
            let most = bursts.iter().map(|b| b.bytes).fold(0.0, f64::max);
            assert_eq!(most, summary.bytes.max, "{path}");
        }
    }
}
