//! The pipeline from a trace to a report.
