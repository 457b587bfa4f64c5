//! Interned names: files and calls.

use std::collections::HashMap;
use std::sync::Arc;

/// Number of a file in [`Files`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct FileId(pub u32);

impl FileId {
    /// No file, or an unknown one.
    pub const NONE: FileId = FileId(u32::MAX);
}

impl Default for FileId {
    fn default() -> Self {
        FileId::NONE
    }
}

/// Number of a call name in [`Calls`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u16);

impl CallId {
    /// No name known.
    pub const NONE: CallId = CallId(u16::MAX);
}

impl Default for CallId {
    fn default() -> Self {
        CallId::NONE
    }
}

/// Bytes that all file names of a trace may take, and all names of calls, about.
pub(crate) const MOST_NAME_BYTES: usize = 2 << 30;
/// Memory of a name beside its text: two pointers, two counts, and its place in the index.
const NAME_BYTES: usize = 80;

#[derive(Debug, Clone, Default)]
struct Interner {
    names: Vec<Arc<str>>,
    index: HashMap<Arc<str>, u32>,
    bytes: usize,
}

impl Interner {
    fn intern(&mut self, name: &str) -> u32 {
        if let Some(&i) = self.index.get(name) {
            return i;
        }
        let i = self.names.len() as u32;
        self.bytes += name.len() + NAME_BYTES;
        let name: Arc<str> = name.into();
        self.names.push(name.clone());
        self.index.insert(name, i);
        i
    }
}

/// The file names of a trace; each is stored once.
#[derive(Debug, Clone, Default)]
pub struct Files {
    interner: Interner,
    system: Vec<bool>,
    stripes: HashMap<FileId, u64>,
}

impl Files {
    /// The number of `name`, new or known. [`FileId::NONE`] once the names are too many for the memory of names, 2 GiB.
    pub fn intern(&mut self, name: &str) -> FileId {
        if self.are_too_many() {
            return FileId::NONE;
        }
        let i = self.interner.intern(name);
        if i as usize == self.system.len() {
            self.system.push(is_system_path(name));
        }
        FileId(i)
    }

    /// Appends a name in place of another: the next number has it, and counts as a system file or not as before.
    pub(crate) fn push_renamed(&mut self, name: &str, system: bool) {
        self.interner.names.push(name.into());
        self.system.push(system);
    }

    /// The name; empty for [`FileId::NONE`].
    pub fn name(&self, id: FileId) -> &str {
        self.interner.names.get(id.0 as usize).map_or("", |s| s)
    }

    /// True for pipes, sockets, terminals, `/proc`, `/sys`, `/dev`, `/etc` and shared libraries: what Darshan leaves out too.
    pub fn is_system(&self, id: FileId) -> bool {
        self.system.get(id.0 as usize).copied().unwrap_or(false)
    }

    /// Stripe unit of the file in bytes, if the trace has its layout.
    pub fn stripe(&self, id: FileId) -> Option<u64> {
        self.stripes.get(&id).copied()
    }

    /// Notes the stripe unit of a file, in bytes.
    pub fn set_stripe(&mut self, id: FileId, bytes: u64) {
        self.stripes.insert(id, bytes);
    }

    /// Whether some may be missing, because the memory of names is used up. What merges such names finds the same.
    pub(crate) fn are_too_many(&self) -> bool {
        self.interner.bytes >= MOST_NAME_BYTES
    }

    /// As if the memory of names were used up.
    #[cfg(test)]
    pub(crate) fn use_up(&mut self) {
        self.interner.bytes = MOST_NAME_BYTES;
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.interner.names.len()
    }

    /// True if there is no name.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All names with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &str)> {
        self.since(0)
    }

    /// Those from number `first` on.
    pub(crate) fn since(&self, first: usize) -> impl Iterator<Item = (FileId, &str)> {
        let new = self.interner.names.get(first..).unwrap_or_default();
        new.iter().zip(first..).map(|(s, i)| (FileId(i as u32), &**s))
    }
}

/// True for names that are no data files of a job: pipes, sockets, terminals, `/proc`, `/sys`, `/dev`, `/etc`, shared libraries.
pub fn is_system_path(name: &str) -> bool {
    const PREFIXES: [&str; 11] =
        ["/proc/", "/sys/", "/dev/", "/etc/", "pipe:", "socket:", "anon_inode:", "TCP", "UDP", "UNIX", "NETLINK"];
    const EXACT: [&str; 10] =
        ["/proc", "/sys", "/dev", "/etc", "pipe", "socket", "anon_inode", "<STDIN>", "<STDOUT>", "<STDERR>"];
    if PREFIXES.iter().any(|p| name.starts_with(p)) || EXACT.contains(&name) {
        return true;
    }
    let file = name.rsplit('/').next().unwrap_or(name);
    if file.ends_with(".so") {
        return true;
    }
    // libc.so.6: ".so." followed by a version number.
    file.find(".so.").is_some_and(|i| {
        let version = &file[i + 4..];
        !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    })
}

/// A name with `#` for each run of digits: what the files of one series have in common.
pub fn stem(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            _ => out.push(c),
        }
    }
    out
}

/// The series of the files of a trace: names that differ in digits only.
#[derive(Debug, Default)]
pub(crate) struct Series {
    names: Vec<String>,
    of: Vec<u32>,
}

impl Series {
    /// Of all files.
    pub fn of(files: &Files) -> Series {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut series = Series { names: Vec::new(), of: Vec::with_capacity(files.len()) };
        for (_, name) in files.iter() {
            let stem = stem(name);
            // files of a series are often neighbours
            let last = series.of.last().filter(|last| series.names[**last as usize] == stem).copied();
            let number = last.unwrap_or_else(|| {
                *numbers.entry(stem).or_insert_with_key(|stem| {
                    series.names.push(stem.clone());
                    series.names.len() as u32 - 1
                })
            });
            series.of.push(number);
        }
        series
    }

    /// The number of the series of a file; `None` for [`FileId::NONE`].
    #[inline]
    pub fn number(&self, file: FileId) -> Option<u32> {
        self.of.get(file.0 as usize).copied()
    }

    /// The names of all series by number, as [`stem`] gives them.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// The call names of a trace (`pwrite64`, `MPI_File_write_at`); each is stored once.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    interner: Interner,
}

impl Calls {
    /// The number of `name`, new or known; [`CallId::NONE`] once 65,535 names are stored, or more than the memory of names holds.
    pub fn intern(&mut self, name: &str) -> CallId {
        if let Some(&i) = self.interner.index.get(name) {
            return CallId(i as u16);
        }
        if self.interner.names.len() >= CallId::NONE.0 as usize || self.interner.bytes >= MOST_NAME_BYTES {
            return CallId::NONE;
        }
        CallId(self.interner.intern(name) as u16)
    }

    /// The name; empty for [`CallId::NONE`].
    pub fn name(&self, id: CallId) -> &str {
        self.interner.names.get(id.0 as usize).map_or("", |s| s)
    }

    /// Those from number `first` on.
    pub(crate) fn since(&self, first: usize) -> impl Iterator<Item = &str> {
        self.interner.names.get(first..).unwrap_or_default().iter().map(|s| &**s)
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.interner.names.len()
    }

    /// True if there is no name.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_paths() {
        for p in [
            "/proc/self/maps",
            "/etc/passwd",
            "/dev/null",
            "/usr/lib/libc.so.6",
            "/opt/x/libm.so",
            "pipe:[12]",
            "socket",
            "/sys",
        ] {
            assert!(is_system_path(p), "{p}");
        }
        for p in ["/scratch/out.h5", "/home/u/my.solution", "/data/x.so.txt", "relative.dat", "/devices/a", ""] {
            assert!(!is_system_path(p), "{p}");
        }
    }

    #[test]
    fn names_end_where_their_memory_does() {
        let mut files = Files::default();
        files.interner.bytes = MOST_NAME_BYTES - 1;
        assert!(!files.are_too_many());
        assert_eq!(files.intern("/a"), FileId(0));
        assert!(files.are_too_many());
        assert_eq!(files.intern("/b"), FileId::NONE);
        assert_eq!(files.len(), 1);
    }

    #[test]
    fn checkpoints_have_one_stem() {
        assert_eq!(stem("/scratch/ck.0012.rank3.h5"), stem("/scratch/ck.7.rank14.h5"));
        assert_ne!(stem("a1"), stem("a"));
    }

    #[test]
    fn files_of_one_series_share_a_number() {
        let mut f = Files::default();
        let files = ["/a.1", "/b", "/a.22", "/a.3"].map(|name| f.intern(name));
        let series = Series::of(&f);
        assert_eq!(files.map(|file| series.number(file)), [Some(0), Some(1), Some(0), Some(0)]);
        assert_eq!((series.names(), series.number(FileId::NONE)), (&["/a.#".to_owned(), "/b".to_owned()][..], None));
    }

    #[test]
    fn names_are_stored_once() {
        let mut f = Files::default();
        let a = f.intern("/a");
        let b = f.intern("/etc/b");
        assert_eq!((f.intern("/a"), f.len()), (a, 2));
        assert_eq!((f.name(b), f.name(FileId::NONE)), ("/etc/b", ""));
        assert!(f.is_system(b) && !f.is_system(a) && !f.is_system(FileId::NONE));
    }
}
