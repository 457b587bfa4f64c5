//! A folder that grows: one file per rank of one job, as `strace -ff -o FOLDER/trace` writes them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::file::{GrowingFile, Grown};
use crate::draft::is_answer;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::tail::{Faults, Form, Message, Tail, formats};
use crate::formats::{ReadOptions, Visited};
use crate::online::follow::{AtEnd, Next, Source, nothing_came, pause};
use crate::record::{Clock, Warning};
use crate::remedy::Remedy;

/// Bytes read at once.
const BLOCK: usize = 256 << 10;

/// Why a file of the folder is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// It is of no format that can be followed.
    Foreign,
    /// It belongs to another job: of most formats each file does.
    OtherJob,
    /// This program writes it, or wrote it.
    Own,
}

impl LeftOut {
    /// As a message says it.
    pub fn why(self) -> &'static str {
        match self {
            LeftOut::Foreign => "not a format that can be followed",
            LeftOut::OtherJob => "another job",
            LeftOut::Own => "written by this program",
        }
    }
}

/// A file of the folder.
struct Member {
    file: GrowingFile,
    tail: Tail,
    /// The next message, read ahead to find the earliest of all files.
    next: Option<Message>,
    /// It had nothing more when it was looked at last.
    exhausted: bool,
    /// Its job has been compared with that of the others.
    judged: bool,
}

/// See the module. Files that appear later are followed, too; subfolders and hidden files are not.
pub struct GrowingFolder {
    path: PathBuf,
    format: Option<String>,
    options: ReadOptions,
    members: BTreeMap<PathBuf, Member>,
    /// That of the first file whose form is known: what the files of one job share, or the file.
    job: Option<String>,
    left_out: BTreeMap<PathBuf, LeftOut>,
    /// Files that the caller writes.
    own: Visited,
    block: Vec<u8>,
    at_end: AtEnd,
    /// It was looked for new files and for more in those known.
    looked: bool,
    /// Files left out that a warning has named.
    reported: usize,
}

impl GrowingFolder {
    /// A folder whose files have this format, or the one that their content or the options show. What the caller writes, `own`, is not
    /// followed.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a format that cannot be followed.
    pub fn new(
        path: &Path,
        format: Option<&str>,
        options: &ReadOptions,
        own: &[&Path],
        at_end: AtEnd,
    ) -> Result<GrowingFolder> {
        Tail::new(format, &options.limits)?;
        let mut written = Visited::default();
        for path in own {
            if let Ok(meta) = fs::metadata(path) {
                written.insert(path, &meta);
            }
        }
        Ok(GrowingFolder {
            path: path.to_owned(),
            format: format.map(str::to_owned),
            options: options.clone(),
            members: BTreeMap::new(),
            job: None,
            left_out: BTreeMap::new(),
            own: written,
            block: vec![0; BLOCK],
            at_end,
            looked: false,
            reported: 0,
        })
    }

    /// Looks for new files, and for more in those known.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub fn poll(&mut self) -> Result<()> {
        let failed = |e: std::io::Error| Error::new(ErrorKind::Io, e.to_string());
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let hidden = path.file_name().is_none_or(|n| n.to_string_lossy().starts_with('.'));
            if hidden || self.members.contains_key(&path) || self.left_out.contains_key(&path) || !path.is_file() {
                continue;
            }
            match self.is_own(&path) {
                Some(true) => _ = self.left_out.insert(path, LeftOut::Own),
                Some(false) => {
                    let tail = Tail::new(self.format.as_deref(), &self.options.limits)?.with(&self.options);
                    let file = GrowingFile::open(&path)?;
                    self.members.insert(path, Member { file, tail, next: None, exhausted: false, judged: false });
                }
                // it is looked at again once there is more of it
                None => {}
            }
        }
        self.members.values_mut().for_each(|m| m.exhausted = false);
        Ok(())
    }

    /// True for what this program writes, or has written and is no trace; `None` if too little has come to tell.
    fn is_own(&self, path: &Path) -> Option<bool> {
        if fs::metadata(path).is_ok_and(|meta| self.own.contains(path, &meta)) {
            return Some(true);
        }
        let mut head = Vec::new();
        File::open(path).and_then(|f| f.take(1024).read_to_end(&mut head)).ok()?;
        let undecided = b"{\"schema\":\"iophase.".starts_with(&head);
        (!undecided).then(|| is_answer(&head))
    }

    /// The next message, of those of all files the one that starts first; `None` if there is nothing more until
    /// [`GrowingFolder::poll`] finds it. With `end`, last lines without an end count as whole.
    ///
    /// # Errors
    /// [`ErrorKind::Io`].
    pub fn next_message(&mut self, end: bool) -> Result<Option<Message>> {
        let mut others = Vec::new();
        for (path, member) in &mut self.members {
            let readable = member.read_ahead(&mut self.block, end)?;
            let Some(form) = member.tail.form().filter(|_| readable) else {
                if !readable || end && member.tail.is_undecided() {
                    others.push((path.clone(), LeftOut::Foreign));
                }
                continue;
            };
            if !std::mem::replace(&mut member.judged, true) {
                let job = form.job().unwrap_or_else(|| path.display().to_string());
                if *self.job.get_or_insert_with(|| job.clone()) != job {
                    others.push((path.clone(), LeftOut::OtherJob));
                }
            }
        }
        for (path, why) in others {
            self.members.remove(&path);
            self.left_out.insert(path, why);
        }
        let waiting = self.members.values_mut().filter(|m| m.next.is_some());
        let first = waiting.min_by(|a, b| a.next_start_s().total_cmp(&b.next_start_s()));
        Ok(first.and_then(|m| m.next.take()))
    }

    /// The files that are not followed, each with the reason.
    fn left_out(&self) -> String {
        const NAMED: usize = 8;
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let named = self.left_out.iter().take(NAMED).map(|(path, why)| format!("{} ({})", name(path), why.why()));
        let more = self.left_out.len().saturating_sub(NAMED);
        named.chain((more > 0).then(|| format!("{more} more"))).collect::<Vec<_>>().join(", ")
    }
}

impl Source for GrowingFolder {
    fn next(&mut self) -> Result<Next> {
        if !std::mem::replace(&mut self.looked, true) {
            self.poll()?;
        }
        if let Some(message) = self.next_message(self.at_end.once)? {
            return Ok(Next::Message(message));
        }
        self.looked = false;
        Ok(if self.at_end.once { Next::End } else { Next::Nothing })
    }

    fn wait(&mut self, _: Duration, stop: &AtomicBool) {
        pause(self.at_end.poll, stop);
    }

    fn end(&mut self) {
        self.at_end.once = true;
    }

    fn faults(&self) -> Faults {
        let mut all = Faults::default();
        for (path, member) in &self.members {
            let faults = member.tail.faults();
            all.malformed += faults.malformed;
            if let (None, Some(first)) = (&all.first, &faults.first) {
                all.first = Some(format!("{}: {first}", path.display()));
            }
        }
        all
    }

    /// As the first file says that can be followed.
    fn clock(&self) -> Clock {
        let followed = self.members.values().find(|m| m.tail.form().is_some());
        followed.map_or(Clock::default(), |m| m.tail.clock())
    }

    fn form(&self) -> Option<&Form> {
        self.members.values().find_map(|m| m.tail.form())
    }

    fn warning(&mut self) -> Option<Warning> {
        if self.left_out.len() <= self.reported {
            return None;
        }
        self.reported = self.left_out.len();
        let text = format!("files of the folder are left out: {}", self.left_out());
        Some(Warning::new("other-files", text))
    }

    fn nothing_came(&self, faults: &Faults) -> Option<Error> {
        if self.left_out.is_empty() {
            return Some(nothing_came(faults));
        }
        let what = format!("no file of this folder can be followed: {}", self.left_out());
        let error = Error::new(ErrorKind::Unsupported, what).expected(format!("plain text of {}", formats()));
        Some(error.remedy(Remedy::AnalyzeFinished))
    }
}

impl Member {
    /// Reads up to the next message, if there is one; false if the content is of no format that can be followed.
    fn read_ahead(&mut self, block: &mut [u8], end: bool) -> Result<bool> {
        while self.next.is_none() && !self.exhausted {
            let mut read = self.tail.next_message();
            if matches!(read, Ok(None)) {
                match self.file.read(block)? {
                    Grown::Bytes(n) => {
                        self.tail.push(&block[..n]);
                        continue;
                    }
                    Grown::Anew => {
                        self.tail.restart();
                        continue;
                    }
                    Grown::Nothing if end => {
                        self.tail.end();
                        read = self.tail.next_message();
                    }
                    Grown::Nothing => {}
                }
            }
            let Ok(next) = read else { return Ok(false) };
            self.next = next;
            self.exhausted = self.next.is_none();
        }
        Ok(true)
    }

    fn next_start_s(&self) -> f64 {
        self.next.as_ref().and_then(|m| m.transfers.first()).map_or(f64::NEG_INFINITY, |t| t.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const ONCE: AtEnd = AtEnd { once: true, poll: Duration::ZERO };

    #[test]
    fn rows_of_all_files_come_by_time_also_of_later_files() {
        let dir = tempfile::tempdir().unwrap();
        let call = |t: u32| format!("10:00:{t:02}.000000 write(3</scratch/x>, \"a\"..., 4096) = 4096 <0.100000>\n");
        let starts = |folder: &mut GrowingFolder, end: bool| {
            folder.poll().unwrap();
            let messages = std::iter::from_fn(|| folder.next_message(end).unwrap());
            messages.flat_map(|m| m.transfers).map(|t| t.start % 60.0).collect::<Vec<_>>()
        };
        fs::write(dir.path().join("t.1"), call(1) + &call(5)).unwrap();
        fs::write(dir.path().join("t.2"), call(2) + &call(4)).unwrap();
        fs::write(dir.path().join("README"), "how this was recorded\n").unwrap();
        let mut folder = GrowingFolder::new(dir.path(), None, &ReadOptions::default(), &[], ONCE).unwrap();
        assert_eq!(starts(&mut folder, false), [1.0, 2.0, 4.0, 5.0]);
        assert_eq!((folder.faults().malformed, folder.left_out.len()), (0, 0));
        fs::write(dir.path().join("t.3"), call(7)).unwrap();
        let mut first = fs::OpenOptions::new().append(true).open(dir.path().join("t.1")).unwrap();
        first.write_all((call(6) + call(8).trim_end()).as_bytes()).unwrap();
        assert_eq!(starts(&mut folder, false), [6.0, 7.0]);
        assert_eq!(starts(&mut folder, true), [8.0]);
        assert_eq!(folder.left_out.values().collect::<Vec<_>>(), [&LeftOut::Foreign]);
    }

    #[test]
    fn files_of_other_jobs_and_own_outputs_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let rows = |start: u32| format!("op,start,end,size\nwrite,{start},{start}.5,100\n");
        fs::write(at("b.csv"), rows(3)).unwrap();
        fs::write(at("a.csv"), rows(1)).unwrap();
        fs::write(at("state"), "{\"schema\":\"iophase.predict-state.v5\",\"jobs\":{}}").unwrap();
        fs::write(at("out"), "").unwrap();
        let out = at("out");
        let mut folder = GrowingFolder::new(dir.path(), None, &ReadOptions::default(), &[&out], ONCE).unwrap();
        let taken = |folder: &mut GrowingFolder| {
            folder.poll().unwrap();
            std::iter::from_fn(|| folder.next_message(true).unwrap()).flat_map(|m| m.transfers).count()
        };
        assert_eq!(taken(&mut folder), 1);
        let name = |p: &Path| p.file_name().unwrap().to_string_lossy().into_owned();
        let left: Vec<(String, LeftOut)> = folder.left_out.iter().map(|(p, why)| (name(p), *why)).collect();
        let expected = [("b.csv", LeftOut::OtherJob), ("out", LeftOut::Own), ("state", LeftOut::Own)];
        assert_eq!(left, expected.map(|(n, why)| (n.to_owned(), why)));
        fs::write(at("later"), "{\"schema\":").unwrap();
        assert_eq!((taken(&mut folder), folder.left_out.len()), (0, 3));
        fs::write(at("later"), "{\"schema\":\"iophase.prediction.v1\"}\n").unwrap();
        assert_eq!((taken(&mut folder), folder.left_out.len()), (0, 4));
    }
}
