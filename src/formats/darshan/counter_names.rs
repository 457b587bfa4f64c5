//! Names of the counters, in the order of the current record layouts, without the name of their module in front.

/// Integer counters of POSIX records, version 4.
pub const POSIX: &str = "OPENS FILENOS DUPS READS WRITES SEEKS STATS MMAPS FSYNCS FDSYNCS RENAME_SOURCES RENAME_TARGETS \
    RENAMED_FROM MODE BYTES_READ BYTES_WRITTEN MAX_BYTE_READ MAX_BYTE_WRITTEN CONSEC_READS CONSEC_WRITES SEQ_READS SEQ_WRITES \
    RW_SWITCHES MEM_NOT_ALIGNED MEM_ALIGNMENT FILE_NOT_ALIGNED FILE_ALIGNMENT MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE SIZE_READ_# \
    SIZE_WRITE_# STRIDE#_STRIDE STRIDE#_COUNT ACCESS#_ACCESS ACCESS#_COUNT FASTEST_RANK FASTEST_RANK_BYTES SLOWEST_RANK \
    SLOWEST_RANK_BYTES";

/// Integer counters of MPI-IO records, version 3.
pub const MPIIO: &str = "INDEP_OPENS COLL_OPENS INDEP_READS INDEP_WRITES COLL_READS COLL_WRITES SPLIT_READS SPLIT_WRITES NB_READS \
    NB_WRITES SYNCS HINTS VIEWS MODE BYTES_READ BYTES_WRITTEN RW_SWITCHES MAX_READ_TIME_SIZE MAX_WRITE_TIME_SIZE SIZE_READ_AGG_# \
    SIZE_WRITE_AGG_# ACCESS#_ACCESS ACCESS#_COUNT FASTEST_RANK FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES";

/// Integer counters of STDIO records, version 2.
pub const STDIO: &str = "OPENS FDOPENS READS WRITES SEEKS FLUSHES BYTES_WRITTEN BYTES_READ MAX_BYTE_READ MAX_BYTE_WRITTEN FASTEST_RANK \
    FASTEST_RANK_BYTES SLOWEST_RANK SLOWEST_RANK_BYTES";

/// Real counters of STDIO records.
pub const STDIO_F: &str = "F_META_TIME F_WRITE_TIME F_READ_TIME F_OPEN_START_TIMESTAMP F_CLOSE_START_TIMESTAMP \
    F_WRITE_START_TIMESTAMP F_READ_START_TIMESTAMP F_OPEN_END_TIMESTAMP F_CLOSE_END_TIMESTAMP F_WRITE_END_TIMESTAMP \
    F_READ_END_TIMESTAMP F_FASTEST_RANK_TIME F_SLOWEST_RANK_TIME F_VARIANCE_RANK_TIME F_VARIANCE_RANK_BYTES";

/// Real counters of POSIX and MPI-IO records of the newest versions, of datasets and variables.
pub const TRANSFERS: &str = "F_OPEN_START_TIMESTAMP F_READ_START_TIMESTAMP F_WRITE_START_TIMESTAMP F_CLOSE_START_TIMESTAMP \
    F_OPEN_END_TIMESTAMP F_READ_END_TIMESTAMP F_WRITE_END_TIMESTAMP F_CLOSE_END_TIMESTAMP F_READ_TIME F_WRITE_TIME F_META_TIME \
    F_MAX_READ_TIME F_MAX_WRITE_TIME F_FASTEST_RANK_TIME F_SLOWEST_RANK_TIME F_VARIANCE_RANK_TIME F_VARIANCE_RANK_BYTES";

/// The names in a list of these with the module in front, where `#` stands for several.
pub fn names_of(module: &str, list: &str) -> Vec<&'static str> {
    let full = |name: String| &*format!("{module}_{name}").leak();
    list.split_whitespace().flat_map(expand).map(full).collect()
}

/// The counters that a pattern with `#` stands for, in the order of the log.
fn expand(pattern: &str) -> Vec<String> {
    const SIZES: [&str; 10] =
        ["0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M", "1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS"];
    let dimensions = |name: &str| (1..=5).map(|d| format!("{name}_D{d}")).collect::<Vec<_>>();
    match pattern.split_once('#') {
        None => vec![pattern.to_owned()],
        Some(("ACCESS", "")) => (1..=4)
            .flat_map(|k| {
                let mut all = vec![format!("ACCESS{k}_ACCESS")];
                all.extend(dimensions(&format!("ACCESS{k}_LENGTH")));
                all.extend(dimensions(&format!("ACCESS{k}_STRIDE")));
                all
            })
            .collect(),
        Some((name @ ("ACCESS" | "STRIDE"), rest)) => (1..=4).map(|k| format!("{name}{k}{rest}")).collect(),
        Some((name @ "CHUNK_SIZE", _)) => dimensions(name),
        Some((name, _)) => SIZES.iter().map(|size| format!("{name}{size}")).collect(),
    }
}
