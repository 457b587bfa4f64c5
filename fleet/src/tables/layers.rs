//! The table `layers`.

use super::table;

table! {
    /// One row per log, layer and mount: counters summed over files and ranks. A layer without a counter has null.
    pub struct LayerRow = "layers" {
        /// The layer: posix, mpiio, stdio, h5f, h5d, pnetcdf_file, pnetcdf_var, dfs, daos.
        pub layer: Option<String>,
        /// Mount point; null for files on none that is known.
        pub mount: Option<String>,
        /// Number of files.
        pub files: Option<i64>,
        /// Files whose counters are of all ranks together.
        pub shared_files: Option<i64>,
        /// Files of one rank.
        pub unique_files: Option<i64>,
        /// Number of opens.
        pub opens: Option<i64>,
        /// Number of reads.
        pub reads: Option<i64>,
        /// Number of writes.
        pub writes: Option<i64>,
        /// Number of seeks.
        pub seeks: Option<i64>,
        /// Number of stats.
        pub stats: Option<i64>,
        /// Number of fsyncs, syncs or flushes.
        pub fsyncs: Option<i64>,
        /// Bytes read.
        pub bytes_read: Option<i64>,
        /// Bytes written.
        pub bytes_written: Option<i64>,
        /// Reads right behind the one before.
        pub consec_reads: Option<i64>,
        /// Writes right behind the one before.
        pub consec_writes: Option<i64>,
        /// Reads behind the one before.
        pub seq_reads: Option<i64>,
        /// Writes behind the one before.
        pub seq_writes: Option<i64>,
        /// Accesses that are not aligned in the file.
        pub file_not_aligned: Option<i64>,
        /// Accesses that are not aligned in memory.
        pub mem_not_aligned: Option<i64>,
        /// Reads up to 100 bytes.
        pub size_read_0_100: Option<i64>,
        /// Reads of 101 to 1,024 bytes.
        pub size_read_100_1k: Option<i64>,
        /// Reads of up to 10 KiB.
        pub size_read_1k_10k: Option<i64>,
        /// Reads of up to 100 KiB.
        pub size_read_10k_100k: Option<i64>,
        /// Reads of up to 1 MiB.
        pub size_read_100k_1m: Option<i64>,
        /// Reads of up to 4 MiB.
        pub size_read_1m_4m: Option<i64>,
        /// Reads of up to 10 MiB.
        pub size_read_4m_10m: Option<i64>,
        /// Reads of up to 100 MiB.
        pub size_read_10m_100m: Option<i64>,
        /// Reads of up to 1 GiB.
        pub size_read_100m_1g: Option<i64>,
        /// Reads of more than 1 GiB.
        pub size_read_1g_plus: Option<i64>,
        /// Writes up to 100 bytes.
        pub size_write_0_100: Option<i64>,
        /// Writes of 101 to 1,024 bytes.
        pub size_write_100_1k: Option<i64>,
        /// Writes of up to 10 KiB.
        pub size_write_1k_10k: Option<i64>,
        /// Writes of up to 100 KiB.
        pub size_write_10k_100k: Option<i64>,
        /// Writes of up to 1 MiB.
        pub size_write_100k_1m: Option<i64>,
        /// Writes of up to 4 MiB.
        pub size_write_1m_4m: Option<i64>,
        /// Writes of up to 10 MiB.
        pub size_write_4m_10m: Option<i64>,
        /// Writes of up to 100 MiB.
        pub size_write_10m_100m: Option<i64>,
        /// Writes of up to 1 GiB.
        pub size_write_100m_1g: Option<i64>,
        /// Writes of more than 1 GiB.
        pub size_write_1g_plus: Option<i64>,
        /// Seconds of reading, all ranks.
        pub read_s: Option<f64>,
        /// Seconds of writing, all ranks.
        pub write_s: Option<f64>,
        /// Seconds of opening, closing and the like, all ranks.
        pub meta_s: Option<f64>,
    }
}

impl LayerRow {
    /// The classes of access sizes: those of reads, then those of writes.
    pub fn sizes(&mut self) -> [&mut Option<i64>; 20] {
        [
            &mut self.size_read_0_100,
            &mut self.size_read_100_1k,
            &mut self.size_read_1k_10k,
            &mut self.size_read_10k_100k,
            &mut self.size_read_100k_1m,
            &mut self.size_read_1m_4m,
            &mut self.size_read_4m_10m,
            &mut self.size_read_10m_100m,
            &mut self.size_read_100m_1g,
            &mut self.size_read_1g_plus,
            &mut self.size_write_0_100,
            &mut self.size_write_100_1k,
            &mut self.size_write_1k_10k,
            &mut self.size_write_10k_100k,
            &mut self.size_write_100k_1m,
            &mut self.size_write_1m_4m,
            &mut self.size_write_4m_10m,
            &mut self.size_write_10m_100m,
            &mut self.size_write_100m_1g,
            &mut self.size_write_1g_plus,
        ]
    }
}
