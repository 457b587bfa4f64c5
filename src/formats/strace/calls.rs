//! The table of system calls: their effect on files and descriptors, and the place of the path.

use std::collections::HashMap;
use std::sync::LazyLock;

use self::{Action as A, OffsetSource as O};
use crate::record::Op;

/// Where a transfer happens in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OffsetSource {
    /// At the file position, which it moves.
    Position,
    /// At the offset in the last argument.
    Last,
    /// At the offset in the last argument but one; -1 stands for the file position.
    LastButOne,
    /// Nowhere: a message on a socket.
    Nowhere,
}

/// The effect of a call on descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Moves bytes between memory and the descriptor in its first argument.
    Transfer(Op, OffsetSource),
    /// `sendfile(out, in, offset, count)`
    SendFile,
    /// `copy_file_range`, `splice`: `(in, offset, out, offset, count, flags)`
    CopyRange,
    /// `io_submit(context, count, [requests])`: begins the transfers that it lists; the result is their number.
    Submit,
    /// Begins transfers that stand in memory which it shares with the kernel: no line shows them.
    Ring,
    /// Opens a path; flags stand after it.
    Open,
    /// `creat`: opens and truncates.
    Create,
    /// Gives a new descriptor of a kind without a path.
    Make(&'static str),
    /// Gives two new descriptors in the list that is its argument of this number.
    MakePair(usize, &'static str),
    /// `close(fd)`
    Close,
    /// `close_range(first, last, flags)`
    CloseRange,
    /// `lseek`: the result is the new position.
    Seek,
    /// `_llseek(fd, offset, [position], whence)`, of 32-bit processes.
    SeekLong,
    /// `dup(fd)`
    Dup,
    /// `dup2`, `dup3`: the result is the new descriptor; `dup3` has flags.
    DupTo,
    /// `fcntl(fd, command, ...)`
    Control,
    /// Sets the size of an open file or of a path.
    Truncate,
    /// Takes a path away, or puts another file there.
    Replace,
    /// Maps a file into memory.
    Map,
    /// A new process or thread; flags say what it shares.
    Clone,
    /// A new program in the process.
    Exec,
    /// Flushes the descriptor in its first argument.
    Sync,
    /// Works on the descriptor in its first argument.
    OnDescriptor,
    /// Nothing of interest.
    None,
}

impl Action {
    /// True for calls whose result is a number of bytes moved.
    pub(super) fn is_transfer(self) -> bool {
        matches!(self, Action::Transfer(..) | Action::SendFile | Action::CopyRange)
    }

    /// The operation on the file, seen from the first descriptor: `sendfile` writes to it, `copy_file_range` reads it.
    pub(super) fn op(self) -> Op {
        match self {
            Action::Transfer(op, _) => op,
            Action::SendFile => Op::Write,
            Action::CopyRange => Op::Read,
            Action::Open | Action::Create => Op::Open,
            Action::Close => Op::Close,
            Action::Seek | Action::SeekLong => Op::Seek,
            Action::Sync => Op::Sync,
            _ => Op::Other,
        }
    }
}

/// One call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Spec {
    /// Its name.
    pub(super) name: &'static str,
    /// Its effect.
    pub(super) action: Action,
    /// Its first string is a path.
    pub(super) path: bool,
}

impl Spec {
    /// True if the first argument is a descriptor.
    pub(super) fn takes_descriptor(&self) -> bool {
        let on = matches!(self.action, A::Transfer(..) | A::SendFile | A::CopyRange | A::Close | A::Seek | A::SeekLong)
            || matches!(
                self.action,
                A::Dup | A::DupTo | A::Control | A::Truncate | A::Sync | A::Ring | A::OnDescriptor
            );
        on && !self.path
    }
}

/// Calls by their effect, and whether their first string is a path. The first four are those of most lines.
const TABLE: &[(Action, bool, &str)] = &[
    (A::Transfer(Op::Read, O::Position), false, "read"),
    (A::Transfer(Op::Read, O::Last), false, "pread64"),
    (A::Transfer(Op::Write, O::Position), false, "write"),
    (A::Transfer(Op::Write, O::Last), false, "pwrite64"),
    (A::Transfer(Op::Read, O::Position), false, "readv"),
    (A::Transfer(Op::Read, O::Last), false, "pread preadv"),
    (A::Transfer(Op::Write, O::Position), false, "writev"),
    (A::Transfer(Op::Write, O::Last), false, "pwrite pwritev"),
    (A::Transfer(Op::Read, O::LastButOne), false, "preadv2"),
    (A::Transfer(Op::Read, O::Nowhere), false, "recvfrom recvmsg"),
    (A::Transfer(Op::Write, O::LastButOne), false, "pwritev2"),
    (A::Transfer(Op::Write, O::Nowhere), false, "sendto sendmsg"),
    (A::Submit, false, "io_submit"),
    (A::Ring, false, "io_uring_enter io_uring_enter2"),
    (A::SendFile, false, "sendfile sendfile64"),
    (A::CopyRange, false, "copy_file_range splice"),
    (A::Open, true, "open openat openat2"),
    (A::Create, true, "creat"),
    (A::Make("socket"), false, "socket accept accept4"),
    (
        A::Make("anon_inode"),
        false,
        "eventfd eventfd2 epoll_create epoll_create1 timerfd_create signalfd signalfd4 inotify_init \
        inotify_init1 pidfd_open memfd_create userfaultfd io_uring_setup perf_event_open",
    ),
    (A::MakePair(0, "pipe"), false, "pipe pipe2"),
    (A::MakePair(3, "socket"), false, "socketpair"),
    (A::Close, false, "close"),
    (A::CloseRange, false, "close_range"),
    (A::Seek, false, "lseek"),
    (A::SeekLong, false, "_llseek"),
    (A::Dup, false, "dup"),
    (A::DupTo, false, "dup2 dup3"),
    (A::Control, false, "fcntl fcntl64"),
    (A::Truncate, false, "ftruncate ftruncate64"),
    (A::Truncate, true, "truncate truncate64"),
    (A::Replace, true, "unlink unlinkat rename renameat renameat2 link linkat"),
    (A::Map, false, "mmap mmap2"),
    (A::Clone, false, "clone clone2 clone3 fork vfork"),
    (A::Exec, true, "execve execveat"),
    (A::Sync, false, "fsync fdatasync sync_file_range syncfs"),
    (
        A::OnDescriptor,
        false,
        "fstat fstat64 fstatfs fstatfs64 ioctl getdents getdents64 fallocate fadvise64 readahead flock \
        fchmod fchown fchdir fgetxattr fsetxattr flistxattr fremovexattr bind connect listen shutdown \
        getsockname getpeername getsockopt setsockopt epoll_ctl epoll_wait epoll_pwait",
    ),
    (
        A::None,
        true,
        "access faccessat faccessat2 stat lstat stat64 lstat64 newfstatat fstatat64 statx statfs statfs64 \
        mkdir mkdirat rmdir symlink symlinkat readlink readlinkat chdir chroot chmod fchmodat fchmodat2 \
        chown lchown fchownat utime utimes futimesat utimensat mknod mknodat getxattr lgetxattr setxattr \
        lsetxattr listxattr llistxattr removexattr lremovexattr inotify_add_watch name_to_handle_at \
        mount umount2 swapon swapoff acct",
    ),
];

/// The calls by their numbers.
static CALLS: LazyLock<Vec<Spec>> = LazyLock::new(|| {
    let names = |&(action, path, names): &(Action, bool, &'static str)| {
        names.split_whitespace().map(move |name| Spec { name, action, path })
    };
    TABLE.iter().flat_map(names).collect()
});

/// Number of a call of which nothing is known.
pub(super) const UNKNOWN: u8 = u8::MAX;

/// Number of calls of which something is known; their numbers are below it.
pub(super) fn known() -> usize {
    CALLS.len()
}

/// The number of a call, or [`UNKNOWN`].
pub(super) fn find(name: &[u8]) -> u8 {
    static INDEX: LazyLock<HashMap<&'static [u8], u8>> =
        LazyLock::new(|| CALLS.iter().zip(0..UNKNOWN).map(|(s, i)| (s.name.as_bytes(), i)).collect());
    // Most lines of a trace of I/O; a lookup in the index costs more than these comparisons.
    match name {
        b"read" => 0,
        b"pread64" => 1,
        b"write" => 2,
        b"pwrite64" => 3,
        _ => INDEX.get(name).copied().unwrap_or(UNKNOWN),
    }
}

/// The entry of the call with this number.
pub(super) fn spec(number: u8) -> Option<&'static Spec> {
    CALLS.get(number as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_itself() {
        assert!(known() < UNKNOWN as usize);
        for s in CALLS.iter() {
            assert_eq!(spec(find(s.name.as_bytes())), Some(s), "{}", s.name);
        }
        assert_eq!(find(b"syscall_0x1b7"), UNKNOWN);
        assert_eq!(spec(UNKNOWN), None);
    }
}
