//! The watched processes: who belongs to them, and what each has moved since the last reading.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::account::{Debt, Moved, settle};
use super::files::{self, Counters};
use crate::error::{Error, ErrorKind, Result};

/// Files that are kept open; the counters of further processes are opened for each reading.
const OPEN: usize = 512;
/// New numbers that are looked at one by one; of more, all processes are listed.
const NEW: u32 = 128;
/// All processes are listed at least this often: numbers need not be given in order.
const LIST: Duration = Duration::from_secs(1);
/// Share of the time that listing all processes may take.
const LIST_SHARE: f64 = 0.005;

/// A watched process.
struct Member {
    pid: u32,
    /// Its parent, or the nearest ancestor that is left.
    parent: u32,
    /// Its parent has ended, so that the adopter, or another one on the way to it, is its parent now.
    orphan: bool,
    io: Option<File>,
    last: Counters,
    since_s: f64,
    unreadable: bool,
}

/// A process with its descendants, or all descendants of a process.
pub struct ProcTree {
    root: PathBuf,
    /// The process whose descendants are watched and which adopts their orphans.
    adopter: Option<u32>,
    members: Vec<Member>,
    debts: Vec<Debt>,
    load: Option<File>,
    last_number: Option<u32>,
    /// When all processes were listed last and what it took.
    listed: Option<(Instant, Duration)>,
    /// Those that were listed and are no descendants.
    strangers: HashSet<u32>,
    /// When it was known last that every process was found.
    complete_s: f64,
    seen: u64,
    unreadable: u64,
}

impl ProcTree {
    /// Watches the descendants of `adopter`, from their beginning; `root` is `/proc`.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if the kernel does not count.
    pub fn of_descendants(root: &Path, adopter: u32) -> Result<ProcTree> {
        let own = root.join(adopter.to_string()).join("io");
        let counted = File::open(&own).and_then(|f| files::counters(&f));
        counted.map_err(|e| uncounted(&own, &e))?;
        Ok(ProcTree::new(root, Some(adopter)))
    }

    /// Watches a process that runs, and its descendants, from now on; `root` is `/proc`.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if there is no such process, or if its counters may not be read; [`ErrorKind::Usage`] if the number is that of a thread.
    pub fn of_process(root: &Path, pid: u32) -> Result<ProcTree> {
        let status = files::status(root, pid).map_err(|e| not_there(root, pid, &e))?;
        if status.process != pid {
            return Err(Error::new(ErrorKind::Usage, format!("{pid} is a thread of process {}", status.process))
                .expected("the number of a process")
                .remedy(format!("watch {}", status.process)));
        }
        let mut tree = ProcTree::new(root, None);
        let io = root.join(pid.to_string()).join("io");
        let file = File::open(&io).and_then(|f| files::counters(&f).map(|c| (f, c)));
        let (file, last) = file.map_err(|e| match e.kind() {
            io::ErrorKind::PermissionDenied => {
                Error::new(ErrorKind::Io, format!("the counters of process {pid} ({}) may not be read", status.name))
                    .expected("a process of the same user that may be traced, or root")
                    .remedy("run this as its user, or start the program with it")
                    .in_file(io.display().to_string())
            }
            io::ErrorKind::NotFound if io.exists() => uncounted(&io, &e),
            _ => not_there(root, pid, &e),
        })?;
        tree.members.push(Member {
            pid,
            parent: 0,
            io: Some(file),
            last,
            since_s: 0.0,
            orphan: false,
            unreadable: false,
        });
        tree.seen = 1;
        tree.list();
        tree.forget_the_past();
        Ok(tree)
    }

    fn new(root: &Path, adopter: Option<u32>) -> ProcTree {
        let load = File::open(root.join("loadavg")).ok();
        ProcTree {
            root: root.to_owned(),
            adopter,
            members: Vec::new(),
            debts: Vec::new(),
            last_number: load.as_ref().and_then(files::last_number),
            load,
            listed: None,
            strangers: HashSet::new(),
            complete_s: 0.0,
            seen: 0,
            unreadable: 0,
        }
    }

    /// What the members have moved so far does not count.
    fn forget_the_past(&mut self) {
        for m in &mut self.members {
            m.last = m.read(&self.root).unwrap_or_default();
        }
    }

    /// True if a process has ended, whether or not its parent has waited for it.
    pub fn has_ended(&self, pid: u32) -> bool {
        files::status(&self.root, pid).map_or(true, |s| s.zombie) || !self.members.iter().any(|m| m.pid == pid)
    }

    /// Processes that are watched now.
    pub fn pids(&self) -> impl Iterator<Item = u32> + '_ {
        self.members.iter().map(|m| m.pid)
    }

    /// Watched processes that the adopter may have to wait for: its children, and orphans.
    pub fn children(&self) -> impl Iterator<Item = u32> + '_ {
        self.members.iter().filter(|m| m.orphan || Some(m.parent) == self.adopter).map(|m| m.pid)
    }

    /// Processes seen so far, and those of them whose counters could not be read.
    pub fn seen(&self) -> (u64, u64) {
        (self.seen, self.unreadable)
    }

    /// Name of a process.
    pub fn name(&self, pid: u32) -> String {
        files::status(&self.root, pid).map_or_else(|_| String::new(), |s| s.name)
    }

    /// Finds new processes and reads the counters of all. `clock` tells the seconds since the start; gives the moment of this
    /// reading, and fills `moved` with the processes that moved anything since the last one.
    pub fn read(&mut self, clock: impl Fn() -> f64, moved: &mut Vec<Moved>) -> f64 {
        moved.clear();
        let before_s = clock();
        if self.find_new() {
            self.complete_s = before_s;
        }
        let mut gone = HashSet::new();
        let mut now = Vec::with_capacity(self.members.len());
        // parents come before their children, so that a child that is waited for meanwhile is missed for once, and not counted twice
        for m in &mut self.members {
            let read = m.read(&self.root);
            if let Err(e) = &read
                && e.kind() == io::ErrorKind::PermissionDenied
            {
                self.unreadable += u64::from(!std::mem::replace(&mut m.unreadable, true));
                now.push(None);
                continue;
            }
            // a counter that falls is of another process with the same number
            let grown = read.ok().and_then(|c| Some((c, c.less(&m.last)?)));
            match grown {
                Some((_, by)) => moved.push(Moved { pid: m.pid, since_s: m.since_s, by }),
                None => _ = gone.insert(m.pid),
            }
            now.push(grown.map(|(c, _)| c));
        }
        let time_s = clock();
        if !gone.is_empty() {
            self.note_debts(&gone);
        }
        if !self.debts.is_empty() {
            settle(&mut self.debts, moved);
        }
        for (m, now) in self.members.iter_mut().zip(now) {
            if let Some(c) = now {
                (m.last, m.since_s) = (c, time_s);
            }
        }
        moved.retain(|m| m.by != Counters::default());
        self.remove(&gone);
        time_s
    }

    /// Notes what those that have gone had counted, for their ancestors.
    fn note_debts(&mut self, gone: &HashSet<u32>) {
        for m in self.members.iter().filter(|m| gone.contains(&m.pid)) {
            let mut ancestors = Vec::new();
            let mut parent = m.parent;
            while let Some(p) = self.members.iter().find(|p| p.pid == parent)
                && !ancestors.contains(&parent)
            {
                ancestors.push(parent);
                parent = p.parent;
            }
            self.debts.push(Debt::new(m.last, ancestors));
        }
    }

    /// Drops processes; their children go to the nearest ancestor that is left.
    fn remove(&mut self, gone: &HashSet<u32>) {
        if gone.is_empty() {
            return;
        }
        let heirs: Vec<(u32, u32)> =
            self.members.iter().filter(|m| gone.contains(&m.pid)).map(|m| (m.pid, m.parent)).collect();
        self.members.retain(|m| !gone.contains(&m.pid));
        for m in &mut self.members {
            // as many steps as there are heirs: a circle cannot be, but what is read may be anything
            for _ in 0..heirs.len() {
                let Some((_, parent)) = heirs.iter().find(|(pid, _)| *pid == m.parent) else { break };
                m.parent = *parent;
                m.orphan = true;
            }
        }
    }

    /// Forgets a process that the adopter has read to its end and waits for now.
    pub fn forget(&mut self, pid: u32) {
        self.remove(&HashSet::from([pid]));
    }

    /// Looks for new processes; true if all of them are known then.
    fn find_new(&mut self) -> bool {
        let last = self.load.as_ref().and_then(files::last_number);
        let before = std::mem::replace(&mut self.last_number, last);
        let affordable = self.listed.is_none_or(|(at, took)| at.elapsed() >= took.div_f64(LIST_SHARE));
        let due = affordable && self.listed.is_none_or(|(at, _)| at.elapsed() >= LIST);
        match (before, last) {
            (Some(a), Some(b)) if a == b && !due => true,
            (Some(a), Some(b)) if (a..=a.saturating_add(NEW)).contains(&b) && !due => {
                (a + 1..=b).for_each(|pid| self.consider(pid));
                true
            }
            _ if affordable => {
                self.list();
                true
            }
            _ => {
                // as if the new ones had not been noticed: they will be
                self.last_number = before;
                false
            }
        }
    }

    /// Looks at all processes.
    fn list(&mut self) {
        let started = Instant::now();
        let all = files::all(&self.root).unwrap_or_default();
        let known: HashSet<u32> = self.members.iter().map(|m| m.pid).chain(self.strangers.iter().copied()).collect();
        let parent_of = |pid: u32| {
            let status = files::status(&self.root, pid).ok().filter(|s| s.process == pid)?;
            Some((pid, status.parent))
        };
        let mut strangers: Vec<(u32, u32)> =
            all.iter().filter(|pid| !known.contains(pid)).filter_map(|&pid| parent_of(pid)).collect();
        // a child may have a lower number than its parent
        loop {
            let before = strangers.len();
            strangers.retain(|&(pid, parent)| {
                let ours = self.is_ours(parent);
                if ours {
                    self.add(pid, parent);
                }
                !ours
            });
            if strangers.len() == before {
                break;
            }
        }
        // a stranger never becomes a descendant; a number that is given again is noticed as new
        self.strangers = all.into_iter().filter(|pid| !self.members.iter().any(|m| m.pid == *pid)).collect();
        self.listed = Some((Instant::now(), started.elapsed()));
    }

    fn is_ours(&self, parent: u32) -> bool {
        Some(parent) == self.adopter || self.members.iter().any(|m| m.pid == parent)
    }

    /// Takes a process if it is a descendant, and no thread.
    fn consider(&mut self, pid: u32) {
        if self.members.iter().any(|m| m.pid == pid) {
            return;
        }
        if let Ok(status) = files::status(&self.root, pid)
            && status.process == pid
            && self.is_ours(status.parent)
        {
            self.add(pid, status.parent);
        }
    }

    fn add(&mut self, pid: u32, parent: u32) {
        let (last, since_s) = (Counters::default(), self.complete_s);
        let mut member = Member { pid, parent, io: None, last, since_s, orphan: false, unreadable: false };
        let open = self.members.iter().filter(|m| m.io.is_some()).count();
        match File::open(member.path(&self.root)) {
            Ok(file) if open < OPEN => member.io = Some(file),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return,
            _ => {}
        }
        self.seen += 1;
        self.members.push(member);
    }
}

impl Member {
    fn path(&self, root: &Path) -> PathBuf {
        root.join(self.pid.to_string()).join("io")
    }

    fn read(&self, root: &Path) -> io::Result<Counters> {
        match &self.io {
            Some(file) => files::counters(file),
            None => File::open(self.path(root)).and_then(|f| files::counters(&f)),
        }
    }
}

fn not_there(root: &Path, pid: u32, e: &io::Error) -> Error {
    if !root.join("self").exists() {
        return uncounted(root, e);
    }
    Error::new(ErrorKind::Io, format!("no process {pid} can be seen"))
        .expected("the number of a process that runs; /proc may be mounted with hidepid")
        .remedy("see `ps`")
}

fn uncounted(path: &Path, e: &io::Error) -> Error {
    Error::new(ErrorKind::Unsupported, format!("the kernel has no I/O counters of processes: {e}"))
        .expected("Linux with /proc mounted and CONFIG_TASK_IO_ACCOUNTING")
        .in_file(path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::fs;

    /// A made-up `/proc`.
    struct Fake {
        dir: tempfile::TempDir,
        time_s: Cell<f64>,
    }

    /// The watching process.
    const US: u32 = 10;

    impl Fake {
        fn new() -> Fake {
            let fake = Fake { dir: tempfile::tempdir().unwrap(), time_s: Cell::new(0.0) };
            fs::create_dir(fake.dir.path().join("self")).unwrap();
            fake.put(US, 1, 0);
            fake.number(US);
            fake
        }

        fn number(&self, last: u32) {
            fs::write(self.dir.path().join("loadavg"), format!("0.1 0.2 0.3 1/99 {last}\n")).unwrap();
        }

        /// A process that has written so much, in as many calls.
        fn put(&self, pid: u32, parent: u32, written: u64) {
            self.thread(pid, pid, parent, written);
        }

        fn thread(&self, pid: u32, process: u32, parent: u32, written: u64) {
            let dir = self.dir.path().join(pid.to_string());
            fs::create_dir_all(&dir).unwrap();
            let status = format!("Name:\tp{pid}\nState:\tS (sleeping)\nTgid:\t{process}\nPPid:\t{parent}\n");
            fs::write(dir.join("status"), status).unwrap();
            let io = format!("rchar: 0\nwchar: {written}\nsyscr: 0\nsyscw: {written}\nread_bytes: 0\nwrite_bytes: 0\n");
            // in place: the file is open
            fs::write(dir.join("io"), io).unwrap();
        }

        /// The process goes: what is open of it cannot be read any more.
        fn end(&self, pid: u32) {
            let dir = self.dir.path().join(pid.to_string());
            fs::write(dir.join("io"), "").unwrap();
            fs::remove_dir_all(dir).unwrap();
        }

        /// Bytes that each process has written since the last reading, one second ago.
        fn read(&self, tree: &mut ProcTree) -> Vec<(u32, u64)> {
            self.time_s.set(self.time_s.get() + 1.0);
            let mut moved = Vec::new();
            tree.read(|| self.time_s.get(), &mut moved);
            moved.iter().map(|m| (m.pid, m.by.calls().1)).collect()
        }

        fn tree(&self) -> ProcTree {
            ProcTree::of_descendants(self.dir.path(), US).unwrap()
        }
    }

    #[test]
    fn children_that_come_and_go_count_once() {
        let f = Fake::new();
        let mut tree = f.tree();
        f.put(20, US, 5);
        f.put(7, 1, 1000);
        f.number(20);
        assert_eq!(f.read(&mut tree), [(20, 5)]);
        f.put(21, 20, 100);
        f.number(21);
        assert_eq!(f.read(&mut tree), [(21, 100)]);
        // 21 has written 50 more when 20 has waited for it; 20 wrote 3; 22 came and went with 7
        f.end(21);
        f.put(20, US, 5 + 3 + 150 + 7);
        f.number(22);
        assert_eq!(f.read(&mut tree), [(20, 60)]);
        assert_eq!(f.read(&mut tree), []);
        assert_eq!(tree.seen(), (2, 0));
    }

    #[test]
    fn a_child_whose_parent_does_not_wait_has_counted_and_takes_nothing_off() {
        let f = Fake::new();
        let mut tree = f.tree();
        f.put(20, US, 0);
        f.put(21, 20, 100);
        f.number(21);
        assert_eq!(f.read(&mut tree), [(21, 100)]);
        f.end(21);
        for written in [40, 80, 300] {
            f.put(20, US, written);
            assert_eq!(f.read(&mut tree).iter().map(|m| m.0).collect::<Vec<_>>(), [20]);
        }
        f.put(20, US, 1300);
        assert_eq!(f.read(&mut tree), [(20, 1000)]);
    }

    #[test]
    fn orphans_and_double_forks_stay_in_the_tree() {
        let f = Fake::new();
        let mut tree = f.tree();
        f.put(20, US, 0);
        f.put(21, 20, 10);
        f.put(22, 21, 100);
        f.number(22);
        f.read(&mut tree);
        // 21 ends and is waited for; 22 is adopted by us
        f.end(21);
        f.put(20, US, 10);
        f.put(22, US, 130);
        assert_eq!(f.read(&mut tree), [(22, 30)]);
        // one of whose parent nothing was seen
        f.put(24, US, 4);
        f.number(24);
        assert_eq!(f.read(&mut tree), [(24, 4)]);
        assert_eq!(tree.children().collect::<Vec<_>>(), [20, 22, 24]);
        // the last bytes of one that we wait for
        f.put(22, US, 131);
        assert_eq!(f.read(&mut tree), [(22, 1)]);
        tree.forget(22);
        f.end(22);
        assert_eq!(f.read(&mut tree), []);
        assert_eq!(tree.pids().collect::<Vec<_>>(), [20, 24]);
    }

    #[test]
    fn threads_count_with_their_process_and_a_number_that_is_used_again_is_another_process() {
        let f = Fake::new();
        let mut tree = f.tree();
        f.put(20, US, 1000);
        f.thread(21, 20, US, 1000);
        f.number(21);
        assert_eq!(f.read(&mut tree), [(20, 1000)]);
        f.put(20, 1, 9);
        assert_eq!(f.read(&mut tree), []);
        assert_eq!(tree.pids().count(), 0);
    }

    #[test]
    fn a_process_that_runs_counts_from_now_on_with_its_descendants() {
        let f = Fake::new();
        f.put(30, 1, 500);
        f.put(25, 30, 700);
        f.put(31, 1, 900);
        let mut tree = ProcTree::of_process(f.dir.path(), 30).unwrap();
        f.put(30, 1, 501);
        f.put(25, 30, 702);
        assert_eq!(f.read(&mut tree), [(30, 1), (25, 2)]);
        assert!(!tree.has_ended(30));
        f.end(30);
        f.read(&mut tree);
        assert!(tree.has_ended(30));
        f.thread(41, 31, 1, 0);
        for (pid, kind) in [(41, ErrorKind::Usage), (99, ErrorKind::Io)] {
            let e = ProcTree::of_process(f.dir.path(), pid).err().unwrap();
            assert_eq!(e.kind(), kind, "{e}");
        }
        let nowhere = tempfile::tempdir().unwrap();
        assert_eq!(ProcTree::of_descendants(nowhere.path(), 1).err().unwrap().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn without_a_last_number_processes_are_found_by_listing_and_their_samples_begin_when_none_was_missed() {
        let f = Fake::new();
        fs::remove_file(f.dir.path().join("loadavg")).unwrap();
        let mut tree = f.tree();
        f.put(20, US, 5);
        let mut moved = Vec::new();
        // listing is bounded in time, so the process may be found later, never lost
        let started = Instant::now();
        while moved.is_empty() && started.elapsed() < Duration::from_secs(60) {
            f.time_s.set(f.time_s.get() + 1.0);
            tree.read(|| f.time_s.get(), &mut moved);
        }
        assert_eq!((moved[0].pid, moved[0].by.calls().1), (20, 5));
        assert!(moved[0].since_s <= f.time_s.get());
    }
}
