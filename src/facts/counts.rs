//! Counters of a file on a layer by what they count, whatever each module calls them.

use std::collections::BTreeMap;

use crate::record::{Column, CounterModule, CounterTable, Counters, FileId};

/// Names of counters without their module; several add up.
macro_rules! named {
    ($(#[$doc:meta])* $kind:ident { $($(#[$of:meta])* $name:ident = [$($text:literal),+],)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $kind { $($(#[$of])* $name,)+ }

        impl $kind {
            const NAMES: &[&[&str]] = &[$(&[$($text),+],)+];
        }
    };
}

named! {
    /// A number of calls, or of bytes.
    Count {
        /// Calls that open.
        Opens = ["OPENS", "INDEP_OPENS", "COLL_OPENS"],
        /// Calls that read, of all kinds.
        Reads = ["READS", "INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS"],
        /// Calls that write, of all kinds.
        Writes = ["WRITES", "INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES"],
        /// Independent reads.
        IndepReads = ["INDEP_READS"],
        /// Independent writes.
        IndepWrites = ["INDEP_WRITES"],
        /// Collective reads.
        CollReads = ["COLL_READS"],
        /// Collective writes.
        CollWrites = ["COLL_WRITES"],
        /// Reads and writes that do not block.
        NonBlocking = ["NB_READS", "NB_WRITES"],
        /// Reads after the last byte of the one before.
        SeqReads = ["SEQ_READS"],
        /// Writes after the last byte of the one before.
        SeqWrites = ["SEQ_WRITES"],
        /// Reads at the byte after the one before.
        ConsecReads = ["CONSEC_READS"],
        /// Writes at the byte after the one before.
        ConsecWrites = ["CONSEC_WRITES"],
        /// Bytes read.
        BytesRead = ["BYTES_READ"],
        /// Bytes written.
        BytesWritten = ["BYTES_WRITTEN"],
        /// Place of the last byte read.
        LastRead = ["MAX_BYTE_READ"],
        /// Place of the last byte written.
        LastWritten = ["MAX_BYTE_WRITTEN"],
        /// Seeks.
        Seeks = ["SEEKS"],
        /// Stats.
        Stats = ["STATS"],
        /// Syncs.
        Syncs = ["FSYNCS", "FDSYNCS", "SYNCS"],
        /// Flushes of a stream.
        Flushes = ["FLUSHES"],
        /// Files mapped into memory.
        Mmaps = ["MMAPS"],
        /// Changes between reading and writing.
        Switches = ["RW_SWITCHES"],
        /// Requests off the blocks of the file system.
        FileUnaligned = ["FILE_NOT_ALIGNED"],
        /// Buffers off the boundaries of memory.
        MemUnaligned = ["MEM_NOT_ALIGNED"],
        /// Bytes of a block of the file system.
        FileAlignment = ["FILE_ALIGNMENT"],
        /// 1 if the file was opened with MPI-IO.
        UsesMpiio = ["USE_MPIIO"],
        /// 1 if the dataset was moved with collective calls.
        UsesCollective = ["USE_MPIIO_COLLECTIVE"],
    }
}

named! {
    /// Seconds, and other real counters.
    Measure {
        /// Seconds of reading.
        ReadS = ["F_READ_TIME"],
        /// Seconds of writing and synchronising.
        WriteS = ["F_WRITE_TIME"],
        /// Seconds of opening, closing and the like.
        MetaS = ["F_META_TIME"],
        /// Seconds of the longest read.
        LongestReadS = ["F_MAX_READ_TIME"],
        /// Seconds of the longest write.
        LongestWriteS = ["F_MAX_WRITE_TIME"],
        /// Seconds of the fastest of all ranks.
        FastestS = ["F_FASTEST_RANK_TIME"],
        /// Seconds of the slowest of all ranks.
        SlowestS = ["F_SLOWEST_RANK_TIME"],
        /// Variance of the bytes of the ranks.
        BytesVariance = ["F_VARIANCE_RANK_BYTES"],
        /// When the first open began.
        OpenStart = ["F_OPEN_START_TIMESTAMP"],
        /// When the last open ended.
        OpenEnd = ["F_OPEN_END_TIMESTAMP"],
        /// When the first read began.
        ReadStart = ["F_READ_START_TIMESTAMP"],
        /// When the last read ended.
        ReadEnd = ["F_READ_END_TIMESTAMP"],
        /// When the first write began.
        WriteStart = ["F_WRITE_START_TIMESTAMP"],
        /// When the last write ended.
        WriteEnd = ["F_WRITE_END_TIMESTAMP"],
        /// When the last close ended.
        CloseEnd = ["F_CLOSE_END_TIMESTAMP"],
    }
}

/// Reads, then writes.
pub const CALLS: [Count; 2] = [Count::Reads, Count::Writes];
/// Bytes read, then written.
pub const BYTES: [Count; 2] = [Count::BytesRead, Count::BytesWritten];
/// Seconds of reading, writing and metadata.
pub const TIMES: [Measure; 3] = [Measure::ReadS, Measure::WriteS, Measure::MetaS];

/// Classes of request sizes in Darshan: their names, and the upper end in bytes of all except the last.
pub const SIZES: [(&str, Option<u64>); 10] = [
    ("0_100", Some(100)),
    ("100_1K", Some(1 << 10)),
    ("1K_10K", Some(10 << 10)),
    ("10K_100K", Some(100 << 10)),
    ("100K_1M", Some(1 << 20)),
    ("1M_4M", Some(4 << 20)),
    ("4M_10M", Some(10 << 20)),
    ("10M_100M", Some(100 << 20)),
    ("100M_1G", Some(1 << 30)),
    ("1G_PLUS", None),
];

type Ints<'t> = Vec<&'t Column<i64>>;

/// The counters of a module.
#[derive(Debug)]
pub struct Counted<'t> {
    /// The module.
    pub module: CounterModule,
    table: &'t CounterTable,
    counts: Vec<Ints<'t>>,
    measures: Vec<Option<&'t Column<f64>>>,
    sizes: [Option<Ints<'t>>; 2],
    /// The commonest sizes, and how often each occurs.
    common: Vec<(&'t Column<i64>, &'t Column<i64>)>,
}

impl<'t> Counted<'t> {
    /// Those of a table.
    pub fn of(table: &'t CounterTable) -> Counted<'t> {
        let columns = |names: &&[&str]| names.iter().filter_map(|name| table.int(name)).collect();
        let sizes = |what: &str| -> Option<Ints<'t>> {
            let column = |bin: &str| {
                table.int(&format!("SIZE_{what}_{bin}")).or_else(|| table.int(&format!("SIZE_{what}_AGG_{bin}")))
            };
            SIZES.iter().map(|(bin, _)| column(bin)).collect()
        };
        let common = |k: u8| Some((table.int(&format!("ACCESS{k}_ACCESS"))?, table.int(&format!("ACCESS{k}_COUNT"))?));
        Counted {
            module: table.module,
            table,
            counts: Count::NAMES.iter().map(columns).collect(),
            measures: Measure::NAMES.iter().map(|names| table.real(names[0])).collect(),
            sizes: ["READ", "WRITE"].map(sizes),
            common: (1..=4).filter_map(common).collect(),
        }
    }

    /// Those of a module, if there are any.
    pub fn by(c: &'t Counters, module: CounterModule) -> Option<Counted<'t>> {
        c.table(module).filter(|t| !t.is_empty()).map(Counted::of)
    }

    /// Each row: a file on a rank, or over all ranks.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_, 't>> {
        (0..self.table.len()).map(|at| Row {
            file: self.table.file.get(at),
            rank: self.table.rank.get(at),
            of: self,
            at,
        })
    }

    /// True if the module counts this.
    pub fn counts(&self, count: Count) -> bool {
        !self.counts[count as usize].is_empty()
    }

    /// True if the module measures this.
    pub fn measures(&self, measure: Measure) -> bool {
        self.measures[measure as usize].is_some()
    }

    /// True if the module counts requests by size.
    pub fn has_sizes(&self) -> bool {
        self.sizes.iter().all(Option::is_some)
    }

    /// Number of calls by the names of their counters, in lower case; those that did not happen are left out.
    pub fn operations(&self) -> BTreeMap<String, u64> {
        const ENDS: [&str; 13] = [
            "OPENS",
            "READS",
            "WRITES",
            "SEEKS",
            "STATS",
            "MMAPS",
            "SYNCS",
            "FLUSHES",
            "VIEWS",
            "CREATES",
            "REDEFS",
            "WAITS",
            "RENAME_SOURCES",
        ];
        let call = |(full, column): &(&'static str, Column<i64>)| {
            let name = full.strip_prefix(self.module.prefix()).map_or(*full, |n| n.trim_start_matches('_'));
            let is_call =
                ENDS.iter().any(|end| name.ends_with(end)) && !name.starts_with("SEQ_") && !name.starts_with("CONSEC_");
            let n = column.iter().map(|x| x.max(0).unsigned_abs()).fold(0, u64::saturating_add);
            (is_call && n > 0).then(|| (name.to_lowercase(), n))
        };
        self.table.ints.iter().filter_map(call).collect()
    }

    /// Sum over all rows; `None` if a row does not know it.
    pub fn total(&self, counts: &[Count]) -> Option<u64> {
        self.rows()
            .flat_map(|row| counts.iter().map(move |c| row.known(*c)))
            .try_fold(0, |sum: u64, n| n.map(|n| sum.saturating_add(n)))
    }
}

/// A row of a table of counters.
#[derive(Debug, Clone, Copy)]
pub struct Row<'c, 't> {
    /// The file; of a dataset or variable its name.
    pub file: FileId,
    /// The rank; `None` for all ranks.
    pub rank: Option<u32>,
    of: &'c Counted<'t>,
    at: usize,
}

impl Row<'_, '_> {
    /// A count; `None` if it was not recorded, or cannot be.
    pub fn known(&self, count: Count) -> Option<u64> {
        let columns = &self.of.counts[count as usize];
        let values = columns.iter().map(|c| u64::try_from(c.get(self.at)).ok());
        values.reduce(|a, b| Some(a?.saturating_add(b?))).flatten()
    }

    /// A count; 0 if it is not known.
    pub fn count(&self, count: Count) -> u64 {
        self.known(count).unwrap_or(0)
    }

    /// A time or another real counter; 0 if it was not recorded, or cannot be.
    pub fn measure(&self, measure: Measure) -> f64 {
        let value = self.of.measures[measure as usize].map_or(0.0, |c| c.get(self.at));
        Some(value).filter(|x| x.is_finite() && *x > 0.0).unwrap_or(0.0)
    }

    /// True if any of these was recorded.
    pub fn has_any(&self, measures: &[Measure]) -> bool {
        const MISSING: f64 = -1.0;
        measures.iter().any(|m| self.of.measures[*m as usize].is_some_and(|c| c.get(self.at) != MISSING))
    }

    /// Bytes read and written.
    pub fn bytes(&self) -> [u64; 2] {
        BYTES.map(|c| self.count(c))
    }

    /// Bytes read or written.
    pub fn moved(&self) -> u64 {
        self.bytes().into_iter().fold(0, u64::saturating_add)
    }

    /// Calls that read or write.
    pub fn calls(&self) -> u64 {
        CALLS.map(|c| self.count(c)).into_iter().fold(0, u64::saturating_add)
    }

    /// One past the last byte read, and written; 0 if the layer does not know it.
    pub fn ends(&self) -> [u64; 2] {
        [Count::LastRead, Count::LastWritten].map(|c| self.known(c).map_or(0, |last| last + 1))
    }

    /// Seconds of reading and writing.
    pub fn transfer_s(&self) -> f64 {
        self.measure(Measure::ReadS) + self.measure(Measure::WriteS)
    }

    /// Reads (0) or writes (1) by class of size.
    pub fn sizes(&self, d: usize) -> [u64; SIZES.len()] {
        let columns = self.of.sizes[d].as_deref().unwrap_or_default();
        std::array::from_fn(|i| columns.get(i).map_or(0, |c| c.get(self.at).max(0).unsigned_abs()))
    }

    /// The commonest sizes, and how often each occurs.
    pub fn common(&self) -> impl Iterator<Item = (u64, u64)> {
        let of = self.of.common.iter().map(|(size, n)| [size.get(self.at), n.get(self.at)]);
        of.filter(|[_, n]| *n > 0).map(|both| (both[0].max(0).unsigned_abs(), both[1].unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_all_kinds_add_up_and_a_row_that_does_not_know_makes_the_sum_unknown() {
        let mut t = CounterTable::new(CounterModule::Mpiio);
        (t.file, t.rank) = (Column::constant(FileId(0), 2), vec![Some(0), None].into());
        t.ints = vec![("MPIIO_INDEP_READS", vec![3, 4].into()), ("MPIIO_COLL_READS", vec![5, -1].into())];
        t.reals = vec![("MPIIO_F_READ_TIME", vec![1.5, -2.0].into())];
        let c = Counted::of(&t);
        let known: Vec<_> = c.rows().map(|row| row.known(Count::Reads)).collect();
        assert_eq!(known, [Some(8), None]);
        assert_eq!(
            (c.total(&[Count::IndepReads]), c.total(&[Count::Reads]), c.total(&[Count::Opens])),
            (Some(7), None, None)
        );
        let times: Vec<_> = c.rows().map(|row| row.measure(Measure::ReadS)).collect();
        assert_eq!(times, [1.5, 0.0], "a time below 0 cannot be");
        assert!(!c.counts(Count::Writes) && !c.has_sizes());
    }
}
