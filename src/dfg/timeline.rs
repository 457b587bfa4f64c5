//! When the events of one activity ran, case by case (figure 5).

use std::sync::Arc;

use super::case::Case;
use super::sequence::Activity;

/// Events of a case that touch or overlap at the resolution of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// Start in seconds since the start of the timeline.
    pub start_s: f64,
    /// End in seconds since the start of the timeline.
    pub end_s: f64,
    /// Events in it.
    pub events: u64,
}

/// All events of one activity.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The activity.
    pub activity: String,
    /// First start, in seconds of the trace's clock.
    pub start_s: f64,
    /// From the first start to the last end, in seconds.
    pub span_s: f64,
    /// Cases with the activity, and their events in the order of time.
    pub rows: Vec<(String, Vec<Bar>)>,
}

impl Timeline {
    /// Of these cases; events closer than one of `columns` parts of the span share a bar. `None` if none has the activity.
    pub fn of(cases: &[Case], activity: &str, columns: usize) -> Option<Timeline> {
        // the cases of one part of a trace share their activities
        let mut known: Option<(&Case, Option<Activity>)> = None;
        let found: Vec<_> = cases
            .iter()
            .filter_map(|c| {
                let same = known.filter(|(before, _)| Arc::ptr_eq(&before.activities, &c.activities));
                let place = || c.activities.iter().position(|a| a == activity).map(|i| i as Activity);
                let number = same.map_or_else(place, |(_, number)| number);
                known = Some((c, number));
                let mut events: Vec<(i64, i64)> = c
                    .stats
                    .get(&number?)?
                    .spans
                    .iter()
                    .map(|(start, duration)| (start, start.saturating_add_unsigned(duration)))
                    .collect();
                events.sort_unstable();
                (!events.is_empty()).then(|| (c.id.to_string(), events))
            })
            .collect();
        let first = found.iter().filter_map(|(_, e)| e.first()).map(|e| e.0).min()?;
        let last = found.iter().flat_map(|(_, e)| e).map(|e| e.1).max()?;
        let seconds = |t: i64| t.saturating_sub(first) as f64 / 1e9;
        let span_s = seconds(last);
        let gap = span_s / columns.max(1) as f64;
        let rows = found
            .into_iter()
            .map(|(case, events)| {
                let mut bars: Vec<Bar> = Vec::new();
                for (start, end) in events {
                    let (start_s, end_s) = (seconds(start), seconds(end));
                    match bars.last_mut().filter(|b| start_s < b.end_s + gap) {
                        Some(b) => (b.end_s, b.events) = (b.end_s.max(end_s), b.events + 1),
                        None => bars.push(Bar { start_s, end_s, events: 1 }),
                    }
                }
                (case, bars)
            })
            .collect();
        Some(Timeline { activity: activity.to_owned(), start_s: first as f64 / 1e9, span_s, rows })
    }
}
