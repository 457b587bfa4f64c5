//! Damaged input of every format: truncated at any byte, any one bit flipped, shrunk while it is read. No panic, no hang, bounded memory.

// A counting allocator is the only way to see what a reader allocates; it does nothing but count and pass on.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use iophase::analysis::{self, Options};
use iophase::formats::{self, Detail, Limits, Patterns, ReadOptions, Source};
use iophase::record::{Data, Trace};
use iophase::{ErrorKind, Result};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(p, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Tests take turns: the counters are of the whole process.
static TURN: Mutex<()> = Mutex::new(());

/// Peak of the memory that reading a small damaged input may allocate: buffers of fixed size and a multiple of the input.
const BOUND: usize = 96 << 20;

fn samples() -> Vec<(PathBuf, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/robustness");
    let mut all: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    all.into_iter().map(|p| (p.clone(), fs::read(p).unwrap())).collect()
}

/// Options for a sample: text that is read by patterns needs them, and a log without times has to be wanted.
fn options(name: &str) -> ReadOptions {
    if !name.ends_with(".regex.log") {
        return ReadOptions::default().order_suffices(name.ends_with("untimed.st"));
    }
    let patterns = [
        r"^(?P<start>\S+) rank (?P<rank>\d+) (?P<op>\w+) (?P<size>.+) to (?P<file>\S+) in (?P<duration>.+)$",
        r"^(?P<end>\S+ \S+) (?P<op>\w+) (?P<size_KiB>\d+)",
    ];
    ReadOptions::default().patterns(Some(Patterns::rows(&patterns.map(str::to_owned)).unwrap()))
}

/// Reads with everything on; whatever comes back is an answer. Tells whether rows were read.
fn read(name: &str, bytes: Vec<u8>) -> bool {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let input = bytes.len();
    let source = Source::from_bytes(name, bytes);
    let options = options(name).detail(Detail::Calls).all_layers(true);
    let rows = check_answer(name, formats::read(&source, None, &options), input).is_ok_and(|rows| rows > 0);
    let peak = PEAK.load(Ordering::Relaxed) - before;
    assert!(peak <= BOUND, "{name}: {peak} bytes allocated for {input} bytes of input");
    rows
}

/// Rows in range and no more than the input has, or an error that names it.
fn check_answer(name: &str, answer: Result<Trace>, input: usize) -> Result<usize> {
    match answer {
        Ok(t) => {
            assert!(t.data.len() <= 4 * input + 1000, "{name}: {} rows from {input} bytes", t.data.len());
            check_rows(name, &t);
            Ok(t.data.len())
        }
        Err(e) => {
            assert!(e.to_string().contains(name) && e.exit_code() >= 3, "{e}");
            Err(e)
        }
    }
}

/// Promises of every reader about its rows.
fn check_rows(name: &str, t: &Trace) {
    let (start, end) = match &t.data {
        Data::Requests(r) => (&r.start, &r.end),
        Data::Intervals(i) => {
            assert!(i.bytes.iter().all(|b| b.is_finite() && *b >= 0.0), "{name}: bytes");
            (&i.start, &i.end)
        }
    };
    assert_eq!(start.len(), end.len());
    assert!(start.iter().zip(end).all(|(s, e)| s.is_finite() && e.is_finite() && s <= e), "{name}: times");
}

#[test]
fn undamaged_samples_are_read() {
    let _turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    let all = samples();
    for format in formats::ALL {
        let found = all.iter().any(|(p, b)| {
            let name = p.display().to_string();
            let source = Source::from_bytes(&name, b.clone());
            formats::inputs(&source, None, &options(&name)).is_ok_and(|(f, _)| f.name() == format.name())
        });
        assert!(found, "no sample of format {}", format.name());
    }
    for (path, bytes) in all {
        assert!(read(&path.display().to_string(), bytes), "{}", path.display());
    }
}

#[test]
fn files_cut_at_any_byte_are_survived() {
    let _turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    for (path, bytes) in samples() {
        for n in (0..bytes.len()).step_by(common::every(5)) {
            read(&path.display().to_string(), bytes[..n].to_vec());
        }
    }
}

#[test]
fn any_flipped_bit_is_survived() {
    let _turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    for (path, bytes) in samples() {
        for bit in (0..8 * bytes.len()).step_by(common::every(11)) {
            let mut b = bytes.clone();
            b[bit / 8] ^= 1 << (bit % 8);
            read(&path.display().to_string(), b);
        }
    }
}

#[test]
fn analysis_survives_traces_with_damaged_numbers() {
    let _turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    for (path, bytes) in samples() {
        for bit in (0..8 * bytes.len()).step_by(37 * common::every(5)) {
            let mut b = bytes.clone();
            b[bit / 8] ^= 1 << (bit % 8);
            let name = path.display().to_string();
            let source = Source::from_bytes(&name, b);
            if let Ok(t) = formats::read(&source, None, &options(&name)) {
                // An error is an answer, too; a panic is not.
                let _ = analysis::analyze(&t, &Options::default());
            }
        }
    }
}

/// Reads a file that is cut to `length` bytes after so many reads.
fn read_while_cut(path: &Path, length: usize, after: usize) -> Result<Trace> {
    let source = Source::open(path, &Limits::default())?;
    let (file, reads) = (fs::OpenOptions::new().write(true).open(path).unwrap(), AtomicUsize::new(0));
    let cut = move || file.set_len(length as u64).unwrap();
    let name = path.display().to_string();
    if after == 0 {
        cut();
        return formats::read(&source, None, &options(&name));
    }
    let progress = move |_| {
        if reads.fetch_add(1, Ordering::Relaxed) + 1 == after {
            cut();
        }
    };
    formats::read(&source, None, &options(&name).progress(Some(Arc::new(progress))))
}

#[test]
fn files_that_shrink_or_vanish_once_they_are_open_are_survived() {
    let _turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    let dir = tempfile::tempdir().unwrap();
    for (path, bytes) in samples() {
        let copy = dir.path().join(path.file_name().unwrap());
        let name = copy.display().to_string();
        for length in (0..bytes.len()).step_by(bytes.len().div_ceil(20)) {
            for after in [0, 1, 2] {
                fs::write(&copy, &bytes).unwrap();
                let _ = check_answer(&name, read_while_cut(&copy, length, after), bytes.len());
            }
        }
        fs::write(&copy, &bytes).unwrap();
        let source = Source::open(&copy, &Limits::default()).unwrap();
        fs::remove_file(&copy).unwrap();
        let e = check_answer(&name, formats::read(&source, None, &options(&name)), bytes.len()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Io, "{e}");
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_read_gives_the_rows_before_its_new_end() {
    let _turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows.csv");
    let rows: String = (0..200_000).map(|i| format!("0,write,{i},{},100\n", i + 1)).collect();
    let text = format!("rank,op,start,end,size\n{rows}");
    fs::write(&path, &text).unwrap();
    let length = text.len() / 2;
    let t = read_while_cut(&path, length, 1).unwrap();
    let whole = text[..length].matches('\n').count() - 1;
    assert!((whole..=whole + 1).contains(&t.data.len()), "{} rows, {whole} whole ones", t.data.len());
}
