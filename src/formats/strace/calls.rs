//! The table of system calls: their effect on files and descriptors, and the place of the path.

use std::collections::HashMap;
use std::sync::LazyLock;

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
        use Action as A;
        let on = matches!(self.action, A::Transfer(..) | A::SendFile | A::CopyRange | A::Close | A::Seek | A::SeekLong)
            || matches!(
                self.action,
                A::Dup | A::DupTo | A::Control | A::Truncate | A::Sync | A::Ring | A::OnDescriptor
            );
        on && !self.path
    }
}

const fn fd(name: &'static str, action: Action) -> Spec {
    Spec { name, action, path: false }
}

const fn path(name: &'static str, action: Action) -> Spec {
    Spec { name, action, path: true }
}

const TABLE: &[Spec] = &[
    fd("read", Action::Transfer(Op::Read, OffsetSource::Position)),
    fd("pread64", Action::Transfer(Op::Read, OffsetSource::Last)),
    fd("write", Action::Transfer(Op::Write, OffsetSource::Position)),
    fd("pwrite64", Action::Transfer(Op::Write, OffsetSource::Last)),
    fd("pread", Action::Transfer(Op::Read, OffsetSource::Last)),
    fd("pwrite", Action::Transfer(Op::Write, OffsetSource::Last)),
    fd("readv", Action::Transfer(Op::Read, OffsetSource::Position)),
    fd("preadv", Action::Transfer(Op::Read, OffsetSource::Last)),
    fd("preadv2", Action::Transfer(Op::Read, OffsetSource::LastButOne)),
    fd("recvfrom", Action::Transfer(Op::Read, OffsetSource::Nowhere)),
    fd("recvmsg", Action::Transfer(Op::Read, OffsetSource::Nowhere)),
    fd("writev", Action::Transfer(Op::Write, OffsetSource::Position)),
    fd("pwritev", Action::Transfer(Op::Write, OffsetSource::Last)),
    fd("pwritev2", Action::Transfer(Op::Write, OffsetSource::LastButOne)),
    fd("sendto", Action::Transfer(Op::Write, OffsetSource::Nowhere)),
    fd("sendmsg", Action::Transfer(Op::Write, OffsetSource::Nowhere)),
    fd("io_submit", Action::Submit),
    fd("io_uring_enter", Action::Ring),
    fd("io_uring_enter2", Action::Ring),
    fd("sendfile", Action::SendFile),
    fd("sendfile64", Action::SendFile),
    fd("copy_file_range", Action::CopyRange),
    fd("splice", Action::CopyRange),
    path("open", Action::Open),
    path("openat", Action::Open),
    path("openat2", Action::Open),
    path("creat", Action::Create),
    fd("socket", Action::Make("socket")),
    fd("accept", Action::Make("socket")),
    fd("accept4", Action::Make("socket")),
    fd("eventfd", Action::Make("anon_inode")),
    fd("eventfd2", Action::Make("anon_inode")),
    fd("epoll_create", Action::Make("anon_inode")),
    fd("epoll_create1", Action::Make("anon_inode")),
    fd("timerfd_create", Action::Make("anon_inode")),
    fd("signalfd", Action::Make("anon_inode")),
    fd("signalfd4", Action::Make("anon_inode")),
    fd("inotify_init", Action::Make("anon_inode")),
    fd("inotify_init1", Action::Make("anon_inode")),
    fd("pidfd_open", Action::Make("anon_inode")),
    fd("memfd_create", Action::Make("anon_inode")),
    fd("userfaultfd", Action::Make("anon_inode")),
    fd("io_uring_setup", Action::Make("anon_inode")),
    fd("perf_event_open", Action::Make("anon_inode")),
    fd("pipe", Action::MakePair(0, "pipe")),
    fd("pipe2", Action::MakePair(0, "pipe")),
    fd("socketpair", Action::MakePair(3, "socket")),
    fd("close", Action::Close),
    fd("close_range", Action::CloseRange),
    fd("lseek", Action::Seek),
    fd("_llseek", Action::SeekLong),
    fd("dup", Action::Dup),
    fd("dup2", Action::DupTo),
    fd("dup3", Action::DupTo),
    fd("fcntl", Action::Control),
    fd("fcntl64", Action::Control),
    fd("ftruncate", Action::Truncate),
    fd("ftruncate64", Action::Truncate),
    path("truncate", Action::Truncate),
    path("truncate64", Action::Truncate),
    path("unlink", Action::Replace),
    path("unlinkat", Action::Replace),
    path("rename", Action::Replace),
    path("renameat", Action::Replace),
    path("renameat2", Action::Replace),
    path("link", Action::Replace),
    path("linkat", Action::Replace),
    fd("mmap", Action::Map),
    fd("mmap2", Action::Map),
    fd("clone", Action::Clone),
    fd("clone2", Action::Clone),
    fd("clone3", Action::Clone),
    fd("fork", Action::Clone),
    fd("vfork", Action::Clone),
    path("execve", Action::Exec),
    path("execveat", Action::Exec),
    fd("fsync", Action::Sync),
    fd("fdatasync", Action::Sync),
    fd("sync_file_range", Action::Sync),
    fd("syncfs", Action::Sync),
    fd("fstat", Action::OnDescriptor),
    fd("fstat64", Action::OnDescriptor),
    fd("fstatfs", Action::OnDescriptor),
    fd("fstatfs64", Action::OnDescriptor),
    fd("ioctl", Action::OnDescriptor),
    fd("getdents", Action::OnDescriptor),
    fd("getdents64", Action::OnDescriptor),
    fd("fallocate", Action::OnDescriptor),
    fd("fadvise64", Action::OnDescriptor),
    fd("readahead", Action::OnDescriptor),
    fd("flock", Action::OnDescriptor),
    fd("fchmod", Action::OnDescriptor),
    fd("fchown", Action::OnDescriptor),
    fd("fchdir", Action::OnDescriptor),
    fd("fgetxattr", Action::OnDescriptor),
    fd("fsetxattr", Action::OnDescriptor),
    fd("flistxattr", Action::OnDescriptor),
    fd("fremovexattr", Action::OnDescriptor),
    fd("bind", Action::OnDescriptor),
    fd("connect", Action::OnDescriptor),
    fd("listen", Action::OnDescriptor),
    fd("shutdown", Action::OnDescriptor),
    fd("getsockname", Action::OnDescriptor),
    fd("getpeername", Action::OnDescriptor),
    fd("getsockopt", Action::OnDescriptor),
    fd("setsockopt", Action::OnDescriptor),
    fd("epoll_ctl", Action::OnDescriptor),
    fd("epoll_wait", Action::OnDescriptor),
    fd("epoll_pwait", Action::OnDescriptor),
    path("access", Action::None),
    path("faccessat", Action::None),
    path("faccessat2", Action::None),
    path("stat", Action::None),
    path("lstat", Action::None),
    path("stat64", Action::None),
    path("lstat64", Action::None),
    path("newfstatat", Action::None),
    path("fstatat64", Action::None),
    path("statx", Action::None),
    path("statfs", Action::None),
    path("statfs64", Action::None),
    path("mkdir", Action::None),
    path("mkdirat", Action::None),
    path("rmdir", Action::None),
    path("symlink", Action::None),
    path("symlinkat", Action::None),
    path("readlink", Action::None),
    path("readlinkat", Action::None),
    path("chdir", Action::None),
    path("chroot", Action::None),
    path("chmod", Action::None),
    path("fchmodat", Action::None),
    path("fchmodat2", Action::None),
    path("chown", Action::None),
    path("lchown", Action::None),
    path("fchownat", Action::None),
    path("utime", Action::None),
    path("utimes", Action::None),
    path("futimesat", Action::None),
    path("utimensat", Action::None),
    path("mknod", Action::None),
    path("mknodat", Action::None),
    path("getxattr", Action::None),
    path("lgetxattr", Action::None),
    path("setxattr", Action::None),
    path("lsetxattr", Action::None),
    path("listxattr", Action::None),
    path("llistxattr", Action::None),
    path("removexattr", Action::None),
    path("lremovexattr", Action::None),
    path("inotify_add_watch", Action::None),
    path("name_to_handle_at", Action::None),
    path("mount", Action::None),
    path("umount2", Action::None),
    path("swapon", Action::None),
    path("swapoff", Action::None),
    path("acct", Action::None),
];

/// Number of a call of which nothing is known.
pub(super) const UNKNOWN: u8 = u8::MAX;

/// Number of calls of which something is known; their numbers are below it.
pub(super) const KNOWN: usize = TABLE.len();

/// The number of a call, or [`UNKNOWN`].
pub(super) fn find(name: &[u8]) -> u8 {
    static INDEX: LazyLock<HashMap<&'static [u8], u8>> =
        LazyLock::new(|| TABLE.iter().zip(0..UNKNOWN).map(|(s, i)| (s.name.as_bytes(), i)).collect());
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
    TABLE.get(number as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_itself() {
        assert!(KNOWN < UNKNOWN as usize);
        for s in TABLE {
            assert_eq!(spec(find(s.name.as_bytes())), Some(s), "{}", s.name);
        }
        assert_eq!(find(b"syscall_0x1b7"), UNKNOWN);
        assert_eq!(spec(UNKNOWN), None);
    }
}
