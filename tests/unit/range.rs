//! Rows of a caller that no reader has brought into range.

use iophase::analysis::{self, Options};
use iophase::formats::{self, ReadOptions, Source};
use iophase::record::{Data, Request, Trace};
use iophase::{ErrorKind, Result, classify, findings};

fn answers(trace: &Trace) -> [Result<()>; 4] {
    [
        analysis::analyze(trace, &Options::default()).map(drop),
        classify::classify(trace, &Default::default(), Default::default()).map(drop),
        findings::find(trace, None, &Default::default()).map(drop),
        analysis::graph(trace, &Default::default()).map(drop),
    ]
}

#[test]
fn analyses_refuse_rows_out_of_range() {
    let times = (0..6).map(|i| 4e301 + 1e299 * f64::from(i));
    let rows = times.map(|t| Request { start: t, end: t, size: 1, ..Request::default() });
    let trace = Trace { path: "mine".into(), data: Data::Requests(rows.collect()), ..Trace::default() };
    for e in answers(&trace).map(Result::unwrap_err) {
        assert!(e.kind() == ErrorKind::Malformed && e.path() == Some("mine"), "{e}");
    }
}

#[test]
fn analyses_take_all_times_that_a_reader_takes() {
    let rows = "rank,op,file,offset,size,start,end\n0,write,/f,0,10,-1e12,-1e12\n0,write,/f,10,10,1e12,1e12\n";
    let trace = formats::read(&Source::from_bytes("far", rows), None, &ReadOptions::default()).unwrap();
    assert_eq!(trace.data.len(), 2);
    for (i, answer) in answers(&trace).into_iter().enumerate() {
        assert!(answer.is_ok(), "{i}: {answer:?}");
    }
}
