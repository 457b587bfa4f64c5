//! One flush of a client.

use crate::record::{Op, not_negative};

/// Direction of the requests of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Direction {
    Read,
    Write,
    /// It does not say.
    #[default]
    Unknown,
}

impl Direction {
    /// `w`, `write`, `r`, `read`.
    pub(super) fn named(text: &[u8]) -> Direction {
        match text.first() {
            Some(b'w' | b'W') => Direction::Write,
            Some(b'r' | b'R') => Direction::Read,
            _ => Direction::Unknown,
        }
    }

    /// By the name of the file: clients begin it with the direction.
    pub(super) fn of_file(name: &str) -> Direction {
        match () {
            () if name.starts_with("write") => Direction::Write,
            () if name.starts_with("read") => Direction::Read,
            () => Direction::Unknown,
        }
    }

    pub(super) fn op(self) -> Option<Op> {
        match self {
            Direction::Read => Some(Op::Read),
            Direction::Write => Some(Op::Write),
            Direction::Unknown => None,
        }
    }
}

/// The requests of one client since its flush before. Times are microseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Flush {
    pub(super) host: String,
    pub(super) pid: u64,
    pub(super) direction: Direction,
    pub(super) starts: Vec<f64>,
    pub(super) ends: Vec<f64>,
    /// Bytes.
    pub(super) sizes: Vec<f64>,
    /// MiB/s, rounded; used where there are no sizes.
    pub(super) rates: Vec<f64>,
    pub(super) operations: Option<f64>,
    /// Bytes, of which 32 bits are sent.
    pub(super) total: Option<f64>,
}

/// A named value of a flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    FlushTime,
    Host,
    Pid,
    Direction,
    Starts,
    Ends,
    Sizes,
    Operations,
    Total,
    Rates,
}

impl Field {
    /// The nine values in the order in which they are sent.
    pub(super) const ORDER: [Field; 9] = [
        Field::FlushTime,
        Field::Host,
        Field::Pid,
        Field::Direction,
        Field::Starts,
        Field::Ends,
        Field::Sizes,
        Field::Operations,
        Field::Total,
    ];

    /// The field called `name`; releases differ in some names.
    pub(super) fn named(name: &[u8]) -> Option<Field> {
        Some(match name {
            b"flush_t" | b"flush_t_micro" => Field::FlushTime,
            b"hostname" => Field::Host,
            b"pid" => Field::Pid,
            b"io_type" => Field::Direction,
            b"start_t_micro" | b"start_t" => Field::Starts,
            b"end_t_micro" | b"end_t" => Field::Ends,
            b"req_size" => Field::Sizes,
            b"total_iops" => Field::Operations,
            b"total_bytes" => Field::Total,
            b"avg_thruput_mib" | b"avg_throughput_mib" | b"[extra]avg_thruput_mib" | b"[extra]avg_throughput_mib" => {
                Field::Rates
            }
            _ => return None,
        })
    }

    /// True for names that nothing else has.
    pub(super) fn is_telling(self) -> bool {
        matches!(self, Field::Rates | Field::Starts | Field::Ends)
    }
}

impl Flush {
    pub(super) fn client(&self) -> (String, u64) {
        (self.host.clone(), self.pid)
    }

    /// Where to put the numbers of a field.
    pub(super) fn list(&mut self, field: Field) -> Option<&mut Vec<f64>> {
        match field {
            Field::Starts => Some(&mut self.starts),
            Field::Ends => Some(&mut self.ends),
            Field::Sizes => Some(&mut self.sizes),
            Field::Rates => Some(&mut self.rates),
            _ => None,
        }
    }

    pub(super) fn set_number(&mut self, field: Field, x: f64) {
        match field {
            Field::Pid if (0.0..2f64.powi(53)).contains(&x) => self.pid = x as u64,
            Field::Operations => self.operations = Some(x),
            Field::Total => self.total = Some(x),
            _ => {}
        }
    }

    pub(super) fn set_text(&mut self, field: Field, text: &[u8]) {
        match field {
            Field::Host => self.host = String::from_utf8_lossy(text).into_owned(),
            Field::Direction => self.direction = Direction::named(text),
            _ => {}
        }
    }

    /// Sizes from rates, where there are none.
    pub(super) fn complete(mut self) -> Flush {
        const MIB_PER_US: f64 = 1024.0 * 1024.0 / 1e6;
        if self.sizes.is_empty() {
            let lengths = self.starts.iter().zip(&self.ends).map(|(s, e)| e - s);
            self.sizes =
                self.rates.iter().zip(lengths).map(|(rate, us)| not_negative(rate * us * MIB_PER_US)).collect();
        }
        self
    }

    /// True if the stated total and number are those of the sizes, as far as 32 bits tell.
    pub(super) fn agrees(&self) -> bool {
        const BITS: f64 = 4_294_967_296.0;
        if !self.rates.is_empty() {
            // Totals of a dump are of more than one flush.
            return true;
        }
        let bytes: f64 = self.sizes.iter().sum();
        let same = |stated: Option<f64>, found: f64| stated.is_none_or(|x| x == found || x == found.rem_euclid(BITS));
        same(self.total, bytes) && same(self.operations, self.sizes.len() as f64)
    }
}
