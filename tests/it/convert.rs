//! `iophase convert`: selection, targets and exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use iophase::formats::{ReadOptions, Source, read};
use iophase::record::{Data, Request, Trace};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn open(path: &Path) -> Trace {
    read(&Source::open(path, &Default::default()).unwrap(), None, &ReadOptions::default()).unwrap()
}

fn iophase(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_iophase")).args(args).output().unwrap()
}

#[test]
fn selection_options_and_exit_codes() {
    let dir = tempfile::tempdir().unwrap();
    let (trace, out) = (data("stable.darshan"), dir.path().join("x.csv"));
    let (trace, out) = (trace.to_str().unwrap(), out.to_str().unwrap());
    let run = |more: &[&str]| {
        let o = iophase(&[&["convert", trace, "-o", out, "-qq"], more].concat());
        assert!(o.stdout.is_empty());
        o.status.code().unwrap()
    };
    let rows = || match open(Path::new(out)).data {
        Data::Requests(r) => r,
        Data::Intervals(_) => panic!("no requests"),
    };
    assert_eq!(run(&[]), 0);
    let all = rows();
    assert_eq!(all.len(), 1792);
    assert_eq!(run(&["--ranks", "2-3", "--from", "5", "--until", "15", "--files", "ckpt"]), 0);
    let some = rows();
    let kept: Vec<Request> =
        all.iter().filter(|r| (2..=3).contains(&r.rank) && (5.0..15.0).contains(&r.start)).collect();
    assert!(!kept.is_empty() && kept.len() == some.len());
    assert!(
        some.iter()
            .zip(&kept)
            .all(|(a, b)| (a.rank, a.offset, a.size, a.start, a.end) == (b.rank, b.offset, b.size, b.start, b.end))
    );
    for (args, code) in
        [(&["--mode", "read"][..], 4), (&["--from", "1000"], 4), (&["--layer", "mpiio"], 4), (&["--to", "nonsense"], 2)]
    {
        assert_eq!(run(args), code, "{args:?}");
    }
    let code = |args: &[&str]| iophase(args).status.code().unwrap();
    assert_eq!(code(&["convert", trace, "-o", "/nonexistent/x.csv"]), 5);
    assert_eq!(code(&["convert", trace, "-o", "x.unknown"]), 2);
    assert_eq!(code(&["convert", trace, "-o", "-"]), 2);
    assert_eq!(code(&["convert", "/nonexistent", "-o", out]), 3);
    let o = iophase(&["convert", trace, "-o", "-", "--to", "csv", "--until", "1"]);
    assert_eq!(o.status.code(), Some(0));
    assert!(o.stdout.starts_with(b"rank,op,file,offset,size,start,end,layer\n"));
    let text = String::from_utf8(o.stdout).unwrap();
    let starts: Vec<f64> = text.lines().skip(1).map(|l| l.split(',').nth(5).unwrap().parse().unwrap()).collect();
    assert!(starts.len() > 100 && starts.is_sorted());
}
