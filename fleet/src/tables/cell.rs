//! Types of cells, and how they become arrays.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use datafusion::arrow::array::{
    ArrayBuilder, ArrayRef, BooleanBuilder, FixedSizeBinaryBuilder, Float64Builder, Int64Builder, ListBuilder,
    MapBuilder, StringBuilder, TimestampMicrosecondBuilder,
};
use datafusion::arrow::datatypes::{DataType, Field, TimeUnit};
use serde::{Deserialize, Serialize};

/// Key of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key(pub [u8; 16]);

/// A time: microseconds since 1970-01-01 00:00 UTC; `None` is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Time(pub Option<i64>);

impl Time {
    /// From seconds since 1970.
    pub fn of_seconds(s: f64) -> Time {
        let us = s * 1e6;
        // `as` would turn what is too large into the largest time
        Time((us.is_finite() && us.abs() < 9e18).then(|| us.round() as i64))
    }

    /// As a date of the Gregorian calendar, if there is one.
    pub fn date_time(self) -> Option<DateTime<Utc>> {
        self.0.and_then(DateTime::from_timestamp_micros)
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> Option<f64> {
        self.0.map(|us| us as f64 * 1e-6)
    }
}

impl Key {
    /// Which of `n` equal parts of all keys it is in.
    pub fn part(&self, n: usize) -> usize {
        (u128::from_be_bytes(self.0) % n.max(1) as u128) as usize
    }

    /// As 32 hexadecimal digits.
    pub fn hex(&self) -> String {
        self.0.iter().map(|b| format!("{b:02x}")).collect()
    }
}

/// A type of cells.
pub trait Cell {
    /// Builder of its arrays.
    type Builder: ArrayBuilder;
    /// Its type in Arrow.
    fn data_type() -> DataType;
    /// An empty builder.
    fn builder() -> Self::Builder;
    /// Appends a cell.
    fn append(&self, to: &mut Self::Builder);
}

/// Cells as an array.
pub(super) fn array<'a, T: Cell + 'a>(cells: impl Iterator<Item = &'a T>) -> ArrayRef {
    let mut builder = T::builder();
    cells.for_each(|c| c.append(&mut builder));
    ArrayBuilder::finish(&mut builder)
}

macro_rules! plain {
    ($type:ty, $builder:ty, $data_type:expr, $value:expr) => {
        impl Cell for $type {
            type Builder = $builder;
            fn data_type() -> DataType {
                $data_type
            }
            fn builder() -> Self::Builder {
                <$builder>::new()
            }
            fn append(&self, to: &mut Self::Builder) {
                to.append_option($value(self));
            }
        }
    };
}

plain!(Option<i64>, Int64Builder, DataType::Int64, |x: &Option<i64>| *x);
// a number that is none is not known
plain!(Option<f64>, Float64Builder, DataType::Float64, |x: &Option<f64>| x.filter(|v| v.is_finite()));
plain!(Option<bool>, BooleanBuilder, DataType::Boolean, |x: &Option<bool>| *x);

impl Cell for Option<String> {
    type Builder = StringBuilder;
    fn data_type() -> DataType {
        DataType::Utf8
    }
    fn builder() -> StringBuilder {
        StringBuilder::new()
    }
    fn append(&self, to: &mut StringBuilder) {
        to.append_option(self.as_deref());
    }
}

impl Cell for Time {
    type Builder = TimestampMicrosecondBuilder;
    fn data_type() -> DataType {
        DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
    }
    fn builder() -> Self::Builder {
        TimestampMicrosecondBuilder::new().with_timezone("UTC")
    }
    fn append(&self, to: &mut Self::Builder) {
        to.append_option(self.0);
    }
}

impl Cell for Key {
    type Builder = FixedSizeBinaryBuilder;
    fn data_type() -> DataType {
        DataType::FixedSizeBinary(16)
    }
    fn builder() -> Self::Builder {
        FixedSizeBinaryBuilder::new(16)
    }
    fn append(&self, to: &mut Self::Builder) {
        // only another width could fail
        let _ = to.append_value(self.0);
    }
}

impl Cell for Vec<String> {
    type Builder = ListBuilder<StringBuilder>;
    fn data_type() -> DataType {
        DataType::List(Arc::new(Field::new("item", DataType::Utf8, true)))
    }
    fn builder() -> Self::Builder {
        ListBuilder::new(StringBuilder::new())
    }
    fn append(&self, to: &mut Self::Builder) {
        self.iter().for_each(|x| to.values().append_value(x));
        to.append(true);
    }
}

impl Cell for BTreeMap<String, f64> {
    type Builder = MapBuilder<StringBuilder, Float64Builder>;
    fn data_type() -> DataType {
        let entry = DataType::Struct(
            vec![Field::new("keys", DataType::Utf8, false), Field::new("values", DataType::Float64, true)].into(),
        );
        DataType::Map(Arc::new(Field::new("entries", entry, false)), false)
    }
    fn builder() -> Self::Builder {
        MapBuilder::new(None, StringBuilder::new(), Float64Builder::new())
    }
    fn append(&self, to: &mut Self::Builder) {
        for (name, value) in self {
            to.keys().append_value(name);
            to.values().append_value(*value);
        }
        // only columns of different lengths could fail
        let _ = to.append(true);
    }
}
