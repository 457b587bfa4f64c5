//! Traces without the names of people, machines and files, for reports that go to strangers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::names::{Files, is_system_path, stem};
use super::trace::Trace;
use super::{is_terminal, trace::Warning};

/// Endings that say what a file is, and nothing of whose it is.
const ENDINGS: [&str; 22] = [
    "bin", "bp", "bz2", "csv", "dat", "darshan", "gz", "h5", "hdf5", "jsonl", "json", "log", "nc", "npy", "npz", "out",
    "pt", "parquet", "tfrecord", "txt", "tar", "zst",
];

/// Codes of the parts of paths. Names that differ in digits only share their letters, so that families stay families.
#[derive(Debug, Default)]
struct Codes {
    stems: HashMap<(bool, String), String>,
    names: HashMap<(bool, String), String>,
    members: HashMap<(bool, String), u32>,
}

impl Codes {
    /// `dab/fc-12.h5` for a path.
    fn path(&mut self, path: &str) -> String {
        if is_terminal(path) {
            return path.to_owned();
        }
        let mut parts: Vec<String> = Vec::new();
        let last = path.split('/').count() - 1;
        for (i, part) in path.split('/').enumerate() {
            parts.push(if part.is_empty() { String::new() } else { self.part(part, i < last) });
        }
        parts.join("/")
    }

    fn part(&mut self, part: &str, folder: bool) -> String {
        let key = (folder, part.to_owned());
        if let Some(code) = self.names.get(&key) {
            return code.clone();
        }
        let ending = part.rsplit_once('.').map(|(_, e)| e).filter(|e| !folder && ENDINGS.contains(e));
        let family = (folder, stem(part));
        let next = self.stems.len();
        let letters = self
            .stems
            .entry(family.clone())
            .or_insert_with(|| format!("{}{}", if folder { 'd' } else { 'f' }, letters(next)));
        let mut code = letters.clone();
        if part.bytes().any(|b| b.is_ascii_digit()) {
            let n = self.members.entry(family).or_insert(0);
            code.push_str(&format!("-{n}"));
            *n += 1;
        }
        if let Some(e) = ending {
            code.push('.');
            code.push_str(e);
        }
        self.names.insert(key, code.clone());
        code
    }

    fn files(&mut self, files: &Files) -> Files {
        let mut renamed = Files::default();
        for (id, name) in files.iter() {
            // system files are the same everywhere, except for the numbers of processes in them
            let code = if is_system_path(name) { stem(name) } else { self.path(name) };
            renamed.push_renamed(&code, files.is_system(id));
        }
        renamed
    }
}

/// a, b, ..., z, aa, ab, ...
fn letters(mut n: usize) -> String {
    let mut out = Vec::new();
    loop {
        out.push(b'a' + (n % 26) as u8);
        n /= 26;
        if n == 0 {
            break;
        }
        n -= 1;
    }
    out.iter().rev().map(|b| char::from(*b)).collect()
}

impl Trace {
    /// Replaces the names of users, hosts and files by short codes, and the command by the name of its program.
    pub fn redact(&mut self) {
        let mut codes = Codes::default();
        self.files = codes.files(&self.files);
        if let Some(c) = &mut self.counters {
            c.files = codes.files(&c.files);
            c.mounts.iter_mut().for_each(|m| m.path = codes.path(&m.path));
            c.hints = None;
        }
        self.path = "trace".into();
        if let Some(job) = &mut self.job {
            (job.uid, job.id) = (None, None);
            let program = |c: &String| {
                let first = c.split_whitespace().next()?;
                Some(first.rsplit('/').next().unwrap_or(first).to_owned())
            };
            job.executable = job.executable.as_ref().and_then(program);
        }
        let mut hosts: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
        for host in self.hosts.values_mut() {
            let next = hosts.len();
            *host = hosts.entry(host.clone()).or_insert_with(|| format!("h{next}").into()).clone();
        }
        for w in &mut self.warnings {
            // messages and remedies may quote names
            let remedy = w.remedy.take().filter(|r| !r.to_string().contains('/'));
            *w = Warning { message: w.code.replace('-', " "), remedy, ..w.clone() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_stay_families_and_no_name_remains() {
        let mut t = Trace::default();
        for name in
            ["/home/ann/run7/ckpt.01.h5", "/home/ann/run7/ckpt.02.h5", "/home/ann/secret.weird", "/proc/77/stat"]
        {
            t.files.intern(name);
        }
        t.redact();
        let names: Vec<&str> = t.files.iter().map(|f| f.1).collect();
        assert_eq!(names, ["/da/db/dc-0/fd-0.h5", "/da/db/dc-0/fd-1.h5", "/da/db/fe", "/proc/#/stat"]);
        assert_eq!(stem(names[0]), stem(names[1]));
        assert!(t.files.is_system(super::super::FileId(3)));
    }

    #[test]
    fn letters_are_never_used_twice() {
        let all: std::collections::HashSet<String> = (0..2000).map(letters).collect();
        assert_eq!(all.len(), 2000);
    }
}
