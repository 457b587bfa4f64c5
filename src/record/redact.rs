//! Traces without the names of people, machines and files, for reports that go to strangers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::names::{Files, is_system_path, stem};
use super::trace::Trace;
use super::{is_terminal, trace::Warning};
use crate::remedy::Remedy;

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

    /// The same for a folder.
    fn folder(&mut self, path: &str) -> String {
        let parts: Vec<String> =
            path.split('/').map(|p| if p.is_empty() { String::new() } else { self.part(p, true) }).collect();
        parts.join("/")
    }

    /// A sentence, in which words that look like a path or the name of a file become codes, and what is quoted is left out.
    fn sentence(&mut self, text: &str, known: &[(String, String)]) -> String {
        let mut text = text.to_owned();
        // a name that could be a word of the sentence counts as a whole word only
        let telling = |name: &str| name.len() > 3 && name.contains(|c: char| !c.is_ascii_alphabetic());
        for (name, code) in known.iter().filter(|(name, _)| telling(name)) {
            text = text.replace(name.as_str(), code);
        }
        for quote in ['"', '`'] {
            let parts: Vec<&str> = text.split(quote).collect();
            let hidden = |(i, part): (usize, &&str)| if i % 2 == 1 { "…".to_owned() } else { (*part).to_owned() };
            text = parts.iter().enumerate().map(hidden).collect::<Vec<_>>().join(&quote.to_string());
        }
        let word = |word: &str| {
            let start = word.len() - word.trim_start_matches(AROUND).len();
            let core = word[start..].trim_end_matches(AROUND);
            let (before, after) = (&word[..start], &word[start + core.len()..]);
            if let Some((_, code)) = known.iter().find(|(name, _)| !core.is_empty() && name == core) {
                format!("{before}{code}{after}")
            } else if is_name(core) && !known.iter().any(|(_, code)| code == core) {
                format!("{before}{}{after}", self.path(core))
            } else {
                word.to_owned()
            }
        };
        text.split(' ').map(word).collect::<Vec<_>>().join(" ")
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

/// Marks around a word.
const AROUND: [char; 10] = [',', ';', ':', '.', '(', ')', '\'', '!', '[', ']'];
/// Words with a slash that name no file.
const WORDS: [&str; 6] = ["I/O", "B/s", "bytes/s", "read/write", "and/or", "calls/s"];

/// True for a path, and for a name with an ending: `a/b`, `run.log`; not for numbers and versions.
fn is_name(word: &str) -> bool {
    if word.contains('/') {
        return !WORDS.contains(&word);
    }
    let ending = word.rsplit_once('.').filter(|(name, _)| name.len() > 1).map(|(_, ending)| ending);
    ending.is_some_and(|e| (1..=10).contains(&e.len()) && e.starts_with(|c: char| c.is_ascii_alphabetic()))
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
        let mut known = vec![(self.path.clone(), "trace".to_owned())];
        known.extend(self.path.rsplit('/').find(|p| !p.is_empty()).map(|p| (p.to_owned(), "trace".to_owned())));
        known.extend(self.job.iter().filter_map(|j| Some((j.executable.clone()?, "the command".to_owned()))));
        let quoted = |name: &str| name.len() > 3 && self.warnings.iter().any(|w| w.message.contains(name));
        let spaced: Vec<String> =
            self.files.iter().map(|f| f.1).filter(|n| n.contains(' ') && quoted(n)).map(str::to_owned).collect();
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
        if let Some(l) = &mut self.lookups {
            l.folders = std::mem::take(&mut l.folders).into_iter().fold(BTreeMap::new(), |mut all, (name, n)| {
                *all.entry(codes.folder(&name)).or_default() += n;
                all
            });
            l.removed = std::mem::take(&mut l.removed).iter().map(|name| codes.path(name)).collect();
        }
        let mut hosts: BTreeMap<Arc<str>, Arc<str>> = BTreeMap::new();
        for host in self.hosts.values_mut() {
            let next = hosts.len();
            *host = hosts.entry(host.clone()).or_insert_with(|| format!("h{next}").into()).clone();
        }
        known.extend(hosts.iter().map(|(host, code)| (host.to_string(), code.to_string())));
        known.extend(spaced.iter().map(|name| (name.clone(), codes.path(name))));
        // longer names first: one may be in another
        known.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        for w in &mut self.warnings {
            let message = codes.sentence(&w.message, &known);
            let named = |r: Remedy| match &r {
                Remedy::Text(text) => Remedy::Text(codes.sentence(text, &known).into()),
                _ => r,
            };
            let remedy = w.remedy.take().map(named);
            *w = Warning { message, remedy, ..w.clone() };
        }
        self.quality.partial.iter_mut().for_each(|part| *part = codes.sentence(part, &known));
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
    fn warnings_keep_their_text_without_names() {
        let mut t = Trace { path: "runs/ann7.darshan".into(), ..Trace::default() };
        t.files.intern("/home/ann/my data.h5");
        t.hosts.insert(0, "node17".into());
        t.warnings = vec![
            Warning::new(
                "a",
                "runs/ann7.darshan: 3 of 4 lines of node17 in /home/ann/x.log, the first: \"ann 5\"; I/O of 3.2.0 is 1.5 B/s",
            ),
            Warning::new("b", "damaged: /home/ann/my data.h5, (ann.pfw) left out")
                .remedy("use --layer posix, see `ann`"),
        ];
        t.redact();
        assert_eq!(
            t.warnings[0].message,
            "trace: 3 of 4 lines of h0 in /da/db/fd.log, the first: \"…\"; I/O of 3.2.0 is 1.5 B/s"
        );
        assert_eq!(t.warnings[1].message, "damaged: /da/db/fc-0.h5, (fe) left out");
        assert_eq!(t.warnings[1].remedy.as_ref().unwrap().to_string(), "use --layer posix, see `…`");
    }

    #[test]
    fn letters_are_never_used_twice() {
        let all: std::collections::HashSet<String> = (0..2000).map(letters).collect();
        assert_eq!(all.len(), 2000);
    }
}
