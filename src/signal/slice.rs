//! The rows of a trace that a mode and a selection keep, as they are.

use super::{Activity, Mode, Selection};
use crate::error::Result;
use crate::record::{Calls, Details, Files, Layer, Row, Rows, Trace};

/// A part of a trace: whole rows, in input order unless sorted. A row is in a time window if it starts there; none is cut.
#[derive(Debug, Clone)]
pub struct Slice<'a> {
    trace: &'a Trace,
    activity: Activity<'a>,
    /// The rows in another order than that of the trace.
    order: Option<Vec<usize>>,
}

impl<'a> Slice<'a> {
    /// The rows of `trace` for this mode and selection.
    pub fn new(trace: &'a Trace, mode: Mode, selection: &'a Selection) -> Self {
        Slice { trace, activity: Activity::new(trace, mode, selection), order: None }
    }

    /// The same rows by their start; rows that start together stay in input order. Takes eight bytes of memory per row.
    #[must_use]
    pub fn by_start(mut self) -> Self {
        let mut order: Vec<usize> = (0..self.activity.rows()).filter(|&i| self.activity.keeps_row(i)).collect();
        order.sort_by(|&a, &b| self.trace.row(a).span().0.total_cmp(&self.trace.row(b).span().0));
        self.order = Some(order);
        self
    }
}

impl Rows for Slice<'_> {
    fn files(&self) -> &Files {
        self.trace.files()
    }

    fn calls(&self) -> &Calls {
        self.trace.calls()
    }

    fn ranks(&self) -> u64 {
        self.trace.ranks()
    }

    fn origin_s(&self) -> i64 {
        self.trace.origin_s()
    }

    fn layer(&self) -> Option<Layer> {
        self.trace.layer()
    }

    fn details(&self) -> Details {
        self.trace.details()
    }

    fn visit(&self, each: &mut dyn FnMut(Row) -> Result<()>) -> Result<()> {
        if let Some(order) = &self.order {
            return order.iter().try_for_each(|&i| each(self.trace.row(i)));
        }
        let kept = (0..self.activity.rows()).filter(|&i| self.activity.keeps_row(i));
        kept.into_iter().try_for_each(|i| each(self.trace.row(i)))
    }
}
