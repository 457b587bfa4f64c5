//! The table `files`.

use super::table;

table! {
    /// One row per log and family of files, or per file with --files each. A file counts on its lowest layer only.
    pub struct FileRow = "files" {
        /// Name of the file; of several with # for digits.
        pub family: Option<String>,
        /// Mount point.
        pub mount: Option<String>,
        /// Type of the file system, such as lustre.
        pub fs_type: Option<String>,
        /// Layer of the counters: posix, stdio, mpiio or pnetcdf_file.
        pub layer: Option<String>,
        /// Number of files.
        pub files: Option<i64>,
        /// Bytes read.
        pub bytes_read: Option<i64>,
        /// Bytes written.
        pub bytes_written: Option<i64>,
        /// Number of reads.
        pub reads: Option<i64>,
        /// Number of writes.
        pub writes: Option<i64>,
        /// Number of opens.
        pub opens: Option<i64>,
        /// Seconds of reading, all ranks.
        pub read_s: Option<f64>,
        /// Seconds of writing, all ranks.
        pub write_s: Option<f64>,
        /// Seconds of opening, closing and the like, all ranks.
        pub meta_s: Option<f64>,
        /// Number of ranks; null if the counters are of all ranks.
        pub ranks_count: Option<i64>,
        /// Stripe in bytes of the first file whose layout is known.
        pub stripe_bytes: Option<i64>,
        /// Global access class of the first file: mix, sequentiality and size; at depth full only.
        pub class: Option<String>,
    }
}
