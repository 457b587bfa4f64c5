//! The files of a process below `/proc`.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Names of the counters in `/proc/PID/io`, in the order of [`Counters`].
const NAMES: [&str; 7] = ["rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes"];

/// The counters of a process, all threads together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters([u64; NAMES.len()]);

impl Counters {
    /// Bytes that calls have read and written.
    pub fn calls(&self) -> (u64, u64) {
        (self.0[0], self.0[1])
    }

    /// Bytes fetched from storage; bytes written to it, or to pages of the cache that were clean before.
    pub fn storage(&self) -> (u64, u64) {
        (self.0[4], self.0[5])
    }

    /// The counters one by one, less `other`; `None` if one of `other` is larger.
    pub(super) fn less(&self, other: &Counters) -> Option<Counters> {
        let mut rest = Counters::default();
        for (r, (a, b)) in rest.0.iter_mut().zip(self.0.iter().zip(&other.0)) {
            *r = a.checked_sub(*b)?;
        }
        Some(rest)
    }

    /// Reads the text of `/proc/PID/io`; `None` if a counter of bytes is missing.
    pub(super) fn parse(text: &[u8]) -> Option<Counters> {
        let text = std::str::from_utf8(text).ok()?;
        let mut counters = Counters::default();
        let mut found = 0;
        for line in text.lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            if let Some(i) = NAMES.iter().position(|n| *n == name.trim()) {
                counters.0[i] = value.trim().parse().ok()?;
                found |= 1 << i;
            }
        }
        const NEEDED: i32 = 0b11_0011;
        (found & NEEDED == NEEDED).then_some(counters)
    }

    #[cfg(test)]
    pub(super) fn of(values: [u64; NAMES.len()]) -> Counters {
        Counters(values)
    }
}

/// Reads a small file again, from its start.
pub(super) fn again(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read_at(buffer, 0) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// The counters from an open `/proc/PID/io`.
pub(super) fn counters(file: &File) -> io::Result<Counters> {
    let mut buffer = [0; 512];
    let n = again(file, &mut buffer)?;
    Counters::parse(&buffer[..n]).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no counters"))
}

/// Facts of `/proc/PID/status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Status {
    /// The process that it is a thread of; its own number for a process.
    pub(super) process: u32,
    pub(super) parent: u32,
    pub(super) name: String,
    /// It has ended, and its parent has not waited for it yet.
    pub(super) zombie: bool,
}

/// Reads `/proc/PID/status`; an error if there is no such process, or if it is hidden.
pub(super) fn status(root: &Path, pid: u32) -> io::Result<Status> {
    let file = File::open(root.join(pid.to_string()).join("status"))?;
    // the fields that are wanted are among the first
    let mut buffer = [0; 1024];
    let n = again(&file, &mut buffer)?;
    let text = String::from_utf8_lossy(&buffer[..n]);
    let field = |name: &str| text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    let number = |name: &str| field(name).and_then(|v| v.parse().ok());
    let missing = || io::Error::new(io::ErrorKind::InvalidData, "no Tgid and PPid");
    Ok(Status {
        process: number("Tgid").ok_or_else(missing)?,
        parent: number("PPid").ok_or_else(missing)?,
        name: field("Name").unwrap_or_default().to_owned(),
        zombie: field("State").is_some_and(|s| s.starts_with(['Z', 'X'])),
    })
}

/// The number that was given to a process or thread last, the last word of `/proc/loadavg`.
pub(super) fn last_number(file: &File) -> Option<u32> {
    let mut buffer = [0; 128];
    let n = again(file, &mut buffer).ok()?;
    std::str::from_utf8(&buffer[..n]).ok()?.split_ascii_whitespace().nth(4)?.parse().ok()
}

/// The numbers of all processes, as far as they are visible.
pub(super) fn all(root: &Path) -> io::Result<Vec<u32>> {
    let entries = fs::read_dir(root)?;
    let mut numbers: Vec<u32> =
        entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok()).filter(|n| *n > 0).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_whatever_their_order_and_neighbours() {
        let text = b"wchar: 2\nrchar: 1\nsyscr: 3\nsyscw: 4\nnew_one: 9\nread_bytes: 5\nwrite_bytes: 6\ncancelled_write_bytes: 7\n";
        let c = Counters::parse(text).unwrap();
        assert_eq!((c, c.calls(), c.storage()), (Counters::of([1, 2, 3, 4, 5, 6, 7]), (1, 2), (5, 6)));
        for bad in [&b""[..], b"rchar: 1\n", b"rchar: 1\nwchar: x\nread_bytes: 1\nwrite_bytes: 1\n", b"\xff"] {
            assert_eq!(Counters::parse(bad), None);
        }
        assert_eq!(c.less(&Counters::of([1, 0, 0, 0, 5, 0, 8])), None);
        assert_eq!(c.less(&Counters::of([1, 2, 3, 4, 5, 6, 0])), Some(Counters::of([0, 0, 0, 0, 0, 0, 7])));
    }
}
