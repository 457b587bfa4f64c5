//! Descriptors as the kernel keeps them: tables of processes that refer to open files with a position.
//!
//! Two descriptors made by `dup` or inherited by a child refer to the same open file and move the same position; threads
//! share the table itself. What was opened before the trace began has an unknown position until a seek returns it.

use std::collections::{BTreeMap, HashMap};

use crate::record::{FileId, UNKNOWN_OFFSET};

/// Entries of tables that may be copied or gone through in all, and how many more each call allows: a process that is copied
/// over and over must not cost more than the trace is long. Tables that would are forgotten.
const BUDGET: usize = 4 << 20;
const BUDGET_PER_CALL: usize = 8;

/// Processes that may be about to make another one at the same time.
const MAX_CLONING: usize = 64;

/// Number of an open file.
pub(super) type OpenId = u32;

/// An open file.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenFile {
    /// Its name.
    pub(super) file: FileId,
    /// Its position, or [`UNKNOWN_OFFSET`].
    pub(super) position: u64,
    /// Writes go to the end of the file.
    pub(super) append: bool,
    users: u32,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    open: OpenId,
    close_on_exec: bool,
}

#[derive(Debug, Default)]
struct Table {
    slots: BTreeMap<i32, Slot>,
    users: u32,
}

/// How the table of a process came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// From the call that made the process.
    Known,
    /// From a call that had begun, and is not finished, when the process first showed.
    Adopted { parent: u32 },
    /// The process was there, and nothing tells from where.
    Unknown,
}

#[derive(Debug, Clone, Copy)]
struct Process {
    table: usize,
    origin: Origin,
}

/// A call that makes a process and has not returned.
#[derive(Debug, Clone, Copy)]
struct Cloning {
    shares: bool,
    taken: bool,
}

/// All descriptors of the processes of a file.
#[derive(Debug)]
pub(super) struct Descriptors {
    open: Vec<OpenFile>,
    free_open: Vec<OpenId>,
    tables: Vec<Table>,
    free_tables: Vec<usize>,
    processes: HashMap<u32, Process>,
    cloning: BTreeMap<u32, Cloning>,
    /// The process looked up last.
    last: Option<(u32, usize)>,
    budget: usize,
}

impl Default for Descriptors {
    fn default() -> Self {
        Descriptors {
            open: Vec::new(),
            free_open: Vec::new(),
            tables: Vec::new(),
            free_tables: Vec::new(),
            processes: HashMap::new(),
            cloning: BTreeMap::new(),
            last: None,
            budget: BUDGET,
        }
    }
}

impl Descriptors {
    /// The open file of a descriptor, if known.
    pub(super) fn find(&mut self, pid: u32, fd: i32) -> Option<OpenId> {
        let t = self.table(pid);
        self.tables[t].slots.get(&fd).map(|s| s.open)
    }

    /// The open file with this number.
    pub(super) fn open_file(&mut self, id: OpenId) -> &mut OpenFile {
        &mut self.open[id as usize]
    }

    /// Makes the descriptor refer to a new open file.
    pub(super) fn insert(
        &mut self,
        pid: u32,
        fd: i32,
        file: FileId,
        position: u64,
        append: bool,
        close_on_exec: bool,
    ) -> OpenId {
        let new = OpenFile { file, position, append, users: 0 };
        let open = match self.free_open.pop() {
            Some(i) => {
                self.open[i as usize] = new;
                i
            }
            None => {
                self.open.push(new);
                (self.open.len() - 1) as OpenId
            }
        };
        self.refer(pid, fd, open, close_on_exec);
        open
    }

    /// Makes the descriptor refer to an open file that another one refers to already.
    pub(super) fn refer(&mut self, pid: u32, fd: i32, open: OpenId, close_on_exec: bool) {
        let t = self.table(pid);
        self.open[open as usize].users += 1;
        if let Some(old) = self.tables[t].slots.insert(fd, Slot { open, close_on_exec }) {
            self.release(old.open);
        }
    }

    /// Takes a descriptor away.
    pub(super) fn close(&mut self, pid: u32, fd: i32) {
        let t = self.table(pid);
        if let Some(old) = self.tables[t].slots.remove(&fd) {
            self.release(old.open);
        }
    }

    /// Takes all descriptors of a range away, or marks them to be closed at the next program.
    pub(super) fn close_range(&mut self, pid: u32, first: i32, last: i32, only_mark: bool) {
        if first > last {
            return;
        }
        let t = self.table(pid);
        if only_mark {
            if !self.afford(self.tables[t].slots.len()) {
                return self.forget(t);
            }
            self.tables[t].slots.range_mut(first..=last).for_each(|(_, s)| s.close_on_exec = true);
            return;
        }
        let inside: Vec<i32> = self.tables[t].slots.range(first..=last).map(|(&fd, _)| fd).collect();
        inside.into_iter().for_each(|fd| self.close(pid, fd));
    }

    /// Sets whether the descriptor is closed when a new program begins.
    pub(super) fn set_close_on_exec(&mut self, pid: u32, fd: i32, on: bool) {
        let t = self.table(pid);
        if let Some(s) = self.tables[t].slots.get_mut(&fd) {
            s.close_on_exec = on;
        }
    }

    /// A new program begins in the process: it gets a table of its own, without the descriptors marked so.
    pub(super) fn exec(&mut self, pid: u32) {
        let mut t = self.table(pid);
        if self.tables[t].users > 1 {
            self.tables[t].users -= 1;
            t = self.copy_table(t);
            self.set_process(pid, t, Origin::Known);
        }
        if !self.afford(self.tables[t].slots.len()) {
            return self.forget(t);
        }
        let marked: Vec<i32> =
            self.tables[t].slots.iter().filter(|(_, s)| s.close_on_exec).map(|(&fd, _)| fd).collect();
        marked.into_iter().for_each(|fd| self.close(pid, fd));
    }

    /// A process begins to make another one.
    pub(super) fn clone_begun(&mut self, parent: u32, shares: bool) {
        self.budget = self.budget.saturating_add(BUDGET_PER_CALL);
        if self.cloning.len() < MAX_CLONING {
            self.cloning.insert(parent, Cloning { shares, taken: false });
        }
    }

    /// A process has made another one, or a thread that shares its table; `None` if that failed.
    pub(super) fn cloned(&mut self, parent: u32, child: Option<u32>, shares: bool) {
        self.cloning.remove(&parent);
        let Some(child) = child.filter(|&c| c != parent) else { return };
        match self.processes.get(&child).copied() {
            Some(Process { origin: Origin::Adopted { parent: p }, table }) if p == parent => {
                self.set_process(child, table, Origin::Known);
            }
            Some(Process { origin: Origin::Unknown, table }) => self.merge(parent, child, table, shares),
            _ => {
                self.end(child);
                self.inherit(parent, child, shares, Origin::Known);
            }
        }
    }

    /// A call was seen: copies of tables may cost a little more.
    pub(super) fn allow(&mut self) {
        self.budget = self.budget.saturating_add(BUDGET_PER_CALL);
    }

    /// The process ended.
    pub(super) fn end(&mut self, pid: u32) {
        self.last = None;
        self.cloning.remove(&pid);
        if let Some(p) = self.processes.remove(&pid) {
            self.leave(p.table);
        }
    }

    /// Thread `by` became process `leader`.
    pub(super) fn superseded(&mut self, leader: u32, by: u32) {
        if let Some(p) = self.processes.remove(&by) {
            self.end(leader);
            self.processes.insert(leader, p);
        }
        self.last = None;
    }

    /// The table of a process, made if the process is new.
    fn table(&mut self, pid: u32) -> usize {
        if let Some((p, t)) = self.last
            && p == pid
        {
            return t;
        }
        let t = match self.processes.get(&pid) {
            Some(p) => p.table,
            None => self.first_seen(pid),
        };
        self.last = Some((pid, t));
        t
    }

    /// A process shows that no finished call has made. If exactly one is being made, this is it.
    fn first_seen(&mut self, pid: u32) -> usize {
        let mut waiting = self.cloning.iter_mut().filter(|(parent, c)| !c.taken && **parent != pid);
        if let (Some((&parent, c)), None) = (waiting.next(), waiting.next()) {
            c.taken = true;
            let shares = c.shares;
            return self.inherit(parent, pid, shares, Origin::Adopted { parent });
        }
        let t = self.new_table(BTreeMap::new());
        self.set_process(pid, t, Origin::Unknown);
        t
    }

    fn inherit(&mut self, parent: u32, child: u32, shares: bool, origin: Origin) -> usize {
        let from = self.table(parent);
        let t = if shares {
            self.tables[from].users += 1;
            from
        } else {
            self.copy_table(from)
        };
        self.set_process(child, t, origin);
        t
    }

    /// A process that had shown before turns out to be a child: what it does not have itself it has from its parent.
    fn merge(&mut self, parent: u32, child: u32, own: usize, shares: bool) {
        let from = self.table(parent);
        if from == own {
            return;
        }
        let (source, target) = if shares { (own, from) } else { (from, own) };
        if self.afford(self.tables[source].slots.len()) {
            let slots: Vec<(i32, Slot)> = self.tables[source].slots.iter().map(|(&fd, &s)| (fd, s)).collect();
            for (fd, slot) in slots {
                if !self.tables[target].slots.contains_key(&fd) {
                    self.open[slot.open as usize].users += 1;
                    self.tables[target].slots.insert(fd, slot);
                }
            }
        }
        if shares {
            self.tables[from].users += 1;
            self.leave(own);
        }
        self.set_process(child, target, Origin::Known);
    }

    fn set_process(&mut self, pid: u32, table: usize, origin: Origin) {
        self.processes.insert(pid, Process { table, origin });
        self.last = None;
    }

    fn new_table(&mut self, slots: BTreeMap<i32, Slot>) -> usize {
        let new = Table { slots, users: 1 };
        match self.free_tables.pop() {
            Some(i) => {
                self.tables[i] = new;
                i
            }
            None => {
                self.tables.push(new);
                self.tables.len() - 1
            }
        }
    }

    /// A copy that refers to the same open files; empty once copies have cost too much.
    fn copy_table(&mut self, from: usize) -> usize {
        if !self.afford(self.tables[from].slots.len()) {
            return self.new_table(BTreeMap::new());
        }
        let slots = self.tables[from].slots.clone();
        slots.values().for_each(|s| self.open[s.open as usize].users += 1);
        self.new_table(slots)
    }

    /// True if `n` entries more may be gone through.
    fn afford(&mut self, n: usize) -> bool {
        let left = self.budget.checked_sub(n);
        self.budget = left.unwrap_or(self.budget);
        left.is_some()
    }

    fn leave(&mut self, table: usize) {
        self.tables[table].users -= 1;
        if self.tables[table].users == 0 {
            self.forget(table);
            self.free_tables.push(table);
        }
    }

    /// Empties a table.
    fn forget(&mut self, table: usize) {
        let slots = std::mem::take(&mut self.tables[table].slots);
        slots.into_values().for_each(|s| self.release(s.open));
    }

    fn release(&mut self, open: OpenId) {
        let f = &mut self.open[open as usize];
        f.users -= 1;
        if f.users == 0 {
            self.free_open.push(open);
        }
    }
}

/// Sizes of files, as far as the trace shows them: after a truncation, or when a seek went to the end.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    of: Vec<(u32, u64)>,
    generation: u32,
}

impl Sizes {
    /// The size, or [`UNKNOWN_OFFSET`].
    pub(super) fn get(&self, file: FileId) -> u64 {
        match self.of.get(file.0 as usize) {
            Some(&(g, size)) if g == self.generation => size,
            _ => UNKNOWN_OFFSET,
        }
    }

    /// The file is known to be this long.
    pub(super) fn set(&mut self, file: FileId, size: u64) {
        if file == FileId::NONE {
            return;
        }
        let i = file.0 as usize;
        if i >= self.of.len() {
            self.of.resize(i + 1, (u32::MAX, UNKNOWN_OFFSET));
        }
        self.of[i] = (self.generation, size);
    }

    /// Bytes up to `end` were written: a known size grows.
    pub(super) fn written(&mut self, file: FileId, end: u64) {
        if let Some((g, size)) = self.of.get_mut(file.0 as usize)
            && *g == self.generation
            && *size != UNKNOWN_OFFSET
        {
            *size = (*size).max(end);
        }
    }

    /// Names may stand for other files now.
    pub(super) fn forget(&mut self) {
        self.generation = self.generation.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(d: &mut Descriptors, pid: u32, fd: i32) -> Option<u64> {
        let id = d.find(pid, fd)?;
        Some(d.open_file(id).position)
    }

    fn advance(d: &mut Descriptors, pid: u32, fd: i32, n: u64) {
        let id = d.find(pid, fd).unwrap();
        d.open_file(id).position += n;
    }

    #[test]
    fn copies_share_the_position_and_threads_the_table() {
        let mut d = Descriptors::default();
        let open = d.insert(1, 3, FileId(0), 0, false, false);
        d.refer(1, 4, open, false);
        advance(&mut d, 1, 4, 10);
        assert_eq!(position(&mut d, 1, 3), Some(10));
        d.cloned(1, Some(2), false);
        d.cloned(1, Some(3), true);
        advance(&mut d, 2, 3, 5);
        d.close(2, 3);
        assert_eq!(
            (position(&mut d, 1, 3), position(&mut d, 2, 3), position(&mut d, 2, 4)),
            (Some(15), None, Some(15))
        );
        d.close(3, 3);
        assert_eq!(position(&mut d, 1, 3), None);
        for pid in 1..4 {
            d.end(pid);
        }
        assert_eq!(d.free_open.len(), d.open.len());
    }

    #[test]
    fn a_child_may_show_before_its_making_returns() {
        for shares in [false, true] {
            let mut d = Descriptors::default();
            d.insert(1, 3, FileId(0), 7, false, false);
            d.clone_begun(1, shares);
            assert_eq!(position(&mut d, 2, 3), Some(7));
            d.close(2, 3);
            d.cloned(1, Some(2), shares);
            assert_eq!((position(&mut d, 2, 3), position(&mut d, 1, 3).is_none()), (None, shares));
        }
    }

    #[test]
    fn two_children_at_once_are_told_apart_when_their_making_returns() {
        let mut d = Descriptors::default();
        d.insert(1, 3, FileId(0), 7, false, false);
        d.clone_begun(1, false);
        d.clone_begun(9, false);
        assert_eq!(position(&mut d, 2, 3), None);
        d.insert(2, 4, FileId(1), 1, false, false);
        d.cloned(1, Some(2), false);
        assert_eq!((position(&mut d, 2, 3), position(&mut d, 2, 4)), (Some(7), Some(1)));
        assert_eq!(position(&mut d, 1, 4), None);
    }

    #[test]
    fn a_new_program_loses_what_is_marked() {
        let mut d = Descriptors::default();
        d.insert(1, 3, FileId(0), 0, false, true);
        d.insert(1, 4, FileId(0), 0, false, false);
        d.cloned(1, Some(2), true);
        d.exec(2);
        assert_eq!((position(&mut d, 2, 3), position(&mut d, 2, 4)), (None, Some(0)));
        assert_eq!(position(&mut d, 1, 3), Some(0));
        d.close_range(1, 4, i32::MAX, true);
        d.close_range(1, 3, 3, false);
        assert_eq!((position(&mut d, 1, 3), position(&mut d, 1, 4)), (None, Some(0)));
        d.exec(1);
        assert_eq!(position(&mut d, 1, 4), None);
    }

    #[test]
    fn copies_are_bounded() {
        let mut d = Descriptors { budget: 10, ..Descriptors::default() };
        for fd in 0..8 {
            d.insert(1, fd, FileId(0), 0, false, false);
        }
        d.cloned(1, Some(2), false);
        d.cloned(1, Some(3), false);
        assert_eq!((position(&mut d, 2, 7), position(&mut d, 3, 7)), (Some(0), None));
        d.exec(2);
        assert_eq!(position(&mut d, 2, 7), None);
    }

    #[test]
    fn sizes_grow_and_are_forgotten() {
        let mut s = Sizes::default();
        s.written(FileId(3), 10);
        assert_eq!(s.get(FileId(3)), UNKNOWN_OFFSET);
        s.set(FileId(3), 0);
        s.written(FileId(3), 10);
        s.written(FileId(3), 5);
        assert_eq!(s.get(FileId(3)), 10);
        s.forget();
        assert_eq!(s.get(FileId(3)), UNKNOWN_OFFSET);
    }
}
