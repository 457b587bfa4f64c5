//! Rows of a caller that no reader has brought into range.

use crate::analysis::{self, Options};
use crate::record::{Data, Request, Trace};
use crate::{ErrorKind, classify, findings};

#[test]
fn analyses_refuse_rows_out_of_range() {
    let times = (0..6).map(|i| 4e301 + 1e299 * f64::from(i));
    let rows = times.map(|t| Request { start: t, end: t, size: 1, ..Request::default() });
    let trace = Trace { path: "mine".into(), data: Data::Requests(rows.collect()), ..Trace::default() };
    let answers = [
        analysis::analyze(&trace, &Options::default()).map(drop),
        classify::classify(&trace, &Default::default(), Default::default()).map(drop),
        findings::find(&trace, None, &Default::default()).map(drop),
        analysis::graph(&trace, &Default::default()).map(drop),
    ];
    for e in answers.map(Result::unwrap_err) {
        assert!(e.kind() == ErrorKind::Malformed && e.path() == Some("mine"), "{e}");
    }
}
