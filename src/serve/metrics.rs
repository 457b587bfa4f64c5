//! The jobs as OpenMetrics text, for Prometheus and its kin.

use std::fmt::Write as _;

use super::jobs::Jobs;
use crate::online::Prediction;

pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A gauge: its name, its help text, and its value in a prediction; a job without the value has no sample.
type Gauge = (&'static str, &'static str, fn(&Prediction) -> Option<f64>);

const GAUGES: [Gauge; 3] = [
    ("iophase_job_period_seconds", "Period of the bursts.", |p| p.period_s.filter(|_| p.periodic)),
    ("iophase_job_confidence", "Probability that the period is right.", |p| p.confidence.filter(|_| p.periodic)),
    ("iophase_job_next_burst_seconds", "Start of the next burst on the clock of the trace.", |p| p.next_start_s),
];

/// All metrics of all jobs.
pub(super) fn text(jobs: &Jobs) -> String {
    let latest: Vec<_> = jobs.all_found().into_iter().map(|(name, found)| (escaped(&name), found)).collect();
    let mut text = String::new();
    let mut sample = |line: std::fmt::Arguments<'_>| {
        // a String takes everything
        let _ = text.write_fmt(line);
    };
    for (gauge, help, value) in GAUGES {
        let unit = if gauge.ends_with("_seconds") { format!("# UNIT {gauge} seconds\n") } else { String::new() };
        sample(format_args!("# TYPE {gauge} gauge\n{unit}# HELP {gauge} {help}\n"));
        for (name, found) in &latest {
            if let Some(v) = found.snapshot.prediction.as_ref().and_then(value) {
                sample(format_args!("{gauge}{{job=\"{name}\"}} {v}\n"));
            }
        }
    }
    let bytes = "iophase_job_bytes";
    sample(format_args!(
        "# TYPE {bytes} counter\n# UNIT {bytes} bytes\n# HELP {bytes} Bytes read and written so far.\n"
    ));
    for (name, found) in &latest {
        sample(format_args!("{bytes}_total{{job=\"{name}\"}} {}\n", found.bytes));
    }
    text + "# EOF\n"
}

/// A label value: backslash, quote and line feed are escaped.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
