//! Options of the reader of time series.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::formats::rates::{Stamp, ValueKind};

options! {
    /// How a time series of a monitoring tool is read. What is `None` is as the tool writes it, which its header shows; else as said.
    #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
    pub struct SeriesOptions {
        /// Which columns hold what; needed where the header is of no known tool.
        pub columns: Option<SeriesColumns>,
        /// Meaning of the values; else rates.
        pub kind: Option<ValueKind>,
        /// Bytes of one unit of the values; else 1.
        pub unit_bytes: Option<f64>,
        /// Seconds of one unit of the times, if they are numbers; else by their size.
        pub time_unit_s: Option<f64>,
        /// Which step a rate or an amount belongs to; else the one before its time.
        pub stamp: Option<Stamp>,
        /// Between the fields of a line, a blank for runs of blanks; else the most frequent of `,` `;` and tab in the header, or blanks.
        pub separator: Option<u8>,
        /// Distance of rows without time in seconds (else 1), and the step where rows do not show it.
        pub step_s: Option<f64>,
        /// Give also the devices whose bytes other devices of the table count: partitions, totals, device mapper, RAID. For a choice among
        /// devices; added up, bytes count twice.
        pub every_device: bool,
    }
}

impl SeriesOptions {
    /// The step that is named, if it is one.
    pub(super) fn step(&self) -> Option<f64> {
        self.step_s.filter(|s| s.is_finite() && *s > 0.0)
    }
}

/// The columns of a time series, as `time=Time,write=wkB/s,host=node`: `time`, `end`, `dur`, `value`, `read`, `write`, `rank`, `host`,
/// `device`, and `where=COLUMN:TEXT` for the rows that count. A column is the name in the header (exact, else in any case) or its number
/// from 1. `+` between columns of values adds them up; between two of the time they are date and time of day.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SeriesColumns {
    pub(super) time: Vec<String>,
    pub(super) end: Option<String>,
    pub(super) dur: Option<String>,
    /// Values that do not say whether they are reads or writes.
    pub(super) value: Vec<String>,
    pub(super) read: Vec<String>,
    pub(super) write: Vec<String>,
    pub(super) rank: Option<String>,
    pub(super) host: Option<String>,
    pub(super) device: Option<String>,
    /// Column and text, with a colon between.
    pub(super) filter: Option<String>,
}

impl FromStr for SeriesColumns {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut columns = SeriesColumns::default();
        for (key, value) in settings(text) {
            if !columns.set(key, value) {
                return Err(Error::new(ErrorKind::Usage, format!("unknown key `{key}` in the columns `{text}`"))
                    .expected(
                        "time, end, dur, value, read, write, rank, host, device or where, each with = and a column",
                    ));
            }
        }
        if columns.value.is_empty() && columns.read.is_empty() && columns.write.is_empty() {
            return Err(Error::new(ErrorKind::Usage, format!("no values in the columns `{text}`"))
                .expected("read=COLUMN, write=COLUMN or value=COLUMN"));
        }
        Ok(columns)
    }
}

impl SeriesColumns {
    /// False if there is no such key, or nothing behind it.
    fn set(&mut self, key: &str, value: &str) -> bool {
        let one = || Some(value.to_owned());
        let several = || value.split('+').map(|c| c.trim().to_owned());
        match key {
            "time" => self.time = several().collect(),
            "end" => self.end = one(),
            "dur" | "duration" => self.dur = one(),
            "value" => self.value.extend(several()),
            "read" => self.read.extend(several()),
            "write" | "written" => self.write.extend(several()),
            "rank" => self.rank = one(),
            "host" => self.host = one(),
            "device" => self.device = one(),
            "where" => self.filter = one(),
            _ => return false,
        }
        !value.is_empty() && self.time.len() <= 2
    }
}

/// The settings `key=value` between commas. A comma that no `word=` follows is part of a name.
fn settings(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let begins =
        |part: &str| part.split_once('=').is_some_and(|(key, _)| key.trim().bytes().all(|b| b.is_ascii_lowercase()));
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let whole = rest?;
        let next = whole.match_indices(',').find(|(n, _)| begins(&whole[n + 1..])).map(|(n, _)| n);
        rest = next.map(|n| &whole[n + 1..]);
        let (key, value) = whole[..next.unwrap_or(whole.len())].split_once('=').unwrap_or((whole, ""));
        Some((key.trim(), value.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_from_text() {
        let c: SeriesColumns = "time=Date+Time, written=a, b+2,where=dev:sda,host=n".parse().unwrap();
        assert_eq!((c.time, c.write), (vec!["Date".into(), "Time".into()], vec!["a, b".into(), "2".into()]));
        assert_eq!((c.filter.as_deref(), c.host.as_deref()), (Some("dev:sda"), Some("n")));
        for bad in ["", "time=1", "read", "read=", "size=3,read=1", "time=1+2+3,read=4"] {
            assert_eq!(bad.parse::<SeriesColumns>().unwrap_err().kind(), ErrorKind::Usage, "{bad}");
        }
    }
}
