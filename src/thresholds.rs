//! Tables of thresholds, and a way to vary them.
//!
//! A room lists the thresholds that decide its answers in one table, `thresholds!`: value, meaning, and where the value comes
//! from. The last line of a row says how many answers change at half and at double the value; `scripts/sensitivity.py` measures
//! and writes these lines. Uses read `LIMITS.name`: a constant, except with the feature `sensitivity`, where one build can run
//! with any threshold of any table halved or doubled.

/// Declares the table of a room: a struct `Thresholds` with a field for each row, and its values `LIMITS`.
macro_rules! thresholds {
    ($(#[$doc:meta])* $name:literal: $($(#[$row:meta])* $field:ident: $type:ty = $value:expr;)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct Thresholds {
            $($(#[$row])* pub $field: $type,)*
        }

        impl Thresholds {
            const SET: Thresholds = Thresholds { $($field: $value,)* };
        }

        #[cfg(not(feature = "sensitivity"))]
        pub(crate) const LIMITS: Thresholds = Thresholds::SET;

        #[cfg(feature = "sensitivity")]
        pub(crate) static LIMITS: $crate::thresholds::Table<Thresholds> =
            $crate::thresholds::Table::new($name, &[$(stringify!($field),)*], || {
                use $crate::thresholds::Scale;
                let mut all = vec![Thresholds::SET];
                $(for factor in $crate::thresholds::FACTORS {
                    all.push(Thresholds { $field: Thresholds::SET.$field.scaled(factor), ..Thresholds::SET });
                })*
                all
            });
    };
}
pub(crate) use thresholds;

#[cfg(feature = "sensitivity")]
mod table {
    use std::ops::Deref;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// The factors that a threshold is tried with.
    pub const FACTORS: [f64; 2] = [0.5, 2.0];

    /// A table whose values can be changed while the program runs.
    pub struct Table<T: 'static> {
        name: &'static str,
        fields: &'static [&'static str],
        /// The values as set, then those with each field times each factor.
        variants: LazyLock<Vec<T>>,
        chosen: AtomicUsize,
    }

    impl<T> Table<T> {
        pub(crate) const fn new(name: &'static str, fields: &'static [&'static str], variants: fn() -> Vec<T>) -> Self {
            Table { name, fields, variants: LazyLock::new(variants), chosen: AtomicUsize::new(0) }
        }
    }

    impl<T> Deref for Table<T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.variants[self.chosen.load(Relaxed)]
        }
    }

    /// A table of any room.
    pub trait Variable: Sync {
        /// The room.
        fn name(&self) -> &'static str;
        /// Names of the thresholds.
        fn fields(&self) -> &'static [&'static str];
        /// Uses one threshold with one of [`FACTORS`], given by their indices, in all that follows; `None`: the values as set.
        fn vary(&self, change: Option<(usize, usize)>);
    }

    impl<T: Sync + Send> Variable for Table<T> {
        fn name(&self) -> &'static str {
            self.name
        }

        fn fields(&self) -> &'static [&'static str] {
            self.fields
        }

        fn vary(&self, change: Option<(usize, usize)>) {
            self.chosen.store(change.map_or(0, |(field, factor)| 1 + field * FACTORS.len() + factor), Relaxed);
        }
    }

    /// The tables of all rooms.
    pub fn tables() -> [&'static dyn Variable; 5] {
        [
            &crate::formats::thresholds::LIMITS,
            &crate::period::chains::thresholds::LIMITS,
            &crate::online::thresholds::LIMITS,
            &crate::pattern::thresholds::LIMITS,
            &crate::classify::thresholds::LIMITS,
        ]
    }

    /// A value that can be scaled.
    pub(crate) trait Scale {
        fn scaled(self, factor: f64) -> Self;
    }

    macro_rules! scale {
        ($($type:ty),*) => {
            $(impl Scale for $type {
                fn scaled(self, factor: f64) -> Self {
                    (self as f64 * factor).round() as $type
                }
            })*
        };
    }
    scale!(usize, u64, u32, i64, i32);

    impl Scale for f64 {
        fn scaled(self, factor: f64) -> Self {
            self * factor
        }
    }

    impl<T: Scale, const N: usize> Scale for [T; N] {
        fn scaled(self, factor: f64) -> Self {
            self.map(|x| x.scaled(factor))
        }
    }

    impl<A: Scale, B: Scale> Scale for (A, B) {
        fn scaled(self, factor: f64) -> Self {
            (self.0.scaled(factor), self.1.scaled(factor))
        }
    }
}
#[cfg(feature = "sensitivity")]
pub(crate) use table::Scale;
#[cfg(feature = "sensitivity")]
pub use table::{FACTORS, Table, Variable, tables};
