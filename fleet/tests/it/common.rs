//! Made fleets, and how they are compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use iophase_fleet::make_logs;
use iophase_fleet::query::{Answer, Fleet};

/// The logs of the repository.
pub const SOURCES: [&str; 5] = ["stable", "stable-heatmap", "change", "aperiodic", "two-periods"];

pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data").join(name).with_extension("darshan")
}

/// Makes logs in a folder, of jobs that start within 20 days.
pub fn make(out: &Path, count: usize, bad: f64, seed: u64) {
    make_within(out, count, bad, seed, 20);
}

/// Makes logs in a folder, of jobs that start within some days.
pub fn make_within(out: &Path, count: usize, bad: f64, seed: u64, days: u64) {
    let logs = SOURCES.iter().map(|n| source(n)).collect();
    let a = make_logs::Arguments { out: out.into(), count, logs, seed, bad, days, stretch: (1.0, 1.0) };
    assert_eq!(make_logs::run(&a).unwrap(), count);
}

/// The text of a Darshan log of a job that starts at a time and writes 2 MiB through POSIX, with segments, and 12,000 bytes through STDIO
/// within two minutes.
pub fn printed(start: u64) -> String {
    let counter = |module: &str, name: &str, value: &str| {
        format!("{module}\t0\t77\t{module}_{name}\t{value}\t/s/x\t/s\tlustre\n")
    };
    let mut text = format!(
        "# darshan log version: 3.41\n# exe: /apps/sim\n# uid: 1000\n# jobid: 4711\n# start_time: {start}\n# end_time: {}\n# nprocs: 1\n\
         # run time: 180.0\n# mount entry:\t/s\tlustre\n",
        start + 180
    );
    for (module, bytes, begin, end) in [("POSIX", "2097152", "0.66", "2.86"), ("STDIO", "12000", "30.0", "150.0")] {
        text += &counter(module, "OPENS", "1");
        text += &counter(module, "BYTES_WRITTEN", bytes);
        text += &counter(module, "F_WRITE_START_TIMESTAMP", begin);
        text += &counter(module, "F_WRITE_END_TIMESTAMP", end);
    }
    text += "# DXT, file_id: 77, file_name: /s/x\n# DXT, rank: 0, hostname: n1\n# DXT, write_count: 2, read_count: 0\n\
             # Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)  [OST]\n";
    for (i, begin, end) in [(0, 0.66, 0.86), (1, 2.66, 2.86)] {
        text += &format!(" X_POSIX 0 write {i} {} 1048576 {begin:.4} {end:.4}\n", i << 20);
    }
    text
}

/// Rows of `truth.csv` by path.
pub fn truth(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(folder.join("truth.csv")).unwrap();
    text.lines()
        .skip(1)
        .map(|l| l.split(',').map(str::to_owned).collect::<Vec<_>>())
        .map(|r| (r[0].clone(), r))
        .collect()
}

pub fn program() -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_iophase-fleet"));
    c.args(["-q", "--workers", "2"]);
    c
}

/// Reads logs into a fleet.
pub fn fleet(logs: &Path, to: &Path, options: &[&str]) -> Output {
    program().arg(logs).arg("-o").arg(to).args(options).output().unwrap()
}

/// As [`fleet`], which has to end with this code; gives its messages.
pub fn run(code: i32, logs: &Path, to: &Path, options: &[&str]) -> String {
    let out = fleet(logs, to, options);
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(code), "{text}");
    text
}

pub fn ask(folder: &Path, sql: &str) -> Answer {
    Fleet::open(folder, 2).unwrap().sql(sql).unwrap()
}

pub fn cells(folder: &Path, sql: &str) -> Vec<Vec<String>> {
    ask(folder, sql).cells().unwrap()
}

/// Rows by table.
pub type Rows = BTreeMap<&'static str, Vec<Vec<String>>>;

/// All rows of all tables in order, without what depends on the run: seconds, and the names of batches.
pub fn dump(folder: &Path) -> Rows {
    let fleet = Fleet::open(folder, 2).unwrap();
    let mut all = BTreeMap::new();
    for table in iophase_fleet::tables::all() {
        let columns = table.columns.iter().map(|c| c.name).filter(|n| !["batch", "analysed_s"].contains(n));
        let columns: Vec<String> = columns.map(|n| format!("\"{n}\"")).collect();
        let mut rows =
            fleet.sql(&format!("select {} from {}", columns.join(", "), table.name)).unwrap().cells().unwrap();
        rows.sort();
        all.insert(table.name, rows);
    }
    all
}

/// Fails with the table and the first rows that differ.
pub fn assert_same(a: &Path, b: &Path, what: &str) {
    assert_same_rows(&dump(a), &dump(b), what);
}

/// As [`assert_same`], of rows.
pub fn assert_same_rows(a: &Rows, b: &Rows, what: &str) {
    for (table, rows) in a {
        let other = &b[table];
        if let Some(i) = (0..rows.len().max(other.len())).find(|&i| rows.get(i) != other.get(i)) {
            panic!(
                "{what}: {table} row {i} of {} and {}:\n{:?}\n{:?}",
                rows.len(),
                other.len(),
                rows.get(i),
                other.get(i)
            );
        }
    }
}

/// The folder of large corpora that are not part of the project; `None` is reported.
pub fn corpus(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("IOPHASE_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let path = root.join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there (IOPHASE_CORPUS)", path.display());
    None
}

/// Number of rounds of a long test.
pub fn rounds(all: usize) -> usize {
    if std::env::var_os("IOPHASE_LONG").is_some() { all } else { all.div_ceil(10) }
}
