//! The tables of a fleet: one file a table, each with its columns, their types and what they mean.

mod bursts;
mod cell;
mod files;
mod findings;
mod layers;
mod logs;
mod minutes;
mod patterns;
mod periods;
mod signals;
mod write;

pub use bursts::BurstRow;
pub use cell::{Cell, Key, Time};
pub use files::FileRow;
pub use findings::FindingRow;
pub use layers::LayerRow;
pub use logs::{LogRow, Status};
pub use minutes::MinuteRow;
pub use patterns::PatternRow;
pub use periods::PeriodRow;
pub use signals::SignalRow;
pub use write::{PartWriter, Parts, host, properties, temporary, write_batches};

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use serde::{Deserialize, Serialize};

/// Version of the tables: columns that can be null may be added, nothing else changes within a version.
pub const SCHEMA_VERSION: u32 = 1;

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type in Arrow.
    pub data_type: DataType,
    /// Its description.
    pub doc: String,
}

/// Rows of a table, without the columns that all tables have.
pub trait Table: Sized {
    /// Name of the table.
    const NAME: &'static str;
    /// Description of one row.
    const DOC: &'static str;
    /// The columns.
    fn columns() -> Vec<Column>;
    /// The columns of some rows as arrays.
    fn arrays(rows: &[&Self]) -> Vec<ArrayRef>;
}

/// Lines of a doc comment as one text.
fn joined(lines: &[&str]) -> String {
    lines.iter().map(|l| l.trim()).collect::<Vec<_>>().join(" ")
}

/// Defines a table: the struct of a row, its columns with their documentation, and its arrays.
macro_rules! table {
    ($(#[doc = $about:literal])+ pub struct $row:ident = $name:literal {
        $($(#[doc = $doc:literal])+ pub $field:ident: $type:ty,)*
    }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $row {
            $($(#[doc = $doc])+ pub $field: $type,)*
        }

        impl $crate::tables::Table for $row {
            const NAME: &'static str = $name;
            const DOC: &'static str = concat!($($about),+);

            fn columns() -> Vec<$crate::tables::Column> {
                vec![$($crate::tables::Column {
                    name: stringify!($field),
                    data_type: <$type as $crate::tables::Cell>::data_type(),
                    doc: $crate::tables::joined(&[$($doc),+]),
                },)*]
            }

            fn arrays(rows: &[&Self]) -> Vec<datafusion::arrow::array::ArrayRef> {
                vec![$($crate::tables::cell::array(rows.iter().map(|r| &r.$field)),)*]
            }
        }
    };
}
use table;

table! {
    /// The columns of every table.
    pub struct Common = "common" {
        /// Key of the log: the first 128 bits of the SHA-256 of its URI, size and time of modification, or of its bytes.
        pub log_key: Key,
        /// Start of the job.
        pub start_time: Time,
        /// Application: of the rules, or the base name of the command.
        pub app: Option<String>,
        /// Numeric user id; with --anonymise a code of it.
        pub user_id: Option<String>,
        /// Number of processes of the job, or of ranks seen.
        pub ranks: Option<i64>,
    }
}

/// Everything that one log adds to the tables.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LogRows {
    /// The columns of every table.
    pub common: Common,
    /// The row of the log.
    pub log: LogRow,
    /// Its signals.
    pub signals: Vec<SignalRow>,
    /// Its periods.
    pub periods: Vec<PeriodRow>,
    /// Its bursts.
    pub bursts: Vec<BurstRow>,
    /// Its minutes.
    pub minutes: Vec<MinuteRow>,
    /// Its layers.
    pub layers: Vec<LayerRow>,
    /// Its families of files.
    pub files: Vec<FileRow>,
    /// Its findings.
    pub findings: Vec<FindingRow>,
    /// Its access patterns.
    pub patterns: Vec<PatternRow>,
}

/// Name, documentation and columns of a table.
#[derive(Debug, Clone)]
pub struct Description {
    /// Its name.
    pub name: &'static str,
    /// Description of one row.
    pub doc: String,
    /// Its columns, those of every table first.
    pub columns: Vec<Column>,
}

impl Description {
    fn of<T: Table>() -> Description {
        let columns = Common::columns().into_iter().chain(T::columns()).collect();
        Description { name: T::NAME, doc: T::DOC.trim().to_owned(), columns }
    }

    /// The schema in Arrow. Every column but the key can be null.
    pub fn schema(&self) -> SchemaRef {
        let field = |c: &Column| Field::new(c.name, c.data_type.clone(), c.name != "log_key");
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }
}

/// The tables, in the order in which they are listed.
pub fn all() -> Vec<Description> {
    vec![
        Description::of::<LogRow>(),
        Description::of::<SignalRow>(),
        Description::of::<PeriodRow>(),
        Description::of::<BurstRow>(),
        Description::of::<MinuteRow>(),
        Description::of::<LayerRow>(),
        Description::of::<FileRow>(),
        Description::of::<FindingRow>(),
        Description::of::<PatternRow>(),
    ]
}

/// The columns of some rows of a table, each with those of its log.
fn arrays<T: Table>(rows: &[(&Common, &T)]) -> Vec<ArrayRef> {
    let common: Vec<&Common> = rows.iter().map(|r| r.0).collect();
    let own: Vec<&T> = rows.iter().map(|r| r.1).collect();
    Common::arrays(&common).into_iter().chain(T::arrays(&own)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_column_is_documented() {
        let tables = all();
        assert_eq!(tables.len(), 9);
        for t in &tables {
            let mut names: Vec<&str> = t.columns.iter().map(|c| c.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), t.columns.len(), "{}", t.name);
            assert!(t.columns.iter().all(|c| c.doc.len() > 4 && c.doc.ends_with('.')), "{}", t.name);
        }
    }
}
